//! Adam over plain slices, a piece of a gate at a time, while its gradient is still in the cache.

use crate::product::widest;

/// Constants of Adam; those of its paper by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// The learning rate.
    pub rate: f32,
    /// How slowly the mean of gradients forgets.
    pub beta_1: f32,
    /// How slowly the mean of squared gradients forgets.
    pub beta_2: f32,
    /// Added to the root of the latter.
    pub epsilon: f32,
    /// The share of a parameter that is added to its gradient.
    pub weight_decay: f32,
}

impl Default for Adam {
    fn default() -> Self {
        Self { rate: 1e-3, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// One step, with all that does not depend on the parameter computed once.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    adam: Adam,
    /// The rate, with the bias of both means undone, which start at zero.
    rate: f32,
    epsilon: f32,
}

impl Adam {
    /// The step of a number, counted from 1.
    #[must_use]
    pub fn step(self, number: usize) -> Step {
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        let second = (1.0 - self.beta_2.powi(number)).sqrt();
        let unbias = second / (1.0 - self.beta_1.powi(number));
        Step { adam: self, rate: self.rate * unbias, epsilon: self.epsilon * second }
    }
}

impl Step {
    /// Moves values against their gradient. All slices have the same length.
    pub fn take(&self, values: &mut [f32], gradient: &[f32], [first, second]: [&mut [f32]; 2]) {
        widest(|| self.each(values, gradient, first, second));
    }

    /// No operation here is rounded otherwise on another machine: results are the same bits with all instructions.
    #[inline(always)]
    fn each(&self, values: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        let Adam { beta_1, beta_2, weight_decay, .. } = self.adam;
        for (((value, gradient), first), second) in values.iter_mut().zip(gradient).zip(first).zip(second) {
            let gradient = gradient + *value * weight_decay;
            *first = *first * beta_1 + gradient * (1.0 - beta_1);
            *second = *second * beta_2 + gradient * gradient * (1.0 - beta_2);
            *value -= *first / (second.sqrt() + self.epsilon) * self.rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `torch.optim.Adam([p], lr=0.1, weight_decay=0.01)` (torch 2.15), p = [1, -2], gradients [0.5, -1] and then
    /// [0.1, 3].
    #[test]
    fn steps_are_those_of_torch() {
        let adam = Adam { rate: 0.1, weight_decay: 0.01, ..Adam::default() };
        let (mut values, mut first, mut second) = ([1.0_f32, -2.0], [0.0_f32; 2], [0.0_f32; 2]);
        for (number, gradient) in [[0.5, -1.0], [0.1, 3.0]].iter().enumerate() {
            adam.step(number + 1).take(&mut values, gradient, [&mut first, &mut second]);
        }
        let expected = [0.818_915_2, -1.948_727_1];
        assert!(values.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{values:?}");
    }
}
