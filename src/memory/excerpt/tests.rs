//! What is quoted of small talks, in little room.

use super::*;
use crate::model::exchange::ItemKind;
use crate::model::item::{Mark, between};

/// An episode of these items, and where it has which word.
fn episode(items: &[(ItemKind, &str)], words: &[&str]) -> EpisodeText {
    let mut text = String::new();
    let mut outline: Vec<Mark> = Vec::new();
    for (kind, item) in items {
        if let Some(last) = outline.last() {
            text.push_str(between(last.kind, *kind));
        }
        text.push_str(item);
        outline.push(Mark {
            kind: *kind,
            bytes: item.len() as u64,
            line: 1,
            findings: Vec::new(),
        });
    }
    let mut terms = Vec::new();
    for (n, word) in words.iter().enumerate() {
        let found = text.match_indices(word);
        terms.extend(found.map(|(at, word)| (n, at..at + word.len())));
    }
    terms.sort_by_key(|(_, at)| at.start);
    EpisodeText {
        episode: Uuid::nil(),
        source: EpisodeSource::Session,
        stream: None,
        part: 1,
        text,
        outline,
        terms,
    }
}

/// What is quoted of these items to somebody who asks for these words.
fn quoted(items: &[(ItemKind, &str)], words: &[&str], room: usize) -> String {
    let episodes = [episode(items, words)];
    let weights = vec![1.0; words.len()];
    of_texts(&episodes, &weights, room).unwrap_or_default()
}

use ItemKind::{Agent, Digest, Prompt};

#[test]
fn the_answer_behind_the_question_is_quoted_and_what_took_it_back() {
    let talk = [
        (Prompt, "User: Could we queue failed requests in Redis?"),
        (
            Agent,
            "Agent: Yes: a list per tenant, drained by the worker.",
        ),
        (Digest, "Action: Edit(queue.rs) → +12 −1"),
        (
            Prompt,
            "User: Actually this won't work with our serverless architecture, roll it back",
        ),
        (Agent, "Agent: Rolled back."),
    ];
    let text = quoted(&talk, &["queue", "failed", "Redis"], 400);
    assert!(text.contains("a list per tenant"), "{text}");
    assert!(
        text.ends_with(
            "later User: Actually this won't work with our serverless architecture, roll it back"
        ),
        "{text}"
    );
    let kept = quoted(&talk[..3], &["queue", "failed", "Redis"], 400);
    assert!(!kept.contains("later"), "{kept}");
}

#[test]
fn what_a_person_does_next_is_no_undoing_and_other_work_may_be_undone() {
    for next in [
        "User: Now add a test for it.",
        "User: Thanks, that works.",
        "User: Should we roll it back?",
    ] {
        let talk = [
            (Prompt, "User: Put the queue into Redis."),
            (Agent, "Agent: The queue is a Redis list now."),
            (Prompt, next),
        ];
        let text = quoted(&talk, &["queue", "Redis"], 300);
        assert!(!text.contains("later"), "{next}: {text}");
    }
    let pasted = format!(
        "User: A reviewer says:\n{}\nThis is wrong, revert it.",
        "It drops what waits.\n".repeat(40)
    );
    for next in [
        "User: Remove the queue's first test to save time.",
        "User: then remove this queue worktree",
        "User: ok you need to get back to main and open a PR for the queue",
        "User: We want the queue in its own file so that it can't be imported twice.",
        &pasted,
    ] {
        let talk = [
            (Prompt, "User: Put the queue into Redis."),
            (Agent, "Agent: The queue is a Redis list now."),
            (Prompt, next),
        ];
        let text = quoted(&talk, &["Redis"], 300);
        assert!(!text.contains("later"), "{next}: {text}");
    }
    let elsewhere = [
        (Prompt, "User: Put the queue into Redis."),
        (Agent, "Agent: The queue is a Redis list now."),
        (Prompt, "User: Make the header blue."),
        (Agent, "Agent: The banner is blue."),
        (Prompt, "User: Revert the blue banner please."),
    ];
    let text = quoted(&elsewhere, &["queue", "Redis"], 300);
    assert!(!text.contains("banner"), "{text}");
    let same = [
        elsewhere[0],
        elsewhere[1],
        elsewhere[2],
        elsewhere[3],
        (Prompt, "User: Revert the Redis list, it is too slow."),
    ];
    let text = quoted(&same, &["queue"], 130);
    assert!(text.contains("later User: Revert the Redis list"), "{text}");
}

#[test]
fn sentences_are_whole_and_a_programs_lines_come_last() {
    let talk = [
        (Prompt, "User: Why is the parser slow?"),
        (Digest, "Action: Bash(cargo bench parser) → parser 12 ms"),
        (
            Agent,
            "Agent: ## Cause\n\n- **The parser** copies each token. It takes 12 ms.\n\nNothing else is slow in it.",
        ),
    ];
    let text = quoted(&talk, &["parser", "slow"], 90);
    assert!(text.contains("The parser copies each token."), "{text}");
    assert!(!text.contains("Action:") && !text.contains("**"), "{text}");
    for room in [0, 5, 40, 90, 200, 1_000] {
        let text = quoted(&talk, &["parser", "slow"], room);
        assert!(text.chars().count() <= room, "{room}: {text}");
    }
}

#[test]
fn a_long_line_is_shown_around_its_words() {
    let long = format!(
        "Agent: {} the heron {}",
        "reed ".repeat(200),
        "mud ".repeat(200)
    );
    let text = quoted(&[(Agent, &long)], &["heron"], 400);
    assert!(text.starts_with('…') && text.ends_with('…'), "{text}");
    assert!(text.contains("the heron"), "{text}");
    assert!(text.chars().count() <= SENTENCE_CHARS_MAX + 2, "{text}");
}

#[test]
fn a_text_without_items_is_quoted_too() {
    let mut old = episode(&[(Agent, "The heron is gray. The owl is not.")], &["heron"]);
    old.outline.clear();
    let text = of_texts(&[old], &[1.0], 200);
    assert_eq!(text.as_deref(), Some("The heron is gray. The owl is not."));
    assert_eq!(of_texts(&[], &[1.0], 200), None);
}
