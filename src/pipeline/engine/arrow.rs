//! The lines of [`transform`](super::transform) as an Arrow IPC stream: a row for each, with the text of the line
//! and, in columns of their own, what an engine divides, sorts and counts by (docs/engine.md). Knows nothing of
//! what else a line says.

use super::line::{CONTRACT, HeaderLine, LineStep, kind};
use anyhow::{Context, Result, ensure};
use arrow_array::builder::{FixedSizeBinaryBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

/// Text of lines in one batch. More: memory; fewer: batches that cost their reader more than their rows.
const BATCH_BYTES: usize = 4 << 20;

/// Bytes of a hash.
const HASH_BYTES: i32 = 16;

/// Takes lines as they are printed and writes them as rows.
pub struct ArrowLines<W: Write> {
    stream: StreamWriter<W>,
    /// What came of a line that is not whole yet.
    begun: Vec<u8>,
    rows: Rows,
}

impl<W: Write> ArrowLines<W> {
    /// Writes the schema.
    ///
    /// # Errors
    /// When `out` takes nothing.
    pub fn begin(out: W) -> Result<ArrowLines<W>> {
        Ok(ArrowLines {
            stream: StreamWriter::try_new(out, &schema()).map_err(failed)?,
            begun: Vec::new(),
            rows: Rows::default(),
        })
    }

    /// Writes what waits, and the end of the stream: a stream without it was cut short.
    ///
    /// # Errors
    /// When `out` takes nothing, or the last line has no end.
    pub fn finish(mut self) -> Result<()> {
        ensure!(self.begun.is_empty(), "the last line has no end");
        self.write_batch()?;
        Ok(self.stream.finish().map_err(failed)?)
    }

    fn add(&mut self, line: &[u8]) -> io::Result<()> {
        self.rows.add(line).map_err(io::Error::other)?;
        match self.rows.bytes >= BATCH_BYTES {
            true => self.write_batch(),
            false => Ok(()),
        }
    }

    fn write_batch(&mut self) -> io::Result<()> {
        if self.rows.count == 0 {
            return Ok(());
        }
        let batch = self.rows.take().map_err(failed)?;
        self.stream.write(&batch).map_err(failed)
    }
}

impl<W: Write> Write for ArrowLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            match self.begun.is_empty() {
                true => self.add(line)?,
                false => {
                    let mut whole = std::mem::take(&mut self.begun);
                    whole.extend_from_slice(line);
                    self.add(&whole)?;
                }
            }
            rest = after;
        }
        self.begun.extend_from_slice(rest);
        Ok(bytes.len())
    }

    /// Rows wait for their batch.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader that went away is told from what else fails.
fn failed(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

/// The columns, and what the header line says.
fn schema() -> Schema {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    let int = |name: &str| Field::new(name, DataType::Int64, true);
    let fields = vec![
        text("type", false),
        text("file", false),
        int("run"),
        int("order"),
        int("generation"),
        int("offset"),
        int("read_to"),
        int("nth"),
        text("session", true),
        text("namespace", true),
        text("id", true),
        Field::new("hash", DataType::FixedSizeBinary(HASH_BYTES), false),
        text("line", false),
    ];
    let header = [
        ("sessionmill.contract", CONTRACT.to_string()),
        ("sessionmill.program", HeaderLine::own().program),
    ];
    let header = header.map(|(name, value)| (name.to_owned(), value));
    let header: HashMap<String, String> = header.into();
    Schema::new_with_metadata(fields, header)
}

/// What a line says of its place.
#[derive(Deserialize)]
struct PlacedLine {
    #[serde(rename = "type")]
    kind: String,
    step: Option<LineStep>,
    file: Option<String>,
    run: Option<u64>,
    order: Option<u64>,
    nth: Option<u64>,
    session: Option<SessionOfLine>,
    namespace: Option<String>,
    episode: Option<EpisodeOfLine>,
}

/// A commit has all of its session, the others its id.
#[derive(Deserialize)]
#[serde(untagged)]
enum SessionOfLine {
    Id(String),
    Whole { id: String, namespace: String },
}

#[derive(Deserialize)]
struct EpisodeOfLine {
    id: Uuid,
}

/// The columns of a batch that is not written yet.
struct Rows {
    kind: StringBuilder,
    file: StringBuilder,
    /// `run`, `order`, `generation`, `offset`, `read_to`, `nth`.
    numbers: [Int64Builder; 6],
    session: StringBuilder,
    namespace: StringBuilder,
    id: StringBuilder,
    hash: FixedSizeBinaryBuilder,
    line: StringBuilder,
    bytes: usize,
    count: usize,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows {
            kind: StringBuilder::new(),
            file: StringBuilder::new(),
            numbers: std::array::from_fn(|_| Int64Builder::new()),
            session: StringBuilder::new(),
            namespace: StringBuilder::new(),
            id: StringBuilder::new(),
            hash: FixedSizeBinaryBuilder::new(HASH_BYTES),
            line: StringBuilder::new(),
            bytes: 0,
            count: 0,
        }
    }
}

