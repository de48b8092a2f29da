//! Writing files so that a reader sees the old content or the new, never half of it.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::error::{Error, Result};

const BUFFER: usize = 1 << 16;

/// How often a folder that another thread writes to is removed.
const REMOVE_TRIES: usize = 100;

/// Opens a file to read it. What is no regular file is refused before it is opened: a pipe would keep us waiting.
///
/// # Errors
/// What the system says, and what is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// Writes `path` through a temporary file in the same folder, which is flushed, synced and then renamed over `path`. On any
/// error the old content stays and the temporary file is removed. An existing file keeps its permissions, and a link its
/// target's place. What exists but is no regular file (a pipe, `/dev/stdout`) is written to directly.
///
/// # Errors
/// [`Error::Write`] with `path` and what the system, or `write` itself, said.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    write_and_wait(path, Wait::Name, write)
}

fn write_and_wait(path: &Path, wait: Wait, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let written = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() || is_device_path(path) => write_directly(path, write),
        // A link is followed first: the rename must replace its target, not the link.
        Ok(metadata) => {
            fs::canonicalize(path).and_then(|real| replace(&real, Some(metadata.permissions()), wait, write))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => replace(path, None, wait, write),
        Err(error) => Err(error),
    };
    written.map_err(|cause| Error::write(path, cause))
}

/// The same for a cache: nobody waits until the disk has it. Whoever is killed leaves no half of a file; where the machine itself
/// goes down, a file may be damaged, so that its content must be checked when it is read.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_to_cache(path: &Path, bytes: &[u8]) -> Result<()> {
    write_and_wait(path, Wait::Never, |out| out.write_all(bytes))
}

/// The same for one of many files of a folder: content is on disk then, its name once [`sync_folder`] was called.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_among_many(path: &Path, bytes: &[u8]) -> Result<()> {
    write_and_wait(path, Wait::Content, |out| out.write_all(bytes))
}

/// Notes that a file of a cache is used now. A cache that cannot be written is still of use.
pub fn mark_used(path: &Path) {
    let _ = File::options().append(true).open(path).and_then(|file| file.set_modified(now()));
}

/// Renames something damaged to a name that is free; `None` where it is gone already.
pub fn set_aside(path: &Path) -> Result<Option<PathBuf>> {
    let names = (0_u32..).map(|number| match number {
        0 => path.with_extension("damaged"),
        _ => path.with_extension(format!("{number}.damaged")),
    });
    let Some(aside) = names.into_iter().find(|aside| !aside.exists()) else { return Ok(None) };
    match fs::rename(path, &aside) {
        Ok(()) => Ok(Some(aside)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::write(path, cause)),
    }
}

/// The time since then.
pub fn since(then: SystemTime) -> Duration {
    now().duration_since(then).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "for how long a file was not used; no result depends on it")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Waits until the disk has the names of a folder's files. Where folders cannot be synced, files are still whole.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// What a write waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Nothing.
    Never,
    /// The disk has the content.
    Content,
    /// The disk has content and name.
    Name,
}

/// `/dev/stdout` looks like a regular file when it is redirected to one, but belongs to whoever opened it. What else lies in
/// `/dev` (`/dev/shm`) is a file like any other.
fn is_device_path(path: &Path) -> bool {
    let standard = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];
    cfg!(unix) && standard.iter().any(|standard| path.starts_with(standard))
}

fn write_directly(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // Appending leaves alone what others wrote to a redirected standard output.
    let mut writer = BufWriter::with_capacity(BUFFER, OpenOptions::new().append(true).open(path)?);
    write(&mut writer)?;
    writer.flush()
}

fn replace(
    path: &Path,
    permissions: Option<Permissions>,
    wait: Wait,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(ErrorKind::InvalidFilename.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".chimera-").suffix(".tmp");
    // Temporary files are private by default; a result is as public as any new file. The umask still applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The path of the temporary file would mislead: strip it from the error, keep the kind.
    let temporary = builder.tempfile_in(folder).map_err(|error| bare(&error))?;
    let _unfinished = Unfinished::register(temporary.path());
    let mut writer = BufWriter::with_capacity(BUFFER, temporary);
    write(&mut writer)?;
    let temporary = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    if wait != Wait::Never {
        temporary.as_file().sync_all()?;
    }
    temporary.persist(path).map_err(|error| error.error)?;
    // The rename itself is durable once the folder is synced.
    if wait == Wait::Name {
        sync_folder(folder);
    }
    Ok(())
}

