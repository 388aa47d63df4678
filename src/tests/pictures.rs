//! The README's pictures: what commands print on a terminal, as SVG. They are drawn from a run over
//! the fixture sessions, so a picture that shows something else than the program prints fails here.

use super::world::Desk;
use crate::cli::Exit;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

const COLUMNS: usize = 80;
const CHARACTER: f32 = 8.43;
const LINE: usize = 19;
const MARGIN: usize = 16;

/// Colours as terminals have them, for readers of light and of dark pages.
const STYLE: &str = "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:#1f2328}\
rect{fill:#f6f8fa;stroke:#d1d9e0}.b{font-weight:700}.d{fill:#59636e}.red{fill:#cf222e}.green{fill:#1a7f37}\
.yellow{fill:#9a6700}.blue{fill:#0969da}.magenta{fill:#8250df}.cyan{fill:#1b7c83}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}rect{fill:#151b23;stroke:#3d444d}.d{fill:#9198a1}\
.red{fill:#ff7b72}.green{fill:#3fb950}.yellow{fill:#d29922}.blue{fill:#58a6ff}.magenta{fill:#bc8cff}.cyan{fill:#39c5cf}}";

/// The CSS class of an ANSI attribute; none: a picture can't show it.
fn class(code: &str) -> Option<&'static str> {
    Some(match code {
        "1" => "b",
        "2" => "d",
        "31" => "red",
        "32" => "green",
        "33" => "yellow",
        "34" => "blue",
        "35" => "magenta",
        "36" => "cyan",
        _ => return None,
    })
}

/// Text and its classes, without the escapes.
fn spans(line: &str) -> Vec<(String, String)> {
    let mut parts = line.split("\u{1b}[");
    let mut spans = vec![(String::new(), parts.next().unwrap_or_default().to_owned())];
    for part in parts {
        let (codes, text) = part.split_once('m').expect("only colours are printed");
        let classes = codes.split(';').filter(|code| *code != "0");
        let classes: Vec<&str> = classes
            .map(|code| class(code).unwrap_or_else(|| panic!("no class for {code}")))
            .collect();
        spans.push((classes.join(" "), text.to_owned()));
    }
    spans.retain(|(_, text)| !text.is_empty());
    spans
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// One picture of a terminal with these lines in it.
fn picture(title: &str, lines: &[String]) -> String {
    let width = (COLUMNS as f32 * CHARACTER) as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         role=\"img\"><title>{}</title>\n<style>{STYLE}</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        escaped(title),
        width - 1,
        height - 1
    );
    for (number, line) in (1..).zip(lines) {
        let y = MARGIN + number * LINE - 5;
        let _ = write!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">"
        );
        for (class, text) in spans(line) {
            let text = escaped(&text);
            let _ = match class.is_empty() {
                true => write!(svg, "{text}"),
                false => write!(svg, "<tspan class=\"{class}\">{text}</tspan>"),
            };
        }
        svg.push_str("</text>\n");
    }
    svg + "</svg>\n"
}

#[test]
fn the_pictures_show_what_the_program_prints() {
    let mut desk = Desk::enabled();
    assert_eq!(desk.run("sessionmill run").exit, Exit::Done);
    desk.columns = Some(COLUMNS);
    for (name, title, command) in [
        (
            "search",
            "A search, with the best two sessions",
            "sessionmill search token expiry -n 2",
        ),
        (
            "recap",
            "A recap of one project: left open, worked on, decided, commits",
            "sessionmill recap --project shop-api --since 2026-03-01",
        ),
    ] {
        let ran = desk.run(command);
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        let shown = format!("\u{1b}[2m$\u{1b}[0m {command}\n{}", ran.stdout.trim_end());
        let lines: Vec<String> = shown.lines().map(str::to_owned).collect();
        for line in &lines {
            let width: usize = spans(line).iter().map(|(_, text)| text.width()).sum();
            assert!(width <= COLUMNS, "{command}: {width} columns: {line}");
        }
        let wants = picture(title, &lines);
        let file = format!("docs/pictures/{name}.svg");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
            fs::create_dir_all(file.parent().expect("a folder")).unwrap();
            fs::write(&file, &wants).unwrap();
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == wants, "{} is old: make pictures", file.display());
    }
}
