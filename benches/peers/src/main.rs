//! Granule next to Box2D v3.2 and Rapier: the same scenes, one after the other, in one run.
//!
//! ```text
//! cd benches/peers && cargo run --release
//! ```
//!
//! compares all three engines in every case at 1 and 2 threads, prints the
//! tables and writes them to `perf-reports/peers.md` and `peers.json`. That takes about an hour, nearly all of it
//! the peers'. Only ratios taken in one run count.
//!
//! The engines run in three rounds (`--repeat`), A, B, C, then C, B, A, and so on. Step i of a case does the same work
//! in every round, so of each step the least time is taken, and from these the median, the mean, the 99th percentile and the
//! maximum. Each has its ratio: the figure of the peer that is faster in it over Granule's; each case says
//! what Granule must reach of them. What a case replaces before a step (`churn`) is part of the step. `--turns 6`
//! lets the engines take ten measured steps at a time in turn, on a machine whose speed drifts.
//! `--help` lists the rest, among it:
//!
//! - `--scenes packed-50k,gas-50k`, `--engines`, `--threads`, `--warmup`, `--steps`: a part of it;
//! - `--defaults`: what comes to rest, with sleep and continuous collision on; with `--joints`, joined bodies with both;
//! - `--continuous`: cases with continuous collision and without, in turns;
//! - `--quality`: settled `packed` circles for a grid of Granule's settings, next to Box2D;
//! - `--convergence`: the scenes in motion at 4 to 32 substeps in every engine, to see which result 4 are nearest to;
//! - `--weights`: heavy bodies on light ones, how far they sink;
//! - `--many`: many worlds side by side, by `step_many`;
//! - `--joints`: joined bodies: times, how well joints hold, and the energy of a double pendulum;
//! - `--queries`: rays, circle casts and boxes, single and in batches;
//! - `--hosting`: adding many bodies, reading all poses, snapshots;
//! - `--dearest`: the dearest step of each built-in scene, next to the median one;
//! - `--flatness`: the cost per body from 10,000 to 1,000,000 `packed` circles, and the peak memory;
//! - `--quick`: small scenes and few steps, to see that everything runs.
//!
//! Box2D's own release build leaves its assertions out and asks for `-O3`; the crate that builds it here
//! does neither, so its C compiler is to be given `CFLAGS="-O3 -DNDEBUG"`. `.cargo/config.toml` of this
//! directory does that for a run that starts here, and gives Rapier AVX2; `cargo run --release --manifest-path
//! benches/peers/Cargo.toml` elsewhere does without. (4 % of Box2D's time, in the best of four runs of
//! 10,000 packed circles.) The program finds out whether the assertions are in, and says so in the report.
//!
//! The parts: [`cases`] the rows of the table and their bars, [`scenes`] what is run, [`engine`] what an engine has to
//! do, [`granule`], [`box2d`] and [`rapier`] the engines, [`rounds`] the measurement, [`times`] the figures of
//! steps, [`measure`] the quality of a state, [`joints`] joined bodies, [`many`] many worlds side by side, [`queries`] rays, casts and boxes, [`hosting`] what a host does around the step,
//! [`dearest`] the slowest steps, [`modes`] what the
//! program can be asked for, [`report`] the tables.

mod box2d;
mod cases;
mod dearest;
mod engine;
mod granule;
mod hosting;
mod joints;
mod many;
mod measure;
mod modes;
mod queries;
mod rapier;
mod report;
mod rounds;
mod scenes;
mod times;
mod weights;

