//! A text as passages that fit into a model's window: by lines and words, each half over the one before, so
//! that what stands at a border of one stands in the midst of another. Pure.

/// Characters of a text that are sent. An episode has half as many, but for a message that is longer than
/// one. More: a pasted log takes as long as fifty episodes; less: the end of a long text is found by words alone.
const TEXT_CHARS_MAX: usize = 24_000;

/// The passages of a text, each of at most so many characters, in its order; none of an empty one.
pub(super) fn passages(text: &str, chars: usize) -> Vec<&str> {
    let text = cut(text, TEXT_CHARS_MAX);
    let pieces = pieces(text, (chars / 2).max(1));
    let mut all = Vec::new();
    let mut first = 0;
    while let Some(&(start, _)) = pieces.get(first) {
        let fits = |(_, end): &&(usize, usize)| text[start..*end].chars().count() <= chars;
        let count = pieces[first..].iter().take_while(fits).count().max(1);
        let end = pieces[first + count - 1].1;
        all.push(text[start..end].trim());
        if end == text.len() {
            break;
        }
        let half = start + (end - start) / 2;
        let next = pieces[first + 1..first + count]
            .iter()
            .position(|(begin, _)| *begin >= half);
        first += next.map_or(count, |next| next + 1);
    }
    all.retain(|passage| !passage.is_empty());
    all
}

/// The first characters of a text.
pub(in crate::pipeline) fn cut(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars);
    end.map_or(text, |(end, _)| &text[..end])
}

/// Where lines begin and end, with the empty ones after them; longer ones after a word, or where they have no
/// blank, after so many characters.
fn pieces(text: &str, chars: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let line = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let blanks = text[line..].find(|c| c != '\n');
        let end = blanks.map_or(text.len(), |at| line + at);
        while start < end {
            let piece = cut(&text[start..end], chars);
            let blank = piece.rfind(' ').filter(|at| *at > piece.len() / 2);
            let length = match blank {
                Some(at) if start + piece.len() < end => at + 1,
                _ => piece.len(),
            };
            all.push((start, start + length));
            start += length;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_in_a_passage_and_borders_stand_in_two() {
        for text in [
            "one two",
            &"word of a line that goes on\n".repeat(90),
            &"é".repeat(999),
            &"no line here ".repeat(99),
        ] {
            let all = passages(text, 100);
            assert!(
                all.iter()
                    .all(|passage| (1..=100).contains(&passage.chars().count()))
            );
            let chars: usize = all.iter().map(|passage| passage.chars().count()).sum();
            let long = text.chars().count();
            assert!(
                chars * 10 >= long * 9 && chars <= long * 5 / 2,
                "{chars} of {long}"
            );
            assert!(text.trim_end().ends_with(all[all.len() - 1]));
        }
        let lines: String = (0..40).map(|n| format!("line number {n}\n")).collect();
        let all = passages(&lines, 100);
        for pair in all.windows(2) {
            let last = pair[0].lines().last().unwrap();
            assert!(pair[1].contains(last), "{pair:?}");
        }
        assert!(passages(" \n\n ", 100).is_empty());
        assert_eq!(passages(&"owl ".repeat(90_000), 8_000).len(), 5);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("éé", 1), "é");
        assert_eq!(cut("é", 2), "é");
    }
}
