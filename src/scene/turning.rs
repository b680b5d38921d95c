//! The built-in scenes of shapes that turn. `large_pyramid`, `many_pyramids`, `washer` and `tumbler` have the
//! dimensions of Box2D's benchmarks of these names, and are scenes of the comparison with other engines. Do not change
//! them: the measured figures could not be compared any more.
//!
//! In a scene that is larger than its default, the containers grow too. Sines are the engine's own, so that a scene is
//! the same on every machine.

use super::pieces::{Pieces, body, centred, falling, grid, pile_columns, push_box, wall};
use super::random::Random;
use crate::geometry::trig::sin_cos;
use crate::{BodyDesc, Filter, Material, Part, Polygon, Shape};
use glam::Vec2;
use std::f32::consts::{PI, TAU};

/// The angle between the drum's plates: a 36th of a turn.
const TEN_DEGREES: f32 = PI / 18.0;
/// The speed of both drums, rad/s: 25° per second.
const DRUM_SPEED: f32 = PI / 180.0 * 25.0;
/// The centre of both drums.
const DRUM_CENTRE: Vec2 = Vec2::new(0.0, 10.0);

fn stone() -> Material {
    Material::new(1.0, 0.6, 0.0)
}

fn direction(angle: f32) -> Vec2 {
    let (sin, cos) = sin_cos(angle);
    Vec2::new(cos, sin)
}

/// Adds unit boxes that touch, row upon row on y = `ground`, each row one box shorter. `left` is the left edge of the
/// lowest row.
fn push_pyramid(bodies: &mut Vec<BodyDesc>, base: usize, left: f32, ground: f32) {
    let material = stone();
    for row in 0..base {
        bodies.extend((row..base).map(|column| {
            let x = (row + 1) as f32 * 0.5 + (column - row) as f32 + left;
            body(Shape::oriented_box(0.5, 0.5), Vec2::new(x, row as f32 + 0.5 + ground), material)
        }));
    }
}

/// One pyramid on a floor.
pub(super) fn large_pyramid(bodies: usize, _: &mut Random) -> Vec<BodyDesc> {
    let base = pile_columns(bodies);
    let half = 0.5 * base as f32;
    let mut scene = Vec::with_capacity(base * (base + 1) / 2 + 1);
    scene.push(wall((half + 10.0).max(100.0), 1.0, Vec2::new(0.0, -1.0), stone()));
    push_pyramid(&mut scene, base, -half, 0.0);
    scene
}

/// Boxes in a grid, which touch and fall asleep, and a block that hits them after a second. The dimensions are those of Box2D's benchmark
/// of this name, in which the boxes sleep from the start.
pub(super) fn smash(bodies: usize, _: &mut Random) -> Pieces {
    const SIZE: f32 = 0.4;
    const SPEED: f32 = 40.0;
    let boxes = bodies - 1;
    let columns = (1.5 * boxes as f64).sqrt().ceil().max(1.0) as usize;
    let rows = boxes.div_ceil(columns);
    let mut scene = Vec::with_capacity(bodies);
    scene.extend(grid(boxes, columns).map(|(column, row)| {
        let place = SIZE * Vec2::new(column as f32, row as f32 - 0.5 * rows as f32);
        body(Shape::oriented_box(0.5 * SIZE, 0.5 * SIZE), place, stone())
    }));
    let block = Shape::oriented_box(4.0, 4.0);
    let velocity = Vec2::new(SPEED, 0.0);
    let place = Vec2::new(-4.0 - 0.5 * SIZE - SPEED, 0.0);
    scene.push(BodyDesc { velocity, ..body(block, place, Material { density: 20.0, ..stone() }) });
    Pieces { sleep: true, ..scene.into() }
}

