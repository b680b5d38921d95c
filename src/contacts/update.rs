//! The contacts' part of a step: finds candidates that have come near, then updates normals, separations and points.
//!
//! ```text
//! for each tile, for each kind of pair:          (a jump table: `PairKind` to kernel)
//!     for each block of that kind, WIDTH contacts at a time:
//!         rows of both bodies → normal (from A to B), separation → into the block, in place
//! ```
//!
//! Two things are done for speed:
//!
//! 1. The blocks are the solver's own, and live as long as the pair list. A step rewrites normals, separations and
//!    points in place; the impulses stay where they are.
//! 2. A pair that cannot touch in this step gets the separation [`NO_CONTACT`] and no impulse. The solver's arithmetic
//!    then leaves both bodies alone. A block in which no pair can touch is skipped.
//!
//! Contacts are *speculative*: a pair closer than [`Settings::speculative_distance`](crate::Settings) is solved, and
//! may close its gap but not more. Against a flat face of a fixed body, this distance grows with the approach speed, so
//! that no fast body falls into the floor, unless the body will be past the face's end when it gets there. (Without that look ahead, what passed
//! a box by 6 to 50 cm at 120 m/s was deflected in 838 to 1,129 of 2,000 cases: test `what_flies_past_keeps_its_course`.) Elsewhere it does not grow: a contact with a
//! body that is only near the path would stop a body that passes by.
//!
//! Normals and points are those of where bodies will be a part of a step later: see `lead.rs`.
//!
//! Tried and dropped: each tile's narrowphase as a part of its first solver task. `granule run` took 1 to 2 % less time
//! for `packed` at 10,000, 50,000 and 1,000,000 bodies and for `large_pyramid`, at one thread. But the stage could not
//! be timed or traced on its own.

mod lead;
mod manifold;
pub(crate) use lead::share as lead_share;
pub(crate) use manifold::STRAIGHT;
mod near;

use lead::Relative;
use manifold::not_unless;

use super::candidates::CANDIDATE_KINDS;
use super::{BlockInfo, Tile};
use crate::base::prefetch::{AHEAD, prefetch};
use crate::body::FAST;
use crate::formula::parting;
use crate::lane::{Lane, Mask, Row, RowOffset, lane_entry, pair};
use crate::narrowphase::{EachKernel, Kernel, NO_CONTACT, Touch, each_kernel};
use std::marker::PhantomData;

/// Updates all contacts of a tile.
///
/// # Panics
///
/// Panics if the step has fewer rows than the tile's blocks name.
#[allow(unsafe_code)]
pub(crate) fn update<L: Lane>(tile: &mut Tile, step: &Step<'_>) {
    struct Update<'a, L>(&'a mut Tile, &'a Step<'a>, PhantomData<L>);
    impl<L: Lane> EachKernel for Update<'_, L> {
        #[inline(always)]
        fn kernel<K: Kernel>(&mut self) {
            if self.0.blocks_of(K::KIND).is_empty() {
                return;
            }
            // SAFETY: every place in the blocks is within the tile's limits (`contacts/places.rs`), and the assert
            // below checks the rows against these limits before any kernel runs.
            unsafe { update_kind::<L, K>(self.0, self.1) }
        }
    }
    let limits = &tile.limits;
    assert!(limits.bodies.fits(step.shape) && limits.bodies.fits(step.vel));
    each_kernel(&mut Update(tile, step, PhantomData::<L>));
    if !tile.manifold.is_empty() {
        let limits = &tile.limits;
        assert!(limits.bodies.fits(step.placement) && limits.outlines.fits(step.outlines));
        assert!(limits.shapes.fits(step.shape) && limits.shapes.fits(step.placement));
        // SAFETY: every place in the blocks is within the tile's limits, and the asserts above check the rows against
        // them.
        unsafe { manifold::update::<L>(tile, step) };
    }
}

/// Appends the candidates of a tile that have come near to `born`, kind by kind, and removes them from the candidates.
///
/// # Panics
///
/// Panics if the step has fewer rows than the candidates name.
#[allow(unsafe_code)]
pub(crate) fn find_near<L: Lane>(tile: &mut Tile, step: &Step<'_>, born: &mut Vec<u32>) {
    struct Near<'a, L>(&'a mut Tile, &'a Step<'a>, &'a mut Vec<u32>, PhantomData<L>);
    impl<L: Lane> EachKernel for Near<'_, L> {
        #[inline(always)]
        fn kernel<K: Kernel>(&mut self) {
            if (K::KIND as usize) < CANDIDATE_KINDS && !self.0.candidate_runs.of(K::KIND).is_empty() {
                // SAFETY: every place in the candidates is within the tile's limits, and the assert below checks the
                // rows against these limits before any kernel runs.
                unsafe { near::near_kind::<L, K>(self.0, self.1, self.2) }
            }
        }
    }
    assert!(tile.limits.shapes.fits(step.shape));
    each_kernel(&mut Near(tile, step, born, PhantomData::<L>));
    if !step.placement.is_empty() {
        assert!(tile.limits.shapes.fits(step.placement));
        // SAFETY: every place in the candidates is within the tile's limits, and the asserts above check the rows
        // against them.
        unsafe { near::near_shapes::<L>(tile, step, born) };
    }
}

