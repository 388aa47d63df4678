//! What comments of the session's edits say is to be done, and no later edit took away.

use super::command_forms::command_of;
use super::line::LocatedItem;
use super::ran::call;
use super::words::shortened;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::left::{at_mark, holds_own_comments, only_reads};
use crate::rules::paths::is_throwaway;
use crate::rules::tools::{AnswerKind, tool};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// More are a plan in code, not what is left.
const STEPS_MAX: usize = 2;

/// It says what, not all of how.
const TEXT_CHARS_MAX: usize = 140;

/// The last ones.
pub fn todos(lines: &[LocatedItem<'_>]) -> Vec<Sourced<String>> {
    let mut open = Open::default();
    for line in lines {
        let call = call(line).unwrap_or_default();
        let edits = tool(call.split('(').next().unwrap_or_default()).answer == AnswerKind::Edit;
        if let Some(command) = command_of(call) {
            open.close_by(command);
        }
        for finding in line.item.findings {
            match finding {
                Finding::Todo { path, text, gone } => {
                    open.close_text(path, text);
                    if !gone && holds_own_comments(path) && !is_throwaway(path) {
                        open.add(path, text, line);
                    }
                }
                // nobody knows what is in its new text
                Finding::Changed { path, .. } if !edits => {
                    open.files.remove(path.as_str());
                }
                Finding::File { path, .. } => open.close_below(path, line.line),
                _ => {}
            }
        }
    }
    let each = |(path, own): (_, Vec<_>)| own.into_iter().map(move |one| (path, one));
    let mut all: Vec<(&str, Comment<'_, '_>)> = open.files.into_iter().flat_map(each).collect();
    all.sort_by_key(|(_, one)| one.nth);
    let first = all.len().saturating_sub(STEPS_MAX);
    let told = all[first..].iter().map(|(path, one)| {
        // names like `index.ts` say little without their folder
        let mut names = path.rsplitn(3, ['/', '\\']);
        let (name, folder) = (names.next().unwrap_or(path), names.next());
        let folder = folder.filter(|folder| !folder.is_empty());
        let place = folder.map_or(String::new(), |folder| format!("{folder}/"));
        let text = shortened(one.text, TEXT_CHARS_MAX);
        one.line.source(format!("TODO in {place}{name}: {text}"))
    });
    told.collect()
}

/// A comment that no call is known to have taken away.
struct Comment<'l, 't> {
    text: &'l str,
    line: &'l LocatedItem<'t>,
    nth: usize,
}

/// All of them.
#[derive(Default)]
struct Open<'l, 't> {
    files: BTreeMap<&'l str, Vec<Comment<'l, 't>>>,
    /// The paths of a file's name, of which a command says no more.
    names: FxHashMap<&'l str, Vec<&'l str>>,
    added: usize,
}

impl<'l, 't> Open<'l, 't> {
    fn add(&mut self, path: &'l str, text: &'l str, line: &'l LocatedItem<'t>) {
        let nth = self.added;
        self.added += 1;
        let own = self.files.entry(path).or_default();
        if own.is_empty()
            && let Some(name) = names(path).last()
        {
            self.names.entry(name).or_default().push(path);
        }
        own.push(Comment { text, line, nth });
    }

    /// An edit took a text away, or a part of it.
    fn close_text(&mut self, path: &str, gone: &str) {
        if let Some(own) = self.files.get_mut(path) {
            own.retain(|one| !one.text.contains(gone) && !gone.contains(one.text));
        }
    }

    /// A file or a folder, or all whose paths begin so, became another one; but for what the same line wrote.
    fn close_below(&mut self, path: &'l str, at: u64) {
        let path = path.trim_end_matches(['*', '/']);
        let below = self.files.range_mut(path..);
        for (_, own) in below.take_while(|(known, _)| known.starts_with(path)) {
            own.retain(|one| one.line.line == at);
        }
    }

    /// A command may have written any file that it names; more where it was cut, or looks for comments.
    fn close_by(&mut self, command: &str) {
        if self.files.is_empty() || only_reads(command) {
            return;
        }
        let is_wide = ["*", "xargs", "-exec", "$"]
            .iter()
            .any(|word| command.contains(word))
            && ["sed ", "perl "].iter().any(|word| command.contains(word));
        if is_wide || command.ends_with('…') || at_mark(command).is_some() {
            self.files.clear();
            self.names.clear();
            return;
        }
        for name in names(command) {
            for path in self.names.remove(name).unwrap_or_default() {
                self.files.remove(path);
            }
        }
    }
}

/// What may be a file's name in a path or a command.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let words = text.split(move |c| !is_part(c));
    words.filter(|word| word.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn comments_that_stay_are_left() {
        let todo = |path: &str, gone| {
            let changed = Finding::Changed {
                path: path.into(),
                added: 1,
                removed: 0,
            };
            let text = "round the total half up".into();
            let path = path.into();
            [changed, Finding::Todo { path, text, gone }]
        };
        let (come, gone, doc) = (
            todo("/p/cart.ts", false),
            todo("/p/cart.ts", true),
            todo("/p/plan.md", false),
        );
        let edit = |n, text, findings| LocatedItem::sample(ItemKind::Digest, n, text, findings);
        let first = edit(1, "Action: Edit(cart.ts) → +1 −0", &come[..]);
        let told = |lines: &[LocatedItem<'_>]| {
            let steps = todos(lines).into_iter().map(|step| step.what);
            steps.collect::<Vec<_>>()
        };
        let wants = ["TODO in p/cart.ts: round the total half up"];
        assert_eq!(told(&[first]), wants);
        let none: [&str; 0] = [];
        let second = edit(2, "Action: Edit(cart.ts) → +0 −1", &gone[..]);
        assert_eq!(told(&[first, second]), none);
        let anew = edit(
            2,
            "Action: Write(cart.ts) → overwritten, 9 lines",
            &come[..1],
        );
        assert_eq!(told(&[first, anew]), none);
        assert_eq!(
            told(&[edit(1, "Action: Edit(plan.md) → +1 −0", &doc[..])]),
            none
        );
        let part = [Finding::Todo {
            path: "/p/cart.ts".into(),
            text: "round the total".into(),
            gone: true,
        }];
        assert_eq!(
            told(&[first, edit(2, "Action: Edit(cart.ts) → +1 −1", &part[..])]),
            none
        );
        for command in [
            "sed -i s/a/b/ cart.ts",
            "cat > p/cart.ts <<E",
            "sed -i /TODO/d src/*",
            "git mv cart.ts shop.ts",
        ] {
            let ran = format!("Action: Bash({command}) → ok, no output");
            assert_eq!(
                told(&[first, LocatedItem::sample(ItemKind::Digest, 2, &ran, &[])]),
                none,
                "{command}"
            );
        }
        for command in ["cat cart.ts", "git add cart.ts", "npm test", "rm shop.ts"] {
            let ran = format!("Action: Bash({command}) → ok, no output");
            assert_eq!(
                told(&[first, LocatedItem::sample(ItemKind::Digest, 2, &ran, &[])]),
                wants,
                "{command}"
            );
        }
    }
}
