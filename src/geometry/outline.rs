//! Outlines: every shape except a half-space as a convex polygon of one to eight vertices with a rounding radius.
//!
//! A circle is a point with a radius, a segment two points, a capsule two points with a radius. Properties that follow
//! from the outline alone (area, centroid, moment of inertia, extents) are computed here, once for all shapes. The
//! narrowphase reads outlines from the rows of [`Outlines`].

use crate::base::codec::{Flaw, Read, Reader, Stored, Writer, require};
use crate::base::interner::{Interner, put};
use crate::geometry::polygon::Polygon;
use crate::geometry::shape::{Shape, ShapeKind};
use crate::lane::Row;
use glam::{DVec2, Vec2};

/// The largest number of vertices of an outline.
pub(crate) const MAX_VERTICES: usize = Polygon::MAX_VERTICES;

/// A convex polygon, counter-clockwise, with rounded corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outline {
    pub vertices: [Vec2; MAX_VERTICES],
    pub count: usize,
    pub radius: f32,
}

/// The area, centroid and moment of inertia of a shape of density 1, in f64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MassProperties {
    /// The area, m².
    pub area: f64,
    pub centroid: DVec2,
    /// Second moment of area about the centroid, m⁴.
    pub inertia: f64,
}

impl MassProperties {
    /// Those of a disc about the origin, its radius in m.
    pub(crate) fn of_disc(radius: f64) -> MassProperties {
        let area = std::f64::consts::PI * radius * radius;
        MassProperties { area, centroid: DVec2::ZERO, inertia: 0.5 * area * radius * radius }
    }
}

impl Outline {
    fn new(vertices: &[Vec2], radius: f32) -> Outline {
        let mut outline = Outline { vertices: [Vec2::ZERO; MAX_VERTICES], count: vertices.len(), radius };
        outline.vertices[..vertices.len()].copy_from_slice(vertices);
        outline
    }

    pub(crate) fn of_polygon(polygon: &Polygon) -> Outline {
        Outline::new(polygon.vertices(), polygon.radius())
    }

    /// The outline of a shape. `None` for a half-space, which has none.
    pub(crate) fn of(shape: &Shape) -> Option<Outline> {
        Some(match shape {
            Shape::Circle { radius } | Shape::Particle { radius } => Outline::new(&[Vec2::ZERO], *radius),
            Shape::Aabb { half_extents } | Shape::Box { half_extents } => {
                let Vec2 { x, y } = *half_extents;
                let corners = [Vec2::new(-x, -y), Vec2::new(x, -y), Vec2::new(x, y), Vec2::new(-x, y)];
                Outline::new(&corners, 0.0)
            }
            Shape::Capsule { half_length, radius } => {
                Outline::new(&[Vec2::new(-half_length, 0.0), Vec2::new(*half_length, 0.0)], *radius)
            }
            Shape::Segment { half_length } | Shape::ChainSegment { half_length, .. } => {
                Outline::new(&[Vec2::new(-half_length, 0.0), Vec2::new(*half_length, 0.0)], 0.0)
            }
            Shape::Polygon(polygon) => Outline::of_polygon(polygon),
            Shape::HalfSpace { .. } => return None,
        })
    }

    pub(crate) fn vertices(&self) -> &[Vec2] {
        &self.vertices[..self.count]
    }

    /// Outward unit normal of the edge from vertex `i` to the next. Zero for a point.
    pub(crate) fn normal(&self, i: usize) -> Vec2 {
        let edge = (self.vertices[(i + 1) % self.count] - self.vertices[i]).as_dvec2();
        DVec2::new(edge.y, -edge.x).normalize_or_zero().as_vec2()
    }

    /// Half extents of the smallest axis-aligned box about the origin that holds the unrounded outline.
    pub(crate) fn half_extents(&self) -> Vec2 {
        self.vertices().iter().fold(Vec2::ZERO, |most, vertex| most.max(vertex.abs()))
    }

