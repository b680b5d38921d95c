//! The two velocities of particles: the one that hosts see, and the one that the solver works with.
//!
//! Verlet's velocity is that of the middle of a substep: a particle that starts with v is at x + h·(v + ½·h·a) after
//! the first substep. So the solver's velocity u lags behind the velocity v at the end of the substep by half a
//! substep's gravity: v = u + ½·h·a. Without the correction a free fall of t seconds ends ½·a·h·t off the parabola.
//! Hosts read and write v, and the columns hold v. The solver's rows hold u: they are computed from v and converted
//! back.
//!
//! A particle at rest does not follow gravity: for u = 0 that rule would give a velocity of ½·h·a, which is 0.02 m/s at
//! 4 substeps of a 60 Hz step. So each particle stores the share f of gravity that it followed in the last step: 1 in
//! free fall and 0 at rest. Then v = u + ½·h·f·a. Both conversions use the same f. So the solver's velocities do not
//! depend on f, and a velocity that is read and written back is the same.

use crate::lane::{Lane, Mask};

/// Gravity and the length of a step and its substep.
#[derive(Clone, Copy)]
pub(super) struct Midpoint {
    pub gravity: [f32; 2],
    pub time_step: f32,
    pub substep: f32,
}

impl Midpoint {
    /// Returns the lag of the solver's velocity for a body with this column `follows` and this gravity scale.
    #[inline(always)]
    pub(super) fn behind<L: Lane>(&self, follows: L, scale: L) -> [L; 2] {
        let by = L::splat(0.5 * self.substep) * follows.max(L::splat(0.0)) * scale;
        [by * L::splat(self.gravity[0]), by * L::splat(self.gravity[1])]
    }

    /// Returns the column `follows` after a step at whose end the solver's velocity is `vel`, and the lag then. `old` is the body's velocity
    /// before the step. Bodies that are not `good` keep the column.
    #[inline(always)]
    pub(super) fn end<L: Lane>(
        &self,
        vel: [L; 2],
        old: [L; 2],
        (follows, scale): (L, L),
        good: L::Mask,
    ) -> (L, [L; 2]) {
        let behind = self.behind(follows, scale);
        let gained = [vel[0] - (old[0] - behind[0]), vel[1] - (old[1] - behind[1])];
        let follows = L::select(good, self.follows(gained, follows, scale), follows);
        (follows, self.behind(follows, scale))
    }

    /// Returns the column `follows` after a step that changed the solver's velocity by `gained`.
    #[inline(always)]
    fn follows<L: Lane>(&self, gained: [L; 2], follows: L, scale: L) -> L {
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
