//! Shapes as hosts describe them, and outlines as the kernels read them.

pub(crate) mod convex;
mod facets;
pub(crate) mod outline;
pub(crate) mod polygon;
pub(crate) mod shape;
pub(crate) mod trig;
