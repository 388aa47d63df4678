//! What a command line does to a history that others see and to files, and what it asks of a history, as a table
//! (`history.yaml`): commits, pushes, pull requests, diffstats, lists of commits, files that go or come back.
//!
//! Knows commands and their options.

use super::hooks::shows_hook;
use super::judge::{COMMANDS_MAX, DEPTH_MAX, Ran, base_of, ran};
use super::looks;
use super::table::{Flag, is_flag, positional};
use crate::rules::literals::LiteralFinder;
use crate::rules::paths::is_throwaway;
use crate::rules::shell::{self, Simple};
use crate::rules::table;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Something that a command does to a history, or asks of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// What it does.
    pub does: HistoryAction,
    /// The first line of a commit's message; the branch that is made; the title of a pull request that is opened, or
    /// another one as `#7` or by its address; the file or folder, as seen from where the line begins. Absent where the
    /// command doesn't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<String>,
    /// Where a file or folder goes; of what is done to a history the folder where, unless that is where the line begins.
    /// As `names` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// A commit that prints nothing, a pull request that is a draft, changes that are staged, a look that nothing but its
    /// own title is printed of.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// It was done in a folder that nobody keeps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub away: bool,
    /// A commit before whose own line nothing but its hook prints.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooked: bool,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryAction {
    /// A commit is made.
    Commit,
    /// Commits are made here that stand elsewhere, or what they did is undone.
    Pick,
    /// A file is put into the next commit; without a name nobody knows which.
    Add,
    /// A branch is made.
    Branch,
    /// Commits are sent to others.
    Push,
    /// A pull request is opened.
    Open,
    /// It is merged.
    Merge,
    /// It is closed.
    Close,
    /// It is opened again, or is no draft any more.
    Reopen,
    /// It is looked at.
    Look,
    /// An issue is looked at.
    LookIssue,
    /// The working tree's changes are told by file.
    Stat,
    /// The last commit's changes are told by file.
    StatLast,
    /// What differs from another branch or commit is told by file.
    Compare,
    /// Commits are listed.
    Log,
    /// Checks that run elsewhere are listed.
    Runs,
    /// Git is asked how the branch stands.
    Status,
    /// A file that is kept is deleted.
    Delete,
    /// A file is deleted.
    Drop,
    /// A file that is kept gets another name.
    Rename,
    /// A file gets another name.
    Move,
    /// A file is put back to what it was.
    Restore,
    /// What runs in the background is asked for its output.
    Poll,
}

impl HistoryAction {
    /// It changes a repository's commits, or where they are, or asks for that.
    pub fn is_of_repository(self) -> bool {
        use HistoryAction::{Commit, Merge, Open, Pick, Push, Status};
        matches!(self, Commit | Pick | Push | Open | Merge | Status)
    }
}

/// What a command line does, in order. A scan for literals where it does nothing; else some
/// microseconds.
pub fn acts(line: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    if !TABLE.hints.is_match(line) {
        return acts;
    }
    let mut place = Place {
        path: Some(String::new()),
        makes_temporary: TABLE.temporary.is_match(line),
    };
    read(line, 0, &mut place, &mut acts);
    let is_commit = |act: &&mut Act| act.does == HistoryAction::Commit;
    if let Some(commit) = acts.iter_mut().find(is_commit) {
        commit.hooked = shows_hook(line);
    }
    if TABLE.tries.is_match(line) {
        let commits = acts
            .iter_mut()
            .filter(|act| act.does == HistoryAction::Commit);
        commits.for_each(|act| act.names = None);
    }
    keep_sure(line, &mut acts);
    acts.extend(
        TABLE
            .polls
            .is_match(line)
            .then(|| Act::of(HistoryAction::Poll)),
    );
    acts
}

/// Of what is looked at and compared, what else a line prints may be taken for its title or its size.
fn keep_sure(line: &str, acts: &mut Vec<Act>) {
    use HistoryAction::{Compare, Look, LookIssue};
    let is_look = |act: &Act| matches!(act.does, Look | LookIssue);
    if acts.iter().any(|act| is_look(act) && act.marked) && !looks::is_alone(line, true) {
        let looks = acts.iter_mut().filter(|act| is_look(act));
        looks.for_each(|act| act.marked = false);
    }
    if acts.iter().any(|act| act.does == Compare) && !looks::is_alone(line, false) {
        acts.retain(|act| act.does != Compare);
    }
}

