//! Carries impulses from an old pair list to the next.
//!
//! The old list's contacts that hold something are *entries*, in rows by the lower old slot. Those of the overflow
//! tile, which may start at any slot, are in a short sorted list of their own. A new pair looks up the old slots of its
//! bodies and claims the entry. A touching entry that no pair has claimed by the end of the build has ended.

use super::events::Changed;
use super::{BLOCK, BlockInfo, ContactEvent, LANDED, NO_LANE, NO_MANIFOLD, STRUCK, Tile};
use crate::base::room::{resize, room_for};
use crate::body::{Bodies, BodyHandle};
use crate::broadphase::shapes::NO_PART;
use crate::broadphase::sweep::Pair;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::shape::ShapeKind;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The values that a new contact starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Carried {
    pub normal_impulse: f32,
    pub tangent_impulse: f32,
    pub touching: bool,
}

/// The further values that a new contact with a manifold starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ManifoldCarried {
    /// The impulse of the second point.
    pub normal_impulse: f32,
    pub feature: [f32; 2],
    pub rolling_impulse: f32,
    /// It bore a blow in the last substep, which is not carried on: see [`STRUCK`].
    pub struck: bool,
    /// The parts of the lower slot and the higher.
    parts: [u8; 2],
}

crate::base::codec::stored!(ManifoldCarried { normal_impulse, feature, rolling_impulse, struck, parts });

/// A contact of two sleeping bodies, or of a sleeping body and one that nothing moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parked {
    /// The lower slot was that of the first one.
    pub bodies: [BodyHandle; 2],
    carried: Carried,
    manifold: ManifoldCarried,
}

crate::base::codec::stored!(Parked = Parked { bodies: Default::default(), carried: Default::default(), manifold: Default::default() }; { bodies, carried, manifold } columns(parked) {
    parked.bodies[0].index,
    parked.bodies[0].generation,
    parked.bodies[1].index,
    parked.bodies[1].generation,
    parked.carried.normal_impulse,
    parked.carried.tangent_impulse,
    parked.carried.touching,
    parked.manifold.normal_impulse,
    parked.manifold.feature[0],
    parked.manifold.feature[1],
    parked.manifold.rolling_impulse,
    parked.manifold.struck,
    parked.manifold.parts[0],
    parked.manifold.parts[1],
});

impl Parked {
    /// Returns true if one of the bodies is a compound.
    pub(super) fn is_of_parts(&self, bodies: &Bodies) -> bool {
        self.manifold.parts != [NO_PART; 2] || self.bodies.iter().any(|&body| has_parts(bodies, body))
    }

    /// The numbers of the parts, in the order of the bodies.
    pub(super) fn parts(&self) -> [u8; 2] {
        self.manifold.parts
    }

    /// What the contact knows, by the present slots of its bodies: the lower slot, the higher one, and the entry. `None` if one of
    /// the bodies is gone.
    fn entry(&self, bodies: &Bodies, built: usize) -> Option<(u32, Entry, ManifoldCarried)> {
        let [a, b] = self.bodies.map(|body| bodies.slot_of(body).ok().filter(|&slot| slot < built));
        let (a, b) = (a? as u32, b? as u32);
        let mut manifold = self.manifold;
        if a > b {
            manifold.parts.swap(0, 1);
        }
        Some((
            a.max(b),
            Entry { low: a.min(b), carried: self.carried, claimed: Claimed::default() },
            manifold,
        ))
    }
}

/// Notes what a pair with a lane knows. Its flags are those of the present step.
pub(super) fn parked(tile: &Tile, bodies: &Bodies, pair: usize, lane: u32) -> Parked {
    let of_pair = &tile.found.pairs[pair];
    Parked {
        bodies: [of_pair.a, of_pair.b].map(|slot| bodies.handle(slot as usize)),
        carried: carried(tile, lane),
        manifold: manifold_carried(tile, pair, lane),
    }
}

