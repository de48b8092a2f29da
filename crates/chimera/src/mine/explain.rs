//! What speaks for a rule and against it: its sides counted against each other on train rows, what each test said, whether it
//! was chosen and if not why, and samples that keep and break it.

use chimera_logic::bits::TruthTable;
use chimera_logic::dag::{Dag, Edge, Node};
use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;
use chimera_logic::syntax::Op;
use chimera_logic::truth::Program;
use chimera_logic::vocabulary::{ConceptId, Vocabulary};
use serde::Serialize;

use super::confirm::{Confirmation, LEVEL};
use super::evidence::Evidence;
use super::mining::{Kind, Mining};
use super::parts::Parts;
use super::rounding::down;
use super::shape::{Literal, Pattern, Shape};
use super::stats::clopper_pearson;
use crate::data::dataset::Dataset;
use crate::error::{Error, Result};

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
    /// What became of it, in words; the last one decides.
    pub verdict: Vec<String>,
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
    let root = rule_set.rules.first().map(|rule| rule.root).ok_or_else(|| unreadable(rule, "there is no formula"))?;
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
        verdict: Vec::new(),
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
            explanation.verdict.push(format!("it is never mined: rules are {patterns} over different concepts"));
        }
        Some(shape) => explanation.judge(dataset, mining, &parts, shape),
    }
    Ok(explanation)
}

fn unreadable(rule: &str, why: &str) -> Error {
    let hint = "give a formula such as `a => b`, or the name of a rule that is mined with the same options";
    Error::input(format!("expected a mined rule or a formula, got `{rule}`: {why}"), Some(hint.to_owned()))
}

/// The formula alone, over the dataset's concepts.
fn parsed(dataset: &Dataset, mining: &Mining, formula: &str) -> Result<RuleSet> {
    let loaded = load_text("the formula", &format!("explained: {formula}"), dataset.table().vocabulary());
    match loaded.diagnostics.kept().iter().find(|_| loaded.diagnostics.errors() > 0) {
        None => Ok(loaded.rule_set),
        Some(first) => {
            let names = Vocabulary::closed(mining.rules.iter().map(|rule| rule.name.clone()), "the mined rules");
            let why = match names.nearest(formula) {
                Some(name) => format!("{} (the mined rule `{name}` is near)", first.message),
                None => first.message.clone(),
            };
            Err(unreadable(formula, &why))
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

impl Explanation {
    /// What became of a rule that could be mined: the tests in the order in which they are made.
    fn judge(&mut self, dataset: &Dataset, mining: &Mining, parts: &Parts, shape: Shape) {
        let options = &mining.record.options;
        let searched = Evidence::of(shape, &parts.searched);
        let train = Evidence::of(shape, &parts.train);
        self.parts.push(PartEvidence::of("train", &train));
        if let Some(labels) = &parts.held_out {
            self.parts.push(PartEvidence::of("searched", &searched));
            self.parts.push(PartEvidence::of("held out", &Evidence::of(shape, labels)));
        }
        if let Some(rule) = mining.rules.iter().find(|rule| rule.shape.says_same(shape)) {
            let (name, formula) = (&rule.name, &rule.formula);
            self.verdict.push(match rule.shape == shape {
                true => format!("it is mined, as `{name}`"),
                false => format!("it says the same as `{formula}`, which is mined as `{name}`"),
            });
            return;
        }
        if let Some(left_out) = mining.skipped.iter().find(|left_out| left_out.shape == shape) {
            self.verdict.push(format!("it is not mined: {}", left_out.reason));
            return;
        }
        if let Some(meant) = mining.meant.iter().find(|meant| meant.shape == shape) {
            self.verdict.push(format!("it is not mined: it always holds, since {}", meant.promise.reason()));
            return;
        }
        let out = |reason: String| vec![format!("it is not mined: {reason}")];
        let pattern = shape.pattern();
        let concepts = &dataset.table().concepts;
        let constant = shape
            .concepts()
            .into_iter()
            .find_map(|concept| mining.constant.iter().find(|(name, _)| *name == concepts[concept]));
        let all = parts.train.rows();
        let least = options.support.least(parts.searched.rows(), all);
        let least_of_train = options.support.least(all, all);
        let confidence = down(searched.confidence().unwrap_or(0.0));
        let held_out = parts.held_out.as_ref().map(|labels| Confirmation::of(shape, labels, options));
        self.verdict = match () {
            () if !options.wants(pattern) => out(format!("`--families` does not ask for `{pattern}`")),
            () if constant.is_some() => {
                out(constant.map_or_else(String::new, |(name, what)| format!("`{name}` {what} on the searched rows")))
            }
            () if searched.support < least => out(format!(
                "it applies to {} searched rows, and {least} are asked for (`--support`)",
                searched.support
            )),
            () if !options.is_confident(shape, &searched) => {
                let (pos, neg) = (options.confidence_pos, options.confidence_neg);
                out(format!(
                    "{confidence:.4} of the searched rows that it applies to keep it (`--confidence-pos` {pos}, `--confidence-neg` {neg})"
                ))
            }
            () if let Some(simpler) = simpler(shape, &parts.searched, mining) => {
                out(format!("`{}` says more", simpler.formula(concepts)))
            }
            () if mining.largest_p.get(&Kind::of(pattern)).is_some_and(|&p| searched.p() > p) => out(format!(
                "chance would do as well with probability {:.2e}, too much for so many tests (`--fdr` {})",
                searched.p(),
                options.fdr
            )),
            () if let Some(words) = held_out.as_ref().and_then(unconfirmed) => out(words),
            () if train.support < least_of_train => out(format!(
                "it applies to {} train rows, and {least_of_train} are asked for (`--support`)",
                train.support
            )),
            () if !options.is_confident(shape, &train) => out("all train rows together do not bear it out".to_owned()),
            () if matches!(pattern, Pattern::Iff | Pattern::Chain | Pattern::Both) => {
                out("not all of the pairs that it is made of passed the tests, or one of them says it all".to_owned())
            }
            () => {
                out("it says the same as another rule that is told, or there was no room for it (`--max-candidates`)"
                    .to_owned())
            }
        };
    }
}

/// A part of a compound that is confident alone.
fn simpler(shape: Shape, labels: &TruthTable, mining: &Mining) -> Option<Shape> {
    let parts = match shape {
        Shape::And(given, demand) => given.map(|given| Shape::Pair(given, demand)),
        Shape::Or(given, demands) => demands.map(|demand| Shape::Pair(given, Literal::holds(demand))),
        _ => return None,
    };
    parts.into_iter().find(|&part| mining.record.options.is_confident(part, &Evidence::of(part, labels)))
}

/// Why held-out rows do not bear a rule out, if they do not.
fn unconfirmed(confirmation: &Confirmation) -> Option<String> {
    let Evidence { support, kept, .. } = confirmation.evidence;
    match () {
        () if confirmation.holds() => None,
        () if support == 0 => Some("it applies to no held-out row".to_owned()),
        () if confirmation.violations < LEVEL => {
            Some(format!("{} of {support} held-out rows break it, too many", support - kept))
        }
        () => Some(format!("on held-out rows chance would do as well with probability {:.2}", confirmation.p)),
    }
}
