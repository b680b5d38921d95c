//! Contract: static bodies cost nothing in a step as long as nobody changes them, and whatever a host does to one shows in the next step.

use granule::{
    Assembly, BodyDesc, BodyHandle, BodyType, Filter, Material, Part, Settings, Shape, Vec2, World,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// What a host does between two steps, to a body that may be static.
#[derive(Clone, Debug)]
enum Deed {
    Nothing,
    Place(Vec2),
    Turn(f32),
    Resize(f32),
    Extend(Vec2),
    Enable(bool),
    Retype(BodyType),
    Remove,
    Add(Vec2, bool),
    Ignore(bool),
    Roughen(f32),
    Push(Vec2),
    Shift(Vec2),
}

fn deed() -> impl Strategy<Value = Deed> {
    let vector = || (-2.0f32..2.0, -2.0f32..2.0).prop_map(|(x, y)| Vec2::new(x, y));
    prop_oneof![
        12 => Just(Deed::Nothing),
        2 => vector().prop_map(Deed::Place),
        1 => (-1.0f32..1.0).prop_map(Deed::Turn),
        1 => (0.2f32..1.0).prop_map(Deed::Resize),
        1 => vector().prop_map(Deed::Extend),
        1 => any::<bool>().prop_map(Deed::Enable),
        1 => prop_oneof![Just(BodyType::Static), Just(BodyType::Dynamic), Just(BodyType::Kinematic)].prop_map(Deed::Retype),
        1 => Just(Deed::Remove),
        2 => (vector(), any::<bool>()).prop_map(|(at, fixed)| Deed::Add(at, fixed)),
        1 => any::<bool>().prop_map(Deed::Ignore),
        1 => (0.0f32..1.0).prop_map(Deed::Roughen),
        2 => vector().prop_map(Deed::Push),
        1 => vector().prop_map(Deed::Shift),
    ]
}

/// Does it to both worlds. Some deeds are refused: the same in both.
fn act(world: &mut World, bodies: &mut Vec<BodyHandle>, which: &Index, deed: &Deed) {
    let place = which.index(bodies.len());
    let body = bodies[place];
    let at = world.body(body).unwrap().position;
    let refused = match *deed {
        Deed::Nothing => false,
        Deed::Place(by) => world.set_position(body, at + by).is_err(),
        Deed::Turn(angle) => world.set_angle(body, angle).is_err(),
        Deed::Resize(size) => world.set_shape(body, &Shape::oriented_box(size, 0.5)).is_err(),
        Deed::Extend(by) => world.add_part(body, &Part::new(Shape::circle(0.3), 0.5 * by)).is_err(),
        Deed::Enable(enabled) => world.set_enabled(body, enabled).is_err(),
        Deed::Retype(of) => world.set_body_type(body, of).is_err(),
        Deed::Remove if bodies.len() > 1 => {
            bodies.swap_remove(place);
            world.remove_body(body).is_err()
        }
        Deed::Remove => false,
        Deed::Add(by, fixed) => {
            let (shape, at) = (Shape::oriented_box(0.4, 0.2), at + by);
            let desc = if fixed { BodyDesc::fixed(shape, at) } else { BodyDesc::dynamic(shape, at) };
            world.add_body(&desc).map(|body| bodies.push(body)).is_err()
        }
        Deed::Ignore(ignore) => {
            let mask = if ignore { 0 } else { u32::MAX };
            world.set_filter(body, Filter { mask, ..Filter::default() }).is_err()
        }
        Deed::Roughen(friction) => world.set_material(body, &Material::new(1.0, friction, 0.0)).is_err(),
        Deed::Push(force) => world.apply_force(body, 10.0 * force).is_err(),
        Deed::Shift(by) => world.shift_origin(by).is_err(),
    };
    assert!(!refused || world.validate().is_ok());
}

/// A floor of static shapes of all kinds, more than are looked at one by one, with bodies that fall on it.
fn tiles(turning: bool, tiles: usize) -> (World, Vec<BodyHandle>) {
    let mut world = World::new(Settings { continuous: false, ..Settings::default() }).unwrap();
    let mut bodies = Vec::new();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::new(0.0, 1.0), -3.0), Vec2::ZERO)).unwrap();
    for i in 0..tiles {
        let at = Vec2::new(0.9 * i as f32, 0.2 * (i % 3) as f32);
        let shape = match i % 5 {
            0 if turning => Shape::oriented_box(0.5, 0.3),
            1 if turning => Shape::capsule(0.4, 0.1),
            2 if turning => Shape::segment(0.5),
            3 => Shape::circle(0.4),
            _ => Shape::aabb(0.5, 0.3),
        };
        bodies.push(world.add_body(&BodyDesc::fixed(shape, at)).unwrap());
    }
    for i in 0..40 {
        let at = Vec2::new(0.9 * (i * tiles / 40) as f32, 1.5 + 0.1 * (i % 7) as f32);
        let shape = if turning && i % 2 == 0 { Shape::oriented_box(0.2, 0.3) } else { Shape::circle(0.25) };
        let velocity = Vec2::new((i % 5) as f32 - 2.0, 0.0);
        bodies.push(world.add_body(&BodyDesc { velocity, ..BodyDesc::dynamic(shape, at) }).unwrap());
    }
    (world, bodies)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A world takes the same steps as one that is restored from its own snapshot before each step, and so knows nothing of its static
    /// bodies from the step before: after any edit, with enough static bodies for whole chunks of them.
    #[test]
    fn what_is_kept_of_static_bodies_is_right(
        turning: bool,
        many: bool,
        deeds in prop::collection::vec((any::<Index>(), deed()), 20..50),
    ) {
        let number = if many { 4_500 } else { 90 };
        let mut worlds = [tiles(turning, number), tiles(turning, number)];
        for (step, (which, deed)) in deeds.iter().enumerate() {
            for (world, bodies) in &mut worlds {
                act(world, bodies, which, deed);
            }
            let mut snapshot = Vec::new();
            worlds[1].0.save(&mut snapshot);
            worlds[1].0.restore(&snapshot).unwrap();
            worlds.iter_mut().for_each(|(world, _)| world.step());
            let [(kept, _), (renewed, _)] = &worlds;
            prop_assert_eq!(kept.state_hash(), renewed.state_hash(), "step {}, {:?}", step, deed);
            prop_assert_eq!(kept.validate(), Ok(()));
        }
    }
}

