//! Shapes at places, and how far two of them are apart.

use crate::engine::State;
use crate::scenes::{corners, turned};
use ::granule::{Part, Shape};

/// A shape at a place, in f64.
#[derive(Clone, Copy)]
pub struct Placed {
    /// Centre of its bounds.
    pub x: f64,
    pub y: f64,
    /// Half width and half height of its bounds; the radius twice for a circle.
    pub half: [f64; 2],
    kind: Kind,
    /// Shapes of one body do not meet.
    pub body: usize,
    /// Without the rounding, counter-clockwise.
    corners: [[f64; 2]; 8],
    count: usize,
    radius: f64,
}

/// What tells how two shapes are measured.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Circle,
    /// A box along the axes.
    Aabb,
    /// Any other.
    Convex,
}

impl Placed {
    /// A part of a body in a state.
    pub fn new(body: usize, part: &Part, state: &State) -> Self {
        let (local, radius) = corners(part).expect("scenes are checked when they are built");
        let [angle, x, y] = [state.angle, state.position[0], state.position[1]].map(f64::from);
        let kind = match part.shape {
            Shape::Circle { .. } | Shape::Particle { .. } => Kind::Circle,
            Shape::Aabb { .. } => Kind::Aabb,
            _ => Kind::Convex,
        };
        // A box that stays with the axes has no angle, whatever an engine says.
        let angle = if kind == Kind::Aabb { 0.0 } else { angle };
        let mut corners = [[0.0; 2]; 8];
        for (corner, local) in corners.iter_mut().zip(&local) {
            *corner = turned(*local, angle, [x, y]);
        }
        Self::from_corners(body, kind, &corners[..local.len()], radius)
    }

