//! The schedule of the solver's tasks: each task waits for its neighbours; there are no barriers.
//!
//! A task is one pass over one tile's contacts. It touches the bodies of its tile and of the next tile. So its order
//! matters only relative to the tasks of its own tile and the two neighbouring tiles:
//!
//! ```text
//! even tile k, pass p:   after pass p − 1 of k − 1, k, k + 1
//! odd tile k, pass p:    after pass p of k − 1 and k + 1
//! ```
//!
//! Every order that respects this gives the same bits. Count *half passes*: 2p for the even tiles and 2p + 1 for the
//! odd ones. Then half h of a tile comes after half h − 1 of its neighbours.
//!
//! The tiles are divided into *regions*, runs of tiles with about equal work, one for each thread, so that a tile's
//! contacts stay in one core's cache for the whole step. A region is worked through *askew*: its tasks are done in
//! ascending order of distance + half, where distance counts tiles from the end at which the region begins. So a window
//! of as many tiles as there are half passes goes through all passes while it is in the cache: the step reads the
//! contacts from memory once, not once per pass. Regions begin back to back in pairs: at their common border both have
//! just begun, so neither waits long for the other. They end face to face:
//!
//! ```text
//! region    0          1        2          3
//! tiles   ←←←←←←←  →→→→→→→→  ←←←←←←←←  →→→→→→→
//! ```
//!
//! There is no deadlock: if two regions waited for each other across their border, each would have to be a half pass
//! behind the other.
//!
//! A neighbour's region may have no thread yet. If a thread's regions stand still for a while, the thread takes over
//! the first unclaimed region as well. It then does all ready tasks of its regions in turn.
//!
//! Tried and dropped: tasks claimed one by one from a single askew order (tile + 2·half, so that adjacent tasks were
//! independent). The window was twice as long, and tiles moved back and forth between the cores.
//!
//! The overflow tile's contacts may touch any body. So each of its passes waits for that pass of all other tiles, and
//! their next pass waits for it: the order is then pass by pass. The overflow tile has tasks only if a large body moves
//! or one of its contacts is active.

use crate::base::clock::Instant;
use crate::crew::{Backoff, Crew};
use crate::timing::MAX_SHARES;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// How long a thread's regions may stand still before it takes over an unclaimed region.
const PATIENCE: Duration = Duration::from_micros(50);

/// One pass over one tile; `None` is the overflow tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    pass: usize,
    tile: Option<usize>,
}

/// A run of tiles that one thread works through.
#[derive(Default)]
struct Region {
    tiles: Range<usize>,
    /// Whether the region begins with its last tile.
    downward: bool,
    /// Whether the order of this region includes the overflow tile's tasks.
    leads_overflow: bool,
    claimed: AtomicBool,
}

#[derive(Default)]
pub(crate) struct Schedule {
    passes: usize,
    tiles: usize,
    has_overflow: bool,
    regions: Vec<Region>,
    /// The number of passes done by each tile, then by the overflow tile.
    done: Vec<AtomicU32>,
}

impl Schedule {
    /// Divides the tiles, whose work is estimated by `work`, among at most `threads` regions, and sets all
    /// counters to zero.
    pub(crate) fn plan(
        &mut self,
        passes: usize,
        work: impl ExactSizeIterator<Item = usize> + Clone,
        has_overflow: bool,
        threads: usize,
    ) {
        let tiles = work.len();
        (self.passes, self.tiles, self.has_overflow) = (passes, tiles, has_overflow);
        if self.done.len() <= tiles {
            self.done.resize_with(tiles + tiles / 4 + 2, AtomicU32::default);
        }
        for done in &mut self.done {
            *done.get_mut() = 0;
        }
        let count = threads.clamp(1, tiles.max(1));
        self.regions.reserve(threads.saturating_sub(self.regions.len()));
        self.regions.resize_with(count, Region::default);
        let total: usize = work.clone().sum();
        let (mut work, mut sum, mut start) = (work.enumerate().peekable(), 0, 0);
        for (index, region) in self.regions.iter_mut().enumerate() {
            // Each region that follows gets at least one tile.
            let last = tiles.saturating_sub(count - 1 - index);
            let goal = total * (index + 1) / count;
            let mut end = start;
            while let Some((tile, amount)) = work.next_if(|&(tile, amount)| {
                tile < last && (tile == start || index + 1 == count || sum + amount / 2 < goal)
            }) {
                sum += amount;
                end = tile + 1;
            }
            region.tiles = start..end;
            region.downward = count > 1 && index.is_multiple_of(2);
            region.leads_overflow = has_overflow && index == 0;
            *region.claimed.get_mut() = false;
            start = end;
        }
    }

