//! Contract of the interface: a refused call leaves the world as it was, a handle never leads to another body, a body
//! that goes bad is set aside, and events pair up.

mod levels;
mod negative_zero;
mod quality;
mod quarantine;
mod refusals;
mod velocities;

use granule::{
    BodyDesc, BodyHandle, BodyState, BodyType, Error, Filter, Isa, Material, Part, Settings, Shape, Solver,
    Vec2, World,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::{HashMap, HashSet};

fn config(cases: u32) -> ProptestConfig {
    let failures = FileFailurePersistence::Direct("tests/regressions/api.txt");
    ProptestConfig { cases, failure_persistence: Some(Box::new(failures)), ..ProptestConfig::default() }
}

fn ball(at: Vec2) -> BodyDesc {
    BodyDesc::dynamic(Shape::circle(0.5), at)
}

/// The state that a refused call must not change.
fn fingerprint(world: &World) -> (u64, u64, Vec<BodyHandle>, Settings) {
    (world.state_hash(), world.step_count(), world.handles().collect(), *world.settings())
}

/// One shape of each kind that can move. The last one gets a second part beside it.
fn moving_shapes() -> Vec<Shape> {
    let corners = [Vec2::new(-0.5, -0.2), Vec2::new(0.6, -0.3), Vec2::new(0.0, 0.5)];
    vec![
        Shape::circle(0.3),
        Shape::aabb(0.4, 0.2),
        Shape::particle(0.1),
        Shape::oriented_box(1.5, 0.1),
        Shape::capsule(1.0, 0.1),
        Shape::segment(1.2),
        Shape::polygon(&corners).unwrap(),
        Shape::oriented_box(0.3, 0.2),
    ]
}

/// A small world in motion: a floor with balls and boxes on it.
fn busy_world() -> (World, Vec<BodyHandle>) {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    for i in 0..10 {
        let at = Vec2::new(0.4 * i as f32, 1.0 + 0.9 * i as f32);
        let shape = if i % 2 == 0 { Shape::circle(0.5) } else { Shape::aabb(0.4, 0.5) };
        world.add_body(&BodyDesc::dynamic(shape, at)).unwrap();
    }
    for _ in 0..30 {
        world.step();
    }
    let bodies = world.handles().collect();
    (world, bodies)
}

/// In a fresh world the k-th body added has index k and generation 0, and handles are listed in that order.
#[test]
fn handles_count_up() {
    let mut world = World::new(Settings::default()).unwrap();
    for k in 0..100u32 {
        let handle = world.add_body(&ball(Vec2::new(2.0 * k as f32, 0.0))).unwrap();
        assert_eq!((handle.index(), handle.generation()), (k, 0));
        assert_eq!(handle, BodyHandle::from_parts(k, 0));
    }
    let listed: Vec<_> = world.handles().collect();
    assert_eq!(listed, (0..100).map(|k| BodyHandle::from_parts(k, 0)).collect::<Vec<_>>());
    (0..50).for_each(|_| world.step());
    assert_eq!(world.handles().collect::<Vec<_>>(), listed, "reordering in memory hides behind handles");
}

/// The accessors and the columns return a description as it was given.
#[test]
fn bodies_read_back() {
    let mut world = World::new(Settings::default()).unwrap();
    let desc = BodyDesc {
        body_type: BodyType::Kinematic,
        angle: 0.25,
        velocity: Vec2::new(1.0, -2.0),
        angular_velocity: 3.0,
        material: Material { density: 2.0, dynamic_friction: 0.25, ..Material::new(2.0, 0.5, 0.125) },
        filter: Filter { category: 4, mask: 9, group: 2 },
        ..BodyDesc::dynamic(Shape::aabb(0.5, 2.0), Vec2::new(-7.0, 8.0))
    };
    world.add_body(&ball(Vec2::ZERO)).unwrap();
    let handle = world.add_body(&desc).unwrap();
    let fixed =
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::new(0.0, 2.0), 1.0), Vec2::ZERO)).unwrap();
    let state = world.body(handle).unwrap();
    assert_eq!((state.position, state.velocity), (desc.position, desc.velocity));
    assert_eq!(state.angular_velocity, 3.0);
    assert_eq!(world.body_type(handle), Ok(BodyType::Kinematic));
    assert_eq!(world.shape(handle), Ok(desc.shape));
    assert_eq!(world.material(handle), Ok(desc.material));
    assert_eq!(world.filter(handle), Ok(desc.filter));
    assert_eq!(world.mass(fixed), Ok(f32::INFINITY));
    assert_eq!(world.shape(fixed), Ok(Shape::half_space(Vec2::Y, 1.0)));
    assert_eq!((world.body_count(), world.static_count()), (2, 1));
    let columns = world.columns();
    let row = columns.handle.iter().position(|h| *h == handle).unwrap();
    assert_eq!((columns.pos_x[row], columns.pos_y[row]), (-7.0, 8.0));
    assert_eq!((columns.vel_x[row], columns.vel_y[row]), (1.0, -2.0));
    assert_eq!(columns.omega[row], 3.0);
    assert_eq!(columns.handle.len(), columns.pos_x.len());
}

