//! Which bodies move so far in a step that they could pass through a thin wall.

use crate::body::Bodies;
use crate::lane::{Lane, MAX_WIDTH, Mask, Row, lane_entry, load_rows};
use std::ops::Range;
use std::sync::Mutex;

/// A body is fast if a point of it moves further in a step than this part of its thickness. What moves less has its centre on the
/// side of the wall from which it came, where the next step's contact pushes it back.
pub(super) const FAST: f32 = 0.5;

/// What the kernel reads and writes besides the rows.
pub(super) struct Search<'a> {
    pub bodies: &'a Bodies,
    pub fast: &'a Mutex<Vec<u32>>,
}

lane_entry! {
    /// Appends the slots in a range of those bodies that move fast, given the rows of all movements. Bodies without inverse mass are
    /// left out.
    pub(super) fn find_fast[][](search: &Search<'_>, moved: &[Row], range: Range<usize>) = find_in_range;
}

#[inline(always)]
fn find_in_range<L: Lane>(search: &Search<'_>, moved: &[Row], range: Range<usize>) {
    // Columns are padded, and rows are followed by those of tiles: so the last vector may read on, if it is narrow.
    for slot in range.clone().step_by(L::WIDTH) {
        let lanes = (range.end - slot).min(L::WIDTH);
        let found = if lanes == L::WIDTH {
            fast_lanes::<L>(search.bodies, moved, slot)
        } else {
            rest(search, moved, slot, lanes)
        };
        if found != 0 {
            note(search, slot, found);
        }
    }
}

/// The last bodies, one by one.
#[inline(always)]
fn rest(search: &Search<'_>, moved: &[Row], first: usize, count: usize) -> u32 {
    let mut found = 0;
    for lane in 0..count {
        found |= fast_lanes::<f32>(search.bodies, moved, first + lane) << lane;
    }
    found
}

#[inline(always)]
fn fast_lanes<L: Lane>(bodies: &Bodies, moved: &[Row], slot: usize) -> u32 {
    let c = &bodies.columns;
    macro_rules! load {
        ($column:ident) => {
            L::load(&c.$column[slot..])
        };
    }
    let zero = L::splat(0.0);
    let [x, y, turned, _] = load_rows::<L>(&moved[slot..]);
    let mut thickness = load!(ext_x).min(load!(ext_y));
    let mut turning = zero;
    if bodies.any_manifold {
        let furthest = load!(furthest);
        let turns = furthest.gt(zero);
        thickness = L::select(turns, load!(thickness), thickness);
        let radius = load!(radius);
        let divisor = L::select(radius.gt(zero), radius, L::splat(1.0));
        turning = furthest * (turned / divisor).abs();
    }
    // The most that is sure to be slow: √(x² + y²) + turning is below the limit.
    let limit = L::splat(FAST) * thickness - turning;
    let slow = limit.gt(zero).and((x * x + y * y).le(limit * limit));
    let still = load!(inv_mass).le(zero);
    let all = ((1u64 << L::WIDTH) - 1) as u32;
    !slow.or(still).bits() & all
}

/// Notes lanes with fast bodies.
#[inline(never)]
fn note(search: &Search<'_>, first: usize, lanes: u32) {
    let mut fast = search.fast.lock().expect("no worker panicked");
    fast.extend((0..MAX_WIDTH).filter(|lane| lanes >> lane & 1 == 1).map(|lane| (first + lane) as u32));
}
