//! Contract: type, enabling, mass, locks, largest speeds and targets of bodies do what their documents say.

use super::{ball, block, ground, on_every_set, position, space, steps};
use granule::{BodyDesc, BodyType, Error, JointDesc, LinkDesc, Locks, Settings, Shape, Vec2, World};

/// A body that becomes static stands at once, and what was on it stays; one that becomes dynamic falls with the mass of its shape.
#[test]
fn types_change() {
    let mut world = ground();
    let low = world.add_body(&block(Vec2::new(0.0, 3.0))).unwrap();
    let high = world.add_body(&block(Vec2::new(0.0, 4.0))).unwrap();
    world.set_body_type(low, BodyType::Static).unwrap();
    steps(&mut world, 60);
    assert_eq!(position(&world, low), Vec2::new(0.0, 3.0));
    assert!((position(&world, high).y - 4.0).abs() < 0.01);
    assert!(world.mass(low).unwrap().is_infinite());
    assert_eq!((world.body_count(), world.static_count()), (1, 2));
    world.set_body_type(low, BodyType::Dynamic).unwrap();
    assert_eq!(world.mass(low), Ok(1.0));
    steps(&mut world, 120);
    assert!((position(&world, low).y - 0.5).abs() < 0.02 && (position(&world, high).y - 1.5).abs() < 0.02);
    world.set_body_type(low, BodyType::Kinematic).unwrap();
    world.set_velocity(low, Vec2::new(0.0, 1.0)).unwrap();
    steps(&mut world, 60);
    assert!((position(&world, low).y - 1.5).abs() < 0.02 && (position(&world, high).y - 2.5).abs() < 0.02);
}

/// A body that had a mass by hand has it again when it is dynamic again, and a segment without mass gets none.
#[test]
fn types_keep_what_was_given() {
    let mut world = space();
    let given = BodyDesc { mass: Some(7.0), fixed_rotation: true, ..block(Vec2::ZERO) };
    let body = world.add_body(&BodyDesc { body_type: BodyType::Static, ..given }).unwrap();
    world.set_body_type(body, BodyType::Dynamic).unwrap();
    assert!((world.mass(body).unwrap() - 7.0).abs() < 1e-5);
    assert!(world.inertia(body).unwrap().is_infinite());
    let fresh = world.add_body(&given).unwrap();
    assert_eq!(world.mass(fresh), world.mass(body));
    let line = world.add_body(&BodyDesc::fixed(Shape::segment(1.0), Vec2::new(9.0, 0.0))).unwrap();
    world.set_body_type(line, BodyType::Dynamic).unwrap();
    assert!(world.mass(line).unwrap().is_infinite());
    world.add_part(line, &granule::Part::new(Shape::circle(0.5), Vec2::ZERO)).unwrap();
    assert!((world.mass(line).unwrap() - 0.25 * std::f32::consts::PI).abs() < 1e-5);
    steps(&mut world, 3);
}

/// A half-space stays static, and a refusal names the field.
#[test]
fn types_are_refused() {
    let mut world = ground();
    let floor = world.handles().next().unwrap();
    let refused = world.set_body_type(floor, BodyType::Kinematic);
    assert!(matches!(refused, Err(Error::Invalid { field: "type", .. })), "{refused:?}");
    let gone = world.add_body(&ball(Vec2::ZERO)).unwrap();
    world.remove_body(gone).unwrap();
    let new = world.add_body(&ball(Vec2::Y)).unwrap();
    assert!(world.set_body_type(gone, BodyType::Static).is_err() && world.set_enabled(gone, false).is_err());
    assert!(world.set_mass(gone, None).is_err() && world.set_tag(gone, 1).is_err());
    assert_eq!((new.index(), world.body_type(new)), (gone.index(), Ok(BodyType::Dynamic)));
}

