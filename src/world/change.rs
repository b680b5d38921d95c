//! What a body is, changed by hand: its type, whether it is enabled, mass, locks, largest speeds, tag and name.

use super::World;
use super::pairs::ListState;
use super::record::Call;
use crate::body::own::{ByHand, Locks, MotionLimits};
use crate::body::{BodyHandle, BodyType, MAX_SPEED, Motion, check_inertia, check_mass};
use crate::error::{Error, check_range, check_vec};
use crate::geometry::shape::{Shape, ShapeKind};
use glam::Vec2;

impl World {
    /// Sets how a body moves. It keeps its place, its velocity (a static body has none), its contacts with their impulses, its joints and links.
    /// A body that becomes dynamic has the mass that it was given, or that of its shapes, and its centre moves to their common centre of mass, unless
    /// that was set by hand; what was added to it before had left its centre where it was. A joint between two bodies that are not dynamic holds
    /// nothing until one of them is dynamic again.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a half-space that would not be static; a chain's segment that would be dynamic; a centre that cannot be where it
    /// would be ([`World::set_centre`]); a quarantined body.
    pub fn set_body_type(&mut self, body: BodyHandle, body_type: BodyType) -> Result<(), Error> {
        self.record(|| Call::SetBodyType(body, body_type));
        let slot = self.good_slot(body, "type")?;
        if self.bodies.body_type(slot) == body_type {
            return Ok(());
        }
        let refused = match self.bodies.columns.kind[slot].shape() {
            ShapeKind::HalfSpace => Some("only a static body can be a half-space"),
            ShapeKind::ChainSegment if body_type == BodyType::Dynamic => {
                Some("only a static or kinematic body can be a chain's segment")
            }
            _ => None,
        };
        if let Some(reason) = refused {
            return Err(Error::Invalid { field: "type", reason });
        }
        if body_type == BodyType::Dynamic {
            self.centre_weight(slot, self.bodies.by_hand(slot))?;
        }
        self.edit_mass(slot, Vec2::ZERO, |bodies| bodies.set_type(slot, body_type));
        Ok(())
    }

    /// Takes a body out of everything, or brings it back. A body that is not enabled is in no stage of the step and found by no query. It keeps its
    /// place and its velocity, [`World::columns`] show the velocity 0, and its joints, links and hulls rest: they hold nothing. You can place and
    /// change it, and give it a velocity for later; forces and impulses are refused.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a quarantined body.
    pub fn set_enabled(&mut self, body: BodyHandle, enabled: bool) -> Result<(), Error> {
        self.record_of(body, || Call::SetEnabled(body, enabled));
        let slot = self.good_slot(body, "enabled")?;
        if self.bodies.is_disabled(slot) != enabled {
            return Ok(());
        }
        self.disturb(slot);
        self.wake_partners(body);
        if enabled {
            self.bodies.enable(slot);
            self.displaced(slot);
            self.unchecked = true;
        } else {
            self.bodies.disable(slot);
        }
        self.changed_motion(slot, Vec2::ZERO);
        Ok(())
    }

    /// Returns false for a body that takes part in nothing: see [`World::set_enabled`].
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn is_enabled(&self, body: BodyHandle) -> Result<bool, Error> {
        Ok(!self.bodies.is_disabled(self.bodies.slot_of(body)?))
    }

    /// Sets a body's mass, kg, in 1e-18..=1e18; 0 is infinite. `None` stands for density × area of its shapes. Unless the moment of inertia was set
    /// by hand, too, it changes in proportion. The mass of a body that is not dynamic counts once it is. A body of several shapes whose mass was
    /// infinite gets its centre as in [`World::set_body_type`].
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a mass that is out of range; a centre that cannot be where it would be ([`World::set_centre`]); a quarantined body.
    pub fn set_mass(&mut self, body: BodyHandle, mass: Option<f32>) -> Result<(), Error> {
        self.record_of(body, || Call::SetMass(body, mass));
        let slot = self.good_slot(body, "mass")?;
        mass.map_or(Ok(()), check_mass)?;
        let old = self.bodies.by_hand(slot);
        let by_hand = ByHand { mass, ..old };
        if old.mass == Some(0.0) && self.bodies.body_type(slot) == BodyType::Dynamic {
            self.centre_weight(slot, by_hand)?;
        }
        self.set_by_hand(slot, by_hand);
        Ok(())
    }

    /// Sets a body's moment of inertia about its centre, kg·m², in 1e-18..=1e18. `None` stands for that of its shapes with its mass.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a value that is out of range; a shape that does not turn; a quarantined body.
    pub fn set_inertia(&mut self, body: BodyHandle, inertia: Option<f32>) -> Result<(), Error> {
        self.record_of(body, || Call::SetInertia(body, inertia));
        let slot = self.good_slot(body, "inertia")?;
        let kind = self.bodies.columns.kind[slot].shape();
        inertia.map_or(Ok(()), |inertia| check_inertia(inertia, kind))?;
        self.set_by_hand(slot, ByHand { inertia, ..self.bodies.by_hand(slot) });
        Ok(())
    }

