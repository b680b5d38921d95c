//! The crew: the threads that work on one step.
//!
//! A step has some ten stages of a few microseconds to a few milliseconds. A rayon task for each stage would cost one
//! wake-up per stage. So the pool is asked once per step, by a chain of `rayon::join`. Threads that join stay until the
//! step ends. They claim work items of the present stage, first from their own share and then from the shares of other
//! threads:
//!
//! ```text
//! run(items, work):   publish work and all shares           (one store per thread)
//!                     claim items until none is left        (one compare-and-swap per item)
//!                     wait until all items are done
//! ```
//!
//! A stage ends when its items are done, not when every thread has arrived. A thread that the system has preempted
//! delays the step by the one item that it holds, or not at all.
//!
//! `join` keeps its job on the stack, so nothing is allocated (`rayon::broadcast` allocates a job per
//! thread). Only the pool in which the caller runs is used. Outside any pool the crew is the caller
//! alone, and the global pool is never built.
//!
//! A result never depends on which thread did which item: items write to their own places, and their results are read
//! in item order.
#![allow(unsafe_code)] // the published closure's lifetime, and slices shared by disjoint ranges

#[cfg(feature = "parallel")]
use crate::base::clock::Instant;
use crate::base::ranges::without;
use crate::lane::MAX_WIDTH;
use crate::timing::{MAX_SHARES, Trace};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

type Work<'a> = &'a (dyn Fn(usize) + Sync);

/// Lets more workers take part than there are cores, in the whole process. For tests of thread parity only:
/// spinning threads that share a core slow each other down.
#[doc(hidden)]
pub fn set_oversubscribe(on: bool) {
    OVERSUBSCRIBE.store(on, Ordering::Relaxed);
}

static OVERSUBSCRIBE: AtomicBool = AtomicBool::new(false);

/// The number of spins before a waiting thread begins to yield its core.
const SPINS: u32 = 200;

/// A polite wait: first spins in place, then yields the core each time.
pub(crate) struct Backoff(u32);

impl Backoff {
    pub(crate) fn new() -> Self {
        Backoff(0)
    }

    pub(crate) fn wait(&mut self) {
        if self.0 < SPINS {
            self.0 += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

/// Bodies per parallel work item in passes over columns.
pub(crate) const CHUNK: usize = 2048;

/// The items of one share that are not claimed yet: `epoch << 48 | end << 24 | next`. Stage, end and cursor are in one
/// word, so a claim is one compare-and-swap, which fails if the stage has changed meanwhile. A share has a cache line of
/// its own.
#[repr(align(64))]
struct Share(AtomicU64);

/// The data that the threads of one step share.
struct Shared<'a> {
    shares: [Share; MAX_SHARES],
    threads: usize,
    /// Points to the present stage's `Work`, which lives in the frame of `run`.
    work: AtomicPtr<Work<'static>>,
    done: AtomicUsize,
    #[cfg(feature = "parallel")]
    stop: AtomicBool,
    panicked: AtomicBool,
    #[cfg(feature = "parallel")]
    trace: Option<&'a Trace>,
    #[cfg(not(feature = "parallel"))]
    trace: PhantomData<&'a ()>,
}

const ITEM_BITS: u32 = 24;
const ITEM_MASK: u64 = (1 << ITEM_BITS) - 1;

impl<'a> Shared<'a> {
    #[cfg(feature = "parallel")]
    fn new(threads: usize, trace: Option<&'a Trace>) -> Self {
        Shared {
            shares: [const { Share(AtomicU64::new(0)) }; MAX_SHARES],
            threads,
            work: AtomicPtr::new(ptr::null_mut()),
            done: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            trace,
        }
    }

    /// Claims and does one item of the present stage, if possible of the worker's own share. Returns false if there
    /// is none left.
    fn work_once(&self, worker: usize) -> bool {
        (worker..self.threads).chain(0..worker).any(|share| self.work_on(&self.shares[share].0))
    }

    fn work_on(&self, share: &AtomicU64) -> bool {
        let mut state = share.load(Ordering::Acquire);
        loop {
            let (next, end) = (state & ITEM_MASK, state >> ITEM_BITS & ITEM_MASK);
            if next >= end {
                return false;
            }
            match share.compare_exchange_weak(state, state + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    self.do_item(next as usize);
                    return true;
                }
                Err(now) => state = now,
            }
        }
    }

    fn do_item(&self, item: usize) {
        /// Counts the item as done even if it panics, so that no thread waits for it forever.
        struct Done<'a>(&'a Shared<'a>);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.panicked.store(true, Ordering::Relaxed);
                }
                self.0.done.fetch_add(1, Ordering::Release);
            }
        }
        let _done = Done(self);
        // SAFETY: `item` is claimed and not yet done. `run` returns only when all items are done, so the
        // closure in its frame is alive.
        let work = unsafe { *self.work.load(Ordering::Acquire) };
        work(item);
    }

    /// The loop of a worker. Returns when the step ends.
    #[cfg(feature = "parallel")]
    fn serve(&self, worker: usize) {
        let mut backoff = Backoff::new();
        // The start of the present time without a break, if the worker is busy.
        let mut busy = None;
        while !self.stop.load(Ordering::Acquire) {
            let now = self.trace.map(|_| Instant::now());
            if self.work_once(worker) {
                busy = busy.or(now);
                backoff = Backoff::new();
            } else {
                if let (Some(trace), Some(start)) = (self.trace, busy.take()) {
                    trace.busy(worker, start);
                }
                backoff.wait();
            }
        }
        if let (Some(trace), Some(start)) = (self.trace, busy) {
            trace.busy(worker, start);
        }
    }
}

