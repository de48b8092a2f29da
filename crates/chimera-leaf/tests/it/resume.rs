//! Runs that stop and go on: with batch normalisation, with a frozen network whose vectors are kept, with given features,
//! and after a divergence. Each ends with the bytes of a run that was never stopped, or says why it cannot go on.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chimera_data::dataset::Dataset;
use chimera_data::features::FeatureSource;
use chimera_data::import::{FeaturesImport, TableImport, import_features};
use chimera_leaf::bank::LeafBankConfig;
use chimera_leaf::config::{EncoderChoice, LeafConfig, Weights};
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::encode::Progress;
use chimera_leaf::samples::{Opening, Samples};
use chimera_leaf::stage::{Cached, StageEvent};
use chimera_leaf::train::{EpochRecord, Start, TrainEvent, Trained, Training};

use crate::support::squares::{bytes, run_on, run_with, small, squares};
use safetensors::SafeTensors;

/// Trains without a stop, and with one after an epoch, and holds the results against each other.
fn stop_and_go_on(dataset: &Dataset, config: &LeafConfig, folder: &Path) {
    let whole = run_on(dataset, config, &folder.join("whole"), 1, None).unwrap();
    assert_eq!(whole.trained.epochs.len(), config.epochs);
    let place = folder.join("stopped");
    let stopped = std::panic::catch_unwind(|| run_on(dataset, config, &place, 2, Some(1)).map(|_| ()));
    assert!(stopped.is_err());
    let resumed = run_on(dataset, config, &place, 2, None).unwrap();
    assert_eq!(resumed.trained.resumed_after, Some(1));
    assert!(bytes(&whole) == bytes(&resumed), "stopped and gone on");
    let results = |epochs: &[EpochRecord]| -> Vec<(u64, Option<u64>)> {
        let held_out = |epoch: &EpochRecord| epoch.held_out.as_ref().map(|held_out| held_out.loss.to_bits());
        epochs.iter().map(|epoch| (epoch.loss.to_bits(), held_out(epoch))).collect()
    };
    assert_eq!(results(&whole.trained.epochs), results(&resumed.trained.epochs));
    assert!(results(&whole.trained.epochs).iter().all(|(_, held_out)| held_out.is_some()));
    // The first part counts too.
    let seconds: f64 = resumed.trained.epochs.iter().map(|epoch| epoch.seconds).sum();
    assert!(resumed.seconds[1] >= seconds && resumed.trained.epochs[0].seconds > 0.0);
}

fn resnet18() -> LeafConfig {
    let encoder = Some(EncoderChoice::Resnet18);
    let weights = Some(Weights::Untrained);
    LeafConfig { encoder, weights, size: Some(32), features: 8, epochs: 3, batch: 8, patience: 9, ..small() }
}

/// A file of weights: a network as the seed makes it.
fn weights(dataset: &Dataset, config: &LeafConfig, folder: &Path) -> PathBuf {
    let config = LeafConfig { weights: Some(Weights::Untrained), freeze: false, ..config.clone() };
    let concepts = dataset.table().concepts.clone();
    let bank = LeafBankConfig { encoder: config.encoder_for(dataset).unwrap(), concepts };
    let path = folder.join("weights.safetensors");
    fs::write(&path, bank.init(77, &DeviceChoice::Cpu.open().unwrap()).unwrap().encoder_bytes().unwrap()).unwrap();
    path
}

#[test]
fn batch_normalisation_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 36, false);
    stop_and_go_on(&dataset, &resnet18(), folder.path());
}

/// A row that would be alone in the last batch joins the one before it, and statistics of one row are refused.
#[test]
fn batch_normalisation_never_sees_a_row_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 36, false);
    let rows = dataset.train().unwrap().len();
    let steps = |config: &LeafConfig, name: &str| {
        let most = Mutex::new(0);
        let stage = run_with(&dataset, config, &folder.path().join(name), 2, &|event| {
            if let StageEvent::Training(TrainEvent::Step { steps, .. }) = event {
                *most.lock().unwrap() = steps;
            }
        });
        (stage, most.into_inner().unwrap())
    };
    let config = LeafConfig { batch: rows - 1, epochs: 6, ..resnet18() };
    let (stage, count) = steps(&config, "together");
    assert_eq!(count, 1);
    let bytes = stage.unwrap().trained.bank.encoder_bytes().unwrap();
    let encoder = SafeTensors::deserialize(&bytes).unwrap();
    // 32 pixels are 1 x 1 in the last layer: a row alone has no variance there, and six of them leave 0.9^6 = 0.53.
    let last = encoder.tensor("backbone.layer4.1.bn1.running_var").unwrap();
    let variances: Vec<f32> = last.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    assert!(variances.iter().all(|variance| variance.is_finite() && *variance > 0.5), "{variances:?}");
    let (_, count) = steps(&LeafConfig { encoder: Some(EncoderChoice::Cnn), weights: None, ..config }, "cnn");
    assert_eq!(count, 2);
    let error = steps(&LeafConfig { batch: 1, ..resnet18() }, "one").0.unwrap_err().to_string();
    assert!(error.starts_with("expected `batch` of at least 2 for resnet18"), "{error}");
    let error = steps(&LeafConfig { train_frac: 0.01, ..resnet18() }, "few").0.unwrap_err().to_string();
    assert!(error.starts_with("expected at least 2 train rows for resnet18"), "{error}");
}

