//! What a person wrote in a prompt, sentence by sentence, without what was pasted into it: code, logs, what a
//! terminal showed, the agent's own words.

mod aims;
mod links;
mod logs;
mod plain;
mod reports;

use super::words;
use crate::rules::requests::{announces_paste, gathers, hands_over, is_printed, speaks};
use crate::rules::words::sentences;
pub use links::links_shortened;
use links::shortened;
use logs::{
    Paragraph, boxed, failure, hands_document, is_indented, is_step, is_step_time, is_timed,
    typed_before_log,
};
use plain::{is_listed, plain, point};
use reports::{before_report, is_grade};
use std::cell::OnceCell;
use std::ops::Range;

/// A prompt as it was written.
#[derive(Debug, Default, PartialEq)]
pub struct Prose<'p> {
    /// In order.
    pub sentences: Vec<String>,
    /// Which of these begin a heading.
    pub headings: Vec<usize>,
    /// Which of these begin a point of a list.
    pub points: Vec<usize>,
    /// Which of these begin a line.
    pub lines: Vec<usize>,
    /// The first line of what was pasted that tells of an error.
    pub error: Option<&'p str>,
    /// The first address that stands alone.
    pub address: Option<&'p str>,
    /// The first sentence of what was pasted behind a line that announces it, where nothing was said behind that.
    pub pasted: Option<String>,
    /// What a document that was pasted says first, where it has a title.
    pub document: Vec<String>,
    /// What a document says that it is for: `Scope: two carts for each customer`.
    pub aim: Option<String>,
    /// The first line of the agent's own words that was pasted.
    pub quoted: Option<&'p str>,
    /// What was pasted stands in a line of its own words.
    pub is_cut: bool,
}

/// Sentences of one prompt; what stands behind so many seldom asks.
const SENTENCES_MAX: usize = 24;

/// Bytes of one prompt that are read.
const PROMPT_BYTES_MAX: usize = 8 * 1024;

/// Reads a prompt. `before`: the agent's words since the prompt before, which people quote.
pub fn prose<'p>(prompt: &'p str, before: &[&str]) -> Prose<'p> {
    let before = &Said::of(before);
    let prompt = &prompt[..prompt.floor_char_boundary(PROMPT_BYTES_MAX)];
    let mut prose = Prose::default();
    if prompt.starts_with(['{', '<']) {
        return prose;
    }
    if let Some(own) = before_transcript(prompt) {
        prose.read(own, before);
        if !prose.sentences.is_empty() {
            return prose;
        }
    }
    if let Some((own, first)) = before_report(prompt) {
        prose.read(own, before);
        if !prose.sentences.is_empty() {
            prose.document = sentences(&plain(first))
                .take(DOCUMENT_SENTENCES)
                .map(str::to_owned)
                .collect();
            return prose;
        }
    }
    if let Some((own, pasted)) = pasted_behind(prompt) {
        prose.read(own, before);
        prose.read_pasted(pasted, before);
        // what was gathered says nothing of the request
        let lead = prompt[..prompt.len() - pasted.len()]
            .trim_end()
            .lines()
            .next_back();
        prose.pasted = prose
            .pasted
            .filter(|_| !lead.is_some_and(|lead| gathers(lead.trim())));
        if !prose.sentences.is_empty() {
            return prose;
        }
    }
    // what is asked stands behind what a terminal showed
    let last = prompt.rsplit("\n\n").next().filter(|_| is_shell(prompt));
    if let Some(last) = last {
        prose.read(last, before);
        // `please fix` is about what the terminal showed
        prose.error = prose.error.or_else(|| prompt.lines().find_map(error));
    }
    if prose.sentences.is_empty() {
        prose.read(prompt, before);
        prose.aim = prompt
            .starts_with("# ")
            .then(|| aims::aim(prompt))
            .flatten();
    }
    prose
}

