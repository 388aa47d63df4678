//! Which words of a talk say why its last piece of work is taken back: turn by turn from the end, never before the
//! work, sentence by sentence. Knows one session's words, and nothing of sessions, commits and logs.

use crate::model::git::Confidence;
use crate::rules::rollbacks::{self, Cue, Language, Sentence, is_same_topic};
use std::collections::BTreeSet;
use std::ops::Range;

/// Something that was said, without calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    /// A person said it; otherwise the agent.
    pub(super) by_user: bool,
    /// Its words.
    pub(super) words: &'t str,
}

/// The talk around a piece of work.
#[derive(Clone, Debug)]
pub(super) struct Talk<'t> {
    /// What was said, in order, up to when it was taken back.
    pub(super) lines: &'t [Line<'t>],
    /// The first line after the work was made.
    pub(super) from: usize,
    /// Nobody knows exactly when the work was made: only the last words count, and they must be plain.
    pub(super) is_vague: bool,
    /// What is said must name the work: other work came after it, or it was made elsewhere.
    pub(super) must_name: bool,
    /// The agent took it back with a call of its own.
    pub(super) by_call: bool,
    /// The work was made in this talk.
    pub(super) is_own: bool,
    /// What the work is about: subjects, files, what led to it elsewhere.
    pub(super) about: &'t [String],
}

/// The words that say why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Objection {
    /// Which line.
    pub(super) nth: usize,
    /// As they were said.
    pub(super) quote: String,
    /// How sure that is.
    pub(super) confidence: Confidence,
}

/// What is quoted at most.
const QUOTE_CHARS_MAX: usize = 300;
/// What stands behind so much is pasted text.
const WORDS_BYTES_MAX: usize = 8 * 1024;
/// Longer sentences are pasted text.
const SENTENCE_BYTES_MAX: usize = 500;
/// A cue that objects by itself.
const PLAIN: u32 = 2;
/// A statement without any cue says at least so much.
const LEFT_MIN: usize = 4;
/// More than one.
const STRONG: u32 = 3;

/// The words that say why; `None`: none do, or not clearly.
pub(super) fn objection(talk: &Talk<'_>) -> Option<Objection> {
    let language = language(talk.lines)?;
    let mut reader = Reader {
        talk,
        language,
        from: talk.from.min(talk.lines.len()),
        is_vague: talk.is_vague,
        is_waiting: false,
        about: talk
            .about
            .iter()
            .flat_map(|text| language.topics(text))
            .collect(),
    };
    reader.find_beginning();
    reader.read_request();
    match reader.by_people() {
        Walk::Found(objection) => Some(objection),
        Walk::Settled => None,
        Walk::Nothing { undoes: true } => reader.by_question(),
        Walk::Nothing { undoes: false } => reader.by_agent(),
    }
}

/// People's; where they say too little, the agent's.
fn language(lines: &[Line<'_>]) -> Option<&'static Language> {
    let said = |line: &&Line<'_>| line.by_user;
    let people: Vec<&str> = lines.iter().filter(said).map(|line| line.words).collect();
    let all = || {
        lines
            .iter()
            .map(|line| line.words)
            .collect::<Vec<&str>>()
            .join("\n")
    };
    rollbacks::language(&people.join("\n")).or_else(|| rollbacks::language(&all()))
}

/// The talk right before a piece of work: the request that led to it, and the answers to that.
pub(super) fn request<'t>(lines: &[Line<'t>]) -> impl Iterator<Item = &'t str> + use<'t> {
    let answers = lines.iter().rev().take_while(|line| !line.by_user).count();
    let asked = lines[..lines.len() - answers]
        .iter()
        .rev()
        .take_while(|line| line.by_user);
    let first = lines.len() - answers - asked.count();
    let words: Vec<&str> = lines[first..].iter().map(|line| line.words).collect();
    words.into_iter()
}

struct Reader<'r> {
    talk: &'r Talk<'r>,
    language: &'static Language,
    from: usize,
    is_vague: bool,
    /// The last words are a person's, and nobody knows whether the work came after them.
    is_waiting: bool,
    about: BTreeSet<String>,
}

