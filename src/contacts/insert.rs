//! Adds the pairs of bodies that are paired anew, while the list lives on.
//!
//! Such a pair goes to the tile of its first body if the second body is in that tile, in the next one, or is a large
//! body that nothing moves. There it is treated like a pair of a new list. It keeps the order of the list. It becomes a
//! candidate if both bodies move, and gets a lane in a reserve block if one is fixed. So it is solved by lanes,
//! together with the tile's other pairs. If the reserve is used up, the tile's blocks are laid out anew. A pair that
//! reaches further goes to the overflow tile.
//!
//! Before, all these pairs went to the overflow tile, where one contact is solved after the other. Then no more than
//! one body in 256 could be paired anew in a step, and scenes that tumble or come down had a new list in most steps.
//! Mean step at one thread, before and now: 8,100 boxes in a drum 9.0 and 7.6 ms, 8,000 bodies of six shapes 7.8 and
//! 6.6 ms (`granule run washer --bodies 8100 --threads 1 --warmup 200 --steps 240`, `junkyard` with 8,000 and 120;
//! commit 6041299 and the two after it, an Intel Xeon of 2 cores).

use super::build::Build;
use super::colour::Reach;
use super::{Contacts, List, NO_LANE, Tile, key};
use crate::broadphase::sweep::Pair;
use crate::crew::Crew;

impl Contacts {
    /// Adds these pairs of any two bodies, except for those that the list already has. Sorts `pairs`.
    pub(crate) fn insert(&mut self, list: &List<'_>, pairs: &mut Vec<Pair>, crew: &Crew<'_>) {
        pairs.sort_unstable_by_key(key);
        pairs.dedup_by(|one, other| key(one) == key(other));
        let far = self.overflow.found.pairs.len();
        let known = self.overflow_keys.len();
        let mut tile = 0;
        // All tiles may read large bodies that nothing moves.
        let large = list.broadphase.bands.banded..list.broadphase.listed;
        let inv_mass = &list.bodies.columns.inv_mass;
        let is_ground = |slot: u32| large.contains(&(slot as usize)) && inv_mass[slot as usize] == 0.0;
        for pair in &*pairs {
            while tile < self.active_tiles && self.tiles[tile].slots.end <= pair.a as usize {
                tile += 1;
            }
            if self.overflow_keys[..known].binary_search_by_key(&key(pair), |(key, _)| *key).is_ok() {
                continue;
            }
            let is_near = |tile: &&mut Tile| (pair.b as usize) < tile.next_end || is_ground(pair.b);
            let tile = self.tiles[..self.active_tiles].get_mut(tile).filter(is_near);
            if let Some(tile) = tile {
                if tile.found.pairs.binary_search_by_key(&key(pair), key).is_ok() {
                    continue;
                }
                // A pair with a fixed body that finds no free lane goes to the overflow tile: laying out the whole tile
                // for the first body that comes to the ground there costs more.
                if !pair.kind.is_fixed() || tile.free_lane(pair).is_some() {
                    tile.scratch.added.push(*pair);
                    continue;
                }
            }
            self.overflow_keys.push((key(pair), self.overflow.found.pairs.len() as u32));
            self.overflow.found.pairs.push(*pair);
        }
        self.overflow_keys.sort_unstable();
        let build = list.build(&self.carry, &self.spare);
        crew.for_each(&mut self.tiles[..self.active_tiles], |_, tile| build.insert(tile));
        if self.overflow.found.pairs.len() > far {
            build.again(&mut self.overflow, &[], Reach::Anywhere);
            self.make_far_room(list);
        }
    }
}

impl Build<'_> {
    /// Adds the pairs in `added` to a tile.
    fn insert(&self, tile: &mut Tile) {
        if tile.scratch.added.is_empty() {
            return;
        }
        let mut added = std::mem::take(&mut tile.scratch.added);
        let mut places = std::mem::take(&mut tile.scratch.born);
        tile.merge(&added, &mut places);
        let mut coefficients = self.coefficients();
        let mut complete = true;
        places.retain(|&index| {
            let pair = tile.found.pairs[index as usize];
            if !pair.kind.is_fixed() {
                complete &= self.add_candidate(tile, index);
                return false;
            }
            let Some(place) = tile.free_lane(&pair) else { return true };
            tile.info[place.0].count += 1;
            self.write_lane(tile, &mut coefficients, index as usize, place, Default::default());
            false
        });
        if !complete || !places.is_empty() {
            self.again(tile, &places, Reach::Near);
        }
        added.clear();
        (tile.scratch.added, tile.scratch.born) = (added, places);
    }
}

impl Tile {
    /// Merges sorted new pairs into those of the list; none of them is in the list already. Writes their places in the
    /// list to `places`. They have no lanes.
    fn merge(&mut self, added: &[Pair], places: &mut Vec<u32>) {
        let Tile { found, lane_of, candidates, scratch, .. } = self;
        let (pairs, renumbered) = (&mut found.pairs, &mut scratch.sorted);
        let old = pairs.len();
        renumbered.clear();
        renumbered.resize(old, 0);
        pairs.extend_from_slice(added);
        lane_of.resize(old + added.len(), NO_LANE);
        places.clear();
        // From the end, so that no pair is overwritten before it is moved.
        let mut end = old;
        for (before, pair) in added.iter().enumerate().rev() {
            let first = pairs[..end].partition_point(|other| key(other) < key(pair));
            let place = first + before;
            pairs.copy_within(first..end, place + 1);
            lane_of.copy_within(first..end, place + 1);
            (pairs[place], lane_of[place]) = (*pair, NO_LANE);
            places.push(place as u32);
            for (moved, to) in renumbered[first..end].iter_mut().zip(place as u32 + 1..) {
                *moved = to;
            }
            end = first;
        }
        places.reverse();
        let moved = candidates.iter_mut().flat_map(|block| &mut block.pair);
        for pair in moved.filter(|pair| **pair != u32::MAX && **pair as usize >= end) {
            *pair = renumbered[*pair as usize];
        }
    }
}
