//! What decides on candidates after the search: all tests at once, held-out rows, and packages of what passed.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use chimera_data::dataset::promises::Promises;
use chimera_data::dataset::rule_names::{slug, unused};
use chimera_data::error::Result;
use chimera_data::parallel::in_parallel;

use super::candidate::{Candidate, score, sort};
use super::confirm::Confirmation;
use super::evidence::Evidence;
use super::funnel::Fate;
use super::options::MineOptions;
use super::outcome::{Kind, MinedRule};
use super::packages::{one_way, packages};
use super::parts::Parts;
use super::search::Found;
use super::shape::{Pattern, Shape};
use super::stats::{clopper_pearson, false_discoveries};

/// The rows and choices that decide.
pub(super) struct Judge<'a> {
    pub(super) parts: &'a Parts,
    pub(super) options: &'a MineOptions,
    pub(super) threads: NonZeroUsize,
}

/// What other rows than those that were searched say about a candidate.
enum Judged {
    Unconfirmed,
    Weak,
    /// The candidate, ranked by all rows.
    Passed(Candidate),
}

impl Judge<'_> {
    /// Those that are no chance among all tests, and that held-out rows bear out; and the largest p-value that was a discovery.
    pub(super) fn pass(&self, found: Found, total: &mut Fate) -> Result<(Vec<Candidate>, f64)> {
        let Found { mut candidates, mut fate, .. } = found;
        let p: Vec<f64> = candidates.iter().map(|candidate| candidate.p).collect();
        // Rates of sets of tests add up, so each has an equal share of what is allowed for all of them.
        let sets = self.sets() as f64;
        let rate = self.options.fdr / sets;
        let discoveries = false_discoveries(&p, fate.tests(), rate);
        candidates.iter_mut().zip(&discoveries.adjusted).for_each(|(candidate, &p)| candidate.adjusted = p);
        let before = candidates.len();
        candidates.retain(|candidate| candidate.adjusted <= rate);
        candidates.iter_mut().for_each(|candidate| candidate.adjusted *= sets);
        fate.chance += (before - candidates.len()) as u64;
        let judged = in_parallel(self.threads, candidates.len(), |at| Ok(self.judged(candidates[at])))?;
        let mut passed = Vec::new();
        for judged in judged {
            match judged {
                Judged::Unconfirmed => fate.unconfirmed += 1,
                Judged::Weak => fate.weak += 1,
                Judged::Passed(candidate) => passed.push(candidate),
            }
        }
        fate.passed = passed.len() as u64;
        *total = fate;
        Ok((passed, discoveries.largest))
    }

    /// Sets of tests that the families ask for.
    fn sets(&self) -> usize {
        self.options.families.iter().map(|&pattern| Kind::of(pattern)).collect::<BTreeSet<_>>().len()
    }

    /// Whether held-out rows bear a rule out, and it keeps the thresholds on all rows together.
    fn judged(&self, candidate: Candidate) -> Judged {
        let held_out = self.parts.held_out.as_ref();
        match held_out.map(|labels| Confirmation::of(candidate.shape, labels, self.options)) {
            Some(confirmation) if !confirmation.holds() => Judged::Unconfirmed,
            _ if !self.passes_on_train(candidate.shape) => Judged::Weak,
            _ => Judged::Passed(self.ranked(candidate)),
        }
    }

    fn passes_on_train(&self, shape: Shape) -> bool {
        let evidence = Evidence::of(shape, &self.parts.train);
        let rows = self.parts.train.rows();
        evidence.support >= self.options.support.least(rows, rows) && self.options.is_confident(shape, &evidence)
    }

    /// The same candidate, ranked by all rows.
    fn ranked(&self, candidate: Candidate) -> Candidate {
        let evidence = Evidence::of(candidate.shape, &self.parts.train);
        Candidate { support: evidence.support, score: score(self.options.rank, &evidence), ..candidate }
    }

    /// All that passed, with packages, by pattern, the best first.
    pub(super) fn by_pattern(
        &self,
        pairs: &[Candidate],
        compounds: [Vec<Candidate>; 2],
        promises: &Promises,
    ) -> BTreeMap<Pattern, Vec<Candidate>> {
        let mut passed: BTreeMap<Pattern, Vec<Candidate>> = BTreeMap::new();
        let mut add = |candidate: Candidate| passed.entry(candidate.shape.pattern()).or_default().push(candidate);
        pairs.iter().copied().for_each(&mut add);
        compounds.into_iter().flatten().for_each(&mut add);
        for (shape, parts) in packages(pairs, self.options, promises) {
            if self.passes_on_train(shape) {
                let adjusted = parts.iter().map(|part| part.adjusted).fold(0.0, f64::max);
                let p = parts.iter().map(|part| part.p).fold(0.0, f64::max);
                add(self.ranked(Candidate { shape, support: 0, score: 0.0, p, adjusted }));
            }
        }
        if let Some(excluding) = passed.get_mut(&Pattern::Excludes) {
            one_way(excluding, |shape| Evidence::of(shape, &self.parts.train).lift.unwrap_or(0.0));
        }
        passed.retain(|&pattern, _| self.options.wants(pattern));
        passed.values_mut().for_each(|candidates| sort(candidates));
        passed
    }

    /// Chosen rules with their names and numbers, by pattern, in the order of choice.
    pub(super) fn rules(&self, chosen: &[Candidate], concepts: &[String]) -> Vec<MinedRule> {
        let (mut chosen, mut names) = (chosen.to_vec(), BTreeSet::new());
        // The sort keeps the order within a pattern.
        chosen.sort_by_key(|candidate| candidate.shape.pattern());
        chosen.iter().map(|candidate| self.rule(candidate, concepts, &mut names)).collect()
    }

    fn rule(&self, candidate: &Candidate, concepts: &[String], names: &mut BTreeSet<String>) -> MinedRule {
        let shape = candidate.shape;
        let evidence = Evidence::of(shape, &self.parts.train);
        let interval = clopper_pearson(evidence.kept, evidence.support);
        let held_out = self.parts.held_out.as_ref().map(|labels| Evidence::of(shape, labels));
        MinedRule {
            name: unused(&slug(&shape.words(concepts)), names),
            formula: shape.formula(concepts),
            pattern: shape.pattern(),
            support: evidence.support,
            kept: evidence.kept,
            confidence: evidence.confidence().unwrap_or(0.0),
            interval: [interval.low, interval.high],
            lift: evidence.lift,
            p_adjusted: candidate.adjusted,
            held_out: held_out.map(|evidence| [evidence.kept, evidence.support]),
            shape,
        }
    }
}
