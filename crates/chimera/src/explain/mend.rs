//! How a rule is broken, most likely, and the least that would mend it; what each of its parts has to do with it. Exact counting over
//! probabilities of concepts: right where a concept occurs twice.

use chimera_logic::bdd::repair::{flip_cost, likelier_value};
use chimera_logic::bdd::{Diagrams, Limits};
use chimera_logic::dag::{Edge, Node, NodeId};
use chimera_logic::printer::quote_name;
use chimera_logic::prob::Probabilities;
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::holds;
use chimera_logic::vocabulary::ConceptId;

/// A concept, shown or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Literal {
    /// The concept.
    pub concept: ConceptId,
    /// Whether it is shown.
    pub shown: bool,
}

/// How a rule is broken, and how it would not be.
#[derive(Clone, Debug, PartialEq)]
pub struct Mend {
    /// The most probable values of its concepts with which it is broken.
    pub breach: Vec<Literal>,
    /// Their probability, concepts being independent.
    pub breach_probability: f64,
    /// Whether these values are what is most probable anyway.
    pub is_likeliest: bool,
    /// What to change of them so that the rule holds, as cheaply as can be.
    pub flips: Vec<Literal>,
    /// What that costs: the logarithm of the odds that speak against the changes.
    pub cost: f64,
}

impl Mend {
    /// What would mend the rule, in words.
    pub(super) fn words<'n>(&self, name: impl Fn(ConceptId) -> &'n str) -> String {
        let flip = |literal: &Literal| {
            let quoted = quote_name(name(literal.concept));
            if literal.shown { format!("`{quoted}` were present") } else { format!("`{quoted}` were absent") }
        };
        let flips: Vec<String> = self.flips.iter().map(flip).collect();
        format!("holds if {}", flips.join(" and "))
    }
}

/// What a part of a rule has to do with its truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bearing {
    /// The part.
    pub node: NodeId,
    /// The value of the part with which the rule is more probable.
    pub wanted: bool,
    /// The probability of the rule, were that so.
    pub then: f64,
    /// How much more that is than it is now.
    pub lift: f64,
}

/// One rule over probabilities of its concepts.
#[derive(Debug)]
pub struct Mending<'a> {
    rule_set: &'a RuleSet,
    root: Edge,
    /// Of every concept of the vocabulary.
    concepts: &'a [f64],
}

impl<'a> Mending<'a> {
    /// A rule, by number, and the probability of every concept of its vocabulary.
    ///
    /// # Panics
    /// Where there is no such rule.
    #[must_use]
    pub fn new(rule_set: &'a RuleSet, rule: usize, concepts: &'a [f64]) -> Self {
        Self { rule_set, root: rule_set.rules[rule].root, concepts }
    }

    /// How the rule is broken and mended; `None` where it cannot be broken, cannot hold, or is too large to count.
    #[must_use]
    pub fn mend(&self) -> Option<Mend> {
        let probabilities = Probabilities::of_sample(self.concepts).ok()?;
        let mut diagrams = Diagrams::new(&self.rule_set.dag, &[self.root], Limits::default());
        let [holding, broken] = [false, true].map(|negated| diagrams.compile(self.root.negate_if(negated)));
        let circuit = diagrams.circuit(&[holding.ok()?, broken.ok()?]);
        let repair = circuit.repair(0, &probabilities, 0)?;
        let breach = circuit.most_probable(1, &probabilities, 0)?;
        let values: Vec<Literal> = breach.values.iter().map(|&(concept, shown)| Literal { concept, shown }).collect();
        let is_likeliest = !repair.flips.is_empty();
        let flips: Vec<Literal> = if is_likeliest {
            repair.flips.iter().map(|flip| Literal { concept: flip.concept, shown: flip.value }).collect()
        } else {
            // What is most probable keeps the rule: of what makes the difference, any one thing would do, so the surest.
            let odd = |literal: &&Literal| literal.shown != likelier_value(self.p(literal.concept));
            let surest = |one: &&Literal, other: &&Literal| {
                flip_cost(self.p(one.concept)).total_cmp(&flip_cost(self.p(other.concept)))
            };
            let odd: Vec<&Literal> = values.iter().filter(odd).collect();
            let one: Vec<&Literal> = odd.iter().copied().max_by(surest).into_iter().collect();
            let chosen = if self.holds_with(&values, &one) { one } else { odd };
            chosen.into_iter().map(|literal| Literal { shown: !literal.shown, ..*literal }).collect()
        };
        Some(Mend {
            breach_probability: breach.log_probability.exp(),
            breach: values,
            is_likeliest,
            flips,
            cost: if is_likeliest { repair.cost } else { 0.0 },
        })
    }

