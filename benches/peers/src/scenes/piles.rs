//! Scenes of this comparison: what falls, sinks, rolls and is exchanged. All are centred on x = 0, with the floor's top at
//! y = 0.

use super::random::{between, unit};
use super::replacing::Replacing;
use ::granule::{BodyDesc, Material, Shape, Vec2};
use std::f32::consts::TAU;

/// Friction 0.5, no restitution, as the built-in `packed` has it.
pub fn stone() -> Material {
    Material::new(1.0, 0.5, 0.0)
}

/// A dynamic body of [`stone`].
pub fn body(shape: Shape, position: Vec2) -> BodyDesc {
    BodyDesc { material: stone(), ..BodyDesc::dynamic(shape, position) }
}

fn wall(half: Vec2, position: Vec2) -> BodyDesc {
    BodyDesc { material: stone(), ..BodyDesc::fixed(Shape::aabb(half.x, half.y), position) }
}

/// A floor and two walls, 1 m thick, around a pit of this width and height.
fn pit(width: f32, height: f32) -> Vec<BodyDesc> {
    let side = |x: f32| wall(Vec2::new(0.5, 0.5 * height), Vec2::new(x, 0.5 * height));
    let floor = wall(Vec2::new(0.5 * width + 1.0, 0.5), Vec2::new(0.0, -0.5));
    vec![floor, side(-0.5 * width - 0.5), side(0.5 * width + 0.5)]
}

/// Column and row of the `index`-th place of a grid; x from the middle of the grid, in columns.
fn cell(index: usize, columns: usize) -> (f32, usize) {
    ((index % columns) as f32 - 0.5 * (columns as f32 - 1.0), index / columns)
}

/// Boxes of half extents 0.3 to 0.5, on a grid 1.2 apart, odd rows shifted by 0.1, fall into a pit as wide as the grid.
///
/// They start turned by up to 0.2 rad. Level boxes landed as towers that stood by chance: of 1,000, those of Box2D and
/// Rapier stood for good (RMS speed 0.05 m/s after 6 s), while Granule's were falling over (2 m/s), and of 5,000
/// it was the other way round. Turned ones end nearer each other: 0.2 and 0.07, 0.2 and 1.5.
pub fn rubble(bodies: usize) -> Vec<BodyDesc> {
    const CELL: f32 = 1.2;
    let columns = bodies.isqrt();
    let height = bodies.div_ceil(columns) as f32 * CELL + 10.0;
    let mut scene = pit(columns as f32 * CELL + 0.2, height);
    scene.extend((0..bodies).map(|index| {
        let (x, row) = cell(index, columns);
        let shift = if row % 2 == 1 { 0.05 } else { -0.05 };
        let place = Vec2::new(x * CELL + shift, 0.7 + row as f32 * CELL);
        let half = |seed| 0.3 + 0.2 * unit(seed, index);
        let level = body(Shape::oriented_box(half(1), half(2)), place);
        BodyDesc { angle: between(3, index, -0.2, 0.2), ..level }
    }));
    scene
}

/// Circles of three sizes, nine in ten of radius 0.1 to 0.2, nine in a hundred 0.5 to 1, one in a hundred 2 to 5, fall in
/// a box 2√n wide.
///
/// They start in bands of 10 m, each of columns of one size: 25 small ones, 5 of the middle, or a large one.
pub fn sizes(bodies: usize) -> Vec<BodyDesc> {
    const BAND: f32 = 10.0;
    // The least radius, the largest, and how many are in a column of the largest.
    const CLASSES: [(f32, f32, usize); 3] = [(0.1, 0.2, 25), (0.5, 1.0, 5), (2.0, 5.0, 1)];
    let width = (2.0 * (bodies as f32).sqrt()).max(2.0 * BAND);
    // Where the next circle of a class goes, and how many still fit below the top of its column.
    let mut columns = [(Vec2::ZERO, 0); 3];
    let mut corner = Vec2::new(-0.5 * width, 0.0);
    let mut circles = Vec::with_capacity(bodies);
    for index in 0..bodies {
        let class = match unit(1, index) {
            u if u < 0.9 => 0,
            u if u < 0.99 => 1,
            _ => 2,
        };
        let (least, most, room) = CLASSES[class];
        if columns[class].1 == 0 {
            if corner.x + 2.0 * most > 0.5 * width {
                corner = Vec2::new(-0.5 * width, corner.y + BAND);
            }
            columns[class] = (corner + Vec2::splat(most), room);
            corner.x += 2.0 * most;
        }
        let (place, left) = &mut columns[class];
        circles.push(body(Shape::circle(between(2, index, least, most)), *place));
        place.y += 2.0 * most;
        *left -= 1;
    }
    let mut scene = pit(width, corner.y + 2.0 * BAND);
    scene.extend(circles);
    scene
}

