//! The state and its screens, without a terminal and without a store: events in, what is drawn out.

use super::finder::{Ask, Choices, ListOrder, SessionEntry, SessionList};
use super::preview::Preview;
use super::state::{BrowseEffect, BrowseEvent, BrowseState, Popup};
use super::view::draw;
use crate::model::activity::Dimension;
use crate::model::layout::style::{Style, paint};
use crate::model::summary::SessionOutcome;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

fn choices() -> Choices {
    Choices {
        projects: ["notes", "shop-api"].map(str::to_owned).into(),
        agents: crate::agents::registry::words().collect(),
    }
}

fn entry(nth: u32, title: &str) -> SessionEntry {
    SessionEntry {
        id: format!("{nth:08}-0000-4000-8000-000000000000"),
        shown: format!("{nth:08}"),
        title: title.to_owned(),
        project: if nth.is_multiple_of(2) {
            "shop-api"
        } else {
            "notes"
        }
        .to_owned(),
        agent: "claude".to_owned(),
        age: format!("{} days ago", nth + 2),
        is_quiet: true,
        outcome: Some(SessionOutcome::ALL[nth as usize % 5]),
        work: (!nth.is_multiple_of(3)).then(|| Dimension::ALL[nth as usize % 8]),
        passage: None,
    }
}

fn listed(count: u32, more: bool) -> SessionList {
    let titles = [
        "Fix the JWT expiry check",
        "検索のテストがときどき失敗します。原因を調べて直してください",
        "👩‍💻 Deploy 🇩🇪 and 👍🏽 e\u{301}clair",
        "Find out why people are logged out right after they logged in, on every second Tuesday",
    ];
    let entries = (0..count).map(|nth| entry(nth, titles[nth as usize % titles.len()]));
    SessionList {
        entries: entries.collect(),
        more,
        total: more.then_some(132),
        note: None,
    }
}

fn known(entry: &SessionEntry) -> Preview {
    Preview {
        id: entry.id.clone(),
        title: entry.title.clone(),
        head: format!("{} · claude · completed", paint(Style::Name, &entry.project)),
        identity: format!("{}, 2026-05-31 10:00 to 2026-05-31 11:00", entry.id),
        body: "\n## Objective\nFind `exp`\n\n## Result\nIt is in **seconds** now.\n\n## Files Modified\n- src/auth.rs +2 −2\n- 検索/索引.rs +1\n\n## Commits\n- 1a2b3c4 Compare in seconds\n"
            .to_owned(),
    }
}

/// A person at a screen of this size, whose questions are answered at once.
struct Person {
    state: BrowseState,
    asked: Vec<Ask>,
    others: Vec<BrowseEffect>,
    has: u32,
}

impl Person {
    fn at(columns: u16, lines: u16, has: u32) -> Person {
        let (state, effects) = BrowseState::new("", choices(), (columns, lines));
        let mut person = Person {
            state,
            asked: Vec::new(),
            others: Vec::new(),
            has,
        };
        person.answer(effects);
        person
    }

    fn answer(&mut self, effects: Vec<BrowseEffect>) {
        for effect in effects {
            let next = match effect {
                BrowseEffect::Find(nth, ask) => {
                    let listed = listed(self.has.min(ask.limit), self.has > ask.limit);
                    self.asked.push(ask);
                    self.state.on(BrowseEvent::Found(nth, Ok(listed)))
                }
                BrowseEffect::Preview(id) => {
                    let all = &self.state.listed.entries;
                    let known = all.iter().find(|entry| entry.id == id).map(known);
                    self.state.on(BrowseEvent::Previewed(Ok(known.unwrap())))
                }
                other => {
                    self.others.push(other);
                    Vec::new()
                }
            };
            self.answer(next);
        }
    }

    fn does(&mut self, event: BrowseEvent) {
        let effects = self.state.on(event);
        self.answer(effects);
    }

