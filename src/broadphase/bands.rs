//! Assigns bodies to bands, and orders them within the bands.
//!
//! The extent of the world does not matter. Bands are numbered from the least one in use. If the numbers are too sparse
//! for a counting sort (a body far away from the rest), band and key are sorted as one number instead.

use super::frames::Frames;
use super::growth::{Grown, mobilities};
use super::{Margins, TileBands, interval, looks_ahead};
use crate::base::ranges::without;
use crate::base::room::{at_least, like, resize};
use crate::body::{Bodies, Kind, Motion, Still};
use crate::crew::CHUNK;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Mask, for_lanes, lane_entry, values, with_lanes};
use glam::Vec2;
use std::ops::Range;

/// A band that holds bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Band {
    /// The number of the band; those of neighbours differ by one.
    pub id: i32,
    pub slots: Range<usize>,
}

#[derive(Default)]
pub(crate) struct Bands {
    /// True if bands are intervals of x, sorted along y; otherwise they are intervals of y, sorted along x.
    pub along_x: bool,
    /// Height of a band.
    pub height: f64,
    /// No bounds of a body in a band are wider or higher, m.
    pub widest: f32,
    /// Bodies whose bounds are longer are large, m. As `widest`, but a snapshot has it.
    pub longest: f32,
    /// The bands in use, in order.
    pub list: Vec<Band>,
    /// Old slot of each new slot: bands, then large bodies, then quarantined ones.
    pub order: Vec<u32>,
    /// How many slots are in bands.
    pub banded: usize,
    /// The slots from `banded` to here are the large bodies, half-spaces among them.
    pub large_end: usize,
    /// The last of these, from here on, stand still, and are no half-spaces.
    pub still: usize,
    pub(super) memory: BandMemory,
}

/// What only the search for bands needs.
#[derive(Default)]
pub(super) struct BandMemory {
    /// Band of each old slot, or one of the marks below.
    band_of: Vec<i32>,
    /// Lower bounds by old slot: along the axis that is cut into bands, and along the other one.
    lower: Vec<f32>,
    key: Vec<f32>,
    /// Margins by old slot.
    pub(super) grown: Grown<Vec<f32>>,
    /// The key bits, then the old slot.
    keys: Vec<u64>,
    /// The band, then the key: for the sparse case.
    sparse: Vec<u128>,
    counts: Vec<u32>,
    chunks: Vec<Extremes>,
    /// The slots that are in no band.
    rest: Vec<u32>,
    sample: Vec<f32>,
    /// The bodies that the last list had in no band because they stand still. As long as they stay as they are, so do their marks.
    pub(super) known: Option<Still>,
}

/// Which of the bodies that stand still, and are not large, go in bands all the same.
#[derive(Clone, Copy)]
pub(super) struct StillInBands {
    pub statics: bool,
    pub asleep: bool,
}

const LARGE: i32 = i32::MAX;
const STILL: i32 = i32::MAX - 1;
const QUARANTINED: i32 = i32::MAX - 2;
const DEAD: i32 = i32::MAX - 3;
/// Band numbers are clamped to ± this. Bands that clamping merges into one stay neighbours of the next.
pub(super) const LIMIT: f64 = (1 << 30) as f64;

/// Returns the most bands, used or not, for which so many bodies are sorted by counting.
fn most_spread(bodies: usize) -> usize {
    4 * bodies + 64
}

/// The list has room for a band of every second body, up to so many.
const MANY_BANDS: usize = 4_096;

/// The extremes of one chunk of slots.
#[derive(Clone, Copy, Default)]
struct Extremes {
    height: f32,
    least: i32,
    most: i32,
}

impl Extremes {
    const NONE: Extremes = Extremes { height: 0.0, least: i32::MAX, most: i32::MIN };
}

/// At most twice this many bodies are sampled to choose the axis and what counts as large.
const SAMPLE: usize = 512;
/// A body is large if it is this many times higher or wider than the median moving body …
const LARGE_MEDIAN: f32 = 4.0;
/// … and this many times larger than all but a twentieth of them.
const LARGE_MOST: f32 = 2.0;
/// More than the half extents of any bounds, m.
const MOST_WIDE: f32 = 1.0e8;
/// The other axis must be this many times longer to be cut instead.
const AXIS_HYSTERESIS: f32 = 1.25;

impl Bands {
    /// Makes room for as much as another one has room for.
    pub(super) fn make_room_like(&mut self, other: &Self) {
        like!(self, other; list, order);
    }

