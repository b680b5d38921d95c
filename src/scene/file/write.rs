//! Writes a scene as a scene file.

use super::error::value;
use super::joints::joints_of;
use super::linked::{ParticleFile, hulls_of, links_of};
use super::shapes::{PartFile, ShapeFile};
use super::{
    BodyFile, MaterialFile, MaterialPairFile, MixingFile, SceneError, SceneFile, filter_to, name, tag_to,
};
use crate::scene::Scene;
use crate::{BodyDesc, BodyType, Material, Mixed, Settings};
use glam::Vec2;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write as _;

impl SceneFile {
    pub(super) fn of(scene: &Scene) -> Result<SceneFile, SceneError> {
        name(Some(&scene.name))?;
        if scene.script.is_some() {
            return Err(value("script", "a scene file has none: what it does is part of the program"));
        }
        scene.settings.validate()?;
        let mut materials = MaterialTable::default();
        let (bodies, particles) = bodies_of(scene, &mut materials)?;
        let (links, attachments) = links_of(scene)?;
        let file = SceneFile {
            name: Some(scene.name.clone()),
            materials: materials.list,
            material_pairs: scene.pair_materials.iter().map(MaterialPairFile::of).collect(),
            bodies,
            chains: Vec::new(),
            particles,
            links,
            attachments,
            hulls: hulls_of(scene)?,
            joints: joints_of(scene)?,
            ..SceneFile::of_settings(&scene.settings)
        };
        file.pair_materials()?;
        Ok(file)
    }

    /// A file with these settings, and nothing else.
    fn of_settings(settings: &Settings) -> SceneFile {
        // All fields are named, so that a new field of `Settings` cannot be forgotten here.
        let Settings {
            gravity,
            time_step,
            substeps,
            iterations,
            link_iterations,
            solver,
            isa: _,
            mixing,
            contact_frequency_ratio,
            damping_ratio,
            push_out_speed,
            slop,
            restitution_threshold,
            projection_percent,
            projection_slop,
            sleep,
            sleep_threshold,
            time_to_sleep,
            continuous,
        } = *settings;
        SceneFile {
            gravity: Some(pair(gravity)),
            time_step: Some(decimal(time_step)),
            substeps: Some(substeps),
            iterations: Some(iterations),
            link_iterations: Some(link_iterations),
            solver: Some(solver.into()),
            mixing: Some(MixingFile {
                friction: Some(mixing.friction.into()),
                restitution: Some(mixing.restitution.into()),
            }),
            contact_frequency_ratio: Some(decimal(contact_frequency_ratio)),
            damping_ratio: Some(decimal(damping_ratio)),
            push_out_speed: Some(decimal(push_out_speed)),
            slop: Some(decimal(slop)),
            restitution_threshold: Some(decimal(restitution_threshold)),
            projection_percent: Some(decimal(projection_percent)),
            projection_slop: Some(decimal(projection_slop)),
            sleep: Some(sleep),
            sleep_threshold: Some(decimal(sleep_threshold)),
            time_to_sleep: Some(decimal(time_to_sleep)),
            continuous: Some(continuous),
            ..SceneFile::default()
        }
    }
}

/// Returns the bodies of the file with their parts, and its particles.
fn bodies_of(
    scene: &Scene,
    materials: &mut MaterialTable,
) -> Result<(Vec<BodyFile>, Vec<ParticleFile>), SceneError> {
    let (mut bodies, mut particles) = (Vec::new(), Vec::new());
    // The place of each body among the file's bodies: particles are in a list of their own.
    let mut places = Vec::with_capacity(scene.bodies.len());
    for (index, body) in scene.bodies.iter().enumerate() {
        places.push(bodies.len());
        body.validate().map_err(|error| SceneError::from(error).within(&format!("bodies[{index}].")))?;
        let material = materials.index(&body.material);
        if body.is_particle() && body.body_type == BodyType::Static {
            let path = format!("bodies[{index}]");
            return Err(value(&path, "a scene file has no static particles, only pinned (kinematic) ones"));
        }
        if body.is_particle() {
            particles.push(ParticleFile::of(body, material));
        } else {
            bodies.push(BodyFile::of(body, material));
        }
    }
    for (index, (body, part)) in scene.parts.iter().enumerate() {
        let fault = |reason: &str| value(&format!("parts[{index}]"), reason);
        if scene.bodies.get(*body).is_none_or(BodyDesc::is_particle) {
            return Err(fault("names a body that is not there, or a particle"));
        }
        part.validate().map_err(|error| SceneError::from(error).within(&format!("parts[{index}].")))?;
        let material = materials.index(&part.material);
        bodies[places[*body]].parts.push(PartFile::of(part, material));
    }
    Ok((bodies, particles))
}

