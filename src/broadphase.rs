//! Broadphase: banded sort-and-sweep, and a pair list that lives for several steps.
//!
//! ```text
//! rebuild, when a body has left its margin (or bodies were added, removed, moved by hand):
//!     grow every body's bounds by its margin
//!     cut the world's longer axis into bands, as high as the highest body    (bands.rs)
//!     order the bodies by band, within a band along the other axis; order the columns alike
//!     group bands into tiles of some hundred bodies
//!     for each tile, for each body in order:                                 (sweep.rs)
//!         partners later in its own band, in the next band, among the large bodies
//! ```
//!
//! The reasons for this design:
//!
//! 1. A body is in one band only, that of its lower bound. No body is higher than a band, so its partners are in the
//!    same or the next band, and no pair is found twice. (Entering a body into each band that it touches would cost
//!    more entries than bodies, and the order of each band would have to be merged anew.)
//! 2. Slots *are* the sweep's order. So the sweep runs over contiguous bounds, and the pairs come out sorted by (a, b)
//!    without a sort.
//! 3. The longer axis is cut, so bands are short: at a million bodies in a square, 800 to 1,400 bodies each. The solver
//!    rows of two neighbouring bands fit a second-level cache.
//! 4. Bodies more than a few times larger than the rest (floors, walls, terrain) would make the bands high. They go to
//!    the end of the order, and are looked up in bands of their own sizes: see `levels.rs`.
//! 5. A few bodies that leave their margin early are paired anew on their own: see `loose.rs`.
//! 6. Margins grow with speed, so that fast bodies do not force a rebuild every step, and slow ones have few partners
//!    that they do not touch. Speed is measured against the surroundings: see `frames.rs`. For how many steps margins
//!    are to last is found by trial: see `horizon.rs`.
//! 7. Where lists live hardly longer than a step, they are made for one step alone, and hold only the pairs that count
//!    in it: see `fleeting.rs`.
//! 8. Where bodies lie in one heap, each on all others, a body gets a limited number of partners: see `crowd.rs`.

pub(crate) mod bands;
pub(crate) mod crowd;
pub(crate) mod discs;
mod fleeting;
mod frames;
mod growth;
mod horizon;
pub(crate) mod levels;
pub(crate) mod loose;
mod parts;
mod probe;
pub(crate) mod shapes;
mod snapshot;
mod still;
pub(crate) mod strays;
pub(crate) mod sweep;
pub(crate) mod tree;
pub(crate) mod unlisted;
pub(crate) mod walk;

use crate::base::prefetch::prefetch_all;
use crate::base::room::{like, resize};
use crate::body::{Bodies, Kind};
use crate::crew::CHUNK;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Mask, Row, padded, with_lanes};
use crate::settings::Settings;
use bands::Bands;
use fleeting::Motions;
use frames::Frames;
use growth::{Growing, grow};
pub(crate) use horizon::LastList;
use horizon::{HORIZON_STEPS, Horizon, ONE_STEP};
use levels::Levels;
use loose::Allowance;
use shapes::Boxes;
use std::ops::Range;
use strays::Strays;

/// How bounds are grown. The pair list stays valid as long as no body is further from where it was than its `leeway`,
/// against its frame, now and at the end of the next step.
#[derive(Clone, Copy, Default)]
pub(crate) struct Margins {
    /// Distance below which contacts are solved; part of every moving body's growth.
    pub speculative: f32,
    /// Largest leeway of a body at rest.
    base: f32,
    /// For how long a body should stay in its margin at its present speed, s.
    pub horizon: f32,
    time_step: f32,
    /// The part of a body's leeway that comes from its speed is at most this many times its smaller half extent, but
    /// always enough for a step.
    most: f32,
    /// In a list of one step, the largest growth of a moving body: see `broadphase/fleeting.rs`.
    fastest: Option<f32>,
}

crate::base::codec::stored!(Margins { speculative, base, horizon, time_step, most, fastest });

/// The filters of all bodies together: the categories of any body, and the categories that any body touches. A filter
/// has to meet these to touch anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Present {
    categories: u32,
    masks: u32,
}

crate::base::codec::stored!(Present { categories, masks });

impl Default for Present {
    /// Returns bits that every filter meets, for a world in which no body has a filter.
    fn default() -> Self {
        Present { categories: u32::MAX, masks: u32::MAX }
    }
}

