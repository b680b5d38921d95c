//! Contract: what has come to rest falls asleep and costs nothing, and wakes as it fell asleep when anything changes.

mod beside;
mod graph;
mod hulls;
mod laws;
mod parted;
mod piles;
mod random;
mod stays;
mod wake;

use crate::common::{steps, world};
use granule::{BodyDesc, BodyHandle, Material, Settings, Shape, Vec2, World};

/// A world with a floor whose top is y = 0.
fn with_floor(settings: Settings) -> (World, BodyHandle) {
    let mut world = world(settings);
    let floor = world.add_body(&BodyDesc::fixed(Shape::oriented_box(50.0, 0.5), Vec2::new(0.0, -0.5)));
    (world, floor.unwrap())
}

fn add(world: &mut World, desc: BodyDesc) -> BodyHandle {
    world.add_body(&desc).unwrap()
}

/// A box of half a metre on a side, with its lower side at `height`.
fn crate_at(x: f32, height: f32) -> BodyDesc {
    BodyDesc::dynamic(Shape::oriented_box(0.25, 0.25), Vec2::new(x, height + 0.25))
}

/// Adds a stack of boxes.
fn stack(world: &mut World, x: f32, count: usize) -> Vec<BodyHandle> {
    (0..count).map(|level| add(world, crate_at(x, 0.5 * level as f32))).collect()
}

fn is_awake(world: &World, body: BodyHandle) -> bool {
    world.is_awake(body).unwrap()
}

/// Takes steps until all bodies sleep, at most so many. Returns how many.
fn until_asleep(world: &mut World, most: u32) -> u32 {
    for step in 0..most {
        world.step();
        world.validate().unwrap();
        if world.awake_count() == 0 {
            return step + 1;
        }
    }
    panic!("{} of {} awake after {most} steps", world.awake_count(), world.body_count());
}

fn rough() -> Material {
    Material { static_friction: 0.6, dynamic_friction: 0.5, ..Material::default() }
}
