//! The answers of batches, in memory that a host keeps from batch to batch.

use super::order::Order;
use crate::broadphase::discs::DiscTree;

/// The answers of a batch of which each query has at most one, in the order of the queries: see [`World::cast_rays`](crate::World::cast_rays).
///
/// Keep it for the next batch: once it has been used for a batch that was as large, it allocates nothing.
#[derive(Default)]
pub struct BatchFirst<T> {
    pub(super) found: Vec<Option<T>>,
    pub(super) order: Order,
    pub(super) discs: DiscTree,
}

/// The answers of a batch, compressed: those of all queries, one query after the other, and where each query's begin. See
/// [`World::overlap_aabbs`](crate::World::overlap_aabbs).
///
/// Keep it for the next batch: once it has been used for a batch that was as large, it allocates nothing.
#[derive(Default)]
pub struct BatchHits<T> {
    pub(super) offsets: Vec<usize>,
    pub(super) hits: Vec<T>,
    pub(super) runs: Vec<AnswerRun<T>>,
    pub(super) order: Order,
    pub(super) discs: DiscTree,
}

/// The answers of a run of queries.
pub(super) struct AnswerRun<T> {
    /// Where each query's answers end.
    pub(super) ends: Vec<usize>,
    pub(super) hits: Vec<T>,
}

impl<T> Default for AnswerRun<T> {
    fn default() -> Self {
        AnswerRun { ends: Vec::new(), hits: Vec::new() }
    }
}

impl<T> BatchFirst<T> {
    /// No answers.
    pub fn new() -> Self {
        BatchFirst { found: Vec::new(), order: Order::default(), discs: DiscTree::default() }
    }

    /// The answer of each query of the last batch.
    pub fn answers(&self) -> &[Option<T>] {
        &self.found
    }
}

impl<T> BatchHits<T> {
    /// No answers.
    pub fn new() -> Self {
        BatchHits {
            offsets: Vec::new(),
            hits: Vec::new(),
            runs: Vec::new(),
            order: Order::default(),
            discs: DiscTree::default(),
        }
    }

    /// The number of queries of the last batch.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns true if the last batch had no queries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The answers of one query, by its place in the batch. Empty if there is no such query.
    pub fn of(&self, query: usize) -> &[T] {
        let ends =
            query.checked_add(1).and_then(|next| Some((self.offsets.get(query)?, self.offsets.get(next)?)));
        ends.map_or(&[], |(&start, &end)| &self.hits[start..end])
    }

    /// The answers of each query, in the order of the queries.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> + '_ {
        self.offsets.windows(2).map(|ends| &self.hits[ends[0]..ends[1]])
    }

    /// Where the answers of each query begin in [`hits`](BatchHits::hits), and at last their number.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The answers of all queries.
    pub fn hits(&self) -> &[T] {
        &self.hits
    }
}
