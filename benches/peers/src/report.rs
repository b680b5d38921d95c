//! The record of a run (JSON) and its page (Markdown).

mod comparison;
mod origin;
mod studies;
pub mod table;

pub use origin::Origin;

use crate::cases::Bars;
use crate::engine::Engine;
use crate::measure::Quality;
use crate::times::Times;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One engine in one scene with one setting.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Row of the comparison.
    pub case: String,
    /// Name of the scene.
    pub scene: String,
    /// Worlds that were stepped one after the other.
    pub worlds: usize,
    /// Moving bodies of a world.
    pub bodies: usize,
    /// The others of a world.
    pub static_bodies: usize,
    /// Which engine.
    pub engine: Engine,
    /// Threads that may work on a step.
    pub threads: usize,
    /// Steps before the measurement.
    pub warmup: usize,
    /// Measured steps.
    pub steps: usize,
    /// Rounds; of each step the least time over them counts.
    pub rounds: usize,
    /// Whether every round ended in the same state, as it does where a step's work is the same in each.
    pub rounds_agree: bool,
    /// Substeps per step.
    pub substeps: u32,
    /// Solver iterations per substep.
    pub iterations: u32,
    /// `soft` or `projection`.
    pub solver: String,
    /// Granule's contact frequency by the substep rate, where it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_frequency_ratio: Option<f32>,
    /// The same for Granule's damping ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_ratio: Option<f32>,
    /// Whether bodies at rest fell asleep.
    #[serde(default)]
    pub sleep: bool,
    /// Whether continuous collision was on.
    #[serde(default)]
    pub continuous: bool,
    /// The times of its steps.
    #[serde(flatten)]
    pub times: Times,
    /// `p50_ms` over the moving bodies, in nanoseconds.
    pub ns_per_body_step: f64,
    /// The quality of the final state.
    pub quality: Quality,
    /// Root of the mean squared speed over the ends of all turns, m/s: a pile swings, and its speed at the end
    /// is that of one moment.
    pub rms_speed_over_turns: f64,
    /// Mean over the turns of the deepest penetration at the end of each, m.
    pub max_penetration_over_turns: f64,
    /// What the RMS speed would be if nothing were lost or gained, where nothing may be, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conserved_rms_speed: Option<f64>,
    /// The memory of the process that ran this alone, before the quality was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
}

impl Run {
    /// How bad an RMS speed is: a pile should be at rest, an elastic gas as fast as it was.
    fn unrest(&self, rms_speed: f64) -> f64 {
        self.conserved_rms_speed.map_or(rms_speed, |conserved| (rms_speed - conserved).abs())
    }
}

/// What a case asks of Granule, by its name.
pub type Goal = (String, Bars);

/// A page of one mode.
#[derive(Serialize)]
pub struct Report {
    schema: &'static str,
    origin: Origin,
    runs: Vec<Run>,
    #[serde(skip)]
    body: String,
    #[serde(skip)]
    title: &'static str,
}

impl Report {
    /// The comparison of the engines.
    pub fn comparison(origin: Origin, runs: Vec<Run>, goals: &[Goal]) -> Self {
        let body = comparison::tables(&runs, goals);
        Report { schema: "granule.peers/1", origin, runs, body, title: "Granule next to Box2D and Rapier" }
    }

    /// Time against penetration for settings of Granule.
    pub fn quality(origin: Origin, runs: Vec<Run>) -> Self {
        let body = studies::settings(&runs);
        Report { schema: "granule.peers-quality/1", origin, runs, body, title: "Time against penetration" }
    }

    /// The comparison, with sleep and continuous collision as the engines have them when nobody asks for anything.
    pub fn defaults(origin: Origin, runs: Vec<Run>, goals: &[Goal]) -> Self {
        let body = comparison::tables(&runs, goals);
        Report {
            schema: "granule.peers-defaults/1",
            origin,
            runs,
            body,
            title: "With sleep and continuous collision",
        }
    }

    /// Cases with continuous collision, beside the same without.
    pub fn continuous(origin: Origin, runs: Vec<Run>) -> Self {
        let body = studies::continuous(&runs);
        Report {
            schema: "granule.peers-continuous/1",
            origin,
            runs,
            body,
            title: "What continuous collision costs",
        }
    }

    /// States in motion at several substeps.
    pub fn convergence(origin: Origin, runs: Vec<Run>) -> Self {
        let body = studies::substeps(&runs);
        Report {
            schema: "granule.peers-convergence/1",
            origin,
            runs,
            body,
            title: "What more substeps tend to",
        }
    }

    /// Cost per body at several sizes.
    pub fn flatness(origin: Origin, runs: Vec<Run>) -> Self {
        let body = studies::sizes(&runs);
        Report {
            schema: "granule.peers-flatness/1",
            origin,
            runs,
            body,
            title: "Cost per body at several sizes",
        }
    }

    /// The page.
    pub fn markdown(&self) -> String {
        format!("# {}\n\n{}\n{}", self.title, self.origin.markdown(), self.body)
    }

    /// Writes `stem.md` and `stem.json` into `directory`.
    ///
    /// # Errors
    ///
    /// When the directory or a file cannot be written.
    pub fn write(&self, directory: &Path, stem: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(directory)?;
        std::fs::write(directory.join(format!("{stem}.md")), self.markdown())?;
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        std::fs::write(directory.join(format!("{stem}.json")), json)
    }
}
