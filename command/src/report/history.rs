//! Finds what became slower: the times of a configuration over commits, and which of them are regressions.
//!
//! A commit is marked if its time is beyond what the history makes plausible, by two measures that must agree:
//!
//! 1. *The outer fence.* Its median is above Q3 + 3·IQR of the runs before it (J. W. Tukey, Exploratory Data Analysis,
//!    1977). Quartiles do not depend on how far off an outlier is, so a burst of other people's work in the history
//!    hides nothing. But quartiles do not show how many runs stand behind the new value.
//! 2. *The confidence interval.* The whole interval of the ratio new : history is above 1. It is Student's interval of
//!    the difference of two means of *logarithms*, turned back into a ratio. The noise of times is relative and skewed
//!    to the right; that of their logarithms is much less skewed. And a ratio of geometric means is what a slowdown "by
//!    a fifth" means. The variance is pooled, so that one new run is enough: the interval is then that of a prediction
//!    from the history. Runs outside the history's own outer fences are left out.
//!
//! And the commit must have [`MIN_RUNS`] runs; with fewer it is only a suspect.
//!
//! The unit is a *run*, not a step. The steps of a run share its luck (layout in memory, frequency, neighbours), and
//! their spread says nothing about the spread of runs. A run is judged by [`undisturbed_ms`], the fastest tenth of its
//! steps. With the median, commits of five of the recorded repeats were marked for noise alone (3 of 60), and a
//! slowdown by a fifth was found in 24 of 60; with the fastest tenth it is none, and 44. With only one run a side,
//! [`ratio_of_steps`] says how sure the medians of its steps are, and no more.

use super::{Filed, Machine, RunRecord};
use std::collections::{BTreeMap, HashMap};

/// The confidence of the interval by which a regression is marked.
pub const CONFIDENCE: f64 = 0.99;
/// The fewest runs before a commit that are a history: the quartiles of four values are the values themselves.
pub const MIN_HISTORY: usize = 5;
/// The fewest runs of a commit that mark it; with fewer it is a suspect. Other people's work lasts longer than a run,
/// and can make some runs in a row slow. In the busy half of `tests/data/repeats.csv` that makes 3 of 24 single runs
/// suspects, and 4 of 22 threes; no five.
pub const MIN_RUNS: usize = 5;
/// The most runs before a commit that make its history. Older runs are forgotten. So are all runs before a commit that
/// made the configuration faster: old, slow times would hide that a part of the gain was lost again.
pub const MAX_HISTORY: usize = 25;

/// Quartiles of a sample, with linear interpolation (type 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in
/// statistical packages", 1996).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// The first quartile.
    pub q1: f64,
    /// The second quartile.
    pub median: f64,
    /// The third quartile.
    pub q3: f64,
}

impl Quartiles {
    /// Returns the quartiles of the finite values, which may be in any order; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Quartiles> {
        let sorted = sorted(values);
        let quantile = |q| quantile(&sorted, q);
        Some(Quartiles { q1: quantile(0.25)?, median: quantile(0.5)?, q3: quantile(0.75)? })
    }

    /// Q3 + 3·IQR: a value above it is "far out".
    pub fn upper_fence(&self) -> f64 {
        self.q3 + 3.0 * (self.q3 - self.q1)
    }

    /// Q1 − 3·IQR: a value below it is "far out".
    pub fn lower_fence(&self) -> f64 {
        self.q1 - 3.0 * (self.q3 - self.q1)
    }
}

/// Returns the median of the finite values, which may be in any order; `None` if there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Returns the `q` quantile of a sorted sample, by linear interpolation; `None` for an empty one.
fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let place = q * sorted.len().checked_sub(1)? as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    Some(sorted[below] + part * (sorted[above] - sorted[below]))
}

/// A ratio to a base, and its interval with the confidence asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The new value divided by that of the base.
    pub ratio: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Returns the ratio of the geometric means of two samples of *runs*' times, with Student's interval of the difference
