//! `granule sweep` and `granule merge`: every cell once, whenever it is stopped and however it is split up.

use crate::command::{Run, files, granule, made_up, refused, succeeds, temporary, write_lines};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Twelve cells that take a few milliseconds each.
const GRID: &[&str] = &[
    "sweep",
    "--scenes",
    "packed,gas",
    "--bodies",
    "20,30,40",
    "--threads",
    "1",
    "--repeats",
    "2",
    "--warmup",
    "1",
    "--steps",
    "3",
];

fn sweep(dir: &Path, options: &[&str]) -> Run {
    granule(dir, &[GRID, options].concat())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the records");
    assert!(text.is_empty() || text.ends_with('\n'), "{}", path.display());
    text.lines().map(|line| serde_json::from_str(line).expect("a line is a record")).collect()
}

/// The cells of a file, as text; none twice.
fn cells(path: &Path) -> BTreeSet<String> {
    let all: Vec<String> = lines(path).iter().map(|record| record["cell"].to_string()).collect();
    let once: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(once.len(), all.len(), "a cell twice");
    once
}

/// The cells that `--list` prints, without their index, which counts from 0.
fn listed(dir: &Path) -> BTreeSet<String> {
    let text = succeeds(dir, &[GRID, &["--list"]].concat());
    let cell = |(index, line): (usize, &str)| {
        let mut cell: Value = serde_json::from_str(line).expect("a line is an object");
        assert_eq!(cell.as_object_mut().expect("an object").remove("index"), Some(index.into()));
        cell.to_string()
    };
    text.lines().enumerate().map(cell).collect()
}

