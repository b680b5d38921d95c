//! Contract: queries by point and by box find what a test of every body finds, for all shapes, turned ones and
//! compounds, in worlds that are new, that have been stepped, and that have been changed by hand.

mod batches;
mod casts;
mod definition;
mod distances;
mod edited;
mod exact;
mod visits;

use crate::reference::hull::{Form, dvec};
use glam::DVec2;
use granule::{
    Assembly, BodyDesc, BodyHandle, BodyType, Filter, Isa, Material, Part, Polygon, Settings, Shape, Vec2,
    World,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::HashMap;
use std::f32::consts::{PI, TAU};

/// A surface that a query grazes by less than this may be counted either way, m.
const BAND: f64 = 1e-4;

fn config(cases: u32) -> ProptestConfig {
    let failures = FileFailurePersistence::Direct("tests/regressions/queries.txt");
    ProptestConfig { cases, failure_persistence: Some(Box::new(failures)), ..ProptestConfig::default() }
}

/// A random number of a range. Proptest's own ranges of f32 fail on one of their assertions once in a million.
fn between(low: f32, high: f32) -> impl Strategy<Value = f32> + Clone {
    (0u32..=0xFF_FFFF).prop_map(move |part| low + (high - low) * (part as f32 / 16_777_215.0))
}

fn polygon() -> impl Strategy<Value = Shape> {
    let angles = prop::collection::btree_set(0u32..24, 3..=8);
    let radius = prop_oneof![Just(0.0f32), between(0.05, 0.6)];
    (angles, between(0.3, 2.0), between(0.2, 1.0), radius).prop_filter_map(
        "too flat",
        |(angles, size, flat, radius)| {
            let corner =
                |&step: &u32| size * Vec2::from_angle(step as f32 * TAU / 24.0) * Vec2::new(1.0, flat);
            let corners: Vec<Vec2> = angles.iter().map(corner).collect();
            Some(Shape::Polygon(Polygon::rounded(&corners, radius).ok()?.0))
        },
    )
}

fn part_shape() -> impl Strategy<Value = Shape> {
    let extent = || prop_oneof![5 => between(0.1, 1.5), 1 => between(0.001, 0.1), 1 => between(1.5, 12.0)];
    prop_oneof![
        1 => extent().prop_map(Shape::circle),
        2 => (extent(), extent()).prop_map(|(x, y)| Shape::oriented_box(x, y)),
        2 => (extent(), extent()).prop_map(|(half, radius)| Shape::capsule(half, radius)),
        1 => extent().prop_map(Shape::segment),
        3 => polygon(),
    ]
}

/// A body, its parts besides its own shape (each placed relative to that shape), and whether it moves.
#[derive(Clone, Debug)]
struct Recipe {
    desc: BodyDesc,
    parts: Vec<Part>,
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let place = || (between(-6.0, 6.0), between(-6.0, 6.0)).prop_map(Vec2::from);
    let part = (part_shape(), between(-3.0, 3.0), between(-3.0, 3.0), between(-PI, PI))
        .prop_map(|(shape, x, y, angle)| Part { angle, ..Part::new(shape, Vec2::new(x, y)) });
    let others = prop_oneof![
        2 => (between(0.1, 1.5), between(0.1, 1.5)).prop_map(|(x, y)| Shape::aabb(x, y)),
        1 => between(0.05, 1.0).prop_map(Shape::particle),
        1 => (between(-PI, PI), between(-9.0, -2.0))
            .prop_map(|(angle, offset)| Shape::half_space(Vec2::from_angle(angle), offset)),
    ];
    let shape = prop_oneof![
        6 => part_shape().prop_map(|shape| (shape, true)),
        1 => others.prop_map(|shape| (shape, false)),
    ];
    let types = vec![BodyType::Dynamic, BodyType::Dynamic, BodyType::Static, BodyType::Kinematic];
    let parts = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(part, 1..5)];
    let motion = (place(), between(-9.0, 9.0));
    (shape, prop::sample::select(types), place(), between(-20.0, 20.0), motion, parts).prop_map(
        |((shape, takes_parts), body_type, position, angle, (velocity, angular_velocity), parts)| {
            let plane = matches!(shape, Shape::HalfSpace { .. });
            let body_type = if plane { BodyType::Static } else { body_type };
            let moves = body_type != BodyType::Static;
            let desc = BodyDesc {
                body_type,
                angle,
                velocity: if moves { velocity } else { Vec2::ZERO },
                angular_velocity: if moves { angular_velocity } else { 0.0 },
                // A segment has no area.
                mass: matches!(shape, Shape::Segment { .. }).then_some(1.0),
                ..BodyDesc::dynamic(shape, position)
            };
            Recipe { desc, parts: if takes_parts { parts } else { Vec::new() } }
        },
    )
}

