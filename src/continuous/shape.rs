//! Shapes and movements as casts need them: in the axes of their bodies.

use super::cast::{CASTS, CastBlock};
use crate::body::Bodies;
use crate::body::compound::Compound;
use crate::geometry::outline::{MAX_VERTICES, NORMAL_ROWS, VERTEX_ROWS};
use crate::geometry::shape::ShapeKind;
use crate::geometry::trig::sin_cos;
use crate::lane::Row;
use glam::Vec2;

/// How a body moves within a step: evenly, from its place at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sweep {
    pub from: Vec2,
    pub moved: Vec2,
    /// 0 for a body that does not turn.
    pub angle: f32,
    pub turned: f32,
}

impl Sweep {
    /// The sweep of a place that stands still at the origin.
    pub(super) const NONE: Sweep = Sweep { from: Vec2::ZERO, moved: Vec2::ZERO, angle: 0.0, turned: 0.0 };

    /// The movement of a body, given its row of the solver's movements.
    pub(super) fn of(bodies: &Bodies, slot: usize, moved: &Row) -> Sweep {
        let [x, y, turned, _] = moved.0;
        let radius = bodies.columns.radius[slot];
        let turned = if radius > 0.0 { turned / radius } else { 0.0 };
        Sweep { moved: Vec2::new(x, y), turned, ..Sweep::at_rest(bodies, slot) }
    }

    /// What is left of the movement after a part of the step.
    pub(super) fn after(&self, time: f32) -> Sweep {
        let left = 1.0 - time;
        Sweep {
            from: self.from + time * self.moved,
            moved: left * self.moved,
            angle: self.angle + time * self.turned,
            turned: left * self.turned,
        }
    }

    /// The place at the end.
    pub(super) fn end(&self) -> Sweep {
        Sweep { moved: Vec2::ZERO, turned: 0.0, ..self.after(1.0) }
    }

    /// The movement of a body that `other` carries along: to where `other` takes the place that is `by` away from this one, with the turn of
    /// `other`.
    pub(super) fn carried(&self, other: &Sweep, by: Vec2) -> Sweep {
        let way = self.from - other.from;
        let mut moved = other.moved + by;
        if other.turned != 0.0 {
            moved = other.moved + Vec2::from_angle(other.turned).rotate(way + by) - way;
        }
        Sweep { moved, turned: other.turned, ..*self }
    }

    /// The movement after a hit, along the surface of an obstacle that moves as `other` does; `normal` is its unit normal. A round body goes
    /// on turning as before, any other body turns with the surface.
    pub(super) fn along(&self, other: &Sweep, normal: Vec2, round: bool) -> Sweep {
        let way = self.from - other.from;
        let by = self.moved - other.moved - other.turned * way.perp();
        let along = self.carried(other, by - by.dot(normal).min(0.0) * normal);
        Sweep { turned: if round { self.turned } else { other.turned }, ..along }
    }

    pub(super) fn at_rest(bodies: &Bodies, slot: usize) -> Sweep {
        let c = &bodies.columns;
        let angle = if c.furthest[slot] > 0.0 { c.angle[slot] } else { 0.0 };
        Sweep { from: bodies.position(slot), moved: Vec2::ZERO, angle, turned: 0.0 }
    }

    /// An upper bound of how far any point within `reach` of the centre moves against an obstacle that moves as `other` does.
    pub(super) fn way_against(&self, other: &Sweep, reach: f32) -> f32 {
        let carried = other.moved + other.turned * (self.from - other.from).perp();
        // A turn bends the way: by less than the square of the angle times the distance.
        let distance = (self.from - other.from).length() + (self.moved - other.moved).length();
        let bend = 0.5 * other.turned * other.turned * distance;
        (self.moved - carried).length() + bend + (self.turned - other.turned).abs() * reach
    }
}

/// The angle from one unit vector to another, rad: four times that of a quarter of it, whose arctangent is a series. It is exact to 0.0004 up to 1.7 rad, and
/// 0.25 too small at half a turn.
pub(super) fn turn_between(from: Vec2, to: Vec2) -> f32 {
    // Exactly opposite vectors have no half.
    let half = from.perp_dot(to) / (1.0 + from.dot(to)).max(1.0e-6);
    let quarter = half / (1.0 + (1.0 + half * half).sqrt());
    let square = quarter * quarter;
    4.0 * quarter * (1.0 - square * (1.0 / 3.0 - square * (0.2 - square / 7.0)))
}

