//! Hulls sleep, and wake, as bodies do.

use super::*;
use crate::common::weightless;
use granule::{Assembly, scene};

fn soft_box(world: &mut World, x: f32, height: f32, group: u32) -> Vec<BodyHandle> {
    let soft = Assembly::soft_box(Vec2::new(x, height + 0.5), Vec2::splat(0.9), 0.05, 1.0, 0.0);
    world.add_assembly(&soft.grouped(group)).unwrap()
}

/// Two soft boxes on each other, and one aside, all asleep.
fn boxes() -> (World, BodyHandle, [Vec<BodyHandle>; 3]) {
    let (mut world, floor) = with_floor(Settings::default());
    let boxes = [
        soft_box(&mut world, 0.0, 0.0, 1),
        soft_box(&mut world, 0.0, 1.0, 2),
        soft_box(&mut world, 10.0, 0.0, 3),
    ];
    until_asleep(&mut world, 600);
    (world, floor, boxes)
}

fn awake(world: &World, bodies: &[BodyHandle]) -> usize {
    bodies.iter().filter(|&&body| world.contains(body) && is_awake(world, body)).count()
}

/// Contract: hulls that lie on each other sleep as one, keep their contacts, and wake as they fell asleep: nothing moves, and no event
/// tells of a contact that was there all the time.
#[test]
fn hulls_wake_as_they_fell_asleep() {
    let (mut world, _, [low, high, aside]) = boxes();
    assert_eq!(world.island_count(), 2);
    let contacts = world.contacts().count();
    assert!(contacts >= 6, "{contacts}");
    let before = world.state_hash();
    steps(&mut world, 600);
    assert_eq!((world.state_hash(), world.contacts().count()), (before, contacts));
    let places: Vec<_> = low.iter().chain(&high).map(|&body| world.body(body).unwrap().position).collect();
    world.wake_body(high[0]).unwrap();
    assert_eq!([&low, &high, &aside].map(|bodies| awake(&world, bodies)), [4, 4, 0]);
    for _ in 0..20 {
        world.step();
        world.validate().unwrap();
        assert!(world.begin_events().is_empty() && world.end_events().is_empty());
    }
    for (&body, before) in low.iter().chain(&high).zip(&places) {
        assert!(world.body(body).unwrap().position.distance(*before) < 1.0e-3);
    }
}

/// Contract: polygons of particles that are put into each other come apart, as rigid ones do, and do not fall asleep before. (They crept apart at
/// 0.02 m/s, which counts as rest, and slept up to 0.9 m inside each other.)
#[test]
fn overlapping_hulls_come_apart() {
    for (corners, apart) in [(4usize, 0.6f32), (6, 0.3), (6, 0.8), (8, 0.6)] {
        let mut world = crate::common::world(weightless(Settings::default()));
        let polygon = |x: f32| Assembly::polygon(Vec2::new(x, 0.02 * x), 0.5, corners, 1.0);
        let mut bodies = world.add_assembly(&polygon(0.0)).unwrap();
        bodies.extend(world.add_assembly(&polygon(apart)).unwrap());
        steps(&mut world, 120);
        let hulls: Vec<_> = world.hulls().collect();
        let gap = world.contacts().map(|contact| contact.separation).fold(0.0f32, f32::min);
        assert_eq!(hulls.len(), 2);
        assert!(gap > -0.02, "{corners} corners, {apart} m apart: {} m deep after 2 s", -gap);
    }
}

/// Contract: what falls on the middle of a sleeping hull's side, far from its corners, wakes it before it is stopped.
#[test]
fn a_touch_between_corners_wakes() {
    for shape in [Shape::circle(0.1), Shape::oriented_box(0.1, 0.1), Shape::particle(0.05)] {
        let (mut world, _, [low, high, aside]) = boxes();
        let ball = BodyDesc::dynamic(shape, Vec2::new(0.0, 4.0));
        let ball = add(&mut world, BodyDesc { velocity: Vec2::new(0.0, -10.0), ..ball });
        while world.body(ball).unwrap().velocity.y < -9.0 {
            assert_eq!(awake(&world, &low), 0);
            world.step();
            world.validate().unwrap();
        }
        assert_eq!([&low, &high, &aside].map(|bodies| awake(&world, bodies)), [4, 4, 0], "{shape:?}");
    }
    // A hull that falls on a sleeping body.
    let (mut world, _, [_, _, aside]) = boxes();
    let body = add(&mut world, crate_at(-10.0, 0.0));
    until_asleep(&mut world, 200);
    soft_box(&mut world, -10.0, 2.0, 9);
    let woke = (0..60).any(|_| {
        world.step();
        world.wake_events().contains(&body)
    });
    assert!(woke && awake(&world, &aside) == 0);
}

