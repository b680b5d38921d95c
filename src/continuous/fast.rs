//! The search for fast bodies: those that move so far in a step that they could pass through a thin wall.

use super::shape::{Sweep, TurnedBox};
use super::walls::{PlaneAt, WallIndex, Walls};
use crate::body::{Bodies, FAST};
use crate::lane::{Lane, MAX_WIDTH, Mask, Row, lane_entry, load_rows, values};
use crate::narrowphase::manifold::V;
use glam::Vec2;
use std::ops::Range;
use std::sync::Mutex;

/// What the search reads, and where it notes what it finds.
pub(super) struct FastSearch<'a> {
    pub bodies: &'a Bodies,
    pub walls: &'a Walls,
    pub found: &'a Mutex<FastBodies>,
    /// The rows of the last vector of the widest lanes: columns are padded, and rows are not.
    pub last: [Row; MAX_WIDTH],
    /// There are bullets, so every fast body is noted, near a wall or not.
    pub all: bool,
}

/// The fast bodies of a step, by slot, in order.
#[derive(Default)]
pub(super) struct FastBodies {
    /// The bodies that may pass through a wall.
    pub near: Vec<u32>,
    /// All fast bodies, if there are bullets.
    pub fast: Vec<u32>,
}

lane_entry! {
    /// Appends the slots in a range of those bodies that move fast, given the rows of all movements. Bodies without inverse mass are
    /// left out.
    pub(super) fn find_fast[][](search: &FastSearch<'_>, moved: &[Row], range: Range<usize>) = find_in_range;
}

#[inline(always)]
fn find_in_range<L: Lane>(search: &FastSearch<'_>, moved: &[Row], range: Range<usize>) {
    for slot in range.clone().step_by(L::WIDTH) {
        let lanes = (range.end - slot).min(L::WIDTH);
        let rows =
            if slot + L::WIDTH <= moved.len() { &moved[slot..] } else { &search.last[slot % MAX_WIDTH..] };
        let [near, fast] = find_lanes::<L>(search, rows, slot, ((1u64 << lanes) - 1) as u32);
        if near != 0 || search.all && fast != 0 {
            note(search, slot, near, fast);
        }
    }
}

/// How `WIDTH` bodies move, and how large they are.
struct Bodily<L: Lane> {
    from: V<L>,
    moved: V<L>,
    turned: L,
    /// Distance from the centre to the furthest point of a shape that turns, 0 for others.
    arm: L,
    /// Distance from the centre to the furthest point.
    reach: L,
    thickness: L,
}

impl<L: Lane> Bodily<L> {
    #[inline(always)]
    fn load(bodies: &Bodies, rows: &[Row], slot: usize) -> Self {
        let c = &bodies.columns;
        macro_rules! load {
            ($column:ident) => {
                L::load(&c.$column[slot..])
            };
        }
        let zero = L::splat(0.0);
        let [x, y, turned, _] = load_rows::<L>(rows);
        let (ext_x, ext_y) = (load!(ext_x), load!(ext_y));
        let mut thickness = ext_x.min(ext_y);
        let mut reach = (ext_x * ext_x + ext_y * ext_y).sqrt();
        let (mut arm, mut angle) = (zero, zero);
        if bodies.any_manifold {
            arm = load!(furthest);
            let turns = arm.gt(zero);
            thickness = L::select(turns, load!(thickness), thickness);
            reach = L::select(turns, arm, reach);
            let radius = load!(radius);
            angle = turned / L::select(radius.gt(zero), radius, L::splat(1.0));
        }
        let from = V::new(load!(pos_x), load!(pos_y));
        Bodily { from, moved: V::new(x, y), turned: angle, arm, reach, thickness }
    }

    /// The lanes that do not move so far that they could pass through something that stands still.
    #[inline(always)]
    fn slow(&self) -> L::Mask {
        // A body is slow for sure if √(x² + y²) + arm·|turned| is below the limit.
        let limit = L::splat(FAST) * self.thickness - self.arm * self.turned.abs();
        limit.gt(L::splat(0.0)).and(self.moved.dot(self.moved).le(limit * limit))
    }

    /// An upper bound of how far any point moves.
    #[inline(always)]
    fn way(&self) -> L {
        self.moved.dot(self.moved).sqrt() + self.turned.abs() * self.arm
    }

    /// An upper bound of how far any point moves against an obstacle that moves as `sweep` does: in lanes what `Sweep::way_against` is for one
    /// body. (The two round differently, so neither stands for the other.)
    #[inline(always)]
    fn way_against(&self, sweep: &Sweep) -> L {
        let arm = self.from.sub(V::splat(sweep.from.x, sweep.from.y));
        let relative = self.moved.sub(V::splat(sweep.moved.x, sweep.moved.y));
        let turn = L::splat(sweep.turned);
        let against = relative.sub(arm.left().scaled(turn));
        let distance = arm.dot(arm).sqrt() + relative.dot(relative).sqrt();
        let bend = L::splat(0.5) * turn * turn * distance;
        against.dot(against).sqrt() + bend + (self.turned - turn).abs() * self.arm
    }

    /// The lanes that come nearer to a half-space than `near`.
    #[inline(always)]
    fn is_near_plane(&self, plane: &PlaneAt, near: L) -> u32 {
        let height = self.from.dot(V::splat(plane.normal.x, plane.normal.y)) - L::splat(plane.offset);
        height.le(near).bits()
    }

    /// The lanes whose centres are no further than `near` from a box. As `TurnedBox::is_beyond`.
    #[inline(always)]
    fn is_near(&self, turned_box: &TurnedBox, near: L) -> u32 {
        let from = self.from.sub(V::splat(turned_box.centre.x, turned_box.centre.y));
        let (axis_x, axis_y) = (L::splat(turned_box.axis.x), L::splat(turned_box.axis.y));
        let along = (from.x * axis_x + from.y * axis_y).abs() - L::splat(turned_box.half.x);
        let across = (from.y * axis_x - from.x * axis_y).abs() - L::splat(turned_box.half.y);
        let zero = L::splat(0.0);
        let (along, across) = (along.max(zero), across.max(zero));
        (along * along + across * across).le(near * near).bits()
    }

    /// The lanes of `wanted` whose centres are no further than `near` from a wall that stands still, given the box in which all of them are.
    #[inline(always)]
    fn may_meet(&self, index: &WallIndex, around: [Vec2; 2], near: L, wanted: u32) -> u32 {
        let mut walls = index.boxes.search::<L>(around);
        let mut found = 0;
        while found != wanted
            && let Some(number) = walls.next::<L>()
        {
            let wall = &index.walls[number];
            if wall.holds {
                found |= self.is_near(&wall.turned_box, near) & wanted;
            }
        }
        found
    }

    /// The lanes for which the box around them, as [`Bodily::around`] makes it, overlaps this one.
    #[inline(always)]
    fn is_around(&self, [lower, upper]: [Vec2; 2], near: L) -> u32 {
        let overlaps = |from: L, lower: f32, upper: f32| {
            (from - near).le(L::splat(upper)).and((from + near).ge(L::splat(lower)))
        };
        overlaps(self.from.x, lower.x, upper.x).and(overlaps(self.from.y, lower.y, upper.y)).bits()
    }

    /// The box around the circles of radius `near` about the centres of some lanes.
    #[inline(always)]
    fn around(&self, lanes: u32, near: L) -> [Vec2; 2] {
        let (x, y, near) = (values(self.from.x), values(self.from.y), values(near));
        let (mut lower, mut upper) = (Vec2::MAX, Vec2::MIN);
        for lane in (0..L::WIDTH).filter(|lane| lanes >> lane & 1 == 1) {
            let from = Vec2::new(x[lane], y[lane]);
            (lower, upper) = (lower.min(from - near[lane]), upper.max(from + near[lane]));
        }
        [lower, upper]
    }
}

/// The lanes that may pass through a wall, and those that are fast, as bits, of those in `lanes`.
///
/// A vector looks for walls as one: its bodies are neighbours. (With a lookup for each fast body, in a grid of bands, the scene `washer` took 1,017
/// million instructions; it takes 893, and 877 with `--continuous off`: counted as in `world/pairs.rs`, with `--bodies 2000`.)
#[inline(always)]
fn find_lanes<L: Lane>(search: &FastSearch<'_>, rows: &[Row], slot: usize, lanes: u32) -> [u32; 2] {
    let Walls { planes, fixed, recent, moving, .. } = search.walls;
    let pushed = L::load(&search.bodies.columns.inv_mass[slot..]).gt(L::splat(0.0)).bits() & lanes;
    if pushed == 0 {
        return [0, 0];
    }
    let body = Bodily::<L>::load(search.bodies, rows, slot);
    let fast = !body.slow().bits() & pushed;
    if fast == 0 && moving.walls.is_empty() {
        return [0, 0];
    }
    let near = body.way() + body.reach;
    // Movements that are not finite are left to the quarantine, at the end of the step.
    let placed = near.le(L::splat(f32::MAX)).bits() & pushed;
    let mut found = 0;
    let wanted = fast & placed;
    if wanted != 0 {
        for plane in planes {
            found |= body.is_near_plane(plane, near) & wanted;
        }
        let around = body.around(wanted, near);
        found |= body.may_meet(fixed, around, near, wanted & !found);
        if !recent.walls.is_empty() {
            found |= body.may_meet(recent, around, near, wanted & !found);
        }
    }
    let wanted = placed & !found;
    if !moving.walls.is_empty() && wanted != 0 {
        let limit = L::splat(FAST) * body.thickness;
        let mut walls = moving.boxes.search::<L>(body.around(wanted, near));
        while let Some(number) = walls.next::<L>() {
            let wall = &moving.walls[number];
            let way = body.way_against(&wall.sweep);
            let fast = way.gt(limit).bits() & body.is_near(&wall.turned_box, way + body.reach) & wanted;
            // The search has found the wall for some lane of the vector. Each lane has to find it alone: what is found may be a bullet,
            // which is then cast against all other bodies.
            if fast & !found != 0 {
                found |= fast & body.is_around(moving.boxes.at(number), near);
            }
        }
    }
    [found, fast]
}

/// Notes the slots of these lanes.
#[inline(never)]
fn note(search: &FastSearch<'_>, first: usize, near: u32, fast: u32) {
    let slots = |lanes: u32| {
        (0..MAX_WIDTH).filter(move |lane| lanes >> lane & 1 == 1).map(move |lane| (first + lane) as u32)
    };
    let mut found = search.found.lock().expect("no worker panicked");
    found.near.extend(slots(near));
    if search.all {
        found.fast.extend(slots(near | fast));
    }
}
