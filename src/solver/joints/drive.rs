//! The free motion of a joint: along an axis or about a point, with a spring, a motor and limits.

use super::ends::Column;
use crate::contacts::BLOCK;
use crate::formula::{limited, parting_by_turns, soft_bias_lanes, soft_change};
use crate::lane::{Lane, pair};
use crate::solver::impulse::{Velocities, push};
use bytemuck::{Pod, Zeroable};

/// What joints of a block have, as bits. A block skips what none of its joints has.
pub(super) mod feature {
    pub const SPRING: u32 = 1;
    pub const MOTOR: u32 = 2;
    pub const LIMIT: u32 = 4;
    /// The two points are driven at a velocity, or with limited force.
    pub const DRIVEN: u32 = 8;
    /// The motor of a wheel.
    pub const TURN_MOTOR: u32 = 16;
    /// The angle (of a gear: the angles) at the start of the step is needed.
    pub const ANGLE: u32 = 32;
    /// Whole turns are taken off the angle: the joint holds it rigidly.
    pub const WRAPPED: u32 = 64;
    /// The joint may break.
    pub const BREAKS: u32 = 128;
    /// What the joint holds gives way like a spring, in all passes.
    pub const GIVES: u32 = 256;
    /// There is an impulse that only turns the bodies.
    pub const TORQUE: u32 = SPRING | MOTOR | LIMIT;
}

/// One motion of two bodies relative to each other, by which joints act on them.
pub(super) trait Coordinate<L: Lane> {
    /// The speed of the motion.
    fn speed(&self, vel: &Velocities<L>) -> L;
    /// The change of that speed by a unit impulse.
    fn inv_mass(&self, vel: &Velocities<L>) -> L;
    /// Applies an impulse.
    fn push(&self, vel: &mut Velocities<L>, impulse: L);
}

/// The motion of B's point along a direction, as A sees it.
pub(super) struct Along<L> {
    pub direction: [L; 2],
    /// How much a unit impulse turns A and B: see `contacts/update/manifold.rs`.
    pub arms: [L; 2],
}

/// The turn of B against A.
pub(super) struct About<L> {
    pub inv_spin: [L; 2],
}

impl<L: Lane> Coordinate<L> for Along<L> {
    #[inline(always)]
    fn speed(&self, vel: &Velocities<L>) -> L {
        vel.along(self.direction[0], self.direction[1]) + parting_by_turns(&vel.a, &vel.b, self.arms)
    }

    #[inline(always)]
    fn inv_mass(&self, vel: &Velocities<L>) -> L {
        crate::formula::point_inv_mass(vel.a[3], self.arms[0])
            + crate::formula::point_inv_mass(vel.b[3], self.arms[1])
    }

    #[inline(always)]
    fn push(&self, vel: &mut Velocities<L>, impulse: L) {
        let force = [self.direction[0] * impulse, self.direction[1] * impulse];
        push::<L, false>(vel, force, [self.arms[0] * impulse, self.arms[1] * impulse]);
    }
}

impl<L: Lane> Coordinate<L> for About<L> {
    #[inline(always)]
    fn speed(&self, vel: &Velocities<L>) -> L {
        parting_by_turns(&vel.a, &vel.b, self.inv_spin)
    }

    #[inline(always)]
    fn inv_mass(&self, vel: &Velocities<L>) -> L {
        let of = |mass: L, inv_spin: L| mass * (inv_spin * inv_spin);
        L::splat(2.0) * (of(vel.a[3], self.inv_spin[0]) + of(vel.b[3], self.inv_spin[1]))
    }

    #[inline(always)]
    fn push(&self, vel: &mut Velocities<L>, impulse: L) {
        let twice = L::splat(2.0) * impulse;
        vel.a[2] = vel.a[2] - twice * (self.inv_spin[0] * vel.a[3]);
        vel.b[2] = vel.b[2] + twice * (self.inv_spin[1] * vel.b[3]);
    }
}

/// One over a number, and 0 for 0.
#[inline(always)]
pub(super) fn inverse<L: Lane>(value: L) -> L {
    let zero = L::splat(0.0);
    L::select(value.gt(zero), L::splat(1.0) / value, zero)
}

/// The softness of a joint's constraints. A spring gives way in all passes. A rigid constraint gives way only while positions are corrected.
///
/// The factor on the mass is 1 minus the one on the impulse: see [`Softness`](crate::formula::Softness).
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Soft {
    pub rate: Column,
    /// The factor on the impulse.
    pub given: Column,
    /// 1 for a spring, 0 for what is rigid.
    pub spring: Column,
}

