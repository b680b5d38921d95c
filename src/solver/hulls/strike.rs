//! Tells which pairs slide, and resolves the blows of those that meet fast.

use super::contact::State;
use super::{Contact, HullSolver, pair_of};
use crate::body::Bodies;
use crate::solver::rows::Rows;

/// Points that slide faster for [`SLIPPING`] substeps, on average over their loads, have dynamic friction, m/s. What holds is
/// moved by some mm/s where a changing time step, or a link, pulls it aside; a load that comes or grows is passed on by the links by
/// half in each substep, and moves it by 2 cm/s for some. (Without the wait a box that was put down on a slope, or pushed, slid from 0.7
/// of what static friction bears.)
const SLIDES: f32 = 0.01;
pub(super) const SLIPPING: u8 = 12;
/// Those that slide faster than that slide at once, m/s.
const SLIDES_AT_ONCE: f32 = 0.2;

impl HullSolver {
    /// Whether the points of each pair slide.
    pub(super) fn find_sliding(&mut self, state: &State<'_>) {
        for pair in self.contacts.chunk_by_mut(|a, b| pair_of(a.key) == pair_of(b.key)) {
            let speed = sliding_speed(pair, state);
            for contact in pair {
                contact.slipping = match speed {
                    speed if speed > SLIDES_AT_ONCE => SLIPPING,
                    speed if speed > SLIDES => (contact.slipping + 1).min(SLIPPING),
                    _ => 0,
                };
            }
        }
    }

    /// Resolves the blows: of all pairs in which a point comes faster than by a substep's gravity, though it does not bounce; what of
    /// it is a load shows in the next substep. What comes to lie more slowly is solved in the same way, once, and what is found is
    /// its load: so it holds from the start.
    pub(super) fn strike(&mut self, state: &mut State<'_>, bodies: &Bodies, rows: &Rows<'_>) {
        let HullSolver { contacts, clusters, impact, .. } = self;
        for pair in contacts.chunk_by_mut(|a, b| pair_of(a.key) == pair_of(b.key)) {
            let approach = pair.iter().fold(0.0, |most: f32, contact| most.max(contact.approach));
            let unloaded = || !pair.iter().any(|contact| contact.is_loaded(rows));
            if approach > rows.landing_speed {
                let restitution =
                    if approach > rows.restitution_threshold { pair[0].surface.restitution } else { 0.0 };
                impact.resolve(pair, restitution, clusters, state, bodies);
                impact.note_blow(pair, state);
            } else if approach > 0.0 && unloaded() {
                impact.resolve(pair, 0.0, clusters, state, bodies);
                impact.note_load(pair, state);
            } else {
                continue;
            }
            // What has been stopped holds, however long it slid by in the air. (A box that fell from 1 cm on a slope slid on at 0.97 of
            // the static angle, as it had been near for longer than the wait.)
            if sliding_speed(pair, state) <= SLIDES {
                pair.iter_mut().for_each(|contact| contact.slipping = 0);
            }
        }
    }
}

/// How fast the points of a pair slide, on average over their loads.
fn sliding_speed(pair: &[Contact], state: &State<'_>) -> f32 {
    let (mut load, mut sliding, mut unloaded) = (0.0, 0.0, 0.0);
    for contact in pair {
        let speed = contact.relative(state.vel, 1);
        load += contact.impulses[0];
        sliding += contact.impulses[0] * speed;
        unloaded += speed;
    }
    if load > 0.0 { sliding / load } else { unloaded / pair.len() as f32 }.abs()
}
