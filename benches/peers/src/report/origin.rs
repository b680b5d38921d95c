//! Where and how the program was built and runs.

use serde::Serialize;
use std::fmt::Write;
use std::process::Command;

/// Where and how the program was built and runs.
#[derive(Clone, Debug, Serialize)]
pub struct Origin {
    command: String,
    commit: String,
    cpu: String,
    cores: usize,
    os: String,
    rustc: &'static str,
    rustflags: &'static str,
    cflags: &'static str,
    profile: &'static str,
    granule: String,
    box2d: String,
    box2d_assertions: bool,
    rapier: &'static str,
    unix_time: u64,
}

impl Origin {
    /// Asks the system, the repository and the build.
    ///
    /// `box2d_assertions`: whether Box2D was built with them.
    pub fn new(arguments: &[String], box2d_assertions: bool) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cpu_info = read("/proc/cpuinfo");
        let cpu = cpu_info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Origin {
            command: command(arguments),
            commit: commit(),
            cpu: cpu.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease")).trim().to_owned(),
            rustc: env!("PEERS_RUSTC"),
            rustflags: env!("PEERS_RUSTFLAGS"),
            cflags: env!("PEERS_CFLAGS"),
            profile: env!("PEERS_PROFILE"),
            granule: format!("{} ({})", env!("PEERS_GRANULE_VERSION"), isa()),
            box2d: format!(
                "{} (boxdd-sys {}, AVX2)",
                crate::box2d::version(),
                env!("PEERS_BOXDD_SYS_VERSION")
            ),
            box2d_assertions,
            rapier: env!("PEERS_RAPIER2D_VERSION"),
            unix_time: std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs()),
        }
    }

    /// As a list.
    pub fn markdown(&self) -> String {
        let assertions = if self.box2d_assertions { "on" } else { "off" };
        let mut text = format!("Reproduce with `{}`.\n\n", self.command);
        let mut line =
            |name: &str, value: &str| writeln!(text, "- {name}: {value}").expect("writing to a string");
        line("Machine", &format!("{}, {} cores, {}", self.cpu, self.cores, self.os));
        line(
            "Engines",
            &format!(
                "Granule {}, Box2D {}, Rapier {} (`parallel`, `simd8`)",
                self.granule, self.box2d, self.rapier
            ),
        );
        line("Rust", &format!("{}, profile {}, flags `{}`", self.rustc, self.profile, self.rustflags));
        line(
            "C",
            &format!(
                "flags `{}` after the build script's own `-O2 -mavx2`; Box2D's assertions {assertions}",
                self.cflags
            ),
        );
        line("Commit", &self.commit);
        text
    }
}

/// The command with these arguments. Where the report went on this machine does not matter on the next one.
fn command(arguments: &[String]) -> String {
    let mut command = "cd benches/peers && cargo run --release".to_owned();
    let (mut separator, mut is_place) = (" --", false);
    for argument in arguments {
        let is_out = argument == "--out";
        if !is_out && !is_place && !argument.starts_with("--out=") {
            write!(command, "{separator} {argument}").expect("writing to a string");
            separator = "";
        }
        is_place = is_out;
    }
    command
}

/// The instruction set that Granule's worlds use.
fn isa() -> &'static str {
    let world = ::granule::World::new(::granule::Settings::default());
    world.map_or("unknown", |world| world.isa().name())
}

/// Short hash of the repository's commit, marked where the tree differs from it.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let out =
            Command::new("git").arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    match (git(&["rev-parse", "--short=12", "HEAD"]), git(&["status", "--porcelain", "--untracked-files=no"]))
    {
        (Some(hash), Some(changes)) if changes.is_empty() => hash,
        (Some(hash), _) => format!("{hash} with changes"),
        (None, _) => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: a report's command has all arguments but the place of the report.
    #[test]
    fn the_command_names_no_place() {
        let of =
            |arguments: &str| command(&arguments.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let plain = "cd benches/peers && cargo run --release";
        assert_eq!(of(""), plain);
        assert_eq!(of("--out here"), plain);
        let wanted = format!("{plain} -- --threads 1 --quick");
        for arguments in
            ["--threads 1 --quick", "--threads 1 --out here --quick", "--out=here --threads 1 --quick"]
        {
            assert_eq!(of(arguments), wanted);
        }
    }
}
