//! Contract: what swings or rocks for ever, without friction, but stays where it is, falls asleep; what goes anywhere does not, however slowly.

use super::*;
use granule::{Field, FieldKind, JointDesc, JointKind, Region};

/// A rod of 1 m that hangs on a hinge without friction, leaning by this angle.
fn rod(world: &mut World, angle: f32) -> BodyHandle {
    let pin = add(world, BodyDesc::fixed(Shape::circle(0.05), Vec2::new(0.0, 5.0)));
    let down = Vec2::new(angle.sin(), -angle.cos());
    let desc = BodyDesc::dynamic(Shape::oriented_box(0.05, 0.5), Vec2::new(0.0, 5.0) + 0.5 * down);
    let rod = add(world, BodyDesc { angle, ..desc });
    world.add_joint(&JointDesc::revolute(pin, rod, Vec2::ZERO, Vec2::new(0.0, 0.5))).unwrap();
    rod
}

/// A pendulum that swings by two centimetres, at more than the threshold, falls asleep after four seconds and not before, and one that swings by five does not.
/// (Planks of a curtain that swung by a centimetre kept `hinges` awake for ever.)
#[test]
fn a_small_swing_falls_asleep() {
    for (angle, sleeps) in [(0.035f32, true), (0.04, true), (0.1, false), (0.5, false)] {
        let mut world = world(Settings::default());
        let rod = rod(&mut world, angle);
        let fastest = (0..230)
            .map(|_| {
                world.step();
                let state = world.body(rod).unwrap();
                state.velocity.length().max(0.5 * state.angular_velocity.abs())
            })
            .fold(0.0, f32::max);
        assert!(fastest > 0.05 && is_awake(&world, rod), "{angle}: {fastest} m/s");
        let asleep = (0..3_600).find(|_| {
            world.step();
            !is_awake(&world, rod)
        });
        assert_eq!(asleep.is_some_and(|steps| steps < 600), sleeps, "{angle}: {asleep:?}");
    }
}

/// What drifts at a little more than the threshold, or is shaken by a plate that moves by a centimetre, stays awake, as does what must not sleep.
#[test]
fn what_goes_somewhere_stays_awake() {
    let mut world = world(Settings { gravity: Vec2::ZERO, ..Settings::default() });
    let drifting = BodyDesc { velocity: Vec2::new(0.06, 0.0), ..crate_at(0.0, 0.0) };
    let drifting = add(&mut world, drifting);
    let turning = BodyDesc { angular_velocity: 0.2, ..crate_at(0.0, 10.0) };
    let turning = add(&mut world, turning);
    steps(&mut world, 1_800);
    assert!(is_awake(&world, drifting) && is_awake(&world, turning));

    let (mut world, _) = with_floor(Settings::default());
    let sleepless = rod(&mut world, 0.04);
    world.set_sleep(sleepless, false).unwrap();
    let plate = BodyDesc::kinematic(Shape::oriented_box(1.0, 0.1), Vec2::new(0.0, 2.0));
    let plate = add(&mut world, plate);
    let shaken = add(&mut world, BodyDesc { material: rough(), ..crate_at(0.0, 2.1) });
    for step in 0..1_800 {
        // By a centimetre, twice in a second.
        let speed = 0.125 * (0.2 * step as f32).cos();
        world.set_velocity(plate, Vec2::new(speed, 0.0)).unwrap();
        world.step();
    }
    assert!(is_awake(&world, shaken) && is_awake(&world, sleepless));
}

/// A hammer that taps a pendulum twice or more in a second keeps it awake, though the pendulum never leaves the circle, and each tap is as soft as its swing. (After
/// four seconds it slept beside the hammer, out of its reach.)
#[test]
fn what_is_tapped_stays_awake() {
    for (length, period, reach) in
        [(0.25f32, 0.3f32, 0.01f32), (0.25, 0.2, 0.007), (0.1, 0.4, 0.004), (0.5, 0.5, 0.015)]
    {
        let mut world = world(Settings::default());
        let pin = add(&mut world, BodyDesc::fixed(Shape::circle(0.01), Vec2::ZERO));
        let ball = add(&mut world, BodyDesc::dynamic(Shape::circle(0.04), Vec2::new(0.0, -length)));
        world.add_joint(&JointDesc::distance(pin, ball, Vec2::ZERO, Vec2::ZERO, length)).unwrap();
        let at = Vec2::new(-0.142, -length);
        let hammer = add(&mut world, BodyDesc::kinematic(Shape::oriented_box(0.1, 0.04), at));
        let mut taps = 0;
        for step in 1..=1_200 {
            let phase = std::f32::consts::TAU * step as f32 / (60.0 * period);
            world.set_kinematic_target(hammer, at + Vec2::new(reach * phase.sin(), 0.0), 0.0).unwrap();
            world.step();
            taps += world.begin_events().len();
            assert!(
                is_awake(&world, ball),
                "{length} m, {period} s, {reach} m: asleep after {step} steps and {taps} taps"
            );
        }
        assert!(taps > 10, "{taps}");
    }
}

