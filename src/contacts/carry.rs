//! Impulses on their way from an old pair list to the next.
//!
//! The old list's contacts that hold an impulse or touch, as rows by the lower old slot; those of the
//! far tile, which may start anywhere, in a short sorted list of their own. A new pair looks up its
//! bodies' old slots, and what nobody has claimed by then has ended.

use super::{ContactEvent, Tile};
use crate::body::{Bodies, BodyHandle};
use crate::broadphase::resize;
use crate::crew::{Crew, SharedSlice};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a new contact starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Carried {
    pub normal_impulse: f32,
    pub tangent_impulse: f32,
    pub touching: bool,
}

/// A contact of the old list, by its slots then: `low < high`.
#[derive(Debug, Default)]
struct Entry {
    low: u32,
    high: u32,
    carried: Carried,
    claimed: AtomicBool,
}

impl Clone for Entry {
    fn clone(&self) -> Self {
        let claimed = AtomicBool::new(self.claimed.load(Ordering::Relaxed));
        Entry { low: self.low, high: self.high, carried: self.carried, claimed }
    }
}

#[derive(Default)]
pub(crate) struct Carry {
    /// First entry of each old slot that was in a band, and the end.
    start: Vec<u32>,
    entries: Vec<Entry>,
    far: Vec<Entry>,
    /// First entry of each tile.
    tile_start: Vec<u32>,
    /// Handles by old slot, for the events.
    handle: Vec<BodyHandle>,
}

/// The entries of a tile, sorted by (low, high) as its pairs are.
fn entries_of(tile: &Tile) -> impl Iterator<Item = Entry> {
    tile.found.pairs.iter().enumerate().filter_map(|(i, pair)| {
        let (block, lane) = tile.place(i);
        let carried = Carried {
            normal_impulse: tile.normal[block].normal_impulse[lane],
            tangent_impulse: tile.friction[block].tangent_impulse[lane],
            touching: tile.info[block].touched >> lane & 1 == 1,
        };
        let keep = carried.touching || carried.normal_impulse != 0.0 || carried.tangent_impulse != 0.0;
        keep.then(|| Entry { low: pair.a, high: pair.b, carried, claimed: AtomicBool::new(false) })
    })
}

impl Carry {
    /// Reads the old blocks.
    pub(super) fn take(
        &mut self,
        tiles: &[Tile],
        far: &Tile,
        bodies: &Bodies,
        built: usize,
        crew: &Crew<'_>,
    ) {
        resize(&mut self.tile_start, tiles.len() + 1);
        crew.for_each(&mut self.tile_start[..tiles.len()], |i, count| {
            *count = entries_of(&tiles[i]).count() as u32;
        });
        let mut total = 0;
        for count in &mut self.tile_start[..tiles.len()] {
            total += std::mem::replace(count, total);
        }
        self.tile_start[tiles.len()] = total;

        let banded = tiles.last().map_or(0, |tile| tile.slots.end);
        resize(&mut self.start, banded + 1);
        resize(&mut self.entries, total as usize);
        self.start[banded] = total;
        let start = SharedSlice::new(&mut self.start);
        let entries = SharedSlice::new(&mut self.entries);
        let tile_start = &self.tile_start;
        crew.run(tiles.len(), |i| {
            let tile = &tiles[i];
            let range = tile_start[i] as usize..tile_start[i + 1] as usize;
            #[allow(unsafe_code)]
            // SAFETY: tiles have disjoint slots and entries.
            let (start, entries) = unsafe { (start.range(tile.slots.clone()), entries.range(range.clone())) };
            let mut next_slot = tile.slots.start;
            for ((entry, place), index) in entries_of(tile).zip(entries).zip(range.start as u32..) {
                while next_slot <= entry.low as usize {
                    start[next_slot - tile.slots.start] = index;
                    next_slot += 1;
                }
                *place = entry;
            }
            start[next_slot - tile.slots.start..].fill(range.end as u32);
        });

        self.far.clear();
        self.far.extend(entries_of(far));
        self.far.sort_unstable_by_key(|entry| (entry.low, entry.high));
        self.handle.clear();
        self.handle.extend_from_slice(&bodies.columns.handle[..built]);
    }

    /// Claims what the old list knew of a pair of old slots.
    pub(super) fn claim(&self, a: u32, b: u32) -> Carried {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        self.find(low, high).map_or(Carried::default(), |entry| {
            entry.claimed.store(true, Ordering::Relaxed);
            entry.carried
        })
    }

    fn find(&self, low: u32, high: u32) -> Option<&Entry> {
        if (low as usize) + 1 < self.start.len() {
            let row = self.start[low as usize] as usize..self.start[low as usize + 1] as usize;
            if let Some(entry) = self.entries[row].iter().find(|entry| entry.high == high) {
                return Some(entry);
            }
        }
        let place = self.far.binary_search_by_key(&(low, high), |entry| (entry.low, entry.high));
        place.ok().map(|place| &self.far[place])
    }

    /// Reports the touching pairs that were not claimed, once.
    pub(super) fn lost(&mut self, end: &mut Vec<ContactEvent>) {
        for entry in self.entries.iter().chain(&self.far) {
            if entry.carried.touching && !entry.claimed.load(Ordering::Relaxed) {
                let [a, b] = [entry.low, entry.high].map(|slot| self.handle[slot as usize]);
                end.push(ContactEvent { a, b });
            }
        }
        self.entries.clear();
        self.far.clear();
        self.start.clear();
    }
}
