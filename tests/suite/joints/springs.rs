//! Springs: frequency and decay.

use super::*;

/// A spring to measure: a weightless world in which something swings about 0, and what it is.
type Swing = (World, Box<dyn Fn(&World) -> f64>);
/// Makes one.
type Build = fn(Settings, Spring) -> Swing;

/// Two discs on a spring of a distance joint.
fn line(settings: Settings, spring: Spring) -> Swing {
    let mut world = world(weightless(settings));
    let a = add(&mut world, disc(0.1, Vec2::ZERO, 1.0));
    let b = add(&mut world, disc(0.1, Vec2::new(2.2, 0.0), 3.0));
    let desc = JointDesc::distance(a, b, Vec2::ZERO, Vec2::ZERO, 1.0);
    let joint = join(&mut world, &desc.with_spring(2.0, spring.hertz, spring.damping_ratio));
    (world, Box::new(move |world| f64::from(world.joint_state(joint).unwrap().translation) - 2.0))
}

/// A disc on a hinge of a post, off its centre, with a spring.
fn hinge(settings: Settings, spring: Spring) -> Swing {
    let mut world = world(weightless(settings));
    let a = post(&mut world, Vec2::ZERO);
    let b = add(&mut world, disc(0.5, Vec2::ZERO, 2.0));
    let desc = JointDesc::revolute(a, b, Vec2::ZERO, Vec2::ZERO);
    let joint = join(&mut world, &desc.with_spring(-0.2, spring.hertz, spring.damping_ratio));
    (world, Box::new(move |world| f64::from(world.joint_state(joint).unwrap().angle) + 0.2))
}

/// Two planks on a slider with a spring.
fn slider(settings: Settings, spring: Spring) -> Swing {
    let mut world = world(weightless(settings));
    let a = add(&mut world, plank(Vec2::new(1.0, 0.2), Vec2::ZERO, 5.0));
    let along = Vec2::from_angle(0.4);
    let b = add(&mut world, plank(Vec2::new(0.3, 0.3), 0.8 * along, 1.0));
    let desc = JointDesc::prismatic(a, b, Vec2::ZERO, Vec2::ZERO, 0.4);
    let desc = desc.with_spring(0.6, spring.hertz, spring.damping_ratio);
    let joint = join(&mut world, &desc);
    (world, Box::new(move |world| f64::from(world.joint_state(joint).unwrap().translation) - 0.6))
}

/// A chassis on the suspension of a wheel.
fn suspension(settings: Settings, spring: Spring) -> Swing {
    let mut world = world(weightless(settings));
    let chassis = add(&mut world, plank(Vec2::new(1.0, 0.2), Vec2::ZERO, 20.0));
    let wheel = add(&mut world, disc(0.3, Vec2::new(0.0, -0.4), 2.0));
    let up = std::f32::consts::FRAC_PI_2;
    let desc = JointDesc::wheel(chassis, wheel, Vec2::ZERO, Vec2::ZERO, up);
    let joint = join(&mut world, &desc.with_spring(-0.5, spring.hertz, spring.damping_ratio));
    (world, Box::new(move |world| f64::from(world.joint_state(joint).unwrap().translation) + 0.5))
}

/// Measures frequency (Hz) and damping ratio from the extremes of a swing.
fn measure((mut world, value): Swing, periods: f64, hertz: f64) -> (f64, f64) {
    let count = (periods / hertz / f64::from(world.settings().time_step)) as u32;
    let found = extremes(&mut world, count, value);
    assert!(found.len() >= 3, "{} extremes", found.len());
    let (first, last) = (found[0], found[found.len() - 1]);
    let halves = (found.len() - 1) as f64;
    let damped = halves / (2.0 * (last.0 - first.0));
    let decay = (first.1 / last.1).abs().ln() / halves * 2.0 * damped;
    let omega = ((TAU * damped).powi(2) + decay * decay).sqrt();
    (omega / TAU, decay / omega)
}

/// Contract: each kind of spring swings at its frequency on the effective mass, and decays as its damping ratio says. The implicit spring
/// adds a damping ratio of no more than ω·h, for a substep h: 0.026 at 1 Hz. Both errors shrink with the substep.
#[test]
fn springs_swing_and_decay_by_their_figures() {
    let kinds: [(&str, Build); 4] =
        [("distance", line), ("revolute", hinge), ("prismatic", slider), ("wheel", suspension)];
    on_both_sets(|settings| {
        for (name, build) in kinds {
            for ratio in [0.0f32, 0.1, 0.4] {
                for substeps in [4, 32] {
                    let settings = Settings { substeps, ..settings };
                    let periods = if ratio > 0.2 { 2.0 } else { 5.0 };
                    let (hertz, damping) = measure(build(settings, Spring::new(1.0, ratio)), periods, 1.0);
                    let added = TAU * f64::from(settings.time_step) / f64::from(substeps);
                    println!(
                        "{name} spring, damping ratio {ratio}, {substeps} substeps: {hertz:.5} Hz, ratio {damping:.5} ({:.2} ω·h more)",
                        (damping - f64::from(ratio)) / added
                    );
                    assert_close(
                        &format!("{name}: hertz at ratio {ratio}"),
                        hertz,
                        1.0,
                        0.005 + 1.5 * added * f64::from(ratio),
                    );
                    let more = damping - f64::from(ratio);
                    assert!(
                        (-0.002..1.1 * added + 0.002).contains(&more),
                        "{name}: {more} more damping at ratio {ratio}"
                    );
                }
            }
        }
    });
}

