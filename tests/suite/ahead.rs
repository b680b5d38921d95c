//! Contract: what a step finds ahead for the next list has no effect on results.

use granule::{BodyDesc, BodyHandle, Settings, Vec2, World, scene};
use proptest::prelude::*;

/// Scenes in which lists are made often: with shapes that turn, compounds, particles, joints, sleep, fast bodies.
const SCENES: [(&str, usize); 7] = [
    ("pile", 300),
    ("tumbler", 200),
    ("junkyard", 200),
    ("gas", 400),
    ("mixed_shapes", 300),
    ("ragdolls", 300),
    ("cars", 60),
];

/// What a host does between two steps.
#[derive(Clone, Debug)]
enum Deed {
    Nothing,
    Push(prop::sample::Index, Vec2),
    Twist(prop::sample::Index, f32),
    Drive(prop::sample::Index, f32),
    Launch(prop::sample::Index, Vec2),
    Place(prop::sample::Index, Vec2),
    Wake(prop::sample::Index),
    Sleep(prop::sample::Index),
    Remove(prop::sample::Index),
    Ruin(prop::sample::Index),
    Add(prop::sample::Index, Vec2),
    Save,
}

fn deed() -> impl Strategy<Value = Deed> {
    let vector = || (-30.0f32..30.0, -30.0f32..30.0).prop_map(|(x, y)| Vec2::new(x, y));
    let which = any::<prop::sample::Index>;
    prop_oneof![
        12 => Just(Deed::Nothing),
        4 => (which(), vector()).prop_map(|(which, force)| Deed::Push(which, force)),
        2 => (which(), -5.0f32..5.0).prop_map(|(which, torque)| Deed::Twist(which, torque)),
        1 => (which(), -5.0f32..5.0).prop_map(|(which, speed)| Deed::Drive(which, speed)),
        1 => (which(), vector()).prop_map(|(which, velocity)| Deed::Launch(which, velocity)),
        1 => (which(), vector()).prop_map(|(which, by)| Deed::Place(which, 0.05 * by)),
        1 => which().prop_map(Deed::Wake),
        1 => which().prop_map(Deed::Sleep),
        1 => which().prop_map(Deed::Remove),
        1 => which().prop_map(Deed::Ruin),
        1 => (which(), vector()).prop_map(|(which, by)| Deed::Add(which, 0.1 * by)),
        1 => Just(Deed::Save),
    ]
}

fn act(world: &mut World, bodies: &mut Vec<BodyHandle>, deed: &Deed) {
    let body = |which: &prop::sample::Index| bodies[which.index(bodies.len())];
    match *deed {
        Deed::Nothing => {}
        Deed::Push(ref which, force) => drop(world.apply_force(body(which), force)),
        // It is quarantined.
        Deed::Ruin(ref which) => drop(world.apply_force(body(which), Vec2::splat(World::MAX_FORCE))),
        Deed::Twist(ref which, torque) => drop(world.apply_torque(body(which), torque)),
        Deed::Drive(ref which, speed) => {
            let joints: Vec<_> = world.joints().map(|(joint, _)| joint).collect();
            if !joints.is_empty() {
                // Refused where there is no motor.
                let _ = world.set_motor_speed(joints[which.index(joints.len())], speed);
            }
        }
        Deed::Launch(ref which, velocity) => drop(world.set_velocity(body(which), velocity)),
        Deed::Place(ref which, by) => {
            let body = body(which);
            let at = world.body(body).unwrap().position;
            let _ = world.set_position(body, at + by);
        }
        Deed::Wake(ref which) => drop(world.wake_body(body(which))),
        Deed::Sleep(ref which) => drop(world.sleep_body(body(which))),
        Deed::Remove(ref which) => {
            if bodies.len() > 1 {
                let body = bodies.swap_remove(which.index(bodies.len()));
                world.remove_body(body).unwrap();
            }
        }
        Deed::Add(ref which, by) => {
            let at = world.body(body(which)).unwrap().position;
            let shape = granule::Shape::oriented_box(0.2, 0.1);
            bodies.push(world.add_body(&BodyDesc::dynamic(shape, at + by)).unwrap());
        }
        Deed::Save => {
            let mut snapshot = Vec::new();
            world.save(&mut snapshot);
            *world = World::from_snapshot(&snapshot).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A world takes the same steps as one that finds nothing ahead, because its host calls it before each step.
    #[test]
    fn what_is_found_ahead_changes_nothing(
        scene in 0..SCENES.len(),
        sleep: bool,
        deeds in prop::collection::vec(deed(), 30..60),
    ) {
        let (name, bodies) = SCENES[scene];
        let mut scene = scene::builtin(name, bodies, 1).unwrap();
        scene.settings = Settings { sleep, ..scene.settings };
        let mut worlds = [scene.build().unwrap(), scene.build().unwrap()];
        let mut handles = worlds.each_ref().map(|world| world.handles().collect::<Vec<_>>());
        for (step, deed) in deeds.iter().enumerate() {
            for (world, handles) in worlds.iter_mut().zip(&mut handles) {
                act(world, handles, deed);
            }
            // A call that adds nothing, and that could have added a body. (One that sets what was set before would begin the rest of the body anew.)
            worlds[1].add_bodies(&[]).unwrap();
            worlds.iter_mut().for_each(World::step);
            prop_assert_eq!(worlds[0].state_hash(), worlds[1].state_hash(), "{}, step {}, {:?}", name, step, deed);
            prop_assert_eq!(worlds[0].validate(), Ok(()));
        }
    }
}

/// A push and a motor's new speed leave the list that was found ahead as it is, and begin the rest of their bodies anew.
#[test]
fn pushes_begin_rest_anew_in_lists_found_ahead() {
    for (name, bodies) in [("pile", 300), ("cars", 60)] {
        let mut scene = scene::builtin(name, bodies, 1).unwrap();
        // So slow that all rests from the first step on.
        scene.settings =
            Settings { sleep: true, sleep_threshold: 100.0, time_to_sleep: 10.0, ..scene.settings };
        let mut worlds = [scene.build().unwrap(), scene.build().unwrap()];
        let handles: Vec<_> = worlds[0].handles().collect();
        let joints: Vec<_> = worlds[0].joints().map(|(joint, _)| joint).collect();
        for step in 0..120 {
            for world in &mut worlds {
                let _ = world.apply_force(handles[(7 * step) % handles.len()], Vec2::new(0.0, 1.0e-3));
                if !joints.is_empty() {
                    let _ = world.set_motor_speed(joints[step % joints.len()], 0.1);
                }
            }
            worlds[1].add_bodies(&[]).unwrap();
            worlds.iter_mut().for_each(World::step);
            assert_eq!(worlds[0].state_hash(), worlds[1].state_hash(), "{name}, step {step}");
        }
    }
}
