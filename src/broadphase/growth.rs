//! How far the bounds of each body are grown, by lanes.

use super::bands::Bands;
use super::frames::Frames;
use super::{Margins, interval, shape_row};
use crate::base::room::resize;
use crate::body::{Bodies, Kind};
use crate::crew::{CHUNK, Crew, SharedSlice};
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Row, for_lanes, lane_entry, store_rows, with_lanes};
use std::ops::Range;

/// Reach of a body at rest, as a fraction of its smaller half extent.
pub(super) const BASE_FRACTION: f32 = 0.1;
/// A body may be hit and take another's speed. So its own speed counts as no less than this part of the root mean
/// square around it, and no less than the difference between its frame and the next. (Otherwise most lists ended after
/// one step where a falling pile meets the resting one.)
const LEAST_SPEED: f32 = 0.7;
/// It gets no further by such a hit than this many mean half extents, so far as margins care.
const MOST_PASSED_ON: f32 = 8.0;

/// The margins of some bodies, of one a lane.
#[derive(Clone, Copy)]
pub(super) struct Growth<L> {
    /// How far a body may go, against its frame, before the list is stale.
    pub leeway: L,
    /// How far around the body's shape others count as partners.
    pub growth: L,
    /// How much its bounds are grown, m.
    pub bounds: L,
    pub frame: [L; 2],
}

/// The margins of a run of slots, by column. All columns have the same length.
#[derive(Default)]
pub(super) struct Grown<T> {
    pub leeway: T,
    pub growth: T,
    pub bounds: T,
    pub frame: [T; 2],
}

impl<L: Lane> Growth<L> {
    /// Returns the margins of the bodies from `slot` on, whose mobilities ([`Kind::mobility`]) are given.
    #[inline(always)]
    pub(super) fn of(bodies: &Bodies, slot: usize, mobility: L, margins: &Margins, frames: &Frames) -> Self {
        let c = &bodies.columns;
        macro_rules! load {
            ($column:ident) => {
                L::load(&c.$column[slot..])
            };
        }
        let (zero, horizon) = (L::splat(0.0), L::splat(margins.horizon));
        let is_fixed = mobility.lt(zero);
        let (frame, spread, rms) = frames.lanes::<L>(bodies, slot);
        let half = load!(ext_x).min(load!(ext_y));
        let base = (L::splat(BASE_FRACTION) * half).min(L::splat(margins.base));
        let turning = load!(omega).abs() * load!(furthest);
        let (x, y) = (load!(vel_x) - frame[0], load!(vel_y) - frame[1]);
        let relative = (x * x + y * y).sqrt() + turning;
        let around = (L::splat(LEAST_SPEED) * rms).max(L::splat(2.0) * spread);
        let speed = L::select(is_fixed, relative, relative.max(around));
        let time_step = L::splat(margins.time_step);
        // (When what the bodies around may pass on had no limit, a few of them at 10 km/s gave all others so large a margin that each reached
        // all: `fast_bodies_leave_others_alone`. Without it, a plate of 7 mm left a maze.)
        let passed_on = (time_step * around).min(L::splat(MOST_PASSED_ON * frames.half));
        let limit = (L::splat(margins.most) * half).max(time_step * relative).max(passed_on);
        let leeway = L::select(is_fixed, zero, base) + (horizon * speed).min(limit);
        let speculative = L::splat(margins.speculative);
        let growth = leeway + L::select(is_fixed, zero, speculative) + horizon * spread;
        let (mut allowed, mut bounds) = (leeway, growth);
        if let Some(fastest) = margins.fastest {
            // In a list of one step. Both bodies of a pair are grown by the speculative distance: twice what the pair needs, for
            // rounding far from the origin.
            let moves = load!(inv_mass).gt(zero);
            allowed = L::select(moves, speculative, leeway);
            bounds = L::select(moves, speculative, growth + L::splat(fastest));
        }
        let counts = mobility.abs().gt(zero);
        let known = |value: L| L::select(counts, value, zero);
        Growth {
            leeway: known(allowed),
            growth: known(growth),
            bounds: known(bounds),
            frame: [known(frame[0]), known(frame[1])],
        }
    }
}

