//! Which answers of an agent are told as what came of a session.

use super::*;

#[test]
fn what_somebody_picked_from_is_no_result() {
    use crate::insight::facts::prompts::prompts;
    let line = |kind, text| LocatedItem::sample(kind, 1, text, &[]);
    let menu = format!(
        "Agent: Open:\n{}Reply with a number.",
        "- the totals of carts\n".repeat(40)
    );
    let lines = [
        line(ItemKind::Prompt, "User: /check the open tasks"),
        line(ItemKind::Agent, &menu),
        line(ItemKind::Prompt, "User: 8"),
        line(
            ItemKind::Agent,
            "Agent: Carts round each row, so that totals differ by a cent.",
        ),
    ];
    let told = result(&lines, &prompts(&lines), None).result;
    let wants = "Carts round each row, so that totals differ by a cent.";
    assert_eq!(told.map(|told| told.what).as_deref(), Some(wants));
}

#[test]
fn what_was_proposed_and_refused_is_no_result() {
    use crate::insight::facts::prompts::prompts;
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 1,
    }];
    let refused = [Finding::Refused { key: 1 }];
    let ok = [Finding::Worked { key: 1 }];
    let opened = |found| {
        let line = |kind, n, text, found| LocatedItem::sample(kind, n, text, found);
        let lines = [
            line(
                ItemKind::Prompt,
                1,
                "User: how do I make the shop print the totals of all carts?",
                &[][..],
            ),
            line(
                ItemKind::Agent,
                2,
                "Agent: The shop prints totals with `shop-print`, which reads each cart once. Want me to install it?",
                &[],
            ),
            line(ItemKind::Prompt, 3, "User: yes", &[]),
            line(
                ItemKind::Digest,
                4,
                "Action: Bash(brew install shop-print) → x",
                found,
            ),
            line(
                ItemKind::Prompt,
                5,
                "User: make the carts print their totals themselves",
                &[],
            ),
            line(ItemKind::Digest, 6, "Action: Edit(cart.rs) → +1 −1", &edit),
            line(
                ItemKind::Agent,
                7,
                "Agent: Each cart prints its own total now, without another program.",
                &[],
            ),
        ];
        let asked = lines[0].source("how do I print totals".to_owned());
        result(&lines, &prompts(&lines), Some(&asked))
            .opening
            .is_some()
    };
    assert_eq!((opened(&ok), opened(&refused)), (true, false));
}

#[test]
fn what_led_to_a_form_or_was_doubted_opens_no_result() {
    use crate::insight::facts::prompts::prompts;
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 1,
    }];
    let opened = |form: Option<&'static str>, reply: &'static str| {
        let first = [
            (
                ItemKind::Prompt,
                "User: show where the carts lose a cent, and why they do",
            ),
            (
                ItemKind::Agent,
                "Agent: The carts lose a cent where `sum` rounds each row before it adds them up.",
            ),
        ];
        let form = form.map(|call| (ItemKind::Digest, call));
        let then = [
            (ItemKind::Prompt, reply),
            (ItemKind::Digest, "Action: Edit(cart.rs) → +1 −1"),
            (
                ItemKind::Agent,
                "Agent: `sum` rounds once, after all rows were added, and the test of it passes.",
            ),
        ];
        let lines: Vec<LocatedItem<'_>> = (first.into_iter().chain(form).chain(then))
            .zip(1..)
            .map(|((kind, text), at)| {
                let changed = text.contains("Edit(");
                LocatedItem::sample(kind, at, text, if changed { &edit } else { &[] })
            })
            .collect();
        let asked = lines[0].source("show where the carts lose a cent".to_owned());
        result(&lines, &prompts(&lines), Some(&asked))
            .opening
            .is_some()
    };
    let form = Some("Action: AskUserQuestion(Where to round?) → once");
    let goes_on = "User: make all carts round once, at their end";
    assert!(opened(None, goes_on));
    assert!(!opened(form, goes_on));
    assert!(!opened(
        None,
        "User: I just tested and I don't see it, so round once"
    ));
}

