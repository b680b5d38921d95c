//! How well a state is solved, found from positions and velocities alone, by the same f64 code for
//! every engine.
//!
//! The shapes of moving bodies are sorted into rows of one shape's height and by x inside a row; a shape meets
//! those of its own row that follow it and those of the next row, as far as one shape's width away.
//! Static and kinematic bodies are few and meet everything.

use crate::engine::State;
use crate::scenes::{Scene, corners, own_shape, turned};
use ::granule::{BodyType, Part, Shape};
use serde::{Deserialize, Serialize};

/// Pairs closer than this, in metres, count as contacts. From this distance on all three engines solve a
/// contact (four times a slop of 5 mm).
pub const CONTACT_DISTANCE: f64 = 0.02;

/// The measured quality of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Pairs whose separation is below [`CONTACT_DISTANCE`].
    pub contacts: usize,
    /// Pairs that overlap.
    pub overlapping: usize,
    /// Mean depth over the overlapping pairs, in metres.
    pub mean_penetration: f64,
    /// Largest depth, in metres.
    pub max_penetration: f64,
    /// Root of the mean squared speed of the moving bodies, in m/s.
    pub rms_speed: f64,
    /// Bodies whose place or velocity is not finite; they are left out of the rest.
    pub lost: usize,
}

/// A shape at a place, in f64.
#[derive(Clone, Copy)]
struct Placed {
    /// Centre of its bounds.
    x: f64,
    y: f64,
    /// Half width and half height of its bounds; the radius twice for a circle.
    half: [f64; 2],
    kind: Kind,
    /// Shapes of one body do not meet.
    body: usize,
    /// Without the rounding, counter-clockwise.
    corners: [[f64; 2]; 8],
    count: usize,
    radius: f64,
}

/// What tells how two shapes are measured.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Circle,
    /// A box along the axes.
    Aabb,
    /// Any other.
    Convex,
}

