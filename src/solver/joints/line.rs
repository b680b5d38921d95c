//! Joints that hold two points at a distance.

use super::drive::{Along, Drive, Motor, Soft};
use super::ends::{Column, Ends, Geometry, cross, load2, store2};
use super::sweep::{Constants, TwoBodies, Wrench, load_wrench, store_wrench};
use crate::lane::Lane;
use crate::solver::impulse::Velocities;
use bytemuck::{Pod, Zeroable};

/// Points closer than this have no direction, m: the joint then acts along the world's x axis.
const LEAST_LENGTH: f32 = 1.0e-6;

/// Sixteen distance joints. A rigid rod is a spring that is as stiff as the joint, and gives nothing away while motion is stopped.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct LineBlock {
    /// From A's point to B's, of length 1.
    pub axis: [Column; 2],
    /// How much a unit impulse along the axis turns A and B.
    pub along: [Column; 2],
    /// The stiffness of the limits.
    pub soft: Soft,
    /// The change of what the impulses do to A and B, since the bodies have moved.
    pub shift: [[Column; 2]; 2],
    pub ends: Ends,
    /// The length, and what drives it.
    pub drive: Drive,
}

impl LineBlock {
    #[inline(always)]
    fn place<L: Lane>(&mut self, i: usize, at: &Geometry<L>) {
        let [x, y] = at.gap;
        let length = (x * x + y * y).sqrt();
        let has_direction = length.gt(L::splat(LEAST_LENGTH));
        let inv_length = L::splat(1.0) / length.max(L::splat(LEAST_LENGTH));
        let axis = [
            L::select(has_direction, x * inv_length, L::splat(1.0)),
            L::select(has_direction, y * inv_length, L::splat(0.0)),
        ];
        store2(&mut self.axis, i, axis);
        let along = [cross(at.arm[0], axis) * at.inv_spin[0], cross(at.arm[1], axis) * at.inv_spin[1]];
        store2(&mut self.along, i, along);
        length.store(&mut self.drive.value[i..]);
    }
}

impl TwoBodies for LineBlock {
    fn ends(&self) -> &Ends {
        &self.ends
    }

    fn ends_mut(&mut self) -> &mut Ends {
        &mut self.ends
    }

    fn motor(&mut self) -> Option<&mut Motor> {
        Some(&mut self.drive.motor)
    }

    fn set_start_angle(&mut self, _: usize, _: f64, _: bool) {}

    #[inline(always)]
    fn begin<L: Lane>(&mut self, i: usize, _: u32, at: &Geometry<L>) {
        self.place(i, at);
        self.shift.iter_mut().for_each(|shift| store2(shift, i, [L::splat(0.0); 2]));
    }

    #[inline(always)]
    fn update<L: Lane>(&mut self, i: usize, _: u32, at: &Geometry<L>) {
        self.place(i, at);
    }

    #[inline(always)]
    fn scale<L: Lane>(&mut self, i: usize, _: u32, ratio: L) {
        self.drive.scale(i, ratio);
    }

    #[inline(always)]
    fn wrench<L: Lane>(&self, i: usize, _: u32) -> Wrench<L> {
        let impulse = self.drive.impulse::<L>(i);
        let (axis, along): ([L; 2], [L; 2]) = (load2(&self.axis, i), load2(&self.along, i));
        Wrench {
            force: [axis[0] * impulse, axis[1] * impulse],
            turn: [along[0] * impulse, along[1] * impulse],
        }
    }

    #[inline(always)]
    fn torque<L: Lane>(&self, _: usize) -> L {
        L::splat(0.0)
    }

    #[inline(always)]
    fn changing<L: Lane>(&self, i: usize) -> Wrench<L> {
        self.wrench(i, 0)
    }

    #[inline(always)]
    fn set_shift<L: Lane>(&mut self, i: usize, shift: Wrench<L>) {
        store_wrench(&mut self.shift, i, shift);
    }

    #[inline(always)]
    fn shift<L: Lane>(&self, i: usize) -> Wrench<L> {
        load_wrench(&self.shift, i)
    }

    #[inline(always)]
    fn solve<L: Lane, const RELAX: bool>(
        &mut self,
        i: usize,
        features: u32,
        vel: &mut Velocities<L>,
        constants: &Constants<'_>,
    ) {
        let along = Along { direction: load2(&self.axis, i), arms: load2(&self.along, i) };
        let stiffness = self.soft.load::<L, RELAX>(i, false);
        self.drive.solve::<L, _, RELAX>(i, features, stiffness, &along, vel, constants.inv_step);
    }
}
