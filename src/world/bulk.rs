//! Many bodies or joints changed in one call: by handles, or by columns.
//!
//! A call checks everything first. If one element is refused, the error names it and nothing has changed.

use super::World;
use super::record::Call;
use crate::body::{BodyHandle, BodyType, MAX_COORDINATE, MAX_SPEED, Motion};
use crate::error::{Error, check_range, check_vec};
use crate::joints::desc::{JointDesc, JointHandle, JointKind};
use crate::particles::links::LinkHandle;
use glam::Vec2;

/// The order of the bodies in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of handle indices, without removed bodies. While no index was used again, this is the order in which bodies were added. It does
    /// not change as bodies move.
    Added,
    /// The order of storage, without removed bodies. It changes as bodies move, and is the fastest to read.
    Stored,
}

crate::base::codec::stored_enum!(Order = Order::Added; { 0 => Added, 1 => Stored });

/// Says in which element of a batch an error is.
fn at(index: usize) -> impl FnOnce(Error) -> Error {
    move |error| Error::Element { index, error: Box::new(error) }
}

/// Refuses a column of another length.
fn check_len(field: &'static str, found: usize, wanted: usize) -> Result<(), Error> {
    if found == wanted {
        Ok(())
    } else {
        Err(Error::Invalid { field, reason: "there is one for each element, and no other" })
    }
}

impl World {
    /// Removes many bodies, as [`World::remove_body`] does. If one is refused, removes none.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first handle that is stale, or the second one of the same body.
    pub fn remove_bodies(&mut self, bodies: &[BodyHandle]) -> Result<(), Error> {
        self.check_distinct("body", bodies.len(), |world, index| {
            world.bodies.slot_of(bodies[index]).map(|_| bodies[index].index)
        })?;
        bodies.iter().try_for_each(|&body| self.remove_body(body))
    }

    /// Removes many joints, as [`World::remove_joint`] does. If one is refused, removes none. A gear may be named beside the joints that it couples.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first handle that is stale, or the second one of the same joint.
    pub fn remove_joints(&mut self, joints: &[JointHandle]) -> Result<(), Error> {
        self.check_distinct("joint", joints.len(), |world, index| {
            world.joints.get(joints[index]).map(|_| joints[index].index)
        })?;
        // Gears first: they are lost with the joints that they couple.
        for gears in [true, false] {
            for &joint in joints {
                let is_gear = |joint: &JointDesc| matches!(joint.kind, JointKind::Gear { .. });
                if self.joint(joint).is_ok_and(|joint| is_gear(&joint) == gears) {
                    self.remove_joint(joint)?;
                }
            }
        }
        Ok(())
    }

    /// Removes many links, as [`World::remove_link`] does. If one is refused, removes none.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first handle that is stale, or the second one of the same link.
    pub fn remove_links(&mut self, links: &[LinkHandle]) -> Result<(), Error> {
        self.check_distinct("link", links.len(), |world, index| {
            world.links.get(links[index]).map(|_| links[index].index)
        })?;
        links.iter().try_for_each(|&link| self.remove_link(link))
    }

    /// Checks that a list of `count` names, of which `index_of` gives the handle indices, names nothing twice.
    fn check_distinct(
        &mut self,
        field: &'static str,
        count: usize,
        index_of: impl Fn(&World, usize) -> Result<u32, Error>,
    ) -> Result<(), Error> {
        let mut seen = std::mem::take(&mut self.memory.bulk);
        seen.clear();
        let known = (0..count).try_for_each(|index| {
            seen.push((index_of(self, index).map_err(at(index))?, index as u32));
            Ok(())
        });
        seen.sort_unstable();
        let twice = seen.windows(2).filter(|two| two[0].0 == two[1].0).map(|two| two[1].1).min();
        self.memory.bulk = seen;
        known?;
        match twice {
            Some(index) => Err(at(index as usize)(Error::Invalid { field, reason: "named twice" })),
            None => Ok(()),
        }
    }

