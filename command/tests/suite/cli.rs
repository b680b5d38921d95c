//! The `granule` command, from outside: exit codes, what is on which stream, what is written.

use crate::command::{files, granule, granule_with, temporary};
use granule::Isa;
use granule::scene::BUILTIN;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs the command, which must succeed without a word on standard error, and parses its output, which
/// must be one line.
fn json(arguments: &[&str]) -> Value {
    let run = granule(temporary().path(), arguments);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{arguments:?}");
    assert_eq!(run.out.matches('\n').count(), 1, "{arguments:?}");
    serde_json::from_str(&run.out).expect("one JSON object")
}

/// Keys of an object in their order, which `Value` does not keep: as they stand in the text.
fn is_ordered(text: &str, keys: &[&str]) -> bool {
    let places: Option<Vec<usize>> = keys.iter().map(|key| text.find(&format!("\"{key}\":"))).collect();
    places.is_some_and(|places| places.is_sorted())
}

/// `list` names every built-in scene, for people and for programs.
#[test]
fn list() {
    let human = granule(temporary().path(), &["list"]);
    assert_eq!((human.code, human.err.as_str()), (0, ""));
    let listed = json(&["list", "--format", "json"]);
    let names: Vec<&str> =
        listed["scenes"].as_array().expect("a list").iter().flat_map(|s| s["name"].as_str()).collect();
    assert_eq!(names, BUILTIN.iter().map(|builtin| builtin.name).collect::<Vec<_>>());
    for name in names {
        assert!(human.out.contains(name), "{name}");
    }
}

