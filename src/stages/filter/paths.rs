//! Where a project's place on the disk and its user's name are taken out of what a commit tells
//! (`include_project_path: false`).
//!
//! What stays: the session's own `project_path` and `cwd`, by which runs find the project's
//! settings and which are neither shown nor delivered, the log's path, and what the checkpoint
//! carries of calls and prompts that are not told yet. They are hidden when they are.

use crate::model::checkpoint::FileCommit;
use crate::model::episode::Episode;
use crate::model::session::SessionFacts;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Homes of people, on every system.
static HOMES: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?:/home/|/Users/|[A-Za-z]:(?:\\\\?|/)Users(?:\\\\?|/))[^/\\\s"'`:;,)\]}>]+"#;
    Regex::new(pattern).expect("a pattern, checked by a test")
});

/// `text` with `~` for people's homes, and so without their names.
pub fn without_homes(text: &str) -> Cow<'_, str> {
    HOMES.replace_all(text, "~")
}

/// Takes the project's root out of paths, and people's homes.
pub struct Hider {
    /// The longest first.
    roots: Vec<String>,
}

impl Hider {
    /// For a session of the project at `root` that works in `cwd`.
    pub fn new(root: &str, cwd: Option<&str>) -> Hider {
        let plain = |path: &str| path.trim_end_matches('/').to_owned();
        let mut roots: Vec<String> = [Some(root), cwd].into_iter().flatten().map(plain).collect();
        roots.retain(|root| root.len() > 1 && root.starts_with('/'));
        roots.sort_unstable_by_key(|root| std::cmp::Reverse(root.len()));
        roots.dedup();
        // Claude Code's own name for the folder.
        let encoded: Vec<String> = roots
            .iter()
            .map(|r| r.replace(['/', '.', '_'], "-"))
            .collect();
        roots.extend(encoded);
        Hider { roots }
    }

    /// `text` with paths inside the project relative to it, and `~` for people's homes.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut hidden = Cow::Borrowed(text);
        for root in &self.roots {
            if let Some(without) = without_root(&hidden, root) {
                hidden = Cow::Owned(without);
            }
        }
        if let Cow::Owned(without) = without_homes(&hidden) {
            hidden = Cow::Owned(without);
        }
        hidden
    }

    /// Everything of a commit that is shown or delivered.
    pub fn commit(&self, commit: &mut FileCommit) {
        let episodes = commit.sealed.iter_mut().chain(&mut commit.open);
        episodes.for_each(|episode| self.episode(episode));
        self.facts(&mut commit.facts);
        self.facts(&mut commit.tail_facts);
        commit
            .said
            .iter_mut()
            .for_each(|said| self.one(&mut said.text));
        for stream in &mut commit.resume_state.streams {
            self.some(&mut stream.chunk.title);
            if let Some(end) = &mut stream.end {
                self.some(&mut end.chunk.title);
            }
        }
    }

    fn episode(&self, episode: &mut Episode) {
        self.one(&mut episode.title);
        self.one(&mut episode.text);
        let files = std::mem::take(&mut episode.files);
        episode.files = files.iter().map(|f| self.hide(f).into_owned()).collect();
    }

    fn facts(&self, facts: &mut SessionFacts) {
        let SessionFacts {
            custom_title,
            ai_title,
            first_prompt,
            branch,
            summaries,
            ..
        } = facts;
        let said = [custom_title, ai_title, first_prompt, branch];
        said.into_iter().for_each(|text| self.some(text));
        summaries.iter_mut().for_each(|(_, text)| self.one(text));
    }

    fn some(&self, text: &mut Option<String>) {
        text.iter_mut().for_each(|text| self.one(text));
    }

    fn one(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.hide(text) {
            *text = hidden;
        }
    }
}

/// `None` where the root doesn't stand in the text as a path of its own, or the beginning of one.
fn without_root(text: &str, root: &str) -> Option<String> {
    let joins = |c: char| c.is_alphanumeric() || "-_".contains(c);
    let (mut out, mut from, mut found) = (String::new(), 0, false);
    for (at, _) in text.match_indices(root) {
        let before = text[..at].chars().next_back();
        let after = &text[at + root.len()..];
        let inside = match root.starts_with('/') {
            true => before.is_some_and(|c| joins(c) || "/.~".contains(c)),
            // An encoded root is a folder's name; elsewhere it may be a flag.
            false => before != Some('/'),
        };
        if at < from || inside || after.starts_with(joins) {
            continue;
        }
        found = true;
        out.push_str(&text[from..at]);
        from = at + root.len();
        match after.strip_prefix('/') {
            Some(rest) if rest.starts_with(|c: char| joins(c) || c == '.') => from += 1,
            _ => out.push('.'),
        }
    }
    found.then(|| out + &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_the_project_and_homes_have_no_name() {
        let hider = Hider::new("/home/alice/shop", Some("/home/alice/shop/web"));
        for (text, wants) in [
            ("Read(/home/alice/shop/web/src/a.rs)", "Read(src/a.rs)"),
            ("Read(/home/alice/shop/b.rs)", "Read(b.rs)"),
            ("cd /home/alice/shop && ls", "cd . && ls"),
            ("cd /home/alice/shop/ && ls", "cd ./ && ls"),
            ("in /home/alice/shopping/x", "in ~/shopping/x"),
            ("in /home/alice/shop, and", "in ., and"),
            (
                "~/.claude/projects/-home-alice-shop/x",
                "~/.claude/projects/x",
            ),
            ("/Users/bob/x and C:\\Users\\bob\\y", "~/x and ~\\y"),
            ("/etc/hosts", "/etc/hosts"),
            ("ls -home-alice-shop", "ls -home-alice-shop"),
            ("nothing here", "nothing here"),
        ] {
            let hidden = hider.hide(text);
            assert_eq!(hidden, wants, "{text}");
            assert_eq!(hider.hide(&hidden), wants, "hiding twice is hiding once");
        }
        assert_eq!(Hider::new("/", None).hide("/x /y"), "/x /y");
    }
}
