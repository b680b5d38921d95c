//! Contacts: the constraint blocks of each tile, kept from step to step, and the events when bodies begin and cease to
//! touch.
//!
//! A pair of the list that is near has one *lane* of one block for as long as the list lives. The lane holds normal,
//! separation, carried impulses, masses and coefficients. A block has sixteen lanes at every level (the narrower
//! kernels work through it in parts), so layout and colours depend on the scene alone. A pair that is not near is a
//! *candidate*: twenty bytes. It gets a lane when it comes near.
//!
//! ```text
//! rebuild:   take impulses and touching flags out of the old list, by old slot       (carry.rs)
//!            for each tile: colour its pairs, lay out blocks, carry impulses in      (build.rs)
//! each step: candidates that have come near get lanes                                (candidates.rs)
//!            normals, separations and points are rewritten in place                  (update.rs)
//!            begin and end events, from the flags                                    (events.rs)
//! ```
//!
//! Why candidates: where bodies fall and turn, a list has eight pairs for each contact (5,000 boxes in a pit: 53,866
//! pairs, 6,780 contacts). With a lane for each pair, laying out blocks took 6.6 ms of a new list, and the narrowphase
//! took as long as the solver.
//!
//! A tile owns the contacts whose first body is in it. A pair is found in one band or in two neighbouring ones, so both
//! bodies are in the tile or the next one. So all even tiles can be solved at the same time, then all odd ones: two
//! phases a pass, whatever the number of colours, without a separate treatment of seams. Some contacts fit in no tile:
//! those with a large moving body, which may reach anywhere, and some of those of a body that was put elsewhere by
//! hand. They form the *overflow tile*, which is solved alone, by colours and lanes like the others. The pairs of bodies
//! that have left their margins join the tiles that they are in (`insert.rs`).

mod blocks;
mod build;
pub(crate) mod bundles;
mod candidates;
mod carry;
mod colour;
mod drop;
mod events;
mod insert;
mod look;
mod park;
pub(crate) mod places;
mod room;
mod snapshot;
pub(crate) mod strikes;
pub(crate) mod update;
mod validate;
mod visit;

use crate::base::prefetch::prefetch_all;
use crate::base::room::at_least;
use crate::body::{Bodies, BodyHandle};
use crate::broadphase::sweep::{Found, Pair, sweep};
use crate::broadphase::{Broadphase, looks_ahead};
use crate::crew::Crew;
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, with_lanes};
use crate::material::Mixing;
use crate::narrowphase::PairKind;
pub(crate) use blocks::{
    Arms, BlockInfo, BounceBlock, FrictionBlock, ManifoldBlock, NO_MANIFOLD, NormalBlock, RoughBlock, Run,
    Runs, SecondPoint,
};
pub(crate) use candidates::{CandidateBlock, CandidateRuns};
use carry::Carry;
pub(crate) use carry::Parked;
use colour::Reach;
pub(crate) use colour::SERIAL;
pub(crate) use look::Look;
pub(crate) use park::is_parted;
use places::{Limits, Places};
use room::Room;
use std::ops::Range;
use std::sync::Mutex;
use strikes::Strike;
pub(crate) use validate::RowCounts;
pub(crate) use visit::{Blow, Near};

/// Lanes per block.
pub(crate) const BLOCK: usize = MAX_WIDTH;

/// A mark in place of a lane: the pair has none, it is a candidate.
pub(crate) const NO_LANE: u32 = u32::MAX;

/// A mark in place of a closing speed: the contact bears an impulse in this substep, and bore none before.
pub(crate) const FRESH: f32 = -1.0;
/// A mark in place of a closing speed: like [`FRESH`], but the bodies struck each other. The impulse that took the blow
/// is no lasting load, and is not carried on.
pub(crate) const LANDED: f32 = -2.0;
/// A mark in place of a closing speed, until the contact is next looked at: it had [`LANDED`], in the list of pairs before. It leads as if that list had
/// lived on (`update/lead.rs`). (With the impulse and the other mark carried on as well, 4 of 10 piles of boxes of 1 and 10 kg that give back half
/// of a blow did not fall asleep, without 0. With no lead of what has landed, piles of all shapes did not.)
pub(crate) const STRUCK: f32 = -1.5;

