//! Joints of a scene file.
//!
//! All kinds are one struct, whose fields are optional: serde does not refuse unknown fields in an enum whose tag is a field among
//! others. A field that no joint has is refused by serde; a field that another kind has, by [`KindName::has`].

use super::linked::places_of;
use super::write::{decimal, pair};
use super::{SceneError, narrow, narrow_vector, out_of_range, value, vector};
use crate::assembly::check_joint;
use crate::geometry::trig::sin_cos;
use crate::scene::Scene;
use crate::{BodyDesc, JointDesc, JointDrive, JointEnds, JointFrame, JointKind, JointMotor, Spring};
use glam::Vec2;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A joint as scenes have it: ends are places in lists.
type Desc = JointDesc<usize, usize>;

/// A joint. [`KindName::has`] says which kind has which fields.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointFile {
    kind: KindName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    a: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    b: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    second: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frame_a: Option<FrameFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frame_b: Option<FrameFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    collide_connected: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<TargetFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spring: Option<SpringFile>,
    /// `None`: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spring_force: Option<[Option<f64>; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    linear: Option<SpringFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    angular: Option<SpringFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    motor: Option<MotorFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    linear_velocity: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    angular_velocity: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    angle: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_force: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_torque: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    break_force: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    break_torque: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stiffness: Option<SpringFile>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindName {
    Distance,
    Revolute,
    Prismatic,
    Wheel,
    Weld,
    Motor,
    Target,
    Gear,
    #[default]
    Filter,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrameFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    angle: Option<f64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpringFile {
    hertz: f64,
    damping_ratio: f64,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MotorFile {
    speed: f64,
    /// `None`, which the file has to say: no limit.
    #[serde(deserialize_with = "Option::deserialize")]
    max: Option<f64>,
}

/// Where a spring pulls to: a length or an angle, or a point of the world.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged, expecting = "`target` is a number or a point [x, y]")]
enum TargetFile {
    Number(f64),
    Point([f64; 2]),
}

/// Reads the list of joints. An error of a joint's structure names the joint's place in the list.
pub(super) fn numbered<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<JointFile>, D::Error> {
    struct List;

    impl<'de> Visitor<'de> for List {
        type Value = Vec<JointFile>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of joints")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut joints = Vec::new();
            loop {
                match list.next_element() {
                    Ok(Some(joint)) => joints.push(joint),
                    Ok(None) => return Ok(joints),
                    // The parser's text ends in line and column, which it finds there again.
                    Err(error) => {
                        return Err(A::Error::custom(format_args!("joints[{}]: {error}", joints.len())));
                    }
                }
            }
        }
    }

    from.deserialize_seq(List)
}

// From the file to the scene.

impl JointFile {
    /// Returns the joint of a scene with these bodies, of which those from place `first` on are particles. `before` are the joints
    /// before it in the list.
    pub(super) fn desc(
        &self,
        before: &[Desc],
        bodies: &[BodyDesc],
        first: usize,
    ) -> Result<Desc, SceneError> {
        if let Some(field) = self.foreign_field() {
            return Err(value(field, format!("unknown field: a {} joint has none", self.kind.name())));
        }
        let ends = self.ends(first)?;
        let frame_a = self.frame_a.map_or(Ok(JointFrame::default()), |frame| frame.frame("frame_a"))?;
        let frame_b = self.frame_b.map_or(Ok(JointFrame::default()), |frame| frame.frame("frame_b"))?;
        let strength = |path, given| strength(path, given, f32::INFINITY);
        let joint = JointDesc {
            ends,
            frame_a,
            frame_b,
            kind: self.joint_kind(|| apart(ends, [frame_a, frame_b], bodies))?,
            collide_connected: self.collide_connected.unwrap_or(false),
            stiffness: self.stiffness.map_or(Ok(Desc::STIFFNESS), |spring| spring.spring("stiffness"))?,
            break_force: strength("break_force", self.break_force)?,
            break_torque: strength("break_torque", self.break_torque)?,
            enabled: true,
            tag: 0,
        };
        check_joint(&joint, before, bodies)?;
        Ok(joint)
    }

