//! Contract: −0 is 0, wherever a number may be 0: the world takes the same steps, and its snapshot is taken back.

use granule::{
    BodyDesc, BodyHandle, Error, Field, FieldKind, Isa, Material, Order, Region, Settings, Shape, Vec2, World,
};

/// A pile of few bodies, of which `edit` changes three.
fn pile(isa: Isa, edit: impl Fn(&mut World, BodyHandle)) -> World {
    let mut world = World::new(Settings { isa, ..Settings::default() }).unwrap();
    let wall = Material { restitution: 0.5, ..Material::default() };
    let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
    world.add_body(&BodyDesc { material: wall, ..floor }).unwrap();
    let bodies: Vec<_> = (0u8..24)
        .map(|i| {
            let shape = if i % 3 == 0 { Shape::circle(0.3) } else { Shape::oriented_box(0.3, 0.3) };
            let place = Vec2::new(0.7 * f32::from(i % 4), 0.5 + 0.7 * f32::from(i / 4));
            world.add_body(&BodyDesc { angle: 0.1, ..BodyDesc::dynamic(shape, place) }).unwrap()
        })
        .collect();
    for body in [bodies[1], bodies[5], bodies[9]] {
        edit(&mut world, body);
    }
    world
}

fn taken_back(name: &str, world: &World) {
    world.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut snapshot = Vec::new();
    world.save(&mut snapshot);
    let back = World::from_snapshot(&snapshot).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(back.state_hash(), world.state_hash(), "{name}");
    assert_eq!(world.clone().state_hash(), world.state_hash(), "{name}");
}

/// Both worlds take the same steps, and the one with −0 is restored before and after them.
fn same(name: &str, plus: &mut World, minus: &mut World) {
    taken_back(name, minus);
    for step in 0..90 {
        plus.step();
        minus.step();
        assert_eq!(plus.state_hash(), minus.state_hash(), "{name}, step {step}");
    }
    taken_back(name, minus);
}

type Edit = fn(&mut World, BodyHandle, f32) -> Result<(), Error>;

const EDITS: [(&str, Edit); 16] = [
    ("damping", |world, body, zero| world.set_damping(body, zero, zero)),
    ("gravity scale", |world, body, zero| world.set_gravity_scale(body, zero)),
    ("force", |world, body, zero| world.apply_force(body, Vec2::splat(zero))),
    ("force across", |world, body, zero| world.apply_force(body, Vec2::new(zero, 1.0))),
    ("torque", |world, body, zero| world.apply_torque(body, zero)),
    ("impulse", |world, body, zero| world.apply_impulse(body, Vec2::splat(zero))),
    ("angular velocity", |world, body, zero| world.set_angular_velocity(body, zero)),
    ("sleep threshold", |world, body, zero| world.set_sleep_threshold(body, Some(zero))),
    ("time to sleep", |world, body, zero| world.set_time_to_sleep(body, Some(zero))),
    ("greatest speeds", |world, body, zero| world.set_max_speeds(body, Some(zero), Some(zero))),
    ("friction", |world, body, zero| {
        let material = Material { static_friction: zero, dynamic_friction: zero, ..Material::default() };
        world.set_material(body, &material)
    }),
    ("restitution", |world, body, zero| {
        world.set_material(body, &Material { restitution: zero, ..Material::default() })
    }),
    ("belt", |world, body, zero| {
        world.set_material(body, &Material { tangent_speed: zero, ..Material::default() })
    }),
    ("rolling", |world, body, zero| {
        world.set_material(body, &Material { rolling_resistance: zero, ..Material::default() })
    }),
    ("field", |world, _, zero| {
        let field = Field::new(Region::Everywhere, FieldKind::Acceleration(Vec2::splat(zero)));
        world.apply_field(&field).map(drop)
    }),
    ("columns of forces", |world, _, zero| {
        let zeros = vec![zero; world.body_count()];
        world.apply_force_columns(Order::Added, [&zeros[..]; 3])
    }),
];

#[test]
fn edits() {
    for (name, edit) in EDITS {
        for isa in [Isa::Scalar, Isa::Auto] {
            let [mut plus, mut minus] = [0.0, -0.0].map(|zero| {
                pile(isa, |world, body| {
                    // What is refused changes nothing, and is refused for either zero.
                    let _ = edit(world, body, zero);
                })
            });
            same(name, &mut plus, &mut minus);
        }
    }
}

type Desc = fn(&mut BodyDesc, f32);

const DESCS: [(&str, Desc); 9] = [
    ("greatest speed", |desc, zero| desc.max_speed = Some(zero)),
    ("greatest spin", |desc, zero| desc.max_angular_speed = Some(zero)),
    ("linear damping", |desc, zero| desc.linear_damping = zero),
    ("angular damping", |desc, zero| desc.angular_damping = zero),
    ("gravity scale", |desc, zero| desc.gravity_scale = zero),
    ("restitution", |desc, zero| desc.material.restitution = zero),
    ("rolling", |desc, zero| desc.material.rolling_resistance = zero),
    ("belt", |desc, zero| desc.material.tangent_speed = zero),
    ("threshold", |desc, zero| desc.sleep_threshold = Some(zero)),
];

#[test]
fn descriptions() {
    for (name, set) in DESCS {
        let [mut plus, mut minus] = [0.0, -0.0].map(|zero| {
            let mut world = pile(Isa::Auto, |_, _| {});
            let shape = Shape::oriented_box(0.2, 0.2);
            let mut desc = BodyDesc::dynamic(shape, Vec2::new(1.0, 6.0));
            set(&mut desc, zero);
            world.add_body(&desc).unwrap();
            world
        });
        same(name, &mut plus, &mut minus);
    }
}
