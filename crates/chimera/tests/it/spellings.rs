//! A rule has the same scores however it is typed, and these are what its gates give when they are put together as it was typed.
//!
//! Random rule sets are trained with tiny gates and opened again. What the model says is compared, to the bit, with an oracle that
//! shares nothing with loading: it walks the typed formula and finds the gate of each part among those that training returned.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use chimera::baseline::{self, Baseline, Kind};
use chimera::eval::{Asked, ScoreKind, run as evaluate};
use chimera::explain::explainer::Explainer;
use chimera::gate::config::{Depth, GateConfig, LeafFeatures, Negatives};
use chimera::gate::report::GateReport;
use chimera::gate::rules::Root;
use chimera::gate::stage::{self as gates, GateStage, Material, Place};
use chimera::model::{GATES, Model};
use chimera::score::engine::{Engine, Scoring};
use chimera::score::method::Method;
use chimera::score::samples::RowsOf;
use chimera::train::{Gating, Lesson, regate, run as train};
use chimera_data::dataset::Dataset;
use chimera_data::features::FeatureSource;
use chimera_data::import::{FeaturesImport, TableImport, import_features};
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::Gate;
use chimera_leaf::calibrate::Method as Calibrated;
use chimera_leaf::config::LeafConfig;
use chimera_leaf::device::Device;
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::stage::Workplace;
use chimera_leaf::train::Start;
use chimera_logic::dag::Edge;
use chimera_logic::graph::load_graphs;
use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;
use chimera_logic::rules::format_rules;
use fastrand::Rng;
use tempfile::TempDir;

use crate::support::typed::Typed;

const THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// Numbers of z, and between the layers of a gate.
const WIDTH: usize = 4;

const ROWS: usize = 120;

/// In another order than the alphabet's, which is that of operands.
const CONCEPTS: [&str; 5] = ["d", "b", "Land vehicle", "a", "c"];

/// A probability for each rule by name, a number a test row; `None` where there is no gate.
type ByRule = BTreeMap<String, Vec<Option<f64>>>;

/// A leaf bank that was trained once, to which rule sets are added one after the other.
struct World {
    folder: TempDir,
    dataset: Dataset,
    encoded: EncodedRows,
    device: Device,
}

