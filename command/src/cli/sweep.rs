//! `granule sweep`: a grid of runs, with one record a line.
//!
//! Each cell of the grid runs in a process of its own, `granule run … --format json`. So a record's peak memory is that
//! of its run alone, and a run that dies takes no other with it. The line of a cell is written at once and in one
//! piece, so you can stop the sweep at any time. Cells run in a shuffled order, so that a drift of the machine (heat,
//! other people's work) is not mistaken for the effect of a setting.

mod file;
mod grid;

use super::args::{available, count, isa, width};
use super::style::Style;
use super::{Failure, Outcome, bad_input, check_failed, emit, input, note};
use clap::Args;
use file::Output;
use granule::scene::{BUILTIN, DEFAULT, MAX_BODIES};
use granule::{Isa, Settings, World};
use granule_command::report::RunRecord;
use grid::{Cell, Grid};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Lists are separated by commas; each combination of their values is a cell of the grid.
#[derive(Args)]
pub struct SweepArgs {
    /// Built-in scenes and scene files
    #[arg(long, value_name = "SCENE,…", value_delimiter = ',', default_value = DEFAULT)]
    scenes: Vec<String>,
    /// Moving bodies [default: the scene's]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = count(1, MAX_BODIES as u64))]
    bodies: Vec<u32>,
    /// Worker threads [default: one for each processor]
    #[arg(long, value_name = "T,…", value_delimiter = ',', value_parser = count(1, 1024))]
    threads: Vec<u32>,
    /// Lane widths: 1, 4, 8 or 16 [default: the widest]
    #[arg(long, value_name = "L,…", value_delimiter = ',', value_parser = width)]
    lanes: Vec<u32>,
    /// Instruction sets: scalar, sse2, neon, simd128, avx2 or avx512, of those that the processor has [default: the widest]
    #[arg(long, value_name = "ISA,…", value_delimiter = ',', value_parser = isa, conflicts_with = "lanes")]
    isa: Vec<Isa>,
    /// Substeps of a step [default: the scene's]
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = count(1, 1024))]
    substeps: Vec<u32>,
    /// How often each cell is run
    #[arg(long, value_name = "R", default_value = "1", value_parser = count(1, 10_000))]
    repeats: u32,
    /// Steps that are measured [default: the scene's]
    #[arg(long, value_name = "S", value_parser = count(0, 10_000_000))]
    steps: Option<u32>,
    /// Steps before those [default: the scene's]
    #[arg(long, value_name = "W", value_parser = count(0, 10_000_000))]
    warmup: Option<u32>,
    /// Seed of the built-in scenes and of the order in which the cells are run
    #[arg(long, value_name = "X", default_value = "1")]
    seed: u64,
    /// Where the records go, one a line
    #[arg(long, value_name = "FILE.jsonl", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// Go on with a file that exists: run the cells that it lacks
    #[arg(long)]
    resume: bool,
    /// Run only this cell, counted from 0 (see --list); with --of, this part of the sweep
    #[arg(long, value_name = "I")]
    index: Option<usize>,
    /// Number of parts
    #[arg(long, value_name = "N", requires = "index")]
    of: Option<usize>,
    /// Print the cells and their indices instead of running them, one JSON object a line
    #[arg(long)]
    list: bool,
}

#[derive(Serialize)]
struct Listed<'a> {
    index: usize,
    #[serde(flatten)]
    cell: &'a Cell,
}

pub fn main(args: &SweepArgs) -> Outcome {
    check_scenes(args)?;
    let cells = Grid::of(args).cells();
    let chosen = choose(args, cells.len())?;
    if args.list {
        return list(&cells, chosen);
    }
    check_lanes(&args.lanes)?;
    check_sets(&args.isa)?;
    // Each cell is a process: a wrong GRANULE_ISA would fail in all of them.
    World::new(Settings::default()).map_err(input::refused_set)?;
    let path = args.out.as_deref().unwrap_or(Path::new(""));
    input::check_file("--out", Some(path))?;
    let mut out = Output::open(path, args.resume)?;
    let left: Vec<usize> = chosen.iter().copied().filter(|&index| !out.has(&cells[index])).collect();
    let failed = run_cells(&cells, &left, &mut out)?;
    let (here, before) = (left.len() - failed, chosen.len() - left.len());
    let before = if args.resume { format!(", {before} were there") } else { String::new() };
    emit(&format!("{}: {here} records written{before}, {failed} failed\n", path.display()))?;
    if failed > 0 {
        return Err(check_failed(format!("sweep: {failed} of {} cells failed", left.len())));
    }
    Ok(())
}

/// Checks the names of all scenes, so that a mistyped name is found before the first run.
fn check_scenes(args: &SweepArgs) -> Outcome {
    for scene in &args.scenes {
        if BUILTIN.iter().any(|builtin| builtin.name == scene) {
            continue;
        }
        if !Path::new(scene).is_file() {
            let names: Vec<&str> = BUILTIN.iter().map(|builtin| builtin.name).collect();
            let names = names.join(", ");
            return Err(bad_input(format!("--scenes {scene}: neither a scene file nor one of {names}")));
        }
        if !args.bodies.is_empty() {
            return Err(bad_input(format!("--bodies: {scene} is a scene file and has its own")));
        }
    }
    Ok(())
}

