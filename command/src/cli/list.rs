//! `granule list`: names the built-in scenes.

use super::args::{Format, ListArgs};
use super::style::Style;
use super::{Outcome, emit, emit_json};
use granule::scene::{BUILTIN, Builtin, DEFAULT};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;

#[derive(Serialize)]
struct List {
    schema: &'static str,
    scenes: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    about: &'static str,
    bodies: usize,
    warmup: u32,
    steps: u32,
    default: bool,
}

impl From<&Builtin> for Entry {
    fn from(builtin: &Builtin) -> Self {
        let Builtin { name, about, bodies, warmup, steps, .. } = *builtin;
        Entry { name, about, bodies, warmup, steps, default: name == DEFAULT }
    }
}

pub fn main(args: &ListArgs) -> Outcome {
    match args.format {
        Format::Json => {
            emit_json(&List { schema: "granule.list/1", scenes: BUILTIN.iter().map(Entry::from).collect() })
        }
        Format::Human => emit(&table(Style::of(&io::stdout()))),
    }
}

fn table(style: Style) -> String {
    let header = format!("{:14}{:>8}{:>9}{:>7}  what it is", "scene", "bodies", "warm-up", "steps");
    let mut text = format!("{}\n", style.dim(&header));
    for Builtin { name, about, bodies, warmup, steps, .. } in BUILTIN {
        let name = style.bold(&format!("{name:14}"));
        let _ = writeln!(text, "{name}{bodies:>8}{warmup:>9}{steps:>7}  {about}");
    }
    text
}
