//! The operation against burn's own.

use burn::tensor::{Device, TensorData};

use super::*;

fn drawn<const D: usize>(shape: [usize; D], random: &mut fastrand::Rng, device: &Device) -> Tensor<D> {
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| random.f32() - 0.5).collect();
    Tensor::from_data(TensorData::new(values, shape), device).require_grad()
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn near<const D: usize>(found: Tensor<D>, expected: Tensor<D>, what: &str) {
    assert_eq!(found.dims(), expected.dims());
    let (found, expected) = (numbers(found), numbers(expected));
    assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() <= 1e-4), "{what}");
}

#[test]
fn results_and_gradients_are_those_of_burn() {
    let device = Device::flex().autodiff();
    let random = &mut fastrand::Rng::with_seed(6);
    for (samples, inputs, outputs) in [(64, 1152, 256), (1, 16, 1), (37, 48, 10), (5, 17, 4)] {
        let input = drawn([samples, inputs], random, &device);
        let (weight, bias) = (drawn([outputs, inputs], random, &device), drawn([outputs], random, &device));
        let factors = drawn([samples, outputs], random, &device).detach();
        let ours = linear(input.clone(), weight.clone(), bias.clone());
        let theirs = module::linear(input.clone(), weight.clone().transpose(), Some(bias.clone()));
        near(ours.clone(), theirs.clone(), "results");
        let [ours, theirs] = [ours, theirs].map(|result| (result * factors.clone()).sum().backward());
        for (of, what) in [(&input, "inputs"), (&weight, "weights")] {
            near(of.grad(&ours).unwrap(), of.grad(&theirs).unwrap(), what);
        }
        near(bias.grad(&ours).unwrap(), bias.grad(&theirs).unwrap(), "bias");
    }
}

#[test]
fn threads_and_batches_change_no_bit() {
    let device = Device::flex().autodiff();
    let random = &mut fastrand::Rng::with_seed(7);
    let (input, weight, bias) =
        (drawn([40, 64], random, &device), drawn([50, 64], random, &device), drawn([50], random, &device));
    let run = |threads: usize, input: &Tensor<2>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| numbers(linear(input.clone(), weight.clone(), bias.clone())))
    };
    let one = run(1, &input);
    assert_eq!(one, run(3, &input));
    assert_eq!(one[7 * 50..8 * 50], run(2, &input.clone().narrow(0, 7, 1)));
}
