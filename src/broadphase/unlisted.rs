//! The bodies that are not where the pair list has them, in an order of space of their own: those that are loose, far out of their bounds
//! (`strays.rs`), or were added or put elsewhere by hand since the last step. Queries cost the same after any edit and after any step.
//!
//! ```text
//! after each step:   what is loose or far out, in the order of the list                  one run
//! after each edit:   the body joins the tail, a box in a leaf                            the tail, up to 256
//! the tail is full:  it is sorted by place and becomes a run;
//!                    of each length there are three runs at most, four become one        runs of 256, 1,024, 4,096, ...
//! more than one body in eight:   all bodies become one run, and the list is not looked at
//! a query:           looks into every run by its tree, into the tail, and then into the list
//! ```
//!
//! So an edit costs the sorting of its body once for each length of runs (the logarithmic method of J. L. Bentley and J. B. Saxe, 1980),
//! and a query looks into some ten small trees at most.
//!
//! Before, queries tested these bodies one by one, and every body of the world if more than 64 and one in 1,024 were put elsewhere. (A ray
//! among 50,000 bodies of all shapes that tumble, 1.1 µs after a new list: 2 to 3.4 µs after other steps, 20 µs after 1,000 were added,
//! 611 µs after 300 were put elsewhere. Now 1.1 to 2 µs after all of these.)

use super::tree::{CHILDREN, Node, Region, Tree};
use super::walk::{Disc, LineVisitor, PartOfTrack, Track};
use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::base::room::at_least;
use crate::isa::Level;
use glam::Vec2;

/// The most bodies in the tail: the leaves below one node.
const TAIL: usize = CHILDREN * CHILDREN;
/// So many runs of one length become one.
const RUNS: usize = 4;

/// No more than one in so many listed bodies, and a tail, are sought apart from the list.
const SHARE: usize = 8;

/// An entry whose body has a later one, or none any more.
const NO_SLOT: u32 = u32::MAX;
/// Places: a slot without an entry, and a half-space.
const NOWHERE: u32 = u32::MAX;
const PLANE: u32 = u32::MAX - 1;

/// Boxes of bodies under one tree.
#[derive(Default)]
struct Run {
    tree: Tree,
    /// The slot of each box.
    slots: Vec<u32>,
    /// The number of the first entry.
    first: usize,
    /// There are `TAIL` · `RUNS`^length entries, about.
    length: u32,
}

impl Run {
    fn end(&self) -> usize {
        self.first + self.slots.len()
    }

    /// Empties the run, which begins with this entry.
    fn clear(&mut self, first: usize) {
        self.slots.clear();
        self.tree.clear();
        (self.first, self.length) = (first, 0);
    }

    /// Appends an entry. The tree has leaves only, and is to be built.
    #[inline]
    fn push(&mut self, slot: u32, bounds: [f32; 4]) {
        let child = self.slots.len() % CHILDREN;
        if child == 0 {
            self.tree.leaves.push(Node::default());
        }
        if let Some(leaf) = self.tree.leaves.last_mut() {
            leaf.set(child, bounds);
        }
        self.slots.push(slot);
    }

    fn make_room(&mut self, entries: usize) {
        at_least(&mut self.slots, entries);
        self.tree.make_room(entries);
    }

    fn drop_entry(&mut self, entry: usize) {
        let at = entry - self.first;
        self.slots[at] = NO_SLOT;
        self.tree.leaves[at / CHILDREN].set(at % CHILDREN, Node::MISSING);
    }
}

/// A body's slot and bounds, by its place along a curve.
type Sorted = (u64, [f32; 4]);

/// The bodies that are not where the list has them.
#[derive(Default)]
pub(crate) struct Unlisted {
    /// The number of each slot's entry; or `NOWHERE`, or `PLANE`.
    places: Vec<u32>,
    /// The longest ones first.
    runs: Vec<Run>,
    tail: Run,
    planes: Vec<u32>,
    /// The number of entries that have a slot.
    live: usize,
    /// They are all bodies: the list has none in its place.
    all: bool,
    /// Memory.
    spare: Vec<Run>,
    sorted: Vec<Sorted>,
}

