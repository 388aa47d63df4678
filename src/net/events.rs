//! A stream of server-sent events as it is read: the data of one event after the other. Knows where
//! an event begins and ends.

use std::io::{BufRead, BufReader, Read, Result};

/// Bytes of a field's name that are looked at: `data` has four.
const NAME_BYTES_MAX: usize = 16;

/// A reader of events: what it gives, to its end, is the data of the one that it stands at.
pub(super) struct Events<R> {
    inner: BufReader<R>,
    at: At,
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    /// Between lines.
    Line,
    /// In a line of data.
    Data,
    /// Behind an event.
    End,
}

impl<R: Read> Events<R> {
    /// A stream, before its first event.
    pub(super) fn new(inner: R) -> Events<R> {
        Events {
            inner: BufReader::new(inner),
            at: At::End,
        }
    }

    /// Goes to the next event that has data; `false`: there is none.
    pub(super) fn next(&mut self) -> Result<bool> {
        while !self.inner.fill_buf()?.is_empty() {
            self.at = At::Line;
            while self.at == At::Line {
                self.enter_line()?;
            }
            if self.at == At::Data {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a line to where its data begins; one without data to its end.
    fn enter_line(&mut self) -> Result<()> {
        let mut name = Vec::new();
        loop {
            match self.byte()? {
                None => return self.end(),
                Some(b'\n') if name.is_empty() => return self.end(),
                Some(b'\n') => return Ok(()),
                Some(b':') => break,
                Some(byte) if byte != b'\r' && name.len() < NAME_BYTES_MAX => name.push(byte),
                Some(_) => {}
            }
        }
        if name != b"data" {
            return self.inner.skip_until(b'\n').map(|_| ());
        }
        loop {
            match self.inner.fill_buf()?.first() {
                None => return self.end(),
                Some(b' ' | b'\r') => self.inner.consume(1),
                Some(b'\n') => {
                    self.inner.consume(1);
                    return Ok(());
                }
                Some(_) => {
                    self.at = At::Data;
                    return Ok(());
                }
            }
        }
    }

    fn end(&mut self) -> Result<()> {
        self.at = At::End;
        Ok(())
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        let byte = self.inner.fill_buf()?.first().copied();
        self.inner.consume(usize::from(byte.is_some()));
        Ok(byte)
    }
}

impl<R: Read> Read for Events<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.at != At::End && !buffer.is_empty() {
            if self.at == At::Line {
                self.enter_line()?;
                continue;
            }
            let read = self.inner.fill_buf()?;
            let line = read.iter().position(|byte| *byte == b'\n');
            let many = line.unwrap_or(read.len()).min(buffer.len());
            buffer[..many].copy_from_slice(&read[..many]);
            if many > 0 {
                self.inner.consume(many);
                return Ok(many);
            }
            // the line's end, or the stream's
            self.at = if line.is_some() { At::Line } else { At::End };
            self.inner.consume(usize::from(line.is_some()));
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands in each event, read in pieces of this size.
    fn data(stream: &str, piece: usize) -> Vec<String> {
        let mut events = Events::new(stream.as_bytes());
        let mut all = Vec::new();
        while events.next().unwrap() {
            let mut text = Vec::new();
            let mut buffer = vec![0; piece];
            loop {
                match events.read(&mut buffer).unwrap() {
                    0 => break,
                    many => text.extend_from_slice(&buffer[..many]),
                }
            }
            let text = String::from_utf8(text).unwrap();
            all.push(text.split_whitespace().collect());
        }
        all
    }

    #[test]
    fn an_event_is_its_lines_of_data_and_nothing_else() {
        let stream = "event: message\r\nid: 7\r\ndata: {\"a\":\r\ndata:1}\r\n\r\n\
                      : still here\n\nid: 8\ndata: \n\n\ndata: [2]\n\nretry\ndata\ndata:3";
        for piece in [1, 2, 3, 100] {
            assert_eq!(data(stream, piece), ["{\"a\":1}", "[2]", "3"]);
        }
        assert_eq!(data("", 9), [""; 0]);
    }
}
