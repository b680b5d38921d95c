//! Box2D's side, over its C API.
//!
//! With more than one worker and no task callbacks, Box2D v3.2 makes persistent threads and runs its
//! own scheduler, which wakes them by a semaphore for each task. A task system of our own behind the
//! callbacks, whose workers spin all through a step, was tried: in 12 runs each, in turn, of 10,000
//! packed circles on 2 cores, the best medians were 4.35 ms with either, and where the machine was busy
//! the spinning workers lost (median of the runs 12.1 ms against 7.8). So it is Box2D's own. One worker
//! is its serial path, without tasks.

use crate::engine::{State, Stepping, World, timed};
use crate::joints;
use crate::scenes::replacing::Schedule;
use crate::scenes::{Scene, corners, own_shape};
use ::granule::{BodyDesc, BodyType, Part, Settings, Shape};
use boxdd_sys::ffi;
use std::ffi::{c_char, c_int};
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
        let too_many = |_| "too many for Box2D's int".to_owned();
        let moving = c_int::try_from(scene.moving()).map_err(too_many)?;
        let resting = c_int::try_from(scene.bodies.len() - scene.moving()).map_err(too_many)?;

        // SAFETY: takes nothing and returns a plain value.
        let mut def = unsafe { ffi::b2DefaultWorldDef() };
        def.gravity = vec2(scene.settings.gravity.to_array());
        def.enableSleep = false;
        def.enableContinuous = false;
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
        let mut world = Box2dWorld {
            world: id,
            bodies: Vec::with_capacity(scene.bodies.len()),
            schedule: Schedule::new(scene.replacing),
            time_step: scene.settings.time_step,
            substeps: c_int::try_from(stepping.substeps).map_err(too_many)?,
        };
        for desc in &scene.bodies {
            // SAFETY: the world was created above.
            let body = unsafe { create(id, desc) }?;
            world.bodies.push(body);
        }
        for (body, part) in &scene.parts {
            add_shape(world.bodies[*body], part)?;
        }
        Ok(world)
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
            let (position, rotation, velocity) = unsafe {
                (
                    ffi::b2Body_GetPosition(body),
                    ffi::b2Body_GetRotation(body),
                    ffi::b2Body_GetLinearVelocity(body),
                )
            };
            State {
                position: [position.x, position.y],
                angle: rotation.s.atan2(rotation.c),
                velocity: [velocity.x, velocity.y],
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

/// The grid of [`crate::joints`].
pub struct JointGrid {
    world: Box2dWorld,
    /// Bodies and their own points that a joint holds together.
    joints: Vec<[(ffi::b2BodyId, ffi::b2Vec2); 2]>,
}

impl JointGrid {
    /// # Errors
    ///
    /// When Box2D has no room for another world.
    pub fn new(side: usize, threads: usize) -> Result<Self, String> {
        let scene = Scene {
            settings: Settings {
                gravity: joints::GRAVITY.into(),
                time_step: joints::TIME_STEP,
                ..Settings::default()
            },
            bodies: Vec::new(),
            parts: Vec::new(),
            replacing: None,
        };
        let substeps = joints::BOX2D_SUBSTEPS;
        let mut world = Box2dWorld::new(&scene, Stepping { substeps, ..Stepping::common(threads) })?;
        for place in joints::places(side) {
            // SAFETY: both take nothing and return plain values.
            let (mut body_def, mut shape_def) =
                unsafe { (ffi::b2DefaultBodyDef(), ffi::b2DefaultShapeDef()) };
            body_def.type_ =
                if place.fixed { ffi::b2BodyType_b2_staticBody } else { ffi::b2BodyType_b2_dynamicBody };
            body_def.position = vec2(place.position);
            shape_def.density = 1.0;
            // Its own category is not in its mask: no two of them touch.
            shape_def.filter.categoryBits = 2;
            shape_def.filter.maskBits = !2;
            let circle = ffi::b2Circle { center: vec2([0.0, 0.0]), radius: joints::RADIUS };
            // SAFETY: the world exists until `world` is dropped; the definitions have no pointers but null ones;
            // all pointers are to locals, read during the call.
            let body = unsafe {
                let body = ffi::b2CreateBody(world.world, &body_def);
                ffi::b2CreateCircleShape(body, &shape_def, &circle);
                body
            };
            world.bodies.push(body);
        }
        let mut joints = Vec::new();
        for (a, b, below) in joints::neighbours(side) {
            let half = if below { [0.0, -0.5] } else { [0.5, 0.0] };
            let ends = [(world.bodies[a], vec2(half)), (world.bodies[b], vec2(half.map(|x| -x)))];
            // SAFETY: takes nothing and returns a plain value.
            let mut def = unsafe { ffi::b2DefaultRevoluteJointDef() };
            (def.base.bodyIdA, def.base.localFrameA.p) = ends[0];
            (def.base.bodyIdB, def.base.localFrameB.p) = ends[1];
            // SAFETY: both bodies were created above, in this world; the definition is read during the call.
            unsafe { ffi::b2CreateRevoluteJoint(world.world, &def) };
            joints.push(ends);
        }
        Ok(JointGrid { world, joints })
    }

    /// See [`World::run`].
    pub fn run(&mut self, steps: usize, seconds: &mut Vec<f64>) {
        self.world.run(steps, seconds);
    }

    /// The distance of each joint's two points, in metres.
    pub fn gaps(&self) -> Vec<f64> {
        let gap = |&[a, b]: &[(ffi::b2BodyId, ffi::b2Vec2); 2]| {
            // SAFETY: bodies live as long as the world; the calls only read, and no step runs while `self` is
            // borrowed.
            let [a, b] = [a, b].map(|(body, point)| unsafe { ffi::b2Body_GetWorldPoint(body, point) });
            f64::from(a.x - b.x).hypot(f64::from(a.y - b.y))
        };
        self.joints.iter().map(gap).collect()
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
