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
/// `SERIAL`; a body needs more than 62 neighbours for that. (A circle among circles of a twentieth of its size has room for 65.)
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

/// How many pairs of a class have each colour.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    /// By colour, the serial pairs last. When the blocks are laid out, the first lane of each.
    pub lanes: [u32; COLOURS + 1],
    /// No colour from this one on has a pair. (Most classes use few of the 63.)
    colours: u32,
}

impl Counts {
    pub(super) const NONE: Counts = Counts { lanes: [0; COLOURS + 1], colours: 0 };

    /// The colours that may have pairs, and the serial one.
    pub(super) fn in_use(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.colours as usize).chain([SERIAL])
    }

    /// Finds the colours. Each pair has the lowest free one, so that there are no gaps between them, but for those that thin ones leave.
    fn find_colours(&mut self, reach: Reach) {
        let coloured = &self.lanes[..SERIAL];
        self.colours = match reach {
            Reach::Near => coloured.iter().position(|&count| count == 0).unwrap_or(SERIAL) as u32,
            Reach::Anywhere => {
                coloured.iter().rposition(|&count| count > 0).map_or(0, |last| last as u32 + 1)
            }
        };
    }
}

impl Build<'_> {
    /// Colours the pairs that have lanes, and counts those of each class and colour.
    pub(super) fn colour(
        &self,
        tile: &Tile,
        scratch: &mut Scratch,
        buckets: &[u32; CLASSES + 1],
        counts: &mut [Counts; CLASSES],
        reach: Reach,
    ) {
        let Scratch { taken, sorted, colour, .. } = scratch;
        let pairs = &tile.found.pairs;
        resize(colour, sorted.len());
        let (first, bodies) = match reach {
            Reach::Near => (tile.slots.start, tile.next_end - tile.slots.start),
            Reach::Anywhere => (0, if pairs.is_empty() { 0 } else { self.bodies.len }),
        };
        if reach == Reach::Anywhere {
            resize(taken, bodies);
        }
        for (buckets, counts) in buckets.windows(2).zip(counts) {
            let range = buckets[0] as usize..buckets[1] as usize;
            if range.is_empty() {
                continue;
            }
            let (sorted, colour) = (&sorted[range.clone()], &mut colour[range]);
            if reach == Reach::Near {
                taken.clear();
                resize(taken, bodies);
            }
            for (&index, colour) in sorted.iter().zip(&mut *colour) {
                *colour = pick_colour(taken, first, &pairs[index as usize]) as u8;
                counts.lanes[usize::from(*colour)] += 1;
            }
            if reach == Reach::Anywhere {
                for &index in sorted {
                    let pair = &pairs[index as usize];
                    (taken[pair.a as usize], taken[pair.b as usize]) = (0, 0);
                }
                join_thin(colour, &mut counts.lanes);
            }
            counts.find_colours(reach);
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
