//! Sleep: islands of bodies that have come to rest together, and what is kept of them until they wake.
//!
//! Every stage of the step treats a sleeping body as a body that nothing moves (`body/sleep.rs`): it has no pairs with others of its
//! kind, no candidates, no contacts, no joints and no rows that change. When all bodies sleep, a step does nothing at all
//! (`World::is_quiet`). What the solver knew of them (contacts with their impulses, joints) is kept here, by island.
//!
//! The islands of awake bodies are not kept up as contacts come and go. They are found anew, from all contacts that touch, when enough
//! bodies have been at rest for long enough: at most every eighth step, and less often the longer no island could sleep (`world/sleep.rs`). So
//! a world that moves pays nothing, and no island has to be split.

mod islands;
mod reach;

use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::base::ensure;
use crate::body::sleep::Rest;
use crate::body::{Bodies, BodyHandle};
use crate::contacts::Parked;
use crate::joints::table::Joints;
use crate::particles::hulls::Hulls;
use crate::solver::hulls::ParkedHulls;
use crate::solver::joints::ParkedJoint;
pub(crate) use islands::{AtRest, Bonds, Islands};
pub(crate) use reach::{Before, Found, Reach};
use std::collections::BTreeSet;

/// An island that sleeps. One without members is free.
#[derive(Default)]
pub(crate) struct Island {
    pub members: Vec<BodyHandle>,
    pub contacts: Vec<Parked>,
    pub joints: Vec<ParkedJoint>,
    pub hulls: ParkedHulls,
    /// The indices of the handles of bodies that do not move and that the island rests on, or hangs from.
    pub supports: Vec<u32>,
}

crate::base::codec::stored!(Island { members, contacts, joints, hulls, supports });

/// All that a world knows of sleep. The first part is state.
#[derive(Default)]
pub(crate) struct Sleep {
    islands: Vec<Island>,
    free: Vec<u32>,
    /// Pairs of a body, by the index of its handle, and an island that rests on it.
    supported: BTreeSet<(u32, u32)>,
    /// The bodies that nothing moves and that were added or put elsewhere since the last step. They may touch sleeping bodies now.
    pub(crate) placed: Vec<BodyHandle>,
    /// The placed bodies of this step, in order: hulls are looked at later in the step.
    pub(crate) stirred: Vec<BodyHandle>,
    /// Who was at rest at the end of the last step.
    pub(crate) rest: Rest,
    /// The steps that are left until the next search for islands, and how many searches in a row were in vain.
    pub(crate) wait: u32,
    pub(crate) tries: u32,
    /// The most bodies that were awake and not at rest for long enough at the end of a step, from the last search on.
    pub(crate) restless: u32,
    /// The bodies that fell asleep, or woke, since the end of the last step.
    fell: Vec<BodyHandle>,
    woke: Vec<BodyHandle>,
    /// The bodies that fell asleep, or woke, in the last step.
    pub(crate) fell_asleep: Vec<BodyHandle>,
    pub(crate) woken: Vec<BodyHandle>,

    /// Memory for one step.
    pub(crate) finder: Islands,
    pub(crate) touched: Vec<u32>,
    pub(crate) of_slot: Vec<Option<u32>>,
    pub(crate) reach: Reach,
}

impl Sleep {
    pub(crate) fn write(&self, to: &mut Writer<'_>) {
        let Sleep {
            islands,
            free,
            supported: _,
            placed,
            stirred: _,
            rest,
            wait,
            tries,
            restless,
            fell,
            woke,
            fell_asleep,
            woken,
            finder: _,
            touched: _,
            of_slot: _,
            reach: _,
        } = self;
        to.mark();
        islands.write(to);
        free.write(to);
        to.mark();
        placed.write(to);
        rest.write(to);
        (*wait, *tries, *restless).write(to);
        for list in [fell, woke, fell_asleep, woken] {
            list.write(to);
        }
    }

    /// Reads what [`Sleep::write`] wrote. What an island rests on is found again from the islands.
    pub(crate) fn read(&mut self, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        self.islands.read(from)?;
        self.free.read(from)?;
        from.mark()?;
        self.placed.read(from)?;
        self.rest.read(from)?;
        (self.wait, self.tries, self.restless) = from.value()?;
        for list in [&mut self.fell, &mut self.woke, &mut self.fell_asleep, &mut self.woken] {
            list.read(from)?;
        }
        self.stirred.clear();
        self.supported.clear();
        for (number, island) in (0u32..).zip(&self.islands) {
            self.supported.extend(island.supports.iter().map(|&body| (body, number)));
        }
        let mut free = self.free.clone();
        free.sort_unstable();
        let empty = (0u32..).zip(&self.islands).filter(|(_, island)| island.members.is_empty());
        require!(empty.map(|(number, _)| number).eq(free), "an island is free and sleeps, or does neither");
        self.free.reserve(self.islands.len() - self.free.len());
        Ok(())
    }
}

impl Sleep {
    /// The number of sleeping islands.
    pub(crate) fn len(&self) -> usize {
        self.islands.len() - self.free.len()
    }

