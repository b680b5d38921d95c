//! Walks through the order of space: along a line, band by band, and through a box. For queries.
//!
//! ```text
//! along a line, for each strip (the bands of the small bodies, then each level of the large ones):
//!     for each band that the line crosses, in the order of the line:
//!         the part of the line that is in the reach of the band's bodies
//!         the first body that reaches so far back                          (a binary search)
//!         from there on, sixteen bodies at a time: whose bounds meet the line        (lanes)
//!         until a body begins behind that part of the line
//! ```
//!
//! A line that goes backwards along the bands walks each band backwards. What the visitor finds shortens the line, and so ends the
//! walk: a ray that hits something at once looks at a few bands, however long it is.
//!
//! The line may be thick: it is the way of a box. All is in the axes of the order, s along the bands and b across.

mod outward;
mod part;

pub(super) use outward::Disc;
pub(super) use part::PartOfTrack;

use super::Broadphase;
use super::bands::{Band, LIMIT};
use super::levels::Levels;
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Mask, lane_entry, with_lanes};
use glam::Vec2;
use std::ops::Range;

/// A box that moves along a straight line, in the world's axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    /// The box's centre at the start.
    pub from: Vec2,
    pub way: Vec2,
    /// Its half extents.
    pub half: Vec2,
}

/// What single precision loses of a coordinate, in some operations one after the other.
pub(super) const ROUNDING: f32 = 8.0 * f32::EPSILON;

/// A way along an axis that is shorter than this, m, counts as none: products with it would have few digits, or none.
const HARDLY_ANY: f32 = 1.0e-25;

impl Track {
    /// Grows the box by a distance, and by what rounding may take away.
    pub(crate) fn grown(&self, by: f32) -> Track {
        let size = self.from.abs().max(self.way.abs()).max_element() + self.half.max_element() + by;
        let half = self.half + Vec2::splat(by + (ROUNDING * size + HARDLY_ANY));
        let way = self.way.to_array().map(|way| if way.abs() < HARDLY_ANY { 0.0 } else { way });
        Track { half, way: way.into(), ..*self }
    }

    /// The part of the track up to a fraction of its way.
    fn segment(&self, along_x: bool, limit: f64) -> TrackPart {
        let way = self.way * limit.clamp(0.0, 1.0) as f32;
        Track { way, ..*self }.whole(along_x)
    }

    /// The part of the track between two fractions of its way, in the world's axes.
    pub(super) fn piece(&self, start: f32, end: f32) -> TrackPart {
        Track { from: self.from + start * self.way, way: (end - start) * self.way, ..*self }.whole(false)
    }

    /// The box around the track up to a fraction of its way: `[min_x, max_x, min_y, max_y]`.
    pub(super) fn bounds(&self, limit: f32) -> [f32; 4] {
        let to = self.from + limit * self.way;
        let (lower, upper) = (self.from.min(to) - self.half, self.from.max(to) + self.half);
        [lower.x, upper.x, lower.y, upper.y]
    }

    fn whole(&self, along_x: bool) -> TrackPart {
        let order = |v: Vec2| if along_x { [v.y, v.x] } else { v.into() };
        let ([from_s, from_b], [way_s, way_b], [half_s, half_b]) =
            (order(self.from), order(self.way), order(self.half));
        TrackPart {
            middle: [2.0 * from_s + way_s, 2.0 * from_b + way_b],
            way: [way_s, way_b],
            reach: [2.0 * half_s + way_s.abs(), 2.0 * half_b + way_b.abs()],
            across: 2.0 * (way_b.abs() * half_s + way_s.abs() * half_b),
        }
    }
}

/// A track in the axes of an order, s and then b.
#[derive(Clone, Copy)]
struct Line {
    from: [f64; 2],
    way: [f64; 2],
    half: [f64; 2],
    /// 1 / way along b.
    per_way: f64,
}