/// Constants of a soft constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Give {
    pub rate: f32,
    pub given: f32,
    pub spring: bool,
}

impl Give {
    /// Stops motion, and corrects no error.
    pub(super) const STOP: Give = Give { rate: 0.0, given: 0.0, spring: false };
    /// Has no force.
    pub(super) const NONE: Give = Give { rate: 0.0, given: 1.0, spring: true };
}

impl Soft {
    /// Rate, factor on the mass, factor on the impulse. `springs` tells whether there may be springs among the joints.
    #[inline(always)]
    pub(super) fn load<L: Lane, const RELAX: bool>(&self, i: usize, springs: bool) -> [L; 3] {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        if RELAX && !springs {
            return [zero, one, zero];
        }
        let (rate, given) = (L::load(&self.rate[i..]), L::load(&self.given[i..]));
        if !RELAX {
            return [rate, one - given, given];
        }
        let spring = L::load(&self.spring[i..]).gt(zero);
        [L::select(spring, rate, zero), L::select(spring, one - given, one), L::select(spring, given, zero)]
    }

    pub(super) fn set(&mut self, lane: usize, Give { rate, given, spring }: Give) {
        (self.rate[lane], self.given[lane]) = (rate, given);
        self.spring[lane] = if spring { 1.0 } else { 0.0 };
    }
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Motor {
    pub speed: Column,
    /// The largest impulse in a substep.
    pub most: Column,
    pub impulse: Column,
}

impl Motor {
    /// Brings the motion to a speed, as far as the motor's strength allows.
    #[inline(always)]
    pub(super) fn solve<L: Lane, C: Coordinate<L>>(
        &mut self,
        i: usize,
        speed: L,
        coordinate: &C,
        mass: L,
        vel: &mut Velocities<L>,
    ) {
        let old = L::load(&self.impulse[i..]);
        let wanted = old + mass * (speed - coordinate.speed(vel));
        let new = limited(wanted, L::load(&self.most[i..]));
        new.store(&mut self.impulse[i..]);
        coordinate.push(vel, new - old);
    }
}

/// The free motion of sixteen joints. What a joint lacks is inert: a spring that gives all of its impulse away, a motor without
/// strength, limits that are far off.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Drive {
    /// The value of the motion now: an angle, a way or a length.
    pub value: Column,
    pub target: Column,
    pub soft: Soft,
    /// The speed at which the target moves.
    pub target_speed: Column,
    /// The smallest and the largest impulse of the spring in a substep.
    pub spring_range: [Column; 2],
    pub spring_impulse: Column,
    pub motor: Motor,
    pub limits: [Column; 2],
    pub limit_impulses: [Column; 2],
}

/// A limit that is never reached.
pub(super) const NO_LIMIT: f32 = 1.0e30;

impl Drive {
    /// Makes a lane inert.
    pub(super) fn clear(&mut self, lane: usize) {
        self.soft.set(lane, Give::NONE);
        (self.target[lane], self.target_speed[lane]) = (0.0, 0.0);
        (self.spring_range[0][lane], self.spring_range[1][lane]) = (f32::NEG_INFINITY, f32::INFINITY);
        (self.motor.speed[lane], self.motor.most[lane]) = (0.0, 0.0);
        (self.limits[0][lane], self.limits[1][lane]) = (-NO_LIMIT, NO_LIMIT);
    }

    /// Forgets the impulses of a lane that the features do not have.
    pub(super) fn forget_unused(&mut self, lane: usize, features: u32) {
        if features & feature::SPRING == 0 {
            self.spring_impulse[lane] = 0.0;
        }
        if features & feature::MOTOR == 0 {
            self.motor.impulse[lane] = 0.0;
        }
        if features & feature::LIMIT == 0 {
            (self.limit_impulses[0][lane], self.limit_impulses[1][lane]) = (0.0, 0.0);
        }
    }

    /// The sum of all impulses.
    #[inline(always)]
    pub(super) fn impulse<L: Lane>(&self, i: usize) -> L {
        let limits = L::load(&self.limit_impulses[0][i..]) - L::load(&self.limit_impulses[1][i..]);
        L::load(&self.spring_impulse[i..]) + L::load(&self.motor.impulse[i..]) + limits
    }

    /// Multiplies all impulses.
    #[inline(always)]
    pub(super) fn scale<L: Lane>(&mut self, i: usize, ratio: L) {
        let [lower, upper] = &mut self.limit_impulses;
        for column in [&mut self.spring_impulse, &mut self.motor.impulse, lower, upper] {
            scale_column(column, i, ratio);
        }
    }

