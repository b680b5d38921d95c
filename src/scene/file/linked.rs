//! Particles, links, attachments and hulls of a scene file.
//!
//! Each struct spells all of its fields out, also those that it shares with another: serde's `flatten` and
//! `deny_unknown_fields` do not go together.

use super::write::{decimal, pair};
use super::{
    BodyFile, SceneError, filter_of, maybe, narrow, narrow_vector, out_of_range, pick, tag_to, value, vector,
};
use crate::particles::hulls::check_places;
use crate::scene::Scene;
use crate::{BodyDesc, BodyType, LinkDesc, LinkKind, Material, Shape};
use glam::Vec2;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParticleFile {
    position: [f64; 2],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    velocity: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mass: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
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
    damping: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sleep: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sleep_threshold: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_to_sleep: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    bullet: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lock_x: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lock_y: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_speed: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<u64>,
}

/// A link between two particles.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkFile {
    a: usize,
    b: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<KindName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compliance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stiffness: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    break_force: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<u64>,
}

/// A link between a particle and a point of a body.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttachmentFile {
    particle: usize,
    body: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<KindName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compliance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stiffness: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    break_force: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<u64>,
}

/// The fields that links and attachments share.
#[derive(Clone, Copy)]
struct Hold {
    length: Option<f64>,
    kind: Option<KindName>,
    compliance: Option<f64>,
    stiffness: Option<f64>,
    break_force: Option<f64>,
    tag: Option<u64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindName {
    Distance,
    MinDistance,
    MaxDistance,
}

impl ParticleFile {
    pub(super) fn desc(&self, materials: &[Material]) -> Result<BodyDesc, SceneError> {
        let radius = self.radius.map_or(Ok(BodyDesc::PARTICLE_RADIUS), |radius| narrow("radius", radius))?;
        let base = BodyDesc::dynamic(Shape::particle(radius), narrow_vector("position", self.position)?);
        let desc = BodyDesc {
            body_type: if self.pinned { BodyType::Kinematic } else { BodyType::Dynamic },
            velocity: vector("velocity", self.velocity, Vec2::ZERO)?,
            material: pick(self.material, materials)?,
            filter: filter_of(self.category, self.mask, self.group),
            gravity_scale: self.gravity_scale.map_or(Ok(1.0), |scale| narrow("gravity_scale", scale))?,
            linear_damping: self.damping.map_or(Ok(0.0), |damping| narrow("damping", damping))?,
            mass: maybe("mass", self.mass)?,
            sleep: self.sleep.unwrap_or(true),
            sleep_threshold: maybe("sleep_threshold", self.sleep_threshold)?,
            time_to_sleep: maybe("time_to_sleep", self.time_to_sleep)?,
            bullet: self.bullet,
            lock_x: self.lock_x,
            lock_y: self.lock_y,
            max_speed: maybe("max_speed", self.max_speed)?,
            enabled: self.enabled.unwrap_or(true),
            tag: self.tag.unwrap_or(0),
            ..base
        };
        desc.validate()?;
        Ok(desc)
    }

    pub(super) fn of(body: &BodyDesc, material: usize) -> ParticleFile {
        let file = BodyFile::of(body, material);
        let radius = body.shape.extents().x;
        ParticleFile {
            position: pair(body.position),
            velocity: file.velocity,
            mass: file.mass,
            radius: (radius != BodyDesc::PARTICLE_RADIUS).then(|| decimal(radius)),
            pinned: body.body_type != BodyType::Dynamic,
            material: file.material,
            category: file.category,
            mask: file.mask,
            group: file.group,
            gravity_scale: file.gravity_scale,
            damping: file.linear_damping,
            sleep: file.sleep,
            sleep_threshold: file.sleep_threshold,
            time_to_sleep: file.time_to_sleep,
            bullet: file.bullet,
            lock_x: file.lock_x,
            lock_y: file.lock_y,
            max_speed: file.max_speed,
            enabled: file.enabled,
            tag: file.tag,
        }
    }
}

/// Returns the place in the scene of the file's particle `index`.
fn particle(field: &str, index: usize, bodies: &[BodyDesc], first: usize) -> Result<usize, SceneError> {
    let count = bodies.len() - first;
    if index < count { Ok(first + index) } else { Err(out_of_range(field, index, "particles", count)) }
}

/// Returns the places among the bodies of a hull's particles, which are given by their numbers.
pub(super) fn hull(points: &[usize], bodies: &[BodyDesc], first: usize) -> Result<Vec<usize>, SceneError> {
    let at = |(index, &point)| particle(&format!("hull[{index}]"), point, bodies, first);
    let places = points.iter().enumerate().map(at).collect::<Result<Vec<_>, _>>()?;
    check_places(&places, bodies)?;
    Ok(places)
}

/// Returns the hulls of a scene as the numbers of their particles.
pub(super) fn hulls_of(scene: &Scene) -> Result<Vec<Vec<usize>>, SceneError> {
    let place = places_of(scene);
    let hulls = scene.hulls.iter().enumerate().map(|(index, hull)| {
        check_places(hull, &scene.bodies)
            .map_err(|error| SceneError::from(error).instead_of("hull", &format!("hulls[{index}]")))?;
        Ok(hull.iter().map(|&body| place[body]).collect())
    });
    hulls.collect()
}

impl LinkFile {
    pub(super) fn desc(&self, bodies: &[BodyDesc], first: usize) -> Result<LinkDesc<usize>, SceneError> {
        let a = particle("a", self.a, bodies, first)?;
        let b = particle("b", self.b, bodies, first)?;
        let apart = bodies[a].position.distance(bodies[b].position);
        let LinkFile { length, kind, compliance, stiffness, break_force, tag, .. } = *self;
        Hold { length, kind, compliance, stiffness, break_force, tag }.link(LinkDesc::distance(a, b, apart))
    }

