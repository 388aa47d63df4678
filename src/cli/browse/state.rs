//! What `browse` shows and what follows from each event: keys and answers in, a state to draw and things to do
//! out. Asks nobody: neither the store nor the terminal nor a clock.

use super::areas::Areas;
use super::finder::{Ask, Choices, ListOrder, SessionEntry, SessionList};
use super::keys::{self, KeyCommand};
use super::menu::{Chosen, Menu, MenuSubject};
use super::preview::Preview;
use super::typed::Typed;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

/// Something happened.
#[derive(Clone, Debug)]
pub enum BrowseEvent {
    /// A key was pressed.
    Key(KeyEvent),
    /// A text was pasted.
    Paste(String),
    /// The screen has another size.
    Resize(u16, u16),
    /// An answer to a question, by its number.
    Found(u64, Result<SessionList, String>),
    /// What is known of a session.
    Previewed(Result<Preview, String>),
    /// Something that a person asked for can't be done, or is done.
    Said(String),
}

/// What has to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum BrowseEffect {
    /// Find, under this number; answers to earlier ones are late.
    Find(u64, Ask),
    /// Say what is known of a session.
    Preview(String),
    /// Go on with it.
    Resume(String),
    /// Copy the command that does.
    Copy(String),
    /// Let a person read it.
    Read(String),
    /// Stop for now.
    Suspend,
    /// End.
    Quit,
}

/// What stands over everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Popup {
    /// The keys.
    Help,
    /// A list to choose from.
    Menu(Menu),
}

/// All that is shown.
#[derive(Clone, Debug, Default)]
pub struct BrowseState {
    /// What is typed.
    pub typed: Typed,
    /// Letters are keys, and nothing is typed.
    pub has_keys: bool,
    /// What is chosen.
    pub chosen: Chosen,
    /// What can be.
    pub choices: Choices,
    /// What stands over everything.
    pub popup: Option<Popup>,
    /// What was found.
    pub listed: SessionList,
    /// Which of them is looked at.
    pub selected: usize,
    /// The first one that is shown.
    pub first: usize,
    /// What is known of it, if that is it.
    pub preview: Option<Preview>,
    /// It was asked for and has still to come.
    pub awaits_preview: bool,
    /// Lines of it that are scrolled away.
    pub scrolled: usize,
    /// What was said last.
    pub said: Option<String>,
    /// The screen's columns and lines.
    pub size: (u16, u16),
    /// Of the last question.
    asked: u64,
    /// Of the last answer.
    answered: u64,
    limit: u32,
}

/// Sessions that are asked for at first, besides those that the screen has room for. Each costs some of the
/// time to the first answer.
const SPARE: u32 = 3;
/// So many times as many are asked for when the end comes into sight.
const FURTHER: u32 = 4;
/// At least so many are, then.
const FURTHER_MIN: u32 = 160;
/// More are not.
const LIMIT_MAX: u32 = 5_000;
/// Sessions before the end from which on it is in sight.
const IN_SIGHT: usize = 10;
/// Lines that a preview is scrolled by.
const SCROLL: usize = 5;

impl BrowseState {
    /// With what is typed already, and what can be chosen; and the first question.
    pub fn new(
        words: &str,
        choices: Choices,
        size: (u16, u16),
    ) -> (BrowseState, Vec<BrowseEffect>) {
        let mut state = BrowseState {
            typed: Typed::new(words),
            choices,
            size,
            ..BrowseState::default()
        };
        let first = state.ask(state.screenful());
        (state, first)
    }

    /// The session that is looked at.
    pub fn entry(&self) -> Option<&SessionEntry> {
        self.listed.entries.get(self.selected)
    }

    /// An answer is still to come.
    pub fn is_waiting(&self) -> bool {
        self.answered < self.asked
    }

