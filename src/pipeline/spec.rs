//! Pipeline files: as written (YAML, every key optional but the steps) and as meant (names resolved,
//! ranges checked). Nothing past this file sees an `Option` that has a default; refuses to know how
//! a step works.

use crate::model::error::{Error, ErrorKind};
use crate::model::ledger::Fate;
use crate::model::source::Agent;
use crate::model::time::Time;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A pipeline as meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// What `run NAME` calls it: lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// One sentence for people.
    pub description: String,
    /// In the order in which they run; never empty, no step twice.
    pub steps: Vec<Step>,
    /// Which logs.
    pub window: Window,
    /// Worker threads; `None`: one per core.
    pub jobs: Option<usize>,
    /// Derive everything again whose log still exists.
    pub rebuild: bool,
    /// What `run --check` indexes and compares.
    pub check: Check,
    /// Small examples that `run --check` and `make test` run.
    pub tests: Vec<Example>,
    /// Where it is written.
    pub origin: Origin,
}

/// What a run does; each can be run alone and repeated at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Discover, parse, filter, chunk, store.
    Ingest,
    /// Say what happened.
    Report,
}

/// Which logs a run looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// As the configuration's `session_tracking.keep_length_days` says.
    Configured,
    /// Modified within so many days.
    Days(u32),
    /// Modified since.
    Since(Time),
    /// All of them.
    All,
}

/// What `run --check` indexes into a throw-away store, and what the result is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Logs are looked for in this home, with default settings; `None`: the configured places.
    pub home: Option<PathBuf>,
    /// The recorded result; `None`: `recorded/<pipeline>.txt` in our folder.
    pub recorded: Option<PathBuf>,
    /// What time it is.
    pub now: Option<Time>,
    /// Which machine this is.
    pub host: Option<String>,
}

/// One `tests:` entry: log lines and what has to come of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// A sentence.
    pub name: String,
    /// Whose log the lines are.
    pub agent: Agent,
    /// The log file's bytes.
    pub given: Given,
    /// What must be true of the store afterwards.
    pub wants: Wants,
}

/// Where an example's log comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// It stands in the pipeline file.
    Lines(String),
    /// A file; relative paths start at the pipeline file's directory, for embedded pipelines at the
    /// working directory.
    File(PathBuf),
}

/// What must be true after an example ran. What isn't named isn't compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Sessions in the store.
    pub sessions: Option<u64>,
    /// Episodes in the store.
    pub episodes: Option<u64>,
    /// Lines per fate; fates that aren't named may have any number.
    pub ledger: BTreeMap<Fate, u64>,
    /// Each stands in some episode's text.
    pub contains: Vec<String>,
    /// None stands in any episode's text.
    pub lacks: Vec<String>,
}

/// Where a pipeline is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In this program.
    Embedded,
    /// In a file of the user's.
    File(PathBuf),
}

/// The pipelines that this program brings along, with their text, in the order of `run --help`.
pub const EMBEDDED: [(&str, &str); 3] = [
    ("nightly", include_str!("../../pipelines/nightly.yaml")),
    ("backfill", include_str!("../../pipelines/backfill.yaml")),
    ("ci", include_str!("../../pipelines/ci.yaml")),
];

/// Steps that later versions bring.
const LATER: [&str; 2] = ["enrich", "upload"];

/// Finds a pipeline by name: the user's `<dir>/<name>.yaml`, else the embedded one.
///
/// Absent, unreadable and malformed ones are usage errors that name the file and what to write.
pub fn load(name: &str, dir: &Path) -> Result<Pipeline, Error> {
    if !is_name(name) {
        let message = format!("`{name}` is no pipeline name: use a-z, 0-9, - and _");
        return Err(Error::usage(message).hinted("sessionmill run --help"));
    }
    let path = dir.join(format!("{name}.yaml"));
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(name, &text, Origin::File(path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => embedded(name, dir),
        Err(error) => Err(Error::usage(format!("{}: {error}", path.display()))),
    }
}

fn embedded(name: &str, dir: &Path) -> Result<Pipeline, Error> {
    match EMBEDDED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => parse(name, text, Origin::Embedded),
        None => {
            let known = EMBEDDED.map(|(known, _)| known);
            let hint = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write {}", dir.join(format!("{name}.yaml")).display()),
            };
            let all = known.join(", ");
            Err(Error::usage(format!("there is no pipeline `{name}` (known: {all})")).hinted(hint))
        }
    }
}

