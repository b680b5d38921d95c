//! Friction.

use super::*;

/// A half-space inclined by `angle`, downhill towards +x, and its normal.
fn slope(angle: f32, material: Material) -> (BodyDesc, Vec2) {
    let normal = Vec2::new(angle.sin(), angle.cos());
    (BodyDesc { material, ..BodyDesc::fixed(Shape::half_space(normal, 0.0), Vec2::ZERO) }, normal)
}

/// A circle that rolls down a slope without slipping accelerates at ⅔·g·sin θ within 1 %, and v = −ωr.
#[test]
fn rolling_accelerates_at_two_thirds() {
    on_both_sets_and_solvers(|settings| {
        for (degrees, radius) in [(5.0f32, 0.5f32), (20.0, 0.5), (20.0, 0.1), (30.0, 1.0)] {
            let angle = degrees.to_radians();
            let mut world = world(settings);
            let (ground, normal) = slope(angle, rough(1.0));
            world.add_body(&ground).unwrap();
            let ball = BodyDesc {
                material: rough(1.0),
                ..BodyDesc::dynamic(Shape::circle(radius), normal * radius)
            };
            let ball = world.add_body(&ball).unwrap();
            steps(&mut world, 120);
            let end = state(&world, ball);
            let downhill = Vec2::new(angle.cos(), -angle.sin());
            let speed = 2.0 / 3.0 * G * angle.sin() * 2.0;
            assert_close("speed", end.velocity.dot(downhill), speed, 0.01 * speed, &settings);
            assert_close("spin", -end.angular_velocity * radius, speed, 0.01 * speed, &settings);
            let distance = speed; // ½at² = v at t = 2 s
            let moved = (end.position - normal * radius).dot(downhill);
            assert_close("distance", moved, distance, 0.015 * distance, &settings);
        }
    });
}

/// Settings whose mixing takes the smaller of both bodies' values, so that equal materials keep their own friction.
fn friction_settings(settings: Settings) -> Settings {
    Settings { mixing: Mixing { friction: Mix::Min, restitution: Mix::Min }, ..settings }
}

/// The speed downhill and the path of a box, after two seconds on a slope of `tan_angle`.
fn box_on_slope(settings: Settings, tan_angle: f32, material: Material) -> (f32, f32) {
    let angle = tan_angle.atan();
    let mut world = world(settings);
    let (ground, normal) = slope(angle, material);
    world.add_body(&ground).unwrap();
    let half = Vec2::new(0.5, 0.3);
    // The lowest corner touches the slope.
    let start = normal * half.dot(normal);
    let body = BodyDesc { material, ..BodyDesc::dynamic(Shape::aabb(half.x, half.y), start) };
    let body = world.add_body(&body).unwrap();
    steps(&mut world, 120);
    let downhill = Vec2::new(angle.cos(), -angle.sin());
    let end = state(&world, body);
    assert_eq!((end.angle, end.angular_velocity), (0.0, 0.0), "an aabb never rotates");
    (end.velocity.dot(downhill), (end.position - start).length())
}

/// A box on a slope holds while tan θ < μs, and beyond it slides at g(sin θ − μd·cos θ) within 1 %.
#[test]
fn box_on_a_slope_holds_then_slides() {
    on_both_sets_and_solvers(|settings| {
        let settings = friction_settings(settings);
        for (mu_s, mu_d) in [(0.6f32, 0.4f32), (0.5, 0.5), (0.8, 0.2), (0.3, 0.29)] {
            let material = Material {
                static_friction: mu_s,
                dynamic_friction: mu_d,
                restitution: 0.0,
                ..Material::default()
            };
            let (speed, moved) = box_on_slope(settings, 0.95 * mu_s, material);
            assert!(
                speed.abs() < 1e-3,
                "μs {mu_s}: slides at {speed} below the angle of friction ({settings:?})"
            );
            assert!(moved < 0.01, "μs {mu_s}: crept {moved} m below the angle of friction ({settings:?})");

            for steeper in [1.06f32, 1.5] {
                let angle = (steeper * mu_s).atan();
                let (speed, moved) = box_on_slope(settings, steeper * mu_s, material);
                let expected = G * (angle.sin() - mu_d * angle.cos()) * 2.0;
                assert_close("sliding speed", speed, expected, 0.01 * expected, &settings);
                assert_close("distance", moved, expected, 0.02 * expected, &settings);
            }
        }
    });
}

