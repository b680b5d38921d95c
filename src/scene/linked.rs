//! The built-in scenes of particles and links. They have about the requested number of particles: whole ropes, figures
//! and boxes, at least one. Static bodies come first, then other bodies, then particles; attachments come after links,
//! as in a scene file.

use super::pieces::{body, centred, grid, push_box, wall};
use super::random::Random;
use crate::{Assembly, BodyDesc, Cloth, LinkDesc, Material, Shape};
use glam::Vec2;

/// Ropes of 20 links side by side, pinned at the top, each with a crate at its end. They start at an angle and swing
/// into their neighbours' crates.
pub(super) fn ropes(particles: usize, random: &mut Random) -> Assembly {
    const SEGMENTS: usize = 20;
    let count = (particles / (SEGMENTS + 1)).max(1);
    let mut scene = Assembly::default();
    let mut ropes = Vec::with_capacity(count);
    for index in 0..count {
        let top = Vec2::new(centred(index, count, 3.0), 12.0);
        let aslant = random.between(-0.5, 0.5);
        let end = top + Vec2::new(SEGMENTS as f32 * 0.3 * aslant, -(SEGMENTS as f32) * 0.25);
        scene.bodies.push(BodyDesc {
            material: Material::new(1.0, 0.5, 0.0),
            ..BodyDesc::dynamic(Shape::aabb(0.4, 0.3), end - Vec2::new(0.0, 0.35))
        });
        let mut rope = Assembly::rope(top, end, SEGMENTS, 0.2).grouped(index as u32 + 1);
        rope.bodies[0] = rope.bodies[0].pinned();
        ropes.push(rope);
    }
    for (index, rope) in ropes.into_iter().enumerate() {
        scene.bodies[index].filter.group = index as u32 + 1;
        scene.append(rope);
    }
    let last = |index: usize| count + index * (SEGMENTS + 1) + SEGMENTS;
    let hold = |index: usize| LinkDesc::attach(last(index), index, Vec2::new(0.0, 0.35));
    scene.links.extend((0..count).map(hold));
    scene
}

/// A square net of ⌊√n⌋ particles per side, pinned along its top row. It starts with a swing of 4 m/s at the lower
/// edge.
pub(super) fn cloth(particles: usize, _: &mut Random) -> Assembly {
    let side = particles.isqrt().max(1);
    let spacing = 0.25;
    let origin = Vec2::new(centred(0, side, spacing), side as f32 * spacing + 1.0);
    let net = Cloth { origin, columns: side, rows: side, spacing, ..Cloth::default() };
    let mut net = Assembly::cloth(&net).grouped(1);
    for (index, body) in net.bodies.iter_mut().enumerate().skip(side) {
        body.velocity.x = 4.0 * (index / side) as f32 / side as f32;
    }
    net
}

/// Ragdolls fall down a flight of stairs, in rows one above the other.
pub(super) fn ragdolls(particles: usize, random: &mut Random) -> Assembly {
    const STAIRS: usize = 24;
    // The friction of clothes on stone. With a friction of 0.5 and a restitution of 0.1 the heap kept creeping:
    // separating overlapping limbs stretches links, and stretched links add speed. The median figure of 50 moved by
    // 13 mm per second (40 s to 60 s, median of seeds 1 to 5); with the values here it moves by 3 mm per second. See
    // `ragdolls_calm_down` in tests/suite/verlet.rs.
    let material = Material::new(1.0, 0.8, 0.0);
    let mut scene = Assembly::default();
    for stair in 0..STAIRS {
        let height = (STAIRS - stair) as f32 * 0.5;
        let x = stair as f32 * 1.5;
        scene.bodies.push(wall(0.75, 0.5 * height, Vec2::new(x, 0.5 * height), material));
    }
    let width = STAIRS as f32 * 1.5;
    scene.bodies.push(wall(width, 0.5, Vec2::new(0.5 * width, -0.5), material));
    let left = Vec2::new(-1.25, 500.0);
    scene.bodies.push(wall(0.5, 500.0, left, material));
    scene.bodies.push(wall(0.5, 500.0, Vec2::new(1.5 * width + 0.5, 500.0), material));
    let dolls = (particles / 13).max(1);
    for (index, (column, row)) in grid(dolls, 8).enumerate() {
        let place = Vec2::new(0.7 + 2.0 * column as f32, 15.0 + 2.4 * row as f32);
        let shift = Vec2::new(random.between(-0.2, 0.2), 0.0);
        let mut doll = Assembly::ragdoll(place + shift, 1.0, 60.0).grouped(index as u32 + 1);
        for body in &mut doll.bodies {
            body.material = material;
            body.velocity = Vec2::new(random.between(0.0, 2.0), 0.0);
        }
        scene.append(doll);
    }
    scene
}

