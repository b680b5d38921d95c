//! Contract: snapshots and differences are small.

use super::{assert_same, saved};
use granule::scene;
use granule::{BodyDesc, Error, Settings, Shape, Vec2, World};

fn packed(bodies: usize, sleep: bool, steps: u32) -> World {
    let mut scene = scene::builtin("packed", bodies, 1).unwrap();
    scene.settings = Settings { sleep, ..scene.settings };
    let mut world = scene.build().unwrap();
    (0..steps).for_each(|_| world.step());
    world
}

/// Packed circles at rest, with three contacts each, take at most 160 bytes a body; all of it, with what is kept to wake them.
#[test]
fn a_resting_body_takes_few_bytes() {
    let world = packed(2_000, false, 300);
    let contacts = world.contacts().count() as f64 / 2_000.0;
    let bytes = saved(&world).len() as f64 / 2_000.0;
    println!("{bytes:.1} bytes a body with {contacts:.2} contacts");
    assert!(contacts > 2.7 && bytes <= 160.0, "{bytes:.1} bytes a body with {contacts:.2} contacts");
    let asleep = asleep();
    let contacts = asleep.contacts().count() as f64 / 2_000.0;
    let bytes = saved(&asleep).len() as f64 / 2_000.0;
    println!("asleep: {bytes:.1} bytes a body with {contacts:.2} contacts");
    assert!(contacts > 2.7 && bytes <= 160.0, "asleep: {bytes:.1} bytes a body with {contacts:.2} contacts");
}

fn asleep() -> World {
    let mut world = packed(2_000, true, 1);
    while world.awake_count() > 0 && world.step_count() < 3_000 {
        world.step();
    }
    assert_eq!(world.awake_count(), 0, "they do not come to rest");
    // The next step makes a pair list without them.
    world.step();
    world
}

/// A single body that goes its way far from thousands that sleep changes less than a twentieth of a snapshot in each step, those with a new pair
/// list among them.
#[test]
fn differences_stay_small_while_lists_change() {
    let mut world = asleep();
    let lone = BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(0.0, 500.0));
    let lone = BodyDesc { gravity_scale: 0.0, velocity: Vec2::X, sleep: false, ..lone };
    world.add_body(&lone).unwrap();
    (0..5).for_each(|_| world.step());
    let (mut base, mut difference) = (saved(&world), Vec::new());
    for step in 0..60 {
        world.step();
        world.diff(&base, &mut difference).unwrap();
        assert!(20 * difference.len() < base.len(), "step {step}: {} of {}", difference.len(), base.len());
        let mut other = World::from_snapshot(&base).unwrap();
        other.apply_diff(&base, &difference).unwrap();
        base = saved(&world);
        assert_same(&saved(&other), &base, "after the difference");
    }
}

/// Where most bodies sleep, what a step changes takes less than a twentieth of a snapshot; and the other side makes the same bytes of it.
#[test]
fn differences_are_small() {
    let mut world = asleep();
    world.add_body(&BodyDesc::dynamic(Shape::circle(0.4), Vec2::new(0.0, 200.0))).unwrap();
    (0..3).for_each(|_| world.step());
    let base = saved(&world);
    let mut other = World::from_snapshot(&base).unwrap();
    world.step();
    let mut difference = Vec::new();
    world.diff(&base, &mut difference).unwrap();
    let part = difference.len() as f64 / base.len() as f64;
    println!("{} of {} bytes: {:.2} %", difference.len(), base.len(), 100.0 * part);
    assert!(part < 0.05, "{} of {} bytes", difference.len(), base.len());
    other.apply_diff(&base, &difference).unwrap();
    assert_same(&saved(&other), &saved(&world), "after the difference");
    // Another base, and an altered difference.
    let after = saved(&world);
    assert!(matches!(other.apply_diff(&after, &difference), Err(Error::Snapshot { .. })));
    for at in (0..difference.len()).step_by(53) {
        let mut altered = difference.clone();
        altered[at] ^= 4;
        assert!(other.apply_diff(&base, &altered).is_err(), "byte {at}");
        assert!(other.apply_diff(&base, &difference[..at]).is_err(), "{at} bytes");
    }
    assert_same(&saved(&other), &after, "after what was refused");
}

/// Eight steps back and forth at 2,000 bodies end where the run without them ends.
#[test]
fn rollbacks_end_where_the_run_ends() {
    let scene = scene::builtin("collapsing", 2_000, 1).unwrap();
    let (mut world, mut plain) = (scene.build().unwrap(), scene.build().unwrap());
    let mut snapshots = vec![Vec::new(); 8];
    for step in 0..40 {
        world.save(&mut snapshots[step % 8]);
        world.step();
        plain.step();
        if step % 8 == 7 {
            world.restore(&snapshots[0]).unwrap();
            for snapshot in &mut snapshots {
                world.save(snapshot);
                world.step();
            }
        }
        assert_eq!(world.state_hash(), plain.state_hash(), "step {step}");
    }
}

