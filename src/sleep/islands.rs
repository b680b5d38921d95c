//! Finds islands: sets of awake bodies that touch each other, or are joined, directly or through others.

use crate::base::room::resize;
use crate::body::{Bodies, BodyHandle};
use crate::contacts::Contacts;
use crate::joints::desc::{JointEnds, JointKind};
use crate::joints::table::Joints;
use crate::particles::hulls::Hulls;
use crate::particles::links::Links;
use crate::solver::hulls::{HullSolver, stand_for};

/// Disjoint sets of the numbers from 0 on. The least number of a set stands for it, so the result does not depend on the order in
/// which sets were united. (R. Tarjan, "Efficiency of a good but not linear set union algorithm", 1975, with halved paths.)
#[derive(Default)]
struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Makes a set of each number below `len`.
    fn reset(&mut self, len: usize) {
        self.parent.clear();
        self.parent.extend(0..len as u32);
    }

    fn find(&mut self, mut number: u32) -> u32 {
        loop {
            let parent = self.parent[number as usize];
            let next = self.parent[parent as usize];
            if parent == next {
                return parent;
            }
            self.parent[number as usize] = next;
            number = next;
        }
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

/// All that can bind bodies together.
#[derive(Clone, Copy)]
pub(crate) struct Bonds<'a> {
    pub bodies: &'a Bodies,
    pub contacts: &'a Contacts,
    pub joints: &'a Joints,
    pub links: &'a Links,
    pub hulls: &'a Hulls,
    pub hull_solver: &'a HullSolver,
}

impl Bonds<'_> {
    /// Visits all pairs of bodies that are bound to each other, as slots, in a fixed order.
    pub(crate) fn visit(&self, mut visit: impl FnMut(usize, usize)) {
        self.contacts.visit_touching(&mut visit);
        self.contacts.visit_woken(self.bodies, &mut visit);
        self.visit_joined(&mut visit);
        self.hull_solver.visit_touching(self.bodies, &mut visit);
    }

    /// Visits the pairs of which one may hold the other, as slots: those that press each other, or are joined.
    fn visit_held(&self, mut visit: impl FnMut(usize, usize)) {
        self.contacts.visit_pressed(&mut visit);
        self.hull_solver.visit_touching(self.bodies, &mut visit);
        let is_there = |slot: usize| !self.bodies.is_disabled(slot);
        self.visit_joined(|a, b| {
            if is_there(a) && is_there(b) {
                visit(a, b);
            }
        });
    }

    /// Visits the slots of bodies with joints that bind them to the world.
    fn visit_hung(&self, mut visit: impl FnMut(usize)) {
        for (_, joint) in self.joints.iter().filter(|(_, joint)| joint.desc.enabled) {
            if let JointEnds::World(body) = joint.desc.ends {
                self.bodies.slot_at(body.index).into_iter().for_each(&mut visit);
            }
        }
    }

    /// Visits the pairs that joints, links and hulls bind, as slots, in a fixed order.
    pub(super) fn visit_joined(&self, mut visit: impl FnMut(usize, usize)) {
        let slot = |body: u32| self.bodies.slot_at(body);
        let mut pair = |a: Option<usize>, b: Option<usize>| {
            if let (Some(a), Some(b)) = (a, b) {
                visit(a, b);
            }
        };
        for (_, joint) in self.joints.iter() {
            if !joint.desc.enabled || matches!(joint.desc.kind, JointKind::Filter) {
                continue;
            }
            // Of the four bodies of a gear, two often stand still, and bind nothing.
            let bodies = self.joints.bodies_of_any(&joint.desc).into_iter().flatten();
            let slots = bodies.filter_map(|body| slot(body.index));
            let first = stand_for(slots.clone(), self.bodies);
            slots.for_each(|other| pair(first, Some(other)));
        }
        for (_, link) in self.links.iter() {
            pair(slot(link.a.index), slot(link.b.index));
        }
        for (_, hull) in self.hulls.iter() {
            let points = hull.points().iter().filter_map(|point| slot(point.index));
            let first = stand_for(points.clone(), self.bodies);
            points.for_each(|other| pair(first, Some(other)));
        }
    }
}

