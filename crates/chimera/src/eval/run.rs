//! Asking a model about test rows: every method, every seed. What cannot be asked is said, and the rest goes on.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::assign::DEFAULT_SEED;
use chimera_data::error::{Error, Result};
use chimera_data::metric::bootstrap::{Draws, RESAMPLES};
use chimera_data::metric::columns::ScoreTable;
use chimera_data::metric::leaf_table::LeafTable;
use chimera_leaf::device::Device;
use chimera_leaf::encoder::EncoderConfig;
use chimera_leaf::stage::StageEvent;
use chimera_leaf::stream::Sources;
use chimera_logic::rules::RuleSet;
use chimera_mine::record::MiningRecord;
use chimera_mine::record::refuse_selected;

use super::ask::{Subject, Test, open};
use super::check::{check_concepts, check_refit, encode_training};
use super::clock::Clock;
use super::collected::Collected;
use super::coverage::covered;
use super::replica::Site;
use super::score::on_one_line;
use super::truth::{RuleTruths, labels_of};
use super::{About, AnomalyCell, Cell, Cells, Evaluation, RuleOf, ScoreKind};
use crate::gate::stage::GateEvent;
use crate::model;
use crate::score::aggregate::Aggregation;
use crate::score::engine::check_vocabulary;
use crate::score::method::Method;
use crate::seen::{SeenRows, refuse_seen};

/// What is asked.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The model's folder.
    pub model: &'a Path,
    /// The dataset whose test rows are measured.
    pub dataset: &'a Dataset,
    /// The dataset that the model was trained on, where it is another one that is at hand.
    pub training: Option<&'a Dataset>,
    /// Rules instead of the model's.
    pub rule_set: Option<RuleSet>,
    /// Methods, in the order of tables.
    pub methods: Vec<Method>,
    /// How many seeds, the model's own first.
    pub seeds: NonZeroUsize,
    /// Whether other seeds have leaf banks of their own, and not only gates.
    pub refit_leaf: bool,
    /// Pretrained weights that the model started from, for leaf banks of other seeds.
    pub weights: Option<&'a Path>,
    /// Where rules come from and which rows chose them, beside what the model says of its own where these are asked about.
    pub mined: &'a [MiningRecord],
    /// The cache that other methods and seeds are taught into.
    pub cache: &'a Path,
    /// Where tensors live.
    pub device: Device,
    /// Threads for everything.
    pub threads: NonZeroUsize,
}

