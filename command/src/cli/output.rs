//! Output files. A file is never overwritten unless that is asked for, and a half-written file never gets its final
//! name.

use super::{Outcome, bad_file, bad_input, input, note};
use granule_command::report::Skipped;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Refuses a file that cannot be made, or one that exists and may not be replaced.
pub fn check_new(option: &str, path: &Path, force: bool) -> Outcome {
    input::check_file(option, Some(path))?;
    if path.exists() && !force {
        return Err(bad_input(format!("{option} {}: already there; --force replaces it", path.display())));
    }
    Ok(())
}

/// Writes a file under another name, and renames it when it is complete.
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
        // The file may not exist.
        let _ = fs::remove_file(&aside);
        bad_file(path, &error)
    })
}

/// Names each thing that was skipped, one a line.
pub fn name_skipped(skipped: &[Skipped]) {
    for Skipped { place, reason } in skipped {
        note(&format!("skipped {place}: {reason}"));
    }
}
