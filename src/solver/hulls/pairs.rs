//! Finds which hulls may touch each other, and which other bodies they may touch.

use super::sides::Surface;
use super::{Hull, HullPair, HullSolver, OTHERS, OtherPair};
use crate::body::Bodies;
use crate::geometry::outline::OUTLINE_ROWS;
use crate::geometry::shape::ShapeKind;
use crate::lane::RowOffset;
use crate::narrowphase::hulls::LoopPair;
use crate::settings::Settings;
use glam::Vec2;

impl HullSolver {
    pub(super) fn pair_hulls(&mut self, bodies: &Bodies, settings: &Settings) {
        let HullSolver { hulls, levels, moving, still, pairs, beside, .. } = self;
        pairs.clear();
        beside.clear();
        let pair = |first: usize, second: usize| {
            let (a, b) = (&hulls[first], &hulls[second]);
            let filtered = !a.filter.touches(&b.filter);
            let joined = || a.slots().iter().any(|slot| b.slots().contains(slot));
            let meet = !(filtered || (a.fixed && b.fixed) || joined());
            meet.then(|| {
                let surface = Surface::of(bodies, settings, a.material, b.material);
                HullPair { hulls: [first as u32, second as u32], surface }
            })
        };
        for (number, &first) in moving.iter().enumerate() {
            let (start, first) = (pairs.len(), first as usize);
            let Hull { lower, upper, .. } = hulls[first];
            let (x, y) = ([lower.x, upper.x], [lower.y, upper.y]);
            levels.visit(x, y, |other| {
                // Each of the two hulls finds the other one; the pair is kept once.
                if other > number {
                    pairs.extend(pair(first, moving[other] as usize));
                }
                true
            });
            keep_nearest(pairs, start, hulls);
            // Pairs are found in the order of space, which changes from step to step. They are sorted by hulls, whose
            // order is the same in every step.
            pairs[start..].sort_unstable_by_key(|pair| pair.hulls);
            still.visit(x, y, |other| beside.extend(pair(first.min(other), first.max(other))));
        }
        if !beside.is_empty() {
            beside.append(pairs);
            beside.sort_unstable_by_key(|pair| pair.hulls);
            for group in beside.chunk_by(|a, b| a.hulls[0] == b.hulls[0]) {
                let start = pairs.len();
                pairs.extend_from_slice(group);
                keep_nearest(pairs, start, hulls);
                pairs[start..].sort_unstable_by_key(|pair| pair.hulls);
            }
        }
        self.make_loops();
    }

    pub(super) fn make_loops(&mut self) {
        let HullSolver { hulls, pairs, loops, .. } = self;
        loops.clear();
        loops.extend(pairs.iter().map(|pair| {
            let [a, b] = pair.hulls;
            LoopPair {
                rows: pair.hulls.map(|hull| RowOffset::of(hull * OUTLINE_ROWS as u32)),
                way: hulls[b as usize].origin - hulls[a as usize].origin,
            }
        }));
    }

    /// Pairs the hulls with other bodies. For large bodies, and if the bodies outnumber the hulls, the hulls look up
    /// the bodies. Otherwise the bodies look up the hulls.
    pub(super) fn pair_others(
        &mut self,
        bodies: &Bodies,
        settings: &Settings,
        near: impl Fn(Vec2, Vec2, &mut dyn FnMut(usize)),
    ) {
        let mut others = std::mem::take(&mut self.others);
        others.clear();
        others.reserve(OTHERS * self.moving.len());
        let HullSolver { hulls, levels, moving, still, elsewhere, .. } = &*self;
        let meet = |place: usize, slot: usize, others: &mut Vec<OtherPair>| {
            hulls[place].meet(place as u32, slot, bodies, settings, others);
        };
        let look = |place: u32, others: &mut Vec<OtherPair>| {
            let place = place as usize;
            near(hulls[place].lower, hulls[place].upper, &mut |slot| meet(place, slot, others));
        };
        moving.iter().for_each(|&place| look(place, &mut others));
        let by_bodies = self.visit_movers(bodies, |slot| {
            self.visit_still_near(slot, bodies, settings, |place| meet(place, slot, &mut others));
        });
        if !by_bodies {
            still.places.iter().for_each(|&place| look(place, &mut others));
        }
        for slot in elsewhere.iter().map(|&slot| slot as usize) {
            if bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
                moving.iter().for_each(|&place| meet(place as usize, slot, &mut others));
                continue;
            }
            let [lower, upper] = box_of(slot, bodies, settings);
            levels.visit([lower.x, upper.x], [lower.y, upper.y], |number| {
                meet(moving[number] as usize, slot, &mut others);
                true
            });
            if !by_bodies {
                self.visit_still_near(slot, bodies, settings, |place| meet(place, slot, &mut others));
            }
        }
        self.others = others;
        let others = &mut self.others;
        if self.clusters.any_attached() {
            let (clusters, indices) = (&self.clusters, &self.indices);
            others.retain(|pair| !clusters.is_attached(indices[pair.hull as usize], pair.body));
        }
        others.sort_unstable_by_key(|pair| (pair.hull, pair.body, pair.part));
    }

    pub(super) fn list_paired(&mut self) {
        let HullSolver { hulls, pairs, others, paired, .. } = self;
        paired.clear();
        let of_pairs = pairs.iter().flat_map(|pair| pair.hulls);
        let of_others = others.iter().map(|pair| pair.hull);
        paired.extend(
            of_pairs
                .chain(of_others)
                .filter(|&hull| !std::mem::replace(&mut hulls[hull as usize].paired, true)),
        );
    }
}

/// The most hulls of its own size that a hull meets, among those that come after it.
const MOST_PARTNERS: usize = 32;

/// Drops the furthest of one hull's pairs, those from `start` on, if there are more than [`MOST_PARTNERS`]. Hulls less than half as large
/// do not count, as for bodies (`broadphase/crowd.rs`): a boulder may lie on any number of pebbles. Without a limit, 1,000 soft boxes in one
/// place took 2.2 GB and a second a step.
fn keep_nearest(pairs: &mut Vec<HullPair>, start: usize, hulls: &[Hull]) {
    if pairs.len() - start <= MOST_PARTNERS {
        return;
    }
    let size = |hull: &Hull| (hull.upper - hull.lower).max_element();
    let distance = |pair: &HullPair| {
        let [a, b] = pair.hulls.map(|hull| &hulls[hull as usize]);
        let way = (b.lower + b.upper) - (a.lower + a.upper);
        if 2.0 * size(b) < size(a) { -1.0 } else { way.length_squared() }
    };
    let found = &mut pairs[start..];
    found.sort_unstable_by(|p, q| distance(p).total_cmp(&distance(q)).then(p.hulls.cmp(&q.hulls)));
    let small = found.partition_point(|pair| distance(pair) < 0.0);
    pairs.truncate(pairs.len().min(start + small + MOST_PARTNERS));
}

/// Returns a box that encloses a body's shapes until the end of the step.
pub(super) fn box_of(slot: usize, bodies: &Bodies, settings: &Settings) -> [Vec2; 2] {
    let c = &bodies.columns;
    let reach = if c.kind[slot].shape().turns() {
        Vec2::splat(c.furthest[slot])
    } else {
        Vec2::new(c.ext_x[slot], c.ext_y[slot])
    };
    let reach = reach + (settings.time_step * bodies.velocity(slot)).abs();
    let position = bodies.position(slot);
    [position - reach, position + reach]
}
