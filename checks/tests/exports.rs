//! Files that the command writes, read by other programs: a validator of JSON schemas reads the records, validators of
//! their formats read the exports, and a decoder of pprof reads the profiles. These bring a hundred packages, which
//! neither the command nor its tests build.
//!
//! `cargo test --workspace` runs these tests, and builds the command for them with the feature `profile`.

#[path = "../../command/tests/suite/command.rs"]
mod command;

use command::{exported, exported_json, made_up, record, record_schema, refused, succeeds, temporary, three};
use granule_command::report::export::trace::{self, Span};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).expect("a schema")
}

fn assert_valid(validator: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:?}");
}

/// Every record that the command makes is valid by the schema: records of bodies, of shapes that turn, of particles and
/// links, without steps, of another solver, of a sweep, and those that the other tests make up.
#[test]
fn records_are_of_the_schema() {
    assert!(jsonschema::meta::is_valid(&record_schema()), "the schema is one of draft 2020-12");
    let validator = validator(&record_schema());
    let scenes: &[&[&str]] = &[
        &["packed", "--bodies", "50", "--steps", "3"],
        &["mixed_shapes", "--bodies", "60", "--steps", "3", "--lanes", "1"],
        &["ropes", "--bodies", "60", "--steps", "3"],
        &["grains", "--bodies", "60", "--steps", "3", "--substeps", "8"],
        &["gas", "--bodies", "20", "--steps", "0"],
        &["pyramid", "--bodies", "20", "--steps", "2", "--solver", "projection"],
    ];
    for scene in scenes {
        assert_valid(&validator, &record(scene), &format!("{scene:?}"));
    }
    let mut of_sweep = record(scenes[0]);
    of_sweep["cell"] = json!({"scene": "packed", "seed": 1, "repeat": 0});
    assert_valid(&validator, &of_sweep, "fields may be added");
    assert_valid(&validator, &made_up("pile", &[1.0, 2.0]), "made up");
    let mut older = made_up("pile", &[1.0]);
    older.as_object_mut().expect("an object").remove("samples_ms");
    assert_valid(&validator, &older, "older");
}

/// A record is not valid if it lacks a field, or has a field of a wrong type or out of its range.
#[test]
fn broken_records_are_not_of_the_schema() {
    let validator = validator(&record_schema());
    let whole = made_up("pile", &[1.0, 2.0]);
    for key in whole.as_object().expect("an object").keys() {
        let mut record = whole.clone();
        record.as_object_mut().expect("an object").remove(key);
        let optional =
            ["joints", "link_iterations", "sleep", "continuous", "awake_bodies", "islands", "samples_ms"];
        let optional = optional.contains(&key.as_str());
        assert_eq!(validator.is_valid(&record), optional, "without {key}");
        for wrong in [json!(null), json!({}), json!([true])] {
            let mut record = whole.clone();
            record[key] = wrong;
            assert!(!validator.is_valid(&record), "{key}: {}", record[key]);
        }
    }
    let wrong = [
        ("/schema", json!("granule.run/2")),
        ("/bodies", json!(-1)),
        ("/bodies", json!(1.5)),
        ("/lanes", json!(3)),
        ("/threads", json!(0)),
        ("/solver", json!("magic")),
        ("/state_hash", json!("0123456789ABCDEF")),
        ("/state_hash", json!("123")),
        ("/step_ms/p50", json!("1")),
        ("/step_ms/p50", json!(-1)),
        ("/quality/momentum", json!([1.0])),
        ("/machine/cores", json!("two")),
        ("/samples_ms/step", json!([1.0, null])),
    ];
    for (place, value) in wrong {
        let mut record = whole.clone();
        *record.pointer_mut(place).expect("a field") = value;
        assert!(!validator.is_valid(&record), "{place}: {record}");
    }
}

