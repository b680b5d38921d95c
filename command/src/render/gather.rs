//! Makes stamps of a world's bodies, links, joints and contacts.

use super::colour::{self, Colours};
use super::raster::{Form, Hull, MIN_HALF, Stamp};
use super::{By, Look, Rgb, View};
use granule::{
    BodyType, JointKind, LinkKind, PlacedJoint, PlacedShape, Polygon, Role, Shape, ShapeKind, StoredBody,
    Vec2, World,
};
use std::ops::Range;

/// The number of slots in a task.
const CHUNK: usize = 512;
/// Width of an outline, as a part of the body's smaller half extent; at most `MAX_BORDER` pixels.
const BORDER: f32 = 0.24;
const MAX_BORDER: f32 = 1.4;
/// A body has an outline if it is larger than this, from its centre, in pixels.
const OUTLINED: f32 = 1.2;
/// The radius from which a disc has a mark that shows how it has turned, in pixels.
const MARKED: f32 = 4.0;
/// A polygon smaller than this, in pixels, is drawn as a disc of the same area.
const TINY: f32 = 1.75;
/// Half the width of a segment and of a link, in pixels.
const LINE: f32 = 0.75;
/// Half the width of a line that shows a contact's colour, in metres; the least and the most in pixels.
const EDGE: f32 = 0.06;
const EDGE_PIXELS: [f32; 2] = [0.6, 3.0];
/// Half the size of the mark where a joint holds its bodies, in metres; the least and the most in pixels.
const MARK: f32 = 0.1;
const MARK_PIXELS: [f32; 2] = [1.2, 4.0];
/// The longest line for an impulse, as a part of the picture's height.
const IMPULSE: f32 = 0.04;

/// Returns all stamps, the lowest first.
pub(super) fn stamps(world: &World, view: &View, look: &Look) -> Vec<Stamp> {
    let gather = Gather { world, view, look, colours: look.theme.colours() };
    let mut stamps = Vec::with_capacity(world.storage_len() + world.link_count());
    gather.bodies(|role| role == Role::Static, &mut stamps);
    gather.links(&mut stamps);
    gather.bodies(|role| role != Role::Static, &mut stamps);
    gather.joints(&mut stamps);
    if look.by == By::Colour {
        gather.colours(&mut stamps);
    }
    if look.contacts {
        gather.contacts(&mut stamps);
    }
    stamps
}

struct Gather<'a> {
    world: &'a World,
    view: &'a View,
    look: &'a Look,
    colours: Colours,
}

