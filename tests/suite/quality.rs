//! Contract: `World::quality` counts the pairs of shapes that overlap and measures their depths, for every pair of
//! shapes and every kernel. The tests compare it with the oracle, which works from the definitions.

use crate::reference::chain::{self, ChainSegment};
use crate::reference::clip::{manifolds, separation};
use crate::reference::hull::{Form, dvec};
use glam::DVec2;
use granule::{
    BodyDesc, BodyHandle, BodyType, Material, Part, Polygon, Settings, Shape, ShapeKind, Vec2, World,
};

/// The tolerance, as a share of the sum of all lengths that go into a contact.
const TOLERANCE: f64 = 2e-5;
const TIE: f64 = 1e-4;

fn settings() -> Settings {
    Settings { gravity: Vec2::ZERO, time_step: 1e-4, ..Settings::default() }
}

fn bounded_shapes() -> Vec<Shape> {
    let regular = |n: usize| Polygon::regular(n, 0.6).unwrap();
    vec![
        Shape::circle(0.5),
        Shape::particle(0.3),
        Shape::aabb(0.7, 0.4),
        Shape::oriented_box(0.6, 0.3),
        Shape::capsule(0.4, 0.25),
        Shape::segment(0.5),
        Shape::Polygon(regular(3)),
        Shape::Polygon(regular(7)),
        Shape::Polygon(Polygon::rounded(regular(5).vertices(), 0.1).unwrap().0),
    ]
}

/// A property of a body that sends its contacts to the general kernel although its shape does not require it, or none.
#[derive(Clone, Copy, Debug)]
enum Flag {
    None,
    FixedRotation,
    Rolling,
    Belt,
}

const FLAGS: [Flag; 4] = [Flag::None, Flag::FixedRotation, Flag::Rolling, Flag::Belt];

fn body(shape: Shape, body_type: BodyType, flag: Flag) -> BodyDesc {
    let mut desc = BodyDesc { body_type, ..BodyDesc::dynamic(shape, Vec2::ZERO) };
    // A segment has no area.
    desc.mass = (body_type == BodyType::Dynamic).then_some(1.0);
    match flag {
        Flag::None => {}
        Flag::FixedRotation => desc.fixed_rotation = true,
        Flag::Rolling => desc.material = Material { rolling_resistance: 0.1, ..desc.material },
        Flag::Belt => desc.material = Material { tangent_speed: 0.5, ..desc.material },
    }
    desc
}

fn turned(shape: &Shape, angle: f32) -> f32 {
    if matches!(shape.kind(), ShapeKind::Aabb | ShapeKind::HalfSpace) { 0.0 } else { angle }
}

/// Moves B away from A in a direction until their distance is `target`; a negative distance is an overlap.
fn place(a: &BodyDesc, b: &mut BodyDesc, direction: f64, target: f64) {
    let way = DVec2::from_angle(direction);
    let of = |desc: &BodyDesc, at: DVec2| Form::new(&desc.shape, at, f64::from(desc.angle));
    let (mut near, mut far) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (near + far);
        if separation(&of(a, dvec(a.position)), &of(b, dvec(a.position) + middle * way)) < target {
            near = middle
        } else {
            far = middle
        }
    }
    b.position = (dvec(a.position) + near * way).as_vec2();
}

/// The forms of a body's shapes in their present place, and the chain segment if the body is one.
struct Now {
    forms: Vec<Form>,
    centre: DVec2,
    segment: Option<ChainSegment>,
}

fn now(world: &World, handle: BodyHandle) -> Now {
    let state = world.body(handle).unwrap();
    let (centre, angle) = (dvec(state.position), f64::from(state.angle));
    let shape = world.shape(handle).unwrap();
    let segment = (shape.kind() == ShapeKind::ChainSegment).then(|| ChainSegment::new(&shape, centre, angle));
    let form = |part: &Part| {
        let at = centre + DVec2::from_angle(angle).rotate(dvec(part.position));
        Form::new(&part.shape, at, angle + f64::from(part.angle))
    };
    let forms = world.parts(handle).unwrap().iter().map(form).collect();
    Now { forms, centre, segment }
}

