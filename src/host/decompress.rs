//! The content of a compressed log, as far as it is that of a log: knows what real ones come to, in bytes, in
//! lines and in memory, and ends where a file comes to more. Refuses to know what the lines are.

use memchr::memchr_iter;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::sync::{Arc, OnceLock};

/// Bytes that a compressed log may come to for each byte on disk. Real logs come to 20, histories that
/// are copied over and over to 100; larger: a file of some kilobytes keeps a run busy for an hour.
const UNPACKED_RATIO_MAX: u64 = 250;
/// Bytes that any compressed log may come to, however small it is.
const UNPACKED_MIN: u64 = 64 << 20;
/// Bytes that no compressed log may come to. The largest that people tell of have 2 GB.
const UNPACKED_MAX: u64 = 16 << 30;
/// Lines that any compressed log may come to, however small it is; beyond these, one for each byte on disk.
/// A real line has an id or a time of its own, which no compression brings below some bytes; more: the lines
/// of a bomb, which are short, cost a minute before their bytes stop it.
const UNPACKED_LINES_MIN: u64 = 1 << 16;
/// Memory that decompressing one log may take, as a power of two: 32 MiB. `zstd -19` asks for 8 MiB, Codex for
/// 2 or less, `--long` for 128; larger: one file takes more than all else of a run.
const WINDOW_LOG_MAX: u32 = 25;

/// Why a compressed log ended before its time; what could be decompressed was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenOff {
    /// The decoder can't go on.
    Damaged,
    /// It comes to more than a log of its size on disk ever does.
    TooMuch,
    /// Decompressing it takes more memory than a run has for it.
    WideWindow,
}

impl BrokenOff {
    /// The reason in a ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            BrokenOff::Damaged => "damaged compression",
            BrokenOff::TooMuch => "decompression bomb",
            BrokenOff::WideWindow => {
                "compressed with a window over 32 MiB (zstd --long): decompress it"
            }
        }
    }
}

/// The content of a compressed file, as far as it can be decompressed: damage is its end, and so is
/// more than a log comes to.
pub(super) struct Decompressed {
    decoder: zstd::Decoder<'static, BufReader<File>>,
    /// Bytes that may still come.
    left: u64,
    /// Lines that may still come.
    lines_left: u64,
    broken_off: Arc<OnceLock<BrokenOff>>,
}

impl Decompressed {
    pub(super) fn new(raw: File, broken_off: &Arc<OnceLock<BrokenOff>>) -> std::io::Result<Self> {
        let packed = raw.metadata()?.len();
        let mut decoder = zstd::Decoder::new(raw)?;
        decoder.window_log_max(WINDOW_LOG_MAX)?;
        Ok(Decompressed {
            decoder,
            left: unpacked_max(packed),
            lines_left: packed.max(UNPACKED_LINES_MIN),
            broken_off: broken_off.clone(),
        })
    }

    /// Nothing more comes of it.
    fn break_off(&mut self, why: BrokenOff) -> usize {
        self.left = 0;
        self.broken_off.get_or_init(|| why);
        0
    }
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.broken_off.get().is_some() {
            return Ok(0);
        }
        let most = usize::try_from(self.left.max(1)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(most);
        match self.decoder.read(&mut buffer[..wanted]) {
            // the system's own errors have a number, the decoder's don't
            Err(e) if e.raw_os_error().is_none() && e.kind() != ErrorKind::Interrupted => Ok(self
                .break_off(match asks_for_memory(&e) {
                    true => BrokenOff::WideWindow,
                    false => BrokenOff::Damaged,
                })),
            Ok(read) if read as u64 > self.left => Ok(self.break_off(BrokenOff::TooMuch)),
            Ok(read) => {
                let lines = memchr_iter(b'\n', &buffer[..read]).count() as u64;
                let Some(lines_left) = self.lines_left.checked_sub(lines) else {
                    return Ok(self.break_off(BrokenOff::TooMuch));
                };
                self.lines_left = lines_left;
                self.left -= read as u64;
                Ok(read)
            }
            failed => failed,
        }
    }
}

/// The decoder has one sentence for windows that are wider than it may have.
fn asks_for_memory(error: &std::io::Error) -> bool {
    error.to_string().contains("too much memory")
}

/// Bytes that a compressed file of this size may come to.
fn unpacked_max(packed: u64) -> u64 {
    packed
        .saturating_mul(UNPACKED_RATIO_MAX)
        .clamp(UNPACKED_MIN, UNPACKED_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// What of `content` comes out of a file that was compressed like this, and why no more.
    fn out(content: &[u8], window_log: u32) -> (Vec<u8>, Option<BrokenOff>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.zst");
        let mut encoder = zstd::Encoder::new(File::create(&path).unwrap(), 3).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap();
        let why = Arc::default();
        let mut decompressed = Decompressed::new(File::open(&path).unwrap(), &why).unwrap();
        let mut all = Vec::new();
        decompressed.read_to_end(&mut all).unwrap();
        (all, why.get().copied())
    }

    #[test]
    fn a_window_is_bounded_and_so_are_lines_for_what_is_on_disk() {
        let line = |n: usize| format!("{{\"id\":{},\"text\":\"same\"}}\n", n * 7919);
        let log: String = (0..200_000).map(line).collect();
        assert!(out(log.as_bytes(), WINDOW_LOG_MAX) == (log.clone().into_bytes(), None));
        let wide = out(log.as_bytes(), WINDOW_LOG_MAX + 1);
        assert_eq!(wide, (Vec::new(), Some(BrokenOff::WideWindow)));
        let (some, why) = out(&b"{}\n".repeat(1_000_000), 20);
        assert_eq!(why, Some(BrokenOff::TooMuch));
        assert!(some.len() <= 3 << 17, "{} bytes", some.len());
        let few = b"{}\n".repeat(60_000);
        assert!(out(&few, 20) == (few, None));
    }
}
