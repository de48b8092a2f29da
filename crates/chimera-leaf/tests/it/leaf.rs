//! The leaf bank from outside: torchvision's numbers where `CHIMERA_DATA` names them, storing, fingerprints, and what
//! training may change.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use chimera_data::media::frames::FrameShape;
use chimera_data::media::image::ImageReader;
use chimera_data::media::video::VideoReader;
use chimera_leaf::bank::{LeafBank, LeafBankConfig, Stored};
use chimera_leaf::encoder::{Batch, EncoderConfig, Network};
use chimera_leaf::input;
use chimera_leaf::loss::{Targets, cross_entropy};
use chimera_leaf::pool::Pooling;
use safetensors::SafeTensors;

fn pictures(network: Network, frames: usize, size: usize, pooling: Pooling) -> LeafBankConfig {
    let encoder = EncoderConfig::Frames { network, frames, size, pooling, features: 8 };
    LeafBankConfig { encoder, concepts: vec!["cat".to_owned(), "dog".to_owned(), "on(cat,dog)".to_owned()] }
}

fn given(width: usize, projection: Option<usize>) -> LeafBankConfig {
    LeafBankConfig { encoder: EncoderConfig::Given { width, projection }, concepts: vec!["cat".to_owned()] }
}

/// Noise as a batch of samples.
fn frames(config: &LeafBankConfig, samples: usize, device: &Device) -> Batch {
    let EncoderConfig::Frames { frames, size, .. } = config.encoder else { panic!("not of pictures") };
    let shape = FrameShape::new(frames, size, size).unwrap();
    let mut random = fastrand::Rng::with_seed(4);
    let bytes: Vec<Vec<u8>> = (0..samples).map(|_| (0..shape.bytes()).map(|_| random.u8(..)).collect()).collect();
    let slices: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    Batch::Frames(input::normalised(&slices, shape, NonZeroUsize::MIN, device).unwrap())
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// The largest difference over the largest number.
fn difference(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    // The fold below would drop what is no number.
    assert!(found.iter().all(|value| value.is_finite()), "a number is none");
    let largest = expected.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    found.iter().zip(expected).fold(0.0_f32, |most, (found, expected)| most.max((found - expected).abs())) / largest
}

fn stored<'a>(file: &'a str, bytes: &'a [u8]) -> Stored<'a> {
    Stored { file: Path::new(file), bytes }
}

fn tensor(file: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    file.tensor(name).unwrap().data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[allow(clippy::disallowed_methods, clippy::print_stderr, reason = "the environment names real data; a skip is said")]
fn weights_folder() -> Option<PathBuf> {
    let data = std::env::var_os("CHIMERA_DATA");
    if data.is_none() {
        eprintln!("skipped: CHIMERA_DATA is not set");
    }
    Some(PathBuf::from(data?).join("weights"))
}

fn two_pictures(parity: &SafeTensors<'_>, device: &Device) -> Batch {
    Batch::Frames(Tensor::from_data(TensorData::new(tensor(parity, "input"), [2, 3, 224, 224]), device))
}

#[test]
fn resnet18_gives_torchvisions_numbers() {
    let Some(folder) = weights_folder() else { return };
    let bytes = std::fs::read(folder.join("parity.safetensors")).unwrap();
    let parity = SafeTensors::deserialize(&bytes).unwrap();
    let device = Device::flex();
    let bank = pictures(Network::Resnet18, 1, 224, Pooling::Mean).init_on(1, &device).unwrap();
    let bank = bank.with_weights(&folder.join("resnet18_backbone_f16.safetensors")).unwrap();
    let found = numbers(bank.backbone(two_pictures(&parity, &device)).unwrap());
    let off = difference(&found, &tensor(&parity, "resnet18.features"));
    let learning = bank.train();
    let found = numbers(learning.backbone(two_pictures(&parity, &learning.tensors())).unwrap());
    let off_learning = difference(&found, &tensor(&parity, "resnet18.features.train_mode"));
    eprintln!("resnet18: {off:e}, with batch statistics {off_learning:e}");
    assert!(off < 1e-3 && off_learning < 1e-3, "{off} {off_learning}");
}

#[test]
fn mobilenet_v2_gives_torchvisions_numbers() {
    let Some(folder) = weights_folder() else { return };
    let bytes = std::fs::read(folder.join("parity.safetensors")).unwrap();
    let parity = SafeTensors::deserialize(&bytes).unwrap();
    let device = Device::flex();
    let file = folder.join("mobilenet_v2-b0353104.safetensors");
    let bank = pictures(Network::MobilenetV2, 1, 224, Pooling::Mean).init_on(1, &device).unwrap();
    let bank = bank.with_weights(&file).unwrap();
    let features = bank.backbone(two_pictures(&parity, &device)).unwrap();
    let off = difference(&numbers(features.clone()), &tensor(&parity, "mobilenet_v2.features"));
    let bytes = std::fs::read(&file).unwrap();
    let weights = SafeTensors::deserialize(&bytes).unwrap();
    let classifier = TensorData::new(tensor(&weights, "classifier.1.weight"), [1000, 1280]);
    let bias = TensorData::new(tensor(&weights, "classifier.1.bias"), [1, 1000]);
    let logits =
        features.matmul(Tensor::<2>::from_data(classifier, &device).transpose()) + Tensor::from_data(bias, &device);
    let off_logits = difference(&numbers(logits), &tensor(&parity, "mobilenet_v2.logits"));
    eprintln!("mobilenet_v2: {off:e}, logits {off_logits:e}");
    assert!(off < 1e-3 && off_logits < 1e-3, "{off} {off_logits}");
    // The other network's file is refused.
    let error = pictures(Network::Resnet18, 1, 224, Pooling::Mean)
        .init_on(1, &device)
        .unwrap()
        .with_weights(&file)
        .unwrap_err();
    assert!(error.to_string().contains("expected a tensor `conv1.weight` of shape [64, 3, 7, 7], got none"), "{error}");
}

#[test]
fn stored_banks_answer_alike() {
    let device = Device::flex();
    for config in
        [pictures(Network::Resnet18, 1, 32, Pooling::Mean), pictures(Network::MobilenetV2, 2, 32, Pooling::Order)]
    {
        let bank = config.init_on(9, &device).unwrap();
        let (encoder, heads) = (bank.encoder_bytes().unwrap(), bank.head_bytes().unwrap());
        let again = config.restore(stored("e", &encoder), stored("h", &heads), &device.clone().into()).unwrap();
        let (first, second) = (bank.forward(frames(&config, 2, &device)), again.forward(frames(&config, 2, &device)));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(numbers(first.z), numbers(second.z));
        assert_eq!(numbers(first.logits), numbers(second.logits));
        assert_eq!(again.encoder_bytes().unwrap(), encoder);
        assert_eq!(again.bank_fingerprint().unwrap(), bank.bank_fingerprint().unwrap());
        let error =
            config.restore(stored("e", &heads), stored("h", &heads), &device.clone().into()).unwrap_err().to_string();
        assert!(error.starts_with("cannot use the weights in `e`: expected a tensor `backbone."), "{error}");
        let error = config
            .restore(stored("e", &encoder), stored("h", &encoder), &device.clone().into())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("cannot use the weights in `h`: expected a tensor `weight`"), "{error}");
    }
}

#[test]
fn company_in_a_batch_changes_nothing() {
    let device = Device::flex();
    for network in [Network::Resnet18, Network::MobilenetV2] {
        let config = pictures(network, 1, 64, Pooling::Mean);
        let bank = config.init_on(2, &device).unwrap();
        let Batch::Frames(all) = frames(&config, 8, &device) else { panic!("not of pictures") };
        let together = numbers(bank.forward(Batch::Frames(all.clone())).unwrap().z);
        let alone = bank.forward(Batch::Frames(all.clone().narrow(0, 5, 1))).unwrap().z;
        let off = difference(&numbers(alone), &together[5 * 8..6 * 8]);
        assert!(off < 1e-5, "{off}");
        // The network's own vectors, and what is encoded of them, have the same bits.
        let vectors = |batch| bank.backbone(Batch::Frames(batch)).unwrap();
        let (all, one) = (vectors(all.clone()), vectors(all.narrow(0, 5, 1)));
        assert_eq!(numbers(all.clone().narrow(0, 5, 1)), numbers(one.clone()));
        let (all, one) = (bank.after_backbone_alike(&all).unwrap(), bank.after_backbone_alike(&one).unwrap());
        assert_eq!(numbers(all.z.narrow(0, 5, 1)), numbers(one.z));
        assert_eq!(numbers(all.logits.narrow(0, 5, 1)), numbers(one.logits));
    }
    // So have samples of several frames, of more than one group, and of given features.
    for config in [pictures(Network::Cnn, 3, 16, Pooling::Order), given(300, Some(256)), given(7, None)] {
        let bank = config.init_on(2, &device).unwrap();
        let count = config.encoder.frames();
        let width = match config.encoder {
            EncoderConfig::Frames { network, .. } => network.width(),
            EncoderConfig::Given { width, .. } => width,
        };
        let mut random = fastrand::Rng::with_seed(6);
        let values: Vec<f32> = (0..90 * count * width).map(|_| random.f32()).collect();
        let all = Tensor::<2>::from_data(TensorData::new(values, [90 * count, width]), &device);
        let together = bank.after_backbone_alike(&all).unwrap();
        for (first, samples) in [(0, 1), (70, 1), (3, 40), (0, 90), (60, 9)] {
            let part = bank.after_backbone_alike(&all.clone().narrow(0, first * count, samples * count)).unwrap();
            assert_eq!(numbers(part.z), numbers(together.z.clone().narrow(0, first, samples)));
            assert_eq!(numbers(part.logits), numbers(together.logits.clone().narrow(0, first, samples)));
        }
    }
}

/// Two steps of Adam.
fn trained(config: &LeafBankConfig, bank: LeafBank) -> LeafBank {
    let mut bank = bank.train();
    let mut adam = AdamConfig::new().init();
    let labels = [Some(true), Some(false), None, Some(false), Some(true), Some(true)];
    for _ in 0..2 {
        let answer = bank.forward(frames(config, 2, &bank.tensors())).unwrap();
        let targets = Targets::new(&labels, 3, &bank.tensors()).unwrap();
        let gradients = cross_entropy(answer.logits, &targets, None).backward();
        let gradients = GradientsParams::from_grads(gradients, &bank);
        bank = adam.step(1e-2, bank, gradients);
    }
    bank.valid()
}

#[test]
fn training_changes_what_it_may() {
    let device = Device::flex();
    let config = pictures(Network::Resnet18, 2, 32, Pooling::Order);
    let tensors = |bank: &LeafBank| -> Vec<(String, Vec<f32>)> {
        let bytes = bank.encoder_bytes().unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let mut names: Vec<&str> = file.names();
        names.sort_unstable();
        names.into_iter().map(|name| (name.to_owned(), tensor(&file, name))).collect()
    };
    for freeze in [true, false] {
        let bank = config.init_on(3, &device).unwrap();
        let bank = if freeze { bank.frozen() } else { bank };
        let before = tensors(&bank);
        let heads = bank.head_bytes().unwrap();
        let after = trained(&config, bank);
        assert_ne!(after.head_bytes().unwrap(), heads);
        for ((name, before), (_, after)) in before.iter().zip(&tensors(&after)) {
            assert_eq!(before == after, freeze && name.starts_with("backbone."), "{name} with freeze = {freeze}");
        }
    }
}

#[test]
fn given_features_are_projected_or_z_themselves() {
    let device = Device::flex();
    let input = || Tensor::<2>::from_data(TensorData::new(vec![1.0_f32, -2.0, 3.0, 0.5, 0.25, -1.0], [2, 3]), &device);
    let plain = given(3, None).init_on(1, &device).unwrap();
    assert_eq!(numbers(plain.forward(Batch::Given(input())).unwrap().z), numbers(input()));
    let projected = given(3, Some(5)).init_on(1, &device).unwrap().forward(Batch::Given(input())).unwrap();
    assert_eq!((projected.z.dims(), projected.logits.dims()), ([2, 5], [2, 1]));
    assert!(numbers(projected.z).iter().all(|value| *value >= 0.0));
    let message = |batch| plain.forward(batch).unwrap_err().to_string();
    assert_eq!(message(Batch::Frames(Tensor::zeros([1, 3, 32, 32], &device))), "expected given features, got frames");
    assert_eq!(message(Batch::Given(input().slice([0..2, 0..2]))), "expected samples of shape [3], got [2]");
    let error = plain.clone().with_stored_weights(stored("w.pth", b"")).unwrap_err().to_string();
    assert_eq!(
        error,
        "expected resnet18 or mobilenet_v2 for the weights in `w.pth`, got another encoder\nhint: leave out the weights"
    );
}

#[test]
fn fingerprints_follow_all_that_matters() {
    let device = Device::flex();
    let prints = |config: &LeafBankConfig, seed| {
        let bank = config.init_on(seed, &device).unwrap();
        (bank.encoder_fingerprint().unwrap().hash, bank.bank_fingerprint().unwrap().hash)
    };
    let config = given(3, Some(5));
    let (encoder, bank) = prints(&config, 1);
    assert_eq!(prints(&config, 1), (encoder.clone(), bank.clone()));
    let (other_encoder, other_bank) = prints(&config, 2);
    assert!(other_encoder != encoder && other_bank != bank);
    let renamed = LeafBankConfig { concepts: vec!["dog".to_owned()], ..config };
    let (same_encoder, other_bank) = prints(&renamed, 1);
    assert!(same_encoder == encoder && other_bank != bank);
    // The shape of frames changes no weight, but z.
    let text = |frames, size| {
        let config = pictures(Network::Resnet18, frames, size, Pooling::Mean);
        config.init_on(1, &device).unwrap().encoder_fingerprint().unwrap()
    };
    let (first, second, third) = (text(1, 32), text(2, 32), text(1, 64));
    assert!(first.hash != second.hash && first.hash != third.hash);
    let weights = first.text.lines().last().unwrap();
    assert_eq!(
        first.text,
        format!(
            "chimera encoder 1\nencoder resnet18\ndecoding {}; {}\nnormalisation rgb/255, mean 0.485 0.456 0.406, \
             deviation 0.229 0.224 0.225\nsize 32\nframes 1\npooling mean\nprojection linear 512 -> 8, relu\nfeatures \
             8\n{weights}\n",
            ImageReader::recipe(),
            VideoReader::recipe(),
        )
    );
    assert!(second.text.ends_with(&format!("{weights}\n")));
}

#[test]
fn impossible_banks_are_refused() {
    let message = |config: &LeafBankConfig| config.init_on(1, &Device::flex()).unwrap_err().to_string();
    assert_eq!(
        message(&pictures(Network::Resnet18, 1, 31, Pooling::Mean)),
        "expected a size of pictures from 32 to 4096, got `31`"
    );
    assert_eq!(
        message(&pictures(Network::Resnet18, 0, 32, Pooling::Mean)),
        "expected a number of frames from 1 to 4096, got `0`"
    );
    assert_eq!(
        message(&given(1 << 20, Some(1 << 14))),
        "expected a projection of at most 268435456 weights, got 17179869184\nhint: make z shorter"
    );
    assert_eq!(message(&given(3, Some(0))), "expected a number of features from 1 to 16384, got `0`");
    assert_eq!(
        message(&LeafBankConfig { concepts: Vec::new(), ..given(3, None) }),
        "expected concepts to learn, got none"
    );
}