/// Temporary files and folders that are being written, for [`remove_unfinished`].
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Keeps a temporary file or folder in [`UNFINISHED`] while it lives.
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    pub(crate) fn register(path: &Path) -> Self {
        unfinished().insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a path is that of a temporary file: what a kill in the middle of a write leaves.
#[must_use]
pub fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with(".chimera-") && name.ends_with(".tmp")
}

/// Removes the temporary files and folders of every write that is under way. For a program that is about to end without unwinding, after
/// Ctrl-C say; the writes themselves then fail.
pub fn remove_unfinished() {
    for path in unfinished().iter() {
        // The writer may be adding files to its folder right now, which keeps the folder from being removed; under another name
        // it does not find it any more.
        let mut tries = 0..REMOVE_TRIES;
        while path.is_dir() && tries.next().is_some() {
            let aside = path.with_extension("gone.tmp");
            let moved = if fs::rename(path, &aside).is_ok() { &aside } else { path };
            let _ = fs::remove_dir_all(moved);
        }
        let _ = fs::remove_file(path);
    }
}

fn bare(error: &io::Error) -> io::Error {
    let source =
        error.get_ref().and_then(std::error::Error::source).and_then(|source| source.downcast_ref::<io::Error>());
    source.and_then(io::Error::raw_os_error).map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fault;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn new_content_replaces_old_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        write_atomic(&path, |writer| writer.write_all(b"old")).unwrap();
        write_atomic(&path, |writer| {
            writer.write_all(&vec![b'x'; 3 * BUFFER])?;
            assert_eq!(fs::read(&path)?, b"old");
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), vec![b'x'; 3 * BUFFER]);
        assert_eq!(names(folder.path()), ["out.txt"]);
    }

    #[test]
    fn an_error_leaves_the_old_content_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        fs::write(&path, "old").unwrap();
        let error = write_atomic(&path, |writer| {
            writer.write_all(b"half")?;
            Err(ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write `{}`: no space left", path.display()));
        assert_eq!(error.fault(), Fault::Machine);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out.txt"]);
    }

    #[test]
    fn a_panic_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let caught = std::panic::catch_unwind(|| write_atomic(&path, |_| std::panic::resume_unwind(Box::new("stop"))));
        assert!(caught.is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn folders_and_missing_folders_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomic(folder.path(), |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write `{}`: it is a folder", folder.path().display()));
        assert_eq!(error.fault(), Fault::Input);
        let path = folder.path().join("missing/out.txt");
        let error = write_atomic(&path, |_| Ok(())).unwrap_err();
        let expected = format!(
            "cannot write `{}`: no such file or folder\nhint: the folder does not exist; create it first",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.fault(), Fault::Input);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_atomic(&link, |writer| writer.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        // A new file is as readable as one made the plain way.
        fs::write(folder.path().join("plain"), "").unwrap();
        write_atomic(&folder.path().join("atomic"), |_| Ok(())).unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode("atomic"), mode("plain"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_directly() {
        write_atomic(Path::new("/dev/null"), |writer| writer.write_all(b"gone")).unwrap();
        let error = write_atomic(Path::new("/dev/full"), |writer| writer.write_all(b"x")).unwrap_err();
        assert_eq!(error.to_string(), "cannot write `/dev/full`: no space left");
        // A redirected standard output has such a path: an open file of this process, appended to in place.
        use std::os::fd::AsRawFd;
        let mut open = tempfile::NamedTempFile::new().unwrap();
        open.write_all(b"before ").unwrap();
        let path = format!("/proc/self/fd/{}", open.as_file().as_raw_fd());
        write_atomic(Path::new(&path), |writer| writer.write_all(b"after")).unwrap();
        assert_eq!(fs::read(open.path()).unwrap(), b"before after");
    }
}
