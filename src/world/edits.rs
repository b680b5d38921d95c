//! Edits that the pair list takes in without a rebuild: bodies that are added, removed, or put elsewhere.
//!
//! A new list costs some 300 ns for each body of the world, whatever has changed. But the contacts of a removed body
//! can be dropped (`contacts/drop.rs`). A body that was moved can be paired anew on its own, like one that has left its
//! margin (`broadphase/loose.rs`). A new body can have the slot of a removed one. Until the step that takes them in,
//! new bodies stand after the list's slots, where queries look at them one by one.
//!
//! Few worlds have a removed body for each new one. So a list that is made after bodies were added has some spare
//! slots: as many as `edits_per_list` allows in its life.

use super::World;
use super::pairs::ListState;
use crate::body::Bodies;
use crate::broadphase::loose::edits_per_list;
use crate::geometry::shape::ShapeKind;

/// What was done since the last step, and the room for it.
#[derive(Default)]
pub(super) struct Edits {
    /// Slots of the list whose bodies were removed.
    removed: Vec<u32>,
    /// Slots of the list whose bodies are not where their bounds are, or will not be after the next step.
    moved: Vec<u32>,
    /// Slots of the list whose pairs a joint forbids now.
    parted: Vec<u32>,
    /// Slots of the list that hold no body.
    vacant: Vec<u32>,
    /// The number of bodies that were put somewhere since the list was made.
    done: usize,
    /// True if bodies were added since the list was made.
    grown: bool,
    /// The features that the list was made for.
    made_for: Features,
}

/// Features of bodies that some lists and their blocks do not have.
#[derive(Clone, Copy, Default, PartialEq)]
struct Features([bool; 5]);

impl Features {
    fn of(bodies: &Bodies) -> Features {
        let restitution = bodies.any_restitution;
        Features([
            bodies.any_manifold,
            bodies.any_rough,
            bodies.any_filter,
            restitution,
            bodies.outlines.any_hull,
        ])
    }
}

crate::base::codec::stored!(Features { 0 });
crate::base::codec::stored!(Edits { removed, moved, parted, vacant, done, grown, made_for });

/// The largest number of slots in any one of the lists of edits.
pub(super) fn most_edits(bodies: usize) -> usize {
    2 * edits_per_list(bodies) + 1
}

impl Edits {
    /// Returns true if all slots are below a number.
    pub(super) fn fits(&self, slots: usize) -> bool {
        let all = [&self.removed, &self.moved, &self.parted, &self.vacant];
        all.into_iter().flatten().all(|&slot| (slot as usize) < slots)
    }

    /// Returns true if a body was removed from a slot since the last step. What it had is still there.
    pub(super) fn is_removed(&self, slot: usize) -> bool {
        self.removed.contains(&(slot as u32))
    }

    /// Returns true if the list was made for bodies that turn.
    pub(super) fn made_for_turning(&self) -> bool {
        self.made_for.0[0]
    }

    /// Returns true if `is_free` holds for all vacant slots, and none is there twice.
    pub(super) fn vacant_are(&self, is_free: impl Fn(usize) -> bool) -> bool {
        let mut vacant = self.vacant.clone();
        vacant.sort_unstable();
        vacant.windows(2).all(|two| two[0] < two[1]) && vacant.iter().all(|&slot| is_free(slot as usize))
    }

    /// Starts the edits for a new list, which has all bodies; the slots from `listed` on are vacant.
    pub(super) fn clear(&mut self, bodies: &Bodies, listed: usize) {
        let most = most_edits(bodies.len);
        for slots in [&mut self.removed, &mut self.moved, &mut self.vacant, &mut self.parted] {
            slots.clear();
            slots.reserve(most);
        }
        self.parted.reserve(2 * most);
        // Reversed, because slots are taken from the end: the first vacant slot is taken first.
        self.vacant.extend((listed as u32..bodies.len as u32).rev());
        self.done = 0;
        self.grown = false;
        self.made_for = Features::of(bodies);
    }

    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.moved.is_empty() && self.parted.is_empty()
    }
}

impl World {
    /// Returns true if the pair list is that of the present bodies, each where it was when the list was made, or where
    /// it was paired anew.
    pub(super) fn is_listed(&self) -> bool {
        self.list != ListState::Void && self.edits.is_empty() && self.broadphase.built == self.bodies.len
    }

    /// Returns true if the list has every feature that the present bodies need.
    pub(super) fn list_suits(&self) -> bool {
        self.list != ListState::Void && self.edits.made_for == Features::of(&self.bodies)
    }

    /// Returns true if a list that is made now should have spare slots.
    pub(super) fn expects_bodies(&self) -> bool {
        self.broadphase.built > 0 && (self.edits.grown || self.bodies.len > self.broadphase.built)
    }

    /// Notes a body that is about to be removed.
    pub(super) fn note_removal(&mut self, slot: usize) {
        self.broadphase.note_edit(&self.bodies, slot);
        self.note(slot, |edits| &mut edits.removed);
    }

    /// Notes a body that the host has moved, wholly or in part.
    pub(super) fn note_move(&mut self, slot: usize) {
        self.broadphase.note_edit(&self.bodies, slot);
        self.note_out(slot);
    }

    /// Notes a body that, wholly or in part, is not where its bounds are, or will not be at the end of the next step.
    pub(super) fn note_out(&mut self, slot: usize) {
        self.list.note_left();
        self.note(slot, |edits| &mut edits.moved);
    }

