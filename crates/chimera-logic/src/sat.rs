//! Can these formulas hold together, and if not, which of them clash? Questions over a whole rule set, which a decision diagram
//! answers only by growing one diagram for all rules, are put to a SAT solver (batsat, a MiniSat in safe-to-use Rust) that
//! keeps what it has learnt from one question to the next. Every question has a bounded effort.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, lbool};

use crate::dag::{Dag, Edge, Node, NodeId};
use crate::syntax::Op;

/// Learnt clauses after which a single question is given up.
const QUESTION: u64 = 20_000;

/// The effort that any number of questions may take together: learnt clauses, and a little for each formula asked about.
/// Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Rc<Cell<u64>>);

impl Budget {
    /// Enough for a second or two.
    #[must_use]
    pub fn new() -> Self {
        Self(Rc::new(Cell::new(4_000_000)))
    }

    fn spend(&self, effort: u64) {
        self.0.set(self.0.get().saturating_sub(effort));
    }

    /// Whether nothing is left: every further question stays open.
    #[must_use]
    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

/// What a learnt clause costs, where a formula in a question costs 1.
const CLAUSE_COST: u64 = 50;

/// The answer to "can these all hold?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes; the model can be asked for with [`Solving::holds`].
    Together,
    /// No: these of the given formulas already clash.
    Clash(Vec<Edge>),
    /// Not found out within the allowed effort.
    Unknown,
}

/// A solver that knows some part of a DAG.
pub struct Solving {
    solver: Solver<Effort>,
    /// The variable of each node that has been encoded.
    literals: BTreeMap<NodeId, Lit>,
    model: Vec<lbool>,
    budget: Budget,
}

struct Effort {
    learnt: u64,
    budget: Budget,
}

impl Callbacks for Effort {
    fn on_start(&mut self) {
        self.learnt = 0;
    }

    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.learnt += 1;
            self.budget.spend(CLAUSE_COST);
        }
    }

    fn stop(&self) -> bool {
        self.learnt > QUESTION || self.budget.is_spent()
    }
}

impl Solving {
    /// Encodes everything that the given references need (Tseitin's encoding, one variable a node, both directions).
    #[must_use]
    pub fn new(dag: &Dag, roots: &[Edge], budget: &Budget) -> Self {
        let effort = Effort { learnt: 0, budget: budget.clone() };
        let solver = Solver::new(SolverOpts::default(), effort);
        let mut solving = Self { solver, literals: BTreeMap::new(), model: Vec::new(), budget: budget.clone() };
        for id in dag.cone(roots) {
            let literal = Lit::new(solving.solver.new_var_default(), true);
            if let Node::Gate(op, operands) = dag.node(id) {
                // Children come first, so all of them have a literal.
                let operands: Vec<_> = operands.iter().filter_map(|&edge| solving.literal(edge)).collect();
                solving.define(literal, op, &operands);
            }
            solving.literals.insert(id, literal);
        }
        solving
    }

    fn literal(&self, edge: Edge) -> Option<Lit> {
        let literal = *self.literals.get(&edge.node())?;
        Some(if edge.is_negated() { !literal } else { literal })
    }

    fn clause(&mut self, literals: impl IntoIterator<Item = Lit>) {
        self.solver.add_clause_reuse(&mut literals.into_iter().collect());
    }

    fn define(&mut self, gate: Lit, op: Op, operands: &[Lit]) {
        match op {
            Op::And => self.define_and(gate, operands),
            Op::Or => self.define_and(!gate, &operands.iter().map(|&operand| !operand).collect::<Vec<_>>()),
            Op::Implies => self.define_and(!gate, &[operands[0], !operands[1]]),
            Op::Iff => {
                // All equal: each implies the next, in a circle. Not all equal: one holds and one does not.
                let next = operands.iter().cycle().skip(1);
                let pairs: Vec<_> = operands.iter().copied().zip(next.copied()).take(operands.len()).collect();
                pairs.into_iter().for_each(|(operand, next)| self.clause([!gate, !operand, next]));
                self.clause(std::iter::once(gate).chain(operands.iter().copied()));
                self.clause(std::iter::once(gate).chain(operands.iter().map(|&operand| !operand)));
            }
        }
    }

    fn define_and(&mut self, gate: Lit, operands: &[Lit]) {
        operands.iter().for_each(|&operand| self.clause([!gate, operand]));
        self.clause(std::iter::once(gate).chain(operands.iter().map(|&operand| !operand)));
    }

    /// Whether the formulas can all hold.
    pub fn together(&mut self, formulas: &[Edge]) -> Answer {
        let assumptions: Vec<_> = formulas.iter().filter_map(|&edge| self.literal(edge)).collect();
        debug_assert_eq!(assumptions.len(), formulas.len(), "a formula was not encoded");
        self.budget.spend(formulas.len() as u64 + 1);
        if self.budget.is_spent() {
            return Answer::Unknown;
        }
        let answer = self.solver.solve_limited(&assumptions);
        if answer == lbool::TRUE {
            self.model.clear();
            self.model.extend_from_slice(self.solver.get_model());
            Answer::Together
        } else if answer == lbool::FALSE {
            let in_core = |literal: &Lit| self.solver.unsat_core_contains_var(literal.var());
            let clashing = formulas.iter().zip(&assumptions).filter(|(_, literal)| in_core(literal));
            Answer::Clash(clashing.map(|(&edge, _)| edge).collect())
        } else {
            Answer::Unknown
        }
    }

    /// Whether a formula holds in the last model.
    #[must_use]
    pub fn holds(&self, edge: Edge) -> bool {
        self.literal(edge).is_some_and(|literal| {
            let value = self.model.get(literal.var().idx() as usize).copied().unwrap_or(lbool::UNDEF);
            value == if literal.sign() { lbool::TRUE } else { lbool::FALSE }
        })
    }

    /// Drops formulas from a clash as long as the rest still clashes. The second value says whether that was settled for
    /// each: then none of what is left can be spared.
    pub fn shrink(&mut self, mut clash: Vec<Edge>) -> (Vec<Edge>, bool) {
        let mut at = 0;
        let mut settled = true;
        while at < clash.len() {
            let mut rest = clash.clone();
            rest.remove(at);
            match self.together(&rest) {
                // What clashes may be fewer still; the order stays, so what was tested before needs no second test.
                Answer::Clash(core) => clash = rest.into_iter().filter(|edge| core.contains(edge)).collect(),
                Answer::Together => at += 1,
                Answer::Unknown if self.budget.is_spent() => return (clash, false),
                Answer::Unknown => {
                    settled = false;
                    at += 1;
                }
            }
        }
        (clash, settled)
    }
}
