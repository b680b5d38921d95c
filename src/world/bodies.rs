//! Adding, removing, reading and changing single bodies.

use super::World;
use super::pairs::ListState;
use super::parts::check_places;
use super::record::Call;
use crate::body::compound::Part;
use crate::body::{
    BodyDesc, BodyHandle, BodyState, BodyType, Filter, MAX_BODIES, MAX_COORDINATE, MAX_DAMPING, MAX_SPEED,
    Motion,
};
use crate::error::{Error, check_range, check_vec};
use crate::geometry::shape::Shape;
use crate::geometry::trig::{sin_cos, wrap};
use crate::material::Material;
use glam::Vec2;

impl World {
    /// Adds a body.
    ///
    /// The next step takes a few bodies that were added, removed or put elsewhere into the present pair list: while the
    /// list lives, one in 128 of its bodies plus 8, at most 1,032. For more bodies, for particles, half-spaces and
    /// compounds, and for bodies much larger than the rest that are removed or moved, the step makes a new list, which
    /// costs several ordinary steps.
    ///
    /// # Errors
    ///
    /// The first field of `desc` that is refused; [`Error::TooMany`].
    pub fn add_body(&mut self, desc: &BodyDesc) -> Result<BodyHandle, Error> {
        self.record_beside(|| Call::AddBody(*desc));
        desc.validate()?;
        self.check_room(1)?;
        Ok(self.insert_body(desc))
    }

    fn insert_body(&mut self, desc: &BodyDesc) -> BodyHandle {
        let body = self.bodies.insert(desc);
        let slot = self.bodies.len - 1;
        if !desc.enabled {
            self.bodies.disable(slot);
        }
        self.unlist_added(slot);
        self.note_placed(slot);
        body
    }