/// A square number of pyramids with a base of 10, in rows on segments.
pub(super) fn many_pyramids(bodies: usize, _: &mut Random) -> Vec<BodyDesc> {
    const BASE: usize = 10;
    const PITCH: f32 = (BASE + 1) as f32;
    const BOXES: usize = BASE * (BASE + 1) / 2;
    let columns = ((bodies as f64 / BOXES as f64).sqrt().round() as usize).max(1);
    let width = columns as f32 * PITCH;
    let mut scene = Vec::with_capacity(columns * (columns * BOXES + 1));
    scene.extend((0..columns).map(|row| {
        let ground = BodyDesc::fixed(Shape::segment(0.5 * width), Vec2::new(0.0, row as f32 * PITCH));
        BodyDesc { material: stone(), ..ground }
    }));
    for (column, row) in grid(columns * columns, columns) {
        let left = -0.5 * width + column as f32 * PITCH + 1.0 - 0.5;
        push_pyramid(&mut scene, BASE, left, row as f32 * PITCH);
    }
    scene
}

/// A kinematic body for shapes that turn about its centre. Its own shape touches nothing.
fn drum(velocity: Vec2) -> BodyDesc {
    BodyDesc {
        velocity,
        angular_velocity: DRUM_SPEED,
        filter: Filter { mask: 0, ..Filter::default() },
        material: stone(),
        ..BodyDesc::kinematic(Shape::circle(0.01), DRUM_CENTRE)
    }
}

/// Adds `side` × `side` boxes, `spacing` apart. `from` is the first box's place in x and in y, relative to the drum's
/// centre.
fn push_load(bodies: &mut Vec<BodyDesc>, side: usize, half: f32, from: f32, spacing: f32) {
    bodies.extend(grid(side * side, side).map(|(column, row)| {
        let place = Vec2::new(column as f32, row as f32) * spacing + from;
        body(Shape::oriented_box(half, half), DRUM_CENTRE + place, stone())
    }));
}

/// A drum of 36 plates that overlap a little, with four paddles.
pub(super) fn washer(bodies: usize, _: &mut Random) -> Pieces {
    const HALF: f32 = 0.1;
    const DEFAULT_SIDE: usize = 90;
    let side = bodies.isqrt();
    let scale = side.max(DEFAULT_SIDE) as f32 / DEFAULT_SIDE as f32;
    let [paddle, inner, outer] = [14.0, 16.0, 18.0].map(|radius| radius * scale);

    let mut scene = Pieces { bodies: vec![drum(Vec2::new(0.001, -0.002))], ..Pieces::default() };
    let mut plate = |near: f32, far: f32, from: Vec2, to: Vec2| {
        let corners = [near * from, far * from, near * to, far * to];
        let (polygon, centre) = Polygon::new(&corners).expect("the corners of a plate are convex");
        let part = Part { material: stone(), ..Part::new(Shape::Polygon(polygon), centre) };
        scene.parts.push((0, part));
    };
    for index in 0..36u8 {
        let [from, to] = [index, index + 1].map(|corner| f32::from(corner) * TEN_DEGREES);
        let more = 0.1 * TEN_DEGREES;
        plate(inner, outer, direction(from - more), direction(to + more));
        if index % 9 == 0 {
            plate(paddle, inner, direction(from), direction(to));
        }
    }
    push_load(&mut scene.bodies, side, HALF, -1.1 * HALF * side as f32, 2.1 * HALF);
    scene
}

/// A square drum of four boxes.
pub(super) fn tumbler(bodies: usize, _: &mut Random) -> Pieces {
    const DEFAULT_SIDE: usize = 45;
    let side = bodies.isqrt();
    let half = 10.0 * side.max(DEFAULT_SIDE) as f32 / DEFAULT_SIDE as f32;

    let mut scene = Pieces { bodies: vec![drum(Vec2::ZERO)], ..Pieces::default() };
    for sign in [1.0, -1.0] {
        for (shape, place) in [
            (Shape::oriented_box(0.5, half), Vec2::new(sign * half, 0.0)),
            (Shape::oriented_box(half, 0.5), Vec2::new(0.0, sign * half)),
        ] {
            scene.parts.push((0, Part { material: stone(), ..Part::new(shape, place) }));
        }
    }
    push_load(&mut scene.bodies, side, 0.125, -0.2 * side as f32, 0.4);
    scene
}

