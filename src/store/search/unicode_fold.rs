//! How characters beyond ASCII are made comparable: compatibility forms, marks, case, and which
//! scripts are written without spaces.

use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_compatible, is_combining_mark,
};

/// Scratch space for folding; one per scan.
#[derive(Debug, Default)]
pub struct Fold {
    text: String,
    run: Vec<(char, usize, usize)>,
}

impl Fold {
    /// Letters, digits and the marks on them.
    pub fn is_word(c: char) -> bool {
        c.is_alphanumeric() || is_combining_mark(c)
    }

    /// `text` folded, underscores left out, cut at `bytes_max`.
    pub fn word(&mut self, text: &str, bytes_max: usize) -> &str {
        self.text.clear();
        for c in text.chars().filter(|c| *c != '_') {
            if self.text.len() >= bytes_max {
                break;
            }
            decompose_compatible(c, |d| push(&mut self.text, d));
        }
        &self.text
    }

    /// The CJK run at the start of `text`: folded characters with their byte ranges in it.
    pub fn cjk(&mut self, text: &str) -> &[(char, usize, usize)] {
        self.run.clear();
        for (start, c) in text.char_indices() {
            let mark = is_combining_mark(c);
            if !(is_cjk(c) || mark && start > 0) {
                break;
            }
            let end = start + c.len_utf8();
            decompose_compatible(c, |d| join(&mut self.run, d, start, end));
        }
        &self.run
    }
}

/// Written without spaces between words: Han, Hiragana, Katakana, Hangul, Bopomofo.
pub fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{2fdf}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{3096}'
        | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{318f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Marks are dropped, letters lower-cased; what a compatibility form leaves beside letters goes.
fn push(out: &mut String, c: char) {
    let stays = |c: &char| {
        c.is_alphanumeric() || is_combining_mark(*c) && canonical_combining_class(*c) == 0
    };
    out.extend(c.to_lowercase().filter(stays));
}

/// Puts voicing marks and jamo back together (か + ゛ is が), drops other marks.
fn join(run: &mut Vec<(char, usize, usize)>, c: char, start: usize, end: usize) {
    if let Some(last) = run.last_mut() {
        if let Some(joined) = compose(last.0, c) {
            (last.0, last.2) = (joined, end);
            return;
        }
        if is_combining_mark(c) {
            last.2 = end;
            return;
        }
    }
    if Fold::is_word(c) {
        run.push((c, start, end));
    }
}
