//! How well a state is solved, found from positions and velocities alone, by the same f64 code for
//! every engine.
//!
//! The shapes of moving bodies are sorted into rows of one shape's height and by x inside a row; a shape meets
//! those of its own row that follow it and those of the next row, as far as one shape's width away.
//! A static or kinematic shape meets all that are as far to the left and right as it reaches.

mod placed;

use crate::engine::State;
use crate::scenes::{Scene, own_shape};
use ::granule::BodyType;
use placed::{Placed, separation};
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
    /// Moving bodies whose centre is outside the bounds of everything there was at the start: they flew away or went through
    /// a wall.
    #[serde(default)]
    pub outside: usize,
}

impl Quality {
    /// The quality of several worlds: counts are added, means are over all of them.
    pub fn of_all(worlds: &[Quality]) -> Self {
        let sum = |of: fn(&Quality) -> usize| worlds.iter().map(of).sum::<usize>();
        let mean = |of: fn(&Quality) -> f64, weights: usize| {
            worlds.iter().map(of).sum::<f64>() / weights.max(1) as f64
        };
        if let [world] = worlds {
            return *world;
        }
        let overlapping = sum(|world| world.overlapping);
        Quality {
            contacts: sum(|world| world.contacts),
            overlapping,
            mean_penetration: mean(|world| world.mean_penetration * world.overlapping as f64, overlapping),
            max_penetration: worlds.iter().map(|world| world.max_penetration).fold(0.0, f64::max),
            // Worlds of as many bodies each.
            rms_speed: mean(|world| world.rms_speed.powi(2), worlds.len()).sqrt(),
            lost: sum(|world| world.lost),
            outside: sum(|world| world.outside),
        }
    }
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
    let bounds = bounds(scene);
    let mut outside = 0;
    let finite = |state: &State| {
        state.angle.is_finite() && state.position.iter().chain(&state.velocity).all(|value| value.is_finite())
    };
    for (desc, state) in bodies.iter().zip(states) {
        if !finite(state) {
            lost += 1;
        } else if desc.body_type == BodyType::Dynamic {
            judged += 1;
            let place = state.position.map(f64::from);
            outside +=
                usize::from((0..2).any(|axis| !(bounds[axis][0]..=bounds[axis][1]).contains(&place[axis])));
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
    let extent = [0, 1].map(|axis| moving.iter().fold(0.0f64, |most, body| most.max(body.half[axis])));
    let [reach_x, reach_y] = extent.map(|extent| 2.0 * extent + CONTACT_DISTANCE);
    moving.sort_unstable_by(|a, b| a.x.total_cmp(&b.x));
    for wall in &fixed {
        let reach = wall.half[0] + extent[0] + CONTACT_DISTANCE;
        let first = moving.partition_point(|body| body.x < wall.x - reach);
        for body in moving[first..].iter().take_while(|body| body.x <= wall.x + reach) {
            tally.add(wall, body);
        }
    }
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
        outside,
    }
}

/// The least and the largest x, and the same of y, of all shapes at the start.
fn bounds(scene: &Scene) -> [[f64; 2]; 2] {
    let own = scene.bodies.iter().enumerate().filter_map(|(index, desc)| Some((index, own_shape(desc)?)));
    let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
    for (body, part) in own.chain(scene.parts.iter().copied()) {
        let desc = &scene.bodies[body];
        let state = State::of(desc);
        let placed = Placed::new(body, &part, &state);
        for (axis, middle) in [placed.x, placed.y].into_iter().enumerate() {
            bounds[axis][0] = bounds[axis][0].min(middle - placed.half[axis]);
            bounds[axis][1] = bounds[axis][1].max(middle + placed.half[axis]);
        }
    }
    bounds
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
    use ::granule::{BodyDesc, Part, Polygon, Settings, Shape, Vec2};

    fn still(position: Vec2) -> State {
        State { position: position.to_array(), angle: 0.0, velocity: [0.0; 2], angular_velocity: 0.0 }
    }

    fn scene(bodies: Vec<BodyDesc>, parts: Vec<(usize, Part)>) -> Scene {
        Scene {
            settings: Settings { sleep: false, continuous: false, ..Settings::default() },
            bodies,
            parts,
            replacing: None,
        }
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
        let states: Vec<State> = bodies.iter().map(State::of).collect();

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

    /// A body is outside once its centre has left the bounds of what there was at the start.
    #[test]
    fn bodies_outside_are_counted() {
        let bodies = vec![BodyDesc::dynamic(Shape::circle(1.0), Vec2::ZERO); 3];
        let states = [Vec2::ZERO, Vec2::new(0.0, -1.1), Vec2::new(0.9, 0.9)].map(still);
        assert_eq!(quality(&scene(bodies, Vec::new()), &states).outside, 1);
    }
}
