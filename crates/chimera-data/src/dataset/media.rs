//! The media of a dataset: reading them, preparing their frames, and looking at some.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::dataset::Dataset;
use crate::dataset::manifest::Kind;
use crate::error::{Error, Result};
use crate::media::frames::FrameShape;
use crate::media::image::ImageReader;
use crate::media::picture::Picture;
use crate::media::prepared::{CHUNK_BYTES, Preparation, Prepared, Progress};
use crate::media::reader::MediaReader;
use crate::media::sheet::{SheetEntry, SheetParams, draw_sheet};
use crate::media::video::VideoReader;

/// How the media of a dataset are prepared.
#[derive(Clone, Copy, Debug)]
pub struct Preparing<'a> {
    /// Where prepared frames lie, for any number of datasets.
    pub cache: &'a Path,
    /// What is taken of each medium.
    pub shape: FrameShape,
    /// Media that are decoded at the same time.
    pub threads: NonZeroUsize,
    /// Whether the first row without a medium that can be decoded ends the work.
    pub strict: bool,
}

/// The frames of some rows, in the order in which the rows were given.
#[derive(Debug)]
pub struct PreparedRows {
    /// The rows that have frames.
    pub rows: Vec<usize>,
    /// The rows that have none, and why.
    pub left_out: Vec<LeftOut>,
    /// Media that were decoded now; the rest was on disk.
    pub decoded: usize,
    prepared: Prepared,
    /// Where each of `rows` lies among the prepared.
    places: Vec<usize>,
}

/// A row without frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its number.
    pub row: usize,
    /// Its file, where it has one.
    pub path: Option<PathBuf>,
    /// What is the matter.
    pub reason: String,
}

impl PreparedRows {
    /// What is there of each row.
    #[must_use]
    pub fn shape(&self) -> FrameShape {
        self.prepared.shape()
    }

    /// Chunks of the cache that were found damaged, where they lie now.
    #[must_use]
    pub fn set_aside(&self) -> &[PathBuf] {
        self.prepared.set_aside()
    }

    /// The frames of `self.rows[place]`: frames x height x width x 3 bytes.
    ///
    /// # Panics
    /// For a place beyond the rows.
    #[must_use]
    pub fn frames(&self, place: usize) -> &[u8] {
        self.prepared.sample(self.places[place]).unwrap_or_default()
    }

    /// A hash of the medium of `self.rows[place]`.
    ///
    /// # Panics
    /// For a place beyond the rows.
    #[must_use]
    pub fn digest(&self, place: usize) -> [u8; 32] {
        self.prepared.digest(self.places[place]).unwrap_or_default()
    }
}

/// Some samples on one sheet.
#[derive(Debug)]
pub struct ContactSheet {
    /// The sheet.
    pub picture: Picture,
    /// How many samples are on it.
    pub shown: usize,
    /// Media that could not be shown, with the reason.
    pub left_out: Vec<(PathBuf, Error)>,
}

/// A sample on a sheet.
struct Shown<'a> {
    /// What it is an example of.
    group: Option<&'a str>,
    row: usize,
    picture: Picture,
}

impl Dataset {
    /// What reads this dataset's media.
    ///
    /// # Errors
    /// A dataset without media.
    pub fn media_reader(&self) -> Result<MediaReader> {
        match self.manifest().kind_of_media() {
            Some(Kind::Video) => Ok(MediaReader::Videos(VideoReader::default())),
            Some(_) => Ok(MediaReader::Pictures(ImageReader::default())),
            None => {
                let (name, kind) = (self.folder().display(), self.manifest().kind.as_str());
                let message = format!("expected a dataset with media, got `{name}` of kind {kind}");
                let hint = "import it again with its pictures or videos, or leave out what needs them";
                Err(Error::input(message, Some(hint.to_owned())))
            }
        }
    }

