//! The record of a run (JSON) and its page (Markdown).

use crate::engine::Engine;
use crate::joints::{AT_LEAST, JointRun};
use crate::measure::{CONTACT_DISTANCE, Quality};
use crate::scenes::SETTLED;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// One engine in one scene with one setting.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Row of the comparison.
    pub case: String,
    /// Name of the built-in scene.
    pub scene: String,
    /// Moving bodies.
    pub bodies: usize,
    /// The others.
    pub static_bodies: usize,
    /// Which engine.
    pub engine: Engine,
    /// Threads that may work on a step.
    pub threads: usize,
    /// Steps before the measurement.
    pub warmup: usize,
    /// Measured steps.
    pub steps: usize,
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
    /// Median time of a step; the median over the repeats where there are several.
    pub p50_ms: f64,
    /// 95th percentile of a step; the median over the repeats.
    pub p95_ms: f64,
    /// The fastest step, which a busy machine disturbs least.
    pub min_ms: f64,
    /// The median of each repeat.
    pub p50_ms_of_repeats: Vec<f64>,
    /// `p50_ms` over the moving bodies, in nanoseconds.
    pub ns_per_body_step: f64,
    /// Of the final state.
    pub quality: Quality,
    /// Root of the mean squared speed over the ends of all turns, m/s: a pile swings, and its speed at the end
    /// is that of one moment.
    pub rms_speed_over_turns: f64,
    /// Mean over the turns of the deepest penetration at the end of each, m.
    pub max_penetration_over_turns: f64,
    /// What the RMS speed would be if nothing were lost or gained, where nothing may be, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conserved_rms_speed: Option<f64>,
    /// Of the process that ran this alone, before the quality was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
}

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
    granule: &'static str,
    box2d: String,
    box2d_assertions: bool,
    rapier: &'static str,
    unix_time: u64,
}

impl Run {
    /// How bad an RMS speed is: a pile should be at rest, an elastic gas as fast as it was.
    fn unrest(&self, rms_speed: f64) -> f64 {
        self.conserved_rms_speed.map_or(rms_speed, |conserved| (rms_speed - conserved).abs())
    }
}

