//! Scenes of vehicles and machines: wheels, motors, gears and sliders.

use super::super::pieces::{Pieces, body, centred, grid, wall};
use super::super::random::Random;
use super::super::turning::any_shape;
use super::{NOTHING, anchor, places};
use crate::geometry::trig::sin_cos;
use crate::{Assembly, BodyDesc, JointDesc, Material, Part, Polygon, Shape};
use glam::Vec2;
use std::f32::consts::{FRAC_PI_2, PI};

/// Cars with suspended wheels, both driven, go to the right over hills: chains of segments, one above the other. Body and wheels have
/// the measures of the car in Box2D's samples.
pub(in crate::scene) fn cars(bodies: usize, random: &mut Random) -> Pieces {
    const ROW: usize = 20;
    const PITCH: Vec2 = Vec2::new(6.0, 12.0);
    /// The way in front of the first car, m.
    const WAY: f32 = 60.0;
    const BODY: [(f32, f32); 6] =
        [(-1.5, -0.5), (1.5, -0.5), (1.5, 0.0), (0.0, 0.9), (-1.15, 0.9), (-1.5, 0.2)];
    let road = Material::new(1.0, 0.6, 0.0);
    let count = (bodies / 3).max(1);
    let length = count.min(ROW.max(count.isqrt()));
    let rows = count.div_ceil(length);
    let from = -0.5 * (length as f32 * PITCH.x + WAY);
    let mut scene = Pieces::default();
    for row in 0..rows {
        let steps = (-2.0 * from) as usize;
        let level = row as f32 * PITCH.y;
        let mut points: Vec<Vec2> =
            (0..=steps).map(|step| hills(from + step as f32) + Vec2::new(0.0, level)).collect();
        // A wall at both ends.
        points.insert(0, points[0] + Vec2::new(-1.0, 5.0));
        points.push(points[points.len() - 1] + Vec2::new(1.0, 5.0));
        let Ok(chain) = Assembly::chain(&points, false, road) else { continue };
        scene.bodies.extend(chain.bodies);
    }
    let hull = BODY.map(|(x, y)| 0.85 * Vec2::new(x, y));
    let Ok((hull, centre)) = Polygon::new(&hull) else { return scene };
    for (column, row) in grid(count, length) {
        let x = from + 3.0 + column as f32 * PITCH.x;
        // The highest ground below the car.
        let highest = (-4..=4).map(|step| hills(x + 0.5 * step as f32).y).fold(f32::NEG_INFINITY, f32::max);
        let place = Vec2::new(x, row as f32 * PITCH.y + highest + 1.0);
        let here = scene.bodies.len();
        scene.bodies.push(body(Shape::Polygon(hull), place + centre, Material::new(1.0, 0.3, 0.0)));
        let speed = -random.between(10.0, 12.0);
        for side in [-1.0, 1.0] {
            let axle = Vec2::new(0.85 * side, -0.5);
            let wheel = scene.bodies.len();
            scene.bodies.push(body(Shape::circle(0.4), place + axle, Material::new(2.0, 1.5, 0.0)));
            let joint = JointDesc::wheel(here, wheel, axle - centre, Vec2::ZERO, FRAC_PI_2);
            let joint = joint.with_spring(0.0, 5.0, 0.7).with_limit(-0.25, 0.25).with_motor(speed, 8.0);
            scene.joints.push(joint);
        }
    }
    scene
}

/// A point of the hills: two waves, a long one and a short one.
fn hills(x: f32) -> Vec2 {
    let (long, _) = sin_cos(0.15 * x);
    let (short, _) = sin_cos(0.61 * x);
    Vec2::new(x, 0.8 * long + 0.2 * short)
}