/// The run record has every field of its schema, in order, and says what was run.
#[test]
fn run_record() {
    let arguments = [
        "run",
        "pile",
        "--bodies",
        "120",
        "--steps",
        "7",
        "--warmup",
        "3",
        "--threads",
        "2",
        "--lanes",
        "4",
        "--substeps",
        "2",
        "--iterations",
        "3",
        "--seed",
        "9",
        "--format",
        "json",
    ];
    let run = granule(temporary().path(), &arguments);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let keys = [
        "schema",
        "scene",
        "bodies",
        "static_bodies",
        "particles",
        "links",
        "joints",
        "link_iterations",
        "steps",
        "warmup",
        "substeps",
        "iterations",
        "solver",
        "sleep",
        "continuous",
        "threads",
        "lanes",
        "isa",
        "seed",
        "step_ms",
        "phases_ms",
        "pairs",
        "awake_bodies",
        "ns_per_body_step",
        "quality",
        "quarantined",
        "state_hash",
        "peak_rss_bytes",
        "allocations_per_step",
        "machine",
        "version",
        "commit",
        "rustc",
        "unix_time",
        "samples_ms",
    ];
    assert!(is_ordered(&run.out, &keys), "{}", run.out);
    let record: Value = serde_json::from_str(&run.out).expect("one JSON object");
    assert_eq!(record.as_object().expect("an object").len(), keys.len() + 2, "and `contacts` and `islands`");
    for (key, expected) in [
        ("schema", Value::from("granule.run/1")),
        ("scene", "pile".into()),
        ("bodies", 120.into()),
        ("static_bodies", 3.into()),
        ("particles", 0.into()),
        ("links", 0.into()),
        ("joints", 0.into()),
        ("steps", 7.into()),
        ("warmup", 3.into()),
        ("substeps", 2.into()),
        ("iterations", 3.into()),
        ("solver", "soft".into()),
        ("sleep", false.into()),
        ("continuous", true.into()),
        ("awake_bodies", 120.into()),
        ("threads", 2.into()),
        ("lanes", 4.into()),
        ("seed", 9.into()),
        ("quarantined", 0.into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
    ] {
        assert_eq!(record[key], expected, "{key}");
    }
    for key in ["mean", "p50", "p95", "p99", "max"] {
        assert!(record["step_ms"][key].as_f64().expect("a time") > 0.0, "{key}");
    }
    for key in ["bounds", "broadphase", "narrowphase", "contacts", "solver"] {
        assert!(record["phases_ms"][key].is_number(), "{key}");
    }
    for key in ["mean_penetration", "max_penetration", "kinetic_energy"] {
        assert!(record["quality"][key].is_number(), "{key}");
    }
    assert_eq!(record["quality"]["momentum"].as_array().map(Vec::len), Some(2));
    let hash = record["state_hash"].as_str().expect("a hash");
    assert!(hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "{hash}");
    for key in ["pairs", "contacts", "peak_rss_bytes", "unix_time"] {
        assert!(record[key].is_u64(), "{key}");
    }
    assert!(record["machine"]["cores"].as_u64() >= Some(1));
    for key in ["cpu", "os"] {
        assert!(record["machine"][key].is_string(), "{key}");
    }
}

/// The same arguments give the same final state; every scene runs.
#[test]
fn runs_are_repeatable() {
    for builtin in BUILTIN {
        let arguments =
            ["run", builtin.name, "--bodies", "60", "--warmup", "0", "--steps", "5", "--format", "json"];
        assert_eq!(json(&arguments)["state_hash"], json(&arguments)["state_hash"], "{}", builtin.name);
    }
}

/// A solver that is not the scene's brings its own substeps and iterations, unless they are given.
#[test]
fn solver_option() {
    let run = |more: &[&str]| {
        let base = ["run", "packed", "--bodies", "20", "--warmup", "0", "--steps", "1", "--format", "json"];
        let record = json(&[&base[..], more].concat());
        (record["solver"].clone(), record["substeps"].clone(), record["iterations"].clone())
    };
    assert_eq!(run(&[]), ("soft".into(), 4.into(), 1.into()));
    assert_eq!(run(&["--solver", "soft"]), ("soft".into(), 4.into(), 1.into()));
    assert_eq!(run(&["--solver", "projection"]), ("projection".into(), 1.into(), 10.into()));
    assert_eq!(
        run(&["--solver", "projection", "--iterations", "5"]),
        ("projection".into(), 1.into(), 5.into())
    );
}

/// A scene file runs 600 steps without warm-up, and `--dump` has a line a body in the file's order, with
/// numbers that read back as what they were.
#[test]
fn scene_file_and_dump() {
    let dir = temporary();
    let scene = r#"{"name":"three","gravity":[0,0],"bodies":[
        {"type":"static","shape":{"half_space":{"normal":[0,1],"offset":-100}}},
        {"shape":{"circle":{"radius":0.5}},"position":[0.1,4]},
        {"shape":{"circle":{"radius":0.5}},"position":[-7,4],"angle":0.3}]}"#;
    fs::write(dir.path().join("three.json"), scene).expect("the scene is written");
    let arguments = ["run", "three.json", "--format", "json", "--dump", "b.csv", "--dump-particles", "p.csv"];
    let run = granule(dir.path(), &arguments);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let record: Value = serde_json::from_str(&run.out).expect("one JSON object");
    assert_eq!((&record["steps"], &record["warmup"]), (&600.into(), &0.into()));
    assert_eq!((&record["scene"], &record["bodies"]), (&"three".into(), &2.into()));
    let dump = fs::read_to_string(dir.path().join("b.csv")).expect("the dump");
    let expected = "id,x,y,angle,vx,vy,omega\n0,0,0,0,0,0,0\n1,0.1,4,0,0,0,0\n2,-7,4,0.3,0,0,0\n";
    assert_eq!(dump, expected);
    let particles = fs::read_to_string(dir.path().join("p.csv")).expect("the particles' dump");
    assert_eq!(particles, "id,x,y,vx,vy\n");
    assert_eq!(files(dir.path()), ["b.csv", "p.csv", "three.json"]);
}

