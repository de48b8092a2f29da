//! Files made to hurt: huge, deep, wide, binary, circular. Each must give a finding with a place (or load), never a panic, a
//! stack overflow or time that grows faster than the file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;

use chimera_logic::diagnostic::Diagnostics;
use chimera_logic::load::{File, Loaded, MAX_INCLUDE_DEPTH, load, load_text};
use chimera_logic::render::{Palette, render_all};
use chimera_logic::syntax::{MAX_DEPTH, MAX_OPERANDS};
use chimera_logic::vocabulary::Vocabulary;

fn open(text: &str) -> Loaded {
    load_text("hostile.rules", text, Vocabulary::open())
}

fn codes(loaded: &Loaded) -> Vec<&'static str> {
    loaded.diagnostics.kept().iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}

fn shown(loaded: &Loaded) -> String {
    render_all(&loaded.diagnostics, &loaded.sources, Palette::Plain)
}

#[test]
fn nested_parentheses() {
    let nest = |depth: usize| format!("r: {}a{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(codes(&open(&nest(MAX_DEPTH))), [] as [&str; 0]);
    assert_eq!(codes(&open(&nest(MAX_DEPTH + 1))), ["E018"]);
    let deep = open(&nest(100_000));
    assert_eq!(codes(&deep), ["E018"]);
    assert!(shown(&deep).contains("hostile.rules:1:204"), "{}", shown(&deep));
    assert_eq!(codes(&open(&format!("r: {}", "(".repeat(100_000)))), ["E018"]);
    assert_eq!(codes(&open(&format!("r: {}a", "!(".repeat(100_000)))), ["E018"]);
    assert_eq!(open(&format!("r: a{}", ")".repeat(100_000))).diagnostics.errors(), 100_000);
}

#[test]
fn nested_formulas_are_bounded_whatever_makes_them_deep() {
    let conjunctions = |depth: usize| format!("r: {}a{}", "(a & ".repeat(depth), ")".repeat(depth));
    assert_eq!(codes(&open(&conjunctions(MAX_DEPTH))), [] as [&str; 0]);
    assert_eq!(codes(&open(&conjunctions(MAX_DEPTH + 1))), ["E018"]);
    // Each level of parentheses holds a formula four operators deep.
    let mixed = "(a & b | c => d <=> ".repeat(MAX_DEPTH - 10) + "e" + &")".repeat(MAX_DEPTH - 10);
    let mixed = open(&format!("r: {mixed}"));
    assert_eq!(
        codes(&mixed),
        [] as [&str; 0],
        "the chain ends in the last operand of each IFF, one level a parenthesis"
    );
    let implications = "(a => ".repeat(150) + &"b => ".repeat(100) + "c" + &")".repeat(150);
    assert_eq!(codes(&open(&format!("r: {implications}"))), ["E018", "W001"]);
    assert_eq!(codes(&open(&format!("r: {}b", "a => ".repeat(1_000_000)))), ["E018"]);
}

#[test]
fn a_million_operands() {
    for operator in ["&", "|", "<=>"] {
        let text = format!("r: a{}", format!(" {operator} b").repeat(999_999));
        let loaded = open(&text);
        assert_eq!(codes(&loaded), ["E019"]);
        assert!(shown(&loaded).contains("with 1000000 operands; at most 1024"), "{}", shown(&loaded));
    }
    let text = |count: usize| format!("r: {}", vec!["a"; count].join(" & "));
    assert_eq!(codes(&open(&text(MAX_OPERANDS))), [] as [&str; 0]);
    assert_eq!(codes(&open(&text(MAX_OPERANDS + 1))), ["E019"]);
}

#[test]
fn ten_megabytes() {
    let rules: String =
        (0..300_000).map(|rule| format!("rule_{rule}: concept_{} => other_{}\n", rule % 977, rule % 31)).collect();
    assert!(rules.len() > 10_000_000);
    let loaded = open(&rules);
    assert_eq!(loaded.rule_set.rules.len(), 300_000);
    assert_eq!(loaded.diagnostics.errors(), 0);
    // One line, one name, or one mistake for every byte.
    assert_eq!(codes(&open(&format!("r: {}", "a".repeat(10_000_000)))), [] as [&str; 0]);
    assert_eq!(open(&"\u{1}".repeat(10_000_000)).diagnostics.errors(), 1);
    let soup = open(&"a( $".repeat(2_500_000));
    assert_eq!(soup.diagnostics.kept().len(), Diagnostics::KEPT);
    assert!(shown(&soup).contains("more findings that are not shown"));
    let lines = open(&"x\n".repeat(5_000_000));
    assert_eq!(lines.diagnostics.errors(), 5_000_000);
}

#[test]
fn broken_escapes_by_the_thousand() {
    for tail in ["", "}\"", "\""] {
        let loaded = open(&format!("r: \"{}{tail}", "\\u{".repeat(500_000)));
        assert!(loaded.diagnostics.errors() >= 500_000);
        assert!(shown(&loaded).len() < 1_000_000);
    }
}

#[test]
fn unknown_concepts_stay_cheap_in_a_large_vocabulary() {
    let names = (0..20_000).map(|index| format!("concept_{index}"));
    let text: String = (0..50_000).map(|rule| format!("r{rule}: konzept_{rule} => concept_1\n")).collect();
    let loaded = load_text("t", &text, Vocabulary::closed(names, "a large table"));
    assert_eq!(loaded.diagnostics.errors(), 50_000);
}

#[test]
fn bytes_that_are_no_text() {
    let file = |bytes: &[u8]| {
        let file = File { name: "b.rules".to_owned(), bytes: bytes.to_vec() };
        load(file, Vocabulary::open(), &mut |_, _| Err("no".to_owned()))
    };
    let loaded = file(b"a: x => y\nb: x => caf\xe9\n# na\xefve\nc: y\n");
    assert_eq!(codes(&loaded), ["E004"], "one finding for the file, with the number of places");
    let names: Vec<_> = loaded.rule_set.rules.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(names, ["a", "c"], "a rule with replaced bytes is not kept");
    assert!(shown(&loaded).contains("b.rules:2:12"), "{}", shown(&loaded));
    let zeros = file(&[0; 1000]);
    assert!(zeros.diagnostics.errors() > 0);
    assert_eq!(codes(&file(b"\xef\xbb\xbfa: x\r\nb: y\r\n")), [] as [&str; 0]);
    assert_eq!(codes(&file(b"\xff\xfea\0:\0 \0x\0")).first(), Some(&"E004"), "UTF-16");
    assert_eq!(codes(&file(b"")), ["W002"]);
}

fn with_files(files: &BTreeMap<String, String>, entry: &str) -> Loaded {
    let get = |path: &str| files.get(path).map(|text| File { name: path.to_owned(), bytes: text.clone().into_bytes() });
    load(get(entry).unwrap(), Vocabulary::open(), &mut |_, path| get(path).ok_or_else(|| "no such file".to_owned()))
}

#[test]
fn includes_that_never_end() {
    let files = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
    };
    let own = files(&[("a", "include \"a\"\nr: x")]);
    assert_eq!(codes(&with_files(&own, "a")), ["E042"]);
    let circle = files(&[("a", "include \"b\"\nr: x"), ("b", "include \"c\"\ns: y"), ("c", "t: z\ninclude \"a\"")]);
    let loaded = with_files(&circle, "a");
    assert_eq!(codes(&loaded), ["E042"]);
    assert_eq!(loaded.rule_set.rules.len(), 3, "the rules themselves are sound");
    let diamond =
        files(&[("a", "include \"b\"\ninclude \"c\""), ("b", "include \"d\""), ("c", "include \"d\""), ("d", "r: x")]);
    let loaded = with_files(&diamond, "a");
    assert_eq!((codes(&loaded).len(), loaded.rule_set.rules.len()), (0, 1));
    let chain: BTreeMap<_, _> = (0..1000).map(|n| (n.to_string(), format!("r{n}: x\ninclude \"{}\"", n + 1))).collect();
    let loaded = with_files(&chain, "0");
    assert_eq!(codes(&loaded), ["E043"]);
    assert_eq!(loaded.rule_set.rules.len(), MAX_INCLUDE_DEPTH + 1);
}