/// The same for a tool of an MCP server, by its name.
pub fn of_tool(name: &str) -> Option<Act> {
    let ends = |row: &&Tool| row.ends.iter().any(|end| name.ends_with(end.as_str()));
    let row = TABLE.tools.iter().find(ends)?;
    Some(Act::of(row.does))
}

impl Act {
    fn of(does: HistoryAction) -> Act {
        Act {
            does,
            names: None,
            to: None,
            marked: false,
            away: false,
            hooked: false,
        }
    }
}

/// Where a line's commands run.
#[derive(Clone)]
struct Place {
    /// From where the line began; `None`: nobody knows.
    path: Option<String>,
    /// The line makes a folder that nobody keeps.
    makes_temporary: bool,
}

impl Place {
    fn go(&mut self, to: Option<&str>) {
        self.path = to.and_then(|to| self.at(to));
    }

    /// A path that is told whole, as seen from where the line began.
    fn at(&self, path: &str) -> Option<String> {
        let is_whole = !path.contains(['$', '`', '{', '?', '[']) && path != "-" && !path.is_empty();
        let path = path.trim_start_matches("./");
        let is_rooted = path.starts_with(['/', '~', '\\']) || path.as_bytes().get(1) == Some(&b':');
        match self.path.as_deref() {
            _ if !is_whole => None,
            _ if is_rooted => Some(path.to_owned()),
            Some("") => Some(path.to_owned()),
            Some(from) => Some(format!("{}/{path}", from.trim_end_matches('/'))),
            None => None,
        }
    }

    /// Git's own options before its subcommand may say where it works.
    fn of_git<'w, 'c>(&self, args: &'w [Cow<'c, str>]) -> (&'w [Cow<'c, str>], Cow<'_, Place>) {
        let (mut args, mut place) = (args, Cow::Borrowed(self));
        while let [option, value, rest @ ..] = args
            && (option == "-C" || option == "-c")
        {
            if option == "-C" {
                place.to_mut().go(Some(value));
            }
            args = rest;
        }
        (args, place)
    }

    fn is_away(&self) -> bool {
        let path = self.path.as_ref();
        path.map_or(self.makes_temporary, |path| {
            is_throwaway(&format!("{path}/"))
        })
    }
}

fn read(line: &str, depth: u8, place: &mut Place, acts: &mut Vec<Act>) {
    let commands = shell::read(line);
    let mut inner = None;
    for simple in commands.iter().take(COMMANDS_MAX) {
        if simple.nested {
            inner = simple.heredoc.or(inner);
        }
        match ran(simple, depth) {
            Some(Ran::Script(script)) if depth < DEPTH_MAX => read(&script, depth + 1, place, acts),
            Some(Ran::Words([to, args @ ..], _)) if to == "cd" || to == "pushd" => {
                place.go(args.iter().find(|arg| !is_flag(arg)).map(|arg| &**arg));
            }
            Some(Ran::Words(words, _)) => act(words, simple, inner, place, acts),
            _ => {}
        }
    }
}

