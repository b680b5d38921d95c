//! Random shapes, speeds and walls.

use super::*;
use crate::common::cases;
use granule::{Isa, Polygon};
use proptest::prelude::*;

/// A wall, long in comparison with all ways, and a body before it.
#[derive(Clone, Debug)]
struct Case {
    shape: usize,
    thickness: f32,
    angle: f32,
    /// How the wall moves: not, straight on, or turning about its middle.
    wall: u8,
    /// The speed of the wall.
    wall_speed: f32,
    distance: f32,
    speed: f32,
    direction: f32,
    spin: f32,
    restitution: f32,
}

fn case() -> impl Strategy<Value = Case> {
    let way = (
        0.3f32..30.0,
        0.0f32..600.0,
        -1.5f32..1.5,
        -150.0f32..150.0,
        prop_oneof![Just(0.0f32), Just(1.0f32), Just(0.4f32)],
    );
    let wall = (0.0f32..0.3, 0.0f32..6.3, 0u8..3, -60.0f32..60.0);
    (0usize..8, wall, way).prop_map(|(shape, (thickness, angle, wall, wall_speed), way)| {
        let (distance, speed, direction, spin, restitution) = way;
        Case { shape, thickness, angle, wall, wall_speed, distance, speed, direction, spin, restitution }
    })
}

/// Runs a case. Returns where the body is at the end, and the hash.
fn run(case: &Case, isa: Isa) -> Result<u64, TestCaseError> {
    let mut world = world(weightless(Settings { isa, ..Settings::default() }));
    let material = Material { restitution: case.restitution, ..Material::default() };
    let shape = if case.thickness < 0.005 {
        Shape::segment(3_000.0)
    } else {
        Shape::oriented_box(3_000.0, 0.5 * case.thickness)
    };
    let normal = Vec2::from_angle(case.angle).perp();
    let desc = if case.wall == 0 {
        BodyDesc::fixed(shape, Vec2::ZERO)
    } else {
        BodyDesc::kinematic(shape, Vec2::ZERO)
    };
    let wall = BodyDesc {
        angle: case.angle,
        velocity: if case.wall == 1 { case.wall_speed * normal } else { Vec2::ZERO },
        angular_velocity: if case.wall == 2 { 0.05 * case.wall_speed } else { 0.0 },
        material,
        ..desc
    };
    let wall = world.add_body(&wall).unwrap();
    let body = BodyDesc {
        velocity: case.speed * Vec2::from_angle(case.direction).rotate(-normal),
        angle: case.direction,
        angular_velocity: case.spin,
        material,
        ..small(case.shape, (case.distance + 0.5 * case.thickness) * normal)
    };
    let body = world.add_body(&body).unwrap();
    for step in 0..40 {
        world.step();
        let (wall, body) = (state(&world, wall), state(&world, body));
        let height = Vec2::from_angle(-wall.angle).rotate(body.position - wall.position).y;
        // A segment without thickness that a turning wall presses on sinks in a little in each step: a known gap, see `walls.rs`.
        let sinks = case.shape == 6 && case.wall == 2;
        // What a wall carries along may be in it by what single precision leaves of its place.
        let rounding = 2.0 * f32::EPSILON * (body.position.length() + 1.0);
        prop_assert!(height > -rounding || sinks, "step {step}: {height} m above the wall");
        if case.wall == 0 {
            let limit = case.speed + 0.2 * case.spin.abs();
            prop_assert!(
                body.velocity.length() <= 1.01 * limit,
                "step {step}: {} m/s",
                body.velocity.length()
            );
        }
    }
    Ok(world.state_hash())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(10_000), ..ProptestConfig::default() })]

    /// Contract: a body of any shape stays on its side of a wall that stands, moves or turns, and gains no speed by one that stands;
    /// with one result on every instruction set.
    #[test]
    fn a_body_stays_on_its_side(case in case()) {
        let hash = run(&case, Isa::Scalar)?;
        for isa in Isa::available() {
            prop_assert_eq!(run(&case, isa)?, hash, "{}", isa);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(3_000), ..ProptestConfig::default() })]

    /// Contract: a body that is thrown about in a closed room stays in it, in the corners too, whatever it is, how it spins and what it gives back. (Of
    /// 6,000 throws 14 left, all of them by a corner: what went on along the one wall was not looked at before the other.)
    #[test]
    fn nothing_leaves_a_room(
        (shape, half_thickness, restitution) in (0usize..5, prop_oneof![Just(0.005f32), Just(0.1f32)], prop_oneof![Just(0.0f32), Just(0.5f32), Just(1.0f32)]),
        (x, y, angle) in (-1.0f32..1.0, -1.0f32..1.0, -3.1f32..3.1),
        (speed, direction, spin) in (50.0f32..300.0, 0.0f32..6.3, -75.0f32..75.0),
    ) {
        let mut world = world(weightless(Settings::default()));
        let material = Material { restitution, ..Material::default() };
        let far = 2.0 + half_thickness;
        for at in [Vec2::new(far, 0.0), Vec2::new(-far, 0.0), Vec2::new(0.0, far), Vec2::new(0.0, -far)] {
            let half = if at.x == 0.0 { Vec2::new(2.2, half_thickness) } else { Vec2::new(half_thickness, 2.2) };
            let wall = BodyDesc::fixed(Shape::oriented_box(half.x, half.y), at);
            world.add_body(&BodyDesc { material, ..wall }).unwrap();
        }
        let shape = match shape {
            0 => Shape::Polygon(Polygon::regular(3, 0.6).unwrap()),
            1 => Shape::Polygon(Polygon::regular(6, 0.6).unwrap()),
            2 => Shape::oriented_box(0.6, 0.6),
            3 => Shape::oriented_box(0.6, 0.1),
            _ => Shape::capsule(0.6, 0.3),
        };
        let velocity = speed * Vec2::from_angle(direction);
        let body = BodyDesc::dynamic(shape, Vec2::new(x, y));
        let body = BodyDesc { material, angle, velocity, angular_velocity: spin, ..body };
        let body = world.add_body(&body).unwrap();
        for step in 0..120 {
            world.step();
            let at = state(&world, body).position;
            prop_assert!(at.abs().max_element() < 2.0, "step {}: at {}", step, at);
        }
    }
}
