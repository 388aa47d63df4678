//! People's and agents' words, shortened. Nothing is paraphrased.

/// Whitespace folded, emphasis and borders taken off. What stands in code is no emphasis.
pub fn folded(text: &str) -> String {
    let text = text.trim();
    if is_plain(text) {
        return text.to_owned();
    }
    let drawn = |word: &&str| !word.chars().all(|c| matches!(c, '│' | '┃'));
    let words: Vec<&str> = text.split_whitespace().filter(drawn).collect();
    let text = words.join(" ");
    match text.contains("**") {
        true => without_emphasis(&text),
        false => text,
    }
}

/// Nothing in it would be folded or taken off.
fn is_plain(text: &str) -> bool {
    let mut before = 0;
    text.bytes().all(|byte| {
        let is_twice = byte == before && matches!(byte, b' ' | b'*');
        before = byte;
        !is_twice && !matches!(byte, b'\t'..=b'\r') && byte.is_ascii()
    })
}

/// `**` joins no words outside of code unless it is part of a path (`src/**/*.rs`) or stands alone.
fn without_emphasis(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside_code = false;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        inside_code ^= letter == '`';
        if !inside_code && let Some(after) = rest.strip_prefix("**") {
            let (before, next) = (out.chars().next_back(), after.chars().next());
            let is_path = before == Some('/') || next == Some('/');
            let is_blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
            let is_apart = is_blank(before) && is_blank(next);
            if !is_path && !is_apart {
                rest = after;
                continue;
            }
            out.push_str("**");
            rest = after;
            continue;
        }
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
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
    let clause = |ends: &[&str]| {
        let ends = ends.iter().filter_map(|mark| cut.rfind(mark));
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
