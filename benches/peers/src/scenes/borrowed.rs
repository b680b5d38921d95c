//! Scenes with the dimensions of Box2D's own benchmarks that are not among Granule's built-in ones.

use super::piles::{body, stone};
use ::granule::{BodyDesc, Material, Part, Polygon, Shape, Vec2};
use std::f32::consts::TAU;

/// Capsules, circles and squares in a ring of 360 segments, stirred by a bar 40 m long at 1 rad/s.
///
/// In Box2D the ring is a chain and a motor without limit turns the bar; here the ring is 360 segments and the bar is
/// kinematic, since neither joints nor chains are compared. It turns at a fifth of the speed: with 5 rad/s and no continuous
/// collision, 457 bodies in Box2D, 533 in Rapier and 151 in Granule had gone through the ring after 360 steps, and an engine
/// that loses more of them has less to do. With 1 rad/s it is 26, 35 and 2. The bodies start 0.5 m apart,
/// overlapping, as there.
pub fn spinner(bodies: usize) -> Vec<BodyDesc> {
    const POINTS: usize = 360;
    const RADIUS: f32 = 40.0;
    const COLUMNS: usize = 92;
    let centre = Vec2::new(0.0, 32.0);
    let material = |friction, restitution, density| Material::new(density, friction, restitution);
    let mut scene: Vec<BodyDesc> = (0..POINTS)
        .map(|index| {
            let point = |index: usize| {
                centre + RADIUS * Vec2::from_angle((index % POINTS) as f32 * TAU / POINTS as f32)
            };
            let (from, to) = (point(index), point(index + 1));
            let along = to - from;
            let piece = BodyDesc::fixed(Shape::segment(0.5 * along.length()), 0.5 * (from + to));
            BodyDesc { angle: along.y.atan2(along.x), material: material(0.1, 0.0, 1.0), ..piece }
        })
        .collect();
    let corners = [(-0.4, -20.0), (0.4, -20.0), (0.4, 20.0), (-0.4, 20.0)].map(|(x, y)| Vec2::new(x, y));
    let (bar, _) = Polygon::rounded(&corners, 0.2).expect("a rounded box");
    let bar = BodyDesc::kinematic(Shape::Polygon(bar), Vec2::new(0.0, 12.0));
    scene.push(BodyDesc { angular_velocity: 1.0, material: material(0.0, 0.0, 1.0), ..bar });
    scene.extend((0..bodies).map(|index| {
        let shape = match index % 3 {
            0 => Shape::capsule(0.25, 0.25),
            1 => Shape::circle(0.35),
            _ => Shape::oriented_box(0.35, 0.35),
        };
        let (column, row) = (index % COLUMNS, index / COLUMNS);
        let place = Vec2::new(-23.0 + 0.5 * column as f32, 2.0 + 0.5 * row as f32);
        BodyDesc { material: material(0.1, 0.1, 0.25), ..BodyDesc::dynamic(shape, place) }
    }));
    scene
}

/// Bodies of two boxes, a T each, fall into a barrel whose floor and walls are boxes: 20 columns, 2 m apart, and rows
/// 2.25 m apart, every row a quarter of a metre to one side. Box2D's are two triangles each.
pub fn compounds(bodies: usize) -> (Vec<BodyDesc>, Vec<(usize, Part)>) {
    const COLUMNS: usize = 20;
    const FLOOR: usize = 81;
    const WALL: usize = 100;
    let fixed = |half_x: f32, half_y: f32, x: f32, y: f32| BodyDesc {
        material: stone(),
        ..BodyDesc::fixed(Shape::oriented_box(half_x, half_y), Vec2::new(x, y))
    };
    let mut scene: Vec<BodyDesc> =
        (0..FLOOR).map(|index| fixed(0.55, 0.5, index as f32 - 40.0, 0.0)).collect();
    for x in [-40.0, 40.0] {
        scene.extend((0..WALL).map(|index| fixed(0.5, 0.55, x, 1.0 + index as f32)));
    }
    let first = scene.len();
    scene.extend((0..bodies).map(|index| {
        let (column, row) = (index % COLUMNS, index / COLUMNS);
        let side = if row % 2 == 0 { 0.25 } else { -0.25 };
        let x = 2.0 * column as f32 - (COLUMNS as f32 - 1.0) + side;
        body(Shape::oriented_box(0.85, 0.25), Vec2::new(x, 5.575 + 2.25 * row as f32))
    }));
    let stem = Part { material: stone(), ..Part::new(Shape::oriented_box(0.25, 0.6), Vec2::new(0.0, 0.85)) };
    let parts = (first..scene.len()).map(|place| (place, stem)).collect();
    (scene, parts)
}

/// A heavy block flies into a wall of squares, 120 by 80 of them at full size, without gravity.
pub fn smash(bodies: usize) -> Vec<BodyDesc> {
    const SIDE: f32 = 0.4;
    let material = |density| Material::new(density, 0.6, 0.0);
    let rows = (2 * (bodies - 1) / 3).isqrt().max(1);
    let block = BodyDesc::dynamic(Shape::oriented_box(4.0, 4.0), Vec2::new(-20.0, 0.0));
    let mut scene = vec![BodyDesc { velocity: Vec2::new(40.0, 0.0), material: material(8.0), ..block }];
    scene.extend((1..bodies).map(|index| {
        let (column, row) = ((index - 1) / rows, (index - 1) % rows);
        let place = Vec2::new(30.0 + SIDE * column as f32, SIDE * (row as f32 - 0.5 * rows as f32));
        let square = BodyDesc::dynamic(Shape::oriented_box(0.5 * SIDE, 0.5 * SIDE), place);
        BodyDesc { material: material(1.0), ..square }
    }));
    scene
}
