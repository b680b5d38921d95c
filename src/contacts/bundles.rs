//! Bundles: the contacts that are one impact and one friction to mechanics, where a load is about to begin.
//!
//! - A part of a compound has contacts of its own, so that two bodies may have several.
//! - A body may lie on several shapes of what stands still: on pieces of a chain, on the tiles of a floor.
//!
//! They are one, as the two points of a manifold are: the solver solves a bundle as one (`solver/manifold/bundle.rs`). What bears its
//! load from step to step needs no bundle, because its warm start is the common solution already. So the search begins at contacts
//! without a load, which are few in a pile.
//!
//! Contacts with what stands still that are in the lists of two tiles are two bundles: no task has both.

mod ground;

use super::{BLOCK, Tile, set_bits};
use crate::base::room::at_least;
use crate::broadphase::sweep::Pair;
use crate::lane::{Lane, Row};
use crate::narrowphase::PairKind;
use ground::Ground;

/// The most contacts of a bundle. Those of two bodies beyond these are solved one after the other, and those with the ground are several
/// bundles. (With 8, or 16, planks on more pieces of a chain slid on slopes that should have held them.)
pub(crate) const MOST: usize = 32;

/// One contact of a bundle.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    pub block: u32,
    pub lane: u8,
    pub kind: PairKind,
    /// The normal impulses of its points, and those without what friction has shifted from one point to another.
    pub borne: [f32; 2],
    pub pressed: [f32; 2],
    /// The least speeds at which its points may separate, before the positions move.
    pub floor: [f32; 2],
    pub aside: Aside,
}

impl Member {
    fn new(block: usize, lane: usize, kind: PairKind) -> Member {
        Member {
            block: block as u32,
            lane: lane as u8,
            kind,
            borne: [0.0; 2],
            pressed: [0.0; 2],
            floor: [0.0; 2],
            aside: Aside::INERT,
        }
    }
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

/// The contacts of two bodies, or of a body with what stands still, of which at least one bore no load at the start of the step.
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
    /// The contacts that the search begins at.
    struck: Vec<Struck>,
    order: Order,
    ground: Ground,
}

/// The contacts of a block without a load that may be struck, as bits.
struct Struck {
    block: u32,
    lanes: u16,
    /// Those that are struck no faster than a body falls in a substep.
    slow: u16,
    is_fixed: bool,
}

impl Bundles {
    pub(super) fn reserve(&mut self, lanes: usize, unsorted: usize) {
        at_least(&mut self.bundles, lanes / 2);
        at_least(&mut self.members, lanes);
        at_least(&mut self.struck, lanes / 2);
        self.ground.reserve(lanes);
        at_least(&mut self.order.places, unsorted);
    }

    /// Notes lanes of a block that may be of bundles, and those of them that are struck `slow`ly. Blocks come in the order in which they are solved.
    fn note(&mut self, block: usize, lanes: u32, slow: u32, is_fixed: bool) {
        let (block, lanes, slow) = (block as u32, lanes as u16, slow as u16);
        match self.struck.last_mut().filter(|last| last.block == block) {
            Some(last) => (last.lanes, last.slow) = (last.lanes | lanes, last.slow | slow),
            None => self.struck.push(Struck { block, lanes, slow, is_fixed }),
        }
    }

    pub(super) fn is_in_use(&self) -> bool {
        !self.bundles.is_empty() || !self.struck.is_empty()
    }

    /// Begins a step without bundles.
    fn begin(&mut self) {
        self.bundles.clear();
        self.members.clear();
        self.ground.clear();
        self.order.places.clear();
        self.order.is_known = false;
        self.begins = true;
    }
}

/// Notes lanes as [`Bundles::note`] does, out of line: few contacts are struck, and a kernel is no place to allocate.
#[cold]
#[inline(never)]
pub(crate) fn note_struck(
    bundles: &mut Option<Box<Bundles>>,
    block: usize,
    [lanes, slow]: [u32; 2],
    is_fixed: bool,
) {
    bundles.get_or_insert_default().note(block, lanes, slow, is_fixed);
}

/// The pairs of a list in the order of their bodies: their places, or nothing where the list itself is in that order.
#[derive(Default)]
struct Order {
    places: Vec<u32>,
    is_known: bool,
}

