//! Box2D's joints.

use super::{Box2dWorld, create, rotation, vec2};
use crate::joints::Joined;
use ::granule::{Assembly, JointDesc, JointDrive, JointEnds, JointKind};
use boxdd_sys::ffi;

/// Two points that a joint holds together: bodies, and points of theirs.
type Held = [(ffi::b2BodyId, ffi::b2Vec2); 2];

impl Joined for Box2dWorld {
    fn join(&mut self, first: usize, joints: &[JointDesc<usize, usize>]) -> Result<(), String> {
        for joint in joints {
            let JointEnds::Bodies(a, b) = joint.ends else { return Err("not between two bodies".to_owned()) };
            let [of_a, of_b] = [joint.frame_a, joint.frame_b].map(|frame| vec2(frame.position.to_array()));
            make_joint(self.world, [(self.bodies[first + a], of_a), (self.bodies[first + b], of_b)], joint)?;
        }
        Ok(())
    }

    fn replace(&mut self, first: usize, made: &Assembly) -> Result<(), String> {
        for &body in &self.bodies[first..first + made.bodies.len()] {
            // SAFETY: the body was created in this world, and its id is replaced below. Its joints go with it.
            unsafe { ffi::b2DestroyBody(body) };
        }
        for (place, desc) in made.bodies.iter().enumerate() {
            // SAFETY: the world exists until `self` is dropped, and no step of it runs.
            self.bodies[first + place] = unsafe { create(self.world, desc) }?;
        }
        self.join(first, &made.joints)
    }
}

/// Makes a joint. Stiffness is Box2D's default, which is that of Granule.
fn make_joint(world: ffi::b2WorldId, ends: Held, joint: &JointDesc<usize, usize>) -> Result<(), String> {
    let set_base = |base: &mut ffi::b2JointDef| {
        [(base.bodyIdA, base.localFrameA.p), (base.bodyIdB, base.localFrameB.p)] = ends;
        (base.localFrameA.q, base.localFrameB.q) =
            (rotation(joint.frame_a.angle), rotation(joint.frame_b.angle));
        base.collideConnected = joint.collide_connected;
    };
    match joint.kind {
        JointKind::Revolute(JointDrive { target, spring, limit, motor }) => {
            // SAFETY: takes nothing and returns a plain value.
            let mut def = unsafe { ffi::b2DefaultRevoluteJointDef() };
            set_base(&mut def.base);
            def.targetAngle = target;
            if let Some(spring) = spring {
                (def.enableSpring, def.hertz, def.dampingRatio) = (true, spring.hertz, spring.damping_ratio);
            }
            if let Some(limit) = limit {
                def.enableLimit = true;
                [def.lowerAngle, def.upperAngle] = limit;
            }
            if let Some(motor) = motor {
                (def.enableMotor, def.motorSpeed, def.maxMotorTorque) = (true, motor.speed, motor.max);
            }
            // SAFETY: both bodies exist in this world; the definition is read during the call.
            unsafe { ffi::b2CreateRevoluteJoint(world, &def) };
        }
        JointKind::Wheel(JointDrive { target: 0.0, spring, limit, motor }) => {
            // SAFETY: takes nothing and returns a plain value.
            let mut def = unsafe { ffi::b2DefaultWheelJointDef() };
            set_base(&mut def.base);
            def.enableSpring = spring.is_some();
            if let Some(spring) = spring {
                (def.hertz, def.dampingRatio) = (spring.hertz, spring.damping_ratio);
            }
            if let Some(limit) = limit {
                def.enableLimit = true;
                [def.lowerTranslation, def.upperTranslation] = limit;
            }
            if let Some(motor) = motor {
                (def.enableMotor, def.motorSpeed, def.maxMotorTorque) = (true, motor.speed, motor.max);
            }
            // SAFETY: as for the revolute joint.
            unsafe { ffi::b2CreateWheelJoint(world, &def) };
        }
        _ => return Err(format!("{} joints are not compared", joint.kind.name())),
    }
    Ok(())
}
