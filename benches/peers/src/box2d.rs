//! Box2D's side, over its C API.
//!
//! With more than one worker and no task callbacks, Box2D v3.2 makes persistent threads and runs its
//! own scheduler, which wakes them by a semaphore for each task. A task system of our own behind the
//! callbacks, whose workers spin all through a step, was tried: in 12 runs each, in turn, of 10,000
//! packed circles on 2 cores, the best medians were 4.35 ms with either, and where the machine was busy
//! the spinning workers lost (median of the runs 12.1 ms against 7.8). So it is Box2D's own. One worker
//! is its serial path, without tasks.

mod joined;

use crate::engine::{State, Stepping, World, timed};
use crate::hosting::Hosted;
use crate::queries::{Asked, RADIUS};
use crate::scenes::replacing::Schedule;
use crate::scenes::{Scene, corners, own_shape};
use ::granule::{BodyDesc, BodyType, Part, Shape};
use boxdd_sys::ffi;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// A Box2D world.
pub struct Box2dWorld {
    world: ffi::b2WorldId,
    bodies: Vec<ffi::b2BodyId>,
    schedule: Schedule,
    time_step: f32,
    substeps: c_int,
}

impl Box2dWorld {
    /// # Errors
    ///
    /// When Box2D has no room for another world or the scene has a shape it lacks.
    pub fn new(scene: &Scene, stepping: Stepping) -> Result<Self, String> {
        let mut world = Box2dWorld::empty(scene, stepping)?;
        world.add(scene)?;
        for (body, part) in &scene.parts {
            add_shape(world.bodies[*body], part)?;
        }
        Ok(world)
    }

    /// A world without bodies, with room for those of the scene.
    fn empty(scene: &Scene, stepping: Stepping) -> Result<Self, String> {
        let too_many = |_| "too many for Box2D's int".to_owned();
        let moving = c_int::try_from(scene.moving()).map_err(too_many)?;
        let resting = c_int::try_from(scene.bodies.len() - scene.moving()).map_err(too_many)?;

        // SAFETY: takes nothing and returns a plain value.
        let mut def = unsafe { ffi::b2DefaultWorldDef() };
        def.gravity = vec2(scene.settings.gravity.to_array());
        def.enableSleep = stepping.sleep;
        def.enableContinuous = stepping.continuous;
        def.workerCount = c_int::try_from(stepping.threads).map_err(too_many)?;
        def.capacity = ffi::b2Capacity {
            staticShapeCount: resting,
            dynamicShapeCount: moving,
            staticBodyCount: resting,
            dynamicBodyCount: moving,
            contactCount: moving.saturating_mul(3),
        };
        // SAFETY: `def` comes from b2DefaultWorldDef, holds no dangling pointer (both callbacks are
        // null, and so are the contexts), and is only read during the call.
        let id = unsafe { ffi::b2CreateWorld(&def) };
        if id.index1 == 0 {
            return Err("Box2D has no room for another world".to_owned());
        }
        Ok(Box2dWorld {
            world: id,
            bodies: Vec::with_capacity(scene.bodies.len()),
            schedule: Schedule::new(scene.replacing),
            time_step: scene.settings.time_step,
            substeps: c_int::try_from(stepping.substeps).map_err(too_many)?,
        })
    }
}

/// A body with its own shape.
///
/// # Safety
///
/// The world exists, and no step of it runs.
unsafe fn create(world: ffi::b2WorldId, desc: &BodyDesc) -> Result<ffi::b2BodyId, String> {
    // SAFETY: takes nothing and returns a plain value.
    let mut def = unsafe { ffi::b2DefaultBodyDef() };
    def.type_ = match desc.body_type {
        BodyType::Dynamic => ffi::b2BodyType_b2_dynamicBody,
        BodyType::Kinematic => ffi::b2BodyType_b2_kinematicBody,
        BodyType::Static => ffi::b2BodyType_b2_staticBody,
    };
    def.position = vec2(desc.position.to_array());
    def.rotation = rotation(desc.angle);
    def.linearVelocity = vec2(desc.velocity.to_array());
    def.angularVelocity = desc.angular_velocity;
    def.linearDamping = desc.linear_damping;
    def.angularDamping = desc.angular_damping;
    def.gravityScale = desc.gravity_scale;
    def.motionLocks.angularZ = matches!(desc.shape, Shape::Aabb { .. });
    // SAFETY: the world exists; the definition has no pointers but null ones and is only read during the call.
    let body = unsafe { ffi::b2CreateBody(world, &def) };
    if let Some(part) = own_shape(desc) {
        add_shape(body, &part)?;
    }
    Ok(body)
}