#[test]
fn the_result_is_what_came_of_work() {
    use crate::insight::facts::prompts::prompts;
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 1,
    }];
    let commit = [Finding::Pushed];
    let line = |kind, text, findings| LocatedItem::sample(kind, 1, text, findings);
    let user = |text| line(ItemKind::Prompt, text, &[]);
    let agent = |text| line(ItemKind::Agent, text, &[]);
    let edited = line(ItemKind::Digest, "Action: Edit(cart.rs) → +1 −1", &edit);
    let pushed = line(ItemKind::Digest, "Action: Bash(git push) → ok", &commit);
    let fixed = agent("Agent: The cart adds up again: the rounding was done twice.");
    let told = |lines: &[LocatedItem<'_>]| {
        result(lines, &prompts(lines), None)
            .result
            .map(|told| told.what)
    };
    let wants = Some("The cart adds up again: the rounding was done twice.".to_owned());
    let work = [user("User: fix the rounding of the cart"), edited, fixed];
    assert_eq!(told(&work), wants);
    let asked = [
        user("User: is it pushed?"),
        agent("Agent: Not yet. Nothing was pushed since the branch was made here."),
    ];
    assert_eq!(
        told(&[&work[..], &asked].concat()),
        wants,
        "a side question"
    );
    let moved = [
        user("User: put it in meaningful commits"),
        pushed,
        agent("Agent: Pushed two commits to the branch, the working tree is clean."),
    ];
    assert_eq!(told(&[&work[..], &moved].concat()), wants, "moved on");
    let cut = [agent("Agent: Now let me run the tests of the whole shop:")];
    assert_eq!(told(&[&work[..], &cut].concat()), wants, "announced");
    assert_eq!(told(&[user("User: fix it all"), cut[0]]), None);
    let again = [
        user("User: write a test for it"),
        edited,
        agent("Agent: The test creates a cart, rounds its prices twice and verifies the total."),
        user("User: is that the same as before? the shop's totals were wrong"),
        edited,
        agent(
            "Agent: The test creates a shop, rounds the prices of each cart twice and verifies its total.",
        ),
    ];
    let told_anew = result(&again, &prompts(&again), None);
    assert!(
        told_anew
            .result
            .is_some_and(|told| told.what.contains("a shop"))
    );
    assert!(told_anew.steps.is_empty());
    let explored = [
        user("User: how does the cart round its prices?"),
        agent("Agent: Half up, once a row; the sum is never rounded again."),
        user("User: thanks"),
        agent("Agent: You're welcome! Say so if anything else comes up today."),
    ];
    let wants = "Half up, once a row; the sum is never rounded again.";
    assert_eq!(told(&explored).as_deref(), Some(wants));
}

#[test]
fn work_on_other_files_is_not_told_anew_in_like_words() {
    use crate::insight::facts::prompts::prompts;
    let edit = |path: &str| {
        [Finding::Changed {
            path: path.into(),
            added: 1,
            removed: 1,
        }]
    };
    let (server, page) = (edit("/p/server.rs"), edit("/p/page.tsx"));
    let told = |second: &[Finding]| {
        let line = |nth, kind, text, findings| LocatedItem::sample(kind, nth, text, findings);
        let lines = [
            line(1, ItemKind::Prompt, "User: trust the carts", &[]),
            line(
                2,
                ItemKind::Digest,
                "Action: Edit(server.rs) → +1 −1",
                &server,
            ),
            line(
                3,
                ItemKind::Agent,
                "Agent: Added the trusted option to carts of customers without prices.",
                &[],
            ),
            line(4, ItemKind::Prompt, "User: show that on the page", &[]),
            line(
                5,
                ItemKind::Digest,
                "Action: Edit(page.tsx) → +1 −1",
                second,
            ),
            line(
                6,
                ItemKind::Agent,
                "Agent: The page shows the trusted option of carts of customers without their prices.",
                &[],
            ),
        ];
        let first = lines[0].source(String::new());
        result(&lines, &prompts(&lines), Some(&first))
            .opening
            .is_some()
    };
    assert!(told(&page), "other work");
    assert!(!told(&server), "the same work, told anew");
}

