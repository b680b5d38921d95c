//! Puts the commit and the compiler into the binary, for run records. Whatever can't be found out is
//! "unknown": this never fails a build.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Without run records nobody asks, and a host's build needs no git.
    if std::env::var_os("CARGO_FEATURE_SCENE").is_none() {
        return;
    }
    let unknown = || "unknown".to_owned();
    println!("cargo::rustc-env=GRANULE_RUSTC={}", compiler().unwrap_or_else(unknown));
    println!("cargo::rustc-env=GRANULE_COMMIT={}", commit().unwrap_or_else(unknown));
}

fn compiler() -> Option<String> {
    run(&std::env::var("RUSTC").ok()?, &["--version"])
}

/// The commit of this crate's own repository, with "-dirty" when the sources differ from it.
fn commit() -> Option<String> {
    let here = std::env::var("CARGO_MANIFEST_DIR").ok()?;
    // As a dependency the crate may lie inside a repository that is not its own.
    let top = run("git", &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != Path::new(&here).canonicalize().ok()? {
        return None;
    }
    watch();
    let commit = run("git", &["rev-parse", "HEAD"])?;
    let sources = ["src", "Cargo.toml", "Cargo.lock", ".cargo"];
    // Without the lock, so that a build never gets in the way of a git command.
    let dirty = run("git", &[&["--no-optional-locks", "status", "--porcelain", "--"], &sources[..]].concat());
    let suffix = if dirty.is_some() { "-dirty" } else { "" };
    Some(format!("{commit}{suffix}"))
}

/// Runs this again when another commit is checked out or made, and when a source is edited.
fn watch() {
    let mut paths = ["src", "Cargo.toml", "Cargo.lock", ".cargo"].map(str::to_owned).to_vec();
    for name in ["HEAD", "packed-refs", "refs/heads"] {
        paths.extend(run("git", &["rev-parse", "--git-path", name]));
    }
    // A path that does not exist would run this at every build.
    for path in paths.iter().filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// First line of a command's output; `None` when it fails or says nothing.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