    /// Chooses the height of the bands and finds every body's band. Fills `list` and, unsorted within each band,
    /// `keys`.
    pub(super) fn plan(
        &mut self,
        bodies: &Bodies,
        (margins, frames): (&Margins, &Frames),
        still: StillInBands,
        level: Level,
        crew: &Crew<'_>,
    ) {
        let len = bodies.len;
        let known = &if still.statics { 0..0 } else { bodies.still_since(self.memory.known.as_ref()) };
        self.make_room(len);
        self.memory.grown.fill(bodies, (margins, frames), known, level, crew);
        let cutoff = self.large_cutoff(bodies);
        self.widest = 2.0 * cutoff.min(MOST_WIDE);
        self.longest = self.widest;
        self.find_lower_bounds(bodies, (cutoff, still), known, level, crew);
        // A little more than the highest body, so that rounding can't make it reach into a third band.
        let height = self.memory.chunks.iter().fold(0.0f32, |most, chunk| most.max(chunk.height));
        self.height = f64::from(height).max(f64::from(f32::MIN_POSITIVE)) * 1.001;
        let (least, most) = self.number_bands(len, known, crew);
        self.list.clear();
        // More bands than a square world has whose bodies are four heights apart.
        self.list.reserve(4 * (len as f32).sqrt() as usize + 16);
        let spread = (i64::from(most) - i64::from(least) + 1).max(0) as usize;
        if spread <= most_spread(len) {
            self.count(len, known, least, spread);
        } else {
            self.count_sparse(len, known);
        }
        self.append_rest(known);
    }

    /// Makes room for the most that so many bodies can need, wherever they are: bodies fly apart, and the number of
    /// their bands and of large bodies changes with every list.
    fn make_room(&mut self, len: usize) {
        self.memory.keys.reserve(len.saturating_sub(self.memory.keys.len()));
        self.order.reserve(len.saturating_sub(self.order.len()));
        let rest = &mut self.memory.rest;
        rest.reserve(len.saturating_sub(rest.len()));
        resize(&mut self.memory.band_of, len);
        resize(&mut self.memory.lower, len);
        resize(&mut self.memory.key, len);
        resize(&mut self.memory.chunks, len.div_ceil(CHUNK) + 1);
        self.memory.chunks.fill(Extremes::NONE);
    }

    /// Finds the lower bounds of the bodies in bands, and each chunk's highest body. Marks those that go in no band.
    fn find_lower_bounds(
        &mut self,
        bodies: &Bodies,
        (cutoff, still): (f32, StillInBands),
        known: &Range<usize>,
        level: Level,
        crew: &Crew<'_>,
    ) {
        let along_x = self.along_x;
        let bounds = &self.memory.grown.bounds;
        let band_of = SharedSlice::new(&mut self.memory.band_of);
        let lower = SharedSlice::new(&mut self.memory.lower);
        let key = SharedSlice::new(&mut self.memory.key);
        let chunks = SharedSlice::new(&mut self.memory.chunks);
        #[allow(unsafe_code)]
        crew.chunks_without(bodies.len, known, CHUNK, |index, range| {
            // SAFETY: each task takes the slots of its own chunk, and each slot is in one chunk.
            let (band_of, lower, key, chunk) = unsafe {
                (
                    band_of.range(range.clone()),
                    lower.range(range.clone()),
                    key.range(range.clone()),
                    &mut chunks.range(index..index + 1)[0],
                )
            };
            let bounds = &bounds[range.clone()];
            let mut placing =
                Placing { bodies, along_x, cutoff, still, bounds, band_of, lower, key, height: 0.0 };
            with_lanes!(level, L => place::<L>(range, &mut placing));
            chunk.height = placing.height;
        });
    }

    /// Numbers the band of each body by its lower bound, and returns the least and the largest number.
    fn number_bands(&mut self, len: usize, known: &Range<usize>, crew: &Crew<'_>) -> (i32, i32) {
        let per_height = 1.0 / self.height;
        let band_of = SharedSlice::new(&mut self.memory.band_of);
        let lower = &self.memory.lower;
        let chunks = SharedSlice::new(&mut self.memory.chunks);
        #[allow(unsafe_code)]
        crew.chunks_without(len, known, CHUNK, |index, range| {
            // SAFETY: each task takes the slots of its own chunk, and each slot is in one chunk.
            let (band_of, chunk) =
                unsafe { (band_of.range(range.clone()), &mut chunks.range(index..index + 1)[0]) };
            for (band, slot) in band_of.iter_mut().zip(range) {
                if *band == 0 {
                    *band = floor((f64::from(lower[slot]) * per_height).clamp(-LIMIT, LIMIT));
                    chunk.least = chunk.least.min(*band);
                    chunk.most = chunk.most.max(*band);
                }
            }
        });
        let least = self.memory.chunks.iter().map(|chunk| chunk.least).min().unwrap_or(0);
        let most = self.memory.chunks.iter().map(|chunk| chunk.most).max().unwrap_or(-1);
        (least, most)
    }

