//! A run record as a table for people.

use super::style::Style;
use granule_command::report::RunRecord;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Returns the summary. `filed` is the path of the record's file.
pub fn text(record: &RunRecord, filed: Option<&Path>) -> String {
    let mut table = Table { text: String::new(), style: Style::of(&io::stdout()) };
    setting(&mut table, record);
    times(&mut table, record);
    state(&mut table, record);
    if let Some(path) = filed {
        let page = path.with_file_name("index.html");
        table.row("record", &path.display().to_string());
        table.row("page", &page.display().to_string());
    }
    table.text
}

struct Table {
    text: String,
    style: Style,
}

impl Table {
    fn row(&mut self, name: &str, value: &str) {
        let name = self.style.dim(&format!("{name:14}"));
        let _ = writeln!(self.text, "{name}{value}");
    }

    fn gap(&mut self) {
        self.text.push('\n');
    }
}

fn setting(table: &mut Table, r: &RunRecord) {
    let scene = table.style.bold(&r.scene);
    table.row("scene", &format!("{scene}: {} moving bodies, {} static", r.bodies, r.static_bodies));
    if r.particles > 0 {
        let links =
            format!("{} particles, {} links, link iterations {}", r.particles, r.links, r.link_iterations);
        table.row("", &links);
    }
    if r.joints > 0 {
        table.row("", &format!("{} joints", r.joints));
    }
    table.row("solver", &format!("{}, substeps {}, iterations {}", r.solver, r.substeps, r.iterations));
    table.row("run on", &format!("threads {}, lanes {}, {}", r.threads, r.lanes, r.isa));
    table.row("steps", &format!("{} after {} of warm-up", r.steps, r.warmup));
    table.gap();
}

fn times(table: &mut Table, r: &RunRecord) {
    let step = r.step_ms;
    let p50 = table.style.bold(&format!("{:.3}", step.p50));
    table.row(
        "step, ms",
        &format!("p50 {p50}   p95 {:.3}   p99 {:.3}   max {:.3}", step.p95, step.p99, step.max),
    );
    table.row("", &format!("{:.1} ns per body and step (mean)", r.ns_per_body_step));
    let share = |ms: f64| if step.mean > 0.0 { 100.0 * ms / step.mean } else { 0.0 };
    let named = r.phases_ms.named();
    let rest = (step.mean - named.iter().map(|(_, ms)| ms).sum::<f64>()).max(0.0);
    for (name, ms) in named.into_iter().chain([("the rest", rest)]) {
        table.row(&format!("  {name}"), &format!("{ms:>9.3} ms {:>6.1} %", share(ms)));
    }
    table.gap();
}

fn state(table: &mut Table, r: &RunRecord) {
    let quality = r.quality;
    let [px, py] = quality.momentum;
    table.row("contacts", &format!("{} ({} pairs)", r.contacts, r.pairs));
    if r.sleep {
        table.row("sleep", &format!("{} awake, {} islands", r.awake_bodies, r.islands));
    }
    let (mean, max) = (quality.mean_penetration, quality.max_penetration);
    table.row("penetration", &format!("mean {mean:.5} m, max {max:.5} m"));
    if r.links > 0 {
        let (mean, max) = (100.0 * quality.mean_stretch, 100.0 * quality.max_stretch);
        table.row("stretch", &format!("mean {mean:.3} %, max {max:.3} %"));
    }
    table.row(
        "energy",
        &format!("{:.6e} J kinetic, momentum ({px:.4e}, {py:.4e}) kg m/s", quality.kinetic_energy),
    );
    table.row("quarantined", &r.quarantined.to_string());
    table.row("memory", &format!("{:.1} MiB at most", r.peak_rss_bytes as f64 / 1_048_576.0));
    table.row("allocations", &format!("{:.2} per step", r.allocations_per_step));
    table.row("state hash", &r.state_hash);
}
