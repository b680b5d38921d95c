//! The time of each stage of the step on its own, on the scalar path and on the best instruction set, on one thread.
//!
//! `cargo bench -p granule-benches --bench stages`, or `-- solver` for one stage. Times are per step, summed from the
//! engine's own stage clock. Broadphase and contacts are measured in steps that make a new pair list, which
//! at rest are rare; the others in steps that need not.

mod profiler;

use criterion::{Criterion, criterion_group, criterion_main};
use granule::{Isa, Timings, World, scene};
use std::time::{Duration, Instant};

const BODIES: usize = 10_000;

/// A scene's world, past its first, unusual steps.
fn settled(name: &str, isa: Isa, warmup: usize) -> World {
    let mut world = scene::builtin(name, BODIES, 1).unwrap().build().unwrap();
    world.set_isa(isa).unwrap();
    (0..warmup).for_each(|_| world.step());
    world
}

/// A stage's name, its share of a step's timings, and whether it is about a pair list made anew.
type Stage = (&'static str, fn(&Timings) -> f64, bool);

const STAGES: [Stage; 5] = [
    ("bounds", |t| t.bounds, false),
    ("broadphase", |t| t.broadphase, true),
    ("narrowphase", |t| t.narrowphase, false),
    ("contacts", |t| t.contacts, true),
    ("solver", |t| t.solver, false),
];

/// Teleports a body to where it is, so that the next step finds all pairs anew.
fn spoil_pair_list(world: &mut World) {
    let body = world.handles().next().unwrap();
    let position = world.body(body).unwrap().position;
    world.set_position(body, position).unwrap();
}

fn stages(criterion: &mut Criterion) {
    // One kind of pair, and all of them.
    for (name, warmup) in [("packed", 120), ("pile", 300)] {
        let mut worlds = [Isa::Scalar, Isa::Auto].map(|isa| settled(name, isa, warmup));
        for (stage, share, rebuild) in STAGES {
            let mut group = criterion.benchmark_group(format!("{stage}/{name}"));
            for world in &mut worlds {
                let isa = world.isa();
                let mut run = |count: u64| {
                    let mut seconds = 0.0;
                    for _ in 0..count {
                        if rebuild {
                            spoil_pair_list(world);
                        }
                        world.step();
                        seconds += share(&world.timings());
                    }
                    seconds
                };
                // Criterion counts the stage's time only: without this a stage that takes 1 % of the step
                // would run a hundred times as long.
                let start = Instant::now();
                let fraction = (run(20) / start.elapsed().as_secs_f64()).clamp(1e-4, 1.0);
                group.warm_up_time(Duration::from_secs_f64(0.5 * fraction));
                group.measurement_time(Duration::from_secs_f64(2.0 * fraction));
                group.bench_function(isa.name(), |bencher| {
                    bencher.iter_custom(|count| Duration::from_secs_f64(run(count)));
                });
            }
            group.finish();
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .with_profiler(profiler::FlameGraphs::new(997));
    targets = stages
}
criterion_main!(benches);
