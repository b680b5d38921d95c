//! Contract of the interface: a refused call leaves the world as it was, a handle never leads to another body, a body
//! that goes bad is set aside, and events pair up.

mod quality;

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

/// The state that a refused call must not change.
fn fingerprint(world: &World) -> (u64, u64, Vec<BodyHandle>, Settings) {
    (world.state_hash(), world.step_count(), world.handles().collect(), *world.settings())
}

/// Runs a call that must be refused, and checks that nothing changes, neither at once nor in five more steps.
#[track_caller]
fn refused<T: std::fmt::Debug>(
    what: &str,
    call: impl FnOnce(&mut World, &[BodyHandle]) -> Result<T, Error>,
) -> Error {
    let (mut world, bodies) = busy_world();
    let before = fingerprint(&world);
    let error = call(&mut world, &bodies).expect_err(what);
    assert_eq!(fingerprint(&world), before, "{what}: refused with {error}, and yet the world changed");
    let (mut twin, _) = busy_world();
    for _ in 0..5 {
        world.step();
        twin.step();
    }
    assert_eq!(fingerprint(&world), fingerprint(&twin), "{what}: the refused call shows later");
    error
}

const NOT_FINITE: [f32; 3] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

/// Vectors with one bad component each, for a limit of `max`.
fn bad_vectors(max: f32) -> Vec<Vec2> {
    let mut bad = Vec::new();
    for value in NOT_FINITE.into_iter().chain([1.01 * max, -1.01 * max]) {
        bad.push(Vec2::new(value, 0.0));
        bad.push(Vec2::new(0.0, value));
    }
    bad
}

/// A body with a bad field is refused by the field's name and value, and the world is unchanged. A field is bad if it
/// is not finite, out of range, or negative without a meaning.
#[test]
fn bad_bodies_are_refused() {
    let good = ball(Vec2::new(20.0, 20.0));
    let material = good.material;
    let mut bad: Vec<(&str, BodyDesc)> = Vec::new();
    for position in bad_vectors(World::MAX_COORDINATE) {
        bad.push(("position", BodyDesc { position, ..good }));
    }
    for velocity in bad_vectors(World::MAX_SPEED) {
        bad.push(("velocity", BodyDesc { velocity, ..good }));
    }
    for value in NOT_FINITE {
        bad.push(("angle", BodyDesc { angle: value, ..good }));
        bad.push(("angular_velocity", BodyDesc { angular_velocity: value, ..good }));
        bad.push(("gravity_scale", BodyDesc { gravity_scale: value, ..good }));
    }
    for value in NOT_FINITE.into_iter().chain([-1.0, -1e-6]) {
        bad.push(("linear_damping", BodyDesc { linear_damping: value, ..good }));
        bad.push(("angular_damping", BodyDesc { angular_damping: value, ..good }));
        bad.push(("mass", BodyDesc { mass: Some(value), ..good }));
        bad.push(("density", BodyDesc { material: Material { density: value, ..material }, ..good }));
        bad.push((
            "static_friction",
            BodyDesc { material: Material { static_friction: value, ..material }, ..good },
        ));
        bad.push((
            "dynamic_friction",
            BodyDesc { material: Material { dynamic_friction: value, ..material }, ..good },
        ));
        bad.push(("restitution", BodyDesc { material: Material { restitution: value, ..material }, ..good }));
        bad.push(("radius", BodyDesc { shape: Shape::circle(value), ..good }));
        bad.push(("half_extents", BodyDesc { shape: Shape::aabb(value, 1.0), ..good }));
        bad.push(("half_extents", BodyDesc { shape: Shape::aabb(1.0, value), ..good }));
    }
    bad.push(("restitution", BodyDesc { material: Material { restitution: 1.01, ..material }, ..good }));
    for value in [0.0, 0.5 * Shape::MIN_EXTENT, 1.01 * Shape::MAX_EXTENT] {
        bad.push(("radius", BodyDesc { shape: Shape::circle(value), ..good }));
        bad.push(("half_extents", BodyDesc { shape: Shape::aabb(1.0, value), ..good }));
    }
    let ground = |normal, offset| BodyDesc::fixed(Shape::half_space(normal, offset), Vec2::ZERO);
    bad.push(("normal", ground(Vec2::ZERO, 0.0)));
    bad.push(("normal", ground(Vec2::new(f32::NAN, 1.0), 0.0)));
    bad.push(("normal", ground(Vec2::new(0.0, f32::INFINITY), 0.0)));
    bad.push(("offset", ground(Vec2::Y, f32::NAN)));
    bad.push(("offset", ground(Vec2::Y, 1.0e8)));
    for body_type in [BodyType::Dynamic, BodyType::Kinematic] {
        bad.push(("", BodyDesc { body_type, ..ground(Vec2::Y, 0.0) }));
    }
    for (field, desc) in &bad {
        assert!(desc.validate().is_err(), "{desc:?}");
        let error = refused(field, |world, _| world.add_body(desc));
        assert!(error.to_string().contains(field), "{error} does not name {field}");
        assert_eq!(format!("{error:?}"), format!("{:?}", desc.validate().unwrap_err()));
        if let Error::OutOfRange { value, min, max, .. } = error {
            assert!(!(min..=max).contains(&value), "{error}");
        }
    }
}

