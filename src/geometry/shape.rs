//! Shapes: their mass properties and extents.
//!
//! A shape that does not turn is stored as two scalars, `ext_x` and `ext_y`: the radius twice for a circle or particle,
//! the half extents for an axis-aligned box, the unit normal for a half-space (whose `ext_z` holds the offset). For a shape
//! that turns, these columns hold the half extents at the angle of the last pair list. The shape itself is in the world's
//! table of outlines (`outline.rs`).

use crate::error::{Error, check_range, check_vec};
use crate::geometry::outline::{MassProperties, Outline};
use crate::geometry::polygon::Polygon;
use glam::Vec2;

/// A shape, centred on its body's position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A disc.
    Circle {
        /// The radius, in metres.
        radius: f32,
    },
    /// A box that stays aligned with the axes: it never rotates.
    Aabb {
        /// Half the width and half the height, in metres.
        half_extents: Vec2,
    },
    /// All points p with `normal · p ≤ offset + normal · position`, with the unit normal, of any direction. Static bodies only.
    HalfSpace {
        /// Points outward, away from the solid side. Longer than 1e-10; it is normalised.
        normal: Vec2,
        /// Distance of the surface from the body's position along the unit normal, in metres.
        offset: f32,
    },
    /// A disc that does not turn: a point of a rope, a cloth or a ragdoll (see [`LinkDesc`](crate::LinkDesc)), or a grain.
    Particle {
        /// The radius, in metres.
        radius: f32,
    },
    /// A box that turns.
    Box {
        /// Half the width and half the height, in metres.
        half_extents: Vec2,
    },
    /// All points within `radius` of the segment from (−half_length, 0) to (half_length, 0).
    Capsule {
        /// Half the length of the segment, without the round ends, in metres.
        half_length: f32,
        /// The radius of the round ends, in metres.
        radius: f32,
    },
    /// The segment from (−half_length, 0) to (half_length, 0). It has no area, so give a dynamic body a mass.
    Segment {
        /// Half the length, in metres.
        half_length: f32,
    },
    /// A convex polygon of up to eight vertices, about its centroid.
    Polygon(Polygon),
    /// A segment of a chain, for terrain. It runs from (−half_length, 0) to (half_length, 0). It is solid only on its right
    /// (below, if it runs to the right), and smooth where the next segment begins. Static or kinematic bodies only.
    /// [`Assembly::chain`](crate::Assembly::chain) makes them.
    ChainSegment {
        /// Half the length, in metres.
        half_length: f32,
        /// The chain's vertex before this segment, in the segment's own axes, m. `None` at an end of the chain.
        before: Option<Vec2>,
        /// The chain's vertex after this segment, in the segment's own axes, m. `None` at an end of the chain.
        after: Option<Vec2>,
    },
}

crate::base::codec::stored_enum!(Shape = Shape::circle(1.0); {
    0 => Circle { radius: f32 },
    1 => Aabb { half_extents: Vec2 },
    2 => HalfSpace { normal: Vec2, offset: f32 },
    3 => Particle { radius: f32 },
    4 => Box { half_extents: Vec2 },
    5 => Capsule { half_length: f32, radius: f32 },
    6 => Segment { half_length: f32 },
    7 => Polygon(polygon: Polygon),
    8 => ChainSegment { half_length: f32, before: Option<Vec2>, after: Option<Vec2> },
});

/// The kinds of [`Shape`], and compounds.
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
    /// [`Shape::Box`]
    Box = 4,
    /// [`Shape::Capsule`]
    Capsule = 5,
    /// [`Shape::Segment`]
    Segment = 6,
    /// [`Shape::Polygon`]
    Polygon = 7,
    /// [`Shape::ChainSegment`]
    ChainSegment = 8,
    /// A body of several parts.
    Compound = 9,
}

impl ShapeKind {
    /// The kind with this number.
    pub(crate) const fn from_number(number: u8) -> ShapeKind {
        match number {
            0 => ShapeKind::Circle,
            1 => ShapeKind::Aabb,
            2 => ShapeKind::HalfSpace,
            3 => ShapeKind::Particle,
            4 => ShapeKind::Box,
            5 => ShapeKind::Capsule,
            6 => ShapeKind::Segment,
            7 => ShapeKind::Polygon,
            8 => ShapeKind::ChainSegment,
            _ => ShapeKind::Compound,
        }
    }

