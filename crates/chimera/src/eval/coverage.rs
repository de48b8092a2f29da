//! Which rows of every gate's truth table the data fill: what training could see, and what a test can say.

use std::collections::BTreeMap;

use chimera_logic::bits::TruthTable;
use chimera_logic::coverage::coverage;
use chimera_logic::dag::Edge;
use chimera_logic::rules::RuleSet;

/// So many configurations of a gate are listed; those with most test rows first.
const LISTED: usize = 16;

/// A gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredGate {
    /// Its formula.
    pub formula: String,
    /// The rules that need it.
    pub rules: Vec<String>,
    /// Truth configurations: operands as `0` and `1`, what the gate gives, train rows (`None` where they are not at hand) and test
    /// rows.
    pub configurations: Vec<(String, bool, Option<u64>, u64)>,
    /// Configurations beyond those that are listed.
    pub more: usize,
}

/// Counts train and test rows for every gate of the rules.
pub(super) fn covered(rule_set: &RuleSet, train: Option<&TruthTable>, test: &TruthTable) -> Vec<CoveredGate> {
    let (dag, roots, users) = (&rule_set.dag, rule_set.roots(), rule_set.users());
    let text = |values: &[bool]| values.iter().map(|&value| if value { '1' } else { '0' }).collect::<String>();
    let trained = train.map(|train| coverage(dag, &roots, train));
    let of_gate = |(at, gate): (usize, chimera_logic::coverage::GateCoverage)| {
        let train: Option<BTreeMap<String, u64>> = trained.as_ref().map(|gates| {
            let configurations = gates[at].configurations();
            configurations.into_iter().map(|configuration| (text(&configuration.values), configuration.rows)).collect()
        });
        let mut rows: Vec<(String, bool, Option<u64>, u64)> = gate
            .configurations()
            .into_iter()
            .map(|found| {
                let operands = text(&found.values);
                let train = train.as_ref().map(|train| train.get(&operands).copied().unwrap_or(0));
                (operands, found.result, train, found.rows)
            })
            .collect();
        let more = rows.len().saturating_sub(LISTED);
        if more > 0 {
            rows.sort_by(|one, other| other.3.cmp(&one.3).then(one.0.cmp(&other.0)));
            rows.truncate(LISTED);
        }
        CoveredGate {
            formula: dag.text(Edge::new(gate.node, false)),
            rules: users[gate.node.index()].iter().map(|rule| rule_set.rules[rule.index()].name.clone()).collect(),
            configurations: rows,
            more,
        }
    };
    coverage(dag, &roots, test).into_iter().enumerate().map(of_gate).collect()
}