/// A pair of the old list, by its old slots: `low < high`.
#[derive(Clone, Debug, Default)]
struct Entry {
    low: u32,
    carried: Carried,
    claimed: Claimed,
}

impl Entry {
    /// Returns true if the pair touched and is not in the new list.
    fn is_lost(&self) -> bool {
        self.carried.touching && !self.claimed.0.load(Ordering::Relaxed)
    }
}

/// A flag that the one thread that finds the pair again sets.
#[derive(Debug, Default)]
struct Claimed(AtomicBool);

impl Clone for Claimed {
    fn clone(&self) -> Self {
        Claimed(AtomicBool::new(self.0.load(Ordering::Relaxed)))
    }
}

#[derive(Default)]
pub(crate) struct Carry {
    /// First entry of each old slot that was in a band, and then the number of entries.
    start: Vec<u32>,
    entries: Vec<Entry>,
    /// The higher slot of each entry, in a column of its own: a row of them is one load.
    high: Vec<u32>,
    /// As long as `entries` where there are contacts with a manifold, else empty.
    manifold: Vec<ManifoldCarried>,
    overflow: Vec<(u32, Entry, ManifoldCarried)>,
    /// First entry of each tile.
    tile_start: Vec<u32>,
    /// Handles by old slot, for the events.
    handle: Vec<BodyHandle>,
    /// Entries were taken, and not yet searched for contacts that have ended.
    pending: bool,
}

/// The impulses and flags of a tile's pairs, kept while its blocks are laid out anew.
#[derive(Default)]
pub(crate) struct Kept {
    carried: Vec<(u32, Carried)>,
    /// As long as `carried`, or empty if there are no contacts with a manifold.
    manifold: Vec<ManifoldCarried>,
}

impl Kept {
    /// Makes room for all that a tile of so many lanes may hold.
    pub(super) fn reserve(&mut self, lanes: usize, any_manifold: bool) {
        room_for(&mut self.carried, lanes);
        room_for(&mut self.manifold, if any_manifold { lanes } else { 0 });
    }

    /// Takes the values out of a tile's blocks.
    pub(super) fn take(&mut self, tile: &Tile) {
        self.reserve(tile.most_lanes(), !tile.manifold.is_empty());
        self.carried.clear();
        self.manifold.clear();
        for (pair, &lane) in tile.lane_of.iter().enumerate().filter(|&(_, &lane)| lane != NO_LANE) {
            self.carried.push((pair as u32, carried(tile, lane)));
            if !tile.manifold.is_empty() {
                self.manifold.push(manifold_carried(tile, pair, lane));
            }
        }
    }

    /// Writes the values to the new lanes of the same pairs.
    pub(super) fn give_back(&self, tile: &mut Tile) {
        for (index, &(pair, carried)) in self.carried.iter().enumerate() {
            let Some((block, lane)) = tile.place(pair as usize) else { continue };
            tile.normal[block].normal_impulse[lane] = carried.normal_impulse;
            tile.friction[block].tangent_impulse[lane] = carried.tangent_impulse;
            tile.info[block].touched |= u16::from(carried.touching) << lane;
            let place = tile.info[block].manifold as usize;
            let (Some(manifold), Some(of_manifold)) =
                (tile.manifold.get_mut(place), self.manifold.get(index))
            else {
                continue;
            };
            manifold.second.normal_impulse[lane] = of_manifold.normal_impulse;
            manifold.feature[0][lane] = of_manifold.feature[0];
            manifold.feature[1][lane] = of_manifold.feature[1];
            if of_manifold.struck {
                tile.normal[block].closing_speed[lane] = STRUCK;
            }
            if let Some(rough) = tile.rough.get_mut(place) {
                rough.rolling_impulse[lane] = of_manifold.rolling_impulse;
            }
        }
    }
}

