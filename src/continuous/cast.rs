//! The cast: when two shapes that move and turn evenly within a step come to overlap by more than they may.
//!
//! Conservative advancement (B. Mirtich, "Impulse-based dynamic simulation of rigid body systems", 1996, section 2.3), on
//! the separating axes of two convex outlines:
//!
//! ```text
//! t = 0
//! repeat: s = the largest gap between the shapes at t, over all axes      (signed: negative while they overlap)
//!         if s is as small as it may become: hit at t
//!         t += the time in which no vertex of the body can close the gap along this axis so far
//!         if t ≥ 1: no hit
//! ```
//!
//! The gap along any fixed axis is no more than the largest one. So no step of t goes past a hit. Everything is measured from the
//! obstacle, which therefore stands still. A vertex has a speed u along the axis now, and its acceleration is no more than A, which is 0 if neither
//! body turns: so it needs at least the time τ for which u·τ + A·τ²/2 is the room that it has. A ball that flies along a wall needs one
//! round. (With the largest speed of any vertex in place of u and A, turning frames took three times as long.)
//!
//! The axes are the normals of both outlines' edges, and the line between the nearest two vertices. In two dimensions one of
//! these separates two convex polygons if any line does, and along it the gap is their distance. Rounding takes its radius off.

use crate::geometry::outline::MAX_VERTICES;
use crate::geometry::trig::sin_cos;
use crate::lane::{Lane, Mask, lane_entry, load_each};
use crate::narrowphase::manifold::{Turn, V};

/// The number of casts that are made together, at every level.
pub(crate) const CASTS: usize = 16;
/// The time of a cast without a hit. The step is over at 1.
pub(crate) const MISS: f32 = 2.0;
/// The time of a cast whose shapes overlap too much to begin with.
pub(crate) const INSIDE: f32 = 3.0;
/// The most rounds of a cast. A fast turning body that needs more is stopped where it is then, which is before the hit.
const ROUNDS: usize = 96;
/// A number below the gap of any two shapes.
const NO_GAP: f32 = -1.0e30;

/// A number for each cast.
type CastColumn = [f32; CASTS];
/// Vertices or normals.
type Corners = [[CastColumn; 2]; MAX_VERTICES];

/// Sixteen casts of a body against an obstacle, each in the axes of its two bodies at the start of the step.
#[repr(align(64))]
pub(crate) struct CastBlock {
    /// From the obstacle's centre to the body's, and how that changes in the step, in the world's axes.
    pub way: [CastColumn; 2],
    pub moved: [CastColumn; 2],
    /// The obstacle's angle, and how far it turns.
    pub angle: CastColumn,
    pub turned: CastColumn,
    /// The body's angle against the obstacle's, and how that changes.
    pub relative_angle: CastColumn,
    pub relative_turned: CastColumn,
    /// Distance from the body's centre to its furthest vertex.
    pub reach: CastColumn,
    /// The radii of both roundings together.
    pub radius: CastColumn,
    /// The overlap that is allowed, m. If the two overlap by more at the start, `slack` is how much deeper they may still get. A gap
    /// within `near` of the limit is a hit.
    pub allowed: CastColumn,
    pub slack: CastColumn,
    pub near: CastColumn,
    /// Shapes that overlap by more than this at the start are [`INSIDE`].
    pub deepest: CastColumn,
    /// 1 for a half-space, which is a single vertex with a single normal.
    pub is_plane: CastColumn,
    /// Vertices, and normals of the edges that begin there. Places behind the last vertex repeat the first. A vertex without an edge
    /// has the normal 0.
    pub body: Corners,
    pub body_normal: Corners,
    pub obstacle: Corners,
    pub obstacle_normal: Corners,
    /// The answer: when each cast hits, as a part of the step; [`MISS`] if it does not; or [`INSIDE`].
    pub time: CastColumn,
    /// The gap at the hit, or when it was looked at last, and its axis from the obstacle to the body, in the obstacle's axes.
    pub gap: CastColumn,
    pub axis: [CastColumn; 2],
}

impl Default for CastBlock {
    /// A block whose casts hit nothing: each is of a point far away from another.
    fn default() -> Self {
        let zero = [0.0; CASTS];
        let corners = [[zero; 2]; MAX_VERTICES];
        CastBlock {
            way: [[1.0; CASTS], zero],
            moved: [zero; 2],
            angle: zero,
            turned: zero,
            relative_angle: zero,
            relative_turned: zero,
            reach: zero,
            radius: zero,
            allowed: zero,
            slack: zero,
            near: zero,
            deepest: zero,
            is_plane: zero,
            body: corners,
            body_normal: corners,
            obstacle: corners,
            obstacle_normal: corners,
            time: zero,
            gap: zero,
            axis: [zero; 2],
        }
    }
}

