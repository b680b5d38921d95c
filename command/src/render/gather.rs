//! Makes stamps of a world's bodies, links, joints and contacts, which the engine hands out ([`World::draw`]).

use super::colour::{self, Colours};
use super::raster::{Form, Hull, MIN_HALF, Stamp};
use super::{By, Look, Rgb, View};
use granule::{
    BodyHandle, BodyType, Contact, DebugDraw, DrawShape, DrawWhat, JointKind, LinkKind, PlacedJoint,
    PlacedLink, PlacedShape, Polygon, Role, Shape, ShapeKind, Vec2, World,
};

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
    let by_colour = look.by == By::Colour;
    let what = DrawWhat {
        shapes: true,
        links: true,
        joints: true,
        contacts: look.contacts || by_colour,
        islands: look.by == By::Island,
        ..DrawWhat::NOTHING
    };
    let mut gather = Gather { world, view, look, colours: look.theme.colours(), layers: Layers::default() };
    gather.layers.moving.reserve(world.storage_len());
    world.draw(&mut gather, what);
    let Layers { mut fixed, links, moving, joints, colours, impulses, points } = gather.layers;
    fixed.extend([links, moving, joints, colours, impulses, points].into_iter().flatten());
    fixed
}

struct Gather<'a> {
    world: &'a World,
    view: &'a View,
    look: &'a Look,
    colours: Colours,
    layers: Layers,
}

/// What is drawn, the lowest first.
#[derive(Default)]
struct Layers {
    fixed: Vec<Stamp>,
    links: Vec<Stamp>,
    moving: Vec<Stamp>,
    joints: Vec<Stamp>,
    /// Lines that show the colours of contacts.
    colours: Vec<Stamp>,
    impulses: Vec<Stamp>,
    points: Vec<Stamp>,
}

impl DebugDraw for Gather<'_> {
    fn shape(&mut self, shape: &DrawShape) {
        let fill = self.fill(shape);
        let edge = self.colours.edge(fill);
        let mut stamp = self.stamp(&shape.placed);
        let stamps = match shape.role {
            Role::Static => &mut self.layers.fixed,
            _ => &mut self.layers.moving,
        };
        if shape.kind != ShapeKind::Compound {
            let smaller = stamp.half.min_element();
            stamp.border = if smaller > OUTLINED { (BORDER * smaller).min(MAX_BORDER) } else { 0.0 };
            stamps.push(Stamp { fill, edge, ..stamp });
            return;
        }
        // First the outlines of all parts, then their insides over them: one outline around the whole.
        if let Form::MarkedDisc(_) = stamp.form {
            stamp.form = Form::Disc;
        }
        stamps.push(Stamp { fill: edge, edge, ..stamp });
        if shape.part + 1 == shape.parts {
            let end = stamps.len();
            for index in end - usize::from(shape.parts)..end {
                let stamp = stamps[index];
                let inset = (BORDER * stamp.half.min_element()).min(MAX_BORDER);
                stamps.push(Stamp { inset, fill, edge: fill, ..stamp });
            }
        }
    }

    /// A link is a line. Minimum-distance links are limits and no strings.
    fn link(&mut self, link: &PlacedLink) {
        if link.kind != LinkKind::Min {
            let [a, b] = link.ends.map(|end| self.view.camera.place(end));
            self.layers.links.push(line(a, b, LINE, self.colours.link));
        }
    }

    /// A joint that holds something is lines from the centres of its bodies that move to the held points, a line between
    /// these, and a mark that shows the kind.
    fn joint(&mut self, joint: &PlacedJoint, number: Option<u8>) {
        let camera = &self.view.camera;
        let colour = match (self.look.by, number) {
            (By::Colour, Some(number)) => colour::category(number.into()),
            (By::Colour, None) => self.colours.quarantined,
            _ => self.colours.joint,
        };
        let points = joint.points.map(|point| camera.place(point));
        for (body, point) in joint.bodies.into_iter().zip(points) {
            let moves = |&body: &BodyHandle| self.world.body_type(body) != Ok(BodyType::Static);
            if let Some(Ok(state)) = body.filter(moves).map(|body| self.world.body(body)) {
                self.layers.joints.push(line(camera.place(state.position), point, LINE, colour));
            }
        }
        self.layers.joints.push(line(points[0], points[1], LINE, colour));
        self.mark(joint, points, colour);
    }

    fn contact(&mut self, contact: &Contact, number: Option<u8>) {
        if self.look.by == By::Colour {
            self.colour(contact, number);
        }
        if self.look.contacts {
            self.impulse(contact);
        }
    }
}