/// What is going on, for whoever shows it.
#[derive(Debug)]
pub enum Event<'a> {
    /// Samples are encoded, or a leaf bank is trained.
    Leaf(StageEvent<'a>),
    /// Gates are taught.
    Gates(GateEvent<'a>),
    /// A method is asked.
    Method {
        /// Which.
        method: Method,
        /// At which seed.
        seed: u64,
    },
}

/// Asks a model.
///
/// # Errors
/// A model that cannot be opened, a dataset that the model cannot look at, without test rows or without any concept of the
/// rules, and rows that trained the model or selected its rules. What is wrong with single methods is in the result.
pub fn run(asked: &Asked<'_>, events: &(dyn Fn(Event<'_>) + Sync)) -> Result<Evaluation> {
    let (mut clock, mut words) = (Clock::start(), Vec::new());
    let Asked { model: folder, dataset, cache, device, threads, .. } = asked;
    let site = Site { cache, device, threads: *threads, events };
    let engine = open(asked)?;
    let manifest = engine.model.manifest.clone();
    check_refit(asked, &manifest)?;
    let rule_set = asked.rule_set.clone().unwrap_or_else(|| engine.gates.rule_set.clone());
    check_vocabulary(&rule_set, &manifest.bank.concepts)?;
    check_concepts(dataset, &rule_set, &mut words)?;
    let numbers: Vec<usize> = dataset.test().numbers().to_vec();
    if numbers.is_empty() {
        let message = format!("expected test rows in `{}`, got none", dataset.folder().display());
        return Err(Error::input(message, Some("a split column must say `test` for some rows".to_owned())));
    }
    let own = manifest.gates.iter().filter(|_| asked.rule_set.is_none()).flat_map(|section| &section.mined);
    refuse_selected(dataset, asked.mined.iter().chain(own))?;
    Sources::Rows { dataset, rows: &numbers }.check(&manifest.bank.encoder)?;
    let tested = site.encode(dataset, &engine.model.bank)?;
    let is_own = model::difference(&manifest, dataset)?.is_none() && tested.content() == manifest.dataset.content;
    // Columns of the same data may come in another order than the model's concepts.
    let in_order = |training: &Dataset| training.clone().in_order_of(&manifest.bank.concepts);
    let training = if is_own { Some(in_order(dataset)) } else { asked.training.map(in_order) };
    let training = training.as_ref();
    // What is named is looked at, also where the dataset itself is what the model was trained on.
    let named = asked.training.map(|other| encode_training(&site, &engine, other)).transpose()?;
    let trained = named.filter(|_| !is_own);
    let rows = tested.present(&dataset.test());
    let media = matches!(manifest.bank.encoder, EncoderConfig::Frames { .. });
    words.extend(match (is_own, SeenRows::read(folder, &manifest.files)?) {
        // Its splits say who was seen.
        (true, _) => None,
        (false, Some(seen)) => refuse_seen((dataset, &tested, &rows), &seen, media)?,
        (false, None) => Some(
            "the model does not say which rows it has seen, so nobody can tell whether test rows are among them"
                .to_owned(),
        ),
    });
    clock.stop("opening and encoding");

    let concepts = &manifest.bank.concepts;
    let labels = labels_of(dataset, rows.numbers(), concepts);
    let truths = RuleTruths::of(&rule_set, &labels, dataset, rows.numbers());
    let groups = dataset.table().groups.as_ref();
    let draws = match groups {
        Some(groups) => Draws::of_groups(rows.numbers().iter().map(|&row| groups[row].as_str()), DEFAULT_SEED),
        None => Draws::of_rows(rows.len(), DEFAULT_SEED),
    };
    let logits = tested.logits(rows.numbers())?;
    let table = ScoreTable::new(&logits, rows.len(), concepts)?;
    let leaves = LeafTable::measure(table, &labels, 0.0, *threads)?;
    let quality = engine.model.calibration.quality(table, &labels, *threads)?;
    let train_labels =
        training.and_then(|training| Some(labels_of(training, training.train().ok()?.numbers(), concepts)));
    let coverage = covered(&rule_set, train_labels.as_ref(), &labels);
    let mut rules = rules_of(&rule_set, &truths);
    clock.stop("concepts and coverage");

    let own_seed = manifest.gates.as_ref().map_or(DEFAULT_SEED, |section| section.config.seed);
    let seeds = match (training, asked.seeds.get()) {
        (_, 2..) if manifest.gates.is_none() => {
            words.push("there is one seed: the model has no gates, and others would have none, too".to_owned());
            vec![own_seed]
        }
        (None, 2..) => {
            words.push(
                "there is one seed: others are taught on the data that the model was trained on, which are not at hand"
                    .to_owned(),
            );
            vec![own_seed]
        }
        (_, count) => (0..count as u64).map(|number| own_seed.wrapping_add(number)).collect(),
    };
    let test = Test { asked, site, training, rows, truths, draws };
    let default = engine.default_method();
    let mut collected = Collected::new(asked, default);
    let mut subject = Subject { engine, tested, trained };
    let mut has_replica = false;
    for (number, &seed) in seeds.iter().enumerate() {
        if number > 0 {
            match test.replica(&mut subject, &rule_set, seed) {
                Ok(()) => {
                    has_replica = true;
                    clock.stop(&format!("teaching seed {seed}"));
                }
                Err(error) => {
                    words.push(format!("seed {seed} is not there: {}", on_one_line(&error)));
                    continue;
                }
            }
        }
        for (at, rule) in rules.iter_mut().enumerate() {
            if let Some(reason) = subject.engine.distrust_of(&rule_set, at) {
                rule.fallback.get_or_insert(reason);
                rule.fallback_seeds.push(seed);
            }
        }
        for at in 0..asked.methods.len() {
            test.ask(&mut subject, at, (number, seed), &mut collected, &mut clock);
        }
    }
    let main = collected.main(default).ok_or_else(|| {
        let reasons = collected.methods.iter().filter_map(|method| Some((method.method, method.absent.as_ref()?)));
        let reasons: Vec<String> =
            reasons.map(|(method, reason)| format!("\n  `{}`: {reason}", method.name())).collect();
        Error::input(format!("none of the methods can be asked:{}", reasons.concat()), None)
    })?;
    let seeds: Vec<u64> = seeds.into_iter().filter(|seed| collected.seeds.contains(seed)).collect();
    let gallery = collected.gallery(asked, test.rows.numbers(), &test.truths, own_seed);
    clock.stop("galleries");
    let broken = test.counts();
    let left_out = numbers.len() - test.rows.len();
    let about = About {
        chimera: env!("CARGO_PKG_VERSION").to_owned(),
        model: manifest.seal.clone(),
        encoder: encoder_words(&manifest),
        trained_on: manifest.dataset.name.clone(),
        train_rows: manifest.dataset.rows,
        dataset: dataset.manifest().name.clone(),
        rows: test.rows.len(),
        own_rows: is_own,
        left_out,
        broken,
        test_rows: dataset.row_fingerprint(&test.rows).to_string(),
        other_rules: asked.rule_set.is_some(),
        seeds,
        refit_leaf: asked.refit_leaf && has_replica,
        main,
        resamples: RESAMPLES,
        by_group: groups.is_some(),
    };
    if left_out > 0 {
        words.push(format!("{left_out} of {} test rows could not be read and are not measured", numbers.len()));
    }
    words.extend(collected.words);
    words.extend(unscored_words(&collected.cells, &rules));
    words.extend(anomaly_words(&collected.anomalies, rules.len()));
    words.extend(gallery.words.clone());
    let manifest = serde_json::to_value(&manifest).map_err(|error| Error::input(error.to_string(), None))?;
    Ok(Evaluation {
        about,
        rules,
        methods: collected.methods,
        cells: collected.cells,
        resampled: collected.resampled,
        anomalies: collected.anomalies,
        supervised_on: collected.supervised_on,
        leaves,
        quality,
        reliability: collected.reliability,
        plots: collected.plots,
        coverage,
        gallery,
        words,
        manifest,
        seconds: clock.seconds,
    })
}

