//! How far a blow may carry within a step, and what sleeps in its way.
//!
//! A sleeping body is a wall to the solver. What something awake touches wakes before the step is solved; but what is struck in this step may,
//! within it, also reach a body that sleeps a few millimetres behind it. So that body wakes, too, and what sleeps behind that one. (When it
//! stayed asleep, two crates slept 6 mm apart, the first was struck at 12 m/s, and bounced off the second. When its contact was left out of the
//! step, crates that were struck at 20 m/s passed through thin ones.)

use super::Bonds;
use crate::contacts::{Blow, Near};
use crate::lane::Row;
use crate::settings::Settings;
use crate::solver::hulls::Touched;
use std::cell::Cell;

/// What is struck by a far heavier body, and loses nothing, leaves twice as fast as that body came.
const GAIN: f32 = 2.0;
/// How often in a step something wakes that is not touched yet: each time makes a list.
const ROUNDS: u32 = 2;
/// How many bodies, each near the next one, may be between a sleeping body and the one that is struck.
const HOPS: u32 = 3;
/// A body that nobody asks for.
const UNKNOWN: f32 = -1.0;

/// Memory for one step.
#[derive(Default)]
pub(crate) struct Reach {
    near: Vec<Near>,
    /// How far the bodies that are asked for may get in this step by what touches them, m.
    of_slot: Vec<f32>,
    neighbours: Vec<u32>,
    rounds: u32,
    pub found: Vec<Found>,
    /// Islands behind those, and the numbers of all.
    pub behind: Vec<Found>,
    pub seen: Vec<u32>,
}

/// An island that has to wake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub island: u32,
    /// The slot of its body that is reached.
    pub slot: u32,
    /// How far that body may get in this step, m.
    pub by: f32,
}

impl Found {
    /// Leaves one of each island, in order: that which gets furthest.
    pub(crate) fn merge(found: &mut Vec<Found>) {
        found.sort_unstable_by(|a, b| {
            a.island.cmp(&b.island).then(b.by.total_cmp(&a.by)).then(a.slot.cmp(&b.slot))
        });
        found.dedup_by_key(|found| found.island);
    }
}

/// What is known of a step before it is solved.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    pub bonds: Bonds<'a>,
    pub vel: &'a [Row],
    pub settings: &'a Settings,
}

impl Before<'_> {
    /// How far a blow may carry each of two bodies in this step, m.
    fn carries(&self, slots: [usize; 2], blow: Blow) -> f32 {
        let (mut speed, c) = (blow.speed, &self.bonds.bodies.columns);
        for slot in slots {
            if blow.has_arms {
                speed += c.omega[slot].abs() * c.furthest[slot];
            }
            let [x, y] = self.pushed(slot);
            speed += x.hypot(y);
        }
        GAIN * speed * self.settings.time_step + blow.overlap
    }

    /// How far a joint between two bodies may carry each of them in this step, m.
    fn pulls(&self, [a, b]: [usize; 2]) -> f32 {
        let (Row([ax, ay, ..]), Row([bx, by, ..])) = (self.vel[a], self.vel[b]);
        GAIN * (ax - bx).hypot(ay - by) * self.settings.time_step
    }

    /// Visits all pairs through which a blow may be passed on, and their gaps.
    fn visit_pairs(&self, mut visit: impl FnMut([usize; 2], f32)) {
        self.bonds.contacts.visit_near(&mut visit);
        self.bonds.visit_joined(|a, b| visit([a, b], 0.0));
    }

    /// The velocity that forces give to a body in this step, without gravity, m/s.
    fn pushed(&self, slot: usize) -> [f32; 2] {
        if !self.bonds.bodies.any_force {
            return [0.0; 2];
        }
        let c = &self.bonds.bodies.columns;
        [c.force_x[slot], c.force_y[slot]].map(|force| force * c.inv_mass[slot] * self.settings.time_step)
    }

    /// The gap of two bodies when the step ends, if nothing but forces changed the velocity of the one that is awake, m.
    fn gap_after(&self, near: &Near) -> f32 {
        let slot = near.awake as usize;
        let (Row([x, y, ..]), [px, py]) = (self.vel[slot], self.pushed(slot));
        let closing = near.normal[0] * (x + px) + near.normal[1] * (y + py);
        near.gap - self.settings.time_step * closing.max(0.0)
    }
}