/// Its weight, whether it speaks of the work, and how much else it says.
type Worth = (u32, bool, usize);

enum Walk {
    Found(Objection),
    /// What was said before belongs to what is done.
    Settled,
    Nothing {
        /// Somebody asked to undo.
        undoes: bool,
    },
}

/// A sentence, where it stands in its line, and whether it speaks of the work.
struct Said<'t> {
    place: Range<usize>,
    read: Sentence<'t>,
    is_linked: bool,
}

/// A person's words between two of the agent's.
struct Turn<'t> {
    /// By line.
    said: Vec<(usize, Vec<Said<'t>>)>,
    /// How many turns of people come after it.
    depth: usize,
    /// The agent had asked why.
    is_answer: bool,
    /// The agent agreed, or offered to undo it.
    is_taken_up: bool,
    /// It was the first thing said of the work, and the agent's answer goes into that.
    is_answered: bool,
    /// The agent offered something else, and the person said no.
    is_turned_down: bool,
    /// The agent's next deed is to undo the work, and it gives no reason of its own.
    is_obeyed: bool,
}

impl<'t> Turn<'t> {
    fn all(&self) -> impl Iterator<Item = &Said<'t>> {
        self.said.iter().flat_map(|(_, said)| said)
    }

    fn any(&self, is: impl Fn(&Sentence<'_>) -> bool) -> bool {
        self.all().any(|said| is(&said.read))
    }
}

impl<'r> Reader<'r> {
    /// Agents commit after answers that are no work too: what they only ask, offer or agree to is part of the
    /// talk about what was there before.
    fn find_beginning(&mut self) {
        let lines = self.talk.lines;
        if lines.last().is_some_and(|line| line.by_user) {
            self.is_vague |= self.from == lines.len();
            self.is_waiting = self.is_vague;
            self.from = match self.is_vague {
                true => self.turn_before(lines.len()),
                false => self.from,
            };
        }
        while self.from > 0 && !lines[self.from - 1].by_user {
            let answer = lines[self.from - 1].words;
            let asked = self.turn_before(self.from - 1);
            let takes_back = self.takes_back(answer);
            if !self.is_no_work(answer) && !self.asks_for_none(asked..self.from - 1) {
                break;
            }
            if asked == self.from - 1 {
                self.from -= usize::from(takes_back);
                break;
            }
            self.from = asked;
        }
    }

    /// A person's turn that only asks something, or says that the work is taken back.
    fn asks_for_none(&self, turn: Range<usize>) -> bool {
        let said: Vec<Said<'_>> = turn
            .flat_map(|nth| self.said(self.talk.lines[nth].words))
            .collect();
        let asks = said.iter().any(|one| one.read.is_question);
        let states = said.iter().any(|one| one.read.is_statement());
        let requests = said.iter().any(|one| one.read.requests);
        let undoes = said.iter().any(|one| one.read.undoes);
        !requests && (asks && !states || undoes)
    }

    /// Where the person's turn begins that ends before a line.
    fn turn_before(&self, end: usize) -> usize {
        let turn = self.talk.lines[..end]
            .iter()
            .rev()
            .take_while(|line| line.by_user);
        end - turn.count()
    }

    fn is_no_work(&self, words: &str) -> bool {
        let sentences = sentences(words);
        let reads = sentences
            .iter()
            .map(|place| self.language.sentence(&words[place.clone()]));
        let asks = reads
            .clone()
            .any(|read| read.text.trim_end().ends_with(['?', '？']));
        asks || self.language.has(Cue::Offer, words) || self.takes_back(words)
    }

    fn takes_back(&self, words: &str) -> bool {
        let sentences = sentences(words);
        let mut sentences = sentences.iter().map(|place| &words[place.clone()]);
        sentences.any(|sentence| {
            !sentence.ends_with(['?', '？'])
                && self.language.has(Cue::TakesBack, sentence)
                && !self.language.has(Cue::Would, sentence)
        })
    }

    fn read_request(&mut self) {
        if self.talk.is_own {
            let own = request(&self.talk.lines[..self.from]);
            self.about
                .extend(own.flat_map(|words| self.language.topics(words)));
        }
    }

