//! The sweep: all pairs of one tile, sorted by (a, b).
//!
//! ```text
//! for each large body, for each band of the tile that it covers: the bodies between its bounds
//! for each band, for each body i in order:
//!     later bodies of the band, until one starts after i ends
//!     bodies of the next band from the first that may reach i, until one starts after i ends
//!     the large bodies found for i
//! ```
//!
//! The tests on a run of bodies are done by lanes; hits come out in slot order at any width. A hit then
//! passes the filters and an exact test of distance: in a random pile a fifth of all circles whose
//! bounds overlap are too far apart to matter, and each would cost every solver pass.

use super::general::NO_PART;
use super::{Broadphase, TileBands};
use crate::body::Bodies;
use crate::lane::{Lane, Mask};
use crate::narrowphase::{PairKind, Touch, touch_one};
use crate::shape::ShapeKind;
use std::ops::Range;

/// Two slots whose grown shapes are close, a < b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub a: u32,
    pub b: u32,
    /// When the pair was found.
    pub separation: f32,
    pub kind: PairKind,
    /// Whether b takes the role of A in the pair's kernel.
    pub swap: bool,
    /// Which of a's and b's shapes; `NO_PART` where there is but one.
    pub parts: [u8; 2],
}

/// The pairs that one tile finds.
#[derive(Default)]
pub(crate) struct Found {
    /// Both bodies in this tile or the next, or B a large body without inverse mass.
    pub pairs: Vec<Pair>,
    /// With a large body that contacts can move.
    pub far: Vec<Pair>,
    /// (banded, large), sorted.
    large: Vec<(u32, u32)>,
}

impl Found {
    /// Room for what is found beside the pairs, so that the first few do not allocate.
    pub(crate) fn reserve_large(&mut self) {
        self.far.reserve(16_usize.saturating_sub(self.far.capacity()));
        self.large.reserve(256_usize.saturating_sub(self.large.capacity()));
    }
}

/// Which of the bodies in a run overlap body `i`.
struct Probe<'a, L: Lane> {
    broadphase: &'a Broadphase,
    min_s: L,
    max_s: L,
    min_b: L,
    max_b: L,
}

impl<'a, L: Lane> Probe<'a, L> {
    fn new(broadphase: &'a Broadphase, i: usize) -> Self {
        let bounds = &broadphase.bounds;
        Probe {
            broadphase,
            min_s: L::splat(bounds.min_s[i]),
            max_s: L::splat(bounds.max_s[i]),
            min_b: L::splat(bounds.min_b[i]),
            max_b: L::splat(bounds.max_b[i]),
        }
    }

