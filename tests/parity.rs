//! One result: the state after N steps is the same, bit for bit, at every lane width and thread count;
//! and where two runs do differ, the first difference is named.
#![cfg(all(feature = "scene", feature = "parallel"))]

use granule::{Lanes, Settings, Solver, Stage, World, scene};
use rayon::{ThreadPool, ThreadPoolBuilder};

const BODIES: usize = 2_000;
const STEPS: usize = 200;
const THREADS: [usize; 4] = [1, 2, 3, 8];

fn build(name: &str, lanes: Lanes, solver: Solver) -> World {
    let scene = scene::builtin(name, BODIES, 7).unwrap();
    let mut world = scene.build().unwrap();
    let settings = Settings { lanes, ..*world.settings() };
    let settings = match solver {
        Solver::Soft => settings,
        Solver::Projection => {
            let Settings { solver, substeps, iterations, .. } = Settings::projection();
            Settings { solver, substeps, iterations, ..settings }
        }
    };
    world.set_settings(settings).unwrap();
    world
}

/// A pool of `threads`, all of which take part even on a machine of fewer cores.
fn pool(threads: usize) -> ThreadPool {
    granule::set_oversubscribe(true);
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Steps the scene in two configurations side by side, to say where they part.
fn where_they_part(name: &str, solver: Solver, lanes: Lanes, threads: usize) -> String {
    let mut reference = build(name, Lanes::One, solver);
    let mut other = build(name, lanes, solver);
    let pool = pool(threads);
    for step in 0..STEPS {
        reference.step();
        pool.install(|| other.step());
        if let Some(difference) = reference.first_difference(&other) {
            return format!("step {step}: {difference}");
        }
        if reference.state_hash() != other.state_hash() {
            return format!("step {step}: the hashes differ, and first_difference names nothing");
        }
    }
    "nowhere, on a second run".into()
}

/// Holds one scene to one hash over every lane width and thread count.
fn check(name: &str, solver: Solver) {
    let mut reference = build(name, Lanes::One, solver);
    let start = reference.state_hash();
    for _ in 0..STEPS {
        reference.step();
    }
    let expected = reference.state_hash();
    assert_ne!(start, expected, "{name}: nothing happened");
    assert!(reference.quarantined().is_empty());
    for threads in THREADS {
        let pool = pool(threads);
        for lanes in Lanes::ALL {
            let mut world = build(name, lanes, solver);
            assert_eq!(world.state_hash(), start, "{name}: built differently at lanes {}", lanes.width());
            pool.install(|| (0..STEPS).for_each(|_| world.step()));
            assert!(
                world.state_hash() == expected,
                "{name}, {solver:?}: lanes {} and {threads} threads part from the scalar path at {}",
                lanes.width(),
                where_they_part(name, solver, lanes, threads)
            );
        }
    }
}

macro_rules! one_result {
    ($($test:ident: $scene:literal, $solver:ident;)*) => {
        $(
            /// One hash at lanes 1, 4, 8, 16 and threads 1, 2, 3, 8.
            #[test]
            fn $test() {
                check($scene, Solver::$solver);
            }
        )*

        /// Every built-in scene has its test above.
        #[test]
        fn every_built_in_scene_is_checked() {
            let checked = [$($scene),*];
            for name in scene::BUILTIN {
                assert!(checked.contains(&name), "{name} has no parity test");
            }
        }
    };
}

one_result! {
    pile: "pile", Soft;
    pile_projection: "pile", Projection;
    pile_circles: "pile_circles", Soft;
    packed: "packed", Soft;
    packed_projection: "packed", Projection;
    pyramid: "pyramid", Soft;
    pyramid_projection: "pyramid", Projection;
    gas: "gas", Soft;
    galton: "galton", Soft;
    slope: "slope", Soft;
}

/// The lane width may change from step to step: the state goes on as if it had not.
#[test]
fn lanes_can_change_on_the_way() {
    let mut reference = build("pile", Lanes::One, Solver::Soft);
    let mut mixed = build("pile", Lanes::One, Solver::Soft);
    for step in 0..60 {
        reference.step();
        mixed.set_lanes(Lanes::ALL[step % 4]);
        mixed.step();
        assert_eq!(reference.state_hash(), mixed.state_hash(), "step {step}");
    }
}

/// Another seed, another result: the hash sees the state.
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

/// Two equal worlds have no first difference.
#[test]
fn equal_worlds_have_no_difference() {
    let mut a = build("pile", Lanes::One, Solver::Soft);
    let mut b = build("pile", Lanes::Sixteen, Solver::Soft);
    for _ in 0..30 {
        a.step();
        b.step();
        assert!(a.first_difference(&b).is_none());
    }
}

/// A planted difference is named with its stage, body and ULPs in the very step it was planted in.
#[test]
fn a_planted_difference_is_named() {
    for stage in [Stage::Bounds, Stage::Broadphase, Stage::Narrowphase, Stage::Contacts, Stage::Solver] {
        for (planted_at, ulps) in [(3, 1), (40, 5), (40, -2)] {
            let mut a = build("packed", Lanes::One, Solver::Soft);
            let mut b = build("packed", Lanes::Eight, Solver::Soft);
            let body = a.handles().nth(1_000).unwrap();
            for step in 0..planted_at {
                a.step();
                b.step();
                assert!(a.first_difference(&b).is_none(), "{stage} step {step}");
            }
            b.plant_fault(stage, body, ulps);
            a.step();
            b.step();
            let found =
                a.first_difference(&b).unwrap_or_else(|| panic!("{stage}: the planted fault is not seen"));
            assert_eq!(found.stage.to_string(), stage.to_string(), "{found}");
            assert_eq!(found.body, body, "{found}");
            assert_eq!(found.ulps, u64::from(i32::unsigned_abs(ulps)), "{found}");
            assert_ne!(found.a.to_bits(), found.b.to_bits(), "{found}");
            let text = found.to_string();
            assert!(text.contains(&stage.to_string()) && text.contains(found.field), "{text}");
        }
    }
}
