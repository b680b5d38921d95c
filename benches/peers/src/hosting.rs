//! What a host does around the step: it adds many bodies, reads where all are, and takes snapshots.
//!
//! Bodies are added to an empty world, and the first step counts too, because an engine may put off what a new body costs until then. Box2D and
//! Rapier have no call that adds many. Box2D v3.2 has no snapshot; Rapier's is what `serde` makes of its world, here in `postcard`'s format.

use crate::box2d::Box2dWorld;
use crate::engine::{Stepping, World as _};
use crate::granule::GranuleWorld;
use crate::rapier::RapierWorld;
use crate::report::Origin;
use crate::scenes::Scene;
use ::granule::{Order, PoseField, World};
use std::fmt::Write as _;
use std::time::Instant;

/// An engine's world to which bodies are added.
pub trait Hosted {
    /// A world without bodies, with room for those of the scene.
    ///
    /// # Errors
    ///
    /// When the engine has no room for another world.
    fn empty(scene: &Scene) -> Result<Self, String>
    where
        Self: Sized;
    /// Adds the bodies one by one.
    ///
    /// # Errors
    ///
    /// For a shape that is not compared.
    fn add(&mut self, scene: &Scene) -> Result<(), String>;
    /// Writes `[x, y, angle]` of each body of the scene.
    fn poses(&self, out: &mut [[f32; 3]]);
}

fn seconds<R>(run: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let result = run();
    (start.elapsed().as_secs_f64(), result)
}

/// The least of some times, s.
fn least(rounds: usize, mut run: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
    (0..rounds).try_fold(f64::INFINITY, |least, _| Ok(least.min(run()?)))
}

/// Adding one by one, the first step after that, and reading all poses, ms.
fn host<E: Hosted + crate::engine::World>(rounds: usize, scene: &Scene) -> Result<[f64; 3], String> {
    let mut best = [f64::INFINITY; 3];
    let mut poses = vec![[0.0; 3]; scene.bodies.len()];
    for _ in 0..rounds {
        let mut world = E::empty(scene)?;
        let (adding, added) = seconds(|| world.add(scene));
        added?;
        let (stepping, ()) = seconds(|| world.run(1, &mut Vec::new()));
        for _ in 0..5 {
            let (reading, ()) = seconds(|| world.poses(&mut poses));
            best[2] = best[2].min(reading);
        }
        best = [best[0].min(adding), best[1].min(stepping), best[2]];
    }
    Ok(best.map(|seconds| 1.0e3 * seconds))
}

/// Bytes, of which most caches of one core hold a part.
const MORE_THAN_A_CACHE: usize = 32 << 20;

/// All bodies in one call, ms.
fn in_one_call(rounds: usize, scene: &Scene) -> Result<f64, String> {
    let time = least(rounds, || {
        let mut world = World::new(scene.settings).map_err(|error| error.to_string())?;
        let (time, added) = seconds(|| world.add_bodies(&scene.bodies));
        added.map_err(|error| error.to_string())?;
        Ok(time)
    })?;
    Ok(1.0e3 * time)
}

/// All poses into a buffer of a host, in the order of storage and in that of adding, and as many bytes copied from one buffer to another, ms: from one
/// that is in no cache, as bodies after a step are not, and from one that is.
fn poses_in_one_call(rounds: usize, scene: &Scene) -> Result<[f64; 4], String> {
    let mut world = World::new(scene.settings).map_err(|error| error.to_string())?;
    world.add_bodies(&scene.bodies).map_err(|error| error.to_string())?;
    world.step();
    let mut buffer = vec![0.0f32; 3 * scene.bodies.len()];
    let fields = [PoseField::X, PoseField::Y, PoseField::Angle];
    let mut read = |order: Order| {
        least(5 * rounds, || {
            let (time, written) = seconds(|| world.write_poses(&mut buffer, 3, &fields, order));
            written.map(|_| time).map_err(|error| error.to_string())
        })
    };
    let reading = [read(Order::Stored)?, read(Order::Added)?];
    let mut copy = buffer.clone();
    let mut elsewhere = vec![0u8; MORE_THAN_A_CACHE];
    let mut copying = |cold: bool| {
        least(5 * rounds, || {
            if cold {
                std::hint::black_box(&mut elsewhere).fill(1);
            }
            let (time, ()) = seconds(|| copy.copy_from_slice(std::hint::black_box(&buffer)));
            std::hint::black_box(&copy);
            Ok(time)
        })
    };
    let copying = [copying(true)?, copying(false)?];
    Ok([reading[0], reading[1], copying[0], copying[1]].map(|seconds| 1.0e3 * seconds))
}

