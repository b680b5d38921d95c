//! Joints of scene files in `granule run`: their final state, and their number in the record.

use crate::command::{granule, refused, temporary};
use serde_json::Value;
use std::fs;

/// A weight on a rod, a weld that breaks at once, a hinge with a motor, a filter, a hinge that breaks at once, and the gear that it
/// takes with it; a ball that is pulled up.
const SCENE: &str = r#"{"name":"joints","bodies":[
    {"type":"static","shape":{"box":{"half_extents":[0.1,0.1]}}},
    {"shape":{"circle":{"radius":0.5}},"position":[0,-2],"mass":3},
    {"shape":{"circle":{"radius":0.5}},"position":[4,0],"mass":1},
    {"shape":{"circle":{"radius":0.5}},"position":[8,0],"mass":1,"gravity_scale":0},
    {"shape":{"circle":{"radius":0.5}},"position":[12,0],"mass":1},
    {"shape":{"circle":{"radius":0.5}},"position":[16,0],"mass":2}],
 "joints":[
    {"kind":"distance","a":0,"b":1},
    {"kind":"weld","a":0,"b":2,"frame_a":{"position":[4,0]},"break_force":1},
    {"kind":"revolute","a":0,"b":3,"frame_a":{"position":[8,0]},"motor":{"speed":2,"max":1000}},
    {"kind":"filter","a":1,"b":3},
    {"kind":"revolute","a":0,"b":4,"frame_a":{"position":[12,0]},"break_force":1},
    {"kind":"gear","first":2,"second":4,"ratio":1},
    {"kind":"target","a":5,"target":[16,0],"spring":{"hertz":5,"damping_ratio":1}}]}"#;

/// Contract: `--dump-joints` has a line a joint in the file's order, with zeros for what a kind does not have and for joints that are
/// gone. The record counts those that are left.
#[test]
fn dump_joints() {
    let dir = temporary();
    fs::write(dir.path().join("scene.json"), SCENE).expect("the scene is written");
    let run = granule(
        dir.path(),
        &["run", "scene.json", "--steps", "120", "--format", "json", "--dump-joints", "joints.csv"],
    );
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let record: Value = serde_json::from_str(&run.out).expect("one JSON object");
    assert_eq!(record["joints"], 4);
    let dump = fs::read_to_string(dir.path().join("joints.csv")).expect("the dump");
    let lines: Vec<&str> = dump.lines().collect();
    assert_eq!(lines.len(), 8, "{dump}");
    assert_eq!(lines[0], "id,kind,angle,translation,speed,force_x,force_y,torque,broken");
    assert_eq!(lines[2], "1,weld,0,0,0,0,0,0,1");
    assert_eq!(lines[4], "3,filter,0,0,0,0,0,0,0");
    assert_eq!(lines[5], "4,revolute,0,0,0,0,0,0,1");
    assert_eq!(lines[6], "5,gear,0,0,0,0,0,0,1");
    let near = |line: &str, start: &str, expected: [f64; 6]| {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!((fields.len(), fields[..2].join(",").as_str(), fields[8]), (9, start, "0"), "{line}");
        for (field, expected) in fields[2..8].iter().zip(expected) {
            let number: f64 = field.parse().expect("a number");
            assert!((number - expected).abs() < 0.05, "{line}: {number}, not {expected}");
        }
    };
    near(lines[1], "0,distance", [0.0, 2.0, 0.0, 0.0, 30.0, 0.0]);
    near(lines[3], "2,revolute", [4.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
    near(lines[7], "6,target", [0.0, 0.0, 0.0, 0.0, 20.0, 0.0]);

    let human = granule(dir.path(), &["run", "scene.json", "--steps", "2"]);
    assert!(human.code == 0 && human.out.contains(" joints\n"), "{}", human.out);
}

/// Contract: a scene without joints has a dump without lines, and a dump that cannot be written is refused before anything runs.
#[test]
fn dumps_that_are_empty_or_refused() {
    let dir = temporary();
    let run = granule(
        dir.path(),
        &["run", "pile", "--bodies", "20", "--warmup", "0", "--steps", "1", "--dump-joints", "joints.csv"],
    );
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let dump = fs::read_to_string(dir.path().join("joints.csv")).expect("the dump");
    assert_eq!(dump, "id,kind,angle,translation,speed,force_x,force_y,torque,broken\n");

    refused(
        dir.path(),
        &["run", "--dump-joints", "no/b.csv"],
        "--dump-joints no/b.csv: there is no directory no",
    );
    for [one, other] in
        [["--dump", "--dump-particles"], ["--dump", "--dump-joints"], ["--dump-particles", "--dump-joints"]]
    {
        let expected = format!("{one} and {other} name the same file");
        refused(dir.path(), &["run", one, "b.csv", other, "b.csv"], &expected);
    }
    fs::write(dir.path().join("wrong.json"), SCENE.replace("\"break_force\":1", "\"ratio\":1"))
        .expect("a scene");
    let expected = "wrong.json: joints[1].ratio: unknown field: a weld joint has none";
    refused(dir.path(), &["run", "wrong.json"], expected);
}