/// The threads of one step, seen from the thread that leads it.
pub(crate) struct Crew<'a> {
    shared: Option<&'a Shared<'a>>,
    epoch: Cell<u64>,
    errand: Option<&'a dyn Fn()>,
}

impl<'a> Crew<'a> {
    /// A crew of the calling thread alone.
    pub(crate) fn alone() -> Self {
        Crew { shared: None, epoch: Cell::new(0), errand: None }
    }

    /// A crew of the calling thread alone, which calls `errand` now and then.
    pub(crate) fn with_errand(errand: &'a dyn Fn()) -> Self {
        Crew { errand: Some(errand), ..Crew::alone() }
    }

    /// Does a bit of what this thread has to do besides the step. A step calls this before each of its parts, and before each pass.
    #[inline]
    pub(crate) fn run_errand(&self) {
        if let Some(errand) = self.errand {
            errand();
        }
    }

    /// The number of threads that may take part.
    pub(crate) fn threads(&self) -> usize {
        self.shared.map_or(1, |shared| shared.threads)
    }

    /// Does `work(i)` for all i below `items` and returns when all are done. The items are shared out in
    /// equal runs, so that the data of an item is in the same core's cache from stage to stage. A thread that is done
    /// with its own run helps with the others.
    ///
    /// # Panics
    ///
    /// If an item panics, or if there are 2²⁴ − 1 items or more for several threads.
    pub(crate) fn run(&self, items: usize, work: impl Fn(usize) + Sync) {
        let Some(shared) = self.shared.filter(|_| items > 1) else {
            (0..items).for_each(work);
            return;
        };
        assert!((items as u64) < ITEM_MASK, "a stage has at most 2^24 items");
        let work: Work<'_> = &work;
        // SAFETY: only the lifetime changes. `run` waits below (`Wait`) until every item is done, also in a panic. No
        // worker touches the closure after its item is done.
        let work: Work<'static> = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
        shared.work.store(ptr::from_ref(&work).cast_mut(), Ordering::Release);
        shared.done.store(0, Ordering::Relaxed);
        let epoch = self.epoch.get().wrapping_add(1) & 0xFFFF;
        self.epoch.set(epoch);
        for (index, share) in shared.shares[..shared.threads].iter().enumerate() {
            let [next, end] = [index, index + 1].map(|index| (items * index / shared.threads) as u64);
            share.0.store(epoch << (2 * ITEM_BITS) | end << ITEM_BITS | next, Ordering::Release);
        }
        /// Waits for the items that other threads hold, also if an item of this thread panics.
        struct Wait<'a>(&'a Shared<'a>, usize);
        impl Drop for Wait<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    while self.0.work_once(0) {}
                }
                let mut backoff = Backoff::new();
                while self.0.done.load(Ordering::Acquire) < self.1 {
                    backoff.wait();
                }
            }
        }
        let wait = Wait(shared, items);
        while shared.work_once(0) {}
        drop(wait);
        assert!(!shared.panicked.load(Ordering::Relaxed), "a worker panicked");
    }

    /// Does `work(i, &mut items[i])` for every item.
    pub(crate) fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        let shared = SharedSlice::new(items);
        // SAFETY: `run` gives out each index once, so no other reference has this element.
        self.run(shared.len(), |i| work(i, &mut unsafe { shared.range(i..i + 1) }[0]));
    }

    /// Does `work(range)` for chunks of `0..len` of the given size.
    pub(crate) fn chunks(&self, len: usize, size: usize, work: impl Fn(Range<usize>) + Sync) {
        self.chunks_without(len, &(0..0), size, |_, range| work(range));
    }

    /// As [`Crew::chunks`], without the slots of another range: all but some of its first and last ones, so that the chunks begin and end with
    /// whole vectors. `work` gets the number of the chunk, too: there is one more than [`Crew::chunks`] makes at most.
    pub(crate) fn chunks_without(
        &self,
        len: usize,
        except: &Range<usize>,
        size: usize,
        work: impl Fn(usize, Range<usize>) + Sync,
    ) {
        let except = except.start.next_multiple_of(MAX_WIDTH)..except.end / MAX_WIDTH * MAX_WIDTH;
        let [before, behind] = without(0..len, &except);
        let first = before.len().div_ceil(size);
        self.run(first + behind.len().div_ceil(size), |i| {
            let (range, place) = if i < first { (&before, i) } else { (&behind, i - first) };
            let start = range.start + place * size;
            work(i, start..range.end.min(start + size));
        });
    }
}

