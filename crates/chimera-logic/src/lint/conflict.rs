//! A smallest set of rules that cannot hold together. Any clash must hit every set of rules whose removal lets the rest hold
//! (a correction set), so a smallest set that hits all known correction sets is a lower bound; it either clashes, and is
//! the answer, or it leads to another correction set.

use std::collections::{BTreeMap, BTreeSet};

use super::Lint;
use super::witness::concepts_of;
use crate::dag::Edge;
use crate::diagnostic::Code;
use crate::sat::{Answer, Solving};

/// Questions to the solver after which the search for a smallest clash ends with one from which nothing can be spared.
const QUESTIONS: usize = 1000;

/// Steps of the search for a smallest hitting set.
const HITTING_STEPS: usize = 200_000;

impl Lint<'_> {
    /// Reports rules that cannot hold together: a smallest set of them if it can be found.
    pub(super) fn report_conflict(&mut self, rules: &[usize], solving: &mut Solving, core: Vec<Edge>) {
        if self.report_clashing_pair(rules) {
            return;
        }
        let roots: Vec<_> = rules.iter().map(|&index| self.roots[index]).collect();
        let (minimal, settled) = solving.shrink(core);
        let (clash, kind) = match smallest_clash(solving, &roots, minimal.len()) {
            Some(clash) => (clash, "no smaller set of connected rules clashes"),
            None if settled => (minimal, "without any one of them the others can hold"),
            None => (minimal, "fewer of them may clash already"),
        };
        let members: Vec<usize> =
            rules.iter().zip(&roots).filter(|(_, root)| clash.contains(root)).map(|(&index, _)| index).collect();
        self.report_clash(&members, kind);
    }

    fn report_clash(&mut self, members: &[usize], kind: &str) {
        let Some((&first, others)) = members.split_first() else { return };
        let message = format!("{} cannot hold together", self.names(members));
        let diagnostic = self
            .about(first, Code::Conflict, message)
            .label(format!("rule `{}`", self.rule(first).name))
            .hint(format!("every sample breaks at least one, so change or remove one; {kind}"));
        let diagnostic = self.noted(diagnostic, others, "rule");
        self.diagnostics.push(diagnostic);
    }

    /// Reports two rules that clash, if there are any: nothing is smaller, since rules that never hold are reported on their
    /// own.
    pub(super) fn report_clashing_pair(&mut self, rules: &[usize]) -> bool {
        let dag = &self.rule_set.dag;
        let mut earlier: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &rule in rules {
            let concepts = concepts_of(dag, self.roots[rule]);
            let related = concepts.iter().filter_map(|concept| earlier.get(concept)).flatten().copied();
            for other in related.collect::<BTreeSet<_>>() {
                let pair = [self.roots[other], self.roots[rule]];
                let clash = self.signatures.never_both(pair[0], pair[1])
                    && self.impossible(&pair, (rule, "whether another rule clashes with RULE"));
                if clash {
                    self.report_clash(&[other, rule], "no smaller set of connected rules clashes");
                    return true;
                }
            }
            concepts.into_iter().for_each(|concept| earlier.entry(concept).or_default().push(rule));
        }
        false
    }
}

/// A smallest clash below the size of a known one, or that size if there is none; `None` if the search was given up.
fn smallest_clash(solving: &mut Solving, roots: &[Edge], known: usize) -> Option<Vec<Edge>> {
    let mut corrections: Vec<Vec<usize>> = Vec::new();
    let mut questions = QUESTIONS;
    loop {
        let candidate = smallest_hitting_set(&corrections, known)?;
        let formulas: Vec<_> = candidate.iter().map(|&position| roots[position]).collect();
        match solving.together(&formulas) {
            Answer::Clash(_) => return Some(formulas),
            Answer::Unknown => return None,
            Answer::Together => corrections.push(correction(solving, roots, candidate, &mut questions)?),
        }
    }
}

/// Grows a set of rules that can hold together as far as it goes; what is left over is a correction set.
fn correction(solving: &mut Solving, roots: &[Edge], start: Vec<usize>, questions: &mut usize) -> Option<Vec<usize>> {
    let mut inside = vec![false; roots.len()];
    start.into_iter().for_each(|position| inside[position] = true);
    let take_model = |inside: &mut [bool], solving: &Solving| {
        inside.iter_mut().zip(roots).for_each(|(inside, &root)| *inside |= solving.holds(root));
    };
    take_model(&mut inside, solving);
    for position in 0..roots.len() {
        if inside[position] {
            continue;
        }
        *questions = questions.checked_sub(1)?;
        let grown = (0..roots.len()).filter(|&other| inside[other] || other == position);
        let formulas: Vec<_> = grown.map(|other| roots[other]).collect();
        match solving.together(&formulas) {
            Answer::Together => take_model(&mut inside, solving),
            Answer::Clash(_) => {}
            Answer::Unknown => return None,
        }
    }
    Some((0..roots.len()).filter(|&position| !inside[position]).collect())
}

/// A smallest set with a member of each given set, at most `limit` large; `None` if the search takes too long.
fn smallest_hitting_set(sets: &[Vec<usize>], limit: usize) -> Option<Vec<usize>> {
    let mut steps = HITTING_STEPS;
    for size in 0..=limit {
        let mut chosen = Vec::new();
        if hit(sets, size, &mut chosen, &mut steps)? {
            return Some(chosen);
        }
    }
    None
}

/// Extends `chosen` by at most `left` members to hit all sets: branches over the smallest set that is not hit yet.
fn hit(sets: &[Vec<usize>], left: usize, chosen: &mut Vec<usize>, steps: &mut usize) -> Option<bool> {
    *steps = steps.checked_sub(1)?;
    let missed =
        sets.iter().filter(|set| !set.iter().any(|member| chosen.contains(member))).min_by_key(|set| set.len());
    let Some(missed) = missed else { return Some(true) };
    if left == 0 {
        return Some(false);
    }
    for &member in missed {
        chosen.push(member);
        if hit(sets, left - 1, chosen, steps)? {
            return Some(true);
        }
        chosen.pop();
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hitting_sets_are_smallest() {
        let sets = [vec![0, 1], vec![1, 2], vec![3], vec![4, 1]];
        assert_eq!(smallest_hitting_set(&sets, 9), Some(vec![3, 1]));
        assert_eq!(smallest_hitting_set(&[], 9), Some(vec![]));
        assert_eq!(smallest_hitting_set(&sets, 1), None);
    }
}
