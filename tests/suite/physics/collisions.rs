//! Collisions.

use super::*;

/// The highest point of a ball of radius ½ after its first bounce from `height`, measured from the floor's surface.
fn bounce_height(settings: Settings, height: f32, restitution: f32) -> f32 {
    let mut world = world(settings);
    world.add_body(&floor(bouncy(1.0, 1.0))).unwrap();
    let ball = BodyDesc {
        material: bouncy(1.0, restitution),
        ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5 + height))
    };
    let ball = world.add_body(&ball).unwrap();
    let limit = (20.0 / settings.time_step) as u32;
    let mut count = 0;
    while state(&world, ball).velocity.y <= 0.0 {
        world.step();
        count += 1;
        assert!(count < limit, "the ball never turned back");
    }
    let mut top = f32::MIN;
    while state(&world, ball).velocity.y > 0.0 {
        top = top.max(state(&world, ball).position.y - 0.5);
        world.step();
    }
    top.max(state(&world, ball).position.y - 0.5)
}

/// A ball dropped from a height bounces to e² of that height, within 2 %.
#[test]
fn bounce_reaches_e_squared_of_the_height() {
    on_both_sets_and_solvers(|settings| {
        for (height, e) in [(20.0f32, 0.8f32), (20.0, 0.9), (20.0, 1.0), (45.0, 0.7)] {
            let top = bounce_height(settings, height, e);
            assert_close("height", top, e * e * height, 0.02 * e * e * height, &settings);
        }
        // The overlap of a coarse step is too large for lower bounces: the steps are short here.
        let fine = Settings { time_step: 1.0 / 480.0, ..settings };
        for (height, e) in [(5.0f32, 0.5f32), (5.0, 0.8), (2.0, 0.6)] {
            let top = bounce_height(fine, height, e);
            assert_close("height", top, e * e * height, 0.02 * e * e * height, &fine);
        }
    });
}

/// Below the restitution threshold nothing bounces: the ball stays where it landed.
#[test]
fn slow_impacts_do_not_bounce() {
    on_both_sets_and_solvers(|settings| {
        // The speed √(2·10·0.04) = 0.89 m/s is below the threshold of 1.
        assert!(bounce_height_of_slow_ball(settings) < 0.01);
    });
}

fn bounce_height_of_slow_ball(settings: Settings) -> f32 {
    let mut world = world(settings);
    world.add_body(&floor(bouncy(1.0, 1.0))).unwrap();
    let ball = BodyDesc {
        material: bouncy(1.0, 1.0),
        ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.54))
    };
    let ball = world.add_body(&ball).unwrap();
    steps(&mut world, 15);
    let mut top = f32::MIN;
    for _ in 0..120 {
        world.step();
        top = top.max(state(&world, ball).position.y - 0.5);
    }
    top
}

/// Runs two frictionless, perfectly elastic bodies into each other on the x axis. Returns their velocities afterwards.
fn head_on(settings: Settings, shapes: [Shape; 2], densities: [f32; 2], speeds: [f32; 2]) -> [Vec2; 2] {
    let mut world = world(weightless(settings));
    let mut add = |shape, x: f32, density, speed| {
        let desc = BodyDesc {
            velocity: Vec2::new(speed, 0.0),
            material: bouncy(density, 1.0),
            ..BodyDesc::dynamic(shape, Vec2::new(x, 0.0))
        };
        world.add_body(&desc).unwrap()
    };
    let a = add(shapes[0], -2.0, densities[0], speeds[0]);
    let b = add(shapes[1], 2.0, densities[1], speeds[1]);
    steps(&mut world, 180);
    let gap = state(&world, b).position.x - state(&world, a).position.x;
    assert!(gap > 1.5, "they passed through each other or stuck: {gap}");
    [state(&world, a).velocity, state(&world, b).velocity]
}

/// Head-on elastic collisions exchange velocities at equal masses and follow the two-body formula at 1:4, within
/// 1e-4 m/s, for every pair of shapes.
#[test]
fn head_on_elastic_collisions() {
    let ball = Shape::circle(0.5);
    let cube = Shape::aabb(0.5, 0.5);
    on_both_sets_and_solvers(|settings| {
        for shapes in [[ball, ball], [cube, cube], [ball, cube], [cube, ball]] {
            for (m, u) in
                [([1.0f32, 1.0f32], [2.0f32, -1.0f32]), ([1.0, 4.0], [2.0, -1.0]), ([4.0, 1.0], [3.0, 0.0])]
            {
                // The densities give the mass ratio m, whatever the shapes' areas.
                let densities = [m[0] / shapes[0].area(), m[1] / shapes[1].area()];
                let v = head_on(settings, shapes, densities, u);
                let total = m[0] + m[1];
                let expected = [
                    ((m[0] - m[1]) * u[0] + 2.0 * m[1] * u[1]) / total,
                    ((m[1] - m[0]) * u[1] + 2.0 * m[0] * u[0]) / total,
                ];
                for i in 0..2 {
                    assert_close("vx", v[i].x, expected[i], 1e-4, &settings);
                    assert_close("vy", v[i].y, 0.0, 1e-4, &settings);
                }
            }
        }
    });
}