impl Line {
    fn new(track: &Track, along_x: bool) -> Line {
        let order = |v: Vec2| if along_x { [v.y, v.x] } else { v.into() };
        let [from, way, half] = [track.from, track.way, track.half].map(|v| order(v).map(f64::from));
        Line { from, way, half, per_way: 1.0 / way[1] }
    }

    /// When a point on the line is between `lower` and `upper` along b.
    fn times(&self, lower: f64, upper: f64) -> [f64; 2] {
        let from = self.from[1];
        if self.way[1] == 0.0 {
            let inside = lower <= from && from <= upper;
            return if inside { [f64::NEG_INFINITY, f64::INFINITY] } else { [0.0, -1.0] };
        }
        let (a, b) = ((lower - from) * self.per_way, (upper - from) * self.per_way);
        if self.per_way > 0.0 { [a, b] } else { [b, a] }
    }
}

/// A part of a track as the kernel reads it. All lengths are doubled, so that no box has to be halved.
#[derive(Clone, Copy)]
pub(super) struct TrackPart {
    /// The middle of the way.
    middle: [f32; 2],
    /// Half the way.
    way: [f32; 2],
    /// The reach of the box that the track fills.
    reach: [f32; 2],
    /// The reach of the track across its way, times the way's length.
    across: f32,
}

impl TrackPart {
    /// Where the track ends along s.
    fn end(&self) -> f32 {
        0.5 * (self.middle[0] + self.reach[0])
    }

    fn start(&self) -> f32 {
        0.5 * (self.middle[0] - self.reach[0])
    }
}

/// Rounding of the size of a box.
const LARGER: f32 = 1.0 + 1.0e-6;

/// Whether a track meets boxes `[min_s, max_s, min_b, max_b]`: whether the axes, or the line across the way, part them.
#[inline(always)]
pub(super) fn meets<L: Lane>(segment: &TrackPart, [min_s, max_s, min_b, max_b]: [L; 4]) -> L::Mask {
    let constant = L::splat;
    let [middle_s, middle_b] = segment.middle.map(constant);
    let [way_s, way_b] = segment.way.map(constant);
    let [reach_s, reach_b] = segment.reach.map(constant);
    let (to_s, to_b) = (min_s + max_s - middle_s, min_b + max_b - middle_b);
    let (size_s, size_b) = ((max_s - min_s) * constant(LARGER), (max_b - min_b) * constant(LARGER));
    let aside = (way_s * to_b - way_b * to_s).abs();
    let reach = constant(segment.across) + way_b.abs() * size_s + way_s.abs() * size_b;
    to_s.abs().le(size_s + reach_s).and(to_b.abs().le(size_b + reach_b)).and(aside.le(reach))
}

/// The bounds `[min_s, max_s, min_b, max_b]` of bodies, by their places.
type Columns<'a> = [&'a [f32]; 4];

