//! What a session was asked for, in a line: the asks that tell most, joined. Every word of it stands in the
//! log, and nothing is told that nobody asked for: what stands in parentheses behind it only says where.

use super::line::LocatedItem;
use super::prose::{Prose, prose};
use super::shipped::shipped;
use super::topics::{Topics, word_keys};
use super::words::{clipped, without_joints};
use crate::model::exchange::{ItemKind, is_bare_command};
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::requests::{
    RequestKind, drives, is_idle, is_move, is_of_pull_request, is_of_work_at_hand, is_place,
    request,
};
use crate::rules::words::{content_words, is_same, is_stopword, tokens};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

/// What is known of a session beside its items.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionContext<'a> {
    /// As somebody named it, or the agent; its first prompt where nobody did.
    pub title: Option<&'a str>,
    /// What the project is called.
    pub project: Option<&'a str>,
    /// The git branch.
    pub branch: Option<&'a str>,
}

impl<'a> SessionContext<'a> {
    /// `project_path`: its root; not told where paths are hidden.
    pub fn new(
        title: Option<&'a str>,
        project_path: &'a str,
        branch: Option<&'a str>,
        hides_paths: bool,
    ) -> SessionContext<'a> {
        const NAME_BYTES_MIN: usize = 3;
        let parts = project_path.rsplit(['/', '\\']);
        let name = parts
            .into_iter()
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let is_root = project_path.contains(['/', '\\']) && !hides_paths;
        let is_name = name.len() >= NAME_BYTES_MIN
            && name.starts_with(char::is_alphabetic)
            && !name.contains([':', '[', ' '])
            && !is_place(name);
        SessionContext {
            title,
            project: (is_root && is_name).then_some(name),
            branch: branch.filter(|branch| !branch.is_empty()),
        }
    }
}

/// It is read at a glance.
const OBJECTIVE_CHARS_MAX: usize = 200;

/// One ask of two at most, and of several.
const ONLY_ASK_CHARS_MAX: usize = 160;
const ASK_CHARS_MAX: usize = 120;

/// Prompts of one session that are read: the first ones and the last ones.
const PROMPTS_MAX: usize = 80;

/// A prompt with what was read of it.
pub struct Prompt<'l, 't> {
    /// Where it stands among the session's items.
    pub at: usize,
    /// It.
    pub line: &'l LocatedItem<'t>,
    /// What was written there.
    pub prose: Prose<'t>,
}

/// What people wrote in the main log, in order, without what only drives the program.
pub fn prompts<'l, 't>(lines: &'l [LocatedItem<'t>]) -> Vec<Prompt<'l, 't>> {
    let mut before = "";
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.main) {
        match line.item.kind {
            ItemKind::Agent => before = line.words(),
            ItemKind::Prompt | ItemKind::Aside if !drives(line.words()) => {
                let prose = match is_bare_command(line.words()) {
                    true => Prose::default(),
                    false => prose(line.words(), before),
                };
                all.push(Prompt { at, line, prose });
            }
            _ => {}
        }
    }
    if all.len() > PROMPTS_MAX {
        all.drain(PROMPTS_MAX / 2..all.len() - PROMPTS_MAX / 2);
    }
    all
}

/// A piece that may become part of the objective.
struct Piece {
    /// Of which prompt.
    prompt: usize,
    /// Which sentence of it.
    nth: usize,
    kind: RequestKind,
    text: String,
    /// It ends with a colon.
    leads: bool,
    /// What it is about.
    words: Vec<u64>,
    /// How many words it is about.
    about: usize,
    /// What names things among them: numbers, identifiers.
    names: usize,
}

impl Piece {
    fn new(prompt: usize, nth: usize, kind: RequestKind, text: &str) -> Option<Piece> {
        let about = about(text);
        let is_part =
            text.starts_with(['(', ')']) || text.matches(')').count() > text.matches('(').count();
        (!about.is_empty() && !is_part).then(|| Piece {
            prompt,
            nth,
            kind,
            text: text.to_owned(),
            leads: false,
            about: about.len(),
            names: about.iter().filter(|word| is_name(word)).count(),
            words: about.iter().flat_map(|word| word_keys(word)).collect(),
        })
    }

