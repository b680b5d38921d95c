//! The sweep: finds all pairs of one tile, sorted by (a, b).
//!
//! ```text
//! for each band, for each run of large bodies near it (levels.rs): the smaller side looks up the larger
//! for each band, for each body i in order:
//!     later bodies of the band, until one starts after i ends
//!     bodies of the next band from the first that may reach i, until one starts after i ends
//!     the large bodies found for i
//! ```
//!
//! If a run has no more bodies than the band, each of them looks up the band (a floor, a wall). If it has more, each
//! body of the band looks up the run (terrain, a comb). Two bodies that nothing moves are no pair, and no list that
//! grows holds them.
//!
//! The tests on a run of bodies are done by lanes (`probe.rs`), of bounds first and then of shapes: in a random pile, a
//! fifth of all circles whose bounds overlap are too far apart to matter, and half of all boxes that turn, and each would
//! cost time in every step. Hits come out in slot order at any width, and are noted without a branch for each (which was
//! mispredicted twice a body).

use super::bands::Band;
use super::crowd::{Crowd, MOST_PARTNERS, is_much_smaller, size};
use super::levels::Levels;
use super::probe::{Hits, NearOne, Probe, ProbeColumns};
use super::shapes::NO_PART;
use super::{Broadphase, TileBands};
use crate::base::ranges::without;
use crate::body::Bodies;
use crate::geometry::shape::ShapeKind;
use crate::lane::{Lane, Mask, lane_entry};
use crate::narrowphase::{PairKind, Touch, touch_one};
use std::ops::Range;

/// Two slots whose grown shapes are close, a < b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub a: u32,
    pub b: u32,
    /// The separation when the pair was found.
    pub separation: f32,
    pub kind: PairKind,
    /// True if b takes the role of A in the pair's kernel.
    pub swap: bool,
    /// The numbers of a's and b's parts; `NO_PART` for a body with one shape.
    pub parts: [u8; 2],
}

/// The pairs that one tile finds.
#[derive(Default)]
pub(crate) struct Found {
    /// Pairs of two bodies in this tile or the next, or with a large body without inverse mass as B.
    pub pairs: Vec<Pair>,
    /// Pairs with a large body that contacts can move.
    pub overflow: Vec<Pair>,
    /// Pairs of a banded and a large body, sorted; in the overflow tile, of two large ones.
    large: Vec<Pair>,
    /// The separations of a body that has too many large partners.
    separations: Vec<f32>,
    crowd: Crowd,
    hits: Hits,
    /// How many bounds were tested, including those that the last lanes of a vector test needlessly.
    pub tests: u64,
}

impl Found {
    /// Returns whether `overflow` and `large` have room for so many.
    pub(crate) fn holds(&self, overflow: usize, large: usize) -> bool {
        self.overflow.capacity() >= overflow && self.large.capacity() >= large
    }

    /// Makes room in `overflow` and `large` for so many.
    pub(crate) fn reserve(&mut self, overflow: usize, large: usize) {
        self.overflow.reserve_exact(overflow.saturating_sub(self.overflow.len()));
        self.large.reserve_exact(large.saturating_sub(self.large.len()));
    }

    /// Returns how many pairs with large bodies were found.
    pub(crate) fn large_len(&self) -> usize {
        self.large.len()
    }

    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
        self.overflow.clear();
        self.large.clear();
        self.crowd.clear();
        self.tests = 0;
    }

    /// The slots, in order, of bodies that have more partners than they were given.
    pub(crate) fn crowded(&self) -> &[u32] {
        &self.crowd.cut
    }
}

/// Finds the pairs of one body at a time, in order.
struct Finder<'a> {
    broadphase: &'a Broadphase,
    bodies: &'a Bodies,
    /// The tile's first slot.
    first: usize,
    pairs: &'a mut Vec<Pair>,
    overflow: &'a mut Vec<Pair>,
    crowd: &'a mut Crowd,
    hits: &'a mut Hits,
    /// How many partners count against the present body, in the present run: near ones, and far ones.
    partners: [usize; 2],
    /// The size of the smallest body of the run, 0 if one of them is fixed. It is found only when a body has too many
    /// partners.
    smallest: Option<f32>,
}

