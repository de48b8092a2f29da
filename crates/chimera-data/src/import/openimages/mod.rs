//! Import of Open Images: boxes (`<split>-annotations-bbox.csv`), names and hierarchy of classes, pictures in
//! `<split>/<ImageID>.jpg`. The most common classes become concepts; labels are closed upwards.

mod boxes;
mod classes;
mod files;
mod labels;
mod oov;
mod piece;
mod rows;
mod verified;

pub use self::files::BoxFile;
pub use self::oov::OOV_CLASSES;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use chimera_logic::bits::{BitTable, TruthTable};

use self::boxes::Boxes;
use self::classes::Classes;
use self::files::Files;
use self::labels::{Rows, Vocabulary};
use self::oov::{OovClass, lacking, oov_classes, write_oov};
use self::verified::Verified;
use super::media_list::{self, Taking};
use super::note::met;
use super::samples::in_no_sample;
use super::splitting::Unsplit;
use super::{ImportOptions, Imported, Note, RuleConcepts, SplitRule, splitting};
use crate::dataset::draft::{DatasetWriter, Draft};
use crate::dataset::hierarchy::{HIERARCHY, Hierarchy, TOP_FOUND};
use crate::dataset::manifest::{Kind, Manifest, root_from};
use crate::error::{Error, Result, shown};
use crate::split::Split;
use crate::table::LabelTable;

/// Concepts unless another number is asked for; the paper's.
pub const TOP: usize = 50;

/// The share of a lone box file's pictures that are for training unless another is asked for; the paper's.
pub const VAL_TRAIN_FRAC: f64 = 0.9;

/// What to import.
#[derive(Clone, Debug)]
pub struct OpenImagesImport {
    /// The folder with all files; not needed where each is named.
    pub folder: Option<PathBuf>,
    /// Files of boxes; by default all `*-annotations-bbox.csv` of the folder.
    pub boxes: Vec<BoxFile>,
    /// Names of classes; by default `class-descriptions-boxable.csv` of the folder.
    pub classes: Option<PathBuf>,
    /// Hierarchy of classes; by default `bbox_labels_600_hierarchy.json` of the folder.
    pub hierarchy: Option<PathBuf>,
    /// Where pictures are; by default the folder.
    pub images: Option<PathBuf>,
    /// How many classes become concepts: those that most train pictures show.
    pub top: usize,
    /// Classes that rules name, which become concepts however rare they are.
    pub rules: Option<RuleConcepts>,
    /// Of a lone box file, the share of pictures that are for training; [`VAL_TRAIN_FRAC`] by default.
    pub val_train_frac: Option<f64>,
    /// Believe absence only where a person verified it: all else that no box shows is unknown.
    pub open_world: bool,
    /// Verified labels for an open world; by default all `*-annotations-human-imagelabels-boxable.csv` of the folder.
    pub image_labels: Vec<PathBuf>,
    /// Refuse if any row cannot be used or comes twice, or any picture is missing or cannot be used.
    pub strict: bool,
    /// The rest.
    pub options: ImportOptions,
}

impl Default for OpenImagesImport {
    fn default() -> Self {
        let options = ImportOptions::default();
        let (boxes, image_labels) = (Vec::new(), Vec::new());
        let (folder, classes, hierarchy, images) = (None, None, None, None);
        let (top, rules, val_train_frac, open_world, strict) = (TOP, None, None, false, false);
        Self {
            folder,
            boxes,
            classes,
            hierarchy,
            images,
            top,
            rules,
            val_train_frac,
            open_world,
            image_labels,
            strict,
            options,
        }
    }
}

/// Imports Open Images into the folder `out`. Samples are called as their pictures are; those without a usable box are none.
///
/// # Errors
/// What is wrong with the files, the options, the pictures or the folder.
pub fn import_openimages(import: &OpenImagesImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    let files = Files::find(import)?;
    let mut notes = Vec::new();
    let Labelled { mut table, hierarchy, vocabulary, found, oov, split } = label(import, &files, &mut notes)?;
    let hint = "pictures are `<split>/<ImageID>.jpg`, or `<ImageID>.jpg`, in the folder or in that of `--images`";
    let taking = Taking { kind: Some(Kind::Image), strict: import.strict, missing_hint: hint };
    media_list::settle(&mut table, &files.images, taking, &mut notes)?;
    let mut manifest = Manifest::new(import.options.name_for(out), Kind::Image);
    manifest.media_root = Some(root_from(out, &files.images)?);
    manifest.seed = import.options.seed;
    let mut options = vec![("top", import.top.to_string()), (TOP_FOUND, found.to_string())];
    options.extend(import.rules.as_ref().map(RuleConcepts::chosen));
    options.extend(import.open_world.then(|| ("open-world", "true".to_owned())));
    options.extend(import.strict.then(|| ("strict", "true".to_owned())));
    manifest.provenance = import.options.provenance("openimages", &split, options, &files.sources())?;
    beside(&writer, HIERARCHY, |file| hierarchy.write(file))?;
    beside(&writer, OOV_CLASSES, |file| write_oov(&oov, &hierarchy, &vocabulary, file))?;
    let dataset = writer.finish(Draft { manifest, table, features: None })?;
    Ok(Imported { dataset, notes })
}

