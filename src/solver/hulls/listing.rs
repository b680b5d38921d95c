//! The hulls of a step, and those of them that stand still.
//!
//! A hull stands still if its corners are static or asleep. Such hulls, and their order by place, are kept for as long as the bodies that stand
//! still are as they were (`body/order.rs`): a step then looks at the others alone. Two hulls that stand still are no pair, so the others look for
//! them; and of hulls and other bodies, those look for the rest that are fewer. (When all hulls were made, ordered and looked up in each step, 2,500 soft
//! boxes that slept beside one ball took 2.5 ms a step.)

use super::pairs::box_of;
use super::{Hull, HullSolver, NO_HULL, TIED};
use crate::body::{Bodies, Still};
use crate::broadphase::levels::Levels;
use crate::particles::hulls::Hulls;
use crate::settings::Settings;

/// The hulls that stand still.
#[derive(Default)]
pub(super) struct StillHulls {
    /// Their places, in order.
    pub places: Vec<u32>,
    /// Their boxes, by their numbers in that list.
    levels: Levels,
    /// What stood still when they were listed, and how far contacts looked ahead, m. `None` if some of them are among the bodies that may move.
    listed: Option<(Still, f32)>,
    /// They are new: what depends on other hulls and on links is not known yet.
    fresh: bool,
}

impl StillHulls {
    /// Visits the places of those whose boxes overlap a box.
    pub fn visit(&self, x: [f32; 2], y: [f32; 2], mut visit: impl FnMut(usize)) {
        if !self.places.is_empty() {
            self.levels.visit(x, y, |number| {
                visit(self.places[number] as usize);
                true
            });
        }
    }

    /// Forgets what is kept from step to step.
    pub fn forget(&mut self) {
        self.listed = None;
    }

    fn are_known(&self, bodies: &Bodies, ahead: f32) -> bool {
        let still = bodies.still();
        self.listed.as_ref().is_some_and(|(listed, last)| {
            *last == ahead && !still.is_empty() && bodies.still_since(Some(listed)) == still
        })
    }
}

/// Orders the boxes of the hulls at these places, so that near ones are found quickly.
fn order(levels: &mut Levels, boxes: &mut [Vec<f32>; 4], hulls: &[Hull], places: &[u32]) {
    let hulls = || places.iter().map(|&place| &hulls[place as usize]);
    for (axis, column) in boxes.iter_mut().enumerate() {
        column.clear();
        column.extend(hulls().map(|hull| if axis % 2 == 0 { hull.lower } else { hull.upper }[axis / 2]));
    }
    let size: f32 = hulls().map(|hull| (hull.upper - hull.lower).max_element()).sum();
    let [min_x, max_x, min_y, max_y] = boxes;
    levels.build_boxes([min_x, max_x, min_y, max_y], 2.0 * size / places.len().max(1) as f32);
}

impl Hull {
    fn stands_still(&self, bodies: &Bodies) -> bool {
        self.fixed && self.slots().iter().all(|&slot| bodies.columns.kind[slot as usize].stands_still())
    }
}

impl HullSolver {
    /// Finds where all hulls are.
    pub(super) fn list(&mut self, hulls: &Hulls, bodies: &Bodies, settings: &Settings) {
        let ahead = settings.speculative_distance();
        if hulls.renumbered || !self.still.are_known(bodies, ahead) {
            return self.list_all(hulls, bodies, settings);
        }
        for place in self.paired.drain(..) {
            self.hulls[place as usize].paired = false;
        }
        for &place in &self.moving {
            let hull = hulls.at(self.indices[place as usize]);
            let Some(hull) = hull.and_then(|hull| Hull::of(hull.points(), bodies, settings)) else {
                return self.list_all(hulls, bodies, settings);
            };
            if hull.stands_still(bodies) {
                return self.list_all(hulls, bodies, settings);
            }
            self.hulls[place as usize] = hull;
        }
        self.place_hulls();
    }

