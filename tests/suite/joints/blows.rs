//! Blows that joints pass on.

use super::*;
use granule::Material;

/// A wall at x = 0 and a row of bodies to its left, joined to each other, that fly into it at 5 m/s.
struct Row {
    world: World,
    bodies: Vec<BodyHandle>,
}

const SPEED: f32 = 5.0;

fn row(settings: Settings, restitution: f32, masses: &[f32], welded: bool, boxes: bool) -> Row {
    let mut world = world(weightless(settings));
    let material = Material::new(1.0, 0.0, restitution);
    add(&mut world, BodyDesc { material, ..BodyDesc::fixed(Shape::half_space(-Vec2::X, 0.0), Vec2::ZERO) });
    let mut bodies: Vec<BodyHandle> = Vec::new();
    for (i, &mass) in masses.iter().enumerate() {
        let shape = if boxes { Shape::oriented_box(0.5, 0.5) } else { Shape::circle(0.5) };
        let place = Vec2::new(-0.83 - i as f32, 0.0);
        let desc = BodyDesc {
            mass: Some(mass),
            material,
            velocity: Vec2::new(SPEED, 0.0),
            ..BodyDesc::dynamic(shape, place)
        };
        let body = add(&mut world, desc);
        if let Some(&last) = bodies.last() {
            let (left, right) = (Vec2::new(-0.5, 0.0), Vec2::new(0.5, 0.0));
            let joint = if welded {
                JointDesc::weld(last, body, left, right)
            } else {
                JointDesc::revolute(last, body, left, right)
            };
            join(&mut world, &joint);
        }
        bodies.push(body);
    }
    Row { world, bodies }
}

/// The part of its energy that a row has a second after the blow, and the speed at which its first body leaves.
fn blow(settings: Settings, restitution: f32, masses: &[f32], welded: bool, boxes: bool) -> (f64, f32) {
    let Row { mut world, bodies } = row(settings, restitution, masses, welded, boxes);
    let before = world.quality().kinetic_energy;
    let mut most = 0.0f64;
    for _ in 0..60 {
        world.step();
        most = most.max(world.quality().kinetic_energy / before);
    }
    assert!(most < 1.001, "{masses:?}: {most} of the energy");
    (world.quality().kinetic_energy / before, -velocity(&world, bodies[0]).x)
}

/// Contract: a row of two to ten joined bodies of equal mass that flies into a wall leaves as one body does: at e times its speed, within 2 %.
#[test]
fn a_row_bounces_as_one_body() {
    on_both_sets(|settings| {
        for restitution in [1.0f32, 0.5] {
            for count in [2, 3, 5, 10] {
                for (welded, boxes) in [(true, false), (false, false), (true, true), (false, true)] {
                    let (energy, speed) = blow(settings, restitution, &vec![1.0; count], welded, boxes);
                    let e = f64::from(restitution);
                    println!(
                        "{count} bodies, e = {e}, welded: {welded}, boxes: {boxes}: {energy:.3} of the energy, {speed:.3} m/s"
                    );
                    assert_close("energy", energy, e * e, 0.04 * e * e);
                    assert_close(
                        "speed",
                        f64::from(speed),
                        e * f64::from(SPEED),
                        0.02 * e * f64::from(SPEED),
                    );
                }
            }
        }
    });
}

/// Contract: a row of bodies of unequal masses keeps at least a third of the energy that one body would keep, and never has more.
#[test]
fn unequal_rows_keep_some_energy() {
    on_both_sets(|settings| {
        for masses in [[1.0f32, 2.0], [2.0, 1.0], [1.0, 4.0], [4.0, 1.0], [1.0, 10.0], [10.0, 1.0]] {
            for welded in [true, false] {
                let (energy, _) = blow(settings, 1.0, &masses, welded, false);
                println!("{masses:?}, welded: {welded}: {energy:.3} of the energy");
                assert!(energy > 0.33, "{masses:?}: {energy}");
            }
        }
    });
}

/// Contract: a row without restitution hardly leaves the wall (with less than a tenth of its energy), whether something else in its world
/// bounces or nothing does: nothing bounces because of the joints.
#[test]
fn a_row_without_restitution_stops() {
    on_both_sets(|settings| {
        for (welded, other) in [(true, false), (false, false), (true, true), (false, true)] {
            let Row { mut world, bodies } = row(settings, 0.0, &[1.0; 4], welded, false);
            if other {
                let material = Material::new(1.0, 0.0, 1.0);
                let ball = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(-20.0, 20.0));
                add(&mut world, BodyDesc { material, ..ball });
            }
            steps(&mut world, 60);
            let speed = velocity(&world, bodies[0]).length();
            println!(
                "four bodies without restitution, welded: {welded}, another bounces: {other}: {speed:.3} m/s"
            );
            assert!(speed * speed < 0.1 * SPEED * SPEED, "{speed} m/s");
        }
    });
}

/// Contract: a closed gas of joined pairs, in all directions and with a restitution of 1, never gains energy. (It loses
/// some with each blow that is not in line with a pair: after 2,000 steps and some twenty blows for each pair, it still has 2 %.)
#[test]
fn a_gas_of_pairs_gains_no_energy() {
    on_both_sets(|settings| {
        for welded in [true, false] {
            let mut world = world(weightless(settings));
            let material = Material::new(1.0, 0.0, 1.0);
            for normal in [Vec2::X, -Vec2::X, Vec2::Y, -Vec2::Y] {
                let wall = BodyDesc::fixed(Shape::half_space(normal, -10.0), Vec2::ZERO);
                add(&mut world, BodyDesc { material, ..wall });
            }
            for i in 0..16 {
                let place = Vec2::new((i % 4) as f32 * 4.0 - 6.0, (i / 4) as f32 * 4.0 - 6.0);
                let velocity = 4.0 * Vec2::from_angle(2.4 * i as f32);
                let [first, second] = [0.0, 1.0].map(|x| {
                    let shape = if i % 2 == 0 { Shape::circle(0.5) } else { Shape::oriented_box(0.5, 0.4) };
                    let desc = BodyDesc {
                        material,
                        velocity,
                        ..BodyDesc::dynamic(shape, place + Vec2::new(x, 0.0))
                    };
                    add(&mut world, desc)
                });
                let (left, right) = (Vec2::new(-0.5, 0.0), Vec2::new(0.5, 0.0));
                let joint = if welded {
                    JointDesc::weld(first, second, right, left)
                } else {
                    JointDesc::revolute(first, second, right, left)
                };
                join(&mut world, &joint);
            }
            let before = world.quality().kinetic_energy;
            let mut most = 0.0f64;
            for step in 0..2_000 {
                world.step();
                let part = world.quality().kinetic_energy / before;
                most = most.max(part);
                assert!(part < 1.001, "step {step}: {part} of the energy");
            }
            let end = world.quality().kinetic_energy / before;
            println!("a gas of pairs, welded: {welded}: {end:.3} of the energy, at most {most:.4}");
            assert!(end > 0.02, "{end} of the energy");
            world.validate().unwrap();
        }
    });
}
