//! Files that are made: never over another one unasked, never half of one under its name.

use super::{Outcome, bad_file, bad_input, input, note};
use granule_command::report::Skipped;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Refuses a file that can't be made, or that is there already and may not be replaced.
pub fn check_new(option: &str, path: &Path, force: bool) -> Outcome {
    input::check_file(option, Some(path))?;
    if path.exists() && !force {
        return Err(bad_input(format!("{option} {}: already there; --force replaces it", path.display())));
    }
    Ok(())
}

/// Writes a file aside, and gives it its name when it is complete.
pub fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Outcome {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = File::create(&aside).map(BufWriter::new).and_then(|mut out| {
        write(&mut out)?;
        out.flush()?;
        out.get_ref().sync_data()?;
        fs::rename(&aside, path)
    });
    written.map_err(|error| {
        // It may not be there.
        let _ = fs::remove_file(&aside);
        bad_file(path, &error)
    })
}

/// Names what was skipped, a line each.
pub fn name_skipped(skipped: &[Skipped]) {
    for Skipped { place, reason } in skipped {
        note(&format!("skipped {place}: {reason}"));
    }
}
