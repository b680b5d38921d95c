//! The columns of a tile's lanes that are state: what no step computes anew.

use crate::base::codec::{Read, Reader, Writer};
use crate::base::prefetch::{AHEAD, prefetch};
use crate::contacts::{BLOCK, Tile};
use crate::narrowphase::NO_CONTACT;

/// The columns of a lane that are state, by number: those of all blocks, of blocks with manifolds, of rough ones, and those of bounces.
const PLAIN: usize = 5;
const ROUGH: usize = 24;
const BOUNCE: usize = 25;
pub(super) const COLUMNS: usize = 34;

/// A column of a block, by its number. The block has it: see [`Tile::has_column`].
macro_rules! column_of {
    ($tile:expr, $block:expr, $number:expr, $($mut:tt)?) => {{
        let (block, place) = ($block, $tile.info[$block].manifold as usize);
        match $number {
            0 => &$($mut)? $tile.normal[block].normal_impulse,
            1 => &$($mut)? $tile.friction[block].tangent_impulse,
            2 => &$($mut)? $tile.normal[block].normal_x,
            3 => &$($mut)? $tile.normal[block].normal_y,
            4 => &$($mut)? $tile.normal[block].separation,
            5 => &$($mut)? $tile.normal[block].closing_speed,
            6 => &$($mut)? $tile.normal[block].normal_mass,
            7 => &$($mut)? $tile.friction[block].tangent_mass,
            8 => &$($mut)? $tile.manifold[place].second.separation,
            9 => &$($mut)? $tile.manifold[place].arms.normal[0][0],
            10 => &$($mut)? $tile.manifold[place].arms.normal[0][1],
            11 => &$($mut)? $tile.manifold[place].arms.normal[1][0],
            12 => &$($mut)? $tile.manifold[place].arms.normal[1][1],
            13 => &$($mut)? $tile.manifold[place].arms.tangent[0],
            14 => &$($mut)? $tile.manifold[place].arms.tangent[1],
            15 => &$($mut)? $tile.manifold[place].second.normal_impulse,
            16 => &$($mut)? $tile.manifold[place].second.normal_mass,
            17 => &$($mut)? $tile.manifold[place].second.closing_speed,
            18 => &$($mut)? $tile.manifold[place].feature[0],
            19 => &$($mut)? $tile.manifold[place].feature[1],
            20 => &$($mut)? $tile.manifold[place].place[0][0],
            21 => &$($mut)? $tile.manifold[place].place[0][1],
            22 => &$($mut)? $tile.manifold[place].place[1][0],
            23 => &$($mut)? $tile.manifold[place].place[1][1],
            ROUGH => &$($mut)? $tile.rough[place].rolling_impulse,
            BOUNCE => &$($mut)? $tile.bounce[block].resting[0],
            26 => &$($mut)? $tile.bounce[block].resting[1],
            27 => &$($mut)? $tile.bounce[block].approach,
            28 => &$($mut)? $tile.bounce[block].absorbed,
            29 => &$($mut)? $tile.bounce[block].normal_impulse[0],
            30 => &$($mut)? $tile.bounce[block].normal_impulse[1],
            31 => &$($mut)? $tile.bounce[block].tangent_impulse,
            32 => &$($mut)? $tile.bounce[block].shift[0],
            _ => &$($mut)? $tile.bounce[block].shift[1],
        }
    }};
}

/// The numbers of the lanes that are in use, lowest first.
pub(super) fn lanes(used: u16) -> impl Iterator<Item = usize> {
    let mut left = used;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (lane < BLOCK).then_some(lane)
    })
}

/// The lanes whose values have a property, as bits.
#[inline(always)]
fn bits(values: &[f32; BLOCK], has: impl Fn(&f32) -> bool) -> u16 {
    values.iter().rev().fold(0, |bits, value| bits << 1 | u16::from(has(value)))
}

impl Tile {
    /// Returns true if some blocks of the tile may have a column.
    pub(super) fn may_have(&self, number: usize) -> bool {
        if number < PLAIN {
            true
        } else if number < ROUGH {
            !self.manifold.is_empty()
        } else if number == ROUGH {
            !self.rough.is_empty()
        } else {
            !self.bounce.is_empty()
        }
    }

    fn has_column(&self, block: usize, number: usize) -> bool {
        !(PLAIN..BOUNCE).contains(&number) || self.manifold_of(block).is_some()
    }

    /// The lanes of a block for which a column means something. What else there is of arms and points is that of some earlier step, and
    /// nobody reads it.
    fn known_lanes(&self, block: usize, number: usize) -> u16 {
        let info = &self.info[block];
        let near =
            |separation: &[f32; BLOCK]| info.active & bits(separation, |&distance| distance != NO_CONTACT);
        match (number, self.manifold_of(block)) {
            (9 | 10 | 20 | 21, Some(_)) => near(&self.normal[block].separation),
            (11 | 12 | 22 | 23, Some(manifold)) => near(&manifold.second.separation),
            (7 | 13 | 14, _) => info.active,
            _ => info.used(),
        }
    }

    /// The blocks that have a column, with the lanes for which it means something.
    fn blocks_with(&self, number: usize) -> impl Iterator<Item = (usize, u16)> + Clone + '_ {
        let blocks = self.info.iter().enumerate().filter(move |&(block, _)| self.has_column(block, number));
        blocks
            .map(move |(block, _)| (block, self.known_lanes(block, number)))
            .filter(|&(_, lanes)| lanes != 0)
    }

    /// Writes a column of all lanes in use.
    pub(super) fn write_column(&self, number: usize, to: &mut Writer<'_>) {
        let column = |block: usize| column_of!(self, block, number,);
        let mut blocks = self.blocks_with(number);
        let Some((block, used)) = blocks.clone().next() else { return };
        let first = column(block)[used.trailing_zeros() as usize].to_bits();
        if blocks.all(|(block, used)| bits(column(block), |value| value.to_bits() != first) & used == 0) {
            return to.same(first);
        }
        to.begin_raw();
        for (block, used) in self.blocks_with(number) {
            self.prefetch_column(block + AHEAD, number);
            let values = column(block);
            if used & used.wrapping_add(1) == 0 {
                to.raw(&values[..used.count_ones() as usize]);
                continue;
            }
            let (mut packed, mut count) = ([0.0f32; BLOCK], 0);
            for (lane, &value) in values.iter().enumerate() {
                packed[count] = value;
                count += usize::from(used >> lane & 1);
            }
            to.raw(&packed[..count]);
        }
    }

    /// Prefetches a column of a block, if there is one. The columns of neighbouring blocks are too far apart for the hardware to foresee.
    #[inline(always)]
    fn prefetch_column(&self, block: usize, number: usize) {
        if block < self.info.len() && self.has_column(block, number) {
            prefetch(std::slice::from_ref(column_of!(self, block, number,)), 0);
        }
    }

    pub(super) fn read_column(
        &mut self,
        number: usize,
        memory: &mut Vec<f32>,
        from: &mut Reader<'_>,
    ) -> Read {
        let count: usize = self.blocks_with(number).map(|(_, used)| used.count_ones() as usize).sum();
        if count == 0 {
            return Ok(());
        }
        from.column(memory, count)?;
        let mut values = memory.iter();
        for block in 0..self.info.len() {
            if !self.has_column(block, number) {
                continue;
            }
            self.prefetch_column(block + AHEAD, number);
            let used = self.known_lanes(block, number);
            let column = column_of!(self, block, number, mut);
            for (lane, &value) in lanes(used).zip(values.by_ref()) {
                column[lane] = value;
            }
        }
        Ok(())
    }
}
