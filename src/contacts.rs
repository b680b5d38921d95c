//! Contacts: the constraint blocks of each tile, kept from step to step, and what begins and ends.
//!
//! A pair of the list that is near has one *lane* of one block for as long as the list lives: normal, separation,
//! carried impulses, masses and coefficients. A block is sixteen lanes at every lane width (the
//! narrower kernels work through it in parts), so layout and colours depend on the scene alone.
//! A pair that is not near is a *candidate*: twenty bytes, and a lane when it comes near.
//!
//! ```text
//! rebuild:   carry   impulses and touching flags of the old list out, by old slot    (carry.rs)
//!            for each tile: colour its pairs, lay out blocks, carry impulses in      (build.rs)
//! each step: candidates that have come near get lanes                                (candidates.rs)
//!            normals and separations, in place                                  (update.rs)
//!            begin and end from the flags                                       (events.rs)
//! ```
//!
//! Of things that fall and turn, a list has eight pairs for one contact (53,866 for 6,780 of 5,000 boxes in a pit): with a
//! lane for each, laying out blocks took 6.6 ms of a new list, and the narrowphase as long as the solver.
//!
//! A tile owns the contacts whose first body is in it. As pairs are found in one band or two
//! neighbouring ones, their bodies are in the tile or the next. So even tiles can be solved at the same
//! time, then odd ones: two phases a pass, no seams apart, whatever the number of colours. Contacts
//! with a large moving body may reach anywhere, and some of those of a body that was put elsewhere by hand;
//! they are few, and form an *overflow* tile of their own that is solved alone, one contact after the other. The pairs of
//! bodies that have left their margins join the tiles that they are in (`insert.rs`).

mod build;
mod candidates;
mod carry;
mod drop;
mod events;
mod insert;
pub(crate) mod places;
mod room;
pub(crate) mod update;
mod validate;

use crate::base::room::at_least;
use crate::body::{Bodies, BodyHandle};
use crate::broadphase::Broadphase;
use crate::broadphase::sweep::{Found, Pair};
use crate::crew::Crew;
use crate::lane::{Lane, MAX_WIDTH};
use crate::material::Mixing;
use crate::narrowphase::{KINDS, PairKind};
pub(crate) use build::SERIAL;
pub(crate) use candidates::{CandidateBlock, CandidateRuns};
use carry::Carry;
use places::{Limits, Places};
use room::Room;
use std::ops::Range;
use std::sync::Mutex;
pub(crate) use validate::RowCounts;

/// Lanes per block.
pub(crate) const BLOCK: usize = MAX_WIDTH;

/// In place of a lane: the pair has none, it is a candidate.
pub(crate) const NO_LANE: u32 = u32::MAX;

/// In place of a closing speed: the contact bears something in this substep, and did not before.
pub(crate) const FRESH: f32 = -1.0;
/// The same of one that was struck: what took the blow is no load that goes on.
pub(crate) const LANDED: f32 = -2.0;

/// What the solver needs of sixteen contacts for the normal impulse.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct NormalBlock {
    /// Slots; a lane not in use has the tile's padding row.
    pub a: Places,
    pub b: Places,
    /// From A to B.
    pub normal_x: [f32; BLOCK],
    pub normal_y: [f32; BLOCK],
    /// At the start of the step; negative when overlapping.
    pub separation: [f32; BLOCK],
    /// Per substep, accumulated; never negative.
    pub normal_impulse: [f32; BLOCK],
    /// 1 / (sum of inverse masses).
    pub normal_mass: [f32; BLOCK],
    /// Speed at which the gap may close, if there is one, as of the substep's start. Of a contact with a manifold also [`FRESH`] or
    /// [`LANDED`], in place of the 0 of a point that bears something.
    pub closing_speed: [f32; BLOCK],
}

/// What it needs besides for friction.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct FrictionBlock {
    pub tangent_impulse: [f32; BLOCK],
    pub tangent_mass: [f32; BLOCK],
    pub static_friction: [f32; BLOCK],
    pub dynamic_friction: [f32; BLOCK],
}

