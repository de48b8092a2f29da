//! Gates over samples: what is beside a sample changes no bit of its logits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use chimera_gate::cone::LeafFeature;
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::{Gate, Shape};

const SAMPLES: usize = 300;

/// Gates over leaves, over nodes and over both, of up to three operands and with different numbers of hidden values.
fn evaluator(features: usize, hidden: [usize; 2], random: &mut fastrand::Rng) -> Evaluator {
    let leaf = LeafFeature::Affine {
        shift: (0..features).map(|_| random.f32()).collect(),
        scale: (0..features).map(|_| random.f32() + 0.5).collect(),
    };
    let leaf = || (Source::Leaf(leaf.clone()), false);
    let node = |node| (Source::Node(node), true);
    let mut hidden = hidden.into_iter().cycle();
    let mut gate = |operands: Vec<(Source, bool)>| {
        let shape = Shape { arity: operands.len(), features, hidden: hidden.next().unwrap() };
        PlacedGate { gate: Arc::new(Gate::initial(shape, random)), operands }
    };
    let gates = [
        gate(vec![leaf(), leaf()]),
        gate(vec![leaf(), node(0)]),
        gate(vec![node(0), node(0)]),
        gate(vec![node(1), leaf(), node(2)]),
        gate(vec![node(3), node(0)]),
    ];
    Evaluator::new(features, &gates).unwrap()
}

#[test]
fn a_sample_has_the_same_bits_in_every_company() {
    let mut random = fastrand::Rng::with_seed(7);
    // With and without sizes that are whole lines: what is read ahead is cut otherwise.
    for (features, hidden) in [(64, [64, 48]), (37, [20, 64]), (32, [33, 16])] {
        let evaluator = evaluator(features, hidden, &mut random);
        let z: Vec<f32> = (0..SAMPLES * features).map(|_| random.f32()).collect();
        let run = |from: usize, count: usize| -> Vec<u32> {
            let mut out = vec![f32::NAN; count * evaluator.len()];
            evaluator.run(&(z.as_slice(), features), from..from + count, &mut out);
            out.into_iter().map(f32::to_bits).collect()
        };
        let all = run(0, SAMPLES);
        let alone: Vec<u32> = (0..SAMPLES).flat_map(|row| run(row, 1)).collect();
        assert_eq!(alone, all);
        assert!(all.iter().all(|bits| f32::from_bits(*bits).is_finite()));
        for count in (2..=30).chain([131, 132, 133, 150, 264, 265]) {
            for from in [0, 1, 11, SAMPLES - count] {
                assert_eq!(
                    run(from, count),
                    all[from * evaluator.len()..][..count * evaluator.len()],
                    "{from} {count}"
                );
            }
        }
    }
}