impl Present {
    fn of(bodies: &Bodies) -> Present {
        if !bodies.any_filter {
            return Present::default();
        }
        let c = &bodies.columns;
        let parts = || bodies.compounds.iter().flat_map(|compound| &compound.parts);
        let all = |column: &[u32]| column[..bodies.len].iter().fold(0, |all, bits| all | bits);
        Present {
            categories: parts().fold(all(&c.category), |all, placed| all | placed.part.filter.category),
            masks: parts().fold(all(&c.mask), |all, placed| all | placed.part.filter.mask),
        }
    }

    /// Returns whether a body's filter keeps it from touching any of these.
    #[inline]
    fn avoids(&self, bodies: &Bodies, slot: usize) -> bool {
        let c = &bodies.columns;
        (c.mask[slot] & self.categories == 0 || c.category[slot] & self.masks == 0)
            && c.kind[slot].shape() != ShapeKind::Compound
    }

    /// Returns whether a body with this filter touches all bodies of which the same is true.
    #[inline(always)]
    fn is_open(&self, mask: u32, category: u32, group: u32) -> bool {
        (mask & self.categories == self.categories) & (category != 0) & (group == 0)
    }

    fn all_avoid(&self, bodies: &Bodies) -> bool {
        bodies.any_filter && (0..bodies.len).all(|slot| self.avoids(bodies, slot))
    }
}

/// Bands are as high as the most grown body, so leeway is limited. Where there are no pairs to find, bands may be high.
/// (`peers --scenes joint-grid`, 1 thread: a median step of 0.7 to 1.0 ms instead of 1.8 to 2.7.)
const MOST_REACH: f32 = 2.0;
const MOST_REACH_WITHOUT_PAIRS: f32 = 20.0;
/// Frames are looked for if bodies move at least this part of the largest base leeway within the horizon.
const FRAME_REACH: f32 = 0.5;

impl Margins {
    pub(crate) fn new(settings: &Settings) -> Self {
        Margins {
            speculative: settings.speculative_distance(),
            base: 20.0 * settings.slop,
            horizon: HORIZON_STEPS * settings.time_step,
            time_step: settings.time_step,
            most: MOST_REACH,
            fastest: None,
        }
    }
}

/// The grown bounds of every slot, by axis: `s` is the axis along which bands are sorted, `b` the axis that is cut into
/// bands. They are padded by one widest lane of bounds that overlap nothing.
#[derive(Default)]
pub(crate) struct Bounds {
    pub min_s: Vec<f32>,
    pub max_s: Vec<f32>,
    pub min_b: Vec<f32>,
    pub max_b: Vec<f32>,
    /// The largest `max_s` in the band up to this slot.
    pub front: Vec<f32>,
    /// How far around each shape others count as partners, see `Growth`.
    pub growth: Vec<f32>,
    /// In a list of one step: the speculative distance for a body that contacts move, and infinity for others.
    pub limit: Vec<f32>,
    /// Where the body was when the bounds were made …
    pub built_x: Vec<f32>,
    pub built_y: Vec<f32>,
    /// … how its frame moves …
    pub frame_x: Vec<f32>,
    pub frame_y: Vec<f32>,
    /// … how it was turned (only where there are bodies that turn) …
    pub built_angle: Vec<f32>,
    /// … and how far it may go from there before the pair list is stale.
    pub leeway: Vec<f32>,
    /// Time since the bounds were made, s.
    pub age: f32,
    /// Steps since the bounds were made.
    pub steps: u32,
    /// The bounds hold up to this age at most, whatever the bodies do, s.
    pub lifetime: f32,
    /// How much more the bounds of large bodies were grown, for the frames' motion, m.
    pub large_growth: f32,
    /// How many bodies may leave their bounds before there must be a new list.
    pub allowance: Allowance,
}

impl Bounds {
    /// The columns that a list of any kind has: one number for each slot, and padding of infinities.
    fn columns_mut(&mut self) -> [&mut Vec<f32>; 10] {
        let Bounds { min_s, max_s, min_b, max_b, growth, built_x, built_y, frame_x, frame_y, leeway, .. } =
            self;
        [min_s, max_s, min_b, max_b, growth, built_x, built_y, frame_x, frame_y, leeway]
    }

    /// Prefetches what each step reads.
    pub(crate) fn prefetch(&self) {
        let Bounds { built_x, built_y, built_angle, frame_x, frame_y, leeway, .. } = self;
        [built_x, built_y, built_angle, frame_x, frame_y, leeway]
            .into_iter()
            .for_each(|column| prefetch_all(column));
    }

