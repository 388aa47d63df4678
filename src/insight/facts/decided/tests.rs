//! What counts as a decision, whose it is, and that it is told once.

mod replies;

use super::*;

/// What people decided in a talk: each turn is `a` (the agent), `p` (a person) or `t` (an
/// agent's task for another one), then what they say.
fn people(talk: &[(char, &str)]) -> Vec<(String, Option<String>)> {
    let texts = texts(talk);
    let all = decided(&lines(&texts)).into_iter();
    all.map(|told| (told.what.decision, told.what.about))
        .collect()
}

fn by_agent(talk: &[(char, &str)]) -> Vec<String> {
    let texts = texts(talk);
    let lines = lines(&texts);
    let all = stated_by_agent(&lines, &decided(&lines)).into_iter();
    all.map(|told| told.what.decision).collect()
}

fn texts(talk: &[(char, &str)]) -> Vec<(ItemKind, String)> {
    let each = talk.iter().map(|(who, words)| match who {
        'a' => (ItemKind::Agent, format!("Agent: {words}")),
        't' => (ItemKind::Prompt, format!("{TASK}{words}")),
        _ => (ItemKind::Prompt, format!("User: {words}")),
    });
    each.collect()
}

fn lines(texts: &[(ItemKind, String)]) -> Vec<LocatedItem<'_>> {
    let each = (1..).zip(texts);
    each.map(|(nth, (kind, text))| LocatedItem::sample(*kind, nth, text, &[]))
        .collect()
}

const LIST: &str = "There are three ways:\n\n1. **Redis** — one more server\n2. A table in the \
                    store, no new server\n3. Nothing\n\nWhich one do you want?";

#[test]
fn an_answer_that_names_an_option_is_told_with_its_text() {
    for (answer, wants) in [
        ("2", "A table in the store, no new server"),
        ("2 please", "2 please (A table in the store, no new server)"),
        (
            "let's go with 1",
            "let's go with 1 (Redis — one more server)",
        ),
        (
            "the second one",
            "the second one (A table in the store, no new server)",
        ),
        ("option 3 for sure", "option 3 for sure (Nothing)"),
    ] {
        let about = Some("Which one do you want?".to_owned());
        assert_eq!(
            people(&[('a', LIST), ('p', answer)]),
            [(wants.to_owned(), about)]
        );
    }
    let lettered =
        "Two plans.\n\n### Option A: keep the queue\n### Option B: drop the queue\n\nYour pick?";
    let told = people(&[('a', lettered), ('p', "Option B for sure")]);
    assert_eq!(told[0].0, "Option B for sure (drop the queue)");
    let reason = "I want to use option A because readers wait for it.";
    let told = people(&[('a', lettered), ('p', reason)]);
    assert_eq!(told[0].0, format!("{reason} (keep the queue)"));
    let named = people(&[
        ('a', LIST),
        ('p', "I like option 2: a table in the store, no new server"),
    ]);
    assert_eq!(
        named[0].0,
        "I like option 2: a table in the store, no new server"
    );
    assert_eq!(people(&[('a', "There are 3 tests."), ('p', "2")]), []);
}

