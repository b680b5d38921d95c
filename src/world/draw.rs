//! Debug drawing: hands what there is in a world to a trait of the host.

use super::World;
use super::drawing::{PlacedJoint, PlacedShape, Role};
use super::view::Contact;
use crate::body::BodyHandle;
use crate::geometry::shape::{Shape, ShapeKind};
use crate::particles::links::{LinkHandle, LinkKind};
use glam::Vec2;

/// A shape to be drawn, with what can be said of it by a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawShape {
    /// The body.
    pub body: BodyHandle,
    /// The kind of the body's shape: [`ShapeKind::Compound`] for a body of parts.
    pub kind: ShapeKind,
    /// The number of the shape among the body's [`World::parts`]; 0 for a body of one shape. Those of a body come one after the other.
    pub part: u8,
    /// The number of the body's shapes.
    pub parts: u8,
    /// The shape and its place.
    pub placed: PlacedShape,
    /// The velocity of the body's centre, m/s.
    pub velocity: Vec2,
    /// How the body takes part in the simulation.
    pub role: Role,
    /// False for a body that sleeps.
    pub awake: bool,
    /// True for a sensor.
    pub sensor: bool,
    /// The number of the tile of space in which the body is stored, by [`World::tile_starts`], counted from 1; 0 before the first step.
    pub tile: usize,
    /// The number of the body's island, if [`DrawWhat::islands`] was asked for and forces move the body.
    pub island: Option<u32>,
}

/// A link, and where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedLink {
    /// The link.
    pub link: LinkHandle,
    /// What it does.
    pub kind: LinkKind,
    /// The points at its ends, m.
    pub ends: [Vec2; 2],
}

/// What [`World::draw`] hands out. Default: shapes, contacts, joints and links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawWhat {
    /// [`DebugDraw::shape`]
    pub shapes: bool,
    /// [`DebugDraw::contact`]
    pub contacts: bool,
    /// [`DebugDraw::joint`]
    pub joints: bool,
    /// [`DebugDraw::link`]
    pub links: bool,
    /// [`DebugDraw::bounds`]
    pub bounds: bool,
    /// [`DebugDraw::band`]
    pub bands: bool,
    /// [`DrawShape::island`], for which all contacts have to be searched.
    pub islands: bool,
}

impl Default for DrawWhat {
    fn default() -> Self {
        DrawWhat { shapes: true, contacts: true, joints: true, links: true, ..DrawWhat::NOTHING }
    }
}

impl DrawWhat {
    /// Nothing.
    pub const NOTHING: DrawWhat = DrawWhat {
        shapes: false,
        contacts: false,
        joints: false,
        links: false,
        bounds: false,
        bands: false,
        islands: false,
    };
    /// All that there is.
    pub const ALL: DrawWhat = DrawWhat {
        shapes: true,
        contacts: true,
        joints: true,
        links: true,
        bounds: true,
        bands: true,
        islands: true,
    };
}

/// What draws a world: see [`World::draw`]. Each method does nothing by default.
pub trait DebugDraw {
    /// A shape of a body.
    fn shape(&mut self, _shape: &DrawShape) {}

    /// A contact point, with its normal and impulses, and the colour in which it was solved: see [`World::coloured_contacts`]. `None` also for
    /// contacts that sleep and those of hulls.
    fn contact(&mut self, _contact: &Contact, _colour: Option<u8>) {}

    /// A joint, with the colour in which it was solved: see [`World::coloured_joints`].
    fn joint(&mut self, _joint: &PlacedJoint, _colour: Option<u8>) {}

    /// A link.
    fn link(&mut self, _link: &PlacedLink) {}

    /// The axis-aligned box of a body that is not a half-space, as of now, without the margin of the pair list.
    fn bounds(&mut self, _body: BodyHandle, _lower: Vec2, _upper: Vec2) {}

    /// A band of the order of space that holds bodies: a box that holds the centres of its bodies, and the number of its tile.
    fn band(&mut self, _tile: usize, _lower: Vec2, _upper: Vec2) {}
}