/// A convex polygon whose furthest point, rounding included, is `reach` away from the centroid.
fn polygon(corners: &[Vec2], reach: f32, radius: f32) -> Shape {
    const CONVEX: &str = "points on an ellipse, well apart, are convex";
    let (unit, _) = Polygon::new(corners).expect(CONVEX);
    let furthest = unit.vertices().iter().fold(0.0f32, |most, vertex| most.max(vertex.length()));
    let scale = (reach - radius) / furthest;
    let corners: Vec<Vec2> = unit.vertices().iter().map(|&vertex| scale * vertex).collect();
    Shape::Polygon(Polygon::rounded(&corners, radius).expect(CONVEX).0)
}

fn corner_count(random: &mut Random) -> usize {
    3 + (6.0 * random.unit()) as usize
}

fn regular_polygon(random: &mut Random) -> Shape {
    let count = corner_count(random);
    let corners: Vec<Vec2> = (0..count).map(|i| direction(i as f32 * (TAU / count as f32))).collect();
    polygon(&corners, random.between(0.3, 0.5), 0.0)
}

/// A polygon with its corners on an ellipse, at uneven angles. One in two is rounded.
fn random_polygon(random: &mut Random) -> Shape {
    let count = corner_count(random);
    let flat = random.between(0.6, 1.0);
    let corners: Vec<Vec2> = (0..count)
        .map(|i| direction((i as f32 + random.between(-0.3, 0.3)) * (TAU / count as f32)))
        .map(|corner| Vec2::new(corner.x, flat * corner.y))
        .collect();
    let radius = if random.coin() { random.between(0.02, 0.1) } else { 0.0 };
    polygon(&corners, random.between(0.35, 0.5), radius)
}

/// A random shape of a kind that turns. It reaches at most 0.5 m.
pub(super) fn any_shape(random: &mut Random) -> Shape {
    match (5.0 * random.unit()) as u32 {
        0 => Shape::circle(random.between(0.2, 0.5)),
        1 => Shape::oriented_box(random.between(0.15, 0.35), random.between(0.15, 0.35)),
        2 => Shape::capsule(random.between(0.1, 0.3), random.between(0.1, 0.2)),
        3 => regular_polygon(random),
        _ => random_polygon(random),
    }
}

/// The pile of shapes of all kinds at all angles.
pub(super) fn mixed_shapes(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    let mut scene = falling(bodies, random, stone(), any_shape);
    let first = scene.len() - bodies;
    for body in &mut scene[first..] {
        body.angle = random.between(-PI, PI);
    }
    scene
}

/// A yard with a heap of all kinds of shapes, one in six of two parts, and a plough that comes from the left. The
/// plough reaches the right wall after 40 s at the earliest. The room in front of it is large enough for the heap for
/// longer than the default run.
pub(super) fn junkyard(bodies: usize, random: &mut Random) -> Pieces {
    const CELL: f32 = 1.1;
    const PLOUGH_SPEED: f32 = 0.5;
    let material = stone();
    let columns = pile_columns(bodies);
    let rows = bodies.div_ceil(columns);
    let heap = columns as f32 * CELL;
    let height = rows as f32 * CELL;
    let plough = 0.5 * height + 2.0;
    let width = 1.5 * heap + 26.0;

    let mut scene = Pieces::default();
    push_box(&mut scene.bodies, width, height + 10.0, material);
    let left = -0.5 * width;
    // The plough is an upright blade on the floor with a wedge at its foot.
    let blade = BodyDesc {
        velocity: Vec2::new(PLOUGH_SPEED, 0.0),
        material,
        ..BodyDesc::kinematic(Shape::oriented_box(0.5, 0.5 * plough), Vec2::new(left + 1.0, 0.5 * plough))
    };
    let wedge = [Vec2::ZERO, Vec2::new(2.0, 0.0), Vec2::new(0.0, 1.5)];
    let (wedge, centre) = Polygon::new(&wedge).expect("a triangle");
    let foot = Vec2::new(0.5, -0.5 * plough) + centre;
    scene.parts.push((scene.bodies.len(), Part { material, ..Part::new(Shape::Polygon(wedge), foot) }));
    scene.bodies.push(blade);

    for (column, row) in grid(bodies, columns) {
        let jitter = Vec2::new(random.between(-0.04, 0.04), random.between(-0.04, 0.04));
        let place = Vec2::new(left + 5.0 + column as f32 * CELL, 0.6 + row as f32 * CELL) + jitter;
        let angle = random.between(-PI, PI);
        let index = scene.bodies.len();
        let mut junk = BodyDesc { angle, ..body(Shape::circle(0.2), place, material) };
        match (12.0 * random.unit()) as u32 {
            // A dumb-bell and a T, no wider than the other shapes. The first part of a body is at the body's place.
            0 => {
                junk.position -= direction(angle).rotate(Vec2::new(0.25, 0.0));
                let other = Part { material, ..Part::new(junk.shape, Vec2::new(0.5, 0.0)) };
                scene.parts.push((index, other));
            }
            1 => {
                junk.shape = Shape::oriented_box(0.4, 0.1);
                let stem = Part::new(Shape::oriented_box(0.1, 0.15), Vec2::new(0.0, -0.25));
                scene.parts.push((index, Part { material, ..stem }));
            }
            _ => junk.shape = any_shape(random),
        }
        scene.bodies.push(junk);
    }
    scene
}

