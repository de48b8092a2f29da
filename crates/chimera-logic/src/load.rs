//! Rule files to a rule set: includes resolved through a callback, names and concepts resolved, all findings collected.
//! This crate opens no files; whoever calls it decides what a path means.

use std::collections::BTreeMap;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use crate::dag::Dag;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::parser;
use crate::rules::{self, RuleSet};
use crate::span::{SourceId, SourceMap, Span};
use crate::syntax::{FileLine, IncludeLine, RuleLine, Statement};
use crate::vocabulary::Vocabulary;

/// How deep files may include each other.
pub const MAX_INCLUDE_DEPTH: usize = 64;

/// The largest rule file, in bytes.
pub const MAX_FILE_BYTES: usize = 256 << 20;

/// Comparisons of an unknown concept with a known one that a load spends on hints.
const HINT_COMPARISONS: usize = 1_000_000;

/// A file's content under the name that identifies it: two paths with the same name are the same file.
#[derive(Clone, Debug)]
pub struct File {
    /// Identity, also shown in diagnostics.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Finds an included file: called with the name of the including file and the path as written there. An error is shown to
/// the user as the reason.
pub(crate) type Loader<'a> = dyn FnMut(&str, &str) -> Result<File, String> + 'a;

/// What loading gave. The rule set holds every rule that is sound, also when others are not.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The sound rules.
    pub rule_set: RuleSet,
    /// What is wrong.
    pub diagnostics: Diagnostics,
    /// The texts that the findings point into.
    pub sources: SourceMap,
}

/// Loads a rule file and everything it includes.
pub fn load(file: File, vocabulary: Vocabulary, loader: &mut Loader<'_>) -> Loaded {
    let mut loading = Loading {
        rule_set: RuleSet::new(Dag::new(vocabulary)),
        diagnostics: Diagnostics::default(),
        sources: SourceMap::default(),
        first_use: IndexMap::default(),
        files: BTreeMap::new(),
        hints: BTreeMap::new(),
        loader,
    };
    let start = loading.file(file, None, 0);
    if loading.rule_set.rules.is_empty() && loading.diagnostics.errors() == 0 {
        let span = Span { source: start, start: 0, end: 0 };
        loading.diagnostics.push(
            Diagnostic::new(Code::NoRules, span, "there is no rule here")
                .hint("a rule is a line such as `name: a => b`"),
        );
    }
    Loaded { rule_set: loading.rule_set, diagnostics: loading.diagnostics, sources: loading.sources }
}

/// Loads a single text that includes nothing.
///
/// # Examples
///
/// A concept that a closed vocabulary lacks is a finding; rules that are sound are there all the same:
///
/// ```
/// use chimera_logic::load::load_text;
/// use chimera_logic::vocabulary::Vocabulary;
///
/// let columns = ["bicycle", "helmet"].map(str::to_owned);
/// let text = "worn: bicycle => helmet\ntypo: bicycle => helmt\n";
/// let loaded = load_text("my.rules", text, Vocabulary::closed(columns, "the columns of labels.csv"));
///
/// assert_eq!(loaded.rule_set.rules.len(), 1);
/// assert_eq!(loaded.rule_set.rules[0].name, "worn");
/// assert_eq!(loaded.diagnostics.errors(), 1);
/// let finding = loaded.diagnostics.kept()[0].to_record(&loaded.sources);
/// assert_eq!((finding.code, finding.line), ("E020", 2));
/// assert_eq!(finding.hint.as_deref(), Some("did you mean `helmet`?"));
/// ```
#[must_use]
pub fn load_text(name: &str, text: &str, vocabulary: Vocabulary) -> Loaded {
    let file = File { name: name.to_owned(), bytes: text.as_bytes().to_vec() };
    load(file, vocabulary, &mut |_, _| Err("includes are not available here".to_owned()))
}

/// One file line by line as written, without following its includes or resolving a name.
#[must_use]
pub fn parse_file(file: File) -> ParsedFile {
    let (mut sources, mut diagnostics) = (SourceMap::default(), Diagnostics::default());
    let (id, readable) = add_file(file, &mut sources, &mut diagnostics, None);
    let source = sources.share(id);
    let lines = if readable {
        source.lines().map(|(offset, line)| parser::parse_line(id, &source, offset, line, &mut diagnostics)).collect()
    } else {
        vec![FileLine { statement: Statement::Broken, comment: None }]
    };
    ParsedFile { lines, diagnostics, sources }
}

/// What [`parse_file`] gives.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    /// The lines.
    pub lines: Vec<FileLine>,
    /// What is wrong with them.
    pub diagnostics: Diagnostics,
    /// The text that the findings point into.
    pub sources: SourceMap,
}

