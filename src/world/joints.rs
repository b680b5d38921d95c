//! Joints of a world.

mod state;

use super::World;
use super::record::Call;
use crate::body::{BodyHandle, BodyType};
use crate::error::{Error, check_range};
use crate::geometry::trig::wrap;
use crate::joints::desc::{JointDesc, JointEnds, JointHandle, JointKind, JointMotor};
use crate::joints::report::{JointEnd, JointEvent, JointQuality, JointState};
use crate::joints::table::{Joint, MAX_JOINTS};
use crate::solver::joints::angle_of;
use glam::Vec2;
use state::Pose;

/// The state of all joints as columns, by handle index. All have the same length. See [`JointState`] for units and meaning.
#[derive(Clone, Copy, Debug)]
pub struct JointColumns<'a> {
    /// The handles of the joints.
    pub handle: &'a [JointHandle],
    /// Angles, rad.
    pub angle: &'a [f32],
    /// Lengths, or ways along axes, m.
    pub translation: &'a [f32],
    /// Speeds of the free motions, m/s or rad/s.
    pub speed: &'a [f32],
    /// Forces along x in the last substep, N.
    pub force_x: &'a [f32],
    /// Forces along y in the last substep, N.
    pub force_y: &'a [f32],
    /// Torques in the last substep, N·m.
    pub torque: &'a [f32],
}

/// The memory of the columns.
#[derive(Default)]
pub(crate) struct ColumnMemory {
    handle: Vec<JointHandle>,
    columns: [Vec<f32>; 6],
}

impl World {
    /// Adds a joint.
    ///
    /// # Errors
    ///
    /// The first field of `joint` that is refused; [`Error::StaleHandle`] for a body or a joint that is not in this world;
    /// [`Error::Invalid`] if neither body is dynamic, or if a gear couples something else than revolute and prismatic joints;
    /// [`Error::TooMany`].
    pub fn add_joint(&mut self, joint: &JointDesc) -> Result<JointHandle, Error> {
        self.record_beside(|| Call::AddJoint(*joint));
        self.check_joint(joint, true)?;
        self.check_joint_room(1)?;
        Ok(self.insert_joint(joint))
    }

