//! Tables as Parquet files, in memory: the only place that knows the format.

use super::row::{Cell, TableRow};
use super::schema::{Column, ColumnKind, TABLES_VERSION, Table};
use crate::model::error::{Error, ErrorKind};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// 9 is 4% smaller on our texts and takes twice as long; 1 is 6% larger and hardly faster.
const ZSTD_LEVEL: i32 = 3;

/// Rows of one group: what a reader has to take at once. More groups: more statistics to skip by.
const GROUP_ROWS: usize = 50_000;

/// What a file says of itself: the version of its table.
pub const VERSION_KEY: &str = "sessionmill.tables_version";

/// The bytes of a file with these rows. The same rows give the same bytes.
///
/// # Errors
/// When a row is not one of the table's, which would be our mistake.
pub fn encode(table: &Table, rows: &[TableRow]) -> Result<Vec<u8>, Error> {
    written(table, rows).map_err(|error| {
        let message = format!("the table {} can't be written: {error}", table.name);
        Error::new(ErrorKind::Failed, message)
    })
}

fn written(table: &Table, rows: &[TableRow]) -> Result<Vec<u8>, ParquetError> {
    let fields: Result<Vec<TypePtr>, ParquetError> = table.columns.iter().map(field).collect();
    let schema = Type::group_type_builder(table.name)
        .with_fields(fields?)
        .build()?;
    let version = KeyValue::new(VERSION_KEY.to_owned(), TABLES_VERSION.to_string());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_key_value_metadata(Some(vec![version]))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    for rows in rows.chunks(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        for (nth, column) in table.columns.iter().enumerate() {
            let Some(mut to) = group.next_column()? else {
                return Err(ParquetError::General("a column is missing".into()));
            };
            let cells = rows.iter().map(|row| row.get(nth).unwrap_or(&Cell::Null));
            write(column, cells, &mut to)?;
            to.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let repetition = match column.nullable {
        true => Repetition::OPTIONAL,
        false => Repetition::REQUIRED,
    };
    let (physical, logical) = match column.kind {
        ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnKind::Int => (Physical::INT64, None),
        ColumnKind::Real => (Physical::DOUBLE, None),
        ColumnKind::Bool => (Physical::BOOLEAN, None),
        ColumnKind::Time => (
            Physical::INT64,
            Some(LogicalType::timestamp(true, TimeUnit::MILLIS)),
        ),
        ColumnKind::Texts => return list(column.name),
    };
    let field = Type::primitive_type_builder(column.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

/// A list that is never null, of texts that are never null.
fn list(name: &str) -> Result<TypePtr, ParquetError> {
    let element = Type::primitive_type_builder("element", Physical::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::String))
        .build()?;
    let repeated = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    let list = Type::group_type_builder(name)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(repeated)])
        .build()?;
    Ok(Arc::new(list))
}

fn write<'c>(
    column: &Column,
    cells: impl Iterator<Item = &'c Cell>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    match column.kind {
        ColumnKind::Text => {
            let (values, levels) = values(column, cells, |cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_bytes().to_vec())),
                _ => None,
            })?;
            to.typed::<ByteArrayType>()
                .write_batch(&values, levels.as_deref(), None)?;
        }
        ColumnKind::Int | ColumnKind::Time => {
            let (values, levels) = values(column, cells, |cell| match cell {
                Cell::Int(n) => Some(*n),
                Cell::Time(time) => Some(time.0),
                _ => None,
            })?;
            to.typed::<Int64Type>()
                .write_batch(&values, levels.as_deref(), None)?;
        }
        ColumnKind::Real => {
            let (values, levels) = values(column, cells, |cell| match cell {
                Cell::Real(n) => Some(*n),
                _ => None,
            })?;
            to.typed::<DoubleType>()
                .write_batch(&values, levels.as_deref(), None)?;
        }
        ColumnKind::Bool => {
            let (values, levels) = values(column, cells, |cell| match cell {
                Cell::Bool(is_so) => Some(*is_so),
                _ => None,
            })?;
            to.typed::<BoolType>()
                .write_batch(&values, levels.as_deref(), None)?;
        }
        ColumnKind::Texts => write_lists(cells, to)?,
    }
    Ok(())
}

/// What there is, and, of a column that may be null, where something is.
fn values<'c, T>(
    column: &Column,
    cells: impl Iterator<Item = &'c Cell>,
    value: impl Fn(&Cell) -> Option<T>,
) -> Result<(Vec<T>, Option<Vec<i16>>), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        let value = value(cell);
        if value.is_none() && !(column.nullable && *cell == Cell::Null) {
            let what = format!("{}: not {}", column.name, column.kind.as_str());
            return Err(ParquetError::General(what));
        }
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    Ok((values, column.nullable.then_some(levels)))
}

fn write_lists<'c>(
    cells: impl Iterator<Item = &'c Cell>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        let texts: &[String] = match cell {
            Cell::Texts(texts) => texts,
            _ => return Err(ParquetError::General("not a list".into())),
        };
        if texts.is_empty() {
            defined.push(0);
            repeated.push(0);
        }
        for (nth, text) in texts.iter().enumerate() {
            defined.push(1);
            repeated.push(i16::from(nth > 0));
            values.push(ByteArray::from(text.as_bytes().to_vec()));
        }
    }
    to.typed::<ByteArrayType>()
        .write_batch(&values, Some(&defined), Some(&repeated))?;
    Ok(())
}