/// The rows and settings that the kernels read besides the blocks.
pub(crate) struct Step<'a> {
    /// Shape row of each slot, see [`Kernel`].
    pub shape: &'a [Row],
    /// Velocity row of each slot: `[vel_x, vel_y, _, _]`.
    pub vel: &'a [Row],
    /// `[x, y, cos, sin]` of each slot and each part; empty where no body turns.
    pub placement: &'a [Row],
    /// The rows of all outlines, see `geometry/outline.rs`.
    pub outlines: &'a [Row],
    pub time_step: f32,
    pub slop: f32,
    pub speculative: f32,
    /// How far shapes may turn in a step, rad, for their contacts to be made ahead of time.
    pub straight: f32,
    /// By how long contacts lead the start of the step, s, and how far at most, m: see `lead.rs`.
    pub lead: f32,
    pub most_lead: f32,
    /// The part of the lead that is for damping.
    pub damped: f32,
}

lane_entry! {
    /// # Safety
    ///
    /// The step must have every row that the tile's blocks name: [`update`] asserts it.
    unsafe fn update_kind[K: Kernel][K](tile: &mut Tile, step: &Step<'_>) = update_kind_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn update_kind_lanes<L: Lane, K: Kernel>(tile: &mut Tile, step: &Step<'_>) {
    let time_step = L::splat(step.time_step);
    let slop = L::splat(step.slop);
    let speculative = L::splat(step.speculative);
    let (far, zero) = (L::splat(NO_CONTACT), L::splat(0.0));
    for index in tile.blocks_of(K::KIND) {
        prefetch(&tile.normal, index + AHEAD);
        let block = &mut tile.normal[index];
        let friction = &mut tile.friction[index];
        let info = &mut tile.info[index];
        let (mut touching, mut active) = (0, 0);
        for i in BlockInfo::vectors::<L>(info.used()) {
            let (a, b) = (&block.a[i..i + L::WIDTH], &block.b[i..i + L::WIDTH]);
            // SAFETY: the caller guarantees that the step has every row that the blocks name.
            let [shape_a, shape_b, vel_a, vel_b] = unsafe {
                [
                    gather::<L>(step.shape, a),
                    gather::<L>(step.shape, b),
                    gather::<L>(step.vel, a),
                    gather::<L>(step.vel, b),
                ]
            };
            let mut moved = [zero; 2];
            if K::KIND.leads() {
                // A circle's spin is that of its surface. What is no circle has none.
                let common = lead::common([vel_a[2] / shape_a[2], vel_b[2] / shape_b[2]]);
                let from_b = pair!(axis => shape_a[axis] - shape_b[axis]);
                let relative = Relative::new([&vel_a, &vel_b], common, from_b);
                let thickness = shape_a[2].min(shape_a[3]).min(shape_b[2].min(shape_b[3]));
                let loaded = L::load(&block.normal_impulse[i..]).gt(zero);
                let limit = lead::limit(step, thickness);
                moved = relative.way(step, lead::time(step, loaded, relative.speed_squared(), limit));
            }
            let [x, y, ..] = shape_a;
            let led = [x + moved[0], y + moved[1], shape_a[2], shape_a[3]];
            let Touch { normal_x, normal_y, separation, mut flat } = K::touch(led, shape_b);
            let separation = separation + (moved[0] * normal_x + moved[1] * normal_y);
            let normal_velocity = parting(&vel_a, &vel_b, [normal_x, normal_y]);
            // The separation at the end of the step if nothing stopped the approach.
            let predicted = separation + time_step * normal_velocity;
            let mut near = separation.lt(speculative);
            if K::KIND.is_fixed() {
                // It may get past the end of the face on its way there.
                let ahead = predicted.lt(zero).and(flat).and(separation.ge(speculative));
                if ahead.bits() != 0 {
                    let approach = L::select(ahead, -normal_velocity, L::splat(1.0));
                    let time = (separation / approach).max(zero).min(time_step);
                    let by = pair!(axis => time * (vel_a[axis] - vel_b[axis]));
                    let least = L::splat(FAST) * shape_a[2].min(shape_a[3]);
                    let ahead = ahead.and((by[0] * by[0] + by[1] * by[1]).gt(least * least));
                    let there = K::touch([led[0] + by[0], led[1] + by[1], led[2], led[3]], shape_b);
                    flat = not_unless::<L>(flat, ahead, there.separation.lt(speculative));
                }
                near = near.or(predicted.lt(zero).and(flat));
            }
            normal_x.store(&mut block.normal_x[i..]);
            normal_y.store(&mut block.normal_y[i..]);
            L::select(near, separation, far).store(&mut block.separation[i..]);
            // Usually all lanes are near. Then the friction blocks are not read, and stay out of the cache.
            if near.bits() != ((1u64 << L::WIDTH) - 1) as u32 {
                let impulse = L::load(&block.normal_impulse[i..]);
                L::select(near, impulse, zero).store(&mut block.normal_impulse[i..]);
                let impulse = L::load(&friction.tangent_impulse[i..]);
                L::select(near, impulse, zero).store(&mut friction.tangent_impulse[i..]);
            }
            let touch = separation.le(slop).or(predicted.le(zero)).and(near);
            touching |= touch.bits() << i;
            active |= near.bits() << i;
        }
        info.touching = touching as u16 & info.used();
        info.active = active as u16 & info.used();
    }
}

/// Gathers the rows at the first `WIDTH` offsets.
///
/// # Safety
///
/// The caller guarantees that each offset is that of one of these rows.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn gather<L: Lane>(rows: &[Row], at: &[RowOffset]) -> [L; 4] {
    debug_assert!(at.iter().all(|at| at.row() < rows.len()));
    // SAFETY: the caller guarantees that each offset is that of one of these rows. The rows are borrowed, so nobody
    // writes them meanwhile.
    unsafe { L::gather(rows.as_ptr(), at) }
}
