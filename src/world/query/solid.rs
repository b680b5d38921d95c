//! The shapes of bodies at their places, in f64: for queries, for sensors, and for the checks of
//! [`World::validate`](crate::World::validate).

use crate::body::Bodies;
use crate::body::MAX_COORDINATE;
use crate::body::compound::Compound;
use crate::error::{Error, check_range, check_vec};
use crate::geometry::convex::{Convex, NearestPoints, RayHit, passes_disc, ray_disc, ray_outline, ray_plane};
use crate::geometry::outline::Outline;
use crate::geometry::shape::{Shape, ShapeKind};
use crate::geometry::trig::sin_cos;
use crate::isa::Level;
use glam::{DVec2, Vec2};

/// A shape of a body, or that of a query, in the world's axes.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "it lives for one test, and nearly all are convex")]
pub(in crate::world) enum Solid {
    /// All points p with normal · p ≤ offset.
    Plane {
        normal: DVec2,
        offset: f64,
    },
    Convex(Convex),
}

/// Where an outline is: its centre and its direction.
#[derive(Clone, Copy)]
struct OutlineAt {
    centre: DVec2,
    turn: DVec2,
}

fn direction((sin, cos): (f32, f32)) -> DVec2 {
    DVec2::new(cos.into(), sin.into())
}

/// The outline of a part of a body that turns, and its place.
fn outline_of(bodies: &Bodies, slot: usize, part: u8) -> (&Outline, OutlineAt) {
    let c = &bodies.columns;
    let centre = bodies.position(slot).as_dvec2();
    let turn = sin_cos(c.angle[slot]);
    match bodies.parts(slot).get(usize::from(part)) {
        None => (bodies.outlines.outline(c.outline[slot]), OutlineAt { centre, turn: direction(turn) }),
        Some(placed) => {
            let (offset, turn) = Compound::place(placed, turn);
            let place = OutlineAt { centre: centre + offset.as_dvec2(), turn: direction(turn) };
            (bodies.outlines.outline(placed.outline), place)
        }
    }
}

fn upright_box(centre: DVec2, half_extents: Vec2) -> Convex {
    let outline = Outline::of(&Shape::Aabb { half_extents }).expect("a box has an outline");
    Convex::placed(&outline, centre, DVec2::X)
}

impl Solid {
    /// A shape of a body.
    pub(in crate::world) fn of(bodies: &Bodies, slot: usize, part: u8) -> Solid {
        let c = &bodies.columns;
        let (centre, ext) = (bodies.position(slot).as_dvec2(), Vec2::new(c.ext_x[slot], c.ext_y[slot]));
        match c.kind[slot].shape() {
            ShapeKind::Circle | ShapeKind::Particle => Solid::Convex(Convex::disc(centre, ext.x.into())),
            ShapeKind::Aabb => Solid::Convex(upright_box(centre, ext)),
            ShapeKind::HalfSpace => plane(ext, c.ext_z[slot]),
            kind => {
                let (outline, OutlineAt { centre, turn }) = outline_of(bodies, slot, part);
                let mut convex = Convex::placed(outline, centre, turn);
                if kind == ShapeKind::ChainSegment {
                    convex.join(joint_slack(bodies, slot));
                }
                Solid::Convex(convex)
            }
        }
    }

    /// The nearest points of this shape and a convex one. The normal leaves this shape.
    pub(super) fn nearest(&self, other: &Convex) -> NearestPoints {
        match self {
            Solid::Plane { normal, offset } => other.nearest_to_plane(*normal, *offset),
            Solid::Convex(convex) => convex.nearest(other),
        }
    }

    /// The distance between this shape and a convex one; negative where they overlap.
    pub(super) fn distance(&self, other: &Convex) -> f64 {
        match self {
            Solid::Plane { normal, offset } => other.least(*normal) - offset,
            Solid::Convex(convex) => convex.minus(other).gap(DVec2::ZERO).distance,
        }
    }

    /// The depth to which two shapes overlap; negative when they are apart. Two half-spaces count as apart.
    pub(in crate::world) fn depth(&self, other: &Solid) -> f64 {
        match (self, other) {
            (Solid::Plane { .. }, Solid::Plane { .. }) => f64::NEG_INFINITY,
            (solid, Solid::Convex(convex)) | (Solid::Convex(convex), solid) => -solid.distance(convex),
        }
    }

    /// The corners of a box that holds the shape, grown by some units in the last place. `None` for a half-space.
    pub(in crate::world) fn bounds(&self) -> Option<[Vec2; 2]> {
        let Solid::Convex(convex) = self else { return None };
        let [lower, upper] = convex.bounds();
        let rounding = 1.0e-6 * (convex.radius + lower.abs().max(upper.abs()).max_element());
        Some([(lower - rounding).as_vec2(), (upper + rounding).as_vec2()])
    }

