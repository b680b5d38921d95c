//! The pair list of the world: how far it can be relied on, and how it is made anew.

use super::World;
use crate::body::Bodies;
use crate::broadphase::crowd::scatter;
use crate::broadphase::{Broadphase, LastList, Margins};
use crate::contacts::List;
use crate::crew::Crew;
use crate::settings::Settings;

/// How far the pair list can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListState {
    /// Not at all: the next step makes a new one.
    Void,
    /// Within a step: its pairs are found, and have no blocks yet.
    Found,
    /// Within a step: it was made in this one.
    New,
    /// It has every pair that overlaps, and holds for another step at least.
    Holds,
    /// Some bodies have left their margins, or were put elsewhere. These can be paired anew.
    Left,
    /// Its margins have outlived the time that they were made for.
    Expired,
}

impl ListState {
    /// Whether every body is where its bounds are.
    pub(super) fn holds(self) -> bool {
        matches!(self, ListState::New | ListState::Holds)
    }

    /// A body is not where its bounds are.
    pub(super) fn note_left(&mut self) {
        if self.holds() {
            *self = ListState::Left;
        }
    }
}

/// The pair list of these bodies.
pub(super) fn list<'a>(broadphase: &'a Broadphase, bodies: &'a Bodies, settings: &Settings) -> List<'a> {
    List { broadphase, bodies, mixing: settings.mixing, speculative: settings.speculative_distance() }
}

impl World {
    /// Whether the pair list has every pair that overlaps.
    pub(super) fn pairs_hold(&self) -> bool {
        self.is_listed() && self.list.holds()
    }

    /// Reads what hosts did since the last step, and which bodies have left their margins. Writes bodies and list, where
    /// it can take these in; else the list is void.
    pub(super) fn take_in_edits(&mut self, crew: &Crew<'_>) {
        self.check_velocities();
        self.hulls.refresh(&mut self.bodies);
        let edited = self.take_edits();
        if !edited.is_some_and(|edited| self.list.holds() || self.loosen(edited, crew)) {
            self.list = ListState::Void;
        }
    }

    /// Pairs the bodies that have left their margin anew, if they are few and nothing else speaks for a new
    /// list. False if there must be one. So many of them were put there by hand.
    fn loosen(&mut self, edited: usize, crew: &Crew<'_>) -> bool {
        let left = self.left.get_mut().expect("no worker panicked");
        if self.list == ListState::Expired || !self.broadphase.can_loosen(left, edited) {
            return false;
        }
        self.loose_pairs.clear();
        if self.bodies.any_manifold {
            left.iter().for_each(|&slot| self.bodies.update_extents(slot as usize));
        }
        if !self.broadphase.loosen(&self.bodies, left, &mut self.loose_pairs) {
            return false;
        }
        let list = list(&self.broadphase, &self.bodies, &self.settings);
        self.contacts.insert(&list, &mut self.loose_pairs, crew);
        self.list = ListState::Holds;
        true
    }

    /// Runs when the list is void. Reads the old contacts. Writes what they know to a place of its own, because slots will change.
    pub(super) fn carry_out(&mut self, crew: &Crew<'_>) {
        self.verlet.slots_moved = true;
        self.contacts.carry_out(&self.bodies, self.broadphase.built, crew);
    }

    /// Runs when the list is void. Reads positions, shapes and velocities. Writes the bodies' order, margins and pairs.
    pub(super) fn find_pairs(&mut self, crew: &Crew<'_>) {
        let margins = Margins::new(&self.settings);
        let expects_bodies = self.expects_bodies();
        let last = LastList { pairs: self.contacts.pair_count(), contacts: self.contacts.contact_count() };
        self.broadphase.order(&mut self.bodies, &margins, &last, expects_bodies, crew);
        self.contacts.find(&self.broadphase, &self.bodies, self.settings.lanes, crew);
        scatter(&mut self.bodies, self.contacts.crowded());
        // After the rows of the bodies and the padding: see `solver/mirror.rs`.
        self.bodies.place_parts(self.bodies.len + self.contacts.tiles().len() + 1);
        self.large_moves = self.broadphase.large_moves(&self.bodies);
        self.loose_pairs.clear();
        self.loose_pairs.reserve(16 * self.broadphase.bounds.allowance.per_step);
        self.edits.clear(&self.bodies, self.broadphase.listed);
        self.list = ListState::Found;
    }

    /// Runs when pairs were found. Reads the pairs, and what the old contacts knew. Writes candidates, and blocks for the pairs that are near.
    pub(super) fn build_contacts(&mut self, crew: &Crew<'_>) {
        let list = list(&self.broadphase, &self.bodies, &self.settings);
        self.contacts.build(&list, crew);
        self.list = ListState::New;
    }
}