/// The time of a step does not grow with the number of static bodies that nothing is near: with 16 times as many, it is at most four times as
/// long.
#[test]
fn static_bodies_cost_nothing_in_a_step() {
    let least = |number: usize| {
        let (mut world, _) = tiles(true, number);
        (0..30).for_each(|_| world.step());
        let time = |world: &mut World| {
            let start = std::time::Instant::now();
            (0..10).for_each(|_| world.step());
            start.elapsed().as_secs_f64()
        };
        let least = (0..8).map(|_| time(&mut world)).fold(f64::INFINITY, f64::min);
        println!("{number} static bodies: {:.4} ms a step", 100.0 * least);
        least
    };
    let ratio = (0..3).map(|_| least(40_000) / least(2_500)).fold(f64::INFINITY, f64::min);
    assert!(ratio < 4.0, "a step takes {ratio} times as long");
}

/// A world with a floor of static boxes at y = 0, so many rows deep, as wide on either side; and a ball and a plank that move on it, with the
/// heights of their centres.
fn floor_of(size: f32, rows: i32, wide: f32, radius: f32, velocity: Vec2) -> (World, [(BodyHandle, f32); 2]) {
    let mut world = World::new(Settings { sleep: false, ..Settings::default() }).unwrap();
    let columns = (wide / size) as i32;
    for (row, column) in (0..rows).flat_map(|row| (-columns..columns).map(move |column| (row, column))) {
        let place = size * Vec2::new(column as f32, -0.5 - row as f32);
        world.add_body(&BodyDesc::fixed(Shape::oriented_box(0.5 * size, 0.5 * size), place)).unwrap();
    }
    let shapes = [(Shape::circle(radius), radius), (Shape::oriented_box(radius, 0.5 * radius), 0.5 * radius)];
    let moving = [0.0, 1.0].map(|place| -wide + 4.0 * radius * (1.0 + place)).into_iter().zip(shapes);
    let bodies: Vec<_> = moving
        .map(|(x, (shape, height))| {
            let desc = BodyDesc { velocity, ..BodyDesc::dynamic(shape, Vec2::new(x, height + 0.01)) };
            (world.add_body(&desc).unwrap(), height)
        })
        .collect();
    (world, bodies.try_into().unwrap())
}

/// Contract: what rolls or slides over a floor of many static boxes that are much smaller stays on it, whatever their number. (Each of them took the
/// place of another one in the list of what may touch a body, which holds 128 of its own size: a ball of 3 m fell through.)
#[test]
fn fine_floors_hold_large_bodies() {
    for (size, radius) in [(0.05, 1.0), (0.05, 3.0), (0.02, 0.5)] {
        let (mut world, bodies) = floor_of(size, 10, 20.0, radius, Vec2::new(5.0, 0.0));
        for step in 0..180 {
            world.step();
            for (body, height) in bodies {
                let above = world.body(body).unwrap().position.y - height;
                assert!(
                    above > -0.01,
                    "boxes of {size} m, {radius} m, step {step}: {above} m above the floor"
                );
            }
        }
    }
}

