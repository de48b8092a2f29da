//! Whether a device computes what the CPU computes: the operations of networks and their gradients on small inputs, and
//! whole networks through one step of training.
//!
//! Operands of single operations are multiples of 1/64, which tensor cores read without rounding: what they make of
//! them is right to the last bits, so that no ReLU and no pooling decides otherwise for rounding's sake. Whole networks
//! have numbers of any kind; there the bound is that of rounded products.

#[cfg(feature = "cuda")]
mod repeated;

use burn::module::{Module, Param};
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::{Device, Tensor, TensorData};
use chimera_data::media::frames::FrameShape;

use super::activation::Activation;
use super::adam::AdamSettings;
use super::cnn::Cnn;
use super::conv::{self, Order, conv2d};
#[cfg(feature = "cuda")]
use super::cuda::as_other_gpus;
use super::init::Initial;
use super::layer::{After, BatchNorm, Convolution, Linear, entered, largest, normalised};
use super::loss::{Targets, cross_entropy};
use super::mobilenet::MobilenetV2;
use super::parameters;
use super::pool::{Pool, Pooling};
use super::resnet::Resnet18;
use super::{cnn, input};

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// What was compared.
    pub name: String,
    /// The length of the difference over that of the CPU's numbers.
    pub difference: f32,
    /// What the difference may be.
    pub tolerance: f32,
    /// Whether it is no more.
    pub ok: bool,
}

/// What operations on numbers without rounding may differ by: sums in another order.
const EXACT: f32 = 2e-5;

/// What one rounded product may make a difference.
const ROUNDED: f32 = 2e-3;

/// Numbers with names, for comparison.
type Found = Vec<(String, Vec<f32>)>;

/// Compares a device with the CPU.
#[must_use]
pub fn check(device: &Device) -> Vec<Agreement> {
    let mut all = Vec::new();
    let mut compare = |tolerance: f32, run: &dyn Fn(&Device) -> Found| {
        let (expected, found) = (run(&Device::flex()), run(device));
        for ((name, expected), (_, found)) in expected.into_iter().zip(found) {
            let difference = difference(&expected, &found);
            // Written so that what is no number is not in order.
            all.push(Agreement { name, difference, tolerance, ok: difference <= tolerance });
        }
    };
    for case in &CASES {
        compare(EXACT, &|device| case.run(device, 64.0));
    }
    compare(ROUNDED, &|device| CASES[0].run(device, 0.0));
    #[cfg(feature = "cuda")]
    for case in &CASES {
        // On Hopper, products have a way that other GPUs do not have.
        compare(EXACT, &|device| {
            let found = as_other_gpus(|| case.run(device, 64.0)).into_iter();
            found.map(|(name, numbers)| (format!("{name}, as other GPUs do it"), numbers)).collect()
        });
    }
    compare(EXACT, &|device| frames(device));
    for channels in [18, 20] {
        compare(EXACT, &|device| pooled(device, channels));
    }
    compare(1e-5, &|device| adam(device));
    compare(EXACT, &|device| entropy(device));
    for (rows, inputs, outputs) in [(16, 256, 53), (700, 1152, 64), (3, 7, 5), (129, 64, 1152)] {
        compare(EXACT, &|device| linear(device, [rows, inputs, outputs]));
    }
    for (pooling, samples, frames) in [(Pooling::Order, 16, 8), (Pooling::Order, 3, 1), (Pooling::Mean, 5, 7)] {
        compare(ROUNDED, &|device| over_time(device, pooling, samples, frames));
    }
    for (inputs, depthwise, stride) in [(16, false, 1), (64, false, 2), (100, false, 1), (32, true, 1), (96, true, 2)] {
        compare(ROUNDED, &|device| layer(device, inputs, depthwise, stride));
    }
    compare(ROUNDED, &|device| network(device, "cnn", 40, Cnn::new, Cnn::forward).0);
    compare(0.1, &|device| network(device, "cnn", 40, Cnn::new, Cnn::forward).1);
    compare(1e-2, &|device| network(device, "resnet18", 48, Resnet18::new, Resnet18::forward).0);
    compare(0.1, &|device| network(device, "resnet18", 48, Resnet18::new, Resnet18::forward).1);
    compare(1e-2, &|device| network(device, "mobilenet_v2", 64, MobilenetV2::new, MobilenetV2::forward).0);
    compare(0.2, &|device| network(device, "mobilenet_v2", 64, MobilenetV2::new, MobilenetV2::forward).1);
    #[cfg(feature = "cuda")]
    all.extend(repeated::check(device));
    all
}

