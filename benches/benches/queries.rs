//! Queries at 50,000 bodies of all shapes, on one thread: 10,000 rays, circle casts, boxes and nearest bodies, single and in a batch, and 100
//! nearest bodies of points far away; 10,000 rays at one body, where an answer costs least; and 400 queries after edits.
//!
//! `cargo bench -p granule-benches --bench queries`, or `-- rays` for one kind. Times are for all queries of a row.

mod profiler;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use granule::{
    BatchFirst, BatchHits, BodyDesc, QueryFilter, Ray, Settings, Shape, ShapeCast, Vec2, World, scene,
};
use std::hint::black_box;

const QUERIES: usize = 10_000;

/// How many bodies, and steps before the queries: few where it is only to be seen that all runs.
fn size() -> (usize, usize) {
    if std::env::args().any(|arg| arg == "--bench") { (50_000, 60) } else { (1_000, 5) }
}

/// Numbers in 0..1 (a linear congruence modulo 2⁶⁴, by D. E. Knuth).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn within(&mut self, [lower, upper]: [Vec2; 2]) -> Vec2 {
        lower + (upper - lower) * Vec2::new(self.next(), self.next())
    }
}

/// A pile of all shapes, of which the most part lies, and the box in which the middle nine tenths of the bodies are.
fn world() -> (World, [Vec2; 2]) {
    let (bodies, steps) = size();
    let mut scene = scene::builtin("mixed_shapes", bodies, 1).unwrap();
    scene.settings = Settings { sleep: false, ..scene.settings };
    let mut world = scene.build().unwrap();
    (0..steps).for_each(|_| world.step());
    let middle = |column: &[f32]| {
        let mut values = column.to_vec();
        values.sort_unstable_by(f32::total_cmp);
        [values[values.len() / 20], values[values.len() - 1 - values.len() / 20]]
    };
    let columns = world.columns();
    let [[left, right], [low, high]] = [middle(columns.pos_x), middle(columns.pos_y)];
    (world, [Vec2::new(left, low), Vec2::new(right, high)])
}

/// Replaces so many bodies, spread over all, by circles within the area.
fn replace(world: &mut World, area: [Vec2; 2], count: usize, random: &mut Random) {
    let handles: Vec<_> = world.handles().collect();
    let stride = handles.len() / count;
    for &body in handles.iter().rev().step_by(stride).take(count) {
        world.remove_body(body).unwrap();
        world.add_body(&BodyDesc::dynamic(Shape::circle(0.2), random.within(area))).unwrap();
    }
}

/// The same world after edits that no step has taken in, and in the middle of churn: a query is to cost what it costs after a step.
fn edited(world: &World, area: [Vec2; 2]) -> [(&'static str, World); 3] {
    let mut random = Random(2);
    let (mut once, mut often, mut churned) = (world.clone(), world.clone(), world.clone());
    replace(&mut once, area, 1, &mut random);
    replace(&mut often, area, 100, &mut random);
    for _ in 0..20 {
        replace(&mut churned, area, 100, &mut random);
        churned.step();
    }
    replace(&mut churned, area, 100, &mut random);
    [
        ("after one is replaced", once),
        ("after 100 are replaced", often),
        ("100 replaced in each step", churned),
    ]
}

fn cast_rays(group: &mut BenchmarkGroup<'_, WallTime>, world: &World, rays: &[Ray]) {
    let open = &QueryFilter::default();
    group.bench_function("rays/single", |bencher| {
        bencher.iter(|| rays.iter().filter(|ray| world.cast_ray(ray, open).unwrap().is_some()).count());
    });
    group.bench_function("rays/batch", |bencher| {
        let mut answers = BatchFirst::new();
        bencher.iter(|| world.cast_rays(black_box(rays), open, &mut answers).unwrap());
    });
}

fn queries(criterion: &mut Criterion) {
    let (world, area) = world();
    let mut random = Random(1);
    let mut ways = |length: f32| {
        let way = |random: &mut Random| length * Vec2::from_angle(std::f32::consts::TAU * random.next());
        (0..QUERIES).map(|_| (random.within(area), way(&mut random))).collect::<Vec<_>>()
    };
    let rays: Vec<Ray> = ways(20.0).into_iter().map(|(from, way)| Ray { from, way }).collect();
    let casts: Vec<ShapeCast> =
        ways(10.0).into_iter().map(|(from, way)| ShapeCast::new(Shape::circle(0.25), from, way)).collect();
    let boxes: Vec<[Vec2; 2]> =
        ways(1.0).into_iter().map(|(at, _)| [at - Vec2::splat(2.0), at + Vec2::splat(2.0)]).collect();
    let open = &QueryFilter::default();

    let mut group = criterion.benchmark_group("queries");
    group.throughput(Throughput::Elements(QUERIES as u64));
    cast_rays(&mut group, &world, &rays);
    for (name, world) in edited(&world, area) {
        group.bench_function(format!("rays/{name}"), |bencher| {
            bencher.iter(|| rays.iter().filter(|ray| world.cast_ray(ray, open).unwrap().is_some()).count());
        });
    }
    group.bench_function("casts/single", |bencher| {
        bencher.iter(|| casts.iter().filter(|cast| world.cast_shape(cast, open).unwrap().is_some()).count());
    });
    group.bench_function("casts/batch", |bencher| {
        let mut answers = BatchFirst::new();
        bencher.iter(|| world.cast_shapes(black_box(&casts), open, &mut answers).unwrap());
    });
    group.bench_function("boxes/single", |bencher| {
        bencher.iter(|| {
            let mut count = 0;
            for &[lower, upper] in &boxes {
                world.overlap_aabb(lower, upper, open, |_| {
                    count += 1;
                    true
                });
            }
            count
        });
    });
    group.bench_function("boxes/batch", |bencher| {
        let mut answers = BatchHits::new();
        bencher.iter(|| world.overlap_aabbs(black_box(&boxes), open, &mut answers));
    });
    let points: Vec<Vec2> = ways(1.0).into_iter().map(|(at, _)| at).collect();
    let nearest = |points: &[Vec2]| {
        points.iter().filter(|&&at| world.nearest(at, 1.0e5, open).unwrap().is_some()).count()
    };
    group.bench_function("nearest/single", |bencher| bencher.iter(|| nearest(black_box(&points))));
    group.bench_function("nearest/batch", |bencher| {
        let mut answers = BatchFirst::new();
        bencher.iter(|| world.nearest_to_points(black_box(&points), 1.0e5, open, &mut answers).unwrap());
    });
    let far: Vec<Vec2> = points.iter().take(100).map(|&at| at + Vec2::splat(1.0e4)).collect();
    group.throughput(Throughput::Elements(far.len() as u64));
    group.bench_function("nearest/far away", |bencher| bencher.iter(|| nearest(black_box(&far))));
    group.finish();
}

/// Rays at a world of one body: what a query costs before it looks at anything.
fn one_body(criterion: &mut Criterion) {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)).unwrap();
    world.step();
    let mut random = Random(2);
    let from = |random: &mut Random| random.within([Vec2::splat(-2.0), Vec2::splat(2.0)]);
    let rays: Vec<Ray> =
        (0..QUERIES).map(|_| Ray { from: from(&mut random), way: from(&mut random) }).collect();
    let mut group = criterion.benchmark_group("one body");
    group.throughput(Throughput::Elements(QUERIES as u64));
    cast_rays(&mut group, &world, &rays);
    group.finish();
}

