//! Impulses on their way from an old pair list to the next.
//!
//! The old list's contacts that hold an impulse or touch, as rows by the lower old slot; those of the
//! far tile, which may start anywhere, in a short sorted list of their own. A new pair looks up its
//! bodies' old slots, and what nobody has claimed by then has ended.

use super::events::Changed;
use super::{BLOCK, ContactEvent, LANDED, NOT_GENERAL, Tile};
use crate::body::{Bodies, BodyHandle};
use crate::broadphase::general::NO_PART;
use crate::broadphase::resize;
use crate::crew::{Crew, SharedSlice};
use crate::shape::ShapeKind;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a new contact starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Carried {
    pub normal_impulse: f32,
    pub tangent_impulse: f32,
    pub touching: bool,
}

/// What a new general contact starts with besides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GeneralCarried {
    /// Of the second point.
    pub normal_impulse: f32,
    pub feature: [f32; 2],
    pub rolling_impulse: f32,
    /// Of the lower slot and the higher.
    parts: [u8; 2],
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
    /// As long as `entries` where there are general contacts, else empty.
    general: Vec<GeneralCarried>,
    far: Vec<(u32, Entry, GeneralCarried)>,
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

/// The same of what general contacts hold besides; nothing if there are none.
pub(super) fn keep_general(tile: &Tile, mut kept: Vec<GeneralCarried>) -> Vec<GeneralCarried> {
    kept.clear();
    if !tile.general.is_empty() {
        kept.extend((0..tile.lane_of.len()).map(|pair| general_carried(tile, pair)));
    }
    kept
}

/// Gives that back.
pub(super) fn restore_general(tile: &mut Tile, kept: &[GeneralCarried]) {
    for (pair, carried) in kept.iter().enumerate() {
        let (block, lane) = tile.place(pair);
        let place = tile.info[block].general as usize;
        if let Some(general) = tile.general.get_mut(place) {
            general.second.normal_impulse[lane] = carried.normal_impulse;
            general.feature[0][lane] = carried.feature[0];
            general.feature[1][lane] = carried.feature[1];
        }
        if let Some(rough) = tile.rough.get_mut(place) {
            rough.rolling_impulse[lane] = carried.rolling_impulse;
        }
    }
}

