//! The page for a directory of records: one self-contained HTML file. The file includes uPlot, which draws the charts.
//! The content security policy lets the page load nothing.
//!
//! The data for the charts are embedded as JSON ([`data`]). The tables are plain HTML and can be read without a script
//! ([`tables`]).

mod data;
mod tables;

use super::criterion::{self, Benchmark};
use super::peers::{self, Peers};
use super::{Filed, Skipped, Store, history};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "index.html";
/// The beginning of every page that this crate writes. A file with another beginning is somebody else's.
const MARK: &str = "<!doctype html><!-- granule.run/1 page -->";

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
const UPLOT: &str = include_str!("page/vendor/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("page/vendor/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("page/vendor/LICENSE-uPlot");

/// The content security policy: everything is in the file, so nothing may be loaded, sent or framed.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The charts: name, title, and what each shows.
const CHARTS: &[(&str, &str, &str)] = &[
    (
        "distribution",
        "Time of a step",
        "How many of the run's steps took how long, with percentiles and the frame at 60 Hz.",
    ),
    ("stages", "Stages", "Mean time of each stage by body and step, stacked."),
    ("flatness", "Cost per body", "Mean time by body and step against the number of bodies: flat is best."),
    ("threads", "Threads", "Speed-up of the median step against one thread."),
    ("lanes", "Lanes", "Speed-up of the median step against one lane."),
    (
        "penetration",
        "Penetration against time",
        "Mean penetration of the final state against the median step: lower left is best.",
    ),
    (
        "history",
        "History",
        "Undisturbed step (10th percentile; median of the runs) by commit, in the order in which they were first run. Regressions are ringed, suspects with dashes.",
    ),
    (
        "peers",
        "Other engines",
        "Median step of each engine, as a multiple of Granule's, on the same bodies and threads; and the mean and the 99th percentile of the engine that is faster in them.",
    ),
    ("criterion", "criterion", "Times of the benchmarks, with confidence intervals in the table."),
];

/// A page to write.
#[derive(Clone, Debug)]
pub struct Page {
    /// The directory of the records.
    pub dir: PathBuf,
    /// The file of the page; `index.html` in `dir` if `None`.
    pub out: Option<PathBuf>,
    /// criterion's directory, `target/criterion`.
    pub criterion: Option<PathBuf>,
    /// The comparison with other engines; if `None`, `peers.json` in `dir` if that exists.
    pub peers: Option<PathBuf>,
}

/// The page that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The file of the page.
    pub path: PathBuf,
    /// The number of records on it.
    pub records: usize,
    /// The number of commits that are marked as regressions of a configuration.
    pub regressions: usize,
    /// The files, lines and results that were skipped.
    pub skipped: Vec<Skipped>,
}

/// The reason why no page was written: a file or directory, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct PageError {
    path: PathBuf,
    #[source]
    error: io::Error,
}

impl PageError {
    /// Returns true if a file of that name exists and is not a page of this crate. That file was not overwritten.
    pub fn is_foreign(&self) -> bool {
        self.error.kind() == io::ErrorKind::AlreadyExists
    }

    /// Returns the error without the path.
    pub fn into_io(self) -> io::Error {
        self.error
    }
}

/// Everything that is on the page.
struct Content {
    store: Store,
    series: Vec<(history::Config, Vec<history::Point>)>,
    peers: Peers,
    quality: Peers,
    benchmarks: Vec<Benchmark>,
    /// The directory of the records.
    dir: PathBuf,
    /// The directory from which links start.
    base: PathBuf,
}

impl Page {
    /// The page `index.html` of a directory.
    pub fn of(dir: &Path) -> Page {
        Page { dir: dir.to_owned(), out: None, criterion: None, peers: None }
    }

    /// Reads the records and writes the page: to a draft next to the old one first, which then replaces it, so that the
    /// page is never half written. If a file of that name exists and is not a page of this crate, it is not
    /// overwritten.
    ///
    /// # Errors
    ///
    /// The errors of the file system; a foreign file in the place of the page.
    pub fn write(&self) -> Result<Written, PageError> {
        let path = self.out.clone().unwrap_or_else(|| self.dir.join(NAME));
        let at = |path: &Path| {
            let path = path.to_owned();
            |error| PageError { path, error }
        };
        check_ours(&path).map_err(at(&path))?;
        let content = self.content()?;
        // The name may have any bytes, and `path` may have no directory in front.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let draft = parent.unwrap_or(Path::new(".")).join(format!(".{NAME}.{}", std::process::id()));
        let written = fs::write(&draft, render(&content)).and_then(|()| fs::rename(&draft, &path));
        written.map_err(|error| {
            // The error of the page is worse than one of tidying up.
            let _ = fs::remove_file(&draft);
            at(&path)(error)
        })?;
        let points = content.series.iter().flat_map(|(_, points)| points);
        let regressions = points.filter(|point| point.verdict.is_some_and(|verdict| verdict.is_regression()));
        Ok(Written {
            path,
            records: content.store.records.len(),
            regressions: regressions.count(),
            skipped: content.store.skipped,
        })
    }

