//! Hulls that sleep: what is kept of their contacts, and which of them something awake touches.
//!
//! A sleeping hull is one whose corners nothing moves. Two of them are no pair, so what their contacts knew is kept with their island,
//! as for other bodies (`contacts/park.rs`). When the island wakes, the next substep claims it like the contacts of the last one.
//!
//! A hull meets others in the solver, which is too late to wake what it touches. So in a step in which something sleeps, the pairs of
//! something that sleeps and something that moves are looked at once before: where they are at the start of the step, and how far they
//! may come in it.

use super::sides::Surface;
use super::{Contact, Hull, HullPair, HullSolver, OtherPair, box_of};
use crate::body::{Bodies, BodyHandle};
use crate::crew::Crew;
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::lane::Row;
use crate::narrowphase::hulls::LoopTouch;
use crate::particles::hulls::Hulls;
use crate::settings::Settings;
use glam::Vec2;

/// What is kept of an island's hulls.
#[derive(Default)]
pub(crate) struct ParkedHulls {
    pub contacts: Vec<Contact>,
    /// Pairs of bodies that touch.
    touched: Vec<[BodyHandle; 2]>,
}

crate::base::codec::stored!(ParkedHulls { contacts, touched });

impl ParkedHulls {
    /// Moves the origin by a vector.
    pub(crate) fn shift(&mut self, by: Vec2) {
        self.contacts.iter_mut().for_each(|contact| contact.point -= by);
    }

    pub(crate) fn clear(&mut self) {
        self.contacts.clear();
        self.touched.clear();
    }
}

/// The bodies, sorted by handle, that the host has put elsewhere, and which wake what they touch.
#[derive(Clone, Copy)]
pub(crate) struct Stirred<'a>(pub &'a [BodyHandle]);

impl Stirred<'_> {
    /// Whether a body that contacts do not move moves by itself, or was put elsewhere.
    fn has(self, bodies: &Bodies, slot: usize) -> bool {
        let c = &bodies.columns;
        bodies.is_driven(slot) || c.inv_mass[slot] == 0.0 && self.0.binary_search(&c.handle[slot]).is_ok()
    }
}

/// How a hull or a body takes part in waking.
#[derive(Clone, Copy)]
struct WakeRole {
    island: Option<u32>,
    /// It moves, or was put elsewhere.
    active: bool,
}

impl WakeRole {
    fn of(slots: &[u32], bodies: &Bodies, stirred: Stirred<'_>) -> WakeRole {
        let mut slots = slots.iter().map(|&slot| slot as usize);
        let island = slots.clone().find_map(|slot| bodies.island(slot));
        let active = slots.any(|slot| bodies.columns.inv_mass[slot] > 0.0 || stirred.has(bodies, slot));
        WakeRole { island, active }
    }

    /// The island that wakes if these two touch.
    fn wakes(self, other: WakeRole) -> Option<u32> {
        match (self.island, other.island) {
            (Some(island), None) if other.active => Some(island),
            (None, Some(island)) if self.active => Some(island),
            _ => None,
        }
    }
}

/// Returns the slot that stands for all of a hull: one that moves, if there is any.
pub(crate) fn stand_for(slots: impl Iterator<Item = usize> + Clone, bodies: &Bodies) -> Option<usize> {
    let c = &bodies.columns;
    let moves = |slot: &usize| c.inv_mass[*slot] > 0.0;
    let driven = |slot: &usize| [c.vel_x[*slot], c.vel_y[*slot]] != [0.0; 2];
    let first = slots.clone().next();
    slots.clone().find(moves).or_else(|| slots.clone().find(driven)).or(first)
}

impl HullSolver {
    /// Returns the slots of all particles of a side's hull, or of its body, as of the last step.
    pub(crate) fn members<'a>(&'a self, contact: &'a Contact, side: usize) -> &'a [u32] {
        let (is_body, name) = [(false, contact.key.1), (contact.key.0 == 1, contact.key.2)][side];
        if is_body {
            return &contact.sides[1].slots[..1];
        }
        let place = self.places.get(name as usize).copied();
        place.and_then(|place| self.hulls.get(place as usize)).map_or(&[], Hull::slots)
    }