/// A snapshot: bytes, and the times of saving, of restoring and of a step, ms.
struct Snapshots {
    bytes: usize,
    times: [f64; 3],
}

fn granule_snapshots(rounds: usize, scene: &Scene, warmup: usize) -> Result<Snapshots, String> {
    let mut world = World::new(scene.settings).map_err(|error| error.to_string())?;
    world.add_bodies(&scene.bodies).map_err(|error| error.to_string())?;
    (0..warmup).for_each(|_| world.step());
    let (mut bytes, mut best) = (Vec::new(), [f64::INFINITY; 3]);
    // The first round makes the memory that later ones use again.
    for round in 0..=rounds {
        let (saving, ()) = seconds(|| world.save(&mut bytes));
        let (restoring, restored) = seconds(|| world.restore(&bytes));
        restored.map_err(|error| error.to_string())?;
        world.step();
        let (stepping, ()) = seconds(|| world.step());
        if round > 0 {
            best = [best[0].min(saving), best[1].min(restoring), best[2].min(stepping)];
        }
    }
    Ok(Snapshots { bytes: bytes.len(), times: best.map(|seconds| 1.0e3 * seconds) })
}

fn rapier_snapshots(rounds: usize, scene: &Scene, warmup: usize) -> Result<Snapshots, String> {
    let mut world = RapierWorld::new(scene, Stepping::common(1), None)?;
    world.run(warmup, &mut Vec::new());
    let (mut bytes, mut best) = (Vec::new(), [f64::INFINITY; 3]);
    for _ in 0..rounds {
        let mut buffer = std::mem::take(&mut bytes);
        buffer.clear();
        let (saving, saved) = seconds(|| world.save(buffer));
        bytes = saved?;
        let (restoring, restored) = seconds(|| world.restore(&bytes));
        restored?;
        world.run(1, &mut Vec::new());
        let (stepping, ()) = seconds(|| world.run(1, &mut Vec::new()));
        best = [best[0].min(saving), best[1].min(restoring), best[2].min(stepping)];
    }
    Ok(Snapshots { bytes: bytes.len(), times: best.map(|seconds| 1.0e3 * seconds) })
}

