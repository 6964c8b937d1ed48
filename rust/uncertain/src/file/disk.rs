//! Model files on disk.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

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
    let about = file.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(Error::ModelFile(format!("{} is no file", path.display())));
    }
    let length = about.len();
    let mut bytes = Vec::new();
    (&mut file).take(8).read_to_end(&mut bytes).map_err(failed)?;
    container::check_length(&bytes, length)?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    load_from_bytes(&bytes)
}

/// Write a model file. The file appears complete or not at all: it is written beside its place and then moved there.
///
/// # Errors
/// [`Error::Data`] when the model cannot be saved, [`Error::NotWritten`] when the file cannot be written.
pub fn write(path: impl AsRef<Path>, saved: &Saved) -> Result<()> {
    let path = path.as_ref();
    let bytes = save_to_bytes(saved)?;
    let written = draft_beside(path).and_then(|mut draft| {
        draft.write_all(&bytes)?;
        draft.as_file().sync_all()?;
        // A draft that is not moved is removed when it is dropped.
        draft.persist(path).map_err(|e| e.error)
    });
    written
        .map(drop)
        .map_err(|error| Error::NotWritten { path: path.display().to_string(), why: explained(&error, path) })
}

/// The message of the system, and the remedy.
fn explained(error: &io::Error, path: &Path) -> String {
    let folder = parent_folder(path).display();
    match error.kind() {
        ErrorKind::NotFound => format!("there is no folder {folder}; make it first"),
        ErrorKind::NotADirectory => format!("{folder} is no folder"),
        ErrorKind::IsADirectory => "it is a folder; add a name for the file".into(),
        ErrorKind::PermissionDenied => format!("no permission to write to the folder {folder}; save it elsewhere"),
        ErrorKind::ReadOnlyFilesystem => format!("the folder {folder} is read-only; save it elsewhere"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            format!("no space left for it in the folder {folder}; make room, or save it elsewhere")
        }
        // tempfile adds the name of the draft, which says nothing to anybody.
        _ => error.to_string().split(" at path ").next().unwrap_or_default().to_owned(),
    }
}

fn parent_folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An empty file in the same directory, hence on the same device, with the permissions of the file it is to replace,
/// or those of any new file.
fn draft_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".uncertain-").suffix(".tmp");
    #[cfg(unix)]
    // Without this, nobody but the owner could read the model. The umask applies.
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let draft = builder.tempfile_in(parent_folder(path))?;
    if let Ok(old) = fs::metadata(path) {
        draft.as_file().set_permissions(old.permissions())?;
    }
    Ok(draft)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn drafts_have_the_permissions_of_what_they_replace() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (path, plain) = (folder.path().join("model"), folder.path().join("plain"));
        fs::write(&plain, "").unwrap();
        assert_eq!(mode(draft_beside(&path).unwrap().path()), mode(&plain));
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        assert_eq!(mode(draft_beside(&path).unwrap().path()), 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_failed_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let kinds = [
            (folder.path().join("none").join("m"), "there is no folder"),
            (file.join("m"), "is no folder"),
            (folder.path().to_owned(), "it is a folder"),
        ];
        for (path, words) in kinds {
            let error = draft_beside(&path).and_then(|draft| draft.persist(&path).map_err(|e| e.error)).unwrap_err();
            let why = explained(&error, &path);
            assert!(why.contains(words) && !why.contains(".uncertain-"), "{why}");
        }
        for (number, words) in [
            (libc::ENOSPC, "no space left"),
            (libc::EACCES, "no permission"),
            (libc::EROFS, "read-only"),
            (libc::EDQUOT, "no space left"),
            (libc::EIO, "os error"),
        ] {
            let why = explained(&io::Error::from_raw_os_error(number), Path::new("model"));
            assert!(why.contains(words), "{why}");
        }
    }
}
