//! What overlaps a point, a box or a shape; what is nearest; and distances.

use super::filter::{QueryFilter, Sieve};
use super::near::Near;
use super::solid::{Probe, Solid, distance_to_part, front};
use crate::body::{Bodies, BodyHandle, MAX_COORDINATE};
use crate::error::{Error, check_range, check_vec};
use crate::geometry::convex::{Convex, NearestPoints};
use crate::geometry::shape::{Shape, ShapeKind};
use crate::world::World;
use glam::Vec2;

/// A shape of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyPart {
    /// The body.
    pub body: BodyHandle,
    /// The number of its part, as in [`World::parts`]; 0 if it has one shape.
    pub part: u8,
}

/// The surface that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The body.
    pub body: BodyHandle,
    /// The number of its part, as in [`World::parts`]; 0 if it has one shape.
    pub part: u8,
    /// The nearest point of the surface, m.
    pub point: Vec2,
    /// The unit normal of the surface there, outward.
    pub normal: Vec2,
    /// The distance from the surface, m. Negative if the point is inside.
    pub distance: f32,
}

/// The distance between two shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// m. Negative if the shapes overlap: then moving one of them along the normal by so much is the shortest way to part them.
    pub distance: f32,
    /// The unit vector from the first shape to the second.
    pub normal: Vec2,
    /// The nearest point of the first shape, m; its deepest one in the second if they overlap.
    pub point_a: Vec2,
    /// The nearest point of the second shape, m.
    pub point_b: Vec2,
    /// The number of the first body's part; 0 if it has one shape.
    pub part_a: u8,
    /// The number of the second body's part.
    pub part_b: u8,
}

impl Distance {
    fn of(nearest: &NearestPoints, part_a: u8, part_b: u8) -> Distance {
        Distance {
            distance: nearest.gap.distance as f32,
            normal: nearest.gap.normal.as_vec2(),
            point_a: nearest.on_first.as_vec2(),
            point_b: nearest.on_second.as_vec2(),
            part_a,
            part_b,
        }
    }

    fn swapped(self) -> Distance {
        Distance {
            normal: -self.normal,
            point_a: self.point_b,
            point_b: self.point_a,
            part_a: self.part_b,
            part_b: self.part_a,
            ..self
        }
    }
}

/// A convex shape of a query, and the box around it.
#[derive(Clone, Copy)]
pub(super) struct Region {
    convex: Convex,
    lower: Vec2,
    upper: Vec2,
}

impl Region {
    pub(super) fn point(point: Vec2) -> Region {
        Region { convex: Convex::disc(point.as_dvec2(), 0.0), lower: point, upper: point }
    }

    /// Only of what `Probe::validate` has accepted.
    pub(super) fn shape(probe: &Probe) -> Region {
        let (convex, half) = probe.place().expect("a half-space is refused");
        Region { convex, lower: probe.position - half, upper: probe.position + half }
    }

    /// The corners of a box around the region, with what rounding may take away.
    pub(super) fn bounds(&self) -> [Vec2; 2] {
        let rounded = |edge: Vec2, sign: f32| edge + sign * 4.0 * f32::EPSILON * edge.abs();
        [rounded(self.lower, -1.0), rounded(self.upper, 1.0)]
    }

    /// Visits the shapes that overlap the region.
    pub(super) fn visit(&self, near: &Near<'_>, sieve: &Sieve<'_>, mut visit: impl FnMut(BodyPart) -> bool) {
        let [lower, upper] = self.bounds();
        near.in_box(lower, upper, |slot, _| {
            (0..near.bodies.shape_count(slot)).all(|part| {
                let apart = distance_to_part(near.bodies, (slot, part), &self.convex) > 0.0;
                apart || !sieve.sees(slot, part) || visit(BodyPart { body: near.bodies.handle(slot), part })
            })
        });
    }
}

/// A box of a query.
#[derive(Clone, Copy)]
pub(super) struct BoxRegion {
    pub lower: Vec2,
    pub upper: Vec2,
}

impl BoxRegion {
    /// Whether the box meets a half-space, or the bounds of another body, which are a little larger here.
    fn may_reach(&self, near: &Near<'_>, slot: usize) -> bool {
        if near.bodies.columns.kind[slot].shape() != ShapeKind::HalfSpace {
            let [lower, upper] = [self.lower, self.upper].map(|corner| corner.as_dvec2());
            let position = near.bodies.position(slot).as_dvec2();
            let half = 1.000_01 * near.bodies.bounds(slot).as_dvec2();
            return (position - half).cmple(upper).all() && (position + half).cmpge(lower).all();
        }
        self.meets_half_space(near.bodies, slot)
    }

