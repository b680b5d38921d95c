//! The configuration of a run: the part of a record that must agree before its times can be compared with another's.

use super::RunRecord;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Scene, size and settings of a run. Commit, compiler and machine are not part of it: they are what is compared.
///
/// The numbers of steps are part of it, because a scene is slower while it falls than when it lies.
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
    /// Number of contacts on which one instruction works at most.
    pub lanes: usize,
    /// Substeps per step.
    pub substeps: u32,
    /// Iterations per substep.
    pub iterations: u32,
    /// `soft` or `projection`.
    pub solver: String,
    /// Whether bodies at rest fell asleep.
    pub sleep: bool,
    /// Whether continuous collision was switched off. Older records, which did not have it, are taken to be like those with it.
    pub discrete: bool,
    /// Iterations over the links per substep. 0 if there are no links: then they do not matter, and older records do
    /// not give them.
    pub link_iterations: u32,
    /// Seed of the built-in scene.
    pub seed: u64,
    /// Steps before the measured ones.
    pub warmup: u32,
    /// Measured steps.
    pub steps: u32,
}

impl Configuration {
    /// Returns the configuration of a record.
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
            sleep: record.sleep,
            discrete: record.continuous == Some(false),
            link_iterations: if record.links > 0 { record.link_iterations } else { 0 },
            seed: record.seed,
            warmup: record.warmup,
            steps: record.steps,
        }
    }

    /// The number of bodies and particles, by which a cost per body is counted.
    pub fn moving(&self) -> usize {
        self.bodies + self.particles
    }
}

/// Groups records by configuration, in the order of the configurations. The repeats of one keep the order given.
pub fn grouped<'a>(
    records: impl IntoIterator<Item = &'a RunRecord>,
) -> BTreeMap<Configuration, Vec<&'a RunRecord>> {
    let mut groups: BTreeMap<Configuration, Vec<&RunRecord>> = BTreeMap::new();
    for record in records {
        groups.entry(Configuration::of(record)).or_default().push(record);
    }
    groups
}

/// `packed/bodies=10000/threads=2/lanes=8/substeps=4/steps=120+60`: a name for dashboards. It stays the same for a
/// configuration as long as there are records. Settings with their usual values are left out.
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
        if self.sleep {
            write!(f, "/sleep=on")?;
        }
        if self.discrete {
            write!(f, "/continuous=off")?;
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
