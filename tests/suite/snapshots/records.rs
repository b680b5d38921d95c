//! Contract: what was recorded can be done again, with each step as it was; and all that changes a world is recorded.

use granule::scene::{self, Player};
use granule::{
    BodyDesc, BodyHandle, Error, HookUse, Hooks, Isa, Mismatch, Recording, Settings, Shape, Vec2, World,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What does nothing but call others that are recorded, or has no effect on results.
const NOT_RECORDED: [&str; 29] = [
    // Calls of others that are recorded.
    "remove_bodies",
    "remove_joints",
    "remove_links",
    "place_bodies",
    "apply_forces",
    "set_motors",
    "place_columns",
    "apply_force_columns",
    // Room, and what the host wants to be told.
    "reserve",
    "set_hit_events",
    "set_body_hit_events",
    "set_move_events",
    "set_body_move_events",
    "set_joint_force_events",
    "set_joint_force_threshold",
    "step",
    "advance",
    "set_gravity",
    "set_time_step",
    "set_isa",
    "apply_force_at",
    "enable_joint",
    "add_assembly",
    "joint_columns",
    "set_tracing",
    "plant_fault",
    "start_recording",
    "stop_recording",
    "apply_diff",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { sources(&entry, found) } else { found.push(entry) }
    }
}

/// Every public function that changes a world records itself before it does anything else, or is known to need no record.
#[test]
fn every_change_is_recorded() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let (mut recorded, mut missing) = (0, Vec::new());
    for text in files.iter().map(|file| std::fs::read_to_string(file).unwrap()) {
        for block in text.split("\nimpl World {").skip(1) {
            let block = block.split("\n}\n").next().unwrap();
            for function in block.split("\n    pub fn ").skip(1) {
                let name = function.split(['(', '<']).next().unwrap();
                let signature = function.split('{').next().unwrap();
                let body = function.split("\n    }\n").next().unwrap();
                if !signature.contains("&mut self") || NOT_RECORDED.contains(&name) {
                    continue;
                }
                recorded += 1;
                let records = ["record(||", "record_aside(||", "record_beside(||", "record_of(body, ||"];
                if !records.iter().any(|record| body.contains(&format!("self.{record}"))) {
                    missing.push(name.to_owned());
                }
            }
        }
    }
    assert!(recorded >= 35, "only {recorded} functions were found");
    assert!(missing.is_empty(), "{missing:?} change a world and are not recorded: see src/world/record.rs");
}

/// The recording of a scene with a script, as bytes, gives the same hash after every step with every instruction set and on several
/// threads; it is refused when it is cut off.
#[test]
fn recordings_are_done_again() {
    for (name, bodies) in [("rain", 66), ("walkers", 20), ("soft_boxes", 60), ("pile", 120)] {
        let scene = scene::builtin(name, bodies, 3).unwrap();
        let mut world = scene.build().unwrap();
        let mut player = Player::new(&scene, &world);
        (0..20).for_each(|_| player.step(&mut world));
        world.start_recording(1);
        (0..60).for_each(|_| player.step(&mut world));
        world.set_gravity(Vec2::new(1.0, -8.0)).unwrap();
        assert!(world.add_body(&BodyDesc::dynamic(Shape::circle(-1.0), Vec2::ZERO)).is_err());
        assert_eq!(world.advance(0.1).unwrap().steps, 6);
        let file = world.stop_recording().unwrap().to_bytes();
        assert!(world.stop_recording().is_none());
        for isa in Isa::available() {
            let replay = Recording::from_bytes(&file).unwrap().replay(isa).unwrap();
            assert_eq!((replay.steps, replay.checked, replay.mismatch), (66, 66, None), "{name}, {isa}");
            assert_eq!(replay.world.state_hash(), world.state_hash(), "{name}, {isa}");
        }
        for len in (0..file.len()).step_by(97) {
            assert!(matches!(Recording::from_bytes(&file[..len]), Err(Error::Snapshot { .. })));
        }
    }
}

/// A replay names the first step that differs: a fault is planted in the run that is recorded.
#[test]
fn the_first_difference_is_named() {
    let scene = scene::builtin("pile", 30, 1).unwrap();
    let mut world = scene.build().unwrap();
    world.start_recording(1);
    (0..10).for_each(|_| world.step());
    let body = world.columns().handle[4];
    world.plant_fault(granule::Stage::Solver, body, 1);
    world.step();
    let expected = world.state_hash();
    (0..5).for_each(|_| world.step());
    let replay = world.stop_recording().unwrap().replay(Isa::Auto).unwrap();
    let got = replay.world.state_hash();
    assert_eq!(replay.mismatch, Some(Mismatch { step: 11, expected, got }));
    assert_ne!(expected, got);
}

/// Contract: hooks that are set, taken away and set again while a world records decide from the same steps on when it is done again, in a
/// world that is large enough to find pairs ahead.
#[test]
fn hooks_that_come_and_go_are_done_again() {
    struct Picky;
    impl Hooks for Picky {
        fn uses(&self) -> HookUse {
            HookUse { may_touch: true, ..HookUse::NONE }
        }
        fn may_touch(&self, a: BodyHandle, b: BodyHandle) -> bool {
            !(7 * a.index() + b.index()).is_multiple_of(5)
        }
    }
    for seed in 1..=10u32 {
        let mut world = World::new(Settings::default()).unwrap();
        world.start_recording(1);
        let mut random = seed;
        let mut part = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        for _ in 0..400 {
            let at = Vec2::new(20.0 * part(), 20.0 * part());
            let velocity = Vec2::new(6.0 * part(), 6.0 * part());
            let body = BodyDesc::dynamic(Shape::circle(0.4), at);
            world.add_body(&BodyDesc { velocity, ..body }).unwrap();
        }
        (0..3).for_each(|_| world.step());
        for on in [true, false, true] {
            world.set_hooks(if on { Some(Arc::new(Picky)) } else { None });
            (0..3).for_each(|_| world.step());
        }
        let replay = world.stop_recording().unwrap().replay_hooked(Isa::Auto, Arc::new(Picky)).unwrap();
        assert_eq!((replay.mismatch, replay.steps), (None, 12), "seed {seed}");
    }
}
