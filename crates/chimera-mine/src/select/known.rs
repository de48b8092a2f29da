//! What chosen rules and concepts say together, and what follows from it.

use std::collections::BTreeSet;

use chimera_data::dataset::promises::Promises;
use chimera_data::error::Result;
use chimera_logic::dag::{Dag, Edge};
use chimera_logic::lint::{Settled, settled};

use crate::shape::Shape;

/// What chosen rules and concepts say, to ask what follows from it.
pub(super) struct Known {
    dag: Dag,
    axioms: Vec<(Edge, Vec<usize>)>,
    chosen: Vec<(Shape, Edge, Vec<usize>)>,
}

impl Known {
    /// Nothing but what concepts mean.
    ///
    /// # Errors
    /// As [`Promises::axioms`].
    pub(super) fn new(promises: &Promises, concepts: &[String], mut dag: Dag) -> Result<Self> {
        let axioms = promises.axioms(&mut dag, concepts)?.into_iter().zip(promises.concepts()).collect();
        Ok(Self { dag, axioms, chosen: Vec::new() })
    }

    pub(super) fn choose(&mut self, shape: Shape) {
        if let Some(edge) = shape.edge(&mut self.dag) {
            self.chosen.push((shape, edge, shape.concepts()));
        }
    }

    pub(super) fn forget(&mut self, shape: Shape) {
        self.chosen.retain(|(chosen, ..)| *chosen != shape);
    }

    /// Whether `part` would follow if `package` were not chosen, and `rest` were in its place.
    pub(super) fn would_follow(&mut self, part: Shape, package: Shape, rest: Shape) -> bool {
        let before = self.chosen.clone();
        self.forget(package);
        self.choose(rest);
        let follows = self.follows(part, None).is_some();
        self.chosen = before;
        follows
    }

    /// The chosen rules that a rule follows from, together with what concepts mean; `None` where it does not, or where that was
    /// not found out. `but` is left out of account.
    pub(super) fn follows(&mut self, shape: Shape, but: Option<Shape>) -> Option<Vec<Shape>> {
        let edge = shape.edge(&mut self.dag)?;
        let chosen: Vec<&(Shape, Edge, Vec<usize>)> =
            self.chosen.iter().filter(|(shape, ..)| Some(*shape) != but).collect();
        let sayings: Vec<(Edge, &[usize])> = self
            .axioms
            .iter()
            .map(|(edge, concepts)| (*edge, concepts.as_slice()))
            .chain(chosen.iter().map(|(_, edge, concepts)| (*edge, concepts.as_slice())))
            .collect();
        let relevant = connected(&sayings, shape.concepts());
        match settled(&self.dag, &relevant, &[edge]).pop() {
            Some(Settled::Always(reasons)) => {
                Some(chosen.iter().filter(|(_, edge, _)| reasons.contains(edge)).map(|(shape, ..)| *shape).collect())
            }
            _ => None,
        }
    }
}

/// The formulas that concepts tie to the given ones, directly or through others: nothing else can have a say.
fn connected(sayings: &[(Edge, &[usize])], concepts: Vec<usize>) -> Vec<Edge> {
    let mut reached: BTreeSet<usize> = concepts.into_iter().collect();
    let mut left = sayings.to_vec();
    let mut relevant = Vec::new();
    loop {
        let (near, far): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(_, concepts)| concepts.iter().any(|concept| reached.contains(concept)));
        if near.is_empty() {
            return relevant;
        }
        for (edge, concepts) in near {
            relevant.push(edge);
            reached.extend(concepts.iter());
        }
        left = far;
    }
}
