//! Lint of 1,000 rules over 300 concepts, redundancy included, against the truth of the same rules over 100,000 rows, in one
//! run: random formulas of depth up to 4, and the implications that mining gives. `cargo bench -p chimera-logic --bench lint`.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use chimera_logic::diagnostic::Diagnostics;
use chimera_logic::lint::lint;
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::Program;
use support::{load_closed, random_labels, random_rules};

const RULES: usize = 1000;
const CONCEPTS: usize = 300;
const ROWS: usize = 100_000;

fn main() {
    let mut rng = fastrand::Rng::with_seed(4);
    let labels = random_labels(&mut rng, ROWS, CONCEPTS, 0.0);
    let random = random_rules(&mut rng, RULES, CONCEPTS, 4, 3);
    let mined = mined_rules(&mut rng);
    let hub: String =
        (0..RULES).map(|rule| format!("r{rule}: c0 & c{} => c{}\n", 1 + rule % 19, 20 + rule % 280)).collect();
    for (what, text) in [("random, depth 4", &random), ("mined implications", &mined), ("one antecedent", &hub)] {
        let rule_set = load_closed(text, CONCEPTS).rule_set;
        let program = Program::compile(&rule_set.dag, &rule_set.roots());
        let truth = best_of(5, || drop(black_box(program.evaluate(&labels))));
        let linting = best_of(5, || drop(black_box(findings(&rule_set))));
        println!(
            "{what}: truth over {ROWS} rows {:.1} ms, lint {:.1} ms; ratio {:.1} (target below 10)",
            truth * 1e3,
            linting * 1e3,
            linting / truth
        );
        let mut counts = BTreeMap::new();
        for finding in findings(&rule_set).kept() {
            *counts.entry(finding.code.as_str()).or_insert(0) += 1;
        }
        println!("  findings: {counts:?}");
    }
}

/// Implications as mining finds them: concepts in an order of specificity, so that they are consistent, with some that follow
/// from others.
fn mined_rules(rng: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    for rule in 0..RULES {
        let mut picked: Vec<usize> = (0..3).map(|_| rng.usize(0..CONCEPTS)).collect();
        picked.sort_unstable();
        let [a, b, c] = picked[..] else { continue };
        let formula = match rng.u8(0..4) {
            0 => format!("c{a} => c{c}"),
            1 => format!("c{a} & c{b} => c{c}"),
            2 => format!("c{a} => c{b} | c{c}"),
            _ => format!("c{a} => !(c{b} & !c{c})"),
        };
        text.push_str(&format!("r{rule}: {formula}\n"));
    }
    text
}

fn findings(rule_set: &RuleSet) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    lint(rule_set, &mut diagnostics).expect("the rules are text");
    diagnostics
}

fn best_of(times: usize, mut work: impl FnMut()) -> f64 {
    (0..times)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}
