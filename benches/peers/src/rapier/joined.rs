//! Rapier's joints: those that are solved by impulses.

use super::{RapierWorld, insert};
use crate::joints::Joined;
use ::granule::{Assembly, JointDesc, JointDrive, JointEnds, JointFrame, JointKind};
use rapier2d::prelude::*;
use std::f32::consts::TAU;

impl Joined for RapierWorld {
    fn join(&mut self, first: usize, joints: &[JointDesc<usize, usize>]) -> Result<(), String> {
        for joint in joints {
            let JointEnds::Bodies(a, b) = joint.ends else { return Err("not between two bodies".to_owned()) };
            let [a, b] = [a, b].map(|place| self.handles[first + place]);
            self.world.impulse_joints.insert(a, b, made(joint)?, true);
        }
        Ok(())
    }

    fn replace(&mut self, first: usize, made: &Assembly) -> Result<(), String> {
        for (place, desc) in made.bodies.iter().enumerate() {
            let old = self.handles[first + place];
            self.world.remove_body(old);
            self.handles[first + place] = insert(&mut self.world, desc, self.sleep)?;
        }
        self.join(first, &made.joints)
    }
}

/// A joint with Rapier's own stiffness of what it holds.
fn made(joint: &JointDesc<usize, usize>) -> Result<GenericJoint, String> {
    let (locked, sprung, driven, drive) = match joint.kind {
        JointKind::Revolute(drive) => {
            (JointAxesMask::LOCKED_REVOLUTE_AXES, JointAxis::AngX, JointAxis::AngX, drive)
        }
        // A wheel: the pin slides along the slot.
        JointKind::Wheel(drive) => {
            (JointAxesMask::LOCKED_PIN_SLOT_AXES, JointAxis::LinX, JointAxis::AngX, drive)
        }
        _ => return Err(format!("{} joints are not compared", joint.kind.name())),
    };
    let frame = |frame: JointFrame| Pose::new(Vector::new(frame.position.x, frame.position.y), frame.angle);
    let mut made = GenericJointBuilder::new(locked)
        .local_frame1(frame(joint.frame_a))
        .local_frame2(frame(joint.frame_b))
        .contacts_enabled(joint.collide_connected);
    let JointDrive { target, spring, limit, motor } = drive;
    if let Some(limit) = limit {
        made = made.limits(sprung, limit);
    }
    if let Some(motor) = motor {
        // The factor is large: the motor holds its speed as far as its strength allows.
        made = made.motor_velocity(driven, motor.speed, 1.0e6).motor_max_force(driven, motor.max);
    }
    // One motor an axis: where both were asked for, the spring takes the place of the motor.
    if let Some(spring) = spring.filter(|spring| spring.hertz > 0.0) {
        let rate = TAU * spring.hertz;
        made = made
            .motor_model(sprung, MotorModel::AccelerationBased)
            .set_motor(sprung, target, 0.0, rate * rate, 2.0 * spring.damping_ratio * rate)
            .motor_max_force(sprung, f32::MAX);
    }
    Ok(made.build())
}
