//! Import of COCO's instances JSON: a picture shows a category if it has at least one instance of it, crowds included.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use chimera_logic::bits::{BitTable, TruthTable};
use indexmap::IndexMap;
use serde::Deserialize;

use super::{ImportOptions, Imported, Note, media_list, splitting};
use crate::data::cell::shown;
use crate::data::draft::{DatasetWriter, Draft};
use crate::data::manifest::{Kind, Manifest, root_from};
use crate::data::split::Split;
use crate::data::table::LabelTable;
use crate::error::{Error, Result, lower_first};

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct CocoImport {
    /// `instances_*.json` to learn from; without `test`, its pictures are dealt to train and test.
    pub instances: PathBuf,
    /// The official validation file, which becomes test.
    pub test: Option<PathBuf>,
    /// Where pictures are: `file_name` starts there, or in the folder `train2017` of it for `instances_train2017.json`.
    pub media_root: PathBuf,
    /// Refuse if any picture is missing.
    pub strict: bool,
    /// The rest.
    pub options: ImportOptions,
}

/// The parts of the file that are read; the rest is passed over.
#[derive(Deserialize)]
struct Instances {
    images: Vec<Picture>,
    annotations: Vec<Annotation>,
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Picture {
    id: u64,
    file_name: String,
}

#[derive(Deserialize)]
struct Annotation {
    #[serde(default)]
    id: Option<u64>,
    image_id: u64,
    category_id: u64,
}

#[derive(Deserialize)]
struct Category {
    id: u64,
    name: String,
}

/// Imports COCO into the folder `out`. Samples are named by the numbers of their pictures.
///
/// # Errors
/// What is wrong with the files, the pictures' names or the folder.
pub fn import_coco(import: &CocoImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    let mut notes = Vec::new();
    let mut gathered = Gathered::default();
    gathered.add(&import.instances, Split::Train, import, &mut notes)?;
    if let Some(test) = &import.test {
        gathered.add(test, Split::Test, import, &mut notes)?;
    }
    let mut source = gathered.into_table(&import.instances, import.test.is_some());
    splitting::settle(&mut source, &import.options, &mut notes)?;
    let mut table = source.select(&splitting::chosen_rows(&source, &import.options)?);
    media_list::settle(&mut table, &import.media_root, import.strict, &mut notes)?;
    let mut manifest = Manifest::new(import.options.name_for(out), Kind::Image);
    manifest.media_root = Some(root_from(out, &import.media_root)?);
    manifest.seed = import.options.seed;
    let files: Vec<&Path> =
        [Some(&import.instances), import.test.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    manifest.provenance = import.options.provenance("coco", &[], &files)?;
    let dataset = writer.finish(Draft { manifest, table, features: None })?;
    Ok(Imported { dataset, notes })
}

/// What all files say together.
#[derive(Default)]
struct Gathered {
    /// Categories by name, with their column.
    categories: IndexMap<String, ()>,
    /// Pictures by number: file and split.
    pictures: IndexMap<u64, (String, Split)>,
    /// Row and column of what is shown.
    shown: Vec<(usize, usize)>,
}

impl Gathered {
    fn add(&mut self, path: &Path, split: Split, import: &CocoImport, notes: &mut Vec<Note>) -> Result<()> {
        let file = File::open(path).map_err(|cause| Error::read(path, cause))?;
        let instances: Instances =
            serde_json::from_reader(BufReader::with_capacity(1 << 20, file)).map_err(|error| {
                let words = lower_first(&error.to_string());
                let hint = "expected COCO's instances file with `images`, `annotations` and `categories`";
                Error::input(format!("cannot read `{}`: {words}", path.display()), Some(hint.to_owned()))
            })?;
        let mut column_of = HashMap::new();
        for category in &instances.categories {
            let name = category.name.trim().to_owned();
            let column = self.categories.insert_full(name, ()).0;
            if column_of.insert(category.id, column).is_some() {
                let message =
                    format!("expected a category once in `{}`, got number {} again", path.display(), category.id);
                return Err(Error::input(message, None));
            }
        }
        let folder = picture_folder(path, &import.media_root);
        for picture in instances.images {
            let name = format!("{folder}{}", picture.file_name);
            if self.pictures.insert(picture.id, (name, split)).is_some() {
                let (id, file) = (picture.id, shown(&picture.file_name));
                let message =
                    format!("expected a picture once in `{}`, got number {id} (`{file}`) again", path.display());
                return Err(Error::input(message, None));
            }
        }
        let mut stray =
            Note::new(format!("annotations of unknown pictures or categories in `{}` were skipped", path.display()));
        for annotation in &instances.annotations {
            let cell =
                self.pictures.get_index_of(&annotation.image_id).zip(column_of.get(&annotation.category_id).copied());
            match cell {
                Some(cell) => self.shown.push(cell),
                None => stray.add(|| annotation.id.map_or_else(|| "without a number".to_owned(), |id| id.to_string())),
            }
        }
        notes.extend((stray.count > 0).then_some(stray));
        Ok(())
    }

    fn into_table(self, path: &Path, official: bool) -> LabelTable {
        let mut labels = BitTable::zeros(self.pictures.len(), self.categories.len());
        self.shown.iter().for_each(|&(row, column)| labels.set(row, column, true));
        LabelTable {
            ids: self.pictures.keys().map(u64::to_string).collect(),
            labels: TruthTable::complete(labels),
            splits: official.then(|| self.pictures.values().map(|(_, split)| split.as_str().to_owned()).collect()),
            media: Some(self.pictures.into_values().map(|(name, _)| name).collect()),
            groups: None,
            oov_ancestors: None,
            concepts: self.categories.into_keys().collect(),
            path: path.to_owned(),
        }
    }
}

/// `train2017/` for `instances_train2017.json` where the root has that folder, else nothing.
fn picture_folder(path: &Path, root: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = stem.strip_prefix("instances_").filter(|name| root.join(name).is_dir());
    name.map(|name| format!("{name}/")).unwrap_or_default()
}
