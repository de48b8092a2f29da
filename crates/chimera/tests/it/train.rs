//! Training of leaf banks on small datasets made here: it learns what can be learned and nothing where labels are shuffled,
//! goes on exactly where it was stopped, and says what is wrong.

use std::fs;
use std::path::Path;

use chimera::model::{self, Model};
use chimera_data::dataset::Dataset;
use chimera_data::import::{ImportOptions, MnistImport, import_mnist};
use chimera_leaf::config::LeafConfig;
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::pool::Pooling;
use chimera_leaf::stage::{LeafStage, MeasuredOn};
use chimera_leaf::train::StopReason;

use crate::support::squares::{bytes, run_on, small, squares};

#[test]
fn squares_are_learned_and_shuffled_labels_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let mean = |shuffle: bool| {
        let place = folder.path().join(format!("{shuffle}"));
        let dataset = squares(&place, 500, shuffle);
        let stage = run_on(&dataset, &small(), &place, 2, None).unwrap();
        let (on, leaves) = stage.leaves.unwrap();
        assert_eq!(on, MeasuredOn::Test);
        leaves.means().auroc.mean.unwrap()
    };
    let (right, shuffled) = (mean(false), mean(true));
    assert!(right > 0.97, "{right}");
    // 100 test rows, two concepts: five standard errors of 0.058 / sqrt(2) each.
    assert!((shuffled - 0.5).abs() < 0.21, "{shuffled}");
}

/// The same bytes at one and two threads, after a stop in the middle, and from a model that was saved.
#[test]
fn a_run_that_was_stopped_goes_on_as_if_it_had_not() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 200, false);
    let config = LeafConfig { epochs: 4, patience: 4, augment: true, pos_weight: Some(5.0), ..small() };
    let place = |name: &str| {
        let place = folder.path().join(name);
        fs::create_dir_all(&place).unwrap();
        place
    };
    let whole = run_on(&dataset, &config, &place("whole"), 1, None).unwrap();
    assert_eq!((whole.trained.epochs.len(), whole.trained.stopped), (4, StopReason::Done));
    let two = run_on(&dataset, &config, &place("two"), 2, None).unwrap();
    assert_eq!(bytes(&whole), bytes(&two), "one and two threads");
    let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    let rows: Vec<usize> = (0..200).collect();
    for &row in &rows {
        assert_eq!(bits(whole.encoded.z(row).unwrap()), bits(two.encoded.z(row).unwrap()), "z of row {row}");
    }
    assert_eq!(bits(&whole.encoded.logits(&rows).unwrap()), bits(&two.encoded.logits(&rows).unwrap()));
    assert_eq!((&whole.calibration, whole.encoded.encoded()), (&two.calibration, 200));
    let stopped = std::panic::catch_unwind(|| run_on(&dataset, &config, &place("stopped"), 2, Some(2)).map(|_| ()));
    assert!(stopped.is_err());
    let resumed = run_on(&dataset, &config, &place("stopped"), 2, None).unwrap();
    assert_eq!(resumed.trained.resumed_after, Some(2));
    assert_eq!(bytes(&whole), bytes(&resumed), "stopped and gone on");
    let losses = |stage: &LeafStage| stage.trained.epochs.iter().map(|epoch| epoch.loss.to_bits()).collect::<Vec<_>>();
    assert_eq!(losses(&whole), losses(&resumed));
    assert_eq!(fs::read_to_string(folder.path().join("stopped/train.jsonl")).unwrap().lines().count(), 4);

    // Another configuration does not go on from this checkpoint.
    let other = LeafConfig { rate: 1e-3, ..config.clone() };
    let error = run_on(&dataset, &other, &place("stopped"), 2, None).unwrap_err().to_string();
    assert!(error.contains("(`rate` was 0.003 and is 0.001 now)") && error.contains("--restart"), "{error}");

    let out = place("model");
    let manifest = model::write(&out, &dataset, &config, &whole, None).unwrap();
    let opened = Model::open(&out, &DeviceChoice::Cpu.open().unwrap()).unwrap();
    assert_eq!(opened.bank.encoder_bytes().unwrap(), bytes(&whole)[0]);
    assert_eq!(opened.bank.encoder_fingerprint().unwrap().hash, manifest.encoder.hash);
    assert_eq!(opened.calibration, whole.calibration);
    // What was trained at one size is not used at another.
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    let (bank, rest) = manifest.split_at(manifest.find("\"bank\"").unwrap());
    fs::write(out.join("manifest.json"), format!("{bank}{}", rest.replacen("\"size\": 24", "\"size\": 32", 1)))
        .unwrap();
    let error = Model::open(&out, &DeviceChoice::Cpu.open().unwrap()).unwrap_err().to_string();
    assert!(error.contains("as it was trained with `size 24`, got `size 32`"), "{error}");
    fs::write(out.join("manifest.json"), manifest).unwrap();
    fs::write(out.join("heads.safetensors"), "x").unwrap();
    let error = Model::open(&out, &DeviceChoice::Cpu.open().unwrap()).unwrap_err().to_string();
    assert!(error.contains("heads.safetensors") && error.contains("other content"), "{error}");
}

/// Given features: no pictures are needed, and what cannot be learned from is refused.
#[test]
fn datasets_without_anything_to_look_at_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("dataset.toml"), "name = 'x'\nkind = 'labels'\n").unwrap();
    fs::write(folder.path().join("samples.csv"), "id,red\na,1\nb,0\n").unwrap();
    let dataset = Dataset::open(folder.path()).unwrap();
    let error = run_on(&dataset, &small(), folder.path(), 1, None).unwrap_err().to_string();
    assert!(error.contains("got kind `labels`") && error.contains("--media-root"), "{error}");
    let order = LeafConfig { pooling: Pooling::Order, ..small() };
    assert!(run_on(&dataset, &order, folder.path(), 1, None).is_err());
}

/// Three epochs on a tenth of MNIST's train rows; the whole of it does better still.
#[test]
fn digits_are_recognised() {
    #[expect(clippy::disallowed_methods, reason = "real data is where the user says, and only tests look for it")]
    let folder = std::env::var_os("CHIMERA_DATA").map(|data| Path::new(&data).join("mnist"));
    let Some(source) = folder.filter(|folder| folder.is_dir()) else {
        println!("skipped: CHIMERA_DATA does not name a folder with `mnist`");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let options = ImportOptions { limit: Some(7000), ..ImportOptions::default() };
    let import = MnistImport { folder: source, options };
    let dataset = import_mnist(&import, &folder.path().join("ds")).unwrap().dataset;
    let stage = run_on(&dataset, &LeafConfig::default(), folder.path(), 2, None).unwrap();
    let auroc = stage.leaves.unwrap().1.means().auroc.mean.unwrap();
    assert!(auroc > 0.995, "{auroc}");
}