fn difference(expected: &[f32], found: &[f32]) -> f32 {
    if expected.len() != found.len() {
        return f32::INFINITY;
    }
    let square = |values: &mut dyn Iterator<Item = f32>| values.map(|value| f64::from(value).powi(2)).sum::<f64>();
    let apart = square(&mut expected.iter().zip(found).map(|(expected, found)| expected - found));
    let length = square(&mut expected.iter().copied());
    (apart.sqrt() / length.sqrt().max(f64::from(f32::MIN_POSITIVE))) as f32
}

/// Numbers in [-0.5, 0.5), multiples of one over `grain` where it is not 0.
fn drawn<const D: usize>(seed: u64, shape: [usize; D], grain: f32, device: &Device) -> Tensor<D> {
    let mut random = fastrand::Rng::with_seed(seed);
    let draw = |_| {
        let value = random.f32() - 0.5;
        if grain > 0.0 { (value * grain).round() / grain } else { value }
    };
    Tensor::from_data(TensorData::new((0..shape.iter().product()).map(draw).collect::<Vec<f32>>(), shape), device)
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// A convolution of some sizes.
struct Case {
    samples: usize,
    size: [usize; 2],
    inputs: usize,
    outputs: usize,
    kernel: usize,
    how: conv::Convolution,
}

const fn case(sizes: [usize; 5], kernel: [usize; 3], relu: bool, pool: bool, orders: [Order; 2]) -> Case {
    let [samples, height, width, inputs, outputs] = sizes;
    let how = conv::Convolution {
        stride: kernel[1],
        padding: kernel[2],
        relu,
        pool,
        input_order: orders[0],
        output_order: orders[1],
    };
    Case { samples, size: [height, width], inputs, outputs, kernel: kernel[0], how }
}

const FIRST: Order = Order::ChannelsFirst;
const LAST: Order = Order::ChannelsLast;

/// Those of the networks, and sizes that fill no tile.
const CASES: [Case; 16] = [
    case([5, 13, 11, 64, 100], [3, 1, 1], false, false, [LAST, LAST]),
    case([3, 21, 17, 3, 16], [3, 1, 1], true, true, [FIRST, LAST]),
    case([2, 32, 32, 16, 32], [3, 1, 1], true, true, [LAST, LAST]),
    case([4, 15, 9, 32, 64], [3, 1, 1], true, true, [LAST, LAST]),
    case([4, 8, 8, 64, 128], [1, 1, 0], true, false, [LAST, LAST]),
    case([2, 37, 35, 3, 64], [7, 2, 3], false, false, [FIRST, LAST]),
    case([3, 14, 15, 64, 128], [3, 2, 1], false, false, [LAST, LAST]),
    case([3, 14, 15, 64, 128], [1, 2, 0], false, false, [LAST, LAST]),
    case([2, 7, 7, 256, 192], [3, 1, 1], true, false, [LAST, LAST]),
    case([3, 10, 12, 5, 7], [3, 2, 0], true, true, [FIRST, LAST]),
    case([1, 1, 9, 100, 3], [1, 1, 0], false, false, [LAST, FIRST]),
    case([2, 19, 6, 20, 33], [2, 3, 1], true, false, [FIRST, LAST]),
    case([40, 28, 28, 24, 144], [1, 1, 0], false, false, [LAST, LAST]),
    case([16, 56, 56, 64, 64], [3, 1, 1], true, false, [LAST, LAST]),
    case([140, 16, 16, 32, 64], [3, 1, 1], true, true, [LAST, LAST]),
    case([48, 28, 28, 144, 24], [1, 1, 0], false, false, [LAST, LAST]),
];

impl Case {
    fn run(&self, device: &Device, grain: f32) -> Found {
        let Self { samples, size: [height, width], inputs, outputs, kernel, how } = *self;
        let device = &device.clone().autodiff();
        let shape = match how.input_order {
            Order::ChannelsFirst => [samples, inputs, height, width],
            Order::ChannelsLast => [samples, height, width, inputs],
        };
        let images = drawn(1, shape, grain, device).require_grad();
        let weight = drawn(2, [outputs, inputs, kernel, kernel], grain, device).require_grad();
        let bias = drawn(3, [outputs], grain, device).require_grad();
        let results = conv2d(images.clone(), weight.clone(), Some(bias.clone()), how);
        let share = drawn(4, results.dims(), grain, device);
        let gradients = (results.clone() * share).sum().backward();
        let kind = match (how.relu, how.pool) {
            (false, _) => "",
            (true, false) => ", ReLU",
            (true, true) => ", ReLU, pool",
        };
        let rounds = if grain > 0.0 { "" } else { ", rounded" };
        let name = format!(
            "convolution {samples} x {height} x {width} x {inputs} to {outputs}, window {kernel} by {}{kind}{rounds}",
            how.stride
        );
        let gradient = |found: Option<Vec<f32>>| found.unwrap_or_default();
        vec![
            (name.clone(), numbers(results)),
            (format!("{name}: to images"), gradient(images.grad(&gradients).map(numbers))),
            (format!("{name}: to weights"), gradient(weight.grad(&gradients).map(numbers))),
            (format!("{name}: to bias"), gradient(bias.grad(&gradients).map(numbers))),
        ]
    }
}

fn bytes(count: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(5);
    (0..count).map(|_| random.u8(..)).collect()
}

/// Frames of bytes as networks see them.
fn pictures(count: usize, size: usize, device: &Device) -> Option<Tensor<4>> {
    let shape = FrameShape::new(1, size, size).ok()?;
    let bytes = bytes(count * shape.bytes());
    let samples: Vec<&[u8]> = bytes.chunks_exact(shape.bytes()).collect();
    input::normalised(&samples, shape, std::num::NonZeroUsize::MIN, device).ok()
}

fn frames(device: &Device) -> Found {
    vec![("frames of bytes".to_owned(), pictures(3, 19, device).map(numbers).unwrap_or_default())]
}

/// The largest of windows, in the order of axes of the device.
fn pooled(device: &Device, channels: usize) -> Found {
    let device = &device.clone().autodiff();
    let maps = drawn(6, [3, channels, 15, 18], 0.0, device).require_grad();
    let (entering, order) = entered(maps.clone(), Order::ChannelsFirst);
    let results = leaving(largest(entering, order), order);
    let gradients = (results.clone() * drawn(7, results.dims(), 0.0, device)).sum().backward();
    vec![
        (format!("largest of windows, {channels} channels"), numbers(results)),
        (
            format!("largest of windows, {channels} channels: to maps"),
            maps.grad(&gradients).map(numbers).unwrap_or_default(),
        ),
    ]
}

fn leaving(maps: Tensor<4>, order: Order) -> Tensor<4> {
    match order {
        Order::ChannelsFirst => maps,
        Order::ChannelsLast => maps.permute([0, 3, 1, 2]),
    }
}

#[derive(Module, Debug)]
struct One {
    weight: Param<Tensor<2>>,
}

/// Three steps of Adam with gradients that are given.
fn adam(device: &Device) -> Found {
    let device = &device.clone().autodiff();
    let mut one = One { weight: Param::from_tensor(drawn(8, [37, 41], 0.0, device)) };
    let mut optimizer = AdamSettings { weight_decay: 0.1, ..AdamSettings::default() }.init();
    for step in 0..3 {
        let loss = (one.weight.val() * drawn(9 + step, [37, 41], 0.0, device)).sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &one);
        one = optimizer.step(1e-2, one, gradients);
    }
    vec![("three steps of Adam".to_owned(), numbers(one.weight.val()))]
}