/// Rules that a method has no score for on some rows, in words.
fn unscored_words(cells: &Cells, rules: &[RuleOf]) -> Vec<String> {
    let is_lost = |((_, kind, _), of_seeds): &(&(Method, ScoreKind, usize), &Vec<Cell>)| {
        *kind == ScoreKind::Raw && of_seeds.iter().any(|cell| cell.unscored > 0)
    };
    let words = |((method, _, rule), of_seeds): (&(Method, ScoreKind, usize), &Vec<Cell>)| {
        let RuleOf { name, positives, negatives, .. } = &rules[*rule];
        format!(
            "`{}` has no score on up to {} of the {} rows on which it is known whether `{name}` is broken: it is measured on the \
             others, and compared with no other method there",
            method.name(),
            of_seeds.iter().map(|cell| cell.unscored).max().unwrap_or(0),
            positives + negatives
        )
    };
    cells.iter().filter(is_lost).map(words).collect()
}

/// Methods whose numbers of samples as a whole are over fewer rows or rules than those of others, in words.
fn anomaly_words(cells: &[AnomalyCell], rules: usize) -> Vec<String> {
    let mut found: BTreeMap<Method, (usize, usize)> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.aggregation == Aggregation::default()) {
        let (unscored, told) = found.entry(cell.method).or_insert((0, rules));
        (*unscored, *told) = (cell.unscored.max(*unscored), cell.rules.min(*told));
    }
    let words = |(method, (unscored, told)): (Method, (usize, usize))| {
        let name = method.name();
        let rows = (unscored > 0).then(|| format!("without {unscored} rows that `{name}` has no score for"));
        let over = (told < rules).then(|| format!("by the {told} of {rules} rules that `{name}` tells"));
        let what: Vec<String> = rows.into_iter().chain(over).collect();
        (!what.is_empty()).then(|| format!("samples as a whole: `{name}` is measured {}", what.join(" and ")))
    };
    found.into_iter().filter_map(words).collect()
}

/// The encoder in a word, with the numbers that it gives.
fn encoder_words(manifest: &model::ModelManifest) -> String {
    let name = serde_json::to_value(manifest.config.encoder).ok();
    let name = name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    format!("{name}, {} numbers a sample", manifest.bank.encoder.features())
}

fn rules_of(rule_set: &RuleSet, truths: &RuleTruths) -> Vec<RuleOf> {
    let count = |rule: usize, wanted: Option<bool>| {
        truths.broken[rule].iter().filter(|broken| **broken == wanted).count() as u64
    };
    let of_rule = |(number, rule): (usize, &chimera_logic::rules::Rule)| RuleOf {
        name: rule.name.clone(),
        family: rule_set.family(rule).to_string(),
        formula: rule_set.dag.text(rule.root),
        positives: count(number, Some(true)),
        negatives: count(number, Some(false)),
        unknown: count(number, None) - truths.out_of_vocabulary[number] as u64,
        out_of_vocabulary: truths.out_of_vocabulary[number] as u64,
        truth: truths.fingerprint(number),
        fallback: None,
        fallback_seeds: Vec::new(),
    };
    rule_set.rules.iter().enumerate().map(of_rule).collect()
}
