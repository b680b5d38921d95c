//! BoxedShape pairs of shapes that turn, part by part.
//!
//! The exact distance of two outlines would cost a hundred nanoseconds a candidate. So a shape counts as the smallest
//! box about its centre that turns with it. A pair that passes may be a few centimetres further apart than a pair has
//! to be; the narrowphase finds this out by lanes.

use super::Broadphase;
use crate::body::compound::Compound;
use crate::body::{Bodies, Filter, Kind, NO_OUTLINE};
use crate::broadphase::sweep::Pair;
use crate::geometry::outline::Outlines;
use crate::geometry::shape::ShapeKind;
use crate::geometry::trig::sin_cos;
use crate::narrowphase::PairKind;
use glam::Vec2;

/// A mark in place of a part's number, for a body that has one shape.
pub(crate) const NO_PART: u8 = u8::MAX;

/// The reach of a half-space, m. Finite, so that its square makes no NaN.
const EVERYWHERE: f32 = 1.0e12;

/// A body's shape, or one of its parts.
pub(crate) struct ShapeRef {
    pub kind: ShapeKind,
    /// Its row in the rows by shape: the body's slot, or the part's row.
    pub row: u32,
    /// The first row of its outline.
    pub outline_row: u32,
    pub vertices: usize,
    /// The radius of its rounding.
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
            let outline_row = Outlines::first_row(outline);
            let (radius, vertices) = bodies.outlines.rounding(outline);
            let reach = match placed {
                Some(placed) => placed.reach,
                None if kind.turns() => c.furthest[slot],
                None => bodies.outlines.outline(outline).reach(),
            };
            ShapeRef { kind, row, outline_row, vertices, radius, reach, material }
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

/// How a body is turned, and the box about its centre that holds its shape and turns with it. (For a compound only the
/// turn counts, not the box.)
#[derive(Clone, Copy, Default)]
pub(crate) struct Turned {
    /// Its x axis.
    axis: Vec2,
    half: Vec2,
}

crate::base::codec::stored!(Turned { axis, half });

impl Turned {
    pub(super) fn new(axis: Vec2, half: Vec2) -> Turned {
        Turned { axis, half }
    }

    /// The bits of one of its four numbers.
    pub(super) fn word(&self, number: usize) -> u32 {
        [self.axis.x, self.axis.y, self.half.x, self.half.y][number].to_bits()
    }

    #[inline]
    pub(crate) fn of(bodies: &Bodies, slot: usize) -> Turned {
        let c = &bodies.columns;
        let shape = c.kind[slot].shape();
        let boxed = shape.turns() && shape != ShapeKind::Compound;
        let half = if boxed {
            bodies.outlines.half_extents(c.outline[slot])
        } else {
            Vec2::new(c.ext_x[slot], c.ext_y[slot])
        };
        let (sin, cos) = if c.furthest[slot] > 0.0 { sin_cos(c.angle[slot]) } else { (0.0, 1.0) };
        Turned {
            axis: Vec2::new(if shape.turns() { cos } else { 1.0 }, if shape.turns() { sin } else { 0.0 }),
            half,
        }
    }
}

/// A box that is turned to an axis.
#[derive(Clone, Copy, Default)]
struct OrientedBox {
    centre: Vec2,
    turned: Turned,
}

crate::base::codec::stored!(OrientedBox { centre, turned });

impl OrientedBox {
    /// Returns how far the box reaches along a direction.
    #[inline]
    fn support(&self, direction: Vec2) -> f32 {
        let Turned { axis, half } = self.turned;
        half.x * direction.dot(axis).abs() + half.y * direction.dot(axis.perp()).abs()
    }

    /// Returns the largest gap along one of the boxes' axes, which is no more than their distance.
    #[inline]
    fn separation(&self, other: &OrientedBox) -> f32 {
        let way = other.centre - self.centre;
        let (one, two) = (self.turned, other.turned);
        let (cos, sin) = (one.axis.dot(two.axis).abs(), one.axis.perp_dot(two.axis).abs());
        let gap = |axis: Vec2, own: f32, reach: f32| way.dot(axis).abs() - (own + reach);
        let gaps = [
            gap(one.axis, one.half.x, two.half.x * cos + two.half.y * sin),
            gap(one.axis.perp(), one.half.y, two.half.x * sin + two.half.y * cos),
            gap(two.axis, two.half.x, one.half.x * cos + one.half.y * sin),
            gap(two.axis.perp(), two.half.y, one.half.x * sin + one.half.y * cos),
        ];
        gaps[0].max(gaps[1]).max(gaps[2].max(gaps[3]))
    }

