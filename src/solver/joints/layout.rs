//! What is written into the lane of a joint when it is added or changed.

use super::drive::{Drive, Give, feature};
use super::ends::{Column, Ends};
use super::gear::GearBlock;
use super::line::LineBlock;
use super::pivot::PivotBlock;
use super::point::{AT_B, HALF_WAY};
use super::slide::{SlideBlock, WheelBlock};
use super::weld::WeldBlock;
use crate::formula::Softness;
use crate::joints::desc::{JointDesc, JointDrive, JointFrame, JointKind, JointMotor, Spring};
use crate::settings::Settings;
use glam::Vec2;

/// The constants of a spring, in substeps of length `h`.
fn spring(spring: Spring, h: f32) -> Give {
    let Softness { rate, impulse_scale, .. } = Softness::new(spring.hertz, spring.damping_ratio, h);
    Give { rate, given: impulse_scale, spring: true }
}

/// The lengths of substeps for which joints are written, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Substep {
    /// The length in this step.
    pub length: f32,
    /// The length that limits the stiffness.
    pub limit: f32,
}

crate::base::codec::stored!(Substep { length, limit });

/// A step that is at most this many times as long as the one before keeps that one's stiffness.
const LONGEST: f32 = 4.0;

impl Substep {
    /// The lengths for a step that follows one with substeps of length `before`.
    ///
    /// A joint that is softer for one step gives way in it and springs back. (A chain of 20 links at rest moved at 0.14 m/s after one step of twice
    /// the length, for a second.)
    pub(super) fn after(before: f32, length: f32) -> Substep {
        Substep { length, limit: length.min(before.max(length / LONGEST)) }
    }
}

/// The constants of a rigid constraint, up to the joint's stiffness. As for contacts, a stiffness that is too fast for the substeps is
/// reduced.
fn rigid(stiffness: Spring, Substep { length, limit }: Substep) -> Give {
    if stiffness.hertz == 0.0 {
        return Give::STOP;
    }
    let hertz = stiffness.hertz.min(Settings::MAX_FREQUENCY_RATIO / limit);
    Give { spring: false, ..spring(Spring { hertz, ..stiffness }, length) }
}

/// The constants of a spring, or of a rigid constraint if there is no spring.
fn spring_or_rigid(given: Option<Spring>, stiffness: Spring, step: Substep) -> Give {
    given.map_or_else(|| rigid(stiffness, step), |given| spring(given, step.length))
}

fn set2(columns: &mut [Column; 2], lane: usize, value: Vec2) {
    (columns[0][lane], columns[1][lane]) = (value.x, value.y);
}

impl Ends {
    pub(super) fn set_points(&mut self, lane: usize, a: Vec2, b: Vec2) {
        set2(&mut self.local[0], lane, a);
        set2(&mut self.local[1], lane, b);
    }
}

impl Drive {
    /// Writes a free motion. Returns its features.
    fn set(&mut self, lane: usize, drive: &JointDrive, h: f32) -> u32 {
        self.clear(lane);
        let mut features = 0;
        if let Some(given) = drive.spring.filter(|spring| spring.hertz > 0.0) {
            self.soft.set(lane, spring(given, h));
            self.target[lane] = drive.target;
            features |= feature::SPRING;
        }
        features | self.set_motor(lane, drive.motor, h) | self.set_limit(lane, drive.limit)
    }

    fn set_motor(&mut self, lane: usize, motor: Option<JointMotor>, h: f32) -> u32 {
        let Some(JointMotor { speed, max }) = motor else { return 0 };
        (self.motor.speed[lane], self.motor.most[lane]) = (speed, max * h);
        feature::MOTOR
    }

    fn set_limit(&mut self, lane: usize, limit: Option<[f32; 2]>) -> u32 {
        let Some([lower, upper]) = limit else { return 0 };
        (self.limits[0][lane], self.limits[1][lane]) = (lower, upper);
        feature::LIMIT
    }

    /// Writes a spring of any kind.
    fn set_spring(&mut self, lane: usize, soft: Give, target: f32, range: [f32; 2]) {
        self.soft.set(lane, soft);
        self.target[lane] = target;
        (self.spring_range[0][lane], self.spring_range[1][lane]) = (range[0], range[1]);
    }
}

/// Writes the parameters of a joint into its lane. Impulses and ends stay. Returns the joint's features.
pub(super) trait Write {
    fn write(&mut self, lane: usize, joint: &JointDesc, step: Substep) -> u32;
}

fn rotated(frame: JointFrame, vector: Vec2) -> Vec2 {
    frame.axis().rotate(vector)
}