/// Contract: at a damping ratio of 1 or more a spring comes to rest without swinging over.
#[test]
fn critical_springs_do_not_swing_over() {
    on_both_sets(|settings| {
        for build in [line, hinge, slider, suspension] {
            for (hertz, ratio) in [(1.0f32, 1.0f32), (5.0, 2.0), (30.0, 1.0), (1.0e4, 1.0)] {
                let (mut world, value) = build(settings, Spring::new(hertz, ratio));
                let sign = value(&world).signum();
                for _ in 0..seconds(&settings, 3.0) {
                    world.step();
                    assert!(sign * value(&world) > -1e-5, "{hertz} Hz: {}", value(&world));
                }
                assert!(value(&world).abs() < 2e-3, "{hertz} Hz, ratio {ratio}: {}", value(&world));
            }
        }
    });
}

/// Contract: a chassis M on a wheel m that stands on the ground bounces at f·√(m/(m + M)), for a suspension of f on the effective mass,
/// within 1 %, and hangs through by g/ω².
#[test]
fn a_chassis_bounces_on_its_suspension() {
    on_both_sets(|settings| {
        let mut world = world(Settings { substeps: 16, ..settings });
        let ground = post(&mut world, Vec2::ZERO);
        let (mass, wheel_mass) = (9.0f32, 3.0f32);
        let wheel = add(&mut world, disc(0.3, Vec2::ZERO, wheel_mass));
        let chassis = add(
            &mut world,
            BodyDesc { fixed_rotation: true, ..plank(Vec2::new(1.0, 0.2), Vec2::new(0.0, 0.6), mass) },
        );
        join(&mut world, &JointDesc::revolute(ground, wheel, Vec2::ZERO, Vec2::ZERO));
        let up = std::f32::consts::FRAC_PI_2;
        let desc = JointDesc::wheel(chassis, wheel, Vec2::new(0.0, -0.6), Vec2::ZERO, up);
        join(&mut world, &desc.with_spring(0.0, 4.0, 0.05));
        let law = 4.0 * f64::from(wheel_mass / (wheel_mass + mass)).sqrt();
        let sag = G / (TAU * law).powi(2);
        let height = move |world: &World| f64::from(state(world, chassis).position.y) - 0.6 + sag;
        let times = upward_crossings(&mut world, seconds(&settings, 4.0), height);
        measured("frequency of a chassis", 1.0 / period(&times), law);
        assert_close("frequency", 1.0 / period(&times), law, 0.01 * law);
        steps(&mut world, seconds(&settings, 15.0));
        assert_close("sag", height(&world), 0.0, 0.001);
    });
}

/// Contract: a spring's frequency is that of the mass which it feels itself: a bar that is hinged at its end swings on an angular spring of 2 Hz at half of
/// that, as its moment of inertia about the end is four times that about its middle. And without damping a swing is less by the
/// factor 1 / (1 + (2π·hertz·h)²) in each substep of length h.
#[test]
fn springs_keep_to_their_own_mass() {
    on_both_sets(|settings| {
        let mut world = world(weightless(Settings { substeps: 16, ..settings }));
        let base = post(&mut world, Vec2::ZERO);
        let angle = 0.1f32;
        // A bar without breadth: its moment of inertia about the middle is a third of m·half².
        let bar = plank(Vec2::new(0.5, 0.005), 0.5 * Vec2::from_angle(angle), 1.0);
        let bar = add(&mut world, BodyDesc { angle, ..bar });
        let desc =
            JointDesc::revolute(base, bar, Vec2::ZERO, Vec2::new(-0.5, 0.0)).with_spring(0.0, 2.0, 0.0);
        join(&mut world, &desc);
        let times = upward_crossings(&mut world, 240, |world| f64::from(state(world, bar).angle));
        let found = 1.0 / period(&times);
        measured("frequency of a hinged bar on a spring of 2 Hz", found, 1.0);
        assert_close("frequency", found, 1.0, 0.01);

        for hertz in [1.0f32, 2.0, 4.0] {
            let mut world = self::world(weightless(settings));
            let base = post(&mut world, Vec2::ZERO);
            let ball = add(&mut world, disc(0.2, Vec2::new(2.5, 0.0), 1.0));
            let desc = JointDesc::distance(base, ball, Vec2::ZERO, Vec2::ZERO, 2.0);
            let desc = desc.with_spring(2.0, hertz, 0.0);
            join(&mut world, &desc);
            let swing = extremes(&mut world, 60, |world| f64::from(state(world, ball).position.x) - 2.0);
            // The last extreme, and when it was.
            let (time, last) = *swing.last().expect("it swings");
            let h = f64::from(settings.time_step) / f64::from(settings.substeps);
            let lost = 1.0 + (TAU * f64::from(hertz) * h).powi(2);
            let law = 0.5 * lost.powf(-time / h);
            measured(&format!("swing of a spring of {hertz} Hz after {time} s"), last.abs(), law);
            assert_close("swing", last.abs(), law, 0.01 * law + 0.0005);
        }
    });
}