    /// Sorts by band, by counting.
    fn count(&mut self, len: usize, known: &Range<usize>, least: i32, spread: usize) {
        self.memory.counts.reserve((most_spread(len) + 1).saturating_sub(self.memory.counts.len()));
        resize(&mut self.memory.counts, spread + 1);
        self.memory.counts.fill(0);
        let BandMemory { band_of, counts, keys, key, rest, .. } = &mut self.memory;
        for slots in without(0..len, known) {
            for &band in &band_of[slots] {
                if band < DEAD {
                    counts[(band - least) as usize] += 1;
                }
            }
        }
        // As bodies fly apart, bands become many.
        if looks_ahead(len) {
            at_least(&mut self.list, (len / 2).min(MANY_BANDS));
        }
        let mut start = 0;
        for (i, count) in counts[..spread].iter_mut().enumerate() {
            let end = start + *count as usize;
            if *count > 0 {
                self.list.push(Band { id: least + i as i32, slots: start..end });
            }
            *count = start as u32;
            start = end;
        }
        self.banded = start;
        resize(keys, self.banded);
        rest.clear();
        for slots in without(0..len, known) {
            for (slot, &band) in (slots.start..).zip(&band_of[slots]) {
                if band < DEAD {
                    let place = &mut counts[(band - least) as usize];
                    keys[*place as usize] = u64::from(ordered_bits(key[slot])) << 32 | slot as u64;
                    *place += 1;
                } else {
                    rest.push(slot as u32);
                }
            }
        }
    }

    /// Sorts by band and key as one number, for bands that are few and far between.
    fn count_sparse(&mut self, len: usize, known: &Range<usize>) {
        let BandMemory { band_of, sparse, key, rest, .. } = &mut self.memory;
        sparse.clear();
        sparse.reserve(len);
        rest.clear();
        for slots in without(0..len, known) {
            for (slot, &band) in (slots.start..).zip(&band_of[slots]) {
                if band < DEAD {
                    let key = u64::from(ordered_bits(key[slot])) << 32 | slot as u64;
                    sparse.push(u128::from(band.cast_unsigned() ^ 1 << 31) << 64 | u128::from(key));
                } else {
                    rest.push(slot as u32);
                }
            }
        }
        self.memory.sparse.sort_unstable();
        self.banded = self.memory.sparse.len();
        resize(&mut self.memory.keys, self.banded);
        for (i, &sparse) in self.memory.sparse.iter().enumerate() {
            self.memory.keys[i] = sparse as u64;
            let id = ((sparse >> 64) as u32 ^ 1 << 31).cast_signed();
            match self.list.last_mut() {
                Some(band) if band.id == id => band.slots.end = i + 1,
                _ => self.list.push(Band { id, slots: i..i + 1 }),
            }
        }
    }

    /// Appends the slots after the bands to `order`: large bodies, static ones, then quarantined ones. Dead slots are dropped.
    fn append_rest(&mut self, known: &Range<usize>) {
        resize(&mut self.order, self.banded);
        let BandMemory { band_of, rest, .. } = &self.memory;
        let (before, behind) = rest.split_at(rest.partition_point(|&slot| (slot as usize) < known.start));
        let order = &mut self.order;
        let ends = [LARGE, STILL, QUARANTINED].map(|mark| {
            let has_mark = |&&slot: &&u32| band_of[slot as usize] == mark;
            order.extend(before.iter().filter(has_mark));
            if mark == STILL {
                order.extend(known.start as u32..known.end as u32);
            }
            order.extend(behind.iter().filter(has_mark));
            order.len()
        });
        [self.still, self.large_end, _] = ends;
    }

    /// Sorts every band by lower bound and fills `order`.
    pub(crate) fn sort(&mut self, tiles: &[TileBands], crew: &Crew<'_>) {
        let keys = SharedSlice::new(&mut self.memory.keys);
        let order = SharedSlice::new(&mut self.order);
        let list = &self.list;
        crew.run(tiles.len(), |tile| {
            for band in &list[tiles[tile].bands.clone()] {
                #[allow(unsafe_code)]
                // SAFETY: each task takes the bands of its own tile, and bands are disjoint.
                let (keys, order) =
                    unsafe { (keys.range(band.slots.clone()), order.range(band.slots.clone())) };
                sort_coherent(keys);
                for (order, &key) in order.iter_mut().zip(&*keys) {
                    *order = key as u32;
                }
            }
        });
    }

