//! Pairs of bodies that are paired anew, while the list lives on.
//!
//! Such a pair goes to the tile of its first body, if its second is there, in the next, or ground, as those of a new list do: in the order of
//! the list, as a candidate if both bodies move, and with a lane in a block in reserve if one of them is fixed. So it is solved by
//! lanes, at the time of its tile's others. Where the reserve is used up, the tile's blocks are laid out anew. What reaches further
//! goes to the overflow tile.
//!
//! As long as all of them went to the overflow tile, where one contact is solved after the other, no more than one body in 256
//! could be paired anew in a step, and what tumbled or came down had a new list in most. A mean step at one thread then and now: 8,100 boxes in
//! a drum 9.0 ms and 7.6, 8,000 bodies of six shapes 7.8 and 6.6 (`granule run washer --bodies 8100 --threads 1 --warmup 200 --steps 240`,
//! `junkyard` with 8,000 and 120; commit 6041299 and the two after it, an Intel Xeon of 2 cores).

use super::build::Build;
use super::{Contacts, List, NO_LANE, Tile, key};
use crate::broadphase::sweep::Pair;
use crate::crew::Crew;

impl Contacts {
    /// Adds these pairs of any two bodies, but for those that the list has already. Puts them in order.
    pub(crate) fn insert(&mut self, list: &List<'_>, pairs: &mut Vec<Pair>, crew: &Crew<'_>) {
        pairs.sort_unstable_by_key(key);
        pairs.dedup_by(|one, other| key(one) == key(other));
        let far = self.overflow.found.pairs.len();
        let known = self.overflow_keys.len();
        let mut tile = 0;
        // Large ones that nothing moves are read by all tiles.
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
                // Better than a tile laid out anew for the first that comes to the ground there.
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
            build.again(&mut self.overflow, &[], false);
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
            self.again(tile, &places, true);
        }
        added.clear();
        (tile.scratch.added, tile.scratch.born) = (added, places);
    }
}

impl Tile {
    /// Merges pairs, in order and none of them known, into those of the list. `places` is where they are in it afterwards. They
    /// have no lanes.
    fn merge(&mut self, added: &[Pair], places: &mut Vec<u32>) {
        let Tile { found, lane_of, candidates, scratch, .. } = self;
        let (pairs, renumbered) = (&mut found.pairs, &mut scratch.sorted);
        let old = pairs.len();
        renumbered.clear();
        renumbered.resize(old, 0);
        pairs.extend_from_slice(added);
        lane_of.resize(old + added.len(), NO_LANE);
        places.clear();
        // From behind, so that nothing is overwritten that is still to be moved.
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