    fn leads_to(&self, next: &Piece) -> bool {
        self.leads && (self.prompt, self.nth + 1) == next.place()
    }

    fn place(&self) -> (usize, usize) {
        (self.prompt, self.nth)
    }

    /// How much it tells that isn't told yet, for its length.
    fn weight(&self, topics: &Topics, told: &FxHashSet<u64>, asking: &[usize]) -> u64 {
        let new = self.words.iter().filter(|word| !told.contains(*word));
        let (mut count, mut sum) = (0, 0);
        for word in new {
            count += 1;
            sum += topics.weight(*word);
        }
        let is_told = count * 2 < self.words.len();
        if is_told || count == 0 || count == 1 && self.kind != RequestKind::Ask {
            return 0;
        }
        let kind = match self.kind {
            RequestKind::Ask => 20,
            RequestKind::Question => 10,
            // nobody asks there
            RequestKind::Limit | RequestKind::Statement if self.prompt > 0 => return 0,
            RequestKind::Limit => 4,
            RequestKind::Statement if asking.contains(&self.prompt) => 7,
            RequestKind::Statement => 12,
        };
        let prompt = if self.prompt == 0 { 18 } else { 10 };
        let nth = match self.nth {
            0 => 24,
            1 => 20,
            2 | 3 => 17,
            _ if self.prompt == 0 => 10,
            _ => 5,
        };
        let length = (self.text.chars().count() + 15) as u64;
        (sum + 5 * self.names as u64) * kind * prompt * nth / length.isqrt()
    }
}

/// Words that say what a text is about.
fn about(text: &str) -> Vec<String> {
    let mut words = content_words(text);
    words.retain(|word| !is_idle(word));
    words
}

/// A number, or a word that only programs have.
fn is_name(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit() || c == '_')
}

/// The objective, where anything was asked.
pub fn objective(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    context: &SessionContext<'_>,
) -> Option<Sourced<String>> {
    let mut pieces = pieces(prompts);
    let topics = Topics::of(pieces.iter().flat_map(|piece| &piece.words), lines);
    let Some(first) = prompts.iter().find(|prompt| is_asking(prompt)) else {
        return prompts.iter().find_map(only_pasted);
    };
    let own = pieces.iter().filter(|piece| piece.prompt == 0);
    let is_weak = own.flat_map(|piece| &piece.words).count() < WEAK_WORDS_MAX;
    pieces.extend(titled(first, context));
    let work = Work {
        lines,
        context,
        pull_request: OnceCell::new(),
        shipped: OnceCell::new(),
    };
    let chosen = chosen(pieces, &topics, &work);
    let mut text = match chosen.is_empty() {
        true => first
            .line
            .words()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
        false => chosen,
    };
    if is_weak && let Some(more) = first.prose.address {
        let more = clipped(more, OBJECTIVE_CHARS_MAX / 2);
        if text.chars().count() + more.chars().count() < OBJECTIVE_CHARS_MAX {
            text = format!("{text} {more}");
        }
    }
    let text = clipped(&text, OBJECTIVE_CHARS_MAX).to_owned();
    let about = work.pointed_at(&text);
    let all = format!("{text}{about}");
    let fits = all.chars().count() <= OBJECTIVE_CHARS_MAX;
    Some(first.line.source(if fits { all } else { text }))
}

/// Where nothing but a log or an address was pasted: what stands out of it.
fn only_pasted(prompt: &Prompt<'_, '_>) -> Option<Sourced<String>> {
    let words = prompt.line.words();
    let said = prompt.prose.error.or(prompt.prose.address);
    let said = said.or_else(|| words.lines().map(str::trim).find(|line| !line.is_empty()))?;
    let is_machines = words.starts_with(['{', '<', '[']) || drives(words) || is_bare_command(words);
    let text = clipped(said, OBJECTIVE_CHARS_MAX);
    (!is_machines).then(|| prompt.line.source(text.to_owned()))
}

/// With fewer, an ask only points at something.
const WEAK_WORDS_MAX: usize = 3;

/// Somebody asks for something there.
fn is_asking(prompt: &Prompt<'_, '_>) -> bool {
    !prompt.prose.sentences.is_empty() || is_command(prompt.line.words())
}

/// A slash command that asks for work.
fn is_command(words: &str) -> bool {
    words.starts_with('/') && is_bare_command(words.trim()) && !drives(words)
}

