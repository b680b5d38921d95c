//! Contract: the engine follows mechanics. Every scene here has a closed form. Each test checks it on the scalar path
//! and on the best instruction set, and with both solvers where the contract is of both.

mod collisions;
mod friction;
mod motion;
mod rest;
mod world;

use crate::common::{state, steps, weightless, world};
use granule::{
    BodyDesc, Filter, Isa, Material, Mix, Mixing, Part, Settings, Shape, Solver, Vec2, World, scene,
};

const G: f32 = 10.0;
const SETS: [Isa; 2] = [Isa::Scalar, Isa::Auto];

/// Runs `check` with the soft solver on both instruction sets.
fn on_both_sets(check: impl Fn(Settings)) {
    for isa in SETS {
        check(Settings { isa, ..Settings::default() });
    }
}

/// Runs `check` with both solvers on both instruction sets.
fn on_both_sets_and_solvers(check: impl Fn(Settings)) {
    for isa in SETS {
        check(Settings { isa, ..Settings::default() });
        check(Settings { isa, ..Settings::projection() });
    }
}

#[track_caller]
fn assert_close(what: &str, actual: f32, expected: f32, tolerance: f32, settings: &Settings) {
    let error = (actual - expected).abs();
    assert!(
        error <= tolerance,
        "{what}: {actual}, expected {expected} ± {tolerance} ({}, {:?})",
        settings.isa,
        settings.solver
    );
}

/// A material with one coefficient for both frictions and no restitution.
fn rough(friction: f32) -> Material {
    Material::new(1.0, friction, 0.0)
}

/// A frictionless material with this restitution.
fn bouncy(density: f32, restitution: f32) -> Material {
    Material::new(density, 0.0, restitution)
}

fn floor(material: Material) -> BodyDesc {
    BodyDesc { material, ..BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO) }
}
