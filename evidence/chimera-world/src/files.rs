//! The files of a world, in its new folder.

use std::io::{BufWriter, Write};
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_data::media::picture::Picture;
use chimera_data::media::png::encode_png;
use chimera_data::new_folder::NewFolder;
use jpeg_encoder::{ColorType, Encoder, EncodingError};
use serde::Serialize;

use crate::meanings::Meaning;
use crate::wish::HouseRules;

/// Where the rules of a world are.
const RULES: &str = "rules.rules";

/// How much of a picture JPEG keeps, of 100.
const QUALITY: u8 = 92;

/// Writes the rules that scenes were drawn under beside them; nothing where there were none.
pub(crate) fn write_rules<C: Meaning>(folder: &NewFolder, rules: &HouseRules<C>) -> Result<()> {
    if rules.is_empty() {
        return Ok(());
    }
    write(folder, Path::new(RULES), rules.text().as_bytes())
}

/// Writes a picture as PNG.
pub(crate) fn write_picture(folder: &NewFolder, inside: &Path, picture: &Picture) -> Result<()> {
    let mut bytes = Vec::new();
    encode_png(picture, &mut bytes).map_err(|cause| Error::write(folder.place(), cause))?;
    write(folder, inside, &bytes)
}

/// Writes a picture as JPEG.
pub(crate) fn write_jpeg(folder: &NewFolder, inside: &Path, picture: &Picture) -> Result<()> {
    let mut bytes = Vec::new();
    let [width, height] = [picture.size().width(), picture.size().height()].map(|side| side as u16);
    Encoder::new(&mut bytes, QUALITY).encode(picture.pixels(), width, height, ColorType::Rgb).map_err(|error| {
        let cause = match error {
            EncodingError::IoError(cause) => cause,
            other => std::io::Error::other(other),
        };
        Error::write(folder.place(), cause)
    })?;
    write(folder, inside, &bytes)
}

/// Writes a description as JSON.
pub(crate) fn write_json(folder: &NewFolder, inside: &Path, described: &impl Serialize) -> Result<()> {
    let mut file = BufWriter::new(folder.create_file(inside)?);
    let written = serde_json::to_writer(&mut file, described).map_err(std::io::Error::from);
    written.and_then(|()| file.flush()).map_err(|cause| Error::write(folder.place(), cause))
}

/// Writes a file.
pub(crate) fn write(folder: &NewFolder, inside: &Path, bytes: &[u8]) -> Result<()> {
    folder.create_file(inside)?.write_all(bytes).map_err(|cause| Error::write(folder.place(), cause))
}