impl Reach {
    pub(crate) fn begin_step(&mut self) {
        self.rounds = 0;
    }

    /// Finds the islands that something awake touches.
    pub(crate) fn find_touched(&mut self, before: Before<'_>) {
        self.found.clear();
        let bodies = before.bonds.bodies;
        let sleeper = |[a, b]: [usize; 2]| {
            let of = |slot: usize| bodies.island(slot).map(|island| (island, slot as u32));
            of(a).or(of(b))
        };
        before.bonds.contacts.visit_blows(
            before.vel,
            true,
            |slots| sleeper(slots).is_some(),
            |slots, blow| {
                let by = before.carries(slots, blow);
                self.found.extend(sleeper(slots).map(|(island, slot)| Found { island, slot, by }));
            },
        );
    }

    /// Adds what hulls touch.
    pub(crate) fn add_touched(&mut self, hulls: &[Touched]) {
        let found = |touched: &Touched| {
            let Touched { island, slot, closing } = *touched;
            Found { island, slot, by: GAIN * closing }
        };
        self.found.extend(hulls.iter().map(found));
    }

    /// Finds the islands that nothing touches, but that a body may reach in this step.
    pub(crate) fn find_reached(&mut self, before: Before<'_>) {
        self.found.clear();
        self.near.clear();
        let bodies = before.bonds.bodies;
        if self.rounds < ROUNDS {
            let near = |pair| self.near.push(pair);
            before.bonds.contacts.visit_near_sleepers(|slot| bodies.is_asleep(slot), near);
        }
        if self.near.is_empty() {
            return;
        }
        self.rounds += 1;
        self.ask(before);
        self.carry(before);
        for pair in &self.near {
            let by = self.of_slot[pair.awake as usize] - before.gap_after(pair);
            let island = bodies.island(pair.asleep as usize).filter(|_| by > 0.0);
            self.found.extend(island.map(|island| Found { island, slot: pair.asleep, by }));
        }
    }

    /// Marks the bodies near sleeping ones, and those through which a blow may be passed on to them.
    fn ask(&mut self, before: Before<'_>) {
        let Reach { near, of_slot, neighbours, .. } = self;
        let bodies = before.bonds.bodies;
        of_slot.clear();
        of_slot.resize(bodies.len, UNKNOWN);
        let moves = |slot: usize| bodies.columns.inv_mass[slot] > 0.0;
        near.iter().for_each(|pair| of_slot[pair.awake as usize] = 0.0);
        // What strikes a body's neighbour may be passed on to it at once.
        for _ in 0..HOPS {
            neighbours.clear();
            before.visit_pairs(|[a, b], _| {
                let besides =
                    [(a, b), (b, a)].into_iter().filter(|&(a, b)| of_slot[a] >= 0.0 && of_slot[b] < 0.0);
                neighbours.extend(besides.map(|(_, b)| b as u32).filter(|&b| moves(b as usize)));
            });
            neighbours.iter().for_each(|&slot| of_slot[slot as usize] = 0.0);
            if neighbours.is_empty() {
                break;
            }
        }
    }

    /// Finds how far the bodies that are asked for may get in this step.
    fn carry(&mut self, before: Before<'_>) {
        let reach = Cell::from_mut(&mut self.of_slot[..]).as_slice_of_cells();
        let is_asked_for = |slot: usize| reach[slot].get() >= 0.0;
        let carry = |slot: usize, by: f32| {
            let further = is_asked_for(slot) && by > reach[slot].get();
            if further {
                reach[slot].set(by);
            }
            further
        };
        let carry_both = |slots: [usize; 2], by: f32| slots.map(|slot| carry(slot, by)).contains(&true);
        let any = |slots: [usize; 2]| slots.into_iter().any(is_asked_for);
        before.bonds.contacts.visit_blows(before.vel, false, any, |slots, blow| {
            carry_both(slots, before.carries(slots, blow));
        });
        before.bonds.visit_joined(|a, b| {
            if any([a, b]) {
                carry_both([a, b], before.pulls([a, b]));
            }
        });
        for _ in 0..HOPS {
            let mut changed = false;
            before.visit_pairs(|slots, gap| {
                if slots.into_iter().all(is_asked_for) {
                    let [a, b] = slots.map(|slot| reach[slot].get());
                    changed |= carry_both(slots, a.max(b) - gap.max(0.0));
                }
            });
            if !changed {
                break;
            }
        }
    }
}
