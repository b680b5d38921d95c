//! Targets of kinematic bodies within a step, and limits of motion at its end.

use super::World;
use crate::body::own::Target;
use crate::geometry::trig::wrap;
use crate::lane::Row;
use glam::Vec2;

impl World {
    /// Returns the way to a target, and the angle by which the body turns.
    fn way_to(&self, slot: usize, target: &Target) -> (Vec2, f32) {
        let turn = f64::from(target.angle) - f64::from(self.bodies.columns.angle[slot]);
        (target.position - self.bodies.position(slot), wrap(turn).0)
    }

    /// Returns true if the body gets to the target in one step.
    pub(super) fn reaches(&self, slot: usize, target: &Target) -> bool {
        let (way, turn) = self.way_to(slot, target);
        let most = Self::MAX_SPEED * self.settings.time_step;
        way.abs().max_element() <= most && turn.abs() <= most
    }

    /// Gives bodies that have a target the velocity that takes them there in this step. Those that would be too fast, because the time step
    /// was changed since, are put there.
    pub(super) fn aim(&mut self) {
        if !self.bodies.own.has_targets() {
            return;
        }
        let targets = self.bodies.own.take_targets();
        let dt = self.settings.time_step;
        for (&index, target) in &targets {
            let Some(slot) = self.bodies.slot_at(index) else { continue };
            if !self.reaches(slot, target) {
                self.disturb(slot);
                self.put_at(slot, target);
                self.moved_by_hand(slot);
                continue;
            }
            let (way, turn) = self.way_to(slot, target);
            let c = &mut self.bodies.columns;
            (c.vel_x[slot], c.vel_y[slot], c.omega[slot]) = (way.x / dt, way.y / dt, turn / dt);
            self.unchecked = true;
        }
        self.bodies.own.put_targets(targets);
    }

    /// Corrects the rows of bodies that have a target, or locks, before they become the bodies' new places.
    pub(super) fn correct_rows(&mut self) {
        for &(slot, limits) in &self.solver.mirror.limits {
            let row = &mut self.solver.mirror.pose[slot as usize].0;
            for (axis, locked) in [limits.lock_x, limits.lock_y].into_iter().enumerate() {
                if locked {
                    row[axis] = 0.0;
                }
            }
        }
        if !self.bodies.own.has_targets() {
            return;
        }
        for (index, target) in self.bodies.own.targets() {
            let Some(slot) = self.bodies.slot_at(index) else { continue };
            let (way, turn) = self.way_to(slot, &target);
            self.solver.mirror.pose[slot] = Row([way.x, way.y, turn * self.bodies.columns.radius[slot], 0.0]);
        }
    }

    /// Ends the motion of bodies that have reached their target, and holds velocities within their limits.
    pub(super) fn land(&mut self) {
        let limits = std::mem::take(&mut self.solver.mirror.limits);
        for (slot, limits) in &limits {
            let slot = *slot as usize;
            // The rows hold surface speeds instead of spins.
            let own = self.bodies.own.limits(self.bodies.handle(slot).index);
            debug_assert!(own.lock_x == limits.lock_x);
            self.limit_velocity(slot, &own);
        }
        self.solver.mirror.limits = limits;
        if !self.bodies.own.has_targets() {
            return;
        }
        for (index, target) in self.bodies.own.take_targets() {
            if let Some(slot) = self.bodies.slot_at(index) {
                self.put_at(slot, &target);
            }
        }
    }

    /// Puts a body at its target, at rest.
    fn put_at(&mut self, slot: usize, target: &Target) {
        let (_, turn) = self.way_to(slot, target);
        let c = &mut self.bodies.columns;
        (c.pos_x[slot], c.pos_y[slot]) = target.position.into();
        // The whole turns go on from those before.
        let (_, passed) = wrap(f64::from(c.angle[slot]) + f64::from(turn));
        c.angle[slot] = wrap(f64::from(target.angle)).0;
        c.turns[slot] = c.turns[slot].wrapping_add(passed);
        (c.vel_x[slot], c.vel_y[slot], c.omega[slot]) = (0.0, 0.0, 0.0);
    }
}
