//! What is wrong with a rule set: stable codes, severities, places and hints, and a bounded collection of them.

use std::fmt;

use serde::Serialize;

use crate::span::{SourceMap, Span};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look; nothing is refused.
    Warning,
    /// The rule (or file) cannot be used as it is.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+) => {
        /// What kind of finding it is. The text of a code never changes its meaning; new kinds get new codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The stable text, such as `E012`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),+ }
            }

            /// What the code stands for, in one line.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii()),+ }
            }
        }
    };
}

codes! {
    /// a character that has no meaning in a rule file
    UnexpectedCharacter = "E001",
    /// a quoted name that is not closed on its line
    UnterminatedQuote = "E002",
    /// an escape other than `\"`, `\\`, `\n`, `\r`, `\t` or `\u{...}` in a quoted name
    BadEscape = "E003",
    /// bytes that are not valid UTF-8
    InvalidUtf8 = "E004",
    /// a quoted name with nothing in it
    EmptyName = "E005",
    /// white space inside the parentheses of a name
    SpaceInName = "E006",
    /// an operator of another language
    ForeignOperator = "E007",
    /// a line without a rule name
    MissingRuleName = "E010",
    /// a rule name that is not followed by `: `
    MissingColon = "E011",
    /// an operator without an operand
    MissingOperand = "E012",
    /// a parenthesis that is not closed on its line
    UnclosedParenthesis = "E013",
    /// a closing parenthesis without an opening one
    UnmatchedParenthesis = "E014",
    /// two operands side by side
    MissingOperator = "E015",
    /// a rule with no formula
    EmptyFormula = "E016",
    /// `true` or `false` in a formula
    Constant = "E017",
    /// a formula that is nested too deep
    TooDeep = "E018",
    /// an operator with too many operands
    TooManyOperands = "E019",
    /// a concept that the vocabulary does not have
    UnknownConcept = "E020",
    /// a rule name used twice
    DuplicateRule = "E021",
    /// something that cannot stand at this place of a formula
    UnexpectedToken = "E022",
    /// an attribute that does not exist
    UnknownAttribute = "E030",
    /// an attribute value of the wrong kind or out of range
    BadAttributeValue = "E031",
    /// an attribute given twice
    DuplicateAttribute = "E032",
    /// an attribute list that cannot be read
    MalformedAttributes = "E033",
    /// an `include` line that cannot be read
    MalformedInclude = "E040",
    /// an included file that cannot be loaded
    IncludeFailed = "E041",
    /// a file that includes itself, directly or through others
    IncludeCycle = "E042",
    /// includes nested too deep
    IncludeTooDeep = "E043",
    /// a file too large to be a rule file
    FileTooLarge = "E044",
    /// a record of how rules were mined that is not as it was written
    ChangedRecord = "E050",
    /// a rule that can never hold
    Contradiction = "E100",
    /// a rule that always holds
    Tautology = "E101",
    /// rules that cannot hold together
    Conflict = "E102",
    /// a chain of `=>` without parentheses
    ImplicationChain = "W001",
    /// a rule set without a rule
    NoRules = "W002",
    /// two rules with the same formula
    DuplicateFormula = "W100",
    /// two rules that say the same in different words
    Equivalent = "W101",
    /// a rule that follows from others
    Redundant = "W102",
    /// a part of a formula that is always true or always false
    ConstantPart = "W103",
    /// a question about the rules that was not settled within the allowed effort
    Undecided = "W104",
    /// an operand that is given twice to the same operator
    RepeatedOperand = "W105",
    /// an implication whose antecedent is never true in the data
    Vacuous = "W110",
    /// a concept that is never true, always true or never known in the data
    ConstantConcept = "W111",
    /// a rule that training rows break
    BrokenInTraining = "W112",
    /// truth configurations of a gate's operands that no row holds
    EmptyConfigurations = "W113",
    /// truth configurations that not even a chimera can supply
    NoChimera = "W114",
    /// a table without rows to train on
    NoTrainingRows = "W115",
}

impl Code {
    /// Errors start with `E`, warnings with `W`.
    #[must_use]
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('E') { Severity::Error } else { Severity::Warning }
    }
}

/// A second place that belongs to a finding ("first defined here").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub span: Span,
    /// Why it is shown.
    pub text: String,
}

/// One finding: what, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of finding.
    pub code: Code,
    /// What is wrong, in the user's words.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands under the underline.
    pub label: String,
    /// Other places that belong to it.
    pub notes: Vec<Note>,
    /// What to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A finding with neither label, notes nor hint.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, label: String::new(), notes: Vec::new(), hint: None }
    }

    /// Writes `text` under the underline.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hint = Some(text.into());
        self
    }

    /// Shows a second place.
    #[must_use]
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push(Note { span, text: text.into() });
        self
    }

    /// The finding with places resolved, ready for JSON.
    #[must_use]
    pub fn to_record(&self, sources: &SourceMap) -> DiagnosticRecord {
        let (start, end) = (sources.start(self.span), sources.end(self.span));
        DiagnosticRecord {
            code: self.code.as_str(),
            severity: self.code.severity(),
            message: self.message.clone(),
            file: sources.get(self.span.source).name().to_owned(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            hint: self.hint.clone(),
            notes: self.notes.iter().map(|note| note.to_record(sources)).collect(),
        }
    }
}

impl Note {
    fn to_record(&self, sources: &SourceMap) -> NoteRecord {
        let start = sources.start(self.span);
        let file = sources.get(self.span.source).name().to_owned();
        NoteRecord { file, line: start.line, column: start.column, text: self.text.clone() }
    }
}

/// A second place as other programs read it.
#[derive(Clone, Debug, Serialize)]
pub struct NoteRecord {
    /// File it stands in.
    pub file: String,
    /// Line of the first character, from 1.
    pub line: usize,
    /// Column of the first character, from 1.
    pub column: usize,
    /// Why it belongs to the finding.
    pub text: String,
}

/// A finding as other programs read it.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosticRecord {
    /// Stable code, such as `E012`.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// File it stands in.
    pub file: String,
    /// Line of the first character, from 1.
    pub line: usize,
    /// Column of the first character, from 1.
    pub column: usize,
    /// Line just past the last character.
    pub end_line: usize,
    /// Column just past the last character.
    pub end_column: usize,
    /// What to do.
    pub hint: Option<String>,
    /// Other places that belong to it.
    pub notes: Vec<NoteRecord>,
}

/// Findings in the order in which they were made. A hostile file can hold millions of mistakes, so only the first
/// [`Diagnostics::KEPT`] of each severity are kept and the rest are counted.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Diagnostics {
    /// How many errors, and how many warnings, are kept whole.
    pub const KEPT: usize = 1000;

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = match diagnostic.code.severity() {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if *count <= Self::KEPT {
            self.kept.push(diagnostic);
        }
    }

    /// Puts the kept findings from number `from` on in the order of their places; lexer and parser find theirs in turn.
    pub(crate) fn sort_from(&mut self, from: usize) {
        self.kept[from..].sort_by_key(|diagnostic| diagnostic.span.start);
    }

    /// Adds any number of findings.
    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    /// The kept findings.
    #[must_use]
    pub fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// Number of errors, those not kept included.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Number of warnings, those not kept included.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.warnings
    }

    /// Number of findings that are only counted.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.errors + self.warnings - self.kept.len()
    }

    /// Whether another error would still be kept (so that a costly hint is worth its time).
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.errors < Self::KEPT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_sorted() {
        let texts: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(texts.is_sorted_by(|a, b| a < b), "{texts:?}");
    }
}
