//! Rules that are never broken or always: `A <=> !A` and `1 & 7`. Samples are sorted by p itself, for people to look at.

use chimera::data::dataset::Dataset;
use chimera::data::import::{ImportOptions, MnistImport, import_mnist};
use chimera::error::Result;
use chimera::gate::config::GateConfig;
use chimera::gate::stage::{GateEvent, Place};
use chimera::leaf::config::LeafConfig;
use chimera::leaf::device::DeviceChoice;
use chimera::media::png::write_png;
use chimera::score::engine::{Engine, Scoring};
use chimera::score::method::Method;
use chimera::score::samples::{Encodings, RowsOf};
use chimera::teach;
use chimera_logic::printer::quote_name;

use super::Lab;
use super::rules::TOGETHER;
use crate::digits::write_digits;
use crate::markdown::Table;
use crate::site::Event;
use crate::strips::{Strip, draw};
use crate::study::{Plan, Study};
use crate::world::World;

/// Classes of Open Images that are shown.
const CLASSES: usize = 6;

/// Test pictures of each class, at most; in the order of the dataset.
const SHOWN: usize = 400;

/// Digits, `A <=> !A`: SEM against chimeras.
pub(super) fn digits(lab: &Lab<'_>) -> Result<String> {
    let rules: String = (0..10).map(|digit| format!("never_{digit}: digit_{digit} <=> !digit_{digit}\n")).collect();
    let study = digit_study(lab, "digits-contradiction", &rules)?;
    let concepts: Vec<String> = (0..10).map(|digit| format!("digit_{digit}")).collect();
    let sorted = Sorted::of(lab, &study, &concepts, &[Method::Sem, Method::Chimera])?;
    sorted.page(lab, &study.dataset, "Digits under `A <=> !A`", &whose_digits(lab))
}

/// Sevens by `1 & 7`.
pub(super) fn one_and_seven(lab: &Lab<'_>) -> Result<String> {
    let study = digit_study(lab, "digits-1and7", "both: digit_1 & digit_7\n")?;
    let concepts = ["digit_7".to_owned()];
    let sorted = Sorted::of(lab, &study, &concepts, &[Method::IndepCal, Method::Chimera, Method::Neural])?;
    sorted.page(lab, &study.dataset, "Sevens by P(1 & 7)", &whose_digits(lab))
}

/// Classes of pictures, `A <=> !A`: independent events against chimeras.
pub(super) fn classes(lab: &Lab<'_>) -> Result<String> {
    let base = lab.study(World::Openimages, TOGETHER)?;
    let table = base.dataset.table();
    let test = base.dataset.test();
    let labels = table.labels.select(test.numbers());
    let mut frequent: Vec<(u64, usize)> =
        (0..table.concepts.len()).map(|concept| (labels.counts(concept).holds, concept)).collect();
    frequent.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    let concepts: Vec<String> =
        frequent.iter().take(CLASSES).map(|(_, concept)| table.concepts[*concept].clone()).collect();
    let rules: String = concepts
        .iter()
        .enumerate()
        .map(|(number, name)| format!("never_{number}: {0} <=> !{0}\n", quote_name(name)))
        .collect();
    let config = GateConfig { seed: lab.request.seed, ..GateConfig::default() };
    let name = format!("{}-contradiction", base.model.file_name().unwrap_or_default().display());
    let study = base.regated(lab.site, &name, &rules, &config, false)?;
    let sorted = Sorted::of(lab, &study, &concepts, &[Method::IndepCal, Method::Chimera])?;
    sorted.page(lab, &study.dataset, "Classes under `A <=> !A`", &lab.whose(World::Openimages))
}

/// A model of digits: MNIST's, or our own.
fn digit_study(lab: &Lab<'_>, name: &str, rules: &str) -> Result<Study> {
    let (quick, seed) = (lab.request.quick, lab.request.seed);
    let (train, test) = if quick { (1500, 600) } else { (6000, 3000) };
    let kind = if lab.request.root.is_some() { format!("mnist-{train}") } else { format!("digits-{train}-{seed}") };
    let out = lab.site.folder.join("data").join(&kind);
    let dataset = if out.exists() {
        Dataset::open(&out)?
    } else {
        let own = lab.site.folder.join("worlds").join(&kind);
        if lab.request.root.is_none() && !own.exists() {
            write_digits(&own, (train, test), seed)?;
        }
        let folder = lab.request.root.map_or(own, ToOwned::to_owned);
        let options = ImportOptions { limit: Some(train + test), ..ImportOptions::default() };
        import_mnist(&MnistImport { folder, options }, &out)?.dataset
    };
    let epochs = if quick { 2 } else { 6 };
    let leaf = LeafConfig { epochs, patience: epochs, seed, ..LeafConfig::default() };
    let gates = GateConfig { seed, ..GateConfig::default() };
    let name = format!("{name}-{kind}");
    Study::teach(lab.site, dataset, Plan { name: &name, rules, mined: Vec::new(), leaf, gates })
}

