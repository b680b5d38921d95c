//! Descriptions of joints.

use crate::body::BodyHandle;
use crate::error::{Error, check_range, check_vec};
use crate::geometry::trig::sin_cos;
use glam::Vec2;

/// The name of a joint, valid for as long as the joint lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JointHandle {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl JointHandle {
    /// The index in the handle table. While no joint was removed from the world, it counts joints in the order of adding.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// Where a joint holds a body: a point and a direction that are fixed to the body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointFrame {
    /// The point: from the body's centre, in the body's own axes, m.
    pub position: Vec2,
    /// The angle of the frame's x axis against the body's x axis, rad.
    pub angle: f32,
}

impl JointFrame {
    /// A frame at this point of the body, not turned against it.
    pub const fn at(position: Vec2) -> JointFrame {
        JointFrame { position, angle: 0.0 }
    }

    /// The direction of the frame's x axis in the body's own axes.
    pub(crate) fn axis(&self) -> Vec2 {
        let (sin, cos) = sin_cos(self.angle);
        Vec2::new(cos, sin)
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        check_vec("frame.position", self.position, MAX_LENGTH)?;
        check_range("frame.angle", self.angle, -MAX_ANGLE, MAX_ANGLE)
    }
}

/// A damped spring, as the frequency at which the joined bodies would swing on it if nothing else held them. Unlike a stiffness in N/m this
/// behaves the same for light and for heavy bodies, and it is stable at any frequency (an implicit spring: E. Catto, "Soft Constraints",
/// 2011).
///
/// - Its stiffness is that frequency for the mass which the spring itself feels. What else the joint holds is not in it: a bar that is hinged at
///   its end to a post, with an angular spring of 2 Hz, swings at 1 Hz, because the hinge makes it move about its end, with four times the
///   moment of inertia. The mass that a spring feels outside the line of both centres changes with the pose, and an undamped
///   one can then feed energy to two free bodies, in rare cases many times what they had. A damping ratio of 0.2 ends it.
/// - It is damped by the length of a substep h, too: in each the swing is less by the factor 1 / (1 + (2π·hertz·h)²). At 240 substeps a second that is
///   a damping ratio of 0.026 at 1 Hz, and more in proportion to the frequency. (The test `springs_keep_to_their_own_mass`.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Oscillations per second, Hz, in 0..=10⁶. With 0 there is no spring.
    pub hertz: f32,
    /// The damping as a part of the critical one, in 0..=10³. With 1 the bodies come to rest without swinging over.
    pub damping_ratio: f32,
}

impl Spring {
    /// A spring of this frequency (Hz) and damping ratio.
    pub const fn new(hertz: f32, damping_ratio: f32) -> Spring {
        Spring { hertz, damping_ratio }
    }

    /// Checks both fields, whose paths are given.
    fn validate(&self, [hertz, damping_ratio]: SpringPaths) -> Result<(), Error> {
        check_range(hertz, self.hertz, 0.0, 1.0e6)?;
        check_range(damping_ratio, self.damping_ratio, 0.0, 1.0e3)
    }
}

/// A motor: it drives the free motion of a joint at a speed, as far as its strength allows. At a limit of the motion it stops driving, however
/// strong it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointMotor {
    /// The wanted speed of B against A, m/s or rad/s.
    pub speed: f32,
    /// The largest force, N, or torque, N·m. At least 0, and may be infinite.
    pub max: f32,
}

impl JointMotor {
    /// A motor of this speed (m/s or rad/s) and largest force or torque (N or N·m).
    pub const fn new(speed: f32, max: f32) -> JointMotor {
        JointMotor { speed, max }
    }

    fn validate(&self) -> Result<(), Error> {
        check_range("motor.speed", self.speed, -MAX_SPEED, MAX_SPEED)?;
        check_strength("motor.max", self.max)
    }
}

