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

/// The number of cases of a property test: that of the environment variable `PROPTEST_CASES`, if it is set.
pub fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}
