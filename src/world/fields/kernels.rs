//! Fields in lanes: which bodies are in a region, and what pushes them.

use super::Region;
use crate::body::ColumnSet;
use crate::lane::{Lane, MAX_WIDTH, Mask, lane_entry};
use glam::Vec2;

/// Bodies of a batch, at every level.
pub(super) const LANES: usize = MAX_WIDTH;

/// A region as two tests that hold for every body outside of none: a box, and a circle.
pub(super) struct RegionTests {
    lower: Vec2,
    upper: Vec2,
    centre: Vec2,
    radius_squared: f32,
}

impl RegionTests {
    pub(super) fn of(region: &Region) -> RegionTests {
        let everywhere = RegionTests {
            lower: Vec2::NEG_INFINITY,
            upper: Vec2::INFINITY,
            centre: Vec2::ZERO,
            radius_squared: f32::INFINITY,
        };
        match *region {
            Region::Everywhere => everywhere,
            Region::Circle { centre, radius } => {
                RegionTests { centre, radius_squared: radius * radius, ..everywhere }
            }
            Region::Aabb { lower, upper } => RegionTests { lower, upper, ..everywhere },
        }
    }
}

lane_entry! {
    /// Appends the slots, below `len`, of the bodies whose centres are in a region.
    pub(super) fn find[][](columns: &ColumnSet, len: usize, region: &RegionTests, slots: &mut Vec<u32>) = find_all;
}

#[inline(always)]
fn find_all<L: Lane>(columns: &ColumnSet, len: usize, region: &RegionTests, slots: &mut Vec<u32>) {
    for first in (0..len).step_by(L::WIDTH) {
        let (x, y) = (L::load(&columns.pos_x[first..]), L::load(&columns.pos_y[first..]));
        let (dx, dy) = (x - L::splat(region.centre.x), y - L::splat(region.centre.y));
        let inside = (dx * dx + dy * dy)
            .le(L::splat(region.radius_squared))
            .and(x.ge(L::splat(region.lower.x)))
            .and(y.ge(L::splat(region.lower.y)))
            .and(x.le(L::splat(region.upper.x)))
            .and(y.le(L::splat(region.upper.y)));
        let mut bits = inside.bits();
        while bits != 0 {
            let slot = first + bits.trailing_zeros() as usize;
            if slot < len {
                slots.push(slot as u32);
            }
            bits &= bits - 1;
        }
    }
}

/// What pushes bodies.
pub(super) enum Push {
    Acceleration(Vec2),
    Wind {
        velocity: Vec2,
        linear: f32,
        quadratic: f32,
        inv_step: f32,
    },
    /// `softening` is squared.
    Attractor {
        centre: Vec2,
        strength: f32,
        softening: f32,
    },
    /// Its result are impulses.
    Explosion {
        centre: Vec2,
        inv_radius: f32,
        impulse: f32,
    },
}

impl Push {
    pub(super) fn reads_breadth(&self) -> bool {
        matches!(self, Push::Wind { .. } | Push::Explosion { .. })
    }
}

/// Sixteen bodies: x, y, velocity along x and y, mass, breadth; and the forces on them.
#[derive(Default)]
pub(super) struct Batch {
    of: [[f32; LANES]; 6],
    force: [[f32; LANES]; 2],
}

impl Batch {
    pub(super) fn set(&mut self, lane: usize, values: [f32; 6]) {
        self.of.iter_mut().zip(values).for_each(|(column, value)| column[lane] = value);
    }

    pub(super) fn force(&self, lane: usize) -> [f32; 3] {
        [self.force[0][lane], self.force[1][lane], 0.0]
    }
}

lane_entry! {
    /// Computes the forces of a batch.
    pub(super) fn push[][](batch: &mut Batch, push: &Push) = push_batch;
}

#[inline(always)]
fn push_batch<L: Lane>(batch: &mut Batch, push: &Push) {
    for i in (0..LANES).step_by(L::WIDTH) {
        let [x, y] = push_lanes::<L>(batch, push, i);
        x.store(&mut batch.force[0][i..]);
        y.store(&mut batch.force[1][i..]);
    }
}

#[inline(always)]
fn push_lanes<L: Lane>(batch: &Batch, push: &Push, i: usize) -> [L; 2] {
    let (x, y) = (L::load(&batch.of[0][i..]), L::load(&batch.of[1][i..]));
    let (vel_x, vel_y) = (L::load(&batch.of[2][i..]), L::load(&batch.of[3][i..]));
    let (mass, breadth) = (L::load(&batch.of[4][i..]), L::load(&batch.of[5][i..]));
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    match push {
        Push::Acceleration(acceleration) => {
            [mass * L::splat(acceleration.x), mass * L::splat(acceleration.y)]
        }
        Push::Wind { velocity, linear, quadratic, inv_step } => {
            let (u_x, u_y) = (L::splat(velocity.x) - vel_x, L::splat(velocity.y) - vel_y);
            let speed = (u_x * u_x + u_y * u_y).sqrt();
            let rate = (L::splat(*linear) + L::splat(*quadratic) * speed) * breadth;
            let rate = rate.min(mass * L::splat(*inv_step));
            [rate * u_x, rate * u_y]
        }
        Push::Attractor { centre, strength, softening } => {
            let (r_x, r_y) = (L::splat(centre.x) - x, L::splat(centre.y) - y);
            let square = r_x * r_x + r_y * r_y + L::splat(*softening);
            let pull = mass * (L::splat(*strength) / (square * square.sqrt()));
            [pull * r_x, pull * r_y]
        }
        Push::Explosion { centre, inv_radius, impulse } => {
            let (r_x, r_y) = (x - L::splat(centre.x), y - L::splat(centre.y));
            let distance = (r_x * r_x + r_y * r_y).sqrt();
            let part = (one - distance * L::splat(*inv_radius)).max(zero);
            let away = L::select(distance.gt(zero), distance, one);
            let size = L::splat(*impulse) * breadth * part / away;
            [size * r_x, size * r_y]
        }
    }
}
