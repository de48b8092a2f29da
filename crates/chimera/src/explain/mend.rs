//! How a rule is broken, most likely, and the least that would mend it; what each of its parts has to do with it. Exact counting over
//! probabilities of concepts: right where a concept occurs twice.

use chimera_logic::bdd::repair::{CERTAIN_COST, flip_cost, likelier_value};
use chimera_logic::bdd::{Diagrams, Limits};
use chimera_logic::dag::{Edge, NodeId};
use chimera_logic::printer::quote_name;
use chimera_logic::prob::Probabilities;
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::ConceptId;

/// The probability that takes the place of 0 where a part is given a value that it cannot have.
const LEAST: f64 = 1.0 / (1_u64 << 30) as f64;

/// Probabilities of a rule that differ by less are alike: [`LEAST`] may have made the difference.
const TIE: f64 = 1e-6;

/// A concept, shown or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Literal {
    /// The concept.
    pub concept: ConceptId,
    /// Whether it is shown.
    pub shown: bool,
}

/// Changes of the likeliest values that turn a rule: a broken one holds with them, one that holds is broken by them.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Concepts with their new values; never the values that they most probably have.
    pub flips: Vec<Literal>,
    /// The logarithm of the odds against the changes; `None` where something certain speaks against them.
    pub cost: Option<f64>,
}

impl Change {
    fn new(flips: Vec<Literal>, cost: f64) -> Self {
        Self { flips, cost: Some(cost).filter(|cost| *cost < CERTAIN_COST) }
    }
}

/// The likeliest way to break a rule, and what would turn it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mend {
    /// The most probable values of its concepts with which it is broken.
    pub breach: Vec<Literal>,
    /// Their probability, concepts being independent.
    pub(crate) breach_probability: f64,
    /// True where these values are what is most probable anyway.
    pub is_likeliest: bool,
    /// The cheapest change: it mends the rule where the breach is likeliest, and breaks it where not.
    pub change: Change,
}

impl Mend {
    /// The effect of the change, in words.
    pub(super) fn words<'n>(&self, name: impl Fn(ConceptId) -> &'n str) -> String {
        let flip = |literal: &Literal| {
            let quoted = quote_name(name(literal.concept));
            if literal.shown { format!("`{quoted}` were present") } else { format!("`{quoted}` were absent") }
        };
        let flips: Vec<String> = self.change.flips.iter().map(flip).collect();
        let effect = if self.is_likeliest { "would hold" } else { "would be broken" };
        format!("{effect} if {}", flips.join(" and "))
    }
}

/// The effect of a part of a rule on its truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bearing {
    /// The part.
    pub node: NodeId,
    /// The value of the part with which the rule is more probable; `None` where its value makes no difference, or it can only
    /// have one.
    pub wanted: Option<bool>,
    /// The probability of the rule, were that so.
    pub then: f64,
    /// The gain over its probability now.
    pub lift: f64,
}

