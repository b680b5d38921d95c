//! The built-in scenes of bodies and joints. They have about the requested number of bodies that move: whole figures, vehicles, chains
//! and meshes, at least one. `joint_grid` and `rain` have the measures of Box2D's benchmarks of these names (`shared/benchmarks.c`,
//! E. Catto, MIT licence).
//!
//! Scenes that grow with the number of bodies grow in both directions: what stands side by side is repeated in rows, one above the
//! other.

mod machines;

pub(super) use machines::{cars, gears, mill};

use super::pieces::{Pieces, body, centred, grid, wall};
use super::random::Random;
use super::script::{Drop, Rain, Script, TORQUE, Walker};
use crate::geometry::trig::sin_cos;
use crate::{Assembly, BodyDesc, BodyType, Filter, JointDesc, Material, Polygon, Shape};
use glam::Vec2;
use std::f32::consts::FRAC_PI_2;

/// A joint of a scene.
type Joint = JointDesc<usize, usize>;

/// What holds joints to the world. It touches nothing.
fn anchor(position: Vec2) -> BodyDesc {
    BodyDesc { filter: NOTHING, ..BodyDesc::fixed(Shape::circle(0.1), position) }
}

/// The filter of bodies that touch nothing.
const NOTHING: Filter = Filter { category: 1, mask: 0, group: 0 };

/// The places of `count` things in rows of `columns`, centred on x = 0, row by row from y = 0 up.
fn places(count: usize, columns: usize, pitch: Vec2) -> impl Iterator<Item = Vec2> {
    grid(count, columns)
        .map(move |(column, row)| Vec2::new(centred(column, columns, pitch.x), row as f32 * pitch.y))
}

/// A square net of circles that do not touch, each hinged to its neighbours half-way between them. It hangs from the seven circles in
/// the middle of its top row.
pub(super) fn joint_grid(bodies: usize, _: &mut Random) -> Pieces {
    let side = bodies.isqrt().max(2);
    let filter = Filter { category: 2, mask: !2, group: 0 };
    let material = Material::new(1.0, 0.6, 0.0);
    let mut scene = Pieces::default();
    let is_held = |column: usize, row: usize| row == 0 && column.abs_diff(side / 2) <= 3;
    for (row, column) in grid(side * side, side) {
        let place = Vec2::new(centred(column, side, 1.0), -(row as f32));
        let body_type = if is_held(column, row) { BodyType::Static } else { BodyType::Dynamic };
        let circle = BodyDesc { body_type, filter, ..body(Shape::circle(0.4), place, material) };
        let index = scene.bodies.len();
        scene.bodies.push(circle);
        if row > 0 {
            let (above, below) = (Vec2::new(0.0, -0.5), Vec2::new(0.0, 0.5));
            scene.joints.push(JointDesc::revolute(index - 1, index, above, below));
        }
        // Two circles that are held need no joint.
        if column > 0 && !(is_held(column - 1, row) && is_held(column, row)) {
            let (left, right) = (Vec2::new(0.5, 0.0), Vec2::new(-0.5, 0.0));
            scene.joints.push(JointDesc::revolute(index - side, index, left, right));
        }
    }
    scene
}