    /// Does all tasks as `work(pass, tile)`; the overflow tile is `None`.
    pub(crate) fn run(&self, crew: &Crew<'_>, work: impl Fn(usize, Option<usize>) + Sync) {
        if self.tiles <= 1 && !self.has_overflow {
            // There is only one order. In a world of one body the general code took a sixth of a step's instructions.
            if self.tiles == 1 {
                for pass in 0..self.passes {
                    crew.run_errand();
                    work(pass, Some(0));
                }
            }
            return;
        }
        crew.run(self.regions.len(), |first| self.serve(first, &work));
    }

    /// Works through a region, and through further regions that no other thread works on.
    fn serve(&self, first: usize, work: &impl Fn(usize, Option<usize>)) {
        let claim = |index: usize| !self.regions[index].claimed.swap(true, Ordering::Relaxed);
        if !claim(first) {
            return;
        }
        let mut held: [Option<Cursor>; MAX_SHARES] = [const { None }; MAX_SHARES];
        held[0] = Some(Cursor::new(self, first));
        let mut count = 1;
        let mut backoff = Backoff::new();
        let mut stands_since: Option<Instant> = None;
        loop {
            let (mut moved, mut left) = (false, false);
            for cursor in held[..count].iter_mut().flatten() {
                while let Some(task) = cursor.task {
                    if !self.is_ready(task) {
                        left = true;
                        break;
                    }
                    work(task.pass, task.tile);
                    let done = &self.done[task.tile.unwrap_or(self.tiles)];
                    done.store(task.pass as u32 + 1, Ordering::Release);
                    cursor.advance(self);
                    moved = true;
                }
            }
            if !left {
                return;
            }
            if moved {
                backoff = Backoff::new();
                stands_since = None;
                continue;
            }
            backoff.wait();
            let now = Instant::now();
            if now.duration_since(*stands_since.get_or_insert(now)) > PATIENCE
                && let Some(next) = (0..self.regions.len()).find(|&index| claim(index))
            {
                held[count] = Some(Cursor::new(self, next));
                count += 1;
            }
        }
    }

    fn is_ready(&self, Task { pass, tile }: Task) -> bool {
        let at_least = |tile: usize, passes: usize| self.done[tile].load(Ordering::Acquire) >= passes as u32;
        let Some(tile) = tile else {
            return (0..self.tiles).all(|tile| at_least(tile, pass + 1)) && at_least(self.tiles, pass);
        };
        let neighbours = if tile.is_multiple_of(2) { pass } else { pass + 1 };
        (!self.has_overflow || at_least(self.tiles, pass))
            && (tile == 0 || at_least(tile - 1, neighbours))
            && at_least(tile, pass)
            && (tile + 1 >= self.tiles || at_least(tile + 1, neighbours))
    }
}

/// A place in the order of a region's tasks.
struct Cursor {
    region: usize,
    /// The next task; `None` at the end.
    task: Option<Task>,
    /// In an askew order: distance + half, and half. With an overflow tile: the pass, and the position in it.
    outer: usize,
    inner: usize,
}

impl Cursor {
    fn new(schedule: &Schedule, region: usize) -> Self {
        let mut cursor = Cursor { region, task: None, outer: 0, inner: 0 };
        cursor.advance(schedule);
        cursor
    }

    /// Moves to the first task at or after (`outer`, `inner`).
    fn advance(&mut self, schedule: &Schedule) {
        let region = &schedule.regions[self.region];
        self.task = if schedule.has_overflow {
            self.next_by_pass(region, schedule.passes)
        } else {
            self.next_askew(region, 2 * schedule.passes)
        };
    }

