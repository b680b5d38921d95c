//! BoxedShape pairs of shapes that turn, part by part.
//!
//! The exact distance of two outlines would cost a hundred nanoseconds a candidate. So a shape counts as the smallest
//! box about its centre that turns with it. A pair that passes may be a few centimetres further apart than a pair has
//! to be; the narrowphase finds this out by lanes.

use super::probe::NearOne;
use super::{Broadphase, Present, most};
use crate::base::room::{like, resize};
use crate::body::compound::Compound;
use crate::body::{Bodies, Filter, Kind, NO_OUTLINE, Still};
use crate::broadphase::sweep::Pair;
use crate::crew::{CHUNK, Crew, SharedSlice};
use crate::geometry::outline::Outlines;
use crate::geometry::shape::ShapeKind;
use crate::geometry::trig::sin_cos;
use crate::isa::Level;
use crate::lane::{Lane, for_lanes, lane_entry, with_lanes};
use crate::narrowphase::{PairKind, Role};
use glam::Vec2;
use std::ops::Range;

/// A mark in place of a part's number, for a body that has one shape.
pub(crate) const NO_PART: u8 = u8::MAX;

/// The reach of a half-space, m. Finite, so that its square makes no NaN.
const EVERYWHERE: f32 = 1.0e12;

/// A body's shape, or one of its parts.
pub(crate) struct ShapeRef {
    pub kind: ShapeKind,
    /// Its row in the rows by shape: the body's slot, or the part's row.
    pub row: u32,
    /// The number of its outline; 0 for a shape without one.
    pub outline: u32,
    /// The radius of its rounding.
    pub radius: f32,
    /// Distance from its centre to its furthest point.
    pub reach: f32,
    /// Distance from its centre to its nearest edge, for contacts that lead. Infinite for what nothing is pushed through: half-spaces and segments of
    /// chains, which have one side. 0 for particles: links move them, too.
    pub thickness: f32,
    pub material: u32,
}

/// The row of a body's shape in the rows by shape: its slot, or the row of its part. A body that was removed has no parts.
pub(crate) fn row_of_shape(bodies: &Bodies, slot: u32, part: u8) -> u32 {
    let (kind, outline) = (bodies.columns.kind[slot as usize], bodies.columns.outline[slot as usize]);
    if part == NO_PART || kind.shape() != ShapeKind::Compound || outline == NO_OUTLINE {
        return slot;
    }
    bodies.part_row(slot as usize).saturating_add(part.into())
}

impl ShapeRef {
    #[inline(always)]
    pub(crate) fn new(bodies: &Bodies, slot: usize, part: u8) -> ShapeRef {
        if part != NO_PART {
            return ShapeRef::of_part(bodies, slot, part);
        }
        let c = &bodies.columns;
        let (kind, outline, material) = (c.kind[slot].shape(), c.outline[slot], c.material[slot]);
        let row = slot as u32;
        let outline = if outline == NO_OUTLINE { 0 } else { outline };
        let round = matches!(kind, ShapeKind::Circle | ShapeKind::Particle);
        let radius = if round { c.ext_x[slot] } else { bodies.outlines.rounding(outline) };
        let reach = match kind {
            ShapeKind::HalfSpace => EVERYWHERE,
            ShapeKind::Aabb => Vec2::new(c.ext_x[slot], c.ext_y[slot]).length(),
            _ if kind.turns() => c.furthest[slot],
            _ => radius,
        };
        let thickness = match kind {
            ShapeKind::HalfSpace | ShapeKind::ChainSegment => f32::INFINITY,
            ShapeKind::Aabb => c.ext_x[slot].min(c.ext_y[slot]),
            ShapeKind::Particle => 0.0,
            _ if kind.turns() => c.thickness[slot],
            _ => radius,
        };
        ShapeRef { kind, row, outline, radius, reach, thickness, material }
    }

    #[inline(never)]
    fn of_part(bodies: &Bodies, slot: usize, part: u8) -> ShapeRef {
        let placed = &bodies.parts(slot)[usize::from(part)];
        ShapeRef {
            kind: placed.part.shape.kind(),
            row: bodies.part_row(slot) + u32::from(part),
            outline: placed.outline,
            radius: bodies.outlines.rounding(placed.outline),
            reach: placed.reach,
            thickness: placed.thickness,
            material: placed.material,
        }
    }

    /// The first row of its outline.
    pub(crate) fn outline_row(&self) -> u32 {
        Outlines::first_row(self.outline)
    }
}

/// How a body is turned, and the box about its centre that holds its shape and turns with it. (For a compound only the
/// turn counts, not the box.)
#[derive(Clone, Copy, Default)]
pub(super) struct Turned {
    /// Its x axis.
    pub axis: Vec2,
    pub half: Vec2,
}

