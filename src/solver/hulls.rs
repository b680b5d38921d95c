//! Contacts of Verlet hulls.
//!
//! ```text
//! each step:     pairs of hulls by a sweep over their left edges; other bodies from the bands
//! each substep, when the links are solved:
//!     outlines from the particles as they are now     in parallel
//!     manifolds                                       in parallel, WIDTH pairs of hulls at a time
//!     contacts, in the pairs' order: SWEEPS times, forth and back in turn:
//!         impulses (normal, then friction), and what overlaps is moved apart
//! ```
//!
//! A contact's point lies on an edge of the hull, at the part t of the way from one particle to the next; each takes its
//! share (1 − t, t) of an impulse, and the point moves at the sum of their shares, so that its inverse mass is
//! w₀·(1 − t)² + w₁·t² (T. Jakobsen, "Advanced Character Physics", 2001, who moves positions only). Here impulses and
//! moves are told apart, as in the projection solver: an overlap that is taken out of the positions alone leaves no speed
//! behind.
//!
//! Impulses are carried over from substep to substep, and applied ahead. (With all of them from zero, 50 ragdolls on a
//! flight of stairs crept by 7 cm a second, at 8 sweeps by 5.)

use super::impulse::Rows;
use crate::body::{Bodies, BodyHandle};
use crate::broadphase::general::{NO_PART, ShapeRef};
use crate::broadphase::resize;
use crate::compound::Compound;
use crate::crew::{Crew, SharedSlice};
use crate::hulls::Hulls;
use crate::lane::{Row, RowOffset, with_lanes};
use crate::narrowphase::FAR;
use crate::narrowphase::hulls::{LoopPair, LoopTouch, Other, touch_loops, touch_other, write_loop};
use crate::outline::{MAX_VERTICES, OUTLINE_ROWS};
use crate::settings::{Lanes, Settings};
use crate::shape::ShapeKind;
use crate::trig::sin_cos;
use glam::Vec2;
use std::ops::Range;

/// Sweeps over the contacts per substep. In piles of 100 soft boxes and 40 ragdolls the deepest overlap was 17 and 14 mm
/// with 2, 8 and 10 mm with 4, 5 and 6 mm with 8.
const SWEEPS: usize = 4;
/// The part of an overlap that a sweep removes.
const PUSH: f32 = 0.3;
/// Pairs a task takes.
const TASK: usize = 64;

/// A hull in this step.
#[derive(Clone, Copy)]
struct Hull {
    slots: [u32; MAX_VERTICES],
    count: usize,
    /// Corners at the start of the step, from the first of them.
    base: [Vec2; MAX_VERTICES],
    /// The first corner.
    origin: Vec2,
    radius: f32,
    /// A box that holds it until the end of the step.
    lower: Vec2,
    upper: Vec2,
    category: u32,
    mask: u32,
    group: u32,
    material: u32,
    /// Nothing of it can move.
    fixed: bool,
}

impl Hull {
    fn slots(&self) -> &[u32] {
        &self.slots[..self.count]
    }
}

/// How two surfaces are to each other.
#[derive(Clone, Copy)]
struct Surface {
    static_friction: f32,
    dynamic_friction: f32,
    restitution: f32,
}

/// Two hulls.
#[derive(Clone, Copy)]
struct HullPair {
    hulls: [u32; 2],
    surface: Surface,
}

/// A hull and another shape.
#[derive(Clone, Copy)]
struct OtherPair {
    hull: u32,
    slot: u32,
    part: u8,
    /// Index of the body's handle.
    body: u32,
    surface: Surface,
}

/// Of a contact: 0 of two hulls, 1 of a hull and another body; the first hull; the second, or the body; the body's
/// part and the number of the point.
type Key = (u8, u32, u32, u16);

/// One side of a contact: the particles of an edge, or a body twice.
#[derive(Clone, Copy)]
struct Side {
    slots: [u32; 2],
    shares: [f32; 2],
    /// Along the normal and the tangent, over the length in which the body's spin is measured.
    arms: [f32; 2],
}