/// A body that is not enabled moves nothing, is touched by nothing and found by nothing. It goes on as it was.
#[test]
fn disabled_bodies_are_nowhere() {
    let mut world = space();
    let body =
        world.add_body(&BodyDesc { velocity: Vec2::X, angular_velocity: 2.0, ..ball(Vec2::ZERO) }).unwrap();
    let other = world.add_body(&BodyDesc { velocity: -Vec2::X, ..ball(Vec2::new(2.0, 0.0)) }).unwrap();
    let joint = world
        .add_joint(&JointDesc::revolute(body, other, Vec2::new(1.0, 0.0), Vec2::new(-1.0, 0.0)))
        .unwrap();
    let link = world.add_link(&LinkDesc::distance(body, other, 2.0)).unwrap();
    world.set_enabled(body, false).unwrap();
    let before = world.body(body).unwrap();
    steps(&mut world, 120);
    assert_eq!(world.body(body), Ok(before));
    assert_eq!((before.velocity, before.angular_velocity), (Vec2::X, 2.0));
    assert!((position(&world, other).x - 0.0).abs() < 1e-4, "it flies through");
    let mut found = Vec::new();
    world.query_point(Vec2::new(0.4, 0.0), |body| {
        found.push(body);
        true
    });
    assert_eq!(found, [other]);
    assert!(world.apply_force(body, Vec2::X).is_err() && world.apply_impulse(body, Vec2::X).is_err());
    assert!(world.joint(joint).is_ok() && world.link(link).is_ok());
    world.set_velocity(body, Vec2::Y).unwrap();
    world.set_position(body, Vec2::new(0.0, 2.0)).unwrap();
    world.set_velocity(other, Vec2::ZERO).unwrap();
    world.set_enabled(body, true).unwrap();
    let state = world.body(body).unwrap();
    assert_eq!((state.position, state.velocity, state.angular_velocity), (Vec2::new(0.0, 2.0), Vec2::Y, 2.0));
    steps(&mut world, 1);
    assert!(world.body(other).unwrap().velocity.length() > 0.1, "joint and link pull again");
}

/// What rests on a body falls when the body is disabled, also when both sleep; events end, and begin again.
#[test]
fn disabling_wakes_what_rests_on_it() {
    let mut world = ground();
    let low = world.add_body(&block(Vec2::new(0.0, 0.5))).unwrap();
    let high = world.add_body(&block(Vec2::new(0.0, 1.5))).unwrap();
    while world.asleep_count() < 2 {
        world.step();
        assert!(world.step_count() < 1_000);
    }
    world.set_enabled(low, false).unwrap();
    steps(&mut world, 1);
    assert_eq!(world.end_events().len(), 2);
    steps(&mut world, 119);
    assert!((position(&world, high).y - 0.5).abs() < 0.02, "{}", position(&world, high));
    world.set_position(low, Vec2::new(3.0, 0.5)).unwrap();
    world.set_enabled(low, true).unwrap();
    steps(&mut world, 2);
    assert_eq!(world.contacts().filter(|contact| contact.a == low || contact.b == low).count(), 2);
}

/// A body added as not enabled is not there until it is.
#[test]
fn bodies_begin_disabled() {
    let mut world = ground();
    let body = world.add_body(&BodyDesc { enabled: false, ..ball(Vec2::new(0.0, 4.0)) }).unwrap();
    steps(&mut world, 30);
    assert_eq!(position(&world, body).y, 4.0);
    world.set_enabled(body, true).unwrap();
    steps(&mut world, 200);
    assert!((position(&world, body).y - 0.5).abs() < 0.02);
}

/// After an impulse p at an arm r, v = p/m and ω = r × p / I, for masses, inertias and centres by hand.
#[test]
fn masses_by_hand() {
    let mut world = space();
    for desc in [ball(Vec2::ZERO), block(Vec2::ZERO)] {
        let body = world.add_body(&desc).unwrap();
        let natural = (world.mass(body).unwrap(), world.inertia(body).unwrap());
        world.set_mass(body, Some(4.0)).unwrap();
        assert_eq!(world.mass(body), Ok(4.0));
        assert!((world.inertia(body).unwrap() - natural.1 * 4.0 / natural.0).abs() < 1e-5);
        world.set_inertia(body, Some(0.25)).unwrap();
        world.apply_impulse_at(body, Vec2::new(0.0, 2.0), Vec2::new(0.5, 0.0)).unwrap();
        let state = world.body(body).unwrap();
        assert_eq!((state.velocity.y, state.angular_velocity), (0.5, 4.0));
        world.set_mass(body, None).unwrap();
        world.set_inertia(body, None).unwrap();
        assert_eq!((world.mass(body).unwrap(), world.inertia(body).unwrap()), natural);
        world.remove_body(body).unwrap();
    }
}

