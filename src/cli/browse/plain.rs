//! `browse --plain`: questions and answers, a line at a time, for screen readers, for terminals that can't
//! draw, and for scripts.

use super::finder::{Ask, Finder, ListOrder, SessionEntry};
use crate::agents::registry;
use crate::cli::ctx::Ctx;
use crate::cli::exit::Exit;
use crate::cli::{resume, show};
use crate::model::activity::Dimension;
use crate::model::error::Error;
use crate::model::human::plural;
use anyhow::Result;

/// Sessions that are listed at a time. More are tiring to listen to.
const LISTED: u32 = 10;

/// What can be typed, besides words to look for.
const HELP: [&str; 9] = [
    "Words: search. Fields too: project:shop since:14d agent:claude",
    "A number: show that session",
    "full NUMBER: its transcript",
    "resume NUMBER: continue it in its agent",
    "command NUMBER: print the command that continues it",
    "open: only open ends, or all sessions again",
    "sort: newest first, or best match first",
    "more: more of the list",
    "quit, or an empty line: end",
];

/// What a line asks for.
#[derive(Debug, PartialEq)]
enum Line<'l> {
    Words(&'l str),
    Show(usize),
    Full(usize),
    Resume(usize),
    Command(usize),
    Open,
    Sort,
    More,
    Help,
    Quit,
}

/// Asks and answers until nothing more is typed.
///
/// # Errors
/// When the store can't be read, or nobody can be answered.
pub fn run(words: &str, mut finder: Finder, untrusted: bool, ctx: &mut Ctx) -> Result<Exit> {
    let mut ask = Ask {
        words: words.to_owned(),
        limit: LISTED,
        ..Ask::default()
    };
    let mut entries = list(&ask, 0, &mut finder, ctx)?;
    while let Some(typed) = next(ctx)? {
        let nth = |number: usize| entries.get(number.wrapping_sub(1));
        let line = line(&typed);
        let entry = match line {
            Line::Show(n) | Line::Full(n) | Line::Resume(n) | Line::Command(n) => match nth(n) {
                Some(entry) => entry.clone(),
                None => {
                    ctx.out
                        .line(format!("there is no number {n} in the list"))?;
                    continue;
                }
            },
            _ => SessionEntry::default(),
        };
        let id = entry.id;
        let done = match line {
            Line::Quit => break,
            Line::Show(_) => show::run(&show::Args::summary(id, untrusted), ctx).map(drop),
            Line::Full(_) => show::run(&show::Args::transcript(id, untrusted), ctx).map(drop),
            Line::Resume(_) => match resume::run(&resume::Args::of(id, untrusted), ctx) {
                Ok(exit) => return Ok(exit),
                Err(error) => Err(error),
            },
            Line::Command(_) => command(&id, &finder, ctx),
            Line::Help => ctx.out.line(HELP.join("\n")),
            Line::Words(_) | Line::Open | Line::Sort | Line::More => {
                let from = change(&mut ask, &line, entries.len());
                entries = list(&ask, from, &mut finder, ctx)?;
                Ok(())
            }
        };
        ctx.out.end_page()?;
        if let Err(error) = done {
            let hint = crate::cli::exit::typed(&error).and_then(|error| error.hint.clone());
            ctx.out.error(&format!("{error:#}"), hint.as_deref())?;
        }
    }
    Ok(Exit::Done)
}

/// Another question; the first entry that hasn't been listed yet.
fn change(ask: &mut Ask, line: &Line<'_>, listed: usize) -> usize {
    match line {
        Line::More => {
            ask.limit = ask.limit.saturating_add(LISTED);
            return listed;
        }
        Line::Words(words) => ask.words = (*words).to_owned(),
        Line::Open => ask.open = !ask.open,
        _ => {
            ask.order = match ask.order {
                ListOrder::Relevance => ListOrder::Newest,
                ListOrder::Newest => ListOrder::Relevance,
            }
        }
    }
    ask.limit = LISTED;
    0
}

