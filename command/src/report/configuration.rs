//! What was run: the part of a record that must agree before its times can be compared with another's.

use super::RunRecord;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Scene, size and settings of a run. Commit, compiler and machine are not in it: those are what is compared.
///
/// The numbers of steps are: the same scene is slower while it falls than when it lies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Configuration {
    /// Name of the scene.
    pub scene: String,
    /// Moving bodies.
    pub bodies: usize,
    /// Verlet particles.
    pub particles: usize,
    /// Size of the thread pool.
    pub threads: usize,
    /// Lane width.
    pub lanes: usize,
    /// Substeps per step.
    pub substeps: u32,
    /// Iterations per substep.
    pub iterations: u32,
    /// `soft` or `projection`.
    pub solver: String,
    /// Iterations over the links per substep; 0 without links, where they do not matter and older records do not
    /// say.
    pub link_iterations: u32,
    /// Seed of the built-in scene.
    pub seed: u64,
    /// Steps that are not measured.
    pub warmup: u32,
    /// Steps that are.
    pub steps: u32,
}

impl Configuration {
    /// That of a record.
    pub fn of(record: &RunRecord) -> Configuration {
        let RunRecord { bodies, particles, threads, lanes, substeps, iterations, .. } = *record;
        Configuration {
            scene: record.scene.clone(),
            bodies,
            particles,
            threads,
            lanes,
            substeps,
            iterations,
            solver: record.solver.clone(),
            link_iterations: if record.links > 0 { record.link_iterations } else { 0 },
            seed: record.seed,
            warmup: record.warmup,
            steps: record.steps,
        }
    }

    /// Bodies and particles: what a cost per body is by.
    pub fn moving(&self) -> usize {
        self.bodies + self.particles
    }
}

/// The repeats of each configuration, in the order of the configurations; those of one in the order given.
pub fn grouped<'a>(
    records: impl IntoIterator<Item = &'a RunRecord>,
) -> BTreeMap<Configuration, Vec<&'a RunRecord>> {
    let mut groups: BTreeMap<Configuration, Vec<&RunRecord>> = BTreeMap::new();
    for record in records {
        groups.entry(Configuration::of(record)).or_default().push(record);
    }
    groups
}

/// `packed/bodies=10000/threads=2/lanes=8/substeps=4/steps=120+60`: a name for dashboards, the same for the same
/// configuration as long as there are records. What has its usual value is left out.
impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Configuration { scene, bodies, threads, lanes, substeps, warmup, steps, .. } = self;
        write!(f, "{scene}/bodies={bodies}")?;
        if self.particles > 0 {
            write!(f, "/particles={}", self.particles)?;
        }
        write!(f, "/threads={threads}/lanes={lanes}/substeps={substeps}")?;
        if self.iterations != 1 {
            write!(f, "/iterations={}", self.iterations)?;
        }
        if self.solver != "soft" {
            write!(f, "/solver={}", self.solver)?;
        }
        if ![0, 8].contains(&self.link_iterations) {
            write!(f, "/link_iterations={}", self.link_iterations)?;
        }
        if self.seed != 1 {
            write!(f, "/seed={}", self.seed)?;
        }
        write!(f, "/steps={warmup}+{steps}")
    }
}
