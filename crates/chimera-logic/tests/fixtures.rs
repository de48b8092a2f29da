//! The rule language as its users see it: every file under `fixtures/` is loaded, and what comes of it is a snapshot to read.
//! Valid fixtures show rules, DAG and warnings; invalid ones show the findings as text. A first line
//! `# concepts: a, b, "c d"` closes the vocabulary. Files in subfolders are there to be included.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Component, Path, PathBuf};

use chimera_logic::diagnostic::Code;
use chimera_logic::load::{File, Loaded, MAX_FILE_BYTES, MAX_INCLUDE_DEPTH, load, parse_file};
use chimera_logic::printer;
use chimera_logic::render::{Palette, render_all};
use chimera_logic::rules::RuleSet;
use chimera_logic::syntax::{FileLine, Statement};
use chimera_logic::vocabulary::Vocabulary;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The fixtures of a kind, by the names that findings show: `valid/crlf.rules`.
fn fixtures(kind: &str) -> Vec<String> {
    let entries = fs::read_dir(folder().join(kind)).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".rules"));
    let mut names: Vec<_> = names.map(|name| format!("{kind}/{name}")).collect();
    names.sort();
    names
}

fn name_of(path: &Path) -> String {
    let kind = path.parent().and_then(Path::file_name).unwrap();
    format!("{}/{}", kind.to_str().unwrap(), path.file_name().unwrap().to_str().unwrap())
}

fn read(name: &str) -> Result<File, String> {
    let bytes = fs::read(folder().join(name)).map_err(|_| "no such file".to_owned())?;
    Ok(File { name: name.to_owned(), bytes })
}

/// Paths are relative to the including file, and `a/../b` is `b`.
fn resolve(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_str().unwrap()),
            _ => {}
        }
    }
    parts.join("/")
}

/// The vocabulary that the first line asks for. Names stand apart by `, `, since arguments hold commas of their own.
fn vocabulary(bytes: &[u8]) -> Vocabulary {
    let text = String::from_utf8_lossy(bytes);
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("# concepts: ") {
        Some(names) => {
            let names = names.split(", ").map(|name| name.trim_matches('"').to_owned());
            Vocabulary::closed(names, "the columns of samples.csv")
        }
        None => Vocabulary::open(),
    }
}

fn load_bytes(name: &str, bytes: &[u8]) -> Loaded {
    let file = File { name: name.to_owned(), bytes: bytes.to_vec() };
    load(file, vocabulary(bytes), &mut |from, path| read(&resolve(from, path)))
}

/// The lines of one file, and whether it has errors of its own.
fn lines_of(bytes: &[u8]) -> (Vec<FileLine>, bool) {
    let parsed = parse_file(File { name: "entry".to_owned(), bytes: bytes.to_vec() });
    (parsed.lines, parsed.diagnostics.errors() > 0)
}

fn format(bytes: &[u8]) -> String {
    printer::format_file(&lines_of(bytes).0).unwrap()
}

fn attributes_of(rule: &chimera_logic::rules::Rule) -> String {
    let given = rule.attributes.given().into_iter().map(|(name, text)| format!("{name}={text}"));
    given.collect::<Vec<_>>().join(" ")
}

/// What must not change when a file is formatted.
fn canonical(rule_set: &RuleSet) -> Vec<(String, String, String)> {
    let rule =
        |rule: &chimera_logic::rules::Rule| (rule.name.clone(), attributes_of(rule), rule_set.dag.text(rule.root));
    rule_set.rules.iter().map(rule).collect()
}

fn describe(formatted: &str, loaded: &Loaded) -> String {
    let Loaded { rule_set, diagnostics, sources } = loaded;
    let dag = &rule_set.dag;
    let mut text = format!("formatted:\n{formatted}\nrules:\n");
    for rule in &rule_set.rules {
        let attributes = attributes_of(rule);
        let shown = if attributes.is_empty() { String::new() } else { format!(" [{attributes}]") };
        let name = printer::quote_name(&rule.name);
        let _ = writeln!(text, "{name} ({}){shown}: {}", rule_set.family(rule), dag.text(rule.root));
    }
    text.push_str("\ngates:\n");
    for (id, op, operands) in dag.gates() {
        let operands: Vec<_> = operands.iter().map(|&operand| dag.text(operand)).collect();
        let _ = writeln!(text, "{} level {} {}: {}", id.index(), dag.level(id), op.name(), operands.join(" ; "));
    }
    let _ = writeln!(text, "\n{:?}", rule_set.sharing());
    if diagnostics.warnings() > 0 {
        let _ = write!(text, "\n{}", render_all(diagnostics, sources, Palette::Plain));
    }
    text
}

#[test]
fn valid() {
    insta::glob!("fixtures/valid/*.rules", |path| {
        let name = name_of(path);
        let File { bytes, .. } = read(&name).unwrap();
        let loaded = load_bytes(&name, &bytes);
        let findings = render_all(&loaded.diagnostics, &loaded.sources, Palette::Plain);
        assert_eq!(loaded.diagnostics.errors(), 0, "{findings}");
        let formatted = format(&bytes);
        assert_eq!(format(formatted.as_bytes()), formatted, "formatting {name} twice");
        let again = load_bytes(&name, formatted.as_bytes());
        assert_eq!(canonical(&again.rule_set), canonical(&loaded.rule_set), "{name}:\n{formatted}");
        insta::assert_snapshot!(describe(&formatted, &loaded));
    });
}

