//! Styles and links as marks in a text, what of them a stream is sent, and how wide the text is without.

use crate::model::inert::is_live;
use std::borrow::Cow;
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// How a word is meant to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A heading, a title.
    Bold,
    /// Of lesser weight.
    Dim,
    /// What was looked for.
    Match,
    /// Something is wrong.
    Alarm,
    /// It went well.
    Good,
    /// It isn't finished.
    Open,
    /// A project.
    Name,
}

/// Styles with their mark and what a terminal is sent for it.
///
/// Marks are noncharacters, which Unicode keeps for a program's own use: so no escape sequence of a log
/// passes for one of ours.
const STYLES: [(Style, char, &str); 7] = [
    (Style::Bold, '\u{fdd1}', "\u{1b}[1m"),
    (Style::Dim, '\u{fdd2}', "\u{1b}[2m"),
    (Style::Match, '\u{fdd3}', "\u{1b}[1;35m"),
    (Style::Alarm, '\u{fdd4}', "\u{1b}[1;31m"),
    (Style::Good, '\u{fdd8}', "\u{1b}[32m"),
    (Style::Open, '\u{fdd9}', "\u{1b}[33m"),
    (Style::Name, '\u{fdda}', "\u{1b}[36m"),
];

/// Where a style ends.
pub const PLAIN: char = '\u{fdd0}';
const RESET: &str = "\u{1b}[0m";

/// A link: its address, its text, its end.
const ADDRESS: char = '\u{fdd5}';
const SHOWN: char = '\u{fdd6}';
const LINKED: char = '\u{fdd7}';
/// What every address of ours begins with.
const FILE: &str = "file://";

/// What a stream can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Colours.
    pub colour: bool,
    /// Links (OSC 8).
    pub links: bool,
}

