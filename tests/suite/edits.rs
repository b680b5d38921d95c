//! Contract of edits: what a host changes of a body takes effect in the next step, as the formula says, and what it does not change stays.

mod asleep;
mod bulk;
mod cost;
mod fields;
mod machine;
mod motion;
mod parts;

use granule::{BodyDesc, BodyHandle, Isa, Settings, Shape, Vec2, World};

/// A world without gravity.
fn space() -> World {
    World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap()
}

/// A world with gravity of 10 m/s² and a floor at 0.
fn ground() -> World {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    world
}

fn ball(at: Vec2) -> BodyDesc {
    BodyDesc::dynamic(Shape::circle(0.5), at)
}

fn block(at: Vec2) -> BodyDesc {
    BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), at)
}

fn steps(world: &mut World, count: usize) {
    for _ in 0..count {
        world.step();
        world.validate().unwrap();
    }
}

fn position(world: &World, body: BodyHandle) -> Vec2 {
    world.body(body).unwrap().position
}

/// Runs the same on every instruction set, and holds that the results are the same, bit for bit.
fn on_every_set(run: impl Fn(&mut World) -> Vec<u64>) {
    let results: Vec<_> = Isa::available()
        .map(|isa| {
            let mut world = World::new(Settings { isa, ..Settings::default() }).unwrap();
            run(&mut world)
        })
        .collect();
    assert!(results.len() > 1 && results[0].len() > 1);
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
}
