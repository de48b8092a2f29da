//! What goes through an encoder, by number: rows of a dataset, or media that lie about.

use std::path::{Path, PathBuf};

use chimera_data::dataset::Dataset;
use chimera_data::dataset::manifest::Kind;
use chimera_data::error::{Error, Result};
use chimera_data::features::FeatureRows;
use chimera_data::import::loose::Loose;
use chimera_data::media::image::ImageReader;
use chimera_data::media::reader::MediaReader;
use chimera_data::media::video::VideoReader;

use crate::encoder::EncoderConfig;

/// Samples with their ids, numbered from 0.
#[derive(Clone, Copy, Debug)]
pub enum Sources<'a> {
    /// Rows of a dataset, in this order.
    Rows {
        /// The dataset.
        dataset: &'a Dataset,
        /// Numbers of its rows.
        rows: &'a [usize],
    },
    /// Loose media.
    Loose(&'a Loose),
}

impl<'a> Sources<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Rows { rows, .. } => rows.len(),
            Self::Loose(loose) => loose.files().len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The id of a sample.
    ///
    /// # Panics
    /// Where there is no such sample.
    #[must_use]
    pub fn id(self, sample: usize) -> &'a str {
        match self {
            Self::Rows { dataset, rows } => &dataset.table().ids[rows[sample]],
            Self::Loose(loose) => &loose.files()[sample],
        }
    }

    /// The medium of a sample; `None` where a row has none.
    ///
    /// # Panics
    /// Where there is no such sample.
    #[must_use]
    pub fn path(self, sample: usize) -> Option<PathBuf> {
        match self {
            Self::Rows { dataset, rows } => dataset.media_path(rows[sample]),
            Self::Loose(loose) => Some(Path::new(&loose.files()[sample]).to_owned()),
        }
    }

    /// What reads their media.
    ///
    /// # Errors
    /// A dataset without media.
    pub fn media_reader(self) -> Result<MediaReader> {
        match self {
            Self::Rows { dataset, .. } => dataset.media_reader(),
            Self::Loose(loose) if loose.kind() == Kind::Video => Ok(MediaReader::Videos(VideoReader::default())),
            Self::Loose(_) => Ok(MediaReader::Pictures(ImageReader::default())),
        }
    }

    /// The given features of all samples.
    ///
    /// # Errors
    /// Samples without features.
    pub fn feature_rows(self) -> Result<FeatureRows> {
        let Self::Rows { dataset, .. } = self else {
            return Err(Error::input("loose media have no features".to_owned(), None));
        };
        let missing = || Error::input(format!("expected features in `{}`, got none", dataset.folder().display()), None);
        dataset.feature_rows()?.ok_or_else(missing)
    }

    /// The given features of one sample.
    ///
    /// # Errors
    /// As [`Self::feature_rows`], and what cannot be read.
    ///
    /// # Panics
    /// Where there is no such sample.
    pub fn features(self, sample: usize) -> Result<Vec<f32>> {
        let mut features = self.feature_rows()?;
        let Self::Rows { rows, .. } = self else { return Ok(Vec::new()) };
        features.read(&rows[sample..=sample])
    }

    /// Makes sure that an encoder can look at them, before any is read.
    ///
    /// # Errors
    /// Samples of another kind, and features of another width.
    pub fn check(self, encoder: &EncoderConfig) -> Result<()> {
        match (self, encoder) {
            (_, EncoderConfig::Frames { frames, .. }) => {
                let wanted = if *frames == 1 { Kind::Image } else { Kind::Video };
                let got = match self {
                    Self::Rows { dataset, .. } => dataset.manifest().kind_of_media(),
                    Self::Loose(loose) => Some(loose.kind()),
                };
                if got == Some(wanted) { Ok(()) } else { Err(self.another(words(wanted), &kind_words(got), None)) }
            }
            (Self::Loose(loose), EncoderConfig::Given { .. }) => {
                let hint = "bring them in with `chimera import features`";
                Err(self.another("a dataset with features", words(loose.kind()), Some(hint)))
            }
            (Self::Rows { dataset, .. }, EncoderConfig::Given { width, .. }) => match dataset.feature_width()? {
                Some(got) if got == *width => Ok(()),
                Some(got) => {
                    let hint = "the same program must make the features of both";
                    Err(self.another(&format!("{width} features a sample"), &got.to_string(), Some(hint)))
                }
                None => {
                    let got = kind_words(dataset.manifest().kind_of_media());
                    let hint = "bring them in with `chimera import features`";
                    Err(self.another("features", &got, Some(hint)))
                }
            },
        }
    }

    fn another(self, wanted: &str, got: &str, hint: Option<&str>) -> Error {
        let place = match self {
            Self::Rows { dataset, .. } => format!(" in `{}`", dataset.folder().display()),
            Self::Loose(_) => String::new(),
        };
        let message = format!("expected {wanted}{place}, which the model looks at, got {got}");
        Error::input(message, hint.map(str::to_owned))
    }
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::Image => "pictures",
        Kind::Video => "videos",
        Kind::Features => "features",
        Kind::Labels => "labels",
    }
}

fn kind_words(media: Option<Kind>) -> String {
    media.map_or_else(|| "no media".to_owned(), |kind| words(kind).to_owned())
}