crate::base::codec::stored!(Turned { axis, half });

/// The boxes of all slots as of the list, by column. The axes are those of [`Turned`].
#[derive(Default)]
pub(crate) struct Boxes {
    /// There are bodies that turn. If not, there is just `half_x`: the radius of a round body that moves, and infinity for others,
    /// so that they are near everything.
    pub(super) turned: bool,
    pub(super) axis_x: Vec<f32>,
    pub(super) axis_y: Vec<f32>,
    /// Half extents; for a compound, of a box around its parts.
    pub(super) half_x: Vec<f32>,
    pub(super) half_y: Vec<f32>,
    /// The rounding of the slot's outline, m; 0 for a shape without an outline.
    pub(crate) rounding: Vec<f32>,
    pub(super) role: Vec<Role>,
    /// The bodies that stand still whose boxes are there.
    pub(super) known: Option<Still>,
}

/// How much the box around the parts of a compound is enlarged, so that rounding never makes it smaller than they are.
const SLACK: f32 = 1.0e-4;

impl Boxes {
    /// Makes room for as much as another one has room for.
    pub(super) fn make_room_like(&mut self, other: &Self) {
        like!(self, other; axis_x, axis_y, half_x, half_y, rounding, role);
    }

    /// Returns how a slot is turned, and its box.
    #[inline]
    fn of(&self, slot: usize) -> Turned {
        Turned {
            axis: Vec2::new(self.axis_x[slot], self.axis_y[slot]),
            half: Vec2::new(self.half_x[slot], self.half_y[slot]),
        }
    }

    /// Fills the columns of all slots, and resizes them to `padded`.
    pub(super) fn fill(&mut self, bodies: &Bodies, padded: usize, level: Level, crew: &Crew<'_>) {
        self.turned = bodies.any_manifold;
        resize(&mut self.half_x, padded);
        if !self.turned {
            self.known = None;
            let half_x = SharedSlice::new(&mut self.half_x);
            let c = &bodies.columns;
            crew.chunks(bodies.len, CHUNK, |range| {
                #[allow(unsafe_code)]
                // SAFETY: each task takes the slots of its own chunk, and each slot is in one chunk.
                let half_x = unsafe { half_x.range(range.clone()) };
                for (half_x, slot) in half_x.iter_mut().zip(range) {
                    let round = c.kind[slot].is_round() && c.inv_mass[slot] > 0.0;
                    *half_x = if round { c.ext_x[slot] } else { f32::INFINITY };
                }
            });
            return;
        }
        let columns =
            [&mut self.axis_x, &mut self.axis_y, &mut self.half_x, &mut self.half_y, &mut self.rounding];
        let columns = columns.map(|column| {
            resize(column, padded);
            SharedSlice::new(column)
        });
        resize(&mut self.role, padded);
        let known = bodies.still_since(self.known.as_ref());
        self.known = bodies.known_still();
        let role = SharedSlice::new(&mut self.role);
        crew.chunks_without(bodies.len, &known, CHUNK, |_, range| {
            #[allow(unsafe_code)]
            // SAFETY: each task takes the slots of its own chunk, and each slot is in one chunk.
            let [axis_x, axis_y, half_x, half_y, rounding] =
                unsafe { columns.each_ref().map(|column| column.range(range.clone())) };
            #[allow(unsafe_code)]
            // SAFETY: each slot is in one chunk, and `role` is a column of its own.
            let role = unsafe { role.range(range.clone()) };
            with_lanes!(level, L => fill_axes::<L>(bodies, range.clone(), [axis_x, axis_y]));
            for (i, slot) in range.enumerate() {
                ([half_x[i], half_y[i]], rounding[i]) = box_of(bodies, slot);
                role[i] = Role::of(bodies.columns.kind[slot], bodies.columns.inv_mass[slot] == 0.0);
            }
        });
    }

    /// Fills the columns of one slot.
    pub(super) fn renew(&mut self, bodies: &Bodies, slot: usize) {
        if !self.turned {
            return;
        }
        [self.axis_x[slot], self.axis_y[slot]] = axis_lanes::<f32>(bodies, slot);
        ([self.half_x[slot], self.half_y[slot]], self.rounding[slot]) = box_of(bodies, slot);
    }
}

