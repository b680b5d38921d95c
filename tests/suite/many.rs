//! Contract: many worlds that are stepped at once end in the same states as worlds that are stepped one by one.
#![cfg(feature = "parallel")]

use granule::{Settings, World, scene, step_many};
use rayon::ThreadPoolBuilder;

const SCENES: [&str; 6] = ["pile", "junkyard", "soft_boxes", "cloth", "gas", "mixed_shapes"];

/// Worlds of many sizes: empty ones, ones of ten bodies, ones of hundreds, and two that are split among the threads.
fn worlds() -> Vec<World> {
    let mut worlds: Vec<World> = (0..40)
        .map(|i| {
            let bodies = if i % 3 == 0 { 10 } else { 1 + i * 7919 % 600 };
            scene::builtin(SCENES[i % SCENES.len()], bodies, i as u64).unwrap().build().unwrap()
        })
        .collect();
    worlds.insert(5, World::new(Settings::default()).unwrap());
    for place in [0, 20] {
        worlds.insert(place, scene::builtin("packed", 17_000, 3).unwrap().build().unwrap());
    }
    worlds
}

/// The state of each world after `step_many` is the state after its own step, at any number of threads, from a slice
/// and from an iterator.
#[test]
fn many_worlds_end_as_one_by_one() {
    granule::set_oversubscribe(true);
    const STEPS: u64 = 6;
    let mut alone = worlds();
    for world in &mut alone {
        (0..STEPS).for_each(|_| world.step());
    }
    for threads in [1, 2, 4] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut together = worlds();
        pool.install(|| {
            for step in 0..STEPS {
                if step % 2 == 0 {
                    step_many(&mut together);
                } else {
                    let (front, back) = together.split_at_mut(7);
                    step_many(back.iter_mut().rev());
                    step_many(front.iter_mut().filter(|_| true));
                }
            }
        });
        for (index, (one, other)) in alone.iter().zip(&together).enumerate() {
            assert_eq!(one.step_count(), other.step_count());
            assert_eq!(one.state_hash(), other.state_hash(), "world {index}, {threads} threads");
        }
    }
    step_many(&mut alone);
    assert!(alone.iter().all(|world| world.step_count() == STEPS + 1));
}

/// Each world is stepped once, even if there are more large worlds than are kept for all threads. An empty list of
/// worlds is no error.
#[test]
fn every_world_is_stepped_once() {
    granule::set_oversubscribe(true);
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.install(|| step_many(&mut [] as &mut [World]));
    let large = scene::builtin("gas", 16_400, 3).unwrap();
    let mut worlds: Vec<World> = (0..70).map(|_| large.build().unwrap()).collect();
    pool.install(|| step_many(&mut worlds));
    assert!(worlds.iter().all(|world| world.step_count() == 1));
    let hash = worlds[0].state_hash();
    assert!(worlds.iter().all(|world| world.state_hash() == hash));
}

/// An iterator that ends, and would go on if it were asked again.
struct Pausing<'a> {
    worlds: std::slice::IterMut<'a, World>,
    asked: usize,
}

impl<'a> Iterator for Pausing<'a> {
    type Item = &'a mut World;

    fn next(&mut self) -> Option<&'a mut World> {
        self.asked += 1;
        assert!(self.asked != 31, "the iterator panics here");
        if self.asked == 11 { None } else { self.worlds.next() }
    }
}

/// `step_many` stops at the first `None` of an iterator, at any number of threads, and does not ask it again.
#[test]
fn an_iterator_ends_once() {
    granule::set_oversubscribe(true);
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut worlds: Vec<World> = (0..40).map(|_| World::new(Settings::default()).unwrap()).collect();
        pool.install(|| step_many(Pausing { worlds: worlds.iter_mut(), asked: 0 }));
        let stepped: Vec<u64> = worlds.iter().map(World::step_count).collect();
        assert_eq!(stepped.iter().sum::<u64>(), 10, "{threads} threads: {stepped:?}");
    }
}

/// A panic of the iterator ends `step_many`: each world is stepped once or not at all, and can be stepped again.
#[test]
fn an_iterator_that_panics_leaves_whole_worlds() {
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut worlds: Vec<World> = (0..40).map(|_| World::new(Settings::default()).unwrap()).collect();
        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.install(|| step_many(Pausing { worlds: worlds.iter_mut(), asked: 11 }));
        }));
        assert!(panics.is_err());
        let stepped: Vec<u64> = worlds.iter().map(World::step_count).collect();
        assert!(stepped.iter().all(|&steps| steps <= 1) && stepped.iter().sum::<u64>() <= 19, "{stepped:?}");
        pool.install(|| step_many(&mut worlds));
        assert!(worlds.iter().all(|world| world.step_count() >= 1));
    }
}
