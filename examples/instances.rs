//! Instanced drawing: fills a buffer, as a GPU reads it, with the poses of all bodies each frame. Draws nothing: prints a checksum and the rate.
//!
//! `cargo run --release --example instances [BODIES]`

use granule::{BodyDesc, Order, PoseField, Settings, Shape, Vec2, World};
use std::time::Instant;

/// What the shader reads of each body: x, y, cos, sin, and a colour that the host writes once.
const STRIDE: usize = 5;
const FIELDS: [PoseField; 4] = [PoseField::X, PoseField::Y, PoseField::Cos, PoseField::Sin];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse::<usize>())?;
    let mut world = World::new(Settings::default())?;
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    let columns = ((2 * count) as f32).sqrt() as usize + 1;
    let bodies: Vec<BodyDesc> = (0..count)
        .map(|i| {
            let at = Vec2::new(1.1 * (i % columns) as f32, 1.0 + 1.1 * (i / columns) as f32);
            let shape = if i % 2 == 0 { Shape::circle(0.5) } else { Shape::oriented_box(0.5, 0.4) };
            BodyDesc { tag: i as u64, ..BodyDesc::dynamic(shape, at) }
        })
        .collect();
    world.add_bodies(&bodies)?;

    // One row for each body, in the order in which they were added: so the colours stay with their bodies.
    let mut instances = vec![0.0f32; STRIDE * world.total_count()];
    for (row, body) in instances.chunks_exact_mut(STRIDE).zip(world.handles_in(Order::Added)) {
        row[STRIDE - 1] = (world.tag(body)? % 7) as f32;
    }
    let (mut written, mut seconds) = (0, 0.0);
    for _ in 0..120 {
        world.step();
        let start = Instant::now();
        written += world.write_poses(&mut instances, STRIDE, &FIELDS, Order::Added)?;
        seconds += start.elapsed().as_secs_f64();
    }
    let sum = instances.iter().fold(0u64, |sum, value| sum.rotate_left(5) ^ u64::from(value.to_bits()));
    println!("{} bodies, checksum {sum:016x}", world.total_count());
    println!(
        "{:.1} ns a body, {:.2} GB/s written",
        1e9 * seconds / written as f64,
        16e-9 * written as f64 / seconds
    );
    Ok(())
}
