//! The horizon: for how many steps a pair list is to live.

use super::fleeting::Motions;
use super::{Broadphase, Margins};

/// The longest horizon, in steps, and the first.
pub(super) const HORIZON_STEPS: f32 = 8.0;
pub(super) const FIRST_HORIZON: f32 = 4.0;
/// One step and a little, so that rounding does not end a list before it is used.
pub(super) const ONE_STEP: f32 = 1.01;
/// After so many lists of one step a longer list is tried. If that was no better, the number doubles, up to
/// `MOST_PATIENCE`.
const PATIENCE: u32 = 8;
const MOST_PATIENCE: u32 = 128;
/// The factor by which the horizon changes from list to list.
const LONGER: f32 = 2.0;
/// The weight of the cost of the step that makes a list, beside that cost per step of the list's life: people see the
/// slowest frame.
const SPIKE: f32 = 0.1;
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
/// knows beforehand how soon a body is hit and leaves its margin. So the horizon changes with each list, and changes
/// back if the cost per step rose.
///
/// With a fixed horizon of five steps, 5,000 boxes in a pit had 45,000 pairs for 7,000 contacts, and a new list in two
/// steps of three. Changes by a quarter and by a half got stuck in scenes that make a list in every step (2,025 boxes
/// in a tumbler: 1.1 ms of broadphase a step, and 0.5 ms with changes by a factor of two). Tried and dropped: a shorter
/// horizon when a list lived less than 0.4, 0.5 or 0.7 of its own: better in some scenes, worse in others. Tried and
/// dropped: at most 12 steps: means were 5 % lower, but the slowest step of a collapsing pile was 40 % slower than with
/// 8.
#[derive(Clone, Copy)]
pub(super) struct Horizon {
    /// The present horizon; 0 for a list of the present step alone, which has no pairs that must come near before they
    /// count.
    steps: f32,
    /// The horizon was last changed to a shorter one.
    shorter: bool,
    /// How many lists of one step were made in succession, and after how many a longer one is tried.
    fleeting: u32,
    patience: u32,
    /// The present list tries a longer horizon.
    tries: bool,
    /// The cost of the last list, per step of its life and with the weight `SPIKE`.
    cost: f32,
}

crate::base::codec::stored!(Horizon { steps, shorter, fleeting, patience, tries, cost });

impl Default for Horizon {
    fn default() -> Self {
        Horizon {
            steps: FIRST_HORIZON,
            shorter: true,
            fleeting: 0,
            patience: PATIENCE,
            tries: false,
            cost: f32::INFINITY,
        }
    }
}

impl Horizon {
    /// Returns the next horizon, after a list that cost `cost` ns and lived `lived` steps. `calm` is true if hardly
    /// anything moves now.
    fn next(&mut self, cost: f32, lived: u32, calm: bool) -> f32 {
        if lived == 0 {
            return self.steps;
        }
        let cost = cost * (1.0 / lived as f32 + SPIKE);
        let dearer = cost > self.cost;
        if std::mem::take(&mut self.tries) && dearer {
            (self.steps, self.fleeting) = (0.0, 0);
            self.patience = self.patience.saturating_mul(2).min(MOST_PATIENCE);
            return self.steps;
        }
        self.cost = cost;
        if self.steps == 0.0 {
            // No horizon is shorter, and one that is a little longer is no better. So the first horizon is tried, to
            // see whether the bodies have calmed down.
            self.fleeting = self.fleeting.saturating_add(1);
            if calm || self.fleeting > self.patience {
                (self.steps, self.tries, self.shorter) = (FIRST_HORIZON, true, false);
            }
            return self.steps;
        }
        self.shorter ^= dearer;
        self.steps = match self.steps {
            steps if self.shorter && steps <= ONE_STEP => {
                (self.fleeting, self.patience) = (0, PATIENCE);
                0.0
            }
            steps if self.shorter => (steps / LONGER).max(ONE_STEP),
            steps => (steps * LONGER).min(HORIZON_STEPS),
        };
        self.steps
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

    /// Contract: the horizon goes on in the direction that lowered the cost of lists per step, turns back where the
    /// cost rose, and stays between one step and the longest; a list that nobody used changes nothing.
    #[test]
    fn the_horizon_follows_the_cost() {
        // Four steps are cheapest: a list costs 16 plus the square of its horizon, and lives as long as its horizon.
        let mut horizon = Horizon::default();
        let mut steps = FIRST_HORIZON;
        for turn in 0..40 {
            let lived = steps.round().max(1.0);
            steps = horizon.next(16.0 + lived * lived, lived as u32, false);
            assert!((0.0..=HORIZON_STEPS).contains(&steps));
            assert!(turn < 4 || (1.2..=HORIZON_STEPS).contains(&steps), "turn {turn}: {steps}");
        }
        let before = steps;
        assert_eq!(horizon.next(1.0e9, 0, false), before);
        // If lists die after one step whatever their horizon, they are to be lists of one step, except for a few
        // trials.
        let mut horizon = Horizon::default();
        let mut list = |calm| {
            let pairs = horizon.steps * horizon.steps;
            horizon.next(10.0 + pairs, 1, calm)
        };
        let lists: Vec<f32> = (0..400).map(|_| list(false)).collect();
        let long: Vec<usize> = (10..400).filter(|&i| lists[i] > 0.0).collect();
        assert!(long.len() <= 6 && long.iter().all(|&i| lists[i] == FIRST_HORIZON), "{long:?}");
        assert!(long.windows(3).all(|i| i[2] - i[1] >= i[1] - i[0]), "{long:?}");
        // After the bodies have calmed down, a longer list is tried at once.
        assert_eq!((list(true), list(false)), (FIRST_HORIZON, 0.0));
    }
}
