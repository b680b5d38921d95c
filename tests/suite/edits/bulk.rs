//! Contract: a call with many elements does what the single calls do, or nothing; its error names the element.

use super::{ball, block, ground, steps};
use granule::{BodyHandle, Error, JointDesc, LinkDesc, Order, PoseField, Vec2, World};

fn pile() -> (World, Vec<BodyHandle>) {
    let mut world = ground();
    let descs: Vec<_> = (0..60)
        .map(|i| {
            let at = Vec2::new(1.1 * (i % 10) as f32, 0.6 + 1.2 * (i / 10) as f32);
            if i % 3 == 0 { block(at) } else { ball(at) }
        })
        .collect();
    let bodies = world.add_bodies(&descs).unwrap();
    steps(&mut world, 20);
    (world, bodies)
}

/// Two worlds, in one of which everything is done in bulk, are the same after each step.
#[test]
fn bulk_calls_are_the_single_calls() {
    let ((mut one, bodies), (mut many, _)) = (pile(), pile());
    let some: Vec<_> = bodies.iter().copied().step_by(7).collect();
    let vectors: Vec<_> =
        (0..some.len()).map(|i| Vec2::new(0.1 * i as f32 - 0.3, 2.0 + 0.2 * i as f32)).collect();
    let numbers: Vec<_> = (0..some.len()).map(|i| 0.3 * i as f32).collect();
    for round in 0..6 {
        for ((&body, &vector), &number) in some.iter().zip(&vectors).zip(&numbers) {
            match round {
                0 => one.set_position(body, 4.0 * vector).and(one.set_angle(body, number)),
                1 => one.set_velocity(body, vector).and(one.set_angular_velocity(body, number)),
                2 => one.apply_force(body, vector).and(one.apply_torque(body, number)),
                3 => one.apply_impulse(body, vector).and(one.apply_angular_impulse(body, 0.1 * number)),
                4 => one.set_velocity(body, vector),
                _ => one.remove_body(body),
            }
            .unwrap();
        }
        let tenth: Vec<_> = numbers.iter().map(|number| 0.1 * number).collect();
        let far: Vec<_> = vectors.iter().map(|&vector| 4.0 * vector).collect();
        match round {
            0 => many.place_bodies(&some, &far, Some(&numbers)),
            1 => many.set_velocities(&some, &vectors, Some(&numbers)),
            2 => many.apply_forces(&some, &vectors, Some(&numbers)),
            3 => many.apply_impulses(&some, &vectors, Some(&tenth)),
            4 => many.set_velocities(&some, &vectors, None),
            _ => many.remove_bodies(&some),
        }
        .unwrap();
        for _ in 0..10 {
            one.step();
            many.step();
            many.validate().unwrap();
            assert_eq!(one.state_hash(), many.state_hash(), "round {round}");
        }
    }
}

