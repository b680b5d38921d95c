//! Contract of scene files: what the reader accepts, which defaults it uses, and what it refuses with which error.
#![cfg(feature = "scene")]

mod joints;

use granule::scene::{self, BUILTIN, Scene};
use granule::{
    Assembly, BodyDesc, BodyType, Filter, Isa, LinkDesc, LinkKind, Material, Mix, Mixed, Mixing, Part,
    Polygon, Settings, Shape, Solver, Vec2,
};

/// Returns the text of the error with which this file is refused.
fn refusal(json: &str) -> String {
    match Scene::from_json(json.as_bytes()) {
        Ok(scene) => panic!("accepted: {scene:?}"),
        Err(error) => error.to_string(),
    }
}

fn accepted(json: &str) -> Scene {
    Scene::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// A file with one circle that has these fields as well.
fn circle_with(fields: &str) -> String {
    format!(r#"{{"bodies":[{{"shape":{{"circle":{{"radius":0.5}}}}{fields}}}]}}"#)
}

/// Every field of the format gets to the right place.
#[test]
fn all_fields() {
    let scene = accepted(
        r#"{"name":"example","gravity":[1,-9.5],"time_step":0.016666667,"substeps":2,"iterations":3,"link_iterations":6,
            "solver":"projection","mixing":{"friction":"geometric_mean","restitution":"max"},
            "contact_frequency_ratio":0.2,"damping_ratio":5,"push_out_speed":2,"slop":0.01,
            "restitution_threshold":0.5,"projection_percent":0.3,"projection_slop":0.02,"sleep":false,"sleep_threshold":0.1,"time_to_sleep":2,
            "continuous":false,
            "materials":[{"density":2,"static_friction":0.7,"dynamic_friction":0.3,"restitution":0.1},
                         {"density":3,"static_friction":0.2,"dynamic_friction":0.1,"restitution":0.9,"id":7}],
            "bodies":[
             {"type":"static","shape":{"half_space":{"normal":[0,1],"offset":-1}},"material":0},
             {"type":"kinematic","shape":{"aabb":{"half_extents":[10,1]}},"position":[0,-1]},
             {"type":"dynamic","shape":{"circle":{"radius":0.5}},"position":[0,4],"velocity":[1,0],
              "angle":0.25,"angular_velocity":-2,"material":1,"category":2,"mask":4294967294,"group":5,
              "gravity_scale":0.5,"linear_damping":0.1,"angular_damping":0.2,"mass":7,
              "inertia":3,"lock_x":true,"lock_y":true,"max_speed":8,"max_angular_speed":9,"enabled":false,
              "tag":18446744073709551615,"sleep":false,"sleep_threshold":0.3,"time_to_sleep":4,"bullet":true,"sensor":true}],
            "particles":[
             {"position":[0,5],"mass":1.5,"pinned":true},
             {"position":[0,4],"velocity":[1,0],"mass":2,"radius":0.1,"material":1,"group":7,"damping":0.5,
              "gravity_scale":2,"sleep":false,"sleep_threshold":0,"time_to_sleep":1,"bullet":true,"lock_x":true,"lock_y":true,
              "max_speed":6,"enabled":false,"tag":5}],
            "links":[{"a":0,"b":1},{"a":1,"b":0,"length":2,"kind":"max_distance","compliance":0.01,
              "stiffness":0.5,"break_force":100,"tag":4}],
            "attachments":[{"particle":1,"body":2,"anchor":[0,0.5]}]}"#,
    );
    let settings = Settings {
        gravity: Vec2::new(1.0, -9.5),
        time_step: 1.0 / 60.0,
        substeps: 2,
        iterations: 3,
        link_iterations: 6,
        solver: Solver::Projection,
        isa: Isa::Auto,
        mixing: Mixing { friction: Mix::GeometricMean, restitution: Mix::Max },
        contact_frequency_ratio: 0.2,
        damping_ratio: 5.0,
        push_out_speed: 2.0,
        slop: 0.01,
        restitution_threshold: 0.5,
        projection_percent: 0.3,
        projection_slop: 0.02,
        sleep: false,
        sleep_threshold: 0.1,
        time_to_sleep: 2.0,
        continuous: false,
    };
    let first = Material {
        density: 2.0,
        static_friction: 0.7,
        dynamic_friction: 0.3,
        restitution: 0.1,
        ..Material::default()
    };
    let second = Material {
        density: 3.0,
        static_friction: 0.2,
        dynamic_friction: 0.1,
        restitution: 0.9,
        id: 7,
        ..Material::default()
    };
    let ground = BodyDesc {
        material: first,
        ..BodyDesc::fixed(Shape::half_space(Vec2::new(0.0, 1.0), -1.0), Vec2::ZERO)
    };
    let lift =
        BodyDesc { material: first, ..BodyDesc::kinematic(Shape::aabb(10.0, 1.0), Vec2::new(0.0, -1.0)) };
    let ball = BodyDesc {
        body_type: BodyType::Dynamic,
        shape: Shape::circle(0.5),
        position: Vec2::new(0.0, 4.0),
        angle: 0.25,
        velocity: Vec2::new(1.0, 0.0),
        angular_velocity: -2.0,
        material: second,
        filter: Filter { category: 2, mask: 4_294_967_294, group: 5 },
        gravity_scale: 0.5,
        linear_damping: 0.1,
        angular_damping: 0.2,
        mass: Some(7.0),
        inertia: Some(3.0),
        fixed_rotation: false,
        lock_x: true,
        lock_y: true,
        max_speed: Some(8.0),
        max_angular_speed: Some(9.0),
        enabled: false,
        tag: u64::MAX,
        sleep: false,
        sleep_threshold: Some(0.3),
        time_to_sleep: Some(4.0),
        bullet: true,
        sensor: true,
    };
    let pin = BodyDesc { material: first, ..BodyDesc::particle(Vec2::new(0.0, 5.0), 1.5).pinned() };
    let point = BodyDesc {
        shape: Shape::particle(0.1),
        velocity: Vec2::new(1.0, 0.0),
        material: second,
        filter: Filter { group: 7, ..Filter::default() },
        linear_damping: 0.5,
        gravity_scale: 2.0,
        sleep: false,
        sleep_threshold: Some(0.0),
        time_to_sleep: Some(1.0),
        bullet: true,
        lock_x: true,
        lock_y: true,
        max_speed: Some(6.0),
        enabled: false,
        tag: 5,
        ..BodyDesc::particle(Vec2::new(0.0, 4.0), 2.0)
    };
    let rope = LinkDesc {
        kind: LinkKind::Max,
        compliance: 0.01,
        stiffness: 0.5,
        break_force: 100.0,
        tag: 4,
        ..LinkDesc::distance(4, 3, 2.0)
    };
    let bodies = vec![ground, lift, ball, pin, point];
    let links = vec![LinkDesc::distance(3, 4, 1.0), rope, LinkDesc::attach(4, 2, Vec2::new(0.0, 0.5))];
    assert_eq!(
        scene,
        Scene {
            name: "example".to_owned(),
            settings,
            bodies,
            parts: vec![],
            links,
            hulls: vec![],
            joints: vec![],
            pair_materials: Vec::new(),
            script: None
        }
    );
}

/// Shapes that turn, parts and chains get to the right place: chains come after the bodies and before the particles.
#[test]
fn shapes_that_turn() {
    let scene = accepted(
        r#"{"materials":[{"rolling_resistance":0.1,"tangent_speed":-2},{"density":3}],
            "bodies":[
             {"shape":{"box":{"half_extents":[1,0.5]}},"fixed_rotation":true,"material":1},
             {"type":"static","shape":{"chain_segment":{"half_length":2,"before":[-3,1]}},"angle":0.5,"material":1},
             {"shape":{"capsule":{"half_length":0.5,"radius":0.25}},"material":1,"parts":[
               {"shape":{"polygon":{"vertices":[[0,0],[0,3],[3,0]],"radius":0.125}},"position":[2,1],"angle":-0.5,
                "material":0,"category":4,"mask":5,"group":6,"tag":9,"sensor":true},
               {"shape":{"segment":{"half_length":0.75}},"material":1}]}],
            "chains":[{"points":[[0,0],[4,0],[4,3]],"material":1,"category":2,"mask":3},
                      {"points":[[9,0],[12,0],[9,4]],"closed":true,"material":1}],
            "particles":[{"position":[0,5],"material":1}],
            "attachments":[{"particle":0,"body":2}]}"#,
    );
    let belt = Material { rolling_resistance: 0.1, tangent_speed: -2.0, ..Material::default() };
    let heavy = Material { density: 3.0, ..Material::default() };
    let triangle = [Vec2::ZERO, Vec2::new(3.0, 0.0), Vec2::new(0.0, 3.0)];
    let triangle = Shape::Polygon(Polygon::rounded(&triangle, 0.125).expect("a triangle").0);
    let end = Shape::ChainSegment { half_length: 2.0, before: Some(Vec2::new(-3.0, 1.0)), after: None };
    let of = |desc: BodyDesc| BodyDesc { material: heavy, ..desc };
    let mut bodies = vec![
        BodyDesc { fixed_rotation: true, ..of(BodyDesc::dynamic(Shape::oriented_box(1.0, 0.5), Vec2::ZERO)) },
        BodyDesc { angle: 0.5, ..of(BodyDesc::fixed(end, Vec2::ZERO)) },
        of(BodyDesc::dynamic(Shape::capsule(0.5, 0.25), Vec2::ZERO)),
    ];
    let ledge = [Vec2::ZERO, Vec2::new(4.0, 0.0), Vec2::new(4.0, 3.0)];
    for mut segment in Assembly::chain(&ledge, false, heavy).expect("a chain").bodies {
        segment.filter = Filter { category: 2, mask: 3, group: 0 };
        bodies.push(segment);
    }
    let island = [Vec2::new(9.0, 0.0), Vec2::new(12.0, 0.0), Vec2::new(9.0, 4.0)];
    bodies.extend(Assembly::chain(&island, true, heavy).expect("a chain").bodies);
    bodies.push(of(BodyDesc::dynamic(Shape::particle(BodyDesc::PARTICLE_RADIUS), Vec2::new(0.0, 5.0))));
    let plate = Part {
        angle: -0.5,
        material: belt,
        filter: Filter { category: 4, mask: 5, group: 6 },
        tag: 9,
        sensor: true,
        ..Part::new(triangle, Vec2::new(2.0, 1.0))
    };
    let rod = Part { material: heavy, ..Part::new(Shape::segment(0.75), Vec2::ZERO) };
    let parts = vec![(2, plate), (2, rod)];
    let links = vec![LinkDesc::attach(8, 2, Vec2::ZERO)];
    let name = "scene".to_owned();
    assert_eq!(
        scene,
        Scene {
            name,
            settings: Settings::default(),
            bodies,
            parts,
            links,
            hulls: vec![],
            joints: vec![],
            pair_materials: Vec::new(),
            script: None
        }
    );
    let again = accepted(&scene.to_json().expect("a finite scene"));
    assert_eq!(again, scene);
}

