//! The table of `perf-reports/table.md`: time per body and step of the built-in stress scenes, at one and
//! two threads, on the best instruction set and on the scalar path.
//!
//! `cargo bench -p granule-benches --bench table > perf-reports/table.md`
//!
//! The four configurations of a scene are in memory at the same time and take their measured steps in
//! turns of a few, so that a machine whose speed drifts slows them all. Medians of the steps; stages by
//! their sums over steps that did the same work, as all four do.

use granule::{Isa, Settings, Timings, World, scene};
use std::fmt::Write as _;

const SCENES: [&str; 3] = ["packed", "pile", "gas"];
const TURN: usize = 5;

struct Size {
    bodies: usize,
    warmup: usize,
    steps: usize,
}

const SIZES: [Size; 3] = [
    Size { bodies: 10_000, warmup: 300, steps: 200 },
    Size { bodies: 50_000, warmup: 200, steps: 100 },
    Size { bodies: 200_000, warmup: 60, steps: 30 },
];

/// One instruction set on one number of threads.
struct Run {
    isa: Isa,
    threads: usize,
    pool: rayon::ThreadPool,
    world: World,
    times: Vec<Timings>,
}

impl Run {
    fn new(name: &str, size: &Size, isa: Isa, threads: usize) -> Run {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let mut scene = scene::builtin(name, size.bodies, 1).expect("a built-in scene");
        scene.settings.isa = isa;
        let world = scene.build().expect("built-in scenes are valid");
        Run { isa, threads, pool, world, times: Vec::with_capacity(size.steps) }
    }

    fn step(&mut self, steps: usize, measured: bool) {
        let Run { pool, world, times, .. } = self;
        pool.install(|| {
            for _ in 0..steps {
                world.step();
                if measured {
                    times.push(world.timings());
                }
            }
        });
    }

    /// A quantile of the whole step, s.
    fn quantile(&self, q: f64) -> f64 {
        let mut totals: Vec<f64> = self.times.iter().map(|times| times.total).collect();
        totals.sort_by(f64::total_cmp);
        totals[((totals.len() - 1) as f64 * q).round() as usize]
    }

    fn median_of(&self, stage: fn(&Timings) -> f64) -> f64 {
        let mut values: Vec<f64> = self.times.iter().map(stage).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }
}

fn measure(name: &str, size: &Size) -> [Run; 3] {
    let mut runs = [(Isa::Auto, 1), (Isa::Auto, 2), (Isa::Scalar, 1)]
        .map(|(isa, threads)| Run::new(name, size, isa, threads));
    for run in &mut runs {
        run.step(size.warmup, false);
    }
    for _ in 0..size.steps.div_ceil(TURN) {
        for run in &mut runs {
            run.step(TURN, true);
        }
    }
    let hash = runs[0].world.state_hash();
    assert!(runs.iter().all(|run| run.world.state_hash() == hash), "{name}: the results differ");
    runs
}

fn row(name: &str, runs: &[Run; 3]) -> String {
    let [best, two, scalar] = runs;
    debug_assert_eq!((two.threads, scalar.isa), (2, Isa::Scalar));
    let bodies = best.world.body_count();
    let per_body = |run: &Run| run.quantile(0.5) * 1.0e9 / bodies as f64;
    let ratio = |stage: fn(&Timings) -> f64| scalar.median_of(stage) / best.median_of(stage);
    let mut row = String::new();
    write!(
        row,
        "| {name} | {bodies} | {} | {:.1} | {:.1} | {:.2} | {:.2} | {:.2} | {:.1} | {:.2}× | {:.2}× |",
        best.world.contact_count(),
        per_body(best),
        per_body(two),
        best.quantile(0.5) / two.quantile(0.5),
        best.quantile(0.5) * 1.0e3,
        best.quantile(0.95) * 1.0e3,
        per_body(scalar),
        ratio(|times| times.solver),
        ratio(|times| times.narrowphase),
    )
    .expect("writing to a string");
    row
}

fn main() {
    // `cargo test` wants to see that it runs, and so does `cargo bench -- --test`; cargo bench says that it is one.
    let is_given = |flag: &str| std::env::args().any(|arg| arg == flag);
    let quick = is_given("--test") || !is_given("--bench");
    println!("# Time per body and step\n");
    println!("`cargo bench -p granule-benches --bench table > perf-reports/table.md`\n");
    {
        use granule_command::report::{Machine, commit, rustc};
        let Machine { cpu, cores, os } = Machine::this();
        let best = World::new(Settings::default()).expect("valid settings").isa();
        println!("{cpu}, {cores} cores, {os}; {best}, {}; commit {}.\n", rustc(), commit());
    }
    println!(
        "Steps of 1/60 s with 4 substeps, seed 1. Medians of the measured steps; the three configurations of a \
         row take them in turns, and end in the same state, bit for bit. Steps in which the pair list is made \
         anew are rarer than every second one in most rows: p95 shows them.\n"
    );
    println!(
        "| scene | bodies | contacts | ns/body, 1 thread | 2 threads | speed-up | ms p50, 1 thread | ms p95 | \
         ns/body, scalar | best : scalar, solver | narrowphase |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for name in SCENES {
        for size in &SIZES {
            let tiny = Size { bodies: 500, warmup: 5, steps: 5 };
            println!("{}", row(name, &measure(name, if quick { &tiny } else { size })));
        }
    }
}