    /// Puts many bodies elsewhere, as [`World::set_position`] and, with `angles`, [`World::set_angle`] do: m, rad. If one is refused, moves
    /// none.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for another number of values than bodies; [`Error::Element`] with the index of the first element that is refused.
    pub fn place_bodies(
        &mut self,
        bodies: &[BodyHandle],
        positions: &[Vec2],
        angles: Option<&[f32]>,
    ) -> Result<(), Error> {
        check_len("positions", positions.len(), bodies.len())?;
        check_len("angles", angles.map_or(bodies.len(), <[f32]>::len), bodies.len())?;
        for (index, (&body, &position)) in bodies.iter().zip(positions).enumerate() {
            self.good_slot(body, "position").map_err(at(index))?;
            check_vec("position", position, MAX_COORDINATE).map_err(at(index))?;
            let angle = angles.map_or(0.0, |angles| angles[index]);
            check_range("angle", angle, -MAX_COORDINATE, MAX_COORDINATE).map_err(at(index))?;
        }
        for (index, (&body, &position)) in bodies.iter().zip(positions).enumerate() {
            self.set_position(body, position)?;
            if let Some(angles) = angles {
                self.set_angle(body, angles[index])?;
            }
        }
        Ok(())
    }

    /// Sets the velocities of many bodies, m/s, and with `angular` their angular velocities, rad/s. If one is refused, sets none.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for another number of values than bodies; [`Error::Element`] with the index of the first element that is refused:
    /// see [`World::set_velocity`].
    pub fn set_velocities(
        &mut self,
        bodies: &[BodyHandle],
        velocities: &[Vec2],
        angular: Option<&[f32]>,
    ) -> Result<(), Error> {
        self.record(|| {
            Call::SetVelocities(bodies.to_vec(), velocities.to_vec(), angular.map(<[f32]>::to_vec))
        });
        check_len("velocities", velocities.len(), bodies.len())?;
        check_len("angular_velocities", angular.map_or(bodies.len(), <[f32]>::len), bodies.len())?;
        for (index, (&body, &velocity)) in bodies.iter().zip(velocities).enumerate() {
            self.moving_slot(body, "velocity").map_err(at(index))?;
            check_vec("velocity", velocity, MAX_SPEED).map_err(at(index))?;
            let omega = angular.map_or(0.0, |angular| angular[index]);
            check_range("angular_velocity", omega, -MAX_SPEED, MAX_SPEED).map_err(at(index))?;
        }
        for (index, (&body, &velocity)) in bodies.iter().zip(velocities).enumerate() {
            let slot = self.bodies.slot_of(body)?;
            self.put_velocity(slot, velocity, angular.map(|angular| angular[index]));
        }
        Ok(())
    }

    /// Adds forces at the centres of many bodies for the next step, N, and with `torques` torques, N·m. A body that is named twice gets both. If one
    /// is refused, adds none.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for another number of values than bodies; [`Error::Element`] with the index of the first element that is refused:
    /// see [`World::apply_force`].
    pub fn apply_forces(
        &mut self,
        bodies: &[BodyHandle],
        forces: &[Vec2],
        torques: Option<&[f32]>,
    ) -> Result<(), Error> {
        check_len("forces", forces.len(), bodies.len())?;
        check_len("torques", torques.map_or(bodies.len(), <[f32]>::len), bodies.len())?;
        for (index, (&body, &force)) in bodies.iter().zip(forces).enumerate() {
            self.pushed_slot(body, "force").map_err(at(index))?;
            check_vec("force", force, Self::MAX_FORCE).map_err(at(index))?;
            let torque = torques.map_or(0.0, |torques| torques[index]);
            check_range("torque", torque, -Self::MAX_FORCE, Self::MAX_FORCE).map_err(at(index))?;
        }
        for (index, (&body, &force)) in bodies.iter().zip(forces).enumerate() {
            self.apply_force(body, force)?;
            if let Some(torques) = torques {
                self.apply_torque(body, torques[index])?;
            }
        }
        Ok(())
    }

