//! Records as comments of rule files, in two blocks: the head before the rules, and the list of rows after them, which ends with
//! a seal. The seal is a hash of both blocks: rules may come and go, but a record that was changed is not believed.

use std::fmt::Write;

use chimera_data::error::{Error, Result, lower_first};
use chimera_logic::diagnostic::{Code, Diagnostic, Diagnostics};
use chimera_logic::span::{SourceMap, Span};
use serde::Serialize;

use super::{MiningRecord, joined};

/// How a record starts.
const HEADING: &str = "[[mined]]";

/// How its list of rows starts, at the end of the file.
const SEEN: &str = "[mined.seen]";

/// How it ends.
const SEAL: &str = "seal = ";

const HINT: &str = "put the comments from `# [[mined]]` on, and from `# [mined.seen]` to `# seal`, back as they were written, or mine \
                    again: without them nobody can tell which rows selected the rules";

/// What is wrong with a record.
enum Damage {
    /// Its list of rows stands alone.
    Headless,
    /// It does not end with a seal.
    Unsealed,
    /// The seal is that of another text.
    Changed,
    /// It is as it was written, and says something else than records do.
    Unreadable(String),
}

impl Damage {
    fn words(&self) -> String {
        match self {
            Self::Headless => {
                "this lists rows that selected rules, but the record that it belongs to is gone".to_owned()
            }
            Self::Unsealed => "this record of how rules were mined does not end with its seal".to_owned(),
            Self::Changed => "this record of how rules were mined is not as `chimera mine` wrote it".to_owned(),
            Self::Unreadable(why) => format!("cannot read this record of how rules were mined: {why}"),
        }
    }
}

/// The lines of a record without their `#`, and where the first of them stands.
#[derive(Default)]
struct Block<'a> {
    start: usize,
    heading: &'a str,
    toml: String,
    seal: Option<&'a str>,
}

impl Block<'_> {
    fn record(&self) -> std::result::Result<MiningRecord, Damage> {
        let seal = match self.seal {
            _ if self.toml.starts_with(SEEN) => return Err(Damage::Headless),
            None => return Err(Damage::Unsealed),
            Some(seal) => seal,
        };
        if seal.trim_matches('"') != seal_of(&self.toml) {
            return Err(Damage::Changed);
        }
        #[derive(serde::Deserialize)]
        struct File {
            mined: [MiningRecord; 1],
        }
        let File { mined: [record] } =
            toml::from_str(&self.toml).map_err(|error| Damage::Unreadable(lower_first(error.message())))?;
        Ok(record)
    }
}

/// A hash of lines of a record, whatever the empty ones.
fn seal_of(toml: &str) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("chimera record of mining");
    let lines = toml.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.for_each(|line| _ = hasher.update(line.as_bytes()).update(b"\n"));
    hasher.finalize().to_string()
}

/// The records of a text, from their headings to their seals.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut inside, mut start) = (false, 0);
    for line in text.split_inclusive('\n') {
        let comment = line.trim().strip_prefix('#').map(str::trim);
        let begins = match comment {
            Some(HEADING) => true,
            // A list of rows belongs to the record above it, unless that has its own.
            Some(SEEN) => blocks.last().is_none_or(|block| block.seal.is_some()),
            _ => false,
        };
        if begins {
            blocks.push(Block { start, heading: line.trim_end(), ..Block::default() });
        }
        inside = comment.is_some_and(|comment| inside || begins || comment == SEEN);
        if let (Some(comment), Some(block), true) = (comment, blocks.last_mut(), inside) {
            match comment.strip_prefix(SEAL) {
                Some(seal) => (block.seal, inside) = (Some(seal), false),
                None => _ = writeln!(block.toml, "{comment}"),
            }
        }
        start += line.len();
    }
    blocks
}

/// The records in a rule file, or in several that follow each other: none where nothing was mined.
///
/// # Errors
/// A record that is not as it was written: rows that must not be evaluated could not be told.
pub fn read_records(name: &str, text: &str) -> Result<Vec<MiningRecord>> {
    let read = |block: &Block<'_>| {
        block.record().map_err(|damage| {
            let line = text[..block.start].lines().count() + 1;
            Error::input(format!("{name}:{line}: {}", damage.words()), Some(HINT.to_owned()))
        })
    };
    blocks(text).iter().map(read).collect()
}

/// The records in the files of a rule set, each once; those that are not as they were written are findings.
pub fn records_in(sources: &SourceMap, diagnostics: &mut Diagnostics) -> Vec<MiningRecord> {
    let mut records = Vec::new();
    for (source, text) in sources.entries() {
        for block in blocks(text.text()) {
            let (start, end) = (block.start as u32, (block.start + block.heading.len()) as u32);
            match block.record() {
                Ok(record) => records.push(record),
                Err(damage) => diagnostics
                    .push(Diagnostic::new(Code::ChangedRecord, Span { source, start, end }, damage.words()).hint(HINT)),
            }
        }
    }
    joined(records)
}

impl MiningRecord {
    /// The comments at the head of a mined file, and those at its end.
    ///
    /// # Errors
    /// None that a record can have.
    pub(crate) fn head_and_tail(&self) -> Result<[String; 2]> {
        #[derive(Serialize)]
        struct File<'a> {
            mined: [&'a MiningRecord; 1],
        }
        let text = toml::to_string(&File { mined: [self] })
            .map_err(|error| Error::input(format!("cannot write how rules were mined: {error}"), None))?;
        let (head, _) = text.split_once(SEEN).unwrap_or((&text, ""));
        let head = head.trim_end().to_owned() + "\n";
        // The library would write all of them on one line.
        let mut tail = format!("{SEEN}\nrows = [\n");
        for line in self.seen.rows.chunks(7) {
            let quoted: Vec<String> = line.iter().map(|hash| format!("\"{hash}\"")).collect();
            let _ = writeln!(tail, "{},", quoted.join(", "));
        }
        tail.push_str("]\n");
        let seal = seal_of(&format!("{head}{tail}"));
        let _ = writeln!(tail, "{SEAL}\"{seal}\"");
        Ok([head, tail].map(|block| commented(&block)))
    }

    /// All of it as comments, in one piece.
    ///
    /// # Errors
    /// None that a record can have.
    pub fn to_comments(&self) -> Result<String> {
        Ok(self.head_and_tail()?.concat())
    }
}

fn commented(text: &str) -> String {
    text.lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect()
}
