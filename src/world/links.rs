//! Links and hulls of a world, and what differs between particles and other bodies.

use super::World;
use super::pairs::ListState;
use super::record::Call;
use crate::body::BodyHandle;
use crate::error::Error;
use crate::geometry::shape::Shape;
use crate::geometry::trig::sin_cos;
use crate::particles::hulls::{HullHandle, check_loop};
use crate::particles::links::{LinkDesc, LinkEvent, LinkHandle, LinkKind, LinkQuality, MAX_LINKS};
use crate::solver::hulls::HullSolver;
use glam::Vec2;

impl World {
    /// Adds a link between two bodies. They may be particles or bodies of any other shape except half-spaces, and one
    /// may be static: a body that cannot move stays where it is.
    ///
    /// The start of the next step makes the blocks of all links anew.
    ///
    /// # Errors
    ///
    /// The first field of `link` that is refused; [`Error::StaleHandle`] for a body that is not in this world;
    /// [`Error::Invalid`] for a half-space; [`Error::TooMany`]. An anchor on a body that does not turn is accepted.
    pub fn add_link(&mut self, link: &LinkDesc) -> Result<LinkHandle, Error> {
        self.record(|| Call::AddLink(*link));
        self.check_link(link)?;
        self.check_link_room(1)?;
        Ok(self.insert_link(link))
    }

    fn insert_link(&mut self, link: &LinkDesc) -> LinkHandle {
        self.wake_bodies([link.a, link.b]);
        self.links.insert(*link)
    }

    /// Adds many links. If one is refused, adds none.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first link that is refused; [`Error::TooMany`].
    pub fn add_links(&mut self, links: &[LinkDesc]) -> Result<Vec<LinkHandle>, Error> {
        self.record(|| Call::AddLinks(links.to_vec()));
        for (index, link) in links.iter().enumerate() {
            self.check_link(link).map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        self.check_link_room(links.len())?;
        Ok(links.iter().map(|link| self.insert_link(link)).collect())
    }

    fn check_link(&self, link: &LinkDesc) -> Result<(), Error> {
        link.validate()?;
        for (field, body) in [("a", link.a), ("b", link.b)] {
            let slot = self.bodies.slot_of(body)?;
            if matches!(self.bodies.shape(slot), Shape::HalfSpace { .. }) {
                return Err(Error::Invalid { field, reason: "a half-space cannot be linked" });
            }
        }
        Ok(())
    }

    pub(crate) fn check_link_room(&self, more: usize) -> Result<(), Error> {
        if more > MAX_LINKS - self.links.len() {
            Err(Error::TooMany { kind: "links", max: MAX_LINKS })
        } else {
            Ok(())
        }
    }

    /// Removes a link.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn remove_link(&mut self, link: LinkHandle) -> Result<(), Error> {
        self.record(|| Call::RemoveLink(link));
        let LinkDesc { a, b, .. } = *self.links.get(link)?;
        self.wake_bodies([a, b]);
        self.links.remove(link)
    }

    /// Changes all parameters of a link, its kind too. It keeps its bodies. The parameters that it has wake nothing. The start of the next step makes
    /// the blocks of all links anew.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; the first field that is refused; [`Error::Invalid`] for other bodies than the link has.
    pub fn set_link(&mut self, link: LinkHandle, desc: &LinkDesc) -> Result<(), Error> {
        self.record(|| Call::SetLink(link, *desc));
        let old = *self.links.get(link)?;
        desc.validate()?;
        for (field, is, was) in [("a", desc.a, old.a), ("b", desc.b, old.b)] {
            self.bodies.slot_of(is)?;
            if is != was {
                return Err(Error::Invalid { field, reason: "a link keeps its bodies" });
            }
        }
        if *desc != old {
            self.wake_bodies([desc.a, desc.b]);
            self.links.set(link, desc);
        }
        Ok(())
    }

    /// Returns a link with its present parameters. Its anchors follow the centres of its bodies when these move in them.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], also when the link broke, or lost a body before the last step.
    pub fn link(&self, link: LinkHandle) -> Result<LinkDesc, Error> {
        self.links.get(link).copied()
    }