    /// Changes the velocities of many bodies at once, by impulses at their centres, N·s, and with `angular` by angular impulses, N·m·s. A body that
    /// is named twice gets both; the limit of speed holds for each alone. If one is refused, changes none.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for another number of values than bodies; [`Error::Element`] with the index of the first element that is refused:
    /// see [`World::apply_impulse`].
    pub fn apply_impulses(
        &mut self,
        bodies: &[BodyHandle],
        impulses: &[Vec2],
        angular: Option<&[f32]>,
    ) -> Result<(), Error> {
        self.record_beside(|| {
            Call::ApplyImpulses(bodies.to_vec(), impulses.to_vec(), angular.map(<[f32]>::to_vec))
        });
        check_len("impulses", impulses.len(), bodies.len())?;
        check_len("angular_impulses", angular.map_or(bodies.len(), <[f32]>::len), bodies.len())?;
        let turn = |index: usize| angular.map_or(0.0, |angular| angular[index]);
        for (index, (&body, &impulse)) in bodies.iter().zip(impulses).enumerate() {
            self.check_impulse(body, impulse, turn(index)).map_err(at(index))?;
        }
        for (index, (&body, &impulse)) in bodies.iter().zip(impulses).enumerate() {
            let slot = self.bodies.slot_of(body)?;
            self.push(slot, impulse, turn(index));
        }
        Ok(())
    }

    /// Sets the speeds of the motors of many joints, m/s or rad/s. If one is refused, sets none. ([`World::set_motor_speeds`] sets all of the world.)
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for another number of speeds than joints; [`Error::Element`] with the index of the first element that is refused:
    /// see [`World::set_motor_speed`].
    pub fn set_motors(&mut self, joints: &[JointHandle], speeds: &[f32]) -> Result<(), Error> {
        check_len("speeds", speeds.len(), joints.len())?;
        for (index, (&joint, &speed)) in joints.iter().zip(speeds).enumerate() {
            self.check_motor(joint, speed).map_err(at(index))?;
        }
        joints.iter().zip(speeds).try_for_each(|(&joint, &speed)| self.set_motor_speed(joint, speed))
    }

    /// The number of bodies of every kind, particles included: the length of columns.
    pub fn total_count(&self) -> usize {
        let bodies = &self.bodies;
        bodies.static_count + bodies.moving_count + bodies.particle_count
    }

