//! Boxes that tip over an edge, and boxes that do not.

use super::*;

/// A box on a table's edge stays when 0.49 of its width overhang, and falls when 0.51 do, whatever table and box are
/// made of, on either side.
#[test]
fn box_tips_over_an_edge_when_its_centre_passes_it() {
    on_both_sets(|settings| {
        let tables = [Shape::aabb(2.0, 0.5), Shape::oriented_box(2.0, 0.5), rectangle(2.0, 0.5)];
        for table in tables {
            for shape in [Shape::oriented_box(0.5, 0.3), rectangle(0.5, 0.3)] {
                for (side, overhang) in [(1.0f32, 0.49f32), (1.0, 0.51), (-1.0, 0.49), (-1.0, 0.51)] {
                    let mut world = world(settings);
                    let at = Vec2::new(-2.0 * side, -0.5);
                    world.add_body(&BodyDesc { material: rough(0.8), ..BodyDesc::fixed(table, at) }).unwrap();
                    let at = Vec2::new((overhang - 0.5) * side, 0.3);
                    let desc = BodyDesc { material: rough(0.8), ..BodyDesc::dynamic(shape, at) };
                    let body = world.add_body(&desc).unwrap();
                    steps(&mut world, 300);
                    let end = state(&world, body);
                    let what = format!("{table:?} {shape:?} {overhang} {side}: {end:?}");
                    if overhang < 0.5 {
                        assert!(
                            (end.position - at).length() < 0.02 && end.angle.abs() < 0.02,
                            "stays: {what}"
                        );
                    } else {
                        // Over the right edge the box falls clockwise.
                        assert!(end.position.y < -1.0 && -side * end.angle > 0.3, "falls: {what}");
                    }
                }
            }
        }
    });
}

/// A square on its corner, a degree off balance, falls to the side that it leans to and lies flat.
#[test]
fn square_on_its_corner_falls_to_the_side_it_leans_to() {
    on_both_sets(|settings| {
        for ground in floors(10.0, rough(1.0)) {
            for shape in [Shape::oriented_box(0.5, 0.5), rectangle(0.5, 0.5)] {
                for lean in [1.0f32, -1.0] {
                    let mut world = world(settings);
                    world.add_body(&ground).unwrap();
                    let off = lean.to_radians();
                    let desc = BodyDesc {
                        material: rough(1.0),
                        angle: 0.25 * PI + off,
                        ..BodyDesc::dynamic(shape, Vec2::new(0.0, 0.5 * 2.0f32.sqrt() * off.cos()))
                    };
                    let body = world.add_body(&desc).unwrap();
                    steps(&mut world, 300);
                    let end = state(&world, body);
                    let flat = if lean > 0.0 { 0.5 * PI } else { 0.0 };
                    assert_close("angle", end.angle, flat, 0.02, &settings);
                    assert_close("y", end.position.y, 0.5, 0.02, &settings);
                    assert!(end.velocity.length() < 0.01 && end.angular_velocity.abs() < 0.01, "{end:?}");
                    // The square turned about the corner that it stood on, and that corner is half a width away now.
                    assert_close("x", -lean * end.position.x, 0.5, 0.08, &settings);
                }
            }
        }
    });
}

/// A capsule on its round end does not stay upright: it falls to the side that it leans to and lies on its flank.
#[test]
fn capsule_falls_on_its_flank() {
    on_both_sets(|settings| {
        for lean in [2.0f32, -2.0] {
            let mut world = world(settings);
            world.add_body(&floor(rough(1.0))).unwrap();
            let desc = BodyDesc {
                material: rough(1.0),
                angle: 0.5 * PI + lean.to_radians(),
                angular_damping: 0.5,
                ..BodyDesc::dynamic(Shape::capsule(0.6, 0.2), Vec2::new(0.0, 0.8))
            };
            let body = world.add_body(&desc).unwrap();
            steps(&mut world, 600);
            let end = state(&world, body);
            assert_close(
                "angle",
                end.total_angle() as f32,
                if lean > 0.0 { PI } else { 0.0 },
                0.02,
                &settings,
            );
            assert_close("y", end.position.y, 0.2, 0.02, &settings);
        }
    });
}
