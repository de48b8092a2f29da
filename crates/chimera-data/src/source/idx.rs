//! The idx files of MNIST: big-endian lengths, then bytes; compressed by gzip or not, whatever the name says.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::source::deflated;

/// An array of bytes.
#[derive(Debug)]
pub(crate) struct Idx {
    /// Lengths, the slowest dimension first.
    pub(crate) shape: Vec<usize>,
    /// The bytes, row-major.
    pub(crate) data: Vec<u8>,
}

/// The file of this stem in a folder, under any of the names that are in use; `train-images` and `idx3`, say.
pub(crate) fn find(folder: &Path, stem: &str, dimensions: &str) -> Option<PathBuf> {
    let names = ["-", "."]
        .into_iter()
        .flat_map(|mark| ["", ".gz"].map(|ending| format!("{stem}{mark}{dimensions}-ubyte{ending}")));
    names.map(|name| folder.join(name)).find(|path| path.is_file())
}

/// Reads a file of bytes in so many dimensions. It is read only if it can hold what its lengths claim.
pub(crate) fn read(path: &Path, dimensions: usize) -> Result<Idx> {
    let wrong = |what: String| Error::input(format!("cannot read `{}` as an idx file: {what}", path.display()), None);
    let refused = |cause: io::Error| match cause.kind() {
        ErrorKind::UnexpectedEof => wrong("it is too short".to_owned()),
        _ => Error::read(path, cause),
    };
    let (mut reader, size, is_compressed) = open(path).map_err(refused)?;
    // Two zeros, the type (8 is bytes), the number of dimensions.
    let mut head = [0; 4];
    reader.read_exact(&mut head).map_err(refused)?;
    if head != [0, 0, 8, dimensions as u8] {
        return Err(wrong(format!("expected bytes in {dimensions} dimensions, got the magic number {head:02x?}")));
    }
    let mut lengths = vec![0; 4 * dimensions];
    reader.read_exact(&mut lengths).map_err(refused)?;
    let shape: Vec<usize> = lengths.as_chunks().0.iter().map(|length| u32::from_be_bytes(*length) as usize).collect();
    let claimed = shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length as u64));
    let claimed = claimed.ok_or_else(|| wrong(format!("its lengths {shape:?} are beyond all memory")))?;
    let other = |got: u64| wrong(format!("expected the bytes of {shape:?}, got {got} bytes"));
    if is_compressed {
        deflated::check(size, claimed).map_err(wrong)?;
    } else if claimed != size - (head.len() + lengths.len()) as u64 {
        return Err(other(size - (head.len() + lengths.len()) as u64));
    }
    let mut data = Vec::new();
    reader.take(claimed + 1).read_to_end(&mut data).map_err(refused)?;
    if data.len() as u64 == claimed { Ok(Idx { shape, data }) } else { Err(other(data.len() as u64)) }
}

/// The plain bytes of a file, its size on disk, and whether it is compressed.
fn open(path: &Path) -> io::Result<(Box<dyn Read>, u64, bool)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let (mut reader, mut magic) = (BufReader::new(file), Vec::new());
    reader.by_ref().take(2).read_to_end(&mut magic)?;
    reader.rewind()?;
    let is_compressed = magic == [0x1f, 0x8b];
    let plain: Box<dyn Read> =
        if is_compressed { Box::new(flate2::bufread::MultiGzDecoder::new(reader)) } else { Box::new(reader) };
    Ok((plain, size, is_compressed))
}