/// One rule over probabilities of its concepts.
#[derive(Debug)]
pub(crate) struct Mending<'a> {
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
    pub(crate) fn new(rule_set: &'a RuleSet, rule: usize, concepts: &'a [f64]) -> Self {
        Self { rule_set, root: rule_set.rules[rule].root, concepts }
    }

    /// How the rule is broken and mended; `None` where it cannot be broken, cannot hold, or is too large to count.
    #[must_use]
    pub(crate) fn mend(&self) -> Option<Mend> {
        let probabilities = Probabilities::of_sample(self.concepts).ok()?;
        let mut diagrams = Diagrams::new(&self.rule_set.dag, &[self.root], Limits::default());
        let [holding, broken] = [false, true].map(|negated| diagrams.compile(self.root.negate_if(negated)));
        let circuit = diagrams.circuit(&[holding.ok()?, broken.ok()?]);
        let repair = circuit.repair(0, &probabilities, 0)?;
        let breach = circuit.most_probable(1, &probabilities, 0)?;
        let values: Vec<Literal> = breach.values.iter().map(|&(concept, shown)| Literal { concept, shown }).collect();
        let is_likeliest = !repair.flips.is_empty();
        let change = if is_likeliest {
            let flips = repair.flips.iter().map(|flip| Literal { concept: flip.concept, shown: flip.value }).collect();
            Change::new(flips, repair.cost)
        } else {
            let is_odd = |literal: &&Literal| literal.shown != likelier_value(self.p(literal.concept));
            let odd: Vec<Literal> = values.iter().filter(is_odd).copied().collect();
            let cost = odd.iter().map(|literal| flip_cost(self.p(literal.concept))).sum();
            Change::new(odd, cost)
        };
        Some(Mend { breach_probability: breach.log_probability.exp(), breach: values, is_likeliest, change })
    }

    fn p(&self, concept: ConceptId) -> f64 {
        self.concepts[concept.index()]
    }

    /// The exact probability of the rule, and the effect of each part below its root, the greatest gain first; `None` where the
    /// rule is too large to count.
    ///
    /// Where a part certainly has one value, the other is taken as the least change of what is certain: [`LEAST`] stands for
    /// probabilities of 0, so that of all worlds those with the fewest such changes weigh nearly everything.
    #[must_use]
    pub(crate) fn bearings(&self) -> Option<(f64, Vec<Bearing>)> {
        let open: Vec<f64> = self.concepts.iter().map(|p| p.clamp(LEAST, 1.0 - LEAST)).collect();
        let (probabilities, open) =
            (Probabilities::of_sample(self.concepts).ok()?, Probabilities::of_sample(&open).ok()?);
        let dag = &self.rule_set.dag;
        let mut diagrams = Diagrams::new(dag, &[self.root], Limits::default());
        let root = diagrams.compile(self.root).ok()?;
        let parts: Vec<NodeId> = dag.cone(&[self.root]).into_iter().filter(|node| *node != self.root.node()).collect();
        let mut functions = Vec::new();
        for &part in &parts {
            for negated in [false, true] {
                let value = diagrams.compile(Edge::new(part, negated)).ok()?;
                functions.extend([value, diagrams.and(root, value).ok()?]);
            }
        }
        let now = diagrams.circuit(&[root]).evaluate(&probabilities)[0];
        let counted = diagrams.circuit(&functions).evaluate(&open);
        let bearing = |(&node, counted): (&NodeId, &[f64])| {
            // Given something that cannot be, nothing follows.
            let given = |value: f64, both: f64| (value > f64::MIN_POSITIVE).then(|| (both / value).clamp(0.0, 1.0));
            match (given(counted[0], counted[1]), given(counted[2], counted[3])) {
                (Some(with), Some(without)) if (with - without).abs() > TIE => {
                    let then = with.max(without);
                    Bearing { node, wanted: Some(with > without), then, lift: (then - now).max(0.0) }
                }
                _ => Bearing { node, wanted: None, then: now, lift: 0.0 },
            }
        };
        let mut bearings: Vec<Bearing> = parts.iter().zip(counted.chunks_exact(4)).map(bearing).collect();
        bearings.sort_by(|one, other| other.lift.total_cmp(&one.lift).then(one.node.index().cmp(&other.node.index())));
        Some((now, bearings))
    }
}

#[cfg(test)]
mod tests {
    use chimera_logic::load::load_text;
    use chimera_logic::truth::holds;
    use chimera_logic::vocabulary::Vocabulary;

