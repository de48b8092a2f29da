//! Statistics of the channels of a batch, what is normalised by them, and the way back.

use chimera_gate::product::widest;
use rayon::prelude::*;

use super::Normalising;
use crate::activation::Activation;

/// Floats of a part: they are walked twice and stay near meanwhile.
const PART: usize = 1 << 13;

/// Mean and spread of every channel of a batch.
#[derive(Debug, Clone)]
pub(super) struct Statistics {
    pub mean: Vec<f32>,
    /// Biased.
    pub variance: Vec<f32>,
}

/// Gradients of the parameters of a normalisation.
#[derive(Debug)]
pub(super) struct Sums {
    pub weight: Vec<f32>,
    pub bias: Vec<f32>,
}

/// Floats of the pixels of a part.
fn part(channels: usize) -> usize {
    (PART / channels).max(1) * channels
}

impl Statistics {
    /// Each part has a mean and squares around it; they are joined in order (Chan and others, 1983).
    pub(super) fn of(input: &[f32], channels: usize) -> Self {
        let part = part(channels);
        let mut parts = vec![0.0_f32; input.len().div_ceil(part) * 2 * channels];
        input.par_chunks(part).zip(parts.par_chunks_mut(2 * channels)).for_each(|(input, found)| {
            widest(
                #[inline(always)]
                || part_statistics(input, found),
            );
        });
        let mut joined = vec![(0.0_f64, 0.0_f64); channels];
        let mut before = 0.0;
        for (input, found) in input.chunks(part).zip(parts.chunks_exact(2 * channels)) {
            let count = (input.len() / channels) as f64;
            let (share, weight) = (count / (before + count), before * count / (before + count));
            let (means, squares) = found.split_at(channels);
            for ((joined, mean), squares) in joined.iter_mut().zip(means).zip(squares) {
                let step = f64::from(*mean) - joined.0;
                joined.0 += step * share;
                joined.1 += f64::from(*squares) + step * step * weight;
            }
            before += count;
        }
        Self {
            mean: joined.iter().map(|(mean, _)| *mean as f32).collect(),
            variance: joined.iter().map(|(_, squares)| (squares / before.max(1.0)) as f32).collect(),
        }
    }

    /// One over the deviation.
    fn scale(&self, epsilon: f32) -> impl Iterator<Item = f32> {
        self.variance.iter().map(move |variance| 1.0 / (variance + epsilon).sqrt())
    }

    pub(super) fn normalise(
        &self,
        input: &[f32],
        weight: &[f32],
        bias: &[f32],
        around: Option<&[f32]>,
        how: Normalising,
    ) -> Vec<f32> {
        let channels = weight.len();
        let factors: Vec<f32> = self.scale(how.epsilon).zip(weight).map(|(scale, weight)| scale * weight).collect();
        let moved = self.mean.iter().zip(&factors).map(|(mean, factor)| mean * factor);
        let summands: Vec<f32> = bias.iter().zip(moved).map(|(bias, moved)| bias - moved).collect();
        let mut result = vec![0.0; input.len()];
        let part = part(channels);
        result.par_chunks_mut(part).zip(input.par_chunks(part)).enumerate().for_each(|(at, (result, input))| {
            let around = around.map(|around| &around[at * part..][..result.len()]);
            widest(
                #[inline(always)]
                || {
                    part_affine(input, &factors, &summands, result);
                    for (result, around) in result.iter_mut().zip(around.unwrap_or_default()) {
                        *result += around;
                    }
                    activate(how.activation, result);
                },
            );
        });
        result
    }

    /// Gradients of weight and bias. `cut` are the results where an activation cut them.
    pub(super) fn gradient_sums(&self, input: &[f32], cut: Option<&[f32]>, gradient: &[f32], how: Normalising) -> Sums {
        let channels = self.mean.len();
        let part = part(channels);
        let mut parts = vec![0.0_f32; input.len().div_ceil(part) * 2 * channels];
        let shares = input.par_chunks(part).zip(gradient.par_chunks(part)).zip(parts.par_chunks_mut(2 * channels));
        shares.enumerate().for_each(|(at, ((input, gradient), sums))| {
            let result = cut.map_or(gradient, |cut| &cut[at * part..][..input.len()]);
            widest(
                #[inline(always)]
                || match how.activation {
                    Activation::None => part_sums(&self.mean, input, gradient, result, sums, |_| true),
                    Activation::Relu => part_sums(&self.mean, input, gradient, result, sums, |result| result > 0.0),
                    Activation::Relu6 => {
                        part_sums(&self.mean, input, gradient, result, sums, |result| result > 0.0 && result < 6.0);
                    }
                },
            );
        });
        let mut joined = vec![0.0_f64; 2 * channels];
        for part in parts.chunks_exact(2 * channels) {
            joined.iter_mut().zip(part).for_each(|(joined, part)| *joined += f64::from(*part));
        }
        let (bias, weight) = joined.split_at(channels);
        let scaled = weight.iter().zip(self.scale(how.epsilon)).map(|(sum, scale)| (sum * f64::from(scale)) as f32);
        Sums { weight: scaled.collect(), bias: bias.iter().map(|sum| *sum as f32).collect() }
    }