lane_entry! {
    /// Which of the next sixteen bounds meet a track.
    fn meets_track[][](columns: &Columns<'_>, at: usize, segment: &TrackPart) -> u32 = meets_track_lanes;
}

#[inline(always)]
fn meets_track_lanes<L: Lane>(columns: &Columns<'_>, at: usize, segment: &TrackPart) -> u32 {
    let mut found = 0;
    for i in (0..MAX_WIDTH).step_by(L::WIDTH) {
        let [min_s, max_s, min_b, max_b] = columns;
        let place = at + i;
        let bounds = [
            L::load(&min_s[place..]),
            L::load(&max_s[place..]),
            L::load(&min_b[place..]),
            L::load(&max_b[place..]),
        ];
        found |= meets(segment, bounds).bits() << i;
    }
    found
}

lane_entry! {
    /// Which of the next sixteen bounds overlap a box `[min_s, max_s, min_b, max_b]`.
    fn meets_box[][](columns: &Columns<'_>, at: usize, other: &[f32; 4]) -> u32 = meets_box_lanes;
}

#[inline(always)]
fn meets_box_lanes<L: Lane>(columns: &Columns<'_>, at: usize, other: &[f32; 4]) -> u32 {
    let mut found = 0;
    for i in (0..MAX_WIDTH).step_by(L::WIDTH) {
        let [min_s, max_s, min_b, max_b] = columns;
        let place = at + i;
        let in_s = L::load(&min_s[place..])
            .le(L::splat(other[1]))
            .and(L::load(&max_s[place..]).ge(L::splat(other[0])));
        let in_b = L::load(&min_b[place..])
            .le(L::splat(other[3]))
            .and(L::load(&max_b[place..]).ge(L::splat(other[2])));
        found |= in_s.and(in_b).bits() << i;
    }
    found
}

/// Bands of one height, and the bounds of the bodies in them.
struct Strip<'a> {
    height: f64,
    bands: &'a [Band],
    columns: Columns<'a>,
    /// The largest upper bound along s in the band up to each place.
    front: &'a [f32],
    /// The slot at each place; `None` if places are slots.
    slots: Option<&'a [u32]>,
    /// No bounds are wider or higher, m.
    size: f32,
    /// Around all bodies: `[min_s, max_s, min_b, max_b]`, if it is known.
    extent: Option<[f32; 4]>,
}

/// The visitor of a walk along a line: it is given a slot, and returns up to which fraction of the way the walk goes on. A negative one
/// ends the walk.
pub(crate) trait LineVisitor: FnMut(usize) -> f64 {}
impl<F: FnMut(usize) -> f64> LineVisitor for F {}

/// A walk along a line through one strip.
struct Walk<'a, V> {
    strip: &'a Strip<'a>,
    level: Level,
    track: &'a Track,
    line: &'a Line,
    along_x: bool,
    limit: f64,
    segment: TrackPart,
    visit: V,
}

impl<V: LineVisitor> Walk<'_, V> {
    /// Visits what the track meets. Returns false if the visitor ended the walk.
    fn run(&mut self) -> bool {
        let (height, bands) = (self.strip.height, self.strip.bands);
        let Line { from: [from_s, from_b], way: [way_s, way_b], half: [half_s, half_b], .. } = *self.line;
        let end_b = from_b + self.limit * way_b;
        let per_height = 1.0 / height;
        // One more on each side, for the rounding of the reciprocal.
        let least = band_at(from_b.min(end_b) - half_b, per_height).saturating_sub(2);
        let most = band_at(from_b.max(end_b) + half_b, per_height).saturating_add(1);
        let first = first_band(bands, least);
        let count = first_band(&bands[first..], most.saturating_add(1));
        for step in 0..count {
            let band = &bands[first + if way_b < 0.0 { count - 1 - step } else { step }];
            // A body begins in its band, and ends in the next one at most. The outermost bands have all that is beyond.
            let (id, limit) = (f64::from(band.id), LIMIT - 2.0);
            let lower = if id < -limit { f64::NEG_INFINITY } else { id * height - half_b };
            let upper = if id > limit { f64::INFINITY } else { (id + 2.0) * height + half_b };
            let [enter, leave] = self.line.times(lower, upper);
            if enter > self.limit {
                break;
            }
            let (enter, leave) = (enter.max(0.0), leave.min(self.limit));
            if enter <= leave {
                let (start, end) = (from_s + enter * way_s, from_s + leave * way_s);
                let range = [start.min(end) - half_s, start.max(end) + half_s].map(|s| s as f32);
                let forward = way_s >= 0.0;
                let goes_on = if forward {
                    self.forward(band.slots.clone(), range)
                } else {
                    self.backward(band.slots.clone(), range)
                };
                if !goes_on {
                    return false;
                }
            }
        }
        true
    }

    fn forward(&mut self, band: Range<usize>, [least, most]: [f32; 2]) -> bool {
        let strip = self.strip;
        let mut at = first_place(strip.front, strip.columns[0], band.clone(), least, |front| front < least);
        while at < band.end && strip.columns[0][at] <= most.min(self.segment.end()) {
            let count = (band.end - at).min(MAX_WIDTH);
            let mut found = self.find(at, count);
            while found != 0 {
                let lane = found.trailing_zeros() as usize;
                found &= found - 1;
                if !self.meet(at + lane) {
                    return false;
                }
            }
            at += MAX_WIDTH;
        }
        true
    }

    fn backward(&mut self, band: Range<usize>, [least, most]: [f32; 2]) -> bool {
        let strip = self.strip;
        let min_s = strip.columns[0];
        let mut end = first_place(min_s, min_s, band.clone(), most, |min| min <= most);
        while end > band.start && strip.front[end - 1] >= least.max(self.segment.start()) {
            let at = end.saturating_sub(MAX_WIDTH).max(band.start);
            let mut found = self.find(at, end - at);
            while found != 0 {
                let lane = found.ilog2();
                found ^= 1 << lane;
                if !self.meet(at + lane as usize) {
                    return false;
                }
            }
            end = at;
        }
        true
    }

    fn find(&self, at: usize, count: usize) -> u32 {
        let (columns, segment) = (&self.strip.columns, &self.segment);
        let found = with_lanes!(self.level, L => meets_track::<L>(columns, at, segment));
        found & ((1u32 << count) - 1)
    }

    fn meet(&mut self, place: usize) -> bool {
        let slot = self.strip.slots.map_or(place, |slots| slots[place] as usize);
        let limit = (self.visit)(slot);
        if limit < self.limit {
            self.limit = limit;
            self.segment = self.track.segment(self.along_x, limit);
        }
        limit >= 0.0
    }
}

