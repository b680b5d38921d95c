//! What wakes a sleeping body.

use super::*;
use granule::{Filter, JointDesc, LinkDesc, Part};

/// A stack that sleeps, and a lonely box that sleeps and should not wake with it.
struct Asleep {
    world: World,
    floor: BodyHandle,
    boxes: Vec<BodyHandle>,
    aside: BodyHandle,
}

fn asleep() -> Asleep {
    let (mut world, floor) = with_floor(Settings::default());
    let boxes = stack(&mut world, 0.0, 3);
    let aside = add(&mut world, crate_at(20.0, 0.0));
    until_asleep(&mut world, 200);
    Asleep { world, floor, boxes, aside }
}

/// Checks that an edit wakes the stack, and the stack only.
#[track_caller]
fn wakes(name: &str, edit: impl FnOnce(&mut World, BodyHandle, &[BodyHandle])) {
    let Asleep { mut world, floor, boxes, aside } = asleep();
    edit(&mut world, floor, &boxes);
    world.validate().unwrap();
    world.step();
    world.validate().unwrap();
    for &body in &boxes {
        assert!(!world.contains(body) || is_awake(&world, body), "{name} does not wake");
        assert!(!world.contains(body) || world.wake_events().contains(&body), "{name} is not reported");
    }
    assert!(!is_awake(&world, aside), "{name} wakes another island");
    steps(&mut world, 30);
    world.validate().unwrap();
}

/// Contract: each edit of a body wakes its island, and nothing else.
#[test]
fn edits_wake() {
    wakes("an impulse", |world, _, boxes| world.apply_impulse(boxes[0], Vec2::new(0.1, 0.0)).unwrap());
    wakes("an angular impulse", |world, _, boxes| world.apply_angular_impulse(boxes[1], 0.1).unwrap());
    wakes("a force", |world, _, boxes| world.apply_force(boxes[2], Vec2::X).unwrap());
    wakes("a force at a point", |world, _, boxes| {
        world.apply_force_at(boxes[2], Vec2::X, Vec2::new(0.0, 1.4)).unwrap();
    });
    wakes("a torque", |world, _, boxes| world.apply_torque(boxes[0], 0.5).unwrap());
    wakes("a velocity", |world, _, boxes| world.set_velocity(boxes[0], Vec2::Y).unwrap());
    wakes("an angular velocity", |world, _, boxes| world.set_angular_velocity(boxes[0], 1.0).unwrap());
    wakes("a place", |world, _, boxes| world.set_position(boxes[2], Vec2::new(0.0, 3.0)).unwrap());
    wakes("an angle", |world, _, boxes| world.set_angle(boxes[2], 0.3).unwrap());
    wakes("a filter", |world, _, boxes| {
        world.set_filter(boxes[0], Filter { mask: 0, ..Filter::default() }).unwrap();
    });
    wakes("gravity's scale", |world, _, boxes| world.set_gravity_scale(boxes[0], -1.0).unwrap());
    wakes("damping", |world, _, boxes| world.set_damping(boxes[0], 1.0, 1.0).unwrap());
    wakes("a part", |world, _, boxes| {
        world.add_part(boxes[0], &Part::new(Shape::circle(0.1), Vec2::new(0.3, 0.0))).unwrap();
    });
    wakes("a removal", |world, _, boxes| world.remove_body(boxes[0]).unwrap());
    wakes("a joint", |world, _, boxes| {
        let new = add(world, crate_at(3.0, 2.0));
        world.add_joint(&JointDesc::revolute(boxes[2], new, Vec2::ZERO, Vec2::new(-3.0, 0.0))).unwrap();
    });
    wakes("a link", |world, floor, boxes| {
        world.add_link(&LinkDesc::distance(boxes[2], floor, 1.0)).unwrap();
    });
    wakes("limits of sleep", |world, _, boxes| world.set_sleep_threshold(boxes[1], Some(0.1)).unwrap());
    wakes("a hand", |world, _, boxes| world.wake_body(boxes[1]).unwrap());
}

/// Contract: forces, impulses and velocities of zero, and queries, wake nothing.
#[test]
fn nothing_wakes_nothing() {
    let Asleep { mut world, boxes, .. } = asleep();
    for &body in &boxes {
        world.apply_force(body, Vec2::ZERO).unwrap();
        world.apply_torque(body, 0.0).unwrap();
        world.apply_impulse(body, Vec2::ZERO).unwrap();
        world.set_velocity(body, Vec2::ZERO).unwrap();
        world.set_angular_velocity(body, 0.0).unwrap();
        assert!(
            world.apply_impulse(body, Vec2::NAN).is_err() && world.set_velocity(body, Vec2::NAN).is_err()
        );
    }
    world.step();
    assert_eq!(world.awake_count(), 0);
}

