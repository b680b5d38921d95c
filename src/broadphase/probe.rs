//! The probe: finds which bodies of a run are near one body, by lanes.
//!
//! ```text
//! for each vector of the run, until one starts after the body ends:
//!     bounds against bounds
//!     if any overlap: shape against shape, further apart than a pair may be?     (as boxes that turn, or as circles)
//!     the numbers and separations of those that are left are packed, without a branch for each
//! ```
//!
//! A run is contiguous in the order of space, so the shapes are read from columns, without a gather. A compound is a box around its
//! parts here. What passes is looked at once more if it needs that: a compound part by part, a round shape among shapes that turn by
//! its distance.
//!
//! Lanes test all overlaps before any of them is looked up: of boxes that turn, many pairs with overlapping bounds are too far apart.
//! `world/pairs.rs` has what the sweep costs.
//!
//! The kind of a pair comes from a table of roles ([`Role`](crate::narrowphase::Role)), and where a world has filters, most bodies
//! are *open*: they touch all bodies of which the same is true, so no filters are compared.

use super::Broadphase;
use super::crowd::MOST_PARTNERS;
use crate::lane::{Lane, MAX_WIDTH, Mask, SET_BITS};
use std::ops::Range;

/// Pairs of bodies that are near, as far as the lanes can say.
#[derive(Default)]
pub(super) struct Hits {
    /// The first `len` entries are partners, and their separations (of boxes or circles).
    partner: Vec<u32>,
    separation: Vec<f32>,
    len: usize,
    /// Whose partners these are: a slot, and the end of its partners. The first `runs` are in use.
    run: Vec<(u32, u32)>,
    runs: usize,
    /// When there are so many hits, they are made to pairs.
    many: usize,
}

/// The largest number of hits that are kept before they are made to pairs.
const MANY_HITS: usize = 1024;

impl Hits {
    /// Removes all hits, and makes room for the hits of a world of so many bodies, at most `MANY_HITS`, for those that two scans of a
    /// body add, and for the lanes that a scan writes past its hits.
    pub(super) fn prepare(&mut self, bodies: usize) {
        self.clear();
        self.many = (8 * bodies).clamp(MAX_WIDTH, MANY_HITS);
        let room = self.many + 2 * MOST_PARTNERS.min(bodies) + 3 * MAX_WIDTH;
        if self.partner.len() < room {
            self.partner.resize(room, 0);
            self.separation.resize(room, 0.0);
            self.run.resize(room, (0, 0));
        }
    }

    fn clear(&mut self) {
        (self.len, self.runs) = (0, 0);
    }

    pub(super) fn is_full(&self) -> bool {
        self.len >= self.many
    }

    /// Ends the hits of a slot.
    #[inline(always)]
    fn end_run(&mut self, slot: usize) {
        self.run[self.runs] = (slot as u32, self.len as u32);
        self.runs += 1;
    }

    /// Calls `visit` with the hits of each slot, in order, and removes all.
    #[inline(always)]
    pub(super) fn take(&mut self, mut visit: impl FnMut(NearOne<'_>)) {
        let mut start = 0;
        for &(slot, end) in &self.run[..self.runs] {
            let range = start..end as usize;
            start = end as usize;
            let partners = &mut self.partner[range.clone()];
            visit(NearOne { slot: slot as usize, partners, separations: &mut self.separation[range] });
        }
        self.clear();
    }
}

/// The partners of one slot, in order, and their separations.
pub(super) struct NearOne<'a> {
    pub slot: usize,
    pub partners: &'a mut [u32],
    pub separations: &'a mut [f32],
}

/// The columns that the lanes read. All have the same length, so one check of a place serves all of them.
pub(super) struct ProbeColumns<'a> {
    min_s: &'a [f32],
    max_s: &'a [f32],
    min_b: &'a [f32],
    max_b: &'a [f32],
    x: &'a [f32],
    y: &'a [f32],
    growth: &'a [f32],
    limit: &'a [f32],
    axis_x: &'a [f32],
    axis_y: &'a [f32],
    half_x: &'a [f32],
    half_y: &'a [f32],
    /// The shapes are boxes that turn, see [`Boxes`](super::shapes::Boxes); otherwise circles.
    turned: bool,
    fleeting: bool,
}

