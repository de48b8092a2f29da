//! ResNet-18 (He and others, 2015) in torchvision's layout: its parameter names are the paths of the fields.

use burn::module::Module;
use burn::tensor::Tensor;

use super::activation::Activation;
use super::conv::Order;
use super::init::Initial;
use super::layer::{After, BatchNorm, Convolution, channel_means, entered, largest, normalised};

/// Numbers a picture.
pub(super) const WIDTH: usize = 512;

/// The network up to its pooled features.
#[derive(Module, Debug)]
pub(super) struct Resnet18 {
    conv1: Convolution,
    bn1: BatchNorm,
    layer1: Vec<BasicBlock>,
    layer2: Vec<BasicBlock>,
    layer3: Vec<BasicBlock>,
    layer4: Vec<BasicBlock>,
}

/// Two convolutions and the way around them.
#[derive(Module, Debug)]
struct BasicBlock {
    conv1: Convolution,
    bn1: BatchNorm,
    conv2: Convolution,
    bn2: BatchNorm,
    downsample: Option<(Convolution, BatchNorm)>,
}

impl Resnet18 {
    pub(super) fn new(initial: &mut Initial) -> Self {
        Self {
            conv1: Convolution::new(initial, 3, 64, 7, 2),
            bn1: BatchNorm::new(initial, 64),
            layer1: stage(initial, 64, 64, 1),
            layer2: stage(initial, 64, 128, 2),
            layer3: stage(initial, 128, 256, 2),
            layer4: stage(initial, 256, WIDTH, 2),
        }
    }

    /// # Shapes
    /// - `input`: `[N, 3, S, S]`
    /// - output: `[N, 512]`, not negative
    pub(super) fn forward(&self, input: Tensor<4>) -> Tensor<2> {
        let (input, order) = entered(input, Order::ChannelsLast);
        let stem = normalised(&self.conv1, &self.bn1, input, order, After::activated(Activation::Relu));
        let stages = [&self.layer1, &self.layer2, &self.layer3, &self.layer4];
        let blocks = stages.into_iter().flatten();
        let features = blocks.fold(largest(stem, order), |features, block| block.forward(features, order));
        channel_means(features, order)
    }
}

fn stage(initial: &mut Initial, inputs: usize, outputs: usize, stride: usize) -> Vec<BasicBlock> {
    vec![BasicBlock::new(initial, inputs, outputs, stride), BasicBlock::new(initial, outputs, outputs, 1)]
}

impl BasicBlock {
    fn new(initial: &mut Initial, inputs: usize, outputs: usize, stride: usize) -> Self {
        let changes_shape = stride != 1 || inputs != outputs;
        Self {
            conv1: Convolution::new(initial, inputs, outputs, 3, stride),
            bn1: BatchNorm::new(initial, outputs),
            conv2: Convolution::new(initial, outputs, outputs, 3, 1),
            bn2: BatchNorm::new(initial, outputs),
            downsample: changes_shape
                .then(|| (Convolution::new(initial, inputs, outputs, 1, stride), BatchNorm::new(initial, outputs))),
        }
    }

    fn forward(&self, input: Tensor<4>, order: Order) -> Tensor<4> {
        let relu = After::activated(Activation::Relu);
        let inner = normalised(&self.conv1, &self.bn1, input.clone(), order, relu);
        let around = match &self.downsample {
            Some((convolution, norm)) => {
                normalised(convolution, norm, input, order, After::activated(Activation::None))
            }
            None => input,
        };
        let after = After { around: Some(around), activation: Activation::Relu };
        normalised(&self.conv2, &self.bn2, inner, order, after)
    }
}