    /// A bound for the rounding of the engine's tests of this shape: some units in the last place of its coordinates.
    pub(in crate::world) fn rounding(&self) -> f64 {
        let size = match self {
            Solid::Plane { offset, .. } => offset.abs(),
            Solid::Convex(convex) => {
                convex.bounds().map(|corner| corner.abs().max_element()).into_iter().fold(0.0, f64::max)
            }
        };
        1.0e-4 + 4.0e-6 * size
    }
}

/// How far a ray may pass beyond the ends of a chain's segment and still meets it: where the chain goes on, by what single precision may
/// take of the places of both segments and of their directions, so that no ray passes between the two. 0 at an end of the chain.
fn joint_slack(bodies: &Bodies, slot: usize) -> [f32; 2] {
    let Shape::ChainSegment { half_length, before, after } = bodies.shape(slot) else { return [0.0; 2] };
    let slack = f32::EPSILON * (2.0 * bodies.position(slot).abs().max_element() + 4.0 * half_length);
    [before, after].map(|neighbour| if neighbour.is_some() { slack } else { 0.0 })
}

fn plane(normal: Vec2, offset: f32) -> Solid {
    Solid::Plane { normal: normal.as_dvec2().normalize_or_zero(), offset: offset.into() }
}

/// The distance between a shape of a body and another one; negative where they overlap.
#[inline]
pub(super) fn distance_to_part(bodies: &Bodies, (slot, part): (usize, u8), other: &Convex) -> f64 {
    let c = &bodies.columns;
    match c.kind[slot].shape() {
        ShapeKind::Circle | ShapeKind::Particle => {
            other.distance_to_disc(bodies.position(slot).as_dvec2(), c.ext_x[slot].into())
        }
        _ => Solid::of(bodies, slot, part).distance(other),
    }
}

/// Where a disc, its centre moved along a ray, meets a shape of a body. A ray itself is a disc of radius 0.
pub(super) fn disc_meets_part(
    (bodies, level): (&Bodies, Level),
    (slot, part): (usize, u8),
    (from, way): (DVec2, DVec2),
    radius: f64,
    limit: f64,
) -> Option<RayHit> {
    let c = &bodies.columns;
    let centre = bodies.position(slot).as_dvec2();
    // Only of shapes that do not turn: for each line of memory that is in no cache a query waits.
    let ext = || Vec2::new(c.ext_x[slot], c.ext_y[slot]);
    match c.kind[slot].shape() {
        ShapeKind::Circle | ShapeKind::Particle => {
            ray_disc(centre, f64::from(c.ext_x[slot]) + radius, from, way)
                .filter(|touch| touch.fraction <= limit)
        }
        ShapeKind::HalfSpace => {
            let Solid::Plane { normal, offset } = plane(ext(), c.ext_z[slot]) else { return None };
            ray_plane(normal, offset + radius, from, way, limit)
        }
        ShapeKind::Aabb => {
            let outline = Outline::of(&Shape::Aabb { half_extents: ext() })?;
            ray_outline(level, (&outline, radius), (from - centre, way), limit, [0.0; 2])
        }
        kind => {
            let slack = 8.0 * f64::from(f32::EPSILON) * (centre.abs().max_element() + 1.0);
            // What misses the disc around the whole body is spared its sine and cosine.
            let reach = 1.000_01 * (f64::from(c.furthest[slot]) + radius) + slack;
            if passes_disc(reach, from - centre, way) {
                return None;
            }
            let (outline, OutlineAt { centre, turn }) = outline_of(bodies, slot, part);
            let undo = DVec2::new(turn.x, -turn.y);
            let (near, along) = (undo.rotate(from - centre), undo.rotate(way));
            // A chain's segment is solid on its right only. A ray must cross it.
            let is_chain = kind == ShapeKind::ChainSegment;
            if is_chain && (near.y < 0.0 || (radius == 0.0 && along.y >= 0.0)) {
                return None;
            }
            let slack = if is_chain && radius == 0.0 { joint_slack(bodies, slot) } else { [0.0; 2] };
            let touch = ray_outline(level, (outline, radius), (near, along), limit, slack)?;
            Some(RayHit { normal: turn.rotate(touch.normal), ..touch })
        }
    }
}

/// A point of a chain's segment, and the direction of the side on which it is not solid. `None` for other shapes.
pub(super) fn front(bodies: &Bodies, slot: usize) -> Option<(DVec2, DVec2)> {
    if bodies.columns.kind[slot].shape() != ShapeKind::ChainSegment {
        return None;
    }
    let (_, OutlineAt { centre, turn }) = outline_of(bodies, slot, 0);
    Some((centre, turn.perp()))
}

/// Whether a point is on the side on which a shape can be met: a chain's segment is solid on its right only.
pub(super) fn faces(bodies: &Bodies, slot: usize, point: DVec2) -> bool {
    front(bodies, slot).is_none_or(|(start, out)| out.dot(point - start) >= 0.0)
}