/// Contract: what nothing moves wakes a sleeping hull that it comes to touch between its corners, and a hull wakes when it loses its
/// support.
#[test]
fn walls_and_supports_wake_hulls() {
    let wall = |x: f32| BodyDesc::fixed(Shape::oriented_box(0.2, 0.1), Vec2::new(x, 0.5));
    let (mut world, _, [low, high, aside]) = boxes();
    add(&mut world, wall(-0.6));
    steps(&mut world, 1);
    assert_eq!([&low, &high, &aside].map(|bodies| awake(&world, bodies)), [4, 4, 0]);

    let (mut world, _, [low, ..]) = boxes();
    add(
        &mut world,
        BodyDesc {
            velocity: Vec2::new(1.0, 0.0),
            ..BodyDesc::kinematic(wall(0.0).shape, Vec2::new(-2.0, 0.5))
        },
    );
    steps(&mut world, 30);
    assert_eq!(awake(&world, &low), 0);
    steps(&mut world, 90);
    assert!(world.body(low[0]).unwrap().position.x > 0.1 - 0.45, "{:?}", world.body(low[0]));

    let (mut world, floor, [low, high, aside]) = boxes();
    world.remove_body(floor).unwrap();
    assert_eq!([&low, &high, &aside].map(|bodies| awake(&world, bodies)), [4; 3]);

    let (mut world, _, [low, high, aside]) = boxes();
    let hull = world.hulls().next().unwrap().0;
    world.remove_hull(hull).unwrap();
    assert_eq!([&low, &high, &aside].map(|bodies| awake(&world, bodies)), [4, 4, 0]);
}

/// Contract: figures of particles that have fallen down a flight of stairs sleep, and none wakes by itself in ten minutes.
#[test]
fn figures_sleep_for_ten_minutes() {
    let mut world = scene::builtin("ragdolls", 260, 1).unwrap().build().unwrap();
    world.set_settings(Settings { sleep: true, ..*world.settings() }).unwrap();
    steps(&mut world, 3_600);
    assert_eq!(world.awake_count(), 0);
    let before = world.state_hash();
    for _ in 0..36_000 {
        world.step();
        assert!(world.wake_events().is_empty());
    }
    assert_eq!(world.state_hash(), before);
}

/// Contract: a soft box that sleeps wakes when it is struck, at any speed and from any distance, and takes its part of the momentum.
#[test]
fn a_blow_wakes_a_soft_box_at_any_speed() {
    for base in [Settings::default(), Settings::projection()] {
        for number in 0u8..120 {
            let speed = 1.0 + 0.1 * f32::from(number);
            let mut world = world(Settings { gravity: Vec2::ZERO, ..base });
            let soft = Assembly::soft_box(Vec2::ZERO, Vec2::splat(1.0), 0.08, 1.0, 0.0);
            let corners = world.add_assembly(&soft).unwrap();
            until_asleep(&mut world, 60);
            let velocity = Vec2::new(speed, 0.0);
            let ball = BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(-2.0, 0.0));
            let ball = add(&mut world, BodyDesc { velocity, ..ball });
            steps(&mut world, (1.8 / speed * 60.0) as u32 + 10);
            let bodies = corners.iter().chain([&ball]);
            let momentum: f32 =
                bodies.map(|&body| world.mass(body).unwrap() * world.body(body).unwrap().velocity.x).sum();
            let kept = momentum / (speed * world.mass(ball).unwrap());
            let case = format!("{:?}, {speed} m/s", base.solver);
            assert!(is_awake(&world, corners[0]), "{case}: it sleeps on");
            assert!((kept - 1.0).abs() < 0.01, "{case}: {kept} of the momentum");
        }
    }
}