impl Finder<'_> {
    /// Finds the partners of body `i` in a run, from slot `from` on; `run` is the whole band. Returns how many bounds
    /// were tested.
    #[inline(always)]
    fn find<L: Lane>(
        &mut self,
        probe: &Probe<'_, L>,
        i: usize,
        from: usize,
        run: &Range<usize>,
        smallest: &mut Option<f32>,
    ) -> u64 {
        if let Some(tests) = probe.note(from..run.end, self.hits) {
            if self.hits.is_full() {
                self.look_at_hits();
            }
            return tests;
        }
        self.look_at_hits();
        (self.partners, self.smallest) = ([0; 2], *smallest);
        let tests = probe.scan(from..run.end, |j| self.take(i, j, run));
        *smallest = self.smallest;
        tests
    }

    /// Makes pairs of the hits that pass the filters. What the lanes could not tell is tested exactly.
    #[inline(never)]
    fn look_at_hits(&mut self) {
        let Finder { broadphase, bodies, ref mut pairs, ref mut hits, .. } = *self;
        let (boxes, plain) = (broadphase.boxes.turned, bodies.may_all_touch());
        hits.take(|near| {
            if boxes {
                broadphase.pair_boxes(bodies, near, plain, pairs);
            } else if plain {
                broadphase.pair_circles(bodies, near, pairs);
            } else {
                for &mut partner in near.partners {
                    broadphase.accept(bodies, near.slot, partner as usize, |pair| pairs.push(pair));
                }
            }
        });
    }

    /// Takes body `j` of a run as a partner of `i`. Returns false if no later body of the run can be one.
    #[inline(always)]
    fn take(&mut self, i: usize, j: usize, run: &Range<usize>) -> bool {
        if self.partners[0] > MOST_PARTNERS && self.crowd.refuses(self.bodies, i, j) {
            return !self.is_full(i, run);
        }
        let known = self.pairs.len();
        self.broadphase.accept(self.bodies, i, j, |pair| self.pairs.push(pair));
        let separation = self.pairs[known..].iter().map(|pair| pair.separation).reduce(f32::min);
        let reach = &self.broadphase.bounds.growth;
        let admits = |separation| {
            self.crowd.admits(self.bodies, self.first, (i, &mut self.partners), (j, separation), reach)
        };
        if separation.is_none_or(admits) {
            return true;
        }
        self.pairs.truncate(known);
        self.partners[0] <= MOST_PARTNERS || !self.is_full(i, run)
    }

    /// Returns whether each body of the run would count against `i`: none is fixed, and none is less than half as large
    /// as `i`.
    #[cold]
    fn is_full(&mut self, i: usize, run: &Range<usize>) -> bool {
        let bodies = self.bodies;
        let size_of =
            |slot: usize| if bodies.columns.inv_mass[slot] == 0.0 { 0.0 } else { size(bodies, slot) };
        let smallest =
            *self.smallest.get_or_insert_with(|| run.clone().map(size_of).fold(f32::INFINITY, f32::min));
        bodies.columns.inv_mass[i] > 0.0 && 2.0 * smallest >= size(bodies, i)
    }

    fn take_large(&mut self, pair: Pair) {
        let can_move = self.bodies.columns.inv_mass[pair.b as usize] > 0.0;
        let to = if can_move { &mut *self.overflow } else { &mut *self.pairs };
        to.push(pair);
    }
}

/// The order of the pairs of a tile.
fn in_order(pair: &Pair) -> (u32, u32, [u8; 2]) {
    (pair.a, pair.b, pair.parts)
}

/// A tile lists no more pairs with large bodies than so many for each of its bodies, before each keeps the nearest; and its share of as many for each
/// large body as may count against that.
const CANDIDATES: usize = 4 * MOST_PARTNERS;
/// A tile with fewer bodies lists as many as one of so many.
const LEAST_BODIES: usize = 256;

/// Marks the pairs of a body that it does not keep, with an infinite separation: the furthest, if more than [`MOST_PARTNERS`] of the other bodies count
/// against it. What is much smaller does not, as in a crowd of bodies in bands, nor do half-spaces.
///
/// What stands still in no band is of any size. (When all counted, a ball of 3 m that rolled over static boxes of 5 cm, ten rows deep, fell through
/// them. When a body kept any 128, a fast one kept what lay far ahead, and not the floor on which it slid: balls at 300 m/s sank 5 m into a floor of
/// boxes of their own size. The tests `fine_floors_hold_large_bodies` and `floors_hold_fast_bodies` tell.)
#[cold]
fn drop_furthest(
    bodies: &Bodies,
    slot: usize,
    pairs: &mut [Pair],
    separations: &mut Vec<f32>,
    crowd: &mut Crowd,
) {
    let counts = |pair: &Pair| {
        let other = (pair.a + pair.b) as usize - slot;
        bodies.columns.kind[other].shape() != ShapeKind::HalfSpace && !is_much_smaller(bodies, other, slot)
    };
    separations.clear();
    separations.extend(pairs.iter().filter(|pair| counts(pair)).map(|pair| pair.separation));
    if separations.len() <= MOST_PARTNERS {
        return;
    }
    let (nearer, &mut last, _) = separations.select_nth_unstable_by(MOST_PARTNERS - 1, f32::total_cmp);
    // The first ones of those that are as far away as the last one.
    let mut room = MOST_PARTNERS - nearer.iter().filter(|&&separation| separation < last).count();
    for pair in pairs.iter_mut().filter(|pair| pair.separation >= last && counts(pair)) {
        if pair.separation == last && room > 0 {
            room -= 1;
        } else {
            crowd.note(slot, pair.separation);
            pair.separation = f32::INFINITY;
        }
    }
}