    /// Whether the box meets a half-space.
    pub(super) fn meets_half_space(&self, bodies: &Bodies, slot: usize) -> bool {
        let [lower, upper] = [self.lower, self.upper].map(|corner| corner.as_dvec2());
        let Solid::Plane { normal, offset } = Solid::of(bodies, slot, 0) else { return false };
        // The box may be infinite along an axis on which the normal is zero.
        let deepest = |normal: f64, lower: f64, upper: f64| match normal {
            0.0 => 0.0,
            _ if normal < 0.0 => normal * upper,
            _ => normal * lower,
        };
        deepest(normal.x, lower.x, upper.x) + deepest(normal.y, lower.y, upper.y) <= offset
    }

    /// Visits the shapes that overlap the box.
    pub(super) fn visit(
        &self,
        world: &World,
        near: &Near<'_>,
        sieve: &Sieve<'_>,
        mut visit: impl FnMut(BodyPart) -> bool,
    ) {
        let &BoxRegion { lower, upper } = self;
        if !lower.cmple(upper).all() {
            return;
        }
        near.in_box(lower, upper, |slot, overlaps| {
            let body = near.bodies.handle(slot);
            // The centre of a body of one shape is in that shape.
            let holds_centre = || {
                let (position, kind) = (near.bodies.position(slot), near.bodies.columns.kind[slot].shape());
                let alone = !matches!(kind, ShapeKind::Compound | ShapeKind::HalfSpace);
                alone && position.cmpge(lower).all() && position.cmple(upper).all()
            };
            if overlaps || holds_centre() {
                return !sieve.sees(slot, 0) || visit(BodyPart { body, part: 0 });
            }
            self.visit_exactly(world, near, slot, |part| {
                !sieve.sees(slot, part) || visit(BodyPart { body, part })
            })
        });
    }

    /// Visits the parts of a body that overlap the box. Returns false if the visitor did. (Out of line, so that what most bodies need stays
    /// in line.)
    #[inline(never)]
    fn visit_exactly(
        &self,
        world: &World,
        near: &Near<'_>,
        slot: usize,
        mut visit: impl FnMut(u8) -> bool,
    ) -> bool {
        if !self.may_reach(near, slot) {
            return true;
        }
        let mut goes_on = true;
        world.visit_overlapping_parts(slot, self.lower, self.upper, |part| {
            goes_on = visit(part);
            goes_on
        });
        goes_on
    }
}

/// The surface that is nearest to a point, at most at a distance.
pub(super) fn nearest(near: &Near<'_>, sieve: &Sieve<'_>, point: Vec2, most: f32) -> Option<Nearest> {
    let (probe, most) = (Convex::disc(point.as_dvec2(), 0.0), f64::from(most));
    let mut best: Option<(f64, BodyPart)> = None;
    near.outward(point, most, |slot| {
        for part in (0..near.bodies.shape_count(slot)).filter(|&part| sieve.meets(slot, part)) {
            let distance = distance_to_part(near.bodies, (slot, part), &probe);
            let found = (distance, BodyPart { body: near.bodies.handle(slot), part });
            let nearer = best.is_none_or(|best| found.0 < best.0 || (found.0 == best.0 && found.1 < best.1));
            if distance <= most && nearer && sieve.sees(slot, part) {
                best = Some(found);
            }
        }
        best.map_or(most, |(distance, _)| distance)
    });
    let (distance, BodyPart { body, part }) = best?;
    let slot = near.bodies.slot_of(body).ok()?;
    let found = Solid::of(near.bodies, slot, part).nearest(&probe);
    Some(Nearest {
        body,
        part,
        point: found.on_first.as_vec2(),
        normal: found.gap.normal.as_vec2(),
        distance: distance as f32,
    })
}

/// Checks a point and a distance.
pub(super) fn check_nearest(point: Vec2, most: f32) -> Result<(), Error> {
    check_vec("point", point, MAX_COORDINATE)?;
    check_range("max_distance", most, 0.0, 4.0 * MAX_COORDINATE)
}

