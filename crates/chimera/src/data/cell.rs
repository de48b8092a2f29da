//! What a label cell may say, in CSV text and in the strings of a Parquet column alike.

/// What is allowed in a cell, for messages.
pub(super) const ALLOWED: &str = "0, 1, true, false or an empty cell";

/// What to do about a cell that is none of these.
pub(super) const HINT: &str = "leave a cell empty where the label is unknown; every column but `id`, `media`, `split`, \
                               `group` and `oov_ancestors` is a concept, so leave out columns that hold no labels";

/// A cell that is no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotALabel;

/// The label in a cell; `None` is unknown.
#[inline]
pub(super) fn parse(cell: &str) -> Result<Option<bool>, NotALabel> {
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
    fn words_are_shown_on_one_short_line() {
        assert_eq!(shown("a\nb\0"), "a\\nb\\0");
        assert_eq!(shown(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(shown(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
    }
}
