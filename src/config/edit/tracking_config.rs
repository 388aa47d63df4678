//! Which projects are tracked, written into `tracking-config`, keeping what people wrote. Knows one
//! project's entry; the projects themselves aren't looked at.

use super::keys::{Edited, remove, set as set_key};
use crate::config::document::Document;
use crate::config::env::Env;
use crate::config::file_kind::TRACKING;
use crate::config::position::PathStep;
use crate::config::resolved::{check_pattern, file_tracking};
use crate::config::wire::WirePattern;
use crate::model::error::Error;
use crate::model::file::Strategy;
use crate::model::namespace::{namespace, project_root};
use serde_json::{Map, Value, json};
use std::path::Path;

/// What a new project leaves out (004-074).
const IGNORED: [&str; 4] = ["**/.git/**", "**/*.tmp", "**/*.swp", "**/*.log"];

/// Patterns of a project that are added by a command or an agent: each is asked about each file.
const PATTERNS_MAX: usize = 200;

/// A pattern that somebody asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewPattern {
    /// A glob from the project's root.
    pub include: String,
    /// Globs that are left out.
    pub exclude: Vec<String>,
    /// What a change does to the episode before it.
    pub strategy: Strategy,
    /// Larger files are named, not read; `None`: as `defaults` say.
    pub max_file_size_mb: Option<f64>,
    /// What the episodes say they are.
    pub description: Option<String>,
}

/// A project that somebody asks for.
#[derive(Clone, Debug, Default)]
pub struct NewProject<'a> {
    /// Its root, as everywhere.
    pub root: &'a str,
    /// The machine's name.
    pub host: &'a str,
    /// What is added.
    pub patterns: &'a [NewPattern],
    /// The group of its episodes; `None`: as it is.
    pub group: Option<&'a str>,
}

/// Adds patterns to a project and switches it on; a project that has no entry gets one. What is there
/// stays as it is written.
///
/// # Errors
/// A pattern is no glob; else as [`set_enabled`](super::set_enabled).
pub fn add(file: &Path, env: &Env, new: &NewProject<'_>) -> Result<Edited, Error> {
    if new.patterns.len() > PATTERNS_MAX {
        return Err(too_many());
    }
    for new in new.patterns {
        means(&pattern(new))?;
    }
    if env.expand(new.root).ok().as_deref() != Some(new.root) {
        let what = format!("{}: a path with `$` can't be written down", new.root);
        return Err(Error::usage(what));
    }
    let mut edited = Edited::Same;
    let mut set = |key: &'static str, value: &dyn Fn(&Value) -> Value| {
        let wanted = |document: &Value| {
            let name = named(document, env, new.root);
            match name {
                Some(name) => {
                    let old = &document["projects"][&name];
                    (at(&[&name, key]), value(old))
                }
                // the first key writes the whole entry, which the others find
                None => (at(&[&name_for(new)]), entry(new)),
            }
        };
        let proves = |document: &Document| {
            let tracking = file_tracking(document, env)?;
            let mut projects = tracking.projects().iter();
            match projects.find(|project| project.root == new.root) {
                Some(project) if project.tracked.patterns.len() > PATTERNS_MAX => Err(too_many()),
                _ => Ok(()),
            }
        };
        let came = set_key(&TRACKING, file, wanted, &proves)?;
        edited = match (edited, came) {
            (Edited::Same, came) => came,
            (before, _) => before,
        };
        Ok::<(), Error>(())
    };
    set("enabled", &|_| Value::Bool(true))?;
    set("patterns", &|old| {
        let mut all = old["patterns"].as_array().cloned().unwrap_or_default();
        for pattern in new.patterns.iter().map(pattern) {
            if !all.contains(&pattern) {
                all.push(pattern);
            }
        }
        all.into()
    })?;
    if let Some(group) = new.group {
        set("group_id", &|_| group.into())?;
    }
    Ok(edited)
}