    /// Moves a body's centre of mass to `centre`, a point from the present centre in the body's own axes, m. All shapes stay where they are, and
    /// joints and links hold the body at the same points of its shapes; [`World::body`] then returns another position. The centre keeps its place in
    /// the body when shapes change. `None` moves it back to the common centre of mass of the shapes. The moment of inertia becomes that
    /// about the new centre, unless it was set by hand.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a component that is not finite or beyond [`Shape::MAX_EXTENT`]; a body whose shape is not a circle, box,
    /// capsule, segment or polygon; a centre that would be beyond [`World::MAX_COORDINATE`] or move faster than [`World::MAX_SPEED`]; a
    /// quarantined body.
    pub fn set_centre(&mut self, body: BodyHandle, centre: Option<Vec2>) -> Result<(), Error> {
        self.record_of(body, || Call::SetCentre(body, centre));
        let slot = self.good_slot(body, "centre")?;
        check_vec("centre", centre.unwrap_or(Vec2::ZERO), Shape::MAX_EXTENT)?;
        let parts = self.parts(body)?;
        parts[0].validate()?;
        let by_hand = ByHand { centre: centre.is_some(), ..self.bodies.by_hand(slot) };
        let centre = match centre {
            Some(centre) => centre,
            None => self.bodies.centre_by(slot, &parts, by_hand),
        };
        self.replace_parts(slot, &parts, centre, Some(by_hand))
    }

