//! `granule report`: writes the page for a directory of records.

use super::args::ReportArgs;
use super::{Outcome, bad_file, bad_input, emit, input, note};
use granule_command::report::{Page, Skipped};

pub fn main(args: &ReportArgs) -> Outcome {
    input::check_file("--out", args.out.as_deref())?;
    if !args.dir.is_dir() {
        return Err(bad_file(&args.dir, &"there is no directory of that name"));
    }
    for (option, path) in [("--criterion", &args.criterion), ("--peers", &args.peers)] {
        if let Some(path) = path.as_deref().filter(|path| !path.exists()) {
            return Err(bad_input(format!("{option} {}: no such file or directory", path.display())));
        }
    }
    let page = Page {
        dir: args.dir.clone(),
        out: args.out.clone(),
        criterion: args.criterion.clone(),
        peers: args.peers.clone(),
    };
    let written = page.write().map_err(|error| bad_input(error.to_string()))?;
    for Skipped { place, reason } in &written.skipped {
        note(&format!("skipped: {place}: {reason}"));
    }
    let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    emit(&format!(
        "{}: {}, {}, {} skipped\n",
        written.path.display(),
        count(written.records, "record"),
        count(written.regressions, "regression"),
        written.skipped.len()
    ))
}
