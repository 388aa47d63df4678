//! Markdown of ours as HTML. What of it came from logs is text: tags show as they are written, images
//! aren't fetched, only addresses of the web are links.

use super::escape;
use crate::model::inert::inert;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;

/// As HTML; `level`: how much deeper its headings stand.
pub fn html(markdown: &str, level: usize) -> String {
    let mut links = Vec::new();
    let text = inert(markdown);
    let text = with_ends_of_lists(&text);
    let parser = Parser::new_ext(&text, Options::ENABLE_TABLES);
    let events = parser.filter_map(|event| {
        Some(match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => return None,
            Event::Start(Tag::Image { dest_url, .. }) => {
                Event::Text(CowStr::from(format!("[image {dest_url}] ")))
            }
            Event::End(TagEnd::Image) => return None,
            Event::Start(Tag::Link { dest_url, .. }) => {
                let is_web = dest_url.starts_with("https://") || dest_url.starts_with("http://");
                links.push(is_web);
                if !is_web {
                    return None;
                }
                let address = escape(&dest_url);
                let open = format!("<a rel=\"noreferrer noopener\" href=\"{address}\">");
                Event::InlineHtml(CowStr::from(open))
            }
            Event::End(TagEnd::Link) => match links.pop() {
                Some(true) => Event::InlineHtml(CowStr::from("</a>")),
                _ => return None,
            },
            Event::Start(Tag::Heading { level: of, .. }) => {
                let deep = (of as usize + level).min(6);
                Event::InlineHtml(CowStr::from(format!("<h{deep}>")))
            }
            Event::End(TagEnd::Heading(of)) => {
                let deep = (of as usize + level).min(6);
                Event::InlineHtml(CowStr::from(format!("</h{deep}>\n")))
            }
            event => event,
        })
    });
    let mut out = String::with_capacity(markdown.len() * 2);
    pulldown_cmark::html::push_html(&mut out, events);
    out
}

/// The same with a blank line where a list ends without one: Markdown would take the line for the last point's.
fn with_ends_of_lists(markdown: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut kept, mut in_point, mut in_code) = (0, false, false);
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        let text = line.trim_end();
        if text.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let begins = text.starts_with(|c: char| !c.is_whitespace());
        let is_point = is_point(text.trim_start());
        if in_point && begins && !is_point && !in_code {
            out.push_str(&markdown[kept..at]);
            out.push('\n');
            kept = at;
        }
        in_point = !in_code && (is_point || in_point && !begins && !text.is_empty());
        at += line.len();
    }
    match kept {
        0 => Cow::Borrowed(markdown),
        _ => Cow::Owned(out + &markdown[kept..]),
    }
}

/// `- x`, `* x`, `+ x`, `1. x`, `1) x`.
fn is_point(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match rest.len() == line.len() {
        true => rest.strip_prefix(['-', '*', '+']),
        false => rest.strip_prefix(['.', ')']),
    };
    rest.is_some_and(|rest| rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_log_says_runs_or_is_fetched() {
        for (markdown, wants) in [
            ("<script>alert(1)</script>", "&lt;script&gt;"),
            ("a <img src=x onerror=y> b", "&lt;img src=x onerror=y&gt;"),
            (
                "![pixel](https://evil.example/p.png)",
                "[image https://evil.example/p.png]",
            ),
            ("[x](javascript:alert(1))", "<p>x</p>"),
            ("[x](data:text/html,1)", "<p>x</p>"),
            (
                "[x](https://a.example/?q=\"1)",
                "rel=\"noreferrer noopener\" href=\"https://a.example/?q=&quot;1\">x</a>",
            ),
            ("# Title", "<h2>Title</h2>"),
        ] {
            let text = html(markdown, 1);
            assert!(text.contains(wants), "{markdown}: {text}");
            assert!(
                !text.contains("<script") && !text.contains("<img"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_list_ends_where_a_line_begins_that_is_no_point() {
        for (markdown, wants) in [
            ("- a\n- and 2 more\nThen text", "</ul>\n<p>Then text</p>"),
            ("1. a\nThen text", "</ol>\n<p>Then text</p>"),
            ("- a\n  goes on\n- b", "<li>a\ngoes on</li>"),
            ("- a\n  goes on\nText", "</ul>\n<p>Text</p>"),
            ("```\n- a\nb\n```", "- a\nb\n</code>"),
            ("one\n2024 was a year", "<p>one\n2024 was a year</p>"),
        ] {
            let text = html(markdown, 1);
            assert!(text.contains(wants), "{markdown}: {text}");
        }
    }
}
