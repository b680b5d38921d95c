//! Contract: shapes, materials and parts change as if the body had been made so; what the host gave by hand stays.

use super::{ball, block, ground, position, space, steps};
use granule::{BodyDesc, BodyType, Error, Filter, JointDesc, Material, Part, Shape, Vec2};

fn hammer(world: &mut granule::World) -> granule::BodyHandle {
    let body = world.add_body(&BodyDesc {
        angle: 0.3,
        ..BodyDesc::dynamic(Shape::capsule(0.8, 0.1), Vec2::new(1.0, 2.0))
    });
    let body = body.unwrap();
    let head = Part { tag: 4, ..Part::new(Shape::oriented_box(0.2, 0.4), Vec2::new(0.9, 0.0)) };
    world.add_part(body, &head).unwrap();
    body
}

fn near(a: f32, b: f32) -> bool {
    (a - b).abs() <= 1e-5 * (1.0 + a.abs())
}

/// A part that is removed leaves the body as it was before it was added: mass, centre, inertia and the points that a joint holds.
#[test]
fn removed_parts_were_never_there() {
    let mut world = space();
    let plain = world.add_body(&BodyDesc {
        angle: 0.3,
        ..BodyDesc::dynamic(Shape::capsule(0.8, 0.1), Vec2::new(1.0, 2.0))
    });
    let plain = plain.unwrap();
    let body = hammer(&mut world);
    let pin = world.add_body(&BodyDesc::fixed(Shape::circle(0.1), Vec2::new(1.0, 9.0))).unwrap();
    let joint = world.add_joint(&JointDesc::revolute(pin, body, Vec2::ZERO, Vec2::new(0.1, 0.2))).unwrap();
    let held = world.parts(body).unwrap()[0].position - world.joint(joint).unwrap().frame_b.position;
    assert_eq!(world.parts(body).unwrap()[1].tag, 4);
    world.remove_part(body, 1).unwrap();
    world.validate().unwrap();
    let parts = world.parts(body).unwrap();
    assert!(parts.len() == 1 && parts[0].position.length() < 1e-6, "{parts:?}");
    assert!(near(world.mass(body).unwrap(), world.mass(plain).unwrap()));
    assert!(near(world.inertia(body).unwrap(), world.inertia(plain).unwrap()));
    assert!((position(&world, body) - position(&world, plain)).length() < 1e-5);
    let now = world.parts(body).unwrap()[0].position - world.joint(joint).unwrap().frame_b.position;
    assert!((now - held).length() < 1e-5);
    let last = world.remove_part(body, 0);
    assert!(matches!(last, Err(Error::Invalid { field: "part", .. })), "{last:?}");
    assert!(world.remove_part(body, 3).is_err() && world.set_part(body, 1, &parts[0]).is_err());
    steps(&mut world, 2);
}

/// A part that is replaced is as one that was added so.
#[test]
fn replaced_parts_are_as_if_added() {
    let mut world = space();
    let body = hammer(&mut world);
    let there = world.parts(body).unwrap();
    let other = Part {
        material: Material { density: 3.0, ..Material::default() },
        filter: Filter { category: 8, mask: 9, group: 3 },
        angle: 0.25,
        ..Part::new(Shape::circle(0.3), there[0].position + Vec2::new(-0.7, 0.1))
    };
    world.set_part(body, 1, &other).unwrap();
    let made = world.add_body(&BodyDesc {
        angle: 0.3,
        ..BodyDesc::dynamic(Shape::capsule(0.8, 0.1), Vec2::new(1.0, 2.0))
    });
    let made = made.unwrap();
    world.add_part(made, &Part { position: Vec2::new(-0.7, 0.1), ..other }).unwrap();
    assert!(near(world.mass(body).unwrap(), world.mass(made).unwrap()));
    assert!(near(world.inertia(body).unwrap(), world.inertia(made).unwrap()));
    assert!((position(&world, body) - position(&world, made)).length() < 1e-5);
    for (one, two) in world.parts(body).unwrap().iter().zip(world.parts(made).unwrap()) {
        assert!((one.position - two.position).length() < 1e-5);
        assert_eq!(
            (one.shape, one.material, one.filter, one.angle),
            (two.shape, two.material, two.filter, two.angle)
        );
    }
    steps(&mut world, 3);
}