/// An element that is refused is named, and nothing has changed.
#[test]
fn a_refusal_names_the_element() {
    let (mut world, bodies) = pile();
    let stale = bodies[9];
    world.remove_body(stale).unwrap();
    let floor = world.handles().next().unwrap();
    steps(&mut world, 1);
    let before = world.state_hash();
    let three = [bodies[1], bodies[2], stale];
    let zeros = [Vec2::ONE; 3];
    let bad = [Vec2::ONE, Vec2::new(f32::NAN, 0.0), Vec2::ONE];
    let good = [bodies[1], bodies[2], bodies[3]];
    let check = |refused: Result<(), Error>, element: usize| {
        assert!(matches!(&refused, Err(Error::Element { index, .. }) if *index == element), "{refused:?}");
    };
    check(world.remove_bodies(&three), 2);
    check(world.remove_bodies(&[bodies[1], bodies[2], bodies[1]]), 2);
    check(world.place_bodies(&three, &zeros, None), 2);
    check(world.place_bodies(&good, &bad, None), 1);
    check(world.place_bodies(&good, &zeros, Some(&[0.0, 0.0, f32::INFINITY])), 2);
    check(world.set_velocities(&[bodies[1], floor], &zeros[..2], None), 1);
    check(world.set_velocities(&good, &bad, None), 1);
    check(world.apply_forces(&good, &bad, None), 1);
    check(world.apply_impulses(&good, &[Vec2::ONE, Vec2::ONE, Vec2::splat(1e29)], None), 2);
    check(world.set_motors(&[granule::JointHandle::default()], &[1.0]), 0);
    check(world.remove_joints(&[granule::JointHandle::default()]), 0);
    let fast = |index: usize| if index == 3 { 1.0e30 } else { 0.0 };
    let fast: Vec<f32> = (0..world.total_count()).map(fast).collect();
    check(world.apply_impulse_columns(Order::Added, [&fast, &vec![0.0; fast.len()], &fast]), 3);
    let lengths = world.place_bodies(&good, &zeros[..2], None);
    assert!(matches!(lengths, Err(Error::Invalid { field: "positions", .. })), "{lengths:?}");
    let all = vec![0.5; world.total_count()];
    let mut odd = all.clone();
    odd[4] = f32::NAN;
    check(world.set_velocity_columns(Order::Added, [&all, &odd, &all]), 4);
    check(world.place_columns(Order::Stored, [&all, &all, &odd]), 4);
    assert!(world.apply_force_columns(Order::Added, [&all, &all, &all[1..]]).is_err());
    assert_eq!(world.state_hash(), before);
    assert_eq!(world.apply_forces(&good, &zeros, None), Ok(()));
}

/// Motors of listed joints get their speeds, all or none.
#[test]
fn motors_of_listed_joints() {
    let mut world = ground();
    let hub = world.add_body(&block(Vec2::new(0.0, 9.0))).unwrap();
    let wheel = world.add_body(&ball(Vec2::new(1.0, 9.0))).unwrap();
    let driven = JointDesc::revolute(hub, wheel, Vec2::X, Vec2::ZERO).with_motor(1.0, 5.0);
    let joints = world.add_joints(&[driven, JointDesc::revolute(hub, wheel, Vec2::X, Vec2::ZERO)]).unwrap();
    let refused = world.set_motors(&joints, &[3.0, 3.0]);
    assert!(matches!(refused, Err(Error::Element { index: 1, .. })), "{refused:?}");
    assert_eq!(world.joint(joints[0]), Ok(driven));
    world.set_motors(&joints[..1], &[3.0]).unwrap();
    assert_eq!(world.joint(joints[0]), Ok(driven.with_motor(3.0, 5.0)));
}

/// Joints and links that are removed in one call are gone as by single calls, gears in any order beside what they couple; a list with something
/// stale, or with one twice, removes nothing.
#[test]
fn joints_and_links_are_removed_together() {
    let mut world = ground();
    let hub = world.add_body(&block(Vec2::new(0.0, 9.0))).unwrap();
    let wheels = [1.0, -1.0, 2.0].map(|x| world.add_body(&ball(Vec2::new(x, 9.0))).unwrap());
    let axles = wheels.map(|wheel| {
        let axle = world.add_joint(&JointDesc::revolute(hub, wheel, Vec2::X, Vec2::ZERO)).unwrap();
        let link = world.add_link(&LinkDesc::distance(hub, wheel, 1.0)).unwrap();
        (axle, link)
    });
    let gear = world.add_joint(&JointDesc::gear(axles[0].0, axles[1].0, 1.0)).unwrap();
    steps(&mut world, 3);
    let stale = world.add_joint(&JointDesc::revolute(wheels[1], wheels[2], Vec2::X, Vec2::ZERO)).unwrap();
    world.remove_joint(stale).unwrap();
    let before = world.state_hash();
    for joints in [[axles[0].0, axles[0].0], [axles[2].0, stale]] {
        let refused = world.remove_joints(&joints);
        assert!(matches!(refused, Err(Error::Element { index: 1, .. })), "{refused:?}");
    }
    let refused = world.remove_links(&[axles[1].1, axles[0].1, axles[1].1]);
    assert!(matches!(refused, Err(Error::Element { index: 2, .. })), "{refused:?}");
    assert_eq!((world.state_hash(), world.joint_count(), world.link_count()), (before, 4, 3));

    let mut one = world.clone();
    for joint in [gear, axles[0].0, axles[2].0] {
        one.remove_joint(joint).unwrap();
    }
    one.remove_link(axles[1].1).unwrap();
    world.remove_joints(&[axles[0].0, gear, axles[2].0]).unwrap();
    world.remove_links(&[axles[1].1]).unwrap();
    assert_eq!((world.joint_count(), world.link_count()), (1, 2));
    for _ in 0..20 {
        world.step();
        one.step();
        world.validate().unwrap();
        assert!(world.joint_events().is_empty() && world.link_events().is_empty());
        assert_eq!(world.state_hash(), one.state_hash());
    }
}