/// The contacts of one tile.
#[derive(Default)]
pub(crate) struct Tile {
    pub found: Found,
    /// What the sweep finds for the next list.
    ahead: Found,
    pub normal: Vec<NormalBlock>,
    pub friction: Vec<FrictionBlock>,
    pub bounce: Vec<BounceBlock>,
    /// The blocks' manifolds, at the places [`BlockInfo::manifold`]; `rough` has the same places.
    pub manifold: Vec<ManifoldBlock>,
    pub rough: Vec<RoughBlock>,
    pub info: Vec<BlockInfo>,
    pub runs: Runs,
    /// The runs that have blocks, as bits.
    pub occupied: u64,
    /// Lane of each pair: block × 16 + lane; [`NO_LANE`] for a candidate.
    pub lane_of: Vec<u32>,
    /// The pairs without lanes.
    pub candidates: Vec<CandidateBlock>,
    pub candidate_runs: CandidateRuns,
    /// The tile's bodies. The tile may write these, and those of the next tile, which end at `next_end`.
    pub slots: Range<usize>,
    pub next_end: usize,
    /// Row of the mirror that unused lanes read and write.
    pub padding: u32,
    /// How many rows there must be for the blocks and the candidates.
    pub limits: Limits,
    /// The contacts that are struck in this step, if the host wants to know them: see `strikes.rs`.
    pub strikes: Vec<Strike>,
    /// For each block, if there are strikes: the normal impulses that the solver has put aside in this step, where it does not keep them in
    /// `bounce`.
    pub put_aside: Vec<[f32; BLOCK]>,
    /// The contacts of bodies that meet with several parts at once, in worlds where bodies have parts.
    pub bundles: Option<Box<bundles::Bundles>>,
    scratch: build::Scratch,
}

/// A pair of bodies that began or ceased to touch in the last step. Two bodies touch while at least one shape of the
/// one touches a shape of the other. So a compound has one event when its first such pair of shapes begins to touch,
/// and one when its last ceases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContactEvent {
    /// The body whose handle is less: so a pair has one name, whichever of them comes first in storage.
    pub a: BodyHandle,
    /// The other body.
    pub b: BodyHandle,
}

impl ContactEvent {
    pub(crate) fn of(a: BodyHandle, b: BodyHandle) -> ContactEvent {
        let (a, b) = if b < a { (b, a) } else { (a, b) };
        ContactEvent { a, b }
    }
}

/// All contacts of a world.
#[derive(Default)]
pub(crate) struct Contacts {
    /// As many tiles as the broadphase can make of so many bodies, so that a tile that comes and goes keeps its memory.
    /// The first `active_tiles` are in use.
    tiles: Vec<Tile>,
    active_tiles: usize,
    /// The contacts that fit in no tile, most of them with large moving bodies.
    pub overflow: Tile,
    carry: Carry,
    spare: Mutex<Vec<carry::Kept>>,
    /// The keys of the overflow tile's pairs, sorted, and the places of these pairs in it.
    overflow_keys: Vec<(Key, u32)>,
    /// The pairs whose flags changed in this step, see `events.rs`.
    changed: Vec<events::Changed>,
    /// How much each tile has room for, and how much the overflow tile.
    room: Room,
    overflow_room: Room,
    crowded: Vec<u32>,
    dropped: drop::Dropped,
    /// The contacts of bodies that have woken since the list was made.
    woken: Vec<Parked>,
    pub begin: Vec<ContactEvent>,
    pub end: Vec<ContactEvent>,
}

/// The bodies that a pair list is for, and what its contacts are made with.
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    pub broadphase: &'a Broadphase,
    pub bodies: &'a Bodies,
    pub mixing: Mixing,
    /// Separation below which a pair counts as near.
    pub speculative: f32,
}

impl<'a> List<'a> {
    fn build(&self, carry: &'a Carry, spare: &'a Mutex<Vec<carry::Kept>>) -> build::Build<'a> {
        let List { broadphase, bodies, mixing, speculative } = *self;
        let (old_slot, rounding) = (&broadphase.bands.order, &broadphase.boxes.rounding);
        build::Build { bodies, rounding, mixing, carry, old_slot, speculative, spare }
    }
}