use cases::{CASES, Case, RESTING};
use clap::Parser;
use engine::{Engine, Stepping};
use report::{Goal, Origin, Report};
use rounds::Order;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the same scenes in Granule, Box2D and Rapier and compares times and final states.
#[derive(Parser, Debug)]
#[command(version)]
struct Cli {
    /// Cases to run, by the name of the case or of its scene; all by default
    #[arg(long, value_delimiter = ',')]
    scenes: Vec<String>,
    /// Engines to run
    #[arg(long, value_delimiter = ',', value_enum)]
    engines: Vec<Engine>,
    /// Thread counts [default: 1,2; 1 for --flatness]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=32))]
    threads: Vec<u8>,
    /// Number of moving bodies instead of the cases' own
    #[arg(long)]
    bodies: Option<usize>,
    /// Unmeasured steps instead of the cases' own
    #[arg(long)]
    warmup: Option<usize>,
    /// Measured steps instead of the cases' own
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// Rounds over the engines; of each step the least time counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Turns in which the engines take their measured steps, all worlds being in memory at once;
    /// with 1 they run one after the other
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    turns: u32,
    /// Small scenes and few steps, to see that everything runs; nothing is written without --out
    #[arg(long)]
    quick: bool,
    /// Granule's substeps, iterations and solvers on the settled pile, next to Box2D
    #[arg(long, conflicts_with_all = ["scenes", "flatness"])]
    quality: bool,
    /// Cases in motion at several substeps in every engine: what their states tend to
    #[arg(long, conflicts_with_all = ["quality", "flatness"])]
    convergence: bool,
    /// How far heavy bodies sink into light ones
    #[arg(long, conflicts_with_all = ["scenes", "quality", "convergence", "flatness"])]
    weights: bool,
    /// Many worlds side by side
    #[arg(long, conflicts_with_all = ["scenes", "quality", "convergence", "flatness", "weights"])]
    many: bool,
    /// Joined bodies: times, errors, a double pendulum
    #[arg(long, conflicts_with_all = ["scenes", "quality", "convergence", "flatness", "weights", "many"])]
    joints: bool,
    /// Rays, circle casts and boxes
    #[arg(long, conflicts_with_all = ["scenes", "quality", "convergence", "flatness", "weights", "many", "joints"])]
    queries: bool,
    /// Adding many bodies, reading all poses, snapshots
    #[arg(long, conflicts_with_all = ["scenes", "quality", "convergence", "flatness", "weights", "many", "joints", "queries"])]
    hosting: bool,
    /// The dearest step of every built-in scene, next to the median one
    #[arg(long, conflicts_with_all = ["scenes", "quality", "convergence", "flatness", "weights", "many", "joints", "queries", "hosting"])]
    dearest: bool,
    /// Sleep and continuous collision on in every engine; without --scenes or --joints, the cases that come to rest
    #[arg(long, conflicts_with_all = ["quality", "convergence", "flatness", "weights", "many", "queries", "hosting"])]
    defaults: bool,
    /// Cases with continuous collision and without, in turns
    #[arg(long, conflicts_with_all = ["defaults", "quality", "convergence", "flatness", "weights", "many", "joints", "queries"])]
    continuous: bool,
    /// Cost per body and peak memory at several sizes
    #[arg(long, conflicts_with_all = ["scenes", "repeat", "turns"])]
    flatness: bool,
    /// Where the reports go [default: perf-reports of the repository]
    #[arg(long)]
    out: Option<PathBuf>,
    /// One run of --flatness, in a process of its own: prints the run as JSON
    #[arg(long, hide = true, requires_all = ["flatness", "bodies"])]
    single: bool,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("peers: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> Result<(), String> {
    let box2d_assertions = box2d::assertions_enabled();
    if cli.single {
        return modes::single(cli);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let origin = Origin::new(&arguments, box2d_assertions);
    if box2d_assertions {
        eprintln!("note: Box2D is built with its assertions; set CFLAGS=\"-O3 -DNDEBUG\" for its best time");
    }

    let default_out = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../perf-reports"));
    let out = cli.out.clone().or_else(|| (!cli.quick).then(default_out));
    let failed = |out: &PathBuf| format!("cannot write to {}", out.display());
    if cli.weights || cli.many || cli.joints || cli.queries || cli.hosting || cli.dearest {
        let (name, text) = if cli.many {
            ("peers-many.md", many::report(&origin, cli.repeat as usize)?)
        } else if cli.dearest {
            ("peers-dearest.md", dearest::report(&origin, cli.repeat as usize, cli.quick)?)
        } else if cli.hosting {
            ("peers-hosting.md", hosting::report(&origin, cli.repeat as usize, cli.quick)?)
        } else if cli.queries {
            let (bodies, count) = if cli.quick { (1_000, 200) } else { (50_000, 10_000) };
            let bodies = cli.bodies.unwrap_or(bodies);
            ("peers-queries.md", queries::report(&origin, cli.repeat as usize, bodies, count)?)
        } else if cli.joints {
            let threads = cli.threads_or(&[1, 2]);
            let form = joints::Form { quick: cli.quick, defaults: cli.defaults };
            let name = if cli.defaults { "peers-joints-defaults.md" } else { "peers-joints.md" };
            (name, joints::report(&origin, cli.repeat as usize, &threads, form)?)
        } else {
            let engines = cli.engines_or(&[Engine::Granule, Engine::Box2d, Engine::Rapier]);
            ("peers-weights.md", weights::report(&origin, &engines)?)
        };
        print!("{text}");
        return out.map_or(Ok(()), |out| {
            std::fs::write(out.join(name), text).map_err(|error| format!("{}: {error}", failed(&out)))
        });
    }
    let (stem, report) = if cli.flatness {
        ("peers-flatness", Report::flatness(origin, modes::flatness(cli)?))
    } else if cli.quality {
        ("peers-quality", Report::quality(origin, modes::settings_grid(cli)?))
    } else if cli.convergence {
        ("peers-convergence", Report::convergence(origin, modes::more_substeps(cli)?))
    } else {
        let cases = cli.cases()?;
        let goal = |case: &Case| -> Option<Goal> { Some((case.name.to_owned(), case.bars?)) };
        // The goals are set for the cases as they stand.
        let own_sizes = cli.bodies.is_none() && cli.warmup.is_none() && cli.steps.is_none() && !cli.quick;
        let goals: Vec<Goal> = if own_sizes { cases.iter().filter_map(goal).collect() } else { Vec::new() };
        if cli.continuous {
            ("peers-continuous", Report::continuous(origin, modes::continuous(cli, &cases)?))
        } else {
            let runs = modes::comparison(cli, &cases)?;
            if cli.defaults {
                ("peers-defaults", Report::defaults(origin, runs, &goals))
            } else {
                ("peers", Report::comparison(origin, runs, &goals))
            }
        }
    };

    print!("{}", report.markdown());
    if let Some(out) = out {
        report.write(&out, stem).map_err(|error| format!("{}: {error}", failed(&out)))?;
    }
    Ok(())
}

impl Cli {
    fn threads_or(&self, default: &[usize]) -> Vec<usize> {
        let given: Vec<usize> = self.threads.iter().map(|&count| usize::from(count)).collect();
        if given.is_empty() { default.to_vec() } else { given }
    }

    fn engines_or(&self, default: &[Engine]) -> Vec<Engine> {
        if self.engines.is_empty() { default.to_vec() } else { self.engines.clone() }
    }

    /// The case with the numbers of the command line in place of its own.
    fn adjusted(&self, case: Case) -> Case {
        let case = if self.quick { case.quick() } else { case };
        Case {
            bodies: self.bodies.unwrap_or(case.bodies),
            warmup: self.warmup.unwrap_or(case.warmup),
            steps: self.steps.map_or(case.steps, |steps| steps as usize),
            ..case
        }
    }

    fn order(&self) -> Order {
        Order { rounds: self.repeat as usize, turns: self.turns as usize }
    }

    /// How an engine steps a case.
    fn stepping(&self, case: &Case, engine: Engine, threads: usize) -> Stepping {
        Stepping { sleep: self.defaults, continuous: self.defaults, ..case.stepping(engine, threads) }
    }

    fn cases(&self) -> Result<Vec<Case>, String> {
        // Any case can be run with the defaults; by itself, what comes to rest is.
        let all: Vec<Case> =
            if self.defaults { RESTING.into_iter().chain(CASES).collect() } else { CASES.to_vec() };
        let chosen = |case: &Case, name: &String| case.name == name || case.scene == name;
        for name in &self.scenes {
            if !all.iter().any(|case| chosen(case, name)) {
                let names: Vec<&str> = all.iter().map(|case| case.name).collect();
                return Err(format!("no case or scene `{name}`; there are {}", names.join(", ")));
            }
        }
        let unnamed = |case: &Case| !self.defaults || RESTING.iter().any(|resting| resting.name == case.name);
        let wanted = |case: &Case| match &self.scenes[..] {
            [] => unnamed(case),
            names => names.iter().any(|name| chosen(case, name)),
        };
        Ok(all.into_iter().filter(wanted).map(|case| self.adjusted(case)).collect())
    }
}