fn next(ctx: &mut Ctx) -> Result<Option<String>> {
    if ctx.stdin.terminal {
        ctx.out.flush()?;
        ctx.out.ask("Search, a number, or ? for help:")?;
    }
    let mut typed = String::new();
    ctx.stdin.from.read_line(&mut typed)?;
    let typed = typed.trim().to_owned();
    Ok((!typed.is_empty()).then_some(typed))
}

fn line(typed: &str) -> Line<'_> {
    let (word, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    let number = |text: &str| text.trim().parse::<usize>().ok();
    match (word, number(word), number(rest)) {
        ("quit" | "q" | "exit", ..) if rest.is_empty() => Line::Quit,
        ("?" | "help", ..) if rest.is_empty() => Line::Help,
        ("open", ..) if rest.is_empty() => Line::Open,
        ("sort", ..) if rest.is_empty() => Line::Sort,
        ("more", ..) if rest.is_empty() => Line::More,
        ("full", _, Some(number)) => Line::Full(number),
        ("resume", _, Some(number)) => Line::Resume(number),
        ("command", _, Some(number)) => Line::Command(number),
        (_, Some(number), _) if rest.is_empty() => Line::Show(number),
        _ => Line::Words(typed),
    }
}

/// Prints the sessions from one on; gives all of them.
fn list(ask: &Ask, from: usize, finder: &mut Finder, ctx: &mut Ctx) -> Result<Vec<SessionEntry>> {
    let listed = match finder.find(ask, &|| false) {
        Ok(listed) => listed,
        Err(error) => {
            ctx.out.error(&error.message, error.hint.as_deref())?;
            return Ok(Vec::new());
        }
    };
    if let Some(note) = &listed.note {
        ctx.out.line(note)?;
    }
    for (nth, entry) in listed.entries.iter().enumerate().skip(from) {
        let outcome = entry.outcome.map(|outcome| outcome.words(entry.is_quiet));
        let cells = [
            entry.project.clone(),
            entry.age.clone(),
            entry.agent.clone(),
            outcome.unwrap_or_default().to_owned(),
            entry.work.map_or("", Dimension::as_str).to_owned(),
        ];
        let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        ctx.out
            .words("", "   ", &format!("{}. {}", nth + 1, entry.title))?;
        ctx.out.words("   ", "   ", &cells.join(", "))?;
        if let Some(passage) = &entry.passage {
            ctx.out.words("   ", "   ", passage)?;
        }
    }
    let kind = if ask.open {
        "session that is not completed"
    } else {
        "session"
    };
    let all = listed.entries.len();
    if all == 0 && ask.words.is_empty() && !ask.open {
        ctx.out.note(finder.none_matches()?)?;
        return Ok(Vec::new());
    }
    let last = match (all, listed.more) {
        (0, _) => format!("no {kind} matches"),
        (_, true) => format!("these are {} to {all}; type more for more", from + 1),
        (_, false) if ask.open => format!("{all} not completed"),
        (_, false) => plural(all as u64, "session"),
    };
    ctx.out.line(last)?;
    Ok(listed.entries)
}

fn command(id: &str, finder: &Finder, ctx: &mut Ctx) -> Result<()> {
    let row = finder.store.session_among(id, None)?;
    let command = row.and_then(|row| registry::resume(&row.session));
    let none = || Error::usage(format!("no command continues session {id}"));
    let command = command.ok_or_else(none)?;
    ctx.out.line(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_words_unless_it_is_all_of_a_command() {
        for (typed, wants) in [
            ("token expiry", Line::Words("token expiry")),
            ("open", Line::Open),
            ("open the door", Line::Words("open the door")),
            ("full", Line::Words("full")),
            ("full 3", Line::Full(3)),
            ("3", Line::Show(3)),
            ("3 owls", Line::Words("3 owls")),
            ("resume 12", Line::Resume(12)),
            ("q", Line::Quit),
        ] {
            assert_eq!(line(typed), wants);
        }
    }
}