/// of the means of logarithms; the variance is pooled. Each side needs one run, and one side needs a second one.
///
/// Values that are not positive numbers are ignored.
pub fn ratio_of_runs(base: &[f64], new: &[f64], confidence: f64) -> Option<Ratio> {
    let (base, new) = (logarithms(base), logarithms(new));
    let degrees = (base.len() + new.len()).checked_sub(2).filter(|&degrees| degrees > 0)?;
    let (mean_base, squares_base) = moments(&base)?;
    let (mean_new, squares_new) = moments(&new)?;
    let variance = (squares_base + squares_new) / degrees as f64;
    let error = (variance * (1.0 / base.len() as f64 + 1.0 / new.len() as f64)).sqrt();
    let (middle, half) = (mean_new - mean_base, student_quantile(confidence, degrees) * error);
    Some(Ratio { ratio: middle.exp(), low: (middle - half).exp(), high: (middle + half).exp() })
}

fn logarithms(times: &[f64]) -> Vec<f64> {
    times.iter().filter(|time| time.is_finite() && **time > 0.0).map(|time| time.ln()).collect()
}

/// Returns the mean, and the sum of the squared deviations from it.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some((mean, values.iter().map(|value| (value - mean).powi(2)).sum()))
}

/// Returns the ratio of the medians of two runs' *steps*, with the percentile interval of a bootstrap. As neighbouring
/// steps are alike, blocks of successive steps are drawn with repetition (H. R. Künsch, "The jackknife and the
/// bootstrap for general stationary observations", 1989). The draws are the same every time.
///
/// The interval says how well the steps determine the run's median. It says nothing about how runs differ from each
/// other.
pub fn ratio_of_steps(base: &[f64], new: &[f64], confidence: f64) -> Option<Ratio> {
    const DRAWS: usize = 1000;
    let positive = |times: &[f64]| -> Vec<f64> {
        times.iter().copied().filter(|time| time.is_finite() && *time > 0.0).collect()
    };
    let (base, new) = (positive(base), positive(new));
    let ratio = median(&new)? / median(&base)?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut drawn = Vec::new();
    let mut ratios: Vec<f64> = (0..DRAWS)
        .map(|_| {
            redrawn_median(&new, &mut random, &mut drawn) / redrawn_median(&base, &mut random, &mut drawn)
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Some(Ratio { ratio, low: quantile(&ratios, tail)?, high: quantile(&ratios, 1.0 - tail)? })
}

/// Returns the median of as many values as `values` has, drawn from it in blocks of √n. `values` is not empty.
fn redrawn_median(values: &[f64], random: &mut Random, drawn: &mut Vec<f64>) -> f64 {
    let block = (values.len() as f64).sqrt() as usize;
    drawn.clear();
    while drawn.len() < values.len() {
        let start = random.below(values.len() - block + 1);
        let length = block.min(values.len() - drawn.len());
        drawn.extend_from_slice(&values[start..start + length]);
    }
    let middle = drawn.len() / 2;
    *drawn.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Xorshift (G. Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * bound as u128) >> 64) as usize
    }
}

/// Returns the t for which Student's distribution has `confidence` between −t and t. Exact for one and two degrees of
/// freedom, else the expansion 26.7.5 of M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 1964. Within
/// 1 % for confidences up to 0.99.
fn student_quantile(confidence: f64, degrees: usize) -> f64 {
    let tail = (1.0 - confidence) / 2.0;
    match degrees {
        1 => 1.0 / (std::f64::consts::PI * tail).tan(),
        2 => confidence * (2.0 / (1.0 - confidence * confidence)).sqrt(),
        _ => {
            let z = normal_quantile(tail);
            let odd = |coefficients: &[f64]| z * coefficients.iter().fold(0.0, |sum, c| sum * z * z + c);
            let n = degrees as f64;
            z + odd(&[1.0, 1.0]) / 4.0 / n
                + odd(&[5.0, 16.0, 3.0]) / 96.0 / n.powi(2)
                + odd(&[3.0, 19.0, 17.0, -15.0]) / 384.0 / n.powi(3)
                + odd(&[79.0, 776.0, 1482.0, -1920.0, -945.0]) / 92160.0 / n.powi(4)
        }
    }
}

/// Returns the normal deviate with `tail` above it, 0 < `tail` ≤ 0.5; to 4.5·10⁻⁴ (26.2.23 in the same handbook).
fn normal_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - numerator / denominator
}

/// The judgement of a new commit's times by those before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Q3 + 3·IQR of the history.
    pub fence: f64,
    /// The ratio new : history, with its interval of [`CONFIDENCE`].
    pub ratio: Ratio,
    /// True if the new median is above the fence, and the whole interval above 1.
    pub beyond: bool,
    /// True if the new median is below the lower fence, the whole interval below 1, and there are [`MIN_RUNS`] runs.
    pub improved: bool,
    /// The number of new runs.
    pub runs: usize,
}

