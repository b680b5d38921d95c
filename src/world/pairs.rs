//! The pair list of the world: how far the step can rely on it, and how the list is made anew.
//!
//! What a new list costs, in instructions a list, in two scenes: `tumbler` of 2,025 boxes in a drum that turns (38 lists), and `collapsing` of
//! 2,000 circles (20 lists):
//!
//! | part | function | boxes | circles |
//! |---|---|---|---|
//! | take impulses out of the old blocks (`contacts/carry.rs`) | `carry_out` | 510,000 | 160,000 |
//! | order of space, margins, permutation | `Broadphase::order` | 2,000,000 | 1,290,000 |
//! | sweep (`broadphase/sweep.rs`, `probe.rs`) | `sweep` | 4,280,000 | 1,150,000 |
//! | colours and layout (`contacts/build.rs`) | `build_contacts` | 2,630,000 | 1,030,000 |
//! | of that, candidates | `lay_out_candidates`, `give_lanes` | 960,000 | 430,000 |
//!
//! ```text
//! GRANULE_ISA=avx2 valgrind --tool=callgrind --vex-iropt-level=0 --callgrind-out-file=counts \
//!     target/release/granule run tumbler --bodies 2025 --warmup 60 --steps 20 --threads 1
//! callgrind_annotate --inclusive=yes --threshold=100 counts     # all lists of the run; collapsing: --bodies 2000
//! ```

use super::World;
use super::edits::most_edits;
use crate::body::Bodies;
use crate::broadphase::crowd::scatter;
use crate::broadphase::{Broadphase, LastList, Margins};
use crate::contacts::List;
use crate::crew::Crew;
use crate::isa::Level;
use crate::settings::Settings;

/// How far the step can rely on the pair list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListState {
    /// Not at all: the next step makes a new one.
    Void,
    /// Within a step: the pairs are found, and have no blocks yet.
    Found,
    /// Within a step: the list was made in this step.
    New,
    /// The list has every pair that overlaps, and holds for at least one more step.
    Holds,
    /// Some bodies left their margins, or were put elsewhere. They can be paired anew on their own.
    Left,
    /// The list is older than the time that its margins were made for.
    Expired,
}

impl ListState {
    /// Returns true if every body is where its bounds are.
    pub(super) fn holds(self) -> bool {
        matches!(self, ListState::New | ListState::Holds)
    }

    /// Notes that a body is not where its bounds are.
    pub(super) fn note_left(&mut self) {
        if self.holds() {
            *self = ListState::Left;
        }
    }
}

/// Returns the pair list of these bodies, with what the contacts need to know of it.
pub(super) fn list<'a>(broadphase: &'a Broadphase, bodies: &'a Bodies, settings: &Settings) -> List<'a> {
    List { broadphase, bodies, mixing: settings.mixing, speculative: settings.speculative_distance() }
}

/// What the search for the pairs of a new list has to know of the world.
pub(super) struct Search {
    margins: Margins,
    expects_bodies: bool,
    last: LastList,
    level: Level,
}

impl Search {
    pub(super) fn of(world: &World) -> Search {
        let contacts = &world.contacts;
        Search {
            margins: Margins::new(&world.settings),
            expects_bodies: world.expects_bodies(),
            last: LastList {
                pairs: contacts.pair_count(),
                contacts: contacts.contact_count(),
                tests: contacts.test_count(),
            },
            level: world.level,
        }
    }

    /// Puts the bodies into the order of space.
    pub(super) fn order(&self, broadphase: &mut Broadphase, bodies: &mut Bodies, crew: &Crew<'_>) {
        broadphase.order(bodies, &self.margins, &self.last, self.expects_bodies, self.level, crew);
    }
}

impl World {
    /// Returns true if the pair list has every pair that overlaps.
    pub(super) fn pairs_hold(&self) -> bool {
        self.is_listed() && self.list.holds()
    }

    /// Returns true if the list is up to date, and the host has set no velocities.
    pub(super) fn has_no_edits(&self) -> bool {
        self.pairs_hold() && !self.unchecked
    }

