//! Contract: a world's memory is as large as its largest content at any one time, however many bodies come and go.

use granule::{BodyDesc, Filter, JointDesc, Material, Part, Polygon, Settings, Shape, Vec2, World};

/// A triangle and a material that no other number gives.
fn distinct(number: u32) -> (Shape, Material) {
    let corner = 0.5 + number as f32 * 1.0e-6;
    let triangle = [Vec2::ZERO, Vec2::new(corner, 0.0), Vec2::new(0.25, 0.5)];
    let (polygon, _) = Polygon::new(&triangle).unwrap();
    (Shape::Polygon(polygon), Material { density: 1.0 + number as f32 * 1.0e-6, ..Material::default() })
}

/// 300,000 distinct polygons, materials and parts come and go, 1,000 at a time: at the end the tables are as long as
/// after the first 3,000.
#[test]
fn what_is_removed_is_forgotten() {
    let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
    // The bodies lie beside each other, each in its own layer, so that they touch nothing.
    let mut after_three = None;
    for batch in 0..300u32 {
        let mut bodies = Vec::new();
        for place in 0..1_000 {
            let (shape, material) = distinct(1_000 * batch + place);
            let position = Vec2::new(2.0 * (place % 32) as f32, 2.0 * (place / 32) as f32);
            let filter = Filter { mask: 0, ..Filter::default() };
            let body = BodyDesc { material, filter, ..BodyDesc::dynamic(shape, position) };
            let body = world.add_body(&body).unwrap();
            if place % 10 == 0 {
                let (shape, material) = distinct(1_000 * batch + place + 500_000);
                let part = Part { material, filter, ..Part::new(shape, Vec2::new(0.3, 0.2)) };
                world.add_part(body, &part).unwrap();
            }
            bodies.push(body);
        }
        world.step();
        for body in bodies {
            world.remove_body(body).unwrap();
        }
        world.step();
        if batch == 2 {
            after_three = Some(world.table_sizes());
        }
    }
    assert_eq!(Some(world.table_sizes()), after_three);
    let size = |name: &str| world.table_sizes().iter().find(|(table, _)| *table == name).unwrap().1;
    // The one outline is the entry for shapes without an outline.
    assert_eq!((size("outlines in use"), size("materials in use"), size("slots")), (1, 0, 0));
    for (table, most) in [("outlines", 1_300), ("materials", 1_300), ("handles", 1_000), ("compounds", 100)] {
        assert!(size(table) <= most, "{table}: {}", size(table));
    }
}

/// Contract: joints that come and go, with their bodies or without, leave no memory behind, and a joint that is new has nothing of
/// the one that had its place.
#[test]
fn joints_that_are_removed_are_forgotten() {
    let mut world = World::new(Settings::default()).unwrap();
    let ground = world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let mut after_two = None;
    for batch in 0..50 {
        let mut bodies = Vec::new();
        let mut joints = Vec::new();
        for place in 0..40 {
            let at = Vec2::new(2.0 * place as f32, 5.0);
            let body = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), at)).unwrap();
            let motor = JointDesc::revolute(ground, body, at, Vec2::ZERO).with_motor(10.0, 1.0e3);
            joints.push(world.add_joint(&motor).unwrap());
            if let Some(&last) = bodies.last() {
                let rod = JointDesc::distance(last, body, Vec2::ZERO, Vec2::ZERO, 2.0);
                joints.push(world.add_joint(&rod).unwrap());
            }
            bodies.push(body);
        }
        world.step();
        world.validate().unwrap();
        for joint in joints.drain(..).skip(batch % 3).step_by(2) {
            world.remove_joint(joint).unwrap();
        }
        world.step();
        for body in bodies {
            world.remove_body(body).unwrap();
        }
        world.step();
        assert_eq!(world.joint_count(), 0);
        if batch == 1 {
            after_two = Some(world.table_sizes());
        }
    }
    assert_eq!(Some(world.table_sizes()), after_two);
    let body = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 5.0))).unwrap();
    let hinge = world.add_joint(&JointDesc::revolute(ground, body, Vec2::new(0.0, 5.0), Vec2::ZERO)).unwrap();
    world.step();
    assert_eq!(world.joint_state(hinge).unwrap().torque, 0.0);
    assert_eq!(world.body(body).unwrap().angular_velocity, 0.0);
}

/// Three shapes collide as what they are: a shape that is removed and added again, a shape that reuses a freed number,
/// and a shape that is still in use.
#[test]
fn numbers_that_are_used_again_are_the_new_shapes() {
    let drop_height = |shape: Shape| -> f32 {
        let mut world = World::new(Settings::default()).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let body = world.add_body(&BodyDesc::dynamic(shape, Vec2::new(0.0, 0.7))).unwrap();
        (0..120).for_each(|_| world.step());
        world.body(body).unwrap().position.y
    };
    let shapes = [
        Shape::oriented_box(0.5, 0.3),
        Shape::capsule(0.3, 0.2),
        Shape::Polygon(Polygon::regular(6, 0.5).unwrap()),
        Shape::oriented_box(0.2, 0.6),
    ];
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let add = |world: &mut World, shape: Shape, x: f32| {
        world.add_body(&BodyDesc::dynamic(shape, Vec2::new(x, 0.7))).unwrap()
    };
    let kept = add(&mut world, shapes[0], 10.0);
    let mut last = None;
    for round in 0..8 {
        let shape = shapes[round % 4];
        let body = add(&mut world, shape, 0.0);
        if let Some(last) = last.replace(body) {
            world.remove_body(last).unwrap();
        }
        (0..120).for_each(|_| world.step());
        let (y, alone) = (world.body(body).unwrap().position.y, drop_height(shape));
        assert!((y - alone).abs() < 2.0e-3, "round {round}: {y}, alone {alone}");
        assert_eq!(world.shape(body).unwrap(), shape);
    }
    let y = world.body(kept).unwrap().position.y;
    assert!((y - drop_height(shapes[0])).abs() < 2.0e-3, "{y}");
}
