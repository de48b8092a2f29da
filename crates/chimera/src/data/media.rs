//! The media of a dataset: reading them, preparing their frames, and looking at some.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::data::dataset::Dataset;
use crate::data::manifest::Kind;
use crate::error::{Error, Result};
use crate::media::frames::FrameShape;
use crate::media::image::ImageReader;
use crate::media::picture::Picture;
use crate::media::prepared::{CHUNK_BYTES, Check, Preparation, Prepared, Progress};
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
    /// Whether the first medium that cannot be decoded ends the work.
    pub strict: bool,
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

impl Dataset {
    /// What reads this dataset's media.
    ///
    /// # Errors
    /// A dataset without media.
    pub fn media_reader(&self) -> Result<MediaReader> {
        match self.manifest().kind {
            Kind::Video => Ok(MediaReader::Videos(VideoReader::default())),
            Kind::Image => Ok(MediaReader::Pictures(ImageReader::default())),
            // Features may come with the pictures that they were made of.
            Kind::Features if self.manifest().media_root.is_some() => Ok(MediaReader::Pictures(ImageReader::default())),
            kind => {
                let name = self.folder().display();
                Err(Error::input(
                    format!("expected a dataset with media, got `{name}` of kind {}", kind.as_str()),
                    None,
                ))
            }
        }
    }

    /// Prepares the frames of these rows. Samples of the result are numbered as `rows` are listed.
    ///
    /// # Errors
    /// A row without media, and as [`Preparation::run`].
    pub fn prepare(
        &self,
        rows: &[usize],
        preparing: Preparing<'_>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Prepared> {
        let reader = self.media_reader()?;
        let Preparing { cache, shape, threads, strict } = preparing;
        let path = |&row: &usize| {
            self.media_path(row).ok_or_else(|| {
                let id = &self.table().ids[row];
                Error::input(format!("expected a medium for sample `{id}`, got none"), None)
            })
        };
        let media = rows.iter().map(path).collect::<Result<Vec<PathBuf>>>()?;
        let recipe = reader.recipe();
        let (check, chunk_bytes) = (Check::Lengths, CHUNK_BYTES);
        let preparation = Preparation { folder: cache, shape, recipe: &recipe, threads, strict, check, chunk_bytes };
        preparation.run(&media, &|path, out| reader.read(path, shape, out), progress)
    }

    /// Draws `count` random samples with the concepts they show, the same for the same seed. A missing program is an error;
    /// media that cannot be read are left out and listed.
    ///
    /// # Errors
    /// A dataset without media or without any that can be shown, a missing program, and as [`draw_sheet`].
    pub fn contact_sheet(&self, count: usize, seed: u64, params: SheetParams) -> Result<ContactSheet> {
        let reader = self.media_reader()?;
        let side = NonZeroUsize::new(params.thumbnail).unwrap_or(NonZeroUsize::MIN);
        let mut rows: Vec<usize> = (0..self.table().ids.len()).filter(|&row| self.media_name(row).is_some()).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut rows);
        let (mut left_out, mut pictures) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(path) = self.media_path(row).filter(|_| pictures.len() < count) else { break };
            match reader.thumbnail(&path, side) {
                Ok(picture) => pictures.push((row, picture)),
                Err(error @ Error::Program { .. }) => return Err(error),
                Err(error) => left_out.push((path, error)),
            }
        }
        // In the order of the table: neighbours are then found again.
        pictures.sort_by_key(|(row, _)| *row);
        let labels: Vec<Vec<&str>> = pictures.iter().map(|(row, _)| self.shown_concepts(*row)).collect();
        let entries: Vec<SheetEntry<'_>> = pictures
            .iter()
            .zip(&labels)
            .map(|((row, picture), labels)| SheetEntry { picture, id: &self.table().ids[*row], labels })
            .collect();
        if entries.is_empty()
            && let Some((_, error)) = left_out.pop()
        {
            return Err(error);
        }
        let picture = draw_sheet(&entries, params)?;
        Ok(ContactSheet { picture, shown: entries.len(), left_out })
    }

    /// The concepts that a row is known to show.
    fn shown_concepts(&self, row: usize) -> Vec<&str> {
        let table = self.table();
        let shown = |column: &usize| table.labels.get(row, *column) == Some(true);
        (0..table.concepts.len()).filter(shown).map(|column| table.concepts[column].as_str()).collect()
    }
}