/// Figures fall on shelves, one above the other. Every few steps those of one column are removed and made anew at the top, so that each
/// lives for about 320 steps. At the start the scene is in the midst of that: the columns to the right have just begun to fall.
pub(super) fn rain(bodies: usize, _: &mut Random) -> Pieces {
    const GROUP: usize = 5;
    const LIFE: usize = 320;
    const DROP: f32 = 40.0;
    const PITCH: Vec2 = Vec2::new(6.25, 45.0);
    const TILE: f32 = 0.5;
    /// The height of a figure's middle above the shelf's when it stands.
    const STANDING: f32 = 0.5 * TILE + 0.66;
    const STEP: f32 = 1.0 / 60.0;
    let figures = (bodies / Assembly::FIGURE_BODIES).max(1);
    let groups = figures.div_ceil(GROUP);
    // With 200 groups: 5 shelves of 40 columns.
    let rows = (groups / 8).isqrt().max(1);
    let columns = groups.div_ceil(rows);
    let every = (LIFE / columns).max(1);
    let mut scene = Pieces::default();
    let tiles = (PITCH.x / TILE * columns as f32) as usize + 1;
    let material = Material::new(1.0, 0.6, 0.0);
    for row in 0..rows {
        let height = PITCH.y * row as f32;
        let tile = |tile: usize| Vec2::new(centred(tile, tiles, TILE), height);
        scene.bodies.extend((0..tiles).map(|place| wall(0.5 * TILE, 0.5 * TILE, tile(place), material)));
    }
    let mut turns: Vec<Vec<Drop>> = vec![Vec::new(); columns];
    for figure in 0..figures {
        let (group, within) = (figure / GROUP, figure % GROUP);
        let (column, row) = (group / rows, group % rows);
        let x = centred(column, columns, PITCH.x) + 0.5 * (within as f32 - 2.0);
        let floor = PITCH.y * row as f32;
        let (top, standing) = (floor + DROP, floor + STANDING);
        let age = ((columns - 1 - column) * every) as f32 * STEP;
        // The gravity of built-in scenes is 10 m/s².
        let height = top - 5.0 * age * age;
        let falls = height > standing;
        let group = figure as u32 + 1;
        let mut doll = Rain::figure(Vec2::new(x, height.max(standing)), group);
        if falls {
            doll.bodies.iter_mut().for_each(|limb| limb.velocity = Vec2::new(0.0, -10.0 * age));
        }
        let first = scene.append(doll);
        turns[column].push(Drop { first, centre: Vec2::new(x, top), group });
    }
    scene.script = Some(Script::Rain(Rain { every: every as u32, turns }));
    scene
}

/// Chains of 40 links, each with a ball of a thousand times the mass of a link at its end. They swing down from the horizontal.
/// Each hinge has a little friction.
///
/// A joint corrects at 60 Hz by default: it gives way like a spring that swings at 60 Hz with a link's mass. Under 3,000 times a link's
/// weight (the ball at its lowest point) that is 3,000 · 10 / (2π · 60)² = 0.2 m for the whole mass of a link, of 0.25 m. So the scene
/// has 16 substeps and joints of 240 Hz: less than 0.06 m (the test `joined::joints_of_scenes_hold`).
pub(super) fn ball_and_chain(bodies: usize, _: &mut Random) -> Pieces {
    const LINKS: usize = 40;
    const HALF: f32 = 0.125;
    const RADIUS: f32 = 0.04;
    const BALL: f32 = 0.6;
    const RATIO: f32 = 1_000.0;
    /// N·m for each kilogram of the ball.
    const FRICTION: f32 = 0.01;
    let material = Material::new(20.0, 0.6, 0.0);
    let chains = (bodies / (LINKS + 1)).max(1);
    let mut scene = Pieces::default();
    for place in places(chains, chains.isqrt(), Vec2::new(24.0, 14.0)) {
        let link = Shape::capsule(HALF, RADIUS);
        let mass = link.area() * material.density;
        let mut before = scene.bodies.len();
        scene.bodies.push(anchor(place));
        let mut end = Vec2::ZERO;
        for index in 0..LINKS {
            let middle = place + Vec2::new((2 * index + 1) as f32 * HALF, 0.0);
            let here = scene.bodies.len();
            scene.bodies.push(body(link, middle, material));
            let hinge = JointDesc::revolute(before, here, end, Vec2::new(-HALF, 0.0));
            scene.joints.push(hinge.with_motor(0.0, FRICTION * RATIO * mass));
            (before, end) = (here, Vec2::new(HALF, 0.0));
        }
        let ball = place + Vec2::new((2 * LINKS) as f32 * HALF + BALL, 0.0);
        let here = scene.bodies.len();
        let ball = BodyDesc { mass: Some(RATIO * mass), ..body(Shape::circle(BALL), ball, material) };
        scene.bodies.push(ball);
        let hinge = JointDesc::revolute(before, here, end, Vec2::new(-BALL, 0.0));
        scene.joints.push(hinge.with_motor(0.0, FRICTION * RATIO * mass));
    }
    scene.joints.iter_mut().for_each(|joint| joint.stiffness.hertz = 240.0);
    scene.substeps = Some(16);
    scene
}

