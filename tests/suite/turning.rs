//! Contract: bodies that turn follow mechanics. Every scene here has a closed form. Each test checks it on the scalar
//! path and on the best instruction set.

mod angles;
mod chains;
mod compounds;
mod free;
mod kinematic;
mod mass;
mod rolling;
mod slopes;
mod stability;
mod tipping;

use crate::common::{state, steps, weightless, world};
use granule::{
    BodyDesc, BodyHandle, BodyState, Error, Isa, Material, Mix, Mixing, Part, Polygon, Settings, Shape, Vec2,
    World,
};
use std::f32::consts::PI;

const G: f32 = 10.0;
const SETS: [Isa; 2] = [Isa::Scalar, Isa::Auto];

/// Runs `check` on both instruction sets, with the smaller friction and restitution of the two bodies.
fn on_both_sets(check: impl Fn(Settings)) {
    for isa in SETS {
        let mixing = Mixing { friction: Mix::Min, restitution: Mix::Min };
        check(Settings { isa, mixing, ..Settings::default() });
    }
}

/// The total angle by which a body has turned.
fn total_angle(world: &World, body: BodyHandle) -> f32 {
    state(world, body).total_angle() as f32
}

#[track_caller]
fn assert_close(what: &str, actual: f32, expected: f32, tolerance: f32, settings: &Settings) {
    let error = (actual - expected).abs();
    assert!(error <= tolerance, "{what}: {actual}, expected {expected} ± {tolerance} ({})", settings.isa);
}

/// A material with one coefficient for both frictions and no restitution.
fn rough(friction: f32) -> Material {
    Material::new(1.0, friction, 0.0)
}

fn floor(material: Material) -> BodyDesc {
    BodyDesc { material, ..BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO) }
}

/// Floors whose surface is y = 0: a half-space, and a static box that extends by `reach` to both sides.
fn floors(reach: f32, material: Material) -> [BodyDesc; 2] {
    let slab = BodyDesc::fixed(Shape::oriented_box(reach, 1.0), Vec2::new(0.0, -1.0));
    [floor(material), BodyDesc { material, ..slab }]
}

/// An axis-aligned rectangle as a polygon.
fn rectangle(half_width: f32, half_height: f32) -> Shape {
    let (x, y) = (half_width, half_height);
    Shape::polygon(&[Vec2::new(-x, -y), Vec2::new(x, -y), Vec2::new(x, y), Vec2::new(-x, y)]).unwrap()
}

/// The vector `v` in axes that are turned by `angle`.
fn local(v: Vec2, angle: f32) -> Vec2 {
    Vec2::from_angle(-angle).rotate(v)
}
