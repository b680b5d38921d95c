//! Angles keep their precision however far a body has turned, and are equivalent on both sides of half a turn.

use super::*;
use std::f64::consts::TAU;

/// A wheel that has turned for 200 s at 1,000 rad/s turns at 0.4 rad/s like a new wheel, and so does a wheel after 10⁶
/// rad/s.
#[test]
fn slow_turns_after_fast_ones() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        for (fast, seconds) in [(1.0e3f32, 200u32), (-1.0e3, 200), (1.0e6, 20)] {
            let shapes = [Shape::circle(0.5), Shape::oriented_box(0.5, 0.2), triangle()];
            let mut world = world(settings);
            let bodies: Vec<BodyHandle> = shapes
                .into_iter()
                .zip(0u8..)
                .map(|(shape, i)| BodyDesc {
                    angular_velocity: fast,
                    ..BodyDesc::dynamic(shape, Vec2::new(10.0 * f32::from(i), 0.0))
                })
                .map(|desc| world.add_body(&desc).unwrap())
                .collect();
            steps(&mut world, 60 * seconds);
            for &body in &bodies {
                let now = state(&world, body);
                let expected = f64::from(60 * seconds) * f64::from(settings.time_step) * f64::from(fast);
                let error = (now.total_angle() - expected).abs();
                // The turn of one step is rounded to a few units of its own last place.
                let tolerance = 5.0e-7 * expected.abs();
                assert!(error < tolerance, "{fast}: {now:?}, {} of {expected}", now.total_angle());
                assert!(now.angle.abs() <= PI);
                world.set_angular_velocity(body, 0.4).unwrap();
            }
            let before: Vec<f64> = bodies.iter().map(|&body| state(&world, body).total_angle()).collect();
            steps(&mut world, 600);
            for (&body, before) in bodies.iter().zip(before) {
                let turned = state(&world, body).total_angle() - before;
                assert!((turned - 4.0).abs() < 1.0e-3, "after {fast}: {turned}");
            }
        }
    });
}

fn triangle() -> Shape {
    Shape::polygon(&[Vec2::new(-0.5, -0.3), Vec2::new(0.5, -0.3), Vec2::new(0.1, 0.6)]).unwrap()
}

/// A given angle, in a description or later, is kept as whole turns and the rest. An angle within half a turn stays as
/// it is.
#[test]
fn given_angles_are_wrapped() {
    let mut world = world(Settings::default());
    for angle in [0.0f32, -0.0, 1.5, PI, -PI, 3.2, -3.2, 100.0, -12_345.678, 1.0e7] {
        let desc = BodyDesc { angle, ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.2), Vec2::ZERO) };
        let body = world.add_body(&desc).unwrap();
        let added = state(&world, body);
        world.set_angle(body, 0.7).unwrap();
        assert_eq!((state(&world, body).angle, state(&world, body).turns), (0.7, 0));
        world.set_angle(body, angle).unwrap();
        for now in [added, state(&world, body)] {
            assert!(now.angle.abs() <= PI, "{now:?}");
            assert!((now.total_angle() - f64::from(angle)).abs() < 2.0e-7, "{angle}: {now:?}");
            if angle.abs() <= PI {
                assert_eq!((now.angle.to_bits(), now.turns), (angle.to_bits(), 0));
            }
        }
        let columns = world.columns();
        let place = columns.handle.iter().position(|&handle| handle == body).unwrap();
        assert_eq!((columns.angle[place], columns.turns[place]), (added.angle, added.turns));
    }
    let body = world.handles().next().unwrap();
    assert!(world.set_angle(body, 1.1e7).is_err());
}