/// Two-legged figures with motors in hips and knees walk to the right on shelves. They pass through each other. Their measures are those
/// of Gymnasium's `BipedalWalker`.
pub(super) fn walkers(bodies: usize, random: &mut Random) -> Pieces {
    const LEG: Vec2 = Vec2::new(4.0 / 30.0, 17.0 / 30.0);
    const HIP: f32 = -8.0 / 30.0;
    const PITCH: Vec2 = Vec2::new(4.0, 7.0);
    /// The way that the first one can go, m.
    const WAY: f32 = 40.0;
    let material = Material::new(1.0, 2.5, 0.0);
    let filter = Filter { category: 2, mask: 1, group: 0 };
    let count = (bodies / 5).max(1);
    let columns = count.isqrt();
    let mut scene = Pieces::default();
    let floors = count.div_ceil(columns);
    let half = 0.5 * (columns as f32 * PITCH.x + WAY);
    for row in 0..floors {
        let floor = row as f32 * PITCH.y;
        let middle = Vec2::new(0.5 * WAY, floor - 0.5);
        scene.bodies.push(wall(half, 0.5, middle, material));
        let end = middle + Vec2::new(half + 0.5, 2.0);
        scene.bodies.push(wall(0.5, 2.5, end, material));
    }
    let torso = [(-30.0, 9.0), (6.0, 9.0), (34.0, 1.0), (34.0, -8.0), (-30.0, -8.0)];
    let torso = torso.map(|(x, y): (f32, f32)| Vec2::new(x, y) / 30.0);
    let Ok((torso, centre)) = Polygon::new(&torso) else { return scene };
    let mut list = Vec::with_capacity(count);
    for foot in places(count, columns, PITCH) {
        let first_body = scene.bodies.len();
        // The height of the straight legs and the hips, and a little more.
        let middle = foot + Vec2::new(0.0, 4.0 * LEG.y - HIP + 0.03);
        let heavy = Material { density: 5.0, ..material };
        let push = Vec2::new(random.between(0.0, 0.5), 0.0);
        let torso =
            BodyDesc { filter, velocity: push, ..body(Shape::Polygon(torso), middle + centre, heavy) };
        let hip = Vec2::new(0.0, HIP);
        let first_joint = scene.joints.len();
        scene.bodies.push(torso);
        for angle in [-0.05, 0.05] {
            let upper = scene.bodies.len();
            let thigh = middle + hip - turned(angle, Vec2::new(0.0, LEG.y));
            let knee = middle + hip - turned(angle, Vec2::new(0.0, 2.0 * LEG.y));
            let bent = angle - 0.15;
            let shin = knee - turned(bent, Vec2::new(0.0, LEG.y));
            let leg = |half_width: f32, place: Vec2, angle: f32| {
                let shape = Shape::oriented_box(half_width, LEG.y);
                BodyDesc { filter, angle, velocity: push, ..body(shape, place, material) }
            };
            scene.bodies.push(leg(LEG.x, thigh, angle));
            scene.bodies.push(leg(0.8 * LEG.x, shin, bent));
            let (top, bottom) = (Vec2::new(0.0, LEG.y), Vec2::new(0.0, -LEG.y));
            let at_hip = JointDesc::revolute(first_body, upper, hip - centre, top);
            scene.joints.push(at_hip.with_limit(-0.8, 1.1).with_motor(0.0, TORQUE));
            let at_knee = JointDesc::revolute(upper, upper + 1, bottom, top);
            scene.joints.push(at_knee.with_limit(-1.6, -0.1).with_motor(0.0, TORQUE));
        }
        list.push(Walker { first_body, first_joint, floor: foot.y });
    }
    scene.script = Some(Script::Walk(list));
    scene
}