/// One shape of a body, in the body's axes.
pub(crate) struct ShapeAt {
    pub kind: ShapeKind,
    vertices: [Vec2; MAX_VERTICES],
    normals: [Vec2; MAX_VERTICES],
    pub radius: f32,
    /// The shape's centre from the body's, and the cosine and sine of its angle against the body's.
    centre: Vec2,
    axis: Vec2,
    /// Distance from the body's centre to the furthest vertex.
    pub reach: f32,
    /// Distance from the shape's centre to its edge.
    pub thickness: f32,
    /// Half extents about the shape's centre, in its own axes.
    half: Vec2,
    /// How far the surface of a half-space is from the origin, along its normal.
    offset: f32,
    /// This stands for the centre of a shape alone.
    pub is_core: bool,
}

/// A box along an axis.
#[derive(Clone, Copy)]
pub(super) struct TurnedBox {
    pub centre: Vec2,
    pub axis: Vec2,
    pub half: Vec2,
}

impl TurnedBox {
    /// Whether the box is further than `distance` from a point.
    pub(super) fn is_beyond(&self, point: Vec2, distance: f32) -> bool {
        let way = Vec2::new(self.axis.x, -self.axis.y).rotate(point - self.centre);
        let outside = (way.abs() - self.half).max(Vec2::ZERO);
        outside.length_squared() > distance * distance
    }
}