    /// Distance from the origin to the furthest vertex, plus the rounding radius.
    pub(crate) fn reach(&self) -> f32 {
        self.vertices().iter().fold(0.0f32, |most, vertex| most.max(vertex.length())) + self.radius
    }

    /// Distance from the origin to the nearest edge, plus the rounding radius.
    pub(crate) fn thickness(&self) -> f32 {
        let to_edge = |i: usize| self.normal(i).dot(self.vertices[i]);
        (0..self.count).map(to_edge).fold(f32::MAX, f32::min).max(0.0) + self.radius
    }

    /// The exact area, centroid and second moment of area. The polygon is summed over triangles from one vertex. The
    /// rounding is summed over a rectangle along each edge and a sector at each vertex.
    pub(crate) fn mass_properties(&self) -> MassProperties {
        let (n, r) = (self.count, f64::from(self.radius));
        // Sums are taken relative to the first vertex: far from the origin they would be inexact.
        let origin = self.vertices[0].as_dvec2();
        if n == 1 {
            return MassProperties { centroid: origin, ..MassProperties::of_disc(r) };
        }
        let around = |i: usize| if i < n { i } else { i - n };
        let vertex = |i: usize| self.vertices[around(i)].as_dvec2() - origin;
        let (mut area, mut first, mut second) = (0.0, DVec2::ZERO, 0.0);
        let mut add = |part: f64, centroid: DVec2, about_centroid: f64| {
            area += part;
            first += part * centroid;
            second += about_centroid + part * centroid.length_squared();
        };
        for i in 0..n {
            let (a, b) = (vertex(i), vertex(i + 1));
            let triangle = 0.5 * a.perp_dot(b);
            let centroid = (a + b) / 3.0;
            // The triangle's second moment about its vertex at the origin.
            let about_origin = triangle / 6.0 * (a.length_squared() + a.dot(b) + b.length_squared());
            add(triangle, centroid, about_origin - triangle * centroid.length_squared());
        }
        if r > 0.0 {
            let direction = |i: usize| (vertex(i + 1) - vertex(i)).normalize_or_zero();
            for i in 0..n {
                let length = vertex(i + 1).distance(vertex(i));
                let edge = direction(i);
                let outward = DVec2::new(edge.y, -edge.x);
                let middle = 0.5 * (vertex(i) + vertex(i + 1)) + 0.5 * r * outward;
                let strip = length * r;
                add(strip, middle, strip * (length * length + r * r) / 12.0);

                let before = direction(i + n - 1);
                let turn = match n {
                    2 => std::f64::consts::PI,
                    _ => before.perp_dot(edge).atan2(before.dot(edge)),
                };
                let bisector = match n {
                    2 => -edge,
                    _ => (DVec2::new(before.y, -before.x) + outward).normalize_or_zero(),
                };
                let sector = 0.5 * turn * r * r;
                let distance = 4.0 * r * (0.5 * turn).sin() / (3.0 * turn);
                let about_apex = 0.5 * sector * r * r;
                add(sector, vertex(i) + distance * bisector, about_apex - sector * distance * distance);
            }
        }
        let centroid = if area > 0.0 { first / area } else { DVec2::ZERO };
        let inertia = (second - area * centroid.length_squared()).max(0.0);
        MassProperties { area, centroid: origin + centroid, inertia }
    }

    /// The outline as rows, in the layout of [`Outlines`].
    pub(crate) fn rows(&self, neighbours: [f32; 4]) -> [Row; OUTLINE_ROWS] {
        let half = self.half_extents();
        let mut rows = [Row::default(); OUTLINE_ROWS];
        rows[0] = Row([half.x, half.y, self.radius, self.count as f32]);
        rows[NEIGHBOUR_ROW] = Row(neighbours);
        // Places behind the last vertex repeat the first vertex and its edge, so that they win no comparison.
        let around = |i: usize| if i < self.count { i } else { 0 };
        for pair in 0..MAX_VERTICES / 2 {
            let [a, b] = [2 * pair, 2 * pair + 1].map(|i| self.vertices[around(i)]);
            rows[VERTEX_ROWS + pair] = Row([a.x, a.y, b.x, b.y]);
            let [a, b] = [2 * pair, 2 * pair + 1].map(|i| self.normal(around(i)));
            rows[NORMAL_ROWS + pair] = Row([a.x, a.y, b.x, b.y]);
        }
        rows
    }