    /// Adds many joints. If one is refused, adds none. (A gear needs joints that are in the world already.)
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first joint that is refused; [`Error::TooMany`].
    pub fn add_joints(&mut self, joints: &[JointDesc]) -> Result<Vec<JointHandle>, Error> {
        self.record_beside(|| Call::AddJoints(joints.to_vec()));
        for (index, joint) in joints.iter().enumerate() {
            self.check_joint(joint, true)
                .map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        self.check_joint_room(joints.len())?;
        Ok(joints.iter().map(|joint| self.insert_joint(joint)).collect())
    }

    /// Checks a joint. A new joint must have a dynamic body. An old one need not, because the types of its bodies may have changed since.
    fn check_joint(&self, joint: &JointDesc, new: bool) -> Result<(), Error> {
        joint.validate()?;
        match joint.ends {
            JointEnds::Joints(first, second) => {
                for (field, member) in [("first", first), ("second", second)] {
                    let kind = self.joints.get(member)?.desc.kind;
                    if !matches!(kind, JointKind::Revolute(_) | JointKind::Prismatic(_)) {
                        return Err(Error::Invalid {
                            field,
                            reason: "a gear couples revolute and prismatic joints",
                        });
                    }
                }
                Ok(())
            }
            JointEnds::World(a) => match self.bodies.body_type(self.bodies.slot_of(a)?) {
                BodyType::Dynamic => Ok(()),
                _ if !new => Ok(()),
                _ => Err(Error::Invalid { field: "a", reason: "only a dynamic body can be pulled" }),
            },
            JointEnds::Bodies(a, b) => {
                let slots = [self.bodies.slot_of(a)?, self.bodies.slot_of(b)?];
                if new && slots.iter().all(|&slot| self.bodies.body_type(slot) != BodyType::Dynamic) {
                    return Err(Error::Invalid {
                        field: "b",
                        reason: "one of two joined bodies has to be dynamic",
                    });
                }
                Ok(())
            }
        }
    }

    pub(crate) fn check_joint_room(&self, more: usize) -> Result<(), Error> {
        if more > MAX_JOINTS - self.joints.len() {
            Err(Error::TooMany { kind: "joints", max: MAX_JOINTS })
        } else {
            Ok(())
        }
    }

    fn insert_joint(&mut self, desc: &JointDesc) -> JointHandle {
        self.wake_joint(desc);
        let mut joint = Joint { desc: *desc, place: None, turns: 0, asleep: None, constant: 0.0 };
        joint.turns = wrap(angle_of(&joint, &self.bodies)).1;
        joint.constant = self.gear_value(desc);
        let handle = self.joints.insert(joint.desc, joint.turns, joint.constant);
        self.joint_solver.insert(handle.index, &mut self.joints, &self.bodies, self.settings.substep());
        self.part(desc, true);
        handle
    }

    /// What a gear keeps: first + ratio · second.
    fn gear_value(&self, desc: &JointDesc) -> f64 {
        let (JointEnds::Joints(first, second), JointKind::Gear { ratio }) = (desc.ends, desc.kind) else {
            return 0.0;
        };
        let value = |member| {
            let Ok(joint) = self.joints.get(member) else { return 0.0 };
            match joint.desc.kind {
                JointKind::Prismatic(_) => {
                    self.pose(joint).map_or(0.0, |pose| f64::from(pose.gap.dot(pose.axis)))
                }
                _ => angle_of(joint, &self.bodies),
            }
        };
        value(first) + f64::from(ratio) * value(second)
    }

    /// Begins or ceases to keep the bodies of a joint apart.
    fn part(&mut self, desc: &JointDesc, apart: bool) {
        let JointEnds::Bodies(a, b) = desc.ends else { return };
        if desc.collide_connected {
            return;
        }
        let pairs = &mut self.bodies.apart;
        let changed = if apart { pairs.add(a.index, b.index) } else { pairs.remove(a.index, b.index) };
        if changed && let (Ok(a), Ok(b)) = (self.bodies.slot_of(a), self.bodies.slot_of(b)) {
            self.note_pair(a, b, apart);
        }
    }

    /// Removes a joint, and the gears that couple it. [`World::joint_events`] reports the gears.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn remove_joint(&mut self, joint: JointHandle) -> Result<(), Error> {
        self.record_beside(|| Call::RemoveJoint(joint));
        let desc = self.joints.get(joint)?.desc;
        self.wake_joint(&desc);
        self.take_joint(joint.index);
        Ok(())
    }

    /// Takes out a joint and the gears that couple it.
    fn take_joint(&mut self, index: u32) {
        while let Some(gear) = self.joints.gear_of(index) {
            self.wake_at(gear);
            self.joint_solver.remove(gear, &mut self.joints);
            if let Some((handle, joint)) = self.joints.remove_at(gear) {
                self.joints.note_lost(handle, joint.desc.tag);
            }
        }
        self.joint_solver.remove(index, &mut self.joints);
        if let Some((_, joint)) = self.joints.remove_at(index) {
            self.part(&joint.desc, false);
        }
    }

    /// Removes the joints of a body that is about to be removed.
    pub(super) fn lose_joints(&mut self, body: BodyHandle) {
        while let Some(index) = self.joints.first_of(body) {
            let lost = self.joints.at(index).map(|(handle, joint)| (handle, joint.desc.tag));
            self.take_joint(index);
            if let Some((handle, tag)) = lost {
                self.joints.note_lost(handle, tag);
            }
        }
    }

    /// Notes that a body has another mass, and that its centre has moved by `by` in its own axes.
    pub(super) fn joints_of_changed(&mut self, body: BodyHandle, by: Vec2) {
        self.joints.centre_moved(body, by);
        self.joints_and_gears_of(body).into_iter().for_each(|joint| self.renew_joint(joint));
    }

    /// The joints of a body, and the gears that couple them.
    pub(super) fn joints_and_gears_of(&self, body: BodyHandle) -> Vec<u32> {
        let mut joints: Vec<u32> = self.joints.of_body(body).collect();
        let gears: Vec<u32> = joints.iter().flat_map(|&joint| self.joints.gears_of(joint)).collect();
        joints.extend(gears);
        joints
    }

