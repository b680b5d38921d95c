//! Contract: a hit event tells of each two shapes that strike each other, once, with the speed at which they approached and the whole
//! impulse of the step; nothing is told that was not asked for, and the answer is the same on every instruction set and number of threads.

use super::super::common::{steps, world};
use granule::{BodyDesc, BodyHandle, HitEvent, Isa, Material, Part, Settings, Shape, Vec2, World, scene};

fn floor(world: &mut World) -> BodyHandle {
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap()
}

/// All hits of so many steps.
fn hits(world: &mut World, steps: u32) -> Vec<HitEvent> {
    let mut hits = Vec::new();
    for _ in 0..steps {
        world.step();
        hits.extend_from_slice(world.hit_events());
    }
    hits
}

/// What falls from a height h strikes the floor at √(2gh), within what gravity adds in a step, and takes the momentum m·v·(1 + e), and its weight for one
/// step at most.
#[test]
fn a_fall_strikes_with_its_speed_and_momentum() {
    let rough = Settings { substeps: 1, ..Settings::default() };
    for settings in [Settings::default(), rough, Settings::projection()] {
        for restitution in [0.0, 0.5, 1.0] {
            for shape in [
                Shape::circle(0.5),
                Shape::aabb(0.5, 0.5),
                Shape::oriented_box(0.5, 0.5),
                Shape::capsule(0.5, 0.5),
            ] {
                for height in [1.0f32, 4.0, 10.0] {
                    let mut world = world(settings);
                    let material = Material { restitution, ..Material::default() };
                    let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
                    let floor = world.add_body(&BodyDesc { material, ..floor }).unwrap();
                    let place = Vec2::new(0.0, 0.5 + height);
                    let body = BodyDesc { material, ..BodyDesc::dynamic(shape, place) };
                    let body = world.add_body(&body).unwrap();
                    world.set_hit_events(Some(1.0)).unwrap();
                    let hits = hits(&mut world, 25 + (height * 8.0) as u32 + 40);
                    let hit = hits[0];
                    let what = format!("{settings:?} {restitution} {shape:?} from {height}: {hit:?}");
                    let speed = (20.0 * height).sqrt();
                    assert!((hit.approach_speed - speed).abs() < 10.0 / 60.0 + 0.01, "{what}");
                    let mass = world.mass(body).unwrap();
                    let momentum = mass * hit.approach_speed * (1.0 + restitution);
                    let weight = mass * 10.0 / 60.0;
                    assert!(hit.impulse > momentum - 0.02 * momentum - 2.0 * weight, "{what}, {momentum}");
                    assert!(hit.impulse < momentum + 0.02 * momentum + 2.0 * weight, "{what}, {momentum}");
                    assert_eq!([hit.a, hit.b], [body, floor], "{what}");
                    assert!((hit.normal + Vec2::Y).length() < 1e-6, "{what}");
                    assert!(hit.point.y.abs() < 0.2, "{what}");
                }
            }
        }
    }
}

/// A body that lands and stays strikes once; one that bounces, once for each time that it comes down, with the speed that it had before the
/// step; one that rests, never.
#[test]
fn each_blow_is_told_once() {
    for restitution in [0.0, 0.8] {
        let mut world = world(Settings::default());
        let material = Material { restitution, ..Material::default() };
        let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
        world.add_body(&BodyDesc { material, ..floor }).unwrap();
        let ball = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 2.0));
        let ball = world.add_body(&BodyDesc { material, ..ball }).unwrap();
        world.set_hit_events(Some(1.2)).unwrap();
        let (mut told, mut falling) = (0, 0.0f32);
        for step in 0..300 {
            world.step();
            let speed = world.body(ball).unwrap().velocity.y;
            let struck = falling <= -1.2 && speed > falling + 0.5;
            assert_eq!(world.hit_events().len(), usize::from(struck), "{restitution}, step {step}");
            for hit in world.hit_events() {
                assert!((hit.approach_speed + falling).abs() < 1e-5, "{hit:?}, {falling}");
                told += 1;
            }
            falling = speed;
        }
        assert!(if restitution == 0.0 { told == 1 } else { told > 4 }, "{restitution}: {told}");
    }
}

