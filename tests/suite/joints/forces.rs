//! Joints of limited force: motor joints, target joints, springs with a range.

use super::*;

fn motor(
    linear_velocity: Vec2,
    offset: Option<Vec2>,
    max_force: f32,
    angle: Option<f32>,
    max_torque: f32,
) -> JointKind {
    JointKind::Motor { linear_velocity, angular_velocity: 0.0, offset, angle, max_force, max_torque }
}

/// Contract: a motor joint holds a pose against gravity within its force, and beyond it lets the body slip at g − F/m.
#[test]
fn motor_joints_hold_within_their_force() {
    on_both_sets(|settings| {
        for (part, holds) in [(1.05f32, true), (0.75, false)] {
            let mut world = world(settings);
            let base = post(&mut world, Vec2::ZERO);
            let offset = Vec2::new(1.5, 0.5);
            let body = add(&mut world, plank(Vec2::new(0.3, 0.3), offset, 4.0));
            let kind = motor(Vec2::ZERO, Some(offset), part * 40.0, Some(0.0), 100.0);
            join(&mut world, &JointDesc::new(base, body, kind));
            steps(&mut world, 60);
            let now = state(&world, body);
            if holds {
                println!("a motor joint holds to {:.2e} m", now.position.distance(offset));
                assert!(now.position.distance(offset) < 1e-3 && now.angle.abs() < 1e-3, "{now:?}");
            } else {
                assert_close("speed", f64::from(now.velocity.y), -0.25 * G, 0.01);
            }
        }
    });
}

/// Contract: a motor joint holds an angle against a torque below its own, and beyond it lets the body turn at (τ − max)/I.
#[test]
fn motor_joints_hold_within_their_torque() {
    on_both_sets(|settings| {
        for (torque, law) in [(1.9f32, 0.0), (3.0, 1.0)] {
            let mut world = world(weightless(settings));
            let base = post(&mut world, Vec2::ZERO);
            let body = add(&mut world, disc(1.0, Vec2::ZERO, 2.0));
            join(&mut world, &JointDesc::new(base, body, motor(Vec2::ZERO, None, 10.0, Some(0.0), 2.0)));
            for _ in 0..60 {
                world.apply_torque(body, torque).unwrap();
                world.step();
            }
            assert_close("spin", f64::from(state(&world, body).angular_velocity), law, 0.01);
        }
    });
}

/// Contract: a motor joint drives a body at a velocity in the axes of A's frame, and brakes one that slides at max_force/m: friction seen
/// from above.
#[test]
fn motor_joints_drive_and_brake() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let base = post(&mut world, Vec2::ZERO);
        let [driven, braked] = [0.0, 3.0].map(|y| {
            add(&mut world, BodyDesc { velocity: Vec2::new(0.0, y), ..disc(0.5, Vec2::new(2.0, y), 2.0) })
        });
        let drive = JointDesc::new(base, driven, motor(Vec2::new(2.0, 0.0), None, 1.0e3, None, 0.0));
        let frame_a = JointFrame { position: Vec2::ZERO, angle: 0.5 };
        join(&mut world, &JointDesc { frame_a, ..drive });
        join(&mut world, &JointDesc::new(base, braked, motor(Vec2::ZERO, None, 4.0, None, 0.0)));
        steps(&mut world, 60);
        let wanted = 2.0 * Vec2::from_angle(0.5);
        assert!((velocity(&world, driven) - wanted).length() < 1e-3, "{}", velocity(&world, driven));
        assert_close("braked", f64::from(velocity(&world, braked).y), 1.0, 1e-3);
        steps(&mut world, 60);
        assert_close("stopped", f64::from(velocity(&world, braked).length()), 0.0, 1e-5);
    });
}

