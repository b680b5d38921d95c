//! `granule export`: writes records in the formats of other programs.

use super::output::{check_new, name_skipped, write_file};
use super::{Outcome, bad_file, bad_input, emit};
use clap::{Args, ValueEnum};
use granule_command::report::{Filed, JSON_SCHEMA, RunRecord, Store, export};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

#[derive(Args)]
pub struct ExportArgs {
    /// The format that is written
    #[arg(value_name = "FORMAT", value_enum)]
    format: Format,
    /// Records, files of JSON lines, directories of these
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// github-action-benchmark, customSmallerIsBetter: ms per step, memory
    GithubSmaller,
    /// github-action-benchmark, customBiggerIsBetter: bodies stepped per second
    GithubBigger,
    /// Bencher Metric Format: latency in ns, throughput, memory
    Bencher,
    /// A table, one row a record
    Csv,
    /// Chrome trace events of each step and its stages, for Perfetto and speedscope
    Trace,
    /// A table for a pull request
    Markdown,
    /// The JSON schema of a record; takes no input
    Schema,
}

impl Format {
    fn of_records(self) -> Option<export::Format> {
        match self {
            Format::GithubSmaller => Some(export::Format::GithubSmaller),
            Format::GithubBigger => Some(export::Format::GithubBigger),
            Format::Bencher => Some(export::Format::Bencher),
            Format::Csv => Some(export::Format::Csv),
            Format::Trace => Some(export::Format::Trace),
            Format::Markdown => Some(export::Format::Markdown),
            Format::Schema => None,
        }
    }
}

pub fn main(args: &ExportArgs) -> Outcome {
    if let Some(path) = &args.out {
        check_new("--out", path, args.force)?;
    }
    let Some(format) = args.format.of_records() else { return schema(args) };
    let filed = read(args)?;
    let records: Vec<&RunRecord> = filed.iter().map(|filed| &filed.record).collect();
    if let Some(path) = &args.out {
        return write_file(path, |out| format.write(out, &records));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match format.write(&mut out, &records).and_then(|()| out.flush()) {
        // A reader that stops reading early, as `head` does, is no failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(bad_input(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn schema(args: &ExportArgs) -> Outcome {
    if let Some(path) = args.inputs.first() {
        return Err(bad_input(format!("{}: the schema takes no input", path.display())));
    }
    match &args.out {
        Some(path) => write_file(path, |out| out.write_all(JSON_SCHEMA.as_bytes())),
        None => emit(JSON_SCHEMA),
    }
}

fn read(args: &ExportArgs) -> Result<Vec<Filed>, super::Failure> {
    if args.inputs.is_empty() {
        return Err(bad_input("export: no input; a record, a file of JSON lines or a directory is needed"));
    }
    let mut records = Vec::new();
    for path in &args.inputs {
        let store = Store::read(path).map_err(|error| bad_file(path, &error))?;
        name_skipped(&store.skipped);
        records.extend(store.records);
    }
    if records.is_empty() {
        return Err(bad_input("export: there is no record in what was given"));
    }
    Ok(records)
}
