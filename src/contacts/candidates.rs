//! Candidates: the pairs of the list that are not near, and how they get lanes.
//!
//! A candidate is two rows, a rounding, and the number of the pair. Each step tests all candidates by lanes
//! (`contacts/update/near.rs`). One that has come near gets a lane of a block and keeps it as long as the list lives.
//! Blocks in reserve serve this purpose, after the blocks of the pairs that were near from the start. A lane is free
//! for a pair if no lane of its block names one of the two bodies, so that colours stay as valid as when the list was
//! made. If the reserve is used up, the tile's blocks are laid out anew.

use super::build::Build;
use super::places::RowLimit;
use super::{BLOCK, Limits, Places, Tile};
use crate::base::codec::{Read, Reader, require};
use crate::base::room::refill;
use crate::body::{Bodies, NO_OUTLINE};
use crate::broadphase::shapes::NO_PART;
use crate::broadphase::sweep::Pair;
use crate::lane::RowOffset;
use crate::narrowphase::PairKind;
use std::ops::Range;

/// How many kinds of pairs have candidates: those of two bodies that move. (Pairs with a fixed body have lanes from the
/// start: a body near the ground is soon on it, and there its approach speed counts.)
pub(crate) const CANDIDATE_KINDS: usize = PairKind::CircleCircleFixed as usize;

/// One spare place for so many candidates, for pairs that are added to the list.
const SPARE: u32 = 8;
/// The least number of spare places of a kind, in a tile with many pairs that has some of the kind.
const LEAST_SPARE: u32 = 4 * BLOCK as u32;

/// Sixteen candidates.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct CandidateBlock {
    /// Rows of the shapes.
    pub a: Places,
    pub b: Places,
    /// The sum of the roundings of both outlines, m; for kinds with manifolds.
    pub rounding: [f32; BLOCK],
    /// The numbers of the pairs in the tile's list; `u32::MAX` where a place is free.
    pub pair: [u32; BLOCK],
    /// The lanes that are still candidates.
    pub alive: u16,
}

/// The ranges of blocks of each kind's candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CandidateRuns {
    start: [u32; CANDIDATE_KINDS + 1],
}

impl CandidateRuns {
    /// The number of blocks of each kind.
    pub(super) fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        self.start.windows(2).map(|two| two[1] - two[0])
    }

    /// Reads the numbers of blocks of each kind, which are `count` together.
    pub(super) fn read(&mut self, count: usize, from: &mut Reader<'_>) -> Read {
        let mut next = 0u32;
        for start in &mut self.start[1..] {
            next = next.saturating_add(from.value()?);
            *start = next;
        }
        self.start[0] = 0;
        require!(next as usize == count, "{next} of {count} blocks of candidates are in runs");
        Ok(())
    }

    pub(crate) fn of(&self, kind: PairKind) -> Range<usize> {
        let kind = kind as usize;
        self.start[kind] as usize..self.start[kind + 1] as usize
    }
}

/// Returns the row of a shape, and the rounding of its outline.
#[inline]
fn shape_of(bodies: &Bodies, slot: usize, part: u8) -> (u32, f32) {
    let outline = if part == NO_PART {
        bodies.columns.outline[slot]
    } else {
        bodies.parts(slot)[usize::from(part)].outline
    };
    let rounding = if outline == NO_OUTLINE { 0.0 } else { bodies.outlines.rounding(outline).0 };
    let row = if part == NO_PART { slot as u32 } else { bodies.part_row(slot) + u32::from(part) };
    (row, rounding)
}

/// Writes the pair with this index as a candidate to a place.
pub(super) fn write_candidate(
    bodies: &Bodies,
    (block, lane): (&mut CandidateBlock, usize),
    index: u32,
    pair: &Pair,
    rows: &mut RowLimit,
) {
    let [(a, rounding_a), (b, rounding_b)] = if pair.kind.needs_manifold() {
        let [part_a, part_b] = pair.parts;
        [shape_of(bodies, pair.a as usize, part_a), shape_of(bodies, pair.b as usize, part_b)]
    } else {
        [(pair.a, 0.0), (pair.b, 0.0)]
    };
    let (a, b) = if pair.swap { (b, a) } else { (a, b) };
    block.a.set(lane, a, rows);
    block.b.set(lane, b, rows);
    block.rounding[lane] = rounding_a + rounding_b;
    block.pair[lane] = index;
    block.alive |= 1 << lane;
}