    /// Takes an event.
    pub fn on(&mut self, event: BrowseEvent) -> Vec<BrowseEffect> {
        match event {
            BrowseEvent::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
            BrowseEvent::Key(key) => {
                self.said = None;
                match self.popup.take() {
                    Some(Popup::Help) => Vec::new(),
                    Some(Popup::Menu(menu)) => self.in_menu(menu, &key),
                    None => self.key(&key),
                }
            }
            BrowseEvent::Paste(text) => {
                self.typed.insert(&text);
                self.has_keys = false;
                self.ask(self.screenful())
            }
            BrowseEvent::Resize(columns, lines) => {
                self.size = (columns, lines);
                self.show();
                match self.listed.more && self.limit < self.screenful() {
                    true => self.ask(self.screenful()),
                    false => Vec::new(),
                }
            }
            BrowseEvent::Found(nth, found) => self.found(nth, found),
            BrowseEvent::Previewed(Ok(preview)) => {
                if self.entry().is_some_and(|entry| entry.id == preview.id) {
                    self.preview = Some(preview);
                    self.awaits_preview = false;
                }
                Vec::new()
            }
            BrowseEvent::Previewed(Err(why)) => {
                self.said = Some(why);
                self.awaits_preview = false;
                Vec::new()
            }
            BrowseEvent::Said(why) => {
                self.said = Some(why);
                Vec::new()
            }
        }
    }

    fn key(&mut self, key: &KeyEvent) -> Vec<BrowseEffect> {
        let asks = keys::command(key, !self.has_keys, self.typed.is_blank());
        if let Some(command) = asks {
            return self.command(command);
        }
        match (self.has_keys, key.code) {
            (true, KeyCode::Char(_)) => {
                self.said = Some("that is not a key: press / to type, ? for help".to_owned());
                Vec::new()
            }
            (true, _) => Vec::new(),
            (false, _) => match self.typed.take(key) {
                Some(true) => self.ask(self.screenful()),
                _ => Vec::new(),
            },
        }
    }

    fn command(&mut self, command: KeyCommand) -> Vec<BrowseEffect> {
        let screen = Areas::of(self.size.0, self.size.1).entries().max(1) as isize;
        match command {
            KeyCommand::Up => return self.by(-1),
            KeyCommand::Down => return self.by(1),
            KeyCommand::PageUp => return self.by(-screen),
            KeyCommand::PageDown => return self.by(screen),
            KeyCommand::First => return self.by(isize::MIN),
            KeyCommand::Last => return self.by(isize::MAX),
            KeyCommand::ScrollUp => self.scrolled = self.scrolled.saturating_sub(SCROLL),
            KeyCommand::ScrollDown => self.scrolled = self.scrolled.saturating_add(SCROLL),
            KeyCommand::Resume => return self.with_entry(BrowseEffect::Resume),
            KeyCommand::Copy => return self.with_entry(BrowseEffect::Copy),
            KeyCommand::Read => return self.with_entry(BrowseEffect::Read),
            KeyCommand::Project => self.open(MenuSubject::Project),
            KeyCommand::Agent => self.open(MenuSubject::Agent),
            KeyCommand::Since => self.open(MenuSubject::Since),
            KeyCommand::Work => self.open(MenuSubject::Work),
            KeyCommand::Open => {
                self.chosen.open = !self.chosen.open;
                return self.ask(self.screenful());
            }
            KeyCommand::Sort => {
                self.chosen.order = match self.chosen.order {
                    ListOrder::Relevance => ListOrder::Newest,
                    ListOrder::Newest => ListOrder::Relevance,
                };
                return self.ask(self.screenful());
            }
            KeyCommand::Reset => {
                self.typed = Typed::default();
                self.chosen = Chosen::default();
                return self.ask(self.screenful());
            }
            KeyCommand::Switch => self.has_keys = !self.has_keys,
            KeyCommand::Type => self.has_keys = false,
            KeyCommand::Help => self.popup = Some(Popup::Help),
            KeyCommand::Suspend => return vec![BrowseEffect::Suspend],
            KeyCommand::Quit => return vec![BrowseEffect::Quit],
        }
        Vec::new()
    }

    fn open(&mut self, about: MenuSubject) {
        let menu = Menu::new(about, &self.choices, &self.chosen);
        self.popup = Some(Popup::Menu(menu));
    }

