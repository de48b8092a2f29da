//! Parse and intern 10,000 and 100,000 rules: the time must grow with the text, not faster.
//!
//!     cargo bench -p chimera-logic --bench parse

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use support::{load_closed, random_rules};

const CONCEPTS: usize = 300;

fn main() {
    let mut rng = fastrand::Rng::with_seed(2);
    let small = random_rules(&mut rng, 10_000, CONCEPTS, 4, 3);
    let large = random_rules(&mut rng, 100_000, CONCEPTS, 4, 3);
    let seconds = |text: &str| {
        let run = |_| {
            let start = Instant::now();
            let loaded = load_closed(text, CONCEPTS);
            (start.elapsed().as_secs_f64(), loaded.rule_set.dag.len())
        };
        (0..5).map(run).fold((f64::INFINITY, 0), |best, next| if next.0 < best.0 { next } else { best })
    };
    let (small_seconds, small_nodes) = seconds(&small);
    let (large_seconds, large_nodes) = seconds(&large);
    let rate = |text: &str, seconds: f64| text.len() as f64 / seconds / 1e6;
    println!(
        " 10,000 rules: {:7.1} ms, {small_nodes} nodes, {:.0} MB/s",
        small_seconds * 1e3,
        rate(&small, small_seconds)
    );
    println!(
        "100,000 rules: {:7.1} ms, {large_nodes} nodes, {:.0} MB/s",
        large_seconds * 1e3,
        rate(&large, large_seconds)
    );
    println!("ratio {:.1}x for 10x the rules (target at most 12x)", large_seconds / small_seconds);
}