/// Reads a pipeline. Errors name the file, the line and the nearest word that is valid there.
pub fn parse(name: &str, text: &str, origin: Origin) -> Result<Pipeline, Error> {
    let place = match &origin {
        Origin::Embedded => format!("pipelines/{name}.yaml"),
        Origin::File(path) => path.display().to_string(),
    };
    let wire: Wire = serde_yaml::from_str(text).map_err(|error| refused(&place, &error))?;
    let wrong = |what: String| Error::usage(format!("{place}: {what}"));
    if let Some(said) = wire.name.as_ref().filter(|said| *said != name) {
        return Err(wrong(format!(
            "`name: {said}` differs from the file's name"
        )));
    }
    if wire.steps.is_empty() {
        return Err(wrong("`steps` is empty; write `steps: [ingest]`".into()));
    }
    if wire.jobs == Some(0) {
        return Err(wrong("`jobs` is 0; leave it out for one per core".into()));
    }
    let base = match &origin {
        Origin::Embedded => PathBuf::new(),
        Origin::File(path) => path.parent().map(Path::to_owned).unwrap_or_default(),
    };
    let tests = wire.tests.into_iter().map(|test| test.meant(&base));
    let tests = tests.collect::<Result<_, _>>().map_err(wrong)?;
    Ok(Pipeline {
        name: name.to_owned(),
        description: wire.description.unwrap_or_default(),
        steps: steps(wire.steps.iter().map(|step| step.0)),
        window: wire.window.unwrap_or(WireWindow(Window::Configured)).0,
        jobs: wire.jobs,
        rebuild: wire.rebuild,
        check: wire.check.meant(&base),
        tests,
        origin,
    })
}

/// Steps in the order in which they run, each once.
pub fn steps(named: impl Iterator<Item = Step>) -> Vec<Step> {
    let set: std::collections::BTreeSet<Step> = named.collect();
    set.into_iter().collect()
}

impl Step {
    /// Reads a step's name; the error says what to write, or that it comes later.
    pub fn parse(word: &str) -> Result<Step, String> {
        match word {
            "ingest" => Ok(Step::Ingest),
            "report" => Ok(Step::Report),
            later if LATER.contains(&later) => {
                Err(format!("the step `{later}` comes with a later version"))
            }
            other => Err(match nearest(other, ["ingest", "report"]) {
                Some(near) => format!("unknown step `{other}`; did you mean `{near}`?"),
                None => format!("unknown step `{other}`; write ingest or report"),
            }),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    name: Option<String>,
    description: Option<String>,
    steps: Vec<WireStep>,
    window: Option<WireWindow>,
    jobs: Option<usize>,
    #[serde(default)]
    rebuild: bool,
    #[serde(default)]
    check: WireCheck,
    #[serde(default)]
    tests: Vec<WireExample>,
}

struct WireStep(Step);

impl<'de> Deserialize<'de> for WireStep {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        Step::parse(&word)
            .map(WireStep)
            .map_err(serde::de::Error::custom)
    }
}

/// `all`, `configured`, `{keep_length_days: 7}` (`null` = all) or `{since: 2026-04-01}`.
struct WireWindow(Window);

#[derive(Deserialize)]
#[serde(untagged)]
enum WindowShape {
    Word(String),
    Table(BTreeMap<String, serde_yaml::Value>),
}

impl<'de> Deserialize<'de> for WireWindow {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let shape = WindowShape::deserialize(from).map_err(|_| serde::de::Error::custom(WINDOW))?;
        window(shape)
            .map(WireWindow)
            .map_err(serde::de::Error::custom)
    }
}

const WINDOW: &str =
    "`window` is `all`, `configured`, `{keep_length_days: 7}` or `{since: 2026-04-01}`";

fn window(shape: WindowShape) -> Result<Window, String> {
    let table = match shape {
        WindowShape::Word(word) if word == "all" => return Ok(Window::All),
        WindowShape::Word(word) if word == "configured" => return Ok(Window::Configured),
        WindowShape::Word(_) => return Err(WINDOW.into()),
        WindowShape::Table(table) => table,
    };
    let mut pairs = table.into_iter();
    match (pairs.next(), pairs.next()) {
        (Some((key, value)), None) => match key.as_str() {
            "keep_length_days" => days(&value),
            "since" => since(&value),
            other => Err(unknown(other, ["keep_length_days", "since"])),
        },
        _ => Err(WINDOW.into()),
    }
}

fn days(value: &serde_yaml::Value) -> Result<Window, String> {
    match (value.is_null(), value.as_u64().map(u32::try_from)) {
        (true, _) => Ok(Window::All),
        (_, Some(Ok(days))) if days > 0 => Ok(Window::Days(days)),
        _ => Err("keep_length_days must be > 0 or null".into()),
    }
}

/// A day begins at its midnight in UTC: a file means the same on every machine.
fn since(value: &serde_yaml::Value) -> Result<Window, String> {
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
    now: Option<WireTime>,
    host: Option<String>,
}

impl WireCheck {
    fn meant(self, base: &Path) -> Check {
        Check {
            home: self.home.map(|path| base.join(path)),
            recorded: self.recorded.map(|path| base.join(path)),
            now: self.now.map(|time| time.0),
            host: self.host,
        }
    }
}

struct WireTime(Time);

