//! What is compared: the engine's built-in stress scenes, at the sizes and step counts of the table.
//!
//! A scene is the list of Granule's own body descriptions; each engine translates that one list, so
//! all of them start from the same bits.

use crate::engine::{Engine, Stepping};
use ::granule::{BodyDesc, BodyType, Mix, Mixing, Settings, Shape};

/// One row of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What `--scenes` and the tables call it.
    pub name: &'static str,
    /// Name of the built-in scene.
    pub scene: &'static str,
    /// Moving bodies asked for; a scene may round it (a pyramid is a triangular number).
    pub bodies: usize,
    /// Steps before the measurement.
    pub warmup: usize,
    /// Measured steps.
    pub steps: usize,
    /// Ratio to the faster peer that Granule must reach.
    pub at_least: f64,
    /// Ratio to the faster peer that Granule aims at.
    pub aim: f64,
    /// Granule's substeps; the peers take 4.
    pub substeps: u32,
}

impl Case {
    /// How an engine steps the case in the comparison.
    pub fn stepping(&self, engine: Engine, threads: usize) -> Stepping {
        let common = Stepping::common(threads);
        if engine == Engine::Granule { Stepping { substeps: self.substeps, ..common } } else { common }
    }
}

const fn case(name: &'static str, scene: &'static str, bodies: usize, warmup: usize, goal: [f64; 2]) -> Case {
    Case { name, scene, bodies, warmup, steps: 60, at_least: goal[0], aim: goal[1], substeps: 4 }
}

/// Every row, in the order of the table.
pub const CASES: [Case; 8] = [
    case("packed-10k", "packed", 10_000, 120, [4.0, 8.0]),
    case("packed-50k", "packed", 50_000, 120, [8.0, 20.0]),
    SETTLED,
    case("packed-200k", "packed", 200_000, 120, [10.0, 20.0]),
    case("collapsing-50k", "collapsing", 50_000, 240, [8.0, 15.0]),
    case("pyramid-50k", "pyramid", 50_000, 60, [8.0, 20.0]),
    case("gas-50k", "gas", 50_000, 60, [8.0, 15.0]),
    // Particles, at twice the substeps; circles to the peers.
    Case { substeps: 8, ..case("grains-100k", "grains", 100_000, 300, [8.0, 16.0]) },
];

/// The settled pile, which the table of solver settings uses as well.
pub const SETTLED: Case = case("packed-50k-settled", "packed", 50_000, 600, [12.0, 25.0]);

/// Sizes at which `--flatness` steps the packed pile.
pub const FLATNESS_SIZES: [usize; 4] = [10_000, 50_000, 200_000, 1_000_000];

const SEED: u64 = 1;

/// Bodies and the settings that all engines share.
pub struct Scene {
    /// Gravity and time step; 4 substeps, friction by geometric mean, restitution by max.
    pub settings: Settings,
    /// In the order in which every engine adds them and reports their state.
    pub bodies: Vec<BodyDesc>,
}

impl Scene {
    /// The built-in scene `name` with about `bodies` moving bodies.
    ///
    /// # Errors
    ///
    /// When there is no such scene, or it has a body that the peers cannot express alike.
    pub fn build(name: &str, bodies: usize) -> Result<Scene, String> {
        let scene = ::granule::scene::builtin(name, bodies, SEED)
            .ok_or_else(|| format!("no built-in scene `{name}`"))?;
        let settings = Settings {
            time_step: 1.0 / 60.0,
            substeps: 4,
            mixing: Mixing { friction: Mix::GeometricMean, restitution: Mix::Max },
            ..scene.settings
        };
        for (index, body) in scene.bodies.iter().enumerate() {
            check_common(body).map_err(|what| format!("scene `{name}`, body {index}: {what}"))?;
        }
        Ok(Scene { settings, bodies: scene.bodies })
    }

    /// Bodies that move.
    pub fn moving(&self) -> usize {
        self.bodies.iter().filter(|body| body.body_type == BodyType::Dynamic).count()
    }
}

/// Only what means the same in every engine may be in a scene.
fn check_common(body: &BodyDesc) -> Result<(), &'static str> {
    let material = &body.material;
    if body.body_type == BodyType::Kinematic {
        Err("kinematic bodies are not compared")
    } else if matches!(body.shape, Shape::HalfSpace { .. }) {
        Err("half-spaces are not compared")
    } else if matches!(body.shape, Shape::Aabb { .. }) && body.angle != 0.0 {
        Err("a box must be aligned with the axes")
    } else if material.static_friction != material.dynamic_friction {
        Err("the peers have one friction coefficient")
    } else if body.mass.is_some() {
        Err("masses come from the density")
    } else if body.filter != (BodyDesc::dynamic(body.shape, body.position)).filter {
        Err("collision filters are not compared")
    } else {
        Ok(())
    }
}
