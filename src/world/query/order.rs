//! The order in which a batch asks its queries, and that of what a query finds.

use super::near::Near;
use super::overlap::BodyPart;
use crate::base::room::{make_room, resize};
use crate::isa::Level;
use crate::lane::{Lane, lane_entry, with_lanes};
use glam::Vec2;

/// A larger batch is asked in its own order.
const MOST_ORDERED: usize = u32::MAX as usize;

/// Queries in the order of place: those that look at the same bodies follow each other, so that these are in the caches.
#[derive(Default)]
pub(super) struct Order {
    /// The region of each query, and in the lower half its number.
    keys: Vec<u64>,
    /// The place of each query in this order, for those who ask.
    places: Vec<u32>,
}

impl Order {
    /// Orders queries by where they begin.
    pub(super) fn sort(&mut self, near: &Near<'_>, count: usize, begin: impl Fn(usize) -> Vec2) {
        make_room(&mut self.keys, count);
        self.keys.extend((0..count).map(|query| near.region(begin(query)) << 32 | query as u64));
        if count <= MOST_ORDERED {
            self.keys.sort_unstable();
        }
    }

    /// The query at a place.
    pub(super) fn query(&self, place: usize) -> usize {
        // The number is in the lower half, if there are not too many.
        if self.keys.len() <= MOST_ORDERED { self.keys[place] as u32 as usize } else { place }
    }

    /// Finds the places of all queries.
    pub(super) fn invert(&mut self) {
        if self.keys.len() <= MOST_ORDERED {
            resize(&mut self.places, self.keys.len());
            for (place, &key) in self.keys.iter().enumerate() {
                self.places[key as u32 as usize] = place as u32;
            }
        }
    }

    /// The place of a query.
    pub(super) fn place(&self, query: usize) -> usize {
        if self.keys.len() <= MOST_ORDERED { self.places[query] as usize } else { query }
    }
}

/// Sorts parts, of which no two are the same.
///
/// Few are sorted by rank: the place of each is the number of those that are less. All are compared with all, in lanes and without a
/// branch. (An insertion sort of sixteen took 50 ns, a sixth of a box in a batch.)
pub(super) fn sort_parts(level: Level, parts: &mut [BodyPart]) {
    match parts.len() {
        0..=1 => {}
        2..=16 => with_lanes!(level, L => sort_by_rank::<L, 16>(parts)),
        17..=32 => with_lanes!(level, L => sort_by_rank::<L, 32>(parts)),
        _ => parts.sort_unstable(),
    }
}

lane_entry! {
    fn sort_by_rank[const N: usize][N](parts: &mut [BodyPart]) = sort_by_rank_lanes;
}

#[inline(always)]
fn sort_by_rank_lanes<L: Lane, const N: usize>(parts: &mut [BodyPart]) {
    let (mut keys, mut ranks) = ([i64::MAX; N], [0i64; N]);
    let mut copies = [BodyPart { body: Default::default(), part: 0 }; N];
    for ((key, copy), &part) in keys.iter_mut().zip(&mut copies).zip(&*parts) {
        // One body has one index at a time.
        *key = i64::from(part.body.index()) << 8 | i64::from(part.part);
        *copy = part;
    }
    for i in 0..parts.len().min(N) {
        let key = keys[i];
        for (rank, &other) in ranks.iter_mut().zip(&keys) {
            *rank += i64::from(key < other);
        }
    }
    for (&copy, &rank) in copies.iter().zip(&ranks).take(parts.len()) {
        parts[rank as usize] = copy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Contract: parts are sorted by body and part, at every level and in any number.
        #[test]
        fn parts_are_sorted(keys in prop::collection::btree_set((0u32..60, 0u8..3), 0..70), seed in any::<usize>()) {
            let expected: Vec<BodyPart> = keys
                .iter()
                .map(|&(index, part)| BodyPart { body: crate::BodyHandle { index, generation: 7 * index }, part })
                .collect();
            for level in Level::available() {
                let mut parts = expected.clone();
                let len = parts.len();
                for i in 1..len {
                    parts.swap(i, seed.wrapping_mul(i + 1) % (i + 1));
                }
                sort_parts(level, &mut parts);
                prop_assert_eq!(&parts, &expected);
            }
        }
    }
}