impl World {
    fn new() -> Self {
        // Nothing waits for a disk there.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let mut random = Rng::with_seed(8);
        let (mut table, mut features) = (format!("id,split,{}\n", CONCEPTS.join(",")), Vec::new());
        for row in 0..ROWS {
            let labels: Vec<bool> = CONCEPTS.iter().map(|_| random.bool()).collect();
            let split = ["train", "train", "calibration", "test"][row % 4];
            table += &format!("s{row:03},{split}");
            for label in labels {
                table += &format!(",{}", u8::from(label));
                features.push(f32::from(u8::from(label)) + 0.6 * (random.f32() - 0.5));
            }
            table += "\n";
        }
        let bytes: Vec<u8> = features.iter().flat_map(|number| number.to_le_bytes()).collect();
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({ROWS}, {}), }}\n", CONCEPTS.len());
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        fs::write(folder.path().join("t.csv"), table).unwrap();
        fs::write(
            folder.path().join("z.npy"),
            [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), &bytes].concat(),
        )
        .unwrap();
        let import = FeaturesImport {
            table: TableImport { table: folder.path().join("t.csv"), ..TableImport::default() },
            features: FeatureSource { path: folder.path().join("z.npy"), array: None },
        };
        let dataset = import_features(&import, &folder.path().join("ds")).unwrap().dataset;
        let device = DeviceChoice::Cpu.open().unwrap();
        let model = folder.path().join("model");
        fs::create_dir(&model).unwrap();
        let workplace = Workplace {
            cache: &folder.path().join("cache"),
            start: Start::GoOn,
            checkpoint: &model.join("checkpoint.safetensors"),
            log: &model.join("train.jsonl"),
            device: device.clone(),
            threads: THREADS,
            strict: true,
        };
        let leaf = LeafConfig { features: WIDTH, epochs: 4, batch: 16, rate: 1e-2, ..LeafConfig::default() };
        let lesson =
            Lesson { dataset: &dataset, rules: None, leaf: &leaf, gates: &GateConfig::default(), retrain: false };
        let encoded = train(&model, lesson, &workplace, &|_| {}).unwrap().leaf.encoded;
        Self { folder, dataset, encoded, device }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn model(&self) -> PathBuf {
        self.path("model")
    }

    fn open(&self) -> Engine {
        Engine::open(&self.model(), &self.device, THREADS).unwrap()
    }

    fn rules(&self, text: &str) -> RuleSet {
        let loaded = load_text("typed", text, self.dataset.table().vocabulary());
        assert_eq!(loaded.diagnostics.errors(), 0, "{text}");
        loaded.rule_set
    }

    fn place<'a>(&'a self, cache: &'a Path, gates: Option<&'a Path>) -> Place<'a> {
        Place { cache, gates, threads: THREADS, retrain: false, device: &self.device }
    }

    /// Trains gates of rules and writes them into the model, in the place of those that it has.
    fn add(&self, rule_set: &RuleSet, config: &GateConfig) {
        let (cache, folder) = (self.path("cache"), self.model().join(GATES));
        let place = self.place(&cache, Some(&folder));
        let gating = Gating { dataset: &self.dataset, encoded: &self.encoded, rule_set, mined: &[], config, place };
        let model = Model::open(&self.model(), &self.device).unwrap();
        regate(&self.model(), model, gating, &self.device, &|_| {}).unwrap();
    }

    /// The gates of rules as training returns them. Nothing of the model but its leaf bank is read, and nothing that it wrote.
    fn trained(&self, rule_set: &RuleSet, config: &GateConfig) -> GateStage {
        let model = Model::open(&self.model(), &self.device).unwrap();
        let rows = self.encoded.present(&self.dataset.train().unwrap());
        let material = Material { dataset: &self.dataset, rows: &rows, bank: &model.bank, encoded: &self.encoded };
        gates::run(material, rule_set, config, self.place(&self.path("oracle"), None), &|_| {}).unwrap()
    }

    fn test_rows(&self) -> Vec<usize> {
        self.dataset.test().numbers().to_vec()
    }

    fn z(&self, rows: &[usize]) -> Vec<f32> {
        rows.iter().flat_map(|&row| self.encoded.z(row).unwrap().to_vec()).collect()
    }

    /// Probabilities of an opened model.
    fn told(&self, engine: &Engine, method: Method) -> ByRule {
        let ready = engine.ready(Scoring { method, ..Scoring::default() }, None, THREADS).unwrap();
        let names: Vec<&str> = engine.rules().collect();
        let mut told: ByRule = names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
        let rows = RowsOf { encoded: &self.encoded, numbers: &self.test_rows() };
        let mut take = |_, scores: chimera::score::samples::SampleScores| {
            names.iter().zip(scores.p).for_each(|(name, p)| told.get_mut(*name).unwrap().push(p));
            Ok(())
        };
        ready.score(&rows, THREADS, &mut take).unwrap();
        told
    }

    /// The leaf bank's probability of a concept.
    fn leaf(&self, engine: &Engine, name: &str) -> Vec<Option<f64>> {
        let concept = CONCEPTS.iter().position(|concept| *concept == name).unwrap();
        let of = |row: usize| {
            let logit = self.encoded.logits_of(row).unwrap()[concept];
            Some(engine.model.calibration.probability(Calibrated::Platt, concept, logit))
        };
        self.test_rows().into_iter().map(of).collect()
    }

    fn shows(&self, row: usize, name: &str) -> bool {
        let concept = CONCEPTS.iter().position(|concept| *concept == name).unwrap();
        self.dataset.table().labels.get(row, concept).unwrap()
    }
}

fn sigmoid(logit: f64) -> f64 {
    let small = (-logit.abs()).exp();
    if logit >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}

/// Rules by name as they were typed.
#[derive(Clone)]
struct TypedRules(Vec<(String, Typed)>);

impl TypedRules {
    fn random(random: &mut Rng) -> Self {
        let count = 1 + random.usize(..4);
        let mut rules: Vec<(String, Typed)> = Vec::new();
        for number in 0..count {
            let depth = 1 + random.usize(..4);
            let mut formula = Typed::random(depth, &CONCEPTS, random);
            // A rule that has another rule as a part.
            if let Some((_, other)) = rules.last().filter(|_| random.u8(..4) == 0) {
                formula = Typed::Apply(crate::support::typed::Operator::Or, vec![other.shuffled(random), formula]);
            }
            rules.push((format!("r{number}"), formula));
        }
        Self(rules)
    }

    fn text(&self, random: &mut Rng) -> String {
        self.0.iter().map(|(name, formula)| format!("{name}: {}\n", formula.text(random))).collect()
    }

    fn shuffled(&self, random: &mut Rng) -> Self {
        Self(self.0.iter().map(|(name, formula)| (name.clone(), formula.shuffled(random))).collect())
    }
}

