//! Logistic regression with a ridge, by limited-memory quasi-Newton steps (L-BFGS): a head for one concept that is the same
//! wherever it is fitted, needs no rate and no epochs, and no matrix however many numbers a sample has.

use std::collections::VecDeque;

/// Half of this times the squared weights is added to the sum of losses, on numbers brought to one scale.
const RIDGE: f64 = 10.0;

/// The same for the offset: next to nothing, but it stays finite where all labels are the same.
const OFFSET_RIDGE: f64 = 1e-3;

/// Steps and the changes of the gradient along them that are remembered.
const REMEMBERED: usize = 10;

const MOST_STEPS: usize = 200;
const MOST_HALVINGS: usize = 30;

/// Done where a step lowers the sum of losses by less than this share of it.
const TOLERANCE: f64 = 1e-7;

/// Numbers of a product that are added up side by side.
const LANES: usize = 16;

/// Samples by rows: numbers, and whether they have what is looked for.
pub(super) struct Lesson<'a> {
    /// All numbers, row by row.
    pub(super) numbers: &'a [f32],
    /// Numbers a row.
    pub(super) width: usize,
    /// Rows that are learned from, with their labels.
    pub(super) rows: Vec<(usize, bool)>,
}

/// A weight for each number, and the offset behind them.
pub(super) struct Head(Vec<f32>);

impl Head {
    /// Where the sum of losses and ridge is smallest, which is one place.
    pub(super) fn fit(lesson: &Lesson<'_>) -> Self {
        let mut at = vec![0.0; lesson.width + 1];
        let (mut loss, mut gradient) = lesson.loss(&at);
        let mut past: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
        for _ in 0..MOST_STEPS {
            let step = direction(&gradient, &past, lesson.rows.len());
            let descent = product(&step, &gradient);
            let moved = |share: f64| -> Vec<f64> { at.iter().zip(&step).map(|(at, step)| at + share * step).collect() };
            let shares = std::iter::successors(Some(1.0), |share| Some(share / 2.0)).take(MOST_HALVINGS);
            let better = shares
                .map(|share| (share, moved(share)))
                .map(|(share, next)| (share, lesson.loss(&next), next))
                .find(|(share, (found, _), _)| *found <= loss + 1e-4 * share * descent && *found < loss);
            // None is better once rounding is all that is left.
            let Some((_, (found, next_gradient), next)) = better else { break };
            let gained = loss - found;
            let difference =
                |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| one - other).collect();
            let change: (Vec<f64>, Vec<f64>) = (difference(&next, &at), difference(&next_gradient, &gradient));
            if product(&change.0, &change.1) > 0.0 {
                past.push_back(change);
                if past.len() > REMEMBERED {
                    past.pop_front();
                }
            }
            (at, loss, gradient) = (next, found, next_gradient);
            if gained < TOLERANCE * loss {
                break;
            }
        }
        Self(at.into_iter().map(|weight| weight as f32).collect())
    }

    /// The log-odds of a row.
    pub(super) fn logit(&self, numbers: &[f32]) -> f32 {
        dot(numbers, &self.0[..numbers.len()]) + self.0[numbers.len()]
    }
}

impl Lesson<'_> {
    /// The sum of losses and ridge, and its gradient.
    fn loss(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let head = Head(weights.iter().map(|weight| *weight as f32).collect());
        let (mut sums, mut loss, mut offset) = (vec![0.0_f32; self.width], 0.0, 0.0);
        for &(row, positive) in &self.rows {
            let numbers = &self.numbers[row * self.width..][..self.width];
            let logit = f64::from(head.logit(numbers));
            // Without overflow for any finite number.
            loss += logit.max(0.0) - if positive { logit } else { 0.0 } + (-logit.abs()).exp().ln_1p();
            let residual = 1.0 / (1.0 + (-logit).exp()) - f64::from(u8::from(positive));
            offset += residual;
            let residual = residual as f32;
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += residual * number);
        }
        let ridge = |at: usize| if at < self.width { RIDGE } else { OFFSET_RIDGE };
        let mut gradient: Vec<f64> = sums.into_iter().map(f64::from).chain([offset]).collect();
        for (at, (slope, weight)) in gradient.iter_mut().zip(weights).enumerate() {
            *slope += ridge(at) * weight;
            loss += 0.5 * ridge(at) * weight * weight;
        }
        (loss, gradient)
    }
}

/// The two-loop recursion of L-BFGS: minus the gradient as it would be if the surface were round.
fn direction(gradient: &[f64], past: &VecDeque<(Vec<f64>, Vec<f64>)>, rows: usize) -> Vec<f64> {
    let mut step: Vec<f64> = gradient.iter().map(|slope| -slope).collect();
    let mut shares = Vec::with_capacity(past.len());
    for (moved, bent) in past.iter().rev() {
        let share = product(moved, &step) / product(moved, bent);
        step.iter_mut().zip(bent).for_each(|(step, bent)| *step -= share * bent);
        shares.push(share);
    }
    // The surface is never bent more than by a quarter of each row.
    let scale =
        past.back().map_or(4.0 / rows.max(1) as f64, |(moved, bent)| product(moved, bent) / product(bent, bent));
    step.iter_mut().for_each(|step| *step *= scale);
    for ((moved, bent), share) in past.iter().zip(shares.into_iter().rev()) {
        let back = share - product(bent, &step) / product(moved, bent);
        step.iter_mut().zip(moved).for_each(|(step, moved)| *step += back * moved);
    }
    step
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    let (blocks, others) = (one.chunks_exact(LANES), other.chunks_exact(LANES));
    let rest: f32 = blocks.remainder().iter().zip(others.remainder()).map(|(one, other)| one * other).sum();
    let mut sums = [0.0; LANES];
    for (one, other) in blocks.zip(others) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    rest + sums.iter().sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loss is convex, so it is smallest exactly where its gradient, written down here anew, is zero.
    #[test]
    fn a_head_is_where_the_gradient_vanishes() {
        let mut random = fastrand::Rng::with_seed(5);
        let (rows, width) = (200, 19);
        let numbers: Vec<f32> = (0..rows * width).map(|_| 4.0 * random.f32() - 2.0).collect();
        let row = |row: usize| &numbers[row * width..][..width];
        let labels: Vec<bool> = (0..rows).map(|at| row(at)[0] + 0.5 * row(at)[18] + random.f32() > 0.8).collect();
        let lesson = Lesson { numbers: &numbers, width, rows: labels.iter().copied().enumerate().collect() };
        let head = Head::fit(&lesson);
        let residuals: Vec<f64> = (0..rows)
            .map(|at| 1.0 / (1.0 + f64::from(-head.logit(row(at))).exp()) - f64::from(u8::from(labels[at])))
            .collect();
        for at in 0..width {
            let pull: f64 = residuals.iter().enumerate().map(|(of, r)| r * f64::from(row(of)[at])).sum();
            assert!((pull + RIDGE * f64::from(head.0[at])).abs() < 0.05, "{at}: {pull} {}", head.0[at]);
        }
        assert!(residuals.iter().sum::<f64>().abs() < 0.05);
        assert!(head.0[0] > 0.3 && head.0[18] > 0.1 && head.0[5].abs() < 0.3);
    }

    #[test]
    fn labels_that_are_all_the_same_leave_a_head_finite() {
        let numbers = vec![0.0; 20];
        let lesson = Lesson { numbers: &numbers, width: 2, rows: (0..10).map(|row| (row, false)).collect() };
        let logit = Head::fit(&lesson).logit(&[0.0, 0.0]);
        assert!(logit.is_finite() && logit < -5.0, "{logit}");
    }
}
