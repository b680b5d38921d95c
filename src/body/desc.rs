//! What hosts say of bodies, and read of them: descriptions, states, handles, filters.

use crate::error::{Error, check_range, check_vec};
use crate::geometry::shape::{Shape, ShapeKind};
use crate::material::Material;
use bytemuck::{Pod, Zeroable};
use glam::Vec2;

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyType {
    /// By forces and contacts.
    Dynamic,
    /// Not at all.
    Static,
    /// By its velocity alone: contacts do not change it.
    Kinematic,
}

/// Which pairs may touch: `a` and `b` do if each one's category is in the other's mask, and they are not of one
/// group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The layers that the body is in. Default 1.
    pub category: u32,
    /// The layers that it touches. Default all.
    pub mask: u32,
    /// Bodies of one group do not touch each other: the points of one cloth, the limbs of one ragdoll. 0, the
    /// default, is no group.
    pub group: u32,
}

impl Filter {
    /// Whether what has this filter may touch what has the other.
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

/// Names a body for as long as it lives. A removed body's handle is an error, never another body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct BodyHandle {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl BodyHandle {
    /// The handle of no body.
    pub(super) const NONE: BodyHandle = BodyHandle { index: u32::MAX, generation: u32::MAX };

    /// The place in the handle table: in a world from which nothing was removed, the order of adding.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many bodies had this index before.
    pub fn generation(self) -> u32 {
        self.generation
    }

    /// The handle with these parts. A wrong one is refused wherever it is used.
    pub fn from_parts(index: u32, generation: u32) -> Self {
        BodyHandle { index, generation }
    }
}

/// What a body is at the start. Metres, radians, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyDesc {
    /// How it moves.
    pub body_type: BodyType,
    /// Its shape, centred on `position`.
    pub shape: Shape,
    /// Position of the centre, m.
    pub position: Vec2,
    /// Counter-clockwise. An `Aabb` keeps it but does not turn. More than half a turn counts as whole turns and the rest: see
    /// [`BodyState`].
    pub angle: f32,
    /// Velocity of the centre, m/s.
    pub velocity: Vec2,
    /// Counter-clockwise, rad/s.
    pub angular_velocity: f32,
    /// Surface and density.
    pub material: Material,
    /// Which others it touches.
    pub filter: Filter,
    /// Multiplies gravity. Default 1.
    pub gravity_scale: f32,
    /// Rate at which velocity decays, 1/s. Default 0.
    pub linear_damping: f32,
    /// Rate at which angular velocity decays, 1/s. Default 0.
    pub angular_damping: f32,
    /// Instead of density × area. 0 is infinite.
    pub mass: Option<f32>,
    /// Contacts and torques do not turn it.
    pub fixed_rotation: bool,
}

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
            fixed_rotation: false,
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

    /// A particle of this mass, kg: dynamic, of the default radius 0.05 m.
    pub fn particle(position: Vec2, mass: f32) -> Self {
        let shape = Shape::particle(Self::PARTICLE_RADIUS);
        BodyDesc { mass: Some(mass), ..Self::new(BodyType::Dynamic, shape, position) }
    }

    /// Radius of [`BodyDesc::particle`], m.
    pub const PARTICLE_RADIUS: f32 = 0.05;

    /// The same body, but nothing moves it: kinematic, at rest. What is linked to it hangs from it.
    pub fn pinned(self) -> Self {
        BodyDesc { body_type: BodyType::Kinematic, velocity: Vec2::ZERO, angular_velocity: 0.0, ..self }
    }

    /// Whether it is a particle.
    pub fn is_particle(&self) -> bool {
        self.shape.kind() == ShapeKind::Particle
    }

    /// # Errors
    ///
    /// The first field that is not finite or out of range; a half-space that is not static; a static
    /// body that has a velocity.
    pub fn validate(&self) -> Result<(), Error> {
        self.shape.validate()?;
        self.material.validate()?;
        check_vec("position", self.position, MAX_COORDINATE)?;
        check_range("angle", self.angle, -MAX_COORDINATE, MAX_COORDINATE)?;
        check_vec("velocity", self.velocity, MAX_SPEED)?;
        check_range("angular_velocity", self.angular_velocity, -MAX_SPEED, MAX_SPEED)?;
        check_range("gravity_scale", self.gravity_scale, -1.0e3, 1.0e3)?;
        check_range("linear_damping", self.linear_damping, 0.0, 1.0e6)?;
        check_range("angular_damping", self.angular_damping, 0.0, 1.0e6)?;
        if let Some(mass) = self.mass {
            check_range("mass", mass, 0.0, 1.0e18)?;
            if mass != 0.0 && mass < 1.0e-18 {
                return Err(Error::OutOfRange { field: "mass", value: mass, min: 1.0e-18, max: 1.0e18 });
            }
        }
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
        if fixed && (self.velocity != Vec2::ZERO || self.angular_velocity != 0.0) {
            return Err(Error::Invalid { field: "velocity", reason: "a static body has none" });
        }
        Ok(())
    }
}

/// Where a body is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Position of the centre, m.
    pub position: Vec2,
    /// Counter-clockwise, rad, in [−π, π]: how the body is turned now. It is as exact after a million turns as before the
    /// first.
    pub angle: f32,
    /// Whole turns besides, counter-clockwise. After 2³¹ of them the count goes on at −2³¹.
    pub turns: i32,
    /// Velocity of the centre at the end of the last step, m/s: what `World::set_velocity` sets.
    pub velocity: Vec2,
    /// Counter-clockwise, rad/s.
    pub angular_velocity: f32,
}

impl BodyState {
    /// How far the body has turned in all, whole turns included, rad: counted from the angle that it was given.
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
/// Slots are counted in 32 bits, with room for the padding rows of the solver's mirror.
pub(crate) const MAX_BODIES: usize = 1 << 27;
