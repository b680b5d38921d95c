//! A figure of rigid limbs. The bones, their joints and the joints' limits are those of the figures in Box2D's benchmark "rain"
//! (`shared/human.c`, E. Catto, MIT licence), without feet. Knees and elbows are a little bent, so that the figure begins within its
//! limits.

use super::Assembly;
use crate::body::BodyDesc;
use crate::geometry::shape::Shape;
use crate::geometry::trig::sin_cos;
use crate::joints::desc::JointDesc;
use glam::Vec2;
use std::f32::consts::{FRAC_PI_2, PI};

/// A limb: a capsule. Heights are those of the figure that stands straight, in Box2D's units.
struct Bone {
    /// The lower and the upper end of the capsule's axis.
    ends: [f32; 2],
    radius: f32,
    /// The parent's place and the height of the joint with it. The hip has no parent.
    joint: Option<Joint>,
}

struct Joint {
    parent: usize,
    height: f32,
    /// The angle of the limb against its parent at the start, rad.
    bend: f32,
    /// The angle to which the spring pulls, rad. Limits count from there.
    rest: f32,
    /// The limits, in half turns.
    limit: [f32; 2],
    /// The part of the figure's friction torque.
    friction: f32,
}

const fn bone(ends: [f32; 2], radius: f32, joint: Joint) -> Bone {
    Bone { ends, radius, joint: Some(joint) }
}

const fn joint(parent: usize, height: f32, limit: [f32; 2], friction: f32) -> Joint {
    Joint { parent, height, bend: 0.0, rest: 0.0, limit, friction }
}

const UPPER_LEG: Bone = bone([0.65, 0.9], 0.06, joint(0, 0.9, [-0.05, 0.4], 1.0));
const UPPER_ARM: Bone = bone([1.1, 1.35], 0.035, joint(1, 1.35, [-0.1, 0.8], 0.5));

const fn lower_leg(parent: usize) -> Bone {
    let knee = Joint { bend: -0.1, ..joint(parent, 0.625, [-0.5, -0.02], 0.5) };
    bone([0.32, 0.6], 0.045, knee)
}

const fn lower_arm(parent: usize) -> Bone {
    let elbow = Joint { bend: 0.2, rest: 0.25 * PI, ..joint(parent, 1.1, [-0.2, 0.3], 0.1) };
    bone([0.85, 1.1], 0.03, elbow)
}

/// Hip, torso, head; upper and lower leg, twice; upper and lower arm, twice.
const BONES: [Bone; Assembly::FIGURE_BODIES] = [
    Bone { ends: [0.93, 0.97], radius: 0.095, joint: None },
    bone([1.065, 1.335], 0.09, joint(0, 1.0, [-0.25, 0.0], 0.5)),
    bone([1.437, 1.514], 0.075, joint(1, 1.4, [-0.3, 0.1], 0.25)),
    UPPER_LEG,
    lower_leg(3),
    UPPER_LEG,
    lower_leg(5),
    UPPER_ARM,
    lower_arm(7),
    UPPER_ARM,
    lower_arm(9),
];
/// The lowest and the highest point, in Box2D's units.
const EXTENT: [f32; 2] = [0.275, 1.589];
/// The height at scale 1, m.
const HEIGHT: f32 = 1.8;
/// The friction torque for each kilogram and metre of height, m/s². (Box2D: 0.05 N·m, at 0.363 kg and 1.314 m.)
const FRICTION: f32 = 0.105;

impl Assembly {
    /// The number of bodies of [`Assembly::figure`].
    pub const FIGURE_BODIES: usize = 11;

    /// An upright figure of rigid limbs that looks to the right, 1.8 m high at scale 1, of this mass (kg) in all: hip, torso, head,
    /// legs and arms of two limbs each, joined by ten hinges. The hinges have limits, some friction (a motor of speed 0), and a spring
    /// that pulls them straight (the elbows: to an eighth of a turn). `centre` (m) is half-way between crown and soles. The limbs overlap: use [`Assembly::grouped`],
    /// so that they do not touch each other.
    ///
    /// The measures are those of the figures in Box2D's benchmark "rain".
    pub fn figure(centre: Vec2, scale: f32, mass: f32) -> Self {
        let [lowest, highest] = EXTENT;
        let size = scale * HEIGHT / (highest - lowest);
        let middle = 0.5 * (lowest + highest);
        let area = |bone: &Bone| {
            let [low, high] = bone.ends;
            2.0 * bone.radius * (high - low) + PI * bone.radius * bone.radius
        };
        let whole: f32 = BONES.iter().map(area).sum();
        // The centre of each bone, in Box2D's units from the point below the figure's middle, and its angle from the vertical.
        let mut poses: Vec<(Vec2, f32)> = Vec::with_capacity(BONES.len());
        let mut figure = Assembly::default();
        for bone in &BONES {
            let [low, high] = bone.ends;
            let straight = Vec2::new(0.0, 0.5 * (low + high));
            let (place, angle) = bone.joint.as_ref().map_or((straight, 0.0), |joint| {
                let pivot = Vec2::new(0.0, joint.height);
                let (parent, turned) = poses[joint.parent];
                let [start, end] = BONES[joint.parent].ends;
                let from_parent = pivot - Vec2::new(0.0, 0.5 * (start + end));
                let angle = turned + joint.bend;
                (parent + turn(turned, from_parent) + turn(angle, straight - pivot), angle)
            });
            poses.push((place, angle));
            let shape = Shape::capsule(0.5 * size * (high - low), size * bone.radius);
            let position = centre + size * (place - Vec2::new(0.0, middle));
            let limb = BodyDesc::dynamic(shape, position);
            figure.bodies.push(BodyDesc {
                angle: angle + FRAC_PI_2,
                mass: Some(mass * area(bone) / whole),
                ..limb
            });
        }
        for (place, bone) in BONES.iter().enumerate() {
            let Some(joint) = &bone.joint else { continue };
            // A capsule lies along its body's x axis, which here points up.
            let point = |bone: &Bone| {
                let [low, high] = bone.ends;
                Vec2::new(size * (joint.height - 0.5 * (low + high)), 0.0)
            };
            let [lower, upper] = joint.limit.map(|limit| limit * PI);
            let friction = joint.friction * FRICTION * mass * HEIGHT * scale;
            let hinge = JointDesc::revolute(joint.parent, place, point(&BONES[joint.parent]), point(bone));
            let mut hinge =
                hinge.with_limit(lower, upper).with_motor(0.0, friction).with_spring(0.0, 5.0, 0.5);
            hinge.frame_a.angle = joint.rest;
            figure.joints.push(hinge);
        }
        figure
    }
}

/// Turns a vector by this angle, rad.
fn turn(angle: f32, vector: Vec2) -> Vec2 {
    let (sin, cos) = sin_cos(angle);
    Vec2::new(cos, sin).rotate(vector)
}