impl Placed {
    fn new(body: usize, part: &Part, state: &State) -> Self {
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
fn separation(a: &Placed, b: &Placed) -> f64 {
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

#[derive(Default)]
struct Tally {
    contacts: usize,
    overlapping: usize,
    sum: f64,
    max: f64,
}

impl Tally {
    fn add(&mut self, a: &Placed, b: &Placed) {
        let apart =
            |axis: usize, distance: f64| distance.abs() - a.half[axis] - b.half[axis] > CONTACT_DISTANCE;
        if a.body == b.body || apart(0, a.x - b.x) || apart(1, a.y - b.y) {
            return;
        }
        let separation = separation(a, b);
        self.contacts += usize::from(separation < CONTACT_DISTANCE);
        if separation < 0.0 {
            self.overlapping += 1;
            self.sum -= separation;
            self.max = self.max.max(-separation);
        }
    }
}

/// The quality of `states`, which belong to the scene's bodies one by one.
pub fn quality(scene: &Scene, states: &[State]) -> Quality {
    let bodies = &scene.bodies;
    assert_eq!(bodies.len(), states.len(), "an engine must report every body");
    let (mut moving, mut fixed, mut lost, mut squares, mut judged) = (Vec::new(), Vec::new(), 0, 0.0, 0usize);
    let finite = |state: &State| {
        state.angle.is_finite() && state.position.iter().chain(&state.velocity).all(|value| value.is_finite())
    };
    for (desc, state) in bodies.iter().zip(states) {
        if !finite(state) {
            lost += 1;
        } else if desc.body_type == BodyType::Dynamic {
            judged += 1;
            squares += state.velocity.map(|v| f64::from(v).powi(2)).iter().sum::<f64>();
        }
    }
    let own = bodies.iter().enumerate().filter_map(|(index, desc)| Some((index, own_shape(desc)?)));
    for (body, part) in own.chain(scene.parts.iter().copied()) {
        if finite(&states[body]) {
            let dynamic = bodies[body].body_type == BodyType::Dynamic;
            let list = if dynamic { &mut moving } else { &mut fixed };
            list.push(Placed::new(body, &part, &states[body]));
        }
    }

    let mut tally = Tally::default();
    for wall in &fixed {
        for body in &moving {
            tally.add(wall, body);
        }
    }
    let extent = |axis: usize| moving.iter().fold(0.0f64, |most, body| most.max(body.half[axis]));
    let reach_x = 2.0 * extent(0) + CONTACT_DISTANCE;
    let reach_y = 2.0 * extent(1) + CONTACT_DISTANCE;
    let row = |body: &Placed| (body.y / reach_y).floor();
    moving.sort_unstable_by(|a, b| row(a).total_cmp(&row(b)).then(a.x.total_cmp(&b.x)));

    let rows: Vec<&[Placed]> = moving.chunk_by(|a, b| row(a) == row(b)).collect();
    for (index, this) in rows.iter().enumerate() {
        for (place, body) in this.iter().enumerate() {
            for other in this[place + 1..].iter().take_while(|other| other.x - body.x <= reach_x) {
                tally.add(body, other);
            }
        }
        let Some(next) = rows.get(index + 1).filter(|next| row(&next[0]) == row(&this[0]) + 1.0) else {
            continue;
        };
        let mut first = 0;
        for body in this.iter() {
            while first < next.len() && next[first].x < body.x - reach_x {
                first += 1;
            }
            for other in next[first..].iter().take_while(|other| other.x - body.x <= reach_x) {
                tally.add(body, other);
            }
        }
    }
    Quality {
        contacts: tally.contacts,
        overlapping: tally.overlapping,
        mean_penetration: tally.sum / tally.overlapping.max(1) as f64,
        max_penetration: tally.max,
        rms_speed: (squares / judged.max(1) as f64).sqrt(),
        lost,
    }
}

/// The value below which the share `q` of `values` lies (nearest rank); 0 without values.
pub fn percentile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// Largest memory that this process has had resident, in bytes, where the system tells.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::granule::{BodyDesc, Polygon, Settings, Vec2};

    fn still(position: Vec2) -> State {
        State { position: position.to_array(), angle: 0.0, velocity: [0.0; 2] }
    }

    fn scene(bodies: Vec<BodyDesc>, parts: Vec<(usize, Part)>) -> Scene {
        Scene { settings: Settings::default(), bodies, parts }
    }

    /// The rows and the sweep find what all pairs find.
    #[test]
    fn every_pair_is_met_once() {
        let mut seed = 7u32;
        let mut uniform = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / (1 << 24) as f32
        };
        let mut bodies = vec![BodyDesc::fixed(Shape::aabb(20.0, 1.0), Vec2::new(0.0, -1.0))];
        for index in 0..400 {
            let size = 0.2 + 0.3 * uniform();
            let shape = match index % 6 {
                0 => Shape::aabb(size, 0.3),
                1 => Shape::oriented_box(size, 0.3),
                2 => Shape::capsule(size, 0.1),
                3 => Shape::Polygon(Polygon::regular(3 + index % 5, size).expect("a polygon")),
                _ => Shape::circle(size),
            };
            let place = Vec2::new(20.0 * uniform() - 10.0, 10.0 * uniform() - 1.0);
            let angle = if index % 6 == 0 { 0.0 } else { 6.0 * uniform() };
            let velocity = Vec2::new(3.0, 4.0);
            bodies.push(BodyDesc { velocity, angle, ..BodyDesc::dynamic(shape, place) });
        }
        let parts: Vec<(usize, Part)> = (1..400)
            .filter(|index| index % 6 == 1)
            .map(|index| (index + 1, Part::new(Shape::circle(0.2), Vec2::new(0.3, 0.4))))
            .collect();
        let scene = scene(bodies, parts);
        let bodies = &scene.bodies;
        let states: Vec<State> = bodies
            .iter()
            .map(|b| State { velocity: b.velocity.to_array(), angle: b.angle, ..still(b.position) })
            .collect();

        let mut expected = Tally::default();
        let own = bodies.iter().enumerate().map(|(index, desc)| (index, own_shape(desc).expect("a shape")));
        let placed: Vec<Placed> = own
            .chain(scene.parts.iter().copied())
            .map(|(body, part)| Placed::new(body, &part, &states[body]))
            .collect();
        for (index, a) in placed.iter().enumerate() {
            for b in &placed[index + 1..] {
                expected.add(a, b);
            }
        }
        let found = quality(&scene, &states);
        assert!(found.overlapping > 400, "{found:?}");
        assert_eq!((found.contacts, found.overlapping), (expected.contacts, expected.overlapping));
        assert!((found.mean_penetration - expected.sum / expected.overlapping as f64).abs() < 1e-12);
        assert_eq!(found.max_penetration, expected.max);
        assert!((found.rms_speed - 5.0).abs() < 1e-12);
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

    /// Parts are where their body is, turned with it, and do not meet each other.
    #[test]
    fn parts_of_a_body() {
        let centre = BodyDesc {
            filter: ::granule::Filter { mask: 0, ..Default::default() },
            ..BodyDesc::kinematic(Shape::circle(5.0), Vec2::new(10.0, 0.0))
        };
        let ball = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(10.0, 4.25));
        let plate = |x| (0, Part::new(Shape::oriented_box(0.5, 2.0), Vec2::new(x, 0.0)));
        let scene = scene(vec![centre, ball], vec![plate(4.0), plate(4.25)]);
        let quarter = State { angle: std::f32::consts::FRAC_PI_2, ..still(Vec2::new(10.0, 0.0)) };
        let found = quality(&scene, &[quarter, still(ball.position)]);
        assert_eq!((found.contacts, found.overlapping), (2, 2));
        assert!((found.max_penetration - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn lost_bodies_are_counted() {
        let bodies = vec![BodyDesc::dynamic(Shape::circle(1.0), Vec2::ZERO); 2];
        let found = quality(&scene(bodies, Vec::new()), &[still(Vec2::ZERO), still(Vec2::NAN)]);
        assert_eq!((found.lost, found.contacts, found.max_penetration), (1, 0, 0.0));
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=60).rev().map(f64::from).collect();
        assert_eq!((percentile(&values, 0.5), percentile(&values, 0.95)), (30.0, 57.0));
        assert_eq!((percentile(&[2.0], 0.5), percentile(&[], 0.5)), (2.0, 0.0));
    }
}