/// Gates in the order in which they are run.
#[derive(Default)]
struct Placed {
    gates: Vec<PlacedGate>,
    /// By what each says.
    of_part: BTreeMap<String, usize>,
}

/// The naive walk over a typed formula: each part's gate by what it says.
struct Oracle<'a> {
    stage: &'a GateStage,
    /// Gates by rule and by what they say, with their operands in the order in which the report prints them.
    gates: BTreeMap<(&'a str, String), (&'a GateReport, Vec<Typed>)>,
}

impl<'a> Oracle<'a> {
    fn new(stage: &'a GateStage) -> Self {
        let mut gates = BTreeMap::new();
        for report in &stage.report.gates {
            let read = Typed::read(&report.formula);
            let Typed::Apply(_, operands) = &read else { panic!("a gate: {}", report.formula) };
            for rule in &report.rules {
                gates.insert((rule.as_str(), read.normal()), (report, operands.clone()));
            }
        }
        Self { stage, gates }
    }

    /// A part that occurs twice is one operand twice, whose weights are added up before they are multiplied: that decides the last
    /// bits.
    fn place(&self, rule: &'a str, part: &Typed, placed: &mut Placed) -> Option<usize> {
        let Typed::Apply(_, typed) = part else { panic!("a gate") };
        if let Some(place) = placed.of_part.get(&part.normal()) {
            return Some(*place);
        }
        let (report, order) = &self.gates[&(rule, part.normal())];
        let gate: Arc<Gate> = self.stage.in_memory.get(&report.key).filter(|_| report.is_there())?.clone();
        let mut operands = Vec::new();
        for operand in order {
            let operand = typed.iter().find(|typed| typed.normal() == operand.normal()).unwrap();
            let (bare, negated) = operand.bare();
            let source = match bare {
                Typed::Name(name) => Source::Leaf(self.stage.leaf_features.get(name).cloned().unwrap_or_default()),
                _ => Source::Node(self.place(rule, bare, placed)?),
            };
            operands.push((source, negated));
        }
        assert_eq!(operands.len(), gate.shape().arity);
        placed.gates.push(PlacedGate { gate, operands });
        placed.of_part.insert(part.normal(), placed.gates.len() - 1);
        Some(placed.gates.len() - 1)
    }

    /// The probability of a formula that is no literal on some samples.
    fn p(&self, rule: &'a str, formula: &Typed, z: &[f32]) -> Vec<Option<f64>> {
        let (bare, negated) = formula.bare();
        let (mut placed, rows) = (Placed::default(), z.len() / WIDTH);
        let Some(root) = self.place(rule, bare, &mut placed) else { return vec![None; rows] };
        let placed = placed.gates;
        let evaluator = Evaluator::new(WIDTH, &placed).unwrap();
        let mut logits = vec![0.0; rows * placed.len()];
        evaluator.run(&(z, WIDTH), 0..rows, &mut logits);
        let plain: Vec<f64> = z.chunks(WIDTH).map(|z| by_hand(&placed, root, z).1).collect();
        let of_row = |row: usize| {
            let logit = logits[row * placed.len() + root];
            assert!((f64::from(logit) - plain[row]).abs() < 1e-3, "{logit} {}", plain[row]);
            Some(sigmoid(f64::from(if negated { -logit } else { logit })))
        };
        (0..rows).map(of_row).collect()
    }
}

/// A gate's feature and logit in plain loops of double precision, from the tensors that its file has.
fn by_hand(placed: &[PlacedGate], at: usize, z: &[f32]) -> (Vec<f64>, f64) {
    let PlacedGate { gate, operands } = &placed[at];
    let mut input = Vec::new();
    for (source, negated) in operands {
        match source {
            Source::Leaf(feature) => {
                let mut out = vec![0.0; WIDTH];
                feature.write(z, &mut out);
                input.extend(out.into_iter().map(f64::from));
            }
            Source::Node(node) => input.extend(by_hand(placed, *node, z).0),
        }
        input.push(f64::from(u8::from(*negated)));
    }
    let tensors = gate.tensors();
    let layer = |weights: &[f32], bias: &[f32], input: &[f64]| -> Vec<f64> {
        let of = |(row, bias): (&[f32], &f32)| {
            row.iter().zip(input).map(|(weight, input)| f64::from(*weight) * input).sum::<f64>() + f64::from(*bias)
        };
        weights.chunks(input.len()).zip(bias).map(of).collect()
    };
    let relu = |numbers: Vec<f64>| numbers.into_iter().map(|number| number.max(0.0)).collect::<Vec<f64>>();
    let hidden = relu(layer(&tensors[0], &tensors[1], &input));
    let feature = relu(layer(&tensors[2], &tensors[3], &hidden));
    let logit = layer(&tensors[4], &tensors[5], &feature)[0];
    (feature, logit)
}