/// A completely inelastic head-on collision leaves both bodies at the common velocity.
#[test]
fn inelastic_collision_shares_the_velocity() {
    on_both_sets(|settings| {
        let mut world = world(weightless(settings));
        let ball = |x: f32, speed: f32, density: f32| BodyDesc {
            velocity: Vec2::new(speed, 0.0),
            material: bouncy(density, 0.0),
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(x, 0.0))
        };
        let a = world.add_body(&ball(-1.0, 2.0, 3.0)).unwrap();
        let b = world.add_body(&ball(1.0, -2.0, 1.0)).unwrap();
        steps(&mut world, 120);
        assert_close("a", state(&world, a).velocity.x, 1.0, 2e-3, &settings);
        assert_close("b", state(&world, b).velocity.x, 1.0, 2e-3, &settings);
    });
}

/// The momentum of an elastic gas without walls drifts less than 1e-5 of Σ|mv| over 1,000 steps, and its
/// energy, with the restitution threshold at zero, less than 2 %.
#[test]
fn elastic_gas_keeps_momentum_and_energy() {
    on_both_sets_and_solvers(|settings| {
        let settings = Settings { restitution_threshold: 0.0, ..weightless(settings) };
        let mut world = world(settings);
        let mut seed = 0x9e37_79b9_u32;
        let mut uniform = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 16_777_216.0
        };
        let mut descs = Vec::new();
        for row in 0..20 {
            for column in 0..20 {
                let at = Vec2::new(3.0 * (column as f32 - 9.5), 3.0 * (row as f32 - 9.5));
                // A third of each speed points inwards, so that the gas collides before it disperses.
                let velocity =
                    Vec2::from_angle(std::f32::consts::TAU * uniform()) * 4.0 - at.normalize() * 2.0;
                let material = bouncy(1.0 + uniform(), 1.0);
                descs.push(BodyDesc { velocity, material, ..BodyDesc::dynamic(Shape::circle(0.5), at) });
            }
        }
        let bodies = world.add_bodies(&descs).unwrap();
        let sums = |world: &World| {
            let (mut px, mut py, mut size, mut energy) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
            for &body in &bodies {
                let v = state(world, body).velocity.as_dvec2();
                let m = f64::from(world.mass(body).unwrap());
                px += m * v.x;
                py += m * v.y;
                size += m * v.length();
                energy += 0.5 * m * v.length_squared();
            }
            (px, py, size, energy)
        };
        let (px, py, size, energy) = sums(&world);
        let mut collisions = 0;
        for _ in 0..1_000 {
            world.step();
            collisions += world.begin_events().len();
        }
        assert!(collisions > 400, "only {collisions} collisions: the scene shows nothing");
        let (px_after, py_after, _, energy_after) = sums(&world);
        let drift = (px_after - px).hypot(py_after - py);
        assert!(drift < 1e-5 * size, "momentum drifted by {:e} of Σ|mv|", drift / size);
        let change = (energy_after / energy - 1.0).abs();
        assert!(change < 0.02, "energy changed by {change} ({:?}, isa {:?})", settings.solver, settings.isa);
    });
}

/// A body that lies on the floor does not hop when another lands on it: a contact that bears an impulse does not
/// bounce.
#[test]
fn what_rests_does_not_bounce() {
    on_both_sets_and_solvers(|settings| {
        for struck in [Shape::aabb(0.5, 0.5), Shape::oriented_box(0.5, 0.5)] {
            for striker in [Shape::circle(0.5), struck] {
                let material = Material::new(1.0, 0.5, 0.5);
                let mut world = world(settings);
                world.add_body(&floor(material)).unwrap();
                let body = |shape, y| BodyDesc { material, ..BodyDesc::dynamic(shape, Vec2::new(0.0, y)) };
                let below = world.add_body(&body(struck, 0.5)).unwrap();
                steps(&mut world, 60);
                let rest = state(&world, below).position.y;
                let above = BodyDesc { velocity: Vec2::new(0.0, -5.0), ..body(striker, 1.6) };
                let above = world.add_body(&above).unwrap();
                let (mut rise, mut speed): (f32, f32) = (0.0, 0.0);
                for _ in 0..30 {
                    world.step();
                    rise = rise.max(state(&world, below).position.y - rest);
                    speed = speed.max(state(&world, above).velocity.y);
                }
                assert!(rise < 1e-3, "hops by {rise} m ({settings:?}, {struck:?} under {striker:?})");
                assert!(speed > 0.5, "what landed bounces off at {speed} m/s ({settings:?}, {struck:?})");
            }
        }
    });
}
