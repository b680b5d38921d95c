//! A single impact: energy, rebound, exchange of velocities, Coulomb's law for the impulse.

use super::*;
use granule::{Part, Polygon};
use std::f32::consts::PI;

each_solver! { octagon_that_lands_almost_flat_keeps_its_energy }
each_form! { landing_at_any_angle_makes_no_energy: cube, plank, capsule, octagon, hexagon, wedge, dumbbell, table, cart, club }
each_form! { flat_landing_rebounds_by_restitution: circle, fixed_circle, aabb, cube, plank, capsule, octagon, hexagon, dumbbell, table, cart }
each_form! { flat_landing_stays_flat_the_second_time: cube, plank, dumbbell, table }
each_form! { fast_landing_is_no_load: cube, brick, plank, capsule, hexagon, wedge, dumbbell, table }
each_form! { equal_bodies_exchange_velocities: circle, aabb, cube, brick, plank, octagon, hexagon }
each_form! { bounce_with_friction_follows_the_impulse_law: circle, fixed_circle, aabb, brick, plank, capsule, hexagon, wedge }
each_solver! { circles_bounce_along_their_centres, falls_on_what_rests_make_no_energy }
each_form_soft! { impact_off_the_centre_keeps_momentum: circle, cube, brick, capsule, octagon, hexagon, wedge, dumbbell, table, club, angle }
each_form! { meeting_bodies_follow_the_impulse_law: circle, aabb, brick, capsule }

fn bouncy(restitution: f32) -> Material {
    Material::new(1.0, 0.0, restitution)
}

/// A regular octagon of radius 0.35 m at angle 0.39844, 0.3° off flat, hits a half-space at (0, −4.5273) m/s, from any
/// place within a step: its energy is the same within 1 %, whichever corners take the impulse. The restitution
/// threshold is 0, because the second corner may arrive at any speed.
fn octagon_that_lands_almost_flat_keeps_its_energy(settings: Settings) {
    let mut cases = Cases::new("octagon", &settings);
    let octagon = forms::small(Shape::Polygon(Polygon::regular(8, 0.35).unwrap()));
    for angle in [0.39844f32, PI / 8.0, 0.35, 0.5] {
        for phase in 0..8 {
            let settings = Settings { restitution_threshold: 0.0, ..weightless(settings) };
            let mut world = world(settings);
            let ground = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
            world.add_body(&BodyDesc { material: bouncy(1.0), ..ground }).unwrap();
            let desc = BodyDesc {
                angle,
                velocity: Vec2::new(0.0, -4.5273),
                material: bouncy(1.0),
                ..octagon.body(Vec2::new(0.0, 0.36 + 0.01 * phase as f32))
            };
            let body = octagon.add(&mut world, &desc);
            let start = octagon.energy(&state(&world, body));
            let mut most = 0.0f64;
            for _ in 0..30 {
                world.step();
                most = most.max(octagon.energy(&state(&world, body)) / start);
            }
            let end = state(&world, body);
            let ratio = octagon.energy(&end) / start;
            cases.holds(end.velocity.y > 0.0, || {
                format!("angle {angle}, phase {phase}: does not leave: {end:?}")
            });
            cases.holds((ratio - 1.0).abs() <= 0.01 && most <= 1.01, || {
                format!("angle {angle}, phase {phase}: leaves with {ratio} of its energy, had {most}")
            });
        }
    }
    cases.finish();
}

/// A body that hits a floor at any angle from 0 to 90°, without gravity, never has more energy than at first, whatever
/// the restitution and the friction. Without loss and friction it keeps its energy within 1 %.
fn landing_at_any_angle_makes_no_energy(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let settings = Settings { restitution_threshold: 0.0, ..weightless(settings) };
    for (e, mu) in [(1.0f32, 0.0f32), (1.0, 0.5), (0.5, 0.0), (0.5, 0.5), (0.0, 0.5)] {
        let material = Material::new(1.0, mu, e);
        for (ground_name, ground) in grounds(0.0, material) {
            let mut world = world(settings);
            world.add_body(&ground).unwrap();
            let bodies: Vec<_> = (0..=30)
                .map(|i| {
                    let degrees = 3 * i;
                    let desc = BodyDesc {
                        angle: (degrees as f32).to_radians(),
                        velocity: Vec2::new(0.0, -5.0),
                        material,
                        filter: ALONE,
                        ..form.body(Vec2::new(6.0 * (i - 15) as f32, 2.2 + 0.003 * i as f32))
                    };
                    (degrees, form.add(&mut world, &desc))
                })
                .collect();
            let start = 12.5 * form.mass();
            let mut most = [1.0f64; 31];
            for _ in 0..90 {
                world.step();
                for (most, (_, body)) in most.iter_mut().zip(&bodies) {
                    *most = most.max(form.energy(&state(&world, *body)) / start);
                }
            }
            for (most, (degrees, body)) in most.into_iter().zip(bodies) {
                let end = state(&world, body);
                let last = form.energy(&end) / start;
                let case = || format!("{degrees}° on a {ground_name}, e {e}, μ {mu}");
                cases.holds(most <= 1.001, || format!("{}: {most} of its energy", case()));
                if e == 1.0 && mu == 0.0 {
                    cases.holds(last >= 0.99, || format!("{}: {last} of its energy is left", case()));
                    cases.holds(end.velocity.y > 0.0, || format!("{}: does not leave: {end:?}", case()));
                }
            }
        }
    }
    cases.finish();
}

