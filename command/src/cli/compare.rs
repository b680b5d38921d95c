//! `granule compare`: says what became slower from one set of records to another.

use super::output::name_skipped;
use super::style::Style;
use super::{Failure, Outcome, bad_file, bad_input, check_failed, emit, emit_json, note};
use clap::{Args, ValueEnum};
use granule_command::report::compare::{CONFIDENCE, Comparison, Measure, Row, Rules, Side, Verdict};
use granule_command::report::export::escaped_markdown;
use granule_command::report::{RunRecord, Skipped, Store};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct CompareArgs {
    /// The base: a record, a file of JSON lines, or a directory of these
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// The records that are compared with the base, in any of these forms
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Relative difference that does not matter, as 5% or 0.05
    #[arg(long, value_name = "T", value_parser = threshold, default_value = "5%")]
    threshold: f64,
    /// Judge single runs, too, as if runs did not differ from each other
    #[arg(long)]
    single_runs: bool,
    /// Compare records of different machines, too
    #[arg(long)]
    any_machine: bool,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table
    #[default]
    Human,
    /// One JSON object
    Json,
    /// A table for a pull request
    Markdown,
}

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    threshold: f64,
    confidence: f64,
    #[serde(flatten)]
    comparison: &'a Comparison,
    skipped: Vec<Place<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    place: &'a str,
    reason: &'a str,
}

impl<'a> From<&'a Skipped> for Place<'a> {
    fn from(skipped: &'a Skipped) -> Self {
        Place { place: &skipped.place, reason: &skipped.reason }
    }
}

pub fn main(args: &CompareArgs) -> Outcome {
    let (mut base, mut new) = (read(&args.base)?, read(&args.new)?);
    if !args.any_machine {
        // The newest of the new records decides which machine is compared.
        let machine = new.records.last().map(|filed| filed.record.machine.clone()).unwrap_or_default();
        base.keep_machine(&machine);
        new.keep_machine(&machine);
    }
    let skipped = [&base.skipped[..], &new.skipped].concat();
    name_skipped(&skipped);
    let comparison = Comparison::new(
        records(&base),
        records(&new),
        Rules { threshold: args.threshold, single_runs: args.single_runs },
    );
    for (side, missing) in [("NEW", &comparison.only_in_base), ("BASE", &comparison.only_in_new)] {
        for configuration in missing {
            note(&format!("not in {side}: {configuration}"));
        }
    }
    if comparison.rows.is_empty() {
        return Err(bad_input("compare: no configuration is in both"));
    }
    match args.format {
        Format::Human => emit(&table(&comparison, args.threshold, Style::of(&io::stdout())))?,
        Format::Markdown => emit(&markdown(&comparison, args.threshold))?,
        Format::Json => emit_json(&Report {
            schema: "granule.compare/1",
            threshold: args.threshold,
            confidence: CONFIDENCE,
            comparison: &comparison,
            skipped: skipped.iter().map(Place::from).collect(),
        })?,
    }
    let (slower, all) = (comparison.count(Verdict::Slower), comparison.rows.len());
    if slower > 0 {
        let percent = percent(args.threshold);
        return Err(check_failed(format!("compare: {slower} of {all} slower by more than {percent}")));
    }
    Ok(())
}

fn read(path: &Path) -> Result<Store, Failure> {
    let store = Store::read(path).map_err(|error| bad_file(path, &error))?;
    if store.records.is_empty() {
        name_skipped(&store.skipped);
        return Err(bad_file(path, &"there is no record"));
    }
    Ok(store)
}

fn records(store: &Store) -> impl Iterator<Item = &RunRecord> {
    store.records.iter().map(|filed| &filed.record)
}

