//! Snapshots, differences and recordings of random worlds.

use super::bytes::Bytes;
use super::machine::Machine;
use super::read::validate;
use granule::{Isa, Recording, World};

/// A world that is saved and restored after each operation does the same as one that is not; and what was done to both can be done again
/// from a recording.
pub fn snapshots(data: &[u8]) {
    let mut bytes = Bytes(data);
    let mut machine = Machine::new(&mut bytes);
    machine.restores = true;
    machine.worlds.iter_mut().for_each(|world| world.start_recording(1));
    machine.run(&mut bytes);
    for world in &mut machine.worlds {
        let file = world.stop_recording().expect("a recording").to_bytes();
        let recording = Recording::from_bytes(&file).expect("a recording that was written");
        let replay = recording.replay(Isa::Scalar).expect("a recording that was read");
        // Hooks are code of the host, which a recording does not hold.
        if machine.had_hooks {
            continue;
        }
        assert_eq!(replay.mismatch, None);
        assert_eq!(replay.world.state_hash(), world.state_hash());
    }
}

/// Restores a world from its own snapshot, in one of three ways.
pub(super) fn restore_itself(world: &mut World, way: usize) {
    let (mut snapshot, mut again) = (Vec::new(), Vec::new());
    world.save(&mut snapshot);
    match way % 3 {
        0 => {
            world.restore(&snapshot).expect("a world's own snapshot");
            validate(world);
            world.save(&mut again);
            assert!(snapshot == again, "a snapshot of a restored world is another one");
        }
        1 => {
            world.clone().save(&mut again);
            assert!(snapshot == again, "a snapshot of a clone is another one");
        }
        _ => {
            let from = World::from_snapshot(&snapshot).expect("a world's own snapshot");
            from.diff(&snapshot, &mut again).expect("a base");
            world.apply_diff(&snapshot, &again).expect("no difference");
        }
    }
}

/// Snapshots of which some bytes are others, with a checksum that fits: they are refused, or make a world that goes on without a panic.
pub fn made_up(data: &[u8]) {
    const SCENES: [&str; 10] = [
        "pile",
        "ragdolls",
        "soft_boxes",
        "rain",
        "cars",
        "gears",
        "mixed_shapes",
        "junkyard",
        "cloth",
        "smash",
    ];
    let mut bytes = Bytes(data);
    let scene = granule::scene::builtin(SCENES[bytes.below(SCENES.len())], 12 + bytes.below(16), 1);
    let mut world = scene.expect("a built-in scene").build().expect("a scene that is not refused");
    (0..bytes.below(24)).for_each(|_| world.step());
    if bytes.byte() & 1 == 1 {
        let bodies = world.columns().handle.to_vec();
        bodies.into_iter().for_each(|body| drop(world.sleep_body(body)));
    }
    // What waits for the next step is in a snapshot, too.
    match bytes.byte() % 4 {
        0 => drop(world.remove_body(world.columns().handle[bytes.below(8)])),
        1 => drop(world.set_position(world.columns().handle[bytes.below(8)], bytes.vector())),
        _ => {}
    }
    let mut snapshot = Vec::new();
    world.save(&mut snapshot);
    let length = snapshot.len() - 32;
    for _ in 0..1 + bytes.below(4) {
        let place = u32::from_le_bytes([bytes.byte(), bytes.byte(), bytes.byte(), 0]) as usize;
        snapshot[32 + place % length] = bytes.byte();
    }
    granule::reseal_snapshot(&mut snapshot);
    if world.restore(&snapshot).is_ok() {
        (0..3).for_each(|_| world.step());
        let _numbers = (world.state_hash(), world.contacts().count(), world.quality(), world.island_count());
    }
}
