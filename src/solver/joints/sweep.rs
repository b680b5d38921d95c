//! The passes over blocks of joints, in lanes.
//!
//! ```text
//! Begin   at the start of a step: where the ends are; `accum` += Jᵀ·λ, the warm start
//! Solve   before positions move: errors are corrected softly
//! Turn    after they have moved: where the ends are now; then as Relax
//! Relax   motion is stopped, errors stay
//! ```
//!
//! The warm start of a later substep repeats what the velocities gained in the one before (`solver.rs`). For a contact that is right
//! as it is: its normal and arms keep for a step. Those of a joint turn with its bodies. So `Turn` notes the difference, (J' − J)ᵀ·λ, and
//! the next `Solve` adds it before it does anything else: as if each joint were warm started on its own, which would be one more pass
//! in each substep. (`Turn` could take it out of `accum` at once, but would have to gather and scatter those rows, too.)

use super::drive::{Motor, feature};
use super::ends::{Column, Ends, Geometry, load2, store2};
use crate::contacts::BLOCK;
use crate::lane::{Lane, Row, RowOffset, lane_entry};
use crate::solver::impulse::Velocities;
use crate::solver::manifold::push;
use crate::solver::rows::Rows;
use bytemuck::Pod;

/// One pass over all joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointPass {
    Begin,
    Solve,
    /// A further iteration of `Solve`.
    SolveAgain,
    Turn,
    Relax,
    /// Joints are left alone.
    Nothing,
}

pub(super) const BEGIN: usize = 0;
pub(super) const SOLVE: usize = 1;
pub(super) const TURN: usize = 2;
pub(super) const RELAX: usize = 3;

/// What all joints need to know of the step.
#[derive(Clone, Copy)]
pub(super) struct Constants {
    pub inv_step: f32,
    /// This substep's length over that of the last step: scales impulses.
    pub ratio: f32,
    /// The pass is the first one of its kind in the substep.
    pub first: bool,
}

/// What a joint does to its bodies: an impulse on B, and by how much it turns A and B.
pub(super) struct Wrench<L> {
    pub force: [L; 2],
    pub turn: [L; 2],
}

impl<L: Lane> Wrench<L> {
    #[inline(always)]
    fn less(&self, other: &Wrench<L>) -> Wrench<L> {
        let ([x, y], [a, b]) = (self.force, self.turn);
        let ([other_x, other_y], [other_a, other_b]) = (other.force, other.turn);
        Wrench { force: [x - other_x, y - other_y], turn: [a - other_a, b - other_b] }
    }
}

/// Loads a wrench from columns.
#[inline(always)]
pub(super) fn load_wrench<L: Lane>([force, turn]: &[[Column; 2]; 2], i: usize) -> Wrench<L> {
    Wrench { force: load2(force, i), turn: load2(turn, i) }
}

/// Stores a wrench into columns.
#[inline(always)]
pub(super) fn store_wrench<L: Lane>([force, turn]: &mut [[Column; 2]; 2], i: usize, wrench: Wrench<L>) {
    store2(force, i, wrench.force);
    store2(turn, i, wrench.turn);
}

/// What a joint does to its bodies in a substep: the impulse on B, and the angular impulse.
pub(super) type Impulse = ([f32; 2], f32);

/// Sixteen joints of a kind. Its columns are all of four bytes a lane.
pub(super) trait Block: Pod {
    /// The number of motions, of two bodies each.
    const MOTIONS: usize;
    /// The ends of a motion.
    fn ends_of(&mut self, motion: usize) -> &mut Ends;
    /// Notes what the angles of the bodies are at the start of the step: see [`TwoBodies::set_start_angle`]; the part of a gear's error
    /// that comes from angles.
    fn note_angle(&mut self, lane: usize, angle: f64, wrapped: bool);
    /// The motor, if joints of this kind may have one.
    fn any_motor(&mut self) -> Option<&mut Motor>;
    fn impulse_on_b(&self, lane: usize) -> Impulse;
    /// The largest impulse and angular impulse of a joint that may break, in a substep of this step.
    fn peaks(&self, lane: usize) -> [f32; 2];
    /// Notes how many joints the bodies of a joint have: see [`TwoBodies::set_counts`].
    fn note_counts(&mut self, _lane: usize, _counts: [u32; 2]) {}
    /// Does a pass over the lanes from `i` on.
    ///
    /// # Safety
    ///
    /// The rows that the block names exist. No other thread has those of its ends.
    #[allow(unsafe_code)]
    unsafe fn visit<L: Lane, const PASS: usize>(
        &mut self,
        i: usize,
        features: u32,
        rows: &Rows<'_>,
        constants: &Constants,
    );
}