    /// Visits the slots of each two things that touch, each hull by one of its particles.
    pub(crate) fn visit_touching(&self, bodies: &Bodies, mut visit: impl FnMut(usize, usize)) {
        // Contacts that were woken by hand since the last step name the slots of the step in which they fell asleep.
        let touched = self.touched_before.iter().filter(|_| !self.woken.is_empty());
        for [a, b] in touched.map(|pair| pair.map(|body| bodies.slot_of(body).ok())) {
            if let (Some(a), Some(b)) = (a, b) {
                visit(a, b);
            }
        }
        self.contacts.iter().for_each(|contact| self.visit_sides(contact, bodies, &mut visit));
    }

    /// Visits the slots of each two things that touch by a surface that moves on its own, as [`HullSolver::visit_touching`] does.
    pub(crate) fn visit_belts(&self, bodies: &Bodies, mut visit: impl FnMut(usize, usize)) {
        let belts = self.contacts.iter().filter(|contact| contact.surface.belt != 0.0);
        belts.for_each(|contact| self.visit_sides(contact, bodies, &mut visit));
    }

    /// Visits the slots of the two things in a contact.
    fn visit_sides(&self, contact: &Contact, bodies: &Bodies, visit: &mut impl FnMut(usize, usize)) {
        let slots = |side| self.members(contact, side).iter().map(|&slot| slot as usize);
        if let (Some(a), Some(b)) = (stand_for(slots(0), bodies), stand_for(slots(1), bodies)) {
            visit(a, b);
        }
    }

    /// Returns true if what touched in the last step is still there and may touch.
    fn is_whole(&self, contact: &Contact, bodies: &Bodies, hulls: &Hulls) -> bool {
        let same = |index: u32, side: usize| {
            let slots = self.members(contact, side).iter().map(|&slot| Some(slot as usize));
            hulls.at(index).is_some_and(|hull| {
                hull.is_collidable(bodies)
                    && hull.points().iter().map(|&point| bodies.slot_of(point).ok()).eq(slots)
            })
        };
        let (_, hull, other, _) = contact.key;
        let slot = contact.sides[1].slots[0] as usize;
        let known = if contact.key.0 == 0 {
            same(other, 1)
        } else {
            bodies.slot_at(other) == Some(slot) && bodies.columns.kind[slot].is_collidable()
        };
        known && same(hull, 0)
    }

    /// Returns the island that keeps a contact while its bodies sleep. `None` if one of them stays awake, or is gone.
    pub(crate) fn keeper(
        &self,
        contact: &Contact,
        bodies: &Bodies,
        hulls: &Hulls,
        of_slot: &[Option<u32>],
    ) -> Option<u32> {
        let members = || (0..2).flat_map(|side| self.members(contact, side)).map(|&slot| slot as usize);
        let stays = |slot: usize| of_slot[slot].is_none() && bodies.columns.inv_mass[slot] > 0.0;
        let number = members().find_map(|slot| of_slot[slot]);
        number.filter(|_| !members().any(stays) && self.is_whole(contact, bodies, hulls))
    }