#[test]
fn who_agrees_is_told_with_what_was_offered() {
    let offer = "It blocks. Want me to replace the loop with a queue?";
    let about = Some("Want me to replace the loop with a queue?".to_owned());
    for answer in [
        "yes please",
        "Yes, do it!",
        "ok",
        "yes, but only for the writer",
    ] {
        let told = people(&[('a', offer), ('p', answer)]);
        assert_eq!(told, [(answer.to_owned(), about.clone())]);
    }
    for (said, answer) in [
        ("Should I use Postgres?", "yes please"),
        (
            "If you want, I can replace the retry by a queue.",
            "ok, let's do this",
        ),
        ("Should I use Redis or a file?", "a file"),
    ] {
        let told = people(&[('a', said), ('p', answer)]);
        assert_eq!(told, [(answer.to_owned(), Some(said.to_owned()))], "{said}");
    }
    let own = "Couldn't we keep one writer for both files?";
    let told = people(&[
        ('p', own),
        ('a', "Yes, that works."),
        ('p', "ok, let's do this"),
    ]);
    assert_eq!(
        told,
        [("ok, let's do this".to_owned(), Some(own.to_owned()))]
    );
    for (said, answer) in [
        ("Want me to look into it?", "yes"),
        ("Want me to run the tests?", "yes please"),
        ("Should I use Redis or a file?", "yes"),
        ("Should I use Redis or a file?", "/status"),
        (
            "Should I use Redis or a file?",
            "ah, the issue is the file's lock",
        ),
        (
            "Should I use Redis or a file?",
            "translate the introduction",
        ),
        ("All tests pass.", "ok"),
        (
            "Want me to replace the loop with a queue?",
            "what does it cost?",
        ),
        ("Which file is it?", "commit and push"),
        (
            "Want me to split the file?",
            &format!("yes, {}", "and much more of it ".repeat(10)),
        ),
    ] {
        assert_eq!(people(&[('a', said), ('p', answer)]), [], "{said} {answer}");
    }
}

#[test]
fn what_is_asked_pasted_or_tried_is_no_decision() {
    for said in [
        "Fix the tests.",
        "should we use Redis instead of a file?",
        "> we decided to drop Windows",
        "```\nlet's use a instead of b\n```",
        "| use a instead of b | yes |",
        "$ use a instead of b",
        "Expected: use the cache instead of the disk",
        "# Plan\nLet's use Redis instead of files.\n# Steps\nKeep the old table as it is.",
    ] {
        assert_eq!(people(&[('p', said)]), [], "{said}");
    }
    assert_eq!(
        people(&[('t', "never use mocks")]),
        [],
        "an agent's to another one"
    );
    let brief = format!(
        "{}\nKeep the old table as it is.",
        "Many words. ".repeat(150)
    );
    assert_eq!(people(&[('p', &brief)]), []);
    let own = format!("{brief}\nLet's use Redis instead of files.");
    assert_eq!(people(&[('p', &own)]).len(), 1);
}

#[test]
fn a_decision_is_told_once_and_whole() {
    let told = people(&[
        (
            'p',
            "Let's use Redis instead of signed cookies, because they must be revoked.",
        ),
        ('a', "Ok."),
        (
            'p',
            "As I said: use Redis instead of the signed cookies, they must be revoked",
        ),
    ]);
    assert_eq!(told.len(), 1);
    let wants = "Let's use Redis instead of signed cookies, because they must be revoked.";
    assert_eq!(told[0].0, wants);
    let many: Vec<String> = (0..20)
        .map(|nth| format!("Let's use name{nth} instead of other{nth}."))
        .collect();
    let talk: Vec<(char, &str)> = many.iter().map(|said| ('p', said.as_str())).collect();
    let texts = texts(&talk);
    let told = listed(&lines(&texts));
    assert_eq!((told.people.len(), told.more), (DECISIONS_MAX, 8));
    assert_eq!(decided(&lines(&texts)).len(), many.len());
}

#[test]
fn an_agent_s_own_choice_stands_apart_from_people_s() {
    let choice = "I'll keep one table rather than two, because both have the same key.";
    let talk = [('p', "Store the runs."), ('a', choice)];
    assert_eq!(
        (people(&talk), by_agent(&talk)),
        (vec![], vec![choice.to_owned()])
    );
    let restated = [
        ('p', "Let's use Redis instead of signed cookies."),
        ('a', "I'm going with Redis instead of signed cookies."),
    ];
    assert_eq!(by_agent(&restated), Vec::<String>::new());
    let twice = [
        ('a', choice),
        (
            'a',
            "I kept one table rather than two since the key is the same.",
        ),
    ];
    assert_eq!(by_agent(&twice).len(), 1);
    for idle in [
        "I'm reading the parser rather than guessing.",
        "Should I use Redis rather than a file?",
        "If you want, I can use Redis instead of a file.",
        "I'm waiting for the worker rather than interrupting it.",
    ] {
        assert_eq!(by_agent(&[('a', idle)]), Vec::<String>::new(), "{idle}");
    }
}