fn bits(told: &ByRule) -> BTreeMap<&str, Vec<Option<u64>>> {
    told.iter().map(|(name, p)| (name.as_str(), p.iter().map(|p| p.map(f64::to_bits)).collect())).collect()
}

/// What the oracle says of rules, from the gates of a stage.
fn expected(world: &World, engine: &Engine, rules: &TypedRules, stage: &GateStage) -> ByRule {
    let (oracle, z) = (Oracle::new(stage), world.z(&world.test_rows()));
    let of = |(name, formula): &(String, Typed)| {
        let p = match formula.bare() {
            (Typed::Name(concept), negated) => {
                let flip = |p: Option<f64>| p.map(|p| if negated { 1.0 - p } else { p });
                world.leaf(engine, concept).into_iter().map(flip).collect()
            }
            _ => oracle.p(name, formula, &z),
        };
        (name.clone(), p)
    };
    rules.0.iter().map(of).collect()
}

/// One of several ways to train gates; the first is the default.
fn config(number: usize) -> GateConfig {
    let tiny = GateConfig { hidden: WIDTH, gate_epochs: 1, gate_batch: 16, ..GateConfig::default() };
    match number % 5 {
        0 => tiny,
        1 => GateConfig { negatives: Negatives::Both, strict: true, ..tiny },
        2 => GateConfig { leaf_features: LeafFeatures::Concept, ..tiny },
        3 => GateConfig { leaf_features: LeafFeatures::Shared, chimeras: Depth::Node, ..tiny },
        _ => GateConfig { negatives: Negatives::ChimeraGraft, nominal_only: false, ..tiny },
    }
}

/// Brings typed rules into the model in one of several ways.
fn add(world: &World, rules: &TypedRules, config: &GateConfig, number: usize, random: &mut Rng) {
    let typed = world.rules(&rules.text(random));
    match number % 4 {
        0 | 1 => world.add(&typed, config),
        // Through the paper's form.
        2 => {
            let json = serde_json::to_vec(&typed.to_graphs()).unwrap();
            let loaded = load_graphs("graph", &json, world.dataset.table().vocabulary()).unwrap();
            assert_eq!(loaded.diagnostics.errors(), 0);
            world.add(&loaded.rule_set, config);
        }
        // One rule after the other, as `chimera add` joins them.
        _ => {
            let (last, first) = rules.0.split_last().unwrap();
            let mut joined = String::new();
            if !first.is_empty() {
                world.add(&world.rules(&TypedRules(first.to_vec()).text(random)), config);
                let model = Model::open(&world.model(), &world.device).unwrap();
                let kept = model.manifest.gates.unwrap().rule_set(&model.manifest.bank.concepts).unwrap();
                joined = format_rules(&kept);
            }
            world.add(&world.rules(&(joined + &TypedRules(vec![last.clone()]).text(random))), config);
        }
    }
}

/// How many rule sets are tried; by hand with more.
fn sets() -> usize {
    #[expect(clippy::disallowed_methods, reason = "how long a property test searches is for whoever runs it to say")]
    let said = std::env::var("CHIMERA_SPELLINGS").ok();
    said.map_or(100, |count| count.parse().unwrap())
}

#[test]
fn scores_are_those_of_the_typed_formula_over_the_trained_gates() {
    let (world, mut random, began) = (World::new(), Rng::with_seed(31), Instant::now());
    let (mut compared, mut inner) = (0, 0);
    for number in 0..sets() {
        let (rules, config) = (TypedRules::random(&mut random), config(number));
        let stage = world.trained(&world.rules(&rules.text(&mut random)), &config);
        let grafts = &stage.grafts.as_ref().unwrap().gates;
        let spelling = rules.shuffled(&mut random);
        add(&world, &spelling, &config, number, &mut random);
        let context = || format!("set {number}: {:?}", rules.0);
        for (method, stage) in [(Method::Chimera, &stage), (Method::Graft, grafts)] {
            let engine = world.open();
            let wanted = expected(&world, &engine, &rules, stage);
            assert_eq!(bits(&world.told(&engine, method)), bits(&wanted), "{method:?} {}", context());
            compared += wanted.values().flatten().flatten().count();
            inner += stage.report.gates.len();

            // `score --rules`, with another spelling and the rules the other way round.
            let mut other = rules.shuffled(&mut random);
            other.0.reverse();
            let other = world.rules(&other.text(&mut random));
            let engine = world.open().with_rules(&world.model(), other, method, None).unwrap();
            assert_eq!(bits(&world.told(&engine, method)), bits(&wanted), "other rules, {method:?} {}", context());

            // `explain`, which scores every part. Gates of `strict` serve their own rules alone.
            let whole = stage.report.gates.iter().all(GateReport::is_there);
            if number % 3 == 0 && whole && !(config.strict && method == Method::Chimera) {
                explained(&world, method, &rules, stage);
            }
        }
    }
    println!("{compared} scores of {inner} gates compared in {:.0} s", began.elapsed().as_secs_f64());
    assert!(compared > 40 * sets() && inner > 4 * sets());
}

