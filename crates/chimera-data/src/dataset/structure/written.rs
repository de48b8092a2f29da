//! Ties as rules: what they say, and what they are called.

use std::collections::BTreeSet;

use chimera_logic::printer::quote_name;
use chimera_logic::syntax::Op;

use super::ties::{Tie, Ties};
use super::{LeftOut, Origin, StructuralRule, StructureOptions};
use crate::dataset::hierarchy::Hierarchy;
use crate::dataset::rule_names::{slug, unused};
use crate::error::shown;
use crate::table::LabelTable;

/// Names of classes for a line of text.
pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ")
}

/// All rules that are asked for, by origin, and those that the hierarchy does not say itself.
pub(super) fn written(
    ties: &Ties,
    (hierarchy, table): (&Hierarchy, &LabelTable),
    options: StructureOptions,
) -> (Vec<StructuralRule>, Vec<LeftOut>) {
    let name = |concept: usize| table.concepts[concept].as_str();
    let mut names = BTreeSet::new();
    let mut rule = |origin: Origin, words: &[&str], formula: String, through: &[usize]| {
        let name = unused(&words.iter().map(|word| slug(word)).collect::<Vec<_>>().join("_"), &mut names);
        let through = through.iter().map(|&class| hierarchy.classes()[class].name.clone()).collect();
        StructuralRule { name, origin, formula, through, undecided: false }
    };
    let mut tied = |origin: Origin, Tie { below, above, through }: &Tie| {
        let (from, verb, to) = match origin {
            Origin::Kind => (*below, "is", *above),
            Origin::Part => (*below, "of", *above),
            Origin::WholeToPart => (*above, "has", *below),
            Origin::CoarseToFine | Origin::Siblings => (*above, "shows", *below),
        };
        let formula = format!("{} => {}", quote_name(name(from)), quote_name(name(to)));
        rule(origin, &[name(from), verb, name(to)], formula, through)
    };
    let (mut rules, mut left_out) = (Vec::new(), Vec::new());
    let natural = options.natural.then_some([Origin::Kind, Origin::Part]);
    let inverted = options.inverted.then_some([Origin::CoarseToFine, Origin::WholeToPart]);
    for [of_kinds, of_parts] in natural.into_iter().chain(inverted) {
        rules.extend(ties.kinds.iter().map(|tie| tied(of_kinds, tie)));
        rules.extend(ties.parts.iter().map(|tie| tied(of_parts, tie)));
        for tie in &ties.inferred {
            let rule = tied(of_parts, tie);
            let way = listed(&rule.through);
            left_out.push((rule, format!("the hierarchy does not say it; it is inferred through {way}")));
        }
    }
    if options.inverted {
        let common = positives(table);
        for (parent, one, other) in ties.sibling_pairs(&common, &table.concepts, options.per_parent_pair_limit) {
            for (word, symbol) in [("and", Op::And.symbol()), ("or", Op::Or.symbol())] {
                let [whole, left, right] = [parent, one, other].map(|concept| quote_name(name(concept)));
                let words = [name(parent), "shows", name(one), word, name(other)];
                rules.push(rule(Origin::Siblings, &words, format!("{whole} => {left} {symbol} {right}"), &[]));
            }
        }
    }
    (rules, left_out)
}

/// On how many rows to learn from each concept holds.
fn positives(table: &LabelTable) -> Vec<u64> {
    let labels = table.labels.select(&table.training_rows());
    (0..labels.columns()).map(|concept| labels.counts(concept).holds).collect()
}
