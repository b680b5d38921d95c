//! Bullets against bodies that move.

use super::*;
use granule::Isa;

/// Contract: a bullet at 400 m/s does not pass a plank of 0.1 m that moves, whatever the shape of either; one that is no bullet does.
#[test]
fn a_bullet_does_not_pass_what_moves() {
    let mut passed = 0;
    for bullet in [true, false] {
        for number in 0..8 {
            for velocity in [Vec2::ZERO, Vec2::new(-100.0, 0.0), Vec2::new(30.0, 50.0)] {
                let mut world = world(weightless(Settings::default()));
                let plank = BodyDesc {
                    velocity,
                    mass: Some(5.0),
                    ..BodyDesc::dynamic(Shape::oriented_box(0.05, 10.0), Vec2::ZERO)
                };
                let plank = world.add_body(&plank).unwrap();
                let shot = BodyDesc {
                    velocity: Vec2::new(400.0, 0.0),
                    bullet,
                    ..small(number, Vec2::new(-7.0, 0.1))
                };
                let shot = world.add_body(&shot).unwrap();
                // Bullets that are many look for what they may hit in another way than few.
                for i in 0..if number % 2 == 0 { 40 } else { 0 } {
                    let far =
                        BodyDesc::dynamic(Shape::circle(1.0), Vec2::new(-500.0 - 3.0 * i as f32, 900.0));
                    world
                        .add_body(&BodyDesc { bullet: true, velocity: Vec2::new(0.0, 400.0), ..far })
                        .unwrap();
                }
                for step in 0..20 {
                    world.step();
                    let (shot, plank) = (state(&world, shot), state(&world, plank));
                    let at = Vec2::from_angle(-plank.angle).rotate(shot.position - plank.position);
                    if bullet {
                        assert!(
                            at.x < 0.0 || at.y.abs() > 10.0,
                            "shape {number}, {velocity}, step {step}: {at}"
                        );
                    } else if step == 19 {
                        passed += usize::from(at.x > 0.0);
                    }
                }
            }
        }
    }
    assert!(passed > 12, "{passed} passed that were no bullets");
}

/// Contract: two bullets that fly at each other do not pass each other, whatever a third one does far away.
#[test]
fn bullets_do_not_pass_each_other() {
    // Two segments without any width, on one line, have nothing to meet with.
    for number in (0..8).filter(|number| *number != 6) {
        for way in 0..16 {
            let mut world = world(weightless(Settings::default()));
            let shot = |x: f32, speed: f32| BodyDesc {
                velocity: Vec2::new(speed, 0.0),
                bullet: true,
                fixed_rotation: true,
                ..small(number, Vec2::new(x, 0.0))
            };
            let a = world.add_body(&shot(-10.0 - 0.4 * way as f32, 400.0)).unwrap();
            let b = world.add_body(&shot(10.0, -350.0)).unwrap();
            if way % 2 == 1 {
                let far = BodyDesc { position: Vec2::new(0.0, 500.0), ..shot(0.0, 1.0e5) };
                world.add_body(&far).unwrap();
            }
            for step in 0..20 {
                world.step();
                let [a, b] = [a, b].map(|body| state(&world, body).position.x);
                assert!(a < b, "shape {number}, distance {way}, step {step}: {a} {b}");
            }
        }
    }
}

/// Contract: bullets that strike each other in a closed room stay in it, with and without restitution, whatever their shape and however
/// thin its walls are.
#[test]
fn bullets_do_not_push_each_other_through_walls() {
    for number in 0..8 {
        for (restitution, half_width) in [(0.0, 0.1), (1.0, 0.1), (0.0, 0.0), (1.0, 0.0)] {
            let mut numbers = Numbers(number as u64);
            let mut world = world(weightless(Settings::default()));
            let material = Material { restitution, ..Material::default() };
            for side in 0..4 {
                let out = Vec2::from_angle(std::f32::consts::FRAC_PI_2 * side as f32);
                let wall = match half_width {
                    0.0 => Shape::segment(5.1),
                    _ => Shape::oriented_box(5.0 + 2.0 * half_width, half_width),
                };
                let wall = BodyDesc {
                    angle: std::f32::consts::FRAC_PI_2 * (side + 1) as f32,
                    material,
                    ..BodyDesc::fixed(wall, (5.0 + half_width) * out)
                };
                world.add_body(&wall).unwrap();
            }
            let bullets: Vec<_> = (0..25)
                .map(|at| {
                    let place = 1.8 * Vec2::new((at % 5) as f32 - 2.0, (at / 5) as f32 - 2.0);
                    let velocity = 200.0 * numbers.next() * numbers.direction();
                    let bullet = BodyDesc { velocity, bullet: true, material, ..small(number, place) };
                    world.add_body(&bullet).unwrap()
                })
                .collect();
            for step in 0..100 {
                world.step();
                for &bullet in &bullets {
                    let at = state(&world, bullet).position;
                    assert!(
                        at.abs().max_element() < 5.05 + half_width,
                        "shape {number}, restitution {restitution}, wall {half_width}, step {step}: {at}"
                    );
                }
            }
        }
    }
}