impl<'a> ProbeColumns<'a> {
    #[inline(always)]
    pub(super) fn of(broadphase: &'a Broadphase) -> ProbeColumns<'a> {
        let Broadphase { bounds, boxes, fleeting, .. } = broadphase;
        let (turned, len) = (boxes.turned, bounds.min_s.len());
        // Columns that are not read may be shorter.
        let or = |used: bool, column: &'a [f32]| if used { &column[..len] } else { &bounds.min_s[..len] };
        ProbeColumns {
            min_s: &bounds.min_s[..len],
            max_s: &bounds.max_s[..len],
            min_b: &bounds.min_b[..len],
            max_b: &bounds.max_b[..len],
            x: &bounds.built_x[..len],
            y: &bounds.built_y[..len],
            growth: &bounds.growth[..len],
            limit: or(*fleeting, &bounds.limit),
            axis_x: or(turned, &boxes.axis_x),
            axis_y: or(turned, &boxes.axis_y),
            half_x: &boxes.half_x[..len],
            half_y: or(turned, &boxes.half_y),
            turned,
            fleeting: *fleeting,
        }
    }
}

/// One body, in all lanes.
pub(super) struct Probe<'a, L: Lane> {
    columns: &'a ProbeColumns<'a>,
    slot: usize,
    min_s: L,
    max_s: L,
    min_b: L,
    max_b: L,
    centre: [L; 2],
    growth: L,
    limit: L,
    axis: [L; 2],
    half: [L; 2],
}

impl<'a, L: Lane> Probe<'a, L> {
    #[inline(always)]
    pub(super) fn new(columns: &'a ProbeColumns<'a>, slot: usize) -> Self {
        let of = |column: &[f32]| L::splat(column[slot]);
        Probe {
            columns,
            slot,
            min_s: of(columns.min_s),
            max_s: of(columns.max_s),
            min_b: of(columns.min_b),
            max_b: of(columns.max_b),
            centre: [of(columns.x), of(columns.y)],
            growth: of(columns.growth),
            limit: of(columns.limit),
            axis: [of(columns.axis_x), of(columns.axis_y)],
            half: [of(columns.half_x), of(columns.half_y)],
        }
    }

    /// Returns the lanes from `j` on that overlap, and the lanes that start no later than the body ends, as bits.
    #[inline(always)]
    fn overlap(&self, j: usize, end: usize) -> (u32, u32) {
        let c = self.columns;
        let starts_before = L::load(&c.min_s[j..]).le(self.max_s);
        let overlap = starts_before
            .and(L::load(&c.max_s[j..]).ge(self.min_s))
            .and(L::load(&c.min_b[j..]).le(self.max_b))
            .and(L::load(&c.max_b[j..]).ge(self.min_b));
        let within = if end - j < L::WIDTH { (1 << (end - j)) - 1 } else { u32::MAX };
        (overlap.bits() & within, starts_before.bits())
    }

