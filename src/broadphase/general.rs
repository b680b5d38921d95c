//! Candidate pairs of shapes that turn, part by part.
//!
//! The exact distance of two outlines would cost a hundred nanoseconds a candidate. So a shape is taken as the
//! smallest box about its centre and turned with it: what passes may be a few centimetres further apart than a
//! pair has to be, which the narrowphase finds out by lanes.

use super::Broadphase;
use crate::body::{Bodies, Kind, NO_OUTLINE};
use crate::broadphase::sweep::Pair;
use crate::compound::Compound;
use crate::narrowphase::PairKind;
use crate::outline::Outlines;
use crate::shape::ShapeKind;
use glam::Vec2;

/// In place of a part's number, for a body that has one shape.
pub(crate) const NO_PART: u8 = u8::MAX;

/// The reach of a half-space, m. Finite, so that its square is no NaN's origin.
const EVERYWHERE: f32 = 1.0e12;

/// A body's shape, or one of its parts.
pub(crate) struct ShapeRef {
    pub kind: ShapeKind,
    /// In the rows by shape: the body's slot, or the part's row.
    pub row: u32,
    /// The first of its outline's rows.
    pub outline_row: u32,
    pub vertices: usize,
    /// Of its rounding.
    pub radius: f32,
    /// Distance from its centre to its furthest point.
    pub reach: f32,
    pub material: u32,
}

impl ShapeRef {
    #[inline]
    pub(crate) fn new(bodies: &Bodies, slot: usize, part: u8) -> ShapeRef {
        let c = &bodies.columns;
        let parts = bodies.parts(slot);
        let placed = parts.get(usize::from(part));
        let kind = placed.map_or(c.kind[slot].shape(), |placed| placed.part.shape.kind());
        let outline = placed.map_or(c.outline[slot], |placed| placed.outline);
        let row = if placed.is_some() { bodies.part_row(slot) + u32::from(part) } else { slot as u32 };
        let material = placed.map_or(c.material[slot], |placed| placed.material);
        if outline != NO_OUTLINE {
            let of = bodies.outlines.outline(outline);
            let outline_row = Outlines::first_row(outline);
            let reach = if placed.is_none() && kind.turns() { c.arm[slot] } else { of.reach() };
            ShapeRef { kind, row, outline_row, vertices: of.count, radius: of.radius, reach, material }
        } else {
            let round = matches!(kind, ShapeKind::Circle | ShapeKind::Particle);
            let radius = if round { c.ext_x[slot] } else { 0.0 };
            let reach = match kind {
                ShapeKind::HalfSpace => EVERYWHERE,
                ShapeKind::Aabb => Vec2::new(c.ext_x[slot], c.ext_y[slot]).length(),
                _ => radius,
            };
            ShapeRef { kind, row, outline_row: 0, vertices: 1, radius, reach, material }
        }
    }
}

/// A shape as a turned box with its filter.
struct Candidate {
    part: u8,
    kind: Kind,
    centre: Vec2,
    /// Its x axis.
    axis: Vec2,
    half: Vec2,
    category: u32,
    mask: u32,
    group: u32,
}

impl Candidate {
    /// How far the box reaches along a direction.
    fn support(&self, direction: Vec2) -> f32 {
        self.half.x * direction.dot(self.axis).abs() + self.half.y * direction.dot(self.axis.perp()).abs()
    }

    /// The largest gap that one of the boxes' axes shows: no more than their distance.
    fn separation(&self, other: &Candidate) -> f32 {
        let way = other.centre - self.centre;
        let axes = [self.axis, self.axis.perp(), other.axis, other.axis.perp()];
        let gap = |axis: Vec2| way.dot(axis).abs() - self.support(axis) - other.support(axis);
        axes.map(gap).into_iter().fold(f32::NEG_INFINITY, f32::max)
    }

    fn may_touch(&self, other: &Candidate) -> bool {
        (self.category & other.mask) != 0
            && (other.category & self.mask) != 0
            && (self.group == 0 || self.group != other.group)
    }
}

impl Broadphase {
    /// The pairs of shapes of two bodies that may touch each other before the list is stale.
    #[inline(never)]
    pub(super) fn accept_general(&self, bodies: &Bodies, a: usize, b: usize, emit: &mut dyn FnMut(Pair)) {
        let c = &bodies.columns;
        let (a_fixed, b_fixed) = (c.inv_mass[a] == 0.0, c.inv_mass[b] == 0.0);
        let growth = self.bounds.growth[a] + self.bounds.growth[b];
        self.candidates(bodies, a, &mut |of_a| {
            self.candidates(bodies, b, &mut |of_b| {
                if !of_a.may_touch(&of_b) {
                    return;
                }
                let (kind, mut swap) = PairKind::of(of_a.kind, a_fixed, of_b.kind, b_fixed);
                if kind.is_symmetric() {
                    // The same one is A wherever the two are in the order of space.
                    swap = c.handle[a].index > c.handle[b].index;
                }
                let plane = |slot: usize| {
                    (c.kind[slot].shape() == ShapeKind::HalfSpace)
                        .then(|| (Vec2::new(c.ext_x[slot], c.ext_y[slot]), c.ext_z[slot]))
                };
                let above = |of: &Candidate, (normal, offset): (Vec2, f32)| {
                    normal.dot(of.centre) - offset - of.support(normal)
                };
                let separation = match (plane(a), plane(b)) {
                    (Some(plane), _) => above(&of_b, plane),
                    (_, Some(plane)) => above(&of_a, plane),
                    _ => of_a.separation(&of_b),
                };
                if separation <= growth {
                    let parts = [of_a.part, of_b.part];
                    emit(Pair { a: a as u32, b: b as u32, separation, kind, swap, parts });
                }
            });
        });
    }

    /// A body's shapes, where they were when the list was made.
    fn candidates(&self, bodies: &Bodies, slot: usize, visit: &mut dyn FnMut(Candidate)) {
        let c = &bodies.columns;
        let kind = c.kind[slot];
        let [x, y, half_x, half_y] = self.shape[slot].0;
        let (category, mask, group) = (c.category[slot], c.mask[slot], c.group[slot]);
        let whole = Candidate {
            part: NO_PART,
            kind,
            centre: Vec2::new(x, y),
            axis: Vec2::X,
            half: Vec2::new(half_x, half_y),
            category,
            mask,
            group,
        };
        if !kind.shape().turns() {
            visit(whole);
            return;
        }
        let turn = self.turn[slot];
        if kind.shape() != ShapeKind::Compound {
            let half = bodies.outlines.half_extents(c.outline[slot]);
            visit(Candidate { axis: Vec2::new(turn.1, turn.0), half, ..whole });
            return;
        }
        for (placed, part) in bodies.parts(slot).iter().zip(0u8..) {
            let (offset, (sin, cos)) = Compound::place(placed, turn);
            visit(Candidate {
                part,
                kind: Kind::new(kind.motion(), placed.part.shape.kind()).general(),
                centre: whole.centre + offset,
                axis: Vec2::new(cos, sin),
                half: bodies.outlines.half_extents(placed.outline),
                category: placed.part.filter.category,
                mask: placed.part.filter.mask,
                group: placed.part.filter.group,
            });
        }
    }
}
