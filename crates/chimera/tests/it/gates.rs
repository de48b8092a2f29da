//! Gates of models: the rows they see, and what they say about pictures that are no clear digits.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera::gate::config::{GateConfig, LeafFeatures, Negatives};
use chimera::gate::report::GateReport;
use chimera::gate::rules::{Root, RuleGates};
use chimera::gate::stage::{self as gates, GateStage, Material, Place};
use chimera_data::dataset::Dataset;
use chimera_data::import::{ImportOptions, MnistImport, import_mnist};
use chimera_data::media::image::{ImageLimits, ImageReader};
use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;
use chimera_gate::pass::probability;
use chimera_leaf::config::LeafConfig;
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::stage::{self, LeafStage, Workplace};
use chimera_leaf::train::Start;
use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;

const THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

fn leaf_stage(dataset: &Dataset, config: &LeafConfig, folder: &Path) -> LeafStage {
    let workplace = Workplace {
        cache: &folder.join("cache"),
        start: Start::GoOn,
        checkpoint: &folder.join("checkpoint.safetensors"),
        log: &folder.join("train.jsonl"),
        device: DeviceChoice::Cpu.open().unwrap(),
        threads: THREADS,
        strict: true,
    };
    stage::run(dataset, config, &workplace, &|_| {}).unwrap()
}

fn rules(dataset: &Dataset, text: &str) -> RuleSet {
    let loaded = load_text("t", text, dataset.table().vocabulary());
    assert_eq!(loaded.diagnostics.errors(), 0);
    loaded.rule_set
}

fn teach(
    dataset: &Dataset,
    leaf: &LeafStage,
    rules: &RuleSet,
    config: &GateConfig,
    (folder, gates): (&Path, Option<&Path>),
) -> GateStage {
    let rows = leaf.encoded.present(&dataset.train().unwrap());
    let material = Material { dataset, rows: &rows, bank: &leaf.trained.bank, encoded: &leaf.encoded };
    let device = DeviceChoice::Cpu.open().unwrap();
    let place = Place { cache: &folder.join("cache"), gates, threads: THREADS, retrain: false, device: &device };
    gates::run(material, rules, config, place, &|_| {}).unwrap()
}

/// The probability of each rule on each row.
fn scores(gates: &RuleGates, encoded: &EncodedRows, rows: &[usize]) -> Vec<Vec<f32>> {
    let z: Vec<f32> = rows.iter().flat_map(|&row| encoded.z(row).unwrap().to_vec()).collect();
    let features = (z.as_slice(), z.len() / rows.len());
    let logits = gates.logits(&features, 0..rows.len());
    let of_rule = |rule: usize| {
        let Root::Gate(place) = gates.roots[rule] else { panic!("a gate") };
        let flip = if gates.rule_set.rules[rule].root.is_negated() { -1.0 } else { 1.0 };
        logits.chunks_exact(gates.len()).map(|logits| probability(flip * logits[place])).collect()
    };
    (0..gates.roots.len()).map(of_rule).collect()
}

fn mean(numbers: impl Iterator<Item = f32>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0), |(sum, count), number| (sum + f64::from(number), count + 1));
    sum / f64::from(count)
}

/// The share of pairs in which the first is higher.
fn auroc(high: &[f32], low: &[f32]) -> f64 {
    let won = |h: &f32| {
        low.iter()
            .map(|l| {
                if h > l {
                    1.0
                } else if h == l {
                    0.5
                } else {
                    0.0
                }
            })
            .sum::<f64>()
    };
    high.iter().map(won).sum::<f64>() / (high.len() * low.len()) as f64
}

/// A quarter turn, or a mean over 7 x 7 pixels.
fn changed(picture: &Picture, turn: bool) -> Picture {
    let (side, pixels) = (picture.size().width(), picture.pixels());
    let mut out = Picture::filled(picture.size(), [0; 3]);
    for row in 0..side {
        for column in 0..side {
            for channel in 0..3 {
                let at = |row: usize, column: usize| u32::from(pixels[3 * (row * side + column) + channel]);
                let value = if turn {
                    at(side - 1 - column, row)
                } else {
                    let near = |at: usize| at.saturating_sub(3)..(at + 4).min(side);
                    near(row).flat_map(|row| near(column).map(move |column| at(row, column))).sum::<u32>() / 49
                };
                out.pixels_mut()[3 * (row * side + column) + channel] = value as u8;
            }
        }
    }
    out
}