    /// Notes that a body has gone bad: nothing moves it any more. What its joints bore may not be a number.
    pub(super) fn forget_impulses_of(&mut self, body: BodyHandle) {
        let h = self.settings.substep();
        for joint in self.joints_and_gears_of(body) {
            if self.joints.at(joint).is_none_or(|(_, joint)| joint.place.is_none()) {
                continue;
            }
            self.joint_solver.remove(joint, &mut self.joints);
            self.joint_solver.insert(joint, &mut self.joints, &self.bodies, h);
        }
    }

    /// Wakes the bodies of a joint. (A gear may couple bodies that sleep elsewhere.)
    fn wake_at(&mut self, index: u32) {
        if let Some((_, &Joint { desc, .. })) = self.joints.at(index) {
            self.joints.note_speed(&desc);
            self.wake_joint(&desc);
        }
    }

    fn renew_joint(&mut self, index: u32) {
        self.wake_at(index);
        let Some((_, joint)) = self.joints.at(index) else { return };
        let (desc, h) = (joint.desc, self.settings.substep());
        self.joint_solver.change(index, &mut self.joints, &self.bodies, h, desc);
    }

    /// Removes the joints that bore more than they can, and reports them.
    pub(super) fn break_joints(&mut self) {
        self.joints.begin_step();
        if self.joint_solver.is_empty() {
            return;
        }
        let mut events = std::mem::take(&mut self.joints.events);
        let lost = events.len();
        self.joint_solver.find_broken(&self.joints, |index, force, torque| {
            if let Some((joint, Joint { desc, .. })) = self.joints.at(index) {
                events.push(JointEvent { joint, tag: desc.tag, reason: JointEnd::Broken { force, torque } });
            }
        });
        // Joints are found in the order of their lanes, which means nothing to the host.
        events[lost..].sort_unstable_by_key(|event| event.joint.index);
        // A gear that broke is taken out before a joint that it couples: so it is not lost, too.
        let mut gears_first = |gears: bool| {
            for event in &events {
                let is_gear = |joint: &Joint| matches!(joint.desc.kind, JointKind::Gear { .. });
                if self.joints.get(event.joint).is_ok_and(|joint| is_gear(joint) == gears) {
                    self.take_joint(event.joint.index);
                }
            }
        };
        gears_first(true);
        gears_first(false);
        // Gears of a joint that broke.
        events.append(&mut self.joints.lost);
        self.joints.events = events;
    }

    /// The joints that broke in the last step, and those that were lost since the step before: with a body or a joint that they
    /// joined. (A joint that the host itself removes is not reported.) Their handles are stale.
    ///
    /// Joints that were lost before the step come first, in the order in which they were lost. Then come those that broke, by handle
    /// index, and at last the gears that were lost with them.
    pub fn joint_events(&self) -> &[JointEvent] {
        &self.joints.events
    }

    /// Returns a joint with its present parameters.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], also when the joint broke or was lost.
    pub fn joint(&self, joint: JointHandle) -> Result<JointDesc, Error> {
        Ok(self.joints.get(joint)?.desc)
    }

    /// Changes all parameters of a joint, its kind too. It keeps its ends and, if it is of the same kind, its impulses. The parameters that it
    /// has wake nothing.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; the first field that is refused; other ends than the joint has; another kind for a joint that a gear
    /// couples.
    pub fn set_joint(&mut self, joint: JointHandle, desc: &JointDesc) -> Result<(), Error> {
        self.record_beside(|| Call::SetJoint(joint, *desc));
        let old = *self.joints.get(joint)?;
        self.check_joint(desc, false)?;
        if desc.ends != old.desc.ends {
            return Err(Error::Invalid { field: "ends", reason: "a joint keeps its ends" });
        }
        if *desc == old.desc {
            return Ok(());
        }
        let same_kind = std::mem::discriminant(&desc.kind) == std::mem::discriminant(&old.desc.kind);
        if !same_kind && self.joints.gear_of(joint.index).is_some() {
            return Err(Error::Invalid { field: "kind", reason: "a gear couples this joint" });
        }
        self.wake_joint(desc);
        if desc.collide_connected != old.desc.collide_connected {
            self.part(&old.desc, false);
        }
        if let JointKind::Gear { .. } = desc.kind
            && desc.kind != old.desc.kind
        {
            let constant = self.gear_value(desc);
            if let Some(gear) = self.joints.at_mut(joint.index) {
                gear.constant = constant;
            }
        }
        let h = self.settings.substep();
        self.joint_solver.change(joint.index, &mut self.joints, &self.bodies, h, *desc);
        self.joints.note_speed(desc);
        if desc.collide_connected != old.desc.collide_connected {
            self.part(desc, true);
        }
        let gears: Vec<u32> = self.joints.gears_of(joint.index).collect();
        gears.into_iter().for_each(|gear| self.renew_joint(gear));
        Ok(())
    }