/// The part of the weights of an island that may be without a counterweight.
const BALANCED: f64 = 1.0e-3;

/// What tells islands that have come to rest from those that are only slow.
#[derive(Clone, Copy)]
pub(crate) struct AtRest<'a> {
    /// The weight of the body in a slot, in units of gravity; `None` if it does not move by itself though gravity pulls it.
    pub weight: &'a dyn Fn(usize) -> Option<f32>,
    /// Whether the body in a slot was elsewhere at the start of the step, though it has no speed.
    pub is_moved: &'a dyn Fn(usize) -> bool,
    /// How far bodies may overlap that rest, m.
    pub deepest: f32,
    /// The bodies that the host has moved since the last step, or that went to a target in it, sorted.
    pub stirred: &'a [BodyHandle],
}

fn is_awake(bodies: &Bodies, slot: usize) -> bool {
    bodies.columns.inv_mass[slot] > 0.0
}

/// The slots of the bodies that are awake.
fn awake(bodies: &Bodies) -> impl Iterator<Item = usize> + '_ {
    (0..bodies.len).filter(|&slot| is_awake(bodies, slot))
}

/// The islands of awake bodies, and the memory to find them.
#[derive(Default)]
pub(crate) struct Islands {
    sets: DisjointSets,
    /// Those that hold each other: a body that is only touched is not held.
    holding: DisjointSets,
    restless: Vec<bool>,
    held: Vec<bool>,
    /// The sum of the weights of those that hold each other, and that of their amounts.
    weights: Vec<[f64; 2]>,
    /// The bodies of the islands that may sleep: the least slot of the island, then the body's own; in order.
    calm: Vec<[u32; 2]>,
}

impl Islands {
    /// Finds the islands. With `may_sleep`, which says whether the body in a slot may sleep, finds only those whose bodies all may. With
    /// `rest`, finds only those that have come to rest.
    pub(crate) fn find(
        &mut self,
        bonds: &Bonds<'_>,
        may_sleep: Option<&dyn Fn(usize) -> bool>,
        rest: Option<AtRest<'_>>,
    ) {
        let bodies = bonds.bodies;
        self.bind(bonds);
        if let Some(rest) = rest {
            self.find_restless(bonds, rest);
        }
        let Islands { sets, restless, calm, .. } = self;
        for slot in awake(bodies) {
            if !may_sleep.is_none_or(|may| may(slot)) || restless[slot] {
                restless[sets.find(slot as u32) as usize] = true;
            }
        }
        calm.clear();
        for slot in awake(bodies) {
            let root = sets.find(slot as u32);
            if may_sleep.is_none() || !restless[root as usize] {
                calm.push([root, slot as u32]);
            }
        }
        calm.sort_unstable();
    }

    /// Unites the bodies that are bound to each other, and marks those that a driven body pushes.
    fn bind(&mut self, bonds: &Bonds<'_>) {
        let bodies = bonds.bodies;
        let Islands { sets, restless, .. } = self;
        sets.reset(bodies.len);
        restless.clear();
        resize(restless, bodies.len);
        bonds.visit(|a, b| match (is_awake(bodies, a), is_awake(bodies, b)) {
            (true, true) => sets.unite(a as u32, b as u32),
            // A body that a driven body pushes does not come to rest, even if something holds it where it is.
            (true, false) => restless[a] |= bodies.is_driven(b),
            (false, true) => restless[b] |= bodies.is_driven(a),
            (false, false) => {}
        });
    }

