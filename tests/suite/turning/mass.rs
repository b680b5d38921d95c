//! Mass, centre of mass and moment of inertia, measured by what a host can read: the mass, the position, and the
//! kinetic energy of a body that only turns.

use super::*;

/// The mass and the moment of inertia of a body; the moment of inertia is 2E/ω².
fn mass_and_inertia(settings: Settings, desc: BodyDesc, parts: &[Part]) -> (f32, f32) {
    let mut world = world(settings);
    let body = world.add_body(&BodyDesc { velocity: Vec2::ZERO, angular_velocity: 0.0, ..desc }).unwrap();
    world.add_parts(body, parts).unwrap();
    world.set_velocity(body, Vec2::ZERO).unwrap();
    world.set_angular_velocity(body, 2.0).unwrap();
    (world.mass(body).unwrap(), (world.quality().kinetic_energy / 2.0) as f32)
}

/// The second moment of a capsule of density 1 about its centre: a rectangle, and two half discs whose centroids lie
/// 4r/3π beyond the ends of the segment.
pub fn capsule_inertia(h: f32, r: f32) -> f32 {
    let rectangle = 4.0 * h * r * ((2.0 * h).powi(2) + (2.0 * r).powi(2)) / 12.0;
    let discs = PI * r * r * (0.5 * r * r + h * h + 2.0 * h * 4.0 * r / (3.0 * PI));
    rectangle + discs
}

