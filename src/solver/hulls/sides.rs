//! The state of hulls and other bodies at the start of a substep, the places where they touch, and the sides of their contacts.

use super::contact::State;
use super::pairs::box_of;
use super::{Contact, HUNG, Hull, Key, Maker, OtherPair, Rigid, Shift, Side};
use crate::body::compound::Compound;
use crate::body::{Bodies, BodyHandle, Filter};
use crate::broadphase::shapes::{NO_PART, ShapeRef};
use crate::geometry::outline::{MAX_VERTICES, NORMAL_ROWS, OUTLINE_ROWS, VERTEX_ROWS};
use crate::geometry::shape::ShapeKind;
use crate::geometry::trig::sin_cos;
use crate::lane::Row;
use crate::material::Mixed;
use crate::narrowphase::NO_CONTACT;
use crate::narrowphase::hulls::{Around, LoopTouch, Other, touch_other};
use crate::settings::Settings;
use glam::Vec2;

/// A hull where it is now: its outline, and as a rigid body.
pub(super) struct LoopAt<'a> {
    pub hull: &'a Hull,
    pub around: &'a Around,
    pub outline: &'a [Row],
    pub rigid: &'a Rigid,
}

impl Maker<'_> {
    /// Returns the row of a hull's shift.
    pub(super) fn row(&self, hull: usize) -> u32 {
        (self.state.vel.len() + hull) as u32
    }

    /// Adds both points of a manifold. `side` returns where a place, relative to `origin`, lies on one of the two
    /// bodies, and how far the surface lies outside the outline there.
    pub(super) fn add(
        &self,
        contacts: &mut Vec<Contact>,
        key: Key,
        touch: &LoopTouch,
        origin: Vec2,
        surface: Surface,
        side: impl Fn(usize, Vec2) -> (Side, f32),
    ) {
        for (point, (&place, &separation)) in (0..).zip(touch.places.iter().zip(&touch.separations)) {
            if separation >= NO_CONTACT {
                continue;
            }
            let ((a, more_a), (b, more_b)) = (side(0, place), side(1, place));
            let gap = separation - (more_a + more_b);
            let middle = origin + place + (0.5 * (more_a - more_b)) * touch.normal;
            let key = (key.0, key.1, key.2, key.3 + point);
            contacts.extend(Contact::new(key, touch.normal, [a, b], gap, middle, surface, self));
        }
    }

    /// Adds the contacts of a hull with a shape that is no half-space.
    pub(super) fn add_other(
        &self,
        contacts: &mut Vec<Contact>,
        key: Key,
        &LoopAt { hull, around, outline, rigid }: &LoopAt<'_>,
        pair: &OtherPair,
        touch: &LoopTouch,
    ) {
        if around.corners().is_empty() || touch.is_none() || self.is_left_to_the_cast(hull, pair, touch) {
            return;
        }
        let edge = Hull::facing(around, outline, touch.normal);
        self.add(contacts, key, touch, hull.origin, pair.surface, |end, place| {
            if end == 0 {
                let shift = rigid.shift(self.row(pair.hull as usize), place, touch.normal);
                hull.side(around, outline, edge, place, shift)
            } else {
                (pair.side(hull, place, touch.normal, self.state, self.bodies), 0.0)
            }
        });
    }

    /// Adds the contacts of a hull's corners with a half-space.
    pub(super) fn add_corners(
        &self,
        contacts: &mut Vec<Contact>,
        key: Key,
        &LoopAt { hull, rigid, .. }: &LoopAt<'_>,
        pair: &OtherPair,
    ) {
        let c = &self.bodies.columns;
        let plane = pair.slot as usize;
        let (normal, offset) = (Vec2::new(c.ext_x[plane], c.ext_y[plane]), c.ext_z[plane]);
        for end in (0..hull.count).filter(|&end| hull.own >> end & 1 == 1) {
            let slot = hull.slots[end] as usize;
            let [x, y, ..] = self.state.pose[slot].0;
            let place = self.bodies.position(slot) + Vec2::new(x, y);
            let radius = hull.radius + hull.more[end];
            let gap = normal.dot(place) - offset - radius;
            let key = (key.0, key.1, key.2, key.3 + end as u16);
            let middle = place - (radius + 0.5 * gap) * normal;
            let of = |slot, end, shift| Side {
                slots: [slot; 2],
                ends: [end; 2],
                shares: [1.0, 0.0],
                arms: [0.0; 2],
                shift,
            };
            let shift = rigid.shift(self.row(pair.hull as usize), middle - hull.origin, -normal);
            let a = of(slot as u32, end as u8, shift);
            let b = of(pair.slot, 0, Shift { row: pair.slot, ..Shift::default() });
            contacts.extend(Contact::new(key, -normal, [a, b], gap, middle, pair.surface, self));
        }
    }
}

