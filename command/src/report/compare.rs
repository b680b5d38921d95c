//! Two sets of records next to each other: what became faster, what slower, and where that can't be told.
//!
//! Records of one [`Configuration`] are repeats, and the run is the unit, not the step: steps of a run share its luck
//! (T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", 2013). With three runs or more the ratio is
//! that of the geometric means, and its interval is Student's, of the difference of the means of logarithms
//! ([`ratio_of_runs`]). What counts of a run is the fastest tenth of its steps
//! ([`undisturbed_ms`]), or their median where a record does not have them all.
//!
//! With one run a side there is only the spread of its steps. These are correlated: a pair list made anew is slow
//! for a step and then kept for many, another process takes the processor for a while. Steps drawn one by one would
//! pretend to be that many independent measurements, so that blocks of them are drawn
//! ([`ratio_of_steps`], a bootstrap after H. R. Künsch, "The jackknife and the bootstrap for general
//! stationary observations", 1989). How runs differ from each other it can't know, and that is what matters. Of the
//! recorded repeats in `tests/data/repeats.csv`, all of one program on a quiet machine, one run's median differs from
//! another's by more than 5 % in 81 of 276 pairs (one thread) and 145 of 276 (two); three runs are told from three
//! others, by the fastest tenth, in none of 190 pairs, and a slowdown of 20 % is found in 190 (one thread) and 110
//! (two). With the medians it is 112 and 103. So a single run a side gets no verdict, unless asked for.

use super::configuration::{Configuration, grouped};
use super::history::{Ratio, median, ratio_of_runs, ratio_of_steps, undisturbed_ms};
use super::{RunRecord, Samples};
use serde::Serialize;

/// How sure the intervals are.
pub const CONFIDENCE: f64 = 0.95;

/// What counts as a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The relative difference that does not matter, 0.05 for 5 %.
    pub threshold: f64,
    /// Whether a single run a side gets a verdict, too.
    pub single_runs: bool,
}

/// Fewer steps of a single run a side tell nothing: this is five blocks.
const MIN_STEPS: usize = 25;

/// All configurations of two sets of records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Those that are in both.
    pub rows: Vec<Row>,
    /// Those that the new set lacks.
    pub only_in_base: Vec<Configuration>,
    /// Those that the base lacks.
    pub only_in_new: Vec<Configuration>,
}

/// A configuration in both sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What was run.
    pub configuration: Configuration,
    /// What counts of a run.
    pub measure: Measure,
    /// The base.
    pub base: Side,
    /// What is compared with it.
    pub new: Side,
    /// Time of the new by that of the base: above 1 it is slower. None where one took no time.
    pub ratio: Option<f64>,
    /// Of the ratio, with [`CONFIDENCE`]. None where there is too little to tell.
    pub interval: Option<Interval>,
    /// What that means.
    pub verdict: Verdict,
    /// Whether all runs ended in the same state.
    pub same_state: bool,
}

/// The repeats of one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Side {
    /// How many.
    pub runs: usize,
    /// Median of what they took, ms.
    pub ms: f64,
    /// Median over the runs of the mean step, ms. None where a record has none.
    pub mean_ms: Option<f64>,
    /// Median over the runs of the 99th percentile of their steps, ms. None where a record has none.
    pub p99_ms: Option<f64>,
}

/// What counts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The time that a tenth of its steps do not exceed.
    FastestTenth,
    /// The median of its steps.
    Median,
}

/// From the low end to the high one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The low end.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

/// What an interval means with a threshold t: differences up to it do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of the interval is below 1 / (1 + t).
    Faster,
    /// All of the interval is above 1 + t.
    Slower,
    /// All of it is between.
    NoDifference,
    /// It crosses one of these, or there is none.
    CannotTell,
}

impl Verdict {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoDifference => "no difference",
            Verdict::CannotTell => "cannot tell",
        }
    }

    fn of(interval: Option<Interval>, threshold: f64) -> Verdict {
        let (low, high) = (1.0 / (1.0 + threshold), 1.0 + threshold);
        match interval {
            Some(interval) if interval.low > high => Verdict::Slower,
            Some(interval) if interval.high < low => Verdict::Faster,
            Some(interval) if interval.low >= low && interval.high <= high => Verdict::NoDifference,
            _ => Verdict::CannotTell,
        }
    }
}

impl Comparison {
    /// Compares all configurations.
    pub fn new<'a>(
        base: impl IntoIterator<Item = &'a RunRecord>,
        new: impl IntoIterator<Item = &'a RunRecord>,
        rules: Rules,
    ) -> Comparison {
        let (base, mut new) = (grouped(base), grouped(new));
        let mut comparison =
            Comparison { rows: Vec::new(), only_in_base: Vec::new(), only_in_new: Vec::new() };
        for (configuration, base) in base {
            match new.remove(&configuration) {
                Some(new) => comparison.rows.push(Row::new(configuration, &base, &new, rules)),
                None => comparison.only_in_base.push(configuration),
            }
        }
        comparison.only_in_new = new.into_keys().collect();
        comparison
    }

    /// How many rows have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}

