//! Free systems of joined bodies keep their momentum.

use super::*;

/// The momentum of all bodies, and their angular momentum about the origin.
pub(super) fn total(world: &World) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for body in world.handles() {
        let mass = f64::from(world.mass(body).unwrap());
        if mass == 0.0 {
            continue;
        }
        let BodyState { position, velocity, angular_velocity, .. } = state(world, body);
        let inertia = match world.shape(body).unwrap() {
            Shape::Circle { radius } => 0.5 * mass * f64::from(radius * radius),
            Shape::Box { half_extents } => mass * f64::from(half_extents.length_squared()) / 3.0,
            other => panic!("{other:?}"),
        };
        let [x, y, vx, vy] = [position.x, position.y, velocity.x, velocity.y].map(f64::from);
        sum[0] += mass * vx;
        sum[1] += mass * vy;
        sum[2] += mass * (x * vy - y * vx) + inertia * f64::from(angular_velocity);
    }
    sum
}

/// A joint of kind `i` between two neighbours of a chain along x, 1 apart.
fn any_kind(i: usize, a: BodyHandle, b: BodyHandle) -> JointDesc {
    let (left, right) = (Vec2::new(-0.5, 0.0), Vec2::new(0.5, 0.0));
    let spring = Some(Spring::new(3.0, 0.2));
    match i % 9 {
        0 => JointDesc::revolute(a, b, right, left).with_limit(-0.5, 0.5),
        1 => JointDesc::prismatic(a, b, right, left, 0.2).with_limit(-0.3, 0.3).with_spring(0.0, 2.0, 0.1),
        2 => JointDesc::wheel(a, b, right, left, 1.2).with_spring(0.0, 4.0, 0.3).with_motor(2.0, 0.5),
        3 => JointDesc::weld(a, b, right, left),
        4 => JointDesc {
            kind: JointKind::Weld { linear: spring, angular: spring },
            ..JointDesc::weld(a, b, right, left)
        },
        5 => JointDesc::distance(a, b, Vec2::ZERO, Vec2::ZERO, 1.0),
        6 => JointDesc::distance(a, b, right, right, 1.0).with_spring(0.8, 2.0, 0.1).with_limit(0.5, 1.5),
        7 => JointDesc::new(
            a,
            b,
            JointKind::Motor {
                linear_velocity: Vec2::ZERO,
                angular_velocity: 0.1,
                offset: Some(Vec2::X),
                angle: None,
                max_force: 20.0,
                max_torque: 1.0,
            },
        ),
        _ => JointDesc::revolute(a, b, right, left).with_motor(-1.0, 0.5),
    }
}

/// Contract: a chain of 20 bodies, with joints of all kinds and a gear, keeps its momentum within 10⁻⁴ and its angular momentum within
/// 0.5 % of what the bodies have, over 2,000 steps without gravity.
#[test]
fn a_chain_of_all_kinds_keeps_its_momentum() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let mut bodies = Vec::new();
        for i in 0..20 {
            let place = Vec2::new(i as f32 - 9.5, 0.0);
            let mass = 0.5 + 0.25 * (i % 5) as f32;
            let desc =
                if i % 3 == 0 { disc(0.4, place, mass) } else { plank(Vec2::new(0.5, 0.15), place, mass) };
            let swing = Vec2::new(0.5 * (i as f32).sin(), 0.4 * place.x + 0.5 * (2.0 * i as f32).cos());
            bodies.push(add(&mut world, BodyDesc { velocity: swing, angular_velocity: 0.4, ..desc }));
        }
        let joints: Vec<JointHandle> = bodies
            .windows(2)
            .enumerate()
            .map(|(i, two)| join(&mut world, &any_kind(i, two[0], two[1])))
            .collect();
        join(&mut world, &JointDesc::gear(joints[0], joints[8], 1.5));
        join(&mut world, &JointDesc::gear(joints[1], joints[17], -0.7));
        let before = total(&world);
        // What the bodies have, if each counts as positive.
        let size: f64 = bodies
            .iter()
            .map(|&body| f64::from(world.mass(body).unwrap()) * f64::from(velocity(&world, body).length()))
            .sum();
        let mut worst = [0.0f64; 2];
        for _ in 0..2_000 {
            world.step();
            let now = total(&world);
            worst[0] = worst[0].max((now[0] - before[0]).abs()).max((now[1] - before[1]).abs());
            worst[1] = worst[1].max((now[2] / before[2] - 1.0).abs());
        }
        println!(
            "a chain of all kinds: momentum off by {:.2e} of {size:.1} N·s, angular momentum by {:.3} %",
            worst[0],
            100.0 * worst[1]
        );
        assert!(worst[0] < 1e-4 * size, "momentum is off by {}", worst[0]);
        assert!(worst[1] < 0.005, "angular momentum is off by {}", worst[1]);
        world.validate().unwrap();
    });
}
