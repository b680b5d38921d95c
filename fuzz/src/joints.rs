//! Joints: what a host may do with them, and what holds of them.

use super::bytes::Bytes;
use super::machine::Machine;
use granule::{
    BodyHandle, Error, JointDesc, JointDrive, JointEnds, JointFrame, JointHandle, JointKind, JointMotor,
    Spring, Vec2, World,
};

/// Most joints that are ever in a world.
const MOST_JOINTS: usize = 40;

fn spring(bytes: &mut Bytes) -> Option<Spring> {
    (bytes.byte() & 1 == 0).then(|| Spring::new(8.0 * bytes.unit(), 4.0 * bytes.unit()))
}

fn limit(bytes: &mut Bytes) -> Option<[f32; 2]> {
    let lower = bytes.number();
    (bytes.byte() & 1 == 0).then(|| [lower, lower + 4.0 * bytes.unit()])
}

fn motor(bytes: &mut Bytes) -> Option<JointMotor> {
    (bytes.byte() & 1 == 0).then(|| JointMotor::new(bytes.number(), bytes.number().abs() * 10.0))
}

fn drive(bytes: &mut Bytes) -> JointDrive {
    JointDrive { target: bytes.number(), spring: spring(bytes), limit: limit(bytes), motor: motor(bytes) }
}

/// A kind between two bodies.
fn kind(bytes: &mut Bytes) -> JointKind {
    match bytes.byte() % 9 {
        0 | 1 => JointKind::Revolute(drive(bytes)),
        2 => JointKind::Prismatic(drive(bytes)),
        3 => JointKind::Wheel(drive(bytes)),
        4 => JointKind::Weld { linear: spring(bytes), angular: spring(bytes) },
        5 => JointKind::Motor {
            linear_velocity: bytes.vector(),
            angular_velocity: bytes.number(),
            offset: (bytes.byte() & 1 == 0).then(|| bytes.vector()),
            angle: (bytes.byte() & 1 == 0).then(|| bytes.number()),
            max_force: bytes.number().abs() * 10.0,
            max_torque: bytes.number().abs() * 10.0,
        },
        6 => JointKind::Filter,
        _ => JointKind::Distance {
            length: bytes.number().abs(),
            spring: spring(bytes),
            spring_force: [-(bytes.number().abs()), f32::INFINITY],
            limit: (bytes.byte() & 1 == 0).then(|| [0.0, bytes.number().abs()]),
            motor: motor(bytes),
        },
    }
}

fn frame(bytes: &mut Bytes) -> JointFrame {
    match bytes.byte() {
        0..=99 => JointFrame::default(),
        100..=199 => JointFrame::at(bytes.vector()),
        _ => JointFrame { position: bytes.vector(), angle: bytes.number() },
    }
}

impl Machine {
    /// One of the operations with joints.
    pub(super) fn joint_operation(&mut self, bytes: &mut Bytes, number: u8) {
        match number % 8 {
            0..=3 => self.add_joint(bytes),
            4 => self.remove_joint(bytes),
            5 => self.change_joint(bytes),
            6 => self.steer_joint(bytes),
            _ => {
                let count = self.worlds[0].joint_count() + usize::from(bytes.byte() == 0);
                let speeds: Vec<f32> = (0..count).map(|_| bytes.number()).collect();
                self.both(|world| world.set_motor_speeds(&speeds));
            }
        }
    }

    /// A joint, mostly one that is there.
    fn joint(&self, bytes: &mut Bytes) -> JointHandle {
        self.joints.get(bytes.below(self.joints.len().max(1))).copied().unwrap_or_default()
    }

    fn describe_joint(&self, bytes: &mut Bytes) -> JointDesc {
        let (a, b) = (self.body(bytes), self.body(bytes));
        let flags = bytes.byte();
        let mut joint = match flags % 8 {
            0 => JointDesc::target(
                a,
                bytes.vector(),
                bytes.vector(),
                Spring::new(5.0, bytes.unit()),
                bytes.number().abs() * 100.0,
            ),
            1 => JointDesc::gear(self.joint(bytes), self.joint(bytes), bytes.number()),
            _ => JointDesc::new(a, b, kind(bytes)),
        };
        if flags % 8 > 1 {
            (joint.frame_a, joint.frame_b) = (frame(bytes), frame(bytes));
        }
        joint.collide_connected = flags & 8 != 0;
        if flags & 16 != 0 {
            joint.stiffness = Spring::new(bytes.number().abs() * 10.0, 4.0 * bytes.unit());
        }
        if flags & 32 != 0 {
            joint.break_force = bytes.number().abs() * 10.0;
        }
        if flags & 64 != 0 {
            joint.break_torque = bytes.number().abs() * 10.0;
        }
        joint.enabled = flags & 128 == 0 || bytes.byte() & 1 == 0;
        joint.tag = u64::from(flags);
        joint
    }

    fn add_joint(&mut self, bytes: &mut Bytes) {
        let joint = self.describe_joint(bytes);
        if self.joints.len() >= MOST_JOINTS {
            return;
        }
        let added = if bytes.byte() & 1 == 0 {
            self.both(|world| world.add_joint(&joint).map(|joint| vec![joint]))
        } else {
            self.both(|world| world.add_joints(&[joint, joint]))
        };
        self.joints.extend(added.unwrap_or_default());
    }