impl Row {
    fn new(configuration: Configuration, base: &[&RunRecord], new: &[&RunRecord], rules: Rules) -> Row {
        let hash = &base[0].state_hash;
        let same_state = base.iter().chain(new).all(|record| record.state_hash == *hash);
        let single = base.len() + new.len() == 2;
        // The bootstrap is of the median, too.
        let all_have_steps = !single && base.iter().chain(new).all(|r| undisturbed_ms(r).is_some());
        let measure = if all_have_steps { Measure::FastestTenth } else { Measure::Median };
        let (times_base, times_new) = (measure.of(base), measure.of(new));
        let (base_side, new_side) = (Side::of(base, &times_base), Side::of(new, &times_new));
        let of_runs = ratio_of_runs(&times_base, &times_new, CONFIDENCE);
        let found = of_runs.or_else(|| ratio_of_single_runs(base[0], new[0]));
        let interval = found.map(|Ratio { low, high, .. }| Interval { low, high });
        let plain = Some(new_side.ms / base_side.ms);
        Row {
            configuration,
            measure,
            base: base_side,
            new: new_side,
            ratio: found.map(|found| found.ratio).or(plain).filter(|ratio| ratio.is_normal()),
            interval,
            verdict: Verdict::of(interval.filter(|_| !single || rules.single_runs), rules.threshold),
            same_state,
        }
    }
}

impl Side {
    fn of(records: &[&RunRecord], times_ms: &[f64]) -> Side {
        let figure = |of: fn(&RunRecord) -> f64| {
            let figures: Vec<f64> = records.iter().map(|record| of(record)).collect();
            // Records from before there were these figures have zeros.
            median(&figures).filter(|_| figures.iter().all(|&ms| ms > 0.0))
        };
        Side {
            runs: times_ms.len(),
            ms: median(times_ms).unwrap_or(0.0),
            mean_ms: figure(|record| record.step_ms.mean),
            p99_ms: figure(|record| record.step_ms.p99),
        }
    }
}

impl Measure {
    fn of(self, records: &[&RunRecord]) -> Vec<f64> {
        let time = |record: &&RunRecord| match self {
            Measure::FastestTenth => undisturbed_ms(record).unwrap_or(0.0),
            Measure::Median => record.step_ms.p50,
        };
        records.iter().map(time).collect()
    }
}

fn ratio_of_single_runs(base: &RunRecord, new: &RunRecord) -> Option<Ratio> {
    let (Samples { step: base, .. }, Samples { step: new, .. }) = (&base.samples_ms, &new.samples_ms);
    let enough = base.len().min(new.len()) >= MIN_STEPS;
    enough.then(|| ratio_of_steps(base, new, CONFIDENCE)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::StepTimes;

    /// Records of recorded repeats, which took these times.
    fn recorded(machine: &str, scene: &str) -> Vec<RunRecord> {
        let rows = include_str!("../../tests/data/repeats.csv").lines();
        let cells = rows.map(|row| row.split(',').collect::<Vec<&str>>());
        let wanted = cells.filter(|cells| cells[..2.min(cells.len())] == [machine, scene]);
        let record = |cells: Vec<&str>| RunRecord {
            step_ms: StepTimes::of(&mut [cells[2].parse().expect("a time")]),
            ..RunRecord::sample(scene, 1000)
        };
        wanted.map(record).collect()
    }

    /// How many comparisons of `count` successive repeats with the next `count` call them slower, when the latter
    /// take `factor` times as long; and of how many.
    fn slower(records: &[RunRecord], count: usize, factor: f64) -> (usize, usize) {
        let rules = Rules { threshold: 0.05, single_runs: false };
        let pairs = records.windows(2 * count);
        let is_slower = |pair: &&[RunRecord]| {
            let (base, new) = pair.split_at(count);
            let mut new = new.to_vec();
            new.iter_mut().for_each(|record| record.step_ms.p50 *= factor);
            Comparison::new(base, &new, rules).count(Verdict::Slower) > 0
        };
        (pairs.clone().filter(is_slower).count(), pairs.len())
    }

    /// Of recorded repeats of one program, none is called slower than another, on a quiet machine nor on a busy one;
    /// a slowdown of 20 % is, on one thread of a quiet machine, with three repeats or five.
    #[test]
    fn recorded_repeats() {
        for machine in ["quiet", "busy"] {
            for scene in ["packed", "pile"] {
                let records = recorded(machine, scene);
                assert_eq!(records.len(), 24);
                for count in [1, 3, 5] {
                    assert_eq!(slower(&records, count, 1.0).0, 0, "{machine}, {scene}, {count}");
                }
            }
        }
        let quiet = recorded("quiet", "packed");
        assert_eq!((slower(&quiet, 3, 1.2), slower(&quiet, 5, 1.2)), ((19, 19), (15, 15)));
    }
}
