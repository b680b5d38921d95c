//! Contract: a step of a warm world allocates nothing.
#![cfg(feature = "parallel")]
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

#[path = "allocations/everything.rs"]
mod everything;

use granule::scene::{self, Player};
use granule::{
    Assembly, BatchFirst, BatchHits, BodyDesc, BodyHandle, Explosion, Field, FieldKind, Filter, HookContact,
    Hooks, Isa, JointDesc, JointFrame, JointKind, Material, Order, PoseField, Probe, QueryFilter, Ray,
    Region, Settings, Shape, ShapeCast, Spring, Vec2, World, step_many,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

/// The system's allocator, with a count of the calls from all threads.
struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);
/// The mark of the test harness's own thread, which is not counted: it begins to wait while the test runs, and says so after a minute.
static HARNESS: AtomicUsize = AtomicUsize::new(0);
/// The number of bytes allocated and not yet freed.
static LIVE: AtomicI64 = AtomicI64::new(0);

/// An address that no other thread has.
fn mark() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| ptr::from_ref(mark).addr())
}

fn count(bytes: i64) {
    // The first thread that allocates is the process's first.
    let first = HARNESS.compare_exchange(0, mark(), Ordering::Relaxed, Ordering::Relaxed).err();
    if first.is_some_and(|first| first != mark()) {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
    LIVE.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: every method forwards its arguments, unchanged, to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps this method's contract, and System's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A pool whose threads all run: one that the machine starts late would allocate what is its own (its name, its place among those that
/// steal) in the midst of what is counted.
fn pool(threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.broadcast(|_| ());
    pool
}

/// A world, and the largest counts that it has had so far.
struct Watched {
    world: World,
    player: Player,
    /// The largest numbers of bodies, of pairs and of pairs of hulls.
    most: [usize; 3],
}

impl Watched {
    fn new(name: &str, bodies: usize) -> Watched {
        let scene = scene::builtin(name, bodies, 1).unwrap();
        let world = scene.build().unwrap();
        let player = Player::new(&scene, &world);
        Watched { world, player, most: [0; 3] }
    }

    /// Takes a step, after what the scene's script does. Returns the number of the step's allocations, and whether the world has more bodies or pairs than ever
    /// before.
    fn step(&mut self) -> (u64, bool) {
        self.player.edit(&mut self.world);
        let before = CALLS.load(Ordering::Relaxed);
        self.world.step();
        let calls = CALLS.load(Ordering::Relaxed) - before;
        let hulls = self.world.table_sizes().iter().find(|(table, _)| *table == "pairs of hulls").unwrap().1;
        let now = [self.world.columns().handle.len(), self.world.pair_count(), hulls];
        let more = now.iter().zip(&self.most).any(|(now, most)| now > most);
        (0..3).for_each(|i| self.most[i] = self.most[i].max(now[i]));
        (calls, more)
    }
}

/// Steps every built-in scene in motion, after a short warm-up; `vary` changes the world before each step. A step may
/// allocate only when the world has more in it than ever before. A few exceptions are allowed: see
/// [`SPOILT_PER_MILLE`].
fn moving_worlds_allocate_nothing(
    what: &str,
    warm: usize,
    measured: usize,
    vary: impl Fn(&mut World, usize) + Sync,
) {
    let mut spoilt = Vec::new();
    for builtin in scene::BUILTIN {
        let mut watched = Watched::new(builtin.name, BODIES);
        let mut cold = 0;
        for step in 0..warm {
            vary(&mut watched.world, step);
            cold += watched.step().0;
        }
        assert!(cold > 0, "the counter counts nothing");
        for step in warm..warm + measured {
            vary(&mut watched.world, step);
            let (calls, more) = watched.step();
            if calls > 0 && !more {
                spoilt.push((builtin.name, step, calls));
            }
        }
    }
    let most = scene::BUILTIN.len() * measured * SPOILT_PER_MILLE / 1_000;
    assert!(spoilt.len() <= most, "{what}: (scene, step, allocations) {spoilt:?}");
}

/// The number of steps in 1,000 that may allocate although the world has no more in it than before. Such a step occurs
/// where a tile of space suddenly needs half more than any tile before it, and where lists that lived for one step are
/// followed by one that is to last. (Measured: 2.5 in motion, most of them in `cars`, whose lists live for one step; none
/// in `joint_grid`, `rain`, `ball_and_chain` and `gears`.)
const SPOILT_PER_MILLE: usize = 3;

/// The number of bodies of each built-in scene: enough for several tiles.
const BODIES: usize = 1_500;

fn resting_worlds_allocate_nothing() {
    for threads in [1, 2] {
        let pool = pool(threads);
        let scenes = [
            ("packed", 2_000, 120),
            ("pile", 1_000, 900),
            ("gas", 1_000, 300),
            ("cloth", 2_500, 900),
            ("ragdolls", 260, 1_200),
        ];
        for (name, bodies, warmup) in scenes {
            let mut watched = Watched::new(name, bodies);
            let counts: Vec<u64> = pool.install(|| {
                (0..warmup).for_each(|_| _ = watched.step());
                (0..120).map(|_| watched.step().0).collect()
            });
            let spoilt: Vec<_> = counts.iter().enumerate().filter(|(_, calls)| **calls > 0).collect();
            assert!(spoilt.is_empty(), "{name} at {threads} threads: (step, allocations) {spoilt:?}");
        }
    }
}

/// 60 batches of 500 distinct polygons, materials and parts come and go: after the third batch the world holds no more
/// memory.
fn removed_bodies_are_forgotten() {
    let mut world =
        World::new(Settings { gravity: Vec2::ZERO, sleep: false, ..Settings::default() }).unwrap();
    let mut held = Vec::with_capacity(64);
    for batch in 0..60u32 {
        let mut bodies = Vec::with_capacity(500);
        for place in 0..500u32 {
            let size = 0.5 + (500 * batch + place) as f32 * 1.0e-5;
            let shape = Shape::polygon(&[Vec2::ZERO, Vec2::new(size, 0.0), Vec2::new(0.25, 0.5)]).unwrap();
            let position = Vec2::new(3.0 * (place % 32) as f32, 3.0 * (place / 32) as f32);
            let material = Material { density: size, ..Material::default() };
            let body = BodyDesc { material, ..BodyDesc::dynamic(shape, position) };
            bodies.push(world.add_body(&body).unwrap());
        }
        world.step();
        bodies.drain(..).for_each(|body| world.remove_body(body).unwrap());
        world.step();
        drop(bodies);
        held.push(LIVE.load(Ordering::Relaxed));
    }
    // A hash table may double once, because removed entries still take up places.
    assert!(held.iter().skip(3).all(|&bytes| bytes <= held[2] + held[2] / 2), "{held:?}");
}

/// A gas whose bodies fall asleep and are struck awake all the time, more and more of them: some 10 of 1,000 steps allocate, all of them for more in one
/// step than ever before. (When the search behind a blow had no memory of its own, 314 did.)
fn waking_hardly_allocates() {
    let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
    let wall = |normal: Vec2| BodyDesc::fixed(Shape::half_space(normal, -20.0), Vec2::ZERO);
    [Vec2::X, -Vec2::X, Vec2::Y, -Vec2::Y]
        .into_iter()
        .for_each(|normal| _ = world.add_body(&wall(normal)).unwrap());
    let material = Material { restitution: 1.0, ..Material::default() };
    for place in 0..800 {
        let turn = Vec2::from_angle(2.4 * place as f32);
        let place = Vec2::new((place % 40) as f32 - 19.5, 2.0 * (place / 40) as f32 - 19.0);
        let circle =
            BodyDesc { material, velocity: 4.0 * turn, ..BodyDesc::dynamic(Shape::circle(0.2), place) };
        world.add_body(&circle).unwrap();
    }
    let (mut most, mut spoilt, mut woken) = ([0; 3], Vec::new(), 0);
    for step in 0..3_000 {
        let before = CALLS.load(Ordering::Relaxed);
        world.step();
        let calls = CALLS.load(Ordering::Relaxed) - before;
        let now = [world.asleep_count(), world.telemetry().sleeping_islands, world.pair_count()];
        let more = now.iter().zip(&most).any(|(now, most)| now > most);
        (0..3).for_each(|i| most[i] = most[i].max(now[i]));
        if step >= 2_000 {
            woken += usize::from(!world.wake_events().is_empty());
            if calls > 0 && !more {
                spoilt.push((step, calls));
            }
        }
    }
    assert!(woken > 100, "bodies woke in {woken} steps");
    assert!(spoilt.len() <= 12, "{woken} wakes: (step, allocations) {spoilt:?}");
}

/// Ten boxes that lie on a floor.
fn small_world() -> World {
    let mut world = World::new(Settings { sleep: false, ..Settings::default() }).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::aabb(20.0, 0.5), Vec2::new(0.0, -0.5))).unwrap();
    for i in 0..10 {
        let place = Vec2::new(1.5 * (i % 5) as f32, 0.5 + (i / 5) as f32);
        world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), place)).unwrap();
    }
    world
}

