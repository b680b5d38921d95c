//! Carries the impulses and the events of hull contacts from substep to substep and from step to step.

use super::HullSolver;
use super::contact::State;
use crate::body::{Bodies, BodyHandle};
use crate::contacts::ContactEvent;
use crate::solver::rows::Rows;

impl HullSolver {
    /// Finds the slots of the last step's contacts, and scales their impulses.
    pub(super) fn carry_over(&mut self, bodies: &Bodies, impulse_ratio: f32) {
        let HullSolver { hulls, places, contacts, .. } = self;
        contacts.retain_mut(|contact| {
            for (side, (is_body, name)) in
                contact.sides.iter_mut().zip([(false, contact.key.1), (contact.key.0 == 1, contact.key.2)])
            {
                if is_body {
                    match bodies.slot_at(name).filter(|&slot| bodies.columns.kind[slot].is_collidable()) {
                        Some(slot) => side.slots = [slot as u32; 2],
                        None => return false,
                    }
                } else {
                    // In a snapshot that somebody made up it may be missing.
                    let place = places.get(name as usize).copied();
                    let Some(hull) = place.and_then(|place| hulls.get(place as usize)) else { return false };
                    side.slots = side.ends.map(|end| hull.slots[usize::from(end)]);
                }
            }
            contact.impulses = contact.impulses.map(|impulse| impulse * impulse_ratio);
            contact.noted = false;
            true
        });
    }

    /// Adds the carried impulses to the velocity gain of the first substep.
    #[allow(unsafe_code)]
    pub(crate) fn warm_start(&self, rows: &Rows<'_>, bodies: &Bodies) {
        // SAFETY: this thread alone works on the mirror.
        let (vel, accum) = unsafe { (rows.vel.range(0..bodies.len), rows.accum.range(0..bodies.len)) };
        for contact in &self.contacts {
            for axis in 0..2 {
                let direction = contact.direction(axis);
                for (side, sign) in contact.sides.iter().zip([-1.0, 1.0]) {
                    for (slot, gained) in
                        side.gains(vel, direction, side.arms[axis], sign * contact.impulses[axis])
                    {
                        for (axis, gained) in gained.into_iter().enumerate() {
                            accum[slot].0[axis] += gained;
                        }
                    }
                }
            }
        }
    }

    /// Gives the old impulses to contacts that existed before, and takes back the velocity that vanished contacts have
    /// added. What stays pushes along its new normal and from its new place from now on.
    ///
    /// When it pushed as it did at the step's start until the next one, what swung to and fro under a load gained energy, as in
    /// `contacts/update/lead.rs`: limbs in heaps of figures swung by some centimetres for ever, at 2.6 Hz and more, and none of five heaps of 200 slept
    /// within a minute. Now all do (`granule run ragdolls --bodies 2600 --substeps 4 --sleep on --warmup 0 --steps 3600 --seed 1` and so on says how many are awake).
    ///
    /// What swings so, at an angular frequency ω and in substeps of h, has 1 − (ω·h)² times its energy after each (test `a_limb_rocks_on_a_cylinder`). With a part β of
    /// the change at once and 1 − β from the next substep on (`State::forget` with the opposite sign) it would have 1 − β·(ω·h)²; 0 keeps all of it. Measured with β
    /// = 0, ½ and 1: heaps of 200 figures asleep within a minute 4, 5 and 5 of 5; piles of 100 soft boxes 4, 6 and 6 of 8; what links squeeze, in free space, and turns,
    /// keeps 0.60, 0.85 and 1.00 of its spin in 10 s (and flew apart before); what a joint's spring squeezes gains 13, 18 and 23 % (nothing before; at 16 substeps 3,
    /// 4 and 5 %, where it lost 12); two octagons under a plate and a ball of 150 times their mass asleep in 24, 23 and 18 of 40 pits (28 before).
    pub(super) fn match_contacts(&mut self, state: &mut State<'_>, rows: &Rows<'_>) {
        let mut new = self.contacts.iter_mut().peekable();
        for old in &self.before {
            while new.next_if(|new| new.key < old.key).is_some() {}
            match new.next_if(|new| new.key == old.key) {
                Some(new) => {
                    new.impulses = old.impulses;
                    if old.impulses != [0.0; 2] {
                        old.push(state, old.impulses.map(|impulse| -impulse));
                        new.push(state, old.impulses);
                    }
                    new.slipping = old.slipping;
                    new.noted = old.noted && new.slots() == old.slots();
                    new.struck_at = if old.blow[0] > 0.0 { old.approach } else { 0.0 };
                    if new.is_loaded(rows) {
                        new.approach = 0.0;
                    }
                }
                None => old.push(state, old.impulses.map(|impulse| -impulse)),
            }
        }
    }

    /// Appends the pairs of bodies that began or ceased to touch in this step, in the order of their handles. `begin` and `end` hold those of all other
    /// contacts. A particle that came into a hull, or is in none any more, may go on to touch the same body: that is no event.
    pub(crate) fn find_events(
        &mut self,
        bodies: &Bodies,
        begin: &mut Vec<ContactEvent>,
        end: &mut Vec<ContactEvent>,
    ) {
        let [began, ended] = [begin.len(), end.len()];
        let (now, before) = (&mut self.touched, &mut self.touched_before);
        let solid = |handle: &BodyHandle| bodies.slot_of(*handle).is_ok();
        now.retain(|pair| pair.iter().all(solid));
        now.sort_unstable();
        now.dedup();
        let mut old = before.iter().peekable();
        let event = |&[a, b]: &[BodyHandle; 2]| ContactEvent::of(a, b);
        for pair in now.iter() {
            while let Some(gone) = old.next_if(|&old| old < pair) {
                end.push(event(gone));
            }
            if old.next_if(|&old| old == pair).is_none() {
                begin.push(event(pair));
            }
        }
        end.extend(old.map(event));
        std::mem::swap(now, before);
        let in_hull = |event: &ContactEvent| {
            [event.a, event.b]
                .into_iter()
                .any(|body| bodies.slot_of(body).is_ok_and(|slot| bodies.is_corner(slot)))
        };
        let gone = take_common(begin, (end, ended), |event| !in_hull(event));
        take_common(end, (begin, began - gone), in_hull);
    }
}

/// Takes out of two lists what is in both, of what `may` be: of one from `first` on, where it is in order. Returns how much.
fn take_common(
    list: &mut Vec<ContactEvent>,
    (ordered, first): (&mut Vec<ContactEvent>, usize),
    may: impl Fn(&ContactEvent) -> bool,
) -> usize {
    let is_common = |event: &ContactEvent| may(event) && ordered[first..].binary_search(event).is_ok();
    // Memory only where there are such, which is where a host has made or removed a hull.
    if ordered.len() == first || !list.iter().any(is_common) {
        return 0;
    }
    let mut common: Vec<ContactEvent> = list.iter().copied().filter(is_common).collect();
    common.sort_unstable();
    for events in [list, ordered] {
        events.retain(|event| common.binary_search(event).is_err());
    }
    common.len()
}
