//! Rolling, rolling resistance, conveyors.

use super::*;
use glam::DVec2;
use granule::JointDesc;

fn slope(angle: f32, material: Material) -> (BodyDesc, Vec2, Vec2) {
    let normal = Vec2::new(angle.sin(), angle.cos());
    let downhill = Vec2::new(angle.cos(), -angle.sin());
    (BodyDesc { material, ..BodyDesc::fixed(Shape::half_space(normal, 0.0), Vec2::ZERO) }, normal, downhill)
}

/// Nearly round shapes roll as a disc does, at ⅔·g·sin θ: a capsule and a polygon that consist almost wholly of their
/// rounding.
#[test]
fn nearly_round_shapes_roll_as_discs() {
    on_both_sets(|settings| {
        let seed = Polygon::regular(8, 0.005).unwrap();
        let polygon = Polygon::rounded(seed.vertices(), 0.5).unwrap().0;
        for shape in [Shape::capsule(0.005, 0.5), Shape::Polygon(polygon), Shape::circle(0.5)] {
            let angle = 10.0f32.to_radians();
            let slab =
                BodyDesc { angle: -angle, ..BodyDesc::fixed(Shape::oriented_box(40.0, 1.0), Vec2::ZERO) };
            let (plane, normal, downhill) = slope(angle, rough(1.0));
            for ground in [plane, BodyDesc { position: -normal, material: rough(1.0), ..slab }] {
                let mut world = world(settings);
                world.add_body(&ground).unwrap();
                let desc = BodyDesc { material: rough(1.0), ..BodyDesc::dynamic(shape, normal * 0.505) };
                let body = world.add_body(&desc).unwrap();
                steps(&mut world, 120);
                let end = state(&world, body);
                let speed = 2.0 / 3.0 * G * angle.sin() * 2.0;
                assert_close(
                    &format!("{shape:?}"),
                    end.velocity.dot(downhill),
                    speed,
                    0.05 * speed,
                    &settings,
                );
                assert_close("ω", -0.5 * end.angular_velocity, speed, 0.05 * speed, &settings);
            }
        }
    });
}

/// A rounded octagon on a slope steeper than half a side over its inner radius starts to roll by itself, slower than a
/// disc and without slipping: its first turn moves it forward by its perimeter. On a gentler slope it stands.
#[test]
fn octagon_rolls_by_its_perimeter() {
    on_both_sets(|settings| {
        let (outer, round) = (0.3f32, 0.4f32);
        let core = Polygon::regular(8, outer).unwrap();
        let polygon = Polygon::rounded(core.vertices(), round).unwrap().0;
        let half_side = outer * (PI / 8.0).sin();
        let inner = outer * (PI / 8.0).cos() + round;
        let limit = (half_side / inner).atan();
        let perimeter = 16.0 * half_side + 2.0 * PI * round;
        for (angle, rolls) in [(limit - 0.04, false), (limit + 0.06, true), (limit + 0.15, true)] {
            let mut world = world(settings);
            let (ground, normal, downhill) = slope(angle, rough(1.5));
            world.add_body(&ground).unwrap();
            let desc = BodyDesc {
                material: rough(1.5),
                // A side lies on the slope: the middle of a side is at π/8.
                angle: -0.5 * PI - angle - PI / 8.0,
                ..BodyDesc::dynamic(Shape::Polygon(polygon), normal * inner)
            };
            let body = world.add_body(&desc).unwrap();
            let mut time = 0.0;
            while time < 4.0 && desc.angle - total_angle(&world, body) < 2.0 * PI {
                world.step();
                time += settings.time_step;
            }
            let end = state(&world, body);
            let path = (end.position - desc.position).dot(downhill);
            let turned = desc.angle - end.total_angle() as f32;
            if rolls {
                assert!(turned >= 2.0 * PI, "turned by {turned} only: {end:?}");
                let expected = turned / (2.0 * PI) * perimeter;
                assert_close("path", path, expected, 0.05 * expected, &settings);
                let disc = 0.5 * (2.0 / 3.0) * G * angle.sin() * time * time;
                assert!(path < disc, "rolled {path} m, a disc would {disc}");
            } else {
                assert_close("stands", path, 0.0, 0.01, &settings);
                assert_close("stands", turned, 0.0, 0.01, &settings);
            }
        }
    });
}

