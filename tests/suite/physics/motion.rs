//! Free motion.

use super::*;

/// A free fall is symplectic Euler at the substep, v = gNh and y = gh²N(N + 1)/2 after N substeps, which is within
/// ght/2 of ½gt².
#[test]
fn free_fall_is_symplectic_euler() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(settings);
        let start = Vec2::new(3.0, 100.0);
        let desc = BodyDesc { velocity: Vec2::new(2.0, 5.0), ..BodyDesc::dynamic(Shape::circle(0.5), start) };
        let body = world.add_body(&desc).unwrap();
        steps(&mut world, 120);
        let n = f64::from(120 * settings.substeps);
        let h = f64::from(settings.time_step) / f64::from(settings.substeps);
        let (t, g) = (n * h, -f64::from(G));
        let end = state(&world, body);
        let exact = 100.0 + 5.0 * t + g * h * h * n * (n + 1.0) / 2.0;
        assert_close("y", end.position.y, exact as f32, 2e-3, &settings);
        assert_close("vy", end.velocity.y, (5.0 + g * t) as f32, 2e-4, &settings);
        assert_close("x", end.position.x, (3.0 + 2.0 * t) as f32, 1e-4, &settings);
        assert_eq!(end.velocity.x, 2.0);
        let continuous = 100.0 + 5.0 * t + 0.5 * g * t * t;
        let bound = (-g * h * t / 2.0) as f32 + 2e-3;
        assert_close("y, continuous", end.position.y, continuous as f32, bound, &settings);
    });
}

/// The gravity scale multiplies gravity for that body alone: at 0 the body floats, at ½ it falls at g/2, at −1 it
/// rises.
#[test]
fn gravity_scale_multiplies_gravity() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(settings);
        for (i, scale) in [0.0f32, 0.5, 1.0, -1.0].into_iter().enumerate() {
            let at = Vec2::new(10.0 * i as f32, 0.0);
            let desc = BodyDesc { gravity_scale: scale, ..BodyDesc::dynamic(Shape::circle(0.5), at) };
            world.add_body(&desc).unwrap();
        }
        let bodies: Vec<_> = world.handles().collect();
        steps(&mut world, 60);
        for (body, scale) in bodies.iter().zip([0.0f32, 0.5, 1.0, -1.0]) {
            assert_close("vy", state(&world, *body).velocity.y, -G * scale, 1e-4, &settings);
        }
        world.set_gravity_scale(bodies[0], 2.0).unwrap();
        steps(&mut world, 60);
        assert_close("vy, reset", state(&world, bodies[0]).velocity.y, -2.0 * G, 1e-4, &settings);
    });
}

/// Gravity and a time step that are set later are used from the next step on.
#[test]
fn gravity_and_time_step_can_change() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        let body = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)).unwrap();
        world.set_gravity(Vec2::new(4.0, 0.0)).unwrap();
        steps(&mut world, 60);
        assert_close("vx", state(&world, body).velocity.x, 4.0, 1e-4, &settings);
        assert_eq!(state(&world, body).velocity.y, 0.0);
        world.set_time_step(1.0 / 30.0).unwrap();
        steps(&mut world, 60);
        assert_close("vx at the longer step", state(&world, body).velocity.x, 12.0, 1e-3, &settings);
    });
}

/// Linear damping c and angular damping d decay speed as e^−ct and e^−dt, to first order in the substep.
#[test]
fn damping_decays_exponentially() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let desc = BodyDesc {
            velocity: Vec2::new(3.0, -4.0),
            angular_velocity: 5.0,
            linear_damping: 1.5,
            angular_damping: 0.5,
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)
        };
        let body = world.add_body(&desc).unwrap();
        steps(&mut world, 60);
        let end = state(&world, body);
        let (linear, angular) = ((-1.5f32).exp(), (-0.5f32).exp());
        assert_close("vx", end.velocity.x, 3.0 * linear, 0.01 * 3.0 * linear, &settings);
        assert_close("vy", end.velocity.y, -4.0 * linear, 0.01 * 4.0 * linear, &settings);
        assert_close("omega", end.angular_velocity, 5.0 * angular, 0.005 * 5.0 * angular, &settings);
        world.set_damping(body, 0.0, 0.0).unwrap();
        let before = state(&world, body);
        steps(&mut world, 60);
        assert_eq!(state(&world, body).velocity, before.velocity);
        assert_eq!(state(&world, body).angular_velocity, before.angular_velocity);
    });
}

