//! The joint grid: Box2D's benchmark of circles that touch nothing, joined to their neighbours, against the same
//! grid as Granule's particles and links.
//!
//! 100 × 100 circles of radius 0.4 m, 1 m apart; seven in the middle of the top row are fixed, and the rest swings
//! below. Box2D joins each pair of neighbours by a revolute joint halfway between them (19,800 of them). Granule
//! has particles that keep their distance. Both are judged by the stretch: the distance of a joint's two anchors over
//! the 1 m between the centres, or a link's error over its length.

use crate::box2d::JointGrid;
use crate::engine::{Engine, timed};
use crate::scenes::replacing::Schedule;
use crate::times::{Times, least};
use ::granule::{BodyDesc, LinkDesc, Settings, Shape, Vec2};
use rayon::ThreadPoolBuilder;
use serde::{Deserialize, Serialize};

/// What `--scenes` and the table call it.
pub const NAME: &str = "joint-grid";
/// Of Granule.
pub const SUBSTEPS: u32 = 4;
/// Of Granule: as few as there should be, at which the grid stretches a quarter as much as in Box2D.
pub const LINK_ITERATIONS: u32 = 2;
/// Of Box2D, as everywhere.
pub const BOX2D_SUBSTEPS: u32 = 4;
/// Ratio to Box2D that Granule must reach, at no larger a mean stretch.
pub const AT_LEAST: f64 = 5.0;

/// Radius of the circles, m.
pub const RADIUS: f32 = 0.4;
/// Gravity of both, m/s².
pub const GRAVITY: [f32; 2] = [0.0, -10.0];
/// Time step of both, s.
pub const TIME_STEP: f32 = 1.0 / 60.0;

/// How large and how long.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Circles in a row, and rows.
    pub side: usize,
    /// Steps before the measurement.
    pub warmup: usize,
    /// Measured steps.
    pub steps: usize,
}

/// The case as it stands.
pub const SIZE: Size = Size { side: 100, warmup: 240, steps: 60 };

/// One engine at one number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JointRun {
    /// Which engine.
    pub engine: Engine,
    /// Threads that may work on a step.
    pub threads: usize,
    /// Circles, the fixed ones among them.
    pub bodies: usize,
    /// Joints or links.
    pub joints: usize,
    /// Steps before the measurement.
    pub warmup: usize,
    /// Measured steps.
    pub steps: usize,
    /// Substeps per step.
    pub substeps: u32,
    /// Passes over the links per substep; Granule's only.
    pub link_iterations: Option<u32>,
    /// Of its steps.
    #[serde(flatten)]
    pub times: Times,
    /// Mean stretch over all joints after the last step.
    pub mean_stretch: f64,
    /// The largest.
    pub max_stretch: f64,
}

/// A place of the grid: column `k`, row `i`, counted from the top.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Of the centre, m.
    pub position: [f32; 2],
    /// Whether it hangs still.
    pub fixed: bool,
}

/// Every place, column by column from the left, each from the top.
pub fn places(side: usize) -> impl Iterator<Item = Place> {
    let middle = side / 2;
    (0..side * side).map(move |index| {
        let (k, i) = (index / side, index % side);
        Place { position: [k as f32, -(i as f32)], fixed: i == 0 && k.abs_diff(middle) <= 3 }
    })
}

/// Pairs of neighbours: the upper or left one, the lower or right one, and whether the second is below.
pub fn neighbours(side: usize) -> impl Iterator<Item = (usize, usize, bool)> {
    (0..side * side).flat_map(move |index| {
        let above = (index % side > 0).then(|| (index - 1, index, true));
        let left = (index >= side).then(|| (index - side, index, false));
        above.into_iter().chain(left)
    })
}

/// Runs the engines in rounds, every other time backwards, and takes the least time of each step.
///
/// # Errors
///
/// When an engine refuses something, or is Rapier, which is not compared here.
pub fn rounds(
    engines: &[Engine],
    threads: usize,
    size: Size,
    rounds: usize,
) -> Result<Vec<JointRun>, String> {
    let mut done: Vec<Option<(JointRun, Vec<f64>)>> = engines.iter().map(|_| None).collect();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..engines.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let (run, seconds) = measure(engines[index], threads, size)?;
            eprintln!(
                "{NAME}, {threads} threads, {}: {:.3} ms, mean stretch {:.6}",
                run.engine.name(),
                run.times.p50_ms,
                run.mean_stretch
            );
            match &mut done[index] {
                None => done[index] = Some((run, seconds)),
                Some((_, best)) => least(best, &seconds),
            }
        }
    }
    let figures = |(run, seconds): (JointRun, Vec<f64>)| JointRun { times: Times::of(&seconds), ..run };
    Ok(done.into_iter().flatten().map(figures).collect())
}

