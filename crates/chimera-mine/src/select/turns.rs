//! Whose turn it is: of the candidates of a pattern, the one whose concepts have stood least often where they would stand again.

use std::collections::BTreeMap;

use crate::candidate::Candidate;
use crate::shape::{Literal, Shape, Side};

/// How often a literal stands on a side of chosen rules.
#[derive(Default)]
pub(super) struct Used {
    times: BTreeMap<(Literal, Side), i64>,
    /// How often that has changed.
    changes: usize,
}

impl Used {
    pub(super) fn note(&mut self, shape: Shape, change: i64) {
        shape.sides().into_iter().for_each(|side| *self.times.entry(side).or_default() += change);
        self.changes += 1;
    }

    /// The most times that one of a rule's literals stands where it would stand again.
    fn repeats(&self, shape: Shape) -> i64 {
        shape.sides().iter().filter_map(|side| self.times.get(side).copied()).max().unwrap_or(0)
    }
}

/// What is left of a pattern.
pub(super) struct Turn {
    /// The next one last, where it was sorted after the last change of what is used.
    pub(super) left: Vec<Candidate>,
    sorted_at: Option<usize>,
}

impl Turn {
    pub(super) fn of(left: Vec<Candidate>) -> Self {
        Self { left, sorted_at: None }
    }

    /// The one that repeats least, the best of several.
    pub(super) fn next(&mut self, used: &Used) -> Option<Candidate> {
        if self.sorted_at.replace(used.changes) != Some(used.changes) {
            let mut keyed: Vec<(i64, Candidate)> =
                self.left.iter().map(|candidate| (used.repeats(candidate.shape), *candidate)).collect();
            keyed.sort_by(|(repeats, one), (others, other)| others.cmp(repeats).then_with(|| other.order(one)));
            self.left = keyed.into_iter().map(|(_, candidate)| candidate).collect();
        }
        self.left.pop()
    }
}