/// Many worlds that are stepped at once allocate nothing, and a world of ten boxes holds at most 64 KiB.
fn many_worlds_allocate_nothing() {
    let before = LIVE.load(Ordering::Relaxed);
    let mut worlds: Vec<World> = (0..200).map(|_| small_world()).collect();
    for threads in [1, 2] {
        let pool = pool(threads);
        pool.install(|| {
            (0..120).for_each(|_| step_many(&mut worlds));
            let calls = CALLS.load(Ordering::Relaxed);
            (0..60).for_each(|_| step_many(&mut worlds));
            assert_eq!(CALLS.load(Ordering::Relaxed) - calls, 0, "{threads} threads");
        });
    }
    let held = (LIVE.load(Ordering::Relaxed) - before) / 200;
    assert!(held <= 64 << 10, "a world of ten boxes holds {held} bytes");
}

/// A heap of hulls in one place holds memory for a limited number of pairs of each: 32 MB when this was written, and some 200 without the
/// limit.
fn heaps_of_hulls_are_bounded() {
    let before = LIVE.load(Ordering::Relaxed);
    let mut world = World::new(Settings { sleep: false, ..Settings::default() }).unwrap();
    for i in 0..300 {
        let place = Vec2::new(i as f32 * 1.0e-4, 0.0);
        world.add_assembly(&Assembly::soft_box(place, Vec2::ONE, 0.05, 1.0, 0.0)).unwrap();
    }
    (0..5).for_each(|_| world.step());
    let held = (LIVE.load(Ordering::Relaxed) - before) >> 20;
    assert!(held < 64, "300 hulls in one place hold {held} MB");
}

