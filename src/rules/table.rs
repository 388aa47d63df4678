//! How embedded tables are read. Knows that they are written as YAML with samples that test them,
//! and built as JSON without (`build.rs`); refuses to know what rows mean.

use serde::de::DeserializeOwned;

/// The text of the table `src/rules/$path.yaml`: with samples, as it is written, in tests; as it was
/// built in the program.
macro_rules! embedded {
    ($folder:literal, $name:literal) => {{
        #[cfg(test)]
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/rules/",
            $folder,
            $name,
            ".yaml"
        ));
        #[cfg(not(test))]
        let text = include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json"));
        text
    }};
    ($name:literal) => {
        $crate::rules::table::embedded!("", $name)
    };
}
pub(crate) use embedded;

/// The rows of an [`embedded!`] table.
///
/// # Panics
/// When it doesn't fit its rows; every table has a test that reads it.
pub fn rows<T: DeserializeOwned>(embedded: &str) -> T {
    let rows = match cfg!(test) {
        true => serde_yaml::from_str(embedded).map_err(|error| error.to_string()),
        false => serde_json::from_str(embedded).map_err(|error| error.to_string()),
    };
    rows.unwrap_or_else(|error| panic!("an embedded table: {error}"))
}