fn add_shape(body: ffi::b2BodyId, part: &Part) -> Result<(), String> {
    // SAFETY: takes nothing and returns a plain value.
    let mut def = unsafe { ffi::b2DefaultShapeDef() };
    def.density = part.material.density;
    def.material.friction = part.material.static_friction;
    def.material.restitution = part.material.restitution;
    def.filter.categoryBits = u64::from(part.filter.category);
    def.filter.maskBits = u64::from(part.filter.mask);
    // Shapes of one group below 0 do not touch each other.
    def.filter.groupIndex = -c_int::try_from(part.filter.group).map_err(|_| "too many groups".to_owned())?;
    let (corners, radius) = corners(part)?;
    let corners: Vec<ffi::b2Vec2> = corners.iter().map(|corner| vec2(corner.map(|x| x as f32))).collect();
    let radius = radius as f32;
    let at_centre = part.position == ::granule::Vec2::ZERO && part.angle == 0.0;
    match (&part.shape, &corners[..]) {
        (Shape::Aabb { half_extents } | Shape::Box { half_extents }, _) if at_centre => {
            // SAFETY: `body` exists; the pointers are to locals, read during the call; b2MakeBox takes and
            // returns plain values.
            unsafe {
                let polygon = ffi::b2MakeBox(half_extents.x, half_extents.y);
                ffi::b2CreatePolygonShape(body, &def, &polygon);
            }
        }
        (_, &[center]) => {
            let circle = ffi::b2Circle { center, radius };
            // SAFETY: as for the box.
            unsafe { ffi::b2CreateCircleShape(body, &def, &circle) };
        }
        (_, &[point1, point2]) if radius == 0.0 => {
            let segment = ffi::b2Segment { point1, point2 };
            // SAFETY: as for the box.
            unsafe { ffi::b2CreateSegmentShape(body, &def, &segment) };
        }
        (_, &[center1, center2]) => {
            let capsule = ffi::b2Capsule { center1, center2, radius };
            // SAFETY: as for the box.
            unsafe { ffi::b2CreateCapsuleShape(body, &def, &capsule) };
        }
        (_, corners) => {
            let count = c_int::try_from(corners.len()).map_err(|_| "too many corners".to_owned())?;
            // SAFETY: the pointer is to `count` points, read during the call.
            let hull = unsafe { ffi::b2ComputeHull(corners.as_ptr(), count) };
            if hull.count != count {
                return Err("Box2D finds another hull of a polygon".to_owned());
            }
            // SAFETY: the hull comes from b2ComputeHull and is not empty; else as for the box.
            unsafe {
                let polygon = ffi::b2MakePolygon(&hull, radius);
                ffi::b2CreatePolygonShape(body, &def, &polygon);
            }
        }
    }
    Ok(())
}

impl World for Box2dWorld {
    fn run(&mut self, steps: usize, seconds: &mut Vec<f64>) {
        let Box2dWorld { world, bodies, schedule, time_step, substeps } = self;
        timed(schedule, steps, seconds, |edits| {
            for &place in &edits.places {
                // SAFETY: the body was created in this world, and its id is replaced below.
                unsafe { ffi::b2DestroyBody(bodies[place]) };
            }
            for (&place, body) in edits.places.iter().zip(&edits.bodies) {
                // SAFETY: the world exists until `self` is dropped, and no step of it runs yet.
                bodies[place] = unsafe { create(*world, body) }.expect("a circle is compared");
            }
            // SAFETY: the world exists until `self` is dropped, and `&mut self` keeps any other call on
            // it away during the step.
            unsafe { ffi::b2World_Step(*world, *time_step, *substeps) };
        });
    }

    fn states(&self) -> Vec<State> {
        let state = |&body: &ffi::b2BodyId| {
            // SAFETY: bodies live as long as the world, but for those whose id is replaced at once; all calls
            // only read, and no step runs while `self` is borrowed.
            let (position, rotation, velocity, angular_velocity) = unsafe {
                (
                    ffi::b2Body_GetPosition(body),
                    ffi::b2Body_GetRotation(body),
                    ffi::b2Body_GetLinearVelocity(body),
                    ffi::b2Body_GetAngularVelocity(body),
                )
            };
            State {
                position: [position.x, position.y],
                angle: rotation.s.atan2(rotation.c),
                velocity: [velocity.x, velocity.y],
                angular_velocity,
            }
        };
        self.bodies.iter().map(state).collect()
    }
}

impl Drop for Box2dWorld {
    fn drop(&mut self) {
        // SAFETY: the world was created in `new` and is destroyed here only; its bodies' ids go with it.
        unsafe { ffi::b2DestroyWorld(self.world) };
    }
}

/// Notes a hit in the bool that `context` points to, and clips the cast to it.
///
/// # Safety
///
/// `context` points to a bool that nothing else uses during the call.
unsafe extern "C" fn clip(
    _: ffi::b2ShapeId,
    _: ffi::b2Pos,
    _: ffi::b2Vec2,
    fraction: f32,
    context: *mut c_void,
) -> f32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { *context.cast::<bool>() = true };
    fraction
}

/// Counts a shape in the usize that `context` points to.
///
/// # Safety
///
/// `context` points to a usize that nothing else uses during the call.
unsafe extern "C" fn count(_: ffi::b2ShapeId, context: *mut c_void) -> bool {
    // SAFETY: the caller vouches for the pointer.
    unsafe { *context.cast::<usize>() += 1 };
    true
}

impl Hosted for Box2dWorld {
    fn empty(scene: &Scene) -> Result<Self, String> {
        Box2dWorld::empty(scene, Stepping::common(1))
    }

