//! A model that goes on failing is never silent, as a sink isn't: since when, what waits for it, why.
//!
//! Knows what the step met; refuses to decide whom a missing answer is to blame on.

use super::models::Silence;
use super::report::EnrichReport;
use crate::pipeline::alarms::{self, Alarm, Trouble};
use crate::pipeline::context::RunContext;
use crate::pipeline::notify;
use crate::pipeline::options::ms;
use crate::store::Store;
use anyhow::Result;

/// How one model stands after a run.
struct Standing<'a> {
    /// `llm`, `embeddings`: what of the settings names it.
    setting: &'static str,
    who: String,
    silence: Option<&'a Silence>,
    /// It was left alone, since it failed before.
    rests: bool,
    waiting: u64,
    unit: &'static str,
    again: &'static str,
}

impl Standing<'_> {
    fn trouble(&self, known: Option<&Alarm>) -> Option<Trouble> {
        let reason = match (self.silence, known) {
            (Some(silence), _) => silence.why.clone(),
            (None, Some(known)) if self.rests && self.waiting > 0 => known.reason.clone(),
            (None, _) => return None,
        };
        let is_lasting = self.silence.is_some_and(|silence| silence.is_lasting);
        Some(Trouble {
            reason,
            waiting: self.waiting,
            unit: self.unit,
            is_lasting,
            is_untried: self.silence.is_none(),
            hint: match is_lasting {
                true => format!("see {} in: sessionmill config show", self.setting),
                false => self.again.to_owned(),
            },
        })
    }
}

/// Keeps what goes on failing, and tells whoever is to be told when that begins and ends.
///
/// # Errors
/// When our folder can't be written, or nobody can be told.
pub fn sound(done: &EnrichReport, store: &Store, cx: &mut RunContext<'_>) -> Result<Vec<Alarm>> {
    let after_ms = ms(cx.loaded.config.delivery.alarm_after_s);
    let (mut ringing, mut changes) = (Vec::new(), Vec::new());
    for standing in standings(done, cx) {
        let known = alarms::of(&standing.who, cx.home);
        let trouble = standing.trouble(known.as_ref());
        let noted = alarms::note(&standing.who, trouble.as_ref(), after_ms, cx.home, cx.now)?;
        ringing.extend(noted.0.filter(|alarm| alarm.rings));
        changes.extend(noted.1);
    }
    notify::of_alarms(&changes, store, cx)?;
    Ok(ringing)
}

fn standings<'d>(done: &'d EnrichReport, cx: &RunContext<'_>) -> Vec<Standing<'d>> {
    let config = &cx.loaded.config;
    let (sessions, condensed) = (&done.llm_summaries, &done.condensed);
    let llm = config.llm.as_ref().map(|llm| {
        let (waiting, unit) = match (sessions.waiting, condensed.waiting) {
            (0, 0) => (done.tools.waiting(), "unknown tool"),
            (0, episodes) => (episodes, "episode"),
            (sessions, _) => (sessions, "session"),
        };
        let silence = sessions.silence.as_ref();
        let silence = silence.or(condensed.silence.as_ref());
        Standing {
            setting: "llm",
            who: format!("language model {}", llm.model),
            silence: silence.or(done.tools.silence.as_ref()),
            rests: sessions.rests_until.is_some() || condensed.rests,
            waiting,
            unit,
            again: "sessionmill run --ask-again",
        }
    });
    let embedder = config.embeddings.as_ref().map(|embeddings| Standing {
        setting: "embeddings",
        who: format!("embedding model {}", embeddings.model),
        silence: done.embedded.silence.as_ref(),
        rests: false,
        waiting: done.embedded.waiting,
        unit: "text",
        again: "sessionmill run",
    });
    llm.into_iter().chain(embedder).collect()
}