    /// Returns a field that the joint has, and that its kind does not have.
    fn foreign_field(&self) -> Option<&'static str> {
        let given = self.given().into_iter().filter(|&(_, given)| given);
        given.map(|(field, _)| field).find(|field| !self.kind.has(field))
    }

    /// The names of all fields but `kind`, and whether the joint has them.
    fn given(&self) -> [(&'static str, bool); 25] {
        macro_rules! given {
            ($($field:ident)*) => {{
                // All fields are named, so that a new one cannot be forgotten here.
                let JointFile { kind: _, $($field),* } = self;
                [$((stringify!($field), $field.is_some())),*]
            }};
        }
        given! {
            a b first second ratio frame_a frame_b collide_connected length target spring spring_force linear angular limit motor
            linear_velocity angular_velocity offset angle max_force max_torque break_force break_torque stiffness
        }
    }

    /// Returns what is joined. Bodies are places below `first`, where the particles begin.
    fn ends(&self, first: usize) -> Result<JointEnds<usize, usize>, SceneError> {
        let body = |field, given: Option<usize>| {
            let place = self.required(field, given)?;
            if place < first { Ok(place) } else { Err(out_of_range(field, place, "bodies", first)) }
        };
        Ok(match self.kind {
            KindName::Gear => {
                JointEnds::Joints(self.required("first", self.first)?, self.required("second", self.second)?)
            }
            KindName::Target => JointEnds::World(body("a", self.a)?),
            _ => JointEnds::Bodies(body("a", self.a)?, body("b", self.b)?),
        })
    }

    /// Returns what the joint does. `apart` gives the distance between the held points at the start.
    fn joint_kind(&self, apart: impl FnOnce() -> f32) -> Result<JointKind, SceneError> {
        Ok(match self.kind {
            KindName::Distance => JointKind::Distance {
                length: self.length.map_or_else(|| Ok(apart()), |length| narrow("length", length))?,
                spring: spring("spring", self.spring)?,
                spring_force: {
                    let [low, high] = self.spring_force.unwrap_or_default();
                    let bound = |given, none| strength("spring_force", given, none);
                    [bound(low, f32::NEG_INFINITY)?, bound(high, f32::INFINITY)?]
                },
                limit: self.limit()?,
                motor: self.motor()?,
            },
            KindName::Revolute => JointKind::Revolute(self.drive()?),
            KindName::Prismatic => JointKind::Prismatic(self.drive()?),
            KindName::Wheel => JointKind::Wheel(self.drive()?),
            KindName::Weld => JointKind::Weld {
                linear: spring("linear", self.linear)?,
                angular: spring("angular", self.angular)?,
            },
            KindName::Motor => JointKind::Motor {
                linear_velocity: vector("linear_velocity", self.linear_velocity, Vec2::ZERO)?,
                angular_velocity: self
                    .angular_velocity
                    .map_or(Ok(0.0), |speed| narrow("angular_velocity", speed))?,
                offset: self.offset.map(|offset| narrow_vector("offset", offset)).transpose()?,
                angle: self.angle.map(|angle| narrow("angle", angle)).transpose()?,
                max_force: strength("max_force", self.max_force, f32::INFINITY)?,
                max_torque: strength("max_torque", self.max_torque, f32::INFINITY)?,
            },
            KindName::Target => JointKind::Target {
                target: match self.required("target", self.target)? {
                    TargetFile::Point(point) => narrow_vector("target", point)?,
                    TargetFile::Number(_) => {
                        return Err(value("target", "that of a target joint is a point [x, y]"));
                    }
                },
                spring: self.required("spring", self.spring)?.spring("spring")?,
                max_force: strength("max_force", self.max_force, f32::INFINITY)?,
            },
            KindName::Gear => {
                JointKind::Gear { ratio: narrow("ratio", self.required("ratio", self.ratio)?)? }
            }
            KindName::Filter => JointKind::Filter,
        })
    }

    fn drive(&self) -> Result<JointDrive, SceneError> {
        Ok(JointDrive {
            target: match self.target {
                None => 0.0,
                Some(TargetFile::Number(target)) => narrow("target", target)?,
                Some(TargetFile::Point(_)) => {
                    let kind = self.kind.name();
                    return Err(value("target", format!("that of a {kind} joint is a number")));
                }
            },
            spring: spring("spring", self.spring)?,
            limit: self.limit()?,
            motor: self.motor()?,
        })
    }

    fn limit(&self) -> Result<Option<[f32; 2]>, SceneError> {
        let Some([lower, upper]) = self.limit else { return Ok(None) };
        Ok(Some([narrow("limit", lower)?, narrow("limit", upper)?]))
    }

    fn motor(&self) -> Result<Option<JointMotor>, SceneError> {
        let Some(MotorFile { speed, max }) = self.motor else { return Ok(None) };
        let max = strength("motor.max", max, f32::INFINITY)?;
        Ok(Some(JointMotor { speed: narrow("motor.speed", speed)?, max }))
    }

    /// Returns the value of a field without a default.
    fn required<T>(&self, field: &str, given: Option<T>) -> Result<T, SceneError> {
        given.ok_or_else(|| {
            value(field, format!("the field is missing: a {} joint needs it", self.kind.name()))
        })
    }
}