/// `inner` is the text of the last substitution before it.
fn act(
    words: &[Cow<'_, str>],
    simple: &Simple<'_>,
    inner: Option<&str>,
    place: &Place,
    acts: &mut Vec<Act>,
) {
    let Some((first, args)) = words.split_first() else {
        return;
    };
    let (base, program) = base_of(first);
    let (args, place) = match base == "git" {
        true => place.of_git(args),
        false => (args, Cow::Borrowed(place)),
    };
    let subs = positional(program, args);
    let Some(row) = TABLE.rows.iter().find(|row| row.fits(&base, &subs, args)) else {
        return;
    };
    let folder = || place.path.clone().filter(|path| !path.is_empty());
    let made = |names: Option<String>| Act {
        does: row.does,
        names,
        to: row.does.is_of_repository().then(folder).flatten(),
        marked: row.marked.iter().any(|flag| flag.is_in(args)),
        away: place.is_away(),
        hooked: false,
    };
    let named = || subs.iter().find_map(|sub| pull_request(sub));
    match row.does {
        HistoryAction::Commit => acts.push(made(subject(args, simple, inner))),
        HistoryAction::Branch | HistoryAction::Open => acts.push(made(row.named(args))),
        HistoryAction::Add => {
            let files: Vec<&str> = row.files(args).take(FILES_MAX).collect();
            let is_sure = files.iter().all(|file| *file != "." && is_file(file));
            let named = files.iter().map(|file| place.at(file).filter(|_| is_sure));
            acts.extend(named.map(&made));
            if files.is_empty() {
                acts.push(made(None));
            }
        }
        HistoryAction::Merge | HistoryAction::Close | HistoryAction::Reopen => {
            acts.push(made(named()))
        }
        HistoryAction::Look | HistoryAction::LookIssue => acts.push(Act {
            marked: looks::tells_title(args),
            ..made(named())
        }),
        HistoryAction::Compare if !looks::compares_all(args) => {}
        HistoryAction::Delete | HistoryAction::Drop | HistoryAction::Restore => {
            let files = row.files(args).take(FILES_MAX);
            acts.extend(files.filter_map(|file| Some(made(Some(place.at(file)?)))));
        }
        HistoryAction::Rename | HistoryAction::Move => {
            let files: Vec<&str> = row.files(args).take(FILES_MAX).collect();
            let moved = moved(&files).filter_map(|(from, to)| {
                let from = place.at(from).filter(|from| !from.contains('*'))?;
                let to = Some(place.at(&to)?);
                Some(Act {
                    to,
                    ..made(Some(from))
                })
            });
            acts.extend(moved);
        }
        _ => acts.push(made(None)),
    }
}

/// What goes where: the last one is the place, a folder if several go there or it looks like one.
fn moved<'f>(files: &'f [&'f str]) -> impl Iterator<Item = (&'f str, String)> {
    let (to, from) = files.split_last().unwrap_or((&"", &[]));
    from.iter().map(move |file| {
        let looks_so = to.ends_with('/') || *to == "." || has_ending(file) && !has_ending(to);
        let (to, name) = (to.trim_end_matches('/'), file_name(file));
        match (from.len() > 1 || looks_so, to) {
            (true, ".") => (*file, name.to_owned()),
            (true, to) => (*file, format!("{to}/{name}")),
            (false, to) => (*file, to.to_owned()),
        }
    })
}

fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

fn has_ending(path: &str) -> bool {
    file_name(path).trim_start_matches('.').contains('.')
}

/// Files of one command that are told.
const FILES_MAX: usize = 20;

/// `#7`, or the address.
fn pull_request(word: &str) -> Option<String> {
    let number = word.trim_start_matches(['#', '!']);
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    match is_number {
        true => Some(format!("#{number}")),
        false => word.contains("://").then(|| word.to_owned()),
    }
}

/// The first line of the message that a command is given.
fn subject(args: &[Cow<'_, str>], simple: &Simple<'_>, inner: Option<&str>) -> Option<String> {
    let is_short = |arg: &str| {
        let letters = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|letters| letters.ends_with('m'))
    };
    let is_message = |arg: &str| arg == "--message" || is_short(arg);
    let apart = args.iter().position(|arg| is_message(arg));
    let apart = apart.and_then(|at| args.get(at + 1)).map(|arg| &**arg);
    let joined = args.iter().find_map(|arg| arg.strip_prefix("--message="));
    let message = match apart.or(joined) {
        Some("$()") => inner?,
        Some(message) => message,
        None => simple.heredoc?,
    };
    let mut lines = message.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    hints: Vec<String>,
    polls: Vec<String>,
    tries: Vec<String>,
    temporary: Vec<String>,
    proved: Vec<String>,
    refused: Vec<String>,
    unsent: Vec<String>,
    commands: Vec<Row>,
    tools: Vec<Tool>,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    does: HistoryAction,
    words: Vec<String>,
    #[serde(default)]
    unless: Vec<Flag>,
    #[serde(default)]
    needs: Vec<Flag>,
    #[serde(default)]
    marked: Vec<Flag>,
    /// Beginnings of arguments; also any argument but `HEAD` before `--`.
    #[serde(default)]
    refs: Vec<String>,
    #[serde(default)]
    present: bool,
    /// Of arguments without `--` before them only names of files are files.
    #[serde(default)]
    guesses: bool,
    /// Told instead of files: all of them.
    #[serde(default)]
    all: bool,
    /// What stands behind these is the name.
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    does: HistoryAction,
    ends: Vec<String>,
}

impl Row {
    fn fits(&self, base: &str, subs: &[&str], args: &[Cow<'_, str>]) -> bool {
        let mut named = self.words.iter().map(|words| words.split(' '));
        let is_it = |mut words: std::str::Split<'_, char>| {
            words.next() == Some(base)
                && words.clone().count() <= subs.len()
                && words.zip(subs).all(|(word, sub)| word == *sub)
        };
        let has = |flags: &[Flag]| flags.iter().any(|flag| flag.is_in(args));
        named.any(is_it)
            && !has(&self.unless)
            && (self.needs.is_empty() || has(&self.needs))
            && !args
                .iter()
                .any(|arg| self.refs.iter().any(|r| arg.starts_with(r.as_str())))
            && (!self.present || is_present(args))
    }
}

impl Row {
    /// What stands behind an option that tells the name.
    fn named(&self, args: &[Cow<'_, str>]) -> Option<String> {
        let is_it = |arg: &str| self.names.iter().any(|name| name == arg);
        let at = args.iter().position(|arg| is_it(arg))?;
        let name = args.get(at + 1)?;
        (!name.contains('$') && !is_flag(name)).then(|| name.to_string())
    }

    /// The files that its arguments name.
    fn files<'w>(&self, args: &'w [Cow<'_, str>]) -> impl Iterator<Item = &'w str> {
        let behind = args.iter().position(|arg| arg == "--");
        let named = self.words[0].split(' ').count() - 1;
        let skipped = behind.map_or(named, |_| 0);
        let guesses = self.guesses && behind.is_none();
        let args = &args[behind.map_or(0, |at| at + 1)..];
        let args = args.iter().map(|arg| &**arg).filter(|arg| !is_flag(arg));
        let args = args
            .skip(skipped)
            .filter(move |arg| !guesses || is_file(arg));
        let args = args.filter(|_| !self.all);
        args.chain(self.all.then_some("."))
    }
}

/// `a.rs`, `.`, but not `main`.
fn is_file(arg: &str) -> bool {
    let name = arg.rsplit('/').next().unwrap_or(arg);
    arg == "." || name.trim_start_matches('.').contains('.')
}

/// No revision is named but `HEAD`: the first argument that is no option is the subcommand.
fn is_present(args: &[Cow<'_, str>]) -> bool {
    let before = args.iter().take_while(|arg| *arg != "--");
    let mut plain = before.filter(|arg| !is_flag(arg)).skip(1);
    plain.all(|arg| arg == "HEAD")
}

/// What is printed where nothing names a commit or the place of a push.
pub struct Printed {
    /// A commit was made.
    pub proved: LiteralFinder,
    /// None was made.
    pub refused: LiteralFinder,
    /// Nothing was sent.
    pub unsent: LiteralFinder,
}

/// The table's words for it.
pub fn printed() -> &'static Printed {
    &TABLE.printed
}

struct Table {
    hints: LiteralFinder,
    polls: LiteralFinder,
    tries: LiteralFinder,
    temporary: LiteralFinder,
    rows: Vec<Row>,
    tools: Vec<Tool>,
    printed: Printed,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    let words = LiteralFinder::of;
    Table {
        hints: words(written.hints),
        polls: words(written.polls),
        tries: words(written.tries),
        temporary: words(written.temporary),
        rows: written.commands,
        tools: written.tools,
        printed: Printed {
            proved: words(written.proved),
            refused: words(written.refused),
            unsent: words(written.unsent),
        },
    }
});

fn written() -> Written {
    table::rows(table::embedded!("commands/history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (line, wants) in written().samples {
            let found = acts(&line).into_iter().map(|act| {
                let action = serde_json::to_value(act.does).expect("a word");
                let mark = if act.marked { "!" } else { "" };
                let mark = if act.away { "?" } else { mark };
                let names = act.names.map(|names| format!(" \"{names}\""));
                let place = if act.does.is_of_repository() {
                    "in"
                } else {
                    "to"
                };
                let to = act.to.map(|to| format!(" {place} \"{to}\""));
                format!(
                    "{}{mark}{}{}",
                    action.as_str().unwrap_or(""),
                    names.unwrap_or_default(),
                    to.unwrap_or_default()
                )
            });
            assert_eq!(found.collect::<Vec<_>>(), wants, "{line}");
        }
    }

    #[test]
    fn tools_are_known_by_the_ends_of_their_names() {
        let action = |name: &str| of_tool(name).map(|act| act.does);
        assert_eq!(
            action("mcp__github__create_pull_request"),
            Some(HistoryAction::Open)
        );
        assert_eq!(action("_update_pull_request"), Some(HistoryAction::Look));
        assert_eq!(action("mcp__github__list_pull_requests"), None);
    }
}
