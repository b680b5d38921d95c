//! Descriptions, states, handles and filters of bodies, as hosts write and read them.

use crate::error::{Error, check_range, check_vec};
use crate::geometry::shape::{Shape, ShapeKind};
use crate::material::Material;
use bytemuck::{Pod, Zeroable};
use glam::Vec2;

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyType {
    /// Forces, contacts and links move it.
    Dynamic,
    /// It does not move.
    Static,
    /// It moves by its own velocity alone. Contacts do not change that velocity.
    Kinematic,
}

crate::base::codec::stored_enum!(BodyType = BodyType::Dynamic; { 0 => Dynamic, 1 => Static, 2 => Kinematic });

/// Decides which shapes may touch. Two of them may if the `mask` of each has a bit of the other's `category`, and if they are not
/// in the same group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The layers that the body is in, one bit each. Default: 1.
    pub category: u32,
    /// The layers that the body touches, one bit each. Default: all.
    pub mask: u32,
    /// Bodies of one group do not touch each other: the points of one cloth, the limbs of one ragdoll. 0, the
    /// default, means no group.
    pub group: u32,
}

crate::base::codec::stored!(Filter { category, mask, group });

impl Filter {
    /// The filter of a shape that touches nothing.
    pub(crate) const NOTHING: Filter = Filter { category: 0, mask: 0, group: 0 };

    /// Returns true if shapes with these two filters may touch.
    #[inline(always)]
    pub(crate) fn touches(&self, other: &Filter) -> bool {
        (self.category & other.mask) != 0
            && (other.category & self.mask) != 0
            && (self.group == 0 || self.group != other.group)
    }
}

impl Default for Filter {
    fn default() -> Self {
        Filter { category: 1, mask: u32::MAX, group: 0 }
    }
}

/// The name of a body, valid for as long as the body lives. After that it is refused with an error; it never names another body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct BodyHandle {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

crate::base::codec::stored!(BodyHandle = BodyHandle::default(); { index, generation } columns(body) { body.index, body.generation });

impl BodyHandle {
    /// The handle of no body.
    pub(super) const NONE: BodyHandle = BodyHandle { index: u32::MAX, generation: u32::MAX };

    /// The index in the handle table. While no body was removed from the world, it counts bodies in the order of adding.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of bodies that had this index before.
    pub fn generation(self) -> u32 {
        self.generation
    }

    /// The handle with this index and generation. If there is no such body, every function refuses it.
    pub const fn from_parts(index: u32, generation: u32) -> Self {
        BodyHandle { index, generation }
    }
}

/// The description of a body that you add to a world. Metres, radians, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyDesc {
    /// How the body moves.
    pub body_type: BodyType,
    /// Its shape, centred on `position`.
    pub shape: Shape,
    /// Position of the centre, m, each coordinate in −1e7..=1e7.
    pub position: Vec2,
    /// Counter-clockwise, rad, in −1e7..=1e7. An `Aabb` keeps it but does not turn. An angle of more than half a turn is split into
    /// whole turns and the rest: see [`BodyState`].
    pub angle: f32,
    /// Velocity of the centre, m/s, each component in −1e6..=1e6.
    pub velocity: Vec2,
    /// Counter-clockwise, rad/s, in −1e6..=1e6.
    pub angular_velocity: f32,
    /// Surface and density.
    pub material: Material,
    /// The filter that decides which other bodies it touches.
    pub filter: Filter,
    /// Factor on gravity, in −1000..=1000. Default 1.
    pub gravity_scale: f32,
    /// Rate at which velocity decays, 1/s, in 0..=1e6. Default 0.
    pub linear_damping: f32,
    /// Rate at which angular velocity decays, 1/s, in 0..=1e6. Default 0.
    pub angular_damping: f32,
    /// Mass, kg, in 1e-18..=1e18. 0 means infinite. `None`, the default, means density × area.
    pub mass: Option<f32>,
    /// Moment of inertia about the centre, kg·m², in 1e-18..=1e18. `None`, the default, means that of the shape with this mass. Only for
    /// shapes that turn.
    pub inertia: Option<f32>,
    /// If true, contacts and torques do not turn the body.
    pub fixed_rotation: bool,
    /// If true, the body does not move along x while it is dynamic: see [`World::set_locks`](crate::World::set_locks).
    pub lock_x: bool,
    /// The same along y.
    pub lock_y: bool,
    /// Its largest speed while it is dynamic, m/s, in 0..=1e6. `None`, the default, is no limit. See
    /// [`World::set_max_speeds`](crate::World::set_max_speeds).
    pub max_speed: Option<f32>,
    /// Its largest angular speed while it is dynamic, rad/s, in 0..=1e6. `None`, the default, is no limit.
    pub max_angular_speed: Option<f32>,
    /// Whether the body takes part in anything. Default true. See [`World::set_enabled`](crate::World::set_enabled).
    pub enabled: bool,
    /// A number for the host, which the engine does not read. Default 0. See [`World::tag`](crate::World::tag).
    pub tag: u64,
    /// Whether the body may sleep. Default true. A body that may not keeps awake what touches it, too.
    pub sleep: bool,
    /// The speed below which the body is at rest, m/s, in 0..=1e6. `None`, the default, means
    /// [`Settings::sleep_threshold`](crate::Settings::sleep_threshold).
    pub sleep_threshold: Option<f32>,
    /// For how long it has to be at rest before it sleeps, s, in 0..=1e6. `None`, the default, means
    /// [`Settings::time_to_sleep`](crate::Settings::time_to_sleep).
    pub time_to_sleep: Option<f32>,
    /// Whether the body is so fast that it must be kept from passing through bodies that move, too. Default false. See
    /// [`Settings::continuous`](crate::Settings::continuous).
    pub bullet: bool,
    /// Whether the body's shape is a sensor: it reports what overlaps it, and touches nothing. Default false. See
    /// [`World::sensor_begin_events`](crate::World::sensor_begin_events).
    pub sensor: bool,
}

