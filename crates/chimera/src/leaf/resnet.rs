//! ResNet-18 (He and others, 2015) in torchvision's layout: its parameter names are the paths of the fields.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::max_pool2d;
use burn::tensor::ops::MaxPoolOptions;

use super::init::Initial;
use super::layer::{BatchNorm, Convolution, channel_means, normalised};

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
        let stem = relu(normalised(&self.conv1, &self.bn1, input));
        let pooling = MaxPoolOptions::new([3, 3]).with_stride([2, 2]).with_padding([1, 1]);
        let stages = [&self.layer1, &self.layer2, &self.layer3, &self.layer4];
        let blocks = stages.into_iter().flatten();
        channel_means(blocks.fold(max_pool2d(stem, pooling), |features, block| block.forward(features)))
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

    fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let inner = relu(normalised(&self.conv1, &self.bn1, input.clone()));
        let inner = normalised(&self.conv2, &self.bn2, inner);
        let around = match &self.downsample {
            Some((convolution, norm)) => normalised(convolution, norm, input),
            None => input,
        };
        relu(inner + around)
    }
}