/// github-action-benchmark: the export is an array of names, units, values and deviations that the action can read.
/// Repeats are one entry, whose name differs from every other.
#[test]
fn github_action_benchmark() {
    // The action's own pattern of a deviation needs two characters after the sign.
    let schema = json!({"type": "array", "minItems": 1, "items": {
        "type": "object", "additionalProperties": false, "required": ["name", "unit", "value"],
        "properties": {"name": {"type": "string", "minLength": 1}, "unit": {"type": "string", "minLength": 1},
                       "value": {"type": "number"}, "range": {"type": "string", "pattern": "^± \\d.+$"},
                       "extra": {"type": "string"}}}});
    let validator = validator(&schema);
    let [smaller, bigger] = ["github-smaller", "github-bigger"].map(|format| exported_json(format, &three()));
    for (format, value) in [("smaller", &smaller), ("bigger", &bigger)] {
        assert_valid(&validator, value, format);
        let entries = value.as_array().expect("an array");
        let names: BTreeSet<&str> = entries.iter().filter_map(|entry| entry["name"].as_str()).collect();
        assert_eq!(names.len(), entries.len(), "{names:?}");
    }
    assert_eq!(smaller.as_array().map(Vec::len), Some(4), "a time and a memory each: {smaller}");
    assert_eq!(
        (&smaller[0]["name"], &smaller[0]["unit"]),
        (&json!("packed/bodies=1000/threads=1/lanes=8/substeps=4/steps=60+3 step"), &json!("ms"))
    );
    // Two repeats: the value lies between their medians, 1.25 and 1.75.
    assert_eq!((&smaller[0]["value"], &smaller[0]["range"]), (&json!(1.5), &json!("± 0.250000")));
    // One run: the range comes from the quartiles of its steps.
    assert_eq!((&smaller[2]["value"], &smaller[2]["range"]), (&json!(2.5), &json!("± 0.250000")));
    assert_eq!((&bigger[1]["value"], &bigger[1]["unit"]), (&json!(400_000.0), &json!("bodies/s")));
    let broken = json!([{"name": "a", "unit": "ms", "value": "1"}]);
    assert!(!validator.is_valid(&broken));
}

/// Bencher Metric Format: benchmark, measure, value. Latency is in nanoseconds, and limits lie around their value.
#[test]
fn bencher_metric_format() {
    let measure = json!({"type": "object", "additionalProperties": false, "required": ["value"], "properties": {
        "value": {"type": "number"}, "lower_value": {"type": "number"}, "upper_value": {"type": "number"}}});
    let schema = json!({"type": "object", "minProperties": 1, "propertyNames": {"minLength": 1, "maxLength": 1024},
        "additionalProperties": {"type": "object", "minProperties": 1, "additionalProperties": measure,
                                 "propertyNames": {"pattern": "^[a-z-]{1,64}$"}}});
    let metrics = exported_json("bencher", &three());
    assert_valid(&validator(&schema), &metrics, "bencher");
    let benchmarks = metrics.as_object().expect("an object");
    assert_eq!(benchmarks.len(), 2, "{metrics}");
    let pile = &metrics["pile/bodies=1000/threads=1/lanes=8/substeps=4/steps=60+5"];
    assert_eq!(pile["latency"], json!({"value": 2.5e6, "lower_value": 2.25e6, "upper_value": 2.75e6}));
    assert_eq!(pile["memory"], json!({"value": 1e7}));
    for measure in benchmarks.values().flat_map(|measures| measures.as_object().expect("measures").values()) {
        let limit = |key: &str| measure[key].as_f64().or(measure["value"].as_f64()).expect("a number");
        assert!(
            limit("lower_value") <= limit("value") && limit("value") <= limit("upper_value"),
            "{measure}"
        );
    }
}

fn trace_validator() -> Validator {
    let (text, number) = (json!({"type": "string", "minLength": 1}), json!({"type": "number", "minimum": 0}));
    let integer = json!({"type": "integer", "minimum": 0});
    let complete = json!({"type": "object", "additionalProperties": false,
        "required": ["name", "cat", "ph", "ts", "dur", "pid", "tid"],
        "properties": {"name": text, "cat": text, "ph": {"const": "X"}, "ts": number,
                       "dur": {"type": "number", "exclusiveMinimum": 0}, "pid": integer, "tid": integer}});
    let metadata = json!({"type": "object", "additionalProperties": false,
        "required": ["name", "ph", "ts", "pid", "tid", "args"],
        "properties": {"name": {"enum": ["process_name", "thread_name"]}, "ph": {"const": "M"}, "ts": number,
                       "pid": integer, "tid": integer, "args": {"type": "object", "required": ["name"],
                       "properties": {"name": text}}}});
    validator(&json!({"type": "object", "additionalProperties": false, "required": ["traceEvents"],
        "properties": {"displayTimeUnit": {"enum": ["ms", "ns"]},
                       "traceEvents": {"type": "array", "items": {"oneOf": [complete, metadata]}}}}))
}