#[derive(Clone, Copy)]
struct Contact {
    key: Key,
    normal: Vec2,
    sides: [Side; 2],
    surface: Surface,
    /// What the separation would be had neither side moved.
    separation: f32,
    /// One over the inverse masses along the normal and the tangent.
    masses: [f32; 2],
    impulses: [f32; 2],
    /// The least speed along the normal to leave at.
    bounce: f32,
}

/// The hulls of a world in this step. Nothing in it outlives a step but memory.
#[derive(Default)]
pub(crate) struct HullSolver {
    hulls: Vec<Hull>,
    /// By their left edges.
    order: Vec<u32>,
    pairs: Vec<HullPair>,
    loops: Vec<LoopPair>,
    others: Vec<OtherPair>,
    /// Whether the particle of this handle index is a hull's.
    in_hull: Vec<bool>,
    capacity: usize,
    outlines: Vec<Row>,
    /// Of each hull: is its outline what it should be.
    whole: Vec<bool>,
    touches: Vec<LoopTouch>,
    contacts: Vec<Contact>,
    /// The impulses of the last substep, in the same order.
    before: Vec<(Key, [f32; 2])>,
}

impl HullSolver {
    pub(crate) fn is_empty(&self) -> bool {
        self.hulls.is_empty()
    }

    /// Looks up where the hulls are, and which may touch in this step. `near` visits the slots that may overlap a
    /// box.
    pub(crate) fn begin_step(
        &mut self,
        hulls: &mut Hulls,
        bodies: &Bodies,
        settings: &Settings,
        near: impl Fn(Vec2, Vec2, &mut dyn FnMut(usize)),
    ) {
        if std::mem::take(&mut hulls.changed) {
            hulls.forget_removed(bodies);
            hulls.changed = false;
            self.in_hull.clear();
            // Their keys name hulls by their places.
            self.contacts.clear();
            for point in hulls.iter().flat_map(|(_, hull)| hull.points()) {
                let index = point.index() as usize;
                if self.in_hull.len() <= index {
                    self.in_hull.resize(index + 1, false);
                }
                self.in_hull[index] = true;
            }
        }
        self.hulls.clear();
        if hulls.len() == 0 {
            return;
        }
        self.hulls.extend(hulls.iter().filter_map(|(_, hull)| Hull::of(hull.points(), bodies, settings)));
        self.capacity = self.hulls.iter().map(|hull| hull.count).max().unwrap_or(0);
        self.pair_hulls(bodies, settings);
        self.pair_others(bodies, settings, near);
        let count = self.hulls.len();
        resize(&mut self.outlines, count * OUTLINE_ROWS);
        self.whole.clear();
        self.whole.resize(count, false);
        self.touches.clear();
        self.touches.resize(self.pairs.len() + self.others.len(), LoopTouch::NONE);
        let most = 2 * self.touches.len();
        self.contacts.reserve(most.saturating_sub(self.contacts.len()));
        self.before.reserve(most.saturating_sub(self.before.len()));
    }

    fn pair_hulls(&mut self, bodies: &Bodies, settings: &Settings) {
        let hulls = &self.hulls;
        self.order.clear();
        self.order.extend(0..hulls.len() as u32);
        self.order.sort_unstable_by(|&a, &b| {
            hulls[a as usize].lower.x.total_cmp(&hulls[b as usize].lower.x).then(a.cmp(&b))
        });
        self.pairs.clear();
        for (place, &first) in self.order.iter().enumerate() {
            let a = &hulls[first as usize];
            for &second in &self.order[place + 1..] {
                let b = &hulls[second as usize];
                if b.lower.x > a.upper.x {
                    break;
                }
                let filtered = (a.category & b.mask) == 0
                    || (b.category & a.mask) == 0
                    || (a.group != 0 && a.group == b.group);
                let apart = b.lower.y > a.upper.y || b.upper.y < a.lower.y;
                let joined = || a.slots().iter().any(|slot| b.slots().contains(slot));
                if apart || filtered || (a.fixed && b.fixed) || joined() {
                    continue;
                }
                let hulls = [first.min(second), first.max(second)];
                let surface = Surface::of(bodies, settings, a.material, b.material);
                self.pairs.push(HullPair { hulls, surface });
            }
        }
        // The order in which a pair is found is the order of space; that of the hulls is the same in every step.
        self.pairs.sort_unstable_by_key(|pair| pair.hulls);
        self.loops.clear();
        self.loops.extend(self.pairs.iter().map(|pair| {
            let [a, b] = pair.hulls;
            LoopPair {
                rows: pair.hulls.map(|hull| RowOffset::of(hull * OUTLINE_ROWS as u32)),
                way: hulls[b as usize].origin - hulls[a as usize].origin,
            }
        }));
    }

