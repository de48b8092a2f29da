//! z and scores of a sample do not depend on its batch, on its neighbours or on the number of threads, for any encoder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use chimera::gate::config::GateConfig;
use chimera::score::engine::{Engine, Scoring};
use chimera::score::method::Method;
use chimera::score::pass::{Event, Pass};
use chimera::train::{Lesson, run as train};
use chimera_data::dataset::Dataset;
use chimera_data::features::FeatureSource;
use chimera_data::import::{FeaturesImport, TableImport, import_features};
use chimera_leaf::config::{EncoderChoice, LeafConfig, Weights};
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::pool::Pooling;
use chimera_leaf::stage::Workplace;
use chimera_leaf::stream::{Sources, Stream};
use chimera_leaf::train::Start;
use chimera_logic::load::load_text;

use crate::support::squares::squares;

/// More than go through a network at a time, and no multiple of it.
const SAMPLES: usize = 90;

/// More than rules are asked about at a time.
const MANY: usize = 1_100;

const METHODS: [Method; 2] = [Method::IndepCal, Method::Chimera];

/// Every bit that is known of a sample: z, logits, probabilities and scores of rules, the anomaly.
type Bits = Vec<u64>;

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// Pictures as videos of three frames, each a picture of the dataset: its own, the next and the one after that.
fn videos(of: &Path, folder: &Path) -> Dataset {
    let table = fs::read_to_string(of.join("samples.csv")).unwrap();
    for number in 0..SAMPLES {
        let place = folder.join(format!("media/{number}"));
        fs::create_dir_all(&place).unwrap();
        for frame in 0..3 {
            let picture = of.join(format!("media/{}.png", (number + frame) % SAMPLES));
            fs::copy(picture, place.join(format!("{frame}.png"))).unwrap();
        }
    }
    fs::write(folder.join("samples.csv"), table.replace(".png,", ",")).unwrap();
    fs::write(
        folder.join("dataset.toml"),
        "name = 'moving squares'\nkind = 'video'\nmedia-root = 'media'\nsize = [24, 24]\nframes = 3\n",
    )
    .unwrap();
    Dataset::open(folder).unwrap()
}

/// So many vectors of seven numbers, of which two say what is there.
fn vectors(folder: &Path, count: usize) -> Dataset {
    fs::create_dir_all(folder).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let (mut table, mut numbers) = (String::from("id,split,red,blue\n"), Vec::new());
    for row in 0..count {
        let labels = [random.bool(), random.bool()].map(u8::from);
        let split = ["train", "train", "calibration", "test"][row % 4];
        table += &format!("s{row:04},{split},{},{}\n", labels[0], labels[1]);
        let seen = labels.map(f32::from).into_iter().chain([0.0; 5]);
        numbers.extend(seen.flat_map(|mean| (mean + random.f32() - 0.4).to_le_bytes()));
    }
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, 7), }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    fs::write(folder.join("t.csv"), table).unwrap();
    let file = [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), &numbers].concat();
    fs::write(folder.join("z.npy"), file).unwrap();
    let import = FeaturesImport {
        table: TableImport { table: folder.join("t.csv"), ..TableImport::default() },
        features: FeatureSource { path: folder.join("z.npy"), array: None },
    };
    import_features(&import, &folder.join("ds")).unwrap().dataset
}

/// Bits of samples by their rows, given in this order to a stream and a pass.
fn told(
    engine: &Engine,
    scoring: Scoring,
    dataset: &Dataset,
    rows: &[usize],
    count: usize,
) -> BTreeMap<usize, Vec<Bits>> {
    let threads = threads(count);
    let stream = Stream::open(&engine.model.bank, Sources::Rows { dataset, rows }, None, threads).unwrap();
    let mut all: BTreeMap<usize, Vec<Bits>> = BTreeMap::new();
    let (stop, [width, concepts]) = (AtomicBool::new(false), stream.widths());
    let mut known = Vec::new();
    stream
        .run(&stop, &mut |part| {
            for (place, &sample) in part.samples.iter().enumerate() {
                let z = part.z[place * width..][..width].iter();
                let logits = part.logits[place * concepts..][..concepts].iter();
                known.push((sample, z.chain(logits).map(|number| u64::from(number.to_bits())).collect::<Bits>()));
            }
            Ok(())
        })
        .unwrap();
    let ready = engine.ready(scoring, None, threads).unwrap();
    let pass = Pass { ready: &ready, stream: &stream, threads, stop: &stop };
    pass.run(&mut |event| {
        if let Event::Scored(sample, scores) = event {
            let numbers = scores.p.iter().chain(&scores.s).chain([&scores.anomaly]);
            let scored = numbers.map(|number| number.unwrap().to_bits());
            known.iter_mut().find(|(other, _)| *other == sample).unwrap().1.extend(scored);
        }
        Ok(())
    })
    .unwrap();
    for (sample, bits) in known {
        assert_eq!(bits.len(), width + concepts + 2 * engine.rules().count() + 1);
        all.entry(rows[sample]).or_default().push(bits);
    }
    all
}

