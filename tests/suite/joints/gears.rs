//! Gears.

use super::*;

/// A hinge of a disc on a post, with a motor.
fn rotor(world: &mut World, place: Vec2, radius: f32, motor: Option<JointMotor>) -> JointHandle {
    let base = post(world, place);
    let body = add(world, disc(radius, place, 1.0));
    let desc = JointDesc::revolute(base, body, Vec2::ZERO, Vec2::ZERO);
    let kind = JointKind::Revolute(JointDrive { motor, ..JointDrive::default() });
    join(world, &JointDesc { kind, ..desc })
}

/// The free motion of a joint.
fn motion(world: &World, joint: JointHandle) -> f64 {
    let state = world.joint_state(joint).unwrap();
    f64::from(match world.joint(joint).unwrap().kind {
        JointKind::Prismatic(_) => state.translation,
        _ => state.angle,
    })
}

/// Contract: a gear keeps first + ratio · second over 1,000 turns of the faster disc, to within 0.001 rad of it, at ratios of either sign.
#[test]
fn gears_keep_their_ratio_over_a_thousand_turns() {
    on_both_sets(|settings| {
        for ratio in [1.0f32, -1.0, 2.5, -0.3] {
            let mut world = world(weightless(settings));
            let first = rotor(&mut world, Vec2::ZERO, 0.3, Some(JointMotor::new(60.0, 50.0)));
            let second = rotor(&mut world, Vec2::X, 0.5, None);
            join(&mut world, &JointDesc::gear(first, second, ratio));
            let turns = 1_000.0 * TAU / f64::from((1.0 / ratio).abs().max(1.0));
            let count = (turns / (60.0 * f64::from(settings.time_step))) as u32 + 120;
            steps(&mut world, count);
            let [one, two] = [first, second].map(|joint| {
                let granule::JointEnds::Bodies(_, body) = world.joint(joint).unwrap().ends else { panic!() };
                state(&world, body).total_angle()
            });
            assert!(one.abs().max(two.abs()) > 1_000.0 * TAU, "{one} and {two} rad");
            let off = one + f64::from(ratio) * two;
            println!("gear {ratio}: off by {off:.2e} after {one:.1} and {two:.1} rad");
            assert!(off.abs() < 1e-3 * f64::from(ratio.abs()).max(1.0), "gear {ratio}: off by {off}");
        }
    });
}

/// Contract: a rack moves by ratio · turn of its pinion, against it; the motor's torque then moves the inertia of both.
#[test]
fn racks_and_pinions_move_together() {
    on_both_sets(|settings| {
        for ratio in [0.4f32, -0.25] {
            let mut world = world(weightless(settings));
            let pinion = rotor(&mut world, Vec2::ZERO, 0.5, Some(JointMotor::new(1.0e3, 0.5)));
            let base = post(&mut world, Vec2::new(0.0, 2.0));
            let bar = add(&mut world, plank(Vec2::new(1.0, 0.1), Vec2::new(0.0, 2.0), 2.0));
            let rack = join(&mut world, &JointDesc::prismatic(base, bar, Vec2::ZERO, Vec2::ZERO, 0.7));
            // rack + ratio · pinion stays.
            let gear = join(&mut world, &JointDesc::gear(rack, pinion, ratio));
            steps(&mut world, 120);
            let [way, turn] = [rack, pinion].map(|joint| motion(&world, joint));
            let r = f64::from(ratio);
            assert_close("rack", way, -r * turn, 1e-4);
            // The bar counts as m·r² at the pinion: 1·½²/2 + 2·r².
            let inertia = 0.125 + 2.0 * r * r;
            let law = 0.5 / inertia * 2.0;
            let found = f64::from(world.joint_state(pinion).unwrap().speed);
            measured(&format!("speed of a pinion, ratio {ratio}"), found, law);
            assert_close("speed", found, law, 2e-3 * law);
            // What the gear does to the rack: m·a.
            let force = f64::from(world.joint_state(gear).unwrap().torque);
            let law = -2.0 * r * 0.5 / inertia;
            assert_close("force on the rack", force, law, 0.01 * law.abs());
        }
    });
}

/// Contract: two motions that share bodies are coupled: an arm on a post and a disc on the arm. With first + ratio · second kept, the
/// arm's torque turns the inertia that the kinematics gives.
#[test]
fn motions_of_one_body_are_coupled() {
    on_both_sets(|settings| {
        for ratio in [0.5f32, -2.0, 1.0] {
            let mut world = world(weightless(settings));
            let base = post(&mut world, Vec2::ZERO);
            let arm = add(&mut world, plank(Vec2::new(0.5, 0.1), Vec2::new(0.5, 0.0), 1.0));
            let planet = add(&mut world, disc(0.3, Vec2::new(1.0, 0.0), 2.0));
            let left = Vec2::new(-0.5, 0.0);
            let first = JointDesc::revolute(base, arm, Vec2::ZERO, left).with_motor(1.0e3, 0.6);
            let first = join(&mut world, &first);
            let second = join(&mut world, &JointDesc::revolute(arm, planet, Vec2::new(0.5, 0.0), Vec2::ZERO));
            join(&mut world, &JointDesc::gear(first, second, ratio));
            steps(&mut world, 60);
            let [one, two] = [first, second].map(|joint| motion(&world, joint));
            assert_close("coupled", one + f64::from(ratio) * two, 0.0, 1e-3);
            // The disc turns by one + two = one·(1 − 1/ratio).
            let spin = 1.0 - 1.0 / f64::from(ratio);
            let inertia = plank_inertia(Vec2::new(0.5, 0.1), 1.0) + 0.25 + 2.0 + 0.09 * spin * spin;
            let found = f64::from(world.joint_state(first).unwrap().speed);
            measured(&format!("speed of a geared arm, ratio {ratio}"), found, 0.6 / inertia);
            assert_close("speed", found, 0.6 / inertia, 5e-3 * 0.6 / inertia);
        }
    });
}