fn table(comparison: &Comparison, threshold: f64, style: Style) -> String {
    let names: Vec<String> = comparison.rows.iter().map(|row| row.configuration.to_string()).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let header = format!(
        "{:width$} {:>10} {:>10} {:>7}  {:15} {:>17} {:>17} {:>5}  {:13}  {}",
        "configuration",
        "base, ms",
        "new, ms",
        "ratio",
        "95 % interval",
        "means, ms",
        "p99, ms",
        "runs",
        "verdict",
        "final state"
    );
    let mut text = format!("{}\n", style.dim(&header));
    for (row, name) in comparison.rows.iter().zip(&names) {
        let verdict = format!("{:13}", row.verdict.name());
        let changed = matches!(row.verdict, Verdict::Slower | Verdict::Faster);
        let verdict = if changed { style.bold(&verdict) } else { verdict };
        let _ = writeln!(
            text,
            "{name:width$} {:>10.4} {:>10.4} {:>7}  {:15} {:>17} {:>17} {:>5}  {verdict}  {}",
            row.base.ms,
            row.new.ms,
            ratio(row),
            interval(row),
            both(row, |side| side.mean_ms),
            both(row, |side| side.p99_ms),
            format!("{}:{}", row.base.runs, row.new.runs),
            state(row)
        );
    }
    let _ = writeln!(text, "\n{}", sentence(comparison, threshold));
    text
}

fn markdown(comparison: &Comparison, threshold: f64) -> String {
    let mut text = String::from(
        "| configuration | base ms | new ms | ratio | 95 % interval | means ms | p99 ms | runs | verdict | final state |\n\
         |---|--:|--:|--:|---|--:|--:|---|---|---|\n",
    );
    for row in &comparison.rows {
        let changed = matches!(row.verdict, Verdict::Slower | Verdict::Faster);
        let bold = if changed { "**" } else { "" };
        let _ = writeln!(
            text,
            "| {} | {:.4} | {:.4} | {} | {} | {} | {} | {}:{} | {bold}{}{bold} | {} |",
            escaped_markdown(&row.configuration.to_string()),
            row.base.ms,
            row.new.ms,
            ratio(row),
            interval(row),
            both(row, |side| side.mean_ms),
            both(row, |side| side.p99_ms),
            row.base.runs,
            row.new.runs,
            row.verdict.name(),
            state(row)
        );
    }
    let _ = writeln!(text, "\n{}", sentence(comparison, threshold));
    for (side, missing) in [("new", &comparison.only_in_base), ("base", &comparison.only_in_new)] {
        for configuration in missing {
            let name = escaped_markdown(&configuration.to_string());
            let _ = writeln!(text, "\nNot in the {side} records: {name}");
        }
    }
    text
}

fn ratio(row: &Row) -> String {
    row.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"))
}

fn interval(row: &Row) -> String {
    row.interval.map_or_else(|| "-".to_owned(), |found| format!("{:.3} to {:.3}", found.low, found.high))
}

/// Returns a figure of both sides, as `base → new`.
fn both(row: &Row, of: fn(&Side) -> Option<f64>) -> String {
    let [base, new] =
        [&row.base, &row.new].map(|side| of(side).map_or_else(|| "-".to_owned(), |ms| format!("{ms:.4}")));
    format!("{base} → {new}")
}

fn state(row: &Row) -> &'static str {
    if row.same_state { "same" } else { "differs" }
}

fn sentence(comparison: &Comparison, threshold: f64) -> String {
    let verdicts = [Verdict::Slower, Verdict::Faster, Verdict::NoDifference, Verdict::CannotTell];
    let counts = verdicts.map(|verdict| format!("{} {}", verdict.name(), comparison.count(verdict)));
    let mut sentence =
        format!("{}; differences up to {} do not count", counts.join(", "), percent(threshold));
    let of = |measure: Measure| comparison.rows.iter().any(|row| row.measure == measure);
    sentence.push_str(match (of(Measure::FastestTenth), of(Measure::Median)) {
        (true, false) => "; times are of the fastest tenth of steps",
        (false, _) => "; times are medians of steps",
        (true, true) => "; times are of the fastest tenth of steps, of single runs and older records medians",
    });
    if comparison.rows.iter().any(|row| row.base.runs + row.new.runs == 2) {
        sentence.push_str("; single runs can't tell: repeat them, three times or more");
    }
    sentence
}

fn percent(threshold: f64) -> String {
    // Rounded, so that 0.07 does not become 7.000000000000001.
    format!("{} %", (1e8 * threshold).round() / 1e6)
}

fn threshold(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        // A plain 5 could mean 5 %, or five times as long: it is refused.
        None => text.parse::<f64>().map(|part| if part < 1.0 { part } else { f64::NAN }),
    };
    let valid = value.ok().filter(|value| (0.0..=10.0).contains(value));
    valid.ok_or_else(|| "a percentage up to 1000%, or a fraction below 1: 5% or 0.05".to_owned())
}
