//! Contract: bytes that are no sound snapshot are refused, whatever they are, and change nothing.

use super::{assert_same, saved};
use granule::{Error, World, scene};

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
