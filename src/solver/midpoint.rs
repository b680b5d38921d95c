//! The two velocities of particles: the one that hosts see, and the one that the solver works with.
//!
//! Verlet's velocity is that of the middle of a substep: a particle that starts with v is at x + h·(v + ½·h·a) after
//! the first. So the solver's velocity u is half a substep's gravity behind that of the moment, v = u + ½·h·a, and
//! without the difference a free fall of t seconds ends ½·a·h·t off the parabola. Hosts read and write v, the columns
//! hold v, and the solver's rows are made of it and give it back.
//!
//! A particle that rests does not follow gravity: of u = 0 that rule would make a velocity of ½·h·a, 0.02 m/s at 4
//! substeps of a 60 Hz step. So each particle keeps the part of gravity f that it followed in the last step, 1 in free fall and 0
//! at rest, and v = u + ½·h·f·a. Whatever f is, the way there and the way back are the same, so the solver's velocities
//! do not depend on it, and a velocity that is read and written back is the same one.

use crate::lane::{Lane, Mask};

/// Gravity and the length of a step and its substep.
#[derive(Clone, Copy)]
pub(super) struct Midpoint {
    pub gravity: [f32; 2],
    pub time_step: f32,
    pub substep: f32,
}

impl Midpoint {
    /// Returns by how much the solver's velocity lags, for a body with this column `follows` and this gravity scale.
    #[inline(always)]
    pub(super) fn behind<L: Lane>(&self, follows: L, scale: L) -> [L; 2] {
        let by = L::splat(0.5 * self.substep) * follows.max(L::splat(0.0)) * scale;
        [by * L::splat(self.gravity[0]), by * L::splat(self.gravity[1])]
    }

    /// Returns the column `follows` after a step that changed the solver's velocity by `gained`.
    #[inline(always)]
    pub(super) fn follows<L: Lane>(&self, gained: [L; 2], follows: L, scale: L) -> L {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let (x, y) = (scale * L::splat(self.gravity[0]), scale * L::splat(self.gravity[1]));
        let squared = x * x + y * y;
        // Without gravity there is nothing to follow, and no lag.
        let known = squared.gt(L::splat(1.0e-20)).and(follows.ge(zero));
        let whole = L::splat(self.time_step) * L::select(known, squared, one);
        let part = (gained[0] * x + gained[1] * y) / whole;
        L::select(known, part.max(zero).min(one), follows)
    }
}