    fn of(link: &LinkDesc<usize>, place: &[usize]) -> LinkFile {
        let Hold { length, kind, compliance, stiffness, break_force, tag } = Hold::of(link);
        LinkFile { a: place[link.a], b: place[link.b], length, kind, compliance, stiffness, break_force, tag }
    }
}

impl AttachmentFile {
    pub(super) fn desc(&self, bodies: &[BodyDesc], first: usize) -> Result<LinkDesc<usize>, SceneError> {
        let particle = particle("particle", self.particle, bodies, first)?;
        if self.body >= first {
            return Err(out_of_range("body", self.body, "bodies", first));
        }
        if matches!(bodies[self.body].shape, Shape::HalfSpace { .. }) {
            return Err(value("body", "a half-space cannot be linked"));
        }
        let anchor = vector("anchor", self.anchor, Vec2::ZERO)?;
        let AttachmentFile { length, kind, compliance, stiffness, break_force, tag, .. } = *self;
        let hold = Hold { length, kind, compliance, stiffness, break_force, tag };
        hold.link(LinkDesc::attach(particle, self.body, anchor))
    }

    fn of(link: &LinkDesc<usize>, place: &[usize]) -> AttachmentFile {
        let Hold { length, kind, compliance, stiffness, break_force, tag } = Hold::of(link);
        AttachmentFile {
            particle: place[link.a],
            body: place[link.b],
            anchor: (link.anchor_b != Vec2::ZERO).then(|| pair(link.anchor_b)),
            length,
            kind,
            compliance,
            stiffness,
            break_force,
            tag,
        }
    }
}

impl Hold {
    /// Returns `base`, changed by the fields that the file has.
    fn link(self, base: LinkDesc<usize>) -> Result<LinkDesc<usize>, SceneError> {
        let scalar =
            |path, given: Option<f64>, default| given.map_or(Ok(default), |given| narrow(path, given));
        let link = LinkDesc {
            kind: self.kind.map_or(LinkKind::Distance, LinkKind::from),
            length: scalar("length", self.length, base.length)?,
            compliance: scalar("compliance", self.compliance, 0.0)?,
            stiffness: scalar("stiffness", self.stiffness, 1.0)?,
            break_force: scalar("break_force", self.break_force, f32::INFINITY)?,
            tag: self.tag.unwrap_or(0),
            ..base
        };
        link.validate()?;
        Ok(link)
    }

    fn of(link: &LinkDesc<usize>) -> Hold {
        let unless = |given: f32, default: f32| (given != default).then(|| decimal(given));
        Hold {
            length: Some(decimal(link.length)),
            kind: (link.kind != LinkKind::Distance).then(|| link.kind.into()),
            compliance: unless(link.compliance, 0.0),
            stiffness: unless(link.stiffness, 1.0),
            break_force: unless(link.break_force, f32::INFINITY),
            tag: tag_to(link.tag),
        }
    }
}

/// Returns the links and attachments of a scene whose particles come last.
pub(super) fn links_of(scene: &Scene) -> Result<(Vec<LinkFile>, Vec<AttachmentFile>), SceneError> {
    let place = places_of(scene);
    let (mut links, mut attachments) = (Vec::new(), Vec::new());
    for (index, link) in scene.links.iter().enumerate() {
        let fault = |reason: &str| value(&format!("links[{index}]"), reason);
        let is_particle = |end: usize| scene.bodies.get(end).map(BodyDesc::is_particle);
        match (is_particle(link.a), is_particle(link.b)) {
            (Some(true), Some(true)) => links.push(LinkFile::of(link, &place)),
            (Some(true), Some(false)) if link.anchor_a == Vec2::ZERO => {
                attachments.push(AttachmentFile::of(link, &place));
            }
            (None, _) | (_, None) => return Err(fault("names a body that is not there")),
            _ => return Err(fault("a scene file has links from a particle only")),
        }
    }
    Ok((links, attachments))
}

/// Returns the place of each body: among the particles, or among the other bodies.
pub(super) fn places_of(scene: &Scene) -> Vec<usize> {
    let (mut bodies, mut particles) = (0, 0);
    let number = |body: &BodyDesc| {
        let count = if body.is_particle() { &mut particles } else { &mut bodies };
        *count += 1;
        *count - 1
    };
    scene.bodies.iter().map(number).collect()
}

impl From<KindName> for LinkKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Distance => LinkKind::Distance,
            KindName::MinDistance => LinkKind::Min,
            KindName::MaxDistance => LinkKind::Max,
        }
    }
}

impl From<LinkKind> for KindName {
    fn from(kind: LinkKind) -> Self {
        match kind {
            LinkKind::Distance => KindName::Distance,
            LinkKind::Min => KindName::MinDistance,
            LinkKind::Max => KindName::MaxDistance,
        }
    }
}
