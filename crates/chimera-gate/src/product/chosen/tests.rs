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

/// What this machine would not take by itself where it has wider instructions.
#[test]
fn all_instruction_sets_add_columns() {
    let mut ways: Vec<unsafe fn(Columns<'_>)> =
        vec![|columns| unsafe { columns.add_in_small_blocks::<[f32; LANES]>() }];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            ways.push(add_columns_avx2);
        }
        if is_x86_feature_detected!("avx512f") {
            ways.push(add_columns_avx512);
        }
    }
    let random = &mut fastrand::Rng::with_seed(3);
    for patch in patches() {
        for step in [1, 7, 16, 21] {
            let (from, to_column) = (drawn(1000, random), patch.rows * patch.to_row + 2);
            let offsets: Vec<u32> = (0..9 * step).map(|_| random.u32(..300)).collect();
            let factors = drawn(9 * step, random);
            let before = drawn(step * to_column, random);
            let chosen = Chosen { offsets: &offsets, factors: &factors, step };
            let mut expected = before.clone();
            for (at, (offset, factor)) in offsets.iter().zip(&factors).enumerate() {
                naive(patch, &from[*offset as usize..], *factor, &mut expected[at % step * to_column..]);
            }
            for way in &ways {
                let mut found = before.clone();
                patch.check(&from, farthest(&offsets), &found, (step - 1) * to_column);
                let columns = Columns { chosen, patch, from: from.as_ptr(), to: found.as_mut_ptr(), to_column };
                // SAFETY: what is read and written was checked, and the machine has the instructions.
                unsafe { way(columns) };
                near(&found, &expected);
            }
        }
    }
}

#[test]
fn all_instruction_sets_add_runs() {
    let mut ways: Vec<unsafe fn(&Runs, Patch, *const f32, *mut f32)> = vec![Runs::add_in_small_blocks::<[f32; LANES]>];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            ways.push(Runs::add_avx2);
        }
        if is_x86_feature_detected!("avx512f") {
            ways.push(Runs::add_avx512);
        }
    }
    let random = &mut fastrand::Rng::with_seed(4);
    for patch in patches() {
        let (from, before) = (drawn(1400, random), drawn(1000, random));
        let choices: Vec<u8> = (0..33).map(|_| random.u8(..4)).collect();
        let factors = drawn(33, random);
        let targets = [0, 20, 41, 60];
        let mut runs = Runs::default();
        runs.choose(&choices, &factors, [3, 10], targets);
        let mut expected = before.clone();
        for (column, (choice, factor)) in choices.iter().zip(&factors).enumerate() {
            naive(patch, &from[3 + column * 10..], *factor, &mut expected[targets[usize::from(*choice)]..]);
        }
        for way in &ways {
            let mut found = before.clone();
            patch.check(&from, 3 + 32 * 10, &found, 60);
            // SAFETY: as above.
            unsafe { way(&runs, patch, from.as_ptr(), found.as_mut_ptr()) };
            near(&found, &expected);
        }
    }
}

/// Bundles of columns are chosen with the widest instructions, any other number one by one.
#[test]
fn bundles_are_chosen_as_columns_are() {
    let random = &mut fastrand::Rng::with_seed(5);
    let choices: Vec<u8> = (0..64).map(|_| random.u8(..4)).collect();
    let factors: Vec<f32> = drawn(64, random).into_iter().map(|factor| factor.max(0.0)).collect();
    let chosen = |count: usize| {
        let mut runs = Runs::default();
        // The 64th column has no factor, so that it is as if it were not there.
        let factors = [&factors[..63], &[0.0][..count - 63]].concat();
        runs.choose(&choices[..count], &factors, [7, 5], [1, 2, 3, 4]);
        let Runs { offsets, factors, filled, runs } = runs;
        (offsets[..filled].to_vec(), factors[..filled].to_vec(), runs)
    };
    assert_eq!(chosen(64), chosen(63));
}
