//! Impulses on their way from an old pair list to the next.
//!
//! The old list's contacts that hold an impulse or touch, as rows by the lower old slot; those of the
//! far tile, which may start anywhere, in a short sorted list of their own. A new pair looks up its
//! bodies' old slots, and what nobody has claimed by then has ended.

use super::{BLOCK, ContactEvent, Tile};
use crate::body::{Bodies, BodyHandle};
use crate::broadphase::loose::per_list;
use crate::broadphase::resize;
use crate::crew::{Crew, SharedSlice};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a new contact starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Carried {
    pub normal_impulse: f32,
    pub tangent_impulse: f32,
    pub touching: bool,
}

/// A pair of the old list, by its slots then: `low < high`.
#[derive(Clone, Debug, Default)]
struct Entry {
    low: u32,
    carried: Carried,
    claimed: Claimed,
}

/// Set by the one thread that finds the pair again.
#[derive(Debug, Default)]
struct Claimed(AtomicBool);

impl Clone for Claimed {
    fn clone(&self) -> Self {
        Claimed(AtomicBool::new(self.0.load(Ordering::Relaxed)))
    }
}

#[derive(Default)]
pub(crate) struct Carry {
    /// First entry of each old slot that was in a band, and the end.
    start: Vec<u32>,
    entries: Vec<Entry>,
    /// The higher slot of each entry, apart from the rest: a row of them is one load.
    high: Vec<u32>,
    far: Vec<(u32, Entry)>,
    /// First entry of each tile.
    tile_start: Vec<u32>,
    /// Handles by old slot, for the events.
    handle: Vec<BodyHandle>,
    /// Taken, and not yet looked through for what is lost.
    pending: bool,
}

/// What each pair of a tile holds, in order, in place of what `kept` held.
pub(super) fn keep(tile: &Tile, mut kept: Vec<Carried>) -> Vec<Carried> {
    kept.clear();
    kept.extend(tile.lane_of.iter().map(|&lane| carried(tile, lane)));
    kept
}

/// Gives it back to the first pairs of the tile after its blocks were made anew.
pub(super) fn restore(tile: &mut Tile, kept: &[Carried]) {
    for (pair, carried) in kept.iter().enumerate() {
        let (block, lane) = tile.place(pair);
        tile.normal[block].normal_impulse[lane] = carried.normal_impulse;
        tile.friction[block].tangent_impulse[lane] = carried.tangent_impulse;
        tile.info[block].touched |= u16::from(carried.touching) << lane;
    }
}

fn carried(tile: &Tile, lane: u32) -> Carried {
    let (block, lane) = (lane as usize / BLOCK, lane as usize % BLOCK);
    Carried {
        normal_impulse: tile.normal[block].normal_impulse[lane],
        tangent_impulse: tile.friction[block].tangent_impulse[lane],
        touching: tile.info[block].touched >> lane & 1 == 1,
    }
}

/// An entry for each pair of the tile.
fn entries_of(tile: &Tile) -> impl Iterator<Item = (u32, Entry)> {
    tile.found.pairs.iter().zip(&tile.lane_of).map(|(pair, &lane)| {
        (pair.b, Entry { low: pair.a, carried: carried(tile, lane), claimed: Claimed::default() })
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
        self.tile_start.clear();
        let mut total = 0;
        for tile in tiles {
            self.tile_start.push(total as u32);
            total += tile.found.pairs.len();
        }
        let banded = tiles.last().map_or(0, |tile| tile.slots.end);
        resize(&mut self.start, banded + 1);
        resize(&mut self.entries, total);
        resize(&mut self.high, total);
        self.start[banded] = total as u32;
        let start = SharedSlice::new(&mut self.start);
        let entries = SharedSlice::new(&mut self.entries);
        let high = SharedSlice::new(&mut self.high);
        let tile_start = &self.tile_start;
        crew.run(tiles.len(), |i| {
            let tile = &tiles[i];
            let first = tile_start[i] as usize;
            let range = first..first + tile.found.pairs.len();
            #[allow(unsafe_code)]
            // SAFETY: tiles have disjoint slots and entries.
            let (start, entries, high) = unsafe {
                (start.range(tile.slots.clone()), entries.range(range.clone()), high.range(range.clone()))
            };
            let mut next_slot = tile.slots.start;
            for (i, (other, entry)) in entries_of(tile).enumerate() {
                let index = (first + i) as u32;
                while next_slot <= entry.low as usize {
                    start[next_slot - tile.slots.start] = index;
                    next_slot += 1;
                }
                (high[i], entries[i]) = (other, entry);
            }
            start[next_slot - tile.slots.start..].fill(range.end as u32);
        });

        self.far.clear();
        self.far.reserve(far.found.pairs.len().max(8 * per_list(built)));
        self.far.extend(entries_of(far));
        self.far.sort_unstable_by_key(|(high, entry)| (entry.low, *high));
        self.handle.clear();
        self.handle.extend_from_slice(&bodies.columns.handle[..built]);
        self.pending = true;
    }

    /// Claims what the old list knew of a pair of old slots.
    pub(super) fn claim(&self, a: u32, b: u32) -> Carried {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        self.find(low, high).map_or(Carried::default(), |entry| {
            entry.claimed.0.store(true, Ordering::Relaxed);
            entry.carried
        })
    }

    fn find(&self, low: u32, high: u32) -> Option<&Entry> {
        if !self.pending {
            return None;
        }
        if (low as usize) + 1 < self.start.len() {
            let row = self.start[low as usize] as usize..self.start[low as usize + 1] as usize;
            if let Some(place) = self.high[row.clone()].iter().position(|&other| other == high) {
                return Some(&self.entries[row.start + place]);
            }
        }
        if self.far.is_empty() {
            return None;
        }
        let place = self.far.binary_search_by_key(&(low, high), |(high, entry)| (entry.low, *high));
        place.ok().map(|place| &self.far[place].1)
    }

    /// Reports the touching pairs that were not claimed, once.
    pub(super) fn lost(&mut self, end: &mut Vec<ContactEvent>) {
        if !std::mem::take(&mut self.pending) {
            return;
        }
        let banded = self.high.iter().zip(&self.entries);
        for (&high, entry) in banded.chain(self.far.iter().map(|(high, entry)| (high, entry))) {
            if entry.carried.touching && !entry.claimed.0.load(Ordering::Relaxed) {
                let [a, b] = [entry.low, high].map(|slot| self.handle[slot as usize]);
                end.push(ContactEvent { a, b });
            }
        }
    }
}