    fn is_linked(&self, sentence: &str) -> bool {
        let topics = self.language.topics(sentence);
        topics
            .iter()
            .any(|topic| self.about.iter().any(|about| is_same_topic(topic, about)))
    }

    fn said<'t>(&self, words: &'t str) -> Vec<Said<'t>> {
        let said = |place: Range<usize>| Said {
            read: self.language.sentence(&words[place.clone()]),
            is_linked: self.is_linked(&words[place.clone()]),
            place,
        };
        sentences(words).into_iter().map(said).collect()
    }

    /// People's turns, the last one first.
    fn by_people(&self) -> Walk {
        let lines = self.talk.lines;
        let (mut end, mut depth, mut undoes) = (lines.len(), 0, false);
        loop {
            while end > self.from && !lines[end - 1].by_user {
                end -= 1;
            }
            let begin = self.turn_before(end).max(self.from);
            if begin == end {
                return Walk::Nothing { undoes };
            }
            let turn = self.turn(begin..end, depth);
            let asks_to_undo = turn.any(|read| read.undoes);
            if let Some(found) = self.in_turn(&turn) {
                return Walk::Found(found);
            }
            undoes |= asks_to_undo;
            let is_settled = turn.any(|read| read.thanks) && !asks_to_undo;
            let is_other_work = turn.any(|read| read.requests) && !asks_to_undo;
            if is_settled && depth == 0 || self.is_vague {
                return Walk::Nothing { undoes };
            }
            if is_settled || is_other_work && !self.talk.must_name {
                return match undoes {
                    true => Walk::Settled,
                    false => Walk::Nothing { undoes },
                };
            }
            (end, depth) = (begin, depth + 1);
        }
    }

    fn turn(&self, range: Range<usize>, depth: usize) -> Turn<'r> {
        let lines = self.talk.lines;
        let agents = |lines: &'r [Line<'r>]| lines.iter().take_while(|line| !line.by_user);
        let mut before = lines[..range.start]
            .iter()
            .rev()
            .take_while(|line| !line.by_user);
        let asks_why = |line: &Line<'_>| {
            let sentences = sentences(line.words);
            let mut asked = sentences.iter().map(|place| &line.words[place.clone()]);
            asked.any(|text| text.ends_with(['?', '？']) && self.language.has(Cue::AsksWhy, text))
        };
        let undoes = |line: &Line<'_>| self.language.has(Cue::Undo, line.words);
        Turn {
            depth,
            is_answer: before.any(asks_why) && self.was_asked_to_undo(range.start),
            is_taken_up: agents(&lines[range.end..]).any(undoes),
            is_answered: !lines[self.from..range.start]
                .iter()
                .any(|line| line.by_user)
                && agents(&lines[range.end..]).any(|line| self.goes_into(line.words)),
            is_turned_down: self.is_turned_down(range.end),
            is_obeyed: self.talk.by_call
                && depth == 0
                && !agents(&lines[range.end..]).any(|line| self.takes_back(line.words)),
            said: range
                .map(|nth| (nth, self.said(lines[nth].words)))
                .collect(),
        }
    }

    /// The agent speaks of the work, or measured something.
    fn goes_into(&self, words: &str) -> bool {
        self.is_linked(words) || self.said(words).iter().any(|said| said.read.is_measured)
    }

    /// After a line the agent offers something, and the person says no.
    fn is_turned_down(&self, after: usize) -> bool {
        let lines = &self.talk.lines[after..];
        let offers = lines.iter().take_while(|line| !line.by_user);
        let count = offers.clone().count();
        let is_offered = offers
            .clone()
            .any(|line| self.language.has(Cue::Offer, line.words));
        let next = lines.get(count).map(|line| self.said(line.words));
        is_offered && next.is_some_and(|said| said.iter().any(|one| one.read.rejects))
    }

    /// The person's turn before the agent's words that end before a line asks to undo.
    fn was_asked_to_undo(&self, end: usize) -> bool {
        let mut before = self.talk.lines[self.from.min(end)..end]
            .iter()
            .rev()
            .skip_while(|line| !line.by_user);
        before
            .next()
            .is_some_and(|line| self.said(line.words).iter().any(|said| said.read.undoes))
    }

    fn in_turn(&self, turn: &Turn<'_>) -> Option<Objection> {
        let mut best: Option<(Worth, usize, usize, Confidence)> = None;
        for (line, (_, said)) in turn.said.iter().enumerate() {
            for (nth, one) in said.iter().enumerate() {
                let Some(confidence) = self.judge(one, turn, &said[nth + 1..]) else {
                    continue;
                };
                let worth = (one.read.weight, one.is_linked, one.read.left);
                if best.as_ref().is_none_or(|(most, ..)| worth > *most) {
                    best = Some((worth, line, nth, confidence));
                }
            }
        }
        let (_, line, nth, confidence) = best?;
        let (place, said) = &turn.said[line];
        Some(Objection {
            nth: *place,
            quote: quote(self.talk.lines[*place].words, said, nth),
            confidence,
        })
    }

    /// Whether a sentence of a turn says why, and how sure that is.
    fn judge(&self, one: &Said<'_>, turn: &Turn<'_>, later: &[Said<'_>]) -> Option<Confidence> {
        let read = &one.read;
        let undoes = turn.any(|read| read.undoes);
        if !read.is_statement() || read.is_aside && !one.is_linked {
            return None;
        }
        let leaves = later.iter().any(|said| said.read.breaks);
        if (leaves || self.talk.must_name && !self.is_waiting) && !one.is_linked {
            return None;
        }
        if turn.is_answer && read.left >= 2 && !read.undoes {
            return Some(Confidence::High);
        }
        let weight = read.weight;
        let is_tied = one.is_linked || read.points || read.undoes;
        if self.is_vague {
            let asks = undoes && (weight >= PLAIN || weight > 0 && one.is_linked);
            let answers = self.is_waiting && weight >= STRONG && one.is_linked;
            return (asks || answers).then_some(Confidence::Medium);
        }
        if undoes {
            let is_whole = !read.points || !read.undoes;
            let states = one.is_linked && is_whole && read.left >= LEFT_MIN;
            let says = weight > 0 && (one.is_linked || read.is_solid);
            let is_told = says || states || weight >= PLAIN && is_tied;
            let is_plain = weight >= PLAIN && (turn.depth == 0 || one.is_linked) && is_tied;
            return is_told.then_some(if is_plain {
                Confidence::High
            } else {
                Confidence::Medium
            });
        }
        if turn.any(|read| read.requests || read.thanks) || weight < PLAIN {
            return None;
        }
        // other work came of what was said before it
        if turn.depth > 0 && self.talk.must_name && !turn.is_taken_up {
            return None;
        }
        if turn.depth > 0 {
            let is_tied =
                one.is_linked || turn.is_taken_up || turn.is_answered || turn.is_turned_down;
            // whoever answers by taking it back was told why
            let is_plain = turn.is_taken_up && (one.is_linked || weight >= PLAIN);
            return is_tied.then_some(if is_plain {
                Confidence::High
            } else {
                Confidence::Medium
            });
        }
        let answers = one.is_linked || read.is_needless || turn.any(|read| read.rejects);
        let is_tied = one.is_linked || read.begins_with_it && turn.is_obeyed;
        let is_plain = weight >= STRONG && is_tied;
        let answers = answers || turn.is_obeyed || read.begins_with_it && weight >= STRONG;
        answers.then_some(if is_plain {
            Confidence::High
        } else {
            Confidence::Medium
        })
    }

    /// The agent reports what speaks against its work and asks whether it should go, and the person only says
    /// that it should.
    fn by_question(&self) -> Option<Objection> {
        let lines = self.talk.lines;
        let asked = self.turn_before(lines.len());
        let nth = asked.checked_sub(1).filter(|nth| *nth >= self.from)?;
        let line = lines.get(nth).filter(|line| !line.by_user)?;
        let said = self.said(line.words);
        let asks = |one: &Said<'_>| {
            let text = one.read.text.trim_end();
            let cues = [Cue::Undo, Cue::Keep, Cue::Offer];
            text.ends_with(['?', '？']) && cues.iter().any(|cue| self.language.has(*cue, text))
        };
        let question = said.iter().rposition(asks)?;
        let told = said[..question].iter().enumerate();
        let told = told.filter(|(_, one)| one.read.weight > 0 && one.read.is_statement());
        let (best, _) = told.max_by_key(|(at, one)| (one.read.weight.min(STRONG), *at))?;
        Some(Objection {
            nth,
            quote: quote(line.words, &said[..question], best),
            confidence: Confidence::Medium,
        })
    }

    /// The agent takes its own work back, and says why.
    fn by_agent(&self) -> Option<Objection> {
        let lines = self.talk.lines.iter().enumerate().skip(self.from);
        let mut lines: Vec<_> = lines.rev().filter(|(_, line)| !line.by_user).collect();
        lines.truncate(2);
        let (nth, line) = lines
            .into_iter()
            .find(|(_, line)| self.takes_back(line.words))?;
        let said = self.said(line.words);
        let taken = said
            .iter()
            .rposition(|one| self.takes_back(one.read.text))?;
        let told = said[..=taken].iter().enumerate();
        let told = told.filter(|(_, one)| one.read.weight > 0 && one.read.is_statement());
        let (best, _) = told.max_by_key(|(at, one)| (one.read.weight.min(STRONG), *at))?;
        Some(Objection {
            nth,
            quote: quote(line.words, &said[..=taken], best),
            confidence: Confidence::High,
        })
    }
}

