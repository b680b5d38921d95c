//! Finds which hulls may touch each other, and which other bodies they may touch.

use super::sides::Surface;
use super::{Hull, HullPair, HullSolver, OTHERS};
use crate::body::Bodies;
use crate::geometry::outline::OUTLINE_ROWS;
use crate::geometry::shape::ShapeKind;
use crate::lane::RowOffset;
use crate::narrowphase::hulls::LoopPair;
use crate::settings::Settings;
use glam::Vec2;

impl HullSolver {
    pub(super) fn pair_hulls(&mut self, bodies: &Bodies, settings: &Settings) {
        self.place_hulls();
        let HullSolver { hulls, levels, pairs, .. } = self;
        pairs.clear();
        for (a, first) in hulls.iter().zip(0u32..) {
            let start = pairs.len();
            levels.visit([a.lower.x, a.upper.x], [a.lower.y, a.upper.y], |second| {
                // Each of the two hulls finds the other one; the pair is kept once.
                if second <= first as usize {
                    return true;
                }
                let b = &hulls[second];
                let filtered = !a.filter.touches(&b.filter);
                let joined = || a.slots().iter().any(|slot| b.slots().contains(slot));
                if !(filtered || (a.fixed && b.fixed) || joined()) {
                    let surface = Surface::of(bodies, settings, a.material, b.material);
                    pairs.push(HullPair { hulls: [first, second as u32], surface });
                }
                true
            });
            keep_nearest(pairs, start, hulls);
            // Pairs are found in the order of space, which changes from step to step. They are sorted by hulls, whose
            // order is the same in every step.
            pairs[start..].sort_unstable_by_key(|pair| pair.hulls);
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

    /// Sorts the boxes of the hulls by space, so that near hulls are found quickly.
    pub(super) fn place_hulls(&mut self) {
        let HullSolver { hulls, boxes, levels, .. } = self;
        for (axis, column) in boxes.iter_mut().enumerate() {
            column.clear();
            column.extend(
                hulls.iter().map(|hull| if axis % 2 == 0 { hull.lower } else { hull.upper }[axis / 2]),
            );
        }
        let size: f32 = hulls.iter().map(|hull| (hull.upper - hull.lower).max_element()).sum();
        let [min_x, max_x, min_y, max_y] = boxes;
        levels.build_boxes([min_x, max_x, min_y, max_y], 2.0 * size / hulls.len() as f32);
    }

    /// Pairs the hulls with other bodies. For large bodies, and if the bodies outnumber the hulls, the hulls look up
    /// the bodies. Otherwise the bodies look up the hulls.
    pub(super) fn pair_others(
        &mut self,
        bodies: &Bodies,
        settings: &Settings,
        near: impl Fn(Vec2, Vec2, &mut dyn FnMut(usize)),
    ) {
        let HullSolver { hulls, levels, others, elsewhere, .. } = self;
        others.clear();
        others.reserve(OTHERS * hulls.len());
        for (hull, number) in hulls.iter().zip(0..) {
            near(hull.lower, hull.upper, &mut |slot| hull.meet(number, slot, bodies, settings, others));
        }
        for &slot in &*elsewhere {
            let slot = slot as usize;
            if bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
                let all = hulls.iter().zip(0..);
                all.for_each(|(hull, number)| hull.meet(number, slot, bodies, settings, others));
                continue;
            }
            let [lower, upper] = box_of(slot, bodies, settings);
            levels.visit([lower.x, upper.x], [lower.y, upper.y], |hull| {
                hulls[hull].meet(hull as u32, slot, bodies, settings, others);
                true
            });
        }
        if self.clusters.any_attached() {
            let (clusters, indices) = (&self.clusters, &self.indices);
            others.retain(|pair| !clusters.is_attached(indices[pair.hull as usize], pair.body));
        }
        others.sort_unstable_by_key(|pair| (pair.hull, pair.body, pair.part));
    }

    pub(super) fn list_paired(&mut self) {
        let HullSolver { hulls, pairs, others, paired, .. } = self;
        let of_pairs = pairs.iter().flat_map(|pair| pair.hulls);
        let of_others = others.iter().map(|pair| pair.hull);
        of_pairs.chain(of_others).for_each(|hull| hulls[hull as usize].paired = true);
        paired.clear();
        paired.extend((0..hulls.len() as u32).filter(|&hull| hulls[hull as usize].paired));
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
