//! The walk outward from a point: to the bodies that may be nearer to it than what was found so far. For the nearest surface.
//!
//! ```text
//! for each strip:
//!     for each band, the nearest one first, until a band is out of reach:
//!         from the point outward along the band, sixteen bodies at a time, until they are out of reach:
//!             how far away their bounds are                                               (lanes)
//!             visit the nearest ones first: what is found shortens the reach
//! ```
//!
//! Within reach is a disc, and the bands cut it into strips. So a point far away from all bodies looks at few of each band: at those in a
//! thin lens. (A box that grew until it held a body, and then everything in it, was 0.1 µs for each body of the world if the point was far
//! out: 2.2 ms at 20,000 bodies.)

use super::{Columns, LineVisitor, ROUNDING, Strip, band_at, first_band, first_place};
use crate::broadphase::Broadphase;
use crate::broadphase::bands::{Band, LIMIT};
use crate::broadphase::levels::Levels;
use crate::broadphase::tree::{Node, Region};
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Mask, lane_entry, with_lanes};
use glam::Vec2;
use std::ops::Range;

/// Where bodies are sought.
pub(in crate::broadphase) struct Disc {
    /// s and b, or x and y.
    centre: [f32; 2],
    /// The square of the radius, rounded up.
    square: f32,
}

impl Disc {
    pub(in crate::broadphase) fn new(centre: [f32; 2]) -> Disc {
        Disc { centre, square: 0.0 }
    }

    /// Sets the radius, and something for rounding. Returns it.
    pub(in crate::broadphase) fn reach(&mut self, radius: f64) -> f64 {
        // Inside of shapes distances are negative. All bounds that hold the point may be those of such a shape.
        let radius = radius.max(0.0);
        let [s, b] = self.centre.map(|at| f64::from(at.abs()));
        let reach = radius + f64::from(ROUNDING) * (s.max(b) + radius);
        self.square = ((reach * reach) as f32) * (1.0 + ROUNDING) + f32::MIN_POSITIVE;
        reach
    }
}

impl Region for Disc {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        let [x, y] = self.centre.map(L::splat);
        let (mut found, zero) = (0, L::splat(0.0));
        for i in (0..MAX_WIDTH).step_by(L::WIDTH) {
            let [min_x, max_x, min_y, max_y] = node.load::<L>(i);
            let away_x = (min_x - x).max(x - max_x).max(zero);
            let away_y = (min_y - y).max(y - max_y).max(zero);
            let near = (away_x * away_x + away_y * away_y).le(L::splat(self.square));
            // What is missing is not a number, which the largest of two may not be.
            found |= near.and(min_x.le(max_x)).bits() << i;
        }
        found
    }

    /// The nearest one: what is found there shortens the reach.
    fn next(&self, node: &Node, mut found: u32) -> Option<u32> {
        let ([x, y], [min_x, max_x, min_y, max_y]) = (self.centre, &node.0);
        // All of them, so that the compiler takes several at a time.
        let squares: [f32; MAX_WIDTH] = std::array::from_fn(|child| {
            let larger = |a: f32, b: f32| if a > b { a } else { b };
            let away_x = larger(larger(min_x[child] - x, x - max_x[child]), 0.0);
            let away_y = larger(larger(min_y[child] - y, y - max_y[child]), 0.0);
            away_x * away_x + away_y * away_y
        });
        let (mut nearest, mut least) = (found.trailing_zeros(), f32::INFINITY);
        while found != 0 {
            let child = found.trailing_zeros();
            found &= found - 1;
            let square = squares[child as usize % MAX_WIDTH];
            if square < least {
                (nearest, least) = (child, square);
            }
        }
        (least <= self.square).then_some(nearest)
    }
}

