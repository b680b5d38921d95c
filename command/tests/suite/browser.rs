//! The page of a directory of records, in a browser: every chart is drawn with the right series and points, nothing is
//! loaded, and nothing is complained of. Without a chromium to be found, these tests say so, and pass.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tempfile::TempDir;

const STAGES: [&str; 6] = ["bounds", "broadphase", "narrowphase", "contacts", "solver", "islands"];
/// A name that would be markup, or the end of the data, if it were not escaped.
const HOSTILE: &str = "</script><b onclick=\"x\">&amp;";

/// The browser, by the names that it goes by.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: there is no chromium to look at the page with");
    }
    found
}

fn granule(dir: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_granule")).args(arguments).current_dir(dir).output();
    output.expect("the command starts")
}

/// A page as the browser has it.
struct Loaded {
    dom: String,
}

impl Loaded {
    /// Opens `index.html` in `dir`; there must be no word on the console.
    fn new(browser: &Path, dir: &Path, query: &str) -> Loaded {
        // One at a time: they are measured.
        static BUSY: Mutex<()> = Mutex::new(());
        let _busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = dir.join("profile");
        let address = format!("file://{}?{query}", dir.join("index.html").display());
        let output = Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--window-size=1280,1000",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-dev-shm-usage",
            ])
            .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--v=0", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(address)
            .output()
            .expect("the browser starts");
        let log = String::from_utf8_lossy(&output.stderr);
        let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(console.is_empty(), "{console:?}");
        let dom = String::from_utf8(output.stdout).expect("the document is UTF-8");
        assert!(dom.ends_with("</html>\n"), "{log}");
        Loaded { dom }
    }

    /// An attribute of the first element whose tag starts as given.
    fn attribute(&self, tag: &str, name: &str) -> &str {
        let start = self.dom.find(tag).unwrap_or_else(|| panic!("there is no {tag}"));
        let tag = &self.dom[start..];
        let tag = &tag[..tag.find('>').expect("the tag's end")];
        let value = tag.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("no {name} in {tag}")).1;
        &value[..value.find('"').expect("the attribute's end")]
    }

    /// The points of each series of a chart, which must all be seen: each has pixels of its colour.
    fn chart(&self, name: &str) -> Vec<usize> {
        let tag = format!("<figure id=\"chart-{name}\"");
        assert_eq!(self.attribute(&tag, "data-drawn"), "true", "{name}");
        let numbers = |attribute| -> Vec<usize> {
            let numbers = self.attribute(&tag, attribute).split(',');
            numbers.map(|number| number.parse().expect("a number")).collect()
        };
        let points = numbers("data-points");
        assert_eq!(numbers("data-series"), [points.len()], "{name}");
        let ink = numbers("data-ink");
        assert!(ink.len() == points.len() && ink.iter().all(|&pixels| pixels > 20), "{name}: {ink:?}");
        points
    }

    /// The document itself loaded nothing, and no script failed.
    fn assert_quiet(&self) {
        assert_eq!(self.attribute("<html", "data-errors"), "0");
        assert_eq!(self.attribute("<html", "data-requests"), "0");
        assert!(!self.dom.contains(" src="), "something is loaded");
        for address in self.dom.split(" href=\"").skip(1) {
            assert!(!address.split('"').next().is_some_and(|address| address.contains(':')), "{address:.80}");
        }
    }
}

/// What differs between the records.
#[derive(Clone, Copy)]
struct Setup<'a> {
    scene: &'a str,
    bodies: usize,
    threads: usize,
    lanes: usize,
    commit: usize,
    /// Counts from 0: the order of the records in time.
    number: usize,
    /// How many times the usual time it takes.
    slower: f64,
}

/// The times of the steps: around a time that follows from the setup, a few in a hundred five times as long.
fn steps(setup: Setup, steps: usize) -> Vec<f64> {
    // No two scenes gain the same by threads and lanes: lines that lie on one another can't be told apart.
    let scene = match setup.scene {
        "pile" => 0.0,
        "packed" => 0.1,
        _ => 0.2,
    };
    let gain = (setup.threads as f64).powf(0.5 + scene) * (setup.lanes as f64).powf(0.3 + scene);
    let ideal = setup.bodies as f64 * 1e-4 * setup.slower / gain;
    let noise = |step: usize| 1.0 + 0.01 * ((step * 7 + setup.number * 3) % 13) as f64;
    let long = |step: usize| if step % 25 == 24 { 5.0 } else { 1.0 };
    (0..steps).map(|step| ideal * (1.0 + 3.0 * scene) * noise(step) * long(step)).collect()
}