#[test]
fn a_chosen_answer_of_a_form_has_no_recommendation() {
    let findings = [Finding::Answered {
        question: "Which store?".into(),
        answer: "Redis (Recommended)".into(),
        header: String::new(),
        means: None,
    }];
    let line = LocatedItem::sample(ItemKind::Digest, 1, "Action: AskUserQuestion", &findings);
    let told = decided(&[line]);
    assert_eq!(told[0].what.decision, "Redis");
    assert_eq!(told[0].what.about.as_deref(), Some("Which store?"));
}

#[test]
fn what_was_pasted_is_nothing_that_somebody_said() {
    let said = |words: &str| {
        let text = format!("User: {words}");
        let line = LocatedItem::sample(ItemKind::Prompt, 1, &text, &[]);
        stated(&[line])
            .into_iter()
            .map(|said| said.what.decision)
            .collect::<Vec<_>>()
    };
    let plain = "The cache of the cart is slow on phones.";
    assert_eq!(said(plain), [plain]);
    for pasted in [
        "\"cache\": \"no-cache\",",
        "Cache-Control: {{ .Cache }} and more words here",
        "/srv/shop/cache/run.py",
        "cache hits 12/14 a=1 b=2 99% 0x1f",
    ] {
        assert_eq!(said(pasted), [""; 0], "{pasted}");
    }
    let report = format!("{plain}\n").repeat(50);
    assert_eq!(said(&report), [""; 0], "a report");
}

#[test]
fn several_options_are_told_in_short() {
    let told = people(&[('a', LIST), ('p', "do 1 and 2")]);
    let wants = "do 1 and 2 (Redis — one more server; A table in the store, no new server)";
    assert_eq!(told[0].0, wants);
    let told = people(&[('a', LIST), ('p', "do 1 and 7")]);
    assert_eq!(told[0].0, "do 1 and 7", "one of them isn't listed");
}

#[test]
fn advice_that_somebody_takes_is_decided() {
    let advice = "Both read the header.\n\nSo my recommendation is:\n- one reader per shop\n- no cache\n\n\
        If you want, I can sketch the reader.";
    let about = Some("So my recommendation is: one reader per shop; no cache".to_owned());
    for (answer, is_one) in [
        ("yes, let's do this", true),
        ("yes, implement it for shops", true),
        ("yes, sketch it first", false),
        ("ok, run the tests", false),
    ] {
        let told = people(&[('a', advice), ('p', answer)]);
        let wants = is_one.then(|| (answer.to_owned(), about.clone()));
        assert_eq!(told, wants.into_iter().collect::<Vec<_>>(), "{answer}");
    }
    let push = "All is done. I recommend pushing it now.";
    assert_eq!(people(&[('a', push), ('p', "yes do it")]), []);
}

#[test]
fn who_names_one_of_two_things_chooses_it() {
    let asked = "Bundle the names of carts into this fix, or file them apart?";
    for (answer, wants) in [
        (
            "go ahead, bundle the names too",
            Some("go ahead, bundle the names too"),
        ),
        ("bundle them\n\nIs there another way?", Some("bundle them")),
        ("go ahead", None),
    ] {
        let told = people(&[('a', asked), ('p', answer)]);
        let told = told.first().map(|(decision, _)| decision.as_str());
        assert_eq!(told, wants, "{answer}");
    }
}

#[test]
fn what_a_person_decides_later_stands_beside_an_agents_decision() {
    let kept = "I'll keep the old flag `force_push` rather than removing it.";
    let told = by_agent(&[('a', kept), ('p', "the flag force_push should be removed")]);
    let wants = format!("{kept} (later: the flag force_push should be removed)");
    assert_eq!(told, [wants]);
}

#[test]
fn a_decision_has_the_points_below_it() {
    let prompt = "On point 2, do not open the whole folder, but only add the two pages of the shop:\n- the page of carts\n- the page \
        of days\n\nThen push.";
    let told = people(&[('p', prompt)]);
    let wants = "add the two pages of the shop: the page of carts; the page of days";
    assert!(
        told.iter().any(|(decision, _)| decision.ends_with(wants)),
        "{told:?}"
    );
}