    /// Returns true if contacts of this kind depend on the body's angle.
    pub(crate) const fn turns(self) -> bool {
        self as u8 >= ShapeKind::Box as u8
    }
}

impl Shape {
    /// Smallest accepted radius or half extent, in metres.
    pub const MIN_EXTENT: f32 = 1.0e-4;
    /// Largest accepted radius or half extent, in metres.
    pub const MAX_EXTENT: f32 = 1.0e6;

    /// A circle of this radius, m.
    pub const fn circle(radius: f32) -> Self {
        Shape::Circle { radius }
    }

    /// A particle of this radius, m.
    pub const fn particle(radius: f32) -> Self {
        Shape::Particle { radius }
    }

    /// An axis-aligned box of these half extents, m.
    pub const fn aabb(half_width: f32, half_height: f32) -> Self {
        Shape::Aabb { half_extents: Vec2::new(half_width, half_height) }
    }

    /// A half-space with this outward normal. `offset` is the distance of its surface from the body's position along the unit
    /// normal, m.
    pub const fn half_space(normal: Vec2, offset: f32) -> Self {
        Shape::HalfSpace { normal, offset }
    }

    /// A box that turns, of these half extents, m.
    pub const fn oriented_box(half_width: f32, half_height: f32) -> Self {
        Shape::Box { half_extents: Vec2::new(half_width, half_height) }
    }

    /// A capsule along the body's x axis. `half_length` excludes the round ends. Both in metres.
    pub const fn capsule(half_length: f32, radius: f32) -> Self {
        Shape::Capsule { half_length, radius }
    }

    /// A segment along the body's x axis, of this half length, m.
    pub const fn segment(half_length: f32) -> Self {
        Shape::Segment { half_length }
    }

    /// The polygon with these corners, re-centred on its centroid. [`Polygon::new`] also returns where the centroid is.
    ///
    /// # Errors
    ///
    /// Those of [`Polygon::new`].
    pub fn polygon(points: &[Vec2]) -> Result<Self, Error> {
        Ok(Shape::Polygon(Polygon::new(points)?.0))
    }

    /// The kind of this shape.
    pub const fn kind(&self) -> ShapeKind {
        match self {
            Shape::Box { .. } => ShapeKind::Box,
            Shape::Capsule { .. } => ShapeKind::Capsule,
            Shape::Segment { .. } => ShapeKind::Segment,
            Shape::Polygon(_) => ShapeKind::Polygon,
            Shape::ChainSegment { .. } => ShapeKind::ChainSegment,
            Shape::Circle { .. } => ShapeKind::Circle,
            Shape::Aabb { .. } => ShapeKind::Aabb,
            Shape::HalfSpace { .. } => ShapeKind::HalfSpace,
            Shape::Particle { .. } => ShapeKind::Particle,
        }
    }

