//! For how many steps a pair list is to live.

use super::fleeting::Motions;
use super::{Broadphase, Margins};

/// The longest horizon, in steps, and the first.
pub(super) const HORIZON_STEPS: f32 = 8.0;
pub(super) const FIRST_HORIZON: f32 = 4.0;
/// One step and a little, so that rounding does not end a list before it is used.
pub(super) const ONE_STEP: f32 = 1.01;
/// After so many lists of one step a longer one is tried, and after twice as many when that was no better, up to so many.
const PATIENCE: u32 = 8;
const MOST_PATIENCE: u32 = 128;
/// By how much the horizon is changed from list to list.
const LONGER: f32 = 2.0;
/// How much the cost of the step that makes a list counts beside what it is per step of the list's life: people see the slowest frame.
const SPIKE: f32 = 0.1;
/// What a new list costs, in ns: each body; each contact that is near, each other pair, and each test of a loose body, where most bodies
/// turn and where they don't.
const PER_BODY: f32 = 100.0;
const PER_TURNING: [f32; 3] = [150.0, 50.0, 100.0];
const PER_PLAIN: [f32; 3] = [70.0, 40.0, 20.0];

/// The pair list that a new one takes the place of.
pub(crate) struct LastList {
    pub pairs: usize,
    /// Those of them that were near at its end.
    pub contacts: usize,
}

/// For how many steps a list is to live. A long one has many pairs, a short one is soon to be made anew; and how soon a body is hit
/// and leaves its margin, nobody knows beforehand. So it is changed with each list, and back when that was dearer by the step.
///
/// With five steps always, 5,000 boxes in a pit had 45,000 pairs for 7,000 contacts and a new list in two steps of three. Changes by a
/// quarter, and by a half, got stuck where every step makes a list (2,025 boxes in a tumbler: 1.1 ms of broadphase a step, and 0.5 with changes
/// by two). Tried and dropped: shorter when a list lived less than 0.4, 0.5 or 0.7 of its horizon: better here, worse there.
/// At most 12 steps: means 5 % less, the slowest step of a collapsing pile 40 % more than with 8.
pub(super) struct Horizon {
    /// 0 for a list of the present step alone: it has no pairs that have to come near before they count.
    steps: f32,
    /// Than the last.
    shorter: bool,
    /// How many lists of one step there were in succession, and after how many a longer one is tried.
    fleeting: u32,
    patience: u32,
    /// This is one that is tried.
    tries: bool,
    /// What the last list cost.
    cost: f32,
}

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
    /// The next, after a list that has cost this much and lived so many steps. `calm` if hardly anything moves now.
    fn next(&mut self, cost: f32, lived: u32, calm: bool) -> f32 {
        if lived == 0 {
            return self.steps;
        }
        let cost = cost * (1.0 / lived as f32 + SPIKE);
        let dearer = cost > self.cost;
        if std::mem::take(&mut self.tries) && dearer {
            (self.steps, self.fleeting) = (0.0, 0);
            self.patience = (2 * self.patience).min(MOST_PATIENCE);
            return self.steps;
        }
        self.cost = cost;
        if self.steps == 0.0 {
            // There is nothing shorter, and what is a little longer is no better: what has calmed down has to be tried.
            self.fleeting += 1;
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
    /// Chooses the horizon of a new list by what the last one cost a step: see [`Horizon`].
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

    /// Contract: the horizon goes on in the direction that made lists cheaper by the step, turns back where it made them dearer, and stays
    /// between one step and the longest; a list that nobody used says nothing.
    #[test]
    fn the_horizon_follows_the_cost() {
        // Cheapest at four steps: a list costs 16 and the square of its horizon, and lives for so long.
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
        // Lists that die at once whatever the horizon are to be of one step, but for some that try whether they still do.
        let mut horizon = Horizon::default();
        let mut list = |calm| {
            let pairs = horizon.steps * horizon.steps;
            horizon.next(10.0 + pairs, 1, calm)
        };
        let lists: Vec<f32> = (0..400).map(|_| list(false)).collect();
        let long: Vec<usize> = (10..400).filter(|&i| lists[i] > 0.0).collect();
        assert!(long.len() <= 6 && long.iter().all(|&i| lists[i] == FIRST_HORIZON), "{long:?}");
        assert!(long.windows(3).all(|i| i[2] - i[1] >= i[1] - i[0]), "{long:?}");
        // What has calmed down is tried at once.
        assert_eq!((list(true), list(false)), (FIRST_HORIZON, 0.0));
    }
}
