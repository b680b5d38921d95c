//! Loose bodies: the few that have left their margin, and are paired anew without a new list.
//!
//! Among 50,000 bodies there are nearly always one or two that were hit and leave their margin long before the rest (in
//! a gas 1 to 10 a step, after two steps of five). Where bodies tumble, it is some in a hundred. Instead of a new list
//! for all, such a body gets a new margin where it is now, and its new partners are looked up in the bands. It keeps
//! its place in the order of space, and the pairs that the list already has. The new pairs go to the tiles in which a
//! new list would have them (`contacts/insert.rs`), or to the overflow tile, which may hold pairs of any two bodies.
//! Measured in a gas of 50,000: a new list every fourth step instead of every second.

use super::crowd::MOST_PARTNERS;
use super::growth::Growth;
use super::horizon::HORIZON_STEPS;
use super::{Broadphase, Margins, interval, shape_row};
use crate::body::Bodies;
use crate::broadphase::sweep::Pair;
use std::ops::Range;

/// How many bodies may be loose, depending on what a list costs and on what the bodies do.
#[derive(Clone, Copy, Default)]
pub(crate) struct Allowance {
    /// How many may become loose in one step.
    pub per_step: usize,
    /// How many may become loose in the life of a list, including those that are put elsewhere by hand.
    pub per_list: usize,
    /// For how many steps a loose body should stay in its new margin.
    steps: f32,
}

crate::base::codec::stored!(Allowance { per_step, per_list, steps });

impl Allowance {
    /// Returns the allowance for a list of so many bodies. If most bodies turn, a list is expensive, and some fifty
    /// loose bodies cost less. If few turn, a list is cheap: a gas of 2,000 circles took 42 % more instructions with
    /// the allowance for bodies that turn.
    ///
    /// A loose body is fast, and would have three times as many pairs with the margin of a list. So where most bodies
    /// turn, it gets a margin for one step and a little for rounding. (8,100 boxes in a drum, mean step. With an
    /// allowance of one body in 256 in a step and one in 128 in a list: 9.0 ms. With one in 32 and one in 8: 9.0 ms
    /// with margins for eight steps, 8.3 ms for two. With one in 16 and one in 4: 8.3 ms for two steps, 7.6 ms for
    /// one.)
    pub(super) fn of(bodies: usize, turning: bool) -> Allowance {
        let (per_step, per_list, steps) = if turning { (16, 4, 1.01) } else { (256, 128, HORIZON_STEPS) };
        let limit = |one_in: usize| (bodies / one_in).min(MOST) + LEAST;
        Allowance { per_step: limit(per_step), per_list: limit(per_list), steps }
    }
}

/// At least so many bodies may be loose.
const LEAST: usize = 8;
/// At most so many bodies may be loose, besides `LEAST`: each loose body is tested against all others. Without this
/// limit, a step of 1,000,000 bodies spent up to 435 ms here, as much as on a new list.
const MOST: usize = 1024;
/// One body may be put elsewhere by hand for so many bodies in the list. Their slots may be anywhere in the order, so
/// their pairs go to the overflow tile. (With 16: 20,000 circles of which 100 are replaced in each step took 12 ms
/// instead of 7.)
const EDITED: usize = 128;
/// So many loose bodies are tested in the time that one other bounds test takes.
const TESTS_AT_ONCE: u64 = 8;

/// Returns how many bodies may be put elsewhere by hand in the life of a list. A world that grows gets as many spare
/// slots.
pub(crate) fn edits_per_list(bodies: usize) -> usize {
    (bodies / EDITED).min(MOST) + LEAST
}

impl Broadphase {
    /// Forgets the loose bodies of the last list, and makes room for those of the next.
    pub(super) fn clear_loose(&mut self) {
        let per_list = self.bounds.allowance.per_list;
        self.loose.clear();
        self.loose.reserve(per_list);
        self.loose_boxes.clear();
        self.loose_boxes.reserve(per_list);
        self.near_loose.clear();
        self.near_loose.reserve(MOST_PARTNERS.min(self.listed));
    }