    /// The number of islands, those without members included.
    pub(crate) fn capacity(&self) -> usize {
        self.islands.len()
    }

    /// The contacts of hulls in all islands.
    pub(crate) fn hulls_mut(&mut self) -> impl Iterator<Item = &mut ParkedHulls> {
        self.islands.iter_mut().map(|island| &mut island.hulls)
    }

    /// The sleeping islands, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Island)> {
        (0u32..).zip(&self.islands).filter(|(_, island)| !island.members.is_empty())
    }

    /// Makes a new island, which gets its members later.
    pub(crate) fn new_island(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.islands.push(Island::default());
            self.free.reserve(self.islands.len());
            (self.islands.len() - 1) as u32
        })
    }

    pub(crate) fn island(&self, number: u32) -> &Island {
        &self.islands[number as usize]
    }

    pub(crate) fn island_mut(&mut self, number: u32) -> &mut Island {
        &mut self.islands[number as usize]
    }

    /// Notes what an island rests on.
    pub(crate) fn support(&mut self, island: u32, body: BodyHandle) {
        if self.supported.insert((body.index, island)) {
            self.islands[island as usize].supports.push(body.index);
        }
    }

    /// The islands that rest on a body, in order.
    pub(crate) fn supported_by(&self, body: BodyHandle) -> impl Iterator<Item = u32> {
        self.supported.range((body.index, 0)..=(body.index, u32::MAX)).map(|&(_, island)| island)
    }

    /// Adds a body that falls asleep to its island.
    pub(crate) fn add_member(&mut self, island: u32, body: BodyHandle) {
        self.islands[island as usize].members.push(body);
        self.fell.push(body);
    }

    /// The number of bodies that fell asleep since the end of the last step.
    pub(crate) fn fallen(&self) -> usize {
        self.fell.len()
    }

    pub(crate) fn fallen_body(&self, index: usize) -> BodyHandle {
        self.fell[index]
    }

    /// Notes that a member of an island wakes.
    pub(crate) fn note_awake(&mut self, body: BodyHandle) {
        self.woke.push(body);
    }

    /// Takes out an island that wakes. [`Sleep::give_back`] takes back its memory.
    pub(crate) fn take(&mut self, number: u32) -> Island {
        let island = std::mem::take(&mut self.islands[number as usize]);
        for &body in &island.supports {
            self.supported.remove(&(body, number));
        }
        island
    }

    /// Frees the number of an island that has woken.
    pub(crate) fn give_back(&mut self, number: u32, mut island: Island) {
        island.members.clear();
        island.contacts.clear();
        island.joints.clear();
        island.hulls.clear();
        island.supports.clear();
        self.islands[number as usize] = island;
        self.free.push(number);
    }

    /// Checks that the islands, the sleeping bodies and their joints agree.
    pub(crate) fn validate(&self, bodies: &Bodies, joints: &Joints, hulls: &Hulls) -> Result<(), String> {
        let mut members = 0;
        let mut parked = std::collections::BTreeSet::new();
        for (number, island) in self.iter() {
            for &body in &island.members {
                let slot =
                    bodies.slot_of(body).map_err(|_| format!("{body:?} of island {number} is gone"))?;
                ensure!(bodies.island(slot) == Some(number), "{body:?} is not in island {number}");
                members += 1;
            }
            for joint in &island.joints {
                ensure!(parked.insert(joint.index), "joint {} sleeps twice", joint.index);
            }
            for &body in &island.supports {
                ensure!(
                    self.supported.contains(&(body, number)),
                    "body {body} does not know island {number}"
                );
            }
        }
        let asleep = (0..bodies.len).filter(|&slot| bodies.is_asleep(slot)).count();
        let counts = [members, asleep, bodies.asleep_count];
        ensure!(counts == [members; 3], "members, sleeping bodies and their count are {counts:?}");
        let supports: usize = self.iter().map(|(_, island)| island.supports.len()).sum();
        ensure!(supports == self.supported.len(), "{supports} supports, {} noted", self.supported.len());
        if !hulls.changed {
            for (handle, hull) in hulls.iter() {
                let slots = hull.points().iter().filter_map(|&point| bodies.slot_of(point).ok());
                let mut islands =
                    slots.filter(|&slot| bodies.is_movable(slot)).map(|slot| bodies.island(slot));
                let first = islands.next().flatten();
                ensure!(islands.all(|island| island == first), "a part of {handle:?} sleeps");
            }
        }
        for (handle, joint) in joints.iter() {
            let known = parked.contains(&handle.index());
            ensure!(joint.asleep.is_some() == known, "{handle:?} sleeps: {}", joint.asleep.is_some());
        }
        Ok(())
    }

    /// Ends a step: its events are those since the end of the last one.
    pub(crate) fn end_step(&mut self) {
        for (events, new) in [(&mut self.fell_asleep, &mut self.fell), (&mut self.woken, &mut self.woke)] {
            events.clear();
            events.append(new);
        }
    }
}
