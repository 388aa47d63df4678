//! Lines of a log that somebody pasted right behind their own words, without a blank line between.

use crate::rules::requests::{RequestKind, announces_paste, hands_over, request, speaks};
use std::ops::Range;

/// Lines without a blank one between them.
#[derive(Default)]
pub(super) struct Paragraph<'p> {
    /// Those that were taken for somebody's own, with the first of their sentences.
    own: Vec<(usize, &'p str)>,
    /// A log begins in its first line.
    is_cut: bool,
    /// How many were pasted.
    pasted: usize,
    /// The last line is one of those.
    ends_pasted: bool,
}

impl<'p> Paragraph<'p> {
    pub(super) fn has_own(&mut self, first: usize, line: &'p str, is_whole: bool) {
        self.is_cut |= self.own.is_empty() && !is_whole;
        self.own.push((first, line));
        self.ends_pasted = false;
    }

    pub(super) fn has_pasted(&mut self, line: &str) {
        const LOG_BYTES_MIN: usize = 12;
        // formulas are copied in lines of some letters
        self.pasted += usize::from(line.len() >= LOG_BYTES_MIN);
        self.ends_pasted = true;
    }

    /// Sentences that are the log's, the last ones first: of a paragraph that is mostly a log, all but those of its first
    /// line and of what speaks to the agent.
    pub(super) fn of_log(self, sentences: &[String]) -> Vec<Range<usize>> {
        const PASTED_MIN: usize = 3;
        if self.pasted < PASTED_MIN {
            return Vec::new();
        }
        let firsts = self.own.iter().map(|(first, _)| *first);
        let ends = firsts.clone().skip(1).chain([sentences.len()]);
        let own = firsts.zip(ends).map(|(first, end)| first..end).enumerate();
        let gone = own.filter_map(|(nth, own)| {
            let is_last = nth + 1 == self.own.len() && !self.ends_pasted;
            match nth {
                0 if self.is_cut => None,
                0 => has_tail(&sentences[own.clone()]).then(|| own.end - 1..own.end),
                _ => (!is_typed(self.own[nth].1, is_last)).then_some(own),
            }
        });
        let mut gone: Vec<Range<usize>> = gone.collect();
        gone.reverse();
        gone
    }
}

/// What stands behind whole sentences of a line without an end is the log's first line.
fn has_tail(line: &[String]) -> bool {
    const ENDS: [char; 3] = ['.', '?', '!'];
    let Some((last, before)) = line.split_last() else {
        return false;
    };
    let is_tail = !last.ends_with([':', '.', '?', '!']);
    is_tail && !before.is_empty() && before.iter().all(|said| said.ends_with(ENDS))
}

/// Somebody speaks to the agent there; what leads to more of the log is the log's.
fn is_typed(line: &str, is_last: bool) -> bool {
    let asks = || request(line).is_some_and(|said| said.kind == RequestKind::Ask);
    !line.ends_with(':')
        && !line.starts_with(['-', '*', '•', '#', '>'])
        && (speaks(line) || is_last && asks())
}

/// What stands before a log's line: `we get this: 2026/02/03 10:00:00 WARN no`.
pub(super) fn typed_before_log(line: &str) -> &str {
    const ONE_OF: [&str; 2] = ["{\"", "[{\""];
    let is_log = |rest: &str| ONE_OF.iter().any(|start| rest.starts_with(start)) || is_timed(rest);
    let mut parts = line.match_indices(": ");
    let at = parts.find(|(at, _)| {
        let is_led = || is_tagged(&line[at + 2..]) && announces_paste(&line[..=*at]);
        is_log(&line[at + 2..]) || is_led()
    });
    // `I get this [10:00:00.123] GET /carts`
    let mut marked = line.match_indices(" [");
    let at = at.or_else(|| marked.find(|(at, _)| is_timed(&line[at + 2..])));
    let typed = at.map_or(line, |(at, _)| &line[..at]);
    before_shell(typed)
}

/// `Look into this ada@host shop % tail -f log` up to who was logged in where.
fn before_shell(line: &str) -> &str {
    let Some(end) = line.find(" % ").or_else(|| line.find(" $ ")) else {
        return line;
    };
    let login = line[..end].match_indices(' ').rev().take(2);
    let mut logins = login.filter(|(at, _)| {
        let word = line[at + 1..].split(' ').next().unwrap_or_default();
        word.find('@')
            .is_some_and(|mark| mark > 0 && mark + 1 < word.len())
    });
    logins.next().map_or(line, |(at, _)| &line[..at])
}

