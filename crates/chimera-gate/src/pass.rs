//! A batch through a gate, forwards and backwards.

use crate::gate::{Gate, Shape};
use crate::product::{LANES, PANEL, Panels, dot, padded, widest};

/// Added to the length of rows, so that neighbouring rows do not compete for the same lines of the cache.
const SKEW: usize = LANES;

/// A parameter of a gate, as gradients are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Weights of the first layer, in the order of panels.
    FirstWeight,
    /// Numbers added there, padded.
    FirstBias,
    /// Weights of the second layer, in the order of panels.
    SecondWeight,
    /// Numbers added there, padded.
    SecondBias,
    /// Weights of the truth head, padded.
    Head,
    /// The number added there.
    Offset,
}

/// What is done with gradients: a piece of a parameter, from `start` on, and its gradient.
pub trait Update {
    /// Takes the gradient of a piece, and may change the piece.
    fn update(&mut self, part: Part, start: usize, values: &mut [f32], gradient: &[f32]);
}

/// Room for a batch on its way through gates of one size of features and hidden numbers.
#[derive(Debug, Default)]
pub struct Room {
    rows: usize,
    hidden: Vec<f32>,
    feature: Vec<f32>,
    logits: Vec<f32>,
    /// Of the loss: by row the logit's, then those of both layers' results, some transposed.
    logit_gradient: Vec<f32>,
    feature_gradient: Vec<f32>,
    feature_transposed: Vec<f32>,
    hidden_transposed: Vec<f32>,
    hidden_gradient: Vec<f32>,
    panel: Vec<f32>,
    sums: Vec<f32>,
    /// Whether panels are updated from the last to the first. They are, every other time: what was used last is still in
    /// the cache then, where weights and moments together do not fit.
    backwards: bool,
}

fn stride(width: usize) -> usize {
    padded(width) + SKEW
}

fn fit(buffer: &mut Vec<f32>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
}

impl Room {
    /// Runs a batch forwards.
    ///
    /// # Shapes
    /// `inputs`: rows as [`crate::pack::Packing`] lays them out, one after the other.
    ///
    /// # Panics
    /// Where `inputs` is too short.
    pub fn forward(&mut self, gate: &Gate, inputs: &[f32], rows: usize) {
        let Shape { features, hidden, .. } = gate.shape;
        let width = gate.shape.packing().width();
        let (hidden_stride, feature_stride) = (stride(hidden), stride(features));
        self.rows = rows;
        fit(&mut self.hidden, rows * hidden_stride);
        fit(&mut self.feature, rows * feature_stride);
        gate.first.weights.apply((inputs, width), rows, &gate.first.bias, (&mut self.hidden, hidden_stride));
        let out = (self.feature.as_mut_slice(), feature_stride);
        gate.second.weights.apply((&self.hidden, hidden_stride), rows, &gate.second.bias, out);
        self.logits.clear();
        let rows = self.feature.chunks_exact(feature_stride).take(rows);
        self.logits.extend(rows.map(|row| gate.offset + dot(&row[..padded(features)], &gate.head)));
    }

    /// A row's result of the last [`forward`](Self::forward): the feature of the node.
    #[must_use]
    pub fn feature(&self, gate: &Gate, row: usize) -> &[f32] {
        &self.feature[row * stride(gate.shape.features)..][..gate.shape.features]
    }

