//! Which settings an edit of a configuration file changes. Knows how JSON, YAML, TOML, INI and
//! `.env` files spell `setting = value` on a line; refuses to parse whole files, because an edit
//! shows only some lines of one.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A setting before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSetting {
    /// With the sections above it.
    pub setting: String,
    /// Absent where it is new.
    pub old: Option<String>,
    /// Absent where it is gone.
    pub new: Option<String>,
    /// What it is called now, where only its name changed; or that of a section with all that is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
}

/// More: an edit that replaces a whole file fills a summary.
const CHANGES_MAX: usize = 12;

/// Longer values are cut there, in bytes.
const VALUE_BYTES_MAX: usize = 120;

/// Whether the path names a file of settings in a format that is known here; files that programs
/// write to pin versions are none.
pub fn is_known(path: &str) -> bool {
    format(path).is_some()
}

/// What differs between two versions of some lines: what got another name, then the rest in the order
/// of the new ones, then what is no more there; at most a dozen. A setting is named with the sections
/// above it, as far as they are among the lines. Lists, and values over several lines, are passed over, as is what came
/// with an element of a list in YAML, or went from one: the name of a step is no setting of the file.
pub fn changes(path: &str, old: &str, new: &str) -> Vec<ChangedSetting> {
    let Some(format) = format(path) else {
        return Vec::new();
    };
    let (mut old, new) = (settings(old, format), settings(new, format));
    let mut all: Vec<ChangedSetting> = renamed_sections(&mut old, &new);
    let (in_old, with_new) = (old.in_elements(), new.elements_beside(&old));
    let (sections, old, new) = (&new.sections, &old.values, &new.values);
    let (mut set, mut gone) = (Vec::new(), Vec::new());
    for key in keys(new) {
        let (was, now) = (values(old, key), values(new, key));
        let lost: Vec<&str> = was.iter().copied().filter(|v| !now.contains(v)).collect();
        let own: Vec<&str> = now.iter().copied().filter(|v| !was.contains(v)).collect();
        match (lost.as_slice(), own.as_slice()) {
            ([was], [now]) => set.push(changed(key, Some(was), Some(now))),
            // of several elements of a list some came, or went
            ([], own) => {
                let own = own.iter().filter(|now| !with_new.contains(&(key, **now)));
                set.extend(own.map(|now| changed(key, None, Some(now))));
            }
            (lost, []) => {
                let lost = lost.iter().filter(|was| !in_old.contains(&(key, **was)));
                gone.extend(lost.map(|was| changed(key, Some(was), None)));
            }
            // nobody can say which took the place of which
            _ => {}
        }
    }
    // what is a list or goes over several lines now isn't gone
    let is_gone =
        |key: &&str| values(new, key).is_empty() && !sections.iter().any(|section| section == key);
    for key in keys(old).filter(is_gone) {
        let lost = values(old, key).into_iter();
        let lost = lost.filter(|was| !in_old.contains(&(key, *was)));
        gone.extend(lost.map(|was| changed(key, Some(was), None)));
    }
    all.extend(renamed_settings(&mut gone, &mut set));
    call_by_old_names(&mut gone, &all);
    all.append(&mut set);
    all.append(&mut gone);
    all.truncate(CHANGES_MAX);
    all
}

/// What went with a section's old name is told by that.
fn call_by_old_names(gone: &mut [ChangedSetting], renamed: &[ChangedSetting]) {
    for change in gone {
        let below = |section: &ChangedSetting| {
            let now = section.renamed.as_deref()?;
            let rest = change.setting.strip_prefix(now)?.strip_prefix('.')?;
            Some(format!("{}.{rest}", section.setting))
        };
        if let Some(old) = renamed.iter().find_map(below) {
            change.setting = old;
        }
    }
}

/// In order, each once.
fn keys(all: &[(String, String)]) -> impl Iterator<Item = &str> {
    let first = |(nth, (key, _)): &(usize, &(String, String))| {
        all[..*nth].iter().all(|(known, _)| known != key)
    };
    let each = all.iter().enumerate().filter(first);
    each.map(|(_, (key, _))| key.as_str())
}

/// What a setting is set to: several times where elements of a list have it.
fn values<'a>(all: &'a [(String, String)], key: &str) -> Vec<&'a str> {
    let own = all.iter().filter(|(known, _)| known == key);
    own.map(|(_, value)| value.as_str()).collect()
}

fn changed(setting: &str, old: Option<&str>, new: Option<&str>) -> ChangedSetting {
    ChangedSetting {
        setting: setting.to_owned(),
        old: old.map(str::to_owned),
        new: new.map(str::to_owned),
        renamed: None,
    }
}