    fn pair_others(
        &mut self,
        bodies: &Bodies,
        settings: &Settings,
        near: impl Fn(Vec2, Vec2, &mut dyn FnMut(usize)),
    ) {
        let c = &bodies.columns;
        let (in_hull, others) = (&self.in_hull, &mut self.others);
        others.clear();
        for (hull, number) in self.hulls.iter().zip(0u32..) {
            near(hull.lower, hull.upper, &mut |slot| {
                let body = c.handle[slot].index;
                let is_hulls = c.kind[slot].is_particle() && in_hull.get(body as usize) == Some(&true);
                // Half-spaces are met by the corners, which are particles.
                if is_hulls
                    || c.kind[slot].shape() == ShapeKind::HalfSpace
                    || (hull.fixed && c.inv_mass[slot] == 0.0)
                {
                    return;
                }
                // What is large, or new, is visited wherever it is.
                let reach = if c.kind[slot].shape().turns() {
                    Vec2::splat(c.arm[slot])
                } else {
                    Vec2::new(c.ext_x[slot], c.ext_y[slot])
                };
                let reach = reach + (settings.time_step * bodies.velocity(slot)).abs();
                let position = bodies.position(slot);
                let near = (position - reach).cmple(hull.upper) & (position + reach).cmpge(hull.lower);
                if !near.all() {
                    return;
                }
                let mut add = |part: u8, category: u32, mask: u32, group: u32, material: u32| {
                    let filtered = (hull.category & mask) == 0
                        || (category & hull.mask) == 0
                        || (group != 0 && group == hull.group);
                    if !filtered {
                        let surface = Surface::of(bodies, settings, hull.material, material);
                        others.push(OtherPair { hull: number, slot: slot as u32, part, body, surface });
                    }
                };
                let parts = bodies.parts(slot);
                if parts.is_empty() {
                    add(NO_PART, c.category[slot], c.mask[slot], c.group[slot], c.material[slot]);
                }
                for (placed, part) in parts.iter().zip(0u8..) {
                    let filter = placed.part.filter;
                    add(part, filter.category, filter.mask, filter.group, placed.material);
                }
            });
        }
        others.sort_unstable_by_key(|pair| (pair.hull, pair.body, pair.part));
    }

    /// Solves the hulls' contacts for a substep: velocities and positions in the mirror.
    #[allow(unsafe_code)]
    pub(crate) fn solve(
        &mut self,
        rows: &Rows<'_>,
        bodies: &Bodies,
        settings: &Settings,
        lanes: Lanes,
        crew: &Crew<'_>,
    ) {
        let all = 0..bodies.len;
        {
            // SAFETY: nobody writes these rows until the tasks are done.
            let pose: &[Row] = unsafe { rows.pose.range(all.clone()) };
            self.write_outlines(pose, crew);
            self.find_touches(pose, bodies, lanes, crew);
        }
        // SAFETY: this thread alone works on the mirror.
        let mut state = unsafe {
            State {
                vel: rows.vel.range(all.clone()),
                pose: rows.pose.range(all.clone()),
                accum: rows.accum.range(all),
                damp: if rows.any_damping { rows.damp } else { &[] },
            }
        };
        self.make_contacts(&state, rows, bodies, settings);
        for contact in &self.contacts {
            for axis in 0..2 {
                contact.push(&mut state, axis, contact.impulses[axis]);
            }
        }
        let push = Push { slop: settings.slop, most: settings.push_out_speed * rows.step / SWEEPS as f32 };
        for sweep in 0..SWEEPS {
            if sweep % 2 == 0 {
                self.contacts.iter_mut().for_each(|contact| contact.solve(&mut state, rows.inv_step, push));
            } else {
                self.contacts
                    .iter_mut()
                    .rev()
                    .for_each(|contact| contact.solve(&mut state, rows.inv_step, push));
            }
        }
    }

