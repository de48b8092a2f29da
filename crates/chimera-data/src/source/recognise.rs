//! Which import command a folder is for, by what lies in it: a hint for whoever gives a source where something else is
//! wanted, or the folder around a source.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use super::idx;
use super::listing::entries;
use crate::split::Split;

/// The file that makes a folder a dataset.
pub const MANIFEST: &str = "dataset.toml";

/// Names of Open Images' file with the names of classes, older and newer.
pub(crate) const CLASSES: [&str; 2] = ["class-descriptions-boxable.csv", "oidv7-class-descriptions-boxable.csv"];

/// How names of Open Images' boxes go on after the split.
pub(crate) const BOXES: &str = "-annotations-bbox.csv";

/// Folders of VidOR that hold one folder a split.
pub(crate) const ANNOTATIONS: [&str; 2] = ["annotations", "annotation"];

/// So many folders deep a source is looked for.
const DEPTH: usize = 2;

/// Folders of more are not listed, and so much of all folders together is: a hint may not take long, and millions of files may
/// lie there.
const LOOKED_AT: usize = 10_000;
const LOOKED_AT_IN_ALL: usize = 50_000;

/// A look into folders that ends. What it sees does not depend on the order in which the system names what is there.
struct Look {
    /// Of larger folders known names alone are looked at.
    of_one: usize,
    /// How much more is read of all folders, hidden files among it; at 0, nothing that was seen counts.
    left: Cell<usize>,
}

impl Look {
    fn new() -> Self {
        Self { of_one: LOOKED_AT, left: Cell::new(LOOKED_AT_IN_ALL) }
    }

    /// What is in a folder, as far as that is looked at. What cannot be listed tells nothing; whoever gave it hears why
    /// elsewhere.
    fn inside(&self, folder: &Path) -> Vec<(String, PathBuf)> {
        let most = self.of_one.min(self.left.get());
        let read = fs::read_dir(folder).map_or(0, |entries| entries.take(most + 1).count());
        self.left.set(self.left.get().saturating_sub(read));
        if read <= most {
            return entries(folder).unwrap_or_default();
        }
        let places = known_names().map(|name| (folder.join(&name), name)).filter(|(path, _)| path.exists());
        places.map(|(path, name)| (name, path)).collect()
    }

    /// The source that a folder is, or all that lie below it; none once so much was read that others may lie unseen.
    fn sources(&self, folder: &Path) -> Vec<Source> {
        let found = sources(folder, DEPTH, self);
        if self.left.get() > 0 { found } else { Vec::new() }
    }
}

/// Names by which sources are known, as far as these can be listed.
fn known_names() -> impl Iterator<Item = String> {
    let splits = ["train", "calibration", "test", "val", "oracle"].into_iter().flat_map(Split::source_words);
    let of_split = |word: &&str| [(*word).to_owned(), format!("annotation_{word}"), format!("{word}{BOXES}")];
    let others = ["scenes"].into_iter().chain(CLASSES).chain(ANNOTATIONS).map(str::to_owned);
    others.chain(splits.flat_map(of_split))
}

/// A source, where it lies and how it is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    importer: &'static str,
    /// What people call it.
    name: &'static str,
    /// Where it lies.
    place: String,
    /// What follows `chimera import` before `--out`.
    command: String,
}

impl Source {
    fn new(importer: &'static str, name: &'static str, place: &Path) -> Self {
        let place = place.display().to_string();
        Self { importer, name, command: format!("{importer} {place}"), place }
    }
}

/// Whether a file's name ends like that of JSON.
pub(crate) fn is_json(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("json"))
}

/// What to type after `chimera import`, before `--out`, to make a dataset of a folder; `None` where that is not plain.
pub(crate) fn import_command(folder: &Path) -> Option<String> {
    match &Look::new().sources(folder)[..] {
        [source] => Some(source.command.clone()),
        _ => None,
    }
}

