//! The run record: one JSON object that says what was run, how long it took, and how good the result is.
//!
//! [`SCHEMA`] is the version of the field names and their order. Fields may be added, never renamed. [`write()`] files
//! a record in a directory and renews the page that lists the directory's records.

pub mod compare;
mod configuration;
pub mod criterion;
pub mod export;
pub mod history;
mod machine;
mod merge;
mod page;
pub mod peers;
mod store;

pub use configuration::{Configuration, grouped};
pub use machine::{Machine, commit, peak_rss_bytes, rustc, unix_time};
pub use merge::Merged;
pub use page::{Page, PageError, Written};
pub use store::{Filed, Skipped, Store};

use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Version of the record's schema.
pub const SCHEMA: &str = "granule.run/1";

/// The record's schema as a JSON schema (draft 2020-12), with units.
pub const JSON_SCHEMA: &str = include_str!("report/run.schema.json");

/// A run. Times are per step, over the measured steps; counts and quality are those of the final state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the scene.
    pub scene: String,
    /// Moving bodies, without particles.
    pub bodies: usize,
    /// Static bodies, without particles.
    pub static_bodies: usize,
    /// Verlet particles.
    pub particles: usize,
    /// Links.
    pub links: usize,
    /// Joints at the end. Absent from older records.
    #[serde(default)]
    pub joints: usize,
    /// Iterations over the links per substep. Absent from older records.
    #[serde(default)]
    pub link_iterations: u32,
    /// The number of measured steps.
    pub steps: u32,
    /// The number of steps before the measured ones.
    pub warmup: u32,
    /// Substeps per step.
    pub substeps: u32,
    /// Iterations per substep.
    pub iterations: u32,
    /// `soft` or `projection`.
    pub solver: String,
    /// Whether bodies at rest fell asleep. Absent from older records, where nothing slept.
    #[serde(default)]
    pub sleep: bool,
    /// Whether fast bodies were stopped at walls. Absent from older records, where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuous: Option<bool>,
    /// Size of the thread pool.
    pub threads: usize,
    /// Number of contacts on which one instruction works at most.
    pub lanes: usize,
    /// Name of the instruction set that ran. In older records: of the one that the program was compiled for.
    pub isa: String,
    /// Seed of the built-in scene.
    pub seed: u64,
    /// Time of a whole step.
    pub step_ms: StepTimes,
    /// Mean time of each stage.
    pub phases_ms: PhaseTimes,
    /// Pairs in the pair list.
    pub pairs: usize,
    /// Contacts of the last step.
    pub contacts: usize,
    /// Bodies and particles that forces move and that are awake at the end. Absent from older records.
    #[serde(default)]
    pub awake_bodies: usize,
    /// Islands at the end, asleep or awake. Absent from older records.
    #[serde(default)]
    pub islands: usize,
    /// Mean time of a step, divided by the number of bodies and particles, ns.
    pub ns_per_body_step: f64,
    /// Quality of the final state.
    pub quality: QualityRecord,
    /// Bodies that went bad and were taken out.
    pub quarantined: usize,
    /// Hash of the final state, 16 hexadecimal digits.
    pub state_hash: String,
    /// Largest resident memory of the process so far; 0 where the system does not say.
    pub peak_rss_bytes: u64,
    /// Heap allocations per measured step.
    pub allocations_per_step: f64,
    /// The machine of the run.
    pub machine: Machine,
    /// The version of this crate.
    pub version: String,
    /// The commit that the program was built from, or `unknown`.
    pub commit: String,
    /// The compiler that the program was built with, or `unknown`.
    pub rustc: String,
    /// The end of the run, in seconds since 1970.
    pub unix_time: u64,
    /// Time of every measured step and of its stages. Absent from older records.
    #[serde(default, skip_serializing_if = "Samples::is_empty")]
    pub samples_ms: Samples,
}

