//! Two points that are held together, one of each body.

use super::ends::{Column, Geometry, load2, store2};
use super::sweep::Wrench;
use crate::formula::parting_by_turns;
use crate::lane::{Lane, pair};
use crate::solver::impulse::Velocities;
use bytemuck::{Pod, Zeroable};

/// Both bodies feel the impulses half-way between the points. A joint that gives way a little costs energy when its gap changes against the place at
/// which it is felt: that of A turns with A, that of B with B. (24 double pendulums lost 31 % of their energy in 60 s, 42 % with all impulses at
/// B's point, and 33 % with all at A's.)
pub(super) const HALF_WAY: f32 = 0.5;
/// Both bodies feel the impulses at B's point: where the points may be far apart, and it is B's that is pulled.
pub(super) const AT_B: f32 = 1.0;

/// The points of sixteen joints that hold a point of B at one of A.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Held {
    /// How much unit impulses along x and y turn A and B.
    turns: [[Column; 2]; 2],
    /// From A's point to B's.
    pub error: [Column; 2],
    /// Where between the points both bodies feel the impulses: [`HALF_WAY`] or [`AT_B`].
    pub meet: Column,
    pub impulse: [Column; 2],
    /// The change of how much the impulses turn A and B, since the bodies have moved.
    shift: [Column; 2],
}

impl Held {
    /// How much unit impulses along x and y turn A and B.
    #[inline(always)]
    pub(super) fn turns<L: Lane>(&self, i: usize) -> [[L; 2]; 2] {
        [load2(&self.turns[0], i), load2(&self.turns[1], i)]
    }

    /// Notes where the points are. Both bodies feel the impulses at one place: so a spring that is stretched keeps the angular momentum of
    /// its bodies.
    #[inline(always)]
    pub(super) fn place<L: Lane>(&mut self, i: usize, at: &Geometry<L>) {
        let ([arm_a, arm_b], [spin_a, spin_b]) = (at.arm, at.inv_spin);
        let meet = L::load(&self.meet[i..]);
        let from_a = pair!(axis => meet * at.gap[axis]);
        let a = pair!(axis => arm_a[axis] + from_a[axis]);
        let b = pair!(axis => arm_b[axis] + (from_a[axis] - at.gap[axis]));
        store2(&mut self.turns[0], i, [-a[1] * spin_a, a[0] * spin_a]);
        store2(&mut self.turns[1], i, [-b[1] * spin_b, b[0] * spin_b]);
        store2(&mut self.error, i, at.gap);
    }

    /// The speed between the points.
    #[inline(always)]
    pub(super) fn speed<L: Lane>([a, b]: [[L; 2]; 2], vel: &Velocities<L>) -> [L; 2] {
        pair!(axis => (vel.b[axis] - vel.a[axis]) + parting_by_turns(&vel.a, &vel.b, [a[axis], b[axis]]))
    }

    /// Tells whether the points meet faster than a threshold.
    #[inline(always)]
    pub(super) fn is_struck<L: Lane>(&self, i: usize, vel: &Velocities<L>, threshold: f32) -> L::Mask {
        let [x, y] = Held::speed(self.turns::<L>(i), vel);
        (x * x + y * y).gt(L::splat(threshold * threshold))
    }

    /// Sets the impulses of some lanes back to what they were. Returns the change that this undoes.
    #[inline(always)]
    pub(super) fn take_back<L: Lane>(&mut self, i: usize, lanes: L::Mask, before: [L; 2]) -> [L; 2] {
        let now: [L; 2] = load2(&self.impulse, i);
        let kept = pair!(axis => L::select(lanes, before[axis], now[axis]));
        store2(&mut self.impulse, i, kept);
        pair!(axis => now[axis] - before[axis])
    }

    /// Begins a step: notes where the points are.
    #[inline(always)]
    pub(super) fn begin<L: Lane>(&mut self, i: usize, at: &Geometry<L>) {
        self.place(i, at);
        store2(&mut self.shift, i, [L::splat(0.0); 2]);
    }

    /// The part of what the impulses do that changes as the bodies turn: the force stays, and so does a torque.
    #[inline(always)]
    pub(super) fn changing<L: Lane>(&self, i: usize) -> Wrench<L> {
        Wrench { force: [L::splat(0.0); 2], turn: self.turn(i) }
    }

    /// The change of that part since the bodies have moved.
    #[inline(always)]
    pub(super) fn set_shift<L: Lane>(&mut self, i: usize, shift: Wrench<L>) {
        store2(&mut self.shift, i, shift.turn);
    }

    #[inline(always)]
    pub(super) fn shift<L: Lane>(&self, i: usize) -> Wrench<L> {
        Wrench { force: [L::splat(0.0); 2], turn: load2(&self.shift, i) }
    }

    /// How much the impulses turn A and B.
    #[inline(always)]
    pub(super) fn turn<L: Lane>(&self, i: usize) -> [L; 2] {
        let [a, b] = self.turns::<L>(i);
        let force: [L; 2] = load2(&self.impulse, i);
        [force[0] * a[0] + force[1] * a[1], force[0] * b[0] + force[1] * b[1]]
    }

    /// What the impulses and a torque do.
    #[inline(always)]
    pub(super) fn wrench<L: Lane>(&self, i: usize, torque: L, inv_spin: [L; 2]) -> Wrench<L> {
        let turn = self.turn::<L>(i);
        let turn = [turn[0] + torque * inv_spin[0], turn[1] + torque * inv_spin[1]];
        Wrench { force: load2(&self.impulse, i), turn }
    }
}
