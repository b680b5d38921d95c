//! Joined bodies: Granule next to Box2D and Rapier, with the same bodies and the same joints.
//!
//! The scenes are Granule's built-in ones, most of them with the dimensions of Box2D's own benchmarks. Granule and Box2D have the same
//! stiffness of joints (60 Hz, damping ratio 2), Rapier has its own. All have 4 substeps, and neither sleep nor continuous collision,
//! unless `--defaults` asks for both. Times are those of runs in which nothing else is done; how well the joints hold is looked at in
//! a run of its own. Rapier has one motor an axis: where a joint has a spring and a motor, as the figures of `rain`, it gets the spring.

mod errors;
mod pendulum;

use crate::box2d::Box2dWorld;
use crate::engine::{Engine, Stepping, World, inside, pool};
use crate::granule::GranuleWorld;
use crate::rapier::RapierWorld;
use crate::report::Origin;
use crate::scenes::Scene;
use crate::times::{Times, least};
use ::granule::scene::{Rain, Script, builtin};
use ::granule::{Assembly, JointDesc, Shape};
use errors::{Errors, Spread};
use std::fmt::Write as _;
use std::time::Instant;

/// A joint between bodies of a list.
pub type Joint = JointDesc<usize, usize>;

/// A world whose bodies are joined.
pub trait Joined: World {
    /// Adds joints. The places of their bodies count from `first`.
    ///
    /// # Errors
    ///
    /// For a joint that is not compared.
    fn join(&mut self, first: usize, joints: &[Joint]) -> Result<(), String>;

    /// Makes the bodies from the place `first` on anew, with their joints.
    ///
    /// # Errors
    ///
    /// For a shape or a joint that is not compared.
    fn replace(&mut self, first: usize, made: &Assembly) -> Result<(), String>;
}

/// A scene, how long it runs, and how far Granule must be ahead of Box2D.
struct Case {
    name: &'static str,
    scene: &'static str,
    bodies: usize,
    warmup: usize,
    steps: usize,
    bar: f64,
}

const fn case(name: &'static str, scene: &'static str, bodies: usize, warmup: usize, bar: f64) -> Case {
    Case { name, scene, bodies, warmup, steps: 240, bar }
}

const CASES: [Case; 4] = [
    case("joint_grid", "joint_grid", 10_000, 60, 4.0),
    Case { steps: 480, ..case("rain", "rain", 2_000, 240, 3.0) },
    case("cars, 500", "cars", 1_500, 120, 3.0),
    case("ball_and_chain × 100", "ball_and_chain", 4_100, 120, 3.0),
];
const ENGINES: [Engine; 3] = [Engine::Granule, Engine::Box2d, Engine::Rapier];
const SEED: u64 = 1;
/// Substeps of all engines.
const SUBSTEPS: u32 = 4;
/// Of so many measured steps, one is followed by a look at all joints.
const LOOK_EVERY: usize = 10;

/// How the scenes are run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Small and short, to see that everything runs.
    pub quick: bool,
    /// With sleep and continuous collision.
    pub defaults: bool,
}

/// What all engines are given.
struct Setup {
    scene: Scene,
    joints: Vec<Joint>,
    rain: Option<Rain>,
    /// Steps before those that are measured, and those.
    steps: [usize; 2],
}

impl Setup {
    /// A case with the same substeps and stiffness for all, and without the neighbours of a chain's segments, which only Granule looks at.
    fn new(case: &Case, form: Form) -> Result<Setup, String> {
        let bodies = if form.quick { case.bodies / 20 } else { case.bodies };
        let mut own =
            builtin(case.scene, bodies, SEED).ok_or_else(|| format!("no scene `{}`", case.scene))?;
        own.settings.substeps = SUBSTEPS;
        (own.settings.sleep, own.settings.continuous) = (form.defaults, form.defaults);
        for joint in &mut own.joints {
            joint.stiffness = Joint::STIFFNESS;
        }
        for body in &mut own.bodies {
            if let Shape::ChainSegment { half_length, .. } = body.shape {
                body.shape = Shape::segment(half_length);
            }
        }
        let rain = match own.script {
            Some(Script::Rain(rain)) => Some(rain),
            _ => None,
        };
        let scene = Scene { settings: own.settings, bodies: own.bodies, parts: Vec::new(), replacing: None };
        let steps = if form.quick { [10, 10] } else { [case.warmup, case.steps] };
        Ok(Setup { scene, joints: own.joints, rain, steps })
    }

