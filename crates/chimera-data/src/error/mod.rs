//! What can go wrong, whose fault it is, where it is and what to do about it.

pub mod media;
pub mod table;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use self::media::MediaProblem;
use self::table::TableProblems;

/// A result of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// Who can mend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What was given is wrong: a missing file, a bad cell.
    Input,
    /// What was given may be right, but the machine failed: a full disk, a broken pipe.
    Machine,
}

/// Why something could not be done. Messages are lower case without a full stop, followed by lines that start with
/// `hint:` where there is something to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input as a whole cannot be used.
    #[error("{message}{}", hint_line(.hint.as_deref()))]
    Input {
        /// What was expected and what was found.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A table that can be opened but holds something wrong.
    #[error(transparent)]
    Table(Box<TableProblems>),
    /// One picture or video that cannot be used.
    #[error("cannot use `{}`: {problem}{}", .path.display(), hint_line(.problem.hint()))]
    Media {
        /// The file as the caller named it.
        path: PathBuf,
        /// What is wrong with it.
        problem: MediaProblem,
    },
    /// A program that does a part of the work could not be run.
    #[error("cannot run the program `{}`: {}{}", .program.display(), system_words(.cause), hint_line(program_hint(.cause)))]
    Program {
        /// The program as it was looked for.
        program: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The system refused to read a file.
    #[error("cannot read `{}`: {}", .path.display(), system_words(.cause))]
    Read {
        /// The file as the caller named it.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The system refused to write a file.
    #[error("cannot write `{}`: {}{}", .path.display(), system_words(.cause), hint_line(write_hint(.path, .cause)))]
    Write {
        /// The file as the caller named it.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

impl Error {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Input { .. } | Self::Table(_) | Self::Media { .. } => Fault::Input,
            Self::Program { .. } => Fault::Machine,
            Self::Read { cause, .. } | Self::Write { cause, .. } => match cause.kind() {
                ErrorKind::NotFound
                | ErrorKind::PermissionDenied
                | ErrorKind::IsADirectory
                | ErrorKind::NotADirectory
                | ErrorKind::InvalidFilename
                | ErrorKind::InvalidInput => Fault::Input,
                _ => Fault::Machine,
            },
        }
    }

    /// What is wrong with a file, without its path and without a hint: for lists of files.
    pub fn reason(&self) -> String {
        match self {
            Self::Media { problem, .. } => problem.to_string(),
            Self::Read { cause, .. } => system_words(cause),
            other => other.to_string(),
        }
    }

    /// An input that cannot be used, and what to do about it.
    #[must_use]
    pub fn input(message: String, hint: Option<String>) -> Self {
        Self::Input { message, hint }
    }

    /// The system refused to read a file.
    #[must_use]
    pub fn read(path: &Path, cause: io::Error) -> Self {
        Self::Read { path: path.to_owned(), cause }
    }

    pub(crate) fn media(path: &Path, problem: MediaProblem) -> Self {
        Self::Media { path: path.to_owned(), problem }
    }

    /// The system refused to write a file or folder.
    #[must_use]
    pub fn write(path: &Path, cause: io::Error) -> Self {
        Self::Write { path: path.to_owned(), cause }
    }
}

/// The hint on a line of its own, or nothing.
fn hint_line(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"))
}

fn write_hint(path: &Path, cause: &io::Error) -> Option<&'static str> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (cause.kind() == ErrorKind::NotFound && !folder.exists()).then_some("the folder does not exist; create it first")
}

fn program_hint(cause: &io::Error) -> Option<&'static str> {
    (cause.kind() == ErrorKind::NotFound).then_some(
        "videos are read by the programs `ffmpeg` and `ffprobe`; install ffmpeg (`apt install ffmpeg`, `brew install \
         ffmpeg`, `winget install ffmpeg`) and see that both are on the path",
    )
}

/// What the system said, in the words of our own messages.
#[must_use]
pub fn system_words(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::NotFound => "no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::NotADirectory => "a part of its path is not a folder".to_owned(),
        ErrorKind::StorageFull => "no space left".to_owned(),
        ErrorKind::QuotaExceeded => "disk quota exceeded".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::BrokenPipe => "the reader has closed the pipe".to_owned(),
        _ => lower_first(&cause.to_string()),
    }
}

/// The user's words, fit for one line of a message: shortened, without control characters.
pub(crate) fn shown(words: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown = String::new();
    for (count, character) in words.chars().enumerate() {
        if count == LONGEST {
            shown.push('…');
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_debug());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Text of another library, made to fit behind a colon.
pub fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    // An abbreviation such as `EOF` keeps its letters.
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(characters).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_path_and_speak_plainly() {
        let full = Error::write(Path::new("out.csv"), ErrorKind::StorageFull.into());
        assert_eq!(full.to_string(), "cannot write `out.csv`: no space left");
        assert_eq!(full.fault(), Fault::Machine);
        let missing = Error::read(Path::new("in.csv"), ErrorKind::NotFound.into());
        assert_eq!(missing.to_string(), "cannot read `in.csv`: no such file or folder");
        assert_eq!(missing.fault(), Fault::Input);
        let hinted = Error::input("no".to_owned(), Some("yes".to_owned()));
        assert_eq!(hinted.to_string(), "no\nhint: yes");
    }

    #[test]
    fn foreign_words_lose_their_capital_unless_they_are_abbreviations() {
        assert_eq!(lower_first("Invalid footer"), "invalid footer");
        assert_eq!(lower_first("EOF: at 3"), "EOF: at 3");
        assert_eq!(lower_first(""), "");
    }

    #[test]
    fn words_are_shown_on_one_short_line() {
        assert_eq!(shown("a\nb\0"), "a\\nb\\0");
        assert_eq!(shown(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(shown(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
    }
}
