//! The rows of the comparison: which scene, how large, how long, and how far Granule must be ahead.
//!
//! Cases of 60 measured steps have no 99th percentile of their own: it is their slowest step.

use crate::engine::{Engine, Stepping};

/// A ratio to the faster peer's figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// What Granule must reach.
    pub at_least: f64,
    /// What Granule aims at, where that is more.
    pub aim: Option<f64>,
}

/// The bars of a case, one for each figure of a step's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bars {
    /// On the median.
    pub median: Bar,
    /// On the mean.
    pub mean: Bar,
    /// On the 99th percentile.
    pub p99: Bar,
}

/// One row of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What `--scenes` and the tables call it.
    pub name: &'static str,
    /// Name of the scene.
    pub scene: &'static str,
    /// Moving bodies asked for in a world; a scene may round it (a pyramid is a triangular number).
    pub bodies: usize,
    /// Worlds that are stepped one after the other; each step of each is a sample.
    pub worlds: usize,
    /// Steps before the measurement.
    pub warmup: usize,
    /// Measured steps.
    pub steps: usize,
    /// Granule's substeps; the peers take 4.
    pub substeps: u32,
    /// How far Granule must be ahead; `None` where the case is only shown.
    pub bars: Option<Bars>,
}

impl Case {
    /// The same, small and short.
    pub fn quick(self) -> Self {
        Case { bodies: self.bodies.min(500), worlds: self.worlds.min(3), warmup: 10, steps: 10, ..self }
    }

    /// How an engine steps the case in the comparison.
    pub fn stepping(&self, engine: Engine, threads: usize) -> Stepping {
        let common = Stepping::common(threads);
        if engine == Engine::Granule { Stepping { substeps: self.substeps, ..common } } else { common }
    }
}

const fn bar([at_least, aim]: [f64; 2]) -> Bar {
    Bar { at_least, aim: Some(aim) }
}

/// At least, and the aim, of the median, the mean and the 99th percentile.
const fn bars(median: [f64; 2], mean: [f64; 2], p99: [f64; 2]) -> Option<Bars> {
    Some(Bars { median: bar(median), mean: bar(mean), p99: bar(p99) })
}

/// The same for the median and the mean, half of it for the 99th percentile.
const fn even(bar: [f64; 2]) -> Option<Bars> {
    bars(bar, bar, [0.5 * bar[0], 0.5 * bar[1]])
}

/// What turns and is in motion.
const TURNING: Option<Bars> = bars([3.0, 5.0], [2.5, 5.0], [2.0, 4.0]);
const SIZES: Option<Bars> = bars([4.0, 8.0], [4.0, 8.0], [3.0, 6.0]);
const PYRAMIDS: Option<Bars> = bars([3.2, 5.0], [3.2, 5.0], [2.5, 4.0]);
const CHURN: Option<Bars> = bars([6.0, 12.0], [6.0, 12.0], [4.0, 8.0]);
/// What comes to rest: the same bar on each figure, without an aim.
const fn resting(at_least: f64) -> Option<Bars> {
    let bar = Bar { at_least, aim: None };
    Some(Bars { median: bar, mean: bar, p99: bar })
}

const SMALL: Option<Bars> =
    Some(Bars { median: bar([2.5, 5.0]), mean: bar([2.5, 5.0]), p99: Bar { at_least: 2.0, aim: None } });

/// A case of one world, 60 measured steps and the peers' 4 substeps.
const fn case(
    name: &'static str,
    scene: &'static str,
    bodies: usize,
    warmup: usize,
    bars: Option<Bars>,
) -> Case {
    Case { name, scene, bodies, worlds: 1, warmup, steps: 60, substeps: 4, bars }
}

/// A case of many worlds, from their first step on.
const fn small(name: &'static str, bodies: usize, worlds: usize) -> Case {
    Case { worlds, steps: 240, ..case(name, "small", bodies, 0, SMALL) }
}