impl Order {
    /// Finds the order of a list, unless it is known.
    fn find(&mut self, pairs: &[Pair]) {
        if !self.is_known && !pairs.is_sorted_by_key(of_bodies) {
            self.places.extend(0..pairs.len() as u32);
            self.places.sort_unstable_by_key(|&index| (of_bodies(&pairs[index as usize]), index));
        }
        self.is_known = true;
    }

    /// The pairs of these two bodies, by their places in the list.
    fn pairs_of(&self, pairs: &[Pair], bodies: (u32, u32)) -> impl Iterator<Item = usize> {
        let at = move |place: usize| self.places.get(place).map_or(place, |&index| index as usize);
        let (mut start, mut end) = (0, pairs.len());
        while start < end {
            let middle = start.midpoint(end);
            if of_bodies(&pairs[at(middle)]) < bodies {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        (start..pairs.len()).map(at).take_while(move |&index| of_bodies(&pairs[index]) == bodies)
    }
}

/// Tells whether a body that no impulse moves stands still: it may move by itself.
fn stands(vel: Row) -> bool {
    vel.0 == [0.0; 4]
}

fn of_bodies(pair: &Pair) -> (u32, u32) {
    (pair.a, pair.b)
}

impl Tile {
    /// Finds the bundles of this step, from the contacts that are struck. `vel` returns the velocity row of a slot.
    #[inline(always)]
    pub(crate) fn find_bundles<L: Lane>(&mut self, vel: impl Fn(usize) -> Row) {
        let Some(mut found) = self.bundles.take() else { return };
        found.begin();
        let struck = std::mem::take(&mut found.struck);
        for of in &struck {
            let block = of.block as usize;
            let normal = &self.normal[block];
            for lane in set_bits(of.lanes.into()) {
                if of.is_fixed && stands(vel(normal.b[lane].row())) {
                    found.ground.note(normal.a[lane], of.slow >> lane & 1 == 1);
                } else if self.is_of_parts((block, lane)) {
                    self.find_bundle((block, lane), &mut found);
                }
            }
        }
        if !found.ground.is_empty() {
            self.find_grounded::<L>(&mut found, &struck, vel);
        }
        found.struck = struck;
        found.struck.clear();
        self.bundles = Some(found);
    }

    /// The active lanes of a block that bear no load, as bits.
    pub(crate) fn unloaded(&self, block: usize) -> u16 {
        let active = self.info[block].active;
        if active == 0 {
            return 0;
        }
        let second =
            self.manifold_of(block).map_or(&[0.0; BLOCK], |manifold| &manifold.second.normal_impulse);
        let impulses = self.normal[block].normal_impulse.iter().zip(second);
        let bits = |bits, (lane, (first, second)): (usize, (&f32, &f32))| {
            bits | u16::from(first + second <= 0.0) << lane
        };
        active & impulses.enumerate().fold(0, bits)
    }

    /// Tells whether a shape of this contact is a part of a compound.
    fn is_of_parts(&self, (block, lane): (usize, usize)) -> bool {
        let normal = &self.normal[block];
        self.manifold_of(block).is_some_and(|manifold| {
            manifold.shape_a[lane].row() != normal.a[lane].row()
                || manifold.shape_b[lane].row() != normal.b[lane].row()
        })
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

    /// Adds the bundle of this contact, if it has one and this is the first contact without a load in it.
    fn find_bundle(&self, contact: (usize, usize), found: &mut Bundles) {
        let (block, lane) = contact;
        let normal = &self.normal[block];
        let (a, b) = (normal.a[lane].row() as u32, normal.b[lane].row() as u32);
        let bodies = (a.min(b), a.max(b));
        let pairs = &self.found.pairs;
        let Bundles { bundles, members, order, .. } = found;
        // The list of the tile without bodies of its own is in the order of the tiles that its pairs are from.
        if self.slots.is_empty() {
            order.find(pairs);
        }
        let first = members.len();
        let mut is_first = true;
        for index in order.pairs_of(pairs, bodies) {
            let Some((block, lane)) = self.place(index) else { continue };
            if self.info[block].active >> lane & 1 == 0 || members.len() - first == MOST {
                continue;
            }
            if is_first && self.unloaded(block) >> lane & 1 == 1 {
                if (block, lane) != contact {
                    break;
                }
                is_first = false;
            }
            members.push(Member::new(block, lane, pairs[index].kind));
        }
        if is_first || members.len() < first + 2 {
            members.truncate(first);
            return;
        }
        let (first, end) = (first as u32, members.len() as u32);
        bundles.push(Bundle { first, end, ..Bundle::default() });
    }
}