    /// Makes figures anew, if it is time before this step, which counts from 1.
    fn edit(&self, step: usize, world: &mut dyn Joined) -> Result<(), String> {
        let Some(rain) = &self.rain else { return Ok(()) };
        let every = rain.every as usize;
        if !step.is_multiple_of(every) {
            return Ok(());
        }
        for drop in &rain.turns[(step / every - 1) % rain.turns.len()] {
            world.replace(drop.first, &Rain::figure(drop.centre, drop.group))?;
        }
        Ok(())
    }

    /// Takes all steps, and calls `look` after those that are measured. Returns what each of them took, with what was edited
    /// before it, s.
    fn run(
        &self,
        engine: Engine,
        threads: usize,
        mut look: impl FnMut(usize, &dyn Joined) + Send,
    ) -> Result<Vec<f64>, String> {
        let mut world = build(engine, &self.scene, &self.joints, stepping(&self.scene, threads))?;
        let [warmup, steps] = self.steps;
        let (mut seconds, mut ignored) = (Vec::with_capacity(steps), Vec::with_capacity(1));
        inside(&pool(engine, threads)?, || {
            for step in 1..=warmup + steps {
                let start = Instant::now();
                self.edit(step, &mut *world)?;
                world.run(1, &mut ignored);
                let elapsed = start.elapsed().as_secs_f64();
                ignored.clear();
                if step > warmup {
                    seconds.push(elapsed);
                    look(step - warmup, &*world);
                }
            }
            Ok(seconds)
        })
    }

    /// How well the joints hold.
    fn errors(&self, engine: Engine) -> Result<Errors, String> {
        let mut errors = Errors::default();
        self.run(engine, 1, |step, world| {
            if step.is_multiple_of(LOOK_EVERY) {
                errors.look(&self.joints, &world.states());
            }
        })?;
        Ok(errors)
    }
}

/// How every engine steps such a scene.
fn stepping(scene: &Scene, threads: usize) -> Stepping {
    let ::granule::Settings { sleep, continuous, substeps, .. } = scene.settings;
    Stepping { sleep, continuous, substeps, ..Stepping::common(threads) }
}

/// A world of joined bodies, which has no pool of its own.
fn build(
    engine: Engine,
    scene: &Scene,
    joints: &[Joint],
    stepping: Stepping,
) -> Result<Box<dyn Joined>, String> {
    let mut world: Box<dyn Joined> = match engine {
        Engine::Granule => Box::new(GranuleWorld::new(scene, stepping, None)?),
        Engine::Box2d => Box::new(Box2dWorld::new(scene, stepping)?),
        Engine::Rapier => Box::new(RapierWorld::new(scene, stepping, None)?),
    };
    world.join(0, joints)?;
    Ok(world)
}

/// Runs all engines in rounds, and takes the least time of each step.
fn rounds(setup: &Setup, threads: usize, rounds: usize) -> Result<[Vec<f64>; 3], String> {
    let mut best: [Vec<f64>; 3] = Default::default();
    for round in 0..rounds {
        for turn in 0..ENGINES.len() {
            let engine = (round + turn) % ENGINES.len();
            let seconds = setup.run(ENGINES[engine], threads, |_, _| ())?;
            if best[engine].is_empty() { best[engine] = seconds } else { least(&mut best[engine], &seconds) }
        }
    }
    Ok(best)
}

