//! Import of MNIST and its relatives: idx files to PNG files with one concept a digit, `digit_0` to `digit_9`.
//!
//! Pictures become PNG files rather than one packed file: every later step (encoding, galleries, scoring a single picture)
//! then has one way to read media, and speed comes from the prepared cache, which packs any dataset after its first decoding.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use chimera_logic::bits::{BitTable, TruthTable};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

use super::{ImportOptions, Imported, Note, splitting};
use crate::dataset::draft::{DatasetWriter, Draft};
use crate::dataset::manifest::{Kind, Manifest};
use crate::error::{Error, Result};
use crate::source::{idx, recognise};
use crate::split::Split;
use crate::table::LabelTable;
use crate::table::names::Names;

const DIGITS: usize = 10;

/// Where pictures are, inside the dataset folder.
const MEDIA: &str = "media";

/// So many files a folder; more make folders slow to list.
const FILES_A_FOLDER: usize = 1000;

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct MnistImport {
    /// Folder with `train-images-idx3-ubyte`, `train-labels-idx1-ubyte` and the same for `t10k`, each perhaps ending in `.gz`.
    pub folder: PathBuf,
    /// The rest.
    pub options: ImportOptions,
}

/// The pictures of one official split.
struct Part {
    split: Split,
    images: idx::Idx,
    labels: idx::Idx,
    files: [PathBuf; 2],
}

/// Imports MNIST into the folder `out`. Samples are named `train-00000` and `test-00000` by their official order.
///
/// # Errors
/// Missing or damaged files, or a folder that cannot be written.
pub fn import_mnist(import: &MnistImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    let mut notes = Vec::new();
    let Some(train) = read_part(&import.folder, "train", Split::Train)? else {
        let message = format!("expected `train-images-idx3-ubyte` or `.gz` in `{}`, got none", import.folder.display());
        let own = || "give the folder that holds the four idx files".to_owned();
        return Err(Error::input(message, Some(recognise::elsewhere(&import.folder, "mnist").unwrap_or_else(own))));
    };
    let test = read_part(&import.folder, "t10k", Split::Test)?;
    if test.is_none() {
        notes.push(Note::new("there is no `t10k-images-idx3-ubyte`: no official test pictures"));
    }
    let parts: Vec<Part> = [train].into_iter().chain(test).collect();
    let size = [parts[0].images.shape[2], parts[0].images.shape[1]];
    if parts.iter().any(|part| part.images.shape[1..] != parts[0].images.shape[1..]) {
        return Err(Error::input(format!("pictures in `{}` differ in size", import.folder.display()), None));
    }

    if size.contains(&0) {
        let (width, height) = (size[0], size[1]);
        let folder = import.folder.display();
        return Err(Error::input(format!("expected pictures in `{folder}`, got sides of {width} and {height}"), None));
    }

    let mut table = table_of(&parts, &import.folder);
    let split = splitting::settle(&mut table, &import.options, &mut notes)?;
    let chosen = splitting::chosen_rows(&table, &import.options)?;
    let images = || parts.iter().flat_map(|part| part.images.data.chunks_exact(size[0] * size[1]));
    let mut wanted = chosen.iter().copied().peekable();
    for (row, pixels) in images().enumerate() {
        if wanted.next_if_eq(&row).is_some() {
            let name = table.media.as_ref().map_or("", |media| &media[row]);
            let file = writer.create_file(&Path::new(MEDIA).join(name))?;
            write_png(file, pixels, size).map_err(|cause| Error::write(out, cause))?;
        }
    }
    let mut manifest = Manifest::new(import.options.name_for(out), Kind::Image);
    manifest.media_root = Some(MEDIA.to_owned());
    (manifest.size, manifest.seed) = (Some(size.map(|length| length as u32)), import.options.seed);
    let files: Vec<&Path> = parts.iter().flat_map(|part| &part.files).map(PathBuf::as_path).collect();
    manifest.provenance = import.options.provenance("mnist", &split, Vec::new(), &files)?;
    let dataset = writer.finish(Draft { manifest, table: table.select(&chosen), features: None })?;
    Ok(Imported { dataset, notes })
}

fn read_part(folder: &Path, stem: &str, split: Split) -> Result<Option<Part>> {
    let Some(image_file) = idx::find(folder, &format!("{stem}-images"), "idx3") else { return Ok(None) };
    let Some(label_file) = idx::find(folder, &format!("{stem}-labels"), "idx1") else {
        let message = format!("expected `{stem}-labels-idx1-ubyte` beside `{}`, got none", image_file.display());
        return Err(Error::input(message, None));
    };
    let (images, labels) = (idx::read(&image_file, 3)?, idx::read(&label_file, 1)?);
    if images.shape[0] != labels.shape[0] {
        let (pictures, found) = (images.shape[0], labels.shape[0]);
        let message = format!("expected {pictures} labels in `{}`, one a picture, got {found}", label_file.display());
        return Err(Error::input(message, None));
    }
    if let Some(at) = labels.data.iter().position(|&digit| usize::from(digit) >= DIGITS) {
        let got = labels.data[at];
        let message = format!("expected digits in `{}`, got {got} for picture {at}", label_file.display());
        return Err(Error::input(message, None));
    }
    Ok(Some(Part { split, images, labels, files: [image_file, label_file] }))
}

fn table_of(parts: &[Part], folder: &Path) -> LabelTable {
    let digits: Vec<u8> = parts.iter().flat_map(|part| part.labels.data.iter().copied()).collect();
    let (mut ids, mut media, mut splits) = (Names::default(), Vec::new(), Vec::new());
    for part in parts {
        let split = part.split.as_str();
        for number in 0..part.labels.data.len() {
            ids.push(&format!("{split}-{number:05}"));
            media.push(format!("{split}/{:02}/{number:05}.png", number / FILES_A_FOLDER));
            splits.push(split.to_owned());
        }
    }
    let one_hot = BitTable::from_fn(digits.len(), DIGITS, |row, digit| usize::from(digits[row]) == digit);
    LabelTable {
        ids,
        labels: TruthTable::complete(one_hot),
        splits: Some(splits),
        media: Some(media),
        groups: None,
        oov_ancestors: None,
        concepts: (0..DIGITS).map(|digit| format!("digit_{digit}")).collect(),
        lines: None,
        path: folder.to_owned(),
    }
}

fn write_png(file: File, pixels: &[u8], [width, height]: [usize; 2]) -> std::io::Result<()> {
    let encoder = PngEncoder::new_with_quality(BufWriter::new(file), CompressionType::Fast, FilterType::NoFilter);
    let written = encoder.write_image(pixels, width as u32, height as u32, ExtendedColorType::L8);
    written.map_err(|error| match error {
        image::ImageError::IoError(error) => error,
        other => std::io::Error::other(other),
    })
}
