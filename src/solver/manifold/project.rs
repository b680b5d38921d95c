//! The projection of overlapping bodies with manifolds.

use super::{LANDED, ManifoldKernel, Velocities, push};
use crate::formula::projection;
use crate::lane::{Lane, Mask, pair};

#[allow(unsafe_code)]
impl<L: Lane, const FIXED: bool, const POINTS: usize> ManifoldKernel<'_, L, FIXED, POINTS> {
    /// Moves overlapping bodies apart by a part of the overlap beyond the slop.
    #[inline(always)]
    pub(super) unsafe fn project(&mut self) {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let vel = unsafe { self.velocities() };
        // SAFETY: this task alone has these bodies, and each named row exists.
        let (mut a, mut b) = unsafe { self.poses(&vel) };
        let zero = L::splat(0.0);
        let part = L::splat(self.rows.projection_part(self.elapsed));
        let (mut wanted, borne) = ([zero; 2], self.normal_impulses());
        for (p, wanted) in wanted.iter_mut().enumerate().take(POINTS) {
            let separation = self.separation(p) + self.along_normal(&a, &b, self.normal_arms(p));
            let was = self.closing_speed(p);
            let closing = self.rows.closing_speed(separation, [borne[p], borne[1 - p]], was);
            self.set_closing_speed(p, L::select(was.le(L::splat(LANDED)), was, closing));
            *wanted = projection(separation, self.rows.projection_slop, part);
        }
        // Each point by its own part, and not by the other's as well.
        let alone = pair!(p => if p < POINTS { wanted[p] * self.normal_mass(p) } else { zero });
        let mut pushes = alone;
        if POINTS == 2 {
            let (together, sound) = self.weights(&vel).impulses_for(wanted);
            let sound = sound.and(together[0].ge(zero)).and(together[1].ge(zero));
            let deeper = wanted[0].ge(wanted[1]);
            let first = L::select(deeper, alone[0], zero);
            let second = L::select(deeper, zero, alone[1]);
            pushes = [L::select(sound, together[0], first), L::select(sound, together[1], second)];
        }
        let (mut sum, mut turn) = (zero, [zero; 2]);
        for (p, push) in pushes.into_iter().enumerate().take(POINTS) {
            let arms = self.normal_arms(p);
            sum = sum + push;
            turn = [turn[0] + push * arms[0], turn[1] + push * arms[1]];
        }
        (a[3], b[3]) = (vel.a[3], vel.b[3]);
        let mut moved = Velocities { a, b };
        let [normal_x, normal_y] = self.normal();
        push::<L, FIXED>(&mut moved, [normal_x * sum, normal_y * sum], turn);
        (a, b) = (moved.a, moved.b);
        (a[3], b[3]) = (zero, zero);
        let rows = self.rows.pose.as_ptr();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            let (at_a, at_b) = self.at();
            L::scatter(rows, at_a, a);
            if !FIXED {
                L::scatter(rows, at_b, b);
            }
        }
    }
}
