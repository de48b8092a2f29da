//! What a step costs by counting: multiplications and additions, and bytes that go through memory where caches keep nothing.

use chimera_leaf::cnn::{DETECTORS, LAYERS, WIDTH};
use chimera_leaf::encoder::{DEFAULT_FEATURES, Network};

use super::record::Cost;

/// Bytes of a number.
const FLOAT: f64 = 4.0;

/// Numbers that a step of Adam reads and writes for a weight: itself and its two means.
const ADAM: f64 = 6.0;

/// What one picture costs a network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picture {
    encoding: f64,
    /// Of the first layer, whose input needs no gradient.
    first: f64,
    /// Numbers that layers give.
    maps: f64,
    weights: f64,
    bytes: f64,
}

impl Picture {
    pub(super) fn of(network: Network, side: usize) -> Self {
        let pixels = (side * side) as f64;
        // Of torchvision's networks at 224 pixels: multiplications and additions (torchvision's documentation has half of them),
        // those of the first convolution, outputs of convolutions, weights without the classifier.
        let known = |encoding: f64, first: f64, maps: f64, weights: f64| {
            let larger = pixels / (224.0 * 224.0);
            let projection = (network.width() * DEFAULT_FEATURES) as f64;
            Self {
                encoding: larger * encoding + 2.0 * projection,
                first: larger * first,
                maps: larger * maps,
                weights: weights + projection,
                bytes: 3.0 * pixels,
            }
        };
        match network {
            Network::Cnn => Self::of_cnn(side),
            Network::Resnet18 => known(3.64e9, 0.236e9, 2.48e6, 11.18e6),
            Network::MobilenetV2 => known(0.60e9, 0.0217e9, 6.68e6, 2.22e6),
        }
    }

    fn of_cnn(side: usize) -> Self {
        let (mut inputs, mut size) = (3, side);
        let (mut layers, mut maps, mut weights) = (Vec::new(), 0, 0);
        for (outputs, pool) in LAYERS {
            layers.push((2 * 9 * inputs * outputs * size * size) as f64);
            size = if pool { size.div_ceil(2) } else { size };
            // What is pooled is never written whole.
            maps += outputs * size * size;
            weights += 9 * inputs * outputs;
            inputs = outputs;
        }
        layers.push((2 * inputs * DETECTORS * size * size) as f64);
        layers.push((2 * WIDTH * DEFAULT_FEATURES) as f64);
        weights += inputs * DETECTORS + WIDTH * DEFAULT_FEATURES;
        Self {
            encoding: layers.iter().sum(),
            first: layers[0],
            maps: (maps + DETECTORS * size * size) as f64,
            weights: weights as f64,
            bytes: (3 * side * side) as f64,
        }
    }

    /// Encoding in batches: pixels, maps written and read, weights once a batch.
    pub(super) fn encoding(&self, batch: usize) -> Cost {
        let bytes = self.bytes + 2.0 * FLOAT * self.maps + FLOAT * self.weights / batch as f64;
        Cost { flops: self.encoding, bytes }
    }

    /// Training in batches. Backwards there are two products for each, but pictures need no gradient; maps are read once more, and
    /// their gradients written and read.
    pub(super) fn training(&self, batch: usize) -> Cost {
        let bytes = self.bytes + 5.0 * FLOAT * self.maps + ADAM * FLOAT * self.weights / batch as f64;
        Cost { flops: 3.0 * self.encoding - self.first, bytes }
    }
}

/// Training of gates of two operands: for one sample of one gate.
pub(super) fn gate_training(features: usize, hidden: usize, batch: usize) -> Cost {
    let products = 2 * features * hidden + hidden * features;
    let weights = 2 * (features + 1) * hidden + hidden + features * hidden + features + features + 1;
    let inputs = FLOAT * (2 * features) as f64;
    Cost { flops: (2 * 3 * products) as f64, bytes: inputs + ADAM * FLOAT * weights as f64 / batch as f64 }
}

/// Scoring: for one sample of one rule `A => (B & C)`, where z is read once a sample, weights once a call of so many samples, and two
/// logits are written. Operands that are the same z are one product.
pub(super) fn rule_scoring(features: usize, hidden: usize, rules: usize, call: usize) -> Cost {
    let both = features * hidden + hidden * features + features;
    let root = 2 * features * hidden + hidden * features + features;
    let weights = FLOAT * (both + root) as f64 / call as f64;
    let bytes = FLOAT * features as f64 / rules as f64 + weights + 2.0 * FLOAT;
    Cost { flops: (2 * (both + root)) as f64, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_counted_as_the_issue_has_it() {
        let cost = gate_training(256, 256, 64);
        // 2 * 3 * (2 F H + H F) with F = H = 256.
        assert_eq!(cost.flops, 1_179_648.0);
        // 514 x 256 + 256 + 256 x 256 + 256 + 256 + 1 weights, three numbers each, read and written; two operands.
        assert_eq!(cost.bytes, 6.0 * 4.0 * 197_889.0 / 64.0 + 2048.0);
    }

    #[test]
    fn rules_are_counted_as_the_evaluator_has_them() {
        let scoring = crate::scoring::Scoring::new(3, 32, 1, 1).unwrap();
        let counted = rule_scoring(32, chimera_gate::train::Recipe::default().hidden, 3, 1024).flops;
        assert_eq!(3.0 * counted, scoring.operations() as f64);
    }

    #[test]
    fn pictures_are_counted_layer_by_layer() {
        let picture = Picture::of(Network::Cnn, 64);
        // Windows of 3 x 3: 3 to 16 channels at 64 x 64, 16 to 32 at 32 x 32, 32 to 64 at 16 x 16, 64 to 64 at 8 x 8; 128 detectors
        // there; 64 x 16 + 128 numbers to 256.
        let layers: [usize; 6] = [
            18 * 3 * 16 * 4096,
            18 * 16 * 32 * 1024,
            18 * 32 * 64 * 256,
            18 * 64 * 64 * 64,
            2 * 64 * 128 * 64,
            2 * 1152 * 256,
        ];
        let encoding = layers.iter().sum::<usize>() as f64;
        assert_eq!(picture.encoding(64).flops, encoding);
        assert_eq!(picture.training(64).flops, 3.0 * encoding - layers[0] as f64);
        // A quarter of the pixels, a quarter of the work, but for the projection.
        let [large, small] = [224, 112].map(|side| Picture::of(Network::Resnet18, side).encoding(1).flops);
        let projection = (2 * 512 * 256) as f64;
        assert_eq!(large - projection, 4.0 * (small - projection));
    }
}
