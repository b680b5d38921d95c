//! Convex polygons of up to eight vertices: their order, and which points are refused.

use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::error::{Error, check_range, check_vec};
use crate::geometry::outline::{MassProperties, Outline};
use crate::geometry::shape::Shape;
use glam::{DVec2, Vec2};

const FIELD: &str = "shape.polygon.vertices";

/// A convex polygon, counter-clockwise, with its centroid at the origin. It is rounded if it has a radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polygon {
    vertices: [Vec2; Self::MAX_VERTICES],
    count: u8,
    radius: f32,
}

impl Stored for Polygon {
    fn write(&self, to: &mut Writer<'_>) {
        self.count.write(to);
        self.radius.write(to);
        self.vertices().iter().for_each(|vertex| vertex.write(to));
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.count.read(from)?;
        require!(
            (3..=Self::MAX_VERTICES).contains(&usize::from(self.count)),
            "a polygon of {} vertices",
            self.count
        );
        self.radius.read(from)?;
        self.vertices = [Vec2::ZERO; Self::MAX_VERTICES];
        self.vertices[..usize::from(self.count)].iter_mut().try_for_each(|vertex| vertex.read(from))?;
        let finite = self.vertices().iter().all(|vertex| vertex.is_finite()) && self.radius.is_finite();
        require!(finite, "a polygon whose vertices are no numbers");
        Ok(())
    }

    fn blank() -> Polygon {
        Polygon { vertices: [Vec2::ZERO; Self::MAX_VERTICES], count: 0, radius: 0.0 }
    }
}

impl Polygon {
    /// The largest number of vertices.
    pub const MAX_VERTICES: usize = 8;

    /// Returns the polygon with these corners, given in any order, m, and its centroid in the coordinates of `points`. The
    /// polygon itself is re-centred: a body's position is its centroid.
    ///
    /// # Errors
    ///
    /// Fewer than 3 or more than 8 points; a point that is not finite, occurs twice, lies inside the convex hull of the others
    /// (the polygon would not be convex) or on an edge of it; two points nearer than [`Shape::MIN_EXTENT`].
    pub fn new(points: &[Vec2]) -> Result<(Polygon, Vec2), Error> {
        Self::rounded(points, 0.0)
    }

    /// Returns the polygon of [`Polygon::new`] with all edges moved outwards by `radius`, m, and corners rounded with it.
    ///
    /// # Errors
    ///
    /// Those of [`Polygon::new`]; a radius that is negative or larger than [`Shape::MAX_EXTENT`].
    pub fn rounded(points: &[Vec2], radius: f32) -> Result<(Polygon, Vec2), Error> {
        check_range("shape.polygon.radius", radius, 0.0, Shape::MAX_EXTENT)?;
        if points.len() < 3 {
            return Err(Error::Invalid { field: FIELD, reason: "a polygon needs at least 3 vertices" });
        }
        if points.len() > Self::MAX_VERTICES {
            return Err(Error::Invalid { field: FIELD, reason: "a polygon has at most 8 vertices" });
        }
        for &point in points {
            check_vec(FIELD, point, Shape::MAX_EXTENT)?;
        }
        let order = hull_order(points)?;
        let mut polygon = Polygon { vertices: [Vec2::ZERO; 8], count: points.len() as u8, radius };
        for (vertex, &index) in polygon.vertices.iter_mut().zip(&order) {
            *vertex = points[index];
        }
        let MassProperties { area, centroid, .. } = Outline::of_polygon(&polygon).mass_properties();
        // The largest move of a polygon's centroid by the rounding of coordinates to f32. A polygon that is centred to
        // within this distance stays as it is, so that a polygon that was written and read back is the same, bit for
        // bit.
        let corners = polygon.vertices().iter();
        let reach = corners.map(|vertex| vertex.as_dvec2().distance(centroid)).fold(0.0, f64::max);
        let rounding = f64::from(f32::EPSILON) * reach * (2.0 + 8.0 * reach * reach / area);
        let moved = if centroid.length() <= rounding { DVec2::ZERO } else { centroid };
        for vertex in &mut polygon.vertices[..points.len()] {
            *vertex = (vertex.as_dvec2() - moved).as_vec2();
        }
        // Far from the origin the corners of a very thin polygon can be nearer to a line than the precision of their
        // coordinates. Their order is then a guess. It must be the same about the centroid.
        let on_line = |k: usize| {
            Err(Error::Vertex {
                field: FIELD,
                index: order[k],
                reason: "lies on the line between two others",
            })
        };
        match hull_order(polygon.vertices()) {
            Ok(again) => match (0..points.len()).find(|&k| again[k] != k) {
                Some(k) => on_line(k),
                None => Ok((polygon, moved.as_vec2())),
            },
            Err(Error::Vertex { index, .. }) => on_line(index),
            Err(other) => Err(other),
        }
    }

