//! Helpers that the tests of physics share.

use granule::{BodyHandle, BodyState, Settings, Vec2, World};

pub fn world(settings: Settings) -> World {
    World::new(settings).unwrap()
}

/// The given settings without gravity.
pub fn weightless(settings: Settings) -> Settings {
    Settings { gravity: Vec2::ZERO, ..settings }
}

pub fn steps(world: &mut World, count: u32) {
    for _ in 0..count {
        world.step();
    }
}

pub fn state(world: &World, body: BodyHandle) -> BodyState {
    world.body(body).unwrap()
}