/// Contract: a world takes its own snapshot, whatever it had before: here a heap of which two bodies are left, and a gas that met itself.
#[test]
fn what_is_gone_does_not_spoil_a_snapshot() {
    let weightless = || World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
    for (bodies, steps_before) in [(200, 4), (70, 12)] {
        let mut world = weightless();
        let circle = |i: usize| {
            let position = Vec2::new(0.1 * (i % 8) as f32, 0.1 * (i / 8) as f32);
            BodyDesc::dynamic(Shape::circle(0.3), position)
        };
        let heap: Vec<_> = (0..bodies).map(|i| world.add_body(&circle(i)).unwrap()).collect();
        (0..steps_before).for_each(|_| world.step());
        world.remove_bodies(&heap[2..]).unwrap();
        for step in 0..50 {
            world.step();
            assert_goes_on_from(&world, &format!("{bodies} bodies, step {step}"));
        }
    }
    let mut world = weightless();
    for i in 0..1_500_u32 {
        let unit = |salt: u32| (i.wrapping_mul(salt) >> 8) as f32 / (1 << 24) as f32 * 2.0 - 1.0;
        let position = 38.7 * Vec2::new(unit(2_654_435_761), unit(2_246_822_519));
        let velocity = 560.0 * Vec2::new(unit(3_266_489_917), unit(668_265_263));
        let circle = BodyDesc::dynamic(Shape::circle(0.3), position);
        world.add_body(&BodyDesc { velocity, ..circle }).unwrap();
    }
    for step in 0..30 {
        world.step();
        assert_goes_on_from(&world, &format!("gas, step {step}"));
    }
}

/// Asserts that what is restored from a world's snapshot has its state, and the same snapshot.
fn assert_goes_on_from(world: &World, what: &str) {
    let mut bytes = Vec::new();
    world.save(&mut bytes);
    let restored = World::from_snapshot(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(restored.state_hash(), world.state_hash(), "{what}");
    let mut again = Vec::new();
    restored.save(&mut again);
    assert!(bytes == again, "{what}: the restored world's snapshot is another one");
}

/// Bodies of all shapes at rest: scenes that all fall asleep, with the most bytes a body that they may take, contacts and all, awake and asleep. A body of
/// polygons or boxes that turn has two points a contact, and of those in these scenes 4 to 11 a body.
const RESTING: [(&str, [f64; 2]); 7] = [
    ("pile_circles", [140.0, 120.0]),
    ("pyramid", [110.0, 130.0]),
    ("many_pyramids", [350.0, 280.0]),
    ("mixed_shapes", [360.0, 215.0]),
    ("arch", [245.0, 170.0]),
    ("card_house", [325.0, 235.0]),
    ("grains", [92.0, 80.0]),
];

/// Resting bodies of all shapes take few bytes each; and once they sleep, a step in which one body goes its way beside them changes less than a
/// twentieth of a snapshot.
///
/// While they are awake it changes more, as their contacts' impulses never stand quite still: 12 % of the snapshot of `pyramid`, 21 of that of `packed`
/// and 41 of that of `card_house`.
#[test]
fn resting_shapes_take_few_bytes() {
    for (name, most) in RESTING {
        for (sleep, most) in [(false, most[0]), (true, most[1])] {
            let mut scene = scene::builtin(name, 1_000, 1).unwrap();
            scene.settings = Settings { sleep, ..scene.settings };
            let mut world = scene.build().unwrap();
            let steps = if sleep { 4_000 } else { 600 };
            while world.step_count() < steps && (!sleep || world.awake_count() > 0) {
                world.step();
            }
            assert_eq!(sleep, world.awake_count() == 0, "{name} does not come to rest");
            world.step();
            let count = (world.body_count() + world.particle_count()) as f64;
            let (bytes, contacts) =
                (saved(&world).len() as f64 / count, world.contacts().count() as f64 / count);
            println!("{name}, asleep {sleep}: {bytes:.1} bytes a body, {contacts:.2} points");
            assert!(bytes <= most, "{name}, asleep {sleep}: {bytes:.1} bytes a body, {contacts:.2} points");
            if !sleep {
                continue;
            }
            let lone = BodyDesc::dynamic(Shape::oriented_box(0.4, 0.3), Vec2::new(0.0, 900.0));
            world
                .add_body(&BodyDesc { velocity: Vec2::X, angular_velocity: 1.0, sleep: false, ..lone })
                .unwrap();
            (0..3).for_each(|_| world.step());
            let (mut base, mut difference) = (saved(&world), Vec::new());
            for step in 0..30 {
                world.step();
                world.diff(&base, &mut difference).unwrap();
                let part = difference.len() as f64 / base.len() as f64;
                assert!(part < 0.05, "{name}, step {step}: {:.2} % of {} bytes", 100.0 * part, base.len());
                let mut other = World::from_snapshot(&base).unwrap();
                other.apply_diff(&base, &difference).unwrap();
                base = saved(&world);
                assert_same(&saved(&other), &base, name);
            }
        }
    }
}