#[test]
fn invalid() {
    insta::glob!("fixtures/invalid/*.rules", |path| {
        let name = name_of(path);
        let File { bytes, .. } = read(&name).unwrap();
        let Loaded { rule_set, diagnostics, sources } = load_bytes(&name, &bytes);
        assert!(diagnostics.errors() > 0, "{name} has no errors");
        let (lines, errors) = lines_of(&bytes);
        let broken = lines.iter().any(|line| line.statement == Statement::Broken);
        assert_eq!(broken, errors, "{name}: an error makes its line broken, and nothing else does");
        assert_eq!(printer::format_file(&lines).is_none(), broken, "{name}: a broken file is never rewritten");
        let findings = render_all(&diagnostics, &sources, Palette::Plain);
        insta::assert_snapshot!(format!("{findings}sound rules: {}", rule_set.rules.len()));
    });
}

/// A file whose includes never end; no folder of fixtures is needed for it.
fn endless_includes() -> Loaded {
    let file = |number: usize| File {
        name: format!("part{number}.rules"),
        bytes: format!("rule{number}: worker => helmet\ninclude \"part{}.rules\"\n", number + 1).into_bytes(),
    };
    let mut number = 0;
    load(file(0), Vocabulary::open(), &mut |_, _| {
        number += 1;
        Ok(file(number))
    })
}

/// An include of a file one byte larger than allowed; too large to lie in the repository.
fn huge_include() -> Loaded {
    let entry = b"include \"huge.rules\"\nr: worker => helmet\n".to_vec();
    load(File { name: "entry.rules".to_owned(), bytes: entry }, Vocabulary::open(), &mut |_, path| {
        Ok(File { name: path.to_owned(), bytes: vec![b'#'; MAX_FILE_BYTES + 1] })
    })
}

#[test]
fn includes_that_never_end() {
    let Loaded { rule_set, diagnostics, sources } = endless_includes();
    assert_eq!(rule_set.rules.len(), MAX_INCLUDE_DEPTH + 1);
    insta::assert_snapshot!(render_all(&diagnostics, &sources, Palette::Plain));
}

#[test]
fn a_file_too_large() {
    let Loaded { rule_set, diagnostics, sources } = huge_include();
    assert_eq!(rule_set.rules.len(), 1);
    insta::assert_snapshot!(render_all(&diagnostics, &sources, Palette::Plain));
}

#[test]
fn ten_mistakes_are_ten_findings() {
    let name = "invalid/ten_mistakes.rules";
    let loaded = load_bytes(name, &read(name).unwrap().bytes);
    let kept = loaded.diagnostics.kept();
    let lines: Vec<_> = kept.iter().map(|diagnostic| loaded.sources.start(diagnostic.span).line).collect();
    assert_eq!(lines, (1..=10).collect::<Vec<_>>());
    let codes: BTreeSet<_> = kept.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes.len(), 10);
}

#[test]
fn every_code_has_a_fixture() {
    let (valid, invalid) = (fixtures("valid"), fixtures("invalid"));
    assert!(valid.len() >= 40, "{} valid fixtures", valid.len());
    assert!(invalid.len() >= 60, "{} invalid fixtures", invalid.len());
    let files = valid.iter().chain(&invalid).map(|name| load_bytes(name, &read(name).unwrap().bytes));
    let seen: BTreeSet<Code> = files
        .chain([endless_includes(), huge_include()])
        .flat_map(|loaded| loaded.diagnostics.kept().iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>())
        .collect();
    // Lint's findings, numbered from 100, are for `tests/lint.rs`.
    // Records of mining are read, and found to be changed, above this crate (`chimera-cli/tests/it/mine.rs`).
    let of_text = |code: &&Code| code.as_str()[1..] < *"100" && **code != Code::ChangedRecord;
    let missing: Vec<_> = Code::ALL.iter().filter(of_text).filter(|code| !seen.contains(code)).collect();
    assert!(missing.is_empty(), "no fixture shows {missing:?}");
}

/// Every fixture cut short at every byte, and with every byte left out: a line is broken exactly when something is reported.
#[test]
fn no_damage_goes_unreported() {
    let small = |name: &String| Some(read(name).unwrap().bytes).filter(|bytes| bytes.len() < 1000);
    for bytes in fixtures("valid").iter().chain(&fixtures("invalid")).filter_map(small) {
        for at in 0..bytes.len() {
            for damaged in [bytes[..at].to_vec(), [&bytes[..at], &bytes[at + 1..]].concat()] {
                let (lines, errors) = lines_of(&damaged);
                let broken = lines.iter().any(|line| line.statement == Statement::Broken);
                assert_eq!(broken, errors, "{:?}", String::from_utf8_lossy(&damaged));
            }
        }
    }
}

/// Messages and hints keep one voice: lower case, no full stop, closed backticks.
#[test]
fn findings_keep_one_voice() {
    for name in fixtures("invalid") {
        let loaded = load_bytes(&name, &read(&name).unwrap().bytes);
        for diagnostic in loaded.diagnostics.kept() {
            for text in [Some(&diagnostic.message), diagnostic.hint.as_ref()].into_iter().flatten() {
                assert!(!text.starts_with(char::is_uppercase), "{name}: {text}");
                assert!(!text.ends_with('.'), "{name}: {text}");
                assert_eq!(text.matches('`').count() % 2, 0, "{name}: {text}");
            }
        }
    }
}