/// Interpolation between two steps continues evenly over half a turn, and over many turns.
#[test]
fn interpolation_goes_over_half_a_turn() {
    for omega in [3.0f32, -3.0, 100.0, 5_000.0] {
        let mut world = world(weightless(Settings::default()));
        let desc = BodyDesc {
            angle: PI.copysign(omega) - omega / 120.0,
            angular_velocity: omega,
            ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.2), Vec2::ZERO)
        };
        let body = world.add_body(&desc).unwrap();
        let before = state(&world, body).total_angle();
        world.step();
        let after = state(&world, body);
        assert_ne!(after.turns, state_turns(before), "{omega}: it has passed half a turn");
        for i in 0..=8u8 {
            let alpha = f32::from(i) / 8.0;
            let drawn = world.interpolated(body, alpha).unwrap();
            let expected = before + f64::from(alpha) * (after.total_angle() - before);
            let tolerance = 1.0e-6 * (1.0 + f64::from(omega.abs()) / 60.0);
            assert!((drawn.total_angle() - expected).abs() < tolerance, "{omega}, {alpha}: {drawn:?}");
            assert!(drawn.angle.abs() <= PI);
        }
        assert_eq!(world.interpolated(body, 1.0).unwrap(), after);
    }
}

fn state_turns(angle: f64) -> i32 {
    (angle / TAU).round() as i32
}

/// Bodies that rest, roll and slide near half a turn behave as at any equivalent angle; a square has four of these.
#[test]
fn contacts_do_not_feel_half_a_turn() {
    on_both_sets(|settings| {
        // A box lies on its back, with an angle on either side of half a turn.
        for angle in [PI, -PI, PI - 1.0e-6, 3.0 * PI, 0.0, 0.5 * PI] {
            let mut world = world(settings);
            world.add_body(&floor(rough(0.6))).unwrap();
            let desc = BodyDesc {
                material: rough(0.6),
                angle,
                ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5))
            };
            let body = world.add_body(&desc).unwrap();
            for _ in 0..300 {
                world.step();
                let now = state(&world, body);
                assert!(now.position.distance(desc.position) < 0.01, "{angle}: {now:?}");
                assert!((now.total_angle() - f64::from(angle)).abs() < 0.01, "{angle}: {now:?}");
            }
        }
        // A disc with a bar across it, which the broadphase has to follow as it turns, rolls evenly through its half
        // turns.
        let mut world = world(settings);
        world.add_body(&floor(rough(1.0))).unwrap();
        let desc = BodyDesc {
            material: rough(1.0),
            velocity: Vec2::new(4.0, 0.0),
            angular_velocity: -8.0,
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5))
        };
        let body = world.add_body(&desc).unwrap();
        let bar = Part { material: rough(1.0), ..Part::new(Shape::oriented_box(0.4, 0.05), Vec2::ZERO) };
        world.add_part(body, &bar).unwrap();
        for step in 1..=300u16 {
            world.step();
            let now = state(&world, body);
            let time = f32::from(step) * settings.time_step;
            assert_close("x", now.position.x, 4.0 * time, 0.02 * (1.0 + time), &settings);
            assert_close("turned", now.total_angle() as f32, -8.0 * time, 0.04 * (1.0 + time), &settings);
            assert_close("y", now.position.y, 0.5, 0.01, &settings);
        }
    });
}

/// A fast bar hits every body that its ends reach, whatever its angle was when the pair list was made, even at 0.9 of a
/// turn per step.
#[test]
fn fast_bars_reach_their_neighbours() {
    for omega in [20.0f32, 150.0, 339.3, -339.3] {
        let mut world = world(weightless(Settings::default()));
        let bar = BodyDesc {
            angular_velocity: omega,
            ..BodyDesc::kinematic(Shape::oriented_box(2.0, 0.1), Vec2::ZERO)
        };
        world.add_body(&bar).unwrap();
        let ball = BodyDesc::dynamic(Shape::circle(0.2), Vec2::new(1.5, 1.2));
        let ball = world.add_body(&ball).unwrap();
        steps(&mut world, 120);
        let now = state(&world, ball);
        assert!(now.velocity.length() > 0.5, "{omega}: {now:?}");
    }
}

/// The hash of a state depends on the number of whole turns.
#[test]
fn the_hash_counts_turns() {
    let hash = |angle: f32| {
        let mut world = world(Settings::default());
        let desc = BodyDesc { angle, ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO) };
        world.add_body(&desc).unwrap();
        world.state_hash()
    };
    // In f32 the two angles are the same part of a turn.
    let (once, twice) = (std::f32::consts::TAU, 2.0 * std::f32::consts::TAU);
    assert_ne!(hash(once), hash(twice));
}
