//! A pipeline file as written. Every key but the steps is optional here and nowhere else; knows how
//! to say what is wrong with one, and where.

use super::pipeline::{
    Check, Example, Given, Pipeline, PipelineOrigin, Step, Wants, Window, steps,
};
use crate::agents::registry;
use crate::model::choice::nearest;
use crate::model::error::Error;
use crate::model::ledger::Fate;
use crate::model::source::Agent;
use crate::model::time::Time;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_yaml::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads a pipeline. Errors name the file, the line and the nearest word that is valid there.
pub fn parse(name: &str, text: &str, origin: PipelineOrigin) -> Result<Pipeline, Error> {
    let (place, base) = match &origin {
        PipelineOrigin::Embedded => (format!("pipelines/{name}.yaml"), PathBuf::new()),
        PipelineOrigin::File(path) => {
            let base = path.parent().map(Path::to_owned).unwrap_or_default();
            (path.display().to_string(), base)
        }
    };
    let wire: Wire = serde_yaml::from_str(text).map_err(|error| refused(&place, &error))?;
    // serde knows the line of what it refuses itself; of what we refuse, the key says it.
    let wrong = |key: &str, what: String| {
        let line = text
            .lines()
            .position(|line| line.strip_prefix(key).is_some_and(|l| l.starts_with(':')));
        let line = line.map_or(String::new(), |line| format!(":{}", line + 1));
        Error::usage(format!("{place}{line}: {what}")).hinted(MANUAL)
    };
    if let Some(said) = wire.name.as_ref().filter(|said| *said != name) {
        return Err(wrong(
            "name",
            format!("`name: {said}` differs from the file's name"),
        ));
    }
    if wire.jobs == Some(0) {
        return Err(wrong(
            "jobs",
            "`jobs` is 0; leave it out for one per core".into(),
        ));
    }
    let named: Vec<Step> = wire
        .steps
        .iter()
        .map(|word| Step::parse(word))
        .collect::<Result<_, _>>()
        .map_err(|what| wrong("steps", what))?;
    if named.is_empty() {
        return Err(wrong(
            "steps",
            "`steps` is empty; write `steps: [ingest]`".into(),
        ));
    }
    let window = wire.window.map_or(Ok(Window::Configured), window);
    let check = wire.check.meant(&base);
    let tests = wire.tests.into_iter().map(|test| test.meant(&base));
    Ok(Pipeline {
        name: name.to_owned(),
        description: wire.description.unwrap_or_default(),
        steps: steps(named.into_iter()),
        window: window.map_err(|what| wrong("window", what))?,
        jobs: wire.jobs,
        rebuild: wire.rebuild,
        check: check.map_err(|what| wrong("check", what))?,
        tests: tests
            .collect::<Result<_, _>>()
            .map_err(|what| wrong("tests", what))?,
        origin,
    })
}

/// Where all keys are explained.
const MANUAL: &str = "docs/pipelines.md explains every key";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    name: Option<String>,
    description: Option<String>,
    steps: Vec<String>,
    window: Option<Value>,
    jobs: Option<usize>,
    #[serde(default)]
    rebuild: bool,
    #[serde(default)]
    check: WireCheck,
    #[serde(default)]
    tests: Vec<WireExample>,
}

const WINDOW: &str =
    "`window` is `all`, `configured`, `{keep_length_days: 7}` or `{since: 2026-04-01}`";

fn window(value: Value) -> Result<Window, String> {
    let table = match (value.as_str(), &value) {
        (Some("all"), _) => return Ok(Window::All),
        (Some("configured"), _) => return Ok(Window::Configured),
        (None, Value::Mapping(table)) if table.len() == 1 => table,
        _ => return Err(WINDOW.into()),
    };
    match table
        .iter()
        .next()
        .map(|(key, value)| (key.as_str(), value))
    {
        Some((Some("keep_length_days"), value)) => days(value),
        Some((Some("since"), value)) => since(value),
        Some((Some(other), _)) => Err(unknown(other, ["keep_length_days", "since"])),
        _ => Err(WINDOW.into()),
    }
}

