//! An evaluation of 35 rules by 10 methods at 3 seeds on ready-made features: how much of the time goes into intervals.
//!
//!     cargo bench -p chimera-detect --bench eval

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera::eval::{self, Asked};
use chimera::gate::config::GateConfig;
use chimera::gate::stage::{self as gates, Material, Place};
use chimera::model;
use chimera::score::method::Method;
use chimera_data::dataset::Dataset;
use chimera_data::features::FeatureSource;
use chimera_data::import::{FeaturesImport, TableImport, import_features};
use chimera_leaf::config::LeafConfig;
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::stage::{self as leaves, Workplace};
use chimera_leaf::train::Start;
use chimera_logic::load::load_text;

const CONCEPTS: usize = 20;
const WIDTH: usize = 64;
const TRAIN: usize = 3000;
const TEST: usize = 2000;
const RULES: usize = 35;
const SEEDS: NonZeroUsize = NonZeroUsize::new(3).unwrap();

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let threads = std::thread::available_parallelism().expect("a number of threads");
    let dataset = dataset(folder);
    let text: String = (0..RULES)
        .map(|rule| {
            let concept = |at: usize| (rule * 7 + at * 5) % CONCEPTS;
            format!("r{rule}: c{} & c{} => c{} | c{}\n", concept(0), concept(1), concept(2), concept(3))
        })
        .collect();
    let rule_set = load_text("eval", &text, dataset.table().vocabulary()).rule_set;
    let (cache, place) = (folder.join("cache"), folder.join("model"));
    let device = DeviceChoice::Cpu.open().expect("the processor");
    let gate_folder = place.join(model::GATES);
    fs::create_dir_all(&gate_folder).expect("a folder");
    let config = LeafConfig { projection: false, ..LeafConfig::default() };
    let workplace = Workplace {
        cache: &cache,
        start: Start::GoOn,
        checkpoint: &place.join(model::CHECKPOINT),
        log: &place.join(model::LOG),
        device: device.clone(),
        threads,
        strict: true,
    };
    let leaf = leaves::run(&dataset, &config, &workplace, &|_| {}).expect("a leaf bank");
    let rows = leaf.encoded.present(&dataset.train().expect("train rows"));
    let (bank, encoded) = (&leaf.trained.bank, &leaf.encoded);
    let material = Material { dataset: &dataset, rows: &rows, bank, encoded };
    let where_to = Place { cache: &cache, gates: Some(&gate_folder), threads, retrain: false, device: &device };
    let taught = gates::run(material, &rule_set, &GateConfig::default(), where_to, &|_| {}).expect("gates");
    model::write(&place, &dataset, &config, &leaf, Some((&rule_set, &taught))).expect("a model");

    let methods = Method::ALL.iter().map(|(_, method)| *method).filter(|method| *method != Method::Oracle).collect();
    let asked = Asked {
        model: &place,
        dataset: &dataset,
        training: None,
        rule_set: None,
        methods,
        seeds: SEEDS,
        refit_leaf: false,
        weights: None,
        mined: &[],
        cache: &cache,
        device: device.clone(),
        threads,
    };
    let evaluation = eval::run(&asked, &|_| {}).expect("an evaluation");
    let all: f64 = evaluation.seconds.iter().map(|part| part.seconds).sum();
    let resampling = evaluation.seconds.iter().find(|part| part.what == "resampling").map_or(0.0, |part| part.seconds);
    println!("{RULES} rules x {} methods x {SEEDS} seeds on {TEST} test rows:", evaluation.present().count());
    println!("  {all:.1} s, of which intervals {resampling:.1} s ({:.1} %)", 100.0 * resampling / all);
}

/// Concepts that each add a direction of their own to noise.
fn dataset(folder: &Path) -> Dataset {
    let mut random = fastrand::Rng::with_seed(1);
    let directions: Vec<f32> = (0..CONCEPTS * WIDTH).map(|_| random.f32() - 0.5).collect();
    let names: Vec<String> = (0..CONCEPTS).map(|concept| format!("c{concept}")).collect();
    let (mut table, mut values) = (format!("id,split,{}\n", names.join(",")), Vec::new());
    for row in 0..TRAIN + TEST {
        let labels: Vec<bool> = (0..CONCEPTS).map(|_| random.u8(..3) == 0).collect();
        let cells: Vec<&str> = labels.iter().map(|&label| if label { "1" } else { "0" }).collect();
        table += &format!("s{row:05},{},{}\n", if row < TRAIN { "train" } else { "test" }, cells.join(","));
        for at in 0..WIDTH {
            let shown =
                (0..CONCEPTS).filter(|&concept| labels[concept]).map(|concept| directions[concept * WIDTH + at]);
            values.push(shown.sum::<f32>() + random.f32());
        }
    }
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {WIDTH}), }}\n", TRAIN + TEST);
    let length = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let path = folder.join("z.npy");
    fs::write(&path, [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), &bytes].concat()).expect("features");
    fs::write(folder.join("samples.csv"), table).expect("a table");
    let table = TableImport { table: folder.join("samples.csv"), ..TableImport::default() };
    let import = FeaturesImport { table, features: FeatureSource { path, array: None } };
    import_features(&import, &folder.join("ds")).expect("a dataset").dataset
}