    /// Whether the rule holds with these values, some of them flipped. Other concepts do not matter to it.
    fn holds_with(&self, values: &[Literal], flipped: &[&Literal]) -> bool {
        let is = |concept: ConceptId| {
            let shown = values.iter().any(|literal| literal.concept == concept && literal.shown);
            shown != flipped.iter().any(|literal| literal.concept == concept)
        };
        holds(&self.rule_set.dag, self.root, &is)
    }

    fn p(&self, concept: ConceptId) -> f64 {
        self.concepts[concept.index()]
    }

    /// The exact probability of the rule, and what each part below its root has to do with it, what would help most first; `None`
    /// where the rule is too large to count.
    #[must_use]
    pub fn bearings(&self) -> Option<(f64, Vec<Bearing>)> {
        let probabilities = Probabilities::of_sample(self.concepts).ok()?;
        let dag = &self.rule_set.dag;
        let mut diagrams = Diagrams::new(dag, &[self.root], Limits::default());
        let root = diagrams.compile(self.root).ok()?;
        let parts: Vec<NodeId> = dag.cone(&[self.root]).into_iter().filter(|node| *node != self.root.node()).collect();
        let mut functions = vec![root];
        for &part in &parts {
            let compiled = diagrams.compile(Edge::new(part, false)).ok()?;
            functions.extend([compiled, diagrams.and(root, compiled).ok()?]);
        }
        let counted = diagrams.circuit(&functions).evaluate(&probabilities);
        let now = counted[0];
        let bearing = |(&node, pair): (&NodeId, &[f64])| {
            let [part, both] = [pair[0], pair[1]];
            // Given something that cannot be, nothing follows.
            let given =
                |both: f64, part: f64| if part > f64::MIN_POSITIVE { (both / part).clamp(0.0, 1.0) } else { now };
            let (with, without) = (given(both, part), given((now - both).max(0.0), 1.0 - part));
            let (wanted, then) = if with >= without { (true, with) } else { (false, without) };
            Bearing { node, wanted, then, lift: (then - now).max(0.0) }
        };
        let mut bearings: Vec<Bearing> = parts.iter().zip(counted[1..].chunks_exact(2)).map(bearing).collect();
        bearings.sort_by(|one, other| other.lift.total_cmp(&one.lift).then(one.node.index().cmp(&other.node.index())));
        Some((now, bearings))
    }

    /// The concepts of the rule, in the order of the vocabulary.
    #[must_use]
    pub fn concepts(&self) -> Vec<ConceptId> {
        let leaf = |node: NodeId| match self.rule_set.dag.node(node) {
            Node::Leaf(concept) => Some(concept),
            Node::Gate(..) => None,
        };
        let mut concepts: Vec<ConceptId> = self.rule_set.dag.cone(&[self.root]).into_iter().filter_map(leaf).collect();
        concepts.sort_unstable();
        concepts
    }
}

#[cfg(test)]
mod tests {
    use chimera_logic::load::load_text;
    use chimera_logic::vocabulary::Vocabulary;