/// Switches a project's entry on or off, for good.
///
/// # Errors
/// As [`set_enabled`](super::set_enabled).
pub fn switch(file: &Path, name: &str, on: bool) -> Result<Edited, Error> {
    let wanted = |_: &Value| (at(&[name, "enabled"]), Value::Bool(on));
    set_key(&TRACKING, file, wanted, &|_| Ok(()))
}

/// Takes a project's entry out; `false`: there is none.
///
/// # Errors
/// As [`set_enabled`](super::set_enabled).
pub fn drop_project(file: &Path, name: &str) -> Result<bool, Error> {
    remove(&TRACKING, file, &at(&[name]), &|_| Ok(()))
}

fn at(keys: &[&str]) -> Vec<PathStep> {
    let keys = ["projects"].iter().chain(keys);
    keys.map(|key| PathStep::Key((*key).to_owned())).collect()
}

/// The entry of the project with this root.
fn named(document: &Value, env: &Env, root: &str) -> Option<String> {
    let projects = document["projects"].as_object()?;
    let is_it = |entry: &Value| {
        let written = entry["project_root"].as_str().unwrap_or_default();
        env.expand(written)
            .is_ok_and(|written| project_root(&written) == root)
    };
    let (name, _) = projects.iter().find(|(_, entry)| is_it(entry))?;
    Some(name.clone())
}

/// `<hostname>__<hash>` (004-071).
fn name_for(new: &NewProject<'_>) -> String {
    format!("{}__{}", new.host, namespace(new.root))
}

fn entry(new: &NewProject<'_>) -> Value {
    let patterns: Vec<Value> = new.patterns.iter().map(pattern).collect();
    let mut entry = json!({
        "project_root": new.root,
        "enabled": true,
        "patterns": patterns,
        "ignore_patterns": IGNORED,
    });
    if let Some(group) = new.group {
        entry["group_id"] = group.into();
    }
    entry
}

/// What would be refused when it is read must not be written: settings that can't be read stop everything.
fn means(pattern: &Value) -> Result<(), Error> {
    let include = pattern["include"].as_str().unwrap_or_default();
    let error = |what: &str| Error::usage(format!("`{include}`: {what}"));
    let written: WirePattern =
        serde_json::from_value(pattern.clone()).map_err(|what| error(&what.to_string()))?;
    check_pattern(&written, &|_, what| error(what))
}

fn too_many() -> Error {
    let what = format!("more than {PATTERNS_MAX} patterns of one project");
    Error::usage(what).hinted("one pattern names many files: 'src/**/*.py'")
}