/// Sixteen joints between two bodies.
pub(super) trait TwoBodies: Pod {
    fn ends(&self) -> &Ends;
    fn ends_mut(&mut self) -> &mut Ends;
    /// The motor, if joints of this kind may have one.
    fn motor(&mut self) -> Option<&mut Motor>;
    /// Notes how many joints the bodies have that impulses move; 0 for others.
    fn set_counts(&mut self, _lane: usize, _counts: [u32; 2]) {}
    /// Notes the angle between the frames at the start of the step: as it is, or, for a joint that holds it, without whole turns.
    fn set_start_angle(&mut self, lane: usize, angle: f64, wrapped: bool);
    /// Notes where the ends are at the start of the step.
    fn begin<L: Lane>(&mut self, i: usize, features: u32, at: &Geometry<L>);
    /// Notes where the ends are now.
    fn update<L: Lane>(&mut self, i: usize, features: u32, at: &Geometry<L>);
    /// Multiplies all impulses.
    fn scale<L: Lane>(&mut self, i: usize, features: u32, ratio: L);
    /// What all impulses together do, where the ends are now.
    fn wrench<L: Lane>(&self, i: usize, features: u32) -> Wrench<L>;
    /// The part of it that changes as the bodies turn.
    fn changing<L: Lane>(&self, i: usize) -> Wrench<L>;
    /// By how much that has changed in the last `Turn`.
    fn set_shift<L: Lane>(&mut self, i: usize, shift: Wrench<L>);
    fn shift<L: Lane>(&self, i: usize) -> Wrench<L>;
    /// The sum of the angular impulses on B.
    fn torque<L: Lane>(&self, i: usize) -> L;
    /// Changes impulses and velocities. With `RELAX`, errors stay.
    fn solve<L: Lane, const RELAX: bool>(
        &mut self,
        i: usize,
        features: u32,
        vel: &mut Velocities<L>,
        constants: &Constants,
    );
}

/// The largest of what a joint bore in the last substep and in those before.
pub(super) fn with_last([force, torque]: &[Column; 2], lane: usize, last: Impulse) -> [f32; 2] {
    let ([x, y], turn) = last;
    [force[lane].max((x * x + y * y).sqrt()), torque[lane].max(turn.abs())]
}

/// Loads the rows of A and B.
///
/// # Safety
///
/// The rows exist, and no other thread writes them.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn gather<L: Lane>(rows: *const Row, [a, b]: [&[RowOffset]; 2]) -> Velocities<L> {
    // SAFETY: the caller guarantees it.
    unsafe { Velocities { a: L::gather(rows, a), b: L::gather(rows, b) } }
}

/// Stores the rows of A and B.
///
/// # Safety
///
/// The rows exist, and no other thread has them.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn scatter<L: Lane>(rows: *mut Row, [a, b]: [&[RowOffset]; 2], values: Velocities<L>) {
    // SAFETY: the caller guarantees it.
    unsafe {
        L::scatter(rows, a, values.a);
        L::scatter(rows, b, values.b);
    }
}

impl<B: TwoBodies> Block for B {
    const MOTIONS: usize = 1;

    fn ends_of(&mut self, _: usize) -> &mut Ends {
        self.ends_mut()
    }

    fn note_angle(&mut self, lane: usize, angle: f64, wrapped: bool) {
        self.set_start_angle(lane, angle, wrapped);
    }

    fn any_motor(&mut self) -> Option<&mut Motor> {
        self.motor()
    }

    fn note_counts(&mut self, lane: usize, counts: [u32; 2]) {
        self.set_counts(lane, counts);
    }