/// Every part of every rule has the probability of its own gate.
fn explained(world: &World, method: Method, rules: &TypedRules, stage: &GateStage) {
    let engine = world.open();
    let parts = Explainer::parts_of(&world.model(), &world.device, &engine, method, (None, THREADS)).unwrap();
    let (told, z, oracle) = (world.told(&parts.engine, method), world.z(&world.test_rows()), Oracle::new(stage));
    let names: Vec<&str> = parts.engine.rules().collect();
    for (name, node) in names.iter().zip(&parts.nodes) {
        let part = Typed::read(&engine.gates.rule_set.dag.text(Edge::new(*node, false)));
        if let Typed::Name(concept) = &part {
            assert_eq!(told[*name], world.leaf(&engine, concept));
            continue;
        }
        let (rule, _) =
            rules.0.iter().find(|(rule, _)| oracle.gates.contains_key(&(rule.as_str(), part.normal()))).unwrap();
        assert_eq!(told[*name], oracle.p(rule, &part, &z), "{part:?}");
    }
}

/// Every method with gates says the same about two spellings, and what its gates say without a model in between.
#[test]
fn every_method_says_the_same_about_every_spelling() {
    let (world, mut random) = (World::new(), Rng::with_seed(32));
    for number in 0..30 {
        let (rules, config) = (TypedRules::random(&mut random), config(number));
        let typed = world.rules(&rules.text(&mut random));
        add(&world, &rules, &config, number, &mut random);
        let one = world.open();
        add(&world, &rules.shuffled(&mut random), &config, number + 1, &mut random);
        let mut other = world.open();
        let cache = world.path("cache");
        let mut one = one;
        for (method, kind) in [
            (Method::Neural, None),
            (Method::Sem, Some(Kind::Sem)),
            (Method::MonoN, Some(Kind::MonoN)),
            (Method::MonoC, Some(Kind::MonoC)),
            (Method::IndepDeep, Some(Kind::IndepDeep)),
            (Method::Oracle, Some(Kind::Oracle)),
        ] {
            for engine in [&mut one, &mut other] {
                engine.teach(method, (&world.dataset, &world.encoded), world.place(&cache, None), &|_| {}).unwrap();
            }
            let told = world.told(&one, method);
            assert_eq!(bits(&told), bits(&world.told(&other, method)), "{method:?} set {number}: {:?}", rules.0);
            match kind {
                Some(kind) => taught_directly(&world, kind, &rules, &typed, &config, &told),
                None => neural(&world, &rules, &typed, &config, &told),
            }
        }
    }
}

/// A method that is trained when it is asked for, on rules as they were typed and with a cache of its own.
fn taught_directly(world: &World, kind: Kind, rules: &TypedRules, typed: &RuleSet, config: &GateConfig, told: &ByRule) {
    let model = Model::open(&world.model(), &world.device).unwrap();
    let (rows, cache) = (world.encoded.present(&world.dataset.train().unwrap()), world.path("oracle"));
    let material = Material { dataset: &world.dataset, rows: &rows, bank: &model.bank, encoded: &world.encoded };
    let place = world.place(&cache, None);
    let (baseline, _) = baseline::teach(kind, material, typed, config, place, &|_| {}).unwrap();
    let (z, engine) = (world.z(&world.test_rows()), world.open());
    let count = z.len() / WIDTH;
    let features = (z.as_slice(), WIDTH);
    let flipped =
        |logit: f32, negated: bool| logit.is_finite().then(|| sigmoid(f64::from(if negated { -logit } else { logit })));
    for (number, (name, formula)) in rules.0.iter().enumerate() {
        let (bare, negated) = formula.bare();
        let by_rule: Vec<Option<f64>> = match (&baseline, bare) {
            (Baseline::Rules(_), Typed::Name(concept)) => {
                world.leaf(&engine, concept).into_iter().map(|p| p.map(|p| if negated { 1.0 - p } else { p })).collect()
            }
            (Baseline::Rules(gates), _) => match gates.roots[number] {
                Root::Gate(root) => {
                    let logits = gates.logits(&features, 0..count);
                    logits.chunks(gates.len()).map(|logits| flipped(logits[root], negated)).collect()
                }
                _ => vec![None; count],
            },
            (Baseline::CrossFitted(gates), _) => {
                let logits = gates.logits(&features, count);
                logits.chunks(rules.0.len()).map(|logits| flipped(logits[number], negated)).collect()
            }
            (Baseline::Concepts(heads), _) => {
                let (logits, _) = heads.logits(&features, 0..count);
                let p = |row: usize| {
                    let of = |concept: &str| {
                        let concept = CONCEPTS.iter().position(|name| *name == concept).unwrap();
                        sigmoid(logits[concept * count + row])
                    };
                    heads.can_tell(number).then(|| independent(formula, &of))
                };
                let wanted: Vec<Option<f64>> = (0..count).map(p).collect();
                close(&told[name], &wanted);
                continue;
            }
        };
        assert_eq!(told[name], by_rule, "{kind:?} {name}: {formula:?}");
    }
    // The same once more by the naive walk: its gates are those of a stage.
    if kind == Kind::Sem {
        let same = GateConfig { negatives: Negatives::Same, strict: true, grafts: false, ..config.clone() };
        let stage = world.trained(typed, &same);
        assert_eq!(bits(told), bits(&expected(world, &engine, rules, &stage)));
    }
}