fn record(setup: Setup, count: usize) -> Value {
    let Setup { scene, bodies, threads, lanes, commit, number, .. } = setup;
    let step = steps(setup, count);
    let mut sorted = step.clone();
    sorted.sort_by(f64::total_cmp);
    let mean = step.iter().sum::<f64>() / count as f64;
    let stage: Vec<f64> = step.iter().map(|ms| ms / 6.0).collect();
    let mut samples = json!({ "step": step });
    let mut phases = json!({});
    for name in STAGES {
        samples[name] = json!(stage);
        phases[name] = json!(mean / 6.0);
    }
    let at = |percent: usize| sorted[(count * percent / 100).min(count - 1)];
    json!({"schema": "granule.run/1", "scene": scene, "bodies": bodies, "static_bodies": 3, "particles": 0,
        "links": 0, "link_iterations": 8, "steps": count, "warmup": 10, "substeps": 4, "iterations": 1,
        "solver": "soft", "threads": threads, "lanes": lanes, "isa": "avx2", "seed": 1,
        "step_ms": {"mean": mean, "p50": at(50), "p95": at(95), "p99": at(99), "max": at(100)},
        "phases_ms": phases, "pairs": 9, "contacts": 5, "ns_per_body_step": 1e6 * mean / bodies as f64,
        "quality": {"mean_penetration": 0.001 * (1.0 + (bodies % 7) as f64), "max_penetration": 0.01,
            "kinetic_energy": 1.0, "momentum": [0.0, 0.0]},
        "quarantined": 0, "state_hash": "0123456789abcdef", "peak_rss_bytes": 0, "allocations_per_step": 0.0,
        "machine": {"cpu": "Example", "cores": 4, "os": "linux"}, "version": "0.1.0",
        "commit": format!("{commit:040x}"), "rustc": "rustc 1.95.0", "unix_time": 1_700_000_000 + 60 * number,
        "samples_ms": samples})
}

/// Three scenes over bodies, threads and lanes at commit 4, and before that, and last, one configuration with
/// five repeats at each of the commits 0 to 4; the last one is a fifth slower.
fn grid() -> Vec<Setup<'static>> {
    let repeated = |commit: usize| Setup {
        scene: "pile",
        bodies: 4000,
        threads: 2,
        lanes: 8,
        commit,
        number: 0,
        slower: if commit == 4 { 1.2 } else { 1.0 },
    };
    let mut setups: Vec<Setup> = (0..4).flat_map(|commit| [repeated(commit); 5]).collect();
    for scene in ["pile", "packed", HOSTILE] {
        let setup = Setup { scene, bodies: 16_000, slower: 1.0, ..repeated(4) };
        setups.extend([1000, 64_000].map(|bodies| Setup { bodies, ..setup }));
        setups.extend([1, 2, 4].map(|threads| Setup { threads, ..setup }));
        setups.extend([1, 4, 16].map(|lanes| Setup { lanes, ..setup }));
    }
    setups.extend([repeated(4); 5]);
    for (number, setup) in setups.iter_mut().enumerate() {
        setup.number = number;
    }
    setups
}

fn write_lines(dir: &Path, name: &str, records: impl Iterator<Item = Value>) {
    let lines: Vec<String> = records.map(|record| record.to_string()).collect();
    fs::write(dir.join(name), lines.join("\n")).expect("the records are written");
}

/// A comparison of two cases with two engines each, and one of quality with two solvers and a peer.
fn write_peers(dir: &Path) {
    let run = |case: &str, engine: &str, solver: &str, ms: f64| {
        json!({"case": case, "engine": engine, "bodies": 1000, "threads": 2, "substeps": 4, "iterations": 1,
            "solver": solver, "p50_ms": ms, "mean_ms": 1.5 * ms, "p99_ms": ms * ms, "quality": {"mean_penetration": 0.01 * ms}})
    };
    let cases = ["packed-1k", "gas-1k"];
    let runs = cases.map(|case| {
        ["granule", "box2d", "rapier"].map(|engine| run(case, engine, "soft", engine.len() as f64))
    });
    let peers = json!({"schema": "granule.peers/1", "origin": {"cpu": "Example"}, "runs": runs.concat()});
    fs::write(dir.join("peers.json"), peers.to_string()).expect("the comparison");
    let runs = [
        run("packed-1k", "granule", "soft", 0.1),
        run("packed-1k", "granule", "soft", 0.4),
        run("packed-1k", "granule", "projection", 0.2),
        run("packed-1k", "box2d", "soft", 3.0),
    ];
    let quality = json!({"schema": "granule.peers-quality/1", "runs": runs});
    fs::write(dir.join("peers-quality.json"), quality.to_string()).expect("the comparison of quality");
}

