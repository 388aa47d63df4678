//! Which types the fields have had on which reading depends. Knows a value's type by its first
//! byte.

use super::table;
use rustc_hash::FxHashMap;
use serde::Deserialize;

/// A type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// `"…"`.
    String,
    /// `1`, `-2.5e3`.
    Number,
    /// `true`, `false`.
    Boolean,
    /// `null`.
    Null,
    /// `[…]`.
    Array,
    /// `{…}`.
    Object,
}

impl Type {
    /// Of a raw value.
    pub fn of(raw: &[u8]) -> Type {
        match raw.first() {
            Some(b'"') => Type::String,
            Some(b'{') => Type::Object,
            Some(b'[') => Type::Array,
            Some(b't' | b'f') => Type::Boolean,
            None | Some(b'n') => Type::Null,
            Some(_) => Type::Number,
        }
    }

    /// The word used in names of drift.
    pub fn as_str(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::Number => "number",
            Type::Boolean => "boolean",
            Type::Null => "null",
            Type::Array => "array",
            Type::Object => "object",
        }
    }
}

/// A field of a kind of records.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownField {
    record: String,
    /// Its name, or its path.
    #[serde(rename = "field")]
    pub name: String,
    types: Vec<Type>,
    /// Without it there is nothing to read.
    #[serde(default)]
    pub hides: bool,
    /// A line in which it has another type.
    pub sample: String,
}

impl KnownField {
    /// `record.field: type`, when `raw` has a type that the field never had.
    pub fn drift(&self, record: &str, raw: &[u8]) -> Option<String> {
        let found = Type::of(raw);
        if found == Type::Null || self.types.contains(&found) {
            return None;
        }
        let record: String = record.chars().take(60).collect();
        let dot = if record.is_empty() { "" } else { "." };
        Some(format!("{record}{dot}{}: {}", self.name, found.as_str()))
    }
}

/// The fields of one agent's records, by kind.
pub struct KnownFields(FxHashMap<String, Vec<KnownField>>);

impl KnownFields {
    /// # Panics
    /// When the embedded table doesn't fit its rows; every table has a test that reads it.
    pub fn of(embedded: &'static str) -> KnownFields {
        let mut all = KnownFields(FxHashMap::default());
        for field in table::rows::<Vec<KnownField>>(embedded) {
            let of_record = all.0.entry(field.record.clone()).or_default();
            of_record.push(field);
        }
        all
    }

    /// The fields of a kind of records; none where nothing depends on one.
    pub fn of_record(&self, record: &str) -> &[KnownField] {
        self.0.get(record).map_or(&[], Vec::as_slice)
    }

    /// Every row; for tests of the dialects.
    #[cfg(test)]
    pub fn all(&self) -> impl Iterator<Item = &KnownField> {
        self.0.values().flatten()
    }
}