    /// All links by handle index. Links of a body that was removed since the last step are still among them.
    pub fn links(&self) -> impl Iterator<Item = (LinkHandle, LinkDesc)> + '_ {
        self.links.iter().map(|(handle, link)| (handle, *link))
    }

    /// The number of links.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// The links that broke in the last step, and those of bodies that were removed since the step before. (A link that the host itself removes
    /// is not reported.) Their handles are stale.
    ///
    /// Links that were lost with a body come first, by handle index; then those that broke, by handle index.
    pub fn link_events(&self) -> &[LinkEvent] {
        &self.links.events
    }

    /// The handle indices of the links in the order in which one thread solved them in an iteration of the last step.
    /// Links that are solved at the same time share no body. For tests.
    #[doc(hidden)]
    pub fn link_order(&self) -> Vec<u32> {
        self.verlet.order().collect()
    }

    /// Marks a loop of particles as a hull. It collides as the convex polygon between the particles: with other hulls,
    /// with rigid bodies, and with particles that belong to no hull. Its corners are rounded by the radii of their
    /// particles, and its sides by radii between those of their ends. Filter and surface are those of the first
    /// particle. A hull of two particles is a limb. The particles touch only as parts of the hull, no longer as discs
    /// of their own.
    ///
    /// Links usually hold the particles of a hull in their places relative to each other. While a hull is turned inside
    /// out, it is the convex polygon around its particles. A hull that loses a particle is gone. Hulls that share a
    /// particle do not touch each other.
    ///
    /// A blow at more than [`Settings::restitution_threshold`](crate::Settings::restitution_threshold) acts at once on
    /// the hull's particles and on the particles linked with them, up to 16, as on one rigid body. Distance links pass
    /// it on if they join centres and have no compliance and full stiffness. [`World::contacts`] names the particle
    /// that bears most on each side.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; [`Error::Invalid`] for fewer than 2 or more than 8 particles; [`Error::Vertex`] for a
    /// body that is not a particle, for two particles in one place, and for particles that are not, in their order
    /// (clockwise or counter-clockwise), the corners of a convex polygon; [`Error::TooMany`].
    pub fn add_hull(&mut self, points: &[BodyHandle]) -> Result<HullHandle, Error> {
        self.record(|| Call::AddHull(points.to_vec()));
        let mut positions = Vec::with_capacity(points.len());
        for (index, &point) in points.iter().enumerate() {
            let slot = self.bodies.slot_of(point)?;
            if !self.bodies.columns.kind[slot].is_particle() {
                return Err(Error::Vertex { field: "hull", index, reason: "not a particle" });
            }
            positions.push(self.bodies.position(slot));
        }
        let mut points = points.to_vec();
        if check_loop(&positions)? {
            points.reverse();
        }
        if self.hulls.len() >= MAX_LINKS {
            return Err(Error::TooMany { kind: "hulls", max: MAX_LINKS });
        }
        self.disturb_all(&points);
        self.list = ListState::Void;
        Ok(self.hulls.insert(&points))
    }

    /// Removes a hull. Its particles stay.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn remove_hull(&mut self, hull: HullHandle) -> Result<(), Error> {
        self.record(|| Call::RemoveHull(hull));
        let points = self.hulls.get(hull)?.points().to_vec();
        self.disturb_all(&points);
        self.hulls.remove(hull)?;
        self.list = ListState::Void;
        Ok(())
    }

    /// Wakes these bodies and what rests on them. What nothing moves may touch others than before.
    fn disturb_all(&mut self, points: &[BodyHandle]) {
        for &point in points {
            if let Ok(slot) = self.bodies.slot_of(point) {
                self.disturb(slot);
                self.note_placed(slot);
            }
        }
    }

    /// Returns the particles of a hull, counter-clockwise.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], also when the hull lost a particle before the last step.
    pub fn hull(&self, hull: HullHandle) -> Result<&[BodyHandle], Error> {
        self.hulls.get(hull).map(|hull| hull.points())
    }

    /// All hulls by handle index. Those of a particle that was removed since the last step are still among them.
    pub fn hulls(&self) -> impl Iterator<Item = (HullHandle, &[BodyHandle])> {
        self.hulls.iter().map(|(handle, hull)| (handle, hull.points()))
    }

    /// The number of hulls.
    pub fn hull_count(&self) -> usize {
        self.hulls.len()
    }

    /// Finds where the hulls are, and what they may touch in the step that begins.
    pub(super) fn begin_hulls(&mut self, relinked: bool, impulse_ratio: f32) {
        if self.hulls.len() == 0 {
            self.hulls.renumbered = false;
            self.hull_solver.begin_empty_step();
            return;
        }
        let mut solver = std::mem::take(&mut self.hull_solver);
        let banded = self.list_elsewhere(&mut solver);
        let mut hulls = std::mem::take(&mut self.hulls);
        let links = (&self.links, relinked);
        solver.begin_step(
            &mut hulls,
            links,
            &self.bodies,
            &self.settings,
            impulse_ratio,
            |lower, upper, visit| self.visit_listed(banded, lower, upper, visit),
        );
        self.hull_solver = solver;
        self.hulls = hulls;
    }

    pub(super) fn visit_listed(&self, banded: bool, lower: Vec2, upper: Vec2, visit: &mut dyn FnMut(usize)) {
        self.listed_bodies_near(banded, lower, upper, |slot| {
            visit(slot);
            true
        });
    }

    /// Lists the bodies that look up the hulls. Returns true if the hulls look up the bodies in the bands.
    pub(super) fn list_elsewhere(&self, solver: &mut HullSolver) -> bool {
        // A corner meets other hulls only as a part of its own, and corners may be most of the bodies. If the loners
        // are fewer than the hulls, they are looked at one by one instead of in the bands.
        let loners = &self.broadphase.loners;
        let banded = loners.len() > self.hulls.len();
        solver.elsewhere.clear();
        let unlisted = self.unlisted().filter(|&slot| !self.bodies.is_corner(slot));
        solver.elsewhere.extend(unlisted.map(|slot| slot as u32));
        let listed = loners.iter().filter(|&&slot| !banded && self.is_listed_collidable(slot as usize));
        solver.elsewhere.extend(listed);
        banded
    }

    /// The number of particles, pinned ones included.
    pub fn particle_count(&self) -> usize {
        self.bodies.particle_count
    }

    /// Returns true if a body is a particle.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn is_particle(&self, body: BodyHandle) -> Result<bool, Error> {
        Ok(self.bodies.columns.kind[self.bodies.slot_of(body)?].is_particle())
    }

    /// Measures how far the links are from their lengths.
    pub fn link_quality(&self) -> LinkQuality {
        let mut quality = LinkQuality { links: self.links.len(), ..LinkQuality::default() };
        for (_, link) in self.links.iter() {
            let (Some(a), Some(b)) = (self.anchor(link.a, link.anchor_a), self.anchor(link.b, link.anchor_b))
            else {
                continue;
            };
            let excess = f64::from((b - a).length()) - f64::from(link.length);
            let violation = match link.kind {
                LinkKind::Distance => excess.abs(),
                LinkKind::Min => (-excess).max(0.0),
                LinkKind::Max => excess.max(0.0),
            };
            let stretch = if link.length > 0.0 { violation / f64::from(link.length) } else { violation };
            quality.mean_stretch += stretch / quality.links as f64;
            quality.max_stretch = quality.max_stretch.max(stretch);
        }
        quality
    }

    /// Returns where a point of a body, given in its own axes, is in the world.
    fn anchor(&self, body: BodyHandle, anchor: Vec2) -> Option<Vec2> {
        let slot = self.bodies.slot_of(body).ok()?;
        let (sin, cos) = sin_cos(self.bodies.columns.angle[slot]);
        Some(self.bodies.position(slot) + Vec2::new(cos, sin).rotate(anchor))
    }
}
