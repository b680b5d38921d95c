//! Granule next to Box2D v3.2 and Rapier: the same scenes, one after the other, in one run.
//!
//! ```text
//! cd benches/peers && cargo run --release
//! ```
//!
//! compares all three engines in every scene at 1 and 2 threads (and Granule with Box2D in the joint grid), prints the tables and writes them to
//! `perf-reports/peers.md` and `peers.json`. That takes about a quarter of an hour, nearly all of it
//! the peers'. Only ratios taken in one run count. Where the machine's speed drifts, `--repeat 3` goes
//! over the engines three times and reports medians, and `--turns 6` lets them take ten measured steps
//! at a time in turn. `--help` lists the rest, among it:
//!
//! - `--scenes packed-50k,gas-50k`, `--engines`, `--threads`, `--warmup`, `--steps`: a part of it;
//! - `--quality`: settled `packed` circles for a grid of Granule's settings, next to Box2D;
//! - `--convergence`: the scenes in motion at 4 to 32 substeps in every engine, to see which result 4 are nearest to;
//! - `--flatness`: the cost per body from 10,000 to 1,000,000 `packed` circles, and the peak memory;
//! - `--quick`: small scenes and few steps, to see that everything runs.
//!
//! Box2D's own release build leaves its assertions out and asks for `-O3`; the crate that builds it here
//! does neither, so its C compiler is to be given `CFLAGS="-O3 -DNDEBUG"`. `.cargo/config.toml` of this
//! directory does that for a run that starts here, and `cargo run --release --manifest-path
//! benches/peers/Cargo.toml` elsewhere does without. (4 % of Box2D's time, in the best of four runs of
//! 10,000 packed circles.) The program finds out whether the assertions are in, and says so in the report.
//!
//! The parts: [`scenes`] what is run, [`engine`] what an engine has to do, [`granule`], [`box2d`] and
//! [`rapier`] the engines, [`joints`] the joint grid, a case of its own, [`measure`] the quality of a state,
//! [`report`] the tables.

mod box2d;
mod engine;
mod granule;
mod joints;
mod measure;
mod rapier;
mod report;
mod scenes;

use ::granule::Solver;
use clap::Parser;
use engine::{Engine, State, Stepping, World};
use joints::{JointRun, Size};
use measure::{Quality, peak_rss_bytes, percentile, quality};
use report::{Goal, Origin, Report, Run};
use scenes::{CASES, COLLAPSING, Case, FLATNESS_SIZES, MOVING, SETTLED, Scene};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

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
    /// Rounds over the engines; the medians are reported
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
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
        return single(cli);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let origin = Origin::new(&arguments, box2d_assertions);
    if box2d_assertions {
        eprintln!("note: Box2D is built with its assertions; set CFLAGS=\"-O3 -DNDEBUG\" for its best time");
    }

    let (stem, report) = if cli.flatness {
        ("peers-flatness", Report::flatness(origin, flatness(cli)?))
    } else if cli.quality {
        ("peers-quality", Report::quality(origin, settings_grid(cli)?))
    } else if cli.convergence {
        ("peers-convergence", Report::convergence(origin, more_substeps(cli)?))
    } else {
        let cases = cli.cases()?;
        let goal = |case: &Case| -> Goal { (case.name.to_owned(), case.at_least, case.aim) };
        // The goals are set for the cases as they stand.
        let own_sizes = cli.bodies.is_none() && cli.warmup.is_none() && !cli.quick;
        let goals: Vec<Goal> = if own_sizes { cases.iter().map(goal).collect() } else { Vec::new() };
        let runs = comparison(cli, &cases)?;
        let joints = if cli.wants(joints::NAME) { joint_grid(cli)? } else { Vec::new() };
        ("peers", Report::comparison(origin, runs, joints, &goals))
    };

    print!("{}", report.markdown());
    let default_out = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../perf-reports"));
    let out = cli.out.clone().or_else(|| (!cli.quick).then(default_out));
    if let Some(out) = out {
        report.write(&out, stem).map_err(|error| format!("cannot write to {}: {error}", out.display()))?;
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
        let case = if self.quick { Case { bodies: 500, warmup: 10, steps: 10, ..case } } else { case };
        Case {
            bodies: self.bodies.unwrap_or(case.bodies),
            warmup: self.warmup.unwrap_or(case.warmup),
            steps: self.steps.map_or(case.steps, |steps| steps as usize),
            ..case
        }
    }

    fn wants(&self, case: &str) -> bool {
        self.scenes.is_empty() || self.scenes.iter().any(|name| name == case)
    }

    fn cases(&self) -> Result<Vec<Case>, String> {
        let chosen = |case: &Case, name: &String| case.name == name || case.scene == name;
        for name in &self.scenes {
            if name != joints::NAME && !CASES.iter().any(|case| chosen(case, name)) {
                let names: Vec<&str> = CASES.iter().map(|case| case.name).chain([joints::NAME]).collect();
                return Err(format!("no case or scene `{name}`; there are {}", names.join(", ")));
            }
        }
        let wanted =
            |case: &&Case| self.scenes.is_empty() || self.scenes.iter().any(|name| chosen(case, name));
        Ok(CASES.iter().filter(wanted).map(|&case| self.adjusted(case)).collect())
    }
}

