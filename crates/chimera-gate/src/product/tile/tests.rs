//! Every instruction set against a naive sum.

use super::*;

/// A product with a bias and a tail of columns, by one of the ways, and its naive sum.
fn is_right(way: unsafe fn(Block<'_>, usize, usize), rows: usize, columns: usize) -> bool {
    let random = &mut fastrand::Rng::with_seed(5);
    let mut draw = |count: usize| -> Vec<f32> { (0..count).map(|_| random.f32() - 0.5).collect() };
    let padded = columns.next_multiple_of(LANES);
    let (segments, steps) = (2, 7);
    let walk = Walk { segments, steps, a: [3, 50, 1], b: [steps * padded, padded], c: columns };
    let (a, b, bias) = (draw(rows * 3 + 100), draw(segments * steps * padded), draw(padded));
    let mut c = vec![f32::NAN; rows * columns];
    let finish = Finish::Bias(&bias, true);
    let (a_at, b_at, c_at) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
    let block = Block { walk: &walk, a: a_at, b: b_at, c: c_at, finish, ahead: &b, piece: LANES };
    // SAFETY: the sizes above are those of the walk; the caller knows that the machine has the instructions.
    unsafe { way(block, rows, columns) };
    let expected = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        let terms = (0..segments * steps).map(|step| a[row * 3 + step / 7 * 50 + step % 7] * b[step * padded + column]);
        (bias[column] + terms.sum::<f32>()).max(0.0)
    };
    // Cells that were not written are still no numbers, and so not near.
    c.iter().enumerate().all(|(at, value)| (value - expected(at)).abs() < 1e-5)
}

#[test]
fn all_instruction_sets_give_the_same_numbers() {
    let mut ways: Vec<unsafe fn(Block<'_>, usize, usize)> = vec![blocks::<[f32; LANES], 4, 1, 0>];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            ways.push(avx2);
        }
        if is_x86_feature_detected!("avx512f") {
            ways.push(avx512);
        }
    }
    for way in ways {
        for rows in 1..30 {
            for columns in [1, 16, 20, 33, 64, 80] {
                assert!(is_right(way, rows, columns), "{rows} x {columns}");
            }
        }
    }
}
