//! Against burn's own operations, and the promise that threads change no bit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use burn::tensor::module::{batch_norm_train, max_pool2d};
use burn::tensor::ops::MaxPoolOptions;
use burn::tensor::{Device, TensorData, activation};

use super::*;

const EPSILON: f32 = 1e-5;

fn drawn<const D: usize>(shape: [usize; D], random: &mut fastrand::Rng) -> Tensor<D> {
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| 4.0 * random.f32() - 1.0).collect();
    Tensor::from_data(TensorData::new(values, shape), &Device::flex().autodiff())
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

fn assert_near(ours: &[f32], theirs: &[f32], what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let is_near = |(one, other): &(&f32, &f32)| (*one - *other).abs() <= 1e-4 * (1.0 + other.abs());
    let far = ours.iter().zip(theirs).find(|pair| !is_near(pair));
    assert!(far.is_none(), "{what}: {far:?}");
}

fn of_burn(
    input: Tensor<4>,
    weight: Tensor<1>,
    bias: Tensor<1>,
    around: Option<Tensor<4>>,
    how: Normalising,
) -> (Tensor<4>, [Tensor<1>; 2]) {
    let result = batch_norm_train(input.permute([0, 3, 1, 2]), weight, bias, f64::from(how.epsilon));
    let maps = result.output.permute([0, 2, 3, 1]);
    let maps = around.map_or(maps.clone(), |around| maps + around);
    let maps = match how.activation {
        Activation::None => maps,
        Activation::Relu => activation::relu(maps),
        Activation::Relu6 => activation::relu6(maps),
    };
    (maps, [result.mean, result.variance])
}

type Normaliser = fn(Tensor<4>, Tensor<1>, Tensor<1>, Option<Tensor<4>>, Normalising) -> (Tensor<4>, [Tensor<1>; 2]);

/// Result, mean, variance, then the gradients of all operands.
fn all_numbers(
    normalise: Normaliser,
    maps: [&Tensor<4>; 3],
    parameters: [&Tensor<1>; 2],
    goes_around: bool,
    how: Normalising,
) -> Vec<Vec<f32>> {
    let [input, around, pull] = maps.map(Clone::clone);
    let (input, around) = (input.require_grad(), around.require_grad());
    let [weight, bias] = parameters.map(|tensor| tensor.clone().require_grad());
    let passed = goes_around.then(|| around.clone());
    let (result, [mean, variance]) = normalise(input.clone(), weight.clone(), bias.clone(), passed, how);
    let gradients = (result.clone() * pull).sum().backward();
    let mut all = vec![numbers(result), numbers(mean), numbers(variance)];
    all.push(numbers(input.grad(&gradients).unwrap()));
    all.extend([weight, bias].map(|tensor| numbers(tensor.grad(&gradients).unwrap())));
    all.extend(around.grad(&gradients).map(numbers));
    all
}

#[test]
fn normalisation_is_that_of_burn() {
    let random = &mut fastrand::Rng::with_seed(1);
    for shape in [[1, 1, 2, 1], [2, 5, 4, 3], [3, 40, 41, 16], [5, 7, 7, 130]] {
        let maps = [0, 1, 2].map(|_| drawn(shape, random));
        let parameters = [0, 1].map(|_| drawn([shape[3]], random));
        for activation in [Activation::None, Activation::Relu, Activation::Relu6] {
            for goes_around in [false, true] {
                let how = Normalising { activation, epsilon: EPSILON };
                let of = |normaliser| all_numbers(normaliser, maps.each_ref(), parameters.each_ref(), goes_around, how);
                let (ours, theirs) = (of(normalise), of(of_burn));
                assert_eq!(ours.len(), theirs.len());
                for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                    assert_near(ours, theirs, &format!("{at} of {shape:?}, {activation:?}, {goes_around}"));
                }
                let few = |threads| {
                    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| of(normalise))
                };
                assert_eq!(few(1), few(7));
            }
        }
    }
}

/// A mean far from zero takes no bits of the variance.
#[test]
fn a_variance_far_from_zero_is_right() {
    let values: Vec<f32> = (0..100_000).map(|at| 1000.0 + (at % 2) as f32).collect();
    let found = Statistics::of(&values, 1);
    assert!((found.mean[0] - 1000.5).abs() < 1e-3 && (found.variance[0] - 0.25).abs() < 1e-4, "{found:?}");
}

#[test]
fn the_largest_is_that_of_burn() {
    let random = &mut fastrand::Rng::with_seed(2);
    for shape in [[1, 1, 1, 1], [2, 5, 4, 3], [3, 8, 9, 16], [1, 13, 7, 40]] {
        let maps = drawn(shape, random);
        let [samples, height, width, channels] = shape;
        let pull = drawn([samples, height.div_ceil(2), width.div_ceil(2), channels], random);
        let of = |largest: fn(Tensor<4>) -> Tensor<4>| {
            let maps = maps.clone().require_grad();
            let result = largest(maps.clone());
            let gradients = (result.clone() * pull.clone()).sum().backward();
            (numbers(result), numbers(maps.grad(&gradients).unwrap()))
        };
        let theirs = of(|maps| {
            let options = MaxPoolOptions::new([3, 3]).with_stride([2, 2]).with_padding([1, 1]);
            max_pool2d(maps.permute([0, 3, 1, 2]), options).permute([0, 2, 3, 1])
        });
        let ours = of(largest);
        assert_eq!(ours.0, theirs.0, "{shape:?}");
        assert_near(&ours.1, &theirs.1, &format!("{shape:?}"));
    }
}