fn length(form: &Form) -> f64 {
    match form {
        Form::Hull(hull) => hull.radius + hull.corners.iter().map(|c| c.length()).fold(0.0, f64::max),
        Form::Plane { offset, .. } => offset.abs(),
    }
}

/// The depths that are right for each pair of shapes of two bodies, one for each manifold that is right, with a
/// tolerance.
fn depths(a: &Now, b: &Now) -> Vec<(Vec<f64>, f64)> {
    let mut found = Vec::new();
    for first in &a.forms {
        for second in &b.forms {
            let scale = length(first) + length(second);
            let right = match (&a.segment, &b.segment) {
                (Some(segment), _) => {
                    let Form::Hull(hull) = second else { panic!("{second:?}") };
                    chain::manifolds(hull, b.centre, segment, TIE * scale)
                }
                _ => manifolds(first, second, TIE * scale),
            };
            let deepest = right
                .iter()
                .map(|m| m.points.iter().map(|touch| -touch.separation).fold(f64::MIN, f64::max).max(0.0));
            found.push((deepest.collect(), TOLERANCE * scale));
        }
    }
    found
}

/// Checks the world's quality against the oracle. The world has these two bodies, and others that overlap nothing.
fn check(world: &World, a: BodyHandle, b: BodyHandle, what: &str) {
    let quality = world.quality();
    let found = depths(&now(world, a), &now(world, b));
    let (mut least, mut most, mut count) = (0.0f64, 0.0f64, 0..=0);
    for (depths, tolerance) in &found {
        // A chain segment that does not answer for this shape has no manifold.
        let low = depths.iter().copied().fold(f64::MAX, f64::min).min(1e9) - 10.0 * tolerance;
        let high = depths.iter().copied().fold(0.0, f64::max) + 10.0 * tolerance;
        let low = if depths.is_empty() { 0.0 } else { low };
        least = least.max(low);
        most = most.max(high);
        let (sure, possible) = (low > 0.0, high > 20.0 * tolerance);
        count = count.start() + usize::from(sure)..=count.end() + usize::from(possible);
    }
    assert!(count.contains(&quality.contacts), "{what}: {quality:?}, not {count:?} pairs of {found:?}");
    assert!(
        (least..=most).contains(&quality.max_penetration),
        "{what}: {quality:?}, not {least} to {most} of {found:?}"
    );
    let mean = quality.mean_penetration * quality.contacts as f64;
    let sum = |f: fn(f64, f64) -> f64, start: f64| -> f64 {
        found.iter().map(|(depths, _)| depths.iter().copied().fold(start, f).min(1e9)).sum()
    };
    let (low, high) = (sum(f64::min, 1e9), sum(f64::max, 0.0));
    let slack: f64 = found.iter().map(|(_, tolerance)| 20.0 * tolerance).sum();
    let empty = found.iter().any(|(depths, _)| depths.is_empty());
    assert!(empty || (low - slack..=high + slack).contains(&mean), "{what}: {quality:?} of {found:?}");
}

/// Steps the two bodies once, alone or beside a triangle that touches nothing. The triangle gives the world an outline.
fn run(a: &BodyDesc, b: &BodyDesc, parts: &[Part], others: bool, what: &str) {
    let mut world = World::new(settings()).unwrap();
    if others {
        let triangle = Shape::Polygon(Polygon::regular(3, 0.2).unwrap());
        world.add_body(&BodyDesc::dynamic(triangle, Vec2::new(50.0, 50.0))).unwrap();
    }
    let [a, b] = [a, b].map(|desc| world.add_body(desc).unwrap());
    if !parts.is_empty() {
        world.add_parts(b, parts).unwrap();
    }
    world.step();
    check(&world, a, b, what);
}