/// The number of the band of a coordinate. (`f64::floor` is a call on processors of the oldest kind.)
fn band_at(coordinate: f64, per_height: f64) -> i32 {
    let number = (coordinate * per_height).clamp(-LIMIT, LIMIT);
    let whole = number as i32;
    if f64::from(whole) > number { whole - 1 } else { whole }
}

/// The first band with at least this number. Where no band is missing, that is known without a search.
fn first_band(bands: &[Band], least: i32) -> usize {
    let Some(first) = bands.first() else { return 0 };
    // Numbers rise by at least one.
    let most = (i64::from(least) - i64::from(first.id)).clamp(0, bands.len() as i64) as usize;
    if most == 0 || bands[most - 1].id < least {
        return most;
    }
    bands[..most].partition_point(|band| band.id < least)
}

/// The first place of a run, sorted by `min_s`, from which on `before` is false of `column`. `value` is about where it is along s: the
/// search begins there, and goes further by four times as much each time. (A binary search of the whole run took most of a ray's time: ten
/// loads one after the other in each band, most of them of memory that is in no cache.)
fn first_place(
    column: &[f32],
    min_s: &[f32],
    run: Range<usize>,
    value: f32,
    before: impl Fn(f32) -> bool,
) -> usize {
    let (mut low, mut high) = (run.start, run.end);
    if run.len() > 16 {
        let (first, last) = (min_s[run.start], min_s[run.end - 1]);
        let part = (value - first) / (last - first);
        // Not a number becomes 0.
        let mut at = run.start + ((part * run.len() as f32) as usize).min(run.len() - 1);
        let mut step = 4;
        if before(column[at]) {
            low = at + 1;
            while at + step < high {
                at += step;
                if !before(column[at]) {
                    high = at;
                    break;
                }
                (low, step) = (at + 1, 4 * step);
            }
        } else {
            high = at;
            while at >= low + step {
                at -= step;
                if before(column[at]) {
                    low = at + 1;
                    break;
                }
                (high, step) = (at, 4 * step);
            }
        }
    }
    low + column[low..high].partition_point(|&value| before(value))
}

impl<'a> Strip<'a> {
    /// How far rounding may have moved the sides of bounds: as the coordinates of the bodies in them are about those of the query, plus
    /// the size of the bounds, the rounding of the query's coordinates comes on top of this.
    #[inline]
    fn rounding(&self) -> f32 {
        ROUNDING * self.size
    }