    #[allow(unsafe_code)]
    fn write_outlines(&mut self, pose: &[Row], crew: &Crew<'_>) {
        let hulls = &self.hulls;
        let outlines = SharedSlice::new(&mut self.outlines);
        let whole = SharedSlice::new(&mut self.whole);
        crew.chunks(hulls.len(), TASK, |range| {
            for index in range {
                // SAFETY: an index is in one chunk, and each has rows of its own.
                let (rows, whole) = unsafe {
                    (
                        outlines.range(index * OUTLINE_ROWS..(index + 1) * OUTLINE_ROWS),
                        &mut whole.range(index..index + 1)[0],
                    )
                };
                let hull = &hulls[index];
                *whole = write_loop(&hull.corners(pose)[..hull.count], hull.radius, rows);
            }
        });
    }

    #[allow(unsafe_code)]
    fn find_touches(&mut self, pose: &[Row], bodies: &Bodies, lanes: Lanes, crew: &Crew<'_>) {
        let HullSolver { hulls, loops, others, outlines, capacity, touches, .. } = self;
        let touches = SharedSlice::new(touches);
        // SAFETY: chunks are disjoint, and those of the others begin after those of the hulls.
        let touches = |range: Range<usize>| unsafe { touches.range(range) };
        crew.chunks(loops.len(), TASK, |range| {
            let touches = touches(range.clone());
            with_lanes!(lanes, L => touch_loops::<L>(outlines, *capacity, &loops[range], touches));
        });
        crew.chunks(others.len(), TASK, |range| {
            let touches = touches(loops.len() + range.start..loops.len() + range.end);
            for (touch, pair) in touches.iter_mut().zip(&others[range]) {
                let hull = &hulls[pair.hull as usize];
                let first = pair.hull as usize * OUTLINE_ROWS;
                let rows = &outlines[first..first + OUTLINE_ROWS];
                *touch = pair.touch(hull, rows, pose, bodies);
            }
        });
    }

    /// Contacts of all that touches, or would in this substep.
    fn make_contacts(&mut self, state: &State<'_>, rows: &Rows<'_>, bodies: &Bodies, settings: &Settings) {
        let HullSolver { hulls, pairs, others, touches, whole, outlines, contacts, before, .. } = self;
        before.clear();
        before.extend(contacts.iter().map(|contact| (contact.key, contact.impulses)));
        contacts.clear();
        let mut old = before.iter().peekable();
        let mut add = |key: Key, touch: &LoopTouch, side: &dyn Fn(usize, Vec2) -> Side, surface: Surface| {
            for (point, (&place, &separation)) in touch.places.iter().zip(&touch.separations).enumerate() {
                if separation >= FAR {
                    continue;
                }
                let key = (key.0, key.1, key.2, key.3 + point as u16);
                let sides = [side(0, place), side(1, place)];
                let contact = Contact::new(touch.normal, sides, separation, surface, state, settings, rows);
                if let Some(mut contact) = contact {
                    contact.key = key;
                    while old.next_if(|(old, _)| *old < key).is_some() {}
                    if let Some((_, impulses)) = old.next_if(|(old, _)| *old == key) {
                        contact.impulses = *impulses;
                    }
                    contacts.push(contact);
                }
            }
        };
        for (pair, touch) in pairs.iter().zip(&touches[..pairs.len()]) {
            if pair.hulls.iter().any(|&hull| !whole[hull as usize]) {
                continue;
            }
            let side = |end: usize, place: Vec2| {
                let hull = &hulls[pair.hulls[end] as usize];
                let from = hulls[pair.hulls[0] as usize].origin - hull.origin;
                let outward = if end == 0 { touch.normal } else { -touch.normal };
                hull.side(&outlines[pair.hulls[end] as usize * OUTLINE_ROWS..], from + place, outward)
            };
            add((0, pair.hulls[0], pair.hulls[1], 0), touch, &side, pair.surface);
        }
        for (pair, touch) in others.iter().zip(&touches[pairs.len()..]) {
            if !whole[pair.hull as usize] {
                continue;
            }
            let side = |end: usize, place: Vec2| {
                let hull = &hulls[pair.hull as usize];
                if end == 0 {
                    hull.side(&outlines[pair.hull as usize * OUTLINE_ROWS..], place, touch.normal)
                } else {
                    pair.side(hull, place, touch.normal, state, bodies)
                }
            };
            add((1, pair.hull, pair.body, 2 * u16::from(pair.part)), touch, &side, pair.surface);
        }
    }
}