/// A force acts for one step: applied in each step it gives v = Ft/m. A torque acts for one step as well: it gives ω =
/// τt/I, and the angle follows.
#[test]
fn forces_and_torques_integrate() {
    on_both_sets_and_solvers(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let desc = BodyDesc { mass: Some(4.0), ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO) };
        let body = world.add_body(&desc).unwrap();
        assert_eq!(world.mass(body), Ok(4.0));
        for _ in 0..60 {
            world.apply_force(body, Vec2::new(8.0, -2.0)).unwrap();
            world.apply_torque(body, 3.0).unwrap();
            world.step();
        }
        let inertia = 0.5 * 4.0 * 0.25;
        let end = state(&world, body);
        assert_close("vx", end.velocity.x, 2.0, 1e-4, &settings);
        assert_close("vy", end.velocity.y, -0.5, 1e-4, &settings);
        assert_close("omega", end.angular_velocity, 3.0 / inertia, 1e-3, &settings);
        let h = settings.time_step / settings.substeps as f32;
        assert_close("angle", end.angle, 0.5 * 3.0 / inertia * (1.0 + h), 2e-3, &settings);
        steps(&mut world, 10);
        assert_eq!(state(&world, body).velocity, end.velocity, "forces are cleared after a step");
        assert_eq!(state(&world, body).angular_velocity, end.angular_velocity, "torques too");
    });
}

/// An impulse changes velocity by J/m and spin by L/I at once; forces in one step add up.
#[test]
fn impulses_act_at_once() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let desc = BodyDesc { mass: Some(2.0), ..BodyDesc::dynamic(Shape::circle(1.0), Vec2::ZERO) };
        let body = world.add_body(&desc).unwrap();
        world.apply_impulse(body, Vec2::new(3.0, 5.0)).unwrap();
        world.apply_angular_impulse(body, 0.5).unwrap();
        assert_eq!(state(&world, body).velocity, Vec2::new(1.5, 2.5));
        assert_eq!(state(&world, body).angular_velocity, 0.5);
        world.apply_force(body, Vec2::new(60.0, 0.0)).unwrap();
        world.apply_force(body, Vec2::new(60.0, 0.0)).unwrap();
        world.step();
        assert_close("two forces", state(&world, body).velocity.x, 1.5 + 1.0, 1e-5, &settings);
    });
}

/// A mass of 0, or a density of 0, means infinite mass: neither impulses nor collisions change the motion.
#[test]
fn mass_zero_is_infinite() {
    on_both_sets_and_solvers(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let heavy = BodyDesc {
            mass: Some(0.0),
            velocity: Vec2::new(1.0, 0.0),
            material: bouncy(1.0, 1.0),
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)
        };
        let weightless_density =
            BodyDesc { material: bouncy(0.0, 1.0), mass: None, position: Vec2::new(0.0, 50.0), ..heavy };
        let light = BodyDesc {
            position: Vec2::new(3.0, 0.0),
            velocity: Vec2::new(-2.0, 0.0),
            material: bouncy(1.0, 1.0),
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)
        };
        let heavy = world.add_body(&heavy).unwrap();
        let by_density = world.add_body(&weightless_density).unwrap();
        let light = world.add_body(&light).unwrap();
        assert_eq!(world.mass(heavy), Ok(f32::INFINITY));
        assert_eq!(world.mass(by_density), Ok(f32::INFINITY));
        for body in [heavy, by_density] {
            world.apply_impulse(body, Vec2::new(100.0, 100.0)).unwrap();
            world.apply_force(body, Vec2::new(100.0, 100.0)).unwrap();
            world.apply_angular_impulse(body, 100.0).unwrap();
        }
        steps(&mut world, 90);
        for body in [heavy, by_density] {
            assert_eq!(state(&world, body).velocity, Vec2::new(1.0, 0.0));
            assert_eq!(state(&world, body).angular_velocity, 0.0);
        }
        // At −2 against a wall that comes at 1, the body leaves at 1 + 3.
        assert_close("light", state(&world, light).velocity.x, 4.0, 1e-3, &settings);
    });
}