    /// `bounds` are widened by the rounding. (Here, they would be loaded as a vector right after they were stored one by one: 20 ns.)
    fn visit_box(&self, level: Level, bounds: &[f32; 4], visit: &mut impl FnMut(usize) -> bool) -> bool {
        let apart = |[min_s, max_s, min_b, max_b]: [f32; 4]| {
            min_s > bounds[1] || max_s < bounds[0] || min_b > bounds[3] || max_b < bounds[2]
        };
        if self.extent.is_some_and(apart) {
            return true;
        }
        let id_at = |b: f32| (f64::from(b) / self.height).floor().clamp(-LIMIT, LIMIT) as i32;
        let (least, most) = (id_at(bounds[2]).saturating_sub(1), id_at(bounds[3]));
        let first = first_band(self.bands, least);
        for band in self.bands[first..].iter().take_while(|band| band.id <= most) {
            let slots = band.slots.clone();
            let least = bounds[0];
            let mut at =
                first_place(self.front, self.columns[0], slots.clone(), least, |front| front < least);
            while at < slots.end && self.columns[0][at] <= bounds[1] {
                let count = (slots.end - at).min(MAX_WIDTH);
                let found = with_lanes!(level, L => meets_box::<L>(&self.columns, at, bounds));
                let mut found = found & ((1u32 << count) - 1);
                while found != 0 {
                    let place = at + found.trailing_zeros() as usize;
                    found &= found - 1;
                    if !visit(self.slots.map_or(place, |slots| slots[place] as usize)) {
                        return false;
                    }
                }
                at += MAX_WIDTH;
            }
        }
        true
    }