/// A described inertia is that of the body, and a head-on impact off the centre turns bodies by it: J·r/I.
#[test]
fn described_inertia_acts_in_contacts() {
    for (inertia, shape) in
        [(0.02, Shape::circle(0.5)), (2.0, Shape::circle(0.5)), (0.5, Shape::oriented_box(0.5, 0.5))]
    {
        let mut world = space();
        let material = granule::Material::new(1.0, 0.0, 0.0);
        let hit = BodyDesc {
            inertia: Some(inertia),
            mass: Some(2.0),
            material,
            ..BodyDesc::dynamic(shape, Vec2::ZERO)
        };
        let body = world.add_body(&hit).unwrap();
        assert!((world.inertia(body).unwrap() - inertia).abs() < 1e-6);
        let rough = granule::Material { static_friction: 1e3, dynamic_friction: 1e3, ..material };
        // A ball brushes along the top of the body and turns it by friction: L changes by the torque alone.
        let passer = BodyDesc {
            velocity: Vec2::new(4.0, -2.0),
            material: rough,
            fixed_rotation: true,
            ..ball(Vec2::new(-0.6, 1.3))
        };
        world.set_material(body, &rough).unwrap();
        let mass = world.mass(body).unwrap();
        assert!((mass - 2.0).abs() < 1e-5);
        world.add_body(&passer).unwrap();
        let mut spun = false;
        for _ in 0..40 {
            let before = world.body(body).unwrap();
            steps(&mut world, 1);
            let after = world.body(body).unwrap();
            let Some(contact) = world.contacts().next() else { continue };
            // What the body got in the step, at the contact's point: Δω = r × mΔv / I.
            let (impulse, arm) = (mass * (after.velocity - before.velocity), contact.point - before.position);
            let turned = after.angular_velocity - before.angular_velocity;
            let wanted = arm.perp_dot(impulse) / inertia;
            assert!((turned - wanted).abs() < 0.1 * wanted.abs() + 0.02, "{turned}, {wanted}");
            spun |= turned.abs() > 0.1;
        }
        assert!(spun, "nothing turned the body");
    }
}

/// A centre by hand: the shape stays where it is, the body turns about the new centre, and a pendulum about the old one has the period of its formula.
#[test]
fn centres_by_hand() {
    let mut world = space();
    let body = world.add_body(&BodyDesc { angle: 0.5, ..block(Vec2::new(3.0, 1.0)) }).unwrap();
    world.set_centre(body, Some(Vec2::new(0.25, 0.0))).unwrap();
    let centre = position(&world, body);
    assert!((centre - (Vec2::new(3.0, 1.0) + 0.25 * Vec2::from_angle(0.5))).length() < 1e-6);
    let part = world.parts(body).unwrap()[0];
    assert_eq!((part.position, world.parts(body).unwrap().len()), (Vec2::new(-0.25, 0.0), 1));
    // By the parallel axis theorem.
    assert!((world.inertia(body).unwrap() - (1.0 / 6.0 + 0.0625)).abs() < 1e-5);
    world.set_angular_velocity(body, 3.0).unwrap();
    steps(&mut world, 120);
    assert!((position(&world, body) - centre).length() < 1e-5);
    world.set_centre(body, None).unwrap();
    assert!((world.inertia(body).unwrap() - 1.0 / 6.0).abs() < 1e-5);
    let round = world.add_body(&BodyDesc::dynamic(Shape::aabb(1.0, 1.0), Vec2::ZERO)).unwrap();
    assert!(world.set_centre(round, Some(Vec2::X)).is_err() && world.set_inertia(round, Some(1.0)).is_err());
}

/// A locked axis keeps its coordinate to the bit, under gravity, contacts, joints and links; the other axis is free.
#[test]
fn locks_hold_to_the_bit() {
    let mut world = ground();
    let bead = world.add_body(&BodyDesc { lock_x: true, ..ball(Vec2::new(0.3, 5.0)) }).unwrap();
    let rail =
        world.add_body(&BodyDesc { lock_y: true, velocity: Vec2::X, ..block(Vec2::new(8.0, 5.0)) }).unwrap();
    let pin = world.add_body(&BodyDesc { lock_x: true, lock_y: true, ..block(Vec2::new(0.9, 2.2)) }).unwrap();
    for i in 0..20 {
        let at = Vec2::new(-1.0 + 0.5 * (i % 5) as f32, 7.0 + i as f32);
        world.add_body(&block(at)).unwrap();
    }
    let weight = world.add_body(&ball(Vec2::new(9.5, 3.0))).unwrap();
    world.add_joint(&JointDesc::distance(rail, weight, Vec2::ZERO, Vec2::ZERO, 2.5)).unwrap();
    let tail = world.add_body(&BodyDesc::particle(Vec2::new(1.5, 3.0), 2.0)).unwrap();
    world.add_link(&LinkDesc::distance(tail, pin, 1.0)).unwrap();
    for _ in 0..300 {
        world.step();
        world.validate().unwrap();
        let [bead, rail, pin] = [bead, rail, pin].map(|body| world.body(body).unwrap());
        assert_eq!((bead.position.x, bead.velocity.x), (0.3, 0.0));
        assert_eq!((rail.position.y, rail.velocity.y), (5.0, 0.0));
        assert_eq!((pin.position, pin.velocity), (Vec2::new(0.9, 2.2), Vec2::ZERO));
    }
    assert!(position(&world, rail).x > 8.2, "{}", position(&world, rail));
    let turned = Locks { x: true, y: true, rotation: true };
    world.set_locks(pin, turned).unwrap();
    assert_eq!(world.locks(pin), Ok(turned));
    let before = world.body(pin).unwrap();
    steps(&mut world, 30);
    assert_eq!(world.body(pin).unwrap().angle, before.angle);
    world.set_locks(pin, Locks::default()).unwrap();
    steps(&mut world, 30);
    assert!(world.body(pin).unwrap().position.y < 2.2);
}

