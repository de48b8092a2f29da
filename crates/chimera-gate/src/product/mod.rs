//! Products of matrices on one core, without a copy of what is multiplied.
//!
//! [`multiply`] is the loop. Weights lie in [`Panels`], the order in which the loop reads them.

mod chosen;
mod lanes;
mod lines;
mod panels;
mod tile;
mod widest;

pub use self::chosen::{Chosen, Patch, Runs, add_columns};
pub use self::lanes::LANES;
pub(crate) use self::lines::Lines;
pub use self::panels::{PANEL, Panels};
pub(crate) use self::panels::{apply, padded};
pub use self::tile::{Finish, Walk, multiply};
pub use self::widest::widest;

/// The sum of the products of two rows, in sixteen sums beside each other: the same bits on every machine.
#[must_use]
#[inline(always)]
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}
