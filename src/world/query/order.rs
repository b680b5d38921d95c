//! The order in which a batch asks its queries.

use super::near::Near;
use crate::base::room::{make_room, resize};
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
    /// Orders queries by where they begin; 0 of them, if they stay in their own order.
    pub(super) fn sort(&mut self, near: &Near<'_>, count: usize, begin: impl Fn(usize) -> Vec2) {
        make_room(&mut self.keys, count);
        self.keys.extend((0..count).map(|query| near.region(begin(query)) << 32 | query as u64));
        if count <= MOST_ORDERED {
            self.keys.sort_unstable();
        }
    }

    /// Whether the queries are in their own order.
    pub(super) fn is_given(&self) -> bool {
        self.keys.is_empty() || self.keys.len() > MOST_ORDERED
    }

    /// The query at a place.
    pub(super) fn query(&self, place: usize) -> usize {
        // The number is in the lower half.
        if self.is_given() { place } else { self.keys[place] as u32 as usize }
    }

    /// Finds the places of all queries.
    pub(super) fn invert(&mut self) {
        if !self.is_given() {
            resize(&mut self.places, self.keys.len());
            for (place, &key) in self.keys.iter().enumerate() {
                self.places[key as u32 as usize] = place as u32;
            }
        }
    }

    /// The place of a query.
    pub(super) fn place(&self, query: usize) -> usize {
        if self.is_given() { query } else { self.places[query] as usize }
    }
}
