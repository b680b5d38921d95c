//! How a [`Walker`] walks: the heuristic of Gymnasium's `BipedalWalker` (`bipedal_walker.py`, O. Klimov, MIT licence), whose figure and
//! motors the walkers have. A figure has three states:
//!
//! ```text
//! stay on one leg      the other leg swings forward, until the body is above the foot that stands
//! put the other down   until the moving foot touches the floor
//! push off             the hind knee stretches, until it is straight or the body fast enough; the legs change roles
//! ```
//!
//! The torque of each motor is proportional to how far the joint is from the angle that the state wants, less damping, and what keeps
//! the torso upright. A figure that fell is put back where it began.

use super::Walker;
use crate::geometry::trig::sin_cos;
use crate::scene::Scene;
use crate::{BodyDesc, BodyHandle, BodyState, Error, JointDesc, JointHandle, Shape, World};

/// The largest torque of a motor, N·m.
pub(in crate::scene) const TORQUE: f32 = 80.0;
/// The speeds at which motors turn at most, rad/s: of hips and of knees.
const SPEEDS: [f32; 2] = [4.0, 6.0];
/// The speed of walking, in the heuristic's unit of 8.3 m/s.
const SPEED: f32 = 0.29;
/// The angle of the knee that bears the weight, beyond [`KNEE_ZERO`].
const SUPPORT_KNEE: f32 = 0.1;
/// Knees are counted from this angle, rad.
const KNEE_ZERO: f32 = -1.0;
/// How much the bearing knee stretches in a step of 1/60 s.
const STRETCH: f32 = 0.025;
/// A figure whose torso is lower than this above the floor has fallen, m.
const FALLEN: f32 = 1.2;
/// A foot nearer to the floor than this stands on it, m.
const CONTACT: f32 = 0.02;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    StayOnOneLeg,
    PutOtherDown,
    PushOff,
}

#[derive(Clone, Debug)]
pub(super) struct Gait {
    bodies: [BodyHandle; 5],
    start: [BodyDesc; 5],
    /// Hip and knee of each leg.
    motors: [[(JointHandle, JointDesc); 2]; 2],
    floor: f32,
    phase: Phase,
    /// The leg that moves; the other one stands.
    moving: usize,
    support_knee: f32,
}

impl Gait {
    /// `None` if the scene has no such bodies and joints.
    pub(super) fn new(walker: &Walker, scene: &Scene, world: &World, joints: &[JointHandle]) -> Option<Gait> {
        let place = walker.first_body;
        let start = <[BodyDesc; 5]>::try_from(scene.bodies.get(place..place + 5)?).ok()?;
        let motor = |place: usize| {
            let joint = *joints.get(walker.first_joint + place)?;
            Some((joint, world.joint(joint).ok()?))
        };
        Some(Gait {
            bodies: std::array::from_fn(|limb| scene.handle(place + limb)),
            start,
            motors: [[motor(0)?, motor(1)?], [motor(2)?, motor(3)?]],
            floor: walker.floor,
            phase: Phase::StayOnOneLeg,
            moving: 0,
            support_knee: SUPPORT_KNEE,
        })
    }

    /// Sets the motors for the next step. A walker that lost a body or a joint stands still from then on.
    pub(super) fn drive(&mut self, world: &mut World) {
        let _lost = self.walk(world);
    }

    fn walk(&mut self, world: &mut World) -> Result<(), Error> {
        let torso = world.body(self.bodies[0])?;
        if torso.position.y < self.floor + FALLEN {
            return self.stand_up(world);
        }
        let mut angles = [[0.0; 2]; 2];
        let mut speeds = [[0.0; 2]; 2];
        let mut stands = [false; 2];
        for leg in 0..2 {
            for (joint, zero) in [0.0, KNEE_ZERO].into_iter().enumerate() {
                let state = world.joint_state(self.motors[leg][joint].0)?;
                angles[leg][joint] = state.angle - zero;
                speeds[leg][joint] = state.speed / SPEEDS[joint];
            }
            let foot = world.body(self.bodies[2 + 2 * leg])?;
            stands[leg] = lowest(&foot, &self.start[2 + 2 * leg]) < self.floor + CONTACT;
        }
        let wanted = self.decide(0.12 * torso.velocity.x, angles, stands);
        for leg in 0..2 {
            for joint in 0..2 {
                let [stiffness, damping] = [[0.9, 0.25], [4.0, 0.25]][joint];
                let off = wanted[leg][joint].map_or(0.0, |wanted| wanted - angles[leg][joint]);
                let held = if wanted[leg][joint].is_some() { damping * speeds[leg][joint] } else { 0.0 };
                let balance = match joint {
                    0 => 0.9 * torso.angle + 0.06 * torso.angular_velocity,
                    _ => -1.2 * torso.velocity.y,
                };
                let torque = (0.5 * (stiffness * off - held + balance)).clamp(-1.0, 1.0);
                let (handle, desc) = &mut self.motors[leg][joint];
                *desc = desc.with_motor(SPEEDS[joint].copysign(torque), TORQUE * torque.abs());
                world.set_joint(*handle, desc)?;
            }
        }
        Ok(())
    }

    /// Goes on to the next phase if it is time. Returns the wanted angles of hip and knee of each leg.
    fn decide(&mut self, speed: f32, angles: [[f32; 2]; 2], stands: [bool; 2]) -> [[Option<f32>; 2]; 2] {
        let (moving, standing) = (self.moving, 1 - self.moving);
        let mut wanted = [[None; 2]; 2];
        if self.phase == Phase::StayOnOneLeg {
            wanted[moving] = [Some(1.1), Some(-0.6)];
            let more = if speed > SPEED { 2.0 } else { 1.0 };
            self.support_knee = (self.support_knee + more * STRETCH).min(SUPPORT_KNEE);
            wanted[standing][1] = Some(self.support_knee);
            if angles[standing][0] < 0.1 {
                self.phase = Phase::PutOtherDown;
            }
        }
        if self.phase == Phase::PutOtherDown {
            wanted[moving] = [Some(0.1), Some(SUPPORT_KNEE)];
            wanted[standing][1] = Some(self.support_knee);
            if stands[moving] {
                self.phase = Phase::PushOff;
                self.support_knee = angles[moving][1].min(SUPPORT_KNEE);
            }
        }
        if self.phase == Phase::PushOff {
            wanted[moving][1] = Some(self.support_knee);
            wanted[standing][1] = Some(1.0);
            if angles[standing][1] > 0.88 || speed > 1.2 * SPEED {
                self.phase = Phase::StayOnOneLeg;
                self.moving = standing;
            }
        }
        wanted
    }

    /// Puts a figure that fell back where it began.
    fn stand_up(&mut self, world: &mut World) -> Result<(), Error> {
        for (&body, start) in self.bodies.iter().zip(&self.start) {
            world.set_position(body, start.position)?;
            world.set_angle(body, start.angle)?;
            world.set_velocity(body, start.velocity)?;
            world.set_angular_velocity(body, start.angular_velocity)?;
        }
        (self.phase, self.moving, self.support_knee) = (Phase::StayOnOneLeg, 0, SUPPORT_KNEE);
        Ok(())
    }
}

/// The height of the lowest point of a box, m.
fn lowest(state: &BodyState, desc: &BodyDesc) -> f32 {
    let Shape::Box { half_extents } = desc.shape else { return state.position.y };
    let (sin, cos) = sin_cos(state.angle);
    state.position.y - half_extents.x * sin.abs() - half_extents.y * cos.abs()
}