/// Independent events, as the paper's appendix has them.
fn independent(formula: &Typed, of: &dyn Fn(&str) -> f64) -> f64 {
    use crate::support::typed::Operator;
    match formula {
        Typed::Name(name) => of(name),
        Typed::Not(formula) => 1.0 - independent(formula, of),
        Typed::Apply(operator, operands) => {
            let p: Vec<f64> = operands.iter().map(|operand| independent(operand, of)).collect();
            let none = || p.iter().map(|p| 1.0 - p).product::<f64>();
            match operator {
                Operator::And => p.iter().product(),
                Operator::Or => 1.0 - none(),
                Operator::Implies => 1.0 - p[0] * (1.0 - p[1]),
                Operator::Iff => p.iter().product::<f64>() + none(),
            }
        }
    }
}

fn close(told: &[Option<f64>], wanted: &[Option<f64>]) {
    assert_eq!(told.len(), wanted.len());
    for (told, wanted) in told.iter().zip(wanted) {
        assert!(
            told.zip(*wanted).is_some_and(|(one, other)| (one - other).abs() < 1e-9) || told == wanted,
            "{told:?} {wanted:?}"
        );
    }
}

/// `neural` is halfway, by logits, between the graft gate of a rule and a sum over all values of its concepts, whose probabilities
/// it gives for rules of one literal.
fn neural(world: &World, rules: &TypedRules, typed: &RuleSet, config: &GateConfig, told: &ByRule) {
    let stage = world.trained(typed, config);
    let (engine, grafts) = (world.open(), &stage.grafts.as_ref().unwrap().gates);
    let gates = expected(world, &engine, rules, grafts);
    let report = stage.grafts.as_ref().unwrap().report();
    for (name, formula) in &rules.0 {
        if report.fallbacks.contains_key(name) {
            let leaves: BTreeMap<&str, Vec<Option<f64>>> =
                CONCEPTS.iter().map(|concept| (*concept, world.leaf(&engine, concept))).collect();
            let of_row = |row: usize| Some(independent(formula, &|concept| leaves[concept][row].unwrap()));
            close(&told[name], &(0..told[name].len()).map(of_row).collect::<Vec<_>>());
            continue;
        }
        let used: Vec<&str> = CONCEPTS.into_iter().filter(|concept| formula.names().contains(*concept)).collect();
        let text: String = used.iter().enumerate().map(|(at, concept)| format!("c{at}: \"{concept}\"\n")).collect();
        let literals = world.open().with_rules(&world.model(), world.rules(&text), Method::Neural, None).unwrap();
        let of_concepts = world.told(&literals, Method::Neural);
        let of_row = |row: usize| {
            let p = |at: usize| of_concepts[&format!("c{at}")][row].unwrap();
            let counted: f64 = (0..1_u32 << used.len())
                .map(|world: u32| {
                    let is = |at: usize| world >> at & 1 == 1;
                    let value = |name: &str| is(used.iter().position(|concept| *concept == name).unwrap());
                    let weight: f64 = (0..used.len()).map(|at| if is(at) { p(at) } else { 1.0 - p(at) }).product();
                    if formula.holds(&value) { weight } else { 0.0 }
                })
                .sum();
            if matches!(formula.bare().0, Typed::Name(_)) || !has_gate(name, formula, grafts) {
                return Some(counted);
            }
            let logit = |p: f64| {
                let p = p.clamp(1e-12, 1.0 - 1e-12);
                (p / (1.0 - p)).ln()
            };
            gates[name][row].map(|gate| sigmoid(0.5 * logit(counted) + 0.5 * logit(gate)))
        };
        close(&told[name], &(0..told[name].len()).map(of_row).collect::<Vec<_>>());
    }
}