impl Write for PivotBlock {
    fn write(&mut self, lane: usize, joint: &JointDesc, step: Substep) -> u32 {
        let JointDesc { frame_a, frame_b, stiffness, .. } = *joint;
        let h = step.length;
        let (mut a, mut b) = (frame_a.position, frame_b.position);
        let (mut most, mut velocity) = (f32::INFINITY, Vec2::ZERO);
        let mut soft = rigid(stiffness, step);
        self.drive.clear(lane);
        self.point.meet[lane] = AT_B;
        let features = match joint.kind {
            JointKind::Revolute(drive) => {
                self.point.meet[lane] = HALF_WAY;
                let features = self.drive.set(lane, &drive, h);
                let needs_angle = features & (feature::SPRING | feature::LIMIT) != 0;
                features | if needs_angle { feature::ANGLE } else { 0 }
            }
            JointKind::Motor { linear_velocity, angular_velocity, offset, angle, max_force, max_torque } => {
                a += rotated(frame_a, offset.unwrap_or(Vec2::ZERO));
                velocity = rotated(frame_a, linear_velocity);
                most = max_force * h;
                soft = if offset.is_some() { soft } else { Give::STOP };
                let turn = if angle.is_some() { rigid(stiffness, step) } else { Give::STOP };
                self.drive.set_spring(lane, turn, angle.unwrap_or(0.0), [-max_torque * h, max_torque * h]);
                self.drive.target_speed[lane] = angular_velocity;
                let angle = if angle.is_some() { feature::ANGLE | feature::WRAPPED } else { 0 };
                feature::SPRING | feature::DRIVEN | angle
            }
            JointKind::Target { target, spring: given, max_force } => {
                (a, b) = (target, frame_a.position);
                most = max_force * h;
                soft = spring(given, h);
                feature::DRIVEN
            }
            _ => 0,
        };
        self.soft.set(lane, soft);
        let features = features | if soft.spring { feature::GIVES } else { 0 };
        self.ends.set_points(lane, a, b);
        set2(&mut self.local_speed, lane, velocity);
        self.most[lane] = most;
        self.drive.forget_unused(lane, features);
        features
    }
}

impl Write for WeldBlock {
    fn write(&mut self, lane: usize, joint: &JointDesc, step: Substep) -> u32 {
        let JointKind::Weld { linear, angular } = joint.kind else { return 0 };
        let of = |given| spring_or_rigid(given, joint.stiffness, step);
        self.ends.set_points(lane, joint.frame_a.position, joint.frame_b.position);
        self.set_soft(lane, of(linear), of(angular));
        self.point.meet[lane] = HALF_WAY;
        let gives = if linear.is_some() || angular.is_some() { feature::GIVES } else { 0 };
        feature::ANGLE | feature::WRAPPED | gives
    }
}

impl SlideBlock {
    /// Writes what sliders and wheels share. Returns the features of their way along the axis.
    fn write_slide(&mut self, lane: usize, joint: &JointDesc, drive: &JointDrive, step: Substep) -> u32 {
        self.ends.set_points(lane, joint.frame_a.position, joint.frame_b.position);
        set2(&mut self.local_axis, lane, joint.frame_a.axis());
        self.soft.set(lane, rigid(joint.stiffness, step));
        let features = self.drive.set(lane, drive, step.length);
        self.drive.forget_unused(lane, features);
        features
    }
}

impl Write for SlideBlock {
    fn write(&mut self, lane: usize, joint: &JointDesc, step: Substep) -> u32 {
        let JointKind::Prismatic(drive) = joint.kind else { return 0 };
        self.write_slide(lane, joint, &drive, step) | feature::ANGLE | feature::WRAPPED
    }
}

impl Write for WheelBlock {
    fn write(&mut self, lane: usize, joint: &JointDesc, step: Substep) -> u32 {
        let JointKind::Wheel(drive) = joint.kind else { return 0 };
        let slide = &mut self.0;
        let features = slide.write_slide(lane, joint, &JointDrive { motor: None, ..drive }, step);
        let motor = &mut slide.turn_motor;
        let Some(JointMotor { speed, max }) = drive.motor else {
            (motor.speed[lane], motor.most[lane], motor.impulse[lane]) = (0.0, 0.0, 0.0);
            return features;
        };
        (motor.speed[lane], motor.most[lane]) = (speed, max * step.length);
        features | feature::TURN_MOTOR
    }
}

impl Write for LineBlock {
    fn write(&mut self, lane: usize, joint: &JointDesc, step: Substep) -> u32 {
        let JointKind::Distance { length, spring: given, spring_force, limit, motor } = joint.kind else {
            return 0;
        };
        let h = step.length;
        self.ends.set_points(lane, joint.frame_a.position, joint.frame_b.position);
        self.soft.set(lane, rigid(joint.stiffness, step));
        self.drive.clear(lane);
        let mut features = self.drive.set_motor(lane, motor, h) | self.drive.set_limit(lane, limit);
        if let Some(given) = given.filter(|spring| spring.hertz > 0.0) {
            let range = spring_force.map(|force| force * h);
            self.drive.set_spring(lane, spring(given, h), length, range);
            features |= feature::SPRING;
        } else if given.is_none() && limit.is_none() && motor.is_none() {
            let range = [f32::NEG_INFINITY, f32::INFINITY];
            self.drive.set_spring(lane, rigid(joint.stiffness, step), length, range);
            features |= feature::SPRING;
        }
        self.drive.forget_unused(lane, features);
        features
    }
}

impl Write for GearBlock {
    fn write(&mut self, lane: usize, joint: &JointDesc, step: Substep) -> u32 {
        self.soft.set(lane, rigid(joint.stiffness, step));
        let JointKind::Gear { ratio } = joint.kind else { return 0 };
        (self.members[0].weight[lane], self.members[1].weight[lane]) = (1.0, ratio);
        feature::ANGLE
    }
}

impl GearBlock {
    /// Writes one of the motions that a gear couples.
    pub(super) fn write_member(&mut self, lane: usize, which: usize, joint: &JointDesc) {
        let member = &mut self.members[which];
        member.ends.set_points(lane, joint.frame_a.position, joint.frame_b.position);
        set2(&mut member.local_axis, lane, joint.frame_a.axis());
        let straight = matches!(joint.kind, JointKind::Prismatic(_));
        member.straight[lane] = if straight { 1.0 } else { 0.0 };
    }
}
