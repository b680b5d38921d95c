//! The passes over blocks of joints, in lanes.
//!
//! ```text
//! Begin   at the start of a step: where the ends are; `accum` += Jᵀ·λ, the warm start
//! Solve   before positions move: errors are corrected softly
//! Turn    after they have moved: where the ends are now; then as Relax
//! Relax   motion is stopped, errors stay
//! Strike  a blow is passed on
//! ```
//!
//! The warm start of a later substep repeats what the velocities gained in the one before (`solver.rs`). That is exact for a contact,
//! whose normal and arms stay the same for a step. The axes and arms of a joint turn with its bodies. So `Turn` notes the difference,
//! (J' − J)ᵀ·λ, and the next `Solve` adds it first. The result is that of a warm start of each joint on its own, without the further pass
//! in each substep. (`Turn` could take it out of `accum` at once, but would have to gather and scatter those rows, too.)

//!
//! # Blows
//!
//! A contact that bounces stops its body, and the body behind it then strikes the joint between them. A joint that stopped this motion like any
//! other would take energy: of two joined bodies of equal mass that flew into a wall with a restitution of 1, one behind the
//! other, 1 % of the energy was left. So joints whose points meet faster than the threshold of restitution wait until the contacts
//! have bounced. Then joints and contacts take turns (`BLOWS` in `solver.rs`), as in a row of balls that touch: joints turn that speed round,
//! which costs no energy, and contacts that are struck again bounce again. At last the joints stop what is left. Nothing in this gains energy. A row
//! of bodies of equal mass leaves as one body would. Of two bodies of other masses a part of the energy is lost, up to two
//! thirds, because they seldom have the same speed after the last blow.
//!
//! What a joint does in a blow is no load: it stays out of the impulses and of the warm start, as for contacts. (Else the next warm start
//! throws the first body of a row at the wall again.)

use super::drive::{Motor, feature};
use super::ends::{Column, Ends, Geometry, load2, store2};
use crate::contacts::BLOCK;
use crate::lane::{Lane, Mask, Row, RowOffset, lane_entry};
use crate::solver::impulse::{Velocities, push};
use crate::solver::rows::Rows;
use bytemuck::Pod;
use std::sync::atomic::{AtomicBool, Ordering};

/// One pass over all joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointPass {
    Begin,
    Solve,
    /// A further iteration of `Solve`.
    SolveAgain,
    Turn,
    Relax,
    /// In place of `Turn` and `Relax` while a contact is in an impact: joints that are struck wait.
    TurnStruck,
    RelaxStruck,
    /// Joints that are struck turn the speed of their points round. The others relax.
    Strike,
    /// Joints that are struck stop it.
    Settle,
    /// Joints are left alone.
    Nothing,
}

impl JointPass {
    /// The pass in place of this one while a contact is in an impact.
    pub(crate) fn struck(self) -> JointPass {
        match self {
            JointPass::Turn => JointPass::TurnStruck,
            JointPass::Relax => JointPass::RelaxStruck,
            other => other,
        }
    }
}

pub(super) const BEGIN: usize = 0;
pub(super) const SOLVE: usize = 1;
pub(super) const TURN: usize = 2;
pub(super) const RELAX: usize = 3;
pub(super) const TURN_STRUCK: usize = 4;
pub(super) const STRIKE: usize = 5;

/// What all joints need to know of the step.
#[derive(Clone, Copy)]
pub(super) struct Constants<'a> {
    pub inv_step: f32,
    /// This substep's length over that of the last step: scales impulses.
    pub ratio: f32,
    /// The pass is the first one of its kind in the substep.
    pub first: bool,
    /// The factor on what stops the points of a joint that is struck: 0 to wait, 2 to turn their speed round, 1 to stop it.
    pub strike: f32,
    /// The least speed between its points at which a joint is struck, m/s.
    pub threshold: f32,
    /// Set if a joint is struck.
    pub struck: &'a AtomicBool,
}

/// The blow of joints that are struck.
pub(super) struct Blow<L: Lane> {
    /// The lanes that are struck.
    pub struck: L::Mask,
    /// The impulse on B, and the angular impulse.
    pub impulse: [L; 2],
    pub torque: L,
    /// What the bodies gain.
    pub gained: Velocities<L>,
}

