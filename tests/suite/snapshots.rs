//! Contract: a world that is restored from a snapshot goes on as the world that was saved, bit for bit; and bytes that are no snapshot
//! change nothing.

mod refused;

use granule::scene::{self, Player};
use granule::{Isa, Settings, World};

/// Saves a world.
pub fn saved(world: &World) -> Vec<u8> {
    let mut bytes = Vec::new();
    world.save(&mut bytes);
    bytes
}

/// Steps a world and one that was restored from it side by side. `name` says what they are.
fn assert_goes_on(name: &str, world: &mut World, player: &Player, restored: &mut World, steps: u32) {
    assert_eq!(restored.validate(), Ok(()), "{name}: restored");
    assert_eq!(restored.first_difference(world), None, "{name}: restored");
    let mut players = [player.clone(), player.clone()];
    for step in 1..=steps {
        players[0].step(world);
        players[1].step(restored);
        let difference = restored.first_difference(world);
        assert_eq!(difference, None, "{name}: step {step} after");
        assert_eq!(restored.state_hash(), world.state_hash(), "{name}: step {step} after");
        assert_eq!(restored.begin_events(), world.begin_events(), "{name}: step {step} after");
        assert_eq!(restored.end_events(), world.end_events(), "{name}: step {step} after");
        assert_eq!(restored.sleep_events(), world.sleep_events(), "{name}: step {step} after");
    }
    assert_eq!(saved(restored), saved(world), "{name}: the snapshots after {steps} steps");
}

/// Each built-in scene, saved at several steps, goes on as it was, on other instruction sets; the snapshot of the restored world is the
/// one that it was restored from.
#[test]
fn scenes_go_on() {
    let sets: Vec<Isa> = Isa::available().collect();
    for (number, builtin) in scene::BUILTIN.iter().enumerate() {
        let scene = scene::builtin(builtin.name, 150, 1).unwrap();
        let mut world = scene.build().unwrap();
        let mut player = Player::new(&scene, &world);
        for (turn, wait) in [0, 1, 7, 60, 61].into_iter().enumerate() {
            (0..wait).for_each(|_| player.step(&mut world));
            let snapshot = saved(&world);
            let isa = sets[(number + turn) % sets.len()];
            let mut restored = World::new(Settings { isa, ..Settings::default() }).unwrap();
            restored.restore(&snapshot).unwrap_or_else(|error| panic!("{}: {error}", builtin.name));
            assert_eq!(saved(&restored), snapshot, "{} after {wait} steps more", builtin.name);
            let mut from = World::from_snapshot(&snapshot).unwrap();
            assert_goes_on(builtin.name, &mut from, &player, &mut restored, 12);
            let mut original = world.clone();
            assert_eq!(saved(&original), snapshot, "{}: a clone", builtin.name);
            (0..12).for_each(|_| world.step());
            (0..12).for_each(|_| original.step());
            assert_eq!(world.first_difference(&original), None, "{}: a clone", builtin.name);
            assert_eq!(world.state_hash(), original.state_hash(), "{}: a clone", builtin.name);
            world = World::from_snapshot(&snapshot).unwrap();
        }
    }
}

/// The run that was saved goes on as if nothing had been saved, and the restored one with it, over hundreds of steps.
#[test]
fn long_runs_go_on() {
    for (name, bodies) in [("pile", 600), ("rain", 330), ("joint_grid", 100), ("washer", 300), ("junkyard", 300)] {
        let Some(scene) = scene::builtin(name, bodies, 2) else { continue };
        let mut world = scene.build().unwrap();
        let mut player = Player::new(&scene, &world);
        (0..100).for_each(|_| player.step(&mut world));
        let mut restored = World::from_snapshot(&saved(&world)).unwrap();
        assert_goes_on(name, &mut world, &player, &mut restored, 200);
    }
}
