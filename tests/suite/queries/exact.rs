//! Contract: queries are as exact as the numbers are: computed in f64 from the f32 columns and shapes, wherever in the world; ends, corners
//! and axes of shapes are where they are; and neither a step nor a batch changes the answers about bodies at rest.

use super::definition::{hull_of, shapes, signed};
use super::{between, config};
use granule::{
    Assembly, BatchFirst, BatchHits, BodyDesc, BodyPart, Hit, Material, Nearest, Probe, QueryFilter, Ray,
    Settings, Shape, ShapeCast, Vec2, Visit, World,
};
use proptest::prelude::*;

const OPEN: QueryFilter<'static> =
    QueryFilter { category: u32::MAX, mask: u32::MAX, excluded: &[], accept: None };

fn world_of(descs: &[BodyDesc]) -> World {
    let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
    world.add_bodies(descs).unwrap();
    world
}

/// The next float away from zero, so many times.
fn ulps(value: f32, count: i32) -> f32 {
    f32::from_bits(value.to_bits().wrapping_add_signed(count))
}

fn holding(world: &World, point: Vec2) -> usize {
    let mut count = 0;
    world
        .overlap_point(point, &OPEN, |_| {
            count += 1;
            true
        })
        .unwrap();
    count
}

fn in_box(world: &World, lower: Vec2, upper: Vec2) -> usize {
    let mut count = 0;
    world.overlap_aabb(lower, upper, &OPEN, |_| {
        count += 1;
        true
    });
    count
}

/// Contract: a ray that crosses the line of a segment beyond its end misses it, by however little, and meets it before the end: also the
/// free ends of a chain, and far from the origin.
#[test]
fn rays_end_where_segments_end() {
    for far in [0.0f32, 100.0, 1.0e3, 1.0e4, 1.0e5, 1.0e6] {
        let at = Vec2::new(far, 0.0);
        let plain = world_of(&[BodyDesc::fixed(Shape::segment(0.25), at)]);
        let mut chain = world_of(&[]);
        // A chain from left to right is solid below.
        let points = [-0.25, 0.0, 0.25].map(|x| at + Vec2::new(x, 0.0));
        chain.add_assembly(&Assembly::chain(&points, false, Material::default()).unwrap()).unwrap();
        for (what, mut world) in [("segment", plain), ("chain", chain)] {
            for _ in 0..2 {
                for end in [far + 0.25, far - 0.25] {
                    for count in -3..=3 {
                        let x = ulps(end, count);
                        let beyond = (f64::from(x) - f64::from(far)).abs() > 0.25;
                        for down in [Vec2::new(0.0, -2.0), Vec2::new(1e-9, -2.0)] {
                            let ray = Ray::new(Vec2::new(x, 1.0), down);
                            let hit = world.cast_ray(&ray, &OPEN).unwrap();
                            let aslant = down.x != 0.0 && count == 0;
                            assert!(aslant || hit.is_none() == beyond, "{what}: {ray:?}: {hit:?}");
                        }
                    }
                }
                world.step();
            }
        }
    }
}

