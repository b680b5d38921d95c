//! Joined bodies: Granule next to Box2D, with the same bodies and the same joints.
//!
//! The scenes are Granule's built-in ones, most of them with the dimensions of Box2D's own benchmarks. Both engines have the same
//! stiffness of joints (60 Hz, damping ratio 2), 4 substeps, and neither sleep nor continuous collision, unless `--defaults` asks for both. The error is the distance
//! of the two points that a revolute joint holds together. Rapier is left out: what it calls a revolute joint has other limits and motors.

use crate::box2d::JoinedWorld;
use crate::report::Origin;
use crate::times::{Times, least};
use ::granule::scene::{Player, Rain, Scene, Script, builtin};
use ::granule::{JointEnds, JointKind, Shape, Vec2, World};
use std::fmt::Write as _;
use std::time::Instant;

/// A scene, how long it runs, and how far Granule must be ahead.
struct Case {
    name: &'static str,
    scene: &'static str,
    bodies: usize,
    warmup: usize,
    steps: usize,
    bar: f64,
}

const CASES: [Case; 4] = [
    Case { name: "joint_grid", scene: "joint_grid", bodies: 10_000, warmup: 60, steps: 240, bar: 4.0 },
    Case { name: "rain", scene: "rain", bodies: 2_000, warmup: 240, steps: 480, bar: 3.0 },
    Case { name: "cars, 500", scene: "cars", bodies: 1_500, warmup: 120, steps: 240, bar: 3.0 },
    Case {
        name: "ball_and_chain × 100",
        scene: "ball_and_chain",
        bodies: 4_100,
        warmup: 120,
        steps: 240,
        bar: 3.0,
    },
];
const SEED: u64 = 1;
/// Substeps of both engines.
const SUBSTEPS: u32 = 4;

/// How the scenes are run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Small and short, to see that everything runs.
    pub quick: bool,
    /// With sleep and continuous collision.
    pub defaults: bool,
}

/// What a run of an engine showed.
struct Run {
    seconds: Vec<f64>,
    mean_error: f64,
    max_error: f64,
}

impl Run {
    fn of(seconds: Vec<f64>, gaps: &[f64]) -> Run {
        let mean_error = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
        // `max` passes a NaN over: a world that is lost must not look whole.
        let max_error = gaps.iter().fold(0.0f64, |most, &gap| if gap <= most { most } else { gap });
        Run { seconds, mean_error, max_error }
    }
}

/// The scene as both engines have it: with the same substeps and stiffness, and without the neighbours of a chain's segments, which only
/// Granule looks at.
fn scene(case: &Case, form: Form) -> Result<Scene, String> {
    let bodies = if form.quick { case.bodies / 20 } else { case.bodies };
    let mut scene = builtin(case.scene, bodies, SEED).ok_or_else(|| format!("no scene `{}`", case.scene))?;
    scene.settings.substeps = SUBSTEPS;
    (scene.settings.sleep, scene.settings.continuous) = (form.defaults, form.defaults);
    for joint in &mut scene.joints {
        joint.stiffness = ::granule::JointDesc::<usize, usize>::STIFFNESS;
    }
    for body in &mut scene.bodies {
        if let Shape::ChainSegment { half_length, .. } = body.shape {
            body.shape = Shape::segment(half_length);
        }
    }
    Ok(scene)
}

/// Takes steps, and the time of each.
fn timed(steps: usize, mut step: impl FnMut()) -> Vec<f64> {
    let one = |_| {
        let start = Instant::now();
        step();
        start.elapsed().as_secs_f64()
    };
    (0..steps).map(one).collect()
}

fn granule(scene: &Scene, steps: [usize; 2], threads: usize) -> Result<Run, String> {
    let mut world = scene.build().map_err(|error| error.to_string())?;
    let mut player = Player::new(scene, &world);
    let [warmup, steps] = steps;
    let mut run = || {
        timed(warmup, || player.step(&mut world));
        timed(steps, || player.step(&mut world))
    };
    let seconds = if threads == 1 {
        run()
    } else {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| error.to_string())?.install(run)
    };
    Ok(Run::of(seconds, &gaps(&world)))
}

