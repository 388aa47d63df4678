//! Sentences of people and agents, and the kinds of work that they say.

use super::*;
use Dimension::*;

#[test]
fn samples_are_what_the_table_says() {
    for (text, wants) in written().samples {
        let found: Vec<Dimension> = requested(&text).collect();
        assert_eq!(found, wants, "{text}");
    }
}

#[test]
fn agents_announce_and_report() {
    for (text, wants) in [
        ("I'll review the diff first.", vec![Reviewing]),
        ("Now let me fix the failing test", vec![Fixing]),
        ("I’m looking at the queue", vec![Exploring]),
        ("Let me check the queue.", vec![]),
        ("The queue is full.", vec![]),
    ] {
        assert_eq!(announced(text).collect::<Vec<_>>(), wants, "{text}");
    }
    for (text, wants) in [
        ("Done. I've renamed the module.", vec![Refactoring]),
        ("Added a test for the parser.", vec![Testing]),
        ("Fixed the leak and pushed.", vec![Fixing]),
        (
            "1. **High**: tokens leak into the log",
            vec![Reviewing, Reviewing],
        ),
        ("High-level view of the parser", vec![]),
        ("All good.", vec![]),
    ] {
        assert_eq!(reported(text).collect::<Vec<_>>(), wants, "{text}");
    }
}

#[test]
fn subjects_say_it_by_their_type_or_their_verb() {
    for (subject, wants) in [
        ("fix(auth): add the missing header", Some(Fixing)),
        ("feat!: quotas", Some(Building)),
        ("chore: fix spelling", None),
        ("parser: rename the cursor", Some(Refactoring)),
        ("Add quotas", Some(Building)),
        ("Merge branch 'main'", None),
    ] {
        assert_eq!(titled(subject), wants, "{subject}");
    }
}

#[test]
fn what_is_no_verb_is_seen_without_a_copy() {
    for sentence in [
        "The cart rounds twice",
        "- 12 of them",
        "Also, the parser",
        "",
        "xhttp fixed it",
    ] {
        assert_eq!(done(sentence), None, "{sentence}");
    }
    for (sentence, wants) in [
        ("I've also fixed the cart", Fixing),
        ("Successfully: Renamed it", Refactoring),
        ("Made “the parser” faster", Building),
        ("\u{2705} Fixed the cart", Fixing),
        ("`a b` Fixed it", Fixing),
        ("https://example.com/a fixed it", Fixing),
    ] {
        assert_eq!(done(sentence), Some(wants), "{sentence}");
    }
}
