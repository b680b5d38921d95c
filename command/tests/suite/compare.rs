//! `granule compare`: a slowdown fails, noise does not, and what can't be compared is named.

use crate::command::{granule, made_up, refused, temporary, write_lines};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Times of steps as on a shared machine: noise of 4 % that is correlated from step to step, and every 11th step
/// three times as long; `factor` is that of the run as a whole.
fn times(seed: u64, factor: f64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut noise = 0.0;
    (0..120)
        .map(|step| {
            let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            noise = 0.7 * noise + 0.714 * normal;
            let slow = if step % 11 == 0 { 3.0 } else { 1.0 };
            2.0 * factor * slow * (1.0 + 0.04 * noise)
        })
        .collect()
}

/// Repeats of a scene whose runs differ by 2 %.
fn repeats(scene: &str, seed: u64, count: u64, factor: f64) -> Vec<Value> {
    let of_run = |repeat: u64| [1.0, 1.02, 0.98, 1.01, 0.99][(repeat + seed) as usize % 5];
    (0..count).map(|repeat| made_up(scene, &times(100 * seed + repeat, factor * of_run(repeat)))).collect()
}

/// Writes two sets and compares them; the exit code and the report.
fn compared(dir: &Path, base: &[Value], new: &[Value], options: &[&str]) -> (i32, Value) {
    write_lines(&dir.join("base.jsonl"), base);
    write_lines(&dir.join("new.jsonl"), new);
    let run = granule(dir, &[&["compare", "base.jsonl", "new.jsonl", "--format", "json"], options].concat());
    (run.code, serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err)))
}

/// A planted slowdown of 20 % gives exit code 1, with repeats and, if asked for, with one run a side, and its row
/// says by how much; a speed-up of 20 % does not.
#[test]
fn planted_slowdown() {
    let dir = temporary();
    for count in [1, 3, 5] {
        for seed in 1..=5 {
            let base = repeats("packed", seed, count, 1.0);
            let options: &[&str] = if count == 1 { &["--single-runs"] } else { &[] };
            let new = repeats("packed", seed + 50, count, 1.2);
            let (code, report) = compared(dir.path(), &base, &new, options);
            let row = &report["rows"][0];
            assert_eq!((code, &row["verdict"]), (1, &json!("slower")), "{count} runs, seed {seed}: {report}");
            let number = |place: &str| row.pointer(place).and_then(Value::as_f64).expect("a number");
            let (low, ratio, high) = (number("/interval/low"), number("/ratio"), number("/interval/high"));
            assert!(1.05 < low && low < ratio && ratio < high && (ratio - 1.2).abs() < 0.06, "{row}");
            for figure in ["mean_ms", "p99_ms"] {
                let [base, new] = ["base", "new"].map(|side| number(&format!("/{side}/{figure}")));
                assert!((new / base - 1.2).abs() < 0.1, "{figure}: {row}");
            }
            let (code, report) =
                compared(dir.path(), &base, &repeats("packed", seed + 50, count, 1.0 / 1.2), options);
            assert_eq!((code, &report["rows"][0]["verdict"]), (0, &json!("faster")), "{report}");
        }
    }
}

/// Noise alone gives exit code 0 and no verdict of a change; a slowdown below the threshold does not, either.
#[test]
fn noise_is_no_regression() {
    let dir = temporary();
    for count in [1, 2, 3, 5] {
        for seed in 1..=8 {
            for factor in [1.0, 1.02] {
                let base = repeats("packed", seed, count, 1.0);
                let new = repeats("packed", seed + 50, count, factor);
                let options: &[&str] = if count == 1 { &["--single-runs"] } else { &[] };
                let (code, report) = compared(dir.path(), &base, &new, options);
                let verdict = report["rows"][0]["verdict"].as_str().expect("a verdict");
                assert_eq!(code, 0, "{count} runs, seed {seed}: {report}");
                assert!(["no_difference", "cannot_tell"].contains(&verdict), "{report}");
            }
        }
    }
    // With the steps of the same noise there is nothing left to doubt.
    let same = repeats("packed", 1, 5, 1.0);
    let (_, report) = compared(dir.path(), &same, &same, &[]);
    assert_eq!(report["rows"][0]["verdict"], "no_difference");
}

