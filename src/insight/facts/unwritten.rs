//! What the agent says it wrote though each call that was to write it was refused or failed, and nothing else can have done
//! it: the log's word stands in its place.

use super::line::{LocatedItem, call_and_result};
use super::ran::call;
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, file_key};
use crate::rules::denials::awaits_permission;
use crate::rules::left::claims_change;
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::sentences;

/// Files that calls were to write and didn't.
pub struct Unwritten<'l, 't> {
    lines: &'l [LocatedItem<'t>],
    files: Vec<File<'t>>,
    /// Nothing else was changed.
    is_all: bool,
}

struct File<'t> {
    key: u32,
    name: &'t str,
    call: &'t str,
    why: &'static str,
}

impl<'l, 't> Unwritten<'l, 't> {
    /// Looks at the calls of a session once.
    pub fn of(lines: &'l [LocatedItem<'t>]) -> Unwritten<'l, 't> {
        let mut files: Vec<File<'t>> = Vec::new();
        let is_change = |finding: &Finding| matches!(finding, Finding::Changed { .. });
        for line in lines {
            let mut findings = line.item.findings.iter();
            let file = findings.find_map(|finding| match finding {
                Finding::Unchanged { key } => File::of(line, *key, false),
                Finding::Refused { key } => File::of(line, *key, true),
                _ => None,
            });
            files.retain(|known| file.as_ref().is_none_or(|file| file.key != known.key));
            files.extend(file);
        }
        if !files.is_empty() {
            lines.iter().for_each(|line| drop_written(&mut files, line));
        }
        let mut findings = lines.iter().flat_map(|line| line.item.findings);
        Unwritten {
            is_all: !findings.any(is_change),
            lines,
            files,
        }
    }

    /// Puts the log's word in the place of sentences that say otherwise.
    pub fn correct(&self, said: &mut String) {
        self.correct_git(said);
        if self.files.is_empty() {
            return;
        }
        let mut noted: Vec<&str> = Vec::new();
        let mut lines: Vec<String> = Vec::new();
        for line in said.lines() {
            let false_one = sentences(line).find_map(|sentence| self.claimed(sentence));
            let Some(file) = false_one else {
                lines.push(line.to_owned());
                continue;
            };
            let claims = |sentence: &&str| self.claimed(sentence).is_some();
            let rest = sentences(line).filter(|sentence| !claims(sentence));
            // what stands behind it is about the same file
            let rest: Vec<&str> = rest.filter(|_| !self.is_all).map(str::trim).collect();
            if !noted.contains(&file.call) {
                noted.push(file.call);
                let mark = line.find(|c: char| !matches!(c, ' ' | '-' | '*' | '•'));
                lines.push(format!(
                    "{}Not written: {} {}",
                    &line[..mark.unwrap_or(0)],
                    file.call,
                    file.why
                ));
            }
            if !rest.is_empty() {
                lines.push(rest.join(" "));
            }
        }
        if !noted.is_empty() {
            *said = lines.join("\n");
        }
    }

    /// The same of commits and pushes.
    fn correct_git(&self, said: &mut String) {
        for (verb, command) in [("ommitted", "git commit"), ("ushed", "git push")] {
            let claims = |sentence: &str| sentence.contains(verb) && claims_change(sentence);
            if !said.contains(verb) || !said.lines().flat_map(sentences).any(claims) {
                continue;
            }
            if never_worked(self.lines, command) {
                let lines = said.lines().map(|line| {
                    let kept = sentences(line).map(|sentence| match claims(sentence) {
                        true => format!("`{command}` failed."),
                        false => sentence.trim().to_owned(),
                    });
                    match sentences(line).any(claims) {
                        true => kept.collect::<Vec<_>>().join(" "),
                        false => line.to_owned(),
                    }
                });
                *said = lines.collect::<Vec<_>>().join("\n");
            }
        }
    }

    fn claimed(&self, sentence: &str) -> Option<&File<'t>> {
        let mut files = self.files.iter();
        let file = files.find(|file| names(sentence, file.name))?;
        claims_change(sentence).then_some(file)
    }
}

