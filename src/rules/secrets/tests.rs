//! The table tests itself: each sample of each row, each row left out, every disguise.

use super::samples::{TELLING, random, written_out};
use super::table::{Row, UserRules};
use super::*;
use proptest::prelude::*;
use std::path::Path;

fn with_rows(rows: Vec<Row>) -> Redactor {
    let redactor = Redactor {
        personal: true,
        ..Redactor::default()
    };
    let engine = Engine::new(rows, &UserRules::default(), true);
    assert!(redactor.engine.set(engine).is_ok());
    redactor
}

fn personal() -> Redactor {
    Redactor::new([7; 32], true, UserRules::default())
}

fn is_masked(masked: &str, id: &str, pieces: &[String]) -> bool {
    let gone = |p: &String| p.len() < TELLING || !masked.contains(p.as_str());
    masked.contains(&format!("{OPEN}{id}:")) && pieces.iter().all(gone)
}

fn samples_of(row: &Row) -> Vec<&String> {
    row.samples
        .masked
        .iter()
        .chain(&row.samples.alone)
        .collect()
}

#[test]
fn each_row_masks_its_samples_and_leaves_the_others() {
    let (redactor, secrets) = (personal(), Redactor::default());
    let mut wrong = Vec::new();
    for row in table::rows() {
        let samples = samples_of(&row);
        assert!(!samples.is_empty(), "{} has no sample", row.id);
        for (n, sample) in samples.into_iter().enumerate() {
            for seed in 0..20 {
                let (text, pieces) = written_out(sample, seed * 100 + n as u64);
                let masked = redactor.redact(&text);
                if !is_masked(&masked, &row.id, &pieces) {
                    wrong.push(format!("{}: {text}\n   → {masked}", row.id));
                    break;
                }
            }
        }
        for kept in &row.samples.kept {
            let masked = match row.personal {
                true => redactor.redact(kept),
                false => secrets.redact(kept),
            };
            if masked != kept.as_str() {
                wrong.push(format!("{} kept: {kept}\n   → {masked}", row.id));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn without_a_row_one_of_its_samples_is_masked_otherwise() {
    for left_out in 0..table::rows().len() {
        let mut rows = table::rows();
        let row = rows.remove(left_out);
        let less = with_rows(rows);
        let missed = samples_of(&row).into_iter().any(|sample| {
            let (text, pieces) = written_out(sample, 1);
            !is_masked(&less.redact(&text), &row.id, &pieces)
        });
        assert!(
            missed,
            "nothing tells whether {} ({}) is there",
            row.id, row.pattern
        );
    }
}

#[test]
fn each_secret_is_found_in_json_inside_of_json_however_deep() {
    let redactor = personal();
    let mut shown = Vec::new();
    for row in table::rows() {
        for sample in &row.samples.masked {
            let (mut text, pieces) = written_out(sample, 5);
            for depth in 1..=3 {
                text = serde_json::json!({"content": text}).to_string();
                let masked = redactor.redact(&text);
                let stays = |p: &&String| p.len() >= TELLING && masked.contains(p.as_str());
                if pieces.iter().any(|p| stays(&p)) {
                    shown.push(format!("{} {depth}: {text}\n   → {masked}", row.id));
                }
            }
        }
    }
    assert!(
        shown.is_empty(),
        "{} stay:\n{}",
        shown.len(),
        shown.join("\n")
    );
}

#[test]
fn a_secret_is_found_in_every_disguise_and_keeps_its_hash() {
    let redactor = personal();
    let token = random("an36", 3);
    let plain = redactor.redact(&format!("ghp_{token}")).into_owned();
    assert_eq!(plain.len(), "[redacted:github-token:0000]".len());
    let (head, tail) = token.split_at(15);
    for given in [
        format!("x ghp_{token} y"),
        format!("ghp\\u005f{token}"),
        format!("{{\\\"t\\\":\\\"ghp_{token}\\\\n\\\"}}"),
        format!("line\\nghp_{token}\\nline"),
        format!("'ghp_{head}''{tail}'"),
        format!("\"ghp_{head}\" + \"{tail}\""),
        format!("\"ghp_{head}\" +\n    \"{tail}\""),
        format!("ghp_{head}\\\n{tail}"),
        format!("+ghp_{head}\n+{tail}\n"),
        format!("> ghp_{head}\n> {tail}"),
        format!("q=ghp%5F{token}%26"),
        format!("a%3Dghp_{token}"),
    ] {
        let masked = redactor.redact(&given);
        assert!(masked.contains(&plain), "{given}\n→ {masked}");
        assert!(
            !masked.contains(head) && !masked.contains(tail),
            "{given}\n→ {masked}"
        );
    }
}

#[test]
fn a_wrapped_token_goes_whole_and_the_line_after_it_stays() {
    let redactor = personal();
    let token = format!("sk-ant-api03-{}", random("an140", 1));
    let lines: Vec<&str> = [&token[..76], &token[76..]].to_vec();
    let masked = redactor.redact(&lines.join("\n")).into_owned();
    assert!(
        masked.starts_with(OPEN) && masked.ends_with(']'),
        "{masked}"
    );
    let given = format!("{}\nexport NEXT=1", &token[..76]);
    assert!(redactor.redact(&given).ends_with("]\nexport NEXT=1"));
    let url = "postgres%3A%2F%2Fapp%3As3cr3t-pw%40db.example.com%2Fx";
    assert!(
        !redactor.redact(url).contains("s3cr3t"),
        "{}",
        redactor.redact(url)
    );
}

#[test]
fn equal_secrets_link_and_another_key_hides_it() {
    let text = format!("token ghp_{}", random("an36", 1));
    let one = personal().redact(&text).into_owned();
    assert_eq!(personal().redact(&text), one);
    let other = Redactor::new([8; 32], true, UserRules::default());
    assert_ne!(other.redact(&text), one);
}

#[test]
fn fields_of_a_value_are_assignments() {
    let mut value = serde_json::json!({
        "password": "hunter2!x", "note": "hunter2!x", "list": [{"apiKey": random("hx32", 1)}],
        "path": "src/a.rs",
    });
    personal().mask_value(&mut value);
    assert!(
        value["password"]
            .as_str()
            .unwrap()
            .starts_with("[redacted:secret:")
    );
    assert!(
        value["list"][0]["apiKey"]
            .as_str()
            .unwrap()
            .starts_with(OPEN)
    );
    assert_eq!(
        (&value["note"], &value["path"]),
        (&"hunter2!x".into(), &"src/a.rs".into())
    );
}

#[test]
fn personal_data_stays_unless_it_is_asked_for() {
    let text = "jane@example.com at 203.0.113.7 in /home/jane/x";
    let plain = Redactor::default();
    assert_eq!(plain.redact(text), text);
    assert_eq!(personal().redact(text).matches(OPEN).count(), 3);
    assert_eq!(personal().secrets_only().redact(text), text);
}

#[test]
fn the_users_rules_come_first_and_allow_and_off_are_heeded() {
    let file = Path::new("rules/secrets.yaml");
    let text = "rules:\n- id: acme-token\n  name: ours\n  keywords: [acme_]\n  pattern: 'acme_[a-z0-9]{8}'\nallow: ['ghp_abc.*']\noff: [jwt]\n";
    let rules = UserRules::parse(file, text).unwrap();
    let redactor = Redactor::new([0; 32], false, rules);
    assert!(
        redactor
            .redact("acme_12345678")
            .starts_with("[redacted:acme-token:")
    );
    let allowed = format!("ghp_abc{}", random("an33", 1));
    assert_eq!(redactor.redact(&allowed), allowed);
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhYmNkZWYifQ.c2lnbmF0dXJl";
    assert_eq!(redactor.redact(jwt), jwt);
    assert_ne!(redactor.version(), Redactor::default().version());
}

#[test]
fn what_is_wrong_with_the_users_rules_is_named_with_its_line() {
    let file = Path::new("rules/secrets.yaml");
    for (text, wants) in [
        ("rules:\n- id: a\n  nme: x\n", "rules/secrets.yaml:3:"),
        ("allow: ['(']\n", "rules/secrets.yaml:1: `(` is no pattern"),
        (
            "off:\n- jwtt\n",
            "rules/secrets.yaml:2: there is no rule `jwtt`",
        ),
        (
            "rules:\n- id: a\n  name: x\n  keywords: [a]\n  pattern: '[a'\n",
            "rules/secrets.yaml:2: `a`: `[a` is no pattern",
        ),
        (
            "rules:\n- id: a\n  name: x\n  keywords: []\n  pattern: 'a'\n",
            "rules/secrets.yaml:2: `a` needs keywords",
        ),
        (
            "rules:\n- id: a\n  name: x\n  keywords: [a]\n  pattern: 'a*'\n",
            "rules/secrets.yaml:2: `a` matches an empty text",
        ),
    ] {
        let error = UserRules::parse(file, text).unwrap_err();
        assert!(error.message.starts_with(wants), "{}", error.message);
    }
    assert!(UserRules::parse(file, "\n").is_ok());
}

/// Texts in which secrets, keywords and what stands around them meet.
fn strewn() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        Just("password: ".to_owned()),
        Just("\"token\": \"".to_owned()),
        Just("\n".to_owned()),
        Just("\\n".to_owned()),
        Just("%3D".to_owned()),
        Just("\\u002d".to_owned()),
        Just("[redacted:jwt:12ab]".to_owned()),
        Just("[redacted:".to_owned()),
        Just("-----END RSA PRIVATE KEY-----".to_owned()),
        Just("https://u:".to_owned()),
        Just("@é".to_owned()),
        (0u64..40).prop_map(|seed| {
            let rows = table::rows();
            let row = &rows[seed as usize * 7 % rows.len()];
            written_out(samples_of(row)[0], seed).0
        }),
        "[a-zA-Z0-9+/=_-]{1,40}",
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn masking_twice_is_masking_once_and_splits_no_character(text in strewn()) {
        let redactor = shared();
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.as_str());
        prop_assert_eq!(redactor.redact(&text), once);
    }
}

fn shared() -> &'static Redactor {
    static SHARED: std::sync::LazyLock<Redactor> = std::sync::LazyLock::new(personal);
    &SHARED
}

#[test]
fn what_is_no_secret_is_none_and_what_looks_like_it_may_be_one() {
    use super::looks::{NO_SECRETS, NoSecrets};
    let rows: Vec<NoSecrets> = crate::rules::table::rows(NO_SECRETS);
    let redactor = Redactor::default();
    for row in rows {
        for kept in &row.samples["kept"] {
            let text = format!("DB_PASSWORD={kept}");
            assert_eq!(redactor.redact(&text), text);
        }
        for masked in &row.samples["masked"] {
            let text = format!("DB_PASSWORD={masked}");
            assert_ne!(redactor.redact(&text), text);
        }
    }
}
