//! Strays: bodies that are out of the bounds that they had when the list was made, so that queries need no new list.
//!
//! A list is made anew at the beginning of a step. Before that, after a step in which bodies left their margins, queries
//! used to look at every body: 500 µs among 20,000 instead of 0.7 µs. But it is known how far each body is out of its
//! bounds. If a body is not far out, queries grow every box that they look up by that distance. The few bodies that are
//! far out (struck, thrown) are sought in an order of their own, `unlisted.rs`.

use crate::base::room::like;
use crate::lane::Values;

/// So many bodies may be far out, and one more for each `SHARE` bodies of the world.
const FEW: usize = 64;
const SHARE: usize = 1024;
/// If one is further out than `FAR` times what counts as far, so many for each that there may be else. (Of 20,000
/// bodies 200 were thrown 33 m far in a step: a track of 19 m looked at 357 bodies, now at less than 60; test `few_bodies_are_looked_at_after_a_throw`.)
const MORE: usize = 16;
const FAR: f32 = 4.0;

/// The bodies that are out of their bounds.
#[derive(Default)]
pub(crate) struct Strays {
    /// Slots that are far out, in order.
    slots: Vec<u32>,
    /// No body outside `slots` is further out than this, m.
    excess: f32,
    /// A body that is further out than this is far out, m.
    near: f32,
    /// The largest distance that a body is out of its bounds, including bodies that are far out, m.
    most: f32,
    room: usize,
}

crate::base::codec::stored!(Strays { slots, excess, near, most, room });

impl Strays {
    /// Makes room for as much as another one has room for.
    pub(super) fn make_room_like(&mut self, other: &Self) {
        like!(self, other; slots);
    }

    /// Returns true if the strays are in order and below so many slots.
    pub(super) fn fits(&self, slots: usize) -> bool {
        self.slots.windows(2).all(|two| two[0] < two[1])
            && self.slots.last().is_none_or(|&last| (last as usize) < slots)
            && self.room <= slots + FEW
    }

    /// Removes all strays, for a new list of so many bodies. A body is far out if it is further out than `near`.
    pub(crate) fn clear(&mut self, bodies: usize, near: f32) {
        self.slots.clear();
        (self.excess, self.most, self.near) = (0.0, 0.0, near);
        self.room = FEW + MORE * (bodies / SHARE);
        // One more than `room` shows that there are too many.
        self.slots.reserve(self.room + 1);
    }

    /// Removes all strays before a step, at whose end they are noted anew.
    pub(crate) fn begin(&mut self) {
        self.slots.clear();
        (self.excess, self.most) = (0.0, 0.0);
    }

    /// Notes a body that is `out` metres out of its bounds.
    pub(crate) fn note(&mut self, slot: usize, out: f32) {
        self.most = self.most.max(out);
        if out <= self.near {
            self.excess = self.excess.max(out);
        } else if self.slots.len() <= self.room {
            self.slots.push(slot as u32);
        }
    }

    /// Notes the bodies from slot `first` on that are out of their bounds by these lengths, those by 0 or less excepted.
    pub(crate) fn note_all(&mut self, first: usize, outs: &Values) {
        let furthest = outs.iter().fold(0.0, |most, &out| if out > most { out } else { most });
        if furthest <= self.near {
            // Where lists live for one step, these are all bodies.
            (self.most, self.excess) = (self.most.max(furthest), self.excess.max(furthest));
            return;
        }
        let outs = (first..).zip(outs).filter(|&(_, &out)| out > 0.0);
        outs.for_each(|(slot, &out)| self.note(slot, out));
    }

    /// Finishes after all strays were noted, in any order.
    pub(crate) fn end(&mut self) {
        let few = FEW + self.room.saturating_sub(FEW) / MORE;
        let room = if self.most > FAR * self.near { self.room } else { few };
        if self.slots.len() > room {
            self.slots.clear();
            self.excess = self.most;
        }
        self.slots.sort_unstable();
    }

    pub(crate) fn excess(&self) -> f32 {
        self.excess
    }

    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    pub(crate) fn contains(&self, slot: usize) -> bool {
        !self.slots.is_empty() && self.slots.binary_search(&(slot as u32)).is_ok()
    }
}
