//! What the name that a value is assigned to says of it: that it is a secret, that it isn't, or that it only
//! speaks about one. Knows no rule.

use super::looks::pieces;

/// Names whose values are no secrets, unless a word behind them says that they are.
const PUBLIC: [&str; 38] = [
    "pagetoken",
    "page_token",
    "page-token",
    "nexttoken",
    "next_token",
    "continuationtoken",
    "continuation_token",
    "compass",
    "bypass",
    "idempot",
    "partition",
    "primary",
    "foreign",
    "encrypted",
    "websocket",
    "sha",
    "hash",
    "digest",
    "checksum",
    "integrity",
    "fingerprint",
    "md5",
    "etag",
    "commit",
    "public",
    "pubkey",
    "pub_key",
    "cache",
    "path",
    "file",
    "image",
    "thumb",
    "version",
    "authority",
    "applicationserver",
    "sitekey",
    "site_key",
    "site-key",
];

/// Words that make a name a secret's whatever stands before them: `PRIMARY_DB_PASSWORD` is no primary key.
const SECRET: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "credential",
    "_pass",
    "-pass",
    ".pass",
    "_pw",
];

/// The same of two words, together or with a mark between them.
const SECRET_PAIRS: [(&[&str], &str); 2] = [
    (
        &[
            "api",
            "access",
            "account",
            "private",
            "encryption",
            "signing",
            "master",
            "security",
            "auth",
        ],
        "key",
    ),
    (
        &[
            "api", "access", "auth", "bearer", "bot", "refresh", "deploy",
        ],
        "token",
    ),
];

/// Right before such a word, these say that it isn't one any more.
const SEALED: [&str; 2] = ["encrypted", "hashed"];

/// The same before a password: `HASH_SECRET` is one.
const HASHES: [&str; 4] = ["hash", "digest", "md5", "sha"];

/// A name whose value everybody may see: `primary_key`, `password_hash`.
pub(super) fn is_public(name: &[u8]) -> bool {
    let lower = lowered(name);
    let Some((start, end)) = secret_in(&lower) else {
        // no SHA
        let lower = lower.replace("share", "");
        return PUBLIC.iter().any(|word| lower.contains(word));
    };
    let before = lower[..start].trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let follows = |words: &[&str]| words.iter().any(|word| before.ends_with(word));
    let noun = &lower[start..end];
    let is_password = noun.contains("pass") || noun.contains("pw");
    let mut rest = words_of(&name[end..]);
    rest.any(|word| word.is_one_of(&PUBLIC)) || follows(&SEALED) || is_password && follows(&HASHES)
}

/// In lower case and as long: a place in it is one in the name.
fn lowered(name: &[u8]) -> String {
    let letters = name.iter().map(|byte| match byte.is_ascii() {
        true => char::from(byte.to_ascii_lowercase()),
        false => '_',
    });
    letters.collect()
}

/// A word of the rest of a name.
struct TailWord {
    /// In lower case.
    word: String,
    /// It may go on with another: nothing parts it from what stands before it.
    joined: bool,
}

impl TailWord {
    /// One of these, also in the plural: `MINIO` is no `min`.
    fn is_one_of(&self, words: &[&str]) -> bool {
        let is = |known: &&str| {
            let rest = self.word.strip_prefix(known);
            rest.is_some_and(|rest| self.joined || rest.is_empty() || rest == "s")
        };
        words.iter().any(is)
    }
}

/// The words of the rest of a name: `tokenLimit`, `token_limit` and `tokenlimit` have one behind the token.
fn words_of(tail: &[u8]) -> impl Iterator<Item = TailWord> {
    let joined = tail.first().is_some_and(u8::is_ascii_lowercase);
    pieces(tail).enumerate().map(move |(nth, piece)| TailWord {
        word: String::from_utf8_lossy(piece).to_ascii_lowercase(),
        joined: joined && nth == 0,
    })
}

