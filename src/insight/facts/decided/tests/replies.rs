//! What replies decide: picks, agreed plans, words for a refused form.

use super::*;

#[test]
fn who_picks_first_and_says_more_picks() {
    let list = "To be sure, which?\n\n1. **Flags** - one for each list\n2. **One list** - finds out which carts are old by itself";
    let told = people(&[
        ('a', list),
        ('p', "2 and I'd even drop the flag, isn't it too old?"),
    ]);
    let wants = "2 and I'd even drop the flag, isn't it too old? (One list - finds out which carts are old by itself)";
    assert_eq!(told[0].0, wants);
    assert_eq!(people(&[('a', list), ('p', "2 tests are red, why?")]), []);
}

#[test]
fn what_was_chosen_is_replaced_where_it_stands_there_again() {
    let list = |second: &str| {
        format!("Two ways:\n\n1. Round each row of the cart half up\n2. {second}\n\nWhich one?")
    };
    let (first, again) = (list("Leave rows of carts"), list("Round totals only"));
    let told = people(&[('a', &first), ('p', "1"), ('a', &again), ('p', "2")]);
    let decisions: Vec<&str> = told.iter().map(|(decision, _)| decision.as_str()).collect();
    assert_eq!(decisions, ["Round totals only"]);
    let same = people(&[('a', &first), ('p', "1"), ('a', &again), ('p', "1")]);
    assert_eq!(same.len(), 1);
}

#[test]
fn an_offer_that_leads_to_code_ends_with_its_sentence() {
    let offer = "Options:\n\n1. Say it in the help\n2. Leave it\n\nI'd suggest to change the help text so that it names carts:\n\n\
        ```\nshop carts\n```\n\nWant me to make that change?";
    let about = people(&[('a', offer), ('p', "yes")])[0].1.clone();
    let wants = "I'd suggest to change the help text so that it names carts";
    assert_eq!(about.as_deref(), Some(wants));
}

#[test]
fn a_plan_that_was_approved_is_told_with_its_points() {
    let plan = "It rounds twice.\n\n**Plan**:\n1. Round once, in the total\n2. Say so on the page\n\nSmall enough. Proceed?";
    let told = people(&[('a', plan), ('p', "go ahead, and add a test for it too")]);
    let about = "Plan: Round once, in the total; Say so on the page";
    let wants = (
        "go ahead, and add a test for it too".to_owned(),
        Some(about.to_owned()),
    );
    assert_eq!(told, [wants]);
    assert_eq!(people(&[('a', plan), ('p', "why twice?")]), []);
}

#[test]
fn who_refuses_a_form_may_answer_it_in_own_words() {
    let refused = [Finding::Refused { key: 0 }];
    let form = "Action: AskUserQuestion(\"Round now or later?\") → refused by the user: The user wants to clarify.";
    let said = "User: that is easy to change. Thinking of rounding later for this release.";
    let told = |answer| {
        let lines = [
            LocatedItem::sample(ItemKind::Digest, 1, form, &refused),
            LocatedItem::sample(ItemKind::Agent, 2, "Agent: What is unclear?", &[]),
            LocatedItem::sample(ItemKind::Prompt, 3, said, &[]),
            LocatedItem::sample(ItemKind::Agent, 4, answer, &[]),
        ];
        let told = decided(&lines).into_iter();
        told.map(|told| (told.what.decision, told.what.about))
            .collect::<Vec<_>>()
    };
    let wants = "Thinking of rounding later for this release.";
    let about = Some("Round now or later?".to_owned());
    assert_eq!(
        told("Agent: Agreed, later then."),
        [(wants.to_owned(), about)]
    );
    assert_eq!(told("Agent: Let me see what it costs."), []);
}
