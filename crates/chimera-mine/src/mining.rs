//! Mining from end to end: train rows in, chosen rules out, with what became of everything else.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::promises::Promises;
use chimera_data::error::Result;
use chimera_logic::bits::TruthTable;
use chimera_logic::dag::Dag;

use super::candidate::Candidate;
use super::funnel::{Fate, Funnel};
use super::judge::Judge;
use super::options::{Definitions, MineOptions};
use super::outcome::{Kind, LeftOut, Meant, Mining};
use super::parts::Parts;
use super::record::MiningRecord;
use super::search::{Found, Search};
use super::select::{Selection, Skipped, select};
use super::shape::{Pattern, Shape};
use super::varying::Varying;

/// Mines the train rows of a dataset, and no others. `command` is what the user typed, for the record.
///
/// # Errors
/// Options out of range, a dataset without train rows or with fewer than two concepts that vary, labels that break what they
/// promise.
pub fn mine(
    dataset: &Dataset,
    options: &MineOptions,
    command: &str,
    threads: NonZeroUsize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Mining> {
    options.check()?;
    let parts = Parts::of(dataset, options)?;
    let (concepts, table) = (&dataset.table().concepts, dataset.table());
    let Varying { active, constant } = Varying::of(dataset, &parts)?;
    let promises = match options.definitions {
        Definitions::Drop => Promises::of(dataset)?,
        Definitions::Keep => Promises::default(),
    };
    promises.check(table, &parts.train)?;
    let least = options.support.least(parts.searched.rows(), parts.train.rows());
    let search = Search::new(&parts.searched, options, &promises, &active, least, threads)?;
    let pairs = search.pairs();
    let [and, or] = search.compounds(threads, progress)?;
    let meant: Vec<Shape> = pairs.meant.iter().chain(&or.meant).copied().collect();

    let (mut funnel, mut largest_p) = (Funnel::default(), BTreeMap::new());
    let judge = Judge { parts: &parts, options, threads };
    let mut judged = |kind: Kind, found: Found, fate: &mut Fate| -> Result<Vec<Candidate>> {
        let (passed, largest) = judge.pass(found, fate)?;
        largest_p.insert(kind, largest);
        Ok(passed)
    };
    let pairs = judged(Kind::Pairs, pairs, &mut funnel.pairs)?;
    let and = judged(Kind::And, and, &mut funnel.and)?;
    let or = judged(Kind::Or, or, &mut funnel.or)?;
    funnel.unasked = pairs.iter().filter(|pair| !options.wants(pair.shape.pattern())).count() as u64;
    let passed = judge.by_pattern(&pairs, [and, or], &promises);
    funnel.passed = passed.values().map(|candidates| candidates.len() as u64).sum();

    let order: Vec<Pattern> = Pattern::ALL.into_iter().filter(|&pattern| options.wants(pattern)).collect();
    let dag = Dag::new(table.vocabulary());
    let selection = select(passed, &order, &promises, concepts, dag, options.max_rules)?;
    for (_, skipped) in &selection.skipped {
        match skipped {
            Skipped::Follows(_) => funnel.implied += 1,
            Skipped::Variant(_) => funnel.variants += 1,
            Skipped::Surplus => funnel.surplus += 1,
        }
    }
    let rules = judge.rules(&selection.chosen, concepts);
    Ok(Mining {
        meant: meant.into_iter().filter_map(|shape| told_meant(shape, &promises, concepts)).collect(),
        skipped: told_skipped(&selection, concepts),
        rules,
        constant,
        funnel,
        rows: [parts.searched.rows(), parts.held_out.as_ref().map_or(0, TruthTable::rows)],
        largest_p,
        gave_up: selection.gave_up,
        record: MiningRecord::new(dataset, &parts.rows, options, command),
    })
}

/// A rule that labels can never break, with the reason.
fn told_meant(shape: Shape, promises: &Promises, concepts: &[String]) -> Option<Meant> {
    let promise = match shape {
        Shape::Pair(a, b) => promises.get(a, b.concept),
        Shape::Or(a, demands) => promises.either(a, demands),
        _ => None,
    };
    Some(Meant { formula: shape.formula(concepts), promise: promise?, shape })
}

/// Rules that passed and were not chosen, with the reason.
fn told_skipped(selection: &Selection, concepts: &[String]) -> Vec<LeftOut> {
    let reason = |skipped: &Skipped| match skipped {
        Skipped::Surplus => format!("there are {} better or fresher ones", selection.chosen.len()),
        Skipped::Variant(shape) => format!("it is about the same rows as `{}`", shape.formula(concepts)),
        Skipped::Follows(shapes) if shapes.is_empty() => "it follows from what concepts mean".to_owned(),
        Skipped::Follows(shapes) => {
            let formulas: Vec<String> = shapes.iter().map(|shape| format!("`{}`", shape.formula(concepts))).collect();
            format!("it follows from {}", formulas.join(" and "))
        }
    };
    let told = |(candidate, why): &(Candidate, Skipped)| LeftOut {
        formula: candidate.shape.formula(concepts),
        reason: reason(why),
        p_adjusted: candidate.adjusted,
        shape: candidate.shape,
    };
    selection.skipped.iter().map(told).collect()
}
