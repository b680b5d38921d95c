//! An overlap test in f64 that uses geometry alone. Sensors find with it what is in them, and [`World::validate`](crate::World::validate)
//! checks the pair list.

use crate::body::Bodies;
use crate::body::compound::Compound;
use crate::broadphase::shapes::NO_PART;
use crate::geometry::outline::MAX_VERTICES;
use crate::geometry::shape::Shape;
use crate::geometry::trig::sin_cos;
use glam::{DVec2, Vec2};
use std::ops::Deref;

/// A shape of a body, at its place in the world.
pub(crate) struct ExactShape {
    /// The number of the part, as in pairs.
    pub part: u8,
    region: Region,
}

enum Region {
    /// All points p with `normal · p ≤ offset`.
    HalfSpace { normal: DVec2, offset: f64 },
    /// All points that are at most `radius` away from a convex polygon of one to eight corners.
    Hull { corners: Corners, radius: f64 },
}

/// One to eight points.
#[derive(Clone, Copy)]
struct Corners {
    at: [DVec2; MAX_VERTICES],
    count: usize,
}

impl FromIterator<DVec2> for Corners {
    fn from_iter<I: IntoIterator<Item = DVec2>>(points: I) -> Corners {
        let mut corners = Corners { at: [DVec2::ZERO; MAX_VERTICES], count: 0 };
        for (point, to) in points.into_iter().zip(&mut corners.at) {
            *to = point;
            corners.count += 1;
        }
        corners
    }
}

impl Deref for Corners {
    type Target = [DVec2];

    fn deref(&self) -> &[DVec2] {
        &self.at[..self.count]
    }
}

/// Returns all shapes of a body.
pub(crate) fn exact_shapes(bodies: &Bodies, slot: usize) -> Vec<ExactShape> {
    (0..bodies.shape_count(slot)).map(|part| ExactShape::of(bodies, slot, part)).collect()
}

/// The region of a shape that does not turn.
fn upright(shape: &Shape, centre: Vec2) -> Region {
    let centre = centre.as_dvec2();
    match *shape {
        Shape::HalfSpace { normal, offset } => {
            let normal = normal.as_dvec2().normalize_or_zero();
            Region::HalfSpace { normal, offset: f64::from(offset) + normal.dot(centre) }
        }
        Shape::Aabb { half_extents } => {
            let corner = |x: f64, y: f64| centre + half_extents.as_dvec2() * DVec2::new(x, y);
            let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            Region::Hull { corners: corners.into_iter().collect(), radius: 0.0 }
        }
        _ => Region::Hull { corners: [centre].into_iter().collect(), radius: shape.extents().x.into() },
    }
}

impl ExactShape {
    /// Returns a shape of a body: its part of this number, or its only shape.
    pub(crate) fn of(bodies: &Bodies, slot: usize, part: u8) -> ExactShape {
        let centre = bodies.position(slot);
        let c = &bodies.columns;
        if !c.kind[slot].shape().turns() {
            return ExactShape { part: NO_PART, region: upright(&bodies.shape(slot), centre) };
        }
        let turn = sin_cos(c.angle[slot]);
        let placed = bodies.parts(slot).get(usize::from(part));
        let (outline, offset, (sin, cos)) = match placed {
            Some(placed) => {
                let (offset, turn) = Compound::place(placed, turn);
                (placed.outline, offset, turn)
            }
            None => (c.outline[slot], Vec2::ZERO, turn),
        };
        let outline = bodies.outlines.outline(outline);
        let turn = DVec2::new(cos.into(), sin.into());
        let at = centre.as_dvec2() + offset.as_dvec2();
        let corners = outline.vertices().iter().map(|corner| at + turn.rotate(corner.as_dvec2()));
        let region = Region::Hull { corners: corners.collect(), radius: outline.radius.into() };
        ExactShape { part: if placed.is_some() { part } else { NO_PART }, region }
    }

    /// Returns how far two shapes overlap; negative when they are apart. Two half-spaces count as apart.
    pub(crate) fn depth(&self, other: &ExactShape) -> f64 {
        match (&self.region, &other.region) {
            (Region::HalfSpace { .. }, Region::HalfSpace { .. }) => f64::NEG_INFINITY,
            (Region::HalfSpace { normal, offset }, Region::Hull { corners, radius })
            | (Region::Hull { corners, radius }, Region::HalfSpace { normal, offset }) => {
                let lowest = corners.iter().map(|corner| normal.dot(*corner)).fold(f64::INFINITY, f64::min);
                offset - (lowest - radius)
            }
            (Region::Hull { corners: a, radius: r }, Region::Hull { corners: b, radius: s }) => {
                r + s - distance(a, b)
            }
        }
    }