    /// Adds many bodies. If one is refused, adds none.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first body that is refused; [`Error::TooMany`].
    pub fn add_bodies(&mut self, descs: &[BodyDesc]) -> Result<Vec<BodyHandle>, Error> {
        self.record_beside(|| Call::AddBodies(descs.to_vec()));
        for (index, desc) in descs.iter().enumerate() {
            desc.validate().map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        self.check_room(descs.len())?;
        self.bodies.extend(descs.len());
        Ok(descs.iter().map(|desc| self.insert_body(desc)).collect())
    }

    /// Adds a shape to a body, which becomes a compound. The body's mass and moment of inertia grow by those of the
    /// part (density × area). Its centre moves to the common centre of mass, while all shapes stay where they are. So
    /// [`World::body`] then returns another position, and a position that you set later is that of the new centre.
    ///
    /// A body of infinite mass keeps that mass, and its centre stays. One exception: a dynamic segment without a given
    /// mass gets the mass of its parts. Links hold the body at the same points of its shapes as before.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; the first field of `part` that is refused; a body whose shape is not a circle, box,
    /// capsule, segment or polygon; more than [`World::MAX_PARTS`] parts; `part.position`, if the new centre would be
    /// beyond [`World::MAX_COORDINATE`], move faster than [`World::MAX_SPEED`] or be further than [`Shape::MAX_EXTENT`]
    /// from a part; `frame.position` or `anchor`, if the point of a joint or link would be too far from the new centre; a
    /// quarantined body.
    pub fn add_part(&mut self, body: BodyHandle, part: &Part) -> Result<(), Error> {
        self.record_of(body, || Call::AddPart(body, *part));
        let slot = self.good_slot(body, "part")?;
        part.validate()?;
        self.add_valid_parts(slot, std::slice::from_ref(part))
    }

    /// Adds many shapes to a body. If one is refused, adds none. All places are relative to the centre that the body
    /// has before the call; see [`World::add_part`].
    ///
    /// # Errors
    ///
    /// The errors of [`World::add_part`]; [`Error::Element`] with the index of the first part that is refused.
    pub fn add_parts(&mut self, body: BodyHandle, parts: &[Part]) -> Result<(), Error> {
        self.record_of(body, || Call::AddParts(body, parts.to_vec()));
        let slot = self.good_slot(body, "part")?;
        for (index, part) in parts.iter().enumerate() {
            part.validate().map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        if parts.is_empty() { Ok(()) } else { self.add_valid_parts(slot, parts) }
    }

    fn add_valid_parts(&mut self, slot: usize, parts: &[Part]) -> Result<(), Error> {
        Part::new(self.bodies.shape(slot), Vec2::ZERO).validate()?;
        let there = self.bodies.parts(slot).len().max(1);
        if there + parts.len() > Self::MAX_PARTS {
            return Err(Error::Invalid { field: "part", reason: "a body has at most 255 parts" });
        }
        let before = self.interpolated_at(slot, 0.0);
        let mass = self.bodies.mass_with(slot, parts);
        let centre = mass.map_or(Vec2::ZERO, |mass| mass.centre.as_vec2());
        let moved = self.centre_at(slot, centre);
        for (value, max) in [(moved.position, MAX_COORDINATE), (moved.velocity, MAX_SPEED)] {
            check_vec("part.position", value, max)?;
        }
        check_places(&self.parts(self.bodies.handle(slot))?, centre)?;
        check_places(parts, centre)?;
        self.check_centre(slot, centre)?;
        self.edit_mass(slot, centre, |bodies| bodies.add_parts(slot, parts, mass, &moved));
        self.note_move_of_centre(slot, centre, before);
        Ok(())
    }

    /// Returns the state that a body would have with its centre at `centre`, a point in its own axes.
    pub(super) fn centre_at(&self, slot: usize, centre: Vec2) -> BodyState {
        let state = self.state(slot);
        let (sin, cos) = sin_cos(state.angle);
        let way = Vec2::new(cos, sin).rotate(centre);
        // A point's velocity is that of the centre and ω × way.
        let velocity = state.velocity + state.angular_velocity * way.perp();
        BodyState { position: state.position + way, velocity, ..state }
    }

    /// The most parts that a body can have.
    pub const MAX_PARTS: usize = 255;

    /// Returns all shapes of a body, each placed relative to the body's centre, in the body's own axes.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn parts(&self, body: BodyHandle) -> Result<Vec<Part>, Error> {
        let slot = self.bodies.slot_of(body)?;
        let parts = self.bodies.parts(slot);
        if !parts.is_empty() {
            return Ok(parts.iter().map(|placed| placed.described()).collect());
        }
        let (shape, material, filter) = (self.bodies.shape(slot), self.material(body)?, self.filter(body)?);
        let sensor = self.bodies.is_sensor(slot);
        Ok(vec![Part { material, filter, sensor, ..Part::new(shape, Vec2::ZERO) }])
    }

    pub(super) fn check_room(&self, more: usize) -> Result<(), Error> {
        if more > MAX_BODIES - self.bodies.len {
            Err(Error::TooMany { kind: "bodies", max: MAX_BODIES })
        } else {
            Ok(())
        }
    }

    /// Removes a body, and with it its joints, links and hulls. Its contacts end in the next step, which reports its joints
    /// ([`World::joint_events`]).
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn remove_body(&mut self, body: BodyHandle) -> Result<(), Error> {
        self.record_of(body, || Call::RemoveBody(body));
        let slot = self.bodies.slot_of(body)?;
        self.disturb(slot);
        self.lose_joints(body);
        self.note_removal(slot);
        self.unlisted.remove(slot);
        self.bodies.remove(body)?;
        self.links.body_removed(body);
        self.hulls.changed = true;
        if !self.names.is_empty() {
            self.names.remove(&body);
        }
        Ok(())
    }

    /// Returns true if the handle's body is in this world.
    pub fn contains(&self, body: BodyHandle) -> bool {
        self.bodies.slot_of(body).is_ok()
    }

    /// All bodies, by handle index. If nothing was ever removed, this is the order in which they were added.
    pub fn handles(&self) -> impl Iterator<Item = BodyHandle> + '_ {
        self.bodies.by_index().map(|(handle, _)| handle)
    }

