//! A log on its way through [`parse`]: the one loop over blocks.

use crate::agents::registry;
use crate::host::read::{Content, LogReader, Reduce, Shape};
use crate::json::skim::{Skimmer, close};
use crate::model::batch::Batch;
use crate::model::entry::{Context, Entry};
use crate::model::source::{Slice, SourceFile};
use crate::stages::parse::{Dialect, LogName, ParseState, parse};
use anyhow::Result;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Bytes that one turn reads of a log's head: most heads say what is wanted in their first lines.
const HEAD_STEP: usize = 4 << 10;

/// Buffers that a worker keeps from log to log: fresh pages cost more than reading.
#[derive(Default)]
pub struct Scratch {
    buffer: Vec<u8>,
    skimmer: Skimmer,
}

/// An open log and what its dialect remembers from line to line.
pub struct ParsedLog {
    dialect: &'static dyn Dialect,
    reader: LogReader,
    parser: ParseState,
    skimmer: Skimmer,
    /// Bytes after which the rest of the log is left alone.
    head_bytes: Option<u64>,
    /// The context at the last newline, where the log goes on without one.
    at_newline: Option<Arc<Context>>,
}

impl ParsedLog {
    /// Opens a log at its start.
    ///
    /// # Errors
    /// When the file can't be opened; the message names it.
    pub fn open(file: &SourceFile) -> Result<ParsedLog> {
        let reader = LogReader::open(file, 0, 0, Content::default())?;
        Ok(ParsedLog::new(file, reader, Context::default()))
    }

    /// Opens a log at the start of `slice`, whose bytes before it have the hash `content` and end
    /// in `context`.
    ///
    /// # Errors
    /// When the file can't be opened or is shorter; the message names it.
    pub fn resume(
        slice: &Slice,
        content: Content,
        context: Context,
        scratch: Scratch,
    ) -> Result<ParsedLog> {
        let reader = LogReader::open(&slice.file, slice.from, slice.line, content)?;
        let reader = reader.reusing(scratch.buffer);
        Ok(ParsedLog {
            skimmer: scratch.skimmer,
            ..ParsedLog::new(&slice.file, reader, context)
        })
    }

    /// Opens the first `bytes` of a log, to be read in small turns. A line that they cut is read up
    /// to its last whole member.
    ///
    /// # Errors
    /// When the file can't be opened; the message names it.
    pub fn head(file: &SourceFile, bytes: u64) -> Result<ParsedLog> {
        let reader = LogReader::open(file, 0, 0, Content::default())?;
        let reader = reader.in_steps_of(HEAD_STEP).up_to(bytes);
        Ok(ParsedLog {
            head_bytes: Some(bytes),
            ..ParsedLog::new(file, reader, Context::default())
        })
    }

    fn new(file: &SourceFile, reader: LogReader, context: Context) -> ParsedLog {
        let dialect = registry::dialect(file.agent);
        ParsedLog {
            parser: ParseState::resume(dialect, context, &file.key),
            dialect,
            reader,
            skimmer: Skimmer::default(),
            head_bytes: None,
            at_newline: None,
        }
    }

    /// Hands out batch after batch until the log ends or `each` breaks; gives what it broke with.
    ///
    /// # Errors
    /// When the file can't be read on, and those of `each`. Batches handed out before are good.
    pub fn for_each_batch<B>(
        &mut self,
        mut each: impl FnMut(&ParsedLog, Batch<Entry>) -> Result<ControlFlow<B>>,
    ) -> Result<Option<B>> {
        while let Some(block) = self.reader.next_block(&mut self.skimmer)? {
            let read = self.reader.read_bytes();
            let is_cut = self.head_bytes.is_some_and(|head| head <= read);
            let mut block = self.reader.block(block, &mut self.skimmer);
            if matches!(block.shape, Shape::Unterminated(_)) {
                self.at_newline = Some(self.parser.context.clone());
                if is_cut {
                    block.bytes = close(block.bytes);
                }
            }
            let batch = parse(self.dialect, &mut self.parser, block);
            if let ControlFlow::Break(with) = each(self, batch)? {
                return Ok(Some(with));
            }
        }
        Ok(None)
    }

    /// How far it is read.
    pub fn reader(&self) -> &LogReader {
        &self.reader
    }

    /// The context at the last newline: reading may go on with it.
    pub fn context(&self) -> &Arc<Context> {
        self.at_newline.as_ref().unwrap_or(&self.parser.context)
    }

    /// The last batch was that of a line without a newline, which will be read again.
    pub fn is_unterminated(&self) -> bool {
        self.at_newline.is_some()
    }

    /// What the file's path says.
    pub fn into_name(self) -> LogName {
        self.parser.file
    }

    /// The buffers, for the next log.
    pub fn into_scratch(self) -> Scratch {
        Scratch {
            buffer: self.reader.into_buffer(),
            skimmer: self.skimmer,
        }
    }
}

impl Reduce for Skimmer {
    fn begin(&mut self) {
        Skimmer::begin(self);
    }

    fn push(&mut self, bytes: &[u8]) {
        Skimmer::push(self, bytes);
    }

    fn finish(&mut self) -> &mut Vec<u8> {
        Skimmer::finish(self)
    }
}
