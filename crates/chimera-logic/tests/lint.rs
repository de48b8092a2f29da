//! Lint against brute force: every claim is checked by listing all assignments, on random rule sets small enough for that, and
//! planted findings are looked for in large ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::Edge;
use chimera_logic::diagnostic::{Code, Diagnostic, Diagnostics};
use chimera_logic::lint::{Settled, lint, lint_data, settled, supply};
use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::hard_op;
use chimera_logic::vocabulary::Vocabulary;
use support::{edge_truth, load_closed, random_formula, random_labels, random_rules};

fn findings(rule_set: &RuleSet) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    lint(rule_set, &mut diagnostics).unwrap();
    diagnostics
}

fn rules(text: &str) -> RuleSet {
    let loaded = load_text("t", text, Vocabulary::open());
    assert_eq!(loaded.diagnostics.errors(), 0, "{:?}", loaded.diagnostics.kept());
    loaded.rule_set
}

fn messages(text: &str) -> Vec<String> {
    let diagnostics = findings(&rules(text));
    diagnostics.kept().iter().map(|finding| format!("{} {}", finding.code.as_str(), finding.message)).collect()
}

#[test]
fn findings_in_words() {
    for (text, expected) in [
        ("r: a & !a", &["E100 rule `r` can never hold"][..]),
        ("r: a | !a", &["E101 rule `r` always holds"]),
        ("r: a <=> !a", &["E100 rule `r` can never hold"]),
        ("r: !(a & !a)", &["E101 rule `r` always holds"]),
        ("r: a => b", &[]),
        ("r: (a & !a) | b", &["W103 `a & !a` is always false"]),
        ("r: a | b | a", &["W105 `a` is given twice to the same OR"]),
        ("r: a <=> !b <=> !b", &["W105 `!b` is given twice to the same IFF"]),
        ("r: !(a | !a) | b", &["W103 `!(a | !a)` is always false"]),
        ("r: a & b\ns: b & a", &["W100 rule `s` has the same formula as `r`"]),
        ("r: a => b\ns: !b => !a", &["W101 rule `s` means the same as `r`"]),
        ("r: a => b\ns: b => c\nt: a => c", &["W102 rule `t` follows from `r` and `s`"]),
        ("r: a & b\ns: a", &["W102 rule `s` follows from `r`"]),
        ("r: a => b\ns: a\nt: !b\nu: c", &["E102 `r`, `s` and `t` cannot hold together"]),
        // Two clashes that have nothing to do with each other, and two that do: then the smaller one is named.
        (
            "r: a => b\ns: a\nt: !b\nu: c\nv: !c",
            &["E102 `r`, `s` and `t` cannot hold together", "E102 `u` and `v` cannot hold together"],
        ),
        ("r: a => b\ns: a\nt: !b | d\nu: c\nv: !c\nw: b | c\nx: !d", &["E102 `u` and `v` cannot hold together"]),
        // A clash elsewhere does not hide what follows from what.
        (
            "r: a => b\ns: b => c\nt: a => c\nu: x\nv: !x",
            &["W102 rule `t` follows from `r` and `s`", "E102 `u` and `v` cannot hold together"],
        ),
    ] {
        assert_eq!(messages(text), expected, "{text}");
    }
}

/// Truth of every rule under every assignment of `concepts` concepts.
fn worlds(rule_set: &RuleSet, concepts: usize) -> Vec<Vec<bool>> {
    let truth = |world: usize| {
        let label = |concept: usize| Some(world >> concept & 1 == 1);
        rule_set.rules.iter().map(|rule| edge_truth(&rule_set.dag, rule.root, &label).unwrap()).collect()
    };
    (0..1 << concepts).map(truth).collect()
}

fn named(rule_set: &RuleSet, finding: &Diagnostic) -> Vec<usize> {
    let quoted: Vec<&str> = finding.message.split('`').skip(1).step_by(2).collect();
    quoted.iter().map(|name| rule_set.rules.iter().position(|rule| rule.name == *name).unwrap()).collect()
}