fn days(value: &Value) -> Result<Window, String> {
    match (value.is_null(), value.as_u64().map(u32::try_from)) {
        (true, _) => Ok(Window::All),
        (_, Some(Ok(days))) if days > 0 => Ok(Window::Days(days)),
        _ => Err("keep_length_days must be > 0 or null".into()),
    }
}

/// A day begins at its midnight in UTC: a file means the same on every machine.
fn since(value: &Value) -> Result<Window, String> {
    let text = value.as_str().unwrap_or_default();
    Time::parse(text)
        .or_else(|| Time::parse(&format!("{text}T00:00:00Z")))
        .map(Window::Since)
        .ok_or_else(|| "`since` is a day (2026-04-01) or a time (2026-04-01T10:00:00Z)".into())
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct WireCheck {
    home: Option<PathBuf>,
    recorded: Option<PathBuf>,
    now: Option<String>,
    host: Option<String>,
}

impl WireCheck {
    fn meant(self, base: &Path) -> Result<Check, String> {
        let time = |text: String| {
            Time::parse(&text).ok_or("`check.now` is a time like 2026-04-01T10:00:00Z")
        };
        Ok(Check {
            home: self.home.map(|path| base.join(path)),
            recorded: self.recorded.map(|path| base.join(path)),
            now: self.now.map(time).transpose()?,
            host: self.host,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireExample {
    name: String,
    #[serde(default, deserialize_with = "agent")]
    agent: Option<Agent>,
    given: Option<String>,
    given_file: Option<PathBuf>,
    wants: WireWants,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireWants {
    sessions: Option<u64>,
    episodes: Option<u64>,
    #[serde(default)]
    ledger: BTreeMap<Fate, u64>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
}

impl WireExample {
    fn meant(self, base: &Path) -> Result<Example, String> {
        let name = self.name;
        let given = match (self.given, self.given_file) {
            (Some(lines), None) => Given::Lines(lines),
            (None, Some(path)) => Given::File(base.join(path)),
            _ => {
                return Err(format!(
                    "test `{name}` needs either `given` or `given_file`"
                ));
            }
        };
        let wants = Wants {
            sessions: self.wants.sessions,
            episodes: self.wants.episodes,
            ledger: self.wants.ledger,
            contains: self.wants.contains,
            lacks: self.wants.lacks,
        };
        if wants == Wants::default() {
            return Err(format!("test `{name}` wants nothing, so it can't fail"));
        }
        Ok(Example {
            name,
            agent: self.agent.unwrap_or_else(registry::first),
            given,
            wants,
        })
    }
}

/// One of the registry's.
fn agent<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Agent>, D::Error> {
    let word = String::deserialize(from)?;
    let known = registry::by_word(&word).map(Some);
    known.ok_or_else(|| {
        let words: Vec<String> = registry::words()
            .map(|w| format!("`{}`", w.as_str()))
            .collect();
        let words = words.join(" or ");
        D::Error::custom(format!("unknown variant `{word}`, expected {words}"))
    })
}

/// serde says "unknown field `a`, expected one of `b`, `c` at line 3 column 1"; people want
/// "file:3: unknown key `a`" and the nearest of the others.
fn refused(place: &str, error: &serde_yaml::Error) -> Error {
    let place = match error.location() {
        Some(at) => format!("{place}:{}", at.line()),
        None => place.to_owned(),
    };
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let mut words = text.split('`').skip(1).step_by(2);
    let message = match text.contains("unknown field") || text.contains("unknown variant") {
        true => unknown(words.next().unwrap_or_default(), words),
        false => text.to_owned(),
    };
    Error::usage(format!("{place}: {message}")).hinted(MANUAL)
}

fn unknown<'a>(key: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    match nearest(key, valid.iter().copied()) {
        Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
        None => format!("unknown key `{key}`; valid here: {}", valid.join(", ")),
    }
}
