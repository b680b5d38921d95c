//! The horizon: for how many steps a pair list is to live.

use super::fleeting::Motions;
use super::{Broadphase, Margins};

/// The horizons that a list may have, in steps; 0 for a list of the present step alone, which has no pairs that must come near before
/// they count.
const STEPS: [f32; 5] = [0.0, ONE_STEP, 2.0, 4.0, 8.0];
/// The longest horizon, in steps, and the first.
pub(super) const HORIZON_STEPS: f32 = STEPS[STEPS.len() - 1];
pub(super) const FIRST_HORIZON: f32 = STEPS[FIRST];
const FIRST: usize = 3;
/// One step and a little, so that rounding does not end a list before it is used.
pub(super) const ONE_STEP: f32 = 1.01;
/// After so many lists the next shorter or longer horizon is tried; after more where lists of one step are best. If that was no
/// better, the number doubles, up to `MOST_PATIENCE`.
const PATIENCE: u32 = 2;
const FLEETING_PATIENCE: u32 = 8;
const MOST_PATIENCE: u32 = 128;
/// If a list costs so many times as much as the last one of the same horizon, or so many times less, others are tried as at first.
const UNLIKE: f32 = 1.5;
/// The weight of the cost of the step that makes a list, beside that cost per step of the list's life: people see the
/// slowest frame.
const SPIKE: f32 = 0.3;
/// The cost of a new list, in ns: for each body that moves; and for each near contact, each other pair and each test of
/// a loose body, where most bodies turn and where they do not.
const PER_BODY: f32 = 100.0;
const PER_TURNING: [f32; 3] = [150.0, 50.0, 100.0];
const PER_PLAIN: [f32; 3] = [70.0, 40.0, 20.0];

/// The pair list that a new one replaces.
pub(crate) struct LastList {
    pub pairs: usize,
    /// How many of them were near at its end.
    pub contacts: usize,
    /// How many bounds were tested for it.
    pub tests: u64,
}

/// What the parts of a new list cost, in ns, by which they are shared between two steps: the order of space, for each body that moves; the sweep, for
/// each test; and the contacts, for each that is near and for each other pair. The first and the third where most bodies turn, and where they do not.
const ORDER: [f32; 2] = [120.0, 60.0];
const SWEEP: f32 = 3.0;
const NEAR: [f32; 2] = [100.0, 60.0];
const CANDIDATE: f32 = 14.0;

impl LastList {
    /// Returns which part of the sweep is to be done in the step before the list counts, so that both steps take as long: in that step bodies are put
    /// in order, in the next one contacts are laid out. The last list tells how much work that is.
    ///
    /// The costs are those of the parts in the scenes of `benches/peers`, rounded: they differ by half from scene to scene, and a wrong share costs time in
    /// the slowest step, never a result. `docs/performance.md` has what it brings.
    pub(super) fn part_ahead(&self, turning: bool, moving: usize) -> f32 {
        let kind = usize::from(!turning);
        let order = ORDER[kind] * moving as f32;
        let sweep = SWEEP * self.tests.max(1) as f32;
        let contacts =
            NEAR[kind] * self.contacts as f32 + CANDIDATE * self.pairs.saturating_sub(self.contacts) as f32;
        (0.5 + 0.5 * (contacts - order) / sweep).clamp(0.0, 1.0)
    }
}