fn has_gate(rule: &str, formula: &Typed, stage: &GateStage) -> bool {
    Oracle::new(stage).gates[&(rule, formula.bare().0.normal())].0.is_there()
}

/// `eval` measures what the oracle says, at the model's own seed and at the next one.
#[test]
fn eval_measures_the_gates_of_the_typed_formula_at_every_seed() {
    let (world, mut random) = (World::new(), Rng::with_seed(33));
    let mut measured = 0;
    for number in 0..6 {
        let (rules, config) = (TypedRules::random(&mut random), config(number));
        add(&world, &rules, &config, number, &mut random);
        let methods = vec![Method::Chimera, Method::Graft];
        let asked = Asked {
            model: &world.model(),
            dataset: &world.dataset,
            training: None,
            rule_set: None,
            methods,
            seeds: NonZeroUsize::new(2).unwrap(),
            refit_leaf: false,
            weights: None,
            mined: &[],
            cache: &world.path("cache"),
            device: world.device.clone(),
            threads: THREADS,
        };
        let evaluation = evaluate(&asked, &|_| {}).unwrap();
        for seed in [config.seed, config.seed + 1] {
            let stage = world.trained(&world.rules(&rules.text(&mut random)), &GateConfig { seed, ..config.clone() });
            for (method, stage) in [(Method::Chimera, &stage), (Method::Graft, &stage.grafts.as_ref().unwrap().gates)] {
                let wanted = expected(&world, &world.open(), &rules, stage);
                for (at, rule) in evaluation.rules.iter().enumerate() {
                    let formula = &rules.0.iter().find(|(name, _)| *name == rule.name).unwrap().1;
                    let cells = &evaluation.cells[&(method, ScoreKind::Raw, at)];
                    let told = cells.iter().find(|cell| cell.seed == seed).and_then(|cell| cell.metrics.auroc);
                    let auroc = auroc(&world, formula, &wanted[&rule.name]);
                    measured += usize::from(auroc.is_some());
                    assert!(
                        told.zip(auroc).is_some_and(|(one, other)| (one - other).abs() < 1e-12) || told == auroc,
                        "{method:?} at seed {seed}, {}: {told:?} {auroc:?}",
                        rule.name
                    );
                }
            }
        }
    }
    assert!(measured > 8, "{measured}");
}

/// The share of pairs of a row that breaks the rule and one that does not in which the first is less probable to keep it.
fn auroc(world: &World, formula: &Typed, p: &[Option<f64>]) -> Option<f64> {
    let rows = world.test_rows();
    let of = |wanted: bool| -> Option<Vec<f64>> {
        let rows = rows.iter().zip(p).filter(|(row, _)| formula.holds(&|name| world.shows(**row, name)) == wanted);
        rows.map(|(_, p)| *p).collect()
    };
    let (keeps, breaks) = (of(true)?, of(false)?);
    let pairs = breaks.iter().flat_map(|broken| keeps.iter().map(move |kept| (broken, kept)));
    let won = pairs.map(|(broken, kept)| if broken < kept { 1.0 } else { f64::from(u8::from(broken == kept)) / 2.0 });
    (!keeps.is_empty() && !breaks.is_empty()).then(|| won.sum::<f64>() / (keeps.len() * breaks.len()) as f64)
}

/// The two spellings of the rule by which the defect was found: gates were loaded onto the wrong parts of the second.
#[test]
fn two_spellings_of_one_chain_agree() {
    let world = World::new();
    let told = ["(a => !b) & (c => a)", "(c => a) & (a => !b)"].map(|formula| {
        world.add(&world.rules(&format!("r: {formula}\n")), &config(0));
        let engine = world.open();
        [Method::Chimera, Method::Graft, Method::Neural].map(|method| world.told(&engine, method))
    });
    assert_eq!(told[0], told[1]);
}

