//! What is known of one session, as the preview and `--plain` show it: where it is from, what was found in
//! it, what it came to. Knows no screen.

use super::finder::{Finder, SessionEntry};
use crate::cli::session_filters::outcome;
use crate::memory::session_summary::{sections_beside, shown_summary, title_in};
use crate::model::error::Error;
use crate::model::human;
use crate::model::layout::markdown::rendered;
use crate::model::layout::style::{Style, paint};
use crate::model::layout::wrap::hanging;
use crate::model::session::SessionLength;
use crate::model::summary::is_quiet;
use crate::store::Found;

/// One session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it is from and how it ended: `shop-api · claude · 3 months ago · 40 min · completed`.
    pub head: String,
    /// Its whole id, and when it began and ended.
    pub identity: String,
    /// What it came to, as Markdown; where nothing is known of that, how it began.
    pub body: String,
}

/// Of a session that has no summary, so many characters are shown.
const BEGINNING_CHARS: usize = 4_000;

impl Finder {
    /// What is known of a session; `None`: it is gone.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn preview(&mut self, id: &str) -> Result<Option<Preview>, Error> {
        let Some(row) = self.store.session_among(id, None)? else {
            return Ok(None);
        };
        let session = &row.session;
        let hides = self.hidden.of(&session.project_path, &self.loaded);
        let episodes = self.store.episodes(&session.id)?;
        let (summary, _) = shown_summary(&self.store, &row, &episodes, hides)?;
        let work = self.judge.activity(&self.store.activity(&session.id)?);
        let length = self.store.length(&session.id)?;
        let facts = &session.facts;
        let title = title_in(&row, &summary, &episodes);
        let title = title.as_deref().unwrap_or("(no title)");
        let cells = [
            paint(Style::Name, &self.project(&session.namespace)),
            session.branch.clone().unwrap_or_default(),
            session.agent.as_str().to_owned(),
            facts
                .ended
                .map_or_else(String::new, |at| human::ago(at, self.now)),
            length.and_then(SessionLength::shown).unwrap_or_default(),
            outcome(summary.outcome, is_quiet(facts.ended, self.now)),
            work.word().to_owned(),
        ];
        let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        let [from, to] = [facts.started, facts.ended].map(|at| human::time(at, self.zone));
        let sections = sections_beside(&summary, title);
        let body = match sections.trim().is_empty() {
            true => beginning(&episodes),
            false => sections,
        };
        Ok(Some(Preview {
            id: session.id.clone(),
            title: title.to_owned(),
            head: cells.join(" · "),
            identity: format!("{}, {from} to {to}", session.id),
            body,
        }))
    }
}

fn beginning(episodes: &[Found]) -> String {
    let text = episodes.first().map_or("", |found| &found.episode.text);
    match text.is_empty() {
        true => "(the text is stored by the sinks only: upload.keep_local is false)".to_owned(),
        false => text.chars().take(BEGINNING_CHARS).collect(),
    }
}

impl Preview {
    /// As lines of so many columns, with marks; what was found comes first.
    pub fn lines(&self, entry: &SessionEntry, columns: usize) -> Vec<String> {
        let columns = Some(columns.max(8));
        let mut text = hanging(&paint(Style::Bold, &entry.title), "", "", columns);
        text += &hanging(&self.head, "", "", columns);
        text += &hanging(&paint(Style::Dim, &self.identity), "", "", columns);
        if let Some(passage) = &entry.passage {
            text += &format!("\n{}", paint(Style::Bold, "Found"));
            text += &format!("\n{}", hanging(passage, "", "", columns));
        }
        let body = rendered(&self.body, columns);
        text += &format!("\n{}", body.trim_start_matches('\n'));
        text.lines().map(str::to_owned).collect()
    }
}
