//! Queries: which shapes are at a point, or in a box.
//!
//! They look into the bands of the last pair list. After a step those still hold every body that was
//! there when the list was made, unless the step made the list stale; then, as after a body was moved
//! by hand, all bodies are looked at. Bodies added since are looked at one by one.

use crate::body::BodyHandle;
use crate::shape::Shape;
use crate::world::World;
use glam::Vec2;

impl World {
    /// Visits the bodies whose shapes hold the point (edges included), until `visit` returns false. In no
    /// particular order. A coordinate that is not a number is in no shape.
    pub fn query_point(&self, point: Vec2, mut visit: impl FnMut(BodyHandle) -> bool) {
        self.candidates(point, point, |slot| {
            let offset = point - self.bodies.position(slot);
            if self.bodies.columns.kind[slot].shape().turns() {
                let outside = self.bodies.visit_outlines(slot, |outline, centre, (sin, cos)| {
                    !outline.contains(Vec2::new(cos, -sin).rotate(offset - centre))
                });
                return outside || visit(self.bodies.handle(slot));
            }
            let inside = match self.bodies.shape(slot) {
                Shape::Circle { radius } | Shape::Particle { radius } => {
                    offset.length_squared() <= radius * radius
                }
                Shape::HalfSpace { normal, .. } => normal.dot(point) <= self.bodies.columns.ext_z[slot],
                shape => offset.abs().cmple(shape.extents()).all(),
            };
            !inside || visit(self.bodies.handle(slot))
        });
    }

    /// Visits the bodies whose bounds overlap the box from `lower` to `upper` (edges included), until
    /// `visit` returns false. The bounds are the smallest box about the body's centre, with the axes, that holds its
    /// shapes. A half-space's bounds are the half-space. In no particular order. A box
    /// with a corner that is not a number, or with its corners swapped, holds nothing.
    pub fn query_aabb(&self, lower: Vec2, upper: Vec2, mut visit: impl FnMut(BodyHandle) -> bool) {
        if !lower.cmple(upper).all() {
            return;
        }
        self.candidates(lower, upper, |slot| {
            let position = self.bodies.position(slot);
            let overlaps = match self.bodies.shape(slot) {
                Shape::HalfSpace { normal, .. } => {
                    let deepest = Vec2::select(normal.cmplt(Vec2::ZERO), upper, lower);
                    normal.dot(deepest) <= self.bodies.columns.ext_z[slot]
                }
                shape => {
                    let half = if self.bodies.columns.kind[slot].shape().turns() {
                        let mut half = Vec2::ZERO;
                        self.bodies.visit_outlines(slot, |outline, centre, turn| {
                            half = half.max(outline.bounds(turn, centre));
                            true
                        });
                        half
                    } else {
                        shape.extents()
                    };
                    (position - half).cmple(upper).all() && (position + half).cmpge(lower).all()
                }
            };
            !overlaps || visit(self.bodies.handle(slot))
        });
    }

    /// Calls `test` with every solid slot that may overlap the box, until it returns false.
    pub(crate) fn candidates(&self, lower: Vec2, upper: Vec2, mut test: impl FnMut(usize) -> bool) {
        let broadphase = &self.broadphase;
        let mut solid = |slot: usize| !self.bodies.columns.kind[slot].is_solid() || test(slot);
        let mut unbanded = 0;
        if self.bounds_hold {
            // The bounds are those of the time when the list was made, and move with the frames.
            let moved = Vec2::splat(broadphase.bounds.large_growth);
            let (lower, upper) = (lower - moved, upper + moved);
            let (range_x, range_y) = ([lower.x, upper.x], [lower.y, upper.y]);
            let (range_s, range_b) =
                if broadphase.bands.along_x { (range_y, range_x) } else { (range_x, range_y) };
            let going = broadphase
                .visit_bands(range_s, range_b, |slot| broadphase.is_loose(slot) || solid(slot))
                && broadphase.loose.iter().all(|&slot| solid(slot as usize));
            if !going {
                return;
            }
            unbanded = broadphase.bands.banded;
        }
        for slot in unbanded..self.bodies.len {
            if !solid(slot) {
                return;
            }
        }
    }
}
