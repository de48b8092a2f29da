//! The idx files of MNIST: big-endian lengths, then bytes; compressed by gzip or not, whatever the name says.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// More bytes than that are no set of small pictures.
const LARGEST: u64 = 1 << 32;

/// An array of bytes.
#[derive(Debug)]
pub(super) struct Idx {
    /// Lengths, the slowest dimension first.
    pub(super) shape: Vec<usize>,
    /// The bytes, row-major.
    pub(super) data: Vec<u8>,
}

/// The file of this stem in a folder, under any of the names that are in use; `train-images` and `idx3`, say.
pub(super) fn find(folder: &Path, stem: &str, dimensions: &str) -> Option<PathBuf> {
    let names = ["-", "."]
        .into_iter()
        .flat_map(|mark| ["", ".gz"].map(|ending| format!("{stem}{mark}{dimensions}-ubyte{ending}")));
    names.map(|name| folder.join(name)).find(|path| path.is_file())
}

/// Reads a file of bytes in so many dimensions.
pub(super) fn read(path: &Path, dimensions: usize) -> Result<Idx> {
    let bytes = read_bytes(path)?;
    let wrong = |what: String| Error::input(format!("cannot read `{}` as an idx file: {what}", path.display()), None);
    // Two zeros, the type (8 is bytes), the number of dimensions.
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(|| wrong("it is too short".to_owned()))?;
    if *head != [0, 0, 8, dimensions as u8] {
        return Err(wrong(format!("expected bytes in {dimensions} dimensions, got the magic number {head:02x?}")));
    }
    let (lengths, data) = rest.split_at_checked(4 * dimensions).ok_or_else(|| wrong("it is too short".to_owned()))?;
    let shape: Vec<usize> = lengths.as_chunks().0.iter().map(|length| u32::from_be_bytes(*length) as usize).collect();
    let expected = shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
    if expected != Some(data.len()) {
        return Err(wrong(format!("expected the bytes of {shape:?}, got {} bytes", data.len())));
    }
    Ok(Idx { data: data.to_vec(), shape })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let read = || {
        let mut reader = BufReader::new(File::open(path)?);
        let (mut magic, mut bytes) = (Vec::new(), Vec::new());
        reader.by_ref().take(2).read_to_end(&mut magic)?;
        reader.rewind()?;
        if magic == [0x1f, 0x8b] {
            flate2::bufread::MultiGzDecoder::new(reader).take(LARGEST).read_to_end(&mut bytes)?;
        } else {
            reader.take(LARGEST).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    read().map_err(|cause| Error::read(path, cause))
}
