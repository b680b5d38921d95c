//! `granule record` and `granule replay`.

use crate::command::{granule, refused, succeeds, temporary};
use std::fs;

/// Contract: a recording replays in another process with other threads and another instruction set; a recording that is cut off or
/// altered is bad input.
#[test]
fn recordings_replay() {
    let dir = temporary();
    let path = dir.path();
    let base = ["record", "rain", "--bodies", "66", "--steps", "50", "--warmup", "10", "--out", "run.rec"];
    let said = succeeds(path, &base);
    assert!(said.starts_with("recorded: 60 steps of rain, "), "{said}");
    let hash = said.split("hash ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a hash").to_owned();
    for arguments in [&["--threads", "2"][..], &["--isa", "scalar", "--threads", "1"], &["--isa", "portable"]]
    {
        let said = succeeds(path, &[&["replay", "run.rec"], arguments].concat());
        assert!(said.starts_with(&format!("identical: 60 steps, 60 hashes checked, hash {hash} ")), "{said}");
    }
    let json = succeeds(path, &["replay", "run.rec", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("one object");
    assert_eq!((json["identical"].as_bool(), json["state_hash"].as_str()), (Some(true), Some(&hash[..])));

    let whole = fs::read(path.join("run.rec")).expect("it was written");
    fs::write(path.join("short.rec"), &whole[..whole.len() - 1]).expect("a file");
    refused(path, &["replay", "short.rec"], "short.rec: recording, byte 24");
    let mut altered = whole.clone();
    altered[100] ^= 1;
    fs::write(path.join("altered.rec"), &altered).expect("a file");
    refused(path, &["replay", "altered.rec"], "altered.rec: recording, byte 16");
    refused(path, &["replay", "none.rec"], "none.rec: ");
    refused(path, &["record", "pile", "--out", "none/run.rec"], "--out none/run.rec: there is no directory");
    assert_eq!(granule(path, &["record", "pile"]).code, 2);
}
