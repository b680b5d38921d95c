//! Contract: what bodies have besides their columns survives a snapshot: sensors and what is in them, locks, largest speeds, masses by hand,
//! targets, bodies that are not enabled, pairs of materials, names, tags, welds; hooks stay with the world that has them.

use super::{assert_same, saved};
use granule::{
    Assembly, BodyDesc, BodyHandle, BodyType, Explosion, Field, FieldKind, HookContact, Hooks, Isa,
    JointDesc, Locks, Material, Mixed, Order, Part, Recording, Region, Settings, Shape, Vec2, World,
};
use std::sync::Arc;

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn unit(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1u32 << 20) as f32
    }

    fn vector(&mut self, most: f32) -> Vec2 {
        most * (2.0 * Vec2::new(self.unit(), self.unit()) - Vec2::ONE)
    }
}

/// A shaft of bodies of all kinds, with sensors, and a row of welded planks.
fn world(random: &mut Random) -> (World, Vec<BodyHandle>) {
    let mut world = World::new(Settings::default()).unwrap();
    for (normal, offset) in [(Vec2::Y, 0.0), (Vec2::X, -6.0), (Vec2::NEG_X, -6.0)] {
        world.add_body(&BodyDesc::fixed(Shape::half_space(normal, offset), Vec2::ZERO)).unwrap();
    }
    let gate = BodyDesc::fixed(Shape::oriented_box(2.0, 1.0), Vec2::new(0.0, 2.0));
    world.add_body(&BodyDesc { sensor: true, ..gate }).unwrap();
    let lift = BodyDesc {
        body_type: BodyType::Kinematic,
        ..BodyDesc::dynamic(Shape::oriented_box(1.0, 0.2), Vec2::Y)
    };
    let mut bodies = vec![world.add_body(&lift).unwrap()];
    for number in 0..40 {
        let shape = match random.below(4) {
            0 => Shape::circle(0.2 + 0.2 * random.unit()),
            1 => Shape::capsule(0.3, 0.15),
            2 => Shape::aabb(0.25, 0.2),
            _ => Shape::oriented_box(0.3, 0.2),
        };
        let place = Vec2::new((number % 8) as f32 - 4.0, 1.0 + 1.1 * (number / 8) as f32);
        let desc = BodyDesc {
            material: Material { id: number % 3, ..Material::new(1.0, 0.4, 0.0) },
            lock_x: random.below(9) == 0,
            lock_y: random.below(20) == 0,
            max_speed: (random.below(4) == 0).then(|| 3.0 * random.unit()),
            max_angular_speed: (random.below(4) == 0).then(|| 2.0 * random.unit()),
            enabled: random.below(8) != 0,
            sensor: random.below(10) == 0,
            tag: random.below(5) as u64,
            velocity: random.vector(3.0),
            ..BodyDesc::dynamic(shape, place)
        };
        bodies.push(world.add_body(&desc).unwrap());
    }
    let plank = |x: f32| BodyDesc::dynamic(Shape::oriented_box(0.4, 0.1), Vec2::new(x, 7.5));
    let planks: Vec<_> = (0..5).map(|n| world.add_body(&plank(0.8 * n as f32)).unwrap()).collect();
    for two in planks.windows(2) {
        let at = Vec2::new(0.4, 0.0);
        world.add_joint(&JointDesc::weld(two[0], two[1], at, -at)).unwrap();
    }
    bodies.extend(planks);
    let bouncy = Mixed { static_friction: 0.1, dynamic_friction: 0.1, restitution: 0.8 };
    world.set_pair_material(0, 1, Some(bouncy)).unwrap();
    (world, bodies)
}

