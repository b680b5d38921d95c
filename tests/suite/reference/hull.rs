//! Shapes that turn, for the tests, in f64: plain lists of corners in world coordinates, and the distances of points
//! from them. Written from the definitions, not from the engine.
//!
//! Every shape but a half-space is a *core*, a convex polygon of one to eight corners, and all points within a radius
//! of it.

use glam::DVec2;
use granule::{Shape, Vec2};

pub fn dvec(v: Vec2) -> DVec2 {
    DVec2::new(f64::from(v.x), f64::from(v.y))
}

/// A shape in world coordinates.
#[derive(Clone, Debug)]
pub enum Form {
    Hull(Hull),
    /// All points p with normal · p ≤ offset.
    Plane {
        normal: DVec2,
        offset: f64,
    },
}

/// A core and a radius. The corners are counter-clockwise.
#[derive(Clone, Debug)]
pub struct Hull {
    pub corners: Vec<DVec2>,
    pub radius: f64,
    /// Whether the hull is an axis-aligned box, which has rules of its own.
    pub upright: bool,
}

/// An edge from corner `a` to corner `b` and its outward normal.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub a: DVec2,
    pub b: DVec2,
    pub normal: DVec2,
}

impl Form {
    pub fn new(shape: &Shape, position: DVec2, angle: f64) -> Form {
        let upright = matches!(shape, Shape::Aabb { .. });
        let turn = if upright { DVec2::X } else { DVec2::from_angle(angle) };
        let hull = |corners: &[DVec2], radius: f32| {
            let corners = corners.iter().map(|&corner| position + turn.rotate(corner)).collect();
            Form::Hull(Hull { corners, radius: f64::from(radius), upright })
        };
        match *shape {
            Shape::Circle { radius } | Shape::Particle { radius } => hull(&[DVec2::ZERO], radius),
            Shape::Aabb { half_extents } | Shape::Box { half_extents } => {
                let DVec2 { x, y } = dvec(half_extents);
                hull(&[DVec2::new(-x, -y), DVec2::new(x, -y), DVec2::new(x, y), DVec2::new(-x, y)], 0.0)
            }
            Shape::Capsule { half_length, radius } => hull(&ends(half_length), radius),
            Shape::Segment { half_length } | Shape::ChainSegment { half_length, .. } => {
                hull(&ends(half_length), 0.0)
            }
            Shape::Polygon(polygon) => {
                let corners: Vec<DVec2> = polygon.vertices().iter().map(|&v| dvec(v)).collect();
                hull(&corners, polygon.radius())
            }
            Shape::HalfSpace { normal, offset } => {
                let normal = dvec(normal).normalize();
                Form::Plane { normal, offset: f64::from(offset) + normal.dot(position) }
            }
        }
    }

    /// The distance of the point from the shape; negative inside.
    pub fn distance(&self, point: DVec2) -> f64 {
        match self {
            Form::Plane { normal, offset } => normal.dot(point) - offset,
            Form::Hull(hull) => hull.core_distance(point) - hull.radius,
        }
    }
}

fn ends(half_length: f32) -> [DVec2; 2] {
    let x = f64::from(half_length);
    [DVec2::new(-x, 0.0), DVec2::new(x, 0.0)]
}

impl Hull {
    /// The edges of the core: none for a point, two (there and back) for a segment.
    pub fn edges(&self) -> Vec<Edge> {
        let n = self.corners.len();
        if n < 2 {
            return Vec::new();
        }
        let edge = |i: usize| {
            let (a, b) = (self.corners[i], self.corners[(i + 1) % n]);
            Edge { a, b, normal: -(b - a).normalize().perp() }
        };
        (0..n).map(edge).collect()
    }

    /// The distance of a point from the core, negative inside it.
    pub fn core_distance(&self, point: DVec2) -> f64 {
        let inside = self.edges().iter().map(|edge| edge.normal.dot(point - edge.a)).fold(f64::MIN, f64::max);
        if self.corners.len() > 2 && inside <= 0.0 {
            return inside;
        }
        self.nearest(point).distance(point)
    }

    /// The point of the core's outline that is nearest to `point`.
    pub fn nearest(&self, point: DVec2) -> DVec2 {
        let mut best = self.corners[0];
        for edge in self.edges() {
            let along = edge.b - edge.a;
            let t = ((point - edge.a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let candidate = edge.a + t * along;
            if candidate.distance(point) < best.distance(point) {
                best = candidate;
            }
        }
        best
    }
}
