//! Markdown tables and what is in their cells.

use super::Run;
use crate::engine::Engine;

/// A Markdown table, padded so that it reads well as text too; all columns but the first are numbers.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
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

/// A time in milliseconds.
pub fn ms(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.1}") }
}

/// A penetration in metres.
pub fn depth(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.5}") }
}

/// A ratio.
pub fn times(value: f64) -> String {
    format!("{value:.2}×")
}

/// A value, or a dash where there is none.
pub fn cell(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}

/// Whether something holds, where it can be asked.
pub fn yes(value: Option<bool>) -> String {
    cell(value.map(|yes| if yes { "yes" } else { "no" }.to_owned()))
}

/// The values of `key` in the order in which they first occur.
pub fn distinct<'a, K: PartialEq>(runs: &'a [Run], key: impl Fn(&'a Run) -> K) -> Vec<K> {
    let mut keys = Vec::new();
    for run in runs {
        let key = key(run);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// The run of an engine in a case.
pub fn find<'a>(runs: &'a [Run], case: &str, threads: usize, engine: Engine) -> Option<&'a Run> {
    runs.iter().find(|run| run.case == case && run.threads == threads && run.engine == engine)
}
