//! Contract: an edit of a body that sleeps, or is not enabled, does what it does to the body once it is awake or enabled.

use super::steps;
use granule::{
    BodyDesc, BodyHandle, BodyType, Error, Filter, JointDesc, JointHandle, LinkDesc, LinkHandle, Locks,
    Material, Part, Settings, Shape, Spring, Vec2, World,
};

/// What is done to a body.
type OfBody = fn(&mut World, BodyHandle) -> Result<(), Error>;
type Edit = (&'static str, OfBody);

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
const BY_HAND: [OfBody; 4] = [
    |_, _| Ok(()),
    |world, body| world.set_mass(body, Some(2.0)),
    |world, body| world.set_inertia(body, Some(2.0)),
    |world, body| world.set_centre(body, Some(Vec2::new(0.1, 0.0))),
];

/// Runs with each shape, alone and in a compound, of which each thing was set by hand: a body that lies asleep on a box.
fn on_each(mut run: impl FnMut(&World, BodyHandle, &str)) {
    let shapes =
        [Shape::circle(0.4), Shape::oriented_box(0.4, 0.4), Shape::aabb(0.4, 0.4), Shape::capsule(0.3, 0.2)];
    for shape in shapes {
        for compound in [false, true] {
            for (number, by_hand) in BY_HAND.into_iter().enumerate() {
                let mut world = World::new(Settings::default()).unwrap();
                world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
                let below = BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5));
                world.add_body(&below).unwrap();
                let body = world.add_body(&BodyDesc::dynamic(shape, Vec2::new(0.0, 1.5))).unwrap();
                // An axis-aligned box has no parts and no moment of inertia.
                if compound && world.add_part(body, &nose()).is_err() || by_hand(&mut world, body).is_err() {
                    assert_eq!(shape.kind(), Shape::aabb(1.0, 1.0).kind());
                    continue;
                }
                steps(&mut world, 2);
                world.sleep_body(body).unwrap();
                steps(&mut world, 1);
                assert!(!world.is_awake(body).unwrap());
                run(&world, body, &format!("{shape:?}, compound {compound}, by hand {number}"));
            }
        }
    }
}

/// Holds that two bodies are the same, now and in the next steps.
fn same(mut worlds: [&mut World; 2], body: BodyHandle, what: &str) {
    for step in 0..4 {
        let [one, two] = &worlds;
        let of = |world: &World| {
            let masses = [world.mass(body).unwrap(), world.inertia(body).unwrap()];
            (masses, world.body(body).unwrap(), world.parts(body).unwrap(), world.locks(body).unwrap())
        };
        assert_eq!(of(one), of(two), "{what}, step {step}");
        assert_eq!(one.first_difference(two), None, "{what}, step {step}");
        let [one, two] = worlds.each_ref().map(|world| world.validate());
        assert_eq!((one, two), (Ok(()), Ok(())), "{what}, step {step}");
        for world in &mut worlds {
            world.step();
        }
    }
}

/// A sleeping body that is edited is what it would be if it had been woken before, bit for bit, and a refused edit does not wake it.
#[test]
fn an_edit_of_a_sleeping_body_is_that_of_the_woken() {
    let mut edits_done = 0;
    on_each(|world, body, of| {
        for (name, edit) in EDITS {
            let what = format!("{name}: {of}");
            let (mut asleep, mut awake) = (world.clone(), world.clone());
            awake.wake_body(body).unwrap();
            let done = edit(&mut asleep, body);
            assert_eq!(done, edit(&mut awake, body), "{what}");
            if done.is_err() {
                assert_eq!(asleep.state_hash(), world.state_hash(), "{what}");
                continue;
            }
            edits_done += 1;
            asleep.wake_body(body).unwrap();
            same([&mut asleep, &mut awake], body, &what);
        }
    });
    assert!(edits_done > 600, "{edits_done}");
}

/// A body that is edited while it is not enabled is what it would be if it had been enabled before.
#[test]
fn an_edit_of_a_disabled_body_is_that_of_the_enabled() {
    let mut edits_done = 0;
    on_each(|world, body, of| {
        for (name, edit) in EDITS {
            let what = format!("{name}: {of}");
            let mut worlds = [world.clone(), world.clone()];
            for world in &mut worlds {
                world.set_enabled(body, false).unwrap();
            }
            let [disabled, enabled] = &mut worlds;
            let done = edit(disabled, body);
            disabled.set_enabled(body, true).unwrap();
            enabled.set_enabled(body, true).unwrap();
            if done.is_err() {
                continue;
            }
            assert_eq!(edit(enabled, body), done, "{what}");
            enabled.set_enabled(body, true).unwrap();
            edits_done += 1;
            same([disabled, enabled], body, &what);
        }
    });
    assert!(edits_done > 400, "{edits_done}");
}