fn whose_digits(lab: &Lab<'_>) -> String {
    match lab.request.root {
        Some(_) => "Pictures are MNIST's.".to_owned(),
        None => "Digits are ours, written by a program, one in eight of them badly; `--root` takes MNIST.".to_owned(),
    }
}

/// Samples of classes, sorted by the p of a class's rule.
struct Sorted {
    strips: Vec<Strip>,
    /// For each strip: its class, its method, and how sure the leaf bank is of the class in the smallest and in the largest.
    sure: Vec<(String, Method, [f64; 2])>,
}

impl Sorted {
    /// Of each concept the test samples that show it, by the rule of its number (or the only one) and each method.
    fn of(lab: &Lab<'_>, study: &Study, concepts: &[String], methods: &[Method]) -> Result<Self> {
        let site = lab.site;
        let mut engine = Engine::open(&study.model, &DeviceChoice::default().open())?;
        let encoded = study.encoded(site, &engine.model)?;
        let place = Place { cache: site.cache, gates: None, threads: site.threads, retrain: false };
        let (mut strips, mut sure) = (Vec::new(), Vec::new());
        let table = study.dataset.table();
        let test = encoded.present(&study.dataset.test());
        for &method in methods {
            let tell = |event: GateEvent<'_>| (site.tell)(Event::Taught(teach::Event::Gates(event)));
            engine.teach(method, (&study.dataset, &encoded), place, &tell)?;
        }
        for (number, name) in concepts.iter().enumerate() {
            let Some(concept) = table.concepts.iter().position(|of| of == name) else { continue };
            let rule = number.min(study.rule_set.rules.len() - 1);
            let rows: Vec<usize> = test
                .numbers()
                .iter()
                .copied()
                .filter(|&row| table.labels.get(row, concept) == Some(true))
                .take(SHOWN)
                .collect();
            let samples = RowsOf { encoded: &encoded, numbers: &rows };
            for &method in methods {
                let ready = engine.ready(Scoring { method, ..Scoring::default() }, None, site.threads)?;
                let mut scored = Vec::with_capacity(rows.len());
                ready.score(&samples, site.threads, &mut |at, scores| {
                    scored.extend(scores.p[rule].map(|p| (rows[at], p)));
                    Ok(())
                })?;
                let strip = Strip { name: method.name().to_owned(), scored };
                let logit = |row: usize| -> f64 {
                    let at = rows.iter().position(|of| *of == row).unwrap_or_default();
                    f64::from(samples.logits(at)[concept])
                };
                let ends = strip.ends();
                let (low, high) = ends.split_at(ends.len() / 2);
                let mean = |part: &[(usize, f64)]| {
                    part.iter().map(|(row, _)| 1.0 / (1.0 + (-logit(*row)).exp())).sum::<f64>()
                        / part.len().max(1) as f64
                };
                sure.push((name.clone(), method, [mean(low), mean(high)]));
                strips.push(strip);
            }
        }
        Ok(Self { strips, sure })
    }

    fn page(&self, lab: &Lab<'_>, dataset: &Dataset, title: &str, whose: &str) -> Result<String> {
        let lines =
            [format!("{title}: test samples of a class, the ten with the smallest p and the ten with the largest")];
        let picture = draw(dataset, &lines, &self.strips)?;
        write_png(&lab.folder.join("strips.png"), &picture)?;
        let mut table = Table::new(&["class", "method", "leaf bank's p of the class, smallest ten", "largest ten"]);
        for (class, method, [low, high]) in &self.sure {
            table.row(vec![format!("`{class}`"), method.name().to_owned(), format!("{low:.3}"), format!("{high:.3}")]);
        }
        Ok(format!(
            "# {title}\n\nThe rule never holds, and every sample has the same label. Sorted by p, samples that look least like their class come last \
             where the method has learned something of how violations look: the leaf bank, which has seen no rule, is then less sure of them. {whose}\n\n\
             ![Strips, a class and a method each](strips.png)\n\n{}",
            table.text()
        ))
    }
}
