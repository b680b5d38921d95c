//! Compares two sets of records: which configurations became faster, which became slower, and which can't be told.
//!
//! Records of one [`Configuration`] are repeats. The unit is the run, not the step: the steps of a run share its luck
//! (T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", 2013). With three runs or more in all, the
//! ratio is that of the geometric means. Its interval is Student's interval of the difference of the means of
//! logarithms ([`ratio_of_runs`]). The measure of a run is the fastest tenth of its steps ([`undisturbed_ms`]), or
//! their median if a record lacks the times of the steps.
//!
//! With one run a side there is only the spread of its steps. Steps are correlated: a new pair list is slow for a step
//! and then kept for many, and another process takes the processor for a while. Steps drawn one by one would count as
//! that many independent measurements. So blocks of steps are drawn ([`ratio_of_steps`], a bootstrap after H. R.
//! Künsch, "The jackknife and the bootstrap for general stationary observations", 1989). The bootstrap can't know how
//! runs differ from each other, and that is what matters. The recorded repeats in `tests/data/repeats.csv` are all of
//! one program on a quiet machine. One run's median differs from another's by more than 5 % in 81 of 276 pairs (one
//! thread) and 145 of 276 (two threads). Three runs are told from three others, by the fastest tenth, in none of 190
//! pairs, and a slowdown of 20 % is found in 190 (one thread) and 110 (two threads). With the medians it is found in
//! 112 and 103. So a single run a side gets no verdict, unless that is asked for.

use super::configuration::{Configuration, grouped};
use super::history::{Ratio, median, ratio_of_runs, ratio_of_steps, undisturbed_ms};
use super::{RunRecord, Samples};
use serde::Serialize;

/// The confidence of the intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The rules that decide what counts as a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The relative difference that does not matter, 0.05 for 5 %.
    pub threshold: f64,
    /// True if a single run a side gets a verdict, too.
    pub single_runs: bool,
}

/// The fewest steps of a single run a side that tell anything: five blocks.
const MIN_STEPS: usize = 25;

/// The comparison of all configurations of two sets of records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The configurations that are in both sets.
    pub rows: Vec<Row>,
    /// The configurations that the new set lacks.
    pub only_in_base: Vec<Configuration>,
    /// The configurations that the base lacks.
    pub only_in_new: Vec<Configuration>,
}

/// The comparison of a configuration that is in both sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What was run.
    pub configuration: Configuration,
    /// The measure of a run.
    pub measure: Measure,
    /// The runs of the base.
    pub base: Side,
    /// The runs that are compared with the base.
    pub new: Side,
    /// The new time divided by that of the base: above 1 the new one is slower. `None` if one side took no time.
    pub ratio: Option<f64>,
    /// The interval of the ratio, with [`CONFIDENCE`]. `None` if there are too few data.
    pub interval: Option<Interval>,
    /// The meaning of the interval.
    pub verdict: Verdict,
    /// True if all runs ended in the same state.
    pub same_state: bool,
}

/// The repeats of one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Side {
    /// The number of runs.
    pub runs: usize,
    /// Median of the runs' times, ms; `measure` says which time of a run that is.
    pub ms: f64,
    /// Median over the runs of the mean step, ms. `None` if a record has no mean.
    pub mean_ms: Option<f64>,
    /// Median over the runs of the 99th percentile of their steps, ms. `None` if a record has none.
    pub p99_ms: Option<f64>,
}

/// The measure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The time that the fastest tenth of its steps do not exceed.
    FastestTenth,
    /// The median of its steps.
    Median,
}

/// An interval of ratios.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The low end.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

/// The meaning of an interval with a threshold t: differences up to t do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of the interval is below 1 / (1 + t).
    Faster,
    /// All of the interval is above 1 + t.
    Slower,
    /// All of the interval is from 1 / (1 + t) to 1 + t.
    NoDifference,
    /// The interval crosses one of these limits, or there is no interval.
    CannotTell,
}

impl Verdict {
    /// The name of the verdict, for people.
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

    /// Returns how many rows have this verdict.
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
            // Older records lack these figures and have zeros.
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

    /// Returns records of recorded repeats, with their times.
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

    /// Compares each `count` successive repeats with the next `count`, which take `factor` times as long. Returns how
    /// many comparisons call these slower, and the number of comparisons.
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

    /// None of the recorded repeats of one program is called slower than another, on a quiet machine or a busy one. A
    /// slowdown of 20 % is called slower, on one thread of a quiet machine, with three repeats or five.
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