/// Rows of dominoes on shelves, one above the other. The first domino of each row, at the left, is past its tipping
/// point and turns about its lower edge. From rest it would come to lean on the second domino, and friction would hold
/// both.
pub(super) fn dominoes(bodies: usize, _: &mut Random) -> Vec<BodyDesc> {
    const HALF: Vec2 = Vec2::new(0.0625, 0.5);
    const SPACING: f32 = 0.5;
    const SHELF: f32 = 2.5;
    // The angle is past atan(0.0625 / 0.5) = 0.124, and the domino does not reach the second one yet.
    const TIPPED: f32 = -0.2;
    const TURNING: f32 = -1.0;
    let material = stone();
    // The scene is as wide as high.
    let length = (5 * bodies).isqrt().clamp(1, bodies);
    let rows = bodies.div_ceil(length);
    let mut scene = Vec::with_capacity(bodies + rows);
    let half = 0.5 * length as f32 * SPACING + 2.0;
    scene.extend((0..rows).map(|row| wall(half, 0.1, Vec2::new(0.0, row as f32 * SHELF - 0.1), material)));
    scene.extend(grid(bodies, length).map(|(column, row)| {
        let foot = Vec2::new(centred(column, length, SPACING), row as f32 * SHELF);
        let upright = body(Shape::oriented_box(HALF.x, HALF.y), foot + Vec2::new(0.0, HALF.y), material);
        if column > 0 {
            return upright;
        }
        let edge = foot + Vec2::new(HALF.x, 0.0);
        let arm = direction(TIPPED).rotate(Vec2::new(-HALF.x, HALF.y));
        BodyDesc {
            position: edge + arm,
            angle: TIPPED,
            velocity: TURNING * arm.perp(),
            angular_velocity: TURNING,
            ..upright
        }
    }));
    scene
}

