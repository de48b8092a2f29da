//! From what a world gives to scores: a dataset folder, a leaf bank, gates, a model, and every method on the test
//! rows, all of it as users do it.

use std::fs::{self, File};
use std::io::BufWriter;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use chimera::gate::config::GateConfig;
use chimera::gate::stage::{self as gates, Material, Place};
use chimera::model;
use chimera::score::engine::{Engine, Scoring};
use chimera::score::method::Method;
use chimera::score::samples::RowsOf;
use chimera_data::dataset::Dataset;
use chimera_data::features::FeatureSource;
use chimera_data::import::{FeaturesImport, TableImport, import_features, import_table};
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::stage::{self as leaves, Workplace};
use chimera_leaf::train::Start;
use chimera_logic::load::load_text;
use chimera_logic::rules::{Rule, RuleSet};
use chimera_logic::truth::Program;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

use super::world::{Content, Drawn, is_normal};

/// The row of what is best possible, where that can be computed.
const BAYES: &str = "bayes";

/// What methods say about the test rows of a dataset.
pub(crate) struct Scored {
    pub(crate) rules: Vec<RuleTruth>,
    /// For each method its name and the probability that each rule is broken, `[rule][row]`; `None` for a rule on
    /// which it cannot tell all rows.
    pub(crate) methods: Vec<(String, Vec<Option<Vec<f64>>>)>,
    /// What took how long, in seconds.
    pub(crate) seconds: Vec<(String, f64)>,
    /// The mean AUROC of concepts.
    pub(crate) concepts: Option<f64>,
}

/// A rule, and which test rows break it.
pub(crate) struct RuleTruth {
    pub(crate) name: String,
    pub(crate) family: String,
    pub(crate) broken: Vec<bool>,
}

/// Writes a dataset, trains a model on it and asks every method.
pub(crate) fn run(
    drawn: Drawn,
    (seed, gated): (u64, bool),
    methods: &[(&str, Method)],
    threads: NonZeroUsize,
) -> Scored {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut clock = Clock::start();
    let dataset = write(&drawn, folder);
    let rule_set = load_text("quality", drawn.rules.text, dataset.table().vocabulary()).rule_set;
    let rules = truths(&dataset, &drawn, &rule_set);
    clock.stop("data");

    let (cache, model) = (folder.join("cache"), folder.join("model"));
    let device = DeviceChoice::Cpu.open().expect("the processor");
    let gate_folder = model.join(model::GATES);
    fs::create_dir_all(&gate_folder).expect("a folder");
    let workplace = Workplace {
        cache: &cache,
        start: Start::GoOn,
        checkpoint: &model.join(model::CHECKPOINT),
        log: &model.join(model::LOG),
        device: device.clone(),
        threads,
        strict: true,
    };
    let leaf = leaves::run(&dataset, &drawn.leaf, &workplace, &|_| {}).expect("a leaf bank");
    clock.stop("leaf bank");

    let rows = leaf.encoded.present(&dataset.train().expect("train rows"));
    let (bank, encoded) = (&leaf.trained.bank, &leaf.encoded);
    let material = Material { dataset: &dataset, rows: &rows, bank, encoded };
    let place = Place { cache: &cache, gates: Some(&gate_folder), threads, retrain: false, device: &device };
    let config = GateConfig { seed, ..GateConfig::default() };
    let taught = gates::run(material, &rule_set, &config, place, &|_| {}).expect("gates");
    model::write(&model, &dataset, &drawn.leaf, &leaf, Some((&rule_set, &taught))).expect("a model");
    let mut engine = Engine::open(&model, &device, threads).expect("the model");
    clock.stop("gates");

    let mut scored: Vec<(String, Vec<Option<Vec<f64>>>)> = Vec::new();
    for &(name, method) in methods {
        engine.teach(method, (&dataset, encoded), Place { gates: None, ..place }, &|_| {}).expect(name);
        scored.push((name.to_owned(), violations(&engine, (method, gated), (&dataset, encoded), threads)));
        clock.stop(name);
    }
    let bayes = drawn.bayes.map(|bayes| (BAYES.to_owned(), bayes.into_iter().map(Some).collect()));
    scored.extend(bayes);
    let concepts = leaf.leaves.as_ref().and_then(|(_, leaves)| leaves.means().auroc.mean);
    Scored { rules, methods: scored, seconds: clock.seconds, concepts }
}

