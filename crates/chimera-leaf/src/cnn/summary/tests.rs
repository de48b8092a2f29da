//! The operation against burn's own, one after the other.

use burn::tensor::{Device, TensorData};

use super::super::one_after_the_other;
use super::*;
use crate::conv::{Convolution, Order, conv2d_of_burn};

fn drawn<const D: usize>(shape: [usize; D], random: &mut fastrand::Rng, device: &Device) -> Tensor<D> {
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| random.f32() - 0.5).collect();
    Tensor::from_data(TensorData::new(values, shape), device).require_grad()
}

fn near<const D: usize>(found: Tensor<D>, expected: Tensor<D>, what: &str) {
    assert_eq!(found.dims(), expected.dims());
    let (found, expected) = (found.into_data(), expected.into_data());
    let mut pairs = found.iter::<f32>().zip(expected.iter::<f32>());
    assert!(pairs.all(|(found, expected)| (found - expected).abs() <= 1e-4), "{what}");
}

#[test]
fn results_and_gradients_are_those_of_burn() {
    let device = Device::flex().autodiff();
    let random = &mut fastrand::Rng::with_seed(4);
    for (height, width, channels, detectors) in [(4, 4, 64, 128), (8, 8, 16, 40), (2, 3, 5, 7), (13, 10, 3, 1)] {
        let maps = drawn([3, height, width, channels], random, &device);
        let weight = drawn([detectors, channels, 1, 1], random, &device);
        let bias = drawn([detectors], random, &device);
        let factors = drawn([3, GRID * GRID * channels + detectors], random, &device).detach();
        let how = Convolution {
            stride: 1,
            padding: 0,
            relu: true,
            pool: false,
            input_order: Order::ChannelsLast,
            output_order: Order::ChannelsLast,
        };
        let ours = summary(maps.clone(), weight.clone(), bias.clone());
        let detected = conv2d_of_burn(maps.clone(), weight.clone(), Some(bias.clone()), how);
        let theirs = one_after_the_other(maps.clone(), detected);
        near(ours.clone(), theirs.clone(), "results");
        let [ours, theirs] = [ours, theirs].map(|result| (result * factors.clone()).sum().backward());
        let gradient = |of: &Tensor<4>| [&ours, &theirs].map(|gradients| of.grad(gradients).unwrap());
        for (of, what) in [(&maps, "maps"), (&weight, "weights")] {
            let [ours, theirs] = gradient(of);
            near(ours, theirs, what);
        }
        let [ours, theirs] = [&ours, &theirs].map(|gradients| bias.grad(gradients).unwrap());
        near(ours, theirs, "bias");
    }
}

#[test]
fn threads_change_no_bit() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let (device, random) = (Device::flex().autodiff(), &mut fastrand::Rng::with_seed(6));
            let maps = drawn([9, 7, 8, 20], random, &device);
            let (weight, bias) = (drawn([33, 20, 1, 1], random, &device), drawn([33], random, &device));
            let factors = drawn([9, GRID * GRID * 20 + 33], random, &device).detach();
            let result = summary(maps.clone(), weight.clone(), bias.clone());
            let gradients = (result.clone() * factors).sum().backward();
            let gradient = |of: &Tensor<4>| of.grad(&gradients).unwrap().into_data();
            (result.into_data(), gradient(&maps), gradient(&weight), bias.grad(&gradients).unwrap().into_data())
        })
    };
    let one = run(1);
    for threads in [2, 3, 16] {
        assert_eq!(one, run(threads), "{threads} threads");
    }
}
