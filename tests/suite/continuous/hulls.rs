//! Bullets against hulls of particles.

use super::*;
use crate::common::cases;
use granule::{Assembly, Isa, LinkDesc};
use proptest::prelude::*;

/// A soft box or a rigid one, of 0.6 m and 1 kg.
fn target(world: &mut World, soft: bool, at: Vec2, angle: f32) -> Vec<BodyHandle> {
    if soft {
        world.add_assembly(&Assembly::soft_box(at, Vec2::splat(0.6), 0.05, 1.0, angle)).unwrap()
    } else {
        let desc = BodyDesc::dynamic(Shape::oriented_box(0.3, 0.3), at);
        vec![world.add_body(&BodyDesc { angle, mass: Some(1.0), ..desc }).unwrap()]
    }
}

/// Contract: no bullet at 60 to 600 m/s passes a soft box or a rigid one, whatever is behind it, and none gets stuck in it.
#[test]
fn bullets_pass_no_hull() {
    for (first, second) in [
        (false, None),
        (false, Some(false)),
        (false, Some(true)),
        (true, None),
        (true, Some(false)),
        (true, Some(true)),
    ] {
        let mut numbers = Numbers(1);
        for case in 0..150 {
            let mut world = world(weightless(Settings::default()));
            let mut angle = || numbers.next() - 0.5;
            let (of_front, of_second) = (angle(), angle());
            let front = target(&mut world, first, Vec2::ZERO, of_front);
            let behind = Vec2::new(0.81 + 2.0 * numbers.next(), 0.0);
            second.into_iter().for_each(|soft| drop(target(&mut world, soft, behind, of_second)));
            let at = Vec2::new(-1.0 - 14.0 * numbers.next(), 0.2 * numbers.next() - 0.1);
            let shot = BodyDesc::dynamic(Shape::circle(0.03 + 0.17 * numbers.next()), at);
            let velocity = Vec2::new(60.0 + 540.0 * numbers.next(), 0.0);
            let shot = world.add_body(&BodyDesc { bullet: true, mass: Some(0.2), velocity, ..shot }).unwrap();
            steps(&mut world, 24);
            let struck = front.iter().any(|&body| state(&world, body).velocity.length() > 0.5);
            let slower = state(&world, shot).velocity.length() < velocity.x - 0.1;
            assert!(struck && slower, "soft {first}, behind it {second:?}, case {case}");
        }
    }
}

/// A hull and a bullet that flies at its middle.
#[derive(Clone, Debug)]
struct Shot {
    /// 0 and 1: soft boxes, with thin and with thick corners; from 2 on: polygons of so many corners and two more.
    hull: usize,
    turned: f32,
    moves: Vec2,
    spin: f32,
    asleep: bool,
    shape: usize,
    mass: f32,
    distance: f32,
    aside: f32,
    speed: f32,
    restitution: f32,
    friction: f32,
}

fn shot() -> impl Strategy<Value = Shot> {
    let hull = (0usize..7, -3.0f32..3.0, -20.0f32..20.0, -20.0f32..20.0, -15.0f32..15.0, any::<bool>());
    let flight = (0usize..8, 0.05f32..1.0, 1.2f32..15.0, -0.05f32..0.05, 30.0f32..600.0);
    let surface = (prop_oneof![Just(0.0f32), Just(0.5f32), Just(1.0f32)], 0.0f32..0.8);
    (hull, flight, surface).prop_map(|(hull, flight, (restitution, friction))| {
        let (hull, turned, x, y, spin, asleep) = hull;
        let (shape, mass, distance, aside, speed) = flight;
        let (moves, spin) = if asleep { (Vec2::ZERO, 0.0) } else { (Vec2::new(x, y), spin) };
        Shot { hull, turned, moves, spin, asleep, shape, mass, distance, aside, speed, restitution, friction }
    })
}

