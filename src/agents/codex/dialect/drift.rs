//! Fields whose type is another than ever before (`fields.yaml`).

use super::record::Record;
use crate::json::fields::Fields;
use crate::model::entry::EntryKind;
use crate::rules::fields::KnownFields;
use crate::rules::table;
use std::sync::LazyLock;

pub(super) static FIELDS: LazyLock<KnownFields> =
    LazyLock::new(|| KnownFields::of(table::embedded!(in "agents", "codex/fields")));

impl Record<'_> {
    /// Names what drifted in a payload of this kind; `*`: in the line around it.
    pub(super) fn drifted(&mut self, kind: &str, values: &Fields<'_>) {
        self.compare(kind, values);
        if let Some(inner) = values.text("type").filter(|_| kind != "*") {
            self.compare(&format!("{kind}/{inner}"), values);
        }
    }

    fn compare(&mut self, record: &str, values: &Fields<'_>) {
        let shown = match record {
            "*" => values.text("type").unwrap_or_default().into_owned(),
            record => record.to_owned(),
        };
        for field in FIELDS.of_record(record) {
            let raw = values.raw(&field.name);
            if let Some(name) = raw.and_then(|raw| field.drift(&shown, raw.as_bytes())) {
                self.push(EntryKind::unknown(name));
            }
        }
    }
}