/// Another shape and density give another mass, unless it was set by hand; what lies on the body feels it in the next step.
#[test]
fn shapes_and_densities_change() {
    let mut world = ground();
    let low = world.add_body(&block(Vec2::new(0.0, 0.5))).unwrap();
    let high = world.add_body(&ball(Vec2::new(0.0, 1.5))).unwrap();
    steps(&mut world, 90);
    world.set_shape(low, &Shape::oriented_box(0.5, 0.25)).unwrap();
    assert_eq!((world.mass(low), world.shape(low)), (Ok(0.5), Ok(Shape::oriented_box(0.5, 0.25))));
    steps(&mut world, 120);
    assert!((position(&world, low).y - 0.25).abs() < 0.02 && (position(&world, high).y - 1.0).abs() < 0.02);
    let heavy = Material { density: 8.0, ..Material::default() };
    world.set_material(low, &heavy).unwrap();
    assert_eq!((world.mass(low), world.material(low)), (Ok(4.0), Ok(heavy)));
    world.set_mass(low, Some(1.0)).unwrap();
    world.set_shape(low, &Shape::circle(0.25)).unwrap();
    assert_eq!(world.mass(low), Ok(1.0));
    assert!(near(world.inertia(low).unwrap(), 0.5 * 0.0625));
    for shape in [Shape::particle(0.1), Shape::half_space(Vec2::Y, 0.0), Shape::circle(-1.0)] {
        let refused = world.set_shape(low, &shape);
        assert!(refused.is_err(), "{shape:?}");
    }
    steps(&mut world, 60);
}

/// A body whose centre was set by hand keeps it when its shapes change, awake or asleep, and its moment of inertia is that about it: Σ (Iᵢ + mᵢ·rᵢ²).
#[test]
fn a_centre_by_hand_stays() {
    for asleep in [false, true] {
        let mut world = ground();
        let body = world.add_body(&block(Vec2::new(0.0, 0.5))).unwrap();
        world.set_centre(body, Some(Vec2::new(0.0, -0.25))).unwrap();
        while asleep && world.awake_count() > 0 {
            world.step();
            assert!(world.step_count() < 1_000);
        }
        let centre = position(&world, body);
        let check = |world: &granule::World| {
            assert!((position(world, body) - centre).length() < 1e-6, "asleep: {asleep}");
            let (mut mass, mut inertia) = (0.0, 0.0);
            for part in world.parts(body).unwrap() {
                let of_part = part.material.density * part.shape.area();
                mass += of_part;
                inertia += part.shape.inertia(of_part) + of_part * part.position.length_squared();
            }
            let found = (world.mass(body).unwrap(), world.inertia(body).unwrap());
            assert!(near(found.0, mass) && near(found.1, inertia), "{found:?}, not {mass} and {inertia}");
        };
        check(&world);
        world.add_part(body, &Part::new(Shape::circle(0.2), Vec2::new(0.0, 1.0))).unwrap();
        check(&world);
        world.set_material(body, &Material { density: 2.0, ..Material::default() }).unwrap();
        check(&world);
        world.remove_part(body, 0).unwrap();
        check(&world);
        assert!(world.is_awake(body).unwrap());
        steps(&mut world, 30);
    }
}

/// What is done to a disabled body is there when it is enabled again.
#[test]
fn disabled_bodies_change() {
    let mut world = space();
    let body = world.add_body(&block(Vec2::ZERO)).unwrap();
    world.set_enabled(body, false).unwrap();
    world.set_shape(body, &Shape::oriented_box(1.0, 1.0)).unwrap();
    assert_eq!(world.mass(body), Ok(4.0));
    world.add_part(body, &Part::new(Shape::oriented_box(1.0, 1.0), Vec2::new(2.0, 0.0))).unwrap();
    assert!((position(&world, body) - Vec2::new(1.0, 0.0)).length() < 1e-5);
    world.set_body_type(body, granule::BodyType::Kinematic).unwrap();
    assert!(world.mass(body).unwrap().is_infinite());
    world.set_body_type(body, granule::BodyType::Dynamic).unwrap();
    assert!(near(world.mass(body).unwrap(), 8.0));
    world.validate().unwrap();
    world.set_enabled(body, true).unwrap();
    world.apply_impulse(body, Vec2::new(8.0, 0.0)).unwrap();
    assert!(near(world.body(body).unwrap().velocity.x, 1.0));
    steps(&mut world, 3);
}

