//! Compounds: bodies of several shapes.
//!
//! A body has one slot, one mass and one velocity, however many shapes it has. The broadphase sees the bounds
//! of all shapes together. A pair of bodies that come near each other has a contact for each pair of parts that come near
//! each other.

use crate::body::Filter;
use crate::error::{Error, check_range, check_vec};
use crate::geometry::outline::Outline;
use crate::geometry::shape::{Shape, ShapeKind};
use crate::geometry::trig::sin_cos;
use crate::material::Material;
use glam::{DVec2, Vec2};

/// One shape of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// A circle, box, capsule, segment or polygon.
    pub shape: Shape,
    /// Position of the shape's centre, from the body's centre and in the body's own axes, m. The body's centre is its centre of
    /// mass. It moves with each part that is added. [`World::parts`](crate::World::parts) returns where the shapes are then.
    pub position: Vec2,
    /// Angle relative to the body, counter-clockwise, rad, in −1000..=1000.
    pub angle: f32,
    /// Surface and density.
    pub material: Material,
    /// The filter that decides which other shapes the part touches.
    pub filter: Filter,
    /// A number for the host, which the engine does not read. Default 0.
    pub tag: u64,
    /// Whether the part is a sensor: it reports what overlaps it, and touches nothing. Its mass counts all the same. Default false.
    pub sensor: bool,
}

crate::base::codec::stored!(Part = Part::new(Shape::circle(1.0), Vec2::ZERO); { shape, position, angle, material, filter, tag, sensor });

impl Part {
    /// A shape at this position, with angle 0 and the default material and filter.
    pub fn new(shape: Shape, position: Vec2) -> Part {
        let (material, filter) = (Material::default(), Filter::default());
        Part { shape, position, angle: 0.0, material, filter, tag: 0, sensor: false }
    }

    /// Checks the fields of the part.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range; a shape other than a circle, box, capsule, segment or polygon.
    pub fn validate(&self) -> Result<(), Error> {
        self.shape.validate()?;
        self.material.validate()?;
        check_vec("part.position", self.position, Shape::MAX_EXTENT)?;
        check_range("part.angle", self.angle, -1.0e3, 1.0e3)?;
        match self.shape.kind() {
            ShapeKind::Circle
            | ShapeKind::Box
            | ShapeKind::Capsule
            | ShapeKind::Segment
            | ShapeKind::Polygon => Ok(()),
            _ => Err(Error::Invalid {
                field: "part.shape",
                reason: "only a circle, box, capsule, segment or polygon can be a part of a body",
            }),
        }
    }
}

/// A part as the engine keeps it.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    /// The part. The filter of a sensor is [`Filter::NOTHING`].
    pub part: Part,
    /// The filter that a sensor was given; `None` for a part that is no sensor.
    pub sensor_filter: Option<Filter>,
    /// The number of its outline in the world's outlines.
    pub outline: u32,
    /// The number of its material in the table of distinct materials.
    pub material: u32,
    /// Sine and cosine of the part's angle.
    pub turn: (f32, f32),
    /// Distance from the part's centre to its furthest point.
    pub reach: f32,
    /// Distance from the part's centre to its nearest edge.
    pub thickness: f32,
}

impl Placed {
    /// The part as the host describes it.
    pub(crate) fn described(&self) -> Part {
        Part { filter: self.sensor_filter.unwrap_or(self.part.filter), ..self.part }
    }
}

/// The parts of one body.
#[derive(Clone, Default)]
pub(crate) struct Compound {
    pub parts: Vec<Placed>,
    /// The row of the first part among the rows of shapes. Other parts follow. Valid since the last pair list.
    pub first_row: u32,
}

/// Mass, centre of mass, and moment of inertia about that centre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mass {
    pub mass: f64,
    pub centre: DVec2,
    pub inertia: f64,
}

impl Mass {
    /// The mass of a part, in its body's axes.
    pub(crate) fn of(part: &Part) -> Mass {
        let Some(outline) = Outline::of(&part.shape) else {
            return Mass { mass: 0.0, centre: DVec2::ZERO, inertia: 0.0 };
        };
        let properties = outline.mass_properties();
        let density = f64::from(part.material.density);
        Mass {
            mass: density * properties.area,
            centre: part.position.as_dvec2(),
            inertia: density * properties.inertia,
        }
    }

    /// The mass properties of both together, by the parallel axis theorem.
    pub(crate) fn with(self, other: Mass) -> Mass {
        let mass = self.mass + other.mass;
        if mass <= 0.0 {
            return self;
        }
        let centre = (self.mass * self.centre + other.mass * other.centre) / mass;
        let about = |one: Mass| one.inertia + one.mass * one.centre.distance_squared(centre);
        Mass { mass, centre, inertia: about(self) + about(other) }
    }
}

impl Compound {
    /// The place of a part of a body that is turned by (sin, cos): its offset from the body's centre, in the world's axes, and
    /// the part's own (sin, cos).
    pub(crate) fn place(placed: &Placed, (sin, cos): (f32, f32)) -> (Vec2, (f32, f32)) {
        let offset = Vec2::new(cos, sin).rotate(placed.part.position);
        let (part_sin, part_cos) = placed.turn;
        (offset, (sin * part_cos + cos * part_sin, cos * part_cos - sin * part_sin))
    }

    /// Moves the centre by `by`, in the body's axes. The parts stay where they are in the world.
    pub(crate) fn shift_centre(&mut self, by: Vec2) {
        for placed in &mut self.parts {
            placed.part.position -= by;
        }
    }

    /// An upper bound of the distance from the centre to any point of the parts.
    pub(crate) fn reach(&self) -> f32 {
        let reach = |placed: &Placed| {
            let outline = Outline::of(&placed.part.shape);
            placed.part.position.length() + outline.map_or(0.0, |outline| outline.reach())
        };
        self.parts.iter().map(reach).fold(0.0, f32::max)
    }

    /// The distance from the centre to the nearest edge, of the thinnest part.
    pub(crate) fn thickness(&self) -> f32 {
        self.parts.iter().map(|placed| placed.thickness).fold(f32::MAX, f32::min)
    }

    /// Half extents about the centre of a body that is turned by (sin, cos).
    pub(crate) fn bounds(&self, turn: (f32, f32)) -> Vec2 {
        self.parts.iter().fold(Vec2::ZERO, |most, placed| {
            let (offset, turn) = Compound::place(placed, turn);
            let outline = Outline::of(&placed.part.shape);
            most.max(outline.map_or(Vec2::ZERO, |outline| outline.bounds(turn, offset)))
        })
    }
}

/// Sine and cosine of a part's angle.
pub(crate) fn turn_of(part: &Part) -> (f32, f32) {
    if part.angle == 0.0 { (0.0, 1.0) } else { sin_cos(part.angle) }
}