/// Where a name, in lower case, says last that its value is a secret.
fn secret_in(lower: &str) -> Option<(usize, usize)> {
    let one = SECRET
        .iter()
        .filter_map(|word| Some((lower.rfind(word)?, word.len())))
        .map(|(start, len)| (start, start + len));
    let pairs = SECRET_PAIRS.iter().flat_map(|(firsts, second)| {
        lower.match_indices(second).filter_map(move |(at, _)| {
            let before = lower[..at].trim_end_matches(['_', '-', '.']);
            let first = firsts.iter().find(|first| before.ends_with(**first))?;
            Some((before.len() - first.len(), at + second.len()))
        })
    });
    one.chain(pairs).max_by_key(|(_, end)| *end)
}

/// `CLIENT_ID`: whom a secret belongs to.
pub(super) fn is_identity(name: &[u8]) -> bool {
    let end = &name[name.len().saturating_sub(3)..];
    matches!(end, b"_id" | b"-id" | b"_ID" | b"-ID" | b"-Id") || name.ends_with(b"Id")
}

/// How a name goes on that speaks about a secret instead of naming one.
const ABOUT: [&str; 60] = [
    "address",
    "symbol",
    "version",
    "name",
    "id",
    "ids",
    "type",
    "url",
    "uri",
    "path",
    "file",
    "field",
    "count",
    "length",
    "len",
    "limit",
    "size",
    "ttl",
    "policy",
    "label",
    "endpoint",
    "header",
    "prefix",
    "regex",
    "pattern",
    "provider",
    "ref",
    "index",
    "hint",
    "reset",
    "error",
    "message",
    "izer",
    "usage",
    "manager",
    "smanager",
    "list",
    "at",
    "within",
    "max",
    "min",
    "strength",
    "rules",
    "arn",
    "too",
    "weak",
    "placeholder",
    "help",
    "title",
    "button",
    "must",
    "not",
    "missing",
    "empty",
    "show",
    "hide",
    "map",
    "audience",
    "issuer",
    "scope",
];

/// How a word begins that does.
const ABOUT_BEGINS: [&str; 10] = [
    "encrypt", "expir", "complex", "desc", "fail", "updat", "invalid", "success", "requir",
    "mismatch",
];

/// After the last of these in a name comes what it says about the secret.
const NAMES: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "key",
    "credential",
    "pwd",
    "_pass",
    "_pat",
];

/// A name that speaks about a secret: `tokenLimit`.
pub(super) fn is_about(name: &[u8]) -> bool {
    let lower = lowered(name);
    let after = NAMES
        .iter()
        .filter_map(|word| Some(lower.rfind(word)? + word.len()))
        .max();
    let tail = after.map_or(&b""[..], |at| &name[at..]);
    let several = tail.strip_prefix(b"s").unwrap_or(tail);
    [tail, several].into_iter().any(|tail| {
        words_of(tail).next().is_some_and(|first| {
            first.is_one_of(&ABOUT) || ABOUT_BEGINS.iter().any(|word| first.word.starts_with(word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_by_their_words() {
        for (name, wants) in [
            ("PRIMARY_DB_PASSWORD", false),
            ("primary_key", true),
            ("cachePassword", false),
            ("password_hash", true),
            ("encryptedPassword", true),
            ("HASH_SECRET", false),
            ("spring.file.api_key", false),
            ("file_key", true),
            ("API_KEY_IMAGEKIT", false),
            ("API_KEY_IMAGE", true),
        ] {
            assert_eq!(is_public(name.as_bytes()), wants, "{name}");
        }
        for (name, wants) in [
            ("tokenLimit", true),
            ("tokenlimit", true),
            ("PASSWORD_MINIO", false),
            ("password_min", true),
            ("token_expires", true),
        ] {
            assert_eq!(is_about(name.as_bytes()), wants, "{name}");
        }
        let cut = b"caf\xc3\xa9\xffpassword_\xe2\x82";
        assert!(!is_public(cut) && !is_about(cut));
    }
}