impl Rows {
    /// The header is no row: the schema says what it says.
    fn add(&mut self, line: &[u8]) -> Result<()> {
        let text = std::str::from_utf8(line)?;
        let placed: PlacedLine = serde_json::from_str(text)?;
        if placed.kind == kind::HEADER {
            return Ok(());
        }
        let step = placed.step.as_ref();
        let file = placed.file.as_ref().or(step.map(|step| &step.file));
        let (session, of_session) = match &placed.session {
            Some(SessionOfLine::Id(id)) => (Some(id), None),
            Some(SessionOfLine::Whole { id, namespace }) => (Some(id), Some(namespace)),
            None => (None, None),
        };
        let numbers = [
            placed.run.or(step.map(|step| step.run)),
            placed.order.or(step.map(|step| step.order)),
            step.map(|step| u64::from(step.generation)),
            step.map(|step| step.offset),
            step.map(|step| step.read_to),
            placed.nth,
        ];
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.append_option(number.and_then(|number| i64::try_from(number).ok()));
        }
        self.kind.append_value(&placed.kind);
        self.file
            .append_value(file.context("it names no file that belongs to it")?);
        self.session.append_option(session);
        self.namespace
            .append_option(placed.namespace.as_ref().or(of_session));
        let id = placed.episode.map(|episode| episode.id.to_string());
        self.id.append_option(id);
        self.hash.append_value(xxh3_128(line).to_be_bytes())?;
        self.line.append_value(text);
        self.bytes += line.len();
        self.count += 1;
        Ok(())
    }

    /// All rows as a batch; none are left.
    fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let mut rows = std::mem::take(self);
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(rows.kind.finish()), Arc::new(rows.file.finish())];
        for numbers in &mut rows.numbers {
            columns.push(Arc::new(numbers.finish()));
        }
        columns.push(Arc::new(rows.session.finish()));
        columns.push(Arc::new(rows.namespace.finish()));
        columns.push(Arc::new(rows.id.finish()));
        columns.push(Arc::new(rows.hash.finish()));
        columns.push(Arc::new(rows.line.finish()));
        RecordBatch::try_new(Arc::new(schema()), columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_ipc::reader::StreamReader;

    fn written(lines: &str, at_once: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut arrow = ArrowLines::begin(&mut out).unwrap();
        for bytes in lines.as_bytes().chunks(at_once) {
            arrow.write_all(bytes).unwrap();
        }
        arrow.finish().unwrap();
        out
    }

    fn tally(nth: usize, filling: usize) -> String {
        let filling = "x".repeat(filling);
        format!("{{\"type\":\"tally\",\"run\":7,\"file\":\"/{nth}\",\"filling\":\"{filling}\"}}\n")
    }

    #[test]
    fn lines_that_come_in_pieces_are_the_same_rows() {
        let lines: String = (0..50).map(|nth| tally(nth, nth)).collect();
        let whole = written(&lines, lines.len());
        assert_eq!(written(&lines, 1), whole);
        assert_eq!(written(&lines, 37), whole);
        let batch = StreamReader::try_new(&*whole, None)
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        assert_eq!(batch.num_rows(), 50);
        let runs = batch["run"].as_primitive::<Int64Type>();
        assert!(runs.iter().all(|run| run == Some(7)));
        assert_eq!(
            batch["line"].as_string::<i32>().value(3),
            tally(3, 3).trim()
        );
        assert_eq!(batch["offset"].null_count(), 50);
    }

    #[test]
    fn a_batch_is_bounded_and_nothing_is_a_stream_too() {
        let lines: String = (0..30).map(|nth| tally(nth, 1 << 20)).collect();
        let written_lines = written(&lines, 1 << 20);
        let batches = StreamReader::try_new(&*written_lines, None).unwrap();
        let sizes: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(sizes, [4, 4, 4, 4, 4, 4, 4, 2]);
        let nothing = written("{\"type\":\"header\",\"contract\":1}\n", 8);
        let mut stream = StreamReader::try_new(&*nothing, None).unwrap();
        assert_eq!(stream.schema().metadata()["sessionmill.contract"], "1");
        assert!(stream.next().is_none());
    }

    #[test]
    fn a_reader_that_went_away_is_told_as_such_and_what_is_no_line_is_an_error() {
        struct Gone(usize);
        impl Write for Gone {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self
                    .0
                    .checked_sub(bytes.len())
                    .ok_or(io::ErrorKind::BrokenPipe)?;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut arrow = ArrowLines::begin(Gone(4096)).unwrap();
        arrow.write_all(tally(0, 8192).as_bytes()).unwrap();
        let error = arrow.finish().unwrap_err();
        let error = error.downcast_ref::<io::Error>().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        let mut arrow = ArrowLines::begin(Vec::new()).unwrap();
        assert!(arrow.write_all(b"{\"type\":\"tally\"}\n").is_err());
        let mut arrow = ArrowLines::begin(Vec::new()).unwrap();
        arrow.write_all(b"{\"type\":").unwrap();
        assert!(arrow.finish().is_err());
    }
}
