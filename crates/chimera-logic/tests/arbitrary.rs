//! Arbitrary bytes through parse -> print -> parse. The number of inputs is 3,000 unless `CHIMERA_FUZZ_INPUTS` says more
//! (`CHIMERA_FUZZ_INPUTS=1000000 cargo test --release -p chimera-logic --test arbitrary`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use chimera_logic::diagnostic::Diagnostics;
use chimera_logic::lint::lint;
use chimera_logic::load::{File, Loaded, load, parse_file};
use chimera_logic::printer::format_file;
use chimera_logic::render::{Palette, render_all};
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::Vocabulary;
use fastrand::Rng;
use support::random_rules;

/// Pieces that mean something to the lexer, so that random strings of them get far into the parser.
const PIECES: &[&str] = &[
    "a",
    "b",
    "obj:baby",
    "rel:a-on-b",
    "collide(a,b)",
    "f(x=y)",
    "\"Land vehicle\"",
    "\"q\\\"\\u{e9}\"",
    "not",
    "and",
    "or",
    "true",
    "include",
    "(",
    ")",
    "[",
    "]",
    "!",
    "&",
    "|",
    "=>",
    "->",
    "<=>",
    "<->",
    "¬",
    "∧",
    "∨",
    "⇒",
    "↔",
    ": ",
    ":",
    "=",
    ",",
    "-",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "# c",
    "\"",
    "\\",
    "\u{feff}",
    "\u{fffd}",
    "\u{0}",
    "\u{202e}",
    "日本",
    "&&",
    "[weight=2 tau=0.5]",
    "[severity=high]",
    "r1: ",
    "r2: ",
    "[family=chain support=3 confidence=1 interval=0.5..1]",
];

fn pieces(rng: &mut Rng) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..rng.usize(0..40) {
        text.push_str(PIECES[rng.usize(0..PIECES.len())]);
        if rng.bool() {
            text.push(' ');
        }
    }
    text.into_bytes()
}

fn noise(rng: &mut Rng) -> Vec<u8> {
    (0..rng.usize(0..60)).map(|_| rng.u8(..)).collect()
}

fn mutated(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = random_rules(rng, 3, 4, 3, 3).into_bytes();
    for _ in 0..rng.usize(0..4) {
        let at = rng.usize(0..bytes.len().max(1));
        match rng.u8(0..4) {
            0 if at < bytes.len() => bytes[at] = rng.u8(..),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 if at < bytes.len() => {
                let piece = PIECES[rng.usize(0..PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

fn file(bytes: &[u8]) -> File {
    File { name: "f".to_owned(), bytes: bytes.to_vec() }
}

fn load_bytes(bytes: &[u8]) -> Loaded {
    load(file(bytes), Vocabulary::open(), &mut |_, _| Err("nothing to include".to_owned()))
}

fn formatted(bytes: &[u8]) -> Option<String> {
    let parsed = parse_file(file(bytes));
    format_file(&parsed.lines).filter(|_| parsed.diagnostics.errors() == 0)
}

fn canonical(rule_set: &RuleSet) -> Vec<(String, String, String)> {
    let rule = |rule: &chimera_logic::rules::Rule| {
        (rule.name.clone(), format!("{:?}", rule.attributes), rule_set.dag.text(rule.root))
    };
    rule_set.rules.iter().map(rule).collect()
}

/// Returns whether the input was a sound rule file.
fn check(bytes: &[u8]) -> bool {
    let loaded = load_bytes(bytes);
    let shown = render_all(&loaded.diagnostics, &loaded.sources, Palette::Plain);
    assert_eq!(shown.is_empty(), loaded.diagnostics.errors() + loaded.diagnostics.warnings() == 0);
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{0}']), "control characters reach the terminal");
    for diagnostic in loaded.diagnostics.kept() {
        for span in diagnostic.notes.iter().map(|note| note.span).chain([diagnostic.span]) {
            let text = loaded.sources.get(span.source).text();
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
        }
    }
    let mut findings = Diagnostics::default();
    lint(&loaded.rule_set, &mut findings).unwrap();
    let _ = render_all(&findings, &loaded.sources, Palette::Plain);
    let closed = Vocabulary::closed(["a", "b", "c0", "c1", "obj:baby"].map(str::to_owned), "a test");
    let strict = load(file(bytes), closed, &mut |_, _| Err("nothing to include".to_owned()));
    let _ = render_all(&strict.diagnostics, &strict.sources, Palette::Plain);
    assert!(strict.diagnostics.errors() >= loaded.diagnostics.errors());
    let Some(text) = formatted(bytes) else {
        assert!(loaded.diagnostics.errors() > 0, "a file that cannot be formatted has an error");
        return false;
    };
    let again = load_bytes(text.as_bytes());
    assert_eq!(canonical(&again.rule_set), canonical(&loaded.rule_set), "formatting changed the rules: {text}");
    assert_eq!(again.diagnostics.errors(), loaded.diagnostics.errors(), "formatting changed the errors: {text}");
    assert_eq!(formatted(text.as_bytes()).as_deref(), Some(text.as_str()), "formatting is not idempotent");
    loaded.diagnostics.errors() == 0
}

#[test]
fn arbitrary_bytes_parse_print_parse() {
    #[expect(clippy::disallowed_methods, reason = "a test may be told by its environment to run longer")]
    let asked = std::env::var("CHIMERA_FUZZ_INPUTS").ok();
    let inputs: u64 = asked.map_or(3_000, |text| text.parse().expect("CHIMERA_FUZZ_INPUTS is a number"));
    let mut sound = 0;
    for seed in 0..inputs {
        let mut rng = Rng::with_seed(seed);
        let bytes = match seed % 4 {
            0 => noise(&mut rng),
            1 => pieces(&mut rng),
            _ => mutated(&mut rng),
        };
        let outcome = std::panic::catch_unwind(|| check(&bytes));
        let text = String::from_utf8_lossy(&bytes);
        sound += u64::from(outcome.unwrap_or_else(|_| panic!("seed {seed}: {text:?}")));
    }
    println!("{inputs} inputs, {sound} of them sound rule files");
    assert!(sound * 10 > inputs, "too few inputs reach the printer");
}
