//! Contract: bytes that are no sound snapshot are refused, whatever they are, and change nothing.

use super::{assert_same, saved};
use granule::{
    Assembly, BodyDesc, BodyHandle, Error, LinkDesc, Part, Settings, Shape, Vec2, World, reseal_snapshot,
    scene,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn small(name: &str, steps: u32) -> World {
    let mut world = scene::builtin(name, 12, 1).unwrap().build().unwrap();
    (0..steps).for_each(|_| world.step());
    world
}

/// A snapshot that is cut off anywhere, or of which any bit is another, is refused. The world stays as it was.
#[test]
fn altered_snapshots_are_refused() {
    let mut world = small("ragdolls", 20);
    let snapshot = saved(&small("pile", 30));
    let before = saved(&world);
    for len in 0..snapshot.len() {
        assert!(matches!(world.restore(&snapshot[..len]), Err(Error::Snapshot { .. })), "{len} bytes");
    }
    for bit in (0..8 * snapshot.len()).step_by(37) {
        let mut altered = snapshot.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        assert!(world.restore(&altered).is_err(), "bit {bit}");
    }
    let mut longer = snapshot.clone();
    longer.push(0);
    assert!(world.restore(&longer).is_err());
    assert!(world.restore(b"something else that is as long as a header").is_err());
    assert_same(&saved(&world), &before, "refused");
    world.restore(&snapshot).unwrap();
    assert_same(&saved(&world), &snapshot, "taken");
}

/// Three particles in a row of links, of which one breaks in the first step.
fn linked() -> (World, [BodyHandle; 3]) {
    let mut world = World::new(Settings::default()).unwrap();
    let at = |x: f32| BodyDesc::particle(Vec2::new(x, 0.0), 1.0);
    let bodies = [at(0.0).pinned(), at(1.0), at(4.0)].map(|body| world.add_body(&body).unwrap());
    world.add_link(&LinkDesc::distance(bodies[0], bodies[1], 1.0)).unwrap();
    let weak = LinkDesc { break_force: 1.0, ..LinkDesc::distance(bodies[1], bodies[2], 1.0) };
    world.add_link(&LinkDesc { compliance: 1e-6, ..weak }).unwrap();
    (world, bodies)
}

/// A snapshot of which any byte is another, checksum and all, is refused or makes a world that steps, from which any body can be
/// removed. Links may be pending, in their blocks, or broken.
#[test]
fn made_up_links_do_no_harm() {
    let (pending, bodies) = linked();
    let mut broken = pending.clone();
    broken.step();
    assert_eq!(broken.link_count(), 1);
    let mut built = broken.clone();
    built.add_link(&LinkDesc::distance(bodies[1], bodies[2], 2.0)).unwrap();
    built.step();
    let mut taken = 0u32;
    for (name, world) in [("pending", pending), ("built", built), ("broken", broken)] {
        let snapshot = saved(&world);
        for (at, value) in (32..snapshot.len()).flat_map(|at| [0, 1, 0xFF].map(|value| (at, value))) {
            let mut altered = snapshot.clone();
            altered[at] = value;
            reseal_snapshot(&mut altered);
            for steps in 0..2 {
                let run = AssertUnwindSafe(|| {
                    let Ok(mut world) = World::from_snapshot(&altered) else { return 0u32 };
                    (0..steps).for_each(|_| world.step());
                    for body in bodies {
                        let _ = world.remove_body(body);
                        world.step();
                    }
                    1
                });
                taken += catch_unwind(run).unwrap_or_else(|_| panic!("{name}: byte {at} is {value}"));
            }
        }
    }
    assert!(taken > 1_000, "{taken} taken");
}

/// A snapshot of a list with vacant slots, of which a byte or a word is another, checksum and all, is refused or makes a world that steps,
/// for as long as the list lives and beyond. (A velocity moved a vacant slot, until it had gone bad and was taken for a body.)
#[test]
fn made_up_lists_do_no_harm() {
    let mut world = World::new(Settings::default()).unwrap();
    for x in [0.0, 1.0, 2.0, 3.0] {
        let circle = BodyDesc::dynamic(Shape::circle(0.4), Vec2::new(x, 0.0));
        world.add_body(&BodyDesc { velocity: 0.01 * Vec2::new(x, 2.0 + x), ..circle }).unwrap();
        world.step();
    }
    let snapshot = saved(&world);
    let mut taken = 0u32;
    let fast = 9.0e7f32.to_le_bytes();
    let values: [&[u8]; 4] = [&[0], &[1], &fast, &[0xFF; 4]];
    for (at, value) in (32..snapshot.len() - 4).flat_map(|at| values.map(|value| (at, value))) {
        let mut altered = snapshot.clone();
        altered[at..at + value.len()].copy_from_slice(value);
        reseal_snapshot(&mut altered);
        let run = AssertUnwindSafe(|| {
            let Ok(mut world) = World::from_snapshot(&altered) else { return 0u32 };
            (0..20).for_each(|_| world.step());
            world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::ZERO)).unwrap();
            world.step();
            1
        });
        taken += catch_unwind(run).unwrap_or_else(|_| panic!("{value:?} from byte {at} on"));
    }
    assert!(taken > 1_000, "{taken} taken");
}

