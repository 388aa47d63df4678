//! What a session came to, as Markdown: one answer, or several requests with what came of each.

use crate::model::summary::{RequestAnswer, Sourced, Summary};

/// With steps all of it is a list in the order of time.
pub(super) fn result(summary: &Summary) -> Vec<String> {
    if !summary.account.is_empty() {
        return summary.account.iter().map(answered).collect();
    }
    let all = summary.result.iter();
    if summary.steps.is_empty() {
        return all.map(|said| said.what.clone()).collect();
    }
    let mut all: Vec<&Sourced<String>> = all.chain(&summary.steps).collect();
    all.sort_by_key(|said| said.line);
    let told = |said: &&Sourced<String>| match said.what.starts_with("- ") {
        // points of their own
        true => said.what.clone(),
        false => format!("- {}", said.what.replace('\n', "\n  ")),
    };
    all.iter().map(told).collect()
}

/// The result tells which request each answer is to.
pub(super) fn tells_requests(summary: &Summary) -> bool {
    let mut account = summary.account.iter();
    account.any(|told| !told.what.request.is_empty())
}

/// A request, and behind or below it what came of it.
fn answered(told: &Sourced<RequestAnswer>) -> String {
    let RequestAnswer {
        request,
        answer,
        changed_later,
    } = &told.what;
    if request.is_empty() {
        return answer.clone();
    }
    let later = changed_again(changed_later);
    let answer = answer.replace('\n', "\n  ");
    match answer.contains('\n') || answer.starts_with("- ") {
        _ if answer.is_empty() => format!("- **{request}**{later}"),
        true => format!("- **{request}**{later}\n  {answer}"),
        false => format!("- **{request}**{later} → {answer}"),
    }
}

/// ` (changed again later: cart.rs, shop.rs and 2 more)`
fn changed_again(names: &[String]) -> String {
    const NAMES_MAX: usize = 3;
    let shown = names.iter().take(NAMES_MAX);
    let shown: Vec<&str> = shown.map(String::as_str).collect();
    let more = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match shown.is_empty() {
        true => String::new(),
        false => format!(" (changed again later: {}{more})", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::summary::sections;
    use crate::model::summary::sourced;

    #[test]
    fn of_several_requests_each_has_its_answer_below_it() {
        let told = |request: &str, answer: &str, later: &[&str]| {
            sourced(
                1,
                RequestAnswer {
                    request: request.into(),
                    answer: answer.into(),
                    changed_later: later.iter().map(|name| (*name).into()).collect(),
                },
            )
        };
        let text = |account: Vec<Sourced<RequestAnswer>>| {
            let summary = Summary {
                requests: vec![sourced(2, "sort it → Sorted.".into())],
                account,
                ..Summary::default()
            };
            sections(&summary)
        };
        let all = text(vec![
            told(
                "round it",
                "Rounded:\n- once",
                &["a.rs", "b.rs", "c.rs", "d.rs"],
            ),
            told("sort it", "Sorted.", &[]),
            told("push it", "", &[]),
        ]);
        let wants = "\n## Requests and Answers\n\
            - **round it** (changed again later: a.rs, b.rs, c.rs and 1 more)\n  Rounded:\n  - once\n\
            - **sort it** → Sorted.\n- **push it**\n";
        assert_eq!(all, wants);
        let one = "\n## Result\nSorted and\nrounded.\n\n## Further Requests\n- sort it → Sorted.\n";
        assert_eq!(text(vec![told("", "Sorted and\nrounded.", &[])]), one);
    }
}
