//! Candidates: the pairs of the list that are not near, and how they get lanes.
//!
//! A candidate is two rows, a rounding, and which pair it is. Each step looks at all of them by lanes (`narrowphase/candidates.rs`), and
//! those that have come near get a lane of a block, in which it stays as long as the list lives: there are blocks in reserve for that,
//! after those that were near from the start. A lane is free for a pair if none of its block has one of the two bodies, so
//! that colours are as valid as when the list was made. Where the reserve is used up, the tile's blocks are laid out anew.

use super::build::Build;
use super::{BLOCK, Limits, Places, Tile};
use crate::body::{Bodies, NO_OUTLINE};
use crate::broadphase::general::NO_PART;
use crate::broadphase::sweep::Pair;
use crate::lane::RowOffset;
use crate::narrowphase::PairKind;
use std::ops::Range;

/// Kinds of pairs that have candidates: those of two bodies that move. (What is near the ground is soon on it, and how fast it comes
/// counts there: such pairs have lanes from the start.)
pub(crate) const CANDIDATE_KINDS: usize = PairKind::CircleCircleFixed as usize;

/// Sixteen candidates.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct CandidateBlock {
    /// Rows of the shapes.
    pub a: Places,
    pub b: Places,
    /// Of general kinds: the sum of the roundings of both outlines, m.
    pub rounding: [f32; BLOCK],
    /// Which pairs of the tile they are.
    pub pair: [u32; BLOCK],
    /// The lanes that are candidates still.
    pub alive: u16,
}

/// The blocks of each kind's candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CandidateRuns {
    start: [u32; CANDIDATE_KINDS + 1],
}

impl CandidateRuns {
    pub(crate) fn of(&self, kind: PairKind) -> Range<usize> {
        let kind = kind as usize;
        self.start[kind] as usize..self.start[kind + 1] as usize
    }
}

/// The row of a shape, and the rounding of its outline.
#[inline]
fn shape_of(bodies: &Bodies, slot: usize, part: u8) -> (u32, f32) {
    let outline = if part == NO_PART {
        bodies.columns.outline[slot]
    } else {
        bodies.parts(slot)[usize::from(part)].outline
    };
    let rounding = if outline == NO_OUTLINE { 0.0 } else { bodies.outlines.outline(outline).radius };
    let row = if part == NO_PART { slot as u32 } else { bodies.part_row(slot) + u32::from(part) };
    (row, rounding)
}

impl Build<'_> {
    /// Whether a pair of a new list is far enough for having no lane.
    pub(super) fn is_candidate(&self, pair: &Pair) -> bool {
        !pair.kind.is_fixed() && pair.separation >= self.speculative
    }

    /// Makes candidates of the pairs that have no lane, by kind.
    pub(super) fn lay_out_candidates(&self, tile: &mut Tile, counts: &[u32; CANDIDATE_KINDS]) {
        let Tile { candidates, candidate_runs, found, lane_of, limits, padding, .. } = tile;
        let Limits { shapes, .. } = limits;
        let start = &mut candidate_runs.start;
        start[0] = 0;
        for (kind, count) in counts.iter().enumerate() {
            start[kind + 1] = start[kind] + count.div_ceil(BLOCK as u32);
        }
        let blocks = start[CANDIDATE_KINDS] as usize;
        let places = Places::all(*padding, shapes);
        let none = CandidateBlock {
            a: places,
            b: places,
            rounding: [0.0; BLOCK],
            pair: [u32::MAX; BLOCK],
            alive: 0,
        };
        super::build::refill(candidates, blocks, none);
        let mut next: [u32; CANDIDATE_KINDS] = std::array::from_fn(|kind| start[kind] * BLOCK as u32);
        for ((index, pair), &lane) in found.pairs.iter().enumerate().zip(&*lane_of) {
            if lane != super::NO_LANE {
                continue;
            }
            let place = &mut next[pair.kind as usize];
            let (block, lane) = (*place as usize / BLOCK, *place as usize % BLOCK);
            *place += 1;
            let block = &mut candidates[block];
            let [(a, rounding_a), (b, rounding_b)] = if pair.kind.is_general() {
                [(pair.a, pair.parts[0]), (pair.b, pair.parts[1])]
                    .map(|(slot, part)| shape_of(self.bodies, slot as usize, part))
            } else {
                [(pair.a, 0.0), (pair.b, 0.0)]
            };
            let (a, b) = if pair.swap { (b, a) } else { (a, b) };
            block.a.set(lane, a, shapes);
            block.b.set(lane, b, shapes);
            block.rounding[lane] = rounding_a + rounding_b;
            block.pair[lane] = index as u32;
            block.alive |= 1 << lane;
        }
    }

    /// Gives lanes to the candidates that `near` finds.
    pub(super) fn give_lanes(&self, tile: &mut Tile, near: &impl Fn(&mut Tile, &mut Vec<u32>)) {
        if tile.candidates.is_empty() {
            return;
        }
        let mut born = std::mem::take(&mut tile.scratch.born);
        born.clear();
        near(tile, &mut born);
        if !born.is_empty() {
            let mut coefficients = self.coefficients();
            born.retain(|&pair| {
                let pair = pair as usize;
                let place = free_lane(tile, &tile.found.pairs[pair]);
                if let Some((block, lane)) = place {
                    tile.info[block].count += 1;
                    self.write_lane(tile, &mut coefficients, pair, (block, lane), Default::default());
                }
                place.is_none()
            });
            if !born.is_empty() {
                self.again(tile, &born, true);
            }
        }
        tile.scratch.born = born;
    }
}

/// The next lane of the first block in reserve that has neither body.
fn free_lane(tile: &Tile, pair: &Pair) -> Option<(usize, usize)> {
    let run = tile.runs[2 * pair.kind as usize + 1];
    let [a, b] = [pair.a, pair.b].map(RowOffset::of);
    let names = |places: &Places| places.iter().fold(false, |named, &at| named | (at == a) | (at == b));
    run.coloured().find_map(|block| {
        let lane = usize::from(tile.info[block].count);
        let normal = &tile.normal[block];
        (lane < BLOCK && !names(&normal.a) && !names(&normal.b)).then_some((block, lane))
    })
}
