//! Checks the invariants of the pair list and its blocks, which hold after any call.

use super::candidates::CANDIDATE_KINDS;
use super::{BLOCK, BounceBlock, Contacts, Key, NO_LANE, NO_MANIFOLD, SERIAL, Tile, key};
use crate::base::ensure;
use crate::body::Bodies;
use crate::geometry::outline::OUTLINE_ROWS;
use crate::lane::RowOffset;
use crate::narrowphase::{NO_CONTACT, PairKind};

/// The number of rows of each sort.
pub(crate) struct RowCounts {
    /// Rows of bodies and padding.
    pub bodies: usize,
    /// Rows of bodies, padding and compounds' parts.
    pub shapes: usize,
    pub outlines: usize,
}

impl Contacts {
    /// Returns the first violation found. `fresh` says that the list is that of the present bodies.
    pub(crate) fn validate(&self, bodies: &Bodies, rows: &RowCounts, fresh: bool) -> Result<(), String> {
        for (index, tile) in self.all().enumerate() {
            let far = index == self.active_tiles;
            let in_tile = |message: String| format!("tile {index}: {message}");
            tile.validate_lanes(rows).map_err(in_tile)?;
            tile.validate_blocks(rows, fresh).map_err(in_tile)?;
            tile.validate_candidates(rows).map_err(in_tile)?;
            for pair in tile.pairs() {
                ensure!(pair.a < pair.b && (pair.b as usize) < bodies.len, "tile {index}: {pair:?}");
            }
            if !far {
                let sorted = tile.pairs().windows(2).all(|two| key(&two[0]) < key(&two[1]));
                ensure!(sorted, "tile {index}: the pairs are not in order");
                let own = tile.pairs().iter().all(|pair| tile.slots.contains(&(pair.a as usize)));
                ensure!(own, "tile {index}: a pair whose first body is not in it");
            }
            if fresh {
                tile.validate_pairs(bodies).map_err(in_tile)?;
            }
        }
        let keys = self.sorted_keys();
        let double = keys.windows(2).find(|two| two[0] == two[1]);
        ensure!(double.is_none(), "a pair is in the list twice: {double:?}");
        let mut far: Vec<Key> = self.overflow.pairs().iter().map(key).collect();
        far.sort_unstable();
        let known: Vec<Key> = self.overflow_keys.iter().map(|&(key, _)| key).collect();
        ensure!(far == known, "the keys of the far pairs are not those of the far pairs");
        for event in self.begin.iter().chain(&self.end) {
            ensure!(event.a != event.b, "{event:?} names one body twice");
        }
        Ok(())
    }

    /// Returns the keys of all pairs of the list, in order.
    pub(crate) fn sorted_keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.all().flat_map(|tile| tile.pairs().iter().map(key)).collect();
        keys.sort_unstable();
        keys
    }
}

impl Tile {
    /// Checks that each pair with a lane has one of its own, which names its bodies, and that no other lane is in use.
    fn validate_lanes(&self, rows: &RowCounts) -> Result<(), String> {
        let (blocks, pairs) = (self.info.len(), self.pairs());
        ensure!(
            self.normal.len() == blocks && self.friction.len() == blocks,
            "{blocks} blocks have not all columns"
        );
        ensure!(self.lane_of.len() == pairs.len(), "{} lanes for {} pairs", self.lane_of.len(), pairs.len());
        let mut used = vec![0u16; blocks];
        for (index, pair) in pairs.iter().enumerate() {
            let Some((block, lane)) = self.place(index) else { continue };
            ensure!(block < blocks, "{pair:?} is in block {block} of {blocks}");
            ensure!(
                self.info[block].used() >> lane & 1 == 1,
                "{pair:?} is in lane {lane} of {:?}",
                self.info[block].count
            );
            ensure!(used[block] >> lane & 1 == 0, "{pair:?} shares its lane");
            used[block] |= 1 << lane;
            let [a, b] = [self.normal[block].a[lane], self.normal[block].b[lane]].map(RowOffset::row);
            let (first, second) = if pair.swap { (pair.b, pair.a) } else { (pair.a, pair.b) };
            let right = (a, b) == (first as usize, second as usize);
            ensure!(right, "{pair:?} is in the lane of {a} and {b}");
            ensure!(self.blocks_of(pair.kind).contains(&block), "{pair:?} is in a block of another kind");
        }
        for (block, info) in self.info.iter().enumerate() {
            ensure!(
                used[block] == info.used(),
                "block {block} has {} lanes, and {:b} are used",
                info.count,
                used[block]
            );
            let flags = info.active | info.touching | info.touched;
            ensure!(flags & !info.used() == 0, "block {block}: an unused lane is active or touches");
            let normal = &self.normal[block];
            for row in normal.a.iter().chain(normal.b.iter()) {
                ensure!(row.row() < rows.bodies, "block {block} reads row {} of {}", row.row(), rows.bodies);
            }
            for lane in (0..BLOCK).filter(|lane| info.used() >> lane & 1 == 0) {
                let padding = [normal.a[lane].row(), normal.b[lane].row()];
                ensure!(
                    padding == [self.padding as usize; 2],
                    "block {block}: unused lane {lane} has rows {padding:?}"
                );
            }
        }
        Ok(())
    }

