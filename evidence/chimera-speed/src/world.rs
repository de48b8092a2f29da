//! From end to end: a world of clips is made, imported, learned with 35 rules, and every method measured.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use chimera::gate::config::GateConfig;
use chimera::score::method::Method;
use chimera::train;
use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::import::{ClevrerImport, ConceptOptions, RuleConcepts, import_clevrer};
use chimera_leaf::config::LeafConfig;
use chimera_leaf::device::DeviceChoice;
use chimera_logic::load::load_text;
use chimera_logic::printer::quote_name;
use chimera_mine::mine;
use chimera_mine::options::{MineOptions, Support};
use chimera_mine::record::MiningRecord;
use chimera_world::clevrer::{Footage, write_clevrer};
use chimera_world::order::{Order, picture_size};
use chimera_world::presets;
use chimera_world::wish::HouseRules;

use super::record::{Measurement, On};
use super::{Bench, Notes};
use chimera_lab::experiment::mean;
use chimera_lab::site::{Event, Site};
use chimera_lab::study::{Plan, Study};
use chimera_lab::world::World;

/// What the sum of the stages that depend on the device is called.
pub(super) const ALL: &str = "from a dataset to a report";

/// What the number of rules is called, beside stages.
pub(super) const RULES: &str = "rules";

/// What quality is called, beside stages.
pub(super) const QUALITY: &str = "AUROC of `neural`";

/// Frames of a clip that are kept.
const FRAMES: NonZeroUsize = match NonZeroUsize::new(8) {
    Some(eight) => eight,
    None => NonZeroUsize::MIN,
};

/// How much there is of everything.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Clips to learn from, to measure on and for the oracle.
    clips: [usize; 3],
    epochs: usize,
    /// Rules that are wanted; mining may find fewer.
    rules: usize,
}

impl Sizes {
    fn name(self) -> String {
        format!("{} clips", self.clips.iter().sum::<usize>())
    }
}

pub(super) fn measure(bench: &Bench<'_>, notes: &mut Notes<'_>) -> Result<()> {
    let full = Sizes { clips: [4000, 700, 300], epochs: 7, rules: 35 };
    let sizes = bench.full_or_quick(full, Sizes { clips: [80, 40, 20], epochs: 1, rules: 12 });
    // Made anew each time: what is there already would take no time.
    let folder = bench.site.folder.join("speed-world");
    remove(&folder)?;
    fs::create_dir_all(&folder).map_err(|cause| Error::write(&folder, cause))?;
    let case = sizes.name();
    let cpu = |what: &str, seconds: f64| Measurement::ours(what, &case, On::Cpu, (seconds, "s"));

    let started = Instant::now();
    make(bench, &folder.join("world"), sizes)?;
    let made = started.elapsed().as_secs_f64();
    notes.keep(vec![cpu("making the world", made)])?;

    let started = Instant::now();
    let dataset = import(&folder.join("world"), &folder.join("data"))?;
    let imported = started.elapsed().as_secs_f64();
    notes.keep(vec![cpu("import", imported)])?;

    let started = Instant::now();
    let (rules, mined) = rules(bench, &dataset, sizes.rules)?;
    let mining = cpu("mining", started.elapsed().as_secs_f64());
    let found = count(&rules, &dataset);
    notes.keep(vec![mining, Measurement::ours(RULES, &case, On::Cpu, (found as f64, "rules"))])?;

    let devices = bench.gpu.as_ref().map(|(choice, _)| (On::Gpu, *choice));
    let processor = (!bench.alone).then_some((On::Cpu, DeviceChoice::Cpu));
    for (on, device) in processor.into_iter().chain(devices) {
        bench.site.say(&format!("learning and measuring on the {}", on.name()));
        let stages = learn(bench, &folder.join(on.name()), device, &dataset, (&rules, &mined), sizes)?;
        let all = stages.seconds.iter().map(|(_, seconds)| seconds).sum::<f64>();
        let told = |(what, seconds): (&str, f64)| Measurement::ours(what, &case, on, (seconds, "s"));
        let mut measured: Vec<Measurement> = stages.seconds.into_iter().map(told).collect();
        measured.push(told((ALL, all)));
        measured.extend(stages.quality.map(|auroc| Measurement::ours(QUALITY, &case, on, (auroc, "AUROC"))));
        notes.keep(measured)?;
    }
    remove(&folder)
}

fn remove(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder).map_err(|cause| Error::write(folder, cause))
}

/// The world as `chimera world clevrer --size 64x64` makes it.
fn make(bench: &Bench<'_>, folder: &Path, sizes: Sizes) -> Result<()> {
    let [train, test, oracle] = sizes.clips;
    let (size, threads) = (picture_size(64, 64)?, bench.site.threads);
    let order = Order { size, train, test, oracle, violations: 0.3, together: 0.3, seed: bench.seed, threads };
    let house = HouseRules::new(presets::rules(presets::CLEVRER), true)?;
    let tell = |done, total| (bench.site.tell)(Event::Scenes { done, total });
    write_clevrer(folder, &order, &Footage::Frames(FRAMES), &house, &tell)
}