impl World {
    /// Hands what there is in the world to `draw`: bodies in the order of storage, then contacts, joints, links, bounds and bands.
    ///
    /// ```
    /// use granule::{DebugDraw, DrawShape, DrawWhat, scene};
    ///
    /// #[derive(Default)]
    /// struct Count(usize);
    ///
    /// impl DebugDraw for Count {
    ///     fn shape(&mut self, shape: &DrawShape) {
    ///         assert!(shape.placed.position.is_finite() && shape.awake);
    ///         self.0 += 1;
    ///     }
    /// }
    ///
    /// let world = scene::builtin("pile", 100, 1).unwrap().build()?;
    /// let mut count = Count::default();
    /// world.draw(&mut count, DrawWhat::default());
    /// assert_eq!(count.0, world.body_count() + world.static_count());
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn draw(&self, draw: &mut dyn DebugDraw, what: DrawWhat) {
        if what.shapes {
            self.draw_shapes(draw, what.islands);
        }
        if what.contacts {
            self.coloured_contacts().for_each(|(colour, contact)| draw.contact(&contact, colour));
            self.uncoloured_contacts().for_each(|contact| draw.contact(&contact, None));
        }
        if what.joints {
            self.coloured_joints().for_each(|(colour, joint)| draw.joint(&joint, colour));
        }
        if what.links {
            for (handle, desc) in self.links() {
                let end = |body: BodyHandle, anchor: Vec2| {
                    let state = self.body(body).ok()?;
                    Some(state.position + Vec2::from_angle(state.angle).rotate(anchor))
                };
                if let (Some(a), Some(b)) = (end(desc.a, desc.anchor_a), end(desc.b, desc.anchor_b)) {
                    draw.link(&PlacedLink { link: handle, kind: desc.kind, ends: [a, b] });
                }
            }
        }
        if what.bounds {
            for (body, slot) in self.bodies.by_index() {
                if self.bodies.columns.kind[slot].shape() != ShapeKind::HalfSpace {
                    let (position, half) = (self.bodies.position(slot), self.bodies.bounds(slot));
                    draw.bounds(body, position - half, position + half);
                }
            }
        }
        if what.bands {
            self.draw_bands(draw);
        }
    }

    fn draw_shapes(&self, draw: &mut dyn DebugDraw, with_islands: bool) {
        let islands = if with_islands { self.islands() } else { Vec::new() };
        let (mut tile, mut starts) = (0, self.tile_starts().peekable());
        for index in 0..self.storage_len() {
            while starts.next_if(|&start| start <= index).is_some() {
                tile += 1;
            }
            let Some(stored) = self.stored_body(index) else { continue };
            let shapes = stored.shapes();
            let mut shape = DrawShape {
                body: stored.handle(),
                kind: stored.kind(),
                part: 0,
                parts: shapes.len() as u8,
                placed: PlacedShape { shape: Shape::circle(0.0), position: Vec2::ZERO, turn: (0.0, 1.0) },
                velocity: stored.velocity(),
                role: stored.role(),
                awake: !self.bodies.is_asleep(index),
                sensor: false,
                tile,
                island: islands.get(index).copied().flatten(),
            };
            for (placed, part) in shapes.zip(0u8..) {
                let sensor = self.bodies.sensor_filter(index, part).is_some();
                shape = DrawShape { part, placed, sensor, ..shape };
                draw.shape(&shape);
            }
        }
    }

    fn draw_bands(&self, draw: &mut dyn DebugDraw) {
        let space = &self.broadphase;
        for (number, tile) in space.tiles.iter().enumerate() {
            for band in &space.bands.list[tile.bands.clone()] {
                let held = |slot: &usize| self.bodies.columns.kind[*slot].is_collidable();
                let places = band.slots.clone().filter(held).map(|slot| self.bodies.position(slot));
                let corners = places.fold(None, |corners: Option<[Vec2; 2]>, place| {
                    let [lower, upper] = corners.unwrap_or([place; 2]);
                    Some([lower.min(place), upper.max(place)])
                });
                if let Some([lower, upper]) = corners {
                    draw.band(number, lower, upper);
                }
            }
        }
    }
}