/// Times of single steps, in their order, ms, rounded to a tenth of a microsecond. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The whole step.
    pub step: Vec<f64>,
    /// [`Stage::Bounds`](granule::Stage::Bounds)
    pub bounds: Vec<f64>,
    /// [`Stage::Broadphase`](granule::Stage::Broadphase)
    pub broadphase: Vec<f64>,
    /// [`Stage::Narrowphase`](granule::Stage::Narrowphase)
    pub narrowphase: Vec<f64>,
    /// [`Stage::Contacts`](granule::Stage::Contacts)
    pub contacts: Vec<f64>,
    /// [`Stage::Solver`](granule::Stage::Solver)
    pub solver: Vec<f64>,
    /// [`Stage::Islands`](granule::Stage::Islands). Absent from older records.
    #[serde(default)]
    pub islands: Vec<f64>,
}

impl Samples {
    /// Returns empty columns with space for `steps` steps, so that [`push`](Samples::push) does not allocate.
    pub fn with_capacity(steps: usize) -> Samples {
        let column = || Vec::with_capacity(steps);
        Samples {
            step: column(),
            bounds: column(),
            broadphase: column(),
            narrowphase: column(),
            contacts: column(),
            solver: column(),
            islands: column(),
        }
    }

    /// Returns true if there is no step.
    pub fn is_empty(&self) -> bool {
        self.step.is_empty()
    }

    /// Adds a step that took `step_ms`, with the times of its stages.
    pub fn push(&mut self, step_ms: f64, phases: &PhaseTimes) {
        let rounded = |ms: f64| (1e4 * ms).round() / 1e4;
        self.step.push(rounded(step_ms));
        let columns = [
            &mut self.bounds,
            &mut self.broadphase,
            &mut self.narrowphase,
            &mut self.contacts,
            &mut self.solver,
            &mut self.islands,
        ];
        for (column, (_, ms)) in columns.into_iter().zip(phases.named()) {
            column.push(rounded(ms));
        }
    }

    /// Name and times of each stage, in their order.
    pub fn named(&self) -> [(&'static str, &[f64]); 6] {
        [
            ("bounds", &self.bounds),
            ("broadphase", &self.broadphase),
            ("narrowphase", &self.narrowphase),
            ("contacts", &self.contacts),
            ("solver", &self.solver),
            ("islands", &self.islands),
        ]
    }
}

/// Distribution of the time of a step, ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepTimes {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The slowest step.
    pub max: f64,
}

impl StepTimes {
    /// Sorts the times of single steps, which may be in any order, and measures them. All fields are zero if there are
    /// none.
    pub fn of(samples: &mut [f64]) -> StepTimes {
        samples.sort_unstable_by(f64::total_cmp);
        let Some(&max) = samples.last() else { return StepTimes::default() };
        StepTimes {
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            p50: percentile(samples, 50),
            p95: percentile(samples, 95),
            p99: percentile(samples, 99),
            max,
        }
    }
}

/// Returns the percentile by nearest rank: the smallest of the sorted samples that at least `percent` % of them do not
/// exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

/// Mean time of each stage of a step, ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseTimes {
    /// [`Stage::Bounds`](granule::Stage::Bounds)
    pub bounds: f64,
    /// [`Stage::Broadphase`](granule::Stage::Broadphase)
    pub broadphase: f64,
    /// [`Stage::Narrowphase`](granule::Stage::Narrowphase)
    pub narrowphase: f64,
    /// [`Stage::Contacts`](granule::Stage::Contacts)
    pub contacts: f64,
    /// [`Stage::Solver`](granule::Stage::Solver)
    pub solver: f64,
    /// [`Stage::Islands`](granule::Stage::Islands). Absent from older records.
    #[serde(default)]
    pub islands: f64,
}

impl PhaseTimes {
    /// Adds each stage's time to that of the same stage.
    pub fn add(&mut self, other: &PhaseTimes) {
        self.bounds += other.bounds;
        self.broadphase += other.broadphase;
        self.narrowphase += other.narrowphase;
        self.contacts += other.contacts;
        self.solver += other.solver;
        self.islands += other.islands;
    }

    /// Returns each stage's time, divided by `by`.
    #[must_use]
    pub fn divided(&self, by: f64) -> PhaseTimes {
        PhaseTimes {
            bounds: self.bounds / by,
            broadphase: self.broadphase / by,
            narrowphase: self.narrowphase / by,
            contacts: self.contacts / by,
            solver: self.solver / by,
            islands: self.islands / by,
        }
    }

