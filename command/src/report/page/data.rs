//! The data that the charts are drawn from, as JSON in the page: each record's figures and a histogram of its steps,
//! not the steps themselves. Names that repeat are numbered.

use super::Content;
use super::tables::{label, short};
use crate::report::history::{self, Config};
use crate::report::{Filed, RunRecord, Samples};
use serde::Serialize;
use std::collections::HashMap;

/// Bins of the histogram per doubling of the time. A bin is 4.4 % wide.
const BINS: f64 = 16.0;

#[derive(Serialize)]
struct Data<'a> {
    bins: f64,
    machines: Vec<String>,
    scenes: Vec<String>,
    settings: Vec<String>,
    commits: Vec<String>,
    runs: Vec<Run>,
    series: Vec<Series>,
    peers: Vec<Peer<'a>>,
    quality: Vec<Peer<'a>>,
    criterion: Vec<Benchmark<'a>>,
}

/// The setup of a run, which decides which runs may be compared. Names are given as their numbers; `n` counts bodies
/// and particles.
#[derive(Serialize)]
struct Setup {
    scene: usize,
    machine: usize,
    settings: usize,
    n: usize,
    threads: usize,
    lanes: usize,
}

#[derive(Serialize)]
struct Run {
    #[serde(flatten)]
    setup: Setup,
    commit: usize,
    time: u64,
    steps: u32,
    p50: f64,
    p95: f64,
    p99: f64,
    max: f64,
    mean: f64,
    ns: f64,
    contacts: usize,
    penetration: f64,
    stages: Vec<f64>,
    /// The number of the first bin, and the counts from it on. Bin b has the times in 2^(b/16)..2^((b+1)/16) ms.
    first: i32,
    counts: Vec<u32>,
}

#[derive(Serialize)]
struct Series {
    #[serde(flatten)]
    setup: Setup,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct Point {
    commit: usize,
    runs: Vec<usize>,
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<[f64; 3]>,
    beyond: bool,
    regressed: bool,
}

#[derive(Serialize)]
struct Peer<'a> {
    case: &'a str,
    engine: &'a str,
    n: usize,
    threads: usize,
    settings: String,
    solver: &'a str,
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99: Option<f64>,
    penetration: Option<f64>,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    name: &'a str,
    estimate: &'a str,
    ns: f64,
    interval: Option<[f64; 2]>,
    throughput: Option<f64>,
}

/// Returns the data as JSON that may stand in a script element: without `<`, `>` and `&`, and without the two line ends
/// that JSON allows and scripts did not.
pub(super) fn json(content: &Content) -> String {
    // Maps with keys other than strings can't be written; there are none.
    let json = serde_json::to_string(&data(content)).unwrap_or_else(|_| "null".to_owned());
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => safe.push(c),
        }
    }
    safe
}

fn data(content: &Content) -> Data<'_> {
    let records = &content.store.records;
    let commits = history::commits(records);
    let place: HashMap<&str, usize> = commits.iter().enumerate().map(|(i, commit)| (&**commit, i)).collect();
    let mut names = Names::default();
    let runs =
        records.iter().map(|Filed { record, .. }| run(record, &mut names, place[&*record.commit])).collect();
    let series = content.series.iter().map(|(config, points)| {
        let points = points.iter().map(|point| Point {
            commit: place[&*point.commit],
            runs: point.records.clone(),
            ms: point.ms,
            ratio: point.verdict.map(|v| [v.ratio.ratio, v.ratio.low, v.ratio.high]),
            beyond: point.verdict.is_some_and(|verdict| verdict.beyond),
            regressed: point.verdict.is_some_and(|verdict| verdict.is_regression()),
        });
        Series { setup: names.setup(config), points: points.collect() }
    });
    let series = series.collect();
    Data {
        bins: BINS,
        machines: names.machines.list,
        scenes: names.scenes.list,
        settings: names.settings.list,
        commits: commits.iter().map(|commit| short(commit)).collect(),
        runs,
        series,
        peers: content.peers.runs.iter().map(peer).collect(),
        quality: content.quality.runs.iter().map(peer).collect(),
        criterion: content.benchmarks.iter().map(benchmark).collect(),
    }
}