/// A joint of kind `i` that holds a body 1 below another.
fn any_joint(i: usize, a: BodyHandle, b: BodyHandle) -> JointDesc {
    let (down, up) = (Vec2::new(0.0, -0.5), Vec2::new(0.0, 0.5));
    let motor = JointKind::Motor {
        linear_velocity: Vec2::ZERO,
        angular_velocity: 0.0,
        offset: None,
        angle: Some(0.0),
        max_force: 1.0e6,
        max_torque: 1.0e3,
    };
    let desc = match i % 8 {
        0 => JointDesc::revolute(a, b, down, up).with_limit(-1.0, 1.0).with_motor(0.5, 1.0),
        1 => JointDesc::prismatic(a, b, down, up, 0.0).with_spring(0.0, 5.0, 0.5),
        2 => JointDesc::wheel(a, b, down, up, 0.0).with_motor(1.0, 1.0),
        3 => JointDesc::weld(a, b, down, up),
        4 => JointDesc::distance(a, b, down, up, 0.0).with_limit(0.0, 0.1),
        5 => JointDesc { frame_a: JointFrame::at(2.0 * down), ..JointDesc::new(a, b, motor) },
        6 => JointDesc::target(b, Vec2::ZERO, Vec2::new(i as f32, -1.0), Spring::new(5.0, 1.0), 1.0e6),
        _ => JointDesc::distance(a, b, Vec2::ZERO, Vec2::ZERO, 1.0).with_spring(1.0, 5.0, 1.0),
    };
    // The load grows, so that they break one after the other.
    JointDesc { break_force: 20.0 + 0.5 * i as f32, ..desc }
}