/// For people: the summary is on standard output, without escape sequences when that is no terminal.
#[test]
fn human_summary() {
    let run = granule(temporary().path(), &["run", "gas", "--bodies", "50", "--warmup", "2", "--steps", "3"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    for word in [
        "gas",
        "50 moving bodies",
        "p50",
        "p99",
        "narrowphase",
        "penetration",
        "state hash",
        "per body and step",
    ] {
        assert!(run.out.contains(word), "{word} in {}", run.out);
    }
    assert!(!run.out.contains('\x1b'));
}

/// `--report` files each run in a file of its own, next to a page that lists them; standard output still
/// holds one JSON object.
#[test]
fn report() {
    let dir = temporary();
    let arguments = [
        "run",
        "packed",
        "--bodies",
        "30",
        "--warmup",
        "0",
        "--steps",
        "2",
        "--format",
        "json",
        "--report",
        "made/for/it",
    ];
    for _ in 0..3 {
        let run = granule(dir.path(), &arguments);
        assert_eq!(run.code, 0, "{}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        let record: Value = serde_json::from_str(&run.out).expect("one JSON object");
        let path = run.err.trim_end().rsplit(' ').next().expect("the record's path");
        let filed = fs::read_to_string(dir.path().join(path)).expect("the record");
        assert_eq!(serde_json::from_str::<Value>(&filed).expect("a record"), record);
    }
    let names = files(&dir.path().join("made/for/it"));
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names.contains(&"index.html".to_owned()), "{names:?}");
    let page = fs::read_to_string(dir.path().join("made/for/it/index.html")).expect("the page");
    assert_eq!(page.matches("<td class=\"text\">packed</td>").count(), 3);
    for loading in ["src=", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(loading), "the page needs no network: {loading}");
    }
}

/// Without arguments: the default scene with tens of thousands of bodies, a summary, and a record and a page
/// under `perf-reports/`.
#[test]
fn no_arguments() {
    let dir = temporary();
    let run = granule(dir.path(), &[]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.contains("pile: 20000 moving bodies"), "{}", run.out);
    assert_eq!(files(dir.path()), ["perf-reports"]);
    let names = files(&dir.path().join("perf-reports"));
    assert!(
        names.len() == 2 && names[0] == "index.html" && names[1].starts_with("pile-20000b-"),
        "{names:?}"
    );
}

/// A page that somebody else wrote is not touched.
#[test]
fn report_leaves_a_foreign_page() {
    let dir = temporary();
    fs::write(dir.path().join("index.html"), "mine").expect("a page");
    let run = granule(
        dir.path(),
        &["run", "packed", "--bodies", "3", "--warmup", "0", "--steps", "1", "--report", "."],
    );
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(fs::read_to_string(dir.path().join("index.html")).expect("the page"), "mine");
    assert_eq!(files(dir.path()).len(), 2);
}

/// `verify` finds two configurations identical, and says so.
#[test]
fn verify_identical() {
    let base = ["verify", "pile", "--bodies", "100", "--steps", "30", "--threads", "2"];
    let human = granule(temporary().path(), &base);
    assert_eq!((human.code, human.err.as_str()), (0, ""));
    assert!(human.out.starts_with("identical: 30 steps, hash "), "{}", human.out);
    let verdict = json(&[&base[..], &["--format", "json", "--lanes", "16", "--against-lanes", "4"]].concat());
    assert_eq!(verdict["identical"], true);
    let widest = Isa::with_lanes(16).expect("a number of lanes").lanes();
    assert_eq!((&verdict["a"]["lanes"], &verdict["b"]["lanes"]), (&4.into(), &widest.into()));
    assert_eq!((&verdict["a"]["threads"], &verdict["b"]["threads"]), (&1.into(), &2.into()));
    let hash = verdict["state_hash"].as_str().expect("a hash");
    assert!(human.out.contains(hash), "{hash} in {}", human.out);
}

/// Contract: a scene steps the same on every instruction set that the processor has, and the record names the set that
/// ran. A number of lanes stands for the widest set of at most so many.
#[test]
fn levels() {
    let base =
        ["pile", "--bodies", "60", "--steps", "10", "--warmup", "0", "--threads", "1", "--format", "json"];
    for isa in Isa::available() {
        for reference in Isa::available() {
            let sets = ["--isa", isa.name(), "--against-isa", reference.name()];
            let verdict = json(&[&["verify"], &base[..], &sets].concat());
            assert_eq!(verdict["identical"], true, "{isa} and {reference}");
            for (side, isa) in [("a", reference), ("b", isa)] {
                assert_eq!(verdict[side]["isa"], isa.name());
                assert_eq!(verdict[side]["lanes"], isa.lanes());
            }
        }
    }
    let run = |more: &[&str]| json(&[&["run"], &base[..], more].concat());
    let ran = |more: &[&str]| {
        let record = run(more);
        (record["isa"].clone(), record["lanes"].clone())
    };
    let of = |isa: Isa| (Value::from(isa.name()), Value::from(isa.lanes()));
    for isa in Isa::available() {
        assert_eq!(ran(&["--isa", isa.name()]), of(isa));
        let variable = [(Isa::VARIABLE, isa.name())];
        let by_variable = granule_with(temporary().path(), &variable, &[&["run"], &base[..]].concat());
        let record: Value = serde_json::from_str(&by_variable.out).expect("one JSON object");
        assert_eq!((record["isa"].clone(), record["lanes"].clone()), of(isa));
    }
    for lanes in [1, 4, 8, 16] {
        let widest = Isa::available().rfind(|isa| isa.lanes() <= lanes).expect("the scalar set");
        assert_eq!(ran(&["--lanes", &lanes.to_string()]), of(widest), "{lanes}");
    }
    assert_eq!(ran(&["--isa", "portable"]), of(Isa::Portable));
    assert_eq!(ran(&["--isa", "auto"]), ran(&[]));

    let human = granule(
        temporary().path(),
        &["verify", "pile", "--bodies", "60", "--steps", "10", "--isa", "portable"],
    );
    let sets = format!("; scalar lanes 1 threads 1 against {} lanes 4 threads ", Isa::Portable);
    assert!(human.code == 0 && human.out.contains(&sets), "{}", human.out);
}

/// Contract: an instruction set that does not exist, or that the processor lacks, is refused with one line, before
/// anything runs: as an argument and in the environment.
#[test]
fn levels_that_are_missing() {
    let dir = temporary();
    let known = "an instruction set is auto, scalar, portable, sse2, neon, simd128, avx2 or avx512";
    for command in ["run", "verify", "render"] {
        let unknown = format!("invalid value 'mmx' for '--isa <ISA>': {known}");
        assert_refused(dir.path(), &[command, "pile", "--isa", "mmx"], &unknown);
        let both = [command, "pile", "--isa", "scalar", "--lanes", "4"];
        assert_refused(dir.path(), &both, "the argument '--isa <ISA>' cannot be used with '--lanes <L>'");
    }
    let both = ["verify", "pile", "--against-isa", "scalar", "--against-lanes", "4"];
    let expected = "the argument '--against-isa <ISA>' cannot be used with '--against-lanes <L>'";
    assert_refused(dir.path(), &both, expected);

    let refused_with = |value: &str, arguments: &[&str], expected: &str| {
        let run = granule_with(dir.path(), &[(Isa::VARIABLE, value)], arguments);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}: {}", run.err);
        assert_eq!(run.err, format!("granule: {expected}\n"), "{arguments:?}");
    };
    let names = Isa::available().map(Isa::name).collect::<Vec<_>>().join(", ");
    let sweep = ["sweep", "--scenes", "pile", "--bodies", "20", "--out", "cells.jsonl"];
    for arguments in [&["run", "pile"][..], &["verify", "pile"], &["render", "pile"], &[], &sweep] {
        let wrong = format!("GRANULE_ISA: \"nonsense\" is no instruction set; this processor has {names}");
        refused_with("nonsense", arguments, &wrong);
    }
    // What is asked for by name does not look at the variable.
    let small = ["run", "pile", "--bodies", "20", "--steps", "1", "--warmup", "0", "--isa", "scalar"];
    assert_eq!(granule_with(dir.path(), &[(Isa::VARIABLE, "nonsense")], &small).code, 0);

    for missing in [Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| !isa.is_available()) {
        let lacks = format!("this processor has no {missing}; it has {names}");
        let expected = format!("invalid value '{missing}' for '--isa <ISA>': {lacks}");
        assert_refused(dir.path(), &["run", "pile", "--isa", missing.name()], &expected);
        let expected = format!("invalid value '{missing}' for '--against-isa <ISA>': {lacks}");
        assert_refused(dir.path(), &["verify", "pile", "--against-isa", missing.name()], &expected);
        refused_with(missing.name(), &["run", "pile"], &format!("GRANULE_ISA: {lacks}"));
    }
    assert_eq!(files(dir.path()), [""; 0]);
}

