//! One line judged: wrappers taken off, scripts inside read, every command looked up.

use super::super::names;
use super::super::shell::{self, Simple};
use super::refine::{self, Looked};
use super::table::{Class, Program, TABLE, is_flag, positional};
use crate::model::classification::{Classification, Domain, Intent};
use std::borrow::Cow;

/// Scripts inside scripts (`bash -c "ssh host 'bash -c …'"`). Larger: hostile lines cost more.
pub(super) const DEPTH_MAX: u8 = 4;

/// Wrappers around one command.
const WRAPPERS_MAX: usize = 8;

/// Commands of one line that are judged; later ones say nothing new.
pub(super) const COMMANDS_MAX: usize = 400;

/// The command that stands for a line.
pub(super) struct Judged<'t> {
    pub verdict: Verdict,
    rank: u8,
    /// PowerShell's way to read a file, which may come back from an edit.
    reads: bool,
    /// This, the subcommand and the arguments are left out of commands that don't stand for the
    /// line.
    pub base: String,
    pub subcommand: Option<String>,
    pub arguments: Vec<Cow<'t, str>>,
    /// The first program of the line that the table doesn't know, with its subcommands.
    pub unknown: Option<String>,
}

impl Judged<'_> {
    pub(super) fn rank(&self) -> u8 {
        self.rank
    }

    /// It says more of a line than a command of this rank.
    pub(super) fn stands_above(&self, known: Option<u8>) -> bool {
        known.is_none_or(|known| self.rank > known)
    }

    fn owned(self) -> Judged<'static> {
        let words = self.arguments.into_iter();
        Judged {
            arguments: words.map(|word| Cow::Owned(word.into_owned())).collect(),
            ..self
        }
    }
}

/// What is known of a command.
pub(super) enum Verdict {
    /// A class of the table.
    Class(&'static Class),
    /// Only its name: the program, and its subcommand where it has one.
    Name(String),
}

/// The command of the highest rank, of several the first; `None` where nothing runs.
pub(super) fn strongest(line: &str) -> Option<Judged<'_>> {
    strongest_at(line, 0)
}

fn strongest_at(line: &str, depth: u8) -> Option<Judged<'_>> {
    let commands = shell::read(line);
    let mut best: Option<Judged<'_>> = None;
    let mut reads_back = false;
    let mut unknown = None;
    for simple in commands.iter().take(COMMANDS_MAX) {
        let known = best.as_ref().map(|best| best.rank);
        let Some(mut judged) = judge(simple, depth, known) else {
            continue;
        };
        unknown = unknown.or(judged.unknown.take());
        reads_back |= judged.reads;
        if known.is_none_or(|known| judged.rank > known) {
            best = Some(judged);
        }
    }
    let mut judged = best?;
    judged.unknown = unknown;
    if reads_back && judged.base.eq_ignore_ascii_case("set-content") {
        let edit = class_of(if is_about_docs(&judged.verdict) {
            "doc_edit"
        } else {
            "edit"
        });
        judged.verdict = Verdict::Class(edit);
        judged.rank = edit.rank;
    }
    Some(judged)
}

fn is_about_docs(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Class(class) if class.domain == Domain::Documentation)
}

fn class_of(name: &str) -> &'static Class {
    TABLE.class(name)
}

/// `known` is the rank that it has to pass to stand for its line.
pub(super) fn judge<'t>(simple: &Simple<'t>, depth: u8, known: Option<u8>) -> Option<Judged<'t>> {
    match ran(simple, depth)? {
        Ran::Script(script) => strongest_at(&script, depth + 1).map(Judged::owned),
        Ran::Words(words, piped) => Some(looked_up(words, simple, piped, known)),
    }
}

/// What a simple command runs, without what runs it.
pub(super) enum Ran<'w, 't> {
    /// A program with its arguments, and whether it reads another command's output.
    Words(&'w [Cow<'t, str>], bool),
    /// What a shell was given.
    Script(Cow<'w, str>),
}

