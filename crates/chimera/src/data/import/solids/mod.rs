//! What the importers of CLEVR and CLEVRER share: from samples that were read, good and bad ones, to a dataset. Samples that
//! cannot be used or come twice are left out and counted; concepts are chosen when it is known who is to learn from what.

pub(super) mod concepts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chimera_logic::bits::{BitTable, TruthTable};

use self::concepts::ConceptOptions;
use super::media_list::{self, Taking};
use super::{ImportOptions, Imported, Note, SplitRule, splitting};
use crate::data::clevr::clip::Clip;
use crate::data::clevr::concept::Concept;
use crate::data::clevr::look::Look;
use crate::data::draft::{DatasetWriter, Draft};
use crate::data::manifest::{Kind, Manifest, Source, root_from};
use crate::data::split::Split;
use crate::data::table::LabelTable;
use crate::error::{Error, Result};

/// What is on a picture, or happens in a video.
pub(super) enum Content {
    Scene(Vec<Look>),
    Clip(Clip),
}

impl Content {
    fn holds(&self, concept: &Concept) -> bool {
        match self {
            Self::Scene(looks) => concept.in_scene(looks).unwrap_or(false),
            Self::Clip(clip) => concept.in_clip(clip),
        }
    }

    fn looks(&self) -> Vec<Look> {
        match self {
            Self::Scene(looks) => looks.clone(),
            Self::Clip(clip) => clip.looks(),
        }
    }
}

/// One picture or video with what is known of it.
pub(super) struct Sample {
    /// The file's name without its ending.
    pub(super) id: String,
    /// What is once in a dataset; two samples that share it are one.
    pub(super) identity: String,
    /// Where the medium is, under the root.
    pub(super) media: String,
    /// The source's own word.
    pub(super) split: String,
    /// Where it was described.
    pub(super) place: String,
    pub(super) content: Content,
}

/// A sample, or where one was and why it cannot be used.
pub(super) type Found = std::result::Result<Sample, (String, String)>;

/// What an importer knows beside its samples.
pub(super) struct Import<'a> {
    pub(super) importer: &'static str,
    pub(super) kind: Kind,
    /// What was imported, for messages.
    pub(super) folder: &'a Path,
    pub(super) media_root: &'a Path,
    pub(super) concepts: &'a ConceptOptions,
    pub(super) strict: bool,
    pub(super) options: &'a ImportOptions,
    pub(super) sources: Vec<Source>,
}