impl World {
    /// Visits the shapes that hold a point (edges included), in an order that is the same in every run, until `visit` returns false.
    /// [`World::overlap_points`] takes many points, and [`World::query_point`] visits bodies.
    ///
    /// # Errors
    ///
    /// Returns an error for a coordinate that is not finite or out of range.
    pub fn overlap_point(
        &self,
        point: Vec2,
        filter: &QueryFilter<'_>,
        visit: impl FnMut(BodyPart) -> bool,
    ) -> Result<(), Error> {
        check_vec("point", point, MAX_COORDINATE)?;
        Region::point(point).visit(&self.near(), &Sieve::new(&self.bodies, filter), visit);
        Ok(())
    }

    /// Visits the shapes that overlap the box from `lower` to `upper` (edges included), in an order that is the same in every run, until
    /// `visit` returns false. The sides of the box may be infinite. One with a corner that is not a number, or with its corners swapped,
    /// holds nothing. [`World::query_aabb`] visits bodies, [`World::overlap_aabbs`] takes many boxes.
    pub fn overlap_aabb(
        &self,
        lower: Vec2,
        upper: Vec2,
        filter: &QueryFilter<'_>,
        visit: impl FnMut(BodyPart) -> bool,
    ) {
        BoxRegion { lower, upper }.visit(self, &self.near(), &Sieve::new(&self.bodies, filter), visit);
    }

    /// Visits the bodies whose bounds overlap the box from `lower` to `upper` (edges included), if the filter sees any of their parts, in an
    /// order that is the same in every run, until `visit` returns false. The bounds are the smallest axis-aligned box about the body's
    /// centre that holds its shapes. So the shapes of a visited body may be outside of the box, by up to the distance from a shape to a
    /// corner of its bounds. The bounds of a half-space are the half-space itself. The box is as that of [`World::overlap_aabb`].
    pub fn overlap_bounds(
        &self,
        lower: Vec2,
        upper: Vec2,
        filter: &QueryFilter<'_>,
        visit: impl FnMut(BodyHandle) -> bool,
    ) {
        self.visit_bounds(&self.near(), &Sieve::new(&self.bodies, filter), [lower, upper], visit);
    }

    pub(super) fn visit_bounds(
        &self,
        near: &Near<'_>,
        sieve: &Sieve<'_>,
        [lower, upper]: [Vec2; 2],
        mut visit: impl FnMut(BodyHandle) -> bool,
    ) {
        if lower.cmple(upper).all() {
            near.in_box(lower, upper, |slot, _| {
                let seen = || (0..self.bodies.shape_count(slot)).any(|part| sieve.sees(slot, part));
                !self.bounds_overlap(slot, lower, upper) || !seen() || visit(self.bodies.handle(slot))
            });
        }
    }

    /// Visits the shapes that overlap or touch a shape, in an order that is the same in every run, until `visit` returns false. Segments,
    /// also those of chains, have no inside. [`World::overlap_shapes`] takes many shapes.
    ///
    /// # Errors
    ///
    /// Those of [`Probe::validate`].
    ///
    /// ```
    /// use granule::{BodyDesc, Probe, QueryFilter, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// let near = world.add_body(&BodyDesc::fixed(Shape::circle(1.0), Vec2::new(2.0, 0.0)))?;
    /// world.add_body(&BodyDesc::fixed(Shape::circle(1.0), Vec2::new(4.0, 4.0)))?;
    /// let blast = Probe::new(Shape::circle(1.5), Vec2::ZERO);
    /// let mut found = Vec::new();
    /// world.overlap_shape(&blast, &QueryFilter::default(), |at| {
    ///     found.push(at.body);
    ///     true
    /// })?;
    /// assert_eq!(found, [near]);
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn overlap_shape(
        &self,
        probe: &Probe,
        filter: &QueryFilter<'_>,
        visit: impl FnMut(BodyPart) -> bool,
    ) -> Result<(), Error> {
        probe.validate()?;
        Region::shape(probe).visit(&self.near(), &Sieve::new(&self.bodies, filter), visit);
        Ok(())
    }