    /// The gradient of the input; what passes the activation takes the place of `gradient`.
    pub(super) fn input_gradient(
        &self,
        input: &[f32],
        weight: &[f32],
        cut: Option<&[f32]>,
        sums: &Sums,
        gradient: &mut [f32],
        how: Normalising,
    ) -> Vec<f32> {
        let channels = self.mean.len();
        let count = (input.len() / channels) as f32;
        // weight * scale * (gradient - mean of gradients - (input - mean) * scale * mean of gradients times normalised)
        let lines: Vec<f32> = {
            let factors = self.scale(how.epsilon).zip(weight).map(|(scale, weight)| scale * weight);
            let slopes = self.scale(how.epsilon).zip(&sums.weight).map(|(scale, sum)| -scale * sum / count);
            let levels = sums.bias.iter().map(|sum| -sum / count);
            factors.chain(slopes).chain(levels).collect()
        };
        let part = part(channels);
        let mut to_input = vec![0.0; input.len()];
        let shares = to_input.par_chunks_mut(part).zip(input.par_chunks(part)).zip(gradient.par_chunks_mut(part));
        shares.enumerate().for_each(|(at, ((to, input), gradient))| {
            widest(
                #[inline(always)]
                || {
                    let results = cut.map_or(&[][..], |cut| &cut[at * part..][..gradient.len()]);
                    match how.activation {
                        Activation::None => {}
                        Activation::Relu => hold_back(results, gradient, |result| result > 0.0),
                        Activation::Relu6 => hold_back(results, gradient, |result| result > 0.0 && result < 6.0),
                    }
                    part_gradient(&self.mean, input, &lines, gradient, to);
                },
            );
        });
        to_input
    }
}

#[inline(always)]
fn part_affine(input: &[f32], factors: &[f32], summands: &[f32], result: &mut [f32]) {
    let channels = factors.len();
    for (result, input) in result.chunks_exact_mut(channels).zip(input.chunks_exact(channels)) {
        for (((result, input), factor), summand) in result.iter_mut().zip(input).zip(factors).zip(summands) {
            *result = input * factor + summand;
        }
    }
}

/// Sums of the gradients that pass, then of their products with the input less its mean.
#[inline(always)]
fn part_sums(
    mean: &[f32],
    input: &[f32],
    gradient: &[f32],
    result: &[f32],
    sums: &mut [f32],
    passes: impl Fn(f32) -> bool + Copy,
) {
    let channels = mean.len();
    let (sums, products) = sums.split_at_mut(channels);
    let pixels = input.chunks_exact(channels).zip(gradient.chunks_exact(channels)).zip(result.chunks_exact(channels));
    for ((input, gradient), result) in pixels {
        let operands = input.iter().zip(gradient).zip(result).zip(mean);
        for ((((input, gradient), result), mean), (sum, product)) in
            operands.zip(sums.iter_mut().zip(products.iter_mut()))
        {
            // Read in any case: a read that hangs on a condition is not vectorised.
            let gradient = *gradient;
            let passed = if passes(*result) { gradient } else { 0.0 };
            *sum += passed;
            *product += passed * (input - mean);
        }
    }
}

/// `lines`: a factor, a slope and a level for each channel.
#[inline(always)]
fn part_gradient(mean: &[f32], input: &[f32], lines: &[f32], gradient: &[f32], to: &mut [f32]) {
    let channels = mean.len();
    let (factors, rest) = lines.split_at(channels);
    let (slopes, levels) = rest.split_at(channels);
    let pixels = to.chunks_exact_mut(channels).zip(input.chunks_exact(channels)).zip(gradient.chunks_exact(channels));
    for ((to, input), gradient) in pixels {
        let operands = to.iter_mut().zip(input).zip(gradient).zip(mean);
        for ((((to, input), gradient), mean), ((factor, slope), level)) in
            operands.zip(factors.iter().zip(slopes).zip(levels))
        {
            *to = factor * (gradient + ((input - mean) * slope + level));
        }
    }
}

#[inline(always)]
fn part_statistics(input: &[f32], found: &mut [f32]) {
    let channels = found.len() / 2;
    let (mean, squares) = found.split_at_mut(channels);
    for pixel in input.chunks_exact(channels) {
        for (sum, value) in mean.iter_mut().zip(pixel) {
            *sum += value;
        }
    }
    let count = (input.len() / channels) as f32;
    for sum in mean.iter_mut() {
        *sum /= count;
    }
    for pixel in input.chunks_exact(channels) {
        for ((squares, value), mean) in squares.iter_mut().zip(pixel).zip(&*mean) {
            *squares += (value - mean) * (value - mean);
        }
    }
}

/// What is no number stays none.
#[inline(always)]
fn activate(activation: Activation, values: &mut [f32]) {
    let most = match activation {
        Activation::None => return,
        Activation::Relu => f32::INFINITY,
        Activation::Relu6 => 6.0,
    };
    for value in values {
        let positive = if *value < 0.0 { 0.0 } else { *value };
        *value = if positive > most { most } else { positive };
    }
}

/// Makes zero of gradients whose results do not let them pass.
#[inline(always)]
fn hold_back(results: &[f32], gradient: &mut [f32], passes: impl Fn(f32) -> bool) {
    for (gradient, result) in gradient.iter_mut().zip(results) {
        let passed = *gradient;
        *gradient = if passes(*result) { passed } else { 0.0 };
    }
}
