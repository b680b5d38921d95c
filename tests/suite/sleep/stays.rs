//! Contract: what swings or rocks for ever, without friction, but stays where it is, falls asleep; what goes anywhere does not, however slowly.

use super::*;
use granule::JointDesc;

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
        steps(&mut world, 3_600);
        assert_eq!(is_awake(&world, rod), !sleeps, "{angle}");
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
    let sleepless = rod(&mut world, 0.04);
    world.set_sleep(sleepless, false).unwrap();
    steps(&mut world, 1_800);
    assert!([drifting, turning, sleepless].into_iter().all(|body| is_awake(&world, body)));

    let (mut world, _) = with_floor(Settings::default());
    let plate = BodyDesc::kinematic(Shape::oriented_box(1.0, 0.1), Vec2::new(0.0, 2.0));
    let plate = add(&mut world, plate);
    let shaken = add(&mut world, BodyDesc { material: rough(), ..crate_at(0.0, 2.1) });
    for step in 0..1_800 {
        // By a centimetre, twice in a second.
        let speed = 0.125 * (0.2 * step as f32).cos();
        world.set_velocity(plate, Vec2::new(speed, 0.0)).unwrap();
        world.step();
    }
    assert!(is_awake(&world, shaken));
}