/// Variables of terminals that show links, and what they hold there; nothing: anything.
const SHOWS_LINKS: [(&str, &[&str]); 8] = [
    ("WT_SESSION", &[]),
    ("KITTY_WINDOW_ID", &[]),
    ("KONSOLE_VERSION", &[]),
    ("DOMTERM", &[]),
    ("WEZTERM_PANE", &[]),
    ("GHOSTTY_RESOURCES_DIR", &[]),
    (
        "TERM_PROGRAM",
        &["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "zed"],
    ),
    (
        "TERM",
        &["xterm-kitty", "alacritty", "foot", "xterm-ghostty"],
    ),
];
/// VTE's terminals, GNOME's among them, do since this version.
const VTE_MIN: u32 = 5_000;

/// Whether the terminal that these variables tell of shows links. What lies between may swallow them:
/// inside of `tmux` and `screen` nobody knows.
pub fn has_links(vars: &BTreeMap<String, String>) -> bool {
    let value = |name: &str| vars.get(name).map(String::as_str).filter(|v| !v.is_empty());
    let holds = |(name, known): &(&str, &[&str])| {
        value(name).is_some_and(|value| known.is_empty() || known.contains(&value))
    };
    let forced = value("FORCE_HYPERLINK");
    if forced.is_some() || value("TMUX").is_some() || value("STY").is_some() {
        return forced.is_some_and(|forced| forced != "0");
    }
    let vte = value("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    vte.is_some_and(|version| version >= VTE_MIN) || SHOWS_LINKS.iter().any(holds)
}

/// `text` in a style, which goes on behind what is painted in it; nothing of nothing.
pub fn paint(style: Style, text: &str) -> String {
    let mark = STYLES.iter().find(|(one, ..)| *one == style);
    match (mark, text.is_empty()) {
        (Some((_, mark, _)), false) => {
            let text = text.replace(PLAIN, &format!("{PLAIN}{mark}"));
            format!("{mark}{text}{PLAIN}")
        }
        _ => text.to_owned(),
    }
}

/// `text` that leads to a file's address. What isn't plain ASCII is no address.
pub fn link(address: &str, text: &str) -> String {
    match address.starts_with(FILE) && address.bytes().all(|b| b.is_ascii_graphic()) {
        true => format!("{ADDRESS}{address}{SHOWN}{text}{LINKED}"),
        false => text.to_owned(),
    }
}

/// The address of a file of this machine.
pub fn file_address(host: &str, path: &str) -> String {
    let mut address = format!("{FILE}{host}");
    for byte in path.bytes() {
        match byte.is_ascii_alphanumeric() || b"/-_.~+@,=:".contains(&byte) {
            true => address.push(char::from(byte)),
            false => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// What a terminal is sent for a style's mark.
fn code(mark: char) -> Option<&'static str> {
    match mark {
        PLAIN => Some(RESET),
        _ => STYLES
            .iter()
            .find_map(|(_, m, code)| (*m == mark).then_some(*code)),
    }
}

/// A style begins here.
pub(super) fn begins(mark: char) -> bool {
    mark != PLAIN && code(mark).is_some()
}

fn is_mark(c: char) -> bool {
    ('\u{fdd0}'..='\u{fdda}').contains(&c)
}

/// Text as a stream gets it: nothing in it drives a terminal but our own colours and links, where those are
/// wanted, and none of them goes on behind its line.
pub fn shown(text: &str, looks: Looks) -> Cow<'_, str> {
    if !text.contains(|c| is_live(c) || is_mark(c)) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let (mut is_open, mut is_linked) = (false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let address = linked(rest);
        rest = &rest[address.map_or(c.len_utf8(), |(_, end)| end)..];
        match c {
            ADDRESS => {
                if let Some((address, _)) = address.filter(|_| looks.links) {
                    close_link(&mut kept, &mut is_linked);
                    kept.push_str(&format!("\u{1b}]8;;{address}\u{1b}\\"));
                    is_linked = true;
                }
            }
            LINKED => close_link(&mut kept, &mut is_linked),
            _ if is_mark(c) => {
                if let Some(code) = code(c).filter(|_| looks.colour) {
                    kept.push_str(code);
                    is_open = c != PLAIN;
                }
            }
            _ if is_live(c) => {}
            _ => {
                if c == '\n' {
                    close_link(&mut kept, &mut is_linked);
                    if std::mem::take(&mut is_open) {
                        kept.push_str(RESET);
                    }
                }
                kept.push(c);
            }
        }
    }
    Cow::Owned(kept)
}

/// The stretches of a text, each with its style, for whoever draws by itself. Nothing in them drives a
/// terminal; of a link there is what it shows.
pub fn pieces(text: &str) -> Vec<(Option<Style>, String)> {
    let mut all: Vec<(Option<Style>, String)> = Vec::new();
    let mut style = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let address = linked(rest).map(|(_, end)| end);
        rest = &rest[address.unwrap_or(c.len_utf8())..];
        if is_mark(c) {
            let own = STYLES.iter().find(|(_, mark, _)| *mark == c);
            if c == PLAIN || own.is_some() {
                style = own.map(|(style, ..)| *style);
            }
            continue;
        }
        if is_live(c) {
            continue;
        }
        match all.last_mut() {
            Some((same, piece)) if *same == style => piece.push(c),
            _ => all.push((style, c.to_string())),
        }
    }
    all
}

/// The address at the beginning of a text, and where what is shown for it begins; `None`: none of ours begins there.
/// A log may have our marks too: what it can't have is an address that leads off this machine, or that hides words.
fn linked(text: &str) -> Option<(&str, usize)> {
    let behind = text.strip_prefix(ADDRESS)?;
    let (address, _) = behind.split_once(SHOWN)?;
    let is_ours = address.starts_with(FILE) && address.bytes().all(|b| b.is_ascii_graphic());
    is_ours.then(|| {
        (
            address,
            text.len() - behind.len() + address.len() + SHOWN.len_utf8(),
        )
    })
}

fn close_link(kept: &mut String, is_linked: &mut bool) {
    if std::mem::take(is_linked) {
        kept.push_str("\u{1b}]8;;\u{1b}\\");
    }
}

/// What a terminal shows as one: a letter with its accents, an emoji of several parts, a mark or a link's
/// address, which take no columns.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'t> {
    /// As it is written.
    pub text: &'t str,
    /// Columns.
    pub width: usize,
    /// A mark of ours.
    pub is_mark: bool,
}

/// The clusters of a text.
pub fn clusters(text: &str) -> impl Iterator<Item = Cluster<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = match first {
            ADDRESS => linked(rest).map_or(first.len_utf8(), |(_, end)| end),
            _ if is_mark(first) => first.len_utf8(),
            _ => cluster_end(rest),
        };
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        let is_mark = is_mark(first);
        let width = match is_mark || is_live(first) {
            true => 0,
            false => piece.width(),
        };
        Some(Cluster {
            text: piece,
            width,
            is_mark,
        })
    })
}

const JOINER: char = '\u{200d}';

fn is_flag(c: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&c)
}

fn cluster_end(text: &str) -> usize {
    let mut chars = text.char_indices();
    let Some((_, mut last)) = chars.next() else {
        return 0;
    };
    let mut flags = usize::from(is_flag(last));
    for (at, c) in chars {
        let is_skin = ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
        let is_second_flag = is_flag(c) && flags == 1;
        let has_no_width = !is_live(c) && !is_mark(c) && c.to_string().width() == 0;
        if !(last == JOINER || is_skin || is_second_flag || has_no_width) {
            return at;
        }
        flags += usize::from(is_flag(c));
        last = c;
    }
    text.len()
}

/// The columns that a text takes.
pub fn width(text: &str) -> usize {
    match text.is_ascii() {
        true => text.bytes().filter(|b| !b.is_ascii_control()).count(),
        false => clusters(text).map(|cluster| cluster.width).sum(),
    }
}

