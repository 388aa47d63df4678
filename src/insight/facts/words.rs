//! People's and agents' words, shortened. Nothing is paraphrased.

use memchr::memmem;

/// Whitespace folded, emphasis and borders taken off. What stands in code is no emphasis.
pub fn folded(text: &str) -> String {
    let text = text.trim();
    if is_plain(text) {
        return match memmem::find(text.as_bytes(), b"**") {
            Some(at) => without_emphasis(text, at),
            None => text.to_owned(),
        };
    }
    let drawn = |word: &&str| !word.chars().all(is_border);
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace().filter(drawn) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    match memmem::find(out.as_bytes(), b"**") {
        Some(at) => without_emphasis(&out, at),
        None => out,
    }
}

fn is_border(c: char) -> bool {
    matches!(c, '│' | '┃')
}

/// Its words stand one blank apart, and nothing is drawn.
fn is_plain(text: &str) -> bool {
    let mut is_blank = false;
    text.chars().all(|c| {
        let was_blank = std::mem::replace(&mut is_blank, c == ' ');
        match c {
            ' ' => !was_blank,
            '!'..='~' => true,
            c => !c.is_whitespace() && !is_border(c),
        }
    })
}

/// `**` joins no words outside of code unless it is part of a path (`src/**/*.rs`) or stands alone. The first one
/// stands there.
fn without_emphasis(text: &str, first: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside_code = text[..first].matches('`').count() % 2 == 1;
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(at) = memchr::memchr2(b'`', b'*', rest.as_bytes()) {
        let (plain, marked) = rest.split_at(at);
        out.push_str(plain);
        let after = marked.strip_prefix("**").filter(|_| !inside_code);
        let Some(after) = after else {
            let (mark, behind) = marked.split_at(1);
            inside_code ^= mark == "`";
            out.push_str(mark);
            rest = behind;
            continue;
        };
        let (before, next) = (out.chars().next_back(), after.chars().next());
        let is_path = before == Some('/') || next == Some('/');
        let is_blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
        let is_apart = is_blank(before) && is_blank(next);
        if is_path || is_apart {
            out.push_str("**");
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A word of it points at what stands before.
pub fn points_back(text: &str) -> bool {
    const POINTS: [&str; 8] = [
        "it", "that", "this", "these", "those", "them", "either", "so",
    ];
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| POINTS.contains(&word))
}

/// What stands in the parentheses of a digest, without quotes.
pub fn inside_parentheses(digest: &str) -> Option<&str> {
    let inside = digest.split_once('(')?.1;
    let inside = inside
        .rsplit_once(") → ")
        .map_or(inside, |(inside, _)| inside);
    Some(inside.trim_matches('"')).filter(|inside| !inside.is_empty())
}

/// The beginning of a text that is too long: up to a clause's end where one comes late enough, else up to a
/// word's.
pub fn clipped(text: &str, chars_max: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars_max) else {
        return text;
    };
    let cut = &text[..end];
    const MARKS: [&str; 5] = [", ", "; ", ": ", ") ", " - "];
    const WORDS: [&str; 6] = [
        " and ",
        " but ",
        " because ",
        " since ",
        " which ",
        " when ",
    ];
    let late = |at: &usize| at * 3 > end * 2;
    let (_, last) = cut.split_at(cut.floor_char_boundary(end * 2 / 3));
    let clause = |ends: &[&str]| {
        let ends = ends.iter().filter_map(|mark| last.rfind(mark));
        let ends = ends.map(|at| cut.len() - last.len() + at);
        ends.max().filter(late)
    };
    let at = clause(&MARKS)
        .or_else(|| clause(&WORDS))
        .or_else(|| cut.rfind(' '));
    let text = &cut[..at.unwrap_or(cut.len())];
    let text = without_joints(text.trim_end_matches([' ', ',', ';', ':', '-', '.']));
    match text.rfind('(') {
        // what a parenthesis says is whole or absent
        Some(at) if at > 0 && !text[at..].contains(')') && !cut[at..].starts_with("()") => {
            text[..at].trim_end()
        }
        _ => text,
    }
}

/// A text with `…` where it goes on.
pub fn shortened(text: &str, chars_max: usize) -> String {
    match text.chars().count() > chars_max {
        true => format!("{}…", clipped(text, chars_max.saturating_sub(1))),
        false => text.to_owned(),
    }
}

/// Without the words at its end that only join it to what was cut.
pub fn without_joints(text: &str) -> &str {
    const JOINTS: [&str; 18] = [
        " so", " and", " but", " or", " that", " which", " because", " since", " if", " when",
        " to", " the", " a", " an", " of", " for", " with", " in",
    ];
    let mut text = text;
    while let Some(shorter) = JOINTS.iter().find_map(|joint| text.strip_suffix(joint)) {
        text = shorter.trim_end_matches([' ', ',', ';', ':']);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emphasis_is_no_code() {
        for (text, wants) in [
            ("Make   **it** fast", "Make it fast"),
            (
                "**Why**: `a**b` and src/**/*.rs",
                "Why: `a**b` and src/**/*.rs",
            ),
            ("2 ** 3 is **eight**", "2 ** 3 is eight"),
            ("one ┃ two │ three", "one two three"),
        ] {
            assert_eq!(folded(text), wants);
        }
    }

    #[test]
    fn a_long_text_ends_with_a_clause() {
        for (text, chars, wants) in [
            ("short", 9, "short"),
            ("fix the cart, then write the docs", 18, "fix the cart"),
            (
                "fix the cart, then write the docs",
                30,
                "fix the cart, then write",
            ),
            ("fix the cart and write the docs", 20, "fix the cart"),
            ("fix the cart (with all of its rows)", 20, "fix the cart"),
            ("fix the cart so that it adds", 14, "fix the cart"),
            ("one twothreefourfivesix", 12, "one"),
            ("看看这个看看这个", 4, "看看这个"),
        ] {
            assert_eq!(clipped(text, chars), wants);
        }
    }
}
