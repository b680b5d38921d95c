//! Joints between rigid bodies: their descriptions as hosts give them, and the table of a world's joints. The solver's blocks are
//! in `solver/joints.rs`.

pub(crate) mod desc;
mod stored;
pub(crate) mod table;
