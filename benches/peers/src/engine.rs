//! What the three engines have in common here.

use crate::scenes::Scene;
use ::granule::Solver;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Where a body is and its velocity, as an engine reports them.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Of the centre of the body's own shape, in metres.
    pub position: [f32; 2],
    /// Counter-clockwise, in radians.
    pub angle: f32,
    /// Of the body's centre, in m/s.
    pub velocity: [f32; 2],
}

/// A world of one of the engines, with the scene's bodies in it.
pub trait World {
    /// Steps `steps` times and appends the seconds that each step took to `seconds`.
    fn run(&mut self, steps: usize, seconds: &mut Vec<f64>);

    /// Every body's state, in the order of the scene.
    fn states(&self) -> Vec<State>;
}

/// Calls `step` and times each call. Engines with a thread pool call this inside of it, so that
/// entering the pool is not part of a step.
pub fn timed(steps: usize, seconds: &mut Vec<f64>, mut step: impl FnMut()) {
    for _ in 0..steps {
        let start = Instant::now();
        step();
        seconds.push(start.elapsed().as_secs_f64());
    }
}

/// Which engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The engine of this repository.
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
}

impl Stepping {
    /// What all engines have in the comparison: 4 substeps of 1 iteration.
    pub fn common(threads: usize) -> Self {
        Stepping {
            threads,
            substeps: 4,
            iterations: 1,
            solver: Solver::Soft,
            contact_frequency_ratio: None,
            damping_ratio: None,
        }
    }
}

/// A world of `engine` with the bodies of `scene`.
///
/// # Errors
///
/// What the engine says when it refuses a body, a setting or the threads.
pub fn build(engine: Engine, scene: &Scene, stepping: Stepping) -> Result<Box<dyn World>, String> {
    Ok(match engine {
        Engine::Granule => Box::new(crate::granule::GranuleWorld::new(scene, stepping)?),
        Engine::Box2d => Box::new(crate::box2d::Box2dWorld::new(scene, stepping)?),
        Engine::Rapier => Box::new(crate::rapier::RapierWorld::new(scene, stepping)?),
    })
}