/// The threshold is what counts as a difference.
#[test]
fn threshold() {
    let dir = temporary();
    let (base, new) = (repeats("packed", 1, 5, 1.0), repeats("packed", 51, 5, 1.2));
    for (option, expected) in [("10%", 1), ("0.1", 1), ("40%", 0), ("0.4", 0)] {
        let (code, report) = compared(dir.path(), &base, &new, &["--threshold", option]);
        assert_eq!(code, expected, "{option}: {report}");
    }
    for bad in ["5", "-1%", "five", "nan", "2000%", ""] {
        let option = format!("--threshold={bad}");
        refused(dir.path(), &["compare", "base.jsonl", "new.jsonl", &option], "");
    }
}

/// Each configuration is a row; what only one side has is named, and is no regression.
#[test]
fn missing_pairs_are_named() {
    let dir = temporary();
    let base = [repeats("packed", 1, 3, 1.0), repeats("pile", 2, 3, 1.0), repeats("gas", 3, 3, 1.0)].concat();
    let mut lanes = repeats("gas", 4, 1, 1.0);
    lanes[0]["lanes"] = json!(16);
    let new = [repeats("packed", 5, 3, 1.0), repeats("pile", 6, 3, 1.2), lanes].concat();
    write_lines(&dir.path().join("base.jsonl"), &base);
    write_lines(&dir.path().join("new.jsonl"), &new);
    let run = granule(dir.path(), &["compare", "base.jsonl", "new.jsonl"]);
    assert_eq!(run.code, 1);
    let said: Vec<&str> = run.err.lines().collect();
    assert_eq!(
        said,
        [
            "granule: not in NEW: gas/bodies=1000/threads=1/lanes=8/substeps=4/steps=60+120",
            "granule: not in BASE: gas/bodies=1000/threads=1/lanes=16/substeps=4/steps=60+120",
            "granule: compare: 1 of 2 slower by more than 5 %"
        ]
    );
    let rows: Vec<&str> = run.out.lines().collect();
    assert!(rows[1].starts_with("packed/") && rows[1].contains("3:3"), "{}", run.out);
    assert!(rows[1..3].iter().all(|row| row.matches(" → ").count() == 2), "{}", run.out);
    assert!(rows[2].starts_with("pile/") && rows[2].contains(" slower "), "{}", run.out);
    assert!(!run.out.contains('\x1b'));
    let (_, report) = compared(dir.path(), &base, &new, &[]);
    assert_eq!(report["only_in_base"][0]["scene"], "gas");
    assert_eq!(
        (&report["only_in_new"][0]["lanes"], &report["schema"]),
        (&json!(16), &json!("granule.compare/1"))
    );
}

/// Whether all runs ended in the same state is shown.
#[test]
fn states_are_compared() {
    let dir = temporary();
    let (base, mut new) = (repeats("packed", 1, 2, 1.0), repeats("packed", 2, 2, 1.0));
    assert_eq!(compared(dir.path(), &base, &new, &[]).1["rows"][0]["same_state"], true);
    new[1]["state_hash"] = json!("fedcba9876543210");
    assert_eq!(compared(dir.path(), &base, &new, &[]).1["rows"][0]["same_state"], false);
    let human = granule(dir.path(), &["compare", "base.jsonl", "new.jsonl"]);
    assert!(human.out.contains("  differs\n"), "{}", human.out);
}

/// One run a side says nothing of how runs differ: there is an interval, and no verdict unless asked for.
#[test]
fn single_runs() {
    let dir = temporary();
    let (base, new) = (repeats("packed", 1, 1, 1.0), repeats("packed", 2, 1, 1.5));
    let (code, report) = compared(dir.path(), &base, &new, &[]);
    let row = &report["rows"][0];
    assert_eq!(
        (code, &row["verdict"], &row["measure"]),
        (0, &json!("cannot_tell"), &json!("median")),
        "{row}"
    );
    assert!(row["interval"]["low"].as_f64().is_some_and(|low| low > 1.3), "{row}");
    let human = granule(dir.path(), &["compare", "base.jsonl", "new.jsonl"]);
    assert!(human.out.contains("single runs can't tell"), "{}", human.out);
    assert_eq!(compared(dir.path(), &base, &new, &["--single-runs"]).0, 1);
}

