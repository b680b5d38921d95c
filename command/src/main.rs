//! The `granule` command: runs stress scenes and scene files, and checks that every instruction set and thread count gives
//! the same result.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
