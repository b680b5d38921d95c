//! The large bodies in the order of space: levels of bands, each as high as its own bodies.
//!
//! ```text
//! for each large body: its level, by the lengths of its bounds along both axes, as powers of two
//!                      its band, among bands as high as the level's highest body
//! order the bodies by level, band, lower bound along the other axis
//! ```
//!
//! As in the bands of the other bodies, a body is in one band of its level, that of its lower bound, and reaches into
//! the next one at most. In a band all bodies are about equally long, so bodies near a box are also near each other in
//! the order. A lookup costs a binary search in each of a few bands, plus the bodies that it finds. (One class for both
//! lengths would put all poles of a comb into one band, without order across it.) Terrain is made of thousands of such
//! bodies, each of which touches little. (1,000 balls on a chain of 20,000 segments of 2 m, before: every new list
//! tested all 200 million pairs of segments, and each tile tested all segments, 442 ms a step.)
//!
//! The slots of large bodies are not in this order. They keep the order in which the bodies became large, so that the
//! order of pairs, and with it the result of a scene, does not depend on where a wall stands. Half-spaces are in no
//! band: they are few, and near everything.

use super::bands::{Band, LIMIT, floor, ordered_bits, sort_coherent};
use super::resize;
use super::{Broadphase, interval};
use crate::base::ranges::gallop;
use crate::base::room::like;
use crate::body::{Bodies, Still};
use crate::geometry::shape::ShapeKind;
use crate::lane::MAX_WIDTH;
use std::ops::Range;

/// Bodies whose bounds are between half of `height` and `height` high, and of similar length along the bands.
#[derive(Clone, Debug)]
struct Level {
    height: f64,
    /// No bounds are longer along the bands.
    length: f64,
    /// Into `Levels::bands`.
    bands: Range<usize>,
    /// Around all of its bodies: `[min_s, max_s, min_b, max_b]`.
    extent: [f32; 4],
}

/// Bodies that stand still, and how they are ordered.
#[derive(Clone, Debug, PartialEq)]
struct MadeFor {
    still: Still,
    along_x: bool,
    least: u32,
}

/// The extent of nothing.
const NOWHERE: [f32; 4] = [f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY];

/// The number of the band of a coordinate.
fn id_at(coordinate: f32, height: f64) -> i32 {
    floor((f64::from(coordinate) / height).clamp(-LIMIT, LIMIT))
}

/// The large bodies of a pair list, ordered by place. Their bounds are those of the list, whatever the bodies do
/// meanwhile.
#[derive(Default)]
pub(crate) struct Levels {
    /// The half-spaces' slots.
    pub planes: Vec<u32>,
    /// The levels in use, lowest bands first.
    list: Vec<Level>,
    /// The bands in use, level by level. Their `slots` are places in the columns below.
    bands: Vec<Band>,
    pub slot: Vec<u32>,
    min_s: Vec<f32>,
    max_s: Vec<f32>,
    min_b: Vec<f32>,
    max_b: Vec<f32>,
    /// The largest `max_s` in the band up to this place.
    front: Vec<f32>,
    /// How much the bounds are grown here when bodies near a box are looked up. Bodies that stand still are all grown alike, by another length in
    /// each list; so the order of their bounds as they are lasts from list to list.
    growth: f32,
    /// What the order is made for, if it may last.
    made_for: Option<MadeFor>,
    /// Level, band, lower bound, and place among the large bodies of the list. The keys are kept from one list to the
    /// next, because most of them are then in order already.
    keys: Vec<u128>,
}

/// The number of bits below the band and below the level in a key. The lowest 64 bits are the lower bound and the
/// place.
const BAND_BITS: u32 = 64;
const LEVEL_BITS: u32 = 96;

impl Levels {
    /// Makes room for as much as another one has room for.
    pub(super) fn make_room_like(&mut self, other: &Self) {
        like!(self, other; planes, list, bands, slot, min_s, max_s, min_b, max_b, front, keys);
    }

    pub(crate) fn len(&self) -> usize {
        self.slot.len()
    }

    /// Begins with the order of another list.
    pub(super) fn follow(&mut self, last: &Levels) {
        if self.made_for.is_none() || self.made_for != last.made_for {
            self.keys.clone_from(&last.keys);
            self.made_for = None;
        }
    }