fn add(world: &mut World, recipe: &Recipe) -> BodyHandle {
    let body = world.add_body(&recipe.desc).unwrap();
    world.add_parts(body, &recipe.parts).unwrap();
    body
}

/// The shapes of a body in their present place, and the body's centre.
fn forms(world: &World, body: BodyHandle) -> (Vec<Form>, DVec2) {
    let now = world.body(body).unwrap();
    let turn = DVec2::from_angle(f64::from(now.angle));
    let place = |part: &Part| {
        let position = dvec(now.position) + turn.rotate(dvec(part.position));
        Form::new(&part.shape, position, f64::from(now.angle) + f64::from(part.angle))
    };
    (world.parts(body).unwrap().iter().map(place).collect(), dvec(now.position))
}

/// The distance of a body's bounds from a box, negative when they overlap. The bounds are symmetric about the body's
/// centre.
fn bounds_distance(forms: &[Form], position: DVec2, lower: DVec2, upper: DVec2) -> f64 {
    let (centre, half) = (0.5 * (lower + upper), 0.5 * (upper - lower));
    let mut own = DVec2::ZERO;
    for form in forms {
        match form {
            Form::Plane { normal, .. } => return form.distance(centre) - half.dot(normal.abs()),
            Form::Hull(hull) => {
                for corner in &hull.corners {
                    own = own.max((*corner - position).abs() + hull.radius);
                }
            }
        }
    }
    let gap = (position - centre).abs() - own - half;
    gap.x.max(gap.y)
}

/// The distance of a shape from a box, 0 if they overlap.
fn shape_distance(form: &Form, lower: DVec2, upper: DVec2) -> f64 {
    let Form::Hull(hull) = form else {
        let Form::Plane { normal, offset } = form else { unreachable!() };
        let corners = [lower, DVec2::new(upper.x, lower.y), upper, DVec2::new(lower.x, upper.y)];
        let least = corners.into_iter().map(|corner| normal.dot(corner)).fold(f64::MAX, f64::min);
        return (least - offset).max(0.0);
    };
    // The core is clipped to the box, side by side: the rest is in both (Sutherland and Hodgman, 1974).
    let mut left = hull.corners.clone();
    let inside = |point: DVec2, side: usize| match side {
        0 => point.x - lower.x,
        1 => upper.x - point.x,
        2 => point.y - lower.y,
        _ => upper.y - point.y,
    };
    for side in 0..4 {
        let corners = std::mem::take(&mut left);
        for (i, &corner) in corners.iter().enumerate() {
            let next = corners[(i + 1) % corners.len()];
            let (here, there) = (inside(corner, side), inside(next, side));
            if here >= 0.0 {
                left.push(corner);
            }
            if (here < 0.0) != (there < 0.0) {
                left.push(corner + (next - corner) * (here / (here - there)));
            }
        }
    }
    if !left.is_empty() {
        return 0.0;
    }
    // The two are apart: a corner of one is nearest to the other.
    let corners = [lower, DVec2::new(upper.x, lower.y), upper, DVec2::new(lower.x, upper.y)];
    let of_box = corners.into_iter().map(|corner| hull.core_distance(corner).max(0.0));
    let of_core = hull.corners.iter().map(|&corner| corner.distance(corner.clamp(lower, upper)));
    let distance = of_box.chain(of_core).fold(f64::MAX, f64::min) - hull.radius;
    distance.max(0.0)
}

