//! Given features on their way to the projection: each number less its mean, over its deviation, both of train rows.
//!
//! Embeddings come in any unit: of length one, where a number is about 0.03, or as sums in the hundreds. One learning
//! rate suits all of them only when they are brought to one scale. Features that are z as they stand are not touched.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};

use chimera_data::dataset::rows::FitRows;
use chimera_data::error::{Error, Result};
use chimera_data::features::Features;

/// Mean and standard deviation of each number of given features.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    mean: Vec<f32>,
    deviation: Vec<f32>,
}

impl Scale {
    /// Of these rows. A number that is the same in all of them gets the deviation 1.
    ///
    /// # Errors
    /// [`Error::Input`] where there are no rows.
    pub fn of(features: &Features, rows: &FitRows) -> Result<Self> {
        Self::of_rows(features.width(), rows.numbers().iter().map(|row| features.row(*row)))
    }

    fn of_rows<'a>(width: usize, rows: impl Iterator<Item = &'a [f32]> + Clone) -> Result<Self> {
        let count = rows.clone().count();
        if count == 0 {
            return Err(Error::input("cannot scale features: there are no train rows".to_owned(), None));
        }
        let mut sums = vec![0.0_f64; width];
        for row in rows.clone() {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let means: Vec<f64> = sums.iter().map(|sum| sum / count as f64).collect();
        // A second pass over differences: the square of a large mean would swallow a small variance.
        let mut squares = vec![0.0_f64; width];
        for row in rows {
            for ((square, value), mean) in squares.iter_mut().zip(row).zip(&means) {
                *square += (f64::from(*value) - mean).powi(2);
            }
        }
        let deviation = |(square, mean): (&f64, &f64)| {
            let deviation = (square / count as f64).sqrt();
            // Below that, differences are those of rounding.
            if deviation > 1e-7 * mean.abs() && deviation > f64::from(f32::MIN_POSITIVE) {
                deviation as f32
            } else {
                1.0
            }
        };
        let deviation = squares.iter().zip(&means).map(deviation).collect();
        Ok(Self { mean: means.iter().map(|mean| *mean as f32).collect(), deviation })
    }

    /// The scale that changes nothing.
    #[must_use]
    pub fn unit(width: usize) -> Self {
        Self { mean: vec![0.0; width], deviation: vec![1.0; width] }
    }

    /// Numbers a sample.
    #[must_use]
    pub fn width(&self) -> usize {
        self.mean.len()
    }
}

/// A scale as a part of an encoder: stored with its weights, never trained.
#[derive(Module, Debug)]
pub(super) struct Scaled {
    mean: Param<Tensor<1>>,
    deviation: Param<Tensor<1>>,
}

impl Scaled {
    pub(super) fn new(scale: &Scale, device: &Device) -> Self {
        let parameter = |values: &Vec<f32>| {
            let tensor = Tensor::from_data(TensorData::new(values.clone(), [values.len()]), device);
            Param::from_tensor(tensor).set_require_grad(false)
        };
        Self { mean: parameter(&scale.mean), deviation: parameter(&scale.deviation) }
    }

    /// # Shapes
    /// - `input` and output: `[N, D]`
    pub(super) fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        (input - self.mean.val().unsqueeze()) / self.deviation.val().unsqueeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_to_mean_zero_and_deviation_one() {
        let rows: [&[f32]; 4] =
            [&[1.0, 1e6, 7.0], &[3.0, 1e6 + 1.0, 7.0], &[5.0, 1e6 + 2.0, 7.0], &[7.0, 1e6 + 3.0, 7.0]];
        let scale = Scale::of_rows(3, rows.iter().copied()).unwrap();
        // Deviations of 1 3 5 7 and of 0 1 2 3: sqrt(5) and sqrt(1.25). The third number never changes.
        assert_eq!(scale.mean, [4.0, 1_000_001.5, 7.0]);
        assert_eq!(scale.deviation, [5.0_f32.sqrt(), 1.25_f32.sqrt(), 1.0]);
        let device = Device::flex();
        let input = Tensor::<2>::from_data(TensorData::new(vec![1.0_f32, 1e6 + 3.0, 7.0], [1, 3]), &device);
        let scaled: Vec<f32> = Scaled::new(&scale, &device).forward(input).into_data().iter::<f32>().collect();
        let expected = [-3.0 / 5.0_f32.sqrt(), 1.5 / 1.25_f32.sqrt(), 0.0];
        assert!(scaled.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{scaled:?}");
        let error = Scale::of_rows(3, std::iter::empty()).unwrap_err();
        assert_eq!(error.to_string(), "cannot scale features: there are no train rows");
    }
}