    /// Returns true if the outline, turned to the direction `turn`, overlaps or touches a box. The box is finite and may
    /// be a point.
    ///
    /// The unrounded outline and the box are convex. They are apart if and only if an axis of the box or the normal of an
    /// edge separates them. If they are apart, the nearest points are a corner of one and a point on a side of the other.
    pub(crate) fn overlaps_box(&self, turn: DVec2, lower: DVec2, upper: DVec2) -> bool {
        let mut vertices = [DVec2::ZERO; MAX_VERTICES];
        for (turned, vertex) in vertices.iter_mut().zip(self.vertices()) {
            *turned = turn.rotate(vertex.as_dvec2());
        }
        let vertices = &vertices[..self.count];
        let corners = [lower, DVec2::new(upper.x, lower.y), upper, DVec2::new(lower.x, upper.y)];
        let least = vertices.iter().copied().fold(vertices[0], DVec2::min);
        let most = vertices.iter().copied().fold(vertices[0], DVec2::max);
        let edges = || (0..self.count).map(|i| (vertices[i], vertices[(i + 1) % self.count]));
        let beyond = |(a, b): (DVec2, DVec2)| {
            let outside = |point: DVec2| (b - a).perp_dot(point - a) < 0.0;
            // A segment has two edges, there and back. So each side of it is outside one of them.
            self.count > 1 && corners.into_iter().all(outside)
        };
        if least.cmple(upper).all() && most.cmpge(lower).all() && !edges().any(beyond) {
            return true;
        }
        let radius = f64::from(self.radius);
        let near = |a: DVec2, b: DVec2| a.distance_squared(b) <= radius * radius;
        radius > 0.0
            && (vertices.iter().any(|&vertex| near(vertex, vertex.clamp(lower, upper)))
                || edges()
                    .any(|(a, b)| corners.into_iter().any(|corner| near(corner, nearest(a, b, corner)))))
    }

    /// Half extents of the smallest axis-aligned box about the origin that holds the outline, turned by (sin, cos) and moved
    /// by `offset`.
    pub(crate) fn bounds(&self, (sin, cos): (f32, f32), offset: Vec2) -> Vec2 {
        let turned = self.vertices().iter().map(|v| offset + Vec2::new(cos, sin).rotate(*v));
        turned.fold(Vec2::ZERO, |most, vertex| most.max(vertex.abs())) + self.radius
    }
}

/// The point of the segment from `a` to `b` that is nearest to `to`.
fn nearest(a: DVec2, b: DVec2, to: DVec2) -> DVec2 {
    let along = (b - a).length_squared();
    let t = if along > 0.0 { ((to - a).dot(b - a) / along).clamp(0.0, 1.0) } else { 0.0 };
    a + t * (b - a)
}

/// The number of rows of one outline. [`Outlines`] shows their layout.
pub(crate) const OUTLINE_ROWS: usize = 2 + MAX_VERTICES;
/// The row of the neighbours of a chain's segment, among an outline's rows.
pub(crate) const NEIGHBOUR_ROW: usize = 1;
/// The first row of vertices, among an outline's rows.
pub(crate) const VERTEX_ROWS: usize = 2;
/// The first row of normals, among an outline's rows.
pub(crate) const NORMAL_ROWS: usize = VERTEX_ROWS + MAX_VERTICES / 2;

/// The key by which outlines differ: bits of vertex count, kind, radius, vertices and a chain's neighbours.
type Key = [u32; 3 + 2 * MAX_VERTICES + 4];

