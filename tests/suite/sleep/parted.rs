//! Contract: a contact that a call of the host has ended is reported as ended by the next step, also if a body of it falls asleep before.

use super::*;
use granule::{Assembly, ContactEvent, JointDesc};

/// A ball that rests on a plate, after the step in which they began to touch.
fn ball_on_plate() -> (World, BodyHandle, BodyHandle) {
    let mut world = world(Settings::default());
    let plate = add(&mut world, BodyDesc::fixed(Shape::oriented_box(1.0, 0.5), Vec2::new(0.0, -0.5)));
    let ball = add(&mut world, BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.499)));
    world.step();
    assert_eq!(world.begin_events().len(), 1);
    (world, plate, ball)
}

#[track_caller]
fn ends(name: &str, edit: impl FnOnce(&mut World, BodyHandle, BodyHandle)) {
    let (mut world, plate, ball) = ball_on_plate();
    edit(&mut world, plate, ball);
    world.sleep_body(ball).unwrap();
    assert!(!is_awake(&world, ball), "{name}");
    world.validate().unwrap();
    world.step();
    let pair = |event: &ContactEvent| [event.a, event.b];
    let ended: Vec<_> = world.end_events().iter().map(pair).collect();
    assert_eq!(ended, [[plate, ball]], "{name}");
    world.wake_body(ball).unwrap();
    steps(&mut world, 3);
    world.validate().unwrap();
    assert!(world.end_events().is_empty(), "{name}");
}

/// The other body is removed, or switched off, or a joint keeps the two apart.
#[test]
fn sleep_hides_no_end() {
    ends("a removal", |world, plate, _| world.remove_body(plate).unwrap());
    ends("a removal and a new body", |world, plate, _| {
        world.remove_body(plate).unwrap();
        add(world, BodyDesc::fixed(Shape::circle(0.5), Vec2::new(9.0, 0.0)));
    });
    ends("a body that is not enabled", |world, plate, _| world.set_enabled(plate, false).unwrap());
    ends("a joint", |world, plate, ball| {
        let joint = JointDesc::revolute(plate, ball, Vec2::new(0.0, 1.0), Vec2::ZERO);
        world.add_joint(&joint).unwrap();
    });
}

/// A contact that goes on does not end with sleep.
#[test]
fn sleep_ends_nothing() {
    let (mut world, _, ball) = ball_on_plate();
    world.sleep_body(ball).unwrap();
    world.step();
    assert!(world.end_events().is_empty());
    world.wake_body(ball).unwrap();
    world.step();
    assert!(world.end_events().is_empty() && world.begin_events().is_empty());
}

/// A body that sleeps beside a fixed one, and does not touch it, has no contact point with it: the fixed one may go without waking it.
#[test]
fn nothing_is_kept_of_what_did_not_touch() {
    let (mut world, plate, ball) = ball_on_plate();
    let beside = BodyDesc::kinematic(Shape::circle(0.5), Vec2::new(1.008, 0.5));
    let beside = add(&mut world, beside);
    world.step();
    assert_eq!(world.contacts_of(beside).unwrap().count(), 1, "near while both are awake");
    world.sleep_body(ball).unwrap();
    world.set_position(beside, Vec2::new(9.0, 0.5)).unwrap();
    world.step();
    assert!(!is_awake(&world, ball));
    assert_eq!(world.contacts_of(beside).unwrap().count(), 0);
    let kept: Vec<_> = world.contacts_of(ball).unwrap().map(|contact| [contact.a, contact.b]).collect();
    assert!(kept.len() == 1 && kept[0].contains(&plate) && kept[0].contains(&ball), "{kept:?}");
}

/// A body that falls asleep beside a soft box that sleeps, and does not touch it, has no contact point with it, seen from neither of the two.
#[test]
fn nothing_is_kept_of_a_hull_that_was_not_touched() {
    let mut world = world(Settings { gravity: Vec2::ZERO, ..Settings::default() });
    let soft = Assembly::soft_box(Vec2::ZERO, Vec2::splat(1.0), 0.1, 1.0, 0.0);
    let corners = world.add_assembly(&soft).unwrap();
    world.step();
    world.sleep_body(corners[0]).unwrap();
    let ball = add(&mut world, BodyDesc::dynamic(Shape::circle(0.4), Vec2::new(0.915, 0.0)));
    world.step();
    assert!(!is_awake(&world, corners[0]));
    assert_eq!(world.contacts().count(), 1, "near while the ball is awake");
    world.sleep_body(ball).unwrap();
    for _ in 0..2 {
        let of = |body: BodyHandle| world.contacts_of(body).unwrap().count();
        let counts = (world.contacts().count(), of(ball), corners.iter().map(|&corner| of(corner)).sum());
        assert_eq!(counts, (0, 0, 0usize));
        world.step();
    }
}