/// What it needs besides for restitution. Only in worlds where something bounces.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct BounceBlock {
    pub restitution: [f32; BLOCK],
    /// Normal impulse that each point has borne since the step before; what rests does not bounce.
    pub resting: [[f32; BLOCK]; 2],
    /// Normal velocity before the first impulse of this impact, if fast enough to bounce; 0 without an impact. More than 0 marks a
    /// jammed contact that was struck.
    pub approach: [f32; BLOCK],
    /// Kinetic energy that the normal impulses of this impact have taken, J; of all points of the contact.
    pub absorbed: [f32; BLOCK],
    /// The impulses of the contacts that bounced in this step: along the normal at each point, and along the tangent. They
    /// are kept here, and the contact's own set to zero: a warm start with them would give the next step's contacts
    /// of the same body an approach that is none (an elastic gas gained 4 % of its energy in 1,000 steps).
    pub normal_impulse: [[f32; BLOCK]; 2],
    pub tangent_impulse: [f32; BLOCK],
    /// By how much the arms of a contact with a manifold were shifted in this step, along the tangent and the normal: see
    /// `solver/manifold.rs`.
    pub shift: [[f32; BLOCK]; 2],
}

impl BounceBlock {
    /// Nothing bounces.
    pub(crate) const NONE: BounceBlock = BounceBlock {
        restitution: [0.0; BLOCK],
        resting: [[0.0; BLOCK]; 2],
        approach: [0.0; BLOCK],
        absorbed: [0.0; BLOCK],
        normal_impulse: [[0.0; BLOCK]; 2],
        tangent_impulse: [0.0; BLOCK],
        shift: [[0.0; BLOCK]; 2],
    };

    /// Copies a lane of another block.
    fn copy_lane(&mut self, from: &BounceBlock, lane: usize) {
        self.restitution[lane] = from.restitution[lane];
        self.approach[lane] = from.approach[lane];
        self.absorbed[lane] = from.absorbed[lane];
        self.tangent_impulse[lane] = from.tangent_impulse[lane];
        for point in 0..2 {
            self.resting[point][lane] = from.resting[point][lane];
            self.normal_impulse[point][lane] = from.normal_impulse[point][lane];
            self.shift[point][lane] = from.shift[point][lane];
        }
    }
}

/// By how much unit impulses at a point change the spins of A and B, and how fast the point moves as they spin: see
/// `contacts/update/manifold.rs`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Arms {
    /// Along the normal, at both points.
    pub normal: [[[f32; BLOCK]; 2]; 2],
    /// Along the tangent, in the middle of the points that are near.
    pub tangent: [[f32; BLOCK]; 2],
}

/// The second point of a contact with a manifold: what `NormalBlock` holds of the first. Friction is one for both points.
#[derive(Clone, Copy)]
pub(crate) struct SecondPoint {
    pub separation: [f32; BLOCK],
    pub normal_impulse: [f32; BLOCK],
    pub normal_mass: [f32; BLOCK],
    pub closing_speed: [f32; BLOCK],
}

/// What contacts with a manifold have besides.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct ManifoldBlock {
    pub arms: Arms,
    pub second: SecondPoint,
    /// Which points they are.
    pub feature: [[f32; BLOCK]; 2],
    /// One over the lengths in which the bodies' spins are measured; 0 for what does not turn.
    pub inv_spin_a: [f32; BLOCK],
    pub inv_spin_b: [f32; BLOCK],
    /// Sum of both shapes' distances from their centres to their furthest points.
    pub reach: [f32; BLOCK],
    /// Rows of the shapes: their bodies' own, or those of parts.
    pub shape_a: Places,
    pub shape_b: Places,
    /// The first rows of their outlines; of what has none, those of outline 0.
    pub outline_a: Places,
    pub outline_b: Places,
    /// x and y of both points, from A's shape's centre.
    pub place: [[[f32; BLOCK]; 2]; 2],
}

/// What contacts have besides that brake rolling or convey. Only in worlds where some do.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct RoughBlock {
    /// Largest torque per normal force, m.
    pub rolling: [f32; BLOCK],
    pub rolling_impulse: [f32; BLOCK],
    /// What both surfaces' speeds add to the sliding velocity.
    pub tangent_speed: [f32; BLOCK],
}

