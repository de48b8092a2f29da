//! Weights before training: torch's distributions from a generator of our own, so that a seed gives the same network
//! whatever else draws random numbers, and whatever the number of threads.

use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};

/// A source of initial weights. Parts of a network are drawn in the order in which they are made.
#[derive(Debug)]
pub(super) struct Initial {
    /// Nothing where the weights come from elsewhere: all start at zero then, which costs less than drawing them.
    random: Option<fastrand::Rng>,
    device: Device,
}

impl Initial {
    /// A source for one part of a network. Parts have sources of their own: heads start the same whatever the encoder.
    pub(super) fn new(seed: Option<u64>, part: &str, device: &Device) -> Self {
        Self { random: seed.map(|seed| generator(seed, part)), device: device.clone() }
    }

    /// Even numbers of [-bound, bound): torch's `uniform_`.
    pub(super) fn uniform<const D: usize>(&mut self, shape: [usize; D], bound: f32) -> Param<Tensor<D>> {
        match &mut self.random {
            Some(random) => {
                let values = (0..count(shape)).map(|_| (2.0 * random.f32() - 1.0) * bound).collect();
                self.parameter(shape, values)
            }
            None => self.constant(shape, 0.0),
        }
    }

    /// Normal numbers of mean 0: torch's `normal_`.
    pub(super) fn normal<const D: usize>(&mut self, shape: [usize; D], deviation: f32) -> Param<Tensor<D>> {
        let Some(random) = &mut self.random else { return self.constant(shape, 0.0) };
        let wanted = count(shape);
        let mut values = Vec::with_capacity(wanted + 1);
        while values.len() < wanted {
            values.extend(normal_pair(random).map(|value| value * deviation));
        }
        values.truncate(wanted);
        self.parameter(shape, values)
    }

    /// The same number everywhere.
    pub(super) fn constant<const D: usize>(&mut self, shape: [usize; D], value: f32) -> Param<Tensor<D>> {
        self.parameter(shape, vec![value; count(shape)])
    }

    fn parameter<const D: usize>(&self, shape: [usize; D], values: Vec<f32>) -> Param<Tensor<D>> {
        Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), &self.device))
    }
}

fn generator(seed: u64, part: &str) -> fastrand::Rng {
    let mut hash = blake3::Hasher::new_derive_key("chimera initial weights");
    hash.update(&seed.to_le_bytes()).update(part.as_bytes());
    let mut bytes = [0; 8];
    hash.finalize_xof().fill(&mut bytes);
    fastrand::Rng::with_seed(u64::from_le_bytes(bytes))
}

/// Marsaglia's polar method.
fn normal_pair(random: &mut fastrand::Rng) -> [f32; 2] {
    loop {
        let (x, y) = (2.0 * random.f64() - 1.0, 2.0 * random.f64() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            let stretch = (-2.0 * square.ln() / square).sqrt();
            return [(x * stretch) as f32, (y * stretch) as f32];
        }
    }
}

fn count<const D: usize>(shape: [usize; D]) -> usize {
    shape.iter().product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &Param<Tensor<1>>) -> Vec<f32> {
        values.val().into_data().iter::<f32>().collect()
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut initial = Initial::new(Some(1), "test", &Device::flex());
        let uniform = numbers(&initial.uniform([100_000], 0.3));
        let normal = numbers(&initial.normal([100_001], 2.0));
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
        let square = |values: &[f32]| values.iter().map(|value| value * value).sum::<f32>() / values.len() as f32;
        // Five standard errors: 0.3 / sqrt(3) and 2 over sqrt(100000); variances 0.09 / 3 and 4.
        assert!(mean(&uniform).abs() < 0.0028 && (square(&uniform) - 0.03).abs() < 0.0005);
        assert!(uniform.iter().all(|value| value.abs() <= 0.3));
        assert!(mean(&normal).abs() < 0.032 && (square(&normal) - 4.0).abs() < 0.09);
        assert_eq!(normal.len(), 100_001);
    }

    #[test]
    fn seed_and_part_alone_decide() {
        let draw = |seed, part| numbers(&Initial::new(Some(seed), part, &Device::flex()).normal([5], 1.0));
        let first = draw(7, "heads");
        Device::flex().seed(99);
        assert_eq!(first, draw(7, "heads"));
        assert_ne!(first, draw(8, "heads"));
        assert_ne!(first, draw(7, "pool"));
    }
}