/// A field that is there in every step keeps a body awake that it has not yet made faster than the threshold; one that wakes nothing does not. (The body slept
/// each half second, and lost its speed.)
#[test]
fn a_field_keeps_awake_what_it_moves() {
    for wake in [true, false] {
        let mut world = world(Settings { gravity: Vec2::ZERO, ..Settings::default() });
        let ball = add(&mut world, BodyDesc::dynamic(Shape::circle(0.2), Vec2::ZERO));
        let kind = FieldKind::Acceleration(Vec2::new(0.01, 0.0));
        let field = Field { wake, ..Field::new(Region::Everywhere, kind) };
        for _ in 0..600 {
            world.apply_field(&field).unwrap();
            world.step();
        }
        // ½·a·t² in ten seconds.
        let moved = world.body(ball).unwrap().position.x;
        assert_eq!((moved - 0.5).abs() < 0.01, wake, "{moved} m");
        assert_eq!(is_awake(&world, ball), wake);
    }
}

/// What a gear couples is one island, though each of its two wheels turns on a body that stands still: a motor of the one keeps the other awake. (The
/// other slept after half a second, and stood while the motor turned its mate.)
#[test]
fn a_gear_couples_islands() {
    let mut world = world(Settings::default());
    let frame = add(&mut world, BodyDesc::fixed(Shape::circle(0.01), Vec2::ZERO));
    let wheels = [0.0f32, 0.6].map(|x| {
        let wheel = add(&mut world, BodyDesc::dynamic(Shape::circle(0.2), Vec2::new(x, 0.0)));
        let hinge = JointDesc::revolute(frame, wheel, Vec2::new(x, 0.0), Vec2::ZERO);
        let hinge = if x == 0.0 { hinge.with_motor(0.15, 1.0e6) } else { hinge };
        (wheel, world.add_joint(&hinge).unwrap())
    });
    world.add_joint(&JointDesc::gear(wheels[0].1, wheels[1].1, 1.0)).unwrap();
    steps(&mut world, 1_200);
    let [one, other] = wheels.map(|(wheel, _)| world.body(wheel).unwrap().angle);
    assert!((one.abs() - 3.0).abs() < 0.05 && (one + other).abs() < 0.01, "{one} and {other} rad");

    // When the motor stands both sleep, as one, and both wake if one does.
    world.set_motor_speed(wheels[0].1, 0.0).unwrap();
    wheels.iter().for_each(|&(wheel, _)| world.set_angular_velocity(wheel, 0.0).unwrap());
    steps(&mut world, 120);
    assert_eq!(world.awake_count(), 0);
    world.wake_body(wheels[0].0).unwrap();
    assert!(is_awake(&world, wheels[1].0));
}

/// A box that a motor joint drives in this direction, or turns, beside a post.
fn driven_box(world: &mut World, linear_velocity: Vec2, angular_velocity: f32) -> BodyHandle {
    world.set_gravity(Vec2::ZERO).unwrap();
    let post = add(world, BodyDesc::fixed(Shape::circle(0.05), Vec2::ZERO));
    let driven = add(world, BodyDesc::dynamic(Shape::oriented_box(0.2, 0.2), Vec2::new(0.6, 0.0)));
    let (offset, angle, max_force, max_torque) = (None, None, 1.0e3, 1.0e3);
    let kind = JointKind::Motor { linear_velocity, angular_velocity, offset, angle, max_force, max_torque };
    world.add_joint(&JointDesc::new(post, driven, kind)).unwrap();
    driven
}

/// An arm with a motor of this speed in its hinge that pushes a box along a floor.
fn pushing_arm(world: &mut World, speed: f32, half: f32) -> BodyHandle {
    let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
    add(world, BodyDesc { material: rough(), ..floor });
    let post = add(world, BodyDesc::fixed(Shape::circle(0.05), Vec2::new(0.0, 1.5)));
    let arm = add(world, BodyDesc::dynamic(Shape::oriented_box(0.05, 0.6), Vec2::new(0.0, 0.8)));
    let hinge = JointDesc::revolute(post, arm, Vec2::ZERO, Vec2::new(0.0, 0.7));
    world.add_joint(&hinge.with_motor(speed, 500.0)).unwrap();
    let pushed = BodyDesc::dynamic(Shape::oriented_box(half, half), Vec2::new(0.06 + half, half));
    add(world, BodyDesc { material: rough(), ..pushed });
    arm
}

/// What a motor moves more slowly than the threshold goes as far as in a world without sleep: what a motor joint drives in any direction or turns, and an arm that pushes a box
/// along a floor, though the box sticks and slips. (The one fell asleep after half a second, the other in a step in which its velocity was none.)
#[test]
fn slow_motors_go_on() {
    for number in 0..6 {
        let states = [true, false].map(|sleep| {
            let mut world = world(Settings { sleep, ..Settings::default() });
            let body = match number {
                0 => driven_box(&mut world, Vec2::new(-0.037, -0.011), 0.0),
                1 => driven_box(&mut world, Vec2::ZERO, 0.04),
                2 => driven_box(&mut world, Vec2::new(0.0, 0.02), 0.0),
                3 => pushing_arm(&mut world, 0.025, 0.27),
                4 => pushing_arm(&mut world, 0.04, 0.2),
                _ => pushing_arm(&mut world, 0.06, 0.35),
            };
            steps(&mut world, 1_200);
            let state = world.body(body).unwrap();
            (state.position, state.total_angle())
        });
        let [(place, angle), (far, turned)] = states;
        let differs = f64::from((place - far).length()) + (angle - turned).abs();
        assert!(differs < 0.01, "scene {number}: {place} {angle}, without sleep {far} {turned}");
    }
}