/// Joints of every kind allocate nothing, also while they break, in a world whose bodies then touch no others.
fn joints_allocate_nothing() {
    for threads in [1, 2] {
        let mut world = World::new(Settings { sleep: false, ..Settings::default() }).unwrap();
        let ghost = Filter { category: 0, mask: 0, group: 0 };
        let mut bodies = Vec::new();
        for i in 0..200 {
            let top = Vec2::new(i as f32, 0.0);
            let post = BodyDesc { filter: ghost, ..BodyDesc::fixed(Shape::circle(0.1), top) };
            let body = BodyDesc::dynamic(Shape::oriented_box(0.2, 0.5), top - Vec2::Y);
            let body = BodyDesc { filter: ghost, mass: Some(1.0), ..body };
            let [post, body] = [post, body].map(|desc| world.add_body(&desc).unwrap());
            world.add_joint(&any_joint(i, post, body)).unwrap();
            if i % 8 == 0 {
                let filter = world.add_joint(&JointDesc::filter(post, body)).unwrap();
                assert_eq!(world.joint(filter).unwrap().kind, JointKind::Filter);
            }
            bodies.push(body);
        }
        let hinges: Vec<_> =
            world.joints().filter(|(_, desc)| matches!(desc.kind, JointKind::Revolute(_))).collect();
        for two in hinges.chunks_exact(2) {
            world.add_joint(&JointDesc::gear(two[0].0, two[1].0, -1.0)).unwrap();
        }
        let pool = pool(threads);
        let (mut broken, mut spoilt) = (0, Vec::new());
        pool.install(|| {
            (0..120).for_each(|_| world.step());
            for step in 0..120 {
                let pull = Vec2::new(0.0, -(step as f32));
                // Those that are free fall on their own: pulled on, they would be so fast that the order of space has no place for them yet.
                bodies.retain(|&body| world.joints_of(body).unwrap().next().is_some());
                bodies.iter().for_each(|&body| world.apply_force(body, pull).unwrap());
                let before = CALLS.load(Ordering::Relaxed);
                world.step();
                let calls = CALLS.load(Ordering::Relaxed) - before;
                broken += world.joint_events().len();
                if calls > 0 {
                    spoilt.push((step, calls));
                }
            }
        });
        assert!(broken > 100, "{broken} joints broke");
        assert!(spoilt.is_empty(), "{threads} threads: (step, allocations) {spoilt:?}");
    }
}

/// Contract: queries allocate nothing, batches nothing once their results have been used, whether the bodies are in the order of space or
/// not.
fn queries_allocate_nothing() {
    let mut world = scene::builtin("mixed_shapes", 2_000, 1).unwrap().build().unwrap();
    let place = |i: usize| Vec2::new((i * 37 % 101) as f32 - 50.0, (i * 53 % 47) as f32);
    let rays: Vec<Ray> = (0..500).map(|i| Ray::between(place(i), place(i + 7))).collect();
    let casts: Vec<ShapeCast> =
        rays.iter().map(|ray| ShapeCast::new(Shape::oriented_box(0.3, 0.2), ray.from, ray.way)).collect();
    let probes: Vec<Probe> = casts.iter().map(|cast| cast.probe).collect();
    let points: Vec<Vec2> = rays.iter().map(|ray| ray.from).collect();
    let boxes: Vec<[Vec2; 2]> = points.iter().map(|&at| [at - 2.0, at + 2.0]).collect();
    let (mut first, mut hits) = (BatchFirst::new(), BatchHits::new());
    let (mut parts, mut near) = (BatchHits::new(), BatchFirst::new());
    let pool = pool(2);
    let open = &QueryFilter::default();
    for step in 0..3 {
        for round in 0..3 {
            let before = CALLS.load(Ordering::Relaxed);
            pool.install(|| {
                world.cast_rays(&rays, open, &mut first).unwrap();
                world.cast_rays_all(&rays, open, &mut hits).unwrap();
                world.cast_shapes(&casts, open, &mut first).unwrap();
                world.cast_shapes_all(&casts, open, &mut hits).unwrap();
                world.overlap_shapes(&probes, open, &mut parts).unwrap();
                world.overlap_points(&points, open, &mut parts).unwrap();
                world.overlap_aabbs(&boxes, open, &mut parts);
                world.nearest_to_points(&points, 3.0, open, &mut near).unwrap();
                assert!(
                    world.cast_ray(&rays[0], open).is_ok() && world.nearest(points[1], 9.0, open).is_ok()
                );
            });
            let calls = CALLS.load(Ordering::Relaxed) - before;
            assert!(round == 0 || calls == 0, "{calls} allocations after {step} steps");
        }
        world.step();
    }
}

