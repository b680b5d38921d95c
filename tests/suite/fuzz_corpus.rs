//! Contract: every input of the fuzz corpus, some of which once broke a target or reached a corner, passes in every run
//! of the tests.
#![cfg(feature = "scene")]

#[path = "../../fuzz/src/lib.rs"]
pub mod targets;

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the files of a folder and of its subfolders, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Runs a target over its corpus, and names the file that breaks it. Returns the number of files.
fn replay(target: &str, run: fn(&[u8])) -> usize {
    let files = files(&root().join("fuzz/corpus").join(target));
    for file in &files {
        let data = std::fs::read(file).unwrap();
        if let Err(panic) = std::panic::catch_unwind(|| run(&data)) {
            eprintln!("{} breaks {target}", file.display());
            std::panic::resume_unwind(panic);
        }
    }
    files.len()
}

/// Every scene file of the corpus either parses and runs or is refused, without a panic.
#[test]
fn scene_files_replay() {
    assert!(replay("scene_file", targets::scene_file) >= 10);
}

/// Every world of the corpus is valid after every call, keeps the laws, and is the same on every instruction set.
#[test]
fn worlds_replay() {
    let count = replay("worlds", |data| {
        // The second byte chooses the set that is compared with the scalar one.
        let mut data = data.to_vec();
        let sets = if data.len() < 2 { 1 } else { granule::Isa::available().count() - 1 };
        for set in 0..sets {
            if let Some(byte) = data.get_mut(1) {
                *byte = set as u8;
            }
            targets::worlds(&data);
        }
    });
    assert!(count >= 10);
}

/// Every world of the corpus is the same if it is saved and restored after every call.
#[test]
fn worlds_replay_with_snapshots() {
    assert!(replay("worlds", targets::snapshots) >= 10);
}

/// Every snapshot of the corpus that somebody made up is refused or does no harm.
#[test]
fn made_up_snapshots_replay() {
    assert!(replay("made_up", targets::made_up) >= 1);
}

/// The fuzz target calls every public function of `World`, so that new functions are fuzzed too.
#[test]
fn every_public_function_is_fuzzed() {
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let fuzzed: String = files(&root().join("fuzz/src")).iter().map(read).collect();
    let mut functions = Vec::new();
    for source in files(&root().join("src")).iter().map(read) {
        for block in source.split("\nimpl World {").skip(1) {
            let block = block.split("\n}\n").next().unwrap();
            let names =
                block.split("\n    pub fn ").skip(1).map(|rest| rest.split(['(', '<']).next().unwrap());
            functions.extend(names.map(str::to_owned));
        }
    }
    assert!(functions.len() >= 60, "only {functions:?} were found");
    // `plant_fault` plants a defect on purpose.
    functions.retain(|name| name != "plant_fault");
    functions
        .retain(|name| !fuzzed.contains(&format!(".{name}(")) && !fuzzed.contains(&format!("::{name}(")));
    assert!(functions.is_empty(), "no fuzz target calls {functions:?}");
}