/// The lines up to the one that announces something pasted, and what was pasted: `I got this error:`, `Implement the
/// following plan:`.
pub fn pasted_behind(prompt: &str) -> Option<(&str, &str)> {
    let mut end = 0;
    let lines = prompt.split_inclusive('\n');
    let lines = lines.map(|line| {
        end += line.len();
        (line.trim(), end)
    });
    let mut said = lines
        .filter(|(line, _)| !line.is_empty())
        .enumerate()
        .take(GATHERED_LINES_MAX)
        .filter(|(nth, (line, _))| *nth < LEAD_LINES_MAX || gathers(line))
        .map(|(_, said)| said);
    let is_long = |end: &usize| prompt.len() - end >= HANDED_BYTES_MIN;
    let (_, end) =
        said.find(|(line, end)| announces_paste(line) || hands_over(line) && is_long(end))?;
    let (own, pasted) = prompt.split_at(end);
    let last = own.trim_end().rsplit('\n').next().unwrap_or_default();
    let is_digest = gathers(last.trim());
    let own = match is_digest {
        // it says nothing of its own
        true => own.trim_end().strip_suffix(last).unwrap_or_default(),
        false => own,
    };
    let is_own = is_digest || !own.trim_start().starts_with(['#', '/', '!', '$', '➜', '❯']);
    (is_own && !pasted.trim().is_empty()).then_some((own, pasted))
}

/// What stands before a conversation that was pasted: `User: …`, `Agent: …`.
fn before_transcript(prompt: &str) -> Option<&str> {
    const SPEAKERS: [&str; 5] = ["User: ", "Agent: ", "Human: ", "Assistant: ", "Claude: "];
    const TURNS_MIN: usize = 2;
    let mut at = 0;
    let turns = prompt.split_inclusive('\n').filter_map(|line| {
        let start = at;
        at += line.len();
        let is_turn = SPEAKERS.iter().any(|name| line.starts_with(name));
        is_turn.then_some(start)
    });
    let turns: Vec<usize> = turns.collect();
    let first = turns.first().filter(|_| turns.len() >= TURNS_MIN);
    first.map(|at| &prompt[..*at])
}

/// What somebody types behind a line that hands something over is shorter.
const HANDED_BYTES_MIN: usize = 1500;

/// What was gathered for the agent may stand behind a request of some lines.
const GATHERED_LINES_MAX: usize = 12;

/// What stands further behind is part of what was pasted.
const LEAD_LINES_MAX: usize = 3;

impl<'p> Prose<'p> {
    /// Of what was pasted its title, and what a person says behind it.
    fn read_pasted(&mut self, pasted: &'p str, before: &Said<'_>) {
        const TITLE_LINES: usize = 3;
        const OWN_BYTES_MAX: usize = 500;
        let mut inside = Prose::default();
        inside.read(pasted, before);
        let mut lines = pasted
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let title = lines
            .clone()
            .take(TITLE_LINES)
            .find(|line| line.starts_with("# "));
        let own = self.sentences.len();
        if let Some(title) = title {
            self.headings.push(own);
            self.sentences.push(plain(title));
        }
        let is_document = lines.any(|line| line.starts_with('#'));
        let last = pasted.trim_end().rsplit_once("\n\n").map(|(_, last)| last);
        let last = last.filter(|last| {
            let is_list = last.lines().any(|line| point(line) != line);
            !is_document && !is_list && last.len() <= OWN_BYTES_MAX
        });
        if let Some(last) = last.filter(|last| speaks(last)) {
            self.read(last, before);
        }
        (self.error, self.address) = (self.error.or(inside.error), self.address.or(inside.address));
        let is_all = self.sentences.len() == own;
        if title.is_some() {
            self.document = inside.first_paragraph();
            self.aim = aims::aim(pasted);
        }
        self.pasted = inside.sentences.into_iter().next().filter(|_| is_all);
    }

