//! What few bodies have: a mass by hand, locks, largest speeds, a target, a tag, or that they are not enabled.
//!
//! These values are kept by handle index, outside of the columns, so that a body without them costs nothing.

use super::{Bodies, BodyState, BodyType, MAX_COORDINATE, Motion};
use crate::base::codec::{Read, require};
use crate::base::ensure;
use glam::Vec2;
use std::collections::BTreeMap;

/// The directions in which a body cannot move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locks {
    /// It does not move along x.
    pub x: bool,
    /// It does not move along y.
    pub y: bool,
    /// It does not turn. The same as [`BodyDesc::fixed_rotation`](crate::BodyDesc::fixed_rotation).
    pub rotation: bool,
}

crate::base::codec::stored!(Locks { x, y, rotation });

/// Limits of a body's motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MotionLimits {
    pub lock_x: bool,
    pub lock_y: bool,
    /// m/s; infinite for none.
    pub max_speed: f32,
    /// rad/s; infinite for none.
    pub max_spin: f32,
}

impl Default for MotionLimits {
    fn default() -> Self {
        MotionLimits { lock_x: false, lock_y: false, max_speed: f32::INFINITY, max_spin: f32::INFINITY }
    }
}

impl MotionLimits {
    /// Returns a velocity within the limits.
    pub(crate) fn limited(&self, mut velocity: Vec2) -> Vec2 {
        if self.lock_x {
            velocity.x = 0.0;
        }
        if self.lock_y {
            velocity.y = 0.0;
        }
        let square = velocity.x * velocity.x + velocity.y * velocity.y;
        if square > self.max_speed * self.max_speed {
            velocity = (self.max_speed / square.sqrt()) * velocity;
        }
        velocity
    }

    /// Returns a spin (or a surface speed with `most` of the same unit) within the limits.
    pub(crate) fn limited_spin(spin: f32, most: f32) -> f32 {
        if spin > most {
            most
        } else if spin < -most {
            -most
        } else {
            spin
        }
    }
}

crate::base::codec::stored!(MotionLimits { lock_x, lock_y, max_speed, max_spin });

/// What the host set of a body's mass, in place of what follows from its shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ByHand {
    /// kg; 0 is infinite.
    pub mass: Option<f32>,
    /// About the centre of mass, kg·m².
    pub inertia: Option<f32>,
    /// The centre of mass stays where it is when shapes change.
    pub centre: bool,
    pub fixed_rotation: bool,
}

crate::base::codec::stored!(ByHand { mass, inertia, centre, fixed_rotation });

/// A body that takes part in nothing, and what it gets back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Disabled {
    pub body_type: BodyType,
    pub velocity: Vec2,
    pub angular_velocity: f32,
    pub inv_mass: f32,
    pub inv_inertia: f32,
    pub follows: f32,
}

crate::base::codec::stored!(Disabled = Disabled {
    body_type: BodyType::Dynamic,
    velocity: Vec2::ZERO,
    angular_velocity: 0.0,
    inv_mass: 0.0,
    inv_inertia: 0.0,
    follows: 0.0,
}; { body_type, velocity, angular_velocity, inv_mass, inv_inertia, follows });

/// Where a kinematic body goes in the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Target {
    pub position: Vec2,
    pub angle: f32,
}

crate::base::codec::stored!(Target = Target { position: Vec2::ZERO, angle: 0.0 }; { position, angle });

/// All that few bodies have, by handle index.
#[derive(Clone, Default)]
pub(crate) struct Own {
    /// Shorter than the handles if the last ones have none.
    tags: Vec<u64>,
    /// Shorter than the handles if the last ones have none.
    by_hand: Vec<ByHand>,
    limits: BTreeMap<u32, MotionLimits>,
    disabled: BTreeMap<u32, Disabled>,
    targets: BTreeMap<u32, Target>,
}

crate::base::codec::stored!(Own { tags, by_hand, limits, disabled, targets });

/// Sets the value at an index of a list that ends with the last value that is not the default.
fn put<T: Copy + Default + PartialEq>(list: &mut Vec<T>, index: u32, value: T) {
    let index = index as usize;
    if value != T::default() && list.len() <= index {
        list.resize(index + 1, T::default());
    }
    if let Some(place) = list.get_mut(index) {
        *place = value;
    }
}

