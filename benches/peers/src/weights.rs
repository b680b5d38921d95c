//! Heavy bodies on light ones in every engine: how far they sink in 5 s, which is as long as they take to come to rest.

use crate::engine::{Engine, Stepping, build};
use crate::report::Origin;
use crate::scenes::Scene;
use ::granule::{BodyDesc, Material, Mix, Mixing, Settings, Shape, Vec2};
use std::fmt::Write as _;

const STEPS: usize = 300;

/// Bodies, and what is read of their final heights.
struct Case {
    name: String,
    bodies: Vec<BodyDesc>,
    /// The height at which hard bodies would be, of each body that is read.
    hard: Vec<(usize, f32)>,
}

fn material(density: f32) -> Material {
    Material { density, static_friction: 0.5, dynamic_friction: 0.5, ..Material::default() }
}

/// A floor, and walls so far apart.
fn walls(apart: f32) -> Vec<BodyDesc> {
    let fixed = |shape, x, y| BodyDesc { material: material(1.0), ..BodyDesc::fixed(shape, Vec2::new(x, y)) };
    let side = 0.5 * apart + 1.0;
    vec![
        fixed(Shape::aabb(20.0, 1.0), 0.0, -1.0),
        fixed(Shape::aabb(1.0, 20.0), -side, 20.0),
        fixed(Shape::aabb(1.0, 20.0), side, 20.0),
    ]
}

fn dynamic(shape: Shape, x: f32, y: f32, density: f32) -> BodyDesc {
    BodyDesc { material: material(density), ..BodyDesc::dynamic(shape, Vec2::new(x, y)) }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for ratio in [10.0, 100.0, 1_000.0] {
        for (what, shape, apart) in [
            ("boxes", Shape::oriented_box(0.5, 0.5), 10.0),
            ("circles between walls", Shape::circle(0.5), 1.0),
        ] {
            let mut bodies = walls(apart);
            bodies.push(dynamic(shape, 0.0, 0.5, 1.0));
            bodies.push(dynamic(shape, 0.0, 1.5, ratio));
            let name = format!("{what} of 1 m, {ratio}:1: the heavy one");
            cases.push(Case { name, bodies, hard: vec![(4, 1.5)] });
        }
    }
    let mut bodies = walls(5.0);
    let first = bodies.len();
    bodies.extend((-12..=12).map(|i| dynamic(Shape::circle(0.1), 0.2 * i as f32, 0.1, 1.0)));
    bodies.push(dynamic(Shape::circle(2.5), 0.0, 2.7, 1.0));
    let hard = (first..bodies.len() - 1).map(|index| (index, 0.1)).collect();
    cases.push(Case {
        name: "pebbles of 0.1 m under a boulder of 2.5 m: the deepest".to_owned(),
        bodies,
        hard,
    });
    cases
}

/// How far the lowest of what is read is below where it would be, m.
fn sunk(case: &Case, engine: Engine) -> Result<f32, String> {
    let mixing = Mixing { friction: Mix::GeometricMean, restitution: Mix::Max };
    let settings = Settings {
        gravity: Vec2::new(0.0, -10.0),
        mixing,
        sleep: false,
        continuous: false,
        ..Settings::default()
    };
    let scene = Scene { settings, bodies: case.bodies.clone(), parts: Vec::new(), replacing: None };
    let mut world = build(engine, &[scene], Stepping::common(1))?;
    world.run(STEPS, &mut Vec::new());
    let states = world.states();
    let below = case.hard.iter().map(|&(index, height)| height - states[index].position[1]);
    Ok(below.fold(f32::NEG_INFINITY, f32::max))
}

/// The table.
pub fn report(origin: &Origin, engines: &[Engine]) -> Result<String, String> {
    let mut text = String::from("# Heavy bodies on light ones\n\n");
    text.push_str(&origin.markdown());
    text.push_str("\nHow far a body sinks in 5 s below where hard bodies would hold it, m.\n\n| case |");
    engines.iter().for_each(|engine| text.push_str(&format!(" {} |", engine.name())));
    text.push_str("\n| --- |");
    engines.iter().for_each(|_| text.push_str(" ---: |"));
    text.push('\n');
    for case in cases() {
        let _ = write!(text, "| {} |", case.name);
        for &engine in engines {
            let _ = write!(text, " {:.4} |", sunk(&case, engine)?);
        }
        text.push('\n');
    }
    Ok(text)
}
