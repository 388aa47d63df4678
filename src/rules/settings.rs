//! Which settings an edit of a configuration file changes. Knows how JSON, YAML, TOML, INI and
//! `.env` files spell `setting = value` on a line; refuses to parse whole files, because an edit
//! shows only some lines of one.

/// A setting before and after: (setting, old, new).
pub type Change = (String, Option<String>, Option<String>);

/// More: an edit that replaces a whole file fills a summary.
const CHANGES_MAX: usize = 12;

/// Longer values are cut there, in bytes.
const VALUE_BYTES_MAX: usize = 120;

/// Whether the path names a file of settings in a format that is known here; files that programs
/// write to pin versions are none.
pub fn is_known(path: &str) -> bool {
    format(path).is_some()
}

/// What differs between two versions of some lines, in the order of the new ones, then what is no
/// more there; at most a dozen. A setting is named with the sections above it, as far as they are
/// among the lines. Lists, and values over several lines, are passed over.
pub fn changes(path: &str, old: &str, new: &str) -> Vec<Change> {
    let Some(format) = format(path) else {
        return Vec::new();
    };
    let (old, new) = (settings(old, format), settings(new, format));
    let of = |all: &[(String, String)], key: &str| {
        let found = all.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.clone())
    };
    let set = new.iter().filter_map(|(key, value)| {
        let before = of(&old, key);
        (before.as_ref() != Some(value)).then(|| (key.clone(), before, Some(value.clone())))
    });
    let gone = old.iter().filter(|(key, _)| of(&new, key).is_none());
    let gone = gone.map(|(key, value)| (key.clone(), Some(value.clone()), None));
    set.chain(gone).take(CHANGES_MAX).collect()
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
        _ if name == ".env" || name.starts_with(".env.") => Some(Format::Assigned),
        "json" | "jsonc" | "json5" => Some(Format::Json),
        "yaml" | "yml" => Some(Format::Yaml),
        "toml" | "ini" | "cfg" | "conf" | "properties" | "env" | "editorconfig" => {
            Some(Format::Assigned)
        }
        _ => None,
    }
}

/// (setting, value), each once.
fn settings(text: &str, format: Format) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut sections: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let line = line.trim();
        if let (Format::Assigned, Some(name)) = (format, section(line)) {
            sections = vec![(0, name.to_owned())];
            continue;
        }
        let Some((key, value)) = pair(line, format) else {
            continue;
        };
        if format != Format::Assigned {
            sections.retain(|(depth, _)| *depth < indent);
        }
        let opens = matches!(value, "" | "{" | "|" | ">" | "[");
        if opens && format != Format::Assigned {
            sections.push((indent, key.to_owned()));
            continue;
        }
        let names = sections.iter().map(|(_, name)| name.as_str());
        let setting = names.chain([key]).collect::<Vec<_>>().join(".");
        if all.iter().all(|(known, _)| *known != setting) {
            all.push((setting, shortened(value)));
        }
    }
    all
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
    let sign = if format == Format::Assigned { '=' } else { ':' };
    let (key, value) = line.split_once(sign).filter(|_| !comment)?;
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
            .map(|(key, old, new)| {
                format!(
                    "{key}: {} → {}",
                    old.unwrap_or_else(none),
                    new.unwrap_or_else(none)
                )
            })
            .collect()
    }

    #[test]
    fn each_format_tells_what_changed_and_where() {
        for (path, old, new, wants) in [
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
            ("a.yaml", "# port: 1\nport: 1", "# port: 2\nport: 1", ""),
            ("a.yaml", "- one\n- two", "- one\n- three", ""),
            ("main.rs", "a = 1", "a = 2", ""),
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
                .all(|(_, _, v)| v.as_ref().is_some_and(|v| v.len() < 130))
        );
    }
}
