//! Reads records back, from a directory, a record's file, or JSON lines. Records that can't be used are named and
//! skipped.

use super::{Machine, RunRecord, SCHEMA};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Records that were read.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// The records, oldest first.
    pub records: Vec<Filed>,
    /// The places that were skipped, in the order in which they were met.
    pub skipped: Vec<Skipped>,
}

/// A record, and where it is filed.
#[derive(Clone, Debug)]
pub struct Filed {
    /// The file.
    pub path: PathBuf,
    /// The line in a file of JSON lines, from 1.
    pub line: Option<usize>,
    /// The record.
    pub record: RunRecord,
}

/// A file or line that is no record, or not one that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file, and the line if it is a file of JSON lines.
    pub place: String,
    /// The reason why it was skipped.
    pub reason: String,
}

impl Store {
    /// Reads a file of one record (`.json`) or of JSON lines (`.jsonl`, `.ndjson`), or all such files in a directory.
    ///
    /// Files of other schemas of this project (`granule.peers/1`) are ignored, not skipped: they are no failed records.
    ///
    /// # Errors
    ///
    /// The errors of the file system, for the directory or file itself.
    pub fn read(path: &Path) -> io::Result<Store> {
        let mut store = Store::default();
        visit(path, &mut |path, line, json| match json.map_err(|error| error.to_string()).and_then(parse) {
            Ok(Some(record)) => store.records.push(Filed { path: path.to_owned(), line, record }),
            Ok(None) => {}
            Err(reason) => store.skipped.push(Skipped::new(path, line, reason)),
        })?;
        store.records.sort_by_key(|filed| filed.record.unix_time);
        Ok(store)
    }

    /// Skips the records of other machines: times of different machines can't be compared.
    pub fn keep_machine(&mut self, machine: &Machine) {
        let all = std::mem::take(&mut self.records);
        for filed in all {
            if filed.record.machine == *machine {
                self.records.push(filed);
            } else {
                let Machine { cpu, cores, os } = &filed.record.machine;
                let reason = format!("from another machine: {cpu}, {cores} cores, {os}");
                self.skipped.push(Skipped::new(&filed.path, filed.line, reason));
            }
        }
    }
}

impl Skipped {
    pub(super) fn new(path: &Path, line: Option<usize>, reason: String) -> Skipped {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        Skipped { place: format!("{}{line}", path.display()), reason }
    }
}

/// A function that takes a file, a line of it, and the text there.
type Visitor<'a> = dyn FnMut(&Path, Option<usize>, io::Result<&[u8]>) + 'a;

/// Shows each text that may be a record, with its file, and with its line in a file of JSON lines. Visits one file, or
/// all files of a directory in the order of their names. If a file of a directory can't be read, shows that error
/// instead.
pub(super) fn visit(path: &Path, see: &mut Visitor) -> io::Result<()> {
    if !path.is_dir() {
        visit_file(path, &fs::read(path)?, see);
        return Ok(());
    }
    let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort_unstable();
    for path in paths.iter().filter(|path| is_json(path) || is_lines(path)) {
        match fs::read(path) {
            Ok(bytes) => visit_file(path, &bytes, see),
            Err(error) => see(path, None, Err(error)),
        }
    }
    Ok(())
}

fn visit_file(path: &Path, bytes: &[u8], see: &mut Visitor) {
    if !is_lines(path) {
        see(path, None, Ok(bytes));
        return;
    }
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if !line.trim_ascii().is_empty() {
            see(path, Some(index + 1), Ok(line));
        }
    }
}

/// Returns the record, `None` for another schema of this project, or what is wrong with the text.
pub(super) fn parse(json: &[u8]) -> Result<Option<RunRecord>, String> {
    let value: Value = serde_json::from_slice(json).map_err(|error| {
        if error.is_eof() { "truncated, or empty".to_owned() } else { format!("not JSON: {error}") }
    })?;
    let Some(schema) = value.get("schema").and_then(Value::as_str) else {
        return Err(format!("no run record: it has no schema, where {SCHEMA} is expected"));
    };
    if schema == SCHEMA {
        return serde_json::from_value(value).map(Some).map_err(|error| format!("not of {SCHEMA}: {error}"));
    }
    match schema.strip_prefix("granule.run/").map(str::parse::<u32>) {
        Some(Ok(version)) if version > 1 => Err(format!("of the newer schema {schema}; this reads {SCHEMA}")),
        None if schema.starts_with("granule.") => Ok(None),
        _ => Err(format!("of an unknown schema {schema:?}")),
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson")
}
