//! Granule's side.

use crate::engine::{State, Stepping, World, timed};
use crate::scenes::Scene;
use ::granule::{BodyHandle, Settings, Vec2};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;

/// A Granule world and the pool it steps in.
pub struct GranuleWorld {
    world: ::granule::World,
    handles: Vec<BodyHandle>,
    /// Of a body of several shapes, where its own one is from the centre of mass.
    own_shapes: HashMap<BodyHandle, Vec2>,
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
            damping_ratio: stepping.damping_ratio.unwrap_or(scene.settings.damping_ratio),
            ..scene.settings
        };
        let mut world = ::granule::World::new(settings).map_err(|error| error.to_string())?;
        let handles = world.add_bodies(&scene.bodies).map_err(|error| error.to_string())?;
        let mut own_shapes = HashMap::new();
        for parts in scene.parts.chunk_by(|a, b| a.0 == b.0) {
            let body = handles[parts[0].0];
            let parts: Vec<_> = parts.iter().map(|&(_, part)| part).collect();
            world.add_parts(body, &parts).map_err(|error| error.to_string())?;
            let parts = world.parts(body).map_err(|error| error.to_string())?;
            own_shapes.insert(body, parts[0].position);
        }
        let pool = match stepping.threads {
            1 => None,
            threads => {
                Some(ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| e.to_string())?)
            }
        };
        Ok(GranuleWorld { world, handles, own_shapes, pool })
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
            Ok(body) => {
                let own_shape = self.own_shapes.get(&handle).copied().unwrap_or(Vec2::ZERO);
                let position = body.position + Vec2::from_angle(body.angle).rotate(own_shape);
                State { position: position.to_array(), angle: body.angle, velocity: body.velocity.to_array() }
            }
            // A stale handle cannot occur, nothing is removed; the measurement counts it as lost.
            Err(_) => State { position: [f32::NAN; 2], angle: f32::NAN, velocity: [f32::NAN; 2] },
        };
        self.handles.iter().map(state).collect()
    }
}
