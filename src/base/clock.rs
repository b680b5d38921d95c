//! The clock by which a step is timed.

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub(crate) use std::time::Instant;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub(crate) use stopped::Instant;

/// A clock that always says zero. On wasm32-unknown-unknown there is no other: the one of the standard library panics.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod stopped {
    use std::time::Duration;

    /// The only time of this clock, in place of [`std::time::Instant`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Instant;

    impl Instant {
        #[inline(always)]
        pub(crate) fn now() -> Instant {
            Instant
        }

        #[inline(always)]
        pub(crate) fn duration_since(&self, _: Instant) -> Duration {
            Duration::ZERO
        }

        #[inline(always)]
        pub(crate) fn saturating_duration_since(&self, _: Instant) -> Duration {
            Duration::ZERO
        }
    }
}
