//! Queries: which shapes are at a point, or in a box.
//!
//! They look into the bands of the last pair list, including the bands of the large bodies. Bodies that left their bounds since, or
//! were added or moved by hand, have an order of their own: see `broadphase/unlisted.rs`.

mod answers;
mod batch;
mod cast;
mod filter;
mod near;
mod order;
mod overlap;
pub(super) mod solid;

pub use answers::{BatchFirst, BatchHits};
pub use cast::{Hit, Ray, ShapeCast, Visit};
pub use filter::{Accept, QueryFilter};
pub use overlap::{BodyPart, Distance, Nearest};
pub use solid::Probe;

use super::World;
use crate::body::BodyHandle;
use crate::geometry::shape::ShapeKind;
use filter::Sieve;
use glam::Vec2;
use overlap::{BoxRegion, Region};

/// Visits each body once whose parts a query finds one after the other.
fn by_body(mut visit: impl FnMut(BodyHandle) -> bool) -> impl FnMut(BodyPart) -> bool {
    let mut last = None;
    move |BodyPart { body, .. }| last.replace(body) == Some(body) || visit(body)
}

impl World {
    /// Visits the bodies whose shapes hold the point (edges included), until `visit` returns false: [`World::overlap_point`] by body,
    /// without a filter. A point with a coordinate that is not finite is in no shape.
    pub fn query_point(&self, point: Vec2, visit: impl FnMut(BodyHandle) -> bool) {
        if point.is_finite() {
            let open = QueryFilter::default();
            Region::point(point).visit(&self.near(), &Sieve::new(&self.bodies, &open), by_body(visit));
        }
    }

    /// Visits the bodies whose shapes overlap the box from `lower` to `upper` (edges included), until `visit` returns false:
    /// [`World::overlap_aabb`] by body, without a filter. [`World::query_aabb_bounds`] is cheaper and less exact.
    pub fn query_aabb(&self, lower: Vec2, upper: Vec2, visit: impl FnMut(BodyHandle) -> bool) {
        self.overlap_aabb(lower, upper, &QueryFilter::default(), by_body(visit));
    }

    /// Visits the bodies whose bounds overlap the box from `lower` to `upper` (edges included), until `visit` returns false:
    /// [`World::overlap_bounds`] without a filter.
    pub fn query_aabb_bounds(&self, lower: Vec2, upper: Vec2, visit: impl FnMut(BodyHandle) -> bool) {
        self.overlap_bounds(lower, upper, &QueryFilter::default(), visit);
    }

