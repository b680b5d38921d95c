//! Broadphase: banded sort-and-sweep, and a pair list that lives for several steps.
//!
//! ```text
//! rebuild, when a body has left its margin (or bodies were added, removed, moved by hand):
//!     grow every body's bounds by its margin
//!     cut the world's longer axis into bands, as high as the highest body    (bands.rs)
//!     order the bodies by band, within a band along the other axis; re-order the columns so
//!     group bands into tiles of some hundred bodies
//!     for each tile, for each body in order:                                 (sweep.rs)
//!         partners later in its own band, in the next band, among the large bodies
//! ```
//!
//! Why it looks so:
//!
//! 1. A body is in one band only, that of its lower bound. As no body is higher than a band, partners
//!    are in the same or the next band, so no pair is found twice. (Entering a body into each band
//!    that it touches costs 1.4 entries a body, and the order of each band must be merged anew.)
//! 2. Slots *are* the sweep's order, so the sweep runs over contiguous bounds, and the pairs come out
//!    sorted by (a, b) without a sort.
//! 3. The longer axis is cut, so bands are short: at a million bodies in a square, 800 to 1,400 bodies
//!    each, and two neighbouring bands' solver rows fit a second-level cache.
//! 4. Bodies more than a few times larger than the rest (floors, walls) would make the bands high; they
//!    go to the end of the order, and look up the bands and the part of each that they cover.
//! 5. Margins grow with speed, so that fast bodies do not force a rebuild every step, and slow ones
//!    have few partners that they do not touch.

pub(crate) mod bands;
pub(crate) mod sweep;

use crate::body::{Bodies, Kind, Motion};
use crate::crew::{Crew, SharedSlice};
use crate::lane::{MAX_WIDTH, Row, padded};
use crate::settings::Settings;
use crate::shape::ShapeKind;
use bands::Bands;
use std::ops::Range;

/// Bodies per parallel work item in passes over columns.
pub(crate) const CHUNK: usize = 2048;

/// How bounds are grown. The pair list stays valid while no body has gone further than its `reach`.
#[derive(Clone, Copy)]
pub(crate) struct Margins {
    /// Distance at which contacts are solved; part of every moving body's growth.
    pub speculative: f32,
    /// Largest reach of a body at rest.
    base: f32,
    /// For how long a body should stay in its margin at its present speed, s.
    horizon: f32,
}

/// Reach of a body at rest, as a fraction of its smaller half extent.
const BASE_FRACTION: f32 = 0.1;
/// A body's reach is at most this many times its smaller half extent, however fast it is: bands are as
/// high as the most grown body.
const REACH_LIMIT: f32 = 2.0;
/// The horizon in steps.
const HORIZON_STEPS: f32 = 4.0;

impl Margins {
    pub(crate) fn new(settings: &Settings) -> Self {
        Margins {
            speculative: 4.0 * settings.slop,
            base: 20.0 * settings.slop,
            horizon: HORIZON_STEPS * settings.time_step,
        }
    }

    /// How far a body may move before the pair list is stale.
    fn reach(&self, half_extent: f32, speed: f32) -> f32 {
        let base = (BASE_FRACTION * half_extent).min(self.base);
        base + (self.horizon * speed).min(REACH_LIMIT * half_extent)
    }
}

/// Bounds of every slot, grown, by axis: `s` is the axis that bands are sorted along, `b` the axis that
/// is cut into bands. Padded by one widest lane of bounds that overlap nothing.
#[derive(Default)]
pub(crate) struct Bounds {
    pub min_s: Vec<f32>,
    pub max_s: Vec<f32>,
    pub min_b: Vec<f32>,
    pub max_b: Vec<f32>,
    /// The largest `max_s` in the band up to this slot.
    pub front: Vec<f32>,
    /// By how much the bounds were grown.
    pub growth: Vec<f32>,
}

/// The order of space and what is needed to find pairs in it.
#[derive(Default)]
pub(crate) struct Broadphase {
    pub(crate) bands: Bands,
    pub(crate) bounds: Bounds,
    /// `[x, y, ext_x, ext_y]` of each slot as of the rebuild; the mirror's are fresh every step.
    pub(crate) shape: Vec<Row>,
    /// Slots of each tile: whole bands, in order.
    pub(crate) tiles: Vec<TileBands>,
    /// Slots at the last rebuild, of which the first `bands.banded` are in bands.
    pub(crate) built: usize,
}

/// A tile: neighbouring bands, and so neighbouring slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TileBands {
    /// Into `Bands::list`.
    pub bands: Range<usize>,
    pub slots: Range<usize>,
}

/// Bodies per tile: small enough for two tiles' solver rows and one's contacts to stay in a
/// second-level cache, large enough for full blocks, and enough tiles to share among threads.
fn tile_bodies(bodies: usize) -> usize {
    (bodies / 64).clamp(256, 1024)
}

impl Broadphase {
    /// Puts the bodies into the order of space. Afterwards `bands.order[new slot]` is the old slot.
    pub(crate) fn order(&mut self, bodies: &mut Bodies, margins: &Margins, crew: &Crew<'_>) {
        self.bands.plan(bodies, margins, crew);
        self.group_tiles();
        self.bands.sort(&self.tiles, crew);
        bodies.permute(&self.bands.order);
        self.built = bodies.len;
        self.fill_bounds(bodies, margins, crew);
    }