impl Contacts {
    pub(crate) fn tiles(&self) -> &[Tile] {
        &self.tiles[..self.active_tiles]
    }

    pub(crate) fn tiles_mut(&mut self) -> &mut [Tile] {
        &mut self.tiles[..self.active_tiles]
    }

    /// The tiles and the overflow tile.
    pub(crate) fn split_tiles(&mut self) -> (&mut [Tile], &mut Tile) {
        (&mut self.tiles[..self.active_tiles], &mut self.overflow)
    }

    /// All tiles, the overflow tile last.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Tile> {
        self.tiles().iter().chain([&self.overflow])
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Tile> {
        self.tiles[..self.active_tiles].iter_mut().chain([&mut self.overflow])
    }

    /// Returns the number of pairs in the list.
    pub(crate) fn pair_count(&self) -> usize {
        self.all().map(|tile| tile.found.pairs.len()).sum()
    }

    /// Returns how many bounds were tested for the present list.
    pub(crate) fn test_count(&self) -> u64 {
        self.all().map(|tile| tile.found.tests).sum()
    }

    /// The slots of the bodies that have fewer partners in the list than there are near them: see
    /// `broadphase/crowd.rs`.
    pub(crate) fn crowded(&self) -> &[u32] {
        &self.crowded
    }

    fn gather_crowded(&mut self) {
        let mut crowded = std::mem::take(&mut self.crowded);
        crowded.clear();
        self.all().for_each(|tile| crowded.extend_from_slice(tile.found.crowded()));
        self.crowded = crowded;
    }

    /// Returns the number of pairs that were near enough to be solved in the last step.
    pub(crate) fn contact_count(&self) -> usize {
        self.all().flat_map(|tile| &tile.info).map(|info| info.active.count_ones() as usize).sum()
    }

    /// Takes the impulses out of the old blocks, before slots change.
    pub(crate) fn carry_out(&mut self, bodies: &Bodies, built: usize, crew: &Crew<'_>) {
        // The room includes what was added while the list lived.
        self.room.fit(&self.tiles[..self.active_tiles], false, bodies.len);
        let tiles = [&self.tiles[..self.active_tiles], std::slice::from_ref(&self.overflow)];
        self.carry.take(tiles, &mut self.woken, bodies, built, crew);
        self.dropped.lose(&mut self.woken, bodies);
    }

    /// Forgets the pairs of the present list: the next search takes their memory.
    pub(crate) fn end_list(&mut self) {
        self.all_mut().for_each(|tile| std::mem::swap(&mut tile.found, &mut tile.ahead));
    }

    /// Finds the pairs of these tiles of a new list. The present list stays as it is.
    pub(crate) fn search(
        &mut self,
        broadphase: &Broadphase,
        bodies: &Bodies,
        range: Range<usize>,
        level: Level,
        crew: &Crew<'_>,
    ) {
        let most = broadphase.most_tiles(bodies.len).max(broadphase.tiles.len());
        if self.tiles.len() < most {
            self.tiles.resize_with(most, Tile::default);
        }
        let bands = &broadphase.tiles[range.clone()];
        crew.for_each(&mut self.tiles[range], |i, tile| {
            with_lanes!(level, L => sweep::<<L as Lane>::Narrow>(broadphase, bodies, &bands[i], &mut tile.ahead));
        });
    }

    /// Ends the search for the pairs of a new list, after that of all its tiles: those with large bodies that move.
    pub(crate) fn search_far(&mut self, broadphase: &Broadphase, bodies: &Bodies) {
        let far = &mut self.overflow.ahead;
        far.clear();
        for tile in &self.tiles[..broadphase.tiles.len()] {
            far.pairs.extend_from_slice(&tile.ahead.overflow);
        }
        broadphase.sweep_among_large(bodies, far);
    }

