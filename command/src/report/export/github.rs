//! The custom formats of github-action-benchmark: an array of named values, for which smaller or bigger is better
//! (<https://github.com/benchmark-action/github-action-benchmark>).

use super::{Entry, Spread};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Benchmark {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// Returns the time of a step, and the memory.
pub(super) fn smaller_is_better(entries: &[Entry]) -> Vec<Benchmark> {
    let mut benchmarks = Vec::new();
    for entry in entries {
        benchmarks.push(benchmark(entry, "step", "ms", entry.step_ms));
        if entry.peak_rss_bytes() > 0 {
            let mib = entry.peak_rss_bytes() as f64 / 1_048_576.0;
            let name = format!("{} memory", entry.configuration);
            benchmarks.push(Benchmark { name, unit: "MiB", value: mib, range: None, extra: extra(entry) });
        }
    }
    benchmarks
}

/// Returns the bodies stepped per second.
pub(super) fn bigger_is_better(entries: &[Entry]) -> Vec<Benchmark> {
    let moving = entries.iter().filter(|entry| entry.configuration.moving() > 0);
    moving.map(|entry| benchmark(entry, "throughput", "bodies/s", entry.throughput())).collect()
}

fn benchmark(entry: &Entry, what: &str, unit: &'static str, spread: Spread) -> Benchmark {
    let Spread { value, low, high } = spread;
    // The action reads only one deviation for both sides: the larger one is given.
    let deviation = (value - low).max(high - value);
    Benchmark {
        name: format!("{} {what}", entry.configuration),
        unit,
        value,
        range: Some(format!("± {deviation:.6}")),
        extra: extra(entry),
    }
}

/// The text that the dashboard shows next to the value.
fn extra(entry: &Entry) -> String {
    let last = entry.last;
    format!(
        "runs: {}\ncommit: {}\nstate hash: {}\ncpu: {}\nisa: {}",
        entry.records.len(),
        last.commit,
        last.state_hash,
        last.machine.cpu,
        last.isa
    )
}