    /// Returns where a body is and how it moves.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn body(&self, body: BodyHandle) -> Result<BodyState, Error> {
        Ok(self.state(self.bodies.slot_of(body)?))
    }

    pub(super) fn state(&self, slot: usize) -> BodyState {
        self.bodies.state(slot)
    }

    /// Returns how a body moves: static, kinematic or dynamic.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn body_type(&self, body: BodyHandle) -> Result<BodyType, Error> {
        Ok(self.bodies.body_type(self.bodies.slot_of(body)?))
    }

    /// Returns a body's shape. The normal of a half-space is normalised.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn shape(&self, body: BodyHandle) -> Result<Shape, Error> {
        Ok(self.bodies.shape(self.bodies.slot_of(body)?))
    }

    /// Returns a body's material.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn material(&self, body: BodyHandle) -> Result<Material, Error> {
        Ok(self.bodies.material(self.bodies.slot_of(body)?))
    }

    /// Returns a body's mass, kg. It is infinite for static and kinematic bodies.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn mass(&self, body: BodyHandle) -> Result<f32, Error> {
        Ok(1.0 / self.bodies.true_inverses(self.bodies.slot_of(body)?).0)
    }

    /// Returns the filter that says which other bodies a body touches.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn filter(&self, body: BodyHandle) -> Result<Filter, Error> {
        Ok(self.bodies.described_filter(self.bodies.slot_of(body)?))
    }

    /// Puts a body elsewhere, m. The move gives it no velocity. A half-space's surface moves along.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, or a quarantined body.
    pub fn set_position(&mut self, body: BodyHandle, position: Vec2) -> Result<(), Error> {
        self.record_of(body, || Call::SetPosition(body, position));
        let slot = self.good_slot(body, "position")?;
        check_vec("position", position, MAX_COORDINATE)?;
        self.disturb(slot);
        if let Shape::HalfSpace { normal, offset } = self.bodies.shape(slot) {
            self.bodies.columns.ext_z[slot] = offset + normal.dot(position);
        }
        let c = &mut self.bodies.columns;
        (c.pos_x[slot], c.pos_y[slot]) = (position.x, position.y);
        self.moved_by_hand(slot);
        Ok(())
    }

    /// Notes that a body was moved by hand: the last step's movement does not say where it came from, and its bounds
    /// are not where it is.
    pub(super) fn moved_by_hand(&mut self, slot: usize) {
        if let Some(pose) = self.solver.mirror.pose.get_mut(slot) {
            (pose.0[0], pose.0[1]) = (0.0, 0.0);
        }
        self.displaced(slot);
    }

    /// Notes that a body, or a part of it, is not where its bounds are.
    pub(super) fn displaced(&mut self, slot: usize) {
        self.note_wall(slot);
        self.note_stirred(slot);
        self.note_move(slot);
        self.unlist(slot);
    }

    /// Sets a body's angle, rad. An angle of more than half a turn becomes whole turns and the rest: see [`BodyState`].
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], an angle that is not finite or out of range, or a quarantined body.
    pub fn set_angle(&mut self, body: BodyHandle, angle: f32) -> Result<(), Error> {
        self.record_of(body, || Call::SetAngle(body, angle));
        let slot = self.good_slot(body, "angle")?;
        check_range("angle", angle, -MAX_COORDINATE, MAX_COORDINATE)?;
        self.disturb(slot);
        let c = &mut self.bodies.columns;
        (c.angle[slot], c.turns[slot]) = wrap(f64::from(angle));
        if let Some(pose) = self.solver.mirror.pose.get_mut(slot) {
            pose.0[2] = 0.0;
        }
        if self.bodies.columns.kind[slot].shape().turns() {
            self.displaced(slot);
        }
        Ok(())
    }

    /// Sets a body's velocity, m/s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, or a body that is static or
    /// quarantined.
    pub fn set_velocity(&mut self, body: BodyHandle, velocity: Vec2) -> Result<(), Error> {
        self.record_of(body, || Call::SetVelocity(body, velocity));
        let slot = self.moving_slot(body, "velocity")?;
        check_vec("velocity", velocity, MAX_SPEED)?;
        self.put_velocity(slot, velocity, None);
        Ok(())
    }

    /// Sets a body's angular velocity, rad/s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a value that is not finite or out of range, or a body that is static or quarantined.
    pub fn set_angular_velocity(&mut self, body: BodyHandle, omega: f32) -> Result<(), Error> {
        self.record_of(body, || Call::SetAngularVelocity(body, omega));
        let slot = self.moving_slot(body, "angular_velocity")?;
        check_range("angular_velocity", omega, -MAX_SPEED, MAX_SPEED)?;
        let state = self.bodies.state(slot);
        self.put_velocity(slot, state.velocity, Some(omega));
        Ok(())
    }

    /// Sets a body's velocity, and its angular velocity. It keeps what is `None`.
    pub(super) fn put_velocity(&mut self, slot: usize, velocity: Vec2, omega: Option<f32>) {
        let index = self.bodies.handle(slot).index;
        self.bodies.own.set_target(index, None);
        if self.bodies.is_disabled(slot)
            && let Some(kept) = self.bodies.own.disabled_mut(index)
        {
            kept.velocity = velocity;
            kept.angular_velocity = omega.unwrap_or(kept.angular_velocity);
            return;
        }
        if velocity != Vec2::ZERO || omega.is_some_and(|omega| omega != 0.0) {
            self.disturb(slot);
        }
        let c = &mut self.bodies.columns;
        (c.vel_x[slot], c.vel_y[slot]) = (velocity.x, velocity.y);
        c.omega[slot] = omega.unwrap_or(c.omega[slot]);
        self.unchecked = true;
    }

    /// Sets which other bodies a body touches. If the body has several parts, all of them get this filter.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn set_filter(&mut self, body: BodyHandle, filter: Filter) -> Result<(), Error> {
        self.record_of(body, || Call::SetFilter(body, filter));
        let slot = self.bodies.slot_of(body)?;
        self.disturb(slot);
        self.note_placed(slot);
        self.broadphase.note_edit(&self.bodies, slot);
        self.bodies.set_filter(slot, filter);
        self.list = ListState::Void;
        Ok(())
    }

    /// Sets the factor by which gravity is multiplied for a body, in −1,000..=1,000.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a scale that is not finite or out of range.
    pub fn set_gravity_scale(&mut self, body: BodyHandle, scale: f32) -> Result<(), Error> {
        self.record_of(body, || Call::SetGravityScale(body, scale));
        let slot = self.bodies.slot_of(body)?;
        check_range("gravity_scale", scale, -1.0e3, 1.0e3)?;
        self.wake(slot);
        self.bodies.columns.gravity_scale[slot] = scale;
        Ok(())
    }

    /// Sets the rates at which a body's velocity and angular velocity decay, 1/s, in 0..=10⁶.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a rate that is not finite, negative or out of range.
    pub fn set_damping(&mut self, body: BodyHandle, linear: f32, angular: f32) -> Result<(), Error> {
        self.record_of(body, || Call::SetDamping(body, linear, angular));
        let slot = self.bodies.slot_of(body)?;
        check_range("linear_damping", linear, 0.0, MAX_DAMPING)?;
        check_range("angular_damping", angular, 0.0, MAX_DAMPING)?;
        self.wake(slot);
        let c = &mut self.bodies.columns;
        (c.linear_damping[slot], c.angular_damping[slot]) = (linear + 0.0, angular + 0.0);
        self.bodies.any_damping |= linear != 0.0 || angular != 0.0;
        Ok(())
    }

    /// Adds a force at a body's centre for the next step, N.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, or a body that is static or
    /// quarantined.
    pub fn apply_force(&mut self, body: BodyHandle, force: Vec2) -> Result<(), Error> {
        self.record_aside(|| Call::ApplyForce(body, force));
        let slot = self.pushed_slot(body, "force")?;
        check_vec("force", force, Self::MAX_FORCE)?;
        if force == Vec2::ZERO {
            return Ok(());
        }
        self.wake(slot);
        let c = &mut self.bodies.columns;
        c.force_x[slot] += force.x;
        c.force_y[slot] += force.y;
        self.bodies.any_force = true;
        self.unchecked = true;
        Ok(())
    }

    /// Adds a force at a point of the world for the next step, N. It also exerts a torque about the body's centre.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, or a body that is static or
    /// quarantined.
    pub fn apply_force_at(&mut self, body: BodyHandle, force: Vec2, point: Vec2) -> Result<(), Error> {
        let slot = self.pushed_slot(body, "force")?;
        check_vec("point", point, MAX_COORDINATE)?;
        let torque = (point - self.bodies.position(slot)).perp_dot(force);
        check_range("torque", torque, -Self::MAX_FORCE, Self::MAX_FORCE)?;
        self.apply_force(body, force)?;
        self.apply_torque(body, torque)
    }

    /// Adds a torque for the next step, N·m.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a value that is not finite or out of range, or a body that is static or quarantined.
    pub fn apply_torque(&mut self, body: BodyHandle, torque: f32) -> Result<(), Error> {
        self.record_aside(|| Call::ApplyTorque(body, torque));
        let slot = self.pushed_slot(body, "torque")?;
        check_range("torque", torque, -Self::MAX_FORCE, Self::MAX_FORCE)?;
        if torque == 0.0 {
            return Ok(());
        }
        self.wake(slot);
        self.bodies.columns.torque[slot] += torque;
        self.bodies.any_force = true;
        self.unchecked = true;
        Ok(())
    }

    /// Changes a body's velocity at once, by an impulse at its centre, N·s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, a velocity that would be beyond
    /// [`World::MAX_SPEED`], or a body that is static or quarantined.
    pub fn apply_impulse(&mut self, body: BodyHandle, impulse: Vec2) -> Result<(), Error> {
        self.record_of(body, || Call::ApplyImpulse(body, impulse));
        self.change_velocities(body, impulse, 0.0)
    }

    /// Changes a body's velocity and angular velocity at once, by an impulse at a point of the world, N·s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, a velocity or an angular velocity that
    /// would be beyond [`World::MAX_SPEED`], or a body that is static or quarantined.
    pub fn apply_impulse_at(&mut self, body: BodyHandle, impulse: Vec2, point: Vec2) -> Result<(), Error> {
        self.record_of(body, || Call::ApplyImpulseAt(body, impulse, point));
        let slot = self.pushed_slot(body, "impulse")?;
        check_vec("point", point, MAX_COORDINATE)?;
        let angular = (point - self.bodies.position(slot)).perp_dot(impulse);
        self.change_velocities(body, impulse, angular)
    }

    /// Changes a body's angular velocity at once, by an angular impulse, N·m·s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a value that is not finite or out of range, an angular velocity that would be beyond
    /// [`World::MAX_SPEED`], or a body that is static or quarantined.
    pub fn apply_angular_impulse(&mut self, body: BodyHandle, impulse: f32) -> Result<(), Error> {
        self.record_of(body, || Call::ApplyAngularImpulse(body, impulse));
        self.change_velocities(body, Vec2::ZERO, impulse)
    }

    /// Changes both velocities, or neither if one is refused.
    fn change_velocities(&mut self, body: BodyHandle, impulse: Vec2, angular: f32) -> Result<(), Error> {
        let slot = self.check_impulse(body, impulse, angular)?;
        self.push(slot, impulse, angular);
        Ok(())
    }

    /// The velocities of a body after an impulse.
    fn after_impulse(&self, slot: usize, impulse: Vec2, angular: f32) -> (Vec2, f32) {
        let (inv_mass, inv_inertia) = (self.bodies.own_inv_mass(slot), self.bodies.own_inv_inertia(slot));
        let velocity = self.bodies.velocity(slot) + inv_mass * impulse;
        (velocity, self.bodies.columns.omega[slot] + inv_inertia * angular)
    }

    /// Returns the slot of a body that takes this impulse.
    pub(super) fn check_impulse(
        &self,
        body: BodyHandle,
        impulse: Vec2,
        angular: f32,
    ) -> Result<usize, Error> {
        let slot = self.pushed_slot(body, "impulse")?;
        check_vec("impulse", impulse, Self::MAX_FORCE)?;
        check_range("impulse", angular, -Self::MAX_FORCE, Self::MAX_FORCE)?;
        let (velocity, omega) = self.after_impulse(slot, impulse, angular);
        if impulse != Vec2::ZERO {
            check_vec("velocity", velocity, MAX_SPEED)?;
        }
        if angular != 0.0 {
            check_range("angular_velocity", omega, -MAX_SPEED, MAX_SPEED)?;
        }
        Ok(slot)
    }

    /// Changes a body's velocities by an impulse that was checked.
    pub(super) fn push(&mut self, slot: usize, impulse: Vec2, angular: f32) {
        if impulse == Vec2::ZERO && angular == 0.0 {
            return;
        }
        self.wake(slot);
        let (velocity, omega) = self.after_impulse(slot, impulse, angular);
        let c = &mut self.bodies.columns;
        (c.vel_x[slot], c.vel_y[slot], c.omega[slot]) = (velocity.x, velocity.y, omega);
        self.unchecked = true;
    }

    /// Returns the slot of a body that forces may act on: one that is enabled, and not static.
    pub(super) fn pushed_slot(&self, body: BodyHandle, field: &'static str) -> Result<usize, Error> {
        let slot = self.moving_slot(body, field)?;
        if self.bodies.is_disabled(slot) {
            return Err(Error::Invalid { field, reason: "the body is not enabled" });
        }
        Ok(slot)
    }

    pub(super) fn moving_slot(&self, body: BodyHandle, field: &'static str) -> Result<usize, Error> {
        let slot = self.good_slot(body, field)?;
        match self.bodies.body_type(slot) {
            BodyType::Static => Err(Error::Invalid { field, reason: "a static body has none" }),
            _ => Ok(slot),
        }
    }

    /// Returns the slot of a body that the host may move: one that is not quarantined.
    pub(super) fn good_slot(&self, body: BodyHandle, field: &'static str) -> Result<usize, Error> {
        let slot = self.bodies.slot_of(body)?;
        if self.bodies.columns.kind[slot].motion() == Motion::Quarantined {
            return Err(Error::Invalid { field, reason: "the body is quarantined: it stays where it is" });
        }
        Ok(slot)
    }
}
