//! A whole step of each built-in scene at 10,000 bodies, on one thread and on every core; and what a step costs at least.
//!
//! `cargo bench -p granule-benches --bench scenes`, or `-- pile` for one scene, `-- fixed` for the least cost, `-- joints/` for edits of joints, or `-- --profile-time 5` for flame graphs.

mod profiler;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use granule::scene::{self, Player};
use granule::{BodyDesc, Settings, Shape, Vec2, World, step_many};
use std::hint::black_box;
use std::time::Duration;

const BODIES: usize = 10_000;
const WARMUP: usize = 60;

fn warm(name: &str) -> (Player, World) {
    let scene = scene::builtin(name, BODIES, 1).unwrap();
    let mut world = scene.build().unwrap();
    let mut player = Player::new(&scene, &world);
    (0..WARMUP).for_each(|_| player.step(&mut world));
    (player, world)
}

fn scenes(criterion: &mut Criterion) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut pools = vec![1, cores];
    pools.dedup();
    for scene::Builtin { name, .. } in scene::BUILTIN {
        let mut group = criterion.benchmark_group(*name);
        group.throughput(Throughput::Elements(BODIES as u64));
        for &threads in &pools {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut world = None;
            let label = if threads == 1 { "1 thread".to_string() } else { format!("{threads} threads") };
            group.bench_function(label, |bencher| {
                let (player, world) = world.get_or_insert_with(|| warm(name));
                pool.install(|| bencher.iter(|| player.step(world)));
            });
        }
        group.finish();
    }
}

/// A step of a world without bodies, and of one with a circle at rest on a half-space.
fn fixed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fixed");
    for (label, bodies) in [
        ("empty", vec![]),
        (
            "one body",
            vec![
                BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO),
                BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5)),
            ],
        ),
    ] {
        let mut world = World::new(Settings { sleep: false, ..Settings::default() }).unwrap();
        world.add_bodies(&bodies).unwrap();
        (0..WARMUP).for_each(|_| world.step());
        group.bench_function(label, |bencher| bencher.iter(|| world.step()));
    }
    group.finish();
}

/// The first two steps of 10,000 bodies that fly apart over a floor at 10 km/s, each with all others within its reach.
fn fast(criterion: &mut Criterion) {
    let bodies = if std::env::args().any(|arg| arg == "--bench") { 10_000 } else { 1_000 };
    let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::oriented_box(150.0, 0.5), Vec2::new(0.0, -0.5))).unwrap();
    for body in 0..bodies {
        let shape = match body % 3 {
            0 => Shape::circle(0.3),
            1 => Shape::oriented_box(0.3, 0.2),
            _ => Shape::capsule(0.3, 0.2),
        };
        let at = 1.5 * Vec2::new((body % 100) as f32 - 50.0, (body / 100) as f32) + Vec2::Y;
        // The golden angle spreads the directions.
        let velocity = 10_000.0 * Vec2::from_angle(2.4 * body as f32);
        world.add_body(&BodyDesc { velocity, ..BodyDesc::dynamic(shape, at) }).unwrap();
    }
    let mut group = criterion.benchmark_group("fast");
    group.sample_size(10);
    let two_steps = |mut world: World| {
        (0..2).for_each(|_| world.step());
        world
    };
    group.bench_function("two steps", |bencher| {
        bencher.iter_batched(|| world.clone(), two_steps, BatchSize::PerIteration);
    });
    group.finish();
}

/// What a thousand worlds of ten boxes cost: made from a scene and dropped, stepped once side by side, and one after the other.
fn many(criterion: &mut Criterion) {
    const WORLDS: usize = 1_000;
    let scene = scene::builtin("pyramid", 10, 1).unwrap();
    let build = || -> Vec<World> {
        (0..WORLDS)
            .map(|_| {
                let mut world = World::new(Settings { sleep: false, ..scene.settings }).unwrap();
                world.add_bodies(&scene.bodies).unwrap();
                world
            })
            .collect()
    };
    let mut group = criterion.benchmark_group("many");
    group.throughput(Throughput::Elements(WORLDS as u64));
    group.bench_function("made and dropped", |bencher| bencher.iter(build));
    let mut worlds = build();
    (0..WARMUP).for_each(|_| step_many(&mut worlds));
    group.bench_function("step_many", |bencher| bencher.iter(|| step_many(&mut worlds)));
    group.bench_function("step", |bencher| bencher.iter(|| worlds.iter_mut().for_each(World::step)));
    group.finish();
}

/// Ten joints of a grid that are broken and made again, in grids of different sizes: the edits alone, and with the step that follows.
fn joints(criterion: &mut Criterion) {
    const EDITED: usize = 10;
    let sizes: &[usize] =
        if std::env::args().any(|arg| arg == "--bench") { &[1_000, 10_000, 100_000] } else { &[1_000] };
    let mut group = criterion.benchmark_group("joints");
    group.throughput(Throughput::Elements(EDITED as u64));
    for &size in sizes {
        let mut grid = scene::builtin("joint_grid", size, 1).unwrap();
        // Without gravity every step has the same work to do.
        (grid.settings.gravity, grid.settings.sleep) = (Vec2::ZERO, false);
        let mut world = grid.build().unwrap();
        (0..10).for_each(|_| world.step());
        let mut joints: Vec<_> = world.joints().collect();
        let mut next = 0;
        let mut replace = |world: &mut World| {
            for _ in 0..EDITED {
                // A stride without a common factor goes round all joints, and far.
                next = (next + 7_919) % joints.len();
                let (handle, desc) = &mut joints[next];
                world.remove_joint(*handle).expect("it was added");
                *handle = world.add_joint(desc).expect("there is room for as many");
            }
        };
        group.bench_function(format!("replaced among {size}"), |bencher| {
            bencher.iter(|| replace(&mut world));
        });
        group.bench_function(format!("replaced among {size}, and a step"), |bencher| {
            bencher.iter(|| {
                replace(&mut world);
                world.step();
            });
        });
        group.bench_function(format!("a step of {size}"), |bencher| bencher.iter(|| world.step()));
        group.bench_function(format!("columns of {size}"), |bencher| {
            bencher.iter(|| black_box(world.joint_columns().angle.len()));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .with_profiler(profiler::FlameGraphs::new(997));
    targets = scenes, fixed, fast, many, joints
}
criterion_main!(benches);
