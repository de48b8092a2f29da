//! The fixed spellings of the language: operators, punctuation and reserved words. Symbols of other languages are in the same
//! table with a hint, so that one look finds what was meant and what to write instead.

use super::TokenKind;

/// A symbol's spelling, what it is read as, and what to write instead when it belongs to another language.
pub(super) struct Symbol {
    pub(super) text: &'static str,
    pub(super) kind: TokenKind,
    pub(super) hint: Option<&'static str>,
}

/// The longest symbol at the start of `text`.
pub(super) fn symbol_at(text: &str) -> Option<&'static Symbol> {
    let first = text.as_bytes().first()?;
    // Comparing first bytes first: most symbols fail there.
    SYMBOLS.iter().find(|symbol| symbol.text.as_bytes()[0] == *first && text.starts_with(symbol.text))
}

const fn own(text: &'static str, kind: TokenKind) -> Symbol {
    Symbol { text, kind, hint: None }
}

const fn foreign(text: &'static str, kind: TokenKind, hint: &'static str) -> Symbol {
    Symbol { text, kind, hint: Some(hint) }
}

const IFF: &str = "write `<=>` for \"both or neither\"";
const XOR: &str = "write `!(a <=> b)` for \"exactly one of them\"";
const REVERSED: &str = "write the implication from left to right: `b => a`";

/// A symbol stands before those that it starts with; apart from that, the frequent ones come first.
const SYMBOLS: &[Symbol] = &[
    own("(", TokenKind::Open),
    own(")", TokenKind::Close),
    foreign("&&", TokenKind::And, "write a single `&`"),
    own("&", TokenKind::And),
    foreign("||", TokenKind::Or, "write a single `|`"),
    own("|", TokenKind::Or),
    own("=>", TokenKind::Implies),
    own("<=>", TokenKind::Iff),
    foreign("!==", TokenKind::Iff, XOR),
    foreign("!=", TokenKind::Iff, XOR),
    own("!", TokenKind::Not),
    foreign(":=", TokenKind::Colon, "write `: ` after the rule's name"),
    own(":", TokenKind::Colon),
    foreign("==>", TokenKind::Implies, "write `=>`"),
    foreign("===", TokenKind::Iff, IFF),
    foreign("==", TokenKind::Iff, IFF),
    own("=", TokenKind::Equals),
    own("[", TokenKind::OpenBracket),
    own("]", TokenKind::CloseBracket),
    own(",", TokenKind::Comma),
    own("->", TokenKind::Implies),
    foreign("-->", TokenKind::Implies, "write `=>`"),
    own("<->", TokenKind::Iff),
    foreign("<==>", TokenKind::Iff, "write `<=>`"),
    foreign("<=", TokenKind::Implies, REVERSED),
    foreign("<-", TokenKind::Implies, REVERSED),
    own("¬", TokenKind::Not),
    own("∧", TokenKind::And),
    own("⋀", TokenKind::And),
    own("∨", TokenKind::Or),
    own("⋁", TokenKind::Or),
    own("⇒", TokenKind::Implies),
    own("→", TokenKind::Implies),
    own("⟹", TokenKind::Implies),
    own("⟶", TokenKind::Implies),
    own("⇔", TokenKind::Iff),
    own("↔", TokenKind::Iff),
    own("⟺", TokenKind::Iff),
    own("⟷", TokenKind::Iff),
    own("≡", TokenKind::Iff),
    foreign("~", TokenKind::Not, "write `!`"),
    foreign("*", TokenKind::And, "write `&`"),
    foreign("/\\", TokenKind::And, "write `&`"),
    foreign("+", TokenKind::Or, "write `|`"),
    foreign("\\/", TokenKind::Or, "write `|`"),
    foreign("^", TokenKind::Iff, XOR),
    foreign("⊕", TokenKind::Iff, XOR),
];

/// What a reserved word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserved {
    Operator(TokenKind),
    Constant,
}

/// A word that is an operator or a constant and so never a bare name, whatever its case.
pub(crate) fn reserved(word: &str) -> Option<Reserved> {
    const WORDS: [(&str, Reserved); 5] = [
        ("not", Reserved::Operator(TokenKind::Not)),
        ("and", Reserved::Operator(TokenKind::And)),
        ("or", Reserved::Operator(TokenKind::Or)),
        ("true", Reserved::Constant),
        ("false", Reserved::Constant),
    ];
    WORDS.iter().find(|(text, _)| word.eq_ignore_ascii_case(text)).map(|&(_, reserved)| reserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_is_found_by_its_own_text() {
        for symbol in SYMBOLS {
            assert_eq!(symbol_at(symbol.text).map(|found| found.text), Some(symbol.text));
        }
    }
}
