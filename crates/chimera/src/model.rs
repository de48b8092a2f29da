//! A model folder: everything that was learned, in files that other programs can read and that can be moved.
//!
//! `manifest.json` is written last and names what belongs to the model: a folder without it is no model, however much a
//! killed run left there. `encoder.safetensors` and `heads.safetensors` are the leaf bank, `calibration.json` makes its logits
//! probabilities, `leaves.csv` says how well each concept is recognised and `train.jsonl` how it was learned. `gates` has a
//! file a gate; which gates belong to which rule is in the manifest. `rules.rules`, `gates.json` and `card.md` are there to be read, and
//! `seen.bin` tells rows that it was trained on.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::file::{sync_folder, write_atomic};
use chimera_leaf::bank::{Fingerprint, LeafBank, LeafBankConfig, Stored};
use chimera_leaf::calibrate::Calibration;
use chimera_leaf::config::{EncoderChoice, LeafConfig, Weights};
use chimera_leaf::device::Device;
use chimera_leaf::encoder::EncoderConfig;
use chimera_leaf::stage::{LeafStage, MeasuredOn};
use chimera_leaf::train::StopReason;
use chimera_logic::rules::RuleSet;
use serde::{Deserialize, Serialize};

use crate::gate::report::GatesReport;
pub use crate::gate::section::GATES;
use crate::gate::section::GateSection;
use crate::gate::stage::{GateStage, files_in};
use crate::seen::{SEEN, SeenRows};

/// The name of the manifest.
pub const MANIFEST: &str = "manifest.json";

/// The file from which a run goes on.
pub const CHECKPOINT: &str = "checkpoint.safetensors";

const ENCODER: &str = "encoder.safetensors";
const HEADS: &str = "heads.safetensors";
const CALIBRATION: &str = "calibration.json";
pub(crate) const LEAVES: &str = "leaves.csv";
/// The log of training, an epoch a line.
pub const LOG: &str = "train.jsonl";

/// The rules, to be read by people and other programs.
const RULES: &str = "rules.rules";
/// What became of each gate.
const GATES_REPORT: &str = "gates.json";

/// The page for people.
pub(crate) const CARD: &str = "card.md";

/// What `score` flags by default.
pub(crate) const THRESHOLDS: &str = "thresholds.json";

/// Every file that a model folder can hold, beside the folder [`GATES`].
pub const FILES: [&str; 12] =
    [MANIFEST, CHECKPOINT, ENCODER, HEADS, CALIBRATION, LEAVES, LOG, RULES, GATES_REPORT, THRESHOLDS, SEEN, CARD];

/// Raised when an older program cannot read a model any more, or this one an older model.
pub(crate) const SCHEMA: u32 = 6;

/// What `manifest.json` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelManifest {
    /// The version of the layout.
    pub schema: u32,
    /// The version of chimera that made it.
    pub chimera: String,
    /// Every choice, with what was left to the dataset settled. Paths of weights are names alone: their content is in the encoder.
    pub config: LeafConfig,
    /// Blake3 of the file of weights that the network started from; `None` where it started from none.
    pub weights: Option<String>,
    /// What the leaf bank is.
    pub bank: LeafBankConfig,
    /// The name of what gives z; caches and gates depend on it.
    pub encoder: Fingerprint,
    /// The name of what gives logits.
    pub leaf_bank: Fingerprint,
    /// What it was trained on.
    pub dataset: TrainedOn,
    /// The epoch whose weights it has.
    pub epoch: usize,
    /// Why training ended.
    pub stopped: StopReason,
    /// Which rows `leaves.csv` is about; `None` where there are none.
    pub measured_on: Option<MeasuredOn>,
    /// Blake3 of each file.
    pub files: BTreeMap<String, String>,
    /// Seconds to prepare media, to train (over all parts of a run that was stopped) and to encode.
    pub seconds: [f64; 3],
    /// Rules and gates; `None` for a leaf bank alone.
    pub gates: Option<GateSection>,
    /// Blake3 of all of the above: what was edited by hand is no record of what was trained.
    pub seal: String,
}

