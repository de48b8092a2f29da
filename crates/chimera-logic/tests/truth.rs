//! Truth and coverage against the scalar oracle: exhaustively over all small formulas, and at random over larger ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::coverage::{LISTED_ARITY, coverage};
use chimera_logic::dag::{Dag, Edge};
use chimera_logic::load::{File, parse_file};
use chimera_logic::syntax::{Formula, Op, Statement};
use chimera_logic::truth::{Program, hard_op};
use chimera_logic::vocabulary::Vocabulary;
use proptest::prelude::*;
use support::{edge_truth, formula_truth, kleene, load_closed, random_labels, random_rules};

const ROWS: [usize; 6] = [0, 1, 63, 64, 65, 1000];

/// Every literal over three concepts.
fn literals(dag: &mut Dag) -> Vec<Edge> {
    let leaves: Vec<_> = ["a", "b", "c"].iter().map(|name| dag.resolve(name).unwrap()).collect();
    leaves.into_iter().flat_map(|concept| [dag.leaf(concept), dag.leaf(concept).negate_if(true)]).collect()
}

/// Every formula with up to three concept occurrences: literals, all gates over two and three literals, all gates over a
/// literal and a gate, on both sides; each gate plain and negated.
fn all_small_formulas() -> (Dag, Vec<Edge>) {
    let mut dag = Dag::new(Vocabulary::open());
    let literals = literals(&mut dag);
    let both = |edge: Edge| [edge, edge.negate_if(true)];
    let mut pairs = Vec::new();
    let mut all = literals.clone();
    for op in Op::ALL {
        for &x in &literals {
            for &y in &literals {
                pairs.extend(both(dag.gate(op, vec![x, y]).unwrap()));
                for &z in literals.iter().filter(|_| op != Op::Implies) {
                    all.extend(both(dag.gate(op, vec![x, y, z]).unwrap()));
                }
            }
        }
    }
    for op in Op::ALL {
        for &pair in &pairs {
            for &literal in &literals {
                all.extend(both(dag.gate(op, vec![pair, literal]).unwrap()));
                all.extend(both(dag.gate(op, vec![literal, pair]).unwrap()));
            }
        }
    }
    all.extend(pairs);
    (dag, all)
}

fn assert_equals_oracle(dag: &Dag, wanted: &[Edge], labels: &TruthTable) {
    let truth = Program::compile(dag, wanted).evaluate(labels);
    for (column, &edge) in wanted.iter().enumerate() {
        for row in 0..labels.rows() {
            let expected = edge_truth(dag, edge, &|concept| labels.get(row, concept));
            assert_eq!(truth.get(row, column), expected, "{} in row {row}", dag.text(edge));
        }
    }
}

#[test]
fn all_formulas_of_three_concepts_over_all_assignments() {
    let (dag, all) = all_small_formulas();
    assert_eq!(all.len(), 6 + 288 + 3 * 216 * 2 + 4 * 288 * 6 * 2 * 2);
    let labels = BitTable::from_fn(8, 3, |row, column| row >> column & 1 == 1);
    assert_equals_oracle(&dag, &all, &TruthTable::complete(labels));
}

#[test]
fn all_formulas_of_three_concepts_over_all_assignments_with_unknowns() {
    let (dag, all) = all_small_formulas();
    let cell = |row: usize, column: usize| row / 3_usize.pow(column as u32) % 3;
    let value = BitTable::from_fn(27, 3, |row, column| cell(row, column) == 1);
    let known = BitTable::from_fn(27, 3, |row, column| cell(row, column) != 2);
    assert_equals_oracle(&dag, &all, &TruthTable::partial(value, known));
}

#[test]
fn hard_op_is_algorithm_1() {
    for arity in 2..=5 {
        for code in 0..1_u32 << arity {
            let values: Vec<bool> = (0..arity).map(|position| code >> position & 1 == 1).collect();
            let known: Vec<_> = values.iter().copied().map(Some).collect();
            for op in Op::ALL.into_iter().filter(|&op| op != Op::Implies || arity == 2) {
                assert_eq!(Some(hard_op(op, &values)), kleene(op, &known), "{op:?} {values:?}");
            }
        }
    }
}

/// The formulas as the parser read them, before any sharing.
fn parsed(text: &str) -> Vec<Formula> {
    let lines = parse_file(File { name: "t".to_owned(), bytes: text.as_bytes().to_vec() }).lines;
    let formula = |statement| match statement {
        Statement::Rule(rule) => Some(rule.formula),
        _ => None,
    };
    lines.into_iter().filter_map(|line| formula(line.statement)).collect()
}