/// The labels alone: pictures are neither looked for nor looked at, and nothing is written.
///
/// # Errors
/// What is wrong with the files or the options.
pub fn label_openimages(import: &OpenImagesImport) -> Result<(LabelTable, Vec<Note>)> {
    let mut notes = Vec::new();
    let labelled = label(import, &Files::find(import)?, &mut notes)?;
    Ok((labelled.table, notes))
}

/// What files come to.
struct Labelled {
    table: LabelTable,
    hierarchy: Hierarchy,
    vocabulary: Vocabulary,
    /// How many concepts are among the most common classes; rules name the others.
    found: usize,
    oov: Vec<OovClass>,
    split: SplitRule,
}

fn label(import: &OpenImagesImport, files: &Files, notes: &mut Vec<Note>) -> Result<Labelled> {
    if import.top == 0 {
        return Err(Error::input("expected a concept at least, got `--top 0`".to_owned(), None));
    }
    let shares = dealing(import, files)?;
    let classes = Classes::read(&files.classes, &files.hierarchy, notes)?;
    let named = import.rules.as_ref().map(|rules| classes.of_rules(rules, &files.classes)).transpose()?;
    let mut boxes = Boxes::new(&classes, &files.boxes);
    boxes.read()?;
    boxes.finish(import.strict, notes)?;
    let verified = if import.open_world {
        Verified::read(&files.image_labels, &classes, &boxes, import.strict, notes)?
    } else {
        Verified::default()
    };

    let mut all = pictures(&boxes, files, notes)?;
    let split = match shares {
        Some(shares) => {
            all.splits = None;
            let asked = import.val_train_frac.map(|_| "--val-train-frac");
            let unsplit = Unsplit { why: "pictures of one split alone are dealt", shares: &shares, asked };
            splitting::settle_by(&mut all, &import.options, &unsplit, notes)?
        }
        None => splitting::settle(&mut all, &import.options, notes)?,
    };
    let chosen = splitting::chosen_rows(&all, &import.options)?;
    let mut table = all.select(&chosen);
    let rows = Rows::of(&boxes.shown, &chosen, boxes.pictures.len());
    let mut is_train = vec![false; rows.count];
    table.training_rows().into_iter().for_each(|row| is_train[row] = true);
    let vocabulary = Vocabulary::choose(&classes.hierarchy, &rows, &is_train, import.top);
    let found = vocabulary.classes.len();
    if found < import.top {
        notes.push(Note::new(match found {
            1 => "train pictures show 1 class, which became a concept".to_owned(),
            found => format!("train pictures show {found} classes, which all became concepts"),
        }));
    }
    let vocabulary = vocabulary.and(&classes.hierarchy, &named.unwrap_or_default());
    table.concepts = vocabulary.names(&classes.hierarchy);
    let shown = labels::close(&vocabulary, &rows);
    notes.extend(in_no_sample(&table.concepts, &shown.value));
    notes.extend(met([lacking(&vocabulary, &classes.hierarchy, &rows, &shown, &table)]));
    let names = |columns: &BTreeSet<usize>| columns.iter().map(|&column| table.concepts[column].clone()).collect();
    table.oov_ancestors = Some(shown.oov_ancestors.iter().map(names).collect());
    table.labels = if import.open_world {
        let (present, absent) = labels::answers(&verified, &chosen, boxes.pictures.len());
        let (labels, clashes) = labels::open_world(&vocabulary, &shown, &rows, (&present, &absent));
        let mut clash = Note::about(
            "verified absence was not believed, since a box or another answer shows the class",
            "verified absences were not believed, since a box or another answer shows the class",
        );
        for (row, class) in clashes {
            clash.add(|| format!("{}: {}", shown_id(&table, row), classes.name(class as usize)));
        }
        notes.extend(met([clash]));
        labels
    } else {
        TruthTable::complete(shown.value)
    };
    let oov = oov_classes(&vocabulary, &rows);
    Ok(Labelled { table, hierarchy: classes.hierarchy, vocabulary, found, oov, split })
}

