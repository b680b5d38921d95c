//! Contract: what n edits take grows with n, in whichever order they come.

use super::space;
use granule::{BodyDesc, BodyHandle, Shape, Vec2, World};
use std::time::{Duration, Instant};

/// A world of so many static sensors, with a body in each, after a step.
fn sensors(count: usize) -> (World, Vec<BodyHandle>) {
    let mut world = space();
    let at = |i: usize| 1.5 * Vec2::new((i % 200) as f32, (i / 200) as f32);
    let gate = |i| BodyDesc { sensor: true, ..BodyDesc::fixed(Shape::circle(0.5), at(i)) };
    let gates = world.add_bodies(&(0..count).map(gate).collect::<Vec<_>>()).unwrap();
    let visitor = |i| BodyDesc::fixed(Shape::circle(0.2), at(i));
    world.add_bodies(&(0..count).map(visitor).collect::<Vec<_>>()).unwrap();
    world.step();
    assert_eq!(world.sensor_begin_events().len(), count);
    (world, gates)
}

fn time(edit: impl FnOnce()) -> Duration {
    let start = Instant::now();
    edit();
    start.elapsed()
}

/// Sensors that are removed, or become shapes that touch, from the first to the last one take hardly longer than from the last to the first. (In a sorted
/// list the first way took 75 times as long.)
#[test]
fn sensors_go_in_any_order() {
    for remove in [true, false] {
        let run = |reversed: bool| {
            let (mut world, mut gates) = sensors(40_000);
            if reversed {
                gates.reverse();
            }
            time(|| match remove {
                true => world.remove_bodies(&gates).unwrap(),
                false => gates.iter().for_each(|&gate| world.set_sensor(gate, false).unwrap()),
            })
        };
        let [backward, forward] = [true, false].map(|reversed| run(reversed).min(run(reversed)));
        assert!(forward < 8 * backward, "{forward:?}, backward {backward:?}, removed: {remove}");
    }
}
