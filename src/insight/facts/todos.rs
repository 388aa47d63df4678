//! What comments of the session's edits say is to be done, and no later edit took away.

use super::line::LocatedItem;
use super::ran::call;
use super::words::shortened;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::paths::is_throwaway;

/// More are a plan in code, not what is left.
const STEPS_MAX: usize = 2;

/// It says what, not all of how.
const TEXT_CHARS_MAX: usize = 140;

/// The last ones.
pub fn todos(lines: &[LocatedItem<'_>]) -> Vec<Sourced<String>> {
    let mut open: Vec<(&str, &str, &LocatedItem<'_>)> = Vec::new();
    for line in lines {
        let writes = call(line).is_some_and(|call| call.starts_with("Write("));
        for finding in line.item.findings {
            match finding {
                Finding::Todo { path, text, gone } => {
                    open.retain(|(known, said, _)| (*known, *said) != (path, text));
                    open.extend((!gone && is_code(path)).then_some((&**path, &**text, line)));
                }
                // nobody knows what is in its new text
                Finding::Changed { path, .. } if writes => {
                    open.retain(|(known, _, _)| known != path);
                }
                Finding::File { path, .. } => {
                    let path = path.trim_end_matches(['*', '/']);
                    open.retain(|(known, _, at)| !known.starts_with(path) || at.line == line.line);
                }
                _ => {}
            }
        }
    }
    let first = open.len().saturating_sub(STEPS_MAX);
    let told = open[first..].iter().map(|(path, text, line)| {
        // names like `index.ts` say little without their folder
        let mut names = path.rsplitn(3, ['/', '\\']);
        let (name, folder) = (names.next().unwrap_or(path), names.next());
        let folder = folder.filter(|folder| !folder.is_empty());
        let place = folder.map_or(String::new(), |folder| format!("{folder}/"));
        let text = shortened(text, TEXT_CHARS_MAX);
        line.source(format!("TODO in {place}{name}: {text}"))
    });
    told.collect()
}

/// A file of the project in which a comment is one.
fn is_code(path: &str) -> bool {
    const TEXTS: [&str; 4] = [".md", ".mdx", ".txt", ".rst"];
    !is_throwaway(path) && !TEXTS.iter().any(|end| path.ends_with(end))
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
    }
}
