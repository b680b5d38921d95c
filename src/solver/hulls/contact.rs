//! A contact of a hull: how fast its points move, and what its impulses do to the particles.

use super::{CLOSING, Contact, Hull, Key, Maker, PUSH, SLIPPING, Side, Surface};
use crate::lane::{Row, pair};
use glam::Vec2;

/// The solver's rows.
pub(super) struct State<'a> {
    pub(super) vel: &'a mut [Row],
    pub(super) pose: &'a mut [Row],
    pub(super) accum: &'a mut [Row],
    /// Empty when nothing is damped.
    pub(super) damp: &'a [Row],
}

impl State<'_> {
    /// What velocities have gained is nothing that the next warm start may repeat: see `impulse.rs`.
    pub(super) fn forget(&mut self, slot: usize, gained: [f32; 3]) {
        for (axis, gained) in gained.into_iter().enumerate() {
            let damp = self.damp.get(slot).map_or(1.0, |damp| damp.0[axis]);
            self.accum[slot].0[axis] += gained / damp;
        }
    }
}

impl Side {
    /// What of a motion the point has along a direction; `arm` goes with it.
    #[inline(always)]
    pub(super) fn along(&self, rows: &[Row], direction: Vec2, arm: f32) -> f32 {
        let [first, second] = pair(|end| rows[self.slots[end] as usize].0);
        let at = |row: [f32; 4]| direction.x * row[0] + direction.y * row[1];
        self.shares[0] * at(first) + self.shares[1] * at(second) + arm * first[2]
    }

    /// The point's inverse mass.
    #[inline(always)]
    pub(super) fn weight(&self, vel: &[Row], arm: f32) -> f32 {
        let [first, second] = pair(|end| vel[self.slots[end] as usize].0[3]);
        let [by_first, by_second] = pair(|end| self.shares[end] * self.shares[end]);
        first * (by_first + 2.0 * arm * arm) + second * by_second
    }

    /// What an impulse along a direction adds to the rows of its slots.
    #[inline(always)]
    pub(super) fn gains(
        &self,
        vel: &[Row],
        direction: Vec2,
        arm: f32,
        impulse: f32,
    ) -> [(usize, [f32; 3]); 2] {
        pair(|end| {
            let slot = self.slots[end] as usize;
            let inv_mass = vel[slot].0[3];
            let by = self.shares[end] * impulse * inv_mass;
            let turn = if end == 0 { 2.0 * arm * impulse * inv_mass } else { 0.0 };
            (slot, [direction.x * by, direction.y * by, turn])
        })
    }

    /// An impulse along a direction, which the next substep's warm start repeats.
    pub(super) fn push(&self, state: &mut State<'_>, direction: Vec2, arm: f32, impulse: f32) {
        for (slot, gained) in self.gains(state.vel, direction, arm, impulse) {
            for (axis, gained) in gained.into_iter().enumerate() {
                state.vel[slot].0[axis] += gained;
            }
        }
    }

    /// The point's inverse mass when it is moved along the normal.
    pub(super) fn move_weight(&self, vel: &[Row]) -> f32 {
        self.whole.map_or_else(|| self.weight(vel, self.arms[0]), |whole| whole.inv_mass)
    }

    /// Moves a hull as a whole, or the particles of the edge where some can't move; or a body.
    pub(super) fn shift(&self, state: &mut State<'_>, hulls: &[Hull], direction: Vec2, by: f32) {
        if let Some(whole) = self.whole {
            let hull = &hulls[whole.hull as usize];
            for (base, &slot) in hull.base.iter().zip(hull.slots()) {
                let pose = &mut state.pose[slot as usize].0;
                let lever = *base + Vec2::new(pose[0], pose[1]) - whole.centre;
                let moved = (by * whole.moves) * direction + (by * whole.turns) * lever.perp();
                pose[0] += moved.x;
                pose[1] += moved.y;
            }
            return;
        }
        let arm = self.arms[0];
        for (end, &slot) in self.slots.iter().enumerate() {
            let slot = slot as usize;
            let inv_mass = state.vel[slot].0[3];
            let along = self.shares[end] * by * inv_mass;
            let pose = &mut state.pose[slot].0;
            pose[0] += direction.x * along;
            pose[1] += direction.y * along;
            if end == 0 {
                pose[2] += 2.0 * arm * by * inv_mass;
            }
        }
    }
}

