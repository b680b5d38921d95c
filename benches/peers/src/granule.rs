//! Granule's side.

use crate::engine::{Pool, State, Stepping, World, inside, timed};
use crate::hosting::Hosted;
use crate::joints::Joined;
use crate::queries::Asked;
use crate::scenes::Scene;
use crate::scenes::replacing::Schedule;
use ::granule::{
    Assembly, BatchFirst, BatchHits, BodyHandle, BodyPart, Hit, JointDesc, JointHandle, Probe, QueryFilter,
    Ray, Settings, Shape, ShapeCast, Vec2,
};
use std::collections::HashMap;

/// A Granule world and the pool it steps in.
pub struct GranuleWorld {
    world: ::granule::World,
    handles: Vec<BodyHandle>,
    /// Where the own shape of a body of several shapes is, from the centre of mass.
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
            sleep: stepping.sleep,
            continuous: stepping.continuous,
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
                State {
                    position: position.to_array(),
                    angle: body.angle,
                    velocity: body.velocity.to_array(),
                    angular_velocity: body.angular_velocity,
                }
            }
            // A stale handle cannot occur, what is removed is replaced; the measurement counts it as lost.
            Err(_) => State {
                position: [f32::NAN; 2],
                angle: f32::NAN,
                velocity: [f32::NAN; 2],
                angular_velocity: f32::NAN,
            },
        };
        self.handles.iter().map(state).collect()
    }
}

impl Joined for GranuleWorld {
    fn join(&mut self, first: usize, joints: &[JointDesc<usize, usize>]) -> Result<(), String> {
        for joint in joints {
            // There are no gears among them, which would name joints.
            let joint = joint.map(|place| self.handles[first + place], |_| JointHandle::default());
            self.world.add_joint(&joint).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn replace(&mut self, first: usize, made: &Assembly) -> Result<(), String> {
        let places = first..first + made.bodies.len();
        for &body in &self.handles[places.clone()] {
            self.world.remove_body(body).map_err(|error| error.to_string())?;
        }
        let added = self.world.add_assembly(made).map_err(|error| error.to_string())?;
        self.handles[places].copy_from_slice(&added);
        Ok(())
    }
}

impl Hosted for GranuleWorld {
    fn empty(scene: &Scene) -> Result<Self, String> {
        let none = Scene { settings: scene.settings, bodies: Vec::new(), parts: Vec::new(), replacing: None };
        let mut empty = GranuleWorld::new(&none, Stepping::common(1), None)?;
        empty.world.reserve(scene.bodies.len(), 0, 0).map_err(|error| error.to_string())?;
        Ok(empty)
    }

    fn add(&mut self, scene: &Scene) -> Result<(), String> {
        for desc in &scene.bodies {
            self.handles.push(self.world.add_body(desc).map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    fn poses(&self, out: &mut [[f32; 3]]) {
        for (pose, &handle) in out.iter_mut().zip(&self.handles) {
            let body = self.world.body(handle).expect("every body was added");
            *pose = [body.position.x, body.position.y, body.angle];
        }
    }
}

impl GranuleWorld {
    /// Whether no shape is within `radius` of a point.
    pub fn is_free(&self, at: Vec2, radius: f32) -> bool {
        let (probe, mut free) = (Probe::new(Shape::circle(radius), at), true);
        let found = self.world.overlap_shape(&probe, &QueryFilter::default(), |_| {
            free = false;
            false
        });
        found.is_ok() && free
    }

    /// The same world, asked by batches.
    pub fn batches(&self) -> Batches<'_> {
        Batches { world: &self.world, first: BatchFirst::new(), parts: BatchHits::new() }
    }
}

const VALID: &str = "questions are within the world";

impl Asked for GranuleWorld {
    fn rays(&mut self, rays: &[Ray]) -> usize {
        let (world, open) = (&self.world, QueryFilter::default());
        rays.iter().filter(|ray| world.cast_ray(ray, &open).expect(VALID).is_some()).count()
    }

    fn casts(&mut self, casts: &[ShapeCast]) -> usize {
        let (world, open) = (&self.world, QueryFilter::default());
        casts.iter().filter(|cast| world.cast_shape(cast, &open).expect(VALID).is_some()).count()
    }

    fn boxes(&mut self, boxes: &[[Vec2; 2]]) -> usize {
        let mut count = 0;
        for &[lower, upper] in boxes {
            self.world.overlap_aabb(lower, upper, &QueryFilter::default(), |_| {
                count += 1;
                true
            });
        }
        count
    }
}

/// A world that is asked by batches.
pub struct Batches<'a> {
    world: &'a ::granule::World,
    first: BatchFirst<Hit>,
    parts: BatchHits<BodyPart>,
}

impl Asked for Batches<'_> {
    fn rays(&mut self, rays: &[Ray]) -> usize {
        self.world.cast_rays(rays, &QueryFilter::default(), &mut self.first).expect(VALID);
        self.first.answers().iter().flatten().count()
    }

    fn casts(&mut self, casts: &[ShapeCast]) -> usize {
        self.world.cast_shapes(casts, &QueryFilter::default(), &mut self.first).expect(VALID);
        self.first.answers().iter().flatten().count()
    }

    fn boxes(&mut self, boxes: &[[Vec2; 2]]) -> usize {
        self.world.overlap_aabbs(boxes, &QueryFilter::default(), &mut self.parts);
        self.parts.hits().len()
    }
}