/// A shape with which a query asks, and its place. Metres, radians.
///
/// Any shape but a half-space. A chain's segment counts as a segment, with two sides; an [`Shape::Aabb`] does not turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// The shape, centred on `position`.
    pub shape: Shape,
    /// Each coordinate in −1e7..=1e7, m.
    pub position: Vec2,
    /// Counter-clockwise, rad, in −1e7..=1e7.
    pub angle: f32,
}

impl Probe {
    /// A shape at a place, not turned.
    pub fn new(shape: Shape, position: Vec2) -> Probe {
        Probe { shape, position, angle: 0.0 }
    }

    /// Checks the fields.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range; a half-space.
    pub fn validate(&self) -> Result<(), Error> {
        self.shape.validate()?;
        check_vec("probe.position", self.position, MAX_COORDINATE)?;
        check_range("probe.angle", self.angle, -MAX_COORDINATE, MAX_COORDINATE)?;
        match self.shape {
            Shape::HalfSpace { .. } => {
                Err(Error::Invalid { field: "probe.shape", reason: "a half-space is without end" })
            }
            _ => Ok(()),
        }
    }

    /// Within which distance of its centre the shape is, however it is turned. With what rounding may take away. 0 of a half-space.
    pub(super) fn reach(&self) -> f32 {
        let round = match self.shape {
            Shape::Circle { radius } | Shape::Particle { radius } => Some(radius),
            _ => None,
        };
        let reach = round.or_else(|| Some(Outline::of(&self.shape)?.reach())).unwrap_or(0.0);
        reach * (1.0 + 16.0 * f32::EPSILON)
    }

    /// The corners of a box that holds the shape, however it is turned.
    pub(super) fn around(&self) -> [Vec2; 2] {
        let half = self.reach() + 8.0 * f32::EPSILON * self.position.abs();
        [self.position - half, self.position + half]
    }

    /// The shape in its place, and the half extents of its bounds about `position`. `None` for a half-space.
    pub(in crate::world) fn place(&self) -> Option<(Convex, Vec2)> {
        let outline = Outline::of(&self.shape)?;
        let fixed = matches!(self.shape, Shape::Aabb { .. });
        let (sin, cos) =
            if fixed { (0.0, 1.0) } else { sin_cos(crate::geometry::trig::wrap(self.angle.into()).0) };
        let convex = Convex::placed(&outline, self.position.as_dvec2(), direction((sin, cos)));
        Some((convex, outline.bounds((sin, cos), Vec2::ZERO)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solid(shape: Shape, x: f32, y: f32) -> Solid {
        let (convex, _) = Probe::new(shape, Vec2::new(x, y)).place().expect("no half-space");
        Solid::Convex(convex)
    }

    /// Depths for cases in which the depth is obvious: discs, boxes, crossing and collinear segments, a half-space.
    #[test]
    fn depths_are_those_of_plain_cases() {
        let disc = |x: f32, y: f32, radius: f32| solid(Shape::circle(radius), x, y);
        let bar = |x: f32, half_length: f32, turn: DVec2, radius: f64| {
            let outline = Outline::of(&Shape::segment(half_length)).expect("an outline");
            let mut convex = Convex::placed(&outline, DVec2::new(x.into(), 0.0), turn);
            convex.radius = radius;
            Solid::Convex(convex)
        };
        let unit = solid(Shape::aabb(1.0, 1.0), 0.0, 0.0);
        let cases = [
            (disc(1.5, 0.0, 0.75), 0.25),
            (disc(4.0, 5.0, 1.0), -4.0),
            (disc(0.0, 0.5, 0.125), 0.625),
            (unit, 2.0),
            (bar(1.5, 9.0, DVec2::Y, 0.0), -0.5),
            (bar(0.5, 9.0, DVec2::Y, 0.25), 0.75),
            (plane(2.0 * Vec2::Y, -0.5), 0.5),
        ];
        for (index, (other, depth)) in cases.iter().enumerate() {
            assert!((unit.depth(other) - depth).abs() < 1e-12, "case {index}: {}", unit.depth(other));
            assert!(
                (other.depth(&unit) - depth).abs() < 1e-12,
                "case {index} swapped: {}",
                other.depth(&unit)
            );
        }
        let (flat, next) = (bar(0.5, 0.5, DVec2::X, 0.0), bar(1.75, 0.25, DVec2::X, 0.0));
        assert!((flat.depth(&next) + 0.5).abs() < 1e-12);
        assert!((disc(0.0, 0.0, 1.0).depth(&disc(0.0, 0.0, 2.0)) - 3.0).abs() < 1e-12);
        assert_eq!(plane(Vec2::Y, 1.0).depth(&plane(-Vec2::Y, 1.0)), f64::NEG_INFINITY);
    }
}
