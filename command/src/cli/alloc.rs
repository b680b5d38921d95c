//! Counts heap allocations, so that a record can show that a warm step makes none.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations of all threads since the start of the program. Growing a block counts as one.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// The system's allocator, with a count of the calls that return a new block.
struct Counting;

fn note_one() {
    // Only the number matters: the counter orders no other memory access.
    COUNT.fetch_add(1, Ordering::Relaxed);
}

// SAFETY: every call goes on to `System` with its own arguments, and the result of `System` is returned as it is. So
// `System`'s guarantees hold for this allocator. Counting changes one atomic; it neither allocates nor panics.
#[expect(unsafe_code, reason = "a global allocator is an unsafe trait")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note_one();
        // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note_one();
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is that of `System`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note_one();
        // SAFETY: the caller keeps the contract of `realloc`, which is that of `System`, and every block came from
        // `System`.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, which is that of `System`, and every block came from
        // `System`.
        unsafe { System.dealloc(block, layout) }
    }
}