/// [`BlockInfo::manifold`] of a block that has no [`ManifoldBlock`].
pub(crate) const NO_MANIFOLD: u32 = u32::MAX;

/// One bit a lane, lane 0 lowest.
#[derive(Clone, Copy)]
pub(crate) struct BlockInfo {
    /// Lanes that were ever in use: the first so many.
    pub count: u8,
    /// Those of them whose bodies were removed.
    pub dropped: u16,
    /// Solved in this step.
    pub active: u16,
    /// Touching in this step.
    pub touching: u16,
    /// Touching in the step before.
    pub touched: u16,
    /// Some lane came fast enough to bounce in this step.
    pub bounced: bool,
    /// The colour of all its lanes; [`SERIAL`] where they may share bodies.
    pub colour: u8,
    /// What a manifold block's kernel has to read, as bits: 1 if there is a box; 2, 4 and 8 if there is an outline of no more vertices.
    pub capacity: u8,
    /// The place of a manifold block among the manifold blocks.
    pub manifold: u32,
}

impl Default for BlockInfo {
    fn default() -> Self {
        BlockInfo {
            count: 0,
            dropped: 0,
            active: 0,
            touching: 0,
            touched: 0,
            bounced: false,
            colour: SERIAL as u8,
            capacity: 0,
            manifold: NO_MANIFOLD,
        }
    }
}

impl BlockInfo {
    /// The lanes in use, as bits.
    pub(crate) fn used(&self) -> u16 {
        ((1u32 << self.count) - 1) as u16 & !self.dropped
    }

    /// Where the vectors begin that have one of these lanes. (The last block of each colour is half empty: 2 to 5 % of the
    /// vectors of 8. The solver's manifold kernels do all: `granule run many_pyramids --threads 1` took 3 % more with the choice.)
    #[inline(always)]
    pub(crate) fn vectors<L: Lane>(lanes: u16) -> impl Iterator<Item = usize> {
        let all = ((1u32 << L::WIDTH) - 1) as u16;
        (0..BLOCK / L::WIDTH)
            .map(|vector| (vector * L::WIDTH) & (BLOCK - L::WIDTH))
            .filter(move |first| lanes >> first & all != 0)
    }
}

/// Blocks of one kind of pair in a tile: coloured ones, then those to be solved lane after lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub start: u32,
    /// The first block whose lanes may share a body.
    pub serial: u32,
    pub end: u32,
}

impl Run {
    pub(crate) fn coloured(&self) -> Range<usize> {
        self.start as usize..self.serial as usize
    }

    pub(crate) fn serial(&self) -> Range<usize> {
        self.serial as usize..self.end as usize
    }
}

/// For each kind, its near pairs' blocks, then the others'. The others of two bodies that move are candidates (but in the far
/// tile): in their place are blocks for those that come near while the list lives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Runs([Run; 2 * KINDS]);

impl Default for Runs {
    fn default() -> Self {
        Runs([Run::default(); 2 * KINDS])
    }
}

