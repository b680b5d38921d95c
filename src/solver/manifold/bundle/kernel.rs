//! What a bundle does with each of its contacts: the kernels of contacts with a manifold, for one lane.

use super::Approach;
use crate::contacts::{BounceBlock, LANDED, RoughBlock};
use crate::formula::{limited, soft_bias};
use crate::lane::pair;
use crate::solver::impulse::Velocities;
use crate::solver::manifold::{Bounce, ManifoldKernel};

/// How far both bodies have moved since the step's start.
type Poses = ([f32; 4], [f32; 4]);

/// The unsafe methods need what those in `manifold.rs` need: this task alone has the block's bodies.
#[allow(unsafe_code)]
impl<const FIXED: bool, const POINTS: usize> ManifoldKernel<'_, f32, FIXED, POINTS> {
    /// Returns how the points approach. Writes the least speeds at which they may do so. In an `impact`, an overlap is not pushed apart: hooked
    /// compounds lost a fifth of the energy of their gas in 5,000 steps by that, and with deep overlaps alone pushed apart it rose to 1.66
    /// times. Only walls push out what is deep in them: what bounced in the corner of two moving walls sank through one of them.
    pub(super) unsafe fn approach(&self, bounce: Bounce<'_>, floor: &mut [f32; 2], impact: bool) -> Approach {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let (vel, poses) = unsafe { self.velocities_and_poses() };
        let mut of = Approach { had_landed: self.mark() <= LANDED, ..Approach::default() };
        let pressed = self.normal_impulses();
        for p in 0..POINTS {
            let mut separation = self.separation(p);
            if let Some((a, b)) = &poses {
                separation += self.along_normal(a, b, self.normal_arms(p));
            }
            floor[p] = -self.bias(separation);
            if impact && (!FIXED || separation > -self.rows.shallow) {
                floor[p] = floor[p].min(0.0);
            }
            let from = self.along_normal(&vel.a, &vel.b, self.normal_arms(p));
            of.load += pressed[p];
            if pressed[p] <= 0.0 && from < floor[p].min(0.0) {
                of.struck = of.struck.min(from);
                // What gives nothing back is pushed apart like any load. (Without that a segment that lay in the corner of two moving walls
                // sank through one of them.)
                let bounces = |bounce: &BounceBlock| {
                    bounce.resting[p][self.i] <= 0.0 && bounce.restitution[self.i] > 0.0
                };
                if bounce.as_deref().is_some_and(bounces) {
                    of.bouncing = of.bouncing.min(from);
                }
            }
        }
        of
    }

    /// The speed that a contact adds to its approach: an overlap is pushed apart, except where positions are projected.
    pub(super) fn bias(&self, separation: f32) -> f32 {
        let gap_speed = separation * self.rows.inv_step;
        if !self.rows.is_soft {
            return gap_speed.max(0.0);
        }
        let soft = &self.rows.manifold_softness[usize::from(FIXED)];
        soft_bias(separation, gap_speed, soft, self.rows.push_out_speed).bias
    }

    /// Closes the gaps of points that are pressed: sets their closing speeds to 0, or to a mark.
    pub(super) fn close(&mut self, speed: f32) {
        for p in 0..POINTS {
            if self.normal_impulse(p) > 0.0 {
                self.set_closing_speed(p, speed);
            }
        }
    }

    pub(super) unsafe fn velocities_and_poses(&self) -> (Velocities<f32>, Option<Poses>) {
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            let vel = self.velocities();
            let poses = (self.elapsed > 0.0).then(|| self.poses(&vel));
            (vel, poses)
        }
    }

    pub(super) unsafe fn shift_own_arms(&mut self, bounce: &mut BounceBlock) {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let (vel, poses) = unsafe { self.velocities_and_poses() };
        self.shift_arms(bounce, &vel, &poses);
    }

    /// Presses the points until none separates at less than its `floor`. Notes the energy that this takes, and adds the impulses to
    /// `pressed`. Returns the largest change of a speed.
    pub(super) unsafe fn press(
        &mut self,
        floor: [f32; 2],
        bounce: Bounce<'_>,
        pressed: &mut [f32; 2],
    ) -> f32 {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let mut vel = unsafe { self.velocities() };
        let (old, from) = (self.normal_impulses(), self.normal_velocities(&vel));
        let new = self.press_to(&mut vel, from, floor);
        let to = self.normal_velocities(&vel);
        let (mut change, mut work) = (0.0f32, 0.0);
        for p in 0..POINTS {
            let more = new[p] - old[p];
            pressed[p] = (pressed[p] + more).max(0.0);
            work += more * (0.5 * (from[p] + to[p]));
            change = change.max((to[p] - from[p]).abs());
        }
        if let Some(bounce) = bounce {
            bounce.absorbed[self.i] -= work;
        }
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { self.store(vel) };
        change
    }

    pub(super) fn normal_masses(&self) -> [f32; 2] {
        pair!(p => if p < POINTS { self.normal_mass(p) } else { 0.0 })
    }

    pub(super) fn press_to(
        &mut self,
        vel: &mut Velocities<f32>,
        from: [f32; 2],
        floor: [f32; 2],
    ) -> [f32; 2] {
        let masses = self.normal_masses();
        let wanted = pair!(p => -(masses[p] * (from[p] - floor[p])));
        self.apply_normal(vel, wanted, masses)
    }

    /// Adds these normal impulses, down to none.
    pub(super) unsafe fn push_points(&mut self, more: [f32; 2]) {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let mut vel = unsafe { self.velocities() };
        let old = self.normal_impulses();
        self.change_normal(&mut vel, old, pair!(p => (old[p] + more[p]).max(0.0)));
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { self.store(vel) };
    }

    /// Raises the floors of pressed points to the speeds at which they separate. Returns how fast the contact slides.
    pub(super) unsafe fn hold(&self, floor: &mut [f32; 2], rough: Option<&RoughBlock>) -> f32 {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let vel = unsafe { self.velocities() };
        let (impulses, now) = (self.normal_impulses(), self.normal_velocities(&vel));
        for p in 0..POINTS {
            floor[p] = if impulses[p] > 0.0 { now[p] } else { floor[p].min(now[p]) };
        }
        if impulses[0] + impulses[1] > 0.0 { self.sliding(&vel, rough).abs() } else { 0.0 }
    }

    /// Solves friction, then the normal impulses that keep the points at their floors. Returns the largest change of a speed, and the
    /// work of these impulses.
    pub(super) unsafe fn rub(
        &mut self,
        floor: Option<[f32; 2]>,
        slides: bool,
        shared: Option<f32>,
        rough: Option<&RoughBlock>,
    ) -> [f32; 2] {
        let i = self.i;
        // SAFETY: this task alone has these bodies, and each named row exists.
        let mut vel = unsafe { self.velocities() };
        let (impulses, most) = (self.normal_impulses(), self.most_friction(slides));
        let before = self.sliding(&vel, rough);
        let old = self.friction.tangent_impulse[i];
        let new = match shared {
            Some(part) => part * most,
            None => limited(old - self.friction.tangent_mass[i] * before, most),
        };
        self.change_friction(&mut vel, new - old);
        self.friction.tangent_impulse[i] = new;
        let after = self.sliding(&vel, rough);
        let (mut change, mut work) = ((after - before).abs(), (new - old) * (0.5 * (before + after)));
        if let Some(floor) = floor {
            let from = self.normal_velocities(&vel);
            let new = self.press_to(&mut vel, from, floor);
            let to = self.normal_velocities(&vel);
            for p in 0..POINTS {
                work += (new[p] - impulses[p]) * (0.5 * (from[p] + to[p]));
                change = change.max((to[p] - from[p]).abs());
            }
        }
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { self.store(vel) };
        [change, work]
    }

    pub(super) fn most_friction(&self, slides: bool) -> f32 {
        let [first, second] = self.normal_impulses();
        let of = if slides { &self.friction.dynamic_friction } else { &self.friction.static_friction };
        of[self.i] * (first + second)
    }

    pub(super) fn set_normal_impulses(&mut self, impulses: [f32; 2]) {
        for (p, &impulse) in impulses.iter().enumerate().take(POINTS) {
            self.set_normal_impulse(p, impulse);
        }
    }
}