    /// Returns whether bodies at these positions and velocities have left, or are about to leave, what their bounds
    /// allow. The positions are as of `age`. A step's movement may use up the speculative distance, by which the bounds
    /// were grown as well. `turned` is angle, angular velocity and the distance of the furthest point from the centre,
    /// where there are bodies that turn: the furthest point moves by this distance times the angle.
    #[inline(always)]
    pub(crate) fn left<L: Lane>(
        &self,
        slot: usize,
        pos: [L; 2],
        vel: [L; 2],
        turned: Option<[L; 3]>,
        margins: &Margins,
    ) -> L::Mask {
        let time_step = L::splat(margins.time_step);
        let (frame_x, frame_y) = (L::load(&self.frame_x[slot..]), L::load(&self.frame_y[slot..]));
        let [moved_x, moved_y] = self.moved(slot, pos);
        let next_x = moved_x + time_step * (vel[0] - frame_x);
        let next_y = moved_y + time_step * (vel[1] - frame_y);
        let mut leeway = L::load(&self.leeway[slot..]);
        let mut next_leeway = leeway + L::splat(margins.speculative);
        if let Some([angle, omega, arm]) = turned {
            let angle = self.turned(slot, angle);
            leeway = leeway - arm * angle.abs();
            next_leeway = next_leeway - arm * (angle + time_step * omega).abs();
        }
        let gone = (moved_x * moved_x + moved_y * moved_y)
            .gt(leeway * leeway)
            .or((next_x * next_x + next_y * next_y).gt(next_leeway * next_leeway));
        if turned.is_none() {
            return gone;
        }
        // Bodies that have turned too far for any leeway have left, too.
        let zero = L::splat(0.0);
        gone.or(leeway.lt(zero)).or(next_leeway.lt(zero))
    }

    /// Returns how far bodies are from where they were when the bounds were made, against their frames.
    #[inline(always)]
    fn moved<L: Lane>(&self, slot: usize, [x, y]: [L; 2]) -> [L; 2] {
        macro_rules! load {
            ($column:ident) => {
                L::load(&self.$column[slot..])
            };
        }
        let age = L::splat(self.age);
        [x - load!(built_x) - load!(frame_x) * age, y - load!(built_y) - load!(frame_y) * age]
    }

    /// Returns by which angles bodies have turned since then, modulo a turn: both angles are within half a turn of 0.
    #[inline(always)]
    fn turned<L: Lane>(&self, slot: usize, angle: L) -> L {
        let (half, whole) = (L::splat(std::f32::consts::PI), L::splat(std::f32::consts::TAU));
        let angle = angle - L::load(&self.built_angle[slot..]);
        let angle = L::select(angle.gt(half), angle - whole, angle);
        L::select(angle.lt(-half), angle + whole, angle)
    }

    /// Returns how far bodies are out of their bounds, m: at most 0 for those that are not. `turned` is as in [`Bounds::left`].
    #[inline(always)]
    pub(crate) fn excess<L: Lane>(&self, slot: usize, pos: [L; 2], turned: Option<[L; 3]>) -> L {
        let [x, y] = self.moved(slot, pos);
        let mut way = (x * x + y * y).sqrt();
        if let Some([angle, _, arm]) = turned {
            way = way + arm * self.turned(slot, angle).abs();
        }
        way - L::load(&self.leeway[slot..])
    }

    /// Ages the bounds by a step. Returns false if they do not hold for another step.
    pub(crate) fn age_by(&mut self, time_step: f32) -> bool {
        self.age += time_step;
        self.steps = self.steps.saturating_add(1);
        self.age + time_step <= self.lifetime
    }
}