    fn remove_joint(&mut self, bytes: &mut Bytes) {
        let joint = self.joint(bytes);
        let was_there = self.worlds[0].joint(joint).is_ok();
        let removed = self.both(|world| world.remove_joint(joint)).is_some();
        assert_eq!(removed, was_there, "{joint:?}");
        assert!(self.worlds[0].joint(joint).is_err() && self.worlds[0].joint_state(joint).is_err());
    }

    /// All parameters at once.
    fn change_joint(&mut self, bytes: &mut Bytes) {
        let joint = self.joint(bytes);
        let mut desc = self.describe_joint(bytes);
        if let Ok(old) = self.worlds[0].joint(joint)
            && bytes.byte() > 20
        {
            desc.ends = old.ends;
            if !matches!(old.ends, JointEnds::Bodies(..)) {
                desc.kind = old.kind;
            }
        }
        if self.both(|world| world.set_joint(joint, &desc)).is_some() {
            assert_eq!(self.worlds[0].joint(joint), Ok(desc));
        }
    }

    /// Single parameters.
    fn steer_joint(&mut self, bytes: &mut Bytes) {
        let (joint, how) = (self.joint(bytes), bytes.byte() % 3);
        let to = bytes.vector();
        match how {
            0 => self.both(|world| world.set_motor_speed(joint, to.x)),
            1 => self.both(|world| world.set_target(joint, to)),
            _ => self.both(|world| world.enable_joint(joint, to.x > 0.0)),
        };
    }
}

/// Reads all that can be read of joints.
pub fn read(world: &World) {
    assert_eq!(world.joints().count(), world.joint_count());
    for (handle, joint) in world.joints() {
        assert_eq!(world.joint(handle), Ok(joint), "of index {}", handle.index());
        joint.validate().expect("a joint that was accepted");
        let state = world.joint_state(handle).expect("a joint");
        let figures = [state.angle, state.translation, state.speed, state.torque];
        assert!(
            figures.iter().all(|figure| figure.is_finite()) && state.force.is_finite(),
            "{joint:?}: {state:?}"
        );
        let ends: Vec<BodyHandle> = match joint.ends {
            JointEnds::Bodies(a, b) => vec![a, b],
            JointEnds::World(a) => vec![a],
            JointEnds::Joints(first, second) => {
                assert!(world.joint(first).is_ok() && world.joint(second).is_ok(), "{joint:?}");
                Vec::new()
            }
        };
        for body in ends {
            assert!(world.joints_of(body).expect("a body").any(|other| other == handle), "{joint:?}");
        }
    }
    let enabled = |body: &BodyHandle| world.is_enabled(*body) == Ok(true);
    let ends = |joint: &JointDesc| match joint.ends {
        JointEnds::Bodies(a, b) => vec![a, b],
        JointEnds::World(a) => vec![a],
        JointEnds::Joints(..) => Vec::new(),
    };
    let rests = |joint: &JointDesc| match joint.ends {
        JointEnds::Joints(first, second) => [first, second]
            .iter()
            .any(|&member| !world.joint(member).is_ok_and(|member| ends(&member).iter().all(enabled))),
        _ => !ends(joint).iter().all(enabled),
    };
    let solved =
        world.joints().filter(|(_, joint)| joint.enabled && joint.kind != JointKind::Filter && !rests(joint));
    let placed: Vec<_> = world.coloured_joints().map(|(_, placed)| placed).collect();
    assert!(solved.map(|(handle, _)| handle).eq(placed.iter().map(|placed| placed.joint)));
    for joint in placed {
        assert!(joint.points.iter().all(|point| point.is_finite()), "{joint:?}");
        assert!((joint.axis.length() - 1.0).abs() < 1e-3, "{joint:?}");
    }
    for event in world.joint_events() {
        let stale = matches!(world.joint(event.joint), Err(Error::StaleHandle { .. }));
        assert!(stale, "{event:?}, and it is there");
    }
    let quality = world.joint_quality();
    assert_eq!(quality.joints, world.joint_count());
    let errors = [quality.mean_error, quality.max_error, quality.max_angle_error];
    assert!(errors.iter().all(|error| error.is_finite() && *error >= 0.0), "{quality:?}");
    assert!(quality.mean_error <= 1.000_001 * quality.max_error, "{quality:?}");
}

/// Reads the columns, and holds that they are the states one by one.
pub fn read_columns(world: &mut World) {
    let states: Vec<_> =
        world.joints().map(|(handle, _)| (handle, world.joint_state(handle).expect("a joint"))).collect();
    let columns = world.joint_columns();
    assert_eq!(columns.handle.len(), states.len());
    for (index, (handle, state)) in states.into_iter().enumerate() {
        assert_eq!(columns.handle[index], handle);
        let force = Vec2::new(columns.force_x[index], columns.force_y[index]);
        let read = [
            columns.angle[index],
            columns.translation[index],
            columns.speed[index],
            force.x,
            force.y,
            columns.torque[index],
        ];
        let own = [state.angle, state.translation, state.speed, state.force.x, state.force.y, state.torque];
        assert_eq!(read.map(f32::to_bits), own.map(f32::to_bits));
    }
}