/// A body dropped flat from 5 m rebounds to e² of the height, at restitution 1 to at least 0.9 of it, and spins at less
/// than 0.05 rad/s. The speeds before and after are exact to one step's gravity each, so the bound is closer for a
/// shorter step.
fn flat_landing_rebounds_by_restitution(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let height = 5.0f32;
    for time_step in [1.0 / 60.0, 1.0 / 480.0] {
        let settings = Settings { time_step, ..settings };
        for e in [1.0f32, 0.75, 0.5, 0.25] {
            for (ground_name, ground) in grounds(0.0, bouncy(e)) {
                let (top, spin) = rebound(form, settings, &ground, height);
                let (speed, kick) = ((2.0 * G * height).sqrt(), G * time_step);
                let fastest = e * (speed + kick) + kick;
                let tolerance = (fastest * fastest - e * e * speed * speed) / (2.0 * G);
                let case = || format!("e {e} on a {ground_name}, step {time_step}");
                cases.close("rebounds to", top, e * e * height, tolerance, case);
                cases.holds(e < 1.0 || top >= 0.9 * height, || {
                    format!("rebounds to {top} m only: {}", case())
                });
                cases.holds(spin.abs() < 0.05, || format!("spins at {spin} rad/s: {}", case()));
            }
        }
    }
    cases.finish();
}

/// The height above its rest to which a body rebounds that is dropped flat, and the spin with which it leaves.
fn rebound(form: &Form, settings: Settings, ground: &BodyDesc, height: f32) -> (f32, f32) {
    let mut world = world(settings);
    world.add_body(ground).unwrap();
    let desc = BodyDesc { material: ground.material, ..form.body(Vec2::new(0.0, form.height + height)) };
    let body = form.add(&mut world, &desc);
    // The body falls for a second, and rises for no longer.
    let second = (1.0 / settings.time_step).round() as u32;
    let (mut top, mut spin, mut landed) = (f32::MIN, 0.0f32, false);
    for _ in 0..2 * second + 6 {
        world.step();
        let now = state(&world, body);
        landed |= now.velocity.y > 0.1;
        if landed && now.velocity.y >= 0.0 {
            top = top.max(now.position.y - form.height);
            spin = if now.angular_velocity.abs() > spin.abs() { now.angular_velocity } else { spin };
        } else if landed {
            break;
        }
    }
    (top, spin)
}

/// A body dropped flat does not spin after its second impact either, with any number of substeps: bounces start where contacts begin, so
/// that flights often end just there, and rounding decides which parts touch. (A cart leaves its first impact with 5·10⁻⁵ rad/s, so that
/// its discs do land one after the other.)
fn flat_landing_stays_flat_the_second_time(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    for substeps in [1, 2, 4] {
        for (e, number) in [0.5f32, 0.8].into_iter().flat_map(|e| (0u8..40).map(move |number| (e, number))) {
            let height = 0.5 + 0.0573 * f32::from(number);
            let material = Material::new(1.0, 0.5, e);
            let mut world = world(Settings { substeps, sleep: false, ..settings });
            let ground = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
            world.add_body(&BodyDesc { material, ..ground }).unwrap();
            let at = form.body(Vec2::new(0.0, form.height + height));
            let body = form.add(&mut world, &BodyDesc { material, ..at });
            let (mut impacts, mut before) = (0, state(&world, body));
            for _ in 0..300 {
                world.step();
                let now = state(&world, body);
                // Slower ones are at rest within a step.
                let struck = before.velocity.y < -1.05 && now.velocity.y > before.velocity.y + 0.5;
                impacts += i32::from(struck);
                let case = || format!("{substeps} substeps, e {e}, from {height} m, impact {impacts}");
                if struck {
                    cases.close("spins at", now.angular_velocity, 0.0, 0.01, case);
                }
                if impacts == 2 {
                    break;
                }
                before = now;
            }
            cases.holds(impacts > 0, || format!("no impact from {height} m"));
        }
    }
    cases.finish();
}

