//! What follows from shapes, kept for the last shape of each kind: most bodies that are added have the shape of one before.

use super::NO_OUTLINE;
use crate::geometry::outline::{MassProperties, Outlines};
use crate::geometry::shape::Shape;
use glam::Vec2;

/// What a body needs to know of its shape.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    shape: Shape,
    pub ext: Vec2,
    pub area: f32,
    pub properties: MassProperties,
    /// The outline, which may be in use no more; [`NO_OUTLINE`] for shapes that do not turn.
    outline: u32,
    pub furthest: f32,
    pub thickness: f32,
}

impl Facts {
    /// Computes them, and adds a user to the outline of a shape that turns. In place: where each body has a shape of its own, they would be
    /// moved for each.
    #[inline]
    fn set(&mut self, shape: &Shape, outlines: &mut Outlines) {
        match (&mut self.shape, *shape) {
            (Shape::Circle { radius }, Shape::Circle { radius: new }) => *radius = new,
            (old, new) => *old = new,
        }
        (self.ext, self.area) = (shape.extents(), shape.area());
        self.properties = shape.mass_properties();
        (self.outline, self.furthest, self.thickness) = (NO_OUTLINE, 0.0, 0.0);
        if shape.kind().turns() {
            self.outline = outlines.acquire(shape);
            let outline = outlines.outline(self.outline);
            (self.furthest, self.thickness) = (outline.reach(), outline.thickness());
        }
    }
}

impl Default for Facts {
    /// Those of no shape, to be set.
    fn default() -> Facts {
        Facts {
            shape: Shape::circle(0.0),
            ext: Vec2::ZERO,
            area: 0.0,
            properties: MassProperties::of_disc(0.0),
            outline: NO_OUTLINE,
            furthest: 0.0,
            thickness: 0.0,
        }
    }
}

/// The facts of the last shape of each kind, by the kind's number.
#[derive(Default)]
pub(super) struct Recent([Option<Box<Facts>>; 9]);

impl Recent {
    /// Returns the facts of a shape, and the number of its outline, to which it adds a user.
    pub(super) fn facts(&mut self, shape: &Shape, outlines: &mut Outlines) -> (&Facts, u32) {
        let place = &mut self.0[shape.kind() as usize];
        let known = place.as_ref().is_some_and(|facts| {
            // Polygons have zeros of either sign, which compare as equal and are not.
            !matches!(shape, Shape::Polygon(_) | Shape::HalfSpace { .. } | Shape::ChainSegment { .. })
                && facts.shape == *shape
                && (facts.outline == NO_OUTLINE || outlines.acquire_known(facts.outline, shape))
        });
        let facts = place.get_or_insert_default();
        if !known {
            facts.set(shape, outlines);
        }
        (facts, facts.outline)
    }
}