/// All pairs of shapes are measured, apart and overlapping, with and without properties that make their contacts
/// general, in a world without outlines and in a world with one.
#[test]
fn every_pair_of_shapes_is_measured() {
    let plane = Shape::half_space(Vec2::new(0.3, 1.0), 0.1);
    for first in bounded_shapes().into_iter().chain([plane]) {
        for second in bounded_shapes() {
            for (flag_a, flag_b) in FLAGS.into_iter().flat_map(|a| FLAGS.map(|b| (a, b))) {
                for (index, (angle, direction)) in
                    [(0.0, std::f64::consts::FRAC_PI_2), (0.4, 1.2), (-1.1, 2.9)].into_iter().enumerate()
                {
                    let types = [BodyType::Static, BodyType::Kinematic, BodyType::Dynamic];
                    let is_plane = first.kind() == ShapeKind::HalfSpace;
                    let body_type = if is_plane { BodyType::Static } else { types[index] };
                    let mut a = body(first, body_type, flag_a);
                    let mut b = body(second, BodyType::Dynamic, flag_b);
                    (a.angle, b.angle) = (turned(&first, angle), turned(&second, 2.0 * angle + 0.3));
                    for target in [0.01, -0.03, -0.2] {
                        place(&a, &mut b, direction, target);
                        let what = format!("{a:?} {b:?} at {target}");
                        run(&a, &b, &[], target < -0.1, &what);
                    }
                }
            }
        }
    }
}

/// Bodies of several parts are measured part by part.
#[test]
fn parts_are_measured_one_by_one() {
    let floor = [Shape::aabb(3.0, 0.5), Shape::oriented_box(3.0, 0.5), Shape::half_space(Vec2::Y, 0.5)];
    for first in floor {
        for (second, flag) in bounded_shapes().into_iter().flat_map(|shape| FLAGS.map(|flag| (shape, flag))) {
            if matches!(second.kind(), ShapeKind::Aabb | ShapeKind::Particle) {
                continue;
            }
            let a = body(first, BodyType::Static, flag);
            let mut b = body(second, BodyType::Dynamic, flag);
            for (target, height) in [(-0.1, 0.05), (-0.02, -0.1), (0.01, 0.3)] {
                place(&a, &mut b, std::f64::consts::FRAC_PI_2, target);
                let parts = [
                    Part::new(Shape::circle(0.3), Vec2::new(1.5, height)),
                    Part::new(Shape::oriented_box(0.3, 0.4), Vec2::new(-1.5, -height)),
                ];
                let what = format!("{a:?} {b:?} at {target}, {parts:?}");
                run(&a, &b, &parts, false, &what);
            }
        }
    }
}

/// Segments of chains are measured.
#[test]
fn segments_are_measured() {
    let segment = Shape::ChainSegment {
        half_length: 1.0,
        before: Some(Vec2::new(-2.0, 0.0)),
        after: Some(Vec2::new(2.0, -1.0)),
    };
    for (second, flag) in bounded_shapes().into_iter().flat_map(|shape| FLAGS.map(|flag| (shape, flag))) {
        for tilt in [0.0, 0.3] {
            let a = BodyDesc { angle: tilt, ..body(segment, BodyType::Static, flag) };
            let mut b = body(second, BodyType::Dynamic, flag);
            b.angle = turned(&second, 0.2);
            for target in [0.01, -0.02, -0.1] {
                place(&a, &mut b, std::f64::consts::FRAC_PI_2 + f64::from(tilt), target);
                run(&a, &b, &[], false, &format!("{a:?} {b:?} at {target}"));
            }
        }
    }
}

/// The scene of the bug report is measured: a world without an outline that has a general contact.
#[cfg(feature = "scene")]
#[test]
fn a_world_without_outlines_is_measured() {
    let text = r#"{"name":"x","materials":[{"rolling_resistance":0.1}],"bodies":[
        {"type":"static","shape":{"aabb":{"half_extents":[10,1]}},"position":[0,-1],"material":0},
        {"type":"dynamic","shape":{"circle":{"radius":0.5}},"position":[0,0.45],"material":0}]}"#;
    let mut world = granule::scene::Scene::from_json(text.as_bytes()).unwrap().build().unwrap();
    world.step();
    let quality = world.quality();
    assert_eq!(quality.contacts, 1);
    assert!((0.03..0.05).contains(&quality.max_penetration), "{quality:?}");
}
