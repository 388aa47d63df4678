//! Addresses in a prompt, as short as a reader needs them.

use std::borrow::Cow;

/// `https://github.com/owner/shop/pull/7#files` as `shop PR #7`, also behind `PR`; other addresses without what a reader
/// skips.
pub fn links_shortened(line: &str) -> String {
    let mut words: Vec<Cow<'_, str>> = Vec::new();
    for word in line.split_whitespace().map(shortened) {
        let named = word
            .split_once(' ')
            .and_then(|(_, named)| named.split_once(" #"));
        let is_named = |before: &str| {
            named.is_some_and(|(kind, _)| before.trim_end_matches(':').eq_ignore_ascii_case(kind))
        };
        words.pop_if(|before| is_named(before));
        words.push(word);
    }
    words.join(" ")
}

pub(super) fn shortened(word: &str) -> Cow<'_, str> {
    let short = of_address(word);
    // a parenthesis that was opened before the word is closed behind it
    let is_closed = |(before, rest): (&str, &str)| {
        !before.contains('(')
            && !rest.contains('(')
            && rest.trim_end_matches(['.', ',']).ends_with(')')
    };
    let closes = word
        .find("http")
        .map(|at| word.split_at(at))
        .is_some_and(is_closed);
    match closes && !short.ends_with(')') {
        true => Cow::Owned(format!("{short})")),
        false => short,
    }
}

fn of_address(word: &str) -> Cow<'_, str> {
    const ADDRESS_BYTES_MAX: usize = 60;
    let address = word
        .find("http")
        .and_then(|at| word[at..].split_once("://"));
    let Some((_, address)) = address else {
        return Cow::Borrowed(word);
    };
    let plain = address
        .split(['#', '?', ')', '>'])
        .next()
        .unwrap_or_default();
    let plain = plain.trim_end_matches(['/', ',', '.', ';', ':']);
    let mut parts = plain.split('/').skip(2);
    if let (Some(name), Some(kind), Some(number)) = (parts.next(), parts.next(), parts.next()) {
        let kind = match kind {
            "pull" => "PR",
            "issues" => "issue",
            _ => "",
        };
        if !kind.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
            return Cow::Owned(format!("{name} {kind} #{number}"));
        }
    }
    match plain.len() <= ADDRESS_BYTES_MAX {
        true => Cow::Borrowed(plain),
        false => Cow::Owned(identified(plain, ADDRESS_BYTES_MAX)),
    }
}

/// A long address: its host, and of the rest what says most, `entire.example/…/trails/4/faster-carts…`: a name with the
/// number before it.
fn identified(address: &str, bytes_max: usize) -> String {
    let mut parts = address.split('/');
    let host = parts.next().unwrap_or_default();
    let owner = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let last = rest.last().copied().unwrap_or_default();
    let named = format!("{host}/{owner}/…/{last}");
    if named.len() <= bytes_max {
        return named;
    }
    // of a long name the number before it says more
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let from = match rest.iter().rposition(is_number) {
        Some(nth) => nth.saturating_sub(1),
        None => rest.len().saturating_sub(1),
    };
    let kept = rest[from.min(rest.len())..].join("/");
    let room = bytes_max.saturating_sub(host.len() + "/…/…".len());
    match kept.len() <= room {
        true => format!("{host}/…/{kept}"),
        false => {
            let part = &kept[..kept.floor_char_boundary(room)];
            let end = part.rfind(['-', '_', '/', '.']).unwrap_or(part.len());
            format!("{host}/…/{}…", &part[..end])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parenthesis_around_an_address_is_closed() {
        for (line, wants) in [
            (
                "all of it (see https://shop.example/carts)",
                "all of it (see shop.example/carts)",
            ),
            (
                "all of it (https://shop.example/carts)",
                "all of it shop.example/carts",
            ),
            (
                "see https://github.com/us/shop/pull/7 now",
                "see shop PR #7 now",
            ),
        ] {
            assert_eq!(links_shortened(line), wants);
        }
    }
}
