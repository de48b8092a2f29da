//! What training of the leaf bank makes small: binary cross-entropy over the labels that are known.

use burn::tensor::activation::{relu, sigmoid};
use burn::tensor::{Device, Tensor, TensorData};
use chimera_data::error::{Error, Result};

#[cfg(feature = "cuda")]
use super::cuda;

/// How far a concept's positives are weighted up or down at most.
pub(crate) const DEFAULT_WEIGHT_CAP: f32 = 10.0;

/// Labels of some samples.
#[derive(Clone, Debug)]
pub struct Targets {
    /// `[N, K]`: 1 where the concept holds, 0 elsewhere.
    pub labels: Tensor<2>,
    /// `[N, K]`: 1 where the label is known, 0 elsewhere.
    pub known: Tensor<2>,
}

impl Targets {
    /// Labels row by row, `None` where one is unknown.
    ///
    /// # Errors
    /// [`Error::Input`] where they are not whole rows of `concepts`.
    pub fn new(labels: &[Option<bool>], concepts: usize, device: &Device) -> Result<Self> {
        if concepts == 0 || !labels.len().is_multiple_of(concepts) {
            return Err(Error::input(format!("expected rows of {concepts} labels, got {} labels", labels.len()), None));
        }
        let shape = [labels.len() / concepts, concepts];
        let [labels, known] = numbers(labels).map(|numbers| Tensor::from_data(TensorData::new(numbers, shape), device));
        Ok(Self { labels, known })
    }
}

/// 1 where a label holds, and 1 where it is known.
pub(super) fn numbers(labels: &[Option<bool>]) -> [Vec<f32>; 2] {
    let of =
        |number: fn(&Option<bool>) -> bool| labels.iter().map(|label| f32::from(u8::from(number(label)))).collect();
    [of(|label| *label == Some(true)), of(Option::is_some)]
}

/// The mean of max(x, 0) - x y + ln(1 + exp(-|x|)) over known labels, with the terms of positives multiplied by their
/// concept's weight where weights are given. Where no label is known it is 0 and so is its gradient.
///
/// The gradient is the closed form sigma(x) - y: what the chain rule makes of the sum is off at x = 0.
///
/// # Shapes
/// - `logits`: `[N, K]`
/// - `positive_weights`: `[K]`
/// - output: `[1]`
#[must_use]
pub fn cross_entropy(logits: Tensor<2>, targets: &Targets, positive_weights: Option<Tensor<1>>) -> Tensor<1> {
    #[cfg(feature = "cuda")]
    if cuda::runs_here(&logits) {
        return cuda::cross_entropy(logits, targets.labels.clone(), targets.known.clone(), positive_weights);
    }
    let x = logits.clone().detach();
    let (y, known) = (targets.labels.clone(), targets.known.clone());
    let share = known.clone() / known.sum().clamp_min(1.0).unsqueeze();
    let share = match positive_weights {
        Some(weights) => share * (y.clone() * (weights.unsqueeze::<2>() - 1.0) + 1.0),
        None => share,
    };
    let value = relu(x.clone()) - x.clone() * y.clone() + x.clone().abs().neg().exp().log1p();
    let gradient = (sigmoid(x.clone()) - y) * share.clone();
    (value * share).sum() + ((logits - x) * gradient).sum()
}

