//! Reads a log in blocks of whole lines, plain or compressed, with bounded memory.
//!
//! Knows bytes and newlines; refuses to know JSON: a line too long to hold is streamed through the
//! caller's [`Reduce`]. Counts every content byte it reads, because efficiency is tested by counting.

use crate::host::decompress::{BrokenOff, Decompressed};
use crate::model::checkpoint::Fingerprints;
use crate::model::source::SourceFile;
use anyhow::{Context, Result};
use crc32fast::Hasher;
use memchr::{memchr, memchr_iter, memrchr};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that are handed on at once. Larger: more memory per worker, and the passes over a block
/// (newlines, hash, structure) no longer find it in the core's own cache; smaller: more turns.
pub const BLOCK_BYTES: usize = 256 << 10;
/// Lines that are handed on at once. Real blocks have some hundreds; larger: a megabyte of
/// newlines becomes a million entries (a gigabyte); smaller: more turns.
pub const BLOCK_LINES_MAX: usize = 8_192;
/// A line longer than this is reduced while it streams by (architecture § 6, "Long lines").
pub const LINE_MAX: usize = 8 << 20;
/// Bytes that a fingerprint covers (formats § 7).
pub const PRINT_BYTES: usize = 4096;

/// Makes a copy of a long line that can be held in memory.
pub trait Reduce {
    /// A new line begins.
    fn begin(&mut self);
    /// Its next bytes; the newline is not among them.
    fn push(&mut self, bytes: &[u8]);
    /// It is over; gives the copy.
    fn finish(&mut self) -> &mut Vec<u8>;
}

/// Some lines of a log.
#[derive(Debug)]
pub struct LogBlock<'a> {
    /// Of the first line, in decompressed bytes.
    pub offset: u64,
    /// Lines before the first one.
    pub line: u64,
    /// Whole lines with their newlines; for [`Shape::Long`] the reduced copy of one line, and for
    /// [`Shape::Unterminated`] the last bytes of the file, both without a newline.
    pub bytes: &'a mut [u8],
    /// What the bytes are.
    pub shape: Shape,
}

/// What a block's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Whole lines.
    Lines,
    /// One line of this many bytes, reduced.
    Long(u64),
    /// The file ends without a newline; so many bytes (more than there are when reduced).
    Unterminated(u64),
}

/// An open log, positioned.
pub struct LogReader {
    source: Box<dyn Read + Send>,
    broken_off: Arc<OnceLock<BrokenOff>>,
    buffer: Vec<u8>,
    /// Of `buffer`, handed out already.
    used: usize,
    /// Of `buffer`, filled.
    filled: usize,
    offset: u64,
    line: u64,
    ended: bool,
    read_bytes: u64,
    /// Bytes that one turn reads.
    step: usize,
    content: Hasher,
    /// The first byte that `content` doesn't cover yet.
    hashed_to: u64,
}

/// A content hash so far: CRC-32 of all bytes before `to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The hash.
    pub crc: u32,
    /// How far it goes.
    pub to: u64,
}

impl LogReader {
    /// Opens `file` at `from` (decompressed bytes; a compressed file is decoded up to there) with
    /// `line` lines before it. Bytes beyond the size that `stat` gave belong to the next run.
    /// `content` is the hash so far; it goes on from there.
    ///
    /// # Errors
    /// When the file can't be opened or `from` can't be reached; the message names the file.
    pub fn open(file: &SourceFile, from: u64, line: u64, content: Content) -> Result<LogReader> {
        let name = || format!("{}", file.path().display());
        let broken_off = Arc::default();
        let source: Box<dyn Read + Send> = match file.is_packed() {
            true => {
                let mut unpacked = unpacked(file, &broken_off).with_context(name)?;
                let skipped = std::io::copy(&mut (&mut unpacked).take(from), &mut std::io::sink());
                skipped.with_context(name)?;
                unpacked
            }
            false => {
                let mut raw = File::open(file.path()).with_context(name)?;
                raw.seek(SeekFrom::Start(from)).with_context(name)?;
                Box::new(raw.take(file.stat.size.saturating_sub(from)))
            }
        };
        Ok(LogReader {
            source,
            broken_off,
            buffer: Vec::new(),
            used: 0,
            filled: 0,
            offset: from,
            line,
            ended: false,
            read_bytes: 0,
            step: BLOCK_BYTES,
            content: Hasher::new_with_initial(content.crc),
            hashed_to: content.to,
        })
    }

