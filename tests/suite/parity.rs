//! Contract: the state after N steps is the same, bit for bit, on every instruction set and thread count. Where two
//! runs differ, the first difference is named.
#![cfg(feature = "parallel")]

use granule::scene::{self, Player};
use granule::verify::{Fault, Side, side_by_side};
use granule::{BodyDesc, Isa, Settings, Shape, Solver, Stage, Vec2, World};
use rayon::{ThreadPool, ThreadPoolBuilder};

const BODIES: usize = 2_000;
const STEPS: usize = 200;
const THREADS: [usize; 4] = [1, 2, 3, 8];

fn build(name: &str, isa: Isa, solver: Solver) -> World {
    start(name, isa, solver).0
}

/// The world of a scene, and what plays the scene's script.
fn start(name: &str, isa: Isa, solver: Solver) -> (World, Player) {
    let scene = scene::builtin(name, BODIES, 7).unwrap();
    let mut world = scene.build().unwrap();
    let settings = Settings { isa, ..*world.settings() };
    let settings = match solver {
        Solver::Soft => settings,
        Solver::Projection => {
            let Settings { solver, substeps, iterations, .. } = Settings::projection();
            Settings { solver, substeps, iterations, ..settings }
        }
    };
    world.set_settings(settings).unwrap();
    let player = Player::new(&scene, &world);
    (world, player)
}

