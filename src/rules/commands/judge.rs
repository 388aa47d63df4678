//! One line judged: wrappers taken off, scripts inside read, every command looked up.

use super::super::names;
use super::super::shell::{self, Simple};
use super::table::{Class, TABLE, is_flag};
use crate::model::classification::{Classification, Domain, Intent};
use std::borrow::Cow;

/// Scripts inside scripts (`bash -c "ssh host 'bash -c …'"`). Larger: hostile lines cost more.
const DEPTH_MAX: u8 = 4;

/// Wrappers around one command.
const WRAPPERS_MAX: usize = 8;

/// Commands of one line that are judged; later ones say nothing new.
const COMMANDS_MAX: usize = 400;

/// The command that stands for a line.
pub(super) struct Judged {
    pub verdict: Verdict,
    pub base: String,
    pub subcommand: Option<String>,
    pub arguments: Vec<String>,
    /// The first program of the line that the table doesn't know, with its subcommands.
    pub unknown: Option<String>,
}

/// What is known of a command.
pub(super) enum Verdict {
    /// A class of the table.
    Class(&'static Class),
    /// Only its name: the program, and its subcommand where it has one.
    Name(String),
}

/// The command of the highest rank, of several the first; `None` where nothing runs.
pub(super) fn strongest(line: &str) -> Option<Judged> {
    strongest_at(line, 0)
}

fn strongest_at(line: &str, depth: u8) -> Option<Judged> {
    let commands = shell::read(line);
    let mut best: Option<(u8, Judged)> = None;
    let mut reads_back = false;
    let mut unknown = None;
    for simple in commands.iter().take(COMMANDS_MAX) {
        let Some(mut judged) = judge(simple, depth) else {
            continue;
        };
        unknown = unknown.or(judged.unknown.take());
        reads_back |= judged.base.eq_ignore_ascii_case("get-content");
        let rank = judged.verdict.rank();
        if best.as_ref().is_none_or(|(known, _)| rank > *known) {
            best = Some((rank, judged));
        }
    }
    let (_, mut judged) = best?;
    judged.unknown = unknown;
    if reads_back && judged.base.eq_ignore_ascii_case("set-content") {
        let edit = class_of(if is_about_docs(&judged.verdict) {
            "doc_edit"
        } else {
            "edit"
        });
        judged.verdict = Verdict::Class(edit);
    }
    Some(judged)
}

fn is_about_docs(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Class(class) if class.domain == Domain::Documentation)
}

fn class_of(name: &str) -> &'static Class {
    TABLE.class(name)
}