    /// The same reader with a buffer that another one has left: fresh pages cost more than reading.
    #[must_use]
    pub fn reusing(mut self, buffer: Vec<u8>) -> LogReader {
        self.buffer = buffer;
        self
    }

    /// The buffer, for the next reader.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// The same reader with smaller turns, for a look at the head of a file.
    #[must_use]
    pub fn in_steps_of(mut self, bytes: usize) -> LogReader {
        self.step = bytes;
        self
    }

    /// The same reader that takes `bytes` for the file's length.
    #[must_use]
    pub fn up_to(mut self, bytes: u64) -> LogReader {
        self.source = Box::new(self.source.take(bytes));
        self
    }

    /// Why a compressed file ended before its time.
    pub fn broken_off(&self) -> Option<BrokenOff> {
        self.broken_off.get().copied()
    }

    /// Content bytes read so far (decompressed).
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// (offset, lines) after the last block that was handed out.
    pub fn position(&self) -> (u64, u64) {
        (self.offset, self.line)
    }

    /// The hash of all whole lines that were handed out, and of what it covered before.
    pub fn content(&self) -> Content {
        Content {
            crc: self.content.clone().finalize(),
            to: self.hashed_to,
        }
    }

    /// Hashes the first `end` bytes of the buffer, which stand at `offset`, where they are new.
    fn hash(&mut self, offset: u64, end: usize) {
        let known = self.hashed_to.saturating_sub(offset).min(end as u64) as usize;
        self.content.update(&self.buffer[known..end]);
        self.hashed_to = self.hashed_to.max(offset + end as u64);
    }

    /// The next lines, or `None` at the end of the file.
    ///
    /// # Errors
    /// When reading fails; what was handed out before stays good.
    pub fn next_block(&mut self, long: &mut dyn Reduce) -> Result<Option<BlockRef>> {
        self.buffer.copy_within(self.used..self.filled, 0);
        self.filled -= self.used;
        self.used = 0;
        let mut searched = 0;
        loop {
            if let Some(newline) = memrchr(b'\n', &self.buffer[searched..self.filled]) {
                return Ok(Some(self.lines(searched + newline + 1)));
            }
            searched = self.filled;
            if self.filled > LINE_MAX {
                return self.long_line(long).map(Some);
            }
            if self.ended {
                return Ok((self.filled > 0).then(|| self.unterminated()));
            }
            self.fill()?;
        }
    }

    /// The lines up to `end`, or as many of them as may be handed on at once.
    fn lines(&mut self, mut end: usize) -> BlockRef {
        let mut lines = memchr_iter(b'\n', &self.buffer[..end]).count();
        if lines > BLOCK_LINES_MAX {
            lines = BLOCK_LINES_MAX;
            let last = memchr_iter(b'\n', &self.buffer[..end]).nth(lines - 1);
            end = last.map_or(end, |newline| newline + 1);
        }
        let block = BlockRef {
            offset: self.offset,
            line: self.line,
            end,
            shape: Shape::Lines,
        };
        self.hash(self.offset, end);
        self.used = end;
        self.offset += end as u64;
        self.line += lines as u64;
        block
    }

    fn unterminated(&mut self) -> BlockRef {
        let end = self.filled;
        self.used = end;
        let shape = Shape::Unterminated(end as u64);
        BlockRef {
            offset: self.offset,
            line: self.line,
            end,
            shape,
        }
    }

