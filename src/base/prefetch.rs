//! Hints to the cache.

/// How many blocks ahead to ask. `granule run packed --bodies 1000000 --threads 1 --warmup 60 --steps 12` spent 14 % less in the
/// solver with 2 than without, and 20 % less with 4 and with 8.
pub(crate) const AHEAD: usize = 8;
/// The same for blocks of contacts with a manifold, which are four times as large.
pub(crate) const MANIFOLD_AHEAD: usize = 2;

/// Of the cache. (Every other line, and the rest by the hardware's own means: 5 % slower in the same run.)
const LINE: usize = 64;
/// Asks for all of `values[index]`, which will be read soon. Nothing happens where there is no such value, or on
/// processors for which the standard library has no such hint.
///
/// The hardware's own prefetching stops at the end of every page of 4 KiB, which is eight blocks of contacts. What lies in the
/// next page then comes late, from the third cache.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = values.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(LINE) {
            #[allow(unsafe_code)]
            // SAFETY: the address lies inside the value; besides, a hint reads nothing.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.add(offset));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}