    /// Takes out the contacts of bodies that fall asleep, and the pairs of them that touch, and calls `island` for the place that keeps
    /// them. No body has fallen asleep yet.
    pub(crate) fn park(
        &mut self,
        bodies: &Bodies,
        hulls: &Hulls,
        of_slot: &[Option<u32>],
        mut keep: impl FnMut(u32, Parking),
    ) {
        let contacts = std::mem::take(&mut self.contacts);
        let mut left = contacts.clone();
        left.clear();
        for contact in contacts {
            match self.keeper(&contact, bodies, hulls, of_slot) {
                Some(number) => keep(number, Parking::Contact(contact)),
                None => left.push(contact),
            }
        }
        self.contacts = left;
        let island = |body: BodyHandle| {
            let slot = bodies.slot_of(body).ok()?;
            let of_hull = || {
                let hull = *self.owners.get(body.index() as usize)?;
                let place = *self.places.get(hull as usize)?;
                self.hulls.get(place as usize)?.slots().iter().find_map(|&slot| of_slot[slot as usize])
            };
            of_slot[slot].or_else(of_hull)
        };
        let stays = |body: BodyHandle| {
            bodies
                .slot_of(body)
                .is_ok_and(|slot| of_slot[slot].is_none() && bodies.columns.inv_mass[slot] > 0.0)
        };
        // A pair of which one is gone ends with the next step.
        let solid = |body: BodyHandle| {
            bodies.slot_of(body).is_ok_and(|slot| bodies.columns.kind[slot].is_collidable())
        };
        self.touched_before.retain(|&pair| {
            if !pair.into_iter().all(solid) {
                return true;
            }
            let [a, b] = pair.map(island);
            let number = a.or(b).filter(|_| !pair.into_iter().any(stays));
            number.is_none_or(|number| {
                keep(number, Parking::Touched(pair));
                false
            })
        });
    }

    /// Gives back what was kept of an island that wakes.
    pub(crate) fn unpark(&mut self, parked: &mut ParkedHulls) {
        self.woken.append(&mut parked.contacts);
        if !parked.touched.is_empty() {
            self.touched_before.append(&mut parked.touched);
            self.touched_before.sort_unstable();
            self.touched_before.dedup();
        }
    }

    /// Takes up the contacts of hulls that have woken.
    pub(super) fn claim_woken(&mut self) {
        if !self.woken.is_empty() {
            let HullSolver { contacts, woken, .. } = self;
            contacts.append(woken);
            contacts.sort_by_key(|contact| contact.key);
            contacts.dedup_by_key(|contact| contact.key);
        }
    }