    /// Takes over the pairs that were found.
    pub(crate) fn begin_list(&mut self, broadphase: &Broadphase, bodies: &Bodies) {
        let bands = &broadphase.tiles;
        let wanted = bands.len();
        self.active_tiles = wanted;
        let mirror_rows = bodies.len;
        for (i, tile) in self.tiles[..wanted].iter_mut().enumerate() {
            tile.slots = bands[i].slots.clone();
            tile.next_end = bands.get(i + 1).map_or(tile.slots.end, |next| next.slots.end);
            tile.padding = (mirror_rows + i) as u32;
        }
        let overflow = &mut self.overflow;
        overflow.padding = (mirror_rows + wanted) as u32;
        overflow.slots = 0..0;
        overflow.next_end = 0;
        self.all_mut().for_each(|tile| std::mem::swap(&mut tile.found, &mut tile.ahead));
        self.overflow_keys.clear();
        self.overflow_keys.extend(self.overflow.found.pairs.iter().map(key).zip(0..));
        self.overflow_keys.sort_unstable();
        self.gather_crowded();
    }

    /// Makes room in the tiles for the pairs that were found ahead, of so many tiles. (Otherwise both the step that finds more pairs than ever
    /// before and the one that takes them over would allocate.) What the tiles have room for by right stays as it is until the pairs are taken:
    /// a snapshot has it, and must not tell who looked ahead.
    pub(crate) fn make_room_ahead(&mut self, wanted: usize, bodies: &Bodies) {
        let mut room = self.room;
        room.fit(&self.tiles[..self.active_tiles], false, bodies.len);
        let swap = |tile: &mut Tile| std::mem::swap(&mut tile.found, &mut tile.ahead);
        self.tiles[..wanted].iter_mut().for_each(swap);
        room.fit(&self.tiles[..wanted], false, bodies.len);
        self.give_room(room, bodies);
        self.tiles[..wanted].iter_mut().for_each(swap);
    }

    /// Gives this room to some of the tiles that lack it.
    fn give_room(&mut self, room: Room, bodies: &Bodies) {
        let most = self.tiles.len();
        let lacking = self.tiles.iter_mut().filter(|tile| !tile.has(&room, bodies));
        lacking.take(room::share(most)).for_each(|tile| tile.reserve(&room, bodies));
    }

    /// Makes room for what the next lists may need: see `room.rs`.
    fn make_room(&mut self, list: &List<'_>, threads: usize) {
        let bodies = list.bodies;
        self.room.fit(&self.tiles[..self.active_tiles], false, bodies.len);
        let room = self.room;
        self.give_room(room, bodies);
        self.make_far_room(list);
        // One for each thread; in a small world as soon as the first was needed.
        let spare = self.spare.get_mut().expect("no worker panicked");
        if (!spare.is_empty() || looks_ahead(bodies.len)) && spare.len() < threads {
            spare.resize_with(threads, Default::default);
        }
        let lanes = room.pairs.min(room.blocks * BLOCK);
        spare.iter_mut().for_each(|kept| kept.reserve(lanes, bodies.any_manifold));
        let lanes: usize = self.tiles().iter().map(Tile::most_lanes).sum();
        self.carry.reserve(lanes, bodies);
    }

    fn make_far_room(&mut self, list: &List<'_>) {
        let bodies = list.bodies;
        // Besides the contacts of large bodies, the overflow tile gets pairs of bodies that become loose before the
        // next list. In a world of one tile, these are bodies that were added or put elsewhere by hand: it gets that room when it needs it.
        let tiles = self.tiles.len();
        let loose_pairs = if tiles > 1 { 2 * list.broadphase.bounds.allowance.per_list } else { 0 };
        self.overflow_room.fit(std::slice::from_ref(&self.overflow), true, bodies.len);
        let loose = Room::of_loose(loose_pairs, loose_pairs / 4, bodies.any_manifold);
        let room = self.overflow_room.max(loose);
        self.overflow.reserve(&room, bodies);
        self.overflow.scratch.reserve_for_any(if room.pairs > 0 { bodies.len } else { 0 });
        at_least(&mut self.overflow_keys, room.pairs);
        self.carry.reserve_overflow(room.pairs);
    }

    /// Colours the pairs found and lays out their blocks, with the impulses carried over.
    pub(crate) fn build(&mut self, list: &List<'_>, crew: &Crew<'_>) {
        let build = list.build(&self.carry, &self.spare);
        crew.for_each(&mut self.tiles[..self.active_tiles], |_, tile| build.tile(tile, Reach::Near));
        build.tile(&mut self.overflow, Reach::Anywhere);
        self.make_room(list, crew.threads());
    }