    /// Streams one line of unknown length through `long`; a part of it is in the buffer.
    fn long_line(&mut self, long: &mut dyn Reduce) -> Result<BlockRef> {
        long.begin();
        let mut length = 0u64;
        let (offset, line) = (self.offset, self.line);
        let before = (self.content.clone(), self.hashed_to);
        loop {
            let newline = memchr(b'\n', &self.buffer[..self.filled]);
            let end = newline.unwrap_or(self.filled);
            long.push(&self.buffer[..end]);
            self.hash(offset + length, end + usize::from(newline.is_some()));
            length += end as u64;
            if newline.is_some() {
                self.used = end + 1;
                self.offset += length + 1;
                self.line += 1;
                return Ok(BlockRef {
                    offset,
                    line,
                    end: 0,
                    shape: Shape::Long(length),
                });
            }
            self.filled = 0;
            if self.ended {
                self.used = 0;
                self.content = before.0;
                self.hashed_to = before.1;
                return Ok(BlockRef {
                    offset,
                    line,
                    end: 0,
                    shape: Shape::Unterminated(length),
                });
            }
            self.fill()?;
        }
    }

    /// Reads up to one block more.
    fn fill(&mut self) -> Result<()> {
        let wanted = self.filled + self.step;
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        while self.filled < wanted {
            match self.source.read(&mut self.buffer[self.filled..wanted]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => {
                    self.filled += read;
                    self.read_bytes += read as u64;
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e).context("reading the log"),
            }
        }
        Ok(())
    }

    /// The bytes of a block that was just handed out.
    pub fn block<'a>(&'a mut self, block: BlockRef, long: &'a mut dyn Reduce) -> LogBlock<'a> {
        let bytes = match block.end {
            0 => long.finish().as_mut_slice(),
            end => &mut self.buffer[..end],
        };
        LogBlock {
            offset: block.offset,
            line: block.line,
            bytes,
            shape: block.shape,
        }
    }
}

/// The content of a log whose bytes on disk are other ones.
fn unpacked(
    file: &SourceFile,
    broken_off: &Arc<OnceLock<BrokenOff>>,
) -> std::io::Result<Box<dyn Read + Send>> {
    Ok(match file.inside() {
        Some(tables) => tables.open()?,
        None => Box::new(Decompressed::new(File::open(file.path())?, broken_off)?),
    })
}

/// Which bytes [`LogReader::block`] will give.
#[derive(Clone, Copy, Debug)]
pub struct BlockRef {
    offset: u64,
    line: u64,
    /// In the reader's buffer; 0: in the reduced copy.
    end: usize,
    shape: Shape,
}

/// Fingerprints of a file whose content was read up to `read_to`, and how many bytes that took.
///
/// # Errors
/// When the file can't be read that far; the message names it.
pub fn fingerprints(file: &SourceFile, head: u64, read_to: u64) -> Result<(Fingerprints, u64)> {
    let name = || format!("{}", file.path().display());
    let head_bytes = head.min(PRINT_BYTES as u64);
    let tail_from = read_to.saturating_sub(PRINT_BYTES as u64);
    let (head, tail) = if file.is_packed() {
        let mut decoder = unpacked(file, &Arc::default()).with_context(name)?;
        let head = take(&mut decoder, head_bytes).with_context(name)?;
        let mut seen = head.clone();
        seen.extend(take(
            &mut decoder,
            (PRINT_BYTES as u64).min(read_to) - head_bytes.min(read_to),
        )?);
        let skip = tail_from.saturating_sub(seen.len() as u64);
        std::io::copy(&mut (&mut decoder).take(skip), &mut std::io::sink()).with_context(name)?;
        let rest = read_to.saturating_sub(seen.len() as u64 + skip);
        seen.extend(take(&mut decoder, rest).with_context(name)?);
        let tail = seen.split_off(seen.len() - seen.len().min((read_to - tail_from) as usize));
        (head, tail)
    } else {
        let mut raw = File::open(file.path()).with_context(name)?;
        let head = take(&mut raw, head_bytes).with_context(name)?;
        raw.seek(SeekFrom::Start(tail_from)).with_context(name)?;
        (
            head,
            take(&mut raw, read_to - tail_from).with_context(name)?,
        )
    };
    let bytes = (head.len() + tail.len()) as u64;
    let whole = head.len() as u64 == head_bytes && tail.len() as u64 == read_to - tail_from;
    let found = Fingerprints {
        head: if whole { xxh3_64(&head) } else { 0 },
        head_bytes,
        tail: if whole { xxh3_64(&tail) } else { 0 },
        content: 0,
        content_to: 0,
    };
    Ok((found, bytes))
}