/// Clips with the concepts of an import as it is by default, and those of the rules.
fn import(world: &Path, out: &Path) -> Result<Dataset> {
    let names = presets::rules(presets::CLEVRER).dag.vocabulary().names().map(str::to_owned).collect();
    let rules = Some(RuleConcepts { file: world.join("rules.rules"), names });
    let concepts = ConceptOptions { rules, ..ConceptOptions::default() };
    let import = ClevrerImport { folder: world.to_owned(), concepts, ..ClevrerImport::default() };
    Ok(import_clevrer(&import, out)?.dataset)
}

/// Rules: those of the world, and as many mined ones as are wanted; thresholds are lowered until there are enough.
fn rules(bench: &Bench<'_>, dataset: &Dataset, wanted: usize) -> Result<(String, Vec<MiningRecord>)> {
    let (mut text, mut mined) = (presets::CLEVRER.to_owned(), Vec::new());
    for (confidence, support) in [(0.995, 0.05), (0.9, 0.05), (0.8, 0.02), (0.7, 0.01)] {
        if count(&text, dataset) >= wanted {
            break;
        }
        let options = MineOptions {
            confidence_pos: confidence,
            confidence_neg: 1.0 - confidence,
            support: Support::Share(support),
            max_rules: wanted,
            ..MineOptions::default()
        };
        let mining = mine(dataset, &options, "chimera experiment speed", bench.site.threads, &|_, _| {})?;
        for rule in &mining.rules {
            let before = load_text("rules", &text, dataset.table().vocabulary());
            let line = format!("{}: {}\n", quote_name(&rule.name), rule.formula);
            let after = load_text("rules", &format!("{text}\n{line}"), dataset.table().vocabulary());
            let (set, known) = (&after.rule_set, before.rule_set.rules.len());
            // A rule that is there already, under this name or another, is no rule more.
            let is_new = set.rules.len() > known
                && after.diagnostics.errors() == 0
                && set.rules[..known].iter().all(|old| old.root != set.rules[known].root);
            if is_new && known < wanted {
                text += &format!("\n{line}");
            }
        }
        mined = vec![mining.record];
    }
    bench.site.say(&format!("{} rules", count(&text, dataset)));
    Ok((text, mined))
}

fn count(rules: &str, dataset: &Dataset) -> usize {
    load_text("rules", rules, dataset.table().vocabulary()).rule_set.rules.len()
}

/// Stages and what came out.
struct Stages {
    seconds: Vec<(&'static str, f64)>,
    quality: Option<f64>,
}

/// Learns and measures with nothing at hand but the dataset.
fn learn(
    bench: &Bench<'_>,
    folder: &Path,
    device: DeviceChoice,
    dataset: &Dataset,
    (rules, mined): (&str, &[MiningRecord]),
    sizes: Sizes,
) -> Result<Stages> {
    fs::create_dir_all(folder).map_err(|cause| Error::write(folder, cause))?;
    let (started, leaf_done) = (Instant::now(), Mutex::new(0.0_f64));
    let tell = |event: Event<'_>| {
        if let Event::Taught(train::Event::Leaf(_)) = &event {
            *leaf_done.lock().unwrap_or_else(PoisonError::into_inner) = started.elapsed().as_secs_f64();
        }
        (bench.site.tell)(event);
    };
    let cache = folder.join("cache");
    let site = Site { folder, cache: &cache, tell: &tell, device, ..*bench.site };
    let leaf = LeafConfig { epochs: sizes.epochs, patience: sizes.epochs, ..World::Clevrer.leaf(bench.seed) };
    let gates = GateConfig { seed: bench.seed, ..GateConfig::default() };
    let plan = Plan { name: "model", rules, mined: mined.to_vec(), leaf, gates };
    let study = Study::teach(&site, dataset.clone(), plan)?;
    let taught = started.elapsed().as_secs_f64();
    let methods: Vec<Method> = Method::ALL.iter().map(|(_, method)| *method).collect();
    let evaluation = study.measure(&site, &methods, NonZeroUsize::MIN)?;
    let measured = started.elapsed().as_secs_f64();
    let leaf = *leaf_done.lock().unwrap_or_else(PoisonError::into_inner);
    let all: Vec<usize> = (0..evaluation.rules.len()).collect();
    let seconds =
        vec![("leaf bank", leaf), ("gates and heads", taught - leaf), ("every method measured", measured - taught)];
    Ok(Stages { seconds, quality: mean(&evaluation, Method::Neural, &all) })
}