impl Hull {
    /// Makes the hull of these particles. Returns `None` if one of them is quarantined.
    pub(super) fn of(points: &[BodyHandle], bodies: &Bodies, settings: &Settings) -> Option<Hull> {
        let c = &bodies.columns;
        let mut hull = Hull {
            slots: [0; MAX_VERTICES],
            count: points.len(),
            base: [Vec2::ZERO; MAX_VERTICES],
            origin: Vec2::ZERO,
            radius: f32::INFINITY,
            more: [0.0; MAX_VERTICES],
            lower: Vec2::INFINITY,
            upper: Vec2::NEG_INFINITY,
            filter: Filter::default(),
            material: 0,
            fixed: true,
            paired: false,
            own: 0,
            gives: 1.0,
        };
        let mut thickest: f32 = 0.0;
        for (index, &point) in points.iter().enumerate() {
            let slot = bodies.slot_of(point).ok().filter(|&slot| c.kind[slot].is_collidable())?;
            let position = bodies.position(slot);
            if index == 0 {
                hull.origin = position;
                (hull.filter, hull.material) = (bodies.filter(slot), c.material[slot]);
            }
            hull.slots[index] = slot as u32;
            hull.base[index] = position - hull.origin;
            hull.radius = hull.radius.min(c.ext_x[slot]);
            hull.more[index] = c.ext_x[slot];
            thickest = thickest.max(c.ext_x[slot]);
            let end = position + settings.time_step * bodies.velocity(slot);
            hull.lower = hull.lower.min(position.min(end));
            hull.upper = hull.upper.max(position.max(end));
            hull.fixed &= c.inv_mass[slot] == 0.0;
        }
        hull.more[..hull.count].iter_mut().for_each(|more| *more -= hull.radius);
        let margin = Vec2::splat(thickest + settings.speculative_distance());
        (hull.lower, hull.upper) = (hull.lower - margin, hull.upper + margin);
        Some(hull)
    }

    /// Pairs this hull, whose number is given, with the shapes of a near body.
    pub(super) fn meet(
        &self,
        number: u32,
        slot: usize,
        bodies: &Bodies,
        settings: &Settings,
        others: &mut Vec<OtherPair>,
    ) {
        if !(bodies.is_corner(slot) || self.fixed && bodies.columns.inv_mass[slot] == 0.0) {
            self.meet_any(number, slot, bodies, settings, others);
        }
    }

    /// As [`Hull::meet`], whether or not one of the two moves.
    pub(super) fn meet_any(
        &self,
        number: u32,
        slot: usize,
        bodies: &Bodies,
        settings: &Settings,
        others: &mut Vec<OtherPair>,
    ) {
        let c = &bodies.columns;
        let body = c.handle[slot].index;
        // Large bodies are visited wherever they are.
        let near = if c.kind[slot].shape() == ShapeKind::HalfSpace {
            let normal = Vec2::new(c.ext_x[slot], c.ext_y[slot]);
            let lowest = Vec2::select(normal.cmpge(Vec2::ZERO), self.lower, self.upper);
            normal.dot(lowest) <= c.ext_z[slot]
        } else {
            let [lower, upper] = box_of(slot, bodies, settings);
            (lower.cmple(self.upper) & upper.cmpge(self.lower)).all()
        };
        if !near {
            return;
        }
        let mut add = |part: u8, filter: Filter, material: u32| {
            if self.filter.touches(&filter) {
                let surface = Surface::of(bodies, settings, self.material, material);
                others.push(OtherPair { hull: number, slot: slot as u32, part, body, surface });
            }
        };
        let parts = bodies.parts(slot);
        if parts.is_empty() {
            add(NO_PART, bodies.filter(slot), c.material[slot]);
        }
        for (placed, part) in parts.iter().zip(0u8..) {
            add(part, placed.part.filter, placed.material);
        }
    }

