//! Decides which pairs slide, and resolves the blows of pairs that meet fast.

use super::contact::State;
use super::{Contact, HullSolver, pair_of};
use crate::body::Bodies;
use crate::solver::rows::Rows;

/// The sliding speed above which points have dynamic friction, m/s. It is an average weighted by loads, and has to be
/// exceeded for [`SLIPPING`] substeps. A contact that holds still moves by some mm/s when a changing time step or a
/// link pulls it aside. Links pass on half of a new load in each substep, which moves the contact by 2 cm/s for some
/// substeps. (Without the wait, a box that was put down on a slope, or pushed, slid from 0.7 of the limit of static
/// friction.)
const SLIDES: f32 = 0.01;
pub(super) const SLIPPING: u8 = 12;
/// The sliding speed above which points have dynamic friction at once, m/s.
const SLIDES_AT_ONCE: f32 = 0.2;

/// The part by which the speed of approach under a load differs from one substep to the next at most.
const STEADY: f32 = 0.25;

impl HullSolver {
    /// Decides whether the points of each pair slide.
    pub(super) fn find_sliding(&mut self, state: &State<'_>) {
        for pair in self.contacts.chunk_by_mut(|a, b| pair_of(a.key) == pair_of(b.key)) {
            let speed = sliding_speed(pair, state);
            for contact in pair {
                contact.slipping = match speed {
                    speed if speed > SLIDES_AT_ONCE => SLIPPING,
                    speed if speed > SLIDES => contact.slipping.saturating_add(1).min(SLIPPING),
                    _ => 0,
                };
            }
        }
    }

    /// Resolves the blows: all pairs in which a point approaches faster than by the gravity of one substep, even if
    /// the point does not bounce. A pair that comes to rest more slowly is solved once in the same way, and the impulses
    /// become its load, so that it holds from the start.
    ///
    /// A pair that was struck in the last substep and approaches again as fast, without a bounce, bears a load: the weight of
    /// all that lies on it acts in each substep. (While this was a blow again, the pair never got a load, since a blow leaves
    /// nothing for the sweeps. In a pile of 5,000 soft boxes that had lain for ten seconds, 1,500 pairs had a blow of 2 m/s
    /// in each substep; in one of 500 ragdolls 950 of 4,250, which took half of the step. When any approach after a blow was a
    /// load, the warm start repeated blows that followed each other: between a floor and a box of 100 times its mass, a box
    /// made nine times the energy.)
    pub(super) fn strike(&mut self, state: &mut State<'_>, bodies: &Bodies, rows: &Rows<'_>) {
        let HullSolver { contacts, clusters, impact, .. } = self;
        for pair in contacts.chunk_by_mut(|a, b| pair_of(a.key) == pair_of(b.key)) {
            let approach = pair.iter().fold(0.0, |most: f32, contact| most.max(contact.approach));
            let restitution =
                if approach > rows.restitution_threshold { pair[0].surface.restitution } else { 0.0 };
            let struck_at = pair.iter().fold(0.0, |most: f32, contact| most.max(contact.struck_at));
            let is_load = restitution == 0.0 && (approach - struck_at).abs() <= STEADY * approach;
            if approach > rows.landing_speed && !is_load {
                impact.resolve(pair, restitution, clusters, state, bodies);
                impact.note_blow(pair, state);
            } else if approach > 0.0 && !pair.iter().any(|contact| contact.is_loaded(rows)) {
                impact.resolve(pair, 0.0, clusters, state, bodies);
                impact.note_load(pair, state);
            } else {
                continue;
            }
            // A stopped pair holds, however long it slid before while in the air. (A box that fell from 1 cm on a slope
            // slid on at 0.97 of the static angle, because it had been near for longer than the wait.)
            if sliding_speed(pair, state) <= SLIDES {
                pair.iter_mut().for_each(|contact| contact.slipping = 0);
            }
        }
    }
}

/// Returns the sliding speed of a pair's points, averaged over their loads.
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
