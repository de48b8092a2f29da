//! What a label cell may say, in CSV text and in the strings of a Parquet column alike.

/// What to do about a cell that is none of these.
pub(super) const HINT: &str = "leave a cell empty where the label is unknown; every column but `id`, `media`, `split`, \
                               `group` and `oov_ancestors` is a concept, so leave out columns that hold no labels";

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
    pub(super) fn allowed(self) -> &'static str {
        match self {
            Self::ZeroOne => "0, 1, true, false or an empty cell",
            Self::Signed => "-1 (false), 0 (unknown), 1, true, false or an empty cell",
        }
    }

    /// The label in a cell; `None` is unknown.
    #[inline]
    pub(super) fn parse(self, cell: &str) -> Result<Option<bool>, NotALabel> {
        match self {
            Self::ZeroOne => parse(cell),
            Self::Signed => match cell.trim() {
                "0" => Ok(None),
                "-1" => Ok(Some(false)),
                word => parse_word(word),
            },
        }
    }
}

/// A cell that is no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotALabel;

#[inline]
fn parse(cell: &str) -> Result<Option<bool>, NotALabel> {
    match cell.as_bytes() {
        b"0" => Ok(Some(false)),
        b"1" => Ok(Some(true)),
        b"" => Ok(None),
        _ => parse_word(cell.trim()),
    }
}

fn parse_word(word: &str) -> Result<Option<bool>, NotALabel> {
    match word {
        "" => Ok(None),
        // `0.0` is what tools write that know no missing integers.
        "0" | "0.0" => Ok(Some(false)),
        "1" | "1.0" => Ok(Some(true)),
        _ if word.eq_ignore_ascii_case("false") => Ok(Some(false)),
        _ if word.eq_ignore_ascii_case("true") => Ok(Some(true)),
        _ => Err(NotALabel),
    }
}

/// The user's words, fit for one line of a message: shortened, without control characters.
pub(super) fn shown(words: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_of_cells() {
        for cell in ["0", " 0 ", "0.0", "false", "FALSE", "False", "\tfAlSe\r"] {
            assert_eq!(parse(cell), Ok(Some(false)), "{cell:?}");
        }
        for cell in ["1", "1 ", "1.0", "true", "TRUE", " True", "\u{a0}1"] {
            assert_eq!(parse(cell), Ok(Some(true)), "{cell:?}");
        }
        for cell in ["", " ", "\t \r"] {
            assert_eq!(parse(cell), Ok(None), "{cell:?}");
        }
        for cell in ["yes", "2", "-1", "0.5", "1.00", "nan", "NaN", "null", "t", "01", "0 1", "tru\u{435}"] {
            assert_eq!(parse(cell), Err(NotALabel), "{cell:?}");
        }
    }

    #[test]
    fn signed_cells_know_three_numbers() {
        let cells = ["-1", " 0", "1", "", "true", "false", "-2", "+1"].map(|cell| CellRule::Signed.parse(cell));
        let told = [Some(false), None, Some(true), None, Some(true), Some(false)].map(Ok);
        assert_eq!(cells[..6], told);
        assert_eq!(cells[6..], [Err(NotALabel); 2]);
    }

    #[test]
    fn words_are_shown_on_one_short_line() {
        assert_eq!(shown("a\nb\0"), "a\\nb\\0");
        assert_eq!(shown(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(shown(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
    }
}
