//! Descriptions of joints, as snapshots and recordings hold them.

use super::desc::{JointDesc, JointDrive, JointEnds, JointFrame, JointHandle, JointKind, JointMotor, Spring};
use super::report::{JointEnd, JointEvent};
use crate::body::BodyHandle;
use glam::Vec2;

crate::base::codec::stored!(JointHandle { index, generation });
crate::base::codec::stored!(JointFrame { position, angle });
crate::base::codec::stored!(Spring = Spring::new(0.0, 0.0); { hertz, damping_ratio });
crate::base::codec::stored!(JointMotor = JointMotor::new(0.0, 0.0); { speed, max });
crate::base::codec::stored!(JointDrive { target, spring, limit, motor });
crate::base::codec::stored_enum!(JointKind = JointKind::Filter; {
    0 => Distance { length: f32, spring: Option<Spring>, spring_force: [f32; 2], limit: Option<[f32; 2]>, motor: Option<JointMotor> },
    1 => Revolute(drive: JointDrive),
    2 => Prismatic(drive: JointDrive),
    3 => Wheel(drive: JointDrive),
    4 => Weld { linear: Option<Spring>, angular: Option<Spring> },
    5 => Motor {
        linear_velocity: Vec2,
        angular_velocity: f32,
        offset: Option<Vec2>,
        angle: Option<f32>,
        max_force: f32,
        max_torque: f32,
    },
    6 => Target { target: Vec2, spring: Spring, max_force: f32 },
    7 => Gear { ratio: f32 },
    8 => Filter,
});
crate::base::codec::stored_enum!(JointEnds = JointEnds::World(BodyHandle::default()); {
    0 => Bodies(a: BodyHandle, b: BodyHandle),
    1 => World(a: BodyHandle),
    2 => Joints(a: JointHandle, b: JointHandle),
});
crate::base::codec::stored!(JointDesc = JointDesc::target(BodyHandle::default(), Vec2::ZERO, Vec2::ZERO, Spring::new(0.0, 0.0), 0.0); { ends, frame_a, frame_b, kind, collide_connected, stiffness, break_force, break_torque, enabled, tag });
crate::base::codec::stored_enum!(JointEnd = JointEnd::Lost; { 0 => Broken { force: f32, torque: f32 }, 1 => Lost });
crate::base::codec::stored!(JointEvent = JointEvent { joint: JointHandle::default(), tag: 0, reason: JointEnd::Lost }; { joint, tag, reason });
