//! Rays, gaps and touches of convex shapes in closed form, for queries. All in f64.
//!
//! A shape is a convex polygon of one to eight vertices, the *core*, and all points within a radius of it. Two such shapes A and B
//! overlap exactly if the origin is in the shape B − A, all differences of a point of B and a point of A: a convex polygon of at most
//! sixteen vertices, whose radius is the sum of both (H. Minkowski's sum of B and the mirrored A). So there are two questions only:
//!
//! ```text
//! the distance of A and B                   the gap between the origin and B − A
//! when A, moved along a line, meets B       the ray from the origin against B − A
//! a ray against B                           the same with B alone
//! ```
//!
//! Nothing is iterated, so an answer is as exact as the numbers are.

use crate::geometry::facets::{Corners, Meeting, cut, cut_lanes, meeting};
use crate::geometry::outline::{MAX_VERTICES, Outline};
use crate::isa::Level;
use crate::lane::with_lanes;
use glam::DVec2;

/// The most vertices of the difference of two shapes.
const MOST: usize = 2 * MAX_VERTICES;
/// Vertices that are behind the foremost one by no more than this part of the shapes' extent are on one edge.
const LEVEL: f64 = 1.0e-6;

/// A convex polygon, counter-clockwise, with rounded corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convex {
    vertices: [DVec2; MOST],
    count: usize,
    pub radius: f64,
    /// How far a ray may pass beyond the first and the last end of a segment and still meets it, m: see [`Convex::join`].
    slack: [f32; 2],
    /// The largest coordinate that it was made from, m: there f64 rounds.
    reach: f32,
}

/// A point that is nearer to an edge than this part of the edge's length is on it, for the direction of the shortest way out: what is
/// left of the way to so near a point is mostly rounding. By far less than `LEVEL`, so that the direction is still that of the edge.
const ON_EDGE: f64 = 1.0e-8;
/// The same as a part of the coordinates.
const ON_EDGE_FAR: f64 = 1.0e-9;
/// The same of a point beyond the end of an edge, as a part of both.
const ON_END: f64 = 1.0e-12;
/// What is further away than this part of the coordinates is on no edge, as no edge is longer than four of them.
const PERHAPS_ON_EDGE: f64 = 1.0e-7;
/// A ray that is nearer to the line of a segment than this part of their sizes is in it.
const IN_LINE: f64 = 1.0e-14;

/// Where a ray meets a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RayHit {
    /// As a part of the ray's way.
    pub fraction: f64,
    /// The unit normal of the shape's surface, outward.
    pub normal: DVec2,
}

/// The way from a shape to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointGap {
    /// Negative inside: then it is the shortest way out.
    pub distance: f64,
    /// The unit vector from the shape to the point; inside, that of the shortest way out.
    pub normal: DVec2,
}

/// The nearest points of two shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearestPoints {
    pub gap: PointGap,
    /// On the surface of the shape that the normal leaves.
    pub on_first: DVec2,
    pub on_second: DVec2,
}

impl Convex {
    /// A disc.
    #[inline]
    pub(crate) fn disc(centre: DVec2, radius: f64) -> Convex {
        let mut vertices = [DVec2::ZERO; MOST];
        vertices[0] = centre;
        let reach = centre.x.abs().max(centre.y.abs()) as f32;
        Convex { vertices, count: 1, radius, slack: [0.0; 2], reach }
    }

    /// An outline at a place, turned to the direction `turn`.
    pub(crate) fn placed(outline: &Outline, centre: DVec2, turn: DVec2) -> Convex {
        let mut vertices = [DVec2::ZERO; MOST];
        let mut reach = 0.0f64;
        for (placed, vertex) in vertices.iter_mut().zip(outline.vertices()) {
            *placed = centre + turn.rotate(vertex.as_dvec2());
            reach = reach.max(placed.x.abs()).max(placed.y.abs());
        }
        let (radius, reach) = (outline.radius.into(), reach as f32);
        Convex { vertices, count: outline.count, radius, slack: [0.0; 2], reach }
    }

