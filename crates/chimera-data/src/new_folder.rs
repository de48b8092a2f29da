//! A folder of files that is there as a whole or not at all: written under a temporary name beside its place, then renamed.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::Unfinished;

/// A folder under construction. Dropping it removes what was written.
#[derive(Debug)]
pub struct NewFolder {
    folder: PathBuf,
    temporary: tempfile::TempDir,
    _unfinished: Unfinished,
}

impl NewFolder {
    /// Starts a folder beside `folder`, which must be empty or not there, in a folder that is.
    ///
    /// # Errors
    /// A folder that is not empty, or one that cannot be written to.
    pub fn create(folder: &Path) -> Result<Self> {
        match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
            Ok(true) => {
                let message = format!("expected an empty or new folder, got `{}` with files in it", folder.display());
                let hint = "choose another folder, or remove this one first: nothing is ever written over";
                return Err(Error::input(message, Some(hint.to_owned())));
            }
            Ok(false) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::write(folder, error)),
        }
        if folder.file_name().is_none() {
            return Err(Error::write(folder, ErrorKind::InvalidFilename.into()));
        }
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".chimera-").suffix(".tmp");
        // As public as any new folder; the umask still applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let temporary = builder.tempdir_in(parent).map_err(|error| Error::write(folder, error.kind().into()))?;
        let unfinished = Unfinished::register(temporary.path());
        Ok(Self { folder: folder.to_owned(), temporary, _unfinished: unfinished })
    }

    /// Where the folder will be.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.folder
    }

    /// Where it is for now.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Makes a file in it, and the folders between. Files are not synced one by one: that would take longer than writing
    /// them.
    ///
    /// # Errors
    /// What the system said, about the folder as the user knows it.
    pub fn create_file(&self, inside: &Path) -> Result<File> {
        let create = || match File::create(self.path().join(inside)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let folders: Vec<&Path> =
                    inside.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
                for folder in folders.into_iter().rev() {
                    // Never the temporary folder itself: after Ctrl-C it must stay removed.
                    match fs::create_dir(self.path().join(folder)) {
                        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                        _ => {}
                    }
                }
                File::create(self.path().join(inside))
            }
            file => file,
        };
        create().map_err(|cause| Error::write(&self.folder, cause))
    }

    /// Gives the folder its name.
    ///
    /// # Errors
    /// What the system said. Nothing is left behind.
    pub fn finish(self) -> Result<()> {
        // A rename replaces an empty folder, except where the system does not know that.
        if cfg!(windows) {
            let _ = fs::remove_dir(&self.folder);
        }
        fs::rename(self.path(), &self.folder).map_err(|cause| Error::write(&self.folder, cause))?;
        // There is nothing left to remove under the old name.
        let _ = self.temporary.keep();
        Ok(())
    }
}