proptest! {
    #![proptest_config(config(64))]

    /// Contract: a ray through the joint of two segments of a chain, from in front of both, meets one of them, however both are turned.
    #[test]
    fn no_ray_passes_a_joint(
        turns in prop::collection::vec((between(-1.2, 1.2), between(0.01, 3.0)), 3..40),
        far in (between(-1.0, 1.0), between(-1.0, 1.0)),
        size in prop::sample::select(vec![1.0f32, 1.0e3, 1.0e5, 1.0e6]),
        slant in between(-0.2, 0.2),
    ) {
        let mut points = vec![size * Vec2::from(far)];
        for (turn, length) in turns {
            let length = length.max(1.0e-4 * size);
            points.push(points[points.len() - 1] + length * Vec2::from_angle(turn));
        }
        let mut world = world_of(&[]);
        world.add_assembly(&Assembly::chain(&points, false, Material::default()).unwrap()).unwrap();
        for three in points.windows(3) {
            let out = |a: Vec2, b: Vec2| (b - a).normalize().perp();
            let middle = (out(three[0], three[1]) + out(three[1], three[2])).normalize();
            let down = -Vec2::from_angle(slant).rotate(middle);
            let reach = 0.3 * three[0].distance(three[1]).min(three[1].distance(three[2]));
            let from = three[1] - reach * down;
            // The sum is rounded, so the way is not that to `from`.
            let ray = Ray::new(from, 2.0 * (three[1] - from));
            prop_assert!(world.cast_ray(&ray, &OPEN).unwrap().is_some(), "{ray:?} through {three:?}");
        }
    }

    /// Contract: single queries about bodies at rest give the same before a step and after it, and batches give what single queries give:
    /// at corners of turned boxes, to the last digit.
    #[test]
    fn corners_are_the_same_before_and_after_a_step(
        half in (between(0.1, 1.1), between(0.1, 1.1)),
        angle in between(-3.0, 3.0),
        centre in (between(-10.0, 10.0), between(-10.0, 10.0)),
    ) {
        let (half, centre) = (Vec2::from(half), Vec2::from(centre));
        let mut world = world_of(&[BodyDesc { angle, ..BodyDesc::fixed(Shape::oriented_box(half.x, half.y), centre) }]);
        let corners = [half, Vec2::new(half.x, -half.y), -half, Vec2::new(-half.x, half.y)];
        let places = corners.iter().flat_map(|corner| {
            let at = centre + Vec2::from_angle(angle).rotate(*corner);
            (-2..=2).flat_map(move |x| (-2..=2).map(move |y| Vec2::new(ulps(at.x, x), ulps(at.y, y))))
        });
        let points: Vec<Vec2> = places.collect();
        let ask = |world: &World| {
            let parts: Vec<usize> = points.iter().map(|&point| holding(world, point)).collect();
            let boxes: Vec<usize> = points.iter().map(|&point| in_box(world, point, point)).collect();
            let hit = |&point: &Vec2| world.cast_ray(&Ray::new(point, Vec2::ZERO), &OPEN).unwrap();
            (parts, boxes, points.iter().map(hit).collect::<Vec<_>>())
        };
        let before = ask(&world);
        world.step();
        prop_assert_eq!(&ask(&world), &before);
        let mut parts = BatchHits::new();
        world.overlap_points(&points, &OPEN, &mut parts).unwrap();
        prop_assert_eq!(&parts.iter().map(<[BodyPart]>::len).collect::<Vec<_>>(), &before.0);
    }

    /// Contract: where a box shape that does not turn ends, single points and boxes without size end being in it: at the numbers of f64.
    #[test]
    fn upright_boxes_end_where_they_end(
        far in prop::sample::select(vec![0.0f32, 1.0, 1.0e3, 1.0e5, 1.0e6]),
        half in (between(0.01, 2.0), between(0.01, 2.0)),
        off in (between(-1.0, 1.0), between(-1.0, 1.0)),
    ) {
        let (half, centre) = (Vec2::from(half), Vec2::new(far, -far) + Vec2::from(off));
        let mut world = world_of(&[BodyDesc::fixed(Shape::aabb(half.x, half.y), centre)]);
        for _ in 0..2 {
            for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                let corner = centre + half * Vec2::new(x, y);
                for (i, j) in (-2..=2).flat_map(|i| (-2..=2).map(move |j| (i, j))) {
                    let point = Vec2::new(ulps(corner.x, i), ulps(corner.y, j));
                    let away = (point.as_dvec2() - centre.as_dvec2()).abs();
                    let inside = away.cmple(half.as_dvec2()).all();
                    prop_assert_eq!(in_box(&world, point, point), usize::from(inside), "box at {}", point);
                    prop_assert_eq!(holding(&world, point), usize::from(inside), "point at {}", point);
                }
            }
            world.step();
        }
    }

    /// Contract: the point of a hit at the beginning is on the body, and the normal the direction of the shortest way out: also where the
    /// centre of a disc is on the axis of the probe, or beside it by almost nothing.
    #[test]
    fn hits_on_an_axis_are_on_the_body(
        (half_length, radius) in (between(0.1, 2.0), prop_oneof![Just(0.0f32), between(0.01, 0.5)]),
        angle in between(-3.0, 3.0),
        along in between(-0.95, 0.95),
        beside in prop_oneof![Just(0.0f32), (0i32..20).prop_map(|power| 10.0f32.powi(-power))],
        disc in between(0.05, 0.5),
        place in prop_oneof![Just(Vec2::ZERO), (between(-9.0, 9.0), between(-9.0, 9.0)).prop_map(Vec2::from)],
    ) {
        let axis = Vec2::from_angle(angle);
        let shape = if radius > 0.0 { Shape::capsule(half_length, radius) } else { Shape::segment(half_length) };
        let position = place - along * half_length * axis + 0.9 * beside * (disc + radius) * axis.perp();
        let probe = Probe { shape, position, angle };
        let world = world_of(&[BodyDesc::fixed(Shape::circle(disc), place)]);
        let hit = world.cast_shape(&ShapeCast { probe, way: Vec2::X }, &OPEN).unwrap();
        let Some(Hit { point, normal, fraction, .. }) = hit else { return Ok(()) };
        prop_assume!(fraction == 0.0);
        prop_assert!((point.distance(place) - disc).abs() < 1e-5, "{point} is no point of the body");
        // The other way around: the body is the capsule or segment, and a point is on its axis.
        let body = BodyDesc { angle, ..BodyDesc::fixed(shape, position) };
        let found: Nearest = world_of(&[body]).nearest(place, 10.0, &OPEN).unwrap().unwrap();
        let beside = (place - position).as_dvec2().perp_dot(axis.as_dvec2()).abs();
        let within = (place - position).as_dvec2().dot(axis.as_dvec2()).abs() < f64::from(half_length) - 1e-4;
        if within && beside < 1e-3 * f64::from(half_length) {
            prop_assert!(normal.dot(axis).abs() < 1e-5, "{normal} is not across the axis");
            prop_assert!(found.normal.dot(axis).abs() < 1e-5, "{found:?}");
        }
    }

    /// Contract: the nearest surface is that of a test of every shape, however far away the point is and however large the distance.
    #[test]
    fn the_nearest_is_found_from_anywhere(
        bodies in prop::collection::vec((0u8..5, between(-30.0, 30.0), between(-30.0, 30.0), between(0.05, 2.0)), 1..120),
        far in prop::collection::vec((between(-1.0, 1.0), between(-1.0, 1.0)), 12),
        step in 0usize..3,
        most in prop::sample::select(vec![0.5f32, 30.0, 4.0e7]),
    ) {
        let descs: Vec<BodyDesc> = bodies.iter().map(|&(kind, x, y, size)| {
            let shape = match kind {
                0 => Shape::circle(size),
                1 => Shape::oriented_box(size, 0.3),
                2 => Shape::capsule(size, 0.1),
                3 => Shape::segment(10.0 * size),
                _ => Shape::aabb(0.2, size),
            };
            BodyDesc { angle: x * y, ..BodyDesc::fixed(shape, Vec2::new(x, y)) }
        }).collect();
        let mut world = world_of(&descs);
        (0..step).for_each(|_| world.step());
        let all = shapes(&world);
        let points: Vec<Vec2> = far.iter().zip([1.0, 20.0, 60.0, 1e3, 1e5, 1e6].iter().cycle())
            .map(|(&at, &size)| size * Vec2::from(at)).collect();
        let mut answers = BatchFirst::new();
        world.nearest_to_points(&points, most, &OPEN, &mut answers).unwrap();
        for (&point, answer) in points.iter().zip(answers.answers()) {
            let hull = hull_of(&Probe::new(Shape::circle(1e-4), point));
            let least = all.iter().map(|there| signed(&there.form, &hull) + 1e-4).fold(f64::MAX, f64::min);
            let found = world.nearest(point, most, &OPEN).unwrap();
            prop_assert_eq!(&found, answer);
            let slack = 1e-4 + 1e-7 * least.abs();
            match found {
                Some(found) => prop_assert!((f64::from(found.distance) - least).abs() < slack, "{found:?}, {least}"),
                None => prop_assert!(least > f64::from(most) - slack, "{least}"),
            }
        }
    }
}