fn key(shape: &Shape, outline: &Outline) -> Key {
    let mut key = [0; 3 + 2 * MAX_VERTICES + 4];
    let head = [outline.count as f32, f32::from(shape.kind() as u8), outline.radius];
    let vertices = outline.vertices.into_iter().flat_map(|vertex| [vertex.x, vertex.y]);
    let values = head.into_iter().chain(vertices).chain(shape.chain_directions());
    for (word, value) in key.iter_mut().zip(values) {
        *word = value.to_bits();
    }
    key
}

/// The distinct outlines of a world, as rows that the narrowphase gathers:
///
/// ```text
/// [half_x, half_y, radius, count]      half extents of the unrounded outline
/// [before, after]                      directions of the neighbours of a chain's segment
/// [x0, y0, x1, y1] × 4                 vertices; after the last one comes the first again
/// [x0, y0, x1, y1] × 4                 normals of the edges that begin at these vertices
/// ```
///
/// Number 0 is a point. It stands for shapes without an outline, because every lane of a kernel reads an outline.
pub(crate) struct Outlines {
    pub(crate) rows: Vec<Row>,
    /// The first row of each outline once more: half extents are read for all bodies in each step, and for all pairs of a new list.
    /// (Where each body has an outline of its own, the rows are in no cache: 20,000 boxes in a pit took 5 % longer by mean, and while they
    /// fell 6 %: `docs/performance.md`.)
    sizes: Vec<Row>,
    shapes: Vec<Shape>,
    outlines: Vec<Outline>,
    numbers: Interner<Key>,
    /// True if there ever was an outline of a shape other than a box, an `Aabb` or a particle.
    pub(crate) any_hull: bool,
}

impl Default for Outlines {
    fn default() -> Self {
        let mut outlines = Outlines {
            rows: Vec::new(),
            sizes: Vec::new(),
            shapes: Vec::new(),
            outlines: Vec::new(),
            numbers: Interner::default(),
            any_hull: false,
        };
        outlines.acquire(&Shape::particle(0.0));
        outlines
    }
}

impl Outlines {
    /// Adds a user to a shape's outline and returns its number. Equal shapes share one outline. See [`Outlines::release`].
    ///
    /// # Panics
    ///
    /// For a half-space, which has no outline.
    pub(crate) fn acquire(&mut self, shape: &Shape) -> u32 {
        let outline = Outline::of(shape).expect("a shape that has an outline");
        let (number, new) = self.numbers.acquire(key(shape, &outline));
        if new {
            self.any_hull |=
                !matches!(shape, Shape::Box { .. } | Shape::Aabb { .. } | Shape::Particle { .. });
            put(&mut self.shapes, number, *shape);
            put(&mut self.outlines, number, outline);
            let rows = outline.rows(shape.chain_directions());
            put(&mut self.sizes, number, rows[0]);
            match self.rows.get_mut(Self::first_row(number) as usize..) {
                Some(place) if !place.is_empty() => place[..OUTLINE_ROWS].copy_from_slice(&rows),
                _ => self.rows.extend(rows),
            }
        }
        number
    }

    /// Adds a user to an outline that is in use, if it is that of this shape. Returns false if it is not.
    pub(crate) fn acquire_known(&mut self, number: u32, shape: &Shape) -> bool {
        self.shapes.get(number as usize) == Some(shape) && self.numbers.acquire_known(number)
    }

    /// Takes a user off an outline. The rows of an unused outline stay until the next new outline takes them. Until the
    /// next pair list, blocks of ended contacts still name these rows, although no sweep solves these blocks.
    pub(crate) fn release(&mut self, number: u32) {
        self.numbers.release(number);
    }

    pub(crate) fn write(&self, to: &mut Writer<'_>) {
        self.shapes.write(to);
        self.any_hull.write(to);
        self.numbers.free().write(to);
    }