impl<L: Lane> Blow<L> {
    /// The blow of the lanes that are struck, from velocities `before` and impulses that stop the points: `vel` becomes what the factor makes of
    /// it. `None` if no lane is struck.
    #[inline(always)]
    pub(super) fn of(
        struck: L::Mask,
        factor: f32,
        before: &Velocities<L>,
        vel: &mut Velocities<L>,
        ([x, y], torque): ([L; 2], L),
    ) -> Option<Blow<L>> {
        if struck.bits() == 0 {
            return None;
        }
        let (zero, factor) = (L::splat(0.0), L::splat(factor));
        let mut gained = Velocities { a: [zero; 4], b: [zero; 4] };
        for axis in 0..3 {
            gained.a[axis] = factor * (vel.a[axis] - before.a[axis]);
            gained.b[axis] = factor * (vel.b[axis] - before.b[axis]);
            vel.a[axis] = L::select(struck, before.a[axis] + gained.a[axis], vel.a[axis]);
            vel.b[axis] = L::select(struck, before.b[axis] + gained.b[axis], vel.b[axis]);
        }
        Some(Blow { struck, impulse: [factor * x, factor * y], torque: factor * torque, gained })
    }
}

/// What a joint does to its bodies: an impulse on B, and how much it turns A and B.
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

/// What joints do to their bodies in a substep: the impulse on B, and the angular impulse.
pub(super) type Impulse<L> = ([L; 2], L);

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
    /// Of the lanes from `i` on.
    fn impulse_on_b<L: Lane>(&self, i: usize) -> Impulse<L>;
    /// The largest impulse and angular impulse of a joint that may break, in a substep of this step.
    fn peaks(&self, lane: usize) -> [f32; 2];
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
        constants: &Constants<'_>,
    );
}

/// Sixteen joints between two bodies.
pub(super) trait TwoBodies: Pod {
    fn ends(&self) -> &Ends;
    fn ends_mut(&mut self) -> &mut Ends;
    /// The motor, if joints of this kind may have one.
    fn motor(&mut self) -> Option<&mut Motor>;
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
    /// The part of the wrench that changes as the bodies turn.
    fn changing<L: Lane>(&self, i: usize) -> Wrench<L>;
    /// Notes how much that part has changed in the last `Turn`.
    fn set_shift<L: Lane>(&mut self, i: usize, shift: Wrench<L>);
    fn shift<L: Lane>(&self, i: usize) -> Wrench<L>;
    /// Notes a blow.
    ///
    /// # Safety
    ///
    /// As for [`Block::visit`].
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn note_blow<L: Lane>(
        &mut self,
        i: usize,
        features: u32,
        rows: &Rows<'_>,
        blow: Option<Blow<L>>,
        constants: &Constants<'_>,
    ) {
        let Some(Blow { struck, impulse, torque, gained }) = blow else { return };
        constants.struck.store(true, Ordering::Relaxed);
        if features & feature::BREAKS != 0 {
            self.ends_mut().note_blow(i, struck, impulse, torque);
        }
        let [a, b] = self.ends().rows(i);
        // SAFETY: the caller guarantees that the rows exist and that no other thread has those of these ends.
        unsafe {
            rows.keep_from_warm_start(a, gained.a, struck);
            rows.keep_from_warm_start(b, gained.b, struck);
        }
    }
    /// The pass `BEGIN`: what the impulses of the last step do is what each substep begins with.
    ///
    /// # Safety
    ///
    /// As for [`Block::visit`].
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn begin_step<L: Lane>(
        &mut self,
        i: usize,
        features: u32,
        rows: &Rows<'_>,
        constants: &Constants<'_>,
        inv_mass: [L; 2],
    ) {
        // SAFETY: the caller guarantees that the rows exist and that no other thread has those of these ends.
        unsafe {
            let place: Velocities<L> = gather(rows.frame.as_ptr(), self.ends().places(i));
            let at = self.ends_mut().begin(i, place.a, place.b);
            self.begin(i, features, &at);
            if features & feature::BREAKS != 0 {
                self.ends_mut().clear_peaks::<L>(i);
            }
            if constants.ratio != 1.0 {
                self.scale(i, features, L::splat(constants.ratio));
            }
            let Wrench { force, turn }: Wrench<L> = self.wrench(i, features);
            let mut sum: Velocities<L> = gather(rows.accum.as_ptr(), self.ends().rows(i));
            let load = if rows.any_restitution { force[0].abs() + force[1].abs() } else { L::splat(0.0) };
            let loads = [sum.a[3] + load * inv_mass[0], sum.b[3] + load * inv_mass[1]];
            [sum.a[3], sum.b[3]] = inv_mass;
            push::<L, false>(&mut sum, force, turn);
            [sum.a[3], sum.b[3]] = loads;
            scatter(rows.accum.as_ptr(), self.ends().rows(i), sum);
        }
    }
    /// The sum of the angular impulses on B.
    fn torque<L: Lane>(&self, i: usize) -> L;
    /// Changes impulses and velocities. With `RELAX`, errors stay.
    fn solve<L: Lane, const RELAX: bool>(
        &mut self,
        i: usize,
        features: u32,
        vel: &mut Velocities<L>,
        constants: &Constants<'_>,
    );
    /// The same as `solve` with `RELAX`, for a world in which contacts are struck. Joints that are struck as well do what
    /// [`Constants::strike`] says.
    #[inline(always)]
    fn strike<L: Lane>(
        &mut self,
        i: usize,
        features: u32,
        vel: &mut Velocities<L>,
        constants: &Constants<'_>,
    ) -> Option<Blow<L>> {
        self.solve::<L, true>(i, features, vel, constants);
        None
    }
}