/// The sentence with those around it that go on with it, as far as they are not too long.
fn quote(words: &str, said: &[Said<'_>], best: usize) -> String {
    let goes_on = |one: &Said<'_>| {
        let read = &one.read;
        let only_undoes = read.undoes && read.weight == 0;
        read.is_statement() && read.left > 1 && !only_undoes && !(read.thanks && read.weight == 0)
    };
    let (mut first, mut last) = (best, best);
    let chars = |first: usize, last: usize| {
        words[said[first].place.start..said[last].place.end]
            .chars()
            .count()
    };
    let same_line = |first: usize, last: usize| {
        !words[said[first].place.start..said[last].place.end].contains('\n')
    };
    while first > 0
        && goes_on(&said[first - 1])
        && same_line(first - 1, last)
        && chars(first - 1, last) <= QUOTE_CHARS_MAX
    {
        first -= 1;
    }
    while last + 1 < said.len()
        && goes_on(&said[last + 1])
        && same_line(first, last + 1)
        && chars(first, last + 1) <= QUOTE_CHARS_MAX
    {
        last += 1;
    }
    let whole = words[said[first].place.start..said[last].place.end].trim();
    let end = whole.char_indices().nth(QUOTE_CHARS_MAX);
    end.map_or(whole, |(end, _)| &whole[..end]).to_owned()
}

