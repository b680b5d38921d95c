//! Contract: what falls on a heap comes to rest there, whatever it gives back, and sleeps.

use granule::{BodyDesc, BodyType, Material, Settings, Shape, Vec2, World, scene};

/// Contract: piles of what gives back some of a blow fall asleep as those that give back nothing: circles and boxes that do not turn within
/// 40 s. (Contacts that bore a load bounced in each substep, for ever: of 4,000 with a restitution of 0.1 none slept. Piles of 600 did.)
#[test]
fn piles_of_what_bounces_fall_asleep() {
    for (bodies, restitution) in [(4_000, 0.1), (600, 0.0), (600, 0.3), (600, 0.6), (600, 0.9)] {
        for name in ["pile", "pile_circles"] {
            let mut scene = scene::builtin(name, bodies, 1).unwrap();
            scene.settings.sleep = true;
            scene.bodies.iter_mut().for_each(|body| body.material.restitution = restitution);
            let mut world = scene.build().unwrap();
            let asleep = (0..2_400).find(|_| {
                world.step();
                world.awake_count() == 0
            });
            println!("{name} of {bodies}, e {restitution}: all asleep after {asleep:?} steps");
            assert!(asleep.is_some(), "{name} of {bodies}, e {restitution}: {} awake", world.awake_count());
        }
    }
}

/// Contract: of a pile of all shapes that give back some of a blow, at most one body in a hundred still moves after 20 s. (Of 2,000 were up to 219
/// faster than 0.05 m/s. A few may rock on each other for long: see `docs/embedding.md`.)
#[test]
fn piles_of_all_shapes_calm_down() {
    for seed in 1..=4 {
        for restitution in [0.1, 0.3] {
            let mut scene = scene::builtin("mixed_shapes", 1_000, seed).unwrap();
            scene.settings.sleep = false;
            scene.bodies.iter_mut().for_each(|body| body.material.restitution = restitution);
            let mut world = scene.build().unwrap();
            (0..1_200).for_each(|_| world.step());
            let fast = world.handles().filter(|&body| {
                let state = world.body(body).unwrap();
                state.velocity.length().max(0.4 * state.angular_velocity.abs()) > 0.05
            });
            let fast = fast.count();
            println!("seed {seed}, e {restitution}: {fast} of 1,000 move");
            assert!(fast <= 10, "seed {seed}, e {restitution}: {fast} of 1,000 move");
        }
    }
}

/// Contract: what rattles between two walls, and meets each of them in each step, keeps its energy: a load is only what hardly moves.
#[test]
fn what_rattles_keeps_its_energy() {
    let material =
        Material { restitution: 1.0, static_friction: 0.0, dynamic_friction: 0.0, ..Material::default() };
    for gap in [0.02f32, 0.05, 0.2] {
        for speed in [2.0f32, 5.0, 20.0] {
            let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
            let ball = |x: f32, radius: f32, velocity: f32| BodyDesc {
                material,
                velocity: Vec2::new(velocity, 0.0),
                ..BodyDesc::dynamic(Shape::circle(radius), Vec2::new(x, 0.0))
            };
            let wall = |x: f32| BodyDesc {
                material,
                ..BodyDesc::fixed(Shape::oriented_box(0.5, 2.0), Vec2::new(x, 0.0))
            };
            world.add_body(&wall(-0.6 - gap)).unwrap();
            world.add_body(&wall(0.6 + gap)).unwrap();
            let small = world.add_body(&ball(0.0, 0.1, speed)).unwrap();
            (0..600).for_each(|_| world.step());
            let left = world.body(small).unwrap().velocity.length() / speed;
            println!("gap {gap}, {speed} m/s: {left} of its speed is left");
            assert!((0.98..=1.0001).contains(&left), "gap {gap}, {speed} m/s: {left} of its speed is left");
        }
    }
}

/// Contract: a heap of 200 figures of particles lies still after 30 s. (When limbs that overlapped were pushed apart at once, links turned the way back
/// into velocity: half of the particles moved faster than 0.15 m/s, for ever.)
#[test]
fn heaps_of_figures_do_not_tremble() {
    let mut scene = scene::builtin("ragdolls", 2_600, 1).unwrap();
    scene.settings.sleep = false;
    let mut world = scene.build().unwrap();
    (0..1_800).for_each(|_| world.step());
    let mut speeds: Vec<f32> = world
        .handles()
        .filter(|&body| world.body_type(body) == Ok(BodyType::Dynamic))
        .map(|body| world.body(body).unwrap().velocity.length())
        .collect();
    speeds.sort_by(f32::total_cmp);
    let [half, most] = [speeds.len() / 2, speeds.len() * 9 / 10].map(|place| speeds[place]);
    println!("half are slower than {half} m/s, nine tenths than {most}");
    assert!(half < 0.02 && most < 0.1, "half are slower than {half} m/s, nine tenths than {most}");
}