    /// Returns the number of the band that a coordinate along the cut axis is in.
    pub(crate) fn id_at(&self, coordinate: f32) -> i32 {
        floor((f64::from(coordinate) / self.height).clamp(-LIMIT, LIMIT))
    }

    /// Chooses the axis to cut: the one along which the middle nine tenths of the bodies are spread further. Returns
    /// where these bodies are, as (lower, upper).
    pub(super) fn choose_axis(&mut self, bodies: &Bodies) -> (Vec2, Vec2) {
        let c = &bodies.columns;
        let stride = (bodies.len / SAMPLE).max(1);
        self.memory.sample.reserve(bodies.len.min(2 * SAMPLE).saturating_sub(self.memory.sample.len()));
        let mut middle = |column: &[f32]| {
            self.memory.sample.clear();
            self.memory.sample.extend(
                (0..bodies.len)
                    .step_by(stride)
                    .filter(|&slot| {
                        c.kind[slot].is_collidable() && c.kind[slot].shape() != ShapeKind::HalfSpace
                    })
                    .map(|slot| column[slot]),
            );
            let n = self.memory.sample.len();
            if n == 0 { (0.0, 0.0) } else { two_of_order(&mut self.memory.sample, n / 20, n - 1 - n / 20) }
        };
        let (x, y) = (middle(&c.pos_x), middle(&c.pos_y));
        let (spread_x, spread_y) = (x.1 - x.0, y.1 - y.0);
        let switch = if self.along_x {
            spread_y > AXIS_HYSTERESIS * spread_x
        } else {
            spread_x > AXIS_HYSTERESIS * spread_y
        };
        self.along_x ^= switch;
        (Vec2::new(x.0, y.0), Vec2::new(x.1, y.1))
    }

    /// Returns the grown half extent above which a body is large.
    fn large_cutoff(&mut self, bodies: &Bodies) -> f32 {
        let (c, grown) = (&bodies.columns, &self.memory.grown.bounds);
        let stride = (bodies.len / SAMPLE).max(1);
        // How far bodies that stand still are grown may not be known.
        let size = |slot: usize| {
            let grown = if c.kind[slot].motion() == Motion::Dynamic { grown[slot] } else { 0.0 };
            c.ext_x[slot].max(c.ext_y[slot]) + grown
        };
        let mut sizes = |wanted: fn(Motion) -> bool| {
            self.memory.sample.clear();
            self.memory.sample.extend(
                (0..bodies.len)
                    .step_by(stride)
                    .filter(|&slot| {
                        wanted(c.kind[slot].motion()) && c.kind[slot].shape() != ShapeKind::HalfSpace
                    })
                    .map(size),
            );
            let n = self.memory.sample.len();
            (n > 0).then(|| {
                let (median, most) = two_of_order(&mut self.memory.sample, n / 2, n - 1 - n / 20);
                (LARGE_MEDIAN * median).max(LARGE_MOST * most)
            })
        };
        sizes(|motion| matches!(motion, Motion::Dynamic | Motion::Asleep))
            .or_else(|| sizes(|motion| matches!(motion, Motion::Static | Motion::Kinematic)))
            .unwrap_or(f32::INFINITY)
    }
}

/// What is to be found of a chunk of bodies: their marks and lower bounds, and the height of the highest.
struct Placing<'a> {
    bodies: &'a Bodies,
    along_x: bool,
    cutoff: f32,
    still: StillInBands,
    /// By how much their bounds are grown.
    bounds: &'a [f32],
    band_of: &'a mut [i32],
    lower: &'a mut [f32],
    key: &'a mut [f32],
    height: f32,
}