    /// Returns a regular polygon of `count` vertices at distance `circumradius` from its centre, m. The first vertex is to the
    /// right of the centre.
    ///
    /// # Errors
    ///
    /// Those of [`Polygon::new`].
    pub fn regular(count: usize, circumradius: f32) -> Result<Polygon, Error> {
        let corner = |index: usize| {
            let (sin, cos) = (index as f64 * std::f64::consts::TAU / count as f64).sin_cos();
            (f64::from(circumradius) * DVec2::new(cos, sin)).as_vec2()
        };
        let points: Vec<Vec2> = (0..count.min(Self::MAX_VERTICES + 1)).map(corner).collect();
        Ok(Self::new(&points)?.0)
    }

    /// The corners relative to the centroid, counter-clockwise, without the rounding, m.
    pub fn vertices(&self) -> &[Vec2] {
        &self.vertices[..usize::from(self.count)]
    }

    /// The radius of the rounding, m.
    pub fn radius(&self) -> f32 {
        self.radius
    }
}

/// The error of a vertex.
fn refuse<T>(index: usize, reason: &'static str) -> Result<T, Error> {
    Err(Error::Vertex { field: FIELD, index, reason })
}

/// The indices of the points in counter-clockwise order, beginning with the first point given.
fn hull_order(points: &[Vec2]) -> Result<Vec<usize>, Error> {
    for (index, &point) in points.iter().enumerate() {
        let near = |other: &Vec2| other.distance(point) < Shape::MIN_EXTENT;
        if points[..index].contains(&point) {
            return refuse(index, "the same point occurs twice");
        }
        if points[..index].iter().any(near) {
            return refuse(index, "nearer to another vertex than 0.0001 m");
        }
    }
    let extent = points.iter().fold(0.0f32, |most, point| most.max(point.distance(points[0])));
    // The largest bend of a straight line by the rounding of coordinates to f32, m.
    let straight = f64::from(extent.max(points[0].length()) * 4.0 * f32::EPSILON).max(1.0e-6);
    let mut order = hull_of(points, straight);
    if order.len() < 3 {
        return Err(Error::Invalid { field: FIELD, reason: "all vertices lie on a line" });
    }
    check_corners(points, &order, straight)?;
    let start = order.iter().position(|&index| index == 0).expect("all points are corners");
    order.rotate_left(start);
    Ok(order)
}

/// The distance of point c to the left of the line from a to b, m.
fn left(points: &[Vec2], [a, b, c]: [usize; 3]) -> f64 {
    let [a, b, c] = [a, b, c].map(|index| points[index].as_dvec2());
    let edge = b - a;
    edge.perp_dot(c - a) / edge.length()
}

/// The corners of the convex hull, counter-clockwise: the hull is wrapped around the points, beginning at the leftmost.
fn hull_of(points: &[Vec2], straight: f64) -> Vec<usize> {
    let at = |index: usize| points[index].as_dvec2();
    let first = (0..points.len()).min_by(|&a, &b| {
        let key = |index: usize| (points[index].x, points[index].y);
        key(a).partial_cmp(&key(b)).expect("finite coordinates")
    });
    let first = first.expect("at least three points");
    let mut order: Vec<usize> = vec![first];
    while order.len() <= points.len() {
        let last = order[order.len() - 1];
        let others = (0..points.len()).filter(|&index| index != last);
        // The next corner is the point such that no other lies to the right of the line to it. If several are in line, it is
        // the furthest.
        let next = others.reduce(|best, index| {
            let side = left(points, [last, best, index]);
            let further = at(index).distance(at(last)) > at(best).distance(at(last));
            if side < -straight || (side <= straight && further) { index } else { best }
        });
        let next = next.expect("at least three points");
        if next == first {
            break;
        }
        order.push(next);
    }
    order
}

