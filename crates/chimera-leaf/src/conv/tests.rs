//! The convolution against naive loops, its gradients against burn's and against finite differences, and the promise
//! that threads and batches change no bit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use burn::tensor::{Device, Tensor, TensorData};

use super::*;

const ORDERS: [Order; 2] = [Order::ChannelsFirst, Order::ChannelsLast];

/// Sizes that meet every path: odd and even images, windows that do not reach the last pixel, channels that fill no
/// bundle of lanes or several, strides with pixels that no window sees.
fn cases(random: &mut fastrand::Rng) -> Vec<(Geometry, Convolution)> {
    (0..60)
        .map(|case| {
            let kernel = [1, 3, 3, 2, 7][random.usize(..5)];
            let how = Convolution {
                stride: random.usize(1..4),
                padding: random.usize(..=kernel / 2),
                relu: random.bool(),
                pool: case / 2 % 4 == 1,
                input_order: ORDERS[case % 2],
                output_order: ORDERS[case / 2 % 2],
            };
            let geometry = Geometry {
                samples: random.usize(1..20),
                size: [random.usize(kernel..20), random.usize(kernel..20)],
                inputs: [1, 3, 16, 20][random.usize(..4)],
                outputs: [1, 7, 16, 33, 40][random.usize(..5)],
                kernel: [kernel; 2],
                stride: how.stride,
                padding: how.padding,
                pool: how.pool,
                input_order: how.input_order,
                output_order: how.output_order,
            };
            (geometry, how)
        })
        .collect()
}

fn drawn(count: usize, random: &mut fastrand::Rng) -> Vec<f32> {
    (0..count).map(|_| random.f32() - 0.5).collect()
}

fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

fn image_shape(geometry: &Geometry) -> [usize; 4] {
    let [height, width] = geometry.size;
    match geometry.input_order {
        Order::ChannelsFirst => [geometry.samples, geometry.inputs, height, width],
        Order::ChannelsLast => [geometry.samples, height, width, geometry.inputs],
    }
}

fn weight_shape(geometry: &Geometry) -> [usize; 4] {
    [geometry.outputs, geometry.inputs, geometry.kernel[0], geometry.kernel[1]]
}

fn place(order: Order, channels: usize, [height, width]: [usize; 2], at: [usize; 4]) -> usize {
    let [sample, channel, y, x] = at;
    match order {
        Order::ChannelsFirst => ((sample * channels + channel) * height + y) * width + x,
        Order::ChannelsLast => ((sample * height + y) * width + x) * channels + channel,
    }
}

/// The definition, in loops.
fn naive(geometry: &Geometry, relu: bool, images: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let size = geometry.windows();
    let mut results = vec![0.0; geometry.samples * geometry.outputs * size[0] * size[1]];
    for at in 0..results.len() {
        let (rest, x) = (at / size[1], at % size[1]);
        let (rest, y) = (rest / size[0], rest % size[0]);
        let (sample, output) = (rest / geometry.outputs, rest % geometry.outputs);
        let mut sum = f64::from(bias[output]);
        for input in 0..geometry.inputs {
            for down in 0..geometry.kernel[0] {
                for across in 0..geometry.kernel[1] {
                    let row = (y * geometry.stride + down).checked_sub(geometry.padding);
                    let column = (x * geometry.stride + across).checked_sub(geometry.padding);
                    let inside = |at: Option<usize>, size: usize| at.filter(|at| *at < size);
                    let (Some(row), Some(column)) = (inside(row, geometry.size[0]), inside(column, geometry.size[1]))
                    else {
                        continue;
                    };
                    let image =
                        place(geometry.input_order, geometry.inputs, geometry.size, [sample, input, row, column]);
                    let tap = ((output * geometry.inputs + input) * geometry.kernel[0] + down) * geometry.kernel[1];
                    sum += f64::from(images[image]) * f64::from(weight[tap + across]);
                }
            }
        }
        let to = place(geometry.output_order, geometry.outputs, size, [sample, output, y, x]);
        results[to] = if relu { sum.max(0.0) as f32 } else { sum as f32 };
    }
    if geometry.pool { naive_pool(geometry, &results) } else { results }
}