lane_entry! {
    /// Makes the casts of a block, the first `count` of which are wanted.
    pub(super) fn cast[][](block: &mut CastBlock, count: usize) = cast_block;
}

#[inline(always)]
fn cast_block<L: Lane>(block: &mut CastBlock, count: usize) {
    for i in (0..count).step_by(L::WIDTH) {
        cast_lanes::<L>(block, i);
    }
}

/// An axis from the obstacle to the body, in the obstacle's axes, and the gap along it.
#[derive(Clone, Copy)]
struct AxisGap<L: Lane> {
    gap: L,
    axis: V<L>,
}

impl<L: Lane> AxisGap<L> {
    /// Takes the larger of both gaps, if the other one's axis is sound.
    #[inline(always)]
    fn or(self, sound: L::Mask, gap: L, axis: V<L>) -> Self {
        let larger = sound.and(gap.gt(self.gap));
        AxisGap { gap: L::select(larger, gap, self.gap), axis: V::select(larger, axis, self.axis) }
    }
}

/// The vertices and normals of `WIDTH` outlines.
struct CastOutlines<L: Lane> {
    vertices: [V<L>; MAX_VERTICES],
    normals: [V<L>; MAX_VERTICES],
}

impl<L: Lane> CastOutlines<L> {
    #[inline(always)]
    fn load(vertices: &Corners, normals: &Corners, i: usize) -> Self {
        let mut outlines = CastOutlines {
            vertices: [V::splat(0.0, 0.0); MAX_VERTICES],
            normals: [V::splat(0.0, 0.0); MAX_VERTICES],
        };
        for at in 0..MAX_VERTICES {
            let [x, y] = load_each::<L, 2, CASTS>(&vertices[at], i);
            outlines.vertices[at] = V::new(x, y);
            let [x, y] = load_each::<L, 2, CASTS>(&normals[at], i);
            outlines.normals[at] = V::new(x, y);
        }
        outlines
    }

    /// The outlines turned, then moved.
    #[inline(always)]
    fn placed(&self, turn: Turn<L>, by: V<L>) -> Self {
        let mut placed = CastOutlines { vertices: self.vertices, normals: self.normals };
        for at in 0..MAX_VERTICES {
            placed.vertices[at] = turn.apply(self.vertices[at]).add(by);
            placed.normals[at] = turn.apply(self.normals[at]);
        }
        placed
    }

    /// The least extent along a direction.
    #[inline(always)]
    fn least(&self, direction: V<L>) -> L {
        let mut least = self.vertices[0].dot(direction);
        for vertex in &self.vertices[1..] {
            least = least.min(vertex.dot(direction));
        }
        least
    }

    /// The largest gap to `body` over all axes.
    #[inline(always)]
    fn gap(&self, body: &CastOutlines<L>, is_plane: L::Mask) -> AxisGap<L> {
        let (half, one) = (L::splat(0.5), L::splat(1.0));
        let mut best = AxisGap { gap: L::splat(NO_GAP), axis: V::splat(1.0, 0.0) };
        for (vertex, normal) in self.vertices.iter().zip(&self.normals) {
            let gap = body.least(*normal) - vertex.dot(*normal);
            best = best.or(normal.dot(*normal).gt(half), gap, *normal);
        }
        let of_plane = best;
        for (vertex, normal) in body.vertices.iter().zip(&body.normals) {
            let gap = self.least(*normal) - vertex.dot(*normal);
            best = best.or(normal.dot(*normal).gt(half), gap, normal.neg());
        }
        let mut nearest = V::splat(f32::MAX.sqrt(), 0.0);
        let mut distance = L::splat(f32::MAX);
        for vertex in &body.vertices {
            for other in &self.vertices {
                let way = vertex.sub(*other);
                let square = way.dot(way);
                let nearer = square.lt(distance);
                distance = L::select(nearer, square, distance);
                nearest = V::select(nearer, way, nearest);
            }
        }
        // Points that coincide have no direction between them: any is as good, and their gap is 0.
        let apart = distance.gt(L::splat(1.0e-24));
        let axis = nearest.scaled(one / L::select(apart, distance, one).sqrt());
        let axis = V::select(apart, axis, V::splat(1.0, 0.0));
        let gap = body.least(axis) + self.least(axis.neg());
        best = best.or(one.gt(L::splat(0.0)), gap, axis);
        AxisGap {
            gap: L::select(is_plane, of_plane.gap, best.gap),
            axis: V::select(is_plane, of_plane.axis, best.axis),
        }
    }
}

