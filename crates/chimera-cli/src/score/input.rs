//! What is to be scored: one dataset folder, or files, folders and patterns of media.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use chimera_data::dataset::Dataset;
use chimera_data::dataset::manifest::{Kind, MANIFEST};
use chimera_data::import::loose::{Few, Loose};
use chimera_leaf::encoder::EncoderConfig;
use chimera_leaf::stream::Sources;
use glob::MatchOptions;

use crate::console::Console;
use crate::table::grouped;

/// Samples, opened but not read.
pub(crate) enum Input {
    /// Rows of a dataset.
    Rows {
        /// The dataset.
        dataset: Box<Dataset>,
        /// Its rows that are asked for.
        rows: Vec<usize>,
    },
    /// Media that lie about.
    Loose(Loose),
}

impl Input {
    /// Finds out what was named, and whether the model can look at it.
    pub(crate) fn open(named: &[PathBuf], split: Option<&str>, encoder: &EncoderConfig) -> anyhow::Result<Self> {
        let paths = expanded(named)?;
        let is_dataset = |path: &&PathBuf| path.join(MANIFEST).is_file();
        let input = match (&paths[..], paths.iter().find(is_dataset)) {
            ([folder], Some(_)) => {
                let dataset = Box::new(Dataset::open(folder)?);
                let rows = rows_of(&dataset, split)?;
                Self::Rows { dataset, rows }
            }
            (all, Some(folder)) => bail!(
                "expected one dataset folder, or media alone, got the dataset `{}` among {} inputs\nhint: score one dataset at a \
                 time",
                folder.display(),
                all.len()
            ),
            (_, None) if split.is_some() => bail!("`--split` is about a dataset folder, got files\nhint: leave it out"),
            (_, None) => Self::Loose(Loose::of(&paths, kind_of(encoder)?)?),
        };
        input.sources().check(encoder)?;
        Ok(input)
    }

    /// The samples.
    pub(crate) fn sources(&self) -> Sources<'_> {
        match self {
            Self::Rows { dataset, rows } => Sources::Rows { dataset, rows },
            Self::Loose(loose) => Sources::Loose(loose),
        }
    }

    /// The dataset's folder, where there is one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Rows { dataset, .. } => Some(dataset.folder()),
            Self::Loose(_) => None,
        }
    }

    /// Says what lies in folders and is no sample, with `-q`, too: it may have been meant to be one.
    pub(crate) fn say_passed_over(&self, console: &Console) {
        let Self::Loose(loose) = self else { return };
        let [wanted, other] = match loose.kind() {
            Kind::Video => [["video", "videos"], ["picture", "pictures"]],
            _ => [["picture", "pictures"], ["video", "videos"]],
        };
        let passed_over = loose.passed_over();
        let unknown = ["file that is neither picture nor video", "files that are neither pictures nor videos"];
        let links = ["link to a folder", "links to folders"];
        let say = |few: &Few, words: [&str; 2], why: &str| {
            let Some(first) = &few.first else { return };
            let (word, example) = if few.count == 1 { (words[0], "") } else { (words[1], "such as ") };
            let (count, first) = (grouped(few.count as u64), first.display());
            console.complain(format_args!("warning: left out {count} {word}, {example}`{first}`{why}"));
        };
        say(&passed_over.unknown, unknown, "");
        say(&passed_over.others, other, &format!(": the model looks at {}", wanted[1]));
        say(&passed_over.links, links, "; what is there is taken where the link itself is named");
    }

    /// Media that end as a file does: one of them may be that file.
    pub(crate) fn files_like<'a>(&'a self, path: Option<&'a Path>) -> impl Iterator<Item = PathBuf> + 'a {
        let sources = self.sources();
        let ending = path.and_then(Path::extension);
        (0..sources.len()).filter_map(move |sample| sources.path(sample)).filter(move |file| file.extension() == ending)
    }
}

/// What loose media a model looks at.
fn kind_of(encoder: &EncoderConfig) -> anyhow::Result<Kind> {
    match encoder {
        EncoderConfig::Frames { frames: 1, .. } => Ok(Kind::Image),
        EncoderConfig::Frames { .. } => Ok(Kind::Video),
        EncoderConfig::Given { .. } => bail!(
            "expected a dataset folder with features, as the model was trained on, got files\nhint: bring them in with \
             `chimera import features`"
        ),
    }
}

fn rows_of(dataset: &Dataset, split: Option<&str>) -> anyhow::Result<Vec<usize>> {
    let splits = dataset.splits();
    let Some(split) = split else { return Ok((0..splits.len()).collect()) };
    let rows: Vec<usize> = (0..splits.len()).filter(|&row| splits[row].as_str() == split).collect();
    if rows.is_empty() {
        let mut known: Vec<&str> = splits.iter().map(|split| split.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        bail!(
            "expected rows of the split `{split}` in `{}`, got none\nhint: it has {}",
            dataset.folder().display(),
            known.join(", ")
        );
    }
    Ok(rows)
}

/// Paths, with patterns replaced by what they match. What exists under its name is no pattern.
fn expanded(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = Vec::with_capacity(named.len());
    for name in named {
        let pattern = name.to_str().filter(|text| text.contains(['*', '?', '[']) && name.symlink_metadata().is_err());
        let Some(pattern) = pattern else {
            paths.push(name.clone());
            continue;
        };
        // As in a shell: a star does not stand for the dot of a hidden file, nor for a slash.
        let options =
            MatchOptions { require_literal_leading_dot: true, require_literal_separator: true, ..MatchOptions::new() };
        let matches = glob::glob_with(pattern, options)
            .with_context(|| format!("expected a path or a pattern, got `{pattern}`"))?;
        let before = paths.len();
        for path in matches {
            let path = path.map_err(|error| chimera_data::error::Error::Read {
                path: error.path().to_owned(),
                cause: error.into(),
            })?;
            paths.push(path);
        }
        if paths.len() == before {
            bail!(
                "expected files that match `{pattern}`, got none\nhint: `**` stands for any folders, `*` for a part of a name"
            );
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_replaced_where_nothing_has_that_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        for name in ["x.jpg", "y.png", ".z.jpg", "a/b/w.jpg", "odd[1].jpg"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let of = |pattern: &str| {
            expanded(&[root.join(pattern)]).map(|paths| {
                paths
                    .iter()
                    .map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(of("*.jpg").unwrap(), ["odd[1].jpg", "x.jpg"]);
        assert_eq!(of("**/*.jpg").unwrap(), ["a/b/w.jpg", "odd[1].jpg", "x.jpg"]);
        assert_eq!(of("odd[1].jpg").unwrap(), ["odd[1].jpg"]);
        assert_eq!(of("gone.jpg").unwrap(), ["gone.jpg"]);
        assert!(of("*.gif").unwrap_err().to_string().contains("*.gif`, got none\nhint:"));
    }
}