    /// Finds the islands of sleeping hulls that something awake touches, or will in this step, and of sleeping bodies that an awake hull
    /// touches. Uses the memory of a step, before the step does.
    #[expect(clippy::too_many_arguments, reason = "as `begin_step`")]
    pub(crate) fn find_touched(
        &mut self,
        hulls: &Hulls,
        bodies: &Bodies,
        settings: &Settings,
        stirred: Stirred<'_>,
        vel: &[Row],
        (level, crew): (Level, &Crew<'_>),
        near: impl Fn(Vec2, Vec2, &mut dyn FnMut(usize)),
        touched: &mut Vec<Touched>,
    ) {
        self.list(hulls, bodies, settings);
        self.pair_for_waking(bodies, settings, stirred, near);
        if self.pairs.is_empty() && self.others.is_empty() {
            return;
        }
        self.make_loops();
        self.list_paired();
        self.clear_touches();
        // Nothing has moved since the start of the step.
        let mut unmoved = std::mem::take(&mut self.unmoved);
        unmoved.resize(vel.len(), Row::default());
        self.write_outlines(&unmoved, vel, crew);
        self.find_touches(&unmoved, bodies, level, crew);
        self.unmoved = unmoved;
        self.note_islands(bodies, settings, stirred, touched);
    }

    /// Notes the islands that wake: those of pairs that touch, or will in this step or the substep after it, because a contact stops what comes
    /// one substep ahead. (Without that substep a ball stopped dead 1 cm before a soft box that slept on, at 18 of 200 speeds.)
    fn note_islands(
        &self,
        bodies: &Bodies,
        settings: &Settings,
        stirred: Stirred<'_>,
        touched: &mut Vec<Touched>,
    ) {
        let sleeper = |slots: [u32; 2]| {
            let [a, b] = slots;
            if bodies.is_asleep(a as usize) { a } else { b }
        };
        let HullSolver { hulls, pairs, others, touches, .. } = self;
        for (pair, touch) in pairs.iter().zip(touches) {
            let [a, b] = pair.hulls.map(|hull| hull as usize);
            let [a, b] = [&hulls[a], &hulls[b]];
            let role = |hull: &Hull| WakeRole::of(hull.slots(), bodies, stirred);
            let island = role(a).wakes(role(b));
            let closing = closing(a.slots(), touch.normal, bodies, settings)
                + closing(b.slots(), -touch.normal, bodies, settings);
            if touch.gap() - a.thickest() - b.thickest() <= settings.slop + closing {
                let slot = sleeper([a.slots()[0], b.slots()[0]]);
                touched.extend(island.map(|island| Touched { island, slot, closing }));
            }
        }
        for (pair, touch) in others.iter().zip(&touches[pairs.len()..]) {
            let hull = &hulls[pair.hull as usize];
            let role = WakeRole::of(hull.slots(), bodies, stirred);
            let island = role.wakes(WakeRole::of(&[pair.slot], bodies, stirred));
            let (normal, gap) = if pair.is_plane(bodies) {
                pair.plane_gap(hull, bodies)
            } else {
                (touch.normal, touch.gap() - hull.thickest())
            };
            let closing = closing(hull.slots(), normal, bodies, settings)
                + closing(&[pair.slot], -normal, bodies, settings);
            if gap <= settings.slop + closing {
                let slot = sleeper([pair.slot, hull.slots()[0]]);
                touched.extend(island.map(|island| Touched { island, slot, closing }));
            }
        }
    }

    /// Pairs what sleeps with what may wake it.
    fn pair_for_waking(
        &mut self,
        bodies: &Bodies,
        settings: &Settings,
        stirred: Stirred<'_>,
        near: impl Fn(Vec2, Vec2, &mut dyn FnMut(usize)),
    ) {
        let (mut pairs, mut others) = (std::mem::take(&mut self.pairs), std::mem::take(&mut self.others));
        pairs.clear();
        others.clear();
        let HullSolver { hulls, levels, moving, still, elsewhere, .. } = &*self;
        let role = |place: usize| WakeRole::of(hulls[place].slots(), bodies, stirred);
        let pair = |first: usize, second: usize| {
            let (a, b) = (&hulls[first], &hulls[second]);
            let joined = || a.slots().iter().any(|slot| b.slots().contains(slot));
            let wakes = role(first).wakes(role(second)).is_some();
            (wakes && a.filter.touches(&b.filter) && !joined()).then(|| {
                let surface = Surface::of(bodies, settings, a.material, b.material);
                HullPair { hulls: [first as u32, second as u32], surface }
            })
        };
        let meet = |place: usize, slot: usize, others: &mut Vec<OtherPair>| {
            let of_body = WakeRole::of(&[slot as u32], bodies, stirred);
            if !bodies.is_corner(slot) && role(place).wakes(of_body).is_some() {
                hulls[place].meet_any(place as u32, slot, bodies, settings, others);
            }
        };
        let look = |place: usize, others: &mut Vec<OtherPair>| {
            near(hulls[place].lower, hulls[place].upper, &mut |slot| meet(place, slot, others));
        };
        // A static hull that the host has put elsewhere may wake what stands still as well.
        let corners = stirred.0.iter().filter_map(|&body| bodies.slot_of(body).ok());
        let is_put = corners.clone().any(|slot| bodies.is_corner(slot));
        let put = still.places.iter().copied().filter(|&place| is_put && role(place as usize).active);
        let active = moving.iter().copied().chain(put);
        for first in active.clone().map(|place| place as usize) {
            let Hull { lower, upper, .. } = hulls[first];
            let (x, y) = ([lower.x, upper.x], [lower.y, upper.y]);
            levels.visit(x, y, |number| {
                let second = moving[number] as usize;
                if second > first {
                    pairs.extend(pair(first, second));
                }
                true
            });
            still.visit(x, y, |second| pairs.extend(pair(first.min(second), first.max(second))));
            look(first, &mut others);
        }
        let look_around = |slot: usize, others: &mut Vec<OtherPair>| {
            if bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
                still.places.iter().for_each(|&place| meet(place as usize, slot, others));
            } else {
                self.visit_still_near(slot, bodies, settings, |place| meet(place, slot, others));
            }
        };
        if self.visit_movers(bodies, |slot| look_around(slot, &mut others)) {
            // What moves by itself is among the movers.
            let put =
                corners.filter(|&slot| bodies.columns.kind[slot].is_collidable() && !bodies.is_driven(slot));
            put.for_each(|slot| look_around(slot, &mut others));
        } else {
            still.places.iter().for_each(|&place| look(place as usize, &mut others));
            elsewhere.iter().for_each(|&slot| look_around(slot as usize, &mut others));
        }
        for slot in elsewhere.iter().map(|&slot| slot as usize) {
            if bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
                active.clone().for_each(|place| meet(place as usize, slot, &mut others));
                continue;
            }
            let [lower, upper] = box_of(slot, bodies, settings);
            levels.visit([lower.x, upper.x], [lower.y, upper.y], |number| {
                meet(moving[number] as usize, slot, &mut others);
                true
            });
        }
        // A hull may have been found twice, and in whichever order.
        pairs.sort_unstable_by_key(|pair| pair.hulls);
        pairs.dedup_by_key(|pair| pair.hulls);
        others.sort_unstable_by_key(|pair| (pair.hull, pair.body, pair.part));
        others.dedup_by_key(|pair| (pair.hull, pair.body, pair.part));
        (self.pairs, self.others) = (pairs, others);
    }
}