fn pattern(new: &NewPattern) -> Value {
    let mut pattern = Map::new();
    pattern.insert("include".into(), new.include.as_str().into());
    if !new.exclude.is_empty() {
        pattern.insert("exclude".into(), json!(new.exclude));
    }
    pattern.insert("update_strategy".into(), new.strategy.as_str().into());
    if let Some(mb) = new.max_file_size_mb {
        pattern.insert("max_file_size_mb".into(), json!(mb));
    }
    if let Some(description) = &new.description {
        pattern.insert("source_description".into(), description.as_str().into());
    }
    pattern.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn new<'a>(patterns: &'a [NewPattern]) -> NewProject<'a> {
        NewProject {
            root: "/w/app",
            host: "desk",
            patterns,
            group: None,
        }
    }

    fn include(glob: &str) -> NewPattern {
        NewPattern {
            include: glob.into(),
            ..NewPattern::default()
        }
    }

    #[test]
    fn what_people_wrote_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tracking-config.json");
        let env = Env::default();
        assert_eq!(
            add(&file, &env, &new(&[include("*.md")])).unwrap(),
            Edited::Created
        );
        assert_eq!(
            add(&file, &env, &new(&[include("*.md")])).unwrap(),
            Edited::Same
        );
        let by_hand = "{\n  \"version\": \"1.0\",\n  \"projects\": {\n    \"mine\": {\"project_root\": \"/w/app/\",   \"patterns\": [\n      {\"include\":   \"a\"}\n    ]},\n    \"other\": {\"project_root\": \"/x\"}\n  }\n}\n";
        fs::write(&file, by_hand).unwrap();
        assert_eq!(
            add(&file, &env, &new(&[include("b")])).unwrap(),
            Edited::Changed
        );
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("{\"include\":   \"a\"},\n"), "{text}");
        assert!(
            text.contains("\"include\": \"b\"") && text.contains("\"enabled\""),
            "{text}"
        );
        assert!(drop_project(&file, "mine").unwrap());
        assert!(!drop_project(&file, "mine").unwrap());
        let left = fs::read_to_string(&file).unwrap();
        assert!(
            left.contains("\"other\": {\"project_root\": \"/x\"}\n"),
            "{left}"
        );
        assert!(drop_project(&file, "other").unwrap());
    }

    #[test]
    fn yaml_keeps_its_comments() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tracking-config.yaml");
        let env = Env::default();
        fs::write(&file, "# mine\nversion: \"1.0\"\nprojects:\n  app:\n    project_root: /w/app # here\n  other:\n    project_root: /x\n").unwrap();
        assert_eq!(
            add(&file, &env, &new(&[include("**/*.rs")])).unwrap(),
            Edited::Changed
        );
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("# mine") && text.contains("# here") && text.contains("**/*.rs"),
            "{text}"
        );
        assert!(drop_project(&file, "app").unwrap());
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "# mine\nversion: \"1.0\"\nprojects:\n  other:\n    project_root: /x\n"
        );
    }

    #[test]
    fn names_need_not_be_ascii() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tracking-config.yaml");
        fs::write(&file, "projects:\n  été:\n    project_root: /x\n").unwrap();
        let added = add(&file, &Env::default(), &new(&[include("*.md")]));
        assert_eq!(added, Ok(Edited::Changed));
        assert!(drop_project(&file, "été").unwrap());
        assert!(!fs::read_to_string(&file).unwrap().contains("été"));
    }

    #[test]
    fn a_broken_glob_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tracking-config.json");
        let refused = add(&file, &Env::default(), &new(&[include("a[")])).unwrap_err();
        assert!(
            refused.message.contains("`a[` is not a valid glob"),
            "{}",
            refused.message
        );
        assert!(!file.exists());
    }

    #[test]
    fn who_changes_it_at_once_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = &dir.path().join("new/tracking-config.json");
        std::thread::scope(|scope| {
            for n in 0..16 {
                let pattern = include(&format!("{n}/**"));
                scope.spawn(move || add(file, &Env::default(), &new(&[pattern])).unwrap());
            }
        });
        let document = Document::load(file).unwrap().unwrap();
        let all = file_tracking(&document, &Env::default()).unwrap();
        assert_eq!(all.projects()[0].tracked.patterns.len(), 16);
    }

    #[test]
    fn what_would_be_refused_when_it_is_read_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tracking-config.json");
        let env = Env::default();
        add(&file, &env, &new(&[include("*.md")])).unwrap();
        let before = fs::read_to_string(&file).unwrap();
        let long = "a".repeat(2 << 20);
        for glob in ["../x", "/etc/passwd", "", " ", "a/../../b", &long] {
            assert!(add(&file, &env, &new(&[include(glob)])).is_err());
        }
        let negative = NewPattern {
            max_file_size_mb: Some(-1.0),
            ..include("a")
        };
        let empty = NewPattern {
            exclude: vec![String::new()],
            ..include("a")
        };
        for pattern in [negative, empty] {
            assert!(add(&file, &env, &new(&[pattern])).is_err());
        }
        let many: Vec<NewPattern> = (0..150).map(|n| include(&format!("{n}/**"))).collect();
        assert_eq!(add(&file, &env, &new(&many)).unwrap(), Edited::Changed);
        let before_more = fs::read_to_string(&file).unwrap();
        let more: Vec<NewPattern> = (0..150).map(|n| include(&format!("x{n}/**"))).collect();
        assert!(add(&file, &env, &new(&more)).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), before_more);
        assert!(before_more.starts_with(&before[..before.find("*.md").unwrap()]));
    }
}
