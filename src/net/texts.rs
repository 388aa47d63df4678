//! JSON as it is read, with the rest of a text left out that is longer than a machine likes to
//! hold. Knows where a text begins and ends.

use std::io::{Read, Result};

/// Bytes of a text as it is written. An episode has a thousandth of that.
const TEXT_BYTES_MAX: usize = 16 << 20;
/// The byte after a backslash.
const ESCAPED: u8 = 5;

/// A reader of JSON whose texts are cut.
pub(super) struct ShortTexts<R> {
    inner: R,
    /// Bytes of the text that is read; `None`: between texts.
    text: Option<usize>,
    /// Bytes that still belong to `\n` or `\u001f`, or [`ESCAPED`].
    escape: u8,
    is_cut: bool,
}

impl<R> ShortTexts<R> {
    pub(super) fn new(inner: R) -> ShortTexts<R> {
        ShortTexts {
            inner,
            text: None,
            escape: 0,
            is_cut: false,
        }
    }

    pub(super) fn inner(&self) -> &R {
        &self.inner
    }

    /// Whether a byte is given on.
    fn keeps(&mut self, byte: u8) -> bool {
        let Some(bytes) = self.text else {
            self.text = (byte == b'"').then_some(0);
            return true;
        };
        let is_whole = self.escape == 0;
        self.escape = match (self.escape, byte) {
            (0, b'\\') => ESCAPED,
            (ESCAPED, b'u') => ESCAPED - 1,
            (0 | ESCAPED, _) => 0,
            (left, _) => left - 1,
        };
        if is_whole && byte == b'"' {
            (self.text, self.is_cut) = (None, false);
            return true;
        }
        self.text = Some(bytes + 1);
        self.is_cut |= is_whole && bytes >= TEXT_BYTES_MAX;
        !self.is_cut
    }
}

impl<R: Read> Read for ShortTexts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            let many = self.inner.read(buffer)?;
            let mut kept = 0;
            for at in 0..many {
                if self.keeps(buffer[at]) {
                    buffer[kept] = buffer[at];
                    kept += 1;
                }
            }
            if kept > 0 || many == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that are left out.
    fn left_out(json: &str) -> usize {
        let mut read = Vec::new();
        ShortTexts::new(json.as_bytes())
            .read_to_end(&mut read)
            .unwrap();
        let value = serde_json::from_slice::<serde::de::IgnoredAny>(&read);
        assert!(value.is_ok(), "{value:?}");
        json.len() - read.len()
    }

    #[test]
    fn a_text_may_be_long_and_all_of_them_longer() {
        let long = "x".repeat(TEXT_BYTES_MAX);
        for (json, out) in [
            (format!("[\"{long}\", \"{long}\"]"), 0),
            (format!("[\"\\\"{}\"]", &long[2..]), 0),
            (format!("[\"\\\\\", \"{long}\"]"), 0),
            (format!("[{}]", "1,".repeat(TEXT_BYTES_MAX) + "1"), 0),
            (format!("[\"{long}xyz\", \"{long}\\\"\"]"), 5),
            (format!("[\"\\\"{long}\", 1]"), 2),
            (format!("[\"{}\\u001fxyz\"]", &long[1..]), 3),
        ] {
            assert_eq!(left_out(&json), out);
        }
    }
}
