//! Hands the facts of the build that a report has to name to the program: compiler, flags, versions.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=Cargo.lock");
    println!("cargo:rerun-if-env-changed=CFLAGS");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");

    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc = rustc.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    println!("cargo:rustc-env=PEERS_RUSTC={rustc}");
    println!("cargo:rustc-env=PEERS_RUSTFLAGS={}", variable("CARGO_ENCODED_RUSTFLAGS").replace('\x1f', " "));
    // As the C compiler's driver looks them up: those of the target come first.
    let of_target = format!("CFLAGS_{}", variable("TARGET").replace('-', "_"));
    println!("cargo:rerun-if-env-changed={of_target}");
    let cflags = std::env::var(of_target).unwrap_or_else(|_| variable("CFLAGS"));
    println!("cargo:rustc-env=PEERS_CFLAGS={cflags}");
    println!("cargo:rustc-env=PEERS_PROFILE={} (opt-level {})", variable("PROFILE"), variable("OPT_LEVEL"));

    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    for package in ["granule", "boxdd-sys", "rapier2d"] {
        let name = package.to_uppercase().replace('-', "_");
        println!("cargo:rustc-env=PEERS_{name}_VERSION={}", locked_version(&lock, package));
    }
}

/// The version of `package` in the text of a lock file.
fn locked_version(lock: &str, package: &str) -> String {
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{package}\""));
    lines
        .nth(1)
        .and_then(|line| line.strip_prefix("version = \""))
        .map(|rest| rest.trim_end_matches('"').to_owned())
        .unwrap_or_else(|| "unknown".to_owned())
}