impl Verdict {
    /// Returns true if the times are beyond what is plausible, by [`MIN_RUNS`] runs.
    pub fn is_regression(&self) -> bool {
        self.beyond && self.runs >= MIN_RUNS
    }

    /// Returns true if the times are beyond what is plausible, but by fewer runs.
    pub fn is_suspect(&self) -> bool {
        self.beyond && self.runs < MIN_RUNS
    }
}

/// Judges the times of a commit's runs by those of earlier runs. Returns `None` if there are fewer than [`MIN_HISTORY`]
/// earlier runs, or no new ones.
pub fn judge(history: &[f64], new: &[f64]) -> Option<Verdict> {
    if history.len() < MIN_HISTORY {
        return None;
    }
    let quartiles = Quartiles::of(history)?;
    let fence = quartiles.upper_fence();
    let inside = quartiles.lower_fence()..=fence;
    let usual: Vec<f64> = history.iter().copied().filter(|time| inside.contains(time)).collect();
    let ratio = ratio_of_runs(&usual, new, CONFIDENCE)?;
    let (middle, runs) = (median(new)?, logarithms(new).len());
    let beyond = middle > fence && ratio.low > 1.0;
    let improved = middle < quartiles.lower_fence() && ratio.high < 1.0 && runs >= MIN_RUNS;
    Some(Verdict { fence, ratio, beyond, improved, runs })
}

/// The settings that must be the same in two runs for their times to be comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Config {
    /// Name of the scene.
    pub scene: String,
    /// Moving bodies, and static ones.
    pub bodies: [usize; 2],
    /// Particles, and links.
    pub particles: [usize; 2],
    /// Size of the thread pool.
    pub threads: usize,
    /// Number of contacts on which one instruction works at most.
    pub lanes: usize,
    /// `soft` or `projection`.
    pub solver: String,
    /// Substeps, iterations, and iterations over the links.
    pub iterations: [u32; 3],
    /// Warm-up steps, and measured steps.
    pub steps: [u32; 2],
    /// Seed of the built-in scene.
    pub seed: u64,
    /// Whether bodies at rest fell asleep.
    pub sleep: bool,
    /// Whether continuous collision was switched off. Older records, which did not have it, are taken to be like those with it.
    pub discrete: bool,
    /// Instruction set.
    pub isa: String,
    /// Processor, number of cores, and operating system.
    pub machine: (String, usize, String),
}

impl Config {
    /// Returns the configuration of a run.
    pub fn of(record: &RunRecord) -> Config {
        let Machine { cpu, cores, os } = record.machine.clone();
        Config {
            scene: record.scene.clone(),
            bodies: [record.bodies, record.static_bodies],
            particles: [record.particles, record.links],
            threads: record.threads,
            lanes: record.lanes,
            solver: record.solver.clone(),
            // Older records do not give the link iterations, which do not matter without links.
            iterations: [
                record.substeps,
                record.iterations,
                if record.links > 0 { record.link_iterations } else { 0 },
            ],
            steps: [record.warmup, record.steps],
            seed: record.seed,
            sleep: record.sleep,
            discrete: record.continuous == Some(false),
            isa: record.isa.clone(),
            machine: (cpu, cores, os),
        }
    }
}

/// The runs of a configuration in one commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The commit.
    pub commit: String,
    /// The indices of the runs' records.
    pub records: Vec<usize>,
    /// Median of the runs' times, ms; see [`undisturbed_ms`].
    pub ms: f64,
    /// The judgement by the runs before; `None` if these are too few.
    pub verdict: Option<Verdict>,
}

/// Returns the time that the fastest tenth of a run's steps do not exceed, ms: that of a step that nothing disturbed.
/// `None` if the record has no times of single steps. (It does not show what only rare steps do.)
pub fn undisturbed_ms(record: &RunRecord) -> Option<f64> {
    let steps = sorted(&record.samples_ms.step);
    Some(steps[steps.len().checked_sub(1)? / 10])
}