    /// Checks the dimensions of the shape.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] with the first field that is not finite or out of range (lengths:
    /// [`Shape::MIN_EXTENT`]`..=`[`Shape::MAX_EXTENT`]); [`Error::ZeroNormal`] for a normal of length zero.
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
            Shape::Box { half_extents } => {
                let field = "shape.box.half_extents";
                check_range(field, half_extents.x, Self::MIN_EXTENT, Self::MAX_EXTENT)?;
                check_range(field, half_extents.y, Self::MIN_EXTENT, Self::MAX_EXTENT)
            }
            Shape::Capsule { half_length, radius } => {
                check_range("shape.capsule.half_length", half_length, Self::MIN_EXTENT, Self::MAX_EXTENT)?;
                check_range("shape.capsule.radius", radius, Self::MIN_EXTENT, Self::MAX_EXTENT)
            }
            Shape::Segment { half_length } => {
                check_range("shape.segment.half_length", half_length, Self::MIN_EXTENT, Self::MAX_EXTENT)
            }
            // `Polygon::rounded` has checked it.
            Shape::Polygon(_) => Ok(()),
            Shape::ChainSegment { half_length, before, after } => {
                let field = "shape.chain_segment.half_length";
                check_range(field, half_length, Self::MIN_EXTENT, Self::MAX_EXTENT)?;
                for (field, neighbour) in
                    [("shape.chain_segment.before", before), ("shape.chain_segment.after", after)]
                {
                    if let Some(point) = neighbour {
                        check_vec(field, point, Self::MAX_EXTENT)?;
                    }
                }
                Ok(())
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

    /// Area in m². Infinite for a half-space, 0 for a segment and a chain's segment.
    pub fn area(&self) -> f32 {
        match *self {
            Shape::Circle { radius } | Shape::Particle { radius } => std::f32::consts::PI * radius * radius,
            Shape::Aabb { half_extents } => 4.0 * half_extents.x * half_extents.y,
            Shape::HalfSpace { .. } => f32::INFINITY,
            _ => self.mass_properties().area as f32,
        }
    }

    /// Moment of inertia about the centre, kg·m², of a body of this shape and `mass` (kg): ½mr² for a disc, m(w² + h²)/12 for a
    /// box, ml²/12 for a segment, the sum over triangles, strips and sectors for capsules and polygons. Infinite for an `Aabb`,
    /// `Particle`, `HalfSpace` and `ChainSegment`, which do not rotate.
    pub fn inertia(&self, mass: f32) -> f32 {
        self.inertia_by(mass, || self.mass_properties())
    }

    /// The same, with the mass properties of the shape for those that need them.
    pub(crate) fn inertia_by(&self, mass: f32, properties: impl FnOnce() -> MassProperties) -> f32 {
        match *self {
            Shape::Circle { radius } => 0.5 * mass * radius * radius,
            Shape::Aabb { .. }
            | Shape::HalfSpace { .. }
            | Shape::Particle { .. }
            | Shape::ChainSegment { .. } => f32::INFINITY,
            Shape::Segment { half_length } => mass * half_length * half_length / 3.0,
            _ => {
                let MassProperties { area, inertia, .. } = properties();
                (f64::from(mass) * inertia / area) as f32
            }
        }
    }

    pub(crate) fn mass_properties(&self) -> MassProperties {
        let nothing = MassProperties { area: 0.0, centroid: glam::DVec2::ZERO, inertia: 0.0 };
        match *self {
            // Many worlds are of discs of all sizes, each of which is asked when it is added: no outline is made for them.
            Shape::Circle { radius } | Shape::Particle { radius } => MassProperties::of_disc(radius.into()),
            _ => Outline::of(self).map_or(nothing, |outline| outline.mass_properties()),
        }
    }

    /// The two stored scalars `ext_x` and `ext_y` (see the module's header). For a shape that turns: the half extents at angle 0.
    pub(crate) fn extents(&self) -> Vec2 {
        match *self {
            Shape::Circle { radius } | Shape::Particle { radius } => Vec2::splat(radius),
            Shape::Aabb { half_extents } => half_extents,
            Shape::HalfSpace { normal, .. } => {
                // In f64, so that a normal of length 1e-10 keeps its direction.
                let n = normal.as_dvec2();
                (n / n.length()).as_vec2()
            }
            _ => Outline::of(self).map_or(Vec2::ZERO, |outline| outline.bounds((0.0, 1.0), Vec2::ZERO)),
        }
    }

    /// Directions of the chain's segments before and after this one, in its own axes. Zero where the chain ends, and for other
    /// shapes.
    pub(crate) fn chain_directions(&self) -> [f32; 4] {
        let Shape::ChainSegment { half_length, before, after } = *self else { return [0.0; 4] };
        let from = |point: Option<Vec2>, sign: f32| {
            let end = Vec2::new(sign * half_length, 0.0);
            point.map_or(Vec2::ZERO, |point| (sign * (point - end)).normalize_or_zero())
        };
        let (before, after) = (from(before, -1.0), from(after, 1.0));
        [before.x, before.y, after.x, after.y]
    }
}
