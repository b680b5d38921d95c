//! A whole step of each built-in scene at 10,000 bodies, on one thread and on every core.
//!
//! `cargo bench -p granule-benches --bench scenes`, or `-- pile` for one scene, or `-- --profile-time 5` for flame graphs.

mod profiler;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use granule::{World, scene};
use std::time::Duration;

const BODIES: usize = 10_000;
const WARMUP: usize = 60;

fn warm(name: &str) -> World {
    let mut world = scene::builtin(name, BODIES, 1).unwrap().build().unwrap();
    (0..WARMUP).for_each(|_| world.step());
    world
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
                let world = world.get_or_insert_with(|| warm(name));
                pool.install(|| bencher.iter(|| world.step()));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .with_profiler(profiler::FlameGraphs::new(997));
    targets = scenes
}
criterion_main!(benches);