    fn above(&self, (normal, offset): (Vec2, f32)) -> f32 {
        normal.dot(self.centre) - offset - self.support(normal)
    }
}

/// A shape as a turned box, with its filter.
#[derive(Clone, Copy, Default)]
struct BoxedShape {
    part: u8,
    kind: Kind,
    place: OrientedBox,
    /// Distance from the centre to its furthest point; [`EVERYWHERE`] for a half-space.
    reach: f32,
    filter: Filter,
}

crate::base::codec::stored!(BoxedShape { part, kind, place, reach, filter });

impl BoxedShape {
    fn may_touch(&self, other: &BoxedShape) -> bool {
        self.filter.touches(&other.filter)
    }

    /// Returns whether the shape is further than `reach` from a point.
    #[inline]
    fn is_apart(&self, point: Vec2, reach: f32) -> bool {
        let reach = reach + self.reach;
        (self.place.centre - point).length_squared() > reach * reach
    }
}

/// The parts of compounds, where they were when the list was made. (When parts were placed anew for each pair of
/// bodies, this was a quarter of the time of 3,000 falling bodies of two boxes.)
#[derive(Default)]
pub(super) struct PlacedParts {
    list: Vec<BoxedShape>,
    /// The first entry of each compound in `list`, and then the length of `list`.
    first: Vec<u32>,
}

crate::base::codec::stored!(PlacedParts { list, first });

impl PlacedParts {
    /// Returns true if all parts of the bodies in the first slots are there: those of the list.
    pub(super) fn fits(&self, bodies: &Bodies, slots: usize) -> bool {
        let ordered = self.first.windows(2).all(|two| two[0] <= two[1]);
        let within = self.first.last().is_none_or(|&last| last as usize == self.list.len());
        let compounds = (0..slots).filter(|&slot| bodies.is_taken(slot) && !bodies.parts(slot).is_empty());
        let holds = |slot: usize| {
            let number = bodies.columns.outline[slot] as usize;
            let known = self.first.get(number..number.saturating_add(2));
            known.is_some_and(|known| (known[1] - known[0]) as usize >= bodies.parts(slot).len())
        };
        ordered && within && compounds.into_iter().all(holds)
    }

    fn of(&self, compound: usize) -> &[BoxedShape] {
        &self.list[self.first[compound] as usize..self.first[compound + 1] as usize]
    }
}

impl Broadphase {
    /// Places the parts of all compounds.
    pub(super) fn place_parts(&mut self, bodies: &Bodies) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.first.clear();
        parts.first.push(0);
        for compound in &bodies.compounds {
            let last = parts.first.last().copied().unwrap_or(0);
            parts.first.push(last + compound.parts.len() as u32);
        }
        parts.list.clear();
        parts.list.resize(parts.first[bodies.compounds.len()] as usize, BoxedShape::default());
        self.parts = parts;
        for slot in 0..bodies.len {
            self.place_parts_of(bodies, slot);
        }
    }

    /// Places the parts of a body, if it has any.
    pub(super) fn place_parts_of(&mut self, bodies: &Bodies, slot: usize) {
        let kind = bodies.columns.kind[slot];
        if kind.shape() != ShapeKind::Compound {
            return;
        }
        let place = self.place(slot);
        let first = self.parts.first[bodies.columns.outline[slot] as usize] as usize;
        let [cos, sin] = place.turned.axis.into();
        for ((placed, part), into) in bodies.parts(slot).iter().zip(0u8..).zip(&mut self.parts.list[first..])
        {
            let (offset, (part_sin, part_cos)) = Compound::place(placed, (sin, cos));
            let half = bodies.outlines.half_extents(placed.outline);
            *into = BoxedShape {
                part,
                kind: Kind::new(kind.motion(), placed.part.shape.kind()).manifold(),
                place: OrientedBox {
                    centre: place.centre + offset,
                    turned: Turned { axis: Vec2::new(part_cos, part_sin), half },
                },
                reach: placed.reach,
                filter: placed.part.filter,
            };
        }
    }