/// The name, start and end of a span.
type Named = (String, f64, f64);

/// Returns the spans of each process and thread, in the order of the file.
fn threads(trace: &Value) -> BTreeMap<(u64, u64), Vec<Named>> {
    let mut threads: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] == "X") {
        let number = |key: &str| event[key].as_f64().expect("a number");
        let id = (number("pid") as u64, number("tid") as u64);
        let name = event["name"].as_str().expect("a name").to_owned();
        threads.entry(id).or_default().push((name, number("ts"), number("ts") + number("dur")));
    }
    threads
}

/// Checks that the spans of one thread start in their order, and that any two are apart or one inside the other, to the
/// last bit.
fn assert_nested(spans: &[Named]) {
    let mut open: Vec<f64> = Vec::new();
    let mut last = 0.0;
    for (name, start, end) in spans {
        assert!(*start >= last, "{name} at {start} after {last}");
        last = *start;
        while open.last().is_some_and(|outer| outer <= start) {
            open.pop();
        }
        assert!(open.last().is_none_or(|outer| end <= outer), "{name} until {end} in {open:?}");
        open.push(*end);
    }
}

/// Trace events: each record is a process with a name. Steps are as long as measured, each with its stages inside.
#[test]
fn trace_events() {
    let real = record(&["packed", "--bodies", "300", "--steps", "40"]);
    let mut records = three().to_vec();
    records.push(real.clone());
    let trace = exported_json("trace", &records);
    assert_valid(&trace_validator(), &trace, "trace");
    let threads = threads(&trace);
    assert_eq!(threads.len(), 4, "a thread a record");
    for spans in threads.values() {
        assert_nested(spans);
    }
    let names: Vec<&Value> =
        trace["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] == "M").collect();
    assert_eq!(names.iter().filter(|event| event["name"] == "process_name").count(), 4);
    assert_eq!(names.iter().filter(|event| event["name"] == "thread_name").count(), 4);
    let of = |spans: &[Named], name: &str| -> Vec<f64> {
        spans.iter().filter(|span| span.0 == name).map(|span| (span.2 - span.1) / 1e3).collect()
    };
    // The real record is the newest, and comes last.
    let (_, spans) = threads.last_key_value().expect("threads");
    let expected = real["samples_ms"]["step"].as_array().expect("steps");
    let steps = of(spans, "step");
    assert_eq!(steps.len(), expected.len());
    for (step, expected) in steps.iter().zip(expected) {
        assert!((step - expected.as_f64().expect("ms")).abs() < 5e-5, "{step} {expected}");
    }
    let solver: f64 = of(spans, "solver").iter().sum();
    let expected: f64 =
        real["samples_ms"]["solver"].as_array().expect("steps").iter().filter_map(Value::as_f64).sum();
    assert!((solver - expected).abs() < 2e-4 * steps.len() as f64, "{solver} ms of {expected}");
}

/// Spans of workers become threads of one process. A span without a length or a time is left out.
#[test]
fn trace_of_workers() {
    let span = |name, worker, start_us, duration_us| Span { name, worker, start_us, duration_us };
    let spans = [
        span("solver", 1, 30.1, 9.3),
        span("bounds", 0, 0.0, 10.0),
        span("step", 0, 0.0, 40.123_456),
        span("solver", 0, 10.0, 30.123_456),
        span("nothing", 0, 5.0, 0.0),
        span("never", 0, f64::NAN, 1.0),
    ];
    let mut out = Vec::new();
    trace::write(&mut out, "pile", &spans).expect("a vector takes everything");
    let trace: Value = serde_json::from_slice(&out).expect("one JSON object");
    assert_valid(&trace_validator(), &trace, "trace");
    let threads = threads(&trace);
    let names = |tid| threads[&(1, tid)].iter().map(|span| span.0.as_str()).collect::<Vec<_>>();
    assert_eq!((names(1), names(2)), (vec!["step", "bounds", "solver"], vec!["solver"]));
    threads.values().for_each(|spans| assert_nested(spans));
    let text = String::from_utf8(out).expect("UTF-8");
    assert!(
        text.contains("\"worker 0\"") && text.contains("\"worker 1\"") && text.contains("\"pile\""),
        "{text}"
    );
    let mut empty = Vec::new();
    trace::write(&mut empty, "pile", &[]).expect("a vector takes everything");
    assert_valid(&trace_validator(), &serde_json::from_slice(&empty).expect("JSON"), "no spans");
}

/// `run --trace` writes what both workers were busy with: every step with its stages on the first, and pieces of the
/// stages on the second, all within the steps. A world too small to share has one worker.
#[test]
fn trace_of_a_run() {
    let dir = temporary();
    let run =
        ["run", "packed", "--bodies", "20000", "--steps", "6", "--warmup", "2", "--trace", "trace.json"];
    succeeds(dir.path(), &[&run[..], &["--threads", "2", "--format", "json"]].concat());
    let text = fs::read_to_string(dir.path().join("trace.json")).expect("the trace");
    let trace: Value = serde_json::from_str(&text).expect("one JSON object");
    assert_valid(&trace_validator(), &trace, "trace");
    let threads = threads(&trace);
    let count = |tid: u64, name: &str| threads[&(1, tid)].iter().filter(|span| span.0 == name).count();
    assert_eq!((count(1, "step"), count(1, "solver"), count(1, "bounds")), (6, 6, 6));
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        assert!(count(2, "solver") > 0 && count(2, "step") == 0, "{text}");
    }
    threads.values().for_each(|spans| assert_nested(spans));
    refused(
        dir.path(),
        &["run", "gas", "--trace", "nowhere/trace.json"],
        "--trace nowhere/trace.json: there is no",
    );
    refused(dir.path(), &["run", "gas", "--trace", "trace.json"], "--trace trace.json: already there");
    assert_eq!(fs::read_to_string(dir.path().join("trace.json")).expect("still there"), text);
}

