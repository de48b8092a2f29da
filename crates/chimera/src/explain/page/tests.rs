//! The page says what is so of each rule and of the sample, and stays small.

use std::fmt::Write;

use chimera_logic::load::load_text;
use chimera_logic::vocabulary::Vocabulary;

use super::*;
use crate::explain::told::{BreachTold, ChangeTold, ConceptTold, RuleTold, Shown, WhenTold};

/// What is told of a sample with nothing in it.
pub(super) fn explanation() -> Explanation {
    Explanation {
        id: "one".to_owned(),
        model: "model".to_owned(),
        method: "neural",
        aggregation: "max",
        flag: "global",
        anomaly: Some(0.5),
        threshold: Some(0.4),
        flagged: Some(true),
        unknown: None,
        fpr: 0.01,
        normal_samples: 100,
        standings: Vec::new(),
        rules: Vec::new(),
        concepts: Vec::new(),
        frames: 1,
    }
}

fn of_rule(rule: &str, flagged: Option<bool>) -> Standing {
    Standing {
        rule: rule.to_owned(),
        severity: "medium".to_owned(),
        p: Some(if flagged == Some(true) { 0.2 } else { 0.99 }),
        score: Some(if flagged == Some(true) { 0.8 } else { 0.01 }),
        threshold: Some(0.3),
        normal_share: Some(0.01),
        flagged,
        without_grafts: None,
    }
}

/// A rule and the values with which it is broken.
pub(super) fn rule(name: &str, breach: &[(&str, bool)]) -> RuleTold {
    let shown = |&(concept, shown): &(&str, bool)| Shown { concept: concept.to_owned(), shown, p: 0.5 };
    RuleTold {
        rule: name.to_owned(),
        formula: "a => b".to_owned(),
        parts: Some(Vec::new()),
        breach: Some(BreachTold { concepts: breach.iter().map(shown).collect(), p: 0.5, is_likeliest: true }),
        repair: Some(ChangeTold {
            concepts: Vec::new(),
            cost: Some(1.0),
            words: "would hold if `b` were present".to_owned(),
        }),
        breaks: None,
        maps: Vec::new(),
        when: None,
    }
}

#[test]
fn the_headline_is_true_of_the_rule_and_of_the_sample() {
    // The worst rule is `A`; which rule is told about, whether the sample is flagged for `A`.
    let said = |about: &str, flagged: Option<bool>| {
        let unknown = flagged.is_none().then(|| "too <few> rows".to_owned());
        let mut told = Explanation { flagged, unknown, ..explanation() };
        told.standings = vec![of_rule("A", flagged), of_rule("B", flagged.map(|_| false))];
        told.rules = vec![rule(about, &[("a", true)])];
        first(&told).split_once("</p>").unwrap().0.replace("<span class=\"name\">", "").replace("</span>", "")
    };
    let words = said("A", Some(true));
    assert!(words.contains("Flagged</b>. It breaks A, which holds with probability 0.200."), "{words}");
    assert!(words.contains("It would hold if b were present."), "{words}");
    let words = said("B", Some(true));
    assert!(
        words.contains("Flagged</b> for A. It is not flagged for B, which holds with probability 0.990."),
        "{words}"
    );
    assert!(!words.contains("were present"), "{words}");
    let words = said("A", Some(false));
    assert!(words.contains("Not flagged</b>. Its worst rule is A, which"), "{words}");
    let words = said("A", None);
    assert!(words.contains("Flagged or not is unknown</b>: too &lt;few&gt; rows. Its worst rule is A"), "{words}");
}

