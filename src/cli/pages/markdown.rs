//! Markdown of ours as HTML. What of it came from logs is text: tags show as they are written, images
//! aren't fetched, only addresses of the web are links.

use super::escape;
use crate::model::inert::inert;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

/// As HTML; `level`: how much deeper its headings stand.
pub fn html(markdown: &str, level: usize) -> String {
    let mut links = Vec::new();
    let text = inert(markdown);
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
}