    /// Reads what the host did since the last step, and which bodies left their margins. Writes the bodies and the
    /// list, if it can take these in; otherwise the list is void.
    pub(super) fn take_in_edits(&mut self, crew: &Crew<'_>) {
        self.check_velocities();
        let World { hulls, bodies, continuous, .. } = self;
        hulls.refresh(bodies, |bodies, index| {
            // A corner is no wall of its own.
            if bodies.slot_at(index).is_some_and(|slot| bodies.columns.inv_mass[slot] <= 0.0) {
                continuous.walls.note(index);
            }
        });
        let edited = self.take_edits();
        if !edited.is_some_and(|edited| self.list.holds() || self.loosen(edited, crew)) {
            self.list = ListState::Void;
        } else if edited != Some(0) {
            // Bodies that were added have other slots now. Those that have become loose are where they were.
            self.find_unlisted();
        }
    }

    /// Pairs the bodies that left their margin anew on their own, if they are few and no other reason calls for a new
    /// list. Returns false if there must be a new list. `edited` of the bodies were put elsewhere by hand.
    fn loosen(&mut self, edited: usize, crew: &Crew<'_>) -> bool {
        let left = self.left.get_mut().expect("no worker panicked");
        if self.list == ListState::Expired || !self.broadphase.can_loosen(left, edited) {
            return false;
        }
        self.memory.loose_pairs.clear();
        if self.bodies.any_manifold {
            left.iter().for_each(|&slot| self.bodies.update_extents(slot as usize));
        }
        if !self.broadphase.loosen(&self.bodies, left, &mut self.memory.loose_pairs) {
            return false;
        }
        let list = list(&self.broadphase, &self.bodies, &self.settings);
        self.contacts.insert(&list, &mut self.memory.loose_pairs, crew);
        self.list = ListState::Holds;
        true
    }

    /// Runs when the list is void. Reads the old contacts. Writes their impulses and flags to a place of their own,
    /// because slots will change.
    pub(super) fn carry_out(&mut self, crew: &Crew<'_>) {
        (self.verlet.slots_moved, self.joint_solver.slots_moved) = (true, true);
        self.contacts.carry_out(&self.bodies, self.broadphase.built, crew);
    }

    /// Runs when the list is void. Reads positions, shapes and velocities. Writes the bodies' order, the margins and
    /// the pairs, or takes over those that the last step found ahead.
    pub(super) fn find_pairs(&mut self, crew: &Crew<'_>) {
        let searched = if self.take_ahead() {
            self.bodies.change_order();
            std::mem::swap(&mut self.broadphase, &mut self.ahead.broadphase);
            self.broadphase.exchange_memory(&mut self.ahead.broadphase);
            self.bodies.take_pushes(&self.broadphase.bands.order);
            self.broadphase.tiles_ahead
        } else {
            let search = Search::of(self);
            self.contacts.end_list();
            search.order(&mut self.broadphase, &mut self.bodies, crew);
            0
        };
        let World { contacts, broadphase, bodies, level, .. } = self;
        contacts.search(broadphase, bodies, searched..broadphase.tiles.len(), *level, crew);
        contacts.search_far(broadphase, bodies);
        self.make_room_ahead();
        self.contacts.begin_list(&self.broadphase, &self.bodies);
        scatter(&mut self.bodies, self.contacts.crowded());
        // The rows of parts come after those of the bodies and the padding: see `solver/mirror.rs`.
        self.bodies.place_parts(self.bodies.len + self.contacts.tiles().len() + 1);
        self.large_moves = self.broadphase.large_moves(&self.bodies);
        self.memory.loose_pairs.clear();
        let bodies = self.bodies.len;
        self.memory.loose_pairs.reserve((16 * self.broadphase.bounds.allowance.per_step).min(4 * bodies));
        self.edits.clear(&self.bodies, self.broadphase.listed);
        let left = self.left.get_mut().expect("no worker panicked");
        left.reserve(self.broadphase.bounds.allowance.per_step + 1 + most_edits(self.bodies.len));
        self.list = ListState::Found;
    }

    /// Runs when pairs were found. Reads the pairs, and the impulses and flags carried from the old contacts. Writes
    /// candidates, and blocks for the pairs that are near.
    pub(super) fn build_contacts(&mut self, crew: &Crew<'_>) {
        let list = list(&self.broadphase, &self.bodies, &self.settings);
        self.contacts.build(&list, crew);
        self.list = ListState::New;
        self.unlisted.clear();
        self.unlisted.make_room(self.bodies.len, self.broadphase.bounds.allowance.per_list);
    }
}
