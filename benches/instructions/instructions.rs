//! Instructions of ten steps of a few fixed scenes, counted by callgrind: a guard against regressions that noise cannot
//! fool.
//!
//! `cargo bench -p granule-instructions` needs valgrind, and nothing else: the runner
//! of a package for this took as long to install as the engine's tests to build. `-- packed gas` counts these alone.
//! A count that exceeds its limit, which is 3 % above the committed figure, fails; `.ci/run` runs it. The figures are
//! those of the x86-64-v3 build of `.cargo/config.toml`, as valgrind knows no AVX-512. They change with the compiler,
//! and with every honest improvement: then the figures below are to be renewed.

use granule::{World, scene};
use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

struct Case {
    name: &'static str,
    bodies: usize,
    /// Steps before those that are counted.
    warmup: usize,
    /// The committed figure.
    instructions: u64,
}

const CASES: [Case; 8] = [
    Case { name: "packed", bodies: 2000, warmup: 120, instructions: 18_096_009 },
    Case { name: "collapsing", bodies: 2000, warmup: 30, instructions: 19_548_267 },
    Case { name: "pyramid", bodies: 2000, warmup: 120, instructions: 17_953_310 },
    Case { name: "gas", bodies: 2000, warmup: 30, instructions: 16_090_192 },
    Case { name: "large_pyramid", bodies: 1275, warmup: 60, instructions: 27_663_678 },
    Case { name: "mixed_shapes", bodies: 500, warmup: 120, instructions: 19_102_744 },
    Case { name: "cloth", bodies: 2500, warmup: 60, instructions: 82_681_538 },
    Case { name: "soft_boxes", bodies: 400, warmup: 120, instructions: 55_169_574 },
];

/// Per cent that a count may be above its figure.
const MARGIN: u64 = 3;

/// The argument by which this program, under callgrind, is told a scene.
const UNDER_CALLGRIND: &str = "--under-callgrind";

/// What is counted: callgrind collects while a function of this name runs.
#[inline(never)]
fn ten_steps(world: &mut World) {
    for _ in 0..10 {
        world.step();
    }
}

fn run(case: &Case) {
    let mut world = scene::builtin(case.name, case.bodies, 1).unwrap().build().unwrap();
    for _ in 0..case.warmup {
        world.step();
    }
    ten_steps(black_box(&mut world));
    black_box(world);
}

/// Runs this program again under callgrind; what it collected.
fn count(case: &Case) -> Result<u64, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        // At level 1 and above callgrind 3.19 translates the solver wrongly: a scene explodes that does not without it.
        .args(["--tool=callgrind", "--vex-iropt-level=0"])
        .args(["--callgrind-out-file=/dev/null", "--toggle-collect=*ten_steps*"])
        .arg(program)
        .args([UNDER_CALLGRIND, case.name])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}: {said}", output.status));
    }
    let collected = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    // Nothing collected is a name that was not found, not a fast step.
    collected.filter(|&count| count > 0).ok_or_else(|| format!("no count: {said}"))
}

/// Counts a case and says how it compares with its figure; whether it is within its limit.
fn check(case: &Case) -> bool {
    match count(case) {
        Ok(count) => {
            let change = 100.0 * (count as f64 / case.instructions as f64 - 1.0);
            let within = count <= case.instructions + case.instructions * MARGIN / 100;
            let verdict = if within { "" } else { ": FAILED, more than its limit" };
            println!("{:14} {count:>11} instructions, {change:+.2} %{verdict}", case.name);
            within
        }
        Err(why) => {
            println!("{:14} FAILED: {why}", case.name);
            false
        }
    }
}

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let case = |name: &str| CASES.iter().find(|case| case.name == name).expect("a scene of the table");
    if let [flag, name] = &arguments[..]
        && flag == UNDER_CALLGRIND
    {
        run(case(name));
        return ExitCode::SUCCESS;
    }
    let cases: Vec<&Case> = match &arguments[..] {
        [] => CASES.iter().collect(),
        names => names.iter().map(|name| case(name)).collect(),
    };
    let failed = cases.iter().filter(|case| !check(case)).count();
    println!("instructions: {} passed, {failed} failed", cases.len() - failed);
    ExitCode::from(u8::from(failed > 0))
}