/// Contract: a gear between motions of two free bodies on one free base keeps momentum, and its ratio.
#[test]
fn gears_on_a_free_base_keep_momentum() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let base = add(&mut world, plank(Vec2::new(1.0, 0.1), Vec2::ZERO, 3.0));
        let places = [Vec2::new(-1.0, 0.0), Vec2::new(1.0, 0.0)];
        let joints = places.map(|place| {
            let body = add(&mut world, disc(0.3, place, 1.0));
            let desc = JointDesc::revolute(base, body, place, Vec2::ZERO);
            join(&mut world, &if place.x < 0.0 { desc.with_motor(10.0, 1.0) } else { desc })
        });
        join(&mut world, &JointDesc::gear(joints[0], joints[1], -2.0));
        steps(&mut world, 300);
        let sum = super::momentum::total(&world);
        assert!(sum.iter().all(|part| part.abs() < 2e-3), "{sum:?}");
        assert_close("ratio", motion(&world, joints[0]), 2.0 * motion(&world, joints[1]), 1e-3);
        assert_close("speed", f64::from(world.joint_state(joints[0]).unwrap().speed), 10.0, 1e-2);
    });
}

/// Contract: a gear on a slider that turns keeps the angular momentum within 0.2 % over 40 s. The slider moves to and fro at up to 2 m/s on a bar
/// that turns, and drives a disc on the bar.
#[test]
fn gears_on_turning_sliders_keep_momentum() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let spin = 2.0f32;
        let turning = |place: Vec2, desc: BodyDesc| BodyDesc {
            velocity: desc.velocity + spin * place.perp(),
            angular_velocity: spin,
            ..desc
        };
        let base = add(&mut world, turning(Vec2::ZERO, plank(Vec2::new(1.0, 0.1), Vec2::ZERO, 3.0)));
        let place = Vec2::new(0.0, 0.5);
        let slide = BodyDesc { velocity: Vec2::new(2.0, 0.0), ..disc(0.3, place, 1.0) };
        let slide = add(&mut world, turning(place, slide));
        let place = Vec2::new(-1.0, 0.0);
        let wheel = add(&mut world, turning(place, disc(0.3, place, 1.0)));
        let rail = JointDesc::prismatic(base, slide, Vec2::new(0.0, 0.5), Vec2::ZERO, 0.3)
            .with_spring(0.0, 0.5, 0.0);
        let rail = join(&mut world, &rail);
        let hinge = join(&mut world, &JointDesc::revolute(base, wheel, place, Vec2::ZERO));
        join(&mut world, &JointDesc::gear(rail, hinge, 0.3));
        let before = super::momentum::total(&world)[2];
        let mut worst = 0.0f64;
        for _ in 0..seconds(&settings, 40.0) {
            world.step();
            let now = super::momentum::total(&world)[2];
            worst = worst.max((now / before - 1.0).abs());
        }
        println!("a gear on a turning slider: angular momentum off by {:.4} %", 100.0 * worst);
        assert!(worst < 0.002, "off by {worst}");
    });
}

/// Contract: another ratio holds from where the motions are when it is set: nothing jumps.
#[test]
fn a_new_ratio_holds_from_now_on() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let first = rotor(&mut world, Vec2::ZERO, 0.3, Some(JointMotor::new(6.0, 50.0)));
        let second = rotor(&mut world, Vec2::X, 0.5, None);
        let gear = JointDesc::gear(first, second, 1.0);
        let handle = join(&mut world, &gear);
        steps(&mut world, 60);
        let before = [first, second].map(|joint| motion(&world, joint));
        world.set_joint(handle, &JointDesc { kind: JointKind::Gear { ratio: 3.0 }, ..gear }).unwrap();
        steps(&mut world, 60);
        let moved: Vec<f64> = [first, second]
            .iter()
            .zip(before)
            .map(|(&joint, before)| motion(&world, joint) - before)
            .collect();
        assert_close("first", moved[0], 6.0, 0.05);
        assert_close("second", moved[1], -2.0, 0.05);
    });
}

/// Contract: a joint may have thousands of gears. They come and go one by one, and when the joint goes, all that are left are lost, in
/// the order in which they were added.
#[test]
fn a_joint_can_have_thousands_of_gears() {
    const COUNT: usize = 40_000;
    let mut world = world(weightless(Settings::default()));
    let [hub, rim] = [0.0, 1.0].map(|x| rotor(&mut world, Vec2::new(x, 0.0), 0.3, None));
    let mut gears: Vec<JointHandle> =
        (0..COUNT).map(|_| join(&mut world, &JointDesc::gear(hub, rim, -1.0))).collect();
    world.validate().unwrap();
    let mut kept = Vec::new();
    for (number, gear) in gears.drain(..).enumerate() {
        if number % 4 == 0 {
            kept.push(gear);
        } else {
            world.remove_joint(gear).unwrap();
        }
    }
    world.validate().unwrap();
    assert_eq!(world.joint_count(), 2 + kept.len());
    world.remove_joint(hub).unwrap();
    world.validate().unwrap();
    assert_eq!(world.joint_count(), 1);
    world.step();
    assert!(world.joint_events().iter().all(|event| event.reason == JointEnd::Lost));
    assert!(world.joint_events().iter().map(|event| event.joint).eq(kept));
}
