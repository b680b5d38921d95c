//! Takes the contacts of bodies that fall asleep out of the list, and puts them back when the bodies wake.
//!
//! Two sleeping bodies are no pair: nothing moves either. So what their contacts knew (impulses, features, that they touched) is
//! kept with their island. When it wakes, the next list claims it like the impulses of the last list (`carry.rs`): a pile wakes as it
//! fell asleep, and no event tells of a contact that was there all the time.

use super::carry::{Parked, parked};
use super::{Contacts, NO_LANE, Tile};
use crate::body::Bodies;

/// Whether the body in a slot is part of an island that falls asleep, and of which.
pub(crate) type IslandOf<'a> = &'a dyn Fn(u32) -> Option<u32>;

impl Contacts {
    /// Takes out the contacts of bodies that fall asleep, and calls `keep` with those that touch and with the number of their island.
    /// No body has fallen asleep yet.
    pub(crate) fn park(&mut self, bodies: &Bodies, island: IslandOf<'_>, mut keep: impl FnMut(u32, Parked)) {
        for tile in self.all_mut() {
            tile.park(bodies, island, &mut keep);
        }
        // Those of bodies that were woken by hand since the last step, and are put to sleep again.
        self.woken.retain(|contact| {
            let number = woken_slots(contact, bodies).and_then(|slots| keeper(slots, bodies, island));
            number.is_none_or(|number| {
                keep(number, *contact);
                false
            })
        });
    }

    /// Visits the slots of each two bodies that touched when they fell asleep, and have woken since the last step.
    pub(crate) fn visit_woken(&self, bodies: &Bodies, mut visit: impl FnMut(usize, usize)) {
        for [a, b] in self.woken.iter().filter_map(|contact| woken_slots(contact, bodies)) {
            visit(a as usize, b as usize);
        }
    }

    /// Gives back the contacts of bodies that wake. The next list takes them up.
    pub(crate) fn unpark(&mut self, contacts: &mut Vec<Parked>) {
        self.woken.append(contacts);
    }
}

/// Returns true if two shapes, given by the slots of their bodies and the numbers of their parts, may touch no more since the last step. Their contact
/// ends with the next one, also if one of them falls asleep before.
pub(crate) fn is_parted(bodies: &Bodies, [a, b]: [u32; 2], [part_a, part_b]: [u8; 2]) -> bool {
    let [a, b] = [a, b].map(|slot| slot as usize);
    let solid = |slot: usize| bodies.columns.kind[slot].is_collidable() && !bodies.is_corner(slot);
    !solid(a) || !solid(b) || !bodies.may_touch(a, part_a, b, part_b)
}

/// The slots of the bodies of a contact that woke, if both are there and the shapes may touch.
fn woken_slots(contact: &Parked, bodies: &Bodies) -> Option<[u32; 2]> {
    let [a, b] = contact.bodies.map(|body| bodies.slot_of(body).ok());
    let slots = [a? as u32, b? as u32];
    (!is_parted(bodies, slots, contact.parts())).then_some(slots)
}

/// Returns the island that keeps the contact of two bodies while they sleep. `None` if one of them stays awake: the pair is in the next list,
/// too.
fn keeper([a, b]: [u32; 2], bodies: &Bodies, island: IslandOf<'_>) -> Option<u32> {
    let (of_a, of_b) = (island(a), island(b));
    let stays =
        |slot: u32, island: Option<u32>| island.is_none() && bodies.columns.inv_mass[slot as usize] > 0.0;
    of_a.or(of_b).filter(|_| !stays(a, of_a) && !stays(b, of_b))
}

impl Tile {
    fn park(&mut self, bodies: &Bodies, island: IslandOf<'_>, keep: &mut impl FnMut(u32, Parked)) {
        for index in 0..self.lane_of.len() {
            let (pair, lane) = (self.found.pairs[index], self.lane_of[index]);
            if lane == NO_LANE {
                continue;
            }
            let slots = [pair.a, pair.b];
            let Some(asleep) = keeper(slots, bodies, island) else { continue };
            if is_parted(bodies, slots, pair.parts) {
                continue;
            }
            let Some((block, at)) = self.place(index) else { continue };
            if self.info[block].touching >> at & 1 == 1 {
                keep(asleep, parked(self, bodies, index, lane));
            }
            let info = &mut self.info[block];
            for flags in [&mut info.active, &mut info.touching, &mut info.touched] {
                *flags &= !(1 << at);
            }
        }
    }
}
