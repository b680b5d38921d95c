//! Replays the fuzz corpus: what once broke a target, or reached a corner, holds in every run of the tests.
#![cfg(feature = "scene")]

#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::path::Path;

/// Runs a target over its corpus, naming the file that breaks it; how many there were.
fn replay(target: &str, run: fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in &files {
        let data = std::fs::read(file).unwrap();
        if let Err(panic) = std::panic::catch_unwind(|| run(&data)) {
            eprintln!("{} breaks {target}", file.display());
            std::panic::resume_unwind(panic);
        }
    }
    files.len()
}

/// Every scene file of the corpus parses and runs, or is refused, without a panic.
#[test]
fn scene_files_replay() {
    assert!(replay("scene_file", targets::scene_file) >= 10);
}

/// Every world of the corpus is the same at lanes 1 and 8 after every step.
#[test]
fn worlds_replay() {
    assert!(replay("worlds", targets::worlds) >= 10);
}

/// Every linked world of the corpus is the same at lanes 1 and 8 after every step.
#[test]
fn links_replay() {
    assert!(replay("links", targets::links) >= 10);
}
