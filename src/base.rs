//! Tools that every layer may use. They know nothing of physics.

pub(crate) mod clock;
pub(crate) mod codec;
pub(crate) mod colours;
mod ensure;
pub(crate) mod interner;
pub(crate) mod lists;
pub(crate) mod prefetch;
pub(crate) mod ranges;
pub(crate) mod room;
pub(crate) mod table;

pub(crate) use ensure::ensure;