/// Returns the commits of the records, in the order in which they were first run. A record has no parent, so you have
/// to know which commits are of which branch.
pub fn commits(records: &[Filed]) -> Vec<String> {
    let mut first: HashMap<&str, u64> = HashMap::new();
    for Filed { record, .. } in records {
        let time = first.entry(&record.commit).or_insert(record.unix_time);
        *time = record.unix_time.min(*time);
    }
    let mut commits: Vec<(u64, &str)> = first.into_iter().map(|(commit, time)| (time, commit)).collect();
    commits.sort_unstable();
    commits.into_iter().map(|(_, commit)| commit.to_owned()).collect()
}

/// Judges each configuration's times over the commits; runs without steps have none. If a run of a configuration has no
/// times of single steps, medians replace [`undisturbed_ms`] in all of its runs.
pub fn series(records: &[Filed]) -> BTreeMap<Config, Vec<Point>> {
    let commits = commits(records);
    let place: HashMap<&str, usize> = commits.iter().enumerate().map(|(i, commit)| (&**commit, i)).collect();
    let mut groups: BTreeMap<Config, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (index, Filed { record, .. }) in records.iter().enumerate().filter(|(_, r)| r.record.steps > 0) {
        let runs = groups.entry(Config::of(record)).or_default();
        runs.entry(place[&*record.commit]).or_default().push(index);
    }
    let undisturbed: Vec<Option<f64>> = records.iter().map(|filed| undisturbed_ms(&filed.record)).collect();
    let judged = |runs: BTreeMap<usize, Vec<usize>>| {
        let all_have_steps = runs.values().flatten().all(|&index| undisturbed[index].is_some());
        let time = |&index: &usize| {
            let p50 = records[index].record.step_ms.p50;
            if all_have_steps { undisturbed[index].unwrap_or(p50) } else { p50 }
        };
        let mut history: Vec<f64> = Vec::new();
        let point = |(commit, indices): (usize, Vec<usize>)| {
            let times: Vec<f64> = indices.iter().map(time).collect();
            let verdict = judge(&history[history.len().saturating_sub(MAX_HISTORY)..], &times);
            let ms = median(&times).unwrap_or(f64::NAN);
            if verdict.is_some_and(|verdict| verdict.improved) {
                history.clear();
            }
            history.extend_from_slice(&times);
            Point { commit: commits[commit].clone(), records: indices, ms, verdict }
        };
        runs.into_iter().map(point).collect()
    };
    groups.into_iter().map(|(config, runs)| (config, judged(runs))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(value: f64, expected: f64, tolerance: f64) {
        assert!((value / expected - 1.0).abs() < tolerance, "{value} is not {expected}");
    }

    /// Quartiles are those of the usual definition, whatever the order; of nothing there are none.
    #[test]
    fn quartiles_interpolate() {
        let quartiles = Quartiles::of(&[7.0, 15.0, 36.0, 39.0, 40.0, 41.0]).expect("values");
        assert_eq!(quartiles, Quartiles { q1: 20.25, median: 37.5, q3: 39.75 });
        assert_eq!(quartiles.upper_fence(), 39.75 + 3.0 * 19.5);
        assert_eq!(quartiles.lower_fence(), 20.25 - 3.0 * 19.5);
        assert_eq!(median(&[3.0, f64::NAN, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[5.0]), Some(5.0));
        assert_eq!((median(&[]), Quartiles::of(&[f64::INFINITY])), (None, None));
    }

    /// Student's quantiles are those of the tables.
    #[test]
    fn student_table() {
        let table = [
            (1, 12.706, 63.657),
            (2, 4.303, 9.925),
            (3, 3.182, 5.841),
            (5, 2.571, 4.032),
            (10, 2.228, 3.169),
            (30, 2.042, 2.750),
            (1000, 1.962, 2.581),
        ];
        for (degrees, t95, t99) in table {
            assert_close(student_quantile(0.95, degrees), t95, 0.003);
            assert_close(student_quantile(0.99, degrees), t99, 0.01);
        }
    }

    /// The interval of runs is the textbook's: a ratio of geometric means, wider with more confidence. With one new run
    /// it is the interval of a prediction.
    #[test]
    fn interval_of_runs() {
        let [a, b] = [[1.0_f64, 2.0, 3.0].map(f64::exp), [2.0_f64, 3.0, 4.0].map(f64::exp)];
        let ratio = ratio_of_runs(&a, &b, 0.95).expect("an interval");
        // Pooled deviation 1, standard error √(2/3), t(4) = 2.776.
        assert_close(ratio.ratio.ln(), 1.0, 1e-9);
        assert_close(ratio.high.ln() - 1.0, 2.776 * (2.0_f64 / 3.0).sqrt(), 0.003);
        assert_close(1.0 - ratio.low.ln(), 2.776 * (2.0_f64 / 3.0).sqrt(), 0.003);
        let one = ratio_of_runs(&a, &b[..1], 0.95).expect("an interval");
        assert_close(one.high.ln(), 4.303 * (4.0_f64 / 3.0).sqrt(), 0.003);
        assert_eq!(ratio_of_runs(&a[..1], &b[..1], 0.95), None, "no spread to go by");
        assert_eq!(ratio_of_runs(&[], &b, 0.95), None);
        assert_eq!(ratio_of_runs(&[0.0, f64::NAN], &b, 0.95), None);
    }

    /// The bootstrap's interval contains the ratio, is the same every time, and is narrow if the steps agree.
    #[test]
    fn interval_of_steps() {
        let base: Vec<f64> = (0..400).map(|step| 1.0 + 0.01 * f64::from(step * 7 % 13)).collect();
        let new: Vec<f64> = base.iter().map(|time| 1.2 * time).collect();
        let ratio = ratio_of_steps(&base, &new, 0.95).expect("an interval");
        assert_close(ratio.ratio, 1.2, 1e-9);
        assert!(1.15 < ratio.low && ratio.low <= 1.2 && 1.2 <= ratio.high && ratio.high < 1.25, "{ratio:?}");
        assert_eq!(ratio_of_steps(&base, &new, 0.95), Some(ratio));
        assert_eq!(ratio_of_steps(&[2.0], &[3.0], 0.95), Some(Ratio { ratio: 1.5, low: 1.5, high: 1.5 }));
        assert_eq!(ratio_of_steps(&[], &new, 0.95), None);
    }

    /// Both measures must agree. A wild outlier in the history hides no regression. A short history gives no verdict.
    #[test]
    fn judgement() {
        let history = [1.00, 1.02, 0.99, 1.01, 1.03, 0.98, 1.00, 9.0];
        let beyond = |new: &[f64]| judge(&history, new).expect("a verdict").beyond;
        assert!(beyond(&[1.2]) && beyond(&[1.2, 1.22, 1.19]));
        assert!(!beyond(&[1.04]) && !beyond(&[0.8]));
        assert!(!beyond(&[1.0, 5.0, 1.0]), "one bad run of three");
        let verdict = judge(&history, &[1.2]).expect("a verdict");
        assert!(verdict.is_suspect() && !verdict.is_regression());
        let verdict = judge(&history, &[1.2, 1.22, 1.19, 1.2, 1.21]).expect("a verdict");
        assert!(verdict.is_regression() && !verdict.is_suspect());
        assert_eq!(judge(&history[..4], &[2.0]), None);
        assert_eq!(judge(&history, &[]), None);
    }

    /// Returns the times of recorded repeats of a scene, which do the same work each time.
    fn recorded(machine: &str, scene: &str) -> Vec<f64> {
        let rows = include_str!("../../tests/data/repeats.csv").lines();
        let cells = rows.map(|row| row.split(',').collect::<Vec<&str>>());
        let wanted = cells.filter(|cells| cells[..2.min(cells.len())] == [machine, scene]);
        wanted.map(|cells| cells[2].parse().expect("a time")).collect()
    }

    /// Takes every five successive repeats as a commit that is `slower` times as slow, with the other repeats, or those
    /// before it, as its history. Returns how many commits are marked, and how many there are.
    fn marked(times: &[f64], slower: f64, rest: bool) -> (usize, usize) {
        let commits = if rest { 0 } else { MIN_HISTORY }..times.len() + 1 - MIN_RUNS;
        let is_marked = |&first: &usize| {
            let new: Vec<f64> = times[first..first + MIN_RUNS].iter().map(|time| slower * time).collect();
            let after = if rest { &times[first + MIN_RUNS..] } else { &[] };
            judge(&[&times[..first], after].concat(), &new).expect("a verdict").is_regression()
        };
        (commits.clone().filter(is_marked).count(), commits.len())
    }

    /// In recorded repeats, noise is never marked, neither on a machine that does nothing else nor on one that
    /// compiles. On one thread a slowdown of a fifth is always marked on either machine, and so is one of a tenth.
    #[test]
    fn recorded_repeats() {
        for machine in ["quiet", "busy"] {
            for scene in ["packed", "pile"] {
                let times = recorded(machine, scene);
                assert_eq!(times.len(), 24);
                assert_eq!(marked(&times, 1.0, true), (0, 20), "{machine}, {scene}");
                assert_eq!(marked(&times, 1.0, false), (0, 15), "{machine}, {scene}");
            }
            for slower in [1.1, 1.2] {
                let times = recorded(machine, "packed");
                assert_eq!(marked(&times, slower, true), (20, 20), "{machine}, {slower}");
                assert_eq!(marked(&times, slower, false), (15, 15), "{machine}, {slower}");
            }
        }
        // With two threads on two busy cores only a part is found.
        assert_eq!(marked(&recorded("quiet", "pile"), 1.2, true), (16, 20));
        assert_eq!(marked(&recorded("busy", "pile"), 1.2, true), (0, 20));
    }

    /// Runs with sleep, and those without continuous collision, are in series of their own. Records without the field are
    /// in one series with those that have continuous collision on.
    #[test]
    fn series_by_sleep_and_continuous() {
        let filed = |sleep: bool, continuous: Option<bool>| {
            let record = RunRecord { sleep, continuous, ..RunRecord::sample("packed", 100) };
            Filed { path: "x.json".into(), line: None, record }
        };
        let records = [(false, Some(true)), (false, None), (true, None), (false, Some(false))];
        let all = series(&records.map(|(sleep, continuous)| filed(sleep, continuous)));
        let mut runs: Vec<usize> =
            all.values().map(|points| points.iter().map(|point| point.records.len()).sum()).collect();
        runs.sort_unstable();
        assert_eq!(runs, [1, 1, 2]);
    }

    /// A series is one configuration on one machine over the commits, in their order of time. A planted slowdown of one
    /// commit is the only one that is marked; with single runs it is a suspect.
    #[test]
    fn series_over_commits() {
        let mut records: Vec<Filed> = Vec::new();
        for (index, ms) in recorded("quiet", "packed").into_iter().enumerate() {
            let mut record = RunRecord::sample("packed", 10_000);
            let commit = index / 5;
            record.commit = ["z", "y", "x", "slow", "last"][commit].to_owned();
            record.unix_time = 1000 + index as u64;
            record.step_ms.p50 = f64::NAN;
            record.samples_ms.step = vec![if commit == 3 { 1.2 * ms } else { ms }, 9.0, 9.0];
            records.push(Filed { path: "x.json".into(), line: None, record });
        }
        assert_eq!(commits(&records), ["z", "y", "x", "slow", "last"]);
        let mut other = records[0].clone();
        other.record.machine.cpu.push_str(" II");
        records.push(other);
        let all = series(&records);
        assert_eq!(all.len(), 2);
        let points = all.values().find(|points| points.len() == 5).expect("all commits");
        let regressed = points.iter().filter(|p| p.verdict.is_some_and(|v| v.is_regression()));
        assert_eq!(regressed.map(|p| &*p.commit).collect::<Vec<_>>(), ["slow"]);
        assert_eq!(points[0].verdict, None);
        assert_eq!(points.iter().map(|point| point.records.len()).sum::<usize>(), 24);

        // A commit may not lose what the one before gained, even if it is no slower than the first.
        for (index, Filed { record, .. }) in records[..24].iter_mut().enumerate() {
            if (10..20).contains(&index) {
                record.samples_ms.step[0] *= 0.7;
            }
        }
        let points = &series(&records)[&Config::of(&records[0].record)];
        let regressed = |point: &Point| point.verdict.is_some_and(|verdict| verdict.is_regression());
        assert_eq!(points.iter().map(regressed).collect::<Vec<_>>(), [false, false, false, true, false]);
        assert!(points[2].verdict.is_some_and(|verdict| verdict.improved), "{:?}", points[2]);

        records.truncate(16);
        let all = series(&records);
        let verdict = all.values().next().and_then(|points| points[3].verdict).expect("a verdict");
        assert!(verdict.is_suspect(), "{verdict:?}");

        // One run without times of steps makes medians of all.
        for Filed { record, .. } in &mut records {
            record.step_ms.p50 = 3.0;
        }
        records[4].record.samples_ms = super::super::Samples::default();
        assert!(series(&records).values().flatten().all(|point| point.ms == 3.0));
    }
}
