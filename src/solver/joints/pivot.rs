//! Joints that hold two points together: revolute, motor, target. What is free, or held softly, is the angle.

use super::drive::{About, Drive, Motor, Soft, bounded, feature, inverse, scale_column};
use super::ends::{Column, Ends, Geometry, cross, load2, store2, turned};
use super::point::Held;
use super::sweep::{Blow, Constants, TwoBodies, Wrench};
use crate::geometry::trig::wrap;
use crate::lane::Lane;
use crate::solver::impulse::{Velocities, push};
use bytemuck::{Pod, Zeroable};

/// Sixteen joints that hold two points together.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct PivotBlock {
    pub point: Held,
    pub soft: Soft,
    pub ends: Ends,
    /// The wanted velocity of B's point against A's: in A's own axes, and now.
    pub local_speed: [Column; 2],
    pub speed: [Column; 2],
    /// The same at the start of the step.
    pub start_speed: [Column; 2],
    /// The largest impulse in a substep.
    pub most: Column,
    /// The angle at the start of the step.
    pub start_angle: Column,
    /// The angle, and what drives it.
    pub drive: Drive,
}

impl PivotBlock {
    /// Holds the points together, in both directions at once.
    ///
    /// The effective mass is the inverse of K, where K/M (M is the sum of the inverse masses) has the determinant
    /// 1 + α + β + 4·w_A·w_B·(a × b)²: a sum of squares, so that nothing cancels out at any ratio of masses.
    #[inline(always)]
    fn hold<L: Lane, const RELAX: bool>(&mut self, i: usize, features: u32, vel: &mut Velocities<L>) {
        let (one, two) = (L::splat(1.0), L::splat(2.0));
        let [a, b] = self.point.turns::<L>(i);
        let inv_sum = inverse(vel.a[3] + vel.b[3]);
        let (part_a, part_b) = (vel.a[3] * inv_sum, vel.b[3] * inv_sum);
        let alpha = two * (part_a * (a[0] * a[0]) + part_b * (b[0] * b[0]));
        let beta = two * (part_a * (a[1] * a[1]) + part_b * (b[1] * b[1]));
        let mixed = two * (part_a * (a[0] * a[1]) + part_b * (b[0] * b[1]));
        let area = two * cross(a, b);
        let determinant = one + alpha + beta + part_a * part_b * (area * area);
        let mass = inv_sum / determinant;

        let mut speed = Held::speed([a, b], vel);
        if features & feature::DRIVEN != 0 {
            let wanted: [L; 2] = load2(&self.speed, i);
            speed = [speed[0] - wanted[0], speed[1] - wanted[1]];
        }
        let [rate, mass_scale, impulse_scale] = self.soft.load::<L, RELAX>(i, features & feature::GIVES != 0);
        let error: [L; 2] = load2(&self.point.error, i);
        let [x, y] = [speed[0] + rate * error[0], speed[1] + rate * error[1]];
        let mass = mass * mass_scale;
        let old: [L; 2] = load2(&self.point.impulse, i);
        let mut new = [
            old[0] - mass * ((one + beta) * x - mixed * y) - impulse_scale * old[0],
            old[1] - mass * ((one + alpha) * y - mixed * x) - impulse_scale * old[1],
        ];
        if features & feature::DRIVEN != 0 {
            new = bounded(new, L::load(&self.most[i..]));
        }
        store2(&mut self.point.impulse, i, new);
        let change = [new[0] - old[0], new[1] - old[1]];
        let turn = [change[0] * a[0] + change[1] * a[1], change[0] * b[0] + change[1] * b[1]];
        push::<L, false>(vel, change, turn);
    }
}

impl PivotBlock {
    /// Solves what drives the angle, and its limits.
    #[inline(always)]
    fn drive_angle<L: Lane, const RELAX: bool>(
        &mut self,
        i: usize,
        features: u32,
        vel: &mut Velocities<L>,
        constants: &Constants<'_>,
    ) {
        if features & feature::TORQUE != 0 {
            let about = About { inv_spin: load2(&self.ends.inv_spin, i) };
            // The limits are as stiff as the points are held.
            let stiffness = self.soft.load::<L, RELAX>(i, features & feature::GIVES != 0);
            self.drive.solve::<L, _, RELAX>(i, features, stiffness, &about, vel, constants.inv_step);
        }
    }
}

impl TwoBodies for PivotBlock {
    fn ends(&self) -> &Ends {
        &self.ends
    }

    fn ends_mut(&mut self) -> &mut Ends {
        &mut self.ends
    }

    fn motor(&mut self) -> Option<&mut Motor> {
        Some(&mut self.drive.motor)
    }

    fn set_start_angle(&mut self, lane: usize, angle: f64, wrapped: bool) {
        let target = self.drive.target[lane];
        self.start_angle[lane] =
            if wrapped { wrap(angle - f64::from(target)).0 + target } else { angle as f32 };
    }

    #[inline(always)]
    fn begin<L: Lane>(&mut self, i: usize, features: u32, at: &Geometry<L>) {
        self.point.begin(i, at);
        if features & feature::ANGLE != 0 {
            L::load(&self.start_angle[i..]).store(&mut self.drive.value[i..]);
        }
        if features & feature::DRIVEN != 0 {
            let speed = turned(at.turn_a, load2(&self.local_speed, i));
            store2(&mut self.start_speed, i, speed);
            store2(&mut self.speed, i, speed);
        }
    }

    #[inline(always)]
    fn update<L: Lane>(&mut self, i: usize, features: u32, at: &Geometry<L>) {
        self.point.place(i, at);
        if features & feature::ANGLE != 0 {
            (L::load(&self.start_angle[i..]) + at.angle).store(&mut self.drive.value[i..]);
        }
        if features & feature::DRIVEN != 0 {
            let speed = turned(at.turn_a, load2(&self.start_speed, i));
            store2(&mut self.speed, i, speed);
        }
    }

    #[inline(always)]
    fn scale<L: Lane>(&mut self, i: usize, features: u32, ratio: L) {
        self.point.impulse.iter_mut().for_each(|column| scale_column(column, i, ratio));
        if features & feature::TORQUE != 0 {
            self.drive.scale(i, ratio);
        }
    }

    #[inline(always)]
    fn wrench<L: Lane>(&self, i: usize, features: u32) -> Wrench<L> {
        if features & feature::TORQUE != 0 {
            return self.point.wrench(i, self.torque(i), load2(&self.ends.inv_spin, i));
        }
        Wrench { force: load2(&self.point.impulse, i), turn: self.point.turn(i) }
    }

    #[inline(always)]
    fn torque<L: Lane>(&self, i: usize) -> L {
        self.drive.impulse(i)
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
        constants: &Constants<'_>,
    ) {
        self.drive_angle::<L, RELAX>(i, features, vel, constants);
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
        self.drive_angle::<L, true>(i, features, vel, constants);
        let (before, impulse): (Velocities<L>, [L; 2]) = (*vel, load2(&self.point.impulse, i));
        self.hold::<L, true>(i, features, vel);
        if features & (feature::DRIVEN | feature::GIVES) != 0 {
            return None;
        }
        let struck = self.point.is_struck(i, &before, constants.threshold);
        let change = self.point.take_back(i, struck, impulse);
        Blow::of(struck, constants.strike, &before, vel, (change, L::splat(0.0)))
    }
}