impl<'de> Deserialize<'de> for WireTime {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = || serde::de::Error::custom("`now` is a time like 2026-04-01T10:00:00Z");
        Time::parse(&text).map(WireTime).ok_or_else(wrong)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireExample {
    name: String,
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
        let given = match (self.given, self.given_file) {
            (Some(lines), None) => Given::Lines(lines),
            (None, Some(path)) => Given::File(base.join(path)),
            _ => {
                let name = self.name;
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
            return Err(format!(
                "test `{}` wants nothing, so it can't fail",
                self.name
            ));
        }
        Ok(Example {
            name: self.name,
            agent: self.agent.unwrap_or(Agent::Claude),
            given,
            wants,
        })
    }
}

fn is_name(name: &str) -> bool {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    !name.is_empty() && !name.starts_with('-') && name.chars().all(known)
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
    Error::new(ErrorKind::Usage, format!("{place}: {message}")).hinted("docs/pipelines.md")
}

fn unknown<'a>(key: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    match nearest(key, valid.iter().copied()) {
        Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
        None => format!("unknown key `{key}`; valid here: {}", valid.join(", ")),
    }
}

fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = valid
        .into_iter()
        .map(|v| (strsim::jaro_winkler(word, v), v));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score > 0.75).map(|(_, v)| v)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse("x", text, Origin::File("x.yaml".into()))
            .unwrap_err()
            .message
    }

    #[test]
    fn the_embedded_pipelines_mean_what_they_are_called() {
        let none = Path::new("/nonexistent");
        let nightly = load("nightly", none).unwrap();
        assert_eq!(nightly.window, Window::Configured);
        assert_eq!(nightly.steps, [Step::Ingest, Step::Report]);
        assert_eq!(load("backfill", none).unwrap().window, Window::All);
        let ci = load("ci", none).unwrap();
        assert!(ci.check.now.is_some() && ci.check.host.is_some() && ci.check.home.is_some());
        assert_eq!(ci.window, Window::All);
        for (name, _) in EMBEDDED {
            assert!(!load(name, none).unwrap().description.is_empty(), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_the_nearest_word() {
        for (given, wants) in [
            (
                "steps: [ingest]\nwindo: all\n",
                "x.yaml:2: unknown key `windo`; did you mean `window`?",
            ),
            (
                "steps: [ingets]\n",
                "x.yaml:1: steps: unknown step `ingets`; did you mean `ingest`?",
            ),
            (
                "steps: [ingest, upload]\n",
                "x.yaml:1: steps: the step `upload` comes with a later version",
            ),
            (
                "steps: []\n",
                "x.yaml: `steps` is empty; write `steps: [ingest]`",
            ),
            (
                "steps: [ingest]\njobs: 0\n",
                "x.yaml: `jobs` is 0; leave it out for one per core",
            ),
            (
                "name: y\nsteps: [ingest]\n",
                "x.yaml: `name: y` differs from the file's name",
            ),
            (
                "steps: [ingest]\nwindow: {keep_length_days: 0}\n",
                "x.yaml:2: window: keep_length_days must be > 0 or null",
            ),
            (
                "steps: [ingest]\nwindow: {sinse: 2026-04-01}\n",
                "x.yaml:2: window: unknown key `sinse`; did you mean `since`?",
            ),
            (
                "steps: [ingest]\ncheck:\n  hots: a\n",
                "x.yaml:3: unknown key `hots`; did you mean `host`?",
            ),
        ] {
            assert_eq!(message(given), wants);
        }
    }

    #[test]
    fn windows_in_all_their_spellings() {
        let window = |text: &str| {
            let text = format!("steps: [ingest]\nwindow: {text}\n");
            parse("x", &text, Origin::Embedded).unwrap().window
        };
        let april = Time::parse("2026-04-01T00:00:00Z").unwrap();
        assert_eq!(window("all"), Window::All);
        assert_eq!(window("{keep_length_days: null}"), Window::All);
        assert_eq!(window("{keep_length_days: 30}"), Window::Days(30));
        assert_eq!(window("{since: 2026-04-01}"), Window::Since(april));
        assert_eq!(window("configured"), Window::Configured);
    }

    #[test]
    fn a_users_file_hides_the_embedded_one_and_its_paths_are_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let text = "steps: [report, ingest, ingest]\ncheck: {home: logs}\n";
        std::fs::write(dir.path().join("nightly.yaml"), text).unwrap();
        let mine = load("nightly", dir.path()).unwrap();
        assert_eq!(mine.steps, [Step::Ingest, Step::Report]);
        assert_eq!(mine.check.home, Some(dir.path().join("logs")));
        let error = load("nightyl", dir.path()).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean `nightly`?"));
        assert_eq!(load("../x", dir.path()).unwrap_err().kind, ErrorKind::Usage);
    }

    #[test]
    fn a_test_that_cannot_fail_is_refused() {
        let empty = "steps: [ingest]\ntests: [{name: t, given: '', wants: {}}]\n";
        assert_eq!(
            message(empty),
            "x.yaml: test `t` wants nothing, so it can't fail"
        );
        let unsourced = "steps: [ingest]\ntests: [{name: t, wants: {episodes: 1}}]\n";
        assert_eq!(
            message(unsourced),
            "x.yaml: test `t` needs either `given` or `given_file`"
        );
    }
}