crate::base::codec::stored!(BodyDesc = BodyDesc::dynamic(Shape::circle(1.0), Vec2::ZERO); { body_type, shape, position, angle, velocity, angular_velocity, material, filter, gravity_scale, linear_damping, angular_damping, mass, inertia, fixed_rotation, lock_x, lock_y, max_speed, max_angular_speed, enabled, tag, sleep, sleep_threshold, time_to_sleep, bullet, sensor });

impl BodyDesc {
    fn new(body_type: BodyType, shape: Shape, position: Vec2) -> Self {
        BodyDesc {
            body_type,
            shape,
            position,
            angle: 0.0,
            velocity: Vec2::ZERO,
            angular_velocity: 0.0,
            material: Material::default(),
            filter: Filter::default(),
            gravity_scale: 1.0,
            linear_damping: 0.0,
            angular_damping: 0.0,
            mass: None,
            inertia: None,
            fixed_rotation: false,
            lock_x: false,
            lock_y: false,
            max_speed: None,
            max_angular_speed: None,
            enabled: true,
            tag: 0,
            sleep: true,
            sleep_threshold: None,
            time_to_sleep: None,
            bullet: false,
            sensor: false,
        }
    }

    /// A dynamic body at rest.
    pub fn dynamic(shape: Shape, position: Vec2) -> Self {
        Self::new(BodyType::Dynamic, shape, position)
    }

    /// A static body.
    pub fn fixed(shape: Shape, position: Vec2) -> Self {
        Self::new(BodyType::Static, shape, position)
    }

    /// A kinematic body.
    pub fn kinematic(shape: Shape, position: Vec2) -> Self {
        Self::new(BodyType::Kinematic, shape, position)
    }

    /// A dynamic particle of this mass, kg, with radius [`BodyDesc::PARTICLE_RADIUS`].
    pub fn particle(position: Vec2, mass: f32) -> Self {
        let shape = Shape::particle(Self::PARTICLE_RADIUS);
        BodyDesc { mass: Some(mass), ..Self::new(BodyType::Dynamic, shape, position) }
    }

    /// The radius of [`BodyDesc::particle`], m.
    pub const PARTICLE_RADIUS: f32 = 0.05;

    /// Returns this description with the body pinned: kinematic, at rest. Bodies linked to it hang from it.
    pub fn pinned(self) -> Self {
        BodyDesc { body_type: BodyType::Kinematic, velocity: Vec2::ZERO, angular_velocity: 0.0, ..self }
    }

    /// Returns true if the shape is a particle.
    pub fn is_particle(&self) -> bool {
        self.shape.kind() == ShapeKind::Particle
    }

