//! Bodies that are struck against other bodies, with friction: a pebble between a boulder and the ground, and fast
//! gases of large and small bodies. The impulses of friction act far from the centres there.

use super::{Material, Random, Settings, Shape, World};
use granule::{BodyDesc, Polygon, Vec2};

each_solver! { pinched_between_floor_and_boulder, gas_of_all_sizes }

/// Shapes by number: capsules, boxes, triangles, pentagons.
fn shape(kind: usize, size: f32) -> Shape {
    match kind {
        0 => Shape::capsule(0.7 * size, 0.3 * size),
        1 => Shape::oriented_box(0.8 * size, 0.4 * size),
        2 => Shape::Polygon(Polygon::regular(3, size).unwrap()),
        _ => Shape::Polygon(Polygon::regular(5, size).unwrap()),
    }
}

fn material(restitution: f32, friction: f32) -> Material {
    Material {
        restitution,
        static_friction: friction,
        dynamic_friction: 0.8 * friction,
        ..Material::default()
    }
}

/// A pebble, up to 40 times smaller than the boulder that strikes it against the floor at 5 to 500 m/s, gains no more
/// energy than there was before, with any restitution and friction.
fn pinched_between_floor_and_boulder(settings: Settings) {
    let settings = Settings { gravity: Vec2::ZERO, ..settings };
    let mut random = Random(0x51ed);
    for case in 0..1_500 {
        let (kind, speed) = (case % 4, [5.0, 10.0, 50.0, 150.0, 500.0][case % 5]);
        let material = material(random.uniform(), 0.8 * random.uniform());
        let (boulder, pebble) = (0.5 + 1.5 * random.uniform(), 0.05 * 6.0f32.powf(random.uniform()));
        let mut world = World::new(settings).unwrap();
        let mut add = |desc: BodyDesc| world.add_body(&BodyDesc { material, ..desc }).unwrap();
        add(BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO));
        add(BodyDesc {
            velocity: Vec2::new(0.0, -speed),
            angle: 3.0 * random.uniform(),
            ..BodyDesc::dynamic(
                shape(kind, boulder),
                Vec2::new(0.0, boulder + 2.0 * pebble + 0.5 * random.uniform()),
            )
        });
        add(BodyDesc {
            velocity: 5.0 * Vec2::new(random.within(1.0), random.within(1.0)),
            angle: 3.0 * random.uniform(),
            ..BodyDesc::dynamic(shape(kind, pebble), Vec2::new(random.within(1.0), pebble + 0.01))
        });
        let start = world.quality().kinetic_energy;
        for step in 0..20 {
            world.step();
            let energy = world.quality().kinetic_energy;
            assert!(energy <= 1.01 * start, "case {case}, step {step}: {energy} J of {start}");
        }
    }
}

/// A closed gas of 81 bodies of 0.05 to 1 m with friction never has more energy than at its start, at up to 500 m/s.
fn gas_of_all_sizes(settings: Settings) {
    for (kind, speed) in (0..4).flat_map(|kind| [20.0, 150.0, 500.0].map(|speed| (kind, speed))) {
        let mut random = Random(7 + kind as u32);
        let material = material(1.0, 0.5);
        let mut world = World::new(Settings { gravity: Vec2::ZERO, ..settings }).unwrap();
        for normal in [Vec2::X, Vec2::Y, -Vec2::X, -Vec2::Y] {
            let wall = BodyDesc::fixed(Shape::half_space(normal, -12.0), Vec2::ZERO);
            world.add_body(&BodyDesc { material, ..wall }).unwrap();
        }
        for i in 0..81 {
            let size = 0.05 * 20.0f32.powf(random.uniform());
            let place = 2.4 * Vec2::new((i % 9) as f32 - 4.0, (i / 9) as f32 - 4.0);
            let desc = BodyDesc {
                material,
                angle: 3.0 * random.uniform(),
                velocity: speed * Vec2::new(random.within(1.0), random.within(1.0)),
                ..BodyDesc::dynamic(shape(kind, size), place)
            };
            world.add_body(&desc).unwrap();
        }
        let start = world.quality().kinetic_energy;
        for step in 0..200 {
            world.step();
            let energy = world.quality().kinetic_energy;
            assert!(energy <= 1.01 * start, "kind {kind} at {speed} m/s, step {step}: {energy} J of {start}");
        }
    }
}
