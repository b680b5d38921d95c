//! Motors, limits and free motions.

use super::*;

/// A weightless world with a motor that drives something of a known inertia, its joint, and what the motor's strength is divided by.
fn driven(settings: Settings, kind: usize, speed: f32, max: f32) -> (World, JointHandle, f64) {
    let mut world = world(weightless(settings));
    let base = post(&mut world, Vec2::ZERO);
    let (body, inertia) = match kind {
        0 => (disc(0.5, Vec2::ZERO, 8.0), 1.0),
        1 => (plank(Vec2::new(0.5, 0.1), Vec2::new(0.5, 0.0), 3.0), 3.0 * (0.26 / 3.0 + 0.25)),
        _ => (disc(0.5, Vec2::new(1.0, 0.0), 8.0), if kind == 3 { 1.0 } else { 8.0 }),
    };
    let body = add(&mut world, body);
    let desc = match kind {
        0 => JointDesc::revolute(base, body, Vec2::ZERO, Vec2::ZERO),
        1 => JointDesc::revolute(base, body, Vec2::ZERO, Vec2::new(-0.5, 0.0)),
        2 => JointDesc::prismatic(base, body, Vec2::ZERO, Vec2::ZERO, 0.3),
        3 => JointDesc::wheel(base, body, Vec2::new(1.0, 0.0), Vec2::ZERO, 0.3),
        _ => JointDesc::distance(base, body, Vec2::ZERO, Vec2::ZERO, 1.0),
    };
    let joint = join(&mut world, &desc.with_motor(speed, max));
    (world, joint, inertia)
}

/// Contract: a motor brings a known inertia to its speed at the rate of its strength, and then holds the speed: within 0.1 %.
#[test]
fn motors_reach_their_speed_in_time() {
    on_both_sets(|settings| {
        for kind in 0..5 {
            let (speed, max) = (3.0f32, 2.0f32);
            let (mut world, joint, inertia) = driven(settings, kind, speed, max);
            // The plank's hinge has an inertia about the hinge.
            let inertia = if kind == 1 { 3.0 * ((0.25 + 0.01) / 3.0 + 0.25) } else { inertia };
            let time = f64::from(speed) * inertia / f64::from(max);
            let half = (0.5 * time / f64::from(settings.time_step)) as u32;
            steps(&mut world, half);
            let now = f64::from(half) * f64::from(settings.time_step) * f64::from(max) / inertia;
            let found = f64::from(world.joint_state(joint).unwrap().speed);
            measured(&format!("speed of motor {kind} at half time"), found, now);
            assert_close(&format!("speed of motor {kind}"), found, now, 1e-3 * now);
            steps(&mut world, half + 4);
            let found = f64::from(world.joint_state(joint).unwrap().speed);
            assert_close(
                &format!("final speed of motor {kind}"),
                found,
                f64::from(speed),
                1e-3 * f64::from(speed),
            );
            world.set_motor_speed(joint, -1.0).unwrap();
            steps(&mut world, 3 * half);
            let found = f64::from(world.joint_state(joint).unwrap().speed);
            assert_close(&format!("changed speed of motor {kind}"), found, -1.0, 1e-3);
        }
    });
}

/// Contract: a weak motor that lifts a pendulum slowly stalls where gravity's torque is the motor's: sin θ = τ/(m·g·d), within 0.01 rad.
/// A strong one goes on.
#[test]
fn motors_stall_at_their_torque() {
    on_both_sets(|settings| {
        for (max, stalls) in [(10.0f32, true), (20.5, false)] {
            let mut world = world(settings);
            let hinge = post(&mut world, Vec2::ZERO);
            // Light at the end of an arm: m·g·d = 20.
            let body = disc(0.1, Vec2::new(0.0, -1.0), 2.0);
            let body = add(&mut world, BodyDesc { linear_damping: 1.0, ..body });
            let desc = JointDesc::revolute(hinge, body, Vec2::ZERO, Vec2::new(0.0, 1.0));
            let joint = join(&mut world, &desc.with_motor(0.1, max));
            steps(&mut world, seconds(&settings, 20.0));
            let angle = f64::from(world.joint_state(joint).unwrap().angle);
            if stalls {
                measured("stall", angle, 0.5f64.asin());
                assert_close("stall", angle, 0.5f64.asin(), 0.01);
                assert_close("torque", f64::from(world.joint_state(joint).unwrap().torque), 10.0, 0.01);
            } else {
                assert_close("strong motor", angle, 2.0, 0.01);
            }
        }
    });
}

