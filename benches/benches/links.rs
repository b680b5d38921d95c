//! The tables of `perf-reports/links.md`: the cost of a link and iteration, instruction sets and threads, and stretch
//! against time.
//!
//! `cargo bench -p granule-benches --bench links > perf-reports/links.md`
//!
//! The cost of an iteration is the difference between many and few iterations in the same scene, over the
//! iterations between them: what a step needs besides (rows, integration, contacts that there are none of)
//! cancels out. Configurations take their steps in turns of one; medians.

use granule::scene::{self, Scene};
use granule::{Assembly, BodyDesc, Isa, Settings, Shape, Vec2, World};

const FEW: u32 = 4;
const MANY: u32 = 20;

fn net(side: usize, isa: Isa, substeps: u32, iterations: u32) -> World {
    let mut net: Scene = scene::builtin("cloth", side * side, 1).expect("a built-in scene");
    net.settings.isa = isa;
    net.settings.substeps = substeps;
    net.settings.link_iterations = iterations;
    net.build().expect("built-in scenes are valid")
}

struct Run {
    world: World,
    pool: rayon::ThreadPool,
    solver: Vec<f64>,
}

impl Run {
    fn new(world: World, threads: usize) -> Run {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        Run { world, pool, solver: Vec::new() }
    }

    fn step(&mut self) {
        let Run { world, pool, solver } = self;
        pool.install(|| world.step());
        solver.push(world.timings().solver);
    }

    /// Median of the solver's times, s, the first steps left out.
    fn median(&self, warmup: usize) -> f64 {
        let mut times = self.solver[warmup..].to_vec();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

/// ns per link and iteration of (instruction set, threads), measured in turns.
fn cost(side: usize, steps: usize, configurations: &[(Isa, usize)]) -> (usize, Vec<f64>) {
    const WARMUP: usize = 3;
    let mut runs: Vec<[Run; 2]> = configurations
        .iter()
        .map(|&(isa, threads)| [FEW, MANY].map(|it| Run::new(net(side, isa, 1, it), threads)))
        .collect();
    for _ in 0..steps + WARMUP {
        runs.iter_mut().flatten().for_each(Run::step);
    }
    let links = runs[0][0].world.link_count();
    let per_link = |[few, many]: &[Run; 2]| {
        1.0e9 * (many.median(WARMUP) - few.median(WARMUP)) / f64::from(MANY - FEW) / links as f64
    };
    (links, runs.iter().map(per_link).collect())
}

fn sizes(quick: bool) {
    println!("## Cost of a link and iteration\n");
    println!("Nets with structural, shear and bend links.\n");
    println!("| net | links | ns | scalar | best : scalar | 2 threads | speed-up | to 64 × 64 |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut first = None;
    let sides: &[(usize, usize)] =
        if quick { &[(16, 3)] } else { &[(64, 101), (128, 51), (256, 21), (512, 9), (1024, 5)] };
    for &(side, steps) in sides {
        let (links, ns) = cost(side, steps, &[(Isa::Auto, 1), (Isa::Scalar, 1), (Isa::Auto, 2)]);
        let [best, scalar, two] = ns[..] else { unreachable!("three configurations") };
        let first = *first.get_or_insert(best);
        println!(
            "| {side} × {side} | {links} | {best:.2} | {scalar:.2} | {:.2}× | {two:.2} | {:.2}× | {:.2}× |",
            scalar / best,
            best / two,
            best / first
        );
    }
    println!();
}

fn stretch(quick: bool) {
    let (side, steps) = if quick { (16, 20) } else { (64, 300) };
    println!("## Stretch of a hanging net against time\n");
    println!(
        "{side} × {side} particles, the top row pinned, after {steps} steps, one thread. Stretch is the \
         violation over the length, of the worst link and of all on average.\n"
    );
    println!("| substeps | iterations | ms per step | mean stretch, % | max stretch, % |");
    println!("|---|---|---|---|---|");
    for substeps in [1, 2, 4, 8, 16, 32] {
        for iterations in [1, 2, 4, 8, 16, 32] {
            if !(8..=128).contains(&(substeps * iterations)) {
                continue;
            }
            let mut run = Run::new(net(side, Isa::Auto, substeps, iterations), 1);
            let mut times = Vec::new();
            for _ in 0..steps {
                run.step();
                times.push(run.world.timings().total);
            }
            times.sort_by(f64::total_cmp);
            let quality = run.world.link_quality();
            println!(
                "| {substeps} | {iterations} | {:.2} | {:.3} | {:.2} |",
                1.0e3 * times[times.len() / 2],
                100.0 * quality.mean_stretch,
                100.0 * quality.max_stretch
            );
        }
    }
    println!();
}

/// A soft wheel falls on its rim: how far its links give at the worst moment.
fn stiffness() {
    println!("## Stiffness of a soft wheel against iterations\n");
    println!(
        "A polygon of 32 corners with a hub (96 links), 1 m in radius, dropped 4 m; 4 substeps. The largest stretch \
         of any link at the end of any step.\n"
    );
    println!("| iterations | largest stretch, % |");
    println!("|---|---|");
    for iterations in [1, 2, 4, 8, 16, 32, 64] {
        let mut world =
            World::new(Settings { link_iterations: iterations, sleep: false, ..Settings::default() })
                .expect("valid settings");
        let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
        world.add_body(&floor).expect("a valid body");
        let wheel = Assembly::polygon(Vec2::new(0.0, 5.05), 1.0, 32, 10.0).grouped(1);
        world.add_assembly(&wheel).expect("a valid assembly");
        let mut worst = 0.0f64;
        for _ in 0..240 {
            world.step();
            worst = worst.max(world.link_quality().max_stretch);
        }
        println!("| {iterations} | {:.3} |", 100.0 * worst);
    }
}

fn main() {
    // `cargo test` wants to see that it runs, and so does `cargo bench -- --test`; cargo bench says that it is one.
    let is_given = |flag: &str| std::env::args().any(|arg| arg == flag);
    let quick = is_given("--test") || !is_given("--bench");
    println!("# Links\n");
    println!("`cargo bench -p granule-benches --bench links > perf-reports/links.md`\n");
    {
        use granule_command::report::{Machine, commit, rustc};
        let Machine { cpu, cores, os } = Machine::this();
        let best = World::new(Settings::default()).expect("valid settings").isa();
        println!("{cpu}, {cores} cores, {os}; {best}, {}; commit {}.\n", rustc(), commit());
    }
    sizes(quick);
    stretch(quick);
    stiffness();
}