lane_entry! {
    /// Which of the next sixteen bounds reach into a disc; and the squares of how far away they are from its centre.
    fn meets_disc[][](columns: &Columns<'_>, at: usize, disc: &Disc, squares: &mut [f32; MAX_WIDTH]) -> u32 =
        meets_disc_lanes;
}

#[inline(always)]
fn meets_disc_lanes<L: Lane>(
    columns: &Columns<'_>,
    at: usize,
    disc: &Disc,
    squares: &mut [f32; MAX_WIDTH],
) -> u32 {
    let (mut found, zero) = (0, L::splat(0.0));
    let [s, b] = disc.centre.map(L::splat);
    for i in (0..MAX_WIDTH).step_by(L::WIDTH) {
        let [min_s, max_s, min_b, max_b] = columns;
        let place = at + i;
        let away_s = (L::load(&min_s[place..]) - s).max(s - L::load(&max_s[place..])).max(zero);
        let away_b = (L::load(&min_b[place..]) - b).max(b - L::load(&max_b[place..])).max(zero);
        let square = away_s * away_s + away_b * away_b;
        square.store(&mut squares[i..]);
        found |= square.le(L::splat(disc.square)).bits() << i;
    }
    found
}

/// A walk outward. The visitor returns within which distance of the point bodies are still sought.
struct Outward<V> {
    level: Level,
    disc: Disc,
    excess: f32,
    /// Within which distance bodies are sought.
    limit: f64,
    /// The least that the visitor returned.
    least: f64,
    /// The same, with what may be wrong of the bounds of the present strip.
    reach: f64,
    visit: V,
}

impl<V: LineVisitor> Outward<V> {
    fn new(level: Level, (point, along_x): (Vec2, bool), excess: f32, limit: f64, visit: V) -> Self {
        let centre = if along_x { [point.y, point.x] } else { point.into() };
        Outward { level, disc: Disc::new(centre), excess, limit, least: f64::INFINITY, reach: 0.0, visit }
    }

    fn set_reach(&mut self, strip: &Strip<'_>) {
        let wrong = 1.5 * f64::from(self.excess) + f64::from(strip.rounding());
        self.reach = self.disc.reach(self.limit.max(0.0) + wrong);
    }

    fn run(&mut self, strip: &Strip<'_>) {
        self.set_reach(strip);
        let [s, b] = self.disc.centre.map(f64::from);
        let apart = |[min_s, max_s, min_b, max_b]: [f64; 4]| {
            let away = |at: f64, min: f64, max: f64| (min - at).max(at - max).max(0.0);
            away(s, min_s, max_s).hypot(away(b, min_b, max_b))
        };
        if strip.extent.is_some_and(|extent| apart(extent.map(f64::from)) > self.reach) {
            return;
        }
        let (bands, height) = (strip.bands, strip.height);
        let own = band_at(b, 1.0 / height);
        let mut above = first_band(bands, own);
        let mut below = above;
        // How far away the bodies of a band are at least. The outermost bands have all that is beyond.
        let to_upper = |band: &Band| match f64::from(band.id) {
            id if id < 2.0 - LIMIT => 0.0,
            id => (id * height - b).max(0.0),
        };
        let to_lower = |band: &Band| match f64::from(band.id) {
            id if id > LIMIT - 2.0 => 0.0,
            id => (b - (id + 2.0) * height).max(0.0),
        };
        while above < bands.len() || below > 0 {
            let upper = bands.get(above).map_or(f64::INFINITY, to_upper);
            let lower = below.checked_sub(1).map_or(f64::INFINITY, |last| to_lower(&bands[last]));
            let gap = upper.min(lower);
            if gap > self.reach {
                return;
            }
            let band = if upper <= lower { above } else { below - 1 };
            self.walk(strip, bands[band].slots.clone(), gap);
            if upper <= lower { above += 1 } else { below -= 1 }
        }
    }

    /// How far away along s bodies of a band may be that is so far away.
    fn width(&self, gap: f64) -> f64 {
        if gap == 0.0 { self.reach } else { self.width_beyond(gap) }
    }

    fn width_beyond(&self, gap: f64) -> f64 {
        (self.reach * self.reach - gap * gap).max(0.0).sqrt()
    }

    fn walk(&mut self, strip: &Strip<'_>, band: Range<usize>, gap: f64) {
        let (min_s, front, s) = (strip.columns[0], strip.front, self.disc.centre[0]);
        let within = |from: f32, to: f32, width: f64| f64::from(to) - f64::from(from) <= width;
        let width = self.width(gap);
        if !within(s, min_s[band.start], width) || !within(front[band.end - 1], s, width) {
            return;
        }
        let mut after = first_place(min_s, min_s, band.clone(), s, |min| min <= s);
        let mut before = after;
        loop {
            let goes_back = before > band.start && within(front[before - 1], s, self.width(gap));
            if goes_back {
                let at = before.saturating_sub(MAX_WIDTH).max(band.start);
                self.look(strip, at, before - at);
                before = at;
            }
            let goes_on = after < band.end && within(s, min_s[after], self.width(gap));
            if goes_on {
                let count = (band.end - after).min(MAX_WIDTH);
                self.look(strip, after, count);
                after += count;
            }
            if !goes_back && !goes_on {
                return;
            }
        }
    }

    /// Visits some of the next bodies, at most sixteen, the nearest ones first.
    fn look(&mut self, strip: &Strip<'_>, at: usize, count: usize) {
        let (columns, disc, mut squares) = (&strip.columns, &self.disc, [0.0; MAX_WIDTH]);
        let found = with_lanes!(self.level, L => meets_disc::<L>(columns, at, disc, &mut squares));
        let mut found = found & ((1u32 << count) - 1);
        while found != 0 {
            let (mut first, mut rest) = (found.trailing_zeros(), found & (found - 1));
            while rest != 0 && squares[first as usize] > 0.0 {
                let lane = rest.trailing_zeros();
                rest &= rest - 1;
                first = if squares[lane as usize] < squares[first as usize] { lane } else { first };
            }
            if squares[first as usize] > self.disc.square {
                return;
            }
            found &= !(1 << first);
            let place = at + first as usize;
            let limit = (self.visit)(strip.slots.map_or(place, |slots| slots[place] as usize));
            self.least = self.least.min(limit);
            if limit < self.limit {
                self.limit = limit;
                self.set_reach(strip);
            }
        }
    }
}

impl Levels {
    /// Visits the boxes that may be within a distance of a point, without half-spaces. The visitor returns within which distance others
    /// are still sought.
    pub(crate) fn visit_outward(
        &self,
        level: Level,
        at: (Vec2, bool),
        (excess, limit): (f32, &mut f64),
        visit: &mut impl LineVisitor,
    ) {
        let mut walk = Outward::new(level, at, excess, *limit, visit);
        Strip::of_levels(self).for_each(|strip| walk.run(&strip));
        *limit = walk.limit;
    }
}

impl Broadphase {
    /// Visits the listed bodies, loose ones and strays among them, that may be within a distance of a point, without half-spaces; some of
    /// them twice. The visitor returns within which distance others are still sought.
    ///
    /// In the midst of bodies the nearest is near. So the first walk goes no further than a band is high: what is nearest along a band would
    /// be tested in vain otherwise. (A point in a pile: 0.34 instead of 0.62 µs.)
    pub(crate) fn visit_outward(
        &self,
        level: Level,
        point: Vec2,
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) {
        let (at, strip) = ((point, self.bands.along_x), &Strip::of_bands(self));
        let [before, after] = self.levels_first_and_last();
        for most in [self.bands.height, f64::INFINITY] {
            let mut walk = Outward::new(level, at, self.excess(), limit.min(most), &mut *visit);
            before.iter().flat_map(Strip::of_levels).for_each(|strip| walk.run(&strip));
            walk.run(strip);
            *limit = limit.min(walk.least);
            if *limit < most {
                break;
            }
        }
        after.iter().for_each(|levels| levels.visit_outward(level, at, (self.excess(), limit), visit));
    }
}