/// Setters change the named value at once, and nothing else.
#[test]
fn setters_take_effect() {
    let (mut world, bodies) = busy_world();
    let body = bodies[3];
    let others: Vec<_> = bodies.iter().filter(|b| **b != body).map(|b| world.body(*b).unwrap()).collect();
    world.set_position(body, Vec2::new(30.0, 40.0)).unwrap();
    world.set_velocity(body, Vec2::new(1.0, 2.0)).unwrap();
    world.set_angle(body, 0.5).unwrap();
    world.set_angular_velocity(body, -1.0).unwrap();
    let state = world.body(body).unwrap();
    assert_eq!((state.position, state.velocity), (Vec2::new(30.0, 40.0), Vec2::new(1.0, 2.0)));
    assert_eq!((state.angle, state.angular_velocity), (0.5, -1.0));
    let after: Vec<_> = bodies.iter().filter(|b| **b != body).map(|b| world.body(*b).unwrap()).collect();
    assert_eq!(others, after);
}

/// A change that a test makes to a world.
#[derive(Clone, Debug)]
enum Operation {
    Add(BodyDesc),
    AddMany(Vec<BodyDesc>),
    Remove(prop::sample::Index),
    RemoveStale(prop::sample::Index),
    Teleport(prop::sample::Index, Vec2),
    Step,
}

fn any_body() -> impl Strategy<Value = BodyDesc> {
    let shape = prop_oneof![
        (0.1f32..0.8).prop_map(Shape::circle),
        (0.1f32..0.8, 0.1f32..0.8).prop_map(|(x, y)| Shape::aabb(x, y)),
    ];
    let kind = prop::sample::select(vec![
        BodyType::Dynamic,
        BodyType::Dynamic,
        BodyType::Static,
        BodyType::Kinematic,
    ]);
    (kind, shape, -4.0f32..4.0, -4.0f32..4.0, -8.0f32..8.0).prop_map(|(body_type, shape, x, y, speed)| {
        let velocity = if body_type == BodyType::Static { Vec2::ZERO } else { Vec2::new(speed, -speed) };
        BodyDesc { body_type, velocity, ..BodyDesc::dynamic(shape, Vec2::new(x, y)) }
    })
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        4 => any_body().prop_map(Operation::Add),
        1 => prop::collection::vec(any_body(), 0..20).prop_map(Operation::AddMany),
        3 => any::<prop::sample::Index>().prop_map(Operation::Remove),
        1 => any::<prop::sample::Index>().prop_map(Operation::RemoveStale),
        1 => (any::<prop::sample::Index>(), -4.0f32..4.0, -4.0f32..4.0)
            .prop_map(|(which, x, y)| Operation::Teleport(which, Vec2::new(x, y))),
        6 => Just(Operation::Step),
    ];
    prop::collection::vec(operation, 1..80)
}

