//! The fuzz target for random worlds: see `granule_fuzz::worlds`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| granule_fuzz::worlds(data));
