//! Bundles of bodies that meet several shapes of what stands still.

use super::{Bundle, Bundles, MOST, Member, Struck, stands};
use crate::base::room::at_least;
use crate::contacts::{BLOCK, Tile, set_bits};
use crate::lane::{Lane, Row, RowOffset, lane_entry};
use crate::narrowphase::PairKind;
use std::ops::Range;

/// The cosine of the angle up to which contacts with different bodies that stand still are side by side: pieces of one floor, and not the
/// two walls of a corner.
const SIDE_BY_SIDE: f32 = 0.8;

/// So many bodies are compared with each lane of a block; more are searched, so that the cost does not grow with the square.
const FEW: usize = 16;

/// The bodies that meet what stands still in this step, with what they meet there.
#[derive(Default)]
pub(super) struct Ground {
    bodies: Vec<Meeting>,
    contacts: Vec<Contact>,
    /// Blocks with contacts of these bodies, and the lanes of these, as bits.
    blocks: Vec<(u32, u16)>,
}

/// A body with a contact with what stands still that bears no load and may be struck in this step.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Meeting {
    body: RowOffset,
    /// No faster than a body falls in a substep.
    is_slow: bool,
}

/// One of its contacts with what stands still: one that may be struck, or bears a load.
struct Contact {
    /// The place of the body in the list of these.
    body: u32,
    block: u32,
    lane: u8,
    kind: PairKind,
    is_loaded: bool,
    /// It is in a bundle, or has been looked at for one.
    is_done: bool,
}

impl Ground {
    pub(super) fn reserve(&mut self, lanes: usize) {
        at_least(&mut self.bodies, lanes);
        at_least(&mut self.contacts, lanes);
        at_least(&mut self.blocks, lanes);
    }

    pub(super) fn clear(&mut self) {
        self.bodies.clear();
        self.contacts.clear();
        self.blocks.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    pub(super) fn note(&mut self, body: RowOffset, is_slow: bool) {
        self.bodies.push(Meeting { body, is_slow });
    }
}

lane_entry! {
    /// Finds the contacts that these bodies have as A in a run of blocks.
    fn find_lanes[][](tile: &Tile, run: Range<usize>, bodies: &[Meeting], found: &mut Vec<(u32, u16)>) = find_lanes_of;
}

/// The compiler makes vectors of the loop over few bodies.
#[inline(always)]
fn find_lanes_of<L: Lane>(tile: &Tile, run: Range<usize>, bodies: &[Meeting], found: &mut Vec<(u32, u16)>) {
    for block in run {
        if tile.info[block].active == 0 {
            continue;
        }
        let (a, mut is_of) = (&*tile.normal[block].a, [0u32; BLOCK]);
        if bodies.len() <= FEW {
            for Meeting { body, .. } in bodies {
                for (is_of, a) in is_of.iter_mut().zip(a) {
                    *is_of |= u32::from(a == body);
                }
            }
        } else {
            for (is_of, a) in is_of.iter_mut().zip(a) {
                *is_of = u32::from(bodies.binary_search_by_key(&a.row(), |of| of.body.row()).is_ok());
            }
        }
        let lanes = is_of.iter().enumerate().fold(0, |lanes, (lane, is_of)| lanes | is_of << lane);
        if lanes != 0 {
            found.push((block as u32, lanes as u16));
        }
    }
}

impl Tile {
    /// Adds the bundles of bodies that meet several shapes of what stands still: they land fast, or nothing else there bears them. `vel`
    /// returns the velocity row of a slot.
    #[inline(always)]
    pub(super) fn find_grounded<L: Lane>(
        &self,
        found: &mut Bundles,
        struck: &[Struck],
        vel: impl Fn(usize) -> Row,
    ) {
        let Bundles { bundles, members, ground: Ground { bodies, contacts, blocks }, .. } = found;
        // Fast before slow for each body, so that the first of equals says whether it is fast.
        bodies.sort_unstable_by_key(|of| (of.body.row(), of.is_slow));
        bodies.dedup_by_key(|of| of.body);
        let mut struck = struck.iter().filter(|of| of.is_fixed).peekable();
        for (kind, run) in self.kinds().filter(|(kind, _)| kind.needs_manifold() && kind.is_fixed()) {
            blocks.clear();
            find_lanes::<L>(self, run.start as usize..run.end as usize, bodies, blocks);
            for &(block, lanes) in &*blocks {
                let at = block as usize;
                while struck.next_if(|of| of.block < block).is_some() {}
                let struck = struck.next_if(|of| of.block == block).map_or(0, |of| of.lanes);
                let loaded = self.info[at].active & !self.unloaded(at);
                for lane in set_bits((lanes & (loaded | struck)).into()) {
                    let [a, b] = [&self.normal[at].a, &self.normal[at].b].map(|of| of[lane].row());
                    if stands(vel(b)) {
                        let body = bodies.partition_point(|of| of.body.row() < a) as u32;
                        let is_loaded = loaded >> lane & 1 == 1;
                        contacts.push(Contact {
                            body,
                            block,
                            lane: lane as u8,
                            kind,
                            is_loaded,
                            is_done: false,
                        });
                    }
                }
            }
        }
        contacts.sort_unstable_by_key(|of| (of.body, of.block, of.lane));
        for contacts in contacts.chunk_by_mut(|x, y| x.body == y.body) {
            let is_slow = bodies[contacts[0].body as usize].is_slow;
            while let Some(leader) = contacts.iter().position(|of| !of.is_done) {
                let (first, mut is_loaded) = (members.len(), false);
                for at in leader..contacts.len() {
                    let [of, leader] = [at, leader].map(|at| &contacts[at]);
                    if !of.is_done && self.is_one_ground(leader, of) {
                        members.push(Member::new(of.block as usize, of.lane.into(), of.kind));
                        is_loaded |= of.is_loaded;
                        contacts[at].is_done = true;
                    }
                }
                if members.len() < first + 2 || is_loaded && is_slow {
                    members.truncate(first);
                    continue;
                }
                for first in (first..members.len()).step_by(MOST) {
                    let (first, end) = (first as u32, members.len().min(first + MOST) as u32);
                    bundles.push(Bundle { first, end, ..Bundle::default() });
                }
            }
        }
    }

    /// Tells whether two contacts of a body with what stands still are one: with the same body there, or side by side. (When the two walls of
    /// a corner were one impact, compounds in a gas lost 2.7 % of their energy: `gas::energy_is_kept_with_several_iterations`.)
    fn is_one_ground(&self, x: &Contact, y: &Contact) -> bool {
        let of = |contact: &Contact| {
            let (normal, lane) = (&self.normal[contact.block as usize], usize::from(contact.lane));
            (normal.b[lane], normal.normal_x[lane], normal.normal_y[lane])
        };
        let ((body, x0, y0), (other, x1, y1)) = (of(x), of(y));
        body == other || x0 * x1 + y0 * y1 > SIDE_BY_SIDE
    }
}