/// Calls `lead` with a crew from the current rayon pool, or with a crew of this thread alone outside any pool. `trace` gets the
/// busy times of the other threads.
#[cfg(feature = "parallel")]
pub(crate) fn with_crew<R: Send>(trace: Option<&Trace>, lead: impl FnOnce(&Crew<'_>) -> R + Send) -> R {
    let threads = match rayon::current_thread_index() {
        None => 1,
        Some(_) if OVERSUBSCRIBE.load(Ordering::Relaxed) => rayon::current_num_threads(),
        Some(_) => rayon::current_num_threads().min(cores()),
    }
    .min(MAX_SHARES);
    if threads <= 1 {
        return lead(&Crew::alone());
    }
    struct Stop<'a>(&'a Shared<'a>);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.stop.store(true, Ordering::Release);
        }
    }
    fn recruit(shared: &Shared<'_>, workers: usize) {
        if workers == 1 {
            shared.serve(1);
        } else {
            rayon::join(|| shared.serve(workers), || recruit(shared, workers - 1));
        }
    }
    let shared = Shared::new(threads, trace);
    rayon::join(
        || {
            let _stop = Stop(&shared);
            lead(&Crew { shared: Some(&shared), ..Crew::alone() })
        },
        || recruit(&shared, threads - 1),
    )
    .0
}

/// Calls `lead` with a crew of this thread alone: the feature `parallel` is off.
#[cfg(not(feature = "parallel"))]
pub(crate) fn with_crew<R: Send>(_trace: Option<&Trace>, lead: impl FnOnce(&Crew<'_>) -> R + Send) -> R {
    lead(&Crew::alone())
}

/// The number of the machine's cores. Asked once, because the answer costs a few file reads on Linux.
#[cfg(feature = "parallel")]
fn cores() -> usize {
    static CORES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// A slice of which several threads write disjoint parts.
pub(crate) struct SharedSlice<'a, T> {
    data: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: the callers of `range` guarantee that the parts in use are disjoint, so this is like sending `&mut T`s.
unsafe impl<T: Send> Send for SharedSlice<'_, T> {}
// SAFETY: the callers of `range` guarantee that the parts in use are disjoint, so threads share no element.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        SharedSlice { data: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The pointer to the first element, for the kernels' gathers and scatters.
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.data
    }

    /// The elements of a range.
    ///
    /// # Safety
    ///
    /// The caller guarantees that no element of the range is used through another reference while this one lives.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub(crate) unsafe fn range(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the range is in bounds by the assertion. The caller guarantees that it is not aliased.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(range.start), range.end - range.start) }
    }

    /// A copy of one element, which other threads may read, too.
    ///
    /// # Safety
    ///
    /// The caller guarantees that no thread writes the element meanwhile.
    pub(crate) unsafe fn read(&self, index: usize) -> T
    where
        T: Copy,
    {
        assert!(index < self.len);
        // SAFETY: the index is in bounds by the assertion. The caller guarantees that nobody writes the element.
        unsafe { *self.data.add(index) }
    }
}

#[cfg(all(test, feature = "parallel"))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// Contract: every item of every stage is done once, at any number of threads.
    #[test]
    fn every_item_is_done_once() {
        set_oversubscribe(true);
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                with_crew(None, |crew| {
                    for items in (0..200).chain([5000]) {
                        let counts: Vec<AtomicU32> = (0..items).map(|_| AtomicU32::new(0)).collect();
                        crew.run(items, |i| {
                            counts[i].fetch_add(1, Ordering::Relaxed);
                        });
                        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                    }
                });
            });
        }
    }

    /// Contract: a panic in an item reaches the caller, and no thread is left waiting.
    #[test]
    fn a_panic_reaches_the_caller() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
        let step =
            || pool.install(|| with_crew(None, |crew| crew.run(1000, |i| assert!(i != 500, "planted"))));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(step));
        assert!(result.is_err());
    }
}
