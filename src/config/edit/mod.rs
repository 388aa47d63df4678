//! Changes to the user's settings file, keeping everything else byte for byte. Knows how one key
//! is put into JSON and YAML; every result is read back before it is written. Refuses to touch a
//! file that it doesn't fully understand.

pub mod tracking_config;

use super::document::{Document, Format};
use super::exclude::literal;
use super::file_kind::{FileKind, SETTINGS};
use super::position::{Step, path};
use crate::model::error::Error;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
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

/// Sets `session_tracking.enabled` in the user's file (`enable`, `disable`), creating the file
/// (0600, its folder 0700) where there is none. Atomic: a crash leaves the old file or the new.
///
/// Errors: the file can't be read, understood, edited in place, or written; nothing is changed then.
pub fn set_enabled(file: &Path, enabled: bool) -> Result<Edited, Error> {
    edit(file, |_| {
        (path("session_tracking.enabled"), Value::Bool(enabled))
    })
}

/// Adds a folder to `session_tracking.excluded_paths` or takes it away (`disable --project`,
/// `enable --project`). Otherwise as [`set_enabled`].
pub fn set_excluded(file: &Path, folder: &str, excluded: bool) -> Result<Edited, Error> {
    let folder = &literal(folder);
    edit(file, |value| {
        let key = "excluded_paths";
        let mut list = match &value["session_tracking"][key] {
            Value::Array(list) => list.clone(),
            _ => Vec::new(),
        };
        list.retain(|item| item.as_str() != Some(folder));
        if excluded {
            list.insert(0, folder.as_str().into());
        }
        (path("session_tracking.excluded_paths"), list.into())
    })
}

fn edit(file: &Path, wanted: impl Fn(&Value) -> (Vec<Step>, Value)) -> Result<Edited, Error> {
    edit_as(&SETTINGS, file, wanted, &|_| Ok(()))
}

/// Sets one key of a file; `proves`: what is to be written means something. Otherwise as [`set_enabled`].
pub(super) fn edit_as(
    kind: &FileKind,
    file: &Path,
    wanted: impl Fn(&Value) -> (Vec<Step>, Value),
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
    let old = get(&document.value, &at);
    let nothing_to_remove = old.is_none() && value == json!([]);
    if old == Some(&value) || nothing_to_remove {
        return Ok(Edited::Same);
    }
    let text = edited(&document, &at, &value).ok_or_else(|| {
        let key = super::position::dotted(&at);
        let what = "can't be changed in place without touching the rest";
        document
            .error(&at, what)
            .hinted(format!("set `{key}` to {value} by hand"))
    })?;
    write(&text)?;
    Ok(Edited::Changed)
}

/// The text with one key set and the rest as it was; `None` when no way was found that reads back
/// as exactly that.
fn edited(document: &Document, at: &[Step], value: &Value) -> Option<String> {
    let mut wants = document.value.clone();
    put(&mut wants, at, value.clone());
    let ways = [
        items_added,
        replaced,
        item_added,
        item_removed,
        appended,
        inserted,
    ];
    ways.iter()
        .filter_map(|way| way(document, at, value))
        .find(|text| {
            Document::parse(&document.file, text.as_bytes()).is_ok_and(|read| read.value == wants)
        })
}

/// Over a value that is there: any in JSON, a word in YAML.
fn replaced(document: &Document, at: &[Step], value: &Value) -> Option<String> {
    let text = &document.text;
    let spot = document.spot(at)?;
    let word = |c: char| c.is_ascii_alphanumeric() || c == '~';
    let end = match spot.end {
        Some(end) => end,
        None => spot.value + text[spot.value..].find(|c| !word(c))?,
    };
    let indent = indent_of(text, spot.key);
    Some(splice(text, spot.value, end, &pretty(value, indent)))
}

/// New last items of a JSON list that is there and has some.
fn items_added(document: &Document, at: &[Step], value: &Value) -> Option<String> {
    let text = &document.text;
    let old = get(&document.value, at)?.as_array()?;
    let new = value.as_array()?.strip_prefix(old.as_slice())?;
    let last = document.spot(&[at, &[Step::Index(old.len().checked_sub(1)?)]].concat())?;
    let start = line_start(text, last.value);
    let is_alone = text[start..last.value].trim().is_empty();
    let indent = if is_alone {
        &text[start..last.value]
    } else {
        ""
    };
    let added: String = new
        .iter()
        .map(|item| match is_alone {
            true => format!(",{}{indent}{}", newline(text), pretty(item, indent)),
            false => format!(", {item}"),
        })
        .collect();
    Some(splice(text, last.end?, last.end?, &added))
}