/// Where the sentences of a text stand, without what is code. A point inside a word ends nothing.
fn sentences(words: &str) -> Vec<Range<usize>> {
    let words = &words[..words.floor_char_boundary(WORDS_BYTES_MAX)];
    let mut inside_code = false;
    let mut all = Vec::new();
    let mut at = 0;
    for line in words.split_inclusive('\n') {
        let fence = line.trim_start().starts_with("```");
        inside_code ^= fence;
        if !inside_code && !fence {
            split(line, at, &mut all);
        }
        at += line.len();
    }
    all.retain(|place| place.len() <= SENTENCE_BYTES_MAX);
    all
}

fn split(line: &str, at: usize, all: &mut Vec<Range<usize>>) {
    let mut from = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((place, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let is_mark = |c: char| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '…');
        let ends_here = match next {
            None => true,
            Some(next) if is_mark(next) => false,
            Some(next) => next.is_whitespace() || !letter.is_ascii(),
        };
        let is_end = is_mark(letter) && ends_here;
        if is_end || next.is_none() {
            let end = place + letter.len_utf8();
            let piece = &line[from..end];
            let start = from + piece.len() - piece.trim_start().len();
            let stop = from + piece.trim_end().len();
            if start < stop {
                all.push(at + start..at + stop);
            }
            from = end;
        }
    }
}
