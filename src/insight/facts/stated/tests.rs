//! What an agent's words state.

use super::*;

#[test]
fn a_beginning_is_what_states_something() {
    for (words, wants) in [
        (
            "## Done\n\nAll pass.\n::git-push{cwd=\"/p\"}\n```\ncode\n```\n---\n| # | what |\n|---|---|\n| 1 | a | b |\n- one",
            Some("All pass.\n- a: b\n- one"),
        ),
        (
            "Done!\n\nThe cart adds up again.",
            Some("The cart adds up again."),
        ),
        (
            "Great question! The cache is read twice. Shall I mend it?",
            Some("The cache is read twice."),
        ),
        (
            "It works now.\n\nIf you want, I can push it.",
            Some("It works now."),
        ),
        ("It works.\n\n**Next steps:**\n- push", Some("It works.")),
        ("Findings:\n\n```\nx\ny\n```", None),
        (
            "All of it runs.\nYou can start it so:\n```\nx\ny\n```\nIt takes a second.",
            Some("All of it runs.\nIt takes a second."),
        ),
        (
            "It is slow. Instead of:\n```\na\nb\n```",
            Some("It is slow."),
        ),
        (
            "Two remarks stay.\n\nThe rest:\n```\na\nb\n```",
            Some("Two remarks stay."),
        ),
        (
            "Mended in [cart.rs](/home/ada/shop/cart.rs:7) and `a[0](x)`.",
            Some("Mended in cart.rs and `a[0](x)`."),
        ),
        ("```\nx\n```", None),
        (
            "<summary>The cart rounds once.\nThe shop adds up.</summary>",
            Some("The cart rounds once.\nThe shop adds up."),
        ),
        (
            "<summary>The cart rounds once.</summary>",
            Some("The cart rounds once."),
        ),
        (
            "<result>\nThe cart rounds once.\n</result>",
            Some("The cart rounds once."),
        ),
    ] {
        assert_eq!(
            beginning(words, BEGINNING_CHARS_MAX).as_deref(),
            wants,
            "{words}"
        );
    }
    let long = beginning(&"Many words here. ".repeat(90), BEGINNING_CHARS_MAX).unwrap();
    assert!(long.len() <= BEGINNING_CHARS_MAX, "{long}");
    let many = beginning(&"line\n".repeat(20), BEGINNING_CHARS_MAX).unwrap();
    assert_eq!(many.lines().count(), 20);
}

#[test]
fn titles_questions_of_points_and_short_code_are_told_apart() {
    for (words, wants) in [
        (
            "## Analysis: [shop #7](https://a.b/7) - totals that differ\n\nEach row is rounded.\n\n## 🏗️ **Plan**\n\n- one\n- two",
            Some("Each row is rounded.\nPlan:\n- one\n- two"),
        ),
        (
            "There's a function `total` in cart.rs that rounds each row:\n```\nx\ny\n```\nIt is called once.",
            Some("There's a function `total` in cart.rs that rounds each row.\nIt is called once."),
        ),
        (
            "Two things are open.\n1. Keep the queue, or use a file? The file is cheaper.\n2. A name is missing.",
            Some("Two things are open.\n2. A name is missing."),
        ),
        (
            "The only setting that you need is:\n\n```json\n\"mode\": \"manual\"\n```\n\nIt is local.",
            Some("The only setting that you need is: `\"mode\": \"manual\"`\nIt is local."),
        ),
        (
            "The entry:\n\n```markdown\n## Fixed\n\n- carts add up\n- totals round once\n```",
            Some("Fixed:\n- carts add up\n- totals round once"),
        ),
        (
            "The file:\n\n```markdown\n# Changes\n\nAll changes of the shop.\n\n## Fixed\n\n- carts add up\n```",
            Some("Fixed:\n- carts add up"),
        ),
    ] {
        let told = beginning(words, BEGINNING_CHARS_MAX);
        assert_eq!(told.as_deref(), wants, "{words}");
    }
}
