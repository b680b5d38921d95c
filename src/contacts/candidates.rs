//! Candidates: the pairs of the list that are not near, and how they get lanes.
//!
//! A candidate is two rows, a rounding, and the number of the pair. Each step tests all candidates by lanes
//! (`contacts/update/near.rs`). One that has come near gets a lane of a block and keeps it as long as the list lives.
//! Blocks in reserve serve this purpose, after the blocks of the pairs that were near from the start. A lane is free
//! for a pair if no lane of its block names one of the two bodies, so that colours stay as valid as when the list was
//! made. If the reserve is used up, the tile's blocks are laid out anew.

use super::build::Build;
use super::colour::Reach;
use super::places::RowLimit;
use super::{BLOCK, Places, Tile};
use crate::base::codec::{Read, Reader, require};
use crate::base::room::make_room;
use crate::body::Bodies;
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

impl CandidateBlock {
    /// A block of free places, in a tile with this padding row.
    pub(super) fn empty(padding: u32, rows: &mut RowLimit) -> CandidateBlock {
        let places = Places::all(padding, rows);
        CandidateBlock { a: places, b: places, rounding: [0.0; BLOCK], pair: [u32::MAX; BLOCK], alive: 0 }
    }
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

/// Returns the row of a part, and the rounding of its outline.
#[inline]
fn part_of(bodies: &Bodies, slot: u32, part: u8) -> (u32, f32) {
    let slot = slot as usize;
    let placed = &bodies.parts(slot)[usize::from(part)];
    (bodies.part_row(slot) + u32::from(part), bodies.outlines.rounding(placed.outline))
}

impl Build<'_> {
    /// Returns the row of a shape, and the rounding of its outline.
    #[inline(always)]
    fn shape_of(&self, slot: u32, part: u8) -> (u32, f32) {
        if part == NO_PART { (slot, self.rounding[slot as usize]) } else { part_of(self.bodies, slot, part) }
    }

    /// Writes the pair with this index as a candidate to a place.
    #[inline(always)]
    pub(super) fn write_candidate(
        &self,
        (block, lane): (&mut CandidateBlock, usize),
        index: u32,
        pair: &Pair,
        rows: &mut RowLimit,
    ) {
        let [(a, rounding_a), (b, rounding_b)] = if pair.kind.needs_manifold() {
            let [part_a, part_b] = pair.parts;
            [self.shape_of(pair.a, part_a), self.shape_of(pair.b, part_b)]
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

    /// Returns whether a pair of a new list is too far apart for a lane. (Tried and dropped: lanes for all pairs that
    /// may be near within two steps. Fewer candidates had to get lanes later, but blocks were so thin that the solver
    /// took 40 % longer.)
    pub(super) fn is_candidate(&self, pair: &Pair) -> bool {
        !pair.kind.is_fixed() && pair.separation >= self.speculative
    }

    /// Makes candidates of the pairs that have no lane: of `far`, which is sorted by kind.
    pub(super) fn lay_out_candidates(&self, tile: &mut Tile, counts: &[u32; CANDIDATE_KINDS], far: &[u32]) {
        let roomy = tile.is_roomy();
        let Tile { candidates, candidate_runs, found, limits, padding, runs, .. } = tile;
        let mut rows = limits.shapes;
        let none = CandidateBlock::empty(*padding, &mut rows);
        let start = &mut candidate_runs.start;
        start[0] = 0;
        let spare = |kind: usize| {
            let run = runs[2 * kind];
            let present = run.start < run.end || counts[kind] > 0;
            let least = if roomy && present { LEAST_SPARE } else { 0 };
            (counts[kind] + least.max(counts[kind] / SPARE)).div_ceil(BLOCK as u32)
        };
        for kind in 0..CANDIDATE_KINDS {
            start[kind + 1] = start[kind] + spare(kind);
        }
        make_room(candidates, start[CANDIDATE_KINDS] as usize);
        let mut first = 0;
        for (kind, &count) in counts.iter().enumerate() {
            let of_kind = &far[first..first + count as usize];
            first += count as usize;
            let manifold = PairKind::ALL[kind].needs_manifold();
            for indices in of_kind.chunks(BLOCK) {
                candidates.push(self.candidates_of(&found.pairs, indices, manifold, *padding, &mut rows));
            }
            candidates.resize(start[kind + 1] as usize, none);
        }
        limits.shapes = rows;
    }

    /// Makes candidates of up to sixteen pairs, and writes them column by column.
    #[inline(always)]
    fn candidates_of(
        &self,
        pairs: &[Pair],
        indices: &[u32],
        manifold: bool,
        padding: u32,
        limit: &mut RowLimit,
    ) -> CandidateBlock {
        let (mut a, mut b) = ([padding; BLOCK], [padding; BLOCK]);
        let (mut rounding, mut number) = ([0.0; BLOCK], [u32::MAX; BLOCK]);
        for (lane, &index) in indices.iter().enumerate().take(BLOCK) {
            let pair = &pairs[index as usize];
            let (mut one, mut two) = (pair.a, pair.b);
            number[lane] = index;
            if manifold {
                let (of_one, of_two);
                if pair.parts == [NO_PART; 2] {
                    (of_one, of_two) = (self.rounding[one as usize], self.rounding[two as usize]);
                } else {
                    (one, of_one) = self.shape_of(one, pair.parts[0]);
                    (two, of_two) = self.shape_of(two, pair.parts[1]);
                }
                rounding[lane] = of_one + of_two;
            }
            a[lane] = if pair.swap { two } else { one };
            b[lane] = if pair.swap { one } else { two };
        }
        CandidateBlock {
            a: Places::of(&a, limit),
            b: Places::of(&b, limit),
            rounding,
            pair: number,
            alive: ((1u32 << indices.len()) - 1) as u16,
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
        self.write_candidate(place, index, pair, &mut limits.shapes);
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
                self.again(tile, &born, Reach::Near);
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
