//! Contract: a world that is restored from a snapshot goes on as the world that was saved, bit for bit; and bytes that are no snapshot
//! change nothing.

mod features;
mod processes;
mod random;
mod records;
mod refused;
mod sizes;

use granule::scene::{self, Player};
use granule::{Isa, Settings, World};

/// Saves a world.
pub fn saved(world: &World) -> Vec<u8> {
    let mut bytes = Vec::new();
    world.save(&mut bytes);
    bytes
}

/// Asserts that two snapshots are the same. Says where they part, and not all of their bytes.
pub fn assert_same(one: &[u8], other: &[u8], name: &str) {
    // The checksum is in the header.
    let part = (24..one.len().min(other.len())).find(|&at| one[at] != other[at]);
    assert!(
        one == other,
        "{name}: snapshots of {} and {} bytes part at byte {part:?}",
        one.len(),
        other.len()
    );
}

/// Steps a world and one that was restored from it side by side. `name` says what they are.
fn assert_goes_on(name: &str, world: &mut World, player: &mut Player, restored: &mut World, steps: u32) {
    assert_eq!(restored.validate(), Ok(()), "{name}: restored");
    assert_eq!(restored.first_difference(world), None, "{name}: restored");
    let mut other = player.clone();
    for step in 1..=steps {
        player.step(world);
        other.step(restored);
        let difference = restored.first_difference(world);
        assert_eq!(difference, None, "{name}: step {step} after");
        assert_eq!(restored.state_hash(), world.state_hash(), "{name}: step {step} after");
        assert_eq!(restored.begin_events(), world.begin_events(), "{name}: step {step} after");
        assert_eq!(restored.end_events(), world.end_events(), "{name}: step {step} after");
        assert_eq!(restored.sleep_events(), world.sleep_events(), "{name}: step {step} after");
        // The restored world has found no pairs ahead for its first step. Later both have.
        if step == 1 && restored.isa() == world.isa() {
            assert_same(&saved(restored), &saved(world), &format!("{name}: a step after"));
        }
    }
    if restored.isa() == world.isa() {
        assert_same(&saved(restored), &saved(world), &format!("{name}: {steps} steps after"));
    }
}

/// Each built-in scene, saved at several steps, goes on as it was, on other instruction sets; the snapshot of the restored world is the
/// one that it was restored from. A clone goes on, too.
#[test]
fn scenes_go_on() {
    let sets: Vec<Isa> = Isa::available().collect();
    let mut faults = Vec::new();
    for (number, builtin) in scene::BUILTIN.iter().enumerate() {
        let goes_on = || {
            let scene = scene::builtin(builtin.name, 150, 1).unwrap();
            let mut world = scene.build().unwrap();
            let mut player = Player::new(&scene, &world);
            for (turn, wait) in [0, 1, 7, 60, 61].into_iter().enumerate() {
                let name = format!("{}, turn {turn}", builtin.name);
                (0..wait).for_each(|_| player.step(&mut world));
                let snapshot = saved(&world);
                let isa = sets[(number + turn) % sets.len()];
                let mut restored = World::new(Settings { isa, ..Settings::default() }).unwrap();
                restored.restore(&snapshot).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_same(&saved(&restored), &snapshot, &name);
                let mut clone = world.clone();
                assert_same(&saved(&clone), &snapshot, &name);
                let mut other = player.clone();
                assert_goes_on(&name, &mut world, &mut player, &mut restored, 12);
                (0..12).for_each(|_| other.step(&mut clone));
                assert_eq!(world.first_difference(&clone), None, "{name}: a clone");
            }
        };
        if std::panic::catch_unwind(goes_on).is_err() {
            faults.push(builtin.name);
        }
    }
    assert!(faults.is_empty(), "{faults:?} do not go on");
}

/// The run that was saved goes on as if nothing had been saved, and the restored one with it, over hundreds of steps.
#[test]
fn long_runs_go_on() {
    for (name, bodies) in
        [("pile", 600), ("rain", 330), ("joint_grid", 100), ("washer", 300), ("junkyard", 300)]
    {
        let Some(scene) = scene::builtin(name, bodies, 2) else { continue };
        let mut world = scene.build().unwrap();
        let mut player = Player::new(&scene, &world);
        (0..100).for_each(|_| player.step(&mut world));
        let mut restored = World::from_snapshot(&saved(&world)).unwrap();
        assert_goes_on(name, &mut world, &mut player, &mut restored, 200);
    }
}
