//! Contract: contacts with segments of chains are those of the oracle of `reference/chain.rs`.

use super::*;
use crate::reference::chain::{ChainSegment, manifolds};

/// A chain segment whose neighbours are absent or lead in any direction except straight back. Every other joint is
/// level.
fn segment(size: f32) -> impl Strategy<Value = Shape> {
    let neighbour = || {
        let angle = prop_oneof![1 => Just(0.0f32), 1 => between(-0.02, 0.02), 3 => between(-2.5, 2.5)];
        prop::option::weighted(0.8, (angle, between(0.05, 1.0)))
    };
    (between(0.1, 1.0), neighbour(), neighbour()).prop_map(move |(half, before, after)| {
        let half_length = half * size;
        let way = |(angle, length): (f32, f32)| size * length * Vec2::from_angle(angle);
        let half = Vec2::new(half_length, 0.0);
        Shape::ChainSegment {
            half_length,
            before: before.map(|neighbour| -half - way(neighbour)),
            after: after.map(|neighbour| half + way(neighbour)),
        }
    })
}

/// A segment, and a dynamic body near it.
fn pair_with_segment() -> impl Strategy<Value = [BodyDesc; 2]> {
    let shapes = prop_oneof![
        4 => any_size().prop_flat_map(|size| (segment(size), bounded_shape(size))),
        1 => (any_size().prop_flat_map(segment), any_size().prop_flat_map(bounded_shape)),
    ];
    let types = prop::sample::select(vec![BodyType::Static, BodyType::Kinematic]);
    (shapes, placing(), types).prop_map(|((a, b), placing, kind)| {
        let (position, angle) = place(&a, &b, &placing);
        let first = body(a, kind, placing.position, placing.angle);
        [first, body(b, BodyType::Dynamic, position, angle)]
    })
}

/// Edges whose facing parts are shorter than about this touch at one point, m.
const NO_LENGTH: f64 = 2e-6;

/// Checks the engine's contacts of a shape with a segment against the oracle's.
fn check_segment(shape: &Form, centre: DVec2, segment: &ChainSegment, seen: &[Seen]) -> Result<(), String> {
    let Form::Hull(hull) = shape else { panic!("{shape:?}") };
    let scale = hull.radius
        + hull.corners.iter().chain([&segment.start, &segment.end]).map(|c| c.length()).fold(0.0, f64::max);
    // A shape that reaches below the segment from its side, and does not touch it, is left to the segments that the
    // shape crosses, unless it is so near that the broadphase reports a pair.
    let apart = separation(shape, &Form::Hull(segment.core())) > SPECULATIVE - TIE * scale;
    if seen.is_empty() && apart {
        return Ok(());
    }
    let expected = manifolds(hull, centre, segment, (TIE * scale).max(NO_LENGTH));
    if expected.iter().any(|manifold| is(seen, manifold, TOLERANCE * scale)) {
        return Ok(());
    }
    Err(format!("seen {seen:#?}, none of {expected:#?}\n{shape:?}\n{segment:?}"))
}

fn chain_segment(world: &World, body: BodyHandle) -> ChainSegment {
    let now = world.body(body).unwrap();
    ChainSegment::new(&world.shape(body).unwrap(), dvec(now.position), f64::from(now.angle))
}