/// A batch with one bad element is refused as a whole; the error gives the element's index and the reason.
#[test]
fn bad_batches_are_refused_whole() {
    for bad in [0usize, 3, 6] {
        let error = refused("batch", |world, _| {
            let mut descs: Vec<_> = (0..7).map(|i| ball(Vec2::new(100.0 + 2.0 * i as f32, 0.0))).collect();
            descs[bad].position.x = f32::NAN;
            world.add_bodies(&descs)
        });
        let Error::Element { index, error } = error else { panic!("{error:?}") };
        assert_eq!(index, bad);
        assert!(matches!(*error, Error::OutOfRange { .. }), "{error:?}");
    }
    let (mut world, bodies) = busy_world();
    assert_eq!(world.add_bodies(&[]), Ok(vec![]));
    assert_eq!(world.handles().collect::<Vec<_>>(), bodies);
}

/// Setters refuse the values that a description refuses, and the body keeps its old value.
#[test]
fn bad_values_are_refused_by_setters() {
    for value in bad_vectors(World::MAX_COORDINATE) {
        refused("set_position", |world, bodies| world.set_position(bodies[3], value));
    }
    for value in bad_vectors(World::MAX_SPEED) {
        refused("set_velocity", |world, bodies| world.set_velocity(bodies[3], value));
    }
    for value in NOT_FINITE {
        refused("set_angle", |world, bodies| world.set_angle(bodies[3], value));
        refused("set_angular_velocity", |world, bodies| world.set_angular_velocity(bodies[3], value));
        refused("set_gravity_scale", |world, bodies| world.set_gravity_scale(bodies[3], value));
        refused("apply_torque", |world, bodies| world.apply_torque(bodies[3], value));
        refused("apply_angular_impulse", |world, bodies| world.apply_angular_impulse(bodies[3], value));
        for vector in [Vec2::new(value, 0.0), Vec2::new(0.0, value)] {
            refused("apply_force", |world, bodies| world.apply_force(bodies[3], vector));
            refused("apply_impulse", |world, bodies| world.apply_impulse(bodies[3], vector));
        }
    }
    for value in NOT_FINITE.into_iter().chain([-1.0]) {
        refused("set_damping", |world, bodies| world.set_damping(bodies[3], value, 0.0));
        refused("set_damping", |world, bodies| world.set_damping(bodies[3], 0.0, value));
        refused("advance", |world, _| world.advance(value));
    }
}

