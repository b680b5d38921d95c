//! Joints between rigid bodies: their descriptions as hosts give them, what hosts are told of them, and the table of a world's joints. The solver's blocks are
//! in `solver/joints.rs`.

pub(crate) mod desc;
pub(crate) mod report;
mod stored;
pub(crate) mod table;
