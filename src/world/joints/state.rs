//! Where the ends of a joint are and how they move: its state for the host, and whether its motor drives it.

use super::World;
use crate::geometry::trig::sin_cos;
use crate::joints::desc::{JointEnds, JointFrame, JointKind};
use crate::joints::report::JointState;
use crate::joints::table::Joint;
use crate::lane::Row;
use crate::solver::joints::{angle_of, ends_of};
use glam::Vec2;

/// The places of a joint's ends relative to each other, and how they move.
pub(super) struct Pose {
    /// From the point of A to that of B.
    pub(super) gap: Vec2,
    /// The velocity of B's point against A's.
    pub(super) velocity: Vec2,
    /// The direction of A's frame.
    pub(super) axis: Vec2,
    pub(super) spin_a: f32,
    pub(super) spin: f32,
}

impl Pose {
    /// The speed of a kind's free motion: see [`JointState::speed`].
    fn speed_of(&self, kind: &JointKind) -> f32 {
        match kind {
            JointKind::Distance { .. } => {
                let length = self.gap.length();
                if length > 0.0 { self.velocity.dot(self.gap) / length } else { 0.0 }
            }
            // The axis turns with A.
            JointKind::Prismatic(_) => {
                self.velocity.dot(self.axis) + self.spin_a * self.axis.perp().dot(self.gap)
            }
            JointKind::Revolute(_)
            | JointKind::Wheel(_)
            | JointKind::Weld { .. }
            | JointKind::Motor { .. } => self.spin,
            JointKind::Target { .. } | JointKind::Gear { .. } | JointKind::Filter => 0.0,
        }
    }
}

impl World {
    pub(in crate::world) fn state_of_joint(&self, joint: &Joint) -> JointState {
        let (force, torque) = self.joint_solver.reaction(joint);
        let state = JointState { force, torque, ..JointState::default() };
        let Some(pose) = self.pose(joint) else { return state };
        let state = JointState { speed: pose.speed_of(&joint.desc.kind), ..state };
        let angle = || angle_of(joint, &self.bodies) as f32;
        match joint.desc.kind {
            JointKind::Distance { .. } => JointState { translation: pose.gap.length(), ..state },
            JointKind::Prismatic(_) | JointKind::Wheel(_) => {
                JointState { angle: angle(), translation: pose.gap.dot(pose.axis), ..state }
            }
            JointKind::Revolute(_) | JointKind::Weld { .. } | JointKind::Motor { .. } => {
                JointState { angle: angle(), ..state }
            }
            JointKind::Target { .. } | JointKind::Gear { .. } | JointKind::Filter => state,
        }
    }

    fn velocities(&self, slot: usize) -> (Vec2, f32) {
        (self.bodies.velocity(slot), self.bodies.columns.omega[slot])
    }

    /// Returns true if a joint's motor moved its bodies in the last step, at an eighth of the wanted speed at least. (By their velocities an arm that pushed a box stood, or
    /// went back, for half a second, while it went on: joints and contacts at odds are led by their corrections.)
    pub(in crate::world) fn joint_drives(&self, joint: &Joint) -> bool {
        const LEAST: f32 = 0.125;
        let rates = |slot: usize| {
            if self.bodies.columns.inv_mass[slot] <= 0.0 {
                return self.velocities(slot);
            }
            let Row([x, y, turned, _]) = self.solver.mirror.pose[slot];
            let (radius, dt) = (self.bodies.columns.radius[slot], self.settings.time_step);
            (Vec2::new(x, y) / dt, if radius > 0.0 { turned / (radius * dt) } else { 0.0 })
        };
        let moves = |wanted: Vec2, speed: Vec2| {
            let along = speed.dot(wanted);
            along > 0.0 && along >= LEAST * wanted.length_squared()
        };
        let Some(pose) = self.pose_of(joint, rates) else { return false };
        let desc = &joint.desc;
        if let JointKind::Motor { linear_velocity, angular_velocity, .. } = desc.kind {
            return moves(pose.axis.rotate(linear_velocity), pose.velocity - pose.spin_a * pose.gap.perp())
                || moves(Vec2::new(angular_velocity, 0.0), Vec2::new(pose.spin, 0.0));
        }
        moves(Vec2::new(desc.motor_speed(), 0.0), Vec2::new(pose.speed_of(&desc.kind), 0.0))
    }

    /// Returns where the ends of a joint are and how they move. `None` for a gear.
    pub(super) fn pose(&self, joint: &Joint) -> Option<Pose> {
        self.pose_of(joint, |slot| self.velocities(slot))
    }

    /// The same, given how the body in a slot moves and turns.
    fn pose_of(&self, joint: &Joint, rates: impl Fn(usize) -> (Vec2, f32)) -> Option<Pose> {
        let desc = &joint.desc;
        let (frame_a, frame_b) = match (desc.ends, desc.kind) {
            (JointEnds::Joints(..), _) => return None,
            (_, JointKind::Target { target, .. }) => (JointFrame::at(target), desc.frame_a),
            _ => (desc.frame_a, desc.frame_b),
        };
        let [a, b] = ends_of(desc).map(|body| body.and_then(|body| self.bodies.slot_at(body.index)));
        let end = |slot: Option<usize>, point: Vec2| {
            let Some(slot) = slot else { return (Vec2::ZERO, point, Vec2::ZERO, 0.0, Vec2::X) };
            let (sin, cos) = sin_cos(self.bodies.columns.angle[slot]);
            let (axes, (velocity, spin)) = (Vec2::new(cos, sin), rates(slot));
            let arm = axes.rotate(point);
            (self.bodies.position(slot), arm, velocity + spin * arm.perp(), spin, axes)
        };
        let (place_a, arm_a, velocity_a, spin_a, axes_a) = end(a, frame_a.position);
        let (place_b, arm_b, velocity_b, spin_b, _) = end(b, frame_b.position);
        Some(Pose {
            gap: (place_b - place_a) + (arm_b - arm_a),
            velocity: velocity_b - velocity_a,
            axis: axes_a.rotate(frame_a.axis()),
            spin_a,
            spin: spin_b - spin_a,
        })
    }
}
