//! Once warm, a step allocates nothing.
#![cfg(feature = "parallel")]
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

use granule::{World, scene};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counting calls from every thread.
struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every method forwards its arguments, unchanged, to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise for this method is the one that System asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations in each of `steps` steps, inside the caller's pool.
fn allocations(world: &mut World, steps: usize) -> Vec<u64> {
    let mut counts = Vec::with_capacity(steps);
    for _ in 0..steps {
        let before = CALLS.load(Ordering::Relaxed);
        world.step();
        counts.push(CALLS.load(Ordering::Relaxed) - before);
    }
    counts
}

/// After a warm-up, 120 steps of packed, pile, gas, cloth and ragdolls allocate nothing, at 1 and at 2 threads.
///
/// The only test of this file: the counter is the process's.
#[test]
fn warm_steps_allocate_nothing() {
    granule::set_oversubscribe(true);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let scenes = [
            ("packed", 2_000, 120),
            ("pile", 1_000, 900),
            ("gas", 1_000, 300),
            ("cloth", 2_500, 900),
            ("ragdolls", 260, 1_200),
        ];
        for (name, bodies, warmup) in scenes {
            let mut world = scene::builtin(name, bodies, 1).unwrap().build().unwrap();
            let counts = pool.install(|| {
                let cold = allocations(&mut world, warmup);
                assert!(cold.iter().sum::<u64>() > 0, "the counter counts nothing");
                allocations(&mut world, 120)
            });
            let spoilt: Vec<_> = counts.iter().enumerate().filter(|(_, calls)| **calls > 0).collect();
            assert!(spoilt.is_empty(), "{name} at {threads} threads: (step, allocations) {spoilt:?}");
        }
    }
}