/// A body that lands fast and nearly flat, without restitution, and is held by friction, does not leave in the next steps, with few iterations
/// and with many: what stopped it is not borne as a load.
fn fast_landing_is_no_load(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    for (iterations, substeps) in [(1, settings.substeps), (3, 1), (3, settings.substeps), (10, 1)] {
        for (speed, number) in [20.0f32, 170.0].into_iter().flat_map(|v| (0u8..40).map(move |n| (v, n))) {
            let mut world = world(Settings { iterations, substeps, ..weightless(settings) });
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            let (tilt, phase) = (0.01 * f32::from(number % 10), 0.07 * f32::from(number));
            let at = form.body(Vec2::new(0.0, form.height + 1.0 + phase));
            let velocity = Vec2::new(0.4 * speed, -0.9 * speed);
            let body = form.add(&mut world, &BodyDesc { angle: tilt, velocity, ..at });
            let energy = |world: &World| form.energy(&state(world, body)) / form.mass();
            let start = energy(&world);
            let landed = (0..40).any(|_| {
                world.step();
                energy(&world) < 0.5 * start
            });
            let after = energy(&world);
            for step in 1..=3 {
                world.step();
                let now = energy(&world);
                let case = || {
                    format!(
                        "{iterations} × {substeps}, {speed} m/s, tilt {tilt}, phase {phase}, step {step}: {now} J/kg after {after}"
                    )
                };
                cases.holds(now < after + 2.0e-5 * start, case);
            }
            cases.holds(landed, || format!("does not land at {speed} m/s"));
        }
    }
    cases.finish();
}

/// What falls on a body that lies on the floor makes no energy, whatever their restitution, sizes and shapes: the floor throws back no more than it
/// took. (A circle that came at 10 m/s to one of a 25th of its mass left at 144 m/s.)
fn falls_on_what_rests_make_no_energy(settings: Settings) {
    let mut cases = Cases::new("fall", &settings);
    let sizes = [(0.1f32, 0.5f32), (0.12, 0.56), (0.3, 0.5), (0.5, 0.5), (0.5, 0.1)];
    let substeps = [1u8, 2, 4, 8];
    for (lump, (below, above)) in LUMPS.iter().flat_map(|lump| sizes.map(|sizes| (lump, sizes))) {
        for (restitution, speed, substeps) in [1.0f32, 0.8, 0.5]
            .into_iter()
            .flat_map(|e| [4.0f32, 10.0, 30.0].map(|v| (e, v)))
            .flat_map(|(e, v)| substeps.map(|n| (e, v, n)))
        {
            for phase in 0..8u8 {
                let material = Material { restitution, ..Material::default() };
                let mut world = world(Settings { substeps: substeps.into(), ..settings });
                let floor = Shape::half_space(Vec2::Y, 0.0);
                world.add_body(&BodyDesc { material, ..BodyDesc::fixed(floor, Vec2::ZERO) }).unwrap();
                let resting = lump.add(&mut world, material, below, lump.height * below, 0.0);
                steps(&mut world, 30);
                let gap = 0.05 + speed / 60.0 * (1.0 + 0.125 * f32::from(phase));
                let height = lump.height * (2.0 * below + above) + gap;
                let falling = lump.add(&mut world, material, above, height, -speed);
                let energy = |world: &World| {
                    let of = |body: BodyHandle| {
                        let (mass, now) = (world.mass(body).unwrap(), state(world, body));
                        let spin = match now.angular_velocity {
                            0.0 => 0.0,
                            omega => 0.5 * world.inertia(body).unwrap() * omega.powi(2),
                        };
                        mass * (0.5 * now.velocity.length_squared() + G * now.position.y) + spin
                    };
                    of(resting) + of(falling)
                };
                let start = energy(&world);
                let gain = (0..12).fold(0.0f32, |most, _| {
                    world.step();
                    most.max(energy(&world) / start)
                });
                // A body that bounces on nothing but the floor gains as much for a moment: it turns round with the speed that gravity gives it by the
                // end of the substep. Under a body of one shape it never showed.
                let kick = if lump.side > 0.0 { 2.0 * G / (60.0 * f32::from(substeps) * speed) } else { 0.0 };
                cases.holds(gain < 1.01 + kick, || {
                    let name = lump.name;
                    format!("{name} of {above} m on one of {below} m, e {restitution}, {speed} m/s, {substeps} substeps, phase {phase}: {gain}")
                });
            }
        }
    }
    cases.finish();
}