/// Removes the pairs from the place `first` on that [`drop_furthest`] marked.
#[cold]
fn remove_dropped(pairs: &mut Vec<Pair>, first: usize) {
    let mut kept = first;
    for place in first..pairs.len() {
        if pairs[place].separation < f32::INFINITY {
            pairs[kept] = pairs[place];
            kept += 1;
        }
    }
    pairs.truncate(kept);
}

lane_entry! {
    /// Finds the pairs of one tile.
    pub(crate) fn sweep[][](broadphase: &Broadphase, bodies: &Bodies, tile: &TileBands, found: &mut Found) = sweep_lanes;
}

#[inline(always)]
fn sweep_lanes<L: Lane>(broadphase: &Broadphase, bodies: &Bodies, tile: &TileBands, found: &mut Found) {
    broadphase.sweep::<L>(bodies, tile, found);
}

impl Broadphase {
    #[inline(always)]
    fn sweep<L: Lane>(&self, bodies: &Bodies, tile: &TileBands, found: &mut Found) {
        found.clear();
        self.sweep_large::<L>(bodies, tile, found);
        let Found { pairs, overflow, large, crowd, hits, tests, .. } = found;
        hits.prepare(bodies.len);
        let first = tile.slots.start;
        let columns = &ProbeColumns::of(self);
        let mut finder = Finder {
            broadphase: self,
            bodies,
            first,
            pairs,
            overflow,
            crowd,
            hits,
            partners: [0; 2],
            smallest: None,
        };
        let mut smallest = [None; 2];
        let mut next_large = large.iter().peekable();
        for k in tile.bands.clone() {
            let band = &self.bands.list[k];
            let next = self.bands.list.get(k + 1).filter(|next| next.id == band.id + 1);
            let mut reaching = next.map_or(0, |next| next.slots.start);
            smallest = [smallest[1], None];
            for i in band.slots.clone() {
                let probe = Probe::<L>::new(columns, i);
                // A body that touches nothing needs no search. (`peers --scenes joint-grid`, 10,000 particles in a
                // heap, 2 threads: the p95 of a step went from 7 to 2 ms.)
                let touches = !self.present.avoids(bodies, i);
                if touches {
                    *tests += finder.find(&probe, i, i + 1, &band.slots, &mut smallest[0]);
                }
                if let Some(next) = next.filter(|_| touches) {
                    let min_s = self.bounds.min_s[i];
                    while reaching < next.slots.end && self.bounds.front[reaching] < min_s {
                        reaching += 1;
                    }
                    *tests += finder.find(&probe, i, reaching, &next.slots, &mut smallest[1]);
                }
                while let Some(&pair) = next_large.next_if(|pair| pair.a as usize == i) {
                    // Pairs are in order: large bodies come after all others.
                    finder.look_at_hits();
                    finder.take_large(pair);
                }
            }
        }
        finder.look_at_hits();
        finder.crowd.tidy();
    }

    /// Finds the pairs of each body of the tile with large bodies.
    #[inline(always)]
    fn sweep_large<L: Lane>(&self, bodies: &Bodies, tile: &TileBands, found: &mut Found) {
        let Found { large, separations, crowd, tests, .. } = found;
        for &plane in self.planes() {
            *tests += tile.slots.len() as u64;
            self.near_plane::<L>(bodies, plane as usize, tile.slots.clone(), |a| {
                self.accept(bodies, a, plane as usize, |pair| large.push(pair));
            });
        }
        let large_count: usize = self.levels.iter().map(Levels::len).sum();
        let room =
            CANDIDATES * tile.slots.len().max(LEAST_BODIES) + MOST_PARTNERS * large_count / self.tiles.len();
        let mut take = |a: usize, b: usize| {
            let known = large.len();
            self.accept(bodies, a, b, |pair| large.push(pair));
            if large.len() > room {
                large[known..].iter().for_each(|pair| crowd.note(a, pair.separation));
                large.truncate(known);
            }
        };
        if large_count > 0 {
            for band in &self.bands.list[tile.bands.clone()] {
                *tests += self.near_band::<L>(band, &mut take);
            }
        }
        if !large.is_sorted_by_key(in_order) {
            large.sort_unstable_by_key(in_order);
        }
        if large_count > MOST_PARTNERS {
            let mut complete = true;
            for pairs in large.chunk_by_mut(|one, next| one.a == next.a) {
                if pairs.len() > MOST_PARTNERS {
                    drop_furthest(bodies, pairs[0].a as usize, pairs, separations, crowd);
                    complete = false;
                }
            }
            if !complete {
                remove_dropped(large, 0);
            }
        }
    }