fn judge(simple: &Simple<'_>, depth: u8) -> Option<Judged> {
    let mut words: &[Cow<'_, str>] = &simple.words;
    let mut piped = simple.piped;
    for _ in 0..WRAPPERS_MAX {
        let base = base_of(words.first()?);
        let args = &words[1..];
        if let Some(judged) = inner_script(&base, args, simple, depth) {
            return Some(judged);
        }
        let looks_up = base == "command" && args.first().is_some_and(|a| is_flag(a));
        let Some((wrapper, named)) = TABLE.wrapper(&base, args).filter(|_| !looks_up) else {
            break;
        };
        let inner = unwrapped(&args[named..], &wrapper.takes, wrapper.args);
        let Some(inner) = inner else { break };
        if wrapper.joins && depth < DEPTH_MAX {
            return strongest_at(&inner.join(" "), depth + 1);
        }
        piped &= base != "xargs";
        words = inner;
    }
    Some(looked_up(words, simple, piped))
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
fn inner_script(
    base: &str,
    args: &[Cow<'_, str>],
    simple: &Simple<'_>,
    depth: u8,
) -> Option<Judged> {
    if !TABLE.is_shell(base) || depth == DEPTH_MAX || args.iter().any(|a| a == "-n") {
        return None;
    }
    let given = args
        .iter()
        .position(|arg| runs_script(arg))
        .and_then(|at| args.get(at + 1));
    if let Some(script) = given {
        return strongest_at(script, depth + 1);
    }
    match (args.iter().all(|a| is_flag(a)), simple.heredoc) {
        (true, Some(body)) => strongest_at(body, depth + 1),
        _ => None,
    }
}

fn runs_script(arg: &str) -> bool {
    let cluster = arg.strip_prefix('-').filter(|letters| letters.len() < 5);
    cluster.is_some_and(|letters| letters.ends_with('c'))
        || arg.eq_ignore_ascii_case("-command")
        || arg.eq_ignore_ascii_case("/c")
}

/// The table's name for a program: without its folder, `.exe` and version.
fn base_of(word: &str) -> Cow<'_, str> {
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
    if TABLE.knows(name) {
        return Cow::Borrowed(name);
    }
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if TABLE.knows(unversioned) {
        return Cow::Borrowed(unversioned);
    }
    match cmdlet(name) {
        Some(cased) => Cow::Owned(cased),
        None => Cow::Borrowed(name),
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
    Some(format!("{}-{}", capital(verb)?, capital(noun)?)).filter(|cased| TABLE.knows(cased))
}

fn looked_up(words: &[Cow<'_, str>], simple: &Simple<'_>, piped: bool) -> Judged {
    let base = base_of(&words[0]);
    let args = &words[1..];
    let (verdict, subs) = verdict(&words[0], &base, args, simple, piped);
    let subcommand = match (&verdict, subs) {
        (Verdict::Class(_), 0) => None,
        _ => TABLE
            .positional(&base, args)
            .first()
            .map(|sub| (*sub).to_owned()),
    };
    let unknown = match &verdict {
        Verdict::Name(name) => Some(name.clone()),
        Verdict::Class(_) => None,
    };
    Judged {
        verdict,
        unknown,
        base: base.into_owned(),
        subcommand,
        arguments: args.iter().map(|arg| arg.clone().into_owned()).collect(),
    }
}

fn verdict(
    word: &str,
    base: &str,
    args: &[Cow<'_, str>],
    simple: &Simple<'_>,
    piped: bool,
) -> (Verdict, usize) {
    let known = |name: &str| (Verdict::Class(class_of(name)), 0);
    let asks = |a: &Cow<'_, str>| a == "--help" || a == "--version";
    if args.len() <= 3 && args.iter().any(asks)
        || (args.len() == 1 && matches!(&*args[0], "-h" | "-V" | "-version" | "help" | "version"))
    {
        let domain = TABLE.find(base, args).map(|(class, _)| class.domain);
        let domain = domain.or_else(|| TABLE.domain(base)).unwrap_or_default();
        return (Verdict::Class(help_for(domain)), 0);
    }
    if matches!(base, "make" | "just") && args.iter().any(|a| a == "-n" || a == "--dry-run") {
        return known("dry_run");
    }
    let task = TABLE.task(base, args);
    if let Some((class, subs)) = TABLE.find(base, args)
        && task.is_none_or(|(_, words)| subs > words)
    {
        let class = refined(class, base, args, simple, piped);
        return (Verdict::Class(class), subs);
    }
    if let Some((task, _)) = task {
        return (
            Verdict::Class(TABLE.target(task).unwrap_or(class_of("run"))),
            0,
        );
    }
    if TABLE.is_shell(base) || is_program(word) {
        let script = args.iter().find(|a| TABLE.is_shell(base) && !is_flag(a));
        let name = script.map_or(word, |s| s);
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let said = TABLE
            .target(name)
            .filter(|_| script.is_some() || name.contains(".sh"));
        return (Verdict::Class(said.unwrap_or(class_of("run"))), 0);
    }
    (Verdict::Name(named(base, args)), 0)
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

/// What a program's arguments change: where it writes, whether it reads a pipe, whether it reads
/// what people wrote, what it looks for.
fn refined(
    class: &'static Class,
    base: &str,
    args: &[Cow<'_, str>],
    simple: &Simple<'_>,
    piped: bool,
) -> &'static Class {
    let writes = simple
        .writes
        .as_ref()
        .filter(|_| matches!(base, "cat" | "echo" | "printf"));
    if let Some(file) = writes {
        let docs = are_docs(std::slice::from_ref(file));
        return class_of(if docs { "doc_write" } else { "write" });
    }
    let name = match class.name.as_str() {
        "read" | "filter" | "script" if piped && !has_file(base, args) => "filter",
        "search" if looks_for_trouble(args) => "trouble",
        "search" if piped && is_matcher(base) && !has_file(base, args) => "pipe_search",
        "script" | "run" => return script_class(class, args),
        "db_run" if args.iter().any(|a| only_reads(a)) => "db_look",
        "read" | "edit" | "write" if are_docs(args) => match class.name.as_str() {
            "read" => "doc_read",
            "edit" => "doc_edit",
            _ => "doc_write",
        },
        _ => return class,
    };
    class_of(name)
}

/// Finds lines; without a file among what it reads.
fn is_matcher(base: &str) -> bool {
    ["grep", "egrep", "fgrep", "rg", "ag", "ack", "findstr"].contains(&base) || is_cmdlet(base)
}

fn is_cmdlet(base: &str) -> bool {
    ["Where-Object", "Select-String", "sls", "?"].contains(&base)
}

/// A pipe's reader that names a file reads that.
fn has_file(base: &str, args: &[Cow<'_, str>]) -> bool {
    let programs = ["sed", "awk", "gawk", "jq", "yq", "mawk"];
    let patterns = usize::from(programs.contains(&base) || is_matcher(base));
    !is_cmdlet(base)
        && args
            .iter()
            .filter(|a| !is_flag(a) && !a.bytes().all(|b| b.is_ascii_digit()))
            .count()
            > patterns
}

/// `python scripts/smoke_test.py`: what the script's name says.
fn script_class(class: &'static Class, args: &[Cow<'_, str>]) -> &'static Class {
    let Some(script) = args.iter().find(|a| !is_flag(a)) else {
        return class;
    };
    let inline = args
        .iter()
        .any(|a| matches!(&**a, "-c" | "-e" | "-p" | "--eval"));
    let is_file = script.contains(['.', '/']) && !script.contains(char::is_whitespace);
    if inline || !is_file {
        return class;
    }
    let name = script.rsplit(['/', '\\']).next().unwrap_or(script);
    TABLE
        .target(name)
        .filter(|found| found.name == "test")
        .unwrap_or(class_of("run"))
}

/// Conflict markers, errors, failures.
fn looks_for_trouble(args: &[Cow<'_, str>]) -> bool {
    const MARKS: [&str; 4] = ["<<<<<<<", ">>>>>>>", "======", "panicked"];
    let Some(pattern) = args.iter().find(|a| !is_flag(a)) else {
        return false;
    };
    let log = args.iter().any(|a| a.ends_with(".log"));
    let lower = pattern.to_ascii_lowercase();
    let failure = ["error", "fail", "exception", "undefined", "warning"];
    MARKS.iter().any(|mark| pattern.contains(mark))
        || (log && failure.iter().any(|word| lower.contains(word)))
}

/// A query that changes nothing.
fn only_reads(arg: &str) -> bool {
    const READS: [&str; 8] = [
        "select", "explain", "show", "describe", "pragma", ".schema", ".tables", "\\d",
    ];
    let start = arg.trim_start().as_bytes();
    READS.iter().any(|word| {
        start
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Every file that is named is a text for people.
fn are_docs(args: &[Cow<'_, str>]) -> bool {
    const ENDINGS: [&str; 6] = [".md", ".mdx", ".rst", ".adoc", ".tex", ".markdown"];
    let files = args
        .iter()
        .filter(|a| !is_flag(a) && a.contains('.') && !a.contains(char::is_whitespace));
    let mut any = false;
    let all = files.into_iter().all(|file| {
        any = true;
        ENDINGS.iter().any(|ending| file.ends_with(ending))
    });
    any && all
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
        let found = tokens.find_map(|token| {
            let token = token.to_ascii_lowercase();
            TABLE
                .verbs
                .get(&token)
                .copied()
                .or_else(|| names::intent(&token))
        });
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
