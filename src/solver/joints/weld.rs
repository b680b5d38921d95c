//! Welds: two points and the angle between two bodies are held, all three at once.
//!
//! # The block
//!
//! K is the matrix of the three speeds by unit impulses and a unit torque: P for the points, r for the angle, q between both. A
//! soft constraint of impulses λ solves (K + Γ)·Δλ = −(J·v + rate·C + Γ·λ). Γ is γ·P for the points and γ′·r for the angle, so that
//! springs of points and angle are as stiff as each alone is. With i_A and i_B the inverse inertias, and t_A and t_B the arms as turns,
//! elimination of the torque leaves for the points
//!
//! ```text
//! P − q·qᵀ/r = (m_A + m_B)·1 + i_A·i_B/r · (t_A − t_B)·(t_A − t_B)ᵀ
//! ```
//!
//! and, with what is soft, a further part of q·qᵀ. All are sums of squares: nothing cancels out at any ratio of masses, or where the
//! arms are much longer than the bodies. t_A − t_B depends on the way between the centres alone.
//!
//! # Hubs
//!
//! The joints of a hub are solved one after the other, and each of them reckons with the whole hub. If the arms are heavier than the hub,
//! each gives the hub nearly its own speed. Together their springs are then many times too stiff for the hub, and all fly apart. Two things
//! help together, and neither is enough alone:
//!
//! - an effective mass counts a body's inverse mass once for each of its joints beyond two ("mass splitting": R. Tonge and others, "Mass
//!   splitting for jitter-free parallel rigid body simulation", 2012). So what the joints of a hub do together is no more than what
//!   it bears. A heavy hub has little inverse mass, and then nothing changes;
//! - γ is twice as large where a body has three joints or more: the springs of points and angle, each alone as stiff as the joint, act
//!   together with up to twice that stiffness.
//!
//! Both are for rigid welds: a spring is as stiff as its host says. A row of welds (two at each body) is as it was.
//!
//! `cargo test --test suite joints::hubs -- --nocapture` holds hubs of 3 to 8 boxes round a box or a disc of the same width, and of sails of twice and
//! four times the hub's width, free and pinned, at 4 substeps for 20 s, and prints how far each weld is off. What was tried and does not hold all of
//! them: angle first and points afterwards; one block without the two remedies, also under-relaxed, with less stiffness, or with two iterations;
//! each remedy without the other; γ of the whole block, γ·K, with masses split. With γ·K points are off by the torque, too. To solve the joints
//! backwards in the relaxing pass makes hubs better, and nets of hinges unstable.
//!
//! The price: the rigid welds of a body with three welds or more give way more than those of a row do.

use super::drive::{Give, Motor, Soft, feature, inverse, scale_column};
use super::ends::{Column, Ends, Geometry, cross, load2};
use super::point::Held;
use super::sweep::{Blow, Constants, TwoBodies, Wrench};
use crate::formula::parting_by_turns;
use crate::geometry::trig::wrap;
use crate::lane::{Lane, pair};
use crate::solver::impulse::{Velocities, push};
use bytemuck::{Pod, Zeroable};

/// A body with at least so many joints is a hub.
const HUB: u32 = 3;

/// Sixteen welds.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct WeldBlock {
    pub point: Held,
    /// How the points are held, and how the angle is.
    pub soft: [Soft; 2],
    /// How many times the inverse mass of A, and of B, counts in the effective mass.
    pub split: [Column; 2],
    pub angle: Column,
    pub torque: Column,
    pub ends: Ends,
    pub start_angle: Column,
    /// For a rigid weld, the factor on the impulse before a hub makes it softer; −1 for springs.
    pub rigid: Column,
    /// The factor on the softness.
    pub looser: Column,
}

/// What some lanes want: the right-hand side of the equations, and what gives way.
struct Demand<L> {
    /// The change of speed that is wanted between the points, without what the torque changes.
    points: [L; 2],
    /// The change of the angle's speed that is wanted, over r.
    angle: L,
    /// The factor on q·qᵀ.
    loose: L,
    /// The factor on the angle's mass.
    angle_mass: L,
}

/// The effective masses of some lanes, as parts of the sum of the inverse masses.
struct Masses<L> {
    inv_masses: [L; 2],
    inv_sum: L,
    /// Twice the parts of A and B.
    parts: [L; 2],
    turns: [[L; 2]; 2],
    /// 1/r, and q.
    per_turning: L,
    mixed: [L; 2],
}

impl WeldBlock {
    /// Notes how the joint is held. Where a body is a hub, what is rigid gives way more.
    pub(super) fn set_soft(&mut self, lane: usize, points: Give, angle: Give) {
        self.soft[0].set(lane, points);
        self.soft[1].set(lane, angle);
        self.rigid[lane] = if points.spring || angle.spring { -1.0 } else { points.given };
        self.soften(lane);
    }

