//! A folder of sources for importers.

use std::fs;
use std::path::PathBuf;

use chimera_data::import::Note;
use tempfile::TempDir;

/// The first bytes of a picture, which are all that an importer looks at.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// It goes with the test.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// Nothing but what the test wrote: no dataset, no temporary folder.
    pub(crate) fn assert_no_dataset(&self) {
        let left = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = left.filter(|name| name.starts_with(".chimera") || name == "ds").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// What notes say, in one text.
pub(crate) fn told(notes: &[Note]) -> String {
    let lines = notes.iter().map(|note| format!("{} {}: {}", note.count, note.message, note.listed.join(", ")));
    lines.collect::<Vec<_>>().join("\n")
}
