//! What a world tells of its joints: their state, their end, and how well they hold.

use super::desc::JointHandle;
use glam::Vec2;

/// What a joint does at present.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointState {
    /// The angle from A's frame to B's, rad, beyond whole turns too. 0 for kinds that do not look at it: distance, target, gear,
    /// filter.
    pub angle: f32,
    /// The length of a distance joint, or the way along the axis of a prismatic joint or a wheel, m. 0 for other kinds.
    pub translation: f32,
    /// The speed of the free motion: of the length, of the way (prismatic), or of the angle (revolute, weld, wheel, motor). m/s or
    /// rad/s. 0 for other kinds.
    pub speed: f32,
    /// The force on B (of a target joint: on A) in the last substep, N. A gear has none.
    pub force: Vec2,
    /// The torque on B in the last substep, N·m. (Of a gear: the torque or force on the first motion.)
    pub torque: f32,
}

/// A joint that is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointEvent {
    /// The joint. Its handle is stale.
    pub joint: JointHandle,
    /// The joint's tag.
    pub tag: u64,
    /// Why it is gone.
    pub reason: JointEnd,
}

/// Why a joint is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointEnd {
    /// It bore more than its `break_force` or `break_torque`: this force, N, and this torque, N·m.
    Broken {
        /// The amount of the force, N.
        force: f32,
        /// The amount of the torque, N·m.
        torque: f32,
    },
    /// A body that it joined was removed, or a joint that the gear coupled is gone.
    Lost,
}

/// How well the joints of a world hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointQuality {
    /// The number of joints.
    pub joints: usize,
    /// The mean, over all joints, of the distance by which what they hold rigidly is apart, m.
    pub mean_error: f64,
    /// The largest such distance, m.
    pub max_error: f64,
    /// The largest angle by which a rigid angle is off, or by which a limit is exceeded, rad.
    pub max_angle_error: f64,
}
