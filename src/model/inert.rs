//! What leaves the program does nothing where it is shown: words of logs never drive a terminal, turn the
//! direction of writing, or hide words that only programs read.
//!
//! The one place that knows which characters those are; whoever hands text out asks here.

use std::borrow::Cow;
use std::fmt::Write;

/// A character that acts where it is shown: controls but for ends of lines and tabs (ESC, C1), marks of
/// direction (Unicode's `Bidi_Control`), and what nobody sees and language models read: tags, selectors of
/// variants, and spaces without a width. Joiners stay: words of many scripts and emoji are written with them.
pub fn is_live(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{200b}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Text without such characters.
pub fn inert(text: &str) -> Cow<'_, str> {
    match text.contains(is_live) {
        true => text.chars().filter(|c| !is_live(*c)).collect(),
        false => Cow::Borrowed(text),
    }
}

/// The same in place.
pub fn make_inert(text: &mut String) {
    text.retain(|c| !is_live(c));
}

/// Written JSON with such characters as `\uXXXX`: they stand in its strings alone.
pub fn escaped(json: String) -> String {
    if !json.contains(is_live) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match is_live(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                // writing into a string can't fail
                let _ = write!(out, "\\u{unit:04x}");
            }),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_left_out() {
        for (text, wants) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\u{1b}]0;title\u{7}b", "a]0;titleb"),
            ("\u{1b}[2Jgone\u{9b}2J", "[2Jgone2J"),
            ("nul\0, \u{202e}turned\u{2069}\u{200f}", "nul, turned"),
            ("hid\u{e0041}\u{e0042}den", "hidden"),
            ("in\u{200b}vi\u{2060}si\u{feff}ble\u{e0101}", "invisible"),
            (
                "שלום, مرحبا, 日本, 👩\u{200d}💻",
                "שלום, مرحبا, 日本, 👩\u{200d}💻",
            ),
            ("\u{1b}", ""),
        ] {
            assert_eq!(inert(text), wants);
            let mut owned = text.to_owned();
            make_inert(&mut owned);
            assert_eq!(owned, wants);
        }
    }

    #[test]
    fn json_says_the_same_in_escapes() {
        let text = "a\u{7f}\u{9b}2J\u{202e}\u{e0041}\n\u{1b}é";
        let json = escaped(serde_json::to_string(text).unwrap());
        assert!(!json.contains(is_live), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
