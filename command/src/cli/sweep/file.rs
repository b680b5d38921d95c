//! The file that a sweep writes: one record a line, each with its cell.
//!
//! A line is written with one call at the end of the file. A process that is killed leaves at most its last line torn.
//! A sweep that resumes with the file removes that line, and runs its cell again.

use super::super::{Failure, Outcome, bad_file, bad_input, note};
use super::grid::Cell;
use granule_command::report::SCHEMA;
use serde::Deserialize;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub struct Output {
    path: PathBuf,
    file: File,
    done: HashSet<Cell>,
}

/// The fields of a line that matter here.
#[derive(Deserialize)]
struct Line {
    schema: String,
    cell: Option<Cell>,
}

impl Output {
    /// Creates a new file, or opens an existing one if `resume`.
    pub fn open(path: &Path, resume: bool) -> Result<Output, Failure> {
        let done = if resume && path.exists() { repair(path)? } else { HashSet::new() };
        let file = File::options().append(true).create(resume).create_new(!resume).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                bad_input(format!("--out {}: already there; --resume goes on with it", path.display()))
            }
            _ => bad_file(path, &error),
        })?;
        Ok(Output { path: path.to_owned(), file, done })
    }

    /// Returns true if the file had that cell when it was opened.
    pub fn has(&self, cell: &Cell) -> bool {
        self.done.contains(cell)
    }

    /// Adds a record, given as the text of a JSON object.
    pub fn add(&mut self, record: &str, cell: &Cell) -> Outcome {
        let cell = serde_json::to_string(cell).map_err(|error| bad_file(&self.path, &error))?;
        let open = record.trim_end().strip_suffix('}').unwrap_or(record);
        let line = format!("{open},\"cell\":{cell}}}\n");
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| bad_file(&self.path, &error))
    }
}

/// Makes the file end with a whole line. Returns the cells in it.
fn repair(path: &Path) -> Result<HashSet<Cell>, Failure> {
    let bytes = fs::read(path).map_err(|error| bad_file(path, &error))?;
    let mut done = HashSet::new();
    let mut number = 0;
    let mut whole = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        number += 1;
        let place = format!("{}:{number}", path.display());
        let complete = line.ends_with(b"\n");
        match serde_json::from_slice::<Line>(line) {
            Ok(Line { schema, cell }) if schema == SCHEMA => done.extend(cell),
            _ if line.trim_ascii().is_empty() => {}
            _ if !complete && is_begun(line) => {
                note(&format!("{place}: torn, and dropped: its cell is run again"));
                return truncate(path, whole).map(|()| done);
            }
            _ => return Err(bad_input(format!("{place}: no record; --resume goes on with a sweep's file"))),
        }
        whole += line.len() as u64;
        if !complete {
            append(path, b"\n")?;
        }
    }
    Ok(done)
}

/// Returns true if the line is the beginning of a record, so that no other program's file is cut.
fn is_begun(line: &[u8]) -> bool {
    let begin = format!("{{\"schema\":\"{SCHEMA}\"");
    let length = line.len().min(begin.len());
    line[..length] == begin.as_bytes()[..length]
}

fn truncate(path: &Path, length: u64) -> Outcome {
    let cut = File::options().write(true).open(path).and_then(|file| file.set_len(length));
    cut.map_err(|error| bad_file(path, &error))
}

fn append(path: &Path, bytes: &[u8]) -> Outcome {
    let added = File::options().append(true).open(path).and_then(|mut file| file.write_all(bytes));
    added.map_err(|error| bad_file(path, &error))
}