#[test]
fn who_picks_an_option_answers_no_question_about_another() {
    let list = "Two ways:\n\nOption A - a page of its own\nOption B - a line below the table\n\nI'd take A. Want me to \
        write the page with this?";
    let told = people(&[('a', list), ('p', "I like option B")]);
    assert_eq!(
        told,
        [("I like option B (a line below the table)".to_owned(), None)]
    );
}

#[test]
fn a_no_to_offered_work_decides() {
    let offer = "Each row is its own commit. Should we fix this by writing all rows in one commit?";
    let told = |answer| people(&[('a', offer), ('p', answer)]);
    let wants = (
        "no, that's fine".to_owned(),
        Some("Should we fix this by writing all rows in one commit?".to_owned()),
    );
    assert_eq!(told("no, that's fine"), [wants]);
    assert!(told("no idea").is_empty());
    let push = [('a', "Done. Shall I push it?"), ('p', "no")];
    assert!(people(&push).is_empty());
}

#[test]
fn an_option_is_picked_with_long_reasons() {
    let list = "1. Leave it.\n2. Take closer colors.\n3. One color for short rows.";
    let reply = format!(
        "3 is better, write it down. {}",
        "There has to be one way for all rows. ".repeat(5)
    );
    let told = people(&[('a', list), ('p', reply.trim())]);
    assert!(
        told[0].0.ends_with("(One color for short rows.)"),
        "{told:?}"
    );
}

#[test]
fn a_decision_that_was_taken_back_is_told_with_the_later_one() {
    let first = "let's use Redis for the totals of carts";
    for (later, is_back) in [
        ("don't use Redis for the totals of carts", true),
        (
            "let's use files instead of Redis for the totals of carts",
            true,
        ),
        ("so let's use Redis for the totals of all carts", false),
    ] {
        let told = people(&[('p', first), ('a', "Done."), ('p', later)]);
        let wants = match is_back {
            true => format!("{first} (later: {later})"),
            false => first.to_owned(),
        };
        assert_eq!(told, [(wants, None)], "{later}");
    }
}

#[test]
fn what_a_person_proposes_is_decided_once_the_agent_takes_it_up() {
    let proposal = "for steps we could show the number of carts?";
    for (answer, is_one) in [
        ("Good idea! Let me add it.", true),
        ("You're right, that says more.", true),
        ("That heuristic is too brittle.", false),
        ("I'm checking what it would cost.", false),
    ] {
        let told = people(&[('p', proposal), ('a', answer)]);
        let wants = is_one.then(|| (proposal.to_owned(), None));
        assert_eq!(told, wants.into_iter().collect::<Vec<_>>(), "{answer}");
    }
    let asked = [
        ('p', "can you check the logs of the shop?"),
        ('a', "Good idea."),
    ];
    assert_eq!(people(&asked), [], "work, and no way to do it");
}

#[test]
fn a_proposal_is_agreed_on_where_the_agent_only_asks_whether_to_do_it() {
    let own = "can't we reuse the names of carts instead of writing them again?";
    let talk = [
        ('p', own),
        ('a', "Yes, they are the same. Want me to do it?"),
        ('p', "yes"),
    ];
    assert_eq!(people(&talk), [("yes".to_owned(), Some(own.to_owned()))]);
}

#[test]
fn a_name_that_the_agent_spoke_of_is_chosen() {
    let asked = "1. Which name, `show_carts` or `list_carts`?\n2. Both shops, or one?";
    let told = people(&[('a', asked), ('p', "I want show_carts\nYes, both")]);
    assert_eq!(told[0].0, "I want show_carts");
    assert!(
        told[0]
            .1
            .as_ref()
            .is_some_and(|about| about.contains("Which name")),
        "{told:?}"
    );
    assert_eq!(people(&[('a', "All done."), ('p', "use show_carts")]), []);
}

