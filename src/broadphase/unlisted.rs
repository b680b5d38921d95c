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
//! Before, queries tested these bodies one by one, and every body of the world if more than 64 and one in 1,024 were put elsewhere: among 20,000
//! circles 200 to 660 µs a question instead of 0.6 to 2.6 (`cargo bench -p granule-benches --bench queries -- "after edits"`).

mod run;

use super::tree::{CHILDREN, Node, Region};
use super::walk::{Disc, LineVisitor, PartOfTrack, Track};
use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::isa::Level;
use glam::Vec2;
use run::{NO_SLOT, Run, Sorted, sort_by_place};
use std::ops::Range;
use std::sync::OnceLock;

/// The most bodies in the tail: the leaves below one node.
const TAIL: usize = CHILDREN * CHILDREN;
/// So many runs of one length become one.
const RUNS: usize = 4;

/// No more than one in so many listed bodies, and a tail, are sought apart from the list.
const SHARE: usize = 8;

/// Places: a slot without an entry, and a half-space.
const NOWHERE: u32 = u32::MAX;
const PLANE: u32 = u32::MAX - 1;

/// The bodies that are not where the list has them.
#[derive(Default)]
pub(crate) struct Unlisted {
    /// The number of each slot's entry; or `NOWHERE`, or `PLANE`.
    places: Vec<u32>,
    /// The longest ones first, but for one of bodies that were added.
    runs: Vec<Run>,
    tail: Run,
    planes: Vec<u32>,
    /// The slots of bodies that were added and have no entry. They get a run of their own once a query asks, whose first entry is 0.
    fresh: Range<usize>,
    asked: OnceLock<Run>,
    /// A query has asked between two additions: those that follow join the tail.
    eager: bool,
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
        self.fresh.contains(&slot) || self.places.get(slot).is_some_and(|&place| place != NOWHERE)
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
        self.runs.is_empty() && self.tail.slots.is_empty() && self.planes.is_empty() && self.fresh.is_empty()
    }

    pub(crate) fn planes(&self) -> &[u32] {
        &self.planes
    }

    /// The slots of all of them, half-spaces first.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> {
        let entries = self.runs.iter().chain([&self.tail]).flat_map(|run| &run.slots);
        let known = self.planes.iter().chain(entries.filter(|&&slot| slot != NO_SLOT));
        known.map(|&slot| slot as usize).chain(self.fresh.clone().filter(|&slot| !self.is_plane(slot)))
    }

    fn is_plane(&self, slot: usize) -> bool {
        self.places.get(slot) == Some(&PLANE)
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
        let Unlisted {
            places: _,
            runs,
            tail,
            planes,
            fresh,
            asked: _,
            eager,
            live: _,
            all,
            spare: _,
            sorted: _,
        } = self;
        (*all, *eager).write(to);
        (fresh.start, fresh.end).write(to);
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
        (self.all, self.eager) = from.value()?;
        let (start, end) = from.value()?;
        require!(start <= end && end <= slots, "{start} to {end} of {slots} slots were added");
        self.fresh = start..end;
        let mut numbers = Vec::<u32>::new();
        for number in (0..=from.length()?).rev() {
            numbers.read(from)?;
            let fits = if number > 0 { numbers.len() > TAIL / 2 } else { numbers.len() <= TAIL };
            require!(fits, "{} bodies in a run", numbers.len());
            self.sorted.clear();
            for &slot in &numbers {
                let mut own = Some(Node::MISSING);
                if slot != NO_SLOT {
                    require!(!self.fresh.contains(&(slot as usize)), "slot {slot} is named twice");
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
        self.hold(slot.min(slots));
        require!(slot < slots && self.places[slot] == NOWHERE, "slot {slot} is none, or named twice");
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
        (self.fresh, self.eager) = (0..0, false);
        self.asked.take();
    }

    /// Takes all bodies of a world, in any order, each with the bounds of [`Unlisted::insert`].
    pub(crate) fn take_all(&mut self, bodies: impl Iterator<Item = (usize, Option<[f32; 4]>)>) {
        self.fill(bodies);
        self.all = true;
        self.merge(0);
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

    /// Adds a body that the world did not have. Its slot follows those of all others.
    ///
    /// Who adds many asks when all are there, if at all. So these are sorted once, by the first query. (While each of them joined the tail,
    /// adding 200,000 took 80 ms instead of 37: `peers -- --hosting`.)
    pub(crate) fn add(&mut self, slot: usize, bounds: impl Fn(usize) -> Option<[f32; 4]>, is_plane: bool) {
        if self.asked.get().is_some() {
            self.take_in_fresh();
            self.eager = true;
        }
        let follows = self.fresh.is_empty() || self.fresh.end == slot;
        if self.eager || !follows || (self.fresh.is_empty() && self.tail.slots.len() < TAIL) {
            self.insert(slot, bounds(slot));
            return;
        }
        let start = if self.fresh.is_empty() { slot } else { self.fresh.start };
        self.fresh = start..slot + 1;
        if is_plane {
            self.insert(slot, None);
        }
    }

    /// Gives bodies that were added a run, for the query that asks. The bounds are those of [`Unlisted::insert`], and `None` for a slot without
    /// a body, too.
    pub(crate) fn order_fresh(&self, bounds: impl Fn(usize) -> Option<[f32; 4]>) {
        if self.fresh.is_empty() {
            return;
        }
        self.asked.get_or_init(|| {
            let of = |slot: usize| bounds(slot).map(|bounds| (slot as u64, bounds));
            let mut sorted: Vec<Sorted> = self.fresh.clone().filter_map(of).collect();
            sort_by_place(&mut sorted);
            let mut run = Run::default();
            run.fill(&sorted);
            run
        });
    }

    /// Puts the run of the bodies that were added before the tail.
    fn take_in_fresh(&mut self) {
        let Some(mut run) = self.asked.take() else { return };
        self.hold(self.fresh.end);
        self.fresh = 0..0;
        if run.slots.len() <= TAIL / 2 {
            run.entries().for_each(|(slot, bounds)| self.insert(slot as usize, Some(bounds)));
            return;
        }
        self.live += run.slots.len();
        run.first = self.tail.first;
        run.length = length_of(run.slots.len());
        self.tail.first = run.end();
        run.note(&mut self.places);
        self.tail.note(&mut self.places);
        self.runs.push(run);
    }

    /// Adds a body, or notes that it is elsewhere now. The bounds are `[min_x, max_x, min_y, max_y]`, and `None` for a half-space.
    pub(crate) fn insert(&mut self, slot: usize, bounds: Option<[f32; 4]>) {
        if self.fresh.contains(&slot) && self.asked.get().is_some() {
            self.take_in_fresh();
        }
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
        if self.fresh.contains(&slot) {
            self.places[slot] = NOWHERE;
            return;
        }
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
        if self.fresh.contains(&slot) && self.asked.get().is_some() {
            self.take_in_fresh();
        }
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
        // What is moved again and again leaves holes: in the tail, and in the runs. (The bench `queries`, "after edits", once each of 20,000
        // bodies was placed ten times.)
        let holes = self.tail.end().saturating_sub(self.live);
        let (mut length, mut kept) = (0, if holes > self.live { 0 } else { self.runs.len() });
        while kept > 0
            && self.runs[..kept].iter().rev().take_while(|run| run.length == length).count() == RUNS - 1
        {
            kept -= RUNS - 1;
            length += 1;
        }
        self.merge(kept);
    }

    /// Makes one run of the tail and of all but the first so many runs; a tail, if they have few bodies.
    fn merge(&mut self, kept: usize) {
        self.sorted.clear();
        self.sorted.extend(self.tail.entries());
        for run in self.runs.drain(kept..) {
            self.sorted.extend(run.entries());
            self.spare.push(run);
        }
        if self.sorted.len() > TAIL / 2 {
            sort_by_place(&mut self.sorted);
            self.add_run();
        } else {
            self.fill_tail();
        }
    }

    /// Makes the tail of what is sorted.
    fn fill_tail(&mut self) {
        self.tail.clear(self.runs.last().map_or(0, Run::end));
        self.tail.fill(&self.sorted);
        self.tail.note(&mut self.places);
    }

    /// Makes a run of what is sorted, and an empty tail.
    fn add_run(&mut self) {
        let mut run = self.spare.pop().unwrap_or_default();
        run.clear(self.runs.last().map_or(0, Run::end));
        run.length = length_of(self.sorted.len());
        run.fill(&self.sorted);
        run.note(&mut self.places);
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
            .chain(self.asked.get())
            .all(|run| run.tree.visit(level, region, &mut |region, at| visit(region, run.slots[at] as usize)))
    }
}

fn length_of(entries: usize) -> u32 {
    (entries.max(TAIL) / TAIL).ilog(RUNS)
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

    /// Contract: after any edits, with questions between them, each body is found where it was put last, once, and no other.
    fn check(edits: &[(u16, u16, u16, bool)], slots: u16) {
        let (mut unlisted, mut known) = (Unlisted::default(), BTreeMap::new());
        let mut next = usize::from(slots);
        for &(slot, x, y, fills) in edits {
            let bounds = [x, x + 3, y, y + 2].map(f32::from);
            if fills {
                unlisted.fill(known.iter().map(|(&slot, &bounds)| (slot, Some(bounds))));
            }
            // One in four is added, one in eight is one of those that were, and few are removed.
            let added = next - usize::from(slots);
            let slot = match slot % 8 {
                0 | 1 => next,
                2 if added > 0 => usize::from(slots) + usize::from(slot) % added,
                _ => usize::from(slot % slots),
            };
            if slot == next {
                unlisted.add(slot, |_| Some(bounds), false);
                next += 1;
            } else if x == 1 {
                unlisted.remove(slot);
                known.remove(&slot);
                continue;
            } else {
                unlisted.insert(slot, Some(bounds));
            }
            known.insert(slot, bounds);
            if y == 0 && x % 8 == 0 {
                unlisted.order_fresh(|slot| known.get(&slot).copied());
            }
        }
        unlisted.order_fresh(|slot| known.get(&slot).copied());
        let mut all: Vec<_> = unlisted.slots().collect();
        all.sort_unstable();
        // What was removed before it had an entry has a slot that is named still.
        assert!(known.keys().all(|slot| all.binary_search(slot).is_ok()), "the slots");
        assert!(all.windows(2).all(|two| two[0] < two[1]), "a slot is named twice");
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
        // What moves again and again leaves few holes.
        let mut most = 0;
        for step in 0..100_000usize {
            unlisted.insert(step * 7_919 % 10_000, Some([(step % 997) as f32; 4]));
            most = most.max(unlisted.tail.end());
        }
        assert!(most <= 2 * 10_000 + 2 * TAIL, "{most} entries for 10,000 bodies");
    }

    /// Contract: bodies that are added without a question between them are not sorted until one comes.
    #[test]
    fn additions_wait_for_a_question() {
        let mut unlisted = Unlisted::default();
        let bounds = |slot: usize| Some([slot as f32, slot as f32 + 1.0, 0.0, 1.0]);
        (0..5_000).for_each(|slot| unlisted.add(slot, bounds, false));
        assert!(unlisted.runs.is_empty() && unlisted.slots().count() == 5_000);
        unlisted.order_fresh(bounds);
        let mut found = Vec::new();
        unlisted.visit_box(level(), [Vec2::new(3_000.5, 0.5), Vec2::new(3_002.5, 0.6)], |slot| {
            found.push(slot);
            true
        });
        found.sort_unstable();
        assert_eq!(found, [3_000, 3_001, 3_002]);
        (5_000..5_010).for_each(|slot| unlisted.add(slot, bounds, false));
        assert!(unlisted.fresh.is_empty(), "an addition after a question waits for another");
        assert_eq!(unlisted.slots().count(), 5_010);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Contract: see `check`.
        #[test]
        fn finds_what_is_there(
            edits in prop::collection::vec((any::<u16>(), 0u16..400, 0u16..200, prop::bool::weighted(0.001)), 0..6_000),
            slots in prop::sample::select(vec![5u16, 300, 5_000]),
        ) {
            check(&edits, slots);
        }
    }
}