/// `None` where only wrappers are.
pub(super) fn ran<'w, 't>(simple: &'w Simple<'t>, depth: u8) -> Option<Ran<'w, 't>> {
    let mut words: &[Cow<'t, str>] = &simple.words;
    let mut piped = simple.piped;
    for _ in 0..WRAPPERS_MAX {
        let (base, program) = base_of(words.first()?);
        let args = &words[1..];
        let Some(program) = program else { break };
        if let Some(script) = inner_script(program, args, simple, depth) {
            return Some(Ran::Script(Cow::Borrowed(script)));
        }
        let looks_up = base == "command" && args.first().is_some_and(|a| is_flag(a));
        let Some((wrapper, named)) = program.wrapper(args).filter(|_| !looks_up) else {
            break;
        };
        let inner = unwrapped(&args[named..], &wrapper.takes, wrapper.args);
        let is_known = |inner: &&[Cow<'_, str>]| !wrapper.known || base_of(&inner[0]).1.is_some();
        let Some(inner) = inner.filter(is_known) else {
            break;
        };
        if wrapper.joins && depth < DEPTH_MAX {
            let inner = inner.iter().map(|word| &**word);
            let whole: Vec<&str> = wrapper
                .goes_on
                .as_deref()
                .into_iter()
                .chain(inner)
                .collect();
            return Some(Ran::Script(Cow::Owned(whole.join(" "))));
        }
        piped &= base != "xargs";
        words = inner;
    }
    Some(Ran::Words(words, piped))
}

/// What is left of a wrapper's arguments: without its options, `NAME=value` and its own `args`.
fn unwrapped<'w, 't>(
    args: &'w [Cow<'t, str>],
    takes: &[String],
    own: usize,
) -> Option<&'w [Cow<'t, str>]> {
    let mut at = 0;
    let mut own = own;
    while let Some(arg) = args.get(at) {
        if takes.iter().any(|t| t == arg) {
            at += 2;
        } else if is_flag(arg) || is_assignment(arg) {
            at += 1;
        } else if own > 0 {
            own -= 1;
            at += 1;
        } else {
            break;
        }
    }
    args.get(at..).filter(|rest| !rest.is_empty())
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// What a shell was given to run: with `-c`, or as a heredoc.
fn inner_script<'w>(
    program: &Program,
    args: &'w [Cow<'_, str>],
    simple: &'w Simple<'_>,
    depth: u8,
) -> Option<&'w str> {
    if !program.is_shell || depth == DEPTH_MAX || args.iter().any(|a| a == "-n") {
        return None;
    }
    let given = args
        .iter()
        .position(|arg| runs_script(arg))
        .and_then(|at| args.get(at + 1));
    match given {
        Some(script) => Some(script),
        None => simple
            .heredoc
            .filter(|_| args.iter().all(|arg| is_flag(arg))),
    }
}

fn runs_script(arg: &str) -> bool {
    let cluster = arg.strip_prefix('-').filter(|letters| letters.len() < 5);
    cluster.is_some_and(|letters| letters.ends_with('c'))
        || arg.eq_ignore_ascii_case("-command")
        || arg.eq_ignore_ascii_case("/c")
}

/// The table's name for a program, without its folder, `.exe` and version, and what is known of it.
pub(super) fn base_of(word: &str) -> (Cow<'_, str>, Option<&'static Program>) {
    let known = |name: &str| TABLE.program(name);
    if let Some(program) = known(word) {
        return (Cow::Borrowed(word), Some(program));
    }
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = ["exe", "cmd", "bat"].iter().fold(name, |name, ending| {
        let stem = name.len().saturating_sub(4);
        let is_it = name.len() > 4
            && name.is_char_boundary(stem)
            && name[stem..]
                .strip_prefix('.')
                .is_some_and(|e| e.eq_ignore_ascii_case(ending));
        if is_it { &name[..stem] } else { name }
    });
    let name = name
        .split_once('@')
        .map_or(name, |(name, _)| if name.is_empty() { word } else { name });
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    for name in [name, unversioned] {
        if let Some(program) = known(name) {
            return (Cow::Borrowed(name), Some(program));
        }
    }
    match cmdlet(name) {
        Some(cased) => {
            let program = known(&cased);
            (Cow::Owned(cased), program)
        }
        None => (Cow::Borrowed(name), None),
    }
}

/// `get-content` as the table has it: `Get-Content`.
fn cmdlet(name: &str) -> Option<String> {
    let (verb, noun) = name.split_once('-')?;
    let capital = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next()?;
        Some(first.to_uppercase().collect::<String>() + chars.as_str())
    };
    Some(format!("{}-{}", capital(verb)?, capital(noun)?))
        .filter(|cased| TABLE.program(cased).is_some())
}

fn looked_up<'t>(
    words: &[Cow<'t, str>],
    simple: &Simple<'t>,
    piped: bool,
    known: Option<u8>,
) -> Judged<'t> {
    let (base, program) = base_of(&words[0]);
    let args = &words[1..];
    let subs = positional(program, args);
    let (verdict, named) = verdict(&Looked {
        word: &words[0],
        base: &base,
        program,
        args,
        subs: &subs,
        simple,
        piped,
    });
    let rank = verdict.rank();
    let stands = known.is_none_or(|known| rank > known);
    let is_named = named > 0 || matches!(verdict, Verdict::Name(_));
    let subcommand = subs.first().filter(|_| stands && is_named);
    let unknown = match &verdict {
        Verdict::Name(name) => Some(name.clone()),
        Verdict::Class(_) => None,
    };
    Judged {
        verdict,
        rank,
        unknown,
        reads: base.eq_ignore_ascii_case("get-content"),
        subcommand: subcommand.map(|sub| (*sub).to_owned()),
        arguments: args.iter().filter(|_| stands).cloned().collect(),
        base: match stands {
            true => base.into_owned(),
            false => String::new(),
        },
    }
}

