//! Contract: joints follow mechanics. Scenes with a closed form are checked on the scalar path and on the best instruction set.

mod blows;
mod contacts;
mod drives;
mod edits;
mod far;
mod forces;
mod gears;
mod hubs;
mod law;
mod momentum;
mod pendulum;
mod springs;
mod statics;

use crate::common::{state, steps, weightless, world};
use granule::{
    BodyDesc, BodyHandle, BodyState, Filter, Isa, JointDesc, JointDrive, JointEnd, JointFrame, JointHandle,
    JointKind, JointMotor, Settings, Shape, Spring, Vec2, World,
};
use std::f64::consts::TAU;

const G: f64 = 10.0;
const SETS: [Isa; 2] = [Isa::Scalar, Isa::Auto];

/// Runs `check` on both instruction sets.
fn on_both_sets(check: impl Fn(Settings)) {
    for isa in SETS {
        // A swing slows down where it turns, and a beam bends slowly: nothing may sleep there.
        check(Settings { isa, sleep: false, ..Settings::default() });
    }
}

#[track_caller]
fn assert_close(what: &str, actual: f64, expected: f64, tolerance: f64) {
    let error = (actual - expected).abs();
    assert!(error <= tolerance, "{what}: {actual}, expected {expected} ± {tolerance}");
}

/// Prints a measured figure; `cargo test joints:: -- --nocapture` shows it.
fn measured(what: &str, actual: f64, expected: f64) {
    println!("{what}: {actual:.6}, law {expected:.6}, off by {:.4} %", 100.0 * (actual / expected - 1.0));
}

/// A body that touches nothing.
fn ghost(desc: BodyDesc) -> BodyDesc {
    BodyDesc { filter: Filter { category: 0, mask: 0, group: 0 }, ..desc }
}

fn add(world: &mut World, desc: BodyDesc) -> BodyHandle {
    world.add_body(&desc).unwrap()
}

/// A static body that touches nothing.
fn post(world: &mut World, place: Vec2) -> BodyHandle {
    add(world, ghost(BodyDesc::fixed(Shape::circle(0.1), place)))
}

/// A dynamic box that touches nothing.
fn plank(half: Vec2, place: Vec2, mass: f32) -> BodyDesc {
    ghost(BodyDesc { mass: Some(mass), ..BodyDesc::dynamic(Shape::oriented_box(half.x, half.y), place) })
}

/// The inertia of that box.
fn plank_inertia(half: Vec2, mass: f32) -> f64 {
    f64::from(mass) * f64::from(half.length_squared()) / 3.0
}

/// A dynamic disc that touches nothing. Its inertia is mass · radius² / 2.
fn disc(radius: f32, place: Vec2, mass: f32) -> BodyDesc {
    ghost(BodyDesc { mass: Some(mass), ..BodyDesc::dynamic(Shape::circle(radius), place) })
}

fn join(world: &mut World, joint: &JointDesc) -> JointHandle {
    world.add_joint(joint).unwrap()
}

fn velocity(world: &World, body: BodyHandle) -> Vec2 {
    state(world, body).velocity
}

fn seconds(settings: &Settings, time: f32) -> u32 {
    (time / settings.time_step).round() as u32
}

/// The times, s, at which `value` goes from below to above 0 within `count` steps, between steps by a straight line.
fn upward_crossings(world: &mut World, count: u32, value: impl Fn(&World) -> f64) -> Vec<f64> {
    let h = f64::from(world.settings().time_step);
    let mut times = Vec::new();
    let mut last = value(world);
    for step in 0..count {
        world.step();
        let now = value(world);
        if last < 0.0 && now >= 0.0 {
            times.push(h * (f64::from(step) + last / (last - now)));
        }
        last = now;
    }
    times
}

/// The mean time between these times.
fn period(times: &[f64]) -> f64 {
    assert!(times.len() >= 3, "only {} swings", times.len());
    (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64
}

/// The extremes of `value`, with their times, within `count` steps: between steps by a parabola.
fn extremes(world: &mut World, count: u32, value: impl Fn(&World) -> f64) -> Vec<(f64, f64)> {
    let h = f64::from(world.settings().time_step);
    let mut found = Vec::new();
    let mut last = [value(world); 2];
    for step in 0..count {
        world.step();
        let now = value(world);
        let [before, middle] = last;
        if step > 1 && (middle - before) * (now - middle) < 0.0 {
            let (slope, bend) = (0.5 * (now - before), now - 2.0 * middle + before);
            found.push((h * (f64::from(step) - slope / bend), middle - 0.5 * slope * slope / bend));
        }
        last = [middle, now];
    }
    found
}
