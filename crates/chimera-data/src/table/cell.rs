//! What a label cell may say, in CSV text and in the strings of a Parquet column alike.

pub(crate) use crate::error::shown;

/// What the signs in label cells mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellRule {
    /// 0 and `false` are false, 1 and `true` are true, an empty cell is unknown.
    #[default]
    ZeroOne,
    /// -1 is false, 0 or an empty cell is unknown, 1 is true. `true`, `false` and Parquet's booleans mean what they say.
    Signed,
}

impl CellRule {
    /// What is allowed in a cell, for messages.
    fn allowed(self) -> &'static str {
        match self {
            Self::ZeroOne => "0, 1, true, false or an empty cell",
            Self::Signed => "-1 (false), 0 (unknown), 1, true, false or an empty cell",
        }
    }

    /// What is wrong with a cell that is none of these, and what to do.
    pub(super) fn complaint(self, cell: &str) -> (String, Option<&'static str>) {
        let cell = cell.trim();
        (format!("expected {}, got `{}`", self.allowed(), shown(cell)), Some(self.hint(cell)))
    }

    /// What to do about a cell that is no label.
    pub(super) fn hint(self, cell: &str) -> &'static str {
        match (self, cell.trim_matches('"')) {
            (Self::ZeroOne, "-1" | "-1.0") => {
                "if -1 is false and 0 unknown, `chimera import table --unknown 0` reads it so"
            }
            _ => {
                "leave a cell empty where the label is unknown; every column but `id`, `media`, `split`, `group` and \
                 `oov_ancestors` is a concept: `chimera import table --ignore COLUMN` leaves out one that holds no labels"
            }
        }
    }

    /// The label in a cell; `None` is unknown.
    #[inline]
    pub(super) fn parse(self, cell: &str) -> Result<Option<bool>, NotALabel> {
        match cell.as_bytes() {
            b"0" => self.label(0),
            b"1" => self.label(1),
            b"" => Ok(None),
            _ => self.parse_word(cell.trim()),
        }
    }

    fn parse_word(self, word: &str) -> Result<Option<bool>, NotALabel> {
        match word {
            "" => Ok(None),
            // `0.0` is what tools write that know no missing integers.
            "0" | "0.0" | "-0" | "-0.0" => self.label(0),
            "1" | "1.0" => self.label(1),
            "-1" | "-1.0" => self.label(-1),
            _ if word.eq_ignore_ascii_case("false") => Ok(Some(false)),
            _ if word.eq_ignore_ascii_case("true") => Ok(Some(true)),
            _ => Err(NotALabel),
        }
    }

    /// What a number means.
    #[inline]
    pub(super) fn label(self, number: i8) -> Result<Option<bool>, NotALabel> {
        match (self, number) {
            (_, 1) => Ok(Some(true)),
            (Self::ZeroOne, 0) | (Self::Signed, -1) => Ok(Some(false)),
            (Self::Signed, 0) => Ok(None),
            _ => Err(NotALabel),
        }
    }
}

/// A cell that is no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotALabel;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_of_cells() {
        let parse = |cell| CellRule::ZeroOne.parse(cell);
        for cell in ["0", " 0 ", "0.0", "-0.0", "false", "FALSE", "False", "\tfAlSe\r"] {
            assert_eq!(parse(cell), Ok(Some(false)), "{cell:?}");
        }
        for cell in ["1", "1 ", "1.0", "true", "TRUE", " True", "\u{a0}1"] {
            assert_eq!(parse(cell), Ok(Some(true)), "{cell:?}");
        }
        for cell in ["", " ", "\t \r"] {
            assert_eq!(parse(cell), Ok(None), "{cell:?}");
        }
        for cell in ["yes", "2", "-1", "-1.0", "0.5", "1.00", "nan", "NaN", "null", "t", "01", "0 1", "tru\u{435}"] {
            assert_eq!(parse(cell), Err(NotALabel), "{cell:?}");
        }
    }

    #[test]
    fn signed_cells_know_three_numbers() {
        let parse = |cell| CellRule::Signed.parse(cell);
        for cell in ["-1", "-1.0", " -1 ", "false"] {
            assert_eq!(parse(cell), Ok(Some(false)), "{cell:?}");
        }
        for cell in ["0", " 0", "0.0", "-0", "-0.0", ""] {
            assert_eq!(parse(cell), Ok(None), "{cell:?}");
        }
        for cell in ["1", "1.0", "TRUE"] {
            assert_eq!(parse(cell), Ok(Some(true)), "{cell:?}");
        }
        for cell in ["-2", "+1", "0.5", "-1.00"] {
            assert_eq!(parse(cell), Err(NotALabel), "{cell:?}");
        }
    }

    #[test]
    fn hints_name_the_option_that_helps() {
        assert!(CellRule::ZeroOne.hint("-1.0").contains("--unknown 0"));
        assert!(CellRule::ZeroOne.hint("cat").contains("--ignore"));
        assert!(CellRule::Signed.hint("-1").contains("--ignore"));
    }
}