impl Hull {
    /// None when one of the particles was taken out of the simulation.
    fn of(points: &[BodyHandle], bodies: &Bodies, settings: &Settings) -> Option<Hull> {
        let c = &bodies.columns;
        let mut hull = Hull {
            slots: [0; MAX_VERTICES],
            count: points.len(),
            base: [Vec2::ZERO; MAX_VERTICES],
            origin: Vec2::ZERO,
            radius: f32::INFINITY,
            lower: Vec2::INFINITY,
            upper: Vec2::NEG_INFINITY,
            category: 0,
            mask: 0,
            group: 0,
            material: 0,
            fixed: true,
        };
        for (index, &point) in points.iter().enumerate() {
            let slot = bodies.slot_of(point).ok().filter(|&slot| c.kind[slot].is_solid())?;
            let position = bodies.position(slot);
            if index == 0 {
                hull.origin = position;
                (hull.category, hull.mask) = (c.category[slot], c.mask[slot]);
                (hull.group, hull.material) = (c.group[slot], c.material[slot]);
            }
            hull.slots[index] = slot as u32;
            hull.base[index] = position - hull.origin;
            // The thinnest of its discs: then none of its sides stands out beyond its corners.
            hull.radius = hull.radius.min(c.ext_x[slot]);
            let end = position + settings.time_step * bodies.velocity(slot);
            hull.lower = hull.lower.min(position.min(end));
            hull.upper = hull.upper.max(position.max(end));
            hull.fixed &= c.inv_mass[slot] == 0.0;
        }
        let margin = Vec2::splat(hull.radius + 4.0 * settings.slop);
        (hull.lower, hull.upper) = (hull.lower - margin, hull.upper + margin);
        Some(hull)
    }

    /// From the origin, now.
    fn corners(&self, pose: &[Row]) -> [Vec2; MAX_VERTICES] {
        let mut corners = self.base;
        for (corner, &slot) in corners.iter_mut().zip(self.slots()) {
            let [x, y, ..] = pose[slot as usize].0;
            *corner += Vec2::new(x, y);
        }
        corners
    }

    /// The edge that faces a direction, and how a point is shared out between its ends.
    fn side(&self, outline: &[Row], place: Vec2, outward: Vec2) -> Side {
        let vertex = |i: usize| corner(outline, crate::outline::VERTEX_ROWS, i);
        let normal = |i: usize| corner(outline, crate::outline::NORMAL_ROWS, i);
        let mut edge = 0;
        let mut best = f32::NEG_INFINITY;
        for i in 0..self.count {
            let along = normal(i).dot(outward);
            if along > best {
                (edge, best) = (i, along);
            }
        }
        let next = (edge + 1) % self.count;
        let way = vertex(next) - vertex(edge);
        let t = ((place - vertex(edge)).dot(way) / way.length_squared()).clamp(0.0, 1.0);
        Side { slots: [self.slots[edge], self.slots[next]], shares: [1.0 - t, t], arms: [0.0; 2] }
    }
}

fn corner(outline: &[Row], first: usize, i: usize) -> Vec2 {
    let [x0, y0, x1, y1] = outline[first + i / 2].0;
    if i.is_multiple_of(2) { Vec2::new(x0, y0) } else { Vec2::new(x1, y1) }
}