#[test]
fn advice_counts_where_the_agent_follows_it() {
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 1,
    }];
    let advice = "Agent: The safe fix: refuse a second cart instead of taking the first.";
    let told = |findings| {
        let lines = [
            LocatedItem::sample(ItemKind::Agent, 1, advice, &[]),
            LocatedItem::sample(
                ItemKind::Digest,
                2,
                "Action: Edit(cart.rs) → +1 −1",
                findings,
            ),
        ];
        stated_by_agent(&lines, &[]).len()
    };
    assert_eq!((told(&edit[..]), told(&[])), (1, 0));
}

#[test]
fn choices_stand_below_a_heading_of_a_report() {
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 1,
    }];
    let report = "Agent: Done.\n\n### Key Design Decisions\n\n- **One list of carts** — readers share it\n  - also in tests\n\
        - No new server: the file is small enough\n\n### Next\n\n- push the branch to the server of the shop";
    let told = |findings| {
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, "User: build it", &[]),
            LocatedItem::sample(
                ItemKind::Digest,
                2,
                "Action: Edit(cart.rs) → +1 −1",
                findings,
            ),
            LocatedItem::sample(ItemKind::Agent, 3, report, &[]),
        ];
        let all = stated_by_agent(&lines, &[]).into_iter();
        all.map(|told| told.what.decision).collect::<Vec<_>>()
    };
    let wants = [
        "One list of carts — readers share it",
        "No new server: the file is small enough",
    ];
    assert_eq!(told(&edit[..]), wants);
    assert_eq!(told(&[]), [""; 0], "it reads them out of a document");
}

#[test]
fn a_plan_that_was_carried_out_lists_its_decisions() {
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 1,
    }];
    let plan = "User: Implement this plan:\n\n# One list\n\n## Decisions\n\n- One list of carts, which all pages read\n\n## Steps\n\n- write the list of carts anew";
    let told = |findings| {
        let call = "Action: Edit(cart.rs) → +1 −1";
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, plan, &[]),
            LocatedItem::sample(ItemKind::Digest, 2, call, findings),
        ];
        let all = decided(&lines).into_iter();
        all.map(|told| told.what.decision).collect::<Vec<_>>()
    };
    assert_eq!(told(&edit[..]), ["One list of carts, which all pages read"]);
    assert_eq!(told(&[]), [""; 0], "nobody carried it out");
}

#[test]
fn what_an_agent_thinks_over_at_once_is_no_decision() {
    let kept = "I'll keep the carts in one table instead of two.";
    let other = "Actually, two tables are simpler here.";
    assert_eq!(
        by_agent(&[('a', kept), ('a', "Both pages read it now.")]).len(),
        1
    );
    assert_eq!(by_agent(&[('a', kept), ('a', other)]), Vec::<String>::new());
}

#[test]
fn what_a_person_said_of_a_plan_is_decided_where_it_was_followed() {
    let edit = [Finding::Changed {
        path: "/p/plan.md".into(),
        added: 0,
        removed: 7,
    }];
    let refused = [Finding::Refused { key: 1 }];
    let told = |said: &str, then: &[Finding]| {
        let call = format!("Action: ExitPlanMode(\"Test the cart\") → refused by the user: {said}");
        let all = [
            LocatedItem::sample(ItemKind::Prompt, 1, "User: which tests would you add?", &[]),
            LocatedItem::sample(ItemKind::Digest, 2, &call, &refused),
            LocatedItem::sample(ItemKind::Digest, 3, "Action: Edit(plan.md) → −7", then),
        ];
        let told = decided(&all).into_iter();
        told.map(|told| told.what.decision).collect::<Vec<String>>()
    };
    let said = "we don't need the test of the export";
    assert_eq!(told(said, &edit), [said]);
    assert!(told(said, &[]).is_empty(), "nobody followed it");
    assert!(told("why a test of the export?", &edit).is_empty());
    for other in ["no", "wrong language, answer me in english"] {
        assert!(told(other, &edit).is_empty(), "{other}");
    }
}