    fn soften(&mut self, lane: usize) {
        let (rigid, looser) = (self.rigid[lane], self.looser[lane].max(1.0));
        if rigid >= 0.0 {
            let given = looser * rigid / ((1.0 - rigid) + looser * rigid);
            self.soft.iter_mut().for_each(|soft| soft.given[lane] = given);
        }
    }

    /// Notes how many joints the bodies have that impulses move; 0 for others.
    pub(super) fn set_counts(&mut self, lane: usize, counts: [u32; 2]) {
        let rigid = self.rigid[lane] >= 0.0;
        let most = counts[0].max(counts[1]);
        self.looser[lane] = if most >= HUB { 2.0 } else { 1.0 };
        for (split, count) in self.split.iter_mut().zip(counts) {
            split[lane] = if rigid { count.saturating_sub(HUB - 1).max(1) as f32 } else { 1.0 };
        }
        self.soften(lane);
    }

    #[inline(always)]
    fn masses<L: Lane>(&self, i: usize, vel: &Velocities<L>) -> Masses<L> {
        let two = L::splat(2.0);
        let turns: [[L; 2]; 2] = self.point.turns(i);
        let [spin_a, spin_b]: [L; 2] = load2(&self.ends.inv_spin, i);
        let [split_a, split_b]: [L; 2] = load2(&self.split, i);
        let inv_masses = [split_a * vel.a[3], split_b * vel.b[3]];
        let inv_sum = inverse(inv_masses[0] + inv_masses[1]);
        let parts = pair!(body => two * (inv_masses[body] * inv_sum));
        let per_turning = inverse(parts[0] * (spin_a * spin_a) + parts[1] * (spin_b * spin_b));
        let [by_a, by_b] = [parts[0] * spin_a, parts[1] * spin_b];
        let mixed = pair!(axis => by_a * turns[0][axis] + by_b * turns[1][axis]);
        Masses { inv_masses, inv_sum, parts, turns, per_turning, mixed }
    }

    /// What is wanted of velocities and impulses.
    #[inline(always)]
    fn demand<L: Lane, const RELAX: bool>(
        &self,
        i: usize,
        features: u32,
        masses: &Masses<L>,
        vel: &Velocities<L>,
    ) -> Demand<L> {
        let Masses { inv_masses, parts, turns: [a, b], per_turning, mixed, .. } = *masses;
        let [spin_a, spin_b]: [L; 2] = load2(&self.ends.inv_spin, i);
        let speed = Held::speed([a, b], vel);
        let turning = parting_by_turns(&vel.a, &vel.b, [spin_a, spin_b]);
        let springs = features & feature::GIVES != 0;
        if RELAX && !springs {
            let angle = turning * per_turning;
            let points = pair!(axis => speed[axis] - mixed[axis] * angle);
            return Demand { points, angle, loose: L::splat(0.0), angle_mass: L::splat(1.0) };
        }
        let [rate, mass, given] = self.soft[0].load::<L, RELAX>(i, springs);
        let [angle_rate, angle_mass, angle_given] = self.soft[1].load::<L, RELAX>(i, springs);
        let sum = inv_masses[0] + inv_masses[1];
        let wanted = turning + angle_rate * L::load(&self.angle[i..]);
        let torque = L::load(&self.torque[i..]);
        let angle = angle_mass * (wanted * per_turning) + angle_given * (torque * sum);
        let (error, old): ([L; 2], [L; 2]) = (load2(&self.point.error, i), load2(&self.point.impulse, i));
        let by_a = parts[0] * (a[0] * old[0] + a[1] * old[1]);
        let by_b = parts[1] * (b[0] * old[0] + b[1] * old[1]);
        let kept = given * sum;
        let points = pair!(axis => {
            let wanted = speed[axis] + rate * error[axis];
            mass * (wanted - mixed[axis] * angle) + kept * (old[axis] + (a[axis] * by_a + b[axis] * by_b))
        });
        Demand { points, angle, loose: (mass * angle_given + given) * per_turning, angle_mass }
    }