/// Contract: a snapshot of a soft box that lands, of which a byte was altered, is refused or does no harm.
#[test]
fn made_up_hulls_do_no_harm() {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let soft = Assembly::soft_box(Vec2::new(0.0, 0.62), Vec2::splat(1.0), 0.1, 1.0, 0.0);
    for corner in world.add_assembly(&soft).unwrap() {
        world.set_velocity(corner, Vec2::new(0.0, -20.0)).unwrap();
    }
    let snapshot = saved(&world);
    let mut taken = 0u32;
    for (at, value) in (32..snapshot.len()).flat_map(|at| [0, 1, 2, 3].map(|value| (at, value))) {
        let mut altered = snapshot.clone();
        altered[at] = value;
        reseal_snapshot(&mut altered);
        let run = AssertUnwindSafe(|| {
            let Ok(mut world) = World::from_snapshot(&altered) else { return 0u32 };
            (0..3).for_each(|_| world.step());
            1
        });
        taken += catch_unwind(run).unwrap_or_else(|_| panic!("byte {at} is {value}"));
    }
    assert!(taken > 1_000, "{taken} taken");
}

/// Contract: a snapshot of a world from which bodies were removed that its contacts still name, of which a byte was altered, is refused or does no
/// harm: a compound, and a box on it. (With another outline of the removed compound, `contacts` panicked.)
#[test]
fn made_up_removals_do_no_harm() {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let mut add = |shape, y| world.add_body(&BodyDesc::dynamic(shape, Vec2::new(0.0, y))).unwrap();
    let [compound, carried, other] = [
        (Shape::oriented_box(0.5, 0.1), 0.1),
        (Shape::oriented_box(0.2, 0.1), 0.3),
        (Shape::circle(0.1), 0.5),
    ]
    .map(|(shape, y)| add(shape, y));
    world.add_part(compound, &Part::new(Shape::circle(0.1), Vec2::new(0.5, 0.0))).unwrap();
    (0..5).for_each(|_| world.step());
    assert!(world.contacts_of(compound).unwrap().count() > 0);
    [compound, carried].into_iter().for_each(|body| world.remove_body(body).unwrap());
    let snapshot = saved(&world);
    let mut taken = 0u32;
    for (at, value) in (32..snapshot.len()).flat_map(|at| [0, 1, 0xFF].map(|value| (at, value))) {
        let mut altered = snapshot.clone();
        altered[at] = value;
        reseal_snapshot(&mut altered);
        let run = AssertUnwindSafe(|| {
            let Ok(mut world) = World::from_snapshot(&altered) else { return 0u32 };
            let _ = world.contacts().count();
            (0..3).for_each(|_| world.step());
            let _ = world.remove_body(other);
            world.step();
            1
        });
        taken += catch_unwind(run).unwrap_or_else(|_| panic!("byte {at} is {value}"));
    }
    assert!(taken > 1_000, "{taken} taken");
}