/// Too few steps, or a record of before steps had times: no interval and no verdict, with the ratio all the same.
#[test]
fn too_little_to_tell() {
    let dir = temporary();
    let (base, new) = ([made_up("packed", &[1.0, 1.1, 1.05])], [made_up("packed", &[2.0, 2.1, 2.05])]);
    let (code, report) = compared(dir.path(), &base, &new, &["--single-runs"]);
    assert_eq!((code, &report["rows"][0]["verdict"]), (0, &json!("cannot_tell")));
    assert_eq!(report["rows"][0]["interval"], Value::Null);
    assert!(
        report["rows"][0]["ratio"].as_f64().is_some_and(|ratio| (ratio - 2.05 / 1.05).abs() < 1e-9),
        "{report}"
    );
    let mut older = repeats("packed", 1, 1, 1.0);
    older[0].as_object_mut().expect("an object").remove("samples_ms");
    let (code, report) = compared(dir.path(), &older, &repeats("packed", 2, 1, 2.0), &["--single-runs"]);
    assert_eq!((code, &report["rows"][0]["verdict"]), (0, &json!("cannot_tell")));
}

/// Records of another machine than the newest one's are named and left out, unless asked for.
#[test]
fn other_machines() {
    let dir = temporary();
    let (mut base, new) = (repeats("packed", 1, 3, 1.0), repeats("packed", 2, 3, 2.0));
    for record in &mut base {
        record["machine"]["cpu"] = json!("another");
    }
    write_lines(&dir.path().join("base.jsonl"), &base);
    write_lines(&dir.path().join("new.jsonl"), &new);
    let run = granule(dir.path(), &["compare", "base.jsonl", "new.jsonl"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    let first = "granule: skipped base.jsonl:1: from another machine: another, 2 cores, linux 6";
    assert_eq!(run.err.lines().next(), Some(first));
    assert!(run.err.ends_with("granule: compare: no configuration is in both\n"), "{}", run.err);
    let run = granule(dir.path(), &["compare", "base.jsonl", "new.jsonl", "--any-machine"]);
    assert_eq!(run.code, 1, "{}", run.err);
}

/// Bad records are named and skipped; with none left, and for files that can't be read, exit code 2.
#[test]
fn bad_input() {
    let dir = temporary();
    let path = dir.path();
    let (base, new) = (repeats("packed", 1, 3, 1.0), repeats("packed", 2, 3, 1.0));
    write_lines(&path.join("base.jsonl"), &base);
    write_lines(&path.join("new.jsonl"), &new);
    let mut text = fs::read_to_string(path.join("new.jsonl")).expect("read");
    text.truncate(text.len() - 50);
    fs::write(path.join("torn.jsonl"), &text).expect("written");
    let run = granule(path, &["compare", "base.jsonl", "torn.jsonl"]);
    assert_eq!((run.code, run.err.as_str()), (0, "granule: skipped torn.jsonl:3: truncated, or empty\n"));
    assert!(run.out.contains("3:2"), "{}", run.out);
    fs::write(path.join("empty.jsonl"), "").expect("written");
    refused(path, &["compare", "base.jsonl", "empty.jsonl"], "empty.jsonl: there is no record");
    refused(path, &["compare", "nowhere", "new.jsonl"], "nowhere: No such file");
    refused(path, &["compare", "base.jsonl"], "the following required arguments were not provided: <NEW>");
}

/// The Markdown table has a cell for each column, and says what is slower.
#[test]
fn markdown() {
    let dir = temporary();
    let base = [repeats("pile_circles", 1, 3, 1.0), repeats("gas", 1, 1, 1.0)].concat();
    write_lines(&dir.path().join("base.jsonl"), &base);
    write_lines(&dir.path().join("new.jsonl"), &repeats("pile_circles", 2, 3, 1.2));
    let run = granule(dir.path(), &["compare", "base.jsonl", "new.jsonl", "--format", "markdown"]);
    assert_eq!(run.code, 1);
    let table: Vec<&str> = run.out.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(table.len(), 3, "{}", run.out);
    assert!(table.iter().all(|row| row.matches('|').count() == 11), "{}", run.out);
    assert!(table[2].starts_with("| pile\\_circles/") && table[2].contains("| **slower** |"), "{}", run.out);
    assert!(run.out.contains("Not in the new records: gas/"), "{}", run.out);
}