    /// The first sentences behind headings and labels that say something.
    fn first_paragraph(&self) -> Vec<String> {
        const CHARS_MIN: usize = 40;
        let is_prose = |nth: &usize| {
            let sentence = &self.sentences[*nth];
            let is_led = sentence.ends_with(':');
            !self.headings.contains(nth) && !is_led && sentence.chars().count() >= CHARS_MIN
        };
        let Some(first) = (0..self.sentences.len()).find(is_prose) else {
            return Vec::new();
        };
        let ends = |nth: &usize| self.headings.contains(nth) || self.points.contains(nth);
        let next = (first + 1..self.sentences.len()).take_while(|nth| !ends(nth));
        let all = std::iter::once(first).chain(next).take(DOCUMENT_SENTENCES);
        let said = all.map(|nth| match self.sentences[nth].strip_suffix(':') {
            Some(led) => match self.heads_behind(nth) {
                // what was shown, not said
                heads if heads.is_empty() => format!("{led} …"),
                heads => format!("{led}: {}.", heads.join("; ")),
            },
            None => self.sentences[nth].clone(),
        });
        said.collect()
    }

    /// What the points are about that stand right behind a sentence.
    fn heads_behind(&self, nth: usize) -> Vec<String> {
        const HEADS_MAX: usize = 6;
        const HEAD_CHARS_MAX: usize = 80;
        let is_own = |nth: &usize| !self.headings.contains(nth) && !self.lines.contains(nth);
        let mut heads = Vec::new();
        let mut at = nth + 1;
        while heads.len() < HEADS_MAX && self.points.contains(&at) {
            let point = self.sentences[at].trim_end_matches(['.', ':']);
            let marks = [": ", " — ", " – ", " - "].iter();
            let end = marks.filter_map(|mark| point.find(mark)).min();
            heads.push(words::shortened(
                &point[..end.unwrap_or(point.len())],
                HEAD_CHARS_MAX,
            ));
            // its other sentences
            at = (at + 1..self.sentences.len())
                .find(|nth| !is_own(nth))
                .unwrap_or(usize::MAX);
        }
        heads
    }

    /// Drops sentences, the last ones first.
    fn drop_all(&mut self, gone: Vec<Range<usize>>) {
        for gone in gone {
            for known in [&mut self.headings, &mut self.points, &mut self.lines] {
                known.retain(|nth| !gone.contains(nth));
                let behind = known.iter_mut().filter(|nth| **nth >= gone.end);
                behind.for_each(|nth| *nth -= gone.len());
            }
            self.sentences.drain(gone);
        }
    }

    /// Drops all sentences but so many.
    fn keep(&mut self, count: usize) {
        self.sentences.truncate(count);
        for known in [&mut self.headings, &mut self.points, &mut self.lines] {
            known.retain(|nth| *nth < count);
        }
    }

    fn read(&mut self, text: &'p str, before: &Said<'_>) {
        let (mut paragraph, mut failed) = (Paragraph::default(), None);
        let (mut inside_code, mut inside_shell, mut above) = (false, false, 0);
        let (all, last) = (text.lines().count(), last_paragraph(text));
        let boxed = boxed(text);
        for (nth, line) in text.lines().enumerate() {
            let bare = line.trim();
            let fence = bare.starts_with("```");
            inside_code ^= fence;
            if fence || inside_code || bare.is_empty() || is_grade(bare) {
                // a long output has paragraphs; what somebody typed stands behind all of it
                inside_shell &= !fence && all >= OUTPUT_LINES_MIN && nth + 1 < last;
                self.drop_all(std::mem::take(&mut paragraph).of_log(&self.sentences));
                above = self.sentences.len();
                continue;
            }
            if is_shell(bare) || nth > 0 && is_step_time(bare) {
                // what stands right above a shell's mark is its own line
                self.keep(above);
                inside_shell = true;
            }
            if inside_shell {
                self.error = self.error.or_else(|| error(bare));
                continue;
            }
            above = self.sentences.len();
            if is_address(bare) {
                self.address.get_or_insert(bare);
            }
            let is_code = nth > 0 && is_indented(line, boxed.contains(&nth));
            // a program's own points
            let is_drawn = nth > 0 && line.starts_with(' ') && bare.starts_with('•')
                || nth > 0 && is_step(bare, || is_next_pasted(text, nth));
            let is_shown = is_drawn || is_pasted(bare) || is_code && point(bare) == bare;
            if is_shown || before.has(bare) {
                self.quoted = self.quoted.or((!is_shown).then(|| point(bare)));
                self.error = self.error.or_else(|| error(bare));
                failed = failed.or_else(|| failure(bare));
                paragraph.has_pasted(bare);
                continue;
            }
            if nth > 0 && hands_document(point(bare)) && ends(text, line) >= DOCUMENT_BYTES_MIN {
                break;
            }
            let typed = typed_before_log(bare);
            paragraph.has_own(above, bare, typed.len() == bare.len());
            self.is_cut |= typed.len() < bare.len();
            let plain = plain(typed);
            let more = sentences(&plain).flat_map(split_at_dots);
            self.sentences.extend(
                more.map(str::trim)
                    .filter(|more| !more.is_empty())
                    .map(str::to_owned),
            );
            if self.sentences.len() > above {
                self.lines.push(above);
                match bare.starts_with('#') {
                    true => self.headings.push(above),
                    false if is_listed(bare) => self.points.push(above),
                    false => {}
                }
            }
            if self.sentences.len() >= SENTENCES_MAX {
                break;
            }
        }
        self.drop_all(paragraph.of_log(&self.sentences));
        self.error = self.error.or(failed);
    }
}

