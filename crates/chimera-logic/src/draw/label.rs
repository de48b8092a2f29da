//! Text in pictures: names made printable and short, text escaped for XML. Names are set in a monospaced font, whose
//! width is known without the font.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text with every character that cannot be shown, or that no XML may hold, replaced by a visible one.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
            '\u{7f}' => '\u{2421}',
            // Line ends of other kinds, and marks that turn the direction of all text after them.
            '\u{80}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                char::REPLACEMENT_CHARACTER
            }
            c => c,
        })
        .collect()
}

/// Columns of a monospaced font that the text fills.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// The text in at most `limit` columns. The middle goes, since long names differ at both ends.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    if columns(text) <= limit {
        return text.to_owned();
    }
    let kept = limit.saturating_sub(1);
    let tail_limit = kept * 2 / 5;
    let head = take_columns(text.chars(), kept - tail_limit);
    let tail = take_columns(text.chars().rev(), tail_limit);
    // A combining mark without its letter would sit on the dots.
    let tail = tail.iter().rev().skip_while(|c| c.width() == Some(0));
    head.iter().chain(&['…']).chain(tail).collect()
}

fn take_columns(characters: impl Iterator<Item = char>, limit: usize) -> Vec<char> {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= limit
    };
    characters.take_while(fits).collect()
}

/// The text between tags or in quotes.
#[must_use]
pub fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shorten("blue_sphere", 11), "blue_sphere");
        assert_eq!(shorten("blue_sphere", 10), "blue_s…ere");
        assert_eq!(shorten("红色的立方体", 7), "红色…体");
        assert_eq!(shorten("abcde\u{301}\u{301}xy", 4), "ab…y");
        for limit in 0..12 {
            assert!(columns(&shorten("红色的a立方体bcdef", limit)) <= limit.max(1));
        }
    }

    #[test]
    fn nothing_unprintable_stays() {
        assert_eq!(printable("a\nb\u{0}\u{7f}\u{85}\u{202e}\u{ffff}é"), "a␊b␀␡\u{fffd}\u{fffd}\u{fffd}é");
        assert_eq!(escape_xml("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
    }
}