    /// Name and time of each stage, in their order.
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("bounds", self.bounds),
            ("broadphase", self.broadphase),
            ("narrowphase", self.narrowphase),
            ("contacts", self.contacts),
            ("solver", self.solver),
            ("islands", self.islands),
        ]
    }
}

/// How well the final state satisfies the contacts, and its conserved quantities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QualityRecord {
    /// Mean depth of the contacts that overlap, m.
    pub mean_penetration: f64,
    /// Depth of the deepest contact, m.
    pub max_penetration: f64,
    /// Kinetic energy of translation and rotation, J.
    pub kinetic_energy: f64,
    /// Sum of m·v, kg·m/s.
    pub momentum: [f64; 2],
    /// Mean over the links of the violation over the length.
    #[serde(default)]
    pub mean_stretch: f64,
    /// The largest violation of a link over its length.
    #[serde(default)]
    pub max_stretch: f64,
}

/// Files `record` in `dir` in a new file of its own, and renews the page `index.html` there. Makes `dir` if it does not
/// exist. If `index.html` exists and was not written by this crate, it is left alone.
///
/// Returns the record's path.
///
/// # Errors
///
/// The errors of the file system.
pub fn write(dir: &Path, record: &RunRecord) -> io::Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let mut json = serde_json::to_string(record)?;
    json.push('\n');
    let (path, mut file) = create_new(dir, &stem(record))?;
    file.write_all(json.as_bytes())?;
    page::renew(dir)?;
    Ok(path)
}

/// `pile-20000b-2t-8l-1700000000`: the scene's name, in which characters that do not suit a file name become
/// underscores.
fn stem(record: &RunRecord) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let scene: String = record.scene.chars().map(plain).take(60).collect();
    let RunRecord { bodies, threads, lanes, unix_time, .. } = record;
    format!("{scene}-{bodies}b-{threads}t-{lanes}l-{unix_time}")
}

/// Creates a file that did not exist before. Its name gets a number if the plain name is taken.
fn create_new(dir: &Path, stem: &str) -> io::Result<(PathBuf, File)> {
    let mut number = 1_u32;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = dir.join(format!("{stem}{suffix}.json"));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl RunRecord {
        /// A record without steps, for tests to fill in.
        pub(crate) fn sample(scene: &str, bodies: usize) -> RunRecord {
            RunRecord {
                schema: SCHEMA.to_owned(),
                scene: scene.to_owned(),
                bodies,
                static_bodies: 0,
                particles: 0,
                links: 0,
                joints: 0,
                link_iterations: 8,
                steps: 100,
                warmup: 0,
                substeps: 4,
                iterations: 1,
                solver: "soft".to_owned(),
                sleep: false,
                continuous: Some(true),
                threads: 1,
                lanes: 8,
                isa: "avx2".to_owned(),
                seed: 1,
                step_ms: StepTimes::default(),
                phases_ms: PhaseTimes::default(),
                pairs: 0,
                contacts: 0,
                awake_bodies: 0,
                islands: 0,
                ns_per_body_step: 0.0,
                quality: QualityRecord::default(),
                quarantined: 0,
                state_hash: "0".repeat(16),
                peak_rss_bytes: 0,
                allocations_per_step: 0.0,
                machine: Machine::default(),
                version: "0.1.0".to_owned(),
                commit: "unknown".to_owned(),
                rustc: "unknown".to_owned(),
                unix_time: 0,
                samples_ms: Samples::default(),
            }
        }
    }

    /// Percentiles are by nearest rank: always one of the samples.
    #[test]
    fn percentiles_are_by_nearest_rank() {
        let mut samples: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let times = StepTimes::of(&mut samples);
        assert_eq!(times, StepTimes { mean: 100.5, p50: 100.0, p95: 190.0, p99: 198.0, max: 200.0 });
        let single = StepTimes::of(&mut [3.0]);
        assert_eq!(single, StepTimes { mean: 3.0, p50: 3.0, p95: 3.0, p99: 3.0, max: 3.0 });
        assert_eq!(StepTimes::of(&mut []), StepTimes::default());
    }
}