fn alone_and_among_others(dataset: &Dataset, leaf: &LeafConfig, folder: &Path, methods: &[Method]) {
    let samples = dataset.table().ids.len();
    let model = folder.join("model");
    fs::create_dir_all(&model).unwrap();
    let device = DeviceChoice::Cpu.open().unwrap();
    let workplace = Workplace {
        cache: &folder.join("cache"),
        start: Start::GoOn,
        checkpoint: &model.join("checkpoint.safetensors"),
        log: &model.join("train.jsonl"),
        device: device.clone(),
        threads: threads(2),
        strict: true,
    };
    let text = "either: red | blue\nboth: (red => blue) & (blue => red)\n";
    let rules = load_text("r", text, dataset.table().vocabulary()).rule_set;
    let gates = GateConfig { hidden: 8, gate_batch: 16, gate_epochs: 1, ..GateConfig::default() };
    let lesson = Lesson { dataset, rules: Some((&rules, &[])), leaf, gates: &gates, retrain: false };
    let encoded = train(&model, lesson, &workplace, &|_| {}).unwrap().leaf.encoded;
    let engine = Engine::open(&model, &device, threads(1)).unwrap();
    for &method in methods {
        let scoring = Scoring { method, ..Scoring::default() };
        let forwards: Vec<usize> = (0..samples).collect();
        let whole = told(&engine, scoring, dataset, &forwards, 1);
        // As training had it: z and logits alone.
        for (&row, bits) in &whole {
            let z = encoded.z(row).unwrap().iter().chain(encoded.logits_of(row).unwrap());
            let z: Bits = z.map(|number| u64::from(number.to_bits())).collect();
            assert_eq!(bits[0][..z.len()], z, "row {row} in training");
        }
        let different: BTreeSet<&Bits> = whole.values().flatten().collect();
        assert!(different.len() > samples / 2, "samples are told apart");
        let backwards: Vec<usize> = forwards.iter().rev().copied().collect();
        let twice: Vec<usize> = forwards.iter().flat_map(|&row| [row, samples - 1 - row]).collect();
        for (rows, count) in [(&forwards, 3), (&backwards, 1), (&backwards, 2), (&twice, 5)] {
            for (row, bits) in told(&engine, scoring, dataset, rows, count) {
                assert!(bits.iter().all(|bits| *bits == whole[&row][0]), "row {row}, {count} threads");
            }
        }
        for row in [0, 17, 63, 64, samples - 1] {
            for count in [1, 4] {
                let alone = told(&engine, scoring, dataset, &[row], count);
                assert_eq!(alone[&row], [whole[&row][0].clone()], "row {row} alone, {count} threads");
            }
        }
    }
}

#[test]
fn a_picture_is_the_same_alone_and_among_others_for_every_network() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), SAMPLES, false);
    let small = LeafConfig { features: 8, epochs: 1, batch: 16, ..LeafConfig::default() };
    for (name, encoder) in [
        ("cnn", EncoderChoice::Cnn),
        ("resnet18", EncoderChoice::Resnet18),
        ("mobilenet_v2", EncoderChoice::MobilenetV2),
    ] {
        let weights = (encoder != EncoderChoice::Cnn).then_some(Weights::Untrained);
        let leaf = LeafConfig { encoder: Some(encoder), weights, size: Some(32), ..small.clone() };
        alone_and_among_others(&dataset, &leaf, &folder.path().join(name), &METHODS);
    }
}

#[test]
fn a_video_and_a_vector_are_the_same_alone_and_among_others() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().join("ds");
    squares(&pictures, SAMPLES, false);
    let small = LeafConfig { features: 8, epochs: 1, batch: 16, size: Some(24), ..LeafConfig::default() };
    let moving = videos(&pictures, &folder.path().join("videos"));
    for pooling in [Pooling::Mean, Pooling::Order] {
        let leaf = LeafConfig { pooling, ..small.clone() };
        alone_and_among_others(&moving, &leaf, &folder.path().join(pooling.as_str()), &METHODS);
    }
    let given = vectors(&folder.path().join("vectors"), SAMPLES);
    for projection in [true, false] {
        let leaf = LeafConfig { projection, size: None, ..small.clone() };
        alone_and_among_others(&given, &leaf, &folder.path().join(format!("given-{projection}")), &METHODS);
    }
}

#[test]
fn many_samples_have_the_scores_that_each_has_alone_by_methods_over_grafts() {
    let folder = tempfile::tempdir().unwrap();
    let given = vectors(folder.path(), MANY);
    let leaf = LeafConfig { features: 8, epochs: 3, ..LeafConfig::default() };
    alone_and_among_others(&given, &leaf, &folder.path().join("many"), &[Method::Neural, Method::Graft]);
}