#[test]
fn every_claim_holds_and_nothing_is_missed() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..400 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let concepts = rng.usize(2..6);
        let count = rng.usize(1..8);
        let rule_set = load_closed(&random_rules(&mut rng, count, concepts, 2, 3), concepts).rule_set;
        let worlds = worlds(&rule_set, concepts);
        let all = |set: &[usize], world: &[bool]| set.iter().all(|&rule| world[rule]);
        let together = |set: &[usize]| worlds.iter().any(|world| all(set, world));
        let implied = |set: &[usize], rule: usize| worlds.iter().all(|world| !all(set, world) || world[rule]);
        let same = |one: usize, other: usize| worlds.iter().all(|world| world[one] == world[other]);

        let diagnostics = findings(&rule_set);
        for finding in diagnostics.kept() {
            *seen.entry(finding.code.as_str()).or_insert(0) += 1;
            match (finding.code, named_or_part(&rule_set, finding)) {
                (Code::Contradiction, Some(rules)) => assert!(!together(&rules)),
                (Code::Tautology, Some(rules)) => assert!(implied(&[], rules[0])),
                (Code::DuplicateFormula | Code::Equivalent, Some(rules)) => assert!(same(rules[0], rules[1])),
                (Code::Redundant, Some(rules)) => {
                    assert!(implied(&rules[1..], rules[0]), "{}", finding.message);
                    for spared in 1..rules.len() {
                        let fewer: Vec<_> = (1..rules.len()).filter(|&at| at != spared).map(|at| rules[at]).collect();
                        assert!(!implied(&fewer, rules[0]), "{} can be spared", finding.message);
                    }
                }
                (Code::Conflict, Some(rules)) => {
                    assert!(!together(&rules));
                    let constant = |rule: usize| implied(&[], rule) || !together(&[rule]);
                    let connected = connected_with(&rule_set, rules[0]);
                    let candidates: Vec<_> = (0..count).filter(|&rule| !constant(rule) && connected[rule]).collect();
                    for subset in 0_usize..1 << candidates.len() {
                        let set: Vec<_> =
                            (0..candidates.len()).filter(|at| subset >> at & 1 == 1).map(|at| candidates[at]).collect();
                        assert!(set.len() >= rules.len() || together(&set), "a smaller clash than {}", finding.message);
                    }
                }
                _ => {}
            }
        }
        // Nothing is missed.
        let has = |code: Code, rule: usize| {
            let about =
                |finding: &&Diagnostic| finding.code == code && named(&rule_set, finding).first() == Some(&rule);
            diagnostics.kept().iter().any(|finding| about(&finding))
        };
        let constant: Vec<_> = (0..count).filter(|&rule| !together(&[rule]) || implied(&[], rule)).collect();
        for rule in 0..count {
            assert_eq!(has(Code::Contradiction, rule), !together(&[rule]), "seed {seed}");
            assert_eq!(has(Code::Tautology, rule), implied(&[], rule), "seed {seed}");
        }
        let free: Vec<_> = (0..count).filter(|rule| !constant.contains(rule)).collect();
        let conflicts: Vec<_> = diagnostics.kept().iter().filter(|finding| finding.code == Code::Conflict).collect();
        assert_eq!(conflicts.is_empty(), together(&free), "seed {seed}");
        for &rule in &free {
            let connected = connected_with(&rule_set, rule);
            let conflict = conflicts.iter().any(|finding| connected[named(&rule_set, finding)[0]]);
            let repeated = free.iter().any(|&first| first < rule && same(first, rule));
            assert_eq!(has(Code::DuplicateFormula, rule) || has(Code::Equivalent, rule), repeated, "seed {seed}");
            let others: Vec<_> = free.iter().copied().filter(|&other| !same(other, rule) && connected[other]).collect();
            if !conflict && implied(&others, rule) && !repeated {
                assert!(has(Code::Redundant, rule), "seed {seed}: {} is missed", rule_set.rules[rule].name);
            }
        }
    }
    for code in ["E100", "E101", "E102", "W100", "W101", "W102", "W103"] {
        assert!(seen.get(code).is_some_and(|&count| count > 3), "{code} hardly occurred: {seen:?}");
    }
}

/// The rules that share a concept with a rule, directly or through others, constant rules left out.
fn connected_with(rule_set: &RuleSet, rule: usize) -> Vec<bool> {
    let concepts: Vec<std::collections::BTreeSet<_>> = rule_set
        .rules
        .iter()
        .map(|rule| {
            rule_set.dag.cone(&[rule.root]).into_iter().filter(|&id| rule_set.dag.operands(id).is_empty()).collect()
        })
        .collect();
    let constant = |index: usize| {
        let found = findings(rule_set);
        let about = |finding: &&Diagnostic| {
            matches!(finding.code, Code::Contradiction | Code::Tautology) && named(rule_set, finding)[0] == index
        };
        found.kept().iter().any(|finding| about(&finding))
    };
    let mut connected = vec![false; rule_set.rules.len()];
    connected[rule] = true;
    for _ in 0..rule_set.rules.len() {
        for other in (0..rule_set.rules.len()).filter(|&other| !constant(other)) {
            let touches =
                (0..connected.len()).any(|one| connected[one] && !concepts[one].is_disjoint(&concepts[other]));
            connected[other] |= touches;
        }
    }
    connected
}