/// A shape of any size that lies on its base, and is as wide on both sides of its centre.
struct Lump {
    name: &'static str,
    /// From the base to the centre, times the size.
    height: f32,
    /// The first shape of a size, and where it is beside the centre, times the size. If it is not at the centre, there is one more on the other side.
    shape: fn(f32) -> Shape,
    side: f32,
}

const LUMPS: [Lump; 7] = [
    Lump { name: "circle", height: 1.0, shape: Shape::circle, side: 0.0 },
    Lump { name: "box", height: 1.0, shape: |r| Shape::oriented_box(r, r), side: 0.0 },
    Lump { name: "aabb", height: 1.0, shape: |r| Shape::aabb(1.3 * r, r), side: 0.0 },
    Lump { name: "capsule", height: 0.5, shape: |r| Shape::capsule(r, 0.5 * r), side: 0.0 },
    Lump { name: "hexagon", height: 0.866, shape: six_corners, side: 0.0 },
    Lump { name: "two boxes", height: 0.6, shape: |r| Shape::oriented_box(0.4 * r, 0.6 * r), side: 0.45 },
    Lump { name: "two capsules", height: 0.4, shape: |r| Shape::capsule(0.3 * r, 0.4 * r), side: 0.75 },
];

fn six_corners(radius: f32) -> Shape {
    let corner = |k: usize| Vec2::from_angle(k as f32 * PI / 3.0) * radius;
    Shape::Polygon(Polygon::new(&std::array::from_fn::<_, 6, _>(corner)).unwrap().0)
}

impl Lump {
    fn add(&self, world: &mut World, material: Material, size: f32, height: f32, speed: f32) -> BodyHandle {
        let side = Vec2::new(self.side * size, 0.0);
        let desc = BodyDesc::dynamic((self.shape)(size), Vec2::new(0.0, height) - side);
        let body = world.add_body(&BodyDesc { material, velocity: Vec2::new(0.0, speed), ..desc }).unwrap();
        if self.side > 0.0 {
            let part = Part { material, ..Part::new((self.shape)(size), 2.0 * side) };
            world.add_part(body, &part).unwrap();
        }
        body
    }
}

/// The part of its speed with which a ball of so many times a slab's mass leaves the slab, which lies on the floor, after impacts of restitution `e`, one
/// after the other: Newton's law for each, exactly.
fn leaves_a_slab(mass: f64, e: f64) -> f64 {
    let ([mut ball, mut slab], [mut gap, mut height]) = ([-1.0f64, 0.0], [0.0f64; 2]);
    for _ in 0..10_000 {
        let meets = if ball < slab { gap / (slab - ball) } else { f64::INFINITY };
        let lands = if slab < 0.0 { height / -slab } else { f64::INFINITY };
        let next = meets.min(lands);
        if next == f64::INFINITY {
            break;
        }
        (gap, height) = (gap + (ball - slab) * next, height + slab * next);
        if meets <= lands {
            let impulse = (1.0 + e) * (slab - ball) / (1.0 / mass + 1.0);
            (ball, slab, gap) = (ball + impulse / mass, slab - impulse, 0.0);
        } else {
            (slab, height) = (-e * slab, 0.0);
        }
    }
    ball
}