/// A box that slides on a level floor slows down at μd·g; after it has stopped, μs holds it.
#[test]
fn sliding_box_stops_and_holds() {
    on_both_sets_and_solvers(|settings| {
        let settings = friction_settings(settings);
        let mut world = world(settings);
        let material =
            Material { static_friction: 0.6, dynamic_friction: 0.3, restitution: 0.0, ..Material::default() };
        world.add_body(&floor(material)).unwrap();
        let body = BodyDesc {
            material,
            velocity: Vec2::new(6.0, 0.0),
            ..BodyDesc::dynamic(Shape::aabb(0.5, 0.5), Vec2::new(0.0, 0.5))
        };
        let body = world.add_body(&body).unwrap();
        steps(&mut world, 60);
        assert_close("speed after 1 s", state(&world, body).velocity.x, 3.0, 0.03, &settings);
        steps(&mut world, 90);
        let rest = state(&world, body);
        assert_close("speed at rest", rest.velocity.x, 0.0, 1e-4, &settings);
        assert_close("distance", rest.position.x, 6.0, 0.1, &settings);
        // A push of half a weight sideways, between μd and μs, does not move the box. A push beyond μs does.
        let weight = world.mass(body).unwrap() * G;
        for _ in 0..60 {
            world.apply_force(body, Vec2::new(0.5 * weight, 0.0)).unwrap();
            world.step();
        }
        assert_close("held", state(&world, body).position.x, rest.position.x, 1e-3, &settings);
        for _ in 0..60 {
            world.apply_force(body, Vec2::new(0.7 * weight, 0.0)).unwrap();
            world.step();
        }
        assert_close("pushed away", state(&world, body).velocity.x, (0.7 - 0.3) * G, 0.04, &settings);
    });
}

/// Each mixing rule gives the friction and the restitution of its formula, in both orders.
#[test]
fn mixing_rules_hold_in_the_step() {
    let formula = |rule: Mix, a: f32, b: f32| match rule {
        Mix::Pythagorean => (a * a + b * b).sqrt(),
        Mix::GeometricMean => (a * b).sqrt(),
        Mix::Min => a.min(b),
        Mix::Max => a.max(b),
        Mix::Average => (a + b) / 2.0,
        Mix::Multiply => a * b,
    };
    on_both_sets(|settings| {
        for (_, rule) in Mix::NAMES {
            for (ours, theirs) in [(0.2f32, 0.5f32), (0.5, 0.2)] {
                let settings = Settings { mixing: Mixing { friction: rule, restitution: rule }, ..settings };
                let mut sliding = world(settings);
                sliding.add_body(&floor(rough(theirs))).unwrap();
                let body = BodyDesc {
                    velocity: Vec2::new(20.0, 0.0),
                    material: rough(ours),
                    ..BodyDesc::dynamic(Shape::aabb(0.5, 0.5), Vec2::new(0.0, 0.5))
                };
                let body = sliding.add_body(&body).unwrap();
                steps(&mut sliding, 60);
                let lost = formula(rule, ours, theirs) * G;
                assert_close(
                    "friction",
                    20.0 - state(&sliding, body).velocity.x,
                    lost,
                    0.01 * lost,
                    &settings,
                );

                let mut bouncing = world(weightless(settings));
                let wall = BodyDesc {
                    material: bouncy(1.0, theirs),
                    ..BodyDesc::fixed(Shape::aabb(1.0, 1.0), Vec2::new(2.0, 0.0))
                };
                bouncing.add_body(&wall).unwrap();
                let ball = BodyDesc {
                    velocity: Vec2::new(8.0, 0.0),
                    material: bouncy(1.0, ours),
                    ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)
                };
                let ball = bouncing.add_body(&ball).unwrap();
                steps(&mut bouncing, 30);
                let e = formula(rule, ours, theirs);
                assert_close("restitution", state(&bouncing, ball).velocity.x, -8.0 * e, 0.01, &settings);
            }
        }
    });
}

/// A mixed restitution above 1 is clamped to 1: a bounce never gains speed.
#[test]
fn mixed_restitution_is_clamped_to_one() {
    on_both_sets(|settings| {
        let mixing = Mixing { friction: Mix::Min, restitution: Mix::Pythagorean };
        let settings = weightless(Settings { mixing, ..settings });
        let mut world = world(settings);
        let wall = BodyDesc {
            material: bouncy(1.0, 1.0),
            ..BodyDesc::fixed(Shape::aabb(1.0, 1.0), Vec2::new(2.0, 0.0))
        };
        world.add_body(&wall).unwrap();
        let ball = BodyDesc {
            velocity: Vec2::new(8.0, 0.0),
            material: bouncy(1.0, 1.0),
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)
        };
        let ball = world.add_body(&ball).unwrap();
        steps(&mut world, 30);
        assert_close("vx", state(&world, ball).velocity.x, -8.0, 1e-4, &settings);
    });
}
