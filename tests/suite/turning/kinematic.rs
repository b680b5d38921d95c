//! Kinematic bodies that turn and push, and dynamic ones that do not turn.

use super::*;

/// A kinematic bar that turns at 1 rad/s is not slowed down by the body that it pushes. It pushes the body ahead of its
/// face: without friction the body's angular speed is the bar's, as long as the body is on the bar.
#[test]
fn turning_bar_pushes() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let bars = [Shape::oriented_box(3.0, 0.1), rectangle(3.0, 0.1), Shape::capsule(2.9, 0.1)];
        let pushed = [
            Shape::oriented_box(0.25, 0.25),
            Shape::circle(0.25),
            Shape::capsule(0.1, 0.25),
            rectangle(0.25, 0.25),
        ];
        for bar in bars {
            for shape in pushed {
                let mut world = world(settings);
                let desc = BodyDesc {
                    angular_velocity: 1.0,
                    material: rough(0.0),
                    ..BodyDesc::kinematic(bar, Vec2::new(0.5, 0.25))
                };
                let bar = world.add_body(&desc).unwrap();
                let at = desc.position + Vec2::new(1.0, 0.36);
                let body =
                    BodyDesc { material: Material::new(50.0, 0.0, 0.0), ..BodyDesc::dynamic(shape, at) };
                let body = world.add_body(&body).unwrap();
                for step in 1..=60 {
                    world.step();
                    let (turning, now) = (state(&world, bar), state(&world, body));
                    assert_eq!((turning.angular_velocity, turning.velocity), (1.0, Vec2::ZERO));
                    assert_eq!(turning.position, desc.position);
                    assert_close("bar", turning.angle, step as f32 / 60.0, 1e-4, &settings);
                    let place = local(now.position - desc.position, turning.angle);
                    assert!(place.y > 0.35 - 0.03, "{shape:?} sank into {:?}: {place}", desc.shape);
                    assert!(step < 10 || place.y < 0.35 + 0.1, "{shape:?} was thrown off: {place}");
                }
                let end = state(&world, body);
                let place = end.position - desc.position;
                // Across the bar the body moves with the bar, at ωr; along the bar it slides outwards.
                let across = local(end.velocity, state(&world, bar).angle).y;
                let expected = local(place, state(&world, bar).angle).x;
                assert!(expected < 2.5, "it left the bar: the scene shows nothing");
                assert_close("speed across the bar", across, expected, 0.1, &settings);
            }
        }
    });
}

/// A box on a kinematic platform that tilts slowly turns with it and does not slip.
#[test]
fn box_rides_on_a_turning_platform() {
    on_both_sets(|settings| {
        for platform in [Shape::oriented_box(3.0, 0.2), rectangle(3.0, 0.2)] {
            for rate in [0.1f32, -0.1] {
                let mut world = world(settings);
                let desc = BodyDesc {
                    angular_velocity: rate,
                    material: rough(1.0),
                    ..BodyDesc::kinematic(platform, Vec2::ZERO)
                };
                let platform = world.add_body(&desc).unwrap();
                let at = Vec2::new(1.0, 0.6);
                let rider =
                    BodyDesc { material: rough(1.0), ..BodyDesc::dynamic(Shape::oriented_box(0.4, 0.4), at) };
                let rider = world.add_body(&rider).unwrap();
                for _ in 0..180 {
                    world.step();
                    let tilt = state(&world, platform).angle;
                    let now = state(&world, rider);
                    assert_close("angle", now.angle, tilt, 0.02, &settings);
                    let place = local(now.position, tilt);
                    assert!((place - at).length() < 0.02, "slipped to {place}");
                }
            }
        }
    });
}