/// The next line behind this one that isn't empty was pasted.
fn is_next_pasted(text: &str, nth: usize) -> bool {
    let mut next = text.lines().skip(nth + 1).map(str::trim);
    next.find(|line| !line.is_empty()).is_some_and(is_pasted)
}

/// Of what a document says first.
const DOCUMENT_SENTENCES: usize = 3;

/// A document that is handed over is longer.
const DOCUMENT_BYTES_MIN: usize = 600;

/// Bytes of a text behind one of its lines.
fn ends(text: &str, line: &str) -> usize {
    let behind = line.as_ptr() as usize - text.as_ptr() as usize + line.len();
    text.len() - behind
}

/// `pull main..then clean up`; the dots of `../shop` are no end.
fn split_at_dots(sentence: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(sentence);
    std::iter::from_fn(move || {
        let text = rest?;
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        let mut ends = text.match_indices("..").filter(|(at, _)| {
            let after = text[*at..].trim_start_matches('.').chars().next();
            let is_two = !text[*at + 2..].starts_with('.');
            is_two && is_letter(text[..*at].chars().next_back()) && is_letter(after)
        });
        match ends.next() {
            Some((at, _)) => {
                rest = Some(text[at..].trim_start_matches('.'));
                Some(&text[..at])
            }
            None => {
                rest = None;
                Some(text)
            }
        }
    })
}

/// What a terminal or an interface showed, a shell command, or nothing but an address or a path.
fn is_pasted(line: &str) -> bool {
    let drawn = |c: char| ('\u{2190}'..='\u{2bff}').contains(&c) || c >= '\u{1f000}';
    let shown =
        line.starts_with(['[', '!', '$', '|', '{', '}', '\\', '❯', '➜']) || line.starts_with(drawn);
    let one_word = !line.contains(char::is_whitespace);
    let place = is_link(line) || one_word && line.starts_with(['/', '~']);
    let continued = line.ends_with('\\') || line.starts_with("--") && !line.starts_with("---");
    shown
        || place
        || continued
        || line.contains("····")
        || line.contains("────")
        || is_printed(line)
        || is_data(line)
}

/// Times, keys, brackets and numbers: not what people write; who writes about templates may name one.
fn is_data(line: &str) -> bool {
    const MARKS_SHARE: usize = 20;
    let (mut letters, mut marks, mut all) = (0, 0, 0);
    for c in line.chars() {
        all += 1;
        letters += usize::from(c.is_alphabetic() || c.is_whitespace());
        marks += usize::from(matches!(c, '{' | '}' | '=' | '\\' | '|' | '<'));
    }
    let timed = is_timed(line);
    let says = line.chars().filter(|c| c.is_alphabetic()).count() >= SAYS_CHARS_MIN;
    let is_marked = marks > 3 && marks * MARKS_SHARE > all;
    !says || timed || is_marked || letters * 5 < all * 3
}

