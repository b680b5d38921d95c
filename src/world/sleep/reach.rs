//! How what is touched wakes within the step, and what a blow may reach.

use super::super::World;
use crate::crew::Crew;
use crate::sleep::{Before, Found, Reach};
use glam::Vec2;

/// How many islands, one behind the other, wake in front of a blow at once. What sleeps further behind is a wall for this step.
const DEPTH: usize = 8;
/// Up to how many bodies an island passes a blow on from all of them: a figure, or a row of bodies that are joined.
const SMALL: usize = 16;

impl World {
    /// Runs after the narrowphase. Wakes the islands that something awake touches, or may reach in this step, and makes the step's list again
    /// with their bodies.
    pub(in super::super) fn wake_touched(&mut self, crew: &Crew<'_>) {
        if self.bodies.asleep_count == 0 {
            return;
        }
        let mut reach = std::mem::take(&mut self.sleep.reach);
        reach.begin_step();
        while self.bodies.asleep_count > 0 {
            reach.find_touched(self.before());
            let mut hulls = Vec::new();
            self.find_touched_hulls(&mut hulls, crew);
            reach.add_touched(&hulls);
            if reach.found.is_empty() {
                reach.find_reached(self.before());
            }
            self.find_behind(&mut reach);
            let mut touched = std::mem::take(&mut self.sleep.touched);
            touched.clear();
            touched.extend(reach.found.iter().map(|found| found.island));
            if touched.is_empty() {
                self.sleep.touched = touched;
                break;
            }
            self.wake_islands(touched);
            self.carry_out(crew);
            self.find_pairs(crew);
            self.build_contacts(crew);
            self.fill_mirror(crew);
            self.update_contacts(crew);
        }
        self.sleep.reach = reach;
    }

    fn before(&self) -> Before<'_> {
        Before { bonds: self.bonds(), vel: &self.solver.mirror.vel, settings: &self.settings }
    }

    /// Adds the islands behind those that are `found`: of bodies that would be contacts of theirs, and that they may get to.
    /// All rows of them at once: each time that something wakes makes a list.
    fn find_behind(&self, reach: &mut Reach) {
        let Reach { found, behind, seen, .. } = reach;
        Found::merge(found);
        seen.clear();
        seen.extend(found.iter().map(|found| found.island));
        let mut first = 0;
        for _ in 0..DEPTH {
            behind.clear();
            for from in &found[first..] {
                self.find_next_to(from, seen, behind);
            }
            if behind.is_empty() {
                return;
            }
            Found::merge(behind);
            first = found.len();
            found.append(behind);
            seen.extend(found[first..].iter().map(|found| found.island));
            seen.sort_unstable();
        }
    }

    /// Finds the islands next to one that wakes.
    fn find_next_to(&self, from: &Found, seen: &[u32], behind: &mut Vec<Found>) {
        if from.by <= self.settings.slop {
            return;
        }
        let leeway = from.by.min(self.settings.speculative_distance());
        let place = |slot: usize| (self.bodies.position(slot), self.bodies.bounds(slot));
        let (centre, extent) = place(from.slot as usize);
        let members = &self.sleep.island(from.island).members;
        let is_small = members.len() <= SMALL;
        for slot in members.iter().filter_map(|&body| self.bodies.slot_of(body).ok()) {
            let (position, bounds) = place(slot);
            // A blow is not carried far through a large island.
            let is_far =
                !is_small && (position - centre).abs().cmpgt(bounds + extent + Vec2::splat(from.by)).any();
            if is_far {
                continue;
            }
            let reach = bounds + Vec2::splat(leeway);
            self.bodies_near(position - reach, position + reach, |other| {
                let island = self.bodies.island(other).filter(|island| seen.binary_search(island).is_err());
                if let Some(island) = island {
                    let mut gap = f32::INFINITY;
                    let (a, b) = (slot.min(other), slot.max(other));
                    self.visit_pairs(a, b, &mut |pair| gap = gap.min(self.separation(pair)));
                    if gap < leeway {
                        behind.push(Found { island, slot: other as u32, by: from.by - gap.max(0.0) });
                    }
                }
                true
            });
        }
    }
}