    /// Visits the overlapping bodies of `run`, which is in sweep order.
    #[inline(always)]
    fn scan(&self, run: Range<usize>, mut hit: impl FnMut(usize)) {
        let bounds = &self.broadphase.bounds;
        let mut j = run.start;
        while j < run.end {
            let starts_before = L::load(&bounds.min_s[j..]).le(self.max_s);
            let overlap = starts_before
                .and(L::load(&bounds.max_s[j..]).ge(self.min_s))
                .and(L::load(&bounds.min_b[j..]).le(self.max_b))
                .and(L::load(&bounds.max_b[j..]).ge(self.min_b));
            let mut bits = overlap.bits();
            if run.end - j < L::WIDTH {
                bits &= (1 << (run.end - j)) - 1;
            }
            while bits != 0 {
                hit(j + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
            // Lower bounds ascend, so the last lane is the first to start too late.
            if starts_before.bits() >> (L::WIDTH - 1) == 0 {
                return;
            }
            j += L::WIDTH;
        }
    }
}

impl Broadphase {
    /// Finds the pairs of one tile.
    pub(crate) fn sweep<L: Lane>(&self, bodies: &Bodies, tile: &TileBands, found: &mut Found) {
        let Found { pairs, far, large } = found;
        pairs.clear();
        far.clear();
        self.sweep_large::<L>(bodies, tile, large);
        let mut emit = |a: usize, b: usize| {
            let found = if b >= self.bands.banded && bodies.columns.inv_mass[b] > 0.0 {
                &mut *far
            } else {
                &mut *pairs
            };
            self.accept(bodies, a, b, |pair| found.push(pair));
        };
        let mut next_large = large.iter().peekable();
        for k in tile.bands.clone() {
            let band = &self.bands.list[k];
            let next = self.bands.list.get(k + 1).filter(|next| next.id == band.id + 1);
            let mut reaching = next.map_or(0, |next| next.slots.start);
            for i in band.slots.clone() {
                let probe = Probe::<L>::new(self, i);
                // What touches nothing has no candidates to look at. (`peers --scenes joint-grid`, 10,000 particles in a heap,
                // 2 threads: a p95 of 7 ms for a step, and 2 so.)
                let touches = !self.present.avoids(bodies, i);
                if touches {
                    probe.scan(i + 1..band.slots.end, |j| emit(i, j));
                }
                if let Some(next) = next.filter(|_| touches) {
                    let min_s = self.bounds.min_s[i];
                    while reaching < next.slots.end && self.bounds.front[reaching] < min_s {
                        reaching += 1;
                    }
                    probe.scan(reaching..next.slots.end, |j| emit(i, j));
                }
                while let Some(&(_, b)) = next_large.next_if(|&&(a, _)| a as usize == i) {
                    emit(i, b as usize);
                }
            }
        }
    }

    /// Finds which bodies of the tile are near which large ones.
    fn sweep_large<L: Lane>(&self, bodies: &Bodies, tile: &TileBands, large: &mut Vec<(u32, u32)>) {
        large.clear();
        let mut sorted = true;
        for b in self.bands.banded..self.bands.solid {
            if !large.is_empty() {
                sorted = false;
            }
            if bodies.columns.kind[b].shape() == ShapeKind::HalfSpace {
                self.near_plane::<L>(bodies, b, tile.slots.clone(), |a| large.push((a as u32, b as u32)));
                continue;
            }
            let probe = Probe::<L>::new(self, b);
            let (lowest, highest) = (self.bounds.min_b[b], self.bounds.max_b[b]);
            let ids = self.bands.id_at(lowest) - 1..=self.bands.id_at(highest);
            for band in &self.bands.list[tile.bands.clone()] {
                if ids.contains(&band.id) {
                    let front = &self.bounds.front[band.slots.clone()];
                    let first = front.partition_point(|&front| front < self.bounds.min_s[b]);
                    let run = band.slots.start + first..band.slots.end;
                    probe.scan(run, |a| large.push((a as u32, b as u32)));
                }
            }
        }
        if !sorted {
            large.sort_unstable();
        }
    }

    /// The slots whose bounds come near the half-space in slot `plane`.
    fn near_plane<L: Lane>(
        &self,
        bodies: &Bodies,
        plane: usize,
        slots: Range<usize>,
        mut hit: impl FnMut(usize),
    ) {
        let c = &bodies.columns;
        let (normal_x, normal_y) = (L::splat(c.ext_x[plane]), L::splat(c.ext_y[plane]));
        let offset = L::splat(c.ext_z[plane]);
        let mut j = slots.start;
        while j < slots.end {
            // Columns are padded to the widest lane, but the last load may start anywhere in it.
            if j + L::WIDTH > c.pos_x.len() {
                (j..slots.end).for_each(&mut hit);
                return;
            }
            let height = L::load(&c.pos_x[j..]) * normal_x + L::load(&c.pos_y[j..]) * normal_y - offset;
            // Of the box around the shape: never less than the shape's own.
            let support = L::load(&c.ext_x[j..]) * normal_x.abs() + L::load(&c.ext_y[j..]) * normal_y.abs();
            let growth = L::load(&self.bounds.growth[j..]) + L::splat(self.bounds.growth[plane]);
            let mut bits = (height - support).le(growth).bits();
            if slots.end - j < L::WIDTH {
                bits &= (1 << (slots.end - j)) - 1;
            }
            while bits != 0 {
                hit(j + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
            j += L::WIDTH;
        }
    }

    /// Pairs among the large bodies themselves.
    pub(crate) fn sweep_among_large(&self, bodies: &Bodies, pairs: &mut Vec<Pair>) {
        let large = self.bands.banded..self.bands.solid;
        let plane = |slot: usize| bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace;
        let bounds = &self.bounds;
        let overlap = |a: usize, b: usize| {
            plane(a)
                || plane(b)
                || (bounds.min_s[a] <= bounds.max_s[b]
                    && bounds.min_s[b] <= bounds.max_s[a]
                    && bounds.min_b[a] <= bounds.max_b[b]
                    && bounds.min_b[b] <= bounds.max_b[a])
        };
        for a in large.clone() {
            for b in a + 1..large.end {
                if overlap(a, b) {
                    self.accept(bodies, a, b, |pair| pairs.push(pair));
                }
            }
        }
    }

    /// The pair, if its bodies may touch each other before the list is stale; of compounds the pairs of parts.
    #[inline(always)]
    pub(super) fn accept(&self, bodies: &Bodies, a: usize, b: usize, mut emit: impl FnMut(Pair)) {
        let c = &bodies.columns;
        let (a_fixed, b_fixed) = (c.inv_mass[a] == 0.0, c.inv_mass[b] == 0.0);
        if a_fixed && b_fixed {
            return;
        }
        if bodies.any_general && (c.kind[a].is_general() || c.kind[b].is_general()) {
            self.accept_general(bodies, a, b, &mut emit);
            return;
        }
        if bodies.any_filter
            && ((c.category[a] & c.mask[b]) == 0
                || (c.category[b] & c.mask[a]) == 0
                || (c.group[a] != 0 && c.group[a] == c.group[b]))
        {
            return;
        }
        let (kind, swap) = PairKind::of(c.kind[a], a_fixed, c.kind[b], b_fixed);
        let (first, second) = if swap { (b, a) } else { (a, b) };
        let (row_a, row_b) = (self.shape[first].0, self.shape[second].0);
        let separation = if kind == PairKind::CircleCircle {
            // In place of the jump table, for the kind of which there are most.
            touch_one(PairKind::CircleCircle, row_a, row_b).separation
        } else {
            touch_any(kind, row_a, row_b).separation
        };
        let near = separation <= self.bounds.growth[a] + self.bounds.growth[b];
        if near {
            emit(Pair { a: a as u32, b: b as u32, separation, kind, swap, parts: [NO_PART; 2] });
        }
    }
}

#[inline(never)]
fn touch_any(kind: PairKind, a: [f32; 4], b: [f32; 4]) -> Touch<f32> {
    touch_one(kind, a, b)
}
