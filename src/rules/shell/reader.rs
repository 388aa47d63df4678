//! Operators, groups, redirections and heredocs: where commands begin and end.

use super::syntax::ShellSyntax;
use std::borrow::Cow;

/// One command with its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simple<'a> {
    /// Without quotes, redirections and assignments before them; never empty. A substitution inside
    /// a word is told as `$()`.
    pub words: Vec<Cow<'a, str>>,
    /// It reads another command's output.
    pub piped: bool,
    /// Inside `$(…)` or backticks: its output is part of another command.
    pub nested: bool,
    /// The file that its output goes to.
    pub writes: Option<Cow<'a, str>>,
    /// What it reads from the script itself (`<<EOF`).
    pub heredoc: Option<&'a str>,
}

/// Deeper substitutions are read as text. Larger: hostile input needs more stack.
const DEPTH_MAX: usize = 24;

/// Reads one script front to back.
pub(super) struct Reader<'a> {
    pub text: &'a str,
    pub at: usize,
    /// Nothing from here on is read.
    pub end: usize,
    pub syntax: ShellSyntax,
    depth: usize,
    out: Vec<Simple<'a>>,
    /// Which of `bodies` each command of `out` reads.
    reads: Vec<Option<usize>>,
    bodies: Vec<&'a str>,
    /// Heredocs that start at the next line: their body's index and their delimiter.
    announced: Vec<(usize, Cow<'a, str>)>,
    functions: Vec<Cow<'a, str>>,
    variables: Vec<(String, String)>,
    /// An `&` was met: in PowerShell it calls what a string names.
    calls: bool,
}

/// What a list of commands has open.
#[derive(Default)]
struct Group {
    parens: usize,
    cases: usize,
    /// A `)` ends it.
    closes: bool,
    nested: bool,
}

/// What ended a command.
#[derive(PartialEq)]
enum Ended {
    Pipe,
    Other,
    List,
}

