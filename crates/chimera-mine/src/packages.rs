//! Rules that say at once what several pairs say: `a <=> b`, chains, and `a => b & c`. They are made of pairs that passed every
//! test, so they need none of their own.

use std::collections::BTreeMap;

use chimera_data::dataset::promises::Promises;

use super::candidate::{Candidate, sort};
use super::options::MineOptions;
use super::shape::{Literal, Pattern, Shape, sorted};

/// Of the pairs that start or end at a concept, so many of the best go into packages with each other: all combinations would be
/// too many, and say the same again.
const STRONGEST: usize = 8;

/// Pairs that passed, by where they start.
struct Passed<'a> {
    all: BTreeMap<(usize, Literal), &'a Candidate>,
    promises: &'a Promises,
}

impl<'a> Passed<'a> {
    fn get(&self, from: usize, to: Literal) -> Option<&'a Candidate> {
        self.all.get(&(from, to)).copied()
    }

    /// Whether one literal never holds without another, by a pair or by what concepts mean.
    fn follows(&self, one: Literal, other: Literal) -> bool {
        let implies = |narrow: usize, wide: usize| {
            self.get(narrow, Literal::holds(wide)).is_some() || self.promises.get(narrow, wide).is_some()
        };
        let excludes = |one: usize, other: usize| self.get(one, Literal::fails(other)).is_some();
        match (one.negated, other.negated) {
            (false, false) => implies(one.concept, other.concept),
            (true, true) => implies(other.concept, one.concept),
            (false, true) => excludes(one.concept, other.concept) || excludes(other.concept, one.concept),
            (true, false) => false,
        }
    }
}

/// All packages of pairs that passed, best first among the pairs, as shapes with the parts that they are made of.
pub(super) fn packages<'a>(
    pairs: &'a [Candidate],
    options: &MineOptions,
    promises: &'a Promises,
) -> Vec<(Shape, [&'a Candidate; 2])> {
    let mut ranked: Vec<&Candidate> = pairs.iter().collect();
    ranked.sort_by(|one, other| one.order(other));
    let mut out: BTreeMap<usize, Vec<&Candidate>> = BTreeMap::new();
    let mut into: BTreeMap<usize, Vec<&Candidate>> = BTreeMap::new();
    let mut all = BTreeMap::new();
    for &pair in &ranked {
        let Shape::Pair(from, to) = pair.shape else { continue };
        all.insert((from, to), pair);
        out.entry(from).or_default().push(pair);
        if !to.negated {
            into.entry(to.concept).or_default().push(pair);
        }
    }
    let passed = Passed { all, promises };
    let mut packages = Vec::new();
    if options.wants(Pattern::Iff) {
        packages.extend(iffs(&passed));
    }
    for (&from, pairs) in &out {
        let strongest = &pairs[..pairs.len().min(STRONGEST)];
        if options.wants(Pattern::Both) {
            packages.extend(boths(from, strongest, &passed));
        }
        if options.wants(Pattern::Chain) {
            let before = into.get(&from).map_or(&[][..], |pairs| &pairs[..pairs.len().min(STRONGEST)]);
            packages.extend(chains(from, before, strongest));
        }
    }
    packages
}

fn iffs<'a>(passed: &Passed<'a>) -> Vec<(Shape, [&'a Candidate; 2])> {
    let forth = passed.all.iter().filter(|((from, to), _)| !to.negated && *from < to.concept);
    forth
        .filter_map(|(&(from, to), &pair)| {
            let back = passed.get(to.concept, Literal::holds(from))?;
            Some((Shape::Iff([from, to.concept]), [pair, back]))
        })
        .collect()
}

/// `from => b & c`, where neither of the two goes without the other anyway.
fn boths<'a>(from: usize, pairs: &[&'a Candidate], passed: &Passed<'a>) -> Vec<(Shape, [&'a Candidate; 2])> {
    let mut found = Vec::new();
    for (at, &one) in pairs.iter().enumerate() {
        for &other in &pairs[at + 1..] {
            let (Shape::Pair(_, b), Shape::Pair(_, c)) = (one.shape, other.shape) else { continue };
            if !passed.follows(b, c) && !passed.follows(c, b) {
                found.push((Shape::Both(from, sorted([b, c])), [one, other]));
            }
        }
    }
    found
}

/// `(a => middle) & (middle => c)`.
fn chains<'a>(middle: usize, before: &[&'a Candidate], after: &[&'a Candidate]) -> Vec<(Shape, [&'a Candidate; 2])> {
    let mut found = Vec::new();
    for &first in before {
        for &last in after {
            let (Shape::Pair(a, _), Shape::Pair(_, c)) = (first.shape, last.shape) else { continue };
            if c.concept != a {
                found.push((Shape::Chain(a, middle, c), [first, last]));
            }
        }
    }
    found
}

/// Of `a => !b` and `b => !a`, which are one rule, the one that tells more: whose demand is the more surprising.
pub(super) fn one_way(excluding: &mut Vec<Candidate>, lift: impl Fn(Shape) -> f64) {
    let mut best: BTreeMap<[usize; 2], (f64, Shape)> = BTreeMap::new();
    for candidate in excluding.iter() {
        let Shape::Pair(a, b) = candidate.shape else { continue };
        let this = (lift(candidate.shape), candidate.shape);
        let kept = best.entry(sorted([a, b.concept])).or_insert(this);
        if this.0 > kept.0 {
            *kept = this;
        }
    }
    excluding.retain(|candidate| match candidate.shape {
        Shape::Pair(a, b) => best.get(&sorted([a, b.concept])).is_some_and(|(_, shape)| *shape == candidate.shape),
        _ => true,
    });
    sort(excluding);
}
