//! Contract: the bodies whose pose a step changed are told, each with its pose, and no others; joints that bear their threshold are told in
//! each step.

use super::super::common::world;
use granule::{BodyDesc, BodyHandle, BodyState, JointDesc, MoveEvent, Settings, Shape, Vec2, World, scene};
use std::collections::BTreeMap;

/// The bodies of which position, angle or turns are others than before, with what they are now.
fn moved(world: &World, before: &BTreeMap<BodyHandle, BodyState>) -> BTreeMap<BodyHandle, MoveEvent> {
    let event = |(&body, old): (&BodyHandle, &BodyState)| {
        let BodyState { position, angle, turns, .. } = world.body(body).ok()?;
        let same = (position, angle, turns) == (old.position, old.angle, old.turns);
        (!same).then_some((body, MoveEvent { body, position, angle, turns }))
    };
    before.iter().filter_map(event).collect()
}

fn states(world: &World) -> BTreeMap<BodyHandle, BodyState> {
    world.handles().map(|body| (body, world.body(body).unwrap())).collect()
}

/// Moves are those that a comparison of all poses finds, while bodies come to rest, sleep, wake, and are edited; asked for as a whole
/// or body by body.
#[test]
fn moves_are_those_of_a_comparison() {
    for name in ["pile", "junkyard", "ragdolls", "cars"] {
        let scene = scene::builtin(name, 300, 1).unwrap();
        let mut world = scene.build().unwrap();
        let mut told = 0;
        for step in 0..200 {
            let some: Vec<_> = world.handles().filter(|body| body.index() % 3 == step % 3).collect();
            let all = step % 4 < 2;
            world.set_move_events(all);
            for body in world.handles().collect::<Vec<_>>() {
                world.set_body_move_events(body, some.contains(&body)).unwrap();
            }
            if step % 50 == 49 {
                let last = world.handles().last().unwrap();
                world.remove_body(last).unwrap();
                let _ = world.set_position(some[0], Vec2::new(0.0, 40.0));
            }
            let before = states(&world);
            world.step();
            let mut expected = moved(&world, &before);
            if !all {
                expected.retain(|body, _| some.contains(body));
            }
            let events: BTreeMap<_, _> =
                world.move_events().iter().map(|event| (event.body, *event)).collect();
            assert_eq!(events.len(), world.move_events().len(), "a body is told twice");
            assert_eq!(events, expected, "{name}, step {step}");
            told += events.len();
        }
        assert!(told > 0);
    }
}

/// A joint that holds m kg bears m·g, and is told in each step, if that is its threshold or more.
#[test]
fn a_joint_is_told_from_its_threshold_on() {
    let mut world = world(Settings { sleep: false, ..Settings::default() });
    let mut joints = Vec::new();
    for (x, mass) in [(0.0, 1.0), (3.0, 2.0), (6.0, 4.0)] {
        let post = world.add_body(&BodyDesc::fixed(Shape::circle(0.1), Vec2::new(x, 0.0))).unwrap();
        let load = BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(x, -1.0));
        let load = world.add_body(&BodyDesc { mass: Some(mass), ..load }).unwrap();
        let joint = JointDesc::revolute(post, load, Vec2::ZERO, Vec2::Y);
        joints.push(world.add_joint(&JointDesc { tag: x as u64, ..joint }).unwrap());
    }
    for _ in 0..120 {
        world.step();
        assert!(world.joint_force_events().is_empty(), "nobody asked");
    }
    let told = |world: &mut World| {
        world.step();
        world.joint_force_events().iter().map(|event| event.joint).collect::<Vec<_>>()
    };
    world.set_joint_force_events(Some(15.0)).unwrap();
    assert_eq!(told(&mut world), joints[1..]);
    let event = world.joint_force_events()[1];
    assert!((event.force - 40.0).abs() < 0.5 && event.torque < 0.1 && event.tag == 6, "{event:?}");
    world.set_joint_force_threshold(joints[0], Some(5.0)).unwrap();
    world.set_joint_force_threshold(joints[2], Some(60.0)).unwrap();
    assert_eq!(told(&mut world), joints[..2]);
    world.set_joint_force_events(None).unwrap();
    assert_eq!(told(&mut world), joints[..1]);
    world.remove_joint(joints[0]).unwrap();
    assert!(told(&mut world).is_empty());
    assert!(world.set_joint_force_threshold(joints[0], None).is_err());
    assert!(world.set_joint_force_events(Some(-1.0)).is_err());
}