    fn from_corners(body: usize, kind: Kind, given: &[[f64; 2]], radius: f64) -> Self {
        let extent = |axis: usize| {
            let values = given.iter().map(|corner| corner[axis]);
            (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
        };
        let ((left, right), (bottom, top)) = (extent(0), extent(1));
        let mut corners = [[0.0; 2]; 8];
        corners[..given.len()].copy_from_slice(given);
        Placed {
            x: 0.5 * (left + right),
            y: 0.5 * (bottom + top),
            half: [0.5 * (right - left) + radius, 0.5 * (top - bottom) + radius],
            kind,
            body,
            corners,
            count: given.len(),
            radius,
        }
    }

    fn corners(&self) -> &[[f64; 2]] {
        &self.corners[..self.count]
    }

    /// How far the unrounded shape reaches along a direction, at most and at least.
    fn span(&self, [x, y]: [f64; 2]) -> (f64, f64) {
        self.corners().iter().fold((f64::NEG_INFINITY, f64::INFINITY), |(most, least), corner| {
            let along = x * corner[0] + y * corner[1];
            (most.max(along), least.min(along))
        })
    }
}

/// Distance between the surfaces, negative when they overlap: then its size is the least distance by
/// which one of them has to move.
pub fn separation(a: &Placed, b: &Placed) -> f64 {
    let (dx, dy) = ((a.x - b.x).abs(), (a.y - b.y).abs());
    // Two circles are two points, a circle and a box are a point and the box, each grown by the radii.
    let (gap_x, gap_y, radii) = match (a.kind, b.kind) {
        (Kind::Convex, _) | (_, Kind::Convex) => return along_axes(a, b) - a.radius - b.radius,
        (Kind::Circle, Kind::Circle) => return dx.hypot(dy) - a.half[0] - b.half[0],
        (Kind::Circle, Kind::Aabb) => (dx - b.half[0], dy - b.half[1], a.half[0]),
        (Kind::Aabb, Kind::Circle) => (dx - a.half[0], dy - a.half[1], b.half[0]),
        (Kind::Aabb, Kind::Aabb) => (dx - a.half[0] - b.half[0], dy - a.half[1] - b.half[1], 0.0),
    };
    let distance = if gap_x > 0.0 && gap_y > 0.0 { gap_x.hypot(gap_y) } else { gap_x.max(gap_y) };
    distance - radii
}

/// The separating axis theorem: the largest gap over the normals of both shapes' edges, and over the lines between
/// their corners. No axis shows a gap larger than the distance; that of convex shapes apart is found at a
/// corner and an edge, or at two corners, and the way out of an overlap is along an edge's normal.
fn along_axes(a: &Placed, b: &Placed) -> f64 {
    let mut most = f64::NEG_INFINITY;
    let mut try_axis = |x: f64, y: f64| {
        let length = x.hypot(y);
        if length < 1.0e-12 {
            return;
        }
        let axis = [x / length, y / length];
        let ((most_a, least_a), (most_b, least_b)) = (a.span(axis), b.span(axis));
        most = most.max(least_b - most_a).max(least_a - most_b);
    };
    for shape in [a, b] {
        let corners = shape.corners();
        for (index, corner) in corners.iter().enumerate() {
            let next = corners[(index + 1) % corners.len()];
            try_axis(next[1] - corner[1], corner[0] - next[0]);
        }
    }
    for corner in a.corners() {
        for other in b.corners() {
            try_axis(other[0] - corner[0], other[1] - corner[1]);
        }
    }
    // Two points at one place.
    if most.is_finite() { most } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::granule::{Polygon, Vec2};

    fn still(position: Vec2) -> State {
        State { position: position.to_array(), angle: 0.0, velocity: [0.0; 2], angular_velocity: 0.0 }
    }

    /// One hand-computed separation for each pair of shapes, apart and overlapping.
    #[test]
    fn separations() {
        let place = |shape: Shape, x: f32, y: f32, angle: f32| {
            Placed::new(0, &Part::new(shape, Vec2::ZERO), &State { angle, ..still(Vec2::new(x, y)) })
        };
        let circle = |x, y| place(Shape::circle(0.5), x, y, 0.0);
        let block = |x, y| place(Shape::aabb(1.0, 2.0), x, y, 0.0);
        let near = |a: Placed, b: Placed, expected: f64| {
            assert!((separation(&a, &b) - expected).abs() < 1e-12);
            assert!((separation(&b, &a) - expected).abs() < 1e-12);
        };
        near(circle(0.0, 0.0), circle(3.0, 4.0), 4.0);
        near(circle(0.0, 0.0), circle(0.0, 0.75), -0.25);
        near(circle(4.0, 6.0), block(0.0, 0.0), 4.5);
        near(circle(0.0, 2.25), block(0.0, 0.0), -0.25);
        near(circle(0.75, 0.0), block(0.0, 0.0), -0.75);
        near(block(0.0, 0.0), block(1.5, 3.75), -0.25);
        near(block(0.0, 0.0), block(5.0, 8.0), 5.0);

        // The same figures from boxes that turn, and then shapes that only the axes tell apart. Angles are f32.
        let turning = |x, y| place(Shape::oriented_box(1.0, 2.0), x, y, 0.0);
        near(circle(4.0, 6.0), turning(0.0, 0.0), 4.5);
        near(circle(0.75, 0.0), turning(0.0, 0.0), -0.75);
        near(turning(0.0, 0.0), block(1.5, 3.75), -0.25);
        near(turning(0.0, 0.0), turning(5.0, 8.0), 5.0);
        let about = |a: Placed, b: Placed, expected: f64| {
            assert!((separation(&a, &b) - expected).abs() < 1e-6, "{} {expected}", separation(&a, &b));
            assert!((separation(&b, &a) - expected).abs() < 1e-6);
        };
        let root = f64::sqrt(2.0);
        let diamond = |x| place(Shape::oriented_box(1.0, 1.0), x, 0.0, std::f32::consts::FRAC_PI_4);
        about(diamond(0.0), diamond(4.0), 4.0 - 2.0 * root);
        about(diamond(0.0), diamond(2.0), -2.0 + root);
        about(diamond(0.0), block(4.0, 0.0), 3.0 - root);
        let lying = place(Shape::capsule(1.0, 0.25), 0.0, 0.0, 0.0);
        let upright = place(Shape::capsule(1.0, 0.25), 1.5, 0.0, std::f32::consts::FRAC_PI_2);
        about(lying, upright, 0.0);
        about(lying, circle(0.0, 0.5), -0.25);
        about(place(Shape::segment(3.0), 0.0, -1.0, 0.0), diamond(0.0), 1.0 - root);
        let square = Polygon::regular(4, 2.0f32.sqrt()).expect("a square");
        let rounded = Polygon::rounded(square.vertices(), 0.5).expect("a rounded square").0;
        let tilted = place(Shape::Polygon(rounded), 0.0, 0.0, std::f32::consts::FRAC_PI_4);
        about(tilted, circle(0.0, -3.0), 1.0);
        about(tilted, circle(-3.0, -3.0), 2.0 * root - 1.0);
    }
}
