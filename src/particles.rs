//! What holds particles together: links, and the hulls that make solid bodies of them.

pub(crate) mod hulls;
pub(crate) mod links;