/// The free motion of a joint: along an axis, or about a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointDrive {
    /// Where the spring pulls to, m or rad. It means nothing without a spring.
    pub target: f32,
    /// Pulls to `target`.
    pub spring: Option<Spring>,
    /// The lowest and the highest value, m or rad.
    pub limit: Option<[f32; 2]>,
    /// Drives the motion.
    pub motor: Option<JointMotor>,
}

impl JointDrive {
    fn validate(&self, largest: f32) -> Result<(), Error> {
        check_range("target", self.target, -largest, largest)?;
        self.spring.map_or(Ok(()), |spring| spring.validate(SPRING))?;
        self.motor.map_or(Ok(()), |motor| motor.validate())?;
        check_limit(self.limit, -largest, largest)
    }
}

/// What a joint does. Frames, axes and angles are those of [`JointDesc::frame_a`] and [`JointDesc::frame_b`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointKind {
    /// Holds two points at a distance. Without spring, limit and motor it is a rigid rod. With a limit alone it is a rope, or a
    /// rod that may become shorter or longer within the limit.
    Distance {
        /// The length of the rod, or the length at which the spring has no force, m.
        length: f32,
        /// Pulls or pushes to `length`.
        spring: Option<Spring>,
        /// The smallest and the largest force of the spring, N. A force below 0 pulls the points together. Default: no limits.
        spring_force: [f32; 2],
        /// The smallest and the largest length, m.
        limit: Option<[f32; 2]>,
        /// Changes the length, m/s.
        motor: Option<JointMotor>,
    },
    /// A hinge: holds two points together. What is free is the angle from A's frame to B's. It is counted beyond whole turns: within
    /// ±π when the joint is added, and from there on.
    Revolute(JointDrive),
    /// A slider: holds the point of B on the x axis of A's frame, and B's angle. What is free is the way along the axis.
    Prismatic(JointDrive),
    /// A wheel: holds the point of B on the x axis of A's frame, where the suspension's spring and limits act. B turns freely, or by
    /// the motor.
    Wheel(JointDrive),
    /// Holds points and angles together: rigidly, or by springs.
    Weld {
        /// Between the points. `None`: rigid.
        linear: Option<Spring>,
        /// Between the angles. `None`: rigid.
        angular: Option<Spring>,
    },
    /// Drives B against A with limited force and torque: a character, a moving platform, friction seen from above.
    Motor {
        /// The wanted velocity of B's point against A's, m/s, in the axes of A's frame.
        linear_velocity: Vec2,
        /// The wanted angular velocity of B against A, rad/s.
        angular_velocity: f32,
        /// Where B's point is wanted, in the axes of A's frame, m. The joint pulls it there by its stiffness. `None`: anywhere.
        offset: Option<Vec2>,
        /// The wanted angle from A's frame to B's, rad. `None`: any.
        angle: Option<f32>,
        /// The largest force, N.
        max_force: f32,
        /// The largest torque, N·m.
        max_torque: f32,
    },
    /// Pulls a point of A (that of `frame_a`) to a place in the world. In other engines: a mouse joint.
    Target {
        /// The place, m.
        target: Vec2,
        /// Pulls the point there.
        spring: Spring,
        /// The largest force, N.
        max_force: f32,
    },
    /// Couples the free motions of two revolute or prismatic joints: first + ratio · second stays what it is when the gear is added, or
    /// when its ratio is changed.
    Gear {
        /// How far the first motion goes back while the second goes forward by 1, each in its own unit, m or rad. Not 0.
        ratio: f32,
    },
    /// Keeps two bodies from touching, and nothing else.
    Filter,
}