fn pieces(prompts: &[Prompt<'_, '_>]) -> Vec<Piece> {
    let longest = match prompts.len() {
        ..=2 => ONLY_ASK_CHARS_MAX,
        _ => ASK_CHARS_MAX,
    };
    let asking = prompts.iter().filter(|prompt| is_asking(prompt));
    let mut all = Vec::new();
    for (nth_prompt, prompt) in asking.enumerate() {
        if is_command(prompt.line.words()) {
            all.extend(Piece::new(
                nth_prompt,
                0,
                RequestKind::Ask,
                prompt.line.words(),
            ));
        }
        if nth_prompt == 0
            && let Some(error) = prompt.prose.error
        {
            let error = clipped(error, longest);
            all.extend(Piece::new(0, ERROR_AT, RequestKind::Statement, error));
        }
        for (nth, sentence) in prompt.prose.sentences.iter().enumerate() {
            let Some(request) = request(sentence) else {
                continue;
            };
            let leads = sentence.ends_with(':');
            let text = match leads {
                true => without_joints(clipped(request.text, longest)),
                false => clipped(request.text, longest),
            };
            // of what is said only the whole tells something
            let is_ask = request.kind == RequestKind::Ask;
            let shorter = clauses(text).filter(|_| is_ask);
            let forms = shorter.chain([text]);
            let forms = forms.filter_map(|text| Piece::new(nth_prompt, nth, request.kind, text));
            let forms = forms.map(|piece| Piece {
                leads: leads && piece.text.len() == text.len(),
                ..piece
            });
            all.extend(forms.filter(|piece| !is_empty_ask(piece)));
        }
    }
    all
}

/// An error counts as if it stood so many sentences behind the ask.
const ERROR_AT: usize = 3;

/// `fix it`, `commit and push it`: what was asked for stands elsewhere.
fn is_empty_ask(piece: &Piece) -> bool {
    let about = about(&piece.text);
    piece.prompt > 0 && (about.len() < 2 || about.iter().all(|word| is_move(word)))
}

/// Beginnings of a sentence that say something without the rest.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    const CLAUSE_BYTES_MIN: usize = 20;
    const ENDS: [&str; 6] = [", ", "; ", " - ", " (", " and ", " because "];
    let ends = ENDS.iter().flat_map(|end| text.match_indices(end));
    let ends = ends.filter(|(at, _)| *at >= CLAUSE_BYTES_MIN);
    ends.map(|(at, _)| without_joints(&text[..at]))
}

/// The session's title, where it is none of the first ask's words: it counts as one of its sentences.
fn titled(first: &Prompt<'_, '_>, context: &SessionContext<'_>) -> Option<Piece> {
    const SAME_BYTES: usize = 40;
    let own = first.line.words();
    let title = context.title.filter(|title| {
        let start = &title[..title.floor_char_boundary(SAME_BYTES)];
        !own.starts_with(start.trim_end_matches('…')) && !is_bare_command(title)
    })?;
    Piece::new(0, 1, RequestKind::Ask, clipped(title, ASK_CHARS_MAX))
}

/// The pieces that tell most, as many as fit, in the order of time.
fn chosen(mut pieces: Vec<Piece>, topics: &Topics, work: &Work<'_, '_>) -> String {
    let mut asking: Vec<usize> = pieces
        .iter()
        .filter(|piece| piece.kind == RequestKind::Ask)
        .map(|piece| piece.prompt)
        .collect();
    asking.dedup();
    let mut told = FxHashSet::default();
    let mut chosen: Vec<Piece> = Vec::new();
    let mut text = String::new();
    loop {
        let opens = match chosen.is_empty() {
            true => opening(&pieces),
            false => None,
        };
        let best = pieces
            .iter()
            .enumerate()
            .filter(|(_, piece)| opens.is_none_or(|place| place == piece.place()))
            .map(|(nth, piece)| (piece.weight(topics, &told, &asking), nth))
            .max_by_key(|(weight, nth)| (*weight, std::cmp::Reverse(*nth)));
        let Some((weight, nth)) = best else {
            return text;
        };
        if weight == 0 && !chosen.is_empty() {
            return text;
        }
        let piece = pieces.swap_remove(nth);
        let (words, place) = (piece.words.clone(), piece.place());
        let at = chosen.partition_point(|known| known.place() <= place);
        chosen.insert(at, piece);
        let longer = joined(&chosen);
        let pointed_at = work.pointed_at(&longer).chars().count();
        if longer.chars().count() + pointed_at > OBJECTIVE_CHARS_MAX {
            chosen.remove(at);
            let left = OBJECTIVE_CHARS_MAX.saturating_sub(text.chars().count() + 2);
            pieces.retain(|piece| piece.text.chars().count() < left);
            continue;
        }
        // other forms of the sentence
        pieces.retain(|other| other.place() != place);
        told.extend(words);
        text = longer;
    }
}