/// Every row, in the order of the table.
///
/// `rain` and `joint_grid` of Box2D's benchmarks are in [`crate::joints`].
pub const CASES: [Case; 31] = [
    case("packed-10k", "packed", 10_000, 120, even([4.0, 8.0])),
    case("packed-50k", "packed", 50_000, 120, even([8.0, 20.0])),
    SETTLED,
    case("packed-200k", "packed", 200_000, 120, even([10.0, 20.0])),
    COLLAPSING,
    case("pyramid-50k", "pyramid", 50_000, 60, even([8.0, 20.0])),
    case("gas-50k", "gas", 50_000, 60, bars([15.0, 20.0], [10.0, 20.0], [5.0, 12.0])),
    Case {
        steps: 240,
        ..case("gas-fast-20k", "gas_fast", 20_000, 60, bars([5.0, 10.0], [5.0, 10.0], [5.0, 10.0]))
    },
    // Particles, at twice the substeps; circles to the peers.
    Case { substeps: 8, ..case("grains-100k", "grains", 100_000, 300, even([8.0, 16.0])) },
    // Shapes that turn, with the dimensions of Box2D's own benchmarks.
    case("large-pyramid", "large_pyramid", 5_050, 60, PYRAMIDS),
    case("many-pyramids", "many_pyramids", 22_000, 60, PYRAMIDS),
    // Driven for ever: many steps, as the state of one moment is chance.
    Case { steps: 600, ..case("washer", "washer", 8_100, 200, TURNING) },
    Case { steps: 600, ..case("tumbler", "tumbler", 2_025, 200, TURNING) },
    Case { steps: 240, ..case("spinner", "spinner", 6_076, 120, TURNING) },
    Case { steps: 240, ..case("junkyard", "junkyard", 8_000, 120, TURNING) },
    Case { steps: 240, ..case("compounds", "compounds", 3_000, 240, TURNING) },
    Case { steps: 120, ..case("smash", "smash", 9_601, 60, None) },
    Case { steps: 240, ..case("mixed-shapes-20k", "mixed_shapes", 20_000, 60, TURNING) },
    // From the first step on, and in the pit.
    Case { steps: 120, ..case("rubble-5k-falling", "rubble", 5_000, 0, TURNING) },
    Case { steps: 120, ..case("rubble-20k-falling", "rubble", 20_000, 0, TURNING) },
    Case { steps: 240, ..case("rubble-5k", "rubble", 5_000, 120, TURNING) },
    Case { steps: 240, ..case("rubble-20k", "rubble", 20_000, 120, TURNING) },
    Case { steps: 240, ..case("sizes-5k", "sizes", 5_000, 60, SIZES) },
    Case { steps: 240, ..case("sizes-20k", "sizes", 20_000, 60, SIZES) },
    Case { steps: 240, ..case("churn-20k", "churn", 20_000, 60, CHURN) },
    Case { steps: 240, ..case("churn-1-in-20k", "churn_one", 20_000, 60, CHURN) },
    Case { steps: 240, ..case("terrain", "terrain", 10_000, 120, bars([4.0, 8.0], [4.0, 8.0], [3.0, 6.0])) },
    Case { steps: 240, ..case("plough", "plough", 20_000, 60, bars([8.0, 15.0], [8.0, 15.0], [4.0, 8.0])) },
    // Box2D has room for 128 worlds. With two threads each of its worlds has one of its own, asleep between steps.
    small("small-10", 10, 100),
    small("small-100", 100, 50),
    small("small-1000", 1_000, 20),
];

/// What comes to rest, with sleep and continuous collision, from its first step on until all sleep (`smash`: until the pieces fly).
///
/// The mean counts: it is the whole course's time. Where most steps are those of a sleeping world, the median is some hundred nanoseconds in
/// each engine.
pub const RESTING: [Case; 3] = [
    Case { steps: 360, ..case("smash-from-the-start", "smash", 9_601, 0, resting(3.0)) },
    Case { steps: 1_500, ..case("packed-20k-to-sleep", "packed", 20_000, 0, resting(6.0)) },
    Case { steps: 1_200, ..case("many-pyramids-to-sleep", "many_pyramids", 22_000, 0, resting(3.0)) },
];

/// The settled pile, which the table of solver settings uses as well.
pub const SETTLED: Case = case("packed-50k-settled", "packed", 50_000, 600, even([12.0, 25.0]));

/// The pile that falls and bounces as a whole: the same table has damping ratios on it.
pub const COLLAPSING: Case =
    case("collapsing-50k", "collapsing", 50_000, 240, bars([15.0, 20.0], [10.0, 20.0], [6.0, 12.0]));

/// The cases in which bodies still move when their state is judged and that the table of substeps has.
pub const MOVING: [&str; 4] = ["collapsing-50k", "gas-50k", "washer", "tumbler"];

/// Sizes at which `--flatness` steps the packed pile.
pub const FLATNESS_SIZES: [usize; 4] = [10_000, 50_000, 200_000, 1_000_000];