impl Origin {
    /// Asks the system, the repository and the build.
    ///
    /// `box2d_assertions`: whether Box2D was built with them.
    pub fn new(arguments: &[String], box2d_assertions: bool) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cpu_info = read("/proc/cpuinfo");
        let cpu = cpu_info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let mut command = "cd benches/peers && cargo run --release".to_owned();
        if !arguments.is_empty() {
            write!(command, " -- {}", arguments.join(" ")).expect("writing to a string");
        }
        Origin {
            command,
            commit: commit(),
            cpu: cpu.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease")).trim().to_owned(),
            rustc: env!("PEERS_RUSTC"),
            rustflags: env!("PEERS_RUSTFLAGS"),
            cflags: env!("PEERS_CFLAGS"),
            profile: env!("PEERS_PROFILE"),
            granule: env!("PEERS_GRANULE_VERSION"),
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

    fn markdown(&self) -> String {
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

/// What `--scenes` asks of Granule in a case: the least ratio and the one aimed at.
pub type Goal = (String, f64, f64);

/// A page of one mode.
#[derive(Serialize)]
pub struct Report {
    schema: &'static str,
    origin: Origin,
    runs: Vec<Run>,
    /// Of the joint grid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    joints: Vec<JointRun>,
    #[serde(skip)]
    body: String,
    #[serde(skip)]
    title: &'static str,
}

impl Report {
    /// The comparison of the engines.
    pub fn comparison(origin: Origin, runs: Vec<Run>, joints: Vec<JointRun>, goals: &[Goal]) -> Self {
        let bodies = if runs.is_empty() {
            String::new()
        } else {
            format!("{}{}{}", ratios(&runs, goals), scaling(&runs), details(&runs))
        };
        let body = format!("{bodies}{}", joint_grid(&joints));
        Report {
            schema: "granule.peers/1",
            origin,
            runs,
            joints,
            body,
            title: "Granule next to Box2D and Rapier",
        }
    }

    /// Time against penetration for settings of Granule.
    pub fn quality(origin: Origin, runs: Vec<Run>) -> Self {
        let body = settings(&runs);
        Report {
            schema: "granule.peers-quality/1",
            origin,
            runs,
            joints: Vec::new(),
            body,
            title: "Time against penetration",
        }
    }

    /// States in motion at several substeps.
    pub fn convergence(origin: Origin, runs: Vec<Run>) -> Self {
        let body = substeps(&runs);
        Report {
            schema: "granule.peers-convergence/1",
            origin,
            runs,
            joints: Vec::new(),
            body,
            title: "What more substeps tend to",
        }
    }

    /// Cost per body at several sizes.
    pub fn flatness(origin: Origin, runs: Vec<Run>) -> Self {
        let body = sizes(&runs);
        Report {
            schema: "granule.peers-flatness/1",
            origin,
            runs,
            joints: Vec::new(),
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

/// A Markdown table, padded so that it reads well as text too; all columns but the first are numbers.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].chars().count(), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::from("|");
        for (column, cell) in cells.enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            text += &if column == 0 { format!(" {cell}{pad} |") } else { format!(" {pad}{cell} |") };
        }
        text + "\n"
    };
    let rule = |column: usize| {
        if column == 0 { "-".repeat(widths[column]) } else { "-".repeat(widths[column] - 1) + ":" }
    };
    let rules: Vec<String> = (0..head.len()).map(rule).collect();
    let mut text = line(&mut head.iter().copied()) + &line(&mut rules.iter().map(String::as_str));
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text + "\n"
}

fn ms(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.1}") }
}

fn depth(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.5}") }
}

fn times(value: f64) -> String {
    format!("{value:.2}×")
}

fn cell(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}

fn yes(value: Option<bool>) -> String {
    cell(value.map(|yes| if yes { "yes" } else { "no" }.to_owned()))
}

/// The values of `key` in the order in which they first occur.
fn distinct<'a, K: PartialEq>(runs: &'a [Run], key: impl Fn(&'a Run) -> K) -> Vec<K> {
    let mut keys = Vec::new();
    for run in runs {
        let key = key(run);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn find<'a>(runs: &'a [Run], case: &str, threads: usize, engine: Engine) -> Option<&'a Run> {
    runs.iter().find(|run| run.case == case && run.threads == threads && run.engine == engine)
}

/// Granule against the faster peer, and its final state against the peers' final states.
fn ratios(runs: &[Run], goals: &[Goal]) -> String {
    let mut rows = Vec::new();
    for case in distinct(runs, |run| run.case.clone()) {
        for threads in distinct(runs, |run| run.threads) {
            let Some(own) = find(runs, &case, threads, Engine::Granule) else { continue };
            let peers: Vec<&Run> = [Engine::Box2d, Engine::Rapier]
                .iter()
                .filter_map(|&e| find(runs, &case, threads, e))
                .collect();
            let Some(faster) = peers.iter().min_by(|a, b| a.p50_ms.total_cmp(&b.p50_ms)) else { continue };
            let fastest = peers.iter().map(|run| run.min_ms).fold(f64::INFINITY, f64::min);
            let ratio = faster.p50_ms / own.p50_ms;
            // Transients depend on the order of contacts, states at rest do not.
            let settled = own.warmup >= SETTLED.warmup && peers.iter().any(|run| run.engine == Engine::Box2d);
            let judges = || peers.iter().filter(|run| !settled || run.engine == Engine::Box2d);
            let worst = |of: fn(&Quality) -> f64| judges().map(|run| of(&run.quality)).fold(0.0, f64::max);
            let no_worse = |of: fn(&Quality) -> f64| of(&own.quality) <= worst(of);
            let over_turns = |run: &Run| run.max_penetration_over_turns;
            let no_deeper = over_turns(own) <= judges().map(|run| over_turns(run)).fold(0.0, f64::max);
            let calmer = |of: fn(&Run) -> f64| {
                own.unrest(of(own)) <= judges().map(|run| run.unrest(of(run))).fold(0.0, f64::max)
            };
            let goal = goals.iter().find(|(name, ..)| *name == case);
            rows.push(vec![
                case.clone(),
                own.bodies.to_string(),
                threads.to_string(),
                ms(own.p50_ms),
                format!("{} {}", faster.engine.name(), ms(faster.p50_ms)),
                times(ratio),
                times(fastest / own.min_ms),
                cell(goal.map(|(_, least, _)| format!("{least:.0}×"))),
                cell(goal.map(|(_, _, aim)| format!("{aim:.0}×"))),
                yes(goal.map(|(_, least, _)| ratio >= *least)),
                yes(Some(no_worse(|q| q.mean_penetration))),
                yes(Some(no_worse(|q| q.max_penetration))),
                yes(Some(no_deeper)),
                yes(Some(calmer(|run| run.quality.rms_speed))),
                yes(Some(calmer(|run| run.rms_speed_over_turns))),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "case",
        "bodies",
        "threads",
        "Granule p50 ms",
        "faster peer p50 ms",
        "ratio",
        "of best steps",
        "at least",
        "aim",
        "reached",
        "mean pen. ok",
        "max pen. ok",
        "over turns ok",
        "RMS speed ok",
        "over turns ok",
    ];
    "## Granule against the faster peer\n\nThe ratio is the faster peer's median over Granule's, that of the best \
     steps is between the fastest step of either. A quality is ok when it is no worse than the worse peer's, after \
     600 unmeasured steps when it is no worse than Box2D's. An RMS speed that nothing may change (`gas`) is the better the \
     nearer it is to that of the start; `washer` and `tumbler` are driven for ever, and theirs is that over the turns.\n\n"
        .to_owned()
        + &table(&head, &rows)
}

/// What more threads gain in each engine.
fn scaling(runs: &[Run]) -> String {
    let threads = distinct(runs, |run| run.threads);
    let (Some(&base), true) = (threads.first(), threads.len() > 1) else { return String::new() };
    let engines = distinct(runs, |run| run.engine);
    let mut head = vec!["case".to_owned()];
    for &more in &threads[1..] {
        head.extend(engines.iter().map(|engine| format!("{} {base}→{more}", engine.name())));
    }
    let mut rows = Vec::new();
    for case in distinct(runs, |run| run.case.clone()) {
        let mut row = vec![case.clone()];
        for &more in &threads[1..] {
            for &engine in &engines {
                let pair = find(runs, &case, base, engine).zip(find(runs, &case, more, engine));
                row.push(cell(pair.map(|(one, many)| times(one.p50_ms / many.p50_ms))));
            }
        }
        rows.push(row);
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    format!("## Speed-up by threads\n\n{}", table(&head, &rows))
}

/// Every run.
fn details(runs: &[Run]) -> String {
    let row = |run: &Run| {
        let own = find(runs, &run.case, run.threads, Engine::Granule);
        vec![
            run.case.clone(),
            run.bodies.to_string(),
            run.threads.to_string(),
            run.engine.name().to_owned(),
            ms(run.p50_ms),
            ms(run.p95_ms),
            ms(run.min_ms),
            format!("{:.0}", run.ns_per_body_step),
            cell(own.map(|own| times(run.p50_ms / own.p50_ms))),
            run.quality.contacts.to_string(),
            depth(run.quality.mean_penetration),
            depth(run.quality.max_penetration),
            depth(run.max_penetration_over_turns),
            format!("{:.4}", run.quality.rms_speed),
            format!("{:.4}", run.rms_speed_over_turns),
            run.quality.lost.to_string(),
        ]
    };
    let head = [
        "case",
        "bodies",
        "threads",
        "engine",
        "p50 ms",
        "p95 ms",
        "best ms",
        "ns/body/step",
        "to Granule",
        "contacts",
        "mean pen. m",
        "max pen. m",
        "over turns",
        "RMS speed m/s",
        "over turns",
        "lost",
    ];
    format!("## Every run\n\n{}{}", table(&head, &runs.iter().map(row).collect::<Vec<_>>()), legend())
}

/// The joint grid, where it was run.
fn joint_grid(runs: &[JointRun]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let row = |run: &JointRun| {
        let of = |engine| runs.iter().find(|other| other.threads == run.threads && other.engine == engine);
        let box2d = of(Engine::Box2d).filter(|_| run.engine == Engine::Granule);
        let no_worse = |box2d: &JointRun| run.mean_stretch <= box2d.mean_stretch;
        vec![
            run.engine.name().to_owned(),
            run.threads.to_string(),
            run.substeps.to_string(),
            cell(run.link_iterations.map(|iterations| iterations.to_string())),
            ms(run.p50_ms),
            ms(run.p95_ms),
            ms(run.min_ms),
            format!("{:.6}", run.mean_stretch),
            format!("{:.6}", run.max_stretch),
            cell(box2d.map(|box2d| times(box2d.p50_ms / run.p50_ms))),
            yes(box2d.map(|box2d| box2d.p50_ms >= AT_LEAST * run.p50_ms && no_worse(box2d))),
            yes(box2d.map(no_worse)),
        ]
    };
    let head = [
        "engine",
        "threads",
        "substeps",
        "link iterations",
        "p50 ms",
        "p95 ms",
        "best ms",
        "mean stretch",
        "max stretch",
        "ratio",
        "reached",
        "mean stretch ok",
    ];
    format!(
        "\n## `{}`\n\n{} circles that touch nothing, joined to their neighbours in a grid that hangs from the middle \
         of its top row: {} revolute joints in Box2D, as many links between particles in Granule. The stretch, after \
         {} + {} steps, is the distance of a joint's two anchors over the 1 m between the circles, or a link's error \
         over its length. The goal is {AT_LEAST:.0}× at no larger a mean stretch.\n\n{}",
        crate::joints::NAME,
        first.bodies,
        first.joints,
        first.warmup,
        first.steps,
        table(&head, &runs.iter().map(row).collect::<Vec<_>>())
    )
}

fn legend() -> String {
    format!(
        "All engines: the same bodies, steps of 1/60 s with 4 substeps unless stated, sleeping and continuous \
         collision off, friction by geometric mean, restitution by max. Times are per step. Quality is that of the \
         state after the last measured step, by the same code for all: contacts are pairs less than \
         {CONTACT_DISTANCE} m apart, the mean penetration is over the pairs that overlap, lost bodies have a \
         position or velocity that is not finite. RMS speed over turns is that of the ends of all turns \
         (`--turns`) together: a pile swings for hundreds of steps, and its speed at the end is that of one \
         moment. The deepest penetration over turns is the mean over those ends: of a gas, that of one \
         moment is chance.\n"
    )
}

/// Every engine at several substeps.
fn substeps(runs: &[Run]) -> String {
    let mut text = String::from(
        "What a state in motion is like depends on the substeps. An engine whose figures still change with more was not \
         there yet with few.\n\n",
    );
    for (case, threads) in distinct(runs, |run| (run.case.clone(), run.threads)) {
        let here: Vec<&Run> = runs.iter().filter(|run| run.case == case && run.threads == threads).collect();
        let first = here[0];
        let row = |run: &&Run| {
            vec![
                run.engine.name().to_owned(),
                run.substeps.to_string(),
                ms(run.p50_ms),
                depth(run.quality.mean_penetration),
                depth(run.quality.max_penetration),
                format!("{:.4}", run.quality.rms_speed),
                format!("{:.4}", run.rms_speed_over_turns),
                run.quality.contacts.to_string(),
            ]
        };
        let head = [
            "engine",
            "substeps",
            "p50 ms",
            "mean pen. m",
            "max pen. m",
            "RMS speed m/s",
            "over turns",
            "contacts",
        ];
        let rows: Vec<Vec<String>> = here.iter().map(row).collect();
        let steps = first.warmup + first.steps;
        let heading = format!("## `{case}`, {} bodies, after {steps} steps, {threads} threads", first.bodies);
        text += &format!("{heading}\n\n{}", table(&head, &rows));
    }
    text + &legend()
}

/// Granule's settings next to Box2D.
fn settings(runs: &[Run]) -> String {
    let mut text = String::new();
    for (case, threads) in distinct(runs, |run| (run.case.as_str(), run.threads)) {
        let here: Vec<&Run> =
            runs.iter().filter(|run| (run.case.as_str(), run.threads) == (case, threads)).collect();
        let box2d = here.iter().find(|run| run.engine == Engine::Box2d);
        let soft = |run: &Run, value: Option<f32>| match value {
            _ if run.engine != Engine::Granule || run.solver != "soft" => "–".to_owned(),
            Some(value) => format!("{value:.3}"),
            None => "default".to_owned(),
        };
        let row = |run: &&Run| {
            let own = run.engine == Engine::Granule;
            let less = |of: fn(&Run) -> f64| {
                cell(box2d.map(|box2d| of(box2d) / of(run)).filter(|ratio| ratio.is_finite()).map(times))
            };
            vec![
                run.engine.name().to_owned(),
                if own { run.solver.clone() } else { "–".to_owned() },
                run.substeps.to_string(),
                if own { run.iterations.to_string() } else { "–".to_owned() },
                soft(run, run.contact_frequency_ratio),
                soft(run, run.damping_ratio),
                ms(run.p50_ms),
                ms(run.p95_ms),
                less(|run| run.p50_ms),
                depth(run.quality.mean_penetration),
                less(|run| run.quality.mean_penetration),
                depth(run.quality.max_penetration),
                less(|run| run.quality.max_penetration),
                format!("{:.4}", run.quality.rms_speed),
                less(|run| run.quality.rms_speed),
                run.quality.contacts.to_string(),
            ]
        };
        let head = [
            "engine",
            "solver",
            "substeps",
            "iterations",
            "frequency",
            "damping",
            "p50 ms",
            "p95 ms",
            "faster",
            "mean pen. m",
            "shallower",
            "max pen. m",
            "shallower",
            "RMS speed m/s",
            "slower",
            "contacts",
        ];
        let rows: Vec<Vec<String>> = here.iter().map(row).collect();
        let first = here[0];
        write!(
            text,
            "## `{case}`, {} bodies, after {} + {} steps, {threads} thread{}\n\n`faster`, `shallower` and `slower` (the \
             bodies) are Box2D's figure over the row's; `frequency` is that of the soft contact by the substep rate, \
             `damping` its damping ratio (contacts that turn nobody take twice as much).\n\n{}",
            first.bodies,
            first.warmup,
            first.steps,
            if threads == 1 { "" } else { "s" },
            table(&head, &rows)
        )
        .expect("writing to a string");
    }
    text + &legend()
}

/// Cost per body and peak memory.
fn sizes(runs: &[Run]) -> String {
    let row = |run: &Run| {
        let smallest = runs.iter().find(|other| other.engine == run.engine && other.threads == run.threads);
        vec![
            run.engine.name().to_owned(),
            run.threads.to_string(),
            run.bodies.to_string(),
            ms(run.p50_ms),
            ms(run.p95_ms),
            format!("{:.1}", run.ns_per_body_step),
            cell(smallest.map(|small| times(run.ns_per_body_step / small.ns_per_body_step))),
            cell(run.peak_rss_bytes.map(|bytes| format!("{:.1}", bytes as f64 / (1 << 20) as f64))),
            cell(run.peak_rss_bytes.map(|bytes| format!("{:.0}", bytes as f64 / run.bodies as f64))),
            run.quality.contacts.to_string(),
            depth(run.quality.mean_penetration),
            depth(run.quality.max_penetration),
        ]
    };
    let head = [
        "engine",
        "threads",
        "bodies",
        "p50 ms",
        "p95 ms",
        "ns/body/step",
        "to the smallest",
        "peak RSS MiB",
        "bytes/body",
        "contacts",
        "mean pen. m",
        "max pen. m",
    ];
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    format!(
        "## `packed` circles\n\nEach size in a process of its own.\n\n{}{}",
        table(&head, &rows),
        legend()
    )
}
