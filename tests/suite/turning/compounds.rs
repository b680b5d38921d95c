//! Bodies of several shapes.

use super::*;
use granule::Filter;

/// A bar of half extents 1 × 0.1 with a disc at each end.
fn dumbbell(world: &mut World, desc: BodyDesc, radii: [f32; 2], discs: Filter) -> BodyHandle {
    let body = world.add_body(&BodyDesc { shape: Shape::oriented_box(1.0, 0.1), ..desc }).unwrap();
    // The place of the bar's middle relative to the body's centre changes with each part.
    for (radius, x) in radii.into_iter().zip([-1.0f32, 1.0]) {
        let bar = world.parts(body).unwrap()[0].position;
        let disc = Part {
            filter: discs,
            material: desc.material,
            ..Part::new(Shape::circle(radius), bar + Vec2::new(x, 0.0))
        };
        world.add_part(body, &disc).unwrap();
    }
    body
}

/// The place of the bar's middle in the world.
fn bar(world: &World, body: BodyHandle) -> Vec2 {
    let now = state(world, body);
    now.position + Vec2::from_angle(now.angle).rotate(world.parts(body).unwrap()[0].position)
}

/// A dumbbell falls and rests on its two discs: level at their radius if they are equal, tilted by asin(Δr/length) if
/// they are not.
#[test]
fn dumbbells_rest_on_their_discs() {
    on_both_sets(|settings| {
        for ground in floors(10.0, rough(0.6)) {
            for (radii, angle) in
                [([0.4f32, 0.4f32], 0.0f32), ([0.4, 0.4], 0.3), ([0.5, 0.3], 0.0), ([0.3, 0.5], -0.2)]
            {
                let mut world = world(settings);
                world.add_body(&ground).unwrap();
                let desc = BodyDesc {
                    angle,
                    material: Material { rolling_resistance: 0.1, ..rough(0.6) },
                    ..BodyDesc::dynamic(Shape::circle(1.0), Vec2::new(0.0, 2.0))
                };
                let body = dumbbell(&mut world, desc, radii, Filter::default());
                steps(&mut world, 420);
                let end = state(&world, body);
                let tilt = ((radii[1] - radii[0]) / 2.0).asin();
                assert_close("angle", end.angle, tilt, 0.015, &settings);
                assert_close("y", bar(&world, body).y, 0.5 * (radii[0] + radii[1]), 0.015, &settings);
                assert!(end.velocity.length() < 0.02 && end.angular_velocity.abs() < 0.02, "{end:?}");
            }
        }
    });
}

/// Each part has its own filter: a dumbbell whose discs touch nothing rests with its bar on the floor.
#[test]
fn parts_have_filters_of_their_own() {
    on_both_sets(|settings| {
        for ground in floors(10.0, rough(0.6)) {
            let nothing = Filter { mask: 0, ..Filter::default() };
            for (bars, discs, height) in [
                (Filter::default(), nothing, Some(0.1f32)),
                (nothing, Filter::default(), Some(0.4)),
                (Filter::default(), Filter::default(), Some(0.4)),
                (nothing, nothing, None),
            ] {
                let mut world = world(settings);
                world.add_body(&ground).unwrap();
                let desc = BodyDesc {
                    filter: bars,
                    material: Material { rolling_resistance: 0.1, ..rough(0.6) },
                    ..BodyDesc::dynamic(Shape::circle(1.0), Vec2::new(0.0, 0.6))
                };
                let body = dumbbell(&mut world, desc, [0.4, 0.4], discs);
                steps(&mut world, 120);
                let y = state(&world, body).position.y;
                match height {
                    Some(height) => assert_close("y", y, height, 0.015, &settings),
                    None => assert!(y < -15.0, "held at {y} by nothing"),
                }
            }
        }
    });
}

/// Each part has its own surface: a sledge on smooth runners glides, whatever its bar is made of; a sledge on rough
/// runners slows down at μg.
#[test]
fn parts_have_surfaces_of_their_own() {
    on_both_sets(|settings| {
        for ground in floors(20.0, rough(0.4)) {
            for (of_bar, of_runners) in [(0.4f32, 0.0f32), (0.0, 0.4)] {
                let mut world = world(settings);
                world.add_body(&ground).unwrap();
                let desc = BodyDesc {
                    velocity: Vec2::new(4.0, 0.0),
                    material: rough(of_bar),
                    ..BodyDesc::dynamic(Shape::oriented_box(1.0, 0.1), Vec2::new(0.0, 0.4))
                };
                let body = world.add_body(&desc).unwrap();
                // The soles of the runners are 0.4 below the bar's middle.
                let runners = [-0.8f32, 0.8].map(|x| Part {
                    material: rough(of_runners),
                    ..Part::new(Shape::oriented_box(0.2, 0.1), Vec2::new(x, -0.3))
                });
                world.add_parts(body, &runners).unwrap();
                world.set_velocity(body, Vec2::new(4.0, 0.0)).unwrap();
                let start = bar(&world, body);
                steps(&mut world, 60);
                let end = state(&world, body);
                let speed = 4.0 - of_runners * G;
                assert_close("vx", end.velocity.x, speed.max(0.0), 0.05, &settings);
                assert_close("y", bar(&world, body).y, start.y, 0.01, &settings);
                assert_close("angle", end.angle, 0.0, 0.02, &settings);
            }
        }
    });
}

/// A compound may be hollow: a ball dropped into a U rests on its bottom, between its walls.
#[test]
fn a_ball_rests_in_a_cup() {
    on_both_sets(|settings| {
        for ground in floors(10.0, rough(0.6)) {
            let mut world = world(settings);
            world.add_body(&ground).unwrap();
            let desc = BodyDesc {
                material: rough(0.6),
                ..BodyDesc::dynamic(Shape::oriented_box(1.0, 0.1), Vec2::new(3.0, 0.1))
            };
            let cup = world.add_body(&desc).unwrap();
            let walls = [-0.9f32, 0.9].map(|x| Part {
                material: rough(0.6),
                ..Part::new(Shape::oriented_box(0.1, 0.5), Vec2::new(x, 0.6))
            });
            world.add_parts(cup, &walls).unwrap();
            let ball = BodyDesc {
                material: Material { rolling_resistance: 0.1, ..rough(0.6) },
                velocity: Vec2::new(0.5, 0.0),
                ..BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(2.8, 1.5))
            };
            let ball = world.add_body(&ball).unwrap();
            steps(&mut world, 300);
            assert_close("ball", state(&world, ball).position.y, 0.5, 0.02, &settings);
            assert_close("cup", bar(&world, cup).y, 0.1, 0.02, &settings);
            let apart = (state(&world, ball).position.x - bar(&world, cup).x).abs();
            assert!(apart < 0.55, "the ball is in the wall: {apart}");
        }
    });
}

/// Parts of one body do not touch each other, however much they overlap.
#[test]
fn parts_of_one_body_do_not_touch() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let body = world.add_body(&BodyDesc::dynamic(Shape::oriented_box(1.0, 0.5), Vec2::ZERO)).unwrap();
        world.add_part(body, &Part::new(Shape::oriented_box(0.5, 1.0), Vec2::new(0.2, 0.1))).unwrap();
        world.add_part(body, &Part::new(Shape::circle(0.7), Vec2::new(-0.3, 0.0))).unwrap();
        let start = state(&world, body);
        steps(&mut world, 60);
        assert_eq!(state(&world, body), start);
        assert_eq!(world.contact_count(), 0);
    });
}
