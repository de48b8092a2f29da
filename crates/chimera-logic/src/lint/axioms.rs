//! What axioms settle: formulas that always or never hold wherever the axioms do, whatever the concepts are. Labels that are
//! closed under a hierarchy are such a case: there a child implies its parent on every sample, and that rule tells nothing.

use crate::dag::{Dag, Edge};
use crate::sat::{Answer, Budget, Solving};

/// So many formulas share a solver and the effort that it may take; every question names all axioms.
const SHARING: usize = 256;

/// What axioms say of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It holds wherever these axioms hold, none of which can be spared; none at all for a tautology.
    Always(Vec<Edge>),
    /// It fails wherever these axioms hold, none of which can be spared; none at all for a contradiction.
    Never(Vec<Edge>),
    /// It can hold and fail.
    Open,
    /// Not found out within the allowed effort.
    Undecided,
}

/// Asks of each formula whether the axioms settle it. Axioms that cannot hold together settle everything.
#[must_use]
pub fn settled(dag: &Dag, axioms: &[Edge], formulas: &[Edge]) -> Vec<Settled> {
    formulas.chunks(SHARING).flat_map(|formulas| settled_together(dag, axioms, formulas)).collect()
}

fn settled_together(dag: &Dag, axioms: &[Edge], formulas: &[Edge]) -> Vec<Settled> {
    let roots: Vec<Edge> = axioms.iter().chain(formulas).copied().collect();
    let mut solving = Solving::new(dag, &roots, &Budget::new());
    let mut clash = |claim: Edge| {
        let asked: Vec<Edge> = axioms.iter().copied().chain([claim]).collect();
        match solving.together(&asked) {
            Answer::Together => Some(None),
            Answer::Unknown => None,
            Answer::Clash(core) => {
                let (core, _) = solving.shrink(core);
                Some(Some(core.into_iter().filter(|&edge| edge != claim).collect()))
            }
        }
    };
    let mut settle = |formula: Edge| match clash(formula.negate_if(true)) {
        None => Settled::Undecided,
        Some(Some(reasons)) => Settled::Always(reasons),
        Some(None) => match clash(formula) {
            None => Settled::Undecided,
            Some(Some(reasons)) => Settled::Never(reasons),
            Some(None) => Settled::Open,
        },
    };
    formulas.iter().map(|&formula| settle(formula)).collect()
}