    /// Marks the bodies that are moved, those that overlap deeply, and those that fall, though slowly: nothing holds them. (When one body of an
    /// island that was held held all of them, what fell beside a body on a shelf and touched it slept in the air.)
    fn find_restless(&mut self, bonds: &Bonds<'_>, rest: AtRest<'_>) {
        let AtRest { weight, is_moved, deepest, stirred } = rest;
        let bodies = bonds.bodies;
        let Islands { holding, restless, held, weights, .. } = self;
        if bodies.any_rough {
            // What lay on a belt of less than the threshold fell asleep, and no longer moved.
            let mut stir = |a: usize, b: usize| (restless[a], restless[b]) = (true, true);
            bonds.contacts.visit_belts(&mut stir);
            bonds.hull_solver.visit_belts(bodies, &mut stir);
        }
        if !stirred.is_empty() {
            let is_stirred = |slot: usize| stirred.binary_search(&bodies.columns.handle[slot]).is_ok();
            bonds.visit(|a, b| {
                (restless[a], restless[b]) = (restless[a] | is_stirred(b), restless[b] | is_stirred(a))
            });
        }
        if deepest.is_finite() {
            bonds.contacts.visit_near(|[a, b], gap| {
                let is_deep = gap < -deepest;
                restless[a] |= is_deep;
                restless[b] |= is_deep;
            });
        }
        held.clear();
        resize(held, bodies.len);
        holding.reset(bodies.len);
        bonds.visit_held(|a, b| match (is_awake(bodies, a), is_awake(bodies, b)) {
            (true, true) => holding.unite(a as u32, b as u32),
            (true, false) => held[a] = true,
            (false, true) => held[b] = true,
            (false, false) => {}
        });
        bonds.visit_hung(|slot| held[slot] = true);
        weights.clear();
        weights.resize(bodies.len, [0.0; 2]);
        for slot in awake(bodies) {
            let root = holding.find(slot as u32) as usize;
            restless[slot] |= is_moved(slot);
            let own = weight(slot);
            held[root] |= held[slot] || own.is_none();
            let own = f64::from(own.unwrap_or(0.0));
            weights[root] = [weights[root][0] + own, weights[root][1] + own.abs()];
        }
        // Weights that carry each other fall as little as none.
        let falls = |root: usize| weights[root][0].abs() > BALANCED * weights[root][1];
        for slot in awake(bodies) {
            let root = holding.find(slot as u32) as usize;
            restless[slot] |= !held[root] && falls(root);
        }
    }

    /// The number of bodies in the islands that were found.
    pub(crate) fn body_count(&self) -> usize {
        self.calm.len()
    }

    /// The islands that were found, in the order of their least slots. Each body is the least slot of its island, then its own slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[[u32; 2]]> {
        self.calm.chunk_by(|one, other| one[0] == other[0])
    }
}

#[cfg(test)]
mod tests {
    use super::DisjointSets;
    use proptest::prelude::*;

    /// The least number that each number can be reached from, by a search of the graph.
    fn reached(len: u32, edges: &[(u32, u32)]) -> Vec<u32> {
        let mut least: Vec<u32> = (0..len).collect();
        for start in 0..len {
            let mut open = vec![start];
            let mut seen = vec![false; len as usize];
            while let Some(at) = open.pop() {
                if std::mem::replace(&mut seen[at as usize], true) {
                    continue;
                }
                least[at as usize] = least[at as usize].min(start);
                open.extend(edges.iter().filter(|edge| edge.0 == at).map(|edge| edge.1));
                open.extend(edges.iter().filter(|edge| edge.1 == at).map(|edge| edge.0));
            }
        }
        least
    }

    proptest! {
        /// Contract: two numbers are in one set exactly if a search of the graph reaches the one from the other, and the least
        /// number of a set stands for it.
        #[test]
        fn sets_are_what_a_search_reaches(edges in proptest::collection::vec((0u32..40, 0u32..40), 0..60)) {
            let mut sets = DisjointSets::default();
            sets.reset(40);
            edges.iter().for_each(|&(a, b)| sets.unite(a, b));
            let found: Vec<u32> = (0..40).map(|number| sets.find(number)).collect();
            prop_assert_eq!(found, reached(40, &edges));
        }
    }
}