/// Where the ask stands that a session opens with: the first one that says something, else the first words.
fn opening(pieces: &[Piece]) -> Option<(usize, usize)> {
    let own = || pieces.iter().filter(|piece| piece.prompt == 0);
    let mut says = own().filter(|piece| piece.about > 1);
    let ask = says.clone().find(|piece| piece.kind == RequestKind::Ask);
    let ask = ask.filter(|piece| piece.nth < OPENING_SENTENCES);
    let first = ask.or_else(|| says.next()).or_else(|| own().next());
    first.map(Piece::place)
}

/// An ask that stands further behind isn't what the session opens with.
const OPENING_SENTENCES: usize = 6;

fn joined(pieces: &[Piece]) -> String {
    let mut text = String::new();
    let mut before: Option<&Piece> = None;
    for piece in pieces {
        text.push_str(match before {
            None => "",
            Some(_) if text.ends_with('?') => " ",
            Some(before) if before.leads_to(piece) => ": ",
            Some(_) => "; ",
        });
        text.push_str(&piece.text);
        before = Some(piece);
    }
    text
}

/// What a session worked at.
struct Work<'l, 't> {
    lines: &'l [LocatedItem<'t>],
    context: &'l SessionContext<'l>,
    /// Found where it is asked for.
    pull_request: OnceCell<Option<u64>>,
    /// What was shipped first, in the agent's words.
    shipped: OnceCell<Option<String>>,
}

impl Work<'_, '_> {
    /// ` (shop, fix/totals, PR #7)`: what a text points at without naming it.
    fn pointed_at(&self, text: &str) -> String {
        let words: Vec<String> = tokens(text).collect();
        let is_told = |name: &str| {
            let mut parts = tokens(name).filter(|part| !is_stopword(part));
            parts.all(|part| words.iter().any(|word| is_same(word, &part)))
        };
        let mut names = Vec::new();
        let project = self.context.project.filter(|name| !is_told(name));
        names.extend(project.map(str::to_owned));
        if is_of_work_at_hand(&words) {
            let branch = self.context.branch;
            let branch = branch.filter(|name| !TRUNKS.contains(name) && !is_told(name));
            names.extend(branch.map(str::to_owned));
        }
        if is_of_pull_request(&words) && !text.contains('#') {
            let number = self.pull_request.get_or_init(|| pull_request(self.lines));
            names.extend(number.map(|number| format!("PR #{number}")));
        }
        let shipped = self.shipped.get_or_init(|| shipped(self.lines));
        let shipped = shipped.as_ref().filter(|subject| {
            let new =
                about(subject.split_once(": ").map_or("", |(_, subject)| subject)).into_iter();
            let new = new.filter(|word| !words.iter().any(|told| is_same(told, word)));
            new.count() >= NEW_WORDS_MIN || about(text).len() < WEAK_WORDS_MAX
        });
        names.extend(shipped.cloned());
        match names.is_empty() {
            true => String::new(),
            false => format!(" ({})", names.join(", ")),
        }
    }
}

/// With fewer words that nobody asked for in, a subject says the same once more.
const NEW_WORDS_MIN: usize = 2;

/// Branches that every project has.
const TRUNKS: [&str; 7] = ["main", "master", "HEAD", "develop", "dev", "trunk", "next"];

