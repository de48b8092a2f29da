//! Drives the real binary in a fresh folder.

pub(crate) mod bits;
pub(crate) mod pictures;
pub(crate) mod trained;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder that goes away with the test.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a command left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), content).unwrap();
    }

    /// Writes 32-bit floats, given as bytes, as numpy does: `width` a row.
    pub(crate) fn write_npy(&self, name: &str, width: usize, values: &[u8]) {
        let rows = values.len() / (4 * width);
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {width}), }}\n");
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        self.write(name, [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), values].concat());
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chimera"));
        command.args(words.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &str) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }

    /// Runs a command whose results nobody reads: the other end of its pipe is closed from the start.
    pub(crate) fn run_unheard(&self, words: &str) -> Ran {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Ran::from(self.command(words).stdout(writer).output().unwrap())
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
