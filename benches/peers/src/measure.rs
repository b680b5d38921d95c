//! How well a state is solved, found from positions and velocities alone, by the same f64 code for
//! every engine.
//!
//! Moving bodies are sorted into rows of one body height and by x inside a row; a body meets the
//! bodies of its own row that follow it and those of the next row, as far as one body width away.
//! Static bodies are few and meet everything.

use crate::engine::State;
use ::granule::{BodyDesc, BodyType, Shape};
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
    /// Moving bodies whose position or velocity is not finite; they are left out of the rest.
    pub lost: usize,
}

/// A shape at a place, in f64.
#[derive(Clone, Copy)]
struct Placed {
    x: f64,
    y: f64,
    /// Half width and half height; the radius twice for a circle.
    half: [f64; 2],
    round: bool,
}

impl Placed {
    fn new(desc: &BodyDesc, state: &State) -> Self {
        let [x, y] = state.position.map(f64::from);
        let (half, round) = match desc.shape {
            Shape::Circle { radius } | Shape::Particle { radius } => ([f64::from(radius); 2], true),
            Shape::Aabb { half_extents } => (half_extents.to_array().map(f64::from), false),
            Shape::HalfSpace { .. } => unreachable!("scenes are checked when they are built"),
        };
        Placed { x, y, half, round }
    }
}

/// Distance between the surfaces, negative when they overlap: then its size is the least distance by
/// which one of them has to move.
fn separation(a: &Placed, b: &Placed) -> f64 {
    let (dx, dy) = ((a.x - b.x).abs(), (a.y - b.y).abs());
    // Two circles are two points, a circle and a box are a point and the box, each grown by the radii.
    let (gap_x, gap_y, radii) = match (a.round, b.round) {
        (true, true) => return dx.hypot(dy) - a.half[0] - b.half[0],
        (true, false) => (dx - b.half[0], dy - b.half[1], a.half[0]),
        (false, true) => (dx - a.half[0], dy - a.half[1], b.half[0]),
        (false, false) => (dx - a.half[0] - b.half[0], dy - a.half[1] - b.half[1], 0.0),
    };
    let distance = if gap_x > 0.0 && gap_y > 0.0 { gap_x.hypot(gap_y) } else { gap_x.max(gap_y) };
    distance - radii
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
        let separation = separation(a, b);
        self.contacts += usize::from(separation < CONTACT_DISTANCE);
        if separation < 0.0 {
            self.overlapping += 1;
            self.sum -= separation;
            self.max = self.max.max(-separation);
        }
    }
}

/// The quality of `states`, which belong to `bodies` one by one.
pub fn quality(bodies: &[BodyDesc], states: &[State]) -> Quality {
    assert_eq!(bodies.len(), states.len(), "an engine must report every body");
    let (mut moving, mut fixed, mut lost, mut squares) = (Vec::new(), Vec::new(), 0, 0.0);
    for (desc, state) in bodies.iter().zip(states) {
        let finite = state.position.iter().chain(&state.velocity).all(|value| value.is_finite());
        if desc.body_type != BodyType::Dynamic {
            fixed.push(Placed::new(desc, state));
        } else if finite {
            moving.push(Placed::new(desc, state));
            squares += state.velocity.map(|v| f64::from(v).powi(2)).iter().sum::<f64>();
        } else {
            lost += 1;
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
        rms_speed: (squares / moving.len().max(1) as f64).sqrt(),
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
    use ::granule::Vec2;

    fn still(position: Vec2) -> State {
        State { position: position.to_array(), velocity: [0.0; 2] }
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
            let shape = if index % 3 == 0 { Shape::aabb(size, 0.3) } else { Shape::circle(size) };
            let place = Vec2::new(20.0 * uniform() - 10.0, 10.0 * uniform() - 1.0);
            bodies.push(BodyDesc { velocity: Vec2::new(3.0, 4.0), ..BodyDesc::dynamic(shape, place) });
        }
        let states: Vec<State> =
            bodies.iter().map(|b| State { velocity: b.velocity.to_array(), ..still(b.position) }).collect();

        let mut expected = Tally::default();
        let placed: Vec<Placed> = bodies.iter().zip(&states).map(|(b, s)| Placed::new(b, s)).collect();
        for (index, a) in placed.iter().enumerate() {
            for b in &placed[index + 1..] {
                expected.add(a, b);
            }
        }
        let found = quality(&bodies, &states);
        assert!(found.overlapping > 400, "{found:?}");
        assert_eq!((found.contacts, found.overlapping), (expected.contacts, expected.overlapping));
        assert!((found.mean_penetration - expected.sum / expected.overlapping as f64).abs() < 1e-12);
        assert_eq!(found.max_penetration, expected.max);
        assert!((found.rms_speed - 5.0).abs() < 1e-12);
    }

    /// One hand-computed separation for each pair of shapes, apart and overlapping.
    #[test]
    fn separations() {
        let circle = |x, y| Placed { x, y, half: [0.5; 2], round: true };
        let block = |x, y| Placed { x, y, half: [1.0, 2.0], round: false };
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
    }

    #[test]
    fn lost_bodies_are_counted() {
        let bodies = [BodyDesc::dynamic(Shape::circle(1.0), Vec2::ZERO); 2];
        let found = quality(&bodies, &[still(Vec2::ZERO), still(Vec2::NAN)]);
        assert_eq!((found.lost, found.contacts, found.max_penetration), (1, 0, 0.0));
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=60).rev().map(f64::from).collect();
        assert_eq!((percentile(&values, 0.5), percentile(&values, 0.95)), (30.0, 57.0));
        assert_eq!((percentile(&[2.0], 0.5), percentile(&[], 0.5)), (2.0, 0.0));
    }
}
