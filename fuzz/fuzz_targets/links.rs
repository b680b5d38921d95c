//! Random linked worlds: see `granule_fuzz::links`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| granule_fuzz::links(data));
