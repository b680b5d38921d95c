//! The tests of everything that is promised, a module a topic. They are one program, so that the engine is built and
//! linked for them once; what needs an allocator of its own is a program of its own (`tests/allocations.rs`).

mod api;
mod broadphase;
mod common;
mod events;
mod fuzz_corpus;
mod hulls;
mod laws;
mod layers;
mod manifolds;
mod many;
mod memory;
mod oracle;
mod parity;
mod physics;
mod quality;
mod queries;
mod reference;
mod scene_file;
mod turning;
mod verlet;
