//! The `granule` command: runs stress scenes and scene files, and checks that every lane width and thread count gives
//! the same result.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // This comes before any code that could be compiled to an instruction that this processor does not have.
    if let Some(sentence) = cli::cpu::complaint() {
        eprintln!("granule: {sentence}");
        return ExitCode::from(cli::BAD_INPUT);
    }
    cli::main()
}
