//! From samples that a source describes one by one, good and bad ones, to a dataset. Samples that cannot be used or come twice
//! are left out and counted; concepts are chosen when it is known who is to learn from what.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chimera_logic::bits::{BitTable, TruthTable};

use super::media_list::{self, Taking};
use super::note::{Bad, Note, leave_out};
use super::splitting::{DEFAULT_SHARES, Unsplit};
use super::{ImportOptions, Imported, SplitRule, splitting};
use crate::dataset::draft::{DatasetWriter, Draft};
use crate::dataset::manifest::{Kind, Manifest, Source, root_from};
use crate::error::{Error, Result, shown};
use crate::split::Split;
use crate::table::LabelTable;

/// One picture or video with what is known of it.
pub(super) struct Sample<C> {
    /// What it is called, once in a dataset wherever possible.
    pub(super) id: String,
    /// What is once in a dataset; two samples that share it are one.
    pub(super) identity: String,
    /// Where the medium is, under the root.
    pub(super) media: String,
    /// The source's own word.
    pub(super) split: String,
    /// Where it was described.
    pub(super) place: String,
    /// What it shows.
    pub(super) content: C,
}

/// A sample, or where one was and why it cannot be used.
pub(super) type Found<C> = std::result::Result<Sample<C>, (String, String)>;

/// Concepts in the order of their columns, and which samples have them.
pub(super) struct Labelled {
    pub(super) concepts: Vec<String>,
    pub(super) labels: BitTable,
}

/// What an importer knows beside its samples.
pub(super) struct SampleImport<'a> {
    pub(super) importer: &'static str,
    pub(super) kind: Kind,
    /// What was imported, for messages.
    pub(super) source: &'a Path,
    /// Where media are; without it, labels alone are imported.
    pub(super) media_root: Option<&'a Path>,
    /// What to do where media are not there.
    pub(super) missing_hint: &'static str,
    /// Frames of each video that the labels speak of, where they do.
    pub(super) frames: Option<u32>,
    pub(super) strict: bool,
    pub(super) options: &'a ImportOptions,
    /// What else the user chose, by the names of the options.
    pub(super) chosen: Vec<(&'static str, String)>,
    pub(super) sources: Vec<Source>,
}