/// The truth of every rule on the test rows. No row that is learned from may break one.
fn truths(dataset: &Dataset, drawn: &Drawn, rule_set: &RuleSet) -> Vec<RuleTruth> {
    let labels = &dataset.table().labels;
    for (row, (split, drawn)) in drawn.rows.iter().enumerate() {
        assert_eq!(dataset.splits()[row], *split, "rows are in their order");
        assert!(drawn.iter().enumerate().all(|(concept, shown)| labels.get(row, concept) == Some(*shown)), "row {row}");
    }
    let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(labels);
    let broken = |row: usize, rule: usize| truth.get(row, rule) == Some(false);
    let normal = (0..dataset.splits().len()).filter(|&row| is_normal(dataset.splits()[row]));
    for row in normal {
        assert!((0..rule_set.rules.len()).all(|rule| !broken(row, rule)), "row {row} breaks a rule");
    }
    let of_rule = |(number, rule): (usize, &Rule)| RuleTruth {
        name: rule.name.clone(),
        family: rule_set.family(rule).to_string(),
        broken: dataset.test().numbers().iter().map(|&row| broken(row, number)).collect(),
    };
    rule_set.rules.iter().enumerate().map(of_rule).collect()
}

/// How likely each rule is broken on each test row, by a method.
fn violations(
    engine: &Engine,
    (method, gated): (Method, bool),
    (dataset, encoded): (&Dataset, &EncodedRows),
    threads: NonZeroUsize,
) -> Vec<Option<Vec<f64>>> {
    let ready = engine.ready(Scoring { method, ..Scoring::default() }, None, threads).expect("ready");
    let test = dataset.test();
    let samples = RowsOf { encoded, numbers: test.numbers() };
    let mut broken = vec![Some(Vec::with_capacity(test.len())); engine.rules().count()];
    let scored = ready.score(&samples, threads, &mut |_, scores| {
        let scores = if gated { scores.s } else { scores.p.into_iter().map(|p| p.map(|p| 1.0 - p)).collect() };
        for (broken, score) in broken.iter_mut().zip(scores) {
            match score {
                Some(score) => broken.iter_mut().for_each(|broken| broken.push(score)),
                None => *broken = None,
            }
        }
        Ok(())
    });
    scored.expect("scores");
    broken
}

/// Writes what was drawn into files as a user would have them, and imports these.
fn write(drawn: &Drawn, folder: &Path) -> Dataset {
    let has_media = matches!(drawn.content, Content::Pictures(..));
    let mut table = format!("id,{}split,{}\n", if has_media { "media," } else { "" }, drawn.rules.concepts.join(","));
    for (number, (split, labels)) in drawn.rows.iter().enumerate() {
        let cells: Vec<&str> = labels.iter().map(|&shown| if shown { "1" } else { "0" }).collect();
        let media = if has_media { format!("{number:05}.png,") } else { String::new() };
        table += &format!("s{number:05},{media}{split},{}\n", cells.join(","));
    }
    let path = folder.join("samples.csv");
    fs::write(&path, table).expect("a table");
    let mut import = TableImport { table: path, ..TableImport::default() };
    let out = folder.join("dataset");
    let imported = match &drawn.content {
        Content::Features(width, values) => {
            let path = folder.join("features.npy");
            fs::write(&path, npy(*width, values)).expect("features");
            import_features(&FeaturesImport { table: import, features: FeatureSource { path, array: None } }, &out)
        }
        Content::Pictures(side, pixels) => {
            let media = folder.join("media");
            fs::create_dir(&media).expect("a folder");
            for (number, picture) in pixels.chunks_exact(side * side).enumerate() {
                let file = BufWriter::new(File::create(media.join(format!("{number:05}.png"))).expect("a file"));
                let png = PngEncoder::new_with_quality(file, CompressionType::Fast, FilterType::NoFilter);
                png.write_image(picture, *side as u32, *side as u32, ExtendedColorType::L8).expect("a picture");
            }
            (import.media_root, import.size) = (Some(media), Some([*side as u32; 2]));
            import_table(&import, &out)
        }
    };
    imported.expect("a dataset").dataset
}

/// An array of numpy's format, version 1.
fn npy(width: usize, values: &[f32]) -> Vec<u8> {
    let rows = values.len() / width;
    let head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {width}), }}\n");
    let length = u16::try_from(head.len()).expect("a short head").to_le_bytes();
    let numbers = values.iter().flat_map(|value| value.to_le_bytes());
    b"\x93NUMPY\x01\x00".iter().copied().chain(length).chain(head.into_bytes()).chain(numbers).collect()
}

/// What takes how long.
struct Clock {
    since: Instant,
    seconds: Vec<(String, f64)>,
}

impl Clock {
    fn start() -> Self {
        Self { since: Instant::now(), seconds: Vec::new() }
    }

    /// What was done since the last call has a name now.
    fn stop(&mut self, what: &str) {
        self.seconds.push((what.to_owned(), self.since.elapsed().as_secs_f64()));
        self.since = Instant::now();
    }
}
