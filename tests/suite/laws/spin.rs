//! The spin of bodies that nothing acts on.

use super::*;

each_form! { free_spin_is_kept: circle, cube, plank, capsule, octagon, hexagon, wedge, dumbbell, table, wheel, club, angle }
each_form! { an_angular_impulse_turns_by_the_moment_of_inertia: circle, cube, plank, capsule, octagon, hexagon, wedge, dumbbell, table, wheel, club, angle, arena }
each_form! { turning_does_not_wear_out: plank, capsule, wedge, dumbbell, table }

/// A body that spins in free flight, or falls without touching anything, keeps its spin, and its angle grows as ωt. Its
/// centre of mass falls as a point does.
fn free_spin_is_kept(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    for gravity in [Vec2::ZERO, Vec2::new(0.0, -G)] {
        for omega in [0.3f32, -7.0, 100.0] {
            let mut world = world(Settings { gravity, ..settings });
            let velocity = Vec2::new(3.0, 20.0);
            let desc = BodyDesc { velocity, angular_velocity: omega, ..form.body(Vec2::ZERO) };
            let body = form.add(&mut world, &desc);
            steps(&mut world, 240);
            let end = state(&world, body);
            let case = || format!("ω {omega}, gravity {gravity}");
            cases.close("spin", end.angular_velocity, omega, 0.0, case);
            // The path of 960 substeps, each rounded to at most half an ulp of 400 rad.
            cases.close("angle off by", turn_between(end.angle, 4.0 * omega), 0.0, 0.02, case);
            // Symplectic Euler goes beyond ½gt², by half a step's gravity per step.
            let path = 4.0 * velocity + 8.0 * gravity;
            let beyond = 0.5 * 4.0 * settings.time_step * gravity.length() + 5e-3;
            cases.close("path", end.position.distance(path), 0.0, beyond, case);
        }
    }
    cases.finish();
}

/// An impulse gives a body the velocity P/m and an angular impulse gives it the spin L/I, within 0.01 %. Mass and
/// moment of inertia follow from the formulas for the body's parts.
fn an_angular_impulse_turns_by_the_moment_of_inertia(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let mut world = world(weightless(settings));
    let material = Material { density: 2.5, ..Material::default() };
    let body = form.add(&mut world, &BodyDesc { material, ..form.body(Vec2::ZERO) });
    world.apply_impulse(body, Vec2::new(3.0, 0.0)).unwrap();
    world.apply_angular_impulse(body, 2.0).unwrap();
    world.step();
    let end = state(&world, body);
    let (speed, spin) = (3.0 / (2.5 * form.mass()) as f32, 2.0 / (2.5 * form.inertia()) as f32);
    cases.close("velocity", end.velocity.x, speed, 1e-4 * speed, String::new);
    cases.close("spin", end.angular_velocity, spin, 1e-4 * spin, String::new);
    cases.finish();
}

/// The turn from one angle to another by the shorter way, rad.
fn turn_between(from: f32, to: f32) -> f32 {
    let turn = (f64::from(to) - f64::from(from)).rem_euclid(std::f64::consts::TAU);
    (if turn > std::f64::consts::PI { turn - std::f64::consts::TAU } else { turn }) as f32
}

/// A body that has spun at 1,000 rad/s for 200 s, or was given an angle of a million turns, turns like any other body:
/// at 0.4 rad/s by 0.4 rad in a second, within 1 %. The test measures the area that the shape covers, and not the
/// reported angle.
fn turning_does_not_wear_out(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    for (what, angle, spin, time) in [("spun", 0.3f32, 1_000.0f32, 12_000), ("turned", 6.0e6, 0.0, 1)] {
        let mut world = world(weightless(settings));
        let desc = BodyDesc { angle, angular_velocity: spin, ..form.body(Vec2::ZERO) };
        let body = form.add(&mut world, &desc);
        steps(&mut world, time);
        world.set_angular_velocity(body, 0.4).unwrap();
        let before = twice_the_direction(&world);
        steps(&mut world, 60);
        let turned = 0.5 * turn_between(before, twice_the_direction(&world));
        cases.close("turns by", turned, 0.4, 0.004, || what.into());
    }
    cases.finish();
}

/// Twice the angle of the main axis of the area covered around the origin: the argument of the mean of (x + iy)²/r²
/// over that area.
fn twice_the_direction(world: &World) -> f32 {
    let (mut sum, directions) = (Vec2::ZERO, 1_440);
    for radius in (1..=40).map(|ring| 0.05 * ring as f32) {
        for direction in 0..directions {
            let angle = std::f32::consts::TAU * direction as f32 / directions as f32;
            world.query_point(radius * Vec2::from_angle(angle), |_| {
                sum += Vec2::from_angle(2.0 * angle);
                true
            });
        }
    }
    sum.to_angle()
}