impl Own {
    pub(crate) fn tag(&self, index: u32) -> u64 {
        self.tags.get(index as usize).copied().unwrap_or(0)
    }

    pub(crate) fn set_tag(&mut self, index: u32, tag: u64) {
        put(&mut self.tags, index, tag);
    }

    pub(crate) fn by_hand(&self, index: u32) -> ByHand {
        self.by_hand.get(index as usize).copied().unwrap_or_default()
    }

    pub(crate) fn set_by_hand(&mut self, index: u32, value: ByHand) {
        put(&mut self.by_hand, index, value);
    }

    pub(crate) fn limits(&self, index: u32) -> MotionLimits {
        self.limits.get(&index).copied().unwrap_or_default()
    }

    pub(crate) fn set_limits(&mut self, index: u32, limits: MotionLimits) {
        if limits == MotionLimits::default() {
            self.limits.remove(&index);
        } else {
            self.limits.insert(index, limits);
        }
    }

    pub(crate) fn has_limits(&self) -> bool {
        !self.limits.is_empty()
    }

    pub(crate) fn disabled(&self, index: u32) -> Option<&Disabled> {
        self.disabled.get(&index)
    }

    pub(crate) fn disabled_mut(&mut self, index: u32) -> Option<&mut Disabled> {
        self.disabled.get_mut(&index)
    }

    pub(crate) fn any_disabled(&self) -> bool {
        !self.disabled.is_empty()
    }

    pub(crate) fn target(&self, index: u32) -> Option<Target> {
        self.targets.get(&index).copied()
    }

    pub(crate) fn set_target(&mut self, index: u32, target: Option<Target>) {
        match target {
            Some(target) => _ = self.targets.insert(index, target),
            None => _ = self.targets.remove(&index),
        }
    }

    pub(crate) fn has_targets(&self) -> bool {
        !self.targets.is_empty()
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = (u32, Target)> + '_ {
        self.targets.iter().map(|(&index, &target)| (index, target))
    }

    /// Moves the origin by a vector.
    pub(super) fn shift_targets(&mut self, by: Vec2) {
        self.targets.values_mut().for_each(|target| target.position -= by);
    }

    /// Takes all targets out.
    pub(crate) fn take_targets(&mut self) -> BTreeMap<u32, Target> {
        std::mem::take(&mut self.targets)
    }

    /// Puts targets that were taken out back.
    pub(crate) fn put_targets(&mut self, targets: BTreeMap<u32, Target>) {
        self.targets = targets;
    }

    /// Refuses values that no host can have set.
    pub(super) fn check(&self) -> Read {
        let most = |value: f32| value >= 0.0;
        let mass = |value: Option<f32>| value.is_none_or(|value| value.is_finite() && value >= 0.0);
        let limits = self.limits.values().all(|limits| most(limits.max_speed) && most(limits.max_spin));
        let by_hand = self.by_hand.iter().all(|by_hand| mass(by_hand.mass) && mass(by_hand.inertia));
        let disabled = self.disabled.values().all(|kept| {
            let moves =
                kept.velocity.is_finite() && kept.angular_velocity.is_finite() && kept.follows.is_finite();
            moves && mass(Some(kept.inv_mass)) && mass(Some(kept.inv_inertia))
        });
        let within = |value: f32| value.abs() <= MAX_COORDINATE;
        let place = |place: Vec2| within(place.x) && within(place.y);
        let targets = self.targets.values().all(|target| place(target.position) && within(target.angle));
        require!(limits && by_hand && disabled && targets, "what few bodies have is out of range");
        Ok(())
    }

    /// Forgets a body that is removed.
    pub(super) fn forget(&mut self, index: u32) {
        put(&mut self.tags, index, 0);
        put(&mut self.by_hand, index, ByHand::default());
        self.limits.remove(&index);
        self.disabled.remove(&index);
        self.targets.remove(&index);
    }
}

impl Bodies {
    pub(crate) fn is_disabled(&self, slot: usize) -> bool {
        self.columns.kind[slot].motion() == Motion::Disabled
    }

    /// Returns true if the body with this handle index is not enabled.
    pub(crate) fn is_index_disabled(&self, index: u32) -> bool {
        self.own.any_disabled() && self.own.disabled(index).is_some()
    }

