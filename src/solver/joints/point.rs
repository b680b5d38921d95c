//! Two points that are held together, one of each body.

use super::ends::{Column, Geometry, load2, store2};
use super::sweep::Wrench;
use crate::lane::Lane;
use bytemuck::{Pod, Zeroable};

/// The points of sixteen joints that hold a point of B at one of A.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Held {
    /// By how much unit impulses along x and y turn A and B.
    turns: [[Column; 2]; 2],
    /// From A's point to B's.
    pub error: [Column; 2],
    pub impulse: [Column; 2],
    /// By how much more the impulses turn A and B since the bodies have moved.
    pub shift: [Column; 2],
}

impl Held {
    /// By how much unit impulses along x and y turn A and B.
    #[inline(always)]
    pub(super) fn turns<L: Lane>(&self, i: usize) -> [[L; 2]; 2] {
        [load2(&self.turns[0], i), load2(&self.turns[1], i)]
    }

    /// Notes where the points are. Both bodies feel the impulses at B's point: so a spring that is stretched keeps the angular momentum
    /// of its bodies.
    #[inline(always)]
    pub(super) fn place<L: Lane>(&mut self, i: usize, at: &Geometry<L>) {
        let ([near, b], [spin_a, spin_b]) = (at.arm, at.inv_spin);
        let a = [near[0] + at.gap[0], near[1] + at.gap[1]];
        store2(&mut self.turns[0], i, [-a[1] * spin_a, a[0] * spin_a]);
        store2(&mut self.turns[1], i, [-b[1] * spin_b, b[0] * spin_b]);
        store2(&mut self.error, i, at.gap);
    }

    /// By how much the impulses turn A and B.
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
