//! Who may solve what when: tasks with neighbours to wait for, in place of barriers.
//!
//! A task is one pass over one tile's contacts. It touches the bodies of its tile and of the next, so
//! it has to keep its order only with the tasks of its own and the two neighbouring tiles:
//!
//! ```text
//! even tile k, pass p:   after pass p − 1 of k − 1, k, k + 1
//! odd tile k, pass p:    after pass p of k − 1 and k + 1
//! ```
//!
//! Every order that respects this gives the same bits. Tasks are claimed one by one in such an order,
//! and a claimed task waits for its neighbours' counters, which are nearly always there already. Nobody
//! waits for everybody: a preempted thread holds up its tile's neighbours and no one else.
//!
//! Two orders are used. Small worlds go pass by pass. Large ones, which do not fit the cache, go
//! *askew*: pass 2 of a tile follows as soon as its neighbours have done pass 1, so that a window of
//! tiles goes through all passes while it is in the cache, and the step reads the contacts from memory
//! once and not once a pass.
//!
//! The far tile's contacts may touch any body, so each of its passes waits for everybody's, and
//! everybody's next pass for it; the order is then pass by pass. It has tasks only where a large body
//! moves, or one of its contacts is active.

use crate::crew::Backoff;
use std::sync::atomic::{AtomicU32, Ordering};

/// From this many tiles on, the order is askew.
const ASKEW_TILES: usize = 48;

/// A pass's number and the tile that is its place, or `FAR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    pass: u32,
    tile: u32,
}

const FAR: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Schedule {
    order: Vec<Task>,
    /// What `order` was made for.
    planned: (usize, usize, bool),
    /// Passes done by each tile; then the far tile.
    done: Vec<AtomicU32>,
    tiles: usize,
    has_far: bool,
}

impl Schedule {
    /// Makes the order for this many passes and tiles, and sets all counters to zero.
    pub(crate) fn plan(&mut self, passes: usize, tiles: usize, has_far: bool) {
        self.tiles = tiles;
        self.has_far = has_far;
        if self.done.len() <= tiles {
            self.done.resize_with(tiles + tiles / 4 + 2, AtomicU32::default);
        }
        for done in &mut self.done {
            *done.get_mut() = 0;
        }
        if self.planned == (passes, tiles, has_far) {
            return;
        }
        self.planned = (passes, tiles, has_far);
        self.order.clear();
        let wanted = passes * (tiles + 1);
        if self.order.capacity() < wanted {
            self.order.reserve(wanted + wanted / 4);
        }
        if has_far || tiles < ASKEW_TILES {
            for pass in 0..passes as u32 {
                let evens = (0..tiles as u32).step_by(2);
                let odds = (1..tiles as u32).step_by(2);
                self.order.extend(evens.chain(odds).map(|tile| Task { pass, tile }));
                self.order.extend(has_far.then_some(Task { pass, tile: FAR }));
            }
        } else {
            // Half passes: 2p for the even tiles, 2p + 1 for the odd ones. A task needs its neighbours'
            // previous half pass, so tasks with equal tile + 2·half are independent of each other, and
            // depend on smaller sums only.
            let halves = 2 * passes;
            for sum in 0..tiles + 2 * halves {
                for half in (sum % 2..halves).step_by(2) {
                    if let Some(tile) = sum.checked_sub(2 * half).filter(|&tile| tile < tiles) {
                        self.order.push(Task { pass: (half / 2) as u32, tile: tile as u32 });
                    }
                }
            }
        }
    }

    /// How many tasks there are.
    pub(crate) fn tasks(&self) -> usize {
        self.order.len()
    }

    /// Waits until the task may run, and runs it as `work(pass, tile)`; the far tile is `None`.
    pub(crate) fn perform(&self, task: usize, work: impl FnOnce(usize, Option<usize>)) {
        let Task { pass, tile } = self.order[task];
        if tile == FAR {
            for done in &self.done[..self.tiles] {
                wait(done, pass + 1);
            }
            wait(&self.done[self.tiles], pass);
            work(pass as usize, None);
            self.done[self.tiles].store(pass + 1, Ordering::Release);
            return;
        }
        let tile = tile as usize;
        if self.has_far {
            wait(&self.done[self.tiles], pass);
        }
        let neighbours = if tile.is_multiple_of(2) { pass } else { pass + 1 };
        if tile > 0 {
            wait(&self.done[tile - 1], neighbours);
        }
        wait(&self.done[tile], pass);
        if tile + 1 < self.tiles {
            wait(&self.done[tile + 1], neighbours);
        }
        work(pass as usize, Some(tile));
        self.done[tile].store(pass + 1, Ordering::Release);
    }
}

fn wait(done: &AtomicU32, passes: u32) {
    let mut backoff = Backoff::new();
    while done.load(Ordering::Acquire) < passes {
        backoff.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: every pass of every tile runs once, after all that it depends on, in claiming order:
    /// so a single thread never waits.
    #[test]
    fn order_respects_dependencies() {
        for tiles in [0, 1, 2, 3, 5, 47, 48, 49, 131] {
            for passes in [1, 2, 9, 10] {
                for has_far in [false, true] {
                    let mut schedule = Schedule::default();
                    schedule.plan(passes, tiles, has_far);
                    let mut done = vec![0usize; tiles];
                    let mut far = 0;
                    for &Task { pass, tile } in &schedule.order {
                        let pass = pass as usize;
                        if tile == FAR {
                            assert_eq!(far, pass);
                            assert!(done.iter().all(|&done| done == pass + 1));
                            far += 1;
                            continue;
                        }
                        let tile = tile as usize;
                        assert_eq!(done[tile], pass);
                        assert!(!has_far || far == pass);
                        let needed = pass + tile % 2;
                        for neighbour in [tile.wrapping_sub(1), tile + 1] {
                            assert!(neighbour >= tiles || done[neighbour] == needed);
                        }
                        done[tile] += 1;
                    }
                    assert_eq!(far, if has_far { passes } else { 0 });
                    assert!(done.iter().all(|&done| done == passes));
                }
            }
        }
    }
}