lane_entry! {
    /// Places the bodies of a chunk.
    fn place[][](range: Range<usize>, placing: &mut Placing<'_>) = place_range;
}

#[inline(always)]
fn place_range<L: Lane>(range: Range<usize>, placing: &mut Placing<'_>) {
    for_lanes!(range.len(), L, place_lanes(range.start, placing; i));
}

#[inline(always)]
fn place_lanes<L: Lane>(first: usize, placing: &mut Placing<'_>, i: usize) {
    let c = &placing.bodies.columns;
    let slot = first + i;
    let (x, y) = (L::load(&c.pos_x[slot..]), L::load(&c.pos_y[slot..]));
    let (ext_x, ext_y) = (L::load(&c.ext_x[slot..]), L::load(&c.ext_y[slot..]));
    let growth = L::load(&placing.bounds[i..]);
    let mobility = mobilities::<L>(&c.kind[slot..]);
    let (zero, kinds) = (L::splat(0.0), &c.kind[slot..][..L::WIDTH]);
    let counts = mobility.abs().gt(zero);
    let still = mobility.lt(zero);
    let mut may = mobility.gt(zero);
    let StillInBands { statics, asleep } = placing.still;
    if (statics || asleep) && still.bits() != 0 {
        let mut in_bands = [0.0; MAX_WIDTH];
        for (value, kind) in in_bands.iter_mut().zip(kinds) {
            let may = if kind.motion() == Motion::Static { statics } else { asleep };
            *value = f32::from(u8::from(may));
        }
        may = may.or(still.and(L::load(&in_bands).gt(zero)));
    }
    let banded = may.and((ext_x.max(ext_y) + growth).le(L::splat(placing.cutoff)));
    let [(across, half), (along, key_half)] =
        if placing.along_x { [(x, ext_x), (y, ext_y)] } else { [(y, ext_y), (x, ext_x)] };
    let [least, most] = interval(across, half, growth);
    least.store(&mut placing.lower[i..]);
    interval(along, key_half, growth)[0].store(&mut placing.key[i..]);
    let height = L::select(banded, most - least, zero);
    for &height in &values(height)[..L::WIDTH] {
        placing.height = if height > placing.height { height } else { placing.height };
    }
    let (banded, counts, still) = (banded.bits(), counts.bits(), still.bits());
    for (lane, (mark, &kind)) in placing.band_of[i..].iter_mut().zip(kinds).enumerate() {
        *mark = match () {
            () if banded >> lane & 1 == 1 => 0,
            () if still >> lane & 1 == 1 => STILL,
            () if counts >> lane & 1 == 1 => LARGE,
            () => mark_of(kind),
        };
    }
}

/// Returns the values that would be at two places if the sample were sorted.
fn two_of_order(sample: &mut [f32], low: usize, high: usize) -> (f32, f32) {
    let (_, &mut least, above) = sample.select_nth_unstable_by(low, f32::total_cmp);
    let most = match high.checked_sub(low + 1) {
        Some(place) => *above.select_nth_unstable_by(place, f32::total_cmp).1,
        None => least,
    };
    (least, most)
}

/// Returns the mark of a half-space, or of a body that takes part in no contact.
#[inline(always)]
fn mark_of(kind: Kind) -> i32 {
    match kind.motion() {
        Motion::Dead => DEAD,
        Motion::Quarantined | Motion::Disabled => QUARANTINED,
        _ => LARGE,
    }
}

/// Returns the largest whole number that is not above `value`, which is within the range of i32. (`f64::floor` is a call on
/// processors of the plain build.)
#[inline(always)]
pub(super) fn floor(value: f64) -> i32 {
    let whole = value as i32;
    whole - i32::from(f64::from(whole) > value)
}

/// Returns bits that compare as the numbers do.
pub(super) fn ordered_bits(value: f32) -> u32 {
    let bits = value.to_bits();
    bits ^ ((bits.cast_signed() >> 31).cast_unsigned() | 1 << 31)
}

/// Sorts keys that are mostly in order already, as they are from one rebuild to the next. Insertion sort then costs one
/// comparison a key. It gives up when it has moved keys by eight places on average.
pub(super) fn sort_coherent<K: Copy + Ord>(keys: &mut [K]) {
    let mut budget = 8 * keys.len();
    for i in 1..keys.len() {
        let key = keys[i];
        let mut place = i;
        while place > 0 && keys[place - 1] > key {
            keys[place] = keys[place - 1];
            place -= 1;
        }
        keys[place] = key;
        let moved = i - place;
        if moved > budget {
            keys.sort_unstable();
            return;
        }
        budget -= moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Contract: the bits of floats compare as the floats do, and the coherent sort sorts.
        #[test]
        fn sorts_by_value(values in proptest::collection::vec(-1.0e6f32..1.0e6, 0..300), swaps in 0usize..20) {
            let mut keys: Vec<u64> = values.iter().map(|&v| u64::from(ordered_bits(v)) << 32).collect();
            if swaps < 10 && !keys.is_empty() {
                keys.sort_unstable();
                let n = keys.len();
                (0..swaps).for_each(|i| keys.swap(i % n, (i * 7) % n));
            }
            let mut expected = values;
            expected.sort_unstable_by(f32::total_cmp);
            sort_coherent(&mut keys);
            let expected: Vec<u64> = expected.iter().map(|&v| u64::from(ordered_bits(v)) << 32).collect();
            prop_assert_eq!(keys, expected);
        }
    }
}
