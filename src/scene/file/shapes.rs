//! The shapes of a scene file, the further parts of its bodies, and its chains.

use super::write::{decimal, pair};
use super::{BodyFile, SceneError, filter_of, filter_to, narrow, narrow_vector, pick, tag_to, value};
use crate::error::Error;
use crate::{Assembly, BodyDesc, Filter, Material, Part, Polygon, Shape};
use glam::Vec2;
use serde::{Deserialize, Serialize};

/// The largest coordinate of a part, m. It is half of the engine's limit: in the end the part's place is relative to
/// the centre of mass, which may lie as far away on the other side.
const MAX_PLACE: f32 = 0.5 * Shape::MAX_EXTENT;
/// The largest number of parts of a body besides its own shape.
const MAX_PARTS: usize = crate::World::MAX_PARTS - 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ShapeFile {
    Circle {
        radius: f64,
    },
    Aabb {
        half_extents: [f64; 2],
    },
    HalfSpace {
        normal: [f64; 2],
        #[serde(default)]
        offset: f64,
    },
    Box {
        half_extents: [f64; 2],
    },
    Capsule {
        half_length: f64,
        radius: f64,
    },
    Segment {
        half_length: f64,
    },
    /// A convex polygon, vertices in any order. It is re-centred: the body's position is the centroid.
    Polygon {
        vertices: Vec<[f64; 2]>,
        #[serde(default, skip_serializing_if = "is_zero")]
        radius: f64,
    },
    ChainSegment {
        half_length: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<[f64; 2]>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<[f64; 2]>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl ShapeFile {
    pub(super) fn shape(&self) -> Result<Shape, SceneError> {
        Ok(match self {
            ShapeFile::Circle { radius } => Shape::circle(narrow("shape.circle.radius", *radius)?),
            ShapeFile::Aabb { half_extents } => {
                Shape::Aabb { half_extents: narrow_vector("shape.aabb.half_extents", *half_extents)? }
            }
            ShapeFile::HalfSpace { normal, offset } => Shape::half_space(
                narrow_vector("shape.half_space.normal", *normal)?,
                narrow("shape.half_space.offset", *offset)?,
            ),
            ShapeFile::Box { half_extents } => {
                Shape::Box { half_extents: narrow_vector("shape.box.half_extents", *half_extents)? }
            }
            ShapeFile::Capsule { half_length, radius } => Shape::capsule(
                narrow("shape.capsule.half_length", *half_length)?,
                narrow("shape.capsule.radius", *radius)?,
            ),
            ShapeFile::Segment { half_length } => {
                Shape::segment(narrow("shape.segment.half_length", *half_length)?)
            }
            ShapeFile::Polygon { vertices, radius } => {
                let vertices = points("shape.polygon.vertices", vertices, Shape::MAX_EXTENT)?;
                let radius = narrow("shape.polygon.radius", *radius)?;
                Shape::Polygon(Polygon::rounded(&vertices, radius)?.0)
            }
            ShapeFile::ChainSegment { half_length, before, after } => {
                let neighbour = |name: &str, point: Option<[f64; 2]>| {
                    let path = format!("shape.chain_segment.{name}");
                    point.map(|point| narrow_vector(&path, point)).transpose()
                };
                Shape::ChainSegment {
                    half_length: narrow("shape.chain_segment.half_length", *half_length)?,
                    before: neighbour("before", *before)?,
                    after: neighbour("after", *after)?,
                }
            }
        })
    }

    pub(super) fn of(shape: &Shape) -> ShapeFile {
        match *shape {
            Shape::Circle { radius } | Shape::Particle { radius } => {
                ShapeFile::Circle { radius: decimal(radius) }
            }
            Shape::Aabb { half_extents } => ShapeFile::Aabb { half_extents: pair(half_extents) },
            Shape::HalfSpace { normal, offset } => {
                ShapeFile::HalfSpace { normal: pair(normal), offset: decimal(offset) }
            }
            Shape::Box { half_extents } => ShapeFile::Box { half_extents: pair(half_extents) },
            Shape::Capsule { half_length, radius } => {
                ShapeFile::Capsule { half_length: decimal(half_length), radius: decimal(radius) }
            }
            Shape::Segment { half_length } => ShapeFile::Segment { half_length: decimal(half_length) },
            Shape::Polygon(polygon) => ShapeFile::Polygon {
                vertices: polygon.vertices().iter().map(|&vertex| pair(vertex)).collect(),
                radius: decimal(polygon.radius()),
            },
            Shape::ChainSegment { half_length, before, after } => ShapeFile::ChainSegment {
                half_length: decimal(half_length),
                before: before.map(pair),
                after: after.map(pair),
            },
        }
    }
}

/// A list of points, each within `max`.
fn points(path: &str, given: &[[f64; 2]], max: f32) -> Result<Vec<Vec2>, SceneError> {
    let point = |(index, &point): (usize, &[f64; 2])| place(&format!("{path}[{index}]"), point, max);
    given.iter().enumerate().map(point).collect()
}

fn place(path: &str, given: [f64; 2], max: f32) -> Result<Vec2, SceneError> {
    let point = narrow_vector(path, given)?;
    match point.to_array().into_iter().find(|number| number.abs() > max) {
        Some(number) => Err(value(path, format!("{number} is not in {}..={max}", -max))),
        None => Ok(point),
    }
}

/// A further shape of a body.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartFile {
    shape: ShapeFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    angle: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    material: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    category: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mask: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sensor: bool,
}

impl PartFile {
    fn part(&self, materials: &[Material]) -> Result<Part, SceneError> {
        let part = Part {
            shape: self.shape.shape()?,
            position: place("position", self.position.unwrap_or([0.0; 2]), MAX_PLACE)?,
            angle: self.angle.map_or(Ok(0.0), |angle| narrow("angle", angle))?,
            material: pick(self.material, materials)?,
            filter: filter_of(self.category, self.mask, self.group),
            tag: self.tag.unwrap_or(0),
            sensor: self.sensor,
        };
        part.validate().map_err(|error| SceneError::from(error).instead_of("part.", ""))?;
        Ok(part)
    }

    pub(super) fn of(part: &Part, material: usize) -> PartFile {
        let [category, mask, group] = filter_to(part.filter);
        PartFile {
            shape: ShapeFile::of(&part.shape),
            position: Some(pair(part.position)),
            angle: (part.angle.to_bits() != 0).then(|| decimal(part.angle)),
            material: Some(material),
            category,
            mask,
            group,
            tag: tag_to(part.tag),
            sensor: part.sensor,
        }
    }
}

impl BodyFile {
    /// Returns the further shapes of `body`, which was made from this struct.
    pub(super) fn parts(&self, body: &BodyDesc, materials: &[Material]) -> Result<Vec<Part>, SceneError> {
        if self.parts.len() > MAX_PARTS {
            return Err(value("parts", format!("a body has at most {MAX_PARTS} beside its own shape")));
        }
        if !self.parts.is_empty() && Part::new(body.shape, Vec2::ZERO).validate().is_err() {
            let reason =
                "only a body whose own shape is a circle, box, capsule, segment or polygon has parts";
            return Err(value("parts", reason));
        }
        let read = |(index, part): (usize, &PartFile)| {
            part.part(materials).map_err(|fault| fault.within(&format!("parts[{index}].")))
        };
        self.parts.iter().enumerate().map(read).collect()
    }
}

/// Static terrain.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChainFile {
    points: Vec<[f64; 2]>,
    #[serde(default)]
    closed: bool,
    #[serde(default)]
    material: Option<usize>,
    #[serde(default)]
    category: Option<u32>,
    #[serde(default)]
    mask: Option<u32>,
}

impl ChainFile {
    /// Returns the chain's segments.
    pub(super) fn bodies(&self, materials: &[Material]) -> Result<Vec<BodyDesc>, SceneError> {
        let points = points("points", &self.points, crate::World::MAX_COORDINATE)?;
        let material = pick(self.material, materials)?;
        let Assembly { mut bodies, .. } =
            Assembly::chain(&points, self.closed, material).map_err(|error| match error {
                Error::Element { index, error } => {
                    SceneError::from(*error).instead_of("chain.points", &format!("points[{index}]"))
                }
                error => SceneError::from(error).instead_of("chain.", ""),
            })?;
        let filter: Filter = filter_of(self.category, self.mask, None);
        for (index, body) in bodies.iter_mut().enumerate() {
            body.filter = filter;
            // A segment may be too long, or its neighbour too far away.
            body.validate().map_err(|error| SceneError::from(error).within(&format!("points[{index}].")))?;
        }
        Ok(bodies)
    }
}