/// Records without a measured step have no time: they are in the table, and in no dashboard's numbers.
#[test]
fn no_steps_no_time() {
    let empty = record(&["gas", "--bodies", "20", "--steps", "0"]);
    let records = [empty, made_up("pile", &[1.0])];
    assert_eq!(exported("csv", &records).lines().count(), 3);
    assert_eq!(exported_json("bencher", &records).as_object().map(serde_json::Map::len), Some(1));
    assert_valid(&trace_validator(), &exported_json("trace", &records), "trace");
}

/// The profile of a run has samples with resolved symbols, as protobuf and as a flame graph, and only of the measured
/// steps.
#[cfg(unix)]
#[test]
fn profiles() {
    use pprof::protos::{Message, Profile};
    let dir = temporary();
    let path = dir.path();
    let arguments =
        ["run", "packed", "--bodies", "4000", "--threads", "1", "--warmup", "1", "--steps", "300"];
    let outputs = ["--format", "json", "--pprof", "run.pb", "--flamegraph", "run.svg"];
    let record = succeeds(path, &[&arguments[..], &outputs].concat());
    let record: Value = serde_json::from_str(&record).expect("one JSON object");
    let profile = fs::read(path.join("run.pb")).expect("the profile");
    let profile = Profile::decode(&profile[..]).expect("a profile");
    assert!(!profile.sample.is_empty());
    let resolved = |name: &&String| name.contains("granule::") || name.contains("granule[");
    assert!(profile.string_table.iter().any(|name| resolved(&name)), "{:?}", profile.string_table);
    // Samples are taken of the processor's time, 997 per second: there are no more than the measured steps account for.
    let samples: i64 = profile.sample.iter().map(|sample| sample.value[0]).sum();
    let measured = record["step_ms"]["mean"].as_f64().expect("ms") * 300.0;
    assert!(samples as f64 <= 1.2 * measured + 20.0, "{samples} samples in {measured} ms");
    let graph = fs::read_to_string(path.join("run.svg")).expect("the flame graph");
    assert!(graph.contains("<svg") && graph.contains("granule::"), "a flame graph");
    refused(path, &["run", "packed", "--pprof", "no/p.pb"], "--pprof no/p.pb: there is no directory no");
    refused(
        path,
        &["run", "packed", "--pprof", "a", "--flamegraph", "a"],
        "--pprof and --flamegraph name the same",
    );
    refused(path, &["run", "packed", "--pprof", "run.pb"], "--pprof run.pb: already there");
    refused(path, &["run", "packed", "--flamegraph", "run.svg"], "--flamegraph run.svg: already there");
    succeeds(path, &[&arguments[..], &["--flamegraph", "run.svg", "--force"]].concat());
    assert_ne!(fs::read_to_string(path.join("run.svg")).expect("the new flame graph"), graph);
}
