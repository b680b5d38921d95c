//! Shapes: their mass properties and extents.
//!
//! A shape is stored as two scalars, `ext_x` and `ext_y`: the radius twice for a circle, the half
//! extents for a box, the unit normal for a half-space (whose `pos` then holds the offset).

use crate::error::{Error, check_range, check_vec};
use glam::Vec2;

/// A shape, centred on its body's position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A disc.
    Circle {
        /// In metres.
        radius: f32,
    },
    /// A box that stays aligned with the axes: it never rotates.
    Aabb {
        /// Half the width and half the height, in metres.
        half_extents: Vec2,
    },
    /// All points p with `normal · p ≤ offset + normal · position`: static only, of any direction.
    HalfSpace {
        /// Outward, away from the solid side. Any length but zero; it is normalised.
        normal: Vec2,
        /// Distance of the surface from the body's position along the unit normal, in metres.
        offset: f32,
    },
    /// A disc that does not turn: a point of a rope, a cloth, a ragdoll (see `links.rs`), or a grain.
    Particle {
        /// In metres.
        radius: f32,
    },
}

/// The kinds of [`Shape`], in the order in which a pair of shapes is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ShapeKind {
    /// [`Shape::Circle`]
    Circle = 0,
    /// [`Shape::Aabb`]
    Aabb = 1,
    /// [`Shape::HalfSpace`]
    HalfSpace = 2,
    /// [`Shape::Particle`]
    Particle = 3,
}

impl Shape {
    /// Smallest accepted radius or half extent, in metres.
    pub const MIN_EXTENT: f32 = 1.0e-4;
    /// Largest accepted radius or half extent, in metres.
    pub const MAX_EXTENT: f32 = 1.0e6;

    /// A circle of this radius.
    pub const fn circle(radius: f32) -> Self {
        Shape::Circle { radius }
    }

    /// A particle of this radius.
    pub const fn particle(radius: f32) -> Self {
        Shape::Particle { radius }
    }

    /// An axis-aligned box of these half extents.
    pub const fn aabb(half_width: f32, half_height: f32) -> Self {
        Shape::Aabb { half_extents: Vec2::new(half_width, half_height) }
    }

    /// A half-space with this outward normal.
    pub const fn half_space(normal: Vec2, offset: f32) -> Self {
        Shape::HalfSpace { normal, offset }
    }

    /// Which kind of shape this is.
    pub const fn kind(&self) -> ShapeKind {
        match self {
            Shape::Circle { .. } => ShapeKind::Circle,
            Shape::Aabb { .. } => ShapeKind::Aabb,
            Shape::HalfSpace { .. } => ShapeKind::HalfSpace,
            Shape::Particle { .. } => ShapeKind::Particle,
        }
    }

    /// # Errors
    ///
    /// The field and its value, when a dimension is not finite, not positive or out of range, or a
    /// normal has no length.
    pub fn validate(&self) -> Result<(), Error> {
        match *self {
            Shape::Circle { radius } => {
                check_range("shape.circle.radius", radius, Self::MIN_EXTENT, Self::MAX_EXTENT)
            }
            Shape::Particle { radius } => {
                check_range("shape.particle.radius", radius, Self::MIN_EXTENT, Self::MAX_EXTENT)
            }
            Shape::Aabb { half_extents } => {
                let field = "shape.aabb.half_extents";
                check_range(field, half_extents.x, Self::MIN_EXTENT, Self::MAX_EXTENT)?;
                check_range(field, half_extents.y, Self::MIN_EXTENT, Self::MAX_EXTENT)
            }
            Shape::HalfSpace { normal, offset } => {
                check_vec("shape.half_space.normal", normal, Self::MAX_EXTENT)?;
                check_range("shape.half_space.offset", offset, -1.0e7, 1.0e7)?;
                if normal.length_squared() > 1.0e-20 {
                    Ok(())
                } else {
                    Err(Error::ZeroNormal { field: "shape.half_space.normal" })
                }
            }
        }
    }

    /// Area in m². Infinite for a half-space.
    pub fn area(&self) -> f32 {
        match *self {
            Shape::Circle { radius } | Shape::Particle { radius } => std::f32::consts::PI * radius * radius,
            Shape::Aabb { half_extents } => 4.0 * half_extents.x * half_extents.y,
            Shape::HalfSpace { .. } => f32::INFINITY,
        }
    }

    /// Moment of inertia about the centre of a body of this shape and `mass`: ½mr² for a disc. An
    /// `Aabb` and a `Particle` do not rotate, so their inertia is infinite.
    pub fn inertia(&self, mass: f32) -> f32 {
        match *self {
            Shape::Circle { radius } => 0.5 * mass * radius * radius,
            Shape::Aabb { .. } | Shape::HalfSpace { .. } | Shape::Particle { .. } => f32::INFINITY,
        }
    }

    /// The two stored scalars, see the module's head.
    pub(crate) fn extents(&self) -> Vec2 {
        match *self {
            Shape::Circle { radius } | Shape::Particle { radius } => Vec2::splat(radius),
            Shape::Aabb { half_extents } => half_extents,
            Shape::HalfSpace { normal, .. } => {
                // In f64, so that a normal of length 1e-10 keeps its direction.
                let n = normal.as_dvec2();
                (n / n.length()).as_vec2()
            }
        }
    }
}