/// The tables.
///
/// # Errors
///
/// What an engine says when it refuses something.
pub fn report(origin: &Origin, rounds: usize, quick: bool) -> Result<String, String> {
    let mut text = String::from("# Around the step\n\n");
    text.push_str(&origin.markdown());
    let _ = write!(
        text,
        "\nOne thread, packed circles, ms, the least of {rounds} rounds.\n\n## Bodies are added, and read\n\nAdding is done one by one to an empty world, \
         and in Granule also by one call. Ratios are to Box2D: adding and the first step (the bar is 5×), and adding by one call to \
         adding one by one (10×). Reading writes x, y and angle of each body into a buffer, in Box2D and Rapier by a call for each \
         body, in Granule also by one call, in the order of storage and in that of adding. \
         The last columns copy as many bytes from one buffer to another: from one that was not touched while 32 MB were written, and from one that was.\n\n\
         | bodies | adding: Granule | one call | Box2D | Rapier | first step: Granule | Box2D | Rapier | adding and step | one call | \
         reading: Granule | one call | as added | Box2D | Rapier | a copy | of what is cached |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    );
    let sizes = if quick { [1_000, 2_000, 4_000] } else { [50_000, 100_000, 200_000] };
    for bodies in sizes {
        let scene = Scene::build("packed", bodies, 0)?;
        let [ours, box2d, rapier] = [
            host::<GranuleWorld>(rounds, &scene)?,
            host::<Box2dWorld>(rounds, &scene)?,
            host::<RapierWorld>(rounds, &scene)?,
        ];
        let one_call = in_one_call(rounds, &scene)?;
        let [stored, added, copy, cached] = poses_in_one_call(rounds, &scene)?;
        let _ = writeln!(
            text,
            "| {bodies} | {:.1} | {one_call:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1}× | {:.1}× | {:.3} | {stored:.3} | {added:.3} | {:.3} | {:.3} | {copy:.3} | {cached:.3} |",
            ours[0],
            box2d[0],
            rapier[0],
            ours[1],
            box2d[1],
            rapier[1],
            (box2d[0] + box2d[1]) / (ours[0] + ours[1]),
            box2d[0] / one_call,
            ours[2],
            box2d[2],
            rapier[2]
        );
    }
    text.push_str(
        "\n## Snapshots\n\nThe bodies have fallen for some steps. Granule's snapshot goes on bit for bit. The step is the second one after a \
         restore. Box2D has no snapshots.\n\n\
         | engine | bodies | after steps | bytes a body | save | restore | a step |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let (bodies, warmup) = if quick { (500, 20) } else { (10_000, 200) };
    let scene = Scene::build("packed", bodies, 0)?;
    for (name, taken) in [
        ("Granule", granule_snapshots(rounds, &scene, warmup)?),
        ("Rapier", rapier_snapshots(rounds, &scene, warmup)?),
    ] {
        let [saving, restoring, stepping] = taken.times;
        let each = taken.bytes as f64 / scene.bodies.len() as f64;
        let _ = writeln!(
            text,
            "| {name} | {bodies} | {warmup} | {each:.0} | {saving:.3} | {restoring:.3} | {stepping:.3} |"
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poses<E: Hosted + crate::engine::World>(scene: &Scene) -> Vec<[f32; 3]> {
        let mut world = E::empty(scene).expect("a world");
        world.add(scene).expect("bodies that are compared");
        let mut poses = vec![[f32::NAN; 3]; scene.bodies.len()];
        world.poses(&mut poses);
        poses
    }

    /// Every engine has all bodies, where the scene puts them, and reads them in its order.
    #[test]
    fn bodies_are_where_they_were_put() {
        let scene = Scene::build("rubble", 100, 0).expect("a scene");
        for poses in
            [poses::<GranuleWorld>(&scene), poses::<Box2dWorld>(&scene), poses::<RapierWorld>(&scene)]
        {
            for (pose, body) in poses.iter().zip(&scene.bodies) {
                let expected = [body.position.x, body.position.y, body.angle];
                assert!(
                    (0..3).all(|axis| (pose[axis] - expected[axis]).abs() < 1e-4),
                    "{pose:?} {expected:?}"
                );
            }
        }
    }

    /// A snapshot of Rapier has all bodies.
    #[test]
    fn rapier_comes_back() {
        let scene = Scene::build("packed", 100, 0).expect("a scene");
        let mut world = RapierWorld::new(&scene, Stepping::common(1), None).expect("a world");
        world.run(10, &mut Vec::new());
        let before: Vec<_> = world.states().iter().map(|state| state.position).collect();
        let bytes = world.save(Vec::new()).expect("a snapshot");
        world.run(10, &mut Vec::new());
        world.restore(&bytes).expect("a world");
        let after: Vec<_> = world.states().iter().map(|state| state.position).collect();
        assert_eq!(before, after);
    }
}
