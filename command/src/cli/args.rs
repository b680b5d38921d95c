//! The arguments, as clap parses them. The doc comments of arguments and subcommands are their help texts.

use super::compare::CompareArgs;
use super::export::ExportArgs;
use super::manual::{CompletionsArgs, ManArgs};
use super::merge::MergeArgs;
use super::render::RenderArgs;
use super::sweep::SweepArgs;
use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use granule::scene::MAX_BODIES;
use granule::verify::Fault;
use granule::{BodyHandle, Isa, Solver, Stage, UnknownIsa};
use std::path::PathBuf;

/// A data-oriented SIMD 2D physics engine.
///
/// Without a command it runs the default stress scene, and files a record and a page in perf-reports/.
#[derive(Parser)]
#[command(name = "granule", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand)]
pub enum Command {
    /// List the built-in scenes
    List(ListArgs),
    /// Run a scene, and measure it
    Run(RunArgs),
    /// Step two configurations side by side: say that they are identical, or where they differ first
    Verify(VerifyArgs),
    /// Run a scene, and write all that is done to its world into a file that `replay` reads
    Record(RecordArgs),
    /// Do again what a file recorded, and check the state after each step; exit code 1 if one differs
    Replay(ReplayArgs),
    /// Write the page for a directory of records
    Report(ReportArgs),
    /// Run a grid of scenes, sizes and settings, and write one record a line
    Sweep(SweepArgs),
    /// Merge records into one file, each of them once
    Merge(MergeArgs),
    /// Compare two sets of records and name what became slower; exit code 1 if anything did
    Compare(CompareArgs),
    /// Write records in the formats of dashboards, tables and trace viewers
    Export(ExportArgs),
    /// Draw a scene: pictures, a GIF, or raw frames for a pipe
    Render(Box<RenderArgs>),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the first page of the manual, or write all of its pages
    Man(ManArgs),
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables and sentences
    #[default]
    Human,
    /// One JSON object
    Json,
}

#[derive(Args)]
pub struct ListArgs {
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Which scene is run, and how.
#[derive(Args, Default)]
pub struct SceneArgs {
    /// A built-in scene (see `granule list`) or a scene file [default: pile]
    #[arg(value_name = "SCENE|FILE.json")]
    pub scene: Option<PathBuf>,
    /// Moving bodies of a built-in scene [default: the scene's]
    #[arg(long, value_name = "N", value_parser = count(1, MAX_BODIES as u64))]
    pub bodies: Option<u32>,
    /// Steps that are measured, or from the first frame to the last [default: the scene's; a file's: 600]
    #[arg(long, value_name = "S", value_parser = count(0, 10_000_000))]
    pub steps: Option<u32>,
    /// Steps before those [default: the scene's; a file's: 0]
    #[arg(long, value_name = "W", value_parser = count(0, 10_000_000))]
    pub warmup: Option<u32>,
    /// Worker threads [default: one for each processor]
    #[arg(long, value_name = "T", value_parser = count(1, 1024))]
    pub threads: Option<u32>,
    /// Instruction set: auto, scalar, avx2, avx512, or portable, which is sse2, neon or simd128 [default: auto]
    #[arg(long, value_name = "ISA", value_parser = isa)]
    pub isa: Option<Isa>,
    /// The widest instruction set of at most so many lanes: 1, 4, 8 or 16 [default: what --isa says]
    #[arg(long, value_name = "L", value_parser = lanes, conflicts_with = "isa")]
    pub lanes: Option<Isa>,
    /// Substeps of a step [default: the scene's]
    #[arg(long, value_name = "K", value_parser = count(1, 1024))]
    pub substeps: Option<u32>,
    /// Solver iterations of a substep [default: the scene's]
    #[arg(long, value_name = "I", value_parser = count(1, 1024))]
    pub iterations: Option<u32>,
    /// soft or projection; a solver other than the scene's comes with its own substeps and iterations
    #[arg(long, value_name = "SOLVER", value_parser = solver)]
    pub solver: Option<Solver>,
    /// Whether bodies at rest fall asleep [default: the scene's]
    #[arg(long, value_enum, value_name = "on|off")]
    pub sleep: Option<Switch>,
    /// Whether fast bodies are stopped at walls, and bullets at all bodies [default: the scene's]
    #[arg(long, value_enum, value_name = "on|off")]
    pub continuous: Option<Switch>,
    /// Seed of a built-in scene [default: 1]
    #[arg(long, value_name = "X")]
    pub seed: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

#[derive(Args, Default)]
pub struct RunArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Write the final state of the bodies: id,x,y,angle,vx,vy,omega
    #[arg(long, value_name = "FILE.csv")]
    pub dump: Option<PathBuf>,
    /// Write the final state of the particles: id,x,y,vx,vy
    #[arg(long, value_name = "FILE.csv")]
    pub dump_particles: Option<PathBuf>,
    /// Write the final state of the joints: id,kind,angle,translation,speed,force_x,force_y,torque,broken
    #[arg(long, value_name = "FILE.csv")]
    pub dump_joints: Option<PathBuf>,
    /// File the run record in this directory, and renew the page in it
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Write what each worker was busy with in the measured steps: Chrome trace events, for Perfetto and speedscope
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Write a profile of the measured steps: protobuf, for pprof and speedscope (in a build `--features profile`)
    #[arg(long, value_name = "FILE")]
    pub pprof: Option<PathBuf>,
    /// Write the profile as a flame graph
    #[arg(long, value_name = "FILE.svg")]
    pub flamegraph: Option<PathBuf>,
    /// Replace a trace, a profile or a flame graph that exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct VerifyArgs {
    /// Warm-up steps are compared, too. Steps default to 200
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Instruction set of the reference [default: scalar]
    #[arg(long, value_name = "ISA", value_parser = isa)]
    pub against_isa: Option<Isa>,
    /// The widest instruction set of at most so many lanes is that of the reference: 1, 4, 8 or 16
    #[arg(long, value_name = "L", value_parser = lanes, default_value = "1", conflicts_with = "against_isa")]
    pub against_lanes: Isa,
    /// Worker threads of the reference
    #[arg(long, value_name = "T", value_parser = count(1, 1024), default_value = "1")]
    pub against_threads: u32,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Plant a wrong value: STEP:STAGE:BODY:ULPS
    #[arg(long, value_name = "STEP:STAGE:BODY:ULPS", value_parser = fault, hide = true)]
    pub plant: Option<Fault>,
}

#[derive(Args)]
pub struct RecordArgs {
    /// Warm-up steps are recorded, too
    #[command(flatten)]
    pub scene: SceneArgs,
    /// The recording
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Steps from one hash of the state to the next; 0 means none
    #[arg(long, value_name = "K", value_parser = count(0, 1_000_000), default_value = "1")]
    pub every: u32,
}

#[derive(Args)]
pub struct ReplayArgs {
    /// A recording
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Worker threads [default: one for each processor]
    #[arg(long, value_name = "T", value_parser = count(1, 1024))]
    pub threads: Option<u32>,
    /// Instruction set: auto, scalar, avx2, avx512, or portable, which is sse2, neon or simd128 [default: auto]
    #[arg(long, value_name = "ISA", value_parser = isa)]
    pub isa: Option<Isa>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Args)]
