//! Draws the state: what is typed and chosen, the sessions, one of them, the keys. Knows how things look;
//! changes nothing.

use super::areas::Areas;
use super::finder::{ListOrder, SessionEntry};
use super::keys::{KeyCommand, ROWS};
use super::menu::{Chosen, Menu};
use super::state::{BrowseState, Popup};
use crate::cli::session_filters::outcome;
use crate::model::activity::Dimension;
use crate::model::human::plural;
use crate::model::layout::style::{Style, fitted, paint, pieces, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style as Look};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

/// What stands before what is typed.
const PROMPT: &str = "Search: ";

/// The screen, with colours or without.
pub fn draw(frame: &mut Frame<'_>, state: &BrowseState, colour: bool) {
    let (columns, lines) = state.size;
    let areas = Areas::of(columns, lines);
    let painter = Painter { colour };
    query(frame, &areas, state, &painter);
    painter.line(frame, areas.filters, &filters(state));
    list(frame, &areas, state, &painter);
    preview(frame, &areas, state, &painter);
    painter.line(frame, areas.footer, &footer(state, usize::from(columns)));
    match &state.popup {
        Some(Popup::Help) => help(frame, &painter),
        Some(Popup::Menu(menu)) => choose(frame, menu, &painter),
        None => {}
    }
}

/// Turns the house's marks into what is drawn.
struct Painter {
    colour: bool,
}

impl Painter {
    fn look(&self, style: Style) -> Look {
        let plain = Look::default();
        let bold = plain.add_modifier(Modifier::BOLD);
        match (style, self.colour) {
            (Style::Bold, _) => bold,
            (Style::Dim, _) => plain.add_modifier(Modifier::DIM),
            (Style::Match, true) => bold.fg(Color::Magenta),
            (Style::Match, false) => bold.add_modifier(Modifier::UNDERLINED),
            (Style::Alarm, true) => bold.fg(Color::Red),
            (Style::Good, true) => plain.fg(Color::Green),
            (Style::Open, true) => plain.fg(Color::Yellow),
            (Style::Name, true) => plain.fg(Color::Cyan),
            (Style::Alarm | Style::Good | Style::Open | Style::Name, false) => plain,
        }
    }

    fn of(&self, text: &str) -> Line<'static> {
        let spans = pieces(text).into_iter().map(|(style, piece)| {
            let look = style.map_or(Look::default(), |style| self.look(style));
            Span::styled(piece.replace('\t', "  "), look)
        });
        Line::from(spans.collect::<Vec<_>>())
    }

    fn line(&self, frame: &mut Frame<'_>, area: Rect, text: &str) {
        let text = fitted(text, usize::from(area.width));
        frame.render_widget(Paragraph::new(self.of(&text)), area);
    }
}

fn query(frame: &mut Frame<'_>, areas: &Areas, state: &BrowseState, painter: &Painter) {
    let area = areas.query;
    let prompt = paint(Style::Bold, PROMPT);
    let before = PROMPT.len() + state.typed.cursor();
    // of what is longer than the screen, the part before the cursor
    let hidden = (before + 1).saturating_sub(usize::from(area.width));
    let typed = match state.typed.is_blank() {
        true => paint(Style::Dim, "type words of a session"),
        false => state.typed.text().to_owned(),
    };
    let line = painter.of(&format!("{prompt}{typed}"));
    let shown = Paragraph::new(line).scroll((0, u16::try_from(hidden).unwrap_or(0)));
    frame.render_widget(shown, area);
    if !state.has_keys && state.popup.is_none() && area.height > 0 && area.width > 0 {
        let column = u16::try_from(before - hidden.min(before)).unwrap_or(0);
        frame.set_cursor_position((area.x + column.min(area.width - 1), area.y));
    }
}

/// `12 sessions · best match first · shop-api · since the last 7 days`.
fn filters(state: &BrowseState) -> String {
    let (chosen, listed) = (&state.chosen, &state.listed);
    let count = plural(listed.entries.len() as u64, "session");
    let count = match (state.is_waiting() && listed.entries.is_empty(), listed.more) {
        (true, _) => "searching …".to_owned(),
        (_, true) => match listed.total {
            Some(total) => plural(total, "session"),
            None => format!("the first {count}"),
        },
        (_, false) => count,
    };
    let is_best = chosen.order == ListOrder::Relevance && !state.typed.text().trim().is_empty();
    let order = if is_best {
        "best match first"
    } else {
        "newest first"
    };
    let cells = [
        Some(count),
        Some(order.to_owned()),
        chosen
            .project
            .as_ref()
            .map(|name| format!("project {}", paint(Style::Name, name))),
        chosen.agent.map(|agent| agent.as_str().to_owned()),
        chosen.since.map(|(name, _)| format!("since {name}")),
        chosen.work.map(|work| work.as_str().to_owned()),
        chosen.open.then(|| "open ends only".to_owned()),
        listed.note.as_ref().map(|note| paint(Style::Open, note)),
    ];
    let cells: Vec<String> = cells.into_iter().flatten().collect();
    cells.join(" · ")
}