/// Three results of criterion's, and one that is broken.
fn write_criterion(dir: &Path) {
    for (name, estimates) in [
        ("solver/1000", r#"{"median":{"point_estimate":5000.0}}"#),
        ("solver/4000", r#"{"mean":{"point_estimate":21000.0}}"#),
        ("bounds/1000", r#"{"median":{"point_estimate":300.0}}"#),
        ("broken", "{"),
    ] {
        let new = dir.join("criterion").join(name).join("new");
        fs::create_dir_all(&new).expect("directories");
        fs::write(new.join("estimates.json"), estimates).expect("the estimates");
    }
}

/// The whole page from records of every kind: all nine charts with their series and points, the regression marked, bad
/// records named, no console message, no request.
#[test]
fn every_chart_is_drawn() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path();
    let setups = grid();
    write_lines(path, "runs.jsonl", setups.iter().map(|&setup| record(setup, 100)));
    fs::write(path.join("cut.json"), r#"{"schema":"granule.run/1","scene":"pi"#).expect("half a record");
    fs::write(path.join("newer.json"), r#"{"schema":"granule.run/2"}"#).expect("a newer record");
    write_peers(path);
    write_criterion(path);

    let run = granule(path, &["report", ".", "--criterion", "criterion"]);
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(out, format!("./index.html: {} records, 1 regression, 3 skipped\n", setups.len()), "{err}");
    assert_eq!(err.lines().count(), 3, "{err}");
    assert!(err.contains("cut.json: truncated") && err.contains("newer.json: of the newer schema"), "{err}");

    let page = Loaded::new(&browser, path, "check");
    page.assert_quiet();
    // The newest run, and the newest at the commit before.
    let bins = |setup: Setup| {
        let times = steps(setup, 100);
        times.iter().map(|ms| (16.0 * ms.log2()).floor() as i64).collect::<BTreeSet<i64>>().len()
    };
    let newest = setups[setups.len() - 1];
    assert_eq!(page.chart("distribution"), [bins(newest), bins(setups[19])]);
    assert_eq!(page.chart("stages"), [3; 6]);
    // Hostile, packed, pile; of the last there are 4,000 bodies, too.
    let mut flatness = page.chart("flatness");
    flatness.sort_unstable();
    assert_eq!(flatness, [3, 3, 4]);
    assert_eq!(page.chart("threads"), [3, 3, 3, 3], "three scenes, and the ideal");
    assert_eq!(page.chart("lanes"), [4, 4, 4]);
    let configurations = 3 * 8 + 1;
    assert_eq!(page.chart("penetration"), [configurations, 2, 1, 1]);
    assert_eq!(page.chart("history"), [5]);
    assert_eq!(page.chart("peers"), [2; 4], "two engines, the mean and the 99th percentile");
    let peers = page.attribute("<div class=\"plot\" role=\"img\" aria-label=\"packed-1k: ", "aria-label");
    // 7 for granule, 5 for box2d, 6 for rapier, and their squares.
    assert!(peers.contains("Box2D 0.714×, Rapier 0.857×, mean 0.714×, 99th percentile 0.51×"), "{peers}");
    assert_eq!(page.chart("criterion"), [3]);
    // A chart that is seen by nobody is told in words, and as a table.
    let history = page.attribute("<div class=\"plot\" role=\"img\" aria-label=\"pile: 5", "aria-label");
    assert!(history.contains("regression at 000000000"), "{history}");
    assert!(page.dom.contains("<td class=\"text\">regression</td>"));
    assert_eq!(page.dom.matches("<tr data-run=").count(), setups.len());
    assert!(page.dom.contains("href=\"runs.jsonl\""));
    assert!(!page.dom.contains("<b onclick"), "a name became markup");

    let page = Loaded::new(&browser, path, "check&scene=packed");
    page.assert_quiet();
    assert_eq!(page.chart("stages"), [3; 6], "one bar a size");
    // Of the lines over bodies, that of eight lanes and two threads has three points, the others the one size.
    assert_eq!(page.chart("flatness").iter().max(), Some(&3));
    assert_eq!(page.chart("lanes"), [4]);
    assert_eq!(page.attribute("<figure id=\"chart-history\"", "data-drawn"), "empty");
    let hidden = page.dom.matches("<tr data-run=").count() - page.dom.matches("\" hidden=\"\"><td").count();
    assert_eq!(hidden, 8, "the other scenes' rows are hidden");
}

/// An empty directory has a page that says so in every chart's place.
#[test]
fn empty_page() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = granule(dir.path(), &["report", "."]);
    assert_eq!(String::from_utf8_lossy(&run.stdout), "./index.html: 0 records, 0 regressions, 0 skipped\n");
    let page = Loaded::new(&browser, dir.path(), "check");
    page.assert_quiet();
    assert_eq!(page.dom.matches("data-drawn=\"empty\"").count(), 9);
}

/// A page of 1,000 records is loaded, and all of its charts are drawn, in less than a second; so is it written.
#[test]
fn thousand_records() {
    let Some(browser) = browser() else { return };
    let dir: TempDir = tempfile::tempdir().expect("a temporary directory");
    let setups = (0..1000).map(|number| Setup {
        scene: ["pile", "packed", "gas", "arch", "washer", "slope", "cloth", "ropes", "mixed", "bridge"]
            [number % 10],
        bodies: [1000, 4000, 16_000, 64_000, 256_000][number / 10 % 5],
        threads: 1 << (number / 50 % 2),
        lanes: 8,
        commit: number / 100,
        number,
        slower: 1.0,
    });
    write_lines(dir.path(), "runs.jsonl", setups.map(|setup| record(setup, 200)));
    let start = Instant::now();
    let run = granule(dir.path(), &["report", "."]);
    let written = start.elapsed().as_millis();
    assert_eq!(
        String::from_utf8_lossy(&run.stdout),
        "./index.html: 1000 records, 0 regressions, 0 skipped\n"
    );
    let size = fs::metadata(dir.path().join("index.html")).expect("the page").len();
    // As often as it takes: other tests share the machine.
    let load = || {
        let page = Loaded::new(&browser, dir.path(), "");
        page.assert_quiet();
        assert_eq!(page.attribute("<figure id=\"chart-history\"", "data-series"), "8");
        page.attribute("<html", "data-ready").parse::<u32>().expect("ms")
    };
    let mut ready = u32::MAX;
    for _ in 0..10 {
        ready = ready.min(load());
        if ready < 1000 {
            break;
        }
    }
    println!("1,000 records: written in {written} ms, {} KiB, loaded and drawn in {ready} ms", size / 1024);
    assert!(ready < 1000, "{ready} ms");
}

/// Without a browser: what `report` can't use is refused with one line and exit code 2, and nothing is written; a
/// file in the page's place that is no page stays as it is.
#[test]
fn refusals() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path();
    fs::create_dir(path.join("records")).expect("a directory");
    fs::write(path.join("mine.html"), "mine").expect("a file");
    fs::write(path.join("peers.json"), r#"{"schema":"granule.run/1"}"#).expect("a file");
    for (arguments, expected) in [
        (&["missing"][..], "missing: there is no directory of that name"),
        (&["mine.html"], "mine.html: there is no directory of that name"),
        (
            &["records", "--out", "mine.html"],
            "mine.html: not written: there is a file that is no page of granule's",
        ),
        (&["records", "--out", "no/page.html"], "--out no/page.html: there is no directory no"),
        (&["records", "--criterion", "none"], "--criterion none: no such file or directory"),
        (&["records", "--peers", "none"], "--peers none: no such file or directory"),
    ] {
        let run = granule(path, &[&["report"], arguments].concat());
        let error = String::from_utf8_lossy(&run.stderr);
        assert_eq!(
            (run.status.code(), &*error),
            (Some(2), &*format!("granule: {expected}\n")),
            "{arguments:?}"
        );
        assert!(run.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(path.join("mine.html")).expect("the file"), "mine");
    assert_eq!(fs::read_dir(path.join("records")).expect("a directory").count(), 0);

    // A comparison that is none is named, and the page made without it.
    let run = granule(path, &["report", "records", "--out", "page.html", "--peers", "peers.json"]);
    assert_eq!(String::from_utf8_lossy(&run.stdout), "page.html: 0 records, 0 regressions, 1 skipped\n");
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(error.starts_with("granule: skipped: peers.json: of the schema \"granule.run/1\""), "{error}");
}
