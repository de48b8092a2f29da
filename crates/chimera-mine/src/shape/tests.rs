//! Shapes against the formulas that they are written as.

use chimera_logic::load::load_text;
use chimera_logic::vocabulary::Vocabulary;

use super::*;

fn shapes() -> [Shape; 9] {
    let (holds, fails) = (Literal::holds, Literal::fails);
    [
        Shape::Iff([0, 2]),
        Shape::Chain(2, 0, fails(1)),
        Shape::Chain(0, 1, holds(2)),
        Shape::Both(1, [holds(0), fails(2)]),
        Shape::And([1, 2], fails(0)),
        Shape::And([0, 1], holds(2)),
        Shape::Or(1, [0, 2]),
        Shape::Pair(2, holds(1)),
        Shape::Pair(0, fails(2)),
    ]
}

#[test]
fn formulas_are_read_back_as_the_same_shape() {
    let names = ["a b", "rel:x", "c"].map(str::to_owned);
    for shape in shapes() {
        let text = format!("r: {}", shape.formula(&names));
        let loaded = load_text("t", &text, Vocabulary::closed(names.clone(), "the test"));
        assert_eq!(loaded.diagnostics.errors(), 0, "{text}");
        let (mut rule_set, root) = (loaded.rule_set.clone(), loaded.rule_set.rules[0].root);
        assert_eq!(Shape::of(&rule_set.dag, root), Some(shape), "{text}");
        assert_eq!(shape.edge(&mut rule_set.dag), Some(root), "{text}");
        assert_eq!(rule_set.family(&rule_set.rules[0]), shape.pattern().family(), "{text}");
    }
    let words: Vec<String> = shapes().iter().map(|shape| shape.words(&names)).collect();
    assert_eq!(words[0], "a b iff c");
    assert_eq!(words[3], "x with a b and without c");
}

#[test]
fn other_formulas_have_no_shape() {
    for formula in [
        "a",
        "!a => b",
        "a => a",
        "!(a => b)",
        "a => !(b & c)",
        "a | b => c",
        "a <=> !b",
        "a <=> b <=> c",
        "(a => b) & (b => a)",
        "(a => b) & (c => b)",
    ] {
        let rule_set = load_text("t", &format!("r: {formula}"), Vocabulary::open()).rule_set;
        assert_eq!(Shape::of(&rule_set.dag, rule_set.rules[0].root), None, "{formula}");
    }
}
