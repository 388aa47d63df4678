//! One key of a settings file of ours: set, or taken out. The library's ranges make that exact for JSON;
//! for YAML several ways are tried. Either way the result is read back before it is written.

use super::file::{Alone, write};
use super::{json, yaml};
use crate::config::document::{Document, Format};
use crate::config::file_kind::FileKind;
use crate::config::position::{PathStep, dotted, put, steps, take};
use crate::model::error::Error;
use serde_json::{Value, json};
use std::path::Path;

/// What came of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// There was no file.
    Created,
    /// One key is different now.
    Changed,
    /// It said so already; nothing was written.
    Same,
}

/// Sets the key and the value that `wanted` makes of what the file says. `proves` looks at the result
/// before it is written.
///
/// # Errors
/// The file can't be read, understood, edited in place, or written, or `proves` refuses it; nothing is
/// changed then.
pub fn set(
    kind: &FileKind,
    file: &Path,
    wanted: impl Fn(&Value) -> (Vec<PathStep>, Value),
    proves: &dyn Fn(&Document) -> Result<(), Error>,
) -> Result<Edited, Error> {
    let _alone = Alone::with(file)?;
    let write = |text: &str| {
        let document = Document::parse(file, text.as_bytes())?;
        proves(&kind.validated(document)?)?;
        write(file, text)
    };
    let Some(document) = Document::load(file)? else {
        let (at, value) = wanted(&Value::Null);
        let mut whole = json!({"version": kind.version});
        put(&mut whole, &at, value);
        write(&fresh(Format::of(file), &whole))?;
        return Ok(Edited::Created);
    };
    let document = kind.validated(document)?;
    let (at, value) = wanted(&document.value);
    let old = document.get(&at);
    let nothing_to_remove = old.is_none() && value == json!([]);
    if old == Some(&value) || nothing_to_remove {
        return Ok(Edited::Same);
    }
    let edited = with(&document, &at, &value).ok_or_else(|| {
        let key = dotted(&at);
        let what = "can't be changed in place without touching the rest";
        document
            .error(&at, what)
            .hinted(format!("set `{key}` to {value} by hand"))
    })?;
    write(&edited.text)?;
    Ok(Edited::Changed)
}

/// Takes a key with its value out of a file; `false`: it is not there. `proves` as in [`set`].
///
/// # Errors
/// As [`set`].
pub fn remove(
    kind: &FileKind,
    file: &Path,
    at: &[PathStep],
    proves: &dyn Fn(&Document) -> Result<(), Error>,
) -> Result<bool, Error> {
    let _alone = Alone::with(file)?;
    let Some(document) = Document::load(file)? else {
        return Ok(false);
    };
    if document.get(at).is_none() {
        return kind.validated(document).map(|_| false);
    }
    let without = without(&document, at).ok_or_else(|| {
        let what = "can't be taken out without touching the rest";
        document.error(at, what).hinted("take it out by hand")
    })?;
    let without = kind.validated(without)?;
    proves(&without)?;
    write(file, &without.text)?;
    Ok(true)
}

/// The document without a key. YAML has no empty map to leave around it: there, a map that has nothing else
/// goes with it.
fn without(document: &Document, at: &[PathStep]) -> Option<Document> {
    let mut wants = document.value.clone();
    take(&mut wants, at)?;
    let text = match document.format {
        Format::Json => json::cut(document, at),
        Format::Yaml => yaml::cut(document, at),
    };
    let cut = text.and_then(|text| document.rewritten(&text, &wants));
    let around = &at[..at.len().checked_sub(1)?];
    let is_alone = || steps(document.get(around)?).nth(1).is_none().then_some(());
    cut.or_else(|| {
        is_alone().filter(|()| !around.is_empty())?;
        without(document, around)
    })
}

/// The document with one key set and the rest as it was; `None` when no way was found that reads back as
/// exactly that.
fn with(document: &Document, at: &[PathStep], value: &Value) -> Option<Document> {
    let mut wants = document.value.clone();
    put(&mut wants, at, value.clone());
    if document.format == Format::Yaml {
        let mut texts = yaml::WAYS.iter().filter_map(|way| way(document, at, value));
        return texts.find_map(|text| document.rewritten(&text, &wants));
    }
    items_added(document, at, value)
        .or_else(|| json::replace(document, at, value))
        .or_else(|| document.rewritten(&json::insert_first(document, at, value)?, &wants))
}

/// New last items of a list that is there and has some.
fn items_added(document: &Document, at: &[PathStep], value: &Value) -> Option<Document> {
    let (old, new) = (document.get(at)?.as_array()?, value.as_array()?);
    let added = new.strip_prefix(old.as_slice())?;
    if old.is_empty() {
        return None;
    }
    let mut document = document.clone();
    for (item, nth) in added.iter().zip(old.len()..) {
        document = json::insert(&document, &[at, &[PathStep::Index(nth)]].concat(), item)?;
    }
    Some(document)
}

fn fresh(format: Format, whole: &Value) -> String {
    match format {
        Format::Json => format!("{}\n", json::pretty(whole, "  ", "")),
        Format::Yaml => {
            let map = whole.as_object().into_iter().flatten();
            map.map(|(key, value)| yaml::member(key, value, "", "\n"))
                .collect()
        }
    }
}