    fn list_all(&mut self, hulls: &Hulls, bodies: &Bodies, settings: &Settings) {
        self.hulls.clear();
        self.indices.clear();
        self.moving.clear();
        self.paired.clear();
        let StillHulls { places, levels, listed, fresh } = &mut self.still;
        places.clear();
        let range = bodies.still();
        let mut are_behind = true;
        for (handle, hull) in hulls.iter() {
            let Some(hull) = Hull::of(hull.points(), bodies, settings) else { continue };
            let place = self.hulls.len() as u32;
            if hull.stands_still(bodies) {
                are_behind &= hull.slots().iter().all(|&slot| range.contains(&(slot as usize)));
                places.push(place);
            } else {
                self.moving.push(place);
            }
            self.hulls.push(hull);
            self.indices.push(handle.index());
        }
        let still = bodies.known_still().filter(|_| are_behind);
        (*listed, *fresh) = (still.map(|still| (still, settings.speculative_distance())), true);
        if !places.is_empty() {
            order(levels, &mut self.boxes, &self.hulls, places);
        }
        self.capacity = self.hulls.iter().map(|hull| hull.count).max().unwrap_or(0);
        self.place_hulls();
    }

    /// Orders the boxes of the hulls that may move.
    fn place_hulls(&mut self) {
        let HullSolver { hulls, moving, boxes, levels, .. } = self;
        order(levels, boxes, hulls, moving);
    }

    /// Visits the slots of the bodies that contacts move and that are no corners, if they are fewer than the hulls that stand still. Returns false if
    /// not: then those hulls look for the bodies.
    pub(super) fn visit_movers(&self, bodies: &Bodies, mut visit: impl FnMut(usize)) -> bool {
        if bodies.len - (bodies.static_count + bodies.asleep_count).min(bodies.len) >= self.still.places.len()
        {
            return false;
        }
        let (c, still) = (&bodies.columns, bodies.still());
        let moves =
            |slot: usize| c.inv_mass[slot] > 0.0 || [c.vel_x[slot], c.vel_y[slot], c.omega[slot]] != [0.0; 3];
        let may_meet =
            |slot: &usize| moves(*slot) && c.kind[*slot].is_collidable() && !bodies.is_corner(*slot);
        (0..still.start).chain(still.end..bodies.len).filter(may_meet).for_each(&mut visit);
        true
    }

    /// Visits the places of the hulls that stand still near a body.
    pub(super) fn visit_still_near(
        &self,
        slot: usize,
        bodies: &Bodies,
        settings: &Settings,
        visit: impl FnMut(usize),
    ) {
        let [lower, upper] = box_of(slot, bodies, settings);
        self.still.visit([lower.x, upper.x], [lower.y, upper.y], visit);
    }

    /// Notes the place of each hull among those of this step.
    pub(super) fn number(&mut self) {
        self.places.clear();
        for (place, &index) in self.indices.iter().enumerate() {
            if self.places.len() <= index as usize {
                self.places.resize(index as usize + 1, NO_HULL);
            }
            self.places[index as usize] = place as u32;
        }
        self.owners.clear();
    }

    /// Decides how far each hull gives way to a push, and which one meets half-spaces with which particle. `renewed` tells that hulls or links have changed.
    pub(super) fn assign_corners(&mut self, bodies: &Bodies, renewed: bool) {
        let HullSolver { hulls, indices, moving, still, clusters, owners, .. } = self;
        let fresh = owners.is_empty();
        let all = std::mem::take(&mut still.fresh) || renewed || fresh;
        let mut assign = |place: usize| {
            let (hull, index) = (&mut hulls[place], indices[place]);
            let is_corner = |&index: &u32| bodies.slot_at(index).is_some_and(|slot| bodies.is_corner(slot));
            let is_tied = clusters.around(index, hull.count).iter().any(is_corner);
            hull.gives = if is_tied { TIED } else { 1.0 };
            for end in 0..hull.count {
                let body = bodies.handle(hull.slots[end] as usize).index as usize;
                if fresh && owners.len() <= body {
                    owners.resize(body + 1, NO_HULL);
                }
                if owners[body] == NO_HULL {
                    owners[body] = index;
                }
                hull.own |= u8::from(owners[body] == index) << end;
            }
        };
        match all {
            true => (0..indices.len()).for_each(assign),
            false => moving.iter().for_each(|&place| assign(place as usize)),
        }
    }
}
