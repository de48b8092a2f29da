//! `samples.parquet`: one row a sample, one boolean column a concept, null where a label is unknown.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;

use crate::split::Split;
use crate::table::LabelTable;

/// Writes the samples of a table with their splits. The columns `media`, `group` and `oov_ancestors` are written where the
/// table has them.
pub(crate) fn write(table: &LabelTable, splits: &[Split], out: &mut (dyn Write + Send)) -> Result<()> {
    let mut columns: Vec<(&str, ArrayRef, bool)> = vec![("id", strings(table.ids.iter().map(Some)), false)];
    if let Some(media) = &table.media {
        columns.push(("media", strings(media.iter().map(non_empty)), true));
    }
    columns.push(("split", strings(splits.iter().map(|split| Some(split.as_str()))), false));
    if let Some(groups) = &table.groups {
        columns.push(("group", strings(groups.iter().map(non_empty)), true));
    }
    if let Some(lists) = &table.oov_ancestors {
        let mut builder = ListBuilder::new(StringBuilder::new());
        lists.iter().for_each(|list| builder.append_value(list.iter().map(Some)));
        columns.push(("oov_ancestors", Arc::new(builder.finish()), true));
    }
    for (concept, name) in table.concepts.iter().enumerate() {
        let labels: BooleanArray = (0..table.ids.len()).map(|row| table.labels.get(row, concept)).collect();
        columns.push((name, Arc::new(labels), true));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

fn strings<T: AsRef<str>>(texts: impl Iterator<Item = Option<T>>) -> ArrayRef {
    Arc::new(texts.collect::<StringArray>())
}

fn non_empty(text: &String) -> Option<&String> {
    Some(text).filter(|text| !text.is_empty())
}
