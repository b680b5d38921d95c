//! A table for a pull request.

use super::Entry;
use std::fmt::Write as _;

pub(super) fn table(entries: &[Entry]) -> String {
    let mut text = String::from(
        "| scene | bodies | threads | lanes | substeps | runs | p50 ms | p95 ms | p99 ms | ns per body | contacts \
         | max penetration m | memory MiB | state |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
    );
    for entry in entries {
        let (c, last, p50) = (&entry.configuration, entry.last, entry.step_ms.value);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {p50:.3} | {:.3} | {:.3} | {:.1} | {} | {:.5} | {:.1} | `{}` |",
            escaped(&c.scene),
            c.moving(),
            c.threads,
            c.lanes,
            c.substeps,
            entry.records.len(),
            last.step_ms.p95,
            last.step_ms.p99,
            1e6 * p50 / c.moving().max(1) as f64,
            last.contacts,
            last.quality.max_penetration,
            entry.peak_rss_bytes() as f64 / 1_048_576.0,
            last.state_hash,
        );
    }
    for line in machines(entries) {
        let _ = write!(text, "\n{line}\n");
    }
    text
}

/// The machines and builds that the rows were measured with, each of them once.
fn machines(entries: &[Entry]) -> Vec<String> {
    let line = |entry: &Entry| {
        let last = entry.last;
        let commit: String = last.commit.chars().take(12).collect();
        let dirty = if last.commit.ends_with("-dirty") { "-dirty" } else { "" };
        format!(
            "{}, {} cores, {}, {}; granule {} ({commit}{dirty}), {}",
            escaped(&last.machine.cpu),
            last.machine.cores,
            escaped(&last.machine.os),
            escaped(&last.isa),
            escaped(&last.version),
            escaped(&last.rustc)
        )
    };
    let mut lines: Vec<String> = entries.iter().map(line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Escapes text for a table's cell, so that nothing in it is markup.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' => escaped.extend(['\\', c]),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