/// Does one of the things that a host can do. Some are refused.
fn change(world: &mut World, bodies: &[BodyHandle], random: &mut Random) {
    let body = bodies[random.below(bodies.len())];
    let flag = random.below(2) == 0;
    match random.below(20) {
        0 | 1 => drop(world.set_kinematic_target(
            bodies[0],
            Vec2::new(0.0, 1.0) + random.vector(0.5),
            random.unit(),
        )),
        2 => drop(world.set_enabled(body, flag)),
        3 => drop(world.set_locks(body, Locks { x: flag, y: random.below(4) == 0, rotation: !flag })),
        4 => drop(world.set_max_speeds(body, flag.then_some(2.0), None)),
        5 => drop(world.set_mass(body, flag.then(|| 0.1 + random.unit()))),
        6 => drop(world.set_inertia(body, flag.then(|| 0.1 + random.unit()))),
        7 => drop(world.set_centre(body, flag.then(|| random.vector(0.1)))),
        8 => drop(world.set_shape(body, &Shape::oriented_box(0.2 + 0.2 * random.unit(), 0.2))),
        9 => drop(world.set_sensor(body, flag)),
        10 => {
            let part = Part { sensor: flag, ..Part::new(Shape::circle(0.2), random.vector(0.4)) };
            drop(world.add_part(body, &part));
        }
        11 => drop(world.remove_part(body, 1)),
        12 => drop(world.set_material(body, &Material { id: random.below(3) as u32, ..Material::default() })),
        13 => {
            let mixed = Mixed { restitution: random.unit(), ..Mixed::default() };
            drop(world.set_pair_material(
                random.below(3) as u32,
                random.below(3) as u32,
                flag.then_some(mixed),
            ));
        }
        14 => {
            let wind = FieldKind::Wind { velocity: random.vector(9.0), linear: 1.0, quadratic: 0.0 };
            world.apply_field(&Field::new(Region::Everywhere, wind)).unwrap();
        }
        15 => drop(world.explode(&Explosion::new(random.vector(5.0), 4.0, 2.0))),
        16 => {
            let velocities: Vec<f32> = (0..world.total_count()).map(|_| random.unit()).collect();
            let columns = [&velocities[..], &velocities, &velocities];
            world.set_velocity_columns(if flag { Order::Added } else { Order::Stored }, columns).unwrap();
        }
        17 => {
            let impulses = [random.vector(0.5), random.vector(0.5)];
            drop(world.apply_impulses(&[body, bodies[1]], &impulses, flag.then_some(&[0.1, 0.2])));
        }
        18 => drop(world.set_name(body, flag.then_some("näme"))),
        _ => drop(world.set_body_type(body, if flag { BodyType::Dynamic } else { BodyType::Kinematic })),
    }
}

/// Random worlds with all of it, saved and restored between calls on another instruction set and as clones, go on as one that is not; and
/// their recordings can be done again.
#[test]
fn what_few_bodies_have_survives() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let (mut plain, bodies) = world(&mut random);
        let mut other = World::from_snapshot(&saved(&plain)).unwrap();
        other.set_isa(Isa::Scalar).unwrap();
        plain.start_recording(1);
        for step in 0..80 {
            let name = format!("seed {seed}, step {step}");
            let calls = random.below(3);
            let state = random.0;
            for _ in 0..calls {
                change(&mut plain, &bodies, &mut random);
            }
            let mut again = Random(state);
            for _ in 0..calls {
                change(&mut other, &bodies, &mut again);
            }
            let snapshot = saved(&other);
            if step % 2 == 0 {
                other.restore(&snapshot).unwrap_or_else(|error| panic!("{name}: {error}"));
            } else {
                other = other.clone();
            }
            assert_eq!(other.validate(), Ok(()), "{name}");
            assert_same(&saved(&other), &snapshot, &name);
            plain.step();
            other.step();
            assert_eq!(other.first_difference(&plain), None, "{name}");
            assert_eq!(other.state_hash(), plain.state_hash(), "{name}");
            assert_eq!(other.sensor_begin_events(), plain.sensor_begin_events(), "{name}");
            assert_eq!(other.sensor_end_events(), plain.sensor_end_events(), "{name}");
            assert_eq!(other.begin_events(), plain.begin_events(), "{name}");
            for &body in &bodies {
                assert_eq!(other.overlaps_of(body), plain.overlaps_of(body), "{name}");
                assert_eq!(other.name(body), plain.name(body), "{name}");
                assert_eq!(other.tag(body), plain.tag(body), "{name}");
                assert_eq!(other.locks(body), plain.locks(body), "{name}");
                assert_eq!(other.max_speeds(body), plain.max_speeds(body), "{name}");
                assert_eq!(other.is_enabled(body), plain.is_enabled(body), "{name}");
            }
        }
        let file = plain.stop_recording().unwrap().to_bytes();
        let replay = Recording::from_bytes(&file).unwrap().replay(Isa::Scalar).unwrap();
        assert_eq!((replay.checked, replay.mismatch), (80, None), "seed {seed}");
    }
}

/// Nothing touches body 0 from below, and all contacts slide.
struct Slippery(BodyHandle);