/// Takes a key with its value out of a file; `false`: it is not there. Otherwise as [`set_enabled`].
pub(super) fn remove(kind: &FileKind, file: &Path, at: &[Step]) -> Result<bool, Error> {
    let _alone = Alone::with(file)?;
    let Some(document) = Document::load(file)? else {
        return Ok(false);
    };
    let document = kind.validated(document)?;
    let Some((Step::Key(key), around)) = at.split_last() else {
        return Ok(false);
    };
    let mut wants = document.value.clone();
    let map = get_mut(&mut wants, around).and_then(Value::as_object_mut);
    if map.and_then(|map| map.shift_remove(key)).is_none() {
        return Ok(false);
    }
    let ways = [json_removed, yaml_removed];
    let text = ways
        .iter()
        .filter_map(|way| way(&document, at))
        .find(|text| {
            let read = Document::parse(&document.file, text.as_bytes());
            read.is_ok_and(|read| read.value == wants)
        });
    let text = text.ok_or_else(|| {
        let what = "can't be taken out without touching the rest";
        document.error(at, what).hinted("take it out by hand")
    })?;
    write(file, &text)?;
    Ok(true)
}

/// A key with its value, and one comma beside it.
fn json_removed(document: &Document, at: &[Step]) -> Option<String> {
    let text = &document.text;
    let spot = document.spot(at)?;
    let end = spot.end?;
    let before = text[..spot.key].trim_end();
    let rest = text[end..].trim_start();
    match (before.strip_suffix(','), rest.strip_prefix(',')) {
        (Some(before), _) => Some(format!("{before}{}", &text[end..])),
        (None, Some(rest)) => Some(format!("{}{}", &text[..spot.key], rest.trim_start())),
        (None, None) => Some(format!("{before}{rest}")),
    }
}

/// The lines of a key of a YAML block: its own and those that are indented deeper.
fn yaml_removed(document: &Document, at: &[Step]) -> Option<String> {
    let text = &document.text;
    let spot = document.spot(at)?;
    let start = line_start(text, spot.key);
    let indent = spot.key - start;
    let deeper = |line: &&str| {
        let blank = line.trim().is_empty();
        blank || line.len() - line.trim_start().len() > indent
    };
    let mut lines = text[start..].split_inclusive('\n');
    let own = lines.next()?.len();
    let rest: usize = lines.take_while(deeper).map(str::len).sum();
    Some(splice(text, start, start + own + rest, ""))
}

fn get_mut<'a>(value: &'a mut Value, at: &[Step]) -> Option<&'a mut Value> {
    at.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(i) => value.get_mut(i),
    })
}

/// A new first item of a YAML list that is there.
fn item_added(document: &Document, at: &[Step], value: &Value) -> Option<String> {
    let text = &document.text;
    let new = value.as_array()?.first()?;
    let list = document.spot(at)?.value;
    if text[list..].starts_with('[') {
        let empty = get(&document.value, at)?.as_array()?.is_empty();
        let comma = if empty { "" } else { ", " };
        return Some(splice(text, list + 1, list + 1, &format!("{new}{comma}")));
    }
    let first = document.spot(&[at, &[Step::Index(0)]].concat())?.value;
    let start = line_start(text, first);
    let dash = &text[start..first];
    let is_item = dash.trim() == "-";
    is_item.then(|| splice(text, start, start, &format!("{dash}{new}{}", newline(text))))
}

/// The line of a YAML list's item taken out.
fn item_removed(document: &Document, at: &[Step], value: &Value) -> Option<String> {
    let text = &document.text;
    let old = get(&document.value, at)?.as_array()?;
    let new = value.as_array()?;
    let gone = old.iter().position(|item| !new.contains(item))?;
    let item = document.spot(&[at, &[Step::Index(gone)]].concat())?.value;
    let start = line_start(text, item);
    let is_item = text[start..item].trim() == "-";
    let end = text[item..].find('\n').map_or(text.len(), |n| item + n + 1);
    is_item.then(|| splice(text, start, end, ""))
}

/// Into a map that is there, before its first key.
fn inserted(document: &Document, at: &[Step], value: &Value) -> Option<String> {
    let text = &document.text;
    let depth = (0..at.len())
        .rev()
        .find(|n| get(&document.value, &at[..*n]).is_some_and(Value::is_object))?;
    let (key, value) = entry(&at[depth..], value)?;
    let map = document.spot(&at[..depth])?.value;
    let first = first_key(document, &at[..depth]);
    if text[map..].starts_with('{') {
        let Some(first) = first else {
            let new = format!("\"{key}\": {}", pretty(&value, ""));
            return Some(splice(text, map + 1, map + 1, &new));
        };
        let gap = &text[map + 1..first];
        let gap = if gap.trim().is_empty() { gap } else { " " };
        let indent = gap.rsplit_once('\n').map_or("", |(_, indent)| indent);
        let new = match gap.contains('\n') {
            true => format!("{gap}\"{key}\": {},", pretty(&value, indent)),
            false => format!("{gap}\"{key}\": {value},"),
        };
        return Some(splice(text, map + 1, map + 1, &new));
    }
    let start = line_start(text, first?);
    let indent = &text[start..first?];
    let block = indent.trim().is_empty();
    block.then(|| {
        let new = yaml_entry(&key, &value, indent, newline(text));
        splice(text, start, start, &new)
    })
}