/// Bodies that are woken by hand and put to sleep again before a step sleep as they did: as one island, with their contacts, and on the same
/// support.
#[test]
fn waking_for_no_step_changes_nothing() {
    let (mut world, plate, ball) = ball_on_plate();
    let on_top = add(&mut world, BodyDesc::dynamic(Shape::circle(0.4), Vec2::new(0.0, 1.398)));
    world.step();
    let soft = Assembly::soft_box(Vec2::new(0.0, 5.49), Vec2::splat(0.9), 0.05, 1.0, 0.0);
    let shelf = add(&mut world, BodyDesc::fixed(Shape::oriented_box(2.0, 0.5), Vec2::new(0.0, 4.5)));
    let corners = world.add_assembly(&soft).unwrap();
    steps(&mut world, 60);
    for body in [ball, corners[0]] {
        world.sleep_body(body).unwrap();
        let (asleep, contacts) = (world.asleep_count(), world.contacts().count());
        world.wake_body(body).unwrap();
        assert!(is_awake(&world, body));
        world.sleep_body(body).unwrap();
        world.validate().unwrap();
        assert_eq!((world.asleep_count(), world.contacts().count()), (asleep, contacts));
    }
    assert!(!is_awake(&world, on_top));
    world.step();
    assert!(world.end_events().is_empty() && world.begin_events().is_empty());
    for (support, body) in [(plate, ball), (shelf, corners[0])] {
        world.remove_body(support).unwrap();
        assert!(is_awake(&world, body));
        world.step();
        let of_support = |event: &&ContactEvent| [event.a, event.b].contains(&support);
        assert!(world.end_events().iter().filter(of_support).count() > 0);
        steps(&mut world, 3);
        world.validate().unwrap();
    }
}

/// A soft box that rests on a plate loses the plate, or its hull.
#[test]
fn sleep_hides_no_end_of_a_hull() {
    for remove_hull in [false, true] {
        let mut world = world(Settings::default());
        let plate = add(&mut world, BodyDesc::fixed(Shape::oriented_box(2.0, 0.5), Vec2::new(0.0, -0.5)));
        let soft = Assembly::soft_box(Vec2::new(0.0, 0.49), Vec2::splat(0.9), 0.05, 1.0, 0.0);
        let corners = world.add_assembly(&soft).unwrap();
        let on_plate =
            |events: &[ContactEvent]| events.iter().any(|event| [event.a, event.b].contains(&plate));
        let touches = (0..200).any(|_| {
            world.step();
            on_plate(world.begin_events())
        });
        assert!(touches);
        let hull = world.hulls().next().unwrap().0;
        if remove_hull {
            world.remove_hull(hull).unwrap();
        } else {
            world.remove_body(plate).unwrap();
        }
        world.sleep_body(corners[0]).unwrap();
        world.validate().unwrap();
        world.step();
        assert!(remove_hull || on_plate(world.end_events()));
        assert_eq!(world.contacts().count(), 0, "the hull is gone: {remove_hull}");
        let mut snapshot = Vec::new();
        world.save(&mut snapshot);
        world.restore(&snapshot).unwrap();
        world.wake_body(corners[0]).unwrap();
        steps(&mut world, 3);
        world.validate().unwrap();
    }
}

/// Contract: a world with a sleeping hull takes its own snapshot, and goes on from it, after bodies elsewhere were removed and those that
/// are left were renumbered.
#[test]
fn sleeping_hulls_outlive_a_renumbering() {
    for x in [-30.0, 30.0] {
        let mut world = world(Settings::default());
        let far = |i: usize| BodyDesc::fixed(Shape::circle(0.5), Vec2::new(x, 2.0 * i as f32));
        let others: Vec<_> = (0..12).map(|i| add(&mut world, far(i))).collect();
        add(&mut world, BodyDesc::fixed(Shape::oriented_box(2.0, 0.5), Vec2::new(0.0, -0.5)));
        let soft = Assembly::soft_box(Vec2::new(0.0, 0.49), Vec2::splat(0.9), 0.05, 1.0, 0.0);
        let corners = world.add_assembly(&soft).unwrap();
        steps(&mut world, 60);
        world.sleep_body(corners[0]).unwrap();
        steps(&mut world, 2);
        world.remove_bodies(&others).unwrap();
        steps(&mut world, 2);
        assert!(!is_awake(&world, corners[0]) && world.contacts().count() > 0);
        let mut snapshot = Vec::new();
        world.save(&mut snapshot);
        let mut other = World::from_snapshot(&snapshot).unwrap();
        for world in [&mut world, &mut other] {
            world.wake_body(corners[0]).unwrap();
            world.validate().unwrap();
            steps(world, 3);
        }
        assert_eq!(world.state_hash(), other.state_hash());
    }
}
