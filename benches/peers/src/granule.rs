//! Granule's side.

use crate::engine::{Pool, State, Stepping, World, inside, timed};
use crate::scenes::Scene;
use crate::scenes::replacing::Schedule;
use ::granule::{BodyHandle, Settings, Vec2};
use std::collections::HashMap;

/// A Granule world and the pool it steps in.
pub struct GranuleWorld {
    world: ::granule::World,
    handles: Vec<BodyHandle>,
    /// Of a body of several shapes, where its own one is from the centre of mass.
    own_shapes: HashMap<BodyHandle, Vec2>,
    schedule: Schedule,
    pool: Pool,
}

impl GranuleWorld {
    /// # Errors
    ///
    /// When Granule refuses a body or a setting.
    pub fn new(scene: &Scene, stepping: Stepping, pool: Pool) -> Result<Self, String> {
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
        let schedule = Schedule::new(scene.replacing);
        Ok(GranuleWorld { world, handles, own_shapes, schedule, pool })
    }
}

impl World for GranuleWorld {
    fn run(&mut self, steps: usize, seconds: &mut Vec<f64>) {
        let GranuleWorld { world, handles, schedule, pool, .. } = self;
        inside(pool, || {
            timed(schedule, steps, seconds, |edits| {
                if !edits.places.is_empty() {
                    for &place in &edits.places {
                        world.remove_body(handles[place]).expect("every place holds a body");
                    }
                    let added = world.add_bodies(&edits.bodies).expect("there is room for as many again");
                    for (&place, handle) in edits.places.iter().zip(added) {
                        handles[place] = handle;
                    }
                }
                world.step();
            });
        });
    }

    fn states(&self) -> Vec<State> {
        let state = |&handle: &BodyHandle| match self.world.body(handle) {
            Ok(body) => {
                let own_shape = self.own_shapes.get(&handle).copied().unwrap_or(Vec2::ZERO);
                let position = body.position + Vec2::from_angle(body.angle).rotate(own_shape);
                State { position: position.to_array(), angle: body.angle, velocity: body.velocity.to_array() }
            }
            // A stale handle cannot occur, what is removed is replaced; the measurement counts it as lost.
            Err(_) => State { position: [f32::NAN; 2], angle: f32::NAN, velocity: [f32::NAN; 2] },
        };
        self.handles.iter().map(state).collect()
    }
}
