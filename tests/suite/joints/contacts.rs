//! Joints that keep bodies apart, or let them touch.

use super::*;
use granule::Part;

/// A body under test, by a number: those whose pairs the list can take in on their own, and those for which it is made anew.
fn shape(world: &mut World, which: usize, desc: BodyDesc) -> BodyHandle {
    let shape = match which {
        0 => Shape::circle(0.5),
        1 => Shape::oriented_box(0.5, 0.5),
        2 => Shape::aabb(0.5, 0.5),
        3 => Shape::particle(0.5),
        4 => Shape::capsule(0.4, 0.5),
        // So large that it is in no band.
        5 => Shape::oriented_box(9.0, 0.5),
        _ => Shape::circle(0.5),
    };
    let body = add(world, BodyDesc { shape, fixed_rotation: true, ..desc });
    if which == 6 {
        world.add_part(body, &Part::new(Shape::circle(0.5), Vec2::new(1.0, 0.0))).unwrap();
    }
    body
}

const SHAPES: usize = 7;

/// A world in which a body lies on a static one, with some bodies of no interest: the floor and the body that lies on it.
fn resting(settings: Settings, lower: usize, upper: usize) -> (World, [BodyHandle; 2]) {
    let mut world = world(settings);
    for i in 0..30 {
        let place = Vec2::new(20.0 + 2.0 * i as f32, 0.0);
        add(&mut world, BodyDesc { gravity_scale: 0.0, ..BodyDesc::dynamic(Shape::circle(0.5), place) });
    }
    let floor = if lower == SHAPES {
        add(&mut world, BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.5), Vec2::ZERO))
    } else {
        shape(&mut world, lower, BodyDesc::fixed(Shape::circle(0.5), Vec2::ZERO))
    };
    let body = shape(&mut world, upper, BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 1.0)));
    (world, [floor, body])
}

/// Takes a step. Returns whether the two begin, end, and have contacts.
fn step(world: &mut World, pair: [BodyHandle; 2]) -> [bool; 3] {
    world.step();
    world.validate().unwrap();
    let is = |a: BodyHandle, b: BodyHandle| (a, b) == (pair[0], pair[1]) || (b, a) == (pair[0], pair[1]);
    [
        world.begin_events().iter().any(|event| is(event.a, event.b)),
        world.end_events().iter().any(|event| is(event.a, event.b)),
        world.contacts().any(|contact| is(contact.a, contact.b)),
    ]
}

const BEGINS: [bool; 3] = [true, false, true];
const ENDS: [bool; 3] = [false, true, false];
const APART: [bool; 3] = [false; 3];
const TOUCHES: [bool; 3] = [false, false, true];

/// A joint that holds nothing of two bodies, but keeps them apart.
fn loose(a: BodyHandle, b: BodyHandle) -> JointDesc {
    JointDesc::distance(a, b, Vec2::ZERO, Vec2::ZERO, 1.0).with_limit(0.0, 100.0)
}

/// Contract: a filter, or another joint without `collide_connected`, ends the contact of two bodies that touch, in the next step. When the
/// last such joint is removed, the contact begins again.
#[test]
fn joints_part_bodies_that_touch() {
    on_both_sets(|settings| {
        for (lower, upper) in (0..=SHAPES).flat_map(|lower| (0..SHAPES).map(move |upper| (lower, upper))) {
            let (mut world, pair) = resting(settings, lower, upper);
            let what = format!("{lower} under {upper}");
            assert_eq!(step(&mut world, pair), BEGINS, "{what}");
            assert_eq!(step(&mut world, pair), TOUCHES, "{what}");
            let filter = join(&mut world, &JointDesc::filter(pair[0], pair[1]));
            assert_eq!(step(&mut world, pair), ENDS, "{what}: a filter is added");
            let second = join(&mut world, &loose(pair[1], pair[0]));
            assert_eq!(step(&mut world, pair), APART, "{what}");
            world.remove_joint(filter).unwrap();
            assert_eq!(step(&mut world, pair), APART, "{what}: another joint keeps them apart");
            world.remove_joint(second).unwrap();
            assert_eq!(step(&mut world, pair), BEGINS, "{what}: the last joint is removed");
            assert_eq!(step(&mut world, pair), TOUCHES, "{what}");
        }
    });
}

/// Contract: `collide_connected` lets the bodies touch. It can be changed while they do. A joint that is not enabled keeps them apart.
#[test]
fn connected_bodies_touch_if_they_may() {
    on_both_sets(|settings| {
        for (lower, upper) in (0..=SHAPES).map(|lower| (lower, lower % SHAPES)) {
            let (mut world, pair) = resting(settings, lower, upper);
            let what = format!("{lower} under {upper}");
            let joint = JointDesc { collide_connected: true, ..loose(pair[0], pair[1]) };
            let handle = join(&mut world, &joint);
            assert_eq!(step(&mut world, pair), BEGINS, "{what}");
            world.set_joint(handle, &JointDesc { collide_connected: false, ..joint }).unwrap();
            assert_eq!(step(&mut world, pair), ENDS, "{what}");
            world.enable_joint(handle, false).unwrap();
            assert_eq!(step(&mut world, pair), APART, "{what}: not enabled");
            world.set_joint(handle, &joint).unwrap();
            assert_eq!(step(&mut world, pair), BEGINS, "{what}");
            world.remove_joint(handle).unwrap();
            assert_eq!(step(&mut world, pair), TOUCHES, "{what}");
        }
    });
}

/// Contract: when a joint breaks, the bodies that it kept apart touch in the next step, without an edit by the host.
#[test]
fn bodies_touch_when_their_joint_breaks() {
    on_both_sets(|settings| {
        for (lower, upper) in (0..=SHAPES).flat_map(|lower| (0..SHAPES).map(move |upper| (lower, upper))) {
            let (mut world, pair) = resting(settings, lower, upper);
            let what = format!("{lower} under {upper}");
            assert_eq!(step(&mut world, pair), BEGINS, "{what}");
            let rod = JointDesc::distance(pair[0], pair[1], Vec2::ZERO, Vec2::ZERO, 0.999);
            join(&mut world, &JointDesc { break_force: 1.0e-6, ..rod });
            assert_eq!(step(&mut world, pair), ENDS, "{what}");
            assert_eq!(world.joint_events().len(), 1, "{what}");
            assert_eq!(step(&mut world, pair), BEGINS, "{what}: the joint has broken");
        }
    });
}