/// A pool of `threads` threads. All of them take part, even on a machine with fewer cores.
fn pool(threads: usize) -> ThreadPool {
    granule::set_oversubscribe(true);
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Steps the scene in two configurations side by side, and says where they first differ.
fn where_they_part(name: &str, solver: Solver, isa: Isa, threads: usize) -> String {
    let (mut reference, mut player_a) = start(name, Isa::Scalar, solver);
    let (mut other, mut player_b) = start(name, isa, solver);
    let pool = pool(threads);
    let outcome = side_by_side(&mut reference, &mut other, STEPS as u64, None, |side, world| match side {
        Side::A => player_a.step(world),
        Side::B => pool.install(|| player_b.step(world)),
    });
    outcome.map_or_else(|divergence| divergence.to_string(), |_| "nowhere, on a second run".into())
}

/// Checks that one scene has one hash on every instruction set and thread count.
fn check(name: &str, solver: Solver) {
    let (mut reference, mut player) = start(name, Isa::Scalar, solver);
    let first = reference.state_hash();
    for _ in 0..STEPS {
        player.step(&mut reference);
    }
    let expected = reference.state_hash();
    assert_ne!(first, expected, "{name}: nothing happened");
    assert!(reference.quarantined().is_empty());
    for threads in THREADS {
        let pool = pool(threads);
        for isa in Isa::available() {
            let (mut world, mut player) = start(name, isa, solver);
            assert_eq!(world.state_hash(), first, "{name}: built differently with {isa}");
            pool.install(|| (0..STEPS).for_each(|_| player.step(&mut world)));
            assert!(
                world.state_hash() == expected,
                "{name}, {solver:?}: {isa} and {threads} threads part from the scalar path at {}",
                where_they_part(name, solver, isa, threads)
            );
        }
    }
}

/// Small scenes give one result on one thread and on four. The steps are few enough for a checker of data races.
#[test]
fn small_scenes_on_four_threads() {
    let pool = pool(4);
    for name in ["packed", "junkyard", "mixed_shapes", "soft_boxes", "cloth", "joint_grid", "cars"] {
        let [alone, shared] = [false, true].map(|shared| {
            let mut world = scene::builtin(name, 1_000, 7).unwrap().build().unwrap();
            let mut run = || (0..6).for_each(|_| world.step());
            if shared {
                pool.install(run)
            } else {
                run()
            }
            world.state_hash()
        });
        assert_eq!(alone, shared, "{name}");
    }
}

macro_rules! one_result {
    ($($test:ident: $scene:literal, $solver:ident;)*) => {
        $(
            /// One hash on every instruction set and threads 1, 2, 3, 8.
            #[test]
            fn $test() {
                check($scene, Solver::$solver);
            }
        )*

        /// Every built-in scene has its test above.
        #[test]
        fn every_built_in_scene_is_checked() {
            let checked = [$($scene),*];
            for scene in scene::BUILTIN {
                let name = scene.name;
                assert!(checked.contains(&name), "{name} has no parity test");
            }
        }
    };
}

one_result! {
    pile: "pile", Soft;
    pile_projection: "pile", Projection;
    pile_circles: "pile_circles", Soft;
    collapsing: "collapsing", Soft;
    packed: "packed", Soft;
    packed_projection: "packed", Projection;
    pyramid: "pyramid", Soft;
    pyramid_projection: "pyramid", Projection;
    gas: "gas", Soft;
    galton: "galton", Soft;
    slope: "slope", Soft;
    ropes: "ropes", Soft;
    ropes_projection: "ropes", Projection;
    cloth: "cloth", Soft;
    ragdolls: "ragdolls", Soft;
    soft_boxes: "soft_boxes", Soft;
    grains: "grains", Soft;
    bridge: "bridge", Soft;
    large_pyramid: "large_pyramid", Soft;
    many_pyramids: "many_pyramids", Soft;
    washer: "washer", Soft;
    tumbler: "tumbler", Soft;
    junkyard: "junkyard", Soft;
    dominoes: "dominoes", Soft;
    arch: "arch", Soft;
    card_house: "card_house", Soft;
    mixed_shapes: "mixed_shapes", Soft;
    joint_grid: "joint_grid", Soft;
    joint_grid_projection: "joint_grid", Projection;
    rain: "rain", Soft;
    ball_and_chain: "ball_and_chain", Soft;
    cars: "cars", Soft;
    walkers: "walkers", Soft;
    mill: "mill", Soft;
    hinges: "hinges", Soft;
    gears: "gears", Soft;
    smash: "smash", Soft;
}

/// The scenes in which bodies sleep and wake all the time have one hash, too.
#[test]
fn sleep_has_one_result() {
    for name in ["smash", "dominoes", "rain", "card_house", "many_pyramids"] {
        let start = |isa: Isa| {
            let (mut world, player) = start(name, isa, Solver::Soft);
            world.set_settings(Settings { sleep: true, ..*world.settings() }).unwrap();
            (world, player)
        };
        let run = |isa: Isa| {
            let (mut world, mut player) = start(isa);
            let mut events = Vec::new();
            for _ in 0..STEPS {
                player.step(&mut world);
                events.push((world.sleep_events().to_vec(), world.wake_events().to_vec()));
            }
            (world.state_hash(), events)
        };
        let (hash, events) = run(Isa::Scalar);
        assert!(events.iter().any(|(asleep, _)| !asleep.is_empty()), "{name}: nobody sleeps");
        for threads in [1, 3] {
            let pool = pool(threads);
            for isa in Isa::available() {
                assert!(
                    pool.install(|| run(isa)) == (hash, events.clone()),
                    "{name}: {isa}, {threads} threads"
                );
            }
        }
    }
}

/// The instruction set may change from step to step without a change of the state.
#[test]
fn sets_can_change_on_the_way() {
    let mut reference = build("pile", Isa::Scalar, Solver::Soft);
    let mut mixed = build("pile", Isa::Scalar, Solver::Soft);
    for (step, isa) in Isa::available().cycle().take(60).enumerate() {
        reference.step();
        mixed.set_isa(isa).unwrap();
        mixed.step();
        assert_eq!(reference.state_hash(), mixed.state_hash(), "step {step}");
    }
}

/// Another seed gives another hash: the hash depends on the state.
#[test]
fn hash_tells_scenes_apart() {
    let hash = |seed| {
        let mut world = scene::builtin("pile", 500, seed).unwrap().build().unwrap();
        (0..10).for_each(|_| world.step());
        world.state_hash()
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

/// A planted difference is named by step, stage, body and ULPs, whatever its stage and step.
#[test]
fn a_planted_difference_is_named() {
    for stage in Stage::ALL {
        for (step, ulps) in [(1, 1), (40, 5), (41, -2)] {
            let mut a = build("packed", Isa::Scalar, Solver::Soft);
            let mut b = build("packed", Isa::Auto, Solver::Soft);
            let body = a.handles().nth(1_000).unwrap();
            let fault = Fault { step, stage, body, ulps };
            let outcome = side_by_side(&mut a, &mut b, 60, Some(fault), |_, world| world.step());
            let found = outcome.expect_err("the planted difference is not seen");
            assert_eq!(found.step, step, "{found}");
            let difference = found.difference.as_ref().expect("a stage and a body");
            assert_eq!(difference.stage, stage, "{found}");
            assert_eq!(difference.body, body, "{found}");
            assert_eq!(difference.ulps, u64::from(ulps.unsigned_abs()), "{found}");
            let text = found.to_string();
            for part in [format!("step {step}"), stage.to_string(), body.index().to_string(), "ULP".into()] {
                assert!(text.contains(&part), "{text} does not say {part}");
            }
        }
    }
}

/// Without a planted difference, the same comparison finds none and returns the hash of both runs.
#[test]
fn equal_runs_are_the_same_to_the_end() {
    let mut a = build("packed", Isa::Scalar, Solver::Soft);
    let mut b = build("packed", Isa::Auto, Solver::Soft);
    let hash = side_by_side(&mut a, &mut b, 60, None, |_, world| world.step()).unwrap();
    assert_eq!(hash, a.state_hash());
    assert_eq!(hash, b.state_hash());
}

/// Two equal worlds have no difference, also before their first step and when bodies were added since the last one.
#[test]
fn equal_worlds_have_no_difference() {
    let mut worlds = [Isa::Scalar, Isa::Auto]
        .map(|isa| World::new(Settings { isa, ..Settings::default() }).expect("default settings"));
    for round in 0..3 {
        for world in &mut worlds {
            for place in 0..20 {
                let at = Vec2::new(place as f32, round as f32);
                world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), at)).expect("a valid body");
            }
        }
        let [one, two] = &worlds;
        assert_eq!(one.first_difference(two), None, "round {round}");
        worlds.iter_mut().for_each(World::step);
        let [one, two] = &worlds;
        assert_eq!(one.first_difference(two), None, "round {round}, after the step");
    }
}
