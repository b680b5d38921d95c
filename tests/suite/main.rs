//! The tests of the engine's contracts, one module per topic. They are one program, so that the engine is built and
//! linked once for all of them. A test that needs its own allocator is a program of its own (`tests/allocations.rs`).

mod ahead;
mod api;
mod broadphase;
mod common;
mod continuous;
mod edits;
mod events;
mod fuzz_corpus;
mod hooks;
mod hulls;
mod joined;
mod joints;
mod laws;
mod layers;
mod manifolds;
mod many;
mod memory;
mod mover;
mod oracle;
mod origin;
mod parity;
mod physics;
mod quality;
mod queries;
mod reference;
mod scene_file;
mod sensors;
mod sleep;
mod snapshots;
mod statics;
mod telemetry;
mod turning;
mod verlet;