#[test]
fn what_came_after_an_account_is_told_beside_it() {
    use crate::insight::facts::prompts::prompts;
    let pushed = [Finding::Pushed];
    let account = "Agent: Here is all of it:\n\n- totals of carts add up once\n- the page reads them from the store\n\
        - needs review: the wording of the warning that a cart is too old to be paid for at all, which nobody has \
        read yet, and the release notes that name it, in both languages of the shop";
    let line = |nth, kind, text, findings| LocatedItem::sample(kind, nth, text, findings);
    let lines = [
        line(
            1,
            ItemKind::Prompt,
            "User: ok so summarize what we changed",
            &[][..],
        ),
        line(2, ItemKind::Agent, account, &[]),
        line(3, ItemKind::Prompt, "User: merge it", &[]),
        line(
            4,
            ItemKind::Digest,
            "Action: Bash(gh pr merge 7) → ok",
            &pushed,
        ),
        line(
            5,
            ItemKind::Agent,
            "Agent: Merged the pull request of carts and closed its ticket.",
            &[],
        ),
    ];
    let came = result(&lines, &prompts(&lines), None);
    assert!(came.is_account);
    assert!(came.told.contains(&2), "its request says where it is told");
    let rest: Vec<String> = came
        .rest(&FxHashSet::default())
        .into_iter()
        .map(|said| said.what)
        .collect();
    assert_eq!(
        rest,
        ["Merged the pull request of carts and closed its ticket."]
    );
}

#[test]
fn an_answer_is_told_with_what_it_comes_to() {
    use crate::insight::facts::prompts::prompts;
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 1,
    }];
    let ways =
        "The cart could round each row, or the sum of all rows, or both of them in one place. "
            .repeat(6);
    let answer = format!(
        "Agent: Totals come from the cart alone. No page adds anything.\n\n{ways}\n\n\
        **Recommendation:** round the sum first, since no page reads the rows. Rows may follow."
    );
    let line = |nth, kind, text, findings| LocatedItem::sample(kind, nth, text, findings);
    let lines = [
        line(1, ItemKind::Prompt, "User: make the cart add up", &[][..]),
        line(2, ItemKind::Digest, "Action: Edit(cart.rs) → +1 −1", &edit),
        line(
            3,
            ItemKind::Agent,
            "Agent: The cart adds up again: the rounding was done twice before.",
            &[],
        ),
        line(
            4,
            ItemKind::Prompt,
            "User: where do the totals come from?",
            &[],
        ),
        line(5, ItemKind::Agent, &answer, &[]),
    ];
    let came = result(&lines, &prompts(&lines), None);
    let steps: Vec<&str> = came
        .steps
        .iter()
        .map(|(_, step)| step.what.as_str())
        .collect();
    let wants = "Totals come from the cart alone. No page adds anything. The cart could round each row, or the sum of all \
        rows, or both of them in one place. Recommendation: round the sum first, since no page reads the rows. Rows may \
        follow.";
    assert_eq!(steps, [wants]);
}

#[test]
fn last_words_that_sum_up_the_session_are_its_result() {
    use crate::insight::facts::prompts::prompts;
    let came = |heading: &str| {
        let points = "- Carts round once, at their end, so that totals are exact.\n- Invoices have the month in their names and stand in folders.\n- The export leaves out shops that have no carts at all, and says how many.";
        let last = format!("Agent: Done.\n\n{heading}\n\n{points}");
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, "User: round the carts once", &[]),
            LocatedItem::sample(
                ItemKind::Agent,
                2,
                "Agent: Carts round once now, at their end, so that all of the totals are exact.",
                &[],
            ),
            LocatedItem::sample(
                ItemKind::Prompt,
                3,
                "User: leave out shops without carts",
                &[],
            ),
            LocatedItem::sample(ItemKind::Agent, 4, &last, &[]),
        ];
        result(&lines, &prompts(&lines), None).is_account
    };
    assert!(came("## Final summary of all changes in this session"));
    assert!(!came("## Export"));
}