/// A hint where an importer finds nothing in a folder: it is a dataset, another importer is for it, or its source lies deeper.
pub(crate) fn elsewhere(folder: &Path, importer: &str) -> Option<String> {
    if folder.join(MANIFEST).is_file() {
        let folder = folder.display();
        return Some(format!("`{folder}` is a dataset already: `chimera data show {folder}` tells what it holds"));
    }
    let found = Look::new().sources(folder);
    let own = found.iter().find(|source| source.importer == importer);
    let source = own.or_else(|| found.first().filter(|_| found.len() == 1))?;
    let is_itself = source.importer == importer && Path::new(&source.place) == folder;
    let Source { name, place, command, .. } = source;
    (!is_itself).then(|| format!("`{place}` looks like {name}: `chimera import {command} --out DIR`"))
}

/// The source that a folder is, or all that lie below it.
fn sources(folder: &Path, depth: usize, look: &Look) -> Vec<Source> {
    let inside = look.inside(folder);
    if let Some(source) = source_of(folder, &inside, look) {
        return vec![source];
    }
    let folders = inside.iter().filter(|(_, path)| depth > 0 && path.is_dir());
    folders.flat_map(|(_, path)| sources(path, depth - 1, look)).collect()
}

fn source_of(folder: &Path, inside: &[(String, PathBuf)], look: &Look) -> Option<Source> {
    let has = |is_one: &dyn Fn(&str, &Path) -> bool| inside.iter().find(|(name, path)| is_one(name, path));
    let splits =
        |name: &str, before: &str| name.strip_prefix(before).is_some_and(|word| Split::from_source(word).is_some());
    if has(&|name, path| splits(name, "annotation_") && path.is_dir()).is_some() {
        return Some(Source::new("clevrer", "CLEVRER", folder));
    }
    if has(&|name, path| name == "scenes" && path.is_dir()).is_some() {
        return Some(Source::new("clevr", "CLEVR", folder));
    }
    if has(&|name, _| name.ends_with(BOXES) || CLASSES.contains(&name)).is_some() {
        return Some(Source::new("openimages", "Open Images", folder));
    }
    if ["train", "t10k"].iter().any(|stem| idx::find(folder, &format!("{stem}-images"), "idx3").is_some()) {
        return Some(Source::new("mnist", "MNIST", folder));
    }
    let is_instances = |name: &str, _: &Path| name.starts_with("instances_") && is_json(name);
    let deeper = || look.inside(&folder.join("annotations"));
    if let Some((_, file)) =
        has(&is_instances).cloned().or_else(|| deeper().into_iter().find(|(name, path)| is_instances(name, path)))
    {
        let command = format!("coco {} --media-root {}", file.display(), folder.display());
        return Some(Source { command, ..Source::new("coco", "COCO", folder) });
    }
    let is_annotated = |name: &str, path: &Path| {
        let is_named = ANNOTATIONS.contains(&name) || Split::from_source(name).is_some();
        // Right in `annotations/` there is a folder a split.
        is_named && holds_json(path, if ANNOTATIONS.contains(&name) { 1 } else { 0 }, DEPTH, look)
    };
    if has(&is_annotated).is_some() {
        return Some(Source::new("vidor", "VidOR or VidVRD", folder));
    }
    let is_archive = |name: &str, _: &Path| {
        let name = name.to_lowercase();
        name.ends_with(".zip") && ["vidvrd", "vidor"].iter().any(|word| name.contains(word))
    };
    if let Some((_, file)) = has(&is_archive) {
        return Some(Source::new("vidor", "VidOR or VidVRD", file));
    }
    None
}

