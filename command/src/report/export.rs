//! Writes records in the formats of other programs: dashboards, tables, trace viewers.
//!
//! If a format has one value per benchmark, the repeats of a configuration become one entry. Records without a measured
//! step have no time, and are only in the CSV table.

mod bencher;
mod csv;
mod github;
mod markdown;
pub mod trace;

pub use markdown::escaped as escaped_markdown;

use super::RunRecord;
use super::configuration::{Configuration, grouped};
use super::history::{Quartiles, median};
use std::io::{self, Write};

/// A format that records can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// github-action-benchmark, `customSmallerIsBetter`: ms per step, and memory.
    GithubSmaller,
    /// github-action-benchmark, `customBiggerIsBetter`: bodies stepped per second.
    GithubBigger,
    /// Bencher Metric Format: latency in ns, throughput in bodies stepped per second, memory in bytes.
    Bencher,
    /// A table, one row per record.
    Csv,
    /// Chrome trace events: the stages of every step.
    Trace,
    /// A table for a pull request.
    Markdown,
}

impl Format {
    /// Writes the records, with a newline at the end.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write(self, out: &mut impl Write, records: &[&RunRecord]) -> io::Result<()> {
        match self {
            Format::GithubSmaller => write_json(out, &github::smaller_is_better(&measured(records))),
            Format::GithubBigger => write_json(out, &github::bigger_is_better(&measured(records))),
            Format::Bencher => write_json(out, &bencher::metrics(&measured(records))),
            Format::Csv => csv::write(out, records),
            Format::Trace => trace::write_records(out, records),
            Format::Markdown => out.write_all(markdown::table(&measured(records)).as_bytes()),
        }
    }
}

fn write_json(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// A configuration, and what its repeats give together.
struct Entry<'a> {
    configuration: Configuration,
    /// Median step time, ms.
    step_ms: Spread,
    /// The latest of the repeats.
    last: &'a RunRecord,
    records: Vec<&'a RunRecord>,
}

impl Entry<'_> {
    /// Bodies and particles stepped per second.
    fn throughput(&self) -> Spread {
        let per_second = |ms: f64| 1e3 * self.configuration.moving() as f64 / ms;
        let Spread { value, low, high } = self.step_ms;
        Spread { value: per_second(value), low: per_second(high), high: per_second(low) }
    }

    /// The largest of the repeats' peaks, in bytes; 0 if the system did not give it.
    fn peak_rss_bytes(&self) -> u64 {
        self.records.iter().map(|record| record.peak_rss_bytes).max().unwrap_or(0)
    }
}

/// A value, and the range in which most of its samples lie.
#[derive(Clone, Copy)]
struct Spread {
    value: f64,
    low: f64,
    high: f64,
}

impl Spread {
    /// Several runs give the median of their medians, between the smallest and the largest median. One run gives the
    /// median of its steps, between their quartiles.
    fn of(records: &[&RunRecord]) -> Spread {
        let medians: Vec<f64> = records.iter().map(|record| record.step_ms.p50).collect();
        let value = median(&medians).unwrap_or(0.0);
        let steps = match records {
            [record] => Quartiles::of(&record.samples_ms.step),
            _ => None,
        };
        let (low, high) = match steps {
            Some(quartiles) => (quartiles.q1, quartiles.q3),
            None => medians.iter().fold((value, value), |(low, high), &ms| (low.min(ms), high.max(ms))),
        };
        // The record's median is not rounded, but its samples are.
        Spread { value, low: low.min(value), high: high.max(value) }
    }
}

/// Returns one entry for each configuration that has a time.
fn measured<'a>(records: &[&'a RunRecord]) -> Vec<Entry<'a>> {
    let timed = records.iter().copied().filter(|record| record.step_ms.p50 > 0.0);
    let entry = |(configuration, records): (Configuration, Vec<&'a RunRecord>)| {
        let last = records.iter().copied().max_by_key(|record| record.unix_time)?;
        Some(Entry { configuration, step_ms: Spread::of(&records), last, records })
    };
    grouped(timed).into_iter().filter_map(entry).collect()
}