    /// Whether a large body moves, by contacts or by its velocity.
    pub(crate) fn large_moves(&self, bodies: &Bodies) -> bool {
        let large = &bodies.columns.kind[self.bands.banded..self.bands.solid];
        large.iter().any(|kind| kind.motion() != Motion::Static)
    }

    /// Groups bands into tiles.
    fn group_tiles(&mut self) {
        let target = tile_bodies(self.bands.banded);
        self.tiles.clear();
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

    /// Bounds, margins and shape rows of all slots, in the new order.
    fn fill_bounds(&mut self, bodies: &mut Bodies, margins: &Margins, crew: &Crew<'_>) {
        let len = bodies.len;
        let wanted = padded(len) + MAX_WIDTH;
        let bounds = &mut self.bounds;
        for column in [
            &mut bounds.min_s,
            &mut bounds.max_s,
            &mut bounds.min_b,
            &mut bounds.max_b,
            &mut bounds.front,
            &mut bounds.growth,
        ] {
            resize(column, wanted);
            column[len..].fill(f32::INFINITY);
        }
        resize(&mut self.shape, wanted);
        {
            let Bodies { columns: c, .. } = bodies;
            let (pos_x, pos_y, kind) = (&c.pos_x, &c.pos_y, &c.kind);
            let (vel_x, vel_y) = (&c.vel_x, &c.vel_y);
            let (ext_x, ext_y, ext_z) = (&c.ext_x, &c.ext_y, &c.ext_z);
            let reach = SharedSlice::new(&mut c.reach);
            let built_x = SharedSlice::new(&mut c.built_x);
            let built_y = SharedSlice::new(&mut c.built_y);
            let min_s = SharedSlice::new(&mut bounds.min_s);
            let max_s = SharedSlice::new(&mut bounds.max_s);
            let min_b = SharedSlice::new(&mut bounds.min_b);
            let max_b = SharedSlice::new(&mut bounds.max_b);
            let growth = SharedSlice::new(&mut bounds.growth);
            let shape = SharedSlice::new(&mut self.shape);
            let along_x = self.bands.along_x;
            crew.chunks(len, CHUNK, |range| {
                #[allow(unsafe_code)]
                // SAFETY: chunks are disjoint.
                let (reach, built_x, built_y, growth, shape, [min_s, max_s, min_b, max_b]) = unsafe {
                    (
                        reach.range(range.clone()),
                        built_x.range(range.clone()),
                        built_y.range(range.clone()),
                        growth.range(range.clone()),
                        shape.range(range.clone()),
                        [&min_s, &max_s, &min_b, &max_b].map(|column| column.range(range.clone())),
                    )
                };
                for (i, slot) in range.enumerate() {
                    let half = [ext_x[slot], ext_y[slot]];
                    let pos = [pos_x[slot], pos_y[slot]];
                    let (body_reach, body_growth) =
                        grow(kind[slot], half, [vel_x[slot], vel_y[slot]], margins);
                    reach[i] = body_reach;
                    growth[i] = body_growth;
                    [built_x[i], built_y[i]] = pos;
                    shape[i] = shape_row(kind[slot], pos, half, ext_z[slot]);
                    let (s, b) = if along_x { (1, 0) } else { (0, 1) };
                    [min_s[i], max_s[i]] = interval(pos[s], half[s], body_growth);
                    [min_b[i], max_b[i]] = interval(pos[b], half[b], body_growth);
                }
            });
        }
        for column in [&mut bodies.columns.built_x, &mut bodies.columns.built_y, &mut bodies.columns.reach] {
            column[len..].fill(0.0);
        }
        let front = SharedSlice::new(&mut self.bounds.front);
        let (tiles, list, max_s) = (&self.tiles, &self.bands.list, &self.bounds.max_s);
        crew.run(tiles.len(), |tile| {
            for band in &list[tiles[tile].bands.clone()] {
                #[allow(unsafe_code)]
                // SAFETY: bands are disjoint.
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

/// Resizes, with some room for more when the vector has to grow, so that a fluctuating length does not
/// allocate again and again.
pub(crate) fn resize<T: Clone + Default>(vec: &mut Vec<T>, len: usize) {
    if len > vec.capacity() {
        vec.reserve(len + len / 4 - vec.len());
    }
    vec.resize(len, T::default());
}

/// Reach and growth of a body, see [`Margins`].
#[inline]
fn grow(kind: Kind, half: [f32; 2], velocity: [f32; 2], margins: &Margins) -> (f32, f32) {
    match kind.motion() {
        Motion::Dynamic | Motion::Kinematic => {
            let speed = (velocity[0] * velocity[0] + velocity[1] * velocity[1]).sqrt();
            let reach = margins.reach(half[0].min(half[1]), speed);
            (reach, reach + margins.speculative)
        }
        _ => (0.0, 0.0),
    }
}

#[inline]
fn interval(centre: f32, half: f32, growth: f32) -> [f32; 2] {
    [centre - (half + growth), centre + (half + growth)]
}

/// The row that the narrowphase reads.
#[inline]
pub(crate) fn shape_row(kind: Kind, pos: [f32; 2], ext: [f32; 2], ext_z: f32) -> Row {
    match kind.shape() {
        ShapeKind::HalfSpace => Row([ext[0], ext[1], ext_z, 0.0]),
        _ => Row([pos[0], pos[1], ext[0], ext[1]]),
    }
}
