//! What is a secret, as a table (`secrets.yaml`), and how one is masked:
//! `[redacted:github-token:1f3a]`.
//!
//! Knows formats of keys, tokens, passwords and, where asked, personal data. Reading order: the
//! table, [`table`] (rows as meant), [`scan`] (where they match), [`validators`] (what a regex can't
//! say), [`looks`] and [`passwords`] (by what they judge), [`decoders`] (texts in disguise).

mod decoders;
mod looks;
mod names;
mod passwords;
mod prefilter;
pub mod samples;
mod scan;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod validators;

pub use table::UserRules;

use crate::rules::hidden_paths::PathHider;
use scan::{Engine, Span};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::Xxh3;

/// Masks secrets in texts. Cheap to clone; the table is read at the first text.
#[derive(Clone, Default)]
pub struct Redactor {
    key: [u8; 32],
    personal: bool,
    user: Arc<UserRules>,
    engine: Arc<OnceLock<Engine>>,
    /// The same without personal data.
    without_personal: Arc<OnceLock<Engine>>,
    /// Whose paths are told to nobody.
    hides: Option<Arc<PathHider>>,
}

/// How a placeholder begins.
const OPEN: &str = "[redacted:";

/// What masking a text uncovers is masked in turn. More is never needed; fewer: a damaged table
/// could make masking twice differ from masking once.
const PASSES_MAX: usize = 8;

/// Of what is left of a secret beside a placeholder. Smaller: punctuation is masked.
const REST_CHARS_MIN: usize = 6;

impl Redactor {
    /// Hashes are made with `key`; `personal` masks e-mail addresses, user names and IP addresses too.
    pub fn new(key: [u8; 32], personal: bool, user: UserRules) -> Redactor {
        Redactor {
            key,
            personal,
            user: Arc::new(user),
            ..Redactor::default()
        }
    }

    /// The same without personal data and hidden paths: for texts that are stored already, and for where
    /// a session ran.
    pub fn secrets_only(&self) -> Redactor {
        let mut secrets = Redactor {
            hides: None,
            ..self.clone()
        };
        if self.personal {
            secrets.personal = false;
            secrets.engine = self.without_personal.clone();
        }
        secrets
    }

    /// The same for a log whose paths are told to nobody: they are moved as they are masked.
    pub fn hiding(&self, paths: PathHider) -> Redactor {
        Redactor {
            hides: Some(Arc::new(paths)),
            ..self.clone()
        }
    }

    /// The paths that are told to nobody.
    pub fn hides(&self) -> Option<&PathHider> {
        self.hides.as_deref()
    }

    /// [`Redactor::mask`], and paths as they are stored: for what nothing is read off any more.
    pub fn mask_to_store(&self, text: &mut String) {
        self.mask(text);
        if let Some(Cow::Owned(shown)) = self.hides().map(|paths| paths.shown(text)) {
            *text = shown;
        }
    }

    /// Names the rules: 16 hex digits that change when the table or the user's rules do, and not
    /// with the key or with what else is set. Reads no rule.
    pub fn version(&self) -> String {
        let mut hash = Xxh3::new();
        hash.update(table::EMBEDDED.as_bytes());
        hash.update(self.user.text().as_bytes());
        format!("{:016x}", hash.digest())
    }

