//! Text that is put into Markdown and must not become more than text there.

/// A cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A line of a model's words as Markdown that reads as just these words: no tag, image, heading or
/// item of a list comes of it. Code in backquotes stays.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.starts_with(['#', '>', '-', '+', '*', '=', '|', '~']) || text.starts_with("```") {
        out.push('\\');
    }
    // one quote without its other, or several in a row, may quote something else than they seem to
    let has_code = !text.contains("``") && text.matches('`').count().is_multiple_of(2);
    let mut is_code = false;
    let mut last = ' ';
    for c in text.chars() {
        is_code ^= has_code && c == '`';
        match c {
            '<' if !is_code => out.push_str("&lt;"),
            '[' if last == '!' => out.push_str("\\["),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
        last = c;
    }
    out
}
