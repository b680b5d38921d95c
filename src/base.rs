//! What every layer may use and what knows nothing of physics.

mod ensure;
pub(crate) mod interner;
pub(crate) mod prefetch;
pub(crate) mod room;
pub(crate) mod table;

pub(crate) use ensure::ensure;