    /// Calls `hit` with each body of a band and each large body whose bounds overlap. Returns how many bounds were
    /// tested.
    #[inline(always)]
    fn near_band<L: Lane>(&self, band: &Band, hit: &mut impl FnMut(usize, usize)) -> u64 {
        let (bounds, slots) = (&self.bounds, &band.slots);
        let columns = &ProbeColumns::of(self);
        let least = |least: f32, &value: &f32| if value < least { value } else { least };
        let most = |most: f32, &value: &f32| if value > most { value } else { most };
        let range_s = [bounds.min_s[slots.start], bounds.front[slots.end - 1]];
        let range_b = [
            bounds.min_b[slots.clone()].iter().fold(f32::INFINITY, least),
            bounds.max_b[slots.clone()].iter().fold(f32::NEG_INFINITY, most),
        ];
        let mut tests = 1;
        for levels in &self.levels {
            levels.visit_runs(range_s, range_b, |run| {
                if run.len() > slots.len() {
                    let mut reaching = run.start;
                    for i in slots.clone() {
                        let [own_s, own_b] = self.ranges(i);
                        let near = levels.cut_next(reaching..run.end, own_s);
                        reaching = near.start;
                        tests += 1 + near.len() as u64;
                        levels.scan(near, own_s, own_b, |large| {
                            hit(i, large);
                            true
                        });
                    }
                    return true;
                }
                for &large in &levels.slot[run] {
                    let large = large as usize;
                    tests += 1;
                    if bounds.min_b[large] <= range_b[1] && bounds.max_b[large] >= range_b[0] {
                        let front = &bounds.front[slots.clone()];
                        let first = front.partition_point(|&front| front < bounds.min_s[large]);
                        let probe = Probe::<L>::new(columns, large);
                        tests += probe.scan(slots.start + first..slots.end, |i| {
                            hit(i, large);
                            true
                        });
                    }
                }
                true
            });
        }
        tests
    }

    /// Returns a slot's bounds along both axes, the sorted axis first.
    fn ranges(&self, slot: usize) -> [[f32; 2]; 2] {
        let bounds = &self.bounds;
        [[bounds.min_s[slot], bounds.max_s[slot]], [bounds.min_b[slot], bounds.max_b[slot]]]
    }

    /// Visits the slots whose bounds come near the half-space in slot `plane`.
    #[inline(always)]
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
            // The columns' padding of one widest lane may be too short for the last load, which can start at any slot.
            // Then all slots left count as near.
            if j + L::WIDTH > c.pos_x.len() {
                (j..slots.end).for_each(&mut hit);
                return;
            }
            let height = L::load(&c.pos_x[j..]) * normal_x + L::load(&c.pos_y[j..]) * normal_y - offset;
            // The support of the box around the shape: never less than the shape's own.
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

    /// Finds the pairs among the large bodies and appends them to `found`, sorted. Each body that can be moved looks up
    /// the others.
    pub(crate) fn sweep_among_large(&self, bodies: &Bodies, found: &mut Found) {
        let Found { pairs, large, separations, crowd, tests, .. } = found;
        let inv_mass = &bodies.columns.inv_mass;
        let slots = without(self.bands.banded..self.bands.large_end, &bodies.still());
        for a in slots.into_iter().flatten().filter(|&slot| inv_mass[slot] > 0.0) {
            let [range_s, range_b] = self.ranges(a);
            let first = large.len();
            for &plane in self.planes() {
                let plane = plane as usize;
                self.accept(bodies, a.min(plane), a.max(plane), |pair| large.push(pair));
            }
            *tests += 1 + self.planes().len() as u64;
            let mut partners = [0; 2];
            let mut meet = |b: usize| {
                *tests += 1;
                // Two bodies that can be moved find each other: one of the two finds is enough.
                if b == a || (inv_mass[b] > 0.0 && b < a) {
                    return true;
                }
                let known = large.len();
                self.accept(bodies, a.min(b), a.max(b), |pair| large.push(pair));
                if inv_mass[b] == 0.0 && !is_much_smaller(bodies, b, a) {
                    return true;
                }
                let separation = large[known..].last().map(|pair| pair.separation);
                let reach = &self.bounds.growth;
                let mut admits = |separation| {
                    crowd.admits(bodies, self.bands.banded, (a, &mut partners), (b, separation), reach)
                };
                if separation.is_some_and(|separation| !admits(separation)) {
                    large.truncate(known);
                }
                true
            };
            let _ = self.levels.iter().all(|levels| levels.visit(range_s, range_b, &mut meet));
            if large.len() - first > MOST_PARTNERS {
                drop_furthest(bodies, a, &mut large[first..], separations, crowd);
                remove_dropped(large, first);
            }
        }
        large.sort_unstable_by_key(in_order);
        pairs.extend_from_slice(large);
        crowd.tidy();
    }

