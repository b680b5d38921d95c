//! Bodies that move over floors, and against walls, of static shapes that lie flush.

use super::*;
use granule::{Part, Polygon, Solver};

each_form! { flush_shapes_do_not_trip: circle, cube, brick, plank, capsule, octagon, hexagon, wedge, dumbbell, table, cart }
each_form! { walls_of_flush_shapes_stop: circle, cube, brick, capsule, octagon, wedge, dumbbell, table, cart }
each_solver! { no_one_leaves_a_maze_of_tiles, slanted_flanks_do_not_trip }

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

/// A polygon on a flat side, whose flanks lean over the tiles ahead, slides over them as over one floor at any speed. (Its contacts with the tile
/// ahead come before it is there, far below the corner of the tile. With them counted, polygons were tripped from 3 m/s on, and thrown up.) With the projection solver, continuous collision stops a sledge at 20 m/s and more: the solver leaves it two
/// slops deep, and deeper by rounding, which counts as a hit. So that has its limit.
fn slanted_flanks_do_not_trip(settings: Settings) {
    let mut cases = Cases::new("polygons", &settings);
    let material = friction(0.0, 0.0);
    let settings = Settings { gravity: Vec2::new(0.0, -10.0), ..settings };
    let bodies = |size: f32| {
        let regular = |sides: usize| {
            let (shape, half) = (Polygon::regular(sides, size).unwrap(), std::f32::consts::PI / sides as f32);
            // The lowest side is level.
            let angle = if sides.is_multiple_of(2) { half } else { half - std::f32::consts::FRAC_PI_2 };
            (
                format!("{sides} sides"),
                Shape::Polygon(shape),
                if sides == 6 { 0.0 } else { angle },
                size * half.cos(),
            )
        };
        let prow = [(-1.0, -0.5), (0.6, -0.5), (1.0, -0.2), (1.0, 0.5), (-1.0, 0.5)]
            .map(|(x, y)| size * Vec2::new(x, y));
        let sledge = ("sledge".to_owned(), Shape::polygon(&prow).unwrap(), 0.0, 0.5 * size);
        [5, 6, 7, 8].map(regular).into_iter().chain([sledge])
    };
    for size in [0.1, 0.25, 1.0] {
        for (name, shape, angle, height) in bodies(size) {
            for half in [0.25, 0.5, 1.0] {
                for (kind, tile, depth) in tiles(half) {
                    let limit =
                        if name == "sledge" && settings.solver == Solver::Projection { 15.0 } else { 50.0 };
                    let speeds = [1.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 50.0];
                    for speed in speeds.into_iter().filter(|speed| *speed <= limit) {
                        let mut world = world(settings);
                        world.add_bodies(&pieces(tile, 2.0 * half, depth, 0.0, material)).unwrap();
                        let at = Vec2::new(0.13, height);
                        let body = world
                            .add_body(&BodyDesc { angle, material, ..BodyDesc::dynamic(shape, at) })
                            .unwrap();
                        (0..30).for_each(|_| world.step());
                        let start = state(&world, body).position;
                        world.set_velocity(body, Vec2::new(speed, 0.0)).unwrap();
                        let steps = (1500.0 / speed).min(80.0) as u32;
                        let mut rises = 0.0f32;
                        for _ in 0..steps {
                            world.step();
                            rises = rises.max((state(&world, body).position.y - start.y).abs());
                        }
                        let part = (state(&world, body).position.x - start.x)
                            / (speed * steps as f32 * settings.time_step);
                        cases.holds((part - 1.0).abs() < 0.03 && rises < 0.01, || {
                            format!("{name}, {size} m, {speed} m/s over {kind} of {} m: {part} of the way, rises {rises} m", 2.0 * half)
                        });
                    }
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

/// The tiles in a row of a maze, and the rows.
const MAZE: [usize; 2] = [24, 14];

/// Bodies of all shapes, thin ones too, that are thrown about for 400 steps in mazes of tiles stay between the two outer rows of these.
fn no_one_leaves_a_maze_of_tiles(settings: Settings) {
    let mut cases = Cases::new("maze", &settings);
    let mut random = Random(23);
    for maze in 0..40 {
        let half = 0.15 * 6.0f32.powf(random.uniform());
        let (kind, shape, _) = tiles(half)[maze % 3];
        let material = Material {
            restitution: if maze % 2 == 0 { 0.0 } else { 0.9 * random.uniform() },
            ..friction(if maze % 4 < 2 { 0.0 } else { random.uniform() }, 0.0)
        };
        let mut world = world(Settings { sleep: false, ..settings });
        let (size, full) = (2.0 * half * (0.08 + 0.3 * random.uniform()), 0.05 + 0.3 * random.uniform());
        let mut bodies = Vec::new();
        for cell in 0..MAZE[0] * MAZE[1] {
            let [x, y] = [cell % MAZE[0], cell / MAZE[0]];
            let is_edge = x.min(MAZE[0] - 1 - x) < 2 || y.min(MAZE[1] - 1 - y) < 2;
            let place = 2.0 * half * Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
            if is_edge || random.uniform() < full {
                world.add_body(&BodyDesc { material, ..BodyDesc::fixed(shape, place) }).unwrap();
            } else if random.uniform() < 0.5 {
                let size = size * (0.5 + 0.5 * random.uniform());
                let desc = BodyDesc {
                    material,
                    angle: random.within(3.0),
                    velocity: Vec2::from_angle(random.within(3.0)) * 12.0 * random.uniform(),
                    ..BodyDesc::dynamic(anything(size, &mut random), place)
                };
                bodies.push(world.add_body(&desc).unwrap());
            }
        }
        for step in 0..400 {
            for body in bodies.iter().filter(|_| step % 40 == 39) {
                let push = Vec2::new(random.within(6.0), 0.0);
                world.set_velocity(*body, state(&world, *body).velocity + push).unwrap();
            }
            world.step();
        }
        let inner = 2.0 * half * Vec2::new(MAZE[0] as f32, MAZE[1] as f32);
        for (number, body) in bodies.iter().enumerate() {
            let at = state(&world, *body).position;
            cases.holds(at.cmpgt(Vec2::ZERO).all() && at.cmplt(inner).all(), || {
                format!(
                    "body {number} of maze {maze}, {kind} of {} m, {:?}: at {at}",
                    2.0 * half,
                    world.shape(*body)
                )
            });
        }
    }
    cases.finish();
}

/// A shape of about this half length.
fn anything(size: f32, random: &mut Random) -> Shape {
    match (6.0 * random.uniform()) as u32 {
        0 => Shape::circle(0.6 * size),
        1 => Shape::oriented_box(size, 0.07 * size),
        2 => Shape::oriented_box(size, (0.3 + 0.7 * random.uniform()) * size),
        3 => Shape::capsule(size, 0.1 * size),
        4 => Shape::aabb(0.8 * size, 0.8 * size),
        _ => Shape::Polygon(Polygon::regular(3 + (6.0 * random.uniform()) as usize, size).unwrap()),
    }
}
