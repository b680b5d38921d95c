//! Parts of a sweep put together: the records of several files, once each.

use super::configuration::Configuration;
use super::store::{Skipped, parse, visit};
use std::io;
use std::path::Path;

/// The records of several files, as text: fields that this version does not know are kept.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    records: Vec<(Configuration, u64, String)>,
    /// What was skipped, in the order it was met.
    pub skipped: Vec<Skipped>,
}

impl Merged {
    /// Adds a file of one record or of JSON lines, or all of those in a directory.
    ///
    /// # Errors
    ///
    /// Those of the file system, for the directory or file itself.
    pub fn add(&mut self, path: &Path) -> io::Result<()> {
        visit(path, &mut |path, line, json| match json
            .map_err(|error| error.to_string())
            .and_then(|json| parse(json).map(|record| (record, json)))
        {
            Ok((Some(record), json)) => {
                // A parsed record is UTF-8, and JSON has line breaks between its tokens only.
                let text = String::from_utf8_lossy(json).replace(['\n', '\r'], " ");
                self.records.push((Configuration::of(&record), record.unix_time, text.trim().to_owned()));
            }
            Ok((None, _)) => {}
            Err(reason) => self.skipped.push(Skipped::new(path, line, reason)),
        })
    }

    /// The records, one a line, by configuration and then by age; and how many were there more than once.
    pub fn lines(mut self) -> (Vec<String>, usize) {
        let all = self.records.len();
        self.records.sort_unstable();
        self.records.dedup();
        let lines: Vec<String> = self.records.into_iter().map(|(_, _, text)| text).collect();
        let duplicates = all - lines.len();
        (lines, duplicates)
    }
}