    /// Returns how far apart the shapes of a pair may be; `fixed` is true if contacts can move just one of the bodies. In a list of one step, two bodies that move may be no further
    /// apart than the speculative distance, as more does not count in this step.
    #[inline(always)]
    pub(super) fn largest_gap(&self, a: usize, b: usize, fixed: bool) -> f32 {
        let growth = self.bounds.growth[a] + self.bounds.growth[b];
        if self.fleeting && !fixed { growth.min(self.margins.speculative) } else { growth }
    }

    /// Adds the pairs of a body and its partners, which are near as circles, if these are circles.
    #[inline(always)]
    fn pair_circles(&self, bodies: &Bodies, near: NearOne<'_>, pairs: &mut Vec<Pair>) {
        let NearOne { slot, partners, separations } = near;
        let kinds = &bodies.columns.kind;
        let own = kinds[slot];
        let is_circle = own.shape() == ShapeKind::Circle;
        let kind = if is_circle { PairKind::CircleCircle } else { PairKind::ParticleParticle };
        // The separation is not finite where one body is not round, or does not move.
        let is_like_own =
            |(&partner, &separation): (&u32, &f32)| kinds[partner as usize] == own && separation > f32::MIN;
        let near = partners.iter().zip(&*separations);
        // The most frequent case: moving bodies of one round kind.
        if own.is_round() && near.clone().all(is_like_own) {
            let pair = |(&b, &separation): (&u32, &f32)| Pair {
                a: slot as u32,
                b,
                separation,
                kind,
                swap: false,
                parts: [NO_PART; 2],
            };
            pairs.extend(near.map(pair));
            return;
        }
        for &mut partner in partners {
            self.accept(bodies, slot, partner as usize, |pair| pairs.push(pair));
        }
    }

    /// Emits the pair of two bodies if they may touch each other before the list is stale; for compounds, the pairs of
    /// their parts.
    #[inline(always)]
    pub(super) fn accept(&self, bodies: &Bodies, a: usize, b: usize, mut emit: impl FnMut(Pair)) {
        let c = &bodies.columns;
        let (a_fixed, b_fixed) = (c.inv_mass[a] == 0.0, c.inv_mass[b] == 0.0);
        if a_fixed && b_fixed {
            return;
        }
        // Corners of a hull touch as part of the hull only: see `solver/hulls.rs`.
        if bodies.is_corner(a) || bodies.is_corner(b) || bodies.are_apart(a, b) {
            return;
        }
        if bodies.any_manifold && (c.kind[a].needs_manifold() || c.kind[b].needs_manifold()) {
            self.accept_shapes(bodies, a, b, &mut emit);
            return;
        }
        if !bodies.filters_meet(a, b) {
            return;
        }
        let (kind, swap) = PairKind::of(c.kind[a], a_fixed, c.kind[b], b_fixed);
        let (first, second) = if swap { (b, a) } else { (a, b) };
        let (row_a, row_b) = (self.shape[first].0, self.shape[second].0);
        let separation =
            if matches!(kind, PairKind::CircleCircle | PairKind::ParticleParticle | PairKind::CircleParticle)
            {
                // A direct call instead of the jump table, for the most frequent kinds: two round shapes.
                touch_one(PairKind::CircleCircle, row_a, row_b).separation
            } else {
                touch_any(kind, row_a, row_b).separation
            };
        if separation <= self.largest_gap(a, b, a_fixed || b_fixed) {
            emit(Pair { a: a as u32, b: b as u32, separation, kind, swap, parts: [NO_PART; 2] });
        }
    }
}

#[inline(never)]
fn touch_any(kind: PairKind, a: [f32; 4], b: [f32; 4]) -> Touch<f32> {
    touch_one(kind, a, b)
}