impl ModelManifest {
    /// What [`seal`](Self::seal) must be.
    fn sealed(&self) -> Result<String> {
        let unsealed = Self { seal: String::new(), ..self.clone() };
        Ok(blake3::hash(&json(&unsealed)?).to_string())
    }
}

/// What a model was trained on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrainedOn {
    /// What the dataset is called.
    pub name: String,
    /// Train rows that were learned from.
    pub rows: usize,
    /// Rows without a medium that can be decoded.
    pub left_out: usize,
    /// Hashes of rows, labels, media and features.
    pub fingerprints: BTreeMap<String, String>,
    /// A hash of the content of every medium.
    pub content: String,
}

/// An opened model.
#[derive(Debug)]
pub struct Model {
    /// What it says about itself.
    pub manifest: ModelManifest,
    /// Encoder and heads.
    pub bank: LeafBank,
    /// What makes logits probabilities.
    pub calibration: Calibration,
}

/// Claims a folder for one run, as long as the result lives. Where folders cannot be locked, there is nothing to hold.
///
/// # Errors
/// [`Error::Input`] where another process has claimed it.
pub fn claim(folder: &Path) -> Result<Option<File>> {
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            let message = format!("another process is training into `{}`", folder.display());
            Err(Error::input(message, Some("wait until it is done, or use another folder".to_owned())))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Makes sure that this program computes what the model was trained with: a decoder may have changed since, or the manifest.
fn check_fingerprint(
    folder: &Path,
    manifest: &ModelManifest,
    trained: &Fingerprint,
    found: &Fingerprint,
) -> Result<()> {
    if trained == found {
        return Ok(());
    }
    let mut lines = trained.text.lines().zip(found.text.lines());
    let (trained, found) = lines.find(|(trained, found)| trained != found).unwrap_or((&trained.hash, &found.hash));
    let message = format!("expected `{}` as it was trained with `{trained}`, got `{found}`", folder.display());
    let hint = format!("train again, or use chimera {}, which made it", manifest.chimera);
    Err(Error::input(message, Some(hint)))
}

/// A file that the manifest names, with its path.
fn read_as_trained(folder: &Path, manifest: &ModelManifest, name: &str) -> Result<(PathBuf, Vec<u8>)> {
    let path = folder.join(name);
    let bytes = fs::read(&path).map_err(|cause| Error::read(&path, cause))?;
    if manifest.files.get(name).is_none_or(|hash| *hash != blake3::hash(&bytes).to_string()) {
        let message = format!("expected `{}` as it was trained, got other content", path.display());
        return Err(Error::input(message, Some("the file was changed or damaged; train again".to_owned())));
    }
    Ok((path, bytes))
}

/// A file of the model, by its parts.
fn stored<'a>(file: &'a Path, bytes: &'a [u8]) -> Stored<'a> {
    Stored { file, bytes }
}

impl Model {
    /// Opens a folder.
    ///
    /// # Errors
    /// A folder that is no model, was made by a newer program, or holds a file that is missing or was changed.
    pub fn open(folder: &Path, device: &Device) -> Result<Self> {
        let path = folder.join(MANIFEST);
        if folder.is_dir() && !path.exists() {
            let message = format!("expected a model folder, got `{}` without `{MANIFEST}`", folder.display());
            return Err(Error::input(
                message,
                Some("a run that is not finished goes on with the same `chimera train`".to_owned()),
            ));
        }
        let text = fs::read(&path).map_err(|cause| Error::read(&path, cause))?;
        let wrong = |path: &Path, error: &serde_json::Error| {
            Error::input(format!("cannot use `{}`: {error}", path.display()), None)
        };
        #[derive(Deserialize)]
        struct Layout {
            schema: u32,
        }
        let Layout { schema } = serde_json::from_slice(&text).map_err(|error| wrong(&path, &error))?;
        if schema > SCHEMA {
            let message = format!("expected a model of layout {SCHEMA} in `{}`, got {schema}", folder.display());
            return Err(Error::input(message, Some("it was made by a newer chimera; update this one".to_owned())));
        }
        if schema < SCHEMA {
            let message = format!("expected a model of layout {SCHEMA} in `{}`, got {schema}", folder.display());
            let hint = "it was made by an older chimera, whose models could load gates onto the wrong parts of a rule; train it again \
                        (cached gates are reused)";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let manifest: ModelManifest = serde_json::from_slice(&text).map_err(|error| wrong(&path, &error))?;
        let read = |name: &str| read_as_trained(folder, &manifest, name);
        let ((encoder_path, encoder), (head_path, heads)) = (read(ENCODER)?, read(HEADS)?);
        let bank = manifest.bank.restore(stored(&encoder_path, &encoder), stored(&head_path, &heads), device)?;
        check_fingerprint(folder, &manifest, &manifest.encoder, &bank.encoder_fingerprint()?)?;
        check_fingerprint(folder, &manifest, &manifest.leaf_bank, &bank.bank_fingerprint()?)?;
        let (calibration_path, calibration) = read(CALIBRATION)?;
        let calibration: Calibration =
            serde_json::from_slice(&calibration).map_err(|error| wrong(&calibration_path, &error))?;
        calibration.check_concepts(&manifest.bank.concepts)?;
        if manifest.seal != manifest.sealed()? {
            let message = format!("expected `{}` as it was written, got other content", path.display());
            let hint = "it was changed by hand; options of a model are those that it was trained with, so train again";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        Ok(Self { manifest, bank, calibration })
    }

    /// Makes sure that every file which the manifest names is as it was trained, also those that are read later or by people.
    ///
    /// # Errors
    /// A file that is missing or was changed.
    pub(crate) fn check_files(&self, folder: &Path) -> Result<()> {
        self.manifest.files.keys().try_for_each(|name| read_as_trained(folder, &self.manifest, name).map(|_| ()))
    }
}

/// Hashes of a dataset's rows, labels, media and features.
///
/// # Errors
/// Features that cannot be read.
pub(crate) fn fingerprints_of(dataset: &Dataset) -> Result<BTreeMap<String, String>> {
    let prints = dataset.fingerprints()?;
    let mut fingerprints = BTreeMap::from([
        ("rows".to_owned(), prints.rows.to_string()),
        ("labels".to_owned(), prints.labels.to_string()),
        ("media".to_owned(), prints.media.to_string()),
    ]);
    fingerprints.extend(prints.features.map(|print| ("features".to_owned(), print.to_string())));
    Ok(fingerprints)
}

/// What of a dataset is not as a model was trained on; `None` where it is the same.
///
/// # Errors
/// Features that cannot be read.
pub fn difference(manifest: &ModelManifest, dataset: &Dataset) -> Result<Option<String>> {
    let (trained_on, found) = (&manifest.dataset.fingerprints, fingerprints_of(dataset)?);
    let what = trained_on.keys().chain(found.keys()).find(|what| trained_on.get(*what) != found.get(*what));
    Ok(what.cloned())
}

/// Writes what is there to be read, then a manifest with new rules and gates, which lie in the folder already, and removes
/// gates that no rule needs any more. The folder is the old model until the manifest is there, and the new one from then on.
///
/// # Errors
/// A folder that cannot be written.
pub(crate) fn write_gates(
    folder: &Path,
    mut manifest: ModelManifest,
    rule_set: &RuleSet,
    stage: &GateStage,
) -> Result<ModelManifest> {
    manifest.gates = Some(GateSection::of(stage, rule_set, folder)?);
    write_readable(folder, &manifest, &stage.report)?;
    write_manifest(folder, &manifest)?;
    remove_unused(folder, &manifest)?;
    Ok(manifest)
}

fn write_manifest(folder: &Path, manifest: &ModelManifest) -> Result<()> {
    let bytes = json(&ModelManifest { seal: manifest.sealed()?, ..manifest.clone() })?;
    if manifest.gates.is_some() {
        sync_folder(&folder.join(GATES));
    }
    write_atomic(&folder.join(MANIFEST), |out| out.write_all(&bytes))
}

fn write_readable(folder: &Path, manifest: &ModelManifest, report: &GatesReport) -> Result<()> {
    let Some(section) = &manifest.gates else { return Ok(()) };
    // Whoever takes the rules from here takes along where they come from.
    let mined = section.mined.iter().map(|record| Ok(format!("\n{}", record.to_comments()?)));
    let text = section.rules.clone() + &mined.collect::<Result<String>>()?;
    write_atomic(&folder.join(RULES), |out| out.write_all(text.as_bytes()))?;
    let bytes = json(report)?;
    write_atomic(&folder.join(GATES_REPORT), |out| out.write_all(&bytes))?;
    Ok(())
}

/// Removes gates that no rule needs any more, and what killed runs left beside them.
fn remove_unused(folder: &Path, manifest: &ModelManifest) -> Result<()> {
    let used = manifest.gates.as_ref().map(GateSection::files).unwrap_or_default();
    for path in files_in(&folder.join(GATES))? {
        if path.file_name().is_none_or(|name| !used.contains(&*name.to_string_lossy())) {
            fs::remove_file(&path).map_err(|cause| Error::write(&path, cause))?;
        }
    }
    if manifest.gates.is_none() {
        // It stays where something else lies in it.
        let _ = fs::remove_dir(folder.join(GATES));
    }
    Ok(())
}

/// Writes a model, its manifest last, and removes the checkpoint that it no longer needs.
///
/// # Errors
/// A folder that cannot be written.
pub fn write(
    folder: &Path,
    dataset: &Dataset,
    config: &LeafConfig,
    stage: &LeafStage,
    gates: Option<(&RuleSet, &GateStage)>,
) -> Result<ModelManifest> {
    let mut files = BTreeMap::new();
    let mut put = |name: &str, bytes: &[u8]| -> Result<()> {
        files.insert(name.to_owned(), blake3::hash(bytes).to_string());
        write_atomic(&folder.join(name), |out| out.write_all(bytes))
    };
    let bank = &stage.trained.bank;
    put(ENCODER, &bank.encoder_bytes()?)?;
    put(HEADS, &bank.head_bytes()?)?;
    put(CALIBRATION, &json(&stage.calibration)?)?;
    put(SEEN, &SeenRows::of(dataset, &stage.encoded)?.to_bytes())?;
    if let Some((_, leaves)) = &stage.leaves {
        leaves.write_csv(&folder.join(LEAVES))?;
    }
    for name in [LEAVES, LOG] {
        if let Ok(bytes) = fs::read(folder.join(name)) {
            files.insert(name.to_owned(), blake3::hash(&bytes).to_string());
        }
    }
    let mut config = config.clone();
    config.encoder = Some(EncoderChoice::of(&bank.config().encoder));
    if let EncoderConfig::Frames { size, frames, .. } = bank.config().encoder {
        (config.size, config.frames) = (Some(size), frames);
    }
    config.weights = config.weights.and_then(|weights| match weights {
        Weights::File(path) => path.file_name().map(|name| Weights::File(name.into())),
        Weights::Untrained => Some(weights),
    });
    let manifest = ModelManifest {
        schema: SCHEMA,
        chimera: env!("CARGO_PKG_VERSION").to_owned(),
        config,
        weights: stage.trained.weights.clone(),
        bank: bank.config().clone(),
        encoder: bank.encoder_fingerprint()?,
        leaf_bank: bank.bank_fingerprint()?,
        dataset: TrainedOn {
            name: dataset.manifest().name.clone(),
            rows: stage.rows,
            left_out: stage.left_out.len(),
            fingerprints: fingerprints_of(dataset)?,
            content: stage.encoded.content().to_owned(),
        },
        epoch: stage.trained.epoch,
        stopped: stage.trained.stopped,
        measured_on: stage.leaves.as_ref().map(|(on, _)| *on),
        files,
        seconds: stage.seconds,
        gates: gates.map(|(rule_set, stage)| GateSection::of(stage, rule_set, folder)).transpose()?,
        seal: String::new(),
    };
    if let Some((_, gates)) = gates {
        write_readable(folder, &manifest, &gates.report)?;
    }
    write_manifest(folder, &manifest)?;
    remove_unused(folder, &manifest)?;
    let checkpoint = folder.join(CHECKPOINT);
    match fs::remove_file(&checkpoint) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::write(&checkpoint, error)),
        _ => Ok(manifest),
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::input(format!("cannot write the model: {error}"), None))?;
    bytes.push(b'\n');
    Ok(bytes)
}
