//! Chains of segments: smooth over their joints, and solid on one side only.

use super::*;
use granule::Assembly;

/// A level chain of segments of this length, from −5 to 60, solid below. A tenth of the segments are very short.
fn level(length: f32, material: Material) -> Assembly {
    let mut points = vec![Vec2::new(-5.0, 0.0)];
    while points[points.len() - 1].x < 60.0 {
        let last = points[points.len() - 1].x;
        let step = if points.len() % 10 == 0 { 0.1 * length } else { length };
        points.push(Vec2::new(last + step, 0.0));
    }
    Assembly::chain(&points, false, material).unwrap()
}

/// A body that slides without friction over a level chain at 5 m/s keeps its speed, height and angle: joints have no
/// effect.
#[test]
fn nothing_trips_over_the_joints_of_a_level_chain() {
    on_both_sets(|settings| {
        for length in [0.1f32, 0.25, 1.0] {
            let chain = level(length, rough(0.0));
            for (shape, height) in [
                (Shape::oriented_box(0.25, 0.25), 0.25f32),
                (Shape::oriented_box(0.8, 0.1), 0.1),
                (Shape::circle(0.25), 0.25),
                (Shape::capsule(0.3, 0.2), 0.2),
                (rectangle(0.3, 0.2), 0.2),
            ] {
                let mut world = world(settings);
                world.add_assembly(&chain).unwrap();
                let desc = BodyDesc {
                    material: rough(0.0),
                    velocity: Vec2::new(5.0, 0.0),
                    ..BodyDesc::dynamic(shape, Vec2::new(0.0, height))
                };
                let body = world.add_body(&desc).unwrap();
                for step in 0..600 {
                    world.step();
                    let now = state(&world, body);
                    let what = format!("step {step}, segments of {length} m, {shape:?}: {now:?}");
                    assert!(now.velocity.y.abs() < 0.05, "{what}");
                    assert!((now.velocity.x - 5.0).abs() < 0.01, "{what}");
                    assert!((now.position.y - height).abs() < 0.01, "{what}");
                    assert!(now.angle.abs() < 0.02 && now.angular_velocity.abs() < 0.05, "{what}");
                }
            }
        }
    });
}

/// A disc rolls over a level chain of many segments as over a half-space.
#[test]
fn discs_roll_over_chains() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        world.add_assembly(&level(0.25, rough(1.0))).unwrap();
        let desc = BodyDesc {
            material: rough(1.0),
            velocity: Vec2::new(5.0, 0.0),
            angular_velocity: -10.0,
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5))
        };
        let disc = world.add_body(&desc).unwrap();
        steps(&mut world, 600);
        let end = state(&world, disc);
        assert_close("vx", end.velocity.x, 5.0, 0.02, &settings);
        assert_close("ω", end.angular_velocity, -10.0, 0.05, &settings);
        assert_close("y", end.position.y, 0.5, 0.01, &settings);
    });
}

/// A body from below passes through a chain freely; when it falls back, it lands on the chain.
#[test]
fn chains_are_open_from_below() {
    on_both_sets(|settings| {
        for (shape, height) in [
            (Shape::circle(0.25), 0.25f32),
            (Shape::oriented_box(0.3, 0.2), 0.2),
            (Shape::capsule(0.2, 0.1), 0.1),
        ] {
            let mut world = world(settings);
            world.add_assembly(&level(0.25, rough(0.5))).unwrap();
            let desc =
                BodyDesc { velocity: Vec2::new(0.0, 9.0), ..BodyDesc::dynamic(shape, Vec2::new(1.1, -2.0)) };
            let body = world.add_body(&desc).unwrap();
            let time = 0.85f32;
            steps(&mut world, (time / settings.time_step).round() as u32);
            let now = state(&world, body);
            assert!(now.position.y > 0.5, "it is on top now: {now:?}");
            assert_close("free rise", now.velocity.y, 9.0 - G * time, 0.01, &settings);
            assert_eq!((now.velocity.x, now.angle), (0.0, 0.0), "{shape:?}");
            steps(&mut world, 300);
            let end = state(&world, body);
            assert_close("lands", end.position.y, height, 0.02, &settings);
            assert_close("lies", end.velocity.y, 0.0, 0.01, &settings);
        }
    });
}

/// A closed chain that runs counter-clockwise keeps bodies inside, and lets bodies in from outside.
#[test]
fn closed_chains_are_containers() {
    on_both_sets(|settings| {
        let corners =
            [Vec2::new(-2.0, -2.0), Vec2::new(2.0, -2.0), Vec2::new(2.0, 2.0), Vec2::new(-2.0, 2.0)];
        // There are eight segments per side.
        let points: Vec<Vec2> =
            (0..32).map(|i| corners[i / 8].lerp(corners[(i / 8 + 1) % 4], (i % 8) as f32 / 8.0)).collect();
        let chain = Assembly::chain(&points, true, rough(0.2)).unwrap();
        assert_eq!(chain.bodies.len(), 32);
        let mut world = world(settings);
        world.add_assembly(&chain).unwrap();
        let throw = |shape, x: f32, y: f32| BodyDesc {
            velocity: Vec2::new(7.0, 3.0),
            angular_velocity: 3.0,
            material: Material::new(1.0, 0.2, 0.5),
            ..BodyDesc::dynamic(shape, Vec2::new(x, y))
        };
        let inside = [
            world.add_body(&throw(Shape::circle(0.3), -1.0, 0.0)).unwrap(),
            world.add_body(&throw(Shape::oriented_box(0.3, 0.3), 0.0, 0.0)).unwrap(),
            world.add_body(&throw(Shape::capsule(0.3, 0.2), 1.0, 1.0)).unwrap(),
        ];
        let above = world.add_body(&BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(0.0, 2.8))).unwrap();
        for step in 0..600 {
            world.step();
            for body in inside {
                let at = state(&world, body).position;
                assert!(at.abs().max_element() < 1.9, "step {step}: out at {at}");
            }
            if step == 20 {
                // The body meets the top from outside: that is no collision.
                let now = state(&world, above);
                assert_close("falls freely", now.velocity.y, -G * 21.0 / 60.0, 0.01, &settings);
            }
        }
    });
}

/// A box on an inclined chain holds or slides as on a half-space.
#[test]
fn friction_holds_on_chains() {
    on_both_sets(|settings| {
        for (tan, mu) in [(0.4f32, 0.5f32), (0.6, 0.5)] {
            let angle = tan.atan();
            let downhill = Vec2::new(angle.cos(), -angle.sin());
            let normal = Vec2::new(angle.sin(), angle.cos());
            let points: Vec<Vec2> = (-10..100).map(|i| downhill * (0.3 * i as f32)).collect();
            let mut world = world(settings);
            world.add_assembly(&Assembly::chain(&points, false, rough(mu)).unwrap()).unwrap();
            let desc = BodyDesc {
                angle: -angle,
                material: rough(mu),
                ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.25), 0.25 * normal)
            };
            let body = world.add_body(&desc).unwrap();
            steps(&mut world, 120);
            let end = state(&world, body);
            let speed = (G * (angle.sin() - mu * angle.cos()) * 2.0).max(0.0);
            let tolerance = if speed > 0.0 { 0.02 * speed } else { 2e-3 };
            assert_close("speed", end.velocity.dot(downhill), speed, tolerance, &settings);
            assert_close("angle", end.angle, -angle, 0.01, &settings);
        }
    });
}