    /// Checks the fields of the description.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range; a half-space that is not static; a chain's segment that is dynamic; a
    /// particle that is a sensor; a static body that has a velocity.
    pub fn validate(&self) -> Result<(), Error> {
        self.shape.validate()?;
        self.material.validate()?;
        check_vec("position", self.position, MAX_COORDINATE)?;
        check_range("angle", self.angle, -MAX_COORDINATE, MAX_COORDINATE)?;
        check_vec("velocity", self.velocity, MAX_SPEED)?;
        check_range("angular_velocity", self.angular_velocity, -MAX_SPEED, MAX_SPEED)?;
        check_range("gravity_scale", self.gravity_scale, -1.0e3, 1.0e3)?;
        check_range("linear_damping", self.linear_damping, 0.0, MAX_DAMPING)?;
        check_range("angular_damping", self.angular_damping, 0.0, MAX_DAMPING)?;
        if let Some(mass) = self.mass {
            check_mass(mass)?;
        }
        if let Some(inertia) = self.inertia {
            check_inertia(inertia, self.shape.kind())?;
        }
        check_range("max_speed", self.max_speed.unwrap_or(0.0), 0.0, MAX_SPEED)?;
        check_range("max_angular_speed", self.max_angular_speed.unwrap_or(0.0), 0.0, MAX_SPEED)?;
        check_range("sleep_threshold", self.sleep_threshold.unwrap_or(0.0), 0.0, 1.0e6)?;
        check_range("time_to_sleep", self.time_to_sleep.unwrap_or(0.0), 0.0, 1.0e6)?;
        let fixed = self.body_type == BodyType::Static;
        if self.shape.kind() == ShapeKind::HalfSpace && !fixed {
            return Err(Error::Invalid {
                field: "shape.half_space",
                reason: "only a static body can be one",
            });
        }
        if self.shape.kind() == ShapeKind::ChainSegment && self.body_type == BodyType::Dynamic {
            return Err(Error::Invalid {
                field: "shape.chain_segment",
                reason: "only a static or kinematic body can be one",
            });
        }
        if self.sensor && self.is_particle() {
            return Err(Error::Invalid { field: "sensor", reason: "a particle cannot be one" });
        }
        if fixed && (self.velocity != Vec2::ZERO || self.angular_velocity != 0.0) {
            return Err(Error::Invalid { field: "velocity", reason: "a static body has none" });
        }
        Ok(())
    }
}

/// Refuses a mass that is not 0, which is infinite, or in 1e-18..=1e18.
pub(crate) fn check_mass(mass: f32) -> Result<(), Error> {
    check_range("mass", mass, 0.0, 1.0e18)?;
    if mass == 0.0 { Ok(()) } else { check_range("mass", mass, 1.0e-18, 1.0e18) }
}

/// Refuses a moment of inertia that is out of range, or for a shape that does not turn.
pub(crate) fn check_inertia(inertia: f32, kind: ShapeKind) -> Result<(), Error> {
    check_range("inertia", inertia, 1.0e-18, 1.0e18)?;
    match kind {
        ShapeKind::Aabb | ShapeKind::HalfSpace | ShapeKind::Particle | ShapeKind::ChainSegment => {
            Err(Error::Invalid { field: "inertia", reason: "the shape does not turn" })
        }
        _ => Ok(()),
    }
}

/// The position and velocity of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Position of the centre, m.
    pub position: Vec2,
    /// The present angle, counter-clockwise, rad, in [−π, π]. It is as exact after a million turns as before the first.
    pub angle: f32,
    /// Whole turns in addition to `angle`, counter-clockwise. After 2³¹ of them the count goes on at −2³¹.
    pub turns: i32,
    /// Velocity of the centre at the end of the last step, m/s. `World::set_velocity` sets this value.
    pub velocity: Vec2,
    /// Counter-clockwise, rad/s.
    pub angular_velocity: f32,
}

impl BodyState {
    /// The whole angle, rad: `angle` plus all whole turns. It goes on from the angle that the body was given.
    pub fn total_angle(&self) -> f64 {
        f64::from(self.turns) * std::f64::consts::TAU + f64::from(self.angle)
    }
}

/// Largest accepted coordinate, m. A body that gets beyond it is quarantined.
pub(crate) const MAX_COORDINATE: f32 = 1.0e7;
/// Largest accepted speed, m/s and rad/s.
pub(crate) const MAX_SPEED: f32 = 1.0e6;
/// Speed beyond which a body has gone bad, m/s.
pub(crate) const RUNAWAY_SPEED: f32 = 1.0e8;
/// Largest accepted rate of damping, 1/s.
pub(crate) const MAX_DAMPING: f32 = 1.0e6;
/// The largest number of bodies. Slots are counted in 32 bits, with room for the padding rows of the solver's mirror.
pub(crate) const MAX_BODIES: usize = 1 << 27;