/// What falls with restitution on a slab that lies on the floor rebounds about as by a row of exact impacts if it is lighter than the slab or as heavy, and
/// never faster than from the floor. What is heavier leaves slower than it should. (`docs/embedding.md` has the figures.)
#[test]
fn a_slab_on_the_floor_throws_back() {
    let solvers = [("soft", soft()), ("projection", projection())];
    for (name, settings, parts) in solvers.into_iter().flat_map(|(n, s)| [1u8, 2].map(|parts| (n, s, parts)))
    {
        for restitution in [0.5f32, 0.8] {
            for mass in [0.1f32, 0.3, 1.0, 3.0, 10.0] {
                let exact = leaves_a_slab(mass.into(), restitution.into()) as f32;
                let mut all = Vec::new();
                for (speed, phase) in [4.0f32, 10.0].into_iter().flat_map(|v| (0u8..8).map(move |n| (v, n))) {
                    let mut world = world(settings);
                    let material = bouncy(restitution);
                    let floor = Shape::half_space(Vec2::Y, 0.0);
                    world.add_body(&BodyDesc { material, ..BodyDesc::fixed(floor, Vec2::ZERO) }).unwrap();
                    let of = |shape: Shape, mass: f32, y: f32| BodyDesc {
                        mass: Some(mass),
                        material,
                        ..BodyDesc::dynamic(shape, Vec2::new(0.0, y))
                    };
                    let half = 0.5 / f32::from(parts);
                    let shape = Shape::oriented_box(half, 0.2);
                    let first = of(shape, 1.0, 0.2);
                    let slab = BodyDesc { position: Vec2::new(half - 0.5, 0.2), ..first };
                    let slab = world.add_body(&slab).unwrap();
                    if parts == 2 {
                        let other = Part { material, ..Part::new(shape, Vec2::new(2.0 * half, 0.0)) };
                        world.add_part(slab, &other).unwrap();
                        world.set_mass(slab, Some(1.0)).unwrap();
                    }
                    steps(&mut world, 30);
                    let height = 0.9 + speed / 60.0 * (1.0 + 0.125 * f32::from(phase));
                    let velocity = Vec2::new(0.0, -speed);
                    let ball = of(Shape::circle(0.5), mass, height);
                    let ball = world.add_body(&BodyDesc { velocity, ..ball }).unwrap();
                    let fastest = (0..20).fold(0.0, |most: f32, _| {
                        world.step();
                        most.max(state(&world, ball).velocity.y)
                    });
                    all.push(fastest / speed);
                }
                all.sort_unstable_by(f32::total_cmp);
                let (least, median, most) = (all[0], all[all.len() / 2], all[all.len() - 1]);
                println!(
                    "{name}, {parts} parts, e {restitution}, {mass} times the mass: {median} of its speed ({least} to {most}), exactly {exact}"
                );
                let case =
                    || format!("{name}, {parts} parts, e {restitution}, {mass}: {all:?}, exactly {exact}");
                assert!(most < restitution + 0.1, "{}", case());
                assert!(parts == 2 || mass > 1.0 || median > 0.6 * exact, "{}", case());
            }
        }
    }
}

/// A crate without restitution that lands on crates which stand on the floor leaves slowly: with one iteration a blow through several bodies does not
/// find its balance within a step. (`docs/embedding.md` has the figures.)
#[test]
fn landing_on_a_stack_rebounds_little() {
    let four = Settings { iterations: 4, ..soft() };
    let limits = [
        ("soft", soft(), [0.19, 0.42]),
        ("soft, 4", four, [0.07, 0.14]),
        ("projection", projection(), [0.09, 0.3]),
    ];
    for (name, settings, limits) in limits {
        for (mass, limit) in [1.0f32, 4.0].into_iter().zip(limits) {
            let mut most = 0.0f32;
            for (height, speed) in [1u8, 2, 5].into_iter().flat_map(|n| [3.0f32, 12.0].map(|v| (n, v))) {
                for phase in 0..10u8 {
                    let mut world = world(settings);
                    let floor = Shape::half_space(Vec2::Y, 0.0);
                    world.add_body(&BodyDesc::fixed(floor, Vec2::ZERO)).unwrap();
                    let at = |y: f32, mass: f32| BodyDesc {
                        mass: Some(mass),
                        ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, y))
                    };
                    for level in 0..height {
                        world.add_body(&at(0.5 + f32::from(level), 1.0)).unwrap();
                    }
                    steps(&mut world, 60);
                    let above = 0.55 + speed / 60.0 * (1.0 + 0.1 * f32::from(phase));
                    let velocity = Vec2::new(0.0, -speed);
                    world.add_body(&BodyDesc { velocity, ..at(f32::from(height) + above, mass) }).unwrap();
                    for _ in 0..30 {
                        world.step();
                        let up =
                            world.handles().map(|body| state(&world, body).velocity.y).fold(0.0, f32::max);
                        most = most.max(up / speed);
                    }
                }
            }
            println!("{name}: of {mass} times the mass, leaves with {most} of its speed");
            assert!(most < limit, "{name}: {mass} times the mass, {most} of the speed");
        }
    }
}

/// Two equal bodies that meet with their bases flat on each other, without loss and friction, exchange their velocities
/// within 1 % of the speed at which they meet, and do not turn.
fn equal_bodies_exchange_velocities(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    for (u, w) in [(2.0f32, -2.0f32), (4.0, 0.0), (0.0, -3.0), (5.0, -1.0), (5.0, 2.0)] {
        for phase in 0..4 {
            let velocities = [u, w].map(|x| (Vec2::new(x, 0.0), 0.0));
            let [(a, spin_a), (b, spin_b)] = meet(form, weightless(settings), phase, velocities, bouncy(1.0));
            let meeting = (u - w).abs();
            let case = || format!("{u} and {w} m/s, phase {phase}");
            cases.close("leaves at", a.x, w, 0.01 * meeting, case);
            cases.close("leaves at", b.x, u, 0.01 * meeting, case);
            cases.close("goes aside at", a.y.abs().max(b.y.abs()), 0.0, 0.01 * meeting, case);
            cases.close("spins at", spin_a.abs().max(spin_b.abs()), 0.0, 0.05, case);
        }
    }
    cases.finish();
}