/// Moves the partners that nothing keeps from touching a body to the front, with their separations, and returns how many
/// these are.
fn keep_touchable(bodies: &Bodies, near: &mut NearOne<'_>, present: &Present) -> usize {
    let NearOne { slot, partners, separations } = near;
    let c = &bodies.columns;
    let (masks, groups, categories) = (&c.mask, &c.group, &c.category);
    // Most often just a few bodies of the world have a filter that keeps anything apart.
    let is_open = |slot: usize| present.is_open(masks[slot], categories[slot], groups[slot]);
    let open = bodies.only_filtered() && is_open(*slot);
    let mut kept = 0;
    for i in 0..partners.len().min(separations.len()) {
        let partner = partners[i];
        (partners[kept], separations[kept]) = (partner, separations[i]);
        let touchable = open && is_open(partner as usize) || !bodies.never_touch(*slot, partner as usize);
        kept += usize::from(touchable);
    }
    kept
}

/// Returns the half extents and the rounding of a slot's shape, along the axes of its body.
#[inline]
pub(super) fn box_of(bodies: &Bodies, slot: usize) -> ([f32; 2], f32) {
    let c = &bodies.columns;
    let shape = c.kind[slot].shape();
    if shape == ShapeKind::Compound {
        return (box_of_parts(bodies, slot), 0.0);
    }
    let outline = c.outline[slot];
    let [x, y] = [c.ext_x[slot], c.ext_y[slot]];
    if outline == NO_OUTLINE {
        return ([x, y], 0.0);
    }
    let rounding = bodies.outlines.rounding(outline);
    let half = if shape.turns() { bodies.outlines.half_extents(outline).into() } else { [x, y] };
    (half, rounding)
}

/// Returns the half extents of a box about a compound's centre, along its axes, that holds all parts.
fn box_of_parts(bodies: &Bodies, slot: usize) -> [f32; 2] {
    let half = bodies.parts(slot).iter().fold(Vec2::ZERO, |most, placed| {
        let (offset, (sin, cos)) = Compound::place(placed, (0.0, 1.0));
        let half = bodies.outlines.half_extents(placed.outline);
        let turned = Turned { axis: Vec2::new(cos, sin), half };
        let part = OrientedBox { centre: offset, turned };
        most.max(offset.abs() + Vec2::new(part.support(Vec2::X), part.support(Vec2::Y)))
    });
    (half * (1.0 + SLACK)).into()
}

lane_entry! {
    /// Fills the axes of a range of slots.
    fn fill_axes[][](bodies: &Bodies, range: Range<usize>, axes: [&mut [f32]; 2]) = fill_axes_of_range;
}

#[inline(always)]
fn fill_axes_of_range<L: Lane>(bodies: &Bodies, range: Range<usize>, axes: [&mut [f32]; 2]) {
    let [axis_x, axis_y] = axes;
    for_lanes!(range.len(), L, store_axes(bodies, range.start; i, axis_x, axis_y));
}

#[inline(always)]
fn store_axes<L: Lane>(bodies: &Bodies, first: usize, i: usize, axis_x: &mut [f32], axis_y: &mut [f32]) {
    let [x, y] = axis_lanes::<L>(bodies, first + i);
    x.store(&mut axis_x[i..]);
    y.store(&mut axis_y[i..]);
}

/// The x axes of `WIDTH` slots from `slot` on.
#[inline(always)]
fn axis_lanes<L: Lane>(bodies: &Bodies, slot: usize) -> [L; 2] {
    let c = &bodies.columns;
    // What does not turn has no arm, and may have an angle all the same.
    let turns = L::load(&c.furthest[slot..]).gt(L::splat(0.0));
    let angle = L::select(turns, L::load(&c.angle[slot..]), L::splat(0.0));
    let (sin, cos) = sin_cos(angle);
    [cos, sin]
}

/// A box that is turned to an axis.
#[derive(Clone, Copy, Default)]
pub(super) struct OrientedBox {
    pub centre: Vec2,
    pub turned: Turned,
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
    pub(super) fn separation(&self, other: &OrientedBox) -> f32 {
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
        most(most(gaps[0], gaps[1]), most(gaps[2], gaps[3]))
    }

    fn above(&self, (normal, offset): (Vec2, f32)) -> f32 {
        normal.dot(self.centre) - offset - self.support(normal)
    }
}

/// A shape as a turned box, with its filter.
#[derive(Clone, Copy, Default)]
pub(super) struct BoxedShape {
    pub part: u8,
    pub kind: Kind,
    pub place: OrientedBox,
    /// Distance from the centre to its furthest point; [`EVERYWHERE`] for a half-space.
    pub reach: f32,
    pub filter: Filter,
}

crate::base::codec::stored!(BoxedShape { part, kind, place, reach, filter });

impl BoxedShape {
    fn may_touch(&self, other: &BoxedShape) -> bool {
        self.filter.touches(&other.filter)
    }