/// Contract: a target joint pulls with at most its max_force, and brings the point to the target when it may.
#[test]
fn targets_pull_with_limited_force() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let spring = Spring::new(5.0, 1.0);
        let far = add(&mut world, disc(0.5, Vec2::ZERO, 2.0));
        let pull = join(&mut world, &JointDesc::target(far, Vec2::ZERO, Vec2::new(60.0, 80.0), spring, 10.0));
        steps(&mut world, 60);
        let speed = velocity(&world, far);
        assert!((speed - Vec2::new(3.0, 4.0)).length() < 0.01, "{speed}");
        let force = world.joint_state(pull).unwrap().force;
        assert!((force - Vec2::new(6.0, 8.0)).length() < 0.01, "{force}");

        world.set_gravity(Vec2::new(0.0, -10.0)).unwrap();
        let near = add(&mut world, plank(Vec2::new(0.5, 0.2), Vec2::new(0.0, 5.0), 2.0));
        let corner = Vec2::new(0.5, 0.2);
        let joint = join(&mut world, &JointDesc::target(near, corner, Vec2::new(1.0, 6.0), spring, 1.0e4));
        world.set_target(joint, Vec2::new(2.0, 7.0)).unwrap();
        world.set_damping(near, 0.5, 5.0).unwrap();
        steps(&mut world, 1_200);
        let now = state(&world, near);
        let point = now.position + Vec2::from_angle(now.angle).rotate(corner);
        // It hangs by its corner, on a spring whose stiffness comes from the mass that the corner feels.
        assert!((point.x - 2.0).abs() < 1e-2 && (6.9..7.0).contains(&point.y), "{point}");
        assert!((now.position.x - 2.0).abs() < 1e-2, "{now:?}");
    });
}

/// Contract: the force of a distance joint's spring stays within its range: one that only pulls, or with at most so much.
#[test]
fn distance_springs_keep_to_their_forces() {
    on_both_sets(|settings| {
        for (range, start, law) in [
            ([f32::NEG_INFINITY, 0.0], 0.5f32, 0.0),
            ([-3.0, 5.0], 0.5, 5.0),
            ([-3.0, 5.0], 3.5, -3.0),
            ([-3.0, 5.0], 2.0, 0.0),
        ] {
            let mut world = world(weightless(settings));
            let base = post(&mut world, Vec2::ZERO);
            let body = add(&mut world, disc(0.5, Vec2::new(start, 0.0), 100.0));
            let desc =
                JointDesc::distance(base, body, Vec2::ZERO, Vec2::ZERO, 2.0).with_spring(2.0, 1.0, 0.0);
            let JointKind::Distance { length, spring, limit, motor, .. } = desc.kind else { panic!() };
            let kind = JointKind::Distance { length, spring, limit, motor, spring_force: range };
            let joint = join(&mut world, &JointDesc { kind, ..desc });
            steps(&mut world, 6);
            let force = f64::from(world.joint_state(joint).unwrap().force.x);
            assert_close("force", force, law, 1e-3);
            assert_close("speed", f64::from(velocity(&world, body).x), law / 100.0 * 0.1, 1e-4);
        }
    });
}

/// Contract: a joint that is not enabled holds nothing; enabled again it holds. Its handle stays good.
#[test]
fn disabled_joints_hold_nothing() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        let base = post(&mut world, Vec2::ZERO);
        let body = add(&mut world, disc(0.5, Vec2::new(0.0, -1.0), 2.0));
        let joint = join(&mut world, &JointDesc::distance(base, body, Vec2::ZERO, Vec2::ZERO, 1.0));
        steps(&mut world, 30);
        assert_close("force", f64::from(world.joint_state(joint).unwrap().force.y), 20.0, 0.1);
        world.enable_joint(joint, false).unwrap();
        let start = state(&world, body).position.y;
        steps(&mut world, 12);
        assert_close("fall", f64::from(velocity(&world, body).y), -2.0, 0.01);
        assert_eq!(world.joint_state(joint).unwrap().force, Vec2::ZERO);
        world.enable_joint(joint, true).unwrap();
        steps(&mut world, 120);
        assert!(start - state(&world, body).position.y < 0.002, "it is not pulled back");
        assert_close("force", f64::from(world.joint_state(joint).unwrap().force.y), 20.0, 0.1);
    });
}
