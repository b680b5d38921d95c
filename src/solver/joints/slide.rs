//! Joints that hold a point of B on an axis of A: prismatic joints, which hold the angle too, and wheels. What is free is the way
//! along the axis.

use super::drive::{About, Along, Coordinate, Drive, Motor, Soft, feature, inverse, scale_column};
use super::ends::{Column, Ends, Geometry, cross, load2, store2, turned};
use super::sweep::{Constants, TwoBodies, Wrench, load_wrench, store_wrench};
use crate::formula::soft_change;
use crate::geometry::trig::wrap;
use crate::lane::{Lane, pair};
use crate::solver::impulse::Velocities;
use bytemuck::{Pod, Zeroable};

/// A slider's angle that is further off, rad, is corrected as if it were off by this. Each correction is a straight line, and at the end of a long arm that
/// leads far away: what is 3 m from the centre of a box of 0.6 m, and turned by 1.28 rad, was thrown to 6·10⁶ m/s, as were 63 of 1,200 sliders with
/// limits that were put together off their place. None is with 0.5, 0.25 and 0.1.
const MOST_TURN: f32 = 0.25;

/// Sixteen joints that hold a point of B on an axis of A: prismatic joints, or wheels.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct SlideBlock {
    /// The axis now.
    pub axis: [Column; 2],
    /// How much unit impulses along the axis, and across it, turn A and B.
    pub along: [Column; 2],
    pub across: [Column; 2],
    /// How far B's point is off the axis, and B's angle off A's.
    pub off: Column,
    pub angle: Column,
    pub start_angle: Column,
    pub across_impulse: Column,
    pub turn_impulse: Column,
    pub soft: Soft,
    /// The change of what the impulses do to A and B, since the bodies have moved.
    pub shift: [[Column; 2]; 2],
    pub ends: Ends,
    /// The axis in A's own axes, and in the world's at the start of the step.
    pub local_axis: [Column; 2],
    pub start_axis: [Column; 2],
    /// The motor of a wheel.
    pub turn_motor: Motor,
    /// The way along the axis, and what drives it.
    pub drive: Drive,
}

/// How much a unit impulse on B's point in this direction turns A and B.
#[inline(always)]
fn arms<L: Lane>(far: [L; 2], direction: [L; 2], at: &Geometry<L>) -> [L; 2] {
    [cross(far, direction) * at.inv_spin[0], cross(at.arm[1], direction) * at.inv_spin[1]]
}

impl SlideBlock {
    /// Notes axis, arms and errors where the ends are now.
    #[inline(always)]
    fn place<L: Lane>(&mut self, i: usize, axis: [L; 2], angle: L, at: &Geometry<L>) {
        let across = [-axis[1], axis[0]];
        // A feels the forces at B's point: they act at a distance from its centre.
        let far = [at.gap[0] + at.arm[0][0], at.gap[1] + at.arm[0][1]];
        store2(&mut self.axis, i, axis);
        store2(&mut self.along, i, arms(far, axis, at));
        store2(&mut self.across, i, arms(far, across, at));
        (at.gap[0] * axis[0] + at.gap[1] * axis[1]).store(&mut self.drive.value[i..]);
        (at.gap[0] * across[0] + at.gap[1] * across[1]).store(&mut self.off[i..]);
        angle.store(&mut self.angle[i..]);
    }

    #[inline(always)]
    fn solve_slide<L: Lane, const RELAX: bool, const WHEEL: bool>(
        &mut self,
        i: usize,
        features: u32,
        vel: &mut Velocities<L>,
        constants: &Constants<'_>,
    ) {
        let axis: [L; 2] = load2(&self.axis, i);
        let along = Along { direction: axis, arms: load2(&self.along, i) };
        let across = Along { direction: [-axis[1], axis[0]], arms: load2(&self.across, i) };
        let about = About { inv_spin: load2(&self.ends.inv_spin, i) };
        let stiffness = self.soft.load::<L, RELAX>(i, false);
        if WHEEL && features & feature::TURN_MOTOR != 0 {
            let mass = inverse(about.inv_mass(vel));
            let speed = L::load(&self.turn_motor.speed[i..]);
            self.turn_motor.solve(i, speed, &about, mass, vel);
        }
        self.drive.solve::<L, _, RELAX>(i, features, stiffness, &along, vel, constants.inv_step);
        if WHEEL {
            let mass = inverse(across.inv_mass(vel));
            let old = L::load(&self.across_impulse[i..]);
            let change = soft_change(old, mass, across.speed(vel), L::load(&self.off[i..]), stiffness);
            (old + change).store(&mut self.across_impulse[i..]);
            across.push(vel, change);
        } else {
            self.hold::<L>(i, &across, &about, stiffness, vel);
        }
    }