fn shown_id(table: &LabelTable, row: u32) -> String {
    shown(&table.ids[row as usize])
}

/// The shares by which the pictures of a lone split are dealt; `None` where those of several stay where they are, or all are
/// dealt as the user says.
fn dealing(import: &OpenImagesImport, files: &Files) -> Result<Option<[(Split, f64); 2]>> {
    let words: BTreeSet<&str> = files.boxes.iter().map(|file| file.split.as_str()).collect();
    let listed = words.iter().copied().collect::<Vec<_>>().join(", ");
    let wrong = |message: String, hint: &str| Err(Error::input(message, Some(hint.to_owned())));
    let anew = "to deal all pictures anew, give shares: `--split train=0.9,test=0.1`";
    match (&import.options.split, import.val_train_frac) {
        (SplitRule::Shares(_), None) => Ok(None),
        (SplitRule::Shares(_), Some(_)) => {
            let hint = "`--split train=0.9,test=0.1` says the same as `--val-train-frac 0.9`";
            wrong("expected `--split` or `--val-train-frac`, got both".to_owned(), hint)
        }
        (SplitRule::Source, Some(_)) if words.len() > 1 => {
            wrong(format!("expected boxes of one split to deal by `--val-train-frac`, got {listed}"), anew)
        }
        (SplitRule::Source, None) if words.len() > 1 => {
            if words.iter().any(|word| Split::from_source(word) == Some(Split::Train)) {
                return Ok(None);
            }
            wrong(format!("expected boxes of train pictures among several files, got {listed}"), anew)
        }
        (SplitRule::Source, _) if ["test", "calibration", "oracle"].iter().any(|word| words.contains(word)) => {
            wrong(format!("expected boxes of train or validation pictures, got those of {listed} alone"), anew)
        }
        (SplitRule::Source, share) => {
            let share = share.unwrap_or(VAL_TRAIN_FRAC);
            if !(share > 0.0 && share < 1.0) {
                return wrong(
                    format!("expected a share between 0 and 1, got `--val-train-frac {share}`"),
                    "such as 0.9",
                );
            }
            // What decimals lose would be written down: 1 - 0.9 is 0.09999999999999998.
            let rest = ((1.0 - share) * 1e9).round() / 1e9;
            Ok(Some([(Split::Train, share), (Split::Test, rest)]))
        }
    }
}

/// All pictures with a usable box, without labels yet.
fn pictures(boxes: &Boxes<'_>, files: &Files, notes: &mut Vec<Note>) -> Result<LabelTable> {
    let folders: BTreeSet<&str> = files.boxes.iter().filter_map(|file| file.folder.as_deref()).collect();
    let mut found = BTreeSet::new();
    for folder in &folders {
        let folder = files.images.join(folder);
        for entry in fs::read_dir(&folder).map_err(|cause| Error::read(&folder, cause))? {
            let path = entry.map_err(|cause| Error::read(&folder, cause))?.path();
            let id = path.file_stem().unwrap_or_default().to_string_lossy();
            if path.extension().is_some_and(|ending| ending == "jpg") && !boxes.pictures.contains(&*id) {
                found.insert(id.into_owned());
            }
        }
    }
    let mut boxless = Note::about(
        "picture without a box that can be used is no sample",
        "pictures without a box that can be used are no samples",
    );
    found.into_iter().for_each(|id| boxless.add(|| id));
    notes.extend(met([boxless]));
    let media = |(number, id): (usize, &String)| match &boxes.file(number).folder {
        Some(folder) => format!("{folder}/{id}.jpg"),
        None => format!("{id}.jpg"),
    };
    Ok(LabelTable {
        ids: boxes.pictures.iter().collect(),
        labels: TruthTable::complete(BitTable::zeros(boxes.pictures.len(), 0)),
        splits: Some((0..boxes.pictures.len()).map(|number| boxes.file(number).split.clone()).collect()),
        media: Some(boxes.pictures.iter().enumerate().map(media).collect()),
        groups: None,
        oov_ancestors: None,
        concepts: Vec::new(),
        lines: None,
        path: files.boxes_at(),
    })
}

/// Writes a file of the dataset folder to the disk.
fn beside(writer: &DatasetWriter, name: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut file = BufWriter::new(writer.create_file(Path::new(name))?);
    let written = write(&mut file).and_then(|()| file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all());
    written.map_err(|cause| Error::write(&writer.path().join(name), cause))
}