#[test]
fn a_frozen_network_goes_on_with_its_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 36, false);
    let weights = Some(Weights::File(weights(&dataset, &resnet18(), folder.path())));
    let config = LeafConfig { freeze: true, weights, ..resnet18() };
    stop_and_go_on(&dataset, &config, folder.path());

    // The second part had the vectors of the first; another run with the same network has them too, and damage is mended.
    let place = folder.path().join("stopped");
    let chunk = |cache: &str| -> PathBuf {
        let folders = fs::read_dir(place.join("cache").join(cache)).unwrap();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
        let mut paths = files.map(|file| file.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|ending| ending == "encoded" || ending == "frames")).unwrap()
    };
    let other = LeafConfig { rate: 1e-4, ..config };
    let events = |config: &LeafConfig| {
        let (computed, set_aside) = (Mutex::new(0), Mutex::new(Vec::new()));
        fs::remove_file(place.join("checkpoint.safetensors")).unwrap();
        run_with(&dataset, config, &place, 2, &|event| match event {
            StageEvent::Training(TrainEvent::Vectors(Progress::Encoding { total, .. })) => {
                *computed.lock().unwrap() = total;
            }
            StageEvent::SetAside { content, files } => set_aside.lock().unwrap().push((content, files.to_vec())),
            _ => {}
        })
        .unwrap();
        (computed.into_inner().unwrap(), set_aside.into_inner().unwrap())
    };
    assert_eq!(events(&other), (0, Vec::new()));
    for cache in ["frames", "vectors", "encoded"] {
        fs::write(chunk(cache), "x").unwrap();
    }
    let (computed, set_aside) = events(&other);
    let contents: Vec<Cached> = set_aside.iter().map(|(content, _)| *content).collect();
    // The first chunk found may be one of another run's z.
    assert!(contents.starts_with(&[Cached::Frames, Cached::Vectors]), "{contents:?}");
    assert!(computed > 0 && set_aside.iter().all(|(_, files)| files.len() == 1 && files[0].exists()));
}

/// Vectors that were kept and those computed in each epoch give the same bytes, and pictures that change have none.
#[test]
fn kept_vectors_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 30, false);
    for choice in [EncoderChoice::Resnet18, EncoderChoice::MobilenetV2] {
        let config = LeafConfig { encoder: Some(choice), epochs: 2, ..resnet18() };
        let weights = Some(Weights::File(weights(&dataset, &config, folder.path())));
        let config = LeafConfig { freeze: true, weights, ..config };
        let encoder = config.encoder_for(&dataset).unwrap();
        let threads = NonZeroUsize::new(2).unwrap();
        let opening = Opening { cache: &folder.path().join("frames"), threads, strict: true };
        let samples = Samples::open(&dataset, &encoder, opening, &|_| {}).unwrap();
        let train = |config: &LeafConfig, name: &str, vectors: Option<&Path>| -> Trained {
            let training = Training {
                config,
                encoder,
                samples: &samples,
                start: Start::Anew(&|| Ok(())),
                vectors,
                checkpoint: &folder.path().join(name),
                log: &folder.path().join("train.jsonl"),
                device: DeviceChoice::Cpu.open().unwrap(),
                threads,
            };
            training.run(&mut |_| {}).unwrap()
        };
        let cache = folder.path().join(format!("{choice:?}"));
        let (kept, computed) = (train(&config, "kept", Some(&cache)), train(&config, "computed", None));
        assert_eq!(kept.vectors.as_ref().map(|vectors| vectors.computed()), Some(30));
        assert!(computed.vectors.is_none());
        assert!(kept.bank.encoder_bytes().unwrap() == computed.bank.encoder_bytes().unwrap(), "{choice:?}");
        assert!(kept.bank.head_bytes().unwrap() == computed.bank.head_bytes().unwrap(), "{choice:?}");
        let held_out = |trained: &Trained| trained.epochs.iter().map(|e| e.held_out.clone()).collect::<Vec<_>>();
        assert_eq!(held_out(&kept), held_out(&computed));
        let again = train(&LeafConfig { seed: 4, ..config.clone() }, "again", Some(&cache));
        assert_eq!(again.vectors.as_ref().map(|vectors| vectors.computed()), Some(0));
        let changed = train(&LeafConfig { augment: true, ..config }, "changed", Some(&cache));
        assert!(changed.vectors.is_none());
    }
}