/// The omitted fields of shapes that turn have their defaults: before and after, closed, radius, position, angle and
/// others.
#[test]
fn defaults_of_shapes_that_turn() {
    let scene = accepted(
        r#"{"bodies":[{"shape":{"polygon":{"vertices":[[-1,-1],[1,-1],[1,1],[-1,1]]}},
                       "parts":[{"shape":{"circle":{"radius":1}}}]},
                      {"type":"static","shape":{"chain_segment":{"half_length":1}}}],
            "chains":[{"points":[[0,0],[1,0]]}]}"#,
    );
    let Shape::Polygon(square) = scene.bodies[0].shape else { panic!("{:?}", scene.bodies[0].shape) };
    assert_eq!((square.radius(), square.vertices().len()), (0.0, 4));
    assert!(!scene.bodies[0].fixed_rotation);
    assert_eq!(scene.parts, [(0, Part::new(Shape::circle(1.0), Vec2::ZERO))]);
    let alone = |half_length| Shape::ChainSegment { half_length, before: None, after: None };
    assert_eq!(
        scene.bodies[1..],
        [BodyDesc::fixed(alone(1.0), Vec2::ZERO), BodyDesc::fixed(alone(0.5), Vec2::new(0.5, 0.0))]
    );
}

/// A polygon is moved to its centroid once: a polygon that is read, written and read again is the same, bit for bit.
#[test]
fn polygons_settle() {
    let corners = "[100.3,7.1],[103.7,6.9],[104.1,9.3],[101.9,11.7],[99.3,8.8]";
    let scene = accepted(&format!(r#"{{"bodies":[{{"shape":{{"polygon":{{"vertices":[{corners}]}}}}}}]}}"#));
    let Shape::Polygon(polygon) = scene.bodies[0].shape else { panic!("{:?}", scene.bodies[0].shape) };
    assert!(polygon.vertices().iter().all(|vertex| vertex.length() < 4.0), "{polygon:?}");
    assert_eq!(accepted(&scene.to_json().expect("a finite scene")), scene);
}

/// In a world the parts have the relative places that the scene gives, whatever the centre of mass, and so do anchors.
#[test]
fn parts_are_placed_from_the_own_shape() {
    let scene = accepted(
        r#"{"bodies":[{"shape":{"circle":{"radius":0.5}},"position":[10,20],"angle":1.5707964,"parts":[
                        {"shape":{"circle":{"radius":0.5}},"position":[2,0]},
                        {"shape":{"circle":{"radius":0.5}},"position":[4,0]},
                        {"shape":{"circle":{"radius":0.5}},"position":[6,0]}]}],
            "particles":[{"position":[10,26]}],
            "attachments":[{"particle":0,"body":0,"anchor":[6,0]}]}"#,
    );
    let world = scene.build().expect("a valid scene");
    let body = scene.handle(0);
    let near = |a: Vec2, b: Vec2| assert!(a.distance(b) < 1.0e-5, "{a} {b}");
    near(world.body(body).expect("the body").position, Vec2::new(10.0, 23.0));
    let parts = world.parts(body).expect("the body");
    for (part, x) in parts.iter().zip([-3.0, -1.0, 1.0, 3.0]) {
        near(part.position, Vec2::new(x, 0.0));
    }
    near(world.links().next().expect("the attachment").1.anchor_b, Vec2::new(3.0, 0.0));

    let mut stray = scene;
    stray.parts.push((7, Part::new(Shape::circle(0.5), Vec2::ZERO)));
    assert!(stray.build().is_err());
    let error = stray.to_json().expect_err("a part of no body").to_string();
    assert_eq!(error, "parts[3]: names a body that is not there, or a particle");
}

