//! `granule completions` and `granule man`: completion scripts and manual pages, made from the definition of the
//! arguments.

use super::args::Cli;
use super::render::create;
use super::{Outcome, bad_file, bad_input, emit, input};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell that the script is for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// Write granule.1, granule-run.1 and so on here [default: granule.1 to standard output]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
}

/// Prints a shell's completion script.
pub fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "granule", &mut script);
    emit(&String::from_utf8_lossy(&script))
}

/// Writes the pages of the manual.
pub fn man(args: &ManArgs) -> Outcome {
    let mut command = Cli::command().disable_help_subcommand(true);
    // This gives the subcommands their full names, such as granule-run.
    command.build();
    let Some(dir) = &args.dir else { return emit(&String::from_utf8_lossy(&page(&Man::new(command))?)) };
    input::check_dir("man", Some(dir))?;
    let shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned();
    let manuals: Vec<Man> = shown.map(Man::new).chain([Man::new(command.clone())]).collect();
    let mut pages = Vec::new();
    for manual in &manuals {
        pages.push((dir.join(manual.get_filename()), page(manual)?));
    }
    if let Some((path, _)) = pages.iter().find(|(path, _)| !args.force && path.exists()) {
        return Err(bad_file(path, &"is there already; --force overwrites it"));
    }
    fs::create_dir_all(dir).map_err(|error| bad_file(dir, &error))?;
    for (path, text) in &pages {
        let written = create(path, args.force).and_then(|mut file| file.write_all(text));
        written.map_err(|error| bad_file(path, &error))?;
    }
    emit(&format!("{} pages in {}\n", pages.len(), dir.display()))
}

fn page(manual: &Man) -> Result<Vec<u8>, super::Failure> {
    let mut text = Vec::new();
    manual.render(&mut text).map_err(|error| bad_input(error.to_string()))?;
    Ok(text)
}