    /// Tells whether [`World::set_centre`] has set a body's centre of mass. Where it is, seen from the shapes, [`World::parts`] tells: their
    /// positions are from the centre.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn has_set_centre(&self, body: BodyHandle) -> Result<bool, Error> {
        let slot = self.bodies.slot_of(body)?;
        Ok(self.bodies.by_hand(slot).centre)
    }

    /// The mass that was set by hand ([`BodyDesc::mass`](crate::BodyDesc::mass), [`World::set_mass`]), kg, of a body that is static or kinematic now, too. `None` if it is that
    /// of the shapes.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn mass_by_hand(&self, body: BodyHandle) -> Result<Option<f32>, Error> {
        Ok(self.bodies.by_hand(self.bodies.slot_of(body)?).mass)
    }

    /// The moment of inertia that was set by hand ([`BodyDesc::inertia`](crate::BodyDesc::inertia), [`World::set_inertia`]), kg·m². `None` if it is that of the shapes with
    /// the body's mass.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn inertia_by_hand(&self, body: BodyHandle) -> Result<Option<f32>, Error> {
        Ok(self.bodies.by_hand(self.bodies.slot_of(body)?).inertia)
    }

    fn set_by_hand(&mut self, slot: usize, by_hand: ByHand) {
        let index = self.bodies.handle(slot).index;
        self.edit_mass(slot, Vec2::ZERO, |bodies| {
            bodies.own.set_by_hand(index, by_hand);
            bodies.renew_mass(slot);
        });
    }

    /// Changes a body's mass, shape or type, of one that is not enabled, too. Its centre moves by `by` in its own axes.
    pub(super) fn edit_mass(&mut self, slot: usize, by: Vec2, edit: impl FnOnce(&mut crate::body::Bodies)) {
        self.disturb(slot);
        self.broadphase.note_edit(&self.bodies, slot);
        self.wake_partners(self.bodies.handle(slot));
        let rests = self.bodies.is_disabled(slot);
        self.bodies.enable(slot);
        edit(&mut self.bodies);
        if rests {
            self.bodies.disable(slot);
        }
        self.changed_motion(slot, by);
        self.displaced(slot);
    }

    /// Notes that a body moves in another way, or has another mass, and that its centre has moved by `by` in its own axes.
    fn changed_motion(&mut self, slot: usize, by: Vec2) {
        let body = self.bodies.handle(slot);
        self.links.centre_moved(body, by);
        self.links.mass_changed(body);
        self.joints_of_changed(body, by);
        if self.bodies.columns.kind[slot].is_particle() {
            (self.hulls.changed, self.hulls.renumbered) = (true, true);
        }
        self.note_wall(slot);
        self.list = ListState::Void;
    }

    /// Wakes the bodies to which a body is joined or linked.
    fn wake_partners(&mut self, body: BodyHandle) {
        if self.bodies.asleep_count == 0 {
            return;
        }
        for index in self.joints_and_gears_of(body) {
            let Some((_, joint)) = self.joints.at(index) else { continue };
            let desc = joint.desc;
            self.wake_joint(&desc);
        }
        let partners: Vec<BodyHandle> = self.links.partners(body).collect();
        self.wake_bodies(partners);
    }

    /// Keeps a dynamic body from moving along x, along y, or from turning. The position does not change along a locked axis, not by one bit, and
    /// the velocity is 0 after each step: what you set, or an impulse gives it, is gone with the next one. A lock acts as a constraint beside the contacts: within a step, a heavy blow along the axis may still push the two bodies
    /// into each other. A body that is not dynamic moves as you tell it.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a quarantined body.
    pub fn set_locks(&mut self, body: BodyHandle, locks: Locks) -> Result<(), Error> {
        self.record_of(body, || Call::SetLocks(body, locks));
        let slot = self.good_slot(body, "locks")?;
        let limits = self.bodies.own.limits(body.index);
        self.set_limits(slot, MotionLimits { lock_x: locks.x, lock_y: locks.y, ..limits });
        let by_hand = self.bodies.by_hand(slot);
        if by_hand.fixed_rotation != locks.rotation {
            self.set_by_hand(slot, ByHand { fixed_rotation: locks.rotation, ..by_hand });
            if locks.rotation && self.bodies.body_type(slot) == BodyType::Dynamic {
                match self.bodies.own.disabled_mut(body.index) {
                    Some(kept) => kept.angular_velocity = 0.0,
                    None => self.bodies.columns.omega[slot] = 0.0,
                }
            }
        }
        Ok(())
    }

    /// Returns the directions in which a body cannot move.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn locks(&self, body: BodyHandle) -> Result<Locks, Error> {
        let slot = self.bodies.slot_of(body)?;
        let limits = self.bodies.own.limits(body.index);
        Ok(Locks { x: limits.lock_x, y: limits.lock_y, rotation: self.bodies.by_hand(slot).fixed_rotation })
    }

    /// Sets a dynamic body's largest speed, m/s, and angular speed, rad/s, each in 0..=1e6; `None` is no limit. The velocity is cut in each
    /// substep, before the body moves. (Links and hulls move bodies directly, and may move them further; so does a fast kinematic body that
    /// meets the body within a step, where [`Settings::continuous`](crate::Settings::continuous) is on: the body is then put before it.)
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a value that is out of range; a quarantined body.
    pub fn set_max_speeds(
        &mut self,
        body: BodyHandle,
        linear: Option<f32>,
        angular: Option<f32>,
    ) -> Result<(), Error> {
        self.record_of(body, || Call::SetMaxSpeeds(body, linear, angular));
        let slot = self.good_slot(body, "max_speed")?;
        check_range("max_speed", linear.unwrap_or(0.0), 0.0, MAX_SPEED)?;
        check_range("max_angular_speed", angular.unwrap_or(0.0), 0.0, MAX_SPEED)?;
        let most = |value: Option<f32>| value.unwrap_or(f32::INFINITY) + 0.0;
        let limits = self.bodies.own.limits(body.index);
        self.set_limits(slot, MotionLimits { max_speed: most(linear), max_spin: most(angular), ..limits });
        Ok(())
    }

    /// Returns a body's largest speed, m/s, and angular speed, rad/s; `None` is no limit.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn max_speeds(&self, body: BodyHandle) -> Result<(Option<f32>, Option<f32>), Error> {
        self.bodies.slot_of(body)?;
        let MotionLimits { max_speed, max_spin, .. } = self.bodies.own.limits(body.index);
        let limit = |most: f32| most.is_finite().then_some(most);
        Ok((limit(max_speed), limit(max_spin)))
    }

    fn set_limits(&mut self, slot: usize, limits: MotionLimits) {
        let index = self.bodies.handle(slot).index;
        if limits == self.bodies.own.limits(index) {
            return;
        }
        self.disturb(slot);
        self.bodies.own.set_limits(index, limits);
        if self.bodies.is_movable(slot) {
            self.limit_velocity(slot, &limits);
        }
    }

    /// Brings a body's velocity within its limits.
    pub(super) fn limit_velocity(&mut self, slot: usize, limits: &MotionLimits) {
        let velocity = limits.limited(self.bodies.velocity(slot));
        let c = &mut self.bodies.columns;
        (c.vel_x[slot], c.vel_y[slot]) = velocity.into();
        c.omega[slot] = MotionLimits::limited_spin(c.omega[slot], limits.max_spin);
    }

    /// Returns the host's number of a body. 0 if it has none.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn tag(&self, body: BodyHandle) -> Result<u64, Error> {
        self.bodies.slot_of(body)?;
        Ok(self.bodies.own.tag(body.index))
    }

    /// Sets the host's number of a body. The engine does not read it. (Those of parts, joints and links are in [`Part::tag`](crate::Part::tag),
    /// [`JointDesc::tag`](crate::JointDesc::tag) and [`LinkDesc::tag`](crate::LinkDesc::tag).)
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn set_tag(&mut self, body: BodyHandle, tag: u64) -> Result<(), Error> {
        self.record_aside(|| Call::SetTag(body, tag));
        self.bodies.slot_of(body)?;
        self.bodies.own.set_tag(body.index, tag);
        Ok(())
    }

    /// Returns the name of a body, if it has one.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn name(&self, body: BodyHandle) -> Result<Option<&str>, Error> {
        self.bodies.slot_of(body)?;
        Ok(self.names.get(&body).map(String::as_str))
    }

    /// Gives a body a name, for debugging, or takes it. Names are kept in a table of their own; a world without names has none. Two bodies may have the
    /// same name.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn set_name(&mut self, body: BodyHandle, name: Option<&str>) -> Result<(), Error> {
        self.record_aside(|| Call::SetName(body, name.map(str::to_owned)));
        self.bodies.slot_of(body)?;
        match name {
            Some(name) => _ = self.names.insert(body, name.to_owned()),
            None => _ = self.names.remove(&body),
        }
        Ok(())
    }

    /// Returns a body's moment of inertia about its centre, kg·m². It is infinite for a body that forces do not turn.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn inertia(&self, body: BodyHandle) -> Result<f32, Error> {
        Ok(1.0 / self.bodies.true_inverses(self.bodies.slot_of(body)?).1)
    }

    /// Returns the rates at which a body's velocity and angular velocity decay, 1/s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn damping(&self, body: BodyHandle) -> Result<(f32, f32), Error> {
        let slot = self.bodies.slot_of(body)?;
        Ok((self.bodies.columns.linear_damping[slot], self.bodies.columns.angular_damping[slot]))
    }

    /// Returns the factor by which gravity is multiplied for a body.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn gravity_scale(&self, body: BodyHandle) -> Result<f32, Error> {
        Ok(self.bodies.columns.gravity_scale[self.bodies.slot_of(body)?])
    }

    /// Returns the force, N, and the torque, N·m, that wait for the next step.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn force(&self, body: BodyHandle) -> Result<(Vec2, f32), Error> {
        let slot = self.bodies.slot_of(body)?;
        let c = &self.bodies.columns;
        Ok((Vec2::new(c.force_x[slot], c.force_y[slot]), c.torque[slot]))
    }

    /// Makes room for this many more bodies, joints and links, so that adding them one by one does not move what is there. It changes no
    /// result.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] if a world cannot hold so many.
    pub fn reserve(&mut self, bodies: usize, joints: usize, links: usize) -> Result<(), Error> {
        self.check_room(bodies)?;
        self.check_joint_room(joints)?;
        self.check_link_room(links)?;
        self.bodies.reserve(bodies);
        self.joints.reserve(joints);
        self.links.reserve(links);
        Ok(())
    }

    /// Moves a kinematic body to this place and angle in exactly the next step, by a velocity, so that what it touches feels it. It turns the
    /// shorter way. Then it stands there, with the velocity 0, until it gets another target or a velocity. Position in m, angle in rad.
    ///
    /// Setting a velocity, another type, or disabling the body drops the target.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a component that is not finite or out of range; a place that is further away than the body gets in a step at
    /// [`World::MAX_SPEED`]; a body that is not kinematic, not enabled, or quarantined.
    pub fn set_kinematic_target(
        &mut self,
        body: BodyHandle,
        position: Vec2,
        angle: f32,
    ) -> Result<(), Error> {
        self.record_of(body, || Call::SetKinematicTarget(body, position, angle));
        let slot = self.good_slot(body, "target")?;
        if self.bodies.columns.kind[slot].motion() != Motion::Kinematic {
            return Err(Error::Invalid {
                field: "target",
                reason: "only a kinematic body that is enabled has one",
            });
        }
        check_vec("target.position", position, Self::MAX_COORDINATE)?;
        check_range("target.angle", angle, -Self::MAX_COORDINATE, Self::MAX_COORDINATE)?;
        let target = crate::body::own::Target { position, angle };
        if !self.reaches(slot, &target) {
            return Err(Error::Invalid { field: "target.position", reason: "too far away for one step" });
        }
        self.disturb(slot);
        self.bodies.own.set_target(body.index, Some(target));
        Ok(())
    }

    /// Returns where a kinematic body goes in the next step, if it has a target.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn kinematic_target(&self, body: BodyHandle) -> Result<Option<(Vec2, f32)>, Error> {
        self.bodies.slot_of(body)?;
        Ok(self.bodies.own.target(body.index).map(|target| (target.position, target.angle)))
    }
}
