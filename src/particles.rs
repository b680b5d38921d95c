//! Links, which hold particles together, and hulls, which make loops of particles solid.

pub(crate) mod hulls;
pub(crate) mod links;
