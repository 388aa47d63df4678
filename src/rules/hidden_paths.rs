//! Where a project's place on the disk and its user's name are taken out of what a log tells
//! (`include_project_path: false`).
//!
//! Two steps, because a path has to stay a path until everything is read off it: while a log is read,
//! the project stands at [`PLACE`] ([`PathHider::placed`]); what is stored is told from there
//! ([`PathHider::shown`]). What stays: the session's own `project_path` and `cwd`, by which runs find
//! the project's settings and which are neither shown nor delivered, and the log's path.

use regex::Regex;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Where a hidden project stands while its log is read: a root of its own, so that paths below it are
/// compared and shortened as others are.
const PLACE: &str = "/0project0";

/// Homes of people, on every system.
static HOMES: LazyLock<Regex> = LazyLock::new(|| {
    let before = r"(?:/home/|/Users/|[A-Za-z]:(?:\\\\?|/)Users(?:\\\\?|/))";
    let name = r#"(?:\[redacted:[a-z0-9:-]+\]|[^/\\\s"'`:;,)\]}>]+)"#;
    Regex::new(&format!("{before}{name}")).expect("a pattern, checked by a test")
});

/// `text` with `~` for people's homes, and so without their names.
pub fn without_homes(text: &str) -> Cow<'_, str> {
    HOMES.replace_all(text, "~")
}

/// Takes the project's root out of paths, and people's homes.
#[derive(Clone, Debug, Default)]
pub struct PathHider {
    /// In every spelling, the longest first.
    roots: Vec<String>,
    /// Agents' own names for these folders.
    encoded: Vec<String>,
}

impl PathHider {
    /// For a session of the project at `root` that works in `cwd`.
    pub fn new(root: &str, cwd: Option<&str>) -> PathHider {
        let plain = |path: &str| path.trim_end_matches(['/', '\\']).to_owned();
        let (root, cwd) = (plain(root), cwd.map(plain));
        // a folder of the project is told from its root
        let outside = |cwd: &String| relative(cwd, &root).is_none();
        let mut all: Vec<String> = cwd.clone().filter(outside).into_iter().collect();
        all.push(root.clone());
        let mut roots: Vec<String> = all.iter().flat_map(|root| spellings(root)).collect();
        let mut encoded: Vec<String> = [Some(root), cwd]
            .into_iter()
            .flatten()
            .filter(|folder| folder.len() > 1 && folder.starts_with('/'))
            .map(|folder| folder.replace(['/', '.', '_'], "-"))
            .collect();
        for list in [&mut roots, &mut encoded] {
            list.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            list.dedup();
        }
        PathHider { roots, encoded }
    }