    /// Returns the present corners relative to the origin.
    pub(super) fn corners(&self, pose: &[Row]) -> [Vec2; MAX_VERTICES] {
        let mut corners = self.base;
        for (corner, &slot) in corners.iter_mut().zip(self.slots()) {
            let [x, y, ..] = pose[slot as usize].0;
            *corner += Vec2::new(x, y);
        }
        corners
    }

    /// Returns the edge of the outline that faces a direction.
    pub(super) fn facing(around: &Around, outline: &[Row], outward: Vec2) -> usize {
        let mut edge = 0;
        let mut best = f32::NEG_INFINITY;
        for i in 0..around.corners().len() {
            let along = corner(outline, NORMAL_ROWS, i).dot(outward);
            if along > best {
                (edge, best) = (i, along);
            }
        }
        edge
    }

    /// Returns the side of a contact at a place on an edge of the outline, and how far the hull's surface lies outside the outline
    /// there.
    pub(super) fn side(
        &self,
        around: &Around,
        outline: &[Row],
        edge: usize,
        place: Vec2,
        shift: Shift,
    ) -> (Side, f32) {
        let around = around.corners();
        let next = if edge + 1 < around.len() { edge + 1 } else { 0 };
        let (from, to) = (corner(outline, VERTEX_ROWS, edge), corner(outline, VERTEX_ROWS, next));
        let way = to - from;
        let t = ((place - from).dot(way) / way.length_squared()).clamp(0.0, 1.0);
        let (ends, shares) = ([around[edge], around[next]], [1.0 - t, t]);
        let more = ends.map(|end| self.more[usize::from(end)]);
        let slots = ends.map(|end| self.slots[usize::from(end)]);
        let side = Side { slots, ends, shares, arms: [0.0; 2], shift };
        (side, shares[0] * more[0] + shares[1] * more[1])
    }

    pub(super) fn rigid(&self, corners: &[Vec2], vel: &[Row]) -> Rigid {
        let inv_mass = |slot: &u32| vel[*slot as usize].0[3];
        let weighed = || self.slots().iter().map(inv_mass).zip(corners);
        let mut held = weighed().filter(|(inv_mass, _)| *inv_mass <= 0.0);
        if let Some((_, &centre)) = held.next() {
            let inertia: f32 = weighed()
                .filter(|(inv_mass, _)| *inv_mass > 0.0)
                .map(|(inv_mass, at)| (*at - centre).length_squared() / inv_mass)
                .sum();
            let turns = held.next().is_none() && inertia > 0.0;
            let inv_inertia = if turns { 1.0 / inertia } else { 0.0 };
            let furthest = corners.iter().map(|at| (*at - centre).length_squared()).fold(0.0, f32::max);
            return Rigid { centre, inv_mass: 0.0, inv_inertia, least: HUNG * HUNG * furthest * inv_inertia };
        }
        let (mut mass, mut centre) = (0.0, Vec2::ZERO);
        for (inv_mass, at) in weighed() {
            mass += 1.0 / inv_mass;
            centre += *at / inv_mass;
        }
        centre /= mass;
        let inertia: f32 = weighed().map(|(inv_mass, at)| (*at - centre).length_squared() / inv_mass).sum();
        let inv_inertia = if inertia > 0.0 { 1.0 / inertia } else { 0.0 };
        Rigid { centre, inv_mass: 1.0 / mass, inv_inertia, least: 0.0 }
    }
}

impl Rigid {
    /// Returns how a push at a place along a normal moves the hull.
    pub(super) fn shift(&self, row: u32, place: Vec2, normal: Vec2) -> Shift {
        let arm = (place - self.centre).perp_dot(normal);
        let movable = self.inv_mass > 0.0 || self.inv_inertia > 0.0;
        Shift { row, arm, moves: self.inv_mass, turns: arm * self.inv_inertia, least: self.least, movable }
    }
}

