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

    /// The split that a source means by a word of its own. An official validation set becomes `test`: it was not made
    /// for calibration, and results on it are what others report.
    #[must_use]
    pub fn from_source(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "train" | "training" => Some(Self::Train),
            "calibration" | "calib" | "cal" => Some(Self::Calibration),
            "test" | "testing" | "val" | "valid" | "validation" | "dev" | "eval" => Some(Self::Test),
            "oracle" => Some(Self::Oracle),
            _ => None,
        }
    }
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
    }

    #[test]
    fn halves_are_about_equal() {
        let fit = (0..10_000).filter(|row| Half::of(&format!("id-{row}")) == Half::Fit).count();
        // Five standard deviations of a fair coin: 5 * sqrt(10000) / 2 = 250.
        assert!(fit.abs_diff(5000) < 250, "{fit}");
    }
}
