//! The command line: the arguments, what each subcommand does, and where its output goes.
//!
//! Results go to standard output; progress, notes and complaints go to standard error. Exit codes: 0 for success,
//! [`CHECK_FAILED`], [`BAD_INPUT`]. A complaint is one line that says what is wrong, and where.

mod alloc;
mod args;
mod compare;
mod export;
mod input;
mod list;
mod manual;
mod merge;
mod output;
mod profile;
mod progress;
mod record;
mod render;
mod report;
mod run;
mod sheet;
mod style;
mod summary;
mod sweep;
mod verify;

use args::{Cli, Command, RunArgs};
use clap::Parser;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// The exit code of a run that failed a check: a state that is not finite, or a mismatch.
pub const CHECK_FAILED: u8 = 1;
/// The exit code for bad usage and bad input.
pub const BAD_INPUT: u8 = 2;

/// The directory in which a run without arguments files its record.
const REPORT_DIR: &str = "perf-reports";

/// A failure of the command: its exit code, and the line that it prints.
struct Failure {
    code: u8,
    line: String,
}

type Outcome = Result<(), Failure>;

/// A complaint about usage or input.
fn bad_input(line: impl Into<String>) -> Failure {
    Failure { code: BAD_INPUT, line: line.into() }
}

/// A complaint about a file.
fn bad_file(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    bad_input(format!("{}: {error}", path.display()))
}

/// A check that did not hold.
fn check_failed(line: impl Into<String>) -> Failure {
    Failure { code: CHECK_FAILED, line: line.into() }
}

/// Parses the arguments, runs the subcommand, and reports how it ended.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return end(Err(bad_input(squeeze(&error)))),
        Err(help) => {
            // A reader that has gone away needs no help text.
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    end(match cli.command {
        None => run::main(&RunArgs::default(), Some(Path::new(REPORT_DIR))),
        Some(Command::List(args)) => list::main(&args),
        Some(Command::Run(args)) => run::main(&args, args.report.as_deref()),
        Some(Command::Verify(args)) => verify::main(&args),
        Some(Command::Record(args)) => record::record(&args),
        Some(Command::Replay(args)) => record::replay(&args),
        Some(Command::Report(args)) => report::main(&args),
        Some(Command::Sweep(args)) => sweep::main(&args),
        Some(Command::Merge(args)) => merge::main(&args),
        Some(Command::Compare(args)) => compare::main(&args),
        Some(Command::Export(args)) => export::main(&args),
        Some(Command::Render(args)) => render::main(&args),
        Some(Command::Completions(args)) => manual::completions(&args),
        Some(Command::Man(args)) => manual::man(&args),
    })
}

fn end(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, line }) => {
            note(&line);
            ExitCode::from(code)
        }
    }
}

/// Writes one line to standard error. Control characters in the text become spaces.
fn note(text: &str) {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // If this fails, nobody is left to tell.
    let _ = writeln!(io::stderr(), "granule: {line}");
}

/// Writes results to standard output. A reader that stops reading early, as `head` does, is no failure.
fn emit(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(bad_input(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one JSON object and a newline.
fn emit_json(object: &impl serde::Serialize) -> Outcome {
    let json = serde_json::to_string(object).map_err(|error| bad_input(error.to_string()))?;
    emit(&format!("{json}\n"))
}

/// Returns the parser's message without its advice, on one line.
fn squeeze(error: &clap::Error) -> String {
    const ADVICE: [&str; 3] = ["Usage:", "For more information", "tip:"];
    let text = error.to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines.filter(|line| !ADVICE.iter().any(|advice| line.starts_with(advice)));
    let line = telling.collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}