impl JointKind {
    /// The name of the kind in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            JointKind::Distance { .. } => "distance",
            JointKind::Revolute(_) => "revolute",
            JointKind::Prismatic(_) => "prismatic",
            JointKind::Wheel(_) => "wheel",
            JointKind::Weld { .. } => "weld",
            JointKind::Motor { .. } => "motor",
            JointKind::Target { .. } => "target",
            JointKind::Gear { .. } => "gear",
            JointKind::Filter => "filter",
        }
    }

    fn validate(&self) -> Result<(), Error> {
        match *self {
            JointKind::Distance { length, spring, spring_force, limit, motor } => {
                check_range("length", length, 0.0, MAX_LENGTH)?;
                spring.map_or(Ok(()), |spring| spring.validate(SPRING))?;
                let [low, high] = spring_force;
                check_range("spring_force", low, f32::NEG_INFINITY, f32::MAX)?;
                check_range("spring_force", high, f32::MIN, f32::INFINITY)?;
                if low > high {
                    return Err(Error::Invalid {
                        field: "spring_force",
                        reason: "the smallest is above the largest",
                    });
                }
                motor.map_or(Ok(()), |motor| motor.validate())?;
                check_limit(limit, 0.0, MAX_LENGTH)
            }
            JointKind::Revolute(drive) => drive.validate(MAX_ANGLE),
            JointKind::Prismatic(drive) | JointKind::Wheel(drive) => drive.validate(MAX_LENGTH),
            JointKind::Weld { linear, angular } => {
                linear.map_or(Ok(()), |spring| spring.validate(["linear.hertz", "linear.damping_ratio"]))?;
                angular.map_or(Ok(()), |spring| spring.validate(["angular.hertz", "angular.damping_ratio"]))
            }
            JointKind::Motor { linear_velocity, angular_velocity, offset, angle, max_force, max_torque } => {
                check_vec("linear_velocity", linear_velocity, MAX_SPEED)?;
                check_range("angular_velocity", angular_velocity, -MAX_SPEED, MAX_SPEED)?;
                offset.map_or(Ok(()), |offset| check_vec("offset", offset, MAX_LENGTH))?;
                angle.map_or(Ok(()), |angle| check_range("angle", angle, -MAX_ANGLE, MAX_ANGLE))?;
                check_strength("max_force", max_force)?;
                check_strength("max_torque", max_torque)
            }
            JointKind::Target { target, spring, max_force } => {
                check_vec("target", target, crate::body::MAX_COORDINATE)?;
                spring.validate(SPRING)?;
                check_strength("max_force", max_force)
            }
            JointKind::Gear { ratio } => {
                check_range("ratio", ratio, -1.0e4, 1.0e4)?;
                if ratio.abs() < 1.0e-4 {
                    return Err(Error::Invalid { field: "ratio", reason: "closer to 0 than 10⁻⁴" });
                }
                Ok(())
            }
            JointKind::Filter => Ok(()),
        }
    }
}

/// What a joint joins. Bodies and joints are named by handles, or by places in a list if there is no world yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointEnds<B = BodyHandle, J = JointHandle> {
    /// Two bodies, A and B. At least one of them is dynamic.
    Bodies(B, B),
    /// A body and the world: for [`JointKind::Target`].
    World(B),
    /// The first and the second joint: for [`JointKind::Gear`].
    Joints(J, J),
}