/// Half circles of 24 stones, 1 m thick at a mean radius of 4 m. An arch that stands by its weight alone needs 0.11 of
/// the radius; this is more than twice as thick. Each arch stands on two abutments. There are several rows, one above
/// the other.
pub(super) fn arch(bodies: usize, _: &mut Random) -> Vec<BodyDesc> {
    const STONES: usize = 24;
    const INNER: f32 = 3.5;
    const OUTER: f32 = 4.5;
    const PITCH: Vec2 = Vec2::new(11.0, 6.0);
    let material = stone();
    let count = ((bodies + STONES / 2) / STONES).max(1);
    let columns = count.isqrt();
    let mut scene = Vec::with_capacity(count * (STONES + 2));
    let places = || {
        let place = |(column, row)| Vec2::new(centred(column, columns, PITCH.x), row as f32 * PITCH.y);
        grid(count, columns).map(place)
    };
    for place in places() {
        for side in [-1.0, 1.0] {
            scene.push(wall(1.0, 0.25, place + Vec2::new(side * 4.0, -0.25), material));
        }
    }
    let joint = |index: usize| match index {
        // The feet stand level.
        0 => Vec2::X,
        STONES => Vec2::NEG_X,
        _ => direction(index as f32 * (PI / STONES as f32)),
    };
    for place in places() {
        scene.extend((0..STONES).map(|index| {
            let (from, to) = (joint(index), joint(index + 1));
            let corners = [INNER * from, OUTER * from, OUTER * to, INNER * to];
            let (wedge, centre) = Polygon::new(&corners).expect("a wedge is convex");
            body(Shape::Polygon(wedge), place + centre, material)
        }));
    }
    scene
}

/// Houses of cards side by side, five storeys high, and in rows, one above the other. In each storey pairs of cards
/// lean against each other. On their tops lie cards that meet above the inner pairs and overhang the outer ones, so
/// that both cards of every pair bear the same load.
pub(super) fn card_house(bodies: usize, _: &mut Random) -> Vec<BodyDesc> {
    const STOREYS: usize = 5;
    const CARDS: usize = STOREYS * (STOREYS + 1) + STOREYS * (STOREYS - 1) / 2;
    const HALF: Vec2 = Vec2::new(0.02, 0.5);
    /// The angle of a leaning card from the vertical.
    const LEAN: f32 = 0.3;
    /// The distance of two pairs, and the gap between the ends of two lying cards.
    const PITCH: f32 = 1.0;
    const GAP: f32 = 0.01;
    /// The overhang of the outermost lying cards beyond the last pair.
    const EAVES: f32 = 0.15;
    const HOUSE: Vec2 = Vec2::new(7.0, 8.0);
    let material = Material::new(1.0, 0.7, 0.0);
    let count = ((bodies + CARDS / 2) / CARDS).max(1);
    let columns = count.isqrt();
    let rows = count.div_ceil(columns);
    let (sin, cos) = sin_cos(LEAN);
    // Half the height of a leaning card, and its half width at its inner top corner.
    let half_height = HALF.y * cos + HALF.x * sin;
    let to_the_middle = HALF.y * sin + HALF.x * cos;
    let storey = 2.0 * half_height + 2.0 * HALF.x;

    let mut scene = Vec::with_capacity(count * CARDS + rows);
    let half = 0.5 * columns as f32 * HOUSE.x;
    scene
        .extend((0..rows).map(|row| wall(half, 0.25, Vec2::new(0.0, row as f32 * HOUSE.y - 0.25), material)));
    for (column, row) in grid(count, columns) {
        let middle = Vec2::new(centred(column, columns, HOUSE.x), row as f32 * HOUSE.y);
        for level in 0..STOREYS {
            let pairs = STOREYS - level;
            let floor = middle + Vec2::new(0.0, level as f32 * storey);
            for pair in 0..pairs {
                let top = centred(pair, pairs, PITCH);
                // A card that leans to the right, with its top at the middle, is turned clockwise.
                for side in [-1.0, 1.0] {
                    let place = floor + Vec2::new(top + side * to_the_middle, half_height);
                    let card = body(Shape::oriented_box(HALF.x, HALF.y), place, material);
                    scene.push(BodyDesc { angle: side * LEAN, ..card });
                }
            }
            for lying in 1..pairs {
                let end = |at: usize, outermost: bool, side: f32| {
                    centred(at, pairs, PITCH) + side * if outermost { EAVES } else { -0.5 * GAP }
                };
                let (from, to) = (end(lying - 1, lying == 1, -1.0), end(lying, lying == pairs - 1, 1.0));
                let place = floor + Vec2::new(0.5 * (from + to), 2.0 * half_height + HALF.x);
                scene.push(body(Shape::oriented_box(0.5 * (to - from), HALF.x), place, material));
            }
        }
    }
    scene
}
