//! Concepts that a rule file names: importers label them however rare they are. What a source has no word for is a mistake,
//! and is told with the nearest word that it has.

use std::path::PathBuf;

use chimera_logic::vocabulary::Vocabulary;

use crate::error::{Error, shown};

/// Concepts that a rule file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleConcepts {
    /// The file, for messages.
    pub file: PathBuf,
    /// The names.
    pub names: Vec<String>,
}

impl RuleConcepts {
    /// For the manifest.
    pub(super) fn chosen(&self) -> (&'static str, String) {
        ("rules", self.names.join(","))
    }

    /// A word that is none of the source's; `expected` says what they are and where one was expected, `hint` what to do where no
    /// other is near.
    pub(super) fn unknown(&self, expected: &str, word: &str, known: impl Iterator<Item = String>, hint: &str) -> Error {
        let nearest = Vocabulary::closed(known, "the source").nearest(word).map(str::to_owned);
        let message = format!("expected {expected} of `{}`, got `{}`", self.file.display(), shown(word));
        Error::input(
            message,
            Some(nearest.map_or_else(|| hint.to_owned(), |nearest| format!("did you mean `{nearest}`?"))),
        )
    }
}