    /// Gives lanes to the candidates that `near` finds in a tile.
    pub(crate) fn give_lanes(
        &mut self,
        list: &List<'_>,
        crew: &Crew<'_>,
        near: impl Fn(&mut Tile, &mut Vec<u32>) + Sync,
    ) {
        let build = list.build(&self.carry, &self.spare);
        crew.for_each(&mut self.tiles[..self.active_tiles], |_, tile| build.give_lanes(tile, &near));
    }

    /// Returns the tile that a slot is in.
    fn tile_of(&self, slot: u32) -> Option<&Tile> {
        let tile = self.tiles().partition_point(|tile| tile.slots.end <= slot as usize);
        self.tiles().get(tile)
    }
}

/// The places of the bits that are set, in order.
pub(crate) fn set_bits(bits: u64) -> impl Iterator<Item = usize> {
    let mut left = bits;
    std::iter::from_fn(move || {
        let index = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (index < 64).then_some(index)
    })
}

/// The key by which pairs are sorted: both slots, then the parts.
pub(crate) type Key = (u32, u32, [u8; 2]);

fn key(pair: &Pair) -> Key {
    (pair.a, pair.b, pair.parts)
}

impl Tile {
    /// Returns how many lanes may be in use while the tile's vectors stay where they are: a lane for each pair, and as many as its blocks have.
    fn most_lanes(&self) -> usize {
        self.found.pairs.capacity().min(self.info.len() * BLOCK)
    }

    /// Prefetches what each step reads besides the blocks.
    pub(crate) fn prefetch_rest(&self) {
        prefetch_all(&self.info);
        prefetch_all(&self.candidates);
    }

    /// Prefetches a block, if it has lanes in use. Returns false if there is no such block.
    pub(crate) fn prefetch_block(&self, block: usize) -> bool {
        let Some(info) = self.info.get(block) else { return false };
        if info.count > 0 {
            prefetch_all(&self.normal[block..=block]);
            prefetch_all(&self.friction[block..=block]);
            let place = info.manifold as usize;
            prefetch_all(self.manifold.get(place..=place).unwrap_or_default());
        }
        true
    }

    /// Returns whether any contact is solved in this step.
    pub(crate) fn is_active(&self) -> bool {
        self.info.iter().any(|info| info.active != 0)
    }

    /// Returns whether a contact was struck in this step, fast enough to bounce or while it was jammed.
    pub(crate) fn has_bounced(&self) -> bool {
        self.info.iter().any(|info| info.bounced)
    }

    /// Estimates the time that a pass takes, in bodies to integrate, for sharing out tiles: a block costs as much as
    /// some 128 bodies.
    pub(crate) fn work(&self) -> usize {
        let active = self.info.iter().filter(|info| info.active != 0).count();
        128 * active + self.slots.len()
    }

    /// Returns the manifolds of a block, if its contacts have any.
    pub(crate) fn manifold_of(&self, block: usize) -> Option<&ManifoldBlock> {
        self.manifold.get(self.info[block].manifold as usize)
    }

    /// Returns block and lane of a pair, and nothing for a candidate.
    pub(crate) fn place(&self, pair: usize) -> Option<(usize, usize)> {
        let lane = self.lane_of[pair] as usize;
        (lane != NO_LANE as usize).then_some((lane / BLOCK, lane % BLOCK))
    }

    /// The runs that have blocks, with their kinds, in the order in which they are solved.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (PairKind, Run)> + '_ {
        set_bits(self.occupied).map(|index| (PairKind::ALL[index / 2], self.runs[index]))
    }

    /// Tells whether the tile has bundles, or contacts to begin the search for them at.
    #[inline(always)]
    pub(crate) fn has_bundles(&self) -> bool {
        self.bundles.as_ref().is_some_and(|found| found.is_in_use())
    }

    /// All blocks of a kind.
    pub(crate) fn blocks_of(&self, kind: PairKind) -> Range<usize> {
        let first = 2 * kind as usize;
        self.runs[first].start as usize..self.runs[first + 1].end as usize
    }

    /// The pairs of the list that this tile owns.
    pub(crate) fn pairs(&self) -> &[Pair] {
        &self.found.pairs
    }
}