impl std::ops::Deref for Runs {
    type Target = [Run; 2 * KINDS];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl std::ops::DerefMut for Runs {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// The contacts of one tile.
#[derive(Default)]
pub(crate) struct Tile {
    pub found: Found,
    pub normal: Vec<NormalBlock>,
    pub friction: Vec<FrictionBlock>,
    pub bounce: Vec<BounceBlock>,
    /// The manifold blocks, see [`BlockInfo::manifold`]; `rough` has the same places.
    pub manifold: Vec<ManifoldBlock>,
    pub rough: Vec<RoughBlock>,
    pub info: Vec<BlockInfo>,
    pub runs: Runs,
    /// The runs that have blocks, as bits.
    pub occupied: u64,
    /// Lane of each pair: block × 16 + lane; [`NO_LANE`] of a candidate.
    pub lane_of: Vec<u32>,
    /// The pairs without lanes.
    pub candidates: Vec<CandidateBlock>,
    pub candidate_runs: CandidateRuns,
    /// The tile's bodies, and those of the next tile: what it may write.
    pub slots: Range<usize>,
    pub next_end: usize,
    /// Row of the mirror that unused lanes read and write.
    pub padding: u32,
    /// How many rows the blocks ask for.
    pub limits: Limits,
    scratch: build::Scratch,
}

/// A pair of bodies that began or ceased to touch in the last step. Bodies of several shapes touch from when the first
/// two of their shapes do until the last two have ceased to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactEvent {
    /// One body.
    pub a: BodyHandle,
    /// The other.
    pub b: BodyHandle,
}

/// All contacts of a world.
#[derive(Default)]
pub(crate) struct Contacts {
    /// One for each tile that the broadphase can have of so many bodies, so that a tile that comes and goes keeps its memory.
    tiles: Vec<Tile>,
    active_tiles: usize,
    /// Contacts with large moving bodies.
    pub overflow: Tile,
    carry: Carry,
    spare: Mutex<Vec<carry::Kept>>,
    /// The overflow tile's pairs, sorted, and where they are in it.
    overflow_keys: Vec<(Key, u32)>,
    /// The pairs whose flags changed in this step, see `events.rs`.
    changed: Vec<events::Changed>,
    /// What tiles have room for, and the overflow tile.
    room: Room,
    overflow_room: Room,
    crowded: Vec<u32>,
    dropped: drop::Dropped,
    pub begin: Vec<ContactEvent>,
    pub end: Vec<ContactEvent>,
}

/// What a pair list is of, and how its contacts are made.
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
        let old_slot = &broadphase.bands.order;
        build::Build { bodies, mixing, carry, old_slot, speculative, spare }
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

    /// Pairs in the list.
    pub(crate) fn pair_count(&self) -> usize {
        self.all().map(|tile| tile.found.pairs.len()).sum()
    }

    /// Bounds that were looked at for the present list.
    pub(crate) fn test_count(&self) -> u64 {
        self.all().map(|tile| tile.found.tests).sum()
    }

    /// The slots of the bodies that have fewer partners in the list than there are: see `broadphase/crowd.rs`.
    pub(crate) fn crowded(&self) -> &[u32] {
        &self.crowded
    }

    fn gather_crowded(&mut self) {
        let mut crowded = std::mem::take(&mut self.crowded);
        crowded.clear();
        self.all().for_each(|tile| crowded.extend_from_slice(tile.found.crowded()));
        self.crowded = crowded;
    }

    /// Pairs near enough to be solved in the last step.
    pub(crate) fn contact_count(&self) -> usize {
        self.all().flat_map(|tile| &tile.info).map(|info| info.active.count_ones() as usize).sum()
    }

    /// Takes the impulses out of the old blocks, before slots change.
    pub(crate) fn carry_out(&mut self, bodies: &Bodies, built: usize, crew: &Crew<'_>) {
        // With what was added while the list lived.
        self.room.fit(&self.tiles[..self.active_tiles], 2);
        self.carry.take(&self.tiles[..self.active_tiles], &self.overflow, bodies, built, crew);
    }

    /// Finds the pairs of every tile. `lanes` picks the width.
    pub(crate) fn find(
        &mut self,
        broadphase: &Broadphase,
        bodies: &Bodies,
        lanes: crate::settings::Lanes,
        crew: &Crew<'_>,
    ) {
        let wanted = broadphase.tiles.len();
        let most = broadphase.most_tiles(bodies.len).max(wanted);
        if self.tiles.len() < most {
            self.tiles.resize_with(most, Tile::default);
        }
        self.active_tiles = wanted;
        let bands = &broadphase.tiles;
        let tiles = &mut self.tiles[..wanted];
        let mirror_rows = bodies.len;
        for (i, tile) in tiles.iter_mut().enumerate() {
            tile.slots = bands[i].slots.clone();
            tile.next_end = bands.get(i + 1).map_or(tile.slots.end, |next| next.slots.end);
            tile.padding = (mirror_rows + i) as u32;
        }
        crew.for_each(tiles, |i, tile| {
            crate::lane::with_lanes!(lanes, L => broadphase.sweep::<L>(bodies, &bands[i], &mut tile.found));
        });
        let overflow = &mut self.overflow;
        overflow.padding = (mirror_rows + wanted) as u32;
        overflow.slots = 0..0;
        overflow.next_end = 0;
        overflow.found.clear();
        for tile in tiles.iter() {
            overflow.found.pairs.extend_from_slice(&tile.found.overflow);
        }
        broadphase.sweep_among_large(bodies, &mut overflow.found);
        self.overflow_keys.clear();
        self.overflow_keys.extend(overflow.found.pairs.iter().map(key).zip(0..));
        self.overflow_keys.sort_unstable();
        self.gather_crowded();
    }

