//! The contacts of one body.

use super::World;
use super::view::Contact;
use crate::body::BodyHandle;
use crate::contacts::BLOCK;
use crate::error::Error;
use crate::lane::RowOffset;

impl World {
    /// The contact points of one body: those of [`World::contacts`] that name it, in the same order.
    ///
    /// Looks at the contacts of the body's own tile of space and of the one before it, some hundred bodies in all, at the overflow tile,
    /// and at the contacts of hulls. For a body that sleeps it looks at the contacts of its island; for one that forces do not move, and that
    /// is much larger than most, at all contacts.
    ///
    /// ```
    /// use granule::{BodyDesc, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// let floor = world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    /// let crate_ = world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5)))?;
    /// for _ in 0..20 {
    ///     world.step();
    /// }
    /// let points: Vec<_> = world.contacts_of(crate_)?.collect();
    /// assert_eq!(points.len(), 2); // its lower corners
    /// assert!(points.iter().all(|point| point.b == floor && point.normal_impulse > 0.0));
    /// # Ok::<(), granule::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn contacts_of(&self, body: BodyHandle) -> Result<impl Iterator<Item = Contact> + '_, Error> {
        let slot = self.bodies.slot_of(body)?;
        let row = RowOffset::of(slot as u32);
        let listed = (slot < self.broadphase.built).then(|| self.contacts.tiles_near(slot));
        let awake = listed.into_iter().flatten().flat_map(move |tile| {
            (0..tile.info.len()).flat_map(move |block| {
                let lanes = tile.lanes_of(block, row);
                let lanes = (0..BLOCK).filter(move |lane| lanes >> lane & 1 == 1);
                lanes.flat_map(move |lane| self.points(tile, block * BLOCK + lane))
            })
        });
        let own = move |contact: &Contact| contact.a == body || contact.b == body;
        let asleep = match self.bodies.island(slot) {
            Some(island) => self.sleeping_contacts.get(island as usize..island as usize + 1),
            None if self.bodies.is_movable(slot) => None,
            None => Some(&self.sleeping_contacts[..]),
        };
        let asleep = asleep.unwrap_or_default().iter().chain([&self.woken_contacts]).flatten().copied();
        Ok(awake.chain(asleep.filter(own)).chain(self.hull_contacts().filter(own)))
    }
}