/// A box that overlaps a half-space overlaps its bounds, which are the half-space, also by less than single precision tells.
#[test]
fn bounds_of_a_half_space_hold_what_it_holds() {
    let (mut held, mut on_the_edge) = (0, 0);
    for turn in 0..400 {
        let (sin, cos) = (turn as f32).sin_cos();
        let far = [10.0, 1.0e3, 1.0e5, 9.0e6][turn % 4];
        let (normal, at) = (Vec2::new(cos, sin), far * Vec2::new((7.0 * turn as f32).cos(), 0.9 * sin));
        let world = world_of(&[BodyDesc::fixed(Shape::half_space(normal, 0.0), at)]);
        for step in -50i16..50 {
            let lower = at + normal.perp() * f32::from(step) + normal * far * 1.0e-8 * f32::from(step);
            let mut bounds = 0;
            world.overlap_bounds(lower, lower, &OPEN, |_| {
                bounds += 1;
                true
            });
            let inside = in_box(&world, lower, lower);
            assert_eq!(inside, bounds, "{normal:?} at {at:?}: {lower:?}");
            (held, on_the_edge) = (held + inside, on_the_edge + 1);
        }
    }
    assert!(held > on_the_edge / 10 && held < on_the_edge, "{held} of {on_the_edge}");
}

