//! The limit that runs are compared with: how fast one thread can turn the same lines into
//! simd-json tapes and do nothing with them.

use crate::homes::logs_below;
use simd_json::{Buffers, Tape};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes per second of one pass over every line of every log below `home`. Buffers and tape are
/// reused, lines are parsed in place, and reading the files is not on the clock: nothing that a real
/// run could leave out is counted.
pub fn measure(home: &Path) -> io::Result<f64> {
    let mut pass = Pass::default();
    for log in logs_below(home)? {
        pass.file(&mut std::fs::read(log)?);
    }
    assert!(pass.lines > 0, "no line is JSON");
    Ok(pass.bytes as f64 / pass.time.as_secs_f64())
}

struct Pass {
    buffers: Buffers,
    tape: Tape<'static>,
    time: Duration,
    lines: u64,
    bytes: u64,
}

impl Default for Pass {
    fn default() -> Self {
        Pass {
            buffers: Buffers::default(),
            tape: Tape(Vec::new()),
            time: Duration::ZERO,
            lines: 0,
            bytes: 0,
        }
    }
}

impl Pass {
    fn file(&mut self, content: &mut [u8]) {
        let start = Instant::now();
        self.bytes += content.len() as u64;
        let mut rest = content;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let (line, after) = rest.split_at_mut(end);
            if !line.is_empty() {
                let spare = std::mem::replace(&mut self.tape, Tape(Vec::new()));
                let mut tape = spare.reset();
                let read = simd_json::fill_tape(line, &mut self.buffers, &mut tape);
                self.lines += u64::from(read.is_ok());
                self.tape = tape.reset();
            }
            rest = after.get_mut(1..).unwrap_or_default();
        }
        self.time += start.elapsed();
    }
}