    /// What is kept of a body that is not enabled.
    pub(crate) fn disabled(&self, slot: usize) -> Option<&Disabled> {
        if self.is_disabled(slot) { self.own.disabled(self.columns.handle[slot].index) } else { None }
    }

    /// The state of a body, also of one that is not enabled.
    pub(crate) fn state(&self, slot: usize) -> BodyState {
        let (velocity, angular_velocity) = match self.disabled(slot) {
            Some(kept) => (kept.velocity, kept.angular_velocity),
            None => (self.velocity(slot), self.columns.omega[slot]),
        };
        BodyState {
            position: self.position(slot),
            angle: self.columns.angle[slot],
            turns: self.columns.turns[slot],
            velocity,
            angular_velocity,
        }
    }

    /// Takes an awake body out of everything.
    pub(crate) fn disable(&mut self, slot: usize) {
        let kept = Disabled {
            body_type: self.body_type(slot),
            velocity: self.velocity(slot),
            angular_velocity: self.columns.omega[slot],
            inv_mass: self.columns.inv_mass[slot],
            inv_inertia: self.columns.inv_inertia[slot],
            follows: self.columns.follows[slot],
        };
        let index = self.columns.handle[slot].index;
        self.freeze(slot, Motion::Disabled);
        self.own.disabled.insert(index, kept);
        self.own.targets.remove(&index);
    }

    /// Gives a body back what it had.
    pub(crate) fn enable(&mut self, slot: usize) {
        let Some(kept) = self.own.disabled.remove(&self.columns.handle[slot].index) else { return };
        self.set_motion(slot, kept.body_type.into());
        let c = &mut self.columns;
        (c.vel_x[slot], c.vel_y[slot]) = kept.velocity.into();
        c.omega[slot] = kept.angular_velocity;
        (c.inv_mass[slot], c.inv_inertia[slot]) = (kept.inv_mass, kept.inv_inertia);
        c.follows[slot] = kept.follows;
        c.begin_rest(slot);
    }

    /// The bodies with limits of their motion that impulses move, by slot, into `list`.
    pub(crate) fn list_limits(&self, list: &mut Vec<(u32, MotionLimits)>) {
        list.clear();
        for (&index, &limits) in &self.own.limits {
            if let Some(slot) = self.slot_at(index).filter(|&slot| self.columns.inv_mass[slot] > 0.0) {
                list.push((slot as u32, limits));
            }
        }
        list.sort_unstable_by_key(|&(slot, _)| slot);
    }

    /// Checks what few bodies have.
    pub(super) fn validate_own(&self) -> Result<(), String> {
        let own = &self.own;
        for (slot, handle) in self.columns.handle[..self.len].iter().enumerate() {
            let dead = self.columns.kind[slot].motion() == Motion::Dead;
            let kept = own.disabled.contains_key(&handle.index);
            let known = self.slot_of(*handle).ok() == Some(slot);
            ensure!(
                dead || kept == self.is_disabled(slot),
                "{handle:?} is disabled, and nothing is kept of it"
            );
            ensure!(
                !known || !kept || self.is_disabled(slot),
                "{handle:?} is enabled, and its state is kept"
            );
        }
        let gone = |&index: &u32| self.slot_at(index).is_none();
        let lists = [own.limits.keys().copied().find(gone), own.disabled.keys().copied().find(gone)];
        ensure!(lists == [None; 2], "limits, disabled: {lists:?} are no bodies");
        for (&index, target) in &own.targets {
            let slot = self.slot_at(index);
            let good = slot.is_some_and(|slot| self.columns.kind[slot].motion() == Motion::Kinematic);
            ensure!(good, "{target:?} is that of body {index}, which is not kinematic");
        }
        for (index, tag) in own.tags.iter().enumerate().filter(|(_, tag)| **tag != 0) {
            ensure!(self.slot_at(index as u32).is_some(), "tag {tag} is of body {index}, which is gone");
        }
        Ok(())
    }
}

impl From<BodyType> for Motion {
    fn from(body_type: BodyType) -> Motion {
        match body_type {
            BodyType::Static => Motion::Static,
            BodyType::Kinematic => Motion::Kinematic,
            BodyType::Dynamic => Motion::Dynamic,
        }
    }
}