/// The order of space, and the data to find pairs in it.
#[derive(Default)]
pub(crate) struct Broadphase {
    pub(crate) bands: Bands,
    /// The large bodies, ordered by place: those that may move, with the half-spaces, and those that stand still.
    levels: [Levels; 2],
    frames: Frames,
    pub(crate) bounds: Bounds,
    /// The bodies that are out of their bounds.
    pub(crate) strays: Strays,
    /// Slots of the loose bodies, in order: their bounds in the arrays are out of date, and their margins were renewed.
    pub(crate) loose: Vec<u32>,
    /// The grown bounds of the loose bodies, see `Broadphase::loose_box`.
    loose_boxes: Vec<[[f32; 2]; 2]>,
    /// The margins of the present list.
    margins: Margins,
    horizon: Horizon,
    /// The present list is made for this step alone.
    fleeting: bool,
    /// `[x, y, ext_x, ext_y]` of each slot as of the rebuild. (The rows of the mirror are fresh in every step.)
    pub(crate) shape: Vec<Row>,
    /// The box of each slot as of the rebuild.
    pub(crate) boxes: Boxes,
    /// The parts of compounds as of the rebuild.
    parts: parts::PlacedParts,
    /// The slots of each tile: whole bands, in order.
    pub(crate) tiles: Vec<TileBands>,
    /// How many of the tiles are searched in the step before the list counts, if its pairs are found ahead.
    pub(crate) tiles_ahead: usize,
    /// The number of slots at the last rebuild. The first `bands.banded` of them are in bands.
    pub(crate) built: usize,
    /// The number of slots that had a body then. The rest is for bodies that come while the list lives.
    pub(crate) listed: usize,
    /// In a world with hulls, the slots in bands that are not corners of a hull.
    pub(crate) loners: Vec<u32>,
    /// For how many steps more static bodies of usual size are in bands: after the host removed one, or put it elsewhere.
    edited_statics: u32,
    /// The height of the bands for which the bodies that stand still were put in order, m.
    still_height: f32,
    /// Large slots near a loose body.
    near_loose: Vec<u32>,
    /// How many bounds were tested for loose bodies since the rebuild.
    pub(crate) tests: u64,
    /// The filters that were present at the rebuild.
    present: Present,
}

/// A tile: neighbouring bands, and so neighbouring slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TileBands {
    /// A range of `Bands::list`.
    pub bands: Range<usize>,
    pub slots: Range<usize>,
}

/// Returns whether the pairs of so many bodies may be found ahead, a step before they count (`world/ahead.rs`). A list of fewer bodies costs too
/// little to be worth the memory for a second order.
pub(crate) fn looks_ahead(bodies: usize) -> bool {
    bodies >= 64
}

/// Returns the number of bodies per tile: small enough for the solver rows of two tiles and the contacts of one to stay
/// in a second-level cache, large enough for full blocks, with enough tiles to share among threads.
fn tile_bodies(bodies: usize) -> usize {
    (bodies / 64).clamp(256, 1024)
}

impl Broadphase {
    /// Makes this the broadphase of the list after another one's: the next [`Broadphase::order`] goes on from there.
    pub(crate) fn follow(&mut self, last: &Broadphase) {
        self.bands.along_x = last.bands.along_x;
        self.horizon = last.horizon;
        (self.bounds.steps, self.tests) = (last.bounds.steps, last.tests);
        (self.edited_statics, self.still_height) = (last.edited_statics, last.still_height);
        self.make_room_like(last);
        self.bounds.built_angle.clone_from(&last.bounds.built_angle);
        self.built = last.built;
        self.levels.iter_mut().zip(&last.levels).for_each(|(levels, last)| levels.follow(last));
    }

    /// Exchanges the memory that is of use only while bodies are put in order. One of two broadphases has it.
    pub(crate) fn exchange_memory(&mut self, other: &mut Broadphase) {
        std::mem::swap(&mut self.bands.memory, &mut other.bands.memory);
    }

    /// Makes room for as much as another broadphase has room for, so that both grow in the same step.
    pub(crate) fn make_room_like(&mut self, other: &Broadphase) {
        let (bounds, like_bounds) = (&mut self.bounds, &other.bounds);
        like!(bounds, like_bounds; min_s, max_s, min_b, max_b, front, growth, limit);
        like!(bounds, like_bounds; built_x, built_y, frame_x, frame_y, built_angle, leeway);
        like!(self, other; shape, tiles, loners, loose, loose_boxes, near_loose);
        self.bands.make_room_like(&other.bands);
        self.levels.iter_mut().zip(&other.levels).for_each(|(levels, other)| levels.make_room_like(other));
        self.frames.make_room_like(&other.frames);
        self.boxes.make_room_like(&other.boxes);
        self.parts.make_room_like(&other.parts);
        self.strays.make_room_like(&other.strays);
    }