fn naive_pool(geometry: &Geometry, results: &[f32]) -> Vec<f32> {
    let (from, to) = (geometry.windows(), geometry.output_size());
    let mut pooled = vec![f32::NEG_INFINITY; geometry.samples * geometry.output_floats()];
    for (at, value) in results.iter().enumerate() {
        let (rest, channel) = (at / geometry.outputs, at % geometry.outputs);
        let (rest, x) = (rest / from[1], rest % from[1]);
        let (sample, y) = (rest / from[0], rest % from[0]);
        let into = place(Order::ChannelsLast, geometry.outputs, to, [sample, channel, y / 2, x / 2]);
        pooled[into] = value.max(pooled[into]);
    }
    pooled
}

fn assert_near(ours: &[f32], theirs: &[f32], tolerance: f32, what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    // What is no number is not near anything; a fold over the largest would drop it.
    let is_near = |(one, other): &(&f32, &f32)| (*one - *other).abs() <= tolerance;
    let far = ours.iter().zip(theirs).find(|pair| !is_near(pair));
    assert!(far.is_none(), "{what}: {far:?}");
}

/// At an odd edge a window is smaller, and what is no number there must not win twice: gradients would go to a pixel that does
/// not exist.
#[test]
fn what_is_no_number_has_gradients_at_odd_edges() {
    let device = &Device::flex().autodiff();
    for (height, width) in [(9, 9), (9, 8), (8, 9), (1, 1)] {
        for relu in [false, true] {
            let how = Convolution {
                stride: 1,
                padding: 1,
                relu,
                pool: true,
                input_order: Order::ChannelsLast,
                output_order: Order::ChannelsLast,
            };
            let images = tensor(vec![f32::NAN; 2 * height * width * 32], [2, height, width, 32], device).require_grad();
            let weight = tensor(vec![0.1; 48 * 32 * 9], [48, 32, 3, 3], device).require_grad();
            let results = conv2d(images.clone(), weight.clone(), None, how);
            assert!(numbers(results.clone()).iter().all(|value| value.is_nan()), "{height} x {width}");
            let gradients = results.sum().backward();
            assert_eq!(numbers(images.grad(&gradients).unwrap()).len(), 2 * height * width * 32);
            assert_eq!(numbers(weight.grad(&gradients).unwrap()).len(), 48 * 32 * 9);
        }
    }
}

/// ReLU and pooling let pass on what is no number, as torch's do: it must not look like "nothing there".
#[test]
fn what_is_no_number_stays_none() {
    let device = Device::flex();
    for pool in [false, true] {
        let how = Convolution {
            stride: 1,
            padding: 1,
            relu: true,
            pool,
            input_order: Order::ChannelsLast,
            output_order: Order::ChannelsLast,
        };
        for outputs in [1, 16, 40] {
            let mut weight = vec![0.1; outputs * 2 * 9];
            *weight.last_mut().unwrap() = f32::NAN;
            let (images, weight) = (vec![1.0; 6 * 5 * 2], tensor(weight, [outputs, 2, 3, 3], &device));
            let results = numbers(conv2d(tensor(images, [1, 6, 5, 2], &device), weight, None, how));
            for (at, value) in results.iter().enumerate() {
                assert_eq!(value.is_nan(), at % outputs == outputs - 1, "{outputs} outputs, pool {pool}, at {at}");
            }
        }
    }
}

