//! A contact of a hull: the speed of its points, and the effect of its impulses on the particles.

use super::sides::Surface;
use super::{Contact, HUNG, Key, Maker, Side};
use crate::lane::{Row, pair};
use glam::Vec2;

/// The solver's rows.
pub(super) struct State<'a> {
    pub(super) vel: &'a mut [Row],
    pub(super) pose: &'a mut [Row],
    pub(super) accum: &'a mut [Row],
    /// Empty if nothing is damped.
    pub(super) damp: &'a [Row],
}

impl State<'_> {
    /// Excludes a gain in velocity from the next warm start: see `impulse.rs`.
    pub(super) fn forget(&mut self, slot: usize, gained: [f32; 3]) {
        for (axis, gained) in gained.into_iter().enumerate() {
            let damp = self.damp.get(slot).map_or(1.0, |damp| damp.0[axis]);
            self.accum[slot].0[axis] += gained / damp;
        }
    }
}

impl Side {
    /// Returns the speed of the point along a direction; `arm` is the arm for this direction.
    #[inline(always)]
    pub(super) fn along(&self, rows: &[Row], direction: Vec2, arm: f32) -> f32 {
        let [first, second] = pair!(end => rows[self.slots[end] as usize].0);
        let at = |row: [f32; 4]| direction.x * row[0] + direction.y * row[1];
        self.shares[0] * at(first) + self.shares[1] * at(second) + arm * first[2]
    }

    /// Returns the point's inverse mass for an arm, from those of the two ends.
    #[inline(always)]
    fn weight(&self, [first, second]: [f32; 2], arm: f32) -> f32 {
        let [by_first, by_second] = pair!(end => self.shares[end] * self.shares[end]);
        first * (by_first + 2.0 * arm * arm) + second * by_second
    }

    /// Returns the lower limit of the point's inverse mass, see [`HUNG`].
    #[inline(always)]
    fn least_weight(&self, [first, second]: [f32; 2]) -> f32 {
        match (first > 0.0, second > 0.0) {
            (true, false) => HUNG * self.shares[0] * first,
            (false, true) => HUNG * self.shares[1] * second,
            _ => 0.0,
        }
    }

    /// Returns what an impulse along a direction adds to the rows of its slots.
    #[inline(always)]
    pub(super) fn gains(
        &self,
        vel: &[Row],
        direction: Vec2,
        arm: f32,
        impulse: f32,
    ) -> [(usize, [f32; 3]); 2] {
        pair!(end => {
            let slot = self.slots[end] as usize;
            let inv_mass = vel[slot].0[3];
            let by = self.shares[end] * impulse * inv_mass;
            let turn = if end == 0 { 2.0 * arm * impulse * inv_mass } else { 0.0 };
            (slot, [direction.x * by, direction.y * by, turn])
        })
    }

    /// Applies an impulse along a direction. The next substep's warm start repeats it.
    pub(super) fn push(&self, state: &mut State<'_>, direction: Vec2, arm: f32, impulse: f32) {
        for (slot, gained) in self.gains(state.vel, direction, arm, impulse) {
            for (axis, gained) in gained.into_iter().enumerate() {
                state.vel[slot].0[axis] += gained;
            }
        }
    }

    /// Returns the speed of the point along the tangent from a unit impulse along the normal.
    #[inline(always)]
    fn coupling(&self, inv_mass: f32) -> f32 {
        2.0 * self.arms[0] * self.arms[1] * inv_mass
    }
}

impl Contact {
    /// A contact at a point, with this gap there. What depends on the bodies' masses and on time is still 0.
    pub(super) fn bare(
        key: Key,
        normal: Vec2,
        sides: [Side; 2],
        (point, gap): (Vec2, f32),
        surface: Surface,
    ) -> Contact {
        Contact {
            key,
            normal,
            sides,
            point,
            gap,
            surface,
            masses: [0.0; 2],
            move_mass: 0.0,
            coupling: 0.0,
            impulses: [0.0; 2],
            blow: [0.0; 2],
            approach: 0.0,
            struck_at: 0.0,
            slipping: 0,
            noted: false,
        }
    }

    /// Makes a contact. Returns `None` if the point will not touch in the next substep.
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
        let mut contact = Contact::bare(key, normal, sides, (point, gap), surface);
        let speed = contact.relative(state.vel, 0);
        // A contact with a body that has gone bad passes nothing on: that body is quarantined after this step.
        if !(speed + gap + (point.x + point.y) + (normal.x + normal.y)).is_finite() {
            return None;
        }
        let touches = gap + rows.step * speed < 0.0;
        if gap > settings.speculative_distance() && !touches {
            return None;
        }
        let [a, b] = &sides;
        let inv_masses = |side: &Side| pair!(end => state.vel[side.slots[end] as usize].0[3]);
        let (of_a, of_b) = (inv_masses(a), inv_masses(b));
        let least = a.least_weight(of_a).max(b.least_weight(of_b));
        contact.masses = pair!(axis => {
            let weight = (a.weight(of_a, a.arms[axis]) + b.weight(of_b, b.arms[axis])).max(least);
            if weight > 0.0 { 1.0 / weight } else { 0.0 }
        });
        contact.coupling = a.coupling(of_a[0]) + b.coupling(of_b[0]);
        let weight = a.shift.inv_mass() + b.shift.inv_mass();
        contact.move_mass = if weight > 0.0 { 1.0 / weight } else { 0.0 };
        contact.approach = if touches { -speed } else { 0.0 };
        Some(contact)
    }

    #[inline(always)]
    pub(super) fn direction(&self, axis: usize) -> Vec2 {
        [self.normal, self.normal.perp()][axis]
    }

    /// Returns the speed of B's point relative to A's, along the normal (0) or the tangent (1).
    #[inline(always)]
    pub(super) fn relative(&self, rows: &[Row], axis: usize) -> f32 {
        let direction = self.direction(axis);
        let [a, b] = &self.sides;
        b.along(rows, direction, b.arms[axis]) - a.along(rows, direction, a.arms[axis])
    }

    /// Applies impulses along the normal and the tangent. The next substep's warm start repeats them.
    pub(super) fn push(&self, state: &mut State<'_>, [normal, tangent]: [f32; 2]) {
        let both = normal * self.normal + tangent * self.normal.perp();
        for (side, sign) in self.sides.iter().zip([-1.0, 1.0]) {
            let turn = normal * side.arms[0] + tangent * side.arms[1];
            side.push(state, both, turn, sign);
        }
    }
}