/// `A <=> !A` for each digit: a real digit never fits, one that was turned or blurred fits better.
#[test]
fn contradictions_tell_clear_digits_from_unclear_ones() {
    #[expect(clippy::disallowed_methods, reason = "real data is where the user says, and only tests look for it")]
    let folder = std::env::var_os("CHIMERA_DATA").map(|data| Path::new(&data).join("mnist"));
    let Some(source) = folder.filter(|folder| folder.is_dir()) else {
        println!("skipped: CHIMERA_DATA does not name a folder with `mnist`");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let options = ImportOptions { limit: Some(7000), ..ImportOptions::default() };
    let dataset = import_mnist(&MnistImport { folder: source, options }, &folder.path().join("ds")).unwrap().dataset;
    let leaf = leaf_stage(&dataset, &LeafConfig::default(), folder.path());
    let text: String = (0..10).map(|digit| format!("r{digit}: digit_{digit} <=> !digit_{digit}\n")).collect();
    let rules = rules(&dataset, &text);
    let taught = teach(&dataset, &leaf, &rules, &GateConfig::default(), (folder.path(), None));
    let features = leaf.trained.bank.config().encoder.features();
    let gates = RuleGates::of_stage(&taught, &rules, features).unwrap();
    let test: Vec<usize> = dataset.test().numbers().iter().copied().take(400).collect();
    let clear = scores(&gates, &leaf.encoded, &test);
    let clear_mean = mean(clear.iter().flatten().copied());
    assert!(clear_mean < 0.05, "{clear_mean}");

    let reader = ImageReader::new(ImageLimits::default());
    let size = Size::new(28, 28).unwrap();
    for turn in [true, false] {
        let place = folder.path().join(format!("changed-{turn}"));
        fs::create_dir_all(place.join("media")).unwrap();
        let mut table = String::from("id,media,split,digit_0\n");
        for (number, &row) in test.iter().enumerate() {
            let picture = reader.read(&dataset.media_path(row).unwrap(), size).unwrap();
            write_png(&place.join(format!("media/{number:04}.png")), &changed(&picture, turn)).unwrap();
            table += &format!("s{number:04},{number:04}.png,test,\n");
        }
        fs::write(place.join("samples.csv"), table).unwrap();
        fs::write(place.join("dataset.toml"), "name = 'x'\nkind = 'image'\nmedia-root = 'media'\nsize = [28, 28]\n")
            .unwrap();
        let unclear = Dataset::open(&place).unwrap();
        let cache: PathBuf = folder.path().join("cache");
        let encoded = stage::encode(&unclear, &leaf.trained.bank, (&cache, THREADS, true), &|_| {}).unwrap();
        let rows: Vec<usize> = (0..test.len()).collect();
        let unclear = scores(&gates, &encoded, &rows);
        // A picture is as unclear as the contradiction that fits it best.
        let best = |scores: &[Vec<f32>]| -> Vec<f32> {
            (0..test.len()).map(|row| scores.iter().map(|rule| rule[row]).fold(0.0, f32::max)).collect()
        };
        let auroc = auroc(&best(&unclear), &best(&clear));
        println!("turned {turn}: {auroc:.3}, mean of clear ones {clear_mean:.4}");
        assert!(auroc > 0.8, "turned {turn}: {auroc}");
    }
}

/// Four rows of features a group; `c` is unknown on some rows, and one row in ten breaks the rule `a => b`.
fn small(folder: &Path) -> Dataset {
    let mut random = fastrand::Rng::with_seed(4);
    let mut table = String::from("id,media,split,group,a,b,c\n");
    fs::create_dir_all(folder.join("media")).unwrap();
    for number in 0..240 {
        let a = random.bool();
        let labels = [a, (a && number % 10 != 0) || random.bool(), random.bool()];
        let colors = labels.map(|there| if there { random.u8(180..=255) } else { random.u8(0..70) });
        write_png(&folder.join(format!("media/{number}.png")), &Picture::filled(Size::new(8, 8).unwrap(), colors))
            .unwrap();
        let [a, b, c] = labels.map(|label| u8::from(label).to_string());
        let c = if number % 7 == 0 { String::new() } else { c };
        table += &format!("s{number:03},{number}.png,train,g{},{a},{b},{c}\n", number / 4);
    }
    fs::write(folder.join("samples.csv"), table).unwrap();
    fs::write(folder.join("dataset.toml"), "name = 'x'\nkind = 'image'\nmedia-root = 'media'\nsize = [8, 8]\n")
        .unwrap();
    Dataset::open(folder).unwrap()
}

#[test]
fn strict_and_nominal_only_leave_out_rows_and_give_other_gates() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = small(&folder.path().join("ds"));
    let leaf_config = LeafConfig { features: 16, epochs: 12, rate: 3e-3, size: Some(16), ..LeafConfig::default() };
    let leaf = leaf_stage(&dataset, &leaf_config, folder.path());
    let rules = rules(&dataset, "broken: a => b\nkept: (a => b) | !a\nunknown: c | b\n");
    let small = GateConfig { hidden: 16, ..GateConfig::default() };
    let out = folder.path().join("gates");
    fs::create_dir(&out).unwrap();
    let run = |config: &GateConfig| teach(&dataset, &leaf, &rules, config, (folder.path(), Some(&out))).report;
    let keys = |report: &chimera::gate::report::GatesReport| -> Vec<String> {
        report.gates.iter().map(|gate| gate.key.clone()).collect()
    };
    let plain = run(&small);
    assert_eq!(plain.gates.len(), 3, "`a => b` is one gate for two rules");
    assert_eq!(plain.gates[0].rules, ["broken", "kept"]);
    assert!(plain.rules[0].broken > 0 && plain.broken_rows as u64 > plain.rules[0].broken, "{:?}", plain.rules);
    assert_eq!(plain.rules[2].name, "unknown");
    assert!(plain.rules[2].unknown > 5);

    let nominal = run(&GateConfig { nominal_only: true, ..small.clone() });
    assert_eq!(nominal.rows, plain.rows - plain.broken_rows);
    assert!(keys(&nominal).iter().all(|key| !keys(&plain).contains(key)));

    // `strict` leaves rows out for all three: `kept` is broken where `a => b` is, and `unknown` is unknown on some.
    let both = GateConfig { negatives: Negatives::Both, ..small.clone() };
    let strict = run(&GateConfig { strict: true, ..both.clone() });
    let both = run(&both);
    assert_eq!(both.gates.len(), 3);
    assert_eq!(strict.gates.len(), 4, "`a => b` is taught for each of its two rules");
    assert_eq!(strict.gates.iter().filter(|gate| gate.filter.is_some()).count(), 4);
    assert!(keys(&strict).iter().all(|key| !keys(&both).contains(key)));
    let shown =
        |report: &GateReport| -> u64 { report.configurations.iter().map(|configuration| configuration.shown).sum() };
    assert!(shown(&strict.gates[0]) < shown(&both.gates[0]));

    let concept = run(&GateConfig { leaf_features: LeafFeatures::Concept, ..small.clone() });
    let shared = run(&GateConfig { leaf_features: LeafFeatures::Shared, ..small.clone() });
    assert!(keys(&concept).iter().chain(&keys(&shared)).all(|key| !keys(&plain).contains(key)));
    let longer = GateConfig { gate_epochs: 60, gate_rate: 3e-3, ..small.clone() };
    for leaf_features in [LeafFeatures::Standard, LeafFeatures::Shared, LeafFeatures::Concept] {
        let report = run(&GateConfig { leaf_features, ..longer.clone() });
        let right = report.gates.iter().filter_map(|gate| gate.audit.fidelity()).min_by(f64::total_cmp).unwrap();
        assert!(right > 0.9, "{leaf_features:?}: {right}");
    }
    assert!(concept.gates.iter().chain(&shared.gates).all(GateReport::is_there));

    // A label changes the gates that read it, and no others; so does another group for a row, for all of them.
    let samples = fs::read_to_string(folder.path().join("ds/samples.csv")).unwrap();
    let changed = |from: &str, to: &str| {
        let place = tempfile::tempdir().unwrap();
        assert!(samples.contains(from));
        fs::write(place.path().join("samples.csv"), samples.replacen(from, to, 1)).unwrap();
        fs::copy(folder.path().join("ds/dataset.toml"), place.path().join("dataset.toml")).unwrap();
        fs::create_dir(place.path().join("media")).unwrap();
        let dataset = Dataset::open(place.path()).unwrap();
        keys(&teach(&dataset, &leaf, &rules, &small, (folder.path(), Some(&out))).report)
    };
    let row = samples.lines().find(|line| line.ends_with(",1")).unwrap();
    let other = changed(row, &format!("{}0", row.strip_suffix('1').unwrap()));
    let same: Vec<bool> = other.iter().zip(keys(&plain)).map(|(one, other)| *one == other).collect();
    assert_eq!(same, [true, true, false], "only `b | c` reads `c`");
    let grouped = changed(",g3,", ",g4,");
    assert!(grouped.iter().zip(keys(&plain)).all(|(one, other)| *one != other));
}
