//! Puts the commit and the compiler into the binary, for run records. Whatever can't be found out is
//! "unknown": this never fails a build.

use std::path::Path;
use std::process::Command;

/// What the program is made of, from the repository's root.
const SOURCES: [&str; 5] = ["src", "command", "Cargo.toml", "Cargo.lock", ".cargo"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
    let top = Path::new(&top).canonicalize().ok()?;
    if top != Path::new(&here).parent()?.canonicalize().ok()? {
        return None;
    }
    // Paths are from the repository's root, as cargo and git are told them.
    std::env::set_current_dir(&top).ok()?;
    watch(&top);
    let commit = run("git", &["rev-parse", "HEAD"])?;
    let sources = SOURCES;
    // Without the lock, so that a build never gets in the way of a git command.
    let dirty = run("git", &[&["--no-optional-locks", "status", "--porcelain", "--"], &sources[..]].concat());
    let suffix = if dirty.is_some() { "-dirty" } else { "" };
    Some(format!("{commit}{suffix}"))
}

/// Runs this again when another commit is checked out or made, and when a source is edited.
fn watch(top: &Path) {
    let mut paths = SOURCES.map(str::to_owned).to_vec();
    for name in ["HEAD", "packed-refs", "refs/heads"] {
        paths.extend(run("git", &["rev-parse", "--git-path", name]));
    }
    // A path that does not exist would run this at every build.
    for path in paths.iter().map(|path| top.join(path)).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// First line of a command's output; `None` when it fails or says nothing.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