    fn presses(&mut self, code: KeyCode) {
        self.does(BrowseEvent::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn types(&mut self, text: &str) {
        text.chars().for_each(|c| self.presses(KeyCode::Char(c)));
    }

    fn sees(&self, colour: bool) -> Buffer {
        let (columns, lines) = self.state.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        terminal
            .draw(|frame| draw(frame, &self.state, colour))
            .unwrap();
        terminal.backend().buffer().clone()
    }

    fn reads(&self) -> String {
        text(&self.sees(false))
    }
}

/// Lines of a screen; what stands behind the first column of something wide is no character.
fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            let columns = unicode_width::UnicodeWidthStr::width(symbol).max(1);
            x += u16::try_from(columns).unwrap();
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[test]
fn screens_look_like_this() {
    for (columns, lines) in [(80, 24), (140, 40), (40, 10)] {
        let mut person = Person::at(columns, lines, 200);
        let found = SessionList {
            entries: listed(8, false)
                .entries
                .into_iter()
                .map(|entry| SessionEntry {
                    passage: Some(format!(
                        "… the {} is in 秒 …",
                        paint(Style::Match, "expiry")
                    )),
                    ..entry
                })
                .collect(),
            ..SessionList::default()
        };
        person.types("expiry");
        let nth = person.asked.len() as u64;
        let effects = person.state.on(BrowseEvent::Found(nth, Ok(found)));
        person.answer(effects);
        person.presses(KeyCode::Down);
        insta::assert_snapshot!(format!("found-{columns}x{lines}"), person.reads());
    }
}

#[test]
fn nothing_that_drives_a_terminal_is_drawn() {
    const LIVE: &str = "a\u{1b}]0;own\u{7}\u{1b}]8;;http://x\u{1b}\\\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}b\u{200b}\u{e0041}c";
    let mut person = Person::at(140, 40, 3);
    let hostile = |entry: SessionEntry| SessionEntry {
        title: LIVE.to_owned(),
        project: LIVE.to_owned(),
        passage: Some(LIVE.to_owned()),
        ..entry
    };
    let found = SessionList {
        entries: listed(3, false).entries.into_iter().map(hostile).collect(),
        note: Some(LIVE.to_owned()),
        ..SessionList::default()
    };
    person.types("x");
    let nth = person.asked.len() as u64;
    let effects = person.state.on(BrowseEvent::Found(nth, Ok(found)));
    let preview = |id: &str| Preview {
        id: id.to_owned(),
        title: LIVE.to_owned(),
        head: LIVE.to_owned(),
        identity: LIVE.to_owned(),
        body: format!("\n## Objective\n{LIVE} `{LIVE}`\n\n## Commits\n- {LIVE}\n"),
    };
    // the same session with another passage: an answer that comes late isn't left lying
    assert!(person.state.awaits_preview);
    for effect in effects {
        if let BrowseEffect::Preview(id) = effect {
            person.state.on(BrowseEvent::Previewed(Ok(preview(&id))));
        }
    }
    assert!(!person.state.awaits_preview);
    for colour in [false, true] {
        let drawn = text(&person.sees(colour));
        assert!(drawn.contains("]52;c;eA=="), "{drawn}");
        assert_eq!(drawn.find(crate::model::inert::is_live), None, "{drawn:?}");
    }
}

#[test]
fn menus_help_and_an_empty_list_look_like_this() {
    let mut person = Person::at(80, 24, 3);
    person.presses(KeyCode::Tab);
    person.types("w");
    person.presses(KeyCode::Down);
    insta::assert_snapshot!("menu", person.reads());
    person.presses(KeyCode::Esc);
    person.types("?");
    insta::assert_snapshot!("keys", person.reads());
    let mut nobody = Person::at(80, 24, 0);
    nobody.types("zzz");
    nobody.presses(KeyCode::Tab);
    insta::assert_snapshot!("nothing", nobody.reads());
}

#[test]
fn without_colours_nothing_is_coloured_and_the_selected_one_is_marked() {
    let person = Person::at(80, 24, 9);
    let plain = person.sees(false);
    let coloured = |buffer: &Buffer| {
        let cells = buffer.content.iter();
        cells
            .filter(|cell| (cell.fg, cell.bg) != (Color::Reset, Color::Reset))
            .count()
    };
    assert_eq!(coloured(&plain), 0);
    assert!(coloured(&person.sees(true)) > 0);
    assert_eq!(text(&plain), text(&person.sees(true)));
    assert_eq!(text(&plain).matches("\n> ").count(), 1);
}

#[test]
fn any_size_is_drawn() {
    let mut person = Person::at(80, 24, 30);
    person.types("検索 and a long line that does not fit on any small screen");
    for columns in (0..12).chain([20, 99, 100, 101, 300]) {
        for lines in (0..14).chain([60]) {
            person.does(BrowseEvent::Resize(columns, lines));
            person.reads();
            person.presses(KeyCode::F(1));
            person.reads();
            person.presses(KeyCode::F(1));
        }
    }
}

#[test]
fn each_key_asks_and_late_answers_are_dropped() {
    let (mut state, _) = BrowseState::new("", choices(), (80, 24));
    let key = |c| BrowseEvent::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    let first = state.on(key('a'));
    let second = state.on(key('b'));
    let (BrowseEffect::Find(early, one), BrowseEffect::Find(late, two)) = (&first[0], &second[0])
    else {
        panic!("{first:?} {second:?}");
    };
    assert_eq!((one.words.as_str(), two.words.as_str()), ("a", "ab"));
    state.on(BrowseEvent::Found(*late, Ok(listed(2, false))));
    assert!(!state.is_waiting());
    state.on(BrowseEvent::Found(*early, Ok(listed(7, false))));
    assert_eq!(state.listed.entries.len(), 2);
}

#[test]
fn letters_are_typed_first_and_keys_after_tab() {
    let mut person = Person::at(80, 24, 5);
    person.types("yoq");
    assert_eq!(person.state.typed.text(), "yoq");
    assert!(person.others.is_empty());
    person.presses(KeyCode::Down);
    person.presses(KeyCode::Tab);
    person.types("yoz");
    let id = entry(1, "").id;
    assert_eq!(
        person.others,
        [
            BrowseEffect::Copy(id.clone()),
            BrowseEffect::Read(id.clone())
        ]
    );
    let said = person.state.said.clone().unwrap();
    assert!(said.contains("press / to type"), "{said}");
    person.types("/z");
    assert_eq!(person.state.typed.text(), "yoqz");
    person.presses(KeyCode::Enter);
    person.presses(KeyCode::Esc);
    let ends = [BrowseEffect::Resume(entry(0, "").id), BrowseEffect::Quit];
    assert_eq!(person.others[2..], ends);
}

#[test]
fn filters_and_orders_are_asked_for_and_cleared() {
    let mut person = Person::at(80, 24, 5);
    person.types("token");
    person.presses(KeyCode::Tab);
    person.types("p");
    person.types("s");
    person.presses(KeyCode::Enter);
    person.types("ws");
    person.presses(KeyCode::Esc);
    person.types("er");
    let last = person.asked.last().unwrap();
    assert_eq!(last.project.as_deref(), Some("shop-api"));
    assert_eq!((last.work, last.open), (None, true));
    assert_eq!(
        (last.order, last.words.as_str()),
        (ListOrder::Newest, "token")
    );
    let line = person.reads().lines().nth(1).unwrap().to_owned();
    for part in ["newest first", "project shop-api", "open ends only"] {
        assert!(line.contains(part), "{line}");
    }
    person.types("x");
    let last = person.asked.last().unwrap();
    assert_eq!((last.project.as_deref(), last.open), (None, false));
    assert_eq!(last.words, "");
}

#[test]
fn more_is_asked_for_when_the_end_comes_into_sight() {
    let mut person = Person::at(80, 24, 100);
    let limit = person.asked[0].limit as usize;
    assert_eq!(person.state.listed.entries.len(), limit);
    person.presses(KeyCode::End);
    assert_eq!(person.state.selected, limit - 1, "it stays where it was");
    assert_eq!(person.state.listed.entries.len(), 100);
    person.presses(KeyCode::End);
    assert_eq!(person.state.selected, 99);
    assert_eq!(person.asked.len(), 2);
    assert!(person.reads().contains("\n> "));
    person.types("a");
    assert_eq!(person.state.selected, 0);
}

#[test]
fn what_is_pasted_is_typed_and_continues_nothing() {
    let mut person = Person::at(80, 24, 5);
    person.does(BrowseEvent::Paste("token\nexpiry\r\u{1b}[2J".to_owned()));
    assert_eq!(person.state.typed.text(), "token expiry [2J");
    assert!(person.others.is_empty());
}

#[test]
fn what_cannot_be_asked_is_said_in_place_of_an_answer() {
    let (mut state, effects) = BrowseState::new("agnt:x", choices(), (100, 24));
    let BrowseEffect::Find(nth, _) = effects[0] else {
        panic!("{effects:?}");
    };
    let why = "there is no field `agnt`".to_owned();
    state.on(BrowseEvent::Found(nth, Err(why.clone())));
    assert!(state.listed.entries.is_empty());
    assert_eq!(state.listed.note, Some(why));
    assert_eq!(state.popup, None::<Popup>);
}
