//! Scene files: JSON, read in two stages.
//!
//! First `serde` reads the bytes into the structs below, which are the format: a field that they do not have is
//! unknown, and is refused with its line and column. Numbers are read as `f64`. Then [`SceneFile::scene`] converts them
//! to `f32` and checks every range. An error of this stage gives the path of the value
//! (`bodies[3].shape.circle.radius`) instead.
//!
//! No bytes make the reader panic, and its memory stays in proportion to the length of the input.

mod error;
mod joints;
mod linked;
mod shapes;
mod write;

use super::Scene;
use crate::{BodyDesc, BodyType, Error, Filter, Material, Mix, Mixed, Mixing, Settings, Solver, World};
pub use error::SceneError;
use error::{syntax, value};
use glam::Vec2;
use joints::{JointFile, numbered};
use linked::{AttachmentFile, LinkFile, ParticleFile, hull};
use serde::{Deserialize, Serialize};
use shapes::{ChainFile, PartFile, ShapeFile};
use std::collections::HashMap;
use write::lay_out;

/// The longest name of a scene, in characters.
const MAX_NAME: usize = 100;
/// The file. Every field but a body's `shape` has a default.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gravity: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_step: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    substeps: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link_iterations: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    solver: Option<SolverName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mixing: Option<MixingFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contact_frequency_ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    damping_ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    push_out_speed: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slop: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restitution_threshold: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    projection_percent: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    projection_slop: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sleep: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sleep_threshold: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_to_sleep: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    continuous: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    materials: Vec<MaterialFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    material_pairs: Vec<MaterialPairFile>,
    #[serde(default)]
    bodies: Vec<BodyFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chains: Vec<ChainFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    particles: Vec<ParticleFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<LinkFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<AttachmentFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hulls: Vec<Vec<usize>>,
    #[serde(default, deserialize_with = "numbered", skip_serializing_if = "Vec::is_empty")]
    joints: Vec<JointFile>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SolverName {
    Soft,
    Projection,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MixName {
    Pythagorean,
    GeometricMean,
    Min,
    Max,
    Average,
    Multiply,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MixingFile {
    #[serde(default)]
    friction: Option<MixName>,
    #[serde(default)]
    restitution: Option<MixName>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaterialFile {
    #[serde(default)]
    density: Option<f64>,
    #[serde(default)]
    static_friction: Option<f64>,
    #[serde(default)]
    dynamic_friction: Option<f64>,
    #[serde(default)]
    restitution: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rolling_resistance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tangent_speed: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
}

/// What holds where two materials meet, which are named by their ids.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaterialPairFile {
    a: u32,
    b: u32,
    static_friction: f64,
    dynamic_friction: f64,
    restitution: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyFile {
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    body_type: Option<TypeName>,
    shape: ShapeFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    velocity: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    angle: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    angular_velocity: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    material: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    category: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mask: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gravity_scale: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    linear_damping: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    angular_damping: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mass: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inertia: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fixed_rotation: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lock_x: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lock_y: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_speed: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_angular_speed: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sleep: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sleep_threshold: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_to_sleep: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    bullet: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sensor: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartFile>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TypeName {
    Dynamic,
    Static,
    Kinematic,
}

impl Scene {
    /// Reads a scene file.
    ///
    /// # Errors
    ///
    /// [`SceneError`] names the refused value and its place. `docs/formats.md` lists the fields, their defaults and the
    /// accepted ranges.
    pub fn from_json(bytes: &[u8]) -> Result<Scene, SceneError> {
        let file: SceneFile = serde_json::from_slice(bytes).map_err(|error| syntax(&error))?;
        file.scene()
    }

    /// Writes the scene as a scene file, one line per body. Reading the file gives an equal scene, bit for bit, if the
    /// scene's particles come last and its parts are in the order of their bodies. The instruction set is not written,
    /// and chains are written as their segments.
    ///
    /// # Errors
    ///
    /// [`SceneError::Value`] for what a file can't express: a value that is not finite, a static particle, a joint of a particle, a
    /// joint that is not enabled or has a tag, a scene with a script.
    pub fn to_json(&self) -> Result<String, SceneError> {
        let file = SceneFile::of(self)?;
        Ok(lay_out(&file))
    }
}

// The conversion from the file to the scene.

impl Scene {
    /// Checks what parts change: a body's centre is that of all its parts, and points of links and joints are counted from there. The
    /// first `links` of the scene's links are those of the file, the others are attachments.
    fn check_with_parts(&self, links: usize) -> Result<(), SceneError> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let mut world = World::new(Settings::default())?;
        let own_shapes = self.add_parts(|place, parts| {
            let body = world.add_body(&self.bodies[place])?;
            world.add_parts(body, parts)?;
            Ok(world.parts(body)?[0].position)
        });
        let own_shapes = own_shapes.map_err(|error| match error {
            Error::Element { index, error } => {
                SceneError::from(*error).within(&format!("bodies[{}].", self.parts[index].0))
            }
            error => SceneError::from(error),
        })?;
        for (index, &link) in self.links.iter().enumerate() {
            own_shapes.link(link).validate().map_err(|error| {
                let fault = SceneError::from(error);
                match index.checked_sub(links) {
                    None => fault.within(&format!("links[{index}].")),
                    Some(index) => {
                        fault.instead_of("anchor_b", "anchor").within(&format!("attachments[{index}]."))
                    }
                }
            })?;
        }
        for (index, &joint) in self.joints.iter().enumerate() {
            let valid = own_shapes.joint(joint).validate();
            valid.map_err(|error| SceneError::from(error).within(&format!("joints[{index}].")))?;
        }
        Ok(())
    }
}

impl SceneFile {
    fn scene(self) -> Result<Scene, SceneError> {
        let name = name(self.name.as_deref())?;
        let settings = self.settings()?;
        let materials = self.materials.iter().enumerate().map(|(index, material)| material.material(index));
        let materials = materials.collect::<Result<Vec<_>, _>>()?;
        let pair_materials = self.pair_materials()?;
        let bodies = self.bodies.iter().enumerate().map(|(index, body)| {
            body.desc(&materials).map_err(|fault| fault.within(&format!("bodies[{index}].")))
        });
        let mut bodies = bodies.collect::<Result<Vec<_>, _>>()?;
        let mut parts = Vec::new();
        for (index, (file, body)) in self.bodies.iter().zip(&bodies).enumerate() {
            let of_body = file.parts(body, &materials);
            let of_body = of_body.map_err(|fault| fault.within(&format!("bodies[{index}].")))?;
            parts.extend(of_body.into_iter().map(|part| (index, part)));
        }
        for (index, chain) in self.chains.iter().enumerate() {
            let segments = chain.bodies(&materials);
            bodies.extend(segments.map_err(|fault| fault.within(&format!("chains[{index}].")))?);
        }
        let first = bodies.len();
        for (index, particle) in self.particles.iter().enumerate() {
            let desc = particle.desc(&materials);
            bodies.push(desc.map_err(|fault| fault.within(&format!("particles[{index}].")))?);
        }
        let mut links = Vec::with_capacity(self.links.len() + self.attachments.len());
        for (index, link) in self.links.iter().enumerate() {
            let desc = link.desc(&bodies, first);
            links.push(desc.map_err(|fault| fault.within(&format!("links[{index}].")))?);
        }
        for (index, attachment) in self.attachments.iter().enumerate() {
            let desc = attachment.desc(&bodies, first);
            links.push(desc.map_err(|fault| fault.within(&format!("attachments[{index}].")))?);
        }
        let mut hulls = Vec::with_capacity(self.hulls.len());
        for (index, points) in self.hulls.iter().enumerate() {
            let hull = hull(points, &bodies, first);
            hulls.push(hull.map_err(|fault| fault.instead_of("hull", &format!("hulls[{index}]")))?);
        }
        let mut joints = Vec::with_capacity(self.joints.len());
        for (index, joint) in self.joints.iter().enumerate() {
            let desc = joint.desc(&joints, &bodies, first);
            joints.push(desc.map_err(|fault| fault.within(&format!("joints[{index}].")))?);
        }
        let scene =
            Scene { name, settings, pair_materials, bodies, parts, links, hulls, joints, script: None };
        scene.check_with_parts(self.links.len())?;
        Ok(scene)
    }

    fn pair_materials(&self) -> Result<Vec<([u32; 2], Mixed)>, SceneError> {
        let mut pairs = Vec::with_capacity(self.material_pairs.len());
        let mut places = HashMap::new();
        for (index, pair) in self.material_pairs.iter().enumerate() {
            let path = |field: &str| format!("material_pairs[{index}]{field}");
            if let Some(first) = places.insert((pair.a.min(pair.b), pair.a.max(pair.b)), index) {
                return Err(value(&path(""), format!("names the materials of material_pairs[{first}]")));
            }
            let mixed = Mixed {
                static_friction: narrow(&path(".static_friction"), pair.static_friction)?,
                dynamic_friction: narrow(&path(".dynamic_friction"), pair.dynamic_friction)?,
                restitution: narrow(&path(".restitution"), pair.restitution)?,
            };
            mixed.validate().map_err(|error| SceneError::from(error).instead_of("pair", &path("")))?;
            pairs.push(([pair.a, pair.b], mixed));
        }
        Ok(pairs)
    }

    fn settings(&self) -> Result<Settings, SceneError> {
        let base = match self.solver {
            Some(SolverName::Projection) => Settings::projection(),
            Some(SolverName::Soft) | None => Settings::default(),
        };
        let scalar =
            |path, given: Option<f64>, default| given.map_or(Ok(default), |given| narrow(path, given));
        let settings = Settings {
            gravity: vector("gravity", self.gravity, base.gravity)?,
            time_step: scalar("time_step", self.time_step, base.time_step)?,
            substeps: self.substeps.unwrap_or(base.substeps),
            iterations: self.iterations.unwrap_or(base.iterations),
            link_iterations: self.link_iterations.unwrap_or(base.link_iterations),
            mixing: self.mixing.as_ref().map_or(base.mixing, MixingFile::mixing),
            contact_frequency_ratio: scalar(
                "contact_frequency_ratio",
                self.contact_frequency_ratio,
                base.contact_frequency_ratio,
            )?,
            damping_ratio: scalar("damping_ratio", self.damping_ratio, base.damping_ratio)?,
            push_out_speed: scalar("push_out_speed", self.push_out_speed, base.push_out_speed)?,
            slop: scalar("slop", self.slop, base.slop)?,
            restitution_threshold: scalar(
                "restitution_threshold",
                self.restitution_threshold,
                base.restitution_threshold,
            )?,
            projection_percent: scalar(
                "projection_percent",
                self.projection_percent,
                base.projection_percent,
            )?,
            projection_slop: scalar("projection_slop", self.projection_slop, base.projection_slop)?,
            sleep: self.sleep.unwrap_or(base.sleep),
            sleep_threshold: scalar("sleep_threshold", self.sleep_threshold, base.sleep_threshold)?,
            time_to_sleep: scalar("time_to_sleep", self.time_to_sleep, base.time_to_sleep)?,
            continuous: self.continuous.unwrap_or(base.continuous),
            ..base
        };
        settings.validate()?;
        Ok(settings)
    }
}

impl MixingFile {
    fn mixing(&self) -> Mixing {
        let base = Mixing::default();
        Mixing {
            friction: self.friction.map_or(base.friction, Mix::from),
            restitution: self.restitution.map_or(base.restitution, Mix::from),
        }
    }
}

impl MaterialFile {
    fn material(&self, index: usize) -> Result<Material, SceneError> {
        let base = Material::default();
        let scalar =
            |path, given: Option<f64>, default| given.map_or(Ok(default), |given| narrow(path, given));
        let read = || -> Result<Material, SceneError> {
            let material = Material {
                density: scalar("material.density", self.density, base.density)?,
                static_friction: scalar(
                    "material.static_friction",
                    self.static_friction,
                    base.static_friction,
                )?,
                dynamic_friction: scalar(
                    "material.dynamic_friction",
                    self.dynamic_friction,
                    base.dynamic_friction,
                )?,
                restitution: scalar("material.restitution", self.restitution, base.restitution)?,
                rolling_resistance: scalar(
                    "material.rolling_resistance",
                    self.rolling_resistance,
                    base.rolling_resistance,
                )?,
                tangent_speed: scalar("material.tangent_speed", self.tangent_speed, base.tangent_speed)?,
                id: self.id.unwrap_or(base.id),
            };
            material.validate()?;
            Ok(material)
        };
        read().map_err(|fault| fault.instead_of("material.", &format!("materials[{index}].")))
    }
}

impl BodyFile {
    fn desc(&self, materials: &[Material]) -> Result<BodyDesc, SceneError> {
        let scalar =
            |path, given: Option<f64>, default| given.map_or(Ok(default), |given| narrow(path, given));
        let base = BodyDesc::dynamic(self.shape.shape()?, Vec2::ZERO);
        let desc = BodyDesc {
            body_type: self.body_type.map_or(BodyType::Dynamic, BodyType::from),
            position: vector("position", self.position, Vec2::ZERO)?,
            velocity: vector("velocity", self.velocity, Vec2::ZERO)?,
            angle: scalar("angle", self.angle, 0.0)?,
            angular_velocity: scalar("angular_velocity", self.angular_velocity, 0.0)?,
            material: pick(self.material, materials)?,
            filter: filter_of(self.category, self.mask, self.group),
            gravity_scale: scalar("gravity_scale", self.gravity_scale, base.gravity_scale)?,
            linear_damping: scalar("linear_damping", self.linear_damping, base.linear_damping)?,
            angular_damping: scalar("angular_damping", self.angular_damping, base.angular_damping)?,
            mass: maybe("mass", self.mass)?,
            inertia: maybe("inertia", self.inertia)?,
            fixed_rotation: self.fixed_rotation,
            lock_x: self.lock_x,
            lock_y: self.lock_y,
            max_speed: maybe("max_speed", self.max_speed)?,
            max_angular_speed: maybe("max_angular_speed", self.max_angular_speed)?,
            enabled: self.enabled.unwrap_or(true),
            tag: self.tag.unwrap_or(0),
            sleep: self.sleep.unwrap_or(true),
            sleep_threshold: maybe("sleep_threshold", self.sleep_threshold)?,
            time_to_sleep: maybe("time_to_sleep", self.time_to_sleep)?,
            bullet: self.bullet,
            sensor: self.sensor,
            ..base
        };
        desc.validate()?;
        Ok(desc)
    }
}

/// Reads a number that may be missing.
fn maybe(path: &str, given: Option<f64>) -> Result<Option<f32>, SceneError> {
    given.map(|given| narrow(path, given)).transpose()
}

/// Returns a tag as the file has it: nothing for 0.
fn tag_to(tag: u64) -> Option<u64> {
    (tag != 0).then_some(tag)
}

/// Returns the default filter with these fields, as far as they are given.
fn filter_of(category: Option<u32>, mask: Option<u32>, group: Option<u32>) -> Filter {
    let base = Filter::default();
    Filter {
        category: category.unwrap_or(base.category),
        mask: mask.unwrap_or(base.mask),
        group: group.unwrap_or(base.group),
    }
}

/// Returns category, mask and group; `None` for a default value.
fn filter_to(filter: Filter) -> [Option<u32>; 3] {
    let base = Filter::default();
    let fields = [(filter.category, base.category), (filter.mask, base.mask), (filter.group, base.group)];
    fields.map(|(given, default)| (given != default).then_some(given))
}

/// Returns the material of a body or a particle. If it names none, this is the first material of the list, or the
/// default material if there is no list either.
fn pick(index: Option<usize>, materials: &[Material]) -> Result<Material, SceneError> {
    if index.is_none() && materials.is_empty() {
        return Ok(Material::default());
    }
    let index = index.unwrap_or(0);
    materials.get(index).copied().ok_or_else(|| out_of_range("material", index, "materials", materials.len()))
}

fn out_of_range(field: &str, index: usize, of: &str, count: usize) -> SceneError {
    value(field, format!("{index} is out of range, the number of {of} is {count}"))
}

fn name(given: Option<&str>) -> Result<String, SceneError> {
    let name = given.unwrap_or("scene");
    if name.chars().count() > MAX_NAME {
        return Err(value("name", format!("longer than {MAX_NAME} characters")));
    }
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(value("name", "must be printable and not empty"));
    }
    Ok(name.to_owned())
}

/// Converts `f64` to `f32`. Refuses a number whose `f32` is not finite. The accepted ranges are checked later, on the
/// `f32`.
fn narrow(path: &str, number: f64) -> Result<f32, SceneError> {
    let narrow = number as f32;
    if narrow.is_finite() { Ok(narrow) } else { Err(value(path, format!("{number:e} is out of range"))) }
}

fn narrow_vector(path: &str, [x, y]: [f64; 2]) -> Result<Vec2, SceneError> {
    Ok(Vec2::new(narrow(path, x)?, narrow(path, y)?))
}

fn vector(path: &str, given: Option<[f64; 2]>, default: Vec2) -> Result<Vec2, SceneError> {
    given.map_or(Ok(default), |given| narrow_vector(path, given))
}

impl From<Solver> for SolverName {
    fn from(solver: Solver) -> Self {
        match solver {
            Solver::Soft => SolverName::Soft,
            Solver::Projection => SolverName::Projection,
        }
    }
}

impl From<TypeName> for BodyType {
    fn from(name: TypeName) -> Self {
        match name {
            TypeName::Dynamic => BodyType::Dynamic,
            TypeName::Static => BodyType::Static,
            TypeName::Kinematic => BodyType::Kinematic,
        }
    }
}

impl From<BodyType> for TypeName {
    fn from(body_type: BodyType) -> Self {
        match body_type {
            BodyType::Dynamic => TypeName::Dynamic,
            BodyType::Static => TypeName::Static,
            BodyType::Kinematic => TypeName::Kinematic,
        }
    }
}

impl From<MixName> for Mix {
    fn from(name: MixName) -> Self {
        match name {
            MixName::Pythagorean => Mix::Pythagorean,
            MixName::GeometricMean => Mix::GeometricMean,
            MixName::Min => Mix::Min,
            MixName::Max => Mix::Max,
            MixName::Average => Mix::Average,
            MixName::Multiply => Mix::Multiply,
        }
    }
}

impl From<Mix> for MixName {
    fn from(mix: Mix) -> Self {
        match mix {
            Mix::Pythagorean => MixName::Pythagorean,
            Mix::GeometricMean => MixName::GeometricMean,
            Mix::Min => MixName::Min,
            Mix::Max => MixName::Max,
            Mix::Average => MixName::Average,
            Mix::Multiply => MixName::Multiply,
        }
    }
}