impl Unlisted {
    /// Whether a body is not where the list has it.
    #[inline]
    pub(crate) fn contains(&self, slot: usize) -> bool {
        self.places.get(slot).is_some_and(|&place| place != NOWHERE)
    }

    /// Whether queries need not look into the list.
    pub(crate) fn has_all(&self) -> bool {
        self.all
    }

    /// Whether they are so many that all bodies should be among them: what the list has in the wrong place is looked at in vain. (With half
    /// of 20,000 bodies elsewhere, rays and the nearest took 2.4 times as long.)
    pub(crate) fn is_many(&self, listed: usize) -> bool {
        !self.all && self.live > listed / SHARE + TAIL
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.tail.slots.is_empty() && self.planes.is_empty()
    }

    pub(crate) fn planes(&self) -> &[u32] {
        &self.planes
    }

    /// The slots of all of them, half-spaces last.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> {
        let entries = self.runs.iter().chain([&self.tail]).flat_map(|run| &run.slots);
        entries.filter(|&&slot| slot != NO_SLOT).chain(&self.planes).map(|&slot| slot as usize)
    }

    /// Makes room for a world of so many slots, of which so many bodies may be loose.
    pub(crate) fn make_room(&mut self, slots: usize, loose: usize) {
        if let Some(last) = slots.checked_sub(1) {
            self.hold(last);
        }
        self.tail.make_room(loose);
        if loose > TAIL {
            let mut run = self.spare.pop().unwrap_or_default();
            run.make_room(loose);
            self.spare.push(run);
        }
    }

    /// Writes which bodies they are, in their order.
    pub(crate) fn write(&self, to: &mut Writer<'_>) {
        let Unlisted { places: _, runs, tail, planes, live: _, all, spare: _, sorted: _ } = self;
        all.write(to);
        to.length(runs.len());
        runs.iter().chain([tail]).for_each(|run| run.slots.write(to));
        planes.write(to);
    }

    /// Reads what [`Unlisted::write`] wrote of a world of so many slots. `bounds` are those of [`Unlisted::insert`].
    pub(crate) fn read(
        &mut self,
        from: &mut Reader<'_>,
        slots: usize,
        bounds: impl Fn(usize) -> Option<[f32; 4]>,
    ) -> Read {
        self.clear();
        // What was read before may have ended half-way.
        self.places.clear();
        self.all = from.value()?;
        let mut numbers = Vec::<u32>::new();
        for number in (0..=from.length()?).rev() {
            numbers.read(from)?;
            let fits = if number > 0 { numbers.len() > TAIL / 2 } else { numbers.len() <= TAIL };
            require!(fits, "{} bodies in a run", numbers.len());
            self.sorted.clear();
            for &slot in &numbers {
                let mut own = Some(Node::MISSING);
                if slot != NO_SLOT {
                    self.begin_place(slot, slots)?;
                    own = bounds(slot as usize);
                    self.live += 1;
                }
                require!(own.is_some(), "slot {slot} is a half-space");
                self.sorted.extend(own.map(|own| (u64::from(slot), own)));
            }
            if number > 0 { self.add_run() } else { self.fill_tail() }
        }
        numbers.read(from)?;
        for slot in numbers {
            self.begin_place(slot, slots)?;
            require!(bounds(slot as usize).is_none(), "slot {slot} is no half-space");
            self.planes.push(slot);
        }
        Ok(())
    }

    /// Makes a place for a slot that is to have none yet. It is that of a half-space until the slot has an entry.
    fn begin_place(&mut self, slot: u32, slots: usize) -> Read {
        let slot = slot as usize;
        require!(slot < slots && !self.contains(slot), "slot {slot} is none, or named twice");
        self.hold(slot);
        self.places[slot] = PLANE;
        Ok(())
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        let Unlisted { places, runs, tail, planes, spare, live, all, .. } = self;
        for &slot in runs.iter().chain([&*tail]).flat_map(|run| &run.slots).chain(&*planes) {
            if slot != NO_SLOT {
                places[slot as usize] = NOWHERE;
            }
        }
        spare.append(runs);
        tail.clear(0);
        planes.clear();
        (*live, *all) = (0, false);
    }

    /// Takes all bodies of a world, each with the bounds of [`Unlisted::insert`].
    pub(crate) fn take_all(&mut self, bodies: impl Iterator<Item = (usize, Option<[f32; 4]>)>) {
        self.clear();
        self.sorted.clear();
        for (slot, bounds) in bodies {
            self.hold(slot);
            match bounds {
                Some(bounds) => self.sorted.push((slot as u64, bounds)),
                None => self.insert(slot, None),
            }
        }
        self.live = self.sorted.len();
        self.all = true;
        if self.sorted.len() > TAIL / 2 {
            sort_by_place(&mut self.sorted);
            self.add_run();
        } else {
            self.fill_tail();
        }
    }

    /// Takes these instead of all others, in this order, which is one of space; each with the bounds of [`Unlisted::insert`].
    pub(crate) fn fill(&mut self, bodies: impl Iterator<Item = (usize, Option<[f32; 4]>)>) {
        self.clear();
        for (slot, bounds) in bodies {
            self.hold(slot);
            match bounds {
                Some(bounds) => {
                    self.places[slot] = self.tail.slots.len() as u32;
                    self.tail.push(slot as u32, bounds);
                }
                None => {
                    self.places[slot] = PLANE;
                    self.planes.push(slot as u32);
                }
            }
        }
        self.tail.tree.build(Node::bounds);
        let count = self.tail.slots.len();
        self.live = count;
        if count > TAIL {
            let mut run = self.spare.pop().unwrap_or_default();
            std::mem::swap(&mut run, &mut self.tail);
            run.length = length_of(count);
            self.tail.clear(count);
            self.runs.push(run);
        }
    }

    /// Makes a place for a slot.
    fn hold(&mut self, slot: usize) {
        if self.places.len() <= slot {
            self.places.resize(slot + 1, NOWHERE);
        }
    }

    /// Adds a body, or notes that it is elsewhere now. The bounds are `[min_x, max_x, min_y, max_y]`, and `None` for a half-space.
    pub(crate) fn insert(&mut self, slot: usize, bounds: Option<[f32; 4]>) {
        self.hold(slot);
        match (self.places[slot], bounds) {
            (NOWHERE, _) => {}
            (PLANE, None) => return,
            (PLANE, _) => self.planes.retain(|&plane| plane as usize != slot),
            (place, Some(bounds)) if place as usize >= self.tail.first => {
                self.tail.tree.put_below_root(place as usize - self.tail.first, bounds);
                return;
            }
            (place, _) => self.drop_entry(place as usize),
        }
        let Some(bounds) = bounds else {
            self.places[slot] = PLANE;
            self.planes.push(slot as u32);
            return;
        };
        self.live += 1;
        // (`drop_entry` leaves holes, which count.)
        if self.tail.slots.len() == TAIL {
            self.places[slot] = NOWHERE;
            self.settle();
        }
        let at = self.tail.slots.len();
        self.places[slot] = (self.tail.first + at) as u32;
        self.tail.slots.push(slot as u32);
        self.tail.tree.put_below_root(at, bounds);
    }

    /// Forgets a body that was removed.
    pub(crate) fn remove(&mut self, slot: usize) {
        let Some(place) = self.places.get_mut(slot) else { return };
        match std::mem::replace(place, NOWHERE) {
            NOWHERE => {}
            PLANE => self.planes.retain(|&plane| plane as usize != slot),
            place => self.drop_entry(place as usize),
        }
    }

    fn drop_entry(&mut self, entry: usize) {
        self.live -= 1;
        let after = self.runs.partition_point(|run| run.first <= entry);
        let run = if entry >= self.tail.first { &mut self.tail } else { &mut self.runs[after - 1] };
        run.drop_entry(entry);
    }

    /// Makes a run of the tail and of the runs that are as long.
    fn settle(&mut self) {
        self.sorted.clear();
        take_out(&mut self.sorted, &self.tail);
        // What is moved again and again leaves holes: in the tail, and in the runs. (2,000 bodies, each put elsewhere ten times: rays took
        // three times as long.)
        let holes = self.tail.end().saturating_sub(self.live);
        if self.sorted.len() > TAIL / 2 {
            let (mut length, runs) = (0, self.runs.len());
            let mut kept = if holes > self.live { 0 } else { runs };
            while kept > 0
                && self.runs[..kept].iter().rev().take_while(|run| run.length == length).count() == RUNS - 1
            {
                kept -= RUNS - 1;
                length += 1;
            }
            for run in self.runs.drain(kept..) {
                take_out(&mut self.sorted, &run);
                self.spare.push(run);
            }
            sort_by_place(&mut self.sorted);
            self.add_run();
            return;
        }
        self.fill_tail();
    }

    /// Makes the tail of what is sorted.
    fn fill_tail(&mut self) {
        let first = self.tail.first;
        self.tail.clear(first);
        self.sorted.iter().for_each(|&(slot, bounds)| self.tail.push(slot as u32, bounds));
        self.tail.tree.build(Node::bounds);
        note_places(&mut self.places, &self.tail);
    }

    /// Makes a run of what is sorted, and an empty tail.
    fn add_run(&mut self) {
        let mut run = self.spare.pop().unwrap_or_default();
        run.clear(self.runs.last().map_or(0, Run::end));
        run.length = length_of(self.sorted.len());
        self.sorted.iter().for_each(|&(key, bounds)| run.push(key as u32, bounds));
        run.tree.build(Node::bounds);
        note_places(&mut self.places, &run);
        self.tail.clear(run.end());
        self.runs.push(run);
    }

    /// Visits the bodies whose bounds a track may meet, without half-spaces, in an order that is always the same. The visitor returns up
    /// to which fraction of the way the search goes on.
    pub(crate) fn visit_along(
        &self,
        level: Level,
        track: &Track,
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) {
        let mut part = PartOfTrack::new(track, *limit);
        self.visit(level, &mut part, |part, slot| {
            let found = visit(slot);
            if found < *limit {
                *limit = found;
                part.end_at(found);
            }
            found >= 0.0
        });
    }

    /// Visits the bodies whose bounds overlap a box, without half-spaces, until `visit` returns false. Then it returns false.
    pub(crate) fn visit_box(
        &self,
        level: Level,
        [lower, upper]: [Vec2; 2],
        mut visit: impl FnMut(usize) -> bool,
    ) -> bool {
        self.visit(level, &mut [lower.x, upper.x, lower.y, upper.y], |_, slot| visit(slot))
    }

    /// Visits the bodies whose bounds may be within a distance of a point, without half-spaces. The visitor returns within which distance
    /// others are still sought.
    pub(crate) fn visit_outward(
        &self,
        level: Level,
        point: Vec2,
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) {
        let mut disc = Disc::new(point.into());
        disc.reach(*limit);
        self.visit(level, &mut disc, |disc, slot| {
            let found = visit(slot);
            if found < *limit {
                *limit = found;
                disc.reach(found);
            }
            true
        });
    }

    fn visit<R: Region>(
        &self,
        level: Level,
        region: &mut R,
        mut visit: impl FnMut(&mut R, usize) -> bool,
    ) -> bool {
        self.runs
            .iter()
            .chain([&self.tail])
            .all(|run| run.tree.visit(level, region, &mut |region, at| visit(region, run.slots[at] as usize)))
    }
}

