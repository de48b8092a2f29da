//! Which import command a folder is for, by what lies in it: a hint for whoever gives a source where something else is
//! wanted, or the folder around a source.

use std::path::Path;

use super::idx;
use super::listing::entries;
use super::openimages::{BOXES, CLASSES};
use super::vidor::source::{ANNOTATIONS, is_json};
use crate::data::split::Split;

/// So many folders deep a source is looked for.
const DEPTH: usize = 2;

/// So much of a folder is looked at: a hint may not take long.
const LOOKED_AT: usize = 1000;

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

/// What to type after `chimera import`, before `--out`, to make a dataset of a folder; `None` where that is not plain.
pub(in crate::data) fn import_command(folder: &Path) -> Option<String> {
    match &sources(folder, DEPTH)[..] {
        [source] => Some(source.command.clone()),
        _ => None,
    }
}

/// A hint where an importer finds nothing in a folder: another one is for it, or its source lies deeper.
pub(super) fn elsewhere(folder: &Path, importer: &str) -> Option<String> {
    let found = sources(folder, DEPTH);
    let own = found.iter().find(|source| source.importer == importer);
    let source = own.or_else(|| found.first().filter(|_| found.len() == 1))?;
    let is_itself = source.importer == importer && Path::new(&source.place) == folder;
    let Source { name, place, command, .. } = source;
    (!is_itself).then(|| format!("`{place}` looks like {name}: `chimera import {command} --out DIR`"))
}

/// The source that a folder is, or all that lie below it.
fn sources(folder: &Path, depth: usize) -> Vec<Source> {
    // What cannot be listed tells nothing; whoever gave it hears why elsewhere.
    let mut inside = entries(folder).unwrap_or_default();
    inside.truncate(LOOKED_AT);
    if let Some(source) = source_of(folder, &inside) {
        return vec![source];
    }
    let folders = inside.iter().filter(|(_, path)| depth > 0 && path.is_dir());
    folders.flat_map(|(_, path)| sources(path, depth - 1)).collect()
}

fn source_of(folder: &Path, inside: &[(String, std::path::PathBuf)]) -> Option<Source> {
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
    let deeper = || entries(&folder.join("annotations")).unwrap_or_default();
    if let Some((_, file)) =
        has(&is_instances).cloned().or_else(|| deeper().into_iter().find(|(name, path)| is_instances(name, path)))
    {
        let command = format!("coco {} --media-root {}", file.display(), folder.display());
        return Some(Source { command, ..Source::new("coco", "COCO", folder) });
    }
    let is_annotated = |name: &str, path: &Path| {
        let is_named = ANNOTATIONS.contains(&name) || Split::from_source(name).is_some();
        // Right in `annotations/` there is a folder a split.
        is_named && holds_json(path, if ANNOTATIONS.contains(&name) { 1 } else { 0 }, DEPTH)
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
fn holds_json(folder: &Path, least: usize, most: usize) -> bool {
    let inside = entries(folder).unwrap_or_default();
    let mut inside = inside.iter().take(LOOKED_AT);
    inside.any(|(name, path)| match path.is_dir() {
        true => most > 0 && holds_json(path, least.saturating_sub(1), most - 1),
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
        // A folder that lacks something is no hint to itself.
        assert_eq!(elsewhere(&inner, "vidor"), None);
    }
}
