//! What the fuzz targets do with their bytes. The targets call these functions, and so does
//! `tests/suite/fuzz_corpus.rs`, which replays the corpus in every run of the tests.
//!
//! An execution is small, so that there are thousands a second: some bodies, some steps, and after every call all that
//! can be asked of a world (`World::validate`, `read.rs`), and after every step what mechanics says of it (`laws.rs`).

mod bytes;
mod describe;
mod edits;
mod events;
mod joints;
mod known;
mod laws;
mod machine;
mod queries;
mod read;
mod snapshots;

pub use machine::worlds;
pub use snapshots::{made_up, snapshots};

/// Largest scene that is built: a longer one only costs time.
const MOST_SCENE_BODIES: usize = 64;
const MOST_SCENE_LINKS: usize = 128;
const MOST_SCENE_JOINTS: usize = 128;

/// Bytes → scene file → world → some steps. No input may panic, and whatever is accepted stays a world.
pub fn scene_file(data: &[u8]) {
    let Ok(mut scene) = granule::scene::Scene::from_json(data) else { return };
    if scene.bodies.len() > MOST_SCENE_BODIES
        || scene.links.len() > MOST_SCENE_LINKS
        || scene.joints.len() > MOST_SCENE_JOINTS
    {
        return;
    }
    // A step of 1,024 substeps is legal and slow: the same code in fewer.
    scene.settings.substeps = scene.settings.substeps.min(4);
    scene.settings.iterations = scene.settings.iterations.min(4);
    scene.settings.link_iterations = scene.settings.link_iterations.min(4);
    let mut world = scene.build().expect("a scene that was accepted");
    read::validate(&world);
    for _ in 0..4 {
        world.step();
        read::validate(&world);
        read::read(&world);
        joints::read_columns(&mut world);
    }
    // What was read can be written, and is the same when it is read again.
    let text = scene.to_json().expect("a scene that was read");
    let again = granule::scene::Scene::from_json(text.as_bytes()).expect("a scene that was written");
    assert_eq!(again.to_json().expect("the same scene"), text);
}