/// Takes a file in as text and says whether it is worth reading. What is wrong with it as a whole is reported there or where
/// it was included.
fn add_file(
    file: File,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
    included_at: Option<Span>,
) -> (SourceId, bool) {
    let File { name, bytes } = file;
    let too_large = bytes.len() > MAX_FILE_BYTES;
    let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let (source, invalid) = sources.add_bytes(name.clone(), if too_large { Vec::new() } else { bytes });
    if too_large {
        let span = included_at.unwrap_or(Span { source, start: 0, end: 0 });
        let message = format!("`{name}` is larger than {} MiB, too large for a rule file", MAX_FILE_BYTES >> 20);
        diagnostics.push(
            Diagnostic::new(Code::FileTooLarge, span, message).hint("split it into files that one file includes"),
        );
        return (source, false);
    }
    let Some(&first) = invalid.first() else { return (source, true) };
    let message = match invalid.len() {
        _ if utf16 => "this file is in UTF-16".to_owned(),
        1 => "this is not valid UTF-8".to_owned(),
        count => format!("this is not valid UTF-8, here and at {} more places", count - 1),
    };
    diagnostics.push(Diagnostic::new(Code::InvalidUtf8, first, message).hint("save the file as UTF-8"));
    (source, !utf16)
}

/// Whether a file is being read (it includes us) or has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Open,
    Done,
}

struct Loading<'a, 'l> {
    rule_set: RuleSet,
    diagnostics: Diagnostics,
    sources: SourceMap,
    /// Rule names with the place of their first definition.
    first_use: IndexMap<String, Span, RandomState>,
    files: BTreeMap<String, Progress>,
    /// Unknown concepts that have been looked up for a hint before.
    hints: BTreeMap<String, Option<String>>,
    loader: &'a mut Loader<'l>,
}

impl Loading<'_, '_> {
    /// Reads a file; `included_at` is where another one asked for it.
    fn file(&mut self, file: File, included_at: Option<Span>, depth: usize) -> SourceId {
        let name = file.name.clone();
        let (source, readable) = add_file(file, &mut self.sources, &mut self.diagnostics, included_at);
        if !readable {
            return source;
        }
        self.files.insert(name.clone(), Progress::Open);
        let text = self.sources.share(source);
        for (offset, line) in text.lines() {
            match parser::parse_line(source, &text, offset, line, &mut self.diagnostics).statement {
                Statement::Rule(rule) => self.rule(rule),
                Statement::Include(include) => self.include(&name, &include, depth),
                Statement::Blank | Statement::Broken => {}
            }
        }
        self.files.insert(name, Progress::Done);
        source
    }

    fn include(&mut self, from: &str, include: &IncludeLine, depth: usize) {
        let IncludeLine { path, span } = include;
        if depth == MAX_INCLUDE_DEPTH {
            let message = format!("includes are nested deeper than {MAX_INCLUDE_DEPTH} files");
            return self.diagnostics.push(
                Diagnostic::new(Code::IncludeTooDeep, *span, message)
                    .hint("look for a file that includes itself under another name"),
            );
        }
        let file = match (self.loader)(from, path) {
            Ok(file) => file,
            Err(reason) => {
                let message = format!("cannot include `{path}`: {reason}");
                return self.diagnostics.push(
                    Diagnostic::new(Code::IncludeFailed, *span, message)
                        .hint("paths are relative to the file that includes them"),
                );
            }
        };
        match self.files.get(&file.name) {
            // Included before by another way: once is enough.
            Some(Progress::Done) => {}
            Some(Progress::Open) => {
                let (message, hint) = if file.name == from {
                    ("this file includes itself".to_owned(), "remove this line")
                } else {
                    let message = format!("`{path}` includes this file, which includes it again");
                    (message, "move the shared rules into a file of their own")
                };
                self.diagnostics.push(Diagnostic::new(Code::IncludeCycle, *span, message).hint(hint));
            }
            None => {
                self.file(file, Some(*span), depth + 1);
            }
        }
    }

    fn rule(&mut self, rule: RuleLine) {
        let RuleLine { name, name_span, attributes, formula } = rule;
        let unknown = rules::unknown_concepts(self.rule_set.dag.vocabulary(), &formula);
        for &(concept, span) in &unknown {
            self.unknown_concept(concept, span);
        }
        if let Some(&first) = self.first_use.get(&name) {
            return self.diagnostics.push(
                Diagnostic::new(Code::DuplicateRule, name_span, format!("rule `{name}` is defined twice"))
                    .note(first, "first defined here")
                    .hint("give one of them another name"),
            );
        }
        self.first_use.insert(name.clone(), name_span);
        if unknown.is_empty() {
            self.rule_set.add(name, attributes, &formula);
        }
    }

    fn unknown_concept(&mut self, concept: &str, span: Span) {
        let vocabulary = self.rule_set.dag.vocabulary();
        let origin = vocabulary.origin().unwrap_or_default();
        let mut diagnostic = Diagnostic::new(Code::UnknownConcept, span, format!("unknown concept `{concept}`"))
            .label(format!("not among {origin}"));
        // Looking for the nearest name is the one costly step: it is done once a name, and a hostile file gets no more of it.
        if self.diagnostics.has_room() && self.hints.len() * vocabulary.len() < HINT_COMPARISONS {
            let nearest = self
                .hints
                .entry(concept.to_owned())
                .or_insert_with(|| vocabulary.nearest(concept).map(crate::printer::quote_name));
            diagnostic.hint = Some(match nearest {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("there are {} concepts, none of a similar name", vocabulary.len()),
            });
        }
        self.diagnostics.push(diagnostic);
    }
}
