//! Makes a scene that can be built from the arguments, and checks them before a long run starts.

use super::args::{SceneArgs, Switch};
use super::{Failure, bad_file, bad_input};
use granule::scene::{self, BUILTIN, Builtin, Scene};
use granule::{Error, Isa, Settings, Solver, World};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest scene file that is read, in bytes.
const MAX_FILE: u64 = 1 << 30;
/// The number of measured steps for a scene file.
const FILE_STEPS: u32 = 600;
const DEFAULT_SEED: u64 = 1;

/// A scene with the arguments applied.
pub struct Input {
    pub scene: Scene,
    pub steps: u32,
    pub warmup: u32,
    pub seed: u64,
    pub threads: usize,
}

impl Input {
    pub fn new(args: &SceneArgs) -> Result<Input, Failure> {
        let given = args.scene.as_deref().unwrap_or(Path::new(scene::DEFAULT));
        let seed = args.seed.unwrap_or(DEFAULT_SEED);
        let known = BUILTIN.iter().find(|builtin| given.as_os_str() == builtin.name);
        let mut scene = match known {
            Some(builtin) => make(builtin, args.bodies, seed)?,
            None => read(given, args)?,
        };
        apply(args, &mut scene.settings);
        Ok(Input {
            scene,
            steps: args.steps.unwrap_or(known.map_or(FILE_STEPS, |builtin| builtin.steps)),
            warmup: args.warmup.unwrap_or(known.map_or(0, |builtin| builtin.warmup)),
            seed,
            threads: args.threads.map_or_else(processors, |threads| threads as usize),
        })
    }

    pub fn world(&self) -> Result<World, Failure> {
        self.scene.build().map_err(|error| match error {
            Error::Isa { .. } | Error::IsaVariable { .. } => refused_set(error),
            _ => bad_input(format!("{}: {error}", self.scene.name)),
        })
    }
}

/// The failure of a world whose instruction set is refused. The arguments name only sets that the processor has: it is the environment
/// that does not.
pub fn refused_set(error: Error) -> Failure {
    match error {
        Error::Isa { .. } => bad_input(format!("{}: {error}", Isa::VARIABLE)),
        _ => bad_input(error.to_string()),
    }
}

/// Builds a thread pool of its own, so that rayon's global pool is never built.
pub fn pool(threads: usize) -> Result<ThreadPool, Failure> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| bad_input(format!("--threads {threads}: {error}")))
}

pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn make(builtin: &Builtin, bodies: Option<u32>, seed: u64) -> Result<Scene, Failure> {
    let bodies = bodies.map_or(builtin.bodies, |bodies| bodies as usize);
    scene::builtin(builtin.name, bodies, seed)
        .ok_or_else(|| bad_input(format!("--bodies {bodies}: not for the scene {}", builtin.name)))
}

fn read(path: &Path, args: &SceneArgs) -> Result<Scene, Failure> {
    // A bare word that names no file is more likely a mistyped scene name.
    let bare = path.extension().is_none() && path.components().count() == 1;
    if bare && !path.exists() {
        let names: Vec<&str> = BUILTIN.iter().map(|builtin| builtin.name).collect();
        return Err(bad_file(path, &format!("neither a scene file nor one of {}", names.join(", "))));
    }
    if let Some(bodies) = args.bodies {
        return Err(bad_input(format!(
            "--bodies {bodies}: {} is a scene file and has its own",
            path.display()
        )));
    }
    let bytes = bytes(path)?;
    Scene::from_json(&bytes).map_err(|error| bad_file(path, &error))
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.is_dir() {
        return Err(bad_file(path, &"a directory, not a scene file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| bad_file(path, &error))?;
    let length = file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| bad_file(path, &error))?;
    if length as u64 > MAX_FILE {
        return Err(bad_file(path, &format!("longer than {MAX_FILE} bytes")));
    }
    Ok(bytes)
}

/// Applies the options to the scene's settings. A solver other than the scene's comes with its own numbers of substeps
/// and iterations: those of the other solver would make no sense.
fn apply(args: &SceneArgs, settings: &mut Settings) {
    if let Some(solver) = args.solver.filter(|solver| *solver != settings.solver) {
        let defaults = match solver {
            Solver::Soft => Settings::default(),
            Solver::Projection => Settings::projection(),
        };
        settings.solver = solver;
        settings.substeps = defaults.substeps;
        settings.iterations = defaults.iterations;
    }
    settings.substeps = args.substeps.unwrap_or(settings.substeps);
    settings.iterations = args.iterations.unwrap_or(settings.iterations);
    settings.sleep = args.sleep.map_or(settings.sleep, |sleep| sleep == Switch::On);
    settings.continuous = args.continuous.map_or(settings.continuous, |continuous| continuous == Switch::On);
    settings.isa = args.isa.or(args.lanes).unwrap_or(settings.isa);
}

/// Refuses an output file that cannot be made: before a long run, not after it.
pub fn check_file(option: &str, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    if path.is_dir() {
        return Err(bad_input(format!("{option} {}: a directory", path.display())));
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            Err(bad_input(format!("{option} {}: there is no directory {}", path.display(), parent.display())))
        }
        _ => Ok(()),
    }
}

/// Refuses an output directory that is not a directory. One that does not exist may be made later.
pub fn check_dir(option: &str, path: Option<&Path>) -> Result<(), Failure> {
    match path {
        Some(path) if path.exists() && !path.is_dir() => {
            Err(bad_input(format!("{option} {}: not a directory", path.display())))
        }
        _ => Ok(()),
    }
}
