//! Bodies without contacts: spin, torque, impulses off the centre.

use super::*;

fn triangle() -> Shape {
    Shape::polygon(&[Vec2::new(0.0, 0.0), Vec2::new(3.0, 0.0), Vec2::new(0.5, 1.0)]).unwrap()
}

/// A body without a torque keeps its spin, its velocity and its energy to the last bit over 600 steps, and its angle
/// grows as ωt.
#[test]
fn torque_free_bodies_keep_spin_and_energy() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let rounded =
            Polygon::rounded(&[Vec2::ZERO, Vec2::new(1.0, 0.0), Vec2::new(0.2, 0.9)], 0.15).unwrap().0;
        let shapes = [
            Shape::circle(0.37),
            Shape::oriented_box(0.7, 0.3),
            Shape::capsule(0.9, 0.21),
            Shape::segment(1.3),
            triangle(),
            Shape::Polygon(Polygon::regular(7, 0.83).unwrap()),
            Shape::Polygon(rounded),
        ];
        let mut world = world(settings);
        let bodies: Vec<_> = shapes
            .iter()
            .enumerate()
            .map(|(i, &shape)| BodyDesc {
                mass: Some(1.7),
                angle: 0.3,
                angular_velocity: 3.1 - 0.7 * i as f32,
                velocity: Vec2::new(1.25, 0.5),
                ..BodyDesc::dynamic(shape, Vec2::new(0.0, 10.0 * i as f32))
            })
            .map(|desc| (world.add_body(&desc).unwrap(), desc))
            .collect();
        let energy = world.quality().kinetic_energy;
        assert!(energy > 1.0);
        steps(&mut world, 600);
        for (body, desc) in bodies {
            let end = state(&world, body);
            assert_eq!(end.angular_velocity, desc.angular_velocity, "{:?} at {:?}", desc.shape, settings.isa);
            assert_eq!(end.velocity, desc.velocity, "{:?}", desc.shape);
            let turned = 600.0 * settings.time_step * desc.angular_velocity;
            // 2400 substeps are each rounded to half an ulp of an angle below 32.
            assert_close("angle", end.total_angle() as f32, desc.angle + turned, 2.5e-3, &settings);
        }
        assert_eq!(world.quality().kinetic_energy, energy);
    });
}

/// A compound without a torque keeps its spin and energy, and its centre of mass moves in a straight line.
#[test]
fn torque_free_compounds_turn_about_their_centre_of_mass() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let body = world.add_body(&BodyDesc::dynamic(Shape::oriented_box(1.0, 0.2), Vec2::ZERO)).unwrap();
        world.add_part(body, &Part::new(Shape::circle(0.5), Vec2::new(1.3, 0.4))).unwrap();
        world.set_velocity(body, Vec2::new(2.0, 1.0)).unwrap();
        world.set_angular_velocity(body, 4.0).unwrap();
        let (start, energy) = (state(&world, body), world.quality().kinetic_energy);
        steps(&mut world, 600);
        let end = state(&world, body);
        assert_eq!((end.angular_velocity, end.velocity), (4.0, start.velocity));
        assert_eq!(world.quality().kinetic_energy, energy);
        let moved = end.position - start.position;
        assert!((moved - Vec2::new(20.0, 10.0)).length() < 5e-3, "{moved}");
    });
}