    /// `text` with the project at [`PLACE`], and `~` for people's homes.
    pub fn placed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut placed = Cow::Borrowed(text);
        for root in &self.roots {
            if let Some(moved) = replaced(&placed, root, is_path, |_| (PLACE, 0)) {
                placed = Cow::Owned(moved);
            }
        }
        for name in &self.encoded {
            // elsewhere it may be a flag
            let is_folder = |before: Option<char>| before == Some('/');
            if let Some(moved) = replaced(&placed, name, is_folder, told) {
                placed = Cow::Owned(moved);
            }
        }
        if let Cow::Owned(without) = without_homes(&placed) {
            placed = Cow::Owned(without);
        }
        placed
    }

    /// `text` as it is stored: paths inside the project relative to it.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let placed = self.placed(text);
        match replaced(&placed, PLACE, |_| true, told) {
            Some(shown) => Cow::Owned(shown),
            None => placed,
        }
    }

    /// None of them is passed over because another one changed.
    fn show_all<'v>(&self, values: impl Iterator<Item = &'v mut Value>) -> bool {
        let changed = values.filter_map(|value| self.show_value(value).then_some(()));
        changed.count() > 0
    }

    /// [`PathHider::shown`] of every string in a value, names of fields included; whether any changed.
    pub fn show_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.shown(text) {
                Cow::Owned(shown) => {
                    *text = shown;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Array(list) => self.show_all(list.iter_mut()),
            Value::Object(map) => {
                let any = self.show_all(map.values_mut());
                let named = |name: &String| matches!(self.shown(name), Cow::Owned(_));
                if !map.keys().any(named) {
                    return any;
                }
                let fields = std::mem::take(map).into_iter();
                *map = fields
                    .map(|(name, v)| (self.shown(&name).into_owned(), v))
                    .collect();
                true
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// What of `path` is below `root`.
fn relative<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(root)?;
    (rest.is_empty() || rest.starts_with(['/', '\\'])).then_some(rest)
}

/// A root as logs spell it; none for what is no root of a project.
fn spellings(root: &str) -> Vec<String> {
    let drive = root
        .as_bytes()
        .first()
        .filter(|_| root.as_bytes().get(1) == Some(&b':'));
    match drive {
        Some(drive) if root.len() > 2 && drive.is_ascii_alphabetic() => {
            let rest = &root[1..];
            let letters = [drive.to_ascii_lowercase(), drive.to_ascii_uppercase()];
            let drives = letters.map(|letter| format!("{}{rest}", char::from(letter)));
            let spelled = |root: &String| {
                let plain = root.replace('\\', "/");
                [plain.replace('/', "\\"), plain.replace('/', "\\\\"), plain]
            };
            drives.iter().flat_map(spelled).collect()
        }
        _ if root.len() > 1 && root.starts_with('/') => vec![root.to_owned()],
        _ => Vec::new(),
    }
}

/// What may stand before a path: nothing that makes it the end of another one.
fn is_path(before: Option<char>) -> bool {
    !before.is_some_and(|c| joins(c) || "/.~\\".contains(c))
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || "-_".contains(c)
}

/// What stands for a root before `after`, and how many bytes of `after` go with it.
fn told(after: &str) -> (&'static str, usize) {
    let below = after.trim_start_matches(['/', '\\']);
    match below.len() < after.len() && below.starts_with(|c: char| joins(c) || c == '.') {
        true => ("", after.len() - below.len()),
        false => (".", 0),
    }
}

/// `None` where `root` doesn't stand in the text as a path of its own, or the beginning of one.
fn replaced(
    text: &str,
    root: &str,
    may_follow: impl Fn(Option<char>) -> bool,
    stands_for: impl Fn(&str) -> (&'static str, usize),
) -> Option<String> {
    let (mut out, mut from, mut found) = (String::new(), 0, false);
    for (at, _) in text.match_indices(root) {
        let after = &text[at + root.len()..];
        let before = text[..at].chars().next_back();
        if at < from || !may_follow(before) || after.starts_with(joins) {
            continue;
        }
        found = true;
        let (stands, taken) = stands_for(after);
        out.push_str(&text[from..at]);
        out.push_str(stands);
        from = at + root.len() + taken;
    }
    found.then(|| out + &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_told_from_the_project_and_homes_have_no_name() {
        let hidden = PathHider::new("/home/alice/shop", Some("/home/alice/shop/web"));
        for (text, wants) in [
            ("Read(/home/alice/shop/web/src/a.rs)", "Read(web/src/a.rs)"),
            ("Read(/home/alice/shop/b.rs)", "Read(b.rs)"),
            ("cd /home/alice/shop && ls", "cd . && ls"),
            ("cd /home/alice/shop/ && ls", "cd ./ && ls"),
            ("cd /home/alice/shop/web && ls", "cd web && ls"),
            ("in /home/alice/shopping/x", "in ~/shopping/x"),
            ("in /home/alice/shop, and", "in ., and"),
            (
                "~/.claude/projects/-home-alice-shop/x",
                "~/.claude/projects/x",
            ),
            (
                "~/.claude/projects/-home-alice-shop-web/x",
                "~/.claude/projects/x",
            ),
            ("/Users/bob/x and C:\\Users\\bob\\y", "~/x and ~\\y"),
            ("/home/[redacted:user:1a2b]/x", "~/x"),
            ("/etc/hosts", "/etc/hosts"),
            ("ls -home-alice-shop", "ls -home-alice-shop"),
            ("nothing here", "nothing here"),
        ] {
            let shown = hidden.shown(text);
            assert_eq!(shown, wants, "{text}");
            assert_eq!(hidden.shown(&shown), wants, "hiding twice is hiding once");
            assert_eq!(hidden.shown(&hidden.placed(text)), wants, "in two steps");
            assert_eq!(hidden.placed(&hidden.placed(text)), hidden.placed(text));
        }
        assert_eq!(PathHider::new("/", None).shown("/x /y"), "/x /y");
    }

    #[test]
    fn a_working_directory_elsewhere_is_hidden_too_and_drives_are_roots() {
        let elsewhere = PathHider::new("/srv/shop", Some("/srv/trees/blue"));
        assert_eq!(elsewhere.shown("/srv/trees/blue/a /srv/shop/b"), "a b");
        let drive = PathHider::new("D:\\code\\shop", None);
        for path in [
            "D:\\code\\shop\\a.rs",
            "d:/code/shop/a.rs",
            "D:\\\\code\\\\shop\\\\a.rs",
        ] {
            assert_eq!(drive.shown(path), "a.rs", "{path}");
        }
    }

    #[test]
    fn every_string_of_a_value_is_shown() {
        let hidden = PathHider::new("/srv/shop", None);
        let mut value = json!({"/srv/shop/a": ["/srv/shop/b", 3], "c": null});
        assert!(hidden.show_value(&mut value));
        assert_eq!(value, json!({"a": ["b", 3], "c": null}));
        assert!(!hidden.show_value(&mut value));
    }
}
