//! Rules that were found on some rows, held against rows that the search did not see.

use chimera_logic::bits::TruthTable;

use super::evidence::Evidence;
use super::options::MineOptions;
use super::shape::Shape;
use super::stats::binomial_at_most;

/// The level of both questions that held-out rows are asked.
pub(super) const LEVEL: f64 = 0.05;

/// What held-out rows say about a rule.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Confirmation {
    /// What was counted there.
    pub(super) evidence: Evidence,
    /// Probability that chance does as well there.
    pub(super) p: f64,
    /// Probability of so many violations or more there, if the rule is as good as the threshold asks.
    pub(super) violations: f64,
}

impl Confirmation {
    /// Asks held-out rows.
    pub(super) fn of(shape: Shape, labels: &TruthTable, options: &MineOptions) -> Self {
        let evidence = Evidence::of(shape, labels);
        let violations = binomial_at_most(evidence.kept, evidence.support, options.least_confidence(shape));
        Self { p: evidence.p(), violations, evidence }
    }

    /// Whether the rule goes with more than chance there, too, and its violations do not speak against it.
    pub(super) fn holds(&self) -> bool {
        self.p <= LEVEL && self.violations >= LEVEL
    }
}

#[cfg(test)]
mod tests;