    fn bounds_overlap(&self, slot: usize, lower: Vec2, upper: Vec2) -> bool {
        if self.bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
            return BoxRegion { lower, upper }.meets_half_space(&self.bodies, slot);
        }
        // From the body's centre, as shapes are compared. (An `Aabb` that ends at 0 was in a box that begins at 1e-30, and its bounds were not.)
        let (position, half) = (self.bodies.position(slot).as_dvec2(), self.bodies.bounds(slot).as_dvec2());
        let [lower, upper] = [lower, upper].map(|corner| corner.as_dvec2() - position);
        lower.cmple(half).all() && upper.cmpge(-half).all()
    }

    /// Calls `visit` once with the slots of every two bodies whose bounds overlap, in an order that does not depend on
    /// the order of storage: a sweep along the axis on which the bodies are spread furthest.
    pub(crate) fn overlapping_bodies(&self, mut visit: impl FnMut(usize, usize)) {
        struct Entry {
            slot: usize,
            lower: Vec2,
            upper: Vec2,
        }
        let solid = |&(_, slot): &(BodyHandle, usize)| self.bodies.columns.kind[slot].is_collidable();
        let (mut planes, mut entries) = (Vec::new(), Vec::new());
        for (_, slot) in self.bodies.by_index().filter(solid) {
            if self.bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
                planes.push(slot);
            } else {
                let (position, half) = (self.bodies.position(slot), self.bodies.bounds(slot));
                // The bounds are a little larger, so that rounding does not part bodies that overlap by a hair.
                let half = half + 4.0 * f32::EPSILON * (position.abs() + half);
                entries.push(Entry { slot, lower: position - half, upper: position + half });
            }
        }
        let centre = |entry: &Entry| 0.5 * (entry.lower + entry.upper);
        let count = entries.len().max(1) as f32;
        let mean = entries.iter().map(centre).sum::<Vec2>() / count;
        let spread: Vec2 = entries.iter().map(|entry| (centre(entry) - mean).abs()).sum();
        let axis = usize::from(spread.y > spread.x);
        // The sort is stable: bodies that begin at the same place stay in the order of handles.
        entries.sort_by(|a, b| a.lower[axis].total_cmp(&b.lower[axis]));
        for (i, entry) in entries.iter().enumerate() {
            for other in entries[i + 1..].iter().take_while(|other| other.lower[axis] <= entry.upper[axis]) {
                let across = 1 - axis;
                if other.lower[across] <= entry.upper[across] && entry.lower[across] <= other.upper[across] {
                    visit(entry.slot, other.slot);
                }
            }
        }
        for &plane in &planes {
            for Entry { slot, lower, upper } in &entries {
                if self.bounds_overlap(plane, *lower, *upper) {
                    visit(*slot, plane);
                }
            }
        }
    }

    /// Calls `test` with every collidable slot that may overlap the box, until it returns false.
    pub(crate) fn bodies_near(&self, lower: Vec2, upper: Vec2, mut test: impl FnMut(usize) -> bool) {
        if self.listed_bodies_near(true, lower, upper, &mut test) {
            self.unlisted().all(test);
        }
    }

    /// Calls `test` with every collidable slot that may overlap the box and is where the list has it, until `test` returns
    /// false. Bodies in bands are included only if `banded`. Returns false if `test` did.
    pub(crate) fn listed_bodies_near(
        &self,
        banded: bool,
        lower: Vec2,
        upper: Vec2,
        mut test: impl FnMut(usize) -> bool,
    ) -> bool {
        let broadphase = &self.broadphase;
        if broadphase.built == 0 || self.unlisted.has_all() {
            return true;
        }
        let mut listed = |slot: usize| !self.is_listed_collidable(slot) || test(slot);
        // The bounds in the list are those of the time when it was made, and move with the frames.
        let moved = Vec2::splat(broadphase.excess());
        let (lower, upper) = (lower - moved, upper + moved);
        let (range_x, range_y) = ([lower.x, upper.x], [lower.y, upper.y]);
        let (range_s, range_b) =
            if broadphase.bands.along_x { (range_y, range_x) } else { (range_x, range_y) };
        (!banded || broadphase.visit_bands(range_s, range_b, &mut listed))
            && broadphase.visit_large(range_s, range_b, &mut listed)
    }

    /// Returns true if a slot is collidable and is where the list has it.
    pub(crate) fn is_listed_collidable(&self, slot: usize) -> bool {
        self.bodies.columns.kind[slot].is_collidable() && !self.unlisted.contains(slot)
    }

    /// The collidable slots that `listed_bodies_near` does not visit: they may be anywhere.
    pub(crate) fn unlisted(&self) -> impl Iterator<Item = usize> {
        self.unlisted.slots().filter(|&slot| self.bodies.columns.kind[slot].is_collidable())
    }

    /// Notes that a body is not where the list has it, or is in no list.
    pub(super) fn unlist(&mut self, slot: usize) {
        self.unlisted.insert(slot, self.bodies.disc_bounds(slot));
        if self.unlisted.is_many(self.broadphase.built) && self.broadphase.built > 0 {
            self.unlist_all();
        }
    }

    /// Notes a body that was added, and is in no list.
    pub(super) fn unlist_added(&mut self, slot: usize) {
        let World { bodies, unlisted, .. } = self;
        let is_plane = bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace;
        unlisted.add(slot, |slot| bodies.disc_bounds(slot), is_plane);
    }

    /// Notes that no body is where the list has it.
    pub(super) fn unlist_all(&mut self) {
        let World { bodies, unlisted, .. } = self;
        let taken = (0..bodies.len).filter(|&slot| bodies.is_taken(slot));
        unlisted.take_all(taken.map(|slot| (slot, bodies.disc_bounds(slot))));
    }

    /// Finds the bodies that are not where the list has them, after a step, or once the list has taken in bodies that the host added or moved.
    pub(super) fn find_unlisted(&mut self) {
        let World { bodies, broadphase, unlisted, .. } = self;
        debug_assert_eq!(broadphase.built, bodies.len, "bodies in no list");
        let strays = &broadphase.strays;
        if unlisted.is_empty() && broadphase.loose.is_empty() && strays.slots().is_empty() {
            return;
        }
        let loose = broadphase.loose.iter().filter(|&&slot| !strays.contains(slot as usize));
        let all = loose.chain(strays.slots()).map(|&slot| slot as usize);
        let taken = all.filter(|&slot| bodies.is_taken(slot));
        unlisted.fill(taken.map(|slot| (slot, bodies.disc_bounds(slot))));
    }
}
