//! How much memory tiles have.
//!
//! Bodies wander from tile to tile, and what a tile has needed so far says little of what it will need. What any tile of the
//! world has needed says much, as all have about the same number of bodies. So when a list is made, each tile gets room for
//! twice the most that a tile ever needed: a tile allocates only when it needs that much more than any before. That
//! is hardly ever so unless there is more in the whole world than there was. But no tile gets room for more than four times the mean, lest one
//! heap is paid for by all others.
//!
//! With room for a quarter more than the *mean*, as it was at first, 1,000 bodies of `pile` allocated 1.3 to 2.9 times a step
//! while they fell.
//!
//! What grows is copied, to memory that was never touched: where 20,000 boxes came down, growing took 6 to 15 ms of a step of 25,
//! four times. So what must grow doubles, and tiles get their room a few at a time. (Room for a dense pile in all tiles from
//! the first list on took 24 ms at once.)

use super::{BLOCK, Tile};
use crate::base::room::at_least;
use crate::body::Bodies;

/// Lengths of a tile's vectors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// Those that it may write.
    bodies: usize,
    pub(super) pairs: usize,
    pub(super) blocks: usize,
    manifolds: usize,
    candidates: usize,
    /// See `Found`.
    overflow: usize,
    large: usize,
}

impl Room {
    fn of(tile: &Tile) -> Room {
        Room {
            bodies: tile.next_end.saturating_sub(tile.slots.start),
            pairs: tile.found.pairs.len(),
            blocks: tile.info.len(),
            manifolds: tile.manifold.len(),
            candidates: tile.candidates.len(),
            overflow: tile.found.overflow.len(),
            large: tile.found.large_len(),
        }
    }

    /// For pairs of bodies that become loose.
    pub(super) fn of_loose(pairs: usize, blocks: usize, any_manifold: bool) -> Room {
        Room { pairs, blocks, manifolds: if any_manifold { blocks } else { 0 }, ..Room::default() }
    }

    fn merge(self, other: Room, merge: impl Fn(usize, usize) -> usize) -> Room {
        Room {
            bodies: merge(self.bodies, other.bodies),
            pairs: merge(self.pairs, other.pairs),
            blocks: merge(self.blocks, other.blocks),
            manifolds: merge(self.manifolds, other.manifolds),
            candidates: merge(self.candidates, other.candidates),
            overflow: merge(self.overflow, other.overflow),
            large: merge(self.large, other.large),
        }
    }

    pub(super) fn max(self, other: Room) -> Room {
        self.merge(other, usize::max)
    }

    /// Grows where one of these tiles needs more than this: then to so many times what it needs, so that it is rare. (To nothing
    /// for what there is none of: most worlds have no contacts with a manifold, or no large bodies that move.)
    pub(super) fn fit(&mut self, tiles: &[Tile], times: usize) {
        let most = tiles.iter().fold(Room::default(), |most, tile| most.max(Room::of(tile)));
        let sum = tiles.iter().fold(Room::default(), |sum, tile| sum.merge(Room::of(tile), |a, b| a + b));
        let fair = sum.merge(sum, |sum, _| 4 * sum / tiles.len().max(1));
        let needed = most.merge(fair, usize::min);
        *self = self.merge(needed, |room, need| if need > room { times * need + BLOCK } else { room });
        // Pairs are small, and of a few there are soon many.
        self.pairs = self.pairs.max(MIN_PAIRS);
        self.candidates = self.candidates.max(MIN_PAIRS / BLOCK);
        self.large = self.large.max(MIN_PAIRS);
        if tiles.len() <= FEW {
            // All candidates may come near.
            self.blocks = self.blocks.max(self.pairs / BLOCK);
            self.manifolds = if self.manifolds > 0 { self.manifolds.max(self.blocks) } else { 0 };
        }
    }
}

const MIN_PAIRS: usize = 8 * BLOCK;
/// Up to so many tiles, of some 10,000 bodies, memory is cheap and what one tile needs differs much from what the next does.
const FEW: usize = 32;

/// How many of so many tiles get their room when a list is made: all of a small world's; else one in sixteen, as that
/// takes time. (With sixteen at once of 65, a step took 36 ms where 20,000 boxes came down, and 15 with four.)
pub(super) fn share(tiles: usize) -> usize {
    if tiles <= 16 { tiles } else { (tiles / 16).max(4) }
}

impl Tile {
    /// Whether there is room for so much.
    pub(super) fn has(&self, room: &Room) -> bool {
        self.found.pairs.capacity() >= room.pairs
            && self.info.capacity() >= room.blocks
            && self.manifold.capacity() >= room.manifolds
            && self.candidates.capacity() >= room.candidates
            && self.scratch.holds(room.bodies, room.blocks * BLOCK, room.pairs)
            && self.found.holds(room.overflow, room.large)
    }

    /// Makes room for so much.
    pub(super) fn reserve(&mut self, room: &Room, bodies: &Bodies) {
        at_least(&mut self.found.pairs, room.pairs);
        self.found.reserve(room.overflow, room.large);
        at_least(&mut self.lane_of, room.pairs);
        self.scratch.reserve(room.bodies, room.blocks * BLOCK, room.pairs);
        at_least(&mut self.candidates, room.candidates);
        at_least(&mut self.info, room.blocks);
        at_least(&mut self.normal, room.blocks);
        at_least(&mut self.friction, room.blocks);
        at_least(&mut self.manifold, room.manifolds);
        if bodies.any_restitution {
            at_least(&mut self.bounce, room.blocks);
        }
        if bodies.any_rough {
            at_least(&mut self.rough, room.manifolds);
        }
    }
}
