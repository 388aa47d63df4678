//! What terminals act on and people don't read.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// `text` without escape sequences (colours, cursor movements, titles). Costs one byte scan where
/// there are none.
pub fn plain(text: &str) -> Cow<'_, str> {
    static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]+[0-~]|[@-Z\\-_])",
        )
        .expect("a constant")
    });
    match memchr::memchr(0x1b, text.as_bytes()) {
        Some(_) => ESCAPE.replace_all(text, ""),
        None => Cow::Borrowed(text),
    }
}

/// The same without any other control character but ends of lines and tabs.
pub fn harmless(text: &str) -> String {
    let text = plain(text).replace("\r\n", "\n");
    let is_kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_harmless_has_lines_and_tabs_and_no_other_control() {
        let text = "a\x1b[31mb\r\n\tc\x00\x07\u{9b}d\x1b";
        assert_eq!(harmless(text), "ab\n\tcd");
    }

    #[test]
    fn colours_cursors_and_titles_vanish() {
        assert_eq!(plain("\x1b[1;31merror\x1b[0m\x1b[K"), "error");
        assert_eq!(plain("\x1b[1G\x1b[0Kok \x1b]0;title\x07done"), "ok done");
        assert_eq!(plain("\x1b(B\x1b[m  }\x1b(0,"), "  },");
        assert!(matches!(plain("as it was"), Cow::Borrowed(_)));
    }
}