impl Build<'_> {
    /// Returns whether a pair of a new list is too far apart for a lane. (Tried and dropped: lanes for all pairs that
    /// may be near within two steps. Fewer candidates had to get lanes later, but blocks were so thin that the solver
    /// took 40 % longer.)
    pub(super) fn is_candidate(&self, pair: &Pair) -> bool {
        !pair.kind.is_fixed() && pair.separation >= self.speculative
    }

    /// Makes candidates of the pairs that have no lane, by kind.
    pub(super) fn lay_out_candidates(&self, tile: &mut Tile, counts: &[u32; CANDIDATE_KINDS]) {
        let roomy = tile.is_roomy();
        let Tile { candidates, candidate_runs, found, lane_of, limits, padding, runs, .. } = tile;
        let Limits { shapes, .. } = limits;
        let start = &mut candidate_runs.start;
        start[0] = 0;
        for (kind, count) in counts.iter().enumerate() {
            let run = runs[2 * kind];
            let present = run.start < run.end || *count > 0;
            let least = if roomy && present { LEAST_SPARE } else { 0 };
            start[kind + 1] = start[kind] + (count + least.max(count / SPARE)).div_ceil(BLOCK as u32);
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
        refill(candidates, blocks, none);
        let mut next: [u32; CANDIDATE_KINDS] = std::array::from_fn(|kind| start[kind] * BLOCK as u32);
        for ((index, pair), &lane) in found.pairs.iter().enumerate().zip(&*lane_of) {
            if lane != super::NO_LANE {
                continue;
            }
            let place = &mut next[pair.kind as usize];
            let (block, lane) = (*place as usize / BLOCK, *place as usize % BLOCK);
            *place += 1;
            write_candidate(self.bodies, (&mut candidates[block], lane), index as u32, pair, shapes);
        }
    }

    /// Makes a candidate of a pair that was added to the list. Returns false if there is no place for it.
    pub(super) fn add_candidate(&self, tile: &mut Tile, index: u32) -> bool {
        let Tile { candidates, candidate_runs, found, limits, .. } = tile;
        let pair = &found.pairs[index as usize];
        // Places are taken from the first on: the search begins at the last block and stops at a full one.
        let free = candidates[candidate_runs.of(pair.kind)].iter_mut().rev().map_while(|block| {
            let lane = block.pair.iter().position(|&taken| taken == u32::MAX);
            lane.map(|lane| (block, lane))
        });
        let Some(place) = free.last() else { return false };
        write_candidate(self.bodies, place, index, pair, &mut limits.shapes);
        true
    }

    /// Gives lanes to the candidates that `near` finds. Lays the tile's blocks out anew if there are not enough free
    /// lanes.
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
                let place = tile.free_lane(&tile.found.pairs[pair]);
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

impl Tile {
    /// Returns whether the tile has so many pairs that laying out its blocks anew costs more than spare places do.
    pub(super) fn is_roomy(&self) -> bool {
        self.found.pairs.len() >= 4 * BLOCK
    }

    /// Returns a free lane for a pair: the next lane of the first block in reserve that names neither body (if B is
    /// fixed, that does not name A); else that of such a block of the near pairs that is not full; else that of a
    /// serial block in reserve.
    pub(super) fn free_lane(&self, pair: &Pair) -> Option<(usize, usize)> {
        let kind = pair.kind as usize;
        let [near, reserve] = [self.runs[2 * kind], self.runs[2 * kind + 1]];
        let (a, b) = if pair.swap { (pair.b, pair.a) } else { (pair.a, pair.b) };
        let (a, b) = (RowOffset::of(a), RowOffset::of(if pair.kind.is_fixed() { a } else { b }));
        let names = |places: &Places| places.iter().fold(false, |named, &at| named | (at == a) | (at == b));
        let place = |block: usize| {
            let lane = usize::from(self.info[block].count);
            (lane < BLOCK).then_some((block, lane))
        };
        let coloured = reserve.coloured().chain(near.coloured()).find_map(|block| {
            let normal = &self.normal[block];
            place(block).filter(|_| !names(&normal.a) && !names(&normal.b))
        });
        coloured.or_else(|| reserve.serial().find_map(place))
    }
}
