//! Which of the rules that passed are written: patterns take turns, each gives its best rule that says something new. What
//! follows from chosen rules and from what concepts mean is skipped, and of the rest come first those whose concepts stood least
//! often on the same side: 25 facts rather than 25 variants of one.

mod known;
mod turns;

use std::collections::BTreeMap;

use chimera_data::dataset::promises::Promises;
use chimera_data::error::Result;
use chimera_logic::dag::Dag;

use self::known::Known;
use self::turns::{Turn, Used};
use super::candidate::Candidate;
use super::shape::{Literal, Pattern, Shape};

/// Questions about what follows that are asked at most; beyond that the search for more rules ends.
const QUESTIONS: usize = 20_000;

/// Why a rule that passed all tests is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Skipped {
    /// It follows from these chosen rules, and from what concepts mean.
    Follows(Vec<Shape>),
    /// It is about rows of this chosen rule: `a => b | d` where `a => b | c` is told, which both speak of rows with `a` and without
    /// `b`.
    Variant(Shape),
    /// There are enough rules.
    Surplus,
}

/// What was chosen, in the order of choice, and why others were not.
pub(super) struct Selection {
    pub(super) chosen: Vec<Candidate>,
    pub(super) skipped: Vec<(Candidate, Skipped)>,
    /// Whether it ended with fewer rules than asked for, since too many questions were asked.
    pub(super) gave_up: bool,
}

/// Chooses at most `most` rules. Candidates of a pattern come best first.
///
/// # Errors
/// As [`Promises::axioms`].
pub(super) fn select(
    mut passed: BTreeMap<Pattern, Vec<Candidate>>,
    order: &[Pattern],
    promises: &Promises,
    concepts: &[String],
    dag: Dag,
    most: usize,
) -> Result<Selection> {
    let turn = |pattern| Turn::of(passed.remove(pattern).unwrap_or_default());
    let mut choice = Choice {
        order,
        known: Known::new(promises, concepts, dag)?,
        used: Used::default(),
        turns: order.iter().map(turn).collect(),
        spare: Vec::new(),
        selection: Selection { chosen: Vec::new(), skipped: Vec::new(), gave_up: false },
        questions: 0,
    };
    loop {
        choice.fill(most);
        // What goes makes room for others.
        let (weeded, thinned) = (choice.weed(), choice.thin());
        if !weeded && !thinned {
            break;
        }
    }
    choice.selection.gave_up = choice.questions >= QUESTIONS && choice.selection.chosen.len() < most;
    let Choice { mut known, turns, spare, mut selection, .. } = choice;
    for candidate in spare {
        let why = known.follows(candidate.shape, None).map_or(Skipped::Surplus, Skipped::Follows);
        selection.skipped.push((candidate, why));
    }
    let left = turns.into_iter().flat_map(|turn| turn.left);
    selection.skipped.extend(left.map(|candidate| (candidate, Skipped::Surplus)));
    Ok(selection)
}

/// A choice that is being made.
struct Choice<'a> {
    order: &'a [Pattern],
    known: Known,
    used: Used,
    /// What is left of each pattern.
    turns: Vec<Turn>,
    /// Packages of which a part was told before; they may still say at once what two chosen pairs say.
    spare: Vec<Candidate>,
    selection: Selection,
    questions: usize,
}