    /// Returns whether the shape is further than `reach` from a point.
    #[inline(always)]
    fn is_apart(&self, point: Vec2, reach: f32) -> bool {
        let reach = reach + self.reach;
        (self.place.centre - point).length_squared() > reach * reach
    }
}

impl Broadphase {
    /// Adds the pairs of a body and its partners, which are near as boxes. If `plain` is false, something may keep two bodies from
    /// touching.
    #[inline(always)]
    pub(super) fn pair_boxes(
        &self,
        bodies: &Bodies,
        mut near: NearOne<'_>,
        plain: bool,
        pairs: &mut Vec<Pair>,
    ) {
        let c = &bodies.columns;
        let NearOne { slot, ref mut partners, ref mut separations } = near;
        let (role, index) = (&self.boxes.role, c.handle[slot].index);
        let own = role[slot];
        if !own.moves() || !c.kind[slot].needs_manifold() {
            for (&partner, &separation) in partners.iter().zip(&**separations) {
                self.pair_box(bodies, slot, (partner, separation), pairs);
            }
            return;
        }
        let pair = |b: u32, separation: f32| {
            let (kind, swap) = PairKind::of_roles(own, role[b as usize]);
            // The lower handle is A, so that the roles do not depend on the order of space.
            let swap = if kind.is_symmetric() { index > c.handle[b as usize].index } else { swap };
            Pair { a: slot as u32, b, separation, kind, swap, parts: [NO_PART; 2] }
        };
        let of_parts = |partner: u32| role[partner as usize] == Role::Compound;
        if !bodies.compounds.is_empty() && partners.iter().any(|&partner| of_parts(partner)) {
            for (&partner, &separation) in partners.iter().zip(&**separations) {
                if of_parts(partner) {
                    self.accept(bodies, slot, partner as usize, |pair| pairs.push(pair));
                } else if plain || !bodies.never_touch(slot, partner as usize) {
                    pairs.push(pair(partner, separation));
                }
            }
            return;
        }
        let count = if plain { partners.len() } else { keep_touchable(bodies, &mut near, &self.present) };
        let near = near.partners[..count].iter().zip(&near.separations[..count]);
        pairs.extend(near.map(|(&b, &separation)| pair(b, separation)));
    }

    /// Adds the pairs of two bodies, which are near as boxes.
    fn pair_box(
        &self,
        bodies: &Bodies,
        slot: usize,
        (partner, separation): (u32, f32),
        pairs: &mut Vec<Pair>,
    ) {
        let c = &bodies.columns;
        let other = partner as usize;
        let kinds = [c.kind[slot], c.kind[other]];
        let needs_manifold = kinds[0].needs_manifold() || kinds[1].needs_manifold();
        let of_parts = |slot: usize| self.boxes.role[slot] == Role::Compound;
        if !needs_manifold || of_parts(slot) || of_parts(other) {
            self.accept(bodies, slot, other, |pair| pairs.push(pair));
            return;
        }
        let [fixed, other_fixed] = [slot, other].map(|slot| c.inv_mass[slot] == 0.0);
        if (fixed && other_fixed) || bodies.never_touch(slot, other) {
            return;
        }
        let (kind, mut swap) = PairKind::of(kinds[0], fixed, kinds[1], other_fixed);
        if kind.is_symmetric() {
            swap = c.handle[slot].index > c.handle[other].index;
        }
        pairs.push(Pair { a: slot as u32, b: partner, separation, kind, swap, parts: [NO_PART; 2] });
    }