/// The loss with some labels unknown and positives weighted, and where nothing is known.
fn entropy(device: &Device) -> Found {
    let device = &device.clone().autodiff();
    let labels: Vec<Option<bool>> = bytes(40 * 29).iter().map(|byte| (byte % 5 > 0).then_some(byte % 2 == 0)).collect();
    let mut found = Vec::new();
    for (name, labels) in [("loss", labels), ("loss without labels", vec![None; 40 * 29])] {
        let Ok(targets) = Targets::new(&labels, 29, device) else { return found };
        let logits = (drawn(16, [40, 29], 0.0, device) * 20.0).require_grad();
        let weights = drawn::<1>(17, [29], 0.0, device) + 2.0;
        let loss = cross_entropy(logits.clone(), &targets, Some(weights));
        let gradients = (loss.clone() * 3.0).backward();
        found.push((name.to_owned(), numbers(loss)));
        found.push((format!("{name}: to logits"), logits.grad(&gradients).map(numbers).unwrap_or_default()));
    }
    found
}

/// A linear map with a ReLU, on numbers that are not rounded.
fn linear(device: &Device, [rows, inputs, outputs]: [usize; 3]) -> Found {
    let device = &device.clone().autodiff();
    let linear = Linear::new(&mut Initial::new(Some(1), "agreement", device), inputs, outputs);
    let coarse = parameters::replaced(linear, &mut |_, shape| {
        Ok(numbers(drawn(18 + shape.len() as u64, [shape.iter().product()], 64.0, device)))
    });
    let Ok(linear) = coarse else { return Vec::new() };
    let input = drawn(21, [rows, inputs], 64.0, device).require_grad();
    let results = linear.activated(input.clone(), Activation::Relu);
    let gradients = (results.clone() * drawn(22, [rows, outputs], 64.0, device)).sum().backward();
    let name = format!("linear map of {rows} rows of {inputs} to {outputs}");
    let to_input = input.grad(&gradients).map(numbers).unwrap_or_default();
    let learned = GradientsParams::from_grads(gradients, &linear);
    let after = SgdConfig::new().init().step(0.1, linear, learned);
    let mut found = vec![(name.clone(), numbers(results)), (format!("{name}: to input"), to_input)];
    let stepped = parameters::taken(&after).into_iter();
    found.extend(stepped.map(|(path, array)| (format!("{name}: {path} after a step"), array.values)));
    found
}