/// Whether a body's shapes overlap a box. `None` if either answer is right: a slightly smaller box does not overlap
/// them, and a slightly larger one does.
fn overlaps(forms: &[Form], lower: DVec2, upper: DVec2) -> Option<bool> {
    let with = |growth: f64| {
        let (lower, upper) = (lower - growth, upper + growth);
        lower.cmple(upper).all() && forms.iter().any(|form| shape_distance(form, lower, upper) == 0.0)
    };
    let (smaller, larger) = (with(-BAND), with(BAND));
    // A box this thin has no smaller box, so its middle is tested.
    let thin = (upper - lower).min_element() <= 2.0 * BAND;
    match (smaller || (thin && deep(forms, 0.5 * (lower + upper))), larger) {
        (true, _) => Some(true),
        (_, false) => Some(false),
        _ => None,
    }
}

/// Whether a point is well inside a shape.
fn deep(forms: &[Form], point: DVec2) -> bool {
    forms.iter().any(|form| form.distance(point) < -BAND)
}

/// Checks the queries against every body.
fn check(world: &World, at: Vec2, half: Vec2) -> Result<(), String> {
    let (lower, upper) = (at - half, at + half);
    let (mut of_point, mut of_box, mut of_bounds) = (HashMap::new(), HashMap::new(), HashMap::new());
    let count = |visits: &mut HashMap<BodyHandle, u32>, body: BodyHandle| {
        *visits.entry(body).or_insert(0) += 1;
        true
    };
    world.query_point(at, |body| count(&mut of_point, body));
    world.query_aabb(lower, upper, |body| count(&mut of_box, body));
    world.query_aabb_bounds(lower, upper, |body| count(&mut of_bounds, body));
    for (what, visits) in [("point", &of_point), ("aabb", &of_box), ("aabb_bounds", &of_bounds)] {
        for (body, times) in visits {
            if *times != 1 || !world.contains(*body) {
                return Err(format!("query_{what} at {at} visited {body:?} {times} times"));
            }
        }
    }
    let clear = |distance: f64| (distance.abs() > BAND).then_some(distance < 0.0);
    let visited = [&of_point, &of_box, &of_bounds].into_iter().flat_map(HashMap::keys);
    if let Some(body) = visited.copied().find(|&body| world.is_enabled(body) != Ok(true)) {
        return Err(format!("{body:?} is visited, though it is disabled"));
    }
    for body in world.handles().filter(|&body| world.is_enabled(body) == Ok(true)) {
        let (forms, centre) = forms(world, body);
        let to_point = forms.iter().map(|form| form.distance(dvec(at))).fold(f64::MAX, f64::min);
        let to_bounds = bounds_distance(&forms, centre, dvec(lower), dvec(upper));
        for (what, expected, visited) in [
            ("point", clear(to_point), of_point.contains_key(&body)),
            ("aabb", overlaps(&forms, dvec(lower), dvec(upper)), of_box.contains_key(&body)),
            ("aabb_bounds", clear(to_bounds), of_bounds.contains_key(&body)),
        ] {
            if expected.is_some_and(|expected| visited != expected) {
                let word = if visited { "visited" } else { "missed" };
                let state = world.body(body).unwrap();
                return Err(format!(
                    "query_{what} at {at} ± {half} {word} {body:?}: {state:?} {:?}",
                    world.parts(body).unwrap()
                ));
            }
        }
    }
    Ok(())
}

fn places() -> impl Strategy<Value = Vec<(Vec2, Vec2)>> {
    let at = (between(-10.0, 10.0), between(-10.0, 10.0)).prop_map(Vec2::from);
    let half = prop_oneof![
        1 => Just(Vec2::ZERO),
        3 => (between(0.0, 1.0), between(0.0, 1.0)).prop_map(Vec2::from),
        1 => (between(0.0, 8.0), between(0.0, 8.0)).prop_map(Vec2::from),
    ];
    prop::collection::vec((at, half), 1..30)
}