    /// Makes room for what the next lists may need: see `room.rs`.
    fn make_room(&mut self, list: &List<'_>, threads: usize) {
        let bodies = list.bodies;
        self.room.fit(&self.tiles[..self.active_tiles], 2);
        let room = self.room;
        let most = self.tiles.len();
        let lacking = self.tiles.iter_mut().filter(|tile| !tile.has(&room));
        lacking.take(room::share(most)).for_each(|tile| tile.reserve(&room, bodies));
        self.make_far_room(list);
        // One for each thread, from when one was needed.
        let spare = self.spare.get_mut().expect("no worker panicked");
        if !spare.is_empty() && spare.len() < threads {
            spare.resize_with(threads, Default::default);
        }
        spare.iter_mut().for_each(|kept| kept.reserve(room.blocks * BLOCK, bodies.any_manifold));
        let lanes: usize = self.tiles().iter().map(|tile| tile.info.len() * BLOCK).sum();
        self.carry.reserve(lanes, bodies);
    }

    fn make_far_room(&mut self, list: &List<'_>) {
        let bodies = list.bodies;
        // Besides what large bodies touch, the pairs of the bodies that may become loose before the next list.
        let loose_pairs = 2 * list.broadphase.bounds.allowance.per_list;
        // A load that tumbles in a drum comes at once.
        self.overflow_room.fit(std::slice::from_ref(&self.overflow), 4);
        let loose = Room::of_loose(loose_pairs, loose_pairs / 4, bodies.any_manifold);
        let room = self.overflow_room.max(loose);
        self.overflow.reserve(&room, bodies);
        at_least(&mut self.overflow_keys, room.pairs);
        self.carry.reserve_overflow(room.pairs);
    }

    /// Colours the pairs found and lays out their blocks, with the impulses carried over.
    pub(crate) fn build(&mut self, list: &List<'_>, crew: &Crew<'_>) {
        let build = list.build(&self.carry, &self.spare);
        crew.for_each(&mut self.tiles[..self.active_tiles], |_, tile| build.tile(tile, true));
        build.tile(&mut self.overflow, false);
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

    /// The tile that a slot is in.
    fn tile_of(&self, slot: u32) -> Option<&Tile> {
        let tile = self.tiles().partition_point(|tile| tile.slots.end <= slot as usize);
        self.tiles().get(tile)
    }
}

/// What pairs are sorted by.
pub(crate) type Key = (u32, u32, [u8; 2]);

fn key(pair: &Pair) -> Key {
    (pair.a, pair.b, pair.parts)
}

impl Tile {
    /// Whether any contact is solved in this step.
    pub(crate) fn is_active(&self) -> bool {
        self.info.iter().any(|info| info.active != 0)
    }

    /// An estimate of the time that a pass takes, for sharing out: a block costs as much as integrating some
    /// 128 bodies.
    pub(crate) fn work(&self) -> usize {
        let active = self.info.iter().filter(|info| info.active != 0).count();
        128 * active + self.slots.len()
    }

    /// The manifold block of a block, if it is one.
    pub(crate) fn manifold_of(&self, block: usize) -> Option<&ManifoldBlock> {
        self.manifold.get(self.info[block].manifold as usize)
    }

    /// Block and lane of a pair; none of a candidate.
    pub(crate) fn place(&self, pair: usize) -> Option<(usize, usize)> {
        let lane = self.lane_of[pair] as usize;
        (lane != NO_LANE as usize).then_some((lane / BLOCK, lane % BLOCK))
    }

    /// The runs that have blocks with their kinds, in the order in which they are solved.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (PairKind, Run)> + use<> {
        let (runs, mut left) = (self.runs, self.occupied);
        std::iter::from_fn(move || {
            let index = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            runs.get(index).map(|&run| (PairKind::ALL[index / 2], run))
        })
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