    /// Notes the bodies of `run`, which is in sweep order, that are near. Returns how many bounds were tested, or `None` if more
    /// bounds overlap than a body may have partners.
    #[inline(always)]
    pub(super) fn note(&self, run: Range<usize>, hits: &mut Hits) -> Option<u64> {
        // `SET_BITS` has bytes. The caller chooses a narrow lane.
        debug_assert!(L::WIDTH <= 8);
        let turned = self.columns.turned;
        let (known, known_runs) = (hits.len, hits.runs);
        let mut overlapping = 0;
        let mut j = run.start;
        while j < run.end {
            let (mut bits, starts_before) = self.overlap(j, run.end);
            if bits != 0 {
                overlapping += bits.count_ones() as usize;
                if overlapping > MOST_PARTNERS {
                    (hits.len, hits.runs) = (known, known_runs);
                    return None;
                }
                let separation =
                    if turned { self.separation_of_boxes(j) } else { self.separation_of_circles(j) };
                bits &= separation.le(self.largest_gap(j)).bits();
                let partner: &mut [u32; MAX_WIDTH] =
                    (&mut hits.partner[hits.len..hits.len + MAX_WIDTH]).try_into().expect("as long");
                for (partner, &lane) in
                    partner.iter_mut().zip(&SET_BITS[(bits & 255) as usize]).take(L::WIDTH)
                {
                    *partner = j as u32 + u32::from(lane);
                }
                separation.pack(bits, &mut hits.separation[hits.len..]);
                hits.len += bits.count_ones() as usize;
            }
            j += L::WIDTH;
            // Lower bounds ascend: when the last lane starts too late, all later bodies do.
            if starts_before >> (L::WIDTH - 1) == 0 {
                break;
            }
        }
        if hits.len > known {
            hits.end_run(self.slot);
        }
        Some((j - run.start) as u64)
    }

    /// Visits the overlapping bodies of `run`, which is in sweep order, until `hit` returns false. Returns how many
    /// bounds were tested.
    #[inline(always)]
    pub(super) fn scan(&self, run: Range<usize>, mut hit: impl FnMut(usize) -> bool) -> u64 {
        let mut j = run.start;
        while j < run.end {
            let (mut bits, starts_before) = self.overlap(j, run.end);
            while bits != 0 {
                if !hit(j + bits.trailing_zeros() as usize) {
                    return (j + L::WIDTH - run.start) as u64;
                }
                bits &= bits - 1;
            }
            j += L::WIDTH;
            // Lower bounds ascend: when the last lane starts too late, all later bodies do.
            if starts_before >> (L::WIDTH - 1) == 0 {
                break;
            }
        }
        (j - run.start) as u64
    }

    /// The way from the body to those from `j` on.
    #[inline(always)]
    fn way(&self, j: usize) -> [L; 2] {
        [L::load(&self.columns.x[j..]) - self.centre[0], L::load(&self.columns.y[j..]) - self.centre[1]]
    }

    /// How far apart a pair may be, see [`Broadphase::largest_gap`].
    #[inline(always)]
    fn largest_gap(&self, j: usize) -> L {
        let growth = self.growth + L::load(&self.columns.growth[j..]);
        if !self.columns.fleeting {
            return growth;
        }
        growth.min(self.limit.max(L::load(&self.columns.limit[j..])))
    }

    /// As in `narrowphase/circle_circle.rs`.
    #[inline(always)]
    fn separation_of_circles(&self, j: usize) -> L {
        let [x, y] = self.way(j);
        (x * x + y * y).sqrt() - (self.half[0] + L::load(&self.columns.half_x[j..]))
    }

    /// As [`OrientedBox::separation`](super::shapes::OrientedBox::separation).
    #[inline(always)]
    fn separation_of_boxes(&self, j: usize) -> L {
        let c = self.columns;
        let [x, y] = self.way(j);
        let ([one_x, one_y], [one_width, one_height]) = (self.axis, self.half);
        let (two_x, two_y) = (L::load(&c.axis_x[j..]), L::load(&c.axis_y[j..]));
        let (two_width, two_height) = (L::load(&c.half_x[j..]), L::load(&c.half_y[j..]));
        let cos = (one_x * two_x + one_y * two_y).abs();
        let sin = (one_x * two_y - one_y * two_x).abs();
        let along_one = (x * one_x + y * one_y).abs() - (one_width + (two_width * cos + two_height * sin));
        let across_one = (y * one_x - x * one_y).abs() - (one_height + (two_width * sin + two_height * cos));
        let along_two = (x * two_x + y * two_y).abs() - (two_width + (one_width * cos + one_height * sin));
        let across_two = (y * two_x - x * two_y).abs() - (two_height + (one_width * sin + one_height * cos));
        along_one.max(across_one).max(along_two.max(across_two))
    }
}