proptest! {
    #![proptest_config(config(128))]

    /// Over any sequence of additions, removals, teleports and steps, every live handle leads to its own body, every
    /// dead handle leads to an error, and begin and end events pair up.
    #[test]
    fn handles_and_events_follow_a_model(operations in operations(), projection in any::<bool>()) {
        let base = if projection { Settings::projection() } else { Settings::default() };
        let mut world = World::new(base).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, -5.0), Vec2::ZERO)).unwrap();
        let ground = world.handles().next().unwrap();
        let mut live: HashMap<BodyHandle, BodyDesc> = HashMap::new();
        let mut order: Vec<BodyHandle> = Vec::new();
        let mut dead: Vec<BodyHandle> = Vec::new();
        let mut ever: HashSet<BodyHandle> = HashSet::from([ground]);
        let mut touching: HashSet<[BodyHandle; 2]> = HashSet::new();
        for operation in operations {
            let mut added = Vec::new();
            match operation {
                Operation::Add(desc) => added.push((world.add_body(&desc).unwrap(), desc)),
                Operation::AddMany(descs) => added.extend(world.add_bodies(&descs).unwrap().into_iter().zip(descs)),
                Operation::Remove(which) if !order.is_empty() => {
                    let handle = order.swap_remove(which.index(order.len()));
                    world.remove_body(handle).unwrap();
                    live.remove(&handle);
                    dead.push(handle);
                }
                Operation::RemoveStale(which) if !dead.is_empty() => {
                    prop_assert!(world.remove_body(dead[which.index(dead.len())]).is_err());
                }
                Operation::Teleport(which, to) if !order.is_empty() => {
                    let handle = order[which.index(order.len())];
                    world.set_position(handle, to).unwrap();
                    prop_assert_eq!(world.body(handle).unwrap().position, to);
                }
                _ => {
                    world.step();
                    let key = |a: BodyHandle, b: BodyHandle| if a < b { [a, b] } else { [b, a] };
                    for event in world.end_events() {
                        let was = touching.remove(&key(event.a, event.b));
                        prop_assert!(was, "{:?} ends without having begun", event);
                    }
                    for event in world.begin_events() {
                        prop_assert!(world.contains(event.a) && world.contains(event.b), "{:?}", event);
                        let new = touching.insert(key(event.a, event.b));
                        prop_assert!(new, "{:?} begins twice", event);
                    }
                    // The contacts of a removed body have ended, with an event or without one.
                    touching.retain(|pair| pair.iter().all(|body| world.contains(*body)));
                    let contacts: HashSet<_> = world.contacts().map(|c| key(c.a, c.b)).collect();
                    for pair in &touching {
                        prop_assert!(contacts.contains(pair), "{:?} has begun, not ended, and is no contact", pair);
                    }
                    for contact in world.contacts() {
                        let pair = key(contact.a, contact.b);
                        let near = contact.separation < 0.99 * world.settings().slop;
                        prop_assert!(!near || touching.contains(&pair), "{:?} has not begun", contact);
                    }
                }
            }
            prop_assert_eq!(world.validate(), Ok(()));
            for (handle, desc) in added {
                prop_assert!(ever.insert(handle), "{:?} was handed out twice", handle);
                prop_assert_eq!(world.body(handle).unwrap().position, desc.position);
                live.insert(handle, desc);
                order.push(handle);
            }
            for (handle, desc) in &live {
                prop_assert!(world.contains(*handle));
                prop_assert_eq!(world.shape(*handle), Ok(desc.shape));
                prop_assert_eq!(world.body_type(*handle), Ok(desc.body_type));
            }
            for handle in &dead {
                prop_assert!(!world.contains(*handle));
                let stale = Error::StaleHandle { kind: "body", index: handle.index(), generation: handle.generation() };
                prop_assert_eq!(world.body(*handle), Err(stale));
            }
            let listed: HashSet<_> = world.handles().collect();
            let expected: HashSet<_> = live.keys().copied().chain([ground]).collect();
            prop_assert_eq!(&listed, &expected);
            let statics = live.values().filter(|desc| desc.body_type == BodyType::Static).count();
            prop_assert_eq!(world.static_count(), statics + 1);
            prop_assert_eq!(world.body_count(), live.len() - statics);
            prop_assert!(world.quarantined().is_empty());
        }
    }
}

/// A world without bodies, and a world with a single static body, can step.
#[test]
fn empty_worlds_step() {
    for solver in [Solver::Soft, Solver::Projection] {
        for isa in Isa::available() {
            let mut world = World::new(Settings { solver, isa, ..Settings::default() }).unwrap();
            world.step();
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            world.step();
            world.add_body(&BodyDesc::fixed(Shape::circle(1.0), Vec2::ZERO)).unwrap();
            world.step();
            assert_eq!((world.step_count(), world.contact_count(), world.body_count()), (3, 0, 0));
        }
    }
}

/// A world whose bodies are all removed is empty and can be filled again.
#[test]
fn a_world_can_be_emptied_and_refilled() {
    let (mut world, bodies) = busy_world();
    for body in &bodies {
        world.remove_body(*body).unwrap();
    }
    world.step();
    assert_eq!((world.body_count(), world.static_count(), world.contacts().count()), (0, 0, 0));
    assert_eq!(world.handles().count(), 0);
    let again: Vec<_> =
        (0..20).map(|i| world.add_body(&ball(Vec2::new(2.0 * i as f32, 5.0))).unwrap()).collect();
    assert!(again.iter().all(|handle| !bodies.contains(handle)));
    (0..60).for_each(|_| world.step());
    for (i, body) in again.iter().enumerate() {
        let x = world.body(*body).unwrap().position.x;
        assert!((x - 2.0 * i as f32).abs() < 1e-4, "{x}");
    }
}