/// Checks every pair of a segment and a body against the oracle over some steps.
fn check_segments(pairs: &[[BodyDesc; 2]], isa: Isa) -> Result<(), String> {
    let (mut world, handles) = layered(pairs, isa);
    for step in 0..3 {
        handles.iter().for_each(|&pair| stop(&mut world, pair));
        let before: Vec<_> = handles
            .iter()
            .map(|&[segment, body]| {
                let centre = dvec(world.body(body).unwrap().position);
                (chain_segment(&world, segment), form(&world, body), centre)
            })
            .collect();
        world.step();
        for (i, (&[a, b], (segment, shape, centre))) in handles.iter().zip(&before).enumerate() {
            let seen = seen(&world, b, a);
            check_segment(shape, *centre, segment, &seen)
                .map_err(|error| format!("step {step}, pair {i}, {isa:?}: {error}\n{:#?}", pairs[i]))?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(512))]

    /// The contacts of any shape with a segment of a chain are the oracle's, on every instruction set.
    #[test]
    fn contacts_with_segments_are_those_of_the_oracle(
        pairs in prop::collection::vec(pair_with_segment(), 1..24),
        isa in any_isa(),
    ) {
        let outcome = check_segments(&pairs, isa);
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

/// The oracle and the engine both give what a drawing gives: on the segment, under it, over its joints and ends.
#[test]
fn segments_by_hand() {
    let half = Vec2::new(1.0, 0.0);
    // On the left the chain comes down a slope, so that the joint is a hollow. On the right it continues level, falls
    // away, or ends.
    let hollow = Some(Vec2::new(-2.0, 1.0));
    let (level, cliff) = (Some(Vec2::new(3.0, 0.0)), Some(Vec2::new(1.0, -1.0)));
    let chain = |before, after| Shape::ChainSegment { half_length: half.x, before, after };
    let ball = |x: f32, y: f32| (Shape::circle(0.5), x, y);
    let crate_ = |x: f32, y: f32| (Shape::oriented_box(0.5, 0.5), x, y);
    let leaning = Some((Vec2::new(-0.6, -0.8), 1));
    let down = |points: usize| Some((Vec2::new(0.0, -1.0), points));
    for (chain, (shape, x, y), expected) in [
        (chain(hollow, level), ball(0.0, 0.49), down(1)),
        (chain(hollow, level), ball(0.0, -0.01), None),
        // Beyond the joint to the next segment, that segment answers. Over the edge of a cliff, or over the chain's
        // end, this segment answers.
        (chain(hollow, level), ball(1.3, 0.4), None),
        (chain(hollow, cliff), ball(1.3, 0.4), leaning),
        (chain(hollow, None), ball(1.3, 0.4), leaning),
        // Before the segment's start the hollow's slope is nearer.
        (chain(hollow, level), ball(-1.3, 0.4), None),
        (chain(hollow, level), crate_(0.0, 0.45), down(2)),
        (chain(hollow, level), crate_(1.3, 0.45), down(2)),
        (chain(hollow, level), crate_(1.6, 0.45), None),
        (chain(hollow, level), crate_(0.0, -0.05), None),
        // The overlap is deeper than the way out over the end: a level joint does not push the box aside, a chain's end
        // does.
        (chain(hollow, level), crate_(1.4, 0.2), down(2)),
        (chain(hollow, None), crate_(1.4, 0.2), Some((Vec2::new(-1.0, 0.0), 1))),
    ] {
        for isa in [Isa::Scalar, Isa::Auto] {
            let mut world = World::new(settings(isa)).unwrap();
            let segment = world.add_body(&body(chain, BodyType::Static, Vec2::ZERO, 0.0)).unwrap();
            let other = world.add_body(&body(shape, BodyType::Dynamic, Vec2::new(x, y), 0.0)).unwrap();
            let (before, form) = (chain_segment(&world, segment), form(&world, other));
            world.step();
            let contacts = seen(&world, other, segment);
            let what = format!("{chain:?}, {shape:?} at {x}, {y}: {contacts:?}");
            check_segment(&form, DVec2::new(f64::from(x), f64::from(y)), &before, &contacts).unwrap();
            let (normal, points) = expected.unwrap_or((Vec2::ZERO, 0));
            assert_eq!(contacts.len(), points, "{what}");
            assert!(contacts.iter().all(|contact| (contact.normal - dvec(normal)).length() < 1e-5), "{what}");
        }
    }
}

/// Where an edge lies over another by less than a micrometre, the contact is its deeper end. (An almost upright capsule of a few millimetres beside a
/// segment's end: its higher end was taken.)
#[test]
fn edges_almost_beside_each_other_touch_at_the_deeper_end() {
    let base = Shape::ChainSegment { half_length: 0.002_956_911_2, before: None, after: None };
    let rod = Shape::capsule(0.001_264_519, 0.004_361_997);
    let place = Vec2::new(0.000_969_738_4, 0.004_416_452_7);
    let pair = [
        body(base, BodyType::Static, Vec2::ZERO, -5.447_678_6),
        body(rod, BodyType::Dynamic, place, 2.545_946),
    ];
    for isa in [Isa::Scalar, Isa::Auto] {
        check_segments(&[pair], isa).unwrap();
    }
}

/// Contacts that a segment does not answer for, and contacts that are turned, missing or displaced, are not accepted.
#[test]
fn wrong_contacts_with_segments_are_seen() {
    let shape = Shape::ChainSegment {
        half_length: 1.0,
        before: Some(Vec2::new(-2.0, 0.0)),
        after: Some(Vec2::new(2.0, 0.0)),
    };
    let segment = ChainSegment::new(&shape, DVec2::ZERO, 0.0);
    let at = DVec2::new(0.0, 0.45);
    let form = Form::new(&Shape::oriented_box(0.5, 0.5), at, 0.0);
    let point = |x: f64| Seen { normal: -DVec2::Y, separation: -0.05, point: DVec2::new(x, -0.025) };
    let right = [point(-0.5), point(0.5)];
    check_segment(&form, at, &segment, &right).unwrap();
    let wrong = |what: &str, seen: &[Seen]| {
        assert!(check_segment(&form, at, &segment, seen).is_err(), "{what}");
    };
    wrong("none", &[]);
    wrong("one", &right[..1]);
    wrong("turned round", &right.map(|seen| Seen { normal: DVec2::Y, ..seen }));
    wrong("separation", &right.map(|seen| Seen { separation: -0.0503, ..seen }));
    wrong("point", &right.map(|seen| Seen { point: seen.point + DVec2::new(2e-3, 0.0), ..seen }));
    let beside = DVec2::new(1.3, 0.4);
    let disc = Form::new(&Shape::circle(0.5), beside, 0.0);
    check_segment(&disc, beside, &segment, &[]).unwrap();
    let leaning = Seen { normal: DVec2::new(-0.6, -0.8), separation: 0.0, point: DVec2::new(1.0, 0.0) };
    assert!(check_segment(&disc, beside, &segment, &[leaning]).is_err(), "its neighbour's");
}