pub struct ReportArgs {
    /// The directory of the records
    #[arg(value_name = "DIR", default_value = super::REPORT_DIR)]
    pub dir: PathBuf,
    /// The page [default: index.html in DIR]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// criterion's results, which `cargo bench` leaves in target/criterion
    #[arg(long, value_name = "DIR")]
    pub criterion: Option<PathBuf>,
    /// The comparison with other engines [default: peers.json in DIR]
    #[arg(long, value_name = "FILE")]
    pub peers: Option<PathBuf>,
}

pub fn count(min: u64, max: u64) -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(min..=max)
}

/// Reads the name of an instruction set that this processor has.
pub fn isa(text: &str) -> Result<Isa, String> {
    let isa: Isa = text.parse().map_err(|error: UnknownIsa| error.to_string())?;
    if isa.is_available() {
        return Ok(isa);
    }
    Err(format!("this processor has no {isa}; it has {}", available()))
}

/// The names of the instruction sets that this processor has.
pub fn available() -> String {
    Isa::available().map(Isa::name).collect::<Vec<_>>().join(", ")
}

fn lanes(text: &str) -> Result<Isa, String> {
    let isa = text.parse().ok().and_then(Isa::with_lanes);
    isa.ok_or_else(|| "the lane width is 1, 4, 8 or 16".to_owned())
}

/// Reads a number of lanes, and leaves it a number.
pub fn width(text: &str) -> Result<u32, String> {
    lanes(text)?;
    text.parse().map_err(|error: std::num::ParseIntError| error.to_string())
}

fn solver(text: &str) -> Result<Solver, String> {
    match text {
        "soft" => Ok(Solver::Soft),
        "projection" => Ok(Solver::Projection),
        _ => Err("the solver is soft or projection".to_owned()),
    }
}

fn fault(text: &str) -> Result<Fault, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let parsed = || {
        let [step, stage, body, ulps] = parts[..] else { return None };
        let body = BodyHandle::from_parts(body.parse().ok()?, 0);
        Some(Fault { step: step.parse().ok()?, stage: stage_named(stage)?, body, ulps: ulps.parse().ok()? })
    };
    parsed().ok_or_else(|| "not of the form STEP:STAGE:BODY:ULPS".to_owned())
}

fn stage_named(name: &str) -> Option<Stage> {
    let stages = [Stage::Bounds, Stage::Broadphase, Stage::Narrowphase, Stage::Contacts, Stage::Solver];
    stages.into_iter().find(|stage| stage.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// The definition of the arguments has no contradictions.
    #[test]
    fn definition_is_sound() {
        Cli::command().debug_assert();
    }
}
