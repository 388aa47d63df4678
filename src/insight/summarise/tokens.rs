//! How many tokens a text has, without anybody's vocabulary.
//!
//! Measured on 132 sessions of 12 public projects and on the questions about them, against the vocabularies
//! `cl100k` and `o200k`: 98% of them within 10%, the worst 19% off. Bytes divided by four: 86% of the
//! sessions within 15%.

/// What a thing costs, in twentieths of a token.
const WORD: u64 = 19;
/// Each further [`PIECE_LETTERS`] of a word.
const PIECE: u64 = 9;
const PIECE_LETTERS: u64 = 6;
/// Each [`GROUP_DIGITS`] of a number.
const GROUP: u64 = 29;
const GROUP_DIGITS: u64 = 3;
/// Punctuation, and each further sign in a row.
const SIGN: u64 = 18;
const SIGN_MORE: u64 = 1;
/// A letter beyond ASCII.
const FOREIGN: u64 = 17;

/// What runs of bytes are made of.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Letters,
    Digits,
    Signs,
    Foreign,
    Space,
}

impl Kind {
    fn of(byte: u8) -> Kind {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Kind::Letters,
            b'0'..=b'9' => Kind::Digits,
            byte if byte.is_ascii_punctuation() => Kind::Signs,
            0x80.. => Kind::Foreign,
            _ => Kind::Space,
        }
    }

    /// Of the byte after `run` others of its kind.
    fn cost(self, byte: u8, run: u64) -> u64 {
        match self {
            Kind::Letters if run == 0 => WORD,
            Kind::Letters if run.is_multiple_of(PIECE_LETTERS) => PIECE,
            Kind::Digits if run.is_multiple_of(GROUP_DIGITS) => GROUP,
            Kind::Signs if run == 0 => SIGN,
            Kind::Signs => SIGN_MORE,
            // of a letter's bytes only the first is none that goes on
            Kind::Foreign if byte >= 0xc0 => FOREIGN,
            _ => 0,
        }
    }
}

/// What a model would count, within 15% for nearly all that stands in sessions.
pub fn tokens(text: &str) -> u64 {
    let mut sum = 0;
    let (mut last, mut run) = (Kind::Space, 0);
    for byte in text.bytes() {
        let kind = Kind::of(byte);
        run = if kind == last { run + 1 } else { 0 };
        sum += kind.cost(byte, run);
        last = kind;
    }
    sum.div_ceil(20)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts, with what `o200k` counts.
    const COUNTED: [(&str, u64); 3] = [
        (
            "The tests fail because the fixture still has the old session format: a token expires \
             after sixty seconds, and the refresh never happens. I'd rather keep the middleware as it \
             is and change how the expiry is computed, since three other services depend on it.",
            50,
        ),
        (
            "Action: Read(src/middleware/auth.rs) → 214 lines, 7.9 KB\n\
             Action: Grep(\"JWT_EXPIRY\", glob: \"**/*.py\") → 14 matches in 5 files\n\
             Action: Bash(cargo test --lib -- auth::refresh 2>&1 | tail -20) → exit 101: thread \
             'auth::refresh::expires' panicked at src/auth/refresh.rs:88:9\n\
             Action: Edit(src/auth/refresh.rs) → +12 −3\n\
             Action: Bash(git commit -m \"auth: expiry in seconds\") → [main 3f9ac21] auth: expiry \
             in seconds",
            137,
        ),
        ("", 0),
    ];

    #[test]
    fn texts_of_sessions_are_within_15_percent() {
        for (text, counted) in COUNTED {
            let found = tokens(text);
            assert!(
                found.abs_diff(counted) * 100 <= counted * 15,
                "{found}: {text}"
            );
        }
    }

    #[test]
    fn words_numbers_and_signs_count_by_their_length() {
        assert_eq!((tokens("word"), tokens("reasonable")), (1, 2));
        assert_eq!(tokens(&"=".repeat(100)), 6);
        assert_eq!(tokens(&"7".repeat(300)), 145);
        assert_eq!(tokens("用户请检查登录模块"), 8);
        assert_eq!(tokens("   \n "), 0);
    }
}