/// Names with their numbers, in the order in which they were met.
#[derive(Default)]
struct Numbered {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Numbered {
    fn number(&mut self, name: String) -> usize {
        let list = &mut self.list;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            list.push(name.clone());
            list.len() - 1
        })
    }
}

#[derive(Default)]
struct Names {
    scenes: Numbered,
    machines: Numbered,
    settings: Numbered,
}

impl Names {
    fn setup(&mut self, config: &Config) -> Setup {
        Setup {
            scene: self.scenes.number(config.scene.clone()),
            machine: self.machines.number(label::machine(&config.machine)),
            settings: self.settings.number(label::settings(config)),
            n: config.bodies[0] + config.particles[0],
            threads: config.threads,
            lanes: config.lanes,
        }
    }
}

fn run(record: &RunRecord, names: &mut Names, commit: usize) -> Run {
    let (first, counts) = histogram(&record.samples_ms);
    let step = record.step_ms;
    Run {
        setup: names.setup(&Config::of(record)),
        commit,
        time: record.unix_time,
        steps: record.steps,
        p50: step.p50,
        p95: step.p95,
        p99: step.p99,
        max: step.max,
        mean: step.mean,
        ns: record.ns_per_body_step,
        contacts: record.contacts,
        penetration: record.quality.mean_penetration,
        stages: record.phases_ms.named().map(|(_, ms)| ms).to_vec(),
        first,
        counts,
    }
}

/// Counts in bins of equal ratio: times spread over decades, and noise is relative. Times that are not positive numbers
/// are left out.
fn histogram(samples: &Samples) -> (i32, Vec<u32>) {
    let timed = samples.step.iter().filter(|ms| ms.is_finite() && **ms > 0.0);
    let bins: Vec<i32> = timed.map(|ms| (BINS * ms.log2()).floor() as i32).collect();
    let (Some(&first), Some(&last)) = (bins.iter().min(), bins.iter().max()) else { return (0, Vec::new()) };
    let mut counts = vec![0; (last - first) as usize + 1];
    for bin in bins {
        counts[(bin - first) as usize] += 1;
    }
    (first, counts)
}

fn peer(run: &crate::report::peers::PeerRun) -> Peer<'_> {
    let ratio =
        run.contact_frequency_ratio.map(|ratio| format!(", frequency {ratio:.3}")).unwrap_or_default();
    let damping = run.damping_ratio.map(|ratio| format!(", damping {ratio}")).unwrap_or_default();
    Peer {
        case: &run.case,
        engine: &run.engine,
        n: run.bodies,
        threads: run.threads,
        settings: format!("{} × {}{ratio}{damping}", run.substeps, run.iterations),
        solver: &run.solver,
        ms: run.p50_ms,
        mean: run.mean_ms,
        p99: run.p99_ms,
        penetration: run.quality.mean_penetration,
    }
}

fn benchmark(found: &crate::report::criterion::Benchmark) -> Benchmark<'_> {
    Benchmark {
        name: &found.name,
        estimate: found.estimate,
        ns: found.ns,
        interval: found.interval,
        throughput: found.throughput,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every step is counted once, in the bin of its time.
    #[test]
    fn histogram_counts_every_step() {
        let step = vec![1.0, 1.01, 2.0, 4.1, 0.0, f64::NAN];
        let (first, counts) = histogram(&Samples { step, ..Samples::default() });
        assert_eq!((first, counts.len()), (0, 33));
        assert_eq!((counts[0], counts[16], counts[32]), (2, 1, 1));
        assert_eq!(counts.iter().sum::<u32>(), 4);
        assert_eq!(histogram(&Samples::default()), (0, Vec::new()));
    }
}
