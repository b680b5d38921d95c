//! The page of a directory of records: one self-contained HTML file with a table, newest run first.

use super::{RunRecord, Store};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

const NAME: &str = "index.html";
/// Begins every page that is ours; anything else of that name is somebody's own.
const MARK: &str = "<!doctype html><!-- granule.run/1 page -->";

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem}\
h1{font-size:1.4rem}\
.scroll{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.35rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid #8884}\
th{position:sticky;top:0;background:Canvas}\
.text{text-align:left}\
code{font-size:.9em}";

/// A column: its heading, whether it is text, and its cell.
type Column = (&'static str, bool, fn(&RunRecord) -> String);

const COLUMNS: &[Column] = &[
    ("scene", true, |r| escape(&r.scene)),
    ("bodies", false, |r| r.bodies.to_string()),
    ("contacts", false, |r| r.contacts.to_string()),
    ("threads", false, |r| r.threads.to_string()),
    ("lanes", false, |r| r.lanes.to_string()),
    ("solver", true, |r| escape(&r.solver)),
    ("substeps × iterations", false, |r| format!("{} × {}", r.substeps, r.iterations)),
    ("steps", false, |r| r.steps.to_string()),
    ("p50 ms", false, |r| format!("{:.3}", r.step_ms.p50)),
    ("p95 ms", false, |r| format!("{:.3}", r.step_ms.p95)),
    ("p99 ms", false, |r| format!("{:.3}", r.step_ms.p99)),
    ("max ms", false, |r| format!("{:.3}", r.step_ms.max)),
    ("ns per body and step", false, |r| format!("{:.1}", r.ns_per_body_step)),
    ("mean penetration m", false, |r| format!("{:.4}", r.quality.mean_penetration)),
    ("max m", false, |r| format!("{:.4}", r.quality.max_penetration)),
    ("allocations per step", false, |r| format!("{:.1}", r.allocations_per_step)),
    ("state hash", true, |r| format!("<code>{}</code>", escape(&r.state_hash))),
    ("commit", true, |r| format!("<code>{}</code>", escape(&r.commit.chars().take(12).collect::<String>()))),
    ("machine", true, |r| {
        format!("{}, {} cores, {}", escape(&r.machine.cpu), r.machine.cores, escape(&r.isa))
    }),
    ("time (UTC)", true, |r| utc(r.unix_time)),
];

/// Writes the page of `dir` anew: beside the old one first, then over it, so that it is never half there.
pub(super) fn renew(dir: &Path) -> io::Result<()> {
    let path = dir.join(NAME);
    let ours = match fs::read(&path) {
        Ok(page) => page.starts_with(MARK.as_bytes()),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !ours {
        return Ok(());
    }
    let draft = dir.join(format!(".{NAME}.{}", std::process::id()));
    fs::write(&draft, render(&records(dir)?))?;
    fs::rename(&draft, &path)
}

/// The records of a directory, newest first.
fn records(dir: &Path) -> io::Result<Vec<RunRecord>> {
    let mut records: Vec<RunRecord> =
        Store::read(dir)?.records.into_iter().map(|filed| filed.record).collect();
    let key = |r: &RunRecord| (std::cmp::Reverse(r.unix_time), r.scene.clone(), r.bodies, r.threads, r.lanes);
    records.sort_by_cached_key(key);
    Ok(records)
}

fn render(records: &[RunRecord]) -> String {
    let mut html = format!(
        "{MARK}\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>Granule runs</title><style>{STYLE}</style></head>\n\
         <body><h1>Granule runs</h1>\n<div class=\"scroll\"><table>\n<thead><tr>"
    );
    for (heading, text, _) in COLUMNS {
        let _ = write!(html, "<th{}>{heading}</th>", class(*text));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for record in records {
        html.push_str("<tr>");
        for (_, text, cell) in COLUMNS {
            let _ = write!(html, "<td{}>{}</td>", class(*text), cell(record));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div></body></html>\n");
    html
}

fn class(text: bool) -> &'static str {
    if text { " class=\"text\"" } else { "" }
}

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

/// `2024-02-29 12:34:56`. Days to a date after H. Hinnant, "chrono-compatible low-level date algorithms":
/// years begin in March, so that the leap day is the last.
fn utc(seconds: u64) -> String {
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

    /// Dates are those of the Gregorian calendar, leap days and century included.
    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_827_696), "2000-02-29 12:34:56");
        assert_eq!(utc(1_709_210_096), "2024-02-29 12:34:56");
        assert_eq!(utc(4_107_542_400), "2100-03-01 00:00:00");
    }

    /// What a record says is shown as text and never becomes markup.
    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<b>&\"x\""), "&lt;b&gt;&amp;&quot;x&quot;");
    }
}