/// Impulses by columns are those of single calls, in both orders; zeros wake nothing, and what nothing moves gets none.
#[test]
fn impulses_by_columns() {
    for order in [Order::Added, Order::Stored] {
        let ((mut one, _), (mut many, _)) = (pile(), pile());
        let handles: Vec<_> = many.handles_in(order).collect();
        let [x, y, turn] = [0.3, 0.7, 0.1]
            .map(|scale| (0..handles.len()).map(|i| scale * (i % 5) as f32).collect::<Vec<f32>>());
        for (i, &body) in handles.iter().enumerate() {
            if one.mass(body).unwrap().is_finite() {
                one.apply_impulse(body, Vec2::new(x[i], y[i])).unwrap();
                one.apply_angular_impulse(body, turn[i]).unwrap();
            }
        }
        many.apply_impulse_columns(order, [&x, &y, &turn]).unwrap();
        for _ in 0..10 {
            one.step();
            many.step();
            assert_eq!(one.state_hash(), many.state_hash(), "{order:?}");
        }
        let sleeper = many.handles().last().unwrap();
        many.sleep_body(sleeper).unwrap();
        let (asleep, zeros) = (many.asleep_count(), vec![0.0; many.total_count()]);
        many.apply_impulse_columns(order, [&zeros, &zeros, &zeros]).unwrap();
        assert!(asleep > 0 && many.asleep_count() == asleep);
    }
}