    /// Prepares the frames of these rows. Those without a medium, or with one that cannot be decoded, are left out and
    /// listed.
    ///
    /// # Errors
    /// As [`Preparation::run`], and with `strict` a row without a medium.
    pub fn prepare(
        &self,
        rows: &[usize],
        preparing: Preparing<'_>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<PreparedRows> {
        let reader = self.media_reader()?;
        let Preparing { cache, shape, threads, strict } = preparing;
        let (named, nameless): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| self.media_path(row).is_some());
        if let Some(&row) = nameless.first().filter(|_| strict) {
            let id = &self.table().ids[row];
            return Err(Error::input(format!("expected a medium for sample `{id}`, got none"), None));
        }
        let media: Vec<PathBuf> = named.iter().filter_map(|&row| self.media_path(row)).collect();
        let (recipe, chunk_bytes) = (reader.recipe(), CHUNK_BYTES);
        let preparation = Preparation { folder: cache, shape, recipe: &recipe, threads, strict, chunk_bytes };
        let prepared = preparation.run(&media, &|path, out| reader.read(path, shape, out), progress)?;
        let reason = "it has no medium".to_owned();
        let mut left_out: Vec<LeftOut> =
            nameless.into_iter().map(|row| LeftOut { row, path: None, reason: reason.clone() }).collect();
        left_out.extend(prepared.undecodable().iter().map(|bad| LeftOut {
            row: named[bad.sample],
            path: Some(bad.path.clone()),
            reason: bad.reason.reason(),
        }));
        let places: Vec<usize> = (0..named.len()).filter(|&place| prepared.sample(place).is_some()).collect();
        let rows = places.iter().map(|&place| named[place]).collect();
        Ok(PreparedRows { rows, left_out, decoded: prepared.decoded(), prepared, places })
    }

    /// Draws `count` random samples with the concepts they show, the same for the same seed. A missing program is an error;
    /// media that cannot be read are left out and listed.
    ///
    /// # Errors
    /// A dataset without media or without any that can be shown, a missing program, and as [`draw_sheet`].
    pub fn contact_sheet(&self, count: usize, seed: u64, params: SheetParams) -> Result<ContactSheet> {
        let mut rows: Vec<usize> = (0..self.table().ids.len()).filter(|&row| self.media_name(row).is_some()).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut rows);
        let mut left_out = Vec::new();
        let mut shown: Vec<Shown<'_>> = self.readable(None, &rows, count, params, &mut left_out)?;
        // In the order of the table: neighbours are then found again.
        shown.sort_by_key(|shown| shown.row);
        self.draw(&[], &shown, left_out, params)
    }

    /// Draws samples in groups under a title, `each` of every group at most, the first ones that can be read, with the group's name
    /// before their labels. Errors as [`Self::contact_sheet`].
    ///
    /// # Errors
    /// See there.
    pub fn grouped_sheet(
        &self,
        title: &[String],
        groups: &[(&str, &[usize])],
        each: usize,
        params: SheetParams,
    ) -> Result<ContactSheet> {
        let (mut left_out, mut shown) = (Vec::new(), Vec::new());
        for (name, rows) in groups {
            shown.extend(self.readable(Some(name), rows, each, params, &mut left_out)?);
        }
        self.draw(title, &shown, left_out, params)
    }

    /// The first `count` of these rows whose media can be read.
    fn readable<'a>(
        &self,
        group: Option<&'a str>,
        rows: &[usize],
        count: usize,
        params: SheetParams,
        left_out: &mut Vec<(PathBuf, Error)>,
    ) -> Result<Vec<Shown<'a>>> {
        let reader = self.media_reader()?;
        let side = NonZeroUsize::new(params.thumbnail).unwrap_or(NonZeroUsize::MIN);
        let mut shown = Vec::new();
        for (row, path) in rows.iter().filter_map(|&row| Some((row, self.media_path(row)?))) {
            if shown.len() == count {
                break;
            }
            match reader.thumbnail(&path, side) {
                Ok(picture) => shown.push(Shown { group, row, picture }),
                Err(error @ Error::Program { .. }) => return Err(error),
                Err(error) => left_out.push((path, error)),
            }
        }
        Ok(shown)
    }

    fn draw(
        &self,
        title: &[String],
        shown: &[Shown<'_>],
        mut left_out: Vec<(PathBuf, Error)>,
        params: SheetParams,
    ) -> Result<ContactSheet> {
        let labels: Vec<Vec<String>> = shown
            .iter()
            .map(|shown| {
                shown.group.map(|group| format!("<{group}>")).into_iter().chain(self.caption(shown.row)).collect()
            })
            .collect();
        let entries: Vec<SheetEntry<'_>> = shown
            .iter()
            .zip(&labels)
            .map(|(shown, labels)| SheetEntry { picture: &shown.picture, id: &self.table().ids[shown.row], labels })
            .collect();
        if entries.is_empty()
            && let Some((_, error)) = left_out.pop()
        {
            return Err(error);
        }
        let picture = draw_sheet(title, &entries, params)?;
        Ok(ContactSheet { picture, shown: entries.len(), left_out })
    }

    /// The split of a row, the concepts that it is known to show, then those of which that is unknown, marked.
    fn caption(&self, row: usize) -> Vec<String> {
        let table = self.table();
        let of = |truth: Option<bool>| move |column: &usize| table.labels.get(row, *column) == truth;
        let all = 0..table.concepts.len();
        let shown = all.clone().filter(of(Some(true))).map(|column| table.concepts[column].clone());
        let unknown = all.filter(of(None)).map(|column| format!("?{}", table.concepts[column]));
        std::iter::once(format!("[{}]", self.splits()[row])).chain(shown).chain(unknown).collect()
    }
}