/// The earliest time at which any vertex can be nearer along the axis than the nearest one is now, by `room`; at most [`MISS`].
#[inline(always)]
fn soonest<L: Lane>(
    body: &CastOutlines<L>,
    centre: V<L>,
    axis: V<L>,
    speed: V<L>,
    turned: L,
    acceleration: L,
    room: L,
) -> L {
    let (zero, two) = (L::splat(0.0), L::splat(2.0));
    let nearest = body.least(axis);
    let mut soonest = L::splat(MISS);
    for vertex in &body.vertices {
        let room = room + (vertex.dot(axis) - nearest);
        let nearer = -speed.add(vertex.sub(centre).left().scaled(turned)).dot(axis);
        // The positive root, in the form that loses no digits.
        let divisor = nearer + (nearer * nearer + two * (acceleration * room)).max(zero).sqrt();
        let closes = divisor.gt(zero);
        let time = two * room / L::select(closes, divisor, two);
        soonest = soonest.min(L::select(closes, time, L::splat(MISS)));
    }
    soonest
}

#[inline(always)]
fn turn_by<L: Lane>(angle: L) -> Turn<L> {
    let (sin, cos) = sin_cos(angle);
    Turn { cos, sin }
}

#[inline(always)]
fn cast_lanes<L: Lane>(block: &mut CastBlock, i: usize) {
    macro_rules! load {
        ($column:ident) => {
            L::load(&block.$column[i..])
        };
    }
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let [way_x, way_y] = load_each::<L, 2, CASTS>(&block.way, i);
    let [moved_x, moved_y] = load_each::<L, 2, CASTS>(&block.moved, i);
    let (way, moved) = (V::new(way_x, way_y), V::new(moved_x, moved_y));
    let (angle, turned) = (load!(angle), load!(turned));
    let (relative_angle, relative_turned) = (load!(relative_angle), load!(relative_turned));
    let (radius, allowed, slack) = (load!(radius), load!(allowed), load!(slack));
    let (near, deepest) = (load!(near), load!(deepest));
    let is_plane = load!(is_plane).gt(L::splat(0.5));
    let body = CastOutlines::<L>::load(&block.body, &block.body_normal, i);
    let obstacle = CastOutlines::<L>::load(&block.obstacle, &block.obstacle_normal, i);
    // The largest acceleration of a vertex as seen from the obstacle: from the body's turn against it, and from the turn of its axes.
    let end = way.add(moved);
    let distance = way.dot(way).max(end.dot(end)).sqrt();
    let axes_turn = turned.abs();
    let acceleration = load!(reach) * (relative_turned * relative_turned)
        + axes_turn * (L::splat(2.0) * moved.dot(moved).sqrt() + axes_turn * distance);
    let (mut time, mut target) = (zero, zero);
    let mut last = AxisGap { gap: zero, axis: V::splat(1.0, 0.0) };
    let mut under_way = zero.le(zero);
    for round in 0..ROUNDS {
        let turn = turn_by(relative_angle + time * relative_turned);
        let axes = turn_by(angle + time * turned);
        let place = axes.undo(way.add(moved.scaled(time)));
        let placed = body.placed(turn, place);
        let AxisGap { gap, axis } = obstacle.gap(&placed, is_plane);
        let gap = gap - radius;
        last.gap = L::select(under_way, gap, last.gap);
        last.axis = V::select(under_way, axis, last.axis);
        if round == 0 {
            target = (-allowed).min(gap - slack);
            time = L::select(gap.lt(-deepest), L::splat(INSIDE), time);
            under_way = time.lt(one);
        }
        let room = gap - target;
        let hit = room.le(near);
        // The speed of the body's centre, as seen from the obstacle.
        let speed = axes.undo(moved.sub(way.add(moved.scaled(time)).left().scaled(turned)));
        let sooner = soonest(&placed, place, axis, speed, relative_turned, acceleration, room);
        let next = time + sooner;
        let misses = next.ge(one);
        let next = L::select(misses, L::splat(MISS), next);
        time = L::select(under_way, L::select(hit, time, next), time);
        let goes_on = L::select(hit.or(misses), one, zero).lt(L::splat(0.5));
        under_way = under_way.and(goes_on);
        if under_way.bits() == 0 {
            break;
        }
    }
    time.store(&mut block.time[i..]);
    last.gap.store(&mut block.gap[i..]);
    last.axis.x.store(&mut block.axis[0][i..]);
    last.axis.y.store(&mut block.axis[1][i..]);
}