    fn content(&self) -> Result<Content, PageError> {
        let mut store =
            Store::read(&self.dir).map_err(|error| PageError { path: self.dir.clone(), error })?;
        let mut report = |path: PathBuf| {
            let skip = |reason| Skipped { place: path.display().to_string(), reason };
            peers::read(&path).map_err(|reason| store.skipped.push(skip(reason))).ok().flatten()
        };
        let found = report(self.peers.clone().unwrap_or_else(|| self.dir.join("peers.json")));
        let quality = report(self.dir.join("peers-quality.json")).unwrap_or_default();
        let mut benchmarks = Vec::new();
        if let Some(dir) = &self.criterion {
            let read = criterion::read(dir).map_err(|error| PageError { path: dir.clone(), error })?;
            benchmarks = read.0;
            store.skipped.extend(read.1);
        }
        let out = self.out.as_deref().and_then(Path::parent).unwrap_or(&self.dir);
        let out = if out.as_os_str().is_empty() { Path::new(".") } else { out };
        Ok(Content {
            series: history::series(&store.records).into_iter().collect(),
            store,
            peers: found.unwrap_or_default(),
            quality,
            benchmarks,
            dir: self.dir.clone(),
            base: out.to_owned(),
        })
    }
}

/// Returns an error if there is a file that does not begin like the pages of this crate.
fn check_ours(path: &Path) -> io::Result<()> {
    match fs::read(path) {
        Ok(page) if page.starts_with(MARK.as_bytes()) => Ok(()),
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "not written: there is a file that is no page of granule's",
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Renews the page of `dir`, unless a foreign file has its name.
pub(super) fn renew(dir: &Path) -> io::Result<()> {
    match Page::of(dir).write() {
        Err(error) if !error.is_foreign() => Err(error.into_io()),
        _ => Ok(()),
    }
}

fn render(content: &Content) -> String {
    let records = &content.store.records;
    let mut html = format!(
        "{MARK}\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Granule runs</title>\n<style>{UPLOT_STYLE}</style>\n<style>{STYLE}</style></head>\n<body>\n\
         <a class=\"skip\" href=\"#runs\">Skip to the table of runs</a>\n\
         <header><h1>Granule runs</h1>\n<p>{}</p></header>\n<main>\n",
        summary(records)
    );
    html.push_str(
        "<form id=\"filters\" aria-label=\"Filters\">\
         <label>Scene <select id=\"scene\"></select></label>\
         <label>Machine <select id=\"machine\"></select></label>\
         <label>Run <select id=\"run\"></select></label></form>\n\
         <noscript><p>The charts need a script, which is in this file; the tables do not.</p></noscript>\n\
         <dl id=\"tiles\" aria-live=\"polite\"></dl>\n<div class=\"charts\">\n",
    );
    for (name, title, note) in CHARTS {
        let _ = writeln!(
            html,
            "<figure id=\"chart-{name}\"><figcaption><h2>{title}</h2><p>{note}</p></figcaption>\
             <div class=\"plot\" role=\"img\"></div><ul class=\"legend\"></ul>\
             <details><summary>Data</summary><div class=\"scroll\"></div></details></figure>"
        );
    }
    html.push_str("</div>\n");
    tables::regressions(&mut html, &content.series);
    tables::machines(&mut html, records, &content.peers);
    tables::skipped(&mut html, &content.store.skipped, &content.dir);
    tables::runs(&mut html, records, &content.base);
    let _ = write!(
        html,
        "</main>\n<footer><details><summary>Charts by uPlot, under the MIT licence</summary><pre>{}</pre></details>\
         </footer>\n<script type=\"application/json\" id=\"data\">{}</script>\n\
         <script>{UPLOT}</script>\n<script>{SCRIPT}</script>\n</body></html>\n",
        escape(UPLOT_LICENCE),
        data::json(content)
    );
    html
}

fn summary(records: &[Filed]) -> String {
    let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let mut scenes: Vec<&str> = records.iter().map(|filed| &*filed.record.scene).collect();
    scenes.sort_unstable();
    scenes.dedup();
    let newest = records.last().map_or(0, |filed| filed.record.unix_time);
    let counts = [
        count(records.len(), "run"),
        count(scenes.len(), "scene"),
        count(history::commits(records).len(), "commit"),
    ];
    match records {
        [] => "No run yet: <code>granule run --report</code> with this directory files one.".to_owned(),
        _ => format!("{}; the newest of {} UTC", counts.join(", "), tables::utc(newest)),
    }
}

/// Escapes text for an element or an attribute.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of a record is shown as text and never becomes markup.
    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<b>&\"x\""), "&lt;b&gt;&amp;&quot;x&quot;");
    }

    /// Scripts and styles that are put into the page do not end their elements.
    #[test]
    fn inlined_text_stays_inside() {
        for text in [STYLE, SCRIPT, UPLOT, UPLOT_STYLE] {
            assert!(!text.contains("</") && !text.contains("<!--"));
        }
    }
}