/// A constant force at a constant lever from the centre gives v = Ft/m and ω = (r × F)t/I.
#[test]
fn force_at_a_point_accelerates_and_turns() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        for (shape, mass, inertia) in [
            (Shape::circle(0.5), 2.0f32, 2.0 * 0.25 / 2.0),
            (Shape::oriented_box(0.5, 1.0), 3.0, 3.0 * (1.0 + 4.0) / 12.0),
            (Shape::segment(1.5), 2.0, 2.0 * 9.0 / 12.0),
        ] {
            let mut world = world(settings);
            let desc = BodyDesc { mass: Some(mass), ..BodyDesc::dynamic(shape, Vec2::new(3.0, -2.0)) };
            let body = world.add_body(&desc).unwrap();
            let (force, lever) = (Vec2::new(4.0, 1.5), Vec2::new(-0.3, 0.4));
            for _ in 0..60 {
                let at = state(&world, body).position + lever;
                world.apply_force_at(body, force, at).unwrap();
                world.step();
            }
            let end = state(&world, body);
            let omega = (lever.x * force.y - lever.y * force.x) / inertia;
            assert_close("vx", end.velocity.x, force.x / mass, 1e-4 * force.x, &settings);
            assert_close("vy", end.velocity.y, force.y / mass, 1e-4 * force.y, &settings);
            assert_close("ω", end.angular_velocity, omega, 2e-4 * omega.abs(), &settings);
            // Symplectic Euler at the substep gives ½αt² and half a substep more.
            let h = settings.time_step / settings.substeps as f32;
            let angle = end.total_angle() as f32;
            assert_close("angle", angle, 0.5 * omega * (1.0 + h), 1e-3 * omega.abs(), &settings);
            // Forces act for one step only.
            world.step();
            assert_eq!(state(&world, body).angular_velocity, end.angular_velocity);
        }
    });
}

/// A torque turns a body at τ/I and leaves its centre in place.
#[test]
fn torque_turns_about_the_centre() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let desc =
            BodyDesc { mass: Some(6.0), ..BodyDesc::dynamic(Shape::oriented_box(1.0, 0.5), Vec2::ONE) };
        let body = world.add_body(&desc).unwrap();
        for _ in 0..60 {
            world.apply_torque(body, 5.0).unwrap();
            world.step();
        }
        let end = state(&world, body);
        assert_close("ω", end.angular_velocity, 5.0 / (6.0 * (4.0 + 1.0) / 12.0), 5e-4, &settings);
        assert_eq!((end.position, end.velocity), (Vec2::ONE, Vec2::ZERO));
    });
}

/// A rod of length L hit across its end moves at J/m and turns at 6J/(mL). The point a sixth of L beyond its centre
/// (its centre of percussion) stands still at first.
#[test]
fn rod_hit_at_its_end_turns_at_the_analytic_rate() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let (half, mass, impulse) = (1.5f32, 2.0f32, 3.0f32);
        for angle in [0.0f32, 0.7, -2.0] {
            let mut world = world(settings);
            let desc = BodyDesc {
                mass: Some(mass),
                angle,
                ..BodyDesc::dynamic(Shape::segment(half), Vec2::new(5.0, -1.0))
            };
            let rod = world.add_body(&desc).unwrap();
            let axis = Vec2::from_angle(angle);
            world.apply_impulse_at(rod, impulse * axis.perp(), desc.position + half * axis).unwrap();
            let hit = state(&world, rod);
            let length = 2.0 * half;
            let omega = impulse * (length / 2.0) / (mass * length * length / 12.0);
            assert_close("ω", hit.angular_velocity, omega, 1e-5 * omega, &settings);
            assert_close("v", hit.velocity.dot(axis.perp()), impulse / mass, 1e-5, &settings);
            let still = hit.velocity + hit.angular_velocity * (-length / 6.0 * axis).perp();
            assert!(still.length() < 1e-5, "{still}");
            steps(&mut world, 60);
            let end = state(&world, rod);
            assert_close("angle", end.total_angle() as f32 - angle, omega, 1e-4, &settings);
            assert_close("path", (end.position - desc.position).length(), impulse / mass, 1e-4, &settings);
        }
    });
}

/// A capsule hit across its end turns at Jr/I; I is the sum of a rectangle and two half discs.
#[test]
fn capsule_hit_at_its_end_turns_at_the_analytic_rate() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let (h, r, density) = (0.8f32, 0.3f32, 2.0f32);
        let desc = BodyDesc {
            material: Material::new(density, 0.0, 0.0),
            ..BodyDesc::dynamic(Shape::capsule(h, r), Vec2::ZERO)
        };
        let capsule = world.add_body(&desc).unwrap();
        world.apply_impulse_at(capsule, Vec2::new(0.0, 5.0), Vec2::new(h + r, 0.0)).unwrap();
        let inertia = density * mass::capsule_inertia(h, r);
        let omega = 5.0 * (h + r) / inertia;
        assert_close("ω", state(&world, capsule).angular_velocity, omega, 1e-5 * omega, &settings);
    });
}