/// `verify` names step, stage, body, field and distance of a difference that was planted, and exits 1.
#[test]
fn verify_finds_a_planted_difference() {
    let base = ["verify", "pile", "--bodies", "100", "--steps", "30", "--plant", "17:solver:42:3"];
    let human = granule(temporary().path(), &base);
    assert_eq!(human.code, 1, "{}", human.err);
    assert_eq!(human.err, "granule: verify: not identical from step 17\n");
    assert!(human.out.starts_with("different: step 17, stage solver, body 42, "), "{}", human.out);
    assert!(human.out.contains("3 ULPs"), "{}", human.out);

    let run = granule(temporary().path(), &[&base[..], &["--format", "json"]].concat());
    assert_eq!(run.code, 1, "{}", run.err);
    let verdict: Value = serde_json::from_str(&run.out).expect("one JSON object");
    assert_eq!(verdict["identical"], false);
    let difference = &verdict["difference"];
    for (key, expected) in
        [("step", Value::from(17)), ("stage", "solver".into()), ("body", 42.into()), ("ulps", 3.into())]
    {
        assert_eq!(difference[key], expected, "{key} of {difference}");
    }
    assert!(difference["field"].is_string());
}

/// A difference planted after any stage is found in that stage.
#[test]
fn verify_names_every_stage() {
    for stage in ["bounds", "narrowphase", "solver"] {
        let plant = format!("40:{stage}:50:1");
        let arguments =
            ["verify", "packed", "--bodies", "100", "--steps", "60", "--plant", &plant, "--format", "json"];
        let run = granule(temporary().path(), &arguments);
        assert_eq!(run.code, 1, "{stage}: {}", run.err);
        let verdict: Value = serde_json::from_str(&run.out).expect("one JSON object");
        assert_eq!(verdict["difference"]["stage"], stage, "{verdict}");
        assert_eq!(verdict["difference"]["step"], 40, "{verdict}");
    }
}