/// At the end of a YAML text whose top level is a block.
fn appended(document: &Document, at: &[Step], value: &Value) -> Option<String> {
    let text = &document.text;
    let first = first_key(document, &[])?;
    if document.format != Format::Yaml || get(&document.value, &at[..1]).is_some() {
        return None;
    }
    let start = line_start(text, first);
    let (key, value) = entry(at, value)?;
    let line_end = newline(text);
    let gap = if text.ends_with('\n') { "" } else { line_end };
    let new = yaml_entry(&key, &value, &text[start..first], line_end);
    Some(format!("{text}{gap}{new}"))
}

/// `a.b: x` as the key `a` and the value `{b: x}`.
fn entry(at: &[Step], value: &Value) -> Option<(String, Value)> {
    let (first, rest) = at.split_first()?;
    let Step::Key(key) = first else { return None };
    let mut inner = value.clone();
    for step in rest.iter().rev() {
        let Step::Key(key) = step else { return None };
        inner = json!({ key: inner });
    }
    Some((key.clone(), inner))
}

fn first_key(document: &Document, map: &[Step]) -> Option<usize> {
    let key = get(&document.value, map)?.as_object()?.keys().next()?;
    let step = Step::Key(key.clone());
    Some(document.spot(&[map, &[step]].concat())?.key)
}

fn yaml_entry(key: &str, value: &Value, indent: &str, line_end: &str) -> String {
    match value {
        Value::Object(map) => {
            let deeper = format!("{indent}  ");
            let inner = map.iter().map(|(k, v)| yaml_entry(k, v, &deeper, line_end));
            format!("{indent}{key}:{line_end}{}", inner.collect::<String>())
        }
        plain => format!("{indent}{key}: {plain}{line_end}"),
    }
}

/// Pretty JSON whose lines after the first start with `indent`.
fn pretty(value: &Value, indent: &str) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{indent}"))
}

fn fresh(format: Format, whole: &Value) -> String {
    match format {
        Format::Json => format!("{}\n", pretty(whole, "")),
        Format::Yaml => {
            let map = whole.as_object().into_iter().flatten();
            map.map(|(k, v)| yaml_entry(k, v, "", "\n")).collect()
        }
    }
}

/// What stands there.
pub(super) fn get<'a>(value: &'a Value, at: &[Step]) -> Option<&'a Value> {
    at.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(i) => value.get(i),
    })
}

fn put(value: &mut Value, at: &[Step], new: Value) {
    let mut value = value;
    for step in at {
        let Step::Key(key) = step else { return };
        if !value.is_object() {
            *value = json!({});
        }
        value = &mut value[key.as_str()];
    }
    *value = new;
}

/// The text with `new` in place of these bytes.
pub(super) fn splice(text: &str, from: usize, to: usize, new: &str) -> String {
    [&text[..from], new, &text[to..]].concat()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |n| n + 1)
}

fn indent_of(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Held while settings are read and written: of two who change them at once, each keeps what it wrote.
struct Alone(fs::File);

impl Alone {
    /// Waits for whoever is at it. Makes the folder where there is none.
    fn with(file: &Path) -> Result<Alone, Error> {
        let dir = file.parent().unwrap_or(Path::new("."));
        let named = |e: std::io::Error| Error::usage(format!("{}: {e}", dir.display()));
        if !dir.is_dir() {
            create_private_dir(dir).map_err(named)?;
        }
        let folder = fs::File::open(dir).map_err(named)?;
        // a file system without locks has nobody else at it, or nobody can help it
        let _ = folder.lock();
        Ok(Alone(folder))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Writes a file whole or not at all: through a temporary one in the same folder, for its owner
/// only where it is new. A link to a file elsewhere stays a link.
pub fn write(file: &Path, text: &str) -> Result<(), Error> {
    let target = fs::canonicalize(file).unwrap_or(file.to_path_buf());
    let dir = target.parent().unwrap_or(Path::new("."));
    let named = |e: std::io::Error| Error::usage(format!("{}: {e}", target.display()));
    if !dir.is_dir() {
        create_private_dir(dir).map_err(named)?;
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = dir.join(format!(".{name}.{}", std::process::id()));
    let written = write_private(&temporary, &target, text)
        .and_then(|()| fs::rename(&temporary, &target))
        .map_err(named);
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(unix)]
fn create_private_dir(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn create_private_dir(dir: &Path) -> std::io::Result<()> {
    fs::create_dir_all(dir)
}

/// Writes a new file that only its owner may read, or with the mode of the file it will replace.
fn write_private(temporary: &Path, target: &Path, text: &str) -> std::io::Result<()> {
    let _ = fs::remove_file(temporary);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(temporary)?;
    if let Ok(old) = fs::metadata(target) {
        out.set_permissions(old.permissions())?;
    }
    out.write_all(text.as_bytes())?;
    out.sync_all()
}