/// A pile that rests on a body that is locked along y bears as on a static one.
#[test]
fn a_locked_body_bears_a_load() {
    let mut world = ground();
    let shelf = world
        .add_body(&BodyDesc {
            lock_x: true,
            lock_y: true,
            fixed_rotation: true,
            ..block(Vec2::new(0.0, 5.0))
        })
        .unwrap();
    let mut boxes = Vec::new();
    for i in 0..5 {
        boxes.push(world.add_body(&block(Vec2::new(0.0, 6.0 + i as f32))).unwrap());
    }
    steps(&mut world, 300);
    assert_eq!(position(&world, shelf), Vec2::new(0.0, 5.0));
    for (i, &body) in boxes.iter().enumerate() {
        let sunk = 6.0 + i as f32 - position(&world, body).y;
        assert!((-0.01..0.06).contains(&sunk), "box {i} has sunk by {sunk}");
    }
}

/// No body is faster than its largest speeds, whatever pushes it; gravity still turns its way.
#[test]
fn largest_speeds() {
    let mut world = World::new(Settings::default()).unwrap();
    let slow = BodyDesc { max_speed: Some(3.0), max_angular_speed: Some(2.0), ..block(Vec2::ZERO) };
    let falling = world.add_body(&slow).unwrap();
    let thrown = world.add_body(&BodyDesc { velocity: Vec2::new(3.0, 0.0), ..slow }).unwrap();
    world.set_position(thrown, Vec2::new(50.0, 0.0)).unwrap();
    world.apply_angular_impulse(falling, 10.0).unwrap();
    for _ in 0..120 {
        let before = [falling, thrown].map(|body| position(&world, body));
        world.step();
        world.validate().unwrap();
        for (body, before) in [falling, thrown].into_iter().zip(before) {
            let state = world.body(body).unwrap();
            assert!(state.velocity.length() <= 3.000_01 && state.angular_velocity.abs() <= 2.0, "{state:?}");
            assert!((state.position - before).length() <= 3.000_1 / 60.0, "{state:?}");
        }
    }
    assert!((world.body(falling).unwrap().velocity.y + 3.0).abs() < 1e-3);
    assert!(world.body(thrown).unwrap().velocity.y < -2.0);
    assert_eq!(world.max_speeds(falling), Ok((Some(3.0), Some(2.0))));
    world.set_max_speeds(falling, None, None).unwrap();
    steps(&mut world, 60);
    assert!(world.body(falling).unwrap().velocity.y < -10.0);
}

/// A kinematic body is at its target after exactly one step, to the bit, stands there, and has pushed what it met.
#[test]
fn targets_are_reached() {
    let mut world = ground();
    let lift =
        world.add_body(&BodyDesc::kinematic(Shape::oriented_box(2.0, 0.5), Vec2::new(0.1, 0.5))).unwrap();
    let load = world.add_body(&block(Vec2::new(0.0, 1.5))).unwrap();
    let mut height = 0.5;
    for i in 0..60 {
        height += 0.013;
        let (to, angle) = (Vec2::new(0.1 + 0.003 * i as f32, height), 0.001 * i as f32);
        world.set_kinematic_target(lift, to, angle).unwrap();
        assert_eq!(world.kinematic_target(lift), Ok(Some((to, angle))));
        world.step();
        world.validate().unwrap();
        let state = world.body(lift).unwrap();
        assert_eq!((state.position, state.angle, state.velocity), (to, angle, Vec2::ZERO));
    }
    assert_eq!(world.kinematic_target(lift), Ok(None));
    // The load has the velocity of the lift, 0.013 · 60 m/s, before it stands again.
    assert!((position(&world, load).y - height - 1.0).abs() < 0.03, "{} on {height}", position(&world, load));
    let before = position(&world, lift);
    steps(&mut world, 30);
    assert_eq!(position(&world, lift), before);
    let dynamic = world.set_kinematic_target(load, Vec2::ZERO, 0.0);
    assert!(matches!(dynamic, Err(Error::Invalid { field: "target", .. })), "{dynamic:?}");
    assert!(world.set_kinematic_target(lift, Vec2::new(9.0e6, 0.0), 0.0).is_err(), "further than it gets");
    // The shorter way round, and a velocity drops the target.
    world.set_kinematic_target(lift, before, 3.0).unwrap();
    steps(&mut world, 1);
    world.set_kinematic_target(lift, before, -3.0).unwrap();
    steps(&mut world, 1);
    let state = world.body(lift).unwrap();
    assert_eq!((state.angle, state.turns), (-3.0, 1));
    world.set_kinematic_target(lift, Vec2::ZERO, 0.0).unwrap();
    world.set_velocity(lift, Vec2::ZERO).unwrap();
    steps(&mut world, 1);
    assert_eq!(position(&world, lift), before);
}