    /// Holds the distance from the axis and the angle at once. The torque is eliminated first: what is left for the force is a sum of squares, as in
    /// `PivotBlock::hold`, and its speed is that of the axis where the torque alone would not move it.
    #[inline(always)]
    fn hold<L: Lane>(
        &mut self,
        i: usize,
        across: &Along<L>,
        about: &About<L>,
        [rate, mass_scale, impulse_scale]: [L; 3],
        vel: &mut Velocities<L>,
    ) {
        let (one, two) = (L::splat(1.0), L::splat(2.0));
        let ([a, b], [spin_a, spin_b]) = (across.arms, about.inv_spin);
        let inv_sum = inverse(vel.a[3] + vel.b[3]);
        let (part_a, part_b) = (vel.a[3] * inv_sum, vel.b[3] * inv_sum);
        // If neither body turns, there is no angle to hold, and this is 0.
        let per_turning = inverse(two * (part_a * (spin_a * spin_a) + part_b * (spin_b * spin_b)));
        let lever = per_turning * (two * (part_a * (a * spin_a) + part_b * (b * spin_b)));
        let area = two * (a * spin_b - b * spin_a);
        let straight = one + part_a * part_b * (area * area) * per_turning;

        let x = across.speed(vel) + rate * L::load(&self.off[i..]);
        let most = L::splat(MOST_TURN);
        let angle = L::load(&self.angle[i..]).min(most).max(L::splat(0.0) - most);
        let y = about.speed(vel) + rate * angle;
        let mass = mass_scale * inv_sum;
        let force = (x - lever * y) / straight;
        let torque = per_turning * y - lever * force;
        let (old_force, old_torque) = (L::load(&self.across_impulse[i..]), L::load(&self.turn_impulse[i..]));
        let change_force = -(mass * force) - impulse_scale * old_force;
        let change_torque = -(mass * torque) - impulse_scale * old_torque;
        (old_force + change_force).store(&mut self.across_impulse[i..]);
        (old_torque + change_torque).store(&mut self.turn_impulse[i..]);
        across.push(vel, change_force);
        about.push(vel, change_torque);
    }
}

impl SlideBlock {
    #[inline(always)]
    fn begin_slide<L: Lane>(&mut self, i: usize, at: &Geometry<L>) {
        let axis = turned(at.turn_a, load2(&self.local_axis, i));
        store2(&mut self.start_axis, i, axis);
        self.shift.iter_mut().for_each(|shift| store2(shift, i, [L::splat(0.0); 2]));
        let angle = L::load(&self.start_angle[i..]);
        self.place(i, axis, angle, at);
    }

    #[inline(always)]
    fn update_slide<L: Lane>(&mut self, i: usize, at: &Geometry<L>) {
        let axis = turned(at.turn_a, load2(&self.start_axis, i));
        let angle = L::load(&self.start_angle[i..]) + at.angle;
        self.place(i, axis, angle, at);
    }

    #[inline(always)]
    fn scale_slide<L: Lane>(&mut self, i: usize, ratio: L) {
        for column in [&mut self.across_impulse, &mut self.turn_impulse, &mut self.turn_motor.impulse] {
            scale_column(column, i, ratio);
        }
        self.drive.scale(i, ratio);
    }

