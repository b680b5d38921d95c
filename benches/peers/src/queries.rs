//! Queries next to the peers: rays, circle casts and boxes, at bodies of all shapes; one at a time, and in Granule's batches.
//!
//! All engines have the same bodies, one step after the start, so that each finds nearly the same. A box asks the peers for the shapes
//! whose bounds in their trees it meets; Granule is asked for those that overlap it.

use crate::box2d::Box2dWorld;
use crate::engine::{Stepping, World as _};
use crate::granule::GranuleWorld;
use crate::rapier::RapierWorld;
use crate::report::Origin;
use crate::scenes::Scene;
use ::granule::{Ray, Shape, ShapeCast, Vec2};
use std::fmt::Write as _;
use std::time::Instant;

/// The radius of the circles that are cast, m.
pub const RADIUS: f32 = 0.25;
/// What Granule must reach, as a multiple of the faster peer: single, and in a batch.
const BARS: [f64; 2] = [1.5, 5.0];

/// What is asked.
pub struct Questions {
    pub rays: Vec<Ray>,
    pub casts: Vec<ShapeCast>,
    pub boxes: Vec<[Vec2; 2]>,
}

/// An engine that can be asked. Each function returns how many hits there are.
pub trait Asked {
    /// The number of rays that meet something.
    fn rays(&mut self, rays: &[Ray]) -> usize;
    /// The number of circles that touch something.
    fn casts(&mut self, casts: &[ShapeCast]) -> usize;
    /// The number of shapes that boxes meet.
    fn boxes(&mut self, boxes: &[[Vec2; 2]]) -> usize;
}

/// Numbers in 0..1 (a linear congruence modulo 2⁶⁴, by D. E. Knuth).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}

impl Questions {
    /// Questions in the midst of the bodies. Rays and casts begin where nothing is: the peers differ in what a ray meets that begins in
    /// a shape.
    fn new(scene: &Scene, count: usize, is_free: impl Fn(Vec2) -> bool) -> Questions {
        let middle = |axis: usize| {
            let mut values: Vec<f32> = scene.bodies.iter().map(|body| body.position[axis]).collect();
            values.sort_unstable_by(f32::total_cmp);
            [values[values.len() / 20], values[values.len() - 1 - values.len() / 20]]
        };
        let ([left, right], [low, high]) = (middle(0), middle(1));
        let mut random = Random(1);
        let mut place =
            || Vec2::new(left + (right - left) * random.next(), low + (high - low) * random.next());
        let mut free = Vec::with_capacity(count);
        while free.len() < count {
            let at = place();
            if is_free(at) {
                free.push(at);
            }
        }
        let mut random = Random(2);
        let mut way = |length: f32| length * Vec2::from_angle(std::f32::consts::TAU * random.next());
        Questions {
            rays: free.iter().map(|&from| Ray::new(from, way(20.0))).collect(),
            casts: free.iter().map(|&from| ShapeCast::new(Shape::circle(RADIUS), from, way(10.0))).collect(),
            boxes: free.iter().map(|&at| [at - Vec2::splat(2.0), at + Vec2::splat(2.0)]).collect(),
        }
    }
}

/// The least time of some rounds, ns per question, and the number of hits.
fn measure(rounds: usize, count: usize, mut ask: impl FnMut() -> usize) -> (f64, usize) {
    let (mut least, mut hits) = (f64::INFINITY, 0);
    // The first round warms up.
    for round in 0..=rounds {
        let start = Instant::now();
        hits = ask();
        if round > 0 {
            least = least.min(start.elapsed().as_secs_f64());
        }
    }
    (1.0e9 * least / count as f64, hits)
}

/// The times and hits of an engine: rays, casts, boxes.
fn ask(rounds: usize, questions: &Questions, engine: &mut dyn Asked) -> [(f64, usize); 3] {
    let Questions { rays, casts, boxes } = questions;
    [
        measure(rounds, rays.len(), || engine.rays(rays)),
        measure(rounds, casts.len(), || engine.casts(casts)),
        measure(rounds, boxes.len(), || engine.boxes(boxes)),
    ]
}

/// The table.
///
/// # Errors
///
/// What an engine says when it refuses something.
pub fn report(origin: &Origin, rounds: usize, bodies: usize, count: usize) -> Result<String, String> {
    let scene = Scene::build("mixed_shapes", bodies, 0)?;
    let stepping = Stepping::common(1);
    let mut granule = GranuleWorld::new(&scene, stepping, None)?;
    let mut box2d = Box2dWorld::new(&scene, stepping)?;
    let mut rapier = RapierWorld::new(&scene, stepping, None)?;
    granule.run(1, &mut Vec::new());
    box2d.run(1, &mut Vec::new());
    rapier.run(1, &mut Vec::new());
    let questions = Questions::new(&scene, count, |at| granule.is_free(at, 1.5 * RADIUS));

    let single = ask(rounds, &questions, &mut granule);
    let batch = ask(rounds, &questions, &mut granule.batches());
    let peers = [ask(rounds, &questions, &mut box2d), ask(rounds, &questions, &mut rapier)];
    let mut text = String::from("# Queries\n\n");
    text.push_str(&origin.markdown());
    let _ = write!(
        text,
        "\n{count} of each kind at {bodies} bodies of all shapes, one thread, ns each: the least of {rounds} rounds. Ratios are to \
         the faster peer; the bars are {}× single and {}× in a batch.\n\n\
         | question | Granule, single | Granule, batch | Box2D | Rapier | single | batch | hits: Granule, Box2D, Rapier |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
        BARS[0], BARS[1]
    );
    for (kind, name) in ["rays of 20 m", "circle casts of 10 m", "boxes of 4 m"].into_iter().enumerate() {
        let [ours, batched, box2d, rapier] = [single[kind], batch[kind], peers[0][kind], peers[1][kind]];
        if ours.1 != batched.1 {
            return Err(format!("{name}: a batch has {} hits, single queries {}", batched.1, ours.1));
        }
        let faster = box2d.0.min(rapier.0);
        let _ = writeln!(
            text,
            "| {name} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2}× | {:.2}× | {}, {}, {} |",
            ours.0,
            batched.0,
            box2d.0,
            rapier.0,
            faster / ours.0,
            faster / batched.0,
            ours.1,
            box2d.1,
            rapier.1
        );
    }
    Ok(text)
}