/// Settings out of range are refused, at the start and later, and the world keeps its old settings.
#[test]
fn bad_settings_are_refused() {
    let good = Settings::default();
    let mut bad = vec![
        Settings { substeps: 0, ..good },
        Settings { iterations: 0, ..good },
        Settings { substeps: 100_000, ..good },
        Settings { time_step: 0.0, ..good },
        Settings { time_step: -1.0 / 60.0, ..good },
        Settings { time_step: 1e3, ..good },
        Settings { contact_frequency_ratio: 0.0, ..good },
        Settings { contact_frequency_ratio: 0.3, ..good },
        Settings { projection_percent: 1.5, ..good },
        Settings { slop: -0.1, ..good },
        Settings { restitution_threshold: -1.0, ..good },
        Settings { push_out_speed: -1.0, ..good },
        Settings { projection_slop: -1.0, ..good },
        Settings { damping_ratio: -1.0, ..good },
    ];
    for value in NOT_FINITE {
        bad.extend([
            Settings { gravity: Vec2::new(value, 0.0), ..good },
            Settings { gravity: Vec2::new(0.0, value), ..good },
            Settings { time_step: value, ..good },
            Settings { contact_frequency_ratio: value, ..good },
            Settings { damping_ratio: value, ..good },
            Settings { push_out_speed: value, ..good },
            Settings { slop: value, ..good },
            Settings { restitution_threshold: value, ..good },
            Settings { projection_percent: value, ..good },
            Settings { projection_slop: value, ..good },
        ]);
        refused("set_gravity", |world, _| world.set_gravity(Vec2::new(value, 0.0)));
        refused("set_time_step", |world, _| world.set_time_step(value));
    }
    refused("set_time_step", |world, _| world.set_time_step(0.0));
    for settings in bad {
        assert!(World::new(settings).is_err(), "{settings:?}");
        refused("set_settings", |world, _| world.set_settings(settings));
    }
}