/// Fewer letters say nothing.
const SAYS_CHARS_MIN: usize = 2;

/// What an agent said, as people quote it.
struct Said<'a> {
    words: &'a [&'a str],
    /// Without marks, which a terminal doesn't show: made where somebody may quote it.
    plain: OnceCell<Vec<String>>,
}

impl<'a> Said<'a> {
    fn of(words: &'a [&'a str]) -> Said<'a> {
        let plain = OnceCell::new();
        Said { words, plain }
    }

    /// The line stands there; a remark behind an arrow is somebody's own.
    fn has(&self, line: &str) -> bool {
        const QUOTE_BYTES: usize = 32;
        const REMARKS: [&str; 3] = [" <- ", " <-- ", " ← "];
        let line = point(line);
        if line.len() < QUOTE_BYTES || REMARKS.iter().any(|mark| line.contains(mark)) {
            return false;
        }
        let plain = || {
            self.words
                .iter()
                .map(|words| without_marks(words))
                .collect()
        };
        let all = self.plain.get_or_init(plain);
        let line = without_marks(line);
        let start = &line[..line.floor_char_boundary(QUOTE_BYTES)];
        all.iter().any(|words| words.contains(start))
    }
}

/// Without marks of emphasis and code.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for at in memchr::memchr3_iter(b'*', b'`', b'_', text.as_bytes()) {
        out.push_str(&text[from..at]);
        from = at + 1;
    }
    out + &text[from..]
}

/// A pasted output with so many lines is a program's whole one.
const OUTPUT_LINES_MIN: usize = 30;

/// Which line the last paragraph begins with.
fn last_paragraph(text: &str) -> usize {
    let mut lines = text.lines().enumerate();
    let is_blank = |(_, line): &(usize, &str)| line.trim().is_empty();
    let last = lines.by_ref().filter(is_blank).last();
    last.map_or(0, |(nth, _)| nth + 1)
}

/// From where a line tells of an error.
fn error(line: &str) -> Option<&str> {
    const ERROR_BYTES_MIN: usize = 16;
    const CUES: [&str; 11] = [
        "error=",
        "error: ",
        "Error: ",
        "error:",
        "fatal: ",
        "panic: ",
        "Exception: ",
        "npm error ",
        "npm ERR! ",
        "error TS",
        "error[E",
    ];
    // how npm calls where it stood
    const PLACES: [&str; 6] = ["code ", "path ", "errno ", "syscall ", "command ", "<http"];
    let at = CUES.iter().find_map(|cue| line.find(cue))?;
    let npm = line[at..]
        .strip_prefix("npm error ")
        .or_else(|| line[at..].strip_prefix("npm ERR! "));
    if npm.is_some_and(|rest| {
        PLACES
            .iter()
            .any(|place| rest.trim_start().starts_with(place))
    }) {
        return None;
    }
    let word = line[..at].split(char::is_whitespace).next_back();
    let start = at - word.map_or(0, str::len);
    let error = &line[start..];
    // how a program ended says nothing beside what it printed
    let is_end = ["exited with", "exit code", "exit status"];
    let is_end = is_end.iter().any(|end| error.contains(end));
    (error.len() >= ERROR_BYTES_MIN && !is_end).then_some(error)
}

/// Where a shell waits for a command: `❯ ls`, `ada@box shop % ls`.
fn is_shell(line: &str) -> bool {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let named = first.contains('@') && (rest.contains("% ") || rest.contains("$ "));
    line.starts_with(['➜', '❯']) || line.starts_with("$ ") || named
}

fn is_address(line: &str) -> bool {
    line.contains("://") && !line.contains(char::is_whitespace)
}

/// An address that names no pull request or issue.
fn is_link(line: &str) -> bool {
    is_address(line) && !shortened(line).contains(' ')
}

#[cfg(test)]
mod tests;
