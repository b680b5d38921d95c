//! What is known to be wrong in the engine, so that the targets find what is not. Each is `false` while it is wrong, and
//! is to be `true` as soon as it is mended; then it goes.

/// `World::quality` reads every shape: round and upright ones too, in worlds where no shape turns.
pub const QUALITY_READS_EVERY_SHAPE: bool = true;
/// No call leaves a velocity that is not finite.
pub const IMPULSES_ARE_CHECKED: bool = true;
/// A quarantined body takes no velocity.
pub const QUARANTINE_IS_KEPT: bool = true;
/// `World::add_part` leaves the centre within the limits.
pub const CENTRES_ARE_CHECKED: bool = true;
/// Contact events are of bodies, not of their parts.
pub const EVENTS_ARE_OF_BODIES: bool = true;
/// Restitution makes no energy.
pub const BOUNCES_KEEP_ENERGY: bool = true;
/// A pair gets deeper by no more than its bodies move. It is not known yet whether the law or a manifold is at fault: a
/// particle, boxes and circles on a box of 10 × 1 m, 0.27 m deep after moves of 0.18 and 0.03 m.
pub const DEPTH_FOLLOWS_MOTION: bool = false;