    /// Reads the shapes. The numbers without users are returned, and have to be given to [`Outlines::count`].
    pub(crate) fn read(&mut self, from: &mut Reader<'_>) -> Result<Vec<u32>, Flaw> {
        self.shapes.read(from)?;
        self.any_hull.read(from)?;
        self.outlines.clear();
        self.rows.clear();
        self.sizes.clear();
        for shape in &self.shapes {
            shape.validate().or_else(|error| match shape {
                // Number 0 is a point.
                Shape::Particle { radius: 0.0 } => Ok(()),
                _ => Err(Flaw(error.to_string())),
            })?;
            let outline = Outline::of(shape).ok_or_else(|| Flaw("a half-space has an outline".into()))?;
            let rows = outline.rows(shape.chain_directions());
            self.sizes.push(rows[0]);
            self.rows.extend(rows);
            self.outlines.push(outline);
        }
        require!(!self.shapes.is_empty(), "the outline of a point is missing");
        from.value()
    }

    /// Ends reading. Each number has so many users.
    pub(crate) fn count(&mut self, users: Vec<usize>, free: Vec<u32>) -> Read {
        let keys = self.shapes.iter().zip(&self.outlines).map(|(shape, outline)| key(shape, outline));
        self.numbers.restore(keys, users, free)
    }