/// `43s`, `2m 10s`: how long a step of a pipeline took, in a line of its own.
pub(super) fn is_step_time(line: &str) -> bool {
    let is_part = |part: &str, unit: char| {
        let digits = part.strip_suffix(unit);
        digits.is_some_and(|digits| {
            (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
        })
    };
    match line.split_once(' ') {
        Some((minutes, seconds)) => is_part(minutes, 'm') && is_part(seconds, 's'),
        None => is_part(line, 's'),
    }
}

/// `Run npm test` above what that printed is a pipeline's line.
pub(super) fn is_step(line: &str, is_next_pasted: impl FnOnce() -> bool) -> bool {
    line.starts_with("Run ") && is_next_pasted()
}

/// It begins with a day, or a time with seconds.
pub(super) fn is_timed(line: &str) -> bool {
    let bytes = line.as_bytes();
    let digits = |until: usize| bytes[..until].iter().all(u8::is_ascii_digit);
    bytes.len() > 10
        && (digits(4) && matches!(bytes[4], b'-' | b'/')
            || digits(2) && bytes[2] == b':' && bytes[5] == b':')
}

/// `[shop] listening`: a program names itself before what it logs.
fn is_tagged(text: &str) -> bool {
    const TAG_BYTES_MAX: usize = 32;
    let tag = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    tag.is_some_and(|(tag, rest)| {
        tag.len() <= TAG_BYTES_MAX && tag.starts_with(char::is_alphanumeric) && !rest.is_empty()
    })
}

/// `Here is the doc: # Options`, and `Here is the doc:` before a document.
pub(super) fn hands_document(line: &str) -> bool {
    let Some((lead, rest)) = line.split_once(':') else {
        return false;
    };
    let is_document = rest.trim().is_empty() || rest.trim_start().starts_with('#');
    is_document && hands_over(&line[..=lead.len()])
}

/// What a log's line says has failed, where none of its lines says why.
pub(super) fn failure(line: &str) -> Option<&str> {
    const BYTES_MIN: usize = 16;
    const CUES: [&str; 4] = [" failed", "FAILED", " exited with", "non-zero"];
    let text = match is_tagged(line) {
        true => line.split_once("] ").map_or(line, |(_, text)| text),
        false => line,
    };
    let says = text.len() >= BYTES_MIN && CUES.iter().any(|cue| text.contains(cue));
    says.then_some(text.trim())
}

/// A line of code; `in_box`: or one of a text that has lines of a box.
pub(super) fn is_indented(line: &str, in_box: bool) -> bool {
    let in_code = line.starts_with("    ") || line.starts_with('\t');
    in_code || in_box && (line.starts_with("  ") || is_padded(line))
}

/// Which lines a program drew in a terminal, from the edge of a box to its other one, with those right beside them.
pub(super) fn boxed(text: &str) -> Vec<usize> {
    let is_one = |line: &&str| line.starts_with("  ") && is_padded(line);
    if !text.lines().any(|line| is_one(&line)) {
        return Vec::new();
    }
    let lines: Vec<(usize, &str)> = text.lines().enumerate().collect();
    let parts = lines.split(|(_, line)| line.is_empty());
    let boxes = parts.filter(|part| part.iter().any(|(_, line)| is_one(line)));
    boxes.flatten().map(|(nth, _)| *nth).collect()
}

fn is_padded(line: &str) -> bool {
    const BLANKS_MIN: usize = 8;
    let text = line.trim_end().len();
    text > 0 && line.len() - text >= BLANKS_MIN
}

#[cfg(test)]
mod tests {
    use super::super::prose;

    #[test]
    fn a_log_right_behind_words_is_the_logs() {
        let prompt = "The shop's release fails since yesterday. What is the fix? shopper v2 installed\n\
            Using src as the working directory\n  • skipping the banner...\n  • loading the carts\n    • no carts found\n  \
            ⨯ release failed after 0s        error=the tree is dirty\nPlease check what changes these files:\n?? src/carts/";
        let read = prose(prompt, &[]);
        assert_eq!(
            read.sentences,
            [
                "The shop's release fails since yesterday.",
                "What is the fix?"
            ]
        );
        assert_eq!(read.error, Some("error=the tree is dirty"));
    }

    #[test]
    fn steps_of_a_pipeline_are_a_log() {
        let prompt = "it looks like the pipeline reads another branch. this is its log: build (20.x)\nfailed in 43s\n\
            Search logs\n1s\nPrepare workflow directory\nRun actions/checkout@v5\n\nwhy is that?";
        assert_eq!(
            prose(prompt, &[]).sentences,
            [
                "it looks like the pipeline reads another branch.",
                "this is its log: build (20.x)",
                "failed in 43s",
                "why is that?"
            ]
        );
        let prompt =
            "why does this fail?\nRun npm run check\n\n> check\n> npm run lint && npm test";
        assert_eq!(prose(prompt, &[]).sentences, ["why does this fail?"]);
        let prompt = "Look into this ada@host shop % tail -f shop.log\n[shop] listening";
        assert_eq!(prose(prompt, &[]).sentences, ["Look into this"]);
    }

    #[test]
    fn what_is_asked_behind_a_log_is_heard() {
        let prompt = "I ran the shop\n[shop] listening on 1\n[shop] cart read\n[shop] cart sold\nfix the shop's total";
        assert_eq!(
            prose(prompt, &[]).sentences,
            ["I ran the shop", "fix the shop's total"]
        );
    }

    #[test]
    fn a_log_that_begins_in_the_line_that_announces_it_is_no_ask() {
        let prompt = "I sold a cart but got these errors: [Shop] Plan first: 5 carts, 6 rows\n[Shop] Phase 1: planning\n\
            [Cart Agent] Process failed with code 1 after 0.4s\n[Cart Agent] nothing was printed\n\n\
            - Here is the doc: # Options\n\n";
        let prompt = &format!(
            "{prompt}{}",
            "Options go with any command of the shop.\n".repeat(20)
        );
        let read = prose(prompt, &[]);
        assert_eq!(read.sentences, ["I sold a cart but got these errors"]);
        assert_eq!(read.error, Some("Process failed with code 1 after 0.4s"));
    }
}
