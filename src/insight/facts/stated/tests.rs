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
        ("Findings:\n\n```\nx\ny\nz\nw\n```", None),
        (
            "All of it runs.\nYou can start it so:\n```\nx\ny\nz\nw\n```\nIt takes a second.",
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
fn what_hangs_on_code_goes_with_it_and_what_is_quoted_stays_with_its_lead() {
    for (words, wants) in [
        (
            "It is slow.\n\nThe old pages:\n```\na\nb\nc\nd\n```\nare read twice. That takes long. The new ones aren't.",
            Some("It is slow.\nThe new ones aren't."),
        ),
        (
            "The layout of all carts is, roughly:\n```\na\nb\nc\nd\n```\nIt is old.",
            Some("It is old."),
        ),
        (
            "Both pages say so now. The manual has it:\n\n> Totals are rounded once.\n> They are never rounded again.\n\nDone.",
            Some(
                "Both pages say so now. The manual has it: Totals are rounded once. They are never rounded again.\nDone.",
            ),
        ),
        (
            "Yes, carts are grouped by shop. The folders are:\n```\na\nb\nc\nd\n```\nThat is shorter.",
            Some("Yes, carts are grouped by shop.\nThat is shorter."),
        ),
    ] {
        assert_eq!(beginning(words, 400).as_deref(), wants, "{words}");
    }
}

#[test]
fn titles_questions_of_points_and_short_code_are_told_apart() {
    for (words, wants) in [
        (
            "## Analysis: [shop #7](https://a.b/7) - totals that differ\n\nEach row is rounded.\n\n## 🏗️ **Plan**\n\n- one\n- two",
            Some("Each row is rounded.\nPlan:\n- one\n- two"),
        ),
        (
            "There's a function `total` in cart.rs that rounds each row:\n```\nx\ny\nz\nw\n```\nIt is called once.",
            Some("There's a function `total` in cart.rs that rounds each row.\nIt is called once."),
        ),
        (
            "Two things are open.\n1. Keep the queue, or use a file? The file is cheaper.\n2. A name is missing.",
            Some("Two things are open.\n2. A name is missing."),
        ),
        (
            "Pushed to `fix`.\n\nI did not push to `main` because it is protected. I did not run the tests because they are slow.",
            Some("I did not push to `main` because it is protected."),
        ),
        (
            "Two ways:\n- tracked: all machines have it\n- ignored: it is cleaner, but each machine must be set up with:\n```\na\nb\nc\nd\n```\n",
            Some("Two ways:\n- tracked: all machines have it\n- ignored: it is cleaner"),
        ),
        (
            "Checked:\n- Builds: the cart builds. The shop has pre-existing errors in its page. Both are linked.",
            Some(
                "Checked:\n- Builds: the cart builds. The shop has pre-existing errors in its page. Both are linked.",
            ),
        ),
        (
            "The page has no note.\n\nShall I add one? Something like:\n\n- made by a machine\n- ask a human\n\nIt is one line.",
            Some("The page has no note.\nIt is one line."),
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

#[test]
fn lists_of_two_owners_have_their_names() {
    let words = "All of it:\n\n#### **Cart** (`shop/cart.rs`)\n\n**Features:**\n- adds up\n\n**Limits:**\n- no tax\n\n\
        #### **Order** (`shop/order.rs`)\n\n**Features:**\n- ships\n";
    let wants = [
        "Cart: Features:",
        "- adds up",
        "Limits:",
        "- no tax",
        "Order: Features:",
        "- ships",
    ];
    assert_eq!(stated(words)[..], wants);
    let long = "## 1. The cart\n\n- adds up\n\n## 2. Orders of all shops by day\n\n**New files:**\n- order.rs\n\n\
        **Tests:**\n- of days\n\n## Usage of both\n\n**Example:**\n```sh\nshop\n```\n";
    let wants = [
        "The cart:",
        "- adds up",
        "Orders of all shops by day",
        "New files:",
        "- order.rs",
        "Tests:",
        "- of days",
    ];
    assert_eq!(stated(long), wants);
    let one = "## Cart\n\n### Features\n\n- adds up\n";
    assert_eq!(stated(one), ["Features:", "- adds up"], "it is of all");
}

#[test]
fn what_is_only_drawn_says_nothing() {
    assert_eq!(stated("🎯. Carts add up.\n\n✅"), ["Carts add up."]);
}

#[test]
fn a_section_behind_a_list_is_no_point_of_it() {
    let words = "## Checks\n\n| what | came |\n|---|---|\n| carts | add up |\n\n## Built\n\nOne page.\n\n\
        ## Left out\n\nTotals of a day.\n";
    let wants = [
        "Checks:",
        "- carts: add up",
        "Built: One page.",
        "- Left out: Totals of a day.",
    ];
    assert_eq!(stated(words), wants);
}

#[test]
fn a_table_has_its_heading() {
    let words = "Carts round twice.\n\n**Faults:**\n- the row\n- the sum\n\n## Two ways\n\n\
        | | A | B |\n|---|---|---|\n| Effort | days | weeks |\n";
    let wants = [
        "Carts round twice.",
        "Faults:",
        "- the row",
        "- the sum",
        "Two ways:",
        "- Effort: A: days; B: weeks",
    ];
    assert_eq!(stated(words), wants);
}

#[test]
fn a_bold_line_that_leads_to_code_is_no_sentence() {
    let words = "The page has two parts.\n\n**Rows of the cart (lines 40-71, in one file of `shop`):**\n```rust\nfn a() {\n\
        }\nfn b() {\n}\n```\n";
    assert_eq!(stated(words), ["The page has two parts."]);
}

#[test]
fn points_below_a_point_hang_on_it_in_one_line() {
    let lines = [
        "It is sent when:",
        "- the cart is paid",
        "- one of these changes:",
        "  - the price",
        "  - the sum",
    ];
    let lines = lines.map(str::to_owned);
    let wants = "It is sent when: the cart is paid; one of these changes: the price; the sum";
    assert_eq!(one_line(&lines, STEP_BYTES_MAX), wants);
}

#[test]
fn a_single_point_is_told_instead_of_counted() {
    let points = [
        "- totals of carts are rounded",
        "- shops open at nine in the morning",
        "- pages load",
    ];
    let points = points.map(str::to_owned);
    let wants = "totals of carts are rounded; shops open at nine in the morning";
    assert_eq!(one_line(&points[..2], 40), wants);
    let wants = "totals of carts are rounded; and 2 more";
    assert_eq!(one_line(&points, 40), wants);
    let mut points = points.to_vec();
    points.push("- the key is NOT set".to_owned());
    let wants = "totals of carts are rounded; the key is NOT set; and 2 more";
    assert_eq!(one_line(&points, 40), wants);
}

#[test]
fn of_long_points_the_first_sentences_stand_in_one_line() {
    let lines = [
        "The review found two bugs.",
        "1. An empty cart is taken for none. Since the last change the list is never absent, and so the page shows what it \
            has no name for.",
        "2. The total is rounded twice. Both pages do it, and the second one has nowhere to look it up.",
    ];
    let lines = lines.map(str::to_owned);
    let wants =
        "The review found two bugs. An empty cart is taken for none; The total is rounded twice";
    assert_eq!(one_line(&lines, 120), wants);
}

#[test]
fn what_stands_behind_what_comes_next_is_read_again() {
    let words = "## Prices: sent\n\nPrices are sent to the shop.\n\nCaveats:\n- as text only\n\n## Carts: not sent\n\n\
        Nothing sends them.\n\n## Next steps\n\n- send them\n\nShall I?";
    let wants = [
        "- Prices: sent: Prices are sent to the shop.",
        "- Carts: not sent: Nothing sends them.",
    ];
    assert_eq!(stated(words), wants);
}

#[test]
fn a_paragraph_below_a_point_belongs_to_it() {
    let words = "I'd add these:\n\n1. `cart` — on each push.\n\n   It is the first one. Check:\n   - rows\n   - sums\n\n\
        2. `shop` — once a day.\n\n   It is short.\n\nAll of them are small.";
    let wants = [
        "I'd add these:",
        "1. `cart` — on each push. It is the first one. Check:",
        "   - rows",
        "   - sums",
        "2. `shop` — once a day. It is short.",
        "All of them are small.",
    ];
    assert_eq!(stated(words), wants);
}

#[test]
fn a_finding_keeps_its_heading_where_code_follows() {
    let words = "### 🔴 The flag is ignored — cart.rs:7\nNothing reads it.\n\n### 🟡 Comments are captured — cart.rs:9\n\
        `scan` reads every line. A comment is one:\n```\nx\ny\nz\nw\n```\n";
    let wants = [
        "- 🔴 The flag is ignored — cart.rs:7: Nothing reads it.",
        "- 🟡 Comments are captured — cart.rs:9: `scan` reads every line.",
    ];
    assert_eq!(stated(words), wants);
}

#[test]
fn code_below_a_case_is_not_of_the_sentence_before_it() {
    let words = "The command `cart` prints:\n\n**If there is no shop:**\n```\nno shop\n```\n\n**If there is one:**\n```\n7 carts\n```\n\n\
                 The shop is found by its folder.";
    let all = stated(words);
    assert!(!all.iter().any(|line| line.contains("no shop")), "{all:?}");
}

#[test]
fn no_point_falls_out_of_a_list() {
    let words = "The page has a section on carts:\n\n1. **What they are** — rows of a shop\n2. **How to choose** — three criteria \
        (due?, late?, paid?)\n3. **When it isn't clear** — the older one";
    let told = stated(words);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[2].contains("three criteria"), "{told:?}");
}

#[test]
fn what_could_be_done_is_no_result() {
    let words = "Carts wait 45 minutes now.\n\nIf they still come too late, you could also consider:\n1. Asking again, since \
        the shop is often slow\n2. Reading two at once";
    assert_eq!(stated(words), ["Carts wait 45 minutes now."]);
    let words = "All carts add up.\n\nProposed commits (no push):\n1. `fix: round once`\n2. `docs: carts`\n\nWant me to commit these?";
    assert_eq!(stated(words), ["All carts add up."]);
    let words = "All carts add up.\n\nWant this committed? 7 files, one commit, no push.";
    assert_eq!(stated(words), ["All carts add up."]);
}

#[test]
fn a_heading_that_says_what_was_done_stays() {
    let words = "## Refactored tests of carts (from 460 lines to 210)\n\n**Removed:**\n- the test of the library\n\n\
        ## Added tests of shops (new)\n\nCreated `shop_test.go` with:\n\n**TestOpen** (3 cases):\n- open at night\n\n\
        **TestClosed** (2 cases):\n- closed on Mondays";
    let told = stated(words).join("\n");
    assert!(
        told.contains("Refactored tests of carts (from 460 lines to 210)"),
        "{told}"
    );
    assert!(told.contains("Added tests of shops (new)"), "{told}");
}