/// Bad usage and bad input: exit code 2, exactly one line on standard error that says what and where,
/// nothing on standard output, nothing written.
#[test]
fn bad_input() {
    let dir = temporary();
    let path = dir.path();
    let circle = r#"{"shape":{"circle":{"radius":0.5}}}"#;
    for (name, content) in [
        ("syntax.json", "{\"bodies\":[\n{]}".to_owned()),
        ("field.json", "{\"bodys\":[]}".to_owned()),
        ("nan.json", "{\"gravity\":[0,NaN]}".to_owned()),
        ("huge.json", "{\"gravity\":[0,1e999]}".to_owned()),
        ("radius.json", format!(r#"{{"bodies":[{circle},{{"shape":{{"circle":{{"radius":-1}}}}}}]}}"#)),
        ("material.json", r#"{"bodies":[{"shape":{"circle":{"radius":1}},"material":4}]}"#.to_owned()),
        (
            "normal.json",
            r#"{"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,0]}}}]}"#.to_owned(),
        ),
        ("valid.json", format!(r#"{{"bodies":[{circle}]}}"#)),
        ("empty.json", String::new()),
    ] {
        fs::write(path.join(name), content).expect("the scene is written");
    }
    fs::create_dir(path.join("folder")).expect("a directory");
    let before = files(path);
    let cases: &[(&[&str], &str)] = &[
        (&["syntax.json"], "syntax.json: line 2 column 2: key must be a string"),
        (&["field.json"], "field.json: line 1 column 8: unknown field `bodys`, expected one of "),
        (&["nan.json"], "nan.json: line 1 column 15: expected value"),
        (&["huge.json"], "huge.json: line 1 column 19: number out of range"),
        (&["radius.json"], "radius.json: bodies[1].shape.circle.radius: -1 is not in 0.0001..=1000000"),
        (&["material.json"], "material.json: bodies[0].material: 4 is out of range"),
        (&["normal.json"], "normal.json: bodies[0].shape.half_space.normal: a normal of length zero"),
        (&["empty.json"], "empty.json: line 1 column 0: EOF while parsing a value"),
        (&["missing.json"], "missing.json: No such file"),
        (&["no/such/dir.json"], "no/such/dir.json: No such file"),
        (&["folder"], "folder: a directory, not a scene file"),
        (&["piel"], "piel: neither a scene file nor one of pile, "),
        (&[""], "a value is required for '[SCENE|FILE.json]' but none was supplied"),
        (&["valid.json", "--bodies", "5"], "--bodies 5: valid.json is a scene file"),
        (&["--bodies", "0"], "invalid value '0' for '--bodies <N>': 0 is not in 1..=10000000"),
        (&["--bodies", "many"], "invalid value 'many' for '--bodies <N>'"),
        (&["--bodies", "99999999999999999999"], "invalid value '99999999999999999999' for '--bodies <N>'"),
        (&["--lanes", "3"], "invalid value '3' for '--lanes <L>': the lane width is 1, 4, 8 or 16"),
        (&["--threads", "0"], "invalid value '0' for '--threads <T>': 0 is not in 1..=1024"),
        (&["--substeps", "0"], "invalid value '0' for '--substeps <K>': 0 is not in 1..=1024"),
        (&["--iterations", "0"], "invalid value '0' for '--iterations <I>'"),
        (&["--steps", "1.5"], "invalid value '1.5' for '--steps <S>'"),
        (
            &["--solver", "fast"],
            "invalid value 'fast' for '--solver <SOLVER>': the solver is soft or projection",
        ),
        (&["--format", "xml"], "invalid value 'xml' for '--format <FORMAT>' [possible values: human, json]"),
        (&["--nonsense"], "unexpected argument '--nonsense' found"),
        (&["--bodies"], "a value is required for '--bodies <N>' but none was supplied"),
        (&["pile", "gas"], "unexpected argument 'gas' found"),
        (&["two\nlines"], "two lines: neither a scene file nor one of "),
    ];
    for (arguments, expected) in cases {
        let outputs = ["--report", "made", "--dump", "made.csv"];
        for arguments in [[&["run"], *arguments, &outputs].concat(), [&["verify"], *arguments].concat()] {
            assert_refused(path, &arguments, expected);
        }
    }
    for (arguments, expected) in [
        (&["run", "--dump", "folder"], "--dump folder: a directory"),
        (&["run", "--dump", "no/b.csv"], "--dump no/b.csv: there is no directory no"),
        (&["run", "--dump-particles", "folder"], "--dump-particles folder: a directory"),
        (&["run", "--report", "valid.json"], "--report valid.json: not a directory"),
        (&["verify", "--plant", "1:solver:1"], "invalid value '1:solver:1' for '--plant"),
        (&["verify", "--plant", "900:solver:1:1"], "--plant: step 900 is not in 1..=200"),
        (&["verify", "--against-lanes", "2"], "invalid value '2' for '--against-lanes <L>'"),
    ] {
        assert_refused(path, arguments, expected);
    }
    assert_refused(path, &["fly"], "unrecognized subcommand 'fly'");
    assert_eq!(files(path), before);
}

fn assert_refused(dir: &Path, arguments: &[&str], expected: &str) {
    let run = granule(dir, arguments);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}: {}", run.err);
    assert!(run.err.starts_with(&format!("granule: {expected}")), "{arguments:?}: {}", run.err);
    assert!(run.err.ends_with('\n') && run.err.lines().count() == 1, "{arguments:?}: {:?}", run.err);
}

/// Help and version are asked for, and no failure.
#[test]
fn help_and_version() {
    for arguments in [&["--help"][..], &["run", "--help"], &["verify", "--help"], &["list", "--help"]] {
        let run = granule(temporary().path(), arguments);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{arguments:?}");
        assert!(run.out.contains("Usage:"), "{arguments:?}");
        assert!(!run.out.contains("--plant"), "{arguments:?}");
    }
    let version = granule(temporary().path(), &["--version"]);
    assert_eq!((version.code, version.out), (0, format!("granule {}\n", env!("CARGO_PKG_VERSION"))));
}

/// A build without profiles says so, in place of a long run that leaves none.
#[cfg(not(feature = "profile"))]
#[test]
fn profiles_need_their_feature() {
    let dir = temporary();
    for option in ["--pprof", "--flamegraph"] {
        let expected = format!("{option}: this build takes no profiles; ");
        crate::command::refused(dir.path(), &["run", "packed", option, "p"], &expected);
    }
    assert!(files(dir.path()).is_empty());
}

/// Contract: `--sleep` says whether bodies at rest fall asleep, the record tells, and a built-in scene has it off.
#[test]
fn sleep_option() {
    let run = |options: &[&str]| {
        let scene =
            ["run", "packed", "--bodies", "60", "--warmup", "0", "--steps", "400", "--format", "json"];
        json(&[&scene, options].concat())
    };
    let counts = |record: &Value| [record["awake_bodies"].clone(), record["sleep"].clone()];
    assert_eq!(counts(&run(&[])), [Value::from(60), false.into()]);
    assert_eq!(counts(&run(&["--sleep", "off"])), [Value::from(60), false.into()]);
    let asleep = run(&["--sleep", "on"]);
    assert_eq!(counts(&asleep), [Value::from(0), true.into()]);
    assert_eq!(asleep["islands"], 1);
    let wrong = granule(temporary().path(), &["run", "packed", "--sleep", "maybe"]);
    assert!(wrong.code == 2 && wrong.err.contains("--sleep"), "{}", wrong.err);
}

/// Contract: `--continuous` says whether fast bodies are stopped at walls, and the record tells: with it off, a shot passes a post.
#[test]
fn continuous_option() {
    let dir = temporary();
    let scene = r#"{"name":"shot","gravity":[0,0],"bodies":[
        {"type":"static","shape":{"circle":{"radius":0.3}}},
        {"shape":{"circle":{"radius":0.1}},"position":[-9.95,0],"velocity":[400,0]}]}"#;
    std::fs::write(dir.path().join("shot.json"), scene).expect("the scene is written");
    let run = |option: &[&str]| {
        let arguments = ["run", "shot.json", "--steps", "8", "--format", "json", "--dump", "end.csv"];
        let done = granule(dir.path(), &[&arguments, option].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        let record: Value = serde_json::from_str(&done.out).expect("one JSON object");
        let end = std::fs::read_to_string(dir.path().join("end.csv")).expect("a dump");
        let x = end.lines().last().and_then(|line| line.split(',').nth(1)).expect("a place");
        (record["continuous"].clone(), x.parse::<f64>().expect("a number") < 0.0)
    };
    assert_eq!(run(&[]), (true.into(), true));
    assert_eq!(run(&["--continuous", "on"]), (true.into(), true));
    assert_eq!(run(&["--continuous", "off"]), (false.into(), false));
}