    /// The edges with their outward normals. A segment has two edges, and two of no length at its ends.
    pub(crate) fn faces(&self) -> impl Iterator<Item = ([DVec2; 2], DVec2)> + '_ {
        let vertices = &self.vertices[..self.count];
        let edges = (0..self.count).map(|i| [vertices[i], vertices[(i + 1) % self.count]]);
        let sides =
            edges.clone().map(|[start, end]| ([start, end], -(end - start).normalize_or_zero().perp()));
        let is_segment = self.count == 2;
        let ends = edges.filter(move |_| is_segment);
        sides.chain(ends.map(|[start, end]| ([end; 2], (end - start).normalize_or_zero())))
    }

    /// Lets a ray that passes so far beyond an end of a segment of a chain meet it, too. Two segments of a chain do not end in exactly the
    /// same point: each has its place in single precision.
    pub(crate) fn join(&mut self, slack: [f32; 2]) {
        self.slack = slack;
    }

    fn core(&self) -> &[DVec2] {
        &self.vertices[..self.count]
    }

    /// The start and the direction of each edge: none of a point, two of a segment.
    fn edges(&self) -> impl Iterator<Item = (DVec2, DVec2)> + '_ {
        let (core, n) = (self.core(), self.count);
        (0..if n > 1 { n } else { 0 }).map(move |i| {
            let next = if i + 1 < n { i + 1 } else { 0 };
            (core[i], core[next] - core[i])
        })
    }

    /// The least and the largest place along a direction of length 1.
    pub(crate) fn span(&self, direction: DVec2) -> [f64; 2] {
        let places = self.core().iter().map(|vertex| vertex.dot(direction));
        let [low, high] = places
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], place| [low.min(place), high.max(place)]);
        [low - self.radius, high + self.radius]
    }

    /// The lower and the upper corner of the smallest box that holds the shape.
    pub(crate) fn bounds(&self) -> [DVec2; 2] {
        let first = self.vertices[0];
        let grow = |[lower, upper]: [DVec2; 2], &vertex: &DVec2| [lower.min(vertex), upper.max(vertex)];
        let [lower, upper] = self.core().iter().fold([first; 2], grow);
        [lower - self.radius, upper + self.radius]
    }

    /// Moves the shape.
    pub(crate) fn moved(mut self, by: DVec2) -> Convex {
        self.vertices[..self.count].iter_mut().for_each(|vertex| *vertex += by);
        self
    }

    /// All differences of a point of this shape and a point of `other`. Each has at most eight vertices.
    ///
    /// The edges of the difference are those of both shapes, in the order of their directions.
    pub(crate) fn minus(&self, other: &Convex) -> Convex {
        let (radius, reach) = (self.radius + other.radius, self.reach.max(other.reach));
        if other.count == 1 {
            return Convex { radius, reach, ..self.moved(-other.vertices[0]) };
        }
        let mut difference =
            Convex { vertices: [DVec2::ZERO; MOST], count: 0, radius, slack: self.slack, reach };
        // The lowest vertex, of several the leftmost: from there on, directions only turn left for a whole turn.
        let lowest = |convex: &Convex, sign: f64| {
            let mut best = 0;
            for (i, vertex) in convex.core().iter().enumerate() {
                let (at, than) = (sign * *vertex, sign * convex.vertices[best]);
                if at.y < than.y || (at.y == than.y && at.x < than.x) {
                    best = i;
                }
            }
            best
        };
        let (first, second) = (lowest(self, 1.0), lowest(other, -1.0));
        if first == 1 {
            difference.slack.reverse();
        }
        let edge = |convex: &Convex, sign: f64, at: usize| {
            let n = convex.count;
            sign * (convex.vertices[(at + 1) % n] - convex.vertices[at % n])
        };
        let mut at = self.vertices[first] - other.vertices[second];
        let edges_of = |convex: &Convex| if convex.count > 1 { convex.count } else { 0 };
        let (most_i, most_j) = (edges_of(self), edges_of(other));
        let (mut i, mut j) = (0, 0);
        while i < most_i || j < most_j {
            difference.vertices[difference.count] = at;
            difference.count += 1;
            let a = edge(self, 1.0, first + i);
            let b = edge(other, -1.0, second + j);
            let turn = match () {
                () if i == most_i => -1.0,
                () if j == most_j => 1.0,
                // One in the upper and one in the lower half of all directions: the upper one comes first.
                () if is_upper(a) != is_upper(b) => f64::from(i8::from(is_upper(a))) - 0.5,
                () => a.perp_dot(b),
            };
            if turn >= 0.0 {
                (at, i) = (at + a, i + 1);
            }
            if turn <= 0.0 {
                (at, j) = (at + b, j + 1);
            }
        }
        if difference.count == 0 {
            (difference.vertices[0], difference.count) = (at, 1);
        }
        difference
    }

    /// The distance from a disc. The same as that of a disc as a shape, in one line if this shape is a disc, too.
    #[inline]
    pub(crate) fn distance_to_disc(&self, centre: DVec2, radius: f64) -> f64 {
        if self.count == 1 {
            return (centre - self.vertices[0]).length() - (radius + self.radius);
        }
        Convex::disc(centre, radius).minus(self).gap(DVec2::ZERO).distance
    }

    /// The way from the shape to a point.
    pub(crate) fn gap(&self, point: DVec2) -> PointGap {
        let from_core = self.gap_of_core(point);
        PointGap { distance: from_core.distance - self.radius, ..from_core }
    }

    fn gap_of_core(&self, point: DVec2) -> PointGap {
        let mut inside = PointGap { distance: f64::NEG_INFINITY, normal: DVec2::X };
        for (start, edge) in self.edges() {
            let length = edge.length();
            if length > 0.0 {
                let normal = -edge.perp() / length;
                let distance = normal.dot(point - start);
                if distance > inside.distance {
                    inside = PointGap { distance, normal };
                }
            }
        }
        if self.count > 2 && inside.distance <= 0.0 {
            return inside;
        }
        let mut nearest = self.vertices[0];
        for (start, edge) in self.edges() {
            let square = edge.length_squared();
            let along = if square > 0.0 { ((point - start).dot(edge) / square).clamp(0.0, 1.0) } else { 0.0 };
            let candidate = start + along * edge;
            if candidate.distance_squared(point) < nearest.distance_squared(point) {
                nearest = candidate;
            }
        }
        let way = point - nearest;
        let distance = way.length();
        let near = self.count > 1 && distance <= PERHAPS_ON_EDGE * f64::from(self.reach);
        let has_direction = distance > 0.0 && !(near && self.is_on_edge(point, nearest, distance));
        PointGap { distance, normal: if has_direction { way / distance } else { inside.normal } }
    }

    /// Whether a point that is so far away from the nearest point of the core is on an edge, or on its end: then the way has no direction.
    #[cold]
    fn is_on_edge(&self, point: DVec2, nearest: DVec2, distance: f64) -> bool {
        let reach = f64::from(self.reach);
        self.edges().any(|(start, edge)| {
            let square = edge.length_squared();
            let along = if square > 0.0 { (point - start).dot(edge) / square } else { 0.0 };
            let is_nearest = start + along.clamp(0.0, 1.0) * edge == nearest;
            let (part, far) =
                if 0.0 < along && along < 1.0 { (ON_EDGE, ON_EDGE_FAR) } else { (ON_END, ON_END) };
            is_nearest && distance <= part * square.sqrt() + far * reach
        })
    }

    /// Where a ray first meets the shape, at most at `limit` of its way. A ray that begins in the shape meets it at 0.
    pub(crate) fn ray(&self, from: DVec2, way: DVec2, limit: f64) -> Option<RayHit> {
        let touch = match self.count {
            1 => ray_disc(self.vertices[0], self.radius, from, way),
            _ if self.radius > 0.0 => self.ray_rounded(from, way),
            2 => self.ray_segment(from, way),
            _ => self.ray_polygon(from, way),
        };
        touch.filter(|touch| touch.fraction <= limit)
    }

    /// The touch of a ray that begins in the shape.
    fn at_start(&self, from: DVec2) -> RayHit {
        RayHit { fraction: 0.0, normal: self.gap_of_core(from).normal }
    }

    /// What a ray does at the edges.
    fn meeting(&self, from: DVec2, way: DVec2) -> Meeting {
        let (corners, ray) = (Corners::<MOST>::new(self.count, |i| self.vertices[i]), (from, way));
        meeting(&cut_lanes::<f32, MOST>(&corners, self.radius, &ray), &corners, self.radius, &ray)
    }

    fn ray_polygon(&self, from: DVec2, way: DVec2) -> Option<RayHit> {
        match self.meeting(from, way) {
            Meeting::Never => None,
            Meeting::Begins => Some(self.at_start(from)),
            Meeting::At(touch) => Some(touch),
        }
    }

    /// A segment is hit from both sides; where segments of a chain meet, a little beyond its ends.
    fn ray_segment(&self, from: DVec2, way: DVec2) -> Option<RayHit> {
        let (start, edge) = (self.vertices[0], self.vertices[1] - self.vertices[0]);
        let length = edge.length();
        if length == 0.0 {
            return ray_disc(start, 0.0, from, way);
        }
        let along = edge / length;
        let (height, speed) = (along.perp_dot(from - start), along.perp_dot(way));
        let place = along.dot(from - start);
        let [before, after] = self.slack.map(f64::from);
        let (least, most) = (-before, length + after);
        if height == 0.0 && (least..=most).contains(&place) {
            return Some(self.at_start(from));
        }
        // A ray in line with the segment meets its end.
        let way_along = along.dot(way);
        let rounding = IN_LINE * (length + place.abs() + way_along.abs());
        if height.abs() <= rounding && (height + speed).abs() <= rounding {
            let end = if way_along > 0.0 { 0.0 } else { length };
            // Never −0.
            let fraction = (end - place) / way_along + 0.0;
            if (0.0..=1.0).contains(&fraction) {
                return Some(RayHit { fraction, normal: -along * way_along.signum() });
            }
        }
        let fraction = -height / speed + 0.0;
        let crosses = speed != 0.0 && fraction >= 0.0;
        let place = place + fraction * way_along;
        if !crosses || place < least || place > most {
            return None;
        }
        Some(RayHit { fraction, normal: along.perp() * height.signum() })
    }

    /// A ray that begins inside of all edges, moved outward by the radius, begins in the shape or in a corner of these.
    fn ray_rounded(&self, from: DVec2, way: DVec2) -> Option<RayHit> {
        match self.meeting(from, way) {
            Meeting::Never => None,
            Meeting::At(touch) => Some(touch),
            Meeting::Begins if self.gap(from).distance <= 0.0 => Some(self.at_start(from)),
            Meeting::Begins => {
                let discs = self.core().iter().filter_map(|&vertex| ray_disc(vertex, self.radius, from, way));
                discs.min_by(|a, b| a.fraction.total_cmp(&b.fraction))
            }
        }
    }

    /// The core's vertices that are foremost in a direction: the two ends of the edge there, or one vertex twice.
    fn foremost(&self, direction: DVec2) -> [DVec2; 2] {
        let height = |vertex: &DVec2| direction.dot(*vertex);
        let most = self.core().iter().map(height).fold(f64::NEG_INFINITY, f64::max);
        let least = self.core().iter().map(height).fold(f64::INFINITY, f64::min);
        let side = |vertex: &DVec2| direction.perp_dot(*vertex);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for vertex in self.core() {
            (low, high) = (low.min(side(vertex)), high.max(side(vertex)));
        }
        let level = most - LEVEL * ((most - least).max(high - low));
        let mut ends: Option<[DVec2; 2]> = None;
        for vertex in self.core().iter().filter(|vertex| height(vertex) >= level) {
            let [a, b] = ends.unwrap_or([*vertex; 2]);
            let a = if side(vertex) < side(&a) { *vertex } else { a };
            let b = if side(vertex) > side(&b) { *vertex } else { b };
            ends = Some([a, b]);
        }
        ends.unwrap_or([self.vertices[0]; 2])
    }

    /// The nearest points of this shape and `other`, given the gap between them: its normal leaves this shape.
    pub(crate) fn nearest_points(&self, other: &Convex, gap: PointGap) -> NearestPoints {
        let n = gap.normal;
        let (mine, theirs) = (self.foremost(n), other.foremost(-n));
        let of_mine = |core: DVec2| (core + self.radius * n, core + (self.radius + gap.distance) * n);
        let of_theirs = |core: DVec2| {
            let surface = core - other.radius * n;
            (surface - gap.distance * n, surface)
        };
        let (on_first, on_second) = if theirs[0] == theirs[1] {
            of_theirs(theirs[0])
        } else if mine[0] == mine[1] {
            of_mine(mine[0])
        } else {
            // Two edges: the middle of what both have.
            let side = |vertex: DVec2| n.perp_dot(vertex);
            // Theirs are in the order of the opposite direction.
            let low = side(mine[0]).max(side(theirs[1]));
            let high = side(mine[1]).min(side(theirs[0]));
            of_mine(mine[0] + (0.5 * (low + high) - side(mine[0])) * n.perp())
        };
        NearestPoints { gap, on_first, on_second }
    }

    /// The nearest points of this shape and `other`. The normal goes from this shape to the other.
    pub(crate) fn nearest(&self, other: &Convex) -> NearestPoints {
        self.nearest_points(other, self.minus(other).gap(DVec2::ZERO))
    }

    /// The least of `direction` · p over all points p of the shape.
    pub(crate) fn least(&self, direction: DVec2) -> f64 {
        self.core().iter().map(|vertex| direction.dot(*vertex)).fold(f64::INFINITY, f64::min) - self.radius
    }

    /// The nearest points of a half-space, all p with normal · p ≤ offset, and this shape.
    pub(crate) fn nearest_to_plane(&self, normal: DVec2, offset: f64) -> NearestPoints {
        let distance = self.least(normal) - offset;
        let [a, b] = self.foremost(-normal);
        let on_second = 0.5 * (a + b) - self.radius * normal;
        let on_second = on_second + (offset + distance - normal.dot(on_second)) * normal;
        NearestPoints {
            gap: PointGap { distance, normal },
            on_first: on_second - distance * normal,
            on_second,
        }
    }
}