    /// Sets the speed of a joint's motor, m/s or rad/s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a speed that is not finite or out of range; [`Error::Invalid`] for a joint without a motor.
    pub fn set_motor_speed(&mut self, joint: JointHandle, speed: f32) -> Result<(), Error> {
        self.record_aside(|| Call::SetMotorSpeed(joint, speed));
        self.check_motor(joint, speed)?;
        self.write_motor_speed(joint.index, speed);
        Ok(())
    }

    /// Checks that a joint has a motor, and that it may have this speed.
    pub(super) fn check_motor(&self, joint: JointHandle, speed: f32) -> Result<(), Error> {
        let mut desc = self.joints.get(joint)?.desc;
        check_range("motor.speed", speed, -Self::MAX_SPEED, Self::MAX_SPEED)?;
        match desc.kind_motor() {
            Some(Some(_)) => Ok(()),
            _ => Err(Error::Invalid { field: "motor", reason: "the joint has none" }),
        }
    }

    /// Sets the speeds of all motors, by handle index: the order of [`World::joint_columns`]. There is one number for each joint; that
    /// of a joint without a motor means nothing. If one is refused, none is set.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for another number of speeds than there are joints; [`Error::Element`] with the index of the first speed
    /// that is not finite or out of range.
    pub fn set_motor_speeds(&mut self, speeds: &[f32]) -> Result<(), Error> {
        self.record_aside(|| Call::SetMotorSpeeds(speeds.to_vec()));
        if speeds.len() != self.joints.len() {
            return Err(Error::Invalid { field: "speeds", reason: "there is one for each joint" });
        }
        for (index, &speed) in speeds.iter().enumerate() {
            check_range("motor.speed", speed, -Self::MAX_SPEED, Self::MAX_SPEED)
                .map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        let mut speeds = speeds.iter();
        for index in 0..self.joints.capacity() as u32 {
            if self.joints.at(index).is_some()
                && let Some(&speed) = speeds.next()
            {
                self.write_motor_speed(index, speed);
            }
        }
        Ok(())
    }

    /// Sets the speed of a motor. Returns false if the joint has none.
    fn write_motor_speed(&mut self, index: u32, speed: f32) -> bool {
        let motor =
            self.joints.at_mut(index).and_then(|joint| joint.desc.kind_motor().and_then(Option::as_mut));
        let Some(JointMotor { speed: old, .. }) = motor else { return false };
        if std::mem::replace(old, speed) == speed {
            return true;
        }
        if let Some((_, &Joint { desc, .. })) = self.joints.at(index) {
            self.wake_joint(&desc);
        }
        self.joint_solver.set_motor_speed(index, &self.joints, speed);
        true
    }

    /// Sets where a target joint pulls its body to, m.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a component that is not finite or out of range; [`Error::Invalid`] for a joint of another kind.
    pub fn set_target(&mut self, joint: JointHandle, to: Vec2) -> Result<(), Error> {
        self.record_aside(|| Call::SetTarget(joint, to));
        let mut desc = self.joints.get(joint)?.desc;
        let JointKind::Target { target, .. } = &mut desc.kind else {
            return Err(Error::Invalid { field: "joint", reason: "not a target joint" });
        };
        if std::mem::replace(target, to) == to {
            return Ok(());
        }
        desc.validate()?;
        self.wake_joint(&desc);
        if let Some(joint) = self.joints.at_mut(joint.index) {
            joint.desc = desc;
        }
        self.joint_solver.write(joint.index, &self.joints);
        Ok(())
    }

    /// Enables a joint, or disables it: a disabled joint holds nothing.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn enable_joint(&mut self, joint: JointHandle, enabled: bool) -> Result<(), Error> {
        let desc = JointDesc { enabled, ..self.joints.get(joint)?.desc };
        self.set_joint(joint, &desc)
    }

