//! Flame graphs from criterion's `--profile-time`: `cargo bench -p granule-benches --bench scenes -- --profile-time 5` writes
//! `target/criterion/<benchmark>/profile/flamegraph.svg`. (pprof's own adapter pins an older criterion.)

use criterion::profiler::Profiler;
use pprof::{ProfilerGuard, ProfilerGuardBuilder};
use std::fs::File;
use std::path::Path;

/// Samples the process while a benchmark runs.
pub struct FlameGraphs {
    /// Samples per second.
    frequency: i32,
    running: Option<ProfilerGuard<'static>>,
}

impl FlameGraphs {
    /// A profiler that takes this many samples per second.
    pub fn new(frequency: i32) -> Self {
        FlameGraphs { frequency, running: None }
    }
}

impl Profiler for FlameGraphs {
    fn start_profiling(&mut self, benchmark: &str, _folder: &Path) {
        match ProfilerGuardBuilder::default().frequency(self.frequency).build() {
            Ok(guard) => self.running = Some(guard),
            Err(error) => eprintln!("{benchmark}: no profile: {error}"),
        }
    }

    fn stop_profiling(&mut self, benchmark: &str, folder: &Path) {
        let Some(guard) = self.running.take() else { return };
        let written = || -> Result<(), Box<dyn std::error::Error>> {
            std::fs::create_dir_all(folder)?;
            let report = guard.report().build()?;
            report.flamegraph(File::create(folder.join("flamegraph.svg"))?)?;
            Ok(())
        };
        if let Err(error) = written() {
            eprintln!("{benchmark}: no flame graph: {error}");
        }
    }
}