/// One world of a comparison.
type Setup = (Engine, Stepping);

/// Every engine in every case at every thread count.
fn comparison(cli: &Cli, cases: &[Case]) -> Result<Vec<Run>, String> {
    let engines = cli.engines_or(&[Engine::Granule, Engine::Box2d, Engine::Rapier]);
    let mut runs = Vec::new();
    for case in cases {
        for threads in cli.threads_or(&[1, 2]) {
            let setups: Vec<Setup> =
                engines.iter().map(|&engine| (engine, case.stepping(engine, threads))).collect();
            runs.extend(rounds(cli, case, &setups)?);
        }
    }
    Ok(runs)
}

/// Granule and Box2D in the joint grid, where they are among the engines.
fn joint_grid(cli: &Cli) -> Result<Vec<JointRun>, String> {
    let own = if cli.quick { Size { side: 10, warmup: 10, steps: 10 } } else { joints::SIZE };
    let size = Size {
        side: cli.bodies.map_or(own.side, |bodies| bodies.isqrt().max(1)),
        warmup: cli.warmup.unwrap_or(own.warmup),
        steps: cli.steps.map_or(own.steps, |steps| steps as usize),
    };
    let engines = cli.engines_or(&[Engine::Granule, Engine::Box2d]);
    let engines: Vec<Engine> = engines.into_iter().filter(|&engine| engine != Engine::Rapier).collect();
    let mut runs = Vec::new();
    for threads in cli.threads_or(&[1, 2]) {
        let mut rounds: Vec<Vec<JointRun>> = engines.iter().map(|_| Vec::new()).collect();
        for round in 0..cli.repeat {
            let mut order: Vec<usize> = (0..engines.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for index in order {
                let run = joints::measure(engines[index], threads, size)?;
                eprintln!(
                    "{}, {threads} threads, {}: {:.3} ms, mean stretch {:.6}",
                    joints::NAME,
                    run.engine.name(),
                    run.p50_ms,
                    run.mean_stretch
                );
                rounds[index].push(run);
            }
        }
        runs.extend(rounds.into_iter().map(|runs| {
            let middle = |of: fn(&JointRun) -> f64| percentile(&runs.iter().map(of).collect::<Vec<_>>(), 0.5);
            let min_ms = runs.iter().map(|run| run.min_ms).fold(f64::INFINITY, f64::min);
            let (p50_ms, p95_ms) = (middle(|run| run.p50_ms), middle(|run| run.p95_ms));
            JointRun { p50_ms, p95_ms, min_ms, ..runs[0].clone() }
        }));
    }
    Ok(runs)
}

/// Box2D and a grid of Granule's settings on the settled pile, and damping ratios on the one that collapses as well.
fn settings_grid(cli: &Cli) -> Result<Vec<Run>, String> {
    let engines = cli.engines_or(&[Engine::Box2d, Engine::Granule]);
    let mut runs = Vec::new();
    for threads in cli.threads_or(&[1, 2]) {
        let common = Stepping::common(threads);
        let (mut setups, mut collapsing) = (Vec::new(), Vec::new());
        for &engine in &engines {
            if engine != Engine::Granule {
                setups.push((engine, common));
                collapsing.push((engine, common));
                continue;
            }
            for damping_ratio in [5.0, 10.0, 20.0, 40.0] {
                let setup = (engine, Stepping { damping_ratio: Some(damping_ratio), ..common });
                setups.push(setup);
                collapsing.push(setup);
            }
            for substeps in [4, 8, 16, 32] {
                for ratio in [0.125, 1.0 / 6.0, 0.2, 0.25] {
                    let contact_frequency_ratio = Some(ratio);
                    setups.push((engine, Stepping { substeps, contact_frequency_ratio, ..common }));
                }
                for (iterations, solver) in
                    [(2, Solver::Soft), (1, Solver::Projection), (2, Solver::Projection)]
                {
                    setups.push((engine, Stepping { substeps, iterations, solver, ..common }));
                }
            }
            // The classical engine: one substep, many iterations.
            setups.push((
                engine,
                Stepping { substeps: 1, iterations: 10, solver: Solver::Projection, ..common },
            ));
        }
        runs.extend(rounds(cli, &cli.adjusted(SETTLED), &setups)?);
        runs.extend(rounds(cli, &cli.adjusted(COLLAPSING), &collapsing)?);
    }
    Ok(runs)
}

/// Every engine at more and more substeps in the cases that are in motion when they are judged.
fn more_substeps(cli: &Cli) -> Result<Vec<Run>, String> {
    let engines = cli.engines_or(&[Engine::Granule, Engine::Box2d, Engine::Rapier]);
    let moving = |case: &Case| MOVING.contains(&case.name) || !cli.scenes.is_empty();
    let mut runs = Vec::new();
    for case in cli.cases()?.iter().filter(|case| moving(case)) {
        for threads in cli.threads_or(&[2]) {
            let of = |&engine| {
                [4, 8, 16, 32].map(|substeps| (engine, Stepping { substeps, ..Stepping::common(threads) }))
            };
            let setups: Vec<Setup> = engines.iter().flat_map(of).collect();
            runs.extend(rounds(cli, case, &setups)?);
        }
    }
    Ok(runs)
}

/// The packed pile at several sizes, each in a process of its own so that its peak memory is known.
fn flatness(cli: &Cli) -> Result<Vec<Run>, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let sizes = cli.bodies.map_or_else(|| FLATNESS_SIZES.to_vec(), |bodies| vec![bodies]);
    let mut runs = Vec::new();
    for engine in cli.engines_or(&[Engine::Granule]) {
        for threads in cli.threads_or(&[1]) {
            for &size in &sizes {
                let size = if cli.quick { size / 100 } else { size };
                let case = cli.adjusted(Case { bodies: size, ..CASES[0] });
                let engine = clap::ValueEnum::to_possible_value(&engine).expect("no engine is skipped");
                let out = Command::new(&program)
                    .args(["--flatness", "--single", "--engines", engine.get_name()])
                    .args(["--threads", &threads.to_string(), "--bodies", &size.to_string()])
                    .args(["--warmup", &case.warmup.to_string(), "--steps", &case.steps.to_string()])
                    .stderr(Stdio::inherit())
                    .output()
                    .map_err(|error| format!("cannot start this program again: {error}"))?;
                if !out.status.success() {
                    return Err(format!("{} at {size} bodies: {}", engine.get_name(), out.status));
                }
                runs.push(serde_json::from_slice(&out.stdout).map_err(|error| error.to_string())?);
            }
        }
    }
    Ok(runs)
}