impl Growth<f32> {
    /// Returns the margin of one body.
    pub(super) fn of_one(bodies: &Bodies, slot: usize, margins: &Margins, frames: &Frames) -> Self {
        Growth::of(bodies, slot, bodies.columns.kind[slot].mobility(), margins, frames)
    }
}

/// The mobilities of the first of these kinds.
#[inline(always)]
pub(super) fn mobilities<L: Lane>(kinds: &[Kind]) -> L {
    let mut mobilities = [0.0; MAX_WIDTH];
    for (mobility, kind) in mobilities[..L::WIDTH].iter_mut().zip(&kinds[..L::WIDTH]) {
        *mobility = kind.mobility();
    }
    L::load(&mobilities)
}

impl<T> Grown<T> {
    fn columns_mut(&mut self) -> [&mut T; 5] {
        let Grown { leeway, growth, bounds, frame: [x, y] } = self;
        [leeway, growth, bounds, x, y]
    }
}

impl Grown<Vec<f32>> {
    /// The length of the shortest column; they all have the same.
    fn len(&self) -> usize {
        let Grown { leeway, growth, bounds, frame: [x, y] } = self;
        [leeway, growth, bounds, x, y].map(Vec::len).into_iter().min().unwrap_or(0)
    }

    /// Finds the margins of all bodies but of the static ones in the slots `known`.
    pub(super) fn fill(
        &mut self,
        bodies: &Bodies,
        (margins, frames): (&Margins, &Frames),
        known: &Range<usize>,
        level: Level,
        crew: &Crew<'_>,
    ) {
        let columns = self.columns_mut().map(|column| {
            resize(column, bodies.len);
            SharedSlice::new(column)
        });
        crew.chunks_without(bodies.len, known, CHUNK, |_, range| {
            #[allow(unsafe_code)]
            // SAFETY: each task takes the slots of its own chunk, and each slot is in one chunk.
            let [leeway, growth, bounds, x, y] =
                unsafe { columns.each_ref().map(|column| column.range(range.clone())) };
            let mut grown = Grown { leeway, growth, bounds, frame: [x, y] };
            with_lanes!(level, L => find::<L>(bodies, range, margins, frames, &mut grown));
        });
    }
}

lane_entry! {
    /// Finds the margins of a run of bodies.
    fn find[][](
        bodies: &Bodies,
        range: Range<usize>,
        margins: &Margins,
        frames: &Frames,
        grown: &mut Grown<&mut [f32]>,
    ) = find_range;
}

#[inline(always)]
fn find_range<L: Lane>(
    bodies: &Bodies,
    range: Range<usize>,
    margins: &Margins,
    frames: &Frames,
    grown: &mut Grown<&mut [f32]>,
) {
    for_lanes!(range.len(), L, find_lanes(bodies, range.start, margins, frames; i, grown));
}

#[inline(always)]
fn find_lanes<L: Lane>(
    bodies: &Bodies,
    first: usize,
    margins: &Margins,
    frames: &Frames,
    i: usize,
    grown: &mut Grown<&mut [f32]>,
) {
    let slot = first + i;
    let mobility = mobilities::<L>(&bodies.columns.kind[slot..]);
    let Growth { leeway, growth, bounds, frame } = Growth::of(bodies, slot, mobility, margins, frames);
    leeway.store(&mut grown.leeway[i..]);
    growth.store(&mut grown.growth[i..]);
    bounds.store(&mut grown.bounds[i..]);
    frame[0].store(&mut grown.frame[0][i..]);
    frame[1].store(&mut grown.frame[1][i..]);
}

/// What is to be written of a chunk of bodies in their new order: `[min_s, max_s, min_b, max_b, growth, built_x, built_y, frame_x,
/// frame_y, leeway]`, and their rows.
pub(super) struct Growing<'a> {
    pub bodies: &'a Bodies,
    pub bands: &'a Bands,
    pub margins: &'a Margins,
    /// Frames that are off.
    pub rest: &'a Frames,
    pub large_growth: f32,
    pub columns: [&'a mut [f32]; 10],
    pub shape: &'a mut [Row],
}

