//! Joined bodies: Granule next to Box2D, with the same bodies and the same joints.
//!
//! The scenes are Granule's built-in ones, most of them with the dimensions of Box2D's own benchmarks. Both engines have the same
//! stiffness of joints (60 Hz, damping ratio 2), 4 substeps, and neither sleep nor continuous collision. The error is the distance
//! of the two points that a revolute joint holds together. Rapier is left out: what it calls a revolute joint has other limits and motors.

use crate::box2d::JoinedWorld;
use crate::report::Origin;
use crate::times::{Times, least};
use ::granule::scene::{Player, Scene, builtin};
use ::granule::{BodyDesc, JointDesc, Settings, Shape, World};
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
    Case { name: "ball_and_chain × 100", scene: "ball_and_chain", bodies: 4_100, warmup: 120, steps: 240, bar: 3.0 },
];
const SEED: u64 = 1;

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
