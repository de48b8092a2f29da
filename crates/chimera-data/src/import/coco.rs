//! Import of COCO's instances JSON: a picture shows a category if it has at least one instance of it, crowds included.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use chimera_logic::bits::{BitTable, TruthTable};
use indexmap::{IndexMap, IndexSet};
use serde::Deserialize;

use super::media_list::Taking;
use super::{ImportOptions, Imported, Note, media_list, splitting};
use crate::dataset::draft::{DatasetWriter, Draft};
use crate::dataset::manifest::{Kind, Manifest, root_from};
use crate::error::{Error, Result, lower_first, shown};
use crate::split::Split;
use crate::table::LabelTable;
use crate::table::names::Names;

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct CocoImport {
    /// `instances_*.json` to learn from; without `test`, its pictures are dealt to train and test.
    pub instances: PathBuf,
    /// The official validation file, which becomes test.
    pub test: Option<PathBuf>,
    /// Where pictures are: `file_name` starts there, or in the folder `train2017` of it for `instances_train2017.json`.
    pub media_root: PathBuf,
    /// Refuse if any picture is missing or cannot be used.
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

/// Imports COCO into the folder `out`. Samples are named by the numbers of their pictures, with their split before it where
/// both files number different pictures alike.
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
    let mut source = gathered.into_table(&import.instances, &mut notes);
    let split = splitting::settle(&mut source, &import.options, &mut notes)?;
    let mut table = source.select(&splitting::chosen_rows(&source, &import.options)?);
    let taking = Taking::from_root(Some(Kind::Image), import.strict);
    media_list::settle(&mut table, &import.media_root, taking, &mut notes)?;
    let mut manifest = Manifest::new(import.options.name_for(out), Kind::Image);
    manifest.media_root = Some(root_from(out, &import.media_root)?);
    manifest.seed = import.options.seed;
    let files: Vec<&Path> =
        [Some(&import.instances), import.test.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    manifest.provenance = import.options.provenance(
        "coco",
        &split,
        import.strict.then(|| ("strict", "true".to_owned())).into_iter().collect(),
        &files,
    )?;
    let dataset = writer.finish(Draft { manifest, table, features: None })?;
    Ok(Imported { dataset, notes })
}

/// What all files say together.
#[derive(Default)]
struct Gathered {
    /// All categories by name; their order is that of the columns.
    categories: IndexSet<String>,
    files: Vec<InstancesFile>,
}

/// What one file says.
struct InstancesFile {
    path: PathBuf,
    split: Split,
    /// Columns of the categories that it looks for.
    columns: BTreeSet<usize>,
    /// Pictures by number, with their paths under the media root.
    pictures: IndexMap<u64, String>,
    /// Picture, by position, and column of what is shown.
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
        let (mut column_of, mut columns) = (HashMap::new(), BTreeSet::new());
        let mut twice = Note::about(
            format!("category of `{}` shares the name of another, and became one concept with it", path.display()),
            format!("categories of `{}` share the names of others, and became one concept with them", path.display()),
        );
        for category in &instances.categories {
            let name = category.name.trim().to_owned();
            let column = self.categories.insert_full(name).0;
            if column_of.insert(category.id, column).is_some() {
                let message =
                    format!("expected a category once in `{}`, got number {} again", path.display(), category.id);
                return Err(Error::input(message, None));
            }
            if !columns.insert(column) {
                twice.add(|| category.name.clone());
            }
        }
        let folder = picture_folder(path, &import.media_root, &instances.images);
        let mut pictures = IndexMap::with_capacity(instances.images.len());
        for picture in instances.images {
            if pictures.insert(picture.id, format!("{folder}{}", picture.file_name)).is_some() {
                let (id, file) = (picture.id, shown(&picture.file_name));
                let message =
                    format!("expected a picture once in `{}`, got number {id} (`{file}`) again", path.display());
                return Err(Error::input(message, None));
            }
        }
        let mut stray = Note::about(
            format!("annotation of an unknown picture or category in `{}` was skipped", path.display()),
            format!("annotations of unknown pictures or categories in `{}` were skipped", path.display()),
        );
        let mut cells = Vec::with_capacity(instances.annotations.len());
        for annotation in &instances.annotations {
            let cell = pictures.get_index_of(&annotation.image_id).zip(column_of.get(&annotation.category_id).copied());
            match cell {
                Some(cell) => cells.push(cell),
                None => stray.add(|| annotation.id.map_or_else(|| "without a number".to_owned(), |id| id.to_string())),
            }
        }
        notes.extend([twice, stray].into_iter().filter(|note| note.count > 0));
        self.refuse_shared(path, &pictures)?;
        self.files.push(InstancesFile { path: path.to_owned(), split, columns, pictures, shown: cells });
        Ok(())
    }

    /// One picture in two files would be learned from and tested on.
    fn refuse_shared(&self, path: &Path, pictures: &IndexMap<u64, String>) -> Result<()> {
        for file in &self.files {
            let shared = pictures.iter().find(|(number, name)| file.pictures.get(*number) == Some(*name));
            if let Some((number, name)) = shared {
                let (here, there, name) = (path.display(), file.path.display(), shown(name));
                let message =
                    format!("expected a picture once in `{there}` and `{here}`, got number {number} (`{name}`) again");
                return Err(Error::input(message, None));
            }
        }
        Ok(())
    }

    fn into_table(self, path: &Path, notes: &mut Vec<Note>) -> LabelTable {
        let Self { categories, files } = self;
        let rows: usize = files.iter().map(|file| file.pictures.len()).sum();
        let (mut value, mut known) = (BitTable::zeros(rows, categories.len()), BitTable::zeros(rows, categories.len()));
        let mut first = 0;
        for file in &files {
            file.shown.iter().for_each(|&(row, column)| value.set(first + row, column, true));
            for &column in &file.columns {
                (first..first + file.pictures.len()).for_each(|row| known.set(row, column, true));
            }
            first += file.pictures.len();
            let mut lacking = Note::about(
                format!(
                    "category that `{}` does not have: whether its pictures show it is unknown",
                    file.path.display()
                ),
                format!(
                    "categories that `{}` does not have: whether its pictures show them is unknown",
                    file.path.display()
                ),
            );
            let missing = categories.iter().enumerate().filter(|(column, _)| !file.columns.contains(column));
            missing.for_each(|(_, name)| lacking.add(|| name.clone()));
            notes.extend((lacking.count > 0).then_some(lacking));
        }
        let is_complete = files.iter().all(|file| file.columns.len() == categories.len());
        let is_official = files.len() > 1;
        let splits = files.iter().flat_map(|file| file.pictures.keys().map(|_| file.split.as_str().to_owned()));
        LabelTable {
            ids: ids_of(&files, notes),
            labels: if is_complete { TruthTable::complete(value) } else { TruthTable::partial(value, known) },
            splits: is_official.then(|| splits.collect()),
            media: Some(files.iter().flat_map(|file| file.pictures.values().cloned()).collect()),
            groups: None,
            oov_ancestors: None,
            concepts: categories.into_iter().collect(),
            lines: None,
            path: path.to_owned(),
        }
    }
}

