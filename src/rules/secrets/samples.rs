//! Secrets to plant: the samples of the table, with made-up secrets in them.

use super::Redactor;
use super::table::Row;
use xxhash_rust::xxh3::xxh3_64;

/// A text with a secret in it.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The rule that it is a sample of.
    pub rule: String,
    /// The text.
    pub text: String,
    /// What of it must not be found again.
    pub pieces: Vec<String>,
    /// It is one only where nothing else stands on its lines.
    pub alone: bool,
}

/// The rows as they are written, with their samples, which the program is built without otherwise.
fn written_rows() -> Vec<Row> {
    serde_yaml::from_str(include_str!("../secrets.yaml")).expect("the embedded table of secrets")
}

/// A secret of every sample, but those of personal data. Different seeds give different secrets.
pub fn planted(seed: u64) -> Vec<Planted> {
    let rows = written_rows().into_iter().filter(|row| !row.personal);
    let samples = rows.flat_map(|row| {
        let (id, samples) = (row.id, row.samples);
        let anywhere = samples.masked.into_iter().map(|sample| (sample, false));
        let alone = samples.alone.into_iter().map(|sample| (sample, true));
        let all = anywhere.chain(alone);
        all.map(move |(sample, alone)| (id.clone(), sample, alone))
    });
    let redactor = Redactor::default();
    let planted = samples.map(|(rule, sample, alone)| {
        let (text, pieces) = masked_one(&sample, seed, &redactor);
        let telling = pieces.into_iter().filter(|piece| piece.len() >= TELLING);
        Planted {
            rule,
            text,
            pieces: telling.collect(),
            alone,
        }
    });
    planted.collect()
}

/// Seeds that are tried. More: time; fewer: of some formats one random value in hundreds reads as words.
const SEEDS_TRIED: u64 = 8;

/// A sample with values that are masked where it stands by itself. They depend on its text and the seed:
/// another sample in the table changes none of them.
fn masked_one(sample: &str, seed: u64, redactor: &Redactor) -> (String, Vec<String>) {
    let seed = seed ^ (xxh3_64(sample.as_bytes()) >> 1);
    let is_masked = |(text, pieces): &(String, Vec<String>)| {
        let masked = redactor.redact(text);
        !pieces.iter().any(|piece| masked.contains(piece.as_str()))
    };
    let mut tries = (0..SEEDS_TRIED).map(|n| written_out(sample, seed + 1000 * n));
    let found = tries.find(is_masked);
    found.unwrap_or_else(|| written_out(sample, seed))
}

/// Pieces shorter than this may stay in a text by accident.
pub(super) const TELLING: usize = 5;

/// A text with its made-up values written out, and those between « and »; what stands between ‹ and › is
/// random too, and no secret.
pub fn written_out(sample: &str, seed: u64) -> (String, Vec<String>) {
    let (mut text, mut pieces, mut rest, mut nth) = (String::new(), Vec::new(), sample, 0);
    while let Some((before, after)) = rest.split_once(['«', '‹']) {
        let is_secret = rest[before.len()..].starts_with('«');
        let (piece, after) = after.split_once(['»', '›']).expect("it closes");
        let piece = match piece.strip_prefix('=') {
            Some(word) => word.to_owned(),
            None => random(piece, seed + nth),
        };
        nth += 1;
        text.extend([before, &piece]);
        pieces.extend(is_secret.then_some(piece));
        rest = after;
    }
    text.push_str(rest);
    (text, pieces)
}

pub(super) fn random(kind: &str, seed: u64) -> String {
    let (kind, length) = kind.split_at(2);
    let all = match kind {
        "an" => "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789",
        "up" => "ABCDEFGHJKLMNPQRSTUVWXYZ234567",
        "lo" => "abcdefghijkmnopqrstuvwxyz0123456789",
        "hx" => "0123456789abcdef",
        "b6" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "u6" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        "dg" => "123456789",
        "lt" => "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        other => panic!("«{other}»"),
    };
    let all = all.as_bytes();
    let length: usize = length.parse().expect("a length");
    let byte = |i: usize| {
        let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), seed ^ length as u64);
        let byte = all[hash as usize % all.len()];
        // a token that begins or ends with a mark is cut there by its boundary
        let edge = i == 0 || i + 1 == length;
        if edge && !byte.is_ascii_alphanumeric() {
            b'k'
        } else {
            byte
        }
    };
    (0..length).map(|i| char::from(byte(i))).collect()
}
