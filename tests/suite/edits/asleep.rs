//! Contract: an edit of a sleeping body does what it does to the body once it has been woken.

use super::steps;
use granule::{
    BodyDesc, BodyHandle, BodyType, Error, Filter, Locks, Material, Part, Settings, Shape, Vec2, World,
};

type Edit = (&'static str, fn(&mut World, BodyHandle) -> Result<(), Error>);

const EDITS: [Edit; 33] = [
    ("add_part", |world, body| world.add_part(body, &nose())),
    ("add_parts", |world, body| world.add_parts(body, &[nose(), Part { position: Vec2::Y, ..nose() }])),
    ("set_part", |world, body| world.set_part(body, 0, &nose())),
    ("remove_part", |world, body| world.remove_part(body, 1)),
    ("set_shape", |world, body| world.set_shape(body, &Shape::capsule(0.6, 0.2))),
    ("set_material", |world, body| world.set_material(body, &Material::new(3.0, 0.1, 0.2))),
    ("set_filter", |world, body| world.set_filter(body, Filter { category: 4, ..Filter::default() })),
    ("static", |world, body| world.set_body_type(body, BodyType::Static)),
    ("kinematic", |world, body| world.set_body_type(body, BodyType::Kinematic)),
    ("disable", |world, body| world.set_enabled(body, false)),
    ("set_mass", |world, body| world.set_mass(body, Some(7.0))),
    ("no mass", |world, body| world.set_mass(body, Some(0.0))),
    ("set_inertia", |world, body| world.set_inertia(body, Some(7.0))),
    ("set_centre", |world, body| world.set_centre(body, Some(Vec2::new(0.1, -0.2)))),
    ("set_locks", |world, body| world.set_locks(body, Locks { x: true, y: false, rotation: true })),
    ("set_max_speeds", |world, body| world.set_max_speeds(body, Some(0.5), Some(0.5))),
    ("set_sensor", |world, body| world.set_sensor(body, true)),
    ("set_bullet", |world, body| world.set_bullet(body, true)),
    ("set_position", |world, body| world.set_position(body, Vec2::new(0.2, 3.0))),
    ("set_angle", |world, body| world.set_angle(body, 0.7)),
    ("set_velocity", |world, body| world.set_velocity(body, Vec2::new(1.0, 2.0))),
    ("set_angular_velocity", |world, body| world.set_angular_velocity(body, 2.0)),
    ("set_gravity_scale", |world, body| world.set_gravity_scale(body, -1.0)),
    ("set_damping", |world, body| world.set_damping(body, 0.3, 0.4)),
    ("apply_force", |world, body| world.apply_force(body, Vec2::new(9.0, 30.0))),
    ("apply_force_at", |world, body| world.apply_force_at(body, Vec2::new(9.0, 30.0), Vec2::new(0.1, 0.7))),
    ("apply_torque", |world, body| world.apply_torque(body, 9.0)),
    ("apply_impulse", |world, body| world.apply_impulse(body, Vec2::new(1.0, 3.0))),
    ("apply_impulse_at", |world, body| {
        world.apply_impulse_at(body, Vec2::new(1.0, 3.0), Vec2::new(0.1, 0.7))
    }),
    ("apply_angular_impulse", |world, body| world.apply_angular_impulse(body, 2.0)),
    ("set_sleep", |world, body| world.set_sleep(body, false)),
    ("place_bodies", |world, body| world.place_bodies(&[body], &[Vec2::new(0.1, 3.0)], Some(&[0.1]))),
    ("apply_impulses", |world, body| world.apply_impulses(&[body], &[Vec2::Y], Some(&[0.3]))),
];

fn nose() -> Part {
    Part::new(Shape::oriented_box(0.2, 0.3), Vec2::new(0.6, 0.1))
}

/// What is given to the body by hand before it falls asleep.
const BY_HAND: [fn(&mut World, BodyHandle) -> Result<(), Error>; 4] = [
    |_, _| Ok(()),
    |world, body| world.set_mass(body, Some(2.0)),
    |world, body| world.set_inertia(body, Some(2.0)),
    |world, body| world.set_centre(body, Some(Vec2::new(0.1, 0.0))),
];

#[test]
fn an_edit_of_a_sleeping_body_is_that_of_the_woken() {
    let shapes =
        [Shape::circle(0.4), Shape::oriented_box(0.4, 0.4), Shape::aabb(0.4, 0.4), Shape::capsule(0.3, 0.2)];
    let mut edits_done = 0;
    for (index, shape) in shapes.into_iter().enumerate() {
        for compound in [false, true] {
            for by_hand in BY_HAND {
                let mut world = World::new(Settings::default()).unwrap();
                world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
                let below = BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5));
                world.add_body(&below).unwrap();
                let body = world.add_body(&BodyDesc::dynamic(shape, Vec2::new(0.0, 1.5))).unwrap();
                if compound && world.add_part(body, &nose()).is_err() {
                    continue;
                }
                if by_hand(&mut world, body).is_err() {
                    continue;
                }
                steps(&mut world, 2);
                world.sleep_body(body).unwrap();
                steps(&mut world, 1);
                assert!(!world.is_awake(body).unwrap(), "shape {index}");
                for (name, edit) in EDITS {
                    let (mut asleep, mut awake) = (world.clone(), world.clone());
                    awake.wake_body(body).unwrap();
                    let done = edit(&mut asleep, body);
                    assert_eq!(done, edit(&mut awake, body), "{name} of shape {index}");
                    if done.is_err() {
                        assert_eq!(asleep.state_hash(), world.state_hash(), "{name} of shape {index}");
                        continue;
                    }
                    edits_done += 1;
                    asleep.validate().unwrap();
                    asleep.wake_body(body).unwrap();
                    for step in 0..4 {
                        let of = |world: &World| {
                            let mass = world.mass(body).unwrap();
                            (
                                mass,
                                world.inertia(body).unwrap(),
                                world.parts(body).unwrap(),
                                world.locks(body),
                            )
                        };
                        assert_eq!(of(&asleep), of(&awake), "{name} of shape {index}, step {step}");
                        let differs = asleep.first_difference(&awake);
                        assert_eq!(differs, None, "{name} of shape {index}, step {step}");
                        steps(&mut asleep, 1);
                        steps(&mut awake, 1);
                    }
                }
            }
        }
    }
    assert!(edits_done > 600, "{edits_done}");
}
