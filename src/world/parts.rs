//! Shapes, materials and parts of bodies, changed by hand.

use super::World;
use super::record::Call;
use crate::body::compound::Part;
use crate::body::own::ByHand;
use crate::body::{Bodies, BodyHandle, BodyType, MAX_COORDINATE, MAX_SPEED};
use crate::error::{Error, check_vec};
use crate::geometry::shape::{Shape, ShapeKind};
use crate::geometry::trig::sin_cos;
use crate::lane::Row;
use crate::material::Material;
use glam::Vec2;

impl World {
    /// Replaces a part of a body: its shape, place, angle, material, filter and tag. Parts count from 0, in the order of [`World::parts`]. A body of
    /// one shape has part 0. Places are from the present centre. If nothing but the tag is new, no more than that changes. Mass, centre and moment of inertia follow, unless they were set by hand.
    ///
    /// # Errors
    ///
    /// The errors of [`World::add_part`]; [`Error::Invalid`] for a part that the body does not have.
    pub fn set_part(&mut self, body: BodyHandle, index: usize, part: &Part) -> Result<(), Error> {
        self.record_of(body, || Call::SetPart(body, index, *part));
        let slot = self.good_slot(body, "part")?;
        part.validate()?;
        let mut parts = self.parts(body)?;
        parts[0].validate()?;
        let Some(place) = parts.get_mut(index) else {
            return Err(Error::Invalid { field: "part", reason: "the body has no such part" });
        };
        let before = std::mem::replace(place, *part);
        if (Part { tag: part.tag, ..before }) == *part && self.bodies.set_part_tag(slot, index, part.tag) {
            return Ok(());
        }
        let is_other = before.material != part.material;
        let centre = self.bodies.centre_of(slot, &parts);
        let touching = if is_other { self.touching(slot) } else { Vec::new() };
        self.replace_parts(slot, &parts, centre, None)?;
        self.wake_bodies(touching);
        Ok(())
    }

    /// Removes a part of a body. The parts behind it move up by one. Mass, centre and moment of inertia follow, unless they were set by
    /// hand.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; [`Error::Invalid`] for a part that the body does not have, and for the last one: a body has a shape; the other errors of
    /// [`World::add_part`].
    pub fn remove_part(&mut self, body: BodyHandle, index: usize) -> Result<(), Error> {
        self.record_of(body, || Call::RemovePart(body, index));
        let slot = self.good_slot(body, "part")?;
        let mut parts = self.parts(body)?;
        if index >= parts.len() {
            return Err(Error::Invalid { field: "part", reason: "the body has no such part" });
        }
        if parts.len() == 1 {
            return Err(Error::Invalid { field: "part", reason: "the last one: a body has a shape" });
        }
        parts.remove(index);
        let centre = self.bodies.centre_of(slot, &parts);
        self.replace_parts(slot, &parts, centre, None)
    }

    /// Gives a body of one shape another shape, about the same place. The mass follows, unless it was set by hand.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; the first field of the shape that is refused; a body of several parts (see [`World::set_part`]); a particle or half-space
    /// that would become something else, or something else that would become one; a chain's segment for a dynamic body; a quarantined body.
    pub fn set_shape(&mut self, body: BodyHandle, shape: &Shape) -> Result<(), Error> {
        self.record_of(body, || Call::SetShape(body, *shape));
        let slot = self.good_slot(body, "shape")?;
        shape.validate()?;
        let mut parts = self.parts(body)?;
        let refused = |reason| Err(Error::Invalid { field: "shape", reason });
        if parts.len() > 1 {
            return refused("the body has several parts");
        }
        for kind in [ShapeKind::HalfSpace, ShapeKind::Particle] {
            if (parts[0].shape.kind() == kind) != (shape.kind() == kind) {
                return refused("half-spaces and particles stay what they are, and nothing else becomes one");
            }
        }
        if shape.kind() == ShapeKind::ChainSegment && self.bodies.body_type(slot) == BodyType::Dynamic {
            return refused("only a static or kinematic body can be a chain's segment");
        }
        parts[0].shape = *shape;
        if !self.bodies.parts(slot).is_empty() {
            parts[0].validate()?;
        }
        let centre = self.bodies.centre_of(slot, &parts);
        self.replace_parts(slot, &parts, centre, None)
    }

    /// Sets a body's material, its density too: the mass follows, unless it was set by hand. If the body has several parts, all of them get this
    /// material.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; the first field of the material that is refused; the errors of [`World::add_part`] for a centre of mass that moves; a
    /// quarantined body.
    pub fn set_material(&mut self, body: BodyHandle, material: &Material) -> Result<(), Error> {
        self.record_of(body, || Call::SetMaterial(body, *material));
        let slot = self.good_slot(body, "material")?;
        material.validate()?;
        let mut parts = self.parts(body)?;
        let is_other = parts.iter().any(|part| part.material != *material);
        parts.iter_mut().for_each(|part| part.material = *material);
        let centre = self.bodies.centre_of(slot, &parts);
        let touching = if is_other { self.touching(slot) } else { Vec::new() };
        self.replace_parts(slot, &parts, centre, None)?;
        self.wake_bodies(touching);
        Ok(())
    }