/// Curtains of strips of ten planks, hinged and welded in turn. Balls fly into them from the left, one for each strip. Hinges and welds
/// break under the blows. Hinges have friction, and planks a little damping, so that what is left comes to rest. (With friction alone a strip whose
/// hinges hold sways on its welds by a centimetre for minutes.)
pub(super) fn hinges(bodies: usize, random: &mut Random) -> Pieces {
    const STRIPS: usize = 20;
    const PITCH: f32 = 0.8;
    const HEIGHT: f32 = 9.0;
    const RADIUS: f32 = 0.3;
    let material = Material::new(1.0, 0.5, 0.1);
    let count = (bodies / (PLANKS + 1)).max(1);
    let length = count.min(STRIPS);
    let mut scene = Pieces::default();
    for first in (0..count).step_by(length) {
        let strips = length.min(count - first);
        let floor = (first / length) as f32 * HEIGHT;
        let beam = scene.bodies.len();
        let top = floor + 7.0;
        let half = 0.5 * length as f32 * PITCH;
        scene.bodies.push(wall(half, 0.1, Vec2::new(0.0, top), material));
        scene.bodies.push(wall(half + 8.0, 0.5, Vec2::new(0.0, floor - 0.5), material));
        for side in [-1.0, 1.0] {
            scene.bodies.push(wall(0.5, 4.5, Vec2::new(side * (half + 8.5), floor + 3.5), material));
        }
        for strip in 0..strips {
            hang_planks(&mut scene, beam, Vec2::new(centred(strip, length, PITCH), top), material);
        }
        for (column, row) in grid(strips, 5) {
            let place = Vec2::new(-half - 2.0 - row as f32, floor + 2.0 + column as f32);
            let velocity = Vec2::new(random.between(10.0, 15.0), random.between(2.0, 4.0));
            let ball = Material { density: 4.0, ..material };
            scene.bodies.push(BodyDesc { velocity, ..body(Shape::circle(RADIUS), place, ball) });
        }
    }
    scene
}

/// The planks of a strip of `hinges`.
const PLANKS: usize = 10;

/// Hangs a strip of planks from a beam, whose middle is at x = 0, below a point of it.
fn hang_planks(scene: &mut Pieces, beam: usize, from: Vec2, material: Material) {
    const HALF: Vec2 = Vec2::new(0.25, 0.06);
    const FORCE: f32 = 150.0;
    const TORQUE: f32 = 4.0;
    /// N·m for each plank that hangs on a hinge. The weight of one plank has 0.15 N·m about its end.
    const FRICTION: f32 = 0.02;
    /// 1/s.
    const DAMPING: f32 = 0.3;
    for plank in 0..PLANKS {
        let place = Vec2::new(from.x, from.y - 0.1 - HALF.x * (2 * plank + 1) as f32 - 0.01);
        let here = scene.bodies.len();
        let shape = Shape::oriented_box(HALF.x, HALF.y);
        // The plank's x axis points down.
        let desc = BodyDesc { angle: -FRAC_PI_2, angular_damping: DAMPING, ..body(shape, place, material) };
        scene.bodies.push(desc);
        let (upper, lower) = (Vec2::new(-HALF.x, 0.0), Vec2::new(HALF.x, 0.0));
        let friction = FRICTION * (PLANKS - plank) as f32;
        let mut joint: Joint = match plank {
            0 => JointDesc::revolute(beam, here, Vec2::new(from.x, -0.11), upper).with_motor(0.0, friction),
            _ if plank % 2 == 0 => {
                JointDesc::revolute(here - 1, here, lower, upper).with_motor(0.0, friction)
            }
            _ => JointDesc::weld(here - 1, here, lower, upper),
        };
        (joint.break_force, joint.break_torque) = (FORCE, TORQUE);
        scene.joints.push(joint);
    }
}

fn turned(angle: f32, vector: Vec2) -> Vec2 {
    let (sin, cos) = sin_cos(angle);
    Vec2::new(cos, sin).rotate(vector)
}