    /// Emits the pairs of shapes of two bodies that may touch each other before the list is stale.
    ///
    /// Tried and dropped: tests of the parts by lanes, over the parts of one partner, or over the shapes of all partners in chunks of
    /// sixteen. With two parts a body, they were no faster than these (`peers --scenes compounds`, in turns): the test of circles that comes
    /// first costs less than filling the lanes. Dropped, too: to look up the parts of a large compound by place, as a drum of many walls
    /// is near most bodies and few of its walls are. That saved 0.19 G of 2.73 G instructions in the searches of `tumbler` (2,025 boxes,
    /// 500 steps) and cost 0.53 G, half of it for the order of what was found.
    #[inline(never)]
    pub(super) fn accept_shapes(&self, bodies: &Bodies, a: usize, b: usize, emit: &mut dyn FnMut(Pair)) {
        let c = &bodies.columns;
        let (kind_a, kind_b) = (c.kind[a], c.kind[b]);
        let two = self.two_bodies(bodies, (a, kind_a), (b, kind_b));
        let has_parts_a = kind_a.shape() == ShapeKind::Compound;
        let has_parts_b = kind_b.shape() == ShapeKind::Compound;
        if !has_parts_a && !has_parts_b {
            if bodies.filters_meet(a, b) {
                let places = [&self.place(a), &self.place(b)];
                two.accept_boxes([kind_a, kind_b], places, [NO_PART; 2], emit);
            }
            return;
        }
        let (mut whole_a, mut whole_b) = (None, None);
        let of_a = self.shapes_of(bodies, a, has_parts_a, &mut whole_a);
        let of_b = self.shapes_of(bodies, b, has_parts_b, &mut whole_b);
        let growth = self.bounds.growth[a] + self.bounds.growth[b];
        let reach_b = if has_parts_b { c.furthest[b] } else { of_b[0].reach } + growth;
        let centre_b = self.centre(b);
        for one in of_a {
            if one.is_apart(centre_b, reach_b) {
                continue;
            }
            let (centre, reach) = (one.place.centre, one.reach + growth);
            for other in of_b {
                if !other.is_apart(centre, reach) && one.may_touch(other) {
                    let (kinds, parts) = ([one.kind, other.kind], [one.part, other.part]);
                    two.accept_boxes(kinds, [&one.place, &other.place], parts, emit);
                }
            }
        }
    }

    /// Returns the parts of a body, or its shape, which is put into `whole`, if it has just one.
    #[inline(always)]
    fn shapes_of<'a>(
        &'a self,
        bodies: &Bodies,
        slot: usize,
        has_parts: bool,
        whole: &'a mut Option<BoxedShape>,
    ) -> &'a [BoxedShape] {
        if has_parts {
            self.parts.of(bodies.columns.outline[slot] as usize)
        } else {
            std::slice::from_ref(whole.insert(self.whole(bodies, slot)))
        }
    }

    /// Returns what the pairs of shapes of two bodies have in common.
    #[inline(always)]
    fn two_bodies(
        &self,
        bodies: &Bodies,
        (a, kind_a): (usize, Kind),
        (b, kind_b): (usize, Kind),
    ) -> BodyPair {
        let c = &bodies.columns;
        let (fixed_a, fixed_b) = (c.inv_mass[a] == 0.0, c.inv_mass[b] == 0.0);
        let plane = |slot: usize, kind: Kind| {
            (kind.shape() == ShapeKind::HalfSpace)
                .then(|| (Vec2::new(c.ext_x[slot], c.ext_y[slot]), c.ext_z[slot]))
        };
        BodyPair {
            slots: [a as u32, b as u32],
            fixed: [fixed_a, fixed_b],
            planes: [plane(a, kind_a), plane(b, kind_b)],
            // The lower handle is A, so that the roles do not depend on the order of space.
            swap: c.handle[a].index > c.handle[b].index,
            largest_gap: self.largest_gap(a, b, fixed_a || fixed_b),
        }
    }

    /// Returns the shape of a body that has just one.
    #[inline]
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

    /// Returns the box around a body's shape, where the shape was when the list was made.
    #[inline]
    pub(super) fn place(&self, slot: usize) -> OrientedBox {
        OrientedBox { centre: self.centre(slot), turned: self.boxes.of(slot) }
    }

    #[inline(always)]
    fn centre(&self, slot: usize) -> Vec2 {
        let [x, y, ..] = self.shape[slot].0;
        Vec2::new(x, y)
    }
}

/// What the pairs of shapes of two bodies have in common.
struct BodyPair {
    slots: [u32; 2],
    fixed: [bool; 2],
    /// Normal and offset of those that are half-spaces.
    planes: [Option<(Vec2, f32)>; 2],
    /// Whether the second shape is A, in a pair where either may be.
    swap: bool,
    largest_gap: f32,
}

impl BodyPair {
    /// Emits the pair of two shapes, if they may touch.
    #[inline(always)]
    fn accept_boxes(
        &self,
        [kind_a, kind_b]: [Kind; 2],
        [of_a, of_b]: [&OrientedBox; 2],
        parts: [u8; 2],
        emit: &mut dyn FnMut(Pair),
    ) {
        let separation = match self.planes {
            [Some(plane), _] => of_b.above(plane),
            [_, Some(plane)] => of_a.above(plane),
            _ => of_a.separation(of_b),
        };
        if separation <= self.largest_gap {
            let [a_fixed, b_fixed] = self.fixed;
            let (kind, swap) = PairKind::of_manifold(kind_a, a_fixed, kind_b, b_fixed);
            let swap = if kind.is_symmetric() { self.swap } else { swap };
            let [a, b] = self.slots;
            emit(Pair { a, b, separation, kind, swap, parts });
        }
    }
}