/// The mass and inertia of every shape are those of the textbook, times the density. A given mass scales the inertia by
/// the same factor.
#[test]
fn shapes_have_the_inertia_of_the_textbook() {
    on_both_sets(|settings| {
        let polygon = |points: &[[f32; 2]]| {
            Shape::polygon(&points.iter().map(|&p| p.into()).collect::<Vec<Vec2>>()).unwrap()
        };
        let mut cases: Vec<(Shape, f32, f32)> = vec![
            (Shape::circle(0.7), PI * 0.49, PI * 0.49 * 0.49 / 2.0),
            (Shape::oriented_box(0.5, 1.5), 3.0, 3.0 * (1.0 + 9.0) / 12.0),
            (rectangle(0.5, 1.5), 3.0, 3.0 * (1.0 + 9.0) / 12.0),
            (Shape::capsule(0.8, 0.3), 4.0 * 0.8 * 0.3 + PI * 0.09, capsule_inertia(0.8, 0.3)),
            (Shape::capsule(0.01, 0.5), 4.0 * 0.01 * 0.5 + PI * 0.25, capsule_inertia(0.01, 0.5)),
            // The right triangle 3-4-5 has m(a² + b² + c²)/36.
            (polygon(&[[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]), 6.0, 6.0 * (9.0 + 16.0 + 25.0) / 36.0),
            // The same triangle is far from the origin, clockwise.
            (polygon(&[[100.0, 54.0], [103.0, 50.0], [100.0, 50.0]]), 6.0, 6.0 * 50.0 / 36.0),
        ];
        for n in 3..=8 {
            let (radius, sector) = (0.9f32, 2.0 * PI / n as f32);
            let area = 0.5 * n as f32 * radius * radius * sector.sin();
            let inertia = area * radius * radius * (2.0 + sector.cos()) / 6.0;
            cases.push((Shape::Polygon(Polygon::regular(n, radius).unwrap()), area, inertia));
        }
        // A rounded square is the square, four strips and four quarter discs (centroid 4√2r/3π outwards from the
        // corner).
        let (h, r) = (0.6f32, 0.25f32);
        let corners = [Vec2::new(-h, -h), Vec2::new(h, -h), Vec2::new(h, h), Vec2::new(-h, h)];
        let rounded = Polygon::rounded(&corners, r).unwrap().0;
        let out = 4.0 * 2.0f32.sqrt() * r / (3.0 * PI);
        let inertia = 4.0 * h * h * (8.0 * h * h) / 12.0
            + 4.0 * 2.0 * h * r * ((4.0 * h * h + r * r) / 12.0 + (h + 0.5 * r).powi(2))
            + PI * r * r * (0.5 * r * r + 2.0 * h * h + 2.0 * 2.0f32.sqrt() * h * out);
        cases.push((Shape::Polygon(rounded), 4.0 * h * h + 8.0 * h * r + PI * r * r, inertia));

        for (shape, area, inertia) in cases {
            let desc = BodyDesc {
                material: Material::new(2.5, 0.5, 0.0),
                ..BodyDesc::dynamic(shape, Vec2::new(4.0, 5.0))
            };
            let (mass, measured) = mass_and_inertia(settings, desc, &[]);
            assert_close(&format!("mass of {shape:?}"), mass, 2.5 * area, 2e-5 * area, &settings);
            let expected = 2.5 * inertia;
            assert_close(&format!("inertia of {shape:?}"), measured, expected, 3e-5 * expected, &settings);

            let heavy = BodyDesc { mass: Some(11.0), ..desc };
            let (mass, measured) = mass_and_inertia(settings, heavy, &[]);
            assert_eq!(mass, 11.0);
            let expected = 11.0 * inertia / area;
            assert_close(&format!("inertia of {shape:?}"), measured, expected, 3e-5 * expected, &settings);
        }
        let rod = BodyDesc { mass: Some(3.0), ..BodyDesc::dynamic(Shape::segment(0.75), Vec2::ZERO) };
        let (mass, inertia) = mass_and_inertia(settings, rod, &[]);
        assert_eq!(mass, 3.0);
        assert_close("rod", inertia, 3.0 * 1.5 * 1.5 / 12.0, 1e-5, &settings);
    });
}

/// A body of fixed rotation has no energy of rotation, nor has an axis-aligned box.
#[test]
fn what_does_not_turn_has_no_energy_of_rotation() {
    on_both_sets(|settings| {
        for shape in [Shape::circle(0.5), Shape::oriented_box(1.0, 0.5), Shape::capsule(0.5, 0.2)] {
            let desc = BodyDesc { fixed_rotation: true, ..BodyDesc::dynamic(shape, Vec2::ZERO) };
            assert_eq!(mass_and_inertia(settings, desc, &[]).1, 0.0, "{shape:?}");
        }
        let desc = BodyDesc::dynamic(Shape::aabb(0.5, 0.5), Vec2::ZERO);
        assert_eq!(mass_and_inertia(settings, desc, &[]).1, 0.0);
    });
}

/// A polygon's origin is its centroid: that of the right triangle lies a third of the way along both legs.
#[test]
fn polygons_are_about_their_centroid() {
    let points = [Vec2::new(10.0, 20.0), Vec2::new(13.0, 20.0), Vec2::new(10.0, 26.0)];
    let (polygon, centroid) = Polygon::new(&points).unwrap();
    assert!((centroid - Vec2::new(11.0, 22.0)).length() < 1e-5, "{centroid}");
    for point in points {
        let there = polygon.vertices().iter().any(|&vertex| (vertex + centroid - point).length() < 1e-5);
        assert!(there, "{point} is lost: {polygon:?}");
    }
    // An isosceles trapezium of bases a = 4 and b = 2 and height 3 has its centroid h(a + 2b)/(3(a + b)) above the base
    // a.
    let points = [Vec2::new(-2.0, 0.0), Vec2::new(2.0, 0.0), Vec2::new(1.0, 3.0), Vec2::new(-1.0, 3.0)];
    let (_, centroid) = Polygon::new(&points).unwrap();
    assert!((centroid - Vec2::new(0.0, 3.0 * 8.0 / 18.0)).length() < 1e-6, "{centroid}");
    // Rounding adds a strip to each edge: the longer base gets more area than the shorter.
    let (_, rounded) = Polygon::rounded(&points, 0.5).unwrap();
    assert!(rounded.x.abs() < 1e-6 && rounded.y < centroid.y, "{rounded}");
}

/// An L of two boxes has the mass of both, its centre at their balance point, and the inertia of the parallel axis
/// theorem. When a part is added and the centre moves, no part of the body moves, whatever the body's angle.
#[test]
fn l_shape_by_parallel_axes() {
    on_both_sets(|settings| {
        // The foot is 2 × 1 of density 1 about the origin. The leg is 1 × 2 of density 3 on the foot's left half.
        let at = Vec2::new(-0.5, 1.5);
        let leg =
            Part { material: Material::new(3.0, 0.5, 0.0), ..Part::new(Shape::oriented_box(0.5, 1.0), at) };
        let desc = BodyDesc {
            material: Material::new(1.0, 0.5, 0.0),
            ..BodyDesc::dynamic(Shape::oriented_box(1.0, 0.5), Vec2::new(7.0, -3.0))
        };
        let (foot_mass, leg_mass) = (2.0f32, 6.0f32);
        let centre = at * (leg_mass / (foot_mass + leg_mass));
        let inertia = foot_mass * (4.0 + 1.0) / 12.0
            + foot_mass * centre.length_squared()
            + leg_mass * (1.0 + 4.0) / 12.0
            + leg_mass * (at - centre).length_squared();
        let (mass, measured) = mass_and_inertia(settings, desc, &[leg]);
        assert_close("mass", mass, 8.0, 1e-5, &settings);
        assert_close("inertia", measured, inertia, 1e-4, &settings);

        for angle in [0.0f32, 0.5, -2.5] {
            let mut world = world(settings);
            let body = world.add_body(&BodyDesc { angle, ..desc }).unwrap();
            world.add_part(body, &leg).unwrap();
            let turn = Vec2::from_angle(angle);
            let expected = desc.position + turn.rotate(centre);
            let now = state(&world, body);
            assert!((now.position - expected).length() < 1e-5, "{now:?}, expected {expected}");
            assert_eq!(now.angle, angle);
            let parts = world.parts(body).unwrap();
            assert_eq!(parts.len(), 2);
            for (part, before) in parts.iter().zip([Vec2::ZERO, at]) {
                let place = now.position + turn.rotate(part.position);
                assert!((place - desc.position - turn.rotate(before)).length() < 1e-5, "{part:?}");
            }
        }
    });
}

/// Parts added in any order give one mass, one centre and one inertia. A turned part weighs as much as an unturned one.
#[test]
fn order_and_angle_of_parts_do_not_matter() {
    on_both_sets(|settings| {
        let base = BodyDesc::dynamic(Shape::circle(0.4), Vec2::ZERO);
        let bar = Part { angle: 0.8, ..Part::new(Shape::capsule(0.6, 0.1), Vec2::new(1.0, 0.2)) };
        let head = Part::new(Shape::Polygon(Polygon::regular(5, 0.5).unwrap()), Vec2::new(2.0, -0.3));
        let (mass, inertia) = mass_and_inertia(settings, base, &[bar, head]);
        let (other_mass, other_inertia) = mass_and_inertia(settings, base, &[head, bar]);
        assert_close("mass", other_mass, mass, 1e-5 * mass, &settings);
        assert_close("inertia", other_inertia, inertia, 1e-4 * inertia, &settings);
        // A part's own inertia does not depend on its angle.
        let straight = Part { angle: 0.0, ..bar };
        let (other_mass, other_inertia) = mass_and_inertia(settings, base, &[straight, head]);
        assert_close("mass", other_mass, mass, 1e-5 * mass, &settings);
        assert_close("inertia", other_inertia, inertia, 1e-4 * inertia, &settings);
        let bar_mass = 4.0 * 0.6 * 0.1 + PI * 0.01;
        let head_mass = 2.5 * 0.25 * (2.0 * PI / 5.0).sin();
        assert_close("mass", mass, PI * 0.16 + bar_mass + head_mass, 1e-4, &settings);
    });
}

/// Parts that are added together are all placed relative to the centre that the body has before, and give the same body
/// as parts that are added one by one. If one part is refused, with its index, or there is one too many, none is added.
#[test]
fn parts_are_added_together_or_not_at_all() {
    on_both_sets(|settings| {
        let desc = BodyDesc { angle: 0.7, ..BodyDesc::dynamic(Shape::circle(0.4), Vec2::new(2.0, -1.0)) };
        let bar = Part { angle: 0.8, ..Part::new(Shape::capsule(0.6, 0.1), Vec2::new(1.0, 0.2)) };
        let head = Part::new(Shape::oriented_box(0.3, 0.5), Vec2::new(2.0, -0.3));
        let mut world = world(settings);
        let (together, apart) = (world.add_body(&desc).unwrap(), world.add_body(&desc).unwrap());
        let start = state(&world, together);

        let broken = Part { angle: f32::NAN, ..bar };
        let error = world.add_parts(together, &[bar, broken]).unwrap_err();
        assert!(matches!(error, Error::Element { index: 1, .. }), "{error}");
        let error = world.add_parts(together, &[bar; World::MAX_PARTS]).unwrap_err();
        assert!(matches!(error, Error::Invalid { field: "part", .. }), "{error}");
        world.add_parts(together, &[]).unwrap();
        assert_eq!(state(&world, together), start);
        assert_eq!(world.parts(together).unwrap().len(), 1);

        world.add_parts(together, &[bar, head]).unwrap();
        for part in [bar, head] {
            let first = world.parts(apart).unwrap()[0].position;
            world.add_part(apart, &Part { position: first + part.position, ..part }).unwrap();
        }
        let (one, other) = (state(&world, together), state(&world, apart));
        assert!((one.position - other.position).length() < 1e-5, "{one:?}, one by one {other:?}");
        assert_close("mass", world.mass(together).unwrap(), world.mass(apart).unwrap(), 1e-5, &settings);
        let places = |body| world.parts(body).unwrap().into_iter().map(|part| part.position);
        assert!(places(together).zip(places(apart)).all(|(a, b)| (a - b).length() < 1e-5));
        world.add_parts(together, &[bar; World::MAX_PARTS - 3]).unwrap();
        assert!(world.add_part(together, &bar).is_err());
    });
}

/// Parts of a static body leave its centre in place and its mass infinite.
#[test]
fn parts_of_static_bodies_move_nothing() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        let body =
            world.add_body(&BodyDesc::fixed(Shape::oriented_box(1.0, 1.0), Vec2::new(2.0, 3.0))).unwrap();
        world.add_part(body, &Part::new(Shape::circle(1.0), Vec2::new(5.0, 0.0))).unwrap();
        assert_eq!(state(&world, body).position, Vec2::new(2.0, 3.0));
        assert_eq!(world.mass(body), Ok(f32::INFINITY));
        assert_eq!(world.parts(body).unwrap()[1].position, Vec2::new(5.0, 0.0));
    });
}
