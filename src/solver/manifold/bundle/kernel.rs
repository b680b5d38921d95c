//! What a bundle does with each of its contacts: the kernels of contacts with a manifold, for one lane.

use super::Approach;
use super::system::{Contact, Impulses};
use crate::contacts::{BounceBlock, RoughBlock};
use crate::formula::soft_bias;
use crate::lane::{Lane, Mask, pair};
use crate::solver::impulse::Velocities;
use crate::solver::manifold::friction::no_lanes;
use crate::solver::manifold::{Bounce, ManifoldKernel};

impl<L: Lane, const FIXED: bool, const POINTS: usize> ManifoldKernel<'_, L, FIXED, POINTS> {
    /// Returns as bits the contacts without a load that may be of bundles; and those among them that are struck no faster than a body falls in
    /// a substep. Of contacts with what stands still these are those that may be struck in this step. (With the same choice between two
    /// moving bodies, stacks of planks of eight boxes swayed by 0.21 m: what bears them changes within a step.) Where nothing `bounces`, a
    /// body of one shape needs no bundle there if its two coefficients of friction are the same: what breaks loose bears as much as before.
    #[inline(always)]
    pub(in crate::solver::manifold) fn may_meet(&self, vel: &Velocities<L>, bounces: bool) -> [u32; 2] {
        let normal = self.normal_impulses();
        let unloaded = (normal[0] + normal[1]).le(L::splat(0.0));
        if !FIXED {
            return [unloaded.bits(); 2];
        }
        let mut may_meet = unloaded;
        if !self.rows.any_parts && !bounces {
            let [dynamic, fixed] = [&self.friction.dynamic_friction, &self.friction.static_friction];
            may_meet = may_meet.and(L::load(&dynamic[self.i..]).lt(L::load(&fixed[self.i..])));
            if may_meet.bits() == 0 {
                return [0; 2];
            }
        }
        let (time, fall) = (L::splat(self.rows.step_length()), L::splat(self.rows.fall));
        let (mut struck, mut fast) = (no_lanes::<L>(), no_lanes::<L>());
        for p in 0..POINTS {
            let speed = -self.along_normal(&vel.a, &vel.b, self.normal_arms(p));
            let closes = self.separation(p).lt(speed * time + fall);
            struck = struck.or(closes);
            fast = fast.or(closes.and(speed.gt(L::splat(self.rows.landing_speed))));
        }
        if self.rows.any_parts {
            // What moves by itself is as other bodies are.
            struck = vel.b[..3].iter().fold(struck, |struck, speed| struck.or(speed.abs().gt(L::splat(0.0))));
        }
        let struck = struck.and(may_meet).bits();
        [struck, struck & !fast.bits()]
    }
}

/// How far both bodies have moved since the step's start.
type Poses = ([f32; 4], [f32; 4]);

/// The unsafe methods need what those in `manifold.rs` need: this task alone has the block's bodies.
#[allow(unsafe_code)]
impl<const FIXED: bool, const POINTS: usize> ManifoldKernel<'_, f32, FIXED, POINTS> {
    /// Returns how the points approach, and the least speeds at which they may do so. In an `impact`, an overlap is not pushed apart: hooked
    /// compounds lost a fifth of the energy of their gas in 5,000 steps by that, and with deep overlaps alone pushed apart it rose to 1.66
    /// times. Only walls push out what is deep in them: what bounced in the corner of two moving walls sank through one of them.
    pub(super) unsafe fn approach(&self, bounce: Bounce<'_>, impact: bool) -> Approach {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let (vel, poses) = unsafe { self.velocities_and_poses() };
        let borne = self.normal_impulses();
        let mut of = Approach { borne, ..Approach::default() };
        let had_landed = self.points_landed();
        let floor = &mut of.floor;
        for p in 0..POINTS {
            let separation = self.separation_at(p, &poses);
            floor[p] = -self.bias(separation);
            if impact && (!FIXED || separation > -self.rows.shallow) {
                floor[p] = floor[p].min(0.0);
            }
            let from = self.along_normal(&vel.a, &vel.b, self.normal_arms(p));
            if borne[p] <= 0.0 && from < floor[p].min(0.0) {
                of.struck = of.struck.min(from);
                of.is_new |= !had_landed[p];
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

    /// Returns the least speeds at which the points may separate, after the positions have moved. What touches is stopped, whether it bears an
    /// impulse yet or not. (When it was not, the one point of a body that landed flat which bore one by rounding took the whole impact.)
    pub(super) unsafe fn least_speeds(&self) -> [f32; 2] {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let (_, poses) = unsafe { self.velocities_and_poses() };
        pair!(p => {
            let touch = p < POINTS && self.separation_at(p, &poses) <= self.rows.touching;
            if touch { 0.0 } else { -self.closing_speed(p).max(0.0) }
        })
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

    pub(super) fn read(&self, bounce: Bounce<'_>, rough: Option<&RoughBlock>) -> (Contact, Impulses) {
        let i = self.i;
        let bounce = bounce.as_deref();
        let contact = Contact {
            normal: self.normal(),
            arms: pair!(p => if p < POINTS { self.normal_arms(p) } else { [0.0; 2] }),
            tangent_arms: self.tangent_arms(),
            normal_mass: pair!(p => if p < POINTS { self.normal_mass(p) } else { 0.0 }),
            tangent_mass: self.friction.tangent_mass[i],
            static_friction: self.friction.static_friction[i],
            dynamic_friction: self.friction.dynamic_friction[i],
            restitution: bounce.map_or(0.0, |bounce| bounce.restitution[i]),
            belt: rough.map_or(0.0, |rough| rough.tangent_speed[i]),
        };
        let impulses = Impulses {
            normal: self.normal_impulses(),
            tangent: self.friction.tangent_impulse[i],
            pressed: [0.0; 2],
            absorbed: bounce.map_or(0.0, |bounce| bounce.absorbed[i]),
        };
        (contact, impulses)
    }

    pub(super) fn write(&mut self, of: &Impulses, bounce: Bounce<'_>) {
        for (p, &impulse) in of.normal.iter().enumerate().take(POINTS) {
            self.set_normal_impulse(p, impulse);
        }
        self.friction.tangent_impulse[self.i] = of.tangent;
        if let Some(bounce) = bounce {
            bounce.absorbed[self.i] = of.absorbed;
        }
    }
}