/// Contract: calls with many bodies, fields of force and poses in a buffer allocate nothing once warm, nor do steps with locks and largest speeds. (A
/// target of a kinematic body allocates when it is set, and not in the step.)
fn edits_in_bulk_allocate_nothing() {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, -8.0), Vec2::ZERO)).unwrap();
    let lift = world.add_body(&BodyDesc::kinematic(Shape::aabb(2.0, 0.5), Vec2::new(-9.0, 0.0))).unwrap();
    let descs: Vec<BodyDesc> = (0..400)
        .map(|i| {
            let at = Vec2::new(1.5 * (i % 20) as f32, 1.5 * (i / 20) as f32);
            let shape = if i % 2 == 0 { Shape::circle(0.5) } else { Shape::oriented_box(0.5, 0.4) };
            BodyDesc {
                lock_x: i % 9 == 0,
                max_speed: (i % 5 == 0).then_some(3.0),
                ..BodyDesc::dynamic(shape, at)
            }
        })
        .collect();
    let bodies = world.add_bodies(&descs).unwrap();
    let velocities = vec![Vec2::new(0.1, 0.0); bodies.len()];
    let column = vec![0.01; world.total_count()];
    let mut poses = vec![0.0; 4 * world.total_count()];
    let fields = [PoseField::X, PoseField::Y, PoseField::Cos, PoseField::Sin];
    let water = FieldKind::Buoyancy {
        normal: Vec2::Y,
        offset: 5.0,
        density: 1.5,
        drag: 1.0,
        angular_drag: 1.0,
        flow: Vec2::X,
    };
    let mut spoilt = Vec::new();
    pool(2).install(|| {
        for step in 0..240 {
            world.set_kinematic_target(lift, Vec2::new(-9.0, 0.01 * step as f32), 0.0).unwrap();
            let before = CALLS.load(Ordering::Relaxed);
            world.apply_forces(&bodies, &velocities, None).unwrap();
            world.apply_impulses(&bodies, &velocities, None).unwrap();
            world.apply_force_columns(Order::Stored, [&column, &column, &column]).unwrap();
            world.apply_field(&Field::new(Region::Everywhere, water)).unwrap();
            world.explode(&Explosion::new(Vec2::new(9.0, 9.0), 20.0, 0.01)).unwrap();
            world.write_poses(&mut poses, 4, &fields, Order::Added).unwrap();
            world.write_poses(&mut poses, 4, &fields, Order::Stored).unwrap();
            let calls = CALLS.load(Ordering::Relaxed) - before;
            // The first calls make what later ones use again.
            if step > 0 && calls > 0 {
                spoilt.push((step, calls));
            }
            world.step();
        }
    });
    assert!(spoilt.is_empty(), "(step, allocations) {spoilt:?}");
}

/// Hooks that look at everything.
struct Looking;

impl Hooks for Looking {
    fn before_solve(&self, contact: &mut HookContact) {
        contact.coefficients.restitution *= 0.999;
    }
}