    /// Holds points and angle.
    #[inline(always)]
    fn hold<L: Lane, const RELAX: bool>(&mut self, i: usize, features: u32, vel: &mut Velocities<L>) {
        let one = L::splat(1.0);
        let masses = self.masses(i, vel);
        let Demand { points: [x, y], angle, loose, angle_mass } =
            self.demand::<L, RELAX>(i, features, &masses, vel);
        let Masses { inv_sum, parts, turns: [a, b], per_turning, mixed: q, .. } = masses;
        let [spin_a, spin_b]: [L; 2] = load2(&self.ends.inv_spin, i);
        // t_A − t_B, times both spins.
        let way = pair!(axis => spin_b * a[axis] - spin_a * b[axis]);
        let firm = parts[0] * parts[1] * per_turning;
        let alpha = firm * (way[0] * way[0]) + loose * (q[0] * q[0]);
        let beta = firm * (way[1] * way[1]) + loose * (q[1] * q[1]);
        let mixed = firm * (way[0] * way[1]) + loose * (q[0] * q[1]);
        let area = cross(way, q);
        let determinant = one + alpha + beta + firm * loose * (area * area);
        let mass = inv_sum / determinant;
        let change = [-(mass * ((one + beta) * x - mixed * y)), -(mass * ((one + alpha) * y - mixed * x))];
        let by_points = per_turning * (q[0] * change[0] + q[1] * change[1]);
        let torque = -(angle * inv_sum + angle_mass * by_points);
        for (column, change) in self.point.impulse.iter_mut().zip(change) {
            (L::load(&column[i..]) + change).store(&mut column[i..]);
        }
        (L::load(&self.torque[i..]) + torque).store(&mut self.torque[i..]);
        let turn = [
            (change[0] * a[0] + change[1] * a[1]) + torque * spin_a,
            (change[0] * b[0] + change[1] * b[1]) + torque * spin_b,
        ];
        push::<L, false>(vel, change, turn);
    }
}

impl TwoBodies for WeldBlock {
    fn ends(&self) -> &Ends {
        &self.ends
    }

    fn ends_mut(&mut self) -> &mut Ends {
        &mut self.ends
    }

    fn motor(&mut self) -> Option<&mut Motor> {
        None
    }

    fn set_start_angle(&mut self, lane: usize, angle: f64, _: bool) {
        self.start_angle[lane] = wrap(angle).0;
    }

    #[inline(always)]
    fn begin<L: Lane>(&mut self, i: usize, _: u32, at: &Geometry<L>) {
        self.point.begin(i, at);
        L::load(&self.start_angle[i..]).store(&mut self.angle[i..]);
    }

    #[inline(always)]
    fn update<L: Lane>(&mut self, i: usize, _: u32, at: &Geometry<L>) {
        self.point.place(i, at);
        (L::load(&self.start_angle[i..]) + at.angle).store(&mut self.angle[i..]);
    }

    #[inline(always)]
    fn scale<L: Lane>(&mut self, i: usize, _: u32, ratio: L) {
        let [x, y] = &mut self.point.impulse;
        for column in [x, y, &mut self.torque] {
            scale_column(column, i, ratio);
        }
    }

    #[inline(always)]
    fn wrench<L: Lane>(&self, i: usize, _: u32) -> Wrench<L> {
        self.point.wrench(i, self.torque(i), load2(&self.ends.inv_spin, i))
    }

    #[inline(always)]
    fn torque<L: Lane>(&self, i: usize) -> L {
        L::load(&self.torque[i..])
    }

    #[inline(always)]
    fn changing<L: Lane>(&self, i: usize) -> Wrench<L> {
        self.point.changing(i)
    }

    #[inline(always)]
    fn set_shift<L: Lane>(&mut self, i: usize, shift: Wrench<L>) {
        self.point.set_shift(i, shift);
    }

    #[inline(always)]
    fn shift<L: Lane>(&self, i: usize) -> Wrench<L> {
        self.point.shift(i)
    }

    #[inline(always)]
    fn solve<L: Lane, const RELAX: bool>(
        &mut self,
        i: usize,
        features: u32,
        vel: &mut Velocities<L>,
        _: &Constants<'_>,
    ) {
        self.hold::<L, RELAX>(i, features, vel);
    }

    #[inline(always)]
    fn strike<L: Lane>(
        &mut self,
        i: usize,
        features: u32,
        vel: &mut Velocities<L>,
        constants: &Constants<'_>,
    ) -> Option<Blow<L>> {
        let (before, impulse): (Velocities<L>, [L; 2]) = (*vel, load2(&self.point.impulse, i));
        let torque = L::load(&self.torque[i..]);
        self.hold::<L, true>(i, features, vel);
        if features & feature::GIVES != 0 {
            return None;
        }
        let struck = self.point.is_struck(i, &before, constants.threshold);
        let change = self.point.take_back(i, struck, impulse);
        let now = L::load(&self.torque[i..]);
        L::select(struck, torque, now).store(&mut self.torque[i..]);
        Blow::of(struck, constants.strike, &before, vel, (change, now - torque))
    }
}
