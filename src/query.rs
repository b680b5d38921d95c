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
            let inside = match self.bodies.shape(slot) {
                Shape::Circle { radius } => offset.length_squared() <= radius * radius,
                Shape::Aabb { half_extents } => offset.abs().cmple(half_extents).all(),
                Shape::HalfSpace { normal, .. } => normal.dot(point) <= self.bodies.columns.ext_z[slot],
            };
            !inside || visit(self.bodies.handle(slot))
        });
    }

    /// Visits the bodies whose bounds overlap the box from `lower` to `upper` (edges included), until
    /// `visit` returns false. A half-space's bounds are the half-space. In no particular order. A box
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
                    let half = shape.extents();
                    (position - half).cmple(upper).all() && (position + half).cmpge(lower).all()
                }
            };
            !overlaps || visit(self.bodies.handle(slot))
        });
    }

    /// Calls `test` with every solid slot that may overlap the box, until it returns false.
    fn candidates(&self, lower: Vec2, upper: Vec2, mut test: impl FnMut(usize) -> bool) {
        let (bands, bounds) = (&self.broadphase.bands, &self.broadphase.bounds);
        let mut solid = |slot: usize| !self.bodies.columns.kind[slot].is_solid() || test(slot);
        let mut unbanded = 0;
        if self.bounds_hold {
            let along_x = bands.along_x;
            let (s, b) = if along_x { (1, 0) } else { (0, 1) };
            let ids = bands.id_at(lower[b]).saturating_sub(1)..=bands.id_at(upper[b]);
            let first = bands.list.partition_point(|band| band.id < *ids.start());
            for band in bands.list[first..].iter().take_while(|band| band.id <= *ids.end()) {
                let reaching = bounds.front[band.slots.clone()].partition_point(|&front| front < lower[s]);
                for slot in band.slots.start + reaching..band.slots.end {
                    if bounds.min_s[slot] > upper[s] {
                        break;
                    }
                    if !solid(slot) {
                        return;
                    }
                }
            }
            unbanded = bands.banded;
        }
        for slot in unbanded..self.bodies.len {
            if !solid(slot) {
                return;
            }
        }
    }
}
