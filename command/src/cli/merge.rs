//! `granule merge`: merges parts of a sweep, or any records, into one file of JSON lines.

use super::output::{check_new, name_skipped, write_file};
use super::{Outcome, bad_file, bad_input, emit};
use clap::Args;
use granule_command::report::Merged;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct MergeArgs {
    /// The file of JSON lines to write
    #[arg(value_name = "OUT.jsonl")]
    out: PathBuf,
    /// Records, files of JSON lines, directories of these
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
}

pub fn main(args: &MergeArgs) -> Outcome {
    check_new("OUT", &args.out, args.force)?;
    let mut merged = Merged::default();
    for path in &args.inputs {
        merged.add(path).map_err(|error| bad_file(path, &error))?;
    }
    name_skipped(&merged.skipped);
    let skipped = merged.skipped.len();
    let (lines, duplicates) = merged.lines();
    if lines.is_empty() {
        return Err(bad_input("merge: there is no record in what was given"));
    }
    write_file(&args.out, |out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    let (out, records) = (args.out.display(), lines.len());
    emit(&format!("{out}: records {records}, duplicates dropped {duplicates}, skipped {skipped}\n"))
}