#[test]
fn results_are_those_of_naive_loops() {
    let (device, random) = (Device::flex(), &mut fastrand::Rng::with_seed(1));
    for (geometry, how) in cases(random) {
        let images = drawn(geometry.samples * geometry.input_floats(), random);
        let weight = drawn(weight_shape(&geometry).iter().product(), random);
        let bias = drawn(geometry.outputs, random);
        let expected = naive(&geometry, how.relu, &images, &weight, &bias);
        let images = tensor(images, image_shape(&geometry), &device);
        let weight = tensor(weight, weight_shape(&geometry), &device);
        let results = conv2d(images, weight, Some(tensor(bias, [geometry.outputs], &device)), how);
        assert_near(&numbers(results), &expected, 1e-4, &format!("{geometry:?}"));
    }
}

/// Gradients of the sum of results times `pull`, of images, weight and bias.
fn gradients(
    convolve: fn(Tensor<4>, Tensor<4>, Option<Tensor<1>>, Convolution) -> Tensor<4>,
    how: Convolution,
    images: &Tensor<4>,
    weight: &Tensor<4>,
    bias: &Tensor<1>,
    pull: &Tensor<4>,
) -> [Vec<f32>; 3] {
    let (images, weight) = (images.clone().require_grad(), weight.clone().require_grad());
    let bias = bias.clone().require_grad();
    let results = convolve(images.clone(), weight.clone(), Some(bias.clone()), how);
    let gradients = (results * pull.clone()).sum().backward();
    [
        numbers(images.grad(&gradients).unwrap()),
        numbers(weight.grad(&gradients).unwrap()),
        numbers(bias.grad(&gradients).unwrap()),
    ]
}

#[test]
fn gradients_are_those_of_burn() {
    let (device, random) = (Device::flex().autodiff(), &mut fastrand::Rng::with_seed(2));
    for (geometry, how) in cases(random) {
        let images = tensor(drawn(geometry.samples * geometry.input_floats(), random), image_shape(&geometry), &device);
        let weight = weight_shape(&geometry);
        let weight = tensor(drawn(weight.iter().product(), random), weight, &device);
        let bias = tensor(drawn(geometry.outputs, random), [geometry.outputs], &device);
        let shape = conv2d(images.clone(), weight.clone(), None, how).dims();
        let pull = tensor(drawn(shape.iter().product(), random), shape, &device);
        let ours = gradients(conv2d, how, &images, &weight, &bias, &pull);
        let theirs = gradients(conv2d_of_burn, how, &images, &weight, &bias, &pull);
        for ((ours, theirs), of) in ours.iter().zip(&theirs).zip(["images", "weight", "bias"]) {
            assert_near(ours, theirs, 2e-3, &format!("{of}: {geometry:?}"));
        }
    }
}

#[test]
fn gradients_are_finite_differences() {
    let (device, random) = (Device::flex().autodiff(), &mut fastrand::Rng::with_seed(3));
    let how = Convolution {
        stride: 2,
        padding: 1,
        relu: false,
        pool: false,
        input_order: Order::ChannelsLast,
        output_order: Order::ChannelsLast,
    };
    let shapes = [[2, 5, 4, 2], [3, 2, 3, 3]];
    let [images, weight] = shapes.map(|shape| tensor(drawn(shape.iter().product(), random), shape, &device));
    let bias = tensor(drawn(3, random), [3], &device);
    let pull = tensor(drawn(2 * 3 * 2 * 3, random), [2, 3, 2, 3], &device);
    let [of_images, of_weight, _] = gradients(conv2d, how, &images, &weight, &bias, &pull);
    let value = |images: &Tensor<4>, weight: &Tensor<4>| {
        numbers((conv2d(images.clone(), weight.clone(), Some(bias.clone()), how) * pull.clone()).sum())[0]
    };
    // The function is linear in each of its parts, so a difference over any step is exact but for rounding.
    let slopes = |of: &Tensor<4>, value: &dyn Fn(&Tensor<4>) -> f32| -> Vec<f32> {
        let (shape, values) = (of.dims(), numbers(of.clone()));
        let moved = |at: usize, by: f32| {
            let mut values = values.clone();
            values[at] += by;
            value(&tensor(values, shape, &device))
        };
        (0..values.len()).map(|at| moved(at, 0.5) - moved(at, -0.5)).collect()
    };
    assert_near(&of_images, &slopes(&images, &|images| value(images, &weight)), 1e-4, "images");
    assert_near(&of_weight, &slopes(&weight, &|weight| value(&images, weight)), 1e-4, "weight");
}

