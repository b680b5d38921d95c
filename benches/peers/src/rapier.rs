//! Rapier's side: its `parallel` and `simd8` builds, everything that is not compared left at its default.

use crate::engine::{State, Stepping, World, timed};
use crate::scenes::Scene;
use ::granule::{BodyType, Shape};
use rapier2d::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A Rapier world and the pool it steps in.
pub struct RapierWorld {
    world: PhysicsWorld,
    handles: Vec<RigidBodyHandle>,
    /// Also for one thread, since outside of a pool Rapier takes the global one.
    pool: ThreadPool,
}

impl RapierWorld {
    /// # Errors
    ///
    /// When the pool cannot be made.
    pub fn new(scene: &Scene, stepping: Stepping) -> Result<Self, String> {
        let mut world = PhysicsWorld {
            gravity: Vector::new(scene.settings.gravity.x, scene.settings.gravity.y),
            integration_parameters: IntegrationParameters {
                dt: scene.settings.time_step,
                // A solver iteration of Rapier is a substep, with one biased and one relaxing pass.
                num_solver_iterations: stepping.substeps as usize,
                // No continuous collision at all, not even against fixed bodies.
                max_ccd_substeps: 0,
                ..IntegrationParameters::default()
            },
            ..PhysicsWorld::default()
        };

        let mut handles = Vec::with_capacity(scene.bodies.len());
        for desc in &scene.bodies {
            let builder = match desc.body_type {
                BodyType::Dynamic => RigidBodyBuilder::dynamic(),
                BodyType::Static | BodyType::Kinematic => RigidBodyBuilder::fixed(),
            };
            let mut builder = builder
                .translation(Vector::new(desc.position.x, desc.position.y))
                .rotation(desc.angle)
                .linvel(Vector::new(desc.velocity.x, desc.velocity.y))
                .angvel(desc.angular_velocity)
                .gravity_scale(desc.gravity_scale)
                .linear_damping(desc.linear_damping)
                .angular_damping(desc.angular_damping)
                .can_sleep(false)
                .ccd_enabled(false);
            let collider = match desc.shape {
                Shape::Circle { radius } | Shape::Particle { radius } => ColliderBuilder::ball(radius),
                Shape::Aabb { half_extents } => {
                    builder = builder.lock_rotations();
                    ColliderBuilder::cuboid(half_extents.x, half_extents.y)
                }
                Shape::HalfSpace { .. } => return Err("half-spaces are not compared".to_owned()),
            };
            let collider = collider
                .density(desc.material.density)
                .friction(desc.material.static_friction)
                .friction_combine_rule(CoefficientCombineRule::GeometricMean)
                .restitution(desc.material.restitution)
                .restitution_combine_rule(CoefficientCombineRule::Max);
            let handle = world.bodies.insert(builder);
            world.colliders.insert_with_parent(collider, handle, &mut world.bodies);
            handles.push(handle);
        }

        let pool =
            ThreadPoolBuilder::new().num_threads(stepping.threads).build().map_err(|e| e.to_string())?;
        Ok(RapierWorld { world, handles, pool })
    }
}

impl World for RapierWorld {
    fn run(&mut self, steps: usize, seconds: &mut Vec<f64>) {
        let world = &mut self.world;
        self.pool.install(|| timed(steps, seconds, || world.step()));
    }

    fn states(&self) -> Vec<State> {
        let state = |&handle: &RigidBodyHandle| {
            let body = &self.world.bodies[handle];
            State { position: body.translation().to_array(), velocity: body.linvel().to_array() }
        };
        self.handles.iter().map(state).collect()
    }
}