/// The velocities and spins of two bodies shortly after their bases have met: they meet at the origin, after 30 steps
/// and a fraction of one.
fn meet(
    form: &Form,
    settings: Settings,
    phase: i32,
    before: [(Vec2, f32); 2],
    material: Material,
) -> [(Vec2, f32); 2] {
    let mut world = world(settings);
    let time = (30.1 + 0.25 * phase as f32) * settings.time_step;
    let bodies = [(0, -1.0f32), (1, 1.0)].map(|(i, side)| {
        let (velocity, angular_velocity) = before[i];
        let (reach, angle) = match form.shape() {
            Shape::Aabb { half_extents } => (half_extents.x, 0.0),
            _ => (form.height, -0.5 * PI * side - time * angular_velocity),
        };
        let position = Vec2::new(side * reach, 0.0) - time * velocity;
        let desc = BodyDesc { velocity, angular_velocity, angle, material, ..form.body(position) };
        form.add(&mut world, &desc)
    });
    steps(&mut world, 34);
    bodies.map(|body| (state(&world, body).velocity, state(&world, body).angular_velocity))
}

/// An oblique impact on a floor: normal and tangential velocity, spin, restitution and friction.
#[derive(Clone, Copy, Debug)]
struct Impact {
    normal: f32,
    tangent: f32,
    spin: f32,
    restitution: f32,
    friction: f32,
}

impl Impact {
    /// The velocity and spin after the impact of a disc, or of a body whose base lands flat and is wide enough to
    /// prevent turning.
    ///
    /// The normal impulse per mass is (1 + e)·v_n. The tangential impulse is the one that stops the sliding, but at
    /// most μ times the normal impulse. For a body that does not turn it takes all of the tangential speed. For a disc
    /// of inertia kmr² it takes a share k/(1 + k), a third, of the speed of the sliding point.
    fn after(self, disc: Option<(f32, f32)>) -> (Vec2, f32) {
        let Impact { normal, tangent, spin, restitution, friction } = self;
        let press = (1.0 + restitution) * normal;
        let (sliding, share) = match disc {
            Some((radius, k)) => (tangent + spin * radius, k / (1.0 + k)),
            None => (tangent, 1.0),
        };
        let impulse = (share * sliding).clamp(-friction * press, friction * press);
        let turned = disc.map_or(0.0, |(radius, k)| impulse / (k * radius));
        (Vec2::new(tangent - impulse, restitution * normal), spin - turned)
    }

    fn cases(turns: bool) -> Vec<Impact> {
        let mut cases = Vec::new();
        for (tangent, normal) in [(6.0f32, 3.0f32), (2.0, 4.0), (-8.0, 2.0), (0.5, 3.0)] {
            for restitution in [1.0, 0.5, 0.0] {
                for friction in [0.1, 0.3, 0.5, 0.8] {
                    cases.push(Impact { normal, tangent, spin: 0.0, restitution, friction });
                    if turns {
                        cases.push(Impact { normal, tangent, spin: 4.0, restitution, friction });
                        cases.push(Impact { normal, tangent, spin: -2.0 * tangent, restitution, friction });
                    }
                }
            }
        }
        cases
    }

    /// A base of half width a below a centre of mass at height b stays flat while friction does not tip it: P·b ≤ J·a.
    fn keeps_flat(self, form: &Form) -> bool {
        let press = (1.0 + self.restitution) * self.normal;
        let impulse = self.tangent.abs().min(self.friction * press);
        impulse * form.height <= 0.98 * press * form.base
    }
}

/// A disc's radius and k = I/mr².
fn disc(form: &Form) -> Option<(f32, f32)> {
    match form.shape() {
        Shape::Circle { radius } if !form.fixed_rotation => Some((radius, 0.5)),
        _ => None,
    }
}

/// Checks velocity and spin after an impact: the velocity within 1 % of the velocity before, the change of the spin
/// within 1 %. `kick` is an additional tolerance: a spin, which counts at this radius.
fn check_impact(
    cases: &mut Cases,
    impact: Impact,
    (velocity, spin): (Vec2, f32),
    (expected, expected_spin): (Vec2, f32),
    kick: f32,
    radius: f32,
    case: impl Fn() -> String,
) {
    let case = || format!("{impact:?} {}", case());
    let change = 0.01 * impact.tangent.hypot(impact.normal) + kick * radius;
    cases.close("tangential velocity", velocity.x, expected.x, change, case);
    cases.close("normal velocity", velocity.y, expected.y, 0.015 * impact.normal, case);
    let turn = 0.01 * (expected_spin - impact.spin).abs() + kick;
    cases.close("spin", spin, expected_spin, turn.max(0.05), case);
}

