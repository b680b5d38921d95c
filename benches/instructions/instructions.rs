//! Counts the instructions of ten steps of a few fixed scenes, with callgrind, and of ten snapshots that are saved and restored: a
//! guard against regressions that noise cannot fool.
//!
//! `cargo bench -p granule-instructions` needs only valgrind: the runner of a package for this took as long to install
//! as the engine's tests take to build. `-- packed gas` counts these cases alone. A case fails if its count exceeds its
//! limit, which is 3 % above the committed figure. `.ci/run` runs the counts. The figures are those of the plain build,
//! without flags, at AVX2: each case asks for that set, because valgrind does not know AVX-512. They change with the
//! compiler, and with every true improvement: then renew the figures below.

use granule::{BodyDesc, BodyHandle, BodyType, Isa, Settings, Shape, Vec2, World, scene};
use std::collections::VecDeque;
use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

/// What is done ten times.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Step,
    Save,
    Restore,
}

struct Case {
    name: &'static str,
    /// A built-in scene. `None` is a world of `bodies` circles that rest on a half-space, and without any it is empty.
    scene: Option<&'static str>,
    bodies: usize,
    /// The number of steps before those that are counted.
    warmup: usize,
    /// The number of static boxes beside a world that is no built-in scene.
    statics: usize,
    /// The number of bodies of this type that each step removes, and adds again where they were.
    replaced: usize,
    of_type: BodyType,
    work: Work,
    /// The committed count of instructions.
    instructions: u64,
    /// How far the count may be above that, in per cent.
    margin: u64,
}

const fn case(name: &'static str, bodies: usize, warmup: usize, instructions: u64) -> Case {
    let (scene, work) = (Some(name), Work::Step);
    let of_type = BodyType::Dynamic;
    Case { name, scene, bodies, warmup, statics: 0, replaced: 0, of_type, work, instructions, margin: MARGIN }
}

const CASES: [Case; 22] = [
    case("packed", 2000, 120, 19_870_323),
    Case { scene: Some("packed"), ..case("packed_10k", 10_000, 120, 98_004_261) },
    Case { scene: Some("packed"), work: Work::Save, ..case("save", 10_000, 120, 76_200_959) },
    Case { scene: Some("packed"), work: Work::Restore, ..case("restore", 10_000, 120, 297_060_775) },
    Case { scene: Some("mixed_shapes"), work: Work::Save, ..case("save_mixed", 500, 120, 11_985_819) },
    Case { scene: Some("mixed_shapes"), work: Work::Restore, ..case("restore_mixed", 500, 120, 36_687_341) },
    // With the pairs that the last step finds ahead (`world/ahead.rs`).
    case("collapsing", 2000, 30, 11_322_556),
    case("pyramid", 2000, 120, 19_505_555),
    case("gas", 2000, 30, 8_961_393),
    case("large_pyramid", 1275, 60, 30_154_706),
    case("mixed_shapes", 500, 120, 14_973_171),
    case("cloth", 2500, 60, 80_162_323),
    case("soft_boxes", 400, 120, 63_650_505),
    case("joint_grid", 900, 60, 9_611_176),
    // All bodies are in motion, with a new list in most steps.
    case("tumbler", 500, 60, 15_167_281),
    Case { scene: Some("packed"), replaced: 5, ..case("churn", 1000, 60, 18_104_253) },
    // One of 1,500 pegs is replaced in each step.
    Case {
        scene: Some("galton"),
        replaced: 1,
        of_type: BodyType::Static,
        ..case("pegs", 4000, 60, 69_161_960)
    },
    Case { scene: Some("large_pyramid"), ..case("small", 10, 60, 596_245) },
    // What a step costs at least. So little is done that the C library's clock and `memmove` count, which differ from machine to
    // machine.
    Case { scene: None, margin: 10, ..case("empty", 0, 60, 50_205) },
    // As `one`, in a level of static boxes, which are left alone; and with one of them replaced in each step.
    Case { scene: None, statics: 5_000, margin: 5, ..case("one_of_many", 1, 60, 177_145) },
    Case {
        scene: None,
        statics: 5_000,
        replaced: 1,
        of_type: BodyType::Static,
        ..case("tiles", 1, 60, 9_517_360)
    },
    Case { scene: None, margin: 5, ..case("one", 1, 60, 125_345) },
];