impl OtherPair {
    /// Where the other shape is, from the hull's origin, and how it is turned; and where its body's centre is.
    fn place(&self, hull: &Hull, pose: &[Row], bodies: &Bodies) -> (Vec2, (f32, f32), Vec2) {
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

    fn touch(&self, hull: &Hull, outline: &[Row], pose: &[Row], bodies: &Bodies) -> LoopTouch {
        let c = &bodies.columns;
        let slot = self.slot as usize;
        let (way, turn, _) = self.place(hull, pose, bodies);
        let shape = ShapeRef::new(bodies, slot, self.part);
        let rows = |first: u32| &bodies.outlines.rows[first as usize..first as usize + OUTLINE_ROWS];
        let other = match shape.kind {
            ShapeKind::Circle | ShapeKind::Particle => Other::Round(shape.radius),
            ShapeKind::Aabb => Other::Box(Vec2::new(c.ext_x[slot], c.ext_y[slot])),
            ShapeKind::ChainSegment => Other::Chain(rows(shape.outline_row)),
            _ => Other::Outline(rows(shape.outline_row)),
        };
        let corners = &hull.corners(pose)[..hull.count];
        let centre = corners.iter().sum::<Vec2>() / hull.count as f32;
        touch_other(outline, centre, other, way, turn)
    }

    fn side(&self, hull: &Hull, place: Vec2, normal: Vec2, state: &State<'_>, bodies: &Bodies) -> Side {
        let (_, _, centre) = self.place(hull, state.pose, bodies);
        let lever = place - centre;
        let inv_spin = inv_spin(bodies.columns.radius[self.slot as usize]);
        let arms = [lever.perp_dot(normal) * inv_spin, lever.dot(normal) * inv_spin];
        Side { slots: [self.slot; 2], shares: [1.0, 0.0], arms }
    }
}

/// What a spin in the solver's measure is multiplied by to be one in rad/s.
fn inv_spin(radius: f32) -> f32 {
    if radius > 0.0 { 1.0 / radius } else { 0.0 }
}

impl Surface {
    fn of(bodies: &Bodies, settings: &Settings, a: u32, b: u32) -> Surface {
        let [a, b] = [a, b].map(|material| bodies.materials()[material as usize]);
        let mixing = settings.mixing;
        Surface {
            static_friction: mixing.friction.mix(a.static_friction, b.static_friction),
            dynamic_friction: mixing.friction.mix(a.dynamic_friction, b.dynamic_friction),
            restitution: mixing.restitution.mix(a.restitution, b.restitution).min(1.0),
        }
    }
}

/// The solver's rows.
struct State<'a> {
    vel: &'a mut [Row],
    pose: &'a mut [Row],
    accum: &'a mut [Row],
    /// Empty when nothing is damped.
    damp: &'a [Row],
}

impl Side {
    /// What of a motion the point has along a direction; `arm` goes with it.
    fn along(&self, rows: &[Row], direction: Vec2, arm: f32) -> f32 {
        let [first, second] = self.slots.map(|slot| rows[slot as usize].0);
        let at = |row: [f32; 4]| direction.x * row[0] + direction.y * row[1];
        self.shares[0] * at(first) + self.shares[1] * at(second) + arm * first[2]
    }

    /// The point's inverse mass.
    fn weight(&self, vel: &[Row], arm: f32) -> f32 {
        let [first, second] = self.slots.map(|slot| vel[slot as usize].0[3]);
        let [by_first, by_second] = self.shares.map(|share| share * share);
        first * (by_first + 2.0 * arm * arm) + second * by_second
    }

    /// An impulse along a direction.
    fn push(&self, state: &mut State<'_>, direction: Vec2, arm: f32, impulse: f32) {
        for (end, &slot) in self.slots.iter().enumerate() {
            let slot = slot as usize;
            let by = self.shares[end] * impulse * state.vel[slot].0[3];
            let turn = if end == 0 { 2.0 * arm * impulse * state.vel[slot].0[3] } else { 0.0 };
            let gained = [direction.x * by, direction.y * by, turn];
            for (axis, gained) in gained.into_iter().enumerate() {
                state.vel[slot].0[axis] += gained;
                // No impulse that the next warm start may repeat: see `verlet.rs`.
                let damp = state.damp.get(slot).map_or(1.0, |damp| damp.0[axis]);
                state.accum[slot].0[axis] += gained / damp;
            }
        }
    }