/// Also says how many subcommands of the line the table has named.
fn verdict(command: &Looked<'_, '_>) -> (Verdict, usize) {
    let Looked { base, args, .. } = *command;
    let found = command.program.and_then(|p| p.find(command.subs, args));
    if asks_about(args) {
        let domain = found.map(|(class, _)| class.domain);
        let domain = domain.or_else(|| command.program?.domain());
        return (Verdict::Class(help_for(domain.unwrap_or_default())), 0);
    }
    if matches!(base, "make" | "just") && args.iter().any(|a| a == "-n" || a == "--dry-run") {
        return (Verdict::Class(class_of("dry_run")), 0);
    }
    let task = command.program.and_then(|p| p.task(command.subs, args));
    if let Some((class, subs)) = found
        && task.is_none_or(|(_, words)| subs > words)
    {
        return (Verdict::Class(refine::refined(class, command)), subs);
    }
    if let Some((task, _)) = task {
        let checks = found.filter(|(class, _)| class.intent == Intent::Validate);
        let class = TABLE.target(task).or(checks.map(|(class, _)| class));
        return (Verdict::Class(class.unwrap_or(class_of("run"))), 0);
    }
    let is_shell = command.program.is_some_and(|program| program.is_shell);
    if is_shell || is_program(command.word) {
        let script = args.iter().find(|a| is_shell && !is_flag(a));
        let name = script.map_or(command.word, |s| s);
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let said = TABLE
            .target(name)
            .filter(|_| script.is_some() || name.contains(".sh"));
        return (Verdict::Class(said.unwrap_or(class_of("run"))), 0);
    }
    (Verdict::Name(named(base, args)), 0)
}

/// `--help`, `--version`, as all that is asked.
fn asks_about(args: &[Cow<'_, str>]) -> bool {
    const FEW: usize = 3;
    let asks = |a: &Cow<'_, str>| a == "--help" || a == "--version";
    args.len() <= FEW && args.iter().any(asks)
        || (args.len() == 1 && matches!(&*args[0], "-h" | "-V" | "-version" | "help" | "version"))
}

/// Asking a known program about itself is reading, in its own domain.
fn help_for(domain: Domain) -> &'static Class {
    class_of(match domain {
        Domain::VersionControl => "vcs_look",
        Domain::Package | Domain::Code | Domain::Testing => "package_look",
        Domain::Database => "db_look",
        Domain::Network => "net_look",
        _ => "help",
    })
}

/// A program that is run by its path, or by a variable that holds one.
fn is_program(word: &str) -> bool {
    const LONGEST: usize = 300;
    let path = word.contains(['/', '\\']) || word.starts_with('$') || word.ends_with(".exe");
    path && word.len() < LONGEST
}

/// A program and its subcommand, as far as they are plain words.
fn named(base: &str, args: &[Cow<'_, str>]) -> String {
    const LONGEST: usize = 24;
    let plain = |word: &&str| {
        word.len() <= LONGEST
            && word
                .bytes()
                .all(|b| b.is_ascii_alphabetic() || b"-_:".contains(&b))
    };
    let mut name = match plain(&base) && !base.is_empty() {
        true => base.to_owned(),
        false => "other".to_owned(),
    };
    let subs = args.iter().map(|a| &**a).take(2).take_while(plain);
    for sub in subs.filter(|sub| !is_flag(sub)) {
        name.push(' ');
        name.push_str(sub);
    }
    name
}

/// What an unknown program's name and subcommands say: the words of the subcommands first, the last
/// one before the one before it, then the program's own.
pub(super) fn by_name(name: &str) -> Classification {
    let mut words = name.split(' ');
    let base = words.next().unwrap_or_default();
    let subs: Vec<&str> = words.collect();
    for sub in subs.iter().rev().chain(std::iter::once(&base)) {
        let mut tokens = sub.split(['-', '_', ':']);
        let found = tokens.find_map(|word| TABLE.verb(word));
        if let Some(intent) = found {
            return guess(name, intent, domain_of(&subs, base));
        }
    }
    Classification::unknown()
}

fn domain_of(subs: &[&str], base: &str) -> Domain {
    let words = subs.iter().copied().chain(std::iter::once(base));
    let mut tokens = words.flat_map(|word| word.split(['-', '_', ':']));
    tokens
        .find_map(|token| match token {
            "pr" | "branch" | "checkpoint" | "commit" | "issue" => Some(Domain::VersionControl),
            _ => names::domain(&token.to_ascii_lowercase()),
        })
        .or_else(|| TABLE.program(base)?.domain())
        .unwrap_or_default()
}

fn guess(name: &str, intent: Intent, domain: Domain) -> Classification {
    let base = name.split(' ').next().unwrap_or_default();
    Classification {
        intent,
        domain,
        confidence: names::GUESS_CONFIDENCE,
        reasoning: format!("Heuristic: name pattern '{base}'"),
        signals: names::signals(intent, domain),
    }
}
