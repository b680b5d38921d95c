//! What the tests of the command share: how it is run, and records to give to it.

use granule_command::report::JSON_SCHEMA;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The command. Cargo names it to the tests of its own package; those of another find it where `cargo test --workspace`
/// puts both.
fn program() -> PathBuf {
    let named = option_env!("CARGO_BIN_EXE_granule").map(PathBuf::from);
    named.unwrap_or_else(|| {
        let tests = std::env::current_exe().expect("the tests are a file");
        let program = tests.ancestors().nth(2).expect("a target folder").join("granule");
        let program = program.with_extension(std::env::consts::EXE_EXTENSION);
        assert!(program.exists(), "no {}: `cargo test --workspace` builds it", program.display());
        program
    })
}

/// Runs the command in `dir`.
pub fn granule(dir: &Path, arguments: &[&str]) -> Run {
    granule_with(dir, &[], arguments)
}

/// Runs the command in `dir` with these variables in its environment.
pub fn granule_with(dir: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = Command::new(program());
    let output = command.args(arguments).envs(variables.iter().copied()).current_dir(dir).output();
    let output = output.expect("the command starts");
    Run {
        code: output.status.code().expect("the command is not killed"),
        out: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

/// Runs the command, which must succeed without a word on standard error; what it printed.
pub fn succeeds(dir: &Path, arguments: &[&str]) -> String {
    let run = granule(dir, arguments);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{arguments:?}");
    run.out
}

/// Runs the command, which must fail with one line that starts so, and print nothing.
#[allow(dead_code, reason = "not every test that shares this refuses something")]
pub fn refused(dir: &Path, arguments: &[&str], expected: &str) {
    let run = granule(dir, arguments);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}: {}", run.err);
    let last = run.err.lines().last().unwrap_or_default();
    assert!(last.starts_with(&format!("granule: {expected}")), "{arguments:?}: {}", run.err);
}

pub fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// A small run of a scene, as its record.
#[allow(dead_code, reason = "not every test that shares this runs a scene")]
pub fn record(arguments: &[&str]) -> Value {
    let fixed = ["run", "--threads", "1", "--warmup", "2", "--format", "json"];
    let text = succeeds(temporary().path(), &[&fixed[..], arguments].concat());
    serde_json::from_str(&text).expect("one JSON object")
}

/// A record of a scene that took these times a step.
#[allow(dead_code, reason = "not every test that shares this makes records up")]
pub fn made_up(scene: &str, steps_ms: &[f64]) -> Value {
    let mut sorted = steps_ms.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1];
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let part = |share: f64| steps_ms.iter().map(|ms| (share * ms * 1e4).round() / 1e4).collect::<Vec<f64>>();
    let mut record = json!({
        "schema": "granule.run/1", "scene": scene, "bodies": 1000, "static_bodies": 3, "particles": 0, "links": 0, "joints": 0,
        "link_iterations": 8, "steps": steps_ms.len(), "warmup": 60, "substeps": 4, "iterations": 1,
        "solver": "soft", "threads": 1, "lanes": 8, "isa": "avx2", "seed": 1,
        "step_ms": {"mean": mean, "p50": at(50), "p95": at(95), "p99": at(99), "max": at(100)},
        "phases_ms": {"bounds": 0.1 * mean, "broadphase": 0.1 * mean, "narrowphase": 0.1 * mean,
                      "contacts": 0.1 * mean, "solver": 0.5 * mean, "islands": 0.1 * mean},
        "pairs": 3000, "contacts": 2900, "ns_per_body_step": 1e3 * mean,
        "quality": {"mean_penetration": 0.004, "max_penetration": 0.02, "kinetic_energy": 12.5,
                    "momentum": [0.5, -3.0], "mean_stretch": 0.0, "max_stretch": 0.0},
        "quarantined": 0, "state_hash": "0123456789abcdef", "peak_rss_bytes": 10_000_000,
        "allocations_per_step": 0.0, "machine": {"cpu": "made up", "cores": 2, "os": "linux 6"},
        "version": "0.1.0", "commit": "unknown", "rustc": "unknown", "unix_time": 1_700_000_000,
        "samples_ms": {"step": part(1.0), "bounds": part(0.1), "broadphase": part(0.1),
                       "narrowphase": part(0.1), "contacts": part(0.1), "solver": part(0.5), "islands": part(0.1)}
    });
    // Apart from the others: so many fields at once are too many for the macro.
    for (name, value) in [
        ("sleep", json!(false)),
        ("awake_bodies", json!(1000)),
        ("islands", json!(12)),
        ("continuous", json!(true)),
    ] {
        record[name] = value;
    }
    record
}

/// Writes JSON lines.
#[allow(dead_code, reason = "not every test that shares this writes records")]
pub fn write_lines(path: &Path, records: &[Value]) {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(path, lines).expect("the records are written");
}

/// Names of the files in `dir`, sorted.
#[allow(dead_code, reason = "not every test that shares this looks at directories")]
pub fn files(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Two repeats of one configuration, and another configuration.
#[allow(dead_code, reason = "not every test that shares this exports records")]
pub fn three() -> [Value; 3] {
    let slower = [2.5, 2.0, 3.0, 2.25, 2.75];
    [made_up("packed", &[1.0, 1.5, 1.25]), made_up("packed", &[1.5, 2.0, 1.75]), made_up("pile", &slower)]
}

/// Writes `records` and exports them; what was printed.
#[allow(dead_code, reason = "not every test that shares this exports records")]
pub fn exported(format: &str, records: &[Value]) -> String {
    let dir = temporary();
    write_lines(&dir.path().join("records.jsonl"), records);
    succeeds(dir.path(), &["export", format, "records.jsonl"])
}

/// The same, as the one JSON value that it is.
#[allow(dead_code, reason = "not every test that shares this exports records")]
pub fn exported_json(format: &str, records: &[Value]) -> Value {
    serde_json::from_str(&exported(format, records)).expect("one JSON value")
}

/// The schema of a record.
#[allow(dead_code, reason = "not every test that shares this exports records")]
pub fn record_schema() -> Value {
    serde_json::from_str(JSON_SCHEMA).expect("the schema is JSON")
}