impl BodyFile {
    /// Makes the file's body. Fields with default values are left out.
    pub(super) fn of(body: &BodyDesc, material: usize) -> BodyFile {
        let [category, mask, group] = filter_to(body.filter);
        let unless =
            |value: f32, default: f32| (value.to_bits() != default.to_bits()).then(|| decimal(value));
        let unless_zero = |v: Vec2| (v.x.to_bits() | v.y.to_bits() != 0).then(|| pair(v));
        BodyFile {
            body_type: Some(body.body_type.into()),
            shape: ShapeFile::of(&body.shape),
            position: Some(pair(body.position)),
            velocity: unless_zero(body.velocity),
            angle: unless(body.angle, 0.0),
            angular_velocity: unless(body.angular_velocity, 0.0),
            material: Some(material),
            category,
            mask,
            group,
            gravity_scale: unless(body.gravity_scale, 1.0),
            linear_damping: unless(body.linear_damping, 0.0),
            angular_damping: unless(body.angular_damping, 0.0),
            mass: body.mass.map(decimal),
            inertia: body.inertia.map(decimal),
            fixed_rotation: body.fixed_rotation,
            lock_x: body.lock_x,
            lock_y: body.lock_y,
            max_speed: body.max_speed.map(decimal),
            max_angular_speed: body.max_angular_speed.map(decimal),
            enabled: (!body.enabled).then_some(false),
            tag: tag_to(body.tag),
            sleep: (!body.sleep).then_some(false),
            sleep_threshold: body.sleep_threshold.map(decimal),
            time_to_sleep: body.time_to_sleep.map(decimal),
            bullet: body.bullet,
            sensor: body.sensor,
            parts: Vec::new(),
        }
    }
}

impl MaterialPairFile {
    fn of(&([a, b], mixed): &([u32; 2], Mixed)) -> MaterialPairFile {
        MaterialPairFile {
            a,
            b,
            static_friction: decimal(mixed.static_friction),
            dynamic_friction: decimal(mixed.dynamic_friction),
            restitution: decimal(mixed.restitution),
        }
    }
}

/// The distinct materials of a scene, in the order in which they are first used.
#[derive(Default)]
struct MaterialTable {
    list: Vec<MaterialFile>,
    places: HashMap<[u32; 7], usize>,
}

impl MaterialTable {
    fn index(&mut self, material: &Material) -> usize {
        let unless_zero = |number: f32| (number.to_bits() != 0).then(|| decimal(number));
        *self.places.entry(material.bits()).or_insert_with(|| {
            self.list.push(MaterialFile {
                density: Some(decimal(material.density)),
                static_friction: Some(decimal(material.static_friction)),
                dynamic_friction: Some(decimal(material.dynamic_friction)),
                restitution: Some(decimal(material.restitution)),
                rolling_resistance: unless_zero(material.rolling_resistance),
                tangent_speed: unless_zero(material.tangent_speed),
                id: (material.id != 0).then_some(material.id),
            });
            self.list.len() - 1
        })
    }
}

/// Returns the `f64` that is written for a finite `f32`: the value of its shortest decimal form (0.1, and not
/// 0.10000000149011612), unless the conversion of that value back to `f32` gives another number.
pub(super) fn decimal(value: f32) -> f64 {
    let exact = f64::from(value);
    let short = value.to_string().parse().unwrap_or(exact);
    if (short as f32).to_bits() == value.to_bits() { short } else { exact }
}

pub(super) fn pair(v: Vec2) -> [f64; 2] {
    [decimal(v.x), decimal(v.y)]
}

/// Writes one line for the settings, then one line for each material and body.
pub(super) fn lay_out(file: &SceneFile) -> String {
    let head = json(&file.head());
    let head = head.strip_suffix(r#","bodies":[]}"#).unwrap_or(&head);
    let mut text = head.to_owned();
    push_list(&mut text, "materials", &file.materials);
    if !file.material_pairs.is_empty() {
        push_list(&mut text, "material_pairs", &file.material_pairs);
    }
    push_list(&mut text, "bodies", &file.bodies);
    if !file.particles.is_empty() {
        push_list(&mut text, "particles", &file.particles);
    }
    if !file.links.is_empty() {
        push_list(&mut text, "links", &file.links);
    }
    if !file.attachments.is_empty() {
        push_list(&mut text, "attachments", &file.attachments);
    }
    if !file.hulls.is_empty() {
        push_list(&mut text, "hulls", &file.hulls);
    }
    if !file.joints.is_empty() {
        push_list(&mut text, "joints", &file.joints);
    }
    text.push_str("}\n");
    text
}

impl SceneFile {
    /// Returns the file without its lists.
    fn head(&self) -> SceneFile {
        SceneFile {
            name: self.name.clone(),
            mixing: self
                .mixing
                .as_ref()
                .map(|mixing| MixingFile { friction: mixing.friction, restitution: mixing.restitution }),
            materials: Vec::new(),
            material_pairs: Vec::new(),
            bodies: Vec::new(),
            chains: Vec::new(),
            particles: Vec::new(),
            links: Vec::new(),
            attachments: Vec::new(),
            hulls: Vec::new(),
            joints: Vec::new(),
            ..*self
        }
    }
}

fn push_list<T: Serialize>(text: &mut String, name: &str, items: &[T]) {
    let _ = write!(text, ",\n\"{name}\":[");
    for (index, item) in items.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n {}", json(item));
    }
    text.push(']');
}

fn json<T: Serialize>(item: &T) -> String {
    serde_json::to_string(item).expect("structs of numbers and strings are JSON")
}