    /// Orders the bodies in `large` by their bounds `[min_s, max_s, min_b, max_b]`. `least` is the height of the bands
    /// of the other bodies. Lengths below it count as `least`: finer bands gain nothing.
    pub(super) fn build(&mut self, bodies: &Bodies, large: Range<usize>, bounds: [&[f32]; 4], least: f32) {
        let is_plane = |slot: usize| bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace;
        let bounds = |slot: usize| bounds.map(|column| column[slot]);
        self.planes.clear();
        self.planes.extend(large.clone().filter(|&slot| is_plane(slot)).map(|slot| slot as u32));
        (self.growth, self.made_for) = (0.0, None);
        self.sort(large.clone(), bounds, least, is_plane);
        self.fill(large.start, bounds);
        self.find_bands();
    }

    /// As [`Levels::build`], for bodies that stand still, and are no half-spaces. Their bounds are grown by `growth` when they are looked up.
    pub(super) fn build_still(
        &mut self,
        bodies: &Bodies,
        slots: Range<usize>,
        (along_x, least, growth): (bool, f32, f32),
    ) {
        let c = &bodies.columns;
        self.growth = growth;
        let known = bodies.known_still().filter(|_| bodies.still() == slots);
        let least_class = class_of(least);
        let wanted = known.map(|still| MadeFor { still, along_x, least: least_class });
        if wanted.is_some() && self.made_for == wanted {
            return;
        }
        self.made_for = wanted;
        let bounds = |slot: usize| {
            let [min_x, max_x] = interval(c.pos_x[slot], c.ext_x[slot], 0.0);
            let [min_y, max_y] = interval(c.pos_y[slot], c.ext_y[slot], 0.0);
            if along_x { [min_y, max_y, min_x, max_x] } else { [min_x, max_x, min_y, max_y] }
        };
        // Half as high as the class: bands of the same class are as high.
        self.sort(slots.clone(), bounds, (0.5 * height_of(least_class)) as f32, |_| false);
        self.fill(slots.start, bounds);
        self.find_bands();
    }

    /// Orders boxes `[min_s, max_s, min_b, max_b]` of any kind by place. Their numbers take the place of slots. Lengths
    /// below `least` count as `least`.
    pub(crate) fn build_boxes(&mut self, bounds: [&[f32]; 4], least: f32) {
        self.planes.clear();
        (self.growth, self.made_for) = (0.0, None);
        let of_slot = |slot: usize| bounds.map(|column| column[slot]);
        self.sort(0..bounds[0].len(), of_slot, least, |_| false);
        self.fill(0, of_slot);
        self.find_bands();
    }

    fn sort(
        &mut self,
        large: Range<usize>,
        bounds: impl Fn(usize) -> [f32; 4],
        least: f32,
        is_plane: impl Fn(usize) -> bool,
    ) {
        let key = |slot: usize| {
            let [min_s, max_s, min_b, max_b] = bounds(slot);
            let class = class_of((max_b - min_b).max(least));
            let level = class << 8 | class_of((max_s - min_s).max(least));
            let id = id_at(min_b, height_of(class));
            let place = (slot - large.start) as u32;
            u128::from(level) << LEVEL_BITS
                | u128::from(id.cast_unsigned() ^ 1 << 31) << BAND_BITS
                | u128::from(ordered_bits(min_s)) << 32
                | u128::from(place)
        };
        let wanted = large.len() - self.planes.len();
        let slot_of = |key: u128| large.start + key as u32 as usize;
        if self.keys.len() == wanted
            && self.keys.iter().all(|&key| large.contains(&slot_of(key)) && !is_plane(slot_of(key)))
        {
            self.keys.iter_mut().for_each(|old| *old = key(slot_of(*old)));
        } else {
            self.keys.clear();
            self.keys.reserve(wanted);
            self.keys.extend(large.clone().filter(|&slot| !is_plane(slot)).map(key));
        }
        sort_coherent(&mut self.keys);
    }

    fn fill(&mut self, first: usize, bounds: impl Fn(usize) -> [f32; 4]) {
        let len = self.keys.len();
        resize(&mut self.slot, len);
        resize(&mut self.front, len);
        for (slot, &key) in self.slot.iter_mut().zip(&self.keys) {
            *slot = (first + key as u32 as usize) as u32;
        }
        let mut columns = [&mut self.min_s, &mut self.max_s, &mut self.min_b, &mut self.max_b];
        for column in &mut columns {
            // Behind the last body: bounds that overlap nothing, for kernels that read a whole vector.
            resize(column, len + MAX_WIDTH);
            column[len..].fill(f32::INFINITY);
        }
        for (place, &slot) in self.slot.iter().enumerate() {
            for (column, value) in columns.iter_mut().zip(bounds(slot as usize)) {
                column[place] = value;
            }
        }
    }