impl Gather<'_> {
    /// Adds the chosen bodies, in the order of storage.
    fn bodies(&self, choose: impl Fn(Role) -> bool + Sync, stamps: &mut Vec<Stamp>) {
        let tiles = self.tiles();
        let gather = |slots: Range<usize>| {
            let mut stamps = Vec::with_capacity(slots.len());
            for slot in slots {
                if let Some(body) = self.world.stored_body(slot).filter(|body| choose(body.role())) {
                    self.body(&body, slot, &tiles, &mut stamps);
                }
            }
            stamps
        };
        let len = self.world.storage_len();
        let chunks = len.div_ceil(CHUNK);
        let chunk = |number: usize| number * CHUNK..((number + 1) * CHUNK).min(len);
        // Outside of any pool, this would build rayon's global pool.
        if rayon::current_thread_index().is_some() {
            use rayon::prelude::*;
            let parts: Vec<_> = (0..chunks).into_par_iter().map(|number| gather(chunk(number))).collect();
            parts.into_iter().for_each(|part| stamps.extend(part));
        } else {
            (0..chunks).for_each(|number| stamps.extend(gather(chunk(number))));
        }
    }

    /// Returns where the slots of each tile begin, if the look shows tiles, or the island of each slot, if it shows islands.
    fn tiles(&self) -> Vec<usize> {
        match self.look.by {
            By::Tile => self.world.tile_starts().collect(),
            By::Island => {
                self.world.islands().into_iter().map(|island| island.unwrap_or(0) as usize).collect()
            }
            _ => Vec::new(),
        }
    }

    fn body(&self, body: &StoredBody<'_>, slot: usize, tiles: &[usize], stamps: &mut Vec<Stamp>) {
        let fill = self.fill(body, slot, tiles);
        let edge = self.colours.edge(fill);
        let shapes = body.shapes();
        if body.kind() != ShapeKind::Compound {
            stamps.extend(shapes.map(|placed| {
                let mut stamp = self.stamp(&placed);
                let smaller = stamp.half.min_element();
                stamp.border = if smaller > OUTLINED { (BORDER * smaller).min(MAX_BORDER) } else { 0.0 };
                Stamp { fill, edge, ..stamp }
            }));
            return;
        }
        // First the outlines of all parts, then their insides over them: one outline around the whole.
        let first = stamps.len();
        let count = shapes.len();
        stamps.extend(shapes.map(|placed| {
            let mut stamp = self.stamp(&placed);
            if let Form::MarkedDisc(_) = stamp.form {
                stamp.form = Form::Disc;
            }
            Stamp { fill: edge, edge, ..stamp }
        }));
        for index in first..first + count {
            let stamp = stamps[index];
            let inset = (BORDER * stamp.half.min_element()).min(MAX_BORDER);
            stamps.push(Stamp { inset, fill, edge: fill, ..stamp });
        }
    }

    fn fill(&self, body: &StoredBody<'_>, slot: usize, tiles: &[usize]) -> Rgb {
        let plain = match body.role() {
            Role::Static => return self.colours.fixed,
            Role::Kinematic => return self.colours.kinematic,
            Role::Quarantined | Role::Disabled => return self.colours.quarantined,
            Role::Dynamic => match self.look.by {
                By::Speed => self.colours.speed(body.velocity().length() / self.view.top_speed),
                By::Shape => colour::shape(body.kind()),
                By::Tile => colour::category(tiles.partition_point(|&start| start <= slot)),
                By::Island => colour::category(tiles.get(slot).copied().unwrap_or(0)),
                By::Sleep => {
                    let awake = self.world.is_awake(body.handle()).unwrap_or(true);
                    colour::category(usize::from(!awake))
                }
                By::Colour => self.colours.plain,
            },
        };
        colour::varied(plain, body.handle().index())
    }

    /// Returns a shape's stamp, without colours.
    fn stamp(&self, placed: &PlacedShape) -> Stamp {
        let camera = &self.view.camera;
        let (sin, cos) = placed.turn;
        let px = |length: f32| camera.scale * length;
        let at_least = |half: Vec2| half.max(Vec2::splat(MIN_HALF));
        let mut stamp = Stamp {
            centre: camera.place(placed.position),
            // y is down in the picture.
            axes: [Vec2::new(cos, -sin), Vec2::new(-sin, -cos)],
            half: Vec2::splat(MIN_HALF),
            form: Form::Disc,
            inset: 0.0,
            border: 0.0,
            fill: [0; 3],
            edge: [0; 3],
        };
        match placed.shape {
            Shape::Circle { radius } => {
                stamp.half = at_least(Vec2::splat(px(radius)));
                if stamp.half.x >= MARKED {
                    stamp.form = Form::MarkedDisc((0.1 * stamp.half.x).clamp(0.5, 1.5));
                }
            }
            Shape::Particle { radius } => stamp.half = at_least(Vec2::splat(px(radius))),
            Shape::Aabb { half_extents } | Shape::Box { half_extents } => {
                stamp.form = Form::Box;
                stamp.half = at_least(px(1.0) * half_extents);
            }
            Shape::Capsule { half_length, radius } => {
                stamp.form = Form::Capsule;
                stamp.half = at_least(Vec2::new(px(half_length + radius), px(radius)));
            }
            Shape::Segment { half_length } | Shape::ChainSegment { half_length, .. } => {
                stamp.form = Form::Capsule;
                stamp.half = Vec2::new(px(half_length) + LINE, LINE);
            }
            Shape::Polygon(polygon) => self.polygon(&polygon, &mut stamp),
            Shape::HalfSpace { normal, offset } => {
                // A box. Its upper side is the surface; its other sides are beyond the picture, but as near to it as
                // possible, so that floats are exact enough.
                let normal = normal.normalize_or_zero();
                let surface = placed.position + offset * normal;
                let middle = camera.centre - normal.dot(camera.centre - surface) * normal;
                let far = 8.0 * camera.middle.max_element();
                let out = Vec2::new(normal.x, -normal.y);
                stamp.form = Form::Box;
                stamp.axes = [Vec2::new(-out.y, out.x), out];
                stamp.half = Vec2::splat(far);
                stamp.centre = camera.place(middle) - far * out;
            }
        }
        stamp
    }

    fn polygon(&self, polygon: &Polygon, stamp: &mut Stamp) {
        let scale = self.view.camera.scale;
        let corners = polygon.vertices();
        let radius = scale * polygon.radius();
        let half = corners.iter().fold(Vec2::ZERO, |most, corner| most.max(scale * corner.abs()));
        stamp.half = half + Vec2::splat(radius);
        if stamp.half.max_element() < TINY {
            let area = Shape::Polygon(*polygon).area();
            stamp.half = Vec2::splat((scale * (area / std::f32::consts::PI).sqrt()).max(MIN_HALF));
            return;
        }
        let mut vertices = [Vec2::ZERO; Polygon::MAX_VERTICES];
        vertices.iter_mut().zip(corners).for_each(|(vertex, corner)| *vertex = scale * *corner);
        stamp.form = Form::Hull(Hull { vertices, count: corners.len() as u8, radius });
    }

    /// Adds the links, except minimum-distance links, which are limits and no strings.
    fn links(&self, stamps: &mut Vec<Stamp>) {
        for (_, link) in self.world.links().filter(|(_, link)| link.kind != LinkKind::Min) {
            let ends = [(link.a, link.anchor_a), (link.b, link.anchor_b)].map(|(body, anchor)| {
                let state = self.world.body(body).ok()?;
                Some(state.position + Vec2::from_angle(state.angle).rotate(anchor))
            });
            if let [Some(a), Some(b)] = ends {
                let [a, b] = [a, b].map(|end| self.view.camera.place(end));
                stamps.push(line(a, b, LINE, self.colours.link));
            }
        }
    }

    /// Adds the joints that hold something: for each, lines from the centres of its bodies that move to the held points, a line between
    /// these, and a mark that shows the kind.
    fn joints(&self, stamps: &mut Vec<Stamp>) {
        let camera = &self.view.camera;
        for (number, joint) in self.world.coloured_joints() {
            let colour = match (self.look.by, number) {
                (By::Colour, Some(number)) => colour::category(number.into()),
                (By::Colour, None) => self.colours.quarantined,
                _ => self.colours.joint,
            };
            let points = joint.points.map(|point| camera.place(point));
            for (body, point) in joint.bodies.into_iter().zip(points) {
                let Some(body) = body.filter(|&body| self.world.body_type(body) != Ok(BodyType::Static))
                else {
                    continue;
                };
                if let Ok(state) = self.world.body(body) {
                    stamps.push(line(camera.place(state.position), point, LINE, colour));
                }
            }
            stamps.push(line(points[0], points[1], LINE, colour));
            self.mark(&joint, points, colour, stamps);
        }
    }

    /// Adds the mark of a joint's kind: a disc where bodies turn freely about a point, a bar along an axis, a box where angles are held,
    /// discs at both ends of a distance and a gear.
    fn mark(&self, joint: &PlacedJoint, [a, b]: [Vec2; 2], colour: Rgb, stamps: &mut Vec<Stamp>) {
        let [least, most] = MARK_PIXELS;
        let half = (MARK * self.view.camera.scale).clamp(least, most);
        let along = Vec2::new(joint.axis.x, -joint.axis.y);
        let disc = |at: Vec2| Stamp { form: Form::Disc, ..line(at, at, half, colour) };
        let bar = || line(a - 3.0 * half * along, a + 3.0 * half * along, LINE.max(0.4 * half), colour);
        let square = |at: Vec2| {
            let axes = [along, along.perp()];
            Stamp { form: Form::Box, axes, ..line(at, at, half, colour) }
        };
        match joint.kind {
            JointKind::Prismatic(_) => stamps.extend([bar(), square(b)]),
            JointKind::Wheel(_) => stamps.extend([bar(), disc(b)]),
            JointKind::Weld { .. } | JointKind::Motor { .. } => stamps.push(square(b)),
            JointKind::Distance { .. } | JointKind::Gear { .. } => stamps.extend([disc(a), disc(b)]),
            _ => stamps.push(disc(b)),
        }
    }

    /// Adds lines from the centres of bodies that move to their contact points, in the contacts' colours.
    fn colours(&self, stamps: &mut Vec<Stamp>) {
        let camera = &self.view.camera;
        let [least, most] = EDGE_PIXELS;
        let half_width = (EDGE * camera.scale).clamp(least, most);
        for (number, contact) in self.world.coloured_contacts() {
            let colour = number.map_or(self.colours.quarantined, |number| colour::category(number.into()));
            let point = camera.place(contact.point);
            for body in [contact.a, contact.b] {
                let Ok(state) = self.world.body(body) else { continue };
                if self.world.body_type(body) == Ok(BodyType::Dynamic) {
                    let centre = camera.place(state.position);
                    stamps.push(line(centre, point, half_width, colour));
                }
            }
        }
    }

    /// Adds the contact points, and lines along the normals about them whose lengths show the impulses.
    fn contacts(&self, stamps: &mut Vec<Stamp>) {
        let camera = &self.view.camera;
        let longest = 2.0 * IMPULSE * camera.middle.y;
        let mut points = Vec::new();
        for contact in self.world.contacts() {
            let at = camera.place(contact.point);
            let along = Vec2::new(contact.normal.x, -contact.normal.y);
            let length = longest * (contact.normal_impulse / self.view.top_impulse).min(1.0);
            if length > 0.5 {
                let half = 0.5 * length * along;
                stamps.push(line(at - half, at + half, 0.6, self.colours.impulse));
            }
            // Shapes that do not touch yet have a smaller point.
            let radius = if contact.normal_impulse > 0.0 { 1.5 } else { 0.8 };
            points.push(Stamp {
                half: Vec2::splat(radius),
                form: Form::Disc,
                ..line(at, at, 1.0, self.colours.contact)
            });
        }
        stamps.append(&mut points);
    }
}

fn line(a: Vec2, b: Vec2, half_width: f32, colour: Rgb) -> Stamp {
    let along = (b - a).try_normalize().unwrap_or(Vec2::X);
    Stamp {
        centre: 0.5 * (a + b),
        axes: [along, along.perp()],
        half: Vec2::new(0.5 * (b - a).length() + half_width, half_width),
        form: Form::Capsule,
        inset: 0.0,
        border: 0.0,
        fill: colour,
        edge: colour,
    }
}