/// Each cell of the grid is a record that says what was asked for and was run so; they are in a shuffled order that
/// the seed decides.
#[test]
fn every_cell_is_a_record() {
    let dir = temporary();
    let path = dir.path().join("all.jsonl");
    let run = sweep(dir.path(), &["--out", "all.jsonl"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(run.out, "all.jsonl: 12 records written, 0 failed\n");
    assert_eq!(cells(&path), listed(dir.path()));
    assert_eq!(cells(&path).len(), 12);
    for record in lines(&path) {
        for key in ["scene", "bodies", "threads", "steps", "warmup", "seed"] {
            assert_eq!(record[key], record["cell"][key], "{key}");
        }
        assert_eq!(record["schema"], "granule.run/1");
    }
    let order = |name: &str| -> Vec<String> {
        lines(&dir.path().join(name)).iter().map(|record| record["cell"].to_string()).collect()
    };
    assert!(!order("all.jsonl").is_sorted(), "the order is that of the grid");
    sweep(dir.path(), &["--out", "again.jsonl"]);
    assert_eq!(order("again.jsonl"), order("all.jsonl"));
}

/// A record's peak memory is that of its own run, whichever ran before.
#[test]
fn memory_is_of_the_cell_alone() {
    let dir = temporary();
    let arguments =
        ["sweep", "--scenes", "packed", "--bodies", "20,80000", "--repeats", "2", "--warmup", "0"];
    succeeds(dir.path(), &[&arguments[..], &["--steps", "1", "--out", "memory.jsonl"]].concat());
    let records = lines(&dir.path().join("memory.jsonl"));
    let peaks = |bodies: u64| -> Vec<u64> {
        let of = records.iter().filter(|record| record["bodies"] == bodies);
        of.map(|record| record["peak_rss_bytes"].as_u64().expect("bytes")).collect()
    };
    let (small, large) = (peaks(20), peaks(80_000));
    assert!(small.iter().max() < large.iter().min(), "{small:?} {large:?}");
}

/// Cut anywhere, a sweep's file is gone on with: the torn line is named and dropped, whole ones stay as they are, and
/// in the end every cell is there once.
#[test]
fn resumed_after_any_cut() {
    let dir = temporary();
    let path = dir.path().join("cut.jsonl");
    assert_eq!(sweep(dir.path(), &["--out", "cut.jsonl"]).code, 0);
    let whole = fs::read(&path).expect("the records");
    let ends: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    let (first, last) = (ends[0], whole.len());
    for (length, torn) in [
        (0, false),
        (5, true),
        (first - 1, false),
        (first, false),
        (ends[7] + 1, true),
        (last - 3, true),
        (last, false),
    ] {
        fs::write(&path, &whole[..length]).expect("written");
        let run = sweep(dir.path(), &["--out", "cut.jsonl", "--resume"]);
        assert_eq!(run.code, 0, "{length}: {}", run.err);
        let kept = ends.iter().filter(|end| **end <= length + 1).count();
        let expected = format!("cut.jsonl: {} records written, {kept} were there, 0 failed\n", 12 - kept);
        assert_eq!(run.out, expected, "{length}");
        let named = format!("granule: cut.jsonl:{}: torn, and dropped", kept + 1);
        assert_eq!(run.err.starts_with(&named), torn, "{length}: {}", run.err);
        assert_eq!(run.err.is_empty(), !torn, "{length}: {}", run.err);
        assert_eq!(cells(&path), listed(dir.path()), "{length}");
        let kept_length = if kept == 0 { 0 } else { ends[kept - 1] };
        assert_eq!(fs::read(&path).expect("read")[..kept_length], whole[..kept_length], "{length}");
    }
    // A file that is not there yet is begun, so that a job may say --resume always.
    assert_eq!(sweep(dir.path(), &["--out", "new.jsonl", "--resume"]).code, 0);
}

/// Killed at any time, it leaves a file of whole records, with which it goes on.
#[test]
fn killed_and_resumed() {
    let dir = temporary();
    let path = dir.path().join("killed.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_granule"))
        .args([GRID, &["--out", "killed.jsonl"]].concat())
        .current_dir(dir.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("the command starts");
    let begin = Instant::now();
    while fs::read(&path).is_ok_and(|bytes| bytes.is_empty()) || !path.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no record");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("the command is killed");
    child.wait().expect("the command ends");
    assert!(!cells(&path).is_empty());
    assert_eq!(sweep(dir.path(), &["--out", "killed.jsonl", "--resume"]).code, 0);
    assert_eq!(cells(&path), listed(dir.path()));
}

/// A file that is there is never written to unasked, and one that is no sweep's never at all.
#[test]
fn files_that_are_there() {
    let dir = temporary();
    for (name, content) in [("mine.txt", "mine\n"), ("torn.txt", "mine"), ("other.json", "{\"a\":1}\n")] {
        fs::write(dir.path().join(name), content).expect("written");
        refused(dir.path(), &[GRID, &["--out", name]].concat(), &format!("--out {name}: already there"));
        let resumed = [GRID, &["--out", name, "--resume"]].concat();
        refused(dir.path(), &resumed, &format!("{name}:1: no record; --resume goes on with a sweep's file"));
        assert_eq!(fs::read_to_string(dir.path().join(name)).expect("read"), content);
    }
}

/// The parts of `--index I --of N` are disjoint and together the grid, and merging them gives it; `--index` alone is
/// that cell of `--list`.
#[test]
fn job_arrays() {
    let dir = temporary();
    for index in ["0", "1", "2"] {
        let out = format!("part{index}.jsonl");
        let run = sweep(dir.path(), &["--index", index, "--of", "3", "--out", &out]);
        assert_eq!((run.code, run.out), (0, format!("{out}: 4 records written, 0 failed\n")));
    }
    let parts = ["merge", "all.jsonl", "part0.jsonl", "part1.jsonl", "part2.jsonl"];
    assert_eq!(succeeds(dir.path(), &parts), "all.jsonl: records 12, duplicates dropped 0, skipped 0\n");
    assert_eq!(cells(&dir.path().join("all.jsonl")), listed(dir.path()));
    assert_eq!(sweep(dir.path(), &["--index", "5", "--out", "five.jsonl"]).code, 0);
    let five = cells(&dir.path().join("five.jsonl"));
    let list = succeeds(dir.path(), &[GRID, &["--index", "5", "--list"]].concat());
    assert!(five.len() == 1 && list.starts_with("{\"index\":5,") && list.lines().count() == 1, "{list}");
    assert!(listed(dir.path()).is_superset(&five));
    refused(
        dir.path(),
        &[GRID, &["--index", "12", "--out", "x"]].concat(),
        "--index 12: the grid has 12 cells",
    );
    refused(
        dir.path(),
        &[GRID, &["--index", "3", "--of", "3", "--out", "x"]].concat(),
        "--index 3: not below --of 3",
    );
    refused(dir.path(), &[GRID, &["--of", "3", "--out", "x"]].concat(), "the following required arguments");
}

/// A cell that fails is named with the reason and counted, the others are run, and the exit code is 1; going on runs
/// it again.
#[test]
fn failing_cells() {
    let dir = temporary();
    fs::write(dir.path().join("bad.json"), "{\"bodies\":7}").expect("written");
    let arguments = ["sweep", "--scenes", "bad.json,gas", "--repeats", "2", "--warmup", "0", "--steps", "1"];
    let arguments = [&arguments[..], &["--out", "some.jsonl", "--resume"]].concat();
    let run = granule(dir.path(), &arguments);
    assert_eq!((run.code, run.out.as_str()), (1, "some.jsonl: 2 records written, 0 were there, 2 failed\n"));
    let mut said: Vec<&str> = run.err.lines().collect();
    assert_eq!(said.pop(), Some("granule: sweep: 2 of 4 cells failed"));
    said.sort_unstable();
    for (index, line) in said.iter().enumerate() {
        let start = format!("granule: cell {index} (bad.json, repeat {index}): bad.json: line 1 column 11: ");
        assert!(line.starts_with(&start), "{line}");
    }
    assert_eq!(said.len(), 2);
    fs::write(dir.path().join("bad.json"), "{\"bodies\":[{\"shape\":{\"circle\":{\"radius\":1}}}]}")
        .expect("written");
    let run = granule(dir.path(), &arguments);
    assert_eq!((run.code, run.out.as_str()), (0, "some.jsonl: 2 records written, 2 were there, 0 failed\n"));
}

/// Contract: two lane widths that are one instruction set on this processor are not two cells.
#[test]
fn widths_are_told_apart() {
    let dir = temporary();
    let all = [1_usize, 4, 8, 16];
    let isa = |lanes: usize| granule::Isa::with_lanes(lanes).expect("a number of lanes");
    for (place, &one) in all.iter().enumerate() {
        for &two in &all[place + 1..] {
            let lanes = format!("{one},{two}");
            let arguments = ["sweep", "--scenes", "gas", "--bodies", "20", "--warmup", "0", "--steps", "1"];
            let out = format!("{one}-{two}.jsonl");
            let arguments = [&arguments[..], &["--lanes", &lanes, "--out", &out]].concat();
            if isa(one) == isa(two) {
                let expected = format!("--lanes {lanes}: on this processor both are {}; it has ", isa(two));
                refused(dir.path(), &arguments, &expected);
                assert!(!dir.path().join(out).exists());
            } else {
                succeeds(dir.path(), &arguments);
                let mut ran: Vec<u64> = lines(&dir.path().join(out))
                    .iter()
                    .map(|record| record["lanes"].as_u64().expect("a number of lanes"))
                    .collect();
                ran.sort_unstable();
                assert_eq!(ran, [isa(one).lanes() as u64, isa(two).lanes() as u64]);
            }
        }
    }
}

/// Bad usage is found before the first run: exit code 2, one line, nothing written.
#[test]
fn bad_usage() {
    let dir = temporary();
    fs::write(dir.path().join("one.json"), "{}").expect("written");
    let cases: &[(&[&str], &str)] = &[
        (&["--scenes", "packed,piel"], "--scenes piel: neither a scene file nor one of pile, "),
        (&["--scenes", "one.json", "--bodies", "5"], "--bodies: one.json is a scene file and has its own"),
        (&["--bodies", "1,none"], "invalid value 'none' for '--bodies <N,…>'"),
        (&["--lanes", "1,3"], "invalid value '3' for '--lanes <L,…>': the lane width is 1, 4, 8 or 16"),
        (&["--threads", "0"], "invalid value '0' for '--threads <T,…>'"),
        (&["--repeats", "0"], "invalid value '0' for '--repeats <R>'"),
        (&["--out", "no/x.jsonl"], "--out no/x.jsonl: there is no directory no"),
    ];
    for (arguments, expected) in cases {
        let out: &[&str] = if arguments[0] == "--out" { &[] } else { &["--out", "x.jsonl"] };
        refused(dir.path(), &[&["sweep"], *arguments, out].concat(), expected);
    }
    refused(dir.path(), &["sweep"], "the following required arguments were not provided: --out <FILE.jsonl>");
    assert_eq!(files(dir.path()), ["one.json"]);
}

/// Merging sorts, drops exact duplicates, keeps fields that this version does not know, names what is bad, takes
/// records, lines and directories, and never replaces a file unasked.
#[test]
fn merge() {
    let dir = temporary();
    let path = dir.path();
    let mut known = made_up("pile", &[1.0]);
    known["future"] = serde_json::json!({"field": [1, 2]});
    write_lines(&path.join("b.jsonl"), &[known.clone(), made_up("gas", &[2.0]), known.clone()]);
    fs::create_dir(path.join("records")).expect("a directory");
    // The same record over several lines, as an editor leaves it.
    fs::write(
        path.join("records/a.json"),
        serde_json::to_string_pretty(&made_up("arch", &[1.0])).expect("JSON"),
    )
    .expect("written");
    write_lines(&path.join("records/b.jsonl"), &[made_up("gas", &[2.0])]);
    fs::write(path.join("records/c.json"), "{\"schema\":\"granule.run/1\"").expect("written");
    fs::write(path.join("records/peers.json"), "{\"schema\":\"granule.peers/1\"}").expect("written");
    let run = granule(path, &["merge", "out.jsonl", "b.jsonl", "records"]);
    assert_eq!(run.out, "out.jsonl: records 3, duplicates dropped 2, skipped 1\n");
    assert_eq!((run.code, run.err.as_str()), (0, "granule: skipped records/c.json: truncated, or empty\n"));
    let merged = lines(&path.join("out.jsonl"));
    assert_eq!(merged, [made_up("arch", &[1.0]), made_up("gas", &[2.0]), known]);

    let before = fs::read(path.join("out.jsonl")).expect("read");
    refused(path, &["merge", "out.jsonl", "b.jsonl"], "OUT out.jsonl: already there; --force replaces it");
    assert_eq!(fs::read(path.join("out.jsonl")).expect("read"), before);
    let again = ["merge", "out.jsonl", "out.jsonl", "b.jsonl", "--force"];
    assert_eq!(succeeds(path, &again), "out.jsonl: records 3, duplicates dropped 3, skipped 0\n");
    assert_eq!(fs::read(path.join("out.jsonl")).expect("read"), before);
    refused(path, &["merge", "none.jsonl", "records/c.json"], "merge: there is no record");
    refused(path, &["merge", "none.jsonl", "nowhere"], "nowhere: No such file");
    assert_eq!(files(path), ["b.jsonl", "out.jsonl", "records"], "nothing is left aside");
}

/// `--isa` is an axis as the others: each set that the processor has is a cell, and the record says that it ran. `auto` is one of them, so
/// that it stands alone; and a set is a lane width, so that `--lanes` is not given beside it.
#[test]
fn sets_are_cells() {
    let dir = temporary();
    let base = ["sweep", "--scenes", "gas", "--bodies", "20", "--warmup", "0", "--steps", "1"];
    let sets: Vec<&str> = granule::Isa::available().map(granule::Isa::name).collect();
    let list = sets.join(",");
    succeeds(dir.path(), &[&base[..], &["--isa", &list, "--out", "sets.jsonl"]].concat());
    let records = lines(&dir.path().join("sets.jsonl"));
    let ran: BTreeSet<&str> = records.iter().map(|record| record["isa"].as_str().expect("a set")).collect();
    assert_eq!(ran, sets.iter().copied().collect());
    assert!(records.iter().all(|record| record["isa"] == record["cell"]["isa"]));
    assert_eq!(
        records.iter().map(|record| &record["state_hash"]).collect::<Vec<_>>(),
        vec![&records[0]["state_hash"]; sets.len()]
    );
    let with_auto = format!("auto,{}", sets[0]);
    let refuse = |options: &[&str], expected: &str| {
        refused(dir.path(), &[&base[..], options, &["--out", "none.jsonl"]].concat(), expected);
        assert!(!dir.path().join("none.jsonl").exists());
    };
    refuse(&["--isa", &with_auto], &format!("--isa {with_auto}: auto is one of {}", sets.join(", ")));
    refuse(
        &["--isa", "mmx"],
        "invalid value 'mmx' for '--isa <ISA,…>': an instruction set is auto, scalar, portable",
    );
    refuse(
        &["--isa", sets[0], "--lanes", "1"],
        "the argument '--isa <ISA,…>' cannot be used with '--lanes <L,…>'",
    );
}
