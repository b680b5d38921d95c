//! Contract: the distance of two bodies is the least one between any two of their shapes, by a naive test of all of them in f64: for bodies of
//! all kinds, apart, touching and overlapping; a batch gives what its single calls give.

use super::casts::{isas, mixed};
use super::definition::{There, shapes};
use super::{BAND, between, config, recipe};
use crate::reference::clip::separation;
use crate::reference::hull::{Form, Hull, dvec};
use glam::DVec2;
use granule::{BatchFirst, BodyHandle, BodyPart, Distance, Shape, Vec2, World};
use proptest::prelude::*;

/// A shape, moved.
fn moved(form: &Form, by: DVec2) -> Form {
    match form {
        Form::Plane { normal, offset } => Form::Plane { normal: *normal, offset: offset + normal.dot(by) },
        Form::Hull(hull) => {
            let corners = hull.corners.iter().map(|corner| *corner + by).collect();
            Form::Hull(Hull { corners, ..*hull })
        }
    }
}

fn is_plane(world: &World, body: BodyHandle) -> bool {
    matches!(world.shape(body), Ok(Shape::HalfSpace { .. }))
}

/// Compares the distance of two bodies with that of all their shapes.
fn check(world: &World, all: &[There], [a, b]: [BodyHandle; 2]) -> Result<Distance, String> {
    let found = world.distance(a, b).map_err(|error| error.to_string())?;
    let of = |body: BodyHandle| all.iter().filter(move |there| there.at.body == body);
    let each = of(a).flat_map(|one| of(b).map(move |other| separation(&one.form, &other.form)));
    let least = each.fold(f64::MAX, f64::min);
    let named = |body, part| all.iter().find(|there| there.at == BodyPart { body, part });
    let (Some(of_a), Some(of_b)) = (named(a, found.part_a), named(b, found.part_b)) else {
        return Err(format!("{found:?} names a part that is not there"));
    };
    let distance = f64::from(found.distance);
    let of_parts = separation(&of_a.form, &of_b.form);
    if (distance - least).abs() > BAND || (of_parts - least).abs() > BAND {
        return Err(format!("{found:?}, and not {least}; its parts have {of_parts}"));
    }
    let [on_a, on_b, normal] = [found.point_a, found.point_b, found.normal].map(dvec);
    let off = [of_a.form.distance(on_a), of_b.form.distance(on_b)];
    let is_off = |off: f64| if distance > 0.0 { off.abs() > BAND } else { off > BAND };
    if (normal.length() - 1.0).abs() > 1e-5 || off.into_iter().any(is_off) {
        return Err(format!("{found:?} has points that are {off:?} off the surfaces"));
    }
    if (on_a + distance * normal - on_b).length() > BAND {
        return Err(format!("{found:?} has points that are not that far apart"));
    }
    // Moved along the normal by the distance, the two touch; by a little more, they are so far apart.
    for more in [0.0, 0.1] {
        let parted = separation(&of_a.form, &moved(&of_b.form, (more - distance) * normal));
        if (parted - more).abs() > 2.0 * BAND {
            return Err(format!("{found:?}: its normal parts them by {parted}, and not by {more}"));
        }
    }
    let back = world.distance(b, a).map_err(|error| error.to_string())?;
    if (back.distance - found.distance).abs() > 1e-5 {
        return Err(format!("{found:?}, the other way round {back:?}"));
    }
    Ok(found)
}

proptest! {
    #![proptest_config(config(96))]

    /// All pairs of a world, compounds, half-spaces, segments of a chain and particles among them: while it is stepped, and after one body of a pair
    /// was put where it touches the other, or almost does.
    #[test]
    fn distances_of_bodies_are_the_least_of_their_shapes(
        recipes in prop::collection::vec(recipe(), 2..9),
        gap in prop_oneof![Just(0.0f32), between(-0.01, 0.01), between(-0.5, 0.5)],
        isa in isas(),
    ) {
        let mut world = mixed(&recipes, isa);
        let bodies: Vec<_> = world.handles().collect();
        let mut pairs: Vec<[BodyHandle; 2]> = Vec::new();
        for (i, &a) in bodies.iter().enumerate() {
            for &b in &bodies[..i] {
                let planes = [a, b].iter().filter(|&&body| is_plane(&world, body)).count();
                if planes == 2 {
                    prop_assert!(world.distance(a, b).is_err());
                } else {
                    pairs.push(if a.index() % 2 == 0 { [a, b] } else { [b, a] });
                }
            }
        }
        let mut answers = BatchFirst::new();
        for step in 0..2 {
            let all = shapes(&world);
            world.distances(&pairs, &mut answers).unwrap();
            for (&pair, answer) in pairs.iter().zip(answers.answers()) {
                let found = check(&world, &all, pair);
                prop_assert!(found.is_ok(), "step {}, {:?}: {}", step, pair, found.unwrap_err());
                prop_assert_eq!(*answer, found.ok());
            }
            world.step();
        }
        for &pair in pairs.iter().filter(|pair| pair.iter().all(|body| body.index() < recipes.len() as u32)) {
            let Distance { distance, normal, .. } = world.distance(pair[0], pair[1]).unwrap();
            let to = world.body(pair[1]).unwrap().position + (gap - distance) * normal;
            prop_assume!(to.abs().max_element() < 100.0);
            world.set_position(pair[1], to).unwrap();
            let found = check(&world, &shapes(&world), pair);
            prop_assert!(found.is_ok(), "{:?}, {} apart: {}", pair, gap, found.unwrap_err());
            // Another pair of their shapes may be nearer now, and what is thin may have come out on the other side.
            let found = found.unwrap().distance;
            prop_assert!(found < gap.abs() + 1e-4, "{} of {}", found, gap);
        }
    }
}

/// The parts that are named are those of the bodies in their order, also if the second body is the half-space.
#[test]
fn distances_name_the_parts() {
    use granule::{BodyDesc, Part, Settings};
    let mut world = World::new(Settings::default()).unwrap();
    let floor = world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let pole = world.add_body(&BodyDesc::fixed(Shape::circle(0.5), Vec2::new(0.0, 5.0))).unwrap();
    world.add_part(pole, &Part::new(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, -2.0))).unwrap();
    let ball = world.add_body(&BodyDesc::fixed(Shape::circle(0.5), Vec2::new(3.0, 5.0))).unwrap();
    for (pair, parts, expected, normal) in [
        ([floor, pole], [0, 1], 2.5, Vec2::Y),
        ([pole, floor], [1, 0], 2.5, Vec2::NEG_Y),
        ([pole, ball], [0, 0], 2.0, Vec2::X),
    ] {
        let Distance { distance, part_a, part_b, normal: found, .. } =
            world.distance(pair[0], pair[1]).unwrap();
        assert_eq!(([part_a, part_b], found), (parts, normal), "{pair:?}");
        assert!((distance - expected).abs() < 1e-6, "{pair:?}: {distance}");
    }
}
