//! The velocities of two bodies while a contact is solved.

use crate::formula::parting;
use crate::lane::Lane;

/// The velocity rows of both bodies.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Velocities<L: Lane> {
    pub a: [L; 4],
    pub b: [L; 4],
}

impl<L: Lane> Velocities<L> {
    /// Undoes the changes to all lanes except these. Adding zero would not do: −0 + 0 is +0, so a lane's result would
    /// depend on whether another lane of its vector was active.
    #[inline(always)]
    pub(in crate::solver) fn keep_where(&mut self, lanes: L::Mask, before: &Self) {
        for axis in 0..3 {
            self.a[axis] = L::select(lanes, self.a[axis], before.a[axis]);
            self.b[axis] = L::select(lanes, self.b[axis], before.b[axis]);
        }
    }

    /// Of velocities at the start of a substep: the sum of the speeds that the loads of the last step gave the two bodies, in whichever
    /// directions.
    #[inline(always)]
    pub(in crate::solver) fn load(&self) -> L {
        self.a[3] + self.b[3]
    }

    /// Returns the speed of B relative to A along a direction.
    #[inline(always)]
    pub(in crate::solver) fn along(&self, x: L, y: L) -> L {
        parting(&self.a, &self.b, [x, y])
    }

    /// Returns how far a B without inverse mass has moved in this time: contacts do not change its velocity. (So large
    /// kinematic bodies need not be integrated pass by pass, which would make all passes wait for each other, and one
    /// row less is gathered.)
    #[inline(always)]
    pub(in crate::solver) fn b_after(&self, elapsed: f32) -> [L; 4] {
        let zero = L::splat(0.0);
        let elapsed = L::splat(elapsed);
        [self.b[0] * elapsed, self.b[1] * elapsed, self.b[2] * elapsed, zero]
    }

    /// Gives both bodies an impulse along a direction.
    #[inline(always)]
    pub(super) fn push<const FIXED: bool>(&mut self, x: L, y: L, impulse: L) {
        let by_a = impulse * self.a[3];
        self.a[0] = self.a[0] - x * by_a;
        self.a[1] = self.a[1] - y * by_a;
        if !FIXED {
            let by_b = impulse * self.b[3];
            self.b[0] = self.b[0] + x * by_b;
            self.b[1] = self.b[1] + y * by_b;
        }
    }
}

/// Gives both bodies an impulse (x, y) that turns A by `turn_a` and B by `turn_b` per inverse mass.
#[inline(always)]
pub(in crate::solver) fn push<L: Lane, const FIXED: bool>(
    vel: &mut Velocities<L>,
    [x, y]: [L; 2],
    [turn_a, turn_b]: [L; 2],
) {
    let two = L::splat(2.0);
    vel.a[0] = vel.a[0] - x * vel.a[3];
    vel.a[1] = vel.a[1] - y * vel.a[3];
    vel.a[2] = vel.a[2] - two * (turn_a * vel.a[3]);
    if !FIXED {
        vel.b[0] = vel.b[0] + x * vel.b[3];
        vel.b[1] = vel.b[1] + y * vel.b[3];
        vel.b[2] = vel.b[2] + two * (turn_b * vel.b[3]);
    }
}