fn braking(resistance: f32) -> Material {
    Material { rolling_resistance: resistance, ..rough(1.0) }
}

/// Rolls a disc on a level floor against a resistance. Checks that the disc slows down at ρg/(1 + I/mr²), comes to rest
/// after v²/2a, and stays at rest.
fn check_braking(settings: Settings, of_disc: f32, of_floor: f32, resistance: f32) {
    let (speed, radius) = (3.0f32, 0.5f32);
    let expected = speed * speed * 1.5 / (2.0 * resistance * G);
    for ground in floors(30.0, braking(of_floor)) {
        let mut world = world(settings);
        world.add_body(&ground).unwrap();
        let desc = BodyDesc {
            material: braking(of_disc),
            velocity: Vec2::new(speed, 0.0),
            angular_velocity: -speed / radius,
            ..BodyDesc::dynamic(Shape::circle(radius), Vec2::new(0.0, radius))
        };
        let disc = world.add_body(&desc).unwrap();
        steps(&mut world, 120);
        let now = state(&world, disc);
        let slower = speed - 2.0 * resistance * G / 1.5;
        assert_close("speed", now.velocity.x, slower, 0.05 * slower, &settings);
        assert_close("spin", -radius * now.angular_velocity, slower, 0.05 * slower, &settings);
        steps(&mut world, 240);
        let end = state(&world, disc);
        assert_close("distance", end.position.x, expected, 0.05 * expected, &settings);
        steps(&mut world, 120);
        let later = state(&world, disc);
        assert_close("rest", later.position.x, end.position.x, 1e-3, &settings);
    }
}

/// A disc with rolling resistance comes to rest at the analytic distance.
#[test]
fn rolling_resistance_stops_a_disc_at_the_analytic_distance() {
    on_both_sets(|settings| check_braking(settings, 0.1, 0.0, 0.1));
}

/// The larger of the resistances of disc and floor counts.
#[test]
fn the_larger_rolling_resistance_counts() {
    on_both_sets(|settings| {
        check_braking(settings, 0.1, 0.05, 0.1);
        check_braking(settings, 0.0, 0.1, 0.1);
        check_braking(settings, 0.02, 0.1, 0.1);
    });
}

/// Without rolling resistance a disc rolls on at a constant speed.
#[test]
fn discs_roll_on_without_resistance() {
    on_both_sets(|settings| {
        for ground in floors(30.0, rough(1.0)) {
            let mut world = world(settings);
            world.add_body(&ground).unwrap();
            let desc = BodyDesc {
                material: rough(1.0),
                velocity: Vec2::new(3.0, 0.0),
                angular_velocity: -6.0,
                ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5))
            };
            let disc = world.add_body(&desc).unwrap();
            steps(&mut world, 300);
            assert_close("vx", state(&world, disc).velocity.x, 3.0, 0.01, &settings);
        }
    });
}

/// On a slope a disc with resistance ρ stands while tan θ < ρ, and beyond that rolls at (sin θ − ρ·cos θ)g/(1 + I/mr²).
#[test]
fn rolling_resistance_holds_on_gentle_slopes() {
    on_both_sets(|settings| {
        let resistance = 0.1f32;
        let surface = Material { rolling_resistance: resistance, ..rough(1.0) };
        for tan in [0.05f32, 0.08, 0.15, 0.3] {
            let angle = tan.atan();
            let (ground, normal, downhill) = slope(angle, surface);
            let mut world = world(settings);
            world.add_body(&ground).unwrap();
            let desc = BodyDesc { material: surface, ..BodyDesc::dynamic(Shape::circle(0.5), normal * 0.5) };
            let disc = world.add_body(&desc).unwrap();
            steps(&mut world, 120);
            let end = state(&world, disc);
            let speed = (G * (angle.sin() - resistance * angle.cos()) / 1.5 * 2.0).max(0.0);
            let tolerance = if speed > 0.0 { 0.05 * speed } else { 2e-3 };
            assert_close(&format!("tan θ = {tan}"), end.velocity.dot(downhill), speed, tolerance, &settings);
        }
    });
}