/// Columns in both orders reach the bodies that `handles_in` names, and so do poses in a buffer with a stride; the rest of the buffer stays.
#[test]
fn columns_and_poses_in_both_orders() {
    let (mut world, bodies) = pile();
    for remove in [false, true] {
        if remove {
            world.remove_bodies(&bodies[5..12]).unwrap();
            world.add_body(&ball(Vec2::new(3.0, 30.0))).unwrap();
        }
        for order in [Order::Added, Order::Stored] {
            let handles: Vec<_> = world.handles_in(order).collect();
            assert!(order == Order::Stored || handles.is_sorted_by_key(|body| body.index()));
            assert_eq!(handles.len(), world.total_count());
            let column = |scale: f32| -> Vec<f32> { (0..handles.len()).map(|i| scale * i as f32).collect() };
            let (x, y, spin) = (column(0.01), column(-0.02), column(0.03));
            world.set_velocity_columns(order, [&x, &y, &spin]).unwrap();
            for (i, &body) in handles.iter().enumerate() {
                let state = world.body(body).unwrap();
                let fixed = world.body_type(body) == Ok(granule::BodyType::Static);
                let given = if fixed { [0.0; 3] } else { [x[i], y[i], spin[i]] };
                assert_eq!([state.velocity.x, state.velocity.y, state.angular_velocity], given);
            }
            let fields = [PoseField::Y, PoseField::X, PoseField::Angle, PoseField::VelX, PoseField::Cos];
            let mut out = vec![7.0; 6 * handles.len() + 3];
            assert_eq!(world.write_poses(&mut out, 6, &fields, order), Ok(handles.len()));
            for (row, &body) in out.chunks_exact(6).zip(&handles) {
                let state = world.body(body).unwrap();
                let wanted = [state.position.y, state.position.x, state.angle, state.velocity.x];
                assert_eq!((&row[..4], row[5]), (&wanted[..], 7.0));
                assert!((row[4] - state.angle.cos()).abs() < 1e-6);
            }
            assert_eq!(out[6 * handles.len()..], [7.0; 3]);
            // More fields than are written at once, with cosines and sines before and between.
            let mixed = [
                PoseField::Cos,
                PoseField::X,
                PoseField::Y,
                PoseField::Angle,
                PoseField::VelX,
                PoseField::VelY,
                PoseField::Sin,
                PoseField::Spin,
                PoseField::X,
            ];
            let mut out = vec![7.0; 9 * handles.len()];
            assert_eq!(world.write_poses(&mut out, 9, &mixed, order), Ok(handles.len()));
            for (row, &body) in out.chunks_exact(9).zip(&handles) {
                let state = world.body(body).unwrap();
                let (at, velocity) = (state.position, state.velocity);
                assert_eq!(row[1..6], [at.x, at.y, state.angle, velocity.x, velocity.y]);
                assert_eq!(row[7..], [state.angular_velocity, at.x]);
                assert!(
                    (row[0] - state.angle.cos()).abs() < 1e-6 && (row[6] - state.angle.sin()).abs() < 1e-6
                );
            }
            assert!(world.write_poses(&mut out, 4, &fields, order).is_err());
            assert!(world.write_poses(&mut out[..100], 6, &fields, order).is_err());
            steps(&mut world, 3);
        }
    }
    assert_eq!(ground().write_poses(&mut [0.0; 2], 2, &[PoseField::X, PoseField::Y], Order::Stored), Ok(1));
    let empty = World::new(granule::Settings::default()).unwrap();
    assert_eq!(empty.write_poses(&mut [], 1, &[PoseField::X], Order::Added), Ok(0));
}

/// Bodies placed by columns are where the columns say, and contacts follow.
#[test]
fn placing_by_columns() {
    let (mut world, _) = pile();
    let count = world.total_count();
    let x: Vec<f32> = (0..count).map(|i| 3.0 * i as f32).collect();
    let (y, angle) = (vec![40.0; count], vec![0.25; count]);
    world.place_columns(Order::Added, [&x, &y, &angle]).unwrap();
    for (i, body) in world.handles_in(Order::Added).enumerate() {
        let state = world.body(body).unwrap();
        assert_eq!((state.position, state.angle), (Vec2::new(x[i], 40.0), 0.25));
    }
    steps(&mut world, 1);
}

/// Of several elements that are refused, the error names the first, whichever of its values it is.
#[test]
fn the_first_bad_element_is_named() {
    let (mut world, bodies) = pile();
    let (good, bad) = ([Vec2::ONE; 3], [Vec2::ONE, Vec2::ONE, Vec2::NAN]);
    let angles = [0.0, f32::NAN, 0.0];
    let hash = world.state_hash();
    let bodies = &bodies[..3];
    let index = |result: Result<(), Error>| match result {
        Err(Error::Element { index, .. }) => Some(index),
        _ => None,
    };
    for (vectors, numbers, first) in
        [(&bad, Some(&angles[..]), 1), (&bad, None, 2), (&good, Some(&angles[..]), 1)]
    {
        assert_eq!(index(world.place_bodies(bodies, vectors, numbers)), Some(first));
        assert_eq!(index(world.set_velocities(bodies, vectors, numbers)), Some(first));
        assert_eq!(index(world.apply_forces(bodies, vectors, numbers)), Some(first));
        assert_eq!(index(world.apply_impulses(bodies, vectors, numbers)), Some(first));
    }
    assert_eq!(world.state_hash(), hash);
}