/// Contract: limits of each kind hold against gravity to within 1 mm and 0.1°, on both sides, after a fall onto them.
#[test]
fn limits_hold_under_gravity() {
    on_both_sets(|settings| {
        let quarter = std::f32::consts::FRAC_PI_2;
        for side in [-1.0f32, 1.0] {
            let mut world = world(Settings { gravity: Vec2::new(0.0, 10.0 * side), ..settings });
            let base = post(&mut world, Vec2::ZERO);
            let arm = add(&mut world, plank(Vec2::new(0.5, 0.1), Vec2::new(0.5, 0.0), 5.0));
            let hinge =
                JointDesc::revolute(base, arm, Vec2::ZERO, Vec2::new(-0.5, 0.0)).with_limit(-0.5, 0.5);
            let hinge = join(&mut world, &hinge);
            let mut ways = Vec::new();
            for kind in 0..3 {
                let body = add(&mut world, plank(Vec2::new(0.2, 0.2), Vec2::ZERO, 5.0));
                let desc = match kind {
                    0 => JointDesc::prismatic(base, body, Vec2::ZERO, Vec2::ZERO, quarter),
                    1 => JointDesc::wheel(base, body, Vec2::ZERO, Vec2::ZERO, quarter),
                    _ => JointDesc::distance(base, body, Vec2::new(0.0, -3.0), Vec2::ZERO, 3.0),
                };
                let (lower, upper) = if kind == 2 { (2.25, 3.75) } else { (-0.75, 0.75) };
                ways.push(join(&mut world, &desc.with_limit(lower, upper)));
            }
            steps(&mut world, seconds(&settings, 4.0));
            let off = f64::from(world.joint_state(hinge).unwrap().angle) - 0.5 * f64::from(side);
            println!("limit of a hinge: off by {:.4}°", off.to_degrees());
            assert!(off.to_degrees().abs() < 0.1, "{off} rad");
            for (kind, way) in ways.into_iter().enumerate() {
                let middle = if kind == 2 { 3.0 } else { 0.0 };
                let way = f64::from(world.joint_state(way).unwrap().translation) - middle;
                let off = way - 0.75 * f64::from(side);
                println!("limit {kind}: off by {:.4} mm", 1e3 * off);
                assert!(off.abs() < 1e-3, "limit {kind}: {off} m");
            }
            let quality = world.joint_quality();
            assert!(quality.max_error < 1e-3 && quality.max_angle_error < 0.1f64.to_radians(), "{quality:?}");
        }
    });
}

/// Contract: a limit holds a hinge beyond whole turns too: after 3.5 turns, where a motor drives it.
#[test]
fn limits_count_whole_turns() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let base = post(&mut world, Vec2::ZERO);
        let body = add(&mut world, disc(0.5, Vec2::ZERO, 1.0));
        let (low, high) = (-22.0f32, 22.0f32);
        let desc = JointDesc::revolute(base, body, Vec2::ZERO, Vec2::ZERO).with_limit(low, high);
        let joint = join(&mut world, &desc.with_motor(20.0, 5.0));
        steps(&mut world, 180);
        assert_close("upper", f64::from(world.joint_state(joint).unwrap().angle), f64::from(high), 2e-3);
        world.set_motor_speed(joint, -20.0).unwrap();
        steps(&mut world, 300);
        assert_close("lower", f64::from(world.joint_state(joint).unwrap().angle), f64::from(low), 2e-3);
    });
}

/// Contract: a slider on a tilted axis has the acceleration g·sin α along it within 0.1 %, and stays on the axis to within 0.1 mm.
#[test]
fn sliders_run_down_tilted_axes() {
    on_both_sets(|settings| {
        for tilt in [-1.2f32, -0.3, 0.8, 2.5] {
            let mut world = world(settings);
            let base = post(&mut world, Vec2::new(3.0, 2.0));
            let body = add(&mut world, plank(Vec2::new(0.3, 0.1), Vec2::new(3.0, 2.0), 7.0));
            let desc = JointDesc::prismatic(base, body, Vec2::ZERO, Vec2::new(0.1, 0.1), tilt);
            let frame_a = JointFrame { position: Vec2::new(0.1, 0.1), angle: tilt };
            let joint = join(&mut world, &JointDesc { frame_a, ..desc });
            steps(&mut world, 60);
            let found = world.joint_state(joint).unwrap();
            let law = -G * f64::from(tilt).sin();
            measured("speed of a slider after 1 s", f64::from(found.speed), law);
            assert_close("speed", f64::from(found.speed), law, 1e-3 * law.abs());
            // Semi-implicit substeps: ½·a·t·(t + h).
            let way = 0.5 * law * (1.0 + 1.0 / 240.0);
            assert_close("way", f64::from(found.translation), way, 1e-3 * way.abs());
            assert!(world.joint_quality().max_error < 1e-4, "{:?}", world.joint_quality());
        }
    });
}