/// Checks that every point is a corner of the hull.
fn check_corners(points: &[Vec2], order: &[usize], straight: f64) -> Result<(), Error> {
    for index in 0..points.len() {
        if order.contains(&index) {
            continue;
        }
        let edges = (0..order.len()).map(|k| (order[k], order[(k + 1) % order.len()]));
        let on_edge = edges.into_iter().any(|(a, b)| left(points, [a, b, index]) <= straight);
        return if on_edge {
            refuse(index, "lies on the line between two others")
        } else {
            refuse(index, "the polygon is not convex: the vertex lies inside the hull of the others")
        };
    }
    // Corners within `straight` of a line may bend either way.
    for k in 0..order.len() {
        let corner = order[(k + 1) % order.len()];
        if left(points, [order[k], corner, order[(k + 2) % order.len()]]) <= 0.0 {
            return refuse(corner, "lies on the line between two others");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reason(points: &[[f32; 2]]) -> String {
        let points: Vec<Vec2> = points.iter().map(|&point| point.into()).collect();
        Polygon::new(&points).expect_err("a bad polygon").to_string()
    }

    /// Contract: points that are not a convex polygon are refused, with the vertex and the reason.
    #[test]
    fn bad_polygons_are_refused() {
        assert!(reason(&[]).contains("at least 3"));
        assert!(reason(&[[0.0, 0.0], [1.0, 0.0]]).contains("at least 3"));
        assert!(reason(&[[0.0; 2]; 9]).contains("at most 8"));
        assert!(reason(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]).contains("line"));
        assert!(reason(&[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [-3.0, -3.0]]).contains("line"));
        assert!(reason(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]).contains("[3]: the same point"));
        assert!(reason(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0e-5]]).contains("[3]: nearer"));
        assert!(
            reason(&[[0.0, 0.0], [4.0, 0.0], [1.0, 1.0], [0.0, 4.0]]).contains("[2]: the polygon is not")
        );
        assert!(reason(&[[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 2.0]]).contains("[2]: lies on the line"));
        assert!(reason(&[[0.0, 0.0], [f32::NAN, 0.0], [0.0, 2.0]]).contains("NaN"));
        assert!(reason(&[[0.0, 0.0], [f32::INFINITY, 0.0], [0.0, 2.0]]).contains("inf"));
    }

    proptest! {
        /// Contract: points on a circle in any order give a counter-clockwise convex polygon about its centroid.
        #[test]
        fn corners_of_a_convex_polygon_in_any_order(
            angles in proptest::collection::btree_set(0u32..100, 3..=8),
            shuffle in any::<prop::sample::Index>(),
            centre in (-50.0f32..50.0, -50.0f32..50.0),
        ) {
            let mut points: Vec<Vec2> = angles
                .iter()
                .map(|&step| Vec2::from(centre) + 2.0 * Vec2::from_angle(step as f32 * 0.06283))
                .collect();
            let n = points.len();
            points.swap(0, shuffle.index(n));
            points.rotate_left(shuffle.index(n));
            let (polygon, centroid) = Polygon::new(&points).expect("a convex polygon");
            let v = polygon.vertices();
            for i in 0..n {
                let (a, b, c) = (v[i], v[(i + 1) % n], v[(i + 2) % n]);
                prop_assert!((b - a).perp_dot(c - b) > 0.0);
                let back = v[i] + centroid;
                prop_assert!(points.iter().any(|point| point.distance(back) < 1.0e-4));
            }
            let again = Outline::of_polygon(&polygon).mass_properties().centroid;
            prop_assert!(again.length() < 1.0e-5);
            let (same, at) = Polygon::new(v).expect("a polygon's own vertices");
            prop_assert_eq!((same, at), (polygon, Vec2::ZERO));
        }

        /// Contract: a polygon's own vertices give the same polygon to the bit. This holds for rounded and distant polygons, and
        /// for slivers, in which the rounding of coordinates moves the centroid far.
        #[test]
        fn own_vertices_give_the_same_polygon(
            angles in proptest::collection::btree_set(0u32..100, 3..=8),
            flat in prop_oneof![Just(1.0f32), 1.0e-4f32..0.01],
            turned in 0.0f32..6.3,
            radius in prop_oneof![Just(0.0f32), 0.0f32..0.5],
            centre in (-5000.0f32..5000.0, -50.0f32..50.0),
        ) {
            let points: Vec<Vec2> = angles
                .iter()
                .map(|&step| Vec2::from_angle(step as f32 * 0.06283) * Vec2::new(2.0, 2.0 * flat))
                .map(|corner| Vec2::from(centre) + Vec2::from_angle(turned).rotate(corner))
                .collect();
            if let Ok((polygon, _)) = Polygon::rounded(&points, radius)
                && let Ok((same, at)) = Polygon::rounded(polygon.vertices(), radius)
            {
                prop_assert_eq!((same, at), (polygon, Vec2::ZERO));
            }
        }
    }
}