fn general_carried(tile: &Tile, pair: usize) -> GeneralCarried {
    let (block, lane) = tile.place(pair);
    let place = tile.info[block].general as usize;
    let parts = tile.found.pairs[pair].parts;
    let Some(general) = tile.general.get(place) else {
        return GeneralCarried { parts, ..GeneralCarried::default() };
    };
    GeneralCarried {
        normal_impulse: if has_landed(tile, block, lane) { 0.0 } else { general.second.normal_impulse[lane] },
        feature: general.feature.map(|feature| feature[lane]),
        rolling_impulse: tile.rough.get(place).map_or(0.0, |rough| rough.rolling_impulse[lane]),
        parts,
    }
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

#[inline(always)]
fn carried(tile: &Tile, lane: u32) -> Carried {
    let (block, lane) = (lane as usize / BLOCK, lane as usize % BLOCK);
    let part = if has_landed(tile, block, lane) { 0.0 } else { 1.0 };
    Carried {
        normal_impulse: part * tile.normal[block].normal_impulse[lane],
        tangent_impulse: part * tile.friction[block].tangent_impulse[lane],
        touching: tile.info[block].touched >> lane & 1 == 1,
    }
}

/// Whether its impulses are those of a blow in the last substep, which are not carried on: see `solver/general.rs`.
#[inline(always)]
fn has_landed(tile: &Tile, block: usize, lane: usize) -> bool {
    if tile.info[block].general == NOT_GENERAL {
        return false;
    }
    let general = &tile.general[tile.info[block].general as usize];
    tile.normal[block].closing_speed[lane].min(general.second.closing_speed[lane]) <= LANDED
}

/// An entry for each pair of the tile.
#[inline(always)]
fn entries_of(tile: &Tile) -> impl Iterator<Item = (u32, Entry)> {
    tile.found.pairs.iter().zip(&tile.lane_of).map(
        #[inline(always)]
        |(pair, &lane)| {
            (pair.b, Entry { low: pair.a, carried: carried(tile, lane), claimed: Claimed::default() })
        },
    )
}

/// Room for so many, and for a quarter more where it has to grow.
fn room_for<T>(vec: &mut Vec<T>, len: usize) {
    if vec.capacity() < len {
        vec.reserve_exact(len + len / 4 + 16 - vec.len());
    }
}

impl Carry {
    /// Makes room for a list of so many pairs when it is made: it is taken in a later step, which is not to allocate.
    pub(super) fn reserve(&mut self, pairs: usize, bodies: &Bodies) {
        room_for(&mut self.start, bodies.len + 1);
        room_for(&mut self.handle, bodies.len);
        room_for(&mut self.entries, pairs);
        room_for(&mut self.high, pairs);
        room_for(&mut self.general, if bodies.any_general { pairs } else { 0 });
    }

    /// The same for the far tile's.
    pub(super) fn reserve_far(&mut self, pairs: usize) {
        room_for(&mut self.far, pairs);
    }

    /// Reads the old blocks.
    pub(super) fn take(
        &mut self,
        tiles: &[Tile],
        far: &Tile,
        bodies: &Bodies,
        built: usize,
        crew: &Crew<'_>,
    ) {
        resize(&mut self.tile_start, tiles.len());
        let mut total = 0;
        for (start, tile) in self.tile_start.iter_mut().zip(tiles) {
            *start = total as u32;
            total += tile.found.pairs.len();
        }
        let banded = tiles.last().map_or(0, |tile| tile.slots.end);
        resize(&mut self.start, banded + 1);
        resize(&mut self.entries, total);
        resize(&mut self.high, total);
        self.start[banded] = total as u32;
        let any_general = tiles.iter().any(|tile| !tile.general.is_empty());
        resize(&mut self.general, if any_general { total } else { 0 });
        let general = SharedSlice::new(&mut self.general);
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
            if any_general {
                #[allow(unsafe_code)]
                // SAFETY: tiles have disjoint entries.
                let general = unsafe { general.range(range) };
                for (pair, general) in general.iter_mut().enumerate() {
                    *general = general_carried(tile, pair);
                }
            }
        });

        self.far.clear();
        let entries = entries_of(far).enumerate();
        self.far.extend(entries.map(|(pair, (high, entry))| (high, entry, general_carried(far, pair))));
        self.far.sort_unstable_by_key(|(high, entry, general)| (entry.low, *high, general.parts));
        self.handle.clear();
        self.handle.extend_from_slice(&bodies.columns.handle[..built]);
        self.pending = true;
    }

    /// Claims what the old list knew of a pair of old slots, and of these parts of their bodies.
    pub(super) fn claim(&self, [a, b]: [u32; 2], [part_a, part_b]: [u8; 2]) -> (Carried, GeneralCarried) {
        let (low, high, parts) = if a < b { (a, b, [part_a, part_b]) } else { (b, a, [part_b, part_a]) };
        self.find(low, high, parts).map_or_else(Default::default, |(entry, general)| {
            entry.claimed.0.store(true, Ordering::Relaxed);
            (entry.carried, general)
        })
    }

    fn find(&self, low: u32, high: u32, parts: [u8; 2]) -> Option<(&Entry, GeneralCarried)> {
        if !self.pending {
            return None;
        }
        if (low as usize) + 1 < self.start.len() {
            let row = self.start[low as usize] as usize..self.start[low as usize + 1] as usize;
            if let Some(place) = self.high[row.clone()].iter().position(|&other| other == high) {
                let first = row.start + place;
                if self.general.is_empty() {
                    // A body that got parts since has other contacts.
                    let same_shapes = parts == [NO_PART; 2];
                    return same_shapes.then(|| (&self.entries[first], GeneralCarried::default()));
                }
                let same_pair = (first..row.end).take_while(|&index| self.high[index] == high);
                let found = same_pair.into_iter().find(|&index| self.general[index].parts == parts);
                if let Some(index) = found {
                    return Some((&self.entries[index], self.general[index]));
                }
            }
        }
        if self.far.is_empty() {
            return None;
        }
        let key = (low, high, parts);
        let place =
            self.far.binary_search_by_key(&key, |(high, entry, general)| (entry.low, *high, general.parts));
        place.ok().map(|place| (&self.far[place].1, self.far[place].2))
    }

    /// Reports the touching pairs that were not claimed, once: ends of contacts, but of bodies with several shapes what
    /// may be one.
    pub(super) fn lost(&mut self, bodies: &Bodies, end: &mut Vec<ContactEvent>, changed: &mut Vec<Changed>) {
        if !std::mem::take(&mut self.pending) {
            return;
        }
        let has_parts = |body: BodyHandle| {
            let kind = |slot: usize| bodies.columns.kind[slot].shape();
            bodies.slot_of(body).is_ok_and(|slot| kind(slot) == ShapeKind::Compound)
        };
        let mut report = |high: u32, entry: &Entry, parts: [u8; 2]| {
            if entry.carried.touching && !entry.claimed.0.load(Ordering::Relaxed) {
                let [a, b] = [entry.low, high].map(|slot| self.handle[slot as usize]);
                // It may have got them since.
                if parts != [NO_PART; 2] || has_parts(a) || has_parts(b) {
                    changed.push(Changed::lost(a, b));
                } else {
                    end.push(ContactEvent { a, b });
                }
            }
        };
        for (index, (&high, entry)) in self.high.iter().zip(&self.entries).enumerate() {
            let parts = self.general.get(index).map_or([NO_PART; 2], |general| general.parts);
            report(high, entry, parts);
        }
        for (high, entry, general) in &self.far {
            report(*high, entry, general.parts);
        }
    }
}
