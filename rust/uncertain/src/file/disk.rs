//! Model files on disk.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use super::{MAX_BYTES, Saved, container, load_from_bytes, save_to_bytes};
use crate::error::{Error, Result};

/// Read a model file.
///
/// # Errors
/// [`Error::ModelFile`], also when the file cannot be opened. Files that cannot be model files are
/// refused after their first eight bytes.
pub fn read(path: impl AsRef<Path>) -> Result<Saved> {
    let path = path.as_ref();
    let failed = |e: std::io::Error| Error::ModelFile(format!("{} cannot be read: {e}", path.display()));
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::new();
    (&mut file).take(8).read_to_end(&mut bytes).map_err(failed)?;
    container::check_length(&bytes, length)?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    load_from_bytes(&bytes)
}

/// Write a model file. The file appears complete or not at all: it is written beside its place and then moved there.
///
/// # Errors
/// [`Error::Data`] when the model cannot be saved, [`Error::ModelFile`] when the file cannot be written.
pub fn write(path: impl AsRef<Path>, saved: &Saved) -> Result<()> {
    let path = path.as_ref();
    let bytes = save_to_bytes(saved)?;
    let failed = |e: std::io::Error| Error::ModelFile(format!("{} cannot be written: {e}", path.display()));
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".{}.tmp", std::process::id()));
    let draft = path.with_file_name(name);
    let written = File::create(&draft).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    let moved = written.and_then(|()| fs::rename(&draft, path));
    if moved.is_err() {
        // Nothing to add to the first error if even this fails.
        let _ = fs::remove_file(&draft);
    }
    moved.map_err(failed)
}