/// The nearest body, rays of 20 m and boxes of 4 m among circles in motion, before and after a share of them was placed by hand, and a step
/// later: a query is to cost the same. The times of a row are for 400 queries, those of placing for all that are placed.
fn after_edits(criterion: &mut Criterion) {
    let sizes: &[usize] = if size().0 > 1_000 { &[20_000, 100_000] } else { &[1_000] };
    for &bodies in sizes {
        let side = (2.24 * bodies as f32).sqrt();
        let area = [Vec2::ZERO, Vec2::splat(side)];
        let mut random = Random(3);
        let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
        let descs: Vec<_> =
            (0..bodies).map(|_| BodyDesc::dynamic(Shape::circle(0.4), random.within(area))).collect();
        let handles = world.add_bodies(&descs).unwrap();
        (0..30).for_each(|_| world.step());
        let points: Vec<Vec2> = (0..400).map(|_| random.within(area)).collect();
        let mut group = criterion.benchmark_group(format!("after edits/{bodies}"));
        let placed = [
            ("none", 0),
            ("one in 100", bodies / 100),
            ("one in 20", bodies / 20),
            ("one in 8", bodies / 8),
            ("half", bodies / 2),
            ("each ten times", 10 * bodies),
        ];
        for (name, count) in placed {
            let places: Vec<_> =
                (0..count).map(|index| (handles[index * 7_919 % bodies], random.within(area))).collect();
            let place = |mut world: World| {
                places.iter().for_each(|&(body, at)| world.set_position(body, at).unwrap());
                world
            };
            ask(&mut group, name, &place(world.clone()), &points);
            if name == "one in 8" {
                group.throughput(Throughput::Elements(count as u64));
                group.bench_function("placing one in 8", |bencher| {
                    bencher.iter_batched(|| world.clone(), place, BatchSize::PerIteration);
                });
            }
        }
        world.step();
        ask(&mut group, "a step later", &world, &points);
        group.finish();
    }
}

/// Asks 400 queries of each kind.
fn ask(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, world: &World, points: &[Vec2]) {
    let open = &QueryFilter::default();
    group.throughput(Throughput::Elements(points.len() as u64));
    group.bench_function(format!("nearest/{name}"), |bencher| {
        let nearest = |&&at: &&Vec2| world.nearest(at, 50.0, open).unwrap().is_some();
        bencher.iter(|| points.iter().filter(nearest).count());
    });
    group.bench_function(format!("rays/{name}"), |bencher| {
        let ray = |&&at: &&Vec2| {
            let way = 20.0 * Vec2::from_angle(at.x + at.y);
            world.cast_ray(&Ray { from: at, way }, open).unwrap().is_some()
        };
        bencher.iter(|| points.iter().filter(ray).count());
    });
    group.bench_function(format!("boxes/{name}"), |bencher| {
        bencher.iter(|| {
            let mut count = 0;
            for &at in points {
                world.query_aabb(at, at + 4.0, |_| {
                    count += 1;
                    true
                });
            }
            count
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).with_profiler(profiler::FlameGraphs::new(997));
    targets = queries, one_body, after_edits
}
criterion_main!(benches);