/// A joint.
///
/// ```
/// use granule::{BodyDesc, JointDesc, Settings, Shape, Vec2, World};
///
/// let mut world = World::new(Settings::default())?;
/// let post = world.add_body(&BodyDesc::fixed(Shape::oriented_box(0.1, 1.0), Vec2::new(0.0, 1.0)))?;
/// let door = world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.05), Vec2::new(0.6, 2.0)))?;
/// let hinge = JointDesc::revolute(post, door, Vec2::new(0.1, 1.0), Vec2::new(-0.5, 0.0)).with_limit(-1.0, 1.0);
/// let hinge = world.add_joint(&hinge)?;
/// (0..120).for_each(|_| world.step());
/// assert!((world.joint_state(hinge)?.angle + 1.0).abs() < 0.01); // it hangs at its limit
/// # Ok::<(), granule::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointDesc<B = BodyHandle, J = JointHandle> {
    /// What is joined.
    pub ends: JointEnds<B, J>,
    /// Where A is held.
    pub frame_a: JointFrame,
    /// Where B is held.
    pub frame_b: JointFrame,
    /// What the joint does.
    pub kind: JointKind,
    /// The two bodies touch each other, as far as their filters let them. Default: false.
    pub collide_connected: bool,
    /// How stiffly the joint corrects errors of what it holds rigidly, and at its limits. Default: 60 Hz at a damping ratio of 2.
    /// With 0 Hz it stops motion, but corrects nothing. It is limited to a quarter of the substeps per second: 60 Hz at the default time step
    /// and 4 substeps. More substeps alone make a joint no stiffer; raise both where a heavy body hangs on light ones, as the built-in
    /// scene `ball_and_chain` does (16 substeps and 240 Hz: a ball of 1,000 times the mass of each of 40 links; its joints give way by less
    /// than 0.06 m, as the test `joined::joints_of_scenes_hold` checks).
    pub stiffness: Spring,
    /// The force that breaks the joint, N: the largest one at the end of a substep, or the impulse of a blow over the length of a substep. Default:
    /// infinite.
    pub break_force: f32,
    /// The torque that breaks the joint, N·m, as for the force. Default: infinite.
    pub break_torque: f32,
    /// A joint that is not enabled holds nothing. (Its bodies still do not touch, unless `collide_connected`.) Default: true.
    pub enabled: bool,
    /// A number for the host's own use.
    pub tag: u64,
}

impl<B, J> JointDesc<B, J> {
    /// The default of [`JointDesc::stiffness`].
    pub const STIFFNESS: Spring = Spring::new(60.0, 2.0);

    /// A joint of this kind between the centres of two bodies.
    pub const fn new(a: B, b: B, kind: JointKind) -> Self {
        Self::of(JointEnds::Bodies(a, b), kind)
    }

    const fn of(ends: JointEnds<B, J>, kind: JointKind) -> Self {
        let centre = JointFrame::at(Vec2::ZERO);
        JointDesc {
            ends,
            frame_a: centre,
            frame_b: centre,
            kind,
            collide_connected: false,
            stiffness: Self::STIFFNESS,
            break_force: f32::INFINITY,
            break_torque: f32::INFINITY,
            enabled: true,
            tag: 0,
        }
    }

    /// A rigid rod of this length, m, between a point of A and a point of B.
    pub const fn distance(a: B, b: B, point_a: Vec2, point_b: Vec2, length: f32) -> Self {
        let spring_force = [f32::NEG_INFINITY, f32::INFINITY];
        let kind = JointKind::Distance { length, spring: None, spring_force, limit: None, motor: None };
        Self::new(a, b, kind).at(point_a, point_b)
    }

    /// A hinge between a point of A and a point of B.
    pub const fn revolute(a: B, b: B, point_a: Vec2, point_b: Vec2) -> Self {
        Self::new(a, b, JointKind::Revolute(NO_DRIVE)).at(point_a, point_b)
    }

    /// A slider along an axis of A, given by its angle, rad.
    pub const fn prismatic(a: B, b: B, point_a: Vec2, point_b: Vec2, axis: f32) -> Self {
        Self::new(a, b, JointKind::Prismatic(NO_DRIVE)).at(point_a, point_b).along(axis)
    }

    /// A wheel, B, whose suspension moves along an axis of A, given by its angle, rad.
    pub const fn wheel(a: B, b: B, point_a: Vec2, point_b: Vec2, axis: f32) -> Self {
        Self::new(a, b, JointKind::Wheel(NO_DRIVE)).at(point_a, point_b).along(axis)
    }

    /// A rigid weld of a point of A with a point of B, at the angles that the frames have.
    pub const fn weld(a: B, b: B, point_a: Vec2, point_b: Vec2) -> Self {
        Self::new(a, b, JointKind::Weld { linear: None, angular: None }).at(point_a, point_b)
    }