impl ShapeAt {
    /// A body's shape, or one of its parts.
    pub(crate) fn new(bodies: &Bodies, slot: usize, part: u8) -> ShapeAt {
        if let Some(placed) = bodies.parts(slot).get(usize::from(part)) {
            let (centre, (sin, cos)) = Compound::place(placed, (0.0, 1.0));
            let rows = bodies.outlines.rows_of(placed.outline);
            return ShapeAt::placed(placed.part.shape.kind(), rows, centre, Vec2::new(cos, sin));
        }
        let c = &bodies.columns;
        let kind = c.kind[slot].shape();
        if kind.turns() {
            return ShapeAt::placed(kind, bodies.outlines.rows_of(c.outline[slot]), Vec2::ZERO, Vec2::X);
        }
        let ext = Vec2::new(c.ext_x[slot], c.ext_y[slot]);
        let none = ShapeAt {
            kind,
            vertices: [Vec2::ZERO; MAX_VERTICES],
            normals: [Vec2::ZERO; MAX_VERTICES],
            radius: 0.0,
            centre: Vec2::ZERO,
            axis: Vec2::X,
            reach: 0.0,
            thickness: ext.min_element(),
            half: ext,
            offset: 0.0,
            is_core: false,
        };
        match kind {
            ShapeKind::HalfSpace => ShapeAt {
                normals: [ext; MAX_VERTICES],
                thickness: f32::MAX,
                half: Vec2::MAX,
                offset: c.ext_z[slot],
                ..none
            },
            ShapeKind::Aabb => {
                let corners = [Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), Vec2::ONE, Vec2::new(-1.0, 1.0)];
                let around = |i: usize| if i < corners.len() { i } else { 0 };
                let normals = [-Vec2::Y, Vec2::X, Vec2::Y, -Vec2::X];
                ShapeAt {
                    vertices: std::array::from_fn(|i| ext * corners[around(i)]),
                    normals: std::array::from_fn(|i| normals[around(i)]),
                    reach: ext.length(),
                    ..none
                }
            }
            _ => ShapeAt { radius: ext.x, ..none },
        }
    }

    /// A hull's edge as a capsule about its middle, whose second end is at `arm` from there. What is outside is on the left of the way there, or on
    /// both sides.
    pub(super) fn edge(arm: Vec2, radius: f32, is_limb: bool) -> ShapeAt {
        let length = arm.length();
        let axis = if length > 0.0 { arm / length } else { Vec2::X };
        let (mut vertices, mut normals) = ([-arm; MAX_VERTICES], [-axis.perp(); MAX_VERTICES]);
        (vertices[1], normals[1]) = (arm, axis.perp());
        ShapeAt {
            kind: if is_limb { ShapeKind::Capsule } else { ShapeKind::ChainSegment },
            vertices,
            normals,
            radius,
            centre: Vec2::ZERO,
            axis,
            reach: length,
            thickness: radius,
            half: Vec2::new(length + radius, radius),
            offset: 0.0,
            is_core: false,
        }
    }

    /// A shape with these rows of [`Outlines`](crate::geometry::outline::Outlines), in which places behind the last vertex repeat the
    /// first. These rows have the normals; with the outlines themselves, they would be computed for each cast.
    fn placed(kind: ShapeKind, rows: &[Row], centre: Vec2, axis: Vec2) -> ShapeAt {
        let pair = |row: &Row, i: usize| Vec2::new(row.0[2 * (i % 2)], row.0[2 * (i % 2) + 1]);
        let [half_x, half_y, radius, _] = rows[0].0;
        let (mut vertices, mut normals) = ([Vec2::ZERO; MAX_VERTICES], [Vec2::ZERO; MAX_VERTICES]);
        let (mut furthest, mut inner) = (0.0f32, f32::MAX);
        for (i, (vertex, normal)) in vertices.iter_mut().zip(&mut normals).enumerate() {
            let (own, edge) = (pair(&rows[VERTEX_ROWS + i / 2], i), pair(&rows[NORMAL_ROWS + i / 2], i));
            inner = inner.min(edge.dot(own));
            (*vertex, *normal) = (centre + axis.rotate(own), axis.rotate(edge));
            furthest = furthest.max(vertex.length_squared());
        }
        let (reach, thickness) = (furthest.sqrt(), inner.max(0.0) + radius);
        let half = Vec2::new(half_x, half_y) + radius;
        ShapeAt {
            kind,
            vertices,
            normals,
            radius,
            centre,
            axis,
            reach,
            thickness,
            half,
            offset: 0.0,
            is_core: false,
        }
    }

    /// The shape's centre, as a point.
    pub(super) fn core(&self) -> ShapeAt {
        ShapeAt {
            vertices: [self.centre; MAX_VERTICES],
            normals: [Vec2::ZERO; MAX_VERTICES],
            radius: 0.0,
            reach: self.centre.length(),
            half: Vec2::ZERO,
            is_core: true,
            ..*self
        }
    }

    /// A box that holds the shape throughout a movement.
    pub(super) fn swept_box(&self, sweep: &Sweep) -> [Vec2; 2] {
        let (mut lower, mut upper) = (Vec2::MAX, Vec2::MIN);
        for (centre, angle) in
            [(sweep.from, sweep.angle), (sweep.from + sweep.moved, sweep.angle + sweep.turned)]
        {
            let (sin, cos) = sin_cos(angle);
            for vertex in self.vertices {
                let vertex = centre + Vec2::new(cos, sin).rotate(vertex);
                (lower, upper) = (lower.min(vertex), upper.max(vertex));
            }
        }
        // The path of a turning vertex bends away from the straight line between its two ends by no more than this.
        let bulge = self.reach * (0.125 * sweep.turned * sweep.turned).min(2.0);
        // Coordinates are rounded.
        let rounding = 4.0 * f32::EPSILON * lower.abs().max(upper.abs()).max_element();
        let around = Vec2::splat(self.radius + bulge + rounding);
        [lower - around, upper + around]
    }

    /// Whether a shape whose centre is at `point` is on the side on which a chain's segment is solid.
    pub(super) fn faces(&self, sweep: &Sweep, point: Vec2) -> bool {
        if self.kind != ShapeKind::ChainSegment {
            return true;
        }
        let (sin, cos) = sin_cos(sweep.angle);
        let along = Vec2::new(cos, sin).rotate(self.axis);
        let start = sweep.from + Vec2::new(cos, sin).rotate(self.centre);
        along.perp_dot(point - start) >= 0.0
    }

    /// The box around the shape, where it is at the start of its movement.
    pub(super) fn turned_box(&self, sweep: &Sweep) -> TurnedBox {
        let (sin, cos) = sin_cos(sweep.angle);
        let turn = Vec2::new(cos, sin);
        TurnedBox {
            centre: sweep.from + turn.rotate(self.centre),
            axis: turn.rotate(self.axis),
            half: self.half,
        }
    }

    /// Whether the shape, where it is at the start of its movement, is further than `distance` from a point.
    pub(super) fn is_beyond(&self, sweep: &Sweep, point: Vec2, distance: f32) -> bool {
        self.turned_box(sweep).is_beyond(point, distance)
    }

    /// How the shape's centre moves at the start of a movement, as seen from what moves as `other` does.
    pub(super) fn approach(&self, sweep: &Sweep, other: &Sweep) -> Vec2 {
        let at = self.centre_at_start(sweep);
        sweep.moved + sweep.turned * (at - sweep.from).perp()
            - other.moved
            - other.turned * (at - other.from).perp()
    }

    /// The place of the shape's centre at the start of a movement.
    pub(super) fn centre_at_start(&self, sweep: &Sweep) -> Vec2 {
        let (sin, cos) = sin_cos(sweep.angle);
        sweep.from + Vec2::new(cos, sin).rotate(self.centre)
    }
}

