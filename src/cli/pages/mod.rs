//! Web pages that stand alone: one file, no request, nothing of a log that runs. Knows how a page is put
//! together and locked; refuses to know what is on it.

mod markdown;

use crate::model::error::{Error, ErrorKind};
use crate::model::inert::inert;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub use markdown::html;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

/// The look that all pages share.
const STYLE: &str = include_str!("page.css");

/// What a page is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'p> {
    /// In the window's title; text.
    pub title: &'p str,
    /// Styles beside the shared one.
    pub styles: &'p [&'p str],
    /// What is on it; HTML.
    pub body: &'p str,
    /// Read by the scripts, as the element `data`.
    pub data: Option<&'p Value>,
    /// Programs of ours.
    pub scripts: &'p [&'p str],
}

impl Page<'_> {
    /// The file's text. Its policy lets these styles and scripts run and nothing else: no image, no
    /// request, no handler in the text of a log.
    pub fn text(&self) -> String {
        let style = [&[STYLE], self.styles].concat().join("\n");
        let script = self.scripts.join("\n");
        let scripts = match script.is_empty() {
            true => "'none'".to_owned(),
            false => hash(&script),
        };
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src {}; script-src {scripts}; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"generator\" content=\"sessionmill\">\n\
             <title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n{}",
            hash(&style),
            escape(self.title),
            self.body,
        );
        if let Some(data) = self.data {
            let _ = write!(
                out,
                "\n<script type=\"application/json\" id=\"data\">{}</script>",
                json(data)
            );
        }
        if !script.is_empty() {
            let _ = write!(out, "\n<script>{script}</script>");
        }
        out.push_str("\n</body>\n</html>\n");
        out
    }
}

/// As a policy names a script or a style that may be used.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// JSON that can stand inside a script element: nothing in it ends the element, opens a comment, or ends
/// a line of a program.
fn json(data: &Value) -> String {
    let written = data.to_string();
    let mut out = String::with_capacity(written.len());
    for c in written.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    crate::model::inert::escaped(out)
}

/// Text as HTML, in an element or an attribute with double quotes, without characters that act where they
/// are shown.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in inert(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Writes a page for its owner alone, whole or not at all.
///
/// # Errors
/// Name the file.
pub fn write(file: &Path, text: &str) -> Result<(), Error> {
    let named = |error: std::io::Error| {
        Error::new(ErrorKind::Failed, format!("{}: {error}", file.display()))
    };
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&beside)
        .and_then(|mut open| open.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&beside, file));
    written.map_err(|error| {
        // nothing half written stays; where even that fails, the first error says more
        let _ = fs::remove_file(&beside);
        named(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_text_of_a_log_ends_its_element() {
        let hostile = "</script><script>alert(1)</script>\u{2028}<!--\u{202e}";
        let data = json!([hostile]);
        let body = format!("<p title=\"{0}\">{0}</p>", escape(hostile));
        let page = Page {
            title: hostile,
            body: &body,
            data: Some(&data),
            scripts: &["let ours = 1;"],
            ..Page::default()
        };
        let text = page.text();
        assert_eq!(text.matches("<script").count(), 2);
        assert_eq!(text.matches("</script>").count(), 2);
        assert!(!text.contains('\u{202e}'));
        assert!(!text.contains("<!--"));
        let from = text.find("id=\"data\">").unwrap() + 10;
        let end = text[from..].find("</script>").unwrap();
        assert!(!text[from..from + end].contains('\u{2028}'));
        let read: Value = serde_json::from_str(&text[from..from + end]).unwrap();
        assert_eq!(read, data);
    }

    #[test]
    fn the_policy_names_what_may_run() {
        let page = Page {
            scripts: &["a", "b"],
            ..Page::default()
        };
        let text = page.text();
        assert!(text.contains(&format!("script-src {};", hash("a\nb"))));
        assert!(text.contains("default-src 'none'"));
        assert!(Page::default().text().contains("script-src 'none';"));
    }
}