/// The largest of what a joint bore in the last substep and in those before.
pub(super) fn with_last([force, torque]: &[Column; 2], lane: usize, last: Impulse<f32>) -> [f32; 2] {
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
    // SAFETY: the caller guarantees that the rows exist and that no other thread writes them.
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
    // SAFETY: the caller guarantees that the rows exist and that no other thread reads or writes them.
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

    #[inline(always)]
    fn impulse_on_b<L: Lane>(&self, i: usize) -> Impulse<L> {
        (self.wrench::<L>(i, 0).force, self.torque::<L>(i))
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
        constants: &Constants<'_>,
    ) {
        debug_assert!(self.ends().rows(i).iter().all(|at| at[0].row() < rows.vel.len()));
        // SAFETY: the caller guarantees that the rows exist and that no other thread has those of these ends.
        unsafe {
            let mut vel: Velocities<L> = gather(rows.vel.as_ptr(), self.ends().rows(i));
            match PASS {
                BEGIN => {
                    // The inverse masses are in the velocity rows.
                    self.begin_step(i, features, rows, constants, [vel.a[3], vel.b[3]]);
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
                TURN | TURN_STRUCK => {
                    let before = self.changing::<L>(i);
                    let pose: Velocities<L> = gather(rows.pose.as_ptr(), self.ends().rows(i));
                    let at = self.ends().update(i, pose.a, pose.b);
                    self.update(i, features, &at);
                    let after = self.changing::<L>(i);
                    self.set_shift(i, after.less(&before));
                    if PASS == TURN_STRUCK {
                        let blow = self.strike(i, features, &mut vel, constants);
                        self.note_blow(i, features, rows, blow, constants);
                    } else {
                        self.solve::<L, true>(i, features, &mut vel, constants);
                    }
                }
                STRIKE => {
                    let blow = self.strike(i, features, &mut vel, constants);
                    self.note_blow(i, features, rows, blow, constants);
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
        constants: &Constants<'_>,
    ) = sweep_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn sweep_lanes<L: Lane, B: Block, const PASS: usize>(
    blocks: &mut [B],
    features: &[u32],
    used: usize,
    rows: &Rows<'_>,
    constants: &Constants<'_>,
) {
    for (index, (block, &features)) in blocks.iter_mut().zip(features).enumerate() {
        let count = used.saturating_sub(index * BLOCK).min(BLOCK);
        for vector in 0..count.div_ceil(L::WIDTH) {
            // The mask changes nothing, but tells the compiler that no load reaches beyond the block.
            let i = (vector * L::WIDTH) & (BLOCK - L::WIDTH);
            // SAFETY: the caller guarantees that the rows exist, that no other thread has those of the ends, and that lanes share none of
            // them.
            unsafe { block.visit::<L, PASS>(i, features, rows, constants) };
        }
    }
}