    /// The bands of the small bodies.
    fn of_bands(broadphase: &'a Broadphase) -> Strip<'a> {
        let (bounds, bands) = (&broadphase.bounds, &broadphase.bands);
        Strip {
            height: bands.height,
            bands: &bands.list,
            columns: [&bounds.min_s, &bounds.max_s, &bounds.min_b, &bounds.max_b],
            front: &bounds.front,
            slots: None,
            size: bands.widest,
            extent: None,
        }
    }

    /// The levels of the large bodies.
    fn of_levels(levels: &'a Levels) -> impl Iterator<Item = Strip<'a>> {
        levels.strips().map(|(height, length, bands, extent)| {
            let (columns, front) = levels.columns();
            let size = height.max(length) as f32;
            Strip { height, bands, columns, front, slots: Some(&levels.slot), size, extent: Some(extent) }
        })
    }

    fn walk(
        &self,
        level: Level,
        (track, along_x): (&Track, bool),
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) -> bool {
        let track = &Track { half: track.half + self.rounding(), ..*track };
        let segment = track.segment(along_x, *limit);
        if self.extent.is_some_and(|extent| meets(&segment, extent).bits() == 0) {
            return true;
        }
        let line = &Line::new(track, along_x);
        let mut walk = Walk { strip: self, level, track, line, along_x, limit: *limit, segment, visit };
        let goes_on = walk.run();
        *limit = walk.limit;
        goes_on
    }
}

/// A box `[min_s, max_s, min_b, max_b]` with sides that are further out, by what rounding takes of their coordinates, too. A side that is
/// infinite, and beyond the other one, becomes no number: such a box overlaps nothing, before and after.
#[inline]
fn widened(bounds: &[f32; 4], by: f32) -> [f32; 4] {
    let loss = |side: f32| by + ROUNDING * side.abs();
    let [min_s, max_s, min_b, max_b] = *bounds;
    [min_s - loss(min_s), max_s + loss(max_s), min_b - loss(min_b), max_b + loss(max_b)]
}

/// The axes of a box in the order: `[min_s, max_s, min_b, max_b]`.
#[inline]
fn ordered(along_x: bool, lower: Vec2, upper: Vec2) -> [f32; 4] {
    if along_x { [lower.y, upper.y, lower.x, upper.x] } else { [lower.x, upper.x, lower.y, upper.y] }
}

impl Levels {
    /// Visits the boxes that a track may meet, without half-spaces. Returns false if the visitor ended the walk.
    pub(crate) fn visit_along(
        &self,
        level: Level,
        (track, along_x): (&Track, bool),
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) -> bool {
        Strip::of_levels(self).all(|strip| strip.walk(level, (track, along_x), limit, visit))
    }

    /// Visits the boxes that overlap a box, in lanes. Returns false if the visitor did.
    pub(crate) fn visit_box(
        &self,
        level: Level,
        (lower, upper, along_x): (Vec2, Vec2, bool),
        visit: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        let bounds = ordered(along_x, lower, upper);
        Strip::of_levels(self).all(|strip| strip.visit_box(level, &widened(&bounds, strip.rounding()), visit))
    }
}

impl Broadphase {
    /// A box in the axes of the order, as the bounds of the bodies in bands are compared with it.
    #[inline]
    pub(super) fn bounds_in_order(&self, [lower, upper]: [Vec2; 2]) -> [f32; 4] {
        widened(&ordered(self.bands.along_x, lower, upper), ROUNDING * self.bands.widest)
    }

    /// Whether the bounds of a slot overlap such a box.
    #[inline]
    pub(super) fn reaches(&self, slot: usize, [min_s, max_s, min_b, max_b]: &[f32; 4]) -> bool {
        let bounds = &self.bounds;
        bounds.min_s[slot] <= *max_s
            && bounds.max_s[slot] >= *min_s
            && bounds.min_b[slot] <= *max_b
            && bounds.max_b[slot] >= *min_b
    }

    /// How far bodies that are not strays may be out of their bounds in the list, m. May be infinite.
    pub(crate) fn excess(&self) -> f32 {
        self.bounds.large_growth + self.strays.excess()
    }

    /// How many bands there are where a track goes.
    pub(crate) fn bands_across(&self, track: &Track) -> usize {
        let [min_x, max_x, min_y, max_y] = track.bounds(1.0);
        let ends = if self.bands.along_x { [min_x, max_x] } else { [min_y, max_y] };
        let [least, most] = ends.map(|end| self.bands.id_at(end));
        let list = &self.bands.list;
        first_band(&list[first_band(list, least)..], most.saturating_add(1))
    }

    /// The half-spaces in the list.
    pub(crate) fn planes(&self) -> &[u32] {
        &self.levels[0].planes
    }

    /// Visits the listed bodies, loose ones and strays among them, whose bounds a track may meet, without half-spaces. The track is
    /// grown by the excess. Returns false if the visitor ended the walk.
    pub(crate) fn visit_along(
        &self,
        level: Level,
        track: &Track,
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) -> bool {
        let of = (track, self.bands.along_x);
        let [before, after] = self.levels_first_and_last();
        before.iter().all(|levels| levels.visit_along(level, of, limit, visit))
            && Strip::of_bands(self).walk(level, of, limit, visit)
            && after.iter().all(|levels| levels.visit_along(level, of, limit, visit))
    }

    /// The levels into which a search looks before it looks into the bands, and those after that. What is found shortens the search, so it
    /// begins where most bodies are.
    fn levels_first_and_last(&self) -> [&[Levels]; 2] {
        let (moving, still) = self.levels.split_at(1);
        if still[0].len() > self.bands.banded { [still, moving] } else { [&[], &self.levels] }
    }

    /// Visits the listed bodies, loose ones and strays among them, whose bounds overlap a box, without half-spaces. Returns false if
    /// the visitor did.
    pub(crate) fn visit_box(
        &self,
        level: Level,
        [lower, upper]: [Vec2; 2],
        visit: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        Strip::of_bands(self).visit_box(level, &self.bounds_in_order([lower, upper]), visit)
            && self
                .levels
                .iter()
                .all(|levels| levels.visit_box(level, (lower, upper, self.bands.along_x), visit))
    }
}