    /// The surface that is nearest to a point, at most at `max_distance`, m. If the point is inside of shapes, the one in which it is
    /// deepest. Of several at one distance the one of the lowest handle, and its first part.
    ///
    /// # Errors
    ///
    /// Returns an error for a coordinate that is not finite or out of range, or a distance outside 0..=4e7.
    ///
    /// ```
    /// use granule::{BodyDesc, QueryFilter, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// let ball = world.add_body(&BodyDesc::fixed(Shape::circle(1.0), Vec2::new(3.0, 0.0)))?;
    /// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, -4.0), Vec2::ZERO))?;
    /// let near = world.nearest(Vec2::ZERO, 10.0, &QueryFilter::default())?.expect("two are near");
    /// assert_eq!((near.body, near.distance, near.point), (ball, 2.0, Vec2::new(2.0, 0.0)));
    /// assert!(world.nearest(Vec2::ZERO, 1.0, &QueryFilter::default())?.is_none());
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn nearest(
        &self,
        point: Vec2,
        max_distance: f32,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<Nearest>, Error> {
        check_nearest(point, max_distance)?;
        Ok(nearest(&self.near(), &Sieve::new(&self.bodies, filter), point, max_distance))
    }

    /// The distance between two bodies: the least one between any of their shapes, with the nearest points. Chains' segments count as
    /// segments.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; two half-spaces, which have no distance.
    ///
    /// ```
    /// use granule::{BodyDesc, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// let left = world.add_body(&BodyDesc::fixed(Shape::circle(1.0), Vec2::ZERO))?;
    /// let right = world.add_body(&BodyDesc::fixed(Shape::oriented_box(1.0, 4.0), Vec2::new(5.0, 3.0)))?;
    /// let gap = world.distance(left, right)?;
    /// assert_eq!((gap.distance, gap.normal), (3.0, Vec2::X));
    /// assert_eq!((gap.point_a, gap.point_b), (Vec2::new(1.0, 0.0), Vec2::new(4.0, 0.0)));
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn distance(&self, a: BodyHandle, b: BodyHandle) -> Result<Distance, Error> {
        let slots = self.check_distance(&[a, b])?;
        let is_plane = slots.map(|slot| self.is_half_space(slot));
        let [first, second] = if is_plane[1] { [slots[1], slots[0]] } else { slots };
        let mut least: Option<Distance> = None;
        for part_b in 0..self.bodies.shape_count(second) {
            let Solid::Convex(other) = Solid::of(&self.bodies, second, part_b) else { continue };
            for part_a in 0..self.bodies.shape_count(first) {
                let nearest = Solid::of(&self.bodies, first, part_a).nearest(&other);
                let found = Distance::of(&nearest, part_a, part_b);
                if least.is_none_or(|least| found.distance < least.distance) {
                    least = Some(found);
                }
            }
        }
        let least = least.expect("each body has a shape");
        Ok(if is_plane[1] { least.swapped() } else { least })
    }

    fn is_half_space(&self, slot: usize) -> bool {
        self.bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace
    }

    /// Returns the slots of two bodies that have a distance.
    pub(super) fn check_distance(&self, &[a, b]: &[BodyHandle; 2]) -> Result<[usize; 2], Error> {
        let slots = [self.bodies.slot_of(a)?, self.bodies.slot_of(b)?];
        if slots.iter().all(|&slot| self.is_half_space(slot)) {
            return Err(Error::Invalid { field: "distance", reason: "two half-spaces have no distance" });
        }
        Ok(slots)
    }
}

impl Probe {
    /// The distance between this shape and another one, with the nearest points.
    ///
    /// # Errors
    ///
    /// Those of [`Probe::validate`], of both.
    ///
    /// ```
    /// use granule::{Probe, Shape, Vec2};
    ///
    /// let plank = Probe { angle: 0.5, ..Probe::new(Shape::oriented_box(2.0, 0.1), Vec2::ZERO) };
    /// let ball = Probe::new(Shape::circle(0.5), Vec2::new(0.0, 3.0));
    /// let gap = plank.distance(&ball)?;
    /// assert!((gap.distance - (3.0 * 0.5f32.cos() - 0.6)).abs() < 1e-6);
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn distance(&self, other: &Probe) -> Result<Distance, Error> {
        self.validate()?;
        other.validate()?;
        let [a, b] = [self, other].map(|probe| Region::shape(probe).convex);
        Ok(Distance::of(&a.nearest(&b), 0, 0))
    }
}

impl World {
    /// The shape that overlaps a shape most: the depth, and the direction of the shortest way out. A
    /// chain's segment pushes to the side on which it is not solid, and only what has its centre there.
    pub(crate) fn deepest(
        &self,
        probe: &Probe,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<(f32, Vec2)>, Error> {
        probe.validate()?;
        let (region, mut deepest) = (Region::shape(probe), None::<(f32, Vec2)>);
        region.visit(&self.near(), &Sieve::new(&self.bodies, filter), |BodyPart { body, part }| {
            let Ok(slot) = self.bodies.slot_of(body) else { return true };
            let gap = Solid::of(&self.bodies, slot, part).nearest(&region.convex).gap;
            let (mut depth, mut normal) = (-gap.distance, gap.normal);
            if let Some((start, out)) = front(&self.bodies, slot) {
                if out.dot(probe.position.as_dvec2() - start) < 0.0 {
                    return true;
                }
                (depth, normal) = (out.dot(start) - region.convex.least(out), out);
            }
            if deepest.is_none_or(|(most, _)| depth as f32 > most) {
                deepest = Some((depth as f32, normal.as_vec2()));
            }
            true
        });
        Ok(deepest.filter(|&(depth, _)| depth > 0.0))
    }

    /// The shape that is nearest to a shape, of those that are less than `reach` away and do not overlap it: the distance, and the direction away from it. Of a
    /// chain's segment only what has its centre on the side on which that is not solid is near.
    pub(crate) fn closest(
        &self,
        probe: &Probe,
        reach: f32,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<(f32, Vec2)>, Error> {
        probe.validate()?;
        let own = Region::shape(probe);
        let (mut grown, mut closest) = (own, None::<(f64, Vec2)>);
        grown.convex.radius += f64::from(reach);
        (grown.lower, grown.upper) = (own.lower - reach, own.upper + reach);
        grown.visit(&self.near(), &Sieve::new(&self.bodies, filter), |BodyPart { body, part }| {
            let Ok(slot) = self.bodies.slot_of(body) else { return true };
            let behind = front(&self.bodies, slot)
                .is_some_and(|(start, out)| out.dot(probe.position.as_dvec2() - start) < 0.0);
            let gap = Solid::of(&self.bodies, slot, part).nearest(&own.convex).gap;
            let nearer = closest.is_none_or(|(least, _)| gap.distance < least);
            if !behind && gap.distance > 0.0 && nearer {
                closest = Some((gap.distance, gap.normal.as_vec2()));
            }
            true
        });
        Ok(closest.map(|(distance, normal)| (distance as f32, normal)))
    }

    /// Visits the parts of a body that overlap a box, which meets the body if that is a half-space, until `visit` returns false. Works in f64, so that
    /// the edges are where the numbers say.
    pub(super) fn visit_overlapping_parts(
        &self,
        slot: usize,
        lower: Vec2,
        upper: Vec2,
        mut visit: impl FnMut(u8) -> bool,
    ) {
        let shape = self.bodies.shape(slot);
        if matches!(shape, Shape::HalfSpace { .. }) {
            visit(0);
            return;
        }
        // The box is taken from the centre, and cut to twice the bounds: so no side is infinite, and none is far away.
        let (position, reach) =
            (self.bodies.position(slot).as_dvec2(), 2.0 * self.bodies.bounds(slot).as_dvec2());
        let lower = (lower.as_dvec2() - position).max(-reach);
        let upper = (upper.as_dvec2() - position).min(reach);
        if !lower.cmple(upper).all() {
            return;
        }
        if let Shape::Aabb { half_extents } = shape {
            let half = half_extents.as_dvec2();
            if lower.cmple(half).all() && upper.cmpge(-half).all() {
                visit(0);
            }
            return;
        }
        if !self.bodies.columns.kind[slot].shape().turns() {
            let nearest = glam::DVec2::ZERO.clamp(lower, upper);
            let radius = f64::from(self.bodies.columns.ext_x[slot]);
            if nearest.length_squared() <= radius * radius {
                visit(0);
            }
            return;
        }
        let mut part = 0;
        self.bodies.visit_outlines(slot, |outline, centre, (sin, cos)| {
            let turn = glam::DVec2::new(f64::from(cos), f64::from(sin));
            let overlaps = outline.overlaps_box(turn, lower - centre.as_dvec2(), upper - centre.as_dvec2());
            let goes_on = !overlaps || visit(part);
            part = part.wrapping_add(1);
            goes_on
        });
    }
}