    /// Lists the levels and bands of the sorted keys, and fills `front`.
    fn find_bands(&mut self) {
        self.list.clear();
        self.bands.clear();
        // At most one band for each body, so that no later list of as many bodies has to grow it.
        self.bands.reserve(self.keys.len());
        let mut level = None;
        for (place, &key) in self.keys.iter().enumerate() {
            let id = ((key >> BAND_BITS) as u32 ^ 1 << 31).cast_signed();
            let own_level = (key >> LEVEL_BITS) as u32;
            let bands = self.bands.len();
            if level != Some(own_level) {
                level = Some(own_level);
                let [height, length] = [own_level >> 8, own_level & 0xff].map(height_of);
                self.list.push(Level { height, length, bands: bands..bands, extent: NOWHERE });
            }
            let level = self.list.last_mut().expect("one was pushed for the first body");
            let [min_s, max_s, min_b, max_b] = &mut level.extent;
            (*min_s, *max_s) = (min_s.min(self.min_s[place]), max_s.max(self.max_s[place]));
            (*min_b, *max_b) = (min_b.min(self.min_b[place]), max_b.max(self.max_b[place]));
            let (max_s, same) = (self.max_s[place], self.bands[level.bands.clone()].last_mut());
            if let Some(band) = same.filter(|band| band.id == id) {
                band.slots.end = place + 1;
                let before = self.front[place - 1];
                self.front[place] = if max_s > before { max_s } else { before };
            } else {
                self.bands.push(Band { id, slots: place..place + 1 });
                level.bands.end += 1;
                self.front[place] = max_s;
            }
        }
    }

    /// The levels: how high their bands are, and how long their bodies at most; the bands; and the extent of all bodies
    /// `[min_s, max_s, min_b, max_b]`.
    pub(super) fn strips(&self) -> impl Iterator<Item = (f64, f64, &[Band], [f32; 4])> {
        self.list
            .iter()
            .map(|level| (level.height, level.length, &self.bands[level.bands.clone()], level.extent))
    }

    /// The bounds `[min_s, max_s, min_b, max_b]` by place, followed by a vector of bounds that overlap nothing; and the largest upper
    /// bound in the band up to each place.
    pub(super) fn columns(&self) -> ([&[f32]; 4], &[f32]) {
        ([&self.min_s, &self.max_s, &self.min_b, &self.max_b], &self.front)
    }

    /// Grows a range by what the bounds are not grown.
    #[inline]
    fn grown(&self, [least, most]: [f32; 2]) -> [f32; 2] {
        [least - self.growth, most + self.growth]
    }

    /// Visits the runs of places that together hold every body whose bounds overlap a box. Each run is within a band
    /// and in the order of lower bounds. Stops when `visit` returns false, and then returns false.
    #[inline]
    pub(super) fn visit_runs(
        &self,
        range_s: [f32; 2],
        range_b: [f32; 2],
        mut visit: impl FnMut(Range<usize>) -> bool,
    ) -> bool {
        let grown_b = self.grown(range_b);
        for level in &self.list {
            let [least, most] = grown_b.map(|b| id_at(b, level.height));
            let ids = least.saturating_sub(1)..=most;
            let bands = &self.bands[level.bands.clone()];
            let first = bands.partition_point(|band| band.id < *ids.start());
            for band in bands[first..].iter().take_while(|band| band.id <= *ids.end()) {
                let run = self.cut(band.slots.clone(), range_s);
                if !run.is_empty() && !visit(run) {
                    return false;
                }
            }
        }
        true
    }

    /// Returns the part of a run that holds all bodies that overlap an interval, and none that begins after it.
    #[inline]
    pub(super) fn cut(&self, run: Range<usize>, range_s: [f32; 2]) -> Range<usize> {
        let range_s = self.grown(range_s);
        let start = self.front[run.clone()].partition_point(|&front| front < range_s[0]);
        let end = self.min_s[run.clone()].partition_point(|&min| min <= range_s[1]);
        run.start + start..run.start + end.max(start)
    }

    /// As [`Levels::cut`], of a run that begins where the one was cut to that belongs to the interval before: intervals in the order of their lower
    /// ends cost no search of the whole run each.
    #[inline]
    pub(super) fn cut_next(&self, run: Range<usize>, range_s: [f32; 2]) -> Range<usize> {
        let range_s = self.grown(range_s);
        let start = gallop(run.clone(), |place| self.front[place] < range_s[0]);
        start..gallop(start..run.end, |place| self.min_s[place] <= range_s[1])
    }

