//! Shapes: what hosts describe, and the outlines that the kernels read.

pub(crate) mod outline;
pub(crate) mod polygon;
pub(crate) mod shape;
pub(crate) mod trig;