/// Contract: bullets shot at stacks of boxes stay on their side of the last box, whatever the boxes do, and the whole does not gain
/// energy; the same at every instruction set.
#[test]
fn bullets_strike_stacks() {
    let run = |isa: Isa| {
        let mut world = world(Settings { isa, ..Settings::default() });
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        // None gets over it: one that was thrown up came down behind a wall of 39 m.
        world.add_body(&BodyDesc::fixed(Shape::oriented_box(0.02, 250.0), Vec2::new(12.0, 249.0))).unwrap();
        for column in 0..6 {
            for row in 0..10 {
                let at = Vec2::new(column as f32, 0.25 + 0.5 * row as f32);
                world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.1, 0.25), at)).unwrap();
            }
        }
        let mut bullets = Vec::new();
        for number in 0..200 {
            if number % 2 == 0 {
                world.step();
            }
            let at = Vec2::new(-10.0, 0.3 + 0.02 * number as f32);
            let filter = Filter { category: 2, mask: 1, group: 0 };
            let shot =
                BodyDesc { velocity: Vec2::new(400.0, 0.0), bullet: true, filter, ..small(number, at) };
            bullets.push(world.add_body(&BodyDesc { mass: Some(0.002), ..shot }).unwrap());
        }
        for _ in 0..60 {
            world.step();
            world.validate().unwrap();
            for &bullet in &bullets {
                let now = state(&world, bullet);
                assert!(now.position.x < 12.0, "{now:?}");
                assert!(now.velocity.length() < 410.0, "{now:?}");
            }
        }
        world.state_hash()
    };
    let hash = run(Isa::Scalar);
    for isa in Isa::available() {
        assert_eq!(run(isa), hash, "{isa}");
    }
}

/// Contract: whether a bullet at rest is stopped at a fast body does not depend on the instruction set, wherever a wall moves fast
/// beside the two: a vector that looks for walls as one finds for each of its bodies what the body finds alone.
#[test]
fn bullets_at_rest_are_found_at_every_width() {
    for place in 0..40 {
        let run = |isa: Isa| {
            let mut world = world(Settings { isa, ..weightless(Settings::default()) });
            let turn = Vec2::from_angle(0.16 * place as f32);
            let wall = Vec2::new(0.5 + 0.25 * place as f32, -3.0);
            let wall = BodyDesc::kinematic(Shape::circle(0.2), turn.rotate(wall));
            world.add_body(&BodyDesc { velocity: turn.rotate(Vec2::new(0.0, 600.0)), ..wall }).unwrap();
            let bullet = BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO);
            world.add_body(&BodyDesc { bullet: true, ..bullet }).unwrap();
            let fast = BodyDesc::dynamic(Shape::circle(0.1), turn.rotate(Vec2::new(-3.0, 0.2)));
            world.add_body(&BodyDesc { velocity: turn.rotate(Vec2::new(600.0, 0.0)), ..fast }).unwrap();
            steps(&mut world, 2);
            world.state_hash()
        };
        let hash = run(Isa::Scalar);
        for isa in Isa::available() {
            assert_eq!(run(isa), hash, "{isa}, place {place}");
        }
    }
}

/// Contract: the time of a step grows with the number of bullets, and not with its square, when they fly side by side, alone and in a world of many other
/// bodies. (When each looked at all others, 4,000 took 78 times as long as 500. `cargo test --release -p granule --test suite -- a_swarm --nocapture` prints
/// the times.)
#[test]
fn a_swarm_of_bullets_costs_what_its_bullets_cost() {
    for others in [0, 20_000] {
        let mut worlds = [500, 4_000].map(|count| {
            let mut world = world(weightless(Settings::default()));
            for i in 0..count {
                let at = 0.3 * Vec2::new(-((i / 50) as f32), (i % 50) as f32);
                let body = BodyDesc::dynamic(Shape::circle(0.1), at);
                let velocity = Vec2::new(300.0, 0.0);
                world.add_body(&BodyDesc { bullet: true, velocity, ..body }).unwrap();
            }
            for i in 0..others {
                let at = Vec2::new(3.0 * (i % 200) as f32, 100.0 + 3.0 * (i / 200) as f32);
                world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), at)).unwrap();
            }
            // Until the margins are those of their speed.
            steps(&mut world, 8);
            world
        });
        // By turns, as other tests run beside this one; of what is counted, the least.
        let (mut ratio, mut least) = (f64::INFINITY, [f64::INFINITY; 2]);
        for _ in 0..12 {
            let times = worlds.each_mut().map(|world| {
                let start = std::time::Instant::now();
                world.step();
                1.0e3 * start.elapsed().as_secs_f64()
            });
            ratio = ratio.min(times[1] / times[0]);
            least = [least[0].min(times[0]), least[1].min(times[1])];
        }
        println!("beside {others}: {:.2} ms with 500 bullets, {:.2} ms with 4,000", least[0], least[1]);
        assert!(ratio < 40.0, "beside {others}, 8 times the bullets take {ratio:.1} times as long");
    }
}

/// Contract: a body becomes a bullet and stops being one by a call, and the flag stays with its body when others come and go.
#[test]
fn bullets_are_bullets_until_told_otherwise() {
    let mut world = world(Settings::default());
    let plain = world.add_body(&small(0, Vec2::ZERO)).unwrap();
    let bullet = world.add_body(&BodyDesc { bullet: true, ..small(1, Vec2::new(2.0, 0.0)) }).unwrap();
    let is = |world: &World, body| world.is_bullet(body).unwrap();
    assert!(!is(&world, plain) && is(&world, bullet));
    world.step();
    world.set_bullet(plain, true).unwrap();
    world.remove_body(bullet).unwrap();
    assert!(world.is_bullet(bullet).is_err() && world.set_bullet(bullet, true).is_err());
    let next = world.add_body(&small(2, Vec2::new(4.0, 0.0))).unwrap();
    assert!(is(&world, plain) && !is(&world, next));
    world.set_bullet(plain, false).unwrap();
    assert!(!is(&world, plain));
}