lane_entry! {
    /// Grows the bounds of a chunk.
    pub(super) fn grow[][](range: Range<usize>, growing: &mut Growing<'_>) = grow_range;
}

#[inline(always)]
fn grow_range<L: Lane>(range: Range<usize>, growing: &mut Growing<'_>) {
    let bands = growing.bands;
    let banded = bands.banded.clamp(range.start, range.end) - range.start;
    let order = &bands.order[range.start..][..banded];
    let known = bands.memory.grown.len();
    // Checked here once for all columns: a check of each place took a third of the instructions.
    assert!(order.iter().fold(true, |all, &old| all & ((old as usize) < known)), "an order of slots");
    for_lanes!(banded, L, grow_banded(order, range.start, growing; i));
    for_lanes!(range.len() - banded, L, grow_large(range.start + banded, banded, growing; i));
}

/// A body in a band has the margin that it was placed by. Each slot of `order` is one of `Grown`.
#[inline(always)]
fn grow_banded<L: Lane>(order: &[u32], first: usize, growing: &mut Growing<'_>, i: usize) {
    let grown = &growing.bands.memory.grown;
    let order = &order[i..][..L::WIDTH];
    macro_rules! gather {
        ($column:expr) => {{
            let mut values = [0.0; MAX_WIDTH];
            for (value, &old) in values[..L::WIDTH].iter_mut().zip(order) {
                debug_assert!((old as usize) < $column.len());
                #[allow(unsafe_code)]
                // SAFETY: `grow_range` has compared the order with the length of the columns.
                let of_old = unsafe { *$column.get_unchecked(old as usize) };
                *value = of_old;
            }
            L::load(&values)
        }};
    }
    let grown = Growth {
        leeway: gather!(grown.leeway),
        growth: gather!(grown.growth),
        bounds: gather!(grown.bounds),
        frame: [gather!(grown.frame[0]), gather!(grown.frame[1])],
    };
    write(growing, first, i, grown);
}

/// A large body is in no cell: its frame is at rest, and its bounds are grown for the frames' motion.
#[inline(always)]
fn grow_large<L: Lane>(first: usize, before: usize, growing: &mut Growing<'_>, i: usize) {
    let slot = first + i;
    let mobility = mobilities::<L>(&growing.bodies.columns.kind[slot..]);
    let mut grown = Growth::<L>::of(growing.bodies, slot, mobility, growing.margins, growing.rest);
    grown.growth = grown.growth + L::splat(growing.large_growth);
    grown.bounds = grown.bounds + L::splat(growing.large_growth);
    write(growing, first - before, before + i, grown);
    let c = &growing.bodies.columns;
    for (slot, row) in (slot..).zip(&mut growing.shape[before + i..][..L::WIDTH]) {
        if c.kind[slot].shape() == ShapeKind::HalfSpace {
            *row = shape_row(c.kind[slot], [0.0; 2], [c.ext_x[slot], c.ext_y[slot]], c.ext_z[slot]);
        }
    }
}

#[inline(always)]
fn write<L: Lane>(growing: &mut Growing<'_>, first: usize, i: usize, grown: Growth<L>) {
    let c = &growing.bodies.columns;
    let slot = first + i;
    let pos = [L::load(&c.pos_x[slot..]), L::load(&c.pos_y[slot..])];
    let half = [L::load(&c.ext_x[slot..]), L::load(&c.ext_y[slot..])];
    let (s, b) = if growing.bands.along_x { (1, 0) } else { (0, 1) };
    let [min_s, max_s] = interval(pos[s], half[s], grown.bounds);
    let [min_b, max_b] = interval(pos[b], half[b], grown.bounds);
    let values = [
        min_s,
        max_s,
        min_b,
        max_b,
        grown.growth,
        pos[0],
        pos[1],
        grown.frame[0],
        grown.frame[1],
        grown.leeway,
    ];
    for (column, value) in growing.columns.iter_mut().zip(values) {
        value.store(&mut column[i..]);
    }
    store_rows(&mut growing.shape[i..], [pos[0], pos[1], half[0], half[1]]);
}