impl Hooks for Slippery {
    fn mix(&self, _: &Material, _: &Material, _: Mixed) -> Mixed {
        Mixed { restitution: 0.5, ..Mixed::default() }
    }

    fn before_solve(&self, contact: &mut HookContact) {
        contact.solve = !contact.names(self.0) || contact.normal_from(self.0).y > 0.5;
    }
}

/// A world with hooks that is restored, or cloned, goes on with them; a recording needs them.
#[test]
fn hooks_stay_with_their_world() {
    let (mut plain, bodies) = world(&mut Random(5));
    let hooks: Arc<dyn Hooks> = Arc::new(Slippery(bodies[0]));
    plain.start_recording(1);
    (0..10).for_each(|_| plain.step());
    plain.set_hooks(Some(hooks.clone()));
    (0..20).for_each(|_| plain.step());
    let mut clone = plain.clone();
    let snapshot = saved(&plain);
    (0..60).for_each(|_| clone.step());
    (0..60).for_each(|_| plain.step());
    assert_eq!(clone.state_hash(), plain.state_hash());
    plain.set_hooks(None);
    (0..5).for_each(|_| plain.step());
    let recording = plain.stop_recording().unwrap();
    let later = clone.state_hash();
    plain.set_hooks(Some(hooks.clone()));
    plain.restore(&snapshot).unwrap();
    (0..60).for_each(|_| plain.step());
    assert_eq!(plain.state_hash(), later);
    assert_eq!(recording.has_hooks(), Ok(true));
    let replay = recording.replay_hooked(Isa::Scalar, hooks.clone()).unwrap();
    assert_eq!((replay.checked, replay.mismatch), (95, None));
    assert!(recording.replay(Isa::Scalar).unwrap().mismatch.is_some());
    // A recording that begins with hooks.
    plain.start_recording(1);
    (0..20).for_each(|_| plain.step());
    let replay = plain.stop_recording().unwrap().replay_hooked(Isa::Auto, hooks).unwrap();
    assert_eq!(replay.mismatch, None);
}

/// Particles that are not enabled: their hull touches nothing, and a snapshot of it is as good as any.
#[test]
fn hulls_that_are_not_enabled() {
    let mut world = World::new(Settings::default()).unwrap();
    let soft = |x: f32| Assembly::soft_box(Vec2::new(x, 0.0), Vec2::splat(0.9), 0.05, 1.0, 0.0);
    world.add_assembly(&soft(0.0)).unwrap();
    let corners = world.add_assembly(&soft(3.0)).unwrap();
    world.set_enabled(corners[3], false).unwrap();
    world.step();
    let snapshot = saved(&world);
    world.restore(&snapshot).unwrap();
    assert_same(&saved(&world), &snapshot, "a hull that is not enabled");
    world.set_enabled(corners[3], true).unwrap();
    let mut other = World::from_snapshot(&saved(&world)).unwrap();
    for world in [&mut world, &mut other] {
        (0..3).for_each(|_| world.step());
        world.validate().unwrap();
    }
    assert_eq!(world.state_hash(), other.state_hash());
}

/// A pinned particle that has lost its hull, because another one of it was removed, is in the way of a fast body, in a world and in its
/// copy. (The copy lists all walls anew. The world did not look for this one.)
#[test]
fn what_is_left_of_a_hull_is_a_wall() {
    let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
    let [other, end] = [3.0, 0.0].map(|y| {
        let end = BodyDesc::particle(Vec2::new(0.0, y), 1.0);
        let end = BodyDesc { shape: Shape::particle(0.5), ..end };
        world.add_body(&if y == 0.0 { end.pinned() } else { end }).unwrap()
    });
    world.add_hull(&[other, end]).unwrap();
    let ball = BodyDesc::dynamic(Shape::circle(0.1), Vec2::new(-5.0, 0.0));
    let ball = world.add_body(&ball).unwrap();
    world.step();
    world.remove_body(other).unwrap();
    world.set_velocity(ball, Vec2::new(500.0, 0.0)).unwrap();
    let mut copy = World::from_snapshot(&saved(&world)).unwrap();
    for step in 0..10 {
        for world in [&mut world, &mut copy] {
            world.step();
            assert!(world.body(ball).unwrap().position.x < 0.0, "passed through in step {step}");
        }
        assert_eq!(copy.first_difference(&world), None, "step {step}");
    }
}