    /// The number of outlines for which there is room, and the number in use.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.numbers.len(), self.numbers.used()]
    }

    /// The number of outlines, those without users included.
    pub(crate) fn len(&self) -> usize {
        self.shapes.len()
    }

    pub(crate) fn shape(&self, id: u32) -> Shape {
        self.shapes[id as usize]
    }

    /// The shape with this number. `None` if there is no such number or if some of its rows are missing.
    pub(crate) fn shape_of(&self, id: u32) -> Option<Shape> {
        let shape = self.shapes.get(id as usize).copied();
        shape.filter(|_| Self::first_row(id) as usize + OUTLINE_ROWS <= self.rows.len())
    }

    pub(crate) fn outline(&self, id: u32) -> &Outline {
        &self.outlines[id as usize]
    }

    /// An outline's rows.
    pub(crate) fn rows_of(&self, id: u32) -> &[Row] {
        &self.rows[Self::first_row(id) as usize..][..OUTLINE_ROWS]
    }

    /// Half extents of the unrounded outline in its own axes, the rounding radius and the number of vertices: its first row.
    #[inline]
    pub(crate) fn size(&self, id: u32) -> [f32; 4] {
        self.sizes[id as usize].0
    }

    /// Half extents of the smallest box about the centre, in the outline's own axes, with the rounding.
    pub(crate) fn half_extents(&self, id: u32) -> Vec2 {
        let [x, y, radius, _] = self.size(id);
        Vec2::new(x + radius, y + radius)
    }

    /// Half extents of the smallest axis-aligned box about the centre of a turned outline: see [`Outline::bounds`].
    pub(crate) fn bounds(&self, id: u32, kind: ShapeKind, (sin, cos): (f32, f32)) -> Vec2 {
        if kind == ShapeKind::Polygon {
            return self.outline(id).bounds((sin, cos), Vec2::ZERO);
        }
        // All vertices are at plus or minus the half extents. The opposite ones reach as far.
        let [x, y, radius, _] = self.size(id);
        let [one, two] = [Vec2::new(x, y), Vec2::new(-x, y)].map(|v| Vec2::new(cos, sin).rotate(v).abs());
        one.max(two) + radius
    }

    /// The rounding radius.
    pub(crate) fn rounding(&self, id: u32) -> f32 {
        let [_, _, radius, _] = self.size(id);
        radius
    }

    /// The first of an outline's rows.
    pub(crate) const fn first_row(id: u32) -> u32 {
        id * OUTLINE_ROWS as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Area, centroid and second moment, summed over small squares.
    fn by_squares(outline: &Outline, cells: usize) -> (f64, DVec2, f64) {
        let reach = f64::from(outline.reach()) * 1.01;
        let side = 2.0 * reach / cells as f64;
        let inside = |p: DVec2| {
            let n = outline.count;
            let v = |i: usize| outline.vertices[i % n].as_dvec2();
            let near = (0..n).any(|i| {
                let edge = v(i + 1) - v(i);
                let t = ((p - v(i)).dot(edge) / edge.length_squared().max(1e-30)).clamp(0.0, 1.0);
                p.distance(v(i) + t * edge) <= f64::from(outline.radius)
            });
            near || (n > 2 && (0..n).all(|i| (v(i + 1) - v(i)).perp_dot(p - v(i)) >= 0.0))
        };
        let (mut count, mut first, mut second) = (0.0, DVec2::ZERO, 0.0);
        for i in 0..cells {
            for j in 0..cells {
                let p = DVec2::new(i as f64 + 0.5, j as f64 + 0.5) * side - DVec2::splat(reach);
                if inside(p) {
                    count += 1.0;
                    first += p;
                    second += p.length_squared();
                }
            }
        }
        let centroid = first / count;
        let area = count * side * side;
        (area, centroid, second * side * side - area * centroid.length_squared())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Contract: area, centroid and inertia of any outline equal the sums over small squares.
        #[test]
        fn mass_properties_equal_the_sum_of_squares(
            angles in proptest::collection::btree_set(0u32..24, 3..=8),
            kind in 0..4,
            radius in 0.0f32..0.8,
        ) {
            let points: Vec<Vec2> =
                angles.iter().map(|&step| Vec2::from_angle(step as f32 * 0.2618) * Vec2::new(1.5, 0.8)).collect();
            let shape = match kind {
                0 => Shape::circle(radius + 0.1),
                1 => Shape::capsule(radius + 0.2, 0.3),
                2 => Shape::oriented_box(0.7, 0.2 + radius),
                _ => Shape::Polygon(Polygon::rounded(&points, radius).expect("a convex polygon").0),
            };
            let outline = Outline::of(&shape).expect("an outline");
            let exact = outline.mass_properties();
            let (area, centroid, inertia) = by_squares(&outline, 500);
            prop_assert!((exact.area - area).abs() < 0.02 * area, "area {} {area}", exact.area);
            prop_assert!(exact.centroid.distance(centroid) < 0.01);
            prop_assert!((exact.inertia - inertia).abs() < 0.02 * inertia, "inertia {} {inertia}", exact.inertia);
        }
    }

    proptest! {
        /// Contract: sizes and bounds in the world's table are those of the outlines themselves, bit for bit, also where a number is used
        /// again.
        #[test]
        fn the_table_has_the_outlines_sizes(
            recipes in proptest::collection::vec((0..5, 0.01f32..3.0, 0.01f32..3.0, -3.2f32..3.2, any::<bool>()), 1..30),
        ) {
            let mut table = Outlines::default();
            for (kind, x, y, angle, released) in recipes {
                let corners = [Vec2::new(x, 0.0), Vec2::new(0.0, y), Vec2::new(-0.5 * x, -y)];
                let shape = match kind {
                    0 => Shape::capsule(x, y),
                    1 => Shape::oriented_box(x, y),
                    2 => Shape::segment(x),
                    3 => Shape::ChainSegment { half_length: x, before: None, after: Some(Vec2::new(2.0 * x, y)) },
                    _ => Shape::Polygon(Polygon::rounded(&corners, 0.1 * y).expect("a convex polygon").0),
                };
                let (id, outline) = (table.acquire(&shape), Outline::of(&shape).expect("an outline"));
                let turn = angle.sin_cos();
                prop_assert_eq!(Row(table.size(id)), outline.rows(shape.chain_directions())[0]);
                prop_assert_eq!(table.rows_of(id)[0], Row(table.size(id)));
                let [known, own] = [table.bounds(id, shape.kind(), turn), outline.bounds(turn, Vec2::ZERO)];
                prop_assert_eq!(known.to_array().map(f32::to_bits), own.to_array().map(f32::to_bits));
                if released {
                    table.release(id);
                }
            }
        }
    }
}