/// An omitted field has its documented default.
#[test]
fn defaults() {
    let empty = Scene {
        name: "scene".to_owned(),
        settings: Settings::default(),
        bodies: vec![],
        parts: vec![],
        links: vec![],
        hulls: vec![],
        joints: vec![],
        pair_materials: Vec::new(),
        script: None,
    };
    assert_eq!(accepted("{}"), empty);
    assert_eq!(accepted(r#"{"solver":"projection"}"#).settings, Settings::projection());
    assert_eq!(accepted(r#"{"mixing":{}}"#).settings.mixing, Mixing::default());
    assert_eq!(accepted(&circle_with("")).bodies, [BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)]);
    let half_space = accepted(r#"{"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,2]}}}]}"#);
    assert_eq!(half_space.bodies[0].shape, Shape::half_space(Vec2::new(0.0, 2.0), 0.0));
    let material = r#"{"materials":[{}],"bodies":[{"shape":{"circle":{"radius":0.5}},"material":0}]}"#;
    assert_eq!(accepted(material).bodies[0].material, Material::default());
}

/// A scene that is written and read back is the same scene, bit for bit, whatever its numbers.
#[test]
fn round_trip() {
    for builtin in BUILTIN {
        let scene = scene::builtin(builtin.name, 300, 5).expect("a built-in scene");
        // Scene files have no scripts.
        if scene.script.is_some() {
            continue;
        }
        let json = scene.to_json().expect("a built-in scene is finite");
        assert_eq!(accepted(&json), scene, "{}", builtin.name);
    }
    // The numbers have every scale, and none is short in binary.
    let awkward = |i: u32| f32::from_bits(0x3dcc_cccd ^ (i.wrapping_mul(0x9e37_79b9) & 0x03ff_ffff));
    let bodies = (0..5_000).map(|i| BodyDesc {
        velocity: Vec2::new(-awkward(i), awkward(i + 1)),
        angle: -0.0,
        ..BodyDesc::dynamic(Shape::circle(awkward(i + 2)), Vec2::new(awkward(i + 3), -0.0))
    });
    let scene = Scene {
        name: "a \"name\"".to_owned(),
        settings: Settings::projection(),
        bodies: bodies.collect(),
        parts: vec![],
        links: vec![],
        hulls: vec![],
        joints: vec![],
        pair_materials: Vec::new(),
        script: None,
    };
    let read = accepted(&scene.to_json().expect("a finite scene"));
    assert_eq!(read, scene);
    assert!(read.bodies[0].angle.is_sign_negative() && read.bodies[0].position.y.is_sign_negative());
}

/// A file says what holds where two materials meet, by their ids; a world has it, and the file is written back. What is out of range, missing or
/// said twice is refused with its path.
#[test]
fn pairs_of_materials() {
    let pair = r#"{"a":7,"b":3,"static_friction":0.5,"dynamic_friction":0.25,"restitution":0.125}"#;
    let file = |pairs: &str| {
        format!(
            r#"{{"materials":[{{"id":3}},{{"id":7}}],"material_pairs":[{pairs}],
                 "bodies":[{{"shape":{{"circle":{{"radius":0.5}}}},"material":1}},
                           {{"type":"static","shape":{{"half_space":{{"normal":[0,1]}}}},"material":0}}]}}"#
        )
    };
    let scene = accepted(&file(pair));
    let mixed = Mixed { static_friction: 0.5, dynamic_friction: 0.25, restitution: 0.125 };
    assert_eq!(scene.pair_materials, [([7, 3], mixed)]);
    let world = scene.build().unwrap();
    assert_eq!((world.pair_material(3, 7), world.pair_material(3, 3)), (Some(mixed), None));
    let json = scene.to_json().unwrap();
    assert!(json.contains(&format!("\"material_pairs\":[\n {pair}]")), "{json}");
    assert_eq!(accepted(&json).pair_materials, scene.pair_materials);
    let twice = format!("{pair},{}", pair.replace(r#""a":7,"b":3"#, r#""a":3,"b":7"#));
    for (pairs, expected) in [
        (twice, "material_pairs[1]: names the materials of material_pairs[0]"),
        (pair.replace("0.125", "1.5"), "material_pairs[0].restitution: 1.5 is not in 0..=1"),
        (pair.replace("0.25", "1e40"), "material_pairs[0].dynamic_friction: 1e40 is out of range"),
    ] {
        assert_eq!(refusal(&file(&pairs)), expected);
    }
    let missing = refusal(&file(&pair.replace(r#","restitution":0.125"#, "")));
    assert!(missing.contains("missing field `restitution`"), "{missing}");
    let doubled = Scene { pair_materials: vec![([7, 3], mixed), ([3, 7], mixed)], ..scene };
    let error = doubled.to_json().expect_err("one pair twice").to_string();
    assert_eq!(error, "material_pairs[1]: names the materials of material_pairs[0]");
}

/// Numbers are written in their shortest form, for human readers.
#[test]
fn short_numbers() {
    let json = scene::builtin("packed", 1, 1).and_then(|scene| scene.to_json().ok()).expect("a scene");
    assert!(json.contains(r#""slop":0.005,"#), "{json}");
    assert!(!json.contains("0.00499"), "{json}");
}

/// Contract: the writer refuses a scene with a script, and says so.
#[test]
fn writing_refuses_scripts() {
    for name in ["rain", "walkers"] {
        let scene = scene::builtin(name, 60, 1).expect("a built-in scene");
        let error = scene.to_json().expect_err("a scene with a script");
        assert!(error.to_string().starts_with("script: a scene file has none"), "{error}");
    }
}

/// The writer refuses a scene that no file can express, with the path of the value.
#[test]
fn writing_refuses_nan() {
    let body = BodyDesc::dynamic(Shape::circle(1.0), Vec2::new(f32::NAN, 0.0));
    let scene = Scene {
        name: "x".to_owned(),
        settings: Settings::default(),
        bodies: vec![body],
        parts: vec![],
        links: vec![],
        hulls: vec![],
        joints: vec![],
        pair_materials: Vec::new(),
        script: None,
    };
    let error = scene.to_json().expect_err("NaN is not JSON").to_string();
    assert!(error.starts_with("bodies[0].position: NaN is not in "), "{error}");
}

/// A file that is not JSON, or lacks the structure of a scene, is refused with line and column.
#[test]
fn structure_errors_name_line_and_column() {
    for (json, expected) in [
        ("", "line 1 column 0: EOF while parsing a value"),
        ("{\n \"bodies\": [,]}", "line 2 column 13: expected value"),
        ("{\"gravity\":[0,NaN]}", "line 1 column 15: expected value"),
        ("{\"gravity\":[0,1e999]}", "line 1 column 19: number out of range"),
        ("{\"gravity\":[0]}", "line 1 column 14: invalid length 1, expected an array of length 2"),
        ("{\"gravity\":[0,1,2]}", "line 1 column 17: trailing characters"),
        ("{\"substeps\":-1}", "line 1 column 14: invalid value: integer `-1`, expected u32"),
        (
            "{\"solver\":\"fast\"}",
            "line 1 column 16: unknown variant `fast`, expected `soft` or `projection`",
        ),
        ("{} {}", "line 1 column 4: trailing characters"),
        ("{\"name\":\"a\",\"name\":\"b\"}", "line 1 column 18: duplicate field `name`"),
    ] {
        assert_eq!(refusal(json), expected, "{json}");
    }
    let unknown = [
        ("{\n\"bodis\":[]}".to_owned(), "line 2 column 7: unknown field `bodis`, expected one of `name`,"),
        (circle_with(",\"colour\":1"), "line 1 column 54: unknown field `colour`, expected one of `type`,"),
        ("{\"bodies\":[{\"shape\":{\"ball\":{}}}]}".to_owned(), "line 1 column 27: unknown variant `ball`,"),
        ("{\"bodies\":[{}]}".to_owned(), "line 1 column 13: missing field `shape`"),
        ("{\"x\\u000a\\u001b[31m\":1}".to_owned(), "line 1 column 20: unknown field `x  [31m`,"),
    ];
    for (json, expected) in unknown {
        let text = refusal(&json);
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

/// A value out of range is refused with its path, its value and the range.
#[test]
fn value_errors_name_the_path() {
    let half_space = |kind, normal| {
        format!(r#"{{"bodies":[{{"type":"{kind}","shape":{{"half_space":{{"normal":{normal}}}}}}}]}}"#)
    };
    let valid = r#"{"shape":{"circle":{"radius":1}}}"#;
    let fourth =
        format!(r#"{{"bodies":[{valid},{valid},{valid},{{"shape":{{"circle":{{"radius":-1}}}}}}]}}"#);
    for (json, expected) in [
        (fourth, "bodies[3].shape.circle.radius: -1 is not in 0.0001..=1000000"),
        (
            r#"{"bodies":[{"shape":{"aabb":{"half_extents":[1,0]}}}]}"#.to_owned(),
            "bodies[0].shape.aabb.half_extents: 0 is not in 0.0001..=1000000",
        ),
        (circle_with(r#","position":[0,1e300]"#), "bodies[0].position: 1e300 is out of range"),
        (circle_with(r#","velocity":[2e6,0]"#), "bodies[0].velocity: 2000000 is not in -1000000..=1000000"),
        (
            circle_with(r#","material":1"#),
            "bodies[0].material: 1 is out of range, the number of materials is 0",
        ),
        (
            r#"{"materials":[{}],"bodies":[{"shape":{"circle":{"radius":1}},"material":1}]}"#.to_owned(),
            "bodies[0].material: 1 is out of range, the number of materials is 1",
        ),
        (r#"{"materials":[{},{"density":-2}]}"#.to_owned(), "materials[1].density: -2 is not in 0..=1000000"),
        (
            r#"{"materials":[{"restitution":1.5}]}"#.to_owned(),
            "materials[0].restitution: 1.5 is not in 0..=1",
        ),
        (r#"{"materials":[{"density":1e39}]}"#.to_owned(), "materials[0].density: 1e39 is out of range"),
        (
            half_space("static", "[0,0]"),
            "bodies[0].shape.half_space.normal: a normal of length zero has no direction",
        ),
        (r#"{"time_step":0}"#.to_owned(), "time_step: 0 is not in 0.000001..=1"),
        (r#"{"substeps":0}"#.to_owned(), "substeps: 0 is not in 1..=1024"),
        (r#"{"gravity":[0,-1e39]}"#.to_owned(), "gravity: -1e39 is out of range"),
        (r#"{"name":""}"#.to_owned(), "name: must be printable and not empty"),
        (r#"{"name":"a\nb"}"#.to_owned(), "name: must be printable and not empty"),
        (format!(r#"{{"name":"{}"}}"#, "x".repeat(101)), "name: longer than 100 characters"),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1]}}}],"links":[{"a":0,"b":2}]}"#.to_owned(),
            "links[0].b: 2 is out of range, the number of particles is 2",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1]}}}],"links":[{"a":0,"b":1},{"a":1,"b":1}]}"#.to_owned(),
            "links[1].b: a link needs two different bodies",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1]}}}],"links":[{"a":0,"b":1,"length":-1}]}"#.to_owned(),
            "links[0].length: -1 is not in 0..=1000000",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1]}}}],"links":[{"a":0,"b":1,"compliance":1e300}]}"#.to_owned(),
            "links[0].compliance: 1e300 is out of range",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1]}}}],"links":[{"a":0,"b":1,"stiffness":2}]}"#.to_owned(),
            "links[0].stiffness: 2 is not in 0..=1",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1]}}}],"attachments":[{"particle":2,"body":0}]}"#.to_owned(),
            "attachments[0].particle: 2 is out of range, the number of particles is 2",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1]}}}],"attachments":[{"particle":0,"body":1}]}"#.to_owned(),
            "attachments[0].body: 1 is out of range, the number of bodies is 1",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1]}}}],"attachments":[{"particle":0,"body":0}]}"#.to_owned(),
            "attachments[0].body: a half-space cannot be linked",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]}],"hulls":[[0,1],[0,2]]}"#.to_owned(),
            "hulls[1][1]: 2 is out of range, the number of particles is 2",
        ),
        (
            r#"{"particles":[{"position":[0,0]}],"hulls":[[0]]}"#.to_owned(),
            "hulls[0]: a hull has 2 to 8 points",
        ),
        (
            r#"{"particles":[{"position":[0,0]},{"position":[1,0]},{"position":[2,0]}],"hulls":[[0,1,2]]}"#
                .to_owned(),
            "hulls[0][0]: not a corner of a convex polygon, one after the other",
        ),
        (
            r#"{"particles":[{"position":[0,0],"radius":-1}]}"#.to_owned(),
            "particles[0].shape.particle.radius: -1 is not in 0.0001..=1000000",
        ),
        (
            r#"{"bodies":[{"shape":{"box":{"half_extents":[1,0]}}}]}"#.to_owned(),
            "bodies[0].shape.box.half_extents: 0 is not in 0.0001..=1000000",
        ),
        (
            r#"{"bodies":[{"shape":{"capsule":{"half_length":1,"radius":-1}}}]}"#.to_owned(),
            "bodies[0].shape.capsule.radius: -1 is not in 0.0001..=1000000",
        ),
        (
            r#"{"bodies":[{"shape":{"segment":{"half_length":1e300}}}]}"#.to_owned(),
            "bodies[0].shape.segment.half_length: 1e300 is out of range",
        ),
        (
            r#"{"bodies":[{"shape":{"polygon":{"vertices":[[0,0],[1,0]]}}}]}"#.to_owned(),
            "bodies[0].shape.polygon.vertices: a polygon needs at least 3 vertices",
        ),
        (
            r#"{"bodies":[{"shape":{"polygon":{"vertices":[[0,0],[1,0],[0,2e6]]}}}]}"#.to_owned(),
            "bodies[0].shape.polygon.vertices[2]: 2000000 is not in -1000000..=1000000",
        ),
        (
            r#"{"bodies":[{"shape":{"polygon":{"vertices":[[0,0],[1e39,0],[0,1]]}}}]}"#.to_owned(),
            "bodies[0].shape.polygon.vertices[1]: 1e39 is out of range",
        ),
        (
            r#"{"bodies":[{"shape":{"polygon":{"vertices":[[0,0],[1,0],[0,1]],"radius":-1}}}]}"#.to_owned(),
            "bodies[0].shape.polygon.radius: -1 is not in 0..=1000000",
        ),
        (
            circle_with(r#","parts":[{"shape":{"circle":{"radius":1}}},{"shape":{"polygon":{"vertices":[[0,0],[4,0],[1,1],[0,4]]}}}]"#),
            "bodies[0].parts[1].shape.polygon.vertices[2]: the polygon is not convex: the vertex lies inside the hull of the others",
        ),
        (
            circle_with(r#","parts":[{"shape":{"circle":{"radius":1}},"position":[0,6e5]}]"#),
            "bodies[0].parts[0].position: 600000 is not in -500000..=500000",
        ),
        (
            circle_with(r#","parts":[{"shape":{"circle":{"radius":1}},"angle":2000}]"#),
            "bodies[0].parts[0].angle: 2000 is not in -1000..=1000",
        ),
        (
            circle_with(r#","parts":[{"shape":{"circle":{"radius":1}},"material":3}]"#),
            "bodies[0].parts[0].material: 3 is out of range, the number of materials is 0",
        ),
        (
            circle_with(r#","parts":[{"shape":{"aabb":{"half_extents":[1,1]}}}]"#),
            "bodies[0].parts[0].shape: only a circle, box, capsule, segment or polygon can be a part of a body",
        ),
        (
            r#"{"bodies":[{"shape":{"aabb":{"half_extents":[1,1]}},"parts":[{"shape":{"circle":{"radius":1}}}]}]}"#.to_owned(),
            "bodies[0].parts: only a body whose own shape is a circle, box, capsule, segment or polygon has parts",
        ),
        (
            circle_with(&format!(r#","parts":[{}]"#, vec![r#"{"shape":{"circle":{"radius":1}}}"#; 255].join(","))),
            "bodies[0].parts: a body has at most 254 beside its own shape",
        ),
        (
            r#"{"bodies":[{"shape":{"chain_segment":{"half_length":1}}}]}"#.to_owned(),
            "bodies[0].shape.chain_segment: only a static or kinematic body can be one",
        ),
        (
            r#"{"bodies":[{"type":"static","shape":{"chain_segment":{"half_length":1,"after":[0,1e39]}}}]}"#.to_owned(),
            "bodies[0].shape.chain_segment.after: 1e39 is out of range",
        ),
        (
            r#"{"chains":[{"points":[[0,0],[1,0]]},{"points":[[0,0]]}]}"#.to_owned(),
            "chains[1].points: a chain needs at least 2 points, a closed one 3",
        ),
        (
            r#"{"chains":[{"points":[[0,0],[1,0],[1,0]]}]}"#.to_owned(),
            "chains[0].points[1]: nearer to the next point than 0.0002 m",
        ),
        (
            r#"{"chains":[{"points":[[0,0],[1,2e7]]}]}"#.to_owned(),
            "chains[0].points[1]: 20000000 is not in -10000000..=10000000",
        ),
        (
            r#"{"chains":[{"points":[[0,0],[1,0],[9e6,0]]}]}"#.to_owned(),
            "chains[0].points[0].shape.chain_segment.after: 9000000 is not in -1000000..=1000000",
        ),
        (
            r#"{"chains":[{"points":[[0,0],[1,0]],"material":1}]}"#.to_owned(),
            "chains[0].material: 1 is out of range, the number of materials is 0",
        ),
        (
            r#"{"materials":[{"rolling_resistance":-1}]}"#.to_owned(),
            "materials[0].rolling_resistance: -1 is not in 0..=1000000",
        ),
        (
            r#"{"materials":[{"tangent_speed":2e6}]}"#.to_owned(),
            "materials[0].tangent_speed: 2000000 is not in -1000000..=1000000",
        ),
        (r#"{"particles":[{"position":[0,0],"mass":-1}]}"#.to_owned(), "particles[0].mass: -1 is not in 0..=1000000000000000000"),
    ] {
        assert_eq!(refusal(&json), expected, "{json}");
    }
    let moving_ground = refusal(&half_space("dynamic", "[0,1]"));
    assert!(moving_ground.starts_with("bodies[0].shape.half_space: "), "{moving_ground}");
}

/// No bytes make the reader panic: no prefix, no changed byte, no nesting.
#[test]
fn hostile_bytes() {
    for name in ["pile", "junkyard"] {
        let json = scene::builtin(name, 3, 1).and_then(|scene| scene.to_json().ok()).expect("a scene");
        spoil(json.as_bytes());
    }
    assert!(Scene::from_json("[".repeat(100_000).as_bytes()).is_err());
    let nested = format!("{{\"bodies\":{}", "[".repeat(100_000));
    assert!(Scene::from_json(nested.as_bytes()).is_err());
}

/// Reads every prefix, and the file with single bytes changed.
fn spoil(bytes: &[u8]) {
    for end in 0..bytes.len() - 1 {
        // Only the file's last newline may be missing.
        let whole = bytes[end..].iter().all(u8::is_ascii_whitespace);
        assert_eq!(Scene::from_json(&bytes[..end]).is_ok(), whole, "first {end} bytes");
    }
    for place in 0..bytes.len() {
        for byte in [0, b'"', b'9', b'-', b'e', b'[', b'}', 0x80, 0xff] {
            let mut changed = bytes.to_vec();
            changed[place] = byte;
            if let Ok(scene) = Scene::from_json(&changed) {
                scene.build().expect("what is accepted can be built");
            }
        }
    }
}

/// A scene that is read can be built, and its world can step.
#[test]
fn reads_builds_steps() {
    let scene = accepted(
        r#"{"bodies":[{"type":"static","shape":{"half_space":{"normal":[0,1],"offset":0}}},
                      {"shape":{"circle":{"radius":0.5}},"position":[0,4]}]}"#,
    );
    let mut world = scene.build().expect("a valid scene");
    for _ in 0..10 {
        world.step();
    }
    assert!(world.body(scene.handle(1)).expect("the circle").position.y < 4.0);
    assert_eq!((world.body_count(), world.static_count()), (1, 1));
}

/// Contract: a place that a scene does not have is no panic but a handle that names nothing in its world.
#[test]
fn places_beyond_the_scene_name_nothing() {
    let scene = scene::builtin("hinges", 10, 1).unwrap();
    let world = scene.build().unwrap();
    for place in [scene.bodies.len(), u32::MAX as usize, usize::MAX] {
        assert!(!world.contains(scene.handle(place)), "{place}");
        assert!(world.joint(scene.joint_handle(place.max(scene.joints.len()))).is_err(), "{place}");
    }
}