/// A belt of positive tangent speed moves bodies on it to +x, at μg until they have the belt's speed; a belt of
/// negative tangent speed moves them to −x.
#[test]
fn conveyors_carry_to_their_speed() {
    on_both_sets(|settings| {
        let (mu, belt) = (0.5f32, 2.0f32);
        for sign in [1.0f32, -1.0] {
            let material = Material { tangent_speed: sign * belt, ..rough(mu) };
            let at = Vec2::new(0.0, -1.0);
            let belts = [
                BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO),
                BodyDesc::fixed(Shape::aabb(30.0, 1.0), at),
                BodyDesc::fixed(Shape::oriented_box(30.0, 1.0), at),
                BodyDesc::fixed(rectangle(30.0, 1.0), at),
            ];
            for ground in belts {
                for shape in [Shape::oriented_box(0.5, 0.25), rectangle(0.5, 0.25), Shape::aabb(0.5, 0.25)] {
                    let mut world = world(settings);
                    world.add_body(&BodyDesc { material, ..ground }).unwrap();
                    let desc =
                        BodyDesc { material: rough(mu), ..BodyDesc::dynamic(shape, Vec2::new(0.0, 0.25)) };
                    let cargo = world.add_body(&desc).unwrap();
                    let what = format!("{shape:?} on {:?}", ground.shape);
                    steps(&mut world, 12);
                    let early = sign * state(&world, cargo).velocity.x;
                    assert_close(&what, early, mu * G * 0.2, 0.05 * mu * G * 0.2, &settings);
                    steps(&mut world, 168);
                    let end = state(&world, cargo);
                    assert_close(&what, sign * end.velocity.x, belt, 0.02 * belt, &settings);
                    assert_close(&what, end.velocity.y, 0.0, 0.01, &settings);
                    assert_close(&what, end.angle, 0.0, 0.02, &settings);
                }
            }
        }
    });
}

/// A crawler (a box whose own surface runs clockwise) moves itself to +x on a floor that stands still.
#[test]
fn crawlers_drive_themselves() {
    on_both_sets(|settings| {
        for ground in floors(30.0, rough(0.5)) {
            let mut world = world(settings);
            world.add_body(&ground).unwrap();
            let desc = BodyDesc {
                material: Material { tangent_speed: 2.0, ..rough(0.5) },
                ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.25), Vec2::new(0.0, 0.25))
            };
            let crawler = world.add_body(&desc).unwrap();
            steps(&mut world, 120);
            assert_close("vx", state(&world, crawler).velocity.x, 2.0, 0.04, &settings);
        }
    });
}

/// Contract: a plank that rocks on a cylinder has the period of the closed form, gains no energy, and loses what the damping of contacts takes, 1 − (ω·Δt)²/8 of
/// its energy in a step. (With the normals of the step's start it swung out 5 times as far after 20 s, at 4 substeps, and 7 times at 8.)
#[test]
fn a_plank_rocks_on_a_cylinder() {
    let (radius, half, lean) = (1.0f64, Vec2::new(1.0, 0.05), 0.04f64);
    // It rolls: the work against gravity is ½·m·g·(R − h)·φ², the moment of inertia about the point of contact (a² + b²)/3 + b².
    let (a, b) = (f64::from(half.x), f64::from(half.y));
    let omega = (f64::from(G) * (radius - b) / ((a * a + b * b) / 3.0 + b * b)).sqrt();
    on_both_sets(|settings| {
        for (substeps, shape) in [1, 4, 8].into_iter().flat_map(|substeps| {
            [Shape::oriented_box(half.x, half.y), rectangle(half.x, half.y)].map(|shape| (substeps, shape))
        }) {
            let settings = Settings { substeps, sleep: false, ..settings };
            let mut world = world(settings);
            let cylinder = BodyDesc::fixed(Shape::circle(radius as f32), Vec2::ZERO);
            world.add_body(&BodyDesc { material: rough(1.0), ..cylinder }).unwrap();
            // Leaning by φ, it touches the cylinder at the angle φ, and its centre is R·φ back along its face.
            let (normal, face) = (DVec2::new(-lean.sin(), lean.cos()), DVec2::new(lean.cos(), lean.sin()));
            let at = normal * (radius + b) + face * (radius * lean);
            let plank = BodyDesc::dynamic(shape, Vec2::new(at.x as f32, at.y as f32));
            let plank =
                world.add_body(&BodyDesc { material: rough(1.0), angle: lean as f32, ..plank }).unwrap();
            let dt = f64::from(settings.time_step);
            let (mut last, mut crossings, mut late) = (lean, Vec::new(), 0.0f64);
            for step in 1..=1_200 {
                world.step();
                let now = f64::from(state(&world, plank).angle);
                if last > 0.0 && now <= 0.0 {
                    crossings.push(dt * (f64::from(step) - now / (now - last)));
                }
                if step > 1_000 {
                    late = late.max(now.abs());
                }
                last = now;
            }
            let period = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
            let expected = std::f64::consts::TAU / omega;
            let damped = lean * (-(omega * dt).powi(2) / 16.0 * 1_000.0).exp();
            println!("{substeps} substeps: period {period} of {expected}, amplitude {late} of {damped}");
            assert!((period / expected - 1.0).abs() < 0.005, "{substeps}: {period}, not {expected}");
            assert!((0.9..1.02).contains(&(late / damped)), "{substeps}: {late}, not {damped}");
        }
    });
}

