//! Rapier's side: its `parallel` and `simd8` builds, everything that is not compared left at its default.

mod joined;

use crate::engine::{Pool, State, Stepping, World, inside, timed};
use crate::hosting::Hosted;
use crate::queries::{Asked, RADIUS};
use crate::scenes::replacing::Schedule;
use crate::scenes::{Scene, own_shape};
use ::granule::{BodyDesc, BodyType, Part, Shape};
use rapier2d::prelude::*;

/// A Rapier world and the pool it steps in.
pub struct RapierWorld {
    world: PhysicsWorld,
    handles: Vec<RigidBodyHandle>,
    schedule: Schedule,
    pool: Pool,
    sleep: bool,
}

impl RapierWorld {
    /// # Errors
    ///
    /// When the scene has a shape that is not compared.
    pub fn new(scene: &Scene, stepping: Stepping, pool: Pool) -> Result<Self, String> {
        let mut new = RapierWorld::with_settings(scene, stepping, pool);
        new.add(scene)?;
        for (body, part) in &scene.parts {
            let world = &mut new.world;
            world.colliders.insert_with_parent(collider(part)?, new.handles[*body], &mut world.bodies);
        }
        Ok(new)
    }

    /// A world without bodies.
    fn with_settings(scene: &Scene, stepping: Stepping, pool: Pool) -> Self {
        let mut world = PhysicsWorld {
            gravity: Vector::new(scene.settings.gravity.x, scene.settings.gravity.y),
            integration_parameters: IntegrationParameters {
                dt: scene.settings.time_step,
                // A solver iteration of Rapier is a substep, with one biased and one relaxing pass.
                num_solver_iterations: stepping.substeps as usize,
                ..IntegrationParameters::default()
            },
            ..PhysicsWorld::default()
        };

        if !stepping.continuous {
            // No continuous collision at all, not even against fixed bodies.
            world.integration_parameters.max_ccd_substeps = 0;
        }
        let schedule = Schedule::new(scene.replacing);
        RapierWorld {
            world,
            handles: Vec::with_capacity(scene.bodies.len()),
            schedule,
            pool,
            sleep: stepping.sleep,
        }
    }

    /// The world's bytes, in a buffer that is used again.
    ///
    /// # Errors
    ///
    /// What the serializer says.
    pub fn save(&self, buffer: Vec<u8>) -> Result<Vec<u8>, String> {
        postcard::to_extend(&self.world, buffer).map_err(|error| error.to_string())
    }

    /// Takes the world of some bytes.
    ///
    /// # Errors
    ///
    /// What the deserializer says.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.world = postcard::from_bytes(bytes).map_err(|error| error.to_string())?;
        Ok(())
    }
}

impl Hosted for RapierWorld {
    fn empty(scene: &Scene) -> Result<Self, String> {
        // Outside of a pool it takes the global one.
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| error.to_string())?;
        Ok(RapierWorld::with_settings(scene, Stepping::common(1), Some(std::sync::Arc::new(pool))))
    }

    fn add(&mut self, scene: &Scene) -> Result<(), String> {
        for desc in &scene.bodies {
            self.handles.push(insert(&mut self.world, desc, self.sleep)?);
        }
        Ok(())
    }

    fn poses(&self, out: &mut [[f32; 3]]) {
        for (pose, &handle) in out.iter_mut().zip(&self.handles) {
            let body = &self.world.bodies[handle];
            *pose = [body.translation().x, body.translation().y, body.rotation().angle()];
        }
    }
}

/// A body with its own shape.
fn insert(world: &mut PhysicsWorld, desc: &BodyDesc, sleep: bool) -> Result<RigidBodyHandle, String> {
    let builder = match desc.body_type {
        BodyType::Dynamic => RigidBodyBuilder::dynamic(),
        BodyType::Static => RigidBodyBuilder::fixed(),
        BodyType::Kinematic => RigidBodyBuilder::kinematic_velocity_based(),
    };
    let mut builder = builder
        .translation(Vector::new(desc.position.x, desc.position.y))
        .rotation(desc.angle)
        .linvel(Vector::new(desc.velocity.x, desc.velocity.y))
        .angvel(desc.angular_velocity)
        .gravity_scale(desc.gravity_scale)
        .linear_damping(desc.linear_damping)
        .angular_damping(desc.angular_damping)
        .can_sleep(sleep)
        .ccd_enabled(false);
    if matches!(desc.shape, Shape::Aabb { .. }) {
        builder = builder.lock_rotations();
    }
    let handle = world.bodies.insert(builder);
    if let Some(part) = own_shape(desc) {
        world.colliders.insert_with_parent(collider(&part)?, handle, &mut world.bodies);
    }
    Ok(handle)
}

/// Keeps shapes of one group from touching, which Rapier has no setting for. It is asked of shapes with a group alone.
struct Groups;