    /// Emits the pairs of shapes of two bodies that may touch each other before the list is stale.
    #[inline(never)]
    pub(super) fn accept_shapes(&self, bodies: &Bodies, a: usize, b: usize, emit: &mut dyn FnMut(Pair)) {
        let c = &bodies.columns;
        let is_compound = |slot: usize| c.kind[slot].shape() == ShapeKind::Compound;
        if !is_compound(a) && !is_compound(b) {
            if bodies.filters_meet(a, b) {
                let kinds = [c.kind[a], c.kind[b]];
                let places = [&self.place(a), &self.place(b)];
                self.accept_boxes(bodies, [a, b], kinds, places, [NO_PART; 2], emit);
            }
            return;
        }
        let own = |slot: usize| if is_compound(slot) { None } else { Some([self.whole(bodies, slot)]) };
        let (whole_a, whole_b) = (own(a), own(b));
        let parts = |slot: usize| self.parts.of(c.outline[slot] as usize);
        let of_a = whole_a.as_ref().map_or_else(|| parts(a), |whole| &whole[..]);
        let of_b = whole_b.as_ref().map_or_else(|| parts(b), |whole| &whole[..]);
        let growth = self.bounds.growth[a] + self.bounds.growth[b];
        let reach_b = whole_b.as_ref().map_or(c.furthest[b], |whole| whole[0].reach);
        let centre_b = self.place(b).centre;
        for one in of_a.iter().filter(|one| !one.is_apart(centre_b, reach_b + growth)) {
            for other in of_b.iter().filter(|other| !other.is_apart(one.place.centre, one.reach + growth)) {
                if one.may_touch(other) {
                    let (kinds, parts) = ([one.kind, other.kind], [one.part, other.part]);
                    self.accept_boxes(bodies, [a, b], kinds, [&one.place, &other.place], parts, emit);
                }
            }
        }
    }

    /// Returns the shape of a body that has just one.
    fn whole(&self, bodies: &Bodies, slot: usize) -> BoxedShape {
        let c = &bodies.columns;
        let place = self.place(slot);
        let plane = c.kind[slot].shape() == ShapeKind::HalfSpace;
        BoxedShape {
            part: NO_PART,
            kind: c.kind[slot],
            place,
            reach: if plane { EVERYWHERE } else { place.turned.half.length() },
            filter: bodies.filter(slot),
        }
    }

    /// Emits the pair of two shapes, if they may touch.
    #[inline(always)]
    fn accept_boxes(
        &self,
        bodies: &Bodies,
        [a, b]: [usize; 2],
        [kind_a, kind_b]: [Kind; 2],
        [of_a, of_b]: [&OrientedBox; 2],
        parts: [u8; 2],
        emit: &mut dyn FnMut(Pair),
    ) {
        let c = &bodies.columns;
        let (a_fixed, b_fixed) = (c.inv_mass[a] == 0.0, c.inv_mass[b] == 0.0);
        let plane = |slot: usize| {
            (c.kind[slot].shape() == ShapeKind::HalfSpace)
                .then(|| (Vec2::new(c.ext_x[slot], c.ext_y[slot]), c.ext_z[slot]))
        };
        let separation = match (plane(a), plane(b)) {
            (Some(plane), _) => of_b.above(plane),
            (_, Some(plane)) => of_a.above(plane),
            _ => of_a.separation(of_b),
        };
        let (kind, mut swap) = PairKind::of(kind_a, a_fixed, kind_b, b_fixed);
        if separation <= self.largest_gap(a, b, kind) {
            if kind.is_symmetric() {
                // The lower handle is A, so that the roles do not depend on the order of space.
                swap = c.handle[a].index > c.handle[b].index;
            }
            emit(Pair { a: a as u32, b: b as u32, separation, kind, swap, parts });
        }
    }

    /// Returns the box around a body's shape, where the shape was when the list was made.
    #[inline]
    fn place(&self, slot: usize) -> OrientedBox {
        let [x, y, ..] = self.shape[slot].0;
        OrientedBox { centre: Vec2::new(x, y), turned: self.turn[slot] }
    }
}
