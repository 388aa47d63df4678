//! JSON as it is read, as long as none of its texts is longer than a machine likes to hold. Knows where
//! a text begins and ends; refuses to know what is said.

use std::io::{Error, Read, Result};

/// Bytes of a text as it is written. An episode has a thousandth of that.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// A reader of JSON that ends with an error in a text that is too long.
pub(super) struct ShortTexts<R> {
    inner: R,
    /// Bytes of the text that is read; `None`: between texts.
    text: Option<usize>,
    /// The byte before was a backslash that counts.
    is_escaped: bool,
}

impl<R> ShortTexts<R> {
    pub(super) fn new(inner: R) -> ShortTexts<R> {
        ShortTexts {
            inner,
            text: None,
            is_escaped: false,
        }
    }

    /// A text was too long.
    pub(super) fn is_over(&self) -> bool {
        self.text.is_some_and(|bytes| bytes > TEXT_BYTES_MAX)
    }

    pub(super) fn inner(&self) -> &R {
        &self.inner
    }

    fn pass(&mut self, byte: u8) {
        self.text = match self.text {
            None => (byte == b'"').then_some(0),
            Some(_) if byte == b'"' && !self.is_escaped => None,
            Some(bytes) => Some(bytes + 1),
        };
        self.is_escaped = self.text.is_some() && byte == b'\\' && !self.is_escaped;
    }
}

impl<R: Read> Read for ShortTexts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let many = self.inner.read(buffer)?;
        for byte in &buffer[..many] {
            self.pass(*byte);
            if self.is_over() {
                return Err(Error::other("a text is too long"));
            }
        }
        Ok(many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_read(json: &str) -> Option<usize> {
        let mut read = Vec::new();
        let mut texts = ShortTexts::new(json.as_bytes());
        texts.read_to_end(&mut read).ok()
    }

    #[test]
    fn a_text_may_be_long_and_all_of_them_longer() {
        let long = "x".repeat(TEXT_BYTES_MAX);
        for json in [
            format!("[\"{long}\", \"{long}\"]"),
            format!("[\"\\\"{}\"]", &long[2..]),
            format!("[\"\\\\\", \"{long}\"]"),
            format!("[\"x\"{long}{long}]"),
        ] {
            assert_eq!(bytes_read(&json), Some(json.len()));
        }
        for json in [
            format!("[\"{long}x\"]"),
            format!("[\"\\\"{long}\"]"),
            format!("[\"\\\\\\\"{long}\"]"),
        ] {
            assert_eq!(bytes_read(&json), None);
        }
    }
}
