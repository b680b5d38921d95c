//! The memory that tiles hold ready.
//!
//! Bodies wander from tile to tile, so the past need of a tile says little about its future need. The need of any tile
//! of the world says much, as all have about the same number of bodies. So when a list is made, each tile gets room for
//! twice the most that any tile has needed so far. A tile then allocates only when it needs that much more than any
//! before, which is rare unless the whole world has more pairs than before. The most counts only up to four times the
//! mean, so that the other tiles do not pay for one heap. A world of few bodies gets a quarter more than it needs: it has one tile, and there
//! may be thousands of such worlds.
//!
//! At first, tiles had room for a quarter more than the *mean*: 1,000 bodies of `pile` allocated 1.3 to 2.9 times a
//! step while they fell.
//!
//! A vector that grows is copied to memory that was never touched. Where 20,000 boxes came down, growing took 6 to 15
//! ms of a step of 25 ms, in four steps. So a room that must grow doubles, and only a few tiles get their room at a
//! time. (Room for a dense pile in all tiles from the first list on took 24 ms at once.)

use super::{BLOCK, Tile};
use crate::base::room::{at_least, quarter_more};
use crate::body::Bodies;
use crate::broadphase::looks_ahead;
use crate::broadphase::sweep::Found;

/// The lengths of a tile's vectors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// The bodies that the tile may write.
    bodies: usize,
    pub(super) pairs: usize,
    pub(super) blocks: usize,
    manifolds: usize,
    candidates: usize,
    /// The lengths of two vectors of `Found`.
    overflow: usize,
    large: usize,
}

crate::base::codec::stored!(Room { bodies, pairs, blocks, manifolds, candidates, overflow, large });

impl Room {
    /// Returns true if no length is above a limit.
    pub(super) fn is_within(&self, most: usize) -> bool {
        let Room { bodies, pairs, blocks, manifolds, candidates, overflow, large } = *self;
        [bodies, pairs, blocks, manifolds, candidates, overflow, large].into_iter().all(|len| len <= most)
    }

    /// No length is above a limit.
    pub(super) fn at_most(self, most: usize) -> Room {
        self.merge(Room::default(), |len, _| len.min(most))
    }

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

    /// Returns the room for pairs of bodies that become loose.
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

    /// Grows each length of which one of these tiles needs more than it holds: to a multiple of the need, so that
    /// growth is rare. `bodies` are those of the world. (A length that no tile needs stays 0: most worlds have no contacts
    /// with a manifold, or no large bodies that move.)
    pub(super) fn fit(&mut self, tiles: &[Tile], overflow: bool, bodies: usize) {
        // The contacts of a load that tumbles in a drum come to the overflow tile all at once.
        let times = if overflow { 4 } else { 2 };
        let most = tiles.iter().fold(Room::default(), |most, tile| most.max(Room::of(tile)));
        let sum = tiles.iter().fold(Room::default(), |sum, tile| sum.merge(Room::of(tile), |a, b| a + b));
        let fair = sum.merge(sum, |sum, _| 4 * sum / tiles.len().max(1));
        let needed = most.merge(fair, usize::min);
        let grow = |room: usize, need: usize| match need > room {
            true if bodies <= FEW_BODIES => quarter_more(need),
            true => times * need + BLOCK,
            false => room,
        };
        let grown = self.merge(needed, grow);
        // A block is large: a world would hold more spare blocks than blocks.
        let blocks =
            |room: usize, need: usize| grow(room, need).min(room.max(times * need + 4 + bodies / 16));
        *self = Room {
            blocks: blocks(self.blocks, needed.blocks),
            manifolds: blocks(self.manifolds, needed.manifolds),
            ..grown
        };
        // Pairs are small, and a few pairs soon become many. The overflow tile has none in most worlds.
        let pairs = if overflow && bodies <= FEW_BODIES { 0 } else { (4 * bodies).min(MIN_PAIRS) };
        self.pairs = self.pairs.max(pairs);
        // Lists that live for one step have none, and one that is to last may follow.
        let candidates = if bodies > FEW_BODIES { self.pairs / (2 * BLOCK) } else { 0 };
        self.candidates = self.candidates.max(pairs / BLOCK).max(candidates);
        self.large = self.large.max(pairs);
        if tiles.len() <= FEW {
            // All candidates may come near.
            self.blocks = self.blocks.max(self.pairs / BLOCK);
            self.manifolds = if self.manifolds > 0 { self.manifolds.max(self.blocks) } else { 0 };
        }
    }
}

const MIN_PAIRS: usize = 8 * BLOCK;
/// Up to so many bodies, a world gets room for what it needs and little more.
const FEW_BODIES: usize = 64;
/// Up to so many tiles (some 10,000 bodies), memory is cheap, and the needs of tiles differ much.
const FEW: usize = 32;

/// Returns how many of so many tiles get their room when a list is made: up to sixteen tiles, all; of more, one in
/// sixteen but no fewer than four, as making room takes time. (With sixteen of 65 at once, a step took 36 ms where
/// 20,000 boxes came down, and 15 ms with four.)
pub(super) fn share(tiles: usize) -> usize {
    if tiles <= 16 { tiles } else { (tiles / 16).max(4) }
}

impl Tile {
    /// Returns whether the tile has that much room.
    pub(super) fn has(&self, room: &Room, bodies: &Bodies) -> bool {
        let holds =
            |found: &Found| found.pairs.capacity() >= room.pairs && found.holds(room.overflow, room.large);
        holds(&self.found)
            && (!looks_ahead(bodies.len) || holds(&self.ahead))
            && self.info.capacity() >= room.blocks
            && self.manifold.capacity() >= room.manifolds
            && self.candidates.capacity() >= room.candidates
            && self.scratch.holds(room.bodies, room.blocks * BLOCK, room.pairs)
    }

    /// Gives the tile that much room.
    pub(super) fn reserve(&mut self, room: &Room, bodies: &Bodies) {
        let ahead = looks_ahead(bodies.len).then_some(&mut self.ahead);
        for found in [&mut self.found].into_iter().chain(ahead) {
            at_least(&mut found.pairs, room.pairs);
            found.reserve(room.overflow, room.large);
        }
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
        if room.manifolds > 0 {
            let has_parts = !bodies.compounds.is_empty();
            let lanes = room.manifolds * BLOCK / if has_parts { 4 } else { 16 };
            let unsorted = if has_parts && self.slots.is_empty() { room.pairs } else { 0 };
            self.bundles.get_or_insert_default().reserve(lanes, unsorted);
        }
    }
}