impl PhysicsHooks for Groups {
    fn filter_contact_pair(&self, context: &PairFilterContext) -> Option<SolverFlags> {
        let group = |collider: ColliderHandle| context.colliders[collider].user_data;
        let (a, b) = (group(context.collider1), group(context.collider2));
        (a == 0 || a != b).then_some(SolverFlags::COMPUTE_RIGID_IMPULSES)
    }
}

/// One shape of a body.
fn collider(part: &Part) -> Result<ColliderBuilder, String> {
    let builder = match &part.shape {
        Shape::Circle { radius } | Shape::Particle { radius } => ColliderBuilder::ball(*radius),
        Shape::Aabb { half_extents } | Shape::Box { half_extents } => {
            ColliderBuilder::cuboid(half_extents.x, half_extents.y)
        }
        Shape::Capsule { half_length, radius } => ColliderBuilder::capsule_x(*half_length, *radius),
        Shape::Segment { half_length } => {
            ColliderBuilder::segment(Vector::new(-half_length, 0.0), Vector::new(*half_length, 0.0))
        }
        Shape::Polygon(polygon) => {
            let vertices: Vec<Vector> =
                polygon.vertices().iter().map(|vertex| Vector::new(vertex.x, vertex.y)).collect();
            let hull = if polygon.radius() > 0.0 {
                ColliderBuilder::round_convex_hull(&vertices, polygon.radius())
            } else {
                ColliderBuilder::convex_hull(&vertices)
            };
            hull.ok_or("Rapier finds no hull of a polygon")?
        }
        Shape::HalfSpace { .. } | Shape::ChainSegment { .. } => {
            return Err("half-spaces and chains are not compared".to_owned());
        }
    };
    let group = part.filter.group;
    let hooks = if group == 0 { ActiveHooks::empty() } else { ActiveHooks::FILTER_CONTACT_PAIRS };
    Ok(builder
        .user_data(u128::from(group))
        .active_hooks(hooks)
        .translation(Vector::new(part.position.x, part.position.y))
        .rotation(part.angle)
        .density(part.material.density)
        .friction(part.material.static_friction)
        .friction_combine_rule(CoefficientCombineRule::GeometricMean)
        .restitution(part.material.restitution)
        .restitution_combine_rule(CoefficientCombineRule::Max))
}

impl World for RapierWorld {
    fn run(&mut self, steps: usize, seconds: &mut Vec<f64>) {
        let RapierWorld { world, handles, schedule, pool, sleep } = self;
        inside(pool, || {
            timed(schedule, steps, seconds, |edits| {
                for &place in &edits.places {
                    world.remove_body(handles[place]);
                }
                for (&place, body) in edits.places.iter().zip(&edits.bodies) {
                    handles[place] = insert(world, body, *sleep).expect("a circle is compared");
                }
                world.step_with_events(&Groups, &());
            });
        });
    }

    fn states(&self) -> Vec<State> {
        let state = |&handle: &RigidBodyHandle| {
            let body = &self.world.bodies[handle];
            State {
                position: body.translation().to_array(),
                angle: body.rotation().angle(),
                velocity: body.linvel().to_array(),
                angular_velocity: body.angvel(),
            }
        };
        self.handles.iter().map(state).collect()
    }
}

impl Asked for RapierWorld {
    fn rays(&mut self, rays: &[::granule::Ray]) -> usize {
        let pipeline = self.world.query_pipeline();
        let meets = |ray: &&::granule::Ray| {
            let ray = Ray::new(Vector::new(ray.from.x, ray.from.y), Vector::new(ray.way.x, ray.way.y));
            pipeline.cast_ray_and_get_normal(&ray, 1.0, true).is_some()
        };
        rays.iter().filter(meets).count()
    }

    fn casts(&mut self, casts: &[::granule::ShapeCast]) -> usize {
        let pipeline = self.world.query_pipeline();
        let (ball, options) =
            (Ball::new(RADIUS), rapier2d::parry::query::ShapeCastOptions::with_max_time_of_impact(1.0));
        let meets = |cast: &&::granule::ShapeCast| {
            let (from, way) = (cast.probe.position, cast.way);
            let pose = Pose::from_translation(Vector::new(from.x, from.y));
            pipeline.cast_shape(&pose, Vector::new(way.x, way.y), &ball, options).is_some()
        };
        casts.iter().filter(meets).count()
    }

    fn boxes(&mut self, boxes: &[[::granule::Vec2; 2]]) -> usize {
        let pipeline = self.world.query_pipeline();
        let within = |[lower, upper]: &[::granule::Vec2; 2]| {
            let bounds = Aabb::new(Vector::new(lower.x, lower.y), Vector::new(upper.x, upper.y));
            pipeline.intersect_aabb_conservative(bounds).count()
        };
        boxes.iter().map(within).sum()
    }
}