    use super::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "d"];

    fn rules(formula: &str) -> RuleSet {
        let vocabulary = Vocabulary::closed(NAMES.map(str::to_owned), "a test");
        load_text("t", &format!("r: {formula}"), vocabulary).rule_set
    }

    const FORMULAS: [&str; 9] = [
        "a => b",
        "a => !b",
        "a & b => c | d",
        "(a => b) & (b => !c)",
        "a <=> b",
        "!(a & b)",
        "a | b | c",
        "(a <=> !b) | (c & d)",
        "a => b & !c",
    ];

    /// All worlds, with their probabilities by hand.
    fn worlds(p: &[f64]) -> impl Iterator<Item = (Vec<bool>, f64)> + '_ {
        (0..1_usize << p.len()).map(move |bits| {
            let world: Vec<bool> = (0..p.len()).map(|at| bits >> at & 1 == 1).collect();
            let weight = world.iter().zip(p).map(|(shown, p)| if *shown { *p } else { 1.0 - p }).product();
            (world, weight)
        })
    }

    /// Against all worlds: the breach is the most probable that breaks the rule, and with the repair the rule holds, no cheaper one does.
    #[test]
    fn a_repaired_assignment_is_true_and_none_is_cheaper() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut likeliest = [0; 2];
        for formula in FORMULAS {
            let rule_set = rules(formula);
            let root = rule_set.rules[0].root;
            let is_true = |world: &[bool]| holds(&rule_set.dag, root, &|concept| world[concept.index()]);
            for _ in 0..200 {
                let p: Vec<f64> = NAMES.iter().map(|_| random.f64()).collect();
                let mending = Mending::new(&rule_set, 0, &p);
                let mend = mending.mend().unwrap();
                likeliest[usize::from(mend.is_likeliest)] += 1;
                let own = mending.concepts();
                let of = |world: &[bool]| -> f64 {
                    own.iter().map(|c| if world[c.index()] { p[c.index()] } else { 1.0 - p[c.index()] }).product()
                };
                let best = worlds(&p).filter(|(world, _)| !is_true(world)).map(|(world, _)| of(&world));
                let best = best.max_by(f64::total_cmp).unwrap();
                assert!((mend.breach_probability / best - 1.0).abs() < 1e-9, "{formula} {p:?}");
                let mut world = vec![false; p.len()];
                mend.breach.iter().for_each(|literal| world[literal.concept.index()] = literal.shown);
                assert!(!is_true(&world), "{formula} {p:?}");
                let broken = world.clone();
                assert!(!mend.flips.is_empty());
                mend.flips.iter().for_each(|literal| world[literal.concept.index()] = literal.shown);
                assert!(is_true(&world), "{formula} {p:?}: {mend:?}");
                // No other world in which it holds costs less.
                let cost = |to: &[bool]| -> f64 {
                    let changed = own.iter().filter(|c| to[c.index()] != broken[c.index()]);
                    let against = changed.filter(|c| to[c.index()] != likelier_value(p[c.index()]));
                    against.map(|c| flip_cost(p[c.index()])).sum()
                };
                assert!((cost(&world) - mend.cost).abs() < 1e-9);
                let cheapest = worlds(&p).filter(|(to, _)| is_true(to)).map(|(to, _)| cost(&to)).min_by(f64::total_cmp);
                assert!(mend.cost <= cheapest.unwrap() + 1e-9, "{formula} {p:?}");
            }
        }
        assert!(likeliest.iter().all(|count| *count > 100), "{likeliest:?}");
    }

    #[test]
    fn bearings_are_conditional_probabilities() {
        let mut random = fastrand::Rng::with_seed(5);
        for formula in FORMULAS {
            let rule_set = rules(formula);
            let root = rule_set.rules[0].root;
            let p: Vec<f64> = NAMES.iter().map(|_| random.f64()).collect();
            let (now, bearings) = Mending::new(&rule_set, 0, &p).bearings().unwrap();
            let sum = |wanted: &dyn Fn(&[bool]) -> bool| -> f64 {
                worlds(&p).filter(|(world, _)| wanted(world)).map(|(_, weight)| weight).sum()
            };
            let is = |edge: Edge, world: &[bool]| holds(&rule_set.dag, edge, &|concept| world[concept.index()]);
            assert!((sum(&|world| is(root, world)) - now).abs() < 1e-12);
            assert!(bearings.is_sorted_by(|one, other| one.lift >= other.lift));
            for Bearing { node, wanted, then, lift } in bearings {
                let given = |value: bool| {
                    let part = Edge::new(node, !value);
                    sum(&|world| is(root, world) && is(part, world)) / sum(&|world| is(part, world))
                };
                assert!((given(wanted) - then).abs() < 1e-9 && given(!wanted) <= then + 1e-9, "{formula}");
                assert!((then - now - lift).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_cannot_be_broken_or_hold_has_no_repair() {
        for formula in ["a | !a", "a & !a"] {
            let rule_set = rules(formula);
            assert_eq!(Mending::new(&rule_set, 0, &[0.5; 4]).mend(), None);
        }
        // Sure labels can be mended, too.
        let rule_set = rules("a => b");
        let mend = Mending::new(&rule_set, 0, &[1.0, 0.0, 0.0, 0.0]).mend().unwrap();
        assert!(mend.is_likeliest && mend.flips.len() == 1 && mend.cost > 1e5);
    }
}