/// Whether a JSON file lies in a folder, at least and at most so many folders deep.
fn holds_json(folder: &Path, least: usize, most: usize, look: &Look) -> bool {
    look.inside(folder).iter().any(|(name, path)| match path.is_dir() {
        true => most > 0 && holds_json(path, least.saturating_sub(1), most - 1, look),
        false => least == 0 && is_json(name),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn place(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), "x").unwrap();
        }
        folder
    }

    /// The command with `DIR` for the folder.
    fn command(names: &[&str]) -> String {
        let folder = place(names);
        let found = import_command(folder.path()).unwrap_or_default();
        found.replace(folder.path().to_str().unwrap(), "DIR")
    }

    #[test]
    fn folders_are_known_by_what_lies_in_them() {
        for (names, expected) in [
            (&["validation-annotations-bbox.csv"][..], "openimages DIR"),
            (&["oidv7-class-descriptions-boxable.csv", "photos/a.jpg"], "openimages DIR"),
            (&["train-images-idx3-ubyte.gz"], "mnist DIR"),
            (&["t10k-images.idx3-ubyte"], "mnist DIR"),
            (&["annotations/training/0001/1.json", "videos/1.mp4"], "vidor DIR"),
            (&["train/a.json", "test/b.json"], "vidor DIR"),
            (&["VidVRD-dataset.zip"], "vidor DIR/VidVRD-dataset.zip"),
            (&["annotations/instances_val2017.json"], "coco DIR/annotations/instances_val2017.json --media-root DIR"),
            (&["annotation_train/annotation_00000-01000/annotation_00000.json"], "clevrer DIR"),
            (&["scenes/CLEVR_train_scenes.json"], "clevr DIR"),
            (&["VidVRD-dataset/train/a.json", "notes.txt"], "vidor DIR/VidVRD-dataset"),
            (&["a/b/train-images-idx3-ubyte"], "mnist DIR/a/b"),
            // Pictures by split, two sources, annotations of no split, nothing.
            (&["train/cat/1.jpg", "val/cat/2.jpg"], ""),
            (&["a/train-images-idx3-ubyte", "b/train/x.json"], ""),
            (&["annotations/a.json"], ""),
            (&["notes.txt"], ""),
        ] {
            assert_eq!(command(names), expected, "{names:?}");
        }
        assert_eq!(import_command(Path::new("/no/such/folder")), None);
    }

    /// However much lies there, the look ends.
    #[test]
    fn only_so_much_is_looked_at() {
        let folder = place(&["annotations/train/a.json", "annotations/b.txt"]);
        (0..14).for_each(|number| fs::write(folder.path().join(format!("{number}.txt")), "").unwrap());
        (0..15).for_each(|number| fs::write(folder.path().join(format!(".{number}")), "").unwrap());
        let looked = |of_one: usize, left: usize| {
            let look = Look { of_one, left: Cell::new(left) };
            let seen = [(); 3].map(|()| look.inside(folder.path()).len());
            (seen, look.left.get())
        };
        // Hidden files are read, too. Of a folder that is too large, what has a known name is seen, wherever it is listed.
        assert_eq!(looked(30, 100), ([15; 3], 10));
        assert_eq!(looked(20, 100), ([1; 3], 37));
        assert_eq!(looked(30, 40), ([15, 1, 1], 0));
        let names = |of_one: usize, left: usize| -> Vec<&str> {
            let look = Look { of_one, left: Cell::new(left) };
            look.sources(folder.path()).iter().map(|source| source.importer).collect()
        };
        // `annotations` has two and is listed twice, `train` has one, after the 30.
        assert_eq!((names(20, 100), names(30, 36)), (vec!["vidor"], vec!["vidor"]));
        assert!(names(30, 35).is_empty() && names(30, 20).is_empty(), "what was left unread might be another source");
    }

    #[test]
    fn an_importer_is_told_where_its_source_or_another_lies() {
        let folder = place(&["VidVRD-dataset/train/a.json"]);
        let hint = elsewhere(folder.path(), "vidor").unwrap();
        let inner = folder.path().join("VidVRD-dataset");
        assert_eq!(
            hint,
            format!("`{0}` looks like VidOR or VidVRD: `chimera import vidor {0} --out DIR`", inner.display())
        );
        assert!(elsewhere(folder.path(), "mnist").unwrap().contains("import vidor"));
        let dataset = place(&["dataset.toml", "samples.parquet"]);
        let hint = elsewhere(dataset.path(), "clevr").unwrap();
        let folder = dataset.path().display();
        assert_eq!(hint, format!("`{folder}` is a dataset already: `chimera data show {folder}` tells what it holds"));
        // A folder that lacks something is no hint to itself.
        assert_eq!(elsewhere(&inner, "vidor"), None);
    }
}
