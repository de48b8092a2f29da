//! Sums of patches against naive ones.

use super::*;

fn drawn(count: usize, random: &mut fastrand::Rng) -> Vec<f32> {
    (0..count).map(|_| random.f32() - 0.5).collect()
}

/// Adds a patch times a factor.
fn naive(patch: Patch, from: &[f32], factor: f32, to: &mut [f32]) {
    for row in 0..patch.rows {
        for at in 0..patch.width {
            to[row * patch.to_row + at] += factor * from[row * patch.from_row + at];
        }
    }
}

fn near(found: &[f32], expected: &[f32]) {
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-4));
}

fn patches() -> impl Iterator<Item = Patch> {
    let sizes = [1, 2, 3].into_iter().flat_map(|rows| [1, 2, 3, 4, 6, 11].map(|bundles| (rows, bundles * LANES)));
    sizes.map(|(rows, width)| Patch { rows, width, from_row: width + 5, to_row: width + 3 })
}

#[test]
fn columns_are_sums_of_their_patches() {
    let random = &mut fastrand::Rng::with_seed(1);
    for patch in patches() {
        for step in [1, 7, 16, 21] {
            let (from, to_column) = (drawn(1000, random), patch.rows * patch.to_row + 2);
            let offsets: Vec<u32> = (0..9 * step).map(|_| random.u32(..300)).collect();
            let factors = drawn(9 * step, random);
            let mut found = drawn(step * to_column, random);
            let mut expected = found.clone();
            for (at, (offset, factor)) in offsets.iter().zip(&factors).enumerate() {
                naive(patch, &from[*offset as usize..], *factor, &mut expected[at % step * to_column..]);
            }
            add_columns(Chosen { offsets: &offsets, factors: &factors, step }, patch, &from, &mut found, to_column);
            near(&found, &expected);
        }
    }
}

#[test]
fn runs_are_sums_of_what_was_chosen() {
    let random = &mut fastrand::Rng::with_seed(2);
    let mut runs = Runs::default();
    for patch in patches() {
        for columns in [1, 16, 33, 64] {
            let (first, step) = (3, 10);
            let from = drawn(1400, random);
            let mut found = drawn(1000, random);
            let mut expected = found.clone();
            runs.clear();
            for place in 0..5 {
                let choices: Vec<u8> = (0..columns).map(|_| random.u8(..4)).collect();
                let factors: Vec<f32> = drawn(columns, random).into_iter().map(|factor| factor.max(0.0)).collect();
                let targets = [0, 20, 41, 60].map(|target| target + 9 * place);
                runs.choose(&choices, &factors, [first as u32, step as u32], targets);
                for (column, (choice, factor)) in choices.iter().zip(&factors).enumerate() {
                    let target = targets[usize::from(*choice)];
                    naive(patch, &from[first + column * step..], *factor, &mut expected[target..]);
                }
            }
            runs.add(patch, &from, &mut found);
            near(&found, &expected);
        }
    }
}

#[test]
#[should_panic(expected = "what is read")]
fn a_patch_that_leaves_its_slice_is_a_mistake() {
    let patch = Patch { rows: 2, width: LANES, from_row: LANES, to_row: LANES };
    let chosen = Chosen { offsets: &[0, 1], factors: &[1.0; 2], step: 1 };
    add_columns(chosen, patch, &[0.0; 2 * LANES], &mut [0.0; 2 * LANES], 0);
}