/// Contract: normals on the axis of a turned capsule lead across it.
#[test]
fn normals_on_an_axis_lead_across_it() {
    let axis = Vec2::from_angle(1.0);
    let body = BodyDesc { angle: 1.0, ..BodyDesc::fixed(Shape::capsule(1.0, 0.25), Vec2::ZERO) };
    let world = world_of(&[body]);
    for x in [0.0f32, 1e-45, 1e-30, 1e-20, 1e-17, 1e-16, 1e-14, 1e-10] {
        let near = world.nearest(Vec2::new(x, 0.0), 9.0, &OPEN).unwrap().unwrap();
        let ray = world.cast_ray(&Ray::new(Vec2::new(x, 0.0), Vec2::X), &OPEN).unwrap().unwrap();
        for normal in [near.normal, ray.normal] {
            assert!(normal.dot(axis).abs() < 1e-6, "from {x:e}: {normal}");
        }
        assert!((near.point.distance(Vec2::ZERO) - 0.25).abs() < 1e-6, "from {x:e}: {near:?}");
    }
}

/// Contract: the point of a hit at the beginning is on the body: the tester's two cases.
#[test]
fn hits_at_the_beginning_are_on_the_body() {
    let cases = [
        (0.6, Vec2::new(0.0, 1e-10), -1.37, Vec2::ZERO, 0.15),
        (
            0.622_048_44,
            Vec2::new(0.0, -0.001_736_111_1),
            -1.372_157_1,
            Vec2::new(0.0, -0.001_736_111_2),
            0.151_308_7,
        ),
    ];
    for (half_length, position, angle, centre, radius) in cases {
        let world = world_of(&[BodyDesc::fixed(Shape::circle(radius), centre)]);
        let probe = Probe { shape: Shape::segment(half_length), position, angle };
        let hit = world.cast_shape(&ShapeCast { probe, way: Vec2::X }, &OPEN).unwrap().unwrap();
        assert!((hit.point.distance(centre) - radius).abs() < 1e-5, "{hit:?}");
        assert!(hit.normal.dot(Vec2::from_angle(angle)).abs() < 1e-5, "{hit:?}");
    }
}

/// Contract: a fraction is never −0, and several hits at one place come in the order of their handles.
#[test]
fn ties_go_by_handle() {
    let disc = BodyDesc::fixed(Shape::circle(2.0), Vec2::new(-1.0, -1.0));
    let line = BodyDesc::fixed(Shape::segment(2.0), Vec2::new(-2.0, 0.0));
    let (world, mut hits) = (world_of(&[disc, line]), Vec::new());
    for y in [0.0, -0.0, 2.449_293_7e-16, 1e-20, -1e-20, 1e-45] {
        for way in [Vec2::new(-2.0, -0.0), Vec2::new(-2.0, 0.0), Vec2::new(2.0, 0.0), Vec2::new(-1.0, 1.0)] {
            let ray = Ray::new(Vec2::new(0.0, y), way);
            world.cast_ray_all(&ray, &OPEN, &mut hits).unwrap();
            assert!(hits.iter().all(|hit| !hit.fraction.is_sign_negative()), "{ray:?}: {hits:?}");
            assert!(hits.is_sorted_by_key(|hit| (hit.fraction.to_bits(), hit.body)), "{ray:?}: {hits:?}");
            assert_eq!(world.cast_ray(&ray, &OPEN).unwrap(), hits.first().copied(), "{ray:?}");
        }
    }
}