impl FrameFile {
    fn frame(self, path: &str) -> Result<JointFrame, SceneError> {
        Ok(JointFrame {
            position: vector(&format!("{path}.position"), self.position, Vec2::ZERO)?,
            angle: self.angle.map_or(Ok(0.0), |angle| narrow(&format!("{path}.angle"), angle))?,
        })
    }

    /// Returns the frame; `None` if it is the default.
    fn of(frame: &JointFrame) -> Option<FrameFile> {
        let JointFrame { position, angle } = *frame;
        let file = FrameFile {
            position: (position.x.to_bits() | position.y.to_bits() != 0).then(|| pair(position)),
            angle: unless_zero(angle),
        };
        (file.position.is_some() || file.angle.is_some()).then_some(file)
    }
}

impl SpringFile {
    fn spring(self, path: &str) -> Result<Spring, SceneError> {
        Ok(Spring {
            hertz: narrow(&format!("{path}.hertz"), self.hertz)?,
            damping_ratio: narrow(&format!("{path}.damping_ratio"), self.damping_ratio)?,
        })
    }

    fn of(spring: Spring) -> SpringFile {
        SpringFile { hertz: decimal(spring.hertz), damping_ratio: decimal(spring.damping_ratio) }
    }
}

fn spring(path: &str, given: Option<SpringFile>) -> Result<Option<Spring>, SceneError> {
    given.map(|spring| spring.spring(path)).transpose()
}

/// Returns a force or a torque, which has the value `none` if it is not given.
fn strength(path: &str, given: Option<f64>, none: f32) -> Result<f32, SceneError> {
    given.map_or(Ok(none), |given| narrow(path, given))
}

/// Returns the distance between the held points of two bodies.
fn apart(ends: JointEnds<usize, usize>, [frame_a, frame_b]: [JointFrame; 2], bodies: &[BodyDesc]) -> f32 {
    let JointEnds::Bodies(a, b) = ends else { return 0.0 };
    let arm = |body: usize, frame: JointFrame| {
        let (sin, cos) = sin_cos(bodies[body].angle);
        Vec2::new(cos, sin).rotate(frame.position)
    };
    let between = bodies[b].position - bodies[a].position;
    (between + (arm(b, frame_b) - arm(a, frame_a))).length()
}

// From the scene to the file.

/// Returns the joints of a scene.
pub(super) fn joints_of(scene: &Scene) -> Result<Vec<JointFile>, SceneError> {
    let places = places_of(scene);
    let file = |(index, joint): (usize, &Desc)| {
        let path = format!("joints[{index}].");
        check_joint(joint, &scene.joints[..index], &scene.bodies)
            .map_err(|error| SceneError::from(error).within(&path))?;
        JointFile::of(joint, scene, &places).map_err(|error| error.within(&path))
    };
    scene.joints.iter().enumerate().map(file).collect()
}

impl JointFile {
    /// Makes the file's joint of a valid one. Fields with default values are left out. `places` are those of the bodies in the file.
    fn of(joint: &Desc, scene: &Scene, places: &[usize]) -> Result<JointFile, SceneError> {
        // All fields are named, so that a new field of `JointDesc` cannot be forgotten here.
        let JointDesc {
            ends,
            ref frame_a,
            ref frame_b,
            kind,
            collide_connected,
            stiffness,
            break_force,
            break_torque,
            enabled,
            tag,
        } = *joint;
        if !enabled {
            return Err(value("enabled", "a scene file has enabled joints only"));
        }
        if tag != 0 {
            return Err(value("tag", "a scene file has no tags of joints"));
        }
        let body = |field, place: usize| {
            if scene.bodies[place].is_particle() {
                return Err(value(field, "names a particle; joints of a scene file join bodies only"));
            }
            Ok(Some(places[place]))
        };
        let (a, b, first, second) = match ends {
            JointEnds::Bodies(a, b) => (body("a", a)?, body("b", b)?, None, None),
            JointEnds::World(a) => (body("a", a)?, None, None, None),
            JointEnds::Joints(first, second) => (None, None, Some(first), Some(second)),
        };
        let file = JointFile {
            a,
            b,
            first,
            second,
            frame_a: FrameFile::of(frame_a),
            frame_b: FrameFile::of(frame_b),
            collide_connected: collide_connected.then_some(true),
            break_force: finite(break_force),
            break_torque: finite(break_torque),
            stiffness: (stiffness != Desc::STIFFNESS).then(|| SpringFile::of(stiffness)),
            ..JointFile::of_kind(&kind)
        };
        match file.foreign_field() {
            None => Ok(file),
            Some(field) => {
                Err(value(field, format!("a {} joint of a scene file has no such field", file.kind.name())))
            }
        }
    }