impl Import<'_> {
    /// Makes the dataset.
    pub(super) fn finish(
        self,
        writer: DatasetWriter,
        found: Vec<Found>,
        out: &Path,
        mut notes: Vec<Note>,
    ) -> Result<Imported> {
        let samples = self.sifted(found, &mut notes)?;
        let mut table = table_of(&samples, self.folder, &mut notes);
        let split = splitting::settle(&mut table, self.options, &mut notes)?;
        let chosen = splitting::chosen_rows(&table, self.options)?;
        let mut table = table.select(&chosen);
        let contents: Vec<&Content> = chosen.iter().map(|&row| &samples[row].content).collect();
        self.label(&mut table, &contents, &mut notes)?;
        let hint = "media that were not unpacked are the usual reason; labels alone are of no use to an encoder";
        let taking = Taking { kind: Some(self.kind), strict: self.strict, missing_hint: hint };
        media_list::settle(&mut table, self.media_root, taking, &mut notes)?;
        let mut manifest = Manifest::new(self.options.name_for(out), self.kind);
        manifest.media_root = Some(root_from(out, self.media_root)?);
        manifest.seed = self.options.seed;
        let mut options = self.concepts.chosen();
        options.extend(self.strict.then(|| ("strict", "true".to_owned())));
        manifest.provenance = self.options.provenance(self.importer, &split, options, &[])?;
        manifest.provenance.sources.extend(self.sources);
        let dataset = writer.finish(Draft { manifest, table, features: None })?;
        Ok(Imported { dataset, notes })
    }

    /// Samples that can be used, each once.
    fn sifted(&self, found: Vec<Found>, notes: &mut Vec<Note>) -> Result<Vec<Sample>> {
        let (all, mut first): (usize, BTreeMap<String, String>) = (found.len(), BTreeMap::new());
        let mut unusable = Note::new("samples were left out, since what is said of them cannot be used");
        let mut twice = Note::new("samples were left out, since their picture or video came before");
        let mut samples = Vec::with_capacity(all);
        for found in found {
            match found {
                Err((place, reason)) => unusable.add(|| format!("{place}: {reason}")),
                Ok(sample) => match first.get(&sample.identity) {
                    Some(before) => twice.add(|| format!("{}: {} is in {before}", sample.place, sample.identity)),
                    None => {
                        first.insert(sample.identity.clone(), sample.place.clone());
                        samples.push(sample);
                    }
                },
            }
        }
        let worst = [&unusable, &twice].into_iter().find(|note| note.count > 0);
        if let Some(worst) = worst.filter(|_| self.strict || samples.is_empty()) {
            let (count, first) = (worst.count, worst.listed.first().map_or("", String::as_str));
            let message = format!(
                "expected {all} samples in `{}` that can be used, each once, got {count} that cannot: {first}",
                self.folder.display()
            );
            let hint = "mend or remove what is listed; without `--strict`, it is left out and counted";
            return Err(Error::input(message, (!samples.is_empty()).then(|| hint.to_owned())));
        }
        notes.extend([unusable, twice].into_iter().filter(|note| note.count > 0));
        Ok(samples)
    }

    /// Chooses the concepts and fills in the labels.
    fn label(&self, table: &mut LabelTable, contents: &[&Content], notes: &mut Vec<Note>) -> Result<()> {
        let learned: Vec<&Content> = table.training_rows().into_iter().map(|row| contents[row]).collect();
        let concepts = self.concepts.settle(self.kind, &learned)?;
        if concepts.is_empty() {
            let message = format!("expected concepts that occur in train, got {} samples of train", learned.len());
            let hint = "name concepts with `--concepts`, or deal samples to train: `--split train=0.8,test=0.2`";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let labels =
            BitTable::from_fn(contents.len(), concepts.len(), |row, column| contents[row].holds(&concepts[column]));
        let mut never = Note::new("concepts hold in no sample");
        let unmet = (0..concepts.len()).filter(|&column| labels.count_ones(column) == 0);
        unmet.for_each(|column| never.add(|| concepts[column].name().to_owned()));
        notes.extend((never.count > 0).then_some(never));
        table.labels = TruthTable::complete(labels);
        table.concepts = concepts.iter().map(|concept| concept.name().to_owned()).collect();
        Ok(())
    }
}

/// All samples, without labels yet. Where two samples would share an id, all are named by their media's whole paths.
fn table_of(samples: &[Sample], folder: &Path, notes: &mut Vec<Note>) -> LabelTable {
    let mut known = BTreeSet::new();
    let mut alike = Note::new("names stand for two media each: samples are named by the paths of their media");
    samples.iter().filter(|sample| !known.insert(&sample.id)).for_each(|sample| alike.add(|| sample.id.clone()));
    let prefixes = alike.count > 0;
    notes.extend(prefixes.then_some(alike));
    let id = |sample: &Sample| if prefixes { sample.media.clone() } else { sample.id.clone() };
    let is_train = |sample: &Sample| Split::from_source(&sample.split) == Some(Split::Train);
    let splits = (!samples.iter().all(is_train)).then(|| samples.iter().map(|sample| sample.split.clone()).collect());
    LabelTable {
        ids: samples.iter().map(id).collect(),
        labels: TruthTable::complete(BitTable::zeros(samples.len(), 0)),
        splits,
        media: Some(samples.iter().map(|sample| sample.media.clone()).collect()),
        groups: None,
        oov_ancestors: None,
        concepts: Vec::new(),
        lines: None,
        path: folder.to_owned(),
    }
}

/// Refuses a split that is none of ours before anything is read, unless samples are dealt anew.
pub(super) fn check_split(word: &str, place: &Path, options: &ImportOptions) -> Result<()> {
    if Split::from_source(word).is_some() || matches!(options.split, SplitRule::Shares(_)) {
        return Ok(());
    }
    let message = format!(
        "expected a split (train, calibration, test or oracle; val is test) in the name `{}`, got `{word}`",
        place.display()
    );
    let hint = "to deal all samples anew, give shares: `--split train=0.8,test=0.2`";
    Err(Error::input(message, Some(hint.to_owned())))
}