    fn note(&mut self, slot: usize, list: fn(&mut Edits) -> &mut Vec<u32>) {
        if slot >= self.broadphase.built {
            return;
        }
        let slots = list(&mut self.edits);
        // A list with more edits than this is made anew anyway.
        if self.broadphase.may_be_loose(slot)
            && self.bodies.is_simple(slot)
            && slots.len() < edits_per_list(self.broadphase.built)
        {
            if slots.last() != Some(&(slot as u32)) {
                slots.push(slot as u32);
            }
        } else {
            self.list = ListState::Void;
        }
    }

    /// Notes that a joint now keeps two bodies apart, or no longer does. In the first case their pairs are dropped from the list. In the second
    /// the body that is cheaper to pair anew is paired anew.
    pub(super) fn note_pair(&mut self, one: usize, other: usize, apart: bool) {
        if one.max(other) >= self.broadphase.built {
            return;
        }
        if !apart {
            let suits = |slot: &usize| self.broadphase.may_be_loose(*slot) && self.bodies.is_simple(*slot);
            let slot = [one, other].into_iter().find(suits).unwrap_or(one);
            self.note_move(slot);
            return;
        }
        // The pair is in the tile of the lower slot, or in the overflow tile.
        let slot = one.min(other);
        let parted = &mut self.edits.parted;
        if self.broadphase.may_be_loose(slot) && parted.len() < edits_per_list(self.broadphase.built) {
            parted.push(slot as u32);
        } else {
            self.list = ListState::Void;
        }
    }

    /// Takes the edits since the last step into the list. Returns how many bodies have to be paired anew because of
    /// them, or `None` if there has to be a new list.
    pub(super) fn take_edits(&mut self) -> Option<usize> {
        if self.list == ListState::Void || self.is_listed() {
            return (self.list != ListState::Void).then_some(0);
        }
        let built = self.broadphase.built;
        let (edits, bodies) = (&mut self.edits, &self.bodies);
        let added = (built..bodies.len).filter(|&slot| is_alive(bodies, slot));
        let simple = added.clone().all(|slot| bodies.is_simple(slot));
        let added = added.count();
        let anew = edits.moved.len() + added + edits.done;
        let room = edits.vacant.len() + edits.removed.len();
        let left = self.left.get_mut().expect("no worker panicked");
        // `left` never holds more than `per_step + 1` slots: the last one shows that there are others.
        if left.len() > self.broadphase.bounds.allowance.per_step
            || self.list == ListState::Expired
            || !simple
            || added > room
            || anew > edits_per_list(built)
            || edits.made_for != Features::of(bodies)
        {
            return None;
        }
        let edited = edits.moved.len() + added;
        edits.done += edited;
        edits.grown |= added > 0;
        self.drop_removed();
        self.place_added();
        let left = self.left.get_mut().expect("no worker panicked");
        left.sort_unstable();
        left.dedup();
        left.retain(|&slot| self.bodies.columns.kind[slot as usize].is_collidable());
        self.list = if left.is_empty() { ListState::Holds } else { ListState::Left };
        Some(edited)
    }

    /// Takes removed bodies and their pairs out of the list, and pairs of bodies that do not touch any more.
    fn drop_removed(&mut self) {
        let (edits, bodies) = (&mut self.edits, &mut self.bodies);
        edits.removed.sort_unstable();
        edits.parted.extend_from_slice(&edits.removed);
        if !edits.parted.is_empty() {
            edits.parted.sort_unstable();
            edits.parted.dedup();
            self.contacts.drop_pairs(bodies, &edits.parted);
            edits.parted.clear();
        }
        for &slot in &edits.removed {
            bodies.bury(slot as usize);
            self.broadphase.forget(slot);
        }
        edits.vacant.append(&mut edits.removed);
    }

    /// Gives each body that was added a vacant slot of the list, and notes it and those that were moved as bodies to be paired anew.
    fn place_added(&mut self) {
        let built = self.broadphase.built;
        let (edits, bodies) = (&mut self.edits, &mut self.bodies);
        let left = self.left.get_mut().expect("no worker panicked");
        left.append(&mut edits.moved);
        for slot in built..bodies.len {
            if !is_alive(bodies, slot) {
                continue;
            }
            let to = edits.vacant.pop().expect("there is room for all");
            bodies.move_to(slot, to as usize);
            bodies.prepare_outline(to as usize);
            // This slot is in no tile: its contacts go to the overflow tile, like those of a large body.
            let outside = to as usize >= self.broadphase.listed;
            self.large_moves |= outside && bodies.columns.inv_mass[to as usize] > 0.0;
            left.push(to);
        }
        if bodies.len > built {
            bodies.truncate(built);
            (self.verlet.slots_moved, self.joint_solver.slots_moved) = (true, true);
        }
    }
}

/// Returns true if there is a body in a slot.
fn is_alive(bodies: &Bodies, slot: usize) -> bool {
    bodies.slot_of(bodies.handle(slot)).ok() == Some(slot)
}

impl Bodies {
    /// Returns true if a body can be added or removed without a new list. Half-spaces can't, as they are near
    /// everything. Compounds can't, as they have rows of their own in the mirror. Particles can't, as they may have
    /// links and be part of hulls. Bodies that are not enabled are in no band.
    fn is_simple(&self, slot: usize) -> bool {
        let kind = self.columns.kind[slot];
        !kind.is_particle()
            && !self.is_disabled(slot)
            && !matches!(kind.shape(), ShapeKind::HalfSpace | ShapeKind::Compound)
    }
}