/// The pull request that most of the log speaks of, where it is one.
fn pull_request(lines: &[LocatedItem<'_>]) -> Option<u64> {
    const CUES: [&str; 6] = [
        "/pull/",
        "/pulls/",
        "PR #",
        "pr view ",
        "pr checkout ",
        "pr diff ",
    ];
    let mut counts: std::collections::BTreeMap<u64, usize> = Default::default();
    for line in lines.iter().filter(|line| line.main) {
        let text = line.item.text;
        for cue in CUES {
            for (at, _) in text.match_indices(cue) {
                let digits = text[at + cue.len()..]
                    .split(|c: char| !c.is_ascii_digit())
                    .next();
                if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
                    *counts.entry(number).or_default() += 1;
                }
            }
        }
        for finding in line.item.findings {
            let named = match finding {
                Finding::PullRequest(address) => address,
                Finding::PullRequestState { named, .. } => named,
                _ => continue,
            };
            let digits = named.rsplit(['/', '#']).next();
            if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
                *counts.entry(number).or_default() += 1;
            }
        }
    }
    let all: usize = counts.values().sum();
    let (number, most) = counts
        .into_iter()
        .max_by_key(|(number, count)| (*count, std::cmp::Reverse(*number)))?;
    (most * 2 > all).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(context: &SessionContext<'_>, items: &[(ItemKind, &str)]) -> Option<String> {
        let lines: Vec<LocatedItem<'_>> = items
            .iter()
            .zip(1..)
            .map(|((kind, text), line)| LocatedItem::sample(*kind, line, text, &[]))
            .collect();
        objective(&lines, &prompts(&lines), context).map(|told| told.what)
    }

    #[test]
    fn an_objective_is_the_ask() {
        let shop = SessionContext::new(None, "/home/ada/shop", Some("fix/totals"), false);
        let named = SessionContext::new(Some("Round totals half up"), "/p/shop", None, true);
        for (context, prompts, wants) in [
            (
                SessionContext::default(),
                vec!["Hey, can you please fix the rounding of totals? Thanks!"],
                "fix the rounding of totals",
            ),
            (
                shop,
                vec!["review the changes in this branch"],
                "review the changes in this branch (shop, fix/totals)",
            ),
            (shop, vec!["/init"], "/init (shop)"),
            (
                shop,
                vec!["/clear", "rename the cart's fields"],
                "rename the cart's fields (shop)",
            ),
            (named, vec!["continue"], "continue; Round totals half up"),
            (named, vec!["Round totals half up"], "Round totals half up"),
            (
                SessionContext::default(),
                vec!["Implement this plan:\n\n# Split the parser in two\n\n## Context\n\nIt grew."],
                "Implement this plan: Split the parser in two",
            ),
            (
                SessionContext::default(),
                vec![
                    "merge https://github.com/ada/shop/pull/7 please",
                    "commit it",
                    "write the docs of carts",
                ],
                "merge shop PR #7; write the docs of carts",
            ),
            (
                SessionContext::default(),
                vec!["User: fix this\n[api] error: no such column: price"],
                "fix this; error: no such column: price",
            ),
            (SessionContext::default(), vec!["看看这个"], "看看这个"),
        ] {
            let items = prompts.iter().map(|text| (ItemKind::Prompt, *text));
            let told = told(&context, &items.collect::<Vec<_>>());
            assert_eq!(told.as_deref(), Some(wants), "{prompts:?}");
        }
        let nothing = told(&shop, &[(ItemKind::Prompt, "User: /clear")]);
        assert_eq!(nothing, None);
    }

    #[test]
    fn a_pull_request_is_named_where_the_log_speaks_of_one() {
        let context = SessionContext::default();
        let ask = (ItemKind::Prompt, "User: address the comments on the PR");
        let view = (ItemKind::Digest, "Action: Bash(gh pr view 7) → ok");
        let other = (ItemKind::Digest, "Action: Bash(gh pr view 8) → ok");
        let wants = "address the comments on the PR (PR #7)";
        assert_eq!(told(&context, &[ask, view]).as_deref(), Some(wants));
        let wants = "address the comments on the PR";
        assert_eq!(told(&context, &[ask, view, other]).as_deref(), Some(wants));
    }

    #[test]
    fn an_objective_has_200_characters_at_most() {
        let long = format!("User: write {}", "long words about carts ".repeat(60));
        let told = told(&SessionContext::default(), &[(ItemKind::Prompt, &long)]);
        assert!(told.is_some_and(|told| told.chars().count() <= OBJECTIVE_CHARS_MAX));
    }
}