/// Contract: spans are recorded only on request. The spans of the leading thread follow each other and fill the step;
/// the spans of the other threads lie within the step. Tracing changes no result.
#[test]
fn spans_fill_the_step() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let build = || granule::scene::builtin("packed", 3000, 1).unwrap().build().unwrap();
    let (mut traced, mut plain) = (build(), build());
    pool.install(|| {
        plain.step();
        traced.step();
        assert!(traced.spans().is_empty());
        traced.set_tracing(true);
        for _ in 0..20 {
            plain.step();
            traced.step();
            let total = traced.timings().total;
            let mut end = 0.0_f64;
            for span in traced.spans() {
                assert!(span.duration >= 0.0 && span.start + span.duration <= total + 1.0e-4, "{span:?}");
                if span.worker == 0 {
                    assert!((span.start - end).abs() < 1.0e-9, "{span:?} begins where the last ended, {end}");
                    end = span.start + span.duration;
                }
            }
            assert!((end - total).abs() < 1.0e-3, "{end} of {total}");
        }
        traced.set_tracing(false);
        traced.step();
        plain.step();
        assert!(traced.spans().is_empty());
    });
    assert_eq!(traced.state_hash(), plain.state_hash());
}

/// After a part is added, interpolation leads from the new centre's place before the last step to its present place.
#[test]
fn interpolation_follows_a_centre_that_moved() {
    for shape in [Shape::circle(0.5), Shape::oriented_box(0.5, 0.3)] {
        let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
        let velocity = Vec2::new(6.0, -3.0);
        let desc =
            BodyDesc { velocity, angular_velocity: 12.0, ..BodyDesc::dynamic(shape, Vec2::new(1.0, 2.0)) };
        let body = world.add_body(&desc).unwrap();
        (0..3).for_each(|_| world.step());
        let before = world.body(body).unwrap();
        world.step();
        let after = world.body(body).unwrap();
        world.add_part(body, &Part::new(Shape::circle(1.0), Vec2::new(2.0, 1.0))).unwrap();
        let offset = -world.parts(body).unwrap()[0].position;
        assert!(offset.length() > 1.0);
        let place = |state: BodyState| state.position + Vec2::from_angle(state.angle).rotate(offset);
        for alpha in [0.0, 0.25, 1.0] {
            let drawn = world.interpolated(body, alpha).unwrap();
            let position = place(before).lerp(place(after), alpha);
            let angle = before.angle + alpha * (after.angle - before.angle);
            assert!(drawn.position.distance(position) < 1e-5, "{alpha}: {} for {position}", drawn.position);
            assert!((drawn.angle - angle).abs() < 1e-5, "{alpha}: {} for {angle}", drawn.angle);
        }
    }
}

/// A dynamic body whose shape has no area and that has no given mass takes the mass of its parts. A body whose given
/// mass is infinite keeps it.
#[test]
fn a_massless_shape_takes_the_mass_of_its_parts() {
    let part = Part::new(Shape::oriented_box(0.5, 0.25), Vec2::new(2.0, 0.0));
    let part = Part { material: Material { density: 3.0, ..part.material }, ..part };
    for material in [Material::default(), Material { density: 0.0, ..Material::default() }] {
        let shape = Shape::segment(1.0);
        for fixed_rotation in [false, true] {
            let mut world = World::new(Settings::default()).unwrap();
            let desc =
                BodyDesc { angle: 0.5, material, fixed_rotation, ..BodyDesc::dynamic(shape, Vec2::ZERO) };
            let body = world.add_body(&desc).unwrap();
            assert_eq!(world.mass(body), Ok(f32::INFINITY));
            (0..2).for_each(|_| world.step());
            world.add_part(body, &part).unwrap();
            assert!((world.mass(body).unwrap() - 1.5).abs() < 1e-6);
            let centre = world.body(body).unwrap().position;
            assert!(centre.distance(2.0 * Vec2::from_angle(0.5)) < 1e-5, "{centre}");
            world.apply_angular_impulse(body, 1.0).unwrap();
            // m·(w² + h²)/12
            let inertia = 1.5 * (1.0 + 0.25) / 12.0;
            let spin = if fixed_rotation { 0.0 } else { 1.0 / inertia };
            assert!((world.body(body).unwrap().angular_velocity - spin).abs() < 1e-4);
            world.set_angular_velocity(body, 0.0).unwrap();
            (0..60).for_each(|_| world.step());
            let fallen = centre.y - world.body(body).unwrap().position.y;
            assert!((fallen - 5.0).abs() < 0.1, "{fallen}");
        }
        let mut world = World::new(Settings::default()).unwrap();
        let desc = BodyDesc { material, mass: Some(0.0), ..BodyDesc::dynamic(shape, Vec2::ZERO) };
        let body = world.add_body(&desc).unwrap();
        world.add_part(body, &part).unwrap();
        assert_eq!(world.mass(body), Ok(f32::INFINITY));
        assert_eq!(world.body(body).unwrap().position, Vec2::ZERO);
    }
}