impl Gather<'_> {
    fn fill(&self, shape: &DrawShape) -> Rgb {
        let plain = match shape.role {
            Role::Static => return self.colours.fixed,
            Role::Kinematic => return self.colours.kinematic,
            Role::Quarantined | Role::Disabled => return self.colours.quarantined,
            Role::Dynamic => match self.look.by {
                By::Speed => self.colours.speed(shape.velocity.length() / self.view.top_speed),
                By::Shape => colour::shape(shape.kind),
                By::Tile => colour::category(shape.tile),
                By::Island => colour::category(shape.island.unwrap_or(0) as usize),
                By::Sleep => colour::category(usize::from(!shape.awake)),
                By::Colour => self.colours.plain,
            },
        };
        colour::varied(plain, shape.body.index())
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

    /// Adds the mark of a joint's kind: a disc where bodies turn freely about a point, a bar along an axis, a box where angles are held,
    /// discs at both ends of a distance and a gear.
    fn mark(&mut self, joint: &PlacedJoint, [a, b]: [Vec2; 2], colour: Rgb) {
        let [least, most] = MARK_PIXELS;
        let half = (MARK * self.view.camera.scale).clamp(least, most);
        let along = Vec2::new(joint.axis.x, -joint.axis.y);
        let disc = |at: Vec2| Stamp { form: Form::Disc, ..line(at, at, half, colour) };
        let bar = || line(a - 3.0 * half * along, a + 3.0 * half * along, LINE.max(0.4 * half), colour);
        let square = |at: Vec2| {
            let axes = [along, along.perp()];
            Stamp { form: Form::Box, axes, ..line(at, at, half, colour) }
        };
        let stamps = &mut self.layers.joints;
        match joint.kind {
            JointKind::Prismatic(_) => stamps.extend([bar(), square(b)]),
            JointKind::Wheel(_) => stamps.extend([bar(), disc(b)]),
            JointKind::Weld { .. } | JointKind::Motor { .. } => stamps.push(square(b)),
            JointKind::Distance { .. } | JointKind::Gear { .. } => stamps.extend([disc(a), disc(b)]),
            _ => stamps.push(disc(b)),
        }
    }

    /// Adds lines from the centres of bodies that move to a contact point, in the contact's colour.
    fn colour(&mut self, contact: &Contact, number: Option<u8>) {
        let camera = &self.view.camera;
        let [least, most] = EDGE_PIXELS;
        let half_width = (EDGE * camera.scale).clamp(least, most);
        let colour = number.map_or(self.colours.quarantined, |number| colour::category(number.into()));
        let point = camera.place(contact.point);
        for body in [contact.a, contact.b] {
            let Ok(state) = self.world.body(body) else { continue };
            let awake = number.is_some() || self.world.is_awake(body) == Ok(true);
            if awake && self.world.body_type(body) == Ok(BodyType::Dynamic) {
                self.layers.colours.push(line(camera.place(state.position), point, half_width, colour));
            }
        }
    }

    /// Adds a contact point, and a line along the normal about it whose length shows the impulse.
    fn impulse(&mut self, contact: &Contact) {
        let camera = &self.view.camera;
        let longest = 2.0 * IMPULSE * camera.middle.y;
        let at = camera.place(contact.point);
        let along = Vec2::new(contact.normal.x, -contact.normal.y);
        let length = longest * (contact.normal_impulse / self.view.top_impulse).min(1.0);
        if length > 0.5 {
            let half = 0.5 * length * along;
            self.layers.impulses.push(line(at - half, at + half, 0.6, self.colours.impulse));
        }
        // Shapes that do not touch yet have a smaller point.
        let radius = if contact.normal_impulse > 0.0 { 1.5 } else { 0.8 };
        self.layers.points.push(Stamp {
            half: Vec2::splat(radius),
            form: Form::Disc,
            ..line(at, at, 1.0, self.colours.contact)
        });
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
