//! `show ID:LINE`: the transcript from the line of the log that a summary, a recap or `why` names. Knows how such
//! a place is typed, and where in the stored text it is.

use super::printed::{head, origin, text};
use super::shown::ShownSession;
use crate::cli::ctx::Ctx;
use crate::cli::exit::Exit;
use crate::cli::out::Style;
use crate::memory::session_activity::Judge;
use crate::model::episode::EpisodeSource;
use crate::model::error::{Error, ErrorKind};
use crate::model::human;
use crate::model::item::apart;
use crate::model::layout::markdown::plain;
use crate::store::{Found, Store};
use anyhow::Result;

/// The id and the line of what was typed; no line where none was.
pub(super) fn place(typed: &str) -> (&str, Option<u64>) {
    let place = typed.rsplit_once(':');
    let place = place.and_then(|(id, line)| Some((id, line.parse().ok()?)));
    match place {
        Some((id, line)) if !id.is_empty() => (id, Some(line)),
        _ => (typed, None),
    }
}

/// Prints the transcript from the item on that this line of the log is part of.
pub(super) fn show(
    shown: &ShownSession,
    line: u64,
    (store, judge): (&Store, &Judge),
    ctx: &mut Ctx,
) -> Result<Exit> {
    let session = &shown.row.session;
    let id = ctx.session_shown(&session.id)?;
    // what sums the session up is no part of what was said
    let said = shown.episodes.iter();
    let said = said.filter(|found| found.episode.source == EpisodeSource::Session);
    let said: Vec<&Found> = said.collect();
    let Some(first) = holding(&said, line) else {
        let message = format!("session {id} has no line {line}");
        let hint = format!("sessionmill show {id} --full");
        return Err(Error::new(ErrorKind::Failed, message).hinted(hint).into());
    };
    ctx.out.page(&ctx.env.vars)?;
    let title = shown.title().unwrap_or_else(|| "(no title)".to_owned());
    let title = plain(&human::whole_title(&title));
    ctx.out.words("", "", &ctx.out.paint(Style::Bold, &title))?;
    head(session, &shown.work, ctx)?;
    for (nth, found) in said.iter().enumerate().skip(first) {
        ctx.out.line("")?;
        let from = match nth == first {
            true => format!("from line {line}, "),
            false => String::new(),
        };
        let rule = format!("--- {from}{}", origin(found, judge, ctx));
        ctx.out.line(ctx.out.paint(Style::Dim, &rule))?;
        match nth == first {
            true => ctx.out.line(rest(found, line, store)?)?,
            false => text(found, ctx)?,
        }
    }
    ctx.out.line("")?;
    let all = format!("Whole transcript: sessionmill show {id} --full");
    ctx.out.line(ctx.out.paint(Style::Dim, &all))?;
    Ok(Exit::Done)
}

/// The episode that the line is in: one of the main log, where several logs have such a line.
fn holding(said: &[&Found], line: u64) -> Option<usize> {
    let holds = |found: &&Found| {
        let (first, last) = found.episode.lines;
        (first..=last).contains(&line)
    };
    let of_main = |found: &&Found| found.episode.stream.is_none();
    let mut all = said.iter().enumerate().filter(|(_, found)| holds(found));
    let first = all.next()?.0;
    let of_main = std::iter::once((first, &said[first]))
        .chain(all)
        .find(|(_, found)| of_main(found));
    Some(of_main.map_or(first, |(nth, _)| nth))
}

/// The episode's text from the last item on that begins at this line or before it.
fn rest(found: &Found, line: u64, store: &Store) -> Result<String> {
    let text = found.episode.text.as_str();
    let marks = store.outline(found.episode.id)?;
    let at = marks.iter().rposition(|mark| mark.line <= line);
    let item = at.and_then(|at| Some(*apart(text, &marks)?.get(at)?));
    let begins = item.map_or(0, |item| item.as_ptr().addr() - text.as_ptr().addr());
    Ok(text.get(begins..).unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_an_id_and_a_line() {
        for (typed, wants) in [
            ("7072595a:211", ("7072595a", Some(211))),
            ("7072595a", ("7072595a", None)),
            ("7072595a:", ("7072595a:", None)),
            (":7", (":7", None)),
            ("a:b", ("a:b", None)),
        ] {
            assert_eq!(place(typed), wants, "{typed}");
        }
    }
}
