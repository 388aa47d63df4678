//! PackStream: values as Bolt carries them. What is read comes from a server, so nothing in it is
//! believed before it was counted.

use crate::sinks::cypher::Value;

/// Lists in lists, as deep as anybody needs; deeper is no answer of ours.
const DEPTH_MAX: u32 = 32;

/// How a version of Bolt writes a moment: the tag of the structure. The fields are the same for UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moments {
    /// Up to 4.4: local seconds with their offset.
    Local = 0x46,
    /// From 5.0 on: seconds in UTC with the offset of who wrote them.
    Utc = 0x49,
}

/// Writes a value.
pub fn write(out: &mut Vec<u8>, value: &Value, moments: Moments) {
    match value {
        Value::Null => out.push(0xc0),
        Value::Bool(is) => out.push(0xc2 + u8::from(*is)),
        Value::Int(number) => integer(out, *number),
        Value::Text(text) => string(out, text),
        Value::Time(time) => {
            out.extend([0xb3, moments as u8]);
            integer(out, time.0.div_euclid(1_000));
            integer(out, time.0.rem_euclid(1_000) * 1_000_000);
            integer(out, 0);
        }
        Value::List(items) => {
            length(out, items.len(), 0x90, [0xd4, 0xd5, 0xd6]);
            for item in items {
                write(out, item, moments);
            }
        }
        Value::Map(pairs) => {
            length(out, pairs.len(), 0xa0, [0xd8, 0xd9, 0xda]);
            for (key, item) in pairs {
                string(out, key);
                write(out, item, moments);
            }
        }
    }
}

fn integer(out: &mut Vec<u8>, number: i64) {
    if let Ok(small) = i8::try_from(number) {
        // what the tags of other values leave free
        if small < -16 {
            out.push(0xc8);
        }
        out.extend(small.to_be_bytes());
    } else if let Ok(number) = i16::try_from(number) {
        out.push(0xc9);
        out.extend(number.to_be_bytes());
    } else if let Ok(number) = i32::try_from(number) {
        out.push(0xca);
        out.extend(number.to_be_bytes());
    } else {
        out.push(0xcb);
        out.extend(number.to_be_bytes());
    }
}

fn string(out: &mut Vec<u8>, text: &str) {
    length(out, text.len(), 0x80, [0xd0, 0xd1, 0xd2]);
    out.extend(text.as_bytes());
}

/// A length in its tag, or after one of those for 8, 16 and 32 bits.
fn length(out: &mut Vec<u8>, length: usize, tiny: u8, [one, two, four]: [u8; 3]) {
    if length < 16 {
        out.push(tiny + length as u8);
    } else if let Ok(length) = u8::try_from(length) {
        out.extend([one, length]);
    } else if let Ok(length) = u16::try_from(length) {
        out.push(two);
        out.extend(length.to_be_bytes());
    } else {
        // queries are cut long before four gigabytes
        out.push(four);
        out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    }
}

