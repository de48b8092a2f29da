//! Which test rows break which rule, and which rows say nothing about it: those whose labels are unknown, and those on which
//! an antecedent is absent in the labels alone.
//!
//! Where concepts are some classes of a hierarchy, a picture of a kind that is no concept (a tractor) leaves its parent
//! (`Vehicle`) false, and `Vehicle => Wheel` would hold for nothing. Importers that know list such parents in
//! `oov_ancestors`; a rule is not judged on a row that lists a concept of one of its antecedents.

use std::collections::BTreeSet;

use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Node, NodeId};
use chimera_logic::rules::RuleSet;
use chimera_logic::syntax::Op;
use chimera_logic::truth::Program;

use chimera_data::dataset::Dataset;

/// The truth of every rule on some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleTruths {
    /// Whether a rule is broken, `[rule][row]`; `None` where that cannot be told.
    pub broken: Vec<Vec<Option<bool>>>,
    /// For each rule, rows that are not judged since an antecedent is absent in the labels alone.
    pub out_of_vocabulary: Vec<usize>,
}

impl RuleTruths {
    /// The truth of rules on rows of a dataset. `labels` are those of the rows, in the order of the rules' concepts.
    #[must_use]
    pub fn of(rule_set: &RuleSet, labels: &TruthTable, dataset: &Dataset, rows: &[usize]) -> Self {
        let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(labels);
        let beyond = dataset.table().oov_ancestors.as_ref();
        let (mut broken, mut out_of_vocabulary) = (Vec::new(), Vec::new());
        for (number, rule) in rule_set.rules.iter().enumerate() {
            let antecedents = antecedents_of(&rule_set.dag, rule.root.node());
            let is_beyond = |row: usize| {
                let listed = beyond.map_or(&[][..], |beyond| &beyond[row]);
                listed.iter().any(|name| antecedents.contains(name.as_str()))
            };
            let mut left_out = 0;
            let of_row = |(place, &row): (usize, &usize)| {
                let holds = truth.get(place, number)?;
                if is_beyond(row) {
                    left_out += 1;
                    return None;
                }
                Some(!holds)
            };
            broken.push(rows.iter().enumerate().map(of_row).collect());
            out_of_vocabulary.push(left_out);
        }
        Self { broken, out_of_vocabulary }
    }

    /// Whether a row breaks any rule: known as soon as one is broken, and where all are known to hold.
    #[must_use]
    pub fn any_broken(&self, row: usize) -> Option<bool> {
        let truths = || self.broken.iter().map(|rule| rule[row]);
        if truths().any(|broken| broken == Some(true)) {
            return Some(true);
        }
        truths().all(|broken| broken == Some(false)).then_some(false)
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.broken.first().map_or(0, Vec::len)
    }

    /// A hash of who breaks what: two reports can be compared where it is the same.
    #[must_use]
    pub fn fingerprint(&self, rule: usize) -> String {
        let cells: Vec<u8> = self.broken[rule].iter().map(|broken| broken.map_or(2, u8::from)).collect();
        blake3::hash(&cells).to_string()
    }
}

/// Names of the concepts in the antecedents of all implications of a formula.
fn antecedents_of(dag: &Dag, root: NodeId) -> BTreeSet<&str> {
    let edge = |node: NodeId| chimera_logic::dag::Edge::new(node, false);
    let mut names = BTreeSet::new();
    for node in dag.cone(&[edge(root)]) {
        if let Node::Gate(Op::Implies, operands) = dag.node(node) {
            for below in dag.cone(&operands[..1]) {
                if let Node::Leaf(concept) = dag.node(below) {
                    names.insert(dag.vocabulary().name(concept));
                }
            }
        }
    }
    names
}

/// The labels of some rows in the order of a model's concepts; a concept that the dataset does not have is unknown.
#[must_use]
pub fn labels_of(dataset: &Dataset, rows: &[usize], concepts: &[String]) -> TruthTable {
    let table = dataset.table();
    if table.concepts == concepts {
        return table.labels.select(rows);
    }
    let columns: Vec<Option<usize>> =
        concepts.iter().map(|concept| table.concepts.iter().position(|other| other == concept)).collect();
    let label = |row: usize, concept: usize| table.labels.get(rows[row], columns[concept]?);
    let value = BitTable::from_fn(rows.len(), concepts.len(), |row, concept| label(row, concept) == Some(true));
    let known = BitTable::from_fn(rows.len(), concepts.len(), |row, concept| label(row, concept).is_some());
    TruthTable::partial(value, known)
}

#[cfg(test)]
mod tests {
    use chimera_logic::load::load_text;
    use chimera_logic::vocabulary::Vocabulary;

    use super::*;
    use chimera_data::import::{TableImport, import_table};

    fn truths(text: &str) -> RuleTruths {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("t.csv");
        // The second row shows a kind of `a` that is no concept; nobody knows `b` on the last.
        std::fs::write(&table, "id,oov_ancestors,a,b,c\nr1,,1,0,0\nr2,a,0,0,1\nr3,,0,0,1\nr4,b,1,1,1\nr5,,1,,1\n")
            .unwrap();
        let import = TableImport { table, ..TableImport::default() };
        let dataset = import_table(&import, &folder.path().join("ds")).unwrap().dataset;
        let rows = dataset_rows(&dataset);
        let names = ["a", "b", "c"].map(str::to_owned);
        let rule_set = load_text("test", text, Vocabulary::closed(names.clone(), "test")).rule_set;
        RuleTruths::of(&rule_set, &labels_of(&dataset, &rows, &names), &dataset, &rows)
    }

    /// All rows, in the order of their ids.
    fn dataset_rows(dataset: &Dataset) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..dataset.table().ids.len()).collect();
        rows.sort_by_key(|&row| dataset.table().ids[row].to_owned());
        rows
    }

    #[test]
    fn rows_whose_antecedent_is_beyond_the_vocabulary_are_not_judged() {
        let found = truths("r: a => b\nchain: (a => b) & (b => c)\nplain: !a | b\nliteral: c\n");
        assert_eq!(found.broken[0], [Some(true), None, Some(false), Some(false), None]);
        // `b` is an antecedent of the chain, too, so the fourth row goes with the second.
        assert_eq!(found.broken[1], [Some(true), None, Some(false), None, None]);
        // Without an implication nothing is left out.
        assert_eq!(found.broken[2], [Some(true), Some(false), Some(false), Some(false), None]);
        assert_eq!(found.out_of_vocabulary, [1, 2, 0, 0]);
        assert_eq!(
            (0..5).map(|row| found.any_broken(row)).collect::<Vec<_>>(),
            [Some(true), None, Some(false), None, None]
        );
        assert_ne!(found.fingerprint(0), found.fingerprint(1));
    }

    #[test]
    fn a_concept_that_a_dataset_lacks_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("t.csv");
        std::fs::write(&table, "id,b,a\nr1,1,0\nr2,0,1\n").unwrap();
        let import = TableImport { table, ..TableImport::default() };
        let dataset = import_table(&import, &folder.path().join("ds")).unwrap().dataset;
        let labels = labels_of(&dataset, &dataset_rows(&dataset), &["a", "x", "b"].map(str::to_owned));
        let row = |row: usize| [0, 1, 2].map(|concept| labels.get(row, concept));
        assert_eq!([row(0), row(1)], [[Some(false), None, Some(true)], [Some(true), None, Some(false)]]);
    }
}
