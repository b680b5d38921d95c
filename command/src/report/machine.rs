//! The machine and the build, as a record names them. A value that the system does not give is "unknown" or 0.

use serde::{Deserialize, Serialize};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: String,
    /// Processors that this process may use.
    pub cores: usize,
    /// Operating system and its release.
    pub os: String,
}

impl Machine {
    /// Describes this machine.
    pub fn this() -> Machine {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Machine { cpu: cpu(), cores, os: os() }
    }
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

fn os() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned()
}

/// The commit that this program was built from, with `-dirty` if the sources differed from it.
pub const fn commit() -> &'static str {
    env!("GRANULE_COMMIT")
}

/// The compiler that this program was built with.
pub const fn rustc() -> &'static str {
    env!("GRANULE_RUSTC")
}

/// The largest resident memory of this process so far, in bytes; 0 if the system does not say.
pub fn peak_rss_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The time now, in seconds since 1970.
pub fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
