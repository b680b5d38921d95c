//! Colours the pairs of a tile: pairs of one class and colour share no body that moves, so that the lanes of their
//! blocks are solved side by side.
//!
//! Most tiles have some hundred bodies, and the colours that these have taken are cleared for each class. The pairs of
//! the overflow tile are of any bodies, mostly of boulders, each with many contacts. Only the bodies of its pairs are
//! cleared.

use super::Tile;
use super::build::{Build, CLASSES, Scratch};
use crate::base::colours::pick;
use crate::base::room::resize;
use crate::broadphase::sweep::Pair;

/// The number of colours of a tile. A pair for which all are taken goes to the kind's serial blocks, as colour
/// `SERIAL`; a body needs more than 62 neighbours for that. (A boulder in gravel of a twentieth of its size has 70.)
pub(super) const COLOURS: usize = 63;
pub(crate) const SERIAL: usize = COLOURS;
/// A colour of the overflow tile with fewer pairs is solved serially: a block with one lane or two in use takes the
/// memory of sixteen, and the time of one vector.
const THIN: u32 = 3;

/// Which bodies the pairs of a tile may have.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// Those of the tile and of the next one. Pairs that are not near are candidates.
    Near,
    /// Any two: this is the overflow tile. All its pairs have lanes.
    Anywhere,
}

impl Build<'_> {
    /// Colours the pairs that have lanes, and counts those of each class and colour.
    pub(super) fn colour(
        &self,
        tile: &Tile,
        scratch: &mut Scratch,
        buckets: &[u32; CLASSES + 1],
        counts: &mut [[u32; COLOURS + 1]; CLASSES],
        reach: Reach,
    ) {
        let Scratch { taken, sorted, colour, .. } = scratch;
        let pairs = &tile.found.pairs;
        resize(colour, sorted.len());
        let first = match reach {
            Reach::Near => {
                taken.clear();
                resize(taken, tile.next_end - tile.slots.start);
                tile.slots.start
            }
            Reach::Anywhere => {
                resize(taken, if pairs.is_empty() { 0 } else { self.bodies.len });
                0
            }
        };
        for (buckets, counts) in buckets.windows(2).zip(counts) {
            let range = buckets[0] as usize..buckets[1] as usize;
            if range.is_empty() {
                continue;
            }
            let (sorted, colour) = (&sorted[range.clone()], &mut colour[range]);
            if reach == Reach::Near {
                taken.fill(0);
            }
            for (&index, colour) in sorted.iter().zip(&mut *colour) {
                *colour = pick_colour(taken, first, &pairs[index as usize]) as u8;
                counts[usize::from(*colour)] += 1;
            }
            if reach == Reach::Anywhere {
                for &index in sorted {
                    let pair = &pairs[index as usize];
                    (taken[pair.a as usize], taken[pair.b as usize]) = (0, 0);
                }
                join_thin(colour, counts);
            }
        }
    }
}

/// Makes the pairs of colours that few have serial.
fn join_thin(colour: &mut [u8], counts: &mut [u32; COLOURS + 1]) {
    let (coloured, serial) = counts.split_at_mut(SERIAL);
    if coloured.iter().all(|&count| count == 0 || count >= THIN) {
        return;
    }
    for colour in colour {
        if coloured.get(usize::from(*colour)).is_some_and(|&count| count < THIN) {
            *colour = SERIAL as u8;
            serial[0] += 1;
        }
    }
    coloured.iter_mut().filter(|count| **count < THIN).for_each(|count| *count = 0);
}

/// Picks the lowest colour that is free at both bodies; at A alone if B is fixed.
#[inline]
fn pick_colour(taken: &mut [u64], first: usize, pair: &Pair) -> usize {
    let (low, high) = (pair.a as usize - first, (pair.b as usize).wrapping_sub(first));
    if pair.kind.is_fixed() {
        let moving = if pair.swap { high } else { low };
        return pick(taken, std::iter::once(moving), COLOURS);
    }
    pick(taken, [low, high].into_iter(), COLOURS)
}
