//! What speaks for a rule and against it: its sides counted against each other on train rows, what each test said, whether it
//! was chosen and if not why, and samples that keep and break it.

mod verdict;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_logic::dag::{Dag, Edge, Node};
use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;
use chimera_logic::syntax::Op;
use chimera_logic::truth::Program;
use chimera_logic::vocabulary::{ConceptId, Vocabulary};
use serde::Serialize;

use self::verdict::Verdict;
use super::evidence::Evidence;
use super::outcome::Mining;
use super::parts::Parts;
use super::shape::Shape;
use super::stats::clopper_pearson;

/// What is known about a rule.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// What it says.
    pub formula: String,
    /// What is counted against what.
    pub sides: [String; 2],
    /// Train rows: whether the first side holds, fails or is unknown, by whether the second does.
    pub table: [[u64; 3]; 3],
    /// What was counted on which rows; nothing for a rule that is never mined.
    pub parts: Vec<PartEvidence>,
    /// The p-value of the searched rows with all tests taken into account; only of a rule that passed them.
    pub p_adjusted: Option<f64>,
    /// What became of it, in words.
    pub verdict: String,
    /// Numbers of train rows that keep it and that it applies to, in the order of ids.
    #[serde(skip)]
    pub keeping: Vec<usize>,
    /// Numbers of train rows that break it, in the order of ids.
    #[serde(skip)]
    pub breaking: Vec<usize>,
}

/// What some of the rows say about a rule.
#[derive(Clone, Debug, Serialize)]
pub struct PartEvidence {
    /// Which rows.
    pub rows: &'static str,
    /// Rows that it applies to.
    pub support: u64,
    /// Of these, rows that keep it.
    pub kept: u64,
    /// The 95 % interval of their share.
    pub interval: [f64; 2],
    /// How much more often it is kept than by chance.
    pub lift: Option<f64>,
    /// Probability that chance does as well, in the test that speaks least for it.
    pub p: f64,
}

impl PartEvidence {
    fn of(rows: &'static str, evidence: &Evidence) -> Self {
        let interval = clopper_pearson(evidence.kept, evidence.support);
        let (support, kept, lift) = (evidence.support, evidence.kept, evidence.lift);
        Self { rows, support, kept, interval: [interval.low, interval.high], lift, p: evidence.p() }
    }
}

/// Explains a rule: one of the mined by its name, or any formula that has two sides.
///
/// # Errors
/// A name or formula that cannot be read, or a formula without two sides.
pub fn explain(dataset: &Dataset, mining: &Mining, rule: &str) -> Result<Explanation> {
    let named = mining.rules.iter().find(|mined| mined.name == rule).map(|mined| mined.formula.as_str());
    let mut rule_set = parsed(dataset, mining, named.unwrap_or(rule))?;
    let root =
        rule_set.rules.first().map(|rule| rule.root).ok_or_else(|| unreadable(rule, "there is no formula", None))?;
    let [left, right] = sides(&mut rule_set.dag, root)?;
    let parts = Parts::of(dataset, &mining.record.options)?;
    let dag = &rule_set.dag;
    let program = Program::compile(dag, &[left, right, root]);
    // In the order of ids, so that samples are shown in the same order wherever the table lies.
    let rows = parts.rows.numbers();
    let truth = program.evaluate(&dataset.table().labels.select(rows));
    let mut explanation = Explanation {
        formula: dag.text(root),
        sides: [left, right].map(|side| dag.text(side)),
        table: [[0; 3]; 3],
        parts: Vec::new(),
        p_adjusted: None,
        verdict: String::new(),
        keeping: Vec::new(),
        breaking: Vec::new(),
    };
    let number = |truth: Option<bool>| match truth {
        Some(true) => 0,
        Some(false) => 1,
        None => 2,
    };
    for (at, &row) in rows.iter().enumerate() {
        let [one, other, holds] = [0, 1, 2].map(|column| truth.get(at, column));
        explanation.table[number(one)][number(other)] += 1;
        match (one, other, holds) {
            (_, _, Some(false)) => explanation.breaking.push(row),
            (Some(true), Some(true), Some(true)) => explanation.keeping.push(row),
            _ => {}
        }
    }
    match Shape::of(dag, root) {
        None => {
            let patterns =
                "`a => b`, `a => !b`, `a <=> b`, `a & b => c`, `a => b | c`, `a => b & c` and `(a => b) & (b => c)`";
            explanation.verdict = format!("it is never mined: rules are {patterns} over different concepts");
        }
        Some(shape) => {
            explanation.parts.push(PartEvidence::of("train", &Evidence::of(shape, &parts.train)));
            if let Some(labels) = &parts.held_out {
                explanation.parts.push(PartEvidence::of("searched", &Evidence::of(shape, &parts.searched)));
                explanation.parts.push(PartEvidence::of("held out", &Evidence::of(shape, labels)));
            }
            let verdict = Verdict { mining, parts: &parts, concepts: &dataset.table().concepts };
            (explanation.verdict, explanation.p_adjusted) = verdict.of(shape);
        }
    }
    Ok(explanation)
}

fn unreadable(rule: &str, why: &str, hint: Option<String>) -> Error {
    let how = "give a formula such as `a => b`, or the name of a rule that is mined with the same options";
    Error::input(
        format!("expected a mined rule or a formula, got `{rule}`: {why}"),
        Some(hint.unwrap_or_else(|| how.to_owned())),
    )
}

/// The formula alone, over the dataset's concepts.
fn parsed(dataset: &Dataset, mining: &Mining, formula: &str) -> Result<RuleSet> {
    let loaded = load_text("the formula", &format!("explained: {formula}"), dataset.table().vocabulary());
    match loaded.diagnostics.kept().iter().find(|_| loaded.diagnostics.errors() > 0) {
        None => Ok(loaded.rule_set),
        Some(first) => {
            // What looks like a name may be that of a rule, before it is that of a concept.
            let names = Vocabulary::closed(mining.rules.iter().map(|rule| rule.name.clone()), "the mined rules");
            let hint = names.nearest(formula).map(|name| format!("did you mean the mined rule `{name}`?"));
            Err(unreadable(formula, &first.message, hint.or_else(|| first.hint.clone())))
        }
    }
}

/// What is counted against what: the sides of an implication or IFF; of other rules where they apply, and whether they are kept.
fn sides(dag: &mut Dag, root: Edge) -> Result<[Edge; 2]> {
    let two = match dag.node(root.node()) {
        Node::Gate(Op::Implies | Op::Iff, &[one, other]) if !root.is_negated() => Some([one, other]),
        _ => None,
    };
    let chain = match Shape::of(dag, root) {
        Some(Shape::Chain(first, middle, _)) => {
            let [first, middle] = [first, middle].map(|concept| dag.leaf(ConceptId(concept as u32)));
            dag.gate(Op::Or, vec![first, middle]).ok().map(|applies| [applies, root])
        }
        _ => None,
    };
    two.or(chain).ok_or_else(|| {
        let message = format!("expected an implication, an IFF of two sides or a chain, got `{}`", dag.text(root));
        Error::input(message, Some("`chimera rules truth` tells on which samples any rule holds".to_owned()))
    })
}
