//! The built-in scenes of circles and boxes that do not turn.

use super::pieces::{body, centred, falling, grid, pile_columns, push_box, wall};
use super::random::Random;
use crate::{BodyDesc, Material, Shape};
use glam::Vec2;

fn circle_of_the_pile(random: &mut Random) -> Shape {
    Shape::circle(random.between(0.35, 0.5))
}

/// The material of the circles and boxes of the piles.
fn rubber() -> Material {
    Material { restitution: 0.1, ..Material::default() }
}

pub(super) fn pile(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    falling(bodies, random, rubber(), |random| {
        if random.coin() {
            circle_of_the_pile(random)
        } else {
            Shape::aabb(random.between(0.3, 0.5), random.between(0.3, 0.5))
        }
    })
}

pub(super) fn pile_circles(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    falling(bodies, random, rubber(), circle_of_the_pile)
}

/// A packed pile of circles. Odd rows are shifted by half a column; each row is √3/2 above the row below. The radius is
/// 0.5·(1 − 0.02u).
pub(super) fn packed(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const ROW: f32 = 0.866_025_4;
    let material = Material::new(1.0, 0.5, 0.0);
    let columns = pile_columns(bodies);
    let height = bodies.div_ceil(columns) as f32 * ROW + 10.0;
    let mut scene = Vec::with_capacity(bodies + 3);
    push_box(&mut scene, columns as f32 + 0.5, height, material);
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let shift = if row % 2 == 1 { 0.25 } else { -0.25 };
        let place = Vec2::new(centred(column, columns, 1.0) + shift, 0.5 + row as f32 * ROW);
        body(Shape::circle(0.5 * (1.0 - 0.02 * random.unit())), place, material)
    }));
    scene
}

/// A loose grid of circles. Columns and rows are 1.05 apart, the radius is 0.3 + 0.2u, and x is jittered by ±0.02.
pub(super) fn collapsing(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const CELL: f32 = 1.05;
    let material = Material::new(1.0, 0.5, 0.0);
    let columns = pile_columns(bodies);
    let height = bodies.div_ceil(columns) as f32 * CELL + 10.0;
    let mut scene = Vec::with_capacity(bodies + 3);
    push_box(&mut scene, columns as f32 * CELL, height, material);
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let jitter = random.between(-0.02, 0.02);
        let place = Vec2::new(centred(column, columns, CELL) + jitter, (row as f32 + 0.5) * CELL);
        body(Shape::circle(random.between(0.3, 0.5)), place, material)
    }));
    scene
}

/// Unit boxes that touch, row upon row, each row one box shorter, on a static box.
pub(super) fn pyramid(bodies: usize, _: &mut Random) -> Vec<BodyDesc> {
    let material = Material::new(1.0, 0.6, 0.0);
    let base = pile_columns(bodies);
    let mut scene = Vec::with_capacity(base * (base + 1) / 2 + 1);
    scene.push(wall(0.5 * base as f32 + 10.0, 0.5, Vec2::new(0.0, -0.5), material));
    for row in 0..base {
        let boxes = base - row;
        scene.extend((0..boxes).map(|column| {
            let place = Vec2::new(centred(column, boxes, 1.0), row as f32 + 0.5);
            body(Shape::aabb(0.5, 0.5), place, material)
        }));
    }
    scene
}

/// A gas of ⌊√n⌋ columns of circles, rows and columns 3 apart, radius 0.5, elastic and without friction. The
/// restitution threshold is the settings' default, as in the engines of the comparison: set it to zero for a gas that
/// keeps its energy.
pub(super) fn gas(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const CELL: f32 = 3.0;
    let material = Material::new(1.0, 0.0, 1.0);
    let columns = bodies.isqrt();
    let (inner, height) = (columns as f32 * CELL, bodies.div_ceil(columns) as f32 * CELL);
    let mut scene = Vec::with_capacity(bodies + 4);
    push_box(&mut scene, inner, height, material);
    scene.push(wall(0.5 * inner + 1.0, 0.5, Vec2::new(0.0, height + 0.5), material));
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let place = Vec2::new(centred(column, columns, CELL), (row as f32 + 0.5) * CELL);
        let velocity = 5.0 * random.direction();
        BodyDesc { velocity, ..body(Shape::circle(0.5), place, material) }
    }));
    scene
}

/// A block of circles of radius 0.2 to 0.25 above a board three times as wide. The board has staggered rows of pegs
/// and, below them, bins with room for twice the circles.
pub(super) fn galton(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const CELL: f32 = 0.6;
    const PEG: f32 = 1.5;
    const PEG_ROW: f32 = 1.3;
    let material = Material { restitution: 0.3, ..Material::new(1.0, 0.2, 0.3) };
    let columns = bodies.isqrt();
    let rows = bodies.div_ceil(columns);
    let bins = (3.0 * columns as f32 * CELL / PEG).ceil() as usize + 2;
    let peg_rows = 8 + columns / 8;
    let board = bins as f32 * PEG;
    let bin_height = 3.0 + 2.0 * bodies as f32 * 0.25 / board;
    let field_top = bin_height + (peg_rows + 1) as f32 * PEG_ROW;

    let mut scene = Vec::new();
    push_box(&mut scene, board, field_top + rows as f32 * CELL + 10.0, material);
    // The bins come first: one partition between every two bins, under a peg of the lowest row.
    scene.extend((0..bins - 1).map(|i| {
        let place = Vec2::new(centred(i, bins - 1, PEG), 0.5 * bin_height);
        wall(0.15, 0.5 * bin_height, place, material)
    }));
    for row in 0..peg_rows {
        let pegs = bins - 1 + row % 2;
        scene.extend((0..pegs).map(|i| {
            let place = Vec2::new(centred(i, pegs, PEG), bin_height + (row + 1) as f32 * PEG_ROW);
            BodyDesc { material, ..BodyDesc::fixed(Shape::circle(0.2), place) }
        }));
    }
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let place = Vec2::new(centred(column, columns, CELL), field_top + row as f32 * CELL);
        let jitter = Vec2::new(random.between(-0.04, 0.04), 0.0);
        body(Shape::circle(random.between(0.2, 0.25)), place + jitter, material)
    }));
    scene
}

/// A block of circles, eight times as long as high, on a slope of 5 in 12. (The right-angled triangle 5, 12, 13 gives
/// an exact unit normal without a sine.) The slope ends 50 m further down at a half-space across it.
pub(super) fn slope(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const CELL: f32 = 1.05;
    let up = Vec2::new(5.0 / 13.0, 12.0 / 13.0);
    let down_hill = Vec2::new(up.y, -up.x);
    let material = Material::new(1.0, 0.5, 0.0);
    let columns = (8 * bodies).isqrt();
    let end = 0.5 * columns as f32 * CELL + 50.0;

    let half_space = |normal, offset| BodyDesc {
        material,
        ..BodyDesc::fixed(Shape::half_space(normal, offset), Vec2::ZERO)
    };
    let mut scene = Vec::with_capacity(bodies + 2);
    scene.push(half_space(up, 0.0));
    scene.push(half_space(-down_hill, -end));
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let along = centred(column, columns, CELL) + random.between(-0.02, 0.02);
        let above = 0.55 + row as f32 * CELL;
        body(Shape::circle(random.between(0.35, 0.5)), along * down_hill + above * up, material)
    }));
    scene
}