/// What is red says "flagged": a page about a sample that is not has none of it.
#[test]
fn a_page_is_never_red_where_the_sample_is_not_flagged() {
    for flagged in [Some(true), Some(false), None] {
        let mut told = Explanation { flagged, ..explanation() };
        told.standings = vec![of_rule("A", flagged), of_rule("B", flagged.map(|_| false))];
        let of = rule("A", &[("a", true)]);
        told.rules = vec![RuleTold { when: Some(WhenTold { so_far: vec![Some(0.9)], without: vec![None] }), ..of }];
        let page = first(&told)
            + &rules::told(&told.rules[0], standing(&told, "A"))
            + &rules::standings(&told)
            + &when::chart(&told.rules[0], standing(&told, "A"));
        let red = ["class=\"loss\"", "class=\"bar bad\"", "var(--violating)"].map(|mark| page.contains(mark));
        assert_eq!(red, [flagged == Some(true); 3], "{flagged:?}: {page}");
    }
}

#[test]
fn a_rule_of_one_literal_has_no_parts_and_one_too_large_says_so() {
    let mut told = rule("r", &[]);
    assert_eq!(rules::parts(&told), "");
    told.parts = None;
    assert!(rules::parts(&told).contains("too large to count"));
    assert!(serde_json::to_string(&told).unwrap().contains("\"parts\":null"));
}

/// Rules that are each broken where none of fifty concepts is shown, and everything told of them.
fn many(rules: usize, concepts: usize) -> (Explanation, RuleSet) {
    let names: Vec<String> = (0..concepts).map(|at| format!("c{at}")).collect();
    let mut text = String::new();
    for at in 0..rules {
        // Fifty neighbours of each other, so that all rules together have all concepts.
        let own: Vec<&str> = (0..50).map(|next| names[(at + next) % concepts].as_str()).collect();
        writeln!(text, "r{at}: {}", own.join(" | ")).unwrap();
    }
    let rule_set = load_text("test", &text, Vocabulary::closed(names.clone(), "test")).rule_set;
    assert_eq!(rule_set.rules.len(), rules);
    let concept = |concept| ConceptTold { concept, logit: 0.0, p_bank: 0.25, p: 0.5 };
    let mut told = explanation();
    told.standings = (0..rules).map(|at| of_rule(&format!("r{at}"), Some(true))).collect();
    told.concepts = names.into_iter().map(concept).collect();
    (told, rule_set)
}

#[test]
fn a_page_of_many_rules_stays_small_and_says_so() {
    let (told, rule_set) = many(700, 700);
    let rows = Rows::of(&told, &rule_set);
    assert_eq!(rows.shown, (0..500).collect::<Vec<_>>(), "concepts of the worst rules");
    let standings = rules::standings(&told);
    assert_eq!(standings.matches("<tr><td").count(), 500);
    assert!(standings.contains("The worst rules: 500 of 700; <code>--json</code> has all."), "{standings}");
    assert_eq!(rules::concepts(&told, &rows).matches("<tr><td").count(), 500);
    // Fifty decisions a rule: 400 rules make 20,000.
    let switches = what_if::switches(&told, &rule_set, &rows);
    assert_eq!(switches.matches("\"root\":").count(), 400);
    assert!(switches.contains("too large or the page would be: 300 rules"), "{switches:.300}");
    assert_eq!(switches.matches("data-value=\"1\"").count(), 500);
    assert!(switches.len() < 1_000_000, "{}", switches.len());
    // Fewer are all there, and nothing is said.
    let (told, rule_set) = many(3, 60);
    let rows = Rows::of(&told, &rule_set);
    let switches = what_if::switches(&told, &rule_set, &rows);
    assert_eq!((switches.matches("\"root\":").count(), rows.shown.len()), (3, 60));
    assert!(!switches.contains("--json") && !switches.contains("Left out"), "{switches:.300}");
}

#[test]
fn rules_without_grafts_count_by_the_leaf_bank() {
    let (mut told, rule_set) = many(2, 60);
    told.standings[1].without_grafts = Some("concepts explain next to nothing".to_owned());
    let page = what_if::switches(&told, &rule_set, &Rows::of(&told, &rule_set));
    let data = page.split_once("const data=").unwrap().1.split_once(";\n").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!([&data["rules"][0]["by_bank"], &data["rules"][1]["by_bank"]], [false, true]);
    assert_eq!([&data["concepts"][0], &data["bank"][0]], [0.5, 0.25]);
}
