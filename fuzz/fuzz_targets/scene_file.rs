//! The fuzz target for scene files: see `granule_fuzz::scene_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| granule_fuzz::scene_file(data));
