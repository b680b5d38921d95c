//! The time of each stage of the step on its own, at one lane and at eight, on one thread.
//!
//! `cargo bench --bench stages`, or `-- solver` for one stage. Times are per step, summed from the
//! engine's own stage clock.

mod profiler;

use criterion::{Criterion, criterion_group, criterion_main};
use granule::{Lanes, Timings, World, scene};
use std::time::{Duration, Instant};

const BODIES: usize = 10_000;

/// A scene's world, past its first, unusual steps.
fn settled(name: &str, lanes: Lanes, warmup: usize) -> World {
    let mut world = scene::builtin(name, BODIES, 1).unwrap().build().unwrap();
    world.set_lanes(lanes);
    (0..warmup).for_each(|_| world.step());
    world
}

/// A stage's name and its share of a step's timings.
type Stage = (&'static str, fn(&Timings) -> f64);

const STAGES: [Stage; 5] = [
    ("bounds", |t| t.bounds),
    ("broadphase", |t| t.broadphase),
    ("narrowphase", |t| t.narrowphase),
    ("contacts", |t| t.contacts),
    ("solver", |t| t.solver),
];

fn stages(criterion: &mut Criterion) {
    // At rest the pair list lives on; in the gas it is rebuilt all the time.
    for (name, warmup) in [("packed", 120), ("gas", 60)] {
        let mut worlds = [Lanes::One, Lanes::Eight].map(|lanes| (lanes, settled(name, lanes, warmup)));
        for (stage, share) in STAGES {
            let mut group = criterion.benchmark_group(format!("{stage}/{name}"));
            for (lanes, world) in &mut worlds {
                let mut run = |count: u64| {
                    let mut seconds = 0.0;
                    for _ in 0..count {
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
                group.bench_function(format!("lanes {}", lanes.width()), |bencher| {
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