/// A bounce with friction follows the impulse law within 1 %, on every ground.
fn bounce_with_friction_follows_the_impulse_law(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    for (i, impact) in Impact::cases(disc(form).is_some()).into_iter().enumerate() {
        if disc(form).is_none() && !impact.keeps_flat(form) {
            continue;
        }
        let material = Material::new(1.0, impact.friction, impact.restitution);
        for (ground_name, ground) in grounds(0.0, material) {
            let mut world = world(weightless(settings));
            world.add_body(&ground).unwrap();
            let phase = 0.05 + 0.13 * (i % 8) as f32;
            let gap = impact.normal * settings.time_step * (2.0 + phase);
            let desc = BodyDesc {
                velocity: Vec2::new(impact.tangent, -impact.normal),
                angular_velocity: impact.spin,
                material,
                ..form.body(Vec2::new(0.0, form.height + gap))
            };
            let body = form.add(&mut world, &desc);
            steps(&mut world, 12);
            let end = state(&world, body);
            let after = (end.velocity, end.angular_velocity);
            let expected = impact.after(disc(form));
            check_impact(&mut cases, impact, after, expected, 0.0, 0.0, || format!("on a {ground_name}"));
        }
    }
    cases.finish();
}

/// Two equal bodies that meet with opposite velocities, base on base, share an impulse through the point midway between
/// them, and turn alike: the pair is the same after half a turn. Their bases stay on each other in such a turn, so only
/// friction acts on it. Each body changes as a disc does whose radius is the height of the body's centre and whose k is
/// the body's I/mr².
///
/// Discs meet with spin and without tangential motion: otherwise their normal would turn within the step. Other bodies
/// move aside by at most the path of the step of the impact, which gives the normal impulse an arm. So the steps are
/// short, and the tolerance includes the arm.
fn meeting_bodies_follow_the_impulse_law(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let settings = Settings { time_step: 1.0 / 4_800.0, ..weightless(settings) };
    let k = form.inertia() / (form.mass() * f64::from(form.height).powi(2));
    let turns = k.is_finite().then_some((form.height, k as f32));
    for (i, impact) in Impact::cases(false).into_iter().enumerate() {
        let impact = match disc(form) {
            Some(_) => Impact { tangent: 0.0, spin: 2.0 * impact.tangent, ..impact },
            None => impact,
        };
        let material = Material::new(1.0, impact.friction, impact.restitution);
        let velocity = Vec2::new(impact.normal, impact.tangent);
        let before = [(velocity, impact.spin), (-velocity, impact.spin)];
        let after = meet(form, settings, (i % 4) as i32, before, material);
        let arm = impact.tangent.abs() * settings.time_step;
        let press = (1.0 + impact.restitution) * impact.normal;
        let kick = turns.map_or(0.0, |(radius, k)| press * arm / (k * radius * radius));
        // Each body's velocity in a frame in which the other body is the floor: for the left body turned clockwise, for
        // the right one counter-clockwise.
        for ((velocity, spin), side) in after.into_iter().zip([1.0f32, -1.0]) {
            let seen = Vec2::new(side * velocity.y, -side * velocity.x);
            let expected = impact.after(turns);
            check_impact(&mut cases, impact, (seen, spin), expected, kick, form.height, || {
                format!("meeting, side {side}")
            });
        }
    }
    cases.finish();
}

