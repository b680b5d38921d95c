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
    /// Computes them, and adds a user to the outline of a shape that turns.
    fn new(shape: &Shape, outlines: &mut Outlines) -> Facts {
        let (mut outline, mut furthest, mut thickness) = (NO_OUTLINE, 0.0, 0.0);
        if shape.kind().turns() {
            outline = outlines.acquire(shape);
            furthest = outlines.outline(outline).reach();
            thickness = outlines.outline(outline).thickness();
        }
        Facts {
            shape: *shape,
            ext: shape.extents(),
            area: shape.area(),
            properties: shape.mass_properties(),
            outline,
            furthest,
            thickness,
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
        match place {
            Some(_) if known => {}
            // The old memory serves: where each body has a shape of its own, an allocation would be made for each.
            Some(old) => **old = Facts::new(shape, outlines),
            None => *place = Some(Box::new(Facts::new(shape, outlines))),
        }
        let facts = place.as_ref().expect("there are facts now");
        (facts, facts.outline)
    }
}
