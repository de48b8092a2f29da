//! Scores as Parquet, with their types: strings, 64-bit floats with nulls, booleans, lists of strings.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{FIRST, LAST, Row, Writer, number_columns, numbers};

/// Rows that wait to be encoded together.
const BATCH: usize = 1024;

/// A row group ends with so many rows, or so many bytes: it is kept in memory until then.
const GROUP_ROWS: usize = 1 << 17;
const GROUP_BYTES: usize = 32 << 20;

pub(super) struct Parquet {
    schema: SchemaRef,
    /// Made when rows begin. It writes to memory, from where the bytes are taken to the file.
    writer: Option<ArrowWriter<Vec<u8>>>,
    rows: usize,
    ids: StringBuilder,
    anomaly: Float64Builder,
    flagged: BooleanBuilder,
    errors: StringBuilder,
    numbers: Vec<Float64Builder>,
    top: ListBuilder<StringBuilder>,
    flagged_rules: ListBuilder<StringBuilder>,
    severity: StringBuilder,
}

impl Parquet {
    pub(super) fn new(rules: &[&str]) -> Self {
        let columns = number_columns(rules);
        let number = |name: &str| Field::new(name, DataType::Float64, true);
        let [id, anomaly, flagged, error] = FIRST;
        let mut fields = vec![
            Field::new(id, DataType::Utf8, false),
            number(anomaly),
            Field::new(flagged, DataType::Boolean, true),
            Field::new(error, DataType::Utf8, true),
        ];
        fields.extend(columns.iter().map(|name| number(name)));
        let [top, flagged, severity] = LAST;
        let list =
            |name: &str, is_open: bool| Field::new_list(name, Field::new_list_field(DataType::Utf8, true), is_open);
        fields.extend([list(top, false), list(flagged, true), Field::new(severity, DataType::Utf8, true)]);
        Self {
            schema: Arc::new(Schema::new(fields)),
            writer: None,
            rows: 0,
            ids: StringBuilder::new(),
            anomaly: Float64Builder::new(),
            flagged: BooleanBuilder::new(),
            errors: StringBuilder::new(),
            numbers: columns.iter().map(|_| Float64Builder::new()).collect(),
            top: ListBuilder::new(StringBuilder::new()),
            flagged_rules: ListBuilder::new(StringBuilder::new()),
            severity: StringBuilder::new(),
        }
    }

    /// Encodes the rows that wait.
    fn encode(&mut self) -> Result<(), ParquetError> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.ids.finish()),
            Arc::new(self.anomaly.finish()),
            Arc::new(self.flagged.finish()),
            Arc::new(self.errors.finish()),
        ];
        columns.extend(self.numbers.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        columns.push(Arc::new(self.top.finish()));
        columns.push(Arc::new(self.flagged_rules.finish()));
        columns.push(Arc::new(self.severity.finish()));
        self.rows = 0;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(&batch))
    }

    /// Takes what is encoded to the file.
    fn pass_on(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.sync()?;
        let bytes = writer.inner_mut();
        out.write_all(bytes)?;
        bytes.clear();
        Ok(())
    }
}

impl Writer for Parquet {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // Hardly any two scores are the same.
            .set_dictionary_enabled(false)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&self.schema), Some(properties));
        self.writer = Some(writer.map_err(io::Error::other)?);
        Ok(())
    }

    fn row(&mut self, out: &mut dyn Write, row: &Row<'_>) -> io::Result<()> {
        self.ids.append_value(row.id);
        self.anomaly.append_option(row.scores.anomaly);
        self.flagged.append_option(row.flagged);
        self.errors.append_option(row.error);
        for (column, number) in self.numbers.iter_mut().zip(numbers(row.scores)) {
            column.append_option(number);
        }
        self.top.append_value(row.top.iter().map(Some));
        self.flagged_rules.append_option(row.flagged_rules.as_ref().map(|rules| rules.iter().map(Some)));
        self.severity.append_option(row.severity.map(|severity| severity.to_string()));
        self.rows += 1;
        if self.rows < BATCH {
            return Ok(());
        }
        self.encode().map_err(io::Error::other)?;
        self.pass_on(out)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.encode().map_err(io::Error::other)?;
        if let Some(writer) = &mut self.writer {
            writer.finish().map_err(io::Error::other)?;
        }
        self.pass_on(out)
    }
}