/// Weights so many that a batch is one shard, and those with a factor, a map to add and a ReLU.
#[test]
fn many_weights_with_all_that_follows() {
    let (device, random) = (Device::flex(), &mut fastrand::Rng::with_seed(5));
    let how = Convolution {
        stride: 1,
        padding: 1,
        relu: true,
        pool: false,
        input_order: Order::ChannelsLast,
        output_order: Order::ChannelsLast,
    };
    let shapes = [[3, 6, 5, 256], [260, 256, 3, 3], [3, 6, 5, 260]];
    let [images, weight, around] = shapes.map(|shape| tensor(drawn(shape.iter().product(), random), shape, &device));
    let [factor, bias] = [0, 1].map(|_| tensor(drawn(260, random), [260], &device));
    let found = convolve_scaled(&images, &weight, [&factor, &bias], Some(&around), how).unwrap();
    let plain = Convolution { relu: false, ..how };
    let scaled = weight.clone() * factor.reshape([260, 1, 1, 1]);
    let expected = conv2d_of_burn(images.clone(), scaled, Some(bias), plain) + around.clone();
    assert_near(&numbers(found), &numbers(activation::relu(expected)), 1e-3, "results");
    let flexible = [&images, &weight, &around].map(|tensor| in_memory(tensor).unwrap());
    let [images, weight, around] = flexible.each_ref().map(FlexTensor::storage);
    let geometry = geometry(&flexible[0], &flexible[1], plain);
    let known = Known { geometry: &geometry, images, weight, cut: None, winners: &[], gradient: around };
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let back = backward::backward(known, Asked { images: true, bias: false });
            (back.images, back.weight)
        })
    };
    let one = run(1);
    assert_eq!(one, run(5));
    // The weights' gradient at the middle of the window is a plain product of all pixels.
    let pixels = images.chunks_exact(256).zip(around.chunks_exact(260));
    let expected: f64 = pixels.map(|(image, gradient)| f64::from(image[7]) * f64::from(gradient[259])).sum();
    assert_near(&[one.1[(259 * 256 + 7) * 9 + 4]], &[expected as f32], 1e-4, "weight");
}

#[test]
fn threads_and_batches_change_no_bit() {
    let random = &mut fastrand::Rng::with_seed(4);
    for (geometry, how) in cases(random).into_iter().take(12) {
        let images = drawn(geometry.samples * geometry.input_floats(), random);
        let weight = drawn(weight_shape(&geometry).iter().product(), random);
        let bias = drawn(geometry.outputs, random);
        let pull = drawn(geometry.samples * geometry.output_floats(), random);
        let ends = Ends { factor: None, bias: &bias, around: None, positive: how.relu };
        let run = |threads: usize| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let results = forward::forward(&geometry, &images, &weight, ends);
                let known = Known {
                    geometry: &geometry,
                    images: &images,
                    weight: &weight,
                    cut: Some(&results.values),
                    winners: &results.winners,
                    gradient: &pull,
                };
                let back = backward::backward(known, Asked { images: true, bias: true });
                (results.values, back.images, back.weight, back.bias)
            })
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(3));
        assert_eq!(one, run(40));
        let last = geometry.samples - 1;
        let alone = Geometry { samples: 1, ..geometry };
        let image = &images[last * geometry.input_floats()..];
        let expected = &one.0[last * geometry.output_floats()..];
        assert_eq!(forward::forward(&alone, image, &weight, ends).values, expected);
    }
}