/// Whether a direction is in the upper half: of a counter-clockwise walk from the lowest point, the first half.
fn is_upper(direction: DVec2) -> bool {
    direction.y > 0.0 || (direction.y == 0.0 && direction.x > 0.0)
}

/// Where a disc, its centre moved along a ray, first meets an outline at the origin that is not turned, at most at `limit` of its way.
/// A ray itself is a disc of radius 0. `slack` is that of a segment of a chain: see [`Convex::join`].
#[inline]
pub(crate) fn ray_outline(
    level: Level,
    (outline, grown): (&Outline, f64),
    (from, way): (DVec2, DVec2),
    limit: f64,
    slack: [f32; 2],
) -> Option<RayHit> {
    let (count, radius) = (outline.count, f64::from(outline.radius) + grown);
    let vertex = |i: usize| outline.vertices[i].as_dvec2();
    if count == 1 {
        return ray_disc(vertex(0), radius, from, way).filter(|touch| touch.fraction <= limit);
    }
    if count > 2 || radius > 0.0 {
        let (corners, ray) = (Corners::<MAX_VERTICES>::new(count, vertex), (from, way));
        let cut = with_lanes!(level, L => cut::<L, MAX_VERTICES>(&corners, radius, &ray));
        match meeting(&cut, &corners, radius, &ray) {
            Meeting::Never => return None,
            Meeting::At(touch) => return Some(touch).filter(|touch| touch.fraction <= limit),
            Meeting::Begins => {}
        }
    }
    let mut convex = Convex::placed(outline, DVec2::ZERO, DVec2::X);
    convex.join(slack);
    convex.radius = radius;
    convex.ray(from, way, limit)
}