/// The weight of each concept's positives: known negatives over known positives, between one over `cap` and `cap`, and
/// 1 where nothing is known.
///
/// # Errors
/// [`Error::Input`] for a cap below 1.
pub(crate) fn positive_weights(positives: &[usize], negatives: &[usize], cap: f32) -> Result<Vec<f32>> {
    if !(cap >= 1.0 && cap.is_finite()) {
        let hint = format!("1 weighs all labels alike; the default is {DEFAULT_WEIGHT_CAP}");
        return Err(Error::input(format!("expected a weight cap of at least 1, got `{cap}`"), Some(hint)));
    }
    let weight = |(positives, negatives): (&usize, &usize)| match (positives, negatives) {
        (0, 0) => 1.0,
        (positives, negatives) => (*negatives as f32 / *positives as f32).clamp(1.0 / cap, cap),
    };
    Ok(positives.iter().zip(negatives).map(weight).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss_and_gradient(logits: &[f32], labels: &[Option<bool>], weights: Option<&[f32]>) -> (f32, Vec<f32>) {
        let device = Device::flex().autodiff();
        let rows = logits.len() / 2;
        let x = Tensor::<2>::from_data(TensorData::new(logits.to_vec(), [rows, 2]), &device).require_grad();
        let weights = weights.map(|weights| Tensor::from_data(TensorData::new(weights.to_vec(), [2]), &device));
        let loss = cross_entropy(x.clone(), &Targets::new(labels, 2, &device).unwrap(), weights);
        let gradient = x.grad(&loss.backward()).unwrap();
        (loss.into_scalar::<f32>(), gradient.into_data().iter::<f32>().collect())
    }

    fn close(found: f32, expected: f32) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1e-3), "{found} is not {expected}");
    }

    #[test]
    fn known_labels_give_the_closed_form() {
        let labels = [Some(true), Some(false), None, Some(true)];
        let (loss, gradient) = loss_and_gradient(&[0.0, 2.0, 50.0, -1.0], &labels, None);
        // (ln 2 + ln(1 + e^2) + ln(1 + e)) / 3 and (sigma(x) - y) / 3.
        let e = std::f32::consts::E;
        close(loss, (2.0_f32.ln() + (1.0 + e * e).ln() + (1.0 + e).ln()) / 3.0);
        let sigma = |x: f32| 1.0 / (1.0 + (-x).exp());
        close(gradient[0], -0.5 / 3.0);
        close(gradient[1], sigma(2.0) / 3.0);
        assert_eq!(gradient[2], 0.0);
        close(gradient[3], (sigma(-1.0) - 1.0) / 3.0);
    }

    #[test]
    fn positives_are_weighted() {
        let (loss, gradient) = loss_and_gradient(&[0.5, -0.5], &[Some(true), Some(false)], Some(&[3.0, 7.0]));
        // (3 ln(1 + e^-0.5) + ln(1 + e^-0.5)) / 2
        close(loss, 2.0 * (1.0 + (-0.5_f32).exp()).ln());
        close(gradient[0], 1.5 * (1.0 / (1.0 + (-0.5_f32).exp()) - 1.0));
        close(gradient[1], 0.5 / (1.0 + 0.5_f32.exp()));
    }

    #[test]
    fn extreme_logits_stay_finite() {
        let labels = [Some(true), Some(false), Some(false), Some(true)];
        let (loss, gradient) = loss_and_gradient(&[100.0, -100.0, 100.0, -100.0], &labels, None);
        // Two right answers cost e^-100 each, two wrong ones 100.
        close(loss, 50.0);
        assert!(gradient[0].abs() < 1e-30 && gradient[1].abs() < 1e-30);
        close(gradient[2], 0.25);
        close(gradient[3], -0.25);
    }

    #[test]
    fn nothing_known_is_nothing_learnt() {
        let (loss, gradient) = loss_and_gradient(&[3.0, -100.0], &[None, None], Some(&[2.0, 2.0]));
        assert_eq!((loss, gradient), (0.0, vec![0.0, 0.0]));
    }

    #[test]
    fn weights_are_ratios_within_the_cap() {
        let weights = positive_weights(&[10, 1, 30, 0, 0, 5], &[40, 99, 10, 7, 0, 0], 10.0).unwrap();
        assert_eq!(weights, [4.0, 10.0, 1.0 / 3.0, 10.0, 1.0, 0.1]);
        for cap in [0.5, f32::NAN, f32::INFINITY] {
            assert!(positive_weights(&[1], &[1], cap).unwrap_err().to_string().contains("of at least 1"));
        }
    }
}