impl CastBlock {
    /// Puts a cast into a lane. `depth` is the overlap that is allowed. A body that overlaps the obstacle by `deepest` more than that counts as
    /// inside it.
    pub(super) fn set(
        &mut self,
        lane: usize,
        (body, sweep): (&ShapeAt, &Sweep),
        (obstacle, other): (&ShapeAt, &Sweep),
        [depth, deepest]: [f32; 2],
    ) {
        debug_assert!(lane < CASTS);
        let is_plane = obstacle.kind == ShapeKind::HalfSpace;
        let (mut way, moved) = (sweep.from - other.from, sweep.moved - other.moved);
        if is_plane {
            let normal = obstacle.normals[0];
            way = (normal.dot(sweep.from) - obstacle.offset) * normal;
        }
        let put = |column: &mut [f32; CASTS], value: f32| column[lane] = value;
        put(&mut self.way[0], way.x);
        put(&mut self.way[1], way.y);
        put(&mut self.moved[0], moved.x);
        put(&mut self.moved[1], moved.y);
        put(&mut self.angle, other.angle);
        put(&mut self.turned, other.turned);
        put(&mut self.relative_angle, sweep.angle - other.angle);
        put(&mut self.relative_turned, sweep.turned - other.turned);
        put(&mut self.reach, body.reach);
        put(&mut self.radius, body.radius + obstacle.radius);
        let (thinner, both) =
            (body.thickness.min(obstacle.thickness), 0.5 * body.thickness + 0.5 * obstacle.thickness);
        let rounding = 8.0 * f32::EPSILON * sweep.from.abs().max(other.from.abs()).max_element();
        let (allowed, slack, near) = if both < 0.1 * depth || body.is_core {
            // Two shapes without thickness are through each other as soon as they touch.
            let gap = if body.is_core { (0.5 * depth).min(0.1 * body.thickness) } else { 0.5 * depth };
            let gap = gap.max(4.0 * rounding);
            (-gap, 0.0, 0.1 * gap)
        } else {
            let allowed = depth.max(0.02 * thinner).min(both).max(rounding);
            let slack = (0.25 * allowed).max(0.1 * depth).max(rounding);
            (allowed, slack, 0.25 * slack)
        };
        put(&mut self.allowed, allowed);
        put(&mut self.slack, slack);
        put(&mut self.near, near);
        put(&mut self.deepest, allowed.max(0.0) + deepest);
        put(&mut self.is_plane, f32::from(u8::from(is_plane)));
        for (corners, values) in [
            (&mut self.body, &body.vertices),
            (&mut self.body_normal, &body.normals),
            (&mut self.obstacle, &obstacle.vertices),
            (&mut self.obstacle_normal, &obstacle.normals),
        ] {
            for (corner, value) in corners.iter_mut().zip(values) {
                (corner[0][lane], corner[1][lane]) = (value.x, value.y);
            }
        }
    }
    /// Limits how far a body of this thickness may be in an obstacle that has none. A body that lies along such an obstacle overlaps it by no
    /// more than its thickness while its centre passes through, so a cast that waited for a deeper overlap would miss it.
    pub(super) fn limit(&mut self, lane: usize, thickness: f32) {
        let (allowed, deepest) = (self.allowed[lane], &mut self.deepest[lane]);
        if allowed > 0.0 {
            *deepest = deepest.min((thickness - self.slack[lane] - self.near[lane]).max(allowed));
        }
    }
}
