//! What calls that have no result were to do, where somebody has to look whether they did.

use super::call::DigestCall;
use super::line::{self, TEXT_CHARS_MAX};
use crate::model::finding::{BegunStep, Finding};
use crate::model::policy::{FilterPolicy, Keep};
use crate::model::resume_state::PendingCall;
use crate::rules::commands::history::{Act, HistoryAction};
use crate::rules::tools::AnswerKind;

/// What this call was to do, from what was kept of it: masked. Nothing of calls that only look, nor where the policy leaves
/// calls out; nothing but the step where it leaves out what they came to.
pub fn begun(pending: &PendingCall, policy: &FilterPolicy) -> Vec<Finding> {
    if policy.tool_calls == Keep::Out {
        return Vec::new();
    }
    let call = DigestCall::new(&pending.tool, &pending.input, None);
    let found = |step, named: Option<&str>| Finding::Begun {
        step,
        named: line::folded(named.unwrap_or_default(), TEXT_CHARS_MAX).into_owned(),
    };
    if call.row.answer == AnswerKind::Agent {
        let task = call.text("description").or_else(|| call.text("task_name"));
        return vec![found(BegunStep::Agent, task)];
    }
    let kept = call.acts().into_iter().filter(|act| !act.away);
    let is_named = policy.tool_content != Keep::Out;
    let named = |act: &Act| act.names.clone().filter(|_| is_named);
    let steps = kept.filter_map(|act| Some(found(step(&act)?, named(&act).as_deref())));
    steps.collect()
}

fn step(act: &Act) -> Option<BegunStep> {
    match act.does {
        HistoryAction::Branch => Some(BegunStep::Branch),
        HistoryAction::Commit => Some(BegunStep::Commit),
        HistoryAction::Push => Some(BegunStep::Push),
        HistoryAction::Open => Some(BegunStep::PullRequest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::shorten_input;
    use super::*;
    use crate::rules::secrets::Redactor;
    use serde_json::json;

    #[test]
    fn what_the_policy_leaves_out_is_not_told_of_calls_without_a_result() {
        let told = |tool: &str, input, policy: &FilterPolicy| {
            let pending = PendingCall {
                tool: tool.to_owned(),
                input,
                ..PendingCall::default()
            };
            begun(&pending, policy)
        };
        let silent = FilterPolicy {
            tool_calls: Keep::Out,
            ..FilterPolicy::default()
        };
        assert_eq!(told("Task", serde_json::Value::Null, &silent), []);
        let bare = FilterPolicy {
            tool_content: Keep::Out,
            ..FilterPolicy::default()
        };
        let commit = json!({"command": "git commit -m 'Round carts once'"});
        let step = Finding::Begun {
            step: BegunStep::Commit,
            named: String::new(),
        };
        assert_eq!(told("Bash", commit, &bare), [step]);
    }

    #[test]
    fn what_a_call_was_to_do_is_known_without_its_result() {
        let told = |tool: &str, input| -> Vec<(BegunStep, String)> {
            let pending = PendingCall {
                tool: tool.to_owned(),
                input: shorten_input(tool, input, &Redactor::default()),
                ..PendingCall::default()
            };
            let all =
                begun(&pending, &FilterPolicy::default())
                    .into_iter()
                    .map(|found| match found {
                        Finding::Begun { step, named } => (step, named),
                        other => panic!("{other:?}"),
                    });
            all.collect()
        };
        let body = "Carts were rounded twice. ".repeat(40);
        let line = format!(
            "git checkout -b fix/carts && git add cart.rs && git commit -m \"$(cat <<'E'\nRound once\n\n{body}\nE\n)\" && \
             git push -u origin fix/carts && gh pr create --title 'Round carts once' --body x"
        );
        let wants = [
            (BegunStep::Branch, "fix/carts".to_owned()),
            (BegunStep::Commit, "Round once".to_owned()),
            (BegunStep::Push, String::new()),
            (BegunStep::PullRequest, "Round carts once".to_owned()),
        ];
        assert_eq!(told("Bash", json!({ "command": line })), wants);
        let looks = json!({"command": "git status --short && git diff --stat"});
        assert!(told("Bash", looks).is_empty());
        let away = json!({"command": "cd /tmp/shop && git commit -m x"});
        assert!(told("Bash", away).is_empty());
        let task = json!({"description": "Find usages", "prompt": "long text"});
        assert_eq!(
            told("Task", task),
            [(BegunStep::Agent, "Find usages".to_owned())]
        );
    }
}