fn length_of(entries: usize) -> u32 {
    (entries.max(TAIL) / TAIL).ilog(RUNS)
}

/// Notes where the bodies of a run are.
fn note_places(places: &mut [u32], run: &Run) {
    for (entry, &slot) in (run.first..).zip(&run.slots) {
        if slot != NO_SLOT {
            places[slot as usize] = entry as u32;
        }
    }
}

/// Appends the bodies of a run.
fn take_out(sorted: &mut Vec<Sorted>, run: &Run) {
    for (leaf, slots) in run.tree.leaves.iter().zip(run.slots.chunks(CHILDREN)) {
        let boxes = slots.iter().enumerate().filter(|&(_, &slot)| slot != NO_SLOT);
        sorted.extend(boxes.map(|(child, &slot)| (u64::from(slot), leaf.0.map(|column| column[child]))));
    }
}

/// Sorts bodies along the curve of G. M. Morton (1966) through their bounds' middles. Their keys keep the slots in the lower half.
fn sort_by_place(sorted: &mut [Sorted]) {
    let middle =
        |[min_x, max_x, min_y, max_y]: &[f32; 4]| Vec2::new(0.5 * (min_x + max_x), 0.5 * (min_y + max_y));
    let corners = [Vec2::INFINITY, Vec2::NEG_INFINITY];
    let [lower, upper] = sorted.iter().fold(corners, |[lower, upper], (_, bounds)| {
        let middle = middle(bounds);
        [lower.min(middle), upper.max(middle)]
    });
    let per_metre = 65_535.0 / (upper - lower).max(Vec2::splat(f32::MIN_POSITIVE));
    for (key, bounds) in &mut *sorted {
        let at = (middle(bounds) - lower) * per_metre;
        *key |= (spread(at.x as u16) | spread(at.y as u16) << 1) << 32;
    }
    sorted.sort_unstable_by_key(|&(key, _)| key);
}