    /// Solves the spring, then the motor, then the limits, as E. Catto's Box2D does. Limits are as stiff as `stiffness`.
    #[inline(always)]
    pub(super) fn solve<L: Lane, C: Coordinate<L>, const RELAX: bool>(
        &mut self,
        i: usize,
        features: u32,
        stiffness: [L; 3],
        coordinate: &C,
        vel: &mut Velocities<L>,
        inv_step: f32,
    ) {
        if features & (feature::SPRING | feature::MOTOR | feature::LIMIT) == 0 {
            return;
        }
        let mass = inverse(coordinate.inv_mass(vel));
        let value = L::load(&self.value[i..]);
        if features & feature::SPRING != 0 {
            let old = L::load(&self.spring_impulse[i..]);
            let error = value - L::load(&self.target[i..]);
            let speed = coordinate.speed(vel) - L::load(&self.target_speed[i..]);
            let wanted = old + soft_change(old, mass, speed, error, self.soft.load::<L, RELAX>(i, true));
            let [least, most] = &self.spring_range;
            let new = wanted.max(L::load(&least[i..])).min(L::load(&most[i..]));
            new.store(&mut self.spring_impulse[i..]);
            coordinate.push(vel, new - old);
        }
        if features & feature::MOTOR != 0 {
            let mut speed = L::load(&self.motor.speed[i..]);
            if features & feature::LIMIT != 0 {
                speed = self.within_limits(i, speed, value, stiffness[0], L::splat(inv_step));
            }
            self.motor.solve(i, speed, coordinate, mass, vel);
        }
        if features & feature::LIMIT != 0 {
            self.solve_limit::<L, C, 0>(i, stiffness, coordinate, mass, vel, inv_step);
            self.solve_limit::<L, C, 1>(i, stiffness, coordinate, mass, vel, inv_step);
        }
    }

    /// The speed at which a motor drives a motion that has limits: no faster than up to the limit, and from beyond it back as the limit itself
    /// does. (A motor that drove on against its limit won where it was stronger than the limit is stiff: one without a largest torque never
    /// stopped. The test `motors_stop_at_limits`.)
    #[inline(always)]
    fn within_limits<L: Lane>(&self, i: usize, speed: L, value: L, rate: L, inv_step: L) -> L {
        let [down, up] = pair!(side => L::load(&self.limits[side][i..]) - value);
        let zero = L::splat(0.0);
        let lower = down * L::select(zero.gt(down), inv_step, rate);
        let upper = up * L::select(up.gt(zero), inv_step, rate);
        speed.max(lower).min(upper)
    }

    /// Solves the lower limit (0) or the upper one (1).
    #[inline(always)]
    fn solve_limit<L: Lane, C: Coordinate<L>, const UPPER: usize>(
        &mut self,
        i: usize,
        stiffness: [L; 3],
        coordinate: &C,
        mass: L,
        vel: &mut Velocities<L>,
        inv_step: f32,
    ) {
        let zero = L::splat(0.0);
        let (value, limit) = (L::load(&self.value[i..]), L::load(&self.limits[UPPER][i..]));
        let (mut room, mut speed) = (value - limit, coordinate.speed(vel));
        if UPPER == 1 {
            (room, speed) = (limit - value, -speed);
        }
        let soft = soft_bias_lanes(room, room * L::splat(inv_step), stiffness, L::splat(f32::MAX));
        let old = L::load(&self.limit_impulses[UPPER][i..]);
        let change = -(mass * soft.mass_scale * (speed + soft.bias)) - soft.impulse_scale * old;
        let new = (old + change).max(zero);
        new.store(&mut self.limit_impulses[UPPER][i..]);
        coordinate.push(vel, if UPPER == 1 { old - new } else { new - old });
    }
}

/// Multiplies a part of a column.
#[inline(always)]
pub(super) fn scale_column<L: Lane>(column: &mut [f32; BLOCK], i: usize, ratio: L) {
    (L::load(&column[i..]) * ratio).store(&mut column[i..]);
}

/// Bounds the length of an impulse.
#[inline(always)]
pub(super) fn bounded<L: Lane>([x, y]: [L; 2], most: L) -> [L; 2] {
    let one = L::splat(1.0);
    let length = (x * x + y * y).sqrt();
    let factor = L::select(length.gt(most), most / length.max(L::splat(f32::MIN_POSITIVE)), one);
    [x * factor, y * factor]
}