    fn add(&mut self, scene: &Scene) -> Result<(), String> {
        for desc in &scene.bodies {
            // SAFETY: the world exists until `self` is dropped, and no step of it runs.
            let body = unsafe { create(self.world, desc) }?;
            self.bodies.push(body);
        }
        Ok(())
    }

    fn poses(&self, out: &mut [[f32; 3]]) {
        for (pose, &body) in out.iter_mut().zip(&self.bodies) {
            // SAFETY: the body was created in this world; the call only reads, and no step runs while `self` is borrowed.
            let ffi::b2Transform { p, q } = unsafe { ffi::b2Body_GetTransform(body) };
            *pose = [p.x, p.y, q.s.atan2(q.c)];
        }
    }
}

impl Asked for Box2dWorld {
    fn rays(&mut self, rays: &[::granule::Ray]) -> usize {
        // SAFETY: takes nothing and returns a plain value.
        let filter = unsafe { ffi::b2DefaultQueryFilter() };
        let meets = |ray: &&::granule::Ray| {
            let (from, way) = (vec2(ray.from.to_array()), vec2(ray.way.to_array()));
            // SAFETY: the world exists until `self` is dropped, and no step of it runs.
            unsafe { ffi::b2World_CastRayClosest(self.world, from, way, filter) }.hit
        };
        rays.iter().filter(meets).count()
    }

    fn casts(&mut self, casts: &[::granule::ShapeCast]) -> usize {
        // SAFETY: takes nothing and returns a plain value.
        let filter = unsafe { ffi::b2DefaultQueryFilter() };
        let meets = |cast: &&::granule::ShapeCast| {
            let (from, way) = (vec2(cast.probe.position.to_array()), vec2(cast.way.to_array()));
            let (centre, mut hit) = (vec2([0.0; 2]), false);
            // SAFETY: the world exists until `self` is dropped, and no step of it runs; the point, the proxy and the flag are locals.
            unsafe {
                let proxy = ffi::b2MakeProxy(&centre, 1, RADIUS);
                ffi::b2World_CastShape(
                    self.world,
                    from,
                    &proxy,
                    way,
                    filter,
                    Some(clip),
                    (&raw mut hit).cast(),
                );
            }
            hit
        };
        casts.iter().filter(meets).count()
    }

    fn boxes(&mut self, boxes: &[[::granule::Vec2; 2]]) -> usize {
        // SAFETY: takes nothing and returns a plain value.
        let filter = unsafe { ffi::b2DefaultQueryFilter() };
        let mut found = 0usize;
        for [lower, upper] in boxes {
            let bounds =
                ffi::b2AABB { lowerBound: vec2(lower.to_array()), upperBound: vec2(upper.to_array()) };
            let origin = vec2([0.0; 2]);
            // SAFETY: the world exists until `self` is dropped, and no step of it runs; the count is a local.
            unsafe {
                ffi::b2World_OverlapAABB(
                    self.world,
                    origin,
                    bounds,
                    filter,
                    Some(count),
                    (&raw mut found).cast(),
                );
            }
        }
        found
    }
}

/// As Box2D keeps an angle.
fn rotation(angle: f32) -> ffi::b2Rot {
    ffi::b2Rot { c: angle.cos(), s: angle.sin() }
}

fn vec2([x, y]: [f32; 2]) -> ffi::b2Vec2 {
    ffi::b2Vec2 { x, y }
}

/// The version that the linked library reports.
pub fn version() -> String {
    // SAFETY: takes nothing and returns a plain value.
    let version = unsafe { ffi::b2GetVersion() };
    format!("{}.{}.{}", version.major, version.minor, version.revision)
}

static ASSERTED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn note_assertion(_: *const c_char, _: *const c_char, _: c_int) -> c_int {
    ASSERTED.store(true, Ordering::Relaxed);
    0
}

/// Whether the linked library has its assertions compiled in, found by failing one.
///
/// Must be called before the first world is made: the length unit is global to the library.
pub fn assertions_enabled() -> bool {
    // SAFETY: no world exists and no other thread calls the library. The handler touches an atomic
    // only and returns 0, with which the library goes on; the impossible unit is replaced at once.
    unsafe {
        ffi::b2SetAssertFcn(Some(note_assertion));
        let unit = ffi::b2GetLengthUnitsPerMeter();
        ffi::b2SetLengthUnitsPerMeter(-1.0);
        ffi::b2SetLengthUnitsPerMeter(unit);
        ffi::b2SetAssertFcn(Some(report_assertion));
    }
    ASSERTED.load(Ordering::Relaxed)
}

unsafe extern "C" fn report_assertion(condition: *const c_char, file: *const c_char, line: c_int) -> c_int {
    // SAFETY: Box2D passes literals of its own source, terminated by a zero.
    let (condition, file) = unsafe { (std::ffi::CStr::from_ptr(condition), std::ffi::CStr::from_ptr(file)) };
    eprintln!("Box2D assertion failed: {} ({}:{line})", condition.to_string_lossy(), file.to_string_lossy());
    1
}
