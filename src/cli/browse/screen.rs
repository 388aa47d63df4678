//! `browse` on a terminal: keys and answers to the state, what follows from them to the store and the screen.
//! Questions are asked by threads of their own, so that no key waits for an answer; of several that wait, the
//! last one counts.

use super::finder::{Ask, Finder, SessionList};
use super::preview::Preview;
use super::state::{BrowseEffect, BrowseEvent, BrowseState};
use super::terminal::Screen;
use super::view::draw;
use crate::agents::registry;
use crate::cli::ctx::Ctx;
use crate::cli::exit::Exit;
use crate::cli::{resume, show};
use crate::host::interrupt;
use crate::model::error::{Error, ErrorKind};
use crate::pipeline::resume::resumable;
use anyhow::Result;
use crossterm::event::{self, Event as Heard};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

/// How long a key is waited for while an answer is to come. Longer: answers are seen later.
const WAIT_FOR_ANSWER: Duration = Duration::from_millis(2);
/// The same while nothing is to come: how late a terminal that was stopped is drawn anew.
const WAIT: Duration = Duration::from_millis(200);
/// How long the first screen waits for its sessions, so that it isn't drawn twice.
const FIRST: Duration = Duration::from_millis(25);

/// Shows sessions until a person leaves.
///
/// # Errors
/// When the terminal is lost, a thread can't be started, or a session can't be continued.
pub fn run(words: &str, finder: Finder, allow_untrusted: bool, ctx: &mut Ctx) -> Result<Exit> {
    let choices = finder.choices();
    let previewer = finder.again(ctx)?;
    let here = finder.again(ctx)?;
    let colour = ctx.out.has_colour();
    ctx.out.flush()?;
    let screen = Screen::new()?;
    let (state, effects) = BrowseState::new(words, choices, screen.size()?);
    let mut browse = Browse {
        state,
        screen,
        here,
        answers: Answers::new(finder, previewer)?,
        allow_untrusted,
        copied: None,
        leaves: None,
    };
    browse.apply(effects, ctx)?;
    browse.answers.first(&mut browse.state);
    browse.go_on(colour, ctx)?;
    let Browse {
        screen,
        copied,
        leaves,
        ..
    } = browse;
    drop(screen);
    if let Some(command) = copied {
        ctx.out.line(command)?;
    }
    match leaves.flatten() {
        Some(session) => resume::run(&resume::Args::of(session, allow_untrusted), ctx),
        None => Ok(Exit::Done),
    }
}

struct Browse {
    state: BrowseState,
    screen: Screen,
    /// For what is asked for by a key and answered at once.
    here: Finder,
    answers: Answers,
    allow_untrusted: bool,
    /// The command that was copied last.
    copied: Option<String>,
    /// A person leaves; with the session that they go on with.
    leaves: Option<Option<String>>,
}

impl Browse {
    fn go_on(&mut self, colour: bool, ctx: &mut Ctx) -> Result<()> {
        while self.leaves.is_none() {
            let state = &self.state;
            self.screen.draw(|frame| {
                let size = frame.area();
                match (size.width, size.height) == state.size {
                    true => draw(frame, state, colour),
                    false => {
                        let mut state = state.clone();
                        state.on(BrowseEvent::Resize(size.width, size.height));
                        draw(frame, &state, colour);
                    }
                }
            })?;
            self.wait(ctx)?;
        }
        Ok(())
    }

    /// Until something happened.
    fn wait(&mut self, ctx: &mut Ctx) -> Result<()> {
        loop {
            let mut happened = self.screen.is_blank();
            while let Some(event) = self.answers.next()? {
                happened = true;
                let effects = self.state.on(event);
                self.apply(effects, ctx)?;
            }
            let is_due = self.state.is_waiting() || self.state.awaits_preview;
            let wait = match (happened, is_due) {
                (true, _) => Duration::ZERO,
                (false, true) => WAIT_FOR_ANSWER,
                (false, false) => WAIT,
            };
            let mut is_there = event::poll(wait)?;
            while is_there && self.leaves.is_none() {
                happened = true;
                let event = match event::read()? {
                    Heard::Key(key) => Some(BrowseEvent::Key(key)),
                    Heard::Paste(text) => Some(BrowseEvent::Paste(text)),
                    Heard::Resize(columns, lines) => Some(BrowseEvent::Resize(columns, lines)),
                    _ => None,
                };
                let effects = event.map(|event| self.state.on(event));
                self.apply(effects.unwrap_or_default(), ctx)?;
                is_there = event::poll(Duration::ZERO)?;
            }
            if happened || self.leaves.is_some() {
                return Ok(());
            }
        }
    }

    fn apply(&mut self, effects: Vec<BrowseEffect>, ctx: &mut Ctx) -> Result<()> {
        for effect in effects {
            match effect {
                BrowseEffect::Find(nth, ask) => self.answers.find(nth, ask),
                BrowseEffect::Preview(id) => self.answers.preview(id),
                BrowseEffect::Resume(id) => match self.may_resume(&id, ctx) {
                    Ok(()) => self.leaves = Some(Some(id)),
                    Err(error) => self.say(&shown(&error)),
                },
                BrowseEffect::Copy(id) => match self.command(&id) {
                    Ok(command) => {
                        self.screen.copy(&command)?;
                        self.say(&format!("copied: {command}"));
                        self.copied = Some(command);
                    }
                    Err(error) => self.say(&shown(&error)),
                },
                BrowseEffect::Read(id) => self.read(id, ctx)?,
                BrowseEffect::Suspend => interrupt::stop()?,
                BrowseEffect::Quit => self.leaves = Some(None),
            }
        }
        Ok(())
    }

