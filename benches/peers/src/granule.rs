//! Granule's side.

use crate::engine::{State, Stepping, World, timed};
use crate::scenes::Scene;
use ::granule::{BodyHandle, Settings};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A Granule world and the pool it steps in.
pub struct GranuleWorld {
    world: ::granule::World,
    handles: Vec<BodyHandle>,
    /// `None` for one thread: a call from outside any pool is single-threaded.
    pool: Option<ThreadPool>,
}

impl GranuleWorld {
    /// # Errors
    ///
    /// When Granule refuses a body or a setting, or the pool cannot be made.
    pub fn new(scene: &Scene, stepping: Stepping) -> Result<Self, String> {
        let settings = Settings {
            substeps: stepping.substeps,
            iterations: stepping.iterations,
            solver: stepping.solver,
            contact_frequency_ratio: stepping
                .contact_frequency_ratio
                .unwrap_or(scene.settings.contact_frequency_ratio),
            ..scene.settings
        };
        let mut world = ::granule::World::new(settings).map_err(|error| error.to_string())?;
        let handles = world.add_bodies(&scene.bodies).map_err(|error| error.to_string())?;
        let pool = match stepping.threads {
            1 => None,
            threads => {
                Some(ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| e.to_string())?)
            }
        };
        Ok(GranuleWorld { world, handles, pool })
    }
}

impl World for GranuleWorld {
    fn run(&mut self, steps: usize, seconds: &mut Vec<f64>) {
        let world = &mut self.world;
        match &self.pool {
            None => timed(steps, seconds, || world.step()),
            Some(pool) => pool.install(|| timed(steps, seconds, || world.step())),
        }
    }

    fn states(&self) -> Vec<State> {
        let state = |&handle: &BodyHandle| match self.world.body(handle) {
            Ok(body) => State { position: body.position.to_array(), velocity: body.velocity.to_array() },
            // A stale handle cannot occur, nothing is removed; the measurement counts it as lost.
            Err(_) => State { position: [f32::NAN; 2], velocity: [f32::NAN; 2] },
        };
        self.handles.iter().map(state).collect()
    }
}