/// The rules that a finding names; `None` for a finding about a part of a formula.
fn named_or_part(rule_set: &RuleSet, finding: &Diagnostic) -> Option<Vec<usize>> {
    let of_a_part = matches!(finding.code, Code::ConstantPart | Code::RepeatedOperand);
    (!of_a_part).then(|| named(rule_set, finding))
}

#[test]
fn constant_parts_are_all_found() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let text = format!("r: {} => c0\n", random_formula(&mut rng, 2, 3, 2));
        let rule_set = load_closed(&text, 2).rule_set;
        let dag = &rule_set.dag;
        let constant = |edge| {
            let values: Vec<_> =
                (0..4_usize).map(|world| edge_truth(dag, edge, &|concept| Some(world >> concept & 1 == 1))).collect();
            values.iter().all(|value| value == &values[0])
        };
        let root = rule_set.rules[0].root.node();
        let smallest = |edge: Edge| {
            !dag.operands(edge.node()).is_empty()
                && edge.node() != root
                && constant(edge)
                && !dag.operands(edge.node()).iter().any(|&operand| constant(operand))
        };
        let expected: std::collections::BTreeSet<_> = rule_set
            .parts(&rule_set.rules[0])
            .iter()
            .map(|part| part.edge)
            .filter(|&edge| smallest(edge))
            .map(Edge::node)
            .collect();
        let found = findings(&rule_set).kept().iter().filter(|finding| finding.code == Code::ConstantPart).count();
        assert_eq!(found, expected.len(), "{text}");
    }
}

#[test]
fn a_conflict_planted_among_200_rules_is_named() {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut lines: Vec<String> = (0..200)
        .map(|rule| {
            let mut concept = || format!("{}c{}", if rng.bool() { "!" } else { "" }, rng.usize(0..400));
            let (a, b, c) = (concept(), concept(), concept());
            format!("r{rule}: {a} => {b} | {c}")
        })
        .collect();
    for (line, rule) in [(17, "p1: c3 | c5"), (90, "p2: c3 => c7"), (91, "p3: c5 => c7"), (160, "p4: !c7")] {
        lines.insert(line, rule.to_owned());
    }
    let diagnostics = findings(&load_closed(&lines.join("\n"), 400).rule_set);
    let conflicts: Vec<_> = diagnostics.kept().iter().filter(|finding| finding.code == Code::Conflict).collect();
    let [conflict] = conflicts[..] else { panic!("{:?}", diagnostics.kept()) };
    assert_eq!(conflict.message, "`p1`, `p2`, `p3` and `p4` cannot hold together");
    assert!(conflict.hint.as_deref().is_some_and(|hint| hint.contains("no smaller set")), "{:?}", conflict.hint);
}

/// `pigeons` pigeons in one hole fewer, each in some hole and no two in the same: hard for a solver to see that they clash.
fn pigeonhole(pigeons: usize) -> String {
    let mut text = String::new();
    for pigeon in 0..pigeons {
        let holes: Vec<_> = (1..pigeons).map(|hole| format!("p{pigeon}_{hole}")).collect();
        text.push_str(&format!("some{pigeon}: {}\n", holes.join(" | ")));
        for other in 0..pigeon {
            for hole in 1..pigeons {
                text.push_str(&format!("not{pigeon}_{other}_{hole}: !(p{pigeon}_{hole} & p{other}_{hole})\n"));
            }
        }
    }
    text
}

#[test]
fn what_is_too_hard_is_reported_and_the_rest_is_still_checked() {
    let text = pigeonhole(11) + "a: q => r\nb: r => s\nc: q => s\nd: t & !t\ne: q => r\n";
    let told: Vec<_> = messages(&text);
    let [hard, rest @ ..] = &told[..] else { panic!("nothing found") };
    assert!(
        told.iter().any(|told| told.starts_with(
            "W104 not found out within the allowed effort: whether the rules connected with `some0` can hold"
        )),
        "{told:#?}"
    );
    assert!(hard.starts_with("E100 rule `d`"), "{told:#?}");
    for expected in ["W100 rule `e` has the same formula as `a`", "W102 rule `c` follows from `a` and `b`"] {
        assert!(rest.iter().any(|told| told == expected), "{expected} in {told:#?}");
    }
    assert!(messages(&pigeonhole(5)).iter().any(|told| told.starts_with("E102")), "a small one is no trouble");
}