/// The margin of a case in which there is something to do.
const MARGIN: u64 = 3;

/// The argument that gives this program its case when it runs under callgrind.
const UNDER_CALLGRIND: &str = "--under-callgrind";

/// What is counted: callgrind collects while a function of this name runs.
#[inline(never)]
fn ten_times(
    case: &Case,
    world: &mut World,
    bodies: &mut VecDeque<(BodyHandle, BodyDesc)>,
    snapshot: &mut Vec<u8>,
) {
    for _ in 0..10 {
        match case.work {
            Work::Step => step(world, bodies, case.replaced),
            Work::Save => world.save(snapshot),
            Work::Restore => world.restore(snapshot).expect("its own snapshot"),
        }
    }
}

fn step(world: &mut World, bodies: &mut VecDeque<(BodyHandle, BodyDesc)>, replaced: usize) {
    for _ in 0..replaced {
        let (oldest, desc) = bodies.pop_front().expect("more bodies than are replaced");
        let at = world.body(oldest).expect("it is there").position;
        world.remove_body(oldest).expect("it is there");
        let desc = BodyDesc { position: at, ..desc };
        bodies.push_back((world.add_body(&desc).expect("as before"), desc));
    }
    world.step();
}

/// The world in which a case begins, and its bodies.
fn start(case: &Case) -> (World, Vec<BodyDesc>) {
    const ISA: Isa = Isa::Avx2;
    if let Some(name) = case.scene {
        let mut scene = scene::builtin(name, case.bodies, 1).unwrap();
        scene.settings.isa = ISA;
        return (scene.build().unwrap(), scene.bodies);
    }
    let ground = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
    let circle = |place: usize| BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(2.0 * place as f32, 0.5));
    // Those that are replaced come first.
    let tile = |place: usize| {
        let at = Vec2::new(1.1 * (place % 500) as f32, 9.0 + 3.0 * (place / 500) as f32);
        BodyDesc::fixed(Shape::oriented_box(0.5, 0.5), at)
    };
    let grounds = usize::from(case.bodies > 0);
    let bodies: Vec<_> = (0..case.statics)
        .map(tile)
        .chain([ground].into_iter().take(grounds))
        .chain((0..case.bodies).map(circle))
        .collect();
    let mut world = World::new(Settings { isa: ISA, sleep: false, ..Settings::default() }).unwrap();
    world.add_bodies(&bodies).unwrap();
    (world, bodies)
}

fn run(case: &Case) {
    let (mut world, descs) = start(case);
    let all: Vec<_> = world.handles().collect();
    let mut bodies: VecDeque<_> =
        all.into_iter().zip(descs).filter(|(_, desc)| desc.body_type == case.of_type).collect();
    for _ in 0..case.warmup {
        step(&mut world, &mut bodies, case.replaced);
    }
    let mut snapshot = Vec::new();
    if case.work != Work::Step {
        // The buffer and the world aside get their memory.
        world.save(&mut snapshot);
        (0..2).for_each(|_| world.restore(&snapshot).expect("its own snapshot"));
    }
    ten_times(case, black_box(&mut world), &mut bodies, &mut snapshot);
    black_box(world);
}

/// Runs this program again under callgrind. Returns the count that callgrind collected.
fn count(case: &Case) -> Result<u64, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        // From level 1 on, callgrind 3.19 translates the solver wrongly: a scene explodes that does not explode without
        // callgrind.
        .args(["--tool=callgrind", "--vex-iropt-level=0"])
        .args(["--callgrind-out-file=/dev/null", "--toggle-collect=*ten_times*"])
        .arg(program)
        .args([UNDER_CALLGRIND, case.name])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}: {said}", output.status));
    }
    let collected = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    // A count of nothing means that the name was not found, not that a step is fast.
    collected.filter(|&count| count > 0).ok_or_else(|| format!("no count: {said}"))
}

/// Counts a case and prints how it compares with its figure. Returns true if it is within its limit.
fn check(case: &Case) -> bool {
    match count(case) {
        Ok(count) => {
            let change = 100.0 * (count as f64 / case.instructions as f64 - 1.0);
            let within = count <= case.instructions + case.instructions * case.margin / 100;
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
    // Cargo adds `--bench` to the arguments.
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
