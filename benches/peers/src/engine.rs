//! What the three engines have in common here.

use crate::scenes::Scene;
use crate::scenes::replacing::{Edits, Schedule};
use ::granule::{BodyDesc, Solver};
use clap::ValueEnum;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// Where a body is and its velocity, as an engine reports them.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// The centre of the body's own shape, in metres.
    pub position: [f32; 2],
    /// Counter-clockwise, in radians.
    pub angle: f32,
    /// The velocity of the body's centre, in m/s.
    pub velocity: [f32; 2],
    /// Counter-clockwise, in rad/s.
    pub angular_velocity: f32,
}

impl State {
    /// That in which a body starts.
    pub fn of(desc: &BodyDesc) -> State {
        State {
            position: desc.position.to_array(),
            angle: desc.angle,
            velocity: desc.velocity.to_array(),
            angular_velocity: desc.angular_velocity,
        }
    }
}

/// A world of one of the engines, with the scene's bodies in it.
pub trait World: Send {
    /// Steps `steps` times and appends the seconds that each step took to `seconds`. What the scene replaces before a step
    /// is part of its time.
    fn run(&mut self, steps: usize, seconds: &mut Vec<f64>);

    /// Every body's state, in the order of the scene.
    fn states(&self) -> Vec<State>;
}

/// Calls `step` with what is replaced before it, and times each call. Engines with a thread pool call this inside
/// of it, so that entering the pool is not part of a step.
pub fn timed(schedule: &mut Schedule, steps: usize, seconds: &mut Vec<f64>, mut step: impl FnMut(&Edits)) {
    for _ in 0..steps {
        let edits = schedule.next();
        let start = Instant::now();
        step(edits);
        seconds.push(start.elapsed().as_secs_f64());
    }
}

/// Which engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The engine of this repository.
    #[default]
    Granule,
    /// Box2D v3.2.
    Box2d,
    /// Rapier 2D.
    Rapier,
}

impl Engine {
    /// As it is spelt in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Granule => "Granule",
            Engine::Box2d => "Box2D",
            Engine::Rapier => "Rapier",
        }
    }
}

/// How to step. The peers know substeps only; iterations and the solver are Granule's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stepping {
    /// Threads that may work on a step.
    pub threads: usize,
    /// Substeps per step.
    pub substeps: u32,
    /// Solver iterations per substep.
    pub iterations: u32,
    /// Which of Granule's solvers.
    pub solver: Solver,
    /// Granule's contact frequency by the substep rate; `None` for its default.
    pub contact_frequency_ratio: Option<f32>,
    /// Granule's damping ratio; `None` for its default.
    pub damping_ratio: Option<f32>,
    /// Whether bodies at rest fall asleep.
    pub sleep: bool,
    /// Whether fast bodies are kept from passing through static shapes within a step. (Bullets, which moving bodies stop as well, are not
    /// compared.)
    pub continuous: bool,
}

impl Stepping {
    /// What all engines have in the comparison: 4 substeps of 1 iteration, no sleep, no continuous collision.
    pub fn common(threads: usize) -> Self {
        Stepping {
            threads,
            substeps: 4,
            iterations: 1,
            solver: Solver::Soft,
            contact_frequency_ratio: None,
            damping_ratio: None,
            sleep: false,
            continuous: false,
        }
    }
}

/// The threads that an engine's worlds share. Box2D makes its own, for each world. Granule on one thread has none: a
/// call from outside any pool is single-threaded. Rapier has one for one thread as well, since outside of a pool it
/// takes the global one.
pub type Pool = Option<Arc<ThreadPool>>;

/// The pool of an engine's worlds.
///
/// # Errors
///
/// When the system gives no threads.
pub fn pool(engine: Engine, threads: usize) -> Result<Pool, String> {
    match (engine, threads) {
        (Engine::Box2d, _) | (Engine::Granule, 1) => Ok(None),
        _ => {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            pool.map(|pool| Some(Arc::new(pool))).map_err(|error| error.to_string())
        }
    }
}