/// How what overlaps is moved apart.
#[derive(Clone, Copy)]
pub(super) struct Push {
    pub(super) slop: f32,
    /// In one sweep.
    pub(super) most: f32,
}

impl Contact {
    /// None if the point will not touch in the next substep.
    pub(super) fn new(
        key: Key,
        normal: Vec2,
        sides: [Side; 2],
        gap: f32,
        point: Vec2,
        surface: Surface,
        maker: &Maker<'_>,
    ) -> Option<Contact> {
        let Maker { state, rows, settings, .. } = maker;
        let mut contact = Contact {
            key,
            normal,
            sides,
            point,
            gap,
            surface,
            separation: gap,
            masses: [0.0; 2],
            move_mass: 0.0,
            impulses: [0.0; 2],
            blow: [0.0; 2],
            approach: 0.0,
            slipping: 0,
            bears: false,
        };
        let speed = contact.relative(state.vel, 0);
        let touches = gap + rows.step * speed < 0.0;
        if gap > 4.0 * settings.slop && !touches {
            return None;
        }
        contact.masses = pair(|axis| {
            let weight: f32 = sides.iter().map(|side| side.weight(state.vel, side.arms[axis])).sum();
            if weight > 0.0 { 1.0 / weight } else { 0.0 }
        });
        let weight: f32 = sides.iter().map(|side| side.move_weight(state.vel)).sum();
        contact.move_mass = if weight > 0.0 { 1.0 / weight } else { 0.0 };
        contact.separation -= contact.relative(state.pose, 0);
        contact.approach = if touches { -speed } else { 0.0 };
        Some(contact)
    }

    #[inline(always)]
    pub(super) fn direction(&self, axis: usize) -> Vec2 {
        [self.normal, self.normal.perp()][axis]
    }

    /// Of B's point against A's, along the normal (0) or the tangent (1).
    #[inline(always)]
    pub(super) fn relative(&self, rows: &[Row], axis: usize) -> f32 {
        let direction = self.direction(axis);
        let [a, b] = &self.sides;
        b.along(rows, direction, b.arms[axis]) - a.along(rows, direction, a.arms[axis])
    }

    pub(super) fn push(&self, state: &mut State<'_>, axis: usize, impulse: f32) {
        let direction = self.direction(axis);
        for (side, sign) in self.sides.iter().zip([-1.0, 1.0]) {
            side.push(state, direction, side.arms[axis], sign * impulse);
        }
    }

    pub(super) fn solve(&mut self, state: &mut State<'_>, hulls: &[Hull], inv_step: f32, push: Push) {
        let separation = self.separation + self.relative(state.pose, 0);
        // Before they touch they may come as near as that in this substep.
        let part = if self.bears { CLOSING } else { 1.0 };
        let target = -part * separation.max(0.0) * inv_step;
        let wanted = (target - self.relative(state.vel, 0)) * self.masses[0];
        let total = (self.impulses[0] + wanted).max(0.0);
        let change = total - std::mem::replace(&mut self.impulses[0], total);
        self.push(state, 0, change);

        let wanted = self.impulses[1] - self.relative(state.vel, 1) * self.masses[1];
        let hold = self.surface.static_friction * total;
        let slides = self.slipping >= SLIPPING;
        let most = if slides { self.surface.dynamic_friction * total } else { hold };
        let total = if wanted.abs() <= hold { wanted } else { wanted.max(-most).min(most) };
        let change = total - std::mem::replace(&mut self.impulses[1], total);
        self.push(state, 1, change);

        let overlap = -separation - push.slop;
        if overlap > 0.0 {
            let by = (PUSH * overlap).min(push.most) * self.move_mass;
            for (side, sign) in self.sides.iter().zip([-1.0, 1.0]) {
                side.shift(state, hulls, self.normal, sign * by);
            }
        }
    }
}