fn list(frame: &mut Frame<'_>, areas: &Areas, state: &BrowseState, painter: &Painter) {
    let area = areas.list;
    let room = areas.entries();
    let shown: Vec<&SessionEntry> = state
        .listed
        .entries
        .iter()
        .skip(state.first)
        .take(room)
        .collect();
    if shown.is_empty() {
        let is_all = state.typed.is_blank() && state.chosen == Chosen::default();
        let nothing = match (state.is_waiting(), is_all) {
            (true, _) => "",
            (false, true) => "no session is stored here; to read new logs: sessionmill run",
            (false, false) => "no session matches; Alt-x clears the search and the filters",
        };
        return painter.line(frame, area, &paint(Style::Dim, nothing));
    }
    let columns = usize::from(area.width);
    let widths = Widths::of(&shown, columns);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (nth, entry) in shown.into_iter().enumerate() {
        let is_selected = state.first + nth == state.selected;
        let texts = match areas.lines_each {
            2 => stacked(entry, is_selected),
            _ => vec![widths.row(entry, is_selected)],
        };
        let texts = texts.iter().map(|text| painter.of(&fitted(text, columns)));
        lines.extend(texts);
    }
    frame.render_widget(Paragraph::new(Text::from(lines)), area);
}

fn marker(is_selected: bool) -> &'static str {
    if is_selected { "> " } else { "  " }
}

fn titled(entry: &SessionEntry, is_selected: bool) -> String {
    match is_selected {
        true => paint(Style::Bold, &entry.title),
        false => entry.title.clone(),
    }
}

fn work(entry: &SessionEntry) -> &'static str {
    entry.work.map_or("", Dimension::as_str)
}

/// A session on two lines.
fn stacked(entry: &SessionEntry, is_selected: bool) -> Vec<String> {
    let cells = [
        paint(Style::Name, &entry.project),
        entry.age.clone(),
        entry.agent.clone(),
        outcome(entry.outcome, entry.is_quiet),
        work(entry).to_owned(),
    ];
    let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    vec![
        format!("{}{}", marker(is_selected), titled(entry, is_selected)),
        format!("    {}", cells.join(" · ")),
    ]
}

/// Columns of a list with a session on each line.
struct Widths {
    title: usize,
    project: usize,
    age: usize,
    outcome: usize,
    work: usize,
}

/// A title needs so many before the other columns get any.
const TITLE_MIN: usize = 30;
/// A project's name has so many at most.
const PROJECT_MAX: usize = 16;

impl Widths {
    fn of(shown: &[&SessionEntry], columns: usize) -> Widths {
        let widest = |of: &dyn Fn(&SessionEntry) -> usize| {
            shown.iter().map(|entry| of(entry) + 2).max().unwrap_or(0)
        };
        let mut left = columns.saturating_sub(2 + TITLE_MIN);
        let mut take = |wanted: usize| {
            let taken = if wanted <= left { wanted } else { 0 };
            left -= taken;
            taken
        };
        let project = take(widest(&|entry| width(&entry.project)).min(PROJECT_MAX + 2));
        let age = take(widest(&|entry| age(entry).len()));
        let outcome = take(widest(&|entry| {
            width(&outcome(entry.outcome, entry.is_quiet))
        }));
        let work = take(widest(&|entry| work(entry).len()));
        Widths {
            title: TITLE_MIN + left,
            project,
            age,
            outcome,
            work,
        }
    }

    fn row(&self, entry: &SessionEntry, is_selected: bool) -> String {
        let cell = |text: &str, columns: usize| match columns {
            0 => String::new(),
            _ => {
                let text = fitted(text, columns - 2).into_owned();
                let blanks = columns.saturating_sub(width(&text) + 2);
                format!("  {text}{}", " ".repeat(blanks))
            }
        };
        let title = fitted(&entry.title, self.title);
        let blanks = " ".repeat(self.title.saturating_sub(width(&title)));
        let title = match is_selected {
            true => paint(Style::Bold, &title),
            false => title.into_owned(),
        };
        [
            format!("{}{title}{blanks}", marker(is_selected)),
            cell(&paint(Style::Name, &entry.project), self.project),
            cell(age(entry), self.age),
            cell(&outcome(entry.outcome, entry.is_quiet), self.outcome),
            cell(work(entry), self.work),
        ]
        .concat()
    }
}

/// `3 months ago` where there is little room.
fn age(entry: &SessionEntry) -> &str {
    entry.age.strip_suffix(" ago").unwrap_or(&entry.age)
}