/// Two equal bodies that hit each other off the centre, at any angles, keep their angular momentum about their common
/// centre within 2 % (circles within 4 %, and without a bounce all within 6 %), and their momentum. Without loss and
/// friction their energy is the same within 1 %; otherwise it never grows.
fn impact_off_the_centre_keeps_momentum(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let settings = Settings { restitution_threshold: 0.0, ..weightless(settings) };
    // Several parts that meet at once are solved one after the other, and lose some energy.
    let least = if matches!(form.name, "dumbbell" | "table" | "club" | "angle") { 0.9 } else { 0.99 };
    for (e, mu) in [(1.0f32, 0.0f32), (1.0, 0.5), (0.5, 0.5), (0.0, 0.3)] {
        for i in 0..12 {
            let material = Material::new(1.0, mu, e);
            let mut world = world(settings);
            let bodies = [-1.0f32, 1.0].map(|side| {
                let desc = BodyDesc {
                    angle: 0.37 * i as f32 + side,
                    velocity: Vec2::new(-4.0 * side, 1.0 * side),
                    angular_velocity: 1.0,
                    material,
                    ..form.body(Vec2::new((1.8 + 0.013 * i as f32) * side, -0.2 * side))
                };
                form.add(&mut world, &desc)
            });
            let sums = |world: &World| {
                let [a, b] = bodies.map(|body| state(world, body));
                let angular = |s: &BodyState| {
                    form.mass() * s.position.as_dvec2().perp_dot(s.velocity.as_dvec2())
                        + form.inertia() * f64::from(s.angular_velocity)
                };
                (
                    angular(&a) + angular(&b),
                    form.energy(&a) + form.energy(&b),
                    (a.velocity + b.velocity).length(),
                )
            };
            let (angular, energy, _) = sums(&world);
            let (mut drift, mut most, mut hit) = (0.0f64, 1.0f64, false);
            for _ in 0..60 {
                world.step();
                let now = sums(&world);
                drift = drift.max((now.0 / angular - 1.0).abs());
                most = most.max(now.1 / energy);
                hit |= !world.begin_events().is_empty();
            }
            let (_, last, momentum) = sums(&world);
            let case = || format!("e {e}, μ {mu}, turned by {}", 0.37 * i as f32);
            cases.holds(hit, || format!("they miss each other: {}", case()));
            let most_drift = if e == 0.0 {
                0.06
            } else if form.name == "circle" {
                0.04
            } else {
                0.02
            };
            cases.holds(drift <= most_drift, || {
                format!("angular momentum off by {:.3} %: {}", 100.0 * drift, case())
            });
            cases.holds(most <= 1.001, || format!("{most} of the energy: {}", case()));
            cases.close("sum of the velocities", momentum, 0.0, 1e-4, case);
            if e == 1.0 && mu == 0.0 {
                cases
                    .holds(last >= least * energy, || format!("{} of the energy: {}", last / energy, case()));
            }
        }
    }
    cases.finish();
}

/// Two circles that meet anywhere in a step, and anywhere on each other, keep their angular momentum about each other within 0.5 % and their
/// energy within 3 %, whatever the number of substeps: they bounce along the line of their centres at the time of the impact.
fn circles_bounce_along_their_centres(settings: Settings) {
    let mut cases = Cases::new("circles off the centre", &settings);
    for substeps in [1, 2, 4, 8] {
        let settings = Settings { substeps, restitution_threshold: 0.0, ..weightless(settings) };
        for i in 0..60u32 {
            let [a, b] = [0.3f32, 0.5 - 0.004 * i as f32];
            let off = 0.9 * (a + b) * (-1.0 + 2.0 * ((7 * i) % 60) as f32 / 59.0);
            let touching = ((a + b) * (a + b) - off * off).sqrt();
            // They meet after this part of the first step.
            let part = (i as f32 + 0.5) / 60.0;
            let (velocity, mass) = (Vec2::new(-0.3 * (a + b), 0.0) * 60.0 / 8.0, 1.0 + (i % 5) as f32);
            let mut world = world(settings);
            let still = BodyDesc::dynamic(Shape::circle(a), Vec2::ZERO);
            let start = Vec2::new(touching, off) - part * velocity / 60.0;
            let moves = BodyDesc { velocity, mass: Some(mass), ..BodyDesc::dynamic(Shape::circle(b), start) };
            let bodies = [still, moves].map(|desc| {
                world.add_body(&BodyDesc { material: Material::new(1.0, 0.0, 1.0), ..desc }).unwrap()
            });
            let angular = |world: &World| {
                let [first, second] = bodies.map(|body| state(world, body));
                (second.position - first.position)
                    .as_dvec2()
                    .perp_dot((second.velocity - first.velocity).as_dvec2())
            };
            let before = angular(&world);
            steps(&mut world, 5);
            let scale = f64::from(velocity.length() * (a + b));
            let turned = (angular(&world) - before).abs() / scale;
            let [first, second] = bodies.map(|body| state(&world, body));
            let case = || format!("{substeps} substeps, {off} m off the centre, after {part} of a step");
            cases.holds(first.velocity.length() > 0.1, || format!("they miss each other: {}", case()));
            cases.holds(turned <= 0.005, || format!("angular momentum off by {turned}: {}", case()));
            let energy = world.mass(bodies[0]).unwrap() * first.velocity.length_squared()
                + mass * second.velocity.length_squared();
            cases.close("energy", energy / (mass * velocity.length_squared()), 1.0, 0.03, case);
        }
    }
    cases.finish();
}