/// A world of two blocks on a floor, joined by a hinge with a motor that stands still and held by a target joint and a link.
struct Joined {
    world: World,
    blocks: [BodyHandle; 2],
    hinge: JointHandle,
    target: JointHandle,
    link: LinkHandle,
}

fn joined() -> Joined {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let blocks = [-1.0, 1.0].map(|x| {
        let desc = BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(x, 0.5));
        world.add_body(&desc).unwrap()
    });
    let [a, b] = blocks;
    let hinge = JointDesc::revolute(a, b, Vec2::X, -Vec2::X).with_motor(0.0, 3.0);
    let hinge = world.add_joint(&hinge).unwrap();
    let target = JointDesc::target(
        a,
        Vec2::ZERO,
        Vec2::new(-1.0, 0.5),
        Spring { hertz: 2.0, damping_ratio: 1.0 },
        20.0,
    );
    let target = world.add_joint(&target).unwrap();
    let link = world.add_link(&LinkDesc::distance(a, b, 2.0)).unwrap();
    steps(&mut world, 2);
    world.sleep_body(a).unwrap();
    steps(&mut world, 1);
    assert!(!world.is_awake(a).unwrap() && !world.is_awake(b).unwrap());
    Joined { world, blocks, hinge, target, link }
}

type JoinedEdit = (&'static str, fn(&mut World, &Joined) -> Result<(), Error>);

const JOINED_EDITS: [JoinedEdit; 12] = [
    ("set_motor_speed", |world, of| world.set_motor_speed(of.hinge, 1.0)),
    ("set_target", |world, of| world.set_target(of.target, Vec2::new(-1.0, 3.0))),
    ("disable", |world, of| world.enable_joint(of.hinge, false)),
    ("limit", |world, of| {
        let desc = world.joint(of.hinge)?.with_limit(0.1, 0.3);
        world.set_joint(of.hinge, &desc)
    }),
    ("spring", |world, of| {
        let desc = world.joint(of.hinge)?.with_spring(0.4, 3.0, 0.7);
        world.set_joint(of.hinge, &desc)
    }),
    ("stiffness", |world, of| {
        let desc =
            JointDesc { stiffness: Spring { hertz: 2.0, damping_ratio: 0.1 }, ..world.joint(of.hinge)? };
        world.set_joint(of.hinge, &desc)
    }),
    ("collide", |world, of| {
        let desc = JointDesc { collide_connected: true, ..world.joint(of.hinge)? };
        world.set_joint(of.hinge, &desc)
    }),
    ("remove_joint", |world, of| world.remove_joint(of.hinge)),
    ("add_joint", |world, of| {
        let [a, b] = of.blocks;
        world.add_joint(&JointDesc::revolute(b, a, Vec2::Y, 1.5 * Vec2::Y)).map(|_| ())
    }),
    ("set_link", |world, of| {
        let desc = LinkDesc { length: 1.5, ..world.link(of.link)? };
        world.set_link(of.link, &desc)
    }),
    ("remove_link", |world, of| world.remove_link(of.link)),
    ("add_link", |world, of| {
        let [a, b] = of.blocks;
        world.add_link(&LinkDesc::distance(a, b, 1.7)).map(|_| ())
    }),
];

/// A joint or link of sleeping bodies that is edited wakes them, and is what it would be if they had been woken before.
#[test]
fn an_edit_of_what_joins_sleeping_bodies_is_that_of_the_woken() {
    for (name, edit) in JOINED_EDITS {
        let joined = joined();
        let (mut asleep, mut awake) = (joined.world.clone(), joined.world.clone());
        awake.wake_body(joined.blocks[0]).unwrap();
        edit(&mut asleep, &joined).unwrap();
        edit(&mut awake, &joined).unwrap();
        assert!(asleep.is_awake(joined.blocks[1]).unwrap(), "{name} wakes nobody");
        for step in 0..30 {
            let differs = asleep.first_difference(&awake);
            assert_eq!(differs, None, "{name}, step {step}");
            steps(&mut asleep, 1);
            steps(&mut awake, 1);
        }
    }
}