#[inline(always)]
fn corner(outline: &[Row], first: usize, i: usize) -> Vec2 {
    let [x0, y0, x1, y1] = outline[first + i / 2].0;
    if i.is_multiple_of(2) { Vec2::new(x0, y0) } else { Vec2::new(x1, y1) }
}

impl OtherPair {
    pub(super) fn is_plane(&self, bodies: &Bodies) -> bool {
        bodies.columns.kind[self.slot as usize].shape() == ShapeKind::HalfSpace
    }

    /// Returns the place of the other shape relative to the hull's origin, its rotation, and the centre of its body.
    pub(super) fn place(&self, hull: &Hull, pose: &[Row], bodies: &Bodies) -> (Vec2, (f32, f32), Vec2) {
        let c = &bodies.columns;
        let slot = self.slot as usize;
        let [x, y, turned, _] = pose[slot].0;
        let centre = bodies.position(slot) - hull.origin + Vec2::new(x, y);
        let turn = if c.kind[slot].shape().turns() {
            sin_cos(c.angle[slot] + turned * inv_spin(c.radius[slot]))
        } else {
            (0.0, 1.0)
        };
        let Some(placed) = bodies.parts(slot).get(usize::from(self.part)) else {
            return (centre, turn, centre);
        };
        let (offset, turn) = Compound::place(placed, turn);
        (centre + offset, turn, centre)
    }

    pub(super) fn touch(&self, hull: &Hull, outline: &[Row], pose: &[Row], bodies: &Bodies) -> LoopTouch {
        let c = &bodies.columns;
        let slot = self.slot as usize;
        let (way, turn, _) = self.place(hull, pose, bodies);
        let shape = ShapeRef::new(bodies, slot, self.part);
        let rows = |first: u32| &bodies.outlines.rows[first as usize..first as usize + OUTLINE_ROWS];
        let other = match shape.kind {
            ShapeKind::Circle | ShapeKind::Particle => Other::Round(shape.radius),
            ShapeKind::Aabb => Other::Box(Vec2::new(c.ext_x[slot], c.ext_y[slot])),
            ShapeKind::ChainSegment => Other::Chain(rows(shape.outline_row())),
            _ => Other::Outline(rows(shape.outline_row())),
        };
        let corners = &hull.corners(pose)[..hull.count];
        let centre = corners.iter().sum::<Vec2>() / hull.count as f32;
        touch_other(outline, centre, other, way, turn)
    }

    pub(super) fn side(
        &self,
        hull: &Hull,
        place: Vec2,
        normal: Vec2,
        state: &State<'_>,
        bodies: &Bodies,
    ) -> Side {
        let (.., centre) = self.place(hull, state.pose, bodies);
        let lever = place - centre;
        let inv_spin = inv_spin(bodies.columns.radius[self.slot as usize]);
        let arms = [lever.perp_dot(normal) * inv_spin, lever.dot(normal) * inv_spin];
        let inv_mass = state.vel[self.slot as usize].0[3];
        let shift = Shift {
            row: self.slot,
            arm: arms[0],
            moves: inv_mass,
            turns: 2.0 * arms[0] * inv_mass,
            least: 0.0,
            movable: inv_mass > 0.0,
        };
        Side { slots: [self.slot; 2], ends: [0; 2], shares: [1.0, 0.0], arms, shift }
    }
}

/// The factor from a spin in the solver's units to rad/s.
pub(super) fn inv_spin(radius: f32) -> f32 {
    if radius > 0.0 { 1.0 / radius } else { 0.0 }
}

/// The mixed coefficients of two surfaces.
#[derive(Clone, Copy)]
pub(super) struct Surface {
    pub static_friction: f32,
    pub dynamic_friction: f32,
    pub restitution: f32,
    /// The speed of the surfaces relative to their bodies, m/s: the sum of both.
    pub belt: f32,
}

impl Surface {
    pub(super) fn of(bodies: &Bodies, settings: &Settings, a: u32, b: u32) -> Surface {
        let Mixed { static_friction, dynamic_friction, restitution } = bodies.mixed(settings.mixing, a, b);
        let [a, b] = [a, b].map(|material| bodies.materials()[material as usize].tangent_speed);
        Surface { static_friction, dynamic_friction, restitution, belt: a + b }
    }
}