/// A warm world allocates nothing with all events, sensors that many bodies cross, and hooks.
fn events_allocate_nothing() {
    for threads in [1, 2] {
        let pool = pool(threads);
        for (name, warmup) in [("gas", 600), ("packed", 240)] {
            let mut watched = Watched::new(name, 1_000);
            let world = &mut watched.world;
            world.set_settings(Settings { sleep: false, ..*world.settings() }).unwrap();
            world.set_hit_events(Some(0.5)).unwrap();
            world.set_move_events(true);
            world.set_joint_force_events(Some(1.0)).unwrap();
            world.set_hooks(Some(Arc::new(Looking)));
            for x in [-20.0, 0.0, 20.0, 40.0] {
                let zone = BodyDesc::fixed(Shape::circle(8.0), Vec2::new(x, 20.0));
                world.add_body(&BodyDesc { sensor: true, ..zone }).unwrap();
            }
            let (mut told, mut spoilt) = ([0; 3], Vec::new());
            pool.install(|| {
                (0..warmup).for_each(|_| _ = watched.step());
                for step in 0..120 {
                    let (calls, more) = watched.step();
                    let world = &watched.world;
                    told[0] += world.hit_events().len();
                    told[1] += world.move_events().len();
                    told[2] += world.sensor_begin_events().len() + world.sensor_end_events().len();
                    let before = CALLS.load(Ordering::Relaxed);
                    assert!(world.telemetry().pairs > 0 && world.residual().max_penetration < 1.0);
                    let bodies = world.columns().handle.iter().filter(|&&body| world.contains(body));
                    let points = bodies.map(|&body| world.contacts_of(body).unwrap().count()).sum::<usize>();
                    assert_eq!(points, 2 * world.contacts().count());
                    let calls = calls + CALLS.load(Ordering::Relaxed) - before;
                    if calls > 0 && !more {
                        spoilt.push((step, calls));
                    }
                }
            });
            assert!(
                told[1] > 0 && (name != "gas" || told.iter().all(|&told| told > 100)),
                "{name}: {told:?}"
            );
            assert!(spoilt.is_empty(), "{name} at {threads} threads: (step, allocations) {spoilt:?}");
        }
    }
}

/// Contract: a step of a warm world allocates nothing: at rest at 1 and 2 threads, in every built-in scene in motion,
/// and when the time step or the instruction set changes. Joints allocate nothing either, also while they
/// break. Removed bodies hold no memory.
///
/// This file has one test only, because the counter counts for the whole process.
#[test]
fn warm_steps_allocate_nothing() {
    // With one thread for the tests, the harness runs them on its own.
    if HARNESS.load(Ordering::Relaxed) == mark() {
        HARNESS.store(usize::MAX, Ordering::Relaxed);
    }
    let before = CALLS.load(Ordering::Relaxed);
    drop(std::hint::black_box(Box::new(0)));
    assert_eq!(CALLS.load(Ordering::Relaxed), before + 1, "this thread is counted");
    // As in `pool`.
    rayon::broadcast(|_| ());
    granule::set_oversubscribe(true);
    removed_bodies_are_forgotten();
    queries_allocate_nothing();
    many_worlds_allocate_nothing();
    heaps_of_hulls_are_bounded();
    saving_allocates_nothing();
    joints_allocate_nothing();
    edits_in_bulk_allocate_nothing();
    events_allocate_nothing();
    everything::everything_allocates_nothing();
    resting_worlds_allocate_nothing();
    waking_hardly_allocates();
    moving_worlds_allocate_nothing("in motion", 120, 180, |_, _| {});
    moving_worlds_allocate_nothing("time step", 120, 120, |world, step| {
        let times = [1.0 / 60.0, 1.0 / 50.0, 1.0 / 90.0];
        world.set_time_step(times[step % 3]).unwrap();
    });
    moving_worlds_allocate_nothing("instruction set", 120, 180, |world, step| {
        world.set_isa(Isa::available().cycle().nth(step % 12).unwrap()).unwrap();
    });
}

/// To save a world into a buffer that was used before allocates nothing, nor does a difference; to restore one again and again holds no
/// more memory.
fn saving_allocates_nothing() {
    for name in ["packed", "rain", "soft_boxes", "junkyard"] {
        let scene = scene::builtin(name, 200, 1).expect("a built-in scene");
        let mut world = scene.build().expect("a built-in scene");
        (0..60).for_each(|_| world.step());
        let (mut base, mut snapshot, mut difference) = (Vec::new(), Vec::new(), Vec::new());
        world.save(&mut base);
        for buffer in [&mut snapshot, &mut difference] {
            buffer.reserve(4 * base.len());
        }
        let before = CALLS.load(Ordering::Relaxed);
        world.save(&mut snapshot);
        world.diff(&base, &mut difference).expect("its own snapshot");
        assert_eq!(CALLS.load(Ordering::Relaxed) - before, 0, "{name}");
        (0..3).for_each(|_| world.restore(&base).expect("its own snapshot"));
        let live = LIVE.load(Ordering::Relaxed);
        (0..20).for_each(|_| world.restore(&base).expect("its own snapshot"));
        let grown = LIVE.load(Ordering::Relaxed) - live;
        assert!(grown <= 0, "{name}: {grown} bytes more");
    }
}