/// Only the bodies that were asked for are told of, each from its own threshold on.
#[test]
fn thresholds_are_by_body() {
    let mut world = world(Settings::default());
    floor(&mut world);
    let drop = |world: &mut World, x: f32, height: f32| {
        let body = BodyDesc::dynamic(Shape::circle(0.25), Vec2::new(x, 0.25 + height));
        world.add_body(&body).unwrap()
    };
    let [low, high, other] =
        [(0.0, 0.5), (2.0, 3.0), (4.0, 3.0)].map(|(x, height)| drop(&mut world, x, height));
    assert!(hits(&mut world, 60).is_empty(), "nobody asked");
    for (body, height) in [(low, 0.5), (high, 3.0), (other, 3.0)] {
        let x = world.body(body).unwrap().position.x;
        world.set_position(body, Vec2::new(x, 0.25 + height)).unwrap();
        world.set_velocity(body, Vec2::ZERO).unwrap();
    }
    world.set_body_hit_events(low, Some(4.0)).unwrap();
    world.set_body_hit_events(high, Some(4.0)).unwrap();
    let told: Vec<_> = hits(&mut world, 60).iter().map(|hit| hit.a).collect();
    assert_eq!(told, [high]);
    world.set_hit_events(Some(2.0)).unwrap();
    world.set_body_hit_events(high, None).unwrap();
    for body in [low, high, other] {
        let x = world.body(body).unwrap().position.x;
        world.set_position(body, Vec2::new(x, 2.0)).unwrap();
    }
    assert_eq!(hits(&mut world, 60).len(), 3);
    assert!(world.set_hit_events(Some(f32::NAN)).is_err());
    assert!(world.set_body_hit_events(high, Some(-1.0)).is_err());
    world.remove_body(high).unwrap();
    assert!(world.set_body_hit_events(high, Some(1.0)).is_err());
    world.set_hit_events(None).unwrap();
    world.set_body_hit_events(low, None).unwrap();
    steps(&mut world, 1);
}

/// The parts of compounds that strike are named, and the point is one of the part.
#[test]
fn a_hit_names_the_parts() {
    let mut world = world(Settings::default());
    let base = BodyDesc::fixed(Shape::oriented_box(0.5, 0.5), Vec2::new(-2.0, -0.5));
    let base = world.add_body(&base).unwrap();
    world.add_part(base, &Part::new(Shape::oriented_box(0.5, 0.5), Vec2::new(4.0, 0.0))).unwrap();
    let pole =
        BodyDesc { fixed_rotation: true, ..BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(0.0, 4.0)) };
    let pole = world.add_body(&pole).unwrap();
    // The second part hangs lower, over the right block.
    world.add_part(pole, &Part::new(Shape::circle(0.3), Vec2::new(2.0, -1.0))).unwrap();
    world.set_hit_events(Some(1.0)).unwrap();
    let hits = hits(&mut world, 60);
    assert_eq!(hits.len(), 1, "{hits:?}");
    let HitEvent { a, b, part_a, part_b, point, .. } = hits[0];
    let of = |body: BodyHandle| if a == body { (a, part_a) } else { (b, part_b) };
    assert_eq!([of(base), of(pole)], [(base, 1), (pole, 1)]);
    assert!((point - Vec2::new(2.0, 0.0)).length() < 0.2, "{point}");
    let contact = world.contacts_of(pole).unwrap().next().unwrap();
    assert_eq!([contact.part_a, contact.part_b], [1, 1]);
}

/// The same hits, in the same order, on every instruction set and number of threads; and asking for them changes no state.
#[test]
fn hits_and_moves_are_the_same_everywhere() {
    granule::set_oversubscribe(true);
    for name in ["pile", "smash", "junkyard"] {
        let scene = scene::builtin(name, 1_200, 1).unwrap();
        let mut worlds: Vec<(World, usize)> = Vec::new();
        for isa in Isa::available() {
            let mut world = scene.build().unwrap();
            world.set_isa(isa).unwrap();
            worlds.push((world, 1 + worlds.len() % 3));
        }
        let mut plain = scene.build().unwrap();
        for (world, _) in &mut worlds {
            world.set_hit_events(Some(2.0)).unwrap();
            world.set_move_events(true);
        }
        let mut told = 0;
        for step in 0..80 {
            plain.step();
            for (world, threads) in &mut worlds {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(*threads).build().unwrap();
                pool.install(|| world.step());
            }
            let (first, _) = &worlds[0];
            told += first.hit_events().len();
            for (world, _) in &worlds {
                assert_eq!(world.hit_events(), first.hit_events(), "{name}, step {step}");
                assert_eq!(world.move_events(), first.move_events(), "{name}, step {step}");
                assert_eq!(world.state_hash(), plain.state_hash(), "{name}, step {step}");
            }
        }
        assert!(told > 20, "{name}: {told} hits");
    }
}
