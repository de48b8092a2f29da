//! Opening Parquet files and decoding them so that a damaged one is an error, never a panic.

use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use crate::error::{Error, Result, lower_first};

/// Reads the metadata of a file.
pub fn open(path: &Path, mut file: File) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let mut magic = Vec::new();
    let read = file.by_ref().take(4).read_to_end(&mut magic).and_then(|_| file.rewind());
    let size = read.and_then(|()| file.metadata()).map_err(|cause| Error::read(path, cause))?.len();
    if magic != b"PAR1" {
        let message = format!("expected a Parquet file in `{}`, got something else", path.display());
        return Err(Error::input(message, Some("name the file `.csv` or `.tsv` if it is text".to_owned())));
    }
    // The Arrow schema stored beside the data only adds other shapes of the same values (dictionaries, large strings).
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = guarded(path, || ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))?;
    check_places(builder.metadata(), size).map_err(|message| damaged(path, &message))?;
    Ok(builder)
}

/// Lets the decoder work. It panics on some damaged files (divisions by zero, sums that overflow); that is the file's
/// fault, so here, around foreign code that is dropped right after, a panic is caught.
pub fn guarded<T, E: Display>(path: &Path, decode: impl FnOnce() -> std::result::Result<T, E>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(decoded) => decoded.map_err(|error| damaged(path, &error)),
        Err(_) => Err(damaged(path, &"the content contradicts itself")),
    }
}

/// The error about a file that cannot be decoded.
pub(super) fn damaged(path: &Path, what: &dyn Display) -> Error {
    let message = format!("cannot read `{}` as Parquet: {}", path.display(), lower_first(&what.to_string()));
    let hint =
        "the file may be cut off or use a compression other than none, snappy, zstd, lz4 or gzip; write it again";
    Error::input(message, Some(hint.to_owned()))
}

/// The decoder trusts the numbers of rows and the places of columns, and panics (with a word to the terminal) where they
/// are impossible: the commonest damage is found before.
fn check_places(metadata: &ParquetMetaData, size: u64) -> std::result::Result<(), &'static str> {
    if metadata.row_groups().iter().any(|group| group.num_rows() < 0 || group.num_rows() > i64::from(u32::MAX)) {
        return Err("impossible number of rows");
    }
    for column in metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let range = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
        let end = range.and_then(|(start, length)| start.checked_add(length));
        if end.is_none_or(|end| end > size) {
            return Err("a column lies outside the file");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_decoder_is_an_error_about_the_file() {
        let decode = || -> std::result::Result<(), String> { std::panic::resume_unwind(Box::new("foreign")) };
        let error = guarded(Path::new("a.parquet"), decode).unwrap_err().to_string();
        assert!(error.starts_with("cannot read `a.parquet` as Parquet: the content contradicts itself\n"), "{error}");
        let error = guarded::<(), _>(Path::new("a.parquet"), || Err("Bad page")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read `a.parquet` as Parquet: bad page\nhint: "), "{error}");
    }
}