/// Checks queries at the given places, and around the bodies, where the answer depends on the shape.
fn check_all(world: &World, places: &[(Vec2, Vec2)]) -> Result<(), String> {
    world.validate()?;
    let bodies: Vec<_> = world.handles().collect();
    for (i, &(at, half)) in places.iter().enumerate() {
        check(world, at, half)?;
        let near = world.body(bodies[i % bodies.len()]).unwrap().position;
        check(world, near + 0.15 * at, 0.3 * half)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(192))]

    /// A query visits exactly the bodies whose shapes contain the point or overlap the box, or whose bounds do, each
    /// once: before the first step and after each of several steps, while bodies fly and turn.
    #[test]
    fn queries_find_what_is_there(
        recipes in prop::collection::vec(recipe(), 1..40),
        places in places(),
        isa in prop::sample::select(Isa::available().collect::<Vec<_>>()),
        touching in prop::sample::select(vec![1, 2, usize::MAX]),
    ) {
        let mut world = World::new(Settings { isa, ..Settings::default() }).unwrap();
        for (i, recipe) in recipes.iter().enumerate() {
            let body = add(&mut world, recipe);
            // The filters let all bodies, half of them, or one of them touch others.
            if i % touching != 0 {
                world.set_filter(body, Filter { mask: 0, ..Filter::default() }).unwrap();
            }
        }
        for step in 0..8 {
            let outcome = check_all(&world, &places);
            prop_assert!(outcome.is_ok(), "after {} steps: {}", step, outcome.unwrap_err());
            world.step();
        }
    }

    /// Queries are exact in a world of small moving bodies among large bodies of all sizes.
    #[test]
    fn queries_find_what_is_there_among_large_bodies(
        large in prop::collection::vec(recipe(), 1..80),
        flies in prop::collection::vec((between(-10.0, 10.0), between(-10.0, 10.0)), 100..200),
        places in places(),
    ) {
        let mut world = World::new(Settings::default()).unwrap();
        for recipe in &large {
            add(&mut world, recipe);
        }
        for (x, y) in flies {
            let fly = BodyDesc::dynamic(Shape::circle(0.02), Vec2::new(x, y));
            world.add_body(&BodyDesc { velocity: 0.5 * Vec2::new(y, x), ..fly }).unwrap();
        }
        for step in 0..4 {
            let outcome = check_all(&world, &places);
            prop_assert!(outcome.is_ok(), "after {} steps: {}", step, outcome.unwrap_err());
            world.step();
        }
    }

    /// Queries are exact when bodies are turned, moved, added, removed and given parts by hand between the steps, both
    /// before the next step and after it.
    #[test]
    fn queries_follow_edits(
        recipes in prop::collection::vec(recipe(), 1..20),
        edits in prop::collection::vec((0u8..6, any::<prop::sample::Index>(), recipe()), 1..16),
        places in places(),
    ) {
        let mut world = World::new(Settings::default()).unwrap();
        let mut bodies: Vec<_> = recipes.iter().map(|recipe| add(&mut world, recipe)).collect();
        // One body is never removed, so that the world is never empty.
        add(&mut world, &Recipe {
            desc: BodyDesc::fixed(Shape::capsule(1.0, 0.5), Vec2::ZERO),
            parts: Vec::new(),
        });
        for (what, which, recipe) in edits {
            let body = (!bodies.is_empty()).then(|| which.index(bodies.len()));
            match (what, body) {
                (0, Some(i)) => world.set_angle(bodies[i], recipe.desc.angle).unwrap(),
                (1, Some(i)) => world.set_position(bodies[i], recipe.desc.position).unwrap(),
                (2, Some(i)) => world.remove_body(bodies.swap_remove(i)).unwrap(),
                (3, Some(i)) if world.body_type(bodies[i]).unwrap() != BodyType::Static => {
                    world.set_angular_velocity(bodies[i], recipe.desc.angular_velocity).unwrap();
                }
                (4, Some(i)) => {
                    // Shapes that cannot have parts refuse them; then nothing may change.
                    for part in &recipe.parts {
                        let _ = world.add_part(bodies[i], part);
                    }
                }
                _ => bodies.push(add(&mut world, &recipe)),
            }
            for moment in ["before", "after"] {
                let outcome = check_all(&world, &places);
                prop_assert!(outcome.is_ok(), "{} the step: {}", moment, outcome.unwrap_err());
                world.step();
            }
        }
    }

    /// Segments of a chain are where their points are: the box around the middle of a segment finds the segment, and a
    /// point beside the segment does not.
    #[test]
    fn chains_are_where_their_points_are(
        turns in prop::collection::vec((between(-1.0, 1.0), between(0.1, 2.0)), 2..20),
        places in places(),
    ) {
        let (mut points, mut heading) = (vec![Vec2::ZERO], 0.0f32);
        for (turn, length) in turns {
            heading += turn;
            points.push(points[points.len() - 1] + length * Vec2::from_angle(heading));
        }
        let chain = Assembly::chain(&points, false, Material::default()).unwrap();
        let mut world = World::new(Settings::default()).unwrap();
        let segments = world.add_assembly(&chain).unwrap();
        prop_assert_eq!(segments.len(), points.len() - 1);
        for _ in 0..2 {
            for (i, &segment) in segments.iter().enumerate() {
                let middle = 0.5 * (points[i] + points[i + 1]);
                let mut found = false;
                let near = Vec2::splat(1e-3);
                world.query_aabb(middle - near, middle + near, |body| {
                    found |= body == segment;
                    true
                });
                prop_assert!(found, "segment {} is not at {}", i, middle);
                let ends = forms(&world, segment).0;
                for point in [points[i], points[i + 1]] {
                    prop_assert!(ends[0].distance(dvec(point)).abs() < BAND);
                }
            }
            let outcome = check_all(&world, &places);
            prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
            world.step();
        }
    }
}