/// Runs one engine once; the seconds are those of its measured steps.
fn measure(engine: Engine, threads: usize, size: Size) -> Result<(JointRun, Vec<f64>), String> {
    let mut seconds = Vec::with_capacity(size.warmup.max(size.steps));
    let (joints, mean_stretch, max_stretch) = match engine {
        Engine::Granule => granule(threads, size, &mut seconds)?,
        Engine::Box2d => box2d(threads, size, &mut seconds)?,
        Engine::Rapier => return Err("Rapier is left out of the joint grid".to_owned()),
    };
    let own = engine == Engine::Granule;
    let run = JointRun {
        engine,
        threads,
        bodies: size.side * size.side,
        joints,
        warmup: size.warmup,
        steps: size.steps,
        substeps: if own { SUBSTEPS } else { BOX2D_SUBSTEPS },
        link_iterations: own.then_some(LINK_ITERATIONS),
        times: Times::of(&seconds),
        mean_stretch,
        max_stretch,
    };
    Ok((run, seconds))
}

fn granule(threads: usize, size: Size, seconds: &mut Vec<f64>) -> Result<(usize, f64, f64), String> {
    let refused = |error: ::granule::Error| error.to_string();
    let settings = Settings {
        gravity: GRAVITY.into(),
        time_step: TIME_STEP,
        substeps: SUBSTEPS,
        link_iterations: LINK_ITERATIONS,
        ..Settings::default()
    };
    let mut world = ::granule::World::new(settings).map_err(refused)?;
    let mass = std::f32::consts::PI * RADIUS * RADIUS;
    let bodies: Vec<BodyDesc> = places(size.side)
        .map(|place| {
            let mut body = BodyDesc::particle(Vec2::from(place.position), mass);
            body.shape = Shape::particle(RADIUS);
            // As in Box2D: its own category is not in its mask, so that no two of them touch.
            (body.filter.category, body.filter.mask) = (2, !2);
            if place.fixed { body.pinned() } else { body }
        })
        .collect();
    let handles = world.add_bodies(&bodies).map_err(refused)?;
    let links: Vec<LinkDesc> =
        neighbours(size.side).map(|(a, b, _)| LinkDesc::distance(handles[a], handles[b], 1.0)).collect();
    world.add_links(&links).map_err(refused)?;

    let mut schedule = Schedule::default();
    let mut run =
        |steps: usize, seconds: &mut Vec<f64>| timed(&mut schedule, steps, seconds, |_| world.step());
    if threads == 1 {
        run(size.warmup, seconds);
        seconds.clear();
        run(size.steps, seconds);
    } else {
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string())?;
        pool.install(|| {
            run(size.warmup, seconds);
            seconds.clear();
            run(size.steps, seconds);
        });
    }
    let quality = world.link_quality();
    Ok((quality.links, quality.mean_stretch, quality.max_stretch))
}

fn box2d(threads: usize, size: Size, seconds: &mut Vec<f64>) -> Result<(usize, f64, f64), String> {
    let mut grid = JointGrid::new(size.side, threads)?;
    grid.run(size.warmup, seconds);
    seconds.clear();
    grid.run(size.steps, seconds);
    let gaps = grid.gaps();
    let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
    // `max` passes a NaN over: a grid that is lost must not look whole.
    let largest = gaps.iter().fold(0.0f64, |most, &gap| if gap <= most { most } else { gap });
    Ok((gaps.len(), mean, largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of Box2D's benchmark: seven are fixed, 19,800 joints, each between places 1 m apart.
    #[test]
    fn the_grid_is_box2ds() {
        let places: Vec<Place> = places(100).collect();
        let fixed: Vec<usize> = (0..places.len()).filter(|&index| places[index].fixed).collect();
        assert_eq!(fixed, [4700, 4800, 4900, 5000, 5100, 5200, 5300]);
        assert_eq!((places.len(), neighbours(100).count()), (10_000, 19_800));
        for (a, b, below) in neighbours(100) {
            let [[ax, ay], [bx, by]] = [places[a].position, places[b].position];
            let expected = if below { [0.0, -1.0] } else { [1.0, 0.0] };
            assert_eq!([bx - ax, by - ay], expected);
        }
    }

    /// Both engines hold a small grid together.
    #[test]
    fn both_engines_run() {
        let size = Size { side: 8, warmup: 5, steps: 5 };
        for engine in [Engine::Granule, Engine::Box2d] {
            for threads in [1, 2] {
                let (run, seconds) = measure(engine, threads, size).expect("a run");
                assert_eq!(seconds.len(), size.steps);
                assert_eq!((run.bodies, run.joints), (64, 112));
                assert!(run.max_stretch < 0.1 && run.mean_stretch <= run.max_stretch, "{run:?}");
            }
        }
    }
}