/// A pit full of circles, twenty rows of them at 20,000, in which 1 in 200 (or only one, with `one`) is replaced each
/// step. A higher pile would be in free fall for ever, as its rows would go faster than they can sink.
pub fn churn(bodies: usize, one: bool) -> (Vec<BodyDesc>, Replacing) {
    let columns = (50 * bodies).isqrt().min(bodies);
    let rows = bodies.div_ceil(columns) as f32;
    let mut scene = pit(columns as f32, rows + 30.0);
    let first = scene.len();
    scene.extend((0..bodies).map(|index| {
        let (x, row) = cell(index, columns);
        Replacing::circle(first + index, Vec2::new(x, row as f32 + 0.5))
    }));
    let left = 0.5 - 0.5 * columns as f32;
    let per_step = if one { 1 } else { (bodies / 200).max(1) };
    // About the golden section of the list, and no divisor in common with it.
    let near = (bodies as f32 * 0.618) as usize;
    let stride = (near..).find(|&stride| coprime(stride, bodies)).unwrap_or(1);
    let replacing = Replacing { first, count: bodies, per_step, stride, left, columns, top: rows + 5.0 };
    (scene, replacing)
}

fn coprime(mut a: usize, mut b: usize) -> bool {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// Small circles and boxes roll over hills: chains of 1,000 static segments of about 2 m, one above the other, two segments for
/// each body. A valley is 50 m wide and 3 m deep.
pub fn terrain(bodies: usize) -> Vec<BodyDesc> {
    const PIECES: usize = 1_000;
    const PIECE: f32 = 2.0;
    const VALLEY: f32 = 50.0;
    const STOREY: f32 = 12.0;
    let half = 0.5 * PIECES as f32 * PIECE;
    // The ends of a chain are crests, beyond which nothing starts.
    let hill = |x: f32| 1.5 * ((x + half) * (TAU / VALLEY)).cos();
    let chains = (2 * bodies).div_ceil(PIECES);
    let mut scene = Vec::with_capacity(chains * PIECES + bodies);
    for chain in 0..chains {
        scene.extend((0..PIECES).map(|piece| {
            let end = |index: usize| {
                let x = index as f32 * PIECE - half;
                Vec2::new(x, hill(x) + chain as f32 * STOREY)
            };
            let (from, to) = (end(piece), end(piece + 1));
            let along = to - from;
            let piece = BodyDesc::fixed(Shape::segment(0.5 * along.length()), 0.5 * (from + to));
            BodyDesc { angle: along.y.atan2(along.x), material: stone(), ..piece }
        }));
    }
    let width = 2.0 * half - VALLEY;
    let on_a_chain = bodies.div_ceil(chains);
    scene.extend((0..bodies).map(|index| {
        let (x, chain) = cell(index, on_a_chain);
        let x = x * width / on_a_chain as f32;
        let place = Vec2::new(x, hill(x) + chain as f32 * STOREY + between(1, index, 1.0, 3.0));
        let half = |seed| between(seed, index, 0.1, 0.2);
        let shape =
            if index % 2 == 0 { Shape::circle(half(2)) } else { Shape::oriented_box(half(2), half(3)) };
        body(shape, place)
    }));
    scene
}

/// A kinematic circle, a third of the pit wide, sinks into packed circles at 1 m/s.
pub fn plough(bodies: usize) -> Vec<BodyDesc> {
    const ROW: f32 = 0.866_025_4;
    let columns = (2 * bodies).isqrt();
    let width = columns as f32 + 0.5;
    let top = bodies.div_ceil(columns) as f32 * ROW + 0.2;
    let radius = width / 6.0;
    let mut scene = pit(width, top + 10.0);
    let circle = BodyDesc::kinematic(Shape::circle(radius), Vec2::new(0.0, top + radius));
    scene.push(BodyDesc { velocity: Vec2::new(0.0, -1.0), material: stone(), ..circle });
    scene.extend((0..bodies).map(|index| {
        let (x, row) = cell(index, columns);
        let shift = if row % 2 == 1 { 0.25 } else { -0.25 };
        let place = Vec2::new(x + shift, 0.5 + row as f32 * ROW);
        body(Shape::circle(0.5 * (1.0 - 0.02 * unit(1, index))), place)
    }));
    scene
}

/// Towers of ten unit boxes, 1.1 apart, towers 3 apart. Each world has its own a little aside.
pub fn small(bodies: usize, world: usize) -> Vec<BodyDesc> {
    const TOWER: usize = 10;
    const PITCH: f32 = 3.0;
    let towers = bodies.div_ceil(TOWER);
    let mut scene = pit(towers as f32 * PITCH, TOWER as f32 * 1.1 + 10.0);
    scene.extend((0..bodies).map(|index| {
        let (x, _) = cell(index / TOWER, towers);
        let row = (index % TOWER) as f32;
        let place = Vec2::new(x * PITCH + 1.0e-3 * world as f32, 0.6 + row * 1.1);
        body(Shape::oriented_box(0.5, 0.5), place)
    }));
    scene
}