    /// The same for positions alone.
    fn shift(&self, state: &mut State<'_>, direction: Vec2, arm: f32, by: f32) {
        for (end, &slot) in self.slots.iter().enumerate() {
            let slot = slot as usize;
            let inv_mass = state.vel[slot].0[3];
            let along = self.shares[end] * by * inv_mass;
            let pose = &mut state.pose[slot].0;
            pose[0] += direction.x * along;
            pose[1] += direction.y * along;
            if end == 0 {
                pose[2] += 2.0 * arm * by * inv_mass;
            }
        }
    }
}

/// How what overlaps is moved apart.
#[derive(Clone, Copy)]
struct Push {
    slop: f32,
    /// In one sweep.
    most: f32,
}

impl Contact {
    /// None if the point will not touch in this substep.
    fn new(
        normal: Vec2,
        sides: [Side; 2],
        separation: f32,
        surface: Surface,
        state: &State<'_>,
        settings: &Settings,
        rows: &Rows<'_>,
    ) -> Option<Contact> {
        let mass = |axis: usize| {
            let weight: f32 = sides.iter().map(|side| side.weight(state.vel, side.arms[axis])).sum();
            if weight > 0.0 { 1.0 / weight } else { 0.0 }
        };
        let masses = [mass(0), mass(1)];
        let key = Key::default();
        let mut contact =
            Contact { key, normal, sides, surface, separation, masses, impulses: [0.0; 2], bounce: 0.0 };
        let speed = contact.relative(state.vel, 0);
        let touches = separation + rows.step * speed < 0.0;
        if separation > 4.0 * settings.slop && !touches {
            return None;
        }
        contact.separation -= contact.relative(state.pose, 0);
        if touches && -speed > settings.restitution_threshold {
            contact.bounce = -surface.restitution * speed;
        }
        Some(contact)
    }

    /// Of B's point against A's, along the normal (0) or the tangent (1).
    fn relative(&self, rows: &[Row], axis: usize) -> f32 {
        let direction = [self.normal, self.normal.perp()][axis];
        let [a, b] = &self.sides;
        b.along(rows, direction, b.arms[axis]) - a.along(rows, direction, a.arms[axis])
    }

    fn push(&self, state: &mut State<'_>, axis: usize, impulse: f32) {
        let direction = [self.normal, self.normal.perp()][axis];
        for (side, sign) in self.sides.iter().zip([-1.0, 1.0]) {
            side.push(state, direction, side.arms[axis], sign * impulse);
        }
    }

    fn solve(&mut self, state: &mut State<'_>, inv_step: f32, push: Push) {
        let separation = self.separation + self.relative(state.pose, 0);
        // Before they touch they may come as near as that in this substep.
        let target = self.bounce - separation.max(0.0) * inv_step;
        let wanted = (target - self.relative(state.vel, 0)) * self.masses[0];
        let total = (self.impulses[0] + wanted).max(0.0);
        let change = total - std::mem::replace(&mut self.impulses[0], total);
        self.push(state, 0, change);

        let wanted = self.impulses[1] - self.relative(state.vel, 1) * self.masses[1];
        let holds = wanted.abs() <= self.surface.static_friction * total;
        let most = self.surface.dynamic_friction * total;
        let total = if holds { wanted } else { wanted.max(-most).min(most) };
        let change = total - std::mem::replace(&mut self.impulses[1], total);
        self.push(state, 1, change);

        let overlap = -separation - push.slop;
        if overlap > 0.0 {
            let by = (PUSH * overlap).min(push.most) * self.masses[0];
            for (side, sign) in self.sides.iter().zip([-1.0, 1.0]) {
                side.shift(state, self.normal, side.arms[0], sign * by);
            }
        }
    }
}
