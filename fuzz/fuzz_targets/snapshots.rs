//! The fuzz target for snapshots and recordings of random worlds: see `granule_fuzz::snapshots`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| granule_fuzz::snapshots(data));