/// Reads a message: its tag and its fields. `None` where the bytes are none.
pub fn message(bytes: &[u8]) -> Option<(u8, Vec<Value>)> {
    let mut reader = Reader { rest: bytes };
    let fields = reader.byte()?.checked_sub(0xb0).filter(|n| *n < 16)?;
    let tag = reader.byte()?;
    let fields = (0..fields)
        .map(|_| reader.value(0))
        .collect::<Option<_>>()?;
    reader.rest.is_empty().then_some((tag, fields))
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    /// A big-endian number of so many bytes.
    fn number(&mut self, bytes: usize) -> Option<i64> {
        let taken = self.take(bytes)?;
        let is_negative = taken.first().is_some_and(|byte| *byte > 0x7f);
        let start = if is_negative { -1 } else { 0 };
        Some(
            taken
                .iter()
                .fold(start, |n, byte| (n << 8) | i64::from(*byte)),
        )
    }

    fn length(&mut self, bytes: usize) -> Option<usize> {
        let taken = self.take(bytes)?;
        let length = taken.iter().fold(0, |n, byte| (n << 8) | u64::from(*byte));
        usize::try_from(length).ok()
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        if depth > DEPTH_MAX {
            return None;
        }
        let tag = self.byte()?;
        let tiny = usize::from(tag & 0x0f);
        match tag {
            0xc0 => Some(Value::Null),
            0xc1 => self.take(8).map(|_| Value::Null),
            0xc2 | 0xc3 => Some(Value::Bool(tag == 0xc3)),
            0x00..=0x7f | 0xf0..=0xff => Some(Value::Int(i64::from(tag as i8))),
            0xc8..=0xcb => self.number(1 << (tag - 0xc8)).map(Value::Int),
            0xcc..=0xce => {
                let length = self.length(1 << (tag - 0xcc))?;
                self.take(length).map(|_| Value::Null)
            }
            0x80..=0x8f => self.string(tiny),
            0xd0..=0xd2 => {
                let length = self.length(1 << (tag - 0xd0))?;
                self.string(length)
            }
            0x90..=0x9f => self.list(tiny, depth),
            0xd4..=0xd6 => {
                let length = self.length(1 << (tag - 0xd4))?;
                self.list(length, depth)
            }
            0xa0..=0xaf => self.map(tiny, depth),
            0xd8..=0xda => {
                let length = self.length(1 << (tag - 0xd8))?;
                self.map(length, depth)
            }
            // a node, a moment, a point: nobody here asks for them
            0xb0..=0xbf => {
                self.byte()?;
                self.list(tiny, depth).map(|_| Value::Null)
            }
            _ => None,
        }
    }

    fn string(&mut self, length: usize) -> Option<Value> {
        let text = std::str::from_utf8(self.take(length)?).ok()?;
        Some(Value::text(text))
    }

    fn list(&mut self, length: usize, depth: u32) -> Option<Value> {
        let items = (0..length).map(|_| self.value(depth + 1));
        items.collect::<Option<_>>().map(Value::List)
    }

    fn map(&mut self, length: usize, depth: u32) -> Option<Value> {
        let pairs = (0..length).map(|_| match self.value(depth + 1)? {
            Value::Text(key) => Some((key, self.value(depth + 1)?)),
            _ => None,
        });
        pairs.collect::<Option<_>>().map(Value::Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Time;

    fn there_and_back(value: &Value) -> Option<Value> {
        let mut bytes = vec![0xb1, 0x71];
        write(&mut bytes, value, Moments::Utc);
        let (tag, fields) = message(&bytes)?;
        assert_eq!((tag, fields.len()), (0x71, 1));
        fields.into_iter().next()
    }

    #[test]
    fn values_come_back_as_they_went() {
        let numbers = [
            0,
            1,
            -1,
            -16,
            -17,
            127,
            128,
            -128,
            -129,
            32_767,
            32_768,
            -32_769,
            1 << 31,
            i64::MAX,
            i64::MIN,
        ];
        let texts = [0, 1, 15, 16, 255, 256, 65_535, 65_536].map(|n| "ü".repeat(n));
        let mut all: Vec<Value> = numbers.map(Value::Int).to_vec();
        all.extend(texts.map(Value::Text));
        all.extend([Value::Null, Value::Bool(true), Value::Bool(false)]);
        for length in [0, 15, 16, 256, 70_000] {
            all.push(Value::List(vec![Value::Int(7); length]));
            let pair = |n: usize| (n.to_string(), Value::Bool(true));
            all.push(Value::Map((0..length).map(pair).collect()));
        }
        for value in all {
            assert_eq!(there_and_back(&value), Some(value));
        }
    }

    #[test]
    fn a_moment_is_written_as_the_version_wants_it() {
        let mut out = Vec::new();
        write(&mut out, &Value::Time(Time(-1)), Moments::Utc);
        // one millisecond before 1970: second -1 and 999 of its milliseconds
        let nanos = 999_000_000_i32.to_be_bytes();
        let wants = [&[0xb3, b'I', 0xff, 0xca], &nanos[..], &[0]].concat();
        assert_eq!(out, wants);
        write(&mut out, &Value::Time(Time(0)), Moments::Local);
        assert_eq!(out[wants.len()..], [0xb3, b'F', 0, 0, 0]);
    }

    #[test]
    fn what_is_no_message_is_none_and_costs_nothing() {
        let four = u32::MAX.to_be_bytes();
        let claims = |tag: u8| [&[0xb1, 0x71, tag], &four[..]].concat();
        let deep = [vec![0xb1, 0x71], vec![0x91; 10_000]].concat();
        for bytes in [
            vec![],
            vec![0xb1],
            vec![0xb1, 0x71],
            vec![0xb0, 0x71, 0x00],
            vec![0x00, 0x71],
            vec![0xb1, 0x71, 0xc7],
            vec![0xb1, 0x71, 0x82, 0xff, 0xff],
            claims(0xd2),
            claims(0xd6),
            claims(0xda),
            claims(0xce),
            deep,
        ] {
            assert_eq!(message(&bytes), None, "{:?}", &bytes[..bytes.len().min(8)]);
        }
        // floats, bytes and structures are read over
        let odd = [
            &[0xb1, 0x71, 0x93, 0xc1],
            &[0; 8][..],
            &[0xcc, 1, 9, 0xb1, 0x4e, 1],
        ]
        .concat();
        let nulls = Value::List(vec![Value::Null; 3]);
        assert_eq!(message(&odd), Some((0x71, vec![nulls])));
    }
}