/// Sections that another one took the place of: of each parent the only one that is gone and the only
/// new one, with something of what was in it, where anything is shown of either. What is in them is
/// called by the new name from now on.
fn renamed_sections(old: &mut Settings, new: &Settings) -> Vec<ChangedSetting> {
    let only_in = |own: &Settings, other: &Settings| -> Vec<String> {
        let sections = own.sections.iter();
        let only = sections.filter(|name| !other.sections.contains(name));
        only.cloned().collect()
    };
    let (gone, set) = (only_in(old, new), only_in(new, old));
    let mut renamed = Vec::new();
    for name in &gone {
        let beside = |other: &&String| parent(other) == parent(name);
        let mut others = set.iter().filter(beside);
        if let (Some(now), None, 1) = (
            others.next(),
            others.next(),
            gone.iter().filter(beside).count(),
        ) && is_same_inside(old, name, new, now)
        {
            for (key, _) in &mut old.values {
                let inside = key.strip_prefix(name.as_str());
                if let Some(rest) = inside.filter(|rest| rest.starts_with('.')) {
                    *key = format!("{now}{rest}");
                }
            }
            renamed.push(rename(name, now, None));
        }
    }
    renamed
}

/// Something that both have, or nothing in either.
fn is_same_inside(old: &Settings, was: &str, new: &Settings, now: &str) -> bool {
    let inside = |all: &Settings, name: &str| -> Vec<(String, String)> {
        let values = all.values.iter().filter_map(|(key, value)| {
            let rest = key.strip_prefix(name)?.strip_prefix('.')?;
            Some((rest.to_owned(), value.clone()))
        });
        values.collect()
    };
    let (old, new) = (inside(old, was), inside(new, now));
    old.is_empty() && new.is_empty() || old.iter().any(|pair| new.contains(pair))
}

/// Settings that are gone and stand under another name beside where they were, with the same value;
/// taken out of both lists.
fn renamed_settings(
    gone: &mut Vec<ChangedSetting>,
    set: &mut Vec<ChangedSetting>,
) -> Vec<ChangedSetting> {
    let mut renamed = Vec::new();
    gone.retain(|was| {
        let is_it = |now: &ChangedSetting| {
            now.old.is_none() && now.new == was.old && parent(&now.setting) == parent(&was.setting)
        };
        let mut matching = set.iter().enumerate().filter(|(_, now)| is_it(now));
        let (Some((at, _)), None) = (matching.next(), matching.next()) else {
            return true;
        };
        let now = set.remove(at);
        renamed.push(rename(&was.setting, &now.setting, was.old.clone()));
        false
    });
    renamed
}

fn rename(was: &str, now: &str, value: Option<String>) -> ChangedSetting {
    ChangedSetting {
        setting: was.to_owned(),
        old: value.clone(),
        new: value,
        renamed: Some(now.to_owned()),
    }
}

/// The sections above a setting or a section.
fn parent(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(above, _)| above)
}

/// They end like settings.
const LOCKS: [&str; 3] = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"];

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Json,
    Yaml,
    /// TOML, INI, `.env`: `[sections]` and `=`.
    Assigned,
}

fn format(path: &str) -> Option<Format> {
    let name = path.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    let end = name.rsplit('.').next()?;
    match end {
        _ if LOCKS.contains(&name.as_str()) => None,
        // a schema says what may be set
        "json" if name.contains("schema") => None,
        _ if name == ".env" || name.starts_with(".env.") => Some(Format::Assigned),
        "json" | "jsonc" | "json5" => Some(Format::Json),
        "yaml" | "yml" => Some(Format::Yaml),
        "toml" | "ini" | "cfg" | "conf" | "properties" | "env" | "editorconfig" => {
            Some(Format::Assigned)
        }
        _ => None,
    }
}

/// What some lines set.
#[derive(Default)]
struct Settings {
    /// (setting, value), each pair once.
    values: Vec<(String, String)>,
    /// Each once.
    sections: Vec<String>,
    /// In YAML the line that each element of a list begins with, and which of `values` stand in it.
    elements: BTreeMap<String, Vec<usize>>,
}