/// Contract: what is much faster than it is large stays on a floor of many static boxes of its own size, too, of which more than 128 are within its
/// reach. (It was given any 128 of them, and sank by 5 m.)
#[test]
fn floors_hold_fast_bodies() {
    for (size, speed) in [(1.0, 60.0), (1.1, 120.0), (1.1, 300.0), (1.3, 300.0), (2.0, 300.0)] {
        let (mut world, bodies) = floor_of(size, 20, 200.0, 1.0, Vec2::new(speed, 0.0));
        for step in 0..60 {
            world.step();
            for (body, height) in bodies {
                let Vec2 { x, y } = world.body(body).unwrap().position;
                let above = y - height;
                assert!(above > -0.02 || x > 195.0, "boxes of {size} m, {speed} m/s, step {step}: {above} m");
            }
        }
        assert_eq!(world.crowded_count(), 0);
    }
}

/// Contract: however many bodies are within reach because they, or a few others, are very fast, a body at rest keeps its floor. (Four particles
/// at 10 km/s gave 160 circles a reach of hundreds of metres, and a swarm at 2 km/s has it by itself: circles took the place of the floor,
/// and boxes fell 5 m.)
#[test]
fn fast_bodies_leave_others_alone() {
    let settings = Settings { sleep: false, ..Settings::default() };
    let place = |i: usize| Vec2::new((i % 20) as f32 * 1.7 - 17.0, 3.0 + (i / 20) as f32 * 1.5);
    let circle = |i| BodyDesc { gravity_scale: 0.0, ..BodyDesc::dynamic(Shape::circle(0.3), place(i)) };
    for (half, count, speed) in [(35.0, 160, None), (20.0, 400, Some(2_000.0)), (20.0, 300, Some(10_000.0))] {
        let mut world = World::new(settings).unwrap();
        let floor = BodyDesc::fixed(Shape::oriented_box(half, 0.5), Vec2::new(0.0, -0.5));
        world.add_body(&floor).unwrap();
        let boxes: Vec<_> = (0..20)
            .map(|i| BodyDesc::dynamic(Shape::oriented_box(0.3, 0.3), Vec2::new(1.5 * i as f32 - 15.0, 0.3)))
            .map(|desc| world.add_body(&desc).unwrap())
            .collect();
        let circles: Vec<_> = (0..count).map(|i| world.add_body(&circle(i)).unwrap()).collect();
        (0..30).for_each(|_| world.step());
        if speed.is_none() {
            let far = Assembly::soft_box(Vec2::new(7.0, 50.0), Vec2::ONE, 0.1, 1.0, 0.0);
            for particle in world.add_assembly(&far).unwrap() {
                world.set_velocity(particle, Vec2::new(-10_000.0, 0.0)).unwrap();
            }
        }
        for step in 0..60 {
            for (i, &body) in circles.iter().enumerate().filter(|_| speed.is_some()) {
                let (sin, cos) = ((7 * i + step) as f32).sin_cos();
                world.set_position(body, place(i)).unwrap();
                world.set_velocity(body, speed.unwrap_or(0.0) * Vec2::new(cos, sin.abs())).unwrap();
            }
            world.step();
            for &body in &boxes {
                let y = world.body(body).unwrap().position.y;
                assert!((y - 0.3).abs() < 0.01, "{count} circles at {speed:?} m/s, step {step}: {y} m");
            }
        }
    }
}

/// Contract: a query visits bodies in the same order in a world and in its clone, also where the host has put one to sleep since the last step. (A
/// large body that moved when the list was made counted as one that stands still in the clone, and came later.)
#[test]
fn clones_answer_in_the_same_order() {
    let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
    for place in 0..40 {
        let at = Vec2::new((place % 8) as f32, (place / 8) as f32);
        world.add_body(&BodyDesc::fixed(Shape::circle(0.3), at)).unwrap();
        world.add_body(&BodyDesc::dynamic(Shape::circle(0.3), at - 8.0 * Vec2::Y)).unwrap();
    }
    let boulder = BodyDesc::dynamic(Shape::circle(10.0), Vec2::new(-20.0, 0.0));
    let boulder = world.add_body(&boulder).unwrap();
    world.step();
    world.sleep_body(boulder).unwrap();
    let visited = |world: &World| {
        let mut found = Vec::new();
        world.query_aabb_bounds(Vec2::splat(-40.0), Vec2::splat(40.0), |body| {
            found.push(body);
            true
        });
        found
    };
    let found = visited(&world);
    assert_eq!(found.len(), 81);
    assert_eq!(visited(&world.clone()), found);
}