    use super::*;
    use crate::gate::heads::concepts_of;

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
                let own: Vec<ConceptId> = concepts_of(&rule_set, 0).collect();
                let of = |world: &[bool]| -> f64 {
                    own.iter().map(|c| if world[c.index()] { p[c.index()] } else { 1.0 - p[c.index()] }).product()
                };
                let best = worlds(&p).filter(|(world, _)| !is_true(world)).map(|(world, _)| of(&world));
                let best = best.max_by(f64::total_cmp).unwrap();
                assert!((mend.breach_probability / best - 1.0).abs() < 1e-9, "{formula} {p:?}");
                let mut world = vec![false; p.len()];
                mend.breach.iter().for_each(|literal| world[literal.concept.index()] = literal.shown);
                assert!(!is_true(&world), "{formula} {p:?}");
                assert!(!mend.change.flips.is_empty());
                // The change starts from what is most probable, and each of its flips goes against that.
                let likely: Vec<bool> = p.iter().map(|&p| likelier_value(p)).collect();
                let mut turned = likely.clone();
                mend.change.flips.iter().for_each(|literal| turned[literal.concept.index()] = literal.shown);
                assert!(mend.change.flips.iter().all(|literal| literal.shown != likely[literal.concept.index()]));
                assert_eq!(
                    [is_true(&likely), is_true(&turned)],
                    [!mend.is_likeliest, mend.is_likeliest],
                    "{formula} {p:?}"
                );
                // No other world that turns the rule costs less.
                let cost = |to: &[bool]| -> f64 {
                    own.iter().filter(|c| to[c.index()] != likely[c.index()]).map(|c| flip_cost(p[c.index()])).sum()
                };
                assert!((cost(&turned) - mend.change.cost.unwrap()).abs() < 1e-9);
                let turns = worlds(&p).filter(|(to, _)| is_true(to) == mend.is_likeliest).map(|(to, _)| cost(&to));
                assert!(mend.change.cost.unwrap() <= turns.min_by(f64::total_cmp).unwrap() + 1e-9, "{formula} {p:?}");
            }
        }
        assert!(likeliest.iter().all(|count| *count > 100), "{likeliest:?}");
    }

    /// Against all worlds, also with concepts that are certain: of the worlds in which the part has the value, those count that
    /// change the fewest of these.
    #[test]
    fn bearings_are_conditional_probabilities() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut certain, mut gains) = (0, 0);
        for (formula, round) in FORMULAS.iter().flat_map(|formula| (0..50).map(move |round| (formula, round))) {
            let rule_set = rules(formula);
            let root = rule_set.rules[0].root;
            let p: Vec<f64> = NAMES
                .iter()
                .map(|_| if round > 0 && random.bool() { f64::from(random.u8(0..2)) } else { random.f64() })
                .collect();
            let (now, bearings) = Mending::new(&rule_set, 0, &p).bearings().unwrap();
            let is = |edge: Edge, world: &[bool]| holds(&rule_set.dag, edge, &|concept| world[concept.index()]);
            let broken: f64 = worlds(&p).filter(|(world, _)| !is(root, world)).map(|(_, weight)| weight).sum();
            assert!((1.0 - broken - now).abs() < 1e-12);
            assert!(bearings.is_sorted_by(|one, other| one.lift >= other.lift));
            for Bearing { node, wanted, then, lift } in bearings {
                let given = |value: bool| {
                    let part = Edge::new(node, !value);
                    let worlds = worlds(&p).filter(|(world, _)| is(part, world)).map(|(world, _)| {
                        let against = |(shown, p): (&bool, &f64)| if *shown { *p } else { 1.0 - p };
                        let changes = world.iter().zip(&p).filter(|pair| against(*pair) == 0.0).count();
                        let weight: f64 = world.iter().zip(&p).map(against).filter(|p| *p > 0.0).product();
                        (changes, weight, is(root, &world))
                    });
                    let worlds: Vec<(usize, f64, bool)> = worlds.collect();
                    let least = worlds.iter().map(|world| world.0).min().unwrap();
                    let sum = |wanted: &dyn Fn(&(usize, f64, bool)) -> bool| -> f64 {
                        worlds.iter().filter(|world| world.0 == least && wanted(world)).map(|world| world.1).sum()
                    };
                    sum(&|world| world.2) / sum(&|_| true)
                };
                let [without, with] = [false, true].map(given);
                certain += usize::from(p.contains(&0.0) || p.contains(&1.0));
                gains += usize::from(lift > 0.9);
                match wanted {
                    Some(wanted) => {
                        assert!((given(wanted) - then).abs() < 1e-6 && given(!wanted) < then, "{formula} {p:?}");
                        assert!(((then - now).max(0.0) - lift).abs() < 1e-9);
                    }
                    None => assert!((with - without).abs() < 1e-5 && then == now && lift == 0.0, "{formula} {p:?}"),
                }
            }
        }
        assert!(certain > 1000 && gains > 100, "{certain} {gains}");
    }

    /// A violation that is certain: each part says what would mend it, and the odds have no number.
    #[test]
    fn certain_violations_get_right_advice() {
        let rule_set = rules("a => !b");
        let mending = Mending::new(&rule_set, 0, &[1.0, 1.0, 0.5, 0.5]);
        let (now, bearings) = mending.bearings().unwrap();
        assert_eq!(now, 0.0);
        for bearing in &bearings {
            assert_eq!(bearing.wanted, Some(false), "{bearings:?}");
            assert!(bearing.lift > 0.999 && bearing.then > 0.999);
        }
        let mend = mending.mend().unwrap();
        assert!(mend.is_likeliest && mend.change.flips.len() == 1 && mend.change.cost.is_none());
        // Nothing to mend where `b` is believed absent; its presence would break the rule, with odds of 9 to 1 against it.
        let mend = Mending::new(&rule_set, 0, &[1.0, 0.1, 0.5, 0.5]).mend().unwrap();
        assert_eq!(
            (mend.is_likeliest, mend.change.flips),
            (false, vec![Literal { concept: ConceptId(1), shown: true }])
        );
        assert!((mend.change.cost.unwrap() - 9.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_broken_or_hold_has_no_repair() {
        for formula in ["a | !a", "a & !a"] {
            let rule_set = rules(formula);
            assert_eq!(Mending::new(&rule_set, 0, &[0.5; 4]).mend(), None);
        }
    }
}