/// A target wakes what sleeps beside the body.
#[test]
fn targets_wake() {
    let mut world = ground();
    let ram =
        world.add_body(&BodyDesc::kinematic(Shape::oriented_box(0.5, 0.5), Vec2::new(-1.05, 0.5))).unwrap();
    let load = world.add_body(&block(Vec2::new(0.0, 0.5))).unwrap();
    while world.awake_count() > 0 {
        world.step();
        assert!(world.step_count() < 1_000);
    }
    world.set_kinematic_target(ram, Vec2::new(-0.8, 0.5), 0.0).unwrap();
    steps(&mut world, 3);
    assert!(position(&world, load).x > 0.1, "{}", position(&world, load));
}

/// Tags and names are those of their own body, and go with it.
#[test]
fn tags_and_names() {
    let mut world = space();
    let one = world.add_body(&BodyDesc { tag: 7, ..ball(Vec2::ZERO) }).unwrap();
    let two = world.add_body(&ball(Vec2::new(3.0, 0.0))).unwrap();
    world.set_name(one, Some("one")).unwrap();
    world.set_tag(two, u64::MAX).unwrap();
    steps(&mut world, 2);
    assert_eq!((world.tag(one), world.tag(two)), (Ok(7), Ok(u64::MAX)));
    assert_eq!((world.name(one), world.name(two)), (Ok(Some("one")), Ok(None)));
    world.remove_body(one).unwrap();
    let three = world.add_body(&ball(Vec2::ZERO)).unwrap();
    assert_eq!((three.index(), world.tag(three), world.name(three)), (one.index(), Ok(0), Ok(None)));
    assert!(world.tag(one).is_err() && world.name(one).is_err());
    assert!(world.reserve(1_000, 1_000, 1_000).is_ok() && world.reserve(1 << 28, 0, 0).is_err());
    let (all, none) = (usize::MAX, 0);
    for [bodies, joints, links] in [[all, none, none], [none, all, none], [none, none, all]] {
        let error = world.reserve(bodies, joints, links).unwrap_err();
        assert!(matches!(error, Error::TooMany { .. }), "{error}");
    }
}

/// Edits give one result on every instruction set.
#[test]
fn edits_are_the_same_everywhere() {
    on_every_set(|world| {
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let bodies: Vec<_> = (0..40)
            .map(|i| {
                let at = Vec2::new((i % 8) as f32 * 1.1, 1.0 + (i / 8) as f32 * 1.2);
                let desc = if i % 2 == 0 { ball(at) } else { block(at) };
                let desc = BodyDesc { lock_x: i % 7 == 0, max_speed: (i % 5 == 0).then_some(2.0), ..desc };
                world.add_body(&desc).unwrap()
            })
            .collect();
        (0..200usize)
            .map(|step| {
                let body = bodies[step * 7 % bodies.len()];
                match step % 6 {
                    0 => world.set_body_type(body, BodyType::Kinematic).unwrap(),
                    1 => world.set_enabled(body, step % 4 == 1).unwrap(),
                    2 => world.set_inertia(body, Some(0.3)).unwrap(),
                    3 => _ = world.set_centre(body, Some(Vec2::new(0.1, 0.0))),
                    4 => world.set_body_type(body, BodyType::Dynamic).unwrap(),
                    _ => world.set_mass(body, Some(2.0)).unwrap(),
                }
                world.step();
                world.validate().unwrap();
                world.state_hash()
            })
            .collect()
    });
}
