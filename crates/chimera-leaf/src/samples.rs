//! What the leaf bank looks at: the prepared frames or the given features of a dataset, by the numbers of its rows.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use chimera_data::dataset::Dataset;
use chimera_data::dataset::media::{LeftOut, PreparedRows, Preparing};
use chimera_data::error::{Error, Result};
use chimera_data::features::Features;
use chimera_data::media::augment::Augment;
use chimera_data::media::frames::FrameShape;
use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::prepared::Progress;
use chimera_data::parallel::in_parallel;

use super::encoder::{Batch, EncoderConfig};
use super::input;

/// The samples of a dataset as one encoder sees them.
#[derive(Debug)]
pub struct Samples<'a> {
    dataset: &'a Dataset,
    content: Content,
    threads: NonZeroUsize,
}

#[derive(Debug)]
enum Content {
    Frames {
        prepared: Box<PreparedRows>,
        /// Where each row of the dataset lies among the prepared ones.
        places: Vec<Option<usize>>,
    },
    Given(Features),
}

/// How samples are made ready.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// Where prepared frames lie, for any number of datasets.
    pub cache: &'a Path,
    /// Threads for decoding and for making batches.
    pub threads: NonZeroUsize,
    /// Whether the first medium that cannot be decoded ends the work.
    pub strict: bool,
}

impl<'a> Samples<'a> {
    /// Makes all samples of a dataset ready: media are decoded unless the cache has their frames.
    ///
    /// # Errors
    /// As [`Dataset::prepare`] and [`Dataset::features`].
    pub fn open(
        dataset: &'a Dataset,
        encoder: &EncoderConfig,
        opening: Opening<'_>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Self> {
        let Opening { cache, threads, strict } = opening;
        let content = match *encoder {
            EncoderConfig::Frames { frames, size, .. } => {
                let rows: Vec<usize> = (0..dataset.table().ids.len()).collect();
                let shape = FrameShape::new(frames, size, size)?;
                let preparing = Preparing { cache, shape, threads, strict };
                let prepared = dataset.prepare(&rows, preparing, progress)?;
                let mut places = vec![None; rows.len()];
                prepared.rows.iter().enumerate().for_each(|(place, &row)| places[row] = Some(place));
                Content::Frames { prepared: Box::new(prepared), places }
            }
            EncoderConfig::Given { .. } => {
                let missing =
                    || Error::input(format!("expected features in `{}`, got none", dataset.folder().display()), None);
                Content::Given(dataset.features()?.ok_or_else(missing)?)
            }
        };
        Ok(Self { dataset, content, threads })
    }

    /// The dataset that they belong to.
    #[must_use]
    pub fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    /// The given features, where there are any.
    #[must_use]
    pub fn given(&self) -> Option<&Features> {
        match &self.content {
            Content::Given(features) => Some(features),
            Content::Frames { .. } => None,
        }
    }

    /// Whether a row has something to look at.
    #[must_use]
    pub fn has(&self, row: usize) -> bool {
        match &self.content {
            Content::Frames { places, .. } => places[row].is_some(),
            Content::Given(_) => true,
        }
    }

    /// Rows whose media are missing or cannot be decoded.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        match &self.content {
            Content::Frames { prepared, .. } => &prepared.left_out,
            Content::Given(_) => &[],
        }
    }

    /// Chunks of the cache of frames that were found damaged, where they lie now.
    #[must_use]
    pub fn set_aside(&self) -> &[PathBuf] {
        match &self.content {
            Content::Frames { prepared, .. } => prepared.set_aside(),
            Content::Given(_) => &[],
        }
    }

    /// A hash of what is seen of a row; rows without anything have none.
    #[must_use]
    pub fn content_hash(&self, row: usize) -> Option<[u8; 32]> {
        match &self.content {
            Content::Frames { prepared, places } => places[row].map(|place| prepared.digest(place)),
            Content::Given(features) => {
                let mut hasher = blake3::Hasher::new();
                features.row(row).iter().for_each(|value| _ = hasher.update(&value.to_le_bytes()));
                Some(*hasher.finalize().as_bytes())
            }
        }
    }

    /// These rows as the encoder takes them, changed at random as `augment` says for an epoch. All must have something to
    /// look at.
    ///
    /// # Errors
    /// [`Error::Input`] for a row that has nothing.
    pub fn batch(&self, rows: &[usize], augment: Option<(&Augment, u64)>, device: &Device) -> Result<Batch> {
        match &self.content {
            Content::Given(features) => {
                let numbers: Vec<f32> = rows.iter().flat_map(|&row| features.row(row)).copied().collect();
                Ok(Batch::Given(Tensor::from_data(TensorData::new(numbers, [rows.len(), features.width()]), device)))
            }
            Content::Frames { prepared, places } => {
                let frames =
                    |&row: &usize| places[row].map(|place| prepared.frames(place)).ok_or_else(|| self.nothing(row));
                let frames = rows.iter().map(frames).collect::<Result<Vec<&[u8]>>>()?;
                let shape = prepared.shape();
                let Some((augment, epoch)) = augment else {
                    return input::batch(&frames, shape, self.threads, device);
                };
                let changed = in_parallel(self.threads, rows.len(), |place| {
                    let augmentation = augment.draw(&self.dataset.table().ids[rows[place]], epoch);
                    let size = Size::new(shape.width.get(), shape.height.get())?;
                    let mut bytes = Vec::with_capacity(shape.bytes());
                    for frame in frames[place].chunks_exact(shape.frame_bytes()) {
                        bytes.extend_from_slice(augmentation.apply(&Picture::new(size, frame.to_vec())?).pixels());
                    }
                    Ok(bytes)
                })?;
                let changed: Vec<&[u8]> = changed.iter().map(Vec::as_slice).collect();
                input::batch(&changed, shape, self.threads, device)
            }
        }
    }

    fn nothing(&self, row: usize) -> Error {
        Error::input(format!("expected a medium for sample `{}`, got none", &self.dataset.table().ids[row]), None)
    }

    /// The labels of these rows, one row after the other; `None` where one is unknown.
    #[must_use]
    pub fn labels(&self, rows: &[usize]) -> Vec<Option<bool>> {
        let table = self.dataset.table();
        let concepts = table.concepts.len();
        rows.iter().flat_map(|&row| (0..concepts).map(move |concept| table.labels.get(row, concept))).collect()
    }
}