/// Pans with a pile of all kinds of shapes in each, which crossed paddles at the bottom stir. Sixty shapes come to a paddle.
pub(in crate::scene) fn mill(bodies: usize, random: &mut Random) -> Pieces {
    const PILE: usize = 60;
    const ACROSS: f32 = 7.0;
    const CELL: f32 = 1.1;
    const HALF: Vec2 = Vec2::new(1.7, 0.15);
    /// The height of a paddle's middle. There is room for two shapes below its blades and beside them.
    const AXLE: f32 = 3.9;
    const HEIGHT: f32 = 22.0;
    const SPEED: f32 = 1.5;
    // Rough shapes jam.
    let material = Material::new(1.0, 0.3, 0.0);
    let count = (bodies / (PILE + 1)).max(1);
    let columns = (4 * count).isqrt().min(count);
    let mut scene = Pieces::default();
    for first in (0..count).step_by(columns) {
        let paddles = columns.min(count - first);
        let floor = (first / columns) as f32 * HEIGHT;
        let half = 0.5 * ACROSS * paddles as f32;
        scene.bodies.push(wall(half + 1.0, 0.5, Vec2::new(0.0, floor - 0.5), material));
        for side in [-1.0, 1.0] {
            let place = Vec2::new(side * (half + 0.5), floor + 0.45 * HEIGHT);
            scene.bodies.push(wall(0.5, 0.45 * HEIGHT, place, material));
        }
        for paddle in 0..paddles {
            let axle = Vec2::new(centred(paddle, paddles, ACROSS), floor + AXLE);
            let here = scene.bodies.len();
            scene.bodies.push(anchor(axle));
            scene.bodies.push(body(Shape::oriented_box(HALF.x, HALF.y), axle, material));
            let cross = Part::new(Shape::oriented_box(HALF.y, HALF.x), Vec2::ZERO);
            scene.parts.push((here + 1, Part { material, ..cross }));
            let turn = JointDesc::revolute(here, here + 1, Vec2::ZERO, Vec2::ZERO);
            // All in one direction: two that turn towards each other draw shapes in between, and jam.
            scene.joints.push(turn.with_motor(SPEED, 2_000.0));
        }
        let across = (2.0 * half / CELL) as usize;
        scene.bodies.extend(grid(paddles * PILE, across).map(|(column, row)| {
            let jitter = Vec2::new(random.between(-0.04, 0.04), random.between(-0.04, 0.04));
            let place = Vec2::new(centred(column, across, CELL), floor + 6.2 + row as f32 * CELL) + jitter;
            let angle = random.between(-PI, PI);
            BodyDesc { angle, ..body(any_shape(random), place, material) }
        }));
    }
    scene
}

/// Meshes of 19 wheels of all sizes in a row, coupled by gears. A motor drives the first wheel, and the last wheel lifts or lowers a rack
/// until that is at an end of its guide (after 13 s). Then the motor stalls.
pub(in crate::scene) fn gears(bodies: usize, random: &mut Random) -> Pieces {
    const WHEELS: usize = 19;
    const SPEED: f32 = 0.15;
    const TORQUE: f32 = 200.0;
    const TRAVEL: f32 = 4.0;
    let material = Material::new(1.0, 0.6, 0.0);
    let count = (bodies / (WHEELS + 1)).max(1);
    let mut scene = Pieces::default();
    // A mesh is some 20 m long and 7 m high.
    for (index, place) in places(count, (count / 3).isqrt().max(1), Vec2::new(22.0, 7.5)).enumerate() {
        let frame = scene.bodies.len();
        scene.bodies.push(anchor(place));
        // The surface of all wheels has one speed, and its direction alternates.
        let mut speed = if index % 2 == 0 { SPEED } else { -SPEED };
        let mut right = place.x - 10.0;
        let mut before: Option<(usize, f32)> = None;
        for _ in 0..WHEELS {
            let radius = random.between(0.3, 0.7);
            let middle = Vec2::new(right + radius, place.y);
            right += 2.0 * radius;
            let here = scene.bodies.len();
            let wheel = body(Shape::circle(radius), middle, material);
            scene.bodies.push(BodyDesc { filter: NOTHING, angular_velocity: speed / radius, ..wheel });
            let axle = scene.joints.len();
            let hinge = JointDesc::revolute(frame, here, middle - place, Vec2::ZERO);
            let drive = hinge.with_motor(speed / radius, TORQUE);
            scene.joints.push(if before.is_none() { drive } else { hinge });
            if let Some((other, size)) = before {
                scene.joints.push(JointDesc::gear(other, axle, radius / size));
            }
            before = Some((axle, radius));
            speed = -speed;
        }
        let Some((last, radius)) = before else { continue };
        // `speed` is that of the last wheel's left side, which goes down if the wheel turns counter-clockwise.
        let rack = scene.bodies.len();
        let middle = Vec2::new(right + 0.1, place.y);
        let bar = body(Shape::oriented_box(0.1, 2.0), middle, material);
        scene.bodies.push(BodyDesc { filter: NOTHING, velocity: Vec2::new(0.0, -speed), ..bar });
        let guide = JointDesc::prismatic(frame, rack, middle - place, Vec2::ZERO, FRAC_PI_2);
        let slider = scene.joints.len();
        scene.joints.push(guide.with_limit(-0.5 * TRAVEL, 0.5 * TRAVEL));
        scene.joints.push(JointDesc::gear(last, slider, -1.0 / radius));
    }
    scene
}
