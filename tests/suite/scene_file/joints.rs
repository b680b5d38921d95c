//! Contract: scene files with joints. Each kind has its fields and no others; what a file cannot express is not written.

use super::{accepted, refusal};
use granule::scene::Scene;
use granule::{
    BodyDesc, JointDesc, JointDrive, JointEnds, JointFrame, JointKind, JointMotor, Settings, Shape, Spring,
    Vec2,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

type Joint = JointDesc<usize, usize>;

/// A static body, and three that move: the first at (0, 0), the others 1 m further up each. The third is turned by a quarter.
const BODIES: &str = r#""bodies":[
    {"type":"static","shape":{"box":{"half_extents":[0.5,0.5]}}},
    {"shape":{"circle":{"radius":0.1}},"position":[0,1]},
    {"shape":{"circle":{"radius":0.1}},"position":[0,2],"angle":1.5707964},
    {"shape":{"circle":{"radius":0.1}},"position":[0,3]}]"#;

/// A file with the bodies above, a particle and these joints.
fn file(joints: &str) -> String {
    format!(r#"{{{BODIES},"particles":[{{"position":[5,5]}}],"joints":[{joints}]}}"#)
}

/// The joints of a file.
fn read(joints: &str) -> Vec<Joint> {
    accepted(&file(joints)).joints
}

fn drive(target: f32, spring: Spring, limit: [f32; 2], motor: JointMotor) -> JointDrive {
    JointDrive { target, spring: Some(spring), limit: Some(limit), motor: Some(motor) }
}

/// Contract: every field of every kind gets to the right place.
#[test]
fn all_fields() {
    let ends = r#""a":0,"b":1,"frame_a":{"position":[1,2],"angle":3},"frame_b":{"position":[4,5],"angle":6},
                  "collide_connected":true"#;
    let strength = r#""break_force":1e3,"break_torque":2e3,"stiffness":{"hertz":30,"damping_ratio":1.5}"#;
    let free = r#""spring":{"hertz":2,"damping_ratio":0.7},"limit":[0.5,1],"motor":{"speed":3,"max":100}"#;
    let joints = read(&format!(
        r#"{{"kind":"distance",{ends},"length":7,"spring_force":[-8,9],{free},{strength}}},
           {{"kind":"revolute",{ends},"target":0.25,{free},{strength}}},
           {{"kind":"prismatic",{ends},"target":0.25,{free},{strength}}},
           {{"kind":"wheel",{ends},"target":0.25,{free},{strength}}},
           {{"kind":"weld",{ends},"linear":{{"hertz":4,"damping_ratio":5}},
             "angular":{{"hertz":6,"damping_ratio":7}},{strength}}},
           {{"kind":"motor",{ends},"linear_velocity":[1,2],"angular_velocity":3,"offset":[4,5],"angle":6,
             "max_force":7,"max_torque":8,{strength}}},
           {{"kind":"target","a":2,"frame_a":{{"position":[1,2],"angle":3}},"target":[8,9],
             "spring":{{"hertz":2,"damping_ratio":0.7}},"max_force":10,{strength}}},
           {{"kind":"gear","first":1,"second":2,"ratio":-2,{strength}}},
           {{"kind":"filter","a":3,"b":0}}"#
    ));
    assert_eq!(joints, joints_with_all_fields());
}

/// The joints of the file above.
fn joints_with_all_fields() -> [Joint; 9] {
    let spring = Spring::new(2.0, 0.7);
    let (limit, motor) = ([0.5, 1.0], JointMotor::new(3.0, 100.0));
    let drive = drive(0.25, spring, limit, motor);
    let strong = |joint: Joint| JointDesc {
        stiffness: Spring::new(30.0, 1.5),
        break_force: 1e3,
        break_torque: 2e3,
        ..joint
    };
    let frame_a = JointFrame { position: Vec2::new(1.0, 2.0), angle: 3.0 };
    let between = |kind: JointKind| {
        let frame_b = JointFrame { position: Vec2::new(4.0, 5.0), angle: 6.0 };
        strong(JointDesc { frame_a, frame_b, collide_connected: true, ..JointDesc::new(0, 1, kind) })
    };
    let pull = JointDesc::target(2, Vec2::ZERO, Vec2::new(8.0, 9.0), spring, 10.0);
    [
        between(JointKind::Distance {
            length: 7.0,
            spring: Some(spring),
            spring_force: [-8.0, 9.0],
            limit: Some(limit),
            motor: Some(motor),
        }),
        between(JointKind::Revolute(drive)),
        between(JointKind::Prismatic(drive)),
        between(JointKind::Wheel(drive)),
        between(JointKind::Weld {
            linear: Some(Spring::new(4.0, 5.0)),
            angular: Some(Spring::new(6.0, 7.0)),
        }),
        between(JointKind::Motor {
            linear_velocity: Vec2::new(1.0, 2.0),
            angular_velocity: 3.0,
            offset: Some(Vec2::new(4.0, 5.0)),
            angle: Some(6.0),
            max_force: 7.0,
            max_torque: 8.0,
        }),
        strong(JointDesc { frame_a, ..pull }),
        strong(JointDesc::gear(1, 2, -2.0)),
        JointDesc::filter(3, 0),
    ]
}

/// Contract: an omitted field has its documented default. The length of a distance joint is that at the start.
#[test]
fn defaults() {
    let joints = read(
        r#"{"kind":"distance","a":0,"b":1},
           {"kind":"distance","a":1,"b":2,"frame_b":{"position":[4,0]},"spring_force":[null,3]},
           {"kind":"distance","a":3,"b":2,"frame_a":{"position":[3,-1]}},
           {"kind":"revolute","a":0,"b":1,"frame_a":{},"frame_b":{"angle":1},"motor":{"speed":1,"max":null}},
           {"kind":"prismatic","a":0,"b":1},{"kind":"wheel","a":0,"b":1},{"kind":"weld","a":0,"b":1},
           {"kind":"motor","a":0,"b":1},
           {"kind":"target","a":1,"target":[8,9],"spring":{"hertz":2,"damping_ratio":0.7}}"#,
    );
    let free = JointDrive::default();
    let (centre, none) = (Vec2::ZERO, f32::INFINITY);
    let motor = Some(JointMotor::new(1.0, none));
    let mut hinge = JointDesc::new(0, 1, JointKind::Revolute(JointDrive { motor, ..free }));
    hinge.frame_b.angle = 1.0;
    let idle = JointKind::Motor {
        linear_velocity: centre,
        angular_velocity: 0.0,
        offset: None,
        angle: None,
        max_force: none,
        max_torque: none,
    };
    let mut expected = vec![
        JointDesc::distance(0, 1, centre, centre, 1.0),
        // The second body is turned: the point is 4 m above its centre.
        JointDesc::distance(1, 2, centre, Vec2::new(4.0, 0.0), 5.0),
        JointDesc::distance(3, 2, Vec2::new(3.0, -1.0), centre, 3.0),
        hinge,
        JointDesc::prismatic(0, 1, centre, centre, 0.0),
        JointDesc::wheel(0, 1, centre, centre, 0.0),
        JointDesc::weld(0, 1, centre, centre),
        JointDesc::new(0, 1, idle),
        JointDesc::target(1, centre, Vec2::new(8.0, 9.0), Spring::new(2.0, 0.7), none),
    ];
    let JointKind::Distance { spring_force, .. } = &mut expected[1].kind else { panic!("a distance joint") };
    *spring_force = [-none, 3.0];
    assert_eq!(joints, expected);
    assert!(accepted("{}").joints.is_empty());
}

/// Contract: bodies count as in the list of bodies, with the segments of chains behind them, and never as particles.
#[test]
fn ends_count_as_bodies_do() {
    let chain = r#""chains":[{"points":[[0,-5],[4,-5],[8,-5]]}]"#;
    let with = |b: usize| {
        format!(
            r#"{{{BODIES},{chain},"particles":[{{"position":[5,5]}}],"joints":[{{"kind":"weld","a":3,"b":{b}}}]}}"#
        )
    };
    let scene = accepted(&with(5));
    let JointEnds::Bodies(a, b) = scene.joints[0].ends else { panic!("{:?}", scene.joints) };
    assert_eq!((a, b, scene.bodies[b].position), (3, 5, Vec2::new(6.0, -5.0)));
    let mut world = scene.build().expect("a valid scene");
    let joint = world.joint(scene.joint_handle(0)).expect("the joint");
    assert_eq!(joint.ends, JointEnds::Bodies(scene.handle(3), scene.handle(5)));
    (0..10).for_each(|_| world.step());
    assert_eq!(refusal(&with(6)), "joints[0].b: 6 is out of range, the number of bodies is 6");
}

/// Each kind, with all fields that it needs.
const WHOLE: [&str; 9] = [
    r#""kind":"distance","a":0,"b":1"#,
    r#""kind":"revolute","a":0,"b":1"#,
    r#""kind":"prismatic","a":0,"b":1"#,
    r#""kind":"wheel","a":0,"b":1"#,
    r#""kind":"weld","a":0,"b":1"#,
    r#""kind":"motor","a":0,"b":1"#,
    r#""kind":"target","a":1,"target":[0,0],"spring":{"hertz":2,"damping_ratio":1}"#,
    r#""kind":"gear","first":0,"second":1,"ratio":2"#,
    r#""kind":"filter","a":0,"b":1"#,
];

/// Contract: a kind refuses every field that it does not have: those of other kinds, and those that no joint has. The error names the
/// joint's place in the list.
#[test]
fn unknown_fields() {
    let spring = r#"{"hertz":2,"damping_ratio":1}"#;
    let hinges = r#"{"kind":"revolute","a":0,"b":1},{"kind":"revolute","a":1,"b":2},"#;
    let free = "revolute prismatic wheel distance";
    let fields = [
        ("a", "1", "distance revolute prismatic wheel weld motor target filter"),
        ("b", "2", "distance revolute prismatic wheel weld motor filter"),
        ("first", "0", "gear"),
        ("second", "1", "gear"),
        ("ratio", "2", "gear"),
        ("frame_a", "{}", "distance revolute prismatic wheel weld motor target"),
        ("frame_b", "{}", "distance revolute prismatic wheel weld motor"),
        ("collide_connected", "false", "distance revolute prismatic wheel weld motor"),
        ("length", "1", "distance"),
        ("spring", spring, &format!("{free} target")),
        ("spring_force", "[0,1]", "distance"),
        ("limit", "[0,1]", free),
        ("motor", r#"{"speed":1,"max":1}"#, free),
        ("target", "1", "revolute prismatic wheel target"),
        ("linear", spring, "weld"),
        ("angular", spring, "weld"),
        ("linear_velocity", "[0,1]", "motor"),
        ("angular_velocity", "1", "motor"),
        ("offset", "[0,1]", "motor"),
        ("angle", "1", "motor"),
        ("max_force", "1", "motor target"),
        ("max_torque", "1", "motor"),
        ("break_force", "1", &format!("{free} weld motor target gear")),
        ("break_torque", "1", &format!("{free} weld motor target gear")),
        ("stiffness", spring, &format!("{free} weld motor target gear")),
    ];
    for whole in WHOLE {
        assert_eq!(read(&format!("{hinges}{{{whole}}}")).len(), 3, "{whole}");
        let kind = whole.split('"').nth(3).expect("a kind");
        for (field, value, kinds) in fields {
            if whole.contains(&format!("\"{field}\":")) {
                continue;
            }
            let json = file(&format!(r#"{hinges}{{{whole},"{field}":{value}}}"#));
            if kinds.split(' ').any(|known| known == kind) {
                accepted(&json);
            } else {
                let expected = format!("joints[2].{field}: unknown field: a {kind} joint has none");
                assert_eq!(refusal(&json), expected, "{json}");
            }
        }
        for inner in ["colour", "enabled", "tag", "Kind"] {
            let text = refusal(&file(&format!("{hinges}{{{whole},\"{inner}\":1}}")));
            assert!(text.starts_with("line 5 column "), "{text}");
            assert!(
                text.contains(&format!(": joints[2]: unknown field `{inner}`, expected one of `kind`,")),
                "{text}"
            );
        }
    }
}

/// Contract: a joint whose structure is wrong is refused with line, column and its place in the list.
#[test]
fn structure() {
    let with = |fields: &str| refusal(&file(&format!(r#"{{"kind":"filter","a":0,"b":1}},{{{fields}}}"#)));
    for (fields, expected) in [
        ("", "missing field `kind`"),
        (r#""kind":"hinge""#, "unknown variant `hinge`, expected one of `distance`, `revolute`, "),
        (r#""kind":"weld","a":-1"#, "invalid value: integer `-1`, expected usize"),
        (r#""kind":"weld","a":0,"a":1"#, "duplicate field `a`"),
        (
            r#""kind":"weld","a":0,"b":1,"frame_a":{"x":1}"#,
            "unknown field `x`, expected `position` or `angle`",
        ),
        (r#""kind":"weld","a":0,"b":1,"linear":{"hertz":1}"#, "missing field `damping_ratio`"),
        (r#""kind":"revolute","a":0,"b":1,"motor":{"speed":1}"#, "missing field `max`"),
        (r#""kind":"revolute","a":0,"b":1,"motor":{"max":1}"#, "missing field `speed`"),
        (r#""kind":"revolute","a":0,"b":1,"limit":[1]"#, "invalid length 1, expected an array of length 2"),
        (r#""kind":"revolute","a":0,"b":1,"target":"up""#, "`target` is a number or a point [x, y]"),
        (r#""kind":"target","a":0,"target":[1,2,3]"#, "`target` is a number or a point [x, y]"),
    ] {
        let text = with(fields);
        assert!(
            text.starts_with("line 5 column ") && text.contains(&format!(": joints[1]: {expected}")),
            "{text}"
        );
    }
    assert!(refusal(r#"{"joints":{}}"#).contains("expected a list of joints"));
    assert!(refusal(r#"{"joints":[{"kind":"#).ends_with("joints[0]: EOF while parsing a value"));
}

/// Checks that these fields of a joint, which comes after a hinge, are refused with a path in the joint and a reason.
fn assert_refused(cases: &[(&str, &str)]) {
    for (joint, expected) in cases {
        let json = file(&format!(r#"{{"kind":"revolute","a":0,"b":1}},{{{joint}}}"#));
        assert_eq!(refusal(&json), format!("joints[1].{expected}"), "{json}");
    }
}

/// Contract: a field that is missing, ends that do not fit and a value out of range are refused with the joint's place in the list, the
/// field's path and a reason.
#[test]
fn values() {
    assert_refused(&[
        (r#""kind":"weld","b":1"#, "a: the field is missing: a weld joint needs it"),
        (r#""kind":"weld","a":1"#, "b: the field is missing: a weld joint needs it"),
        (r#""kind":"gear","first":0,"ratio":2"#, "second: the field is missing: a gear joint needs it"),
        (r#""kind":"gear","first":0,"second":0"#, "ratio: the field is missing: a gear joint needs it"),
        (r#""kind":"target","a":1,"target":[0,0]"#, "spring: the field is missing: a target joint needs it"),
        (r#""kind":"weld","a":4,"b":1"#, "a: 4 is out of range, the number of bodies is 4"),
        (r#""kind":"weld","a":1,"b":1"#, "b: a joint needs two different bodies"),
        (
            r#""kind":"target","a":0,"target":[0,0],"spring":{"hertz":1,"damping_ratio":1}"#,
            "a: only a dynamic body can be pulled",
        ),
        (
            r#""kind":"target","a":1,"target":3,"spring":{"hertz":1,"damping_ratio":1}"#,
            "target: that of a target joint is a point [x, y]",
        ),
        (
            r#""kind":"target","a":1,"target":[0,2e7],"spring":{"hertz":1,"damping_ratio":1}"#,
            "target: 20000000 is not in -10000000..=10000000",
        ),
    ]);
    let two = file(
        r#"{"kind":"weld","a":0,"b":1},{"kind":"revolute","a":0,"b":2},{"kind":"gear","first":0,"second":1,"ratio":1}"#,
    );
    assert_eq!(refusal(&two), "joints[2].first: a gear couples revolute and prismatic joints");
    let fixed = r#"{"type":"static","shape":{"circle":{"radius":1}}}"#;
    let still = format!(r#"{{"bodies":[{fixed},{fixed}],"joints":[{{"kind":"filter","a":0,"b":1}}]}}"#);
    assert_eq!(refusal(&still), "joints[0].b: one of two joined bodies has to be dynamic");
}

/// Contract: the same for the values of each kind.
#[test]
fn values_of_kinds() {
    assert_refused(&[
        (r#""kind":"wheel","a":0,"b":1,"target":[1,2]"#, "target: that of a wheel joint is a number"),
        (r#""kind":"wheel","a":0,"b":1,"target":1e39"#, "target: 1e39 is out of range"),
        (r#""kind":"wheel","a":0,"b":1,"limit":[1,0]"#, "limit: the lower limit is above the upper one"),
        (
            r#""kind":"wheel","a":0,"b":1,"spring":{"hertz":-1,"damping_ratio":1}"#,
            "spring.hertz: -1 is not in 0..=1000000",
        ),
        (
            r#""kind":"wheel","a":0,"b":1,"motor":{"speed":1e7,"max":1}"#,
            "motor.speed: 10000000 is not in -1000000..=1000000",
        ),
        (r#""kind":"wheel","a":0,"b":1,"motor":{"speed":1,"max":-1}"#, "motor.max: -1 is not in 0..=inf"),
        (
            r#""kind":"wheel","a":0,"b":1,"frame_b":{"position":[0,2e6]}"#,
            "frame_b.position: 2000000 is not in -1000000..=1000000",
        ),
        (r#""kind":"wheel","a":0,"b":1,"frame_a":{"angle":1e300}"#, "frame_a.angle: 1e300 is out of range"),
        (r#""kind":"wheel","a":0,"b":1,"break_force":-1"#, "break_force: -1 is not in 0..=inf"),
        (
            r#""kind":"wheel","a":0,"b":1,"stiffness":{"hertz":1,"damping_ratio":2e3}"#,
            "stiffness.damping_ratio: 2000 is not in 0..=1000",
        ),
        (
            r#""kind":"weld","a":0,"b":1,"angular":{"hertz":2e6,"damping_ratio":1}"#,
            "angular.hertz: 2000000 is not in 0..=1000000",
        ),
        (
            r#""kind":"weld","a":0,"b":1,"linear":{"hertz":1,"damping_ratio":-1}"#,
            "linear.damping_ratio: -1 is not in 0..=1000",
        ),
        (r#""kind":"distance","a":0,"b":1,"length":-1"#, "length: -1 is not in 0..=1000000"),
        (
            r#""kind":"distance","a":0,"b":1,"spring_force":[1,0]"#,
            "spring_force: the smallest is above the largest",
        ),
        (r#""kind":"motor","a":0,"b":1,"max_torque":-1"#, "max_torque: -1 is not in 0..=inf"),
        (
            r#""kind":"gear","first":0,"second":1,"ratio":2"#,
            "second: names a joint that does not come before the gear",
        ),
        (r#""kind":"gear","first":0,"second":0,"ratio":2"#, "second: a gear needs two different joints"),
        (r#""kind":"gear","first":0,"second":7,"ratio":0"#, "ratio: closer to 0 than 10⁻⁴"),
    ]);
}

/// Contract: points of bodies with parts are counted from their centres of mass in a world. What is then out of range is refused with
/// the place in the list, the field's path and the range; what is accepted can be built.
#[test]
fn points_of_bodies_with_parts() {
    let box_at = |x: f32| format!(r#"{{"shape":{{"box":{{"half_extents":[1,1]}}}},"position":[{x},0]}}"#);
    let file = |list: &str| {
        let body = format!(r#"{{"shape":{{"box":{{"half_extents":[1,1]}}}},"parts":[{}]}}"#, box_at(8.0));
        format!(r#"{{"bodies":[{},{body}],"particles":[{{"position":[5,5]}}],{list}}}"#, box_at(0.0))
    };
    // The centre of mass is 4 m to the right of that of the own shape.
    let [joint, attachment] = [-999_998.0, -999_990.0].map(|x| {
        (
            format!(r#""joints":[{{"kind":"weld","a":0,"b":1,"frame_b":{{"position":[{x},0]}}}}]"#),
            format!(r#""attachments":[{{"particle":0,"body":1,"anchor":[{x},0],"length":1}}]"#),
        )
    });
    for list in [&attachment.0, &attachment.1] {
        accepted(&file(list)).build().expect("what is accepted can be built");
    }
    let range = "-1000002 is not in -1000000..=1000000";
    assert_eq!(refusal(&file(&joint.0)), format!("joints[0].frame_b.position: {range}"));
    assert_eq!(refusal(&file(&joint.1)), format!("attachments[0].anchor: {range}"));
    let far = r#""bodies":[{"shape":{"circle":{"radius":1}},"position":[9999999,0],
                  "parts":[{"shape":{"circle":{"radius":1}},"position":[400000,0]}]}]"#;
    let text = refusal(&format!("{{{far}}}"));
    assert!(text.starts_with("bodies[0].part.position: 10199999 is not in "), "{text}");
}

/// A scene of particles and bodies in turns, with these joints.
fn scene_of(joints: Vec<Joint>) -> Scene {
    let body = |x: usize| BodyDesc::dynamic(Shape::circle(0.1), Vec2::new(x as f32, 0.0));
    Scene {
        name: "joints".to_owned(),
        settings: Settings::default(),
        bodies: vec![body(0), body(1), body(2), body(3), BodyDesc::particle(Vec2::new(9.0, 0.0), 1.0)],
        parts: vec![],
        links: vec![],
        hulls: vec![],
        joints,
        pair_materials: Vec::new(),
        script: None,
    }
}

/// Contract: what a file cannot express is an error that says so, with the joint's place in the list. Nothing is dropped in silence.
#[test]
fn what_cannot_be_written() {
    let weld: Joint = JointDesc::weld(0, 1, Vec2::ZERO, Vec2::ZERO);
    let gear: Joint = JointDesc::gear(0, 1, 1.0);
    let held = JointFrame::at(Vec2::X);
    let pull: Joint = JointDesc::target(1, Vec2::ZERO, Vec2::ZERO, Spring::new(1.0, 1.0), 1.0);
    for (joint, expected) in [
        (JointDesc { enabled: false, ..weld }, "enabled: a scene file has enabled joints only"),
        (JointDesc { tag: 7, ..weld }, "tag: a scene file has no tags of joints"),
        (JointDesc::filter(0, 4), "b: names a particle; joints of a scene file join bodies only"),
        (JointDesc::filter(5, 0), "a: names a body that is not in the list"),
        (
            JointDesc { ends: JointEnds::World(0), ..weld },
            "ends: the kind joins something else: see JointEnds",
        ),
        (JointDesc { break_force: f32::NAN, ..weld }, "break_force: NaN is not in 0..=inf"),
        (JointDesc { frame_a: held, ..gear }, "frame_a: a gear joint of a scene file has no such field"),
        (JointDesc { frame_b: held, ..pull }, "frame_b: a target joint of a scene file has no such field"),
        (
            JointDesc { collide_connected: true, ..JointDesc::filter(0, 1) },
            "collide_connected: a filter joint of a scene file has no such field",
        ),
    ] {
        let hinge = |b| JointDesc::revolute(0, b, Vec2::ZERO, Vec2::ZERO);
        let scene = scene_of(vec![hinge(1), hinge(2), joint]);
        let error = scene.to_json().expect_err("a scene that no file can express").to_string();
        assert_eq!(error, format!("joints[2].{expected}"));
    }
}

/// Contract: bodies are counted without the particles before them, when a scene is written.
#[test]
fn places_skip_particles() {
    let mut scene = scene_of(vec![JointDesc::filter(2, 3)]);
    scene.bodies.rotate_right(1);
    let json = scene.to_json().expect("a scene that a file can express");
    assert!(json.contains("\"joints\":[\n {\"kind\":\"filter\",\"a\":1,\"b\":2}]"), "{json}");
}

/// A random number of a range, with any digits.
fn between(low: f32, high: f32) -> impl Strategy<Value = f32> + Clone {
    (0u32..=0xFF_FFFF).prop_map(move |part| low + (high - low) * (part as f32 / 16_777_215.0))
}

/// A number of a range, or one of the numbers that are special.
fn number(most: f32) -> impl Strategy<Value = f32> + Clone {
    prop_oneof![4 => between(-most, most), 1 => Just(0.0), 1 => Just(-0.0), 1 => Just(1.0e-38)]
}

fn strength() -> impl Strategy<Value = f32> + Clone {
    prop_oneof![2 => between(0.0, 1.0e9), 1 => Just(f32::INFINITY), 1 => Just(0.0)]
}

fn point(most: f32) -> impl Strategy<Value = Vec2> + Clone {
    (number(most), number(most)).prop_map(Vec2::from)
}

fn spring() -> impl Strategy<Value = Spring> + Clone {
    (between(0.0, 1.0e6), between(0.0, 1.0e3)).prop_map(|(hertz, damping)| Spring::new(hertz, damping))
}

fn sorted(low: f32, high: f32) -> impl Strategy<Value = [f32; 2]> + Clone {
    (between(low, high), between(low, high)).prop_map(|(one, other)| [one.min(other), one.max(other)])
}

fn motor() -> impl Strategy<Value = JointMotor> + Clone {
    (number(1.0e6), strength()).prop_map(|(speed, max)| JointMotor { speed, max })
}

fn free() -> impl Strategy<Value = JointDrive> + Clone {
    let options =
        (prop::option::of(spring()), prop::option::of(sorted(-1.0e6, 1.0e6)), prop::option::of(motor()));
    (number(1.0e6), options).prop_map(|(target, (spring, limit, motor))| JointDrive {
        target,
        spring,
        limit,
        motor,
    })
}

fn spring_force() -> impl Strategy<Value = [f32; 2]> + Clone {
    (sorted(-1.0e9, 1.0e9), any::<[bool; 2]>()).prop_map(|([low, high], open)| {
        [if open[0] { f32::NEG_INFINITY } else { low }, if open[1] { f32::INFINITY } else { high }]
    })
}

fn distance() -> impl Strategy<Value = JointKind> {
    let limit = prop::option::of(sorted(0.0, 1.0e6));
    (between(0.0, 1.0e6), prop::option::of(spring()), spring_force(), limit, prop::option::of(motor()))
        .prop_map(|(length, spring, spring_force, limit, motor)| JointKind::Distance {
            length,
            spring,
            spring_force,
            limit,
            motor,
        })
}

fn pushed() -> impl Strategy<Value = JointKind> {
    let wanted = (prop::option::of(point(1.0e6)), prop::option::of(number(1.0e6)));
    (point(1.0e6), number(1.0e6), wanted, strength(), strength()).prop_map(
        |(linear_velocity, angular_velocity, (offset, angle), max_force, max_torque)| JointKind::Motor {
            linear_velocity,
            angular_velocity,
            offset,
            angle,
            max_force,
            max_torque,
        },
    )
}

/// A joint of any kind. Before it in the list are two hinges.
fn joint() -> impl Strategy<Value = Joint> {
    let kind = prop_oneof![
        distance(),
        free().prop_map(JointKind::Revolute),
        free().prop_map(JointKind::Prismatic),
        free().prop_map(JointKind::Wheel),
        (prop::option::of(spring()), prop::option::of(spring()))
            .prop_map(|(linear, angular)| JointKind::Weld { linear, angular }),
        pushed(),
        (point(1.0e7), spring(), strength()).prop_map(|(target, spring, max_force)| JointKind::Target {
            target,
            spring,
            max_force
        }),
        between(0.001, 1.0e4).prop_map(|ratio| JointKind::Gear { ratio }),
        Just(JointKind::Filter),
    ];
    let frame = (point(1.0e6), number(1.0e6)).prop_map(|(position, angle)| JointFrame { position, angle });
    let strength = (strength(), strength(), prop_oneof![spring(), Just(Joint::STIFFNESS)]);
    let places = (0usize..4, 1usize..4).prop_map(|(a, more)| (a, (a + more) % 4));
    (kind, places, [frame.clone(), frame], any::<bool>(), strength).prop_map(
        |(kind, (a, b), [frame_a, frame_b], collide_connected, (break_force, break_torque, stiffness))| {
            let joint = JointDesc::new(a, b, kind);
            let strong = JointDesc { break_force, break_torque, stiffness, ..joint };
            match kind {
                JointKind::Filter => joint,
                JointKind::Gear { .. } => JointDesc { ends: JointEnds::Joints(1, 0), ..strong },
                JointKind::Target { .. } => JointDesc { ends: JointEnds::World(a), frame_a, ..strong },
                _ => JointDesc { frame_a, frame_b, collide_connected, ..strong },
            }
        },
    )
}

fn config(cases: u32) -> ProptestConfig {
    let failures = FileFailurePersistence::Direct("tests/regressions/scene_file.txt");
    ProptestConfig { cases, failure_persistence: Some(Box::new(failures)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(512))]

    /// Contract: a scene that is written and read back is the same, bit for bit, for joints of every kind. It can be built.
    #[test]
    fn round_trip(joints in prop::collection::vec(joint(), 1..8)) {
        let hinge = |b| JointDesc::revolute(0, b, Vec2::ZERO, Vec2::ZERO);
        let scene = scene_of([hinge(1), hinge(2)].into_iter().chain(joints).collect());
        let json = scene.to_json().expect("a scene that a file can express");
        let again = accepted(&json);
        prop_assert_eq!(&again, &scene);
        // Zeros that are equal may differ in their signs.
        prop_assert_eq!(format!("{:?}", again.joints), format!("{:?}", scene.joints));
        prop_assert_eq!(again.to_json().expect("the same scene"), json);
        let world = again.build().expect("what is accepted can be built");
        prop_assert_eq!(world.joint_count(), scene.joints.len());
    }
}

/// Contract: no bytes of a joint make the reader panic, and what is accepted can be built.
#[test]
fn hostile_bytes() {
    let hinge = JointDesc::revolute(0, 1, Vec2::ZERO, Vec2::X).with_motor(1.0, 2.0).with_limit(0.0, 1.0);
    let slide = JointDesc::prismatic(1, 2, Vec2::ZERO, Vec2::X, 0.5).with_spring(0.5, 3.0, 0.5);
    let pull = JointDesc::target(2, Vec2::X, Vec2::ONE, Spring::new(1.0, 0.5), 9.0);
    let scene = scene_of(vec![hinge, slide, JointDesc::gear(1, 0, 0.5), pull]);
    super::spoil(scene.to_json().expect("a scene that a file can express").as_bytes());
}