/// A gate in the place of another is refused, in words that do not blame whoever typed the rules.
#[test]
fn gates_of_other_parts_are_refused() {
    let world = World::new();
    world.add(&world.rules("r: (c => a) & (a => !b)\n"), &config(0));
    let folder = world.model().join(GATES);
    let engine = world.open();
    let hashes: Vec<String> = engine.model.manifest.gates.as_ref().unwrap().gates.trained.iter().cloned().collect();
    let [one, other] = [0, 1].map(|at| folder.join(format!("{}.safetensors", hashes[at])));
    let (of_one, of_other) = (fs::read(&one).unwrap(), fs::read(&other).unwrap());
    fs::write(&one, &of_other).unwrap();
    fs::write(&other, &of_one).unwrap();
    let refused = Engine::open(&world.model(), &world.device, THREADS).unwrap_err().to_string();
    assert!(refused.contains("it holds the gate of another key"), "{refused}");
    fs::write(&one, of_one).unwrap();
    fs::write(&other, of_other).unwrap();

    // A manifest whose lists are not those of its rules. `Engine::of` takes a model as it is, whatever its seal says.
    let open = |change: &dyn Fn(&mut chimera::gate::section::GateSection)| {
        let mut model = Model::open(&world.model(), &world.device).unwrap();
        change(model.manifest.gates.as_mut().unwrap());
        Engine::of(model, &world.model(), THREADS).map(|_| ()).unwrap_err().to_string()
    };
    let unlisted = open(&|section| _ = section.gates.trained.pop_first());
    assert!(unlisted.contains("your rules are not the cause") && unlisted.contains("train again"), "{unlisted}");
    let too_many = open(&|section| _ = section.gates.trained.insert("f".repeat(64)));
    assert!(too_many.contains("no part of the rules has the gate"), "{too_many}");
    // Labels of two concepts changed places: each leaf has another key.
    let mixed = open(&|section| {
        let labels = &mut section.lineage.labels;
        let (a, b) = (labels["a"].clone(), labels["b"].clone());
        labels.insert("a".to_owned(), b);
        labels.insert("b".to_owned(), a);
    });
    assert!(mixed.contains("do not belong together"), "{mixed}");
    let other_rules = open(&|section| section.rules = section.rules.replace("a => !b", "b => !a"));
    assert!(other_rules.contains("do not belong together"), "{other_rules}");
}

/// The same data with its columns in another order: rules can be added, and all scores stay as they are.
#[test]
fn columns_in_another_order_change_nothing() {
    let world = World::new();
    let rules = "r: (c => a) & (a => !b)\nq: d | \"Land vehicle\"\n";
    world.add(&world.rules(rules), &config(0));
    let engine = world.open();
    let methods = [Method::Chimera, Method::Graft, Method::Neural];
    let wanted = methods.map(|method| world.told(&engine, method));
    let rows = engine.gates.rule_set.rules.len();
    assert_eq!(rows, 2);

    let table = fs::read_to_string(world.path("t.csv")).unwrap();
    let turned: Vec<String> = table
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [cells[0], cells[1], cells[6], cells[5], cells[4], cells[3], cells[2]].join(",")
        })
        .collect();
    fs::write(world.path("turned.csv"), turned.join("\n") + "\n").unwrap();
    let import = FeaturesImport {
        table: TableImport { table: world.path("turned.csv"), ..TableImport::default() },
        features: FeatureSource { path: world.path("z.npy"), array: None },
    };
    let turned = import_features(&import, &world.path("turned")).unwrap().dataset;
    assert_ne!(turned.table().concepts, world.dataset.table().concepts);
    let model = Model::open(&world.model(), &world.device).unwrap();
    assert_eq!(chimera::model::difference(&model.manifest, &turned).unwrap(), None, "it is the same data");

    let (cache, folder) = (world.path("cache"), world.model().join(GATES));
    let typed = load_text("typed", rules, turned.table().vocabulary()).rule_set;
    let add = |dataset: &Dataset, rule_set: &RuleSet| {
        let model = Model::open(&world.model(), &world.device).unwrap();
        let place = world.place(&cache, Some(&folder));
        let gating = Gating { dataset, encoded: &world.encoded, rule_set, mined: &[], config: &config(0), place };
        regate(&world.model(), model, gating, &world.device, &|_| {}).map(|_| ())
    };
    let refused = add(&turned, &typed).unwrap_err().to_string();
    assert!(refused.starts_with("expected concepts in the same order"), "{refused}");
    let turned = turned.in_order_of(&model.manifest.bank.concepts);
    assert_eq!(turned.table().labels, world.dataset.table().labels);
    add(&turned, &load_text("typed", rules, turned.table().vocabulary()).rule_set).unwrap();
    let engine = world.open();
    assert_eq!(methods.map(|method| world.told(&engine, method)), wanted);
}