fn manifold_carried(tile: &Tile, pair: usize, lane: u32) -> ManifoldCarried {
    let (block, lane) = (lane as usize / BLOCK, lane as usize % BLOCK);
    let place = tile.info[block].manifold as usize;
    let parts = tile.found.pairs[pair].parts;
    let Some(manifold) = tile.manifold.get(place) else {
        return ManifoldCarried { parts, ..ManifoldCarried::default() };
    };
    let landed = has_landed(tile, block, lane);
    let second = manifold.second.normal_impulse[lane];
    let bears = tile.normal[block].normal_impulse[lane].max(second) > 0.0;
    ManifoldCarried {
        normal_impulse: if landed { 0.0 } else { second },
        feature: manifold.feature.map(|feature| feature[lane]),
        rolling_impulse: tile.rough.get(place).map_or(0.0, |rough| rough.rolling_impulse[lane]),
        struck: landed && bears || tile.normal[block].closing_speed[lane] == STRUCK,
        parts,
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

/// Returns whether a lane's impulses are those of a blow in the last substep. These are not carried on: see
/// `solver/manifold.rs`.
#[inline(always)]
fn has_landed(tile: &Tile, block: usize, lane: usize) -> bool {
    if tile.info[block].manifold == NO_MANIFOLD {
        return false;
    }
    let manifold = &tile.manifold[tile.info[block].manifold as usize];
    tile.normal[block].closing_speed[lane].min(manifold.second.closing_speed[lane]) <= LANDED
}

/// Returns the lanes of a block that hold something: those that are active or touched.
fn holding(info: &BlockInfo) -> u16 {
    info.active | info.touched
}

/// Returns how many pairs of the tile hold something.
fn count_holding(tile: &Tile) -> usize {
    tile.info.iter().map(|info| holding(info).count_ones() as usize).sum()
}

/// Returns the pairs of the tile that hold something, in order, with their lanes.
#[inline(always)]
fn pairs_holding(tile: &Tile) -> impl Iterator<Item = (usize, &Pair, u32)> {
    let lanes = tile.found.pairs.iter().zip(&tile.lane_of).enumerate();
    lanes.filter_map(
        #[inline(always)]
        |(index, (pair, &lane))| {
            let holds = lane != NO_LANE
                && holding(&tile.info[lane as usize / BLOCK]) >> (lane as usize % BLOCK) & 1 == 1;
            holds.then_some((index, pair, lane))
        },
    )
}

/// Writes the entries of a tile to their places, which are the `range` of all entries. `start` gets the first entry of each slot of the
/// tile. The manifolds are empty if there are none.
fn take_tile(
    tile: &Tile,
    range: Range<usize>,
    start: &mut [u32],
    (entries, high, manifold): (&mut [Entry], &mut [u32], &mut [ManifoldCarried]),
) {
    let mut next_slot = tile.slots.start;
    for (i, (index, pair, lane)) in pairs_holding(tile).enumerate() {
        let entry = (range.start + i) as u32;
        while next_slot <= pair.a as usize {
            start[next_slot - tile.slots.start] = entry;
            next_slot += 1;
        }
        (high[i], entries[i]) = (pair.b, entry_of(tile, pair, lane));
        if let Some(manifold) = manifold.get_mut(i) {
            *manifold = manifold_carried(tile, index, lane);
        }
    }
    start[next_slot - tile.slots.start..].fill(range.end as u32);
}

fn entry_of(tile: &Tile, pair: &Pair, lane: u32) -> Entry {
    Entry { low: pair.a, carried: carried(tile, lane), claimed: Claimed::default() }
}

/// Returns true if a body is there, and is a compound.
fn has_parts(bodies: &Bodies, body: BodyHandle) -> bool {
    let kind = |slot: usize| bodies.columns.kind[slot].shape();
    bodies.slot_of(body).is_ok_and(|slot| kind(slot) == ShapeKind::Compound)
}

impl Carry {
    /// Forgets what was taken, for another list.
    pub(super) fn forget(&mut self) {
        self.pending = false;
    }

    /// Makes room for a list of so many pairs when it is made: the step that takes the list out must not allocate.
    pub(super) fn reserve(&mut self, pairs: usize, bodies: &Bodies) {
        room_for(&mut self.start, bodies.len + 1);
        room_for(&mut self.handle, bodies.len);
        room_for(&mut self.entries, pairs);
        room_for(&mut self.high, pairs);
        room_for(&mut self.manifold, if bodies.any_manifold { pairs } else { 0 });
    }

    /// Makes room for so many pairs of the overflow tile.
    pub(super) fn reserve_overflow(&mut self, pairs: usize) {
        room_for(&mut self.overflow, pairs);
    }

    /// Visits the pairs that touched and that the new list has not claimed: the old lower slot and the higher one, and what was known
    /// of them.
    fn lost_pairs(&self) -> impl Iterator<Item = ([u32; 2], Carried, ManifoldCarried)> {
        let one_shape = ManifoldCarried { parts: [NO_PART; 2], ..ManifoldCarried::default() };
        let banded = self.high.iter().zip(&self.entries).enumerate().map(move |(index, (&high, entry))| {
            (high, entry, self.manifold.get(index).copied().unwrap_or(one_shape))
        });
        let overflow = self.overflow.iter().map(|(high, entry, manifold)| (*high, entry, *manifold));
        banded
            .chain(overflow)
            .filter(|(_, entry, _)| entry.is_lost())
            .map(|(high, entry, manifold)| ([entry.low, high], entry.carried, manifold))
    }

    /// Moves what no pair of the last list has claimed to `woken`, if this was not yet reported. A step that wakes bodies makes a
    /// second list, and what the first one lost has yet to end.
    fn keep_lost(&self, woken: &mut Vec<Parked>) {
        if self.pending {
            woken.extend(self.lost_pairs().map(|(slots, carried, manifold)| Parked {
                bodies: slots.map(|slot| self.handle[slot as usize]),
                carried,
                manifold,
            }));
        }
    }

    /// Takes the entries out of the old blocks, and those of bodies that have woken since out of `woken`. What is left there lost a
    /// body.
    pub(super) fn take(
        &mut self,
        [tiles, overflow]: [&[Tile]; 2],
        woken: &mut Vec<Parked>,
        bodies: &Bodies,
        built: usize,
        crew: &Crew<'_>,
    ) {
        self.keep_lost(woken);
        resize(&mut self.tile_start, tiles.len());
        let mut total = 0;
        for (start, tile) in self.tile_start.iter_mut().zip(tiles) {
            *start = total as u32;
            total += count_holding(tile);
        }
        let banded = tiles.last().map_or(0, |tile| tile.slots.end);
        resize(&mut self.start, banded + 1);
        resize(&mut self.entries, total);
        resize(&mut self.high, total);
        self.start[banded] = total as u32;
        let any_manifold = tiles.iter().any(|tile| !tile.manifold.is_empty());
        resize(&mut self.manifold, if any_manifold { total } else { 0 });
        let manifold = SharedSlice::new(&mut self.manifold);
        let start = SharedSlice::new(&mut self.start);
        let entries = SharedSlice::new(&mut self.entries);
        let high = SharedSlice::new(&mut self.high);
        let tile_start = &self.tile_start;
        crew.run(tiles.len(), |i| {
            let tile = &tiles[i];
            let first = tile_start[i] as usize;
            let range = first..tile_start.get(i + 1).map_or(total, |&next| next as usize);
            #[allow(unsafe_code)]
            // SAFETY: each task takes the slots and entries of its own tile, and tiles have disjoint slots and entries.
            let (start, entries, high) = unsafe {
                (start.range(tile.slots.clone()), entries.range(range.clone()), high.range(range.clone()))
            };
            #[allow(unsafe_code)]
            // SAFETY: each task takes the entries of its own tile, and each entry belongs to one tile.
            let manifold = unsafe { manifold.range(if any_manifold { range.clone() } else { 0..0 }) };
            take_tile(tile, range, start, (entries, high, manifold));
        });
        self.take_overflow(overflow, woken, bodies, built);
        self.handle.clear();
        self.handle.extend_from_slice(&bodies.columns.handle[..built]);
        self.pending = true;
    }

    /// Takes the entries out of the overflow tiles, and those of bodies that have woken out of `woken`.
    fn take_overflow(&mut self, overflow: &[Tile], woken: &mut Vec<Parked>, bodies: &Bodies, built: usize) {
        self.overflow.clear();
        for tile in overflow {
            self.overflow.extend(pairs_holding(tile).map(|(index, pair, lane)| {
                (pair.b, entry_of(tile, pair, lane), manifold_carried(tile, index, lane))
            }));
        }
        woken.retain(|parked| {
            let entry = parked.entry(bodies, built);
            let known = entry.is_some();
            self.overflow.extend(entry);
            !known
        });
        self.overflow.sort_unstable_by_key(|(high, entry, manifold)| (entry.low, *high, manifold.parts));
    }

    /// Claims what the old list knew of a pair of old slots, and of these parts of their bodies. If it knew nothing,
    /// all values are 0.
    pub(super) fn claim(&self, [a, b]: [u32; 2], [part_a, part_b]: [u8; 2]) -> (Carried, ManifoldCarried) {
        let (low, high, parts) = if a < b { (a, b, [part_a, part_b]) } else { (b, a, [part_b, part_a]) };
        self.find(low, high, parts).map_or_else(Default::default, |(entry, manifold)| {
            entry.claimed.0.store(true, Ordering::Relaxed);
            (entry.carried, manifold)
        })
    }

    fn find(&self, low: u32, high: u32, parts: [u8; 2]) -> Option<(&Entry, ManifoldCarried)> {
        if !self.pending {
            return None;
        }
        if (low as usize) + 1 < self.start.len() {
            let row = self.start[low as usize] as usize..self.start[low as usize + 1] as usize;
            if let Some(place) = self.high[row.clone()].iter().position(|&other| other == high) {
                let first = row.start + place;
                if self.manifold.is_empty() {
                    // A body that got parts since then has other contacts.
                    let same_shapes = parts == [NO_PART; 2];
                    return same_shapes.then(|| (&self.entries[first], ManifoldCarried::default()));
                }
                let same_pair = (first..row.end).take_while(|&index| self.high[index] == high);
                let found = same_pair.into_iter().find(|&index| self.manifold[index].parts == parts);
                if let Some(index) = found {
                    return Some((&self.entries[index], self.manifold[index]));
                }
            }
        }
        if self.overflow.is_empty() {
            return None;
        }
        let key = (low, high, parts);
        let place = self
            .overflow
            .binary_search_by_key(&key, |(high, entry, manifold)| (entry.low, *high, manifold.parts));
        place.ok().map(|place| (&self.overflow[place].1, self.overflow[place].2))
    }

    /// Reports the touching pairs that were not claimed, once. Each is an end event; but if one body is a compound, it
    /// goes to `changed`, since other shapes of the two may still touch.
    pub(super) fn lost(&mut self, bodies: &Bodies, end: &mut Vec<ContactEvent>, changed: &mut Vec<Changed>) {
        if !std::mem::take(&mut self.pending) {
            return;
        }
        for (slots, _, manifold) in self.lost_pairs() {
            let [a, b] = slots.map(|slot| self.handle[slot as usize]);
            // A body may have become a compound since then.
            if manifold.parts != [NO_PART; 2] || has_parts(bodies, a) || has_parts(bodies, b) {
                changed.push(Changed::lost(a, b));
            } else {
                end.push(ContactEvent::of(a, b));
            }
        }
    }
}