    fn say(&mut self, text: &str) {
        self.state.on(BrowseEvent::Said(text.to_owned()));
    }

    fn may_resume(&self, id: &str, ctx: &Ctx) -> Result<(), Error> {
        let row = self.here.store.session_among(id, None)?;
        let session = row.ok_or_else(|| gone(id))?.session;
        let shown = self.here.store.session_shown(id, crate::store::TYPED)?;
        resumable(&self.here.store, &session, &shown, &ctx.env).map(drop)
    }

    fn command(&self, id: &str) -> Result<String, Error> {
        let row = self.here.store.session_among(id, None)?;
        let session = row.ok_or_else(|| gone(id))?.session;
        let none = || {
            let agent = session.agent.as_str();
            Error::new(
                ErrorKind::Failed,
                format!("no command continues {agent} sessions"),
            )
        };
        registry::resume(&session).ok_or_else(none)
    }

    /// Gives the terminal to the pager with a session, and takes it again.
    fn read(&mut self, id: String, ctx: &mut Ctx) -> Result<()> {
        self.screen.give_back();
        // what fits the screen is looked at too: the pager waits for its key
        let less = ctx.env.vars.get("LESS").cloned();
        let waits = format!("{} -+F", less.as_deref().unwrap_or("R"));
        ctx.env.vars.insert("LESS".to_owned(), waits);
        let shown = show::run(&show::Args::transcript(id, self.allow_untrusted), ctx);
        let paged = ctx.out.end_page()?;
        if !paged {
            ctx.ask("Press Enter to go back.")?;
        }
        match less {
            Some(less) => ctx.env.vars.insert("LESS".to_owned(), less),
            None => ctx.env.vars.remove("LESS"),
        };
        self.screen.take()?;
        if let Err(error) = shown {
            self.say(&format!("{error:#}"));
        }
        Ok(())
    }
}

fn gone(id: &str) -> Error {
    Error::new(ErrorKind::Failed, format!("session {id} is gone"))
}

/// What to type instead, and why: a narrow screen cuts the end.
fn shown(error: &Error) -> String {
    match &error.hint {
        Some(hint) => format!("{hint}   ({})", error.message),
        None => error.message.clone(),
    }
}

/// The threads that ask the store.
struct Answers {
    asks: Sender<(u64, Ask)>,
    looks: Sender<String>,
    came: Receiver<BrowseEvent>,
}

impl Answers {
    fn new(mut finder: Finder, mut previewer: Finder) -> Result<Answers> {
        let (tell, came) = channel();
        let (asks, asked) = channel::<(u64, Ask)>();
        let (looks, looked) = channel::<String>();
        let tells = tell.clone();
        let finds = move || {
            let mut waits: Option<(u64, Ask)> = None;
            while let Some((nth, ask)) = waits.take().or_else(|| asked.recv().ok()) {
                let (nth, ask) = last(&asked).unwrap_or((nth, ask));
                let newer = std::cell::Cell::new(None);
                let found = finder.find(&ask, &|| {
                    if let Some(next) = last(&asked) {
                        newer.set(Some(next));
                    }
                    let next = newer.take();
                    let is_stale = next.is_some();
                    newer.set(next);
                    is_stale
                });
                waits = newer.take();
                if tells.send(found_event(nth, found)).is_err() {
                    break;
                }
            }
        };
        let previews = move || {
            while let Ok(id) = looked.recv() {
                let id = last(&looked).unwrap_or(id);
                let known = previewer.preview(&id);
                let known = known.and_then(|known| known.ok_or_else(|| gone(&id)));
                if tell.send(previewed(&id, known)).is_err() {
                    break;
                }
            }
        };
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        named("find").spawn(finds)?;
        named("preview").spawn(previews)?;
        Ok(Answers { asks, looks, came })
    }

    fn find(&self, nth: u64, ask: Ask) {
        // a thread that is gone is noticed where answers are waited for
        let _ = self.asks.send((nth, ask));
    }

    fn preview(&self, id: String) {
        let _ = self.looks.send(id);
    }

    /// Waits a little for the first answer, and for the preview that follows from it.
    fn first(&self, state: &mut BrowseState) {
        if let Ok(event) = self.came.recv_timeout(FIRST) {
            for effect in state.on(event) {
                if let BrowseEffect::Preview(id) = effect {
                    self.preview(id);
                }
            }
        }
    }

    fn next(&self) -> Result<Option<BrowseEvent>> {
        match self.came.try_recv() {
            Ok(event) => Ok(Some(event)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => {
                let error = Error::new(ErrorKind::Failed, "browse has stopped searching");
                Err(error.hinted("sessionmill doctor").into())
            }
        }
    }
}

/// The last one of those that wait.
fn last<T>(from: &Receiver<T>) -> Option<T> {
    from.try_iter().last()
}

fn found_event(nth: u64, found: Result<SessionList, Error>) -> BrowseEvent {
    BrowseEvent::Found(nth, found.map_err(|error| shown(&error)))
}

fn previewed(id: &str, known: Result<Preview, Error>) -> BrowseEvent {
    let why = |error: Error| format!("session {id}: {}", shown(&error));
    BrowseEvent::Previewed(known.map_err(why))
}