fn settings(text: &str, format: Format) -> Settings {
    let mut all = Settings::default();
    let mut sections: Vec<(usize, String)> = Vec::new();
    let mut element = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let line = line.trim();
        if format == Format::Yaml && !line.is_empty() {
            // what stands deeper than its mark is of the element
            element = element.filter(|(depth, _)| *depth < indent);
            if line.starts_with("- ") && element.is_none() {
                all.elements.entry(line.to_owned()).or_default();
                element = Some((indent, line));
            }
        }
        if let (Format::Assigned, Some(name)) = (format, section(line)) {
            sections = vec![(0, name.to_owned())];
            all.note_section(name.to_owned());
            continue;
        }
        let Some((key, value)) = pair(line, format) else {
            continue;
        };
        if format != Format::Assigned {
            sections.retain(|(depth, _)| *depth < indent);
        }
        let names = sections.iter().map(|(_, name)| name.as_str());
        let setting = names.chain([key]).collect::<Vec<_>>().join(".");
        let opens = matches!(
            value,
            "" | "{" | "[" | "|" | "|-" | "|+" | ">" | ">-" | ">+"
        );
        if opens && format != Format::Assigned {
            sections.push((indent, key.to_owned()));
            all.note_section(setting);
        } else {
            let value = (setting, shortened(value));
            if !all.values.contains(&value) {
                if let Some((_, begins)) = element {
                    let own = all.elements.get_mut(begins);
                    own.into_iter().for_each(|own| own.push(all.values.len()));
                }
                all.values.push(value);
            }
        }
    }
    all
}

impl Settings {
    /// What stands in elements that the other version doesn't have.
    fn elements_beside(&self, other: &Settings) -> Vec<(&str, &str)> {
        self.of_elements(|begins| !other.elements.contains_key(begins))
    }

    /// What stands in elements: others, which no line shows, may set the same.
    fn in_elements(&self) -> Vec<(&str, &str)> {
        self.of_elements(|_| true)
    }

    fn of_elements(&self, counts: impl Fn(&str) -> bool) -> Vec<(&str, &str)> {
        let own = self.elements.iter();
        let own = own.filter(|(begins, _)| counts(begins));
        let values = own.flat_map(|(_, values)| values);
        let pair = |nth: &usize| {
            let (key, value) = &self.values[*nth];
            (key.as_str(), value.as_str())
        };
        values.map(pair).collect()
    }

    fn note_section(&mut self, name: String) {
        if !self.sections.contains(&name) {
            self.sections.push(name);
        }
    }
}

fn section(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.split(']').next()?;
    Some(name.trim_start_matches('['))
}

/// `key = value` on one line, without quotes around either and the comma after it.
fn pair(line: &str, format: Format) -> Option<(&str, &str)> {
    let comment = ["#", "//", ";", "/*"]
        .iter()
        .any(|mark| line.starts_with(mark));
    let (key, value) = match format {
        Format::Assigned => line.split_once('='),
        Format::Json => line.split_once(':'),
        // `8080:80` is a value
        Format::Yaml => match line.split_once(": ") {
            Some(pair) => Some(pair),
            None => line.strip_suffix(':').map(|key| (key, "")),
        },
    }
    .filter(|_| !comment)?;
    let key = key
        .trim()
        .trim_start_matches("export ")
        .trim_start_matches("- ");
    let quoted = |text: &str| text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    let plain = |c: char| c.is_alphanumeric() || "_-.$@/ ".contains(c);
    let named = match format {
        Format::Json => quoted(key),
        _ => !key.is_empty() && key.trim_matches(['"', '\'']).chars().all(plain),
    };
    let value = value.trim();
    let value = if format == Format::Json {
        value.trim_end_matches(',')
    } else {
        value
    };
    named.then(|| (bare(key), bare(value)))
}

fn bare(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote)) {
            return inner;
        }
    }
    text
}