    /// The logits of the last [`forward`](Self::forward).
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }

    /// Mean cross entropy of the last [`forward`](Self::forward) against targets, and the gradient of every parameter
    /// handed to `update`. Rows without a target do not count; `None` where no row has one, and then nothing is updated.
    pub fn backward(
        &mut self,
        gate: &mut Gate,
        inputs: &[f32],
        targets: &[Option<bool>],
        update: &mut impl Update,
    ) -> Option<f32> {
        let Shape { features, hidden, .. } = gate.shape;
        let (rows, width) = (self.rows, gate.shape.packing().width());
        let (hidden_stride, feature_stride) = (stride(hidden), stride(features));
        let columns = rows.next_multiple_of(LANES) + SKEW;
        let loss = self.loss(targets)?;

        // The head, and the gradient of its input in both orders.
        let wide = padded(features);
        fit(&mut self.feature_gradient, rows * feature_stride);
        fit(&mut self.feature_transposed, wide * columns);
        self.sums.clear();
        self.sums.resize(2 * wide, 0.0);
        let (head_gradient, bias_gradient) = self.sums.split_at_mut(wide);
        for (row, &slope) in self.logit_gradient.iter().enumerate() {
            let feature = &self.feature[row * feature_stride..][..wide];
            let gradient = &mut self.feature_gradient[row * feature_stride..][..wide];
            widest(|| {
                let columns = feature.iter().zip(gradient).zip(&gate.head);
                let sums = head_gradient.iter_mut().zip(&mut *bias_gradient);
                for (((feature, gradient), weight), (head, bias)) in columns.zip(sums) {
                    let value = if *feature > 0.0 { slope * weight } else { 0.0 };
                    *gradient = value;
                    *head += slope * feature;
                    *bias += value;
                }
            });
        }
        transpose(&self.feature_gradient, feature_stride, &mut self.feature_transposed, columns, rows, wide);
        let total: f32 = self.logit_gradient.iter().sum();
        update.update(Part::Offset, 0, std::slice::from_mut(&mut gate.offset), &[total]);
        update.update(Part::Head, 0, &mut gate.head, head_gradient);
        update.update(Part::SecondBias, 0, &mut gate.second.bias, bias_gradient);

        // The gradient of the hidden numbers, before the second layer moves.
        fit(&mut self.hidden_transposed, hidden * columns);
        fit(&mut self.hidden_gradient, rows * hidden_stride);
        gate.second.weights.input_gradient(&self.feature_transposed, rows, columns, &mut self.hidden_transposed);
        transpose(&self.hidden_transposed, columns, &mut self.hidden_gradient, hidden_stride, hidden, rows);
        let wide = padded(hidden);
        self.sums.clear();
        self.sums.resize(wide, 0.0);
        for row in 0..rows {
            let results = &self.hidden[row * hidden_stride..][..wide];
            let gradient = &mut self.hidden_gradient[row * hidden_stride..][..wide];
            widest(|| {
                for ((result, gradient), sum) in results.iter().zip(gradient).zip(&mut self.sums) {
                    *gradient = if *result > 0.0 { *gradient } else { 0.0 };
                    *sum += *gradient;
                }
            });
        }
        update.update(Part::FirstBias, 0, &mut gate.first.bias, &self.sums);

        self.backwards = !self.backwards;
        let (room, backwards) = (&mut self.panel, self.backwards);
        let mut layer = |part, weights: &mut Panels, x: (&[f32], usize), gradient: (&[f32], usize)| {
            fit(room, weights.panel_len());
            let count = weights.outputs().div_ceil(PANEL);
            for number in 0..count {
                let number = if backwards { count - 1 - number } else { number };
                let out = &mut room[..weights.panel_len()];
                weights.panel_gradient(number, x, rows, gradient, out);
                let start = number * weights.panel_len();
                update.update(part, start, &mut weights.values_mut()[start..][..out.len()], out);
            }
        };
        let gradient = (self.feature_gradient.as_slice(), feature_stride);
        layer(Part::SecondWeight, &mut gate.second.weights, (&self.hidden, hidden_stride), gradient);
        let gradient = (self.hidden_gradient.as_slice(), hidden_stride);
        layer(Part::FirstWeight, &mut gate.first.weights, (inputs, width), gradient);
        Some(loss)
    }

    /// Mean cross entropy with logits in the stable form, and its slope by row.
    fn loss(&mut self, targets: &[Option<bool>]) -> Option<f32> {
        let known = targets.iter().flatten().count();
        if known == 0 {
            return None;
        }
        let share = 1.0 / known as f32;
        self.logit_gradient.clear();
        let mut total = 0.0;
        for (&logit, target) in self.logits.iter().zip(targets) {
            let Some(target) = target.map(|target| f32::from(u8::from(target))) else {
                self.logit_gradient.push(0.0);
                continue;
            };
            total += logit.max(0.0) - logit * target + (-logit.abs()).exp().ln_1p();
            self.logit_gradient.push((probability(logit) - target) * share);
        }
        Some(total * share)
    }
}

/// The probability of a logit.
#[must_use]
pub fn probability(logit: f32) -> f32 {
    if logit >= 0.0 {
        1.0 / (1.0 + (-logit).exp())
    } else {
        let small = logit.exp();
        small / (1.0 + small)
    }
}