    /// The corners of a box that holds the shape, grown by some units in the last place. `None` for a half-space.
    pub(crate) fn bounds(&self) -> Option<[Vec2; 2]> {
        let Region::Hull { corners, radius } = &self.region else { return None };
        let (lower, upper) =
            corners.iter().fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(lower, upper), &corner| {
                (lower.min(corner), upper.max(corner))
            });
        let radius = radius + 1.0e-6 * (radius + lower.abs().max(upper.abs()).max_element());
        Some([(lower - radius).as_vec2(), (upper + radius).as_vec2()])
    }

    /// A bound for the rounding of the engine's tests of this shape: some units in the last place of its coordinates.
    pub(crate) fn rounding(&self) -> f64 {
        let size = match &self.region {
            Region::HalfSpace { offset, .. } => offset.abs(),
            Region::Hull { corners, radius } => {
                corners.iter().map(|corner| corner.abs().max_element()).fold(*radius, f64::max)
            }
        };
        1.0e-4 + 4.0e-6 * size
    }
}

/// The distance between two convex polygons. If they overlap: minus the shortest way that separates them.
fn distance(a: &[DVec2], b: &[DVec2]) -> f64 {
    let gap = |axis: DVec2| {
        let reach =
            |corners: &[DVec2]| corners.iter().map(|c| axis.dot(*c)).fold(f64::NEG_INFINITY, f64::max);
        let least = |corners: &[DVec2]| corners.iter().map(|c| axis.dot(*c)).fold(f64::INFINITY, f64::min);
        least(b) - reach(a)
    };
    // The normals of all edges; for a polygon that is a segment, also its own direction.
    let mut widest = f64::NEG_INFINITY;
    for (corners, sign) in [(a, 1.0), (b, -1.0)] {
        let n = corners.len();
        let edges = (0..n).map(|i| corners[(i + 1) % n] - corners[i]);
        for edge in edges.filter(|edge| edge.length_squared() > 0.0) {
            let outward = sign * DVec2::new(edge.y, -edge.x).normalize();
            widest = widest.max(gap(outward));
            if corners.len() == 2 {
                widest = widest.max(gap(edge.normalize()));
            }
        }
    }
    if widest <= 0.0 && widest > f64::NEG_INFINITY {
        return widest;
    }
    let from = |points: &[DVec2], corners: &[DVec2]| {
        let n = corners.len();
        let mut least = f64::INFINITY;
        for point in points {
            for i in 0..n {
                let (start, way) = (corners[i], corners[(i + 1) % n] - corners[i]);
                let along = (*point - start).dot(way) / way.length_squared();
                let along = if along.is_finite() { along.clamp(0.0, 1.0) } else { 0.0 };
                least = least.min(point.distance(start + along * way));
            }
        }
        least
    };
    from(a, b).min(from(b, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hull(corners: &[(f64, f64)], radius: f64) -> ExactShape {
        let corners = corners.iter().map(|&corner| corner.into()).collect();
        ExactShape { part: NO_PART, region: Region::Hull { corners, radius } }
    }

    /// Depths for cases in which the depth is obvious: discs, boxes, crossing and collinear segments, a half-space.
    #[test]
    fn depths_are_those_of_plain_cases() {
        let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let unit = hull(&square, 0.0);
        let disc = |x: f64, y: f64, radius: f64| hull(&[(x, y)], radius);
        let floor =
            ExactShape { part: NO_PART, region: Region::HalfSpace { normal: DVec2::Y, offset: -0.5 } };
        let cases = [
            (&unit, disc(1.5, 0.0, 0.75), 0.25),
            (&unit, disc(4.0, 5.0, 1.0), -4.0),
            (&unit, disc(0.0, 0.5, 0.0), 0.5),
            (&unit, hull(&square, 0.0), 2.0),
            (&unit, hull(&[(1.5, -9.0), (1.5, 9.0)], 0.0), -0.5),
            (&unit, hull(&[(0.5, -9.0), (0.5, 9.0)], 0.25), 0.75),
            (&unit, floor, 0.5),
        ];
        for (index, (a, b, depth)) in cases.iter().enumerate() {
            assert!((a.depth(b) - depth).abs() < 1e-12, "case {index}: {}", a.depth(b));
            assert!((b.depth(a) - depth).abs() < 1e-12, "case {index} swapped: {}", b.depth(a));
        }
        let (flat, next) = (hull(&[(0.0, 0.0), (1.0, 0.0)], 0.0), hull(&[(1.5, 0.0), (2.0, 0.0)], 0.0));
        assert!((flat.depth(&next) + 0.5).abs() < 1e-12);
        assert!((disc(0.0, 0.0, 1.0).depth(&disc(0.0, 0.0, 2.0)) - 3.0).abs() < 1e-12);
    }
}
