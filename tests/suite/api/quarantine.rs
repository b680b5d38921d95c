//! A body that goes bad is set aside, and the others go on.

use super::{ball, busy_world, fingerprint};
use granule::{BodyDesc, BodyHandle, Error, Filter, Isa, Part, Settings, Shape, Vec2, World};

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
            assert!(world.quarantine_events().is_empty());
            // There are many calls, because a call out of range is refused on its own and the others still act.
            for _ in 0..50 {
                for force in [f32::MAX, 1e30] {
                    let _ = world.apply_force(victim, Vec2::new(force, force));
                    let _ = world.apply_impulse(victim, Vec2::new(force, force));
                }
            }
            let mut told = Vec::new();
            for _ in 0..120 {
                world.step();
                told.extend(world.quarantine_events().iter().map(|event| (event.body, world.step_count())));
            }
            assert_eq!(told, [(victim, world.quarantined()[0].step + 1)]);
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

/// A body that goes bad in a step has not moved in it: what is drawn between the two steps is where it stays.
#[test]
fn a_quarantined_body_is_drawn_where_it_stays() {
    let mut world = World::new(Settings::default()).unwrap();
    let start = Vec2::new(World::MAX_COORDINATE - 100.0, 3.0);
    let desc = BodyDesc {
        velocity: Vec2::new(World::MAX_SPEED, 0.0),
        ..BodyDesc::dynamic(Shape::circle(0.5), start)
    };
    let body = world.add_body(&desc).unwrap();
    world.step();
    assert_eq!(world.quarantined().len(), 1);
    for alpha in [0.0, 0.3, 1.0] {
        assert_eq!(world.interpolated(body, alpha), world.body(body));
        assert_eq!(world.interpolated(body, alpha).unwrap().position, start);
    }
}