    fn in_menu(&mut self, mut menu: Menu, key: &KeyEvent) -> Vec<BrowseEffect> {
        let page = isize::try_from(self.size.1 / 2).unwrap_or(1).max(1);
        match key.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Char(_) if keys::command(key, true, false) == Some(KeyCommand::Quit) => {
                return Vec::new();
            }
            KeyCode::Enter => {
                menu.choose(&self.choices, &mut self.chosen);
                return self.ask(self.screenful());
            }
            KeyCode::Up => menu.by(-1),
            KeyCode::Down | KeyCode::Tab => menu.by(1),
            KeyCode::PageUp => menu.by(-page),
            KeyCode::PageDown => menu.by(page),
            KeyCode::Home => menu.by(isize::MIN),
            KeyCode::End => menu.by(isize::MAX),
            KeyCode::Char(letter) => menu.to(letter),
            _ => {}
        }
        self.popup = Some(Popup::Menu(menu));
        Vec::new()
    }

    fn with_entry(&mut self, effect: fn(String) -> BrowseEffect) -> Vec<BrowseEffect> {
        match self.entry() {
            Some(entry) => vec![effect(entry.id.clone())],
            None => {
                self.said = Some("no session is selected".to_owned());
                Vec::new()
            }
        }
    }

    /// Asks for so many sessions by what is typed and chosen now.
    fn ask(&mut self, limit: u32) -> Vec<BrowseEffect> {
        self.asked += 1;
        self.limit = limit;
        let chosen = self.chosen.clone();
        let ask = Ask {
            words: self.typed.text().to_owned(),
            project: chosen.project,
            agent: chosen.agent,
            since: chosen.since.map(|(_, when)| when),
            work: chosen.work,
            open: chosen.open,
            order: chosen.order,
            limit,
        };
        vec![BrowseEffect::Find(self.asked, ask)]
    }

    fn found(&mut self, nth: u64, found: Result<SessionList, String>) -> Vec<BrowseEffect> {
        if nth != self.asked {
            return Vec::new();
        }
        self.answered = nth;
        let listed = match found {
            Ok(listed) => listed,
            // what stands there is no answer to this
            Err(why) => SessionList {
                note: Some(why),
                ..SessionList::default()
            },
        };
        // asked for more of the same, a person stays where they are
        let stays = self.limit > self.screenful();
        let id = self.entry().filter(|_| stays).map(|entry| entry.id.clone());
        let before = self.entry().cloned();
        let same = id.and_then(|id| listed.entries.iter().position(|entry| entry.id == id));
        self.listed = listed;
        self.selected = same.unwrap_or(0);
        if same.is_none() {
            self.first = 0;
        }
        self.show();
        match self.entry() {
            Some(entry) if before.as_ref() != Some(entry) || !self.is_previewed() => self.look(),
            Some(_) => Vec::new(),
            None => {
                self.preview = None;
                self.awaits_preview = false;
                Vec::new()
            }
        }
    }

    /// Moves what is looked at by so many sessions.
    fn by(&mut self, step: isize) -> Vec<BrowseEffect> {
        let last = self.listed.entries.len().saturating_sub(1);
        let selected = self.selected.saturating_add_signed(step).min(last);
        if selected == self.selected || self.listed.entries.is_empty() {
            return Vec::new();
        }
        self.selected = selected;
        self.show();
        let mut effects = self.look();
        let is_near = selected + IN_SIGHT > last;
        if is_near && self.listed.more && !self.is_waiting() && self.limit < LIMIT_MAX {
            let limit = self.limit.saturating_mul(FURTHER).max(FURTHER_MIN);
            let limit = limit.min(LIMIT_MAX);
            effects.extend(self.ask(limit));
        }
        effects
    }

    fn look(&mut self) -> Vec<BrowseEffect> {
        self.scrolled = 0;
        let id = self.entry().map(|entry| entry.id.clone());
        self.awaits_preview = id.is_some();
        id.into_iter().map(BrowseEffect::Preview).collect()
    }

    fn is_previewed(&self) -> bool {
        let known = self.preview.as_ref().map(|preview| &preview.id);
        self.entry().is_some_and(|entry| Some(&entry.id) == known)
    }

    /// Sessions that fill the screen.
    fn screenful(&self) -> u32 {
        let room = Areas::of(self.size.0, self.size.1).entries();
        u32::try_from(room).map_or(LIMIT_MAX, |room| room.saturating_add(SPARE))
    }

    /// Scrolls the list to what is looked at.
    fn show(&mut self) {
        let room = Areas::of(self.size.0, self.size.1).entries().max(1);
        let last = self.listed.entries.len().saturating_sub(room);
        let first = self.first.min(self.selected).min(last);
        self.first = first.max((self.selected + 1).saturating_sub(room));
    }
}