/// Frames of samples to one vector.
fn over_time(device: &Device, pooling: Pooling, samples: usize, count: usize) -> Found {
    let device = &device.clone().autodiff();
    let pool = Pool::new(pooling, &mut Initial::new(Some(2), "agreement", device), 180, 60);
    let frames = drawn(23, [samples * count, 180], 64.0, device).require_grad();
    let results = pool.forward(frames.clone(), count);
    let gradients = (results.clone() * drawn(24, results.dims(), 64.0, device)).sum().backward();
    let name = format!("{samples} samples of {count} frames, {}", pooling.as_str());
    vec![
        (name.clone(), numbers(results)),
        (format!("{name}: to frames"), frames.grad(&gradients).map(numbers).unwrap_or_default()),
    ]
}

/// A convolution with what follows it: normalisation by the batch, the way around, ReLU.
fn layer(device: &Device, channels: usize, depthwise: bool, stride: usize) -> Found {
    let device = &device.clone().autodiff();
    let mut initial = Initial::new(Some(1), "agreement", device);
    let convolution = match depthwise {
        true => Convolution::depthwise(&mut initial, channels, 3, stride),
        false => Convolution::new(&mut initial, channels, channels, 3, stride),
    };
    let norm = BatchNorm::new(&mut initial, channels);
    let maps = drawn(12, [6, channels, 11, 14], 64.0, device).require_grad();
    let side = |size: usize| size.div_ceil(stride);
    let around = drawn(13, [6, channels, side(11), side(14)], 64.0, device).require_grad();
    let [(entering, order), (way, _)] = [maps.clone(), around.clone()].map(|maps| entered(maps, Order::ChannelsFirst));
    // Without a ReLU: a rounded product may fall on its other side. Those are compared by whole networks.
    let after = After { around: Some(way), activation: Activation::None };
    let results = leaving(normalised(&convolution, &norm, entering, order, after), order);
    let gradients = (results.clone() * drawn(14, results.dims(), 0.0, device)).sum().backward();
    let kind = if depthwise { "depthwise layer" } else { "layer" };
    let name = format!("{kind} of {channels} channels by {stride}");
    let mut found = vec![
        (name.clone(), numbers(results)),
        (format!("{name}: to maps"), maps.grad(&gradients).map(numbers).unwrap_or_default()),
        (format!("{name}: around"), around.grad(&gradients).map(numbers).unwrap_or_default()),
    ];
    let statistics = parameters::taken(&norm).into_iter().filter(|(path, _)| path.contains("running"));
    found.extend(statistics.map(|(path, array)| (format!("{name}: {path}"), array.values)));
    found
}

/// What a network gives in use, and after a step of training: its gradients, and what it gives then.
fn network<M: Module>(
    device: &Device,
    name: &str,
    size: usize,
    new: fn(&mut Initial) -> M,
    forward: fn(&M, Tensor<4>) -> Tensor<2>,
) -> (Found, Found) {
    let plain = |network: &M| {
        let features = pictures(5, size, device).map(|pictures| forward(&network.valid(), pictures));
        features.map(numbers).unwrap_or_default()
    };
    let learning = &device.clone().autodiff();
    let network = new(&mut Initial::new(Some(cnn::GRID as u64), "agreement", learning));
    let before = vec![(format!("{name} in use"), plain(&network))];
    let old: Vec<f32> = parameters::taken(&network).into_values().flat_map(|array| array.values).collect();
    let Some(pictures) = pictures(6, size, learning) else { return (before, Vec::new()) };
    let features = forward(&network, pictures);
    let loss = (features.clone() * drawn(15, features.dims(), 0.0, learning)).sum() / 100.0;
    let gradients = GradientsParams::from_grads(loss.backward(), &network);
    let network = SgdConfig::new().init().step(0.01, network, gradients);
    let new: Vec<f32> = parameters::taken(&network).into_values().flat_map(|array| array.values).collect();
    let change = old.iter().zip(&new).map(|(old, new)| old - new).collect();
    let after = vec![
        (format!("{name} while it learns"), numbers(features)),
        (format!("{name}: gradients and running statistics"), change),
        (format!("{name} in use after a step"), plain(&network)),
    ];
    (before, after)
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;

    #[test]
    fn the_gpu_computes_what_the_cpu_does() {
        if !std::path::Path::new("/dev/nvidia0").exists() {
            println!("skipped: no NVIDIA GPU is there");
            return;
        }
        let found = check(&Device::cuda(0));
        let wrong: Vec<&Agreement> = found.iter().filter(|agreement| !agreement.ok).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