/// Contract: gravity, the rules of mixing and sleep's own settings wake all; a time step wakes nobody.
#[test]
fn settings_wake_all() {
    for (name, wakes, settings) in [
        ("gravity", true, Settings { gravity: Vec2::X, ..Settings::default() }),
        ("sleep off", true, Settings { sleep: false, ..Settings::default() }),
        ("threshold", true, Settings { sleep_threshold: 0.01, ..Settings::default() }),
        ("time step", false, Settings { time_step: 0.01, ..Settings::default() }),
    ] {
        let Asleep { mut world, .. } = asleep();
        world.set_settings(settings).unwrap();
        world.step();
        assert_eq!(world.asleep_count() == 0, wakes, "{name}");
    }
}

/// Contract: what loses its support wakes and falls: a floor that is removed, put elsewhere, or set in motion.
#[test]
fn a_lost_support_wakes() {
    type Edit = fn(&mut World, BodyHandle);
    let edits: [(&str, Edit); 4] = [
        ("removal", |world, support| world.remove_body(support).unwrap()),
        ("move", |world, support| world.set_position(support, Vec2::new(30.0, 5.0)).unwrap()),
        ("filter", |world, support| {
            world.set_filter(support, Filter { mask: 0, ..Filter::default() }).unwrap();
        }),
        ("turn", |world, support| world.set_angle(support, 1.2).unwrap()),
    ];
    for (name, edit) in edits {
        let (mut world, _) = with_floor(Settings::default());
        let shelf = add(&mut world, BodyDesc::fixed(Shape::oriented_box(1.0, 0.1), Vec2::new(0.0, 5.0)));
        let body = add(&mut world, BodyDesc { material: rough(), ..crate_at(0.0, 5.1) });
        until_asleep(&mut world, 100);
        edit(&mut world, shelf);
        steps(&mut world, 30);
        assert!(world.body(body).unwrap().position.y < 5.2, "{name}: {:?}", world.body(body));
    }
    let (mut world, _) = with_floor(Settings::default());
    let lift = add(&mut world, BodyDesc::kinematic(Shape::oriented_box(1.0, 0.1), Vec2::new(0.0, 5.0)));
    let body = add(&mut world, crate_at(0.0, 5.1));
    until_asleep(&mut world, 100);
    world.set_velocity(lift, Vec2::Y).unwrap();
    steps(&mut world, 60);
    assert!((world.body(body).unwrap().position.y - 6.35).abs() < 0.02, "{:?}", world.body(body));
}

/// Contract: a blow on sleeping bodies acts in its own step as on bodies that are awake: it loses no momentum to them as to a wall.
#[test]
fn a_blow_wakes_in_its_own_step() {
    let elastic =
        Material { restitution: 1.0, static_friction: 0.0, dynamic_friction: 0.0, ..Material::default() };
    for shape in [Shape::circle(0.25), Shape::oriented_box(0.25, 0.25), Shape::aabb(0.25, 0.25)] {
        let run = |sleep: bool| {
            let mut world = world(Settings { gravity: Vec2::ZERO, sleep, ..Settings::default() });
            let desc = |x: f32| BodyDesc { material: elastic, ..BodyDesc::dynamic(shape, Vec2::new(x, 0.0)) };
            let struck = add(&mut world, desc(0.0));
            steps(&mut world, 60);
            assert_eq!(world.asleep_count(), usize::from(sleep));
            let ball = add(&mut world, BodyDesc { velocity: Vec2::new(20.0, 0.0), ..desc(-4.0) });
            steps(&mut world, 60);
            world.validate().unwrap();
            [struck, ball].map(|body| world.body(body).unwrap().velocity.x)
        };
        let (asleep, awake) = (run(true), run(false));
        assert!(
            asleep.iter().zip(&awake).all(|(a, b)| (a - b).abs() < 1.0e-4),
            "{shape:?}: {asleep:?}, {awake:?}"
        );
    }
}

/// Contract: bodies that nothing moves wake what they come to touch: a wall that is added or put there, and one that moves there.
#[test]
fn walls_that_come_wake() {
    let bodies = || {
        let mut world = world(Settings { gravity: Vec2::ZERO, ..Settings::default() });
        let ball = add(&mut world, BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO));
        let far = add(&mut world, BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 9.0)));
        until_asleep(&mut world, 100);
        (world, ball, far)
    };
    let wall = BodyDesc::fixed(Shape::oriented_box(0.5, 0.5), Vec2::new(0.9, 0.0));
    let (mut world, ball, far) = bodies();
    add(&mut world, wall);
    steps(&mut world, 10);
    assert!(world.body(ball).unwrap().position.x < -0.05 && !is_awake(&world, far));

    let (mut world, ball, far) = bodies();
    let wall = add(&mut world, BodyDesc { position: Vec2::new(5.0, 0.0), ..wall });
    steps(&mut world, 10);
    assert!(!is_awake(&world, ball));
    world.set_position(wall, Vec2::new(0.9, 0.0)).unwrap();
    steps(&mut world, 10);
    assert!(world.body(ball).unwrap().position.x < -0.05 && !is_awake(&world, far));

    for shape in [Shape::oriented_box(0.5, 2.0), Shape::circle(0.5), Shape::capsule(0.5, 0.5)] {
        let (mut world, ball, far) = bodies();
        let velocity = Vec2::new(-2.0, 0.0);
        add(&mut world, BodyDesc { velocity, ..BodyDesc::kinematic(shape, Vec2::new(3.0, 0.0)) });
        steps(&mut world, 90);
        assert!(world.body(ball).unwrap().velocity.x < -1.9, "{shape:?}: {:?}", world.body(ball));
        assert!(!is_awake(&world, far));
    }

    let (mut world, ball, _) = bodies();
    add(&mut world, BodyDesc::fixed(Shape::half_space(Vec2::X, -0.4), Vec2::ZERO));
    steps(&mut world, 10);
    assert!(world.body(ball).unwrap().position.x > 0.05);
}

