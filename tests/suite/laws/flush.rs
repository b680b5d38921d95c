//! Bodies that move over floors, and against walls, of static shapes that lie flush.

use super::*;
use granule::Part;

each_form! { flush_shapes_do_not_trip: circle, cube, brick, plank, capsule, octagon, hexagon, wedge, dumbbell, table, cart }
each_form! { walls_of_flush_shapes_stop: circle, cube, brick, capsule, octagon, wedge, dumbbell, table, cart }

/// Half a tile of a floor, m.
const HALVES: [f32; 4] = [0.125, 0.25, 0.5, 1.0];

/// The kinds of tiles, of this half length.
fn tiles(half: f32) -> [(&'static str, Shape, f32); 4] {
    let square = [(-half, -half), (half, -half), (half, half), (-half, half)].map(|(x, y)| Vec2::new(x, y));
    [
        ("aabbs", Shape::aabb(half, half), half),
        ("boxes", Shape::oriented_box(half, half), half),
        ("polygons", Shape::polygon(&square).unwrap(), half),
        ("segments", Shape::segment(half), 0.0),
    ]
}

/// A body that slides without friction, or rolls, over flush tiles goes as far as on one floor, and does not leave the ground: aabbs, boxes, polygons,
/// segments, or the parts of one body. (Before they were one floor, 1,401 of these
/// 1,848 bodies lost more than 3 % of their way, many of them all of it, or were lifted by more than 1 cm.)
fn flush_shapes_do_not_trip(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let rolls = form.name == "circle";
    let material = if rolls { friction(0.6, 0.6) } else { friction(0.0, 0.0) };
    for half in HALVES {
        for (kind, shape, depth) in tiles(half) {
            for angle in if kind == "aabbs" { &[0.0][..] } else { &[0.0, 0.3] } {
                for speed in [0.5, 2.0, 5.0] {
                    let [along, normal] =
                        [Vec2::X, Vec2::Y].map(|axis| Vec2::from_angle(*angle).rotate(axis));
                    let mut world = world(Settings { gravity: -10.0 * normal, ..settings });
                    let ground = pieces(shape, 2.0 * half, depth, *angle, material);
                    if kind == "boxes" && half == 0.25 {
                        add_as_one(&mut world, &ground);
                    } else {
                        world.add_bodies(&ground).unwrap();
                    }
                    let desc = BodyDesc {
                        angle: *angle,
                        material,
                        ..form.body(form.height * normal + 0.13 * along)
                    };
                    let body = form.add(&mut world, &desc);
                    (0..30).for_each(|_| world.step());
                    let start = state(&world, body).position;
                    world.set_velocity(body, speed * along).unwrap();
                    if rolls {
                        world.set_angular_velocity(body, -speed / form.height).unwrap();
                    }
                    let steps = (180.0 / speed).min(120.0) as u32;
                    let mut rises = 0.0f32;
                    for _ in 0..steps {
                        world.step();
                        rises = rises.max((state(&world, body).position - start).dot(normal).abs());
                    }
                    let way = (state(&world, body).position - start).dot(along);
                    let part = way / (speed * steps as f32 * settings.time_step);
                    cases.holds((part - 1.0).abs() < 0.03 && rises < 0.01, || {
                        format!(
                            "{speed} m/s over {kind} of {} m, {angle}: {part} of the way, rises {rises} m",
                            2.0 * half
                        )
                    });
                }
            }
        }
    }
    cases.finish();
}

/// Adds these bodies as the parts of one body.
fn add_as_one(world: &mut World, bodies: &[BodyDesc]) {
    let body = world.add_body(&bodies[0]).unwrap();
    for desc in &bodies[1..] {
        let way = desc.position - state(world, body).position;
        let mut part = Part::new(desc.shape, Vec2::from_angle(-desc.angle).rotate(way));
        part.material = desc.material;
        world.add_part(body, &part).unwrap();
    }
}

/// A body that slides, or is thrown, into a wall of flush tiles on a floor of flush tiles is stopped there: the wall stands on the floor,
/// or beside it.
fn walls_of_flush_shapes_stop(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let mut random = Random(19);
    for half in HALVES {
        for (kind, shape, depth) in &tiles(half)[..3] {
            for beside in [false, true] {
                for speed in [1.0, 4.0, 12.0] {
                    let material = friction(0.6 * random.uniform(), 0.3 * random.uniform());
                    let mut world = world(settings);
                    // The wall's side is at 0.
                    let (mut ground, rows) = (Vec::new(), (5.0 / half) as i32);
                    for i in -rows..4 {
                        let x = (2 * i + 1) as f32 * half;
                        let lies = if beside && i >= 0 { -2 } else { 0 };
                        ground.push(Vec2::new(x, -depth + 2.0 * half * lies as f32));
                        if i == 0 {
                            let from = if beside { -1 } else { 0 };
                            ground.extend(
                                (from..rows).map(|j| Vec2::new(x, -depth + 2.0 * half * (j + 1) as f32)),
                            );
                        }
                    }
                    for place in ground {
                        world.add_body(&BodyDesc { material, ..BodyDesc::fixed(*shape, place) }).unwrap();
                    }
                    let up = if random.uniform() < 0.5 { 0.0 } else { 0.5 + random.uniform() };
                    let desc = BodyDesc {
                        material,
                        velocity: Vec2::new(speed, random.within(0.2 * speed)),
                        angle: if up == 0.0 { 0.0 } else { random.within(3.0) },
                        ..form.body(Vec2::new(-3.0, form.height + 2.0 * up))
                    };
                    let body = form.add(&mut world, &desc);
                    let (mut furthest, mut lowest) = (f32::MIN, f32::MAX);
                    for _ in 0..240 {
                        world.step();
                        let Vec2 { x, y } = state(&world, body).position;
                        (furthest, lowest) = (furthest.max(x), lowest.min(y));
                    }
                    let depth = world.quality().max_penetration;
                    cases.holds(furthest < -0.05 && lowest > 0.05 && depth < 0.02, || {
                        format!("{speed} m/s, {kind} of {} m, beside {beside}: to {furthest} m, down to {lowest} m, {depth} m deep", 2.0 * half)
                    });
                }
            }
        }
    }
    cases.finish();
}
