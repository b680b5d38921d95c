//! Bundles: the contacts of two bodies that meet with several parts at once, where a load is about to begin.
//!
//! A part of a compound has contacts of its own, so that two bodies may have several. To mechanics they are one impact and one
//! friction, as the two points of a manifold are: the solver solves a bundle as one (`solver/manifold/bundle.rs`). What bears its
//! load from step to step needs no bundle, because its warm start is the common solution already: a bundle has a contact without a load.

use super::Tile;
use crate::base::room::at_least;
use crate::broadphase::sweep::Pair;
use crate::narrowphase::PairKind;
use std::ops::Range;

/// The most contacts of a bundle; contacts beyond these are solved one after the other.
pub(crate) const MOST: usize = 8;

/// One contact of a bundle.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    pub block: u32,
    pub lane: u8,
    pub kind: PairKind,
    /// The normal impulses of its points without those that friction has shifted from one point to another.
    pub pressed: [f32; 2],
    pub aside: Aside,
}

/// What a contact has in its block, kept here while the block's kernel is to leave it alone.
#[derive(Clone, Copy)]
pub(crate) struct Aside {
    pub resting: [f32; 2],
    pub normal_impulse: [f32; 2],
    pub normal_mass: [f32; 2],
    pub tangent_impulse: f32,
    pub tangent_mass: f32,
    pub rolling_impulse: f32,
    pub approach: f32,
    pub absorbed: f32,
}

impl Aside {
    /// A contact that the kernels leave alone: without mass and impulse, and not in an impact, as it rests.
    pub(crate) const INERT: Aside = Aside {
        resting: [1.0; 2],
        normal_impulse: [0.0; 2],
        normal_mass: [0.0; 2],
        tangent_impulse: 0.0,
        tangent_mass: 0.0,
        rolling_impulse: 0.0,
        approach: 0.0,
        absorbed: 0.0,
    };
}

/// The contacts of two bodies, of which at least one bore no load at the start of the step.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bundle {
    /// The first of its members, and one more than the last.
    pub first: u32,
    pub end: u32,
    /// The bodies meet in this substep.
    pub meets: bool,
    /// They do so faster than a body's weight presses: the impulses are no lasting load.
    pub landed: bool,
    /// They are in an impact that may rebound.
    pub impact: bool,
    /// The fastest approach of a point that bears no load and closes its gap, as a speed below 0.
    pub struck: f32,
    /// The same for a point that bore no load at the start of the step.
    pub bouncing: f32,
}

/// The bundles of a tile in this step.
#[derive(Default)]
pub(crate) struct Bundles {
    pub bundles: Vec<Bundle>,
    pub members: Vec<Member>,
    /// No pass over the velocities was made in this substep.
    pub begins: bool,
    /// The pairs in the order of their bodies, where the list is in another order.
    order: Vec<u32>,
}

impl Bundles {
    pub(super) fn reserve(&mut self, lanes: usize, unsorted: usize) {
        at_least(&mut self.bundles, lanes / 2);
        at_least(&mut self.members, lanes);
        at_least(&mut self.order, unsorted);
    }
}

fn of_bodies(pair: &Pair) -> (u32, u32) {
    (pair.a, pair.b)
}

/// Visits the rows of several pairs of the same bodies.
fn for_rows(count: usize, bodies: impl Fn(usize) -> (u32, u32), mut visit: impl FnMut(Range<usize>)) {
    let mut start = 0;
    while start < count {
        let of = bodies(start);
        let end = (start + 1..count).find(|&next| bodies(next) != of).unwrap_or(count);
        if end - start > 1 {
            visit(start..end);
        }
        start = end;
    }
}

impl Tile {
    /// Finds the bundles of this step, from the contacts that are active and the impulses of the last step.
    pub(crate) fn find_bundles(&mut self) {
        let mut found = self.bundles.take().unwrap_or_default();
        found.bundles.clear();
        found.members.clear();
        found.begins = true;
        let pairs = &self.found.pairs;
        // The list of the tile without bodies of its own is in the order of the tiles that its pairs are from.
        let is_sorted = !self.slots.is_empty() || pairs.is_sorted_by_key(of_bodies);
        found.order.clear();
        if !is_sorted {
            found.order.extend(0..pairs.len() as u32);
            found.order.sort_unstable_by_key(|&index| (of_bodies(&pairs[index as usize]), index));
        }
        let order = std::mem::take(&mut found.order);
        if is_sorted {
            let bodies = |index: usize| of_bodies(&pairs[index]);
            for_rows(pairs.len(), bodies, |row| self.add_bundle(row, &mut found));
        } else {
            let at = |place: usize| order[place] as usize;
            let bodies = |place: usize| of_bodies(&pairs[at(place)]);
            for_rows(pairs.len(), bodies, |row| self.add_bundle(row.map(at), &mut found));
        }
        found.order = order;
        self.bundles = Some(found);
    }

    /// Adds the bundle of these pairs of two bodies, if several of them are active and one of these bears no load.
    fn add_bundle(&self, pairs: impl Iterator<Item = usize>, found: &mut Bundles) {
        let Bundles { bundles, members, .. } = found;
        let first = members.len();
        let mut any_unloaded = false;
        let active = pairs.filter_map(|index| Some((index, self.place(index)?)));
        for (index, (block, lane)) in
            active.filter(|&(_, (block, lane))| self.info[block].active >> lane & 1 == 1).take(MOST)
        {
            let Some(manifold) = self.manifold_of(block) else { continue };
            any_unloaded |=
                self.normal[block].normal_impulse[lane] + manifold.second.normal_impulse[lane] <= 0.0;
            members.push(Member {
                block: block as u32,
                lane: lane as u8,
                kind: self.found.pairs[index].kind,
                pressed: [0.0; 2],
                aside: Aside::INERT,
            });
        }
        if !any_unloaded || members.len() < first + 2 {
            members.truncate(first);
            return;
        }
        let (first, end) = (first as u32, members.len() as u32);
        bundles.push(Bundle { first, end, ..Bundle::default() });
    }

    /// Exchanges what a contact has in its block for what is kept of it.
    pub(crate) fn exchange(&mut self, member: &mut Member) {
        let (block, i) = (member.block as usize, usize::from(member.lane));
        let place = self.info[block].manifold as usize;
        let (normal, friction) = (&mut self.normal[block], &mut self.friction[block]);
        let (second, aside) = (&mut self.manifold[place].second, &mut member.aside);
        let swap = std::mem::swap::<f32>;
        swap(&mut normal.normal_impulse[i], &mut aside.normal_impulse[0]);
        swap(&mut second.normal_impulse[i], &mut aside.normal_impulse[1]);
        swap(&mut normal.normal_mass[i], &mut aside.normal_mass[0]);
        swap(&mut second.normal_mass[i], &mut aside.normal_mass[1]);
        swap(&mut friction.tangent_impulse[i], &mut aside.tangent_impulse);
        swap(&mut friction.tangent_mass[i], &mut aside.tangent_mass);
        if let Some(rough) = self.rough.get_mut(place) {
            swap(&mut rough.rolling_impulse[i], &mut aside.rolling_impulse);
        }
        if let Some(bounce) = self.bounce.get_mut(block) {
            swap(&mut bounce.resting[0][i], &mut aside.resting[0]);
            swap(&mut bounce.resting[1][i], &mut aside.resting[1]);
            swap(&mut bounce.approach[i], &mut aside.approach);
            swap(&mut bounce.absorbed[i], &mut aside.absorbed);
        }
    }
}
