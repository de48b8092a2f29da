//! What a sample is for, and how sources call it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a sample is for. Nothing is ever fitted on rows of `Test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// To learn from.
    Train,
    /// To calibrate with: early stops, temperatures, thresholds.
    Calibration,
    /// To evaluate on, and for nothing else.
    Test,
    /// Rows with violations for the supervised oracle alone.
    Oracle,
}

/// What sources call their splits, the first word of each group being what others are told by.
const SOURCE_WORDS: [(Split, &[&str]); 5] = [
    (Split::Train, &["train", "training"]),
    (Split::Calibration, &["calibration", "calib", "cal"]),
    (Split::Test, &["test", "testing"]),
    // An official validation set becomes `test`: it was not made for calibration, and results on it are what others report.
    (Split::Test, &["validation", "val", "valid", "dev", "eval"]),
    (Split::Oracle, &["oracle"]),
];

impl Split {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Train, Self::Calibration, Self::Test, Self::Oracle];

    /// As written in the column `split`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Calibration => "calibration",
            Self::Test => "test",
            Self::Oracle => "oracle",
        }
    }

    /// The split of exactly this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|split| split.as_str() == name)
    }

    /// The split that a source means by a word of its own; a validation set is one to test on.
    #[must_use]
    pub fn from_source(word: &str) -> Option<Self> {
        group_of(word).map(|(split, _)| *split)
    }

    /// All words that sources have for the same set of samples, by one of them: `val` and `validation`, but not `test`. None
    /// for a word that is no split's.
    #[must_use]
    pub(crate) fn source_words(word: &str) -> &'static [&'static str] {
        group_of(word).map_or(&[], |(_, words)| words)
    }
}

fn group_of(word: &str) -> Option<&'static (Split, &'static [&'static str])> {
    let word = word.trim().to_lowercase();
    SOURCE_WORDS.iter().find(|(_, words)| words.contains(&word.as_str()))
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The two halves of the calibration split, told apart by a hash of the group, or of the id where there is none, so that
/// neither order nor other rows matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// For early stops, temperatures, empirical distributions and choices.
    Fit,
    /// For thresholds alone: what was fitted has not seen it.
    Thresholds,
}

impl Half {
    /// The half that a group, or a sample without one, belongs to.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("chimera calibration half");
        hasher.update(name.as_bytes());
        if hasher.finalize().as_bytes()[0] & 1 == 0 { Self::Fit } else { Self::Thresholds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for split in Split::ALL {
            assert_eq!(Split::from_name(split.as_str()), Some(split));
            assert_eq!(Split::from_source(&format!(" {split} ").to_uppercase()), Some(split));
        }
        assert_eq!(Split::from_source("val"), Some(Split::Test));
        assert_eq!((Split::from_name("val"), Split::from_source("fold 3")), (None, None));
        assert_eq!(Split::source_words("VAL"), Split::source_words("validation"));
        assert_ne!(Split::source_words("test"), Split::source_words("validation"));
        assert!(Split::source_words("fold 3").is_empty());
    }

    #[test]
    fn halves_are_about_equal() {
        let fit = (0..10_000).filter(|row| Half::of(&format!("id-{row}")) == Half::Fit).count();
        // Five standard deviations of a fair coin: 5 * sqrt(10000) / 2 = 250.
        assert!(fit.abs_diff(5000) < 250, "{fit}");
    }
}