fn preview(frame: &mut Frame<'_>, areas: &Areas, state: &BrowseState, painter: &Painter) {
    let (rule, area) = (areas.rule, areas.preview);
    if area.area() == 0 {
        return;
    }
    let borders = if rule.width == 1 {
        Borders::LEFT
    } else {
        Borders::TOP
    };
    let line = Block::default()
        .borders(borders)
        .border_style(painter.look(Style::Dim));
    frame.render_widget(line, rule);
    let Some((entry, known)) = state.entry().zip(state.preview.as_ref()) else {
        return;
    };
    if entry.id != known.id {
        return;
    }
    let texts = known.lines(entry, usize::from(area.width));
    let room = usize::from(area.height);
    let from = state.scrolled.min(texts.len().saturating_sub(room));
    let mut lines: Vec<Line<'static>> = texts
        .iter()
        .skip(from)
        .take(room)
        .map(|text| painter.of(text))
        .collect();
    if from + room < texts.len()
        && let Some(last) = lines.last_mut()
    {
        *last = painter.of(&paint(Style::Dim, "… Shift-Down: more"));
    }
    frame.render_widget(Paragraph::new(Text::from(lines)), area);
}

/// What was said last, else the keys that there is room for.
fn footer(state: &BrowseState, columns: usize) -> String {
    if let Some(said) = &state.said {
        return paint(Style::Open, said);
    }
    let key = |shown: &str, word: &str| format!("{} {word}", paint(Style::Bold, shown));
    let footer = match state.has_keys {
        false => vec![
            key("↑↓", "select"),
            key("Enter", "resume"),
            key("Tab", "more keys: copy, read, filters"),
            key("F1", "help"),
            key("Esc", "quit"),
        ],
        true => {
            let rows = ROWS.iter().filter(|row| !row.word.is_empty());
            let rows = rows.filter(|row| {
                use KeyCommand::{Help, Quit, Type};
                ![Type, Help, Quit].contains(&row.command)
            });
            let rows: Vec<String> = rows.map(|row| key(row.shown, row.word)).collect();
            let first = vec![key("/", "type"), key("?", "help"), key("q", "quit")];
            [first, rows].concat()
        }
    };
    let mut line = String::new();
    for cell in footer {
        if width(&line) + width(&cell) + 2 <= columns {
            line += &format!("{cell}  ");
        }
    }
    line.trim_end().to_owned()
}

fn help(frame: &mut Frame<'_>, painter: &Painter) {
    let keys = ROWS.iter().map(|row| row.shown.len()).max().unwrap_or(0);
    let mut lines: Vec<String> = ROWS
        .iter()
        .map(|row| {
            let blanks = " ".repeat(keys - row.shown.len());
            format!("{}{blanks}  {}", paint(Style::Bold, row.shown), row.does)
        })
        .collect();
    lines.push(String::new());
    lines.push("While you type, use Alt with a letter, or press Tab first.".to_owned());
    lines.push("Searches take fields too: since:14d tool:Bash file:auth.rs".to_owned());
    popup(frame, "Keys", &lines, 0, painter);
}

fn choose(frame: &mut Frame<'_>, menu: &Menu, painter: &Painter) {
    let lines = menu.items.iter().enumerate().map(|(nth, item)| {
        let item = match nth == menu.at {
            true => paint(Style::Bold, item),
            false => item.clone(),
        };
        format!("{}{item}", marker(nth == menu.at))
    });
    let lines: Vec<String> = lines.collect();
    popup(frame, menu.title, &lines, menu.at, painter);
}

/// A box in the middle, scrolled so that one line is seen.
fn popup(frame: &mut Frame<'_>, title: &str, lines: &[String], at: usize, painter: &Painter) {
    let screen = frame.area();
    let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let columns = u16::try_from(widest + 4)
        .unwrap_or(u16::MAX)
        .max(24)
        .min(screen.width);
    let height = u16::try_from(lines.len() + 2)
        .unwrap_or(u16::MAX)
        .min(screen.height);
    let area = Rect {
        x: (screen.width - columns) / 2,
        y: (screen.height - height) / 2,
        width: columns,
        height,
    };
    let room = usize::from(height.saturating_sub(2)).max(1);
    let from = (at + 1).saturating_sub(room);
    let inside = usize::from(columns.saturating_sub(4));
    let shown: Vec<Line<'static>> = lines
        .iter()
        .skip(from)
        .take(room)
        .map(|line| painter.of(&format!(" {}", fitted(line, inside))))
        .collect();
    frame.render_widget(Clear, area);
    let below = lines.len().saturating_sub(from + room);
    let mut block = Block::default()
        .borders(Borders::ALL)
        .title(format!(" {title} "));
    if below > 0 {
        block = block.title_bottom(format!(" ↓ {below} more "));
    }
    frame.render_widget(Paragraph::new(Text::from(shown)).block(block), area);
}