impl Choice<'_> {
    fn is_over(&self, most: usize) -> bool {
        self.selection.chosen.len() >= most || self.questions >= QUESTIONS
    }

    /// Lets patterns take turns until there are enough rules, or none is left.
    fn fill(&mut self, most: usize) {
        while !self.is_over(most) && self.turns.iter().any(|turn| !turn.left.is_empty()) {
            for turn in 0..self.turns.len() {
                while !self.is_over(most)
                    && let Some(candidate) = self.turns[turn].next(&self.used)
                    && !self.take(candidate)
                {}
            }
        }
    }

    /// Takes a rule in if it says something new.
    fn take(&mut self, candidate: Candidate) -> bool {
        self.questions += 1;
        if let Some(reasons) = self.known.follows(candidate.shape, None) {
            self.selection.skipped.push((candidate, Skipped::Follows(reasons)));
            return false;
        }
        if let Some(told) = self.variant_of(candidate.shape) {
            self.selection.skipped.push((candidate, Skipped::Variant(told)));
            return false;
        }
        // Of a package, only what is new: the other part comes by itself.
        let parts = self.parts(candidate.shape);
        if parts.is_some_and(|parts| parts.iter().any(|&part| self.known.follows(part, None).is_some())) {
            self.spare.push(candidate);
            return false;
        }
        self.choose(candidate);
        self.join();
        true
    }

    /// The pairs that a package is made of, where these may be told by themselves.
    fn parts(&self, shape: Shape) -> Option<[Shape; 2]> {
        shape.parts().filter(|parts| parts.iter().all(|part| self.order.contains(&part.pattern())))
    }

    /// A chosen rule with two choices that speaks of the same rows. Beside `a => b | c`, which says that a row with `a` and without
    /// `b` has `c`, `a => b | d` says little: what else such a row has. The same goes for `a => x | d` where `b => x` is known.
    fn variant_of(&mut self, shape: Shape) -> Option<Shape> {
        let Shape::Or(given, demands) = shape else { return None };
        let told: Vec<(Shape, [usize; 2])> = self
            .selection
            .chosen
            .iter()
            .filter_map(|candidate| match candidate.shape {
                Shape::Or(other, choices) if other == given && choices != demands => Some((candidate.shape, choices)),
                _ => None,
            })
            .collect();
        let mut is_wider = |narrow: usize, wide: usize| {
            narrow == wide || self.known.follows(Shape::Pair(narrow, Literal::holds(wide)), None).is_some()
        };
        let same = told
            .into_iter()
            .find(|(_, choices)| choices.iter().any(|&choice| demands.iter().any(|&demand| is_wider(choice, demand))));
        same.map(|(told, _)| told)
    }

    fn choose(&mut self, candidate: Candidate) {
        self.used.note(candidate.shape, 1);
        self.known.choose(candidate.shape);
        self.selection.chosen.push(candidate);
    }

    /// Takes a chosen rule out.
    fn drop(&mut self, at: usize, why: Skipped) {
        let candidate = self.selection.chosen.remove(at);
        self.known.forget(candidate.shape);
        self.used.note(candidate.shape, -1);
        self.selection.skipped.push((candidate, why));
    }

    /// Takes a candidate back from wherever it is.
    fn take_back(&mut self, is_wanted: impl Fn(&Candidate) -> bool) -> Option<Candidate> {
        for list in std::iter::once(&mut self.spare).chain(self.turns.iter_mut().map(|turn| &mut turn.left)) {
            // The best are last.
            if let Some(at) = list.iter().rposition(&is_wanted) {
                return Some(list.remove(at));
            }
        }
        let at = self.selection.skipped.iter().position(|(candidate, _)| is_wanted(candidate))?;
        Some(self.selection.skipped.remove(at).0)
    }

    /// Packages both parts of which are chosen take their place: one line instead of two.
    fn join(&mut self) {
        loop {
            let chosen: Vec<Shape> = self.selection.chosen.iter().map(|candidate| candidate.shape).collect();
            let is_chosen = |part: Shape| chosen.iter().any(|shape| shape.says_same(part));
            let joins =
                |candidate: &Candidate| candidate.shape.parts().is_some_and(|parts| parts.into_iter().all(is_chosen));
            let Some(package) = self.take_back(joins) else { return };
            for part in package.shape.parts().into_iter().flatten() {
                let said = self.selection.chosen.iter().position(|candidate| candidate.shape.says_same(part));
                said.into_iter().for_each(|at| self.drop(at, Skipped::Follows(vec![package.shape])));
            }
            self.choose(package);
        }
    }

    /// Takes out chosen rules that follow from the others or speak of the same rows, the later ones first, and says whether there
    /// were any.
    fn weed(&mut self) -> bool {
        let before = self.selection.chosen.len();
        for at in (0..before).rev() {
            let shape = self.selection.chosen[at].shape;
            if let Some(reasons) = self.known.follows(shape, Some(shape)) {
                self.drop(at, Skipped::Follows(reasons));
            } else if let Some(told) = self.variant_of(shape) {
                self.drop(at, Skipped::Variant(told));
                self.reconsider(shape);
            }
        }
        self.selection.chosen.len() < before
    }

    /// Rules that were skipped because of one that is not told after all get another turn.
    fn reconsider(&mut self, dropped: Shape) {
        let because = |why: &Skipped| matches!(why, Skipped::Follows(reasons) if reasons.contains(&dropped));
        for (candidate, _) in self.selection.skipped.extract_if(.., |(_, why)| because(why)) {
            let turn = self.order.iter().position(|&pattern| pattern == candidate.shape.pattern());
            turn.into_iter().for_each(|turn| self.turns[turn].left.push(candidate));
        }
    }

    /// Leaves of packages only what others do not say: `a => b` of `a <=> b` where the way back follows from other rules. Says
    /// whether there were any; each leaves one pair less, so this ends.
    fn thin(&mut self) -> bool {
        let packages: Vec<Shape> = self.selection.chosen.iter().map(|candidate| candidate.shape).collect();
        for (at, package) in packages.into_iter().enumerate() {
            let Some([one, other]) = self.parts(package) else { continue };
            for [part, rest] in [[one, other], [other, one]] {
                if self.known.would_follow(part, package, rest)
                    && let Some(rest) = self.take_back(|candidate| candidate.shape.says_same(rest))
                {
                    self.drop(at, Skipped::Follows(vec![rest.shape]));
                    self.choose(rest);
                    self.join();
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
