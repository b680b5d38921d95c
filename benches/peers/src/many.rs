//! Many worlds stepped side by side: Granule's [`step_many`] next to the peers, whose worlds are stepped one after the other.
//!
//! Box2D has room for 128 worlds at a time, so the peers get a hundred; what counts is steps of worlds in a second.

use crate::engine::{Engine, Stepping, World, build};
use crate::report::Origin;
use crate::scenes::Scene;
use crate::times::least;
use ::granule::step_many;
use std::fmt::Write as _;
use std::time::Instant;

/// Worlds of one scene.
struct Case {
    name: &'static str,
    scene: &'static str,
    bodies: usize,
    /// The number of Granule's worlds, and of a peer's.
    worlds: [usize; 2],
    /// What Granule must reach, as a multiple of Box2D's world steps in a second at one thread.
    bar: f64,
}

const CASES: [Case; 3] = [
    Case { name: "ten boxes", scene: "small", bodies: 10, worlds: [1_000, 100], bar: 2.5 },
    Case { name: "a hundred boxes", scene: "small", bodies: 100, worlds: [200, 100], bar: 2.5 },
    Case { name: "a thousand circles", scene: "packed", bodies: 1_000, worlds: [100, 100], bar: 6.0 },
];
const WARMUP: usize = 120;
const PASSES: usize = 60;

/// Steps all worlds of an engine once, and takes the time.
type Pass = Box<dyn FnMut() -> f64>;

fn scenes(case: &Case, worlds: usize) -> Result<Vec<Scene>, String> {
    (0..worlds).map(|world| Scene::build(case.scene, case.bodies, world)).collect()
}

fn granule(case: &Case, threads: usize) -> Result<Pass, String> {
    let mut worlds = Vec::new();
    for scene in scenes(case, case.worlds[0])? {
        let mut world = ::granule::World::new(scene.settings).map_err(|error| error.to_string())?;
        world.add_bodies(&scene.bodies).map_err(|error| error.to_string())?;
        worlds.push(world);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| error.to_string())?;
    Ok(Box::new(move || {
        pool.install(|| {
            let start = Instant::now();
            step_many(&mut worlds);
            start.elapsed().as_secs_f64()
        })
    }))
}

fn peer(case: &Case, engine: Engine) -> Result<Pass, String> {
    let one = |scene: Scene| build(engine, &[scene], Stepping::common(1));
    let mut worlds: Vec<Box<dyn World>> =
        scenes(case, case.worlds[1])?.into_iter().map(one).collect::<Result<_, _>>()?;
    let mut seconds = Vec::with_capacity(worlds.len());
    Ok(Box::new(move || {
        let start = Instant::now();
        worlds.iter_mut().for_each(|world| world.run(1, &mut seconds));
        let elapsed = start.elapsed().as_secs_f64();
        seconds.clear();
        elapsed
    }))
}

/// The mean over all passes of the least time of each, s.
fn measure(pass: impl Fn() -> Result<Pass, String>, rounds: usize) -> Result<f64, String> {
    let mut best: Vec<f64> = Vec::new();
    for _ in 0..rounds {
        let mut pass = pass()?;
        for _ in 0..WARMUP {
            pass();
        }
        let seconds: Vec<f64> = (0..PASSES).map(|_| pass()).collect();
        if best.is_empty() { best = seconds } else { least(&mut best, &seconds) }
    }
    Ok(best.iter().sum::<f64>() / best.len() as f64)
}

/// The table.
///
/// # Errors
///
/// What an engine says when it refuses something.
pub fn report(origin: &Origin, rounds: usize) -> Result<String, String> {
    let mut text = String::from("# Many worlds\n\n");
    text.push_str(&origin.markdown());
    let _ = write!(
        text,
        "\nSteps of worlds in a second, from step {WARMUP} on: the mean of {PASSES} passes over all worlds, of each the least \
         time of {rounds} rounds. Granule steps its worlds by `step_many`, the peers one after the other.\n\n\
         | a world of | worlds | Granule, 1 thread | 2 threads | | worlds | Box2D | Rapier | to Box2D, 1 thread | bar |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    );
    for case in &CASES {
        let [ours, theirs] = case.worlds.map(|worlds| worlds as f64);
        let one = ours / measure(|| granule(case, 1), rounds)?;
        let two = ours / measure(|| granule(case, 2), rounds)?;
        let box2d = theirs / measure(|| peer(case, Engine::Box2d), rounds)?;
        let rapier = theirs / measure(|| peer(case, Engine::Rapier), rounds)?;
        let Case { name, worlds: [granules, peers], bar, .. } = case;
        let _ = writeln!(
            text,
            "| {name} | {granules} | {one:.0} | {two:.0} | {:.2}× | {peers} | {box2d:.0} | {rapier:.0} | {:.2}× | {bar}× |",
            two / one,
            one / box2d
        );
    }
    Ok(text)
}
