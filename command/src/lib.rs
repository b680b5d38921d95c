//! The parts of the `granule` command besides its arguments: run records with their pages, comparisons and exports, and
//! pictures of worlds. The engine is the package `granule`.

pub mod render;
pub mod report;