/// The child of [`flatness`].
fn single(cli: &Cli) -> Result<(), String> {
    let case = cli.adjusted(CASES[0]);
    let (&[engine], &[threads]) = (&cli.engines[..], &cli.threads[..]) else {
        return Err("--single takes one engine and one thread count".to_owned());
    };
    let runs = measure(&case, &[(engine, Stepping::common(threads.into()))], 1)?;
    println!("{}", serde_json::to_string(&runs[0]).map_err(|error| error.to_string())?);
    Ok(())
}

/// Runs the setups `repeat` times, every other time backwards so that a drift of the machine's speed
/// hits all alike, and takes medians.
fn rounds(cli: &Cli, case: &Case, setups: &[Setup]) -> Result<Vec<Run>, String> {
    let mut rounds: Vec<Vec<Run>> = setups.iter().map(|_| Vec::new()).collect();
    for round in 0..cli.repeat {
        let mut order: Vec<usize> = (0..setups.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        // One after the other, with the memory freed in between, unless they are to take turns.
        let together = if cli.turns == 1 { 1 } else { order.len().max(1) };
        for group in order.chunks(together) {
            let members: Vec<Setup> = group.iter().map(|&index| setups[index]).collect();
            for (&index, mut run) in group.iter().zip(measure(case, &members, cli.turns as usize)?) {
                // Memory of a process that runs many things says nothing about one of them.
                run.peak_rss_bytes = None;
                eprintln!(
                    "{}, {} threads, {} {} {}×{}{}: {:.3} ms, mean penetration {:.5}",
                    run.case,
                    run.threads,
                    run.engine.name(),
                    run.solver,
                    run.substeps,
                    run.iterations,
                    run.contact_frequency_ratio
                        .map_or_else(String::new, |ratio| format!(" ratio {ratio:.3}"))
                        + &run.damping_ratio.map_or_else(String::new, |ratio| format!(" damping {ratio}")),
                    run.p50_ms,
                    run.quality.mean_penetration
                );
                rounds[index].push(run);
            }
        }
    }
    let middle =
        |runs: &[Run], of: fn(&Run) -> f64| percentile(&runs.iter().map(of).collect::<Vec<_>>(), 0.5);
    let merge = |runs: Vec<Run>| {
        let (p50_ms, p95_ms) = (middle(&runs, |run| run.p50_ms), middle(&runs, |run| run.p95_ms));
        let min_ms = runs.iter().map(|run| run.min_ms).fold(f64::INFINITY, f64::min);
        let p50_ms_of_repeats = runs.iter().map(|run| run.p50_ms).collect();
        let ns_per_body_step = ns_per_body(p50_ms, runs[0].bodies);
        Run { p50_ms, p95_ms, min_ms, p50_ms_of_repeats, ns_per_body_step, ..runs[0].clone() }
    };
    Ok(rounds.into_iter().map(merge).collect())
}

fn ns_per_body(milliseconds: f64, bodies: usize) -> f64 {
    milliseconds * 1.0e6 / bodies.max(1) as f64
}

/// A world that is being measured, and the seconds of its measured steps.
struct Timed {
    world: Box<dyn World>,
    seconds: Vec<f64>,
    /// All bodies at the end of each turn.
    turns: Vec<Vec<State>>,
}

/// Builds one world for each setup, warms them up, times their steps in `turns` and judges the final
/// states.
fn measure(case: &Case, setups: &[Setup], turns: usize) -> Result<Vec<Run>, String> {
    let mut worlds = Vec::with_capacity(setups.len());
    for &(engine, stepping) in setups {
        // The scene is dropped before the steps: it is not part of what an engine needs.
        let scene = Scene::build(case.scene, case.bodies)?;
        let mut world = engine::build(engine, &scene, stepping)?;
        drop(scene);
        let mut seconds = Vec::with_capacity(case.warmup.max(case.steps));
        world.run(case.warmup, &mut seconds);
        seconds.clear();
        worlds.push(Timed { world, seconds, turns: Vec::with_capacity(turns) });
    }
    for turn in 0..turns {
        let steps = case.steps * (turn + 1) / turns - case.steps * turn / turns;
        for timed in &mut worlds {
            timed.world.run(steps, &mut timed.seconds);
        }
        // Not between the steps of the others: a pass over all states empties the cache.
        for timed in &mut worlds {
            timed.turns.push(timed.world.states());
        }
    }
    let peak_rss_bytes = peak_rss_bytes();
    // The worlds go before the judging starts.
    let results: Vec<_> = worlds.into_iter().map(|timed| (timed.turns, timed.seconds)).collect();

    let scene = Scene::build(case.scene, case.bodies)?;
    let (bodies, static_bodies) = (scene.moving(), scene.bodies.len() - scene.moving());
    let judge = |&(engine, stepping): &Setup, turns: &[Vec<State>], seconds: &[f64]| {
        let turns: Vec<Quality> = turns.iter().map(|states| quality(&scene, states)).collect();
        let mean = |of: fn(&Quality) -> f64| turns.iter().map(of).sum::<f64>() / turns.len() as f64;
        let of = |share| 1.0e3 * percentile(seconds, share);
        let p50_ms = of(0.5);
        let solver = match stepping.solver {
            Solver::Soft => "soft",
            Solver::Projection => "projection",
        };
        Run {
            case: case.name.to_owned(),
            scene: case.scene.to_owned(),
            bodies,
            static_bodies,
            engine,
            threads: stepping.threads,
            warmup: case.warmup,
            steps: case.steps,
            substeps: stepping.substeps,
            iterations: stepping.iterations,
            solver: solver.to_owned(),
            contact_frequency_ratio: stepping.contact_frequency_ratio,
            damping_ratio: stepping.damping_ratio,
            p50_ms,
            p95_ms: of(0.95),
            min_ms: of(0.0),
            p50_ms_of_repeats: vec![p50_ms],
            ns_per_body_step: ns_per_body(p50_ms, bodies),
            rms_speed_over_turns: mean(|quality| quality.rms_speed.powi(2)).sqrt(),
            max_penetration_over_turns: mean(|quality| quality.max_penetration),
            quality: turns.into_iter().next_back().expect("there is at least one turn"),
            conserved_rms_speed: scene.conserved_rms_speed(),
            peak_rss_bytes,
        }
    };
    Ok(setups.iter().zip(&results).map(|(setup, (turns, seconds))| judge(setup, turns, seconds)).collect())
}
