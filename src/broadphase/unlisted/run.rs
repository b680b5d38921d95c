//! Runs: boxes of bodies under one tree, in an order of place.

use crate::base::room::at_least;
use crate::broadphase::tree::{CHILDREN, Node, Tree};
use glam::Vec2;

/// An entry whose body has a later one, or none any more.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// Boxes of bodies under one tree.
#[derive(Default)]
pub(super) struct Run {
    pub tree: Tree,
    /// The slot of each box.
    pub slots: Vec<u32>,
    /// The number of the first entry.
    pub first: usize,
    /// How long it is, in steps of four.
    pub length: u32,
}

impl Run {
    pub(super) fn end(&self) -> usize {
        self.first + self.slots.len()
    }

    /// Empties the run, which begins with this entry.
    pub(super) fn clear(&mut self, first: usize) {
        self.slots.clear();
        self.tree.clear();
        (self.first, self.length) = (first, 0);
    }

    /// Appends an entry. The tree has leaves only, and is to be built.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, bounds: [f32; 4]) {
        let child = self.slots.len() % CHILDREN;
        if child == 0 {
            self.tree.leaves.push(Node::default());
        }
        if let Some(leaf) = self.tree.leaves.last_mut() {
            leaf.set(child, bounds);
        }
        self.slots.push(slot);
    }

    /// Appends what is sorted, and builds the tree.
    pub(super) fn fill(&mut self, sorted: &[Sorted]) {
        sorted.iter().for_each(|&(key, bounds)| self.push(key as u32, bounds));
        self.tree.build(Node::bounds);
    }

    /// The slots and bounds of all entries that have a slot.
    pub(super) fn entries(&self) -> impl Iterator<Item = Sorted> {
        self.slots.iter().enumerate().filter(|&(_, &slot)| slot != NO_SLOT).map(|(at, &slot)| {
            let bounds = self.tree.leaves[at / CHILDREN].0.map(|column| column[at % CHILDREN]);
            (u64::from(slot), bounds)
        })
    }

    /// Notes where the bodies are.
    pub(super) fn note(&self, places: &mut [u32]) {
        for (entry, &slot) in (self.first..).zip(&self.slots) {
            if slot != NO_SLOT {
                places[slot as usize] = entry as u32;
            }
        }
    }

    pub(super) fn make_room(&mut self, entries: usize) {
        at_least(&mut self.slots, entries);
        self.tree.make_room(entries);
    }

    pub(super) fn drop_entry(&mut self, entry: usize) {
        let at = entry - self.first;
        self.slots[at] = NO_SLOT;
        self.tree.leaves[at / CHILDREN].set(at % CHILDREN, Node::MISSING);
    }
}

/// A body's slot and bounds, by its place along a curve.
pub(super) type Sorted = (u64, [f32; 4]);

/// Sorts bodies along the curve of G. M. Morton (1966) through their bounds' middles. Their keys keep the slots in the lower half.
pub(super) fn sort_by_place(sorted: &mut [Sorted]) {
    let middle =
        |[min_x, max_x, min_y, max_y]: &[f32; 4]| Vec2::new(0.5 * (min_x + max_x), 0.5 * (min_y + max_y));
    let corners = [Vec2::INFINITY, Vec2::NEG_INFINITY];
    let [lower, upper] = sorted.iter().fold(corners, |[lower, upper], (_, bounds)| {
        let middle = middle(bounds);
        [lower.min(middle), upper.max(middle)]
    });
    let per_metre = 65_535.0 / (upper - lower).max(Vec2::splat(f32::MIN_POSITIVE));
    for (key, bounds) in &mut *sorted {
        let at = (middle(bounds) - lower) * per_metre;
        *key |= (spread(at.x as u16) | spread(at.y as u16) << 1) << 32;
    }
    sorted.sort_unstable_by_key(|&(key, _)| key);
}

/// The bits of a number with a 0 before each.
fn spread(number: u16) -> u64 {
    let mut bits = u64::from(number);
    for (by, mask) in [(8, 0x00FF_00FF), (4, 0x0F0F_0F0F), (2, 0x3333_3333), (1, 0x5555_5555)] {
        bits = (bits | bits << by) & mask;
    }
    bits
}
