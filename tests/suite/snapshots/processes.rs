//! Contract: a snapshot that another process restores, with another instruction set and number of threads, goes on as the run that it was
//! taken from.

use super::saved;
use granule::scene::{self, Player, Scene};
use granule::{Isa, Settings, World, set_oversubscribe};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder in which one process leaves snapshots for the other.
const FOLDER: &str = "GRANULE_TEST_SNAPSHOTS";
/// The step after which the snapshot is taken, and how many follow.
const BEFORE: usize = 100;
const AFTER: usize = 60;

fn scenes() -> impl Iterator<Item = (&'static str, Scene)> {
    scene::BUILTIN.iter().map(|builtin| (builtin.name, scene::builtin(builtin.name, 200, 4).unwrap()))
}

fn snapshot_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.snapshot"))
}

/// The hashes after each of the steps that follow the snapshot, a line each.
fn hashes(world: &mut World, player: &mut Player) -> String {
    let hash = |_| {
        player.step(world);
        format!("{:016x}\n", world.state_hash())
    };
    (0..AFTER).map(hash).collect()
}

/// The part of the other process.
#[test]
fn restored_elsewhere() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    set_oversubscribe(true);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let isa = Isa::Portable;
    for (name, scene) in scenes() {
        // A player knows its step.
        let mut first = scene.build().unwrap();
        let mut player = Player::new(&scene, &first);
        (0..BEFORE).for_each(|_| player.step(&mut first));
        let mut world = World::new(Settings { isa, ..Settings::default() }).unwrap();
        world.restore(&std::fs::read(snapshot_of(&folder, name)).unwrap()).unwrap();
        assert_eq!(world.isa(), isa);
        let hashes = pool.install(|| hashes(&mut world, &mut player));
        std::fs::write(folder.join(name), hashes).unwrap();
    }
}

/// Every built-in scene, saved after 100 steps, has the same hash in each of 60 steps in a process of its own, at four lanes and three threads, as
/// where it was saved, at the best set and one thread.
#[test]
fn snapshots_go_on_in_another_process() {
    if std::env::var_os(FOLDER).is_some() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("granule-snapshots-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut expected = Vec::new();
    for (name, scene) in scenes() {
        let mut world = scene.build().unwrap();
        let mut player = Player::new(&scene, &world);
        (0..BEFORE).for_each(|_| player.step(&mut world));
        std::fs::write(snapshot_of(&folder, name), saved(&world)).unwrap();
        expected.push((name, hashes(&mut world, &mut player)));
    }
    let other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "snapshots::processes::restored_elsewhere", "--nocapture"])
        .env(FOLDER, &folder)
        .output()
        .unwrap();
    assert!(other.status.success(), "{}", String::from_utf8_lossy(&other.stderr));
    let found: Vec<_> = expected
        .iter()
        .map(|(name, _)| (*name, std::fs::read_to_string(folder.join(name)).unwrap()))
        .collect();
    std::fs::remove_dir_all(&folder).unwrap();
    for ((name, expected), (_, found)) in expected.iter().zip(&found) {
        let differs = expected.lines().zip(found.lines()).position(|(expected, found)| expected != found);
        assert!(differs.is_none() && expected.len() == found.len(), "{name} parts at step {differs:?}");
    }
}
