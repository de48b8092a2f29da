//! MobileNetV2 (Sandler and others, 2018) in torchvision's layout: its parameter names are the paths of the fields,
//! with the variants of enums left out.

use burn::module::Module;
use burn::tensor::Tensor;

use super::activation::Activation;
use super::conv::Order;
use super::init::Initial;
use super::layer::{After, BatchNorm, Convolution, channel_means, entered, normalised};

/// Numbers a picture.
pub(super) const WIDTH: usize = 1280;

/// Of every group of blocks: the expansion inside, channels, how many, and the stride of the first.
const GROUPS: [(usize, usize, usize, usize); 7] =
    [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)];

/// The network up to its pooled features.
#[derive(Module, Debug)]
pub(super) struct MobilenetV2 {
    features: Vec<Stage>,
}

#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are nineteen in a program")]
enum Stage {
    Plain((Convolution, BatchNorm)),
    Block(InvertedResidual),
}

/// A wide middle between narrow ends, and the way around it where the shape stays.
#[derive(Module, Debug)]
struct InvertedResidual {
    conv: Vec<Part>,
    around: bool,
}

/// What torchvision numbers apart inside a block.
#[derive(Module, Debug)]
enum Part {
    Activated((Convolution, BatchNorm)),
    Convolution(Convolution),
    Norm(BatchNorm),
}

impl MobilenetV2 {
    pub(super) fn new(initial: &mut Initial) -> Self {
        let mut channels = 32;
        let mut features =
            vec![Stage::Plain((Convolution::new(initial, 3, channels, 3, 2), BatchNorm::new(initial, channels)))];
        for (expansion, outputs, count, stride) in GROUPS {
            for place in 0..count {
                let stride = if place == 0 { stride } else { 1 };
                features.push(Stage::Block(InvertedResidual::new(initial, channels, outputs, stride, expansion)));
                channels = outputs;
            }
        }
        let last = (Convolution::new(initial, channels, WIDTH, 1, 1), BatchNorm::new(initial, WIDTH));
        features.push(Stage::Plain(last));
        Self { features }
    }

    /// # Shapes
    /// - `input`: `[N, 3, S, S]`
    /// - output: `[N, 1280]`, between 0 and 6
    pub(super) fn forward(&self, input: Tensor<4>) -> Tensor<2> {
        // Burn's convolution of single channels has them first.
        let (input, order) = entered(input, Order::ChannelsFirst);
        let features = self.features.iter().fold(input, |features, stage| match stage {
            Stage::Plain((convolution, norm)) => activated(convolution, norm, features, order),
            Stage::Block(block) => block.forward(features, order),
        });
        channel_means(features, order)
    }
}

fn activated(convolution: &Convolution, norm: &BatchNorm, input: Tensor<4>, order: Order) -> Tensor<4> {
    normalised(convolution, norm, input, order, After::activated(Activation::Relu6))
}

impl InvertedResidual {
    fn new(initial: &mut Initial, inputs: usize, outputs: usize, stride: usize, expansion: usize) -> Self {
        let middle = inputs * expansion;
        let mut conv = Vec::new();
        if expansion != 1 {
            let widening = (Convolution::new(initial, inputs, middle, 1, 1), BatchNorm::new(initial, middle));
            conv.push(Part::Activated(widening));
        }
        let depthwise = (Convolution::depthwise(initial, middle, 3, stride), BatchNorm::new(initial, middle));
        conv.push(Part::Activated(depthwise));
        conv.push(Part::Convolution(Convolution::new(initial, middle, outputs, 1, 1)));
        conv.push(Part::Norm(BatchNorm::new(initial, outputs)));
        Self { conv, around: stride == 1 && inputs == outputs }
    }

    fn forward(&self, input: Tensor<4>, order: Order) -> Tensor<4> {
        let mut around = self.around.then(|| input.clone());
        let mut inner = input;
        let mut narrowing = None;
        for part in &self.conv {
            match part {
                Part::Activated((convolution, norm)) => inner = activated(convolution, norm, inner, order),
                Part::Convolution(convolution) => narrowing = Some(convolution),
                Part::Norm(norm) => {
                    if let Some(convolution) = narrowing.take() {
                        let after = After { around: around.take(), activation: Activation::None };
                        inner = normalised(convolution, norm, inner, order, after);
                    }
                }
            }
        }
        inner
    }
}