/// The distance of the two points of each revolute joint, m.
fn gaps(world: &World) -> Vec<f64> {
    let gap = |joint: ::granule::JointDesc| {
        let (JointEnds::Bodies(a, b), JointKind::Revolute(_)) = (joint.ends, joint.kind) else { return None };
        let point = |body, point: Vec2| {
            let state = world.body(body).ok()?;
            Some((state.position + Vec2::from_angle(state.angle).rotate(point)).as_dvec2())
        };
        Some(point(a, joint.frame_a.position)?.distance(point(b, joint.frame_b.position)?))
    };
    world.joints().filter_map(|(_, joint)| gap(joint)).collect()
}

fn box2d(scene: &Scene, steps: [usize; 2], threads: usize) -> Result<Run, String> {
    let mut world = JoinedWorld::new(scene.settings, threads, &scene.bodies, &scene.joints)?;
    let mut number = 0;
    let mut step = || {
        number += 1;
        if let Some(Script::Rain(rain)) = &scene.script {
            make_anew(rain, number, &mut world).expect("a figure is compared");
        }
        world.step();
    };
    let [warmup, steps] = steps;
    timed(warmup, &mut step);
    let seconds = timed(steps, &mut step);
    Ok(Run::of(seconds, &world.gaps()))
}

/// What a player does in Granule's world.
fn make_anew(rain: &Rain, step: usize, world: &mut JoinedWorld) -> Result<(), String> {
    let every = rain.every as usize;
    if !step.is_multiple_of(every) {
        return Ok(());
    }
    for drop in &rain.turns[(step / every - 1) % rain.turns.len()] {
        let figure = Rain::figure(drop.centre, drop.group);
        world.replace(drop.first, &figure.bodies, &figure.joints)?;
    }
    Ok(())
}

/// Runs both engines in rounds, and takes the least time of each step.
fn rounds(case: &Case, threads: usize, rounds: usize, form: Form) -> Result<[Run; 2], String> {
    let scene = scene(case, form)?;
    let steps = if form.quick { [10, 10] } else { [case.warmup, case.steps] };
    let mut best: [Option<Run>; 2] = [None, None];
    for round in 0..rounds {
        for turn in 0..2 {
            let engine = (round + turn) % 2;
            let run =
                if engine == 0 { granule(&scene, steps, threads)? } else { box2d(&scene, steps, threads)? };
            match &mut best[engine] {
                None => best[engine] = Some(run),
                Some(best) => least(&mut best.seconds, &run.seconds),
            }
        }
    }
    let [Some(ours), Some(theirs)] = best else { return Err("no round was asked for".to_owned()) };
    Ok([ours, theirs])
}

/// The table.
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
        "\nThe same bodies and joints in both engines, 4 substeps, {rest}least of {repeat} rounds of each step, ms. `rain` makes and destroys figures \
         before a step; that is part of the step. The error is the distance of the two points of a revolute joint after the last step, mm.\n\n\
         | scene | threads | Granule: median | mean | p99 | error, mean / largest | Box2D: median | mean | p99 | error, mean / largest | \
         ratio: median | mean | p99 | bar |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    );
    for case in &CASES {
        for &threads in threads {
            let [ours, theirs] = rounds(case, threads, repeat, form)?;
            let (a, b) = (Times::of(&ours.seconds), Times::of(&theirs.seconds));
            let engine = |times: &Times, run: &Run| {
                let [mean, max] = [run.mean_error, run.max_error].map(|error| 1e3 * error);
                // A scene without revolute joints has no error.
                let error = if max == 0.0 { "–".to_owned() } else { format!("{mean:.2} / {max:.1}") };
                format!("{:.3} | {:.3} | {:.3} | {error}", times.p50_ms, times.mean_ms, times.p99_ms)
            };
            let ratios = [b.p50_ms / a.p50_ms, b.mean_ms / a.mean_ms, b.p99_ms / a.p99_ms];
            let row = format!(
                "| {} | {threads} | {} | {} | {:.1}× | {:.1}× | {:.1}× | {}× |",
                case.name,
                engine(&a, &ours),
                engine(&b, &theirs),
                ratios[0],
                ratios[1],
                ratios[2],
                case.bar
            );
            eprintln!("{row}");
            let _ = writeln!(text, "{row}");
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both engines run every case, and hold small scenes together.
    #[test]
    fn both_engines_run() {
        for case in &CASES {
            for threads in [1, 2] {
                for run in rounds(case, threads, 1, Form { quick: true, ..Form::default() }).expect("a run") {
                    assert_eq!(run.seconds.len(), 10);
                    assert!(
                        run.max_error < 0.2 && run.mean_error <= run.max_error,
                        "{}: {}",
                        case.name,
                        run.max_error
                    );
                }
            }
        }
    }
}
