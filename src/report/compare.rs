//! Two sets of records next to each other: what became faster, what slower, and where that can't be told.
//!
//! Records of one [`Configuration`] are repeats, each stands for one value: the median of its steps. With three
//! runs or more the ratio of a row is that of the geometric means, and its interval is Student's, of the difference
//! of the means of logarithms ([`history::ratio_of_runs`]). The run is the unit and not the step, as steps of a run
//! share its luck (T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", 2013).
//!
//! With one run a side there is only the spread of its steps. These are correlated: a pair list made anew is slow
//! for a step and then kept for many, another process takes the processor for a while. Steps drawn one by one would
//! pretend to be that many independent measurements, so that blocks of them are drawn
//! ([`history::ratio_of_steps`], a bootstrap after H. R. Künsch, "The jackknife and the bootstrap for general
//! stationary observations", 1989). How runs differ from each other it can't know: the threshold is there for that,
//! and repeats are the remedy.

use super::configuration::{Configuration, grouped};
use super::history::{self, Ratio};
use super::{RunRecord, Samples};
use serde::Serialize;

/// How sure the intervals are.
pub const CONFIDENCE: f64 = 0.95;
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
    /// Median of their median step times, ms.
    pub median_ms: f64,
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
    /// Compares all configurations; `threshold` is the relative difference that does not matter, 0.05 for 5 %.
    pub fn new<'a>(
        base: impl IntoIterator<Item = &'a RunRecord>,
        new: impl IntoIterator<Item = &'a RunRecord>,
        threshold: f64,
    ) -> Comparison {
        let (base, mut new) = (grouped(base), grouped(new));
        let mut comparison =
            Comparison { rows: Vec::new(), only_in_base: Vec::new(), only_in_new: Vec::new() };
        for (configuration, base) in base {
            match new.remove(&configuration) {
                Some(new) => comparison.rows.push(Row::new(configuration, &base, &new, threshold)),
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
    fn new(configuration: Configuration, base: &[&RunRecord], new: &[&RunRecord], threshold: f64) -> Row {
        let hash = &base[0].state_hash;
        let same_state = base.iter().chain(new).all(|record| record.state_hash == *hash);
        let (medians_base, medians_new) = (medians(base), medians(new));
        let (base_side, new_side) = (Side::of(&medians_base), Side::of(&medians_new));
        let of_runs = history::ratio_of_runs(&medians_base, &medians_new, CONFIDENCE);
        let found = of_runs.or_else(|| ratio_of_single_runs(base[0], new[0]));
        let interval = found.map(|Ratio { low, high, .. }| Interval { low, high });
        let plain = Some(new_side.median_ms / base_side.median_ms);
        Row {
            configuration,
            base: base_side,
            new: new_side,
            ratio: found.map(|found| found.ratio).or(plain).filter(|ratio| ratio.is_normal()),
            interval,
            verdict: Verdict::of(interval, threshold),
            same_state,
        }
    }
}

impl Side {
    fn of(medians_ms: &[f64]) -> Side {
        Side { runs: medians_ms.len(), median_ms: history::median(medians_ms).unwrap_or(0.0) }
    }
}

fn medians(records: &[&RunRecord]) -> Vec<f64> {
    records.iter().map(|record| record.step_ms.p50).collect()
}

fn ratio_of_single_runs(base: &RunRecord, new: &RunRecord) -> Option<Ratio> {
    let (Samples { step: base, .. }, Samples { step: new, .. }) = (&base.samples_ms, &new.samples_ms);
    let enough = base.len().min(new.len()) >= MIN_STEPS;
    enough.then(|| history::ratio_of_steps(base, new, CONFIDENCE)).flatten()
}
