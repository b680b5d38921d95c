//! A refused call says why and leaves the world as it was.

use super::{ball, busy_world, fingerprint};
use granule::{BodyDesc, BodyHandle, BodyType, Error, Filter, Material, Part, Settings, Shape, Vec2, World};

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

/// Contract: a part that is far off is refused if another one would be too far from the new centre, alone and as one of many; the world stays as it
/// was, and can be cloned.
#[test]
fn parts_stay_near_their_centre() {
    let mut world = World::new(Settings::default()).unwrap();
    let body = world.add_body(&BodyDesc::dynamic(Shape::circle(0.3), Vec2::ZERO)).unwrap();
    world.add_part(body, &Part::new(Shape::circle(0.3), Vec2::new(-2.0, 0.0))).unwrap();
    let hash = world.state_hash();
    let far = Part::new(Shape::circle(3_000.0), Vec2::new(1.0e6, 0.0));
    let errors = [world.add_part(body, &far), world.add_parts(body, &[far])];
    for error in errors {
        assert!(matches!(error, Err(Error::OutOfRange { field: "part.position", .. })), "{error:?}");
    }
    assert_eq!((world.state_hash(), world.parts(body).unwrap().len()), (hash, 2));
    assert_eq!(world.clone().state_hash(), hash);
}