    /// All bodies in this order.
    pub fn handles_in(&self, order: Order) -> impl Iterator<Item = BodyHandle> + '_ {
        self.slots_in(order).map(|slot| self.bodies.handle(slot))
    }

    /// The slots of all bodies in this order.
    pub(super) fn slots_in(&self, order: Order) -> impl Iterator<Item = usize> + '_ {
        let (added, stored) = match order {
            Order::Added => (usize::MAX, 0),
            Order::Stored => (0, self.bodies.len),
        };
        let alive = |slot: &usize| self.bodies.columns.kind[*slot].motion() != Motion::Dead;
        self.bodies.by_index().map(|(_, slot)| slot).take(added).chain((0..stored).filter(alive))
    }

    /// Puts all bodies elsewhere, by columns in this order: x and y, m, and angles, rad. Elements of quarantined bodies mean nothing. If one is refused,
    /// moves none.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a column of another length than [`World::total_count`]; [`Error::Element`] with the first element that is
    /// not finite or out of range.
    pub fn place_columns(&mut self, order: Order, columns: [&[f32]; 3]) -> Result<(), Error> {
        let fields = ["position", "position", "angle"];
        self.check_columns(&columns, fields, [MAX_COORDINATE; 3])?;
        self.with_slots(order, |world, index, slot| {
            let [x, y, angle] = columns.map(|column| column[index]);
            if world.bodies.columns.kind[slot].motion() != Motion::Quarantined {
                let body = world.bodies.handle(slot);
                world.set_position(body, Vec2::new(x, y))?;
                world.set_angle(body, angle)?;
            }
            Ok(())
        })
    }

    /// Sets the velocities of all bodies, by columns in this order: along x and y, m/s, and angular, rad/s. Elements of static and quarantined bodies mean
    /// nothing. If one is refused, sets none.
    ///
    /// # Errors
    ///
    /// As [`World::place_columns`].
    pub fn set_velocity_columns(&mut self, order: Order, columns: [&[f32]; 3]) -> Result<(), Error> {
        self.record(|| Call::SetVelocityColumns(order, columns.map(<[f32]>::to_vec)));
        self.check_columns(&columns, ["velocity", "velocity", "angular_velocity"], [MAX_SPEED; 3])?;
        self.with_slots(order, |world, index, slot| {
            let [x, y, omega] = columns.map(|column| column[index]);
            let quarantined = world.bodies.columns.kind[slot].motion() == Motion::Quarantined;
            if !quarantined && world.bodies.body_type(slot) != BodyType::Static {
                world.put_velocity(slot, Vec2::new(x, y), Some(omega));
            }
            Ok(())
        })
    }

    /// Adds forces and torques to all bodies for the next step, by columns in this order: along x and y, N, and torques, N·m. Elements of bodies that are
    /// static, quarantined or not enabled mean nothing. If one is refused, adds none.
    ///
    /// # Errors
    ///
    /// As [`World::place_columns`].
    pub fn apply_force_columns(&mut self, order: Order, columns: [&[f32]; 3]) -> Result<(), Error> {
        self.check_columns(&columns, ["force", "force", "torque"], [Self::MAX_FORCE; 3])?;
        self.with_slots(order, |world, index, slot| {
            let [x, y, torque] = columns.map(|column| column[index]);
            let body = world.bodies.handle(slot);
            if world.pushed_slot(body, "force").is_ok() {
                world.apply_force(body, Vec2::new(x, y))?;
                world.apply_torque(body, torque)?;
            }
            Ok(())
        })
    }

    /// Changes the velocities of all bodies by impulses, by columns in this order: along x and y, N·s, and angular, N·m·s. Elements of bodies that are
    /// static, quarantined or not enabled mean nothing; zeros wake nothing. If one is refused, changes none.
    ///
    /// # Errors
    ///
    /// As [`World::place_columns`]; [`Error::Element`] with the first body that would be too fast.
    pub fn apply_impulse_columns(&mut self, order: Order, columns: [&[f32]; 3]) -> Result<(), Error> {
        self.record_beside(|| Call::ApplyImpulseColumns(order, columns.map(<[f32]>::to_vec)));
        self.check_columns(&columns, ["impulse"; 3], [Self::MAX_FORCE; 3])?;
        let of = |index: usize| (Vec2::new(columns[0][index], columns[1][index]), columns[2][index]);
        for (index, body) in self.handles_in(order).enumerate() {
            if self.pushed_slot(body, "impulse").is_ok() {
                let (impulse, turn) = of(index);
                self.check_impulse(body, impulse, turn).map_err(at(index))?;
            }
        }
        self.with_slots(order, |world, index, slot| {
            if world.pushed_slot(world.bodies.handle(slot), "impulse").is_ok() {
                let (impulse, turn) = of(index);
                world.push(slot, impulse, turn);
            }
            Ok(())
        })
    }

    fn check_columns(
        &self,
        columns: &[&[f32]; 3],
        fields: [&'static str; 3],
        most: [f32; 3],
    ) -> Result<(), Error> {
        for (column, field) in columns.iter().zip(fields) {
            check_len(field, column.len(), self.total_count())?;
        }
        for index in 0..columns[0].len() {
            for ((column, field), most) in columns.iter().zip(fields).zip(most) {
                check_range(field, column[index], -most, most).map_err(at(index))?;
            }
        }
        Ok(())
    }

    /// Calls `edit` with the place in the order and the slot of each body. Edits do not move bodies to other slots.
    fn with_slots(
        &mut self,
        order: Order,
        mut edit: impl FnMut(&mut World, usize, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut list = std::mem::take(&mut self.memory.bulk);
        list.clear();
        list.extend(self.slots_in(order).enumerate().map(|(index, slot)| (index as u32, slot as u32)));
        let done = list.iter().try_for_each(|&(index, slot)| edit(self, index as usize, slot as usize));
        self.memory.bulk = list;
        done
    }
}