    /// Visits the slots whose bounds overlap a box, in a run that was cut to the box. Stops when `visit` returns false,
    /// and then returns false.
    #[inline]
    pub(super) fn scan(
        &self,
        mut run: Range<usize>,
        range_s: [f32; 2],
        range_b: [f32; 2],
        mut visit: impl FnMut(usize) -> bool,
    ) -> bool {
        let [range_s, range_b] = [range_s, range_b].map(|range| self.grown(range));
        run.all(|place| {
            let overlaps = self.max_s[place] >= range_s[0]
                && self.min_b[place] <= range_b[1]
                && self.max_b[place] >= range_b[0];
            !overlaps || visit(self.slot[place] as usize)
        })
    }

    /// Visits the slots whose bounds overlap a box, except half-spaces. Stops when `visit` returns false, and then
    /// returns false.
    pub(crate) fn visit(
        &self,
        range_s: [f32; 2],
        range_b: [f32; 2],
        mut visit: impl FnMut(usize) -> bool,
    ) -> bool {
        self.visit_runs(range_s, range_b, |run| self.scan(run, range_s, range_b, &mut visit))
    }
}

/// Returns the class of bodies of this length: a class is higher than each of its bodies is long.
fn class_of(length: f32) -> u32 {
    length.max(f32::MIN_POSITIVE).to_bits() >> 23
}

fn height_of(class: u32) -> f64 {
    // 2 to the power of the exponent plus one, with the bias of an f64.
    f64::from_bits((u64::from(class) + 1 + 1023 - 127) << 52)
}

impl Broadphase {
    /// Visits the slots of all large bodies whose bounds may overlap a box, including half-spaces. Stops when `visit`
    /// returns false, and then returns false.
    pub(crate) fn visit_large(
        &self,
        range_s: [f32; 2],
        range_b: [f32; 2],
        mut visit: impl FnMut(usize) -> bool,
    ) -> bool {
        self.planes().iter().all(|&slot| visit(slot as usize))
            && self.levels.iter().all(|levels| levels.visit(range_s, range_b, &mut visit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Contract: a class is higher than its longest body, and no more than twice as high as its shortest.
    #[test]
    fn classes_are_as_high_as_their_bodies() {
        for length in [0.0, 1.0e-30, 0.999, 1.0, 1.001, 2.0, 1.0e6, 1.0e30] {
            let height = height_of(class_of(length));
            let length = f64::from(length.max(f32::MIN_POSITIVE));
            assert!(length < height && height <= 2.0 * length, "{length}: {height}");
        }
    }

    proptest! {
        /// Contract: a lookup finds each box that overlaps a box once, as a test of all boxes does.
        #[test]
        fn finds_what_overlaps(
            boxes in prop::collection::vec((-50i16..50, -50i16..50, 0u16..12, 0u16..12, 0u8..4), 0..200),
            asked in prop::collection::vec((-60i16..60, -60i16..60, 0u16..30, 0u16..30), 1..20),
            least in prop::sample::select(vec![0.0f32, 0.7, 40.0]),
        ) {
            let side = |low: i16, length: u16, times: u8| {
                let low = f32::from(low);
                [low, low + f32::from(length) * 0.1 * 8.0f32.powi(times.into())]
            };
            let s: Vec<_> = boxes.iter().map(|b| side(b.0, b.2, b.4)).collect();
            let b: Vec<_> = boxes.iter().map(|b| side(b.1, b.3, b.4)).collect();
            let column = |sides: &[[f32; 2]], end: usize| sides.iter().map(|side| side[end]).collect::<Vec<_>>();
            let columns = [column(&s, 0), column(&s, 1), column(&b, 0), column(&b, 1)];
            let mut levels = Levels::default();
            for _ in 0..2 {
                let bounds = [&columns[0][..], &columns[1], &columns[2], &columns[3]];
                let of_slot = |slot: usize| bounds.map(|column| column[slot]);
                levels.sort(0..boxes.len(), of_slot, least, |_| false);
                levels.fill(0, of_slot);
                levels.find_bands();
            }
            for (x, y, width, height) in asked {
                let (range_s, range_b) = (side(x, width, 1), side(y, height, 1));
                let mut found = Vec::new();
                levels.visit(range_s, range_b, |slot| {
                    found.push(slot);
                    true
                });
                found.sort_unstable();
                let overlap = |a: [f32; 2], b: [f32; 2]| a[0] <= b[1] && b[0] <= a[1];
                let expected: Vec<_> =
                    (0..boxes.len()).filter(|&i| overlap(s[i], range_s) && overlap(b[i], range_b)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
