//! The fuzz target for snapshots that somebody made up: see `granule_fuzz::made_up`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| granule_fuzz::made_up(data));