/// Every call that takes a handle refuses a stale handle, and a handle that never existed.
#[test]
fn stale_handles_are_refused_everywhere() {
    let check = |stale: &dyn Fn(&mut World, &[BodyHandle]) -> BodyHandle| {
        macro_rules! each {
            ($($call:ident($($argument:expr),*);)*) => {
                $({
                    let (mut world, bodies) = busy_world();
                    let handle = stale(&mut world, &bodies);
                    let before = fingerprint(&world);
                    assert!(!world.contains(handle));
                    let outcome = world.$call(handle $(, $argument)*).map(|_| ());
                    let expected = Error::StaleHandle { kind: "body", index: handle.index(), generation: handle.generation() };
                    assert_eq!(outcome, Err(expected), stringify!($call));
                    assert_eq!(fingerprint(&world), before, stringify!($call));
                })*
            };
        }
        each! {
            remove_body(); body(); body_type(); shape(); material(); mass(); filter();
            set_position(Vec2::ZERO); set_angle(0.0); set_velocity(Vec2::ZERO); set_angular_velocity(0.0);
            set_filter(Filter::default()); set_gravity_scale(1.0); set_damping(0.0, 0.0);
            apply_force(Vec2::X); apply_torque(1.0); apply_impulse(Vec2::X); apply_angular_impulse(1.0);
            interpolated(0.5);
        }
    };
    // The body is removed.
    check(&|world, bodies| {
        world.remove_body(bodies[4]).unwrap();
        bodies[4]
    });
    // The body is removed, and another body takes its slot.
    check(&|world, bodies| {
        world.remove_body(bodies[4]).unwrap();
        let heir = world.add_body(&ball(Vec2::new(50.0, 50.0))).unwrap();
        assert_ne!(heir, bodies[4]);
        bodies[4]
    });
    // The handle was never given out.
    check(&|_, bodies| BodyHandle::from_parts(bodies[4].index(), bodies[4].generation() + 1));
    check(&|_, _| BodyHandle::from_parts(1_000_000, 0));
    check(&|_, _| BodyHandle::from_parts(u32::MAX, u32::MAX));
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

/// A body that extreme forces drive to infinity is quarantined and reported once, and the other bodies continue.
#[test]
fn a_body_that_goes_bad_is_quarantined() {
    for solver in [Settings::default(), Settings::projection()] {
        for isa in [Isa::Scalar, Isa::Auto] {
            let mut world = World::new(Settings { isa, ..solver }).unwrap();
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            let bodies: Vec<_> =
                (0..9).map(|i| world.add_body(&ball(Vec2::new(1.2 * i as f32, 0.6))).unwrap()).collect();
            (0..60).for_each(|_| world.step());
            let victim = bodies[4];
            let when = world.step_count();
            // There are many calls, because a call out of range is refused on its own and the others still act.
            for _ in 0..50 {
                for force in [f32::MAX, 1e30] {
                    let _ = world.apply_force(victim, Vec2::new(force, force));
                    let _ = world.apply_impulse(victim, Vec2::new(force, force));
                }
            }
            (0..120).for_each(|_| world.step());
            let reported: Vec<_> = world.quarantined().iter().map(|q| q.body).collect();
            assert_eq!(reported, [victim], "{:?}", world.quarantined());
            assert!(world.quarantined()[0].step >= when, "{:?}", world.quarantined());
            for body in bodies.iter().filter(|b| **b != victim) {
                let state = world.body(*body).unwrap();
                assert!((state.position.y - 0.5).abs() < 0.03, "{state:?}");
                assert!(state.velocity.length() < 0.01, "{state:?}");
            }
            let columns = world.columns();
            for column in
                [columns.pos_x, columns.pos_y, columns.angle, columns.vel_x, columns.vel_y, columns.omega]
            {
                assert!(column.iter().all(|value| value.is_finite()));
            }
            let quality = world.quality();
            assert!(quality.kinetic_energy.is_finite() && quality.max_penetration.is_finite(), "{quality:?}");
        }
    }
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

/// The ways in which a host can change the motion of a body.
#[derive(Clone, Copy, Debug)]
enum Kick {
    Velocity,
    Spin,
    Impulse,
    ImpulseAt,
    AngularImpulse,
    Force,
    ForceAt,
    Torque,
}

impl Kick {
    const ALL: [Kick; 8] = [
        Kick::Velocity,
        Kick::Spin,
        Kick::Impulse,
        Kick::ImpulseAt,
        Kick::AngularImpulse,
        Kick::Force,
        Kick::ForceAt,
        Kick::Torque,
    ];

    /// Gives a body about this velocity, this angular velocity, or both.
    fn apply(self, world: &mut World, body: BodyHandle, velocity: Vec2, omega: f32) {
        let mass = world.mass(body).unwrap().min(100.0);
        let at = world.body(body).unwrap().position + Vec2::new(0.3, 0.1);
        let step = world.settings().time_step;
        match self {
            Kick::Velocity => world.set_velocity(body, velocity),
            Kick::Spin => world.set_angular_velocity(body, omega),
            Kick::Impulse => world.apply_impulse(body, mass * velocity),
            Kick::ImpulseAt => world.apply_impulse_at(body, mass * velocity, at),
            Kick::AngularImpulse => world.apply_angular_impulse(body, mass * omega),
            Kick::Force => world.apply_force(body, mass / step * velocity),
            Kick::ForceAt => world.apply_force_at(body, mass / step * velocity, at),
            Kick::Torque => world.apply_torque(body, mass / step * omega),
        }
        .unwrap();
    }
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

/// The least separation of each pair of bodies that touch or are about to touch.
fn least_separations(world: &World) -> HashMap<[BodyHandle; 2], f32> {
    let mut least = HashMap::new();
    for contact in world.contacts() {
        let pair = if contact.a < contact.b { [contact.a, contact.b] } else { [contact.b, contact.a] };
        let known: &mut f32 = least.entry(pair).or_insert(f32::INFINITY);
        *known = known.min(contact.separation);
    }
    least
}

proptest! {
    #![proptest_config(config(192))]

    /// After any change of a velocity by hand, the next step has the same contacts as with a new pair list: the pair
    /// list takes account of the change.
    #[test]
    fn the_pair_list_knows_of_changed_velocities(
        bodies in prop::collection::vec((0usize..8, -6.0f32..6.0, 0.5f32..6.0, -3.0f32..3.0, any::<bool>()), 1..24),
        kicks in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(Kick::ALL.to_vec()), -60.0f32..60.0, -60.0f32..60.0,
             -90.0f32..90.0),
            1..4,
        ),
        steps in 0usize..6,
    ) {
        let run = |fresh: bool| {
            let mut world = World::new(Settings::default()).unwrap();
            let ground = world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            world.add_body(&BodyDesc::fixed(Shape::aabb(0.2, 4.0), Vec2::new(7.0, 4.0))).unwrap();
            world.add_body(&BodyDesc { angle: 0.3, ..BodyDesc::fixed(Shape::capsule(3.0, 0.2), Vec2::new(-7.0, 2.0)) }).unwrap();
            let mut moving = Vec::new();
            for &(shape, x, y, angle, kinematic) in &bodies {
                let position = Vec2::new(x, y);
                let desc = BodyDesc { angle, mass: Some(1.0), ..BodyDesc::dynamic(moving_shapes()[shape], position) };
                let desc = if kinematic { desc.pinned() } else { desc };
                let body = world.add_body(&desc).unwrap();
                if shape == 7 {
                    world.add_part(body, &Part::new(Shape::circle(0.2), Vec2::new(0.9, 0.0))).unwrap();
                }
                moving.push(body);
            }
            (0..steps).for_each(|_| world.step());
            for &(which, kick, x, y, omega) in &kicks {
                kick.apply(&mut world, moving[which.index(moving.len())], Vec2::new(x, y), omega);
            }
            if fresh {
                world.set_filter(ground, Filter::default()).unwrap();
            }
            world.step();
            least_separations(&world)
        };
        let (kept, fresh) = (run(false), run(true));
        for (pair, separation) in &fresh {
            let known = kept.get(pair);
            prop_assert!(known.is_some(), "{:?}, {} m apart, is no contact but with a new list", pair, separation);
            prop_assert!((known.unwrap() - separation).abs() < 1e-4, "{:?}: {:?} for {}", pair, known, separation);
        }
        prop_assert_eq!(kept.len(), fresh.len());
    }
}

/// A plank that is set spinning a metre above the floor does not pass through the floor.
#[test]
fn a_spin_set_by_hand_is_stopped_by_the_floor() {
    for isa in [Isa::Scalar, Isa::Auto] {
        let mut world = World::new(Settings { isa, ..Settings::default() }).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let plank =
            world.add_body(&BodyDesc::dynamic(Shape::oriented_box(5.0, 0.1), Vec2::new(0.0, 1.1))).unwrap();
        (0..3).for_each(|_| world.step());
        world.set_angular_velocity(plank, -30.0).unwrap();
        world.step();
        let BodyState { position, angle, .. } = world.body(plank).unwrap();
        let lowest = position.y - 5.0 * angle.sin().abs() - 0.1 * angle.cos();
        assert!(lowest > -0.1, "{lowest}");
    }
}

/// A world with one body that went bad.
fn world_with_quarantined() -> (World, BodyHandle) {
    let (mut world, bodies) = busy_world();
    for _ in 0..20 {
        world.apply_force(bodies[3], Vec2::splat(1.0e30)).unwrap();
    }
    world.step();
    assert_eq!(world.quarantined()[0].body, bodies[3]);
    (world, bodies[3])
}

/// A quarantined body does not move: any call that would move it is refused with the reason, and the body stays
/// forever.
#[test]
fn a_quarantined_body_stays_where_it_is() {
    type Call = fn(&mut World, BodyHandle) -> Result<(), Error>;
    let calls: [(&str, Call); 11] = [
        ("position", |world, body| world.set_position(body, Vec2::ZERO)),
        ("angle", |world, body| world.set_angle(body, 1.0)),
        ("velocity", |world, body| world.set_velocity(body, Vec2::ONE)),
        ("angular_velocity", |world, body| world.set_angular_velocity(body, 1.0)),
        ("force", |world, body| world.apply_force(body, Vec2::ONE)),
        ("force", |world, body| world.apply_force_at(body, Vec2::ONE, Vec2::ZERO)),
        ("torque", |world, body| world.apply_torque(body, 1.0)),
        ("impulse", |world, body| world.apply_impulse(body, Vec2::ONE)),
        ("impulse", |world, body| world.apply_impulse_at(body, Vec2::ONE, Vec2::ZERO)),
        ("impulse", |world, body| world.apply_angular_impulse(body, 1.0)),
        ("part", |world, body| world.add_part(body, &Part::new(Shape::circle(0.1), Vec2::ZERO))),
    ];
    for (field, call) in calls {
        let (mut world, body) = world_with_quarantined();
        let there = world.body(body).unwrap();
        let before = fingerprint(&world);
        let error = call(&mut world, body).expect_err(field);
        assert!(matches!(error, Error::Invalid { field: named, .. } if named == field), "{field}: {error:?}");
        assert!(error.to_string().contains("quarantined"), "{error}");
        assert_eq!(fingerprint(&world), before, "{field}");
        (0..30).for_each(|_| world.step());
        assert_eq!(world.body(body).unwrap(), there, "{field}");
    }
    // All other calls act as they do on any body.
    let (mut world, body) = world_with_quarantined();
    world.set_filter(body, Filter::default()).unwrap();
    world.set_gravity_scale(body, 2.0).unwrap();
    world.set_damping(body, 1.0, 1.0).unwrap();
    world.remove_body(body).unwrap();
    world.step();
}

/// An impulse that would make a body faster than the largest accepted speed is refused, and changes nothing. The error
/// names the field that would become too large. So every value that can be read is a finite number.
#[test]
fn impulses_beyond_the_largest_speed_are_refused() {
    let light = BodyDesc { mass: Some(1.0e-18), ..ball(Vec2::new(20.0, 20.0)) };
    for (field, impulse, angular, lever) in [
        ("velocity", Vec2::new(1.0e30, 0.0), 0.0, Vec2::ZERO),
        ("velocity", Vec2::new(0.0, -1.01e-12), 0.0, Vec2::ZERO),
        ("angular_velocity", Vec2::ZERO, 1.0e30, Vec2::ZERO),
        ("angular_velocity", Vec2::ZERO, -1.0e-12, Vec2::ZERO),
        ("angular_velocity", Vec2::new(0.5e-12, 0.0), 0.0, Vec2::new(0.0, 10.0)),
    ] {
        let (mut world, _) = busy_world();
        let body = world.add_body(&light).unwrap();
        let before = (fingerprint(&world), world.body(body).unwrap());
        let error = match (angular != 0.0, lever != Vec2::ZERO) {
            (true, _) => world.apply_angular_impulse(body, angular),
            (_, true) => world.apply_impulse_at(body, impulse, light.position + lever),
            _ => world.apply_impulse(body, impulse),
        };
        let error = error.expect_err(field);
        assert!(
            matches!(error, Error::OutOfRange { field: named, max, .. } if named == field && max == World::MAX_SPEED),
            "{error:?}"
        );
        assert_eq!((fingerprint(&world), world.body(body).unwrap()), before, "{error}");
        let quality = world.quality();
        assert!(quality.kinetic_energy.is_finite() && quality.rms_speed.is_finite(), "{quality:?}");
        // An impulse that stays below the limit is accepted.
        world.apply_impulse(body, Vec2::new(0.99e-12, 0.0)).unwrap();
        assert!((world.body(body).unwrap().velocity.x - 0.99e6).abs() < 1.0);
    }
}

/// A part that would move the centre of mass beyond the largest coordinate, or give the centre a velocity beyond the
/// largest speed, is refused. The body keeps its place, its mass and its parts.
#[test]
fn parts_cannot_put_a_body_beyond_the_limits() {
    let near_edge = BodyDesc::dynamic(Shape::circle(0.1), Vec2::new(World::MAX_COORDINATE - 1.0, 0.0));
    let spinning = BodyDesc { angular_velocity: 0.9e6, ..BodyDesc::dynamic(Shape::circle(0.1), Vec2::ZERO) };
    for desc in [near_edge, spinning] {
        let mut world = World::new(Settings::default()).unwrap();
        let body = world.add_body(&desc).unwrap();
        let before = (world.body(body).unwrap(), world.mass(body).unwrap(), world.parts(body).unwrap());
        let part = Part::new(Shape::circle(5.0), Vec2::new(10.0, 0.0));
        for _ in 0..2 {
            let error = world.add_part(body, &part).unwrap_err();
            assert!(error.to_string().starts_with("part.position"), "{error}");
            let after = (world.body(body).unwrap(), world.mass(body).unwrap(), world.parts(body).unwrap());
            assert_eq!(after, before);
        }
        world.step();
        world.add_part(body, &Part::new(Shape::circle(5.0), Vec2::new(-0.5, 0.0))).unwrap();
    }
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

/// Contract: a world uses the instruction set that it is given, or refuses it with an error that lists the processor's
/// instruction sets. `Auto` is the best of them, unless the environment names another. A change of the instruction set
/// does not change the state.
#[test]
fn levels_are_those_of_the_processor() {
    let sets: Vec<Isa> = Isa::available().collect();
    assert!(sets.starts_with(&[Isa::Scalar, Isa::Portable]), "{sets:?}");
    assert!(sets.is_sorted_by_key(|isa| isa.lanes()), "{sets:?}");
    for isa in [Isa::Scalar, Isa::Portable, Isa::Avx2, Isa::Avx512] {
        let made = World::new(Settings { isa, ..Settings::default() });
        let mut changed = World::new(Settings::default()).unwrap();
        let before = changed.isa();
        if sets.contains(&isa) {
            assert!(isa.is_available());
            assert_eq!(made.unwrap().isa(), isa);
            changed.set_isa(isa).unwrap();
            assert_eq!((changed.isa(), changed.settings().isa), (isa, isa));
        } else {
            assert!(!isa.is_available());
            let names = sets.iter().map(|isa| isa.name()).collect::<Vec<_>>().join(", ");
            let expected = Error::Isa { isa: isa.name(), available: names };
            assert_eq!(made.err(), Some(expected.clone()));
            assert_eq!(changed.set_isa(isa), Err(expected));
            assert_eq!((changed.isa(), changed.settings().isa), (before, Isa::Auto));
        }
    }
    let auto = World::new(Settings::default()).unwrap();
    assert!(auto.settings().isa == Isa::Auto && sets.contains(&auto.isa()));
    assert_eq!(auto.isa().lanes(), Isa::Auto.lanes());
    if std::env::var_os(Isa::VARIABLE).is_none() {
        assert_eq!(Some(auto.isa()), Isa::available().next_back());
    }

    let (mut reference, mut mixed) = (busy_world().0, busy_world().0);
    reference.set_isa(Isa::Scalar).unwrap();
    for (step, isa) in Isa::available().chain([Isa::Auto]).cycle().take(40).enumerate() {
        mixed.set_isa(isa).unwrap();
        assert_eq!(reference.state_hash(), mixed.state_hash(), "before step {step}, {isa}");
        reference.step();
        mixed.step();
        assert_eq!(reference.state_hash(), mixed.state_hash(), "after step {step}, {isa}");
    }
}