/// A turning drum, a kinematic compound, carries a body round by its paddles: the body never leaves the drum.
#[test]
fn turning_drum_keeps_its_load() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        let (inner, thick) = (2.0f32, 0.2f32);
        let wall = |x: f32, y: f32| {
            let upright = x != 0.0;
            let (w, h) = if upright { (thick, inner + 2.0 * thick) } else { (inner + 2.0 * thick, thick) };
            Part::new(Shape::oriented_box(w, h), Vec2::new(x, y) * (inner + thick))
        };
        let drum = BodyDesc {
            angular_velocity: 25.0f32.to_radians(),
            ..BodyDesc::kinematic(Shape::circle(0.1), Vec2::ZERO)
        };
        let drum = world.add_body(&drum).unwrap();
        let walls = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)].map(|(x, y)| wall(x, y));
        world.add_parts(drum, &walls).unwrap();
        let load: Vec<_> = (0..30)
            .map(|i| {
                let at = Vec2::new((i % 6) as f32 * 0.4 - 1.0, (i / 6) as f32 * 0.4 - 1.5);
                world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.15, 0.15), at)).unwrap()
            })
            .collect();
        let mut highest = f32::MIN;
        for _ in 0..900 {
            world.step();
            for &body in &load {
                let now = state(&world, body);
                let place = local(now.position, state(&world, drum).angle);
                assert!(place.abs().max_element() < inner - 0.15 + 0.1, "a box left the drum: {place}");
                highest = highest.max(now.position.y);
            }
        }
        assert!(highest > 0.5, "nothing was lifted: {highest}");
        assert_close("turned", total_angle(&world, drum), 15.0 * 25.0f32.to_radians(), 1e-3, &settings);
    });
}

/// A body of fixed rotation keeps its angle to the last bit, whatever hits it, and falls and slides like other bodies.
#[test]
fn fixed_rotation_never_turns() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        world.add_body(&floor(rough(0.5))).unwrap();
        let shapes = [
            Shape::oriented_box(0.5, 0.2),
            Shape::circle(0.4),
            Shape::capsule(0.4, 0.2),
            rectangle(0.3, 0.6),
        ];
        let fixed: Vec<_> = (0..16)
            .map(|i| {
                let desc = BodyDesc {
                    fixed_rotation: true,
                    angle: 0.3 * i as f32,
                    ..BodyDesc::dynamic(
                        shapes[i % 4],
                        Vec2::new(0.9 * (i % 4) as f32, 1.0 + 1.3 * (i / 4) as f32),
                    )
                };
                let body = world.add_body(&desc).unwrap();
                (body, state(&world, body).angle)
            })
            .collect();
        for i in 0..16 {
            let at = Vec2::new(0.8 * (i % 4) as f32 + 0.2, 8.0 + 1.3 * (i / 4) as f32);
            world.add_body(&BodyDesc::dynamic(shapes[i % 4], at)).unwrap();
        }
        for step in 0..300 {
            if step == 60 {
                world.apply_torque(fixed[0].0, 1e3).unwrap();
                let at = state(&world, fixed[1].0).position + Vec2::X;
                world.apply_impulse_at(fixed[1].0, Vec2::Y, at).unwrap();
            }
            world.step();
            for &(body, angle) in &fixed {
                let now = state(&world, body);
                assert_eq!((now.angle, now.angular_velocity), (angle, 0.0), "step {step}");
                assert!(now.position.y > 0.1, "step {step}: {now:?}");
            }
        }
        let turned = world.handles().skip(17).filter(|&body| state(&world, body).angle != 0.0).count();
        assert!(turned > 8, "the others do turn");
    });
}

/// A disc of fixed rotation slides where a turning disc would roll: it slows down at μg.
#[test]
fn disc_of_fixed_rotation_slides() {
    on_both_sets(|settings| {
        for ground in floors(20.0, rough(0.3)) {
            let mut world = world(settings);
            world.add_body(&ground).unwrap();
            let desc = BodyDesc {
                fixed_rotation: true,
                velocity: Vec2::new(5.0, 0.0),
                material: rough(0.3),
                ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5))
            };
            let disc = world.add_body(&desc).unwrap();
            steps(&mut world, 60);
            let end = state(&world, disc);
            assert_close("vx", end.velocity.x, 5.0 - 0.3 * G, 0.03, &settings);
            assert_eq!(end.angle, 0.0);
        }
    });
}