impl<'t> File<'t> {
    fn of(line: &LocatedItem<'t>, key: u32, is_refused: bool) -> Option<File<'t>> {
        let (call, answer) = call_and_result(line.words())?;
        let (tool_name, given) = call.split_once('(')?;
        if !matches!(tool(tool_name).answer, AnswerKind::Edit | AnswerKind::Write) {
            return None;
        }
        let path = given.trim_end_matches(')').split(", ").next()?;
        let name = path.rsplit(['/', '\\']).next()?;
        let why = match answer {
            _ if is_refused => "was refused by the user",
            answer if awaits_permission(answer) => "was not permitted",
            _ => "failed",
        };
        name.contains('.').then_some(File {
            key,
            name,
            call,
            why,
        })
    }
}

/// The file's name stands there by itself: `carts.md`, not `oldcarts.md` or `carts.mdx`.
fn names(sentence: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut found = sentence.match_indices(name);
    found.any(|(at, _)| {
        let (before, behind) = (&sentence[..at], &sentence[at + name.len()..]);
        // the dot of `carts.md.old` goes on, the one that ends a sentence doesn't
        let goes_on = behind.strip_prefix('.').unwrap_or(behind);
        !before.ends_with(|c| is_part(c) || c == '.') && !goes_on.starts_with(is_part)
    })
}

/// Each call of this command of git failed, and nothing else can have done it.
fn never_worked(lines: &[LocatedItem<'_>], command: &str) -> bool {
    let verb = command.trim_start_matches("git ");
    let mut has_failed = false;
    for line in lines
        .iter()
        .filter(|line| line.item.kind == ItemKind::Digest)
    {
        let is_done = |finding: &Finding| {
            matches!(
                finding,
                Finding::Commit { .. } | Finding::Pushed | Finding::PullRequest(_)
            )
        };
        let call = call(line).unwrap_or_default();
        let name = call.split(['(', ' ']).next().unwrap_or_default();
        let fails = line
            .item
            .findings
            .iter()
            .any(|finding| matches!(finding, Finding::Failed { .. }));
        has_failed |= fails && call.contains(command);
        // a call without an answer may have worked
        let may_work = !fails && (call.contains(verb) || call.contains("gh "));
        let is_agent = tool(name).answer == AnswerKind::Agent;
        if may_work || is_agent || line.item.findings.iter().any(is_done) {
            return false;
        }
    }
    has_failed
}

/// Files that a call may have written are left out: it changed them, names them and worked, or is of another agent.
fn drop_written(files: &mut Vec<File<'_>>, line: &LocatedItem<'_>) {
    if line.item.kind != ItemKind::Digest {
        return;
    }
    for finding in line.item.findings {
        if let Finding::Changed { path, .. } | Finding::File { path, .. } = finding {
            files.retain(|file| file.key != file_key(path) && !path.ends_with(file.name));
        }
    }
    let call = call(line).unwrap_or_default();
    let fails = |finding: &Finding| {
        matches!(
            finding,
            Finding::Unchanged { .. } | Finding::Failed { .. } | Finding::Refused { .. }
        )
    };
    let has_failed = line.item.findings.iter().any(fails);
    let name = call.split(['(', ' ']).next().unwrap_or_default();
    match tool(name).answer {
        AnswerKind::Agent | AnswerKind::Patch if !has_failed => files.clear(),
        AnswerKind::Shell | AnswerKind::Other | AnswerKind::Said if !has_failed => {
            files.retain(|file| !call.contains(file.name));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(calls: &[(&str, &[Finding])], said: &str) -> String {
        let lines = calls.iter().zip(1..);
        let lines = lines
            .map(|((text, findings), n)| LocatedItem::sample(ItemKind::Digest, n, text, findings));
        let lines: Vec<LocatedItem<'_>> = lines.collect();
        let mut said = said.to_owned();
        Unwritten::of(&lines).correct(&mut said);
        said
    }

    #[test]
    fn what_git_refused_was_not_committed() {
        let (failed, worked) = ([Finding::Failed { key: 1 }], [Finding::Worked { key: 1 }]);
        let no = (
            "Action: Bash(git commit -m x) → exit 1: the hook says no",
            &failed[..],
        );
        let said = "Totals add up. I've committed it as one change.";
        assert_eq!(
            corrected(&[no], said),
            "Totals add up. `git commit` failed."
        );
        let yes = ("Action: Bash(git commit -m x) → ok, no output", &worked[..]);
        assert_eq!(corrected(&[no, yes], said), said);
        assert_eq!(corrected(&[], said), said);
        let open = "It is not committed.";
        assert_eq!(corrected(&[no], open), open);
    }

    #[test]
    fn what_nobody_permitted_was_not_written() {
        let key = file_key("/p/carts.md");
        let unchanged = [Finding::Unchanged { key }];
        let refused = [Finding::Refused { key }];
        let worked = [Finding::Worked { key: 1 }];
        let changed = |path: &str| {
            [Finding::Changed {
                path: path.into(),
                added: 1,
                removed: 0,
            }]
        };
        let (same, other) = (changed("/p/carts.md"), changed("/p/till.rs"));
        let write = (
            "Action: Write(carts.md) → failed: you haven't granted it yet",
            &unchanged[..],
        );
        let no = (
            "Action: Write(carts.md) → refused by the user",
            &refused[..],
        );
        let said = "I've created carts.md with the totals. The file has all of them.";
        assert_eq!(
            corrected(&[write], said),
            "Not written: Write(carts.md) was not permitted"
        );
        assert_eq!(
            corrected(&[no], said),
            "Not written: Write(carts.md) was refused by the user"
        );
        let beside = ("Action: Edit(till.rs) → +1 −0", &other[..]);
        let wants = "Not written: Write(carts.md) was not permitted\nThe file has all of them.";
        assert_eq!(corrected(&[write, beside], said), wants);
        for later in [
            ("Action: Write(carts.md) → created, 9 lines", &same[..]),
            (
                "Action: Bash(cp a.md carts.md) → ok, no output",
                &worked[..],
            ),
            ("Action: Task(Write the page) → done", &[][..]),
        ] {
            assert_eq!(corrected(&[write, later], said), said, "{}", later.0);
        }
        for other in [
            "I've created carts.mdx.",
            "I've created old-carts.md.",
            "I've created carts.md.html.",
        ] {
            assert_eq!(corrected(&[write], other), other);
        }
        assert_ne!(
            corrected(&[write], "I've created docs/carts.md."),
            "I've created docs/carts.md."
        );
        let honest = "I couldn't write carts.md.";
        assert_eq!(corrected(&[write], honest), honest);
    }
}