/// Calls `run` in the pool, where there is one.
pub fn inside<R: Send>(pool: &Pool, run: impl FnOnce() -> R + Send) -> R {
    match pool {
        None => run(),
        Some(pool) => pool.install(run),
    }
}

/// A world of `engine` for each of the scenes, as one.
///
/// # Errors
///
/// What the engine says when it refuses a body, a setting or the threads.
pub fn build(engine: Engine, scenes: &[Scene], stepping: Stepping) -> Result<Box<dyn World>, String> {
    let pool = pool(engine, stepping.threads)?;
    let world = |scene: &Scene| -> Result<Box<dyn World>, String> {
        Ok(match engine {
            Engine::Granule => Box::new(crate::granule::GranuleWorld::new(scene, stepping, pool.clone())?),
            Engine::Box2d => Box::new(crate::box2d::Box2dWorld::new(scene, stepping)?),
            Engine::Rapier => Box::new(crate::rapier::RapierWorld::new(scene, stepping, pool.clone())?),
        })
    };
    let mut worlds = scenes.iter().map(world).collect::<Result<Vec<_>, _>>()?;
    Ok(if worlds.len() == 1 { worlds.remove(0) } else { Box::new(Several { worlds, pool }) })
}

/// Worlds of one engine that are stepped one after the other.
struct Several {
    worlds: Vec<Box<dyn World>>,
    /// Entered once for many steps; a world that enters it again is in it already.
    pool: Pool,
}

impl World for Several {
    /// Appends the times of the first step of each world, then those of the second.
    fn run(&mut self, steps: usize, seconds: &mut Vec<f64>) {
        let worlds = &mut self.worlds;
        inside(&self.pool, || {
            for _ in 0..steps {
                worlds.iter_mut().for_each(|world| world.run(1, seconds));
            }
        });
    }

    fn states(&self) -> Vec<State> {
        self.worlds.iter().flat_map(|world| world.states()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In every engine, worlds that are stepped in turn go as they would alone, and each step of each is timed.
    #[test]
    fn several_worlds() {
        let scenes: Vec<Scene> =
            (0..3).map(|world| Scene::build("small", 20, world).expect("a scene")).collect();
        for engine in [Engine::Granule, Engine::Box2d, Engine::Rapier] {
            let stepping = Stepping::common(2);
            let (mut seconds, mut alone) = (Vec::new(), Vec::new());
            let mut together = build(engine, &scenes, stepping).expect("worlds");
            together.run(30, &mut seconds);
            for scene in scenes.chunks(1) {
                let mut world = build(engine, scene, stepping).expect("a world");
                world.run(30, &mut Vec::new());
                alone.extend(world.states());
            }
            assert_eq!(seconds.len(), 90);
            let positions =
                |states: Vec<State>| states.into_iter().map(|state| state.position).collect::<Vec<_>>();
            assert_eq!(positions(together.states()), positions(alone), "{}", engine.name());
        }
    }

    /// In every engine, what is replaced is at its new place and the rest is where it was.
    #[test]
    fn replaced_bodies() {
        let scene = Scene::build("churn", 400, 0).expect("a scene");
        let edits = Schedule::new(scene.replacing).next().clone();
        assert_eq!(edits.places.len(), 2);
        for engine in [Engine::Granule, Engine::Box2d, Engine::Rapier] {
            let mut world =
                build(engine, std::slice::from_ref(&scene), Stepping::common(1)).expect("a world");
            world.run(1, &mut Vec::new());
            let states = world.states();
            let near = |place: usize, body: &::granule::BodyDesc| {
                let [x, y] = states[place].position;
                (x - body.position.x).hypot(y - body.position.y) < 0.25
            };
            assert_eq!(states.len(), scene.bodies.len());
            for (place, body) in scene.bodies.iter().enumerate() {
                let at = edits.places.iter().position(|&other| other == place);
                let expected = at.map_or(body, |index| &edits.bodies[index]);
                assert!(near(place, expected), "{}, body {place}", engine.name());
            }
        }
    }
}