    /// What touches a body that nothing moves: with another material of it, these may slide or be conveyed. (Those that touch a body that moves are of
    /// its island.)
    fn touching(&self, slot: usize) -> Vec<BodyHandle> {
        if self.bodies.is_movable(slot) {
            return Vec::new();
        }
        let body = self.bodies.handle(slot);
        let contacts = self.contacts_of(body).into_iter().flatten();
        contacts.map(|contact| if contact.a == body { contact.b } else { contact.a }).collect()
    }

    /// Replaces all shapes of a body. Its centre moves to `centre`, a point in its present axes; the shapes stay where they are.
    pub(super) fn replace_parts(
        &mut self,
        slot: usize,
        parts: &[Part],
        centre: Vec2,
        by_hand: Option<ByHand>,
    ) -> Result<(), Error> {
        let before = self.interpolated_at(slot, 0.0);
        let moved = self.centre_at(slot, centre);
        for (value, max) in [(moved.position, MAX_COORDINATE), (moved.velocity, MAX_SPEED)] {
            check_vec("part.position", value, max)?;
        }
        if parts.len() > 1 || centre != Vec2::ZERO {
            check_places(parts, centre)?;
        }
        self.check_centre(slot, centre)?;
        let index = self.bodies.handle(slot).index;
        self.edit_mass(slot, centre, |bodies| {
            if let Some(by_hand) = by_hand {
                bodies.own.set_by_hand(index, by_hand);
            }
            let c = &mut bodies.columns;
            (c.pos_x[slot], c.pos_y[slot]) = moved.position.into();
            if bodies.body_type(slot) != BodyType::Static {
                let c = &mut bodies.columns;
                (c.vel_x[slot], c.vel_y[slot]) = moved.velocity.into();
            }
            bodies.set_parts(slot, parts, centre);
        });
        self.note_move_of_centre(slot, centre, before);
        Ok(())
    }

    /// Moves the centre of a body of several shapes that gets weight to their common centre of mass: while it had none, its centre stayed where it was.
    pub(super) fn centre_weight(&mut self, slot: usize, by_hand: ByHand) -> Result<(), Error> {
        // Shapes that have stayed are off by what their places are rounded by. Such a body keeps its centre, bit for bit.
        const ROUNDING: f32 = 1.0e-5;
        if self.bodies.parts(slot).is_empty() {
            return Ok(());
        }
        let parts = self.parts(self.bodies.handle(slot))?;
        let centre = centre_of_weight(&parts, by_hand);
        if centre.length() <= ROUNDING * self.bodies.columns.furthest[slot] {
            return Ok(());
        }
        self.replace_parts(slot, &parts, centre, None)
    }

    /// Checks that all joints and links could still hold a body if its centre moved by `by` in its own axes.
    pub(super) fn check_centre(&self, slot: usize, by: Vec2) -> Result<(), Error> {
        let body = self.bodies.handle(slot);
        self.joints.check_centre(body, by)?;
        self.links.check_centre(body, by)
    }

    /// Writes into the last step's movement of a body where its new centre was before.
    pub(super) fn note_move_of_centre(&mut self, slot: usize, centre: Vec2, before: crate::body::BodyState) {
        if slot >= self.solver.mirror.bodies {
            return;
        }
        let (sin, cos) = sin_cos(before.angle);
        let came_from = before.position + Vec2::new(cos, sin).rotate(centre);
        let now = self.bodies.state(slot);
        let way = now.position - came_from;
        let turned = (now.total_angle() - before.total_angle()) as f32 * self.bodies.columns.radius[slot];
        self.solver.mirror.pose[slot] = Row([way.x, way.y, turned, 0.0]);
    }
}

impl Bodies {
    /// Where the centre of mass of a body would be with these parts, in its present axes. That of a body whose centre was set by hand, or whose
    /// mass is infinite, stays.
    pub(super) fn centre_of(&self, slot: usize, parts: &[Part]) -> Vec2 {
        self.centre_by(slot, parts, self.by_hand(slot))
    }

    /// The same, with this set by hand.
    pub(super) fn centre_by(&self, slot: usize, parts: &[Part], by_hand: ByHand) -> Vec2 {
        if self.body_type(slot) == BodyType::Dynamic { centre_of_weight(parts, by_hand) } else { Vec2::ZERO }
    }
}

/// Where the centre of mass of a dynamic body would be with these parts and this set by hand, in its present axes.
fn centre_of_weight(parts: &[Part], by_hand: ByHand) -> Vec2 {
    if by_hand.centre || by_hand.mass == Some(0.0) {
        return Vec2::ZERO;
    }
    if let [part] = parts {
        return part.position;
    }
    let of = crate::body::mass::mass_of_parts(parts);
    if of.mass > 0.0 { of.centre.as_vec2() } else { Vec2::ZERO }
}

/// Checks that no part would be too far from a new centre.
pub(super) fn check_places(parts: &[Part], centre: Vec2) -> Result<(), Error> {
    parts.iter().try_for_each(|part| check_vec("part.position", part.position - centre, Shape::MAX_EXTENT))
}
