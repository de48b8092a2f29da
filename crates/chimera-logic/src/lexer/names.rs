//! Which texts are names without quotes: words of letters, digits and `_ . / - :`, with arguments in parentheses that follow
//! directly, as in `collide(shape=sphere,color=red)`.

use super::symbols::reserved;

/// Whether a text can stand bare where a name is expected.
pub(crate) fn is_bare_name(text: &str) -> bool {
    !text.is_empty() && bare_name_length(text) == text.len() && reserved(text).is_none()
}

/// Length in bytes of the bare name or reserved word at the start of `text`; 0 if there is none. Arguments in parentheses
/// belong to the name when they follow it directly and hold neither white space nor further parentheses.
pub(super) fn bare_name_length(text: &str) -> usize {
    let mut end = word_length(text);
    if end == 0 || reserved(&text[..end]).is_some() {
        return end;
    }
    loop {
        let arguments = argument_length(&text[end..], |_| false);
        if arguments == 0 {
            return end;
        }
        end += arguments;
        end += continuation_length(&text[end..]);
    }
}

/// Length of `(a,b)` at the start of `text` when it also holds spaces, as in `collide(sphere, red)` or `enter( cube )`.
pub(super) fn spaced_arguments(text: &str) -> Option<usize> {
    let length = argument_length(text, |c| c == ' ');
    let inside = text.get(1..length.checked_sub(1)?)?.trim();
    // `a(b c)` is more likely a missing operator.
    let arguments = inside.contains([',', '=']) || !inside.contains(' ');
    (arguments && !inside.is_empty()).then_some(length)
}

/// Length of an attribute's value, which may hold what a name may not (`-1`, `.5`, `99%`), so that it is judged whole.
pub(super) fn value_length(text: &str) -> usize {
    let ends = |&(at, c): &(usize, char)| match c {
        ':' => is_colon(&text[at..]),
        c => c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | '"' | '\'' | '#' | ';'),
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(at, _)| at);
    text[..end].trim_end_matches(',').len()
}

/// What a name may hold anywhere; dashes and colons depend on what follows them.
pub(super) fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/')
}

fn argument_length(text: &str, also: impl Fn(char) -> bool) -> usize {
    let Some(inside) = text.strip_prefix('(') else { return 0 };
    let allowed = |c: char| is_name_character(c) || matches!(c, ',' | '=' | ':' | '-') || also(c);
    match inside.find(|c| !allowed(c)) {
        Some(end) if end > 0 && inside[end..].starts_with(')') => end + 2,
        _ => 0,
    }
}

/// A word starts with a letter, a digit or `_`.
fn word_length(text: &str) -> usize {
    match text.chars().next() {
        Some(c) if c.is_alphanumeric() || c == '_' => continuation_length(text),
        _ => 0,
    }
}

/// `->` and `-->` win over `-` in a name.
fn continuation_length(text: &str) -> usize {
    let ends = |&(at, c): &(usize, char)| match c {
        '-' => text[at + 1..].starts_with('>') || text[at + 1..].starts_with("->"),
        ':' => is_colon(&text[at..]),
        c => !is_name_character(c),
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

/// Whether the `:` that `text` starts with ends a rule's name: white space or nothing follows it.
fn is_colon(text: &str) -> bool {
    text[1..].chars().next().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_means_that_the_whole_text_is_one_name() {
        for text in ["", "a b", "a:", "not", "True", "a-", "-a", "f(", "f(a b)", "a->b", "\"", "a#"] {
            assert_eq!(is_bare_name(text), matches!(text, "a-"), "{text:?}");
        }
    }
}