/// Features with means and deviations far from 0 and 1, as a dataset; those of calibration rows may be something else.
fn features(folder: &Path, count: usize, calibration: Option<f32>) -> Dataset {
    let mut random = fastrand::Rng::with_seed(8);
    let (mut table, mut numbers) = (String::from("id,split,red\n"), Vec::new());
    for number in 0..count {
        let red = random.bool();
        let split = ["train", "train", "train", "calibration", "test"][number % 5];
        table += &format!("s{number},{split},{}\n", u8::from(red));
        if let Some(number) = calibration.filter(|_| split == "calibration") {
            numbers.extend([number; 3]);
            continue;
        }
        numbers.extend([100.0 + random.f32() + f32::from(u8::from(red)), 1e-3 * random.f32(), -7.0]);
    }
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, 3), }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    fs::write(folder.join("z.npy"), [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &data].concat()).unwrap();
    fs::write(folder.join("t.csv"), table).unwrap();
    let table = TableImport { table: folder.join("t.csv"), ..TableImport::default() };
    let features = FeatureSource { path: folder.join("z.npy"), array: None };
    import_features(&FeaturesImport { table, features }, &folder.join("ds")).unwrap().dataset
}

#[test]
fn given_features_go_on_with_their_scale() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = features(folder.path(), 60, None);
    for projection in [true, false] {
        let config =
            LeafConfig { projection, features: 8, epochs: 3, batch: 8, patience: 9, weight_decay: 0.01, ..small() };
        stop_and_go_on(&dataset, &config, &folder.path().join(projection.to_string()));
    }
}

/// A held-out row that no number can be given for ends the run with its name, before it gets into a checkpoint.
#[test]
fn held_out_rows_without_numbers_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = features(folder.path(), 60, Some(f32::MAX));
    let config = LeafConfig { batch: 8, ..small() };
    let error = run_on(&dataset, &config, folder.path(), 2, None).unwrap_err().to_string();
    assert!(error.starts_with("expected a finite logit of `red` for the held-out sample `s"), "{error}");
    assert!(!folder.path().join("checkpoint.safetensors").exists());
}

/// The last good epoch is on disk and can be read: the same run goes on from it, one with another rate is told why not.
#[test]
fn after_a_divergence_the_last_good_epoch_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 60, false);
    let config = |rate| LeafConfig { rate, epochs: 6, patience: 6, ..small() };
    let error = run_on(&dataset, &config(1.0), &folder.path().join("first"), 2, None).unwrap_err().to_string();
    assert!(error.starts_with("training diverged in epoch 1: ") && error.contains("smaller `--rate`"), "{error}");
    assert!(error.contains("no epoch was finished before") && !error.contains("--restart"), "{error}");
    // With one step an epoch, the first sees the weights as they were drawn, and the second what that step made of them.
    let (rate, place) = (1.0, folder.path().join("second"));
    let config = |rate| LeafConfig { batch: 64, ..config(rate) };
    let error = run_on(&dataset, &config(rate), &place, 2, None).unwrap_err().to_string();
    assert!(error.contains("has the weights after epoch ") && error.contains("--restart"), "{error}");
    let log = || fs::read_to_string(place.join("train.jsonl")).unwrap();
    let before = log();
    let resumed = Mutex::new(None);
    let again = run_with(&dataset, &config(rate), &place, 1, &|event| {
        if let StageEvent::Training(TrainEvent::Resumed { epoch }) = event {
            *resumed.lock().unwrap() = Some(epoch);
        }
    });
    assert_eq!(again.unwrap_err().to_string(), error);
    assert_eq!(*resumed.lock().unwrap(), Some(before.lines().count()));
    assert_eq!(log(), before);
    let error = run_on(&dataset, &config(1e-3), &place, 2, None).unwrap_err().to_string();
    let expected = format!("another configuration (`rate` was {rate:?} and is 0.001 now)");
    assert!(error.contains(&expected) && error.contains("--restart"), "{error}");
}

#[test]
fn weights_that_are_no_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 36, false);
    let path = weights(&dataset, &resnet18(), folder.path());
    let mut bytes = fs::read(&path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let data = tensors.tensor("backbone.layer2.0.conv1.weight").unwrap().data();
    let at = data.as_ptr().addr() - bytes.as_ptr().addr() + 4 * 5;
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let config = LeafConfig { weights: Some(Weights::File(path.clone())), ..resnet18() };
    let error = run_on(&dataset, &config, folder.path(), 2, None).unwrap_err().to_string();
    let expected = format!(
        "cannot use the weights in `{}`: expected finite numbers in `layer2.0.conv1.weight`, got `NaN` at place 5",
        path.display()
    );
    assert_eq!(error, expected);
}