    /// Checks that each pair without a lane is a candidate once, among those of its kind, and that no other pair is
    /// one.
    fn validate_candidates(&self, rows: &RowCounts) -> Result<(), String> {
        let mut waiting = vec![false; self.pairs().len()];
        for kind in &PairKind::ALL[..CANDIDATE_KINDS] {
            for block in &self.candidates[self.candidate_runs.of(*kind)] {
                for lane in (0..BLOCK).filter(|lane| block.alive >> lane & 1 == 1) {
                    let index = block.pair[lane] as usize;
                    let pair = self.pairs().get(index).ok_or(format!("candidate {index} is no pair"))?;
                    ensure!(pair.kind == *kind, "{pair:?} is a candidate among {kind:?}");
                    ensure!(!std::mem::replace(&mut waiting[index], true), "{pair:?} is a candidate twice");
                    let shapes = [block.a[lane], block.b[lane]].map(RowOffset::row);
                    ensure!(shapes.iter().all(|&row| row < rows.shapes), "{pair:?} has the rows {shapes:?}");
                }
            }
        }
        for (pair, (&waits, &lane)) in self.pairs().iter().zip(waiting.iter().zip(&self.lane_of)) {
            ensure!(waits == (lane == NO_LANE), "{pair:?} has lane {lane}, is a candidate: {waits}");
        }
        Ok(())
    }

    /// Checks that rows exist, lanes of a colour share no body that moves, and impulses are valid.
    fn validate_blocks(&self, rows: &RowCounts, fresh: bool) -> Result<(), String> {
        let blocks = self.info.len();
        let optional = |len: usize, full: usize| len == 0 || len == full;
        ensure!(optional(self.bounce.len(), blocks), "{} of {blocks} blocks bounce", self.bounce.len());
        let manifolds = self.manifold.len();
        ensure!(optional(self.rough.len(), manifolds), "{} rough blocks of {manifolds}", self.rough.len());
        let mut next_block = 0;
        let mut next_manifold = 0;
        for (class, run) in self.runs.iter().enumerate() {
            let kind = PairKind::ALL[class / 2];
            let right = run.start as usize == next_block && run.start <= run.serial && run.serial <= run.end;
            ensure!(right, "run {class} is {run:?}, after block {next_block}");
            ensure!((self.occupied >> class & 1 == 1) == (run.end > run.start), "run {class} is not marked");
            next_block = run.end as usize;
            ensure!(next_block <= blocks, "run {class} ends at block {next_block} of {blocks}");
            for block in run.start as usize..next_block {
                let in_block = |message: String| format!("block {block}, {kind:?}: {message}");
                let info = &self.info[block];
                let wanted = if kind.needs_manifold() { next_manifold } else { NO_MANIFOLD };
                ensure!(
                    info.manifold == wanted,
                    "block {block}, {kind:?}: manifold {}, not {wanted}",
                    info.manifold
                );
                next_manifold += u32::from(kind.needs_manifold());
                let serial = block >= run.serial as usize;
                ensure!((info.colour as usize == SERIAL) == serial, "block {block}: colour {}", info.colour);
                if !serial {
                    self.validate_colour(block, kind).map_err(in_block)?;
                }
                self.validate_manifold(block, rows).map_err(in_block)?;
                if fresh {
                    self.validate_impulses(block).map_err(in_block)?;
                }
            }
        }
        ensure!(
            next_block == blocks && next_manifold as usize == manifolds,
            "{blocks} blocks, {manifolds} manifold, not all in runs"
        );
        Ok(())
    }

    /// Checks that no body that contacts move is in two lanes of a coloured block.
    fn validate_colour(&self, block: usize, kind: PairKind) -> Result<(), String> {
        let shared = self.shared_row(block, kind);
        ensure!(shared.is_none(), "slot {shared:?} is in two lanes of colour {}", self.info[block].colour);
        Ok(())
    }

    /// Returns a body that two lanes of a block move.
    fn shared_row(&self, block: usize, kind: PairKind) -> Option<usize> {
        let (normal, used) = (&self.normal[block], self.info[block].used());
        let (mut moved, mut count) = ([0; 2 * BLOCK], 0);
        for lane in (0..BLOCK).filter(|lane| used >> lane & 1 == 1) {
            let second = (!kind.is_fixed()).then(|| normal.b[lane].row());
            for row in [Some(normal.a[lane].row()), second].into_iter().flatten() {
                moved[count] = row;
                count += 1;
            }
        }
        let moved = &mut moved[..count];
        moved.sort_unstable();
        moved.windows(2).find(|two| two[0] == two[1]).map(|two| two[0])
    }