    /// Puts the bodies into the order of space. Afterwards `bands.order[new slot]` is the old slot. If `expects_bodies`
    /// is true, vacant slots follow the bodies: as many as bodies may be put elsewhere by hand while the list lives.
    pub(crate) fn order(
        &mut self,
        bodies: &mut Bodies,
        margins: &Margins,
        last: &LastList,
        expects_bodies: bool,
        level: Level,
        crew: &Crew<'_>,
    ) {
        // Whoever gives a body of the list another shape or angle sees to its extents.
        let known = &self.bounds.built_angle;
        bodies.prepare_outlines(&known[..known.len().min(self.built)], crew);
        let motion = Motions::of(bodies, margins, level);
        let turning = 2 * motion.turning > bodies.len;
        self.bounds.allowance = Allowance::of(bodies.len, turning);
        let margins = &self.adapt_horizon(margins, last, turning, &motion);
        let extent = self.bands.choose_axis(bodies);
        // A list of one step uses no frames.
        let threshold =
            if self.fleeting { f32::INFINITY } else { FRAME_REACH * margins.base / margins.horizon };
        self.present = Present::of(bodies);
        self.frames.choose(bodies, extent, threshold, (motion.mean_speed(), margins.time_step));
        self.margins = self.margins_for(bodies, margins);
        if self.fleeting {
            self.margins.fastest = motion.fastest(&self.margins);
        }
        let margins = self.margins;
        let still = self.still_in_bands(bodies);
        self.bands.plan(bodies, (&margins, &self.frames), still, level, crew);
        self.group_tiles();
        self.tiles_ahead =
            (last.part_ahead(turning, motion.moving) * self.tiles.len() as f32).round() as usize;
        self.bands.sort(&self.tiles, crew);
        bodies.permute(&self.bands.order, self.bands.still..self.bands.large_end);
        self.bands.memory.known = bodies.known_still();
        self.loners.clear();
        if !bodies.corners.is_empty() {
            let banded = 0..self.bands.banded as u32;
            self.loners.extend(banded.filter(|&slot| !bodies.is_corner(slot as usize)));
        }
        self.listed = bodies.len;
        if expects_bodies {
            bodies.add_vacant(loose::edits_per_list(bodies.len));
        }
        // The vacant slots have no old slot.
        self.bands.order.resize(bodies.len, u32::MAX);
        self.clear_loose();
        self.built = bodies.len;
        let height = self.bands.height as f32;
        let near = if self.fleeting { motion.near(&margins) } else { 0.0 };
        self.strays.clear(bodies.len, near.max(0.25 * height));
        self.fill_bounds(bodies, &margins, level, crew);
        if !bodies.compounds.is_empty() {
            self.place_parts(bodies);
        }
        self.build_levels(bodies);
        self.tests = 0;
    }

    /// The margins of the next list: as far as the host's, for as long as the frames allow; further if no pairs are found at all.
    fn margins_for(&self, bodies: &Bodies, margins: &Margins) -> Margins {
        let finds_pairs =
            (0..bodies.len).any(|slot| bodies.columns.inv_mass[slot] > 0.0 && !bodies.is_corner(slot));
        if !finds_pairs || self.present.all_avoid(bodies) {
            Margins { most: MOST_REACH_WITHOUT_PAIRS, ..*margins }
        } else {
            let horizon = self.frames.horizon(margins.horizon, ONE_STEP * margins.time_step);
            Margins { horizon, ..*margins }
        }
    }

    /// Returns true if the list was made for bodies that turn.
    pub(crate) fn is_turning(&self) -> bool {
        self.boxes.turned
    }

    /// Returns whether contacts can move any large body.
    pub(crate) fn large_moves(&self, bodies: &Bodies) -> bool {
        bodies.columns.inv_mass[self.bands.banded..self.bands.large_end]
            .iter()
            .any(|&inv_mass| inv_mass > 0.0)
    }

    /// Returns the most tiles that so many bodies can make: each tile but the last has at least its full number.
    pub(crate) fn most_tiles(&self, bodies: usize) -> usize {
        bodies / tile_bodies(bodies) + 1
    }

    /// Groups bands into tiles.
    fn group_tiles(&mut self) {
        let target = tile_bodies(self.bands.banded);
        self.tiles.clear();
        self.tiles.reserve(self.most_tiles(self.bands.banded));
        let mut first = 0;
        for (i, band) in self.bands.list.iter().enumerate() {
            let start = self.bands.list[first].slots.start;
            let last = i + 1 == self.bands.list.len();
            if last || band.slots.end - start >= target {
                self.tiles.push(TileBands { bands: first..i + 1, slots: start..band.slots.end });
                first = i + 1;
            }
        }
    }