/// Contract: a visitor that clips to less than 0, or to what is not a number, gets no more hits; one that clips to 0 gets those at 0.
#[test]
fn nothing_is_before_the_beginning() {
    let bodies = [0.0, 0.5, 1.0, 1.5].map(|x| BodyDesc::fixed(Shape::circle(1.0), Vec2::new(x, 0.0)));
    let mut world = world_of(&bodies);
    let (ray, cast) =
        (Ray::new(Vec2::ZERO, 9.0 * Vec2::X), ShapeCast::new(Shape::segment(0.1), Vec2::ZERO, Vec2::X));
    for _ in 0..2 {
        for (clip, expected) in [(-1.0, 1), (f32::NEG_INFINITY, 1), (f32::NAN, 1), (-0.0, 3), (0.0, 3)] {
            let mut count = 0;
            let mut visit = |_| {
                count += 1;
                Visit::Clip(clip)
            };
            world.cast_ray_visit(&ray, &OPEN, &mut visit).unwrap();
            world.cast_shape_visit(&cast, &OPEN, &mut visit).unwrap();
            // The segment reaches the last circle's edge no more than the ray's beginning does.
            assert_eq!(count, 2 * expected, "{clip}");
        }
        world.step();
    }
}

/// Contract: a way that is hardly any loses nothing that the shape overlaps where it begins, single and in a batch.
#[test]
fn hardly_any_way_loses_nothing() {
    let points = [Vec2::new(0.11, -0.35), Vec2::new(0.28, -0.2), Vec2::new(0.3, 0.2)];
    let back = [points[2], points[1], points[0]];
    let mut world = world_of(&[
        BodyDesc::fixed(Shape::circle(0.3), Vec2::new(0.2, 0.2)),
        BodyDesc::fixed(Shape::oriented_box(0.1, 0.1), Vec2::new(-0.2, 0.3)),
        BodyDesc { angle: 0.7, ..BodyDesc::fixed(Shape::segment(0.1), Vec2::new(0.19, -0.27)) },
    ]);
    for points in [points, back] {
        world.add_assembly(&Assembly::chain(&points, false, Material::default()).unwrap()).unwrap();
    }
    let mut hits = Vec::new();
    let mut batch = BatchHits::new();
    for _ in 0..2 {
        for length in [0.0f32, 1e-45, 1e-42, 1e-40, 1e-38, 1e-30, 1e-22, 1e-15] {
            for way in [Vec2::X, Vec2::NEG_X, Vec2::Y, Vec2::ONE].map(|way| length * way) {
                let cast = ShapeCast { probe: Probe::new(Shape::circle(0.354), Vec2::ZERO), way };
                world.cast_shape_all(&cast, &OPEN, &mut hits).unwrap();
                assert_eq!(hits.len(), 5, "{way}: {hits:?}");
                world.cast_shapes_all(&[cast], &OPEN, &mut batch).unwrap();
                assert_eq!(batch.of(0), hits, "{way}");
            }
        }
        world.step();
    }
}

/// Contract: a moved segment that passes beyond the end of another one, parallel to it, misses it, by however little.
#[test]
fn casts_end_where_segments_end() {
    let world = world_of(&[BodyDesc::fixed(Shape::segment(0.25), Vec2::new(1.0e5, 0.0))]);
    let cast = |x: f32| ShapeCast::new(Shape::segment(0.25), Vec2::new(x, 1.0), Vec2::new(0.0, -2.0));
    let hit = |x: f32| world.cast_shape(&cast(x), &OPEN).unwrap();
    let end = 1.0e5 + 0.5;
    assert!(hit(ulps(end, -1)).is_some());
    assert!(hit(ulps(end, 1)).is_none(), "{:?}", hit(ulps(end, 1)));
}