/// Whether a ray passes a disc, or goes away from it. Only what is sure counts.
#[inline]
pub(crate) fn passes_disc(radius: f64, from: DVec2, way: DVec2) -> bool {
    let aside = from.perp_dot(way);
    let outside = from.length_squared() > radius * radius;
    outside && (from.dot(way) > 0.0 || aside * aside > radius * radius * way.length_squared())
}

/// Where a ray first meets a disc.
pub(crate) fn ray_disc(centre: DVec2, radius: f64, from: DVec2, way: DVec2) -> Option<RayHit> {
    let away = from - centre;
    let outside = away.length_squared() - radius * radius;
    if outside <= 0.0 {
        let normal = away.normalize_or_zero();
        return Some(RayHit { fraction: 0.0, normal: if normal == DVec2::ZERO { DVec2::X } else { normal } });
    }
    let nearing = -away.dot(way);
    if nearing <= 0.0 {
        return None;
    }
    let aside = away.perp_dot(way);
    let rest = radius * radius * way.length_squared() - aside * aside;
    if rest < 0.0 {
        return None;
    }
    // The first root, in the form that loses no digits.
    let fraction = outside / (nearing + rest.sqrt());
    Some(RayHit { fraction, normal: (away + fraction * way).normalize() })
}

/// Where a ray first meets a half-space, all p with normal · p ≤ offset.
pub(crate) fn ray_plane(normal: DVec2, offset: f64, from: DVec2, way: DVec2, limit: f64) -> Option<RayHit> {
    let (height, speed) = (normal.dot(from) - offset, -normal.dot(way));
    if height <= 0.0 {
        return Some(RayHit { fraction: 0.0, normal });
    }
    (height <= limit * speed).then(|| RayHit { fraction: height / speed, normal })
}