    /// `text` with a placeholder for every secret; borrowed where there is none.
    ///
    /// Masking what was masked changes nothing. The same secret gives the same placeholder
    /// wherever it stands, however it is escaped, quoted or wrapped. About 500 MB/s where there is
    /// nothing to mask.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        for _ in 0..PASSES_MAX {
            match self.pass(&masked) {
                None => break,
                Some(next) => masked = Cow::Owned(next),
            }
        }
        match self.hides().map(|paths| paths.placed(&masked)) {
            Some(Cow::Owned(placed)) => Cow::Owned(placed),
            _ => masked,
        }
    }

    /// The rules that find a secret in `text`, or masked one there before. Personal data is none.
    pub fn secrets_in(&self, text: &str) -> Vec<String> {
        let masked = self.secrets_only().redact(text).into_owned();
        let personal: Vec<String> = table::rows()
            .into_iter()
            .filter(|row| row.personal)
            .map(|row| row.id)
            .collect();
        let found = masked_by(&masked).into_iter().map(str::to_owned);
        found.filter(|rule| !personal.contains(rule)).collect()
    }

    /// [`Redactor::redact`] in place.
    pub fn mask(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.redact(text) {
            *text = masked;
        }
    }

    /// [`Redactor::redact`] of every string in a value; names of fields stay.
    pub fn mask_value(&self, value: &mut serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::String(text) => self.mask(text),
            Value::Array(list) => list.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(map) => self.mask_fields(map),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// `{"password": "hunter"}` is an assignment, though name and value are strings of their own. The
    /// value is also masked by itself: quotes around it hide what is known by the lines it stands on.
    fn mask_fields(&self, map: &mut serde_json::Map<String, serde_json::Value>) {
        for (name, value) in map.iter_mut() {
            self.mask_value(value);
            let Some(text) = value.as_str() else {
                continue;
            };
            let before = name.len() + 3;
            let mut assigned = String::with_capacity(before + text.len() + 1);
            assigned.extend([name, ": \""]);
            if !self.engine().has_keyword(&assigned) {
                continue; // the name says nothing of its value
            }
            assigned.extend([text, "\""]);
            let Cow::Owned(masked) = self.redact(&assigned) else {
                continue;
            };
            // what reaches beyond the value, as a quote in it does, is masked there as far as it can be
            let inside = masked
                .strip_prefix(&assigned[..before])
                .and_then(|m| m.strip_suffix('"'));
            if let Some(inside) = inside {
                *value = inside.into();
            }
        }
    }

    fn engine(&self) -> &Engine {
        // of those who have no rules of their own: made once in a process, and never taken apart
        static OURS: [OnceLock<Engine>; 2] = [const { OnceLock::new() }; 2];
        let is_own = self.engine.get().is_some() || !self.user.text().is_empty();
        let engine = match is_own {
            true => &*self.engine,
            false => &OURS[usize::from(self.personal)],
        };
        engine.get_or_init(|| Engine::new(table::rows(), &self.user, self.personal))
    }

    /// One pass; `None` where nothing changes.
    fn pass(&self, text: &str) -> Option<String> {
        let spans = self.engine().spans(text);
        if spans.is_empty() {
            return None;
        }
        let spans = beside_placeholders(text, spans);
        if spans.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for span in spans {
            out.push_str(&text[at..span.start]);
            self.placeholder(&mut out, &text[span.start..span.end], &span);
            at = span.end;
        }
        out.push_str(&text[at..]);
        Some(out)
    }

    /// Sixteen bits of a keyed hash: enough to see that two are the same, too few to guess from.
    /// The key comes first and has a fixed length; that little of SHA-256 can't be extended.
    fn placeholder(&self, out: &mut String, secret: &str, span: &Span) {
        let mut hash = Sha256::new();
        hash.update(self.key);
        hash.update(decoders::canonical(secret).as_bytes());
        let hash = hash.finalize();
        let id = self.engine().id(span);
        // writing to a string can't fail
        let _ = write!(out, "{OPEN}{id}:{:02x}{:02x}]", hash[0], hash[1]);
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor")
            .field("version", &self.version())
            .field("personal", &self.personal)
            .finish_non_exhaustive()
    }
}

/// The spans without the placeholders in them.
fn beside_placeholders(text: &str, spans: Vec<Span>) -> Vec<Span> {
    let holders = placeholders(text);
    if holders.is_empty() {
        return spans;
    }
    let mut rest = Vec::new();
    for span in spans {
        let mut start = span.start;
        let inside = holders
            .iter()
            .filter(|(from, to)| *from < span.end && *to > span.start);
        for (from, to) in inside {
            keep_piece(
                text,
                &mut rest,
                Span {
                    start,
                    end: (*from).max(start),
                    ..span
                },
            );
            start = (*to).max(start);
        }
        match start == span.start {
            true => rest.push(span),
            false => keep_piece(
                text,
                &mut rest,
                Span {
                    start: start.min(span.end),
                    ..span
                },
            ),
        }
    }
    rest
}

fn keep_piece(text: &str, rest: &mut Vec<Span>, piece: Span) {
    let letters = text[piece.start..piece.end]
        .chars()
        .filter(|c| c.is_alphanumeric());
    if letters.count() >= REST_CHARS_MIN {
        rest.push(piece);
    }
}

/// The rules by which a text was masked, in its order.
fn masked_by(text: &str) -> Vec<&str> {
    let rule = |(from, to): (usize, usize)| &text[from + OPEN.len()..to - HASH_BYTES];
    placeholders(text).into_iter().map(rule).collect()
}

/// `:1a2b]`, at the end of a placeholder.
const HASH_BYTES: usize = 6;

/// Where placeholders stand.
fn placeholders(text: &str) -> Vec<(usize, usize)> {
    let starts = memchr::memmem::find_iter(text.as_bytes(), OPEN);
    let whole = |start: usize| {
        let inside = &text[start + OPEN.len()..];
        let id =
            inside.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))?;
        let hash = inside[id..].strip_prefix(':')?.get(..5)?;
        let is_hash = hash.ends_with(']') && hash[..4].bytes().all(|b| b.is_ascii_hexdigit());
        (id > 0 && is_hash).then_some((start, start + OPEN.len() + id + HASH_BYTES))
    };
    starts.filter_map(whole).collect()
}
