//! Pipeline files as meant: names resolved, ranges checked; `wire` has them as written. Nothing
//! past this file sees an `Option` that has a default.

mod pipeline;
mod wire;

pub use pipeline::{Check, Example, Given, Pipeline, PipelineOrigin, Step, Wants, Window, steps};
pub use wire::parse;

use crate::model::choice::nearest;
use crate::model::error::Error;
use std::path::Path;

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
        let message = format!("`{name}` is not a pipeline name: use a-z, 0-9, - and _");
        return Err(Error::usage(message).hinted("sessionmill run --help"));
    }
    let path = dir.join(format!("{name}.yaml"));
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(name, &text, PipelineOrigin::File(path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => embedded(name, dir),
        Err(error) => Err(Error::usage(format!("{}: {error}", path.display()))),
    }
}

/// Names of all pipelines: those that are built in, then the user's own.
pub fn known(dir: &Path) -> Vec<String> {
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
        Some((_, text)) => parse(name, text, PipelineOrigin::Embedded),
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

fn is_name(name: &str) -> bool {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    !name.is_empty() && !name.starts_with('-') && name.chars().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error::ErrorKind;
    use crate::model::time::Time;

    fn message(text: &str) -> String {
        parse("x", text, PipelineOrigin::File("x.yaml".into()))
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
            parse("x", &text, PipelineOrigin::Embedded).unwrap().window
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
