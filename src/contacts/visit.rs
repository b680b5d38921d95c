//! Visits contacts one by one: who touches whom, how they meet, and what sleeps near them.

use super::{BlockInfo, Contacts, Tile, set_bits};
use crate::lane::Row;
use crate::narrowphase::PairKind;

/// A body that is awake, and one that sleeps near it. They do not touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub awake: u32,
    pub asleep: u32,
    /// m
    pub gap: f32,
    /// From the body that is awake to the other.
    pub normal: [f32; 2],
}

/// How two bodies touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blow {
    /// The speed at which their centres approach along the normal, m/s.
    pub speed: f32,
    /// m
    pub overlap: f32,
    /// They meet elsewhere than on the line of their centres, so that spin counts.
    pub has_arms: bool,
}

impl Contacts {
    /// Visits the slots of each two bodies that touch, in a fixed order.
    pub(crate) fn visit_touching(&self, mut visit: impl FnMut(usize, usize)) {
        self.visit_lanes(
            |_, info| info.touching,
            |tile, block, lane| {
                let [a, b] = tile.slots(block, lane);
                visit(a, b);
            },
        );
    }

    /// Visits the slots of each two bodies that press each other, in a fixed order.
    pub(crate) fn visit_pressed(&self, mut visit: impl FnMut(usize, usize)) {
        self.visit_lanes(
            |_, info| info.touching,
            |tile, block, lane| {
                if (0..2).any(|point| tile.point_impulse(block, lane, point) > 0.0) {
                    let [a, b] = tile.slots(block, lane);
                    visit(a, b);
                }
            },
        );
    }

    /// Visits the slots of each two bodies that touch by a surface that moves on its own.
    pub(crate) fn visit_belts(&self, mut visit: impl FnMut(usize, usize)) {
        self.visit_lanes(
            |_, info| info.touching,
            |tile, block, lane| {
                let rough = tile.rough.get(tile.info[block].manifold as usize);
                if rough.is_some_and(|rough| rough.tangent_speed[lane] != 0.0) {
                    let [a, b] = tile.slots(block, lane);
                    visit(a, b);
                }
            },
        );
    }

    /// Visits the slots of each two bodies that are near, and their gap in metres; negative when overlapping.
    pub(crate) fn visit_near(&self, mut visit: impl FnMut([usize; 2], f32)) {
        self.visit_lanes(
            |_, info| info.active,
            |tile, block, lane| visit(tile.slots(block, lane), tile.least_separation(block, lane)),
        );
    }

    /// Calls `visit` with each two bodies that are near and do not touch, one of them awake and one asleep.
    pub(crate) fn visit_near_sleepers(&self, is_asleep: impl Fn(usize) -> bool, mut visit: impl FnMut(Near)) {
        self.visit_lanes(
            |kind, info| if kind.is_fixed() { info.active & !info.touching } else { 0 },
            |tile, block, lane| {
                let [a, b] = tile.slots(block, lane);
                let (awake, asleep, sign) = match [is_asleep(a), is_asleep(b)] {
                    [false, true] => (a, b, 1.0),
                    [true, false] => (b, a, -1.0),
                    _ => return,
                };
                let block_normal = &tile.normal[block];
                let normal = [block_normal.normal_x[lane], block_normal.normal_y[lane]].map(|n| sign * n);
                let gap = tile.least_separation(block, lane);
                visit(Near { awake: awake as u32, asleep: asleep as u32, gap, normal });
            },
        );
    }

    /// Calls `visit` with the slots of each two bodies that touch and that are `wanted`, and with how they meet. `vel` has the bodies' rows. With
    /// `only_fixed`, looks only at pairs of which nothing moves one.
    pub(crate) fn visit_blows(
        &self,
        vel: &[Row],
        only_fixed: bool,
        wanted: impl Fn([usize; 2]) -> bool,
        mut visit: impl FnMut([usize; 2], Blow),
    ) {
        self.visit_lanes(
            |kind, info| if !only_fixed || kind.is_fixed() { info.touching } else { 0 },
            |tile, block, lane| {
                let [a, b] = tile.slots(block, lane);
                if !wanted([a, b]) {
                    return;
                }
                let normal = &tile.normal[block];
                let (Row([ax, ay, ..]), Row([bx, by, ..])) = (vel[a], vel[b]);
                let speed = normal.normal_x[lane] * (ax - bx) + normal.normal_y[lane] * (ay - by);
                let overlap = (-tile.least_separation(block, lane)).max(0.0);
                let has_arms = tile.manifold_of(block).is_some();
                visit([a, b], Blow { speed: speed.max(0.0), overlap, has_arms });
            },
        );
    }

    /// Calls `visit` with tile, block and lane of these lanes, in a fixed order.
    fn visit_lanes(
        &self,
        lanes: impl Fn(PairKind, &BlockInfo) -> u16,
        mut visit: impl FnMut(&Tile, usize, usize),
    ) {
        for tile in self.all() {
            for (kind, run) in tile.kinds() {
                for block in run.start as usize..run.end as usize {
                    let lanes = set_bits(lanes(kind, &tile.info[block]).into());
                    lanes.for_each(|lane| visit(tile, block, lane));
                }
            }
        }
    }
}

impl Tile {
    fn slots(&self, block: usize, lane: usize) -> [usize; 2] {
        let normal = &self.normal[block];
        [normal.a[lane].row(), normal.b[lane].row()]
    }

    /// m
    fn least_separation(&self, block: usize, lane: usize) -> f32 {
        self.point_separation(block, lane, 0).min(self.point_separation(block, lane, 1))
    }
}
