//! Text that is put into Markdown and must not become more than text there.

/// A cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A line of a model's words as Markdown that reads as just these words: no tag, image, heading or
/// item of a list comes of it, and no link but to the web. Code in backquotes stays.
pub(in crate::insight) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.starts_with(['#', '>', '-', '+', '*', '=', '|', '~']) || text.starts_with("```") {
        out.push('\\');
    }
    // one quote without its other, or several in a row, may quote something else than they seem to
    let has_code = !text.contains("``") && text.matches('`').count().is_multiple_of(2);
    let is_link_safe = links_to_the_web(text);
    let (mut is_code, mut is_escaped) = (false, false);
    let mut last = ' ';
    for c in text.chars() {
        is_code ^= has_code && c == '`';
        match c {
            '<' if !is_code => out.push_str("&lt;"),
            '[' if !is_code && !is_escaped && (last == '!' || !is_link_safe) => out.push_str("\\["),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
        is_escaped = c == '\\' && !is_escaped;
        last = c;
    }
    out
}

/// Every link of a text goes to a web address that stands in it. Others may be scripts, however they are
/// spelled; those that name their address elsewhere go there, too.
fn links_to_the_web(text: &str) -> bool {
    let is_web = |target: &str| {
        let start = target.get(..8).unwrap_or(target).to_ascii_lowercase();
        start.starts_with("http://") || start.starts_with("https://")
    };
    let named = text
        .match_indices("](")
        .map(|(at, mark)| &text[at + mark.len()..]);
    let elsewhere =
        text.contains("][") || text.trim_start().starts_with('[') && text.contains("]:");
    !elsewhere && named.into_iter().all(is_web)
}
