//! Runs setups of engines in a case, in rounds, and judges what they did.

use crate::cases::Case;
use crate::engine::{self, Engine, State, Stepping, World};
use crate::measure::{Quality, peak_rss_bytes, quality};
use crate::report::Run;
use crate::scenes::Scene;
use crate::times::{Times, least};
use ::granule::Solver;

/// One world of a comparison, or many of a case that has many.
pub type Setup = (Engine, Stepping);

/// How the setups share the machine.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Rounds over the setups.
    pub rounds: usize,
    /// Turns in which they take the measured steps of a round, all worlds being in memory at once; 1 is one after the other.
    pub turns: usize,
}

/// One round of a setup: the run as if it were the only one, and the seconds of each measured step.
type Round = (Run, Vec<f64>);

/// Runs the setups in rounds, every other time backwards so that a drift of the machine's speed
/// hits all alike, and takes the least time of each step.
///
/// # Errors
///
/// When an engine refuses something of the scene.
pub fn rounds(case: &Case, setups: &[Setup], order: Order) -> Result<Vec<Run>, String> {
    let mut done: Vec<Option<Round>> = setups.iter().map(|_| None).collect();
    for round in 0..order.rounds {
        let mut indices: Vec<usize> = (0..setups.len()).collect();
        if round % 2 == 1 {
            indices.reverse();
        }
        // One after the other, with the memory freed in between, unless they are to take turns.
        let together = if order.turns == 1 { 1 } else { indices.len().max(1) };
        for group in indices.chunks(together) {
            let members: Vec<Setup> = group.iter().map(|&index| setups[index]).collect();
            for (&index, (mut run, seconds)) in group.iter().zip(measure(case, &members, order.turns)?) {
                // Memory of a process that runs many things says nothing about one of them.
                run.peak_rss_bytes = None;
                eprintln!("{}", said(&run));
                match &mut done[index] {
                    None => done[index] = Some((run, seconds)),
                    Some((first, best)) => {
                        first.rounds_agree &= first.quality == run.quality;
                        least(best, &seconds);
                    }
                }
            }
        }
    }
    let figures = |(run, seconds): Round| {
        let times = Times::of(&seconds);
        Run { times, rounds: order.rounds, ns_per_body_step: ns_per_body(times.p50_ms, run.bodies), ..run }
    };
    Ok(done.into_iter().flatten().map(figures).collect())
}

fn said(run: &Run) -> String {
    let frequency =
        run.contact_frequency_ratio.map_or_else(String::new, |ratio| format!(" ratio {ratio:.3}"));
    let damping = run.damping_ratio.map_or_else(String::new, |ratio| format!(" damping {ratio}"));
    let rest = [(run.sleep, " sleep"), (run.continuous, " continuous")]
        .map(|(on, name)| if on { name } else { "" })
        .concat();
    format!(
        "{}, {} threads, {} {} {}×{}{frequency}{damping}{rest}: {:.3} ms, mean {:.3}, p99 {:.3}, mean penetration {:.5}, \
         RMS speed {:.3}, outside {}, lost {}",
        run.case,
        run.threads,
        run.engine.name(),
        run.solver,
        run.substeps,
        run.iterations,
        run.times.p50_ms,
        run.times.mean_ms,
        run.times.p99_ms,
        run.quality.mean_penetration,
        run.quality.rms_speed,
        run.quality.outside,
        run.quality.lost
    )
}

fn ns_per_body(milliseconds: f64, bodies: usize) -> f64 {
    milliseconds * 1.0e6 / bodies.max(1) as f64
}

/// A setup that is being measured, and the seconds of its measured steps.
struct Timed {
    world: Box<dyn World>,
    seconds: Vec<f64>,
    /// All bodies at the end of each turn.
    turns: Vec<Vec<State>>,
}

/// Builds the worlds of each setup, warms them up, times their steps in `turns` and judges the final
/// states.
///
/// # Errors
///
/// When an engine refuses something of the scene.
pub fn measure(case: &Case, setups: &[Setup], turns: usize) -> Result<Vec<Round>, String> {
    let scenes = || -> Result<Vec<Scene>, String> {
        (0..case.worlds).map(|world| Scene::build(case.scene, case.bodies, world)).collect()
    };
    let mut worlds = Vec::with_capacity(setups.len());
    for &(engine, stepping) in setups {
        // The scenes are dropped before the steps: they are not part of what an engine needs.
        let mut world = engine::build(engine, &scenes()?, stepping)?;
        let mut seconds = Vec::with_capacity(case.worlds * case.warmup.max(case.steps));
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

    let scenes = scenes()?;
    let judged = |states: &[State]| {
        let mut rest = states;
        let mut of_worlds = Vec::with_capacity(scenes.len());
        for scene in &scenes {
            let (here, others) = rest.split_at(scene.bodies.len());
            of_worlds.push(quality(scene, here));
            rest = others;
        }
        Quality::of_all(&of_worlds)
    };
    let (bodies, all) = (scenes[0].moving(), scenes[0].bodies.len());
    let run = |&(engine, stepping): &Setup, turns: &[Vec<State>], seconds: &[f64]| {
        let turns: Vec<Quality> = turns.iter().map(|states| judged(states)).collect();
        let mean = |of: fn(&Quality) -> f64| turns.iter().map(of).sum::<f64>() / turns.len() as f64;
        let times = Times::of(seconds);
        let solver = match stepping.solver {
            Solver::Soft => "soft",
            Solver::Projection => "projection",
        };
        Run {
            case: case.name.to_owned(),
            scene: case.scene.to_owned(),
            worlds: case.worlds,
            bodies,
            static_bodies: all - bodies,
            engine,
            threads: stepping.threads,
            warmup: case.warmup,
            steps: case.steps,
            rounds: 1,
            rounds_agree: true,
            substeps: stepping.substeps,
            iterations: stepping.iterations,
            solver: solver.to_owned(),
            contact_frequency_ratio: stepping.contact_frequency_ratio,
            damping_ratio: stepping.damping_ratio,
            sleep: stepping.sleep,
            continuous: stepping.continuous,
            times,
            ns_per_body_step: ns_per_body(times.p50_ms, bodies),
            rms_speed_over_turns: mean(|quality| quality.rms_speed.powi(2)).sqrt(),
            max_penetration_over_turns: mean(|quality| quality.max_penetration),
            quality: turns.into_iter().next_back().expect("there is at least one turn"),
            conserved_rms_speed: scenes[0].conserved_rms_speed(),
            peak_rss_bytes,
        }
    };
    let judged = setups.iter().zip(results);
    Ok(judged.map(|(setup, (turns, seconds))| (run(setup, &turns, &seconds), seconds)).collect())
}
