//! The rows that the blocks of a tile name, and how many rows there must be for that.
//!
//! The kernels gather and scatter rows without a check that they exist: one comparison a lane would cost more than
//! their arithmetic. So only [`Places::set`] and [`Places::all`] can write an offset, and both note the highest one in
//! the tile's [`Limits`]. Whoever hands rows to the kernels compares their number with these limits, once a tile.

use super::BLOCK;
use crate::geometry::outline::OUTLINE_ROWS;
use crate::lane::{Row, RowOffset};
use std::ops::Deref;

/// The rows that sixteen contacts name. All are below the limit that they were set with.
#[derive(Clone, Copy)]
pub(crate) struct Places([RowOffset; BLOCK]);

impl Places {
    /// Names the same row in all lanes.
    pub(super) fn all(row: u32, limit: &mut RowLimit) -> Places {
        limit.note(row);
        Places([RowOffset::of(row); BLOCK])
    }

    /// Names these rows.
    #[inline(always)]
    pub(super) fn of(rows: &[u32; BLOCK], limit: &mut RowLimit) -> Places {
        let highest = rows.iter().fold(0, |highest, &row| if row > highest { row } else { highest });
        limit.note(highest);
        // The highest one shows whether all have an offset.
        let _ = RowOffset::of(highest);
        Places(rows.map(RowOffset::of_small))
    }

    pub(super) fn set(&mut self, lane: usize, row: u32, limit: &mut RowLimit) {
        limit.note(row);
        self.0[lane] = RowOffset::of(row);
    }
}

impl Deref for Places {
    type Target = [RowOffset; BLOCK];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// How many rows are needed.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowLimit {
    rows: usize,
    /// How many rows follow the one that a place names: a place stands for `more` + 1 rows.
    more: usize,
}

impl RowLimit {
    fn note(&mut self, row: u32) {
        self.rows = self.rows.max(row as usize + 1 + self.more);
    }

    /// Returns whether so many rows are enough.
    pub(crate) fn is_within(&self, rows: usize) -> bool {
        self.rows <= rows
    }

    /// Returns whether there are enough rows.
    pub(crate) fn fits(&self, rows: &[Row]) -> bool {
        self.rows <= rows.len()
    }
}

/// The limits of a tile's blocks.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The number of rows by body: slots and padding.
    pub bodies: RowLimit,
    /// The number of rows by shape: bodies and parts.
    pub shapes: RowLimit,
    /// The number of rows of outlines.
    pub outlines: RowLimit,
}

impl Default for Limits {
    fn default() -> Self {
        let outlines = RowLimit { rows: 0, more: OUTLINE_ROWS - 1 };
        Limits { bodies: RowLimit::default(), shapes: RowLimit::default(), outlines }
    }
}
