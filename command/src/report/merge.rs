//! Merges the records of several files, such as the parts of a sweep, each of them once.

use super::configuration::Configuration;
use super::store::{Skipped, parse, visit};
use std::io;
use std::path::Path;

/// The records of several files, as text. Fields that this version does not know are kept.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    records: Vec<(Configuration, u64, String)>,
    /// The places that were skipped, in the order in which they were met.
    pub skipped: Vec<Skipped>,
}

impl Merged {
    /// Adds the records of a file, which has one record or JSON lines, or of all such files in a directory.
    ///
    /// # Errors
    ///
    /// The errors of the file system, for the directory or file itself.
    pub fn add(&mut self, path: &Path) -> io::Result<()> {
        visit(path, &mut |path, line, json| match json
            .map_err(|error| error.to_string())
            .and_then(|json| parse(json).map(|record| (record, json)))
        {
            Ok((Some(record), json)) => {
                // A parsed record is UTF-8, and JSON has line breaks only between its tokens.
                let text = String::from_utf8_lossy(json).replace(['\n', '\r'], " ");
                self.records.push((Configuration::of(&record), record.unix_time, text.trim().to_owned()));
            }
            Ok((None, _)) => {}
            Err(reason) => self.skipped.push(Skipped::new(path, line, reason)),
        })
    }

    /// Returns the records, one a line, by configuration and then by age, and the number of duplicates dropped.
    pub fn lines(mut self) -> (Vec<String>, usize) {
        let all = self.records.len();
        self.records.sort_unstable();
        self.records.dedup();
        let lines: Vec<String> = self.records.into_iter().map(|(_, _, text)| text).collect();
        let duplicates = all - lines.len();
        (lines, duplicates)
    }
}