/// Contract: what is pressed together and turns as one body keeps its spin: two boxes that a damped spring draws together, in free space, for any number of
/// substeps. (When all of the lead of contacts counted for what turns as one body, ω grew from 0.02 to 2.8 rad/s in 10 s, at 6 Hz; with the normals of the
/// step's start it was braked as much.)
#[test]
fn a_clamped_pair_keeps_its_spin() {
    let (half, omega) = (0.25f32, 0.02f32);
    for base in [Settings::default(), Settings::projection()] {
        for substeps in [1, 2, 4, 8] {
            let settings = Settings { substeps, sleep: false, gravity: Vec2::ZERO, ..base };
            let mut world = world(settings);
            let [a, b] = [-half, half].map(|x| {
                let cube = BodyDesc::dynamic(Shape::oriented_box(half, half), Vec2::new(x, 0.0));
                world.add_body(&BodyDesc { material: rough(1.0), mass: Some(1.0), ..cube }).unwrap()
            });
            let spring = JointDesc::distance(a, b, Vec2::ZERO, Vec2::ZERO, 1.4 * half);
            let spring = JointDesc { collide_connected: true, ..spring }.with_spring(1.4 * half, 2.0, 1.0);
            world.add_joint(&spring).unwrap();
            steps(&mut world, 60);
            for body in [a, b] {
                let at = state(&world, body).position;
                world.set_velocity(body, omega * at.perp()).unwrap();
                world.set_angular_velocity(body, omega).unwrap();
            }
            steps(&mut world, 600);
            let spin = state(&world, a).angular_velocity;
            assert_close(&format!("{substeps} substeps"), spin, omega, 0.03 * omega, &settings);
        }
    }
}

/// Contract: a platform that swings on a hinge of three metres with a stack of boxes on it swings on as far: neither it nor the stack, which turns as one body,
/// gains or loses more than 3 % in 60 s. (With the normals of the step's start it lost a quarter of its swing, and with a lead of half a step for all it
/// gained a tenth.)
#[test]
fn a_swing_with_a_stack_swings_on() {
    on_both_sets(|settings| {
        let mut world = world(Settings { sleep: false, ..settings });
        let lean = 0.1f32;
        let turned = |at: Vec2| Vec2::from_angle(lean).rotate(at);
        let anchor = world.add_body(&BodyDesc::fixed(Shape::circle(0.01), Vec2::ZERO)).unwrap();
        let mut add = |shape: Shape, y: f32| {
            let desc = BodyDesc::dynamic(shape, turned(Vec2::new(0.0, y)));
            world.add_body(&BodyDesc { material: rough(1.0), angle: lean, ..desc }).unwrap()
        };
        let platform = add(Shape::oriented_box(1.0, 0.1), -3.0);
        for level in 0..3 {
            add(Shape::oriented_box(0.3, 0.3), -2.6 + 0.6 * level as f32);
        }
        world.add_joint(&JointDesc::revolute(anchor, platform, Vec2::ZERO, Vec2::new(0.0, 3.0))).unwrap();
        let mut furthest = |count: u32| {
            (0..count).fold(0.0f32, |furthest, _| {
                world.step();
                furthest.max(state(&world, platform).angle.abs())
            })
        };
        let (early, _, late) = (furthest(300), furthest(3_000), furthest(300));
        assert_close("the swing after 60 s", late, early, 0.03 * early, &settings);
    });
}