/// Chooses for how many steps a list is to live. A long list has many pairs, a short one must soon be made anew. Nobody
/// knows beforehand how soon a body is hit and leaves its margin. So now and then a list tries a horizon beside the present one,
/// which is taken if the list cost less per step.
///
/// Mean speed with a fixed horizon, as a part of that of the search that turned back (below), and the 99th percentile in ms; the least of two
/// rounds of two:
///
/// | steps | pit, 5,000 | junkyard | compounds | mixed, 20,000 | collapse, 50,000 | spinner |
/// |---|---|---|---|---|---|---|
/// | 0 | 0.61, 2.5 | 0.86, 7.3 | 0.98, 3.6 | 0.86, 15.7 | 0.65, 15.5 | 0.87, 5.0 |
/// | 2 | 0.92, 1.7 | 0.88, 9.8 | 0.88, 4.6 | 0.95, 17.1 | 0.82, 19.7 | 0.89, 4.9 |
/// | 3 | 1.01, 2.0 | 0.98, 11.4 | 0.95, 5.6 | 1.04, 18.0 | 0.93, 21.4 | 0.96, 5.3 |
/// | 4 | 1.05, 2.2 | 0.97, 12.0 | 0.95, 6.4 | 1.02, 19.8 | 1.01, 20.4 | 1.00, 5.7 |
/// | that search | 1, 2.5 | 1, 10.4 | 1, 4.1 | 1, 18.6 | 1, 19.0 | 1, 5.8 |
///
/// So from three steps on the horizon hardly changes the mean, but the slowest steps. (`STEPS` with one entry, `FIRST` 0, then `cd benches/peers && cargo run
/// --release -- --engines granule --threads 1 --repeat 2 --scenes rubble-5k,junkyard,compounds,mixed-shapes-20k,collapsing-50k,spinner`. The comparisons
/// below were made in the same way, in turns, with other constants.)
///
/// Tried and dropped:
/// - to change the horizon with each list, and to turn back when the cost rose. It went from one end to the other and back: the same means, and a
///   99th percentile 13 % higher (the geometric mean of 14 scenes; 21 to 31 % higher in the washer, tumbler, spinner, junkyard, compounds and pit,
///   4 % lower in `terrain` and `churn-1-in-20k`). With factors of 1.25 and 1.5 it got stuck at one step;
/// - a weight of 0.1 of the step that makes a list: a 99th percentile 15 % higher (seven scenes), and no better mean;
/// - horizons of three and six steps as well, or six as the longest, with that weight and with 0.5: within the noise;
/// - a shorter horizon when a list lived less than 0.4, 0.5 or 0.7 of its own: better in some scenes, worse in others;
/// - at most 12 steps: means were 5 % lower, but the slowest step of a collapsing pile was 40 % slower than with 8.
#[derive(Clone, Copy)]
pub(super) struct Horizon {
    /// The horizon that was best so far, as a place in `STEPS`.
    best: u32,
    /// The horizon of the present list: the best one, or the next shorter or longer one.
    present: u32,
    /// In how many lists the next shorter and the next longer horizon are tried, and how many it was when one of them failed.
    wait: [u32; 2],
    patience: [u32; 2],
    /// The cost of the last list of the best horizon, per step of its life and with the weight `SPIKE`.
    cost: f32,
}

crate::base::codec::stored!(Horizon { best, present, wait, patience, cost });

impl Default for Horizon {
    fn default() -> Self {
        Horizon {
            best: FIRST as u32,
            present: FIRST as u32,
            wait: [1, 2],
            patience: [PATIENCE; 2],
            cost: f32::INFINITY,
        }
    }
}

impl Horizon {
    /// Whether a horizon that was read is one that can be: for snapshots.
    pub(super) fn is_known(&self) -> bool {
        let Horizon { best, present, cost, .. } = *self;
        [best, present].iter().all(|&place| (place as usize) < STEPS.len()) && cost >= 0.0
    }

    /// The present horizon, in steps.
    fn steps(&self) -> f32 {
        STEPS[self.present as usize]
    }

    /// Returns the next horizon, after a list that cost `cost` ns and lived `lived` steps. `calm` is true if hardly
    /// anything moves now.
    fn next(&mut self, cost: f32, lived: u32, calm: bool) -> f32 {
        if lived == 0 {
            return self.steps();
        }
        self.learn(cost * (1.0 / lived as f32 + SPIKE));
        self.wait = self.wait.map(|wait| wait.saturating_sub(1));
        // If the bodies have calmed down, a longer list is tried at once.
        let due = [self.wait[0] == 0, self.wait[1] == 0 || calm && self.best == 0];
        let shorter = due[0].then(|| self.best.checked_sub(1)).flatten();
        // Where nothing lives longer than a step, one that is a little longer is no better.
        let longer = if self.best == 0 { FIRST as u32 } else { self.best.saturating_add(1) };
        let longer = (due[1] && (longer as usize) < STEPS.len()).then_some(longer);
        self.present = shorter.or(longer).unwrap_or(self.best);
        self.steps()
    }

    /// Learns what the present list cost.
    fn learn(&mut self, cost: f32) {
        if self.present == self.best {
            if cost > UNLIKE * self.cost || self.cost > UNLIKE * cost {
                let Horizon { wait, patience, .. } = Horizon::default();
                (self.wait, self.patience) = (wait, patience);
            }
            self.cost = cost;
            return;
        }
        let side = usize::from(self.present > self.best);
        if cost < self.cost {
            (self.best, self.cost) = (self.present, cost);
            self.patience = [PATIENCE; 2];
            // The next one on this side is tried at once. The one on the other side has just been worse.
            self.wait[side] = 1;
            self.wait[1 - side] = self.least_patience();
        } else {
            self.patience[side] =
                self.patience[side].saturating_mul(2).clamp(self.least_patience(), MOST_PATIENCE);
            self.wait[side] = self.patience[side];
        }
    }

    fn least_patience(&self) -> u32 {
        if self.best == 0 { FLEETING_PATIENCE } else { PATIENCE }
    }
}

