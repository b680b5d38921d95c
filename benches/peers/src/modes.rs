//! What the program can be asked for: each mode chooses cases and setups and runs them.

use crate::Cli;
use crate::cases::{CASES, COLLAPSING, Case, FLATNESS_SIZES, MOVING, SETTLED};
use crate::engine::{Engine, Stepping};
use crate::report::Run;
use crate::rounds::{Setup, measure, rounds};
use ::granule::Solver;
use std::process::{Command, Stdio};

/// Every engine in every case at every thread count.
pub fn comparison(cli: &Cli, cases: &[Case]) -> Result<Vec<Run>, String> {
    let engines = cli.engines_or(&[Engine::Granule, Engine::Box2d, Engine::Rapier]);
    let mut runs = Vec::new();
    for case in cases {
        for threads in cli.threads_or(&[1, 2]) {
            let setups: Vec<Setup> =
                engines.iter().map(|&engine| (engine, cli.stepping(case, engine, threads))).collect();
            runs.extend(rounds(case, &setups, cli.order())?);
        }
    }
    Ok(runs)
}

/// Cases with continuous collision and without, in turns.
pub fn continuous(cli: &Cli, cases: &[Case]) -> Result<Vec<Run>, String> {
    let engines = cli.engines_or(&[Engine::Granule, Engine::Box2d]);
    let mut runs = Vec::new();
    for case in cases {
        for threads in cli.threads_or(&[1]) {
            let of = |&engine| {
                [false, true]
                    .map(|continuous| (engine, Stepping { continuous, ..case.stepping(engine, threads) }))
            };
            let setups: Vec<Setup> = engines.iter().flat_map(of).collect();
            runs.extend(rounds(case, &setups, cli.order())?);
        }
    }
    Ok(runs)
}

/// Box2D and a grid of Granule's settings on the settled pile, and damping ratios on the one that collapses as well.
pub fn settings_grid(cli: &Cli) -> Result<Vec<Run>, String> {
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
        runs.extend(rounds(&cli.adjusted(SETTLED), &setups, cli.order())?);
        runs.extend(rounds(&cli.adjusted(COLLAPSING), &collapsing, cli.order())?);
    }
    Ok(runs)
}

/// Every engine at more and more substeps in the cases that are in motion when they are judged.
pub fn more_substeps(cli: &Cli) -> Result<Vec<Run>, String> {
    let engines = cli.engines_or(&[Engine::Granule, Engine::Box2d, Engine::Rapier]);
    let moving = |case: &Case| MOVING.contains(&case.name) || !cli.scenes.is_empty();
    let mut runs = Vec::new();
    for case in cli.cases()?.iter().filter(|case| moving(case)) {
        for threads in cli.threads_or(&[2]) {
            let of = |&engine| {
                [4, 8, 16, 32].map(|substeps| (engine, Stepping { substeps, ..Stepping::common(threads) }))
            };
            let setups: Vec<Setup> = engines.iter().flat_map(of).collect();
            runs.extend(rounds(case, &setups, cli.order())?);
        }
    }
    Ok(runs)
}

/// The packed pile at several sizes, each in a process of its own so that its peak memory is known.
pub fn flatness(cli: &Cli) -> Result<Vec<Run>, String> {
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
pub fn single(cli: &Cli) -> Result<(), String> {
    let case = cli.adjusted(CASES[0]);
    let (&[engine], &[threads]) = (&cli.engines[..], &cli.threads[..]) else {
        return Err("--single takes one engine and one thread count".to_owned());
    };
    let runs = measure(&case, &[(engine, Stepping::common(threads.into()))], 1)?;
    println!("{}", serde_json::to_string(&runs[0].0).map_err(|error| error.to_string())?);
    Ok(())
}