#[test]
fn large_parities_are_no_trouble() {
    let names: Vec<_> = (0..60).map(|index| format!("c{index}")).collect();
    let chain = |names: &[String]| {
        names.iter().skip(1).fold(names[0].clone(), |formula, name| format!("({formula} <=> {name})"))
    };
    let mut shuffled = names.clone();
    fastrand::Rng::with_seed(1).shuffle(&mut shuffled);
    let text = format!("p: {}\nq: {}\nr: c0 & !c0\n", chain(&names), chain(&shuffled));
    assert_eq!(messages(&text), ["E100 rule `r` can never hold", "W101 rule `q` means the same as `p`"]);
    let text =
        format!("p: {}\nq: !{}\n", chain(&names[..24]), chain(&names[..24].iter().rev().cloned().collect::<Vec<_>>()));
    assert_eq!(messages(&text), ["E102 `p` and `q` cannot hold together"]);
}

#[test]
fn thousands_of_rules_with_one_antecedent() {
    let text: String = (0..3000).map(|rule| format!("r{rule}: hub => b{rule}\n")).collect();
    assert_eq!(messages(&text), [] as [&str; 0]);
    assert_eq!(messages(&(text + "z: hub & x => b7\n")), ["W102 rule `z` follows from `r7`"]);
}

#[test]
fn rules_that_were_never_text_are_refused() {
    let mut rule_set = rules("r: a => b");
    let root = rule_set.rules[0].root;
    rule_set.rules.push(chimera_logic::rules::Rule::made("made".to_owned(), Default::default(), root));
    let error = lint(&rule_set, &mut Diagnostics::default()).unwrap_err();
    assert!(error.to_string().contains("`made`"), "{error}");
}

#[test]
fn warnings_do_not_crowd_out_errors() {
    let text: String = (0..1500).map(|rule| format!("r{rule}: a{rule} => b{rule} => c{rule}\n")).collect();
    let mut loaded = load_text("t", &(text + "x: m & !m\n"), Vocabulary::open());
    lint(&loaded.rule_set, &mut loaded.diagnostics).unwrap();
    assert_eq!(loaded.diagnostics.warnings(), 1500);
    assert!(loaded.diagnostics.kept().iter().any(|finding| finding.code == Code::Contradiction));
}

#[test]
fn data_findings() {
    let names = ["a", "b", "never", "always", "unknown"].map(str::to_owned);
    let text = "vacuous: never => a\nbroken: a => b\nfine: a | b\nno_false: a & always\nblind: unknown => b\n";
    let loaded = load_text("t", text, Vocabulary::closed(names, "the test"));
    // Rows: a b never always unknown.
    let cells = [[1, 1, 0, 1, 2], [1, 0, 0, 1, 2], [0, 1, 0, 1, 2], [0, 2, 0, 1, 2]];
    let value = BitTable::from_fn(4, 5, |row, column| cells[row][column] == 1);
    let known = BitTable::from_fn(4, 5, |row, column| cells[row][column] != 2);
    let mut diagnostics = Diagnostics::default();
    lint_data(&loaded.rule_set, &TruthTable::partial(value, known), "the 4 rows", &mut diagnostics);
    let told: Vec<_> = diagnostics.kept().iter().map(|f| format!("{} {}", f.code.as_str(), f.message)).collect();
    for expected in [
        "W111 concept `never` is never true in the 4 rows",
        "W111 concept `always` is always true in the 4 rows",
        "W111 concept `unknown` is never known in the 4 rows",
        "W110 the antecedent `never` of `vacuous` is never true in the 4 rows",
        "W110 the antecedent `unknown` of `blind` is never known to be true in the 4 rows",
        "W112 rule `broken` is broken by 1 of the 4 rows",
        "W114 no chimera can make `always` false here: it never is in the 4 rows",
        "W114 no chimera can make `never` true here: it never is in the 4 rows",
    ] {
        assert!(told.iter().any(|told| told == expected), "{expected} in {told:#?}");
    }
    assert!(!told.iter().any(|told| told.contains("`fine`") && told.starts_with("W112")), "{told:#?}");
}