/// `out[column][row] = from[row][column]`, in blocks that are turned around in registers.
fn transpose(from: &[f32], from_stride: usize, out: &mut [f32], out_stride: usize, rows: usize, columns: usize) {
    const BLOCK: usize = 4;
    let (whole_rows, whole_columns) = (rows - rows % BLOCK, columns - columns % BLOCK);
    for row in (0..whole_rows).step_by(BLOCK) {
        for column in (0..whole_columns).step_by(BLOCK) {
            let block: [[f32; BLOCK]; BLOCK] = std::array::from_fn(|at| {
                let piece = &from[(row + at) * from_stride + column..][..BLOCK];
                [piece[0], piece[1], piece[2], piece[3]]
            });
            for to in 0..BLOCK {
                let turned = [block[0][to], block[1][to], block[2][to], block[3][to]];
                out[(column + to) * out_stride + row..][..BLOCK].copy_from_slice(&turned);
            }
        }
    }
    for row in 0..rows {
        let start = if row < whole_rows { whole_columns } else { 0 };
        for column in start..columns {
            out[column * out_stride + row] = from[row * from_stride + column];
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Collects gradients and leaves parameters alone.
    #[derive(Default)]
    struct Collect(Vec<(Part, usize, Vec<f32>)>);

    impl Update for Collect {
        fn update(&mut self, part: Part, start: usize, _: &mut [f32], gradient: &[f32]) {
            self.0.push((part, start, gradient.to_vec()));
        }
    }

    /// Moves one parameter by a little.
    struct Nudge(Part, usize, f32);

    impl Update for Nudge {
        fn update(&mut self, part: Part, start: usize, values: &mut [f32], _: &[f32]) {
            if part == self.0 && (start..start + values.len()).contains(&self.1) {
                values[self.1 - start] += self.2;
            }
        }
    }

    fn loss_of(gate: &Gate, inputs: &[f32], targets: &[Option<bool>]) -> f32 {
        let mut room = Room::default();
        room.forward(gate, inputs, targets.len());
        room.loss(targets).unwrap()
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let mut random = fastrand::Rng::with_seed(4);
        for (arity, features, hidden, rows) in [(2, 6, 40, 5), (3, 33, 7, 20), (4, 5, 5, 1)] {
            let shape = Shape { arity, features, hidden };
            let gate = Gate::initial(shape, &mut random);
            let inputs: Vec<f32> = (0..rows * shape.packing().width()).map(|_| 2.0 * random.f32() - 1.0).collect();
            let targets: Vec<Option<bool>> = (0..rows).map(|row| (row % 4 != 3).then(|| random.bool())).collect();
            let mut room = Room::default();
            room.forward(&gate, &inputs, rows);
            let mut collected = Collect::default();
            room.backward(&mut gate.clone(), &inputs, &targets, &mut collected).unwrap();
            let mut seen = Vec::new();
            for (part, start, gradient) in &collected.0 {
                seen.push(*part);
                let steepest = (0..gradient.len()).max_by(|&a, &b| gradient[a].abs().total_cmp(&gradient[b].abs()));
                for at in [steepest.unwrap(), random.usize(..gradient.len())] {
                    // Padding has no gradient and no effect.
                    let moved = |by: f32| {
                        let mut moved = gate.clone();
                        room.forward(&gate, &inputs, rows);
                        room.backward(&mut moved, &inputs, &targets, &mut Nudge(*part, start + at, by)).unwrap();
                        f64::from(loss_of(&moved, &inputs, &targets))
                    };
                    let mut moved = moved;
                    let difference = (moved(4e-3) - moved(-4e-3)) / 8e-3;
                    let error = (difference - f64::from(gradient[at])).abs();
                    assert!(error < 3e-4 + 0.02 * difference.abs(), "{part:?} {at}: {difference} {}", gradient[at]);
                }
            }
            use Part::{FirstBias, FirstWeight, Head, Offset, SecondBias, SecondWeight};
            for part in [FirstWeight, FirstBias, SecondWeight, SecondBias, Head, Offset] {
                assert!(seen.contains(&part), "{part:?}");
            }
        }
    }

    #[test]
    fn unknown_targets_count_for_nothing() {
        let shape = Shape { arity: 2, features: 4, hidden: 4 };
        let gate = Gate::initial(shape, &mut fastrand::Rng::with_seed(4));
        let inputs: Vec<f32> = (0..3 * shape.packing().width()).map(|at| (at as f32 * 0.7).sin()).collect();
        let known = [Some(true), None, Some(false)];
        let gradients = |inputs: &[f32], targets: &[Option<bool>]| {
            let mut room = Room::default();
            room.forward(&gate, inputs, targets.len());
            let mut collected = Collect::default();
            room.backward(&mut gate.clone(), inputs, targets, &mut collected).map(|loss| (loss, collected.0))
        };
        let width = shape.packing().width();
        let without: Vec<f32> = [&inputs[..width], &inputs[2 * width..]].concat();
        assert_eq!(gradients(&inputs, &known), gradients(&without, &[Some(true), Some(false)]));
        assert_eq!(gradients(&inputs, &[None; 3]), None);
    }

    #[test]
    fn the_loss_is_stable_far_out() {
        for logit in [-200.0_f32, -30.0, 0.0, 30.0, 200.0] {
            let mut room = Room { logits: vec![logit; 2], ..Room::default() };
            let loss = room.loss(&[Some(true), Some(false)]).unwrap();
            assert!((loss - (logit.abs() / 2.0 + (-logit.abs()).exp().ln_1p())).abs() < 1e-4 * (1.0 + logit.abs()));
        }
        assert_eq!((probability(-200.0), probability(200.0), probability(0.0)), (0.0, 1.0, 0.5));
    }
}
