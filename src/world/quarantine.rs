//! Bodies that go bad: they are found, taken out of the simulation, and reported.

use super::World;
use super::pairs::ListState;
use crate::base::ensure;
use crate::base::ranges::without;
use crate::body::{BodyHandle, Motion, RUNAWAY_SPEED};
use crate::broadphase::Margins;
use crate::lane::Row;

/// A body that went bad (its state is not a number, or beyond all bounds) and was taken out of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// The body, which is never static. It stays where it was last good. It does not move, touches nothing, and no
    /// query finds it. Calls that would move it return an error; you can remove it. (The step in which it goes bad may
    /// still report that it touched something.)
    pub body: BodyHandle,
    /// The step in which it went bad, counted from 0.
    pub step: u64,
}

impl World {
    /// All bodies that went bad since the start.
    pub fn quarantined(&self) -> &[Quarantine] {
        &self.quarantined
    }

    /// The bodies that went bad in the last step: the end of [`World::quarantined`].
    pub fn quarantine_events(&self) -> &[Quarantine] {
        let before = self.quarantined.partition_point(|gone| gone.step + 1 < self.step_count);
        &self.quarantined[before..]
    }

    /// Does nothing unless velocities, forces or impulses were set by hand. Quarantines bodies that would go bad (their
    /// velocity after the forces of this step is not a number, or beyond all bounds) before they infect their
    /// neighbours, and notes bodies that will leave their margin in this step.
    pub(super) fn check_velocities(&mut self) {
        if !std::mem::take(&mut self.unchecked) {
            return;
        }
        let dt = self.settings.time_step;
        let margins = Margins::new(&self.settings);
        let suits = self.list_suits();
        for slot in without(0..self.bodies.len, &self.bodies.still()).into_iter().flatten() {
            let c = &self.bodies.columns;
            if !c.kind[slot].is_collidable() {
                continue;
            }
            let (inv_mass, inv_inertia) = (c.inv_mass[slot], c.inv_inertia[slot]);
            let next = [
                c.vel_x[slot] + dt * (c.force_x[slot] * inv_mass),
                c.vel_y[slot] + dt * (c.force_y[slot] * inv_mass),
                c.omega[slot] + dt * (c.torque[slot] * inv_inertia),
            ];
            if next.iter().any(|v| v.is_nan() || v.abs() > RUNAWAY_SPEED) {
                self.quarantine(slot);
            } else if suits && slot < self.broadphase.built {
                let position = self.bodies.position(slot).into();
                let bounds = &self.broadphase.bounds;
                let turned = self.bodies.any_manifold.then(|| {
                    let c = &self.bodies.columns;
                    [c.angle[slot], next[2], c.furthest[slot]]
                });
                if bounds.left::<f32>(slot, position, [next[0], next[1]], turned, &margins) {
                    self.note_out(slot);
                }
            }
        }
    }

    /// Takes a body out of the simulation. Does nothing for a static body: what has gone bad is then only a body that it is linked to or
    /// touches.
    pub(super) fn quarantine(&mut self, slot: usize) {
        let motion = self.bodies.columns.kind[slot].motion();
        if matches!(motion, Motion::Static | Motion::Quarantined | Motion::Disabled | Motion::Dead) {
            return;
        }
        // A force by hand leaves what was found ahead as it is, but not if it is too large. (A clone of the world, which has found nothing, put its bodies in another order.)
        self.touch();
        self.disturb(slot);
        self.bodies.quarantine(slot);
        // It has not moved in this step: what would have moved it is no number.
        if let Some(pose) = self.solver.mirror.pose.get_mut(slot) {
            *pose = Row::default();
        }
        let body = self.bodies.handle(slot);
        self.links.mass_changed(body);
        self.forget_impulses_of(body);
        (self.hulls.changed, self.hulls.renumbered) = (true, true);
        self.quarantined.push(Quarantine { body, step: self.step_count });
        self.list = ListState::Void;
    }

    /// Checks that every body that went bad is listed once, and takes no part for as long as it lives.
    pub(super) fn validate_quarantine(&self) -> Result<(), String> {
        let bad = |slot: usize| self.bodies.columns.kind[slot].motion() == Motion::Quarantined;
        for &Quarantine { body, step } in &self.quarantined {
            let slot = self.bodies.slot_of(body).ok();
            ensure!(slot.is_none_or(bad), "{body:?} is listed and takes part");
            ensure!(step <= self.step_count, "{body:?} went bad in step {step} of {}", self.step_count);
        }
        for (handle, _) in self.bodies.by_index().filter(|&(_, slot)| bad(slot)) {
            let times = self.quarantined.iter().filter(|entry| entry.body == handle).count();
            ensure!(times == 1, "{handle:?} is listed {times} times");
        }
        Ok(())
    }
}