/// Contract: a motor that gets another speed wakes its bodies; the same speed again does not, nor do other parameters that are as they were.
#[test]
fn motors_wake() {
    let mut world = world(Settings { gravity: Vec2::ZERO, ..Settings::default() });
    let post = add(&mut world, BodyDesc::fixed(Shape::circle(0.1), Vec2::ZERO));
    let wheel = add(&mut world, BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO));
    let mut desc = JointDesc::revolute(post, wheel, Vec2::ZERO, Vec2::ZERO);
    let granule::JointKind::Revolute(drive) = &mut desc.kind else { unreachable!() };
    drive.motor = Some(granule::JointMotor { speed: 0.0, max: 100.0 });
    let joint = world.add_joint(&desc).unwrap();
    until_asleep(&mut world, 100);
    world.set_motor_speed(joint, 0.0).unwrap();
    world.set_joint(joint, &desc).unwrap();
    world.enable_joint(joint, true).unwrap();
    assert!(!is_awake(&world, wheel));
    world.set_motor_speeds(&[2.0]).unwrap();
    steps(&mut world, 60);
    assert!((world.body(wheel).unwrap().angular_velocity - 2.0).abs() < 0.01);
}

/// Contract: a body can be put to sleep by hand, with its island.
#[test]
fn a_hand_puts_to_sleep() {
    let (mut world, _) = with_floor(Settings::default());
    let boxes = stack(&mut world, 0.0, 3);
    steps(&mut world, 2);
    world.sleep_body(boxes[1]).unwrap();
    assert!(boxes.iter().all(|&body| !is_awake(&world, body)));
    world.validate().unwrap();
    world.step();
    assert_eq!(world.sleep_events().len(), 3);
    world.sleep_body(boxes[1]).unwrap();
    world.set_settings(Settings { sleep: false, ..*world.settings() }).unwrap();
    assert!(world.sleep_body(boxes[1]).is_err());
}

/// Contract: the step in which an island wakes shows each of its contacts once, as all steps do.
#[test]
fn a_wake_shows_each_contact_once() {
    let (mut world, floor) = with_floor(Settings::default());
    let disc = |x: f32, y: f32| BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(x, y));
    let [resting, placed] = [0.0, 9.0].map(|x| add(&mut world, disc(x, 0.5)));
    until_asleep(&mut world, 200);
    add(&mut world, disc(0.0, 2.0));
    add(&mut world, BodyDesc::fixed(Shape::circle(0.5), Vec2::new(9.0, 1.45)));
    let mut woken = 0;
    for _ in 0..60 {
        world.step();
        woken += world.wake_events().len();
        for body in [resting, placed] {
            let on_floor = world.contacts_of(body).unwrap();
            assert_eq!(on_floor.filter(|contact| [contact.a, contact.b].contains(&floor)).count(), 1);
        }
        let mut pairs: Vec<_> = world.contacts().map(|contact| [contact.a, contact.b]).collect();
        let all = pairs.len();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), all);
    }
    assert_eq!(woken, 2);
}

/// What may touch no more, and is put to sleep again by hand before the next step, has no contact: an event tells of its end, once.
#[test]
fn what_is_parted_in_its_sleep_has_no_contact() {
    type Edit = fn(&mut World, BodyHandle);
    let edits: [Edit; 4] = [
        |world, floor| world.set_enabled(floor, false).unwrap(),
        |world, floor| world.set_filter(floor, Filter { mask: 0, ..Filter::default() }).unwrap(),
        |world, floor| world.remove_body(floor).unwrap(),
        |world, floor| world.set_sensor(floor, true).unwrap(),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        let mut world = World::new(Settings::default()).unwrap();
        let floor = BodyDesc::fixed(Shape::oriented_box(5.0, 0.5), Vec2::new(0.0, -0.5));
        let floor = world.add_body(&floor).unwrap();
        let body = add(&mut world, crate_at(0.0, 0.0));
        until_asleep(&mut world, 200);
        assert!(world.contacts().count() > 0);
        edit(&mut world, floor);
        world.sleep_body(body).unwrap();
        let mut ends = 0;
        for _ in 0..5 {
            world.step();
            world.validate().unwrap();
            ends += world.end_events().len();
        }
        assert_eq!((world.contacts().count(), ends), (0, 1), "edit {index}");
    }
}