fn fire(shot: &Shot, isa: Isa) -> Result<u64, TestCaseError> {
    let mut world = world(weightless(Settings { isa, ..Settings::default() }));
    let Shot { restitution, friction, .. } = *shot;
    let material = Material {
        restitution,
        static_friction: friction,
        dynamic_friction: friction,
        ..Material::default()
    };
    let mut hull = match shot.hull {
        0 => Assembly::soft_box(Vec2::ZERO, Vec2::splat(0.6), 0.05, 1.0, shot.turned),
        1 => Assembly::soft_box(Vec2::ZERO, Vec2::splat(0.6), 0.15, 5.0, shot.turned),
        corners => Assembly::polygon(Vec2::ZERO, 0.35, corners + 2, 1.0),
    };
    for corner in &mut hull.bodies {
        corner.velocity = shot.moves + shot.spin * corner.position.perp();
        corner.material = material;
    }
    let corners = world.add_assembly(&hull).unwrap();
    if shot.asleep {
        corners.iter().for_each(|&corner| world.sleep_body(corner).unwrap());
    }
    let bullet = BodyDesc {
        velocity: shot.moves + Vec2::new(shot.speed, 0.0),
        bullet: true,
        mass: Some(shot.mass),
        material,
        ..small(shot.shape, Vec2::new(-shot.distance, shot.aside))
    };
    let bullet = world.add_body(&bullet).unwrap();
    let (before, velocity) = (world.quality().kinetic_energy, state(&world, bullet).velocity);
    let steps_to_go = (60.0 * shot.distance / shot.speed) as usize + 4;
    for step in 0..steps_to_go {
        world.step();
        prop_assert_eq!(world.validate(), Ok(()));
        let energy = world.quality().kinetic_energy;
        prop_assert!(energy < 1.001 * before, "step {}: {} J of {} J", step, energy, before);
    }
    let now = state(&world, bullet).velocity;
    prop_assert!((now - velocity).length() > 1.0e-3 * velocity.length(), "it struck nothing: {}", now);
    Ok(world.state_hash())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    /// Contract: a bullet that flies at a hull's middle strikes it within the time that it needs to get there, and nothing gains energy, whatever the
    /// hull, how it moves and turns, and what the bullet is, awake or asleep, and the same at every instruction set.
    #[test]
    fn bullets_strike_hulls(shot in shot()) {
        let hash = fire(&shot, Isa::Scalar)?;
        for isa in Isa::available() {
            prop_assert_eq!(fire(&shot, isa)?, hash, "{}", isa);
        }
    }
}

/// Contract: a hull does not stop a bullet whose filter lets the two pass each other, nor one that is linked to its corner.
#[test]
fn bullets_pass_what_they_may() {
    for linked in [false, true] {
        let mut world = world(weightless(Settings::default()));
        let corners = target(&mut world, true, Vec2::ZERO, 0.0);
        let velocity = Vec2::new(400.0, 0.0);
        let bullet = BodyDesc {
            velocity,
            bullet: true,
            ..BodyDesc::dynamic(Shape::particle(0.05), Vec2::new(-5.0, 0.1))
        };
        let filter = if linked { Filter::default() } else { Filter { category: 2, mask: 2, group: 0 } };
        let bullet = world.add_body(&BodyDesc { filter, ..bullet }).unwrap();
        if linked {
            let mut link = LinkDesc::distance(bullet, corners[0], 5.0);
            link.compliance = 1.0e6;
            world.add_link(&link).unwrap();
        }
        steps(&mut world, 4);
        let now = state(&world, bullet);
        assert!(now.position.x > 5.0 && now.velocity.x > 399.0, "linked {linked}: {now:?}");
    }
}

/// Contract: a world that loses its last hull while a bullet is near goes on. (The next step read a hull that was not there.)
#[test]
fn a_lost_hull_leaves_nothing() {
    for (gap, by_body) in [(0.001f32, false), (0.2, false), (0.001, true), (3.0, true)] {
        for before in 0..4 {
            let mut world = world(Settings::default());
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            let corners = target(&mut world, true, Vec2::new(0.0, 0.36), 0.0);
            let bullet = BodyDesc::dynamic(Shape::circle(0.1), Vec2::new(0.0, 0.81 + gap));
            world.add_body(&BodyDesc { bullet: true, velocity: Vec2::new(0.0, -40.0), ..bullet }).unwrap();
            steps(&mut world, before);
            if by_body {
                world.remove_body(corners[0]).unwrap();
            } else {
                let hull = world.hulls().next().unwrap().0;
                world.remove_hull(hull).unwrap();
            }
            for _ in 0..20 {
                world.step();
                world.validate().unwrap();
            }
        }
    }
}

/// Contract: bullets of all shapes that are put down on a soft box lie on it and fall asleep, as other bodies do. (Segments sank through it.)
#[test]
fn bullets_lie_on_soft_boxes() {
    for number in 0..8 {
        for turned in [0.0f32, 0.4] {
            let mut world = world(Settings { substeps: 8, ..Settings::default() });
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            target(&mut world, true, Vec2::new(0.0, 0.36), 0.0);
            let body = small(number, Vec2::new(0.02, 0.95));
            let angle = if small_shape(number).kind() == granule::ShapeKind::Aabb { 0.0 } else { turned };
            let body = world.add_body(&BodyDesc { bullet: true, angle, ..body }).unwrap();
            let asleep = (0..900).any(|_| {
                world.step();
                world.awake_count() == 0
            });
            let now = state(&world, body);
            // A circle may roll off.
            let lies = now.position.y > 0.57 || now.position.x.abs() > 0.35;
            assert!(asleep && lies, "shape {number}, turned by {turned}: {now:?}");
        }
    }
}