/// Boxes of four points fall into a pile.
pub(super) fn soft_boxes(particles: usize, random: &mut Random) -> Assembly {
    const CELL: f32 = 1.5;
    let material = Material::new(1.0, 0.5, 0.1);
    let boxes = (particles / 4).max(1);
    let columns = (2 * boxes).isqrt().max(1);
    let mut scene = Assembly::default();
    push_box(
        &mut scene.bodies,
        columns as f32 * CELL,
        boxes.div_ceil(columns) as f32 * CELL + 10.0,
        material,
    );
    for (index, (column, row)) in grid(boxes, columns).enumerate() {
        let place = Vec2::new(centred(column, columns, CELL), 1.0 + row as f32 * CELL);
        let turned = random.between(-0.5, 0.5);
        let mut soft =
            Assembly::soft_box(place, Vec2::splat(1.0), 0.05, 1.0, turned).grouped(index as u32 + 1);
        for body in &mut soft.bodies {
            body.material = material;
        }
        scene.append(soft);
    }
    scene
}

/// Free particles fall in a box: the grid of `collapsing`, a quarter of its size.
pub(super) fn grains(particles: usize, random: &mut Random) -> Assembly {
    const CELL: f32 = 0.25;
    let material = Material::new(1.0, 0.5, 0.0);
    let columns = (2 * particles).isqrt();
    let mut scene = Assembly::default();
    let height = particles.div_ceil(columns) as f32 * CELL + 10.0;
    push_box(&mut scene.bodies, columns as f32 * CELL, height, material);
    scene.bodies.extend(grid(particles, columns).map(|(column, row)| {
        let jitter = random.between(-0.005, 0.005);
        let place = Vec2::new(centred(column, columns, CELL) + jitter, (row as f32 + 0.5) * CELL);
        body(Shape::particle(random.between(0.08, 0.12)), place, material)
    }));
    scene
}

/// A rope bridge between two banks, and circles that fall on it. There are a fifth as many circles as the bridge has
/// particles.
pub(super) fn bridge(particles: usize, random: &mut Random) -> Assembly {
    const LENGTH: f32 = 0.3;
    let segments = particles.saturating_sub(1).max(1);
    let material = Material::new(1.0, 0.6, 0.0);
    let half = 0.5 * segments as f32 * LENGTH;
    let mut scene = Assembly::default();
    for side in [-1.0, 1.0] {
        scene.bodies.push(wall(5.0, 5.0, Vec2::new(side * (half + 5.0), -5.0), material));
    }
    let circles = particles / 5;
    let columns = (circles.isqrt() * 2).max(1);
    scene.bodies.extend(grid(circles, columns).map(|(column, row)| {
        let x = centred(column, columns, 1.0).clamp(-half, half) + random.between(-0.05, 0.05);
        let light = Material { density: 0.2, ..material };
        body(Shape::circle(random.between(0.25, 0.4)), Vec2::new(x, 1.0 + row as f32), light)
    }));
    let mut rope = Assembly::rope(Vec2::new(-half, 0.0), Vec2::new(half, 0.0), segments, 1.0).grouped(1);
    let last = rope.bodies.len() - 1;
    for body in &mut rope.bodies {
        (body.shape, body.material) = (Shape::particle(0.15), material);
    }
    rope.bodies[0] = rope.bodies[0].pinned();
    rope.bodies[last] = rope.bodies[last].pinned();
    scene.append(rope);
    scene
}