    #[inline(always)]
    fn wrench_of_slide<L: Lane>(&self, i: usize) -> Wrench<L> {
        let Wrench { force, turn } = self.force_of_slide::<L>(i);
        let inv_spin: [L; 2] = load2(&self.ends.inv_spin, i);
        let torque = self.torque_of_slide::<L>(i);
        Wrench { force, turn: [turn[0] + torque * inv_spin[0], turn[1] + torque * inv_spin[1]] }
    }

    /// What the impulses along and across the axis do.
    #[inline(always)]
    fn force_of_slide<L: Lane>(&self, i: usize) -> Wrench<L> {
        let axis: [L; 2] = load2(&self.axis, i);
        let (along, across) = (self.drive.impulse::<L>(i), L::load(&self.across_impulse[i..]));
        let (arms_along, arms_across): ([L; 2], [L; 2]) = (load2(&self.along, i), load2(&self.across, i));
        let turn = pair!(end => along * arms_along[end] + across * arms_across[end]);
        let force = [axis[0] * along - axis[1] * across, axis[1] * along + axis[0] * across];
        Wrench { force, turn }
    }

    #[inline(always)]
    fn torque_of_slide<L: Lane>(&self, i: usize) -> L {
        L::load(&self.turn_impulse[i..]) + L::load(&self.turn_motor.impulse[i..])
    }
}

/// Sixteen wheels.
#[repr(transparent)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct WheelBlock(pub SlideBlock);

macro_rules! slides {
    ($($block:ident, $slide:ident => $inner:expr, $wheel:literal;)*) => {
        $(impl TwoBodies for $block {
            fn ends(&self) -> &Ends {
                let $slide = self;
                &$inner.ends
            }

            fn ends_mut(&mut self) -> &mut Ends {
                let $slide = self;
                &mut $inner.ends
            }

            fn motor(&mut self) -> Option<&mut Motor> {
                let $slide = self;
                Some(if $wheel { &mut $inner.turn_motor } else { &mut $inner.drive.motor })
            }

            fn set_start_angle(&mut self, lane: usize, angle: f64, _: bool) {
                let $slide = self;
                $inner.start_angle[lane] = wrap(angle).0;
            }

            #[inline(always)]
            fn begin<L: Lane>(&mut self, i: usize, _: u32, at: &Geometry<L>) {
                let $slide = self;
                $inner.begin_slide(i, at);
            }

            #[inline(always)]
            fn update<L: Lane>(&mut self, i: usize, _: u32, at: &Geometry<L>) {
                let $slide = self;
                $inner.update_slide(i, at);
            }

            #[inline(always)]
            fn scale<L: Lane>(&mut self, i: usize, _: u32, ratio: L) {
                let $slide = self;
                $inner.scale_slide(i, ratio);
            }

            #[inline(always)]
            fn wrench<L: Lane>(&self, i: usize, _: u32) -> Wrench<L> {
                let $slide = self;
                $inner.wrench_of_slide(i)
            }

            #[inline(always)]
            fn torque<L: Lane>(&self, i: usize) -> L {
                let $slide = self;
                $inner.torque_of_slide(i)
            }

            #[inline(always)]
            fn changing<L: Lane>(&self, i: usize) -> Wrench<L> {
                let $slide = self;
                $inner.force_of_slide(i)
            }

            #[inline(always)]
            fn set_shift<L: Lane>(&mut self, i: usize, shift: Wrench<L>) {
                let $slide = self;
                store_wrench(&mut $inner.shift, i, shift);
            }

            #[inline(always)]
            fn shift<L: Lane>(&self, i: usize) -> Wrench<L> {
                let $slide = self;
                load_wrench(&$inner.shift, i)
            }

            #[inline(always)]
            fn solve<L: Lane, const RELAX: bool>(
                &mut self,
                i: usize,
                features: u32,
                vel: &mut Velocities<L>,
                constants: &Constants<'_>,
            ) {
                let $slide = self;
                $inner.solve_slide::<L, RELAX, $wheel>(i, features, vel, constants);
            }
        })*
    };
}
slides! {
    SlideBlock, block => block, false;
    WheelBlock, block => block.0, true;
}