    /// A joint that pulls a point of a body to a place in the world.
    pub const fn target(a: B, point: Vec2, target: Vec2, spring: Spring, max_force: f32) -> Self {
        let joint = Self::of(JointEnds::World(a), JointKind::Target { target, spring, max_force });
        joint.at(point, Vec2::ZERO)
    }

    /// A gear between two revolute or prismatic joints.
    pub const fn gear(first: J, second: J, ratio: f32) -> Self {
        Self::of(JointEnds::Joints(first, second), JointKind::Gear { ratio })
    }

    /// A joint that keeps two bodies from touching.
    pub const fn filter(a: B, b: B) -> Self {
        Self::new(a, b, JointKind::Filter)
    }

    const fn at(mut self, point_a: Vec2, point_b: Vec2) -> Self {
        (self.frame_a.position, self.frame_b.position) = (point_a, point_b);
        self
    }

    const fn along(mut self, axis: f32) -> Self {
        (self.frame_a.angle, self.frame_b.angle) = (axis, axis);
        self
    }

    /// Returns this joint with a lower and an upper limit of its free motion. Kinds without one stay as they are.
    #[must_use]
    pub fn with_limit(mut self, lower: f32, upper: f32) -> Self {
        match &mut self.kind {
            JointKind::Revolute(drive) | JointKind::Prismatic(drive) | JointKind::Wheel(drive) => {
                drive.limit = Some([lower, upper])
            }
            JointKind::Distance { limit, .. } => *limit = Some([lower, upper]),
            _ => {}
        }
        self
    }

    /// Returns this joint with a motor. Kinds without one stay as they are.
    #[must_use]
    pub fn with_motor(mut self, speed: f32, max: f32) -> Self {
        if let Some(motor) = self.kind_motor() {
            *motor = Some(JointMotor { speed, max });
        }
        self
    }

    /// Returns this joint with a spring of its free motion, which pulls to `target`: an angle, a way or a length. Kinds without one
    /// stay as they are.
    #[must_use]
    pub fn with_spring(mut self, goal: f32, hertz: f32, damping_ratio: f32) -> Self {
        let new = Some(Spring { hertz, damping_ratio });
        match &mut self.kind {
            JointKind::Revolute(drive) | JointKind::Prismatic(drive) | JointKind::Wheel(drive) => {
                (drive.target, drive.spring) = (goal, new);
            }
            JointKind::Distance { length, spring, .. } => (*length, *spring) = (goal, new),
            _ => {}
        }
        self
    }

    /// Whether the joint has a motor with a speed.
    pub(crate) fn has_speed(&self) -> bool {
        match self.kind {
            JointKind::Motor { linear_velocity, angular_velocity, .. } => {
                linear_velocity != Vec2::ZERO || angular_velocity != 0.0
            }
            _ => self.motor_speed() != 0.0,
        }
    }

    /// The speed of the motor of the joint's kind, m/s or rad/s; 0 without one.
    pub(crate) fn motor_speed(&self) -> f32 {
        let motor = match self.kind {
            JointKind::Revolute(drive) | JointKind::Prismatic(drive) | JointKind::Wheel(drive) => drive.motor,
            JointKind::Distance { motor, .. } => motor,
            _ => None,
        };
        motor.map_or(0.0, |motor| motor.speed)
    }

    /// The motor of the joint's kind, if the kind can have one.
    pub(crate) fn kind_motor(&mut self) -> Option<&mut Option<JointMotor>> {
        match &mut self.kind {
            JointKind::Revolute(drive) | JointKind::Prismatic(drive) | JointKind::Wheel(drive) => {
                Some(&mut drive.motor)
            }
            JointKind::Distance { motor, .. } => Some(motor),
            _ => None,
        }
    }

