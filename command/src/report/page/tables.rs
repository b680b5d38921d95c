//! The tables of the page, and the names that it uses.

use super::escape;
use crate::report::history::{Config, Point, Verdict};
use crate::report::peers::Peers;
use crate::report::{Filed, RunRecord, Skipped};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path};

/// A column: its heading, whether it is text, and a function for its cell.
type Column = (&'static str, bool, fn(&RunRecord) -> String);

const COLUMNS: &[Column] = &[
    ("scene", true, |r| escape(&r.scene)),
    ("bodies", false, |r| (r.bodies + r.particles).to_string()),
    ("contacts", false, |r| r.contacts.to_string()),
    ("awake", false, |r| of_islands(r, r.awake_bodies)),
    ("islands", false, |r| of_islands(r, r.islands)),
    ("threads", false, |r| r.threads.to_string()),
    ("lanes", false, |r| r.lanes.to_string()),
    ("p50 ms", false, |r| format!("{:.3}", r.step_ms.p50)),
    ("p95 ms", false, |r| format!("{:.3}", r.step_ms.p95)),
    ("p99 ms", false, |r| format!("{:.3}", r.step_ms.p99)),
    ("max ms", false, |r| format!("{:.3}", r.step_ms.max)),
    ("ns per body", false, |r| format!("{:.1}", r.ns_per_body_step)),
    ("penetration mm", false, |r| format!("{:.2}", 1e3 * r.quality.mean_penetration)),
    ("settings", true, |r| escape(&label::settings(&Config::of(r)))),
    ("allocations", false, |r| format!("{:.1}", r.allocations_per_step)),
    ("state hash", true, |r| format!("<code>{}</code>", escape(&r.state_hash))),
    ("commit", true, |r| format!("<code>{}</code>", escape(&short(&r.commit)))),
    ("time (UTC)", true, |r| utc(r.unix_time)),
];

/// A number that older records do not have: with neither awake bodies nor islands there is none.
fn of_islands(record: &RunRecord, number: usize) -> String {
    if record.awake_bodies + record.islands > 0 { number.to_string() } else { String::new() }
}

/// The names of things on the page.
pub(super) mod label {
    use super::Config;

    /// Processor, cores and system.
    pub(in super::super) fn machine((cpu, cores, os): &(String, usize, String)) -> String {
        format!("{cpu}, {cores} core{}, {os}", if *cores == 1 { "" } else { "s" })
    }

    /// The rest of a configuration, besides scene, bodies, threads and lanes.
    pub(in super::super) fn settings(config: &Config) -> String {
        let Config { solver, iterations: [substeps, iterations, links], steps, seed, isa, .. } = config;
        let links = if *links > 0 { format!(" × {links} links") } else { String::new() };
        let [warmup, steps] = steps;
        let sleep = if config.sleep { ", sleep" } else { "" };
        let discrete = if config.discrete { ", continuous off" } else { "" };
        format!(
            "{solver} {substeps} × {iterations}{links}{sleep}{discrete}, {isa}, {warmup} + {steps} steps, seed {seed}"
        )
    }
}

/// The start of a commit's hash. A `+` says that the sources differed from the commit.
pub(super) fn short(commit: &str) -> String {
    let hash: String = commit.chars().take_while(|c| *c != '-').take(9).collect();
    if commit.ends_with("-dirty") { format!("{hash}+") } else { hash }
}

fn heading(html: &mut String, id: &str, title: &str, note: &str) {
    let _ = write!(html, "<section id=\"{id}\"><h2>{title}</h2>\n<p>{note}</p>\n");
}

fn table(html: &mut String, label: &str, columns: &[(&str, bool)]) {
    let _ = write!(
        html,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table>\n<thead><tr>"
    );
    for (heading, text) in columns {
        let _ = write!(html, "<th scope=\"col\"{}>{heading}</th>", class(*text));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
}

fn row(html: &mut String, columns: &[(&str, bool)], cells: &[String]) {
    html.push_str("<tr>");
    for ((_, text), cell) in columns.iter().zip(cells) {
        let _ = write!(html, "<td{}>{cell}</td>", class(*text));
    }
    html.push_str("</tr>\n");
}

const END: &str = "</tbody></table></div>\n";

fn class(text: bool) -> &'static str {
    if text { " class=\"text\"" } else { "" }
}

/// Writes the commits that are marked, newest first.
pub(super) fn regressions(html: &mut String, series: &[(Config, Vec<Point>)]) {
    let judged = |point: &Point| Some((point.clone(), point.verdict?));
    let mut marked = Vec::new();
    let mut judgements = 0;
    for (config, points) in series {
        for (point, verdict) in points.iter().filter_map(judged) {
            judgements += 1;
            if verdict.beyond {
                marked.push((point, verdict, config));
            }
        }
    }
    marked.sort_by_key(|(point, ..)| Reverse(point.records.last().copied()));
    let found = match marked.len() {
        0 => "None",
        _ => "These",
    };
    let note = format!(
        "{found} of {judgements} judgements. What is judged is the time that the fastest tenth of a run's steps \
         do not exceed, which noise changes least. A commit is marked where the median of its runs is beyond \
         Q3 + 3·IQR of the configuration's runs before it, and the whole 99 % confidence interval of its ratio to them is \
         above 1. With fewer than five runs it is a suspect, which more runs may clear. A judgement needs five \
         earlier runs of the same configuration on the same machine."
    );
    heading(html, "regressions", "Regressions", &note);
    if !marked.is_empty() {
        let columns = [
            ("commit", true),
            ("is a", true),
            ("scene", true),
            ("bodies", false),
            ("threads", false),
            ("lanes", false),
            ("ms", false),
            ("limit ms", false),
            ("ratio", false),
            ("99 % interval", false),
            ("runs", false),
            ("settings", true),
        ];
        table(html, "Regressions", &columns);
        for (point, verdict, config) in marked {
            row(html, &columns, &regression(&point, &verdict, config));
        }
        html.push_str(END);
    }
    html.push_str("</section>\n");
}

/// The cells of a row of the table of regressions.
fn regression(point: &Point, verdict: &Verdict, config: &Config) -> [String; 12] {
    let ratio = verdict.ratio;
    [
        format!("<code>{}</code>", escape(&short(&point.commit))),
        if verdict.is_regression() { "regression" } else { "suspect" }.to_owned(),
        escape(&config.scene),
        (config.bodies[0] + config.particles[0]).to_string(),
        config.threads.to_string(),
        config.lanes.to_string(),
        format!("{:.3}", point.ms),
        format!("{:.3}", verdict.fence),
        format!("{:.3}", ratio.ratio),
        format!("{:.3}–{:.3}", ratio.low, ratio.high),
        point.records.len().to_string(),
        escape(&label::settings(config)),
    ]
}

/// Writes the machines and builds of the runs, and of the other engines' runs.
pub(super) fn machines(html: &mut String, records: &[Filed], peers: &Peers) {
    heading(
        html,
        "machines",
        "Machines and builds",
        "Times of different machines are never in one chart or judgement.",
    );
    let mut builds: BTreeMap<[String; 5], (usize, u64)> = BTreeMap::new();
    for Filed { record: r, .. } in records {
        let machine = [&r.machine.cpu, &r.machine.cores.to_string(), &r.machine.os, &r.isa, &r.rustc];
        let (runs, newest) = builds.entry(machine.map(String::clone)).or_default();
        *runs += 1;
        *newest = r.unix_time.max(*newest);
    }
    let columns = [
        ("processor", true),
        ("cores", false),
        ("system", true),
        ("instructions", true),
        ("compiler", true),
        ("runs", false),
        ("newest (UTC)", true),
    ];
    table(html, "Machines and builds", &columns);
    for (build, (runs, newest)) in builds {
        let facts = build.iter().map(|fact| escape(fact));
        let cells: Vec<String> = facts.chain([runs.to_string(), utc(newest)]).collect();
        row(html, &columns, &cells);
    }
    html.push_str(END);
    if !peers.origin.is_empty() {
        html.push_str("<details><summary>Of the other engines</summary><dl class=\"facts\">");
        for (key, value) in &peers.origin {
            let value = match (key.as_str(), value.parse()) {
                ("unix_time", Ok(time)) => utc(time),
                _ => escape(value),
            };
            let _ = write!(html, "<dt>{}</dt><dd>{value}</dd>", escape(key));
        }
        html.push_str("</dl></details>\n");
    }
    html.push_str("</section>\n");
}

/// Writes what was not used, and why. The path of `dir` itself is left out, as it is private.
pub(super) fn skipped(html: &mut String, skipped: &[Skipped], dir: &Path) {
    let note = match skipped.len() {
        0 => "Nothing was skipped.",
        _ => "These could not be used.",
    };
    heading(html, "skipped", "Skipped", note);
    if !skipped.is_empty() {
        html.push_str("<ul>\n");
        for Skipped { place, reason } in skipped {
            let inside = Path::new(place).strip_prefix(dir).map_or(place.into(), Path::to_string_lossy);
            let _ = writeln!(html, "<li><code>{}</code>: {}</li>", escape(&inside), escape(reason));
        }
        html.push_str("</ul>\n");
    }
    html.push_str("</section>\n");
}

/// Writes all runs, newest first, with links to their records from the directory `base`.
pub(super) fn runs(html: &mut String, records: &[Filed], base: &Path) {
    heading(html, "runs", "Runs", "Newest first. The scene and the machine chosen above apply here, too.");
    let mut columns: Vec<(&str, bool)> = COLUMNS.iter().map(|&(heading, text, _)| (heading, text)).collect();
    columns.push(("record", true));
    table(html, "Runs", &columns);
    // Files of one directory share the path to it.
    let base = fs::canonicalize(base).ok();
    for (index, filed) in records.iter().enumerate().rev() {
        let mut cells: Vec<String> = COLUMNS.iter().map(|(_, _, cell)| cell(&filed.record)).collect();
        cells.push(link(filed, base.as_deref()));
        let start = html.len();
        row(html, &columns, &cells);
        html.insert_str(start + "<tr".len(), &format!(" data-run=\"{index}\""));
    }
    html.push_str(END);
    html.push_str("</section>\n");
}

/// Returns a link to the record's file, or its name alone if no relative path leads to it.
fn link(filed: &Filed, base: Option<&Path>) -> String {
    let name = filed.path.file_name().unwrap_or_default().to_string_lossy();
    let line = filed.line.map(|line| format!(":{line}")).unwrap_or_default();
    let name = format!("{}{line}", escape(&name));
    let path = fs::canonicalize(&filed.path).ok();
    match base.zip(path.as_deref()).and_then(|(base, path)| relative(base, path)) {
        Some(path) => format!("<a href=\"{path}\">{name}</a>"),
        None => name,
    }
}

/// Returns the relative address of a file from a directory. Both paths are absolute.
fn relative(base: &Path, path: &Path) -> Option<String> {
    let shared = base.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = base.components().skip(shared).map(|_| "..".to_owned());
    let down = path.components().skip(shared).map(|component| match component {
        Component::Normal(name) => Some(encoded(name.as_encoded_bytes())),
        _ => None,
    });
    let parts: Option<Vec<String>> = up.map(Some).chain(down).collect();
    Some(parts?.join("/"))
}

fn encoded(name: &[u8]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let escaped =
        |&byte: &u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.iter().map(escaped).collect()
}

/// `2024-02-29 12:34:56`. Converts days to a date after H. Hinnant, "chrono-compatible low-level date algorithms":
/// years begin in March, so that the leap day is the last day.
pub(super) fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dates are those of the Gregorian calendar, leap days and centuries included.
    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_827_696), "2000-02-29 12:34:56");
        assert_eq!(utc(1_709_210_096), "2024-02-29 12:34:56");
        assert_eq!(utc(4_107_542_400), "2100-03-01 00:00:00");
    }

    /// Addresses of records are relative to the page, and safe in an attribute.
    #[test]
    fn addresses() {
        let relative = |base: &str, path: &str| relative(Path::new(base), Path::new(path));
        assert_eq!(relative("/a/b", "/a/b/c.json").as_deref(), Some("c.json"));
        assert_eq!(relative("/a/x/y", "/a/b/c.json").as_deref(), Some("../../b/c.json"));
        assert_eq!(relative("/a", "/a/\"b c\"#.json").as_deref(), Some("%22b%20c%22%23.json"));
    }

    /// A commit is short, and says whether the sources differed.
    #[test]
    fn commits() {
        assert_eq!(short("0123456789abcdef"), "012345678");
        assert_eq!(short("0123456789abcdef-dirty"), "012345678+");
        assert_eq!(short("unknown"), "unknown");
    }

    /// The settings of a run say whether bodies slept, and whether continuous collision was off.
    #[test]
    fn settings_name_the_switches() {
        let settings = |sleep, continuous| {
            let record = RunRecord { sleep, continuous, ..RunRecord::sample("packed", 100) };
            label::settings(&Config::of(&record))
        };
        let rest = "avx2, 0 + 100 steps, seed 1";
        assert_eq!(settings(false, Some(true)), format!("soft 4 × 1, {rest}"));
        assert_eq!(settings(false, None), format!("soft 4 × 1, {rest}"));
        assert_eq!(settings(true, Some(true)), format!("soft 4 × 1, sleep, {rest}"));
        assert_eq!(settings(true, Some(false)), format!("soft 4 × 1, sleep, continuous off, {rest}"));
    }
}
