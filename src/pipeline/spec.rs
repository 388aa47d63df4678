//! Pipeline files as meant: names resolved, ranges checked; `wire` has them as written. Nothing
//! past this file sees an `Option` that has a default.

mod wire;

pub use wire::parse;

use crate::model::error::Error;
use crate::model::ledger::Fate;
use crate::model::source::Agent;
use crate::model::time::Time;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wire::nearest;

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
    /// Look at what was done to the repositories of tracked projects.
    Track,
    /// Ask a language model, where one is configured, about unknown tools.
    Enrich,
    /// Deliver what waits to the sinks.
    Upload,
    /// Say what happened.
    Report,
}

const DAY_MS: i64 = 86_400_000;

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

impl Window {
    /// The first moment of it, where the settings keep logs for `keep_length_days` (`None`: for
    /// ever); `None`: it has none.
    pub fn first(self, keep_length_days: Option<u32>, now: Time) -> Option<Time> {
        let days = |days: u32| Time(now.0.saturating_sub(i64::from(days) * DAY_MS));
        match self {
            Window::All => None,
            Window::Since(time) => Some(time),
            Window::Days(n) => Some(days(n)),
            Window::Configured => keep_length_days.map(days),
        }
    }
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

/// Names of all pipelines: those that are built in, then the user's own.
fn known(dir: &Path) -> Vec<String> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        name.strip_suffix(".yaml").map(str::to_owned)
    });
    let built_in = EMBEDDED.map(|(known, _)| known.to_owned());
    let mut own: Vec<String> = names.filter(|name| !built_in.contains(name)).collect();
    own.sort_unstable();
    built_in.into_iter().chain(own).collect()
}

fn embedded(name: &str, dir: &Path) -> Result<Pipeline, Error> {
    match EMBEDDED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => parse(name, text, Origin::Embedded),
        None => {
            let known = known(dir);
            let hint = match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write {}", dir.join(format!("{name}.yaml")).display()),
            };
            let all = known.join(", ");
            Err(Error::usage(format!("there is no pipeline `{name}` (known: {all})")).hinted(hint))
        }
    }
}

/// Steps in the order in which they run, each once.
pub fn steps(named: impl Iterator<Item = Step>) -> Vec<Step> {
    let set: std::collections::BTreeSet<Step> = named.collect();
    set.into_iter().collect()
}

impl Step {
    /// Reads a step's name; the error says what to write.
    pub fn parse(word: &str) -> Result<Step, String> {
        match word {
            "ingest" => Ok(Step::Ingest),
            "track" => Ok(Step::Track),
            "enrich" => Ok(Step::Enrich),
            "upload" => Ok(Step::Upload),
            "report" => Ok(Step::Report),
            other => Err(
                match nearest(other, ["ingest", "track", "enrich", "upload", "report"]) {
                    Some(near) => format!("unknown step `{other}`; did you mean `{near}`?"),
                    None => {
                        format!(
                            "unknown step `{other}`; write ingest, track, enrich, upload or report"
                        )
                    }
                },
            ),
        }
    }
}

fn is_name(name: &str) -> bool {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    !name.is_empty() && !name.starts_with('-') && name.chars().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error::ErrorKind;

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
        let all = [
            Step::Ingest,
            Step::Track,
            Step::Enrich,
            Step::Upload,
            Step::Report,
        ];
        assert_eq!(nightly.steps, all);
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
                "x.yaml:1: unknown step `ingets`; did you mean `ingest`?",
            ),
            (
                "steps: []\n",
                "x.yaml:1: `steps` is empty; write `steps: [ingest]`",
            ),
            (
                "steps: [ingest]\njobs: 0\n",
                "x.yaml:2: `jobs` is 0; leave it out for one per core",
            ),
            (
                "name: y\nsteps: [ingest]\n",
                "x.yaml:1: `name: y` differs from the file's name",
            ),
            (
                "steps: [ingest]\nwindow: {keep_length_days: 0}\n",
                "x.yaml:2: keep_length_days must be > 0 or null",
            ),
            (
                "steps: [ingest]\nwindow: {sinse: 2026-04-01}\n",
                "x.yaml:2: unknown key `sinse`; did you mean `since`?",
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
            "x.yaml:2: test `t` wants nothing, so it can't fail"
        );
        let unsourced = "steps: [ingest]\ntests: [{name: t, wants: {episodes: 1}}]\n";
        assert_eq!(
            message(unsourced),
            "x.yaml:2: test `t` needs either `given` or `given_file`"
        );
    }
}