fn shortened(value: &str) -> String {
    match value.len() > VALUE_BYTES_MAX {
        true => format!("{}…", &value[..value.floor_char_boundary(VALUE_BYTES_MAX)]),
        false => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, old: &str, new: &str) -> Vec<String> {
        let none = || "(none)".to_owned();
        changes(path, old, new)
            .into_iter()
            .map(|change| match change.renamed {
                Some(now) => format!("{} is {now}", change.setting),
                None => format!(
                    "{}: {} → {}",
                    change.setting,
                    change.old.unwrap_or_else(none),
                    change.new.unwrap_or_else(none)
                ),
            })
            .collect()
    }

    /// File, old lines, new lines, what changed.
    const CHANGED: &[(&str, &str, &str, &str)] = &[
        (
            "tsconfig.json",
            "\"strict\": false,\n",
            "\"strict\": true,\n",
            "strict: false → true",
        ),
        (
            "app.json",
            "{\n  \"db\": {\n    \"pool\": 5\n  }\n}",
            "{\n  \"db\": {\n    \"pool\": 10,\n    \"host\": \"x\"\n  }\n}",
            "db.pool: 5 → 10; db.host: (none) → x",
        ),
        (
            "docker-compose.yml",
            "services:\n  db:\n    image: postgres:15\n",
            "services:\n  db:\n    image: postgres:16\n",
            "services.db.image: postgres:15 → postgres:16",
        ),
        (
            "Cargo.toml",
            "[profile.dev]\nopt-level = 0",
            "[profile.dev]\nopt-level = 1",
            "profile.dev.opt-level: 0 → 1",
        ),
        (
            ".env",
            "PORT=1\nA=b",
            "PORT=2",
            "PORT: 1 → 2; A: b → (none)",
        ),
        (
            ".env.local",
            "",
            "export MODE='fast'",
            "MODE: (none) → fast",
        ),
        (
            "setup.cfg",
            "[a]\nx=1\n[b]\nx=1",
            "[a]\nx=1\n[b]\nx=2",
            "b.x: 1 → 2",
        ),
        (
            "a.yml",
            "ports:\n  - \"8080:80\"\n  - ./src:/src",
            "ports:\n  - \"80:80\"",
            "",
        ),
        (
            "a.yml",
            "with:\n  globs: a/*.md",
            "with:\n  globs: |\n    a/*.md\n    a/*.mdx",
            "",
        ),
        ("a.yaml", "# port: 1\nport: 1", "# port: 2\nport: 1", ""),
        (
            ".claude/settings.json",
            "{\n\"command\": \"go run .\"\n}",
            "{\n\"command\": \"setup.sh\"\n},\n{\n\"command\": \"go run .\"\n}",
            "command: (none) → setup.sh",
        ),
        (
            "a.json",
            "\"to\": \"a\"\n\"to\": \"b\"",
            "\"to\": \"b\"",
            "to: a → (none)",
        ),
        ("a.yaml", "- one\n- two", "- one\n- three", ""),
        (
            "release.yml",
            "steps:\n  - name: Pack\n    run: pack\n    with: a",
            "steps:\n  - name: Sign\n    run: sign\n    shell: sh\n  - name: Pack\n    run: pack\n    with: b\nlevel: 9",
            "steps.with: a → b; level: (none) → 9",
        ),
        (
            "deploy.yml",
            "- name: Look\n  env:\n    HOST: a\n  run: b",
            "- name: Look\n  env:\n    DOMAIN: c\n  run: b",
            "env.DOMAIN: (none) → c",
        ),
        (
            "release.yml",
            "casks:\n  - name: shop\n    url: a",
            "casks:\n  - name: shop\n    url: a\n    sums:\n      bash: b",
            "casks.sums.bash: (none) → b",
        ),
        ("main.rs", "a = 1", "a = 2", ""),
    ];

    #[test]
    fn each_format_tells_what_changed_and_where() {
        for (path, old, new, wants) in CHANGED {
            assert_eq!(told(path, old, new).join("; "), *wants, "{path}");
        }
    }

    #[test]
    fn what_got_another_name_is_no_other_setting() {
        for (path, old, new, wants) in [
            (
                "docker-compose.yml",
                "services:\n  db:\n    image: pg\n    port: 1",
                "services:\n  database:\n    image: pg\n    port: 2",
                "services.db is services.database; services.database.port: 1 → 2",
            ),
            (
                "a.yml",
                "db:\n  image: pg\n  license: MIT",
                "store:\n  image: pg\n  folder: x",
                "db is store; store.folder: (none) → x; db.license: MIT → (none)",
            ),
            (
                "a.yml",
                "timeout: 5\nsize: 1",
                "wait: 5\nsize: 2",
                "timeout is wait; size: 1 → 2",
            ),
            ("a.yml", "old:", "new:", "old is new"),
            (
                "docker-compose.yml",
                "services:\n  cache:\n    image: redis",
                "services:\n  db:\n    image: pg",
                "services.db.image: (none) → pg; services.cache.image: redis → (none)",
            ),
            ("Cargo.toml", "[a]\nx = 1", "[b]\nx = 1", "a is b"),
            (
                "a.yml",
                "a: true\n",
                "b: true\nc: true\n",
                "b: (none) → true; c: (none) → true; a: true → (none)",
            ),
        ] {
            assert_eq!(told(path, old, new).join("; "), wants, "{path}");
        }
    }

    #[test]
    fn only_files_of_settings_are_known() {
        for (path, wants) in [
            ("/p/.env", true),
            ("tsconfig.json", true),
            ("docker-compose.yml", true),
            ("Cargo.toml", true),
            ("src/main.rs", false),
            ("web/package-lock.json", false),
            ("themes/shop-schema.json", false),
        ] {
            assert_eq!(is_known(path), wants, "{path}");
        }
    }

    #[test]
    fn long_lists_and_values_are_cut() {
        let new: String = (0..50)
            .map(|n| format!("k{n}={}\n", "v".repeat(500)))
            .collect();
        let found = changes(".env", "", &new);
        assert_eq!(found.len(), CHANGES_MAX);
        assert!(
            found
                .iter()
                .all(|change| change.new.as_ref().is_some_and(|v| v.len() < 130))
        );
    }
}
