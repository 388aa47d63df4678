//! A notation for phrases of people's words, and the form of a text that they are matched in. Knows how words
//! are written; knows no word.

use super::table;
use regex::Regex;

/// How a language is written.
#[derive(Clone, Copy, Debug)]
pub struct WritingSystem {
    /// Words are apart.
    pub spaced: bool,
    /// What an apostrophe joins is one word.
    pub joins: bool,
}

impl WritingSystem {
    /// What stands around each word.
    pub fn blank(&self) -> &'static str {
        if self.spaced { " " } else { "" }
    }

    /// Words; of two characters where they are not apart.
    pub fn length(&self, clause: &str) -> usize {
        match self.spaced {
            true => clause.split_whitespace().count(),
            false => clause.chars().count().div_ceil(2),
        }
    }

    /// A pattern that has any of the phrases; `opens`: all stand at the beginning.
    ///
    /// `...`: up to four words; `*`: any ending; `(a|b)`: either; `^`: begins the clause.
    pub fn compile(&self, phrases: &[String], opens: bool) -> Regex {
        let (gap, ending) = match self.spaced {
            true => ("(?: [^ ,]+){0,4}", "[^ ,]*"),
            false => ("[^,]{0,8}", "[^,]"),
        };
        let one = |phrase: &String| {
            let phrase = phrase.trim_start_matches('^');
            let phrase = phrase.replace(" ...", "\u{1}").replace("...", "\u{1}");
            let phrase = phrase.replace('(', "(?:").replace('*', ending);
            phrase.replace('\u{1}', gap)
        };
        let (anchored, free): (Vec<&String>, Vec<&String>) = phrases
            .iter()
            .partition(|phrase| opens || phrase.starts_with('^'));
        let join = |phrases: Vec<&String>, begin: &str| {
            let all: Vec<String> = phrases.into_iter().map(&one).collect();
            let blank = self.blank();
            (!all.is_empty()).then(|| format!("{begin}{blank}(?:{}){blank}", all.join("|")))
        };
        let both = [join(anchored, "^"), join(free, "")];
        let both: Vec<String> = both.into_iter().flatten().collect();
        table::regex(&both.join("|"))
    }

    /// Words in lower case with one blank around each, and a comma for each mark.
    pub fn normal(&self, text: &str) -> String {
        let lower = text.to_lowercase();
        let mut normal = self.blank().to_owned();
        let mut letters = lower.chars().peekable();
        let mut last = ' ';
        while let Some(letter) = letters.next() {
            let next = letters.peek().copied().unwrap_or(' ');
            let put = match letter {
                '\'' | '’' if self.joins => continue,
                '`' | '"' | '“' | '”' | '„' | '«' | '»' | '*' => continue,
                letter if letter.is_alphanumeric() || matches!(letter, '_' | 'ー') => letter,
                '.' | ':' if next.is_alphanumeric() && last.is_alphanumeric() => ' ',
                '-' if !(last.is_whitespace() && next.is_whitespace()) => ' ',
                '/' | '\'' | '’' | '#' | '@' | '\\' | '=' | '+' | '%' | '&' | '<' | '>' | '~' => {
                    ' '
                }
                letter if letter.is_whitespace() => ' ',
                _ => ',',
            };
            last = letter;
            self.put(&mut normal, put);
        }
        self.put(&mut normal, ' ');
        normal
    }

    fn put(&self, normal: &mut String, letter: char) {
        match (letter, self.spaced) {
            (' ', false) => {}
            (' ', true) if normal.ends_with(' ') => {}
            (',', true) if !normal.ends_with(' ') => normal.push_str(" , "),
            (',', true) => normal.push_str(", "),
            _ => normal.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: WritingSystem = WritingSystem {
        spaced: true,
        joins: true,
    };

    fn finds(phrase: &str, text: &str) -> bool {
        let regex = ENGLISH.compile(&[phrase.to_owned()], false);
        regex.is_match(&ENGLISH.normal(text))
    }

    #[test]
    fn a_text_is_its_words_and_marks() {
        let normal = ENGLISH.normal("Don't use `client.ts`: it's slow...");
        assert_eq!(normal, " dont use client ts , its slow , , , ");
        let east = WritingSystem {
            spaced: false,
            joins: false,
        };
        assert_eq!(east.normal("撤掉 吧，谢谢"), "撤掉吧,谢谢");
    }

    #[test]
    fn phrases_are_whole_words_with_gaps_endings_and_choices() {
        assert!(finds("roll ... back", "please roll all of it back"));
        assert!(!finds("roll ... back", "roll it, then go back"));
        assert!(finds("revert*", "Reverted.") && !finds("revert", "reverted"));
        assert!(finds("(too|very) slow", "it is too slow!"));
        assert!(finds("^drop", "Drop it") && !finds("^drop", "we drop it"));
    }
}
