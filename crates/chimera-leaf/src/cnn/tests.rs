//! The network learns, and threads, batches and random numbers drawn elsewhere do not change it.

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;

use super::*;
use crate::adam::AdamSettings;
use crate::bank::{LeafBank, LeafBankConfig};
use crate::encoder::{Batch, EncoderConfig, Network};
use crate::loss::{Targets, cross_entropy};
use crate::pool::Pooling;

fn bank(size: usize, concepts: usize, device: &Device) -> LeafBank {
    let encoder =
        EncoderConfig::Frames { network: Network::Cnn, frames: 1, size, pooling: Pooling::Mean, features: 256 };
    let concepts = (0..concepts).map(|concept| concept.to_string()).collect();
    LeafBankConfig { encoder, concepts }.init_on(7, device).unwrap()
}

fn images(samples: usize, side: usize, device: &Device) -> Tensor<4> {
    let mut random = fastrand::Rng::with_seed(9);
    let values: Vec<f32> = (0..samples * 3 * side * side).map(|_| 2.0 * random.f32() - 1.0).collect();
    Tensor::from_data(TensorData::new(values, [samples, 3, side, side]), device)
}

/// Trains on one batch and gives the bank and its last loss.
fn train(mut bank: LeafBank, images: &Tensor<4>, concepts: usize, steps: usize) -> (LeafBank, f32) {
    let mut random = fastrand::Rng::with_seed(10);
    let labels: Vec<Option<bool>> = (0..images.dims()[0] * concepts).map(|_| Some(random.bool())).collect();
    let targets = Targets::new(&labels, concepts, &bank.tensors()).unwrap();
    let mut optimizer = AdamSettings::default().init();
    let mut last = f32::NAN;
    for _ in 0..steps {
        let answer = bank.forward(Batch::Frames(images.clone())).unwrap();
        let loss = cross_entropy(answer.logits, &targets, None);
        last = loss.clone().into_scalar::<f32>();
        let gradients = GradientsParams::from_grads(loss.backward(), &bank);
        bank = optimizer.step(1e-3, bank, gradients);
    }
    (bank, last)
}

#[test]
fn a_batch_can_be_learned_by_heart() {
    let device = Device::flex().autodiff();
    let (_, loss) = train(bank(28, 5, &device), &images(8, 28, &device), 5, 100);
    assert!(loss < 0.01, "{loss}");
}

#[test]
fn threads_change_no_bit_of_training() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let device = Device::flex().autodiff();
            let (bank, loss) = train(bank(40, 12, &device), &images(64, 40, &device), 12, 3);
            let bank = bank.valid();
            (bank.encoder_bytes().unwrap(), bank.head_bytes().unwrap(), loss.to_bits())
        })
    };
    let one = run(1);
    assert!(one == run(2), "two threads");
    assert!(one == run(3), "three threads");
}

#[test]
fn an_image_has_the_same_features_alone_and_in_a_batch() {
    let device = Device::flex();
    for side in [16, 28, 64] {
        let (bank, batch) = (bank(side, 3, &device), images(9, side, &device));
        let z = |images: Tensor<4>| -> Vec<f32> {
            bank.forward(Batch::Frames(images)).unwrap().z.into_data().iter::<f32>().collect()
        };
        let (together, alone) = (z(batch.clone()), z(batch.narrow(0, 4, 1)));
        let pairs = together[4 * 256..5 * 256].iter().zip(&alone);
        let worst = pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        let scale = alone.iter().copied().fold(1.0, f32::max);
        assert!(worst <= 1e-6 * scale, "{worst}");
        assert!(together.iter().all(|feature| *feature >= 0.0) && together.iter().any(|feature| *feature > 0.0));
    }
}

#[test]
fn cells_hold_the_means_of_their_pixels() {
    let device = Device::flex();
    for (height, width) in [(4, 4), (2, 2), (8, 8), (7, 10)] {
        let values: Vec<f32> = (0..height * width).map(|pixel| pixel as f32).collect();
        let maps = Tensor::from_data(TensorData::new(values, [1, height, width, 1]), &device);
        let means: Vec<f32> = cell_means(maps).into_data().iter::<f32>().collect();
        for (cell, mean) in means.iter().enumerate() {
            // The mean of an arithmetic progression is that of its ends, down and across.
            let middle = |cell: usize, size: usize| {
                (((cell * size) / GRID) as f32 + (((cell + 1) * size).div_ceil(GRID) - 1) as f32) / 2.0
            };
            let expected = middle(cell / GRID, height) * width as f32 + middle(cell % GRID, width);
            assert!((mean - expected).abs() < 1e-4, "{height}x{width}, cell {cell}: {mean} for {expected}");
        }
    }
}
