//! Contract: what falls on a heap comes to rest there, whatever it gives back, and sleeps.

use super::{add, crate_at, rough, with_floor};
use crate::common::{state, steps};
use granule::scene::{self, Scene};
use granule::{BodyDesc, BodyType, Material, Settings, Shape, Vec2, World};

/// Takes steps until all bodies of a scene sleep, at most so many.
fn falls_asleep(scene: &Scene, most: u32, label: &str) {
    let mut world = scene.build().unwrap();
    let asleep = (0..most).find(|_| {
        world.step();
        world.awake_count() == 0
    });
    println!("{label}: all asleep after {asleep:?} steps");
    assert!(asleep.is_some(), "{label}: {} awake", world.awake_count());
}

/// The same, within 60 s, of a built-in scene with each of these seeds.
fn fall_asleep(name: &str, bodies: usize, seeds: std::ops::RangeInclusive<u64>) {
    for seed in seeds {
        let mut scene = scene::builtin(name, bodies, seed).unwrap();
        scene.settings.sleep = true;
        falls_asleep(&scene, 3_600, &format!("{name} of {bodies}, seed {seed}"));
    }
}

/// Contract: piles of what gives back some of a blow fall asleep as those that give back nothing: circles and boxes that do not turn within
/// 40 s. (Contacts that bore a load bounced in each substep, for ever: of 4,000 with a restitution of 0.1 none slept. Piles of 600 did.)
#[test]
fn piles_of_what_bounces_fall_asleep() {
    for (bodies, restitution) in [(4_000, 0.1), (600, 0.0), (600, 0.3), (600, 0.6), (600, 0.9)] {
        for name in ["pile", "pile_circles"] {
            let mut scene = scene::builtin(name, bodies, 1).unwrap();
            scene.settings.sleep = true;
            scene.bodies.iter_mut().for_each(|body| body.material.restitution = restitution);
            falls_asleep(&scene, 2_400, &format!("{name} of {bodies}, e {restitution}"));
        }
    }
}

/// Contract: of a pile of all shapes that give back some of a blow, at most one body in a hundred still moves after 20 s. (Of 2,000 were up to 219
/// faster than 0.05 m/s.)
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

/// Contract: piles of 4,000 bodies of all shapes fall asleep within 60 s. (Some capsules and circles rocked on each other at 0.1 to 0.4 m/s for ever:
/// `contacts/update/lead.rs` says why.)
#[test]
fn piles_of_all_shapes_fall_asleep() {
    fall_asleep("mixed_shapes", 4_000, 1..=2);
}

/// Contract: heaps of 100 figures fall asleep within 60 s. (While contacts pushed along the normals of the step's start, limbs of two heaps in six swung by some
/// centimetres for ever, and of 200 figures some did in every heap: `solver/hulls/carry.rs`.)
#[test]
fn heaps_of_figures_fall_asleep() {
    fall_asleep("ragdolls", 1_300, 1..=3);
}

/// Contract: a heap falls asleep as soon as its last body has been at rest for long enough, however often islands were sought in vain before. (It slept up to 64 steps later.)
#[test]
fn a_heap_sleeps_with_its_last_body() {
    let (mut world, _) = with_floor(Settings::default());
    let crates: Vec<_> = (0..8).map(|level| add(&mut world, crate_at(0.0, 0.5 * level as f32))).collect();
    for step in 0..600 {
        if step % 10 == 0 {
            let speed = if step % 20 == 0 { 0.08 } else { -0.08 };
            world.set_velocity(crates[7], Vec2::new(speed, 0.0)).unwrap();
        }
        world.step();
        assert_eq!(world.awake_count(), 8, "{step}");
    }
    let asleep = (1..).find(|_| {
        world.step();
        world.awake_count() == 0
    });
    // Half a second after the last push, ten steps ago.
    let asleep = asleep.unwrap();
    assert!((18..=24).contains(&asleep), "{asleep} steps");
}

/// Contract: piles of 100 and of 500 soft boxes fall asleep within 60 s, as the scene has eight substeps. (With four, five of twelve piles of 500 did not: towers of eight boxes
/// swayed, and boxes lay up to 0.1 m deep in each other.)
#[test]
fn piles_of_soft_boxes_fall_asleep() {
    fall_asleep("soft_boxes", 400, 1..=6);
    fall_asleep("soft_boxes", 2_000, 1..=3);
}

/// Contract: a pile of boxes of 1 and of 10 or 20 kg that give back some of a blow falls asleep as one that gives back nothing, and gains no
/// energy: the loads of the heavy ones are no blows. (With 20 kg and a restitution of 0.1 boxes left it at 4 to 9 m/s for ever, were up to 0.6 m
/// inside each other, and the pile gained a tenth of its energy in a minute.)
#[test]
fn loads_are_no_blows() {
    for (restitution, ratio) in [(0.1f32, 20.0f32), (0.5, 10.0), (0.8, 5.0)] {
        let mut world = World::new(Settings::default()).unwrap();
        let material = Material { restitution, ..Material::default() };
        let mut wall = |half: Vec2, at: Vec2| {
            let wall = BodyDesc::fixed(Shape::oriented_box(half.x, half.y), at);
            world.add_body(&BodyDesc { material, ..wall }).unwrap();
        };
        wall(Vec2::new(6.0, 0.5), Vec2::new(0.0, -0.5));
        wall(Vec2::new(0.5, 60.0), Vec2::new(-2.5, 59.0));
        wall(Vec2::new(0.5, 60.0), Vec2::new(2.5, 59.0));
        for i in 0..80 {
            let at = Vec2::new(-1.2 + 1.2 * (i % 3) as f32, 1.0 + 1.2 * (i / 3) as f32);
            let mass = Some(if i % 2 == 0 { 1.0 } else { ratio });
            let body = BodyDesc::dynamic(Shape::oriented_box(0.4, 0.3), at);
            world.add_body(&BodyDesc { material, mass, angle: 0.3 * i as f32, ..body }).unwrap();
        }
        let (mut gained, mut last) = (0.0, f64::INFINITY);
        for step in 0..2_400 {
            world.step();
            let residual = world.residual();
            let energy = residual.kinetic_energy + residual.potential_energy;
            if step > 1_200 {
                gained += (energy - last).max(0.0);
            }
            last = energy;
        }
        assert_eq!(world.awake_count(), 0, "restitution {restitution}, 1:{ratio}");
        assert!(gained < 1.0, "restitution {restitution}, 1:{ratio}: {gained} J");
    }
}

/// Contract: boxes of one mass that lie on each other, and give back half of a blow, keep still under any gravity: what gravity adds in a substep is no
/// blow. (Three bounced at 1.2 m/s for ever when that was more than the threshold.)
#[test]
fn weight_is_no_blow() {
    for (gravity, settings) in [(300.0f32, Settings::default()), (100.0, Settings::projection())] {
        let (mut world, _) = with_floor(Settings { gravity: Vec2::new(0.0, -gravity), ..settings });
        let material = Material { restitution: 0.5, ..rough() };
        let boxes: Vec<_> = (0..3)
            .map(|level| add(&mut world, BodyDesc { material, ..crate_at(0.0, 0.5 * level as f32) }))
            .collect();
        steps(&mut world, 1_200);
        for (level, &body) in boxes.iter().enumerate() {
            let now = state(&world, body);
            let off = (now.position.y - 0.25 - 0.5 * level as f32).abs();
            assert!(off < 0.05, "{gravity} m/s²: box {level} is off by {off}");
            assert!(now.velocity.length() < 0.05, "{gravity} m/s²: {now:?}");
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
