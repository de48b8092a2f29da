//! Systems of linear equations.

/// A symmetric, positive definite matrix taken apart (Cholesky), ready to solve for any right side.
#[derive(Clone, Debug)]
pub struct Factor {
    lower: Vec<f64>,
    size: usize,
}

impl Factor {
    /// Takes a matrix apart; `None` where it is not positive definite.
    ///
    /// # Shapes
    /// `matrix`: n x n, row by row, of which the lower half is read.
    #[must_use]
    pub fn new(mut matrix: Vec<f64>, size: usize) -> Option<Self> {
        for row in 0..size {
            for column in 0..=row {
                let (left, right) = (&matrix[row * size..][..column], &matrix[column * size..][..column]);
                let sum: f64 = left.iter().zip(right).map(|(one, other)| one * other).sum();
                let rest = matrix[row * size + column] - sum;
                if row == column {
                    if rest.is_nan() || rest <= 0.0 {
                        return None;
                    }
                    matrix[row * size + row] = rest.sqrt();
                } else {
                    matrix[row * size + column] = rest / matrix[column * size + column];
                }
            }
        }
        Some(Self { lower: matrix, size })
    }

    /// Puts the solution of `A x = b` in the place of b.
    ///
    /// # Panics
    /// Where b has another length.
    pub fn solve(&self, right: &mut [f64]) {
        let (lower, size) = (&self.lower, self.size);
        assert_eq!(right.len(), size, "a number for each row of the matrix");
        for row in 0..size {
            let sum: f64 = lower[row * size..][..row].iter().zip(&right[..row]).map(|(a, x)| a * x).sum();
            right[row] = (right[row] - sum) / lower[row * size + row];
        }
        for row in (0..size).rev() {
            let sum: f64 = (row + 1..size).map(|at| lower[at * size + row] * right[at]).sum();
            right[row] = (right[row] - sum) / lower[row * size + row];
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_system_done_by_hand() {
        // 4x + 2y = 10, 2x + 3y = 11: x = 1, y = 3.
        let factor = Factor::new(vec![4.0, f64::NAN, 2.0, 3.0], 2).unwrap();
        let mut found = [10.0, 11.0];
        factor.solve(&mut found);
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 3.0).abs() < 1e-12, "{found:?}");
        assert!(Factor::new(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