/// Refuses two lane widths that are the same instruction set on this processor: their cells would be the same run.
fn check_lanes(lanes: &[u32]) -> Outcome {
    let isa = |lanes: u32| Isa::with_lanes(lanes as usize);
    for (place, &two) in lanes.iter().enumerate() {
        if let Some(one) = lanes[..place].iter().find(|&&one| one != two && isa(one) == isa(two)) {
            let same = isa(two).unwrap_or_default();
            return Err(bad_input(format!(
                "--lanes {one},{two}: on this processor both are {same}; it has {}",
                available()
            )));
        }
    }
    Ok(())
}

/// Refuses `auto` beside other instruction sets, of which it is one.
fn check_sets(isa: &[Isa]) -> Outcome {
    if isa.len() > 1 && isa.contains(&Isa::Auto) {
        let names = isa.iter().map(|isa| isa.name()).collect::<Vec<_>>().join(",");
        return Err(bad_input(format!("--isa {names}: auto is one of {}", available())));
    }
    Ok(())
}

/// Returns the cells that this process runs, in the order in which it runs them.
fn choose(args: &SweepArgs, cells: usize) -> Result<Vec<usize>, Failure> {
    match (args.index, args.of) {
        (None, _) => Ok(grid::shuffled(cells, args.seed)),
        (Some(index), None) if index < cells => Ok(vec![index]),
        (Some(index), None) => Err(bad_input(format!("--index {index}: the grid has {cells} cells, from 0"))),
        (Some(index), Some(parts)) if index < parts => {
            Ok(grid::shuffled(cells, args.seed).into_iter().skip(index).step_by(parts).collect())
        }
        (Some(index), Some(parts)) => Err(bad_input(format!("--index {index}: not below --of {parts}"))),
    }
}

fn list(cells: &[Cell], mut chosen: Vec<usize>) -> Outcome {
    chosen.sort_unstable();
    let mut text = String::new();
    for index in chosen {
        let json = serde_json::to_string(&Listed { index, cell: &cells[index] });
        let _ = writeln!(text, "{}", json.map_err(|error| bad_input(error.to_string()))?);
    }
    emit(&text)
}

/// Runs these cells one after the other. Returns how many failed.
fn run_cells(cells: &[Cell], order: &[usize], out: &mut Output) -> Result<usize, Failure> {
    let work: Vec<f64> = order.iter().map(|&index| cells[index].work()).collect();
    let progress = Progress::new(order.len() as u64);
    let mut failed = 0;
    for (place, &index) in order.iter().enumerate() {
        let cell = &cells[index];
        progress.start(cell, work[..place].iter().sum(), work[place..].iter().sum());
        match run(cell) {
            Ok(record) => out.add(&record, cell)?,
            Err(reason) => {
                failed += 1;
                progress.bar.suspend(|| note(&format!("cell {index} ({cell}): {reason}")));
            }
        }
        progress.bar.inc(1);
    }
    Ok(failed)
}

/// Returns the record of a cell as the text that its process printed, or the reason why there is none.
fn run(cell: &Cell) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).args(cell.arguments()).stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        let reason = last.strip_prefix("granule: ").unwrap_or(last);
        return Err(if reason.is_empty() { output.status.to_string() } else { reason.to_owned() });
    }
    let text = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    let parsed = serde_json::from_str::<RunRecord>(&text);
    parsed.map(|_| text).map_err(|error| format!("no record: {error}"))
}

/// The bar and an estimate of the time left, on standard error, if that is a terminal.
struct Progress {
    bar: ProgressBar,
    begin: Instant,
}

impl Progress {
    fn new(cells: u64) -> Progress {
        let stderr = io::stderr();
        let target =
            if stderr.is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(cells), target);
        let colours = if Style::of(&stderr).is_on() { ".cyan/dim" } else { "" };
        let template = format!("{{bar:30{colours}}} {{pos}}/{{len}} cells, {{elapsed}}, {{msg}}");
        // Only the colours vary in the template. If it were refused, the bar would look plain.
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_secs(1));
        Progress { bar, begin: Instant::now() }
    }

    /// Shows a cell that starts. Cells differ a thousandfold, so the estimate of the time left is by work done, not by
    /// the number of cells.
    fn start(&self, cell: &Cell, done: f64, left: f64) {
        let left = if done > 0.0 {
            let seconds = self.begin.elapsed().as_secs_f64() * left / done;
            format!("about {} left", indicatif::HumanDuration(Duration::from_secs(seconds as u64)))
        } else {
            "time left unknown".to_owned()
        };
        self.bar.set_message(format!("{left}: {cell}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