/// Contract: a hinge, a slider and a wheel without anything else leave their free motion alone: it keeps its speed.
#[test]
fn free_motions_are_free() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let base = post(&mut world, Vec2::ZERO);
        let spinning = |desc: BodyDesc| BodyDesc { angular_velocity: 4.0, ..desc };
        let turning = add(&mut world, spinning(disc(0.5, Vec2::ZERO, 1.0)));
        let wheel = add(&mut world, BodyDesc { velocity: Vec2::X, ..spinning(disc(0.5, Vec2::ZERO, 1.0)) });
        let sliding =
            add(&mut world, BodyDesc { velocity: Vec2::X, ..plank(Vec2::new(0.2, 0.2), Vec2::ZERO, 1.0) });
        let joints = [
            JointDesc::revolute(base, turning, Vec2::ZERO, Vec2::ZERO),
            JointDesc::wheel(base, wheel, Vec2::ZERO, Vec2::ZERO, 0.0),
            JointDesc::prismatic(base, sliding, Vec2::ZERO, Vec2::ZERO, 0.0),
        ];
        let joints = world.add_joints(&joints).unwrap();
        steps(&mut world, 600);
        for (joint, speed) in joints.iter().zip([4.0, 4.0, 1.0]) {
            assert_close("speed", f64::from(world.joint_state(*joint).unwrap().speed), speed, 1e-5);
        }
        assert_close("way", f64::from(world.joint_state(joints[1]).unwrap().translation), 10.0, 1e-3);
    });
}

/// Contract: a motor drives a hinge, a slider and a rod up to their limits and no further, however fast and strong it is, and brings them back
/// when they are beyond.
#[test]
fn motors_stop_at_limits() {
    on_both_sets(|settings| {
        for (speed, max) in
            [(1.0f32, f32::INFINITY), (20.0, f32::INFINITY), (-20.0, f32::INFINITY), (20.0, 1_000.0)]
        {
            let motor = Some(JointMotor::new(speed, max));
            let drive = JointDrive { limit: Some([-1.0, 1.0]), motor, ..JointDrive::default() };
            let rod = JointKind::Distance {
                length: 2.0,
                spring: None,
                spring_force: [f32::NEG_INFINITY, f32::INFINITY],
                limit: Some([1.0, 3.0]),
                motor,
            };
            for (kind, way) in
                [(JointKind::Revolute(drive), 0.0), (JointKind::Prismatic(drive), 0.0), (rod, 2.0)]
            {
                let mut world = world(Settings { gravity: Vec2::ZERO, ..settings });
                let base = post(&mut world, Vec2::ZERO);
                let body = add(&mut world, plank(Vec2::new(0.5, 0.5), Vec2::new(way, 0.0), 1.0));
                let joint = join(&mut world, &JointDesc::new(base, body, kind));
                let hinge = matches!(kind, JointKind::Revolute(_));
                let value = |world: &World| {
                    let state = world.joint_state(joint).unwrap();
                    if hinge { state.angle } else { state.translation - way }
                };
                let mut most = 0.0f32;
                for _ in 0..1_300 {
                    world.step();
                    most = most.max(value(&world).abs());
                }
                let end = value(&world) * speed.signum();
                assert!(
                    most < 1.01 && (end - 1.0).abs() < 0.01,
                    "{kind:?}: {most} at most, {end} at the end"
                );
                // Beyond the limit.
                if hinge {
                    world.set_angle(body, 1.5).unwrap();
                } else {
                    world.set_position(body, Vec2::new(way + 1.5, 0.0)).unwrap();
                }
                (0..300).for_each(|_| world.step());
                assert!(value(&world).abs() < 1.01, "{kind:?}: {} after it was put beyond", value(&world));
            }
        }
    });
}
