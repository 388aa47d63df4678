//! How long texts lie in the file: as TEXT, or as one zstd frame where that is shorter.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};

/// Shorter texts don't repeat themselves enough to win.
const PACK_BYTES_MIN: usize = 128;

/// Read and written with every commit: packing these would cost a first run 3 % of its time.
const PACK_JSON_BYTES_MIN: usize = 2 << 10;

/// No column holds more; a damaged frame may say anything, and memory is taken for what it says.
const UNPACKED_BYTES_MAX: usize = 256 << 20;

/// Level 3 is 2 % smaller on our texts and takes 1.4 times as long; below 1 they are a third larger.
const LEVEL: i32 = 1;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(LEVEL).ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// A text as it goes into a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packed {
    /// As it is.
    Text(String),
    /// One zstd frame.
    Frame(Vec<u8>),
}

/// Packs a text. Pure; about 200 MB/s.
pub fn pack(text: String) -> Packed {
    if text.len() < PACK_BYTES_MIN {
        return Packed::Text(text);
    }
    let frame =
        COMPRESSOR.with_borrow_mut(|c| c.as_mut().and_then(|c| c.compress(text.as_bytes()).ok()));
    match frame {
        Some(frame) if frame.len() < text.len() => Packed::Frame(frame),
        _ => Packed::Text(text),
    }
}

/// Packs a value as JSON; small ones, which every commit writes, stay as they are.
pub fn pack_json<T: Serialize>(value: &T) -> Packed {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    if text.len() < PACK_JSON_BYTES_MIN {
        return Packed::Text(text);
    }
    pack(text)
}

impl Packed {
    /// The column as it lies there.
    pub fn of(column: ValueRef<'_>) -> FromSqlResult<Packed> {
        match column {
            ValueRef::Text(_) => column.as_str().map(|text| Packed::Text(text.to_string())),
            ValueRef::Blob(frame) => Ok(Packed::Frame(frame.to_vec())),
            _ => Err(FromSqlError::InvalidType),
        }
    }

    /// The JSON value in it.
    pub fn json<T: DeserializeOwned>(&self) -> FromSqlResult<T> {
        let column = match self {
            Packed::Text(text) => ValueRef::Text(text.as_bytes()),
            Packed::Frame(frame) => ValueRef::Blob(frame),
        };
        Json::column_result(column).map(|Json(value)| value)
    }
}

impl ToSql for Packed {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Packed::Text(text) => ValueRef::Text(text.as_bytes()),
            Packed::Frame(frame) => ValueRef::Blob(frame),
        }))
    }
}

/// A text that comes out of a packed column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked(pub String);

impl FromSql for Unpacked {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Unpacked> {
        match value {
            ValueRef::Text(_) => value.as_str().map(|text| Unpacked(text.to_string())),
            ValueRef::Blob(frame) => unpack(frame)
                .map(Unpacked)
                .map_err(|error| FromSqlError::Other(Box::new(error))),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A JSON value that comes out of a packed column.
#[derive(Clone, Debug, PartialEq)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Json<T>> {
        let Unpacked(text) = Unpacked::column_result(value)?;
        serde_json::from_str(&text)
            .map(Json)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

fn unpack(frame: &[u8]) -> std::io::Result<String> {
    let bytes = Decompressor::upper_bound(frame).unwrap_or(0);
    if bytes > UNPACKED_BYTES_MAX {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let text = DECOMPRESSOR.with_borrow_mut(|d| match d {
        Some(decompressor) => decompressor.decompress(frame, bytes),
        None => Err(std::io::ErrorKind::OutOfMemory.into()),
    })?;
    String::from_utf8(text).map_err(std::io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        for text in [String::new(), "short".into(), "long ".repeat(200)] {
            let packed = pack(text.clone());
            let Ok(ToSqlOutput::Borrowed(value)) = packed.to_sql() else {
                panic!("packed values are borrowed");
            };
            assert_eq!(Unpacked::column_result(value), Ok(Unpacked(text)));
        }
    }

    #[test]
    fn a_long_text_gets_shorter_and_a_broken_frame_is_an_error() {
        let Packed::Frame(frame) = pack("long ".repeat(200)) else {
            panic!("a long text is packed");
        };
        assert!(frame.len() < 100);
        assert!(Unpacked::column_result(ValueRef::Blob(&frame[..frame.len() - 1])).is_err());
    }
}