/// The bits of a number with a 0 before each.
fn spread(number: u16) -> u64 {
    let mut bits = u64::from(number);
    for (by, mask) in [(8, 0x00FF_00FF), (4, 0x0F0F_0F0F), (2, 0x3333_3333), (1, 0x5555_5555)] {
        bits = (bits | bits << by) & mask;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn level() -> Level {
        Level::of(Isa::Auto).unwrap()
    }

    /// Contract: after any edits each body is found where it was put last, once, and no other.
    fn check(edits: &[(u16, u16, u16, bool)], slots: u16) {
        let (mut unlisted, mut known) = (Unlisted::default(), BTreeMap::new());
        for &(slot, x, y, fills) in edits {
            let slot = usize::from(slot % slots);
            let (x, y) = (f32::from(x), f32::from(y));
            let bounds = [x, x + 3.0, y, y + 2.0];
            if fills {
                unlisted.fill(known.iter().map(|(&slot, &bounds)| (slot, Some(bounds))));
            }
            unlisted.insert(slot, Some(bounds));
            known.insert(slot, bounds);
        }
        let mut all: Vec<_> = unlisted.slots().collect();
        all.sort_unstable();
        assert!(all.iter().eq(known.keys()), "the slots");
        for corner in [[0.0, 0.0], [100.0, 40.0], [300.0, 0.0], [-10.0, -10.0]] {
            let [lower, upper] = [Vec2::from(corner), Vec2::from(corner) + Vec2::new(40.0, 70.0)];
            let mut found = Vec::new();
            unlisted.visit_box(level(), [lower, upper], |slot| {
                found.push(slot);
                true
            });
            found.sort_unstable();
            let within = |bounds: &[f32; 4]| {
                bounds[0] <= upper.x && bounds[1] >= lower.x && bounds[2] <= upper.y && bounds[3] >= lower.y
            };
            let wanted: Vec<_> = known.iter().filter(|(_, at)| within(at)).map(|(&slot, _)| slot).collect();
            assert_eq!(found, wanted, "in the box from {lower}");
        }
        unlisted.clear();
        assert!(unlisted.is_empty() && (0..usize::from(slots)).all(|slot| !unlisted.contains(slot)));
    }

    /// Contract: ten thousand bodies make few runs, the lengths of which fall, and an edit sorts few of them.
    #[test]
    fn runs_are_few() {
        let mut unlisted = Unlisted::default();
        for slot in 0..10_000usize {
            let at = (slot * 7_919 % 10_000) as f32;
            unlisted.insert(slot, Some([at, at + 1.0, 0.0, 1.0]));
        }
        let lengths: Vec<_> = unlisted.runs.iter().map(|run| run.length).collect();
        assert!(lengths.is_sorted_by(|a, b| a >= b) && lengths.len() <= 9, "{lengths:?}");
        assert_eq!(unlisted.slots().count(), 10_000);
        // One that moves all the time makes none.
        (0..10_000).for_each(|step| unlisted.insert(3, Some([step as f32; 4])));
        assert!(unlisted.runs.len() <= 9);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Contract: see `check`.
        #[test]
        fn finds_what_is_there(
            edits in prop::collection::vec((any::<u16>(), 0u16..400, 0u16..120, prop::bool::weighted(0.001)), 0..6_000),
            slots in prop::sample::select(vec![5u16, 300, 5_000]),
        ) {
            check(&edits, slots);
        }
    }
}