    /// Fills the bounds, the margins and the shape rows of all slots, in the new order.
    fn fill_bounds(&mut self, bodies: &Bodies, margins: &Margins, level: Level, crew: &Crew<'_>) {
        let enabled = self.frames.enabled;
        let bounds = &mut self.bounds;
        (bounds.age, bounds.steps) = (0.0, 0);
        bounds.lifetime = match () {
            () if self.fleeting => 0.0,
            () if enabled => margins.horizon,
            () => f32::INFINITY,
        };
        bounds.large_growth = if enabled { margins.horizon * self.frames.fastest } else { 0.0 };
        self.grow_bounds(bodies, margins, level, crew);
        if bodies.any_manifold {
            resize(&mut self.bounds.built_angle, padded(bodies.len) + MAX_WIDTH);
            self.bounds.built_angle[..bodies.len].copy_from_slice(&bodies.columns.angle[..bodies.len]);
        }
        if self.fleeting {
            self.fill_limits(bodies, margins);
        }
        self.boxes.fill(bodies, padded(bodies.len) + MAX_WIDTH, level, crew);
        self.fill_fronts(crew);
    }

    /// Grows the bounds of each slot by its margin, and writes its shape row.
    fn grow_bounds(&mut self, bodies: &Bodies, margins: &Margins, level: Level, crew: &Crew<'_>) {
        let len = bodies.len;
        let wanted = padded(len) + MAX_WIDTH;
        let Broadphase { bands, bounds, .. } = self;
        for column in bounds.columns_mut() {
            resize(column, wanted);
            column[len..].fill(f32::INFINITY);
        }
        resize(&mut self.shape, wanted);
        let (large_growth, rest) = (bounds.large_growth, &Frames::default());
        let columns = bounds.columns_mut().map(|column| SharedSlice::new(column));
        let shape = SharedSlice::new(&mut self.shape);
        crew.chunks(len, CHUNK, |range| {
            #[allow(unsafe_code)]
            // SAFETY: each task takes a chunk of its own, and chunks are disjoint.
            let (shape, columns) = unsafe {
                (shape.range(range.clone()), columns.each_ref().map(|column| column.range(range.clone())))
            };
            let mut growing = Growing { bodies, bands, margins, rest, large_growth, columns, shape };
            with_lanes!(level, L => grow::<L>(range, &mut growing));
        });
    }

    /// Writes the limits of a list of one step.
    fn fill_limits(&mut self, bodies: &Bodies, margins: &Margins) {
        let limit = &mut self.bounds.limit;
        resize(limit, padded(bodies.len) + MAX_WIDTH);
        for (limit, &inv_mass) in limit.iter_mut().zip(&bodies.columns.inv_mass[..bodies.len]) {
            *limit = if inv_mass > 0.0 { margins.speculative } else { f32::INFINITY };
        }
    }

    /// Writes the largest upper bound in each band up to each slot.
    fn fill_fronts(&mut self, crew: &Crew<'_>) {
        let bounds = &mut self.bounds;
        resize(&mut bounds.front, bounds.max_s.len());
        let front = SharedSlice::new(&mut bounds.front);
        let (tiles, list, max_s) = (&self.tiles, &self.bands.list, &bounds.max_s);
        crew.run(tiles.len(), |tile| {
            for band in &list[tiles[tile].bands.clone()] {
                #[allow(unsafe_code)]
                // SAFETY: each task takes the bands of its own tile, and bands are disjoint.
                let front = unsafe { front.range(band.slots.clone()) };
                let mut largest = f32::NEG_INFINITY;
                for (front, &max) in front.iter_mut().zip(&max_s[band.slots.clone()]) {
                    largest = if max > largest { max } else { largest };
                    *front = largest;
                }
            }
        });
    }
}

/// The larger of two numbers. (`f32::max` takes four instructions more, for NaN; these numbers are finite.)
#[inline(always)]
fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
fn interval<L: Lane>(centre: L, half: L, growth: L) -> [L; 2] {
    [centre - (half + growth), centre + (half + growth)]
}

/// Returns the row of a shape that the narrowphase reads.
#[inline]
pub(crate) fn shape_row(kind: Kind, pos: [f32; 2], ext: [f32; 2], ext_z: f32) -> Row {
    match kind.shape() {
        ShapeKind::HalfSpace => Row([ext[0], ext[1], ext_z, 0.0]),
        _ => Row([pos[0], pos[1], ext[0], ext[1]]),
    }
}
