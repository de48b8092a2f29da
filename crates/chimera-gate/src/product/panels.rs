//! Weights in the order in which the product loop reads them.

use super::lanes::LANES;
use super::lines::Lines;
use super::tile::{Finish, Walk, multiply, multiply_ahead};

/// Outputs of a panel: two bundles of lanes.
pub const PANEL: usize = 2 * LANES;

/// Steps between requests for what will be read next.
const SEGMENT: usize = 16;

/// A matrix of weights, `inputs` x `outputs`, cut into panels of [`PANEL`] neighbouring outputs. A panel holds its outputs of
/// the first input, then those of the second, and so on: one stream for the loop. Outputs are padded with zeros.
#[derive(Clone, Debug, PartialEq)]
pub struct Panels {
    inputs: usize,
    outputs: usize,
    values: Lines,
}

impl Panels {
    /// All zero.
    #[must_use]
    pub fn zeros(inputs: usize, outputs: usize) -> Self {
        Self { inputs, outputs, values: Lines::zeros(inputs * padded(outputs)) }
    }

    /// From a function of output and input.
    pub fn from_fn(inputs: usize, outputs: usize, mut weight: impl FnMut(usize, usize) -> f32) -> Self {
        let mut panels = Self::zeros(inputs, outputs);
        for output in 0..outputs {
            for input in 0..inputs {
                let place = panels.place(output, input);
                panels.values[place] = weight(output, input);
            }
        }
        panels
    }

    /// From rows of one output each, as torch stores a linear layer; `None` where the length is another.
    #[must_use]
    pub(crate) fn from_rows(inputs: usize, outputs: usize, rows: &[f32]) -> Option<Self> {
        if rows.len() != inputs * outputs {
            return None;
        }
        let mut panels = Self::zeros(inputs, outputs);
        // Panel by panel, in the order in which it is written: its rows are few enough to be read side by side.
        for (panel, rows) in rows.chunks(PANEL * inputs.max(1)).enumerate() {
            let values = &mut panels.values[panel * PANEL * inputs..][..PANEL * inputs];
            for (input, values) in values.chunks_exact_mut(PANEL).enumerate() {
                values
                    .iter_mut()
                    .zip(rows[input..].iter().step_by(inputs))
                    .for_each(|(value, weight)| *value = *weight);
            }
        }
        Some(panels)
    }

    /// Rows of one output each, as torch stores a linear layer.
    #[must_use]
    pub(crate) fn to_rows(&self) -> Vec<f32> {
        let mut rows = Vec::with_capacity(self.inputs * self.outputs);
        for output in 0..self.outputs {
            let panel = &self.values[output / PANEL * self.panel_len()..][..self.panel_len()];
            rows.extend(panel.iter().skip(output % PANEL).step_by(PANEL));
        }
        rows
    }

    fn place(&self, output: usize, input: usize) -> usize {
        (output / PANEL * self.inputs + input) * PANEL + output % PANEL
    }

    /// One weight.
    #[must_use]
    pub fn get(&self, output: usize, input: usize) -> f32 {
        self.values[self.place(output, input)]
    }

    /// Numbers going in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers coming out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// All weights in their order, padding included.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All weights in their order, to be changed. Whoever writes keeps the padding zero.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Weights of one panel.
    #[must_use]
    pub(crate) fn panel_len(&self) -> usize {
        self.inputs * PANEL
    }

    /// `out = x * weights + bias`, negative results made zero.
    ///
    /// # Shapes
    /// `x`: rows with `x_stride` numbers between their starts; `bias`: outputs, padded; `out`: rows of the padded outputs,
    /// `out_stride` between their starts.
    ///
    /// # Panics
    /// Where slices are too short for that: a mistake of the caller.
    pub fn apply(
        &self,
        (x, x_stride): (&[f32], usize),
        rows: usize,
        bias: &[f32],
        (out, out_stride): (&mut [f32], usize),
    ) {
        apply((self.inputs, padded(self.outputs)), &self.values, (x, x_stride), rows, bias, (out, out_stride));
    }

    /// The gradient of one panel: `x` transposed times `gradient`, into `out` in the order of the panel.
    pub(crate) fn panel_gradient(
        &self,
        number: usize,
        (x, x_stride): (&[f32], usize),
        rows: usize,
        (gradient, gradient_stride): (&[f32], usize),
        out: &mut [f32],
    ) {
        let walk = Walk { segments: 1, steps: rows, a: [1, 0, x_stride], b: [0, gradient_stride], c: PANEL };
        multiply(&walk, self.inputs, PANEL, x, &gradient[number * PANEL..], out, Finish::Replace);
    }