    /// All joints by handle index.
    pub fn joints(&self) -> impl Iterator<Item = (JointHandle, JointDesc)> + '_ {
        self.joints.iter().map(|(handle, joint)| (handle, joint.desc))
    }

    /// The joints of a body. Gears that couple them are not among them.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn joints_of(&self, body: BodyHandle) -> Result<impl Iterator<Item = JointHandle> + '_, Error> {
        self.bodies.slot_of(body)?;
        Ok(self.joints.of_body(body).filter_map(|index| self.joints.at(index)).map(|(handle, _)| handle))
    }

    /// The number of joints.
    pub fn joint_count(&self) -> usize {
        self.joints.len()
    }

    /// Returns what a joint does at present.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn joint_state(&self, joint: JointHandle) -> Result<JointState, Error> {
        Ok(self.state_of_joint(self.joints.get(joint)?))
    }

    /// The state of all joints as columns, by handle index. It is computed when you ask for it, into memory that the world keeps.
    pub fn joint_columns(&mut self) -> JointColumns<'_> {
        let mut memory = std::mem::take(&mut self.memory.joint_columns);
        memory.handle.clear();
        memory.columns.iter_mut().for_each(Vec::clear);
        for (handle, joint) in self.joints.iter() {
            let JointState { angle, translation, speed, force, torque } = self.state_of_joint(joint);
            memory.handle.push(handle);
            let values = [angle, translation, speed, force.x, force.y, torque];
            memory.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        self.memory.joint_columns = memory;
        let ColumnMemory { handle, columns: [angle, translation, speed, force_x, force_y, torque] } =
            &self.memory.joint_columns;
        JointColumns { handle, angle, translation, speed, force_x, force_y, torque }
    }

    /// Measures how well the joints hold.
    pub fn joint_quality(&self) -> JointQuality {
        let mut quality = JointQuality { joints: self.joints.len(), ..JointQuality::default() };
        for (_, joint) in self.joints.iter().filter(|(_, joint)| joint.place.is_some()) {
            let Some(pose) = self.pose(joint) else { continue };
            let (error, angle_error) = errors(&joint.desc, &pose, angle_of(joint, &self.bodies));
            quality.mean_error += error / quality.joints as f64;
            quality.max_error = quality.max_error.max(error);
            quality.max_angle_error = quality.max_angle_error.max(angle_error);
        }
        quality
    }
}

/// The errors of a joint: a distance, m, and an angle, rad.
fn errors(desc: &JointDesc, pose: &Pose, angle: f64) -> (f64, f64) {
    let beyond = |value: f64, limit: Option<[f32; 2]>| {
        limit.map_or(0.0, |[lower, upper]| (f64::from(lower) - value).max(value - f64::from(upper)).max(0.0))
    };
    let wrapped = f64::from(wrap(angle).0).abs();
    let gap = f64::from(pose.gap.length());
    let off = f64::from(pose.gap.dot(pose.axis.perp()).abs());
    let along = f64::from(pose.gap.dot(pose.axis));
    match desc.kind {
        JointKind::Distance { length, spring: None, limit: None, motor: None, .. } => {
            ((gap - f64::from(length)).abs(), 0.0)
        }
        JointKind::Distance { limit, .. } => (beyond(gap, limit), 0.0),
        JointKind::Revolute(drive) => (gap, beyond(angle, drive.limit)),
        JointKind::Prismatic(drive) => (off.max(beyond(along, drive.limit)), wrapped),
        JointKind::Wheel(drive) => (off.max(beyond(along, drive.limit)), 0.0),
        JointKind::Weld { linear, angular } => {
            (if linear.is_none() { gap } else { 0.0 }, if angular.is_none() { wrapped } else { 0.0 })
        }
        JointKind::Motor { .. } | JointKind::Target { .. } | JointKind::Gear { .. } | JointKind::Filter => {
            (0.0, 0.0)
        }
    }
}