    fn next_askew(&mut self, region: &Region, halves: usize) -> Option<Task> {
        let Range { start, end } = region.tiles;
        while self.outer + 1 < end - start + halves {
            while self.inner <= self.outer.min(halves - 1) {
                let (distance, half) = (self.outer - self.inner, self.inner);
                self.inner += 1;
                if distance >= end - start {
                    continue;
                }
                let tile = if region.downward { end - 1 - distance } else { start + distance };
                if tile % 2 == half % 2 {
                    return Some(Task { pass: half / 2, tile: Some(tile) });
                }
            }
            self.outer += 1;
            self.inner = 0;
        }
        None
    }

    /// The order pass by pass: even tiles, odd tiles, overflow tile.
    fn next_by_pass(&mut self, region: &Region, passes: usize) -> Option<Task> {
        let Range { start, end } = region.tiles;
        while self.outer < passes {
            while self.inner < 2 * (end - start) {
                let (parity, tile) = (self.inner / (end - start), start + self.inner % (end - start));
                self.inner += 1;
                if tile % 2 == parity {
                    return Some(Task { pass: self.outer, tile: Some(tile) });
                }
            }
            let pass = self.outer;
            self.outer += 1;
            self.inner = 0;
            if region.leads_overflow {
                return Some(Task { pass, tile: None });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all tasks in the order in which one thread per region, taking turns, would do them.
    fn simulate(schedule: &Schedule) -> Vec<Task> {
        let mut cursors: Vec<Cursor> =
            (0..schedule.regions.len()).map(|region| Cursor::new(schedule, region)).collect();
        let mut order = Vec::new();
        loop {
            let before = order.len();
            for cursor in &mut cursors {
                if let Some(task) = cursor.task.filter(|&task| schedule.is_ready(task)) {
                    let done = &schedule.done[task.tile.unwrap_or(schedule.tiles)];
                    done.store(task.pass as u32 + 1, Ordering::Relaxed);
                    order.push(task);
                    cursor.advance(schedule);
                }
            }
            if order.len() == before {
                return order;
            }
        }
    }

    /// Contract: every pass of every tile runs once, after all tasks that it depends on, for any number of regions and
    /// any distribution of work. The regions cover the tiles, and no thread waits forever.
    #[test]
    fn order_respects_dependencies() {
        for tiles in [0usize, 1, 2, 3, 5, 47, 131] {
            for passes in [1, 2, 9, 10] {
                for has_overflow in [false, true] {
                    for threads in [1, 2, 3, 8] {
                        for uneven in [0, 1, 7] {
                            let work: Vec<usize> = (0..tiles).map(|tile| tile * tile * uneven).collect();
                            let mut schedule = Schedule::default();
                            schedule.plan(passes, work.iter().copied(), has_overflow, threads);
                            check(&schedule, tiles, passes, has_overflow);
                        }
                    }
                }
            }
        }
    }

    fn check(schedule: &Schedule, tiles: usize, passes: usize, has_overflow: bool) {
        let mut end = 0;
        for region in &schedule.regions {
            assert_eq!(region.tiles.start, end);
            assert!(tiles == 0 || !region.tiles.is_empty());
            end = region.tiles.end;
        }
        assert_eq!(end, tiles);
        let mut done = vec![0usize; tiles];
        let mut overflow = 0;
        for Task { pass, tile } in simulate(schedule) {
            let Some(tile) = tile else {
                assert_eq!(overflow, pass);
                assert!(done.iter().all(|&done| done == pass + 1));
                overflow += 1;
                continue;
            };
            assert_eq!(done[tile], pass);
            assert!(!has_overflow || overflow == pass);
            let needed = pass + tile % 2;
            for neighbour in [tile.wrapping_sub(1), tile + 1] {
                assert!(neighbour >= tiles || done[neighbour] == needed);
            }
            done[tile] += 1;
        }
        assert_eq!(overflow, if has_overflow { passes } else { 0 });
        assert!(done.iter().all(|&done| done == passes));
    }

    /// Contract: equal work is divided into equal regions.
    #[test]
    fn regions_have_equal_work() {
        let mut schedule = Schedule::default();
        schedule.plan(9, [3; 64].into_iter(), false, 4);
        let sizes: Vec<usize> = schedule.regions.iter().map(|region| region.tiles.len()).collect();
        assert_eq!(sizes, [16; 4]);
    }
}