/// A body that gets weight after its shapes has its centre where it would be if it had always been heavy.
#[test]
fn weight_that_comes_late_has_its_centre() {
    let nose = Part::new(Shape::oriented_box(0.5, 0.5), Vec2::new(2.0, 0.0));
    let made = |desc: BodyDesc, late: &dyn Fn(&mut granule::World, granule::BodyHandle)| {
        let mut world = space();
        let body = world.add_body(&desc).unwrap();
        world.add_part(body, &nose).unwrap();
        late(&mut world, body);
        world.validate().unwrap();
        let state = world.body(body).unwrap();
        (state.position, state.velocity, world.mass(body).unwrap(), world.inertia(body).unwrap())
    };
    let early = BodyDesc { velocity: Vec2::X, angular_velocity: 1.0, ..block(Vec2::ZERO) };
    let right = made(early, &|_, _| ());
    assert!(near(right.0.x, 1.0) && near(right.1.y, 1.0), "{right:?}");
    let kinematic = BodyDesc { body_type: granule::BodyType::Kinematic, ..early };
    let heavy = BodyDesc { mass: Some(0.0), ..early };
    for disabled in [false, true] {
        let dynamic = |world: &mut granule::World, body| {
            world.set_enabled(body, !disabled).unwrap();
            world.set_body_type(body, granule::BodyType::Dynamic).unwrap();
            world.set_enabled(body, true).unwrap();
        };
        assert_eq!(made(kinematic, &dynamic), right);
        let light = |world: &mut granule::World, body| {
            world.set_enabled(body, !disabled).unwrap();
            world.set_mass(body, None).unwrap();
            world.set_enabled(body, true).unwrap();
        };
        assert_eq!(made(heavy, &light), right);
    }
    let by_hand = |world: &mut granule::World, body| {
        world.set_centre(body, Some(Vec2::ZERO)).unwrap();
        world.set_body_type(body, granule::BodyType::Dynamic).unwrap();
    };
    assert_eq!(made(kinematic, &by_hand).0, Vec2::ZERO);
}

/// A part that gets another tag, and nothing else, wakes nothing and needs no new pair list; a part that moves does.
#[test]
fn a_tag_of_a_part_is_no_other_part() {
    let mut world = ground();
    let body = hammer(&mut world);
    steps(&mut world, 200);
    world.sleep_body(body).unwrap();
    steps(&mut world, 2);
    let (hash, age) = (world.state_hash(), world.list_age());
    let mut part = world.parts(body).unwrap()[1];
    part.tag = 77;
    world.set_part(body, 1, &part).unwrap();
    assert_eq!(world.parts(body).unwrap()[1], part);
    assert!(!world.is_awake(body).unwrap());
    world.step();
    assert_eq!((world.state_hash(), world.is_awake(body).unwrap()), (hash, false));
    assert!(world.list_age() >= age);
    part.position.x += 0.01;
    world.set_part(body, 1, &part).unwrap();
    assert!(world.is_awake(body).unwrap());
}

/// What was set by hand can be read as it was set, whatever the body's type is meanwhile.
#[test]
fn masses_by_hand_are_read_back() {
    let mut world = ground();
    let body = world.add_body(&block(Vec2::new(0.0, 3.0))).unwrap();
    assert_eq!((world.mass_by_hand(body), world.inertia_by_hand(body)), (Ok(None), Ok(None)));
    world.set_mass(body, Some(7.0)).unwrap();
    world.set_inertia(body, Some(0.5)).unwrap();
    for body_type in [BodyType::Static, BodyType::Kinematic, BodyType::Dynamic] {
        world.set_body_type(body, body_type).unwrap();
        assert_eq!((world.mass_by_hand(body), world.inertia_by_hand(body)), (Ok(Some(7.0)), Ok(Some(0.5))));
    }
    assert!(near(world.mass(body).unwrap(), 7.0) && near(world.inertia(body).unwrap(), 0.5));
    world.set_mass(body, None).unwrap();
    assert_eq!(world.mass_by_hand(body), Ok(None));
}