/// The content hash of the first `to` bytes of a file, and how many bytes that took.
///
/// # Errors
/// When the file can't be read; the message names it.
pub fn content(file: &SourceFile, to: u64) -> Result<(Content, u64)> {
    let name = || format!("{}", file.path().display());
    let mut source: Box<dyn Read> = match file.is_packed() {
        true => {
            let unpacked = unpacked(file, &Arc::default()).with_context(name)?;
            Box::new(unpacked.take(to))
        }
        false => Box::new(File::open(file.path()).with_context(name)?.take(to)),
    };
    let (mut hash, mut buffer, mut seen) = (Hasher::new(), vec![0; 1 << 16], 0u64);
    loop {
        match source.read(&mut buffer).with_context(name)? {
            0 => break,
            read => {
                hash.update(&buffer[..read]);
                seen += read as u64;
            }
        }
    }
    Ok((
        Content {
            crc: hash.finalize(),
            to: seen,
        },
        seen,
    ))
}

fn take(source: &mut impl Read, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::new();
    source.take(bytes).read_to_end(&mut all)?;
    Ok(all)
}

/// The bytes `[from, to)` of a file, or as many of them as it has.
///
/// # Errors
/// When it can't be read.
pub fn part(path: &std::path::Path, from: u64, to: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(to.saturating_sub(from)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::files::source_file;
    use crate::model::source::Agent;
    use std::io::Write;

    /// Keeps everything; stands in for the skimmer.
    #[derive(Default)]
    struct Whole(Vec<u8>);

    impl Reduce for Whole {
        fn begin(&mut self) {
            self.0.clear();
        }
        fn push(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
        fn finish(&mut self) -> &mut Vec<u8> {
            &mut self.0
        }
    }

    fn read(file: &SourceFile, from: u64) -> (Vec<u8>, Vec<Shape>) {
        let (mut all, mut shapes, mut long) = (Vec::new(), Vec::new(), Whole::default());
        let mut reader = LogReader::open(file, from, 0, Content::default()).unwrap();
        while let Some(block) = reader.next_block(&mut long).unwrap() {
            let block = reader.block(block, &mut long);
            assert_eq!(block.offset, from + all.len() as u64);
            all.extend_from_slice(block.bytes);
            if matches!(block.shape, Shape::Long(_)) {
                all.push(b'\n');
            }
            shapes.push(block.shape);
        }
        (all, shapes)
    }

    #[test]
    fn every_byte_comes_once_whatever_the_lengths_of_lines() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = b"short\n\n".to_vec();
        text.extend(vec![b'x'; LINE_MAX + 3 * BLOCK_BYTES]);
        text.extend(b"\nafter\n");
        text.extend(vec![b'y'; BLOCK_BYTES + 5]);
        text.extend(b"\nno newline");
        let plain = dir.path().join("a.jsonl");
        std::fs::write(&plain, &text).unwrap();
        let zst = dir.path().join("b.jsonl.zst");
        let mut encoder = zstd::Encoder::new(File::create(&zst).unwrap(), 1).unwrap();
        encoder.write_all(&text).unwrap();
        encoder.finish().unwrap();
        for path in [&plain, &zst] {
            let file = source_file(path, Agent::new("codex")).unwrap();
            let (all, shapes) = read(&file, 0);
            assert!(all == text, "{}", path.display());
            assert_eq!(shapes.last(), Some(&Shape::Unterminated(10)));
            assert!(shapes.contains(&Shape::Long((LINE_MAX + 3 * BLOCK_BYTES) as u64)));
            assert!(read(&file, 6).0 == text[6..]);
            let end = text.len() as u64 - 10;
            let whole = fingerprints(&file, 4096, end).unwrap().0;
            assert_eq!(whole.head, xxh3_64(&text[..4096]));
            assert_eq!(
                whole.tail,
                xxh3_64(&text[end as usize - 4096..end as usize])
            );
        }
    }
}