/// As much of a line as so many columns show, with `…` for the rest. Marks behind the cut stay.
pub fn fitted(line: &str, columns: usize) -> Cow<'_, str> {
    if width(line) <= columns {
        return Cow::Borrowed(line);
    }
    let (mut kept, mut used, mut is_cut) = (String::with_capacity(line.len()), 0, false);
    for cluster in clusters(line) {
        if !cluster.is_mark && !is_cut && used + cluster.width >= columns {
            kept.push('…');
            is_cut = true;
        }
        if cluster.is_mark || !is_cut {
            kept.push_str(cluster.text);
            used += cluster.width;
        }
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Looks = Looks {
        colour: true,
        links: true,
    };
    const NONE: Looks = Looks {
        colour: false,
        links: false,
    };

    #[test]
    fn a_record_ends_where_the_terminal_does() {
        for (text, wants) in [
            ("12345678", "12345678"),
            ("123456789", "1234567…"),
            ("検索のテス", "検索の…"),
            ("\u{fdd1}abcdefghij\u{fdd0}", "\u{fdd1}abcdefg…\u{fdd0}"),
        ] {
            assert_eq!(fitted(text, 8), wants);
        }
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        for (text, wants) in [
            ("abc", 3),
            ("検索", 4),
            ("e\u{301}", 1),
            ("👩‍👩‍👧", 2),
            ("👍🏽!", 3),
            ("🇩🇪🇫🇷", 4),
            ("\u{fdd1}ab\u{fdd0}", 2),
            ("\u{fdd5}file://b/c\u{fdd6}ab\u{fdd7}", 2),
        ] {
            assert_eq!(width(text), wants, "{text}");
        }
    }

    #[test]
    fn no_escape_sequence_but_our_own_colours_is_shown() {
        let hit = format!("a {} b", paint(Style::Match, "hit"));
        assert_eq!(shown(&hit, ALL), "a \u{1b}[1;35mhit\u{1b}[0m b");
        assert_eq!(shown(&hit, NONE), "a hit b");
        assert_eq!(shown("\u{1b}[1;35mhit\u{1b}[0m", ALL), "[1;35mhit[0m");
        assert_eq!(
            shown("\u{fdd4}no end\nb", ALL),
            "\u{1b}[1;31mno end\u{1b}[0m\nb"
        );
    }

    #[test]
    fn pieces_know_their_style_and_drive_nothing() {
        let inner = format!("a {} b", paint(Style::Match, "hit"));
        let text = format!("{}\u{1b}[2J!", paint(Style::Bold, &inner));
        let wants = [
            (Some(Style::Bold), "a "),
            (Some(Style::Match), "hit"),
            (Some(Style::Bold), " b"),
            (None, "[2J!"),
        ];
        assert_eq!(
            pieces(&text),
            wants.map(|(style, text)| (style, text.to_owned()))
        );
        let shows = link("file://desk/a", "here");
        assert_eq!(pieces(&shows), [(None, "here".to_owned())]);
    }

    #[test]
    fn terminals_with_links_are_known() {
        for (vars, wants) in [
            (&[("TERM", "xterm-256color")][..], false),
            (&[("TERM", "xterm-kitty")], true),
            (&[("VTE_VERSION", "7600")], true),
            (&[("VTE_VERSION", "4602")], false),
            (&[("TERM_PROGRAM", "Apple_Terminal")], false),
            (&[("TERM_PROGRAM", "vscode")], true),
            (&[("TERM_PROGRAM", "vscode"), ("TMUX", "/tmp/x")], false),
            (&[("TMUX", "/tmp/x"), ("FORCE_HYPERLINK", "1")], true),
            (&[("TERM", "foot"), ("FORCE_HYPERLINK", "0")], false),
        ] {
            let all = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            assert_eq!(has_links(&all.collect()), wants, "{vars:?}");
        }
    }

    #[test]
    fn links_are_for_terminals_that_have_them() {
        let text = link("file://desk/a", "here");
        let wants = "\u{1b}]8;;file://desk/a\u{1b}\\here\u{1b}]8;;\u{1b}\\";
        assert_eq!(shown(&text, ALL), wants);
        assert_eq!(shown(&text, NONE), "here");
        assert_eq!(link("file://exa mple", "here"), "here");
        assert_eq!(link("https://example.com/a", "here"), "here");
        assert_eq!(file_address("desk", "/a b/ü"), "file://desk/a%20b/%C3%BC");
    }

    /// Marks of a log lead nowhere and hide nothing.
    #[test]
    fn what_a_log_writes_like_a_link_is_text() {
        for (text, wants) in [
            (
                "\u{fdd5}https://a.b/c\u{fdd6}ab\u{fdd7}!",
                "https://a.b/cab!",
            ),
            ("\u{fdd5}rest of\nit", "rest of\nit"),
            ("\u{fdd5}file://a b\u{fdd6}c", "file://a bc"),
        ] {
            assert_eq!(shown(text, ALL), wants);
            assert_eq!(shown(text, NONE), wants);
        }
    }
}
