//! Contract: the contact points of shapes that turn are those of the oracle of `reference/hull.rs` and
//! `reference/clip.rs`, for random pairs of all shapes: nearly parallel, nearly touching, deeply overlapping and tiny
//! ones included.

mod chains;
mod lead;

use crate::reference::clip::{self, Manifold, core_separation, manifolds, separation};
use crate::reference::hull::{self, Form, Hull, dvec};
use glam::DVec2;
use granule::{
    BodyDesc, BodyHandle, BodyType, Filter, Isa, Part, Polygon, Settings, Shape, ShapeKind, Vec2, World,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::f32::consts::{PI, TAU};

/// The tolerance for rounding to f32, as a share of the sum of all lengths that go into a contact: some 300 units in
/// the last place.
const TOLERANCE: f64 = 2e-5;
/// The limit of ties, as a share of the same sum: a branch that depends on a smaller difference may go either way.
const TIE: f64 = 1e-4;
/// How much less deep a contact's deepest point may be than the shapes' overlap, m: a tenth of the slop.
const DEPTH: f64 = 5e-4;
/// Shapes nearer than this make contacts, m: four slops.
const SPECULATIVE: f64 = 0.02;

fn config(cases: u32) -> ProptestConfig {
    let failures = FileFailurePersistence::Direct("tests/regressions/manifolds.txt");
    ProptestConfig { cases, failure_persistence: Some(Box::new(failures)), ..ProptestConfig::default() }
}

/// A random number of a range. Proptest's own ranges of f32 fail on one of their assertions once in a million.
fn between(low: f32, high: f32) -> impl Strategy<Value = f32> + Clone {
    (0u32..=0xFF_FFFF).prop_map(move |part| low + (high - low) * (part as f32 / 16_777_215.0))
}

// ---- Random pairs -----------------------------------------------------------------------------

/// A polygon with corners on an ellipse: anything from a needle to a regular polygon.
fn polygon(size: f32) -> impl Strategy<Value = Shape> {
    let radius = prop_oneof![2 => Just(0.0f32), 1 => between(0.01, 0.5)];
    let angles = prop::collection::btree_set(0u32..48, 3..=8);
    let random =
        (angles, between(0.15, 1.0), radius.clone()).prop_filter_map("too flat", move |(angles, flat, r)| {
            let corner =
                |&step: &u32| size * Vec2::from_angle(step as f32 * TAU / 48.0) * Vec2::new(1.0, flat);
            let corners: Vec<Vec2> = angles.iter().map(corner).collect();
            Some(Shape::Polygon(Polygon::rounded(&corners, r * size).ok()?.0))
        });
    let regular = (3usize..=8, between(0.2, 1.0), radius).prop_map(move |(n, outer, r)| {
        let core = Polygon::regular(n, outer * size).unwrap();
        Shape::Polygon(Polygon::rounded(core.vertices(), r * size).unwrap().0)
    });
    prop_oneof![random, regular]
}

/// A shape that can be a part of a body.
fn part_shape(size: f32) -> impl Strategy<Value = Shape> {
    let extent = move |least: f32| between(least, 1.0).prop_map(move |extent| extent * size);
    prop_oneof![
        2 => extent(0.1).prop_map(Shape::circle),
        3 => (extent(0.1), extent(0.1)).prop_map(|(x, y)| Shape::oriented_box(x, y)),
        1 => extent(0.2).prop_map(|half| Shape::oriented_box(half, half)),
        2 => (extent(0.05), extent(0.05)).prop_map(|(half, radius)| Shape::capsule(half, radius)),
        1 => extent(0.1).prop_map(Shape::segment),
        3 => polygon(size),
    ]
}

fn bounded_shape(size: f32) -> impl Strategy<Value = Shape> {
    let extent = move || between(0.1, 1.0).prop_map(move |extent| extent * size);
    prop_oneof![7 => part_shape(size), 1 => (extent(), extent()).prop_map(|(x, y)| Shape::aabb(x, y))]
}

fn any_size() -> impl Strategy<Value = f32> {
    prop_oneof![5 => Just(1.0f32), 2 => Just(0.01f32), 1 => Just(8.0f32)]
}

/// An angle that is zero or almost zero.
fn nudge() -> impl Strategy<Value = f32> {
    let small = |most: f32| between(-most, most);
    prop_oneof![3 => Just(0.0f32), 2 => small(1e-2), 2 => small(1e-4), 1 => small(1e-6)]
}

/// The gap between two shapes, in m; for deep overlaps in units of their sizes.
#[derive(Clone, Copy, Debug)]
enum Gap {
    Metres(f32),
    Deep(f32),
    SameCentre,
}

fn gap() -> impl Strategy<Value = Gap> {
    prop_oneof![
        1 => Just(Gap::Metres(0.0)),
        1 => between(-1e-5, 1e-5).prop_map(Gap::Metres),
        4 => between(-0.02, 0.025).prop_map(Gap::Metres),
        1 => between(0.0195, 0.0205).prop_map(Gap::Metres),
        3 => between(-1.0, 0.0).prop_map(Gap::Deep),
        1 => Just(Gap::SameCentre),
    ]
}

/// The placement of B relative to A.
#[derive(Clone, Debug)]
struct Placing {
    position: Vec2,
    angle: f32,
    /// If given, a face of B lies against a face of A, turned by the last number. Otherwise B has any angle.
    faces: Option<(prop::sample::Index, prop::sample::Index, f32)>,
    turned: f32,
    /// The offset from the middle of the face, in units of A's size.
    aside: f32,
    gap: Gap,
}

fn placing() -> impl Strategy<Value = Placing> {
    let anywhere = (between(-10.0, 10.0), between(-10.0, 10.0)).prop_map(Vec2::from);
    let position = prop_oneof![2 => Just(Vec2::ZERO), 1 => anywhere];
    let angle = prop_oneof![1 => Just(0.0f32), 1 => Just(PI / 2.0), 4 => between(-7.0, 7.0)];
    let index = any::<prop::sample::Index>;
    let aside = prop_oneof![1 => Just(0.0f32), 3 => between(-2.0, 2.0)];
    (
        position,
        angle,
        prop::option::weighted(0.6, (index(), index(), nudge())),
        between(-PI, PI),
        aside,
        gap(),
    )
        .prop_map(|(position, angle, faces, turned, aside, gap)| Placing {
            position,
            angle,
            faces,
            turned,
            aside,
            gap,
        })
}

fn angle_of_face(form: &Form, index: prop::sample::Index) -> f64 {
    match form {
        Form::Hull(hull) if hull.corners.len() > 1 => {
            let edges = hull.edges();
            edges[index.index(edges.len())].normal.to_angle()
        }
        Form::Plane { normal, .. } => normal.to_angle(),
        Form::Hull(_) => index.index(360) as f64,
    }
}

fn reach(form: &Form) -> f64 {
    match form {
        Form::Hull(hull) => {
            hull.radius + 0.5 * hull.corners.iter().map(|c| c.distance(hull.corners[0])).fold(0.0, f64::max)
        }
        Form::Plane { .. } => 1.0,
    }
}

/// Position and angle of B beside A, which is at `placing.position`.
fn place(a: &Shape, b: &Shape, placing: &Placing) -> (Vec2, f32) {
    let (origin, a_angle) = (dvec(placing.position), f64::from(placing.angle));
    let form_a = Form::new(a, origin, a_angle);
    let (direction, angle) = match placing.faces {
        Some((face_a, face_b, off)) => {
            let out = angle_of_face(&form_a, face_a);
            let own = angle_of_face(&Form::new(b, DVec2::ZERO, 0.0), face_b);
            (out, (out + f64::from(PI) - own + f64::from(off)) as f32)
        }
        None => (f64::from(placing.turned) * 3.0, placing.turned),
    };
    let turned_to = f64::from(angle);
    let direction = DVec2::from_angle(direction);
    let start = origin + direction.perp() * f64::from(placing.aside) * reach(&form_a);
    let separation_at = |t: f64| separation(&form_a, &Form::new(b, start + t * direction, turned_to));
    let most = reach(&form_a) + reach(&Form::new(b, DVec2::ZERO, 0.0));
    let target = match placing.gap {
        Gap::Metres(gap) => f64::from(gap),
        Gap::Deep(share) => f64::from(share) * most,
        Gap::SameCentre => return (placing.position, angle),
    };
    let (mut near, mut far) = (0.0, 4.0 * most + 1.0);
    for _ in 0..80 {
        let middle = 0.5 * (near + far);
        if separation_at(middle) < target { near = middle } else { far = middle }
    }
    ((start + near * direction).as_vec2(), angle)
}

fn body(shape: Shape, body_type: BodyType, position: Vec2, angle: f32) -> BodyDesc {
    let fixed = body_type != BodyType::Dynamic;
    BodyDesc {
        body_type,
        angle: if matches!(shape, Shape::Aabb { .. }) { 0.0 } else { angle },
        // A segment has no area.
        mass: if fixed { None } else { Some(1.0) },
        ..BodyDesc::dynamic(shape, position)
    }
}

fn half_space() -> impl Strategy<Value = Shape> {
    let direction =
        prop_oneof![between(-PI, PI), prop::sample::select(vec![0.0f32, 0.5 * PI, PI, -0.5 * PI])];
    (direction, between(-1.0, 1.0))
        .prop_map(|(angle, offset)| Shape::half_space(Vec2::from_angle(angle), offset))
}

/// Two bodies in either order, at least one of them dynamic.
fn pair() -> impl Strategy<Value = [BodyDesc; 2]> {
    let shapes = prop_oneof![
        4 => any_size().prop_flat_map(|size| (bounded_shape(size), bounded_shape(size))),
        1 => (any_size(), any_size()).prop_flat_map(|(a, b)| (bounded_shape(a), bounded_shape(b))),
        1 => (half_space(), any_size().prop_flat_map(bounded_shape)),
    ];
    let types = prop::sample::select(vec![BodyType::Dynamic, BodyType::Static, BodyType::Kinematic]);
    (shapes, placing(), types, any::<bool>()).prop_map(|((a, b), mut placing, other, swapped)| {
        let plane = matches!(a, Shape::HalfSpace { .. });
        if plane {
            placing.angle = 0.0;
        }
        if matches!(a, Shape::Aabb { .. }) {
            placing.angle = 0.0;
        }
        let other = if plane { BodyType::Static } else { other };
        let (position, angle) = place(&a, &b, &placing);
        let first = body(a, other, placing.position, placing.angle);
        let second = body(b, BodyType::Dynamic, position, angle);
        if swapped { [second, first] } else { [first, second] }
    })
}

// ---- The engine's answer ----------------------------------------------------------------------

fn settings(isa: Isa) -> Settings {
    Settings { isa, gravity: Vec2::ZERO, time_step: 1e-4, ..Settings::default() }
}

fn any_isa() -> impl Strategy<Value = Isa> {
    prop::sample::select(Isa::available().collect::<Vec<_>>())
}

/// A contact in the oracle's terms: the normal points from the first body of the query to the second.
#[derive(Clone, Copy, Debug)]
struct Seen {
    normal: DVec2,
    separation: f64,
    point: DVec2,
}

fn seen(world: &World, a: BodyHandle, b: BodyHandle) -> Vec<Seen> {
    let mut found = Vec::new();
    for contact in world.contacts() {
        let sign = match (contact.a, contact.b) {
            pair if pair == (a, b) => 1.0,
            pair if pair == (b, a) => -1.0,
            _ => continue,
        };
        found.push(Seen {
            normal: sign * dvec(contact.normal),
            separation: f64::from(contact.separation),
            point: dvec(contact.point),
        });
    }
    found
}

fn form(world: &World, body: BodyHandle) -> Form {
    let now = world.body(body).unwrap();
    Form::new(&world.shape(body).unwrap(), dvec(now.position), f64::from(now.angle))
}

/// The forms of all parts of a body.
fn forms(world: &World, body: BodyHandle) -> Vec<Form> {
    let now = world.body(body).unwrap();
    let turn = DVec2::from_angle(f64::from(now.angle));
    let place = |part: &Part| {
        let position = dvec(now.position) + turn.rotate(dvec(part.position));
        Form::new(&part.shape, position, f64::from(now.angle) + f64::from(part.angle))
    };
    world.parts(body).unwrap().iter().map(place).collect()
}

/// The sum of all lengths that go into a contact of the two shapes.
fn scale(a: &Form, b: &Form) -> f64 {
    let of = |form: &Form| match form {
        Form::Hull(hull) => hull.radius + hull.corners.iter().map(|c| c.length()).fold(0.0, f64::max),
        Form::Plane { offset, .. } => offset.abs(),
    };
    of(a) + of(b)
}

/// Whether the contacts are those of this manifold.
fn is(seen: &[Seen], manifold: &Manifold, tolerance: f64) -> bool {
    let turned = 3e-6 + tolerance * manifold.normal_slope;
    let same_normal = seen.iter().all(|contact| (contact.normal - manifold.normal).length() <= turned);
    let matches = |contact: &Seen, touch: &clip::Touch| {
        let tolerance = tolerance * touch.slope;
        let apart = touch.point.map_or(0.0, |point| point.distance(contact.point));
        (contact.separation - touch.separation).abs() <= tolerance && apart <= 4.0 * tolerance
    };
    let each_is_a_point =
        seen.iter().all(|contact| manifold.points.iter().any(|touch| matches(contact, touch)));
    let near = |touch: &&clip::Touch| touch.separation < SPECULATIVE - tolerance * touch.slope;
    let each_point_is_there =
        manifold.points.iter().filter(near).all(|touch| seen.iter().any(|contact| matches(contact, touch)));
    same_normal && each_is_a_point && each_point_is_there && seen.len() <= manifold.points.len()
}

/// Checks the engine's contacts of two shapes against the oracle's.
fn check(a: &Form, b: &Form, seen: &[Seen]) -> Result<(), String> {
    let scale = scale(a, b);
    let (tolerance, tie) = (TOLERANCE * scale, TIE * scale);
    let truth = separation(a, b);
    let fail = |what: &str| {
        Err(format!("{what}; the true separation is {truth}\n seen {seen:#?}\n a {a:?}\n b {b:?}"))
    };
    for contact in seen {
        let sound = contact.normal.is_finite() && contact.separation.is_finite() && contact.point.is_finite();
        if !sound || (contact.normal.length() - 1.0).abs() > 1e-5 {
            return fail("not a contact");
        }
        if contact.separation > SPECULATIVE + tolerance {
            return fail("a contact of shapes that are too far apart");
        }
    }
    // Two axis-aligned boxes have a rule of their own, which measures along one axis only.
    let both_upright = |a: &Form, b: &Form| {
        let upright = |form: &Form| matches!(form, Form::Hull(Hull { upright: true, .. }));
        upright(a) && upright(b)
    };
    if truth > SPECULATIVE + tolerance && !seen.is_empty() && !both_upright(a, b) {
        return fail("a contact was invented");
    }
    if truth < -tolerance && seen.is_empty() {
        return fail("a contact was missed");
    }
    if let (Form::Hull(hull_a), Form::Hull(hull_b)) = (a, b)
        && core_separation(hull_a, hull_b) > tie
        && !seen.is_empty()
        && !both_upright(a, b)
    {
        let deepest = seen.iter().map(|contact| contact.separation).fold(f64::MAX, f64::min);
        if deepest > truth + DEPTH {
            return fail("the deepest point is less deep than the shapes are");
        }
    }
    let expected = manifolds(a, b, tie);
    if !expected.iter().any(|manifold| is(seen, manifold, tolerance)) {
        return fail(&format!("none of {expected:#?}"));
    }
    Ok(())
}

/// All pairs in one world, each in its own layer, so that the pairs fill lanes together.
fn layered(pairs: &[[BodyDesc; 2]], isa: Isa) -> (World, Vec<[BodyHandle; 2]>) {
    let mut world = World::new(settings(isa)).unwrap();
    let mut handles = Vec::new();
    for (layer, pair) in pairs.iter().enumerate() {
        let filter = Filter { category: 1 << layer, mask: 1 << layer, group: 0 };
        handles.push(pair.map(|desc| world.add_body(&BodyDesc { filter, ..desc }).unwrap()));
    }
    (world, handles)
}

/// Stops bodies: the contacts of those that move are those of half a step later, see `lead.rs`.
fn stop(world: &mut World, bodies: [BodyHandle; 2]) {
    for body in bodies {
        if world.body_type(body).unwrap() != BodyType::Static {
            world.set_velocity(body, Vec2::ZERO).unwrap();
            world.set_angular_velocity(body, 0.0).unwrap();
        }
    }
}

/// Checks every pair against the oracle over some steps.
fn check_pairs(pairs: &[[BodyDesc; 2]], isa: Isa) -> Result<(), String> {
    let (mut world, handles) = layered(pairs, isa);
    for step in 0..3 {
        handles.iter().for_each(|&pair| stop(&mut world, pair));
        let before: Vec<_> = handles.iter().map(|pair| pair.map(|body| form(&world, body))).collect();
        world.step();
        world.validate()?;
        for (i, ([a, b], forms)) in handles.iter().zip(&before).enumerate() {
            check(&forms[0], &forms[1], &seen(&world, *a, *b)).map_err(|error| {
                let kinds = pairs[i].map(|desc| desc.shape.kind());
                format!("step {step}, pair {i}, {kinds:?}, {isa:?}: {error}\n{:#?}", pairs[i])
            })?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(512))]

    /// The contacts of any two shapes are the oracle's: normals, separations and points, with none missed and none
    /// invented, on every instruction set.
    #[test]
    fn contacts_are_those_of_the_oracle(
        pairs in prop::collection::vec(pair(), 1..24),
        isa in any_isa(),
    ) {
        let outcome = check_pairs(&pairs, isa);
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }

    /// The order in which two bodies are added changes only the sign, unless two manifolds are equally right.
    #[test]
    fn contacts_do_not_depend_on_the_order([first, second] in pair(), isa in any_isa()) {
        let contacts = |descs: [BodyDesc; 2]| {
            let mut world = World::new(settings(isa)).unwrap();
            let handles = descs.map(|desc| world.add_body(&desc).unwrap());
            let forms = handles.map(|body| form(&world, body));
            world.step();
            (seen(&world, handles[0], handles[1]), forms)
        };
        let (one_way, [a, b]) = contacts([first, second]);
        let (other_way, _) = contacts([second, first]);
        let scale = scale(&a, &b);
        let expected = manifolds(&a, &b, TIE * scale);
        let tolerance = TOLERANCE * scale;
        let cut = |touch: &clip::Touch| (touch.separation - SPECULATIVE).abs() < tolerance * touch.slope;
        if let [manifold] = &expected[..]
            && !manifold.points.iter().any(cut)
            && manifold.normal_slope.is_finite()
        {
            prop_assert_eq!(one_way.len(), other_way.len(), "{:?} {:?}", one_way, other_way);
            let length = tolerance * manifold.points[0].slope;
            let turn = 3e-6 + tolerance * manifold.normal_slope;
            for contact in &one_way {
                let twin = |other: &&Seen| {
                    let somewhere = manifold.points[0].point.is_none();
                    (other.normal + contact.normal).length() <= turn
                        && (other.separation - contact.separation).abs() <= 2.0 * length
                        && (somewhere || other.point.distance(contact.point) <= 8.0 * length)
                };
                prop_assert!(other_way.iter().any(|other| twin(&other)), "{:?} {:?}", one_way, other_way);
            }
        }
    }

    /// A compound and its parts as bodies of their own have the same contacts with any other shape.
    #[test]
    fn compounds_touch_as_their_parts_do(
        shapes in prop::collection::vec(
            (part_shape(1.0), between(-1.5, 1.5), between(-1.5, 1.5), between(-PI, PI)),
            2..6,
        ),
        probe in prop_oneof![6 => bounded_shape(1.0), 1 => half_space()],
        at in (between(-2.5, 2.5), between(-2.5, 2.5)),
        angles in (between(-PI, PI), between(-PI, PI)),
        fixed in any::<bool>(),
        isa in any_isa(),
    ) {
        let plane = probe.kind() == ShapeKind::HalfSpace;
        let kind = if fixed && !plane { BodyType::Static } else { BodyType::Dynamic };
        let mut whole = World::new(settings(isa)).unwrap();
        // The body's own shape is the first part that has a mass; segments have none.
        let massive = shapes.iter().position(|(shape, ..)| shape.area() > 0.0);
        let Some(first) = massive else { return Ok(()) };
        let desc = BodyDesc { mass: None, ..body(shapes[first].0, kind, Vec2::new(0.5, -0.25), angles.0) };
        let compound = whole.add_body(&desc).unwrap();
        for (i, &(shape, x, y, angle)) in shapes.iter().enumerate() {
            if i != first {
                let origin = whole.parts(compound).unwrap()[0].position;
                let part = Part { angle, ..Part::new(shape, origin + Vec2::new(x, y)) };
                whole.add_part(compound, &part).unwrap();
            }
        }
        let probe_type = if plane { BodyType::Static } else { BodyType::Dynamic };
        let probe = body(probe, probe_type, Vec2::from(at), angles.1);
        let mut apart = World::new(settings(isa)).unwrap();
        let probes = [whole.add_body(&probe).unwrap(), apart.add_body(&probe).unwrap()];

        let now = whole.body(compound).unwrap();
        let placed = whole.parts(compound).unwrap();
        let probe_form = form(&whole, probes[0]);
        let part_forms = forms(&whole, compound);
        let mut singles = Vec::new();
        for part in &placed {
            let position = now.position + Vec2::from_angle(now.angle).rotate(part.position);
            let single = body(part.shape, kind, position, now.angle + part.angle);
            let filter = Filter { group: 1, ..Filter::default() };
            singles.push(apart.add_body(&BodyDesc { filter, ..single }).unwrap());
        }
        whole.step();
        apart.step();
        let together = seen(&whole, compound, probes[0]);
        let mut separate = Vec::new();
        for (&single, part) in singles.iter().zip(&part_forms) {
            let scale = scale(part, &probe_form);
            let contacts = seen(&apart, single, probes[1]);
            let outcome = check(part, &probe_form, &contacts);
            prop_assert!(outcome.is_ok(), "a part alone: {}", outcome.unwrap_err());
            let expected = manifolds(part, &probe_form, TIE * scale);
            let cut = |touch: &clip::Touch| (touch.separation - SPECULATIVE).abs() < TIE * scale * touch.slope;
            if expected.len() > 1 || expected.iter().flat_map(|m| &m.points).any(cut) {
                // Two manifolds are equally right: the compound may have the other one.
                return Ok(());
            }
            let slope = expected[0].points.iter().map(|touch| touch.slope).fold(1.0, f64::max);
            let length = 2.0 * TOLERANCE * scale;
            let tolerances = (length * slope, 6e-6 + length * expected[0].normal_slope);
            separate.extend(contacts.into_iter().map(|contact| (contact, tolerances)));
        }
        let alike = |one: &Seen, (other, (length, turn)): &(Seen, (f64, f64))| {
            (one.normal - other.normal).length() <= *turn
                && (one.separation - other.separation).abs() <= *length
                && one.point.distance(other.point) <= 4.0 * length
        };
        prop_assert_eq!(together.len(), separate.len(), "{:?}\n{:?}", together, separate);
        for contact in &together {
            let there = separate.iter().any(|other| alike(contact, other));
            prop_assert!(there, "{:?} not in {:?}", contact, separate);
        }
        for other in &separate {
            let there = together.iter().any(|contact| alike(contact, other));
            prop_assert!(there, "{:?} not in {:?}", other, together);
        }
    }

    /// The oracle agrees with sampling: two cores that are apart have the distance of the nearest pair of points
    /// sampled on their outlines. No manifold's deepest point is nearer than that, and without a tie the two distances
    /// are equal.
    #[test]
    fn oracle_agrees_with_sampling([first, second] in pair()) {
        let forms = [first, second]
            .map(|desc| Form::new(&desc.shape, dvec(desc.position), f64::from(desc.angle)));
        let (truth, scale) = (separation(&forms[0], &forms[1]), scale(&forms[0], &forms[1]));
        let expected = manifolds(&forms[0], &forms[1], TIE * scale);
        prop_assert!(!expected.is_empty(), "no manifold at all: {:?}", forms);
        for manifold in &expected {
            prop_assert!((manifold.normal.length() - 1.0).abs() < 1e-12);
            for touch in &manifold.points {
                // A point midway between two surfaces is at most half the separation away from each.
                let Some(point) = touch.point else { continue };
                for form in &forms {
                    let limit = 0.5 * touch.separation.abs() + 10.0 * TIE * scale * touch.slope;
                    let distance = form.distance(point);
                    prop_assert!(distance <= limit, "{} > {}: {:?} {:?}", distance, limit, touch, forms);
                }
            }
        }
        if let [Form::Hull(a), Form::Hull(b)] = &forms
            && core_separation(a, b) > 0.0
        {
            let outline = |hull: &Hull| -> Vec<DVec2> {
                let edges = hull.edges();
                if edges.is_empty() {
                    return hull.corners.clone();
                }
                let on = |i: i32, edge: &hull::Edge| edge.a.lerp(edge.b, f64::from(i) / 40.0);
                edges.iter().flat_map(|edge| (0..=40).map(move |i| on(i, edge))).collect()
            };
            let others = outline(b);
            let nearest = outline(a)
                .iter()
                .flat_map(|p| others.iter().map(|q| p.distance(*q)))
                .fold(f64::MAX, f64::min);
            let core = core_separation(a, b);
            prop_assert!(core <= nearest + 1e-12 && nearest < core + 0.1 * scale, "{} {}", core, nearest);
            let depths = expected.iter().map(|manifold| {
                manifold.points.iter().map(|touch| touch.separation).fold(f64::MAX, f64::min)
            });
            let (least, most) =
                depths.fold((f64::MAX, f64::MIN), |(least, most), depth| (least.min(depth), most.max(depth)));
            if !(a.upright && b.upright) {
                prop_assert!((least - truth).abs() < 2.0 * TIE * scale, "{} {}: {:?}", least, truth, forms);
                prop_assert!(most > truth - 2.0 * TIE * scale);
            }
        }
    }
}

// ---- The oracle against drawings ----------------------------------------------------------------

/// The oracle's manifold of two shapes for which only one manifold is right.
fn the_manifold(a: (Shape, f64, f64, f64), b: (Shape, f64, f64, f64)) -> Manifold {
    let form = |(shape, x, y, angle): (Shape, f64, f64, f64)| Form::new(&shape, DVec2::new(x, y), angle);
    let found = manifolds(&form(a), &form(b), 1e-6);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// The points of a manifold with their separations, from left to right and from below.
fn points(manifold: &Manifold) -> Vec<(f64, f64, f64)> {
    let rounded = |x: f64| (x * 1e9).round() / 1e9 + 0.0;
    let mut points: Vec<_> = manifold
        .points
        .iter()
        .map(|touch| (touch.point.unwrap(), touch.separation))
        .map(|(point, separation)| (rounded(point.x), rounded(point.y), rounded(separation)))
        .collect();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    points
}

/// The oracle gives the manifolds that a drawing gives.
#[test]
fn oracle_by_hand() {
    // A narrow box overlaps a wide one by 0.1, turned by half a turn.
    let wide = (Shape::oriented_box(2.0, 1.0), 0.0, 0.0, 0.0);
    let narrow = (Shape::oriented_box(0.5, 0.5), 0.5, 1.4, std::f64::consts::PI);
    let found = manifolds(
        &Form::new(&wide.0, DVec2::ZERO, 0.0),
        &Form::new(&narrow.0, DVec2::new(0.5, 1.4), narrow.3),
        1e-6,
    );
    // Parallel faces: either box may be the reference, with one outcome.
    assert_eq!(found.len(), 2);
    for manifold in found {
        assert!((manifold.normal - DVec2::Y).length() < 1e-12);
        assert_eq!(points(&manifold), [(0.0, 0.95, -0.1), (1.0, 0.95, -0.1)]);
    }
    // For a box beyond the end of another box the points are limited to the part where the faces overlap.
    let left = Form::new(&Shape::oriented_box(1.0, 1.0), DVec2::ZERO, 0.0);
    let right = Form::new(&Shape::oriented_box(1.0, 1.0), DVec2::new(1.5, 2.0), 0.0);
    for manifold in manifolds(&left, &right, 1e-6) {
        assert_eq!(points(&manifold), [(0.5, 1.0, 0.0), (1.0, 1.0, 0.0)]);
    }
    // Corner to corner, 3-4-5.
    let found = manifolds(&left, &Form::new(&Shape::oriented_box(1.0, 1.0), DVec2::new(2.3, 2.4), 0.0), 1e-6);
    for manifold in &found {
        assert!((manifold.normal - DVec2::new(0.6, 0.8)).length() < 1e-9, "{manifold:?}");
        assert_eq!(points(manifold), [(1.15, 1.2, 0.5)]);
    }
    // Capsules in line, 0.2 apart, and side by side.
    let capsule = |x: f64, y: f64| Form::new(&Shape::capsule(1.0, 0.5), DVec2::new(x, y), 0.0);
    for manifold in manifolds(&capsule(0.0, 0.0), &capsule(3.2, 0.0), 1e-6) {
        assert!((manifold.normal - DVec2::X).length() < 1e-9);
        assert_eq!(points(&manifold), [(1.6, 0.0, 0.2)]);
    }
    for manifold in manifolds(&capsule(0.0, 0.0), &capsule(1.5, 0.75), 1e-6) {
        assert!((manifold.normal - DVec2::Y).length() < 1e-9);
        assert_eq!(points(&manifold), [(0.5, 0.375, -0.25), (1.0, 0.375, -0.25)]);
    }
    // A disc beside a corner, over a face, and inside the box.
    let cube = (Shape::oriented_box(1.0, 1.0), 0.0, 0.0, 0.0);
    let disc = |x: f64, y: f64| (Shape::circle(0.5), x, y, 0.0);
    let manifold = the_manifold(cube, disc(1.3, 1.4));
    assert!((manifold.normal - DVec2::new(0.6, 0.8)).length() < 1e-7);
    assert!(manifold.points[0].separation.abs() < 1e-7);
    let manifold = the_manifold(disc(0.25, 1.25), cube);
    assert_eq!((manifold.normal, points(&manifold)), (-DVec2::Y, vec![(0.25, 0.875, -0.25)]));
    let manifold = the_manifold(cube, disc(0.5, 0.25));
    assert_eq!((manifold.normal, points(&manifold)), (DVec2::X, vec![(0.5, 0.25, -1.0)]));
    // A box on a half-space has both corners of its lower edge.
    let plane = (Shape::half_space(Vec2::Y, 0.0), 0.0, 0.0, 0.0);
    let manifold = the_manifold(plane, (Shape::oriented_box(1.0, 0.5), 3.0, 0.25, 0.0));
    assert_eq!(
        (manifold.normal, points(&manifold)),
        (DVec2::Y, vec![(2.0, -0.125, -0.25), (4.0, -0.125, -0.25)])
    );
    // Segments that cross separate by the shorter way.
    let cross = Form::new(&Shape::segment(1.0), DVec2::new(0.9, 0.0), std::f64::consts::FRAC_PI_2);
    let manifold = manifolds(&Form::new(&Shape::segment(1.0), DVec2::ZERO, 0.0), &cross, 1e-6);
    assert!(manifold.iter().all(|m| (m.normal - DVec2::X).length() < 1e-9), "{manifold:?}");
    assert!((separation(&Form::new(&Shape::segment(1.0), DVec2::ZERO, 0.0), &cross) + 0.1).abs() < 1e-12);
}

/// A manifold that differs by little more than the tolerance, lacks a point or has one too many is not accepted.
#[test]
fn wrong_contacts_are_seen() {
    let a = Form::new(&Shape::oriented_box(2.0, 1.0), DVec2::ZERO, 0.0);
    let b = Form::new(&Shape::oriented_box(0.5, 0.25), DVec2::new(0.5, 1.15), 0.0);
    let at = |x: f64| Seen { normal: DVec2::Y, separation: -0.1, point: DVec2::new(x, 0.95) };
    let right = [at(0.0), at(1.0)];
    check(&a, &b, &right).unwrap();
    let wrong = |what: &str, contacts: &[Seen]| assert!(check(&a, &b, contacts).is_err(), "{what}");
    wrong("none", &[]);
    wrong("one", &right[..1]);
    wrong("three", &[at(0.0), at(1.0), at(0.0)]);
    wrong("the same twice", &[at(0.0), at(0.0)]);
    wrong("turned round", &right.map(|seen| Seen { normal: -seen.normal, ..seen }));
    wrong("normal", &right.map(|seen| Seen { normal: DVec2::new(1e-3, 1.0).normalize(), ..seen }));
    wrong("separation", &right.map(|seen| Seen { separation: -0.1003, ..seen }));
    wrong("point", &right.map(|seen| Seen { point: seen.point + DVec2::new(0.0, 2e-3), ..seen }));
    wrong("nan", &right.map(|seen| Seen { separation: f64::NAN, ..seen }));
    let far = Form::new(&Shape::oriented_box(0.5, 0.25), DVec2::new(0.5, 1.28), 0.0);
    check(&a, &far, &[]).unwrap();
    assert!(check(&a, &far, &[Seen { separation: 0.019, ..at(0.0) }]).is_err(), "invented");
}

/// The round end of a capsule that comes to a box's corner from the side touches the corner. There the capsule's flank
/// faces the box. Clipped to the box's face, the flank would seem further away than the capsule's end is.
#[test]
fn round_ends_meet_corners() {
    let wall = Shape::oriented_box(0.4, 0.1);
    let angle = 35.0f32.to_radians();
    let (half, radius) = (0.55f32, 0.6f32);
    for isa in Isa::available() {
        for direction in [57.0f32, 65.0, 75.0, 85.0] {
            for gap in [0.01f32, 0.0, -0.05, -0.2] {
                // From the box's lower right corner to the upper end of the capsule's core.
                let end = Vec2::new(0.4, -0.1) + (radius + gap) * Vec2::from_angle(-direction.to_radians());
                let at = end - half * Vec2::from_angle(angle);
                let mut world = World::new(settings(isa)).unwrap();
                let a = world.add_body(&body(wall, BodyType::Static, Vec2::ZERO, 0.0)).unwrap();
                let b = world
                    .add_body(&body(Shape::capsule(half, radius), BodyType::Dynamic, at, angle))
                    .unwrap();
                let (form_a, form_b) = (form(&world, a), form(&world, b));
                assert!((separation(&form_a, &form_b) - f64::from(gap)).abs() < 1e-6);
                world.step();
                let contacts = seen(&world, a, b);
                let least = contacts.iter().map(|contact| contact.separation).fold(f64::MAX, f64::min);
                let off = (least - f64::from(gap)).abs();
                assert!(off < DEPTH, "{direction}°, {gap}: {contacts:?}");
                check(&form_a, &form_b, &contacts).unwrap();
            }
        }
    }
}

/// The engine's contacts of two bodies at rest, the first one static, after a check against the oracle.
fn touch(isa: Isa, a: (Shape, Vec2, f32), b: (Shape, Vec2, f32)) -> Vec<Seen> {
    let mut world = World::new(settings(isa)).unwrap();
    let a = world.add_body(&body(a.0, BodyType::Static, a.1, a.2)).unwrap();
    let b = world.add_body(&body(b.0, BodyType::Dynamic, b.1, b.2)).unwrap();
    let forms = [form(&world, a), form(&world, b)];
    world.step();
    let contacts = seen(&world, a, b);
    check(&forms[0], &forms[1], &contacts).unwrap();
    contacts
}

/// A body in line with a capsule or a segment touches its end, and not its flank, however far away the body is.
#[test]
fn ends_are_touched_in_line() {
    for isa in Isa::available() {
        for angle in [0.0f32, 0.5 * PI, 0.3, -2.0] {
            let axis = Vec2::from_angle(angle);
            for shape in [Shape::circle(0.25), Shape::capsule(0.4, 0.25)] {
                let half = if matches!(shape, Shape::Circle { .. }) { 0.0 } else { 0.4 };
                for (rod, radius) in [(Shape::capsule(0.5, 0.25), 0.25f32), (Shape::segment(0.5), 0.0)] {
                    for gap in [0.01f32, 0.0, -0.1] {
                        let at = axis * (0.5 + half + radius + 0.25 + gap);
                        let contacts = touch(isa, (rod, Vec2::ZERO, angle), (shape, at, angle));
                        assert_eq!(contacts.len(), 1, "{contacts:?}");
                        assert!((contacts[0].normal - dvec(axis)).length() < 1e-5, "{contacts:?}");
                        assert!((contacts[0].separation - f64::from(gap)).abs() < 1e-6, "{contacts:?}");
                    }
                    let far = axis * 2.0;
                    assert_eq!(touch(isa, (rod, Vec2::ZERO, angle), (shape, far, angle)).len(), 0);
                }
            }
        }
    }
}

/// A capsule or a segment that stands upright on a face, overlapping it or not, touches the face with its lower end.
#[test]
fn rods_stand_upright() {
    for isa in Isa::available() {
        for turned in [0.0f32, 0.7, -1.9, PI] {
            let up = Vec2::from_angle(turned + 0.5 * PI);
            for upright in [0.5f32, -0.5] {
                for ground in [
                    Shape::oriented_box(2.0, 0.5),
                    Shape::Polygon(Polygon::regular(4, 0.5 * 2.0f32.sqrt()).unwrap()),
                ] {
                    let tilt = if matches!(ground, Shape::Box { .. }) { turned } else { turned + 0.25 * PI };
                    for (rod, end) in [(Shape::capsule(0.5, 0.25), 0.75f32), (Shape::segment(0.5), 0.5)] {
                        for gap in [0.01f32, 0.0, -0.1, -0.3] {
                            let at = up * (0.5 + end + gap) + 0.1 * up.perp();
                            let rod = (rod, at, turned + upright * PI);
                            let contacts = touch(isa, (ground, Vec2::ZERO, tilt), rod);
                            let lower =
                                contacts.iter().map(|contact| contact.separation).fold(f64::MAX, f64::min);
                            assert!(
                                (lower - f64::from(gap)).abs() < 1e-5,
                                "{lower}, expected {gap}: {contacts:?}"
                            );
                            assert!((contacts[0].normal - dvec(up)).length() < 1e-5, "{contacts:?}");
                        }
                    }
                }
            }
        }
    }
}
