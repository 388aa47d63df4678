//! What goes on failing, a small file each beside the store: since when, why, what waits for it. A run
//! that ends well in all else says so, once a day where nobody looks on.
//!
//! Knows names of sinks, counts and reasons; refuses to know content.

use crate::config::{Home, edit};
use crate::model::error::Error;
use crate::model::human::{plural, time};
use crate::model::time::Time;
use crate::model::zone::Zone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What a run met at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// Why it failed; never content.
    pub reason: String,
    /// How many wait for it.
    pub waiting: u64,
    /// What waits: `episode`.
    pub unit: &'static str,
    /// Somebody has to do something; else time may heal it.
    pub is_lasting: bool,
    /// Nobody tried this time: what was known of it before holds.
    pub is_untried: bool,
    /// What to type.
    pub hint: String,
}

/// Something that fails, as it is kept and told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// What fails: `sink graph`.
    pub who: String,
    /// The last reason.
    pub reason: String,
    /// When it failed first, with no success since.
    pub since: Time,
    /// How many wait for it.
    pub waiting: u64,
    /// What waits: `episode`.
    #[serde(default = "episode")]
    pub unit: String,
    /// What to type.
    pub hint: String,
    /// It is told: at once where somebody has to do something, else after `upload.alarm_after`.
    pub rings: bool,
    /// When somebody was told last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Time>,
    /// Whoever is told once a day is told now.
    #[serde(skip)]
    pub is_due: bool,
}

fn episode() -> String {
    "episode".to_owned()
}

/// How an alarm changed in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It rings for the first time.
    Begins(Alarm),
    /// It rang, and what failed works again.
    Ends(Alarm),
}

/// Somebody who only reads what goes wrong reads it once a day.
const DAY_MS: i64 = 86_400_000;

impl Alarm {
    /// `sink graph fails since 2026-06-01 12:00 (12 episodes wait): connection refused`.
    pub fn words(&self, zone: Zone) -> String {
        let waiting = match self.waiting {
            0 => String::new(),
            1 => format!(" (1 {} waits)", self.unit),
            more => format!(" ({} wait)", plural(more, &self.unit)),
        };
        let since = time(Some(self.since), zone);
        format!("{} fails since {since}{waiting}: {}", self.who, self.reason)
    }
}

impl Alarm {
    /// For whoever reads JSON.
    pub fn document(&self) -> Value {
        json!({
            "who": self.who,
            "reason": self.reason,
            "since": self.since.rfc3339_millis(),
            "waiting": self.waiting,
            "unit": self.unit,
            "hint": self.hint,
            "rings": self.rings,
        })
    }

    /// The same with what to type, in a line.
    pub fn line(&self, zone: Zone) -> String {
        format!("{} ({})", self.words(zone), self.hint)
    }
}

/// Keeps what a run met at a place; `None`: all is well there. Writes only where something changed.
/// Trouble that time may heal rings once it is `after_ms` old.
///
/// # Errors
/// When our folder can't be written.
pub fn note(
    who: &str,
    trouble: Option<&Trouble>,
    after_ms: i64,
    home: &Home,
    now: Time,
) -> Result<(Option<Alarm>, Option<Change>), Error> {
    let path = path(who, home);
    let before = read(&path);
    let Some(trouble) = trouble else {
        let Some(before) = before else {
            return Ok((None, None));
        };
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(named(&path, &error)),
            _ => {}
        }
        let ended = before.rings.then_some(Change::Ends(before));
        return Ok((None, ended));
    };
    let since = before.as_ref().map_or(now, |before| before.since);
    let rang = before.as_ref().is_some_and(|before| before.rings);
    let was_told = rang && trouble.is_untried;
    let rings = was_told || trouble.is_lasting || now.0.saturating_sub(since.0) >= after_ms;
    let told = before.as_ref().and_then(|before| before.told);
    let is_due = rings && told.is_none_or(|told| now.0.saturating_sub(told.0) >= DAY_MS);
    let alarm = Alarm {
        who: who.to_owned(),
        reason: trouble.reason.clone(),
        since,
        waiting: trouble.waiting,
        unit: trouble.unit.to_owned(),
        hint: trouble.hint.clone(),
        rings,
        told: if is_due { Some(now) } else { told },
        is_due,
    };
    let kept = Alarm {
        is_due: false,
        ..alarm.clone()
    };
    if before.as_ref() != Some(&kept) {
        let text = serde_json::to_string(&kept).unwrap_or_default();
        edit::write(&path, &text)?;
    }
    let begins = (rings && !rang).then(|| Change::Begins(alarm.clone()));
    Ok((Some(alarm), begins))
}

/// What is kept of a place; `None`: all was well there at last.
pub fn of(who: &str, home: &Home) -> Option<Alarm> {
    read(&path(who, home))
}

/// Everything that fails, by name.
pub fn all(home: &Home) -> Vec<Alarm> {
    let files = fs::read_dir(home.alarms()).into_iter().flatten().flatten();
    let mut all: Vec<Alarm> = files.filter_map(|file| read(&file.path())).collect();
    all.sort_by(|a, b| a.who.cmp(&b.who));
    all
}

fn read(path: &Path) -> Option<Alarm> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn path(who: &str, home: &Home) -> PathBuf {
    home.alarms().join(file_name(who))
}

/// What a file about this is called: names in settings may have any letters.
pub fn file_name(who: &str) -> String {
    let safe = |c: char| match c.is_ascii_alphanumeric() || c == '-' || c == '_' {
        true => c.to_string(),
        false => format!("%{:x}", u32::from(c)),
    };
    let name: String = who.chars().map(safe).collect();
    format!("{name}.json")
}

fn named(path: &Path, error: &std::io::Error) -> Error {
    Error::new(
        crate::model::error::ErrorKind::Failed,
        format!("{}: {error}", path.display()),
    )
    .hinted("make the folder writable")
}