/// The tables.
///
/// # Errors
///
/// What an engine says when it refuses something.
pub fn report(origin: &Origin, repeat: usize, threads: &[usize], form: Form) -> Result<String, String> {
    let mut text = String::from("# Joints\n\n");
    text.push_str(&origin.markdown());
    let rest = if form.defaults { "sleep and continuous collision on, " } else { "" };
    let _ = write!(
        text,
        "\nThe same bodies and joints in all engines, {SUBSTEPS} substeps, {rest}least of {repeat} rounds of each step, ms. `rain` makes \
         and destroys figures before a step; that is part of the step. Granule and Box2D have the same stiffness of joints, Rapier \
         has its own; it has one motor an axis, and gets the spring where there is a spring and a motor.\n\n\
         | scene | threads | Granule: median | mean | p99 | Box2D: median | mean | p99 | ratio: median | mean | p99 | bar | \
         Rapier: median | mean | p99 | ratio: median | mean | p99 |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    );
    for case in &CASES {
        let setup = Setup::new(case, form)?;
        for &threads in threads {
            let times = rounds(&setup, threads, repeat)?.map(|seconds| Times::of(&seconds));
            let row = format!("| {} | {threads} | {} |", case.name, row(&times, case.bar));
            eprintln!("{row}");
            let _ = writeln!(text, "{row}");
        }
    }
    held(&mut text, form)?;
    if !form.defaults {
        pendulums(&mut text, form)?;
    }
    Ok(text)
}

/// The figures of a scene at a number of threads.
fn row(times: &[Times; 3], bar: f64) -> String {
    let [ours, box2d, rapier] = times.each_ref().map(|times| [times.p50_ms, times.mean_ms, times.p99_ms]);
    let all = |figures: [f64; 3]| figures.map(|figure| format!("{figure:.3}")).join(" | ");
    let ratio = |theirs: [f64; 3]| {
        std::array::from_fn::<_, 3, _>(|figure| format!("{:.1}×", theirs[figure] / ours[figure])).join(" | ")
    };
    format!(
        "{} | {} | {} | {bar}× | {} | {}",
        all(ours),
        all(box2d),
        ratio(box2d),
        all(rapier),
        ratio(rapier)
    )
}

/// The table of errors.
fn held(text: &mut String, form: Form) -> Result<(), String> {
    let _ = write!(
        text,
        "\n## How well they hold\n\nAfter each {LOOK_EVERY}th measured step, mean / largest: the distance of the two points of a \
         revolute joint, mm, and how far a joint is beyond its limits, degrees.\n\n\
         | scene | Granule: apart | beyond | Box2D: apart | beyond | Rapier: apart | beyond |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    );
    let figures = |spread: &Spread, unit: f64| match spread.mean() {
        Some(mean) => format!("{:.2} / {:.1}", unit * mean, unit * spread.largest),
        None => "–".to_owned(),
    };
    for case in &CASES {
        let setup = Setup::new(case, form)?;
        let mut row = format!("| {} |", case.name);
        for engine in ENGINES {
            let errors = setup.errors(engine)?;
            let (apart, beyond) = (figures(&errors.gap, 1e3), figures(&errors.beyond, 1f64.to_degrees()));
            let _ = write!(row, " {apart} | {beyond} |");
        }
        eprintln!("{row}");
        let _ = writeln!(text, "{row}");
    }
    Ok(())
}

/// The table of energies.
fn pendulums(text: &mut String, form: Form) -> Result<(), String> {
    let seconds = if form.quick { 1 } else { pendulum::SECONDS };
    let _ = write!(
        text,
        "\n## A double pendulum without friction\n\n{} of them, in a line and released from the horizontal to 45° above it: the change of \
         energy in {seconds} s, in per cent of that between the horizontal and the lowest place. The mean at the end (least to most of \
         all).\n\n\
         | substeps | Granule | Box2D | Rapier |\n| ---: | ---: | ---: | ---: |\n",
        pendulum::RELEASES
    );
    for substeps in pendulum::SUBSTEPS {
        let mut row = format!("| {substeps} |");
        for engine in ENGINES {
            let [end, least, most] = {
                let drift = pendulum::swing_all(engine, substeps, seconds)?;
                [drift.end, drift.least, drift.most].map(|value| 100.0 * value)
            };
            let _ = write!(row, " {end:+.1} ({least:+.1} to {most:+.1}) |");
        }
        eprintln!("{row}");
        let _ = writeln!(text, "{row}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All engines run every case, and hold small scenes together.
    #[test]
    fn all_engines_run() {
        for case in &CASES {
            let setup = Setup::new(case, Form { quick: true, ..Form::default() }).expect("a scene");
            for threads in [1, 2] {
                for seconds in rounds(&setup, threads, 1).expect("a run") {
                    assert_eq!(seconds.len(), 10);
                }
            }
            for engine in ENGINES {
                let gap = setup.errors(engine).expect("a run").gap;
                assert!(gap.largest < 0.2, "{}, {}: {}", case.name, engine.name(), gap.largest);
                assert!(gap.mean().is_none_or(|mean| mean <= gap.largest));
            }
        }
    }
}