#[test]
fn supply_is_what_independent_draws_can_make() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let rule_set = load_closed(&random_rules(&mut rng, 2, 4, 2, 3), 4).rule_set;
        let rows = rng.usize(1..4);
        let unknown = if rng.bool() { 0.0 } else { 0.4 };
        let labels = random_labels(&mut rng, rows, 4, unknown);
        let supplies = supply(&rule_set.dag, &labels);
        for id in rule_set.dag.ids() {
            let edge = Edge::new(id, false);
            let possible = drawn(&rule_set, edge, &labels);
            let supply = supplies[id.index()];
            assert_eq!(
                (supply.can_hold, supply.can_fail),
                (possible.contains(&true), possible.contains(&false)),
                "seed {seed}"
            );
        }
    }
}

/// Every value that a reference takes when each occurrence of a concept is drawn from any row that knows it.
fn drawn(rule_set: &RuleSet, edge: Edge, labels: &TruthTable) -> Vec<bool> {
    use chimera_logic::dag::Node;
    let values: Vec<bool> = match rule_set.dag.node(edge.node()) {
        Node::Leaf(concept) => (0..labels.rows()).filter_map(|row| labels.get(row, concept.index())).collect(),
        Node::Gate(op, operands) => {
            let choices: Vec<_> = operands.iter().map(|&operand| drawn(rule_set, operand, labels)).collect();
            let mut combinations = vec![Vec::new()];
            for choice in &choices {
                let distinct: std::collections::BTreeSet<_> = choice.iter().copied().collect();
                combinations = combinations
                    .into_iter()
                    .flat_map(|values: Vec<bool>| {
                        distinct.iter().map(move |&value| [values.clone(), vec![value]].concat())
                    })
                    .collect();
            }
            combinations.iter().map(|values| hard_op(op, values)).collect()
        }
    };
    values.into_iter().map(|value| value != edge.is_negated()).collect()
}

/// Axioms against all assignments: a formula is settled if it has one value wherever they hold, and none of the axioms that are
/// given as the reason can be spared.
#[test]
fn axioms_settle_what_they_settle() {
    let mut rng = fastrand::Rng::with_seed(31);
    let (mut always, mut never, mut open) = (0, 0, 0);
    for _ in 0..300 {
        let concepts = rng.usize(2..6);
        let count = rng.usize(0..4);
        // Implications between concepts can always hold together.
        let mut text: String = (0..count)
            .map(|axiom| format!("a{axiom}: c{} => c{}\n", rng.usize(0..concepts), rng.usize(0..concepts)))
            .collect();
        text += &random_rules(&mut rng, 4, concepts, 2, 3);
        let rule_set = load_closed(&text, concepts).rule_set;
        let mut axioms = rule_set.roots();
        let formulas = axioms.split_off(count);
        // Values of a formula over the assignments that keep the given axioms.
        let values = |axioms: &[Edge], formula: Edge| -> Vec<bool> {
            let assignments = 0..1_usize << concepts;
            let holds = |edge: Edge, assignment: usize| {
                edge_truth(&rule_set.dag, edge, &|concept| Some(assignment >> concept & 1 == 1)) == Some(true)
            };
            let kept = assignments.filter(|&assignment| axioms.iter().all(|&axiom| holds(axiom, assignment)));
            kept.map(|assignment| holds(formula, assignment)).collect()
        };
        for (verdict, &formula) in settled(&rule_set.dag, &axioms, &formulas).iter().zip(&formulas) {
            let all = values(&axioms, formula);
            let (reasons, value) = match verdict {
                Settled::Always(reasons) => (reasons, true),
                Settled::Never(reasons) => (reasons, false),
                Settled::Open => {
                    assert!(all.contains(&true) && all.contains(&false), "{text}");
                    open += 1;
                    continue;
                }
                Settled::Undecided => panic!("so small a question was left open"),
            };
            if value {
                always += 1;
            } else {
                never += 1;
            }
            assert!(all.iter().all(|&other| other == value), "{text}");
            assert!(values(reasons, formula).iter().all(|&other| other == value), "{text}");
            for spared in 0..reasons.len() {
                let rest: Vec<Edge> = (0..reasons.len()).filter(|&at| at != spared).map(|at| reasons[at]).collect();
                assert!(values(&rest, formula).contains(&!value), "{text}: {reasons:?}");
            }
        }
    }
    assert!(always > 20 && never > 20 && open > 20, "{always} {never} {open}");
}
