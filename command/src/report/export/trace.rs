//! Chrome trace events (the "Trace Event Format" of Perfetto, speedscope and chrome://tracing): a complete event
//! (`"ph":"X"`) for each span, and metadata events that name processes and threads. Times are in microseconds.

use super::super::RunRecord;
use crate::report::Configuration;
use serde_json::json;
use std::io::{self, Write};

/// A piece of work that one worker did without a break.
///
/// Two spans of a worker are apart, or one is inside the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The name of the work.
    pub name: &'static str,
    /// The number of the worker, from 0.
    pub worker: usize,
    /// The start, counted from any moment that is the same for all spans, µs.
    pub start_us: f64,
    /// The length, µs.
    pub duration_us: f64,
}

/// Writes the spans of a scene's workers.
///
/// # Errors
///
/// The errors of `out`.
pub fn write(out: &mut impl Write, scene: &str, spans: &[Span]) -> io::Result<()> {
    let mut trace = Trace::begin(out)?;
    trace.process(1, scene, "worker", spans)?;
    trace.end()
}

/// Writes the steps of records with their stages, each record as a process of its own.
pub(super) fn write_records(out: &mut impl Write, records: &[&RunRecord]) -> io::Result<()> {
    let mut trace = Trace::begin(out)?;
    for (index, record) in records.iter().enumerate() {
        let name = Configuration::of(record).to_string();
        trace.process(index + 1, &name, "step", &steps(record))?;
    }
    trace.end()
}

/// Returns the steps one after the other, and in each its stages. The lengths are measured. The pieces of a stage are
/// joined into one, and the stages are put one after the other in their order.
fn steps(record: &RunRecord) -> Vec<Span> {
    let samples = &record.samples_ms;
    let mut spans = Vec::new();
    let mut start_us = 0.0;
    for (step, step_ms) in samples.step.iter().enumerate() {
        let end_us = start_us + 1e3 * step_ms;
        spans.push(Span { name: "step", worker: 0, start_us, duration_us: end_us - start_us });
        let mut from = start_us;
        for (name, stage_ms) in samples.named() {
            // Each stage is rounded: together they may be longer than the step.
            let to = (from + 1e3 * stage_ms.get(step).unwrap_or(&0.0)).min(end_us);
            spans.push(Span { name, worker: 0, start_us: from, duration_us: to - from });
            from = to;
        }
        start_us = end_us;
    }
    spans
}

struct Trace<'a, W> {
    out: &'a mut W,
    separator: &'static str,
}

impl<'a, W: Write> Trace<'a, W> {
    fn begin(out: &'a mut W) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        Ok(Trace { out, separator: "\n" })
    }

    fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n]}\n")
    }

    fn process(&mut self, pid: usize, name: &str, thread: &str, spans: &[Span]) -> io::Result<()> {
        self.name("process_name", pid, 0, name)?;
        let workers = spans.iter().map(|span| span.worker + 1).max().unwrap_or(0);
        for worker in 0..workers {
            let name = if workers == 1 { thread.to_owned() } else { format!("{thread} {worker}") };
            self.name("thread_name", pid, worker + 1, &name)?;
        }
        // A span that holds others comes before them, because some readers take events as they come.
        let mut sorted: Vec<&Span> = spans.iter().collect();
        sorted.sort_by(|a, b| {
            let by_start = a.start_us.total_cmp(&b.start_us);
            by_start.then(b.duration_us.total_cmp(&a.duration_us)).then(a.worker.cmp(&b.worker))
        });
        for span in sorted {
            let (start, end) = (tick(span.start_us), tick(span.start_us + span.duration_us));
            let (ts, dur) = (start, end - start);
            // This is also false if `dur` is not a number.
            if dur > 0.0 && dur.is_finite() {
                let (name, tid) = (span.name, span.worker + 1);
                let event = json!({"name": name, "cat": "granule", "ph": "X", "ts": ts, "dur": dur, "pid": pid, "tid": tid});
                self.event(&event)?;
            }
        }
        Ok(())
    }

    /// Writes a metadata event. Speedscope accepts no event without a time.
    fn name(&mut self, what: &str, pid: usize, tid: usize, name: &str) -> io::Result<()> {
        let event = json!({"name": what, "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": {"name": name}});
        self.event(&event)
    }

    fn event(&mut self, event: &serde_json::Value) -> io::Result<()> {
        write!(self.out, "{}{event}", self.separator)?;
        self.separator = ",\n";
        Ok(())
    }
}

/// Rounds to a 64th of a microsecond. Such numbers add up without rounding. So a span still ends where the next one
/// starts when a reader adds `ts` and `dur`.
fn tick(us: f64) -> f64 {
    (64.0 * us).round() / 64.0
}