/// A visitor that returns `false` ends the query, among compounds as well.
#[test]
fn a_visitor_can_stop_the_query() {
    let mut world = World::new(Settings::default()).unwrap();
    for i in 0..50 {
        let body = world.add_body(&BodyDesc::fixed(Shape::oriented_box(1.0, 0.5), Vec2::ZERO)).unwrap();
        if i % 2 == 0 {
            world.add_part(body, &Part::new(Shape::circle(1.0), Vec2::ZERO)).unwrap();
        }
    }
    for _ in 0..2 {
        for limit in [1, 7, 50] {
            let mut visits = 0;
            world.query_point(Vec2::ZERO, |_| {
                visits += 1;
                visits < limit
            });
            assert_eq!(visits, limit);
            let mut visits = 0;
            world.query_aabb(Vec2::splat(-1.0), Vec2::ONE, |_| {
                visits += 1;
                visits < limit
            });
            assert_eq!(visits, limit);
            let mut visits = 0;
            world.query_aabb_bounds(Vec2::splat(-1.0), Vec2::ONE, |_| {
                visits += 1;
                visits < limit
            });
            assert_eq!(visits, limit);
        }
        world.step();
    }
}

/// Returns the bodies that a query by shapes visits, in order.
fn in_box(world: &World, lower: Vec2, upper: Vec2) -> Vec<BodyHandle> {
    let mut found = Vec::new();
    world.query_aabb(lower, upper, |body| {
        found.push(body);
        true
    });
    found.sort();
    found
}

