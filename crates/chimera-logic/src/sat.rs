//! Can these formulas hold together, and if not, which of them clash? Questions over a whole rule set, which a decision diagram
//! answers only by growing one diagram for all rules, are put to a SAT solver (batsat, a MiniSat in safe-to-use Rust) that
//! keeps what it has learnt from one question to the next. Every question has a bounded effort.

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, lbool};

use crate::dag::{Dag, Edge, Node};
use crate::syntax::Op;

/// Learnt clauses after which a question is given up.
const EFFORT: u64 = 20_000;

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
    /// The variable of each node, where it has been encoded.
    literals: Vec<Option<Lit>>,
    model: Vec<lbool>,
}

#[derive(Default)]
struct Effort {
    learnt: u64,
}

impl Callbacks for Effort {
    fn on_start(&mut self) {
        self.learnt = 0;
    }

    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        self.learnt += u64::from(kind == ClauseKind::Learnt);
    }

    fn stop(&self) -> bool {
        self.learnt > EFFORT
    }
}

impl Solving {
    /// Encodes everything that the given references need (Tseitin's encoding, one variable a node, both directions).
    #[must_use]
    pub fn new(dag: &Dag, roots: &[Edge]) -> Self {
        let solver = Solver::new(SolverOpts::default(), Effort::default());
        let mut solving = Self { solver, literals: vec![None; dag.len()], model: Vec::new() };
        for id in dag.cone(roots) {
            let literal = Lit::new(solving.solver.new_var_default(), true);
            if let Node::Gate(op, operands) = dag.node(id) {
                // Children come first, so all of them have a literal.
                let operands: Vec<_> = operands.iter().filter_map(|&edge| solving.literal(edge)).collect();
                solving.define(literal, op, &operands);
            }
            solving.literals[id.index()] = Some(literal);
        }
        solving
    }

    fn literal(&self, edge: Edge) -> Option<Lit> {
        let literal = self.literals[edge.node().index()]?;
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

    /// Drops formulas from a clash as long as the rest still clashes: none of what is left can be spared.
    pub fn shrink(&mut self, mut clash: Vec<Edge>) -> Vec<Edge> {
        let mut at = 0;
        while at < clash.len() {
            let mut rest = clash.clone();
            rest.remove(at);
            match self.together(&rest) {
                // What clashes may be fewer still; the order stays, so what was tested before needs no second test.
                Answer::Clash(core) => clash = rest.into_iter().filter(|edge| core.contains(edge)).collect(),
                Answer::Together | Answer::Unknown => at += 1,
            }
        }
        clash
    }
}