    fn impulse_on_b(&self, lane: usize) -> Impulse {
        (self.wrench::<f32>(lane, 0).force, self.torque::<f32>(lane))
    }

    fn peaks(&self, lane: usize) -> [f32; 2] {
        with_last(&self.ends().peaks, lane, self.impulse_on_b(lane))
    }

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn visit<L: Lane, const PASS: usize>(
        &mut self,
        i: usize,
        features: u32,
        rows: &Rows<'_>,
        constants: &Constants,
    ) {
        let zero = L::splat(0.0);
        debug_assert!(self.ends().rows(i).iter().all(|at| at[0].row() < rows.vel.len()));
        // SAFETY: the caller guarantees that the rows exist and that no other thread has those of these ends.
        unsafe {
            let mut vel: Velocities<L> = gather(rows.vel.as_ptr(), self.ends().rows(i));
            match PASS {
                BEGIN => {
                    let place: Velocities<L> = gather(rows.frame.as_ptr(), self.ends().places(i));
                    let at = self.ends_mut().begin(i, place.a, place.b);
                    self.begin(i, features, &at);
                    if features & feature::BREAKS != 0 {
                        self.ends_mut().clear_peaks::<L>(i);
                    }
                    if constants.ratio != 1.0 {
                        self.scale(i, features, L::splat(constants.ratio));
                    }
                    let Wrench { force, turn } = self.wrench(i, features);
                    let mut sum: Velocities<L> = gather(rows.accum.as_ptr(), self.ends().rows(i));
                    // The inverse masses are in the velocity rows.
                    (sum.a[3], sum.b[3]) = (vel.a[3], vel.b[3]);
                    push::<L, false>(&mut sum, force, turn);
                    (sum.a[3], sum.b[3]) = (zero, zero);
                    scatter(rows.accum.as_ptr(), self.ends().rows(i), sum);
                    return;
                }
                SOLVE => {
                    if constants.first {
                        if features & feature::BREAKS != 0 {
                            let (force, torque) = (self.wrench::<L>(i, features).force, self.torque::<L>(i));
                            self.ends_mut().note_peaks(i, force, torque);
                        }
                        let Wrench { force, turn } = self.shift(i);
                        push::<L, false>(&mut vel, force, turn);
                    }
                    self.solve::<L, false>(i, features, &mut vel, constants);
                }
                TURN => {
                    let before = self.changing::<L>(i);
                    let pose: Velocities<L> = gather(rows.pose.as_ptr(), self.ends().rows(i));
                    let at = self.ends().update(i, pose.a, pose.b);
                    self.update(i, features, &at);
                    let after = self.changing::<L>(i);
                    self.set_shift(i, after.less(&before));
                    self.solve::<L, true>(i, features, &mut vel, constants);
                }
                _ => self.solve::<L, true>(i, features, &mut vel, constants),
            }
            scatter(rows.vel.as_ptr(), self.ends().rows(i), vel);
        }
    }
}

lane_entry! {
    /// Does a pass over blocks of which `used` lanes are in use: the first ones.
    ///
    /// # Safety
    ///
    /// The rows that the blocks name exist, and no other thread has those of their ends. The lanes of a block share no row, unless
    /// `L` is one lane wide.
    pub(super) unsafe fn sweep[B: Block, const PASS: usize][B, PASS](
        blocks: &mut [B],
        features: &[u32],
        used: usize,
        rows: &Rows<'_>,
        constants: &Constants,
    ) = sweep_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn sweep_lanes<L: Lane, B: Block, const PASS: usize>(
    blocks: &mut [B],
    features: &[u32],
    used: usize,
    rows: &Rows<'_>,
    constants: &Constants,
) {
    for (index, (block, &features)) in blocks.iter_mut().zip(features).enumerate() {
        let count = used.saturating_sub(index * BLOCK).min(BLOCK);
        for vector in 0..count.div_ceil(L::WIDTH) {
            // No more than that already; so the compiler knows that no load reaches beyond the block.
            let i = (vector * L::WIDTH) & (BLOCK - L::WIDTH);
            // SAFETY: the caller guarantees it.
            unsafe { block.visit::<L, PASS>(i, features, rows, constants) };
        }
    }
}
