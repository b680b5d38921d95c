//! The tests of everything that is promised, a module a topic. They are one program, so that the engine is built and
//! linked for them once; what needs an allocator of its own is a program of its own (`tests/allocations.rs`).

mod api;
mod broadphase;
mod browser;
mod cli;
#[cfg(feature = "cli")]
mod command;
mod common;
mod compare;
mod events;
mod exports;
mod fuzz_corpus;
mod hulls;
mod laws;
mod manifolds;
mod memory;
mod oracle;
mod parity;
mod physics;
mod quality;
mod queries;
mod reference;
mod render;
mod scene_file;
mod sweep;
mod turning;
mod verlet;