    /// Returns true if no two lanes of a coloured block move one body, and lanes that are not in use name the padding row: what the kernels rely
    /// on. Allocates nothing. For assertions of debug builds, where blocks are laid out.
    pub(super) fn has_sound_colours(&self) -> bool {
        self.kinds().all(|(kind, run)| {
            run.coloured().all(|block| self.shared_row(block, kind).is_none())
                && (run.start as usize..run.end as usize).all(|block| self.has_inert_padding(block))
        })
    }

    fn has_inert_padding(&self, block: usize) -> bool {
        let (normal, used, padding) = (&self.normal[block], self.info[block].used(), self.padding as usize);
        (0..BLOCK).filter(|lane| used >> lane & 1 == 0).all(|lane| {
            normal.a[lane].row() == padding
                && normal.b[lane].row() == padding
                && normal.normal_mass[lane] == 0.0
        })
    }

    fn validate_manifold(&self, block: usize, rows: &RowCounts) -> Result<(), String> {
        let Some(manifold) = self.manifold_of(block) else { return Ok(()) };
        for row in manifold.shape_a.iter().chain(manifold.shape_b.iter()) {
            ensure!(row.row() < rows.shapes, "shape row {} of {}", row.row(), rows.shapes);
        }
        let first = if self.info[block].capacity <= 1 { rows.outlines } else { OUTLINE_ROWS };
        for row in manifold.outline_a.iter().chain(manifold.outline_b.iter()) {
            let within = row.row() + first <= rows.outlines;
            // Blocks of boxes read no outlines, and the table may be empty then.
            ensure!(
                within || self.info[block].capacity <= 1,
                "outline row {} of {}",
                row.row(),
                rows.outlines
            );
        }
        Ok(())
    }

    /// Checks that impulses are finite, that normal ones are not negative, and that lanes that are unused or too far
    /// apart have none.
    fn validate_impulses(&self, block: usize) -> Result<(), String> {
        let (info, normal, friction) = (&self.info[block], &self.normal[block], &self.friction[block]);
        let manifold = self.manifold_of(block);
        let bounce = self.bounce.get(block).unwrap_or(&BounceBlock::NONE);
        for lane in 0..BLOCK {
            let used = info.used() >> lane & 1 == 1;
            // An unused lane of a block with manifolds moves the padding row, which nothing else reads.
            if manifold.is_some() && !used {
                continue;
            }
            let points = [
                Some((normal.separation[lane], normal.normal_impulse[lane])),
                manifold
                    .map(|manifold| (manifold.second.separation[lane], manifold.second.normal_impulse[lane])),
            ];
            for (point, (separation, impulse)) in points.into_iter().flatten().enumerate() {
                let bounced = bounce.normal_impulse[point][lane];
                let good = impulse >= 0.0 && bounced >= 0.0 && impulse.is_finite() && bounced.is_finite();
                ensure!(good, "lane {lane}, point {point}: impulses {impulse} and {bounced}");
                ensure!(separation.is_finite(), "lane {lane}, point {point}: separation {separation}");
                ensure!(used || impulse == 0.0, "unused lane {lane}, point {point}: impulse {impulse}");
                ensure!(
                    separation != NO_CONTACT || impulse == 0.0,
                    "lane {lane}, point {point}: impulse {impulse}, too far"
                );
            }
            let tangent = friction.tangent_impulse[lane];
            ensure!(tangent.is_finite(), "lane {lane}: tangent impulse {tangent}");
            let far = points.into_iter().flatten().all(|(separation, _)| separation == NO_CONTACT);
            ensure!(tangent == 0.0 || used && !far, "lane {lane}: tangent impulse {tangent}, too far");
            let masses = [normal.normal_mass[lane], friction.tangent_mass[lane]];
            let good = masses.iter().all(|mass| mass.is_finite() && *mass >= 0.0);
            ensure!(good || !used, "lane {lane}: effective masses {masses:?}");
        }
        Ok(())
    }

    /// Checks that the pairs fit the bodies: collidable ones, not both fixed, and of the right kind.
    fn validate_pairs(&self, bodies: &Bodies) -> Result<(), String> {
        let c = &bodies.columns;
        for pair in self.pairs() {
            let slots = [pair.a as usize, pair.b as usize];
            let [a_fixed, b_fixed] = slots.map(|slot| c.inv_mass[slot] == 0.0);
            ensure!(!(a_fixed && b_fixed), "{pair:?} of two that nothing moves");
            ensure!(slots.iter().all(|&slot| c.kind[slot].is_collidable()), "{pair:?} of what is not solid");
            ensure!(pair.kind.is_fixed() == (a_fixed || b_fixed), "{pair:?}, fixed: {a_fixed} and {b_fixed}");
        }
        Ok(())
    }
}
