//! The two settings files: what each may say, and which of its versions are read.

use super::document::Document;
use super::graphiti_keys::take_out;
use super::position::path;
use super::validate::violation;
use crate::model::error::Error;
use serde_json::Value;
use std::sync::LazyLock;

/// One of the settings files.
pub(super) struct FileKind {
    /// What it may say, without what that means to people.
    pub schema: &'static LazyLock<Value>,
    /// The major versions that are read. A file without a version is of the oldest one.
    majors: &'static [u64],
    /// Graphiti keeps its own settings in it too.
    is_shared: bool,
    /// What a new file says it is.
    pub version: &'static str,
}

/// `graphiti.config`.
pub(super) const SETTINGS: FileKind = FileKind {
    schema: &SETTINGS_SCHEMA,
    majors: &[1, 2],
    is_shared: true,
    version: "2.0.0",
};

/// `tracking-config`.
pub(super) const TRACKING: FileKind = FileKind {
    schema: &TRACKING_SCHEMA,
    majors: &[1],
    is_shared: false,
    version: "1.0",
};

static SETTINGS_SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    written(include_str!(concat!(
        env!("OUT_DIR"),
        "/config/wire/settings.schema.rules.json"
    )))
});
static TRACKING_SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    written(include_str!(concat!(
        env!("OUT_DIR"),
        "/config/wire/tracking.schema.rules.json"
    )))
});

/// What `graphiti.config` may say, with what that means: for people, three times as long.
pub(super) fn described_settings() -> Value {
    written(include_str!("wire/settings.schema.json"))
}

/// The same of `tracking-config`.
pub(super) fn described_tracking() -> Value {
    written(include_str!("wire/tracking.schema.json"))
}

/// What `graphiti.config` says where it says nothing.
pub(super) fn settings_by_default() -> Value {
    written(include_str!("wire/settings.defaults.json"))
}

/// What a test wrote down of the wire types: to make it anew at each start takes a hook longer, and more memory,
/// than to read it.
fn written(text: &str) -> Value {
    serde_json::from_str(text).expect("a test wrote it")
}

impl FileKind {
    /// Takes out of what a file says what is another program's; gives the names of these keys.
    pub fn pass_over(&self, settings: &mut Value) -> Vec<String> {
        match self.is_shared {
            true => take_out(settings),
            false => Vec::new(),
        }
    }

    /// The document, if it fits.
    ///
    /// # Errors
    /// A key or a type that the schema doesn't have, a major version that isn't read (D15): with file,
    /// line and key.
    pub fn validated(&self, document: Document) -> Result<Document, Error> {
        if let Some(version) = document.value["version"].as_str() {
            let major = version
                .split('.')
                .next()
                .and_then(|m| m.trim().parse().ok());
            if !major.is_some_and(|m: u64| self.majors.contains(&m)) {
                let known: Vec<String> = self.majors.iter().map(|m| format!("{m}.x")).collect();
                let what = format!("{version:?} is not known here, {} is", known.join(" or "));
                return Err(document.error(&path("version"), &what));
            }
        }
        let mut own = document.value.clone();
        self.pass_over(&mut own);
        let Some(violation) = violation(self.schema, &own) else {
            return Ok(document);
        };
        let error = document.error(&violation.path, &violation.what);
        Err(match violation.hint {
            Some(hint) => error.hinted(hint),
            None => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::schema::schema_of;
    use crate::config::wire::{WireConfig, WireTracking};
    use std::path::Path;

    /// `INSTA_UPDATE=always cargo test written_down` writes them again.
    #[test]
    fn what_is_written_down_is_what_the_wire_types_say() {
        let defaults = serde_json::to_value(WireConfig::default()).unwrap();
        for (name, wants) in [
            ("settings.schema.json", schema_of::<WireConfig>()),
            ("settings.defaults.json", defaults),
            ("tracking.schema.json", schema_of::<WireTracking>()),
        ] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/wire");
            let file = folder.join(name);
            let wants = serde_json::to_string_pretty(&wants).unwrap() + "\n";
            #[expect(clippy::disallowed_methods, reason = "a switch of this test alone")]
            let writes = std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always");
            if writes {
                std::fs::write(&file, &wants).unwrap();
            }
            let has = std::fs::read_to_string(&file).unwrap();
            assert!(
                has == wants,
                "{name}: INSTA_UPDATE=always cargo test written_down"
            );
        }
    }
}