/// A command that is being read.
#[derive(Default)]
struct Draft<'a> {
    simple: Simple<'a>,
    body: Option<usize>,
    /// Which of its first 64 words began as strings.
    quoted: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        Reader {
            text,
            at: 0,
            end: text.len(),
            syntax: ShellSyntax::of(text),
            depth: 0,
            out: Vec::new(),
            reads: Vec::new(),
            bodies: Vec::new(),
            announced: Vec::new(),
            functions: Vec::new(),
            variables: Vec::new(),
            calls: false,
        }
    }

    pub(super) fn read(mut self) -> Vec<Simple<'a>> {
        self.list(Group::default());
        let bodies = &self.bodies;
        for (simple, body) in self.out.iter_mut().zip(&self.reads) {
            simple.heredoc = body.and_then(|n| bodies.get(n).copied());
        }
        let functions = self.functions;
        self.out
            .retain(|simple| !functions.contains(&simple.words[0]));
        self.out
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, n: usize) -> Option<u8> {
        let at = self.at + n;
        (at < self.end).then(|| self.text.as_bytes()[at])
    }

    /// Commands inside `$(`, up to its `)`; text where too many are open.
    pub(super) fn substitution(&mut self) {
        if self.depth == DEPTH_MAX {
            return;
        }
        self.depth += 1;
        self.list(Group {
            closes: true,
            nested: true,
            ..Group::default()
        });
        self.depth -= 1;
    }

    /// Commands in the next `bytes` bytes, which end with a mark that is passed over.
    pub(super) fn quoted_list(&mut self, bytes: usize) {
        let after = self.end;
        let close = self.at + bytes;
        if self.depth < DEPTH_MAX {
            self.depth += 1;
            self.end = close;
            self.list(Group {
                nested: true,
                ..Group::default()
            });
            self.depth -= 1;
        }
        self.end = after;
        self.at = (close + 1).min(after);
    }

    fn list(&mut self, mut group: Group) {
        let mut piped = false;
        loop {
            match self.command(&mut group, piped) {
                Ended::List => return,
                ended => piped = ended == Ended::Pipe,
            }
        }
    }

    fn command(&mut self, group: &mut Group, piped: bool) -> Ended {
        let mut draft = Draft::default();
        draft.simple.piped = piped;
        draft.simple.nested = group.nested;
        let ended = loop {
            self.skip_blanks();
            let Some(c) = self.peek() else {
                break Ended::List;
            };
            match c {
                b'\n' | b';' | b'&' | b'|' => {
                    if let Some(ended) = self.operator(c, &mut draft) {
                        break ended;
                    }
                }
                b'#' => self.skip_line(),
                b'(' => {
                    self.open(group, &mut draft);
                    break Ended::Other;
                }
                b')' => match self.close(group, &mut draft) {
                    true => break Ended::List,
                    false => break Ended::Other,
                },
                b'{' | b'}' if self.is_brace() => {
                    self.at += 1;
                    break Ended::Other;
                }
                b'<' | b'>' => self.redirect(&mut draft),
                b'0'..=b'9' if self.is_descriptor() => self.redirect(&mut draft),
                _ => self.argument(&mut draft),
            }
        };
        self.finish(draft, group);
        ended
    }

    fn argument(&mut self, draft: &mut Draft<'a>) {
        let before = self.at;
        let number = draft.simple.words.len();
        let quoted = number < 64 && matches!(self.peek(), Some(b'"' | b'\''));
        draft.quoted |= u64::from(quoted) << number.min(63);
        let word = self.word();
        if word.ends_with('=') && self.peek() == Some(b'(') {
            self.skip_past(b')');
        }
        // A character that no rule takes must not stop the reading.
        if self.at == before {
            self.at += 1;
        }
        draft.simple.words.push(word);
    }

    /// `&>` is a redirection and ends nothing.
    fn operator(&mut self, c: u8, draft: &mut Draft<'a>) -> Option<Ended> {
        let next = self.ahead(1);
        if c == b'&' && next == Some(b'>') {
            self.at += 1;
            self.redirect(draft);
            return None;
        }
        let twice = next == Some(c) && c != b'\n';
        let pipes = c == b'|' && !twice;
        self.calls |= c == b'&' && !twice;
        self.at += 1 + usize::from(twice || (pipes && next == Some(b'&')));
        if c == b'\n' {
            self.heredocs();
        }
        Some(if pipes { Ended::Pipe } else { Ended::Other })
    }

    /// `name (` opens a function, `((` a computation, anything else a group.
    fn open(&mut self, group: &mut Group, draft: &mut Draft<'a>) {
        if self.ahead(1) == Some(b'(') && draft.simple.words.len() < 2 {
            let close = memchr::memmem::find(&self.bytes()[self.at..self.end], b"))");
            self.at = close.map_or(self.end, |n| self.at + n + 2);
            return;
        }
        self.at += 1;
        let rest = self.text[self.at..self.end].trim_start();
        let named = draft.simple.words.first().is_some_and(|w| w == "function");
        if named || (draft.simple.words.len() == 1 && rest.starts_with(')')) {
            self.functions
                .extend(draft.simple.words.drain(..).next_back());
        }
        group.parens += 1;
    }

    /// Whether the list ends here. Inside a `case` what stood before is a pattern.
    fn close(&mut self, group: &mut Group, draft: &mut Draft<'a>) -> bool {
        self.at += 1;
        if draft.simple.words.first().is_some_and(|w| w == "case") {
            group.cases += 1;
        }
        if group.parens > 0 {
            group.parens -= 1;
            return false;
        }
        if group.cases > 0 {
            draft.simple.words.clear();
            return false;
        }
        group.closes
    }

    /// A brace that groups; in POSIX shells only one that stands alone.
    fn is_brace(&self) -> bool {
        let alone = |b: Option<u8>| b.is_none_or(|b| b" \t\n;&|)".contains(&b));
        self.syntax == ShellSyntax::PowerShell || alone(self.ahead(1))
    }

    fn is_descriptor(&self) -> bool {
        let digits = self.bytes()[self.at..self.end].iter();
        let digits = digits.take_while(|b| b.is_ascii_digit()).count();
        digits < 3 && matches!(self.ahead(digits), Some(b'<' | b'>'))
    }

    fn redirect(&mut self, draft: &mut Draft<'a>) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        let from = self.at;
        while self.at - from < 3 && matches!(self.peek(), Some(b'<' | b'>')) {
            self.at += 1;
        }
        let operator = &self.bytes()[from..self.at];
        let (writes, heredoc) = (operator.starts_with(b">"), operator == b"<<");
        match self.peek() {
            Some(b'&') => {
                self.at += 1;
                self.word();
            }
            Some(b'(') => {
                self.at += 1;
                self.substitution();
            }
            _ if heredoc => self.announce(draft),
            _ => {
                self.at += usize::from(self.peek() == Some(b'|'));
                self.skip_blanks();
                let target = self.word();
                let nowhere = [
                    "/dev/null",
                    "$null",
                    "nul",
                    "NUL",
                    "/dev/stderr",
                    "/dev/stdout",
                ];
                if writes && !nowhere.contains(&&*target) {
                    draft.simple.writes = Some(target);
                }
            }
        }
    }

    fn announce(&mut self, draft: &mut Draft<'a>) {
        self.at += usize::from(self.peek() == Some(b'-'));
        self.skip_blanks();
        let delimiter = self.word();
        draft.body = Some(self.bodies.len());
        self.announced.push((self.bodies.len(), delimiter));
        self.bodies.push("");
    }

    /// The bodies of the heredocs that the last line announced; one without its end takes the rest.
    fn heredocs(&mut self) {
        for (body, delimiter) in std::mem::take(&mut self.announced) {
            let from = self.at;
            let mut to = self.end;
            while self.at < self.end {
                let rest = &self.bytes()[self.at..self.end];
                let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                let start = self.at;
                self.at = (start + line + 1).min(self.end);
                if self.text[start..start + line].trim() == delimiter {
                    to = start;
                    break;
                }
            }
            self.bodies[body] = &self.text[from..to];
        }
    }

    fn skip_blanks(&mut self) {
        let escape = match self.syntax {
            ShellSyntax::Posix => b'\\',
            ShellSyntax::PowerShell => b'`',
        };
        while let Some(b) = self.peek() {
            let joined = b == escape && self.ahead(1) == Some(b'\n');
            if !joined && !matches!(b, b' ' | b'\t' | b'\r') {
                return;
            }
            self.at += 1 + usize::from(joined);
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes()[self.at..self.end];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    pub(super) fn skip_past(&mut self, close: u8) {
        let rest = &self.bytes()[self.at..self.end];
        self.at += memchr::memchr(close, rest).map_or(rest.len(), |n| n + 1);
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Keeps what is a command, without keywords and assignments.
    fn finish(&mut self, mut draft: Draft<'a>, group: &mut Group) {
        let words = &mut draft.simple.words;
        let mut kept = 0;
        while let Some(word) = words.get(kept) {
            match &**word {
                "case" => group.cases += 1,
                "esac" => group.cases = group.cases.saturating_sub(1),
                _ => {}
            }
            match &**word {
                word if LEADING.contains(&word) => kept += 1,
                word if BARREN.contains(&word) => kept = words.len(),
                word if self.is_assignment(word) => kept += 1,
                _ => break,
            }
        }
        words.drain(..kept);
        draft.quoted = draft.quoted.checked_shr(kept as u32).unwrap_or(0);
        if self.syntax == ShellSyntax::PowerShell && !self.is_call(&mut draft) {
            return;
        }
        self.resolve(&mut draft.simple);
        if !draft.simple.words.is_empty() {
            self.reads.push(draft.body);
            self.out.push(draft.simple);
        }
    }

    /// `NAME=value`; short values are remembered.
    fn is_assignment(&mut self, word: &str) -> bool {
        const VALUE_BYTES_MAX: usize = 512;
        const VARIABLES_MAX: usize = 32;
        let Some((name, value)) = word.split_once('=') else {
            return false;
        };
        let name = name.trim_end_matches('+');
        let first = name
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        if !first || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return false;
        }
        if value.len() < VALUE_BYTES_MAX && self.variables.len() < VARIABLES_MAX {
            self.variables.push((name.to_owned(), value.to_owned()));
        }
        true
    }

    /// `$NAME` as the command's name is what was assigned to it.
    fn resolve(&self, simple: &mut Simple<'a>) {
        let Some(name) = simple.words.first().and_then(|w| w.strip_prefix('$')) else {
            return;
        };
        let name = name.trim_start_matches('{').trim_end_matches('}');
        let assigned = self.variables.iter().rfind(|(known, _)| known == name);
        if let Some((_, value)) = assigned.filter(|(_, value)| !value.is_empty()) {
            simple.words[0] = Cow::Owned(value.clone());
        }
    }

    /// What PowerShell runs: not a string, a number or a variable, which it only shows. What is
    /// assigned to a variable runs.
    fn is_call(&self, draft: &mut Draft<'a>) -> bool {
        let words = &mut draft.simple.words;
        while let Some(first) = words.first() {
            let assigns = words.get(1).is_some_and(|w| w == "=" || w == "+=");
            if assigns {
                words.drain(..2);
                draft.quoted >>= 2;
                continue;
            }
            match first.split_once('=') {
                Some((name, value))
                    if name.starts_with('$') && ShellSyntax::of(value).is_powershell() =>
                {
                    words[0] = Cow::Owned(value.to_owned());
                }
                _ => break,
            }
        }
        let Some(first) = words.first() else {
            return false;
        };
        let is_path = first.contains(['\\', '/']) || first.ends_with(".exe");
        if draft.quoted & 1 == 1 {
            return self.calls && is_path;
        }
        let letter = first.starts_with(|c: char| c.is_alphabetic() || "./~_".contains(c));
        letter || (first.starts_with('$') && self.calls && is_path)
    }
}

/// Words before a command that are none.
const LEADING: [&str; 12] = [
    "if", "then", "elif", "else", "while", "until", "do", "!", "try", "finally", "return", "coproc",
];

/// Words after which nothing runs up to the command's end.
const BARREN: [&str; 15] = [
    "for", "select", "case", "esac", "function", "fi", "done", "foreach", "in", "[[", "param",
    "catch", "}", "ForEach", "throw",
];