/// What [`HullSolver::park`] hands over.
pub(crate) enum Parking {
    Contact(Contact),
    Touched([BodyHandle; 2]),
}

impl ParkedHulls {
    pub(crate) fn note_touched(&mut self, pair: [BodyHandle; 2]) {
        self.touched.push(pair);
    }
}

/// An island that a hull touches, or that of a hull.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    pub island: u32,
    /// A body of it that is touched.
    pub slot: u32,
    /// How far what touches it may come in this step, m.
    pub closing: f32,
}

/// The furthest that any of these slots gets along a direction in a step, at least 0.
fn closing(slots: &[u32], direction: Vec2, bodies: &Bodies, settings: &Settings) -> f32 {
    let c = &bodies.columns;
    let dt = settings.time_step + settings.substep();
    let of = |slot: usize| {
        let pull = if c.inv_mass[slot] > 0.0 { dt * settings.gravity } else { Vec2::ZERO };
        let turn = if c.omega[slot] == 0.0 { 0.0 } else { c.omega[slot].abs() * c.furthest[slot] };
        (bodies.velocity(slot) + pull).dot(direction) + turn
    };
    dt * slots.iter().map(|&slot| of(slot as usize)).fold(0.0, f32::max)
}

impl Hull {
    /// The difference between the radii of its thickest and its thinnest disc.
    pub(super) fn thickest(&self) -> f32 {
        self.more[..self.count].iter().copied().fold(0.0, f32::max)
    }
}

impl LoopTouch {
    /// The distance between the surfaces.
    pub(super) fn gap(&self) -> f32 {
        self.separations[0].min(self.separations[1])
    }
}

impl OtherPair {
    /// The normal from a hull to a half-space, and the distance between them.
    fn plane_gap(&self, hull: &Hull, bodies: &Bodies) -> (Vec2, f32) {
        let c = &bodies.columns;
        let plane = self.slot as usize;
        let (normal, offset) = (Vec2::new(c.ext_x[plane], c.ext_y[plane]), c.ext_z[plane]);
        let gap = |(&slot, more): (&u32, &f32)| {
            normal.dot(bodies.position(slot as usize)) - offset - hull.radius - more
        };
        (-normal, hull.slots().iter().zip(&hull.more).map(gap).fold(f32::INFINITY, f32::min))
    }
}