/// A box at the corner of a shape's bounds, outside the shape, does not overlap the shape. A shape on an edge of the
/// box is in the box.
#[test]
fn a_box_is_answered_by_shapes() {
    let mut world = World::new(Settings::default()).unwrap();
    let circle = world.add_body(&BodyDesc::fixed(Shape::circle(1.0), Vec2::ZERO)).unwrap();
    let turned =
        BodyDesc { angle: PI / 4.0, ..BodyDesc::fixed(Shape::oriented_box(1.0, 1.0), Vec2::new(10.0, 0.0)) };
    let turned = world.add_body(&turned).unwrap();
    let capsule =
        BodyDesc { angle: PI / 4.0, ..BodyDesc::fixed(Shape::capsule(2.0, 0.5), Vec2::new(20.0, 0.0)) };
    let capsule = world.add_body(&capsule).unwrap();
    let slope =
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::new(1.0, 1.0), -20.0), Vec2::ZERO)).unwrap();
    let bracket =
        world.add_body(&BodyDesc::fixed(Shape::oriented_box(2.0, 0.5), Vec2::new(30.0, 0.0))).unwrap();
    world.add_part(bracket, &Part::new(Shape::oriented_box(0.5, 2.0), Vec2::new(1.5, 2.5))).unwrap();
    let crate_ = world.add_body(&BodyDesc::fixed(Shape::aabb(1.0, 0.5), Vec2::new(40.0, 0.0))).unwrap();
    let v = Vec2::new;
    for _ in 0..2 {
        for (lower, upper, expected) in [
            (v(0.9, 0.9), v(1.5, 1.5), vec![]),
            (v(0.7, 0.7), v(1.5, 1.5), vec![circle]),
            (v(1.0, -1.0), v(2.0, 1.0), vec![circle]),
            (v(1.0, 0.0), v(1.0, 0.0), vec![circle]),
            (v(-0.1, -0.1), v(0.1, 0.1), vec![circle]),
            (v(10.8, 0.8), v(12.0, 2.0), vec![]),
            (v(10.6, 0.6), v(12.0, 2.0), vec![turned]),
            (v(20.8, -1.5), v(21.5, -0.8), vec![]),
            (v(20.2, -1.5), v(21.5, -0.2), vec![capsule]),
            (v(21.6, 1.6), v(21.8, 1.8), vec![capsule]),
            (v(28.0, 1.0), v(30.9, 5.0), vec![]),
            (v(28.0, 1.0), v(31.0, 5.0), vec![bracket]),
            (v(41.0, 0.5), v(42.0, 2.0), vec![crate_]),
            (v(41.1, 0.5), v(42.0, 2.0), vec![]),
            (v(-20.0, -10.0), v(-18.0, -7.0), vec![slope]),
            (v(-20.0, -8.0), v(-18.0, -7.0), vec![]),
        ] {
            assert_eq!(in_box(&world, lower, upper), expected, "{lower} to {upper}");
        }
        world.step();
    }
}

/// A box without limits contains every body. A box that is infinite to one side contains every body on that side,
/// half-spaces with normals along the axes included.
#[test]
fn infinite_boxes_hold_what_is_in_them() {
    let mut world = World::new(Settings::default()).unwrap();
    let normals = [Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y, Vec2::ONE];
    let planes: Vec<BodyHandle> = normals
        .into_iter()
        .map(|normal| world.add_body(&BodyDesc::fixed(Shape::half_space(normal, -50.0), Vec2::ZERO)).unwrap())
        .collect();
    let shapes =
        [Shape::circle(1.0), Shape::aabb(1.0, 1.0), Shape::oriented_box(1.0, 0.5), Shape::capsule(1.0, 0.5)];
    let row = shapes.into_iter().zip(0u8..);
    let bodies: Vec<BodyHandle> = row
        .map(|(shape, i)| {
            let at = Vec2::new(10.0 * f32::from(i), 0.0);
            world.add_body(&BodyDesc { gravity_scale: 0.0, ..BodyDesc::dynamic(shape, at) }).unwrap()
        })
        .collect();
    let all: Vec<BodyHandle> = planes.iter().chain(&bodies).copied().collect();
    let infinite = Vec2::INFINITY;
    for _ in 0..3 {
        assert_eq!(in_box(&world, -infinite, infinite), all);
        let right = in_box(&world, Vec2::new(5.0, f32::NEG_INFINITY), infinite);
        let expected = [&planes[1..5], &bodies[1..]].concat();
        assert_eq!(right, expected);
        let above = in_box(&world, Vec2::new(f32::NEG_INFINITY, 5.0), infinite);
        assert_eq!(above, [planes[0], planes[2], planes[3], planes[4]]);
        world.step();
    }
}