impl Broadphase {
    /// Chooses the horizon of a new list by the cost of the last one per step: see [`Horizon`].
    pub(super) fn adapt_horizon(
        &mut self,
        margins: &Margins,
        last: &LastList,
        turning: bool,
        motion: &Motions,
    ) -> Margins {
        let [per_contact, per_pair, per_test] = if turning { PER_TURNING } else { PER_PLAIN };
        let cost = PER_BODY * motion.moving as f32
            + per_contact * last.contacts as f32
            + per_pair * last.pairs.saturating_sub(last.contacts) as f32
            + per_test * self.tests as f32;
        let calm = motion.lively <= self.bounds.allowance.per_list;
        let steps = self.horizon.next(cost, self.bounds.steps, calm);
        self.fleeting = steps == 0.0;
        Margins { horizon: steps.max(ONE_STEP) * margins.time_step, ..*margins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: with the part that is done ahead, both steps of a list cost the same by what its parts cost; and all or nothing is done ahead where one of
    /// them costs more whatever the part.
    #[test]
    fn both_steps_of_a_list_cost_the_same() {
        for (turning, moving, pairs, contacts, tests) in [
            (false, 1_000, 2_000, 1_000, 40_000),
            (true, 1_000, 4_000, 900, 60_000),
            (false, 1_000, 50, 10, 9_000),
        ] {
            let last = LastList { pairs, contacts, tests };
            let part = last.part_ahead(turning, moving);
            let kind = usize::from(!turning);
            let order = ORDER[kind] * moving as f32;
            let blocks = NEAR[kind] * contacts as f32 + CANDIDATE * (pairs - contacts) as f32;
            let [ahead, then] = [part, 1.0 - part].map(|part| part * SWEEP * tests as f32);
            let (first, second) = (order + ahead, blocks + then);
            match part {
                0.0 => assert!(first >= second, "{first} and {second} ns"),
                1.0 => assert!(first <= second, "{first} and {second} ns"),
                _ => assert!((first / second - 1.0).abs() < 1e-3, "{first} and {second} ns"),
            }
        }
        let part = |contacts| LastList { pairs: contacts, contacts, tests: 1_000 }.part_ahead(false, 1_000);
        assert_eq!([part(0), part(10_000)], [0.0, 1.0]);
    }

    /// Contract: the horizon that costs least per step is found and kept, but for a few trials of its neighbours, which grow rarer; a list
    /// that nobody used changes nothing.
    #[test]
    fn the_horizon_that_costs_least_is_kept() {
        // A list costs the square of its horizon and a constant, and lives as long as its horizon.
        for (constant, best) in [(2.0, ONE_STEP), (10.0, 2.0), (60.0, 4.0), (300.0, 8.0)] {
            let mut horizon = Horizon::default();
            let mut steps = FIRST_HORIZON;
            let lists: Vec<f32> = (0..200)
                .map(|_| {
                    let lived = steps.round().max(1.0);
                    steps = horizon.next(constant + lived * lived, lived as u32, false);
                    steps
                })
                .collect();
            let others: Vec<usize> = (8..200).filter(|&i| lists[i] != best).collect();
            let [early, late] =
                [8..104, 104..200].map(|part| others.iter().filter(|&&i| part.contains(&i)).count());
            assert!(late <= 4 && late <= early && early <= 14, "{best}: others at {others:?}");
            let before = horizon.steps();
            assert_eq!(horizon.next(1.0e9, 0, false), before);
        }
    }

    /// Contract: if lists die after one step whatever their horizon, they are lists of one step, but for rare trials of the first
    /// horizon; after the bodies have calmed down it is tried at once.
    #[test]
    fn lists_that_die_at_once_are_lists_of_one_step() {
        let mut horizon = Horizon::default();
        let mut list = |calm| {
            let pairs = horizon.steps() * horizon.steps();
            horizon.next(10.0 + pairs, 1, calm)
        };
        let lists: Vec<f32> = (0..400).map(|_| list(false)).collect();
        let long: Vec<usize> = (10..400).filter(|&i| lists[i] > 0.0).collect();
        assert!(long.len() <= 7 && long.iter().all(|&i| lists[i] == FIRST_HORIZON), "{long:?}");
        assert!(long.windows(3).all(|i| i[2] - i[1] >= i[1] - i[0]), "{long:?}");
        assert_eq!((list(true), list(false)), (FIRST_HORIZON, 0.0));
    }

    /// Contract: when the cost changes at once, other horizons are tried as at first.
    #[test]
    fn a_change_of_the_cost_is_followed() {
        let mut horizon = Horizon::default();
        let mut lists = |constant: f32, count: usize| {
            let mut steps = horizon.steps();
            for _ in 0..count {
                let lived = steps.round().max(1.0);
                steps = horizon.next(constant + lived * lived, lived as u32, false);
            }
            STEPS[horizon.best as usize]
        };
        assert_eq!(lists(10.0, 300), 2.0);
        assert_eq!(lists(400.0, 12), 8.0);
    }
}
