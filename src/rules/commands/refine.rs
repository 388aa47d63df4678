//! What a command's arguments change of what its program is for.

use super::super::shell::Simple;
use super::table::{Class, Program, TABLE, is_flag};
use crate::model::classification::Intent;
use memchr::memmem;
use std::borrow::Cow;

/// A command that is looked up.
pub(super) struct Looked<'c, 't> {
    /// Its first word as it was given.
    pub word: &'c str,
    /// The same as the table names it.
    pub base: &'c str,
    pub program: Option<&'static Program>,
    pub args: &'c [Cow<'t, str>],
    /// The first of them that are no options.
    pub subs: &'c [&'c str],
    pub simple: &'c Simple<'t>,
    /// It reads another command's output.
    pub piped: bool,
}

/// What a program's arguments change: where it writes, whether it reads a pipe, whether it reads
/// what people wrote, what it looks for.
pub(super) fn refined(class: &'static Class, command: &Looked<'_, '_>) -> &'static Class {
    let Looked {
        base,
        args,
        simple,
        piped,
        ..
    } = *command;
    let writes = simple
        .writes
        .as_ref()
        .filter(|_| matches!(base, "cat" | "echo" | "printf"));
    if let Some(file) = writes {
        let docs = are_docs(std::slice::from_ref(file));
        return TABLE.class(if docs { "doc_write" } else { "write" });
    }
    if let Some(name) = only_looks(class, command) {
        return TABLE.class(name);
    }
    let name = match class.name.as_str() {
        "script" | "run" if is_package_language(base) && has_inline(args) => {
            let said = args.iter().find_map(|code| TABLE.target(code));
            return said.unwrap_or(TABLE.class("script"));
        }
        "read" | "filter" | "script" if piped && !has_file(base, args) => "filter",
        "search" if looks_for_trouble(args) => "trouble",
        "search" if piped && is_matcher(base) && !has_file(base, args) => "pipe_search",
        "script" | "run" => return script_class(class, args),
        "db_run" if args.iter().any(|a| starts_with(a, &DB_EDITS)) => "db_edit",
        "db_run" if args.iter().any(|a| starts_with(a, &DB_READS)) => "db_look",
        "cloud" => cloud_class(command.subs).unwrap_or("cloud"),
        "read" | "edit" | "write" if are_docs(args) => match class.name.as_str() {
            "read" => "doc_read",
            "edit" => "doc_edit",
            _ => "doc_write",
        },
        _ => return class,
    };
    TABLE.class(name)
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
    let inline = has_inline(args);
    let is_file = script.contains(['.', '/']) && !script.contains(char::is_whitespace);
    if inline || !is_file {
        return class;
    }
    let name = script.rsplit(['/', '\\']).next().unwrap_or(script);
    TABLE
        .target(name)
        .filter(|found| found.name == "test")
        .unwrap_or(TABLE.class("run"))
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
    let marks = |mark: &&str| memmem::find(pattern.as_bytes(), mark.as_bytes()).is_some();
    MARKS.iter().any(marks) || (log && failure.iter().any(|word| lower.contains(word)))
}

/// Queries that change nothing.
const DB_READS: [&str; 18] = [
    "select", "with ", "explain", "show", "describe", "pragma", ".schema", ".tables", "\\d", "\\l",
    "keys", "scan", "hgetall", "lrange", "smembers", "ttl", "dbsize", "mget",
];

/// Queries that change something.
const DB_EDITS: [&str; 10] = [
    "insert", "update", "delete", "alter", "create", "drop", "truncate", "flush", "grant", "merge",
];

fn starts_with(arg: &str, words: &[&str]) -> bool {
    let start = arg.trim_start().as_bytes();
    words.iter().any(|word| {
        start
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// What asks a program that does something for something else: whether it would, whether it is well, or
/// what it knows.
fn only_looks(class: &Class, command: &Looked<'_, '_>) -> Option<&'static str> {
    const TRIES: [&str; 4] = ["--dry-run", "--whatif", "--what-if", "--noop"];
    const CHECKS: [&str; 4] = ["--check", "--verify", "--validate", "--lint"];
    let has = |flags: &[&str]| {
        let is_one = |arg: &str| {
            let name = arg.split('=').next().unwrap_or(arg);
            flags.iter().any(|flag| name.eq_ignore_ascii_case(flag))
        };
        command.args.iter().any(|arg| is_one(arg))
    };
    match class.intent {
        Intent::Read | Intent::Search | Intent::Validate => return None,
        _ if matches!(
            &*class.name,
            "script" | "run" | "nothing" | "agent" | "commit"
        ) =>
        {
            return None;
        }
        Intent::Configure if has(&CHECKS) => return Some("dry_run"),
        Intent::Transform | Intent::Execute if has(&CHECKS) => return Some("check"),
        _ if has(&TRIES) => return Some("dry_run"),
        _ => {}
    }
    let named = command.program?.names(command.subs);
    let asks = (class.name == "build" && !named).then(|| TABLE.verb(command.subs.first()?))??;
    matches!(asks, Intent::Read | Intent::Search).then_some("code_search")
}

/// What the verb of a cloud's command says: `aws ec2 describe-instances`, `az group delete`.
fn cloud_class(subs: &[&str]) -> Option<&'static str> {
    let intent = subs
        .iter()
        .rev()
        .find_map(|sub| sub.split('-').find_map(|word| TABLE.verb(word)))?;
    Some(match intent {
        Intent::Read | Intent::Search => "net_look",
        Intent::Delete => "cloud_drop",
        Intent::Create => "cloud_new",
        Intent::Modify | Intent::Configure => "cloud_set",
        _ => return None,
    })
}

/// Languages whose short scripts on the command line mostly call their packages' tools.
fn is_package_language(base: &str) -> bool {
    matches!(base, "R" | "Rscript" | "julia")
}

fn has_inline(args: &[Cow<'_, str>]) -> bool {
    args.iter()
        .any(|a| matches!(&**a, "-c" | "-e" | "-p" | "--eval" | "--print"))
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