    /// Returns this joint with its bodies and joints renamed.
    pub fn map<C, K>(self, mut body: impl FnMut(B) -> C, mut joint: impl FnMut(J) -> K) -> JointDesc<C, K> {
        let ends = match self.ends {
            JointEnds::Bodies(a, b) => JointEnds::Bodies(body(a), body(b)),
            JointEnds::World(a) => JointEnds::World(body(a)),
            JointEnds::Joints(first, second) => JointEnds::Joints(joint(first), joint(second)),
        };
        JointDesc {
            ends,
            frame_a: self.frame_a,
            frame_b: self.frame_b,
            kind: self.kind,
            collide_connected: self.collide_connected,
            stiffness: self.stiffness,
            break_force: self.break_force,
            break_torque: self.break_torque,
            enabled: self.enabled,
            tag: self.tag,
        }
    }
}

impl<B: PartialEq, J: PartialEq> JointDesc<B, J> {
    /// Checks the fields of the joint.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range; ends that do not fit the kind; a joint of a body, or a gear of a joint,
    /// with itself.
    pub fn validate(&self) -> Result<(), Error> {
        let fits = match self.kind {
            JointKind::Target { .. } => matches!(self.ends, JointEnds::World(_)),
            JointKind::Gear { .. } => matches!(self.ends, JointEnds::Joints(..)),
            _ => matches!(self.ends, JointEnds::Bodies(..)),
        };
        if !fits {
            return Err(Error::Invalid {
                field: "ends",
                reason: "the kind joins something else: see JointEnds",
            });
        }
        match &self.ends {
            JointEnds::Bodies(a, b) if a == b => {
                return Err(Error::Invalid { field: "b", reason: "a joint needs two different bodies" });
            }
            JointEnds::Joints(first, second) if first == second => {
                return Err(Error::Invalid { field: "second", reason: "a gear needs two different joints" });
            }
            _ => {}
        }
        let of_frame = |error: Error, field: [&'static str; 2]| match error {
            Error::OutOfRange { field: "frame.angle", value, min, max } => {
                Error::OutOfRange { field: field[1], value, min, max }
            }
            Error::OutOfRange { value, min, max, .. } => {
                Error::OutOfRange { field: field[0], value, min, max }
            }
            other => other,
        };
        self.frame_a.validate().map_err(|error| of_frame(error, ["frame_a.position", "frame_a.angle"]))?;
        self.frame_b.validate().map_err(|error| of_frame(error, ["frame_b.position", "frame_b.angle"]))?;
        self.kind.validate()?;
        self.stiffness.validate(["stiffness.hertz", "stiffness.damping_ratio"])?;
        check_strength("break_force", self.break_force)?;
        check_strength("break_torque", self.break_torque)
    }
}

/// A free motion without spring, limit and motor.
const NO_DRIVE: JointDrive = JointDrive { target: 0.0, spring: None, limit: None, motor: None };
/// The paths of a spring's fields: of its frequency, and of its damping ratio.
type SpringPaths = [&'static str; 2];
const SPRING: SpringPaths = ["spring.hertz", "spring.damping_ratio"];
/// Largest length and way, m.
const MAX_LENGTH: f32 = 1.0e6;
/// Largest angle, rad.
const MAX_ANGLE: f32 = 1.0e6;
const MAX_SPEED: f32 = crate::body::MAX_SPEED;

/// Checks a force or torque that may be infinite.
fn check_strength(field: &'static str, value: f32) -> Result<(), Error> {
    if value >= 0.0 { Ok(()) } else { Err(Error::OutOfRange { field, value, min: 0.0, max: f32::INFINITY }) }
}

fn check_limit(limit: Option<[f32; 2]>, least: f32, most: f32) -> Result<(), Error> {
    let Some([lower, upper]) = limit else { return Ok(()) };
    check_range("limit", lower, least, most)?;
    check_range("limit", upper, least, most)?;
    if lower > upper {
        return Err(Error::Invalid { field: "limit", reason: "the lower limit is above the upper one" });
    }
    Ok(())
}