/// The numbers of pictures; behind the name of their split where two files number different pictures alike.
fn ids_of(files: &[InstancesFile], notes: &mut Vec<Note>) -> Names {
    let mut alike = Note::about(
        "number stands for different pictures in both files: samples are named `train-1`, `test-1`",
        "numbers stand for different pictures in both files: samples are named `train-1`, `test-1`",
    );
    for (position, file) in files.iter().enumerate() {
        let is_known = |number: &&u64| files[..position].iter().any(|other| other.pictures.contains_key(*number));
        file.pictures.keys().filter(is_known).for_each(|number| alike.add(|| number.to_string()));
    }
    let prefixes = alike.count > 0;
    notes.extend(prefixes.then_some(alike));
    let numbers = files.iter().flat_map(|file| file.pictures.keys().map(move |number| (file.split, number)));
    numbers.map(|(split, number)| if prefixes { format!("{split}-{number}") } else { number.to_string() }).collect()
}

/// Where the names of a file's pictures start, under the root: in `train2017/` for `instances_train2017.json` where the root
/// has that folder, in the file's own folder where its first picture lies there, as in exports of Roboflow, else at the root.
fn picture_folder(path: &Path, root: &Path, pictures: &[Picture]) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(name) = stem.strip_prefix("instances_").filter(|name| root.join(name).is_dir()) {
        return format!("{name}/");
    }
    let real = |path: &Path| fs::canonicalize(path).ok();
    let own = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let inside =
        own.and_then(real).zip(real(root)).and_then(|(own, root)| own.strip_prefix(&root).map(Path::to_owned).ok());
    let holds_the_first =
        |folder: &PathBuf| pictures.first().is_some_and(|picture| root.join(folder).join(&picture.file_name).is_file());
    let folder = inside.filter(holds_the_first).and_then(|folder| folder.to_str().map(str::to_owned));
    folder.filter(|folder| !folder.is_empty()).map(|folder| format!("{folder}/")).unwrap_or_default()
}