    /// Forgets a body that was removed: its slot never leaves its margin.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.bounds.leeway[slot as usize] = f32::INFINITY;
        if let Ok(place) = self.loose.binary_search(&slot) {
            self.loose.remove(place);
        }
    }

    /// Returns whether the bodies in `left`, which have left their margins, are few enough to be paired anew on their
    /// own. `edited` of them were put there by hand.
    pub(crate) fn can_loosen(&self, left: &[u32], edited: usize) -> bool {
        let Allowance { per_step, per_list, .. } = self.bounds.allowance;
        let few = left.len() <= per_step + edited && self.loose.len() + left.len() <= per_list;
        few && left.iter().all(|&slot| self.may_be_loose(slot as usize))
    }

    /// Returns whether a body may be loose. Large bodies may not: they are looked up where they were when the list was
    /// made.
    pub(crate) fn may_be_loose(&self, slot: usize) -> bool {
        slot < self.bands.banded || slot >= self.listed
    }

    /// Gives each of these bodies a new margin and finds the pairs that may be missing from the list; some may be in
    /// the list already. `left` is sorted. Returns false if one of the bodies is in a crowd: only the sweep can choose
    /// its pairs.
    pub(crate) fn loosen(&mut self, bodies: &Bodies, left: &[u32], pairs: &mut Vec<Pair>) -> bool {
        for &slot in left {
            self.renew(bodies, slot as usize);
        }
        self.loose.extend_from_slice(left);
        self.loose.sort_unstable();
        self.loose.dedup();
        let mut boxes = std::mem::take(&mut self.loose_boxes);
        boxes.clear();
        boxes.extend(self.loose.iter().map(|&slot| self.loose_box(bodies, slot as usize)));
        self.loose_boxes = boxes;
        let mut near = std::mem::take(&mut self.near_loose);
        let mut complete = true;
        for &slot in left {
            let (tests, all) = self.pair_loose(bodies, slot as usize, left, &mut near, pairs);
            self.tests += tests;
            complete &= all;
            if !complete {
                break;
            }
        }
        self.near_loose = near;
        complete
    }

    /// Gives a body a new margin, from where it is now.
    fn renew(&mut self, bodies: &Bodies, slot: usize) {
        let horizon = self.margins.horizon.min(self.bounds.allowance.steps * self.margins.time_step);
        let margins = &Margins { horizon, ..self.margins };
        let c = &bodies.columns;
        let bounds = &mut self.bounds;
        // All positions here are as of the time when the list was made: the frame's motion since then is subtracted.
        let x = c.pos_x[slot] - bounds.frame_x[slot] * bounds.age;
        let y = c.pos_y[slot] - bounds.frame_y[slot] * bounds.age;
        (bounds.built_x[slot], bounds.built_y[slot]) = (x, y);
        if bodies.any_manifold {
            bounds.built_angle[slot] = c.angle[slot];
            self.boxes.renew(bodies, slot);
        }
        let Growth { leeway, growth, frame, .. } = Growth::of_one(bodies, slot, margins, &self.frames);
        let frame = glam::Vec2::from(frame);
        // The body may have moved into another frame. It keeps its own frame, and the margin grows by the difference.
        let own = [bounds.frame_x[slot], bounds.frame_y[slot]];
        let change = margins.horizon * (frame - glam::Vec2::from(own)).length();
        bounds.leeway[slot] = leeway + change;
        bounds.growth[slot] = 2.0 * growth - leeway + change;
        self.shape[slot] = shape_row(c.kind[slot], [x, y], [c.ext_x[slot], c.ext_y[slot]], c.ext_z[slot]);
        self.place_parts_of(bodies, slot);
    }

    /// Finds the pairs of a loose body. Returns how many bounds were tested, and whether these were all: false if the
    /// body has too many partners.
    fn pair_loose(
        &self,
        bodies: &Bodies,
        slot: usize,
        left: &[u32],
        near: &mut Vec<u32>,
        pairs: &mut Vec<Pair>,
    ) -> (u64, bool) {
        let mut add = |other: usize| {
            let known = pairs.len();
            self.accept(bodies, slot.min(other), slot.max(other), |pair| pairs.push(pair));
            pairs.len() > known
        };
        let [range_s, range_b] = self.loose_box(bodies, slot);
        let (mut tests, mut partners) = (0, 0);
        self.visit_bands(range_s, range_b, |other| {
            tests += 1;
            let removed = !bodies.columns.kind[other].is_collidable();
            partners += usize::from(!removed && !self.is_loose(other) && add(other));
            partners < MOST_PARTNERS
        });
        tests += (self.loose.len() as u64).div_ceil(TESTS_AT_ONCE);
        for (&other, [other_s, other_b]) in self.loose.iter().zip(&self.loose_boxes) {
            let overlaps = (other_s[0] <= range_s[1])
                & (other_s[1] >= range_s[0])
                & (other_b[0] <= range_b[1])
                & (other_b[1] >= range_b[0]);
            // The first of two bodies that have left in this step finds their pair.
            if overlaps
                && other as usize != slot
                && ((other as usize) > slot || left.binary_search(&other).is_err())
            {
                add(other as usize);
            }
        }
        near.clear();
        self.visit_large(range_s, range_b, |large| {
            tests += 1;
            let mut close = false;
            self.accept(bodies, slot, large, |_| close = true);
            if close {
                near.push(large as u32);
            }
            near.len() < MOST_PARTNERS
        });
        near.sort_unstable();
        for &large in &*near {
            add(large as usize);
        }
        (tests, partners < MOST_PARTNERS && near.len() < MOST_PARTNERS)
    }

    /// Returns the grown bounds of a loose body: along the sorted axis, then along the axis that is cut into bands.
    fn loose_box(&self, bodies: &Bodies, slot: usize) -> [[f32; 2]; 2] {
        let c = &bodies.columns;
        let growth = self.bounds.growth[slot];
        let along_x = interval(self.bounds.built_x[slot], c.ext_x[slot], growth);
        let along_y = interval(self.bounds.built_y[slot], c.ext_y[slot], growth);
        if self.bands.along_x { [along_y, along_x] } else { [along_x, along_y] }
    }

    /// Returns whether a body is loose: its bounds are no longer those in the bands.
    pub(crate) fn is_loose(&self, slot: usize) -> bool {
        self.loose.binary_search(&(slot as u32)).is_ok()
    }

    /// Visits the banded slots whose bounds overlap a box, until `visit` returns false; then returns false.
    pub(crate) fn visit_bands(
        &self,
        range_s: [f32; 2],
        range_b: [f32; 2],
        mut visit: impl FnMut(usize) -> bool,
    ) -> bool {
        let bounds = &self.bounds;
        let ids = self.bands.id_at(range_b[0]).saturating_sub(1)..=self.bands.id_at(range_b[1]);
        let first = self.bands.list.partition_point(|band| band.id < *ids.start());
        for band in self.bands.list[first..].iter().take_while(|band| band.id <= *ids.end()) {
            let slots: Range<usize> = band.slots.clone();
            let reaching = bounds.front[slots.clone()].partition_point(|&front| front < range_s[0]);
            for slot in slots.start + reaching..slots.end {
                if bounds.min_s[slot] > range_s[1] {
                    break;
                }
                let overlaps = bounds.max_s[slot] >= range_s[0]
                    && bounds.min_b[slot] <= range_b[1]
                    && bounds.max_b[slot] >= range_b[0];
                if overlaps && !visit(slot) {
                    return false;
                }
            }
        }
        true
    }
}
