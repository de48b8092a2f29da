//! Systems of linear equations.

/// Solves `A x = b` for a symmetric, positive definite A by Cholesky's method; `None` where A is not.
///
/// # Shapes
/// `matrix`: n x n, row by row, of which the lower half is read; `right`: n.
pub(crate) fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for row in 0..n {
        for column in 0..=row {
            let sum: f64 = (0..column).map(|at| matrix[row * n + at] * matrix[column * n + at]).sum();
            let rest = matrix[row * n + column] - sum;
            if row == column {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                matrix[row * n + row] = rest.sqrt();
            } else {
                matrix[row * n + column] = rest / matrix[column * n + column];
            }
        }
    }
    for row in 0..n {
        let sum: f64 = (0..row).map(|at| matrix[row * n + at] * right[at]).sum();
        right[row] = (right[row] - sum) / matrix[row * n + row];
    }
    for row in (0..n).rev() {
        let sum: f64 = (row + 1..n).map(|at| matrix[at * n + row] * right[at]).sum();
        right[row] = (right[row] - sum) / matrix[row * n + row];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_done_by_hand() {
        // 4x + 2y = 10, 2x + 3y = 11: x = 1, y = 3.
        let found = solve(vec![4.0, f64::NAN, 2.0, 3.0], vec![10.0, 11.0]).unwrap();
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 3.0).abs() < 1e-12, "{found:?}");
        assert_eq!(solve(vec![1.0, 2.0, 2.0, 1.0], vec![1.0, 1.0]), None);
    }
}
