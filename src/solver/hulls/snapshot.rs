//! What a snapshot holds of the hulls' solver: contacts with their impulses, the pairs that touched, and how hulls are numbered.

use super::sides::Surface;
use super::{Contact, Hull, HullPair, HullSolver, OtherPair, Shift, Side};
use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::body::{Bodies, Filter};
use crate::geometry::outline::MAX_VERTICES;
use crate::particles::hulls::Hulls;
use glam::Vec2;

crate::base::codec::stored!(Hull = Hull {
    slots: [0; MAX_VERTICES],
    count: 0,
    base: [Vec2::ZERO; MAX_VERTICES],
    origin: Vec2::ZERO,
    radius: 0.0,
    more: [0.0; MAX_VERTICES],
    lower: Vec2::ZERO,
    upper: Vec2::ZERO,
    filter: Filter::default(),
    material: 0,
    fixed: false,
    paired: false,
    own: 0,
    gives: 1.0,
}; { slots, count, base, origin, radius, more, lower, upper, filter, material, fixed, paired, own } scratch { gives });
crate::base::codec::stored!(Surface = Surface { static_friction: 0.0, dynamic_friction: 0.0, restitution: 0.0, belt: 0.0 }; { static_friction, dynamic_friction, restitution, belt });
crate::base::codec::stored!(Side = Side { slots: [0; 2], ends: [0; 2], shares: [0.0; 2], arms: [0.0; 2], shift: Shift::default() }; { slots, ends, shares, arms, shift });
crate::base::codec::stored!(Shift { row, arm, moves, turns, least, movable });
crate::base::codec::stored!(Contact = Contact::bare(
    (0, 0, 0, 0),
    Vec2::X,
    [Stored::blank(), Stored::blank()],
    (Vec2::ZERO, 0.0),
    Stored::blank(),
); {
    key, normal, sides, point, gap, surface, masses, move_mass, coupling, impulses, blow, approach, slipping, noted
} scratch { struck_at });
crate::base::codec::stored!(HullPair = HullPair { hulls: [0; 2], surface: Stored::blank() }; { hulls, surface });
crate::base::codec::stored!(OtherPair = OtherPair { hull: 0, slot: 0, part: 0, body: 0, surface: Stored::blank() }; { hull, slot, part, body, surface });

impl HullSolver {
    pub(crate) fn write(&self, to: &mut Writer<'_>) {
        to.mark();
        self.hulls.write(to);
        self.indices.write(to);
        self.places.write(to);
        self.owners.write(to);
        self.clusters.write(to);
        // For the counts that hosts read. The next step finds others.
        self.pairs.write(to);
        self.others.write(to);
        to.mark();
        self.contacts.write(to);
        self.woken.write(to);
        self.touched_before.write(to);
    }

    pub(crate) fn read(&mut self, bodies: &Bodies, hulls: &Hulls, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        self.hulls.read(from)?;
        self.indices.read(from)?;
        self.places.read(from)?;
        self.owners.read(from)?;
        self.clusters.read(from)?;
        self.pairs.read(from)?;
        self.others.read(from)?;
        from.mark()?;
        self.contacts.read(from)?;
        self.woken.read(from)?;
        self.touched_before.read(from)?;
        for memory in [&mut self.elsewhere, &mut self.paired] {
            memory.clear();
        }
        self.still.forget();
        self.before.clear();
        self.touched.clear();
        self.touches.clear();
        self.check(bodies, hulls)
    }

    /// Checks all numbers that index something.
    fn check(&self, bodies: &Bodies, hulls: &Hulls) -> Read {
        let count = self.hulls.len();
        require!(self.indices.len() == count, "{count} hulls, {} numbers", self.indices.len());
        for hull in &self.hulls {
            let known = (1..=MAX_VERTICES).contains(&hull.count)
                && hull.slots().iter().all(|&slot| (slot as usize) < bodies.len);
            require!(known, "a hull of the slots {:?}", hull.slots);
        }
        let capacity = hulls.capacity();
        let place =
            |hull: u32| self.places.get(hull as usize).copied().filter(|&place| (place as usize) < count);
        let handles = bodies.table_lengths()[0];
        let fits = self.places.len() <= capacity && self.owners.len() <= handles;
        require!(fits, "{} places of {capacity} hulls, {} owners", self.places.len(), self.owners.len());
        // The next step takes the numbers of the hulls as they are now.
        if !hulls.renumbered && !hulls.changed {
            // A hull with a particle that is not enabled owns nothing, and gets new numbers once it is.
            let solid = || hulls.iter().filter(|(_, hull)| hull.is_collidable(bodies));
            let mut points = solid().flat_map(|(_, hull)| hull.points());
            let owned =
                points.all(|point| self.owners.is_empty() || (point.index as usize) < self.owners.len());
            let clustered =
                hulls.iter().all(|(handle, _)| (handle.index() as usize) < self.clusters.list.len());
            require!(
                owned && (clustered || self.clusters.list.is_empty()),
                "the hulls were numbered otherwise"
            );
            let same = solid().map(|(handle, _)| handle.index()).eq(self.indices.iter().copied());
            require!(same, "the hulls are not those of the contacts");
        }
        self.clusters.check(handles)?;
        for contact in self.contacts.iter().chain(&self.woken) {
            self.check_contact(contact, &place)?;
        }
        for Contact { sides, .. } in &self.contacts {
            let slots = sides.iter().flat_map(|side| side.slots).all(|slot| (slot as usize) < bodies.len);
            require!(slots, "a contact of the sides {:?}", sides.map(|side| side.slots));
        }
        for pair in &self.touched_before {
            require!(pair[0] < pair[1], "{pair:?} touched");
        }
        Ok(())
    }

    /// Checks the numbers of a contact, which may be that of a sleeping hull, but not its slots: those of a hull that sleeps, or has just
    /// woken, are of the step in which it fell asleep, and are found anew before they are read (`carry_over`).
    fn check_contact(&self, contact: &Contact, place: &dyn Fn(u32) -> Option<u32>) -> Read {
        let Contact { key, sides, .. } = contact;
        require!(key.0 <= 1, "a contact of kind {}", key.0);
        require!(place(key.1).is_some(), "a contact of hull {}, which has no place", key.1);
        require!(key.0 == 1 || place(key.2).is_some(), "a contact of hull {}, which has no place", key.2);
        let ends = sides.iter().flat_map(|side| side.ends).all(|end| usize::from(end) < MAX_VERTICES);
        require!(ends, "a contact of the ends {:?}", sides.map(|side| side.ends));
        Ok(())
    }

    /// Checks what is kept of hulls that sleep.
    pub(crate) fn check_parked(&self, contacts: &[Contact]) -> Read {
        let count = self.hulls.len();
        let place =
            |hull: u32| self.places.get(hull as usize).copied().filter(|&place| (place as usize) < count);
        contacts.iter().try_for_each(|contact| self.check_contact(contact, &place))
    }
}
