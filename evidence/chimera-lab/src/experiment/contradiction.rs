//! Rules that are never broken or always: `A <=> !A` and `1 & 7`. Samples are sorted by p itself, for people to look at.

use chimera::gate::config::{GateConfig, Negatives};
use chimera::score::engine::{Engine, Scoring};
use chimera::score::method::Method;
use chimera::score::samples::{Encodings, RowsOf};
use chimera_data::dataset::Dataset;
use chimera_data::error::Result;
use chimera_data::import::{ImportOptions, MnistImport, import_mnist};
use chimera_data::media::png::write_png;
use chimera_leaf::config::LeafConfig;
use chimera_logic::printer::quote_name;

use super::Lab;
use super::rules::TOGETHER;
use crate::digits::write_digits;
use crate::markdown::Table;
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
    // The rule holds on no sample, so that `sem`, which learns from samples on which it does, has none: all samples as they are, then.
    let config =
        GateConfig { negatives: Negatives::Same, grafts: false, seed: lab.request.seed, ..GateConfig::default() };
    let name = format!("{}-same", study.model.file_name().unwrap_or_default().display());
    let same = study.regated(lab.site, &name, &rules, &config, false)?;
    let ways = [("sem", &same, Method::Chimera), ("chimera", &study, Method::Chimera)];
    let sorted = Sorted::of(lab, &concepts, &ways)?;
    sorted.page(lab, &study.dataset, "Digits under `A <=> !A`", &whose_digits(lab))
}

/// Sevens by `1 & 7`.
pub(super) fn one_and_seven(lab: &Lab<'_>) -> Result<String> {
    let study = digit_study(lab, "digits-1and7", "both: digit_1 & digit_7\n")?;
    let concepts = ["digit_7".to_owned()];
    let ways = [Method::IndepCal, Method::Chimera, Method::Neural].map(|method| (method.name(), &study, method));
    let sorted = Sorted::of(lab, &concepts, &ways)?;
    let whose = format!(
        "{} A picture of a digit shows one concept, so nothing tells what a second one would add, and `neural` is `indep-cal`.",
        whose_digits(lab)
    );
    sorted.page(lab, &study.dataset, "Sevens by P(1 & 7)", &whose)
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
    let ways = [Method::IndepCal, Method::Chimera].map(|method| (method.name(), &study, method));
    let sorted = Sorted::of(lab, &concepts, &ways)?;
    sorted.page(lab, &study.dataset, "Classes under `A <=> !A`", &lab.whose(World::Openimages))
}

/// A model of digits: MNIST's, or our own.
fn digit_study(lab: &Lab<'_>, name: &str, rules: &str) -> Result<Study> {
    let (quick, seed) = (lab.request.quick, lab.request.seed);
    let (train, test) = if quick { (1500, 600) } else { (6000, 3000) };
    let kind = match lab.request.tag()? {
        Some(tag) => format!("mnist-{train}-{tag}"),
        None => format!("digits-{train}-{seed}"),
    };
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
    /// For each strip: how sure the leaf bank is of the class in the smallest and in the largest.
    sure: Vec<[f64; 2]>,
}

/// A way to p: its name, a model and a method of it.
type Way<'a> = (&'a str, &'a Study, Method);

impl Sorted {
    /// Of each concept the test samples that show it, by the rule of its number (or the only one) and each way.
    fn of(lab: &Lab<'_>, concepts: &[String], ways: &[Way<'_>]) -> Result<Self> {
        let mut by_way = Vec::new();
        for way in ways {
            by_way.push(Self::of_way(lab, concepts, *way)?);
        }
        // A class's strips below each other.
        let (mut strips, mut sure) = (Vec::new(), Vec::new());
        for class in 0..concepts.len() {
            for way in &by_way {
                strips.push(way.strips[class].clone());
                sure.push(way.sure[class]);
            }
        }
        Ok(Self { strips, sure })
    }

    fn of_way(lab: &Lab<'_>, concepts: &[String], (name, study, method): Way<'_>) -> Result<Self> {
        let site = lab.site;
        let engine = Engine::open(&study.model, &site.open()?, site.threads)?;
        let encoded = study.encoded(site, &engine.model)?;
        let ready = engine.ready(Scoring { method, ..Scoring::default() }, None, site.threads)?;
        let (mut strips, mut sure) = (Vec::new(), Vec::new());
        let table = study.dataset.table();
        let test = encoded.present(&study.dataset.test());
        for (number, class) in concepts.iter().enumerate() {
            let concept = table.concepts.iter().position(|of| of == class).unwrap_or_default();
            let rule = number.min(study.rule_set.rules.len() - 1);
            let shows = |row: &usize| table.labels.get(*row, concept) == Some(true);
            let rows: Vec<usize> = test.numbers().iter().copied().filter(shows).take(SHOWN).collect();
            let samples = RowsOf { encoded: &encoded, numbers: &rows };
            let mut scored = Vec::with_capacity(rows.len());
            ready.score(&samples, site.threads, &mut |at, scores| {
                scored.extend(scores.p[rule].map(|p| (rows[at], p)));
                Ok(())
            })?;
            let strip = Strip { class: class.clone(), name: name.to_owned(), scored };
            let sure_of = |row: usize| -> f64 {
                let at = rows.iter().position(|of| *of == row).unwrap_or_default();
                1.0 / (1.0 + (-f64::from(samples.logits(at)[concept])).exp())
            };
            let ends = strip.ends();
            let (low, high) = ends.split_at(ends.len() / 2);
            let mean = |part: &[(usize, f64)]| {
                part.iter().map(|(row, _)| sure_of(*row)).sum::<f64>() / part.len().max(1) as f64
            };
            sure.push([mean(low), mean(high)]);
            strips.push(strip);
        }
        Ok(Self { strips, sure })
    }

    fn page(&self, lab: &Lab<'_>, dataset: &Dataset, title: &str, whose: &str) -> Result<String> {
        let lines =
            [format!("{title}: test samples of a class, the ten with the smallest p and the ten with the largest")];
        let picture = draw(dataset, &lines, &self.strips)?;
        write_png(&lab.folder.join("strips.png"), &picture)?;
        let mut table = Table::new(&["class", "method", "leaf bank's p of the class, smallest ten", "largest ten"]);
        for (strip, [low, high]) in self.strips.iter().zip(&self.sure) {
            table.row(vec![
                format!("`{}`", strip.class),
                strip.name.clone(),
                format!("{low:.3}"),
                format!("{high:.3}"),
            ]);
        }
        Ok(format!(
            "# {title}\n\nThe rule never holds, and every sample has the same label. Sorted by p, samples that look least like their class come last \
             where the method has learned something of how violations look: the leaf bank, which has seen no rule, is then less sure of them. {whose}\n\n\
             ![Strips, a class and a method each](strips.png)\n\n{}",
            table.text()
        ))
    }
}