    /// The gradient of the inputs, one row an input: weights times the transposed `gradient`.
    ///
    /// # Shapes
    /// `gradient`: a row for each padded output, `stride` between their starts; `out`: a row for each input, the same stride.
    pub fn input_gradient(&self, gradient: &[f32], columns: usize, stride: usize, out: &mut [f32]) {
        let segments = self.outputs.div_ceil(PANEL);
        let walk =
            Walk { segments, steps: PANEL, a: [PANEL, self.panel_len(), 1], b: [PANEL * stride, stride], c: stride };
        multiply(&walk, self.inputs, columns.next_multiple_of(LANES), &self.values, gradient, out, Finish::Replace);
    }
}

/// [`Panels::apply`] with panels that lie among other numbers: `weights` begins with them, and goes on with what will be read
/// after them, which is brought near meanwhile.
pub(crate) fn apply(
    (inputs, outputs): (usize, usize),
    weights: &[f32],
    (x, x_stride): (&[f32], usize),
    rows: usize,
    bias: &[f32],
    (out, out_stride): (&mut [f32], usize),
) {
    // Short segments, so that what is brought near comes evenly. They change no sum.
    let steps = if inputs.is_multiple_of(SEGMENT) { SEGMENT } else { inputs };
    let length = inputs * PANEL;
    let walk = Walk {
        segments: inputs / steps.max(1),
        steps,
        a: [x_stride, steps, 1],
        b: [steps * PANEL, PANEL],
        c: out_stride,
    };
    for column in (0..outputs).step_by(PANEL) {
        let (panel, rest) = weights[column * inputs..].split_at(length);
        let ahead = if steps == SEGMENT { &rest[..length.min(rest.len())] } else { &[] };
        let finish = Finish::Bias(&bias[column..], true);
        multiply_ahead(&walk, rows, PANEL, x, (panel, ahead), &mut out[column..], finish);
    }
}

/// Outputs with their padding.
#[must_use]
pub(crate) fn padded(outputs: usize) -> usize {
    outputs.next_multiple_of(PANEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_plain_loops() {
        let mut random = fastrand::Rng::with_seed(1);
        for (inputs, outputs, rows) in [(1, 1, 1), (7, 33, 5), (40, 64, 64), (48, 70, 37), (514, 100, 13)] {
            let mut draw = |count: usize| -> Vec<f32> { (0..count).map(|_| random.f32() - 0.5).collect() };
            let weights = draw(inputs * outputs);
            let panels = Panels::from_rows(inputs, outputs, &weights).unwrap();
            assert_eq!(panels.to_rows(), weights);
            let wide = padded(outputs);
            let (x, gradient) = (draw(rows * inputs), draw(rows * outputs));
            let mut bias = draw(outputs);
            bias.resize(wide, 0.0);
            let near = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-4, "{found} {expected}");

            let mut out = vec![f32::NAN; rows * wide];
            panels.apply((&x, inputs), rows, &bias, (&mut out, wide));
            for (row, output) in (0..rows).flat_map(|row| (0..wide).map(move |output| (row, output))) {
                let sum: f32 = match output < outputs {
                    true => (0..inputs).map(|input| x[row * inputs + input] * weights[output * inputs + input]).sum(),
                    false => 0.0,
                };
                near(out[row * wide + output], (sum + bias[output]).max(0.0));
            }

            let mut padded_gradient = vec![0.0; rows * wide];
            let columns = rows.next_multiple_of(LANES);
            let mut transposed = vec![0.0; wide * columns];
            for (row, output) in (0..rows).flat_map(|row| (0..outputs).map(move |output| (row, output))) {
                padded_gradient[row * wide + output] = gradient[row * outputs + output];
                transposed[output * columns + row] = gradient[row * outputs + output];
            }
            let mut found = Panels::zeros(inputs, outputs);
            for number in 0..wide / PANEL {
                let mut panel = vec![f32::NAN; inputs * PANEL];
                panels.panel_gradient(number, (&x, inputs), rows, (&padded_gradient, wide), &mut panel);
                let start = number * panel.len();
                found.values_mut()[start..][..panel.len()].copy_from_slice(&panel);
            }
            let mut below = vec![f32::NAN; inputs * columns];
            panels.input_gradient(&transposed, rows, columns, &mut below);
            for input in 0..inputs {
                for output in 0..outputs {
                    let products = (0..rows).map(|row| x[row * inputs + input] * gradient[row * outputs + output]);
                    near(found.get(output, input), products.sum());
                }
                for row in 0..rows {
                    let products =
                        (0..outputs).map(|output| weights[output * inputs + input] * gradient[row * outputs + output]);
                    near(below[input * columns + row], products.sum());
                }
            }
        }
    }
}