fn tails_are_zero(table: &BitTable) -> bool {
    (0..table.columns()).all(|column| table.column(column).last().is_none_or(|word| word & !table.tail_mask() == 0))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rules_equal_the_written_formula_and_every_node_the_oracle(seed: u64, unknown in prop_oneof![Just(0.0), 0.01..0.9_f64]) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let concepts = rng.usize(1..8);
        let rules = rng.usize(1..12);
        let text = random_rules(&mut rng, rules, concepts, 4, 4);
        let rule_set = load_closed(&text, concepts).rule_set;
        let formulas = parsed(&text);
        for rows in ROWS {
            let labels = random_labels(&mut rng, rows, concepts, unknown);
            let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(&labels);
            prop_assert!(tails_are_zero(truth.value()) && truth.known().is_none_or(tails_are_zero));
            for row in 0..rows {
                for (column, formula) in formulas.iter().enumerate() {
                    let label = |name: &str| labels.get(row, name[1..].parse().unwrap());
                    prop_assert_eq!(truth.get(row, column), formula_truth(formula, &label), "{} in row {}", formula, row);
                }
            }
            let nodes: Vec<_> = rule_set.dag.ids().map(|id| Edge::new(id, false)).collect();
            if rows < 100 {
                assert_equals_oracle(&rule_set.dag, &nodes, &labels);
            }
        }
    }

    #[test]
    fn coverage_equals_counting_by_hand(seed: u64, unknown in prop_oneof![Just(0.0), 0.01..0.9_f64]) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let rule_set = load_closed(&random_rules(&mut rng, 5, 6, 3, 5), 6).rule_set;
        let rows = ROWS[rng.usize(0..ROWS.len())];
        let labels = random_labels(&mut rng, rows, 6, unknown);
        let gates = coverage(&rule_set.dag, &rule_set.roots(), &labels);
        prop_assert_eq!(gates.len(), rule_set.dag.gates().count());
        for gate in gates {
            let operands_of = |row: usize| -> Option<Vec<bool>> {
                gate.operands.iter().map(|&edge| edge_truth(&rule_set.dag, edge, &|concept| labels.get(row, concept))).collect()
            };
            let seen: Vec<_> = (0..rows).filter_map(operands_of).collect();
            prop_assert_eq!(gate.known_rows, seen.len() as u64);
            prop_assert_eq!(gate.unknown_rows, (rows - seen.len()) as u64);
            let configurations = gate.configurations();
            prop_assert_eq!(configurations.len(), 1 << gate.operands.len());
            for configuration in &configurations {
                let count = seen.iter().filter(|values| **values == configuration.values).count() as u64;
                prop_assert_eq!(configuration.rows, count);
                prop_assert_eq!(configuration.result, hard_op(gate.op, &configuration.values));
            }
            let empty = configurations.iter().filter(|configuration| configuration.rows == 0).count() as u64;
            prop_assert_eq!(gate.missing(), Some(empty));
        }
    }
}

#[test]
fn canonical_order_is_the_same_whatever_else_is_there_and_in_whatever_order_it_came() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut lines: Vec<String> = random_rules(&mut rng, 8, 5, 4, 3).lines().map(str::to_owned).collect();
        let texts = |lines: &[String]| {
            let loaded = chimera_logic::load::load_text("t", &lines.join("\n"), Vocabulary::open());
            let dag = &loaded.rule_set.dag;
            let texts = loaded.rule_set.rules.iter().map(|rule| (rule.name.clone(), dag.text(rule.root)));
            texts.collect::<std::collections::BTreeMap<_, _>>()
        };
        let all = texts(&lines);
        rng.shuffle(&mut lines);
        assert_eq!(texts(&lines), all, "seed {seed}");
        for line in &lines {
            let alone = texts(std::slice::from_ref(line));
            assert!(alone.iter().all(|(name, text)| all[name] == *text), "seed {seed}");
        }
    }
}

#[test]
fn wide_gates_list_the_configurations_that_occur() {
    for concepts in [LISTED_ARITY, LISTED_ARITY + 1, 63, 64, 200] {
        let names = support::concept_names(concepts);
        let rule_set = load_closed(&format!("r: {}", names.join(" | ")), concepts).rule_set;
        let labels = random_labels(&mut fastrand::Rng::with_seed(7), 300, concepts, 0.0);
        let gate = &coverage(&rule_set.dag, &rule_set.roots(), &labels)[0];
        let configurations = gate.configurations();
        assert_eq!(configurations.iter().map(|configuration| configuration.rows).sum::<u64>(), 300);
        assert_eq!(gate.known_rows, 300);
        let occurring = configurations.iter().filter(|configuration| configuration.rows > 0).count() as u64;
        let expected = 1_u64.checked_shl(concepts as u32).map(|all| all - occurring);
        assert_eq!(gate.missing(), expected);
    }
}

#[test]
fn a_range_of_rows_is_a_part_of_the_whole() {
    let mut rng = fastrand::Rng::with_seed(11);
    let rule_set = load_closed(&random_rules(&mut rng, 20, 9, 4, 3), 9).rule_set;
    for unknown in [0.0, 0.3] {
        let labels = random_labels(&mut rng, 40_000, 9, unknown);
        let program = Program::compile(&rule_set.dag, &rule_set.roots());
        let whole = program.evaluate(&labels);
        for rows in [0..40_000, 64..65, 128..128, 19_200..33_333] {
            let part = program.evaluate_rows(&labels, rows.clone());
            assert_eq!(part.rows(), rows.len());
            for column in 0..20 {
                assert!(rows.clone().all(|row| part.get(row - rows.start, column) == whole.get(row, column)));
            }
        }
    }
}