impl SampleImport<'_> {
    /// Makes the dataset. `label` is given the content of all rows, and of those to learn from.
    pub(super) fn finish<C>(
        self,
        writer: DatasetWriter,
        found: Vec<Found<C>>,
        out: &Path,
        mut notes: Vec<Note>,
        label: impl FnOnce(&[&C], &[&C], &mut Vec<Note>) -> Result<Labelled>,
    ) -> Result<Imported> {
        let samples = self.sifted(found, &mut notes)?;
        let mut table = self.table_of(&samples, &mut notes);
        let why = "the source has samples of train alone, which are dealt";
        let unsplit = Unsplit { why, shares: &DEFAULT_SHARES, asked: None };
        let split = splitting::settle_by(&mut table, self.options, &unsplit, &mut notes)?;
        let chosen = splitting::chosen_rows(&table, self.options)?;
        let mut table = table.select(&chosen);
        let contents: Vec<&C> = chosen.iter().map(|&row| &samples[row].content).collect();
        let learned: Vec<&C> = table.training_rows().into_iter().map(|row| contents[row]).collect();
        let Labelled { concepts, labels } = label(&contents, &learned, &mut notes)?;
        if concepts.is_empty() {
            let message = format!("expected a concept at least in the samples of train, got none in {}", learned.len());
            let hint = "ask for more concepts, or deal samples to train: `--split train=0.8,test=0.2`";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        notes.extend(in_no_sample(&concepts, &labels));
        (table.labels, table.concepts) = (TruthTable::complete(labels), concepts);
        let mut manifest = Manifest::new(self.options.name_for(out), self.kind);
        if let Some(root) = self.media_root {
            let taking = Taking { kind: Some(self.kind), strict: self.strict, missing_hint: self.missing_hint };
            media_list::settle(&mut table, root, taking, &mut notes)?;
            manifest.media_root = Some(root_from(out, root)?);
        }
        (manifest.frames, manifest.seed) = (self.frames, self.options.seed);
        let mut options = self.chosen;
        options.extend(self.strict.then(|| ("strict", "true".to_owned())));
        manifest.provenance = self.options.provenance(self.importer, &split, options, &[])?;
        manifest.provenance.sources.extend(self.sources);
        let dataset = writer.finish(Draft { manifest, table, features: None })?;
        Ok(Imported { dataset, notes })
    }

    /// Samples that can be used, each once.
    fn sifted<C>(&self, found: Vec<Found<C>>, notes: &mut Vec<Note>) -> Result<Vec<Sample<C>>> {
        let (all, mut first): (usize, BTreeMap<String, String>) = (found.len(), BTreeMap::new());
        let mut unusable = Note::about(
            "sample was left out, since what is said of it cannot be used",
            "samples were left out, since what is said of them cannot be used",
        );
        let mut twice = Note::about(
            "sample was left out, since its picture or video came before",
            "samples were left out, since their picture or video came before",
        );
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
        let expected = format!("{all} samples in `{}` that can be used, each once", self.source.display());
        leave_out([unusable, twice], &expected, Bad::of(self.strict, !samples.is_empty()), notes)?;
        Ok(samples)
    }

    /// All samples, without labels yet. Where two samples would share an id, all are named by their media's whole paths.
    fn table_of<C>(&self, samples: &[Sample<C>], notes: &mut Vec<Note>) -> LabelTable {
        let mut known = BTreeSet::new();
        let mut alike = Note::about(
            "name stands for two media: samples are named by the paths of their media",
            "names stand for two media each: samples are named by the paths of their media",
        );
        samples.iter().filter(|sample| !known.insert(&sample.id)).for_each(|sample| alike.add(|| sample.id.clone()));
        let prefixes = alike.count > 0;
        notes.extend(prefixes.then_some(alike));
        let id = |sample: &Sample<C>| if prefixes { sample.media.clone() } else { sample.id.clone() };
        let is_train = |sample: &Sample<C>| Split::from_source(&sample.split) == Some(Split::Train);
        let splits =
            (!samples.iter().all(is_train)).then(|| samples.iter().map(|sample| sample.split.clone()).collect());
        LabelTable {
            ids: samples.iter().map(id).collect(),
            labels: TruthTable::complete(BitTable::zeros(samples.len(), 0)),
            splits,
            media: self.media_root.map(|_| samples.iter().map(|sample| sample.media.clone()).collect()),
            groups: None,
            oov_ancestors: None,
            concepts: Vec::new(),
            lines: None,
            path: self.source.to_owned(),
        }
    }
}

/// Concepts that no row has, where there are any.
pub(super) fn in_no_sample(concepts: &[String], labels: &BitTable) -> Option<Note> {
    let mut never = Note::about("concept holds in no sample", "concepts hold in no sample");
    let unmet = (0..concepts.len()).filter(|&column| labels.count_ones(column) == 0);
    unmet.for_each(|column| never.add(|| concepts[column].clone()));
    (never.count > 0).then_some(never)
}

/// Refuses a split that is none of ours before anything is read, unless samples are dealt anew. `place` says in words where
/// the split was named.
pub(super) fn check_split(word: &str, place: &str, options: &ImportOptions) -> Result<()> {
    if Split::from_source(word).is_some() || matches!(options.split, SplitRule::Shares(_)) {
        return Ok(());
    }
    let message =
        format!("expected a split (train, calibration, test or oracle; val is test) {place}, got `{}`", shown(word));
    let hint = "to deal all samples anew, give shares: `--split train=0.8,test=0.2`";
    Err(Error::input(message, Some(hint.to_owned())))
}

/// Where a split was named: in the name of a file or folder.
pub(super) fn in_name(path: &Path) -> String {
    format!("in the name `{}`", path.display())
}

/// Many small files as one source: the hash of their hashes.
pub(super) fn annotations_as_source(hashes: &[blake3::Hash]) -> Source {
    let mut combined = blake3::Hasher::new();
    for hash in hashes {
        combined.update(hash.as_bytes());
    }
    let file = format!("{} annotations: the hash of their hashes, in the order of their paths", hashes.len());
    Source { file, blake3: combined.finalize().to_hex().to_string() }
}