    /// Returns the fields of a kind alone.
    fn of_kind(kind: &JointKind) -> JointFile {
        let of_drive = |kind, drive: JointDrive| JointFile {
            kind,
            target: unless_zero(drive.target).map(TargetFile::Number),
            spring: drive.spring.map(SpringFile::of),
            limit: drive.limit.map(|limit| limit.map(decimal)),
            motor: drive.motor.map(MotorFile::of),
            ..JointFile::default()
        };
        match *kind {
            JointKind::Distance { length, spring, spring_force: [low, high], limit, motor } => JointFile {
                length: Some(decimal(length)),
                spring_force: (low > f32::NEG_INFINITY || high < f32::INFINITY)
                    .then(|| [finite(low), finite(high)]),
                ..of_drive(KindName::Distance, JointDrive { target: 0.0, spring, limit, motor })
            },
            JointKind::Revolute(drive) => of_drive(KindName::Revolute, drive),
            JointKind::Prismatic(drive) => of_drive(KindName::Prismatic, drive),
            JointKind::Wheel(drive) => of_drive(KindName::Wheel, drive),
            JointKind::Weld { linear, angular } => JointFile {
                kind: KindName::Weld,
                linear: linear.map(SpringFile::of),
                angular: angular.map(SpringFile::of),
                ..JointFile::default()
            },
            JointKind::Motor { linear_velocity, angular_velocity, offset, angle, max_force, max_torque } => {
                JointFile {
                    kind: KindName::Motor,
                    linear_velocity: Some(pair(linear_velocity)),
                    angular_velocity: Some(decimal(angular_velocity)),
                    offset: offset.map(pair),
                    angle: angle.map(decimal),
                    max_force: finite(max_force),
                    max_torque: finite(max_torque),
                    ..JointFile::default()
                }
            }
            JointKind::Target { target, spring, max_force } => JointFile {
                kind: KindName::Target,
                target: Some(TargetFile::Point(pair(target))),
                spring: Some(SpringFile::of(spring)),
                max_force: finite(max_force),
                ..JointFile::default()
            },
            JointKind::Gear { ratio } => {
                JointFile { kind: KindName::Gear, ratio: Some(decimal(ratio)), ..JointFile::default() }
            }
            JointKind::Filter => JointFile::default(),
        }
    }
}

impl MotorFile {
    fn of(motor: JointMotor) -> MotorFile {
        MotorFile { speed: decimal(motor.speed), max: finite(motor.max) }
    }
}

fn unless_zero(number: f32) -> Option<f64> {
    (number.to_bits() != 0).then(|| decimal(number))
}

/// Returns what is written for a number without which there is no limit.
fn finite(number: f32) -> Option<f64> {
    number.is_finite().then(|| decimal(number))
}

impl KindName {
    /// Returns true if joints of this kind have the field.
    fn has(self, field: &str) -> bool {
        use KindName::{Distance, Filter, Gear, Motor, Prismatic, Revolute, Target, Weld, Wheel};
        let is = |kinds: &[KindName]| kinds.contains(&self);
        match field {
            "a" => !is(&[Gear]),
            "b" => !is(&[Gear, Target]),
            "first" | "second" | "ratio" => is(&[Gear]),
            "frame_a" => !is(&[Gear, Filter]),
            "frame_b" | "collide_connected" => !is(&[Gear, Filter, Target]),
            "length" | "spring_force" => is(&[Distance]),
            "limit" | "motor" => is(&[Distance, Revolute, Prismatic, Wheel]),
            "spring" => is(&[Distance, Revolute, Prismatic, Wheel, Target]),
            "target" => is(&[Revolute, Prismatic, Wheel, Target]),
            "linear" | "angular" => is(&[Weld]),
            "linear_velocity" | "angular_velocity" | "offset" | "angle" | "max_torque" => is(&[Motor]),
            "max_force" => is(&[Motor, Target]),
            // Those of all joints that are solved.
            _ => !is(&[Filter]),
        }
    }

    fn name(self) -> &'static str {
        match self {
            KindName::Distance => "distance",
            KindName::Revolute => "revolute",
            KindName::Prismatic => "prismatic",
            KindName::Wheel => "wheel",
            KindName::Weld => "weld",
            KindName::Motor => "motor",
            KindName::Target => "target",
            KindName::Gear => "gear",
            KindName::Filter => "filter",
        }
    }
}
